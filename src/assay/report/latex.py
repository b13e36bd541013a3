"""A document for a paper: booktabs tables in three tiers, in a file that compiles as it stands.

Each table stands between two comment lines, so that it can be pasted by itself; the preamble names
the packages it needs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from assay.escaping import escaped
from assay.report.grid import LONGEST_REMARK, Grid, Text, grid_of
from assay.report.layout import NARROW, Layout, widths_of
from assay.report.names import LONGEST, LONGEST_SENTENCE
from assay.report.sections import (
    Block,
    Kind,
    Matrix,
    Prose,
    Report,
    Section,
    Tier,
)

_PREAMBLE = r"""\documentclass[a4paper,10pt]{article}
\usepackage[margin=2cm]{geometry}
\usepackage{array}
\usepackage{booktabs}
\usepackage{float}
\usepackage{longtable}
% Tables stand where they are written: LaTeX gives up on a long queue of them.
\floatplacement{table}{H}
% Long ones are aligned in one run.
\setcounter{LTchunksize}{500}
\setlength{\tabcolsep}{4pt}
\setlength{\belowcaptionskip}{4pt}
\setlength{\emergencystretch}{3em}
"""
# How many characters of a footnote's size fit between the margins, and how many points each takes.
_ROOM, _CHARACTER = 100, 4.4
# A longer table goes over the page; from a still longer one the first so many rows are shown.
_ONE_PAGE, MOST_ROWS = 25, 200
WIDEST_MATRIX, _LONGEST_LABEL = 20, 16


def render(report: Report) -> str:
    """The document as a LaTeX file."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: Report) -> Iterator[str]:
    yield _PREAMBLE
    yield r"\begin{document}"
    yield rf"\section*{{{escaped(report.title, LONGEST_SENTENCE)}}}"
    for said in report.headline:
        yield _paragraph(said)
    yield from _items(finding.line for finding in report.warnings)
    tables = Tables()
    for tier in (*Tier, None):
        sections = [section for section in report.sections if section.tier is tier]
        if sections and tier is not None:
            yield rf"\section*{{{tier.value.capitalize()}}}"
        for section in sections:
            if tier is None:
                yield rf"\section*{{{escaped(section.title)}}}"
            yield from tables.of_section(section)
    for title, texts in (
        ("Findings", [finding.line for finding in report.remarks]),
        ("Notes", list(report.notes)),
    ):
        if texts:
            yield rf"\section*{{{title}}}"
        yield from _items(texts)
    yield r"\end{document}"


def _paragraph(text: str) -> str:
    return f"{escaped(text, LONGEST_SENTENCE)}\n"


def _items(texts: Iterable[str]) -> Iterator[str]:
    lines = [rf"  \item {{}}{escaped(text, LONGEST_SENTENCE)}" for text in texts]
    yield from (r"\begin{itemize}", *lines, r"\end{itemize}") if lines else ()


class Tables:
    """The tables of a document, numbered as they are written."""

    def __init__(self) -> None:
        self._number = 0

    def of_section(self, section: Section) -> Iterator[str]:
        """A section's sentences and tables."""
        for block in section.blocks:
            yield from self._block(section.title, block)

    def _block(self, title: str, block: Block) -> Iterator[str]:
        if isinstance(block, Prose):
            yield _paragraph(block.text)
            return
        if isinstance(block, Matrix) and len(block.labels) > WIDEST_MATRIX:
            yield _paragraph(f"{title}: {len(block.labels)} classes are too many for a table.")
            return
        grid = grid_of(block, _LONGEST_LABEL if isinstance(block, Matrix) else LONGEST)
        notes = () if isinstance(block, Matrix) else block.notes
        left = len(grid.rows) - MOST_ROWS
        if left > 0:
            grid = Grid(grid.columns, grid.rows[:MOST_ROWS])
            notes = (*notes, f"{left} more rows are not shown.")
        for layout in _pieces(grid):
            yield from self._table(title, block.caption, layout, notes)

    def _table(
        self, title: str, caption: str, layout: Layout, notes: tuple[str, ...]
    ) -> Iterator[str]:
        self._number += 1
        parts = [part.removesuffix(".") for part in (title, caption, *notes)]
        said = escaped(". ".join(parts) + ".", LONGEST_SENTENCE)
        head = " & ".join(escaped(column.name) for column in layout.grid.columns)
        start, end = f"% table {self._number}: begin", f"% table {self._number}: end"
        columns = " ".join(_column(layout, i) for i in range(len(layout.widths)))
        name = rf"\caption{{{said}}}\label{{tab:assay-{self._number}}}"
        rows = [line for row in layout.grid.rows for line in _row(row, folded=layout.folded)]
        yield start
        if len(layout.grid.rows) > _ONE_PAGE:
            yield rf"{{\footnotesize\begin{{longtable}}{{{columns}}}"
            yield rf"{name}\\"
            yield from (r"\toprule", rf"{head} \\", r"\midrule", r"\endfirsthead")
            yield from (r"\toprule", rf"{head} \\", r"\midrule", r"\endhead")
            yield from (r"\bottomrule", r"\endfoot", *rows, r"\end{longtable}}")
        else:
            yield from (r"\begin{table}", r"\centering\footnotesize", name, "")
            yield rf"\begin{{tabular}}{{{columns}}}"
            yield from (r"\toprule", rf"{head} \\", r"\midrule", *rows, r"\bottomrule")
            yield from (r"\end{tabular}", r"\end{table}")
        yield end
        yield ""


def _pieces(grid: Grid) -> Iterator[Layout]:
    """The grid where it fits, else its columns in several pieces, each with the names."""
    layout = _fitted(grid)
    if layout is not None or len(grid.columns) < 3:
        yield layout or Layout(grid, tuple(_ROOM // 2 for _ in grid.columns), folded=True)
        return
    middle = (len(grid.columns) + 1) // 2
    yield from _pieces(kept_columns(grid, range(middle)))
    yield from _pieces(kept_columns(grid, [0, *range(middle, len(grid.columns))]))


def kept_columns(grid: Grid, which: range | list[int]) -> Grid:
    """The grid with these columns alone."""
    return Grid(
        tuple(grid.columns[i] for i in which),
        tuple(tuple(row[i] for i in which) for row in grid.rows),
    )


def _fitted(grid: Grid) -> Layout | None:
    """Nothing is left out of a paper: text is narrowed, then intervals go below values."""
    for folded in (False, True):
        for narrow in NARROW:
            widths = widths_of(grid, _ROOM, narrow, folded=folded, wrapped=False)
            if widths is not None:
                return Layout(grid, widths, folded=folded)
    return None


def _column(layout: Layout, i: int) -> str:
    if layout.grid.columns[i].kind is not Kind.TEXT:
        return "r"
    if any(row[i].formula for row in layout.grid.rows):
        return "l"
    widest = max((len(row[i].value) for row in layout.grid.rows), default=0)
    if widest <= NARROW[0]:
        return "l"
    return rf">{{\raggedright\arraybackslash}}p{{{layout.widths[i] * _CHARACTER:.0f}pt}}"


def _row(row: tuple[Text, ...], *, folded: bool) -> Iterator[str]:
    """A row; folded, its intervals stand in a second, closer to it than to the next."""
    if not folded or not any(cell.interval for cell in row):
        yield " & ".join(_cell(cell) for cell in row) + r" \\"
        return
    yield " & ".join(_cell(cell._replace(interval="")) for cell in row) + r" \\*"
    second = (rf"{{\scriptsize {cell.interval}}}" if cell.interval else "" for cell in row)
    yield " & ".join(second) + r" \\[2pt]"


def _cell(cell: Text) -> str:
    if cell.formula:
        return rf"{{\normalsize ${cell.formula}$}}"
    text = escaped(cell.value, LONGEST_REMARK)
    text = rf"\textbf{{{text}}}" if cell.marked else text
    return f"{text} {cell.interval}" if cell.interval else text
