"""Ranges that identities narrow, to the last halving."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import pytest

from assay.decisions.audit.search.identities import (
    Classes,
    Impossible,
    Relation,
    _meet,
    _moves_one_way,
    _narrow,
    _shaved,
    function_of,
    settle,
)
from assay.formula import Cell, times_log

TWO = Classes(("normal", "attack"))
THREE = Classes(("a", "b", "c"))


# -- ranges ----------------------------------------------------------------------------------------


def times(values: Sequence[float]) -> float:
    return values[0] * values[1]


PRODUCT = Relation("z", ("x", "y"), times, "z is x times y")


def test_a_function_has_its_ends_at_corners_and_a_little_beyond() -> None:
    assert PRODUCT.image([(-2.0, 3.0), (-5.0, 4.0)]) == (-15 - 15e-11, 12 + 12e-11)
    assert PRODUCT.image([(0.5, 0.5), (0.5, 0.5)]) == (0.25 - 1e-11, 0.25 + 1e-11)
    rising = Relation("s", ("x", "y"), math.fsum, "", rising=True)
    assert rising.image([(1.0, 3.0), (10.0, 40.0)]) == (11 - 11e-11, 43 + 43e-11)
    between = Relation("m", ("x", "y"), min, "", max)
    assert between.image([(1.0, 3.0), (2.0, 5.0)]) == (1 - 1e-11, 5 + 5e-11)


def test_a_function_that_is_undefined_at_a_corner_may_be_anything() -> None:
    ratio = Relation("q", ("x", "y"), lambda values: values[0] / values[1], "")
    assert ratio.image([(1.0, 2.0), (0.0, 1.0)]) == (-math.inf, math.inf)
    assert ratio.image([(1.0, 2.0), (1.0, 2.0)]) == pytest.approx((0.5, 2.0))


@pytest.mark.parametrize(
    ("allowed", "left", "moved"),
    [
        ((0.0, 1.0), (0.0, 1.0), False),
        ((-1.0, 2.0), (0.0, 1.0), False),
        ((0.25, 2.0), (0.25, 1.0), True),
        ((-1.0, 0.5), (0.0, 0.5), True),
        ((0.0625, 1.0), (0.0625, 1.0), True),
        # A gain of less than a twentieth is taken, and told to nobody.
        ((0.03125, 1.0), (0.03125, 1.0), False),
        ((1.0, 2.0), (1.0, 1.0), True),
    ],
)
@pytest.mark.parametrize("start", [0.0, 1.0, -4.0])
def test_a_range_is_cut_to_what_is_allowed(
    allowed: tuple[float, float], left: tuple[float, float], start: float, *, moved: bool
) -> None:
    box = {"x": (start, start + 1.0)}
    assert _meet(box, "x", (start + allowed[0], start + allowed[1])) is moved
    assert box == {"x": (start + left[0], start + left[1])}


def test_a_gain_of_just_a_twentieth_is_told_to_nobody() -> None:
    box = {"x": (0.0, 20.0)}
    assert _meet(box, "x", (1.0, 30.0)) is False
    assert box == {"x": (1.0, 20.0)}


def test_an_endless_range_that_is_cut_has_moved() -> None:
    box = {"x": (-math.inf, math.inf)}
    assert _meet(box, "x", (0.0, math.inf)) is True
    assert _meet(box, "x", (0.0, math.inf)) is False
    assert _meet(box, "x", (1.0, 5.0)) is True
    with pytest.raises(Impossible):
        _meet(box, "x", (5.1, 6.0))


def test_an_argument_loses_the_ends_that_can_not_give_the_result() -> None:
    ranges = [(0.0, 1.0), (0.5, 0.5)]
    low, high = _shaved(PRODUCT, ranges, 0, (0.25, 0.3))
    assert 0.499 < low <= 0.5
    assert 0.6 <= high < 0.601
    assert _shaved(PRODUCT, ranges, 0, (0.0, 0.5)) == (0.0, 1.0)
    assert _shaved(PRODUCT, [(0.2, 0.4), (0.0, 1.0)], 1, (0.3, 0.3))[0] == pytest.approx(0.75, 2e-3)
    # Falling as well as rising.
    less = Relation("d", ("x",), lambda values: 1 - values[0], "")
    low, high = _shaved(less, [(0.0, 1.0)], 0, (0.2, 0.3))
    assert 0.699 < low <= 0.7
    assert 0.8 <= high < 0.801


def test_an_argument_without_any_value_is_impossible() -> None:
    with pytest.raises(Impossible, match="x"):
        _shaved(PRODUCT, [(0.0, 1.0), (0.5, 0.5)], 0, (0.6, 0.7))
    with pytest.raises(Impossible, match="y"):
        _shaved(PRODUCT, [(0.5, 0.5), (0.5, 1.0)], 1, (0.1, 0.2))


def test_an_end_that_just_gives_the_result_is_kept() -> None:
    same = Relation("z", ("x",), lambda values: values[0], "")
    low, high = same.image([(0.5, 0.5)])
    assert _shaved(same, [(0.5, 0.5)], 0, (0.0, low)) == (0.5, 0.5)
    assert _shaved(same, [(0.5, 0.5)], 0, (high, 1.0)) == (0.5, 0.5)


def test_an_end_is_looked_for_by_thirty_halvings() -> None:
    same = Relation("z", ("x",), lambda values: values[0], "")
    assert _shaved(same, [(0.0, 1.0)], 0, (1.0, 1.0)) == (1 - 2.0**-30, 1.0)
    assert _shaved(same, [(0.0, 1.0)], 0, (0.0, 0.0)) == (0.0, 2.0**-30)


def test_an_identity_narrows_the_result_and_every_argument() -> None:
    box = {"x": (0.0, 1.0), "y": (0.5, 0.5), "z": (0.25, 1.0)}
    assert _narrow(box, PRODUCT) == ["z", "x"]
    assert box["z"] == (0.25, 0.5 + 1e-11)
    assert box["x"][0] == pytest.approx(0.5, abs=1e-3)
    assert box["y"] == (0.5, 0.5)
    assert _narrow(box, PRODUCT) == []


def test_what_has_moved_moves_what_hangs_on_it() -> None:
    double = Relation("b", ("a",), lambda values: 2 * values[0], "")
    more = Relation("c", ("b",), lambda values: values[0] + 1, "")
    for relations in ([double, more], [more, double]):
        start = {"a": (0.1, 0.2), "b": (-9.0, 9.0), "c": (-9.0, 9.0)}
        box = settle(start, relations)
        assert box["b"] == pytest.approx((0.2, 0.4), abs=1e-9)
        assert box["c"] == pytest.approx((1.2, 1.4), abs=1e-9)
        back = settle({**start, "a": (-9.0, 9.0), "c": (1.2, 1.4)}, relations)
        assert back["a"] == pytest.approx((0.1, 0.2), abs=2e-2)


def test_settling_ends_after_a_thousand_steps() -> None:
    half = Relation("y", ("x",), lambda values: values[0] * 0.5, "")
    less = Relation("x", ("y",), lambda values: values[0] * 0.75, "")
    box = settle({"x": (0.0, 1e300), "y": (0.0, math.inf)}, [half, less])
    assert math.log(box["x"][1]) == pytest.approx(math.log(1e300) + 500 * math.log(0.375), abs=1e-3)
    assert math.log(box["y"][1] / box["x"][1]) == pytest.approx(math.log(1 / 0.75), abs=1e-3)


# -- functions -------------------------------------------------------------------------------------


def test_expressions_are_read_in_the_order_of_the_names_of_their_cells() -> None:
    a, b, c = Cell("a"), Cell("b"), Cell("c")
    assert function_of(a + 2 * b - c / 4)((1.0, 10.0, 8.0)) == 19
    assert function_of(a * b * c)((2.0, 3.0, 5.0)) == 30
    assert function_of(a / b)((-1.0, 0.0)) == -math.inf
    logs = function_of(times_log(a, b))
    assert logs((2.0, math.e)) == pytest.approx(2.0)
    assert logs((0.0, 0.0)) == 0.0


@pytest.mark.parametrize(
    ("function", "one_way"),
    [
        (lambda values: values[0], True),
        (lambda values: -values[0], True),
        (lambda values: 1.0, True),
        (lambda values: (values[0] - 0.5) ** 2, False),
        (lambda values: (values[0] - 0.02) ** 2, False),
        (lambda values: (values[0] - 0.98) ** 2, False),
        # A turn before the first or after the last of a hundred steps is not seen.
        (lambda values: (values[0] - 0.01) ** 2, True),
        (lambda values: (values[0] - 0.99) ** 2, True),
        (lambda values: 1 / (values[0] - 0.5), False),
        (lambda values: 1 / values[0], True),
    ],
)
def test_a_function_that_turns_between_a_hundred_steps_is_not_monotone(
    function: Callable[[Sequence[float]], float], *, one_way: bool
) -> None:
    assert _moves_one_way(function) is one_way
