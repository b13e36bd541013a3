"""Labels for an interval of the detection rate, drawn at random and by strata."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from assay import Wilson, plan, sample
from assay.decisions.rows_needed import ANYWHERE, BINORMAL, RecallGoal
from assay.decisions.sample_strata import stratum_sizes
from assay.errors import InputError


def goal(**changed: Any) -> RecallGoal:
    given: dict[str, Any] = {"width": 0.1, "level": 0.95, "rows": 1_000_000, "base_rate": 0.01}
    return RecallGoal(**{**given, "expected_dr": 0.8, "expected_fpr": None, **changed})


@pytest.mark.parametrize("missed", [BINORMAL, ANYWHERE])
def test_one_label_less_is_too_few(missed: str) -> None:
    asked = goal()
    need = next(need for need in asked.needs() if need.missed == missed)
    assert need.rows is not None
    assert asked.width_of(need.rows, missed) <= 0.1 < asked.width_of(need.rows - 1, missed)


def test_labels_at_random_meet_attacks_as_often_as_they_come() -> None:
    at_random = goal().needs()[0]
    low, high = Wilson().ends(0.8 * at_random.rows * 0.01, at_random.rows * 0.01)
    assert high - low == pytest.approx(0.1, abs=1e-3)


def test_good_scores_save_labels_and_useless_ones_do_not() -> None:
    for base_rate in (0.01, 0.001):
        at_random, good, useless = (
            need.rows for need in goal(base_rate=base_rate, expected_fpr=0.001).needs()
        )
        assert good < 0.6 * at_random
        assert useless > good


def test_without_a_base_rate_each_usual_one_is_planned_for() -> None:
    recall_width = plan(recall_width=0.1)["recall_width"]
    assert [need.base_rate for need in recall_width.needs[::3]] == [0.1, 0.01, 0.001, 0.0001]
    # Of 100 attacks among a million rows, not even all are enough.
    assert [need.rows for need in recall_width.needs[-3:]] == [None, None, None]
    assert plan(recall_width=0.1).rows == 1_000_000
    assert {need.expected for need in recall_width.needs} == {0.9}


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"recall_width": 2.0}, "recall_width is a share"),
        ({"recall_width": 0.1, "rows": 10}, "100 at least"),
        ({"rows": 1000, "max_fpr": 0.1}, "recall_width= is needed"),
    ],
)
def test_what_can_not_be_planned_is_refused(given: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        plan(**given)


def test_strata_are_planned_as_they_are_drawn() -> None:
    scores = np.arange(50_000) / 50_000
    drawn = sample({"score": scores}, score="score", labels=2000, threshold=0.99)
    planned = stratum_sizes(49_500, 6, 2000)
    rows = [stratum.rows for stratum in drawn.strata[1:]]
    assert rows == pytest.approx(planned, rel=0.03)


@pytest.mark.slow
def test_samples_of_two_normal_curves_come_as_wide_as_planned() -> None:
    from scipy.special import ndtri

    import assay

    rows, base_rate, rate, false = 200_000, 0.01, 0.8, 0.001
    asked = goal(rows=rows, base_rate=base_rate, expected_dr=rate, expected_fpr=false, width=0.15)
    need = next(need for need in asked.needs() if need.missed == BINORMAL)
    random = np.random.default_rng(1)
    attack = np.arange(rows) < rows * base_rate
    threshold = float(-ndtri(false))
    score = random.normal(size=rows) + attack * (threshold + float(ndtri(rate)))
    columns = {"label": np.where(attack, "attack", "normal"), "score": score}
    widths = []
    for seed in range(40):
        drawn = sample(columns, score="score", labels=need.rows, threshold=threshold, seed=seed)
        recall = assay.evaluate(
            drawn.frame,
            label="label",
            score="score",
            weight="weight",
            strata="stratum",
            threshold=threshold,
        )["recall"]
        widths.append(recall.high - recall.low)
    assert np.mean(widths) == pytest.approx(0.15, rel=0.1)
