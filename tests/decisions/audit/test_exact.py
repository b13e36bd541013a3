"""The rule that a printed number is judged by."""

from decimal import ROUND_CEILING, ROUND_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Context, Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.decisions.audit.verdicts import (
    Enclosure,
    NumberVerdict,
    as_float,
    decimal,
    hold,
    judge,
    printed,
    same_digits,
)

shares = st.fractions(min_value=0, max_value=1, max_denominator=10**9)
places = st.integers(0, 16)


def rounded(value: Fraction, digits: int, rounding: str) -> str:
    context = Context(prec=80)
    exact = context.divide(Decimal(value.numerator), Decimal(value.denominator))
    return format(exact.quantize(Decimal(1).scaleb(-digits), rounding, context), "f")


@pytest.mark.parametrize(
    ("text", "exact", "verdict"),
    [
        ("0.9670", Fraction(14378, 14869), "consistent"),
        ("96.70%", Fraction(14378, 14869), "consistent"),
        ("0.9669", Fraction(14378, 14869), "rounding"),
        ("0.9671", Fraction(14378, 14869), "inconsistent"),
        # An exact half may be rounded either way.
        ("0.125", Fraction(1, 8), "consistent"),
        ("0.12", Fraction(1, 8), "consistent"),
        ("0.13", Fraction(1, 8), "consistent"),
        ("0.14", Fraction(1, 8), "inconsistent"),
        # Less than one unit off, and one unit off.
        ("0.33", Fraction(3399, 10**4), "rounding"),
        ("0.33", Fraction(34, 100), "inconsistent"),
        ("0.33", Fraction(32, 100), "inconsistent"),
        # However many digits there are, all of them count.
        ("909,636.36", Fraction(909636113976, 10**6), "inconsistent"),
        ("909,636.11", Fraction(909636113976, 10**6), "consistent"),
        ("909,636.12", Fraction(909636113976, 10**6), "rounding"),
        ("0.96697899", Fraction(14378, 14869), "inconsistent"),
        ("0.96697828", Fraction(14378, 14869), "consistent"),
        ("0.96697827", Fraction(14378, 14869), "rounding"),
        ("0.966978276952", Fraction(14378, 14869), "consistent"),
        ("0.966978276950", Fraction(14378, 14869), "inconsistent"),
        # Digits that count begin with the first that is not zero.
        ("0.00000215", Fraction(2146, 10**9), "consistent"),
        ("0.0000215", Fraction(2146, 10**9), "inconsistent"),
        ("-0.053", Fraction(-5265, 10**5), "consistent"),
        ("-0.052", Fraction(-5265, 10**5), "rounding"),
        ("0.053", Fraction(-5265, 10**5), "inconsistent"),
    ],
)
def test_the_rule_on_examples(text, exact, verdict) -> None:
    assert judge(printed(text), Enclosure.of(exact)) == verdict


@given(shares, places)
def test_correct_rounding_is_consistent_and_cutting_off_at_worst_rounding(value, digits) -> None:
    exact = Enclosure.of(value)
    for mode in (ROUND_HALF_UP, ROUND_HALF_EVEN):
        assert judge(printed(rounded(value, digits, mode)), exact) is NumberVerdict.CONSISTENT
    for mode in (ROUND_DOWN, ROUND_CEILING):
        assert judge(printed(rounded(value, digits, mode)), exact) is not NumberVerdict.INCONSISTENT


@given(shares, st.integers(0, 6), st.integers(2, 9))
def test_two_units_off_is_inconsistent(value, digits, units) -> None:
    off = value + Fraction(units, 10**digits)
    text = rounded(off, digits, ROUND_DOWN)
    assert judge(printed(text), Enclosure.of(value)) is NumberVerdict.INCONSISTENT


@given(shares, shares, st.integers(1, 7), st.integers(1, 6))
def test_what_is_consistent_stays_so_when_it_is_rounded_to_fewer_digits(a, near, digits, fewer):
    value = a + near / 10**digits
    text = rounded(a, digits, ROUND_HALF_UP)
    if judge(printed(text), Enclosure.of(value)) is NumberVerdict.CONSISTENT:
        shorter = rounded(Fraction(text), max(digits - fewer, 0), ROUND_HALF_EVEN)
        # Rounding twice may be off by more than half a unit, never by a whole one.
        assert judge(printed(shorter), Enclosure.of(value)) is not NumberVerdict.INCONSISTENT


@given(shares, places)
def test_the_same_number_in_percent_has_the_same_verdict(value, digits) -> None:
    text = rounded(value, digits + 2, ROUND_HALF_UP)
    percent = rounded(Fraction(text) * 100, digits, ROUND_HALF_UP)
    other = value + Fraction(1, 10**4)
    for exact in (Enclosure.of(value), Enclosure.of(other)):
        assert judge(printed(text), exact) == judge(printed(f"{percent}%"), exact)


@given(st.integers(-(10**6), 10**6), st.integers(0, 6))
def test_an_exact_half_is_consistent_both_ways(number, digits) -> None:
    half = Enclosure.of(Fraction(2 * number + 1, 2 * 10**digits))
    for neighbour in (number, number + 1):
        text = rounded(Fraction(neighbour, 10**digits), digits, ROUND_HALF_UP)
        assert judge(printed(text), half) is NumberVerdict.CONSISTENT


def test_digits_are_the_same_when_rounded_or_cut_off_but_not_when_rounded_up() -> None:
    exact = Enclosure.of(Fraction(92851, 10**5))
    assert same_digits(printed("0.929"), exact)
    assert same_digits(printed("0.928"), exact)
    assert not same_digits(printed("0.93"), Enclosure.of(Fraction(9201, 10**4)))
    assert same_digits(printed("-0.92"), Enclosure.of(Fraction(-929, 1000)))
    assert not same_digits(printed("-0.93"), Enclosure.of(Fraction(-921, 1000)))


@pytest.mark.parametrize(
    ("text", "exact", "said"),
    [
        ("96.70%", Fraction(14378, 14869), "14,378/14,869 = 96.698%, correctly rounded"),
        ("0.91", Fraction(73, 80), "14,378/14,869 = 0.9125, correctly rounded"),
        ("0.9125", Fraction(73, 80), "14,378/14,869 = 0.9125, as printed"),
        (
            "0.90",
            Fraction(73, 80),
            "14,378/14,869 = 0.9125, not what is printed",
        ),
    ],
)
def test_what_is_said_shows_a_digit_more_than_was_printed(text, exact, said) -> None:
    assert hold(printed(text), Enclosure.of(exact), "14,378/14,869").said == said


def test_a_value_far_below_the_last_digit_is_not_shown_as_nothing() -> None:
    assert decimal(Enclosure.of(Fraction(1, 10**6)), printed("0.00")) == "1e-06"


@pytest.mark.parametrize("exponent", [309, 400, 999])
def test_numbers_beyond_floats_are_judged_by_their_digits(exponent) -> None:
    text = f"2e{exponent}"
    assert judge(printed(text), Enclosure.of(2 * 10**exponent)) is NumberVerdict.CONSISTENT
    assert judge(printed(text), Enclosure.of(Fraction(1, 2))) is NumberVerdict.INCONSISTENT
    assert as_float(printed(text).value) == float("inf")
    assert as_float(printed(f"-{text}").value) == float("-inf")
    assert as_float(printed(f"2e-{exponent}").value) == float(f"2e-{exponent}")


@given(st.fractions(0, 10**12, max_denominator=10**9))
def test_roots_enclose_what_they_are_of(number) -> None:
    enclosure = Enclosure.root(number)
    assert enclosure.low**2 <= number <= enclosure.high**2
    assert enclosure.high - enclosure.low <= (enclosure.high or 1) / 2**90
