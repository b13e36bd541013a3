"""Quantities bound to each other by identities, and what some of them leave for the others.

Each quantity has a range. An identity narrows the range of what it gives to what its arguments
allow, and the range of each argument to what the result allows, until nothing moves. What is left
holds every possible value: an empty range is a proof that the numbers can't be true together. All
steps are widened by more than float64 loses.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from assay.formula.tree import (
    Add,
    Cell,
    Constant,
    Divide,
    Expression,
    Multiply,
    Root,
    TimesLog,
    cells,
)

Range: TypeAlias = tuple[float, float]
Function: TypeAlias = Callable[[Sequence[float]], float]

WIDER = 1e-11
_HALVINGS = 30
_MOST_STEPS = 1000
# A range that shrinks by less than this share of itself is left as it is.
_WORTH = 0.05
# The end of a range is looked for until no more than this share of the range could be gained.
_CLOSE = 0.001


class Impossible(ArithmeticError):
    """No value is left for a quantity."""


@dataclass(frozen=True)
class Relation:
    """A quantity as a function of others, monotone in each of them while the others stay.

    With ``high`` the quantity lies between ``low`` and ``high`` of the arguments. ``words`` is the
    identity as a sentence says it. ``rising`` ones rise with every argument.
    """

    of: str
    args: tuple[str, ...]
    low: Function
    words: str
    high: Function | None = None
    rising: bool = False

    def image(self, ranges: Sequence[Range]) -> Range:
        """All values that the arguments allow, from their corners."""
        if self.rising:
            corners = [tuple(each[0] for each in ranges), tuple(each[1] for each in ranges)]
        else:
            corners = list(itertools.product(*(r if r[0] < r[1] else r[:1] for r in ranges)))
        try:
            lows = [self.low(corner) for corner in corners]
            highs = lows if self.high is None else [self.high(corner) for corner in corners]
        except ZeroDivisionError:
            return -math.inf, math.inf
        return _widened(min(lows), max(highs))


def _widened(low: float, high: float) -> Range:
    return low - WIDER * max(1.0, abs(low)), high + WIDER * max(1.0, abs(high))


def settle(ranges: Mapping[str, Range], relations: Sequence[Relation]) -> dict[str, Range]:
    """What the identities leave of each range; raises :class:`Impossible` where nothing is."""
    box = dict(ranges)
    by_quantity: dict[str, list[int]] = {}
    for i, relation in enumerate(relations):
        for name in {relation.of, *relation.args}:
            by_quantity.setdefault(name, []).append(i)
    waiting = dict.fromkeys(range(len(relations)))
    for _ in range(_MOST_STEPS):
        if not waiting:
            break
        i = next(iter(waiting))
        del waiting[i]
        for name in _narrow(box, relations[i]):
            waiting.update(dict.fromkeys(j for j in by_quantity[name] if j != i))
    return box


def _narrow(box: dict[str, Range], relation: Relation) -> list[str]:
    """Apply one identity in all directions; the names of what became clearly narrower."""
    moved = []
    ranges = [box[name] for name in relation.args]
    if _meet(box, relation.of, relation.image(ranges)):
        moved.append(relation.of)
    for k, name in enumerate(relation.args):
        ranges = [box[each] for each in relation.args]
        if _meet(box, name, _shaved(relation, ranges, k, box[relation.of])):
            moved.append(name)
    return moved


def _meet(box: dict[str, Range], name: str, found: Range) -> bool:
    low, high = box[name]
    new = max(low, found[0]), min(high, found[1])
    if new[0] > new[1]:
        raise Impossible(name)
    if new == (low, high):
        return False
    box[name] = new
    return not high - low < math.inf or (high - low) - (new[1] - new[0]) > _WORTH * (high - low)


def _shaved(relation: Relation, ranges: list[Range], k: int, result: Range) -> Range:
    """The range of one argument without the ends that can't give the result."""

    def excluded(low: float, high: float) -> bool:
        here = [*ranges[:k], (low, high), *ranges[k + 1 :]]
        image = relation.image(here)
        return image[0] > result[1] or image[1] < result[0]

    def last_excluded(start: float, end: float) -> float:
        """How far from one end all is excluded, closely enough beside what is left."""
        if excluded(*sorted((start, end))):
            raise Impossible(relation.args[k])
        good, bad = start, end
        for _ in range(_HALVINGS):
            if abs(bad - good) <= max(_CLOSE * abs(end - bad), WIDER):
                break
            middle = (good + bad) / 2
            good, bad = (middle, bad) if excluded(*sorted((start, middle))) else (good, middle)
        return good

    low, high = ranges[k]
    if excluded(low, low):
        low = last_excluded(low, high)
    if excluded(high, high):
        high = last_excluded(high, low)
    return low, high


# -- expressions as functions of floats ------------------------------------------------------------


@lru_cache(maxsize=1024)
def function_of(expression: Expression) -> Function:
    """An expression as a function of its cells, in the order of their names.

    What is divided by nothing is endless.

    >>> function_of(Cell("a") / (Cell("a") + Cell("b")))((1.0, 3.0))
    0.25
    """
    places = {name: i for i, name in enumerate(sorted(cells(expression)))}
    return _compiled(expression, places)


def _compiled(expression: Expression, places: Mapping[str, int]) -> Function:
    match expression:
        case Cell(name):
            return operator.itemgetter(places[name])
        case Constant(number):
            value = number.numerator / number.denominator
            return lambda _: value
        case Add(terms):
            return _folded(terms, places, operator.add)
        case Multiply(factors):
            return _folded(factors, places, operator.mul)
        case Divide(numerator, denominator):
            top, bottom = _compiled(numerator, places), _compiled(denominator, places)
            return lambda values: _ratio(top(values), bottom(values))
        case Root(radicand):
            inside = _compiled(radicand, places)
            return lambda values: math.sqrt(max(inside(values), 0.0))
        case TimesLog(factor, argument):
            times, inner = _compiled(factor, places), _compiled(argument, places)
            return lambda values: _times_log(times(values), inner, values)
    raise TypeError(f"no function of {expression!r}")


def _folded(
    parts: Sequence[Expression],
    places: Mapping[str, int],
    combined: Callable[[float, float], float],
) -> Function:
    first = _compiled(parts[0], places)
    for part in parts[1:]:
        first = _pair(first, _compiled(part, places), combined)
    return first


def _pair(one: Function, other: Function, combined: Callable[[float, float], float]) -> Function:
    return lambda values: combined(one(values), other(values))


def _times_log(times: float, inner: Function, values: Sequence[float]) -> float:
    return times * math.log(inner(values)) if times else 0.0


def _ratio(top: float, bottom: float) -> float:
    if bottom:
        return top / bottom
    if top:
        return math.copysign(math.inf, top)
    raise ZeroDivisionError("0/0")
