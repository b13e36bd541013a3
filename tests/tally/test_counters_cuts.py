"""Rows at cuts and in the gaps between them, against rows that are counted one by one."""

import hashlib
import struct
from collections import Counter
from typing import Any

import numpy as np
import pytest

from assay.errors import TallyError
from assay.tally import ScoreTally
from assay.tally.counters import CutCounter, CutPoints, count_cuts
from assay.tally.keeping import LOWEST, Cuts

from .kinds import THREE, TWO

CUTS = [-1.0, 0.0, 0.5, 2.0]


def _naive(rows: list[tuple[float, int, int]], labels: int, cuts: list[float]) -> Any:
    """The kept score of each row: the cut itself, or the float after the cut below."""
    sums: Counter[tuple[float, int]] = Counter()
    for score, label, count in rows:
        below = [cut for cut in cuts if cut < score]
        start = float(np.nextafter(max(below), np.inf)) if below else LOWEST
        sums[score if score in cuts else start, label] += count
    kept = sorted({score for (score, _), count in sums.items() if count})
    return kept, [[sums[score, label] for score in kept] for label in range(labels)]


ROWS = [
    *[(-7.0, 1, 1), (-1.0, 1, 2), (-0.5, 1, 3), (-0.0, 1, 4), (0.0, 0, 5), (0.25, 1, 6)],
    *[(0.5, 2, 7), (0.25, 1, 300), (0.5, 1, 8), (2.0, 0, 9), (3.0, 1, 10), (1e308, 1, 11)],
    *[(np.nextafter(0.5, 1), 1, 12), (np.nextafter(0.5, 0), 1, 13), (0.5, 0, 0)],
]


@pytest.mark.parametrize("lot", [1 << 22, 3, 1])
@pytest.mark.parametrize("counted", [False, True])
@pytest.mark.parametrize("step", [100, 4, 1])
def test_rows_are_counted_at_cuts_and_into_gaps(
    lot: int, counted: bool, step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assay.tally.counters._LOT", lot)
    rows = [(score, label, count if counted else 1) for score, label, count in ROWS]
    scores, truth, counts = (np.array(column) for column in zip(*rows, strict=True))
    counter = CutCounter(THREE, CutPoints("dos", np.array(CUTS)))
    for i in range(0, len(rows), step):
        part = slice(i, i + step)
        assert counter.add(scores[part], truth[part], counts[part] if counted else None) == []
    tally = counter.done()
    assert (tally.scores.tolist(), tally.counts.tolist()) == _naive(rows, 3, CUTS)
    assert tally.counts.dtype == (np.uint16 if counted else np.uint8)
    assert tally.labels == THREE
    whole = count_cuts(
        THREE, CutPoints("dos", np.array(CUTS)), scores, truth, counts=counts if counted else None
    )
    assert whole == tally


@pytest.mark.parametrize(
    "rows",
    [
        [(0.5, 1, 1)],
        [(0.5, 0, 1)],
        [(0.75, 0, 1)],
        [(-9.0, 0, 1)],
        [(9.0, 0, 1)],
        [(0.5, 0, 1), (0.5, 1, 1)],
        [(-9.0, 0, 1), (9.0, 0, 1), (0.75, 0, 1), (2.0, 1, 1), (0.0, 1, 1)],
    ],
)
def test_few_rows_are_counted(rows: Any) -> None:
    scores, truth, _ = (np.array(column) for column in zip(*rows, strict=True))
    tally = count_cuts(TWO, CutPoints("benign", np.array(CUTS)), scores, truth)
    assert (tally.scores.tolist(), tally.counts.tolist()) == _naive(rows, 2, CUTS)


def test_cuts_may_be_of_any_floats() -> None:
    cuts = CutPoints("benign", np.array([-0.0, 0.25], np.float32))
    assert cuts.cuts.dtype == np.float64
    assert not np.signbit(cuts.cuts).any()
    expected = hashlib.sha256(struct.pack("<2d", 0.0, 0.25)).hexdigest()[:16]
    assert cuts.digest == expected
    assert len(cuts.digest) == 16
    # Compared as objects: arrays have no hash.
    assert len({cuts, CutPoints("benign", np.array([0.0, 0.25]))}) == 2
    kept = count_cuts(TWO, cuts, np.empty(0), np.empty(0, int))
    assert kept.kept == Cuts("benign", expected)
    assert (kept.size, kept.labels, kept.scores.dtype) == (0, TWO, np.float32)


def test_rows_above_the_largest_float_that_is_a_cut_are_none() -> None:
    largest = float(np.finfo(np.float64).max)
    scores, truth = np.array([largest, -largest, largest]), np.array([1, 0, 0])
    tally = count_cuts(TWO, CutPoints("benign", np.array([largest])), scores, truth)
    assert (tally.scores.tolist(), tally.counts.tolist()) == ([LOWEST, largest], [[1, 1], [0, 1]])


def test_without_cuts_all_rows_lie_in_one_gap() -> None:
    none = CutPoints("benign", np.empty(0))
    scores = np.array([0.5, 3.0])
    tally = count_cuts(TWO, none, scores, np.array([0, 0]), counts=np.array([3, 4]))
    assert (tally.scores.tolist(), tally.counts.tolist()) == ([LOWEST], [[7], [0]])
    with pytest.raises(TallyError, match=r"the score 0.5 of a 'attack' row is none of the 0 cuts"):
        count_cuts(TWO, none, scores, np.array([1, 0]))


def test_the_first_score_that_is_no_cut_is_named() -> None:
    cutting = CutPoints("benign", np.array(CUTS))
    scores, truth = np.array([0.5, 0.75, 0.25, 9.0]), np.array([1, 1, 1, 1])
    with pytest.raises(TallyError, match=r"the score 0.25 of a 'attack' row is none of the 4 cuts"):
        count_cuts(TWO, cutting, scores, truth)


def test_the_memory_of_cuts_is_that_of_their_counters() -> None:
    counter = CutCounter(THREE, CutPoints("dos", np.array(CUTS)))
    assert counter.nbytes == 8 * (3 * 4 + 5 + 4)
    assert counter.labels == THREE
    assert counter.done() == ScoreTally(
        THREE, np.empty(0), np.empty((3, 0), np.uint8), kept=counter.done().kept
    )
