"""Connections to a store: a file of SQLite, or PostgreSQL by its address.

Both run the same statements; what differs (how a writer begins, where the version stands, how bytes
and numbers are called) is told by the connection. Every version but the newest takes the steps that
it lacks, under a lock that only one process holds; a newer one is refused as it is.
"""

from __future__ import annotations

import contextlib
import functools
import os
import sqlite3
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

from assay.errors import InputError, StoreError, install_line
from assay.v02.number_text import fixed
from assay.v02.sources.files.database_queries import Address, is_address, postgresql_address


class Connection(Protocol):
    """What a store asks of a database."""

    place: str

    def in_small_letters(self, text: str, word: str) -> str:
        """The expression of a text that is LIKE a word in small letters, in whatever case it is."""
        ...

    def all(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Every row of a statement."""
        ...

    def many(self, sql: str, rows: Sequence[Sequence[Any]]) -> None:
        """One statement for each of some rows."""
        ...

    def writing(self) -> contextlib.AbstractContextManager[None]:
        """One transaction that writes: all of it, or nothing."""
        ...

    def close(self) -> None:
        """Let the connection go."""
        ...


def connect(place: str | os.PathLike[str], *, read_only: bool = False) -> Connection:
    """A connection to the store of this path or address, whose tables are those of this version."""
    given = os.fspath(place)
    if is_address(given):
        return PostgresConnection(given, read_only=read_only)
    if "://" in given:
        raise StoreError(
            f"{given.partition('://')[0]}:// is no kind of store; name a file, as assay.db, or "
            f"postgresql://HOST/DATABASE"
        )

    return SQLiteConnection(Path(given), read_only=read_only)


def check_place(place: str) -> None:
    """Refuse a place where no run could be kept; nothing is made where there is nothing yet."""
    if "://" not in place:
        must_be_place(Path(place), read_only=False)
        if not Path(place).exists():
            return
    connect(place).close()


# -- the tables ------------------------------------------------------------------------------------

# They are numbered steps from nothing to the newest. A step is never changed once it was released:
# a store of any earlier version takes the steps that it lacks. What SQLite and PostgreSQL write
# differently stands in braces.
#
# content   bytes by their SHA-256: documents, tallies, kept rows; the same bytes once
# runs      what a list shows and filters by, and which content belongs to the run
# tags      words that people give to runs
# measures  names of what is followed over time, each once
# points    the estimates of a run by measure, for trends
STEPS: tuple[tuple[str, ...], ...] = (
    (
        """CREATE TABLE content (
            sha256 {text} PRIMARY KEY,
            size BIGINT NOT NULL,
            packing {text} NOT NULL,
            data {bytes} NOT NULL
        ){clustered}""",
        """CREATE TABLE runs (
            seq {number},
            id {text} NOT NULL UNIQUE,
            name {text} NOT NULL,
            kind {text} NOT NULL,
            made {text} NOT NULL,
            headline {text} NOT NULL,
            gate {text},
            test_set {text},
            level DOUBLE PRECISION,
            note {text} NOT NULL,
            document {text} NOT NULL REFERENCES content (sha256),
            tally {text} REFERENCES content (sha256),
            kept_rows {text} REFERENCES content (sha256)
        )""",
        "CREATE INDEX runs_made ON runs (made, seq)",
        "CREATE INDEX runs_name ON runs (name, made, seq)",
        "CREATE INDEX runs_kind ON runs (kind, made, seq)",
        "CREATE INDEX runs_gate ON runs (gate, made, seq) WHERE gate IS NOT NULL",
        # Whether content is still needed is asked when a run is deleted.
        "CREATE INDEX runs_document ON runs (document)",
        "CREATE INDEX runs_tally ON runs (tally) WHERE tally IS NOT NULL",
        "CREATE INDEX runs_kept_rows ON runs (kept_rows) WHERE kept_rows IS NOT NULL",
        """CREATE TABLE tags (
            run BIGINT NOT NULL REFERENCES runs (seq) ON DELETE CASCADE,
            tag {text} NOT NULL,
            PRIMARY KEY (run, tag)
        ){clustered}""",
        "CREATE INDEX tags_tag ON tags (tag, run)",
        """CREATE TABLE measures (
            id {number},
            measure {text} NOT NULL UNIQUE
        )""",
        """CREATE TABLE points (
            run BIGINT NOT NULL REFERENCES runs (seq) ON DELETE CASCADE,
            measure BIGINT NOT NULL REFERENCES measures (id),
            value DOUBLE PRECISION NOT NULL,
            low DOUBLE PRECISION,
            high DOUBLE PRECISION,
            n DOUBLE PRECISION,
            PRIMARY KEY (run, measure)
        ){clustered}""",
    ),
)
NEWEST = len(STEPS)


def must_be_known(version: int, place: str) -> None:
    """Refuse a store that a newer assay made."""
    if version > NEWEST:
        raise StoreError(
            f"the store {place} has version {version}, made by a newer assay; this one reads "
            f"versions up to {NEWEST}. Install the newer one; the store was left as it is"
        )


def lacking(version: int, place: str) -> list[str]:
    """The statements that a store of a version lacks; a newer store is refused."""
    must_be_known(version, place)
    return [statement for step in STEPS[version:] for statement in step]


# -- SQLite: where a file may be, how it is opened, and how a writer begins ------------------------

# How long a writer waits for others.
PATIENCE = 60.0
# Marks a file of SQLite as a store of ours: "asay".
APPLICATION = 0x61736179
# File systems on which several machines write one file; their locks do not hold what WAL needs.
NETWORKS = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "ncpfs", "afs", "coda", "ceph", "lustre", "gpfs"}
    | {"beegfs", "glusterfs", "davfs", "ocfs2", "gfs2", "orangefs", "vboxsf", "prl_fs"}
)
# The same in user space, by what stands behind "fuse.".
_FUSED = frozenset(
    {"sshfs", "s3fs", "gcsfuse", "rclone", "glusterfs", "davfs2", "ceph", "smbnetfs"}
)
# What the steps leave open.
SQLITE_WORDS = {
    "text": "TEXT",
    "bytes": "BLOB",
    "number": "INTEGER PRIMARY KEY",
    "clustered": " WITHOUT ROWID",
}


class SQLiteConnection:
    """A file, in WAL mode: readers and one writer at a time, from any number of processes."""

    def __init__(self, path: Path, *, read_only: bool) -> None:
        self.place = str(path)
        exists = must_be_place(path, read_only=read_only)
        with self._told():
            self._connection = sqlite3.connect(
                _uri(path, read_only=read_only),
                uri=True,
                timeout=PATIENCE,
                isolation_level=None,
                check_same_thread=False,
            )
        try:
            with self._told():
                if exists:
                    self._must_be_ours()
                if not read_only:
                    self._migrate()
                else:
                    self._must_be_newest()
                self._prepare(read_only=read_only)
        except BaseException:
            self._connection.close()
            raise

    def _prepare(self, *, read_only: bool) -> None:
        # In place of SQLite's own, which knows the letters of English alone.
        self._connection.create_function("lower", 1, str.lower, deterministic=True)
        self._connection.execute("PRAGMA foreign_keys = ON")
        if read_only:
            self._connection.execute("PRAGMA query_only = ON")
        else:
            # What was acknowledged outlasts a loss of power, too.
            self._connection.execute("PRAGMA synchronous = FULL")

    def _must_be_ours(self) -> None:
        (mark,) = self._connection.execute("PRAGMA application_id").fetchone()
        (tables,) = self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if mark != APPLICATION and tables:
            raise StoreError(
                f"{self.place} is a SQLite database of something else; name another file with "
                f"store="
            )
        must_be_known(self._version(), self.place)

    def _must_be_newest(self) -> None:
        if self._version() < NEWEST:
            raise StoreError(
                f"the store {self.place} has version {self._version()} and this assay reads "
                f"version {NEWEST}; open it once for writing, which brings it up to date"
            )

    def _version(self) -> int:
        return int(self._connection.execute("PRAGMA user_version").fetchone()[0])

    def _migrate(self) -> None:
        if self._version() == NEWEST:
            return
        self._patiently("PRAGMA journal_mode = WAL")
        with self.writing():
            # Another process may have been faster, and newer.
            for statement in lacking(self._version(), self.place):
                self._connection.execute(statement.format(**SQLITE_WORDS))
            self._connection.execute(f"PRAGMA application_id = {APPLICATION}")
            self._connection.execute(f"PRAGMA user_version = {NEWEST}")

    def _patiently(self, statement: str) -> None:
        """Run what SQLite refuses at once, instead of waiting, while another process is busy."""
        until = time.monotonic() + PATIENCE
        while True:
            try:
                self._connection.execute(statement)
            except sqlite3.Error as busy:
                if "locked" not in str(busy) or time.monotonic() > until:
                    raise
                time.sleep(0.01)
            else:
                return

    def in_small_letters(self, text: str, word: str) -> str:
        """A text that is compared with a word: LIKE itself knows the letters of English alone."""
        return f"({text})" if word.isascii() else f"lower({text})"

    def all(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Every row of a statement."""
        with self._told():
            return self._connection.execute(sql, values).fetchall()

    def many(self, sql: str, rows: Sequence[Sequence[Any]]) -> None:
        """One statement for each of some rows."""
        with self._told():
            self._connection.executemany(sql, rows)

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """One transaction that writes; it waits for other writers before it begins."""
        with self._told():
            self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            with self._told():
                self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        """What SQLite says becomes an error that names the store."""
        try:
            yield
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise StoreError(f"the store {self.place}: {_advised(str(error))}") from error

    def close(self) -> None:
        """Let the connection go; the last one leaves no journal behind."""
        self._connection.close()


def _advised(said: str) -> str:
    """What SQLite says, with what to do."""
    if "not a database" in said:
        # Nobody but SQLite looks into the file: to close it would let go of the locks that other
        # connections of this process hold on it.
        return "it is no store, since it is not a file of SQLite. Name another with store="
    if "malformed" in said:
        return (
            f"the file is damaged ({said}). Copy what can be read, `assay runs export --to json`, "
            f"and import it into a new store"
        )
    if "locked" in said:
        return (
            f"another process has been writing for {fixed(PATIENCE, 0)} seconds ({said}); try again"
        )
    if "readonly" in said or "unable to open" in said:
        return f"it can't be written or opened ({said}); look at the permissions of file and folder"
    return said


def must_be_place(path: Path, *, read_only: bool) -> bool:
    """Refuse a place that can't hold a store; tells whether a file is there already."""
    try:
        folder, exists = path.is_dir(), path.exists() and path.stat().st_size > 0
    except OSError as error:
        raise StoreError(f"the store {path} can't be opened: {error.strerror}") from error
    if folder:
        raise StoreError(f"{path} is a folder; a store is a file, as {path / 'assay.db'}")
    if path.exists() and not path.is_file():
        # SQLite would write to a device, leave a journal beside it, and wait for a pipe.
        raise StoreError(f"{path} is a device or a pipe; a store is a file, as assay.db")
    if read_only and not exists:
        raise StoreError(
            f"there is no store {path}: --record NAME keeps a run in one, and store= names another"
        )
    if not path.absolute().parent.is_dir():
        raise StoreError(f"there is no folder {path.absolute().parent} for the store {path.name}")
    if "\0" in str(path):
        raise StoreError(f"the name {str(path)!r} of a store has a NUL byte; leave it out")
    if not read_only and not os.access(path if exists else path.absolute().parent, os.W_OK):
        raise StoreError(
            f"the store {path} can't be written; look at the permissions of file and folder"
        )
    network = network_of(path)
    if network is not None:
        raise StoreError(
            f"{path} is on a network file system ({network}), where writers of several machines "
            f"would damage a store; keep it on a local disk, or in PostgreSQL: "
            f"postgresql://HOST/DATABASE"
        )
    return exists


def network_of(path: Path, mounts: Path = Path("/proc/self/mounts")) -> str | None:
    """The kind of network file system that a path is on; None where it is on none, or unknown."""
    place = os.path.realpath(path)
    if place.startswith("\\\\"):
        return "a share of Windows"
    try:
        lines = mounts.read_text("utf-8", "surrogateescape").splitlines()
    except OSError:
        return None
    longest, kind = "", ""
    for line in lines:
        _, point, system, *_ = line.split(" ")
        point = point.encode("utf-8", "surrogateescape").decode("unicode_escape")
        # Later mounts lie above earlier ones.
        if (place + "/").startswith(point.rstrip("/") + "/") and len(point) >= len(longest):
            longest, kind = point, system
    fused = kind.startswith("fuse.") and kind.removeprefix("fuse.") in _FUSED
    return kind if kind in NETWORKS or fused else None


def _uri(path: Path, *, read_only: bool) -> str:
    """How SQLite opens the file.

    Readers open it for writing where they may, and promise to write nothing: then the last one to
    leave takes its journal away. In a folder that can't be written a file without a journal is read
    as it is, and nothing is left beside it.
    """
    place = path.absolute()
    uri = place.as_uri()
    if not read_only:
        return f"{uri}?mode=rwc"
    if os.access(place, os.W_OK) and os.access(place.parent, os.W_OK):
        return f"{uri}?mode=rw"
    journal = place.with_name(place.name + "-wal")
    return f"{uri}?mode=ro" if journal.exists() else f"{uri}?mode=ro&immutable=1"


# -- PostgreSQL: a schema of its own, and writers that wait for each other -------------------------

# What the steps leave open.
POSTGRES_WORDS = {
    "text": 'TEXT COLLATE "C"',  # sorted as in a file, whatever the server's language is
    "bytes": "BYTEA",
    "number": "BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY",
    "clustered": "",
}
# A number of ours, under which writers of PostgreSQL wait for each other.
_LOCK = 7091606


class PostgresConnection:
    """A schema ``assay`` of a database; credentials come from the environment alone."""

    def __init__(self, url: str, *, read_only: bool) -> None:
        address = _address(url)
        self.place = address.name
        try:
            import psycopg
        except ImportError as error:
            raise StoreError(
                f"{self.place} needs psycopg, which is not installed: {install_line('postgres')}"
            ) from error
        self._error = psycopg.Error
        settings: dict[str, Any] = {
            "host": address.host,
            "port": address.port,
            "user": address.user,
            "dbname": address.database,
        }
        with self._told():
            self._connection = psycopg.connect(
                **{key: value for key, value in settings.items() if value is not None},
                autocommit=True,
                connect_timeout=15,
                application_name="assay",
                options="-c search_path=assay -c client_encoding=UTF8",
            )
        try:
            with self._told():
                self._migrate(read_only=read_only)
                if read_only:
                    self._connection.execute("SET default_transaction_read_only = on")
        except BaseException:
            self._connection.close()
            raise

    @functools.cached_property
    def _alphabet(self) -> str:
        """The collation that knows letters of any alphabet, else that of the database."""
        named = "SELECT 1 FROM pg_catalog.pg_collation WHERE collname = 'und-x-icu'"
        return "und-x-icu" if self.all(named) else "default"

    def in_small_letters(self, text: str, word: str) -> str:  # noqa: ARG002 - the same for all
        """A text that is compared with a word."""
        return f'lower(({text}) COLLATE "{self._alphabet}")'

    def _version(self) -> int:
        """The version of the tables; 0 where there are none."""
        # A query, since what names are resolved by is cached while others make the tables.
        there = self._connection.execute(
            "SELECT 1 FROM pg_catalog.pg_tables WHERE schemaname = 'assay' AND tablename = 'store'"
        ).fetchone()
        if there is None:
            return 0
        row = self._connection.execute("SELECT version FROM assay.store").fetchone()
        return 0 if row is None else int(row[0])

    def _migrate(self, *, read_only: bool) -> None:
        version = self._version()
        must_be_known(version, self.place)
        if version == NEWEST:
            return
        if read_only:
            raise StoreError(
                f"{self.place} holds no store of version {NEWEST} (found {version or 'none'}): "
                f"open it once for writing, as --record does"
            )
        with self.writing():
            # Another process may have been faster, and newer.
            version = self._version()
            statements = lacking(version, self.place)
            if not version:
                self._connection.execute("CREATE SCHEMA IF NOT EXISTS assay")
                self._connection.execute("CREATE TABLE store (version BIGINT NOT NULL)")
                self._connection.execute("INSERT INTO store VALUES (0)")
            for statement in statements:
                self._connection.execute(statement.format(**POSTGRES_WORDS).encode())
            self._connection.execute("UPDATE store SET version = %s", (NEWEST,))

    def all(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Every row of a statement."""
        with self._told():
            cursor = self._connection.execute(sql.replace("?", "%s").encode(), values)
            return cursor.fetchall() if cursor.description is not None else []

    def many(self, sql: str, rows: Sequence[Sequence[Any]]) -> None:
        """One statement for each of some rows."""
        with self._told(), self._connection.cursor() as cursor:
            cursor.executemany(sql.replace("?", "%s").encode(), rows)

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """One transaction that writes; one at a time, as in a file."""
        with self._told(), self._connection.transaction():
            self._connection.execute(f"SELECT pg_advisory_xact_lock({_LOCK})".encode())
            yield

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        """What PostgreSQL says becomes an error that names the store."""
        try:
            yield
        except self._error as error:
            lines = str(error).strip().splitlines() or ["unknown"]
            raise StoreError(f"the store {self.place}: PostgreSQL refuses: {lines[0]}") from error

    def close(self) -> None:
        """Let the connection go."""
        self._connection.close()


def _address(url: str) -> Address:
    """The address of a store; where a query would follow, nothing may."""
    try:
        address, query = postgresql_address(url)
    except InputError as error:
        raise StoreError(str(error).replace("/DATABASE?QUERY", "/DATABASE")) from error
    if query:
        raise StoreError(f"{address.name} is a store, and no query follows it: leave out '?...'")
    return address
