"""Positions that keep a promise, against the definition written down once more."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy.stats import beta, binom

from assay.decisions.threshold.constraints import Requirements
from assay.decisions.threshold.promises import (
    AlertsPromised,
    DrPromised,
    EveryRank,
    FamilyPromised,
    FarPromised,
    FprPromised,
    RankBlocks,
    _shown_rate,
    margin,
    promises_of,
    ranks,
)
from assay.inference.threshold_rules import Blocks, Hits, SweepCounts

TENTH, FIFTH, HALF = Fraction(1, 10), Fraction(1, 5), Fraction(1, 2)


def drawn(seed: int, negatives: int, positives: int, shift: float, digits: int) -> SweepCounts:
    """Counts at falling scores; few digits make ties."""
    rng = np.random.default_rng(seed)
    quiet = np.round(rng.normal(size=negatives), digits)
    attacks = np.round(rng.normal(shift, size=positives), digits)
    thresholds = np.unique(np.concatenate([quiet, attacks]))[::-1]
    tp = len(attacks) - np.searchsorted(np.sort(attacks), thresholds)
    fp = len(quiet) - np.searchsorted(np.sort(quiet), thresholds)
    return SweepCounts(tp, fp, positives, negatives)


def at_ranks(counts: SweepCounts) -> list[int]:
    """Where each of at most 2,000 ranks of the positives lies."""
    size = min(counts.positives, 2000)
    wanted = [math.ceil(x) for x in np.linspace(1, counts.positives, size)]
    return [int((counts.tp < rank).sum()) for rank in wanted]


def far_kept(limit: FarPromised, counts: SweepCounts) -> list[int]:
    """The tests of a FAR, one rank after the other."""
    base = float(limit.base_rate or Fraction(counts.positives, counts.rows))
    far, risk = float(limit.limit), 0.9 * float(limit.risk)
    odds = far / (1 - far) * base / (1 - base)
    lost = math.sqrt(math.log(10 / float(limit.risk)) / (2 * counts.positives))
    places = at_ranks(counts)
    allowed = [min(odds * (counts.tp[i] / counts.positives - lost), 1.0) for i in places]

    def start(errors: int, level: float) -> int:
        if errors >= counts.negatives:
            return len(places)
        enough = beta.ppf(1 - level, errors + 1, counts.negatives - errors)
        return next((k for k, rate in enumerate(allowed) if rate >= enough), len(places))

    starts = [start(errors, risk / 3) for errors in (0, 4, 32)]
    if starts[1] == len(places):
        starts = [start(0, risk)]
    starts = sorted({s for s in starts if s < len(places)})
    kept, handed_on = set(), 0.0
    for first, end in pairwise([*starts, len(places)]):
        level = risk / len(starts) + handed_on
        k = first
        while k < end and binom.cdf(counts.fp[places[k]], counts.negatives, allowed[k]) <= level:
            kept.add(places[k])
            k += 1
        handed_on = level if k == end else 0.0
    return sorted(kept)


@pytest.mark.parametrize(
    ("negatives", "positives", "shift", "digits", "far", "base"),
    [
        (2000, 300, 2.5, 2, FIFTH, None),
        (2000, 300, 2.5, 1, HALF, TENTH),
        (600, 120, 3.0, 2, Fraction(3, 10), Fraction(3, 10)),
        (150, 90, 3.0, 2, HALF, HALF),
        # With all of the risk four false alarms would be allowed, with a third of it none.
        (60, 60, 4.0, 2, Fraction(59, 400), HALF),
        (40, 60, 4.0, 2, HALF, Fraction(9, 10)),
        (30, 60, 4.0, 1, HALF, Fraction(9, 10)),
        (900, 2100, 2.0, 1, TENTH, None),
        (5, 40, 9.0, 2, Fraction(9, 10), Fraction(9, 10)),
        (500, 20, 0.0, 1, TENTH, None),
        (4, 30, 3.0, 1, Fraction(9, 10), Fraction(99, 100)),
    ],
)
def test_a_far_is_promised_at_ranks_up_to_the_first_failure_of_each_part(
    negatives: int, positives: int, shift: float, digits: int, far: Fraction, base: Fraction | None
) -> None:
    for seed in range(3):
        counts = drawn(seed, negatives, positives, shift, digits)
        limit = FarPromised(far, base, TENTH)
        assert limit.kept(counts).positions.tolist() == far_kept(limit, counts), seed


def test_a_part_that_was_passed_hands_its_risk_on() -> None:
    """Few attacks above all negatives, with wrong labels at the top."""
    positions = set()
    for seed in range(6):
        counts = drawn(seed, 900, 250, 3.2, 1)
        noise = np.minimum(counts.fp + seed, 900)
        noisy = SweepCounts(counts.tp, noise, 250, 900)
        limit = FarPromised(Fraction(3, 10), FIFTH, FIFTH)
        expected = far_kept(limit, noisy)
        assert limit.kept(noisy).positions.tolist() == expected
        positions.add(len(expected))
    assert len(positions) > 3


@pytest.mark.parametrize(("negatives", "positives"), [(2000, 300), (400, 150), (120, 90)])
def test_false_alarms_at_the_top_are_allowed_where_a_part_starts(
    negatives: int, positives: int
) -> None:
    limit = FarPromised(Fraction(1, 4), Fraction(1, 7), TENTH)
    positions = set()
    for false in range(0, 44, 2):
        fp = np.full(positives + 1, false)
        fp[-1] = negatives
        tp = np.append(np.arange(1, positives + 1), positives)
        counts = SweepCounts(tp, fp, positives, negatives)
        expected = far_kept(limit, counts)
        assert limit.kept(counts).positions.tolist() == expected, false
        positions.add(expected[0] if expected else None)
    assert len(positions) > 1


def alerts_kept(limit: AlertsPromised, counts: SweepCounts) -> int:
    share, base = float(limit.limit), float(limit.base_rate or 0)
    lost = math.sqrt(math.log(10 / float(limit.risk)) / (2 * counts.positives))
    last = -1
    for place in at_ranks(counts):
        most = min(counts.tp[place] / counts.positives + lost, 1.0)
        left = (share - base * most) / (1 - base)
        shown = binom.cdf(counts.fp[place], counts.negatives, left) if 0 < left < 1 else left <= 0
        if shown > 0.9 * float(limit.risk):
            break
        last = place
    return last


@pytest.mark.parametrize(
    ("share", "base"), [(FIFTH, TENTH), (HALF, FIFTH), (Fraction(3, 10), Fraction(1, 50))]
)
def test_a_budget_at_a_base_rate_is_promised_up_to_the_first_failure(
    share: Fraction, base: Fraction
) -> None:
    for seed in range(3):
        counts = drawn(seed, 400, 300, 1.5, 1)
        limit = AlertsPromised(share, base, TENTH)
        assert limit.last(counts) == alerts_kept(limit, counts)


def test_a_budget_of_all_rows_is_kept_everywhere() -> None:
    counts = drawn(1, 20, 20, 1.0, 1)
    last = len(counts.tp) - 1
    for base in (None, HALF):
        assert AlertsPromised(Fraction(1), base, TENTH).last(counts) == last
        assert AlertsPromised(Fraction(99, 100), base, TENTH).last(counts) < last


def test_a_budget_that_nothing_shows_is_kept_nowhere() -> None:
    few = drawn(2, 10, 10, 0.0, 1)
    assert AlertsPromised(Fraction(1, 100), None, TENTH).last(few) == -1
    assert AlertsPromised(Fraction(1, 100), TENTH, TENTH).last(few) == -1
    assert FprPromised(Fraction(1, 100), TENTH).last(few) == -1
    # One position too many: nothing is kept.
    assert DrPromised(Fraction(99, 100), TENTH).first(few) == len(few.tp)
    assert DrPromised(Fraction(99, 100), TENTH).kept(few).empty


def test_rates_are_promised_by_the_largest_count_that_shows_them() -> None:
    counts = SweepCounts(np.arange(1, 101), np.arange(1, 101), 100, 100)
    # The most of 100 that come with a chance of at most a tenth where the rate is a fifth.
    most = int(np.flatnonzero(binom.cdf(np.arange(101), 100, 0.2) <= 0.1)[-1])
    assert counts.fp[FprPromised(FIFTH, TENTH).last(counts)] == most
    assert counts.tp[DrPromised(Fraction(4, 5), TENTH).first(counts)] == 100 - most
    of_kind = SweepCounts(
        counts.tp, counts.fp, 100, 100, {"dos": Hits(np.arange(1, 101) // 2, 50)}.__getitem__
    )
    fewer = int(np.flatnonzero(binom.cdf(np.arange(51), 50, 0.2) <= 0.1)[-1])
    first = FamilyPromised(Fraction(4, 5), TENTH, "dos").first(of_kind)
    assert (np.arange(1, 101) // 2)[first] == 50 - fewer


def test_what_is_allowed_follows_from_the_detection_that_is_shown() -> None:
    counts = SweepCounts(np.array([50, 100]), np.array([1, 9]), 100, 300)
    lost = math.sqrt(math.log(100) / 200)
    assert margin(100, TENTH) == pytest.approx(lost)
    limit = FarPromised(FIFTH, TENTH, TENTH)
    assert limit.odds(counts) == Fraction(1, 4) * Fraction(1, 9)
    assert limit.allowed_fpr(counts, counts.tp) == pytest.approx(
        [(0.5 - lost) / 36, (1 - lost) / 36]
    )
    assert FarPromised(FIFTH, None, TENTH).odds(counts) == Fraction(1, 4) * Fraction(1, 3)
    assert FarPromised(Fraction(99, 100), HALF, TENTH).allowed_fpr(counts, counts.tp)[1] == 1.0
    budget = AlertsPromised(FIFTH, TENTH, TENTH)
    left = budget.left_for_negatives(counts, counts.tp, TENTH)
    assert left == pytest.approx([(0.2 - 0.1 * (0.5 + lost)) / 0.9, (0.2 - 0.1) / 0.9])


def test_all_that_is_asked_is_promised_with_a_share_of_the_risk() -> None:
    wanted = Requirements(
        max_far=FIFTH, max_fpr=TENTH, min_dr=HALF, max_alerts=Fraction(3), volume=Fraction(30),
        base_rate=Fraction(1, 50), families={"dos": FIFTH},
    )  # fmt: skip
    risk, base = Fraction(1, 50), Fraction(1, 50)
    assert promises_of(wanted) == (
        FarPromised(FIFTH, base, risk),
        FprPromised(TENTH, risk),
        AlertsPromised(TENTH, base, risk),
        DrPromised(HALF, risk),
        FamilyPromised(FIFTH, risk, "dos"),
    )
    assert promises_of(Requirements()) == ()


# -- in blocks -------------------------------------------------------------------------------------


def blocks_of(counts: SweepCounts, size: int) -> Blocks:
    """Every so many thresholds as one block."""
    ends = np.unique(np.append(np.arange(size - 1, len(counts.tp), size), len(counts.tp) - 1))
    tp, fp = counts.tp[ends], counts.fp[ends]
    before = np.append(0, tp[:-1]), np.append(0, fp[:-1])
    sizes = counts.positives, counts.negatives
    return Blocks(SweepCounts(tp, fp, *sizes), SweepCounts(*before, *sizes))


def test_a_rank_lies_in_the_first_block_that_reaches_it() -> None:
    counts = SweepCounts(np.array([2, 2, 5, 6]), np.array([0, 3, 4, 9]), 6, 9)
    low = SweepCounts(np.array([0, 2, 2, 5]), np.array([0, 0, 3, 4]), 6, 9)
    ranked = RankBlocks.of(Blocks(counts, low))
    assert ranked.block.tolist() == [0, 0, 2, 2, 2, 3]
    assert ranked.least_tp.tolist() == [1, 2, 3, 4, 5, 6]
    assert ranked.most_tp.tolist() == [2, 2, 5, 5, 5, 6]
    assert ranked.least_fp.tolist() == [0, 0, 3, 3, 3, 4]
    assert ranked.most_fp.tolist() == [0, 0, 4, 4, 4, 9]
    assert [ranked.is_unclear(i) for i in range(6)] == [True, False, True, True, True, True]
    assert ranks(counts).tolist() == [0, 2, 3]
    assert EveryRank().position(counts) == 3
    assert EveryRank().undecided(Blocks(counts, low)).tolist() == [True, False, True, True]
    assert not EveryRank().undecided(Blocks(counts, counts)).any()


def test_two_thousand_ranks_are_spread_over_more_positives() -> None:
    counts = SweepCounts(np.arange(1, 4001), np.zeros(4000, int), 4000, 5)
    places = ranks(counts)
    assert (len(places), places[0], places[-1]) == (2000, 0, 3999)
    assert places[1] == math.ceil(1 + 3999 / 1999) - 1


@pytest.mark.parametrize("size", [1, 3, 20])
@pytest.mark.parametrize(
    "limit",
    [
        FarPromised(FIFTH, None, TENTH),
        FarPromised(Fraction(2, 5), TENTH, FIFTH),
        AlertsPromised(HALF, FIFTH, TENTH),
        AlertsPromised(FIFTH, None, TENTH),
        AlertsPromised(Fraction(1), FIFTH, TENTH),
    ],
)
def test_blocks_that_are_decided_keep_what_their_thresholds_keep(limit: Any, size: int) -> None:
    counts = drawn(5, 800, 200, 3.0, 2)
    blocks = blocks_of(counts, size) if size > 1 else Blocks(counts, counts)
    look = limit.look(blocks)
    if size == 1:
        assert not look.undecided.any()
        assert look.kept.positions.tolist() == limit.kept(counts).positions.tolist()
        assert set(look.kept.positions) <= set(np.flatnonzero(look.possible))
    if look.undecided.any():
        # Only blocks inside of which counts change are worth a look.
        assert (blocks.drawn | ~look.undecided).all()
    else:
        kept = limit.kept(blocks.high)
        assert (look.kept.lowest, look.kept.first) == (kept.lowest, kept.first)


def test_a_budget_in_blocks_ends_in_the_block_of_its_last_rank() -> None:
    limit = AlertsPromised(HALF, FIFTH, TENTH)
    counts = drawn(5, 800, 200, 3.0, 2)
    last = limit.last(counts)
    single = limit.look(Blocks(counts, counts))
    assert (single.kept.first, single.kept.last) == (0, last)
    assert np.flatnonzero(single.possible).tolist() == list(range(last + 1))
    assert not single.undecided.any()
    never = AlertsPromised(Fraction(1, 100), FIFTH, TENTH).look(Blocks(counts, counts))
    assert never.kept.empty
    assert not never.possible.any()
    assert not never.undecided.any()


def test_a_budget_in_blocks_is_decided_but_for_the_block_of_its_end() -> None:
    limit = AlertsPromised(HALF, FIFTH, TENTH)
    blocks = blocks_of(drawn(5, 800, 200, 3.0, 2), 1)
    look = limit.look(blocks)
    assert np.flatnonzero(look.undecided).tolist() == [look.kept.last]
    wide = limit.look(blocks_of(drawn(5, 800, 200, 3.0, 2), 60))
    assert wide.undecided.any()
    assert wide.kept.empty
    assert not wide.possible.any()


def test_blocks_in_which_a_part_may_start_are_looked_into_first() -> None:
    limit = FarPromised(Fraction(2, 5), TENTH, FIFTH)
    blocks = blocks_of(drawn(5, 800, 200, 3.0, 2), 40)
    ranked, risk = RankBlocks.of(blocks), 0.9 * 0.2
    least, most = (limit.allowed_fpr(blocks.high, tp) for tp in (ranked.least_tp, ranked.most_tp))
    unclear = set()
    for errors in (0, 4, 32):
        enough = beta.ppf(1 - risk / 3, errors + 1, 800 - errors)
        early, late = int((most < enough).sum()), int((least < enough).sum())
        unclear |= set(ranked.block[early:late].tolist())
    assert unclear
    assert set(np.flatnonzero(limit.look(blocks).undecided).tolist()) == unclear


def test_a_far_in_blocks_is_open_where_a_rank_may_pass_or_fail() -> None:
    limit = FarPromised(Fraction(2, 5), TENTH, FIFTH)
    counts = drawn(5, 800, 200, 3.0, 2)
    exact = limit.look(Blocks(counts, counts))
    assert exact.kept.positions.tolist() == np.flatnonzero(exact.possible).tolist()
    assert exact.kept.positions.tolist() == far_kept(limit, counts)
    wide = limit.look(blocks_of(counts, 40))
    assert wide.undecided.any()
    assert not wide.possible.any()
    assert wide.kept.empty


@pytest.mark.parametrize("negatives", [1, 2, 3, 4, 12, 500])
@pytest.mark.parametrize("errors", [(0,), (1,), (0, 1, 3), (2, 3, 11, 12)])
@pytest.mark.parametrize("risk", [0.05, 0.3])
def test_so_few_errors_just_show_a_rate(
    negatives: int, errors: tuple[int, ...], risk: float
) -> None:
    rates = _shown_rate(negatives, errors, risk)
    assert len(rates) == len(errors)
    for error, rate in zip(errors, rates, strict=True):
        if error >= negatives:
            assert rate == math.inf
        else:
            assert binom.cdf(error, negatives, rate) == pytest.approx(risk, rel=1e-9)
