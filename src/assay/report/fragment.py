r"""Tables for a paper: a file to ``\input`` into any document class, of one column or two.

It needs no package: rules are booktabs' and numbers siunitx's where the paper loads them. A table
that is wider than a column spans both. All numbers of a column have as many decimals.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from assay.escaping import escaped
from assay.inference import Estimate
from assay.report.grid import LONGEST_REMARK, Grid, Text, grid_of
from assay.report.latex import MOST_ROWS, WIDEST_MATRIX, kept_columns
from assay.report.names import LONGEST, LONGEST_SENTENCE
from assay.report.numbers import count
from assay.report.sections import (
    Block,
    Dots,
    Forest,
    Kind,
    Marked,
    Matrix,
    Prose,
    Report,
    Table,
    Tier,
)

# The narrowest class is so many points wide, a table that spans its columns too; between two
# columns of a table lie so many.
_ROOM, _GAP = 338.0, 6.0
# Text is not broken into lines shorter than this, in points; a float has so many lines at most.
_SHORTEST, _LINES = 64.0, 34
_LONGEST_LABEL = 14
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


def render(report: Report, tiers: Sequence[Tier] = tuple(Tier)) -> str:
    """The tables of these tiers; what is said in sentences stands in comments."""
    return "\n".join(_lines(report, tiers)) + "\n"


def _lines(report: Report, tiers: Sequence[Tier]) -> Iterator[str]:
    yield f"% {escaped(report.title, LONGEST_SENTENCE)}"
    findings = [f"{f.code} {f.severity}: {f.message}" for f in report.findings]
    for said in (*report.headline, *findings, *report.notes):
        yield f"% {escaped(said, LONGEST_SENTENCE)}"
    wanted = [(tier, s) for tier in tiers for s in report.sections if (s.tier or Tier.MAIN) is tier]
    tables: list[list[str]] = []
    for tier, section in wanted:
        for block in section.blocks:
            if isinstance(block, Prose):
                tables.append([f"% {escaped(block.text, LONGEST_SENTENCE)}"])
                continue
            tables += _block(section.title, block, tier)
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


def _block(title: str, block: Block, tier: Tier) -> Iterator[list[str]]:
    assert not isinstance(block, Prose)  # noqa: S101 - sentences are comments
    if isinstance(block, Matrix) and len(block.labels) > WIDEST_MATRIX:
        yield [f"% {escaped(title)}: {len(block.labels)} classes are too many for a table."]
        return
    longest = _LONGEST_LABEL if isinstance(block, Matrix) else LONGEST
    grid = grid_of(block, longest, even=True)
    notes = () if isinstance(block, Matrix) else block.notes
    left = len(grid.rows) - MOST_ROWS
    if left > 0:
        grid = Grid(grid.columns, grid.rows[:MOST_ROWS])
        notes = (*notes, f"{left} more rows are not shown")
    notes = tuple(re.sub(r"^Marked:", "Bold:", note) for note in notes)
    said = (f"{title}: {block.caption}", *notes, *_rests_on(block))
    parts = [part.removesuffix(".") for part in said]
    caption = escaped(". ".join(parts) + ".", LONGEST_SENTENCE)
    for layout in _pieces(grid):
        for i, rows in enumerate(_pages(layout)):
            shown = caption if i == 0 else f"{escaped(title)}, continued."
            lines = [rf"\assaytable{{{shown}}}{{tab:assay-0}}{{% {tier.value}"]
            lines.append(rf"\begin{{tabular}}{{{_columns(layout)}}}")
            head = " & ".join(_head(layout, j) for j in range(len(layout.heads)))
            lines += [r"\assaytop", rf"{head} \\", r"\assaymiddle"]
            lines += [line for row in rows for line in _row(row, layout)]
            lines += [r"\assaybottom", r"\end{tabular}}"]
            yield lines


def _rests_on(block: Table | Dots | Forest | Matrix) -> Iterator[str]:
    """The level and the methods of intervals, and of how many rows or folds they are."""
    if isinstance(block, Matrix):
        total = sum(sum(row) for row in block.cells)
        yield f"n = {count(total)}"
        return
    found = [cell for cell in _cells(block) if isinstance(cell, Estimate)]
    shown = [each for each in found if math.isfinite(each.low)]
    parts = []
    if shown:
        levels = sorted({each.level for each in shown})
        parts.append("level " + ", ".join(f"{100 * level:.10g}%" for level in levels))
        methods = sorted({each.method.replace("_", "-") for each in shown if each.method})
        parts += ["method " + ", ".join(methods)] if methods else []
    sizes = sorted({each.n for each in found if each.n})
    if sizes:
        ends = dict.fromkeys((count(sizes[0]), count(sizes[-1])))
        parts.append("n = " + " to ".join(ends))
    if parts:
        text = ", ".join(parts)
        yield text if text.startswith("n =") else text.capitalize()


def _cells(block: Table | Dots | Forest) -> Iterator[object]:
    match block:
        case Table():
            for row in block.rows:
                yield from (cell.cell if isinstance(cell, Marked) else cell for cell in row)
        case Dots():
            yield from (dot.estimate for dot in block.dots)
        case Forest():
            yield from (change.difference for change in block.changes)


# -- layout ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Layout:
    """A grid that fits: where text is broken into lines of so many points, heads into two lines.

    Folded, intervals stand below their values.
    """

    grid: Grid
    broken: tuple[float | None, ...]
    heads: tuple[tuple[str, ...], ...]
    folded: bool


def _pieces(grid: Grid) -> Iterator[_Layout]:
    """The grid where it fits, else its columns in several tables, each with the names."""
    for folded in (False, True):
        layout = _fitted(grid, folded=folded)
        if layout is not None:
            yield layout
            return
    if len(grid.columns) < 3:
        half = tuple(_ROOM / 2 if c.kind is Kind.TEXT else None for c in grid.columns)
        yield _Layout(grid, half, tuple((c.name,) for c in grid.columns), folded=True)
        return
    middle = (len(grid.columns) + 1) // 2
    yield from _pieces(kept_columns(grid, range(middle)))
    yield from _pieces(kept_columns(grid, [0, *range(middle, len(grid.columns))]))


def _fitted(grid: Grid, *, folded: bool) -> _Layout | None:
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
    room = _ROOM - _GAP * (len(wide) - 1)
    if sum(least) > room:
        return None
    # The widest columns of text give way first.
    widths = list(wide)
    while sum(widths) > room:
        loose = [i for i in range(len(widths)) if widths[i] > least[i]]
        most = max(loose, key=lambda i: widths[i])
        widths[most] = max(least[most], widths[most] - min(4.0, sum(widths) - room))
    broken = tuple(w if w < full else None for w, full in zip(widths, wide, strict=True))
    return _Layout(grid, broken, tuple(heads), folded)


def _cell_width(cell: Text, *, folded: bool) -> float:
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


def _pages(layout: _Layout) -> Iterator[list[tuple[Text, ...]]]:
    """Rows in lots that one float holds."""
    rows: list[tuple[Text, ...]] = []
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


def _columns(layout: _Layout) -> str:
    numeric = [column.kind is not Kind.TEXT for column in layout.grid.columns]
    return "@{}" + "".join("r" if each else "l" for each in numeric) + "@{}"


def _head(layout: _Layout, i: int) -> str:
    side = "l" if layout.grid.columns[i].kind is Kind.TEXT else "r"
    lines = r"\\".join(escaped(line) for line in layout.heads[i])
    return lines if len(layout.heads[i]) == 1 else rf"\shortstack[{side}]{{{lines}}}"


def _row(row: Sequence[Text], layout: _Layout) -> Iterator[str]:
    """A row; folded, its intervals stand in a second, closer to it than to the next."""
    if not layout.folded or not any(cell.interval for cell in row):
        yield " & ".join(_cell(cell, layout, i) for i, cell in enumerate(row)) + r" \\"
        return
    values = (_cell(cell._replace(interval=""), layout, i) for i, cell in enumerate(row))
    yield " & ".join(values) + r" \\"
    second = (rf"{{\scriptsize {_numbers(cell.interval)}}}" * bool(cell.interval) for cell in row)
    yield " & ".join(second) + r" \\[2pt]"


def _cell(cell: Text, layout: _Layout, i: int) -> str:
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
