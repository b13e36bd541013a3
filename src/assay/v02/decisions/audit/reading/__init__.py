"""Reading what people have: tables, reports and matrices as claims.

What a file is, is recognised by its content, or as it is told; one reader a kind.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from assay.v02.decisions.audit.claim import Claim, Reported, key_of
from assay.v02.decisions.audit.claims_file import build, content_of, read_claims
from assay.v02.decisions.audit.reading.confusion_matrices import (
    PastedMatrix,
    matrices_in,
    matrix_of,
    with_matrices,
)
from assay.v02.decisions.audit.reading.grids import (
    TextTable,
    aligned_grids,
    delimiter_of,
    latex_grids,
    markdown_grids,
    must_be_small,
    separated_grids,
)
from assay.v02.decisions.audit.reading.reports import (
    evaluation_claims,
    has_report,
    is_report_table,
    pair_claims,
    report_claims,
    table_claims,
)
from assay.v02.decisions.audit.reading.table_rows import ROWS, Draft, Totals, claims_of
from assay.v02.decisions.audit.verdicts import Printed
from assay.errors import InputError

__all__ = ["KINDS", "ROWS", "ClaimsDocument", "OtherReadings", "Totals", "read_document"]

CLAIMS, MARKDOWN, CSV, LATEX = "claims", "markdown", "csv", "latex"
REPORT, MATRIX, EVALUATION, TEXT = "classification-report", "confusion-matrix", "evaluation", "text"
KINDS = (CLAIMS, MARKDOWN, CSV, LATEX, REPORT, MATRIX, EVALUATION, TEXT)
_CALLED = {
    CLAIMS: "a claims file",
    MARKDOWN: "Markdown",
    CSV: "separated values",
    LATEX: "LaTeX",
    REPORT: "a classification report",
    MATRIX: "a confusion matrix",
    EVALUATION: "an evaluation",
    TEXT: "plain text",
}
# Blanks within a line, taken at once: a megabyte of blank lines is passed over in one go.
_BLANKS = r"[^\S\n]*+"
_CLAIM = re.compile(rf"^{_BLANKS}(?:\[\[?\s*+claim\b|claim\s*+=)", re.M)
_LATEX = re.compile(rf"\\begin\{{|\\\\{_BLANKS}(?:\\hline|\\midrule|\\bottomrule)?{_BLANKS}$", re.M)
_PIPES = re.compile(
    rf"^{_BLANKS}(?:>?{_BLANKS}\|?{_BLANKS}:?-++:?{_BLANKS}\|(?:[^\S\n]|[:|-])*+$|\+[-=]++\+)", re.M
)
# R's caret prints both, and calls TP / (TP + FP + FN + TN) the detection rate.
_CARET = re.compile(rf"^{_BLANKS}detection prevalence\b", re.I | re.M)
_CARET_RATE = re.compile(rf"^{_BLANKS}detection rate\b.*$", re.I | re.M)
_FENCE = re.compile(rf"^{_BLANKS}```.*$", re.M)
_SUFFIXES = {".csv": CSV, ".tsv": CSV, ".tex": LATEX, ".toml": CLAIMS, ".md": MARKDOWN}


@dataclass(frozen=True)
class OtherReadings:
    """Other readings of a claim, each with how it is said; ``first`` says the same of the claim.

    Unless just one reading can be true the ``question``, if there is one, has to be asked.
    """

    readings: tuple[tuple[Claim, str], ...] = ()
    first: str = ""
    question: str = ""


@dataclass(frozen=True)
class ClaimsDocument:
    """The claims of a file, and what is said of how they were read.

    ``others`` are other readings of a claim by its place, where nothing tells which label is the
    positive one, or what the rows of its matrix are.
    """

    claims: tuple[Claim, ...]
    notes: tuple[str, ...] = ()
    others: Mapping[int, OtherReadings] = field(default_factory=dict)


def read_document(
    path: str | Path,
    *,
    text: str | bytes | None = None,
    kind: str | None = None,
    input_format: str | None = None,
    totals: Totals | None = None,
) -> ClaimsDocument:
    r"""The claims of a file of any kind, ``-`` for standard input; or of a ``text``.

    >>> table = "| model | Acc. (%) | F1 |\n|---|---|---|\n| RF | 99.1 | 0.98 |"
    >>> document = read_document("paper.md", text=table)
    >>> [(claim.name, sorted(claim.reported)) for claim in document.claims]
    [('RF', ['accuracy', 'f1'])]
    """
    name, content = content_of(path, text)
    told = totals or Totals()
    if kind is not None and kind not in KINDS:
        raise InputError(f"{name}: found kind={kind!r}; expected {', '.join(KINDS)}")
    recognised = kind or (CLAIMS if input_format else _recognised(content, name))
    if recognised == CLAIMS:
        return ClaimsDocument(read_claims(path, text=content, input_format=input_format))
    title = Path(name).name
    drafts, notes = _read(recognised, content, told, title)
    how = f"{title} was read as {_CALLED[recognised]}"
    if not drafts:
        why = "; ".join(notes) or "there is no table, report or matrix in it"
        raise InputError(
            f"{how}, but it holds no number that a measure could be matched to: {why}. Say what it "
            f"is by kind=, one of {', '.join(KINDS)}"
        )
    claims = tuple(_built(draft, name, position) for position, draft in enumerate(drafts, 1))
    others = {i: _others(draft, claims[i], told, name) for i, draft in enumerate(drafts)}
    return ClaimsDocument(
        claims, (how, *notes), {i: each for i, each in others.items() if each.readings}
    )


def _built(draft: Draft, name: str, position: int) -> Claim:
    draft = _of_labels(draft)
    claim = build(draft.raw, file=name, position=position)
    notes = (*claim.notes, *draft.notes)
    if draft.by_program:
        claim = replace(claim, reported={k: _rounded(v) for k, v in claim.reported.items()})
    return replace(claim, notes=notes, percents=draft.percents, table=draft.table)


def _rounded(number: Reported) -> Reported:
    """A number that a program printed: correctly rounded."""
    return replace(number, by_program=True) if isinstance(number, Printed) else number


def _of_labels(draft: Draft) -> Draft:
    """Keys with the labels of the claim, whatever their case; those of other labels are told."""
    counted = draft.raw.get("labels") or draft.raw.get("support", ())
    labels = [str(label) for label in counted]
    if not labels:
        return draft
    by_case = {label.casefold(): label for label in labels}
    reported, unknown = {}, []
    for key, number in draft.raw.get("reported", {}).items():
        label = key_of(key).label
        if label is None or label in labels:
            reported[key] = number
        elif label.casefold() in by_case:
            known = by_case[label.casefold()]
            reported[key.replace(f".{label}", f".{known}", 1)] = number
        else:
            unknown.append(key)
    said = f"numbers of labels that the counts do not name: {', '.join(unknown)}"
    notes = (*draft.notes, said) if unknown else draft.notes
    return replace(draft, raw={**draft.raw, "reported": reported}, notes=notes)


def _others(draft: Draft, claim: Claim, totals: Totals, name: str) -> OtherReadings:
    """The readings of a claim beside the first: the other label as positive, the matrix turned."""
    sides = [(draft, "")]
    if draft.turned is not None:
        turned = replace(draft, raw=draft.turned)
        sides = [(draft, "rows are the truth"), (turned, "rows are the decisions")]
    free = claim.binary and len(claim.labels) == 2 and not (totals.positive or totals.negative)
    readings = []
    for side, words in sides:
        first = _built(side, name, 1) if side is not draft else claim
        positives = [first.positive]
        if free and not draft.stated and "confusion" not in draft.raw:
            positives.append(first.labels[0])
        for positive in positives:
            said = f"{words}{' and ' if words and positive != claim.positive else ''}"
            said += f"{positive!r} is the positive label" if positive != claim.positive else ""
            raw = {**side.raw, "positive": positive} if positive is not None else side.raw
            readings.append((_built(replace(side, raw=raw), name, 1), said))
    return OtherReadings(tuple(readings[1:]), readings[0][1], draft.question)


def _recognised(content: str, name: str) -> str:
    """The kind of a file by its suffix, else by what stands in it."""
    start = content.lstrip("\ufeff \t\r\n")
    if start[:1] == "{" or (
        start[:1] == "[" and re.match(r"\[\s*[\[{\]]", start) and _is_json(start)
    ):
        return _of_json(start, name)
    suffix = _SUFFIXES.get(Path(name).suffix.lower())
    if suffix is not None and suffix != MARKDOWN:
        return suffix
    if _CLAIM.search(content):
        return CLAIMS
    if _LATEX.search(content) and "&" in content:
        return LATEX
    if has_report(content):
        return REPORT
    if _PIPES.search(content):
        return MARKDOWN
    if suffix is None and _is_separated(content):
        return CSV
    return TEXT


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _of_json(text: str, name: str) -> str:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        return CLAIMS  # which tells what is wrong with it
    if isinstance(content, list):
        rows = [row for row in content if isinstance(row, list)]
        return MATRIX if rows else CSV
    if str(content.get("schema", "")).startswith("assay.evaluation/"):
        return EVALUATION
    if "schema" in content and "claim" not in content:
        raise InputError(
            f"{name} is a document {content['schema']!r}; an audit reads assay.evaluation/1"
        )
    return REPORT if is_report_table(content) else CLAIMS


def _is_separated(content: str) -> bool:
    lines = [line for line in content.splitlines() if line.strip()]
    return len(lines) > 1 and delimiter_of(lines[:50]) is not None and not matrices_in(content)[0]


# -- one reader a kind -----------------------------------------------------------------------------

Drafts = tuple[list[Draft], list[str]]


def _read(kind: str, content: str, totals: Totals, title: str) -> Drafts:
    readers: dict[str, Callable[[str, Totals, str], Drafts]] = {
        MARKDOWN: _text,
        REPORT: _report,
        MATRIX: _matrix,
        TEXT: _text,
        LATEX: lambda text, told, name: _grids(latex_grids(text), told, name),
        CSV: _csv,
        EVALUATION: _evaluation,
    }
    try:
        return readers[kind](content, totals, title)
    except InputError as odd:
        # What is refused deep inside of a table knows its line at most.
        if title in str(odd):
            raise
        raise type(odd)(f"{title}: {odd}") from odd


def _csv(content: str, totals: Totals, title: str) -> Drafts:
    if content.lstrip()[:1] == "[":
        records = [row for row in _loaded(content, title) if isinstance(row, dict)]
        names = list(dict.fromkeys(key for row in records for key in row))
        must_be_small(len(records), len(names), title)
        rows = [tuple("" if row.get(k) is None else str(row[k]) for k in names) for row in records]
        return _grids([TextTable((tuple(names), *rows))], totals, title)
    return _grids(separated_grids(content, title), totals, title)


def _evaluation(content: str, totals: Totals, title: str) -> Drafts:  # noqa: ARG001 - it has its own
    document = _loaded(content, title)
    if not isinstance(document, dict) or "estimates" not in document:
        raise InputError(f"{title} has no estimates; expected a document assay.evaluation/1")
    return evaluation_claims(document, title)


def _report(content: str, totals: Totals, title: str) -> Drafts:
    if content.lstrip()[:1] == "{":
        report = _loaded(content, title)
        if not is_report_table(report):
            raise InputError(
                f"{title}: expected what classification_report(output_dict=True) gives"
            )
        return table_claims(report, totals, title)
    if not has_report(content):
        raise InputError(
            f"{title}: there is no line of the headings precision, recall, f1-score and support"
        )
    return _text(content, totals, title)


def _matrix(content: str, totals: Totals, title: str) -> Drafts:
    if content.lstrip()[:2] in ("[[", "[{"):
        content = json.dumps(json.loads(content)) if _is_json(content) else content
    drafts, notes = _text(content, totals, title)
    if not any("matrix" in draft.raw for draft in drafts):
        raise InputError(f"{title}: there is no square table of counts in it")
    return drafts, notes


def _loaded(content: str, title: str) -> Any:
    try:
        return json.loads(content, parse_float=Decimal)
    except (ValueError, RecursionError) as odd:
        raise InputError(f"{title} is no JSON that can be read: {odd}") from odd


def _grids(grids: Iterable[TextTable], totals: Totals, title: str) -> Drafts:
    """The claims of tables; each is a matrix, or rows of numbers."""
    drafts: list[Draft] = []
    notes: list[str] = []
    matrices: list[PastedMatrix] = []
    all_of_them = list(grids)
    for grid in all_of_them:
        named = f"{title}, line {grid.line}" if len(all_of_them) > 1 else title
        matrix = matrix_of(grid)
        if matrix is not None:
            matrices.append(matrix)
            continue
        claims, said = claims_of(grid, totals, named)
        drafts += claims
        notes += said
    return with_matrices(drafts, matrices, totals, title, notes)


def _text(content: str, totals: Totals, title: str) -> Drafts:
    """Reports, matrices, Markdown tables, printed frames and lines of values, in this order."""
    bare = _FENCE.sub("", content)
    by_caret = _CARET.search(bare) is not None
    bare = _CARET_RATE.sub("", bare) if by_caret else bare
    drafts, notes, rest = report_claims(bare, totals, title)
    if by_caret:
        notes.append(f"{title}: 'Detection Rate' was passed over: caret divides it by all rows")
    grids = list(markdown_grids(rest))
    rest = "\n".join(
        line for line in rest.splitlines() if "|" not in line or "<--" in line or " = " in line
    )
    matrices, rest = matrices_in(rest)
    values, said, rest = pair_claims(rest, totals, title)
    drafts += values
    notes += said
    grids += list(aligned_grids(rest))
    more: list[Draft] = []
    tables: list[str] = []
    for grid in grids:
        matrix = matrix_of(grid)
        if matrix is not None:
            matrices.append(matrix)
            continue
        named = f"{title}, line {grid.line}" if len(grids) > 1 else title
        read, told = claims_of(grid, totals, named)
        more += read
        tables += told
    drafts += more
    return with_matrices(drafts, matrices, totals, title, [*notes, *tables])
