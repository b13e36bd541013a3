"""Rules on counts that can be read at a glance, and exact comparisons."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from assay.errors import MethodError
from assay.inference.threshold_rules import (
    NOTHING,
    AtThreshold,
    MaxFar,
    MaxFpr,
    at_most,
    parse_rule,
    rule_of,
)

# -- exact comparisons -----------------------------------------------------------------------------


def compared(a: Any, by_a: Any, b: Any, by_b: Any) -> list[bool]:
    return at_most(a, Fraction(by_a), b, Fraction(by_b)).tolist()


def test_whole_numbers_are_compared_to_the_last_one() -> None:
    m = 2**57
    a, b = np.array([0, 2 * m, 2 * m + 1]), np.array([0, 3 * m, 3 * m + 1])
    # 6m against 6m, and 6m + 3 against 6m + 2: one float.
    assert compared(a, 3, b, 2) == [True, True, False]
    assert compared(b, 2, a, 3) == [True, True, True]


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int32, np.uint32, np.int64, np.uint64])
def test_products_do_not_overflow_small_counts(kind: type) -> None:
    a, b = np.array([0, 100, 120], kind), np.array([0, 3, 7], kind)
    # 30,000 against 30,000 and 36,000 against 70,000, times 100,003.
    assert compared(a, 300 * 100_003, b, 10_000 * 100_003 - 1) == [True, False, True]
    assert compared(a, 300, b, 10_000) == [True, True, True]
    assert compared(b, 10_000, a, 300) == [True, True, False]


@pytest.mark.parametrize("shift", [61, 62, 63])
def test_products_near_the_end_of_64_bits_are_compared_exactly(shift: int) -> None:
    a, b = np.array([1, 2**31 - 1]), np.array([1, 2**31])
    by = 2 ** (shift - 31)
    assert compared(a, by + 1, b, by) == [False, (2**31 - 1) * (by + 1) <= 2**31 * by]
    assert compared(b, by, a, by + 1) == [True, 2**31 * by <= (2**31 - 1) * (by + 1)]


def test_floats_are_compared_as_the_fractions_they_are() -> None:
    for i in range(1, 60):
        a, b = np.array([i / 10, i / 7]), np.array([i / 30, i / 21])
        exact = [
            Fraction(x) <= 3 * Fraction(y) for x, y in zip(a.tolist(), b.tolist(), strict=True)
        ]
        turned = [
            Fraction(x) >= 3 * Fraction(y) for x, y in zip(a.tolist(), b.tolist(), strict=True)
        ]
        assert compared(a, 1, b, 3) == exact
        assert compared(b, 3, a, 1) == turned
        assert compared(a, Fraction(1, 3), b, 1) == exact


@pytest.mark.parametrize(("by_a", "by_b"), [(5, 7), (2, 3), (7, 10), (9, 11), (11, 13)])
def test_neighbouring_floats_are_in_the_right_order(by_a: int, by_b: int) -> None:
    """Products are rounded, and may change places."""
    a = np.repeat(np.arange(1, 80) / 10, 3)
    near = a[::3] * by_a / by_b
    b = np.stack([np.nextafter(near, 0), near, np.nextafter(near, 99)], axis=1).ravel()
    pairs = [(Fraction(x), Fraction(y)) for x, y in zip(a.tolist(), b.tolist(), strict=True)]
    assert compared(a, by_a, b, by_b) == [x * by_a <= y * by_b for x, y in pairs]
    assert compared(b, by_b, a, by_a) == [y * by_b <= x * by_a for x, y in pairs]


@pytest.mark.parametrize("scale", [1e-320, 1e-290, 1e-281, 1.0, 1e200])
def test_floats_of_any_size_are_compared_exactly(scale: float) -> None:
    a = np.array([1.0, 2.0, 3.0]) * scale
    b = np.array([1.0, 1.5, 2.0]) * scale
    expected = [Fraction(x) * 2 <= Fraction(y) * 3 for x, y in zip(a, b, strict=True)]
    assert compared(a, 2, b, 3) == expected


def test_the_smallest_floats_are_compared_exactly() -> None:
    least = np.array([5e-324])
    # Two thirds of it are rounded to all of it.
    assert compared(least, 3, least, 2) == [False]
    assert compared(least, 2, least, 3) == [True]


def test_nothing_is_as_much_as_nothing() -> None:
    assert compared(np.array([0, 1]), 0, np.array([0, 2]), 0) == [True, True]
    assert compared(np.array([0, 1]), 0, np.array([0, 2]), 3) == [True, True]
    assert compared(np.array([0, 1]), 3, np.array([0, 2]), 0) == [True, False]


def test_floats_and_whole_numbers_are_compared_as_fractions() -> None:
    # The float of 0.3 is a little less, which ten times of it as a float is not.
    assert compared(np.array([1]), 3, np.array([0.3]), 10) == [False]
    assert compared(np.array([0.3]), 10, np.array([1]), 3) == [True]


def test_one_number_stands_for_all_positions() -> None:
    assert compared(np.array([0, 3, 4]), 1, np.array([30]), "1/10") == [True, True, False]
    assert compared(np.array([0.0, 3.0, 4.0]), 1, np.array([30]), "1/10") == [True, True, False]


# -- rules -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [math.inf, -math.inf, math.nan])
def test_a_threshold_is_finite(number: float) -> None:
    with pytest.raises(MethodError, match="a threshold must be a finite number"):
        AtThreshold(number)


@pytest.mark.parametrize("limit", [0, 1, -0.1, 1.1, math.nan])
def test_shares_lie_between_0_and_1(limit: float) -> None:
    with pytest.raises(MethodError, match="max-fpr must lie between 0 and 1"):
        MaxFpr(limit)
    with pytest.raises(MethodError, match="max-far must lie between 0 and 1"):
        MaxFar(limit)
    with pytest.raises(MethodError, match="base-rate is a share between 0 and 1"):
        MaxFar(0.1, limit)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("max-fpr=2.5%", MaxFpr(0.025)),
        ("max-far=3/4", MaxFar(0.75)),
        ("threshold=7", AtThreshold(7.0)),
        ("threshold=-1/8", AtThreshold(-0.125)),
        (" max-far = 20% , base-rate = 1/50 ", MaxFar(0.2, 0.02)),
    ],
)
def test_numbers_are_read_as_decimals_percents_or_fractions(text: str, rule: object) -> None:
    assert parse_rule(text) == rule


def chosen(rule: MaxFpr | MaxFar, tp: list[int], fp: list[int], *sizes: int) -> int:
    return rule.choose(np.array(tp), np.array(fp), *(sizes or (tp[-1], fp[-1])))


def test_the_last_threshold_that_keeps_the_rate_is_chosen() -> None:
    sweep = ([1, 2, 2, 9, 9, 10], [0, 0, 1, 1, 3, 10])
    assert chosen(MaxFpr(0.1), *sweep) == 3
    assert chosen(MaxFpr(0.05), *sweep) == 1
    # 1 of 10 alerts is false at 3; 1 of 3 at 2.
    assert chosen(MaxFar(0.1), *sweep) == 3
    assert chosen(MaxFar(0.09), *sweep) == 1
    assert chosen(MaxFar(0.5), *sweep) == 5
    assert chosen(MaxFar(0.25), *sweep) == 4


def test_a_base_rate_weighs_both_sides() -> None:
    # 5 of 10 attacks and 1 of 40 others: 0.2 * 0.5 against 0.8 / 40.
    sweep = ([5, 10], [1, 40])
    far = Fraction(1, 50) / (Fraction(1, 50) + Fraction(1, 10))
    assert far == Fraction(1, 6)
    assert chosen(MaxFar(0.1667, 0.2), *sweep) == 0
    assert chosen(MaxFar(0.1666, 0.2), *sweep) == NOTHING
    assert chosen(MaxFar(0.8, 0.2), *sweep) == 1
    assert chosen(MaxFar(0.7999, 0.2), *sweep) == 0


def test_nothing_is_no_alert() -> None:
    assert chosen(MaxFar(0.5), [0, 0], [0, 0], 3, 3) == NOTHING
    assert chosen(MaxFar(0.5), [0, 1, 1], [0, 0, 2]) == 1
    assert chosen(MaxFar(0.5), [0, 0, 2], [0, 0, 3]) == NOTHING


def test_a_rule_is_given_as_itself_or_by_its_text_or_not_at_all() -> None:
    assert rule_of(MaxFar(0.1)) == rule_of("max-far=0.1") == MaxFar(0.1)
    assert rule_of(None) is None
    with pytest.raises(MethodError, match="at= is a rule such as"):
        rule_of(0.5)
