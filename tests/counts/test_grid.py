"""The cells of a grid: which scores share one, and where each ends."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.counts.blocks import BLOCK
from assay.counts.grid import MOST_BITS, Grid, cells, highest, lowest
from assay.errors import InputError

LARGEST = float(np.finfo(np.float64).max)
NARROW = np.finfo(np.float32)
EDGES = np.unique(
    [
        *(0.0, 5e-324, 1e-320, 2.0**-1022, np.nextafter(2.0**-1022, 0), 2.0**-54, 2.0**-53),
        *(0.25, 0.5, np.nextafter(0.5, 0), np.nextafter(0.5, 1), 1 - 2.0**-24, 1 - 2.0**-53),
        *(1.0, 1 + 2.0**-52, 2.0, 2.0**53, 2.0**53 + 2, LARGEST),
        *map(float, (NARROW.smallest_subnormal, NARROW.tiny, NARROW.max)),
        *map(float, (np.float32(0.1), 1 - np.finfo(np.float32).epsneg)),
    ]
)
EDGES = np.unique(np.concatenate([-EDGES, EDGES]) + 0.0)
all_bits = st.integers(1, MOST_BITS)
scores = st.one_of(
    st.sampled_from(EDGES.tolist()),
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(0, 1),
)
lists = st.lists(scores, min_size=1, max_size=30).map(lambda values: np.array(values) + 0.0)


def _number(score: float, bits: int) -> int:
    """The number of a cell, by its definition in whole numbers."""

    def position(size: Fraction) -> int:
        if size == 0:
            return 0
        exponent = size.numerator.bit_length() - size.denominator.bit_length()
        exponent -= size < Fraction(2) ** exponent
        return int(size * Fraction(2) ** (bits - exponent)) + (exponent + 1074) * 2**bits

    exact, half = Fraction(score), 1074 * 2**bits
    if exact < 0:
        return -position(-exact)
    if 2 * exact <= 1:
        return position(exact)
    if exact <= 1:
        return 2 * half - position(1 - exact)
    return 2 * half + 1 + position(exact) - position(Fraction(1))


@settings(max_examples=200)
@given(values=lists, bits=all_bits)
def test_a_cell_has_the_number_that_its_definition_gives(values: Any, bits: int) -> None:
    assert cells(values, bits).tolist() == [_number(score, bits) for score in values.tolist()]


@pytest.mark.parametrize("bits", [1, 6, 12, 23, 24, MOST_BITS])
def test_the_edges_of_floats_have_the_cells_of_the_definition(bits: int) -> None:
    counts = cells(EDGES, bits)
    assert counts.tolist() == [_number(score, bits) for score in EDGES.tolist()]
    assert (np.diff(counts) >= 0).all()


@settings(max_examples=200)
@given(values=lists, bits=all_bits)
def test_cells_rise_with_the_score_and_end_where_they_say(values: Any, bits: int) -> None:
    values = np.sort(np.concatenate([values, EDGES]))
    ids = cells(values, bits)
    low, high = lowest(ids, bits), highest(ids, bits)
    assert (np.diff(ids) >= 0).all()
    assert ((low <= values) & (values <= high)).all()
    for end, beyond in ((low, -np.inf), (high, np.inf)):
        assert (cells(end, bits) == ids).all()
        with np.errstate(over="ignore"):
            outside = np.nextafter(end, beyond)
        known = np.isfinite(outside)
        assert (cells(outside[known], bits) != ids[known]).all()


@settings(max_examples=100)
@given(
    values=st.lists(st.floats(allow_nan=False, allow_infinity=False, width=32), min_size=1),
    bits=all_bits,
)
def test_narrow_scores_have_the_cells_of_the_same_numbers(values: list[float], bits: int) -> None:
    narrow = np.array(values, np.float32)
    np.testing.assert_array_equal(cells(narrow, bits), cells(narrow.astype(np.float64), bits))


def test_zero_one_half_and_one_have_cells_of_their_own() -> None:
    own = np.array([0.0, 0.5, 1.0])
    beside = np.concatenate([np.nextafter(own, -1), np.nextafter(own, 2)])
    for bits in (1, 12):
        ids = cells(own, bits)
        assert lowest(ids, bits).tolist() == highest(ids, bits).tolist() == own.tolist()
        assert not set(ids.tolist()) & set(cells(beside, bits).tolist())
    assert cells(np.array([-0.0]), 12).tolist() == [0]


def test_cells_are_as_fine_below_one_as_above_zero() -> None:
    saturated = 1 - 2.0 ** -np.arange(2, 53)
    assert len(np.unique(cells(saturated, 1))) == len(saturated)
    scores = np.arange(1, 64) / 64
    turned = 2 * cells(np.array([0.5]), 12) - cells(scores[::-1], 12)
    np.testing.assert_array_equal(cells(scores, 12), turned)


def test_cells_over_many_blocks_are_those_of_single_scores() -> None:
    random = np.random.default_rng(5)
    values = random.normal(size=5 * BLOCK + 3)
    values[::7] = random.random(len(values[::7]))
    some = random.integers(0, len(values), 200)
    expected = [cells(values[i : i + 1], 12)[0] for i in some]
    np.testing.assert_array_equal(cells(values, 12)[some], expected)


@pytest.mark.parametrize("dtype", [np.int64, np.float16, np.uint8])
def test_other_numbers_are_read_as_float64(dtype: Any) -> None:
    values = np.array([0, 1, 3], dtype)
    np.testing.assert_array_equal(cells(values, 12), cells(values.astype(np.float64), 12))


@pytest.mark.parametrize("bits", [0, -1, MOST_BITS + 1, 1.5, True])
def test_a_grid_of_other_bits_is_refused(bits: Any) -> None:
    with pytest.raises(InputError, match=rf"1 to {MOST_BITS} bits; found bits={bits!r}"):
        Grid(bits)


INSIDE = np.array([0.0, -0.0, 5e-324, 2.0**-1022, 0.25, 0.3, 0.5, 0.5 + 2.0**-53, 0.75, 1.0])


@pytest.mark.parametrize("bits", [1, 2, 12, 23, 24, 32])
@pytest.mark.parametrize(
    "values",
    [INSIDE, INSIDE[2:9], np.array([1.0, 1.5, 2.0]), np.array([0.5, 1 + 2.0**-52]), np.array([1.0]),
     np.array([-0.5, 0.5]), np.array([-2.0, -0.0, 1.0]), np.array([-1.0, -5e-324]), EDGES],
)  # fmt: skip
def test_scores_within_0_and_1_and_beyond_have_the_cells_of_the_definition(
    values: Any, bits: int
) -> None:
    assert cells(values, bits).tolist() == [_number(score, bits) for score in values.tolist()]


@pytest.mark.parametrize("bits", [1, 12, 22, 23, 24])
def test_narrow_scores_have_the_cells_of_the_definition(bits: int) -> None:
    tiny = [float(NARROW.smallest_subnormal), float(NARROW.tiny), float(NARROW.tiny) / 4]
    values = np.array([0.0, -0.0, *tiny, 0.1, 0.5, 0.9, 1.0, 1.5, -0.1, -tiny[0], 3e38], np.float32)
    for some in (values, values[:9]):
        assert cells(some, bits).tolist() == [_number(score, bits) for score in some.tolist()]


@pytest.mark.parametrize("bits", [1, 5, 12, 32])
def test_the_ends_of_cells_are_the_outermost_floats_in_them(bits: int) -> None:
    for values in (EDGES, EDGES[EDGES >= 0], EDGES[EDGES < 0], EDGES[EDGES > 1]):
        ids = cells(values, bits)
        for ends, beyond in ((lowest(ids, bits), -np.inf), (highest(ids, bits), np.inf)):
            assert cells(ends, bits).tolist() == ids.tolist()
            with np.errstate(over="ignore"):
                outside = np.nextafter(ends, beyond)
            finite = np.isfinite(outside)
            assert (cells(outside[finite], bits) != ids[finite]).all()


@pytest.mark.parametrize("bits", [1, 12])
def test_a_cell_beyond_the_largest_float_starts_at_infinity(bits: int) -> None:
    (last,) = cells(np.array([LARGEST]), bits).tolist()
    assert np.isfinite(lowest(np.array([last]), bits)).all()
    assert lowest(np.array([last + 1, last + 2, last + 2**bits]), bits).tolist() == [np.inf] * 3
