"""Which inputs are meant: files, folders, patterns, queries, standard input."""

from __future__ import annotations

import difflib
import glob
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from assay.errors import InputError
from assay.reading.formats import FORMATS, FileOptions, by_name, open_file
from assay.reading.source import STDIN, Batch, InputFile, Table

if TYPE_CHECKING:
    import polars as pl

_ADDRESS = re.compile(r"(?:[a-z][\w+.-]*:)*[a-z][\w+.-]+://", re.IGNORECASE)
# A password among settings, or between a user and a host: user:secret@host.
_SECRET = re.compile(r"\w*(?:password|passwd|pwd|secret|token)\w*\s*=|:[^@/\\]+@", re.IGNORECASE)
_MISSING_KEY = "__HIVE_DEFAULT_PARTITION__"
_LOGS = {"_delta_log": "a Delta table", ".hoodie": "a Hudi table"}


def is_named(source: Any) -> bool:
    """Whether a source is one name or several, of files or queries."""
    if isinstance(source, str | os.PathLike):
        return True
    return (
        isinstance(source, list | tuple)
        and bool(source)
        and all(
            isinstance(name, os.PathLike) or (isinstance(name, str) and _looks_like_file(name))
            for name in source
        )
    )


def _looks_like_file(name: str) -> bool:
    return name == "-" or by_name(name) is not None or _is_query(name) or os.path.exists(name)  # noqa: PTH110 - a text with NUL is no file


def tables(source: Any, options: FileOptions) -> list[Table]:
    """Every table that is meant, in order; folders and patterns sorted."""
    names = [source] if isinstance(source, str | os.PathLike) else list(source)
    found: list[Table] = []
    for name in names:
        text = os.fspath(name)
        if not text:
            raise InputError("the name of a file is empty: name a file, a folder, or - for stdin")
        found += _tables(text, options)
    seen: set[str] = set()
    for table in found:
        if table.name in seen:
            raise InputError(f"{table.name} is given twice: its rows would count twice")
        seen.add(table.name)
    return found


def _is_query(given: str) -> bool:
    return given.startswith(("sqlite:", "duckdb:", "postgresql://", "postgres://"))


def _tables(given: str, options: FileOptions) -> Iterator[Table]:
    if given == "-":
        yield open_file(InputFile(STDIN, None), options)
        return
    if _is_query(given):
        from assay.reading.databases import open_query

        yield open_query(given)
        return
    path = Path(given)
    if _is_there(path) and path.is_dir():
        yield from _folder(path, options)
    elif _is_there(path):
        yield open_file(InputFile(shown(given), path), options)
    elif any(sign in given for sign in "*?[") and not _hides(given):
        matches = sorted(glob.glob(given, recursive=True))  # noqa: PTH207 - a pattern, not a folder
        if not matches:
            raise InputError(f"no file matches the pattern {shown(given)}")
        for match in matches:
            if Path(match).is_file():
                yield open_file(InputFile(shown(match), Path(match)), options)
    else:
        raise missing(path, given)


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def shown(name: str) -> str:
    """A name as messages show it: nothing in it may move a terminal's cursor."""
    return name if name.isprintable() else repr(name)


def _hides(given: str) -> bool:
    """Whether a name seems to hold a password, and is not shown."""
    return bool(_ADDRESS.match(given) or _SECRET.search(given))


def missing(path: Path, given: str) -> InputError:
    """The error for a file that is not there, with names that may be meant."""
    if _hides(given):
        address = _ADDRESS.match(given)
        return InputError(
            f"{address[0] if address else 'the input'} is not read: name a file, or a query that "
            f"begins with sqlite:, duckdb: or postgresql:// and has no password in it"
        )
    similar: list[str] = []
    if _is_there(path.parent) and path.parent.is_dir():
        names = [entry.name for entry in path.parent.iterdir()]
        similar = difflib.get_close_matches(path.name, names, n=3)
    advice = f"; did you mean {', '.join(map(shown, similar))}?" if similar else ""
    return InputError(f"there is no file {shown(given)}{advice}")


# -- folders, such as day=2026-11-01/part-0.parquet ------------------------------------------------


def _folder(folder: Path, options: FileOptions) -> Iterator[Table]:
    """Every file of a known suffix; keys in the names of folders are further columns of text."""
    paths = sorted(_walk(folder))
    known = [path for path in paths if by_name(path.name)]
    if not known:
        suffixes = ", ".join(suffix for format_ in FORMATS for suffix in format_.suffixes)
        raise InputError(f"the folder {shown(str(folder))} has no file of these kinds: {suffixes}")
    left = [shown(str(path.relative_to(folder))) for path in paths if path not in known]
    for i, path in enumerate(known):
        table = open_file(InputFile(shown(str(path)), path), options)
        if left and i == 0:
            note = f"Left out of the folder {folder}: {', '.join(left[:3])}" + (
                f" and {len(left) - 3:,} more" if left[3:] else ""
            )
            table = replace(table, notes=(*table.notes, note))
        yield _with_keys(table, keys_of(path.relative_to(folder.parent).parts[:-1]))


def _walk(folder: Path) -> Iterator[Path]:
    for root, folders, files in os.walk(folder):
        for name, kind in _LOGS.items():
            if name in folders:
                raise InputError(
                    f"{shown(root)} is {kind}, whose log says which files count: read it with its "
                    f"own tool, and give the rows"
                )
        folders[:] = [name for name in folders if not name.startswith((".", "_"))]
        yield from (Path(root, name) for name in files if not name.startswith((".", "_")))


def keys_of(folders: Sequence[str]) -> dict[str, str | None]:
    """The keys in the names of folders.

    >>> keys_of(["flows", "day=2026-11-01", "site=a%2Fb"])
    {'day': '2026-11-01', 'site': 'a/b'}
    """
    pairs = (folder.partition("=") for folder in folders if "=" in folder)
    return {
        unquote(key): None if value in ("", _MISSING_KEY) else unquote(value)
        for key, _, value in pairs
    }


def _with_keys(table: Table, keys: dict[str, str | None]) -> Table:
    """A table with the keys of its folders, where the file has no such column."""
    import polars as pl

    added = {key: value for key, value in keys.items() if key not in table.schema}
    if not added:
        return table

    def fill(frame: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
        texts = [pl.lit(added[c], pl.String).alias(c) for c in columns if c in added]
        return frame.with_columns(texts).select(columns)

    def read(columns: Sequence[str]) -> Iterator[Batch]:
        own = [column for column in columns if column not in added] or list(table.schema)[:1]
        for batch in table.read(own):
            yield replace(batch, frame=fill(batch.frame, columns))

    schema = {**table.schema, **dict.fromkeys(added, pl.String())}
    return replace(table, schema=schema, read=read, look=lambda: fill(table.look(), list(schema)))
