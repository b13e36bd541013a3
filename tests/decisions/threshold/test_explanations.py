"""What is said of a choice, with its numbers worked out once more."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.stats import beta, binom

from assay import choose_threshold
from assay.decisions.threshold import explanations
from assay.decisions.threshold.constraints import Requirements
from assay.decisions.threshold.objectives import empirical_rule, guaranteed_rule
from assay.decisions.threshold.promises import AlertsPromised, FarPromised, FprPromised
from assay.decisions.threshold.sweep import ThresholdSweep
from assay.inference.threshold_rules import SweepCounts
from assay.tally import ScoreTally

TENTH, FIFTH, HALF = Fraction(1, 10), Fraction(1, 5), Fraction(1, 2)


def swept(negatives: Any, positives: Any) -> ThresholdSweep:
    """A sweep of some scores."""
    scores = np.array([*negatives, *positives], float)
    truth = np.array([0] * len(negatives) + [1] * len(positives))
    return ThresholdSweep.of_scores(
        "attack", ScoreTally.of_rows(("normal", "attack"), scores, truth)
    )


def of_families(negatives: Any, **families: Any) -> ThresholdSweep:
    labels = ("normal", *families)
    sides = [negatives, *families.values()]
    scores = np.array([x for side in sides for x in side], float)
    truth = np.array([i for i, side in enumerate(sides) for _ in side])
    two = ScoreTally.of_rows(("normal", "attack"), scores, np.minimum(truth, 1))
    return ThresholdSweep.of_scores("attack", two, ScoreTally.of_rows(labels, scores, truth))


def not_found(sweep: ThresholdSweep, **asked: Any) -> str:
    wanted = Requirements(**asked)
    return explanations.not_found(sweep, wanted, empirical_rule(wanted))


def not_promised(sweep: ThresholdSweep, *, seen: bool = True, **asked: Any) -> str:
    wanted = Requirements(**asked)
    return explanations.not_promised(sweep, wanted, guaranteed_rule(wanted), on_these_rows=seen)


def most(rows: int, rate: float, risk: float) -> int:
    """The most errors that show a rate."""
    return int(np.flatnonzero(binom.cdf(np.arange(rows + 1), rows, rate) <= risk)[-1])


def needed(rate: float, risk: float) -> str:
    """So many rows without an error show a rate."""
    return f"{math.ceil(math.log(risk) / math.log1p(-rate)):,}"


# -- how it was found ------------------------------------------------------------------------------


def test_each_constraint_is_named() -> None:
    wanted = Requirements(
        max_far=FIFTH, max_fpr=TENTH, min_dr=HALF, max_alerts=Fraction(1000),
        volume=Fraction(20_000), base_rate=Fraction(1, 1000), families={"dos": Fraction(3, 4)},
    )  # fmt: skip
    rate = "at a base rate of 0.001"
    assert explanations.asked(wanted) == [
        f"a FAR of at most 0.2 {rate}",
        "a false positive rate of at most 0.1",
        f"at most 1,000 alerts expected a day among 20,000 rows {rate}",
        "a detection rate of at least 0.5",
        "a detection rate of at least 0.75 for 'dos'",
    ]
    assert explanations.asked(Requirements(max_alerts=HALF)) == []
    assert explanations.at(None) == "at the share of attacks in these rows"
    assert explanations.rate(Fraction(2, 3)) == "0.666667"
    assert explanations.rate(0.99999999) == "0.99999999"


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"max_fpr": TENTH}, ("The highest detection rate on these rows with a false positive rate "
         "of at most 0.1; of equal thresholds the highest.")),
        ({"min_dr": HALF}, ("The lowest false alarm rate on these rows with a detection rate of at "
         "least 0.5; of equal thresholds the one that detects most.")),
        ({"cost_fp": HALF, "cost_fn": HALF}, ("The lowest expected cost at the share of attacks in "
         "these rows on these rows.")),
        ({"cost_fp": HALF, "cost_fn": HALF, "base_rate": TENTH, "max_fpr": TENTH}, ("The lowest "
         "expected cost at a base rate of 0.1 on these rows with a false positive rate of at most "
         "0.1; of equal thresholds the highest.")),
    ],
)  # fmt: skip
def test_the_empirical_optimum_says_what_it_is(asked: dict[str, Any], said: str) -> None:
    assert explanations.empirical(Requirements(**asked)) == said


def test_a_promise_says_how_many_errors_it_allows() -> None:
    sweep = swept(range(300), range(100, 350))
    fixed = "Fixed by the number of rows before scores are seen."
    lowest = "the lowest of these thresholds, which detects most"

    def said(**asked: Any) -> str:
        return explanations.guaranteed(Requirements(**asked), sweep)

    assert said(max_fpr=FIFTH) == (
        f"FPR <= 0.2: at most {most(300, 0.2, 0.1)} of the 300 negatives flagged; {lowest}. {fixed}"
    )
    assert said(min_dr=Fraction(4, 5)) == (
        f"DR >= 0.8: at most {most(250, 0.2, 0.1)} of the 250 positives missed; the highest of "
        f"these thresholds, which raises the fewest alarms. {fixed}"
    )
    assert said(max_far=FIFTH, base_rate=TENTH) == (
        "FAR <= 0.2 at a base rate of 0.1: bounds on the detection rate and the false positive "
        "rate along up to 250 ranks of the attacks, from high scores to low until the first "
        f"failure; {lowest}. {fixed}"
    )
    assert said(max_alerts=Fraction(2), volume=Fraction(10)) == (
        f"alerts <= 0.2 of all rows: at most {most(550, 0.2, 0.1)} of the 550 rows flagged; "
        f"{lowest}. {fixed}"
    )
    assert said(max_alerts=Fraction(2), volume=Fraction(10), base_rate=TENTH) == (
        "alerts <= 0.2 of all rows at a base rate of 0.1: an upper bound on the detection rate and "
        f"one on the false positive rate; {lowest}. {fixed}"
    )
    # A budget of all rows binds nothing.
    assert said(max_alerts=Fraction(10), volume=Fraction(10)).startswith("; the lowest")
    assert said(max_fpr=FIFTH, min_dr=HALF) == (
        f"FPR <= 0.2: at most {most(300, 0.2, 0.05)} of the 300 negatives flagged; DR >= 0.5: at "
        f"most {most(250, 0.5, 0.05)} of the 250 positives missed; {lowest}. {fixed} The 2 "
        "constraints hold together: they share the error, each fails with a chance of at most "
        "0.05 (Bonferroni)."
    )
    assert said(max_fpr=FIFTH, cost_fp=HALF, cost_fn=HALF).endswith(
        f"; of these thresholds the one with the lowest expected cost on these rows. {fixed}"
    )
    assert said(max_fpr=Fraction(1, 1000)).startswith("FPR <= 0.001: at most 0 of the 300")
    families = of_families(range(300), dos=range(100), scan=range(60))
    wanted = Requirements(families={"scan": HALF})
    assert explanations.guaranteed(wanted, families).startswith(
        f"DR of 'scan' >= 0.5: at most {most(60, 0.5, 0.1)} of the 60 positives missed; the highest"
    )
    many = swept(range(5), range(2500))
    assert "up to 2,000 ranks" in explanations.guaranteed(Requirements(max_far=FIFTH), many)


# -- why nothing is found --------------------------------------------------------------------------


def test_where_no_threshold_keeps_a_far_the_lowest_is_told() -> None:
    # The highest score is a negative; best are 2 of 3, at 5: a third is false.
    sweep = swept([9, 1, 0], [5, 4, 0.5])
    said = not_found(sweep, max_far=TENTH)
    assert said == (
        "Not possible on this data: no threshold keeps a FAR of at most 0.1 at the share of "
        "attacks in these rows: the lowest FAR at the share of attacks in these rows is 0.333333, "
        "at the threshold 4. A better detector would help, more rows would not."
    )
    # With a tenth of attacks 0.9 x 1/3 false to 0.1 x 2/3 true.
    rare = not_found(sweep, max_far=TENTH, base_rate=TENTH)
    assert f"the lowest FAR at a base rate of 0.1 is {0.3 / (0.3 + 0.2 / 3):.6g}," in rare


def test_where_the_highest_score_flags_too_many_that_is_said() -> None:
    sweep = swept([9, 9, 0], [9, 1])
    assert not_found(sweep, max_fpr=HALF) == (
        "Not possible on this data: no threshold keeps a false positive rate of at most 0.5: even "
        "the highest score flags too many rows."
    )


def test_where_constraints_do_not_meet_both_ends_are_told() -> None:
    sweep = swept([1, 2, 3, 4, 5, 6, 7, 8, 9, 10], [9.5, 8.5, 2.5, 1.5])
    # At most one of ten negatives needs 9.5, where one of four is detected; three need 2.5.
    assert not_found(sweep, max_fpr=TENTH, min_dr=Fraction(3, 4)) == (
        "Not possible on this data: no threshold keeps a false positive rate of at most 0.1 and a "
        "detection rate of at least 0.75. Few enough false alarms need a threshold of at least "
        "9.5, where 0.25 of the attacks are detected; enough detection needs one of at most 2.5. A "
        "better detector would help, or asking for less."
    )


# -- why nothing is promised -----------------------------------------------------------------------

LEAD = "Not possible on this data with a confidence of 0.9."


def test_too_few_rows_say_how_many_it_takes() -> None:
    sweep = swept(range(10), range(5, 25))
    # Ten rows without an error show 1 - 0.1^(1/10).
    assert not_promised(sweep, max_fpr=TENTH) == (
        f"{LEAD} A false positive rate of at most 0.1 can't be promised from 10 negatives: even "
        f"with none of them flagged they show no less than {1 - 0.1 ** (1 / 10):.6g}. It takes "
        f"{needed(0.1, 0.1)} negatives with none flagged."
    )
    assert not_promised(sweep, min_dr=Fraction(19, 20)) == (
        f"{LEAD} A detection rate of at least 0.95 can't be promised from 20 positives: even with "
        f"all of them flagged they show no more than {0.1 ** (1 / 20):.6g}. It takes "
        f"{needed(0.05, 0.1)} positives with all flagged."
    )
    assert not_promised(sweep, max_alerts=Fraction(1), volume=Fraction(100)) == (
        f"{LEAD} An alert rate of at most 0.01 can't be promised from 30 rows: even with none of "
        f"them flagged they show no less than {1 - 0.1 ** (1 / 30):.6g}. It takes "
        f"{needed(0.01, 0.1)} rows with none flagged."
    )
    families = of_families(range(40), dos=range(30), scan=range(3))
    assert not_promised(families, families={"scan": HALF}) == (
        f"{LEAD} A detection rate of 'scan' of at least 0.5 can't be promised from 3 positives: "
        f"even with all of them flagged they show no more than {0.1 ** (1 / 3):.6g}. It takes "
        f"{needed(0.5, 0.1)} positives with all flagged."
    )
    assert not_promised(sweep, seen=False, max_fpr=TENTH).startswith("A false positive rate")
    assert not_promised(sweep, seen=False, max_fpr=Fraction(1, 10**30)).endswith(
        "It takes more rows than can be counted negatives with none flagged."
    )


def test_ties_at_the_top_are_told() -> None:
    sweep = swept([9] * 60, [9] * 60)
    assert not_promised(sweep, max_fpr=HALF) == (
        f"{LEAD} A false positive rate of at most 0.5 can't be promised from 60 negatives: too "
        "many of them share the highest score, and no score lies above it."
    )


def test_constraints_that_share_the_error_say_so() -> None:
    sweep = swept(range(10), range(5, 25))
    said = not_promised(sweep, max_fpr=TENTH, min_dr=HALF)
    assert said.endswith(
        "with none flagged. The 2 constraints share the error, so that each has a risk of 0.05."
    )
    assert f"It takes {needed(0.1, 0.05)} negatives" in said
    apart = swept(range(1000), range(1, 1000, 2))
    both = not_promised(apart, max_fpr=FIFTH, min_dr=Fraction(4, 5))
    assert both.startswith(
        f"{LEAD} Each constraint alone can be promised, all together can't. Few enough false "
        "alarms need a threshold of at least "
    )


def far_parts(positives: int) -> tuple[float, float]:
    """What the detection rate may be off, and what is left of all of it."""
    lost = math.sqrt(math.log(100) / (2 * positives))
    return lost, 1 - lost


def test_too_few_positives_show_nothing_about_the_detection_rate() -> None:
    for positives, nothing in ((2, True), (3, False)):
        said = not_promised(swept(range(500), range(600, 600 + positives)), max_far=FIFTH)
        # It takes more than ln(100)/2 = 2.3 of them; to count them twice the logarithm is taken.
        assert ("show nothing about the detection rate" in said) is nothing
    few = not_promised(swept(range(500), [600, 601]), max_far=FIFTH, base_rate=TENTH)
    assert few == (
        f"{LEAD} A FAR of at most 0.2 at a base rate of 0.1 can't be promised from 2 positives: "
        f"they show nothing about the detection rate. It takes {math.ceil(2 * math.log(100))} at "
        "least."
    )


def test_too_few_negatives_for_a_far_say_what_they_can_show() -> None:
    sweep = swept(range(20), range(30, 80))
    _, shown = far_parts(50)
    allowed = TENTH / (1 - TENTH) * TENTH / (1 - TENTH)
    least = 1 - 0.09 ** (1 / 20)
    best = 0.9 * least / (0.9 * least + 0.1 * shown)
    fpr = float(allowed) * shown
    assert not_promised(sweep, max_far=TENTH, base_rate=TENTH) == (
        f"{LEAD} A FAR of at most 0.1 at a base rate of 0.1 can't be promised from 20 negatives "
        f"and 50 positives: it needs a false positive rate of at most {fpr:.6g} even if every "
        f"attack is detected. The lowest FAR that so many rows can show is {best:.6g}. It takes "
        f"{needed(fpr, 0.09)} negatives without one false alarm."
    )


def test_false_alarms_at_every_threshold_say_what_would_do() -> None:
    """Attacks and others at the same scores, and a few attacks above all."""
    lost, _ = far_parts(200)
    quiet, attacks = np.arange(400), np.append(np.linspace(0, 399, 160), np.full(40, 500.0))
    sweep = swept(quiet, attacks)
    said = not_promised(sweep, max_far=Fraction(1, 20), base_rate=HALF)
    # 40 of 200 above all negatives are 0.2, of which the bound leaves 0.2 less what it may be off.
    allowed = 1 / 19 * (0.2 - lost)
    assert said.startswith(
        f"{LEAD} A FAR of at most 0.05 at a base rate of 0.5 can't be promised: at no threshold "
        "are there few enough false alarms. Looked at one by one, none shows a FAR below "
    )
    assert said.endswith(
        "The threshold above all negatives detects 0.2: with so much it takes "
        f"{needed(allowed, 0.09)} negatives without one false alarm. A better detector takes fewer."
    )
    places = sorted({int((np.sort(attacks)[::-1] >= s).sum()) for s in attacks})
    fars = []
    for tp in places:
        score = np.sort(attacks)[::-1][tp - 1]
        fp = min(int((quiet >= score).sum()), 399)
        high, shown = beta.ppf(1 - 0.09, fp + 1, 400 - fp), max(tp / 200 - lost, 0)
        fars.append(high / (high + shown))
    assert f"none shows a FAR below {min(fars):.6g}." in said
    none = swept(np.append(np.arange(4000), 9999), np.linspace(0, 3999, 200))
    assert not_promised(none, max_far=TENTH, base_rate=HALF).endswith(
        "A better detector would help: too few attacks score above all negatives."
    )


def test_a_budget_says_what_can_not_be_shown() -> None:
    sweep = swept(range(20), range(30, 80))
    lost, _ = far_parts(50)
    budget = {"volume": Fraction(100), "base_rate": TENTH}
    too_small = not_promised(sweep, max_alerts=Fraction(1), **budget)
    assert too_small == (
        f"{LEAD} The budget (0.01 of all rows) can't be promised at a base rate of 0.1: 50 "
        "positives can't show that few enough attacks are flagged. More positives or a larger "
        "budget would help."
    )
    left = (0.1 - 0.1 * (1 / 50 + lost)) / 0.9
    few = not_promised(sweep, max_alerts=Fraction(10), **budget)
    assert few == (
        f"{LEAD} The budget (0.1 of all rows) can't be promised at a base rate of 0.1 from 20 "
        "negatives: even with none of them flagged they show a false positive rate of no less "
        f"than {1 - 0.09 ** (1 / 20):.6g}, and it has to be {left:.6g}. It takes "
        f"{needed(left, 0.09)} negatives with none flagged."
    )
    above = swept(np.append(np.arange(300), [999] * 200), range(300, 350))
    assert not_promised(above, max_alerts=Fraction(20), **budget).endswith(
        "at a base rate of 0.1: too many negatives score as high as the highest attack."
    )


def test_small_parts_of_explanations() -> None:
    assert explanations._far_of(0.1, 0.8, 0.25) == pytest.approx(0.075 / (0.075 + 0.2))
    counts = SweepCounts(np.array([2, 4]), np.array([1, 5]), 4, 10)
    assert explanations._far(counts, 0, None) == pytest.approx(1 / 3)
    assert explanations._far(counts, 0, HALF) == pytest.approx(0.1 / 0.6)
    assert explanations._why(FprPromised(TENTH, TENTH), counts).startswith("A false positive rate")
    assert explanations._why(FarPromised(TENTH, HALF, TENTH), counts).startswith("A FAR")
    assert explanations._why(AlertsPromised(TENTH, HALF, TENTH), counts).startswith("The budget")


@pytest.mark.parametrize(
    ("mode", "untried"),
    [
        ("grid", "Thresholds inside a cell of the grid were not tried"),
        ("cuts", "Thresholds between the scores that were kept were not tried"),
    ],
)
def test_thresholds_that_were_not_tried_are_said(mode: str, untried: str) -> None:
    # All scores lie in one cell of a grid, and those of attacks, the most rows, in one gap.
    rows = {
        "y": ["normal"] * 100 + ["attack"] * 300,
        "p": [10_000 + i / 1_000 for i in range(400)],
    }

    def infeasible(mode: str, limit: float) -> str | None:
        asked: dict[str, Any] = {"max_alerts": limit, "volume": 1_000, "resamples": 20}
        return choose_threshold(rows, label="y", score="p", mode=mode, **asked).infeasible

    assert infeasible("exact", 500) is None
    assert untried in str(infeasible(mode, 500))
    assert infeasible(mode, 1_000) is None
    assert "tried" not in str(infeasible("exact", 1e-9))
