r"""Formulas as MathML, which browsers draw by themselves: no script, no font, no network.

The part of TeX that the catalogue and the pages use. Whatever else is met is named, and fails the
build.

>>> print(mathml(r"\frac{TP}{TP + FN}", block=False))
<math><mfrac><mi>TP</mi><mrow><mi>TP</mi><mo>+</mo><mi>FN</mi></mrow></mfrac></math>
"""

from __future__ import annotations

import re
from html import escape

# Two capitals and more are one name, as TP and FPR; other letters are names by themselves.
SYMBOL = re.compile(
    r"\\(?:text|mbox|mathrm)\{[^}]*\}|\\[A-Za-z]+|\\.|[A-Z]{2,}|[A-Za-z]|\d+(?:\.\d+)?|\S"
)
FUNCTIONS = ("ln", "log", "exp")
NAMES = {"alpha": "α", "gamma": "γ", "delta": "δ", "mu": "μ", "pi": "π", "chi": "χ"} | {
    "infty": "∞",
    "partial": "∂",
    "ldots": "…",
}
# Whether its bounds stand below and above.
LARGE = {"sum": ("∑", True), "prod": ("∏", True), "int": ("∫", False)} | {
    name: (name, True) for name in ("max", "min")
}
SIGNS = {"cdot": "·", "pm": "±", "mid": "∣", "vert": "|", "lfloor": "⌊", "rfloor": "⌋"} | {
    "le": "≤",
    "ge": "≥",
    "ne": "≠",
    "in": "∈",
}
SPACES = {",": 0.17, ":": 0.22, ";": 0.28, " ": 0.25, "quad": 1, "qquad": 2}
ACCENTS = {"hat": "^", "overline": "‾"}
FENCES = {"left": "right", "Bigl": "Bigr"}
FRACTIONS = ("frac", "tfrac")
TIGHT = "()[]|⌊⌋/"
NO_SPACE = ' lspace="0" rspace="0"'


class UnknownTex(ValueError):
    """TeX that is not of the part which is understood."""


def mathml(tex: str, *, block: bool) -> str:
    """A formula as a MathML element, by itself on its line or within one."""
    parser = _Parser(tex)
    inside = parser.row(end=None)
    return f'<math display="block">{inside}</math>' if block else f"<math>{inside}</math>"


class _Parser:
    """A formula that is read once, from left to right."""

    def __init__(self, tex: str) -> None:
        self.tex = tex
        self.symbols = SYMBOL.findall(tex)
        self.next = 0

    def peek(self) -> str | None:
        """The symbol that comes, without taking it."""
        return self.symbols[self.next] if self.next < len(self.symbols) else None

    def take(self, *allowed: str) -> str:
        """The symbol that comes, which has to be one of those that are allowed, if any are."""
        symbol = self.peek()
        if symbol is None or (allowed and symbol not in allowed):
            expected = f" where {' or '.join(allowed)} was expected" if allowed else ""
            raise UnknownTex(f"{symbol or 'the end'}{expected} in {self.tex}")
        self.next += 1
        return symbol

    def row(self, *, end: str | None) -> str:
        """What stands before the end, as one element."""
        parts: list[str] = []
        while self.peek() != end:
            function = (self.peek() or "").removeprefix("\\") in FUNCTIONS
            if function and parts and not parts[-1].startswith("<mo"):
                parts.append(_gap(","))
            parts.append(self.with_scripts())
        return parts[0] if len(parts) == 1 else f"<mrow>{''.join(parts)}</mrow>"

    def with_scripts(self) -> str:
        """An element with what stands below and above it."""
        stacked = LARGE.get((self.peek() or "").removeprefix("\\"), ("", False))[1]
        base = self.element()
        scripts = {}
        while (mark := self.peek()) in {"_", "^"}:
            self.take()
            scripts[mark] = self.argument()
        below, above = ("munder", "mover") if stacked else ("msub", "msup")
        match scripts:
            case {"_": low, "^": high}:
                both = "munderover" if stacked else "msubsup"
                return f"<{both}>{base}{low}{high}</{both}>"
            case {"_": low}:
                return f"<{below}>{base}{low}</{below}>"
            case {"^": high}:
                return f"<{above}>{base}{high}</{above}>"
        return base

    def argument(self) -> str:
        """What a command takes: a group, or one sign; of a number its first digit."""
        symbol = self.peek() or ""
        if symbol.isdigit() and len(symbol) > 1:
            self.symbols[self.next : self.next + 1] = [symbol[0], symbol[1:]]
        return self.element()

    def element(self) -> str:
        """One name, number, sign, group or command."""
        symbol = self.take()
        if symbol == "{":
            inside = self.row(end="}")
            self.take("}")
            return inside
        if symbol[0] == "\\":
            return self.command(symbol[1:])
        if symbol.isalpha():
            return f"<mi>{symbol}</mi>"
        if symbol[0].isdigit():
            return f"<mn>{symbol}</mn>"
        if symbol in "}_^&~#%$":
            raise UnknownTex(f"{symbol} in {self.tex}")
        return _sign("−" if symbol == "-" else symbol)

    def command(self, name: str) -> str:
        """What a command stands for, with its arguments."""
        if name in FUNCTIONS:
            return _element("mi", name) + ("" if self.peek() in {"(", "\\left"} else _gap(","))
        if name in NAMES:
            return _element("mi", NAMES[name])
        if name in LARGE:
            return f'<mo movablelimits="true">{LARGE[name][0]}</mo>'
        if name in SIGNS:
            return _sign(SIGNS[name])
        if name in SPACES:
            return _gap(name)
        if name in FRACTIONS:
            small = ' displaystyle="false"' if name == "tfrac" else ""
            return f"<mfrac{small}>{_legible(self.argument())}{_legible(self.argument())}</mfrac>"
        if name == "sqrt":
            return f"<msqrt>{self.argument()}</msqrt>"
        if name in ACCENTS:
            return f'<mover accent="true">{self.argument()}<mo>{ACCENTS[name]}</mo></mover>'
        if name.endswith("}"):
            kind, _, word = name[:-1].partition("{")
            return _element("mi" if kind == "mathrm" else "mtext", word)
        if name in FENCES:
            return self.fenced(f"\\{FENCES[name]}")
        raise UnknownTex(f"\\{name} in {self.tex}")

    def fenced(self, end: str) -> str:
        """What stands between brackets, which grow with it where it is higher than a line."""
        opening = self.take()
        inside = self.row(end=end)
        self.take(end)
        high = re.search("<(mfrac|munder|mover|msqrt)", inside)
        brackets = (SIGNS.get(sign.removeprefix("\\"), sign) for sign in (opening, self.take()))
        left, right = (f"<mo{NO_SPACE}>{each}</mo>" if high else _sign(each) for each in brackets)
        return f"<mrow>{left}{inside}{right}</mrow>"


def _element(tag: str, text: str) -> str:
    return f"<{tag}>{escape(text)}</{tag}>"


def _sign(sign: str) -> str:
    tight = f'{NO_SPACE} stretchy="false"' if sign in TIGHT else ""
    return f"<mo{tight}>{escape(sign)}</mo>"


def _legible(part: str) -> str:
    """A fraction inside of a fraction, as large as if it stood by itself."""
    if not part.startswith("<mfrac>"):
        return part
    return f'<mstyle displaystyle="true" scriptlevel="0">{part}</mstyle>'


def _gap(name: str) -> str:
    return f'<mspace width="{SPACES[name]}em"/>'
