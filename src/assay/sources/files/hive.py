"""Folders cut up by keys, ``day=2026-11-01/part-0.parquet``: the files in them, keys as columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from assay.errors import InputError
from assay.sources.files.formats import is_known
from assay.sources.files.table import Piece, Table

if TYPE_CHECKING:
    import polars as pl

# What Hive and Spark write where the value is missing.
MISSING = "__HIVE_DEFAULT_PARTITION__"
_DEEPEST = 64
# Folders with a log of their own, in which a file may lie whose rows no longer count.
_LOGGED = {"_delta_log": "a Delta table", ".hoodie": "a Hudi table"}
_ICEBERG = "*.metadata.json"

Keys = Mapping[str, str | None]


@dataclass(frozen=True)
class Found:
    """A file inside a folder, and the keys that the folders around it give."""

    path: Path
    keys: Keys


def files_in(folder: Path, name: str) -> tuple[Found, ...]:
    """Every file of a known suffix in a folder and those inside it, sorted by path.

    All files have the same keys, or the folder is refused. Folders whose names start with a dot or
    an underscore hold what other tools keep for themselves, and are left alone.
    """
    own = keys_of([folder.name], name)
    paths = _walk(folder, name, (folder.resolve(),))
    files = tuple(
        Found(path, own | keys_of(path.relative_to(folder).parts[:-1], name, own)) for path in paths
    )
    for file in files[1:]:
        if file.keys.keys() != files[0].keys.keys():
            raise InputError(
                f"the folders inside {name} have unlike keys: {_told(files[0], folder)} and "
                f"{_told(file, folder)}. Give folders of like keys, or the files that are meant"
            )
    return files


def _walk(folder: Path, name: str, around: tuple[Path, ...]) -> Iterator[Path]:
    entries = sorted(folder.iterdir())
    for entry in entries:
        kind = _LOGGED.get(entry.name)
        if entry.name == "metadata" and any(entry.glob(_ICEBERG)):
            kind = "an Iceberg table"
        if kind is not None:
            raise InputError(
                f"{name} is {kind}: its log says which files count, and others may lie there too. "
                f"Read it with the tool that it belongs to, and give the rows or their files"
            )
    for entry in entries:
        if not entry.is_dir():
            if is_known(entry.name) and entry.is_file():
                yield entry
        elif not entry.name.startswith((".", "_")):
            real = entry.resolve()
            if real in around or len(around) > _DEEPEST:
                raise InputError(
                    f"the folder {str(entry)!r} is inside itself by a link; remove the link, or "
                    f"give the folders that are meant"
                )
            yield from _walk(entry, name, (*around, real))


def keys_of(folders: Sequence[str], name: str, around: Keys | None = None) -> dict[str, str | None]:
    """The keys that the names of folders give, with their values as text.

    >>> keys_of(["flows", "day=2026-11-01", "site=a%2Fb"], "flows")
    {'day': '2026-11-01', 'site': 'a/b'}
    """
    keys: dict[str, str | None] = {}
    for folder in folders:
        key, sign, value = folder.partition("=")
        if not key or not sign:
            continue
        try:
            key, value = unquote(key, errors="strict"), unquote(value, errors="strict")
        except UnicodeDecodeError as odd:
            raise InputError(
                f"{name}: the folder {folder!r} holds bytes in percent signs that are no UTF-8 "
                f"text: rename it"
            ) from odd
        if key in keys or key in (around or {}):
            raise InputError(
                f"{name}: the key {key!r} stands twice in one path, the second time in "
                f"{folder!r}: rename one of the folders"
            )
        keys[key] = None if value in ("", MISSING) else value
    return keys


def _told(file: Found, folder: Path) -> str:
    keys = ", ".join(map(repr, file.keys)) or "none"
    return f"{keys} ({file.path.relative_to(folder).as_posix()!r})"


def with_keys(table: Table, keys: Keys) -> Table:
    """A table with the keys of its folders as further columns of text.

    Some writers leave a key's column in the file too: then the file's own is read, and has to say
    what the folder says.
    """
    if not keys:
        return table
    added = tuple(key for key in keys if key not in table.columns)

    def pieces(columns: Sequence[str]) -> Iterator[Piece]:
        own = [column for column in columns if column not in added]
        # Of a table without columns nobody would know how many rows it has.
        for piece in table.pieces(own or table.columns[:1]):
            for key in keys:
                if key in own:
                    _must_agree(piece.frame[key], keys[key], table.name)
            yield replace(piece, frame=_with(piece.frame, keys, added, columns))

    def at_once(columns: Sequence[str]) -> int:
        return table.at_once([column for column in columns if column not in added])

    return replace(table, columns=(*table.columns, *added), pieces=pieces, at_once=at_once)


def _with(
    frame: pl.DataFrame, keys: Keys, added: Sequence[str], columns: Sequence[str]
) -> pl.DataFrame:
    import polars as pl

    texts = [pl.lit(keys[key], dtype=pl.String).alias(key) for key in added if key in columns]
    return frame.with_columns(texts).select(columns)


def _must_agree(values: pl.Series, value: str | None, name: str) -> None:
    """Refuse a column that says something else than the folder that its file lies in."""
    import polars as pl

    if value is None:
        same = values.is_null()
    elif values.dtype.is_numeric():
        number = pl.Series([value]).cast(values.dtype, strict=False)[0]
        same = values.eq_missing(pl.Series([number], dtype=values.dtype))
    else:
        same = values.cast(pl.String).eq_missing(pl.Series([value]))
    if not same.all():
        row = int((~same).arg_max() or 0)
        raise InputError(
            f"{name}: column {values.name!r} holds {values[row]!r}, and the folder that the file "
            f"lies in says {value!r}. Move the rows to the folder that they belong to, or rename "
            f"the folder"
        )
