"""From a daily tally to what is found: periods, figures, rules, maturity and shifts."""

from __future__ import annotations

import calendar
import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from assay.v02.decisions.daily_counts import ALERTS as ALERT_CELLS
from assay.v02.decisions.daily_counts import DEFAULT_THRESHOLD, Reference
from assay.v02.decisions.monitor_result import (
    Age,
    Monitor,
    Period,
    findings_of,
    judged_rule,
    must_have_old,
    watched_rules,
)
from assay.v02.decisions.rule import DIFFERENCE, NEW, OLD, Rule
from assay.v02.decisions.watched_figures import (
    NEGATIVE,
    OPEN,
    POSITIVE,
    Counts,
    FollowedFigure,
    FollowedRate,
    FollowedShare,
    PeriodCounts,
    Shift,
    base_rate_of,
    figures_of,
    shift_of,
)
from assay.errors import InputError, LabelError, ScoreError
from assay.v02.escaping import given_text
from assay.v02.evaluation.deployment import FALSE_ALARMS, PER_DAY
from assay.v02.evaluation.findings import urgent_first
from assay.v02.inference.estimate import Estimate
from assay.v02.inference.significance import check_level
from assay.v02.measures import find
from assay.v02.measures.catalogue import WATCHED, WATCHED_DIFFERENCES
from assay.v02.sources.coded import Labels
from assay.v02.sources.columns import BOOLEAN, NUMBER, TEXT, label_kind, label_text, native
from assay.v02.sources.files.read import typed
from assay.v02.sources.files.request import RowSource
from assay.v02.sources.labelling import Labelling, label_as, must_meet, resolve
from assay.v02.sources.times import DAY, MONTH, PERIODS, WEEK, absent
from assay.v02.tally.confusion import BELOW, FLAGGED
from assay.v02.tally.daily import NOT_ASKED, UNLABELLED, DailyTally

MATURE = 0.9
# Ages of alerts, in days, that are told apart.
_AGES = (0, 1, 2, 3, 4, 5, 6, 7, 14, 30)


def judge_periods(
    tally: DailyTally,
    *,
    every: str | int = DAY,
    rules: str | Rule | Iterable[str | Rule] = (),
    level: float = 0.95,
    mature: float = MATURE,
    positive: Any = None,
    negative: Any = None,
    labels: Sequence[Any] | None = None,
    seed: int,
    source: RowSource,
    row_notes: Sequence[str] = (),
) -> Monitor:
    """Everything that a daily tally tells of a detector in use."""
    check_level(level)
    must_be_a_share(mature)
    parsed = watched_rules(rules)
    settings = tally.settings
    must_have_scores_in_range(tally)
    stored = settings["reference"]
    reference = None if stored is None else Reference.of_plain(stored)
    labelling, notes = _labelling(tally, reference, positive, negative, labels)
    has_old = settings["old_score"] is not None or settings["old_decision"] is not None
    must_have_old(parsed, has_old=has_old)
    spans = periods_of(tally.days, every)
    counts = _counts(tally, labelling, has_old=has_old)
    at = {day: i for i, day in enumerate(tally.days)}
    alone = np.stack([counts[[at[day] for day in span.days]].sum(axis=0) for span in spans])
    days = np.array([len(span.days) for span in spans], np.float64)
    asked = _figures_followed(parsed, has_old=has_old)
    label = None if labelling is None else labelling.positive
    options: dict[str, Any] = {"level": level, "mature": mature, "positive": label}
    of_periods = figures_of(PeriodCounts(alone, days, "period"), asked, **options)
    so_far = PeriodCounts(np.cumsum(alone, axis=0), np.cumsum(days), "cumulative")
    of_all = figures_of(so_far, asked, **options)
    alerts = alone.sum(axis=3)[:, :, 1]
    periods = tuple(
        Period(
            span.start,
            span.end,
            rows=int(alone[i].sum()),
            alerts=int(alerts[i].sum()),
            triaged=int(alerts[i, :OPEN].sum()),
            days=len(span.days),
            estimates=(*of_periods[i], *of_all[i]),
        )
        for i, span in enumerate(spans)
    )
    table = _reference_table(reference, labelling, settings)
    monitor = Monitor(
        periods=periods,
        rules=tuple(judged_rule(rule, periods) for rule in parsed),
        shift=_shifts(tally, reference, level, seed),
        findings=(),
        every=every if isinstance(every, str) else f"{min(every, dt.date.max.toordinal())} days",
        until=tally.days[-1],
        level=level,
        mature=mature,
        rows=tally.rows,
        labels=() if labelling is None else labelling.labels,
        positive=label,
        threshold=_threshold(settings, "decision", "threshold"),
        models=(NEW, OLD) if has_old else (NEW,),
        maturity=_maturity(tally.days, counts) if labelling is not None else (),
        absent=absent(tally.days, DAY),
        base_rate=None if table is None else _base_rate(so_far, table, level),
        reference_base_rate=None if table is None else _prevalence(table),
        seed=seed,
        notes=(*row_notes, *notes),
        source=source,
        tally=tally,
    )
    by_day = _with_labels(counts.sum(axis=3)[:, :, 1], mature)
    by_period = _with_labels(alerts, mature)
    findings = findings_of(
        monitor,
        false_alarms=by_day[:, NEGATIVE].tolist() if labelling is not None else [],
        precisions=[(row[POSITIVE], row[POSITIVE] + row[NEGATIVE]) for row in by_period.tolist()],
    )
    return replace(monitor, findings=urgent_first(findings))


def _with_labels(alerts: Counts, mature: float) -> Counts:
    """The alerts, by day or period, of which enough have a label."""
    enough = alerts[:, OPEN] <= (1 - mature) * alerts.sum(axis=1)
    return np.asarray(alerts[enough], np.int64)


# -- periods ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Span:
    """A period: its first and last day, and the days of it that have rows."""

    start: str
    end: str
    days: tuple[str, ...]


def periods_of(days: Sequence[str], every: str | int) -> tuple[Span, ...]:
    """Days gathered into periods; of so many days each, they start with the first day.

    >>> [(span.start, span.end) for span in periods_of(["2026-03-01", "2026-03-04"], 2)]
    [('2026-03-01', '2026-03-02'), ('2026-03-03', '2026-03-04')]
    """
    _must_be_a_period(every)
    gathered: dict[tuple[str, str], list[str]] = {}
    first = dt.date.fromisoformat(days[0])
    for day in days:
        gathered.setdefault(_span(dt.date.fromisoformat(day), every, first), []).append(day)
    return tuple(
        Span(start, min(end, max(days[-1], start)), tuple(with_rows))
        for (start, end), with_rows in gathered.items()
    )


def _span(day: dt.date, every: str | int, first: dt.date) -> tuple[str, str]:
    if every == DAY:
        start = end = day.toordinal()
    elif every == WEEK:
        start = day.toordinal() - day.weekday()
        end = start + 6
    elif every == MONTH:
        start = day.replace(day=1).toordinal()
        end = start + calendar.monthrange(day.year, day.month)[1] - 1
    else:
        length = int(every)
        start = first.toordinal() + (day - first).days // length * length
        end = start + length - 1
    # Nothing comes after the last day of the year 9999.
    ends = start, min(end, dt.date.max.toordinal())
    began, ended = (dt.date.fromordinal(number).isoformat() for number in ends)
    return began, ended


def _must_be_a_period(every: Any) -> None:
    is_count = isinstance(every, int) and not isinstance(every, bool) and every > 0
    if not is_count and every not in PERIODS:
        raise InputError(
            f"every= is {', '.join(PERIODS)} or a number of days; found {given_text(every)}"
        )


def must_be_a_share(mature: Any) -> None:
    """The share of labels that a figure needs."""
    number = isinstance(mature, int | float) and not isinstance(mature, bool)
    if not number or not 0 < mature <= 1:
        raise InputError(
            f"mature= is a share above 0 and up to 1, such as 0.9; found {given_text(mature)}"
        )


# -- labels and counts -----------------------------------------------------------------------------


def _labelling(
    tally: DailyTally,
    reference: Reference | None,
    positive: Any,
    negative: Any,
    labels: Sequence[Any] | None,
) -> tuple[Labelling | None, tuple[str, ...]]:
    """Which label is the alarm; None where there are neither labels nor decisions by name."""
    settings = tally.settings
    truth = {cell[1] for cell in tally.cells} - {UNLABELLED}
    decisions = [
        {cell[at] for cell in tally.cells}
        for at, role in ((2, "decision"), (3, "old_decision"))
        if settings[role] is not None
    ]
    of_reference = set()
    if reference is not None:
        of_reference = {label for label, _ in reference.decided} - {UNLABELLED}
        of_reference |= {
            answer for _, answer in reference.decided if settings["decision"] is not None
        }
    given = [each for each in (positive, negative) if each is not None]
    counted_as = _of_one_kind(truth.union(of_reference, *decisions))
    names = sorted(set(counted_as.values()))
    if not names and not given:
        return None, (_NO_LABEL,)
    kind = _kind_of(names) if names else label_kind(given[0])
    sides = typed(kind, positive=positive, negative=negative, labels=labels)
    chosen = [label_as(sides[s], kind, s) for s in ("positive", "negative") if sides[s] is not None]
    if labels is None and chosen and len(names) < 2:
        # It need not have occurred yet.
        sides["labels"] = [native(name, kind) for name in dict.fromkeys([*names, *chosen])]
    labelling = resolve(Labels(np.zeros(0, np.uint8), tuple(names), kind), None, **sides)
    if labelling.positive is None:
        raise LabelError(
            f"there are {len(labelling.labels)} labels, {', '.join(map(repr, names[:6]))}: say "
            f"which is the alarm with positive=, or which is harmless with negative="
        )
    for column in decisions:
        answer = {counted_as[name] for name in column}
        if truth and labels is None and len(answer) > 1 and not answer & set(chosen):
            must_meet(sorted({counted_as[name] for name in truth}), sorted(answer))
    position = {name: labelling.position[other] for name, other in counted_as.items()}
    notes = labelling.notes if truth else (*labelling.notes, _NO_LABEL)
    return replace(labelling, position={**labelling.position, **position}), notes


_NO_LABEL = "no row has a label yet: nothing is told of precision, nor of false alarms"


def _of_one_kind(names: set[str]) -> dict[str, str]:
    """What each label counts as: true and false, beside 0 and 1, are those.

    >>> _of_one_kind({"true", "1", "0"}) == {"true": "1", "1": "1", "0": "0"}
    True
    """
    numbers = {label_text(flag): label_text(int(flag)) for flag in (False, True)}
    both = names & set(numbers) and names & set(numbers.values())
    if not both or not names <= {*numbers, *numbers.values()}:
        return {name: name for name in names}
    return {name: numbers.get(name, name) for name in names}


def _kind_of(names: Sequence[str]) -> str:
    """The kind of labels that a tally holds as text, by how all of them are written."""
    for kind in (NUMBER, BOOLEAN):
        values = [native(name, kind) for name in names]
        if [label_text(value) for value in values] == list(names) and (
            {label_kind(value) for value in values} == {kind}
        ):
            return kind
    return TEXT


def _counts(tally: DailyTally, labelling: Labelling | None, *, has_old: bool) -> Counts:
    """Counts by day, truth, and what one model or both decided."""
    days = {day: i for i, day in enumerate(tally.days)}
    position = {} if labelling is None else labelling.position
    by_threshold = {FLAGGED: 1, BELOW: 0, NOT_ASKED: 0}
    by_new, by_old = (
        by_threshold if tally.settings[role] is None else position
        for role in ("decision", "old_decision")
    )
    truth = {**position, UNLABELLED: OPEN}
    counts = np.zeros((len(days), 3, 2, 2 if has_old else 1), np.int64)
    for (day, label, new, old), number in tally.cells.items():
        counts[days[day], truth[label], by_new[new], by_old[old]] += number
    return counts


def must_have_scores_in_range(tally: DailyTally) -> None:
    """Refuse a usual threshold for scores that are no shares."""
    for role, given in (("score", "threshold"), ("old", "old_threshold")):
        by_day = tally.extremes.get(role, {}).values()
        decides = role == "old" or tally.settings["decision"] is None
        if tally.settings[given] is not None or not by_day or not decides:
            continue
        low, high = min(end for end, _ in by_day), max(end for _, end in by_day)
        if not 0 <= low <= high <= 1:
            raise ScoreError(
                f"scores run from {low:g} to {high:g}, so {DEFAULT_THRESHOLD} means nothing: say "
                f"{given}=, the score from which on a row is flagged"
            )


def _threshold(settings: Any, decision: str, threshold: str) -> float | None:
    if settings[decision] is not None:
        return None
    threshold_given = settings[threshold]
    return DEFAULT_THRESHOLD if threshold_given is None else float(threshold_given)


# -- figures ---------------------------------------------------------------------------------------


def _figures_followed(rules: Sequence[Rule], *, has_old: bool) -> tuple[FollowedFigure, ...]:
    """What is followed: the usual figures, and those of the rules."""
    figures: dict[tuple[str, str], FollowedFigure] = {}

    def add(name: str, subject: str) -> None:
        daily = name in PER_DAY
        figures.setdefault(
            (name, subject),
            FollowedRate(name, subject) if daily else FollowedShare(find(name), subject),
        )

    for subject in (NEW, OLD) if has_old else (NEW,):
        for name in WATCHED:
            add(name, subject)
        add(FALSE_ALARMS, subject)
    if has_old:
        for name in WATCHED_DIFFERENCES:
            add(name, DIFFERENCE)
    for rule in rules:
        add(rule.written if rule.measure is None else rule.measure.name, rule.subject)
    return tuple(figures.values())


# -- maturity and shifts ---------------------------------------------------------------------------


def _maturity(days: Sequence[str], counts: Counts) -> tuple[Age, ...]:
    """How many alerts of each age have a label; the age is that on the last day."""
    last = dt.date.fromisoformat(days[-1])
    ages = np.array([(last - dt.date.fromisoformat(day)).days for day in days])
    alerts = counts.sum(axis=3)[:, :, 1]
    by_age = []
    for first, after in zip(_AGES, (*_AGES[1:], None), strict=True):
        here = (ages >= first) & (True if after is None else ages < after)
        if alerts[here].sum():
            last_age = None if after is None else after - 1
            triaged = int(alerts[here][:, :OPEN].sum())
            by_age.append(Age(first, last_age, int(alerts[here].sum()), triaged))
    return tuple(by_age)


def _shifts(
    tally: DailyTally, reference: Reference | None, level: float, seed: int
) -> tuple[Shift, ...]:
    """Each column against the reference; all of them together at the level, by Bonferroni."""
    if reference is None:
        return ()
    alpha = (1 - level) / len(reference.cells)
    return tuple(
        shift_of(
            cells,
            tally.slots[cells.column],
            alpha=alpha,
            seed=seed,
            by_cuts=cells.column == ALERT_CELLS,
        )
        for cells in reference.cells
    )


def _reference_table(
    reference: Reference | None, labelling: Labelling | None, settings: Mapping[str, Any]
) -> dict[str, int] | None:
    """The four cells of the reference; None where it has no labels of both kinds."""
    if reference is None or labelling is None:
        return None
    table = {"tn": 0, "fp": 0, "fn": 0, "tp": 0}
    columns = {FLAGGED: 1, BELOW: 0} if settings["decision"] is None else labelling.position
    for (label, decision), number in reference.decided.items():
        if label in labelling.position and decision in columns:
            truth, flagged = labelling.position[label], columns[decision]
            table[("tn", "fp", "fn", "tp")[2 * truth + flagged]] += number
    both = table["tp"] + table["fn"] > 0 and table["tn"] + table["fp"] > 0
    return table if both else None


def _prevalence(table: Mapping[str, int]) -> float:
    return (table["tp"] + table["fn"]) / sum(table.values())


def _base_rate(so_far: PeriodCounts, table: Mapping[str, int], level: float) -> Estimate | None:
    counts = so_far.of(NEW)[-1]
    return base_rate_of(int(counts[:, 1].sum()), int(counts.sum()), table, level)
