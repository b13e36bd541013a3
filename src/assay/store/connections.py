"""Connections to a store: a file of SQLite, or PostgreSQL by its address.

Both run the same statements; what differs (how a writer begins, where the version stands, how bytes
and numbers are called) is told by the connection. Every version but the newest takes the steps that
it lacks, under a lock that only one process holds; a newer one is refused as it is.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from assay.errors import StoreError
from assay.sources.files.postgres import is_address


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
        from assay.store.postgresql import PostgresConnection

        return PostgresConnection(given, read_only=read_only)
    if "://" in given:
        raise StoreError(
            f"{given.partition('://')[0]}:// is no kind of store; name a file, as assay.db, or "
            f"postgresql://HOST/DATABASE"
        )
    from assay.store.sqlite import SQLiteConnection

    return SQLiteConnection(Path(given), read_only=read_only)


def check_place(place: str) -> None:
    """Refuse a place where no run could be kept; nothing is made where there is nothing yet."""
    if "://" in place or Path(place).exists():
        connect(place).close()
        return
    from assay.store.sqlite import must_be_place

    must_be_place(Path(place), read_only=False)
