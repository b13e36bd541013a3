"""Every engine counts the same integers; a canary proves that it rounds as it should."""

from collections.abc import Iterator
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
import pytest

from assay.counts import Counts
from assay.counts.engines import _CELL, _MIRRORED, _cells_of, count_engine, known_floats, with_cells
from assay.counts.grid import cells, lowest
from assay.errors import InputError

SIZE = 4000
KEYS = [("label", "score"), ("label", "score", "slice:site"), ("label", "slice:site", "score>=0.5")]


def rows(seed: int = 1) -> pl.DataFrame:
    random = np.random.default_rng(seed)
    score = np.concatenate([known_floats(), random.random(SIZE - 1000).round(3)])
    return pl.DataFrame(
        {
            "label": random.choice(["normal", "attack"], SIZE),
            "score": score,
            "slice:site": pl.Series(["x", "y", None]).gather(random.integers(0, 3, SIZE)),
            "flag": random.random(SIZE) < 0.5,
            "few": random.choice([0.5, 1.0, 2.0], SIZE),
            "many": random.random(SIZE),
            "count": random.integers(0, 2**32, SIZE),
        }
    )


def in_duckdb(frame: pl.DataFrame) -> Any:
    duckdb = pytest.importorskip("duckdb")
    return duckdb.connect().sql("select * from frame")


ENGINES = {
    "polars": pl.DataFrame.lazy,
    "duckdb": in_duckdb,
    "pyarrow": pl.DataFrame.to_arrow,
    "pandas": lambda frame: frame.to_pandas(use_pyarrow_extension_array=True),
}


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    sql = pytest.importorskip("pyspark.sql")
    session = (
        sql.SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "4")
        .getOrCreate()
    )
    yield session
    session.stop()


def columns(frame: pl.DataFrame, amounts: str | None) -> pl.DataFrame:
    names = ["label", "score", "slice:site"]
    given = [] if amounts is None else [pl.col(amounts)]
    weight = [] if amounts in {None, "count"} else [pl.col(amounts).alias("weight")]
    return frame.select(*names, *(weight or given))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("amounts", [None, "count", "few", "many"])
def test_an_engine_counts_what_is_counted_here(engine: str, amounts: str | None) -> None:
    frame = columns(rows(), amounts)
    for keys in KEYS:
        for mode in ("exact", "grid"):
            here = Counts.of(frame, keys, mode=mode)
            there = count_engine(ENGINES[engine](frame), keys, mode=mode)
            assert there == here
            if amounts in {None, "count"} and mode == "exact":
                assert there.to_bytes() == here.to_bytes()


@pytest.mark.slow
def test_spark_counts_what_is_counted_here(spark: Any) -> None:
    for amounts in (None, "few", "many"):
        frame = columns(rows(), amounts)
        there = spark.createDataFrame(frame.rows(), frame.columns)
        for mode in ("exact", "grid"):
            for keys in KEYS[1:]:
                assert count_engine(there, keys, mode=mode) == Counts.of(frame, keys, mode=mode)


def test_booleans_and_integers_are_labels_of_an_engine() -> None:
    frame = rows().select(label=pl.col("flag"), cluster=pl.int_range(SIZE) % 7)
    for make in ENGINES.values():
        assert count_engine(make(frame), ["label", "cluster"]) == Counts.of(frame)


def test_auto_counts_cells_where_exact_scores_would_not_fit() -> None:
    frame = columns(rows(), None)
    keys = ("label", "score")
    for room, mode in ((64 * 100, "grid"), (64 * SIZE, "exact")):
        there = count_engine(in_duckdb(frame), keys, max_memory=room)
        assert there == Counts.of(frame, keys, mode=mode)
    few = frame.with_columns(pl.col("score").clip(0, 1).round(1))
    there = count_engine(in_duckdb(few), keys, max_memory=64 * 100)
    assert there == Counts.of(few, keys, mode="exact")


def test_an_engine_without_a_column_is_refused() -> None:
    with pytest.raises(InputError, match="the frame has no column 'cluster'; it has"):
        count_engine(in_duckdb(rows()), ["label", "cluster"])


# -- cells as arithmetic ---------------------------------------------------------------------------


def numbers(frame: Any) -> Any:
    table = nw.to_native(with_cells(nw.from_native(frame)).collect("polars"))
    table = table.select("score", _CELL, _MIRRORED).sort("score")
    return _cells_of(table[_CELL].to_numpy(), table[_MIRRORED].to_numpy())


def adversarial(size: int) -> Any:
    random = np.random.default_rng(7)
    some = np.concatenate(
        [
            random.random(size),
            random.random(size) * 2.0 ** -random.integers(0, 1074, size),
            1 - 2.0 ** -random.integers(1, 53, size) * random.random(size),
            random.normal(size=size) * 2.0 ** random.integers(-1074, 1020, size),
        ]
    )
    edges = lowest(cells(some))
    near = [np.nextafter(x, end) for x in (some, edges) for end in (-np.inf, np.inf)]
    every = np.concatenate([some, edges, *near])
    return np.sort(every[np.isfinite(every)] + 0.0)


def test_the_arithmetic_gives_the_cells_of_the_grid() -> None:
    scores = adversarial(2000)
    frame = pl.DataFrame({"score": scores})
    for engine in (frame.lazy(), in_duckdb(frame)):
        assert np.array_equal(numbers(engine), cells(scores))


def test_the_canary_is_a_thousand_floats() -> None:
    assert len(np.unique(known_floats())) == 1000


def test_an_engine_that_rounds_otherwise_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from assay.counts import engines

    monkeypatch.setattr(engines, "cells", lambda scores, *_: cells(np.nextafter(scores, -np.inf)))
    with pytest.raises(InputError, match="this engine rounds floats otherwise than IEEE 754"):
        count_engine(in_duckdb(rows()), ["label", "score"], mode="grid")
