"""The schedule of attacks: what was done when, and between which addresses, ports and hosts."""

from __future__ import annotations

import datetime as dt
import ipaddress
import itertools
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from assay.errors import EmptyInput, InputError
from assay.v02.inference.significance import as_list
from assay.v02.sources.files.inputs import given_names
from assay.v02.sources.files.read import opened_tables
from assay.v02.sources.files.request import Budget, Request
from assay.v02.sources.logs import Clock

Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network
Ports: TypeAlias = tuple[int, int]

# What a schedule may be matched by, in the order in which it is told.
MATCHED = ("src_ip", "dst_ip", "src_port", "dst_port", "host")
# Other names of the columns: those of Suricata, Zeek and ECS, and what people write.
ALIASES: Mapping[str, tuple[str, ...]] = {
    "id": ("incident", "incident_id"),
    "attack": ("name", "label", "attack_name", "attack_type"),
    "start": ("begin", "start_time", "from", "event.start"),
    "end": ("stop", "end_time", "to", "event.end"),
    "family": ("category", "attack_family"),
    "src_ip": ("source_ip", "src", "source", "id.orig_h", "source.ip", "attacker", "attacker_ip"),
    "dst_ip": (
        *("dest_ip", "destination_ip", "dst", "dest", "destination", "id.resp_h"),
        *("destination.ip", "victim", "victim_ip", "target"),
    ),
    "src_port": ("source_port", "id.orig_p", "source.port"),
    "dst_port": ("dest_port", "destination_port", "id.resp_p", "destination.port"),
    "host": ("hosts", "hostname", "host.name"),
}
MOST = 100_000  # attacks of a schedule: a file without an end is refused
_NEEDED = ("attack", "start", "end")
_SEVERAL = re.compile(r"[;|\s]+")
_PORTS = re.compile(r"(\d{1,5})(?:-(\d{1,5}))?")
_EMPTY = ("", "-")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


@dataclass(frozen=True)
class Incident:
    """One attack: from when until when, both ends counted, and whom it concerned.

    Times are microseconds since 1970. What is empty fits anything.
    """

    id: str
    attack: str
    start: int
    end: int
    family: str | None = None
    src_ip: tuple[Network, ...] = ()
    dst_ip: tuple[Network, ...] = ()
    src_port: tuple[Ports, ...] = ()
    dst_port: tuple[Ports, ...] = ()
    host: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.end < self.start:
            raise InputError(
                f"incident {self.id!r} ends at {iso(self.end)}, before it starts at "
                f"{iso(self.start)}; both ends count, and the end comes last"
            )


@dataclass(frozen=True)
class Schedule:
    """All incidents in the order of their start, and which columns tell whom they concerned."""

    name: str
    incidents: tuple[Incident, ...]
    columns: tuple[str, ...] = ()

    @property
    def families(self) -> bool:
        """Whether incidents have a family."""
        return any(incident.family is not None for incident in self.incidents)


def read_schedule(
    given: str | os.PathLike[str] | Sequence[Mapping[str, Any] | Incident],
    timezone: str | dt.tzinfo | None = None,
) -> Schedule:
    """The schedule that a file (CSV, JSON lines, any table) or a list of mappings holds.

    Each needs an attack, its start and its end; a family, an id, addresses (CIDR, several with
    blanks or ; between them), ports (80;443;1000-2000) and hosts are optional. A time without a
    zone is refused unless ``timezone`` says which it is.

    >>> attack = {"attack": "scan", "start": "2026-11-16T10:00:00Z", "end": "2026-11-16T10:05:00Z"}
    >>> read_schedule([attack]).incidents[0].attack
    'scan'
    """
    rows: list[tuple[str, Mapping[str, Any] | Incident]]
    if isinstance(given, str | os.PathLike):
        name, rows = str(given), list(itertools.islice(_file_rows(given), MOST + 1))
    else:
        listed = as_list("schedule=", given, "a mapping an attack, or the name of a file")
        name, rows = "the schedule", [(f"row {i}", row) for i, row in enumerate(listed, 1)]
    if not rows:
        raise EmptyInput(f"{name}: there are no attacks in the schedule")
    if len(rows) > MOST:
        raise InputError(
            f"{name} has more than {MOST:,} rows; a schedule has one an attack, and not one an "
            f"event. Is this the right file?"
        )
    clock = Clock(timezone)
    try:
        incidents = _incidents(rows, clock)
    except InputError as wrong:
        raise InputError(f"{name}, {wrong}") from wrong
    columns = tuple(c for c in MATCHED if any(getattr(incident, c) for incident in incidents))
    return Schedule(name, tuple(sorted(incidents, key=lambda i: (i.start, i.end, i.id))), columns)


def _file_rows(given: str | os.PathLike[str]) -> Iterable[tuple[str, Mapping[str, Any]]]:
    request = Request()
    for table in opened_tables(given_names(given), request, Budget(None)):
        columns = [column for column in table.columns if _role(column) is not None]
        for role in _NEEDED:
            if role not in map(_role, columns):
                raise InputError(
                    f"{table.name} has no column {role!r}; a schedule has attack, start and end, "
                    f"and any of family, id, {', '.join(MATCHED)}. It has "
                    f"{', '.join(table.columns)}"
                )
        for piece in table.pieces(columns):
            if piece.broken:
                at = piece.broken[0]
                raise InputError(f"{table.name}, line {at.line}: found {at.reason}")
            for i, row in enumerate(piece.frame.to_dicts()):
                line = None if piece.line is None else piece.line(i)
                yield (f"row {piece.rows[i]}" if line is None else f"line {line}"), row


def _role(column: str) -> str | None:
    """What a column tells; an exact name first, then the names that others have for it."""
    plain = column.strip().lower()
    return next((role for role, names in ALIASES.items() if plain in (role, *names)), None)


def _incidents(
    rows: Sequence[tuple[str, Mapping[str, Any] | Incident]], clock: Clock
) -> list[Incident]:
    """The incidents of rows, each with its place; the first that is wrong is named."""
    fields = {
        i: _attack_fields(row, place)
        for i, (place, row) in enumerate(rows)
        if not isinstance(row, Incident)
    }
    places = [rows[i][0] for i in fields]
    starts, ends = (
        moments([values[column] for values in fields.values()], clock, column, places)
        for column in ("start", "end")
    )
    windows = dict(zip(fields, zip(starts, ends, strict=True), strict=True))
    by_id: dict[str, Incident] = {}
    for i, (place, row) in enumerate(rows):
        try:
            incident = (
                row if isinstance(row, Incident) else _incident(fields[i], str(i + 1), *windows[i])
            )
        except InputError as wrong:
            raise InputError(f"{place}: {wrong}") from wrong
        if incident.id in by_id:
            raise InputError(
                f"{place}: the id {incident.id!r} was there before; each incident needs its own"
            )
        by_id[incident.id] = incident
    return list(by_id.values())


def _attack_fields(row: Mapping[str, Any], place: str) -> dict[str, Any]:
    """What a row tells, by role; an attack without a window is refused."""
    values: dict[str, Any] = {}
    exact = {column.strip().lower() for column in row} & set(ALIASES)
    for column, value in row.items():
        role = _role(column)
        empty = value is None or (isinstance(value, str) and value.strip() in _EMPTY)
        # Beside a column of the very name another one is something else.
        other = role in exact and column.strip().lower() != role
        if role is None or empty or other:
            continue
        if role in values:
            raise InputError(
                f"{place}: two columns tell the {role}; one of them is {column!r}. Keep one"
            )
        values[role] = value
    for role in _NEEDED:
        if role not in values:
            attack = repr(values["attack"]) if "attack" in values else "an attack"
            raise InputError(
                f"{place}: {attack} has no {role}. An attack counts by its window, from start to "
                f"end: give it, or leave the attack out"
            )
    if _DATE.fullmatch(str(values["end"]).strip()):
        raise InputError(
            f"{place}: {str(values['attack'])!r} ends on {values['end']}, a day without an hour, "
            f"which may mean its first moment or its last: write the time of day, as "
            f"{values['end']}T23:59:59Z"
        )
    return values


def _incident(values: Mapping[str, Any], number: str, start: int, end: int) -> Incident:
    return Incident(
        id=str(values.get("id", number)),
        attack=str(values["attack"]).strip(),
        start=start,
        end=end,
        family=str(values["family"]).strip() if "family" in values else None,
        src_ip=_networks(values, "src_ip"),
        dst_ip=_networks(values, "dst_ip"),
        src_port=_ports(values, "src_port"),
        dst_port=_ports(values, "dst_port"),
        host=tuple(host.lower() for host in _several(values, "host")),
    )


def _several(values: Mapping[str, Any], role: str) -> list[str]:
    """One value or several, in a list or with blanks or semicolons between them."""
    value = values.get(role)
    if value is None:
        return []
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    parts = value if isinstance(value, list | tuple) else _SEVERAL.split(str(value).strip())
    return [str(part) for part in parts if str(part)]


def _networks(values: Mapping[str, Any], role: str) -> tuple[Network, ...]:
    networks = []
    for text in _several(values, role):
        try:
            networks.append(ipaddress.ip_network(text, strict=False))
        except ValueError as wrong:
            raise InputError(
                f"column {role!r}: found {text!r}, expected an address such as 10.1.2.3 or "
                f"10.1.0.0/16, several with ; between them"
            ) from wrong
    return tuple(networks)


def _ports(values: Mapping[str, Any], role: str) -> tuple[Ports, ...]:
    ports = []
    for text in _several(values, role):
        written = _PORTS.fullmatch(text)
        first, last = (int(written[1]), int(written[2] or written[1])) if written else (1, 0)
        if not 0 <= first <= last <= 65_535:
            raise InputError(
                f"column {role!r}: found {text!r}, expected a port such as 443, or 8000-8999, "
                f"several with ; between them"
            )
        ports.append((first, last))
    return tuple(ports)


# -- times -----------------------------------------------------------------------------------------


def moments(values: Sequence[Any], clock: Clock, column: str, places: Sequence[str]) -> list[int]:
    """Moments in microseconds since 1970; each needs a zone, its own or the one of the clock.

    >>> moments(["2026-11-16T10:00:00+01:00", 1794819600], Clock(), "start", ["row 1", "row 2"])
    [1794819600000000, 1794819600000000]
    """
    import polars as pl

    texts = [v.isoformat() if isinstance(v, dt.datetime) else str(v) for v in values]
    times = clock.read(pl.Series(column, texts, dtype=pl.String), column)
    for problem in times.problems:
        at = int(problem.rows.argmax())
        raise InputError(f"{places[at]}: {problem.why(at)}")
    return [int(micros) for micros in times.micros.to_list()]


def iso(moment: int) -> str:
    """A moment as ISO 8601 in UTC, with as many digits of a second as it needs.

    >>> iso(1794823200_000000), iso(1794823200_500000)
    ('2026-11-16T10:00:00Z', '2026-11-16T10:00:00.500000Z')
    """
    time = _EPOCH + dt.timedelta(microseconds=moment)
    return time.isoformat().replace("+00:00", "Z")


def day_of(day: int) -> str:
    """The date of a day that is counted from 1970."""
    return (dt.date(1970, 1, 1) + dt.timedelta(days=day)).isoformat()
