"""Count rows where they are: DuckDB, Spark, or any frame that narwhals can group.

The engine groups, and only the groups come here. The cell of a score is computed with ``* - >`` and
when/then alone, which every engine rounds alike (IEEE 754); a thousand known floats are sent first
to prove it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.counts.counter import REACHES, Counter, half_of_memory
from assay.counts.counts import MOST_WEIGHTS, SCORE, Counts, is_float
from assay.counts.grid import BITS, cells, mirrored_cells
from assay.counts.reduction import ROWS, WEIGHT
from assay.errors import InputError
from assay.text import quote

if TYPE_CHECKING:
    import polars as pl

Array: TypeAlias = npt.NDArray[Any]

# Bytes that an exact score takes while it is counted here.
_A_SCORE = 64
_MIRRORED, _CELL, _NEAR = "assay_mirrored", "assay_cell", "assay_near"
# Larger sizes are made smaller first, so that no product overflows.
_LARGE, _SHRINK = 2.0**900, 2.0**-128


def count_engine(
    frame: Any, keys: Sequence[str], *, mode: str = "auto", max_memory: int | None = None
) -> Counts:
    """Count the rows of a frame with canonical columns by keys, as :class:`Counter` does.

    >>> import polars as pl
    >>> frame = pl.LazyFrame({"label": ["a", "b", "a"], "score": [0.5, 0.2, 0.5]})
    >>> count_engine(frame, ["label", "score"]).table.rows()
    [(0.2, 'b', 1), (0.5, 'a', 2)]
    """
    import narwhals as nw

    given: Any = nw.from_native(frame)
    counter = Counter(keys, mode=mode)
    schema = given.collect_schema()
    asked = [SCORE if key.startswith(REACHES) else key for key in counter.keys]
    missing = [key for key in asked if key not in schema.names()]
    if missing:
        raise InputError(f"the frame has no column {quote(missing[0])}; it has {schema.names()}")
    # Columns have plain names meanwhile: Spark reads a dot as a field.
    plain = {key: key if is_float(key) else f"assay_{i}" for i, key in enumerate(counter.keys)}
    rows = _canonical(given, plain, schema)
    counted, weighted = "count" in schema.names(), WEIGHT in schema.names()
    if weighted and _distinct(rows, WEIGHT) <= MOST_WEIGHTS:
        plain[WEIGHT] = WEIGHT
    grid = SCORE in plain and mode != "exact"
    if grid and mode == "auto":
        room = (max_memory or half_of_memory()) // _A_SCORE
        grid = _collected(rows.select(nw.len())).item() > room and _distinct(rows, SCORE) > room
    by = list(plain.values())
    if grid:
        _prove(given)
        by = [*(column for column in by if column != SCORE), _MIRRORED, _CELL]
        rows = with_cells(rows)
    sums = _sums(counted=counted, weighted=weighted and WEIGHT not in plain, grid=grid)
    named = {f"assay_sum_{i}": name for i, name in enumerate(sums)}
    if sums:
        rows = rows.with_columns(*(sums[each].alias(name) for name, each in named.items()))
    length = [] if counted else [nw.len().alias(ROWS)]
    grouped = rows.group_by(*by).agg(*length, *(nw.col(column).sum() for column in named))
    table = _collected(grouped).rename(
        {column: key for key, column in plain.items()} | named, strict=False
    )
    return counter.take_groups(_with_cell_numbers(table) if grid else table, grid=grid)


def _sums(*, counted: bool, weighted: bool, grid: bool) -> dict[str, Any]:
    """What is summed in each group, by name."""
    import narwhals as nw

    rows = nw.col("count") if counted else None
    amounts: dict[str, Any] = {"": rows}
    if weighted:
        for name, factor in (
            ("weight", nw.col(WEIGHT)),
            ("weight²", nw.col(WEIGHT) * nw.col(WEIGHT)),
        ):
            amounts[f"{name}·"] = factor if rows is None else factor * rows
    sums = {f"sum({prefix[:-1]})": amount for prefix, amount in amounts.items() if prefix}
    if counted:
        sums[ROWS] = rows
    if grid:
        for name, power in {"near": nw.col(_NEAR), "near²": nw.col(_NEAR) * nw.col(_NEAR)}.items():
            for prefix, amount in amounts.items():
                sums[f"sum({prefix}{name})"] = power if amount is None else power * amount
    return sums


def _canonical(frame: Any, keys: Mapping[str, str], schema: Any) -> Any:
    """Text keys as text, and scores without -0.0."""
    import narwhals as nw

    def text(condition: Any) -> Any:
        false = nw.when(~condition).then(nw.lit("false"))
        return nw.when(condition).then(nw.lit("true")).otherwise(false)

    columns = {}
    for key, name in keys.items():
        value = nw.col(SCORE if key.startswith(REACHES) else key)
        if key.startswith(REACHES):
            value = text(value >= float(key.removeprefix(REACHES)))
        elif is_float(key):
            number = value.cast(nw.Float64)
            value = nw.when(number == 0).then(nw.lit(0.0)).otherwise(number)
        elif schema[key] == nw.Boolean:
            value = text(value)
        elif schema[key] != nw.String:
            value = value.cast(nw.String)
        columns[name] = value
    amounts = [nw.col(name) for name in ("count", WEIGHT) if name in schema.names()]
    return frame.select(*(value.alias(name) for name, value in columns.items()), *amounts)


def with_cells(frame: Any, bits: int = BITS) -> Any:
    """Add a float in the cell of each score, two at most for a cell.

    Let t be the distance of a score from the nearer of 0 and 1 (or its size, beyond them), and
    c = t (2^k + 1). Then c - (c - t) is t rounded to 53 - k bits (Veltkamp); where that is above t,
    a float a little below it is in the cell of t.
    """
    import narwhals as nw

    col, when, lit = nw.col, nw.when, nw.lit
    # Steps have columns of their own, so that engines of SQL don't repeat expressions.
    frame = frame.with_columns(((col(SCORE) > 0.5) & (col(SCORE) <= 1.0)).alias(_MIRRORED))
    size = when(col(_MIRRORED)).then(lit(1.0) - col(SCORE))
    negative = lit(0.0) - col(SCORE)
    frame = frame.with_columns(
        size.otherwise(when(col(SCORE) < 0).then(negative).otherwise(col(SCORE))).alias("t")
    )
    large = col("t") > _LARGE
    frame = frame.with_columns(when(large).then(col("t") * _SHRINK).otherwise(col("t")).alias("u"))
    frame = frame.with_columns((col("u") * float(2 ** (52 - bits) + 1)).alias("c"))
    frame = frame.with_columns((col("c") - (col("c") - col("u"))).alias("h"))
    below = col("h") * (1 - 2.0 ** -(bits + 2))
    frame = frame.with_columns(when(col("h") > col("u")).then(below).otherwise(col("h")).alias("h"))
    # The score 1 has a cell of its own, so the next float stands for those above it.
    above = (col(SCORE) > 1.0) & (col("h") == 1.0)
    above_one = when(above).then(lit(1 + 2.0**-52)).otherwise(col("h"))
    frame = frame.with_columns(when(large).then(col("h") / _SHRINK).otherwise(above_one).alias("h"))
    inside = (col(SCORE) >= 0) & (col(SCORE) <= 1)
    return frame.with_columns(
        when(col(SCORE) < 0).then(lit(0.0) - col("h")).otherwise(col("h")).alias(_CELL),
        when(inside).then(col("t")).otherwise(lit(0.0)).alias(_NEAR),
    ).drop("t", "u", "c", "h")


def _with_cell_numbers(table: pl.DataFrame) -> pl.DataFrame:
    """The number of each cell in place of the float that stands for it."""
    import polars as pl

    numbers = _cells_of(table[_CELL].to_numpy(), table[_MIRRORED].to_numpy())
    return table.drop(_CELL, _MIRRORED).with_columns(pl.Series(SCORE, numbers))


def _cells_of(floats: Array, mirrored: Array) -> Array:
    return np.where(mirrored, mirrored_cells(floats), cells(floats))


def _distinct(frame: Any, column: str) -> int:
    import narwhals as nw

    return int(_collected(frame.select(nw.col(column).n_unique())).item())


def _collected(frame: Any) -> pl.DataFrame:
    import narwhals as nw

    if isinstance(frame, nw.LazyFrame):
        return nw.to_native(frame.collect("polars"))  # type: ignore[no-any-return]
    return frame.to_polars()  # type: ignore[no-any-return]


# -- the proof -------------------------------------------------------------------------------------


def known_floats() -> Array:
    """A thousand floats at which rounding goes wrong first: edges and middles of cells."""
    powers = 2.0 ** np.array([-1074, -1060, -1030, -1022, -1000, -300, -64, -30, *range(-20, 0)])
    middles = 1 + np.array([0, 1, 3, 4095, 2731, 8191]) / 8192
    size = np.outer(powers, middles).ravel()
    size = np.concatenate(
        [size, 1 - size[size > 2.0**-53], [0.0, 0.5, 1.0], 1 + size, size * 2.0**1020]
    )
    near = np.concatenate([np.nextafter(size, -1), size, np.nextafter(size, np.inf)])
    near = np.unique(np.concatenate([near, -near[::7], [1.7976931348623157e308]]) + 0.0)
    chosen: Array = near[np.linspace(0, len(near) - 1, 1000).astype(int)]
    return chosen


def _prove(frame: Any) -> None:
    """Let the engine compute the cells of known floats; of other engines, of their first rows."""
    import narwhals as nw

    native, engine = nw.to_native(frame), frame.implementation
    floats = known_floats().tolist()
    if engine.is_duckdb():
        texts = ", ".join(f"'{number!r}'::double" for number in floats)
        sent = nw.from_native(native.query("assay_rows", f"select unnest([{texts}]) as score"))
    elif engine.is_pyspark() or engine.is_pyspark_connect():
        session = native.sparkSession
        sent = nw.from_native(session.createDataFrame([(x,) for x in floats], "score double"))
    else:
        sent = _canonical(frame, {SCORE: SCORE}, frame.collect_schema()).head(1000)
    table = _collected(with_cells(sent).select(SCORE, _MIRRORED, _CELL))
    numbers = _cells_of(table[_CELL].to_numpy(), table[_MIRRORED].to_numpy())
    wrong = np.flatnonzero(numbers != cells(table[SCORE].to_numpy()))
    if len(wrong):
        raise InputError(
            f"this engine rounds floats otherwise than IEEE 754 says: the cell of "
            f"{table[SCORE][int(wrong[0])]!r} is wrong. Say mode='exact', or count its rows in "
            f"Python"
        )
