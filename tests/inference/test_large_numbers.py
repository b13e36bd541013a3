"""Numbers that no float holds are refused, and so are those whose squares none holds."""

import math
from fractions import Fraction

import pytest

from assay.errors import AssayError, InputError, MethodError
from assay.inference.bootstrap import Bootstrap
from assay.inference.paired_tests import cochran_q, five_by_two_f, mcnemar, paired_t
from assay.inference.rank_tests import friedman, wilcoxon
from assay.inference.significance import (
    MOST_RESAMPLES,
    check_amount,
    check_level,
    check_share,
    holm,
)
from assay.inference.threshold_rules import AtThreshold, MaxFpr, parse_rule, rule_of
from assay.measures.curves import probability_cost
from assay.text import quote

TABLE = [[3, 1, 2], [1, 2, 3], [2, 3, 1]]
ASKED = {
    "mcnemar": lambda large: mcnemar(large, 3),
    "cochran_q": lambda large: cochran_q([[1, 0], [0, 1], [1, 1]], counts=[large, 1, 2]),
    "holm": lambda large: holm([large, 1]),
    "friedman": lambda large: friedman([[large, 1, 2], *TABLE]),
    "friedman's counts": lambda large: friedman(TABLE, counts=[large, 1, 1]),
    "wilcoxon": lambda large: wilcoxon([large, 1, 2], [1, 2, 3]),
    "paired_t": lambda large: paired_t([large, 1, 2], [1, 2, 3]),
    "five_by_two_f": lambda large: five_by_two_f([[large, 1]] * 5, [[1, 2]] * 5),
    "resamples": lambda large: Bootstrap(resamples=large),
    "level": lambda large: Bootstrap(level=large),
    "threshold": AtThreshold,
    "limit": MaxFpr,
    "rule": rule_of,
    "mcnemar's method": lambda large: mcnemar(1, 3, method=large),
    "probability cost": lambda large: probability_cost(0.1, large),
}


@pytest.mark.parametrize("digits", [400, 5000])
@pytest.mark.parametrize("name", ASKED)
def test_a_number_that_no_float_holds_is_refused(name: str, digits: int) -> None:
    with pytest.raises(AssayError) as refused:
        ASKED[name](10**digits)
    assert len(str(refused.value)) < 200


@pytest.mark.parametrize(
    ("number", "digits"), [(10**400, 401), (10**400 - 1, 400), (-(10**99), 100)]
)
def test_a_long_number_is_told_by_its_digits(number: int, digits: int) -> None:
    assert quote(number) == f"a number of {digits} digits"


def test_other_numbers_are_shown() -> None:
    assert [quote(each) for each in (7, -0.5, "x", 10**36)] == [
        "7",
        "-0.5",
        "'x'",
        str(10**36),
    ]


@pytest.mark.parametrize("share", [5e-324, 1e-320, 9e-101, Fraction(1, 10**400)])
def test_a_share_has_a_square(share: float) -> None:
    with pytest.raises(MethodError, match="a base rate is a share of at least 1e-100; found"):
        check_share("a base rate", share)
    check_share("a base rate", 1e-100)


@pytest.mark.parametrize("share", [0, 1, -1, True, math.nan, "1", None, 1 - Fraction(1, 10**400)])
def test_what_is_no_share_is_refused(share: object) -> None:
    with pytest.raises(MethodError, match="a base rate is a share between 0 and 1; found"):
        check_share("a base rate", share)


def test_a_level_leaves_less_than_all() -> None:
    with pytest.raises(MethodError, match="confidence must be at least 1e-12; found 1e-13"):
        check_level(1e-13, "confidence")
    assert [check_level(level) for level in (1e-12, 0.99999)] == [1e-12, 0.99999]


@pytest.mark.parametrize("amount", [0, -1, 5e-324, 1.7e308, math.inf, math.nan, True, "1", None])
def test_an_amount_has_a_square(amount: object) -> None:
    with pytest.raises(MethodError, match="margin is a number above 0, 1e-100 to 1e100; found"):
        check_amount("margin", amount)


def test_the_most_resamples_are_drawn_and_no_more() -> None:
    assert Bootstrap(resamples=MOST_RESAMPLES).resamples == 10_000_000
    with pytest.raises(MethodError, match="at most 10,000,000 resamples; found 10000001"):
        Bootstrap(resamples=MOST_RESAMPLES + 1)


def test_counts_of_rows_may_be_large_and_whole_floats() -> None:
    assert mcnemar(10**36, 3).p == 0
    rows = [[1, 0], [0, 1], [1, 1]]
    assert cochran_q(rows, counts=[1.0, 1, 2]).p == cochran_q(rows, counts=[1, 1, 2]).p == 1


@pytest.mark.parametrize("counts", [[1.5, 1, 1], [-1, 1, 1], [math.inf, 1, 1], ["1", "1", "1"]])
def test_odd_counts_are_refused(counts: list[object]) -> None:
    with pytest.raises(MethodError, match="counts are whole numbers and not negative"):
        cochran_q([[1, 0], [0, 1], [1, 1]], counts=counts)


@pytest.mark.parametrize("counts", [[-1, 1, 1], [0, 0, 0], [math.nan, 1, 1], [math.inf, 1, 1]])
def test_odd_counts_of_ranks_are_refused(counts: list[float]) -> None:
    with pytest.raises(MethodError, match="counts are not negative, and some row occurs"):
        friedman(TABLE, counts=counts)


def test_values_whose_squares_no_float_holds_are_refused() -> None:
    with pytest.raises(MethodError, match="values must be numbers, of a size of at most 1e100"):
        wilcoxon([1e300, 1, 2], [1, 2, 3])


@pytest.mark.parametrize("text", ["max-far=1e400/1", "threshold=1e400/3", "max-fpr=1e309"])
def test_a_rule_of_a_number_that_no_float_holds_is_refused(text: str) -> None:
    with pytest.raises(MethodError):
        parse_rule(text)


@pytest.mark.parametrize("seed", [-1, 0.5, True, "1", None])
def test_a_seed_is_a_whole_number(seed: object) -> None:
    with pytest.raises(InputError, match="seed= is a whole number, 0 or more; found"):
        Bootstrap(seed=seed)
