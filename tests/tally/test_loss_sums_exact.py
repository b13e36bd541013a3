"""LossSums to the last bit: where parts fill a float, where levels begin, and what is refused."""

import math
from collections import Counter
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest

from assay.errors import TallyError
from assay.tally import LossSums, ScoreTally, codec, from_bytes
from assay.tally.blocks import BLOCK
from assay.tally.loss_sums import UNIT_BITS, Moments, _integer_sum

from .kinds import TWO

UNIT = Fraction(1, 2**1168)
Array = np.ndarray[Any, Any]


def _sum(values: Array, counts: Array | None = None) -> Fraction:
    return _integer_sum(values.copy(), np.empty(len(values)), counts) * UNIT


def _exact(values: Array, counts: Array | None = None) -> Fraction:
    amounts = [1] * len(values) if counts is None else counts.tolist()
    often: Counter[float] = Counter()
    for value, amount in zip(values.tolist(), amounts, strict=True):
        often[value] += amount
    return sum((Fraction(value) * n for value, n in often.items()), Fraction(0))


# -- sums without rounding -------------------------------------------------------------------------


def test_sums_count_units_that_divide_every_float() -> None:
    assert UNIT_BITS == 1168 == 17 * 62 + 114
    assert _sum(np.array([5e-324])) == Fraction(5e-324) == 2 * Fraction(1, 2**1075)


LARGEST = 1303.0
FULL = {
    # The bits of the first part of a value, of the second, and of the last one all set.
    "the first part": LARGEST - 2.0**-31,
    "the second part": 1 - 2.0**-53,
    "below the first part": 2.0**-31 - 2.0**-84,
    "the last part": 2.0**-61 - 2.0**-114,
    "of all": (2**53 - 1) * 2.0**-80,
    "the smallest of the first level": 2.0**-62,
    "the largest of the second level": 2.0**-62 - 2.0**-115,
    "far below": 3 * 5e-324,
}


@pytest.mark.parametrize("name", FULL)
@pytest.mark.parametrize("rows", [2048, 5000])
def test_chunks_of_values_that_fill_a_part_add_up_exactly(name: str, rows: int) -> None:
    values = np.full(rows, FULL[name])
    values[::3] = np.nextafter(FULL[name], 0)
    values[-1] = np.nextafter(values[-2], 0)
    assert _sum(values) == _exact(values)


@pytest.mark.parametrize("most", [1, 1023, 2047, 2**40 + 5, 2**62])
@pytest.mark.parametrize("name", FULL)
def test_values_that_count_many_times_add_up_exactly(name: str, most: int) -> None:
    values = np.full(2100, FULL[name])
    values[1::2] = np.nextafter(FULL[name], 0)
    counts = np.full(len(values), most, np.int64)
    counts[5:9] = 0, 1, most // 2, 3
    assert _sum(values, counts) == _exact(values, counts)


def test_values_of_all_levels_are_added_with_their_own_counts() -> None:
    values = np.array([0.0, 3.5, 2.0**-62, 2.0**-63, 1e-30, 1e-40, 0.0, 1e-300, 5e-324, 0.1])
    counts = np.array([7, 1, 2, 0, 3, 1000, 4, 5, 2**50, 6])
    assert _sum(values) == _exact(values)
    assert _sum(values, counts) == _exact(values, counts)
    assert _sum(values[::-1], counts[::-1]) == _exact(values, counts)
    assert _sum(np.empty(0)) == 0


# -- losses of single rows -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "q", [2.0**-52, 1e-12, 3.9e-6, 5e-6, 7.5e-6, 2.0**-17 * (1 - 2.0**-53), 7.7e-6, 1e-3, 0.3]
)
def test_the_log_loss_of_a_nearly_sure_row_keeps_its_digits(q: float) -> None:
    sums = LossSums.of_binary(np.array([0]), np.array([q]))
    with mpmath.workdps(60):
        exact = -mpmath.log1p(-mpmath.mpf(q))
        relative = abs(mpmath.mpf(sums.log[0]) / 2**UNIT_BITS / exact - 1)
    # From 2^-17 on 1 - q is rounded, and the logarithm tells.
    assert relative <= (2.0**-51 if q < 2.0**-17 else 2.0**-53 / q)


def test_the_losses_of_a_row_are_its_own() -> None:
    # p of what is true: 1/4, 1/2, 1/8, 1.
    truth, p = np.array([0, 1, 1, 0]), np.array([0.75, 0.5, 0.125, 0.0])
    sums = LossSums.of_binary(truth, p)
    briers = [Fraction(9, 16), Fraction(1, 4), Fraction(49, 64), Fraction(0)]
    assert sums.brier[0] * UNIT == sum(briers)
    assert sums.brier[1] * UNIT == sum(b * b for b in briers)
    assert (sums.rows, sums.clipped, sums.weighted) == (4, 0, None)
    assert sums.log_loss().mean == pytest.approx(math.log(2) * (2 + 1 + 3) / 4, rel=1e-15)
    squares = sums.log_loss().square_second
    assert squares == pytest.approx(math.log(2) ** 2 * (4 + 1 + 9), rel=1e-15)


def test_the_losses_over_classes_are_those_of_the_rows() -> None:
    table = np.array([[0.5, 0.25, 0.25], [0.0, 1.0, 0.0], [0.125, 0.375, 0.5]])
    truth = np.array([0, 1, 0])
    # Half of (1/4 + 1/16 + 1/16), nothing, and half of (49/64 + 9/64 + 1/4).
    briers = [Fraction(3, 16), Fraction(0), Fraction(37, 64)]
    for counts in (None, np.array([1, 1, 1]), np.array([2, 5, 3])):
        sums = LossSums.of_classes(truth, table, counts=counts)
        amounts = [1, 1, 1] if counts is None else counts.tolist()
        assert sums.rows == sum(amounts)
        assert sums.brier[0] * UNIT == sum(n * b for n, b in zip(amounts, briers, strict=True))
        expected = math.log(2) * (amounts[0] + 3 * amounts[2]) / sum(amounts)
        assert sums.log_loss().mean == pytest.approx(expected, rel=1e-15)
    weighted = LossSums.of_classes(truth, table, weights=np.array([0.5, 2.0, 4.0]))
    assert weighted.weighted is not None
    w, wx, ww, wwx, wwxx = map(float, weighted.weighted[1])
    assert (w, wx) == (6.5, 0.5 * 3 / 16 + 4 * 37 / 64)
    assert (ww, wwx) == (20.25, 0.25 * 3 / 16 + 16 * 37 / 64)
    assert wwxx == 0.25 * 9 / 256 + 16 * 37**2 / 64**2
    assert weighted.rows == 3
    assert weighted.brier_score() == Moments(w, wx, ww, wwx, wwxx)
    assert weighted.log_loss().first == pytest.approx(math.log(2) * (0.5 + 3 * 4), rel=1e-15)


# -- losses of a table of scores -------------------------------------------------------------------

TABLES = {
    "one row each": [[1, 0, 1], [0, 1, 0]],
    "a tie of both labels": [[1, 0, 1], [0, 1, 1]],
    "all ties of both labels": [[1, 1, 1], [1, 1, 1]],
    "two rows of one label": [[2, 0, 1], [0, 1, 0]],
    "two of one, one of the other": [[2, 0, 1], [1, 1, 0]],
    "two rows each": [[2, 0, 2], [0, 2, 0]],
    "many rows": [[3, 0, 500], [1, 7, 2]],
}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_of_scores_has_the_losses_of_its_rows(name: str) -> None:
    counts, scores = np.array(TABLES[name]), np.array([0.125, 0.3, 0.875])
    rows = [(i, s, n) for i in (0, 1) for s, n in zip(scores, counts[i], strict=True) if n]
    truth, probability, amounts = (np.array(column) for column in zip(*rows, strict=True))
    expected = LossSums.of_binary(truth, probability, counts=amounts)
    tally = ScoreTally(TWO, scores, counts.astype(np.uint16))
    assert LossSums.of_scores(tally) == expected
    assert LossSums.of_scores(tally).rows == counts.sum()


def test_a_table_of_many_scores_is_summed_block_by_block() -> None:
    size = BLOCK + 3
    scores = np.arange(size) / size
    counts = np.zeros((2, size), np.uint8)
    counts[0], counts[1, ::2], counts[0, -2] = 1, 1, 3
    half = [
        LossSums.of_binary(np.zeros(size, np.uint8), scores, counts=counts[0].astype(np.int64)),
        LossSums.of_binary(np.ones(size, np.uint8), scores, counts=counts[1].astype(np.int64)),
    ]
    assert LossSums.of_scores(ScoreTally(TWO, scores, counts)) == half[0] + half[1]


# -- moments ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("excess", "expected"),
    [(0.0, 0.0), (2.0**-49, 0.0), (2.0**-48, 0.0), (3 * 2.0**-49, 3 * 2.0**-49 / 4), (-0.5, 0.0)],
)
def test_a_spread_that_rounding_may_leave_is_none(excess: float, expected: float) -> None:
    # Parts of 1 + excess, -4 and 3: the largest is 4, and 2^-48 of it 2^-46.
    moments = Moments(2.0, 2.0, 3.0, 2.0, 1 + 4 * excess)
    assert moments.variance_of_mean == 4 * expected


def test_the_variance_of_a_mean_is_its_sandwich() -> None:
    # Weights 1 and 2 of losses 1/2 and 1/4: mean 1/3; sum of w^2 (x - mean)^2 is 1/36 + 4/144.
    moments = Moments(3.0, 1.0, 5.0, 1.5, 0.5)
    assert moments.mean == 1 / 3
    assert moments.variance_of_mean == pytest.approx((1 / 36 + 4 / 144) / 9, rel=1e-14)


# -- what adds -------------------------------------------------------------------------------------


def test_sums_add_field_by_field() -> None:
    one, other = LossSums(5, 1, (2, 3), (5, 7)), LossSums(11, 4, (13, 17), (19, 23))
    assert one + other == LossSums(16, 5, (15, 20), (24, 30))
    assert one.log_loss() == Moments(5, 2 / 2**UNIT_BITS, 5, 2 / 2**UNIT_BITS, 3 / 2**UNIT_BITS)
    assert other.brier_score().square_second == 23 / 2**UNIT_BITS


def test_weights_add_to_weights_and_to_nothing() -> None:
    truth, p = np.array([1, 0]), np.array([0.5, 0.25])
    plain, none = LossSums.of_binary(truth, p), LossSums()
    weighted = [LossSums.of_binary(truth[[i]], p[[i]], weights=np.array([0.1])) for i in (0, 1)]
    both = weighted[0] + weighted[1]
    assert both == LossSums.of_binary(truth, p, weights=np.full(2, 0.1))
    assert none + both == both + none == both
    # A sum of no rows that has weights adds to rows that have none.
    empty = LossSums(weighted=LossSums.of_binary(truth, p, weights=np.zeros(2)).weighted)
    assert (empty + plain).rows == (plain + empty).rows == 2
    for a, b in ((plain, both), (both, plain)):
        with pytest.raises(TallyError, match="with and without sampling weights"):
            a + b


# -- bytes -----------------------------------------------------------------------------------------


def test_plain_values_have_as_many_bits_as_their_sums_need() -> None:
    assert LossSums().to_header()["bits"] == 114
    half = LossSums.of_binary(np.array([1]), np.array([0.5]))
    assert (half.to_header()["bits"], half.to_header()["brier"]) == (114, [2**112, 2**110])
    for unit, bits in ((114, 114), (115, 176), (176, 176), (177, 238), (1168, 1168)):
        for place in range(4):
            numbers = [0, 0, 0, 0]
            numbers[place] = 3 << UNIT_BITS - unit
            sums = LossSums(1, 0, (numbers[0], numbers[1]), (numbers[2], numbers[3]))
            header = sums.to_header()
            assert header["bits"] == bits
            assert (*header["log"], *header["brier"])[place] == 3 << bits - unit
            assert from_bytes(sums.to_bytes()) == sums


def _bytes(**changed: Any) -> bytes:
    header = {"rows": 2, "clipped": 1, "log": [5, 6], "brier": [3, 4], "weighted": None}
    return codec.write("losses", header | changed, {}, schema=2)


def test_sums_are_read_in_units_of_their_bits() -> None:
    read = from_bytes(_bytes(bits=114))
    assert (read.rows, read.clipped) == (2, 1)
    assert read.log == (5 << 1054, 6 << 1054)
    assert read.brier == (3 << 1054, 4 << 1054)
    assert from_bytes(_bytes(bits=1168)).log == (5, 6)
    assert from_bytes(_bytes(bits=1)).brier == (3 << 1167, 4 << 1167)
    # Losses once were multiples of 2^-44, and their squares of 2^-32.
    assert from_bytes(_bytes()).log == (5 << 1168 - 44, 6 << 1168 - 32)


@pytest.mark.parametrize("bits", [0, -1, 1169])
def test_sums_of_other_bits_are_refused(bits: int) -> None:
    with pytest.raises(TallyError, match=f"sums have 1 to 1168 bits; found {bits}"):
        from_bytes(_bytes(bits=bits))


@pytest.mark.parametrize("sizes", [(5, 4), (4, 5), (6, 5), (5, 6), (5,), (5, 5, 5)])
def test_weighted_sums_of_other_lengths_are_refused(sizes: tuple[int, ...]) -> None:
    with pytest.raises(TallyError, match="five and five numbers"):
        from_bytes(_bytes(bits=114, weighted=[[1.0] * size for size in sizes]))


def test_only_sums_that_are_no_floats_have_a_later_schema() -> None:
    truth, p = np.array([1, 1]), np.array([0.5, 0.5])

    def schema(sums: LossSums) -> bytes:
        return sums.to_bytes().rpartition(b'"schema":')[2][:1]

    assert schema(LossSums.of_binary(truth, p)) == b"2"
    # log(1/2) is no short number: its product with one weight is a float all the same.
    assert schema(LossSums.of_binary(truth[:1], p[:1], weights=np.array([0.5]))) == b"2"
    assert schema(LossSums.of_binary(truth, p, weights=np.array([0.1, 1e-30]))) == b"3"
