"""A document in a terminal; on a small screen its headline, its findings and ten numbers."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from assay.v02.escaping import name, sentence
from assay.v02.evaluation.wording import listed
from assay.v02.report.grid import GAP, TextGrid, TextLayout, cell_text, fitted, grid_of
from assay.v02.report.grid import TextCell as Cell
from assay.v02.report.sections import (
    Block,
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
    from rich.console import Console, RenderableType


# Sentences are hard to read in longer lines.
_WIDEST_TEXT = 100
# What is drawn where no width is given, and below which nothing can be laid out.
_USUAL, _NARROWEST = 100, 20
_INDENT = 2
# Labels of a matrix are cut as far as it takes, down to the latter.
_LONGEST_LABEL, _SHORTEST_LABEL, _WIDEST_MATRIX = 30, 6, 12
# What stands for a character that an encoding lacks; as wide, so that columns stay.
_INSTEAD = {"…": "~", "─": "-", "│": "|", "┼": "+", "·": ".", "●": "#", "○": "o"}


def render(
    report: Report, *, width: int | None = None, color: bool = False, encoding: str = "utf-8"
) -> str:
    """The document as lines of text, with escape codes only where ``color`` asks for them.

    What the encoding can't write is shown as escapes.
    """
    from rich.console import Console

    width = max(width or _USUAL, _NARROWEST)
    stream = io.StringIO()
    console = Console(
        file=stream,
        width=width,
        force_terminal=color,
        force_jupyter=False,
        color_system="standard" if color else None,
        no_color=not color,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
        # What is drawn depends on the arguments alone.
        _environ={},
    )
    _draw(console, report)
    lines = stream.getvalue().splitlines()
    return _encodable("\n".join(line.rstrip() for line in lines) + "\n", encoding)


def _encodable(text: str, encoding: str) -> str:
    """The text in characters that an encoding has."""
    for character, instead in _INSTEAD.items():
        if not character.encode(encoding, "ignore"):
            text = text.replace(character, instead)
    return text.encode(encoding, "backslashreplace").decode(encoding)


def _draw(console: Console, report: Report) -> None:
    _say(console, name(report.title), "bold underline")
    console.print()
    for i, text in enumerate(report.headline):
        _say(console, sentence(text), "" if i else "bold")
    if report.warnings:
        console.print()
    for finding in report.warnings:
        _say(console, sentence(finding.line), "yellow", indent=_INDENT)
    for section in report.sections:
        if not section.detail:
            _section(console, section)
    _listing(console, report)
    details = [name(title) for title in _details(report)]
    if details:
        console.print()
        _say(console, f"In the other formats: {listed(details)}.", "dim")


def _details(report: Report) -> Iterator[str]:
    """The sections that a terminal does not show, and the columns of those that it does."""
    columns: dict[str, None] = {}
    for section in report.sections:
        if section.detail:
            yield section.title
            continue
        tables = (block for block in section.blocks if isinstance(block, Table))
        columns |= {c.name: None for table in tables for c in table.columns if c.detail}
    yield from columns


def _say(console: Console, text: str, style: str = "", *, indent: int = 0) -> None:
    from rich.padding import Padding
    from rich.text import Text

    words = Text(text, style=style, overflow="fold")
    width = min(console.width, _WIDEST_TEXT)
    console.print(Padding(words, (0, 0, 0, indent)), width=width)


def _section(console: Console, section: Section) -> None:
    console.print()
    _say(console, name(section.title, _WIDEST_TEXT), "bold")
    for i, block in enumerate(section.blocks):
        if i:
            console.print()
        if isinstance(block, Prose):
            _say(console, sentence(block.text), indent=_INDENT)
        else:
            _block(console, block)


def _block(console: Console, block: Table | Dots | ForestPlot | Matrix) -> None:
    from rich.padding import Padding

    _say(console, sentence(block.caption), "dim", indent=_INDENT)
    room = console.width - _INDENT
    if isinstance(block, Matrix):
        layout = _matrix(block, room)
        if layout is None:
            text = f"{len(block.labels)} classes do not fit here; other formats have them all."
            _say(console, text, indent=_INDENT)
            return
        drawn: RenderableType = _table(layout)
    else:
        grid = grid_of(block, drawn=True).outlined
        layout = fitted(grid, room)
        drawn = _stacked_records(grid, room) if layout is None else _table(layout)
    console.print(Padding(drawn, (0, 0, 0, _INDENT)))
    if isinstance(block, Matrix):
        return
    for note in (*block.notes, *_left_out(grid, layout)):
        _say(console, sentence(note), indent=_INDENT)


def _left_out(grid: TextGrid, layout: TextLayout | None) -> Iterator[str]:
    """What columns hold that there was no room for, where a note has to tell it."""
    shown = grid.columns if layout is None else layout.grid.columns
    for i, column in enumerate(grid.columns):
        if column.noted and column not in shown:
            cells = [f"{row[0].value} {row[i].value}" for row in grid.rows if row[i].value]
            yield f"{column.name}: {', '.join(cells)}."


def _matrix(matrix: Matrix, room: int) -> TextLayout | None:
    """The matrix with labels as long as there is room for; None where there is none."""
    if len(matrix.labels) > _WIDEST_MATRIX:
        return None
    for longest in range(_LONGEST_LABEL, _SHORTEST_LABEL - 1, -1):
        layout = fitted(grid_of(matrix, longest), room)
        if layout is not None:
            return layout
    return None


def _table(layout: TextLayout) -> RenderableType:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table as RichTable
    from rich.text import Text

    drawn = RichTable(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, GAP - 1, 0, 0))
    for column, width in zip(layout.grid.columns, layout.widths, strict=True):
        head = Text(name(column.name), overflow="fold")
        leftward = column.kind in (Kind.TEXT, Kind.DRAWING)
        side: Literal["left", "right"] = "left" if leftward else "right"
        drawn.add_column(head, justify=side, width=width, overflow="fold")
    for row in layout.grid.rows:
        drawn.add_row(*(_cell(cell, folded=layout.folded) for cell in row))
    return drawn


def _cell(cell: Cell, *, folded: bool) -> RenderableType:
    from rich.text import Text

    return Text(cell_text(cell, folded=folded), style="bold" if cell.marked else "")


def _stacked_records(grid: TextGrid, room: int) -> RenderableType:
    """A record a row: its name, and a line or two for each further column."""
    from rich.cells import cell_len
    from rich.console import Group
    from rich.padding import Padding
    from rich.text import Text

    lines: list[RenderableType] = []
    for row in grid.rows:
        lines.append(Text(row[0].value, overflow="fold"))
        for column, cell in zip(grid.columns[1:], row[1:], strict=True):
            value = cell_text(cell, folded=False)
            if not value or (column.optional and not column.noted):
                continue
            text = f"{name(column.name)}: {value}"
            if column.kind is not Kind.TEXT and cell_len(text) > room - _INDENT:
                text = f"{name(column.name)}:\n  {value}"
            lines.append(Padding(Text(text, overflow="fold"), (0, 0, 0, _INDENT)))
    return Group(*lines)


def _listing(console: Console, report: Report) -> None:
    if report.remarks:
        console.print()
        _say(console, "Findings", "bold")
    for finding in report.remarks:
        _say(console, sentence(finding.line), indent=_INDENT)
    if report.notes:
        console.print()
        _say(console, "Notes", "bold")
    for note in report.notes:
        _say(console, sentence(note), indent=_INDENT)


# -- a small screen --------------------------------------------------------------------------------


NUMBERS = 10


def brief(report: Report, rest: str) -> Report:
    """The headline, the findings and the first numbers; ``rest`` says where the others are.

    Numbers are those of the main results, where there are any, and of what a page folds never.
    """
    sections = [section for section in report.sections if not section.detail]
    main = [section for section in sections if section.tier is Tier.MAIN]
    shown = main if any(map(_size, main)) else sections
    return replace(
        report, sections=tuple(_first_rows(shown, NUMBERS)), notes=(rest,), panel=None, records=()
    )


def _first_rows(sections: list[Section], most: int) -> Iterator[Section]:
    """Sections with so many rows between them, in equal parts where all would be too many.

    Matrices and sentences are left to the rest, but for sections of sentences alone.
    """
    counted = [section for section in sections if _size(section)]
    share = most // max(len(counted), 1) or 1
    spare = most - sum(min(_size(section), share) for section in counted)
    for section in sections:
        if all(isinstance(block, Prose) for block in section.blocks):
            yield section
            continue
        room = min(_size(section), share + max(spare, 0))
        spare -= max(room - share, 0)
        blocks: list[Block] = []
        for block in section.blocks:
            if _rows(block) and room:
                blocks.append(_cut_block(block, room))
                room -= min(_rows(block), room)
        if blocks:
            yield replace(section, blocks=tuple(blocks))


def _size(section: Section) -> int:
    return sum(map(_rows, section.blocks))


def _rows(block: Block) -> int:
    match block:
        case Table():
            return len(block.rows)
        case Dots():
            return len(block.dots)
        case ForestPlot():
            return len(block.changes)
    return 0


def _cut_block(block: Block, rows: int) -> Block:
    match block:
        case Table():
            return replace(block, rows=block.rows[:rows])
        case Dots():
            return replace(block, dots=block.dots[:rows])
        case ForestPlot():
            return replace(block, changes=block.changes[:rows])
        case Matrix() | Prose():
            return block
