"""Records of JSON, one a line: Suricata's eve.json, Zeek's JSON logs, ECS, anything with a time.

Most lines are parsed as a whole, by the paths that earlier lines had. Lines with keys besides are
parsed by all paths, and what is still doubtful, or does not parse, is read one by one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from assay.v02.sources.files.json_files import (
    Path,
    Unreadable,
    json_object,
    paths_of,
    text_of,
    value_at,
    value_of,
)
from assay.v02.sources.files.request import BrokenRecord, Piece
from assay.v02.sources.log_text import HOST, KIND, NAMES, REPEATED, field_column

if TYPE_CHECKING:
    import polars as pl

_FEW = 32
_ZEEK = ("id.orig_h",)
_ROW = "row of the piece"


class JsonLines:
    """Reads pieces of JSON lines into the columns of :data:`NAMES` and further keys, as text."""

    def __init__(
        self, fields: Sequence[str], time: str | None = None, kind: str | None = None
    ) -> None:
        self._kind = kind
        names = dict(NAMES) if time is None else {**NAMES, "time": (time,)}
        self._columns = {
            column: [paths_of(name) for name in alternatives]
            for column, alternatives in names.items()
        }
        self._columns |= {field_column(field): [paths_of(field)] for field in fields}
        leaves = {
            path
            for alternatives in self._columns.values()
            for paths in alternatives
            for path in paths
        }
        self._all = Shape(leaves | {*REPEATED, _ZEEK})
        self._known: set[Path] = set()
        self._usual: Shape | None = None

    def piece(self, text: bytes, row: int, line: int) -> Piece:
        """The records of whole lines, of which the last has no line end."""
        lines = text.count(b"\n") + 1
        frame, broken = self._read(text, lines, row, line)
        rows: Any = frame[_ROW].to_numpy() + row
        offset = line - row
        return Piece(frame.drop(_ROW), rows, lambda i: int(rows[i]) + offset, broken)

    def _read(
        self, text: bytes, lines: int, row: int, line: int
    ) -> tuple[pl.DataFrame, list[BrokenRecord]]:
        """The good records with their positions, and the bad ones."""
        import polars as pl

        usual = self._usual
        raw = None if usual is None else usual.parsed(text, lines)
        if usual is None or raw is None:
            return self._read_all(text, lines, row, line)
        frame = self._chosen(raw, usual)
        doubtful = usual.doubtful(text, raw, self._all.keys) | self._ambiguous(raw, usual)
        if not doubtful.any():
            return frame, []
        where = np.flatnonzero(doubtful)
        split = text.split(b"\n")
        chosen_lines = b"\n".join([split[i] for i in where.tolist()])
        reread, bad = self._read_all(chosen_lines, len(where), 0, 0)
        reread = reread.with_columns(pl.Series(_ROW, where).gather(reread[_ROW]))
        broken = [
            BrokenRecord(row + int(where[one.row]), line + int(where[one.row]), one.reason)
            for one in bad
        ]
        return pl.concat([frame.filter(~doubtful), reread]).sort(_ROW), broken

    def _read_all(
        self, text: bytes, lines: int, row: int, line: int
    ) -> tuple[pl.DataFrame, list[BrokenRecord]]:
        """The same by every path that is looked for; where that fails, by halves."""
        import polars as pl

        shape = self._all
        raw = shape.parsed(text, lines)
        if raw is None and lines > _FEW and shape.learn(text):
            self._usual = None
            raw = shape.parsed(text, lines)
        if raw is None and lines > _FEW:
            cut = text.find(b"\n", len(text) // 2)
            cut = text.rindex(b"\n") if cut < 0 else cut
            first = text.count(b"\n", 0, cut) + 1
            one, bad = self._read_all(text[:cut], first, row, line)
            two, worse = self._read_all(text[cut + 1 :], lines - first, row + first, line + first)
            two = two.with_columns(pl.col(_ROW) + first)
            return pl.concat([one, two]), bad + worse
        if raw is None:
            return self._one_by_one(enumerate(text.split(b"\n")), row, line)
        paths = self._known | shape.present(raw)
        if self._usual is None or paths != self._known:
            self._known, self._usual = paths, shape.of(paths) if paths else None
        frame = self._chosen(raw, shape)
        doubtful = shape.doubtful(text, raw, shape.keys) | self._ambiguous(raw, shape)
        if not doubtful.any():
            return frame, []
        split = text.split(b"\n")
        reread, broken = self._one_by_one(
            ((i, split[i]) for i in np.flatnonzero(doubtful).tolist()), row, line
        )
        return pl.concat([frame.filter(~doubtful), reread]).sort(_ROW), broken

    def _chosen(self, raw: pl.DataFrame, shape: Shape) -> pl.DataFrame:
        import polars as pl

        none = pl.lit(None, pl.String)
        columns: dict[str, pl.Expr] = {}
        for column, alternatives in self._columns.items():
            values = [
                pl.col(flat(path))
                for paths in alternatives
                for path in paths
                if path in shape.leaves
            ]
            if column in NAMES:
                # An object is no address and no name.
                values = [pl.when(~value.str.starts_with("{")).then(value) for value in values]
            columns[column] = pl.coalesce(*values, none)
        if _ZEEK in shape.leaves:
            zeek = pl.col(flat(_ZEEK)).is_not_null()
            kind = pl.lit(self._kind, pl.String)
            columns[HOST] = pl.when(~zeek).then(columns[HOST])
            columns[KIND] = pl.coalesce(columns[KIND], pl.when(zeek).then(kind))
        return raw.select(pl.int_range(pl.len()).alias(_ROW), **columns)

    def _ambiguous(self, raw: pl.DataFrame, shape: Shape) -> npt.NDArray[np.bool_]:
        """Records in which more than one path of a key leads somewhere."""
        rows = np.zeros(raw.height, bool)
        for alternatives in self._columns.values():
            for _, *others in alternatives:
                read = [path for path in others if path in shape.leaves]
                if len(read) > 1:
                    present = [raw[flat(path)].is_not_null().to_numpy() for path in read]
                    rows |= np.sum(present, axis=0) > 1
        return rows

    def _one_by_one(
        self, numbered: Iterable[tuple[int, bytes]], row: int, line: int
    ) -> tuple[pl.DataFrame, list[BrokenRecord]]:
        import polars as pl

        values: dict[str, list[str | None]] = {column: [] for column in self._columns}
        kept: list[int] = []
        broken: list[BrokenRecord] = []
        for i, record in numbered:
            made, reason = json_object(record)
            try:
                cells = None if made is None else list(self._cells(made))
            except Unreadable as error:
                cells, reason = None, str(error)
            if cells is None:
                broken.append(BrokenRecord(row + i, line + i, reason))
                continue
            kept.append(i)
            for column, cell in zip(values.values(), cells, strict=True):
                column.append(cell)
        schema = dict.fromkeys(values, pl.String)
        frame = pl.DataFrame({_ROW: pl.Series(kept, dtype=pl.Int64)})
        return frame.hstack(pl.DataFrame(values, schema=schema)), broken

    def _cells(self, record: dict[str, Any]) -> Iterator[str | None]:
        for column, alternatives in self._columns.items():
            cell = None
            for paths in alternatives:
                cell = text_of(value_of(record, paths))
                if cell is not None and not (column in NAMES and cell.startswith("{")):
                    break
                cell = None
            if column in (HOST, KIND) and value_at(record, _ZEEK) is not None:
                cell = None if column == HOST else self._kind if cell is None else cell
            yield cell


# -- whole pieces of lines, parsed into the keys that are looked for -------------------------------
#
# The parser is quick and not careful: of two equal keys it takes the first, and half a character is
# a NUL to it. So the keys of every line are counted beside it, and where there are more of them
# than were read, the line is one to be looked at again.

_LOOKED_AT = 256
# polars before 2.1 ends its process on some thousands of brackets inside of each other.
_DEEPEST = 1000
_SURROGATE = r"\\u[dD][89a-fA-F]"
_ESCAPED_KEY = r'"(?:[^"\\]|\\.)*\\.(?:[^"\\]|\\.)*"\s*:'


def flat(path: Path) -> str:
    """The column of a path."""
    return "\x1f".join(path)


def _presence(path: Path) -> str:
    """The column that tells whether there is an object at a path."""
    return f"has {flat(path)}"


def _escaped(path: Path) -> str:
    """The column that tells whether an object can't be read from its text."""
    return f"escaped {flat(path)}"


class Shape:
    """Which paths are parsed, and which of them hold text in one record and objects in another."""

    def __init__(self, leaves: set[Path], mixed: Iterable[Path] = ()) -> None:
        self.leaves = leaves
        self._inner = {path[:i] for path in leaves for i in range(1, len(path))}
        self._mixed = (self.leaves & self._inner) | (set(mixed) & self._inner)
        self._by_key: dict[str, list[Path]] = {}
        for path in sorted(leaves | self._inner):
            self._by_key.setdefault(path[-1], []).append(path)
        self.keys = f'"(?:{"|".join(map(re.escape, self._by_key))})"\\s*:'
        self._prepare()

    def of(self, paths: set[Path]) -> Shape:
        """The shape of fewer paths, with what lies inside of those that may hold objects."""
        inside = {
            path for path in self.leaves if any(path[:i] in paths for i in range(1, len(path)))
        }
        return Shape(paths | inside, self._mixed)

    def present(self, raw: pl.DataFrame) -> set[Path]:
        """The paths that some record has."""
        return {path for path in self.leaves if raw[flat(path)].null_count() < raw.height}

    # -- parsing -----------------------------------------------------------------------------------

    def parsed(self, text: bytes, lines: int) -> pl.DataFrame | None:
        """A column for each path, None where not every line is an object of this shape."""
        import polars as pl

        if _may_be_deep(text):
            return None
        try:
            frame = pl.read_ndjson(text, schema=self._schema)
            return frame.select(**self._columns) if frame.height == lines else None
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
        self._columns = self._expressions(())

    def _children(self, prefix: Path) -> dict[str, Path]:
        paths = sorted(self.leaves | self._inner)
        return {path[-1]: path for path in paths if path[:-1] == prefix}

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
                escaped = is_object & here.str.contains("\\", literal=True)
                made[_escaped(path)] = escaped
                object_text = pl.when(is_object & ~escaped).then(here)
                here = object_text.str.json_decode(self._dtype(path))
            if path in self._inner:
                made |= self._expressions(path, here)
                made[_presence(path)] = pl.when(here.is_not_null()).then(pl.lit(1))
            if path in self.leaves:
                made[flat(path)] = value
        return made

    # -- lines to be looked at again ---------------------------------------------------------------

    def doubtful(self, text: bytes, raw: pl.DataFrame, keys: str) -> npt.NDArray[np.bool_]:
        """The lines that have more ``keys`` than were read, escaped ones, or half a character."""
        import polars as pl

        # No control character is left in what was parsed, so each line is one field.
        lines = pl.read_csv(
            text, has_header=False, separator="\x01", quote_char=None, schema={"text": pl.String}
        )["text"]
        rows = lines.str.count_matches(keys).to_numpy() > self._seen(raw, self._by_key)
        if rows.any() and keys == self.keys:
            # Some are keys of other objects, or hold nothing.
            where = np.flatnonzero(rows)
            texts, seen = lines.gather(where), raw[where]
            repeated = np.zeros(len(where), bool)
            for key in self._by_key:
                written = texts.str.count_matches(rf'"{re.escape(key)}"\s*:').to_numpy()
                repeated |= written > np.maximum(self._seen(seen, [key]), 1)
            rows[where] = repeated
        if b"\\" in text:
            rows |= lines.str.contains(f"{_SURROGATE}|{_ESCAPED_KEY}").to_numpy()
            rows |= self._with_backslashes(raw)
        return rows

    def _with_backslashes(self, raw: pl.DataFrame) -> npt.NDArray[np.bool_]:
        """Records with an object or a list as a value, whose text has backslashes."""
        rows = np.zeros(raw.height, bool)
        for path in self.leaves:
            values = raw[flat(path)]
            if values.null_count() < len(values):
                written = values.str.contains(r"^[\[{](?s:.)*\\")
                rows |= written.fill_null(value=False).to_numpy()
        for path in self._mixed:
            rows |= raw[_escaped(path)].fill_null(value=False).to_numpy()
        return rows

    def _seen(self, raw: pl.DataFrame, keys: Iterable[str]) -> npt.NDArray[np.int64]:
        """How many of the paths that end with these keys each record has."""
        seen = np.zeros(raw.height, np.int64)
        names = self._names
        for key in keys:
            for column in names[key]:
                missing = raw[column].null_count()
                if not missing:
                    seen += 1
                elif missing < raw.height:
                    seen += raw[column].is_not_null().to_numpy()
        return seen

    @cached_property
    def _names(self) -> dict[str, list[str]]:
        """The columns that tell of a key."""
        return {
            key: [
                *(flat(path) for path in paths if path in self.leaves),
                *(_presence(path) for path in paths if path in self._inner),
            ]
            for key, paths in self._by_key.items()
        }


def _may_be_deep(text: bytes) -> bool:
    """Whether some line has so many brackets that they may lie inside of each other."""
    return any(
        line.count(b"[") + line.count(b"{") > _DEEPEST
        for line in text.split(b"\n")
        if len(line) > _DEEPEST
    )


def _is_no_object(record: Any, path: Path) -> bool:
    for key in path:
        if not isinstance(record, dict):
            return False
        record = record.get(key)
    return record is not None and not isinstance(record, dict)
