"""What a detector does a day where attacks are as rare as they are, and what a test can show."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from numbers import Real
from typing import TYPE_CHECKING, Any

from assay.errors import InputError
from assay.evaluation.words import percent
from assay.inference import Estimate
from assay.measures import (
    ALERT_RATE,
    FALSE_NEGATIVE_RATE,
    FALSE_POSITIVE_RATE,
    PREVALENCE,
    RECALL,
    Costs,
    Measure,
    Ranked,
    find,
    last_within,
)
from assay.measures.shown import LOW_RATES

if TYPE_CHECKING:
    from assay.evaluation.judge import Judge
    from assay.evaluation.views import ByKey

TOLERATED_FAR = 0.1
# Costs beyond this have products that no float holds.
_LEAST_COST = 1e-100

PER_DAY = ALERTS, FALSE_ALARMS, MISSED = "alerts_per_day", "false_alarms_per_day", "missed_per_day"


@dataclass(frozen=True)
class Reach:
    """What it takes to keep the false alarm rate at a base rate under what is tolerated.

    ``largest_fpr`` is the highest false positive rate that does, at this detection rate.
    ``negatives_needed`` is how many harmless rows without one false alarm would show it, and
    ``enough`` whether the test set holds as many. ``held`` is whether this test set shows that the
    rate is kept (its interval lies below, or there are as many rows without a false alarm as are
    needed), shows that it is not (False), or neither (None).
    """

    base_rate: float
    tolerated_far: float
    largest_fpr: float
    negatives: float
    negatives_needed: float
    enough: bool
    held: bool | None


@dataclass(frozen=True)
class LowRate:
    """Where the detection rate at a low false positive rate is read, and whether it can be.

    ``allowed`` are the false positives that the rate allows among the negatives, and ``threshold``
    the lowest score that keeps it; None where the negatives are too few, or nothing is flagged.
    """

    measure: str
    max_fpr: float
    allowed: int
    threshold: float | None


def low_rates(judge: Judge) -> tuple[LowRate, ...]:
    """The low false positive rates that papers quote; none without scores of two classes."""
    if judge.rankings is None or not judge.binary or not judge.rankings[0].tally.size:
        return ()
    ranking = judge.rankings[0]
    negatives = ranking.tally.effective()[0]
    found = []
    for name in LOW_RATES:
        declared = find(name).of_scores
        assert isinstance(declared, Ranked)  # noqa: S101 - it is read off a ranking
        threshold = None
        if negatives >= declared.negatives:
            at = last_within(ranking.points, declared.reach)
            threshold = float(ranking.tally.scores[at]) if at < ranking.tally.size else None
        allowed = math.floor(Fraction(repr(declared.reach)) * Fraction(negatives))
        found.append(LowRate(name, declared.reach, allowed, threshold))
    return tuple(found)


def costs_of(cost_fp: Any, cost_fn: Any) -> Costs | None:
    """What errors cost, as it was said; None where nothing was.

    >>> costs_of(1, 20).miss
    Fraction(20, 1)
    """
    if cost_fp is None and cost_fn is None:
        return None
    if cost_fp is None or cost_fn is None:
        raise InputError("cost_fp= and cost_fn= go together: what a false alarm and a miss cost")
    for name, cost in (("cost_fp", cost_fp), ("cost_fn", cost_fn)):
        number = isinstance(cost, Real) and not isinstance(cost, bool)
        if not number or not _LEAST_COST <= cost <= 1 / _LEAST_COST:
            raise InputError(f"{name}= is what an error costs, above 0; found {cost!r}")
    return Costs(Fraction(repr(float(cost_fp))), Fraction(repr(float(cost_fn))))


def reach(judge: Judge, base_rate: float, tolerated: float = TOLERATED_FAR) -> Reach | None:
    """What a false alarm rate of at most ``tolerated`` asks for at a base rate.

    None where the detection rate or the false positive rate is undefined, or nothing is detected.

    FAR <= f where FPR <= f / (1 - f) * p / (1 - p) * TPR. Without one false alarm in N rows the
    upper bound of FPR is 1 - (1 - level)^(1/N).
    """
    detected = judge.of_label(RECALL, 1)
    false = judge.of_label(FALSE_POSITIVE_RATE, 1)
    if math.isnan(false) or not detected > 0:
        return None
    odds = tolerated / (1 - tolerated) * base_rate / (1 - base_rate)
    largest = min(odds * float(detected), 1.0)
    needed = math.log(1 - judge.level) / math.log1p(-largest) if largest < 1 else 1.0
    held = None
    if false.high <= largest or _none_in(judge, false, needed):
        held = True
    elif false.low > largest:
        held = False
    return Reach(
        base_rate,
        tolerated,
        largest,
        false.n,
        math.ceil(needed),
        enough=false.n >= math.ceil(needed),
        held=held,
    )


def _none_in(judge: Judge, false: Estimate, needed: float) -> bool:
    """Whether as many independent rows as are needed brought no false alarm."""
    plain = judge.tally.clusters is None and not judge.tally.confusion.weighted
    return plain and float(false) == 0 and false.n >= needed


def daily(judge: Judge, figure: str, volume: float, base_rate: float | None) -> Estimate:
    """Alerts, false alarms or missed attacks, one of ``PER_DAY``, of a day with ``volume`` rows.

    At the share of attacks in the test set, or at another base rate.
    """
    if figure == ALERTS:
        if base_rate is None:
            return _scaled(judge.of_label(ALERT_RATE, 1), volume)
        return _scaled(judge.at_base_rate(ALERT_RATE, base_rate), volume)
    attacks = float(judge.of_label(PREVALENCE, 1)) if base_rate is None else base_rate
    if figure == FALSE_ALARMS:
        return _scaled(judge.of_label(FALSE_POSITIVE_RATE, 1), volume * (1 - attacks))
    return _scaled(judge.of_label(FALSE_NEGATIVE_RATE, 1), volume * attacks)


def _scaled(rate: Estimate, size: float) -> Estimate:
    return rate.changed(rate * size, low=rate.low * size, high=rate.high * size)


def reading(evaluation: ByKey, measure: Measure, found: Estimate) -> str:
    """What a value means where its measure has bands, or what a calibrated model would show.

    Praise is not repeated where most alarms would be false at a base rate that was asked for: then
    both are said.
    """
    if "if_calibrated" in found.parts:
        return f"a calibrated model of this size: about {found.parts['if_calibrated']:.2g}"
    band = None if math.isnan(found) else measure.band(found)
    if band is None or not band.praise:
        return "" if band is None else band.reading
    if evaluation.mostly_false is None:
        return band.reading
    rate, far = evaluation.mostly_false
    return (
        f"would be called {band.reading}, yet at a base rate of {percent(rate)} {percent(far)} of "
        f"alarms are false"
    )
