"""A threshold judged on rows that it has not seen, and what its reader must know."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import assay
from assay import Choice, choose_threshold
from assay.errors import InputError, LabelError

Rows = tuple[np.ndarray, np.ndarray]


def rows(seed: int, shift: float = 3.0, negatives: int = 1000, positives: int = 300) -> Rows:
    rng = np.random.default_rng(seed)
    scores = np.concatenate([rng.normal(size=negatives), rng.normal(shift, size=positives)])
    return np.repeat([0, 1], [negatives, positives]), scores


def choose(holdout: Any = None, chosen_on: Rows | None = None, **asked: Any) -> Choice:
    truth, scores = chosen_on or rows(1)
    return choose_threshold(truth, y_score=scores, holdout=holdout, resamples=20, **asked)


def codes(choice: Choice) -> list[str]:
    return [finding.code for finding in choice.findings]


def test_the_guaranteed_point_is_judged_with_plain_intervals() -> None:
    truth, scores = rows(7)
    choice = choose((truth, scores), max_fpr=0.1, min_dr=0.5)
    holdout = choice.holdout
    assert holdout is not None
    assert choice.guaranteed is not None
    assert (holdout["of"], holdout["threshold"]) == ("guaranteed", choice.guaranteed.threshold)
    expected = assay.evaluate(truth, y_score=scores, threshold=holdout["threshold"])
    for shown in holdout["estimates"]:
        assert shown.estimate == expected[shown.measure]
        assert shown.estimate.low == expected[shown.measure].low
    fpr, dr = holdout["constraints"]
    assert fpr["constraint"] == "max_fpr"
    assert fpr["limit"] == 0.1
    assert fpr["held"] is True
    assert fpr["sure"] is (fpr["high"] <= 0.1)
    assert (dr["constraint"], dr["value"]) == ("min_dr", float(expected["recall"]))
    assert holdout["source"]["positives"] == 300
    assert codes(choice) == []


def test_the_empirical_point_is_judged_where_nothing_is_promised() -> None:
    choice = choose(rows(2), max_fpr=0.001)
    assert choice.guaranteed is None
    assert choice.holdout is not None
    assert choice.holdout["of"] == "empirical"


def test_a_broken_constraint_is_a_finding() -> None:
    choice = choose(rows(2, shift=0.5), max_fpr=0.1, min_dr=0.9)
    assert choice.holdout is not None
    dr = choice.holdout["constraints"][1]
    assert (dr["held"], dr["sure"]) == (False, True)
    assert (choice.findings[-1].code, choice.findings[-1].severity) == ("T008", "warning")


def test_what_chance_allows_is_no_warning() -> None:
    choice = choose(rows(2), max_fpr=0.1)
    assert choice.holdout is not None
    fpr = choice.holdout["constraints"][0]
    assert (fpr["held"], fpr["sure"]) == (False, False)
    assert (choice.findings[-1].code, choice.findings[-1].severity) == ("T008", "info")


def test_every_constraint_is_judged() -> None:
    families = np.repeat(["-", "a", "b"], [1000, 150, 150])
    truth, scores = rows(1)
    choice = choose_threshold(
        truth,
        y_score=scores,
        families=families,
        min_dr_families={"a": 0.5, "b": 0.6},
        max_far=0.3,
        max_alerts=40,
        volume=100,
        holdout={"y_true": truth, "y_score": rows(2)[1], "families": np.where(truth, "a", "-")},
        resamples=20,
    )
    assert choice.holdout is not None
    constraints = {each["constraint"]: each for each in choice.holdout["constraints"]}
    assert list(constraints) == ["max_far", "max_alerts", "min_dr.a", "min_dr.b"]
    assert constraints["max_alerts"]["value"] <= 40
    assert constraints["min_dr.a"]["held"] is True
    assert constraints["min_dr.b"]["held"] is None
    assert choice.to_dict()["holdout"]["constraints"][3]["value"] is None


def test_a_threshold_above_all_scores_flags_nothing_there() -> None:
    truth, scores = rows(2)
    choice = choose((truth, scores - 100), max_fpr=0.1, min_dr=0.5, max_far=0.3)
    assert choice.holdout is not None
    flags = {each["constraint"]: each["held"] for each in choice.holdout["constraints"]}
    assert flags == {"max_far": None, "max_fpr": True, "min_dr": False}


def test_choosing_and_judging_on_the_same_rows_is_a_finding() -> None:
    assert codes(choose(max_fpr=0.1)) == ["T001"]
    assert codes(choose(rows(1), max_fpr=0.1)) == ["T002"]
    assert codes(choose(rows(7), max_fpr=0.1)) == []


def test_rows_that_both_share_are_a_finding() -> None:
    (truth, scores), (others, unseen) = rows(1), rows(2)
    mixed = np.concatenate([truth[::2], others[:100]]), np.concatenate([scores[::2], unseen[:100]])
    choice = choose(mixed, max_fpr=0.1)
    assert codes(choice) == ["T002"]
    assert choice.findings[0].message.startswith("650 of the 750 rows")


def test_few_steps_of_scores_are_not_taken_for_the_same_rows() -> None:
    first, second = ((truth, np.round(scores)) for truth, scores in (rows(1), rows(2)))
    assert "T002" not in codes(choose(second, chosen_on=first, max_fpr=0.1))


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ({"max_far": 0.3}, "T004"),
        ({"max_alerts": 30, "volume": 100}, "T004"),
        ({"cost_fp": 1000, "cost_fn": 1, "base_rate": 0.0001}, "T007"),
        ({"min_dr": 0.9999}, "T006"),
    ],
)
def test_what_a_reader_must_know_is_a_finding(asked: dict[str, float], code: str) -> None:
    truth, scores = rows(1, shift=0.5)
    # The lowest score of all is that of an attack.
    choice = choose(chosen_on=(truth, np.where(np.arange(1300) == 1299, -9, scores)), **asked)
    assert code in codes(choice)


def test_detecting_nothing_is_a_finding() -> None:
    truth, scores = rows(1, shift=-9)
    choice = choose(chosen_on=(truth, scores), max_fpr=0.1)
    assert "T005" in codes(choice)


def test_the_highest_score_of_a_holdout_is_a_threshold_that_may_hold() -> None:
    truth = np.repeat([0, 1], 200)
    scores = np.where(truth == 1, 0.9, 0.1)
    holdout = choose((truth, scores), (truth, scores), max_fpr=0.5, min_dr=0.5).holdout
    assert holdout is not None
    assert holdout["threshold"] == 0.9
    assert [each["held"] for each in holdout["constraints"]] == [True, True]


@pytest.mark.parametrize(
    "holdout", [{"y_true": [0, 1]}, {"y_true": [0], "y_score": [1], "odd": []}, ([0, 1],), 7]
)
def test_a_holdout_of_another_shape_is_refused(holdout: Any) -> None:
    with pytest.raises(InputError, match="a holdout"):
        choose(holdout, max_fpr=0.1)


def test_a_holdout_with_other_labels_is_refused() -> None:
    truth, scores = rows(2)
    with pytest.raises(LabelError, match="the holdout has the labels"):
        choose((np.where(truth, "attack", "normal"), scores), max_fpr=0.1)


@pytest.mark.parametrize(("kind", "held"), [(0, [True, None]), (1, [None, True])])
def test_a_holdout_may_have_one_kind_of_rows_only(kind: int, held: list[bool | None]) -> None:
    truth, scores = rows(7)
    mine = truth == kind
    choice = choose((truth[mine], scores[mine]), max_fpr=0.1, min_dr=0.5)
    assert choice.holdout is not None
    assert [each["held"] for each in choice.holdout["constraints"]] == held


def test_a_holdout_may_have_kinds_of_attacks_that_are_new() -> None:
    truth, scores = rows(1)
    others, unseen = rows(7)
    kinds = np.where(truth, np.where(np.arange(1300) % 2, "dos", "probe"), "normal")
    choice = choose_threshold(
        kinds,
        y_score=scores,
        negative="normal",
        min_dr_families={"dos": 0.5},
        max_fpr=0.1,
        holdout=(np.where(others, "dos", "normal"), unseen),
        resamples=20,
    )
    assert choice.holdout is not None
    assert [each["held"] for each in choice.holdout["constraints"]] == [True, True]
    new = choose((np.where(others, 9, 0), unseen), max_fpr=0.1, negative=0)
    assert new.holdout is not None
    assert new.holdout["source"]["positives"] == 300


def test_a_label_that_is_new_is_no_side_of_its_own() -> None:
    truth, scores = rows(2)
    with pytest.raises(LabelError, match="the holdout has the labels"):
        choose((np.where(truth, 9, 0), scores), max_fpr=0.1, positive=1)
