"""Judge alerts by incidents instead of rows: of logs and a schedule, or of rows that name them."""

from __future__ import annotations

import datetime as dt
import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from assay.v02.decisions.incidents.detections import Incidents
from assay.v02.decisions.incidents.incident_estimates import JudgingOptions, judged_incidents
from assay.v02.decisions.incidents.log_lines import REVERSED, LogCounter, Matching, Scoring
from assay.v02.decisions.incidents.schedule import MATCHED, Incident, read_schedule
from assay.v02.engines.ask import Ask, Columns, Grouping
from assay.v02.engines.frames import count_incidents
from assay.v02.engines.incident_counter import IncidentCounter
from assay.errors import EmptyInput, InputError
from assay.v02.escaping import given_text
from assay.v02.inference.significance import as_list
from assay.v02.sources.files.column_roles import must_have
from assay.v02.sources.files.inputs import given_names
from assay.v02.sources.files.read import must_apply, opened_tables
from assay.v02.sources.files.request import Budget, Progress, Request, must_read, refused_row, silent
from assay.v02.sources.labelling import USUAL, checked_threshold
from assay.v02.sources.validation import skips
from assay.v02.tally.incident_tally import SECOND, IncidentTally

if TYPE_CHECKING:
    import polars as pl

Log: TypeAlias = "str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | pl.DataFrame"


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
        understood = "".join(number + unit for number, unit in parts)
        if not parts or understood != re.sub(r"\s", "", text.lstrip("+-")):
            raise InputError(f"{name}={given!r} is no length of time; write 60s, 10m or 1h30m")
        seconds = sign * sum(float(n) * _UNITS[u or "s"] for n, u in parts)
    else:
        seconds = _seconds(given)
    if not abs(seconds) <= _LONGEST:
        raise InputError(
            f"{name}={given_text(given)} is no length of time up to 1,000 years; give seconds"
        )
    return round(seconds * SECOND)


def _seconds(given: Any) -> Any:
    """A number as it is, of Python's own kinds; nan for anything else."""
    if isinstance(given, bool | np.timedelta64) or not isinstance(given, Real):
        return math.nan
    return given.item() if hasattr(given, "item") else given


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
    timezone: str | dt.tzinfo | None = None,
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
    >>> judged = incidents(alerts=alerts, schedule=[attack])
    >>> judged.detected, judged.incidents[0].delay, judged.false_alarms
    (1, 30.0, 1)
    """
    if schedule is not None and alerts is None:
        rows, alerts = None, rows
    if (rows is None) == (alerts is None):
        raise InputError("give alerts= and schedule=, or rows with incident= and time=")
    of_rows: dict[str, Any] = {"incident": incident, "time": time, "decision": decision}
    of_rows |= {"family": family, "rule": rule, "count": count}
    for name, column in (*of_rows.items(), ("score", score)):
        if column is not None and not isinstance(column, str):
            shown = type(column).__name__
            raise InputError(f"{name}= is the name of a column, a text; found a {shown}")
    threshold = None if threshold is None else checked_threshold(threshold)
    low = score in REVERSED if reversed_score is None else reversed_score
    lengths = {"grace": duration(grace, "grace"), "gap": duration(gap, "gap")}
    for name, value in lengths.items():
        if value < 0:
            raise InputError(f"{name}= is {value / SECOND:g} seconds; it can't be negative")
    judging = JudgingOptions(
        key=(KEY if rows is None else ()) if key is None else _column_names("key=", key),
        directed=directed,
        grace=lengths["grace"],
        level=level,
        reversed=low,
        max_false_incidents=max_false_incidents,
        max_delay=None if max_delay is None else duration(max_delay, "max_delay") / SECOND,
        confidence=confidence,
    )
    must_read("incidents, whose columns are arguments,", request or Request())
    if reversed_score is not None and score is None:
        raise InputError("reversed_score= is of a score; name its column with score=")
    if rows is not None and positive is not None and decision is None:
        raise InputError("positive= is of decisions; name their column with decision=")
    if year is not None and not any(_is_read(log) for log in (alerts, events)):
        raise InputError("year= is of lines of a log without one, and frames have whole moments")
    _must_belong(
        logs=rows is None,
        of_rows={**of_rows, "positive": positive},
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
    if alerts is not None and schedule is not None:
        must_apply("what alerts= names", "a log", request or Request())
        scoring = None if score is None else Scoring(score, reversed=low)
        matching = Matching.of(
            read_schedule(schedule, timezone),
            None if match is None else _column_names("match=", match),
            grace=lengths["grace"],
            directed=directed,
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


def _is_read(log: Log | None) -> bool:
    """Whether a log is one or several files."""
    return log is not None and not hasattr(log, "columns")


def _column_names(name: str, given: Any) -> tuple[str, ...]:
    """Some columns by their names."""
    names = [given] if isinstance(given, str) else as_list(name, given, "the name of a column each")
    no_names = [each for each in names if not isinstance(each, str)]
    if isinstance(given, str) or no_names:
        raise InputError(f"{name} is a list of names of columns; found {(no_names or names)[0]!r}")
    return tuple(names)


def _must_belong(*, logs: bool, of_rows: Mapping[str, Any], of_logs: Mapping[str, Any]) -> None:
    """Refuse what is asked of the other kind of input, and what is missing of this one."""
    kind, needed = ("logs", ("schedule",)) if logs else ("a table", ("incident", "time"))
    wanted, others = (of_logs, of_rows) if logs else (of_rows, of_logs)
    for name in needed:
        if wanted[name] is None:
            meaning = "the attacks" if logs else "the column that tells it"
            raise InputError(f"incidents of {kind} need {name}=, {meaning}")
    for name, value in others.items():
        if value is not None:
            other = "a table, whose rows name their incidents" if logs else "logs with a schedule"
            raise InputError(f"{name}= is of {other}; this is {kind}")


# -- logs and a schedule of attacks ----------------------------------------------------------------


@dataclass
class LogSources:
    """What was read of logs, as a result tells it."""

    files: list[str] = field(default_factory=list)
    rows_read: int = 0
    rows_refused: int = 0
    refused: list[Any] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def told(self) -> dict[str, Any]:
        """The source of a result."""
        more = len(self.files) - 1
        name = self.files[0] if self.files else "alerts"
        return {
            "name": f"{name} and {more} more" if more > 0 else name,
            "rows_read": self.rows_read,
            "rows_used": self.rows_read - self.rows_refused,
            "rows_refused": self.rows_refused,
            "refused": self.refused[:100],
        }


def judged_logs(
    reading: LogReading,
    matching: Matching,
    judging: JudgingOptions,
    *,
    gap: int,
    skew: int | None,
    scoring: Scoring | None,
    threshold: float | None,
) -> Incidents:
    """The answer; without a ``skew`` the one that the logs tell is applied."""
    if threshold is not None and scoring is None:
        raise InputError("threshold= is of a score; name its column with score=")

    stops = not skips(reading.on_bad_row)

    def answer(shift: int) -> Incidents:
        counter = LogCounter(
            matching, gap=gap, key=judging.key, scoring=scoring, skew=shift, stops=stops
        )
        tally, sources = reading.count(counter)
        sources.rows_refused += sum(tally.refused.values())
        sources.refused += [refused_row(each) for each in counter.refused]
        above = tally
        if scoring is not None and threshold is not None:
            above = tally.at(scoring.shown(threshold))
        return judged_incidents(
            above,
            matching.incidents,
            replace(judging, match=matching.columns, skew=shift),
            every=tally,
            source=sources.told(),
            notes=tuple(sources.notes),
            score=None if scoring is None else scoring.column,
            threshold=threshold,
        )

    incidents = answer(skew or 0)
    if skew is None and incidents.skew.estimated:
        return answer(round(incidents.skew.estimated * SECOND))
    return incidents


@dataclass(frozen=True)
class LogReading:
    """Reads logs into a counter; twice, where that is needed."""

    alerts: Log
    events: Log | None
    timezone: str | dt.tzinfo | None
    year: int | None
    on_bad_row: Literal["stop", "skip"]
    progress: Progress = silent

    def count(self, counter: LogCounter) -> tuple[IncidentTally, LogSources]:
        """Count all lines."""
        sources = LogSources()
        for log, raised in ((self.alerts, True), (self.events, False)):
            if log is None:
                continue
            for frame in self._batches(log, counter.fields if raised else (), sources):
                counter.add(frame, alerts=raised)
        tally = counter.done()
        if not tally.volume.size:
            raise EmptyInput(f"{', '.join(sources.files) or 'the alerts'}: there is no line")
        return tally, sources

    def _batches(
        self, log: Log, fields: Sequence[str], sources: LogSources
    ) -> Iterator[pl.DataFrame]:
        import polars as pl

        if isinstance(log, pl.DataFrame):
            sources.rows_read += log.height
            yield _completed(log)
            return
        if hasattr(log, "columns"):
            raise InputError(
                f"logs are files, or frames of polars as read_events gives them; found a "
                f"{type(log).__name__}: convert it with polars.from_pandas or the like"
            )
        from assay.v02.sources.logs import read_events

        paths = [log] if isinstance(log, str | os.PathLike) else list(log)
        log_events = read_events(
            paths,
            fields=fields,
            timezone=self.timezone,
            year=self.year,
            on_bad_row=self.on_bad_row,
            progress=self.progress,
        )
        yield from _batches_with_notes(log_events, sources, [str(path) for path in paths])


def _completed(frame: pl.DataFrame) -> pl.DataFrame:
    """A frame with all columns of a log; those that it lacks are null, and its lines are alerts."""
    import polars as pl

    if "time" not in frame.columns or frame["time"].null_count():
        raise InputError("a frame of alerts needs a column 'time', with a value in every row")
    moments = frame["time"]
    if isinstance(moments.dtype, pl.Datetime):
        if moments.dtype.time_zone is None:
            raise InputError("the times of a frame need a zone, as dt.replace_time_zone gives them")
        frame = frame.with_columns(moments.dt.epoch("us"))
    elif not moments.dtype.is_integer():
        raise InputError(
            f"the times of a frame are moments or microseconds since 1970; found {moments.dtype}"
        )
    texts = (name for name in ("kind", "rule", *MATCHED) if name not in frame.columns)
    kinds = {name: pl.Int64 if name.endswith("port") else pl.String for name in texts}
    return frame.with_columns(pl.lit(None, kind).alias(name) for name, kind in kinds.items())


def _batches_with_notes(
    events: Any, sources: LogSources, names: Iterable[str]
) -> Iterator[pl.DataFrame]:
    """The batches of a log; what was read is told at the end."""
    yield from events
    sources.files += names
    sources.rows_read += events.rows_read
    sources.rows_refused += events.rows_refused
    sources.notes += events.notes
    sources.refused += [refused_row(each) for each in events.refused]


# -- rows that name the incident that they are of --------------------------------------------------


def judged_rows(
    rows: Any,
    columns: Columns,
    ask: Ask,
    judging: JudgingOptions,
    *,
    threshold: float | None = None,
    request: Request | None = None,
    progress: Progress = silent,
) -> Incidents:
    """The answer for files, or for a frame of any library."""
    notes: tuple[str, ...] = ()
    if isinstance(rows, str | os.PathLike | list | tuple):
        tally, source, notes = _counted_rows(
            given_names(rows), columns, ask, request or Request(), progress
        )
    else:
        if request is not None:
            raise InputError(
                "request= tells how files are read, and rows are a frame: leave it out, or give "
                "the names of files"
            )
        tally = count_incidents(rows, columns, ask)
        refused = sum(tally.refused.values())
        read = int(tally.volume["rows"].sum()) + refused
        source = {
            "name": "rows",
            "rows_read": read,
            "rows_used": read - refused,
            "rows_refused": refused,
            "refused": [],
            "reasons": dict(tally.refused),
        }
    if not tally.volume.size:
        raise EmptyInput(f"{source['name']}: there are no rows that can be used")
    if columns.decision is None:
        threshold, threshold_notes = _threshold(tally, columns, threshold)
        notes = (*notes, *threshold_notes)
    elif threshold is not None and columns.score is None:
        raise InputError("threshold= is of a score; name its column with score=")
    above = tally if threshold is None else tally.at(threshold)
    return judged_incidents(
        above,
        None,
        judging,
        every=tally,
        source=source,
        notes=notes,
        score=columns.score,
        threshold=threshold,
    )


def _threshold(
    tally: IncidentTally, columns: Columns, given: float | None
) -> tuple[float, tuple[str, ...]]:
    """The score from which on a row is an alert: the one given, else 0.5 of probabilities."""
    if given is not None:
        return given, ()
    low, high = float(tally.scores[0]), float(tally.scores[-1])
    if low < 0 or high > 1:
        raise InputError(
            f"the scores of {columns.score!r} go from {low:g} to {high:g}, so that 0.5 means "
            f"nothing; say from which score on a row is an alert with threshold="
        )
    return USUAL, (
        f"rows with a score of at least {USUAL:g} are alerts, since no threshold is given",
    )


def _counted_rows(
    names: Sequence[str], columns: Columns, ask: Ask, request: Request, progress: Progress
) -> tuple[IncidentTally, dict[str, Any], tuple[str, ...]]:
    counting = IncidentCounter(columns, ask)
    tables: list[str] = []
    notes: list[str] = []
    smaller = replace(request, batch_rows=min(request.batch_rows, 1 << 18))
    for table in opened_tables(names, smaller, Budget(request.max_memory), progress):
        for column in columns.names:
            must_have(table, column)
        tables.append(table.name)
        notes += table.notes
        for piece in table.pieces(columns.names):
            counting.add(piece, table.name)
    counting.must_tell_alarms()
    tally = counting.done()
    bad = counting.bad
    source = {
        "name": f"{tables[0]} and {len(tables) - 1} more" if len(tables) > 1 else tables[0],
        "rows_read": counting.rows_read,
        "rows_used": counting.rows_read - bad.rows_refused,
        "rows_refused": bad.rows_refused,
        "refused": [refused_row(each) for each in bad.refused],
    }
    return tally, source, tuple(notes)
