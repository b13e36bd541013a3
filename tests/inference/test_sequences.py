"""Confidence sequences: what they are, that they hold at every look, and what that costs."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import MethodError
from assay.inference import ClopperPearson, Wilson
from assay.inference.proportions import (
    BetaMixture,
    GammaMixture,
    PairedBets,
    beta_log_e,
    discordant_log_e,
    gamma_log_e,
    paired_log_e,
)

LIMIT = math.log(20)
COUNTS = st.integers(0, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
PAIRS = st.tuples(st.integers(0, 60), st.integers(0, 60), st.integers(0, 300))


# -- examples and oracles --------------------------------------------------------------------------


def test_one_success_in_one_trial_by_hand() -> None:
    # The mixture gives the first success 1/2, so p is in while p >= alpha / 2.
    low, high = BetaMixture(0.95)(1, 1)
    assert (float(low), float(high)) == (pytest.approx(0.025, rel=1e-12), 1.0)


def test_no_event_in_a_day_by_hand() -> None:
    # exp(rate) times the mean of sqrt(b / (b + 1)) over the scales is below 20.
    mixed = np.mean([math.sqrt(b / (b + 1)) for b in 10.0 ** -np.arange(7)])
    low, high = GammaMixture(0.95)(0, 1)
    assert (float(low), float(high)) == (0.0, pytest.approx(math.log(20 / mixed), rel=1e-12))


def test_nothing_seen_is_nothing_known() -> None:
    assert all(math.isnan(end) for end in BetaMixture()(0, 0))
    assert all(math.isnan(end) for end in GammaMixture()(0, 0))
    assert all(math.isnan(end) for end in PairedBets()(0, 0, 0))


@pytest.mark.parametrize(("k", "n"), [(0, 10), (3, 7), (30, 100), (4950, 5000), (7, 10**6)])
def test_the_ends_of_a_share_solve_the_equation_in_50_digits(k: int, n: int) -> None:
    with mpmath.workdps(50):

        def evidence(p: mpmath.mpf) -> mpmath.mpf:
            mixed = mpmath.log(mpmath.beta(k + 0.5, n - k + 0.5) / mpmath.pi)
            return mixed - k * mpmath.log(p) - (n - k) * mpmath.log(1 - p) - mpmath.log(20)

        for end in BetaMixture(0.95)(k, n):
            if 0 < end < 1:
                near = [
                    mpmath.mpf(float(end)) * (1 + side * mpmath.mpf("1e-7")) for side in (-1, 1)
                ]
                exact = mpmath.findroot(evidence, near, solver="anderson")
                assert float(end) == pytest.approx(float(exact), rel=1e-9)


@pytest.mark.parametrize(("events", "days"), [(1, 1), (3, 30), (120, 30), (10**6, 365)])
def test_the_ends_of_a_rate_solve_their_equation(events: int, days: int) -> None:
    for end in GammaMixture(0.95)(events, days):
        assert gamma_log_e(events, days, end) == pytest.approx(LIMIT, abs=1e-6)


def test_the_evidence_of_a_share_is_the_mixture_of_likelihoods() -> None:
    with mpmath.workdps(30):
        prior = [0.5, 0.5]
        mixed = mpmath.quad(
            lambda p: p ** (7 - prior[0]) * (1 - p) ** (3 - prior[1]) / mpmath.pi, [0, 0.5, 1]
        )
        exact = float(mpmath.log(mixed / (mpmath.mpf("0.4") ** 7 * mpmath.mpf("0.6") ** 3)))
    assert float(beta_log_e(7, 10, 0.4)) == pytest.approx(exact, rel=1e-12)


def test_bets_on_a_difference_are_fair_whatever_the_shares_are() -> None:
    # One row more leaves the mean of the evidence what it was, at the true difference.
    for up, down in ((0.3, 0.1), (0.02, 0.05), (0.5, 0.5)):
        before = [4, 2, 20]
        after = [
            share * float(np.exp(paired_log_e(*counts, up - down)))
            for share, counts in (
                (up, (5, 2, 21)),
                (down, (4, 3, 21)),
                (1 - up - down, (4, 2, 21)),
            )
        ]
        assert sum(after) == pytest.approx(float(np.exp(paired_log_e(*before, up - down))))


def test_a_level_is_asked_for() -> None:
    for method in (BetaMixture, GammaMixture, PairedBets):
        with pytest.raises(MethodError, match="level must lie between 0 and 1"):
            method(95)


# -- laws ------------------------------------------------------------------------------------------


@given(COUNTS)
def test_a_sequence_holds_the_share_and_the_ordinary_interval(counts: tuple[int, int]) -> None:
    k, n = counts
    low, high = map(float, BetaMixture()(k, n))
    if n:
        assert 0 <= low <= k / n <= high <= 1
        inner = Wilson().ends(k, n)
        assert low <= inner[0] + 1e-9
        assert high >= inner[1] - 1e-9


@given(COUNTS)
def test_successes_and_failures_change_places(counts: tuple[int, int]) -> None:
    k, n = counts
    low, high = BetaMixture()(k, n)
    other = BetaMixture()(n - k, n)
    if n:
        assert float(low) == pytest.approx(1 - float(other[1]), abs=1e-9)
        assert float(high) == pytest.approx(1 - float(other[0]), abs=1e-9)


@given(st.integers(0, 60), st.integers(0, 60))
def test_a_further_success_never_lowers_an_end_nor_a_failure_raises_it(k: int, missed: int) -> None:
    # What makes it enough to take rows without a label once as all attacks, once as all harmless.
    at = [BetaMixture()(k + a, k + a + missed + b) for a, b in ((0, 0), (1, 0), (0, 1))]
    ends = np.nan_to_num(np.array(at, float).reshape(3, 2), nan=0.0)
    if k + missed:
        assert (ends[1] >= ends[0] - 1e-9).all()
        assert (ends[2] <= ends[0] + 1e-9).all()


@given(st.integers(0, 500), st.integers(1, 100))
def test_a_rate_lies_in_its_sequence(events: int, days: int) -> None:
    low, high = map(float, GammaMixture()(events, days))
    assert 0 <= low <= events / days <= high < math.inf


@given(PAIRS)
def test_a_difference_lies_in_its_sequence_and_turns_with_the_models(
    pair: tuple[int, int, int],
) -> None:
    up, down, tied = pair
    n = up + down + tied
    low, high = map(float, PairedBets()(up, down, n))
    if n:
        assert -1 <= low <= (up - down) / n <= high <= 1
        other = PairedBets()(down, up, n)
        assert (low, high) == pytest.approx((-float(other[1]), -float(other[0])), abs=1e-9)


@given(PAIRS, st.floats(-0.9, 0.9), st.floats(-0.9, 0.9))
def test_evidence_against_a_difference_is_convex(
    pair: tuple[int, int, int], one: float, other: float
) -> None:
    up, down, tied = pair
    n = up + down + tied
    with np.errstate(over="ignore"):
        ends = np.exp(paired_log_e(up, down, n, [one, other, (one + other) / 2]))
    if np.isfinite(ends).all():
        assert ends[2] <= (ends[0] + ends[1]) / 2 * (1 + 1e-9)


# -- at every look ---------------------------------------------------------------------------------


def streams(share: float, streams: int, looks: int, seed: int) -> np.ndarray:
    random = np.random.default_rng(seed)
    return np.cumsum(random.random((streams, looks)) < share, axis=1, dtype=np.int32)


def ever_wrong(evidence: np.ndarray) -> float:
    return float((evidence.max(axis=1) > LIMIT).mean())


@pytest.mark.parametrize("share", [0.5, 0.99])
def test_a_share_is_seldom_ever_wrong_and_a_peeked_interval_often(share: float) -> None:
    hits, looks = streams(share, 300, 1500, 1), np.arange(1, 1501)
    assert ever_wrong(beta_log_e(hits, looks, share)) <= 0.05
    low, high = Wilson()(hits[:, 9:], looks[9:])
    assert ((low > share) | (high < share)).any(axis=1).mean() > 0.3


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.5, 0.9, 0.99])
def test_2000_streams_of_5000_looks(share: float) -> None:
    looks = np.arange(1, 5001)
    hits = streams(share, 2000, 5000, 2)
    assert ever_wrong(beta_log_e(hits, looks, share)) <= 0.05
    low, high = Wilson()(hits, looks)
    assert 0.4 < ((low > share) | (high < share)).any(axis=1).mean() < 0.8


@pytest.mark.parametrize("share", [0.5, 0.9, 0.99])
def test_at_the_end_it_is_at_most_twice_as_wide_as_the_exact_interval(share: float) -> None:
    k = round(5000 * share)
    wide, exact = BetaMixture()(k, 5000), ClopperPearson()(k, 5000)
    assert wide[1] - wide[0] <= 2 * (exact[1] - exact[0])


def paired_streams(up: float, down: float, size: tuple[int, int], seed: int) -> tuple:
    drawn = np.random.default_rng(seed).random(size)
    gained = np.cumsum(drawn < up, axis=1, dtype=np.int32)
    return gained, np.cumsum((drawn >= up) & (drawn < up + down), axis=1, dtype=np.int32)


@pytest.mark.parametrize(
    ("up", "down", "size"),
    [
        (0.05, 0.05, (200, 1000)),
        (0.1, 0.02, (200, 1000)),
        pytest.param(0.05, 0.05, (2000, 5000), marks=pytest.mark.slow),
        pytest.param(0.1, 0.02, (2000, 5000), marks=pytest.mark.slow),
        pytest.param(0.25, 0.25, (2000, 5000), marks=pytest.mark.slow),
    ],
)
def test_a_difference_and_mcnemar_in_sequence_are_seldom_ever_wrong(
    up: float, down: float, size: tuple[int, int]
) -> None:
    gained, lost = paired_streams(up, down, size, 3)
    looks = np.arange(1, size[1] + 1)
    some = slice(None, None, max(1, size[1] // 500))
    evidence = [
        paired_log_e(gained[rows, some], lost[rows, some], looks[some], up - down).max(axis=1)
        for rows in np.array_split(np.arange(size[0]), 20)
    ]
    assert (np.concatenate(evidence) > LIMIT).mean() <= 0.05
    if up == down:
        assert ever_wrong(discordant_log_e(gained, lost)) <= 0.05
    else:
        assert (discordant_log_e(gained[:, -1], lost[:, -1]) > LIMIT).mean() > 0.9


def test_a_difference_is_at_most_twice_as_wide_as_for_one_look() -> None:
    for up, down in ((250, 250), (500, 100), (1250, 1250)):
        low, high = map(float, PairedBets()(up, down, 5000))
        spread = math.sqrt((up + down) - (up - down) ** 2 / 5000) / 5000
        assert high - low <= 2 * 2 * 1.959964 * spread


def test_false_alarms_a_day_are_seldom_ever_wrong() -> None:
    random = np.random.default_rng(4)
    for rate in (0.2, 3.0, 200.0):
        events = np.cumsum(random.poisson(rate, (400, 365)), axis=1)
        assert ever_wrong(gamma_log_e(events, np.arange(1, 366), rate)) <= 0.05


def test_ten_million_looks_take_seconds_of_a_processor() -> None:
    import time

    hits, looks = streams(0.9, 200, 5000, 5), np.arange(1, 5001)
    began = time.process_time()
    beta_log_e(hits, looks, 0.9)
    assert time.process_time() - began < 2  # a tenth of the ten million
