"""Sums of sampling weights: none is rounded but once, and what is left of it is kept in digits."""

import math
import pickle
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from assay.errors import TallyError
from assay.tally.blocks import BLOCK
from assay.tally.weight_sums import (
    WeightSum,
    WeightSums,
    add_up,
    exact_sum,
    remainder_of,
    sum_of,
    sums_by_cell,
    weight_sum,
)

Array = np.ndarray[Any, Any]
DIGIT = 2**26
LOWEST_PLACE = -42


def _exactly(total: WeightSum) -> Fraction:
    return sum(map(Fraction, total.rest), Fraction(float(total)))


@pytest.mark.parametrize("bits", range(35, 40))
def test_a_full_block_of_weights_with_all_bits_set_adds_up_exactly(bits: int) -> None:
    largest = (1 << bits) - 1
    weights = np.full(BLOCK, float(largest))
    weights[0] -= 1
    exact = BLOCK * largest - 1
    assert _exactly(weight_sum(weights)) == exact
    (total,) = sums_by_cell(weights, np.zeros(BLOCK, np.uint8), 1)
    assert _exactly(total) == exact


# -- one sum ---------------------------------------------------------------------------------------


def test_a_sum_is_the_nearest_float_and_what_is_left_of_it() -> None:
    total = exact_sum([1.0, 2.0**-60, 2.0**-200])
    assert (float(total), total.rest) == (1.0, (2.0**-60, 2.0**-200))
    assert total.to_header() == [1.0, 2.0**-60, 2.0**-200]
    again = pickle.loads(pickle.dumps(total))
    assert (type(again), float(again), again.rest) == (WeightSum, 1.0, (2.0**-60, 2.0**-200))
    whole = exact_sum([total, 1.0])
    assert (float(whole), whole.rest) == (2.0, (2.0**-60, 2.0**-200))
    assert exact_sum([0.5, 0.25]).to_header() == 0.75
    assert exact_sum([]).to_header() == 0.0
    assert (float(WeightSum()), WeightSum().rest) == (0.0, ())


def test_a_sum_that_no_float_reaches_is_refused() -> None:
    with pytest.raises(TallyError, match=r"more than 1.8e308; divide them all by 1e100"):
        exact_sum([1.7e308, 1.7e308])


@pytest.mark.parametrize("header", [0, 3, 0.5, [0.5], [1.0, 2.0**-60], [1.0, 2.0**-60, 2.0**-200]])
def test_a_sum_is_read_from_plain_values(header: Any) -> None:
    parts = header if isinstance(header, list) else [header]
    assert _exactly(sum_of(header)) == sum(map(Fraction, parts))


@pytest.mark.parametrize(
    "header",
    [
        True,
        None,
        "1",
        math.inf,
        -1,
        -0.5,
        [1.0, True],
        [1.0, math.inf],
        [2.0**-60, 1.0],
        [0.5, 0.5],
    ],
)
def test_plain_values_that_are_no_canonical_sum_are_refused(header: Any) -> None:
    with pytest.raises(ValueError, match="a sum of weights is"):
        sum_of(header)


def test_the_sums_of_no_weights_are_zero() -> None:
    assert (weight_sum(np.empty(0)), weight_sum(np.zeros(3))) == (0, 0)
    assert sums_by_cell(np.empty(0), np.empty(0, np.intp), 3) == [0, 0, 0]


@pytest.mark.parametrize("scale", [1.0, 2.0**-1000, 2.0**-1060, 2.0**900])
def test_weights_of_few_cells_add_up_exactly_at_any_scale(scale: float) -> None:
    # Whole numbers below 2^14 times the scale: exact, of subnormals too.
    weights = np.arange(1, 2 * BLOCK + 3, dtype=np.float64) % 16_381 * scale
    cells = np.arange(len(weights)) % 3
    exact = [sum(map(int, (weights[cells == i] / scale).tolist())) for i in range(3)]
    weight_sums = sums_by_cell(weights, cells, 3)
    assert [_exactly(total) for total in weight_sums] == [Fraction(scale) * each for each in exact]
    assert _exactly(weight_sum(weights)) == Fraction(scale) * sum(exact)


# -- many sums -------------------------------------------------------------------------------------


def _digits(total: Fraction) -> dict[int, int]:
    """The digits of 26 bits of a sum of floats, by place."""
    whole, places, place = total * Fraction(DIGIT) ** -LOWEST_PLACE, {}, LOWEST_PLACE
    left = int(whole)
    assert left == whole
    while left:
        left, digit = divmod(left, DIGIT)
        if digit:
            places[place] = digit
        place += 1
    return places


def _must_be(sums: WeightSums, exact: Sequence[Fraction]) -> None:
    """Each sum rounded once, and the digits of those that are no floats."""
    # A fraction becomes the float that is nearest to it.
    assert sums.nearest.tolist() == [float(each) for each in exact]
    uneven = [i for i, each in enumerate(exact) if Fraction(float(each)) != each]
    if not uneven:
        assert sums.rest is None
        return
    assert sums.rest is not None
    digits = [_digits(exact[i]) for i in uneven]
    places = sorted(set().union(*digits))
    assert sums.rest.where.tolist() == uneven
    assert sums.rest.where.dtype == np.int64
    assert sums.rest.places == tuple(places)
    assert sums.rest.digits.dtype == np.uint32
    assert sums.rest.digits.tolist() == [
        [each.get(place, 0) for each in digits] for place in places
    ]
    at, atoms = sums.rest.atoms()
    for i in uneven:
        assert sum(map(Fraction, atoms[at == i].tolist())) == exact[i]


def _of(groups: Sequence[Sequence[float]]) -> tuple[WeightSums, list[Fraction]]:
    """The sums of weights that come in groups, some of each group in turn."""
    rows = sorted(
        (turn, cell, weight)
        for cell, group in enumerate(groups)
        for turn, weight in enumerate(group)
    )
    weights = WeightSums(np.array([weight for *_, weight in rows]))
    cells = np.array([cell for _, cell, _ in rows], np.int64)
    exact = [sum(map(Fraction, group), Fraction(0)) for group in groups]
    return add_up([(weights, cells)], len(groups)), exact


GROUPS = {
    "single weights": [[0.1], [], [0.2], [5e-324], [1.7e308]],
    "a float and no float": [[0.5, 0.25], [0.1, 0.2], [3.0]],
    "half way, to the even float below": [[1.0, 2.0**-53], [0.5, 0.5]],
    "half way, to the even float above": [[1 + 2.0**-52, 2.0**-53], [1.0]],
    "half way and a little more": [[1.0, 2.0**-53, 2.0**-200], [1.0, 2.0**-53]],
    "half way, up, and a little more": [[1 + 2.0**-52, 2.0**-53, 2.0**-200]],
    "a little more in the fifth digit": [[2.0**104, 2.0**51, 1.0], [2.0**104, 2.0**51]],
    "a little more in the fourth digit": [[2.0**104, 2.0**51, 2.0**26]],
    "a little more in the last digit of all": [[2.0**-970, 2.0**-1023, 5e-324], [2.0**-1000] * 2],
    "less than half": [[2.0**104, 2.0**50, 1.0], [2.0**104, 2.0**50]],
    "far apart": [[1e300, 1e-300], [1e-300, 1.0, 1e300], [7.0, 9.0]],
    "subnormal": [[5e-324] * 3, [1e-310] * 5, [5e-324, 1.0]],
    "a carry to a digit that there is not": [[2.0**25] * 2, [1.0, 1.0]],
    "a carry to a digit that there is": [[2.0**26 - 1, 1.0, 2.0**26], [3.0, 2.0**26], [0.5]],
    "carries over many digits": [[2.0**26 - 1, 2.0**52 - 2.0**26, 1.0, 2.0**-70], [2.0**-70]],
    "the largest digit": [[2.0**60, 2.0**26 - 1], [2.0**60, 2.0**26]],
    "a power of two below": [[2.0**53, 1.0], [2.0**53 - 1, 1.0, 0.5], [2.0**53, 1.0, 0.5]],
}


@pytest.mark.parametrize("name", GROUPS)
def test_sums_are_rounded_once_and_leave_the_digits_of_those_that_are_no_floats(name: str) -> None:
    _must_be(*_of(GROUPS[name]))
    _must_be(*_of(GROUPS[name][::-1]))


def test_many_sums_most_of_which_are_of_one_weight_are_rounded_once() -> None:
    groups = [[0.1 * i] for i in range(1, 5000)]
    groups[7], groups[70], groups[4998] = [0.1, 0.2], [1.0, 2.0**-53, 2.0**-200], []
    groups[0], groups[4997] = [0.5, 1.5], [2.0**-60, 1.0]
    _must_be(*_of(groups))


def test_more_weights_than_a_block_add_up_digit_by_digit() -> None:
    whole = np.arange(1, 2 * BLOCK + 7) * 1_000_003 % 2**41
    whole[::5] <<= 9
    cells = np.arange(len(whole)) % 3
    exact = [Fraction(sum(whole[cells == i].tolist()), 2**30) for i in range(3)]
    _must_be(add_up([(WeightSums(whole * 2.0**-30), cells)], 3), exact)


@pytest.mark.parametrize("groups", [GROUPS["far apart"], GROUPS["a float and no float"]])
def test_sums_of_sums_are_the_sums_of_all_weights(groups: Any) -> None:
    one, exact = _of(groups)
    other, more = _of([[0.7, 0.1], [0.3], [2.0**-80, 1.0]])
    to = np.array([2, 0, 1])
    total = add_up([(one, np.arange(3)), (other, to)], 3)
    _must_be(total, [exact[0] + more[1], exact[1] + more[2], exact[2] + more[0]])
    # All into one.
    zeros = np.zeros(3, np.int64)
    _must_be(add_up([(one, zeros), (other, zeros)], 1), [sum(exact) + sum(more)])
    _must_be(add_up([(one, np.arange(3))], 3), exact)


def test_sums_of_a_negative_number_are_left_out() -> None:
    sums, exact = _of([[0.5], [0.1, 0.2], [0.3], [0.7, 0.1]])
    assert sums.rest is not None
    _must_be(add_up([(sums, np.array([0, -1, 1, -1]))], 2), [exact[0], exact[2]])
    _must_be(add_up([(sums, np.array([-1, 0, -1, 0]))], 1), [exact[1] + exact[3]])
    _must_be(add_up([(sums, np.array([-1, 1, -1, 0]))], 2), [exact[3], exact[1]])
    _must_be(add_up([(sums, np.full(4, -1))], 1), [Fraction(0)])


def test_the_sums_of_no_parts_are_zero() -> None:
    _must_be(add_up([], 3), [Fraction(0)] * 3)


def test_sums_are_moved_with_what_is_left_of_them() -> None:
    sums, exact = _of([[0.5], [0.1, 0.2], [0.3], [0.7, 0.1, 2.0**-300]])
    _must_be(
        sums.moved(np.array([4, 3, 2, 0]), 5),
        [exact[3], *[Fraction(0)], exact[2], exact[1], exact[0]],
    )
    _must_be(sums.moved(np.array([1, 0, -1, -1]), 2), [exact[1], exact[0]])
    _must_be(sums.moved(np.array([1, -1, 0, -1]), 2), [exact[2], exact[0]])


# -- as arrays -------------------------------------------------------------------------------------

READ, _ = _of([[0.5], [0.1, 0.2], [2.0**60, 2.0**26 - 1]])


def _arrays(**changed: Any) -> dict[str, Array]:
    assert READ.rest is not None
    return READ.rest.to_arrays("sums") | {f"sums {name}": value for name, value in changed.items()}


def test_what_is_left_of_sums_goes_to_arrays_and_back() -> None:
    again = remainder_of(_arrays(), "sums", READ.nearest)
    assert again is not None
    assert READ.rest is not None
    assert again.to_arrays("x").keys() == {"x at", "x places", "x digits"}
    for mine, theirs in zip(again.to_arrays("x").values(), _arrays().values(), strict=True):
        assert (mine.dtype, mine.tolist()) == (theirs.dtype, theirs.tolist())
    assert again.digits.max() == DIGIT - 1
    assert again.places == READ.rest.places
    assert remainder_of({}, "sums", READ.nearest) is None
    assert remainder_of(_arrays(), "others", READ.nearest) is None
    with pytest.raises(KeyError, match="sums places"):
        remainder_of({"sums at": _own("at")}, "sums", READ.nearest)


def test_sums_are_compared_as_objects() -> None:
    # Arrays have no hash, and are not equal or unlike as a whole.
    assert READ.rest is not None
    assert len({READ, WeightSums(READ.nearest, READ.rest)}) == 2
    assert len({READ.rest, remainder_of(_arrays(), "sums", READ.nearest)}) == 2


def _own(name: str) -> Array:
    return _arrays()[f"sums {name}"]


NONE = np.empty(0, np.int64)
UNFIT: dict[str, Any] = {
    "numbers in a table": {"at": _own("at")[:, None]},
    "places in a table": {"places": _own("places")[:, None]},
    "digits in a row": {"digits": _own("digits").ravel()},
    "digits turned": {"digits": _own("digits").T.copy()},
    "a number too few": {"at": _own("at")[:1]},
    "a place too few": {"places": _own("places")[:1]},
    "other numbers": {"at": _own("at").astype(np.uint32)},
    "other digits": {"digits": _own("digits").astype(np.int64)},
    "of no sums": {"at": NONE, "digits": np.empty((len(_own("places")), 0), np.uint32)},
    "the same number twice": {"at": np.array([2, 2])},
    "falling numbers": {"at": _own("at")[::-1]},
    "a negative number": {"at": np.array([-2, 2])},
    "a number beyond the sums": {"at": np.array([1, 3])},
}


@pytest.mark.parametrize("name", UNFIT)
def test_digits_of_another_shape_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="the digits of sums do not fit"):
        remainder_of(_arrays(**UNFIT[name]), "sums", READ.nearest)


def test_places_that_no_float_has_or_that_do_not_ascend_are_refused() -> None:
    places, digits = _own("places"), _own("digits")
    more = np.vstack([np.ones((1, 2), np.uint32), digits])
    # The lowest place holds 2^-1074, the next one nothing.
    for place in (-42, -41):
        at = np.append(place, places)
        remainder = remainder_of(_arrays(places=at, digits=more), "sums", READ.nearest)
        assert remainder is not None
        assert remainder.places == tuple(at.tolist())
    for at in (np.append(-43, places), np.append(places, 40), np.append(places[0], places)):
        with pytest.raises(ValueError, match="the places of sums are"):
            remainder_of(_arrays(places=at, digits=more), "sums", READ.nearest)
    with pytest.raises(ValueError, match="the places of sums are"):
        remainder_of(_arrays(places=places[::-1], digits=digits[::-1]), "sums", READ.nearest)


def test_the_highest_place_is_that_of_the_largest_floats() -> None:
    sums, _ = _of([[2.0**1020, 1.0], [1.5]])
    assert sums.rest is not None
    assert sums.rest.places == (0, 39)
    assert remainder_of(sums.rest.to_arrays("sums"), "sums", sums.nearest) is not None


def test_digits_that_are_not_those_of_the_sums_are_refused() -> None:
    digits = _own("digits")
    # A digit that is no digit, but for a carry the same sum.
    place = int(np.flatnonzero(digits[1:, 0])[0])
    carried = digits.astype(np.int64)
    carried[place + 1, 0] -= 1
    carried[place, 0] += DIGIT
    assert carried.max() >= DIGIT
    assert carried.min() >= 0
    last = digits.copy()
    last[-1, 1] += 1
    whole = np.zeros_like(digits)
    whole[-1] = 1, digits[-1, 1]
    other = READ.nearest.copy()
    other[1] += 1
    for broken, nearest in (
        (carried.astype(np.uint32), READ.nearest),
        (last, READ.nearest),
        (digits, other),
        (digits, READ.nearest[[0, 2, 1]]),
    ):
        with pytest.raises(ValueError, match="are not those of its sums"):
            remainder_of(_arrays(digits=broken), "sums", nearest)
    # Digits of a float leave nothing: here those of the first sum alone.
    rounded = READ.nearest.copy()
    rounded[1] = math.ldexp(1.0, 26 * int(_own("places")[-1]))
    with pytest.raises(ValueError, match="are not those of its sums"):
        remainder_of(_arrays(digits=np.where([True, False], whole, digits)), "sums", rounded)
