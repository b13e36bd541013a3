"""Which log lines belong to which incident: by time, addresses, ports and hosts, whole batches."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.decisions.incidents.schedule import MATCHED, Incident, Network, Ports, Schedule
from assay.errors import InputError
from assay.tally.incidents import DAY

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
        return self._pairs(lines, 0, self.grace)

    def nearby(self, lines: Lines) -> tuple[Array, Array]:
        """The same of lines that fit by all but the time, up to a day before and after."""
        if not self.columns:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        return self._pairs(lines, FARTHEST, FARTHEST)

    def _pairs(self, lines: Lines, before: int, after: int) -> tuple[Array, Array]:
        rows, numbers = [], []
        for number, incident in enumerate(self.incidents):
            found = lines.between(incident.start - before, incident.end + after)
            if len(found) and self.columns:
                found = found[self._fits(incident, lines, found)]
            if len(found):
                rows.append(found)
                numbers.append(np.full(len(found), number, np.int64))
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
        found = np.zeros(len(rows), bool)
        for first, last in ports:
            found |= (values >= first) & (values <= last)
        return found

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
            known = [i for i, number in enumerate(halves) if number is not None]
            numbers = np.array([halves[i] for i in known], np.uint64).reshape(-1, 2)
            place = pl.DataFrame(
                {"text": distinct[known], "place": np.arange(len(known))},
                schema={"text": pl.String, "place": pl.Int64},
            )
            joined = (
                texts.alias("text")
                .to_frame()
                .join(place, on="text", how="left", maintain_order="left")
            )
            code = joined["place"].fill_null(len(known)).to_numpy()
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
