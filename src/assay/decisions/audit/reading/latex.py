r"""Tables of LaTeX as rows of texts: tabular and its kin, booktabs, siunitx, cells that span."""

from __future__ import annotations

import re
from collections.abc import Iterator

from assay.decisions.audit.reading.grids import Grid

_ENVIRONMENTS = r"tabular\*?|tabularx|tabulary|tabu|longtable\*?|longtblr|tblr|array|NiceTabular"
_BEGIN = re.compile(rf"\\begin\{{({_ENVIRONMENTS})\}}")
_CAPTION = re.compile(r"\\caption(?:\[[^\]]*\])?(?=\{)")
_COMMENT = re.compile(r"(?<!\\)%.*")
_RULES = re.compile(
    r"\\(?:hline|toprule|midrule|bottomrule|endhead|endfirsthead|endfoot|endlastfoot|centering|"
    r"addlinespace(?:\[[^\]]*\])?|specialrule(?:\{[^}]*\}){3}|cmidrule(?:\([^)]*\))?\s*\{[^}]*\}|"
    r"cline\s*\{[^}]*\}|hhline\s*\{[^}]*\}|arrayrulecolor\s*\{[^}]*\}|rowcolors?(?:\[[^\]]*\])?\s*"
    r"\{[^}]*\}|noalign\s*\{[^}]*\}|Xhline\s*\{[^}]*\}|rule\s*\{[^}]*\}\{[^}]*\}|Xcline\{[^}]*\}|"
    r"vspace\*?\{[^}]*\}|small|footnotesize|scriptsize|tiny|normalsize|bfseries|itshape)(?![a-zA-Z])"
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


def latex_grids(text: str) -> Iterator[Grid]:
    """The tables of a LaTeX source; rows without an environment are one table."""
    found = False
    for begin in _BEGIN.finditer(text):
        end = text.find(f"\\end{{{begin[1]}}}", begin.end())
        if end < 0:
            end = len(text)
        found = True
        start = _after_columns(text, begin.end(), begin[1])
        rows = _rows(text[start:end])
        line = text.count("\n", 0, begin.start()) + 1
        if rows:
            notes = _notes(text, end)
            yield Grid(rows, 1, _caption(text, begin.start(), end), line, notes)
    if not found:
        rows = _rows(text)
        if rows:
            yield Grid(rows)


def _after_columns(text: str, place: int, environment: str) -> int:
    """Where the rows begin: after the options, the width and the columns."""
    groups = 2 if environment in ("tabular*", "tabularx", "tabulary") else 1
    while groups:
        rest = text[place:]
        bracket = re.match(r"\s*\[[^\]]*\]", rest)
        if bracket:
            place += bracket.end()
            continue
        brace = re.match(r"\s*\{", rest)
        if not brace:
            return place
        place = _closing(text, place + brace.end() - 1) + 1
        groups -= 1
    return place


def _caption(text: str, start: int, end: int) -> str:
    """The caption of the float that holds a table."""
    first = max(
        text.rfind("\\begin{table", 0, start), text.rfind("\\begin{longtable", 0, start + 1)
    )
    last = text.find("\\end{table", end)
    if first < 0:
        return ""
    found = _CAPTION.search(text, first, last if last >= 0 else len(text))
    return "" if found is None else plain(text[found.end() + 1 : _closing(text, found.end())])


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
    high = re.search(r"\\multirow\s*(?:\[[^\]]*\])?\s*\{(-?\d+)\}", cell)
    if high:
        down = max(1, int(high[1]))
    return plain(cell), across, down


def plain(text: str) -> str:
    r"""What a piece of LaTeX shows, as plain text.

    >>> plain(r"\textbf{98.2\%} $\pm$ 0.3\cite{a}"), plain(r"\multicolumn{2}{c}{\num{0.97}}")
    ('98.2% ± 0.3', '0.97')
    """
    shown = _without_commands(text)
    for sign in sorted(_SIGNS, key=len, reverse=True):
        tail = r"(?![a-zA-Z])" if sign[-1].isalpha() else ""
        shown = re.sub(re.escape(sign) + tail, _SIGNS[sign].replace("\\", ""), shown)
    shown = re.sub(r"\^\{?[a-zA-Z*†‡]+\}?", "", shown)
    shown = re.sub(r"_\{?(\w+)\}?", r"\1", shown) if "_" in shown and "\\_" not in text else shown
    shown = re.sub(r"\\[a-zA-Z]+\*?", " ", shown)
    shown = re.sub(r"[{}^]", "", shown).replace("---", "-").replace("--", "-")
    return re.sub(r"\s+", " ", shown).strip()


def _without_commands(text: str) -> str:
    """Commands replaced by what they show, the innermost of nested ones first or last alike."""
    out = []
    i = 0
    while i < len(text):
        command = re.match(r"\\([a-zA-Z]+)\*?\s*((?:\[[^\]]*\]|<[^>]*>)\s*)*(?=\{)", text[i:])
        if command is None:
            step = 2 if text[i] == "\\" and text[i + 1 : i + 2] in "%&_#${}" else 1
            out.append(text[i : i + step])
            i += step
            continue
        name, place = command[1], i + command.end()
        arguments: list[str] = []
        wanted = _LAST.get(name, 2 if name in ("SI", "qty") else 1)
        while len(arguments) < wanted and text[place : place + 1] == "{":
            end = _closing(text, place)
            arguments.append(text[place + 1 : end])
            place = end + 1
            skipped = re.match(r"\s*(?:\[[^\]]*\])?\s*(?=\{)", text[place:])
            if skipped and len(arguments) < wanted:
                place += skipped.end()
        out.append(_shown(name, arguments))
        i = place
    return "".join(out)


def _shown(name: str, arguments: list[str]) -> str:
    if name in _UNSEEN:
        # \textcolor{red}{0.98} leaves its second argument to the text that follows.
        return ""
    if name in ("SI", "qty"):
        return "".join(map(_without_commands, arguments))
    if name == "num":
        number = _without_commands(arguments[0]).replace("+-", r"\pm ")
        return re.sub(r"(\d)\((\d+)\)$", r"\1", number)
    if name in ("makecell", "shortstack", "thead"):
        return _without_commands(arguments[0].replace("\\\\", " "))
    return _without_commands(arguments[-1]) if arguments else ""
