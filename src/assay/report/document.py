"""The document: one result as plain values, which JSON gives back and every face is drawn from."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from typing import Any

from assay.errors import AssayError, InputError
from assay.inference.fields import codec_of, restored
from assay.inference.not_finite import settled, shortened, unsettled
from assay.report.kinds import KINDS
from assay.report.provenance import Provenance
from assay.report.sections import Report

_SURROGATE = re.compile("[\ud800-\udfff]")
# Where numbers stand that JSON does not know: by their place, inf, -inf or nan.
_ODD = "not_finite"


@dataclass(frozen=True, eq=False)
class Document:
    """A result with its provenance, and so all that any face shows.

    >>> from assay import plan
    >>> text = Document(plan(max_fpr=1e-4)).to_json()
    >>> again = Document.from_json(text)
    >>> again.kind, again.result["max_fpr"].target, again.to_json() == text
    ('plan', 0.0001, True)
    """

    result: Any
    provenance: Provenance = field(default_factory=Provenance.here)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Document) and self.plain == other.plain

    __hash__ = None  # type: ignore[assignment]

    @cached_property
    def kind(self) -> str:
        """What it is of: the schema's name without the version, or training."""
        home, name = type(self.result).__module__, type(self.result).__name__
        return next(k for k, v in KINDS.items() if (v.home, v.result) == (home, name))

    @property
    def schema(self) -> str:
        """The name of its JSON Schema."""
        return KINDS[self.kind].schema

    @cached_property
    def report(self) -> Report:
        """What is said of it, section by section: derived when a face is drawn, never stored."""
        drawn: Report = import_module(f"assay.report.{KINDS[self.kind].drawn_by}").report_of(
            self.result
        )
        made = self.provenance
        said = (*_first_line(drawn), *drawn.headline)
        # Of a result that was made in Python there is nothing to tell but the version.
        return replace(drawn, headline=said, made=made if made.command or made.inputs else None)

    @property
    def headline(self) -> str:
        """What it comes to, in one line."""
        return " ".join(next(iter(self.report.headline), "").split())

    @cached_property
    def plain(self) -> dict[str, Any]:
        """The plain values of the contract."""
        values = codec_of(KINDS[self.kind].type).write(self.result)
        odd: dict[str, str] = {}
        found: dict[str, Any] = settled(values, odd)
        return {
            **found,
            **self.report.plain,
            "headline": list(self.report.headline),
            **({_ODD: odd} if odd else {}),
            "provenance": self.provenance.to_dict(),
        }

    def to_json(self) -> str:
        """The document as JSON; half of a surrogate pair, which is no text, as its escape."""
        return json_text(self.plain)

    @classmethod
    def from_json(cls, text: str) -> Document:
        """The document that :meth:`to_json` wrote; an :class:`InputError` for anything else."""
        return cls.from_plain(parsed(text))

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Document:
        """The document of the plain values of the contract."""
        kind = kind_of(plain)
        values = _copied(plain)
        odd = values.pop(_ODD, {})
        if not isinstance(odd, dict):
            raise InputError(f"/{_ODD} is {shortened(repr(odd))}; expected an object")
        unsettled(values, odd)
        given = values.pop("provenance", None)
        made = Provenance("") if given is None else restored(Provenance, given, "/provenance")
        with sound():
            found = cls(restored(KINDS[kind].type, values), made)
            found.plain  # noqa: B018 - what can't be drawn is refused now
        return found


def _first_line(report: Report) -> Iterator[str]:
    """What looks like a mistake is said before anything else."""
    titles: dict[str, list[str]] = {}
    for each in report.warnings:
        if each.mistake:
            titles.setdefault(each.code, []).append(each.title)
    if titles:
        mistakes = (f"{_of_all(found)} ({code})" for code, found in titles.items())
        yield f"Likely a mistake: {'; '.join(mistakes)}."


def _of_all(titles: list[str]) -> str:
    """The title of a finding; where it ends with a model, how many more there are."""
    first, more = titles[0], len(set(titles)) - 1
    return f"{first.removesuffix(')')} and {more} more)" if more and first[-1] == ")" else first


_BROKEN = (
    *(ArithmeticError, AssertionError, AttributeError, LookupError, RuntimeError),
    *(TypeError, ValueError),
)


@contextmanager
def sound() -> Iterator[None]:
    """Whatever breaks on a document that does not hold together is an error of the document."""
    try:
        yield
    except AssayError:
        raise
    except _BROKEN as wrong:
        raise InputError(
            f"it does not hold together: its values contradict each other, or are none that assay "
            f"writes ({type(wrong).__name__}: {shortened(str(wrong))})"
        ) from wrong


def kind_of(plain: Any) -> str:
    """The kind of a document by its schema; refuses what is none, and what is newer."""
    schema = plain.get("schema") if isinstance(plain, dict) else None
    known = dict.fromkeys(kind.schema for kind in KINDS.values())
    if not isinstance(schema, str):
        raise InputError(
            "it is no document of assay: it lacks the key 'schema', as 'assay.evaluation/1'. Give "
            "what a command wrote with --format json"
        )
    if schema not in known:
        raise InputError(f"{shortened(schema)!r} {_unknown(schema, known)}")
    trained = schema == KINDS["training"].schema and plain.get("training") is not None
    return "training" if trained else next(k for k, v in KINDS.items() if v.schema == schema)


def _unknown(schema: str, known: Mapping[str, Any]) -> str:
    name, _, version = schema.rpartition("/")
    mine = next((each for each in known if each.rpartition("/")[0] == name), None)
    if mine is not None and version.isdecimal():
        from assay.errors import __version__

        return f"is of another version than this one reads, {mine!r} (assay {__version__}): update"
    return f"is no document that can be drawn; there are {', '.join(known)}"


def parsed(text: str) -> Any:
    """The plain values of a JSON text, refused where it is none."""

    def constant(name: str) -> Any:
        raise InputError(f"it holds {name}, which JSON does not have")

    try:
        return json.loads(text, parse_constant=constant)
    except RecursionError:
        raise InputError("it is nested too deep for a document") from None
    except ValueError as wrong:
        raise InputError(f"it is no JSON: {shortened(str(wrong))}") from None


def json_text(plain: Any) -> str:
    """Plain values as JSON; half of a surrogate pair, which is no text, as its escape."""
    text = json.dumps(plain, ensure_ascii=False, allow_nan=False, indent=2)
    return _SURROGATE.sub(lambda half: f"\\u{ord(half[0]):04x}", text) + "\n"


def _copied(found: Any) -> Any:
    """The same values in new objects, since numbers are put back into them in place."""
    if isinstance(found, dict):
        return {key: _copied(part) for key, part in found.items()}
    return [_copied(part) for part in found] if isinstance(found, list) else found


def document_of(result: Any, provenance: Provenance | None = None) -> Document:
    """The document of a result: what any command has to say, with how it came about."""
    result = result.snapshot() if hasattr(result, "snapshot") else result
    made = provenance or Provenance.here()
    return Document(result, made if made.rows is not None else replace(made, rows=_rows(result)))


def _rows(result: Any) -> int | None:
    """How many rows a result rests on, where it says so."""
    counted, parts = getattr(result, "rows", None), getattr(result, "parts", None)
    found = (getattr(result, "source", None) or {}).get("rows_used")
    if isinstance(counted, Mapping):
        found = counted.get("rows")
    elif isinstance(parts, Mapping):
        found = sum(part["rows"] for part in parts.values())
    return None if found is None else int(found)
