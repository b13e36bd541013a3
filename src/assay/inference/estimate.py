"""A number with its uncertainty, and the quantity that it is a number of.

A quantity is a formula, and which part of a confusion matrix it is read on.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.counts import Confusion
from assay.errors import InputError
from assay.formula import Expression, K, cells, derivative, evaluate, reason, value
from assay.formula.one_table import NumberOf, number, once
from assay.text import MOST_DECIMALS, decimal


class Estimate(float):
    """A value that is a float, and carries its interval, method and size.

    ``undefined`` is the reason why there is no value, ``note`` whatever else should be said, such
    as why there is no interval. ``n`` is how many rows the value rests on, ``parts`` steps on the
    way that people ask for. ``bound`` is between which values it lies for sure where scores are
    kept as a grid; None where the value is exact.

    >>> precision = Estimate(0.975, 0.971, 0.979, method="wilson", n=6802, level=0.95)
    >>> precision
    0.975 [0.971, 0.979]
    >>> 1 - precision == 1 - 0.975
    True
    """

    __slots__ = ("bound", "high", "level", "low", "method", "n", "note", "parts", "undefined")

    low: float
    high: float
    method: str
    n: float
    level: float
    undefined: str | None
    note: str | None
    parts: Mapping[str, float]
    bound: tuple[float, float] | None

    def __new__(  # noqa: D102 - the class says it
        cls,
        value: float,
        low: float = math.nan,
        high: float = math.nan,
        *,
        method: str = "",
        n: float = 0,
        level: float = 0.95,
        undefined: str | None = None,
        note: str | None = None,
        parts: Mapping[str, float] | None = None,
        bound: tuple[float, float] | None = None,
    ) -> Estimate:
        self = super().__new__(cls, value)
        fields = {
            "low": float(low),
            "high": float(high),
            "method": method,
            "n": n,
            "level": level,
            "undefined": undefined,
            "note": note,
            "parts": dict(parts or {}),
            "bound": bound,
        }
        for name, given in fields.items():
            object.__setattr__(self, name, given)
        return self

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"an estimate is frozen: {name} can't be deleted")

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"an estimate is frozen: {name} can't be set")

    @property
    def value(self) -> float:
        """The plain number."""
        return float(self)

    def changed(self, value: float | None = None, **fields: Any) -> Estimate:
        """The same estimate with another value or other fields."""
        kept = {name: getattr(self, name) for name in self.__slots__}
        return Estimate(float(self) if value is None else value, **{**kept, **fields})

    def bounded(self, low: float, high: float) -> Estimate:
        """The same estimate with bounds, which its interval is widened to hold.

        >>> Estimate(0.975, 0.971, 0.979).bounded(0.974, 0.98)
        0.975 [0.971, 0.980]
        """
        low, high = min(low, float(self)), max(high, float(self))
        if math.isnan(self.low) or math.isnan(self.high):
            return self.changed(bound=(low, high))
        return self.changed(low=min(self.low, low), high=max(self.high, high), bound=(low, high))

    def __reduce__(self) -> tuple[Any, ...]:
        fields = {name: getattr(self, name) for name in self.__slots__}
        return _rebuilt, (float(self), fields)

    def __repr__(self) -> str:
        return self.text()

    def __str__(self) -> str:
        return self.text()

    def text(self, digits: int = 3) -> str:
        """The value and its interval, or why there is none."""
        if type(digits) is not int or not 0 <= digits < MOST_DECIMALS:
            raise InputError(
                f"digits= is a whole number from 0 to {MOST_DECIMALS - 1}; found {digits!r}"
            )
        if math.isnan(self):
            return f"undefined: {self.undefined}" if self.undefined else "undefined"
        value, low, high = (decimal(end, digits) for end in (float(self), self.low, self.high))
        if math.isnan(self.low) and math.isnan(self.high):
            return value
        return f"{value} [{low}, {high}]"


def _rebuilt(value: float, fields: dict[str, Any]) -> Estimate:
    low, high = fields.pop("low"), fields.pop("high")
    return Estimate(value, low, high, **fields)


# -- quantities ------------------------------------------------------------------------------------

Floats: TypeAlias = npt.NDArray[np.float64]

_derivative = lru_cache(maxsize=4096)(derivative)


@once
def slopes_of(expression: Expression) -> dict[str, NumberOf]:
    """The derivative of a formula by each cell that it has, as functions of one table."""
    held = cells(expression) - {K.name}
    return {cell: number(derivative(expression, cell)) for cell in sorted(held)}


@dataclass(frozen=True)
class Quantity:
    """A formula read on one label against the rest, or (``label`` None) on all classes.

    ``classes`` restricts sums over classes to some of them.
    """

    expression: Expression
    label: int | None = None
    classes: tuple[int, ...] | None = None

    def cells(self, confusion: Confusion) -> dict[str, Any]:
        """The cells that the formula is read on."""
        if self.label is not None:
            return confusion.one_versus_rest(self.label)
        cells_of_classes = confusion.class_cells()
        if self.classes is not None:
            for name in ("HIT", "ROW", "COL"):
                cells_of_classes[name] = tuple(cells_of_classes[name][i] for i in self.classes)
            cells_of_classes["K"] = len(self.classes)
        return cells_of_classes

    def value(self, confusion: Confusion) -> float:
        """The exact value, correctly rounded; nan where undefined."""
        return value(self.expression, self.cells(confusion))

    def reason(self, confusion: Confusion) -> str | None:
        """Why it is undefined, in words."""
        labels: Sequence[str] = confusion.labels
        if self.classes is not None:
            labels = [labels[i] for i in self.classes]
        return reason(self.expression, self.cells(confusion), labels)

    def of_table(self, table: Sequence[Sequence[float]]) -> float:
        """The value of one 2 x 2 table of floats: the same bits as of many."""
        return number(self.expression)(self._pairs(table), None)

    def slopes(self, table: Sequence[Sequence[float]]) -> tuple[float, float, float, float]:
        """The derivative by each cell of one 2 x 2 table of floats, row by row."""
        columns, by = self._pairs(table), slopes_of(self.expression)
        if self.label is not None:
            slopes = {cell: slope(columns, None) for cell, slope in by.items()}
            true, missed = slopes.get("TP", 0.0), slopes.get("FN", 0.0)
            false, rest = slopes.get("FP", 0.0), slopes.get("TN", 0.0)
            return (rest, false, missed, true) if self.label else (true, missed, false, rest)
        hit, row, column = (
            (by[cell](columns, 0), by[cell](columns, 1)) if cell in by else (0.0, 0.0)
            for cell in ("HIT", "ROW", "COL")
        )
        whole = by["N"](columns, None) if "N" in by else 0.0
        return (
            hit[0] + row[0] + column[0] + whole,
            row[0] + column[1] + whole,
            row[1] + column[0] + whole,
            hit[1] + row[1] + column[1] + whole,
        )

    def _pairs(self, table: Sequence[Sequence[float]]) -> dict[str, Any]:
        """The cells of a 2 x 2 table; class cells as pairs."""
        (tn, fp), (fn, tp) = table
        if self.label is not None:
            if self.label == 0:
                tn, fp, fn, tp = tp, fn, fp, tn
            return {"TP": tp, "FP": fp, "FN": fn, "TN": tn}
        rows, columns = (tn + fp, fn + tp), (tn + fn, fp + tp)
        total = rows[0] + rows[1]
        return {"HIT": (tn, tp), "ROW": rows, "COL": columns, "N": total, "K": 2.0}

    def of_tables(self, tables: Floats) -> Floats:
        """The value of many K x K tables at once, K on both last axes."""
        return evaluate(self.expression, self._columns(tables))

    def gradient(self, table: Floats) -> Floats:
        """The derivative by each cell of a K x K table."""
        size = len(table)
        if size == 2:
            return np.array(self.slopes(table.tolist())).reshape(2, 2)
        columns = self._columns(table)

        def by(cell: str) -> Floats:
            if cell not in cells(self.expression):
                return np.zeros(())
            return evaluate(_derivative(self.expression, cell), columns)

        if self.label is not None:
            here = np.arange(size) == self.label
            true, decided = here[:, None], here[None, :]
            gradient = np.where(true & decided, by("TP"), 0.0)
            gradient += np.where(true & ~decided, by("FN"), 0.0)
            gradient += np.where(~true & decided, by("FP"), 0.0)
            return gradient + np.where(~true & ~decided, by("TN"), 0.0)
        chosen = np.arange(size) if self.classes is None else np.array(self.classes)

        def spread(cell: str) -> Floats:
            everywhere = np.zeros(size)
            everywhere[chosen] = by(cell)
            return everywhere

        gradient = np.diag(spread("HIT")) + spread("ROW")[:, None] + spread("COL")[None, :]
        return np.asarray(gradient + by("N"))

    def added(self, table: Floats) -> Floats:
        """What to add where the formula rests on empty cells, so that they are not taken as sure.

        Half a count to each cell of a binary table; for formulas over classes, half a hit and half
        an error to each class that has no hit or no error.
        """
        columns = self._columns(table)
        if self.label is not None:
            empty = any(columns[name] == 0 for name in cells(self.expression))
            return self.evenly(table) if empty else np.zeros_like(table)
        size = len(table)
        hits, chosen = np.diagonal(table), self._chosen(size)
        off = (1 - np.eye(size)) / (2 * max(size - 1, 1))
        added = np.zeros_like(table)
        sure = np.zeros(size, bool)
        for name, axis in (("ROW", 1), ("COL", 0)):
            if name in cells(self.expression):
                total = table.sum(axis=axis)
                bare = chosen & ((hits == 0) | (hits == total))
                added += off * (bare[:, None] if axis == 1 else bare[None, :])
                sure |= bare
        return np.asarray((added + np.diag(sure / 2)) * chosen[:, None])

    def evenly(self, table: Floats) -> Floats:
        """One count a row of the table, spread over its cells; none to a class that is left out."""
        size = len(table)
        return np.full((size, size), 1 / size) * self._chosen(size)[:, None]

    def _chosen(self, size: int) -> npt.NDArray[np.bool_]:
        if self.classes is None:
            return np.ones(size, bool)
        return np.isin(np.arange(size), self.classes)

    def _columns(self, tables: Floats) -> dict[str, Any]:
        if self.label is not None and tables.shape[-1] == 2:
            # Picked, not subtracted: large counts would swallow small ones.
            here, there = self.label, 1 - self.label
            return {
                "TP": tables[..., here, here],
                "FN": tables[..., here, there],
                "FP": tables[..., there, here],
                "TN": tables[..., there, there],
            }
        hits = np.diagonal(tables, axis1=-2, axis2=-1)
        rows, columns = tables.sum(axis=-1), tables.sum(axis=-2)
        total = rows.sum(axis=-1)
        if self.label is not None:
            hit, row, column = (side[..., self.label] for side in (hits, rows, columns))
            rest = total - row - column + hit
            return {"TP": hit, "FP": column - hit, "FN": row - hit, "TN": rest}
        if self.classes is not None:
            chosen = list(self.classes)
            hits, rows, columns = (side[..., chosen] for side in (hits, rows, columns))
        count = np.broadcast_to(np.float64(hits.shape[-1]), total.shape)
        return {"HIT": hits, "ROW": rows, "COL": columns, "N": total, "K": count}


def table_of(confusion: Confusion) -> Floats:
    """The cells as an array of floats."""
    return np.array(confusion.cells, dtype=np.float64)


def squares_of(confusion: Confusion) -> Floats:
    """The sums of squared weights; of plain counts, the counts."""
    cells = confusion.cells if confusion.squares is None else confusion.squares
    return np.array(cells, dtype=np.float64)
