"""Judge alerts by incidents instead of rows."""

from __future__ import annotations

import datetime as dt
import os
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

from assay.decisions.incidents.counting import REVERSED, Scoring
from assay.decisions.incidents.from_logs import Log, LogReading, judged_logs
from assay.decisions.incidents.from_rows import judged_rows
from assay.decisions.incidents.judging import Judging
from assay.decisions.incidents.matching import Matching
from assay.decisions.incidents.result import Incidents
from assay.decisions.incidents.schedule import Incident, read_schedule
from assay.engines.ask import Ask, Columns, Grouping
from assay.errors import InputError
from assay.sources.files.request import Progress, Request, silent
from assay.tally.incidents import SECOND

Duration: TypeAlias = "float | str | dt.timedelta"

ESTIMATE = "estimate"
GRACE, GAP = 0.0, 600.0
# False alarms of the same ends follow each other into one false incident.
KEY = ("src_ip", "dst_ip", "host")
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_LONGEST = 1000 * 366 * _UNITS["d"]
_PART = re.compile(r"(\d+(?:\.\d+)?)\s*([smhd]?)")


def duration(given: Duration, name: str) -> int:
    """A length of time in microseconds: seconds, a timedelta, or text such as 90s, 10m, 1h30m.

    >>> duration("1h30m", "gap") == duration(5400, "gap")
    True
    """
    if isinstance(given, dt.timedelta):
        return given // dt.timedelta(microseconds=1)
    if isinstance(given, str):
        text = given.strip()
        sign = -1 if text.startswith("-") else 1
        parts = _PART.findall(text.lstrip("+-"))
        whole = "".join(number + unit for number, unit in parts)
        if not parts or whole != re.sub(r"\s", "", text.lstrip("+-")):
            raise InputError(f"{name}={given!r} is no length of time; write 60s, 10m or 1h30m")
        seconds = sign * sum(float(n) * _UNITS[u or "s"] for n, u in parts)
    else:
        seconds = given
    if not abs(seconds) <= _LONGEST:
        raise InputError(f"{name}={given!r} is no length of time up to 1,000 years; give seconds")
    return round(seconds * SECOND)


def incidents(
    rows: Any = None,
    *,
    alerts: Log | None = None,
    events: Log | None = None,
    schedule: str | os.PathLike[str] | Sequence[Mapping[str, Any] | Incident] | None = None,
    incident: str | None = None,
    time: str | None = None,
    decision: str | None = None,
    positive: Any = None,
    family: str | None = None,
    rule: str | None = None,
    count: str | None = None,
    match: Sequence[str] | None = None,
    directed: bool = False,
    grace: Duration = GRACE,
    gap: Duration = GAP,
    key: Sequence[str] | None = None,
    skew: Duration = 0.0,
    timezone: str | None = None,
    year: int | None = None,
    score: str | None = None,
    reversed_score: bool | None = None,
    threshold: float | None = None,
    max_false_incidents: float | None = None,
    max_delay: Duration | None = None,
    confidence: float = 0.9,
    level: float = 0.95,
    on_bad_row: Literal["stop", "skip"] = "stop",
    request: Request | None = None,
    progress: Progress = silent,
) -> Incidents:
    """Judge alerts by incidents: detected or not, how late, and at how many false alarms a day.

    From logs: ``alerts`` and ``events`` are logs (Suricata, Zeek, fast.log, JSON lines) or frames
    as :func:`assay.read_events` gives them, and ``schedule`` the attacks; ``events``
    tell what was observed. An alert belongs to an incident where it lies in its window, from the
    start to the end and ``grace`` after, and the columns of ``match`` fit in either direction,
    unless ``directed``; by default all that the schedule tells. An alert that fits several counts
    for each. ``skew`` is by how much the clock of the logs is ahead; ``"estimate"`` applies what
    they tell, which else is only said.

    From a table: ``rows`` are files, or a frame of any library, in which the column ``incident``
    names the incident that a row is of (empty: none) and ``time`` when it was. Alerts are rows with
    a ``score`` from the ``threshold`` on, or those whose ``decision`` is the positive.

    False alarms of one ``key`` that follow each other within ``gap`` are one false incident. With a
    ``score``, ``max_false_incidents`` (a day) and ``max_delay`` choose a threshold. ``timezone`` is
    that of times without a zone, ``year`` that of log lines without one, as Snort's.

    >>> attack = {"attack": "scan", "start": "2026-11-16T10:00Z", "end": "2026-11-16T10:05Z"}
    >>> import polars as pl
    >>> alerts = pl.DataFrame({"time": [1794823230_000000, 1794909600_000000]})
    >>> found = incidents(alerts=alerts, schedule=[attack])
    >>> found.detected, found.incidents[0].delay, found.false_alarms
    (1, 30.0, 1)
    """
    if schedule is not None and alerts is None:
        rows, alerts = None, rows
    if (rows is None) == (alerts is None):
        raise InputError("give alerts= and schedule=, or rows with incident= and time=")
    low = score in REVERSED if reversed_score is None else reversed_score
    lengths = {"grace": duration(grace, "grace"), "gap": duration(gap, "gap")}
    for name, value in lengths.items():
        if value < 0:
            raise InputError(f"{name}= is {value / SECOND:g} seconds; it can't be negative")
    judging = Judging(
        key=tuple((KEY if rows is None else ()) if key is None else key),
        directed=directed,
        grace=lengths["grace"],
        level=level,
        reversed=low,
        max_false_incidents=max_false_incidents,
        max_delay=None if max_delay is None else duration(max_delay, "max_delay") / SECOND,
        confidence=confidence,
    )
    _must_belong(
        logs=rows is None,
        of_rows={
            "incident": incident,
            "time": time,
            "decision": decision,
            "positive": positive,
            "family": family,
            "rule": rule,
            "count": count,
        },
        of_logs={
            "schedule": schedule,
            "events": events,
            "match": match,
            "directed": directed or None,
            "grace": lengths["grace"] or None,
            "skew": skew or None,
            "year": year,
        },
    )
    if alerts is not None:
        assert schedule is not None  # noqa: S101 - seen to just before
        scoring = None if score is None else Scoring(score, reversed=low)
        matching = Matching.of(
            read_schedule(schedule, timezone), match, grace=lengths["grace"], directed=directed
        )
        return judged_logs(
            LogReading(alerts, events, timezone, year, on_bad_row, progress),
            matching,
            judging,
            gap=lengths["gap"],
            skew=None if skew == ESTIMATE else duration(skew, "skew"),
            scoring=scoring,
            threshold=threshold,
        )
    if low:
        raise InputError("a low score can't be the more suspicious one in a table; turn its sign")
    columns = Columns.of_incidents(
        str(incident),
        str(time),
        score=score,
        decision=decision,
        family=family,
        rule=rule,
        count=count,
        key=judging.key,
    )
    ask = Ask(
        on_bad_row=on_bad_row, positive=positive, incidents=Grouping(lengths["gap"], timezone)
    )
    return judged_rows(
        rows, columns, ask, judging, threshold=threshold, request=request, progress=progress
    )


def _must_belong(*, logs: bool, of_rows: Mapping[str, Any], of_logs: Mapping[str, Any]) -> None:
    """Refuse what is asked of the other kind of input, and what is missing of this one."""
    kind, needed = ("logs", ("schedule",)) if logs else ("a table", ("incident", "time"))
    own, others = (of_logs, of_rows) if logs else (of_rows, of_logs)
    for name in needed:
        if own[name] is None:
            what = "the attacks" if logs else "the column that tells it"
            raise InputError(f"incidents of {kind} need {name}=, {what}")
    for name, value in others.items():
        if value is not None:
            other = "a table, whose rows name their incidents" if logs else "logs with a schedule"
            raise InputError(f"{name}= is of {other}; this is {kind}")
