"""Records of JSON, one a line: Suricata's eve.json, Zeek's JSON logs, ECS, anything with a time.

Pieces are parsed as a whole into the keys that are asked for, as text. Lines in which that could
be wrong (keys that stand twice or are escaped, halves of characters) and lines that do not parse
are read one by one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from assay.sources.files.dotted import (
    Path,
    Unreadable,
    json_object,
    paths_of,
    text_of,
    value_at,
    value_of,
)
from assay.sources.files.table import Broken, Piece
from assay.sources.logs.names import HOST, KIND, NAMES, REPEATED

if TYPE_CHECKING:
    import polars as pl

_FEW = 32
_LOOKED_AT = 256
_ZEEK = ("id.orig_h",)
_SURROGATE = r"\\u[dD][89a-fA-F]"
_ESCAPED_KEY = r'"(?:[^"\\]|\\.)*\\.(?:[^"\\]|\\.)*"\s*:'
_ROW = "row of the piece"


class JsonLines:
    """Reads pieces of JSON lines into the columns of :data:`NAMES` and further keys, as text."""

    def __init__(
        self, fields: Sequence[str], time: str | None = None, kind: str | None = None
    ) -> None:
        self._kind = kind
        names = dict(NAMES) if time is None else {**NAMES, "time": (time,)}
        self._columns = {
            column: [paths_of(name) for name in among] for column, among in names.items()
        }
        self._columns |= {field_column(field): [paths_of(field)] for field in fields}
        leaves = {path for among in self._columns.values() for paths in among for path in paths}
        self._shape = _Shape(leaves | {*REPEATED, _ZEEK})

    def piece(self, text: bytes, row: int, line: int) -> Piece:
        """The records of whole lines, of which the last has no line end."""
        lines = text.count(b"\n") + 1
        frame, broken = self._read(text, lines, row, line)
        rows: Any = frame[_ROW].to_numpy() + row
        offset = line - row
        return Piece(frame.drop(_ROW), rows, lambda i: int(rows[i]) + offset, broken)

    def _read(
        self, text: bytes, lines: int, row: int, line: int
    ) -> tuple[pl.DataFrame, list[Broken]]:
        """The good records with their positions, and the bad ones; halves where it fails."""
        import polars as pl

        raw = self._shape.parsed(text, lines)
        if raw is None and lines > _FEW and self._shape.learn(text):
            raw = self._shape.parsed(text, lines)
        if raw is None and lines > _FEW:
            cut = text.index(b"\n", len(text) // 2) if b"\n" in text[len(text) // 2 :] else -1
            cut = cut if cut > 0 else text.index(b"\n")
            first = text.count(b"\n", 0, cut) + 1
            one, bad = self._read(text[:cut], first, row, line)
            two, worse = self._read(text[cut + 1 :], lines - first, row + first, line + first)
            two = two.with_columns(pl.col(_ROW) + first)
            return pl.concat([one, two]), bad + worse
        if raw is None:
            return self._one_by_one(enumerate(text.split(b"\n")), row, line)
        frame = self._chosen(raw)
        doubtful = self._shape.doubtful(text, raw) | self._ambiguous(raw)
        if not doubtful.any():
            return frame, []
        split = text.split(b"\n")
        again, broken = self._one_by_one(
            ((i, split[i]) for i in np.flatnonzero(doubtful).tolist()), row, line
        )
        return pl.concat([frame.filter(~doubtful), again]).sort(_ROW), broken

    def _chosen(self, raw: pl.DataFrame) -> pl.DataFrame:
        import polars as pl

        empty = pl.lit(None, pl.String)
        columns = {
            column: pl.coalesce(*(pl.col(_flat(path)) for paths in among for path in paths), empty)
            for column, among in self._columns.items()
        }
        zeek = pl.col(_flat(_ZEEK)).is_not_null()
        columns[HOST] = pl.when(~zeek).then(columns[HOST])
        columns[KIND] = pl.coalesce(
            columns[KIND], pl.when(zeek).then(pl.lit(self._kind, pl.String))
        )
        return raw.select(pl.int_range(pl.len()).alias(_ROW), **columns)

    def _ambiguous(self, raw: pl.DataFrame) -> npt.NDArray[np.bool_]:
        """Records in which more than one path of a key leads somewhere."""
        rows = np.zeros(raw.height, bool)
        for among in self._columns.values():
            for _, *others in among:
                if len(others) > 1:
                    present = [raw[_flat(path)].is_not_null().to_numpy() for path in others]
                    rows |= np.sum(present, axis=0) > 1
        return rows

    def _one_by_one(
        self, numbered: Iterable[tuple[int, bytes]], row: int, line: int
    ) -> tuple[pl.DataFrame, list[Broken]]:
        import polars as pl

        values: dict[str, list[str | None]] = {column: [] for column in self._columns}
        kept: list[int] = []
        broken: list[Broken] = []
        for i, record in numbered:
            made, reason = json_object(record)
            try:
                cells = None if made is None else list(self._cells(made))
            except Unreadable as odd:
                cells, reason = None, str(odd)
            if cells is None:
                broken.append(Broken(row + i, line + i, reason))
                continue
            kept.append(i)
            for column, cell in zip(values.values(), cells, strict=True):
                column.append(cell)
        schema = dict.fromkeys(values, pl.String)
        frame = pl.DataFrame({_ROW: pl.Series(kept, dtype=pl.Int64)})
        return frame.hstack(pl.DataFrame(values, schema=schema)), broken

    def _cells(self, record: dict[str, Any]) -> Iterator[str | None]:
        for column, among in self._columns.items():
            cell = None
            for paths in among:
                cell = value_of(record, paths)
                if isinstance(cell, dict) and column in NAMES:
                    cell = None
                if cell is not None:
                    break
            if column in (HOST, KIND) and value_at(record, _ZEEK) is not None:
                cell = None if column == HOST else self._kind if cell is None else cell
            yield text_of(cell)


def field_column(field: str) -> str:
    """The column of a key that was asked for, until the others have their final names."""
    return f"field {field}"


def _flat(path: Path) -> str:
    return "\x1f".join(path)


class _Shape:
    """Which keys are parsed, and which of them hold text in one record and objects in another."""

    def __init__(self, leaves: set[Path]) -> None:
        self._leaves = leaves
        self._inner = {path[:i] for path in leaves for i in range(1, len(path))}
        self._mixed = self._leaves & self._inner
        self._by_key: dict[str, list[Path]] = {}
        for path in sorted(leaves | self._inner):
            self._by_key.setdefault(path[-1], []).append(path)
        self._prepare()
        self._keys = f'"(?:{"|".join(map(re.escape, self._by_key))})"\\s*:'

    def parsed(self, text: bytes, lines: int) -> pl.DataFrame | None:
        """A column for each path, None where not every line is an object of this shape."""
        import polars as pl

        try:
            frame = pl.read_ndjson(text, schema=self._schema)
            return frame.select(**self._paths) if frame.height == lines else None
        except pl.exceptions.PolarsError:
            return None

    def learn(self, text: bytes) -> bool:
        """Look at some records for keys that hold no objects; whether there were new ones."""
        before = len(self._mixed)
        for record in text.split(b"\n", _LOOKED_AT)[:_LOOKED_AT]:
            made, _ = json_object(record)
            if made is not None:
                self._mixed |= {path for path in self._inner if _is_no_object(made, path)}
        if len(self._mixed) == before:
            return False
        self._prepare()
        return True

    def _prepare(self) -> None:
        self._schema = self._dtype(()).to_schema()
        self._paths = self._expressions(())

    def _children(self, prefix: Path) -> dict[str, Path]:
        size = len(prefix)
        paths = self._leaves | self._inner
        return {
            path[-1]: path
            for path in sorted(paths)
            if len(path) == size + 1 and path[:-1] == prefix
        }

    def _dtype(self, prefix: Path) -> pl.Struct:
        import polars as pl

        return pl.Struct(
            {
                key: self._dtype(path) if path in self._inner - self._mixed else pl.String()
                for key, path in self._children(prefix).items()
            }
        )

    def _expressions(self, prefix: Path, parent: pl.Expr | None = None) -> dict[str, pl.Expr]:
        import polars as pl

        made: dict[str, pl.Expr] = {}
        for key, path in self._children(prefix).items():
            here = pl.col(key) if parent is None else parent.struct.field(key)
            value = here
            if path in self._mixed:
                is_object = here.str.starts_with("{")
                value = pl.when(~is_object).then(here)
                # polars writes an object down without escaping its backslashes.
                escaped = here.str.contains("\\", literal=True)
                made[f"escaped {_flat(path)}"] = is_object & escaped
                whole = pl.when(is_object & ~escaped).then(here)
                here = whole.str.json_decode(self._dtype(path))
            if path in self._inner:
                made |= self._expressions(path, here)
                made[_presence(path)] = pl.when(here.is_not_null()).then(pl.lit(1))
            if path in self._leaves:
                made[_flat(path)] = value
        return made

    def doubtful(self, text: bytes, raw: pl.DataFrame) -> npt.NDArray[np.bool_]:
        """The lines in which a key may stand twice, be escaped, or hold half of a character."""
        import polars as pl

        # No control character is left in what was parsed, so each line is one field.
        lines = pl.read_csv(
            text, has_header=False, separator="\x01", quote_char=None, schema={"text": pl.String}
        )["text"]
        rows = lines.str.count_matches(self._keys).to_numpy() > self._seen(raw, self._by_key)
        if rows.any():
            # Some are keys of other objects, or hold nothing.
            where = np.flatnonzero(rows)
            some, seen = lines.gather(where), raw[where]
            again = np.zeros(len(where), bool)
            for key in self._by_key:
                written = some.str.count_matches(rf'"{re.escape(key)}"\s*:').to_numpy()
                again |= written > np.maximum(self._seen(seen, [key]), 1)
            rows[where] = again
        if b"\\" in text:
            rows |= lines.str.contains(f"{_SURROGATE}|{_ESCAPED_KEY}").to_numpy()
            rows |= self._escaped(raw)
        return rows

    def _escaped(self, raw: pl.DataFrame) -> npt.NDArray[np.bool_]:
        """Records with an object or a list as a value, whose text has backslashes."""
        rows = np.zeros(raw.height, bool)
        for path in self._leaves:
            values = raw[_flat(path)]
            if values.null_count() < len(values):
                written = values.str.contains(r"^[\[{](?s:.)*\\")
                rows |= written.fill_null(value=False).to_numpy()
        for path in self._mixed:
            rows |= raw[f"escaped {_flat(path)}"].fill_null(value=False).to_numpy()
        return rows

    def _seen(self, raw: pl.DataFrame, keys: Iterable[str]) -> npt.NDArray[np.int64]:
        """How many of the paths that end with these keys each record has."""
        seen = np.zeros(raw.height, np.int64)
        for key in keys:
            for path in self._by_key[key]:
                for column in (_flat(path), _presence(path)):
                    if column in raw.columns and raw[column].null_count() < raw.height:
                        seen += raw[column].is_not_null().to_numpy()
        return seen


def _presence(path: Path) -> str:
    return f"has {_flat(path)}"


def _is_no_object(record: Any, path: Path) -> bool:
    for key in path:
        if not isinstance(record, dict):
            return False
        record = record.get(key)
    return record is not None and not isinstance(record, dict)
