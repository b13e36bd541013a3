"""A confusion matrix as people write it: four named cells, rows of counts, or a small file."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, NoReturn

from assay.errors import InputError
from assay.sources.amounts import CELLS, LIMIT, ORIENTATIONS
from assay.sources.files.inputs import STDIN, shown, standard_input

LARGEST_FILE = 8 << 20
_EXAMPLE = "45,3,2;4,38,3;1,2,52"
# Rows that are typed hold numbers alone; whatever else is typed is the name of a file.
_TYPED = frozenset("0123456789,;.eE+- \t\n")
_KEYS = ("matrix", "confusion")


@dataclass(frozen=True)
class MatrixTable:
    """Rows of counts, and what stands beside them: labels, the positive one, the orientation."""

    rows: tuple[tuple[int, ...], ...]
    labels: tuple[str, ...] | None = None
    positive: str | None = None
    orientation: str | None = None


def cells_of(text: str) -> dict[str, int]:
    """Four cells with their names, in any order.

    >>> cells_of("tp=6635,fp=167,fn=324,tn=7743")["tn"]
    7743
    """
    cells: dict[str, int] = {}
    for part in text.split(","):
        name, equals, number = (piece.strip() for piece in part.partition("="))
        name = name.lower()
        if not equals or name not in CELLS:
            hint = " (counts are written without commas in them)" if part.strip().isdigit() else ""
            raise InputError(
                f"found {part.strip()[:40]!r}{hint}; expected {', '.join(CELLS)}, each with its "
                f"count, such as tp=6635,fp=167,fn=324,tn=7743"
            )
        if name in cells:
            raise InputError(f"{name} is given twice; expected each of {', '.join(CELLS)} once")
        cells[name] = _count(number, name)
    absent = [name for name in CELLS if name not in cells]
    if absent:
        raise InputError(f"{', '.join(absent)} missing; expected {', '.join(CELLS)}")
    _must_be_countable(cells.values())
    return cells


def is_typed(text: str) -> bool:
    """Whether a text is rows of counts, and not the name of a file.

    >>> is_typed("[[5, 1], [2, 8]]"), is_typed("5,1;2,8"), is_typed("confusion.csv")
    (True, True, False)
    """
    numbers = _TYPED.issuperset(text) and any(sign.isdigit() for sign in text)
    return numbers or text.lstrip().startswith("[")


def matrix_of(text: str) -> MatrixTable:
    """Rows of counts that were typed: as JSON, or with semicolons between rows.

    >>> matrix_of("5,1;2,8").rows
    ((5, 1), (2, 8))
    """
    if text.lstrip().startswith("["):
        return _of_json(text)
    lines = [re.split(r"[,\s]+", row.strip().strip(",")) for row in text.strip(" ;").split(";")]
    return MatrixTable(_square(lines))


def read_matrix(name: str) -> MatrixTable:
    """The matrix of a file, ``-`` for standard input: JSON, or a table of text.

    JSON holds the rows, or an object with ``matrix`` (or ``confusion``, as assay's own documents
    have it) and, if they are known, ``labels``, ``positive`` and ``orientation``. A table has a
    row a line, with or without labels above it and before it.
    """
    called = "standard input" if name == STDIN else shown(name)
    try:
        text = _content(name, called).decode("utf-8-sig")
    except UnicodeDecodeError as odd:
        raise InputError(f"{called}: byte {odd.start} is not UTF-8; save it as UTF-8") from odd
    try:
        if text.lstrip()[:1] in ("[", "{"):
            return _of_json(text)
        return _of_table(text)
    except InputError as odd:
        raise InputError(f"{called}: {odd}") from odd


def _content(name: str, called: str) -> bytes:
    try:
        if name == STDIN:
            found = standard_input().read(LARGEST_FILE + 1)
        else:
            with Path(name).open("rb") as file:
                found = file.read(LARGEST_FILE + 1)
    except FileNotFoundError as odd:
        raise InputError(
            f"there is no file {called}; rows of counts may also be typed, such as {_EXAMPLE}"
        ) from odd
    except (OSError, ValueError) as odd:
        why = odd.strerror if isinstance(odd, OSError) else str(odd)
        raise InputError(f"{called} can't be read: {why}") from odd
    if len(found) > LARGEST_FILE:
        raise InputError(
            f"{called} has more than {LARGEST_FILE >> 20} MB; a confusion matrix is a small table. "
            f"Is it a file of predictions? Then leave out matrix="
        )
    return found


# -- JSON ------------------------------------------------------------------------------------------


def _of_json(text: str) -> MatrixTable:
    try:
        found = json.loads(text, parse_float=Decimal, parse_constant=_no_constant)
    except RecursionError as odd:
        raise InputError("it is nested too deeply for a matrix") from odd
    except ValueError as odd:
        raise InputError(f"it is no JSON that can be read: {odd}") from odd
    if isinstance(found, list):
        return MatrixTable(_square(found))
    keys = [key for key in _KEYS if found.get(key) is not None]
    if len(keys) != 1:
        raise InputError(
            f"found the keys {', '.join(map(shown, found)) or 'none'}; expected rows of counts, or "
            f'one of {" and ".join(_KEYS)} with "labels" beside it'
        )
    labels = found.get("labels")
    if labels is not None and not isinstance(labels, list):
        raise InputError(f"labels are a list of names; found {str(labels)[:40]!r}")
    orientation = found.get("orientation")
    if orientation is not None and orientation not in ORIENTATIONS:
        raise InputError(
            f"orientation is {' or '.join(ORIENTATIONS)}; found {str(orientation)[:40]!r}"
        )
    return MatrixTable(
        _square(found[keys[0]]),
        None if labels is None else tuple(map(_text, labels)),
        None if found.get("positive") is None else _text(found["positive"]),
        orientation,
    )


def _no_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is no number of JSON")


def _text(label: Any) -> str:
    if not isinstance(label, str | int):
        raise InputError(f"a label is a text or a whole number; found {str(label)[:40]!r}")
    return str(label).lower() if isinstance(label, bool) else str(label)


# -- tables of text --------------------------------------------------------------------------------


def _of_table(text: str) -> MatrixTable:
    lines = text.splitlines()
    first = next((line for line in lines if line.strip()), "")
    delimiter = max("\t;,", key=first.count)
    try:
        table = [[cell.strip() for cell in row] for row in csv.reader(lines, delimiter=delimiter)]
    except csv.Error as odd:
        raise InputError(f"it is no table that can be read: {odd}") from odd
    table = [row for row in table if any(row)]
    if not table:
        raise InputError("it is empty; expected a row of counts for each class")
    above, before = _has_labels(table)
    header = table[0] if above else []
    body = table[1:] if above else table
    names = [row[0] for row in body] if before else None
    rows = [row[1:] for row in body] if before else body
    if above and before and len(header) == len(body) + 1:
        header = header[1:]
    if names is not None and above and names != header:
        raise InputError(
            f"rows are named {names} and columns {header}; expected the same classes in the same "
            f"order. Give the counts without names, and labels="
        )
    labels = names if names is not None else (header if above else None)
    return MatrixTable(_square(rows), None if labels is None else tuple(labels))


def _has_labels(table: Sequence[Sequence[str]]) -> tuple[bool, bool]:
    """Whether labels stand above the counts, and before them.

    The shape tells, and in a square the corner. Numbers are labels only where they count the
    classes, or a row that was lost would turn counts into labels.
    """
    height, width = len(table), max(map(len, table))
    if height == width:
        both = len(table[0]) < width or not _is_number(table[0][0])
        return both, both
    above = height == width + 1 and _are_labels(table[0])
    before = width == height + 1 and _are_labels([row[0] for row in table])
    return above, before


def _are_labels(names: Sequence[str]) -> bool:
    counted = [[str(i + start) for i in range(len(names))] for start in (0, 1)]
    return list(names) in counted or not any(map(_is_number, names))


def _is_number(text: str) -> bool:
    try:
        return Decimal(text).is_finite()
    except InvalidOperation:
        return False


# -- counts ----------------------------------------------------------------------------------------


def _square(rows: Any) -> tuple[tuple[int, ...], ...]:
    """Rows as counts, as many columns as rows."""
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        raise InputError(f"a matrix is rows of counts, such as {_EXAMPLE}; found {str(rows)[:40]}")
    widths = [len(row) for row in rows]
    if len(rows) < 2 or widths != [len(rows)] * len(rows):
        each = ", ".join(map(str, sorted(set(widths))))
        raise InputError(
            f"a confusion matrix is square, a row and a column for each of two classes or more; "
            f"found {len(rows)} {'row' if len(rows) == 1 else 'rows'} of {each or 'no'} counts"
        )
    counts = tuple(
        tuple(_count(cell, f"row {i}, column {j}") for j, cell in enumerate(row, 1))
        for i, row in enumerate(rows, 1)
    )
    _must_be_countable(cell for row in counts for cell in row)
    return counts


def _count(cell: Any, where: str) -> int:
    """A cell as a count, which no float may touch: 2^53 + 1 is none."""
    told = str(cell)[:40]
    number = cell if isinstance(cell, int | Decimal) and not isinstance(cell, bool) else None
    if isinstance(cell, str):
        try:
            number = Decimal(cell)
        except InvalidOperation:
            number = None
    if number is None or not Decimal(number).is_finite():
        raise InputError(f"{where}: found {told!r}; expected a count, a whole number")
    if number < 0:
        raise InputError(f"{where}: found {told}; a count is not negative")
    if number >= LIMIT:
        raise InputError(f"{where}: found {told}; 2^62 or more can't be counted here")
    if number != int(number):
        raise InputError(f"{where}: found {told}; a count is a whole number")
    return int(number)


def _must_be_countable(counts: Iterable[int]) -> None:
    if sum(counts) >= LIMIT:
        raise InputError("the counts add up to 2^62 or more, which can't be counted here")
