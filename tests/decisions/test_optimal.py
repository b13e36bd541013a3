"""Which model is ever the best: the joint ROC hull against every threshold of every model."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay import compare
from assay.decisions.compare.optimal import Optimal, optimal
from assay.engines.arrays import resolved_arrays
from assay.report import document_of
from assay.tally import Resolved

ROWS = st.lists(
    st.tuples(st.integers(0, 1), st.integers(0, 6), st.integers(0, 6), st.integers(0, 6)),
    min_size=2,
    max_size=30,
).filter(lambda rows: len({row[0] for row in rows}) == 2)


def counted(*columns: Any, **more: Any) -> Resolved:
    """The tally of columns, with sides."""
    return resolved_arrays(*columns, **more)[0]


def optimal_of(truth, **scores) -> Optimal:
    tallies = {
        name: counted(truth, y_score=np.asarray(column, float), threshold=0.5, positive=1)
        for name, column in scores.items()
    }
    optimum = optimal(tallies)
    assert optimum is not None
    return optimum


def lines(truth: np.ndarray, scores: np.ndarray) -> list[tuple[Fraction, Fraction]]:
    """The miss rate and the false positive rate of every threshold that flags some rows only."""
    p, n = int(truth.sum()), int((1 - truth).sum())
    points = []
    for t in np.unique(scores):
        tp, fp = int(truth[scores >= t].sum()), int((1 - truth)[scores >= t].sum())
        if (fp, tp) not in ((0, 0), (n, p)):
            points.append((Fraction(p - tp, p), Fraction(fp, n)))
    return points


@settings(max_examples=60)
@given(ROWS)
def test_a_model_is_the_best_where_one_of_its_thresholds_is_the_cheapest(rows) -> None:
    table = np.array(rows)
    truth, columns = table[:, 0], {name: table[:, i + 1] for i, name in enumerate("abc")}
    optimum = optimal_of(truth, **columns)
    owned = {name: lines(truth, scores) for name, scores in columns.items()}
    for i in range(1, 64):
        pc = Fraction(2 * i + 1, 131)
        costs = {
            name: min((m * pc + f * (1 - pc) for m, f in own), default=Fraction(2))
            for name, own in owned.items()
        }
        trivial = {"nothing": pc, "everything": 1 - pc}
        least = min([*costs.values(), *trivial.values()])
        told = {
            best.model
            for best in optimum.models
            for part in best.ranges
            if part.low < float(pc) < part.high
        }
        edges = {
            end for best in optimum.models for part in best.ranges for end in (part.low, part.high)
        }
        if any(
            abs(float(pc) - end) < 1e-9 for end in (*edges, optimum.nothing, optimum.everything)
        ):
            continue
        assert told == {name for name, cost in costs.items() if cost == least}
        assert (float(pc) < optimum.nothing) == (trivial["nothing"] == least)
        assert (float(pc) > optimum.everything) == (trivial["everything"] == least)
    for best in optimum.models:
        assert 0 <= best.share <= 1
        for part in best.ranges:
            assert set(part.tied_with) <= set("abc") - {best.model}


def test_two_models_that_share_the_axis() -> None:
    truth = [1, 1, 1, 1, 0, 0, 0, 0]
    careful = [0.9, 0.9, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1]  # half the attacks, no false alarm
    eager = [0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.1, 0.1]  # all attacks, half of the rest flagged
    poor = [0.9, 0.1, 0.1, 0.1, 0.9, 0.1, 0.1, 0.1]
    optimum = optimal_of(truth, careful=careful, eager=eager, poor=poor)
    assert [(p.low, p.high) for p in optimum["careful"].ranges] == [(0.0, 0.5)]
    assert [(p.low, p.high) for p in optimum["eager"].ranges] == [(0.5, 1.0)]
    assert optimum["eager"].ranges[0].slopes == (0.0, 1.0)
    assert (optimum["careful"].share, optimum["eager"].share, optimum["poor"].share) == (
        0.5,
        0.5,
        0,
    )
    assert optimum["poor"].never
    assert (optimum.nothing, optimum.everything) == (0.0, 1.0)


def test_equal_models_are_tied_everywhere() -> None:
    truth, scores = [1, 1, 0, 0, 1, 0], [0.9, 0.6, 0.4, 0.7, 0.3, 0.1]
    optimum = optimal_of(truth, one=scores, other=scores)
    assert optimum["one"].ranges
    assert {part.tied_with for part in optimum["one"].ranges} == {("other",)}
    assert optimum["one"].share == optimum["other"].share


def test_a_model_that_only_touches_is_a_tie_at_one_cost() -> None:
    truth = [1] * 4 + [0] * 4
    better = [0.9, 0.9, 0.5, 0.5, 0.5, 0.5, 0.1, 0.1]  # corners (0, 1/2) and (1/2, 1)
    touching = [0.9, 0.9, 0.9, 0.1, 0.9, 0.1, 0.1, 0.1]  # (1/4, 3/4), on the edge between them
    optimum = optimal_of(truth, better=better, touching=touching)
    assert (optimum["touching"].ranges, optimum["touching"].ties) == ((), (0.5,))
    assert not optimum["touching"].never
    comparison = compare(truth, scores={"better": better, "touching": touching}, resamples=50)
    text = json.dumps([str(s) for s in document_of(comparison).report.sections])
    assert "only as good as others, at 0.5" in text


def test_no_better_than_guessing_is_never_the_best() -> None:
    optimum = optimal_of([1, 0, 1, 0], useless=[0.5] * 4, wrong=[0.1, 0.9, 0.1, 0.9])
    assert all(best.never for best in optimum.models)
    assert optimum.nothing == optimum.everything == 0.5


def test_decisions_are_one_point_each() -> None:
    truth = np.array([1, 1, 1, 1, 0, 0, 0, 0])
    said = {"careful": [1, 1, 0, 0, 0, 0, 0, 0], "eager": [1, 1, 1, 1, 1, 1, 0, 0]}
    optimum = compare(truth, decisions=said, positive=1, resamples=50).optimal
    assert optimum is not None
    assert (optimum["careful"].share, optimum["eager"].share) == (0.5, 0.5)


def test_counts_are_repetition() -> None:
    truth, scores = (
        [1, 0, 1, 0, 1],
        {"a": [0.9, 0.8, 0.4, 0.2, 0.7], "b": [0.3, 0.1, 0.9, 0.6, 0.7]},
    )
    counts = [3, 2, 1, 4, 2]
    once = compare(truth, scores=scores, counts=counts, resamples=50, positive=1).optimal
    many = compare(
        np.repeat(truth, counts),
        scores={name: np.repeat(column, counts) for name, column in scores.items()},
        resamples=50,
        positive=1,
    ).optimal
    assert once == many


@pytest.mark.parametrize("classes", [1, 3])
def test_one_class_or_three_have_no_hull(classes: int) -> None:
    truth = np.arange(12) % classes
    said = {"a": truth, "b": (truth + (np.arange(12) < 3)) % max(classes, 2)}
    labels = [0, 1, 2][: max(classes, 2)]
    comparison = compare(
        truth, decisions=said, labels=labels, positive=1 if classes == 1 else None, resamples=20
    )
    assert comparison.optimal is None
    assert comparison.to_dict()["optimal"] is None
    assert "optimal" not in str([s.title for s in document_of(comparison).report.sections])
