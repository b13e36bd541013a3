"""Shares and confidence sequences: edges, and evidence summed up by hand."""

import math

import mpmath
import numpy as np
import pytest
from statsmodels.stats.proportion import proportion_confint

from assay.errors import MethodError
from assay.inference.proportions import (
    PROPORTION_METHODS,
    BetaMixture,
    GammaMixture,
    PairedBets,
    ProportionInterval,
    beta_log_e,
    discordant_log_e,
    gamma_log_e,
    paired_log_e,
)

THEIR_NAMES = {
    "wald": "normal",
    "wilson": "wilson",
    "agresti-coull": "agresti_coull",
    "clopper-pearson": "beta",
    "jeffreys": "jeffreys",
}
every_method = pytest.mark.parametrize("method", PROPORTION_METHODS.values(), ids=lambda m: m.name)


# -- shares ----------------------------------------------------------------------------------------


@every_method
@pytest.mark.parametrize("level", [0.5, 0.99])
def test_single_shares_have_the_same_ends_as_arrays_of_them(
    method: type[ProportionInterval], level: float
) -> None:
    k = np.array([0, 1, 2, 11, 12, 0, 1, 0.5, 0.2])
    n = np.array([12, 12, 12, 12, 12, 1, 1, 1, 0.4])
    low, high = method(level)(k, n)
    singly = [method(level).ends(*pair) for pair in zip(k.tolist(), n.tolist(), strict=True)]
    assert np.stack([low, high], axis=1).tolist() == [pytest.approx(pair) for pair in singly]
    inside = slice(1, 4)
    theirs = proportion_confint(
        k[inside], n[inside], alpha=1 - level, method=THEIR_NAMES[method.name]
    )
    assert np.stack([low, high])[:, inside] == pytest.approx(np.clip(theirs, 0, 1), abs=1e-10)
    assert (low[0], high[4], low[5], high[6]) == (0, 1, 0, 1)


@every_method
def test_ends_never_pass_the_share_or_what_is_possible(method: type[ProportionInterval]) -> None:
    """Counts of weighted rows may lie a little outside."""
    assert method().ends(-1e-9, 10)[0] == 0
    assert method().ends(10 + 1e-9, 10)[1] == 1
    assert all(math.isnan(end) for end in method().ends(0, 0))
    assert all(math.isnan(end) for end in method().ends(1, -1))
    low, high = method()([0, 1, 1], [0, -1, 2])
    assert np.isnan(low).tolist() == np.isnan(high).tolist() == [True, True, False]


def test_ends_are_cut_to_the_share_and_to_0_and_1() -> None:
    class Odd(ProportionInterval):
        name = "odd"

        def _ends(self, k: float, n: float) -> tuple[float, float]:
            return k / n + self.level - 0.5, k / n - self.level + 0.5

    wide, crossed = Odd(0.25), Odd(0.75)
    # From 0.25 below to 0.25 above, and the other way round.
    assert wide.ends(1, 2) == (0.25, 0.75)
    assert wide.ends(1, 8) == (0.0, 0.375)
    assert wide.ends(7, 8) == (0.625, 1.0)
    assert crossed.ends(1, 2) == (0.5, 0.5)
    low, high = wide([1, 1, 7], [2, 8, 8])
    assert (low.tolist(), high.tolist()) == ([0.25, 0, 0.625], [0.75, 0.375, 1])
    low, high = crossed([1, 0, 2], [2, 2, 2])
    assert (low.tolist(), high.tolist()) == ([0.5, 0, 1], [0.5, 0, 1])


# -- evidence --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("k", "n", "p"), [(0, 0, 0.3), (1, 1, 0.3), (0, 4, 0.3), (3, 4, 0.9), (7, 20, 0.5)]
)
def test_evidence_against_a_share_by_hand(k: int, n: int, p: float) -> None:
    mixed = mpmath.beta(k + 0.5, n - k + 0.5) / mpmath.pi
    exact = mpmath.log(mixed / (mpmath.mpf(p) ** k * (1 - mpmath.mpf(p)) ** (n - k)))
    assert float(beta_log_e(k, n, p)) == pytest.approx(float(exact), rel=1e-12, abs=1e-14)


@pytest.mark.parametrize(("first", "second"), [(0, 0), (3, 0), (0, 3), (10, 2)])
def test_unequal_errors_are_evidence_against_a_half(first: int, second: int) -> None:
    both = first + second
    exact = mpmath.beta(first + 0.5, second + 0.5) / mpmath.pi * 2**both
    assert float(discordant_log_e(first, second)) == pytest.approx(
        float(mpmath.log(exact)), rel=1e-12, abs=1e-14
    )


@pytest.mark.parametrize(
    ("events", "days", "rate"), [(0, 1, 0.5), (1, 1, 2.0), (3, 10, 0.1), (40, 2.5, 20.0)]
)
def test_evidence_against_a_rate_by_hand(events: int, days: float, rate: float) -> None:
    """The mean over scales of what a Gamma(1/2, b) makes of the counts."""
    mixed = [
        mpmath.sqrt(b) / mpmath.gamma(0.5)
        * mpmath.gamma(events + 0.5) / (b + days) ** (events + 0.5)
        for b in (mpmath.mpf(10) ** -i for i in range(7))
    ]  # fmt: skip
    exact = mpmath.log(sum(mixed) / 7 / (mpmath.mpf(rate) ** events * mpmath.exp(-rate * days)))
    assert float(gamma_log_e(events, days, rate)) == pytest.approx(float(exact), rel=1e-11)


def wealth(up: int, down: int, rows: int, difference: float) -> float:
    """The mean of 24 bets on more and 24 on less, row by row."""
    mean, tied = (1 + difference) / 2, rows - up - down
    made = []
    for i in range(24):
        bet = mpmath.mpf(1.5) ** -i
        for best, worst, share in ((up, down, mean), (down, up, 1 - mean)):
            made.append(
                (1 + bet * (1 / mpmath.mpf(share) - 1)) ** best
                * (1 + bet * (0.5 / mpmath.mpf(share) - 1)) ** tied
                * (1 - bet) ** worst
            )  # fmt: skip
    return float(mpmath.log(sum(made) / 48))


@pytest.mark.parametrize(
    ("up", "down", "rows"), [(0, 0, 0), (1, 0, 1), (0, 1, 1), (3, 0, 5), (2, 7, 30), (40, 10, 300)]
)
@pytest.mark.parametrize("difference", [-0.6, 0.0, 0.25])
def test_evidence_against_a_difference_by_hand(
    up: int, down: int, rows: int, difference: float
) -> None:
    log_wealth = float(paired_log_e(up, down, rows, difference))
    assert log_wealth == pytest.approx(wealth(up, down, rows, difference), rel=1e-11, abs=1e-13)


def test_a_difference_that_can_not_be_has_all_evidence_against_it() -> None:
    # A row that only the first model has rules out that the second has all; and the other way.
    assert paired_log_e([0, 1], [1, 0], 5, [1.0, -1.0]).tolist() == [math.inf, math.inf]
    # Where the second model has each row, bets on more stay what they were, and those on less lose.
    made = 24 + sum((1 - 1.5**-i) ** 3 for i in range(24))
    assert float(paired_log_e(3, 0, 3, 1.0)) == pytest.approx(math.log(made / 48))


# -- ends ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
@pytest.mark.parametrize(
    ("k", "n"), [(0, 1), (1, 1), (0, 30), (1, 30), (15, 30), (30, 30), (3, 10**6), (2.5, 7.5)]
)
def test_the_ends_of_a_share_have_the_evidence_of_the_level(
    k: float, n: float, level: float
) -> None:
    low, high = BetaMixture(level).ends(k, n)
    limit = math.log(1 / (1 - level))
    share = k / n
    if k > 0:
        assert low < share
        assert float(beta_log_e(k, n, low)) == pytest.approx(limit, rel=1e-8, abs=1e-8)
    else:
        assert low == 0
    if k < n:
        assert high > share
        assert float(beta_log_e(k, n, high)) == pytest.approx(limit, rel=1e-8, abs=1e-8)
    else:
        assert high == 1


@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
@pytest.mark.parametrize(
    ("events", "days"), [(0, 1), (0, 1e-3), (1, 1), (1, 400), (3, 0.01), (1000, 10), (0.5, 2)]
)
def test_the_ends_of_a_rate_have_the_evidence_of_the_level(
    events: float, days: float, level: float
) -> None:
    low, high = (float(end) for end in GammaMixture(level)(events, days))
    limit = math.log(1 / (1 - level))
    assert float(gamma_log_e(events, days, high)) == pytest.approx(limit, rel=1e-8, abs=1e-8)
    assert low <= events / days < high
    if events:
        assert low < events / days
        assert float(gamma_log_e(events, days, low)) == pytest.approx(limit, rel=1e-8, abs=1e-8)
    else:
        assert low == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
@pytest.mark.parametrize(
    ("up", "down", "rows"), [(1, 0, 30), (0, 0, 50), (5, 5, 40), (30, 2, 100), (100, 900, 5000)]
)
def test_the_ends_of_a_difference_have_the_evidence_of_the_level(
    up: int, down: int, rows: int, level: float
) -> None:
    low, high = (float(end) for end in PairedBets(level)(up, down, rows))
    limit = math.log(1 / (1 - level))
    assert -1 < low < (up - down) / rows < high < 1
    for end in (low, high):
        assert wealth(up, down, rows, end) == pytest.approx(limit, rel=1e-8)


def test_rows_that_all_agree_have_no_end_on_their_side() -> None:
    low, high = (float(end) for end in PairedBets()(20, 0, 20))
    assert high == 1
    assert wealth(20, 0, 20, low) == pytest.approx(math.log(20), rel=1e-8)
    low, high = (float(end) for end in PairedBets()(1, 0, 1))
    assert high == 1
    assert wealth(1, 0, 1, low) == pytest.approx(math.log(20), rel=1e-8)


@pytest.mark.parametrize("method", [BetaMixture(), GammaMixture()], ids=lambda m: m.name)
def test_no_end_depends_on_which_others_are_asked_for_with_it(
    method: BetaMixture | GammaMixture,
) -> None:
    k, n = np.array([0, 1, 5, 300, 7, 4]), np.array([3, 1, 9, 4000, 10**7, 0])
    low, high = method(k, n)
    for place in range(6):
        alone = method(k[place], n[place])
        assert [float(end) for end in alone] == pytest.approx(
            [low[place], high[place]], rel=0, abs=0, nan_ok=True
        )
    assert np.isnan([low[5], high[5]]).all()


def test_ends_of_differences_come_in_the_shape_of_the_counts() -> None:
    low, high = PairedBets()([[3, 0], [1, 2]], 1, [10, 0])
    assert low.shape == high.shape == (2, 2)
    assert np.isnan(low).tolist() == [[False, True], [False, True]]
    for place in (0, 1):
        alone = PairedBets()([3, 1][place], 1, 10)
        assert (low[place, 0], high[place, 0]) == (float(alone[0]), float(alone[1]))


@pytest.mark.parametrize("method", [BetaMixture, GammaMixture, PairedBets])
def test_a_sequence_has_a_level(method: type) -> None:
    assert method().level == 0.95
    for level in (0, 1):
        with pytest.raises(MethodError, match="level must lie between 0 and 1"):
            method(level)
