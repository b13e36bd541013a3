"""A reported number as conditions on an unknown matrix: the ways in which a matrix may give it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.decisions.audit.keys import Meaning
from assay.decisions.audit.printed import Printed, Window, as_float, exact
from assay.formula import (
    Bounds,
    Expression,
    bounds_along,
    cells,
    denominators,
    evaluate,
    over_two_classes,
)
from assay.inference import Quantity

Floats: TypeAlias = npt.NDArray[np.float64]
Booleans: TypeAlias = npt.NDArray[np.bool_]
# The cells that a formula of one label, or (None) of all classes, is read on.
Cells: TypeAlias = Callable[[int | None], Mapping[str, Any]]
# Bounds of a formula of one label over many boxes of matrices.
Boxed: TypeAlias = Callable[[Quantity], Bounds]

# Far above what float64 loses in a formula of counts, far below what is printed.
_SLACK = 1e-11
# Values too close to the end of a window for float64 are looked at exactly, at most so many.
_MOST_EXACT = 2000


@dataclass(frozen=True, eq=False)
class ByFormula:
    """The formula of a meaning has to lie where the digits say."""

    meaning: Meaning
    quantity: Quantity
    printed: Printed

    def may_hold(self, boxed: Boxed, *, rounded: bool) -> Booleans:
        """In which boxes it may."""
        window = self.printed.window(rounded=rounded)
        found = _meets(boxed(self.quantity), window)
        if self.meaning.average is None and not fills_undefined(window):
            return found
        for denominator in self._denominators:
            found = found | (boxed(denominator).low <= 0)
        return found

    @cached_property
    def _denominators(self) -> tuple[Quantity, ...]:
        """What the formula divides by, in the cells of one label."""
        expression, label = self.quantity.expression, self.quantity.label
        if label is None:
            expression, label = over_two_classes(expression), 1
        return tuple(Quantity(below, label) for below in denominators(expression))

    def holds(self, cells_of: Cells, *, rounded: bool) -> Booleans:
        """For which matrices it does, exactly."""
        window = self.printed.window(rounded=rounded)
        given = cells_of(self.quantity.label)
        value = evaluate(self.quantity.expression, given)
        low, high = as_float(window.low), as_float(window.high)
        reach = _SLACK * max(1.0, abs(low), abs(high))
        found = (value > low + reach) & (value < high - reach)
        close = np.flatnonzero(~found & (value >= low - reach) & (value <= high + reach))
        # Equal floats are equal numbers here, so one of them tells for all.
        _, first, which = np.unique(value[close], return_index=True, return_inverse=True)
        if len(first) > _MOST_EXACT:
            found[close] = True
            return found
        answers = [self._exactly(given, int(close[i]), window) for i in first]
        found[close] = np.array(answers, bool)[which.reshape(-1)]
        undefined = np.isnan(value)
        if undefined.any():
            found |= undefined & self._filled(given, window)
        return found

    def _filled(self, given: Mapping[str, Any], window: Window) -> Booleans:
        """Where the formula is undefined: whether what libraries put there may be printed so.

        They put 0 or 1 there, or leave the class out of an average.
        """
        formula = self.meaning.measure.formula
        if self.meaning.average not in ("macro", "weighted") or formula is None:
            return np.asarray(fills_undefined(window))
        hit, row, column = (np.asarray(given[name], float) for name in ("HIT", "ROW", "COL"))
        rest = np.asarray(given["N"], float)[..., None] - row - column + hit
        of_each = {"TP": hit, "FP": column - hit, "FN": row - hit, "TN": rest}
        values = np.asarray(evaluate(formula, of_each))
        weights = row if self.meaning.average == "weighted" else np.ones_like(row)
        undefined = np.isnan(values)
        found = np.zeros(len(values), bool)
        for end, of_undefined in ((0.0, 1.0), (1.0, 1.0), (0.0, 0.0)):
            kept = np.where(undefined, of_undefined * weights, weights)
            total = (np.where(undefined, end, values) * kept).sum(axis=-1)
            with np.errstate(invalid="ignore"):
                mean = total / kept.sum(axis=-1)
            found |= _meets(Bounds(mean - _SLACK, mean + _SLACK), window)
        return found

    def _exactly(self, given: Mapping[str, Any], i: int, window: Window) -> bool:
        value = exact(self.quantity.expression, one_of(given, i))
        return value is not None and window.holds(value.low, value.high)


@dataclass(frozen=True, eq=False)
class ByScores:
    """A measure of scores, of which the operating point only tells bounds."""

    meaning: Meaning
    low: Quantity | None
    high: Quantity | None
    printed: Printed

    def may_hold(self, boxed: Boxed, *, rounded: bool) -> Booleans:  # noqa: ARG002
        """In which boxes the bounds may allow it."""
        window = self.printed.window(rounded=False)
        found = np.ones((), bool)
        if self.low is not None:
            found = found & (boxed(self.low).low <= _up(window.high))
        if self.high is not None:
            found = found & (boxed(self.high).high >= _down(window.low))
        return found

    def holds(self, cells_of: Cells, *, rounded: bool) -> Booleans:  # noqa: ARG002
        """For which matrices they do; what float64 can't tell is allowed."""
        window = self.printed.window(rounded=False)
        found = np.ones((), bool)
        for quantity, sign, end in ((self.low, 1, window.high), (self.high, -1, window.low)):
            if quantity is not None:
                value = evaluate(quantity.expression, cells_of(quantity.label))
                found = found & (sign * value <= sign * as_float(end) + _SLACK)
        return found


@dataclass(frozen=True, eq=False)
class ByRounded:
    """Worked out from the rounded values of other numbers, each within some units of the truth."""

    meaning: Meaning
    expression: Expression
    sources: Mapping[str, Quantity]
    reach: Mapping[str, float]
    printed: Printed

    def may_hold(self, boxed: Boxed, *, rounded: bool) -> Booleans:
        """In which boxes it may."""
        return self._may(boxed, rounded=rounded)

    def holds(self, cells_of: Cells, *, rounded: bool) -> Booleans:
        """For which matrices it may; a rounded value can't be told closer."""

        def at(quantity: Quantity) -> Bounds:
            value = evaluate(quantity.expression, cells_of(quantity.label))
            return Bounds(value, value)

        return self._may(at, rounded=rounded)

    def _may(self, boxed: Boxed, *, rounded: bool) -> Booleans:
        spans = {}
        for name, quantity in self.sources.items():
            low, high = boxed(quantity)
            spans[name] = low - self.reach[name], high + self.reach[name]
        names = sorted(cells(self.expression))

        def at(ends: Sequence[Any]) -> dict[str, tuple[Any, Any]]:
            return {
                name: spans[name]
                if end is None
                else (
                    np.where(end == 1, spans[name][1], spans[name][0]),
                    np.where(end == 0, spans[name][0], spans[name][1]),
                )
                for name, end in zip(names, ends, strict=True)
            }

        found = bounds_along(self.expression, [((name, 1),) for name in names], at)
        defined = [~np.isnan(spans[name][0]) for name in names]
        met = _meets(found, self.printed.window(rounded=rounded))
        return np.asarray(np.logical_and.reduce([met, *np.broadcast_arrays(*defined)]))


Way: TypeAlias = ByFormula | ByScores | ByRounded


def fills_undefined(window: Window) -> bool:
    """Whether 0 or 1 is printed so, which libraries put where a ratio is undefined."""
    return any(window.holds(Fraction(end), Fraction(end)) for end in (0, 1))


def one_of(given: Mapping[str, Any], i: int) -> dict[str, Any]:
    """The cells of one matrix of many, as plain integers."""
    found: dict[str, Any] = {}
    for name, column in given.items():
        array = np.asarray(column)
        value = array[i] if array.ndim else array
        found[name] = tuple(map(int, value)) if np.ndim(value) else int(value)
    return found


def _meets(found: Bounds, window: Window) -> Booleans:
    return np.asarray((found.low <= _up(window.high)) & (found.high >= _down(window.low)))


def _up(end: Any) -> float:
    return float(np.nextafter(as_float(end), np.inf))


def _down(end: Any) -> float:
    return float(np.nextafter(as_float(end), -np.inf))
