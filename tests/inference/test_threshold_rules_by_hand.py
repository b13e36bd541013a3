"""Rules, sweeps in blocks and their sums, on counts that can be read at a glance."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from assay.errors import MethodError
from assay.inference import threshold_rules
from assay.inference.threshold_rules import (
    CELLS,
    FAN,
    LARGEST,
    NOTHING,
    AtThreshold,
    Blocks,
    MaxFar,
    MaxFpr,
    NarrowedSweep,
    Operating,
    Pyramid,
    SweepCounts,
    at_most,
    best_operating,
    no_kinds,
    parse_rule,
)
from assay.counts import ScoreCounts

LABELS = ("normal", "dos", "scan")


def counts(tp: list[int], fp: list[int], *sizes: int) -> SweepCounts:
    positives, negatives = sizes or (tp[-1], fp[-1])
    return SweepCounts(np.array(tp), np.array(fp), positives, negatives)


def blocks(tp: list[int], fp: list[int], low_tp: list[int], low_fp: list[int]) -> Blocks:
    sizes = tp[-1], fp[-1]
    return Blocks(counts(tp, fp, *sizes), counts(low_tp, low_fp, *sizes))


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


def test_the_last_threshold_that_keeps_the_rate_is_chosen() -> None:
    sweep = counts([1, 2, 2, 9, 9, 10], [0, 0, 1, 1, 3, 10])
    assert MaxFpr(0.1).position(sweep) == 3
    assert MaxFpr(0.05).position(sweep) == 1
    # 1 of 10 alerts is false at 3; 1 of 3 at 2.
    assert MaxFar(0.1).position(sweep) == 3
    assert MaxFar(0.09).position(sweep) == 1
    assert MaxFar(0.5).position(sweep) == 5
    assert MaxFar(0.25).position(sweep) == 4
    assert sweep.rows == 20


def test_a_base_rate_weighs_both_sides() -> None:
    # 5 of 10 attacks and 1 of 40 others: 0.2 * 0.5 against 0.8 / 40.
    sweep = counts([5, 10], [1, 40])
    far = Fraction(1, 50) / (Fraction(1, 50) + Fraction(1, 10))
    assert far == Fraction(1, 6)
    assert MaxFar(0.1667, 0.2).position(sweep) == 0
    assert MaxFar(0.1666, 0.2).position(sweep) == NOTHING
    assert MaxFar(0.8, 0.2).position(sweep) == 1
    assert MaxFar(0.7999, 0.2).position(sweep) == 0


def test_nothing_is_no_alert() -> None:
    assert MaxFar(0.5).position(counts([0, 0], [0, 0], 3, 3)) == NOTHING
    assert MaxFar(0.5).position(counts([0, 1, 1], [0, 0, 2])) == 1
    assert MaxFar(0.5).position(counts([0, 0, 2], [0, 0, 3])) == NOTHING


# -- blocks ----------------------------------------------------------------------------------------


def test_false_positives_pass_their_limit_in_one_block() -> None:
    # 10% of 30 are 3: the block that goes from 3 to 4 may hold the last threshold with 3.
    sweep = blocks([1, 2, 3, 4], [2, 3, 4, 30], [0, 1, 2, 3], [0, 2, 3, 4])
    assert MaxFpr(0.1).undecided(sweep).tolist() == [False, False, True, False]
    assert MaxFpr(0.12).undecided(sweep).tolist() == [False, False, True, False]
    assert MaxFpr(0.14).undecided(sweep).tolist() == [False, False, False, True]
    assert MaxFpr(0.01).undecided(sweep).tolist() == [True, False, False, False]
    single = blocks([1, 2], [3, 30], [1, 2], [3, 30])
    assert MaxFpr(0.1).undecided(single).tolist() == [False, False]


def test_blocks_that_may_keep_a_false_alarm_rate_after_the_last_end_are_undecided() -> None:
    # Ends: 1 of 10, 3 of 13, 9 of 20 alerts are false; the first keeps 0.1.
    sweep = blocks([9, 10, 11, 12], [1, 3, 9, 9], [0, 9, 10, 12], [0, 1, 3, 9])
    assert MaxFar(0.1).undecided(sweep).tolist() == [False, True, False, False]
    # In the third block there may be 3 of 14; the last is of one threshold.
    assert MaxFar(0.22).undecided(sweep).tolist() == [False, True, True, False]
    assert MaxFar(0.05).undecided(sweep).tolist() == [True, False, False, False]
    assert MaxFar(0.45).undecided(sweep).tolist() == [False, False, False, False]


def test_an_undefined_rate_leaves_nothing_undecided() -> None:
    no_attacks = blocks([0, 0], [3, 9], [0, 0], [0, 3])
    no_others = blocks([3, 9], [0, 0], [0, 3], [0, 0])
    for sweep in (no_attacks, no_others):
        assert MaxFar(0.5, 0.5).undecided(sweep).tolist() == [False, False]
    assert MaxFar(0.5).undecided(no_attacks).tolist() == [True, False]


def test_counts_change_inside_of_some_blocks() -> None:
    #             first  both   tp only  fp only  nothing
    sweep = blocks([0, 2, 4, 6, 6, 6], [0, 1, 2, 2, 5, 5], [0, 0, 2, 4, 6, 6], [0, 0, 1, 2, 2, 5])
    assert sweep.drawn.tolist() == [False, True, True, True, True, False]
    assert sweep.mixed.tolist() == [False, True, True, False, False, False]
    # The first in which any changes counts as mixed, though one of them stays 0.
    only_tp = blocks([3, 5], [0, 1], [0, 3], [0, 0])
    assert only_tp.mixed.tolist() == [True, True]
    only_fp = blocks([0, 0], [3, 5], [0, 0], [0, 3])
    assert only_fp.mixed.tolist() == [True, False]
    later = blocks([3, 5], [0, 0], [0, 3], [0, 0])
    assert later.mixed.tolist() == [True, False]
    assert sweep.none.tolist() == [False] * 6
    assert sweep.order.tolist() == [0, 1, 2, 3, 4, 5]


def test_counts_without_kinds_know_none() -> None:
    with pytest.raises(KeyError, match="dos"):
        counts([1], [1]).kind("dos")
    with pytest.raises(KeyError):
        no_kinds("dos")


def test_sweeps_may_be_keys() -> None:
    tally = ScoreCounts.of_rows(LABELS, np.arange(3.0), np.array([0, 1, 2]))
    pyramid = Pyramid.of(tally)
    sweep = NarrowedSweep.of_data(pyramid)
    assert len({sweep.blocks.high, sweep.blocks, pyramid, sweep}) == 4
    assert sweep != NarrowedSweep.of_data(pyramid)
    assert sweep.blocks != Blocks(sweep.blocks.high, sweep.blocks.low)
    assert pyramid != Pyramid.of(tally)
    assert sweep.blocks.high != SweepCounts(*(sweep.blocks.high.tp,) * 2, 1, 1)


# -- the best of all thresholds --------------------------------------------------------------------


@pytest.mark.parametrize("limit", [0.05, 0.2, 0.25, 0.4, 0.5, 0.6])
def test_the_best_threshold_by_trying_all(limit: float) -> None:
    scores = np.array([9.0, 8, 7, 7, 6, 5, 4, 4, 3, 2, 1, 1])
    truth = np.array([1, 1, 1, 0, 1, 0, 1, 0, 0, 0, 0, 0], bool)
    tried = []
    for threshold in scores.tolist():
        flagged = scores >= threshold
        far = Fraction(int((flagged & ~truth).sum()), int(flagged.sum()))
        if far <= Fraction(str(limit)):
            tried.append((float((flagged & truth).sum() / 5), -far, threshold))
    rate, far, threshold = max(tried)
    assert best_operating(scores, truth, limit) == Operating(threshold, rate, float(-far))


def test_no_threshold_may_keep_a_false_alarm_rate() -> None:
    assert best_operating(np.array([2.0, 1.0]), np.array([False, True]), 0.4) is None
    assert best_operating(np.array([2.0, 1.0]), np.array([False, True]), 0.5) == Operating(
        1.0, 1.0, 0.5
    )


# -- sums over blocks ------------------------------------------------------------------------------


def tally_of(size: int) -> ScoreCounts:
    table = np.stack([np.arange(size) % 5, np.arange(size) % 3, np.arange(size) % 2 + 1])
    return ScoreCounts(LABELS, np.arange(float(size)), table)


def test_a_sweep_starts_with_4096_cells_at_most() -> None:
    size = 4096 // 3
    assert (FAN, CELLS) == (16, 4096)
    assert [level.shape for level in Pyramid.of(tally_of(size)).levels] == [(3, size)]
    levels = Pyramid.of(tally_of(size + 1)).levels
    assert [level.shape for level in levels] == [(3, size + 1), (3, 86)]


@pytest.mark.parametrize(
    ("size", "cells", "shapes"),
    [
        (16, 48, [16]),
        (16, 47, [16, 1]),
        (17, 47, [17, 2]),
        (32, 5, [32, 2, 1]),
        (257, 9, [257, 17, 2]),
        (1, 1, [1]),
        (2, 1, [2, 1]),
    ],
)
def test_blocks_are_added_until_cells_are_few(size: int, cells: int, shapes: list[int]) -> None:
    pyramid = Pyramid.of(tally_of(size), cells)
    assert [level.shape[1] for level in pyramid.levels] == shapes
    falling = tally_of(size).counts[:, ::-1]
    for depth, level in enumerate(pyramid.levels):
        width = 16**depth
        sums = [falling[:, i : i + width].sum(axis=1) for i in range(0, size, width)]
        assert level.tolist() == np.array(sums).T.tolist()
    assert pyramid.totals == tuple(falling.sum(axis=1).tolist())
    assert pyramid.rows == falling.sum()
    assert pyramid.size == size


@pytest.mark.parametrize("at_once", [1, 2, 3])
def test_blocks_are_added_in_parts(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = Pyramid.of(tally_of(150), 9)
    monkeypatch.setattr(threshold_rules, "_AT_ONCE", at_once)
    pyramid = Pyramid.of(tally_of(150), 9)
    assert [level.tolist() for level in pyramid.levels] == [
        level.tolist() for level in expected.levels
    ]


def test_sums_of_small_counts_do_not_overflow() -> None:
    table = np.full((2, 32), 255, np.uint8)
    pyramid = Pyramid.of(ScoreCounts(LABELS[:2], np.arange(32.0), table), 4)
    assert pyramid.levels[1].tolist() == [[255 * 16] * 2] * 2
    assert pyramid.totals == (255 * 32, 255 * 32)


def test_as_many_rows_as_floats_count_are_too_many() -> None:
    assert LARGEST == 2**53

    def of(rows: int) -> ScoreCounts:
        return ScoreCounts(LABELS[:2], np.zeros(1), np.array([[1], [rows - 1]], np.uint64))

    assert Pyramid.of(of(2**53 - 1)).rows == 2**53 - 1
    with pytest.raises(MethodError, match="9,007,199,254,740,992 rows are too many"):
        Pyramid.of(of(2**53))


def test_parts_of_blocks_are_those_that_exist() -> None:
    pyramid = Pyramid.of(tally_of(20), 6)
    held, exist = pyramid.children(1, np.array([0, 1]))
    falling = tally_of(20).counts[:, ::-1]
    assert exist.tolist() == [[True] * 16, [True] * 4 + [False] * 12]
    assert held[:, 0].tolist() == falling[:, :16].tolist()
    assert held[:, 1].tolist() == np.pad(falling[:, 16:], ((0, 0), (0, 12))).tolist()


def test_positions_and_their_scores() -> None:
    pyramid = Pyramid.of(tally_of(20), 6)
    assert pyramid.thresholds([0, 1, 19]).tolist() == [19, 18, 0]
    assert pyramid.positions([19.5, 19.0, 18.5, 0.0, -1.0]).tolist() == [-1, 0, 0, 19, 19]
    falling = np.cumsum(tally_of(20).counts[:, ::-1], axis=1)
    at = [-1, 0, 7, 15, 16, 19]
    expected = [[0] * 3 if i < 0 else falling[:, i].tolist() for i in at]
    assert pyramid.sums(at).T.tolist() == expected
    deep = Pyramid.of(tally_of(300), 9)
    falling = np.cumsum(tally_of(300).counts[:, ::-1], axis=1)
    at = [0, 15, 16, 254, 255, 256, 271, 299]
    assert deep.sums(at).tolist() == falling[:, at].tolist()


def test_a_sweep_of_data_is_cut_where_it_is_asked() -> None:
    sweep = NarrowedSweep.of_data(Pyramid.of(tally_of(300), 9))
    assert sweep.level.tolist() == [2, 2]
    assert sweep.ends.tolist() == [255, 299]
    finer = sweep.cut(np.array([False, True]))
    assert finer.level.tolist() == [2, 1, 1, 1]
    assert finer.index.tolist() == [0, 16, 17, 18]
    assert finer.ends.tolist() == [255, 271, 287, 299]
    finest = finer.cut(np.array([False, False, True, True]))
    assert finest.level.tolist() == [2, 1] + [0] * 28
    assert finest.ends.tolist() == [255, *range(271, 300)]
    falling = np.cumsum(tally_of(300).counts[:, ::-1], axis=1)
    assert finest.sums.tolist() == falling[:, finest.ends].tolist()
    assert finest.index.tolist() == [0, 16, *range(272, 300)]


def test_no_row_is_drawn_where_there_is_none() -> None:
    """Blocks of one label alone, and with a single row of it."""
    table = np.zeros((2, 64), np.int64)
    table[0, [3, 40]] = 1
    table[1, [20, 50]] = [1, 30]
    pyramid = Pyramid.of(ScoreCounts(LABELS[:2], np.arange(64.0), table), 2)
    often = []
    for seed in range(30):
        sweep = NarrowedSweep.redrawn(pyramid, np.random.default_rng(seed))
        while (sweep.level > 0).any():
            sweep = sweep.cut(sweep.level > 0)
        assert sweep.amounts.sum() == 33
        assert (sweep.amounts[table[:, ::-1] == 0] == 0).all()
        often.append(sweep.amounts[table[:, ::-1] > 0].tolist())
    # Each place is drawn from time to time, the last one most of the time.
    assert (np.array(often).sum(axis=0) > 0).all()
    assert np.mean(often, axis=0).max() == pytest.approx(30, abs=1)


def test_what_rules_see_of_a_block_is_its_start_and_its_end() -> None:
    sweep = NarrowedSweep.of_data(Pyramid.of(tally_of(20), 6)).cut(np.array([False, True]))
    falling = np.cumsum(tally_of(20).counts[:, ::-1], axis=1)
    high, low = sweep.blocks.high, sweep.blocks.low
    ends = [15, 16, 17, 18, 19]
    assert high.fp.tolist() == falling[0, ends].tolist()
    assert high.tp.tolist() == falling[1:, ends].sum(axis=0).tolist()
    # A single threshold has its own counts in both; the block of 16 starts with nothing.
    assert low.fp.tolist() == [0, *falling[0, ends[1:]].tolist()]
    assert low.tp.tolist() == [0, *falling[1:, ends[1:]].sum(axis=0).tolist()]
    assert (high.positives, high.negatives) == (falling[1:, -1].sum(), falling[0, -1])
    assert (low.positives, low.negatives) == (high.positives, high.negatives)
    for at, name in ((1, "dos"), (2, "scan")):
        assert high.kind(name).flagged.tolist() == falling[at, ends].tolist()
        assert high.kind(name).size == falling[at, -1]
    with pytest.raises(ValueError, match="not in"):
        high.kind("normal")


def test_a_sweep_of_one_kind_of_positives() -> None:
    tally = ScoreCounts(LABELS[:2], np.arange(4.0), np.array([[1, 2, 3, 4], [4, 3, 2, 1]]))
    counts = NarrowedSweep.of_data(Pyramid.of(tally)).blocks.high
    assert (counts.tp.tolist(), counts.fp.tolist()) == ([1, 3, 6, 10], [4, 7, 9, 10])
    assert (counts.positives, counts.negatives, counts.rows) == (10, 10, 20)
    assert counts.kind("dos").flagged.tolist() == [1, 3, 6, 10]
