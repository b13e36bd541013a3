"""A run that is kept: what a list shows of it, its rows, and the summary of its document."""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import LengthMismatch, StoreError, UnknownMeasure
from assay.v02.escaping import short, visible
from assay.v02.inference import Estimate
from assay.v02.inference.estimation import DEFAULT_LEVEL
from assay.v02.inference.fields import Result
from assay.v02.measures import parse
from assay.v02.report.provenance import now
from assay.v02.report.sections import Report
from assay.v02.sources import must_share_index
from assay.v02.sources.coded import LabelDigest, Labels
from assay.v02.sources.columns import labels_of
from assay.v02.tally import codec, from_bytes

SCHEMA = "assay.runs/1"


@dataclass(frozen=True)
class KeptRun:
    """One judgement that was kept: what a list shows of it, and where the rest is.

    ``kind`` is what the document is about (``evaluation``, ``gate``, ...), ``gate`` the outcome of
    a gate. Runs of equal ``test_set`` judged the same rows; None where that is not known. The
    document, the tally and the rows are read when they are asked for.
    """

    seq: int
    id: str
    name: str
    kind: str
    made: str
    headline: str
    gate: str | None = None
    tags: tuple[str, ...] = ()
    note: str = ""
    test_set: str | None = None
    level: float | None = None
    contents: dict[str, str] = field(default_factory=dict, repr=False, compare=False)
    read: Callable[[str], bytes] | None = field(default=None, repr=False, compare=False)

    @property
    def document(self) -> str:
        """The JSON text, as it was recorded."""
        return self.content("document").decode("utf-8", "surrogatepass")

    @property
    def has_rows(self) -> bool:
        """Whether its rows were kept, so that it can be compared row by row."""
        return "rows" in self.contents

    @property
    def has_tally(self) -> bool:
        """Whether its tally was kept."""
        return "tally" in self.contents

    def rows(self) -> KeptRows | None:
        """The rows that were kept."""
        return KeptRows.from_bytes(self.content("rows")) if self.has_rows else None

    def tally(self) -> Any:
        """The tally that was kept, None where none was."""
        return from_bytes(self.content("tally")) if self.has_tally else None

    def loaded(self) -> KeptRun:
        """The same run with its content in memory, for when the store is closed."""
        held = {sha: self.content(role) for role, sha in self.contents.items()}
        return replace(self, read=held.__getitem__)

    def content(self, role: str) -> bytes:
        """The bytes of ``document``, ``tally`` or ``rows``."""
        if self.read is None or role not in self.contents:
            raise StoreError(f"run {self.id} has no {role}")
        try:
            return self.read(self.contents[role])
        except StoreError as error:
            raise StoreError(f"run {self.id}: its {role} can't be read: {error}") from error

    def to_dict(self) -> dict[str, Any]:
        """The run as the plain values of the contract."""
        return {
            "id": self.id,
            "name": self.name,
            "kind": self.kind,
            "made": self.made,
            "headline": self.headline,
            "gate": self.gate,
            "tags": list(self.tags),
            "note": self.note,
            "test_set": self.test_set,
            "rows_kept": self.has_rows,
            "tally_kept": self.has_tally,
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> KeptRun:
        """What a list shows of a run, as :meth:`to_dict` wrote it."""
        keys = ("id", "name", "kind", "made", "headline", "gate", "note", "test_set")
        held = {role: "" for role in ("rows", "tally") if plain[f"{role}_kept"]}
        fields = {key: plain[key] for key in keys}
        return cls(seq=0, tags=tuple(plain["tags"]), contents=held, **fields)


@dataclass(frozen=True, repr=False)
class Page(Result):
    """Runs of a store at ``place``, newest first.

    ``more`` where older ones follow; ``damaged`` is how many can't be read.
    """

    runs: tuple[KeptRun, ...]
    more: bool = False
    damaged: int = 0
    place: str = ""

    def to_report(self) -> Report:
        """What its report says."""
        from assay.v02.store.reports import runs_report

        return runs_report(self)

    def to_dict(self) -> dict[str, Any]:
        """The page as the plain values of the contract."""
        return {
            "schema": SCHEMA,
            "runs": [run.to_dict() for run in self.runs],
            "more": self.more,
            "damaged": self.damaged,
            "store": self.place,
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Page:
        """The page that :meth:`to_dict` wrote; the content of its runs is elsewhere."""
        runs = tuple(KeptRun.from_dict(run) for run in plain["runs"])
        return cls(runs, plain["more"], plain["damaged"], plain["store"])


@dataclass(frozen=True)
class Name:
    """A name under which runs were recorded: how many, and when the last one was made."""

    name: str
    runs: int
    last: str


# -- rows that are kept with a run -----------------------------------------------------------------

Array: TypeAlias = npt.NDArray[Any]

ROWS_KIND = "rows"


@dataclass(frozen=True, eq=False)
class KeptRows:
    """Judged rows in their order: the truth, and what each model said of them.

    ``scores`` and ``decisions`` are by the name of the model; ``ids`` are texts, or None where rows
    have no names but their place. ``positive`` is the label that is the alarm, where one is.

    >>> rows = KeptRows.of(["attack", "normal"], scores={"m": [0.9, 0.2]}, ids=["a", "b"])
    >>> KeptRows.from_bytes(rows.to_bytes()).ids
    ('a', 'b')
    """

    truth: Labels
    scores: Mapping[str, Array] = field(default_factory=dict)
    decisions: Mapping[str, Labels] = field(default_factory=dict)
    ids: tuple[str, ...] | None = None
    positive: str | None = None

    @classmethod
    def of(
        cls,
        y_true: Any,
        *,
        scores: Mapping[str, Any] | None = None,
        decisions: Mapping[str, Any] | None = None,
        ids: Sequence[Any] | None = None,
        positive: str | None = None,
    ) -> KeptRows:
        """Rows from columns of any kind."""
        must_share_index(
            {"y_true": y_true, "scores": scores or {}, "decisions": decisions or {}, "ids": ids}
        )
        truth = y_true if isinstance(y_true, Labels) else labels_of(y_true, "y_true")
        said = {name: np.asarray(column) for name, column in (scores or {}).items()}
        decided = {
            name: column if isinstance(column, Labels) else labels_of(column, "y_pred")
            for name, column in (decisions or {}).items()
        }
        names = None if ids is None else tuple(map(str, ids))
        sizes = {len(truth.codes), *map(len, said.values())}
        sizes |= {len(each.codes) for each in decided.values()}
        sizes |= set() if names is None else {len(names)}
        if len(sizes) > 1:
            raise LengthMismatch(f"rows to keep have columns of {sorted(sizes)} rows")
        return cls(truth, said, decided, names, positive)

    def __len__(self) -> int:
        return len(self.truth.codes)

    @property
    def models(self) -> tuple[str, ...]:
        """The models that said something of the rows."""
        return (*self.scores, *self.decisions)

    @property
    def test_set(self) -> str:
        """The digest of the labels in their order."""
        digest = LabelDigest()
        digest.add(self.truth)
        return digest.hexdigest()

    def to_bytes(self) -> bytes:
        """The rows as bytes; the same rows give the same bytes."""
        header: dict[str, Any] = {
            "labels": list(self.truth.names),
            "kind": self.truth.kind,
            "positive": self.positive,
            "scores": list(self.scores),
            "decisions": [
                {"model": name, "labels": list(said.names), "kind": said.kind}
                for name, said in self.decisions.items()
            ],
            "ids": self.ids is not None,
        }
        arrays: dict[str, Array] = {"truth": _narrow_codes(self.truth)}
        for i, score in enumerate(self.scores.values()):
            narrow = score.dtype == np.float32
            arrays[f"score {i}"] = score.astype(np.float32 if narrow else np.float64, copy=False)
        for i, said in enumerate(self.decisions.values()):
            arrays[f"decision {i}"] = _narrow_codes(said)
        if self.ids is not None:
            encoded = [name.encode("utf-8", "surrogatepass") for name in self.ids]
            arrays["id lengths"] = np.array([len(each) for each in encoded], np.uint32)
            arrays["ids"] = np.frombuffer(b"".join(encoded), np.uint8)
        return codec.write(ROWS_KIND, header, arrays)

    @staticmethod
    def from_bytes(data: bytes) -> KeptRows:
        """The rows that :meth:`to_bytes` wrote."""
        rows = codec.from_bytes(data)
        if not isinstance(rows, KeptRows):
            raise LengthMismatch(f"these bytes hold no kept rows but {type(rows).__name__}")
        return rows


def _narrow_codes(labels: Labels) -> Array:
    return labels.codes.astype(np.uint8 if len(labels.names) <= 256 else np.uint32, copy=False)


@codec.reads(ROWS_KIND)
def _rows_from_parts(header: Mapping[str, Any], arrays: Mapping[str, Array]) -> KeptRows:
    def labels(names: Any, kind: Any, codes: Array) -> Labels:
        if len(codes) and int(codes.max()) >= len(names):
            raise ValueError("a label has no name")
        return Labels(codes, tuple(map(str, names)), str(kind))

    ids = None
    if header["ids"]:
        ends = np.cumsum(arrays["id lengths"], dtype=np.int64).tolist()
        text = arrays["ids"].tobytes()
        if (ends[-1] if ends else 0) != len(text):
            raise ValueError("ids do not fit their lengths")
        starts = [0, *ends[:-1]]
        ids = tuple(
            text[i:j].decode("utf-8", "surrogatepass") for i, j in zip(starts, ends, strict=False)
        )
    return KeptRows.of(
        labels(header["labels"], header["kind"], arrays["truth"]),
        scores={str(name): arrays[f"score {i}"] for i, name in enumerate(header["scores"])},
        decisions={
            str(said["model"]): labels(said["labels"], said["kind"], arrays[f"decision {i}"])
            for i, said in enumerate(header["decisions"])
        },
        ids=ids,
        positive=header["positive"],
    )


# -- what of a document a list and a trend show ----------------------------------------------------

# It is read once, when the document is recorded.

# A run of thousands of classes has tens of thousands of estimates; trends follow the first ones,
# and the document keeps all.
MOST_POINTS = 1000
_LONGEST_HEADLINE = 500
_PREFIX = "assay."
# UTC to the second, so that text sorts as time does.
_MOMENT_FORM = "%Y-%m-%dT%H:%M:%SZ"


@dataclass(frozen=True)
class MeasureValue:
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
    values: tuple[MeasureValue, ...]

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
    >>> summary = summary_of(document)
    >>> summary.kind, summary.gate
    ('gate', 'pass')
    """
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise StoreError(
            f"a run is recorded from a JSON document; this is none: {error}"
        ) from error
    kind = kind_of(document)
    values: dict[str, MeasureValue] = {}
    for value in _values(document):
        values.setdefault(value.measure, value)
        if len(values) == MOST_POINTS:
            break
    level = document.get("level")
    return Summary(
        kind=kind,
        made=_moment_made(document),
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


def _moment_made(document: Mapping[str, Any]) -> str:
    """When it was made, in UTC; a document that does not tell is made now."""
    provenance = document.get("provenance")
    made = provenance.get("made") if isinstance(provenance, dict) else None
    return now() if made is None else stored_moment(made)


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


def _values(document: Mapping[str, Any]) -> Iterator[MeasureValue]:
    """Every number of a document that can be followed from run to run."""
    positive = document.get("positive")
    for entry in _entries_of(document, "estimates"):
        yield from _value(key_of(entry, positive), entry)
    for rule in _entries_of(document, "rules"):
        yield from _value(str(rule.get("rule")), rule)
    for chosen in ("guaranteed", "empirical"):
        point = document.get(chosen)
        if isinstance(point, dict):
            yield from _value(f"{chosen}.threshold", {"value": point.get("threshold")})
            for entry in _entries_of(point, "estimates"):
                yield from _value(f"{chosen}.{key_of(entry, positive)}", entry)
    for period in _entries_of(document, "periods")[-1:]:
        for entry in _entries_of(period, "estimates"):
            key, subject = key_of(entry, positive), entry.get("subject")
            if entry.get("scope") == "cumulative":
                yield from _value(key if subject == "new" else f"{subject}({key})", entry)
    for entry in _entries_of(document, "differences"):
        key = f"{entry.get('measure')}({entry.get('b')} - {entry.get('a')})"
        yield from _value(key, {**entry, "value": entry.get("difference")})


def _entries_of(document: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    entries = document.get(key)
    return [each for each in entries if isinstance(each, dict)] if isinstance(entries, list) else []


def _value(key: str, entry: Mapping[str, Any]) -> Iterator[MeasureValue]:
    value = _number(entry.get("value"))
    if value is not None and not isinstance(entry.get("slice"), dict):
        ends = (_number(entry.get(name)) for name in ("low", "high", "n"))
        yield MeasureValue(visible(key), value, *ends)


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(value)


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


def stored_moment(moment: Any) -> str:
    """A moment of ISO 8601 as a store writes it; one without a zone is taken as UTC.

    >>> stored_moment("2026-11-16T09:30:00+01:00")
    '2026-11-16T08:30:00Z'
    """
    try:
        instant = datetime.fromisoformat(moment)
    except (TypeError, ValueError) as error:
        raise StoreError(
            f"a moment is written as 2026-11-16T08:30:00Z; found {moment!r}"
        ) from error
    aware = instant.replace(tzinfo=UTC) if instant.tzinfo is None else instant.astimezone(UTC)
    return aware.strftime(_MOMENT_FORM)
