"""What is counted of a few rows on this machine, written down by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from assay.engines import Ask, count_coded, local
from assay.engines.local import cutting_of, flagged_counts, label_amounts
from assay.sources import code_arrays
from assay.tally import LossSums, Tally
from assay.tally.confusion import REACHED, Crosstab
from assay.tally.counters import CutPoints
from assay.tally.keeping import Cuts, Exact, Grid
from assay.tally.named_tally import DECISION, LARGEST, RIGHT, SCORE, WRONG

TABLE = {"c": [0.1, 0.5, 0.2], "a": [0.6, 0.3, 0.2], "b": [0.3, 0.2, 0.6]}


def counted(ask: Ask | None = None, /, **columns: Any) -> Tally:
    return count_coded(code_arrays(**columns), ask or Ask())


def cells(table: Crosstab) -> dict[tuple[str, str], Any]:
    return {key: number for key, number in table.cells.items() if number}


# -- how many reach the threshold ------------------------------------------------------------------


@pytest.mark.parametrize("labels", [1, 2, 3, 8, 9, 12])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_below_and_from_a_threshold_on(labels: int, dtype: Any) -> None:
    random = np.random.default_rng(labels)
    truth = random.integers(0, labels, 500)
    scores = (random.integers(0, 11, 500) / 10).astype(dtype)
    counts = flagged_counts(scores, truth, labels, 0.5)
    expected = [
        [sum((truth == label) & (scores < 0.5)), sum((truth == label) & (scores >= 0.5))]
        for label in range(labels)
    ]
    assert counts.tolist() == expected


def test_rows_of_several_blocks_are_counted_once() -> None:
    truth = np.arange(70_000) % 5 == 0
    scores = (np.arange(70_000) % 4 / 4).astype(np.float32)
    counts = flagged_counts(scores, truth.astype(np.uint8), 2, 0.5)
    assert counts.tolist() == [[28_000, 28_000], [7_000, 7_000]]


def test_a_score_at_the_threshold_is_flagged_in_slices_and_clusters_too() -> None:
    tally = counted(
        Ask(threshold=0.25),
        y_true=["attack", "normal", "attack"],
        y_score=[0.25, 0.25, 0.2],
        slices={"site": ["x", "x", "y"]},
        clusters=["g", "h", "h"],
    )
    below, reached = REACHED
    assert cells(tally.decided[SCORE]) == {
        ("attack", reached): 1,
        ("attack", below): 1,
        ("normal", reached): 1,
    }
    x = tally.slices["site", "x"][SCORE]
    assert cells(x) == {("attack", reached): 1, ("normal", reached): 1}
    clusters = (tally.clusters or {})[SCORE]
    assert clusters.cells.sum(axis=0).tolist() == [[1, 1], [0, 1]]


# -- probabilities ---------------------------------------------------------------------------------


def test_columns_of_probabilities_stand_in_the_order_of_their_names() -> None:
    tally = counted(y_true=["a", "b", "c"], y_proba=TABLE)
    assert tally.columns == ("a", "b", "c")
    assert cells(tally.decided[LARGEST]) == {("a", "a"): 1, ("b", "c"): 1, ("c", "b"): 1}
    table = tally.scores["probability", "c"]
    assert table.scores.tolist() == [0.1, 0.2, 0.5]
    assert not tally.too_many


@pytest.mark.parametrize(
    ("rows", "distinct", "most", "kept"),
    [(4, 4, 12, True), (5, 4, 12, True), (5, 5, 12, False), (5, 5, 15, True), (5, 5, 14, False)],
)
def test_rows_are_kept_up_to_so_many_distinct_probabilities(
    rows: int, distinct: int, most: int, kept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local, "MOST_PROBABILITIES", most)
    first = np.arange(rows) % distinct / 16
    table = {"a": first, "b": np.full(rows, 0.25), "c": 0.75 - first}
    tally = counted(y_true=["a"] * rows, y_proba=table)
    assert (tally.sample is not None) is kept
    assert tally.too_many is not kept


def test_scores_without_clusters_keep_no_rows_and_are_not_too_many() -> None:
    tally = counted(y_true=["attack", "normal"], y_score=[0.9, 0.1])
    assert (tally.sample, tally.too_many) == (None, False)


def test_beside_probabilities_it_is_kept_whether_decisions_are_right() -> None:
    # No row is decided to be 'a'.
    tally = counted(y_true=["a", "b", "c"], y_pred=["c", "b", "b"], y_proba=TABLE)
    assert list(tally.decided) == [DECISION]
    sample = tally.sample
    assert sample is not None
    told = zip(sample.truth.tolist(), sample.scores[:, 3].tolist(), strict=True)
    assert sorted(told) == [(0, 0.0), (1, 1.0), (2, 0.0)]


# -- losses ----------------------------------------------------------------------------------------

PAIR = {"y_true": ["attack", "normal"], "y_score": [0.9, 0.1]}
EVERY = {("attack", RIGHT), ("attack", WRONG), ("normal", RIGHT), ("normal", WRONG)}


@pytest.mark.parametrize(
    ("ask", "weighted", "summed"),
    [
        (Ask(), False, False),
        (Ask(), True, True),
        (Ask(losses=False), True, False),
        (Ask(scores=Grid()), False, False),
        (Ask(scores=Grid()), True, False),
        (Ask(scores=Cuts()), False, True),
        (Ask(scores=Cuts(), losses=False), False, False),
        (Ask(scores=None), False, True),
    ],
)
def test_losses_are_summed_where_scores_do_not_tell_them(
    ask: Ask, weighted: bool, summed: bool
) -> None:
    weights = {"sample_weight": [1.0, 2.0]} if weighted else {}
    tally = counted(ask, **PAIR, **weights)
    assert set(tally.losses) == (EVERY if summed else set())


def test_decisions_have_no_losses() -> None:
    assert counted(Ask(scores=None), y_true=["a", "b"], y_pred=["a", "a"]).losses == {}


def test_losses_are_of_probabilities_alone_and_of_either_side() -> None:
    tally = counted(
        Ask(scores=None),
        y_true=["x", "x", "x", "x", "y"],
        y_score=[0.0, 1.0, 1.5, -0.5, 0.25],
        counts=[1, 2, 4, 8, 16],
    )
    sums = {key: tally.losses[key] for key in tally.losses}
    assert list(sums) == sorted(sums)
    assert sums["x", WRONG].rows == 3
    # As a negative, 0 costs nothing and 1 costs 1; as a positive it is the other way round.
    assert sums["x", WRONG].brier_score().first == 2
    assert sums["x", RIGHT].brier_score().first == 1
    assert sums["y", RIGHT].brier_score().first == 16 * 0.75**2
    assert sums["y", WRONG].brier_score().first == 16 * 0.25**2


def test_a_label_without_a_probability_has_no_losses() -> None:
    tally = counted(y_true=["aa", "b", "c"], y_proba=TABLE, unknown="aa")
    assert [name for name, _ in tally.losses] == ["b", "c"]
    total = sum(tally.losses.values(), LossSums())
    # Half the squared distance: (0.3^2 + 0.5^2 + 0.8^2)/2 and (0.2^2 + 0.6^2 + 0.8^2)/2.
    assert total.brier_score().first == pytest.approx((0.98 + 1.04) / 2)


def test_two_columns_have_the_losses_of_one_score() -> None:
    pair = {"normal": [0.1, 0.9], "attack": [0.9, 0.1]}
    tally = counted(y_true=["attack", "normal"], y_proba=pair, sample_weight=[1.0, 2.0])
    assert list(tally.decided) == [("probability", "attack"), ("probability", "normal")]
    assert set(tally.losses) == EVERY


# -- cuts and extremes -----------------------------------------------------------------------------


@pytest.mark.parametrize("kept", [Exact(), Grid(4), None], ids=str)
def test_extremes_are_scores_and_zero_has_no_sign(kept: Any) -> None:
    tally = counted(Ask(scores=kept), y_true=["a", "b"], y_score=[0.3, -0.0])
    low, high = tally.extremes[SCORE]
    assert (low, high) == (0.0, 0.3)
    assert not np.signbit(low)
    low, high = counted(Ask(scores=kept), y_true=["a", "b"], y_score=[-0.3, -0.0]).extremes[SCORE]
    assert (low, high) == (-0.3, 0.0)
    assert not np.signbit(high)


def test_the_scores_of_rarer_labels_are_cuts() -> None:
    rows = code_arrays(["n", "a", "n", "b", "n"], y_score=[0.1, -0.0, 0.4, 0.3, 0.2])
    at = cutting_of(rows, np.array([0.1, -0.0, 0.4, 0.3, 0.2]))
    assert (at.frequent, at.cuts.tolist()) == ("n", [0.0, 0.3])
    assert not np.signbit(at.cuts[0])
    assert label_amounts(rows) == {"n": 3, "a": 1, "b": 1}
    counts = code_arrays(["n", "a"], y_score=[0.1, 0.2], counts=[1, 5])
    assert label_amounts(counts) == {"n": 1, "a": 5}


def test_a_part_may_lack_the_most_frequent_label() -> None:
    at = CutPoints("m", np.array([0.25, 0.5]))
    tally = count_coded(code_arrays(["z", "a"], y_score=[0.5, 0.25]), Ask(scores=Cuts()), at)
    table = tally.scores[SCORE]
    assert table.labels == ("a", "m", "z")
    totals = dict(zip(table.labels, table.totals(), strict=True))
    assert totals == {"a": 1, "m": 0, "z": 1}
    held = {
        label: table.scores[counts > 0].tolist()
        for label, counts in zip(table.labels, table.counts, strict=True)
    }
    assert held == {"a": [0.25], "m": [], "z": [0.5]}


# -- days ------------------------------------------------------------------------------------------


def test_rows_of_count_zero_are_told_of_all_days_together() -> None:
    tally = counted(
        y_true=["a", "b", "a", "b"],
        y_score=[0.9, 0.1, 0.2, 0.3],
        counts=[1, 0, 2, 3],
        times=["2026-11-16", "2026-11-16", "2026-11-17", "2026-11-17"],
    )
    assert tally.empty == 1
    assert tally.days is not None
    told = {day: (part.rows, part.empty) for day, part in tally.days.items()}
    assert [empty for _, empty in told.values()] == [0, 0]
    assert list(told) == ["2026-11-16", "2026-11-17"]
    sums = {day: sum(part.decided[SCORE].cells.values()) for day, part in tally.days.items()}
    assert sums == {"2026-11-16": 1, "2026-11-17": 5}
