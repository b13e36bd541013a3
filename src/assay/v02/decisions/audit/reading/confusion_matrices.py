"""Confusion matrices as people paste them: numpy, frames, R, Weka, tables of any kind."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from assay.v02.decisions.audit.claim import safe_label
from assay.v02.decisions.audit.reading.grids import TextTable
from assay.v02.decisions.audit.reading.published_tables import cleaned, count_text
from assay.v02.decisions.audit.reading.table_rows import OTHER_ROWS, Draft, Totals
from assay.v02.decisions.audit.verdicts import MOST_DIGITS
from assay.errors import InputError, LabelError
from assay.v02.sources.columns import ORIENTATIONS
from assay.v02.sources.labelling import infer

TRUTH_ROWS, PREDICTED_ROWS = ORIENTATIONS
_TRUTH = re.compile(
    r"\b(?:actual|true|truth|reference|gold|observed|real|ground[ _-]?truth)\w*", re.I
)
_DECIDED = re.compile(
    r"\b(?:pred|predict\w*|classified|estimated|assigned|detected|decision|output)\w*", re.I
)
_AXIS = re.compile(r"\b(?:class(?:es)?|labels?|as|value)\b|[\\/|:>()-]+|\u2192", re.I)
# Numbers in brackets inside of brackets, and how they end: looked for apart, since together they
# would be tried from every bracket of a file of brackets.
_NESTED = re.compile(r"\[\s*+\[[\d\s,.\[\]]*+")
_ENDED = re.compile(r"\]\s*+\]")
_COUNT_WORD = re.compile(r"\d[\d,]*+")
_WEKA = re.compile(r"((?:\d++\s++)++)\|\s*+(\S+)\s*+=\s*+(.+)")
_TOTALS = frozenset({"all", "total", "totals", "sum", "margins"})


@dataclass(frozen=True)
class PastedMatrix:
    """A matrix as it was pasted: labels where they are told, and what its rows are, if that is."""

    cells: tuple[tuple[int, ...], ...]
    labels: tuple[str, ...] = ()
    orientation: str | None = None
    where: str = "confusion matrix"

    @property
    def sums(self) -> tuple[list[int], list[int]]:
        """The sums of rows and of columns."""
        return [sum(row) for row in self.cells], [
            sum(column) for column in zip(*self.cells, strict=True)
        ]

    def rows_are(self, asked: str | None, support: Sequence[int] = ()) -> str | None:
        """What its rows are: as it says, as ``asked``, or as supports tell; None if nothing."""
        rows, columns = self.sums
        if self.orientation or asked:
            return self.orientation or asked
        if self.cells == tuple(zip(*self.cells, strict=True)):
            return TRUTH_ROWS
        if rows == columns:
            return None
        return {tuple(rows): TRUTH_ROWS, tuple(columns): PREDICTED_ROWS}.get(tuple(support))

    def with_rows(self, orientation: str) -> PastedMatrix:
        """With the truth in its rows, where they are what is said."""
        turned = tuple(zip(*self.cells, strict=True))
        cells = turned if orientation == PREDICTED_ROWS else self.cells
        return replace(self, cells=cells, orientation=TRUTH_ROWS)

    @property
    def question(self) -> str:
        """What has to be asked where nothing tells what the rows are."""
        return (
            f"{self.where}: nothing tells whether its rows are the truth or the decisions; say "
            f"orientation={TRUTH_ROWS!r} (as scikit-learn prints it) or "
            f"orientation={PREDICTED_ROWS!r}"
        )


def matrices_in(text: str) -> tuple[list[PastedMatrix], str]:
    """The matrices of a text, and the text without them."""
    matrices: list[PastedMatrix] = []

    def taken(match: re.Match[str]) -> str:
        last = _ENDED.search(match[0][::-1])
        end = 0 if last is None else len(match[0]) - last.start()
        nested, behind = match[0][:end], match[0][end:]
        rows = [re.findall(r"(\d+)(?:\.0*)?", row) for row in re.findall(r"\[([^\[\]]*)\]", nested)]
        shares = re.search(r"\d\.\d*[1-9]", nested)
        if shares or not _square(rows) or any(len(cell) > MOST_DIGITS for r in rows for cell in r):
            return match[0]
        matrices.append(PastedMatrix(tuple(tuple(map(int, row)) for row in rows)))
        return f"\n{behind}"

    rest = re.sub(r"\barray\(\s*\n", "", _NESTED.sub(taken, text))
    lines = rest.splitlines()
    kept: list[str] = []
    i = 0
    while i < len(lines):
        grid, end = _weka(lines, i)
        if grid is None:
            grid, end = _printed(lines, i)
        if grid is None:
            kept.append(lines[i])
            i += 1
        else:
            matrices.append(grid)
            i = end
    return matrices, "\n".join(kept)


def _square(cells: Sequence[Sequence[object]]) -> bool:
    return len(cells) > 1 and all(len(row) == len(cells) for row in cells)


def _weka(lines: Sequence[str], start: int) -> tuple[PastedMatrix | None, int]:
    """Weka: letters above, ``| a = normal`` behind each row; rows are the truth."""
    if "classified as" not in lines[start]:
        return None, start
    below = (line.strip() for line in lines[start + 1 : start + 1001])
    rows = [match for match in map(_WEKA.fullmatch, below) if match]
    cells = tuple(tuple(map(int, row[1].split())) for row in rows)
    if not _square(cells):
        return None, start
    labels = tuple(row[3] for row in rows)
    return PastedMatrix(
        cells, labels, TRUTH_ROWS, f"confusion matrix, line {start + 1}"
    ), start + 1 + len(rows)


def _printed(lines: Sequence[str], start: int) -> tuple[PastedMatrix | None, int]:
    """A printed frame: a line of labels, perhaps the name of an axis, then rows of counts."""
    head = lines[start].split()
    # Labels may be numbers: then a line of them begins with blanks and stands above counts.
    counts = _counts_in(lines[start]) == len(head) and not lines[start].startswith(" ")
    if len(head) < 2 or counts:
        return None, start
    place = start + 1
    below = ""
    if (
        place < len(lines)
        and lines[place].strip()
        and not re.search(r"\d", lines[place])
        and len(lines[place].split()) <= 3
    ):
        below = lines[place]
        place += 1
    rows: list[tuple[str, list[int]]] = []
    while place < len(lines) and (row := _named_counts(lines[place])):
        rows.append(row)
        place += 1
    cells, labels, columns = _without_totals(rows, head)
    if not _square(cells) or len(columns) < len(cells):
        return None, start
    across = columns[-len(cells) :]
    if labels and all(labels) and sorted(labels) != sorted(across):
        return None, start
    if not all(labels):
        return None, start
    if labels != across:
        order = [labels.index(label) for label in across]
        cells = tuple(cells[i] for i in order)
        labels = across
    axis = " ".join(columns[: -len(cells)])
    above = lines[start - 1] if start else ""
    orientation = _orientation(axis, above, below)
    return PastedMatrix(
        cells, tuple(labels), orientation, f"confusion matrix, line {start + 1}"
    ), place


def _counts_in(line: str) -> int:
    return sum(bool(_COUNT_WORD.fullmatch(word)) for word in line.split())


def _named_counts(line: str) -> tuple[str, list[int]] | None:
    """The counts that end a line, two or more, and the name before them."""
    words = line.split()
    first = len(words)
    while first and _COUNT_WORD.fullmatch(words[first - 1]):
        first -= 1
    counts = [word.replace(",", "") for word in words[first:]]
    if len(counts) < 2 or any(len(count) > MOST_DIGITS for count in counts):
        return None
    return " ".join(words[:first]), list(map(int, counts))


def _without_totals(
    rows: Sequence[tuple[str, list[int]]], head: Sequence[str]
) -> tuple[tuple[tuple[int, ...], ...], list[str], list[str]]:
    """The rows without a last row and column of sums."""
    kept, columns = list(rows), list(head)
    if columns[-1].casefold() in _TOTALS:
        columns = columns[:-1]
        kept = [(name, counts[:-1]) for name, counts in kept]
    if kept and kept[-1][0].casefold() in _TOTALS:
        kept = kept[:-1]
    # A label that looks like a count stands in front of its row.
    size = len(kept)
    if size and all(not name and len(counts) == size + 1 for name, counts in kept):
        kept = [(str(counts[0]), counts[1:]) for name, counts in kept]
    return tuple(tuple(counts) for _, counts in kept), [name for name, _ in kept], columns


def _orientation(axis: str, above: str, below: str) -> str | None:
    """What the rows are, by the names of the axes.

    A frame has the name of its columns beside the labels and that of its rows below; R has the name
    of its rows beside them and that of its columns above.
    """
    both = [(m.start(), TRUTH_ROWS) for m in _TRUTH.finditer(axis)]
    both += [(m.start(), PREDICTED_ROWS) for m in _DECIDED.finditer(axis)]
    if len({side for _, side in both}) == 2:
        return min(both)[1]
    if below and (_TRUTH.search(below) or _DECIDED.search(below)):
        return TRUTH_ROWS if _TRUTH.search(below) else PREDICTED_ROWS
    if _is_axis(above) and axis:
        return TRUTH_ROWS if _TRUTH.search(axis) else PREDICTED_ROWS
    return None


def _is_axis(line: str) -> bool:
    return len(line.split()) <= 3 and bool(_TRUTH.search(line) or _DECIDED.search(line))


def matrix_of(grid: TextTable) -> PastedMatrix | None:
    """The matrix that a table is; None where it is none.

    >>> rows = (("", "Pred A", "Pred B"), ("True A", "45", "3"), ("True B", "4", "38"))
    >>> matrix_of(TextTable(rows)).labels, matrix_of(TextTable(rows)).orientation
    (('A', 'B'), 'truth-rows')
    """
    rows = [tuple(map(cleaned, row)) for row in grid.even().rows]
    first = next((i for i, row in enumerate(rows) if _numeric(row)), None)
    if not first:
        return None
    body = [row for row in rows[first:] if any(row)]
    start = next((j for j in range(len(body[0])) if all(count_text(row[j]) for row in body)), None)
    if not start:
        return None
    body, ends = _summed(body, rows[first - 1], start)
    cells = tuple(tuple(int(count_text(cell) or 0) for cell in row[start:ends]) for row in body)
    if not _square(cells) or any(
        count_text(cell) is None for row in body for cell in row[start:ends]
    ):
        return None
    across = [_bare(text) for text in rows[first - 1][start:ends]]
    down = [_bare(" ".join(row[:start])) for row in body]
    if across != down:
        if sorted(across) != sorted(down) or len(set(down)) < len(down):
            return None
        cells = tuple(cells[down.index(label)] for label in across)
    return PastedMatrix(
        cells, tuple(across), _axes(rows, first, start), f"the table of line {grid.line}"
    )


def _numeric(row: Sequence[str]) -> bool:
    return sum(count_text(cell) is not None for cell in row) >= 2


def _summed(
    body: list[tuple[str, ...]], header: Sequence[str], start: int
) -> tuple[list[tuple[str, ...]], int]:
    """The body without sums, and where its columns end."""
    ends = len(header)
    while ends > start and header[ends - 1].casefold() in (*_TOTALS, ""):
        ends -= 1
    if body and " ".join(body[-1][:start]).strip().casefold() in _TOTALS:
        body = body[:-1]
    return body, ends


def _bare(text: str) -> str:
    """A label without the words for truth and decision around it."""
    shown = _AXIS.sub(" ", _DECIDED.sub(" ", _TRUTH.sub(" ", text)))
    return " ".join(shown.split()) or " ".join(text.split())


def _axes(rows: Sequence[Sequence[str]], first: int, start: int) -> str | None:
    corner = " ".join(" ".join(row[:start]) for row in rows[:first])
    both = [(m.start(), TRUTH_ROWS) for m in _TRUTH.finditer(corner)]
    both += [(m.start(), PREDICTED_ROWS) for m in _DECIDED.finditer(corner)]
    if len({side for _, side in both}) == 2:
        return min(both)[1]
    across = " ".join(" ".join(row[start:]) for row in rows[:first])
    down = " ".join(" ".join(row[:start]) for row in rows[first:])
    if _DECIDED.search(across) or (_TRUTH.search(down) and not _DECIDED.search(down)):
        return TRUTH_ROWS
    if _TRUTH.search(across) or _DECIDED.search(down):
        return PREDICTED_ROWS
    return None


# -- matrices and the numbers beside them ----------------------------------------------------------


def with_matrices(
    drafts: list[Draft], matrices: list[PastedMatrix], totals: Totals, title: str, notes: list[str]
) -> tuple[list[Draft], list[str]]:
    """Matrices put to the numbers beside them: one matrix and one list, or of the same labels."""
    for matrix in matrices:
        place = _partner(matrix, drafts, alone=len(matrices) == len(drafts) == 1)
        if place is None:
            drafts.append(_alone(matrix, totals, title))
            notes.append(f"{title}: {matrix.where} of {len(matrix.cells)} classes")
            continue
        drafts[place] = _put(matrix, drafts[place], totals)
        notes.append(f"{title}: {matrix.where} was put to {drafts[place].raw['name']!r}")
    return [_with_numbers(draft, totals) for draft in drafts], notes


def _with_numbers(draft: Draft, totals: Totals) -> Draft:
    """A claim with the numbers that stand elsewhere, as options give them."""
    raws = [
        None if raw is None else {**raw, "reported": {**raw["reported"], **totals.reported}}
        for raw in (draft.raw, draft.turned)
    ]
    return replace(draft, raw=raws[0] or {}, turned=raws[1])


def _partner(matrix: PastedMatrix, drafts: Sequence[Draft], *, alone: bool) -> int | None:
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


def _put(matrix: PastedMatrix, draft: Draft, totals: Totals) -> Draft:
    """A claim with the matrix that stands beside it."""
    labels = list(draft.raw.get("labels", ()))
    support = [draft.raw.get("support", {}).get(label, -1) for label in labels]
    named = list(matrix.labels) or labels
    if labels and sorted(named) != sorted(labels):
        named = labels
    notes = tuple(note for note in draft.notes if note != OTHER_ROWS)
    known = matrix.rows_are(totals.orientation, support)
    both = [
        {**draft.raw, **_cells(matrix.with_rows(rows), named, draft.raw), "exhaustive": True}
        for rows in ORIENTATIONS
    ]
    if known is not None:
        return replace(draft, raw=both[ORIENTATIONS.index(known)], notes=notes)
    return replace(draft, raw=both[0], notes=notes, turned=both[1], question=matrix.question)


def _alone(matrix: PastedMatrix, totals: Totals, title: str) -> Draft:
    """A claim of a matrix and the numbers that options give."""
    numbers = dict(totals.reported)
    raw = {**totals.shared(), "name": f"{title}: {matrix.where}", "reported": numbers}
    draft = _put(matrix, Draft(raw), totals)
    if draft.question and not numbers:
        raise InputError(draft.question)
    return draft


def _cells(matrix: PastedMatrix, named: list[str], raw: Mapping[str, Any]) -> dict[str, Any]:
    labels = named or [str(i) for i in range(len(matrix.cells))]
    raw_matrix: dict[str, Any] = {
        "labels": [safe_label(label) for label in labels],
        "matrix": [list(row) for row in matrix.cells],
    }
    if len(labels) == 2 and "positive" not in raw and "negative" not in raw:
        try:
            infer(tuple(labels))
        except LabelError:
            raw_matrix["positive"] = labels[1]
    return raw_matrix
