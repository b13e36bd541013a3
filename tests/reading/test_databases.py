"""Queries on databases read, and do nothing else."""

from __future__ import annotations

import hashlib
import sqlite3

import duckdb
import psycopg
import pytest

import assay
from assay import errors


@pytest.fixture
def sqlite(tmp_path):
    path = tmp_path / "runs?.db"
    with sqlite3.connect(path) as database:
        database.execute("create table flows (label text, score real)")
        database.executemany("insert into flows values (?, ?)", [("attack", 0.5), ("normal", 0.25)])
    return path


@pytest.fixture
def duck(tmp_path):
    path = tmp_path / "runs.duckdb"
    with duckdb.connect(str(path)) as database:
        database.execute("create table flows as select 'attack' as label, 0.5 as score")
    return path


def labels(address: str) -> list[str]:
    return [x for f in assay.rows(address, label="label").batches() for x in f["label"].to_list()]


def test_a_query_is_read_and_read_again(sqlite, duck) -> None:
    rows = assay.rows(f"sqlite:{sqlite}?select label as y from flows order by score;", label="y")
    for _ in range(2):
        assert [f["label"].to_list() for f in rows.batches()] == [["normal", "attack"]]
    assert rows.source.name == f"sqlite:{sqlite}"
    assert labels(f"duckdb:{duck}?from flows") == ["attack"]


@pytest.mark.parametrize(
    "query",
    [
        "delete from flows",
        "select 1; drop table flows",
        "update flows set score = 1",
        "attach 'other.db' as o",
        "pragma journal_mode = wal",
        "with x as (select 1) insert into flows select 'a', 1",
        "select writefile('x', 'y') as label",
        "select load_extension('x') as label",
        "create table x (y)",
        "select label from flows)",
        "",
    ],
)
def test_sqlite_only_reads(sqlite, query) -> None:
    before = hashlib.sha256(sqlite.read_bytes()).digest()
    with pytest.raises(errors.InputError):
        labels(f"sqlite:{sqlite}?{query}")
    assert hashlib.sha256(sqlite.read_bytes()).digest() == before
    assert {path.name for path in sqlite.parent.iterdir()} == {sqlite.name}


@pytest.mark.parametrize(
    "query",
    [
        "select content as label from read_text('/etc/passwd')",
        "select * from '/etc/passwd'",
        "copy flows to '/tmp/stolen.csv'",
        "attach '/tmp/other.db'",
        "install httpfs",
        "set enable_external_access = true",
        "insert into flows values ('x', 1)",
        "select 1 as label; select 2 as label",
    ],
)
def test_duckdb_only_reads_its_file(duck, query) -> None:
    with pytest.raises(errors.InputError):
        labels(f"duckdb:{duck}?{query}")


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("postgresql://db/flows", "has no query"),
        ("postgresql://db/flows?delete from t", "no single SELECT"),
        ("postgresql://db/flows?select pg_read_file('x')", "names 'pg_read_file'"),
        ("postgresql://db/flows?sslmode=off select 1", "holds settings"),
        ("postgresql://me:hunter2@db/flows?select 1", "holds a password"),
    ],
)
def test_postgresql_is_asked_for_one_select_without_a_password(address, says) -> None:
    with pytest.raises(errors.InputError, match=says) as refusal:
        assay.rows(address, label="label")
    assert "hunter2" not in str(refusal.value)


def test_errors_of_a_query_are_told(sqlite, tmp_path) -> None:
    with pytest.raises(errors.InputError, match="SQLite refuses the query: no such table: x"):
        assay.rows(f"sqlite:{sqlite}?select * from x")
    with pytest.raises(errors.InputError, match="two columns named 'label'"):
        assay.rows(f"sqlite:{sqlite}?select label, score as label from flows")
    (tmp_path / "x.db").write_text("label,score\n")
    with pytest.raises(errors.InputError, match="is no file of this database"):
        assay.rows(f"sqlite:{tmp_path}/x.db?select 1")


@pytest.mark.slow
def test_postgresql_reads_and_does_nothing_else(postgresql, monkeypatch) -> None:
    monkeypatch.setenv("PGHOST", postgresql)
    monkeypatch.setenv("PGUSER", "postgres")
    with psycopg.connect("dbname=postgres") as connection:
        connection.execute("CREATE TABLE flows (label text, score numeric, timestamp timestamptz)")
        connection.execute(
            "INSERT INTO flows VALUES ('attack', 0.5, now()), ('benign', 0.25, now())"
        )
    rows = assay.rows("postgresql:///postgres?SELECT * FROM flows ORDER BY score")
    assert dict(rows.columns) == {"label": "label", "score": "score", "time": "timestamp"}
    for _ in range(2):
        (frame,) = rows.batches("label", "score")
        assert frame["score"].to_list() == [0.25, 0.5]
    with pytest.raises(errors.InputError, match="PostgreSQL refuses the query: WITH clause"):
        labels(
            "postgresql:///postgres?WITH gone AS (DELETE FROM flows RETURNING label) "
            "SELECT label FROM gone"
        )
