"""The top alerts of a day: precision and detection rate among the k highest scores."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any

from assay.errors import InputError, MethodError
from assay.evaluation.judge import Judge
from assay.evaluation.labelled_alerts import NOT_LABELLED, alerts_only
from assay.evaluation.probabilities import bounded
from assay.inference import Estimate
from assay.inference.top import THRESHOLD, TopAlerts, of_rows, of_sample, over_days
from assay.tally import Resolved, ScoreTally

if TYPE_CHECKING:
    from assay.evaluation.entries import Entry
    from assay.evaluation.snapshot import Estimated

AT_TOP = PRECISION_AT_TOP, RECALL_AT_TOP = "precision_at_top", "recall_at_top"


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
        raise InputError(f"top= is how many alerts a day are read, a whole number; found {k!r}")
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


def told(judge: Judge, top: Top, base_rate: float | None) -> bool:
    """Whether there are top alerts: of days that were counted, or of days of ``volume`` rows."""
    return top.volume is not None or (base_rate is None and judge.tally.days is not None)


def at_top(judge: Judge, top: Top, base_rate: float | None) -> TopAlerts:
    """Precision and detection rate among the top alerts, on the rows or at a base rate.

    At a base rate, and without days, it takes the threshold at which a day of ``volume`` rows is
    expected to bring ``k`` alerts.
    """
    tally = judge.tally
    if base_rate is None and tally.days is not None:
        if alerts_only(judge):
            return _undefined(judge, NOT_LABELLED)
        days = {day: _table(t) for day, t in tally.days.items()}
        return _bounded(days, lambda tables: over_days(tables, top.k, judge.level))
    assert top.volume is not None  # noqa: S101 - without days there is one
    table = _table(tally)
    negatives, positives = (float(total) for total in table.totals())
    why = None
    if alerts_only(judge):
        why = NOT_LABELLED
    elif not positives or not negatives:
        why = f"there are no {'negatives' if positives else 'positives'} to rank"
    if why is not None:
        return _undefined(judge, why)
    share = min(top.k / top.volume, 1.0)

    def read(tables: Mapping[str, ScoreTally]) -> TopAlerts:
        if base_rate is None:
            return of_rows(tables[""], share, judge.level)
        return of_sample(tables[""], share, base_rate, judge.level)

    found = _bounded({"": table}, read)
    if tally.clusters is None:
        return found
    note = "rows are taken as independent, without clusters"
    return TopAlerts(found.precision.changed(note=note), found.recall.changed(note=note))


def _bounded(
    tables: Mapping[str, ScoreTally], read: Callable[[Mapping[str, ScoreTally]], TopAlerts]
) -> TopAlerts:
    """What is read, with bounds where the order inside a cell at the border is not known."""
    found = read(tables)
    if not any(table.inexact for table in tables.values()) or math.isnan(found.precision):
        return found
    worst, best = (
        read({day: table.apart(positives_above=up) for day, table in tables.items()})
        for up in (False, True)
    )
    return TopAlerts(
        bounded(found.precision, (float(worst.precision), float(best.precision)), (0, 1)),
        bounded(found.recall, (float(worst.recall), float(best.recall)), (0, 1)),
    )


def _table(tally: Resolved) -> ScoreTally:
    assert tally.scores is not None  # noqa: S101 - checked when the top was asked for
    return tally.scores[0]


def _undefined(judge: Judge, why: str) -> TopAlerts:
    found = Estimate(math.nan, level=judge.level, undefined=why)
    return TopAlerts(found, found)


def thresholds(entries: Iterable[Entry | Estimated]) -> list[dict[str, float | None]]:
    """From which score on so many alerts are expected, at each share of positives."""
    return [
        {"base_rate": entry.base_rate, THRESHOLD: entry.estimate.parts[THRESHOLD]}
        for entry in entries
        if entry.measure == PRECISION_AT_TOP and THRESHOLD in entry.estimate.parts
    ]
