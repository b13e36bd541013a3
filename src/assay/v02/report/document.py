"""The document: one result as plain values, which JSON gives back and every face is drawn from.

What stands here too: which face draws it, CSV, and the JSON Schema (draft 2020-12) of each kind.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from importlib.resources import files
from typing import Any

from assay.errors import AssayError, InputError
from assay.v02.escaping import escaped_json, visible
from assay.v02.inference.fields import codec_of, restored, settled, shortened, unsettled
from assay.v02.report import FACES, FORMATS, FURTHER, KINDS
from assay.v02.report.provenance import Provenance
from assay.v02.report.sections import Report

_SURROGATE = re.compile("[\ud800-\udfff]")
# Where numbers stand that JSON does not know: by their place, inf, -inf or nan.
_NOT_FINITE = "not_finite"


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
        home, _, function = KINDS[self.kind].drawn_by.partition(".")
        drawn: Report = getattr(import_module(f"assay.v02.report.{home}"), function)(self.result)
        provenance = self.provenance
        headline = (*_first_line(drawn), *drawn.headline)
        # Of a result that was made in Python there is nothing to tell but the version.
        return replace(
            drawn,
            headline=headline,
            made=provenance if provenance.command or provenance.inputs else None,
        )

    @property
    def headline(self) -> str:
        """What it comes to, in one line."""
        return " ".join(next(iter(self.report.headline), "").split())

    @cached_property
    def plain(self) -> dict[str, Any]:
        """The plain values of the contract."""
        not_finite: dict[str, str] = {}
        values: dict[str, Any] = settled(
            codec_of(KINDS[self.kind].type).write(self.result), not_finite
        )
        return {
            **values,
            **self.report.plain,
            "headline": list(self.report.headline),
            **({_NOT_FINITE: not_finite} if not_finite else {}),
            "provenance": self.provenance.to_dict(),
        }

    def to_json(self) -> str:
        """The document as JSON; what acts on a terminal or turns the text around as its escape."""
        return json_text(self.plain)

    @classmethod
    def from_json(cls, text: str) -> Document:
        """The document that :meth:`to_json` wrote; an :class:`InputError` for anything else."""
        return cls.from_plain(parsed(text))

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Document:
        """The document of the plain values of the contract."""
        kind = kind_of(plain)
        values = _copy_of(plain)
        not_finite = values.pop(_NOT_FINITE, {})
        if not isinstance(not_finite, dict):
            raise InputError(f"/{_NOT_FINITE} is {shortened(repr(not_finite))}; expected an object")
        unsettled(values, not_finite)
        given = values.pop("provenance", None)
        made = Provenance("") if given is None else restored(Provenance, given, "/provenance")
        with sound():
            document = cls(restored(KINDS[kind].type, values), made)
            document.plain  # noqa: B018 - what can't be drawn is refused now
        return document


def _first_line(report: Report) -> Iterator[str]:
    """What looks like a mistake is said before anything else."""
    titles: dict[str, list[str]] = {}
    for each in report.warnings:
        if each.mistake:
            titles.setdefault(each.code, []).append(each.title)
    if titles:
        mistakes = (f"{_of_all(names)} ({code})" for code, names in titles.items())
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
    schemas = dict.fromkeys(kind.schema for kind in KINDS.values())
    if not isinstance(schema, str):
        raise InputError(
            "it is no document of assay: it lacks the key 'schema', as 'assay.evaluation/1'. Give "
            "what a command wrote with --format json"
        )
    if schema not in schemas:
        raise InputError(f"{shortened(schema)!r} {_unknown(schema, schemas)}")
    trained = schema == KINDS["training"].schema and plain.get("training") is not None
    return "training" if trained else next(k for k, v in KINDS.items() if v.schema == schema)


def _unknown(schema: str, schemas: Mapping[str, Any]) -> str:
    name, _, version = schema.rpartition("/")
    mine = next((each for each in schemas if each.rpartition("/")[0] == name), None)
    if mine is not None and version.isdecimal():
        from assay.errors import __version__

        return f"is of another version than this one reads, {mine!r} (assay {__version__}): update"
    return f"is no document that can be drawn; there are {', '.join(schemas)}"


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
    """Plain values as JSON; what acts on a terminal or turns the text around as its escape."""
    return escaped_json(json.dumps(plain, ensure_ascii=False, allow_nan=False, indent=2)) + "\n"


def _copy_of(value: Any) -> Any:
    """The same values in new objects, since numbers are put back into them in place."""
    if isinstance(value, dict):
        return {key: _copy_of(part) for key, part in value.items()}
    return [_copy_of(part) for part in value] if isinstance(value, list) else value


def document_of(result: Any, provenance: Provenance | None = None) -> Document:
    """The document of a result: what any command has to say, with how it came about."""
    result = result.snapshot() if hasattr(result, "snapshot") else result
    origin = provenance or Provenance.here()
    return Document(
        result, origin if origin.rows is not None else replace(origin, rows=_rows(result))
    )


def _rows(result: Any) -> int | None:
    """How many rows a result rests on, where it says so."""
    counted, parts = getattr(result, "rows", None), getattr(result, "parts", None)
    rows = (getattr(result, "source", None) or {}).get("rows_used")
    if isinstance(counted, Mapping):
        rows = counted.get("rows")
    elif isinstance(parts, Mapping):
        rows = sum(part["rows"] for part in parts.values())
    return None if rows is None else int(rows)


# -- its faces -------------------------------------------------------------------------------------


def draw(
    document: Document | Report,
    format: str,  # noqa: A002 - the word of the command line
    *,
    width: int | None = None,
    color: bool = False,
    encoding: str = "utf-8",
    fragment: bool = False,
    tiers: Sequence[str] = (),
) -> str:
    """The document as text; width, color and encoding are those of a terminal.

    ``fragment`` gives the tables of LaTeX alone, for a paper to input, and ``tiers`` some of
    ``main``, ``advanced`` and ``appendix``.
    """
    if (fragment or tiers) and format != "latex":
        raise InputError(f"fragment= and tiers= are of the format latex; found {format!r}")
    if tiers and not fragment:
        raise InputError("tiers= is of a fragment; give fragment=True too")
    if isinstance(document, Document) and format == "json":
        return document.to_json()
    if format in FURTHER:
        return _further(document, format)
    if format not in FACES:
        raise InputError(f"a report is one of {', '.join(FORMATS + FURTHER)}; found {format!r}")
    report = document.report if isinstance(document, Document) else document
    if fragment:
        from assay.v02.report.latex import render_fragment, tiers_of

        return render_fragment(report, tiers_of(tiers))
    home, _, function = FACES[format].partition(".")
    render: Callable[..., str] = getattr(import_module(f"assay.v02.report.{home}"), function)
    of_terminal = {"width": width, "color": color, "encoding": encoding}
    return render(report, **of_terminal) if format == "terminal" else render(report)


def _further(document: Document | Report, format: str) -> str:  # noqa: A002 - as above
    kind = document.kind if isinstance(document, Document) else "report"
    if isinstance(document, Document) and (kind, format) == ("gate", "junit"):
        from assay.v02.report.gate import junit

        return junit(document.result, seconds=document.provenance.seconds or 0.0)
    if isinstance(document, Document) and (kind, format) == ("training", "card"):
        from assay.v02.report.training import card_of

        return card_of(document)
    if isinstance(document, Document) and (kind, format) == ("monitor", "openmetrics"):
        from assay.v02.report.monitor import metrics_of

        return metrics_of(document.result)
    only = {"junit": "a gate", "card": "a training", "openmetrics": "a monitor"}[format]
    raise InputError(f"only {only} has the face {format}; this document is of kind {kind}")


def to_json(report: Report) -> str:
    """What a report that is of no document has for programs."""
    return json_text(report.plain)


# -- CSV, which spreadsheets read ------------------------------------------------------------------


_QUOTE = "'"
# What a spreadsheet takes for the start of a formula, full-width forms too, blanks before it or
# not; and what begins like a cell that was made harmless.
_FORMULA = re.compile("['\t\r\n\0]|[\\s\0\ufeff\u200b\u2060]*[-=+@\uff1d\uff0b\uff0d\uff20]")

# Quoted where it must be, and where a spreadsheet might split at another delimiter.
_TO_QUOTE = re.compile('[",;|\t\r\n\0]|^\\s|\\s$')


def to_csv(report: Report) -> str:
    """One row a record, as RFC 4180 has it: CRLF, numbers with all their digits, null as nothing.

    Text that a spreadsheet would run is made harmless by :func:`neutralised`, and what acts on a
    terminal or turns the text around is shown as an escape.
    """
    if not report.records:
        return ""
    return csv_text(tuple(report.records[0]), report.records)


def csv_text(heads: Sequence[str], records: Sequence[Mapping[str, Any]]) -> str:
    """Records as lines of CSV, under their heads."""
    lines = [",".join(heads)]
    lines += [",".join(_csv_cell(record[head]) for head in heads) for record in records]
    return "".join(f"{line}\r\n" for line in lines)


def _csv_cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool | int | float):
        return repr(value)
    text = neutralised(visible(_SURROGATE.sub("\ufffd", str(value))))
    if _TO_QUOTE.search(text):
        return '"' + text.replace('"', '""') + '"'
    return text


def neutralised(text: str) -> str:
    """Text that no spreadsheet takes for a formula: an apostrophe goes before what looks like one.

    Text that begins with an apostrophe gets another, so that :func:`original_text` gives it back.

    >>> neutralised("=cmd|' /C calc'!A0"), neutralised("dos"), neutralised("'quoted'")
    ("'=cmd|' /C calc'!A0", 'dos', "''quoted'")
    """
    return _QUOTE + text if _FORMULA.match(text) else text


def original_text(text: str) -> str:
    """What the text was before :func:`neutralised`.

    >>> original_text("'=1+1"), original_text("dos")
    ('=1+1', 'dos')
    """
    return text.removeprefix(_QUOTE)


# -- JSON Schema -----------------------------------------------------------------------------------


SCHEMAS = (
    "assay.about/1",
    "assay.audit/1",
    "assay.check/1",
    "assay.compare/1",
    "assay.diff/1",
    "assay.evaluation/1",
    "assay.gate/1",
    "assay.imported/1",
    "assay.incidents/1",
    "assay.measures/1",
    "assay.monitor/1",
    "assay.plan/1",
    "assay.runs/1",
    "assay.sample/1",
    "assay.threshold/1",
    "assay.trend/1",
    "assay.unpaired/1",
)


def schema_of(document: str) -> dict[str, Any]:
    """The schema of a document by the name that it carries.

    >>> schema_of("assay.evaluation/1")["title"]
    'assay.evaluation/1'
    """
    if document not in SCHEMAS:
        raise InputError(f"there is no schema {document!r}; there are {', '.join(SCHEMAS)}")
    name = document.replace("/", "-")
    path = files("assay.v02.report") / "schemas" / f"{name}.schema.json"
    schema: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return schema
