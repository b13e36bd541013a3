"""Which blocks of a sweep a rule has to look into, worked out by hand on a few of them."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from assay.decisions.threshold.constraints import (
    HIGHEST_DR,
    LOWEST_COST,
    LOWEST_FAR,
    NO_OBJECTIVE,
    AlertsAtMost,
    DrAtLeast,
    FamilyAtLeast,
    FarAtMost,
    FprAtMost,
    KeptPositions,
    Look,
    Requirements,
    from_,
    limits_of,
    requirements,
    up_to,
)
from assay.decisions.threshold.objectives import (
    BestF1,
    BestMcc,
    EqualError,
    HighestDetection,
    HighestThreshold,
    LowestCost,
    LowestFar,
    LowestThreshold,
    Objective,
    ThresholdRule,
    Youden,
    candidates_of,
    empirical_rule,
    first_best,
    guaranteed_rule,
)
from assay.errors import InputError, MethodError
from assay.inference.threshold_rules import NOTHING, Blocks, Hits, SweepCounts

HALF, QUARTER, TENTH = Fraction(1, 2), Fraction(1, 4), Fraction(1, 10)


def counts_of(tp: list[int], fp: list[int], **kinds: tuple[list[int], int]) -> SweepCounts:
    held = {name: Hits(np.array(hits), size) for name, (hits, size) in kinds.items()}
    return SweepCounts(np.array(tp), np.array(fp), tp[-1], fp[-1], held.__getitem__)


def blocks_of(tp: list[int], fp: list[int]) -> Blocks:
    """Blocks of several thresholds each, from the counts at their ends."""
    high = counts_of(tp, fp)
    low = np.array([0, *tp[:-1]]), np.array([0, *fp[:-1]])
    return Blocks(high, SweepCounts(*low, tp[-1], fp[-1]))


def marked(mask: Any) -> list[int]:
    """The blocks of a mask by their numbers."""
    return np.flatnonzero(mask).tolist()


# Four blocks: in the third only false positives are added.
BLOCKS = blocks_of([2, 4, 4, 6], [0, 1, 3, 4])
ALL = np.ones(4, bool)
EVERY, NONE = KeptPositions(0, 3), KeptPositions(0, -1)


def kept(first: int, last: int, *among: int) -> KeptPositions:
    return KeptPositions(first, last, np.array(among) if among else None)


# -- thresholds that are kept ----------------------------------------------------------------------


def test_positions_that_are_kept_are_a_range_or_some_of_it() -> None:
    range_, some = kept(2, 5), kept(2, 5, 0, 2, 3, 5, 7)
    assert (range_.positions.tolist(), some.positions.tolist()) == ([2, 3, 4, 5], [2, 3, 5])
    column = np.arange(10, 20)
    assert (range_.of(column).tolist(), some.of(column).tolist()) == (
        [12, 13, 14, 15], [12, 13, 15],
    )  # fmt: skip
    assert (range_.place(1), some.place(2)) == (3, 5)
    assert (range_.lowest, some.lowest, kept(2, 4, 0, 2, 3, 5).lowest) == (5, 5, 3)


def test_nothing_is_kept_where_ends_cross_or_no_position_lies_between() -> None:
    assert not kept(3, 3).empty
    assert kept(4, 3).empty
    assert not kept(3, 3, 1, 3).empty
    assert kept(3, 3, 1, 4).empty
    assert kept(2, 1, 1, 2).empty


def test_two_constraints_keep_what_both_keep() -> None:
    both = kept(1, 6) & kept(3, 9)
    assert (both.first, both.last, both.among) == (3, 6, None)
    for one, other in ((kept(0, 9, 1, 4, 8), kept(2, 9)), (kept(2, 9), kept(0, 9, 1, 4, 8))):
        assert (one & other).positions.tolist() == [4, 8]
    assert (kept(0, 9, 1, 4, 8) & kept(0, 9, 4, 5, 8)).positions.tolist() == [4, 8]


def test_the_last_with_at_most_and_the_first_with_at_least_so_many() -> None:
    sums = np.array([1, 2, 2, 5])
    assert [up_to(sums, most) for most in (0, 1, 2, 4, 5)] == [-1, 0, 2, 2, 3]
    assert [from_(sums, least) for least in (0, 1, 2, 3, 5, 6)] == [0, 0, 1, 3, 3, 4]


def looked(look: Look) -> tuple[list[int], list[int], list[int]]:
    return look.kept.positions.tolist(), marked(look.possible), marked(look.undecided)


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        # At most 2 of 4 negatives: two ends keep it, and it ends inside of the third block.
        (FprAtMost(HALF), ([0, 1], [0, 1, 2], [2])),
        (FprAtMost(QUARTER), ([0, 1], [0, 1, 2], [2])),
        (FprAtMost(Fraction(3, 4)), ([0, 1, 2], [0, 1, 2, 3], [3])),
        (FprAtMost(TENTH), ([0], [0, 1], [1])),
        # At least 3 of 6 positives: the second end is the first that keeps it.
        (DrAtLeast(HALF), ([1, 2, 3], [1, 2, 3], [1])),
        (DrAtLeast(Fraction(1, 3)), ([0, 1, 2, 3], [0, 1, 2, 3], [0])),
        (DrAtLeast(Fraction(2, 5)), ([1, 2, 3], [1, 2, 3], [1])),
        (DrAtLeast(Fraction(9, 10)), ([3], [3], [3])),
        # At most 5 of 10 rows.
        (AlertsAtMost(HALF, None), ([0, 1], [0, 1, 2], [2])),
        (AlertsAtMost(Fraction(2, 5), None), ([0], [0, 1], [1])),
        # Half positives: TP/12 + FP/8 are 4/24, 11/24, 17/24 and 1.
        (AlertsAtMost(Fraction(11, 24), HALF), ([0, 1], [0, 1, 2], [2])),
        (AlertsAtMost(Fraction(10, 24), HALF), ([0], [0, 1], [1])),
        # FP of FP + TP are 0, 1/5, 3/7 and 2/5; inside, 0, 0, 1/5 and 1/3 at best.
        (FarAtMost(Fraction(1, 5), None), ([0, 1], [0, 1, 2], [])),
        (FarAtMost(Fraction(2, 5), None), ([0, 1, 3], [0, 1, 2, 3], [])),
        (FarAtMost(TENTH, None), ([0], [0, 1], [])),
        # One positive of ten: 9 FP/4 to 9 FP/4 + TP/6, so 0, 27/35, ... and 0 inside at best.
        (FarAtMost(Fraction(27, 35), TENTH), ([0, 1], [0, 1, 2], [])),
        (FarAtMost(Fraction(76, 100), TENTH), ([0], [0, 1], [])),
    ],
)
def test_a_limit_is_kept_at_some_ends_and_may_be_kept_inside_of_some_blocks(
    limit: Any, expected: tuple[list[int], list[int], list[int]]
) -> None:
    assert looked(limit.look(BLOCKS)) == expected
    assert limit.kept(BLOCKS.high).positions.tolist() == expected[0]


def test_a_threshold_that_flags_nothing_keeps_no_false_alarm_rate() -> None:
    counts = counts_of([0, 0, 1, 2], [0, 1, 1, 4])
    assert FarAtMost(HALF, None).kept(counts).positions.tolist() == [2]
    assert FarAtMost(HALF, None).kept(counts_of([1, 2], [0, 2])).positions.tolist() == [0, 1]
    assert FarAtMost(Fraction(99, 100), None).kept(counts).positions.tolist() == [2, 3]


def test_a_family_has_its_own_detection_rate_and_an_undrawn_one_none() -> None:
    counts = counts_of([1, 2, 4], [0, 1, 2], dos=([0, 1, 2], 2), scan=([0, 0, 0], 0))
    assert FamilyAtLeast(HALF, "dos").kept(counts).positions.tolist() == [1, 2]
    assert FamilyAtLeast(Fraction(3, 4), "dos").kept(counts).positions.tolist() == [2]
    assert FamilyAtLeast(TENTH, "scan").kept(counts).empty


# -- objectives ------------------------------------------------------------------------------------

COST = LowestCost(Fraction(2), Fraction(1), None)


@pytest.mark.parametrize(
    ("objective", "held", "blocks"),
    [
        # As many are detected at the second end as at the third.
        (HighestDetection(), kept(0, 2), [1, 3]),
        (HighestDetection(), kept(0, 1), [1, 2, 3]),
        (HighestDetection(), EVERY, [3]),
        (HighestDetection(), NONE, [0, 1, 2, 3]),
        (LowestThreshold(), kept(0, 2), [3]),
        (LowestThreshold(), kept(0, 3, 0, 2), [2, 3]),
        (LowestThreshold(), EVERY, []),
        (LowestThreshold(), NONE, [0, 1, 2, 3]),
        (LowestThreshold(), kept(1, 1, 0, 2), [0, 1, 2, 3]),
        (HighestThreshold(), kept(1, 3), [0, 1]),
        (HighestThreshold(), kept(0, 3, 2, 3), [0, 1, 2]),
        (HighestThreshold(), NONE, [0, 1, 2, 3]),
        # FP/TP of the ends are 0, 1/4, 3/4 and 2/3; inside at best 0, 0, 1/4 and 1/2.
        (LowestFar(), EVERY, [0, 1]),
        (LowestFar(), kept(2, 3), [0, 1, 3]),
        (LowestFar(), kept(1, 3), [0, 1]),
        (LowestFar(), NONE, [0, 1, 3]),
        # TP - 2 FP of the ends are 2, 2, -2 and -2; inside at best 2, 4, 2 and 0.
        (COST, EVERY, [0, 1]),
        (COST, kept(2, 3), [0, 1, 3]),
        (COST, NONE, [0, 1, 3]),
        # Of ranks only the least of the block is sure: 0 - 0, 2 - 2, 4 - 6, 4 - 8.
        (COST, kept(0, 3, 2, 3), [0, 1, 2, 3]),
        (COST, kept(0, 3, 0, 1), [0, 1, 2, 3]),
    ],
)
def test_blocks_that_may_hold_something_better_are_looked_into(
    objective: Objective, held: KeptPositions, blocks: list[int]
) -> None:
    assert marked(objective.undecided(BLOCKS, held, ALL)) == blocks


def test_blocks_in_which_nothing_can_be_kept_are_not_looked_into() -> None:
    some = np.array([True, False, False, True])
    for objective in (LowestThreshold(), HighestThreshold(), LowestFar(), COST):
        assert marked(objective.undecided(BLOCKS, NONE, some)) == [0, 3]
    # But for the one that says where as many are detected.
    assert marked(HighestDetection().undecided(BLOCKS, kept(0, 2), some)) == [1, 3]


def test_blocks_of_one_threshold_are_never_looked_into() -> None:
    single = Blocks(BLOCKS.high, BLOCKS.high)
    for objective in (HighestDetection(), LowestThreshold(), HighestThreshold(), LowestFar(), COST):
        for held in (EVERY, NONE, kept(0, 3, 0, 2)):
            assert marked(objective.undecided(single, held, ALL)) == []
    for rule in (Youden(), BestF1(), BestMcc(), EqualError()):
        assert marked(rule.undecided(single)) == []


@pytest.mark.parametrize(
    ("objective", "held", "best"),
    [
        (HighestDetection(), kept(0, 2), 1),
        (HighestDetection(), kept(2, 2), 2),
        (HighestDetection(), EVERY, 3),
        (LowestThreshold(), kept(0, 2), 2),
        (LowestThreshold(), kept(0, 3, 0, 1), 1),
        (HighestThreshold(), kept(1, 3), 1),
        (HighestThreshold(), kept(1, 3, 0, 2, 3), 2),
        (LowestFar(), EVERY, 0),
        (LowestFar(), kept(2, 3), 3),
        (LowestFar(), kept(1, 3, 2, 3), 3),
        (COST, EVERY, 0),
        (COST, kept(1, 3), 1),
        (COST, kept(2, 3), 2),
        (COST, kept(0, 3, 1, 2), 1),
    ],
)
def test_the_best_of_the_ends_that_are_kept(
    objective: Objective, held: KeptPositions, best: int
) -> None:
    assert objective.best(BLOCKS.high, held) == best


def test_of_equal_false_alarm_rates_the_one_that_detects_most_is_best() -> None:
    counts = counts_of([0, 1, 2, 2, 4], [0, 1, 2, 3, 4])
    assert LowestFar().best(counts, KeptPositions(0, 4)) == 4
    assert LowestFar().best(counts, KeptPositions(0, 3)) == 2
    assert LowestFar().best(counts, KeptPositions(0, 0)) == 0
    repeated = counts_of([1, 1, 1, 2], [0, 0, 0, 3])
    assert LowestFar().best(repeated, KeptPositions(0, 3)) == 0


def test_a_cost_at_a_base_rate_weighs_rates_rather_than_rows() -> None:
    counts = counts_of([1, 2, 4], [0, 10, 40])
    # A miss costs 10 and a false alarm 1, each a row: 10 TP - FP are 10, 10 and 0.
    assert LowestCost(Fraction(1), Fraction(10), None).best(counts, KeptPositions(0, 2)) == 0
    # With half of all rows positive, 5 TP/4 - FP/80 is largest at the end.
    assert LowestCost(Fraction(1), Fraction(10), HALF).best(counts, KeptPositions(0, 2)) == 2
    assert LowestCost(Fraction(1), Fraction(10), Fraction(1, 100)).best(
        counts, KeptPositions(0, 2)
    ) == 0  # fmt: skip
    by_rate = LowestCost(Fraction(2), Fraction(3), Fraction(1, 5))
    by_tp, by_fp, close = by_rate._prices(counts)
    assert (by_tp, by_fp) == (3 * Fraction(1, 5) * 40, 2 * Fraction(4, 5) * 4)
    assert 1e14 * close == pytest.approx(24 * 4 + 6.4 * 40)


def test_what_floats_can_not_tell_apart_is_compared_exactly() -> None:
    # One row more among a quadrillion is beyond the margin of floats.
    more = counts_of([10**15, 10**15 + 2], [0, 1])
    assert LowestCost(Fraction(1), Fraction(1), None).best(more, KeptPositions(0, 1)) == 1
    less = counts_of([10**15, 10**15 + 1], [0, 2])
    assert LowestCost(Fraction(1), Fraction(1), None).best(less, KeptPositions(0, 1)) == 0


def test_ends_without_a_true_alarm_have_no_false_alarm_rate() -> None:
    # FP/TP of the ends are endless, 2 and 1; inside at best endless, 1 and 1/2.
    blocks = blocks_of([0, 1, 4], [1, 2, 4])
    every = np.ones(3, bool)
    assert marked(LowestFar().undecided(blocks, KeptPositions(0, 2), every)) == [1, 2]
    assert marked(LowestFar().undecided(blocks, KeptPositions(0, 1), every)) == [1, 2]
    assert marked(LowestFar().undecided(blocks, KeptPositions(0, 0), every)) == [0, 1, 2]


def test_of_positions_that_may_be_best_the_first_of_the_best_is_taken() -> None:
    counts = counts_of([1, 1, 2, 3], [0, 0, 1, 1])
    asked: list[int] = []

    def exact(position: int) -> int:
        asked.append(position)
        return -abs(int(counts.tp[position]) - 2)

    assert first_best(np.array([0, 1, 2, 3]), counts, exact) == 2
    # The second repeats the first, so it is not asked.
    assert asked == [0, 2, 3]
    assert first_best(np.array([0, 1]), counts, exact) == 0
    assert asked == [0, 2, 3]
    assert first_best(np.array([0, 3]), counts, lambda _: 0) == 0
    asked.clear()
    assert first_best(np.array([0, 1, 2]), counts_of([1, 2, 2], [0, 0, 0]), exact) == 0
    assert first_best(np.array([0, 1, 2]), counts_of([1, 1, 1], [0, 1, 1]), exact) == 0
    assert asked == [0, 1, 0, 1]
    only_false = counts_of([1, 1, 1], [0, 1, 2])
    assert first_best(np.array([0, 1, 2]), only_false, lambda i: i) == 2


# -- the usual points ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "position", "blocks"),
    [
        # TP/6 - FP/4 of the ends: 1/3, 5/12, -1/12, 0; inside at best 1/3, 2/3, 5/12, 1/4.
        (Youden(), 1, [1]),
        # TP/(FP + 6): 1/3, 4/7, 4/9, 3/5; inside at best 1/3, 2/3, 4/7, 2/3.
        (BestF1(), 3, [1, 3]),
        # The lead over the root of share by rest: 5/6 at two ends, and the last flags every row.
        (BestMcc(), 0, [0, 1, 3]),
        # FP/4 - FN/6: -2/3, -1/12, 5/12, 1: nearest at the second; crossing in the third.
        (EqualError(), 1, [2]),
    ],
)
def test_the_usual_points_and_the_blocks_that_may_hold_better_ones(
    rule: Any, position: int, blocks: list[int]
) -> None:
    assert rule.position(BLOCKS.high) == position
    assert marked(rule.undecided(BLOCKS)) == blocks


def test_the_usual_points_need_rows_of_both_kinds() -> None:
    attacks, quiet = counts_of([1, 2], [0, 0]), counts_of([0, 0], [1, 2])
    for rule in (Youden(), BestMcc(), EqualError()):
        assert (rule.position(attacks), rule.position(quiet)) == (NOTHING, NOTHING)
    assert (BestF1().position(attacks), BestF1().position(quiet)) == (1, NOTHING)
    assert BestMcc().position(counts_of([2], [3])) == NOTHING
    rule = ThresholdRule((), LowestFar())
    assert (rule.position(attacks), rule.position(quiet)) == (NOTHING, NOTHING)


def test_of_equal_usual_points_the_highest_threshold_is_taken() -> None:
    assert Youden().position(counts_of([1, 2], [0, 1])) == 0
    assert Youden().position(counts_of([0, 1, 2], [0, 1, 2])) == 0
    assert BestF1().position(counts_of([1, 2], [0, 2])) == 0
    assert BestF1().position(counts_of([2, 3, 4], [0, 2, 9])) == 0


def test_a_correlation_needs_some_rows_flagged_and_some_not() -> None:
    # Below nothing wherever it is defined: -4 and -1 lead, over the root of what is flagged.
    assert BestMcc().position(counts_of([0, 0, 1, 2], [0, 2, 2, 3])) == 2
    assert BestMcc().position(counts_of([1, 1, 2], [0, 3, 3])) == 0
    assert BestMcc().position(counts_of([1, 1, 2], [1, 2, 3])) == 0
    # Ends that flag nothing or all have no value, so their blocks are looked into.
    blocks = blocks_of([0, 1, 1, 2], [0, 1, 2, 3])
    assert marked(BestMcc().undecided(blocks)) == [1, 3]
    assert marked(BestMcc().undecided(blocks_of([1, 2], [0, 2]))) == [0, 1]


def test_no_block_is_looked_into_where_one_class_is_missing() -> None:
    for blocks in (blocks_of([1, 2], [0, 0]), blocks_of([0, 0], [1, 2])):
        for rule in (Youden(), BestF1(), BestMcc(), EqualError(), ThresholdRule((), COST)):
            assert marked(rule.undecided(blocks)) == []


def test_the_correlation_is_zero_where_it_is_undefined() -> None:
    counts = counts_of([0, 1, 2], [0, 1, 2])
    values = BestMcc._value(counts.tp, counts.fp, counts)
    assert values.tolist() == [0.0, 0.0, 0.0]
    better = counts_of([2, 2], [0, 2])
    assert BestMcc._value(better.tp, better.fp, better)[0] == pytest.approx(2.0)


def test_equal_errors_that_are_as_near_above_as_below_are_taken_at_the_first() -> None:
    # FP/2 - FN/2 are -1/2 and 1/2.
    assert EqualError().position(counts_of([1, 2], [0, 1])) == 0
    assert EqualError().position(counts_of([0, 1, 1, 2], [0, 1, 1, 2])) == 1
    assert EqualError().position(counts_of([4, 4], [3, 4])) == 0
    # Equal at the end of a block: they may be so before it too.
    assert marked(EqualError().undecided(blocks_of([1, 2], [1, 2]))) == [0]


# -- what is asked ---------------------------------------------------------------------------------


def test_a_rule_keeps_all_its_limits_and_looks_where_any_of_them_begins_or_ends() -> None:
    rule = ThresholdRule((FprAtMost(HALF), DrAtLeast(HALF)), HighestDetection())
    assert rule.kept(BLOCKS.high).positions.tolist() == [1]
    assert rule.position(BLOCKS.high) == 1
    assert marked(rule.undecided(BLOCKS)) == [1, 2]
    hopeless = ThresholdRule((FprAtMost(TENTH), DrAtLeast(Fraction(9, 10))), HighestDetection())
    assert hopeless.position(BLOCKS.high) == NOTHING
    ended = ThresholdRule((FprAtMost(TENTH),), HighestThreshold())
    assert marked(ended.undecided(BLOCKS)) == [0, 1]
    first = ThresholdRule((), HighestThreshold())
    assert (first.position(BLOCKS.high), marked(first.undecided(BLOCKS))) == (0, [0])
    assert marked(ThresholdRule((), HighestDetection()).undecided(BLOCKS)) == [3]
    free = ThresholdRule((), LowestThreshold())
    assert (free.position(BLOCKS.high), marked(free.undecided(BLOCKS))) == (3, [])


@pytest.mark.parametrize(
    ("asked", "objective", "best", "promised"),
    [
        ({"max_fpr": HALF}, HIGHEST_DR, HighestDetection(), LowestThreshold()),
        ({"max_far": HALF}, HIGHEST_DR, HighestDetection(), LowestThreshold()),
        ({"max_alerts": HALF}, HIGHEST_DR, HighestDetection(), LowestThreshold()),
        ({"min_dr": HALF}, LOWEST_FAR, LowestFar(), HighestThreshold()),
        ({"families": {"dos": HALF}}, LOWEST_FAR, LowestFar(), HighestThreshold()),
        ({"min_dr": HALF, "max_fpr": HALF}, HIGHEST_DR, HighestDetection(), LowestThreshold()),
    ],
)
def test_what_is_asked_tells_what_is_made_best(
    asked: dict[str, Any], objective: str, best: Objective, promised: Objective
) -> None:
    wanted = Requirements(**asked)
    assert wanted.objective == objective
    assert empirical_rule(wanted).objective == best
    assert guaranteed_rule(wanted).objective == promised


def test_costs_are_made_lowest_whatever_else_is_asked() -> None:
    wanted = Requirements(cost_fp=HALF, cost_fn=Fraction(3), min_dr=HALF, base_rate=TENTH)
    cheapest = LowestCost(HALF, Fraction(3), TENTH)
    assert wanted.objective == LOWEST_COST
    assert empirical_rule(wanted).objective == cheapest
    assert guaranteed_rule(wanted).objective == cheapest
    assert empirical_rule(wanted).limits == (DrAtLeast(HALF),)
    assert Requirements().objective == NO_OBJECTIVE
    assert empirical_rule(Requirements(cost_fp=HALF)).objective == LowestFar()
    assert list(candidates_of(wanted)) == ["Youden", "best F1", "best MCC", "equal error", "lowest cost"]  # fmt: skip # noqa: E501
    assert candidates_of(wanted)["lowest cost"][0] == ThresholdRule((), cheapest)
    assert "lowest cost" not in candidates_of(Requirements(cost_fp=HALF))


def test_constraints_share_the_error_and_costs_are_none() -> None:
    every = Requirements(
        max_far=HALF, max_fpr=HALF, min_dr=HALF, max_alerts=Fraction(3), volume=Fraction(12),
        cost_fp=Fraction(1), cost_fn=Fraction(2), families={"dos": TENTH},
    )  # fmt: skip
    assert (every.size, every.risk, every.budget) == (5, Fraction(1, 50), QUARTER)
    assert every.constraints == {
        "max_far": 0.5, "max_fpr": 0.5, "min_dr": 0.5, "max_alerts": 3.0, "cost_fp": 1.0,
        "cost_fn": 2.0, "min_dr.dos": 0.1,
    }  # fmt: skip
    assert [type(limit) for limit in limits_of(every)] == [
        FarAtMost, FprAtMost, AlertsAtMost, DrAtLeast, FamilyAtLeast,
    ]  # fmt: skip
    assert (Requirements().size, Requirements().risk) == (0, TENTH)
    assert Requirements(max_alerts=HALF).budget is None
    assert Requirements(volume=HALF).budget is None
    assert limits_of(Requirements(volume=HALF)) == ()


def test_numbers_that_are_asked_are_the_decimals_that_were_written() -> None:
    wanted = requirements(max_fpr=0.1, min_dr_families=0.7, families=("dos", "scan"))
    assert (wanted.max_fpr, wanted.confidence) == (TENTH, Fraction(9, 10))
    assert wanted.families == {"dos": Fraction(7, 10), "scan": Fraction(7, 10)}
    some = requirements(min_dr_families={"dos": 0.5, "scan": None}, families=("dos", "scan"))
    assert some.families == {"dos": HALF}
    assert requirements(confidence=0.99).confidence == Fraction(99, 100)
    assert requirements(confidence=None).confidence == Fraction(9, 10)
    costs = requirements(cost_fp=0.5, cost_fn=3.5)
    assert (costs.cost_fp, costs.cost_fn) == (HALF, Fraction(7, 2))


@pytest.mark.parametrize("share", [0, 1, 1.5, -0.1, True, "0.1", float("nan"), np.bool_(1)])
def test_a_share_lies_between_0_and_1(share: Any) -> None:
    with pytest.raises(MethodError, match="a share between 0 and 1"):
        requirements(max_fpr=share)


@pytest.mark.parametrize("cost", [0, -1, float("inf"), True, "1"])
def test_a_cost_is_a_number_above_0(cost: Any) -> None:
    with pytest.raises(MethodError, match="a number above 0"):
        requirements(cost_fp=cost, cost_fn=1)


def test_families_that_no_row_has_are_refused_with_those_that_there_are() -> None:
    twelve = tuple(f"f{i}" for i in range(12))
    with pytest.raises(InputError, match=r"'f11'$"):
        requirements(min_dr_families={"x": 0.5}, families=twelve)
    with pytest.raises(InputError, match=r"'f11', \.\.\.$"):
        requirements(min_dr_families={"x": 0.5}, families=(*twelve, "f12"))
    with pytest.raises(InputError, match="give families="):
        requirements(min_dr_families=0.5)
    with pytest.raises(InputError, match="go together"):
        requirements(cost_fp=1)
    with pytest.raises(InputError, match="volume= is needed"):
        requirements(max_alerts=1)
