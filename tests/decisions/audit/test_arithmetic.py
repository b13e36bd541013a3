"""Lines of plain arithmetic."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.decisions.audit.claim import Calculation
from assay.decisions.audit.counts import DEEPEST, LONGEST, evaluated, judge_calculation, parsed
from assay.decisions.audit.verdicts import printed
from assay.errors import InputError


def verdict(expression: str, reported: str) -> str:
    return str(judge_calculation(Calculation(expression, printed(reported))).verdict)


@pytest.mark.parametrize(
    ("expression", "reported", "expected"),
    [
        ("6635*7743 - 167*324", "51,320,697", "consistent"),
        ("6635*7743 - 167*324", "51,324,897", "inconsistent"),
        ("6,635 + 7,743 + 167 + 324", "14,869", "consistent"),
        ("14378/14869", "96.70%", "consistent"),
        # All printed digits count: 5,499,780.899 is cut off, 909,636.114 is another number.
        ("sqrt(30247589937660)", "5,499,780.90", "consistent"),
        ("sqrt(30247589937660)", "5,499,780.89", "rounding"),
        ("sqrt(827437859850)", "909,636.11", "consistent"),
        ("sqrt(827437859850)", "909,636.36", "inconsistent"),
        ("-1516420/909636.36", "-0.1667", "inconsistent"),
        ("2*0.9754*0.9534", "1.8598", "rounding"),
        ("1.9323/2", "0.9662", "consistent"),
        ("(0.900 + 0.844 + 0.945)/3", "0.896", "consistent"),
        ("0.9670*0.0330/14869", "0.0000215", "inconsistent"),
        ("1 - 0.9670", "0.0330", "consistent"),
        ("10 - 2 - 3", "5", "consistent"),
        ("100/10/5", "2", "consistent"),
        ("2 - -3", "5", "consistent"),
        ("6\u00d77 \u2212 2", "40", "consistent"),
        ("\u221a2", "1.414", "consistent"),
        ("sqrt(sqrt(16))", "2", "consistent"),
        ("1e3 + .5", "1000.5", "consistent"),
    ],
)
def test_lines_are_judged_as_they_are_written(expression, reported, expected) -> None:
    assert verdict(expression, reported) == expected


@pytest.mark.parametrize(
    ("expression", "why"),
    [
        ("1/0", "a division by zero"),
        ("1/(3 - 3)", "a division by zero"),
        ("0*(1/0)", "a division by zero"),
        ("1/(sqrt(2)*sqrt(2) - 2)", "can't be told from zero"),
        ("sqrt(1 - 2)", "the root of a negative number"),
    ],
)
def test_what_has_no_value_is_undetermined_with_its_reason(expression, why) -> None:
    number = judge_calculation(Calculation(expression, printed("1")))
    assert str(number.verdict) == "undetermined"
    assert number.recomputed is None
    assert why in number.said


@pytest.mark.parametrize(
    ("expression", "position", "why"),
    [
        ("", 1, "ends too early"),
        ("1 +", 4, "ends too early"),
        ("(1 + 2", 1, "never closed"),
        ("1)", 2, "no \\( belongs"),
        ("1 2", 3, "operator is missing"),
        ("(1)(2)", 4, "operator is missing"),
        ("2**3", 3, "can't stand here"),
        ("2^3", 2, "can't be read"),
        ("5%", 2, "can't be read"),
        ("1,2", 2, "can't be read"),
        ("sqrt 2", 6, "needs parentheses"),
        ("__import__('os')", 1, "can't be read"),
        ("abs(1)", 1, "can't be read"),
    ],
)
def test_what_can_not_be_read_is_refused_with_its_position(expression, position, why) -> None:
    with pytest.raises(InputError, match=f"character {position}: .*{why}"):
        parsed(expression)


def test_deep_and_long_expressions_are_refused() -> None:
    parsed("(" * DEEPEST + "1" + ")" * DEEPEST)
    with pytest.raises(InputError, match="deep"):
        parsed("(" * (DEEPEST + 1) + "1" + ")" * (DEEPEST + 1))
    with pytest.raises(InputError, match="deep"):
        parsed("-" * (DEEPEST + 1) + "1")
    with pytest.raises(InputError, match="characters"):
        parsed("1+" * LONGEST + "1")


def test_numbers_beyond_floats_are_judged_and_not_recomputed() -> None:
    expression = "*".join(["9e99"] * 10)
    number = judge_calculation(Calculation(expression, printed("3.4868e999")))
    assert str(number.verdict) == "consistent"
    assert number.recomputed is None


# -- laws ------------------------------------------------------------------------------------------

numbers = st.integers(0, 10**6).map(str) | st.decimals(0, 1000, places=3).map(str)
expressions = st.recursive(
    numbers,
    lambda inner: st.tuples(inner, st.sampled_from("+-*/"), inner).map(
        lambda t: f"({t[0]}{t[1]}{t[2]})"
    ),
    max_leaves=12,
)


@given(expressions)
def test_rational_arithmetic_is_that_of_python_fractions(expression) -> None:
    import re

    as_fractions = re.sub(r"\d+(?:\.\d+)?", lambda m: f"Fraction('{m[0]}')", expression)
    try:
        expected = eval(as_fractions, {"Fraction": Fraction})
    except ZeroDivisionError:
        return
    enclosure = evaluated(expression, Fraction(1))
    assert enclosure.low == enclosure.high == expected


@given(st.integers(0, 10**40))
def test_roots_are_enclosed_closer_than_any_printed_digit(number) -> None:
    enclosure = evaluated(f"sqrt({number})", Fraction(1, 10**30))
    with localcontext() as context:
        context.prec = 80
        exact = Fraction(Decimal(number).sqrt())
    assert enclosure.low - Fraction(1, 10**50) <= exact <= enclosure.high + Fraction(1, 10**50)
    assert enclosure.high - enclosure.low <= Fraction(1, 10**30)
    if math.isqrt(number) ** 2 == number:
        assert enclosure.low == enclosure.high == math.isqrt(number)


@given(st.text(max_size=30))
def test_any_text_is_read_or_refused(text) -> None:
    said = ""
    try:
        parsed(text)
    except InputError as refused:
        said = str(refused)
    assert not said or "character" in said
