"""Rows with equal keys become one; the law is ``reduce(concat(parts)) == reduce(whole)``.

A table is a column per key and per value. Keys are numbers of names, or floats; a value is reduced
as its name says: ``rows`` and ``sum(x)`` are added, ``min(x)`` and ``max(x)`` keep an extreme.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import CountError

Array: TypeAlias = npt.NDArray[Any]
Columns: TypeAlias = dict[str, Array]

ROWS, WEIGHT = "rows", "weight"
# Counts add up to less than this, so that 64 bits hold every sum of them.
LIMIT = 1 << 62
# Integer keys of no more combinations than this, or than some times the rows, are counted in a
# table of all combinations.
_TABLE, _TIMES = 1 << 21, 4
# Floats are integers without gaps up to this.
WHOLE = 1 << 53


def reduce_columns(columns: Mapping[str, Array], keys: Sequence[str]) -> Columns:
    """One row for each combination of the keys, ascending; without ``rows``, they are counted.

    >>> table = reduce_columns({"label": np.array([1, 0, 1])}, ["label"])
    >>> {name: column.tolist() for name, column in table.items()}
    {'label': [0, 1], 'rows': [1, 2]}
    """
    size = len(columns[keys[0]])
    values = {name: column for name, column in columns.items() if name not in keys}
    total = check_total(values[ROWS]) if ROWS in values else size
    if not size:
        return {key: columns[key] for key in keys} | {ROWS: np.zeros(0, np.int64)} | values
    runs = _joined_keys({key: columns[key] for key in keys})
    first, sizes, lows = runs[0]
    combinations = int(np.prod([float(each) for each in sizes]))
    if len(runs) == 1 and sizes and combinations <= max(_TABLE, _TIMES * size):
        added = all(name == ROWS or name.startswith("sum(") for name in values)
        if added and total < WHOLE:
            return _count_in_table(first, sizes, lows, keys, values)
    order = _order([codes for codes, *_ in runs])
    new = np.zeros(size, bool)
    new[0] = True
    for codes, *_ in runs:
        column = codes[order]
        new[1:] |= column[1:] != column[:-1]
    starts = np.flatnonzero(new)
    reduced = {key: columns[key][order[starts]] for key in keys}
    reduced[ROWS] = np.diff(starts, append=size)
    for name, column in values.items():
        wide = column.astype(np.int64) if column.dtype.kind in "iu" else column
        reduction = {"min": np.minimum, "max": np.maximum}.get(name.partition("(")[0], np.add)
        reduced[name] = reduction.reduceat(wide[order], starts)
    return occupied(reduced)


def near_sums(near: Array, columns: Mapping[str, Array]) -> Columns:
    """The sums of distances and of their squares, for each amount that rows have."""
    amounts = {"": columns.get(ROWS)}
    for name in ("weight", "weight²"):
        if f"sum({name})" in columns:
            amounts[f"{name}·"] = columns[f"sum({name})"]
    powers = {"near": near, "near²": near * near}
    return {
        f"sum({prefix}{name})": power if amount is None else amount * power
        for prefix, amount in amounts.items()
        for name, power in powers.items()
    }


def sum_weights(columns: Mapping[str, Array]) -> Columns:
    """Sums of weights in place of the weight as a key; rows are still to be reduced."""
    summed = dict(columns)
    weight = summed.pop(WEIGHT).astype(np.float64)
    rows = summed.setdefault(ROWS, np.ones(len(weight), np.int64))
    for name, factor in (("weight", weight), ("weight²", weight * weight)):
        summed[f"sum({name})"] = factor * rows
        for value in ("near", "near²", "error", "error²"):
            if f"sum({value})" in summed:
                summed[f"sum({name}·{value})"] = factor * summed[f"sum({value})"]
    return summed


def occupied(columns: Columns) -> Columns:
    """Without the combinations that have no rows."""
    held = columns[ROWS] > 0
    return columns if held.all() else {name: each[held] for name, each in columns.items()}


def check_total(counts: Array) -> float:
    """The sum of counts, which has to fit into 64 bits."""
    total = float(counts.sum(dtype=np.float64))
    if total >= LIMIT:
        raise CountError(
            f"counts add up to {total:.4g}; more than 4.6e18 rows can't be counted exactly. Give "
            f"smaller counts"
        )
    return total


def _joined_keys(keys: Mapping[str, Array]) -> list[tuple[Array, list[int], list[int]]]:
    """Neighbouring integer keys as one number, with the size and the least of each."""
    runs: list[tuple[Array, list[int], list[int]]] = []
    room = 0
    for column in keys.values():
        if column.dtype.kind == "f":
            runs.append((column, [], []))
            room = 0
            continue
        low, high = int(column.min()), int(column.max())
        size = high - low + 1
        if size > room:
            runs.append((np.subtract(column, low, dtype=np.int64), [size], [low]))
            room = LIMIT // size
            continue
        codes, sizes, lows = runs[-1]
        codes *= size
        codes += column if low == 0 else np.subtract(column, low, dtype=np.int64)
        sizes.append(size)
        lows.append(low)
        room //= size
    return runs


def _order(columns: list[Array]) -> Array:
    if len(columns) == 1:
        return np.argsort(columns[0], kind="stable")
    return np.lexsort(columns[::-1])


def _count_in_table(
    codes: Array, sizes: list[int], lows: list[int], keys: Sequence[str], values: Columns
) -> Columns:
    """Count all combinations of integer keys, then leave out those that have no rows."""
    counts = values.get(ROWS)
    table = np.bincount(codes, counts)
    held = np.flatnonzero(table)
    places = np.unravel_index(held, sizes)
    reduced = {key: at + low for key, at, low in zip(keys, places, lows, strict=True)}
    reduced[ROWS] = table[held].astype(np.int64)
    for name in values:
        if name != ROWS:
            reduced[name] = np.bincount(codes, values[name])[held]
    return reduced
