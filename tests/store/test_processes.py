"""A store that many processes use, and that some of them leave in the middle."""

import contextlib
import os
import random
import signal
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assay.errors import StoreError
from assay.store import Store
from assay.store.databases import (
    APPLICATION,
    NEWEST,
    SQLITE_WORDS,
    STEPS,
    PostgresConnection,
    SQLiteConnection,
)

from . import documents

WRITING = """
import os
import sys
from assay.store import Store
from assay.store.run import KeptRows

def write(place, first, number):
    rows = KeptRows.of(["attack", "normal"] * 50, scores={"m": [0.9, 0.2] * 50})
    with Store(place) as store:
        for i in range(first, first + number):
            document = (
                '{"schema": "assay.evaluation/1", "number": %d, "level": 0.95, "estimates": '
                '[{"measure": "recall", "value": 0.9, "low": 0.8, "high": 0.95, "n": 100}]}' % i
            )
            run = store.record(document, name="flows", tags=["a", "b"], rows=rows)
            # Acknowledged: whoever reads this line may rely on the run. It is written at once, so
            # that a killed writer leaves no part of one.
            os.write(1, b"%s %d\\n" % (run.id.encode(), i))
"""
WRITER = f"{WRITING}\nwrite(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))"
# Starts writers that need not import anything: one for each line, which tells its first number.
STARTER = f"""{WRITING}
for line in sys.stdin:
    if not os.fork():
        os.write(1, b"writer %d\\n" % os.getpid())
        write(sys.argv[1], int(line), 100_000)
    os.wait()
    os.write(1, b"ended\\n")
"""
OPENER = "import sys; from assay.store import Store; sys.stdin.read(1); Store(sys.argv[1]).close()"


def acknowledged(output: bytes) -> dict[str, int]:
    lines = [line.split() for line in output.decode().split("\n")[:-1]]
    return {id_: int(number) for id_, number in lines}


def check_whole(path: Path, promised: dict[str, int]) -> None:
    """Everything that was acknowledged is there, nothing is half, and the file is sound."""
    with Store(path, read_only=True) as store:
        runs = store.runs(limit=10_000).runs
        by_id = {run.id: run for run in runs}
        assert promised.keys() <= by_id.keys()
        for run in runs:
            assert (
                f'"number": {promised[run.id]},' in run.document
                if run.id in promised
                else run.document
            )
            assert run.tags == ("a", "b")
            assert run.rows() is not None
        assert len(store.trend("flows", "recall", limit=10_000).points) == len(runs)
    with contextlib.closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []


def written_by_two(path: Path, number: int) -> None:
    children = [documents.child(WRITER, path, first, number) for first in (0, number)]
    outputs = [child.communicate(timeout=600) for child in children]
    assert [child.returncode for child in children] == [0, 0], outputs
    promised = acknowledged(outputs[0][0]) | acknowledged(outputs[1][0])
    assert sorted(promised.values()) == list(range(2 * number))
    check_whole(path, promised)


def test_two_writers_lose_nothing(tmp_path: Path) -> None:
    written_by_two(tmp_path / "runs.db", 30)


@pytest.mark.slow
def test_two_writers_of_a_thousand_runs_each(tmp_path: Path) -> None:
    written_by_two(tmp_path / "runs.db", 1000)


def killed(path: Path, times: int) -> int:
    """End a writer again and again; tells how many runs were acknowledged."""
    chance = random.Random(times)
    promised: dict[str, int] = {}
    starter = documents.child(STARTER, path)
    assert starter.stdin is not None
    assert starter.stdout is not None
    for turn in range(times):
        starter.stdin.write(b"%d\n" % (100_000 * turn))
        starter.stdin.flush()
        _, writer = starter.stdout.readline().split()
        # The first run is there; from now on the end may come at any moment.
        lines = [starter.stdout.readline()]
        time.sleep(chance.uniform(0, 0.05))
        os.kill(int(writer), signal.SIGKILL)
        while (line := starter.stdout.readline()) != b"ended\n":
            assert line, starter.communicate()
            lines.append(line)
        promised |= acknowledged(b"".join(lines))
    assert starter.communicate(timeout=60) == (b"", b"")
    check_whole(path, promised)
    return len(promised)


def test_writers_that_are_killed_leave_nothing_half(tmp_path: Path) -> None:
    assert killed(tmp_path / "runs.db", 3) >= 3


@pytest.mark.slow
def test_two_hundred_writers_that_are_killed(tmp_path: Path) -> None:
    assert killed(tmp_path / "runs.db", 200) >= 200


@pytest.mark.slow
def test_processes_that_open_an_empty_store_at_once_make_its_tables_once(tmp_path: Path) -> None:
    import subprocess
    import sys

    path = tmp_path / "runs.db"
    children = [
        subprocess.Popen(
            [sys.executable, "-c", OPENER, str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for _ in range(4)
    ]
    for child in children:
        assert child.stdin is not None
        child.stdin.write(b"x")
        child.stdin.flush()
    outcomes = [(child.communicate(timeout=120)[1], child.returncode) for child in children]
    assert outcomes == [(b"", 0)] * 4
    with contextlib.closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (NEWEST,)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def newer_meanwhile(
    monkeypatch: pytest.MonkeyPatch, kind: type, make_newer: Callable[[], None]
) -> None:
    """Let a newer assay come first, while a process waits for the lock under which it would."""
    writing = kind.writing

    def late(connection: Any) -> contextlib.AbstractContextManager[None]:
        make_newer()
        return writing(connection)

    monkeypatch.setattr(kind, "writing", late)


def test_a_store_that_became_newer_meanwhile_is_not_set_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "runs.db"

    def make_newer() -> None:
        with contextlib.closing(sqlite3.connect(path)) as connection:
            connection.execute(f"PRAGMA application_id = {APPLICATION}")
            connection.execute("PRAGMA user_version = 99")

    newer_meanwhile(monkeypatch, SQLiteConnection, make_newer)
    with pytest.raises(StoreError, match="version 99, made by a newer assay"):
        Store(path)
    with contextlib.closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (99,)


@pytest.mark.slow
def test_a_store_in_postgresql_that_became_newer_meanwhile_is_not_set_back(
    postgresql: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    psycopg = pytest.importorskip("psycopg")
    monkeypatch.setenv("PGHOST", postgresql)
    monkeypatch.setenv("PGUSER", "postgres")
    with psycopg.connect(dbname="postgres", autocommit=True) as connection:
        connection.execute("CREATE DATABASE newer")

    def run(*statements: str) -> Any:
        with psycopg.connect(dbname="newer", autocommit=True) as connection:
            for statement in statements:
                rows = connection.execute(statement)
            return rows.fetchall() if rows.description else None

    newer_meanwhile(
        monkeypatch,
        PostgresConnection,
        lambda: run(
            "CREATE SCHEMA assay",
            "CREATE TABLE assay.store (version BIGINT)",
            "INSERT INTO assay.store VALUES (99)",
        ),
    )
    with pytest.raises(StoreError, match="version 99, made by a newer assay"):
        Store("postgresql:///newer")
    assert run("SELECT version FROM assay.store") == [(99,)]


KEPT = sorted((Path(__file__).parent / "golden").glob("version-*.sql"))


def test_every_version_that_was_released_is_kept() -> None:
    assert [path.stem for path in KEPT] == [f"version-{i}" for i in range(1, NEWEST + 1)]


@pytest.mark.parametrize("dump", KEPT, ids=lambda path: path.stem)
def test_a_store_as_an_earlier_version_left_it_is_read(tmp_path: Path, dump: Path) -> None:
    path = tmp_path / "runs.db"
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.executescript(dump.read_text("utf-8"))
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(f"PRAGMA user_version = {int(dump.stem.rpartition('-')[2])}")
        connection.commit()
    with Store(path) as store:
        (run,) = store.runs(tag="kept").runs
        assert (run.id, run.name, run.note) == ("0123456789ab", "flows", "of long ago")
        assert run.document == documents.small(7)
        rows = run.rows()
        assert rows is not None
        assert rows.ids == ("a", "b")
        assert [point.value for point in store.trend("flows", "recall").points] == [0.9]
        store.record(documents.small(8), name="flows")
        assert store.delete(run.id).id == run.id


@pytest.mark.parametrize("version", range(NEWEST + 1))
def test_a_store_of_every_earlier_version_opens(tmp_path: Path, version: int) -> None:
    path = tmp_path / "runs.db"
    with contextlib.closing(sqlite3.connect(path)) as connection:
        for step in STEPS[:version]:
            for statement in step:
                connection.execute(statement.format(**SQLITE_WORDS))
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(f"PRAGMA user_version = {version}")
        connection.commit()
    with Store(path) as store:
        run = store.record(documents.small(0), name="flows")
        assert store.run(run.id).document == documents.small(0)
