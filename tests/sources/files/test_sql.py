"""Queries on database files: read, and only read."""

import shutil
import sqlite3
from pathlib import Path
from types import SimpleNamespace

import duckdb
import pytest

import assay
from assay.errors import InputError
from assay.sources.files import Request, read

from .writing import TABLE, WRITERS


@pytest.fixture
def databases(tmp_path: Path) -> dict[str, Path]:
    paths = {"sqlite": tmp_path / "t.sqlite", "duckdb": tmp_path / "t.duckdb"}
    light = sqlite3.connect(paths["sqlite"])
    heavy = duckdb.connect(str(paths["duckdb"]))
    for connection in (light, heavy):
        connection.execute("CREATE TABLE t (label VARCHAR, score DOUBLE, n INTEGER)")
        connection.execute("INSERT INTO t VALUES ('a', 0.5, 1), ('b', 0.25, 2), (NULL, 1, 3)")
    light.commit()
    light.close()
    heavy.close()
    return paths


ENGINES = ["sqlite", "duckdb"]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("batch", [1, 2, 1000])
def test_a_query_is_read(engine: str, batch: int, databases: dict[str, Path]) -> None:
    query = "SELECT label, score, n AS site FROM t WHERE label IS NOT NULL ORDER BY score"
    rows = read(
        [f"{engine}:{databases[engine]}?{query}"], Request(batch_rows=batch, slices=("site",))
    )
    assert rows.columns["y_true"].names == ("a", "b")
    assert rows.columns["y_score"].tolist() == [0.25, 0.5]
    assert rows.columns["slices"]["site"].names == ("1", "2")


@pytest.mark.parametrize("engine", ENGINES)
def test_a_missing_value_is_a_bad_row(engine: str, databases: dict[str, Path]) -> None:
    with pytest.raises(InputError, match="row 3: column 'label': the label is missing"):
        read([f"{engine}:{databases[engine]}?SELECT * FROM t ORDER BY n"], Request())


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("query", ["SELECT * FROM nowhere", "SELEKT", "SELECT label FROM", "-- x"])
def test_a_wrong_query_is_an_error_with_the_file(
    engine: str, query: str, databases: dict[str, Path]
) -> None:
    with pytest.raises(InputError, match=f"{engine}:"):
        read([f"{engine}:{databases[engine]}?{query}"], Request())


@pytest.mark.parametrize("engine", ENGINES)
def test_without_a_query_the_form_is_shown(engine: str, databases: dict[str, Path]) -> None:
    for end in ("", "?", "? "):
        with pytest.raises(InputError, match=rf"no query: write {engine}:FILE\?QUERY"):
            read([f"{engine}:{databases[engine]}{end}"], Request())


@pytest.mark.parametrize("engine", ENGINES)
def test_a_file_of_another_kind_is_refused(engine: str, tmp_path: Path) -> None:
    path = tmp_path / "t.db"
    for data in (b"", b"label,score\n", b"PAR1" * 9):
        path.write_bytes(data)
        with pytest.raises(InputError, match=r"t\.db.* is no (SQLite|DuckDB) file"):
            read([f"{engine}:{path}?SELECT 1"], Request())


@pytest.mark.parametrize("engine", ENGINES)
def test_a_file_that_is_not_there_is_refused(engine: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no file"):
        read([f"{engine}:{tmp_path / 'none.db'}?SELECT 1"], Request())
    assert not list(tmp_path.iterdir())


def test_two_columns_of_one_name_are_refused(databases: dict[str, Path]) -> None:
    with pytest.raises(InputError, match="two columns named 'label'"):
        read([f"sqlite:{databases['sqlite']}?SELECT label, label, score FROM t"], Request())


HOSTILE = ["a#b.db", "a%41.db", "a b.db", "it's.db", "a;b.db", "é.db", "x'; DROP TABLE t; --"]


@pytest.mark.sampled(8)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", [*HOSTILE, ":memory:", "file:x", "[1].db", "-x.db", "a?mode=rwc"])
def test_hostile_names_open_exactly_their_own_file(
    engine: str, name: str, databases: dict[str, Path], tmp_path: Path
) -> None:
    folder = tmp_path / "odd"
    folder.mkdir()
    shutil.copy(databases[engine], folder / name)
    given = f"{engine}:{folder / name}?SELECT label, score FROM t WHERE n < 3"
    if engine == "duckdb" and "?" in name:
        with pytest.raises(InputError, match="question mark"):
            read([given], Request())
    else:
        assert read([given], Request()).rows_read == 2
    assert [entry.name for entry in folder.iterdir()] == [name]


def test_a_file_that_is_written_to_at_the_same_time_can_be_read(databases: dict[str, Path]) -> None:
    writer = sqlite3.connect(databases["sqlite"])
    writer.execute("PRAGMA journal_mode = WAL")
    writer.execute("BEGIN IMMEDIATE")
    writer.execute("INSERT INTO t VALUES ('c', 1, 4)")
    query = "SELECT label, score FROM t WHERE label IS NOT NULL"
    assert read([f"sqlite:{databases['sqlite']}?{query}"], Request()).rows_read == 2
    writer.rollback()
    writer.close()


# -- escapes ---------------------------------------------------------------------------------------

# Each would read or write something else than the database that was named.
SQLITE_ESCAPES = [
    "ATTACH DATABASE '{other}' AS o",
    "INSERT INTO t VALUES ('x', 1, 1)",
    "DELETE FROM t",
    "UPDATE t SET score = 0",
    "DROP TABLE t",
    "CREATE TABLE u (x)",
    "CREATE TEMP TABLE u (x)",
    "PRAGMA query_only = OFF",
    "PRAGMA journal_mode = DELETE",
    "VACUUM INTO '{other}'",
    "SELECT load_extension('{other}') AS label, 1 AS score",
    "SELECT 'a' AS label, 1 AS score; DROP TABLE t",
    "BEGIN IMMEDIATE",
    "SELECT writefile('{other}', 'x') AS label, 1 AS score",
    "REINDEX",
    "SELECT * FROM pragma_database_list",
]
DUCKDB_ESCAPES = [
    "SELECT * FROM read_csv('{secret}')",
    "SELECT * FROM '{secret}'",
    "SELECT * FROM read_text('{secret}')",
    "SELECT * FROM read_blob('{secret}')",
    "SELECT * FROM glob('{folder}/*')",
    "SELECT * FROM sniff_csv('{secret}')",
    "COPY t TO '{other}'",
    "COPY t FROM '{secret}'",
    "EXPORT DATABASE '{other}'",
    "ATTACH '{other}' AS o",
    "INSTALL httpfs",
    "LOAD httpfs",
    "SET enable_external_access = true",
    "SET lock_configuration = false",
    "RESET memory_limit",
    "PRAGMA enable_progress_bar",
    "SELECT * FROM python_rows",
    "CREATE TABLE u AS SELECT 1",
    "CREATE TEMP TABLE u AS SELECT 1",
    "INSERT INTO t VALUES ('x', 1, 1)",
    "SELECT 'a' AS label, 1 AS score; DROP TABLE t",
    "CALL pragma_version()",
    "SELECT * FROM read_parquet('https://localhost/x.parquet')",
    "SELECT * FROM query('SELECT * FROM read_csv(''{secret}'')')",
]
python_rows = [("a", 1.0)]


@pytest.mark.sampled(12)
@pytest.mark.parametrize(
    ("engine", "escape"),
    [
        *(("sqlite", escape) for escape in SQLITE_ESCAPES),
        *(("duckdb", escape) for escape in DUCKDB_ESCAPES),
    ],
)
def test_a_query_can_not_leave_its_file(
    engine: str, escape: str, databases: dict[str, Path], tmp_path: Path
) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("label,score\nsecret,1\n")
    before = databases[engine].read_bytes()
    there = sorted(tmp_path.iterdir())
    query = escape.format(other=tmp_path / "other", secret=secret, folder=tmp_path)
    for reader in (lambda given: read([given], Request()), assay.evaluate_files):
        with pytest.raises(InputError) as refused:
            reader(f"{engine}:{databases[engine]}?{query}")
        assert "secret,1" not in str(refused.value)
    assert databases[engine].read_bytes() == before
    assert sorted(tmp_path.iterdir()) == there


def test_a_link_to_another_file_is_only_read(databases: dict[str, Path], tmp_path: Path) -> None:
    link = tmp_path / "link.db"
    link.symlink_to(databases["duckdb"])
    query = "SELECT label, score FROM t WHERE n < 3"
    assert read([f"duckdb:{link}?{query}"], Request()).rows_read == 2


def test_without_duckdb_it_is_said_how_to_get_it(
    databases: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(InputError, match=r"pip install 'assay-detectors\[sql\]'"):
        read([f"duckdb:{databases['duckdb']}?SELECT 1"], Request())


# -- values that only databases give ---------------------------------------------------------------


def test_values_of_duckdb_keep_their_meaning(tmp_path: Path) -> None:
    path = tmp_path / "t.duckdb"
    connection = duckdb.connect(str(path))
    connection.execute(
        "CREATE TABLE t AS SELECT CAST(i AS DECIMAL(9, 2)) AS label, i / 4 AS score, "
        "CAST(0.125 + i AS DECIMAL(9, 3)) AS exact, "
        "CAST(i AS HUGEINT) * 10000000000000000000 AS big, "
        "DATE '2024-03-01' + CAST(i AS INTEGER) AS day, "
        "TIMESTAMP '2024-03-01 23:59:59' AS moment, [i] AS list, "
        "CAST('00000000-0000-0000-0000-00000000000' || i AS UUID) AS id, "
        "encode('x') AS raw FROM range(2) r(i)"
    )
    connection.close()
    given = f"duckdb:{path}?SELECT * FROM t ORDER BY score"
    rows = read([given], Request(slices=("id", "big", "list", "raw"), time="day"))
    assert (rows.columns["y_true"].kind, rows.columns["y_true"].names) == ("numbers", ("0", "1"))
    names = {name: part.names for name, part in rows.columns["slices"].items()}
    assert rows.columns["times"].names == ("2024-03-01", "2024-03-02")
    assert names["big"] == ("0", "10000000000000000000")
    assert names["id"][1] == "00000000-0000-0000-0000-000000000001"
    assert names["list"] == ("[0]", "[1]")
    rows = read([given], Request(score="exact", time="moment"))
    assert rows.columns["y_score"].tolist() == [0.125, 1.125]
    assert rows.columns["times"].names == ("2024-03-01",)


def test_values_of_sqlite_are_of_any_type_in_any_column(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE t (label, score)")
    connection.executemany("INSERT INTO t VALUES (?, ?)", [(1, 0.5), (0, "0.25"), (1.0, b"x")])
    connection.commit()
    connection.close()
    rows = read([f"sqlite:{path}?SELECT * FROM t"], Request(on_bad_row="skip"))
    assert rows.columns["y_true"].names == ("0", "1")
    assert rows.columns["y_score"].tolist() == [0.5, 0.25]
    assert rows.refused[0].reason == "column 'score': found b'x', expected a finite number"


def test_a_database_that_can_not_be_opened_is_refused(
    databases: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> object:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(InputError, match=r"t\.sqlite can't be opened: Permission denied"):
        read([f"sqlite:{databases['sqlite']}?SELECT 1"], Request())


def test_reading_a_file_with_a_journal_mode_leaves_nothing_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "wal.sqlite"
    writer = sqlite3.connect(path)
    writer.execute("PRAGMA journal_mode = WAL")
    writer.execute("CREATE TABLE t (label VARCHAR, score DOUBLE)")
    writer.execute("INSERT INTO t VALUES ('a', 0.5), ('b', 0.25)")
    writer.commit()
    query = f"sqlite:{path}?SELECT * FROM t ORDER BY score"
    # While it is written to, what was committed last stands in the journal, and is read.
    assert Path(f"{path}-wal").exists()
    assert read([query], Request()).columns["y_score"].tolist() == [0.25, 0.5]
    writer.close()
    assert read([query], Request()).columns["y_score"].tolist() == [0.25, 0.5]
    assert list(tmp_path.iterdir()) == [path]


def test_a_journal_that_can_not_be_read_is_told(tmp_path: Path) -> None:
    path = tmp_path / "wal.sqlite"
    with sqlite3.connect(path) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("CREATE TABLE t (label VARCHAR, score DOUBLE)")
    writer.close()
    Path(f"{path}-wal").mkdir()
    with pytest.raises(InputError, match=r"wal.sqlite-wal, and both files can't be copied.*direct"):
        read([f"sqlite:{path}?SELECT * FROM t"], Request())
    Path(f"{path}-shm").touch()
    with pytest.raises(InputError, match=r"wal.sqlite-wal.*copy both"):
        read([f"sqlite:{path}?SELECT * FROM t"], Request())


@pytest.fixture
def orphaned(tmp_path: Path) -> Path:
    """A file and a journal whose writer died."""
    alive = tmp_path / "alive.sqlite"
    writer = sqlite3.connect(alive)
    writer.execute("PRAGMA journal_mode = WAL")
    writer.execute("CREATE TABLE t (label VARCHAR, score DOUBLE)")
    writer.execute("INSERT INTO t VALUES ('a', 0.5), ('b', 0.25)")
    writer.commit()
    folder = tmp_path / "orphaned"
    folder.mkdir()
    for ending in ("", "-wal"):
        shutil.copy(f"{alive}{ending}", folder / f"dead.sqlite{ending}")
    writer.close()
    return folder / "dead.sqlite"


def test_a_journal_whose_writer_died_is_read_and_left_as_it_is(orphaned: Path) -> None:
    before = {path.name: path.read_bytes() for path in orphaned.parent.iterdir()}
    rows = read([f"sqlite:{orphaned}?SELECT * FROM t ORDER BY score"], Request())
    assert rows.columns["y_score"].tolist() == [0.25, 0.5]
    assert {path.name: path.read_bytes() for path in orphaned.parent.iterdir()} == before
    assert set(before) == {"dead.sqlite", "dead.sqlite-wal"}


def test_a_journal_that_is_too_large_to_copy_is_told(
    orphaned: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    size = sum(path.stat().st_size for path in orphaned.parent.iterdir())
    full = SimpleNamespace(free=size)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: full)
    with pytest.raises(InputError, match=rf"{size:,} bytes, more than half of .* TMPDIR"):
        read([f"sqlite:{orphaned}?SELECT * FROM t"], Request())


def test_a_file_that_is_written_to_while_it_is_copied_is_told(
    orphaned: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def growing(source: Path, copy: Path) -> None:
        copyfile(source, copy)
        with source.open("ab") as file:
            file.write(b"more")

    copyfile = shutil.copyfile
    monkeypatch.setattr(shutil, "copyfile", growing)
    with pytest.raises(InputError, match="was written to while it was copied"):
        read([f"sqlite:{orphaned}?SELECT * FROM t"], Request())


@pytest.mark.parametrize("engine", ["sqlite", "duckdb"])
def test_a_query_that_is_no_text_is_refused(engine: str, tmp_path: Path) -> None:
    given = WRITERS[engine](tmp_path, TABLE).replace("SELECT *", "SELECT '\udcff', *")
    with pytest.raises(InputError, match="the query is no text in UTF-8, at its character 9"):
        read([given], Request())


@pytest.mark.parametrize("engine", ["sqlite", "duckdb"])
def test_what_is_there_but_no_file_is_not_called_missing(tmp_path: Path, engine: str):
    with pytest.raises(InputError, match="is a folder, a device or a pipe; a database is a file"):
        read([f"{engine}:{tmp_path}?SELECT 1"], Request())
