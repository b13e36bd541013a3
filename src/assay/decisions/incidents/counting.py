"""Log lines counted into a tally of incidents, batch by batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.decisions.incidents.matching import Lines, Matching
from assay.decisions.incidents.schedule import MATCHED
from assay.engines.incidents import coded
from assay.errors import InputError
from assay.sources.files.bad_rows import LISTED, must_be_a_number
from assay.sources.files.request import Refused
from assay.tally.cells import Cells
from assay.tally.incidents import (
    FORMS,
    SECOND,
    Alerts,
    IncidentTally,
    observed_cells,
    seen_cells,
)

if TYPE_CHECKING:
    import polars as pl

Array: TypeAlias = npt.NDArray[Any]

# What readers call a line that somebody should look at; one of no kind is taken for an alert.
ALERTS = ("alert", "notice")
# Columns of which a low number is the more suspicious one, as Suricata and Snort have it.
REVERSED = frozenset({"alert.severity", "priority", "alert.priority"})
NO_SCORE = "score: not a finite number"
_BETWEEN = " "
_PAIRS = (("src_ip", "dst_ip"), ("src_port", "dst_port"))


@dataclass(frozen=True)
class Scoring:
    """The column that scores alerts; ``reversed`` where a low number is the more suspicious one."""

    column: str
    reversed: bool = False

    def read(self, frame: pl.DataFrame) -> Array:
        """The score of each alert, higher for the more suspicious; nan where it has none."""
        import polars as pl

        found = frame[self.column].cast(pl.Float64, strict=False).to_numpy().astype(np.float64)
        found = np.where(np.isfinite(found), found, np.nan)
        return -found if self.reversed else found

    def missing(self, frame: pl.DataFrame, at: int) -> Refused:
        """An alert without a score: where it is, and what it has instead."""
        given = frame[self.column][at]
        found = "nothing" if given is None else repr(given)
        reason = f"{self.column!r} is {found}, expected a finite number, since it ranks alerts"
        if "file" not in frame.columns or frame["file"][at] is None:
            return Refused(at + 1, reason, "the alerts")
        line = int(frame["line"][at])
        return Refused(line, reason, frame["file"][at], line)

    def shown(self, score: float) -> float:
        """A score as the log has it."""
        return 0.0 - score if self.reversed else score


class LogCounter:
    """Counts lines of logs; what it has counted so far is one tally.

    ``key`` are the columns by which false alarms are grouped. Times are set back by ``skew``. An
    alert without a score ``stops`` the count, or is left out.
    """

    def __init__(
        self,
        matching: Matching,
        *,
        gap: int,
        key: Sequence[str] = (),
        scoring: Scoring | None = None,
        skew: int = 0,
        stops: bool = True,
    ) -> None:
        self.matching = matching
        self.gap = gap
        self.key = tuple(key)
        self.scoring = scoring
        self.skew = skew
        self.stops = stops
        self.refused: list[Refused] = []
        # Logs may lack ends and hosts, whose names are known; any other may be misspelt.
        self._keys_unseen = {column for column in self.key if column not in MATCHED}
        self._sum = IncidentTally(gap=gap, scored=scoring is not None)
        self._waiting: list[IncidentTally] = []
        self._names = tuple(incident.id for incident in matching.incidents)

    @property
    def fields(self) -> tuple[str, ...]:
        """What has to be read of alerts besides the usual."""
        return (*self.key, *(() if self.scoring is None else (self.scoring.column,)))

    def add(self, frame: pl.DataFrame, *, alerts: bool) -> None:
        """Count a batch of a log: of alerts, or of other events alone."""
        import polars as pl

        if not frame.height:
            return
        if not alerts:
            self._keep(self._events(frame))
            return
        raised = pl.col("kind").is_in(ALERTS).fill_null(value=True)
        others = frame.filter(~raised)
        if others.height:
            self._keep(self._events(others))
            frame = frame.filter(raised)
        if frame.height:
            self._keep(self._alerts(frame))

    def done(self) -> IncidentTally:
        """The tally of all that was added."""
        self._gather()
        if self._keys_unseen and self._sum.alerts:
            raise InputError(
                f"key= names {min(self._keys_unseen)!r}, which no alert has: it would tell no "
                f"false alarms apart"
            )
        return self._sum

    def _gather(self) -> None:
        self._sum = IncidentTally.merge([self._sum, *self._waiting])
        self._waiting = []

    def _keep(self, part: IncidentTally) -> None:
        """Add a tally, but sort all again only when as much has come as there was."""
        self._waiting.append(part)
        if sum(each.size for each in self._waiting) > max(self._sum.size, 1 << 16):
            self._gather()

    def _events(self, frame: pl.DataFrame) -> IncidentTally:
        lines = Lines(frame, self.skew)
        rows, numbers = self.matching.within(lines)
        return IncidentTally(
            gap=self.gap,
            scored=self.scoring is not None,
            seen=seen_cells(lines.time[rows], numbers, self._names),
            **observed_cells(lines.time),
        )

    def _alerts(self, frame: pl.DataFrame) -> IncidentTally:
        score = None if self.scoring is None else self.scoring.read(frame)
        refused = 0
        if self.scoring is not None and score is not None and np.isnan(score).any():
            bad = np.isnan(score)
            room = 1 if self.stops else LISTED - len(self.refused)
            listed = [self.scoring.missing(frame, int(at)) for at in np.flatnonzero(bad)[:room]]
            if self.stops:
                raise must_be_a_number(listed[0])
            self.refused += listed
            refused, frame, score = int(bad.sum()), frame.filter(~bad), score[~bad]
        lines = Lines(frame, self.skew)
        rows, numbers = self.matching.within(lines)
        near, near_numbers = self.matching.nearby(lines)
        raised = Alerts(
            time=lines.time,
            score=score,
            rule=coded(frame["rule"]) if "rule" in frame.columns else None,
            key=coded(self._keys(frame)) if self.key else None,
        )
        return IncidentTally(
            gap=self.gap,
            scored=self.scoring is not None,
            refused={NO_SCORE: refused} if refused else {},
            seen=seen_cells(lines.time[rows], numbers, self._names),
            nearby=Cells.of(
                FORMS["nearby"],
                {
                    "incident": near_numbers,
                    "start": lines.time[near],
                    "end": lines.time[near],
                    "alerts": np.ones(len(near), np.int64),
                },
                {"incident": self._names},
                SECOND,
            ),
            **observed_cells(lines.time),
            **raised.cells(rows, numbers, self._names, self.gap),
        )

    def _keys(self, frame: pl.DataFrame) -> pl.Series:
        """What false alarms are grouped by, as one text; ends in either order are one key."""
        import polars as pl

        for column in self.key:
            if column not in frame.columns:
                raise InputError(
                    f"key= names {column!r}, which the alerts do not have; they have "
                    f"{', '.join(frame.columns)}"
                )
        self._keys_unseen -= {
            name for name in self._keys_unseen if frame[name].null_count() < frame.height
        }
        texts = {name: pl.col(name).cast(pl.String).fill_null("-") for name in self.key}
        if not self.matching.directed and {"src_ip", "dst_ip"} <= set(self.key):
            turned = texts["src_ip"] > texts["dst_ip"]
            for one, other in _PAIRS:
                if one in texts and other in texts:
                    first, second = texts[one], texts[other]
                    texts[one] = pl.when(turned).then(second).otherwise(first)
                    texts[other] = pl.when(turned).then(first).otherwise(second)
        return frame.select(pl.concat_str(list(texts.values()), separator=_BETWEEN)).to_series()
