"""Numbers as people print them."""

from decimal import Decimal
from fractions import Fraction

import pytest

from assay.decisions.audit.verdicts import Enclosure, NumberVerdict, judge, printed
from assay.errors import InputError


@pytest.mark.parametrize(
    ("text", "value", "unit", "digits"),
    [
        ("0.9670", Fraction(967, 1000), Fraction(1, 10**4), 4),
        ("96.70%", Fraction(967, 1000), Fraction(1, 10**4), 4),
        ("96.7 %", Fraction(967, 1000), Fraction(1, 1000), 3),
        (r"96.7\%", Fraction(967, 1000), Fraction(1, 1000), 3),
        ("51,324,897", Fraction(51324897), Fraction(1), 8),
        ("5,499,780.89", Fraction(549978089, 100), Fraction(1, 100), 9),
        ("14\u202f869", Fraction(14869), Fraction(1), 5),
        ("\u22120.05", Fraction(-1, 20), Fraction(1, 100), 1),
        ("-16.67%", Fraction(-1667, 10**4), Fraction(1, 10**4), 4),
        ("1.2e-4", Fraction(12, 10**5), Fraction(1, 10**5), 2),
        (".5", Fraction(1, 2), Fraction(1, 10), 1),
        ("1.", Fraction(1), Fraction(1), 1),
        ("0.00", Fraction(0), Fraction(1, 100), 1),
        ("0.00000215", Fraction(215, 10**8), Fraction(1, 10**8), 3),
        (97, Fraction(97), Fraction(1), 2),
        (Decimal("0.9670"), Fraction(967, 1000), Fraction(1, 10**4), 4),
        (Decimal("1E-7"), Fraction(1, 10**7), Fraction(1, 10**7), 1),
    ],
)
def test_digits_say_how_exact_a_number_claims_to_be(text, value, unit, digits) -> None:
    reported_number = printed(text)
    assert (reported_number.value, reported_number.unit, reported_number.digits) == (
        value,
        unit,
        digits,
    )


@pytest.mark.parametrize(
    "text",
    ["", "%", ".", "abc", "nan", "inf", "0.9.1", "1,23", "12,3456", "0x1", "1e9999", "9" * 61],
)
def test_what_is_no_number_is_refused(text) -> None:
    with pytest.raises(InputError, match="is not a printed number"):
        printed(text)


@pytest.mark.parametrize("text", ["0.967", "96.70%", "-0.5", "0", "12", "51,324", "1e-300", "9e40"])
def test_the_verdict_changes_exactly_at_half_a_unit_and_at_a_unit(text):
    number = printed(text)

    def verdict(units):
        return judge(number, Enclosure.of(number.value + units * number.unit))

    half, one, little = Fraction(1, 2), Fraction(1), Fraction(1, 10**30)
    for sign in (-1, 1):
        assert verdict(sign * half) is NumberVerdict.CONSISTENT
        assert verdict(sign * (half + little)) is NumberVerdict.ROUNDING
        assert verdict(sign * (one - little)) is NumberVerdict.ROUNDING
        assert verdict(sign * one) is NumberVerdict.INCONSISTENT
        assert verdict(sign * (one + little)) is NumberVerdict.INCONSISTENT
