"""Rows that tell two models apart, against the test itself."""

import math

import numpy as np
import pytest
from scipy import stats

from assay import mcnemar
from assay.decisions.rows_needed import connor, critical, mcnemar_power, rows_for_difference
from assay.errors import InputError


def by_enumeration(rows: int, difference: float, discordant: float, level: float) -> float:
    """The chance that the test of this project says so, over all tables of so many rows."""
    total = 0.0
    better = (1 + difference / discordant) / 2
    for pairs in range(rows + 1):
        weight = stats.binom.pmf(pairs, rows, discordant)
        for b in range(pairs + 1):
            if mcnemar(b, pairs - b, level=level).p < 1 - level:
                total += weight * stats.binom.pmf(b, pairs, better)
    return total


@pytest.mark.parametrize(
    ("rows", "difference", "discordant", "level"),
    [(20, 0.3, 0.5, 0.95), (60, 0.2, 0.6, 0.95), (45, 0.4, 0.9, 0.99), (30, 0.3, 0.3, 0.9)],
)
def test_power_is_that_of_the_test_itself(
    rows: int, difference: float, discordant: float, level: float
) -> None:
    power = mcnemar_power(rows, difference, discordant, level)
    assert power == pytest.approx(by_enumeration(rows, difference, discordant, level), abs=1e-10)


@pytest.mark.parametrize("level", [0.9, 0.95, 0.99, 0.5])
def test_critical_counts_are_where_the_test_begins_to_tell(level: float) -> None:
    for pairs in range(1, 90):
        most = int(critical(np.array([pairs]), level)[0])
        told = [mcnemar(k, pairs - k, level=level).p < 1 - level for k in range(pairs // 2 + 1)]
        assert most == sum(told) - 1, pairs


def test_rows_are_the_fewest_that_reach_the_power() -> None:
    for difference, discordant, power in [(0.3, 0.5, 0.8), (0.2, 0.3, 0.9), (0.3, 0.3, 0.5)]:
        row_count = rows_for_difference(difference, discordant, 0.95, power)
        powers = [mcnemar_power(n, difference, discordant, 0.95) for n in range(1, row_count + 1)]
        assert powers[-1] >= power
        assert max(powers[:-1]) < power


def test_connor_is_the_published_formula() -> None:
    # (1.96 sqrt(0.1) + 0.8416 sqrt(0.1 - 0.0004))^2 / 0.0004
    z, beta = stats.norm.ppf(0.975), stats.norm.ppf(0.8)
    expected = (z * math.sqrt(0.1) + beta * math.sqrt(0.1 - 0.02**2)) ** 2 / 0.02**2
    assert connor(0.02, 0.1, 0.95, 0.8) == math.ceil(expected) == 1960


def test_the_usual_formula_promises_a_little_too_much() -> None:
    for difference, discordant in [(0.02, 0.1), (0.05, 0.2), (0.1, 0.15)]:
        usual = connor(difference, discordant, 0.95, 0.8)
        assert usual < rows_for_difference(difference, discordant, 0.95, 0.8) < 1.5 * usual
        assert mcnemar_power(usual, difference, discordant, 0.95) < 0.8


def test_the_sum_over_some_numbers_of_discordant_rows_is_close_to_that_over_all() -> None:
    rows, difference, discordant = 500_000, 0.0015, 0.2
    mean = rows * discordant
    pairs = np.arange(int(mean - 3000), int(mean + 3000))
    weight = stats.binom.pmf(pairs, rows, discordant)
    most = critical(pairs.astype(float), 0.95)
    better = (1 + difference / discordant) / 2
    told = stats.binom.cdf(most, pairs, 1 - better) + stats.binom.cdf(most, pairs, better)
    power = mcnemar_power(rows, difference, discordant, 0.95)
    assert power == pytest.approx(float((weight * told).sum()), abs=3e-5)


def test_a_simulation_shows_the_difference_as_often_as_planned() -> None:
    rows = rows_for_difference(0.1, 0.3, 0.95, 0.8)
    random = np.random.default_rng(3)
    tables = random.multinomial(rows, [0.2, 0.1, 0.7], size=4000)
    shown = sum(mcnemar(int(b), int(c)).p < 0.05 for b, c, _ in tables)
    assert 0.8 - 0.02 < shown / 4000 < 0.8 + 0.03


def test_a_difference_too_small_to_plan_for_is_refused() -> None:
    with pytest.raises(InputError, match="ask for a larger difference"):
        rows_for_difference(1e-7, 0.5, 0.95, 0.8)
