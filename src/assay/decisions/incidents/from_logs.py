"""Alert logs and a schedule of attacks, judged by incidents."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from assay.decisions.incidents.counting import LogCounter, Scoring
from assay.decisions.incidents.judging import Judging, judged
from assay.decisions.incidents.matching import Matching
from assay.decisions.incidents.result import Incidents
from assay.decisions.incidents.schedule import MATCHED
from assay.errors import EmptyInput, InputError
from assay.sources.files.request import Progress, refused_row, silent
from assay.tally.incidents import SECOND, IncidentTally

if TYPE_CHECKING:
    import polars as pl

Log: TypeAlias = "str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | pl.DataFrame"


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
    judging: Judging,
    *,
    gap: int,
    skew: int | None,
    scoring: Scoring | None,
    threshold: float | None,
) -> Incidents:
    """The answer; without a ``skew`` the one that the logs tell is applied."""
    if threshold is not None and scoring is None:
        raise InputError("threshold= is of a score; name its column with score=")

    stops = reading.on_bad_row == "stop"

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
        return judged(
            above,
            matching.incidents,
            replace(judging, match=matching.columns, skew=shift),
            every=tally,
            source=sources.told(),
            notes=tuple(sources.notes),
            score=None if scoring is None else scoring.column,
            threshold=threshold,
        )

    found = answer(skew or 0)
    if skew is None and found.skew.estimated:
        return answer(round(found.skew.estimated * SECOND))
    return found


@dataclass(frozen=True)
class LogReading:
    """Reads logs into a counter; twice, where that is needed."""

    alerts: Log
    events: Log | None
    timezone: str | None
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
        from assay.sources.logs import read_events

        paths = [log] if isinstance(log, str | os.PathLike) else list(log)
        found = read_events(
            paths,
            fields=fields,
            timezone=self.timezone,
            year=self.year,
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
    sources.refused += [refused_row(each) for each in events.refused]
