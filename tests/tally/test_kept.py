"""Score tallies whose scores are kept as a grid or by cuts, and how unlike ones add."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import TallyError
from assay.tally import ScoreTally, from_bytes
from assay.tally.counters import CutPoints, count_cuts
from assay.tally.keeping import Cuts, Exact, Grid, cells, lowest

from .kinds import CUTS, THREE, TWO, scores

Array = np.ndarray[Any, Any]
rows = st.lists(st.tuples(st.integers(0, 1), scores), min_size=1, max_size=25)


def _exact(drawn: list[tuple[int, float]], labels: tuple[str, ...] = TWO, **how: Any) -> ScoreTally:
    truth = np.array([label for label, _ in drawn], np.uint8)
    return ScoreTally.of_rows(labels, np.array([score for _, score in drawn]), truth, **how)


# -- a grid ----------------------------------------------------------------------------------------


@given(drawn=rows, bits=st.integers(1, 32))
def test_cells_are_counted_as_the_exact_tally_is_put_into_cells(drawn: Any, bits: int) -> None:
    counted = _exact(drawn, kept=Grid(bits))
    assert counted == _exact(drawn).to_grid(bits)
    assert counted.kept == Grid(bits)
    np.testing.assert_array_equal(counted.scores, lowest(cells(counted.scores, bits), bits))


@given(drawn=rows, fine=st.integers(1, 32), coarse=st.integers(1, 32))
def test_grids_nest(drawn: Any, fine: int, coarse: int) -> None:
    fine, coarse = max(fine, coarse), min(fine, coarse)
    assert _exact(drawn, kept=Grid(fine)).to_grid(coarse) == _exact(drawn, kept=Grid(coarse))


@given(first=rows, second=rows, bits=st.tuples(st.integers(1, 32), st.integers(1, 32)))
def test_unlike_grids_add_to_the_coarser(first: Any, second: Any, bits: tuple[int, int]) -> None:
    whole = _exact([*first, *second]).to_grid(min(bits))
    parts = [_exact(drawn).to_grid(b) for drawn, b in zip((first, second), bits, strict=True)]
    assert parts[0] + parts[1] == parts[1] + parts[0] == whole
    assert _exact(first) + parts[1] == _exact([*first, *second]).to_grid(bits[1])


@given(drawn=rows, bits=st.integers(1, 32))
def test_counts_are_exact_at_the_edges_of_cells(drawn: Any, bits: int) -> None:
    exact, grid = _exact(drawn), _exact(drawn, kept=Grid(bits))
    for threshold in grid.scores.tolist():
        assert grid.at_least(threshold) == exact.at_least(threshold)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("chunk", [7, 1000])
@pytest.mark.parametrize("span", [1, 1 << 23])
def test_large_and_small_spans_of_cells_are_counted_alike(
    chunk: int, span: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = np.random.default_rng(3)
    scores, truth = random.random(700) ** 9, random.integers(0, 3, 700)
    expected = ScoreTally.of_rows(THREE, scores, truth).to_grid(12)
    monkeypatch.setattr("assay.tally.keeping._CHUNK", chunk)
    monkeypatch.setattr("assay.tally.keeping._COUNTERS", span)
    assert ScoreTally.of_rows(THREE, scores, truth, kept=Grid(12)) == expected


def test_weights_and_counts_go_into_cells() -> None:
    scores, truth = np.array([0.3, 0.3001, 0.9]), np.array([0, 0, 1])
    weighted = ScoreTally.of_rows(TWO, scores, truth, weights=np.array([0.5, 2, 4]), kept=Grid(4))
    assert weighted.counts.tolist() == [[2.5, 0], [0, 4]]
    assert weighted.squares is not None
    assert weighted.squares.tolist() == [[4.25, 0], [0, 16]]
    counted = ScoreTally.of_rows(TWO, scores, truth, counts=np.array([3, 2**40, 1]), kept=Grid(4))
    assert counted.counts.tolist() == [[2**40 + 3, 0], [0, 1]]


def test_the_ends_of_a_column_hold_its_scores() -> None:
    scores = np.array([0.1, 0.7, 0.70001, 3.0])
    tally = ScoreTally.of_rows(TWO, scores, np.array([0, 0, 1, 1]), kept=Grid(6))
    low, high = tally.ends()
    assert (low <= [0.1, 0.7, 3.0]).all()
    assert (high >= [0.1, 0.70001, 3.0]).all()
    assert ((low < tally.middles()) & (tally.middles() < high)).all()
    exact = ScoreTally.of_rows(TWO, scores, np.array([0, 0, 1, 1]))
    assert [end.tolist() for end in exact.ends()] == [scores.tolist()] * 2
    assert exact.tied().all()
    assert not tally.tied().any()


def test_the_two_orders_part_the_classes_of_each_cell() -> None:
    counts = np.array([[2, 0, 1], [1, 3, 1]], np.uint8)
    tally = ScoreTally(TWO, np.array([0.25, 0.375, 0.5]), counts, kept=Grid(3))
    assert tally.apart(positives_above=True).counts.tolist() == [[2, 0, 0, 1], [0, 1, 3, 1]]
    assert tally.apart(positives_above=False).counts.tolist() == [[0, 2, 0, 1], [1, 0, 3, 1]]


def test_a_grid_is_not_made_finer() -> None:
    coarse = _exact([(0, 0.5)], kept=Grid(3))
    with pytest.raises(TallyError, match="a grid of 3 bits can't be cut into one of 5"):
        coarse.to_grid(5)
    assert coarse.to_grid(3) is coarse


# -- cuts ------------------------------------------------------------------------------------------


def _by_cuts(drawn: list[tuple[int, float]]) -> ScoreTally:
    truth = np.array([label for label, _ in drawn], np.uint8)
    values = np.array([score for _, score in drawn])
    cuts = np.unique(values[truth == 1] + 0.0)
    return count_cuts(TWO, CutPoints(TWO[0], cuts), values, truth)


@given(drawn=rows)
def test_cuts_keep_every_count_and_rank(drawn: Any) -> None:
    exact, kept = _exact(drawn), _by_cuts(drawn)
    assert kept.totals() == exact.totals()
    for threshold in exact.scores[exact.counts[1] > 0].tolist():
        assert kept.at_least(threshold) == exact.at_least(threshold)
        with np.errstate(over="ignore"):  # there is none above the largest
            above = np.nextafter(threshold, np.inf)
        assert kept.at_least(above) == exact.at_least(above)
    assert kept.size <= 2 * int((exact.counts[1] > 0).sum()) + 1


def test_gaps_hold_their_scores() -> None:
    tally = _by_cuts([(1, 0.5), (1, 0.75), (0, 0.2), (0, 0.6), (0, 0.75), (0, 9.0)])
    low, high = tally.ends()
    assert tally.counts.tolist() == [[1, 0, 1, 1, 1], [0, 1, 0, 1, 0]]
    assert (low <= [0.2, 0.5, 0.6, 0.75, 9.0]).all()
    assert (high >= [0.2, 0.5, 0.6, 0.75, 9.0]).all()
    assert high.tolist()[1] == 0.5
    started = tally.starting_at(0.125)
    assert started.scores[0] == 0.125
    assert started.counts is tally.counts
    assert started.starting_at(0.1) is started


def test_a_score_that_is_no_cut_is_refused() -> None:
    with pytest.raises(TallyError, match=r"score 0.3 of a 'attack' row is none of the 6 cuts"):
        count_cuts(TWO, CutPoints(TWO[0], CUTS), np.array([0.5, 0.3]), np.array([0, 1]))


def test_cuts_add_only_at_the_same_cuts() -> None:
    kept = _by_cuts([(1, 0.5), (0, 0.2)])
    others = (_by_cuts([(1, 0.75)]), _exact([(0, 0.5)]), _exact([(0, 0.5)], kept=Grid(4)))
    for other in others:
        with pytest.raises(TallyError, match="count all parts at the same cuts"):
            kept + other
    with pytest.raises(TallyError, match="scores kept by cuts have no cells"):
        kept.to_grid(3)
    assert kept + ScoreTally.zero(TWO) == kept


def test_tables_of_some_labels_say_how_they_are_kept() -> None:
    scores, truth = np.array([0.1, 0.2, 0.3, 0.35]), np.array([0, 1, 2, 0])
    tally = count_cuts(THREE, CutPoints(THREE[0], np.array([0.2, 0.3])), scores, truth)
    assert tally.one_versus_rest(1).kept == Cuts("rest", tally.kept.digest)  # type: ignore[union-attr]
    assert tally.one_versus_rest(0).kept == tally.kept
    assert tally.pair(0, 1).kept == tally.kept
    assert tally.pair(1, 2).kept == Exact()
    grid = ScoreTally.of_rows(THREE, scores, truth, kept=Grid(5))
    assert grid.one_versus_rest(2).kept == grid.pair(1, 2).kept == Grid(5)


# -- unlike labels, and bytes ----------------------------------------------------------------------


def test_unlike_labels_are_united() -> None:
    first = _exact([(0, 0.5), (1, 0.25)], ("normal", "worm"))
    second = _exact([(0, 0.5), (1, 0.75)], ("attack", "normal"))
    whole = first + second
    assert whole.labels == ("attack", "normal", "worm")
    assert whole.scores.tolist() == [0.25, 0.5, 0.75]
    assert whole.counts.tolist() == [[0, 1, 0], [0, 1, 1], [1, 0, 0]]
    assert second + first == whole
    assert (first + first).labels == ("normal", "worm")
    assert ScoreTally.zero(()) + first == first


@given(parts=st.lists(st.tuples(rows, st.permutations(THREE)), min_size=3, max_size=3))
def test_tables_of_unlike_labels_add_in_any_order(parts: Any) -> None:
    a, b, c = (_exact(drawn, tuple(labels[:2])) for drawn, labels in parts)
    assert (a + b) + c == a + (b + c) == ScoreTally.merge([c, b, a])


@pytest.mark.parametrize("ties", [1, 2, 50])
@pytest.mark.parametrize("labels", [TWO, THREE])
def test_many_tables_with_few_and_many_ties_merge_to_the_whole(
    ties: int, labels: tuple[str, ...]
) -> None:
    random = np.random.default_rng(ties)
    scores = random.normal(size=6000).round(6 - len(str(ties)) * 2)
    truth = random.integers(0, len(labels), 6000)
    parts = [ScoreTally.of_rows(labels, scores[i::8], truth[i::8]) for i in range(8)]
    assert ScoreTally.merge(parts) == ScoreTally.of_rows(labels, scores, truth)


def test_equal_numbers_have_equal_bytes_whatever_their_type() -> None:
    narrow = ScoreTally.of_rows(TWO, np.array([0.5, 0.1], np.float32), np.array([0, 1]))
    wide = ScoreTally.of_rows(TWO, np.array([0.5, 0.1], np.float32) * 1.0, np.array([0, 1]))
    wide = ScoreTally(wide.labels, wide.scores.astype(np.float64), wide.counts)
    assert narrow == wide
    assert wide.to_bytes() == narrow.to_bytes()
    assert b'"kept"' not in narrow.to_bytes()
    assert ScoreTally.of_rows(TWO, np.array([0.1]), np.array([0])) != narrow


def test_scores_that_are_no_ends_of_cells_are_refused() -> None:
    broken = ScoreTally(TWO, np.array([0.3]), np.array([[1], [0]], np.uint8), kept=Grid(4))
    with pytest.raises(TallyError, match="not the ends of cells of 4 bits"):
        from_bytes(broken.to_bytes())
