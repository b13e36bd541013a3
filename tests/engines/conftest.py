"""Engines and databases that tests start once."""

import contextlib
import sqlite3
from collections.abc import Iterator
from typing import Any

import duckdb
import polars as pl
import pytest

from . import frameworks

SLOW = pytest.mark.slow
# What the types of columns are called in every database; texts of the column "moment" are times.
TYPES = {pl.String: "text", pl.Float64: "double precision", pl.Int64: "bigint"}
TIME = "moment"


@pytest.fixture(scope="session")
def sail() -> Iterator[Any]:
    """A Spark session on Sail, which stands for Spark."""
    with frameworks.sail() as session:
        yield session


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """Spark itself."""
    with frameworks.spark() as session:
        yield session


@pytest.fixture(scope="session")
def ray() -> Iterator[Any]:
    """Ray on this machine."""
    with frameworks.ray() as library:
        yield library


@pytest.fixture(scope="module", params=["sqlite", "duckdb", pytest.param("postgresql", marks=SLOW)])
def place(
    request: pytest.FixtureRequest, frame: pl.DataFrame, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """The address of a database, up to its question mark, with the rows of the module's frame."""
    types = {name: TYPES[kind.base_type()] for name, kind in frame.schema.items()}
    types |= {TIME: "timestamp"} if TIME in types else {}
    columns = ", ".join(f'"{name}" {kind}' for name, kind in types.items())
    create = f"CREATE TABLE flows ({columns})"
    if request.param == "postgresql":
        psycopg = pytest.importorskip("psycopg")
        host = request.getfixturevalue("postgresql")
        with psycopg.connect(host=host, user="postgres") as connection:
            connection.execute(create)
            with connection.cursor().copy("COPY flows FROM STDIN") as copy:
                for row in frame.iter_rows():
                    copy.write_row(row)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("PGHOST", host)
            yield "postgresql://postgres@/postgres"
        with psycopg.connect(host=host, user="postgres") as connection:
            connection.execute("DROP TABLE flows")
        return
    path = tmp_path_factory.mktemp("flows") / "flows.db"
    if request.param == "duckdb":
        # Row by row it would take seconds.
        with duckdb.connect(str(path)) as connection:
            connection.register("rows", frame.to_arrow())
            connection.execute(create)
            connection.execute("INSERT INTO flows SELECT * FROM rows")
    else:
        with contextlib.closing(sqlite3.connect(path)) as connection, connection:
            connection.execute(create)
            holes = f"?{', ?' * (frame.width - 1)}"
            connection.executemany(f"INSERT INTO flows VALUES ({holes})", frame.rows())
    yield f"{request.param}:{path}"
