"""Files of SQLite: opened for reading alone, and left as they were found."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from assay.errors import InputError, database_refusal

_HARMLESS = frozenset(
    {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}
)
_FORBIDDEN_FUNCTIONS = frozenset({"load_extension", "fts3_tokenizer", "readfile", "writefile"})
_JOURNAL, _INDEX = "-wal", "-shm"


@contextlib.contextmanager
def sqlite_connection(path: Path, name: str) -> Iterator[Any]:
    """A connection to a file, on which nothing but reading works; nothing is left beside the file.

    A journal whose writer died has no index, and SQLite would leave one there. To take it away
    could harm a writer that begins at that moment, so a copy of both files is read.
    """
    with contextlib.ExitStack() as stack:
        journal = _companion(path, _JOURNAL)
        if journal.exists() and not _companion(path, _INDEX).exists():
            path = _private_copy(path, name, stack)
        # The path goes in as a quoted URI, never as text of a statement.
        address = path.absolute().as_uri() + "?mode=ro"
        if _has_journal_mode(path) and not _companion(path, _JOURNAL).exists():
            # Nobody has it open. Read as it is, no journal is left beside it, nor needs to be.
            address += "&immutable=1"
        try:
            with contextlib.closing(
                sqlite3.connect(address, uri=True, isolation_level=None)
            ) as connection:
                connection.execute("PRAGMA query_only = ON")
                connection.execute("PRAGMA trusted_schema = OFF")
                connection.execute("BEGIN")
                # The file is opened now, and not by whoever asks first.
                connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchall()
                connection.set_authorizer(_only_reading)
                yield connection
        except (sqlite3.Error, sqlite3.Warning, UnicodeDecodeError) as error:
            hint = ""
            if "unable to open" in str(error) and journal.exists():
                hint = (
                    f". Its last changes stand in {journal.name}, which is read through a file "
                    f"beside it: copy both to a folder that can be written, and read them there"
                )
            raise InputError(f"{name}: SQLite {database_refusal(error)}{hint}") from error


def _companion(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)


def _private_copy(path: Path, name: str, stack: contextlib.ExitStack) -> Path:
    """A copy of a file and its journal, which goes away again."""
    journal = _companion(path, _JOURNAL)
    try:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="assay-")))
        before = _state(path), _state(journal)
        size, free = sum(state[0] for state in before), shutil.disk_usage(folder).free
        if size > free // 2:
            raise InputError(
                f"{name}: its last changes stand in {journal.name}, and both files are copied to "
                f"be read. They have {size:,} bytes, more than half of the {free:,} that are free "
                f"in {folder.parent}: name another folder with TMPDIR"
            )
        copy = folder / "copy"
        shutil.copyfile(path, copy)
        shutil.copyfile(journal, _companion(copy, _JOURNAL))
        after = _state(path), _state(journal)
    except OSError as error:
        raise InputError(
            f"{name}: its last changes stand in {journal.name}, and both files can't be copied to "
            f"be read: {error.strerror}"
        ) from error
    if after != before:
        raise InputError(f"{name} was written to while it was copied to be read; try again")
    return copy


def _state(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_size, status.st_mtime_ns


def _has_journal_mode(path: Path) -> bool:
    """Whether changes of the file are written into a journal beside it first (WAL)."""
    with path.open("rb") as file:
        return file.read(20)[18:] == b"\x02\x02"


def _only_reading(action: int, *about: str | None) -> int:
    if action not in _HARMLESS:
        return sqlite3.SQLITE_DENY
    if action == sqlite3.SQLITE_FUNCTION and (about[1] or "").lower() in _FORBIDDEN_FUNCTIONS:
        return sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK
