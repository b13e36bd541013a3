"""A choice in words: how a threshold was found, or why none can be and what would help."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from assay.v02.decisions.rows_needed import rows_needed
from assay.v02.decisions.threshold.constraints import (
    LOWEST_COST,
    LOWEST_FAR,
    FarAtMost,
    FprAtMost,
    Requirements,
    up_to,
)
from assay.v02.decisions.threshold.objectives import (
    HighestThreshold,
    LowestFar,
    LowestThreshold,
    ThresholdRule,
)
from assay.v02.decisions.threshold.promises import (
    ON_DETECTION,
    RANKS,
    AlertsPromised,
    DrPromised,
    EveryRank,
    FamilyPromised,
    FarPromised,
    FprPromised,
    Promise,
    margin,
    promises_of,
    ranks,
)
from assay.v02.decisions.threshold.sweep import ThresholdCounts, ThresholdSweep
from assay.errors import InputError
from assay.v02.escaping import plural
from assay.v02.evaluation.wording import listed, name
from assay.v02.inference.significance import least_shown, most_allowed, tail
from assay.v02.inference.threshold_resampling import Chooser
from assay.v02.inference.threshold_rules import SweepCounts
from assay.v02.number_text import below, count, threshold_text


def rate(share: Fraction | float) -> str:
    """A rate to six digits, without trailing zeros; more where it would read as 1 and is less."""
    return below(float(share), 1, 6)


def at(base_rate: Fraction | None) -> str:
    """At which share of attacks something holds."""
    if base_rate is None:
        return "at the share of attacks in these rows"
    return f"at a base rate of {rate(base_rate)}"


def asked(wanted: Requirements) -> list[str]:
    """Each constraint in words."""
    texts = []
    if wanted.max_far is not None:
        texts.append(f"a FAR of at most {rate(wanted.max_far)} {at(wanted.base_rate)}")
    if wanted.max_fpr is not None:
        texts.append(f"a false positive rate of at most {rate(wanted.max_fpr)}")
    if wanted.max_alerts is not None and wanted.volume is not None:
        texts.append(
            f"at most {count(float(wanted.max_alerts))} "
            f"{plural(float(wanted.max_alerts), 'alert', 'alerts')} expected a day among "
            f"{count(float(wanted.volume))} {plural(float(wanted.volume), 'row', 'rows')} "
            f"{at(wanted.base_rate)}"
        )
    if wanted.min_dr is not None:
        texts.append(f"a detection rate of at least {rate(wanted.min_dr)}")
    texts += [
        f"a detection rate of at least {rate(limit)} for {name(family)}"
        for family, limit in wanted.families.items()
    ]
    return texts


def empirical(wanted: Requirements) -> str:
    """How the empirical optimum was found."""
    best = f"The {wanted.objective}"
    if wanted.objective == LOWEST_COST:
        best += f" {at(wanted.base_rate)}"
    if not wanted.size:
        return f"{best} on these rows."
    tie = "the one that detects most" if wanted.objective == LOWEST_FAR else "the highest"
    return f"{best} on these rows with {listed(asked(wanted))}; of equal thresholds {tie}."


def guaranteed(wanted: Requirements, swept: ThresholdSweep) -> str:
    """How the guaranteed threshold was found."""
    said = _bounds(wanted, swept)
    shared = ""
    if wanted.size > 1:
        shared = (
            f" The {wanted.size} constraints hold together: they share the error, each fails with "
            f"a chance of at most {rate(wanted.risk)} (Bonferroni)."
        )
    best = "the lowest of these thresholds, which detects most"
    if wanted.objective == LOWEST_FAR:
        best = "the highest of these thresholds, which raises the fewest alarms"
    if wanted.objective == LOWEST_COST:
        best = f"of these thresholds the one with the {wanted.objective} on these rows"
    return f"{'; '.join(said)}; {best}. Fixed by the number of rows before scores are seen.{shared}"


def _bounds(wanted: Requirements, swept: ThresholdSweep) -> list[str]:
    bounds = []
    if wanted.max_far is not None:
        bounds.append(
            f"FAR <= {rate(wanted.max_far)} {at(wanted.base_rate)}: bounds on the detection rate "
            f"and the false positive rate along up to {count(min(swept.positives, RANKS))} ranks "
            f"of the attacks, from high scores to low until the first failure"
        )
    if wanted.max_fpr is not None:
        most = most_allowed(swept.negatives, wanted.max_fpr, wanted.risk)
        bounds.append(
            f"FPR <= {rate(wanted.max_fpr)}: at most {count(most or 0)} of {_of(swept.negatives)} "
            f"negatives flagged"
        )
    if wanted.budget is not None and wanted.budget < 1:
        flagged = f"alerts <= {rate(wanted.budget)} of all rows"
        if wanted.base_rate is None:
            most = most_allowed(swept.rows, wanted.budget, wanted.risk)
            bounds.append(
                f"{flagged}: at most {count(most or 0)} of {_of(swept.rows)} rows flagged"
            )
        else:
            bounds.append(
                f"{flagged} {at(wanted.base_rate)}: an upper bound on the detection rate and one "
                f"on the false positive rate"
            )
    if wanted.min_dr is not None:
        bounds.append(_misses("DR", wanted.min_dr, swept.positives, wanted.risk))
    sizes = {family.name: family.size for family in swept.families}
    bounds += [
        _misses(f"DR of {name(family)}", limit, sizes[family], wanted.risk)
        for family, limit in wanted.families.items()
    ]
    return bounds


def _misses(what: str, limit: Fraction, positives: int, risk: Fraction) -> str:
    most = most_allowed(positives, 1 - limit, risk) or 0
    return f"{what} >= {rate(limit)}: at most {count(most)} of {_of(positives)} positives missed"


def _of(rows: int) -> str:
    return f"the {count(rows)}"


# -- why nothing can be promised or found ----------------------------------------------------------


CLUSTERS = (
    "Nothing can be promised: rows come in clusters, and the exact promise counts independent "
    "rows. Keep one row of each cluster and leave the clusters out, or judge the empirical "
    "threshold on a holdout."
)


_ANY_FAR = ThresholdRule((), LowestFar())
_NO_FALSE_ALARM = ThresholdRule((FprAtMost(Fraction(0)),), LowestThreshold())


def _ends_of_limits(swept: ThresholdSweep, rule: ThresholdRule) -> ThresholdCounts:
    """Where each constraint of a rule begins and ends to be kept by itself."""
    asked_for: list[Chooser] = [rule]
    for limit in rule.limits:
        asked_for += [
            ThresholdRule((limit,), end) for end in (LowestThreshold(), HighestThreshold())
        ]
        if isinstance(limit, FarPromised):
            asked_for += [EveryRank(), _NO_FALSE_ALARM]
    return swept.seen_by(*asked_for)


def not_found(swept: ThresholdSweep, wanted: Requirements, rule: ThresholdRule) -> str:
    """Why no threshold keeps the constraints on the rows at hand."""
    seen = _ends_of_limits(swept, rule)
    counts = seen.counts
    alone = [limit for limit in rule.limits if limit.kept(counts).empty]
    lead = f"Not possible on this data: no threshold keeps {listed(asked(wanted))}"
    for limit in alone:
        if isinstance(limit, FarAtMost):
            seen = swept.seen_by(_ANY_FAR)
            best = _ANY_FAR.position(seen.counts)
            far = _far(seen.counts, best, limit.base_rate)
            return (
                f"{lead}: the lowest FAR {at(limit.base_rate)} is {rate(far)}, at the threshold "
                f"{threshold_text(seen.thresholds[best])}. A better detector would help, more rows "
                f"would not."
            )
    if alone:
        return f"{lead}: even the highest score flags too many rows."
    return f"{lead}. {_conflict(seen, rule)}"


def not_promised(
    swept: ThresholdSweep, wanted: Requirements, rule: ThresholdRule, *, on_these_rows: bool
) -> str:
    """Why no threshold is promised to keep the constraints, and what would help.

    ``on_these_rows`` is whether one keeps them on the rows at hand.
    """
    seen = _ends_of_limits(swept, rule)
    counts = seen.counts
    promises = promises_of(wanted)
    said = [_why(promise, counts) for promise in promises if promise.kept(counts).empty]
    if not on_these_rows:
        return " ".join(said)
    if not said:
        said = [
            f"Each constraint alone can be promised, all together can't. {_conflict(seen, rule)}"
        ]
    if wanted.size > 1:
        said.append(
            f"The {wanted.size} constraints share the error, so that each has a risk of "
            f"{rate(wanted.risk)}."
        )
    lead = f"Not possible on this data with a confidence of {float(wanted.confidence):g}."
    return " ".join([lead, *said])


def _why(limit: Promise, counts: SweepCounts) -> str:
    """Why one constraint alone can't be promised."""
    if isinstance(limit, FprPromised):
        return _too_high("negatives", counts.negatives, limit.limit, limit.risk)
    if isinstance(limit, DrPromised):
        return _too_low("", counts.positives, limit.limit, limit.risk)
    if isinstance(limit, FamilyPromised):
        whose = f" of {name(limit.family)}"
        return _too_low(whose, counts.kind(limit.family).size, limit.limit, limit.risk)
    if isinstance(limit, FarPromised):
        return _far_not_shown(limit, counts)
    return _alerts_not_shown(limit, counts)


def _too_high(what: str, rows: int, limit: Fraction, risk: Fraction) -> str:
    said = "A false positive rate" if what == "negatives" else "An alert rate"
    called = plural(rows, what.removesuffix("s"), what)
    lead = f"{said} of at most {rate(limit)} can't be promised from {count(rows)} {called}"
    if most_allowed(rows, limit, risk) is not None:
        return f"{lead}: too many of them share the highest score, and no score lies above it."
    return (
        f"{lead}: even with none of them flagged they show no less than "
        f"{rate(least_shown(rows, float(risk)))}. It takes {_needed(limit, risk)} {what} with none "
        f"flagged."
    )


def _too_low(whose: str, rows: int, limit: Fraction, risk: Fraction) -> str:
    return (
        f"A detection rate{whose} of at least {rate(limit)} can't be promised from {count(rows)} "
        f"{plural(rows, 'positive', 'positives')}: even with all of them flagged they show no "
        f"more than "
        f"{rate(1 - least_shown(rows, float(risk)))}. It takes {_needed(1 - limit, risk)} "
        f"positives with all flagged."
    )


def _far_not_shown(limit: FarPromised, counts: SweepCounts) -> str:
    rate_ = limit.base_rate or Fraction(counts.positives, counts.rows)
    lead = f"A FAR of at most {rate(limit.limit)} {at(limit.base_rate)} can't be promised"
    risk = limit.risk * (1 - ON_DETECTION)
    shown = 1 - margin(counts.positives, limit.risk)
    if shown <= 0:
        needed = math.ceil(-2 * math.log(float(limit.risk * ON_DETECTION)))
        return (
            f"{lead} from {count(counts.positives)} "
            f"{plural(counts.positives, 'positive', 'positives')}: they show nothing about the "
            f"detection rate. It takes {count(needed)} at least."
        )
    allowed = min(float(limit.odds(counts)) * shown, 1.0)
    if allowed < 1 and float(tail(0, counts.negatives, allowed)) > float(risk):
        least = least_shown(counts.negatives, float(risk))
        best = _far_of(least, shown, float(rate_))
        return (
            f"{lead} from {count(counts.negatives)} negatives and {count(counts.positives)} "
            f"positives: it needs a false positive rate of at most {rate(allowed)} even if every "
            f"attack is detected. The lowest FAR that so many rows can show is {rate(best)}. It "
            f"takes {_needed(Fraction(allowed), risk)} negatives without one false alarm."
        )
    return (
        f"{lead}: at no threshold are there few enough false alarms. Looked at one by one, none "
        f"shows a FAR below {rate(_best_far(limit, counts))}. {_clean(limit, counts, risk)}"
    )


def _clean(limit: FarPromised, counts: SweepCounts, risk: Fraction) -> str:
    """How many negatives would do at the threshold above all of these."""
    place = up_to(counts.fp, 0)
    detected = int(counts.tp[place]) if place >= 0 else 0
    allowed = float(limit.allowed_fpr(counts, np.array(detected)))
    if allowed <= 0:
        return "A better detector would help: too few attacks score above all negatives."
    return (
        f"The threshold above all negatives detects {rate(detected / counts.positives)}: with so "
        f"much it takes {_needed(Fraction(allowed), risk)} negatives without one false alarm. A "
        f"better detector takes fewer."
    )


def _best_far(limit: FarPromised, counts: SweepCounts) -> float:
    """The lowest FAR that any threshold shows by itself."""
    from scipy.special import betainccinv

    places = ranks(counts)
    fp = np.minimum(counts.fp[places], counts.negatives - 1)
    high = betainccinv(fp + 1, counts.negatives - fp, float(limit.risk * (1 - ON_DETECTION)))
    shown = counts.tp[places] / counts.positives - margin(counts.positives, limit.risk)
    share = float(limit.base_rate or Fraction(counts.positives, counts.rows))
    return min(map(_far_of, high.tolist(), np.maximum(shown, 0).tolist(), [share] * len(fp)))


def _far_of(fpr: float, dr: float, base_rate: float) -> float:
    false = (1 - base_rate) * fpr
    return false / (false + base_rate * dr)


def _far(counts: SweepCounts, position: int, base_rate: Fraction | None) -> float:
    share = base_rate or Fraction(counts.positives, counts.rows)
    fpr = int(counts.fp[position]) / counts.negatives
    return _far_of(fpr, int(counts.tp[position]) / counts.positives, float(share))


def _alerts_not_shown(limit: AlertsPromised, counts: SweepCounts) -> str:
    if limit.base_rate is None:
        return _too_high("rows", counts.rows, limit.limit, limit.risk)
    risk = limit.risk * (1 - ON_DETECTION)
    # At the highest score of an attack next to none of them is detected.
    left = float(limit.left_for_negatives(counts, np.array(1), limit.base_rate))
    lead = f"The budget ({rate(limit.limit)} of all rows) can't be promised {at(limit.base_rate)}"
    if left <= 0:
        return (
            f"{lead}: {count(counts.positives)} "
            f"{plural(counts.positives, 'positive', 'positives')} can't show that few enough "
            f"attacks are "
            f"flagged. More positives or a larger budget would help."
        )
    if left < 1 and float(tail(0, counts.negatives, left)) > float(risk):
        return (
            f"{lead} from {count(counts.negatives)} "
            f"{plural(counts.negatives, 'negative', 'negatives')}: even with none of them "
            f"flagged they "
            f"show a false positive rate of no less than "
            f"{rate(least_shown(counts.negatives, float(risk)))}, and it has to be "
            f"{rate(left)}. It takes {_needed(Fraction(left), risk)} negatives with none flagged."
        )
    return f"{lead}: too many negatives score as high as the highest attack."


def _conflict(seen: ThresholdCounts, rule: ThresholdRule) -> str:
    """Which thresholds the constraints ask for, where they don't meet."""
    counts = seen.counts
    kept = [limit.kept(counts) for limit in rule.limits]
    low = max(float(seen.thresholds[each.lowest]) for each in kept)
    highs = [float(seen.thresholds[each.first]) for each in kept if each.among is None]
    high = min(highs, default=math.inf)
    if low <= high:
        return "No threshold keeps them all."
    position = seen.position(low)
    detected = int(counts.tp[position]) / counts.positives
    return (
        f"Few enough false alarms need a threshold of at least {threshold_text(low)}, where "
        f"{rate(detected)} of the attacks are detected; enough detection needs one of at most "
        f"{threshold_text(high)}. A better detector would help, or asking for less."
    )


def _needed(limit: Fraction, risk: Fraction) -> str:
    try:
        return count(rows_needed(limit, 0, risk))
    except InputError:  # more than anybody counts
        return "more rows than can be counted"
