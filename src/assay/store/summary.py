"""What of a document a list and a trend show: read once, when the document is recorded."""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from assay.errors import StoreError, UnknownMeasure
from assay.inference import Estimate
from assay.inference.estimation import DEFAULT_LEVEL
from assay.measures import parse
from assay.report.names import short, visible
from assay.report.provenance import now

# A run of thousands of classes has tens of thousands of estimates; trends follow the first ones,
# and the document keeps all.
MOST_POINTS = 1000
_LONGEST_HEADLINE = 500
_PREFIX = "assay."
# UTC to the second, so that text sorts as time does.
_FORM = "%Y-%m-%dT%H:%M:%SZ"


@dataclass(frozen=True)
class Value:
    """An estimate that a trend follows, under its name."""

    measure: str
    value: float
    low: float | None
    high: float | None
    n: float | None


def stored_estimate(
    value: float, low: float | None, high: float | None, n: float | None, level: float | None
) -> Estimate:
    """The estimate whose parts were stored; what was not is left open."""
    ends = (math.nan if end is None else end for end in (low, high))
    return Estimate(value, *ends, n=n or 0, level=level or DEFAULT_LEVEL)


@dataclass(frozen=True)
class Summary:
    """What stands in the columns of a run; the document itself is kept beside it.

    ``test_set`` tells runs on the same rows from others: the digest of the labels in their order
    where the rows were read, else that of the input files. It is None where neither is known.
    """

    kind: str
    made: str
    headline: str
    gate: str | None
    test_set: str | None
    level: float | None
    values: tuple[Value, ...]

    @property
    def estimates(self) -> dict[str, Estimate]:
        """The values with their intervals, by name."""
        return {
            each.measure: stored_estimate(each.value, each.low, each.high, each.n, self.level)
            for each in self.values
        }


def summary_of(text: str) -> Summary:
    """The summary of a JSON document, refused where it is none of ours.

    >>> document = '{"schema": "assay.gate/1", "outcome": "pass", "rules": []}'
    >>> found = summary_of(document)
    >>> found.kind, found.gate
    ('gate', 'pass')
    """
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as odd:
        raise StoreError(f"a run is recorded from a JSON document; this is none: {odd}") from odd
    kind = kind_of(document)
    values: dict[str, Value] = {}
    for value in _values(document):
        values.setdefault(value.measure, value)
        if len(values) == MOST_POINTS:
            break
    level = document.get("level")
    return Summary(
        kind=kind,
        made=_made(document),
        headline=_headline(document),
        gate=document.get("outcome") if kind == "gate" else None,
        test_set=_test_set(document),
        level=level if isinstance(level, float) else None,
        values=tuple(values.values()),
    )


def kind_of(document: Any) -> str:
    """What a document is about, by the schema that it names: ``evaluation``, ``gate``, ..."""
    schema = document.get("schema") if isinstance(document, dict) else None
    kind, _, number = str(schema).removeprefix(_PREFIX).partition("/")
    if not isinstance(schema, str) or not schema.startswith(_PREFIX) or not number.isdecimal():
        raise StoreError(
            f"a run is recorded from a document of assay, whose schema is as 'assay.evaluation/1'; "
            f"found {schema!r}"
        )
    return "training" if kind == "evaluation" and document.get("training") is not None else kind


def _made(document: Mapping[str, Any]) -> str:
    """When it was made, in UTC; a document that does not tell is made now."""
    provenance = document.get("provenance")
    made = provenance.get("made") if isinstance(provenance, dict) else None
    return now() if made is None else written(made)


def _headline(document: Mapping[str, Any]) -> str:
    said = document.get("headline")
    lines = [said] if isinstance(said, str) else said if isinstance(said, list) else []
    return short(visible(" ".join(str(line) for line in lines[:1])), _LONGEST_HEADLINE)


def _test_set(document: Mapping[str, Any]) -> str | None:
    source = document.get("source")
    if isinstance(source, dict) and isinstance(source.get("labels_sha256"), str):
        return f"labels:{source['labels_sha256']}"
    provenance = document.get("provenance")
    inputs = provenance.get("inputs") if isinstance(provenance, dict) else None
    if not isinstance(inputs, list):
        return None
    hashes = [each.get("sha256") for each in inputs if isinstance(each, dict)]
    if not hashes or not all(isinstance(each, str) for each in hashes):
        return None
    return f"files:{hashlib.sha256(' '.join(map(str, hashes)).encode()).hexdigest()}"


# -- numbers ---------------------------------------------------------------------------------------


def _values(document: Mapping[str, Any]) -> Iterator[Value]:
    """Every number of a document that can be followed from run to run."""
    positive = document.get("positive")
    for entry in _listed(document, "estimates"):
        yield from _value(key_of(entry, positive), entry)
    for rule in _listed(document, "rules"):
        yield from _value(str(rule.get("rule")), rule)
    for chosen in ("guaranteed", "empirical"):
        point = document.get(chosen)
        if isinstance(point, dict):
            yield from _value(f"{chosen}.threshold", {"value": point.get("threshold")})
            for entry in _listed(point, "estimates"):
                yield from _value(f"{chosen}.{key_of(entry, positive)}", entry)
    for period in _listed(document, "periods")[-1:]:
        for entry in _listed(period, "estimates"):
            key, subject = key_of(entry, positive), entry.get("subject")
            if entry.get("scope") == "cumulative":
                yield from _value(key if subject == "new" else f"{subject}({key})", entry)
    for entry in _listed(document, "differences"):
        key = f"{entry.get('measure')}({entry.get('b')} - {entry.get('a')})"
        yield from _value(key, {**entry, "value": entry.get("difference")})


def _listed(document: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    found = document.get(key)
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def _value(key: str, entry: Mapping[str, Any]) -> Iterator[Value]:
    value = _number(entry.get("value"))
    if value is not None and not isinstance(entry.get("slice"), dict):
        ends = (_number(entry.get(name)) for name in ("low", "high", "n"))
        yield Value(visible(key), value, *ends)


def _number(found: Any) -> float | None:
    if isinstance(found, bool) or not isinstance(found, int | float) or not math.isfinite(found):
        return None
    return float(found)


def key_of(entry: Mapping[str, Any], positive: Any) -> str:
    """The name of an estimate: measure, with its label or average, and its base rate.

    >>> key_of({"measure": "f1", "label": None, "average": "macro"}, "attack")
    'f1.macro'
    >>> key_of({"measure": "f1", "label": "attack", "base_rate": 0.001}, "attack")
    'f1@base-rate=0.001'
    """
    suffix = entry.get("average") or entry.get("label")
    key = str(entry.get("measure"))
    if suffix is not None and suffix != positive:
        key = f"{key}.{suffix}"
    rate = entry.get("base_rate")
    return key if rate is None else f"{key}@base-rate={rate:g}"


def spellings(measure: str) -> Iterator[str]:
    """A measure as it was typed, and by the name that the catalogue has for it."""
    yield measure
    prefix, dot, rest = measure.partition(".")
    chosen = f"{prefix}{dot}" if prefix in ("guaranteed", "empirical") else ""
    named, at, rate = (rest if chosen else measure).partition("@")
    with contextlib.suppress(UnknownMeasure):
        known, suffix = parse(named)
        yield f"{chosen}{known.name}{f'.{suffix}' if suffix else ''}{at}{rate}"


# -- moments ---------------------------------------------------------------------------------------


def written(moment: Any) -> str:
    """A moment of ISO 8601 as a store writes it; one without a zone is taken as UTC.

    >>> written("2026-11-16T09:30:00+01:00")
    '2026-11-16T08:30:00Z'
    """
    try:
        found = datetime.fromisoformat(moment)
    except (TypeError, ValueError) as odd:
        raise StoreError(f"a moment is written as 2026-11-16T08:30:00Z; found {moment!r}") from odd
    aware = found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    return aware.strftime(_FORM)
