"""Values inside the objects of JSON, by keys with dots: ``alert.severity``.

A key that is written with its dots is itself; else each dot may be a step into an object.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from decimal import Decimal
from itertools import combinations, pairwise
from typing import Any, TypeAlias

from assay.sources.files.scan import BLANK

# The keys that lead to a value, one for each object.
Path: TypeAlias = tuple[str, ...]

NO_UNICODE = "text that is not Unicode (half of a surrogate pair)"
_MOST_DOTS = 6
_DEEPEST = 8


def paths_of(key: str) -> tuple[Path, ...]:
    """Every way to read a key with dots, as it stands first.

    >>> paths_of("alert.severity")
    (('alert.severity',), ('alert', 'severity'))
    """
    parts = key.split(".")
    dots = range(1, len(parts))
    if len(dots) > _MOST_DOTS:
        return ((key,), tuple(parts))
    paths = []
    for steps in range(len(parts)):
        for cuts in combinations(dots, steps):
            edges = [0, *cuts, len(parts)]
            paths.append(tuple(".".join(parts[a:b]) for a, b in pairwise(edges)))
    # An empty key is no step: "a..b" and ".a" are names as they stand.
    return (paths[0], *(path for path in paths[1:] if all(path)))


class JsonObject(dict[str, Any]):
    """An object of JSON that remembers which of its keys stood there twice."""

    repeated: frozenset[str] = frozenset()


def _of_pairs(pairs: list[tuple[str, Any]]) -> JsonObject:
    made = JsonObject(pairs)
    if len(made) < len(pairs):
        times = Counter(key for key, _ in pairs)
        made.repeated = frozenset(key for key, count in times.items() if count > 1)
    return made


def json_object(line: bytes) -> tuple[JsonObject | None, str]:
    """The object on a line, or what stands there instead."""
    if not line.strip():
        return None, BLANK
    try:
        made = json.loads(line.decode(), object_pairs_hook=_of_pairs)
    except UnicodeDecodeError as odd:
        return None, f"bytes that are not UTF-8 (0x{line[odd.start : odd.start + 1].hex()})"
    except json.JSONDecodeError as odd:
        return None, f"no JSON object ({odd.msg} at character {odd.pos + 1})"
    except (ValueError, RecursionError):
        return None, "no JSON object that can be read"
    if not isinstance(made, JsonObject):
        return None, f"JSON that is no object ({type(made).__name__})"
    return made, ""


class Unreadable(Exception):
    """A record whose value can't be told: the message says why."""


def value_at(record: dict[str, Any], path: Path) -> Any:
    """The value that a path leads to, None where it leads nowhere."""
    here: Any = record
    for key in path:
        if not isinstance(here, dict):
            return None
        if key in getattr(here, "repeated", ()):
            raise Unreadable(f"the key {key!r} twice in one object")
        here = here.get(key)
    if isinstance(here, str) and not _is_unicode(here):
        raise Unreadable(NO_UNICODE)
    return here


def value_of(record: dict[str, Any], paths: Iterable[Path]) -> Any:
    """The value of a key by its paths: as it stands, else by the one path that leads somewhere."""
    first, *others = paths
    value = value_at(record, first)
    if value is not None or not others:
        return value
    read = [(path, found) for path in others if (found := value_at(record, path)) is not None]
    if len(read) > 1:
        raise Unreadable(two_readings(".".join(first), [path for path, _ in read]))
    return read[0][1] if read else None


def two_readings(key: str, paths: Iterable[Path]) -> str:
    """That a key can be read in more than one way, and in which."""
    ways = " and ".join(" in ".join(map(repr, reversed(path))) for path in paths)
    return f"the key {key!r} that can be read in two ways, as {ways}"


def text_of(value: Any) -> str | None:
    """A value as text, numbers without exponent, as the reader of whole pieces writes them."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        text = format(Decimal(repr(value)), "f") if value - value == 0 else repr(value)
        return text.removesuffix(".0")
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False)
    return str(value)


def _is_unicode(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def leaves_of(records: Iterable[dict[str, Any]]) -> dict[str, list[Path]]:
    """The keys of records by their names with dots, and where each is to be found.

    An object is what is inside of it, unless it is empty or no object in another record.

    >>> leaves_of([{"score": 1, "alert": {"severity": 2}}])
    {'score': [('score',)], 'alert.severity': [('alert', 'severity')]}
    """
    leaves: dict[str, list[Path]] = {}
    for record in records:
        for path in _leaves(record, ()):
            paths = leaves.setdefault(".".join(path), [])
            if path not in paths:
                paths.append(path)
    return leaves


def _leaves(record: dict[str, Any], above: Path) -> Iterator[Path]:
    for key, value in record.items():
        path = (*above, key)
        if isinstance(value, dict) and value and len(path) < _DEEPEST:
            yield from _leaves(value, path)
        else:
            yield path
