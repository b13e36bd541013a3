"""Estimates, findings and counts of a chosen threshold, worked out by hand on a few rows."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.stats import beta, binom

from assay import curves
from assay.decisions.threshold import choice as choices
from assay.decisions.threshold import estimates as estimating
from assay.decisions.threshold.choice import DAYS_OVER_BUDGET, Point, Shown, findings_of
from assay.decisions.threshold.constraints import Requirements
from assay.decisions.threshold.estimates import (
    BREAKS,
    OPTIMISTIC,
    ResampledChoices,
    _Scale,
    estimates_at,
    judge,
    limits_at,
    only,
    worth,
)
from assay.decisions.threshold.sweep import ThresholdCounts, ThresholdSweep, thinned
from assay.evaluation.deployment import ALERTS, FALSE_ALARMS, MISSED
from assay.inference import Bootstrap, Estimate, Quantity
from assay.inference.threshold_resampling import ChosenTables
from assay.inference.threshold_rules import SweepCounts
from assay.measures import find
from assay.sources.files.request import RowSource
from assay.tally import ScoreTally

TENTH, FIFTH, HALF = Fraction(1, 10), Fraction(1, 5), Fraction(1, 2)


def swept(negatives: Any, positives: Any) -> ThresholdSweep:
    scores = np.array([*negatives, *positives], float)
    truth = np.array([0] * len(negatives) + [1] * len(positives))
    two = ScoreTally.of_rows(("normal", "attack"), scores, truth)
    return ThresholdSweep.of_scores("attack", two)


def of_families(negatives: Any, **families: Any) -> ThresholdSweep:
    sides = [negatives, *families.values()]
    scores = np.array([x for side in sides for x in side], float)
    truth = np.array([i for i, side in enumerate(sides) for _ in side])
    two = ScoreTally.of_rows(("normal", "attack"), scores, np.minimum(truth, 1))
    each = ScoreTally.of_rows(("normal", *families), scores, truth)
    return ThresholdSweep.of_scores("attack", two, each)


# Ten negatives at 0 to 9; five positives at 5.5 to 9.5.
SWEEP = swept(range(10), [5.5, 6.5, 7.5, 8.5, 9.5])


# -- counts ----------------------------------------------------------------------------------------


def test_counts_at_a_position_are_those_of_the_rows_above() -> None:
    position = int(SWEEP.positions(7.5))
    assert position == 4  # 9.5, 9, 8.5, 8 and 7.5
    assert SWEEP.at(position).cells == ((8, 2), (2, 3))
    assert SWEEP.at(-1).cells == ((10, 0), (5, 0))
    tables = SWEEP.tables(np.array([[position, -1]]))
    assert tables.tolist() == [[[[8.0, 2.0], [2.0, 3.0]], [[10.0, 0.0], [5.0, 0.0]]]]
    assert (SWEEP.negatives, SWEEP.positives, SWEEP.rows, SWEEP.last) == (10, 5, 15, 14)
    assert SWEEP.share == 1 / 3


def test_the_next_score_below_a_threshold() -> None:
    assert SWEEP.below(7.5) == 7.0
    assert SWEEP.below(7.2) == 7.0
    assert SWEEP.below(0.0) is None
    assert SWEEP.below(99.0) == 9.5


def test_the_last_threshold_that_is_not_below_another() -> None:
    seen = ThresholdCounts(np.array([9.0, 5.0, 1.0]), SweepCounts(*[np.zeros(3)] * 2, 1, 1))
    assert [seen.position(t) for t in (10.0, 9.0, 6.0, 5.0, 1.0, 0.0)] == [-1, 0, 0, 1, 2, 2]


def test_families_are_counted_in_place_of_the_positives() -> None:
    sweep = of_families(range(10), dos=[5.5, 9.5], scan=[6.5, 7.5, 8.5])
    assert [(f.name, f.size) for f in sweep.families] == [("dos", 2), ("scan", 3)]
    counts = sweep.counts_at(np.array([sweep.positions(7.5)]))
    assert (counts.kind("dos").flagged.tolist(), counts.kind("dos").size) == ([1], 2)
    assert (counts.kind("scan").flagged.tolist(), counts.kind("scan").size) == ([2], 3)
    assert (counts.tp.tolist(), counts.fp.tolist()) == ([3], [2])


def test_a_short_curve_has_every_threshold() -> None:
    curve = thinned(SWEEP, [])
    assert curve.threshold.tolist() == [math.inf, 9.5, 9, 8.5, 8, 7.5, 7, 6.5, 6, 5.5, 5, 4, 3, 2, 1, 0]  # fmt: skip # noqa: E501
    assert curve.tp.tolist()[:6] == [0, 1, 1, 2, 2, 3]
    assert curve.fp.tolist()[:6] == [0, 0, 1, 1, 2, 2]
    assert (curve.positives, curve.negatives) == (5, 10)


@pytest.mark.parametrize(("size", "whole"), [(2000, True), (2001, False)])
def test_a_long_curve_is_thinned_and_keeps_what_is_asked(size: int, *, whole: bool) -> None:
    sweep = swept(range(size - 1), [size])
    assert curves.POINTS == 2000
    kept = thinned(sweep, [float(size - 1234)])
    assert (len(kept.threshold) == size + 1) is whole
    assert kept.threshold[1] == size
    assert kept.threshold[-1] == 0
    assert float(size - 1234) in kept.threshold
    long = thinned(swept(range(49_999), [60_000]), [123.0])
    assert 123.0 in long.threshold
    # Half of them by rank on a geometric scale: all of the first are there.
    assert long.threshold[1:6].tolist() == [60_000, 49_998, 49_997, 49_996, 49_995]
    # And half evenly: some 50 rows apart.
    assert 40 < np.max(-np.diff(long.threshold[2:])) < 60
    assert len(long.threshold) <= 2003


# -- estimates -------------------------------------------------------------------------------------


def shown(estimates: tuple[Shown, ...], measure: str, **where: Any) -> Estimate:
    (one,) = [
        each.estimate
        for each in estimates
        if each.measure == measure and all(getattr(each, k) == v for k, v in where.items())
    ]
    return one


def test_a_day_has_alerts_false_alarms_and_missed_attacks() -> None:
    wanted = Requirements(volume=Fraction(1000), max_alerts=Fraction(667, 2), max_fpr=HALF)
    estimates = estimates_at(SWEEP, 7.5, wanted, 0.95)
    # A third are attacks: 3/5 of them and 2/10 of the others are flagged.
    assert float(shown(estimates, ALERTS)) == pytest.approx(1000 / 3)
    assert float(shown(estimates, FALSE_ALARMS)) == pytest.approx(2000 / 3 * 0.2)
    assert float(shown(estimates, MISSED)) == pytest.approx(1000 / 3 * 0.4)
    days = shown(estimates, DAYS_OVER_BUDGET)
    alerts = shown(estimates, ALERTS)
    for value, rate in ((float(days), float(alerts)), (days.low, alerts.low), (days.high, alerts.high)):  # fmt: skip # noqa: E501
        assert value == pytest.approx(binom.sf(333, 1000, rate / 1000))
    rare = estimates_at(SWEEP, 7.5, Requirements(volume=Fraction(1000), base_rate=TENTH), 0.95)
    assert float(shown(rare, ALERTS)) == pytest.approx(100 * 0.6 + 900 * 0.2)
    assert float(shown(rare, FALSE_ALARMS)) == pytest.approx(900 * 0.2)
    assert float(shown(rare, MISSED)) == pytest.approx(100 * 0.4)
    assert DAYS_OVER_BUDGET not in {each.measure for each in rare}


def test_what_an_alarm_costs_is_at_the_base_rate_where_there_is_one() -> None:
    costs = {"cost_fp": Fraction(2), "cost_fn": Fraction(5)}
    cost = shown(estimates_at(SWEEP, 7.5, Requirements(**costs), 0.95), "expected_cost")
    assert float(cost) == pytest.approx((2 * 2 + 2 * 5) / 15)
    rare = estimates_at(SWEEP, 7.5, Requirements(**costs, base_rate=TENTH), 0.95)
    assert float(shown(rare, "expected_cost")) == pytest.approx(0.9 * 0.2 * 2 + 0.1 * 0.4 * 5)
    assert shown(rare, "false_discovery_rate", base_rate=0.1) == pytest.approx(0.18 / 0.24)
    assert shown(rare, "false_discovery_rate", base_rate=None) == pytest.approx(0.4)
    half = estimates_at(SWEEP, 7.5, Requirements(cost_fp=Fraction(2)), 0.95)
    assert "expected_cost" not in {each.measure for each in half}


def test_a_family_has_its_own_exact_interval() -> None:
    sweep = of_families(range(10), dos=[5.5, 9.5], scan=[6.5, 7.5, 8.5])
    estimates = estimates_at(sweep, 7.5, Requirements(), 0.9)
    scan = shown(estimates, "recall", family="scan")
    assert float(scan) == 2 / 3
    assert (scan.low, scan.high) == pytest.approx((beta.ppf(0.05, 2, 2), beta.ppf(0.95, 3, 1)))
    assert (scan.n, scan.level, scan.note) == (3, 0.9, None)
    assert float(shown(estimates, "recall", family="dos")) == 0.5
    assert {each.label for each in estimates if each.measure == "accuracy"} == {None}
    assert {each.label for each in estimates if each.measure == "recall"} == {"attack"}


# -- intervals of a chosen threshold ---------------------------------------------------------------


def test_shares_are_compared_on_the_scale_of_the_arcsine() -> None:
    scale = _Scale(-1.0, 3.0)
    assert scale.to(1.0) == pytest.approx(math.pi / 4)
    assert (scale.to(-1.0), scale.to(3.0)) == (0.0, pytest.approx(math.pi / 2))
    assert (scale.to(-2.0), scale.to(4.0)) == (0.0, pytest.approx(math.pi / 2))
    assert scale.back(math.pi / 4) == pytest.approx(1.0)
    assert scale.back(-0.5) == -1.0
    assert scale.back(5.0) == pytest.approx(3.0)
    assert scale.back(math.pi / 6) == pytest.approx(-1 + 4 * 0.25)


def chosen(thresholds: list[float], tables: list[list[list[int]]], **groups: Any) -> ChosenTables:
    none = np.zeros((len(thresholds), 0))
    hits, sizes = (np.array(groups.get(k, none), float) for k in ("hits", "sizes"))
    return ChosenTables(
        7.5, np.array([[8.0, 2.0], [2.0, 3.0]]), np.array(tables, float), np.array(thresholds),
        np.zeros(0), np.zeros(0), hits, sizes,
    )  # fmt: skip


RECALL = Quantity(find("recall").formula, label=1)  # type: ignore[arg-type]


def test_an_interval_carries_how_much_better_a_choice_looks_than_it_is() -> None:
    # Each resample chose its own threshold: there its recall, and that of all rows, are known.
    thresholds = [9.5, 8.5, 7.5, 6.5] * 10
    own = [[[8, 2], [1, 4]], [[8, 2], [2, 3]], [[8, 2], [1, 4]], [[8, 2], [0, 5]]] * 10
    drawn = ResampledChoices(SWEEP, chosen(thresholds, own), Bootstrap(0.5, 40, 1))
    value = Estimate(0.6, 0.55, 0.65, level=0.5)
    wide = drawn.widened(value, RECALL, (0.0, 1.0))

    def angle(share: float) -> float:
        return math.asin(math.sqrt(share))

    errors = np.array([angle(a) - angle(b) for a, b in ((0.8, 0.2), (0.6, 0.4), (0.8, 0.6), (1, 0.8))] * 10)  # fmt: skip # noqa: E501
    ends = Bootstrap(0.5, 40, 1).ends(errors, 0.0, None)
    low, high = (math.sin(max(angle(0.6) - end, 0)) ** 2 for end in (ends.high, ends.low))
    assert wide.low == pytest.approx(min(low, 0.55))
    assert wide.high == pytest.approx(max(high, 0.65))
    assert wide.low < 0.5
    assert (wide.method, wide.note) == (Bootstrap.name, None)


def test_resamples_without_a_threshold_are_left_out_and_that_is_said() -> None:
    tables = [[[8, 2], [2, 3]]] * 4
    value = Estimate(0.6, 0.5, 0.7, level=0.5)
    none = ResampledChoices(SWEEP, chosen([math.nan] * 4, tables), Bootstrap(0.5, 4, 1))
    same = none.widened(value, RECALL, (0.0, 1.0))
    assert (same.low, same.high) == (0.5, 0.7)
    assert same.note == "no resample has a threshold: the interval takes it as given"
    some = ResampledChoices(
        SWEEP, chosen([7.5, math.nan, 7.5, 7.5], tables), Bootstrap(0.5, 4, 1)
    ).widened(value, RECALL, (0.0, 1.0))
    assert some.note == "undefined in 1 of 4 resamples, which were left out"
    assert (some.low, some.high) == (0.5, 0.7)
    nothing = Estimate(math.nan, undefined="no rows")
    assert none.widened(nothing, RECALL, (0.0, 1.0)) is nothing
    bare = Estimate(0.6)
    assert none.widened(bare, RECALL, (0.0, 1.0)) is bare


def test_a_family_is_widened_by_its_own_hits() -> None:
    sweep = of_families(range(10), dos=[5.5, 9.5], scan=[6.5, 7.5, 8.5])
    groups = {"hits": [[1, 3]] * 4, "sizes": [[2, 3]] * 4}
    drawn = ResampledChoices(sweep, chosen([7.5] * 4, [[[8, 2], [2, 3]]] * 4, **groups), Bootstrap(0.5, 4, 1))  # fmt: skip # noqa: E501
    value = Estimate(2 / 3, 0.6, 0.7, level=0.5)
    scan = drawn.family(value, 1)
    # All of its rows were found on each resample, and two of three at that threshold on all.
    error = math.pi / 2 - math.asin(math.sqrt(2 / 3))
    low = math.sin(math.asin(math.sqrt(2 / 3)) - error) ** 2
    assert (scan.low, scan.high) == (pytest.approx(low), 0.7)
    dos = drawn.family(Estimate(0.5, 0.4, 0.6, level=0.5), 0)
    assert (dos.low, dos.high) == (0.4, 0.6)


# -- constraints on unseen rows --------------------------------------------------------------------


def held(wanted: Requirements, threshold: float, sweep: ThresholdSweep = SWEEP) -> dict[str, Any]:
    judged = judge(sweep, threshold, promised=True, wanted=wanted, level=0.95, source=RowSource())
    assert (judged["of"], judged["threshold"]) == ("guaranteed", threshold)
    return {each["constraint"]: each for each in judged["constraints"]}


def test_a_constraint_is_held_to_the_last_row() -> None:
    for limit, kept in ((Fraction(1, 5), True), (Fraction(19, 100), False)):
        one = held(Requirements(max_fpr=limit), 7.5)["max_fpr"]
        assert (one["value"], one["limit"], one["held"]) == (0.2, float(limit), kept)
        assert one["sure"] is False
    for limit, kept in ((Fraction(3, 5), True), (Fraction(61, 100), False)):
        assert held(Requirements(min_dr=limit), 7.5)["min_dr"]["held"] is kept
    far = held(Requirements(max_far=Fraction(2, 5)), 7.5)["max_far"]
    assert (far["value"], far["held"]) == (0.4, True)
    rare = held(Requirements(max_far=Fraction(7, 10), base_rate=TENTH), 7.5)["max_far"]
    assert (rare["value"], rare["held"]) == (pytest.approx(0.75), False)
    budget = Requirements(max_alerts=Fraction(30), volume=Fraction(90))
    alerts = held(budget, 7.5)["max_alerts"]
    assert (alerts["value"], alerts["limit"], alerts["held"]) == (pytest.approx(30), 30.0, True)


def test_a_constraint_is_sure_where_all_of_the_interval_is_on_its_side() -> None:
    low, high = (held(Requirements(max_fpr=HALF), 7.5)["max_fpr"][k] for k in ("low", "high"))
    assert low < 0.2 < high < 0.6
    for limit, kept, sure in (
        (high + 1e-6, True, True), (high, True, True), (high - 1e-6, True, False),
        (low + 1e-6, False, False), (low, False, False), (low - 1e-6, False, True),
    ):  # fmt: skip
        one = held(Requirements(max_fpr=Fraction(limit)), 7.5)["max_fpr"]
        assert (one["held"], one["sure"]) == (kept, sure)
    low, high = (held(Requirements(min_dr=HALF), 7.5)["min_dr"][k] for k in ("low", "high"))
    for limit, kept, sure in (
        (low - 1e-6, True, True), (low, True, True), (low + 1e-6, True, False),
        (high - 1e-6, False, False), (high, False, False), (high + 1e-6, False, True),
    ):  # fmt: skip
        one = held(Requirements(min_dr=Fraction(limit)), 7.5)["min_dr"]
        assert (one["held"], one["sure"]) == (kept, sure)


def test_a_threshold_above_all_scores_keeps_limits_on_alarms_alone() -> None:
    wanted = Requirements(max_fpr=TENTH, min_dr=HALF, families={"dos": HALF, "worm": HALF})
    sweep = of_families(range(10), dos=[5.5, 9.5], scan=[6.5, 7.5, 8.5])
    flags = {name: each["held"] for name, each in held(wanted, 99.0, sweep).items()}
    assert flags == {"max_fpr": True, "min_dr": False, "min_dr.dos": False, "min_dr.worm": None}
    at = {name: each["held"] for name, each in held(wanted, 7.5, sweep).items()}
    assert at == {"max_fpr": False, "min_dr": True, "min_dr.dos": True, "min_dr.worm": None}


def test_one_constraint_alone_keeps_what_it_is_at() -> None:
    wanted = Requirements(
        max_far=TENTH, max_fpr=FIFTH, min_dr=HALF, max_alerts=Fraction(3), volume=Fraction(9),
        base_rate=TENTH, families={"dos": HALF, "scan": FIFTH},
    )  # fmt: skip
    rest = {"volume": Fraction(9), "base_rate": TENTH}
    assert only(wanted, "max_far") == Requirements(max_far=TENTH, **rest)
    assert only(wanted, "max_fpr") == Requirements(max_fpr=FIFTH, **rest)
    assert only(wanted, "min_dr") == Requirements(min_dr=HALF, **rest)
    assert only(wanted, "max_alerts") == Requirements(max_alerts=Fraction(3), **rest)
    assert only(wanted, "min_dr.scan") == Requirements(families={"scan": FIFTH}, **rest)


# -- what an optimum is worth ----------------------------------------------------------------------


def worth_of(wanted: Requirements, threshold: float, sweep: ThresholdSweep = SWEEP) -> str:
    return worth(sweep, threshold, wanted, estimates_at(sweep, threshold, wanted, 0.95))


def test_a_limit_that_one_more_row_breaks_is_reached() -> None:
    assert worth_of(Requirements(cost_fp=HALF, cost_fn=HALF), 7.5) == OPTIMISTIC
    # Two of ten are flagged, so that a third breaks a limit of 0.29, and not one of 0.9.
    assert worth_of(Requirements(max_fpr=Fraction(29, 100)), 7.5) == BREAKS
    assert worth_of(Requirements(max_fpr=Fraction(9, 10)), 7.5).startswith("It lies inside its")
    assert worth_of(Requirements(min_dr=Fraction(41, 100)), 7.5) == BREAKS
    assert worth_of(Requirements(min_dr=Fraction(1, 100)), 7.5).startswith("It lies inside its")
    sweep = of_families(range(10), dos=[5.5, 9.5], scan=[6.5, 7.5, 8.5])
    assert worth_of(Requirements(families={"scan": HALF}), 7.5, sweep) == BREAKS
    assert worth_of(Requirements(families={"scan": Fraction(1, 3)}), 7.5, sweep) != BREAKS


def test_of_several_limits_those_that_are_reached_are_named() -> None:
    one = worth_of(Requirements(max_fpr=Fraction(29, 100), min_dr=Fraction(1, 100)), 7.5)
    assert one == (
        "It sits at a false positive rate of at most 0.29: it will break it on new data about half "
        "of the time."
    )
    both = worth_of(Requirements(max_fpr=Fraction(29, 100), min_dr=Fraction(41, 100)), 7.5)
    assert both == (
        "It sits at a false positive rate of at most 0.29 and a detection rate of at least 0.41: "
        "it will break one of them on new data at least half of the time."
    )


def test_inside_of_all_limits_the_nearest_is_named_with_its_interval() -> None:
    wanted = Requirements(max_fpr=Fraction(9, 10), min_dr=Fraction(1, 10))
    document = held(wanted, 7.5)
    dr, fpr = document["min_dr"], document["max_fpr"]
    # Of what their intervals reach, the detection rate has less to spare.
    assert (0.6 - 0.1) / (0.6 - dr["low"]) < (0.9 - 0.2) / (fpr["high"] - 0.2)
    assert worth_of(wanted, 7.5) == (
        f"It lies inside all 2 constraints: 0.6 [{dr['low']:.3g}, {dr['high']:.3g}] where a "
        "detection rate of at least 0.1 was asked, nearest to the limit. All of the interval keeps "
        "it, but nothing is promised."
    )
    beyond = worth_of(Requirements(max_fpr=Fraction(45, 100)), 7.5)
    assert beyond == (
        f"It lies inside its constraint: 0.2 [{fpr['low']:.3g}, {fpr['high']:.3g}] where a false "
        "positive rate of at most 0.45 was asked. The interval reaches beyond it, so new data may "
        "break it."
    )
    cost = Requirements(max_fpr=Fraction(9, 10), cost_fp=HALF, cost_fn=HALF)
    assert worth_of(cost, 7.5).endswith(f"nothing is promised. {OPTIMISTIC}")
    budget = Requirements(max_alerts=Fraction(4000), volume=Fraction(10_000), base_rate=TENTH)
    inside = worth_of(budget, 8.5)
    # A tenth of the others and two of five attacks: 0.9 x 0.1 + 0.1 x 0.4 of 10,000.
    assert inside.startswith("It lies inside its constraint: 1,300 [")


def test_slack_is_held_against_an_eighth_of_the_interval() -> None:
    each = {"constraint": "max_fpr", "value": 0.2, "limit": 0.25, "low": 0.1, "high": 0.6}
    assert estimating._slack(each) == (pytest.approx(0.05), pytest.approx(0.4))
    least = {"constraint": "min_dr.dos", "value": 0.8, "limit": 0.7, "low": 0.4, "high": 0.9}
    assert estimating._slack(least) == (pytest.approx(0.1), pytest.approx(0.4))
    large = swept(range(1000), range(900, 1400))
    wanted = Requirements(max_fpr=FIFTH)
    at = {**each, "limit": 0.25, "value": 0.2}
    # A twentieth is an eighth of 0.4.
    assert estimating._binds({**at, "high": 0.60001}, large, 400, wanted)
    assert not estimating._binds({**at, "high": 0.59}, large, 400, wanted)


# -- findings --------------------------------------------------------------------------------------


def codes(sweep: ThresholdSweep, wanted: Requirements, point: Point | None = None,
          holdout: ThresholdSweep | None = None) -> dict[str, str]:  # fmt: skip
    findings = findings_of(sweep, wanted, point, holdout, None)
    return {finding.code: finding.message for finding in findings}


BIG = swept(range(1000), np.arange(500) + 0.5)


def at(threshold: float, sweep: ThresholdSweep = BIG, **asked: Any) -> Point:
    return Point(threshold, "", None, estimates_at(sweep, threshold, Requirements(**asked), 0.95))


def test_thirty_rows_of_a_kind_are_enough() -> None:
    for size, few in ((29, True), (30, False)):
        assert ("T003" in codes(swept(range(size), range(50)), Requirements())) is few
        assert ("T003" in codes(swept(range(50), range(size)), Requirements())) is few
        sweep = of_families(range(50), dos=range(40), scan=range(size))
        wanted = Requirements(families={"scan": HALF})
        assert ("T003" in codes(sweep, wanted)) is few
        assert "T003" not in codes(sweep, Requirements(families={"dos": HALF}))
    words = codes(swept(range(7), range(9)), Requirements())["T003"]
    assert words.startswith("There are only 9 positives and 7 negatives: a single row")


def test_what_depends_on_the_base_rate_is_said_where_there_is_none() -> None:
    def said(**asked: Any) -> str:
        return codes(BIG, Requirements(**asked)).get("T004", "")

    assert said(max_fpr=HALF) == ""
    assert said(max_far=HALF, base_rate=TENTH) == ""
    lead = "No base rate was given, so "
    assert said(max_far=HALF).startswith(f"{lead}the FAR is at the share of attacks in these rows, 33.3%.")  # fmt: skip # noqa: E501
    assert said(max_far=HALF, volume=HALF, cost_fp=HALF).startswith(
        f"{lead}the FAR, the number of alerts and the cost are at"
    )


def test_a_threshold_that_flags_nothing_right_or_everything_is_a_finding() -> None:
    top = swept([*range(100), 2000], range(50))
    assert "T005" in codes(top, Requirements(), at(2000.0, top))
    assert "T006" in codes(BIG, Requirements(), at(0.0))
    assert not {"T005", "T006"} & set(codes(BIG, Requirements(), at(1.0)))
    assert not {"T005", "T006"} & set(codes(BIG, Requirements()))


def test_a_detector_that_costs_more_than_none_is_a_finding() -> None:
    # Without alerts a third of the rows are missed; at 0.5 nearly all others are flagged too.
    for cost_fn, dear in ((Fraction(1), True), (Fraction(100), False)):
        asked = {"cost_fp": Fraction(1), "cost_fn": cost_fn}
        assert ("T007" in codes(BIG, Requirements(**asked), at(0.5, **asked))) is dear
        rare = {**asked, "base_rate": Fraction(1, 1000)}
        assert "T007" in codes(BIG, Requirements(**rare), at(0.5, **rare))
    asked = {"cost_fp": Fraction(1), "cost_fn": Fraction(1)}
    words = codes(BIG, Requirements(**asked), at(0.5, **asked))["T007"]
    assert words.startswith("Without any alert a row would cost 0.333333, less than the 0.666 of")
    assert "T007" not in codes(BIG, Requirements(**asked))


def test_rows_of_a_holdout_that_were_seen_before_are_a_finding() -> None:
    assert "T001" in codes(BIG, Requirements())
    assert codes(BIG, Requirements(), None, BIG)["T002"].startswith("All of the 1,500 rows")
    half = swept(np.append(np.arange(500), np.arange(500) + 5000.25), np.arange(500) + 9000.5)
    assert "T002" not in codes(BIG, Requirements(), None, half)
    most = swept(np.append(np.arange(800), np.arange(200) + 5000.25), np.arange(500) + 0.5)
    assert codes(BIG, Requirements(), None, most)["T002"].startswith("1,300 of the 1,500 rows")
    just = swept(np.append(np.arange(750), np.arange(250) + 5000.25), np.arange(500) + 9000.5)
    assert "T002" not in codes(BIG, Requirements(), None, just)
    ties = swept(np.arange(1000) // 2, np.arange(500) + 0.25)
    assert choices._shared_rows(ties, swept(np.arange(1000) // 2, np.arange(499) + 0.25)) == 0


def test_broken_constraints_are_a_warning_or_chance() -> None:
    def broken(*each: tuple[bool | None, bool]) -> list[tuple[str, str, str]]:
        judged = {"constraints": [
            {"constraint": "max_fpr", "value": 0.3, "limit": 0.2, "held": h, "sure": s}
            for h, s in each
        ]}  # fmt: skip
        findings = findings_of(BIG, Requirements(), None, BIG, judged)
        return [(f.code, str(f.severity), f.message) for f in findings if f.code == "T008"]

    said = "max_fpr (0.3 where 0.2 was asked)"
    assert broken((True, True), (None, False)) == []
    assert broken((False, True)) == [
        ("T008", "warning", f"On the holdout the threshold breaks {said}.")
    ]
    assert broken((False, False)) == [
        ("T008", "info", (f"On the holdout the threshold does not keep {said}, by no more than "
         "chance allows."))
    ]  # fmt: skip
    assert broken((False, False), (False, True))[0][1] == "warning"


def test_a_point_is_read_by_measure_at_the_base_rate_and_by_family() -> None:
    point = at(100.0, base_rate=TENTH)
    plain = {(e.measure, e.base_rate): e.estimate for e in point.estimates}
    assert point["false_discovery_rate"] == plain["false_discovery_rate", 0.1]
    assert point["fdr"] == plain["false_discovery_rate", 0.1]
    assert list(limits_at(BIG, 100.0, Requirements(), point.estimates)) == []
