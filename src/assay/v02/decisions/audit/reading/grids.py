r"""Tables as people have them, as rows of texts: Markdown, separated values, columns, LaTeX."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from assay.errors import InputError

_RULE = re.compile(r"\s*+\|?\s*+:?-++:?\s*+(?:\|\s*+:?-++:?\s*+)*+\|?\s*+")
_GRID_RULE = re.compile(r"\s*\+(?:[-=]+\+)+\s*")
_CAPTION = re.compile(r"[*_#>\s]*+(?:table|tab\.|caption)\b.*", re.IGNORECASE)
_GAP = re.compile(r"\s{2,}|\t+")
_NUMERIC = re.compile(r"[+-]?[\d.,]+%?|nan|-+", re.IGNORECASE)
# A line that is drawn under headings: of these signs alone, three in a row among them.
_DRAWN = re.compile(r"[\s=+|:-]*+")
_STROKE = re.compile(r"[=-]{3}")
# More cells than any table of results has.
_MOST_CELLS = 2_000_000
DELIMITERS = ",;\t|"


@dataclass(frozen=True)
class TextTable:
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

    def even(self) -> TextTable:
        """With every row as wide as the widest."""
        wide = self.width
        must_be_small(len(self.rows), wide, f"the table of line {self.line}")
        rows = tuple((*row, *[""] * (wide - len(row))) for row in self.rows)
        return replace(self, rows=rows)

    def turned(self) -> TextTable:
        """With rows and columns exchanged."""
        return replace(self, rows=tuple(zip(*self.even().rows, strict=True)), headers=1)


def must_be_small(rows: int, wide: int, name: str) -> None:
    """Refuse a table that would fill the memory once every row is as wide as the widest."""
    if rows * wide > _MOST_CELLS:
        raise InputError(
            f"{name} has {rows:,} rows of up to {wide:,} cells, more than any table of results; "
            f"expected {_MOST_CELLS:,} cells at most. Give the table that is meant"
        )


# -- Markdown --------------------------------------------------------------------------------------


def markdown_grids(text: str) -> Iterator[TextTable]:
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
            yield TextTable(rows, 1, _caption(lines, i, end), i + 1, _around(lines, i, end))
            i = end
        elif _GRID_RULE.fullmatch(lines[i]):
            end = i + 1
            while end < len(lines) and (_GRID_RULE.fullmatch(lines[end]) or "|" in lines[end]):
                end += 1
            kept = [line for line in lines[i:end] if not _GRID_RULE.fullmatch(line)]
            if kept:
                rows, around = tuple(map(_piped, kept)), _around(lines, i, end)
                yield TextTable(rows, 1, _caption(lines, i, end), i + 1, around)
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


def separated_grids(text: str, name: str) -> Iterator[TextTable]:
    """A table of values parted by commas, semicolons, tabs or bars."""
    lines = [
        line
        for line in text.splitlines()
        if line.strip() and not line.startswith("#") and not _is_drawn(line)
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
    yield TextTable(tuple(rows), around="\n".join(comments))


def _is_drawn(line: str) -> bool:
    return bool(_DRAWN.fullmatch(line) and _STROKE.search(line))


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


def aligned_grids(text: str) -> Iterator[TextTable]:
    """Tables that are printed in columns, as frames are: a line of headings, then rows of numbers.

    A name may hold single blanks; the numbers of a row are its last, or (Weka) its first cells.
    """
    lines = [line for line in text.splitlines() if not _is_drawn(line)]
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


def _aligned(header: str, body: Sequence[str], line: int) -> TextTable | None:
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
    return TextTable((tuple(names), *kept), 1, "", line)


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


# -- LaTeX: tabular and its kin, booktabs, siunitx, cells that span --------------------------------

_ENVIRONMENTS = r"tabular\*?|tabularx|tabulary|tabu|longtable\*?|longtblr|tblr|array|NiceTabular"
_BEGIN = re.compile(rf"\\begin\{{({_ENVIRONMENTS})\}}")
_LATEX_CAPTION = re.compile(r"\\caption(?:\[[^\[\]]*+\])?(?=\{)")
_COMMENT = re.compile(r"(?<!\\)%.*")
_RULES = re.compile(
    r"\\(?:hline|toprule|midrule|bottomrule|endhead|endfirsthead|endfoot|endlastfoot|centering|"
    r"addlinespace(?:\[[^\[\]]*+\])?|specialrule(?:\{[^{}]*+\}){3}|cmidrule(?:\([^()]*+\))?\s*\{[^{}]*+\}|"
    r"cline\s*\{[^{}]*+\}|hhline\s*\{[^{}]*+\}|arrayrulecolor\s*\{[^{}]*+\}|rowcolors?(?:\[[^\[\]]*+\])?\s*"
    r"\{[^{}]*+\}|noalign\s*\{[^{}]*+\}|Xhline\s*\{[^{}]*+\}|rule\s*\{[^{}]*+\}\{[^{}]*+\}|Xcline\{[^{}]*+\}|"
    r"vspace\*?\{[^{}]*+\}|small|footnotesize|scriptsize|tiny|normalsize|bfseries|itshape)(?![a-zA-Z])"
)
# Commands of which nothing is shown: their arguments go with them.
_UNSEEN = ("cite", "citep", "citet", "ref", "label", "footnote", "footnotemark", "tnote", "phantom",
           "hphantom", "vphantom", "textsuperscript", "cellcolor", "rowcolor", "color", "textcolor",
           "hspace", "vspace", "definecolor", "rlap", "llap", "tablefootnote", "tmark")  # fmt: skip
# Commands of several arguments, of which the last is shown: how many there are.
_LAST = {"multirow": 3, "multicolumn": 3, "rotatebox": 2, "scalebox": 2, "resizebox": 3,
         "parbox": 2, "raisebox": 2, "adjustbox": 2, "SetCell": 1, "colorbox": 2}  # fmt: skip
_SIGNS = {
    r"\%": "%", r"\&": "&", r"\_": "_", r"\#": "#", r"\$": "", "~": " ", r"\,": " ", r"\;": " ",
    r"\!": "", r"\ ": " ", r"\:": " ", "$": "", r"\pm": "±", r"\times": "x", r"\uparrow": "",
    r"\downarrow": "", r"\dagger": "", r"\ddagger": "", r"\ast": "", r"\star": "", r"\kappa": "κ",
    r"\percent": "%", r"\textpm": "±", r"\textendash": "-", r"\textemdash": "-", r"\approx": "~",
    r"\sim": "~", r"\textless": "<", r"\textgreater": ">", r"\textpercent": "%", r"\rightarrow": "",
    r"\mu": "μ", r"\beta": "β", r"\checkmark": "✓", r"\cdot": "·", r"\circ": "", r"\bullet": "",
}  # fmt: skip
_WRITTEN = tuple(
    (re.compile(re.escape(sign) + (r"(?![a-zA-Z])" if sign[-1].isalpha() else "")), shown)
    for sign, shown in sorted(_SIGNS.items(), key=lambda pair: -len(pair[0]))
)
# Without any of these a cell shows what is written.
_SPECIAL = re.compile(r"[\\{}$^_~-]")
_OPTIONS = re.compile(r"\s*+\[[^\[\]]*+\]")
_BRACE = re.compile(r"\s*+\{")
_COMMAND = re.compile(r"\\([a-zA-Z]++)\*?\s*+(?:(?:\[[^\[\]]*+\]|<[^<>]*+>)\s*+)*+(?=\{)")
_NEXT_ARGUMENT = re.compile(r"\s*+(?:\[[^\[\]]*+\])?\s*+(?=\{)")
# So deep may commands, and tables, stand inside of each other.
_DEEPEST = 16


def latex_grids(text: str) -> Iterator[TextTable]:
    """The tables of a LaTeX source; rows without an environment are one table."""
    has_tables = False
    read = 0
    for begin in _BEGIN.finditer(text):
        end = text.find(f"\\end{{{begin[1]}}}", begin.end())
        if end < 0:
            end = len(text)
        has_tables = True
        start = _after_columns(text, begin.end(), begin[1])
        line = text.count("\n", 0, begin.start()) + 1
        read += max(start, end) - begin.start()
        if read > _DEEPEST * len(text):
            raise InputError(
                f"line {line}: tables stand inside of each other, or are never closed, more than "
                f"{_DEEPEST} deep; close each {begin[1]} with \\end{{{begin[1]}}}"
            )
        rows = _rows(text[start:end])
        if rows:
            notes = _notes(text, end)
            yield TextTable(rows, 1, _latex_caption(text, begin.start(), end), line, notes)
    if not has_tables:
        rows = _rows(text)
        if rows:
            yield TextTable(rows)


def _after_columns(text: str, place: int, environment: str) -> int:
    """Where the rows begin: after the options, the width and the columns."""
    groups = 2 if environment in ("tabular*", "tabularx", "tabulary") else 1
    while groups:
        bracket = _OPTIONS.match(text, place)
        if bracket:
            place = bracket.end()
            continue
        brace = _BRACE.match(text, place)
        if not brace:
            return place
        place = _closing(text, brace.end() - 1) + 1
        groups -= 1
    return place


def _latex_caption(text: str, start: int, end: int) -> str:
    """The caption of the float that holds a table."""
    first = max(
        text.rfind("\\begin{table", 0, start), text.rfind("\\begin{longtable", 0, start + 1)
    )
    last = text.find("\\end{table", end)
    if first < 0:
        return ""
    match = _LATEX_CAPTION.search(text, first, last if last >= 0 else len(text))
    return "" if match is None else plain(text[match.end() + 1 : _closing(text, match.end())])


def _notes(text: str, end: int) -> str:
    """What stands below a table in its float."""
    last = text.find("\\end{table", end)
    return (
        plain(text[end:last])
        if last >= 0 and "\\begin{" not in text[end:last].replace("\\begin{tablenotes}", "")
        else ""
    )


def _closing(text: str, opening: int) -> int:
    """Where the brace that opens here is closed."""
    depth = 0
    for i in range(opening, len(text)):
        if text[i] in "{}" and (i == 0 or text[i - 1] != "\\"):
            depth += 1 if text[i] == "{" else -1
            if not depth:
                return i
    return len(text)


def _rows(source: str) -> tuple[tuple[str, ...], ...]:
    text = "\n".join(_COMMENT.sub("", line) for line in source.splitlines())
    text = _RULES.sub(" ", text.replace("\\tabularnewline", "\\\\"))
    rows: list[tuple[str, ...]] = []
    below: dict[int, tuple[str, int]] = {}
    for source_row in _parted(text, "\\\\"):
        line = re.sub(r"^\s*\[[^\]]*\]|^\s*\*", "", source_row)
        if not line.strip():
            continue
        cells: list[str] = []
        for cell in _parted(line, "&"):
            content, across, down = _spanning(cell)
            # Under a cell that reaches down stands nothing.
            if not content and len(cells) in below:
                content = below[len(cells)][0]
            for _ in range(across):
                if down > 1:
                    below[len(cells)] = content, down
                cells.append(content)
        below = {place: (text, left - 1) for place, (text, left) in below.items() if left > 1}
        if any(cells):
            rows.append(tuple(cells))
    return tuple(rows)


def _parted(text: str, sign: str) -> Iterator[str]:
    """Text parted at a sign that stands in no braces, and behind no backslash."""
    depth = start = i = 0
    while i < len(text):
        if text.startswith(sign, i) and not depth and (sign != "&" or text[i - 1 : i] != "\\"):
            yield text[start:i]
            i = start = i + len(sign)
            continue
        if text[i] == "\\":
            i += 2
            continue
        depth += (text[i] == "{") - (text[i] == "}")
        i += 1
    yield text[start:]


def _spanning(cell: str) -> tuple[str, int, int]:
    """What a cell shows, and over how many columns and rows."""
    across = down = 1
    wide = re.search(r"\\multicolumn\s*\{(\d+)\}", cell)
    if wide:
        across = max(1, min(int(wide[1]), 50))
    high = re.search(r"\\multirow\s*+(?:\[[^\[\]]*+\])?\s*+\{(-?\d+)\}", cell)
    if high:
        down = max(1, int(high[1]))
    return plain(cell), across, down


def plain(text: str) -> str:
    r"""What a piece of LaTeX shows, as plain text.

    >>> plain(r"\textbf{98.2\%} $\pm$ 0.3\cite{a}"), plain(r"\multicolumn{2}{c}{\num{0.97}}")
    ('98.2% ± 0.3', '0.97')
    """
    if not _SPECIAL.search(text):
        return " ".join(text.split())
    shown = _without_commands(text)
    for sign, written in _WRITTEN:
        shown = sign.sub(written, shown)
    shown = re.sub(r"\^\{?[a-zA-Z*†‡]+\}?", "", shown)
    shown = re.sub(r"_\{?(\w+)\}?", r"\1", shown) if "_" in shown and "\\_" not in text else shown
    shown = re.sub(r"\\[a-zA-Z]+\*?", " ", shown)
    shown = re.sub(r"[{}^]", "", shown).replace("---", "-").replace("--", "-")
    return re.sub(r"\s+", " ", shown).strip()


def _without_commands(text: str, depth: int = 0) -> str:
    """Commands replaced by what they show, the innermost of nested ones first or last alike."""
    if depth > _DEEPEST:
        raise InputError(
            f"commands of LaTeX stand more than {_DEEPEST} deep inside of each other; write what "
            f"the cell shows: {text[:40]!r}"
        )
    out = []
    i = 0
    while i < len(text):
        command = _COMMAND.match(text, i)
        if command is None:
            step = 2 if text[i] == "\\" and text[i + 1 : i + 2] in "%&_#${}" else 1
            out.append(text[i : i + step])
            i += step
            continue
        name, place = command[1], command.end()
        arguments: list[str] = []
        wanted = _LAST.get(name, 2 if name in ("SI", "qty") else 1)
        while len(arguments) < wanted and text[place : place + 1] == "{":
            end = _closing(text, place)
            arguments.append(text[place + 1 : end])
            place = end + 1
            skipped = _NEXT_ARGUMENT.match(text, place)
            if skipped and len(arguments) < wanted:
                place = skipped.end()
        out.append(_shown(name, arguments, depth + 1))
        i = place
    return "".join(out)


def _shown(name: str, arguments: list[str], depth: int) -> str:
    if name in _UNSEEN:
        # \textcolor{red}{0.98} leaves its second argument to the text that follows.
        return ""
    if name in ("SI", "qty"):
        return "".join(_without_commands(argument, depth) for argument in arguments)
    if name == "num":
        number = _without_commands(arguments[0], depth).replace("+-", r"\pm ")
        return re.sub(r"(\d)\((\d+)\)$", r"\1", number)
    if name in ("makecell", "shortstack", "thead"):
        return _without_commands(arguments[0].replace("\\\\", " "), depth)
    return _without_commands(arguments[-1], depth) if arguments else ""
