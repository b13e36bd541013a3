"""Tables, dot plots, heat maps and sentences of a document, as the template wants them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TypeAlias

from assay.v02.escaping import plural
from assay.v02.inference import Estimate
from assay.v02.number_text import (
    about,
    brief,
    count,
    difference_parts,
    measured_parts,
)
from assay.v02.report.grid import cell_parts, span_of
from assay.v02.report.html.charts import (
    Limits,
    LineChart,
    RankChart,
    Scale,
    ShownName,
    Strip,
    TimelineChart,
    around,
    cut_name,
    drawn_bars,
    drawn_of,
    drawn_periods,
    drawn_ranks,
    drawn_steps,
    sentence,
)
from assay.v02.report.sections import (
    Bare,
    Bars,
    Block,
    Cell,
    Column,
    Course,
    Dots,
    ForestPlot,
    Formula,
    Kind,
    Marked,
    Matrix,
    MeanRanks,
    PeriodCourse,
    Prose,
    StepCurve,
    Table,
)

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
class TableView:
    """A table of text and numbers."""

    caption: str
    heads: tuple[tuple[ShownName, str], ...]
    rows: tuple[tuple[ShownName | Value, ...], ...]
    notes: tuple[str, ...]
    kind: str = "table"


@dataclass(frozen=True)
class DotLine:
    """One line of a dot plot: what is said under its name, and what stands aside."""

    name: ShownName
    value: Value
    remark: str = ""
    aside: str = ""
    state: str = ""


@dataclass(frozen=True)
class DotPlotView:
    """A dot plot: its lines, its ticks, and where the whole stands."""

    caption: str
    better: str
    lines: tuple[DotLine, ...]
    ticks: tuple[tuple[str, str], ...]
    whole: Value | None
    notes: tuple[str, ...]
    kind: str = "dots"


@dataclass(frozen=True)
class ForestView:
    """A forest plot: its lines, its ticks, where 0 is, and the band of the margin."""

    caption: str
    lines: tuple[DotLine, ...]
    ticks: tuple[tuple[str, str], ...]
    zero: str
    band: tuple[str, str] | None
    notes: tuple[str, ...]
    kind: str = "forest"


@dataclass(frozen=True)
class HeatSquare:
    """One cell: its count, briefly and in full, its share of the row as a shade."""

    text: str
    title: str
    shade: int
    right: bool


@dataclass(frozen=True)
class HeatMap:
    """The map: a row a class, and what was left out."""

    caption: str
    heads: tuple[ShownName, ...]
    rows: tuple[tuple[ShownName, tuple[HeatSquare, ...], str], ...]
    notes: tuple[str, ...]
    kind: str = "heat"


@dataclass(frozen=True)
class ProseView:
    """Prose."""

    text: str
    kind: str = "prose"


@dataclass(frozen=True)
class CourseView:
    """A course: its drawings, and the table that they are of."""

    drawings: tuple[LineChart, ...]
    table: TableView | DotPlotView
    summary: str = "Step by step"
    kind: str = "course"


@dataclass(frozen=True)
class TimelineView:
    """Incidents in time, and the table that they are of."""

    drawing: TimelineChart
    table: TableView | DotPlotView
    kind: str = "timeline"


@dataclass(frozen=True)
class RankView:
    """Mean ranks as a critical-difference diagram, and the table that it is of."""

    drawing: RankChart
    table: TableView | DotPlotView
    kind: str = "ranks"


View: TypeAlias = (
    TableView
    | DotPlotView
    | ForestView
    | HeatMap
    | ProseView
    | CourseView
    | TimelineView
    | RankView
)


def block_of(block: Block, limits: Limits) -> View:
    """A block as the template wants it."""
    match block:
        case PeriodCourse():
            drawings = drawn_periods(block)
            table = _table(block, limits)
            return CourseView(drawings, table, "The numbers") if drawings else table
        case Course():
            drawn = drawn_of(block)
            table = _table(block, limits)
            return table if drawn is None else CourseView((drawn,), table)
        case StepCurve():
            drawn = drawn_steps(block)
            table = _table(block, limits)
            return table if drawn is None else CourseView((drawn,), table, "The numbers")
        case Bars():
            timeline = drawn_bars(block, limits)
            table = _table(block, limits)
            return table if timeline is None else TimelineView(timeline, table)
        case MeanRanks():
            ranks = drawn_ranks(block, limits)
            table = _table(block, limits)
            return table if ranks is None else RankView(ranks, table)
        case Table():
            return _table(block, limits)
        case Dots():
            return _dots(block, limits)
        case ForestPlot():
            return _forest(block, limits)
        case Matrix():
            return heat_of(block, limits)
        case Prose(text):
            return ProseView(sentence(text, limits))


def behind(estimate: Estimate, limits: Limits) -> str:
    """What is behind an estimate: why it is undefined, or its method, size and note."""
    if math.isnan(estimate):
        return f"undefined: {sentence(estimate.undefined or 'there is no value', limits)}"
    size = f"n = {count(estimate.n)}" if estimate.n else ""
    text = ", ".join(part for part in (estimate.method, size, estimate.note) if part)
    return sentence(text, limits)


def value_of(estimate: Estimate, limits: Limits, scale: Scale | None = None) -> Value:
    """An estimate as text and, on a scale, as a drawing."""
    text, interval = measured_parts(estimate)
    strip = scale.strip(estimate) if scale is not None else None
    return Value(
        UNDEFINED if math.isnan(estimate) else text, interval, behind(estimate, limits), strip
    )


def _short_text(text: str, limits: Limits) -> str:
    """What is said beside a name, no longer than a few lines."""
    return cut_name(text, 4 * limits.letters).shown if text else ""


# -- tables ----------------------------------------------------------------------------------------


def _table(table: Table, limits: Limits) -> TableView | DotPlotView:
    """A table; one that gives each row an estimate is drawn."""
    hidden = len(table.rows) - limits.rows
    notes = [sentence(note, limits) for note in table.notes[: limits.lines]]
    if hidden > 0:
        notes.append(
            f"{count(hidden)} more {plural(hidden, 'row is', 'rows are')} left out here; JSON and "
            f"CSV hold all."
        )
    drawn = None if table.as_rows else _drawn_column(table)
    if drawn is not None:
        lines = tuple(_line(table, row, drawn, limits) for row in table.rows[: limits.rows])
        ticks = Scale().ticks()
        return DotPlotView(sentence(table.caption, limits), "", lines, ticks, None, tuple(notes))
    heads = tuple((cut_name(each.name, limits.letters), _classes(each)) for each in table.columns)
    rows = tuple(
        tuple(_cell(*each, limits, first=i == 0) for i, each in enumerate(_pairs(table, row)))
        for row in table.rows[: limits.rows]
    )
    return TableView(sentence(table.caption, limits), heads, rows, tuple(notes))


def _pairs(table: Table, row: tuple[Cell, ...]) -> zip[tuple[Cell, Column]]:
    return zip(row, table.columns, strict=True)


def _classes(column: Column) -> str:
    kind = "text" if column.kind is Kind.TEXT else "numeric"
    return f"{kind} optional" if column.optional and not column.noted else kind


def _cell_value(cell: Cell) -> Bare:
    return cell.cell if isinstance(cell, Marked) else cell


def _cell(cell: Cell, column: Column, limits: Limits, *, first: bool) -> ShownName | Value:
    if isinstance(cell, Marked):
        return replace(_cell(cell.cell, column, limits, first=first), marked=True)
    if column.kind is Kind.TEXT and (cell is None or isinstance(cell, str)):
        # A row may be named by an empty text; any other cell that is empty says nothing.
        return cut_name(cell or "", 4 * limits.letters) if first or cell else ShownName("", "")
    title = behind(cell, limits) if isinstance(cell, Estimate) else ""
    if isinstance(cell, float) and math.isnan(cell):
        return Value(UNDEFINED, "", title or "undefined")
    text, interval = cell_parts(cell, column.kind)
    return Value(text, interval, title)


def _drawn_column(table: Table) -> int | None:
    """The one column of estimates, where each row is named and no cell of it is in words."""
    shares = [i for i, column in enumerate(table.columns) if column.kind is Kind.SHARE]
    cells = {i: [_cell_value(row[i]) for row in table.rows] for i in shares}
    places = [i for i in shares if any(isinstance(cell, Estimate) for cell in cells[i])]
    named_rows = bool(table.columns) and table.columns[0].kind is Kind.TEXT
    if len(places) != 1 or not named_rows:
        return None
    in_words = any(isinstance(cell, str | Formula) for cell in cells[places[0]])
    return None if in_words else places[0]


def _line(table: Table, row: tuple[Cell, ...], drawn: int, limits: Limits) -> DotLine:
    """A row as a line: its estimate is drawn, other cells are said."""
    remarks: list[str] = []
    asides: list[str] = []
    for i, (cell, column) in enumerate(_pairs(table, row)):
        if i in (0, drawn) or cell is None or cell == "":
            continue
        text = " ".join(filter(None, cell_parts(cell, column.kind)))
        remark = _short_text(text if column.kind is Kind.TEXT else f"{column.name} {text}", limits)
        (asides if column.optional else remarks).append(remark)
    number = _cell_value(row[drawn])
    value = Value(*cell_parts(number, table.columns[drawn].kind))
    if isinstance(number, Estimate):
        value = value_of(number, limits, Scale() if not (number < 0 or number > 1) else None)
    value = replace(value, marked=isinstance(row[drawn], Marked))
    name = cut_name(cell_parts(row[0], table.columns[0].kind)[0], limits.letters)
    return DotLine(name, value, ", ".join(remarks), ", ".join(asides))


# -- dot plots -------------------------------------------------------------------------------------


def _dots(dots: Dots, limits: Limits) -> DotPlotView:
    shown = dots.dots[: limits.dots]
    estimates = [dot.estimate for dot in shown]
    ends = [end for estimate in estimates for end in (estimate, estimate.low, estimate.high)]
    overall = [] if dots.whole is None else [float(dots.whole)]
    scale = around([*ends, *overall], dots.measure.range)
    hidden = len(dots.dots) - len(shown)
    notes = [sentence(note, limits) for note in dots.notes[: limits.lines]]
    if hidden > 0:
        notes.append(f"{count(hidden)} more are left out here; JSON and CSV hold them.")
    return DotPlotView(
        sentence(dots.caption, limits),
        dots.measure.better.value,
        tuple(
            DotLine(
                cut_name(dot.name, limits.letters),
                value_of(dot.estimate, limits, scale),
                _short_text(dot.remark, limits),
            )
            for dot in shown
        ),
        scale.ticks(),
        None if dots.whole is None else value_of(dots.whole, limits, scale),
        tuple(notes),
    )


# -- forest plots ----------------------------------------------------------------------------------


def _forest(forest: ForestPlot, limits: Limits) -> ForestView:
    shown = forest.changes[: limits.rows]
    scale = Scale(*span_of(forest))
    hidden = len(forest.changes) - len(shown)
    notes = [sentence(note, limits) for note in forest.notes[: limits.lines]]
    if hidden > 0:
        notes.append(f"{count(hidden)} more are left out here; JSON and CSV hold them.")
    lines = []
    for change in shown:
        difference, outcome = change.difference, change.outcome(forest.margin)
        text, interval = difference_parts(difference)
        strip = scale.strip(difference)
        if math.isnan(difference):
            text = UNDEFINED
        value = Value(text, interval, behind(difference, limits), strip)
        name, remark = cut_name(change.name, limits.letters), _short_text(change.remark, limits)
        lines.append(DotLine(name, value, remark, outcome.value, outcome.name.lower()))
    band = None
    if forest.margin is not None:
        start, end = scale.share(-forest.margin), scale.share(forest.margin)
        band = (f"{100 * start:.2f}%", f"{100 * (end - start):.2f}%")
    return ForestView(
        sentence(forest.caption, limits),
        tuple(lines),
        scale.ticks(),
        scale.at(0.0),
        band,
        tuple(notes),
    )


# -- confusion matrices as heat maps, the classes with most errors first ---------------------------


_SHADES = 9


def heat_of(matrix: Matrix, limits: Limits) -> HeatMap:
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
    names = [cut_name(matrix.labels[i], limits.letters) for i in shown]
    notes = []
    if len(shown) < size:
        others = [i for i in range(size) if i not in set(shown)]
        groups.append(others)
        names.append(
            ShownName(f"{count(len(others))} {plural(len(others), 'other', 'others')}", "")
        )
        notes.append(
            f"The {count(len(shown))} of {count(size)} classes with most errors; the other "
            f"{plural(len(others), 'has', f'{count(len(others))} share')} the last row and column."
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
    return HeatMap(sentence(matrix.caption, limits), tuple(names), tuple(rows), tuple(notes))


def _square(number: float, total: float, truth: str, decision: str, *, right: bool) -> HeatSquare:
    share = number / total if total else 0.0
    text = f"{truth} decided as {decision}: {count(number)} of {count(total)}"
    title = f"{text} ({about(share)})" if number else ""
    return HeatSquare(brief(number), title, shade(share), right)


def shade(share: float) -> int:
    """One of ten shades; by the root, since it is small shares that differ."""
    return min(math.ceil(math.sqrt(share) * _SHADES), _SHADES)
