r"""LaTeX: a document that compiles as it stands, or a fragment to ``\input`` into a paper.

The document has booktabs tables in three tiers, each between two comment lines, so that it can be
pasted by itself; the preamble names the packages it needs.

The fragment fits into any document class, of one column or two, and needs no package: rules are
booktabs' and numbers siunitx's where the paper loads them. A table that is wider than a column
spans both. All numbers of a column have as many decimals.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from assay.v02.escaping import LONGEST, LONGEST_SENTENCE, escaped, plural
from assay.v02.inference import Estimate
from assay.v02.number_text import count, exact_percent
from assay.v02.report.grid import (
    LONGEST_REMARK,
    NARROW,
    TextCell,
    TextGrid,
    TextLayout,
    grid_of,
    widths_of,
)
from assay.v02.report.sections import (
    Block,
    Dots,
    ForestPlot,
    Kind,
    Marked,
    Matrix,
    Prose,
    Report,
    Section,
    Table,
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
    for text in report.headline:
        yield _paragraph(text)
    yield from _items(finding.line for finding in report.warnings)
    tables = LatexTables()
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


class LatexTables:
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
        hidden = len(grid.rows) - MOST_ROWS
        if hidden > 0:
            grid = TextGrid(grid.columns, grid.rows[:MOST_ROWS])
            notes = (*notes, f"{hidden} more {plural(hidden, 'row is', 'rows are')} not shown.")
        for layout in _pieces(grid):
            yield from self._table(title, block.caption, layout, notes)

    def _table(
        self, title: str, caption: str, layout: TextLayout, notes: tuple[str, ...]
    ) -> Iterator[str]:
        self._number += 1
        parts = [part.removesuffix(".") for part in (title, caption, *notes)]
        text = escaped(". ".join(parts) + ".", LONGEST_SENTENCE)
        head = " & ".join(escaped(column.name) for column in layout.grid.columns)
        start, end = f"% table {self._number}: begin", f"% table {self._number}: end"
        columns = " ".join(_column(layout, i) for i in range(len(layout.widths)))
        name = rf"\caption{{{text}}}\label{{tab:assay-{self._number}}}"
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


def _pieces(grid: TextGrid) -> Iterator[TextLayout]:
    """The grid where it fits, else its columns in several pieces, each with the names."""
    layout = _fitted(grid)
    if layout is not None or len(grid.columns) < 3:
        yield layout or TextLayout(grid, tuple(_ROOM // 2 for _ in grid.columns), folded=True)
        return
    middle = (len(grid.columns) + 1) // 2
    yield from _pieces(kept_columns(grid, range(middle)))
    yield from _pieces(kept_columns(grid, [0, *range(middle, len(grid.columns))]))


def kept_columns(grid: TextGrid, which: range | list[int]) -> TextGrid:
    """The grid with these columns alone."""
    return TextGrid(
        tuple(grid.columns[i] for i in which),
        tuple(tuple(row[i] for i in which) for row in grid.rows),
    )


def _fitted(grid: TextGrid) -> TextLayout | None:
    """Nothing is left out of a paper: text is narrowed, then intervals go below values."""
    for folded in (False, True):
        for narrow in NARROW:
            widths = widths_of(grid, _ROOM, narrow, folded=folded, wrapped=False)
            if widths is not None:
                return TextLayout(grid, widths, folded=folded)
    return None


def _column(layout: TextLayout, i: int) -> str:
    if layout.grid.columns[i].kind is not Kind.TEXT:
        return "r"
    if any(row[i].formula for row in layout.grid.rows):
        return "l"
    widest = max((len(row[i].value) for row in layout.grid.rows), default=0)
    if widest <= NARROW[0]:
        return "l"
    return rf">{{\raggedright\arraybackslash}}p{{{layout.widths[i] * _CHARACTER:.0f}pt}}"


def _row(row: tuple[TextCell, ...], *, folded: bool) -> Iterator[str]:
    """A row; folded, its intervals stand in a second, closer to it than to the next."""
    if not folded or not any(cell.interval for cell in row):
        yield " & ".join(_cell(cell) for cell in row) + r" \\"
        return
    yield " & ".join(_cell(cell._replace(interval="")) for cell in row) + r" \\*"
    second = (rf"{{\scriptsize {cell.interval}}}" if cell.interval else "" for cell in row)
    yield " & ".join(second) + r" \\[2pt]"


def _cell(cell: TextCell) -> str:
    if cell.formula:
        return rf"{{\normalsize ${cell.formula}$}}"
    text = escaped(cell.value, LONGEST_REMARK)
    text = rf"\textbf{{{text}}}" if cell.marked else text
    return f"{text} {cell.interval}" if cell.interval else text


# -- tables for a paper to input -------------------------------------------------------------------


# The narrowest class is so many points wide, a table that spans its columns too; between two
# columns of a table lie so many.
_FRAGMENT_ROOM, _GAP = 338.0, 6.0
# Text is not broken into lines shorter than this, in points; a float has so many lines at most.
_SHORTEST, _LINES = 64.0, 34
_FRAGMENT_LABEL = 14
# LaTeX holds so many tables back; room for others is asked for.
_FLOATS = 12
_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?")

_MACROS = r"""\makeatletter
\ifdefined\toprule\let\assaytop\toprule\let\assaymiddle\midrule\let\assaybottom\bottomrule
\else\let\assaytop\hline\let\assaymiddle\hline\let\assaybottom\hline\fi
% Without siunitx a number is itself, with a minus as long as a plus.
\ifcsname ver@siunitx.sty\endcsname\sisetup{mode=text,reset-text-series=false,retain-explicit-plus}%
\else\def\num#1{\assaysigned#1\relax}\fi
\def\assaysigned{\@ifnextchar-{\assayminus}{\assayplain}}
\def\assayminus-#1\relax{\mbox{$-$#1}}
\def\assayplain#1\relax{#1}
\ifdefined\assaybox\else\newsavebox{\assaybox}\fi
% A table that is wider than a column, or too high beside others, spans both columns; one that is
% wider than the page is set smaller.
\long\def\assaytable#1#2#3{%
  \sbox\assaybox{\assaysmall#3}%
  \let\assaystar\@empty
  \ifdim\wd\assaybox>\columnwidth\def\assaystar{*}\fi
  \ifdim\dimexpr\ht\assaybox+\dp\assaybox>.3\textheight\def\assaystar{*}\fi
  \edef\assayfloat{table\assaystar}%
  \begin{\assayfloat}[tbp]\assayset{#1}{#2}{#3}\end{\assayfloat}}
\def\assaysmall{\footnotesize\setlength{\tabcolsep}{3pt}}
\long\def\assayset#1#2#3{%
  \centering\sloppy\hbadness=10000
  \ifdim\belowcaptionskip=0pt\setlength{\belowcaptionskip}{4pt}\fi
  \caption{#1}\label{#2}%
  \assaysmall
  \ifdim\wd\assaybox>\textwidth\scriptsize\setlength{\tabcolsep}{2pt}\sbox\assaybox{#3}\fi
  \ifdim\wd\assaybox>\textwidth
    \ifdefined\resizebox\resizebox{\textwidth}{!}{\usebox{\assaybox}}\else#3\fi
  \else#3\fi}
\makeatother"""


def render_fragment(report: Report, tiers: Sequence[Tier] = tuple(Tier)) -> str:
    """The tables of these tiers; what is said in sentences stands in comments."""
    return "\n".join(_fragment_lines(report, tiers)) + "\n"


def _fragment_lines(report: Report, tiers: Sequence[Tier]) -> Iterator[str]:
    yield f"% {escaped(report.title, LONGEST_SENTENCE)}"
    findings = [f"{f.code} {f.severity}: {f.message}" for f in report.findings]
    for text in (*report.headline, *findings, *report.notes):
        yield f"% {escaped(text, LONGEST_SENTENCE)}"
    wanted = [(tier, s) for tier in tiers for s in report.sections if (s.tier or Tier.MAIN) is tier]
    tables: list[list[str]] = []
    for tier, section in wanted:
        for block in section.blocks:
            if isinstance(block, Prose):
                tables.append([f"% {escaped(block.text, LONGEST_SENTENCE)}"])
                continue
            tables += _fragment_tables(section.title, block, tier)
    yield r"\begingroup"
    yield _MACROS
    drawn = sum(lines[0].startswith("\\") for lines in tables)
    if drawn > _FLOATS:
        yield rf"\ifdefined\extrafloats\extrafloats{{{drawn}}}\fi"
        yield r"\ifnum\maxdeadcycles<1000 \global\maxdeadcycles=1000\fi"
    number = 0
    for lines in tables:
        if not lines[0].startswith("\\"):
            yield from lines
            continue
        number += 1
        yield f"% table {number}: begin"
        yield from (line.replace("assay-0", f"assay-{number}") for line in lines)
        yield f"% table {number}: end"
    yield r"\endgroup"


def _fragment_tables(
    title: str, block: Table | Dots | ForestPlot | Matrix, tier: Tier
) -> Iterator[list[str]]:
    if isinstance(block, Matrix) and len(block.labels) > WIDEST_MATRIX:
        yield [f"% {escaped(title)}: {len(block.labels)} classes are too many for a table."]
        return
    longest = _FRAGMENT_LABEL if isinstance(block, Matrix) else LONGEST
    grid = grid_of(block, longest, even=True)
    notes = () if isinstance(block, Matrix) else block.notes
    hidden = len(grid.rows) - MOST_ROWS
    if hidden > 0:
        grid = TextGrid(grid.columns, grid.rows[:MOST_ROWS])
        notes = (*notes, f"{hidden} more {plural(hidden, 'row is', 'rows are')} not shown")
    notes = tuple(re.sub(r"^Marked:", "Bold:", note) for note in notes)
    texts = (f"{title}: {block.caption}", *notes, *_rests_on(block))
    parts = [part.removesuffix(".") for part in texts]
    caption = escaped(". ".join(parts) + ".", LONGEST_SENTENCE)
    for layout in _fragment_pieces(grid):
        for i, rows in enumerate(_pages(layout)):
            shown = caption if i == 0 else f"{escaped(title)}, continued."
            lines = [rf"\assaytable{{{shown}}}{{tab:assay-0}}{{% {tier.value}"]
            lines.append(rf"\begin{{tabular}}{{{_fragment_columns(layout)}}}")
            head = " & ".join(_fragment_head(layout, j) for j in range(len(layout.heads)))
            lines += [r"\assaytop", rf"{head} \\", r"\assaymiddle"]
            lines += [line for row in rows for line in _fragment_row(row, layout)]
            lines += [r"\assaybottom", r"\end{tabular}}"]
            yield lines


def _rests_on(block: Table | Dots | ForestPlot | Matrix) -> Iterator[str]:
    """The level and the methods of intervals, and of how many rows or folds they are."""
    if isinstance(block, Matrix):
        total = sum(sum(row) for row in block.cells)
        yield f"n = {count(total)}"
        return
    estimates = [cell for cell in _cells(block) if isinstance(cell, Estimate)]
    shown = [each for each in estimates if math.isfinite(each.low)]
    parts = []
    if shown:
        levels = sorted({each.level for each in shown})
        parts.append("level " + ", ".join(map(exact_percent, levels)))
        methods = sorted({each.method.replace("_", "-") for each in shown if each.method})
        parts += ["method " + ", ".join(methods)] if methods else []
    sizes = sorted({each.n for each in estimates if each.n})
    if sizes:
        ends = dict.fromkeys((count(sizes[0]), count(sizes[-1])))
        parts.append("n = " + " to ".join(ends))
    if parts:
        text = ", ".join(parts)
        yield text if text.startswith("n =") else text.capitalize()


def _cells(block: Table | Dots | ForestPlot) -> Iterator[object]:
    match block:
        case Table():
            for row in block.rows:
                yield from (cell.cell if isinstance(cell, Marked) else cell for cell in row)
        case Dots():
            yield from (dot.estimate for dot in block.dots)
        case ForestPlot():
            yield from (change.difference for change in block.changes)


# -- layout of a fragment --------------------------------------------------------------------------


@dataclass(frozen=True)
class _FragmentLayout:
    """A grid that fits: where text is broken into lines of so many points, heads into two lines.

    Folded, intervals stand below their values.
    """

    grid: TextGrid
    broken: tuple[float | None, ...]
    heads: tuple[tuple[str, ...], ...]
    folded: bool


def _fragment_pieces(grid: TextGrid) -> Iterator[_FragmentLayout]:
    """The grid where it fits, else its columns in several tables, each with the names."""
    for folded in (False, True):
        layout = _fragment_layout(grid, folded=folded)
        if layout is not None:
            yield layout
            return
    if len(grid.columns) < 3:
        half = tuple(_FRAGMENT_ROOM / 2 if c.kind is Kind.TEXT else None for c in grid.columns)
        yield _FragmentLayout(grid, half, tuple((c.name,) for c in grid.columns), folded=True)
        return
    middle = (len(grid.columns) + 1) // 2
    yield from _fragment_pieces(kept_columns(grid, range(middle)))
    yield from _fragment_pieces(kept_columns(grid, [0, *range(middle, len(grid.columns))]))


def _fragment_layout(grid: TextGrid, *, folded: bool) -> _FragmentLayout | None:
    """The grid with its text broken as little as it takes; None where that is not enough."""
    wide, least, heads = [], [], []
    for i, column in enumerate(grid.columns):
        cells = [row[i] for row in grid.rows]
        widest = max((_cell_width(cell, folded=folded) for cell in cells), default=0.0)
        head = (column.name,) if set_width(column.name) <= widest else _two_lines(column.name)
        heads.append(head)
        widest = max(widest, *map(set_width, head))
        can_break = column.kind is Kind.TEXT and not any(cell.formula for cell in cells)
        words = [word for cell in cells for word in cell.value.split()]
        longest = max((set_width(word[:_UNBROKEN]) for word in words), default=0.0)
        wide.append(widest)
        shortest = max(longest, _SHORTEST, *map(set_width, head))
        least.append(min(widest, shortest) if can_break else widest)
    room = _FRAGMENT_ROOM - _GAP * (len(wide) - 1)
    if sum(least) > room:
        return None
    # The widest columns of text give way first.
    widths = list(wide)
    while sum(widths) > room:
        loose = [i for i in range(len(widths)) if widths[i] > least[i]]
        most = max(loose, key=lambda i: widths[i])
        widths[most] = max(least[most], widths[most] - min(4.0, sum(widths) - room))
    broken = tuple(w if w < full else None for w, full in zip(widths, wide, strict=True))
    return _FragmentLayout(grid, broken, tuple(heads), folded)


def _cell_width(cell: TextCell, *, folded: bool) -> float:
    if cell.formula:
        return set_width(cell.value)
    value = set_width(cell.value) * (_BOLD if cell.marked else 1)
    interval = set_width(cell.interval) if cell.interval else 0.0
    if folded:
        return max(value, _SMALLER * interval)
    return value + interval + (_WIDTHS[" "] if interval else 0)


def _two_lines(head: str) -> tuple[str, ...]:
    """A heading, broken at the blank that is nearest to its middle."""
    blanks = [i for i, letter in enumerate(head) if letter == " "]
    blanks = [i for i in blanks if head[:i].strip() and head[i:].strip()]
    if not blanks:
        return (head,)
    at = min(blanks, key=lambda i: abs(2 * i - len(head)))
    return head[:at].strip(), head[at:].strip()


# Points that letters of 8 points take at most, in the fonts of the usual classes; bold ones are
# wider, and an interval below its value is smaller.
_WIDTHS = {
    **dict.fromkeys(".,:;'!|[]ijl", 2.6),
    **dict.fromkeys("()tfrsI-", 3.5),
    **dict.fromkeys("mwMW%@+<", 8.8),
    " ": 3.0,
}
_CAPITAL, _DIGIT, _OTHER, _CODE = 6.2, 4.25, 4.6, 34.0
_BOLD, _SMALLER, _UNBROKEN = 1.15, 0.92, 20
# The points of an em there: widths grow with the font of a class.
_EM = 8.5


def set_width(text: str) -> float:
    """How many points a text is wide at a footnote's size, about, and rather too many.

    >>> round(set_width("0.123")), round(set_width("forest"))
    (20, 23)
    """
    return sum(map(_letter_width, text))


def _letter_width(letter: str) -> float:
    if letter in _WIDTHS:
        return _WIDTHS[letter]
    if letter.isdigit():
        return _DIGIT
    if letter.isupper():
        return _CAPITAL
    # What fonts lack is written as its code.
    return _OTHER if letter.isascii() or len(escaped(letter)) < 14 else _CODE


def _pages(layout: _FragmentLayout) -> Iterator[list[tuple[TextCell, ...]]]:
    """Rows in lots that one float holds."""
    rows: list[tuple[TextCell, ...]] = []
    lines = 0
    for row in layout.grid.rows:
        needed = max(
            math.ceil(1.1 * set_width(cell.value) / width) if width else 1
            for cell, width in zip(row, layout.broken, strict=True)
        ) + (layout.folded and any(cell.interval for cell in row))
        if rows and lines + needed > _LINES:
            yield rows
            rows, lines = [], 0
        rows.append(row)
        lines += needed
    yield rows


def _fragment_columns(layout: _FragmentLayout) -> str:
    numeric = [column.kind is not Kind.TEXT for column in layout.grid.columns]
    return "@{}" + "".join("r" if each else "l" for each in numeric) + "@{}"


def _fragment_head(layout: _FragmentLayout, i: int) -> str:
    side = "l" if layout.grid.columns[i].kind is Kind.TEXT else "r"
    lines = r"\\".join(escaped(line) for line in layout.heads[i])
    return lines if len(layout.heads[i]) == 1 else rf"\shortstack[{side}]{{{lines}}}"


def _fragment_row(row: Sequence[TextCell], layout: _FragmentLayout) -> Iterator[str]:
    """A row; folded, its intervals stand in a second, closer to it than to the next."""
    if not layout.folded or not any(cell.interval for cell in row):
        yield " & ".join(_fragment_cell(cell, layout, i) for i, cell in enumerate(row)) + r" \\"
        return
    values = (_fragment_cell(cell._replace(interval=""), layout, i) for i, cell in enumerate(row))
    yield " & ".join(values) + r" \\"
    second = (rf"{{\scriptsize {_numbers(cell.interval)}}}" * bool(cell.interval) for cell in row)
    yield " & ".join(second) + r" \\[2pt]"


def _fragment_cell(cell: TextCell, layout: _FragmentLayout, i: int) -> str:
    if cell.formula:
        return f"${cell.formula}$"
    kind = layout.grid.columns[i].kind
    text = escaped(cell.value, LONGEST_REMARK)
    if kind not in (Kind.TEXT, Kind.DRAWING):
        text = _numbers(cell.value) if _NUMBER.search(cell.value) else text
    width = layout.broken[i]
    if width is not None and set_width(cell.value) > width:
        text = rf"\parbox[t]{{{width / _EM:.1f}em}}{{\raggedright\hangindent=1em {text}\strut}}"
    text = rf"\textbf{{{text}}}" if cell.marked else text
    return f"{text} {_numbers(cell.interval)}" if cell.interval else text


def _numbers(text: str) -> str:
    r"""Numbers of a cell as siunitx may set them; counts keep their commas.

    >>> _numbers("[-0.012, +0.030]"), _numbers("1.2e-07"), _numbers("1,234")
    ('{[}\\num{-0.012}, \\num{+0.030}{]}', '\\num{1.2e-07}', '1,234')
    """
    if re.fullmatch(r"[\d,]+", text):
        return text
    pieces = []
    last = 0
    for match in _NUMBER.finditer(text):
        pieces.append(escaped(text[last : match.start()]) if match.start() > last else "")
        pieces.append(rf"\num{{{match[0]}}}")
        last = match.end()
    return "".join(pieces) + (escaped(text[last:]) if last < len(text) else "")


def tiers_of(names: Iterable[str]) -> tuple[Tier, ...]:
    """Tiers by the first words of their names; all where none is named."""
    by_name = {tier.name.lower(): tier for tier in Tier}
    return tuple(by_name[name] for name in names) or tuple(Tier)
