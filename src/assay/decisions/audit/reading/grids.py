r"""Tables as people have them, as rows of texts: Markdown, separated values, columns of blanks."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from assay.errors import InputError

_RULE = re.compile(r"\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*")
_GRID_RULE = re.compile(r"\s*\+(?:[-=]+\+)+\s*")
_CAPTION = re.compile(r"\s*(?:[*_#>\s]*)(?:table|tab\.|caption)\b.*", re.IGNORECASE)
_GAP = re.compile(r"\s{2,}|\t+")
_NUMERIC = re.compile(r"[+-]?[\d.,]+%?|nan|-+", re.IGNORECASE)
# A line that is drawn under headings.
_LINE = re.compile(r"[\s=+|:-]*[=-]{3}[\s=+|:-]*")
DELIMITERS = ",;\t|"


@dataclass(frozen=True)
class Grid:
    """A table: its rows of texts with the headings first, its caption, and where it begins.

    ``around`` is what stands right beside it, such as the heading of its section.
    """

    rows: tuple[tuple[str, ...], ...]
    headers: int = 1
    caption: str = ""
    line: int = 1
    around: str = ""

    @property
    def body(self) -> tuple[tuple[str, ...], ...]:
        """The rows under the headings."""
        return self.rows[self.headers :]

    @property
    def width(self) -> int:
        """How many columns there are."""
        return max(map(len, self.rows), default=0)

    def even(self) -> Grid:
        """With every row as wide as the widest."""
        wide = self.width
        rows = tuple((*row, *[""] * (wide - len(row))) for row in self.rows)
        return replace(self, rows=rows)

    def turned(self) -> Grid:
        """With rows and columns exchanged."""
        return replace(self, rows=tuple(zip(*self.even().rows, strict=True)), headers=1)


# -- Markdown --------------------------------------------------------------------------------------


def markdown_grids(text: str) -> Iterator[Grid]:
    """The pipe tables of a text, and those that are drawn with plus signs."""
    lines = text.splitlines()
    i = 0
    while i < len(lines):
        if (
            i + 1 < len(lines)
            and "|" in lines[i]
            and _RULE.fullmatch(lines[i + 1])
            and "|" in lines[i + 1]
        ):
            end = i + 2
            while end < len(lines) and "|" in lines[end]:
                end += 1
            kept = [lines[i], *lines[i + 2 : end]]
            rows = tuple(_piped(line) for line in kept if not _RULE.fullmatch(line))
            yield Grid(rows, 1, _caption(lines, i, end), i + 1, _around(lines, i, end))
            i = end
        elif _GRID_RULE.fullmatch(lines[i]):
            end = i + 1
            while end < len(lines) and (_GRID_RULE.fullmatch(lines[end]) or "|" in lines[end]):
                end += 1
            kept = [line for line in lines[i:end] if not _GRID_RULE.fullmatch(line)]
            if kept:
                rows, around = tuple(map(_piped, kept)), _around(lines, i, end)
                yield Grid(rows, 1, _caption(lines, i, end), i + 1, around)
            i = end
        else:
            i += 1


def _piped(line: str) -> tuple[str, ...]:
    inner = line.strip().removeprefix(">").strip()
    inner = inner.removeprefix("|")
    inner = inner[:-1] if inner.endswith("|") and not inner.endswith("\\|") else inner
    return tuple(cell.replace("\\|", "|").strip() for cell in re.split(r"(?<!\\)\|", inner))


def _caption(lines: Sequence[str], start: int, end: int) -> str:
    """The line that calls itself a table right above it or below it."""
    above = [line for line in lines[max(start - 3, 0) : start] if line.strip()][-1:]
    below = [line for line in lines[end : end + 3] if line.strip()][:1]
    for line in (*above, *below):
        if _CAPTION.fullmatch(line):
            return re.sub(r"[*_#]+", "", line).strip()
    return ""


def _around(lines: Sequence[str], start: int, end: int) -> str:
    """The heading of the section, two lines above a table and one below."""
    section = [line for line in lines[:start] if line.startswith("#")][-1:]
    above = [line for line in lines[max(start - 5, 0) : start] if line.strip()][-2:]
    below = [line for line in lines[end : end + 3] if line.strip()][:1]
    return "\n".join((*section, *above, *below))


# -- separated values ------------------------------------------------------------------------------


def separated_grids(text: str, name: str) -> Iterator[Grid]:
    """A table of values parted by commas, semicolons, tabs or bars."""
    lines = [
        line
        for line in text.splitlines()
        if line.strip() and not line.startswith("#") and not _LINE.fullmatch(line)
    ]
    sign = delimiter_of(lines)
    if sign is None:
        raise InputError(
            f"{name}: its lines are parted by none of comma, semicolon, tab and bar into as many "
            f"cells; expected a table of separated values"
        )
    rows = [
        tuple(cell.strip() for cell in row)
        for row in csv.reader(io.StringIO("\n".join(lines)), delimiter=sign)
    ]
    comments = [line for line in text.splitlines() if line.startswith("#")]
    yield Grid(tuple(rows), around="\n".join(comments))


def delimiter_of(lines: Sequence[str]) -> str | None:
    """The sign that parts most lines into as many cells as the first; None where none does."""
    best: tuple[int, int, str] | None = None
    for sign in DELIMITERS:
        widths = [len(row) for row in csv.reader(lines, delimiter=sign)]
        if not widths or widths[0] < 2:
            continue
        same = sum(width == widths[0] for width in widths)
        # In 0,97;0,98 the comma parts as well; the semicolon never stands inside of a number.
        place = (same, -DELIMITERS.replace(",", "").find(sign) if sign != "," else -9, sign)
        if same > len(widths) / 2 and (best is None or place[:2] > best[:2]):
            best = place
    return None if best is None else best[2]


# -- columns of blanks -----------------------------------------------------------------------------


def aligned_grids(text: str) -> Iterator[Grid]:
    """Tables that are printed in columns, as frames are: a line of headings, then rows of numbers.

    A name may hold single blanks; the numbers of a row are its last, or (Weka) its first cells.
    """
    lines = [line for line in text.splitlines() if not _LINE.fullmatch(line)]
    i = 0
    while i < len(lines):
        end = i + 1
        while end < len(lines) and _numbers_in(lines[end]) >= 1:
            end += 1
        if end > i + 1 and lines[i].strip() and not _numbers_in(lines[i]):
            grid = _aligned(lines[i], lines[i + 1 : end], i + 1)
            if grid is not None:
                yield replace(grid, around=_around(lines, i, end))
        i = max(end, i + 1)


def _numbers_in(line: str) -> int:
    return sum(bool(_NUMERIC.fullmatch(word)) and word[-1:] != "-" for word in line.split())


def _aligned(header: str, body: Sequence[str], line: int) -> Grid | None:
    names = [cell for cell in _GAP.split(header.strip()) if cell]
    rows = [_split(row, len(names)) for row in body]
    if any(row is None for row in rows):
        names = header.split()
        rows = [_split(row, len(names)) for row in body]
    kept = [row for row in rows if row is not None]
    if len(kept) < len(rows):
        return None
    if all(len(row) == len(names) + 1 for row in kept):
        names = ["", *names]
    elif sum(_NUMERIC.fullmatch(row[-1]) is None for row in kept) > len(kept) / 2:
        # Names stand last; an average has its name in front.
        kept = [
            row if _NUMERIC.fullmatch(row[0]) or len(row) != len(names) else (*row[1:], row[0])
            for row in kept
        ]
    return Grid((tuple(names), *kept), 1, "", line)


def _split(line: str, columns: int) -> tuple[str, ...] | None:
    """A row of so many cells, or with a name before them; None where it is neither."""
    cells = [cell for cell in _GAP.split(line.strip()) if cell]
    if len(cells) in (columns, columns + 1):
        return tuple(cells)
    words = line.split()
    if len(words) <= columns:
        return tuple(words) if len(words) == columns else None
    tail = words[-columns:]
    if all(_NUMERIC.fullmatch(word) for word in tail):
        return (" ".join(words[:-columns]), *tail)
    head = words[: columns - 1]
    if all(_NUMERIC.fullmatch(word) for word in head):
        return (*head, " ".join(words[columns - 1 :]))
    return None
