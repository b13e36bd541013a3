"""The schedule of attacks: what was done when, and between which addresses, ports and hosts."""

from __future__ import annotations

import datetime as dt
import ipaddress
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from assay.errors import EmptyInput, InputError
from assay.sources.files.inputs import given_names
from assay.sources.files.memory import Budget
from assay.sources.files.read import opened_tables
from assay.sources.files.request import Request
from assay.tally.incidents import SECOND

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
_NEEDED = ("attack", "start", "end")
_SEVERAL = re.compile(r"[;|\s]+")
_PORTS = re.compile(r"(\d{1,5})(?:-(\d{1,5}))?")
_EMPTY = ("", "-")
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
# Numbers since 1970: seconds up to this size, then thousandths of the unit before.
_UNITS = ((1e8, 1e11, SECOND), (1e11, 1e14, 1000), (1e14, 1e17, 1))


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
    timezone: str | None = None,
) -> Schedule:
    """The schedule that a file (CSV, JSON lines, any table) or a list of mappings holds.

    Each needs an attack, its start and its end; a family, an id, addresses (CIDR, several with
    blanks or ; between them), ports (80;443;1000-2000) and hosts are optional. A time without a zone
    is refused unless ``timezone`` says which it is.

    >>> attack = {"attack": "scan", "start": "2026-11-16T10:00:00Z", "end": "2026-11-16T10:05:00Z"}
    >>> read_schedule([attack]).incidents[0].attack
    'scan'
    """
    zone = zone_of(timezone)
    if isinstance(given, str | os.PathLike):
        name, rows = str(given), list(_file_rows(given))
    else:
        name, rows = "the schedule", [(f"row {i}", row) for i, row in enumerate(given, 1)]
    incidents: dict[str, Incident] = {}
    columns: dict[str, None] = {}
    for place, row in rows:
        try:
            incident = row if isinstance(row, Incident) else _incident(row, zone, len(incidents))
        except InputError as wrong:
            raise InputError(f"{name}, {place}: {wrong}") from wrong
        if incident.id in incidents:
            raise InputError(
                f"{name}, {place}: the id {incident.id!r} was there before; each incident needs its "
                f"own"
            )
        incidents[incident.id] = incident
        columns |= dict.fromkeys(column for column in MATCHED if getattr(incident, column))
    if not incidents:
        raise EmptyInput(f"{name}: there are no attacks in the schedule")
    ordered = sorted(incidents.values(), key=lambda each: (each.start, each.end, each.id))
    return Schedule(name, tuple(ordered), tuple(c for c in MATCHED if c in columns))


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


def _incident(row: Mapping[str, Any], zone: ZoneInfo | None, number: int) -> Incident:
    values: dict[str, Any] = {}
    for column, value in row.items():
        role = _role(column)
        empty = value is None or (isinstance(value, str) and value.strip() in _EMPTY)
        if role is None or empty:
            continue
        if role in values:
            raise InputError(f"two columns tell the {role}; one of them is {column!r}. Keep one")
        values[role] = value
    for role in _NEEDED:
        if role not in values:
            told = values.get("attack", "an attack")
            raise InputError(
                f"{told!r} has no {role}: an attack counts by its window, from start to end. Give "
                f"it, or leave the attack out"
            )
    return Incident(
        id=str(values.get("id", number + 1)),
        attack=str(values["attack"]).strip(),
        start=moment(values["start"], zone, "start"),
        end=moment(values["end"], zone, "end"),
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
    found = []
    for text in _several(values, role):
        try:
            found.append(ipaddress.ip_network(text, strict=False))
        except ValueError as wrong:
            raise InputError(
                f"column {role!r}: found {text!r}, expected an address such as 10.1.2.3 or "
                f"10.1.0.0/16"
            ) from wrong
    return tuple(found)


def _ports(values: Mapping[str, Any], role: str) -> tuple[Ports, ...]:
    found = []
    for text in _several(values, role):
        written = _PORTS.fullmatch(text)
        first, last = (int(written[1]), int(written[2] or written[1])) if written else (1, 0)
        if not 0 <= first <= last <= 65_535:
            raise InputError(
                f"column {role!r}: found {text!r}, expected a port such as 443, or 8000-8999"
            )
        found.append((first, last))
    return tuple(found)


# -- times -----------------------------------------------------------------------------------------


def zone_of(name: str | None) -> ZoneInfo | None:
    """A time zone by its name, as Europe/Berlin or UTC."""
    if name is None:
        return None
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as unknown:
        raise InputError(
            f"timezone={name!r} is no known time zone; give one such as UTC or Europe/Berlin"
        ) from unknown


def moment(value: Any, zone: ZoneInfo | None, column: str) -> int:
    """A moment in microseconds since 1970; it needs a zone, its own or the one that is given.

    >>> moment("2026-11-16T10:00:00+01:00", None, "start") == moment(1794819600, None, "start")
    True
    """
    if isinstance(value, dt.datetime):
        found = value
    else:
        number = _number(value)
        if number is not None:
            for least, most, unit in _UNITS:
                if least <= number < most:
                    return round(number * unit)
        try:
            found = dt.datetime.fromisoformat(str(value).strip().replace(",", "."))
        except ValueError:
            found = None  # type: ignore[assignment]
        if found is None or len(str(value).strip()) <= len("2026-11-16"):
            raise InputError(
                f"column {column!r}: found {value!r}, expected a moment such as "
                f"2026-11-16T10:00:00Z, or seconds since 1970"
            )
    if found.tzinfo is None:
        found = _placed(found, zone, column)
    return (found - _EPOCH) // dt.timedelta(microseconds=1)


def _number(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def _placed(found: dt.datetime, zone: ZoneInfo | None, column: str) -> dt.datetime:
    """A time of the clock on the wall in its zone, where it tells one moment."""
    if zone is None:
        raise InputError(
            f"column {column!r}: {found.isoformat()} has no time zone, so it may be hours off. "
            f"Write it as {found.isoformat()}Z or with +01:00, or say which zone all have with "
            f"timezone="
        )
    early, late = (found.replace(tzinfo=zone, fold=fold) for fold in (0, 1))
    if early.utcoffset() != late.utcoffset():
        raise InputError(
            f"column {column!r}: {found.isoformat()} is no single moment in {zone.key}, where "
            f"clocks were changed then. Write it with its offset, as {early.isoformat()} or "
            f"{late.isoformat()}"
        )
    return early


def iso(moment: int) -> str:
    """A moment as ISO 8601 in UTC, with as many digits of a second as it needs.

    >>> iso(1794823200_000000), iso(1794823200_500000)
    ('2026-11-16T10:00:00Z', '2026-11-16T10:00:00.500000Z')
    """
    found = _EPOCH + dt.timedelta(microseconds=moment)
    return found.isoformat().replace("+00:00", "Z")


def day_of(day: int) -> str:
    """The date of a day that is counted from 1970."""
    return (dt.date(1970, 1, 1) + dt.timedelta(days=day)).isoformat()


