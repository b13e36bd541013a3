"""Alert logs and a schedule of attacks, or a table of rows with incidents, judged by incidents."""

from __future__ import annotations

import datetime as dt
import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from assay.decisions.incidents.counting import REVERSED, LogCounter, Scoring
from assay.decisions.incidents.judging import Judging, judged
from assay.decisions.incidents.matching import Matching
from assay.decisions.incidents.result import Incidents
from assay.decisions.incidents.schedule import MATCHED, Incident, read_schedule
from assay.errors import EmptyInput, InputError
from assay.sources.files.request import Progress, silent
from assay.tally.incidents import SECOND, IncidentTally

if TYPE_CHECKING:
    import polars as pl

Log: TypeAlias = "str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | pl.DataFrame"
Duration: TypeAlias = "float | str | dt.timedelta"

ESTIMATE = "estimate"
GRACE, GAP = 0.0, 600.0
# False alarms of the same ends follow each other into one false incident.
KEY = ("src_ip", "dst_ip", "host")
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
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
        return round(sign * sum(float(n) * _UNITS[u or "s"] for n, u in parts) * SECOND)
    if not math.isfinite(given):
        raise InputError(f"{name}={given!r} is no length of time; give seconds")
    return round(given * SECOND)


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


def incidents(
    alerts: Log,
    *,
    schedule: str | os.PathLike[str] | Sequence[Mapping[str, Any] | Incident],
    events: Log | None = None,
    match: Sequence[str] | None = None,
    directed: bool = False,
    grace: Duration = GRACE,
    gap: Duration = GAP,
    key: Sequence[str] = KEY,
    skew: Duration = 0.0,
    timezone: str | None = None,
    score: str | None = None,
    reversed_score: bool | None = None,
    threshold: float | None = None,
    max_false_incidents: float | None = None,
    max_delay: Duration | None = None,
    confidence: float = 0.9,
    level: float = 0.95,
    on_bad_row: Literal["stop", "skip"] = "stop",
    progress: Progress = silent,
) -> Incidents:
    """Judge alerts by the incidents of a schedule: detected or not, how late, false alarms a day.

    ``alerts`` and ``events`` are logs (Suricata, Zeek, fast.log, JSON lines) or frames as
    :func:`assay.sources.logs.read_events` gives them; ``events`` tell what was observed. An alert
    belongs to an incident where it lies in its window, from the start to the end and ``grace``
    after, and the columns of ``match`` fit in either direction, unless ``directed``; by default all
    that the schedule tells. An alert that fits several counts for each. False alarms of one ``key``
    that follow each other within ``gap`` are one false incident.

    ``skew`` is by how much the clock of the logs is ahead; ``"estimate"`` applies what they tell,
    else that is only said. ``timezone`` is that of times without a zone.

    With a ``score`` the answer holds what every threshold of it would mean. ``max_false_incidents``
    a day and ``max_delay``, the longest median time to detect, choose one: by this data, and, where
    it can be had, such that it holds on new data with the ``confidence``.
    """
    asked = duration(grace, "grace"), duration(gap, "gap")
    for name, value in zip(("grace", "gap"), asked, strict=True):
        if value < 0:
            raise InputError(f"{name}= is {value / SECOND:g} seconds; it can't be negative")
    matching = Matching.of(
        read_schedule(schedule, timezone), match, grace=asked[0], directed=directed
    )
    low = score in REVERSED if reversed_score is None else reversed_score
    scoring = None if score is None else Scoring(score, reversed=low)
    if threshold is not None and scoring is None:
        raise InputError("threshold= is of a score; name its column with score=")
    if scoring is None and not (max_false_incidents is None and max_delay is None):
        raise InputError(
            "max_false_incidents= and max_delay= choose a threshold of a score; name its column "
            "with score="
        )
    estimates = skew == ESTIMATE
    reading = LogReading(alerts, events, timezone, on_bad_row, progress)

    def counted(shift: int) -> tuple[IncidentTally, LogSources]:
        counter = LogCounter(matching, gap=asked[1], key=key, scoring=scoring, skew=shift)
        return reading.count(counter)

    more = {"score": score, "threshold": threshold}
    wanted: dict[str, Any] = {
        "reversed": low,
        "max_false_incidents": max_false_incidents,
        "max_delay": None if max_delay is None else duration(max_delay, "max_delay") / SECOND,
        "confidence": confidence,
    }

    def answer(shift: int) -> Incidents:
        tally, sources = counted(shift)
        judging = Judging(matching.columns, tuple(key), directed, asked[0], shift, level, **wanted)
        above = _above(tally, scoring, threshold)
        return judged(
            above,
            matching.incidents,
            judging,
            source=sources.told(),
            notes=tuple(sources.notes),
            **more,
        )

    found = answer(0 if estimates else duration(skew, "skew"))
    if estimates and found.skew.estimated:
        return answer(round(found.skew.estimated * SECOND))
    return found


def _above(tally: IncidentTally, scoring: Scoring | None, threshold: float | None) -> IncidentTally:
    """The alerts from a threshold on, which is one of the log."""
    if scoring is None or threshold is None:
        return tally
    return tally.at(scoring.shown(threshold))


@dataclass(frozen=True)
class LogReading:
    """Reads logs into a counter; twice, where that is needed."""

    alerts: Log
    events: Log | None
    timezone: str | None
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
        from assay.sources.logs import read_events

        paths = [log] if isinstance(log, str | os.PathLike) else list(log)
        found = read_events(
            paths,
            fields=fields,
            timezone=self.timezone,
            on_bad_row=self.on_bad_row,
            progress=self.progress,
        )
        yield from _told(found, sources, [str(path) for path in paths])


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


def _told(events: Any, sources: LogSources, names: Iterable[str]) -> Iterator[pl.DataFrame]:
    """The batches of a log; what was read is told at the end."""
    yield from events
    sources.files += names
    sources.rows_read += events.rows_read
    sources.rows_refused += events.rows_refused
    sources.notes += events.notes
    from assay.sources.files.request import refused_row

    sources.refused += [refused_row(each) for each in events.refused]
