"""ScoreTally number by number: weights, labels that move, ends of cells, and what is refused."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from assay.errors import TallyError
from assay.tally import ScoreTally, codec, from_bytes
from assay.tally.blocks import BLOCK
from assay.tally.counters import CutPoints, count_cuts
from assay.tally.keeping import LOWEST, Cuts, Exact, Grid
from assay.tally.scores import extremes

from .kinds import THREE, TWO

Array = np.ndarray[Any, Any]


def _table(tally: ScoreTally) -> tuple[list[float], list[list[Any]]]:
    return tally.scores.tolist(), tally.counts.tolist()


def _weighted(
    labels: Sequence[str], rows: Sequence[tuple[float, int, float]], **how: Any
) -> ScoreTally:
    scores, truth, weights = (np.array(column) for column in zip(*rows, strict=True))
    return ScoreTally.of_rows(labels, scores, truth, weights=weights, **how)


def _sums(tally: ScoreTally) -> dict[tuple[str, float], tuple[Fraction, Fraction]]:
    """The exact sums of weights and of their squares, by label and score."""
    assert tally.squares is not None
    sums = {}
    exact = []
    for table, rest in zip((tally.counts, tally.squares), tally.rest, strict=True):
        values = [Fraction(each) for each in table.T.ravel().tolist()]
        if rest is not None:
            at, atoms = rest.atoms()
            for i in set(at.tolist()):
                values[i] = sum(map(Fraction, atoms[at == i].tolist()), Fraction(0))
        exact.append(values)
    for i, score in enumerate(tally.scores.tolist()):
        for j, label in enumerate(tally.labels):
            number = i * len(tally.labels) + j
            if exact[0][number]:
                sums[label, score] = exact[0][number], exact[1][number]
    return sums


def _naive(
    labels: Sequence[str], rows: Sequence[tuple[float, int, float]]
) -> dict[tuple[str, float], tuple[Fraction, Fraction]]:
    sums: dict[tuple[str, float], tuple[Fraction, Fraction]] = {}
    for score, label, weight in rows:
        if weight:
            first, second = sums.get((labels[label], score + 0.0), (Fraction(0), Fraction(0)))
            key = labels[label], score + 0.0
            sums[key] = first + Fraction(weight), second + Fraction(weight * weight)
    return sums


# A score of no weight comes first, one in the middle and one last.
WEIGHED = [
    *[(-1.0, 0, 0.0), (0.25, 1, 0.1), (0.25, 1, 0.2), (0.5, 2, 0.0), (-0.0, 0, 0.3), (0.0, 0, 0.1)],
    *[(0.75, 2, 0.7), (0.25, 0, 1.5), (0.75, 2, 0.1), (0.75, 2, 1e-30), (9.0, 1, 0.0)],
]


# -- rows ------------------------------------------------------------------------------------------


def test_no_rows_have_a_table_of_their_labels() -> None:
    zero = ScoreTally.zero(THREE)
    assert (zero.labels, zero.scores.dtype, zero.counts.dtype) == (THREE, np.float32, np.uint8)
    assert (zero.scores.shape, zero.counts.shape) == ((0,), (3, 0))
    none = np.empty(0)
    for kept in (Exact(), Grid(5)):
        assert ScoreTally.of_rows(THREE, none, none.astype(int), kept=kept).kept == kept
        uncounted = ScoreTally.of_rows(
            THREE, np.array([0.5]), np.array([1]), counts=np.array([0]), kept=kept
        )
        assert (uncounted.size, uncounted.kept, uncounted.scores.dtype) == (0, kept, np.float32)
        unweighed = _weighted(THREE, [(0.5, 1, 0.0)], kept=kept)
        assert (unweighed.size, unweighed.kept, unweighed.weighted) == (0, kept, False)


def test_weights_are_added_by_score_and_label_and_scores_of_none_are_left_out() -> None:
    tally = _weighted(THREE, WEIGHED)
    assert tally.scores.tolist() == [0.0, 0.25, 0.75]
    assert not np.signbit(tally.scores[0])
    assert _sums(tally) == _naive(THREE, WEIGHED)
    assert tally.rest[0] is not None
    assert from_bytes(tally.to_bytes()) == tally
    assert tally == _weighted(THREE, [row for row in WEIGHED if row[2]])


def test_the_extremes_of_many_scores_are_found_in_any_block() -> None:
    for low, high in ((0, BLOCK), (BLOCK, 0), (7, 8), (BLOCK + 1, BLOCK)):
        scores = np.full(BLOCK + 2, 0.5)
        scores[[low, high]] = -3.0, 7.0
        assert extremes(scores) == (-3.0, 7.0)


def test_counts_are_added_by_score_and_label() -> None:
    scores, truth = np.array([0.5, -0.0, 0.5, 0.0, 0.5, 3.0]), np.array([2, 0, 2, 0, 1, 1])
    tally = ScoreTally.of_rows(THREE, scores, truth, counts=np.array([2, 3, 300, 4, 5, 0]))
    assert _table(tally) == ([0.0, 0.5], [[7, 0], [0, 5], [0, 302]])
    assert not np.signbit(tally.scores[0])
    assert tally.counts.dtype == np.uint16


# -- tables of unlike labels and grids -------------------------------------------------------------


def test_weighted_tables_of_unlike_labels_are_united() -> None:
    first, second = ("dos", "worm"), ("benign", "dos")
    one = [(0.25, 0, 0.1), (0.5, 1, 0.2), (0.5, 1, 0.7)]
    other = [(0.25, 1, 0.2), (0.75, 0, 0.3), (0.5, 1, 1.0)]
    total = _weighted(first, one) + _weighted(second, other)
    assert total.labels == ("benign", "dos", "worm")
    named = _naive(first, one)
    for key, (weight, square) in _naive(second, other).items():
        mine = named.get(key, (Fraction(0), Fraction(0)))
        named[key] = mine[0] + weight, mine[1] + square
    assert _sums(total) == named
    assert total == _weighted(second, other) + _weighted(first, one)
    alone = ScoreTally.zero(("benign",)) + _weighted(first, one)
    assert alone.labels == ("benign", "dos", "worm")
    assert _sums(alone) == _naive(first, one)


def test_the_rows_of_some_labels_keep_their_exact_weights() -> None:
    tally = _weighted(THREE, WEIGHED)
    some = tally.of_labels(lambda label: label != "dos")
    assert some.labels == ("benign", "probe")
    assert _sums(some) == {k: v for k, v in _naive(THREE, WEIGHED).items() if k[0] != "dos"}
    plain = ScoreTally(THREE, np.array([0.1, 0.2, 0.3]), np.eye(3, dtype=np.uint8))
    assert _table(plain.of_labels(lambda label: label != "dos")) == ([0.1, 0.3], [[1, 0], [0, 1]])


def test_labels_take_other_places_alone_or_together() -> None:
    counts = np.array([[1, 0], [2, 3], [0, 250]], np.uint8)
    plain = ScoreTally(THREE, np.array([0.1, 0.2]), counts, kept=Grid(5))
    turned = plain.placed(("c", "a", "b"), {"benign": 1, "dos": 2, "probe": 0})
    assert (turned.labels, turned.counts.tolist()) == (("c", "a", "b"), [[0, 250], [1, 0], [2, 3]])
    both = plain.placed(("rest", "bad"), {"benign": 0, "dos": 1, "probe": 1})
    assert (both.counts.tolist(), both.counts.dtype) == ([[1, 0], [2, 253]], np.uint8)
    assert both.kept == turned.kept == Grid(5)
    wide = plain.placed(("bad", "rest"), {"benign": 0, "dos": 0, "probe": 0})
    assert wide.counts.tolist() == [[3, 253], [0, 0]]
    more = plain.placed((*THREE, "worm"), {"benign": 0, "dos": 1, "probe": 2})
    assert more.counts.tolist() == [[1, 0], [2, 3], [0, 250], [0, 0]]
    assert plain.placed(THREE, {"benign": 0, "dos": 1, "probe": 2}) is plain
    named = plain.placed(("x", "y", "z"), {"benign": 0, "dos": 1, "probe": 2})
    assert (named.labels, named.counts.tolist()) == (("x", "y", "z"), counts.tolist())
    weighted = _weighted(THREE, WEIGHED)
    moved = weighted.placed(("bad", "good"), {"benign": 1, "dos": 0, "probe": 0})
    rows = [(score, 0 if label else 1, weight) for score, label, weight in WEIGHED]
    assert _sums(moved) == _naive(("bad", "good"), rows)


def test_a_sum_is_kept_as_its_parts_are() -> None:
    grid, none = ScoreTally.zero(TWO).to_grid(4), ScoreTally.zero(())
    exact = ScoreTally.of_rows(TWO, np.array([0.3]), np.array([1]))
    for parts in ([grid, exact], [exact, grid], [none, exact, grid]):
        assert ScoreTally.merge(parts).kept == Grid(4)
        assert ScoreTally.merge(parts) == exact.to_grid(4)
    assert ScoreTally.merge([grid, ScoreTally.zero(TWO)]).kept == Grid(4)
    assert ScoreTally.merge([none, none]).labels == ()
    assert ScoreTally.merge([exact]) is exact
    for a, b in (
        (exact, _weighted(TWO, [(0.3, 1, 1.0)])),
        (_weighted(TWO, [(0.3, 1, 1.0)]), exact),
    ):
        with pytest.raises(TallyError, match="with and without sampling weights can't be added"):
            a + b
    assert ScoreTally.merge([none.to_grid(3), none]) == ScoreTally.merge([none, none.to_grid(3)])


def test_weighted_scores_go_into_cells() -> None:
    rows = [(0.3, 1, 0.1), (0.3001, 1, 0.2), (0.3001, 0, 2.0), (0.9, 0, 0.5)]
    grid = _weighted(TWO, rows).to_grid(4)
    assert _sums(grid) == _naive(TWO, [(0.296875, *row[1:]) for row in rows[:3]]) | {
        ("benign", 0.8984375000000001): (Fraction(1, 2), Fraction(1, 4))
    }
    assert grid.kept == Grid(4)
    assert grid == _weighted(TWO, rows, kept=Grid(4))
    coarse = grid.to_grid(3)
    assert coarse.kept == Grid(3)
    assert grid.to_grid(4) is grid
    with pytest.raises(TallyError, match="a grid of 3 bits can't be cut into one of 4"):
        coarse.to_grid(4)


# -- what is known of a score ----------------------------------------------------------------------


def test_the_ends_of_a_grid_are_those_of_its_cells() -> None:
    tally = ScoreTally.of_rows(TWO, np.array([0.3, 0.5, 0.9]), np.array([0, 1, 1]), kept=Grid(4))
    low, high = tally.ends()
    assert low.tolist() == [0.296875, 0.5, 0.8984375000000001]
    assert high.tolist() == [0.31249999999999994, 0.5, 0.90234375]
    assert tally.tied().tolist() == [False, True, False]
    assert tally.middles().tolist() == [
        (0.296875 + 0.31249999999999994) / 2, 0.5, (0.8984375000000001 + 0.90234375) / 2,
    ]  # fmt: skip
    assert tally.inexact


def _cuts() -> ScoreTally:
    scores = np.array([0.5, 0.75, 0.2, 0.1, 0.6, 0.75, 9.0])
    cutting = CutPoints(TWO[0], np.array([0.5, 0.75]))
    return count_cuts(TWO, cutting, scores, np.array([1, 1, 0, 0, 0, 0, 0]))


def test_the_ends_of_gaps_are_the_floats_beside_the_cuts() -> None:
    tally = _cuts()
    after = [float(np.nextafter(cut, 1)) for cut in (0.5, 0.75)]
    assert tally.scores.tolist() == [LOWEST, 0.5, after[0], 0.75, after[1]]
    low, high = tally.ends()
    assert low.tolist() == tally.scores.tolist()
    below = [float(np.nextafter(cut, 0)) for cut in (0.5, 0.75)]
    largest = float(np.finfo(np.float64).max)
    assert high.tolist() == [below[0], 0.5, below[1], 0.75, largest]
    assert tally.tied().tolist() == [False, True, False, True, False]
    assert not tally.inexact
    assert tally.middles() is not None
    assert tally.middles().tolist() == low.tolist()


def test_rows_below_the_lowest_cut_are_put_at_the_smallest_score() -> None:
    tally = _cuts()
    assert tally.starting_at(0.1).scores.tolist() == [0.1, *tally.scores.tolist()[1:]]
    exact = ScoreTally(TWO, np.array([LOWEST, 0.5]), np.ones((2, 2), np.uint8))
    assert exact.starting_at(0.1) is exact
    empty = ScoreTally(TWO, np.empty(0), np.empty((2, 0), np.uint8), kept=tally.kept)
    assert empty.starting_at(0.1) is empty


def test_the_classes_of_a_cell_are_ranked_one_above_the_other() -> None:
    counts = np.array([[2, 0, 1], [1, 3, 1]])
    weights, squares = counts * 0.5, counts * 0.25
    tally = ScoreTally(TWO, np.array([0.25, 0.375, 0.5]), weights, squares, Grid(3))
    best, worst = tally.apart(positives_above=True), tally.apart(positives_above=False)
    assert best.counts.tolist() == [[1, 0, 0, 0.5], [0, 0.5, 1.5, 0.5]]
    assert worst.counts.tolist() == [[0, 1, 0, 0.5], [0.5, 0, 1.5, 0.5]]
    assert best.squares is not None
    assert best.squares.tolist() == [[0.5, 0, 0, 0.25], [0, 0.25, 0.75, 0.25]]
    assert best.scores.tolist() == worst.scores.tolist() == [0, 1, 2, 3]
    assert best.kept == Exact()
    assert tally.apart(positives_above=True) is best
    # The cell of 1/2 holds one score, so that its rows are tied.
    assert tally.tied().tolist() == [False, False, True]


def test_weighted_rows_count_as_fewer() -> None:
    tally = _weighted(THREE, [(0.5, 0, 1.0), (0.25, 0, 3.0), (0.5, 2, 2.0)])
    assert tally.rows == 36 / 14
    assert tally.effective() == (16 / 10, 0.0, 1.0)
    plain = ScoreTally(TWO, np.array([0.1, 0.2]), np.array([[1, 2], [0, 4]], np.uint8))
    assert (plain.rows, plain.effective()) == (7, (3.0, 4.0))
    assert type(plain.rows) is int


# -- two of the labels -----------------------------------------------------------------------------


def test_one_label_against_the_rest_adds_the_others() -> None:
    counts = np.array([[200, 0], [2, 3], [100, 5]], np.uint8)
    plain = ScoreTally(THREE, np.array([0.1, 0.2]), counts)
    first = plain.one_versus_rest(0)
    assert (first.labels, first.counts.tolist()) == (("rest", "benign"), [[102, 8], [200, 0]])
    assert plain.one_versus_rest(1).counts.tolist() == [[300, 5], [2, 3]]
    assert plain.one_versus_rest(1).counts.dtype == np.uint16
    two = ScoreTally(TWO, np.array([0.1, 0.2]), counts[:2])
    assert two.one_versus_rest(1) is two
    assert two.one_versus_rest(0).labels == ("rest", "benign")
    assert two.one_versus_rest(0).counts.tolist() == [[2, 3], [200, 0]]
    # Of three labels the second is no positive of the others.
    assert plain.one_versus_rest(1).labels == ("rest", "dos")
    weighted = ScoreTally(THREE, np.array([0.1, 0.2]), counts / 8, counts / 64)
    against = weighted.one_versus_rest(2)
    assert against.counts.tolist() == [[25.25, 0.375], [12.5, 0.625]]
    assert against.squares is not None
    assert against.squares.tolist() == [[202 / 64, 3 / 64], [100 / 64, 5 / 64]]


def test_a_pair_of_labels_has_their_scores_alone() -> None:
    counts = np.array([[300, 0, 1], [2, 0, 0], [0, 5, 0]], np.uint16)
    plain = ScoreTally(THREE, np.array([0.1, 0.2, 0.3]), counts)
    pair = plain.pair(2, 1)
    assert (pair.labels, *_table(pair)) == (("probe", "dos"), [0.1, 0.2], [[0, 5], [2, 0]])
    assert pair.counts.dtype == np.uint8
    weighted = ScoreTally(THREE, plain.scores, counts / 4, counts / 16).pair(0, 1)
    assert _table(weighted) == ([0.1, 0.3], [[75, 0.25], [0.5, 0]])
    assert weighted.squares is not None
    assert weighted.squares.tolist() == [[300 / 16, 1 / 16], [2 / 16, 0]]
    digest = Cuts("dos", "1")
    cuts = ScoreTally(THREE, plain.scores, counts, kept=digest)
    assert [cuts.pair(0, 1).kept, cuts.pair(0, 2).kept] == [digest, Exact()]
    assert cuts.one_versus_rest(0).kept == Cuts("rest", "1")
    assert cuts.one_versus_rest(1).kept == digest


# -- bytes -----------------------------------------------------------------------------------------

GOOD = {"scores": np.array([0.25, 0.5]), "counts": np.array([[1, 0], [0, 2]], np.uint8)}
WEIGHTS = {"counts": np.array([[0.5, 0], [0, 2.0]]), "squares": np.array([[0.25, 0], [0, 4.0]])}
BROKEN: dict[str, tuple[dict[str, Any], str]] = {
    "scores in a table": ({"scores": np.array([[0.25, 0.5]])}, "scores of float64 and counts"),
    "whole scores": ({"scores": np.array([1, 2])}, "scores of int64"),
    "a label too few": ({"counts": GOOD["counts"][:1]}, r"counts of shape \(1, 2\)"),
    "a score too few": ({"counts": GOOD["counts"][:, :1]}, r"counts of shape \(2, 1\)"),
    "equal scores": ({"scores": np.array([0.5, 0.5])}, "not finite and ascending"),
    "falling scores": ({"scores": np.array([0.5, 0.25])}, "not finite and ascending"),
    "infinite scores": ({"scores": np.array([0.5, np.inf])}, "not finite and ascending"),
    "signed counts": ({"counts": np.array([[1, 0], [0, 2]])}, "counts of int64 are not counts"),
    "counts with squares": ({"squares": WEIGHTS["squares"]}, "counts of uint8 are not counts"),
    "weights without squares": ({"counts": WEIGHTS["counts"]}, "counts of float64 are not counts"),
    "a negative weight": (WEIGHTS | {"counts": -WEIGHTS["counts"]}, "are not counts"),
    "one negative weight": (WEIGHTS | {"counts": WEIGHTS["counts"] - 0.5}, "are not counts"),
    "squares of one label": (WEIGHTS | {"squares": WEIGHTS["squares"][:1]}, "squares of shape"),
    "one negative square": (WEIGHTS | {"squares": WEIGHTS["squares"] - 0.5}, "squares of shape"),
}  # fmt: skip


def _bytes(arrays: dict[str, Any], **more: Any) -> bytes:
    return codec.write("scores", {"labels": TWO, **more}, GOOD | arrays)


def test_a_table_is_read_from_its_arrays() -> None:
    assert _table(from_bytes(_bytes({}))) == ([0.25, 0.5], [[1, 0], [0, 2]])
    weighted = from_bytes(_bytes(WEIGHTS))
    assert weighted.weighted
    assert weighted.rest == (None, None)
    assert from_bytes(_bytes({}, kept={"mode": "grid", "bits": 4})).kept == Grid(4)


@pytest.mark.parametrize("name", BROKEN)
def test_arrays_that_are_no_table_are_refused(name: str) -> None:
    arrays, message = BROKEN[name]
    with pytest.raises(TallyError, match=message):
        from_bytes(_bytes(arrays))


def test_only_sums_that_are_no_floats_have_a_later_schema() -> None:
    for weights, schema in (((0.5, 0.25), b"1"), ((0.1, 0.2), b"2")):
        tally = _weighted(TWO, [(0.5, 1, weight) for weight in weights])
        assert tally.to_bytes().partition(b'"schema":')[2][:1] == schema
