"""Records of JSON, one a line: Suricata's eve.json, Zeek's JSON logs, ECS, anything with a time.

Most lines are parsed as a whole, by the paths that earlier lines had. Lines with keys besides are
parsed by all paths, and what is still doubtful, or does not parse, is read one by one.
"""

from __future__ import annotations

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
from assay.sources.logs.json_shape import Shape, flat
from assay.sources.logs.names import HOST, KIND, NAMES, REPEATED, field_column

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
            column: [paths_of(name) for name in among] for column, among in names.items()
        }
        self._columns |= {field_column(field): [paths_of(field)] for field in fields}
        leaves = {path for among in self._columns.values() for paths in among for path in paths}
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
    ) -> tuple[pl.DataFrame, list[Broken]]:
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
        some = b"\n".join([split[i] for i in where.tolist()])
        again, bad = self._read_all(some, len(where), 0, 0)
        again = again.with_columns(pl.Series(_ROW, where).gather(again[_ROW]))
        broken = [
            Broken(row + int(where[one.row]), line + int(where[one.row]), one.reason) for one in bad
        ]
        return pl.concat([frame.filter(~doubtful), again]).sort(_ROW), broken

    def _read_all(
        self, text: bytes, lines: int, row: int, line: int
    ) -> tuple[pl.DataFrame, list[Broken]]:
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
        known = self._known | shape.present(raw)
        if self._usual is None or known != self._known:
            self._known, self._usual = known, shape.of(known) if known else None
        frame = self._chosen(raw, shape)
        doubtful = shape.doubtful(text, raw, shape.keys) | self._ambiguous(raw, shape)
        if not doubtful.any():
            return frame, []
        split = text.split(b"\n")
        again, broken = self._one_by_one(
            ((i, split[i]) for i in np.flatnonzero(doubtful).tolist()), row, line
        )
        return pl.concat([frame.filter(~doubtful), again]).sort(_ROW), broken

    def _chosen(self, raw: pl.DataFrame, shape: Shape) -> pl.DataFrame:
        import polars as pl

        none = pl.lit(None, pl.String)
        columns: dict[str, pl.Expr] = {}
        for column, among in self._columns.items():
            values = [
                pl.col(flat(path)) for paths in among for path in paths if path in shape.leaves
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
        for among in self._columns.values():
            for _, *others in among:
                read = [path for path in others if path in shape.leaves]
                if len(read) > 1:
                    present = [raw[flat(path)].is_not_null().to_numpy() for path in read]
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
                cell = text_of(value_of(record, paths))
                if cell is not None and not (column in NAMES and cell.startswith("{")):
                    break
                cell = None
            if column in (HOST, KIND) and value_at(record, _ZEEK) is not None:
                cell = None if column == HOST else self._kind if cell is None else cell
            yield cell
