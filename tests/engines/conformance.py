"""Rows at every edge, and the engines that have to count them alike.

An engine is one entry of ``ENGINES``. Its ``open`` takes a frame of polars and the requesting test,
brings the rows to where they are counted, and gives a function of columns and ask. What it can't
store as it is (SQLite has no NaN) ``stored`` says.
"""

import contextlib
import sqlite3
import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import polars as pl
import pytest

from assay.engines import Ask, Columns, frames, partitions, sql
from assay.tally import Tally

Count: TypeAlias = Callable[[Columns, Ask], Tally]

LABELS = [
    "attack",
    "Attack",
    "attack ",
    "normal",
    "ataque ñ",
    "攻击",
    "NA",
    "'; drop table rows; --",
]
FEW, MANY = 3_000, 700_000
_EDGES = [
    *(0.0, -0.0, 0.5, 1.0, -1.0, 5e-324, -5e-324, 1e-310, 2.2250738585072014e-308),
    *(
        1 - 2**-53,
        1 - 2**-30,
        2**-53,
        1 + 2**-52,
        2.0**53,
        2.0**53 + 2,
        -(2.0**53),
        2.0**62,
        2.0**63,
    ),
    *(np.nextafter(0.5, 0), np.nextafter(0.5, 1), np.nextafter(0.3, 0), 0.3, 0.1 + 0.2),
    *(1.7976931348623157e308, -1.7976931348623157e308, float(np.float32(0.1)), 0.1),
]


def edge_rows(rows: int, *, bad: bool, seed: int = 13) -> pl.DataFrame:
    """Rows of every kind, with some that have to be refused where ``bad`` says so."""
    rng = np.random.default_rng(seed)
    share = [0.03, 0.02, 0.02, 0.8, 0.05, 0.04, 0.02, 0.02]
    labels = rng.choice(LABELS, rows, p=share).tolist()
    kinds = rng.integers(0, 8, rows)
    score = np.choose(
        kinds,
        [
            rng.choice(_EDGES, rows),
            rng.integers(0, 9, rows) / 8,
            rng.random(rows),
            1 - np.ldexp(rng.random(rows), rng.integers(-53, -1, rows)),
            np.ldexp(rng.random(rows), rng.integers(-1074, 1, rows)),
            rng.normal(size=rows),
            rng.random(rows) / 1000,
            np.ldexp(rng.random(rows), rng.integers(-1060, 1024, rows)) * rng.choice([-1, 1], rows),
        ],
    )
    scores: list[float | None] = score.tolist()
    start = datetime(2026, 3, 28, 22, 30)  # noqa: DTZ001 - as many tables hold it
    frame = {
        "label": labels,
        "Odd \"name' `é` []": rng.integers(0, 3, rows).tolist(),
        "truth": rng.integers(0, 2, rows).astype(bool).tolist(),
        "decision": rng.choice(["attack", "normal", "攻击"], rows).tolist(),
        "score": scores,
        "whole": rng.choice([-(2**53) - 1, -3, 0, 1, 2, 2**53, 2**53 + 1, 2**62], rows).tolist(),
        "site": [None if i == 4 else int(i) for i in rng.integers(0, 5, rows)],
        "host": [f"host {i}" for i in rng.integers(0, 40, rows)],
        "moment": [start + timedelta(minutes=int(i)) for i in rng.integers(0, 9000, rows)],
        "n": rng.choice([0, 1, 1, 1, 2, 5, 2**40], rows).tolist(),
        "weight": rng.choice([0.0, 0.5, 1.0, 2.5, 1 / 3], rows).tolist(),
    }
    if bad:
        for i in range(0, rows, 50):
            frame["label"][i] = None if i % 100 else ""
            odd: list[float | None] = [float("nan"), float("inf"), float("-inf"), None]
            frame["score"][i + 7] = odd[i // 50 % 4]
            frame["n"][i + 9] = None if i % 100 else -3
            frame["whole"][i + 3] = None
            frame["decision"][i + 5] = None
    types = {"score": pl.Float64, "n": pl.Int64, "site": pl.Int64, "label": pl.String}
    made = pl.DataFrame(frame, schema_overrides=types)
    return made.with_columns(narrow=pl.col("score").cast(pl.Float32, strict=False))


@dataclass(frozen=True)
class Engine:
    """Who counts, how it is opened, and what its rows become where they are stored.

    A ``twin`` is another way into the same database.
    """

    name: str
    open: Callable[[pl.DataFrame, pytest.FixtureRequest], AbstractContextManager[Count]]
    stored: Callable[[pl.DataFrame], pl.DataFrame] = lambda frame: frame
    slow: bool = False
    twin: bool = False


# -- engines ---------------------------------------------------------------------------------------


@contextlib.contextmanager
def _pieces(frame: pl.DataFrame, request: pytest.FixtureRequest) -> Iterator[Count]:
    """This machine, with rows shuffled and cut into unlike pieces."""
    shuffled = frame.sample(fraction=1, shuffle=True, seed=5)
    sizes = [0, 1, 17, 1000, frame.height]
    parts = [shuffled[a:b] for a, b in pairwise(sizes)]
    yield lambda columns, ask: frames.count_polars(parts, columns, ask)


@contextlib.contextmanager
def _duckdb(frame: pl.DataFrame, request: pytest.FixtureRequest) -> Iterator[Count]:
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    connection.execute("CREATE TABLE t AS SELECT * FROM frame")
    yield lambda columns, ask: sql.count(connection, "SELECT * FROM t -- all", columns, ask)
    connection.close()


@contextlib.contextmanager
def _relation(frame: pl.DataFrame, request: pytest.FixtureRequest) -> Iterator[Count]:
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    relation = connection.sql("SELECT * FROM frame")
    yield lambda columns, ask: sql.count(relation, None, columns, ask)
    connection.close()


def _of_sqlite(frame: pl.DataFrame) -> pl.DataFrame:
    """SQLite stores NaN as NULL, a boolean as a number and a moment as text."""
    return frame.with_columns(
        pl.col("score", "narrow").fill_nan(None),
        pl.col("truth").cast(pl.Int64),
        pl.col("moment").dt.to_string("%Y-%m-%d %H:%M:%S"),
    )


def _fill_sqlite(path: str, frame: pl.DataFrame) -> None:
    stored = _of_sqlite(frame).with_columns(pl.col("narrow").cast(pl.Float64))
    quoted = ['"' + name.replace('"', '""') + '"' for name in stored.columns]
    places = ", ".join("?" * len(quoted))
    with contextlib.closing(sqlite3.connect(path)) as connection:
        # A column that ignores case has to be told apart all the same.
        texts = {'"label"': '"label" TEXT COLLATE NOCASE'}
        connection.execute(f"CREATE TABLE t ({', '.join(texts.get(q, q) for q in quoted)})")
        connection.executemany(f"INSERT INTO t VALUES ({places})", stored.iter_rows())
        connection.commit()


@contextlib.contextmanager
def _sqlite(frame: pl.DataFrame, request: pytest.FixtureRequest) -> Iterator[Count]:
    path = request.getfixturevalue("tmp_path_factory").mktemp("sqlite") / "t.db"
    _fill_sqlite(str(path), frame)
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.row_factory = sqlite3.Row
        yield lambda columns, ask: sql.count(connection, "SELECT * FROM t", columns, ask)


@contextlib.contextmanager
def _adbc_sqlite(frame: pl.DataFrame, request: pytest.FixtureRequest) -> Iterator[Count]:
    driver = pytest.importorskip("adbc_driver_sqlite.dbapi")
    path = request.getfixturevalue("tmp_path_factory").mktemp("sqlite") / "t.db"
    _fill_sqlite(str(path), frame)
    with driver.connect(str(path)) as connection:
        yield lambda columns, ask: sql.count(connection, "SELECT * FROM t", columns, ask)


def _fill_postgresql(connection: Any, frame: pl.DataFrame) -> str:
    """A new table with the rows."""
    kinds: dict[Any, str] = {
        pl.String: "text",
        pl.Float64: "float8",
        pl.Float32: "float4",
        pl.Int64: "bigint",
        pl.Boolean: "boolean",
        pl.Datetime("us"): "timestamp",
    }
    name = f"rows_{uuid.uuid4().hex}"
    columns = [
        f'"{column.replace(chr(34), chr(34) * 2)}" {kinds[kind]}'
        for column, kind in frame.schema.items()
    ]
    connection.execute(f"CREATE TABLE {name} ({', '.join(columns)})")
    with connection.cursor().copy(f"COPY {name} FROM STDIN") as copy:
        for row in frame.iter_rows():
            copy.write_row(row)
    connection.commit()
    return name


@contextlib.contextmanager
def _postgresql(frame: pl.DataFrame, request: pytest.FixtureRequest) -> Iterator[Count]:
    psycopg = pytest.importorskip("psycopg")
    host = request.getfixturevalue("postgresql")
    with psycopg.connect(host=host, user="postgres") as connection:
        name = _fill_postgresql(connection, frame)
        query = f"SELECT * FROM {name}"
        yield lambda columns, ask: sql.count(connection, query, columns, ask)


@contextlib.contextmanager
def _adbc_postgresql(frame: pl.DataFrame, request: pytest.FixtureRequest) -> Iterator[Count]:
    psycopg = pytest.importorskip("psycopg")
    driver = pytest.importorskip("adbc_driver_postgresql.dbapi")
    host = request.getfixturevalue("postgresql")
    with psycopg.connect(host=host, user="postgres") as connection:
        name = _fill_postgresql(connection, frame)
    with driver.connect(f"postgresql:///postgres?host={host}&user=postgres") as connection:
        query = f"SELECT * FROM {name}"
        yield lambda columns, ask: sql.count(connection, query, columns, ask)


@contextlib.contextmanager
def _chdb(frame: pl.DataFrame, request: pytest.FixtureRequest) -> Iterator[Count]:
    session = pytest.importorskip("chdb.session").Session()
    path = request.getfixturevalue("tmp_path_factory").mktemp("chdb") / "t.parquet"
    frame.write_parquet(path)
    name = f"rows_{uuid.uuid4().hex}"
    session.query(f"CREATE TABLE {name} ENGINE = Memory AS SELECT * FROM file('{path}', Parquet)")
    yield lambda columns, ask: sql.count(session, f"SELECT * FROM {name}", columns, ask)
    session.query(f"DROP TABLE {name}")


@contextlib.contextmanager
def _sail(frame: pl.DataFrame, request: pytest.FixtureRequest) -> Iterator[Count]:
    session = request.getfixturevalue("sail")
    name = f"rows_{uuid.uuid4().hex}"
    rows = session.createDataFrame(frame.to_arrow())
    rows.createOrReplaceTempView(name)
    query = f"SELECT * FROM {name}"
    yield lambda columns, ask: sql.count(session, query, columns, ask)
    session.catalog.dropTempView(name)


@contextlib.contextmanager
def _sail_frame(frame: pl.DataFrame, request: pytest.FixtureRequest) -> Iterator[Count]:
    rows = request.getfixturevalue("sail").createDataFrame(frame.to_arrow())
    yield lambda columns, ask: sql.count(rows, None, columns, ask)


@contextlib.contextmanager
def _spark_frame(frame: pl.DataFrame, request: pytest.FixtureRequest) -> Iterator[Count]:
    rows = request.getfixturevalue("spark").createDataFrame(frame.to_arrow()).repartition(5)
    yield lambda columns, ask: frames.count(rows, columns, ask)


def _python_on(session: str) -> Callable[..., AbstractContextManager[Count]]:
    """Python on the workers of Spark, or of what stands for it."""

    @contextlib.contextmanager
    def opened(frame: pl.DataFrame, request: pytest.FixtureRequest) -> Iterator[Count]:
        rows = request.getfixturevalue(session).createDataFrame(frame.to_arrow())
        parts = rows.repartition(11)
        yield lambda columns, ask: partitions.count_spark(parts, columns, ask)

    return opened


def _cut(frame: pl.DataFrame) -> list[pl.DataFrame]:
    """Unlike parts, one of them empty."""
    sizes = [0, 0, 1, 17, 900, frame.height // 2, frame.height]
    return [frame[a:b] for a, b in pairwise(sizes)]


@contextlib.contextmanager
def _dask(frame: pl.DataFrame, request: pytest.FixtureRequest) -> Iterator[Count]:
    dask = pytest.importorskip("dask")
    dataframe = pytest.importorskip("dask.dataframe")
    parts = [part.to_pandas(use_pyarrow_extension_array=True) for part in _cut(frame)]
    rows = dataframe.from_map(lambda part: part, parts, meta=parts[0])
    with dask.config.set(scheduler="threads", num_workers=2):
        yield lambda columns, ask: frames.count(rows, columns, ask)


@contextlib.contextmanager
def _ray(frame: pl.DataFrame, request: pytest.FixtureRequest) -> Iterator[Count]:
    data = request.getfixturevalue("ray").data
    rows = data.from_arrow([part.to_arrow() for part in _cut(frame)])
    yield lambda columns, ask: frames.count(rows, columns, ask)


@contextlib.contextmanager
def _lazy(frame: pl.DataFrame, request: pytest.FixtureRequest) -> Iterator[Count]:
    yield lambda columns, ask: frames.count(frame.lazy(), columns, ask)


@contextlib.contextmanager
def _pandas(frame: pl.DataFrame, request: pytest.FixtureRequest) -> Iterator[Count]:
    rows = frame.to_pandas(use_pyarrow_extension_array=True)
    yield lambda columns, ask: frames.count(rows, columns, ask)


ENGINES = [
    Engine("local, in pieces", _pieces),
    Engine("polars, lazy", _lazy),
    Engine("pandas", _pandas),
    Engine("duckdb", _duckdb),
    Engine("duckdb relation", _relation, slow=True, twin=True),
    Engine("sqlite", _sqlite, _of_sqlite),
    Engine("sqlite by adbc", _adbc_sqlite, _of_sqlite, slow=True, twin=True),
    Engine("postgresql", _postgresql),
    Engine("postgresql by adbc", _adbc_postgresql, slow=True, twin=True),
    Engine("chdb", _chdb, slow=True),
    Engine("spark sql", _sail, slow=True),
    Engine("spark frame", _sail_frame, slow=True, twin=True),
    Engine("spark itself", _spark_frame, slow=True),
    Engine("python on sail", _python_on("sail"), slow=True),
    Engine("python on spark", _python_on("spark"), slow=True),
    Engine("dask", _dask),
    Engine("ray", _ray, slow=True),
]
