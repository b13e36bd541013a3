"""Rules on a sweep in blocks choose what they choose on every threshold."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.decisions.threshold.constraints import (
    AlertsAtMost,
    DrAtLeast,
    FamilyAtLeast,
    FarAtMost,
    FprAtMost,
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
    ThresholdRule,
    Youden,
)
from assay.decisions.threshold.promises import (
    AlertsPromised,
    DrPromised,
    EveryRank,
    FamilyPromised,
    FarPromised,
    FprPromised,
    ranks,
)
from assay.inference.threshold_resampling import narrowed_for
from assay.inference.threshold_rules import (
    NOTHING,
    Blocks,
    MaxFar,
    MaxFpr,
    NarrowedSweep,
    Pyramid,
    SweepCounts,
)
from assay.tally import ScoreTally

TENTH, FIFTH, HALF = Fraction(1, 10), Fraction(1, 5), Fraction(1, 2)
LABELS = ("normal", "dos", "scan")
COST, COST_AT = LowestCost(Fraction(1), Fraction(7), None), LowestCost(Fraction(9), HALF, FIFTH)
FAR, FAR_AT = FarAtMost(FIFTH, None), FarAtMost(TENTH, FIFTH)
FAR_PROMISED = FarPromised(Fraction(2, 5), None, FIFTH)

RULES = {
    "usual Youden": Youden(),
    "usual F1": BestF1(),
    "usual MCC": BestMcc(),
    "usual equal error": EqualError(),
    "operating FPR": MaxFpr(0.1),
    "operating FAR": MaxFar(0.2),
    "operating FAR at a rate": MaxFar(0.3, 0.2),
    "FPR": ThresholdRule((FprAtMost(TENTH),), HighestDetection()),
    "FAR": ThresholdRule((FAR,), HighestDetection()),
    "FAR at a rate": ThresholdRule((FAR_AT,), HighestDetection()),
    "FAR and FPR": ThresholdRule((FAR, FprAtMost(TENTH)), HighestDetection()),
    "FAR and DR": ThresholdRule((FAR, DrAtLeast(HALF)), HighestDetection()),
    "FAR alone, its ends": ThresholdRule((FAR,), LowestThreshold()),
    "FAR alone, its first": ThresholdRule((FAR,), HighestThreshold()),
    "DR": ThresholdRule((DrAtLeast(Fraction(7, 10)),), LowestFar()),
    "families": ThresholdRule(
        (FamilyAtLeast(HALF, "dos"), FamilyAtLeast(TENTH, "scan")), LowestFar()
    ),
    "families and FPR": ThresholdRule(
        (FamilyAtLeast(HALF, "dos"), FprAtMost(FIFTH)), HighestDetection()
    ),
    "alerts": ThresholdRule((AlertsAtMost(FIFTH, None),), HighestDetection()),
    "alerts at a rate": ThresholdRule((AlertsAtMost(FIFTH, TENTH),), HighestDetection()),
    "any FAR": ThresholdRule((), LowestFar()),
    "cost": ThresholdRule((), COST),
    "cost at a rate": ThresholdRule((), COST_AT),
    "cost and FPR": ThresholdRule((FprAtMost(TENTH),), COST),
    "cost and FAR": ThresholdRule((FAR,), COST_AT),
    "cost, FAR and DR": ThresholdRule((FAR, DrAtLeast(HALF)), COST),
    "cost and alerts": ThresholdRule((AlertsAtMost(FIFTH, None),), COST),
    "promised FPR": ThresholdRule((FprPromised(FIFTH, TENTH),), LowestThreshold()),
    "promised DR": ThresholdRule((DrPromised(HALF, TENTH),), HighestThreshold()),
    "promised family": ThresholdRule((FamilyPromised(TENTH, FIFTH, "dos"),), HighestThreshold()),
    "promised FAR": ThresholdRule((FAR_PROMISED,), LowestThreshold()),
    "promised FAR and FPR": ThresholdRule(
        (FAR_PROMISED, FprPromised(FIFTH, TENTH)), LowestThreshold()
    ),
    "promised FAR and DR": ThresholdRule(
        (FAR_PROMISED, DrPromised(TENTH, FIFTH)), LowestThreshold()
    ),
    "promised FAR, highest": ThresholdRule((FAR_PROMISED,), HighestThreshold()),
    "promised FAR and cost": ThresholdRule((FAR_PROMISED,), COST),
    "promised alerts": ThresholdRule((AlertsPromised(FIFTH, None, TENTH),), LowestThreshold()),
    "promised alerts at a rate": ThresholdRule(
        (AlertsPromised(HALF, FIFTH, FIFTH),), LowestThreshold()
    ),
    "promised alerts and cost": ThresholdRule((AlertsPromised(HALF, FIFTH, FIFTH),), COST),
}


def tally_of(seed: int, rows: int, shift: float, digits: int, many: int) -> ScoreTally:
    """Rows of three labels; few digits make ties, ``many`` makes counts."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(3, size=rows, p=rng.dirichlet([2, 1, 1]))
    scores = np.round(rng.normal(size=rows) + shift * (truth > 0), digits)
    counts = rng.integers(1, many + 1, size=rows)
    # Both sides have rows, and each family has.
    truth[:3] = [0, 1, 2]
    return ScoreTally.of_rows(LABELS, scores, truth, counts=counts)


def all_cut(sweep: NarrowedSweep) -> NarrowedSweep:
    while (sweep.level > 0).any():
        sweep = sweep.cut(sweep.level > 0)
    return sweep


def flagged(sweep: NarrowedSweep, rule: Any) -> list[int] | None:
    place = rule.position(sweep.blocks.high)
    return None if place == NOTHING else sweep.sums[:, place].tolist()


TALLIES = st.builds(
    tally_of,
    seed=st.integers(0, 10**6),
    rows=st.sampled_from([5, 40, 400, 1500]),
    shift=st.sampled_from([-1.0, 0.0, 1.0, 2.0, 9.0]),
    digits=st.sampled_from([1, 2, 9]),
    many=st.sampled_from([1, 1, 5]),
)


@pytest.mark.parametrize("name", RULES)
@settings(max_examples=40)
@given(tally=TALLIES, cells=st.sampled_from([1, 12, 100]), drawn=st.booleans())
def test_blocks_that_are_not_cut_do_not_change_the_choice(
    name: str, tally: ScoreTally, cells: int, drawn: bool
) -> None:
    rule, pyramid = RULES[name], Pyramid.of(tally, cells)
    sweep = NarrowedSweep.of_data(pyramid)
    if drawn:
        sweep = NarrowedSweep.redrawn(pyramid, np.random.default_rng(1))
    narrowed = narrowed_for(sweep, [rule])
    assert flagged(narrowed, rule) == flagged(all_cut(narrowed), rule)


@pytest.mark.parametrize("name", [name for name in RULES if not name.startswith("operating")])
def test_no_block_is_cut_where_one_class_is_missing(name: str) -> None:
    some, none = (np.array([3, 4]), np.array([0, 3])), (np.zeros(2, int),) * 2
    for (tp, low_tp), (fp, low_fp) in ((some, none), (none, some)):
        sizes = int(tp[-1]), int(fp[-1])
        blocks = Blocks(SweepCounts(tp, fp, *sizes), SweepCounts(low_tp, low_fp, *sizes))
        assert not RULES[name].undecided(blocks).any()


def test_few_blocks_are_cut_where_there_are_many_thresholds() -> None:
    tally = tally_of(3, 200_000, 2.0, 12, 1)
    pyramid = Pyramid.of(tally)
    generator = np.random.default_rng(2)
    for name, rule in RULES.items():
        sweep = narrowed_for(NarrowedSweep.redrawn(pyramid, generator), [rule])
        assert len(sweep.level) < 12_000, name


def test_every_rank_is_looked_at() -> None:
    tally = tally_of(4, 20_000, 9.0, 9, 1)
    rule = EveryRank()
    sweep = narrowed_for(NarrowedSweep.of_data(Pyramid.of(tally, 10)), [rule])
    seen, full = sweep.blocks.high, all_cut(sweep).blocks.high
    assert seen.fp[ranks(seen)].tolist() == full.fp[ranks(full)].tolist()
    assert len(sweep.level) < 20_000


def blocks_of(tp: list[int], fp: list[int]) -> Blocks:
    """Blocks of several thresholds each, from the counts at their ends."""
    sizes = tp[-1], fp[-1]
    high = SweepCounts(np.array(tp), np.array(fp), *sizes)
    return Blocks(high, SweepCounts(np.array([0, *tp[:-1]]), np.array([0, *fp[:-1]]), *sizes))


def test_an_upper_limit_may_be_kept_inside_of_the_block_after_the_last_end_that_keeps_it() -> None:
    look = FprAtMost(HALF).look(blocks_of([2, 4, 6, 8], [0, 2, 3, 4]))
    assert (look.kept.first, look.kept.last) == (0, 1)
    assert look.possible.tolist() == [True, True, True, False]
    assert look.undecided.tolist() == [False, False, True, False]


def test_the_block_whose_end_is_the_lowest_kept_is_not_cut() -> None:
    rule = ThresholdRule((FprAtMost(HALF),), LowestThreshold())
    flags = rule.undecided(blocks_of([2, 4, 6, 8], [0, 2, 3, 4]))
    assert flags.tolist() == [False, False, True, False]


def test_the_best_mcc_is_not_looked_for_where_only_true_positives_are_added() -> None:
    flags = BestMcc().undecided(blocks_of([4, 8, 8], [1, 1, 8]))
    # The last end flags all rows: it has no value, and the thresholds before it may have the best.
    assert flags.tolist() == [False, False, True]
