"""What whoever watches a detector must know, each with a code."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from assay.evaluation.findings import Finding
from assay.evaluation.findings.finding import Code
from assay.evaluation.words import interval, listed, percent, rate, some
from assay.inference.quantiles import chi_square_p
from assay.measures import PRECISION

if TYPE_CHECKING:
    from assay.decisions.monitor.result import Monitor, WatchedRule

BROKEN = Code(
    "M001",
    "warning",
    "a rule is broken",
    "The confidence sequence of all rows so far lies outside what the rule allows, at a look of "
    "your own choice: it is not by chance.",
    "Find out what has changed before the detector is trusted further; the periods and the shift "
    "of columns tell where to look.",
)
NOT_MATURE = Code(
    "M002",
    "info",
    "labels are still missing",
    "What is looked at first is seldom like the rest: figures of the labels so far would "
    "mislead, so only bounds are given.",
    "Wait for the labels, or say with --mature that a smaller share will do.",
)
SHIFTED = Code(
    "M003",
    "warning",
    "a column is not what it was",
    "It is shown that rows are no longer like those of the reference. That is no loss of quality "
    "by itself, and no proof of one: only labels tell.",
    "Label a sample of recent rows and judge the detector on it; where all is well, take recent "
    "rows as the next reference.",
)
BASE_RATE = Code(
    "M004",
    "warning",
    "the share of attacks may have moved",
    "Precision falls with the share of attacks, even where the detector is what it was.",
    "Label a sample of recent rows. If scores themselves have shifted, this estimate says nothing.",
)
BURSTS = Code(
    "M005",
    "warning",
    "false alarms come in bursts",
    "The confidence sequence of a number a day takes false alarms as independent; where days "
    "differ more than that allows it is too narrow.",
    "Read it as too sure. Group alerts that belong together, and count incidents: assay incidents.",
)
GAPS = Code(
    "M006",
    "info",
    "days without rows",
    "A day without rows may be a day on which nothing was recorded. It counts for nothing here.",
    "See whether the detector or the log stood still.",
)
MOVING = Code(
    "M007",
    "warning",
    "precision differs between periods",
    "A confidence sequence is of one value that stays; where it moves, that of all rows is an "
    "average over times that are unlike.",
    "Read the periods one by one, and start anew from the day on which it changed.",
)
CODES = (BROKEN, NOT_MATURE, SHIFTED, BASE_RATE, BURSTS, GAPS, MOVING)

# A chance as small as this is none: days were not looked at in advance.
_P = 1e-3
_FEWEST_DAYS = 5


def findings_of(
    monitor: Monitor, false_alarms: Sequence[int], precisions: Sequence[tuple[int, int]]
) -> Iterator[Finding]:
    """Every finding that applies: false alarms by day, true alarms of triaged ones by period."""
    for judged in monitor.rules:
        if judged.outcome == "broken":
            yield BROKEN.found(
                f"{judged.rule.text} is shown to be broken since {judged.since}: {_by(judged)}."
            )
    yield from _labels(monitor)
    shifted = [each for each in monitor.shift if each.shifted]
    if shifted:
        told = [f"{each.column} (since {each.since})" for each in shifted]
        yield SHIFTED.found(
            f"{listed(told)}: not as in the reference. A reason to label, not a loss of quality."
        )
    yield from _base_rate(monitor)
    yield from _bursts(false_alarms)
    if monitor.absent:
        number = len(monitor.absent)
        yield GAPS.found(
            f"there are no rows of {number} {'day' if number == 1 else 'days'} between the first "
            f"and the last: {some(monitor.absent)}."
        )
    yield from _moving(precisions)


def _by(judged: WatchedRule) -> str:
    found = judged.estimate
    if math.isnan(found):
        return f"between {rate(found.low)} and {rate(found.high)} by now"
    return f"{interval(found)} by now"


def _labels(monitor: Monitor) -> Iterator[Finding]:
    if monitor.positive is None:
        return
    waiting = [
        period
        for period in monitor.periods
        if period.figure(PRECISION.name, "period").mature < monitor.mature
    ]
    if waiting:
        alerts = sum(period.alerts - period.triaged for period in waiting)
        yield NOT_MATURE.found(
            f"{len(waiting)} of {len(monitor.periods)} periods have labels for fewer than "
            f"{percent(monitor.mature)} of their alerts, the first {waiting[0].start}: {alerts:,} "
            f"alerts wait for one. Of those periods only bounds are given."
        )


def _base_rate(monitor: Monitor) -> Iterator[Finding]:
    found, before = monitor.base_rate, monitor.reference_base_rate
    if found is None or before is None or math.isnan(found):
        return
    if found.low > before or found.high < before:
        yield BASE_RATE.found(
            f"alerts tell a share of attacks of {interval(found)}, and in the reference it was "
            f"{rate(before)}, if scores of attacks and of harmless rows are what they were."
        )


def _bursts(false_alarms: Sequence[int]) -> Iterator[Finding]:
    days, total = len(false_alarms), sum(false_alarms)
    if days < _FEWEST_DAYS or not total:
        return
    mean = total / days
    spread = sum((each - mean) ** 2 for each in false_alarms) / mean
    if chi_square_p(spread, days - 1) < _P:
        yield BURSTS.found(
            f"over {days} days false alarms have a mean of {mean:.3g} a day and a variance of "
            f"{spread * mean / (days - 1):.3g}; independent ones would have about as much variance "
            f"as mean."
        )


def _moving(precisions: Sequence[tuple[int, int]]) -> Iterator[Finding]:
    """Whether true alarms are spread over periods as one precision would spread them."""
    used = [(k, n) for k, n in precisions if n]
    hits, total = sum(k for k, _ in used), sum(n for _, n in used)
    if len(used) < 2 or hits in (0, total):
        return
    share = hits / total
    spread = sum((k - n * share) ** 2 / (n * share * (1 - share)) for k, n in used)
    if chi_square_p(spread, len(used) - 1) < _P:
        shares = [k / n for k, n in used]
        yield MOVING.found(
            f"precision of single periods runs from {rate(min(shares))} to {rate(max(shares))}, "
            f"farther apart than one precision allows."
        )
