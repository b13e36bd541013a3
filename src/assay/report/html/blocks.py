"""Tables, dot plots and sentences of a document, as the template wants them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TypeAlias

from assay.inference import Estimate
from assay.report.html.course import Drawn, drawn_of, drawn_periods, drawn_steps
from assay.report.html.heat import Heat, heat_of
from assay.report.html.limits import Limits
from assay.report.html.ranks import DrawnRanks, drawn_ranks
from assay.report.html.scales import Scale, Strip, around
from assay.report.html.text import Name, named, sentence
from assay.report.html.timeline import DrawnTimeline, drawn_bars
from assay.report.numbers import cell_parts, count, difference_parts, measured_parts
from assay.report.sections import (
    Bare,
    Bars,
    Block,
    Cell,
    Column,
    Course,
    Dots,
    Forest,
    Formula,
    Kind,
    Marked,
    Matrix,
    MeanRanks,
    Periods,
    Prose,
    StepCurve,
    Table,
)
from assay.report.strip import span_of

UNDEFINED = "\u2013"


@dataclass(frozen=True)
class Value:
    """A number as text, what is behind it as a title, and its place on a scale."""

    text: str
    interval: str = ""
    title: str = ""
    strip: Strip | None = None
    marked: bool = False


@dataclass(frozen=True)
class Rows:
    """A table of text and numbers."""

    caption: str
    heads: tuple[tuple[Name, str], ...]
    rows: tuple[tuple[Name | Value, ...], ...]
    notes: tuple[str, ...]
    kind: str = "table"


@dataclass(frozen=True)
class Line:
    """One line of a dot plot: what is said under its name, and what stands aside."""

    name: Name
    value: Value
    remark: str = ""
    aside: str = ""
    state: str = ""


@dataclass(frozen=True)
class Lines:
    """A dot plot: its lines, its ticks, and where the whole stands."""

    caption: str
    better: str
    lines: tuple[Line, ...]
    ticks: tuple[tuple[str, str], ...]
    whole: Value | None
    notes: tuple[str, ...]
    kind: str = "dots"


@dataclass(frozen=True)
class Differences:
    """A forest plot: its lines, its ticks, where 0 is, and the band of the margin."""

    caption: str
    lines: tuple[Line, ...]
    ticks: tuple[tuple[str, str], ...]
    zero: str
    band: tuple[str, str] | None
    notes: tuple[str, ...]
    kind: str = "forest"


@dataclass(frozen=True)
class Sentences:
    """Prose."""

    text: str
    kind: str = "prose"


@dataclass(frozen=True)
class Steps:
    """A course: its drawings, and the table that they are of."""

    drawings: tuple[Drawn, ...]
    table: Rows | Lines
    summary: str = "Step by step"
    kind: str = "course"


@dataclass(frozen=True)
class InTime:
    """Incidents in time, and the table that they are of."""

    drawing: DrawnTimeline
    table: Rows | Lines
    kind: str = "timeline"


@dataclass(frozen=True)
class Ranked:
    """Mean ranks as a critical-difference diagram, and the table that it is of."""

    drawing: DrawnRanks
    table: Rows | Lines
    kind: str = "ranks"


View: TypeAlias = Rows | Lines | Differences | Heat | Sentences | Steps | InTime | Ranked


def block_of(block: Block, limits: Limits) -> View:
    """A block as the template wants it."""
    match block:
        case Periods():
            drawings = drawn_periods(block)
            table = _table(block, limits)
            return Steps(drawings, table, "The numbers") if drawings else table
        case Course():
            drawn = drawn_of(block)
            table = _table(block, limits)
            return table if drawn is None else Steps((drawn,), table)
        case StepCurve():
            drawn = drawn_steps(block)
            table = _table(block, limits)
            return table if drawn is None else Steps((drawn,), table, "The numbers")
        case Bars():
            timeline = drawn_bars(block, limits)
            table = _table(block, limits)
            return table if timeline is None else InTime(timeline, table)
        case MeanRanks():
            ranks = drawn_ranks(block, limits)
            table = _table(block, limits)
            return table if ranks is None else Ranked(ranks, table)
        case Table():
            return _table(block, limits)
        case Dots():
            return _dots(block, limits)
        case Forest():
            return _forest(block, limits)
        case Matrix():
            return heat_of(block, limits)
        case Prose(text):
            return Sentences(sentence(text, limits))


def behind(found: Estimate, limits: Limits) -> str:
    """What is behind an estimate: why it is undefined, or its method, size and note."""
    if math.isnan(found):
        return f"undefined: {sentence(found.undefined or 'there is no value', limits)}"
    size = f"n = {count(found.n)}" if found.n else ""
    said = ", ".join(part for part in (found.method, size, found.note) if part)
    return sentence(said, limits)


def value_of(found: Estimate, limits: Limits, scale: Scale | None = None) -> Value:
    """An estimate as text and, on a scale, as a drawing."""
    text, interval = measured_parts(found)
    strip = scale.strip(found) if scale is not None else None
    return Value(UNDEFINED if math.isnan(found) else text, interval, behind(found, limits), strip)


def _said(text: str, limits: Limits) -> str:
    """What is said beside a name, no longer than a few lines."""
    return named(text, 4 * limits.letters).shown if text else ""


# -- tables ----------------------------------------------------------------------------------------


def _table(table: Table, limits: Limits) -> Rows | Lines:
    """A table; one that gives each row an estimate is drawn."""
    left = len(table.rows) - limits.rows
    notes = [sentence(note, limits) for note in table.notes[: limits.lines]]
    if left > 0:
        notes.append(f"{count(left)} more rows are left out here; JSON and CSV hold them.")
    drawn = None if table.as_rows else _drawn(table)
    if drawn is not None:
        lines = tuple(_line(table, row, drawn, limits) for row in table.rows[: limits.rows])
        ticks = Scale().ticks()
        return Lines(sentence(table.caption, limits), "", lines, ticks, None, tuple(notes))
    heads = tuple((named(each.name, limits.letters), _classes(each)) for each in table.columns)
    rows = tuple(
        tuple(_cell(*each, limits, first=i == 0) for i, each in enumerate(_pairs(table, row)))
        for row in table.rows[: limits.rows]
    )
    return Rows(sentence(table.caption, limits), heads, rows, tuple(notes))


def _pairs(table: Table, row: tuple[Cell, ...]) -> zip[tuple[Cell, Column]]:
    return zip(row, table.columns, strict=True)


def _classes(column: Column) -> str:
    kind = "text" if column.kind is Kind.TEXT else "numeric"
    return f"{kind} optional" if column.optional else kind


def _bare(cell: Cell) -> Bare:
    return cell.cell if isinstance(cell, Marked) else cell


def _cell(cell: Cell, column: Column, limits: Limits, *, first: bool) -> Name | Value:
    if isinstance(cell, Marked):
        return replace(_cell(cell.cell, column, limits, first=first), marked=True)
    if column.kind is Kind.TEXT and (cell is None or isinstance(cell, str)):
        # A row may be named by an empty text; any other cell that is empty says nothing.
        return named(cell or "", 4 * limits.letters) if first or cell else Name("", "")
    title = behind(cell, limits) if isinstance(cell, Estimate) else ""
    if isinstance(cell, float) and math.isnan(cell):
        return Value(UNDEFINED, "", title or "undefined")
    text, interval = cell_parts(cell, column.kind)
    return Value(text, interval, title)


def _drawn(table: Table) -> int | None:
    """The one column of estimates, where each row is named and no cell of it is in words."""
    shares = [i for i, column in enumerate(table.columns) if column.kind is Kind.SHARE]
    cells = {i: [_bare(row[i]) for row in table.rows] for i in shares}
    found = [i for i in shares if any(isinstance(cell, Estimate) for cell in cells[i])]
    named_rows = bool(table.columns) and table.columns[0].kind is Kind.TEXT
    if len(found) != 1 or not named_rows:
        return None
    in_words = any(isinstance(cell, str | Formula) for cell in cells[found[0]])
    return None if in_words else found[0]


def _line(table: Table, row: tuple[Cell, ...], drawn: int, limits: Limits) -> Line:
    """A row as a line: its estimate is drawn, other cells are said."""
    remarks: list[str] = []
    asides: list[str] = []
    for i, (cell, column) in enumerate(_pairs(table, row)):
        if i in (0, drawn) or cell is None or cell == "":
            continue
        text = " ".join(filter(None, cell_parts(cell, column.kind)))
        said = _said(text if column.kind is Kind.TEXT else f"{column.name} {text}", limits)
        (asides if column.optional else remarks).append(said)
    found = _bare(row[drawn])
    value = Value(*cell_parts(found, table.columns[drawn].kind))
    if isinstance(found, Estimate):
        value = value_of(found, limits, Scale() if not (found < 0 or found > 1) else None)
    value = replace(value, marked=isinstance(row[drawn], Marked))
    name = named(cell_parts(row[0], table.columns[0].kind)[0], limits.letters)
    return Line(name, value, ", ".join(remarks), ", ".join(asides))


# -- dot plots -------------------------------------------------------------------------------------


def _dots(dots: Dots, limits: Limits) -> Lines:
    shown = dots.dots[: limits.dots]
    estimates = [dot.estimate for dot in shown]
    ends = [end for found in estimates for end in (found, found.low, found.high)]
    whole = [] if dots.whole is None else [float(dots.whole)]
    scale = around([*ends, *whole], dots.measure.range)
    left = len(dots.dots) - len(shown)
    notes = [sentence(note, limits) for note in dots.notes[: limits.lines]]
    if left > 0:
        notes.append(f"{count(left)} more are left out here; JSON and CSV hold them.")
    return Lines(
        sentence(dots.caption, limits),
        dots.measure.better.value,
        tuple(
            Line(
                named(dot.name, limits.letters),
                value_of(dot.estimate, limits, scale),
                _said(dot.remark, limits),
            )
            for dot in shown
        ),
        scale.ticks(),
        None if dots.whole is None else value_of(dots.whole, limits, scale),
        tuple(notes),
    )


# -- forest plots ----------------------------------------------------------------------------------


def _forest(forest: Forest, limits: Limits) -> Differences:
    shown = forest.changes[: limits.rows]
    scale = Scale(*span_of(forest))
    left = len(forest.changes) - len(shown)
    notes = [sentence(note, limits) for note in forest.notes[: limits.lines]]
    if left > 0:
        notes.append(f"{count(left)} more are left out here; JSON and CSV hold them.")
    lines = []
    for change in shown:
        found, outcome = change.difference, change.outcome(forest.margin)
        text, interval = difference_parts(found)
        strip = scale.strip(found)
        if math.isnan(found):
            text = UNDEFINED
        value = Value(text, interval, behind(found, limits), strip)
        name, remark = named(change.name, limits.letters), _said(change.remark, limits)
        lines.append(Line(name, value, remark, outcome.value, outcome.name.lower()))
    band = None
    if forest.margin is not None:
        start, end = scale.share(-forest.margin), scale.share(forest.margin)
        band = (f"{100 * start:.2f}%", f"{100 * (end - start):.2f}%")
    return Differences(
        sentence(forest.caption, limits),
        tuple(lines),
        scale.ticks(),
        scale.at(0.0),
        band,
        tuple(notes),
    )
