"""The values of several models over the same folds, from a table with a row a model and fold."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import InputError, LengthMismatch, UnknownMeasure
from assay.inference import Estimate
from assay.inference.quantiles import student
from assay.measures.catalogue import parse
from assay.sources import label_text
from assay.sources.columns import array_of
from assay.sources.files.fold_table import (
    DATASET,
    FOLD,
    MODEL,
    N_TEST,
    N_TRAIN,
    REPEAT,
    FoldRows,
)

Floats: TypeAlias = npt.NDArray[np.float64]
Fold: TypeAlias = tuple[str, str]  # repeat and fold

KEYS = (MODEL, REPEAT, FOLD, N_TRAIN, N_TEST)
_NAMES = (MODEL, DATASET, REPEAT, FOLD)
# What scikit-learn's cross_validate puts before the measures of held-out rows, and what it adds.
_HELD_OUT, _LEARNED, _TIMES = "test_", "train_", ("fit_time", "score_time")


@dataclass(frozen=True, eq=False)
class FoldTable:
    """Values by measure, a row a fold and a column a model; folds in the order of their names.

    ``n_train`` and ``n_test`` are nan where no column tells them; ``ratio`` is of the second to the
    first, of K folds 1 to K - 1, and nan where it is not known.
    """

    models: tuple[str, ...]
    folds: tuple[Fold, ...]
    n_train: float
    n_test: float
    ratio: float
    values: Mapping[str, Floats]
    undefined: Mapping[str, str]

    @property
    def five_by_two(self) -> bool:
        """Whether these are five repeats of two folds."""
        repeats = [repeat for repeat, _ in self.folds]
        return len(repeats) == 10 and all(repeats.count(repeat) == 2 for repeat in repeats)

    @property
    def has_spread(self) -> bool:
        """Whether there is more than one fold, and how much they overlap is known."""
        return len(self.folds) > 1 and not math.isnan(self.ratio)

    def estimates(self, model: str, level: float) -> Iterator[tuple[str, Estimate]]:
        """The mean of each measure, with Nadeau and Bengio's interval."""
        size = len(self.folds)
        for name, values in self.values.items():
            column = values[:, self.models.index(model)]
            mean = float(column.mean())
            if not self.has_spread:
                why = "one value has no spread" if size == 1 else "how folds overlap is not known"
                yield name, Estimate(mean, n=size, level=level, note=why)
                continue
            spread = float(column.var(ddof=1)) * (1 / size + self.ratio)
            reach = student(level, size - 1) * math.sqrt(spread)
            low, high = measure_range(name)
            # A mean can't lie outside the range of the measure, whatever the t distribution says.
            ends = (max(mean - reach, low), min(mean + reach, high))
            yield name, Estimate(mean, *ends, method="nadeau_bengio", n=size, level=level)


def fold_tables(rows: FoldRows) -> tuple[dict[str, FoldTable], tuple[str, ...]]:
    """A table of folds a data set, all of the same models, and what is to be said of them.

    Without a column of data sets there is one, called nothing.
    """
    columns, notes = _columns(rows.columns)
    size = len(columns[MODEL])
    names = {
        key: [name_text(value) for value in columns[key].tolist()]
        if key in columns
        else [""] * size
        for key in _NAMES
    }
    given = [
        (model, (repeat, fold))
        for model, repeat, fold in zip(names[MODEL], names[REPEAT], names[FOLD], strict=True)
    ]
    models = tuple(dict.fromkeys(names[MODEL]))
    if len(models) < 2:
        raise InputError(
            f"a comparison needs two models or more; column model holds {', '.join(models)}"
        )
    numbers = {name: _numbers(columns[name], name) for name in columns if name not in _NAMES}
    if not set(numbers) - set(KEYS):
        raise InputError(f"there is no measure: all columns are among {', '.join(KEYS)}")
    sets = list(dict.fromkeys(names[DATASET]))
    tables = {}
    for data_set in sets:
        at = [i for i, name in enumerate(names[DATASET]) if name == data_set]
        part = {name: column[at] for name, column in numbers.items()}
        tables[data_set] = _table([given[i] for i in at], part, models, data_set, at)
    if len(tables) == 1 and len(next(iter(tables.values())).folds) < 2:
        raise InputError("one fold tells nothing about the spread between folds")
    return tables, (*rows.notes, *notes)


def _table(
    rows: Sequence[tuple[str, Fold]],
    numbers: Mapping[str, Floats],
    models: tuple[str, ...],
    data_set: str,
    at: Sequence[int],
) -> FoldTable:
    folds = tuple(sorted({fold for _, fold in rows}, key=_natural))
    place = _positions(rows, models, folds, data_set, at)
    grid = {name: column[place] for name, column in numbers.items()}
    sizes = [
        _sizes(grid.pop(name), name, models, folds) if name in grid else math.nan
        for name in KEYS[3:]
    ]
    undefined = {name: _undefined(values, models, folds) for name, values in grid.items()}
    values = {name: found for name, found in grid.items() if undefined[name] is None}
    odd = {name: where for name, where in undefined.items() if where is not None}
    if not values:
        name, where = next(iter(odd.items()))
        raise InputError(
            f"no measure has a value in every fold: {name} has none for {_of_set(data_set)}{where}"
        )
    ratio = sizes[1] / sizes[0]
    return FoldTable(
        models,
        folds,
        n_train=sizes[0],
        n_test=sizes[1],
        ratio=_ratio(folds) if math.isnan(ratio) else ratio,
        values=values,
        undefined=odd,
    )


def _ratio(folds: Sequence[Fold]) -> float:
    """How many rows test for each that trains, if these are all K folds of each repeat."""
    repeats = [repeat for repeat, _ in folds]
    sizes = {repeats.count(repeat) for repeat in repeats}
    each = sizes.pop()
    return math.nan if sizes or each < 2 else 1 / (each - 1)


def measure_range(name: str) -> tuple[float, float]:
    """The range of a measure; of a column that is none, all numbers."""
    try:
        return parse(name)[0].range
    except UnknownMeasure:
        return -math.inf, math.inf


def _columns(given: Mapping[str, Any]) -> tuple[dict[str, npt.NDArray[Any]], list[str]]:
    """The columns that name rows or hold measures, and which others were left out."""
    columns, left, renamed = {}, [], []
    for name, column in given.items():
        held_out = name.removeprefix(_HELD_OUT)
        if name.startswith(_LEARNED) or name in _TIMES:
            left.append(name)
        elif held_out != name and name not in KEYS and held_out not in given:
            renamed.append(name)
            columns[held_out] = array_of(column, name)
        else:
            columns[name] = array_of(column, name)
    notes = []
    if left:
        notes.append(f"left out, as no measures of held-out rows: {', '.join(left)}")
    if renamed:
        notes.append(f"read as measures without {_HELD_OUT!r}: {', '.join(renamed)}")
    absent = [key for key in (MODEL,) if key not in columns]
    if DATASET not in columns and FOLD not in columns and REPEAT not in columns:
        absent.append(FOLD)
    if (N_TRAIN in columns) != (N_TEST in columns):
        absent.append(N_TEST if N_TRAIN in columns else N_TRAIN)
    if absent:
        raise InputError(
            f"folds need the columns {', '.join(KEYS)} and one a measure; there is no "
            f"{', '.join(absent)} among {', '.join(columns)}"
        )
    sizes = {name: len(column) for name, column in columns.items()}
    if len(set(sizes.values())) > 1:
        raise LengthMismatch(f"columns of folds must be of one length; found {sizes}")
    return columns, notes


def name_text(value: Any) -> str:
    """A name that may have been read as a number."""
    return label_text(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _natural(fold: Fold) -> tuple[tuple[int, float, str], ...]:
    """Numbers in their order, before names in theirs."""
    return tuple((0, float(part), part) if part.isdecimal() else (1, 0.0, part) for part in fold)


def _named(model: str, fold: Fold) -> str:
    repeat, part = fold
    said = f"{f', repeat {repeat}' if repeat else ''}{f', fold {part}' if part else ''}"
    return f"model {model!r}{said}"


def _of_set(data_set: str) -> str:
    return f"data set {data_set!r}, " if data_set else ""


def _positions(
    rows: Sequence[tuple[str, Fold]],
    models: tuple[str, ...],
    folds: tuple[Fold, ...],
    data_set: str,
    at: Sequence[int],
) -> npt.NDArray[np.int64]:
    """Where each fold of each model stands in the table."""
    found: dict[tuple[str, Fold], int] = {}
    where = _of_set(data_set)
    for i, (model, fold) in enumerate(rows):
        if (model, fold) in found:
            raise InputError(
                f"{where}{_named(model, fold)} is there twice, in rows "
                f"{at[found[model, fold]] + 1} and {at[i] + 1}; each fold of a model is one row"
            )
        found[model, fold] = i
    for fold in folds:
        for model in models:
            if (model, fold) not in found:
                raise InputError(
                    f"{where}{_named(model, fold)} is missing: all models must have the same folds"
                    f"{' of every data set' if data_set else ''}"
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
