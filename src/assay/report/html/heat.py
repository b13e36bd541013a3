"""A confusion matrix as a heat map, the classes with most errors first."""

from __future__ import annotations

import math
from dataclasses import dataclass

from assay.report.html.limits import Limits
from assay.report.html.text import Name, named, sentence
from assay.report.numbers import about, count
from assay.report.sections import Matrix

_SHADES = 9
_UNITS = ("", "k", "M", "G", "T", "P", "E")


@dataclass(frozen=True)
class Square:
    """One cell: its count, briefly and in full, its share of the row as a shade."""

    text: str
    title: str
    shade: int
    right: bool


@dataclass(frozen=True)
class Heat:
    """The map: a row a class, and what was left out."""

    caption: str
    heads: tuple[Name, ...]
    rows: tuple[tuple[Name, tuple[Square, ...], str], ...]
    notes: tuple[str, ...]
    kind: str = "heat"


def heat_of(matrix: Matrix, limits: Limits) -> Heat:
    """The classes with most errors, and all others together in a last row and column."""
    cells, size = matrix.cells, len(matrix.labels)
    errors = [
        math.fsum(cells[i]) + math.fsum(row[i] for row in cells) - 2 * cells[i][i]
        for i in range(size)
    ]
    order = sorted(range(size), key=lambda i: (-errors[i], i)) if size > 2 else list(range(size))
    # One class left out would take as much room as the row of all others.
    shown = order if size <= limits.classes + 1 else order[: limits.classes]
    groups = [[i] for i in shown]
    names = [named(matrix.labels[i], limits.letters) for i in shown]
    notes = []
    if len(shown) < size:
        rest = [i for i in range(size) if i not in set(shown)]
        groups.append(rest)
        names.append(Name(f"{count(len(rest))} others", ""))
        notes.append(
            f"The {count(len(shown))} of {count(size)} classes with most errors; the other "
            f"{count(len(rest))} share the last row and column."
        )
    elif size > 2:
        notes.append("Classes with most errors come first.")
    rows = []
    for i, group in enumerate(groups):
        sums = [sum(cells[a][b] for a in group for b in other) for other in groups]
        total = sum(sums)
        squares = tuple(
            _square(number, total, names[i].shown, names[j].shown, right=i == j)
            for j, number in enumerate(sums)
        )
        rows.append((names[i], squares, count(total)))
    return Heat(sentence(matrix.caption, limits), tuple(names), tuple(rows), tuple(notes))


def _square(number: float, total: float, truth: str, decision: str, *, right: bool) -> Square:
    share = number / total if total else 0.0
    said = f"{truth} decided as {decision}: {count(number)} of {count(total)}"
    title = f"{said} ({about(share)})" if number else ""
    return Square(brief(number), title, shade(share), right)


def shade(share: float) -> int:
    """One of ten shades; by the root, since it is small shares that differ."""
    return min(math.ceil(math.sqrt(share) * _SHADES), _SHADES)


def brief(number: float) -> str:
    """A count in at most four characters or so.

    >>> brief(87), brief(12345), brief(2_600_000), brief(999_999)
    ('87', '12k', '2.6M', '1M')
    """
    if number < 10_000:
        return count(number) if number == int(number) else f"{number:.3g}"
    power = min(int(math.log10(number * 1.0005)) // 3, len(_UNITS) - 1)
    size = number / 1000**power
    text = f"{size:.1f}" if size < 9.95 else f"{size:.0f}"
    return text.removesuffix(".0") + _UNITS[power]
