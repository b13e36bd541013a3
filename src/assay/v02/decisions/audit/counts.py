"""How many rows a claim has, its sizes against its cells, and its lines of plain arithmetic.

Arithmetic is ``+ - * / sqrt ( )`` and nothing else, by a small parser of its own; nothing is ever
handed to Python to run. Numbers are rationals. A root is enclosed between two rationals, which are
brought closer until the printed digits can be judged.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from assay.v02.decisions.audit.claim import BINARY_CELLS, Calculation, Claim
from assay.v02.decisions.audit.verdicts import (
    Enclosure,
    JudgedNumber,
    NumberVerdict,
    Printed,
    as_float,
    hold,
    printed,
)
from assay.errors import InputError
from assay.v02.tally import Confusion

SIZE = "n"


@dataclass(frozen=True)
class FilledClaim:
    """A claim whose missing cells are filled in as far as its sizes tell them, and by which."""

    claim: Claim
    used: Mapping[str, str]


def filled(claim: Claim) -> FilledClaim:
    """Fill in missing cells of a binary claim that its supports or its size leave no choice for."""
    if claim.matrix is not None or not claim.cells or not claim.binary:
        return FilledClaim(claim, {})
    cells, used = dict(claim.cells), {}
    for size, names, total in _equations(claim) * 2:
        missing = [name for name in names if name not in cells]
        rest = total - sum(cells.get(name, 0) for name in names)
        if len(missing) == 1 and rest >= 0:
            cells[missing[0]] = rest
            used[size] = missing[0]
    if not used:
        return FilledClaim(claim, {})
    notes = tuple(f"{cell} = {cells[cell]:,} was filled in from {s}" for s, cell in used.items())
    matrix = None
    if len(cells) == len(BINARY_CELLS):
        matrix = Confusion(claim.labels, ((cells["tn"], cells["fp"]), (cells["fn"], cells["tp"])))
    return FilledClaim(replace(claim, cells=cells, matrix=matrix, notes=claim.notes + notes), used)


def _equations(claim: Claim) -> list[tuple[str, tuple[str, ...], int]]:
    """Sums of cells that are told: the rows of each label, and of all."""
    equations: list[tuple[str, tuple[str, ...], int]] = []
    for label, names in zip(claim.labels, (("tn", "fp"), ("fn", "tp")), strict=True):
        if label in claim.support:
            equations.append((_support(label), names, claim.support[label]))
    if claim.n is not None and claim.n.unit == 1 and claim.n.value.denominator == 1:
        equations.append((SIZE, BINARY_CELLS, int(claim.n.value)))
    return equations


def rows_of(claim: Claim) -> dict[str, int]:
    """How many rows each label has, as far as that is told."""
    if claim.matrix is not None:
        return dict(zip(claim.labels, claim.matrix.rows, strict=True))
    return dict(claim.support)


def total_of(claim: Claim) -> int | None:
    """How many rows there are: by the matrix, all supports, or the stated size."""
    rows = rows_of(claim)
    if rows and set(rows) == set(claim.labels):
        return sum(rows.values())
    if claim.n is not None and claim.n.value.denominator == 1:
        return int(claim.n.value)
    return None


def judge_sizes(claim: Claim, used: Mapping[str, str]) -> list[JudgedNumber]:
    """The stated size, and supports beside a matrix, against the cells."""
    sizes = []
    if claim.n is not None:
        sizes.append(_judged_size(claim, claim.n, used))
    for label, names in zip(claim.labels, _rows(claim), strict=False):
        key = _support(label)
        if label in claim.support and names and key not in used:
            stated = printed(claim.support[label])
            sizes += _against_cells(key, stated, names, claim)
    return sizes


def _rows(claim: Claim) -> Iterable[tuple[str, ...]]:
    """The cells of each label's row, by name; for K classes just the labels."""
    if claim.binary and claim.cells:
        return ("tn", "fp"), ("fn", "tp")
    return ((label,) for label in claim.labels) if claim.matrix is not None else ()


def _judged_size(claim: Claim, stated: Printed, used: Mapping[str, str]) -> JudgedNumber:
    if SIZE in used:
        said = f"not judged: {used[SIZE]} was filled in from it"
        return JudgedNumber(SIZE, None, stated.text, None, NumberVerdict.UNDETERMINED, said)
    if claim.matrix is not None:
        total, what = claim.matrix.total, "the sum of the cells"
    elif claim.support and set(claim.support) == set(claim.labels):
        total, what = sum(claim.support.values()), "the sum of the supports"
    elif claim.cells and sum(claim.cells.values()) > stated.value + stated.unit:
        return _too_many(SIZE, stated, sum(claim.cells.values()))
    else:
        said = "there are no counts to hold it against"
        return JudgedNumber(SIZE, None, stated.text, None, NumberVerdict.UNDETERMINED, said)
    return _held(SIZE, stated, total, what)


def _against_cells(
    key: str, stated: Printed, names: tuple[str, ...], claim: Claim
) -> list[JudgedNumber]:
    if claim.matrix is not None:
        label = key.removeprefix(_support(""))
        return [_held(key, stated, rows_of(claim)[label], "the sum of its row")]
    known = [claim.cells[name] for name in names if name in claim.cells]
    return [_too_many(key, stated, sum(known))] if sum(known) > stated.value else []


def _held(key: str, stated: Printed, total: int, what: str) -> JudgedNumber:
    held = hold(stated, Enclosure.of(total), what)
    return JudgedNumber(key, None, stated.text, as_float(Fraction(total)), held.verdict, held.said)


def _too_many(key: str, stated: Printed, known: int) -> JudgedNumber:
    said = f"the cells that are given already add up to {known:,}"
    return JudgedNumber(key, None, stated.text, None, NumberVerdict.INCONSISTENT, said)


def _support(label: str) -> str:
    return f"support.{label}"


# -- arithmetic ------------------------------------------------------------------------------------

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


class _TooFewBits(Undecided):
    """What is divided by can't be told from zero yet: more bits are needed."""


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    at: int


@dataclass(frozen=True)
class Literal:
    """A number."""

    value: Fraction


@dataclass(frozen=True)
class Negative:
    """The negative of an expression."""

    body: Node


@dataclass(frozen=True)
class SquareRoot:
    """The square root of an expression."""

    body: Node


@dataclass(frozen=True)
class Chain:
    """Terms added up, or factors multiplied: the first, then each with its sign."""

    first: Node
    rest: tuple[tuple[str, Node], ...]


Node = Literal | Negative | SquareRoot | Chain


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
            match = _TOKEN.match(text, at)
            if match is None:
                at += len(text[at:]) - len(text[at:].lstrip())
                raise self._error(f"{text[at]!r} can't be read here", at)
            kind = match.lastgroup or ""
            yield _Token(kind, match[kind], match.start(kind))
            at = match.end()

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
        node = self._sum()
        token = self._peek()
        if token.kind != "end":
            what = "an operator is missing" if token.text != ")" else "no ( belongs to this )"
            raise self._error(what, token.at)
        return node

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
            return Literal(Fraction(token.text.replace(",", "")))
        self._depth += 1
        if self._depth > DEEPEST:
            raise self._error(f"nested more than {DEEPEST} deep", token.at)
        if token.text in ("-", "+"):
            body = self._signed()
            node = Negative(body) if token.text == "-" else body
        elif token.kind == "root":
            node = SquareRoot(self._under_root(token))
        elif token.text == "(":
            node = self._inside(token)
        elif token.kind == "end":
            raise self._error("it ends too early", token.at)
        else:
            raise self._error(f"{token.text!r} can't stand here", token.at)
        self._depth -= 1
        return node

    def _under_root(self, token: _Token) -> Node:
        following = self._take()
        if following.text == "(":
            return self._inside(following)
        if token.text == "\u221a" and following.kind == "number":
            return Literal(Fraction(following.text.replace(",", "")))
        raise self._error("sqrt needs parentheses", following.at)

    def _inside(self, opening: _Token) -> Node:
        node = self._sum()
        if self._take().text != ")":
            raise self._error("this ( is never closed", opening.at)
        return node


def value_of(node: Node, bits: int) -> Enclosure:
    """The value, with roots enclosed to so many bits."""
    match node:
        case Literal(value):
            return Enclosure.of(value)
        case Negative(body):
            enclosure = value_of(body, bits)
            return Enclosure(-enclosure.high, -enclosure.low)
        case SquareRoot(body):
            enclosure = value_of(body, bits)
            if enclosure.high < 0:
                raise Undecided("the root of a negative number")
            low, high = max(enclosure.low, Fraction(0)), enclosure.high
            return Enclosure(Enclosure.root(low, bits).low, Enclosure.root(high, bits).high)
        case Chain(first, rest):
            enclosure = value_of(first, bits)
            for sign, part in rest:
                enclosure = _joined(enclosure, sign, value_of(part, bits))
            return enclosure


def _joined(a: Enclosure, sign: str, b: Enclosure) -> Enclosure:
    if sign == "+":
        return Enclosure(a.low + b.low, a.high + b.high)
    if sign == "-":
        return Enclosure(a.low - b.high, a.high - b.low)
    if sign == "/":
        if b.low == b.high == 0:
            raise Undecided("a division by zero")
        if b.low <= 0 <= b.high:
            raise _TooFewBits("a division by what can't be told from zero")
        b = Enclosure(1 / b.high, 1 / b.low)
    corners = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
    return Enclosure(min(corners), max(corners))


def evaluated(expression: str, within: Fraction) -> Enclosure:
    """The exact value, its roots as close as ``within`` where that is possible.

    >>> float(evaluated("(6,635*7,743 - 167*324)/2", Fraction(1)))
    25660348.5
    """
    tree = parsed(expression)
    bits = _FIRST_BITS
    while True:
        try:
            enclosure = value_of(tree, bits)
        except _TooFewBits:
            if bits >= _LAST_BITS:
                raise
        else:
            if enclosure.high - enclosure.low <= within or bits >= _LAST_BITS:
                return enclosure
        bits *= 2


def judge_calculation(calculation: Calculation) -> JudgedNumber:
    """A line of arithmetic against the number that it is said to give."""
    key, reported = calculation.expression, calculation.reported
    try:
        exact = evaluated(key, reported.unit / 10**6)
    except Undecided as why:
        said = f"nothing to hold it against: {why}"
        return JudgedNumber(key, None, reported.text, None, NumberVerdict.UNDETERMINED, said)
    held = hold(reported, exact, "")
    recomputed = float(exact)
    return JudgedNumber(
        key,
        None,
        reported.text,
        recomputed if math.isfinite(recomputed) else None,
        held.verdict,
        f"it gives {held.said}",
    )
