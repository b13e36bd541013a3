"""What a file of reported numbers is, and its claims: recognised by content, or as it is told."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from assay.decisions.audit.building import build
from assay.decisions.audit.claim import Claim
from assay.decisions.audit.claims_file import content_of, read_claims
from assay.decisions.audit.reading.drafts import Draft, Totals
from assay.decisions.audit.reading.grids import (
    Grid,
    aligned_grids,
    delimiter_of,
    markdown_grids,
    separated_grids,
)
from assay.decisions.audit.reading.latex import latex_grids
from assay.decisions.audit.reading.matrices import Pasted, matrices_in, matrix_of
from assay.decisions.audit.reading.reports import (
    evaluation_claims,
    has_report,
    is_report_table,
    pair_claims,
    report_claims,
    safe_label,
    table_claims,
)
from assay.decisions.audit.reading.rows import OTHER_ROWS, claims_of
from assay.errors import InputError

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
_CLAIM = re.compile(r"^\s*\[\[?\s*claim\b|^\s*claim\s*=", re.M)
_LATEX = re.compile(r"\\begin\{|\\\\\s*(?:\\hline|\\midrule|\\bottomrule)?\s*$", re.M)
_PIPES = re.compile(r"^\s*>?\s*\|?\s*:?-{2,}:?\s*\|[\s:|-]*$|^\s*\+[-=]+\+", re.M)
_SUFFIXES = {".csv": CSV, ".tsv": CSV, ".tex": LATEX, ".toml": CLAIMS, ".md": MARKDOWN}


@dataclass(frozen=True)
class Document:
    """The claims of a file, and what is said of how they were read.

    ``turned`` are the same claims with the other label as the positive one, where nothing tells
    which of two it is.
    """

    claims: tuple[Claim, ...]
    notes: tuple[str, ...] = ()
    turned: Mapping[int, Claim] = field(default_factory=dict)


def read_document(
    path: str | Path,
    *,
    text: str | bytes | None = None,
    kind: str | None = None,
    input_format: str | None = None,
    totals: Totals | None = None,
) -> Document:
    r"""The claims of a file of any kind, ``-`` for standard input; or of a ``text``.

    >>> table = "| model | Acc. (%) | F1 |\n|---|---|---|\n| RF | 99.1 | 0.98 |"
    >>> found = read_document("paper.md", text=table)
    >>> [(claim.name, sorted(claim.reported)) for claim in found.claims]
    [('RF', ['accuracy', 'f1'])]
    """
    name, content = content_of(path, text)
    told = totals or Totals()
    if kind is not None and kind not in KINDS:
        raise InputError(f"{name}: found kind={kind!r}; expected {', '.join(KINDS)}")
    found = kind or (CLAIMS if input_format else _recognised(content, name))
    if found == CLAIMS:
        return Document(read_claims(path, text=content, input_format=input_format))
    title = Path(name).name
    drafts, notes = _read(found, content, told, title)
    how = f"{title} was read as {_CALLED[found]}"
    if not drafts:
        why = "; ".join(notes) or "there is no table, report or matrix in it"
        raise InputError(
            f"{how}, but it holds no number that a measure could be matched to: {why}. Say what it "
            f"is by kind=, one of {', '.join(KINDS)}"
        )
    claims = tuple(_built(draft, name, position) for position, draft in enumerate(drafts, 1))
    return Document(claims, (how, *notes), dict(_turned(drafts, claims, told, name)))


def _built(draft: Draft, name: str, position: int) -> Claim:
    claim = build(draft.raw, file=name, position=position)
    notes = (*claim.notes, *draft.notes)
    return replace(claim, notes=notes, percents=draft.percents, table=draft.table)


def _turned(
    drafts: Sequence[Draft], claims: Sequence[Claim], totals: Totals, name: str
) -> Iterator[tuple[int, Claim]]:
    """Claims of two labels that nobody named positive, with the other one as the positive."""
    for i, (draft, claim) in enumerate(zip(drafts, claims, strict=True)):
        if claim.binary and len(claim.labels) == 2 and not (totals.positive or totals.negative):
            if draft.stated or "confusion" in draft.raw:
                continue
            raw = {**draft.raw, "positive": claim.labels[0]}
            yield i, _built(replace(draft, raw=raw), name, i + 1)


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
        found = json.loads(text)
    except (ValueError, RecursionError):
        return CLAIMS  # which tells what is wrong with it
    if isinstance(found, list):
        rows = [row for row in found if isinstance(row, list)]
        return MATRIX if rows else CSV
    if str(found.get("schema", "")).startswith("assay.evaluation/"):
        return EVALUATION
    if "schema" in found and "claim" not in found:
        raise InputError(
            f"{name} is a document {found['schema']!r}; an audit reads assay.evaluation/1"
        )
    return REPORT if is_report_table(found) else CLAIMS


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
    return readers[kind](content, totals, title)


def _csv(content: str, totals: Totals, title: str) -> Drafts:
    if content.lstrip()[:1] == "[":
        records = [row for row in _loaded(content, title) if isinstance(row, dict)]
        names = list(dict.fromkeys(key for row in records for key in row))
        rows = [tuple("" if row.get(k) is None else str(row[k]) for k in names) for row in records]
        return _grids([Grid((tuple(names), *rows))], totals, title)
    return _grids(separated_grids(content, title), totals, title)


def _evaluation(content: str, totals: Totals, title: str) -> Drafts:  # noqa: ARG001 - it has its own
    found = _loaded(content, title)
    if not isinstance(found, dict) or "estimates" not in found:
        raise InputError(f"{title} has no estimates; expected a document assay.evaluation/1")
    return evaluation_claims(found, title)


def _report(content: str, totals: Totals, title: str) -> Drafts:
    if content.lstrip()[:1] == "{":
        found = _loaded(content, title)
        if not is_report_table(found):
            raise InputError(
                f"{title}: expected what classification_report(output_dict=True) gives"
            )
        return table_claims(found, totals, title)
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


def _grids(grids: Iterator[Grid] | Sequence[Grid], totals: Totals, title: str) -> Drafts:
    """The claims of tables; each is a matrix, or rows of numbers."""
    drafts: list[Draft] = []
    notes: list[str] = []
    matrices: list[Pasted] = []
    all_of_them = list(grids)
    for grid in all_of_them:
        named = f"{title}, line {grid.line}" if len(all_of_them) > 1 else title
        matrix = matrix_of(grid)
        if matrix is not None:
            matrices.append(matrix)
            continue
        found, said = claims_of(grid, totals, grid.caption or named)
        drafts += found
        notes += said
    return _with_matrices(drafts, matrices, totals, title, notes)


def _text(content: str, totals: Totals, title: str) -> Drafts:
    """Reports, matrices, Markdown tables, printed frames and lines of values, in this order."""
    bare = re.sub(r"^\s*```.*$", "", content, flags=re.M)
    drafts, notes, rest = report_claims(bare, totals, title)
    grids = list(markdown_grids(rest))
    rest = "\n".join(
        line for line in rest.splitlines() if "|" not in line or "<--" in line or " = " in line
    )
    matrices, rest = matrices_in(rest)
    found, said, rest = pair_claims(rest, totals, title)
    drafts += found
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
        read, told = claims_of(grid, totals, grid.caption or named)
        more += read
        tables += told
    drafts += more
    return _with_matrices(drafts, matrices, totals, title, [*notes, *tables])


def _with_matrices(
    drafts: list[Draft], matrices: list[Pasted], totals: Totals, title: str, notes: list[str]
) -> Drafts:
    """Matrices put to the numbers beside them: one matrix and one list, or of the same labels."""
    for matrix in matrices:
        place = _partner(matrix, drafts, alone=len(matrices) == len(drafts) == 1)
        if place is None:
            drafts.append(Draft(_alone(matrix, totals, title)))
            notes.append(f"{title}: {matrix.where} of {len(matrix.cells)} classes")
            continue
        drafts[place] = _put(matrix, drafts[place], totals)
        notes.append(f"{title}: {matrix.where} was put to {drafts[place].raw['name']!r}")
    if totals.reported:
        drafts = [
            replace(
                draft, raw={**draft.raw, "reported": {**draft.raw["reported"], **totals.reported}}
            )
            for draft in drafts
        ]
    return drafts, notes


def _partner(matrix: Pasted, drafts: Sequence[Draft], *, alone: bool) -> int | None:
    for i, draft in enumerate(drafts):
        if "matrix" in draft.raw or "confusion" in draft.raw:
            continue
        labels = draft.raw.get("labels", ())
        support = [draft.raw.get("support", {}).get(label) for label in labels]
        if labels and len(labels) == len(matrix.cells):
            if support in matrix.sums or (matrix.labels and set(matrix.labels) == set(labels)):
                return i
        elif alone and not labels:
            return i
    return None


def _put(matrix: Pasted, draft: Draft, totals: Totals) -> Draft:
    raw = dict(draft.raw)
    labels = list(raw.get("labels", ()))
    support = [raw.get("support", {}).get(label, -1) for label in labels]
    turned = matrix.oriented(totals.orientation, support)
    named = list(turned.labels) if turned.labels else labels
    if labels and named and sorted(named) != sorted(labels):
        named = labels
    raw |= {**_cells(turned, named or _numbered(turned), raw), "exhaustive": True}
    return replace(draft, raw=raw, notes=tuple(n for n in draft.notes if n != OTHER_ROWS))


def _alone(matrix: Pasted, totals: Totals, title: str) -> dict[str, Any]:
    turned = matrix.oriented(totals.orientation, list(totals.support.values()))
    raw: dict[str, Any] = {**totals.shared(), "name": f"{title}: {matrix.where}", "reported": {}}
    return {**raw, **_cells(turned, list(turned.labels) or _numbered(turned), raw)}


def _numbered(matrix: Pasted) -> list[str]:
    return [str(i) for i in range(len(matrix.cells))]


def _cells(matrix: Pasted, labels: list[str], raw: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {
        "labels": [safe_label(label) for label in labels],
        "matrix": [list(row) for row in matrix.cells],
    }
    if len(labels) == 2 and "positive" not in raw and "negative" not in raw:
        from assay.errors import LabelError
        from assay.sources.labelling import infer

        try:
            infer(tuple(labels))
        except LabelError:
            found["positive"] = labels[1]
    return found
