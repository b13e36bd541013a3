"""What a notebook shows of a result: what it comes to, its numbers, and the rest folded.

There is no script in it, and its style touches nothing else: every rule of it names the class of
this one element.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING

from assay.v02.escaping import name, sentence
from assay.v02.number_text import count
from assay.v02.report.grid import TextCell, TextGrid, fitted, grid_of
from assay.v02.report.html import environment, read_asset
from assay.v02.report.sections import (
    Column,
    Dots,
    ForestPlot,
    Kind,
    Matrix,
    Prose,
    Report,
    Section,
    Table,
    Tier,
)

if TYPE_CHECKING:
    from jinja2 import Template


# Forty lines of 18 pixels: headline, findings and numbers, beside a title and what opens the rest.
_HEADLINE, _FINDINGS, _NUMBERS = 8, 6, 20
# Letters that fit into a line of a notebook, 800 pixels wide, and columns of text of a table.
_LETTERS, _ROOM = 115, 100
# Lines that a cell may take.
_HIGH = 2
_ROWS = 10
_CLASSES = 4
# What is folded is kept in the notebook's file, so it has an end too.
_SECTIONS, _BLOCKS, _FOLDED_ROWS, _WIDEST = 40, 12, 30, 12


@dataclass(frozen=True)
class NotebookTable:
    """A table as the template draws it.

    ``left`` is what is said of rows that it leaves out, ``below`` puts intervals under values,
    ``heads`` and ``lines`` are how many lines the heads and each row take.
    """

    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[TextCell, ...], ...]
    notes: tuple[str, ...] = ()
    left: str = ""
    below: bool = False
    heads: int = 1
    lines: tuple[int, ...] = ()


@dataclass(frozen=True)
class FoldedSection:
    """A section that is folded: its title, and its sentences and tables."""

    title: str
    blocks: tuple[str | NotebookTable, ...]


def render(report: Report) -> str:
    """The report as a cell of a notebook, no higher than 40 lines while it is folded."""
    from markupsafe import Markup

    headline, cut = _fitting_sentences(report.headline, _HEADLINE)
    findings = (*report.warnings, *report.remarks)
    finding_lines, more = _fitting_sentences([each.line for each in findings], _FINDINGS, most=2)
    kinds = [each.severity for each in findings]
    return _template().render(
        # A file of this package: no data is in it.
        style=Markup(read_asset("style", "cell.css")),  # noqa: S704
        title=name(report.title, _LETTERS),
        headline=headline,
        findings=tuple(zip(kinds, finding_lines, strict=False)),
        left=len(report.headline) - len(headline) + len(findings) - len(finding_lines),
        numbers=tuple(_numbers(report)),
        sections=tuple(_folded(report, whole=cut or more)),
        notes=tuple(map(sentence, report.notes)),
        text=Kind.TEXT,
    )


def _fitting_sentences(
    texts: tuple[str, ...] | list[str], lines: int, most: int = 4
) -> tuple[list[str], bool]:
    """Sentences that take so many lines at most, each ``most``, and whether any was cut."""
    shown: list[str] = []
    lines_left = lines
    for text in map(sentence, texts):
        room = min(most, lines_left)
        if room < 1:
            return shown, True
        shown.append(_cut_sentence(text, room))
        lines_left -= _lines(shown[-1])
    return shown, any(len(text) > most * _LETTERS for text in map(sentence, texts))


def _cut_sentence(text: str, lines: int) -> str:
    """The beginning of a sentence, up to a blank, in so many lines."""
    most = lines * _LETTERS
    if len(text) <= most:
        return text
    start = text[: most - 2]
    return f"{start.rpartition(' ')[0] or start} …"


def _lines(text: str) -> int:
    return math.ceil(len(text) / _LETTERS)


# -- what is seen at once --------------------------------------------------------------------------


def _numbers(report: Report) -> Iterator[str | NotebookTable]:
    """The first numbers of the main results, or else sentences, in so many lines."""
    sections = [section for section in report.sections if not section.detail]
    lines_left, rows = _NUMBERS, _ROWS
    for section in sorted(sections, key=lambda section: section.tier is not Tier.MAIN):
        for block in section.blocks:
            if isinstance(block, Prose):
                text = _cut_sentence(sentence(block.text), 3)
                # Sentences before the first numbers are what a report is about; others explain.
                if _lines(text) <= lines_left and rows == _ROWS:
                    lines_left -= _lines(text)
                    yield text
                continue
            table = _fitting(block)
            small = isinstance(block, Matrix) and len(block.labels) <= _CLASSES
            size = _CLASSES if small else rows
            if table is None or (isinstance(block, Matrix) and not small):
                continue
            # A caption, the heads, and what is said of rows that are left out.
            others = 2 + table.heads
            high = list(accumulate(table.lines[:size]))
            size = sum(lines <= lines_left - others for lines in high)
            if size < 1:
                continue
            yield _first_rows(table, size)
            lines_left -= high[size - 1] + others
            rows -= 0 if small else size


def _fitting(block: Table | Dots | ForestPlot | Matrix) -> NotebookTable | None:
    """The table as a notebook has room for it, optional columns going first; None if it has not."""
    full_table = _table(block)
    layout = fitted(TextGrid(full_table.columns, full_table.rows), _ROOM)
    if layout is None:
        return None
    columns, widths = layout.grid.columns, layout.widths
    texts = [column.kind is Kind.TEXT for column in columns]
    rows, lines = [], []
    for row in layout.grid.rows:
        cells, high = [], 2 if layout.folded else 1
        for cell, width, is_text in zip(row, widths, texts, strict=True):
            shown = cell._replace(value=_at_most(cell.value, _HIGH * width)) if is_text else cell
            high = max(high, math.ceil(len(shown.value) / width) if is_text else 1)
            cells.append(shown)
        rows.append(tuple(cells))
        lines.append(high)
    heads = (math.ceil(len(each.name) / width) for each, width in zip(columns, widths, strict=True))
    return replace(
        full_table,
        columns=columns,
        rows=tuple(rows),
        notes=(),
        below=layout.folded,
        heads=max(heads, default=1),
        lines=tuple(lines),
    )


def _at_most(text: str, letters: int) -> str:
    return text if len(text) <= letters else f"{text[: letters - 1].rstrip()}…"


# -- what is folded --------------------------------------------------------------------------------


def _folded(report: Report, *, whole: bool) -> Iterator[FoldedSection]:
    if whole:
        findings = (each.line for each in (*report.warnings, *report.remarks))
        yield FoldedSection("In full", tuple(map(sentence, (*report.headline, *findings))))
    for section in report.sections[:_SECTIONS]:
        yield FoldedSection(name(section.title), tuple(_blocks(section)))
    hidden = len(report.sections) - _SECTIONS
    if hidden > 0:
        yield FoldedSection(f"{hidden} more sections", ("save() writes them.",))


def _blocks(section: Section) -> Iterator[str | NotebookTable]:
    for block in section.blocks[:_BLOCKS]:
        if isinstance(block, Prose):
            yield sentence(block.text)
        elif isinstance(block, Matrix) and len(block.labels) > _WIDEST:
            yield f"{len(block.labels)} classes are too many here; plot.confusion() draws them."
        else:
            yield _first_rows(_table(block), _FOLDED_ROWS)
    if len(section.blocks) > _BLOCKS:
        yield f"{len(section.blocks) - _BLOCKS} more tables and sentences: save() writes them."


def _table(block: Table | Dots | ForestPlot | Matrix) -> NotebookTable:
    grid = grid_of(block).outlined
    notes = () if isinstance(block, Matrix) else tuple(map(sentence, block.notes))
    columns = tuple(replace(column, name=name(column.name)) for column in grid.columns)
    return NotebookTable(sentence(block.caption).removesuffix("."), columns, grid.rows, notes)


def _first_rows(table: NotebookTable, rows: int) -> NotebookTable:
    """The first rows of a table, and how many it leaves out."""
    hidden = len(table.rows) - rows
    if hidden <= 0:
        return table
    text = (
        f"{count(hidden)} more {'row' if hidden == 1 else 'rows'}: to_frame() and save() have them."
    )
    return replace(table, rows=table.rows[:rows], left=text)


@cache
def _template() -> Template:
    return environment().get_template("cell.html")
