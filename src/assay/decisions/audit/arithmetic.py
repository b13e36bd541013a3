"""Plain arithmetic, evaluated exactly: ``+ - * / sqrt ( )`` and nothing else.

A small parser of its own; nothing is ever handed to Python to run. Numbers are rationals. A root is
enclosed between two rationals, which are brought closer until the printed digits can be judged.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from assay.decisions.audit.claim import Calculation
from assay.decisions.audit.printed import Exact, hold
from assay.decisions.audit.result import Judged, Verdict
from assay.errors import InputError

LONGEST = 1000
DEEPEST = 100
_FIRST_BITS = 128
_LAST_BITS = 1 << 13
_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d*)?(?:e[+-]?\d{1,2}(?!\d))?|"
    r"\.\d+(?:e[+-]?\d{1,2}(?!\d))?)|(?P<root>sqrt|\u221a)|(?P<sign>[-+*/()]))",
    re.ASCII | re.IGNORECASE,
)
_SPELLING = str.maketrans(
    {
        "\u00d7": "*",
        "\u00b7": "*",
        "\u22c5": "*",
        "\u00f7": "/",
        "\u2212": "-",
        "\u2013": "-",
        "\u00a0": " ",
        "\u2009": " ",
        "\u202f": " ",
    }
)


class Undecided(ArithmeticError):
    """The expression has no value that can be told; the message says why."""


class _TooCoarse(Undecided):
    """What is divided by can't be told from zero yet: more bits are needed."""


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    at: int


@dataclass(frozen=True)
class Number:
    """A number."""

    value: Fraction


@dataclass(frozen=True)
class Negative:
    """The negative of an expression."""

    body: Node


@dataclass(frozen=True)
class Root:
    """The square root of an expression."""

    body: Node


@dataclass(frozen=True)
class Chain:
    """Terms added up, or factors multiplied: the first, then each with its sign."""

    first: Node
    rest: tuple[tuple[str, Node], ...]


Node = Number | Negative | Root | Chain


def parsed(expression: str) -> Node:
    """An expression as a tree; what can't be read is refused with its position."""
    if len(expression) > LONGEST:
        raise InputError(
            f"the expression has {len(expression):,} characters; {LONGEST:,} are allowed"
        )
    return _Parser(expression).whole()


class _Parser:
    def __init__(self, expression: str) -> None:
        self._expression = expression
        self._tokens = list(self._split(expression.translate(_SPELLING)))
        self._next = 0
        self._depth = 0

    def _split(self, text: str) -> Iterator[_Token]:
        at = 0
        while text[at:].strip():
            found = _TOKEN.match(text, at)
            if found is None:
                at += len(text[at:]) - len(text[at:].lstrip())
                raise self._error(f"{text[at]!r} can't be read here", at)
            kind = found.lastgroup or ""
            yield _Token(kind, found[kind], found.start(kind))
            at = found.end()

    def _error(self, what: str, at: int) -> InputError:
        shown = self._expression if len(self._expression) <= 80 else self._expression[:77] + "..."
        return InputError(
            f"arithmetic {shown!r}, character {at + 1}: {what}; expected numbers, + - * /, sqrt "
            f"and parentheses"
        )

    def _peek(self) -> _Token:
        if self._next < len(self._tokens):
            return self._tokens[self._next]
        return _Token("end", "", len(self._expression))

    def _take(self) -> _Token:
        token = self._peek()
        self._next += 1
        return token

    def whole(self) -> Node:
        found = self._sum()
        token = self._peek()
        if token.kind != "end":
            what = "an operator is missing" if token.text != ")" else "no ( belongs to this )"
            raise self._error(what, token.at)
        return found

    def _sum(self) -> Node:
        return self._chain("+-", lambda: self._chain("*/", self._signed))

    def _chain(self, signs: str, part: Callable[[], Node]) -> Node:
        first = part()
        rest = []
        while self._peek().kind == "sign" and self._peek().text in signs:
            sign = self._take().text
            rest.append((sign, part()))
        return Chain(first, tuple(rest)) if rest else first

    def _signed(self) -> Node:
        token = self._take()
        if token.kind == "number":
            return Number(Fraction(token.text.replace(",", "")))
        self._depth += 1
        if self._depth > DEEPEST:
            raise self._error(f"nested more than {DEEPEST} deep", token.at)
        if token.text in ("-", "+"):
            body = self._signed()
            found = Negative(body) if token.text == "-" else body
        elif token.kind == "root":
            found = Root(self._under_root(token))
        elif token.text == "(":
            found = self._inside(token)
        elif token.kind == "end":
            raise self._error("it ends too early", token.at)
        else:
            raise self._error(f"{token.text!r} can't stand here", token.at)
        self._depth -= 1
        return found

    def _under_root(self, token: _Token) -> Node:
        following = self._take()
        if following.text == "(":
            return self._inside(following)
        if token.text == "\u221a" and following.kind == "number":
            return Number(Fraction(following.text.replace(",", "")))
        raise self._error("sqrt needs parentheses", following.at)

    def _inside(self, opening: _Token) -> Node:
        found = self._sum()
        if self._take().text != ")":
            raise self._error("this ( is never closed", opening.at)
        return found


def value_of(node: Node, bits: int) -> Exact:
    """The value, with roots enclosed to so many bits."""
    match node:
        case Number(value):
            return Exact.of(value)
        case Negative(body):
            found = value_of(body, bits)
            return Exact(-found.high, -found.low)
        case Root(body):
            found = value_of(body, bits)
            if found.high < 0:
                raise Undecided("the root of a negative number")
            low, high = max(found.low, Fraction(0)), found.high
            return Exact(Exact.root(low, bits).low, Exact.root(high, bits).high)
        case Chain(first, rest):
            found = value_of(first, bits)
            for sign, part in rest:
                found = _joined(found, sign, value_of(part, bits))
            return found


def _joined(a: Exact, sign: str, b: Exact) -> Exact:
    if sign == "+":
        return Exact(a.low + b.low, a.high + b.high)
    if sign == "-":
        return Exact(a.low - b.high, a.high - b.low)
    if sign == "/":
        if b.low == b.high == 0:
            raise Undecided("a division by zero")
        if b.low <= 0 <= b.high:
            raise _TooCoarse("a division by what can't be told from zero")
        b = Exact(1 / b.high, 1 / b.low)
    corners = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
    return Exact(min(corners), max(corners))


def evaluated(expression: str, within: Fraction) -> Exact:
    """The exact value, its roots as close as ``within`` where that is possible.

    >>> float(evaluated("(6,635*7,743 - 167*324)/2", Fraction(1)))
    25660348.5
    """
    tree = parsed(expression)
    bits = _FIRST_BITS
    while True:
        try:
            found = value_of(tree, bits)
        except _TooCoarse:
            if bits >= _LAST_BITS:
                raise
        else:
            if found.high - found.low <= within or bits >= _LAST_BITS:
                return found
        bits *= 2


def judge_calculation(calculation: Calculation) -> Judged:
    """A line of arithmetic against the number that it is said to give."""
    key, reported = calculation.expression, calculation.reported
    try:
        exact = evaluated(key, reported.unit / 10**6)
    except Undecided as why:
        said = f"nothing to hold it against: {why}"
        return Judged(key, None, reported.text, None, Verdict.UNDETERMINED, said)
    held = hold(reported, exact, "")
    recomputed = float(exact)
    return Judged(
        key,
        None,
        reported.text,
        recomputed if math.isfinite(recomputed) else None,
        held.verdict,
        f"it gives {held.said}",
    )
