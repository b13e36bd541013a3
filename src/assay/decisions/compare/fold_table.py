"""The values of several models over the same folds, from a table with a row a model and fold."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import InputError, LengthMismatch, UnknownMeasure
from assay.inference import Estimate
from assay.inference.quantiles import student
from assay.measures.catalogue import parse
from assay.sources import columns_of, label_text
from assay.sources.columns import array_of

Floats: TypeAlias = npt.NDArray[np.float64]
Fold: TypeAlias = tuple[str, str]  # repeat and fold

KEYS = ("model", "repeat", "fold", "n_train", "n_test")


@dataclass(frozen=True, eq=False)
class FoldTable:
    """Values by measure, a row a fold and a column a model; folds in the order of their names."""

    models: tuple[str, ...]
    folds: tuple[Fold, ...]
    n_train: float
    n_test: float
    values: Mapping[str, Floats]
    undefined: Mapping[str, str]

    @classmethod
    def of(cls, table: Any) -> FoldTable:
        """Check the columns, and that all models have the same folds."""
        columns = _columns(table)
        rows = [
            (name, (repeat, fold))
            for name, repeat, fold in zip(
                *([_text(value) for value in columns[key].tolist()] for key in KEYS[:3]),
                strict=True,
            )
        ]
        models = tuple(dict.fromkeys(name for name, _ in rows))
        folds = tuple(sorted({fold for _, fold in rows}, key=_natural))
        if len(models) < 2:
            raise InputError(
                f"a comparison needs two models or more; column model holds {', '.join(models)}"
            )
        if len(folds) < 2:
            raise InputError("one fold tells nothing about the spread between folds")
        at = _positions(rows, models, folds)
        numbers = {name: _numbers(columns[name], name) for name in columns if name not in KEYS[:3]}
        grid = {name: column[at] for name, column in numbers.items()}
        sizes = [_sizes(grid.pop(name), name, models, folds) for name in KEYS[3:]]
        if not grid:
            raise InputError(f"there is no measure: all columns are among {', '.join(KEYS)}")
        undefined = {name: _undefined(values, models, folds) for name, values in grid.items()}
        values = {name: found for name, found in grid.items() if undefined[name] is None}
        odd = {name: where for name, where in undefined.items() if where is not None}
        if not values:
            name, where = next(iter(odd.items()))
            raise InputError(f"no measure has a value in every fold: {name} has none for {where}")
        return cls(models, folds, sizes[0], sizes[1], values, odd)

    @property
    def five_by_two(self) -> bool:
        """Whether these are five repeats of two folds."""
        repeats = [repeat for repeat, _ in self.folds]
        return len(repeats) == 10 and all(repeats.count(repeat) == 2 for repeat in repeats)

    def estimates(self, model: str, level: float) -> Iterator[tuple[str, Estimate]]:
        """The mean of each measure, with Nadeau and Bengio's interval."""
        size = len(self.folds)
        for name, values in self.values.items():
            column = values[:, self.models.index(model)]
            spread = float(column.var(ddof=1)) * (1 / size + self.n_test / self.n_train)
            reach = student(level, size - 1) * math.sqrt(spread)
            mean = float(column.mean())
            low, high = _range(name)
            # A mean can't lie outside the range of the measure, whatever the t distribution says.
            ends = (max(mean - reach, low), min(mean + reach, high))
            yield name, Estimate(mean, *ends, method="nadeau_bengio", n=size, level=level)


def _range(name: str) -> tuple[float, float]:
    """The range of a measure; of a column that is none, all numbers."""
    try:
        return parse(name)[0].range
    except UnknownMeasure:
        return -math.inf, math.inf


def _columns(table: Any) -> dict[str, npt.NDArray[Any]]:
    given = table if isinstance(table, Mapping) else columns_of(table)
    columns = {str(name): array_of(column, str(name)) for name, column in given.items()}
    absent = [key for key in KEYS if key not in columns]
    if absent:
        raise InputError(
            f"folds need the columns {', '.join(KEYS)} and one a measure; there is no "
            f"{', '.join(absent)} among {', '.join(columns)}"
        )
    sizes = {name: len(column) for name, column in columns.items()}
    if len(set(sizes.values())) > 1:
        raise LengthMismatch(f"columns of folds must be of one length; found {sizes}")
    return columns


def _text(value: Any) -> str:
    return label_text(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _natural(fold: Fold) -> tuple[tuple[int, float, str], ...]:
    """Numbers in their order, before names in theirs."""
    return tuple((0, float(part), part) if part.isdecimal() else (1, 0.0, part) for part in fold)


def _named(model: str, fold: Fold) -> str:
    return f"model {model!r}, repeat {fold[0]}, fold {fold[1]}"


def _positions(
    rows: list[tuple[str, Fold]], models: tuple[str, ...], folds: tuple[Fold, ...]
) -> npt.NDArray[np.int64]:
    """Where each fold of each model stands in the table."""
    found: dict[tuple[str, Fold], int] = {}
    for i, (model, fold) in enumerate(rows):
        if (model, fold) in found:
            raise InputError(
                f"{_named(model, fold)} is there twice, in rows {found[model, fold] + 1} and "
                f"{i + 1}; each fold of a model is one row"
            )
        found[model, fold] = i
    for fold in folds:
        for model in models:
            if (model, fold) not in found:
                raise InputError(
                    f"{_named(model, fold)} is missing: all models must have the same folds"
                )
    return np.array([[found[model, fold] for model in models] for fold in folds])


def _numbers(column: npt.NDArray[Any], name: str) -> Floats:
    """A column of numbers; what is missing is nan."""
    if column.dtype.kind in "biuf":
        return column.astype(np.float64)
    values = []
    for row, value in enumerate(column.tolist(), 1):
        try:
            values.append(math.nan if value is None or value == "" else float(value))
        except (TypeError, ValueError):
            raise InputError(
                f"column {name} must hold numbers; found {value!r} in row {row}"
            ) from None
    return np.array(values)


def _sizes(grid: Floats, name: str, models: tuple[str, ...], folds: tuple[Fold, ...]) -> float:
    """The mean size of a part of a fold, which all models must share."""
    for i, fold in enumerate(folds):
        for j, model in enumerate(models):
            if not 0 < grid[i, j] < math.inf:
                raise InputError(
                    f"{name} must be above 0; found {grid[i, j]:g} for {_named(model, fold)}"
                )
            if grid[i, j] != grid[i, 0]:
                raise InputError(
                    f"{name} is {grid[i, j]:g} for {_named(model, fold)} and {grid[i, 0]:g} for "
                    f"model {models[0]!r}: all models must have the same folds"
                )
    return float(grid[:, 0].mean())


def _undefined(grid: Floats, models: tuple[str, ...], folds: tuple[Fold, ...]) -> str | None:
    """The first fold that has no value."""
    at = np.argwhere(~np.isfinite(grid))
    return None if not len(at) else _named(models[at[0][1]], folds[at[0][0]])
