"""A store in a file of SQLite: where it may be, how it is opened, and how a writer begins."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from assay.errors import StoreError
from assay.store.schema import NEWEST, lacking, must_be_known

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
WORDS = {
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
                self._connection.execute(statement.format(**WORDS))
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
        except sqlite3.Error as odd:
            raise StoreError(f"the store {self.place}: {_advised(str(odd))}") from odd

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
        return f"another process has been writing for {PATIENCE:.0f} seconds ({said}); try again"
    if "readonly" in said or "unable to open" in said:
        return f"it can't be written or opened ({said}); look at the permissions of file and folder"
    return said


def must_be_place(path: Path, *, read_only: bool) -> bool:
    """Refuse a place that can't hold a store; tells whether a file is there already."""
    if path.is_dir():
        raise StoreError(f"{path} is a folder; a store is a file, as {path / 'assay.db'}")
    exists = path.exists() and path.stat().st_size > 0
    if read_only and not exists:
        raise StoreError(
            f"there is no store {path}: --record NAME keeps a run in one, and store= names another"
        )
    if not path.absolute().parent.is_dir():
        raise StoreError(f"there is no folder {path.absolute().parent} for the store {path.name}")
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
        _, point, found, *_ = line.split(" ")
        point = point.encode("utf-8", "surrogateescape").decode("unicode_escape")
        # Later mounts lie above earlier ones.
        if (place + "/").startswith(point.rstrip("/") + "/") and len(point) >= len(longest):
            longest, kind = point, found
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
