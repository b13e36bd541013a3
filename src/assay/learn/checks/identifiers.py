"""Columns that name a row rather than describe it: addresses, ports, ids, times."""

from __future__ import annotations

import re
from collections.abc import Callable

from assay.learn.checks.facts import Facts

ADDRESS, PORT, ID, TIME = "address", "port", "id", "time"

# What the parts of a name tell; values have to agree.
_NAMES = {
    ADDRESS: "ip ipv4 ipv6 srcip dstip saddr daddr addr address mac host hostname domain url uri "
    "server client",
    PORT: "port sport dport srcport dstport",
    ID: "id ids uid uuid guid rowid index idx key hash serial session listing vendor seller user "
    "account customer device record row sequence",
    TIME: "time times timestamp datetime date day ts stime ltime epoch seen start end created",
}
# What is called no more than that is one, though it may begin anew somewhere.
_PLAIN_IDS = frozenset({"id", "uid", "uuid", "guid", "rowid", "row_id", "index"})
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_FORMS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (ADDRESS, re.compile(r"(?:\d{1,3}\.){3}\d{1,3}(?:[:/]\d+)?")),
    (ADDRESS, re.compile(r"(?:[0-9a-fA-F]{2}[:-]){5}[0-9a-fA-F]{2}")),
    (ADDRESS, re.compile(r"(?=.*::|(?:[^:]*:){7})[0-9a-fA-F:]+(?:%\w+)?")),
    (TIME, re.compile(r"\d{4}-\d\d?-\d\d?(?:[T ].*)?|\d\d?[/.]\d\d?[/.]\d{2,4}(?: .*)?")),
    (TIME, re.compile(r"\d\d?:\d\d(?::\d\d(?:\.\d+)?)?")),
    (ID, re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")),
)
_MOST = 0.9
# Fewer values than this are a category or a flag, whatever the column is called.
_MANY = 20
_NEARLY_ALL = 0.95
_OFTEN_DIFFERENT = 0.5
_WELL_KNOWN_PORT, _LARGEST_PORT = 1023, 65_535
_LONGEST_ID = 64
# The years 2000 to 2100 in seconds; milli-, micro- and nanoseconds are a thousand times more each.
_EPOCH = (946_684_800, 4_102_444_800)


def identifier(facts: Facts) -> str | None:
    """What kind of identifier a column is, if it is one.

    A name alone is not enough: a column ``port`` of three values is a feature.

    >>> identifier(Facts("Dst IP", 3, 0, 2, first=("10.0.0.1", "10.0.0.2")))
    'address'
    >>> identifier(Facts("port", 1000, 0, 3, number=True, whole=True, low=-1, high=1)) is None
    True
    """
    if facts.constant:
        return None
    return _of_numbers(facts) if facts.number else _of_texts(facts)


def _named(facts: Facts, kind: str) -> bool:
    parts = {part.lower() for part in _PARTS.findall(facts.column)}
    return not parts.isdisjoint(_NAMES[kind].split())


def _of_texts(facts: Facts) -> str | None:
    for kind, form in _FORMS:
        if _share(facts.first, form.fullmatch) >= _MOST:
            return kind
    if facts.distinct < _MANY:
        return None
    for kind in (ADDRESS, ID):
        if _named(facts, kind) and not _sentences(facts):
            return kind
    if facts.unique_share >= _NEARLY_ALL and not _sentences(facts):
        return ID
    return None


def _of_numbers(facts: Facts) -> str | None:
    if facts.counts_on and facts.distinct >= _MANY:
        return ID
    follows = facts.rises and not _named(facts, ADDRESS)
    if _is_epoch(facts) and (_named(facts, TIME) or follows):
        return TIME
    if facts.distinct < _MANY:
        return None
    if facts.rises and _named(facts, TIME):
        return TIME
    if not facts.whole:
        return None
    if _named(facts, PORT) and facts.low >= 0 and _WELL_KNOWN_PORT < facts.high <= _LARGEST_PORT:
        return PORT
    if _named(facts, ADDRESS) and facts.high > _LARGEST_PORT:
        return ADDRESS
    plainly = facts.column.strip().lower() in _PLAIN_IDS
    if plainly or (_named(facts, ID) and facts.unique_share >= _OFTEN_DIFFERENT):
        return ID
    return None


def _is_epoch(facts: Facts) -> bool:
    return any(
        _EPOCH[0] * scale <= facts.middle <= _EPOCH[1] * scale for scale in (1, 1e3, 1e6, 1e9)
    )


def _share(texts: tuple[str, ...], holds: Callable[[str], object]) -> float:
    return sum(holds(text.strip()) is not None for text in texts) / len(texts) if texts else 0.0


def _sentences(facts: Facts) -> bool:
    """Whether the values are texts to read."""
    many = sum(" " in text.strip() or len(text) > _LONGEST_ID for text in facts.first)
    return many > len(facts.first) / 2
