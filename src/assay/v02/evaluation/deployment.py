"""What a detector does a day where attacks are as rare as they are, and what a test can show.

The top alerts of a day are those with the k highest scores. Operations label what was raised, not
the rest. Precision and the false alarm rate need nothing else. The detection rate needs the attacks
among the rows that raised no alarm; a random sample of those, labelled and weighted, gives an
estimate of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from numbers import Integral
from typing import TYPE_CHECKING, Any

from assay.errors import InputError, MethodError
from assay.v02.escaping import given_text
from assay.v02.evaluation.probabilities import bounded, scores_of
from assay.v02.formula import cells
from assay.v02.inference import Estimate, Wilson
from assay.v02.inference.significance import LARGEST_COUNT, check_amount
from assay.v02.inference.top import THRESHOLD, TopAlerts, of_rows, of_sample, over_days
from assay.v02.measures import (
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
from assay.v02.measures.catalogue import LOW_RATES
from assay.v02.number_text import rate_percent, significant
from assay.v02.tally import Resolved, ScoreTally

if TYPE_CHECKING:
    from assay.v02.evaluation.entries import ByKey, Entry
    from assay.v02.evaluation.evaluation import Evaluation
    from assay.v02.evaluation.judge import Judge
    from assay.v02.evaluation.snapshot import EstimateRecord, Snapshot

TOLERATED_FAR = 0.1

PER_DAY = ALERTS, FALSE_ALARMS, MISSED = "alerts_per_day", "false_alarms_per_day", "missed_per_day"
AT_TOP = PRECISION_AT_TOP, RECALL_AT_TOP = "precision_at_top", "recall_at_top"
ALERTS_ONLY = frozenset({"TP", "FP"})
NOT_LABELLED = (
    "rows that raised no alarm were not labelled; weights for a labelled random sample of them "
    "would tell"
)
BY_SLICE = "rows without a label are not counted by slice"
HORVITZ_THOMPSON = "horvitz-thompson"
NO_CLUSTERS = "rows are taken as independent, without clusters"


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
    rates = []
    for name, declared in _read_off_rankings(LOW_RATES):
        threshold = None
        if negatives >= declared.negatives:
            at = last_within(ranking.points, declared.reach)
            threshold = float(ranking.tally.scores[at]) if at < ranking.tally.size else None
        allowed = math.floor(Fraction(repr(declared.reach)) * Fraction(negatives))
        rates.append(LowRate(name, declared.reach, allowed, threshold))
    return tuple(rates)


def _read_off_rankings(names: Iterable[str]) -> Iterator[tuple[str, Ranked]]:
    for name in names:
        declared = find(name).of_scores
        if isinstance(declared, Ranked):
            yield name, declared


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
        check_amount(f"{name}=, what an error costs,", cost)
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
    of_plain_counts = judge.tally.clusters is None and not judge.tally.confusion.weighted
    return of_plain_counts and float(false) == 0 and false.n >= needed


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


def reading(evaluation: ByKey, measure: Measure, estimate: Estimate) -> str:
    """What a value means where its measure has bands, or what a calibrated model would show.

    Praise is not repeated where most alarms would be false at a base rate that was asked for: then
    both are said.
    """
    if "if_calibrated" in estimate.parts:
        return (
            f"a calibrated model of this size: about "
            f"{significant(estimate.parts['if_calibrated'], 2)}"
        )
    band = None if math.isnan(estimate) else measure.band(estimate)
    if band is None or not band.praise:
        return "" if band is None else band.reading
    if evaluation.mostly_false is None:
        return band.reading
    rate, far = evaluation.mostly_false
    return (
        f"would be called {band.reading}, yet at a base rate of {rate_percent(rate)} "
        f"{rate_percent(far)} of alarms are false"
    )


# -- the top alerts of a day -----------------------------------------------------------------------


@dataclass(frozen=True)
class Top:
    """How many alerts of a day are read, and of which rows.

    ``days`` is how many days the rows come from; None where they stand for days of ``volume`` rows.
    ``alerts`` is how many are read in all, a day where there are no days. ``short_days`` is how
    many days have fewer than ``k`` rows.
    """

    k: int
    days: int | None
    volume: float | None
    alerts: float
    short_days: int


def top_of(tally: Resolved, k: Any, volume: float | None) -> Top:
    """What is read of the rows of a tally, refused where that can't be told."""
    if isinstance(k, bool) or not isinstance(k, Integral) or k < 1:
        raise InputError(
            f"top= is how many alerts a day are read, a whole number; found {given_text(k)}"
        )
    if int(k) > LARGEST_COUNT:
        raise InputError(f"top= is at most 10^36 alerts a day; found {given_text(int(k))}")
    if tally.scores is None:
        raise MethodError("top= ranks rows by scores, and there are only decisions: give y_score=")
    if tally.days is None and volume is None:
        raise InputError(
            f"the top {k} alerts of a day need days: give times=, when each row happened, or "
            f"volume=, how many rows there are a day"
        )
    if tally.days is None:
        return Top(int(k), None, volume, min(float(k), volume or math.inf), 0)
    sizes = [day.confusion.total for day in tally.days.values()]
    read = sum(min(k, size) for size in sizes)
    return Top(int(k), len(sizes), volume, read, sum(size < k for size in sizes))


def at_top(judge: Judge, top: Top, base_rate: float | None) -> Callable[[], TopAlerts] | None:
    """What tells precision and detection rate among the top alerts, on the rows or at a base rate.

    There are top alerts of days that were counted, or of days of ``volume`` rows; None where there
    are neither.
    """
    if base_rate is None and judge.tally.days is not None:
        return partial(_top_of_days, judge, top.k, judge.tally.days)
    if top.volume is None:
        return None
    return partial(_top_of_volume, judge, top.k, top.volume, base_rate)


def _top_of_days(judge: Judge, k: int, days: Mapping[str, Resolved]) -> TopAlerts:
    if alerts_only(judge):
        return _undefined(judge, NOT_LABELLED)
    tables = {day: _table(tally) for day, tally in days.items()}
    return _bounded(tables, lambda day_tables: over_days(day_tables, k, judge.level))


def _top_of_volume(judge: Judge, k: int, volume: float, base_rate: float | None) -> TopAlerts:
    """At the threshold at which a day of ``volume`` rows is expected to bring ``k`` alerts."""
    table = _table(judge.tally)
    negatives, positives = (float(total) for total in table.totals())
    why = None
    if alerts_only(judge):
        why = NOT_LABELLED
    elif not positives or not negatives:
        why = f"there are no {'negatives' if positives else 'positives'} to rank"
    if why is not None:
        return _undefined(judge, why)
    share = min(k / volume, 1.0)

    def read(tables: Mapping[str, ScoreTally]) -> TopAlerts:
        if base_rate is None:
            return of_rows(tables[""], share, judge.level)
        return of_sample(tables[""], share, base_rate, judge.level)

    alerts = _bounded({"": table}, read)
    if judge.tally.clusters is None:
        return alerts
    note = NO_CLUSTERS
    return TopAlerts(alerts.precision.changed(note=note), alerts.recall.changed(note=note))


def _bounded(
    tables: Mapping[str, ScoreTally], read: Callable[[Mapping[str, ScoreTally]], TopAlerts]
) -> TopAlerts:
    """What is read, with bounds where the order inside a cell at the border is not known."""
    alerts = read(tables)
    if not any(table.inexact for table in tables.values()) or math.isnan(alerts.precision):
        return alerts
    worst, best = (
        read({day: table.apart(positives_above=up) for day, table in tables.items()})
        for up in (False, True)
    )
    return TopAlerts(
        bounded(alerts.precision, (float(worst.precision), float(best.precision)), (0, 1)),
        bounded(alerts.recall, (float(worst.recall), float(best.recall)), (0, 1)),
    )


def _table(tally: Resolved) -> ScoreTally:
    return scores_of(tally)[0]


def _undefined(judge: Judge, why: str) -> TopAlerts:
    estimate = Estimate(math.nan, level=judge.level, undefined=why)
    return TopAlerts(estimate, estimate)


def thresholds(entries: Iterable[Entry | EstimateRecord]) -> list[dict[str, float | None]]:
    """From which score on so many alerts are expected, at each share of positives."""
    return [
        {"base_rate": entry.base_rate, THRESHOLD: entry.estimate.parts[THRESHOLD]}
        for entry in entries
        if entry.measure == PRECISION_AT_TOP and THRESHOLD in entry.estimate.parts
    ]


# -- where only alerts were labelled ---------------------------------------------------------------


@dataclass(frozen=True)
class Unlabelled:
    """How many rows without a label raised an alarm, and how many did not."""

    flagged: int
    not_flagged: int


def alerts_only(judged: Judge | Evaluation | Snapshot) -> bool:
    """Whether rows that raised no alarm are unknown, without weights that stand for them."""
    return judged.unlabelled is not None and not judged.weighted


def counted(judge: Judge, unlabelled: Unlabelled, measure: Measure, label: int) -> Estimate | None:
    """The estimate where rows without a label change it; None where it is as usual.

    With weights labelled rows stand for those without a label, which are not counted again.
    """
    if not alerts_only(judge):
        if measure in (RECALL, FALSE_NEGATIVE_RATE) and label == 1:
            return _detected(judge, missed=measure == FALSE_NEGATIVE_RATE)
        return None
    if measure == ALERT_RATE and label == 1:
        rows_there = judge.tally.confusion.total or unlabelled.flagged or unlabelled.not_flagged
        return _alert_rate(judge, unlabelled) if rows_there else None
    if known(measure) and label == 1:
        return None
    return Estimate(math.nan, level=judge.level, undefined=NOT_LABELLED)


def known(measure: Measure) -> bool:
    """Whether a measure needs nothing but labelled alerts."""
    return measure.formula is not None and set(cells(measure.formula)) <= ALERTS_ONLY


def _alert_rate(judge: Judge, unlabelled: Unlabelled) -> Estimate:
    """The share of all rows that raised an alarm, labelled or not."""
    flagged = judge.tally.confusion.columns[1] + unlabelled.flagged
    rows = judge.tally.confusion.total + unlabelled.flagged + unlabelled.not_flagged
    low, high = Wilson(judge.level)(flagged, rows)
    return Estimate(
        flagged / rows,
        float(low),
        float(high),
        method="wilson",
        n=rows,
        level=judge.level,
        note=_note(judge),
    )


def _note(judge: Judge) -> str | None:
    return None if judge.tally.clusters is None else NO_CLUSTERS


def _detected(judge: Judge, *, missed: bool) -> Estimate:
    """The detection rate from labelled alerts and a weighted sample of the other rows.

    Attacks among alerts are the share p of A alerts, those among other rows the share q of B; the
    detection rate is A p / (A p + B q). The interval of q / p is recovered from Wilson's intervals
    of q and p (Donner and Zou 2012), since a sample without one missed attack is no proof that
    there is none.
    """
    confusion = judge.tally.confusion
    (tn, fp), (fn, tp) = confusion.cells
    squares = confusion.squares or confusion.cells
    alerts, quiet = tp + fp, tn + fn
    if not tp + fn:
        return Estimate(math.nan, level=judge.level, undefined="no labelled row is an attack")
    value = tp / (tp + fn)
    sampled = quiet**2 / (squares[0][0] + squares[1][0]) if quiet else 0.0
    raised = alerts**2 / (squares[0][1] + squares[1][1]) if alerts else 0.0
    if not tp or not sampled:
        note = "no interval: it needs labelled alerts that are attacks, and labelled other rows"
        return Estimate(1 - value if missed else value, n=tp + fn, level=judge.level, note=note)
    wilson = Wilson(judge.level)
    p, q = tp / alerts, fn / quiet
    p_low, p_high = (float(end) for end in wilson(p * raised, raised))
    q_low, q_high = (float(end) for end in wilson(q * sampled, sampled))
    ratio_low, ratio_high = _ratio_ends(q, (q_low, q_high), p, (p_low, p_high))
    low, high = (alerts / (alerts + quiet * r) for r in (ratio_high, ratio_low))
    low, high = min(low, value), max(high, value)
    if missed:
        value, low, high = 1 - value, 1 - high, 1 - low
    return Estimate(
        value,
        low,
        high,
        method=HORVITZ_THOMPSON,
        n=(tp + fn) ** 2 / (squares[1][0] + squares[1][1]),
        level=judge.level,
        note=_note(judge),
    )


def _ratio_ends(
    q: float, of_q: tuple[float, float], p: float, of_p: tuple[float, float]
) -> tuple[float, float]:
    """The interval of q / p from those of q and p."""

    def end(q_end: float, p_end: float, sign: int) -> float:
        if p_end >= 2 * p:
            # So few alerts that the interval of p tells nothing from above.
            return 0.0
        inside = (q * p) ** 2 - q_end * p_end * (2 * q - q_end) * (2 * p - p_end)
        return (q * p + sign * math.sqrt(max(inside, 0.0))) / (p_end * (2 * p - p_end))

    return max(end(of_q[0], of_p[1], -1), 0.0), end(of_q[1], of_p[0], 1)
