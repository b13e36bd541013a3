"""Whole pieces of JSON lines, parsed into the keys that are looked for, each as text.

The parser is quick and not careful: of two equal keys it takes the first, and half a character is a
NUL to it. So the keys of every line are counted beside it, and where there are more of them than
were read, the line is one to be looked at again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from assay.sources.files.dotted import Path, json_object

if TYPE_CHECKING:
    import polars as pl

_LOOKED_AT = 256
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

    def of(self, known: set[Path]) -> Shape:
        """The shape of fewer paths, with what lies inside of those that may hold objects."""
        inside = {
            path for path in self.leaves if any(path[:i] in known for i in range(1, len(path)))
        }
        return Shape(known | inside, self._mixed)

    def present(self, raw: pl.DataFrame) -> set[Path]:
        """The paths that some record has."""
        return {path for path in self.leaves if raw[flat(path)].null_count() < raw.height}

    # -- parsing -----------------------------------------------------------------------------------

    def parsed(self, text: bytes, lines: int) -> pl.DataFrame | None:
        """A column for each path, None where not every line is an object of this shape."""
        import polars as pl

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
                whole = pl.when(is_object & ~escaped).then(here)
                here = whole.str.json_decode(self._dtype(path))
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
            some, seen = lines.gather(where), raw[where]
            again = np.zeros(len(where), bool)
            for key in self._by_key:
                written = some.str.count_matches(rf'"{re.escape(key)}"\s*:').to_numpy()
                again |= written > np.maximum(self._seen(seen, [key]), 1)
            rows[where] = again
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


def _is_no_object(record: Any, path: Path) -> bool:
    for key in path:
        if not isinstance(record, dict):
            return False
        record = record.get(key)
    return record is not None and not isinstance(record, dict)
