"""Count rows where they are: DuckDB, Spark, or any frame that narwhals can group.

The engine groups, and only the groups come here. The cell of a score is computed with ``* - >`` and
when/then alone, which every engine rounds alike (IEEE 754); a thousand known floats are sent first
to prove it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.counts.counter import REACHES, Counter, half_of_memory
from assay.counts.counts import MOST_WEIGHTS, SCORE, Counts, in_order, is_float
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
    asked = [key for key in in_order(keys) if not key.startswith(REACHES)]
    missing = [key for key in asked if key not in schema.names()]
    if missing:
        raise InputError(f"the frame has no column {quote(missing[0])}; it has {schema.names()}")
    rows = _canonical(given, counter.keys, schema)
    by = list(counter.keys)
    counted, weighted = ("count" in schema.names()), WEIGHT in schema.names()
    if weighted and _distinct(rows, WEIGHT) <= MOST_WEIGHTS:
        by.append(WEIGHT)
    grid = SCORE in by and mode != "exact"
    if grid and mode == "auto":
        room = (max_memory or half_of_memory()) // _A_SCORE
        grid = _collected(rows.select(nw.len())).item() > room and _distinct(rows, SCORE) > room
    if grid:
        _prove(given)
        by = [*(key for key in by if key != SCORE), _MIRRORED, _CELL]
        rows = with_cells(rows)
    rows = rows.with_columns((nw.col("count") if counted else nw.lit(1)).alias(ROWS))
    sums = [ROWS] if counted else []
    if weighted and WEIGHT not in by:
        weight = nw.col(WEIGHT)
        for name, factor in (("weight", weight), ("weight²", weight * weight)):
            sums.append(f"sum({name})")
            rows = rows.with_columns((factor * nw.col(ROWS)).alias(sums[-1]))
    table = _collected(_grouped(rows, by, sums, grid=grid))
    return counter.take_groups(_with_cell_numbers(table) if grid else table, grid=grid)


def _grouped(rows: Any, by: list[str], sums: list[str], *, grid: bool) -> Any:
    """Group rows; on a grid, what their amounts times the distances add up to as well."""
    import narwhals as nw

    totals = list(sums)
    if grid:
        near = {"near": nw.col(_NEAR), "near²": nw.col(_NEAR) * nw.col(_NEAR)}
        amounts = {"": ROWS} | {
            f"{name}·": f"sum({name})" for name in ("weight", "weight²") if f"sum({name})" in sums
        }
        columns = {
            f"sum({prefix}{name})": power * nw.col(amount) if ROWS in sums or prefix else power
            for prefix, amount in amounts.items()
            for name, power in near.items()
        }
        rows = rows.with_columns(*(value.alias(name) for name, value in columns.items()))
        totals += columns
    length = [] if ROWS in sums else [nw.len().alias(ROWS)]
    return rows.group_by(*by).agg(*length, *(nw.col(name).sum() for name in totals))


def _canonical(frame: Any, keys: Sequence[str], schema: Any) -> Any:
    """Text keys as text, and scores without -0.0."""
    import narwhals as nw

    columns = []
    for key in keys:
        if key.startswith(REACHES):
            reached = nw.col(SCORE) >= float(key.removeprefix(REACHES))
            columns.append(
                nw.when(reached).then(nw.lit("true")).otherwise(nw.lit("false")).alias(key)
            )
        elif is_float(key):
            number = nw.col(key).cast(nw.Float64)
            columns.append(nw.when(number == 0).then(nw.lit(0.0)).otherwise(number).alias(key))
        elif schema[key] == nw.Boolean:
            known = nw.when(nw.col(key)).then(nw.lit("true"))
            text = known.otherwise(nw.when(~nw.col(key)).then(nw.lit("false")))
            columns.append(text.alias(key))
        elif schema[key] != nw.String:
            columns.append(nw.col(key).cast(nw.String).alias(key))
        else:
            columns.append(nw.col(key))
    amounts = [nw.col(name) for name in ("count", WEIGHT) if name in schema.names()]
    return frame.select(*columns, *amounts)


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
    size = np.concatenate([size, 1 - size[size > 2.0**-53], [0.0, 0.5, 1.0], 1 + size[-60:]])
    size = np.concatenate([size, 1 / size[(size > 1e-300)][:60]])
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
        sent = _canonical(frame, [SCORE], frame.collect_schema()).head(1000)
    table = _collected(with_cells(sent).select(SCORE, _MIRRORED, _CELL))
    numbers = _cells_of(table[_CELL].to_numpy(), table[_MIRRORED].to_numpy())
    wrong = np.flatnonzero(numbers != cells(table[SCORE].to_numpy()))
    if len(wrong):
        raise InputError(
            f"this engine rounds floats otherwise than IEEE 754 says: the cell of "
            f"{table[SCORE][int(wrong[0])]!r} is wrong. Say mode='exact', or count its rows in "
            f"Python"
        )
