"""Areas and their variances in blocks of any size, against ratios of whole numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from itertools import pairwise

import numpy as np
import pytest

from assay.counts import ScoreCounts
from assay.counts.blocks import map_blocks
from assay.measures import Points, auc, rank, reliability
from assay.measures.calibration import BinRanges
from assay.measures.roc_points import farthest

Side = Sequence[int]
Table = tuple[Side, Side]  # negatives and positives of each score, lowest score first
Sides = tuple[list[Fraction], list[Fraction]]
LABELS = ("no", "yes")

TABLES: dict[str, Table] = {
    "mixed": ((5, 3, 0, 4, 1, 0, 2), (1, 0, 2, 3, 3, 4, 2)),
    # Positives at two scores of eleven, so that those without are put together.
    "rare": ((9, 4, 2, 7, 3, 3, 1, 2, 1, 1, 1), (0, 0, 2, 0, 0, 0, 0, 3, 0, 0, 0)),
    "last": ((9, 4, 2, 7, 3, 3, 1, 2, 1), (0, 0, 0, 0, 0, 0, 0, 0, 2)),
    "first": ((9, 4, 2, 7, 3, 3, 1, 2, 1), (2, 0, 0, 0, 0, 0, 0, 0, 1)),
    "tied": ((3, 4), (2, 5)),
}
every_table = pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)


def tally_of(table: Table) -> ScoreCounts:
    counts = np.array(table, np.uint8)
    return ScoreCounts(LABELS, np.arange(counts.shape[1]) / 16, counts)


def in_blocks(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auc, "BLOCK", size)
    monkeypatch.setattr(auc, "map_blocks", partial(map_blocks, block=size))


BLOCKS = (1, 2, 3, 4, 100)


def exactly(table: Table) -> Sides:
    return [Fraction(n) for n in table[0]], [Fraction(n) for n in table[1]]


def placements(table: Table) -> Iterator[list[tuple[int, Fraction]]]:
    """Of each class: how many rows lie where, with the share of the other class that they beat."""
    q, p = exactly(table)
    size = range(len(q))
    yield [(int(p[i]), (sum(q[:i]) + q[i] / 2) / sum(q)) for i in size]
    yield [(int(q[i]), (sum(p[i + 1 :]) + p[i] / 2) / sum(p)) for i in size]


@every_table
def test_auc_and_delongs_variance_are_exact(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    variance = Fraction(0)
    for placed in placements(table):
        rows = sum(n for n, _ in placed)
        mean = sum(n * x for n, x in placed) / rows
        variance += sum(n * (x - mean) ** 2 for n, x in placed) / (rows - 1) / rows
    for size in BLOCKS:
        in_blocks(size, monkeypatch)
        ranking = rank(tally_of(table))
        assert len(ranking.blocks) == -(-len(table[0]) // size)
        assert ranking.auc.value == float(mean)
        assert ranking.auc.variance == pytest.approx(float(variance), rel=1e-13)
        assert (ranking.positives, ranking.negatives) == (sum(table[1]), sum(table[0]))


def spread(exact: Callable[..., Fraction], table: Table) -> float:
    """The sum over rows of the squared slope of a ratio by one more such row."""
    step, total = Fraction(1, 10**9), Fraction(0)
    for side in (0, 1):
        for at, rows in enumerate(table[side]):
            if rows:
                ends = []
                for sign in (1, -1):
                    counts = exactly(table)
                    counts[side][at] += sign * step
                    ends.append(exact(*counts))
                total += rows * ((ends[0] - ends[1]) / (2 * step)) ** 2
    return float(total)


def ap_of(q: list[Fraction], p: list[Fraction]) -> Fraction:
    steps = [p[i] * sum(p[i:]) / (sum(p[i:]) + sum(q[i:])) for i in range(len(p))]
    return sum(steps, Fraction(0)) / sum(p)


@every_table
def test_average_precision_and_its_variance_are_exact(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    value, variance = float(ap_of(*exactly(table))), spread(ap_of, table)
    for size in BLOCKS:
        in_blocks(size, monkeypatch)
        average_precision = rank(tally_of(table)).average_precision
        assert average_precision.value == pytest.approx(value, rel=1e-14)
        assert average_precision.variance == pytest.approx(variance, rel=1e-11)


def partial_of(q: list[Fraction], p: list[Fraction], limit: Fraction) -> Fraction:
    size = range(len(q), -1, -1)
    points = [(sum(q[i:]) / sum(q), sum(p[i:]) / sum(p)) for i in size]
    area = Fraction(0)
    for (x0, y0), (x1, y1) in pairwise(points):
        if x0 < limit and x0 != x1:
            x = min(x1, limit)
            area += (x - x0) * (y0 + (y0 + (y1 - y0) * (x - x0) / (x1 - x0))) / 2
    return area


@every_table
@pytest.mark.parametrize("limit", [Fraction(1, 512), Fraction(1, 8), Fraction(9, 16), Fraction(1)])
def test_a_partial_area_and_its_variance_are_exact(
    table: Table, limit: Fraction, monkeypatch: pytest.MonkeyPatch
) -> None:
    area = partial(partial_of, limit=limit)
    value, variance = float(area(*exactly(table))), spread(area, table)
    for size in BLOCKS:
        in_blocks(size, monkeypatch)
        partial_auc = rank(tally_of(table)).partial_auc(float(limit), corrected=False)
        assert partial_auc.value == value
        assert partial_auc.variance == pytest.approx(variance, rel=1e-11)
        corrected = rank(tally_of(table)).partial_auc(float(limit))
        stretch = 1 / (2 * float(limit) - float(limit) ** 2)
        assert corrected.variance == pytest.approx(variance * stretch**2, rel=1e-11)


@pytest.mark.parametrize("size", BLOCKS)
def test_a_limit_that_is_met_at_the_border_of_a_block_is_not_passed(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_blocks(size, monkeypatch)
    # Of eight negatives four lie at or above the fourth score, two above the sixth.
    tally = tally_of(((2, 1, 1, 1, 1, 0, 1, 1), (0, 1, 1, 0, 1, 1, 1, 0)))
    ranking = rank(tally)
    # Up to a quarter: the positive above one negative, and none of that above two.
    assert ranking.partial_auc(0.25, corrected=False).value == (0.25 - 1.5 / 8) / 5
    # Up to a half: the positives above 1.5, 2, 2.5, and none of those above 4.
    assert ranking.partial_auc(0.5, corrected=False).value == (2.5 + 2 + 1.5) / 8 / 5
    corrected = ranking.partial_auc(0.5)
    assert corrected.value == pytest.approx(0.5 + (6 / 40 - 1 / 8) / (2 * (1 / 2 - 1 / 8)))


def test_a_positive_right_at_the_limit_is_passed_by_no_negative() -> None:
    """One of two negatives lies above the positive in the middle, at a limit of a half."""
    partial_auc = rank(tally_of(((1, 0, 1), (1, 1, 1)))).partial_auc(0.5, corrected=False)
    # The highest positive gains 1/4, tied with a negative; that one passes half a positive.
    of_positives = ((1 / 4 - 1 / 12) ** 2 + 2 * (1 / 12) ** 2) / 9
    of_negatives = 2 * (1 / 12) ** 2 / 4
    assert partial_auc.value == pytest.approx(1 / 12, rel=1e-15)
    assert partial_auc.variance == pytest.approx(of_positives + of_negatives, rel=1e-13)


def test_the_default_limit_is_a_tenth() -> None:
    ranking = rank(tally_of(TABLES["mixed"]))
    assert ranking.partial_auc() == ranking.partial_auc(0.1, corrected=True)
    assert ranking.partial_auc() != ranking.partial_auc(0.1, corrected=False)


def test_a_variance_takes_two_rows_of_each_class() -> None:
    # One of four pairs is lost: each class has a row that beats half and one that beats all.
    two = rank(tally_of(((1, 0, 1, 0), (0, 1, 0, 1)))).auc
    assert two == (0.75, pytest.approx(2 * (2 * 0.25**2) / 2))
    for table in (((1, 0, 0), (1, 1, 1)), ((1, 1, 1), (0, 0, 1)), ((1, 0), (0, 1))):
        area = rank(tally_of(table)).auc
        assert not math.isnan(area.value)
        assert math.isnan(area.variance)


def test_what_holds_arrays_is_equal_to_itself_alone() -> None:
    tally = tally_of(TABLES["mixed"])

    def made() -> list[object]:
        points = Points.of(tally)
        return [rank(tally), points, farthest(points), reliability(tally), BinRanges.of(tally)]

    for one, other in zip(made(), made(), strict=True):
        assert one == one  # noqa: PLR0124 - that is what is said
        assert one != other


def test_many_rows_of_one_score_are_counted_exactly() -> None:
    """Products of counts that 64 bits just hold, and such that they do not."""
    for n in (2**30 - 1, 2**30, 2**31, 2**33):
        counts = np.array([[n, 1, n], [n, 2, 1]], np.uint64)
        q, p = exactly((counts[0].tolist(), counts[1].tolist()))
        wins = sum(p[i] * (sum(q[:i]) + q[i] / 2) for i in range(3))
        expected = wins / (sum(p) * sum(q))
        ranking = rank(ScoreCounts(LABELS, np.arange(3.0), counts))
        assert ranking.auc.value == float(expected)
        whole = ranking.partial_auc(1.0, corrected=False)
        assert whole.value == float(expected)


def test_rows_of_one_class_have_no_area_and_attacks_alone_a_precision_of_one() -> None:
    for counts in (((1, 2), (0, 0)), ((0, 0), (1, 2))):
        ranking = rank(tally_of(counts))
        assert all(map(math.isnan, (*ranking.auc, *ranking.partial_auc())))
        assert ranking.blocks == ()
    assert ranking.average_precision.value == 1.0
    assert math.isnan(rank(tally_of(((1, 2), (0, 0)))).average_precision.value)


# -- halves ----------------------------------------------------------------------------------------


def table_of(points: Points) -> list[list[float]]:
    """Negatives and positives of each score that has any."""
    return [(side[:-1] - side[1:]).tolist() for side in (points.fp, points.tp)]


def held(counts: np.ndarray) -> list[list[float]]:
    return counts[:, counts.any(axis=0)].astype(float).tolist()


@pytest.mark.parametrize(
    ("table", "turned"),
    [
        (((4, 9, 3), (5, 2, 8)), False),
        (((8, 2, 5), (3, 9, 4)), True),
        (((7, 6), (6, 7)), False),
    ],
    ids=["as it is", "upside down", "alike either way"],
)
def test_halves_are_dealt_out_four_times_by_one_seed(table: Table, turned: bool) -> None:
    """Classes that change places with scores turned over have the same halves."""
    counts = np.array(table, np.int64)
    dealt = counts[::-1, ::-1] if turned else counts
    generator, expected = np.random.default_rng(42), []
    for _ in range(4):
        half = generator.binomial(dealt, 0.5)
        half = half[::-1, ::-1] if turned else half
        expected += [held(half), held(counts - half)]
    assert [table_of(points) for points in rank(tally_of(table)).halves] == expected


def test_the_points_of_a_ranking_are_those_of_its_rows() -> None:
    points = rank(tally_of(((3, 0, 1), (1, 2, 1)))).points
    assert (points.tp.tolist(), points.fp.tolist()) == ([4, 3, 1, 0], [4, 1, 1, 0])
