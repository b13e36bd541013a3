"""Log lines: which belong to which incident, and a tally of incidents of them, batch by batch."""

from __future__ import annotations

import ipaddress
import math
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.v02.decisions.incidents.schedule import MATCHED, Incident, Network, Ports, Schedule
from assay.v02.engines.incident_counter import coded
from assay.errors import InputError
from assay.v02.sources.files.request import Refused, must_be_a_number
from assay.v02.sources.validation import LISTED
from assay.v02.tally.incident_tally import (
    DAY,
    FORMS,
    SECOND,
    Alerts,
    Cells,
    IncidentTally,
    observed_cells,
    seen_cells,
)

if TYPE_CHECKING:
    import polars as pl


Array: TypeAlias = npt.NDArray[Any]

# Clocks and zones are off by so much at most.
FARTHEST = DAY + 2 * 3600 * 1_000_000
_OTHER_END = {
    "src_ip": "dst_ip",
    "dst_ip": "src_ip",
    "src_port": "dst_port",
    "dst_port": "src_port",
}
_MAPPED = 0xFFFF << 32
# So many pairs of a line and an attack are counted at once, in some 20 s; long logs have more,
# since each of their lines may belong to a few attacks.
_MOST_PAIRS, _INCIDENTS_A_LINE = 10_000_000, 20


@dataclass(frozen=True)
class Matching:
    """How lines are matched to the incidents of a schedule.

    ``columns`` are those of the schedule that have to fit. Unless ``directed``, a line fits also
    with its two ends exchanged. ``grace`` is added after the end of an incident.
    """

    schedule: Schedule
    columns: tuple[str, ...]
    grace: int = 0
    directed: bool = False

    @classmethod
    def of(
        cls,
        schedule: Schedule,
        match: Sequence[str] | None = None,
        *,
        grace: int = 0,
        directed: bool = False,
    ) -> Matching:
        """The matching that was asked for; without ``match``, by all that the schedule tells."""
        for column in match or ():
            if column not in MATCHED:
                raise InputError(f"match={column!r} is none of {', '.join(MATCHED)}")
            if column not in schedule.columns:
                told = ", ".join(schedule.columns) or "times alone"
                raise InputError(
                    f"match= names {column}, which {schedule.name} does not have; it tells {told}"
                )
        columns = schedule.columns if match is None else tuple(c for c in MATCHED if c in match)
        return cls(schedule, columns, grace, directed)

    @property
    def incidents(self) -> tuple[Incident, ...]:
        """The incidents in their order."""
        return self.schedule.incidents

    def within(self, lines: Lines) -> tuple[Array, Array]:
        """Pairs of a line and an incident that it belongs to, as positions."""
        most = max(_MOST_PAIRS, _INCIDENTS_A_LINE * len(lines.time))
        return self._pairs(lines, 0, self.grace, most)

    def nearby(self, lines: Lines) -> tuple[Array, Array]:
        """The same of lines that fit by all but the time, up to a day before and after."""
        if not self.columns:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        return self._pairs(lines, FARTHEST, FARTHEST)

    def _pairs(
        self, lines: Lines, before: int, after: int, most: float = math.inf
    ) -> tuple[Array, Array]:
        rows, numbers, pairs = [], [], 0
        for number, incident in enumerate(self.incidents):
            nearby = lines.between(incident.start - before, incident.end + after)
            if len(nearby) and self.columns:
                nearby = nearby[self._fits(incident, lines, nearby)]
            pairs += len(nearby)
            if pairs > most:
                raise InputError(
                    f"{self.schedule.name}: attacks overlap so much that {len(lines.time):,} lines "
                    f"belong to more than {most:,} of them together; join the attacks that run at "
                    f"the same time, or tell which hosts they are of"
                )
            if len(nearby):
                rows.append(nearby)
                numbers.append(np.full(len(nearby), number, np.int64))
        if not rows:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        return np.concatenate(rows), np.concatenate(numbers)

    def _fits(self, incident: Incident, lines: Lines, rows: Array) -> Array:
        wanted = [column for column in self.columns if getattr(incident, column)]
        fits = np.ones(len(rows), bool)
        if "host" in wanted:
            fits &= lines.of_host(incident.host, rows)
        ends = [column for column in wanted if column in _OTHER_END]
        if not ends:
            return fits
        forward = self._ends_fit(incident, ends, lines, rows, turned=False)
        if not self.directed:
            forward |= self._ends_fit(incident, ends, lines, rows, turned=True)
        return fits & forward

    def _ends_fit(
        self, incident: Incident, ends: list[str], lines: Lines, rows: Array, *, turned: bool
    ) -> Array:
        fits = np.ones(len(rows), bool)
        for column in ends:
            of_line = _OTHER_END[column] if turned else column
            asked = getattr(incident, column)
            fits &= (
                lines.of_port(of_line, asked, rows)
                if column.endswith("port")
                else lines.of_network(of_line, asked, rows)
            )
        return fits


class Lines:
    """A batch of log lines, as matching asks for them; columns are made when they are needed."""

    def __init__(self, frame: pl.DataFrame, shift: int = 0) -> None:
        self.frame = frame
        self.time: Array = frame["time"].to_numpy() - shift
        self._addresses: dict[str, tuple[Array, Array, Array]] = {}

    @cached_property
    def _order(self) -> Array:
        """The lines by time; logs are nearly sorted already."""
        return np.argsort(self.time, kind="stable")

    @cached_property
    def _sorted(self) -> Array:
        return self.time[self._order]

    def between(self, start: int, end: int) -> Array:
        """Positions of the lines from a start to an end, both included."""
        first, last = np.searchsorted(self._sorted, [start, end + 1])
        return self._order[first:last]

    def of_host(self, hosts: Sequence[str], rows: Array) -> Array:
        """Which lines are of one of some hosts."""
        import polars as pl

        column = self.frame["host"].cast(pl.String)[rows]
        return column.str.to_lowercase().is_in(list(hosts)).fill_null(value=False).to_numpy()

    def of_port(self, column: str, ports: Sequence[Ports], rows: Array) -> Array:
        """Which lines have a port in some ranges."""
        values = self.frame[column].fill_null(-1).to_numpy()[rows]
        fits = np.zeros(len(rows), bool)
        for first, last in ports:
            fits |= (values >= first) & (values <= last)
        return fits

    def of_network(self, column: str, networks: Sequence[Network], rows: Array) -> Array:
        """Which lines have an address in some networks."""
        code, high, low = self._numbered(column)
        inside = np.zeros(len(high) + 1, bool)  # the last stands for no address
        for network in networks:
            (net_high, net_low), (mask_high, mask_low) = _halves(network), _masks(network)
            inside[:-1] |= ((high & mask_high) == net_high) & ((low & mask_low) == net_low)
        return inside[code[rows]]

    def _numbered(self, column: str) -> tuple[Array, Array, Array]:
        """Addresses as numbers: a place for each line, and the two halves of each distinct one."""
        if column not in self._addresses:
            import polars as pl

            texts = self.frame[column].cast(pl.String)
            distinct = texts.drop_nulls().unique()
            halves = [_number(text) for text in distinct.to_list()]
            numbered = [i for i, number in enumerate(halves) if number is not None]
            numbers = np.array([halves[i] for i in numbered], np.uint64).reshape(-1, 2)
            place = pl.DataFrame(
                {"text": distinct[numbered], "place": np.arange(len(numbered))},
                schema={"text": pl.String, "place": pl.Int64},
            )
            joined = (
                texts.alias("text")
                .to_frame()
                .join(place, on="text", how="left", maintain_order="left")
            )
            code = joined["place"].fill_null(len(numbered)).to_numpy()
            self._addresses[column] = code, numbers[:, 0].copy(), numbers[:, 1].copy()
        return self._addresses[column]


def _number(text: str) -> tuple[int, int] | None:
    """The two halves of an address; those of IPv4 as IPv6 has them; None for what is none."""
    try:
        return 0, _MAPPED | int.from_bytes(socket.inet_pton(socket.AF_INET, text), "big")
    except (OSError, ValueError):
        pass
    try:
        number = int(ipaddress.IPv6Address(text.partition("%")[0]))
    except ValueError:
        return None
    return number >> 64, number & (2**64 - 1)


def _halves(network: Network) -> tuple[np.uint64, np.uint64]:
    number = int(network.network_address)
    number = number | _MAPPED if network.version == 4 else number
    return np.uint64(number >> 64), np.uint64(number & (2**64 - 1))


def _masks(network: Network) -> tuple[np.uint64, np.uint64]:
    bits = network.prefixlen + (96 if network.version == 4 else 0)
    mask = (2**128 - 1) ^ (2 ** (128 - bits) - 1)
    return np.uint64(mask >> 64), np.uint64(mask & (2**64 - 1))


# -- counting --------------------------------------------------------------------------------------


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

        scores = frame[self.column].cast(pl.Float64, strict=False).to_numpy().astype(np.float64)
        scores = np.where(np.isfinite(scores), scores, np.nan)
        return -scores if self.reversed else scores

    def missing(self, frame: pl.DataFrame, at: int) -> Refused:
        """An alert without a score: where it is, and what it has instead."""
        given = frame[self.column][at]
        shown = "nothing" if given is None else repr(given)
        reason = f"{self.column!r} is {shown}, expected a finite number, since it ranks alerts"
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
        nearby, nearby_numbers = self.matching.nearby(lines)
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
                    "incident": nearby_numbers,
                    "start": lines.time[nearby],
                    "end": lines.time[nearby],
                    "alerts": np.ones(len(nearby), np.int64),
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
