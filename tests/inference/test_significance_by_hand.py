"""Names, adjustments and exact tails, at the edges at which they change."""

import math
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from assay.errors import MethodError
from assay.inference import significance
from assay.inference.significance import (
    Significance,
    benjamini_hochberg,
    check_level,
    checked_names,
    holm,
    least_shown,
    most_allowed,
    numbers_by_model,
    pair_names,
    shows,
    shows_each,
    tail,
)

HALF = Fraction(1, 2)


def exact_tail(errors: int, rows: int, share: Fraction) -> Fraction:
    """P(Bin(rows, share) <= errors)."""
    # A sum of whole numbers over one denominator is quick.
    top, bottom = share.numerator, share.denominator
    terms = (
        math.comb(rows, k) * top**k * (bottom - top) ** (rows - k)
        for k in range(min(errors, rows) + 1)
    )
    return Fraction(sum(terms), bottom**rows)


# -- results and names -----------------------------------------------------------------------------


def test_two_models_are_a_and_b_and_more_are_neither() -> None:
    def result(*models: str) -> Significance:
        return Significance("mine", 1.0, (1,), 0.3, "by hand", "It reads.", models=models)

    assert (result("old", "new").a, result("old", "new").b) == ("old", "new")
    for models in ((), ("old",), ("old", "new", "third")):
        assert (result(*models).a, result(*models).b) == (None, None)
    assert str(result()) == "It reads."
    assert repr(result()) == "mine: It reads."


def test_numbers_keep_the_names_of_their_columns() -> None:
    table, names = numbers_by_model({"old": [1, 2], 7: [True, False]})
    assert (table.tolist(), names) == ([[1, 1], [2, 0]], ["old", "7"])
    table, names = numbers_by_model(pd.DataFrame({"old": [0.5], "new": [0.25]}))
    assert (table.tolist(), names) == ([[0.5, 0.25]], ["old", "new"])
    rows = [[1, 2], [3, 4]]
    assert numbers_by_model(rows) == (rows, None)


def test_no_columns_are_an_empty_table() -> None:
    table, names = numbers_by_model({})
    assert (table.shape, names) == ((0, 0), [])


def test_columns_of_another_kind_or_length_are_named() -> None:
    with pytest.raises(MethodError, match=r"column 'new' holds .*, such as \['x'\]"):
        numbers_by_model({"old": [1.0, 2.0], "new": ["x", "y"]})
    with pytest.raises(MethodError, match="'new' has 3 rows"):
        numbers_by_model({"old": [1.0, 2.0], "new": [1.0, 2.0, 3.0]})


def column(name: object) -> SimpleNamespace:
    return SimpleNamespace(name=name)


@pytest.mark.parametrize(
    ("a", "b", "names", "expected"),
    [
        (column("old"), column("new"), None, ("old", "new")),
        (column("old"), column("old"), None, ("A", "B")),
        (column("old"), column(""), None, ("A", "B")),
        (column(""), column("new"), None, ("A", "B")),
        (column("old"), column(None), None, ("A", "B")),
        (column(1), column(2), None, ("A", "B")),
        ([1], [2], None, ("A", "B")),
        (column("old"), column("new"), ("x", "y"), ("x", "y")),
    ],
)
def test_two_columns_are_called_by_their_names_where_those_differ(
    a: object, b: object, names: tuple[str, str] | None, expected: tuple[str, str]
) -> None:
    assert pair_names(a, b, names) == expected


def test_each_model_needs_a_name_of_its_own() -> None:
    assert checked_names(None, 3) == ["0", "1", "2"]
    assert checked_names(["x", 5], 2) == ["x", "5"]
    for names in (["x"], ["x", "y", "z"], ["x", "x"]):
        with pytest.raises(MethodError, match="2 models need 2 names that differ"):
            checked_names(names, 2)


# -- many tests ------------------------------------------------------------------------------------


def test_adjusted_p_never_exceed_one_and_stop_at_the_next() -> None:
    assert holm([0.5, 0.9, 0.6]) == [1.0, 1.0, 1.0]
    assert holm([0.0, 1.0, 0.25]) == [0.0, 1.0, 0.5]
    assert benjamini_hochberg([0.0, 1.0, 0.5, 0.25]) == pytest.approx([0, 1, 2 / 3, 0.5])
    assert benjamini_hochberg([0.3, 0.1, 0.25]) == pytest.approx([0.3, 0.3, 0.3])


def test_an_adjusted_p_is_not_rounded_below_its_own() -> None:
    # 0.07 * 3 / 3 is the float below 0.07.
    p = next(x / 100 for x in range(1, 100) if x / 100 * 3 / 3 < x / 100)
    assert benjamini_hochberg([0.001, 0.002, p])[2] == p


# -- distributions ---------------------------------------------------------------------------------


@pytest.mark.parametrize("level", ["0.95", None, 0, 1, -0.1, 1.1])
def test_a_level_is_a_number_between_0_and_1(level: object) -> None:
    with pytest.raises(MethodError, match="level must lie between 0 and 1"):
        check_level(level)


def test_quantiles_and_tails_by_tables() -> None:
    assert check_level(0.5) == 0.5
    assert significance.normal(0.9) == pytest.approx(1.6448536269514722)
    assert significance.student(0.9, 7) == pytest.approx(stats.t.ppf(0.95, 7))
    assert significance.normal_p(-1.6448536269514722) == pytest.approx(0.1)
    assert significance.student_p(-1.5, 7) == pytest.approx(2 * stats.t.cdf(-1.5, 7))
    assert significance.f_p(2.5, 3, 9) == pytest.approx(stats.f.sf(2.5, 3, 9))
    assert significance.f_quantile(0.9, 3, 9) == pytest.approx(stats.f.ppf(0.9, 3, 9))
    # Demsar's q of four models at 5% is 2.569, which is the range over the root of 2.
    assert significance.studentised_range(0.95, 4) / math.sqrt(2) == pytest.approx(2.569, abs=5e-4)
    assert significance.studentised_range_p(2.569 * math.sqrt(2), 4) == pytest.approx(
        0.05, abs=1e-4
    )


@pytest.mark.parametrize("k", range(8))
def test_fair_trials_count_both_tails(k: int) -> None:
    smaller = min(k, 7 - k)
    both = 2 * sum(math.comb(7, i) for i in range(smaller + 1)) / 2**7
    assert significance.binomial_p(k, 7) == pytest.approx(min(1.0, both))


# -- exact tails -----------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [1, 2, 7])
def test_a_tail_is_a_sum_of_terms(rows: int) -> None:
    share = Fraction(3, 10)
    errors = list(range(rows + 2))
    expected = [float(exact_tail(k, rows, share)) for k in errors]
    assert tail(errors, rows, 0.3).tolist() == pytest.approx(expected, rel=1e-14)
    assert tail(rows, rows, 0.3) == 1


@pytest.mark.parametrize(("errors", "rows"), [(0, 1), (0, 5), (2, 9), (8, 9), (30, 100)])
@pytest.mark.parametrize("limit", [HALF, Fraction(1, 3), Fraction(9, 10)])
def test_errors_show_a_rate_at_a_risk_of_just_their_chance(
    errors: int, rows: int, limit: Fraction
) -> None:
    chance = exact_tail(errors, rows, limit)
    assert shows(errors, rows, limit, chance * (1 + Fraction(1, 10**40)))
    assert not shows(errors, rows, limit, chance * (1 - Fraction(1, 10**40)))
    assert shows(errors, rows, limit, chance * Fraction(11, 10))
    assert not shows(errors, rows, limit, chance * Fraction(9, 10))


def test_a_chance_that_equals_the_risk_is_allowed() -> None:
    assert shows(0, 3, HALF, Fraction(1, 8))
    assert shows(1, 3, HALF, Fraction(1, 2))
    assert shows(4, 3, HALF, Fraction(1))
    assert shows(3, 3, HALF, Fraction(1))


def test_beyond_a_thousand_errors_a_close_tail_counts_as_too_large() -> None:
    for errors, decided in ((1000, True), (1001, False)):
        chance = exact_tail(errors, 2001, HALF)
        assert shows(errors, 2001, HALF, chance * (1 + Fraction(1, 10**30))) is decided
        assert shows(errors, 2001, HALF, chance * (1 + Fraction(5, 10**12))) is decided
        assert not shows(errors, 2001, HALF, chance * (1 - Fraction(1, 10**30)))
        # The risk is about a half: this far from it floats decide.
        assert shows(errors, 2001, HALF, chance * (1 + Fraction(15, 10**12)))


LIMITS = [Fraction(0), Fraction(1, 40), Fraction(1, 20), Fraction(3, 10), Fraction(9, 10)]


@pytest.mark.parametrize("risk", [0.001, 0.05, 0.3, 0.45, 0.55, 0.9])
@pytest.mark.parametrize("rows", [1, 2, 20, 40])
def test_bounds_decide_as_the_tails_do(rows: int, risk: float) -> None:
    pairs = [(k, limit) for k in range(rows + 1) for limit in LIMITS]
    errors, limits = zip(*pairs, strict=True)
    flags = shows_each(errors, rows, [float(limit) for limit in limits], risk)
    # No error rate is shown to be 0; a tail of 0 rows is 1.
    expected = [limit > 0 and exact_tail(k, rows, limit) <= Fraction(risk) for k, limit in pairs]
    assert flags.tolist() == expected


def test_a_tail_that_equals_the_risk_is_shown() -> None:
    assert shows_each([0, 1, 1], 1, [0.5, 0.5, 0.5], 0.5).tolist() == [True, False, False]
    assert shows_each([1], 3, [0.5], 0.5).tolist() == [True]


def test_any_errors_show_a_rate_of_one() -> None:
    assert shows_each([0, 10, 10], 10, [1.0, 1.0, 1.5], 0.01).tolist() == [True, True, True]
    assert shows_each([0, 0], 10, [0.0, -0.1], 0.9).tolist() == [False, False]


@pytest.mark.parametrize("rows", [1, 2, 3, 10, 37])
@pytest.mark.parametrize("limit", [Fraction(1, 100), Fraction(1, 5), HALF, Fraction(99, 100)])
@pytest.mark.parametrize("risk", [Fraction(1, 1000), Fraction(1, 8), HALF, Fraction(9, 10)])
def test_most_errors_that_are_allowed_by_trying_all(
    rows: int, limit: Fraction, risk: Fraction
) -> None:
    allowed = [k for k in range(rows) if exact_tail(k, rows, limit) <= risk]
    error_count = most_allowed(rows, limit, risk)
    assert error_count == (max(allowed) if allowed else None)
    assert error_count is None or type(error_count) is int


def test_the_least_rate_without_an_error() -> None:
    assert least_shown(0, 0.1) == 1
    assert least_shown(1, 0.1) == pytest.approx(0.9)
    assert least_shown(3, 0.125) == pytest.approx(0.5)
    assert np.isclose(least_shown(10**12, 0.1), -math.log(0.1) / 10**12, rtol=1e-9)
