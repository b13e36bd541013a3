"""Records of text: Zeek's logs, fast.log of Snort and Suricata, and the Common Event Format (CEF).

What logs call things stands here too, that of Suricata and the Elastic Common Schema (ECS)
included. Of each thing the first name that a record has counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.errors import InputError
from assay.v02.sources.files.delimited import BLANK, NUL, wrong_counts
from assay.v02.sources.files.request import BrokenRecord, Piece

if TYPE_CHECKING:
    import polars as pl

TIME, KIND, HOST, RULE = "time", "kind", "host", "rule"
SRC_IP, DST_IP, SRC_PORT, DST_PORT = "src_ip", "dst_ip", "src_port", "dst_port"
LINE, FILE = "line", "file"
# What an event is given as, in this order; the keys that were asked for follow.
COLUMNS = (TIME, KIND, SRC_IP, DST_IP, SRC_PORT, DST_PORT, HOST, RULE, LINE, FILE)
PORTS = (SRC_PORT, DST_PORT)

# A rule is told by the number of its signature, that of its generator, and its name.
RULE_ID, RULE_GENERATOR, RULE_NAME = "rule id", "rule generator", "rule name"
# A name only beside a number: other logs call any text so.
RULE_MESSAGE = "rule message"

ALERT = "alert"

NAMES: dict[str, tuple[str, ...]] = {
    TIME: ("timestamp", "@timestamp", "ts", "time"),
    KIND: ("event_type", "_path", "event.kind"),
    SRC_IP: ("src_ip", "id.orig_h", "source.ip", "src_addr", "src"),
    DST_IP: ("dest_ip", "dst_ip", "id.resp_h", "destination.ip", "dst_addr", "dst"),
    SRC_PORT: ("src_port", "id.orig_p", "source.port", "spt"),
    DST_PORT: ("dest_port", "dst_port", "id.resp_p", "destination.port", "dpt"),
    HOST: ("host.name", "host", "hostname"),
    RULE_ID: ("alert.signature_id", "rule.id", "rule", "signature_id"),
    RULE_GENERATOR: ("alert.gid",),
    RULE_NAME: ("alert.signature", "rule.name", "note", "signature"),
    RULE_MESSAGE: ("msg",),
}
# Where Suricata repeats names inside of other objects.
REPEATED = tuple(("flow", key) for key in ("src_ip", "dest_ip", "src_port", "dest_port"))


def field_column(field: str) -> str:
    """The column of a key that was asked for, until the others have their final names."""
    return f"field {field}"


# -- Zeek's tab-separated text, whose header says how it is written --------------------------------
#
# A header may stand in the middle too, where files were put one behind the other.

_ESCAPE = re.compile(rb"\\x([0-9a-fA-F]{2})")
_NOTICE = "notice"
_ROW = "row of the piece\x1f"
_NOTICE_PORT = "p"


class ZeekText:
    """Reads pieces of one log; what the header said is kept from piece to piece."""

    def __init__(self, name: str, fields: Sequence[str], time: str | None = None) -> None:
        self._name = name
        self._fields = fields
        self._time = time
        self._separator = "\t"
        self._unset = "-"
        self._empty = "(empty)"
        self._path: str | None = None
        self._columns: tuple[str, ...] = ()

    def pieces(self, text: bytes, row: int, line: int) -> Iterator[Piece]:
        """The records between headers; rows are counted from ``row`` on."""
        text = text.replace(b"\r\n", b"\n").removesuffix(b"\r")
        for segment in _segments(text):
            lines = segment.count(b"\n") + 1
            if segment.startswith(b"#"):
                for i, header in enumerate(segment.split(b"\n")):
                    self._read_header(header, line + i)
            elif not self._columns:
                raise InputError(
                    f"{self._name}, line {line}: records before a line that begins with #fields, "
                    f"so that nobody knows what their columns are. Put the header of the log first"
                )
            else:
                yield self._piece(segment, lines, row, line)
                row += lines
            line += lines

    def _read_header(self, written: bytes, line: int) -> None:
        place = f"{self._name}, line {line}"
        try:
            header = written.decode()
        except UnicodeDecodeError as error:
            raise InputError(f"{place}: a header that is not UTF-8") from error
        if header.startswith("#separator"):
            self._separator = unescaped(header.removeprefix("#separator").lstrip(" \t"))
            if len(self._separator) != 1 or not self._separator.isascii():
                raise InputError(
                    f"{place}: the separator is {self._separator!r}; expected one ASCII character, "
                    f"such as \\x09"
                )
            return
        key, *values = header.split(self._separator)
        value = values[0] if values else ""
        if key == "#unset_field":
            self._unset = value
        elif key == "#empty_field":
            self._empty = value
        elif key == "#path":
            self._path = value
        elif key == "#fields":
            if not values or len(set(values)) < len(values):
                raise InputError(f"{place}: #fields has a name twice, or none")
            self._columns = tuple(values)
        elif key == "#types" and len(values) != len(self._columns):
            raise InputError(
                f"{place}: #types has {len(values)} fields and #fields {len(self._columns)}"
            )

    def _piece(self, text: bytes, lines: int, row: int, line: int) -> Piece:
        data = np.frombuffer(text, np.uint8)
        ends = np.append(np.flatnonzero(data == ord("\n")) + 1, len(text) + 1)
        starts = np.append(0, ends[:-1])
        marks = np.flatnonzero(data == ord(self._separator))
        broken = wrong_counts(marks, len(self._columns), starts, ends)
        broken |= dict.fromkeys(np.flatnonzero(ends - starts == 1).tolist(), BLANK)
        if b"\0" in text:
            places = np.searchsorted(ends, np.flatnonzero(data == 0), side="right")
            broken |= dict.fromkeys(places.tolist(), NUL)
        try:
            text.decode()
        except UnicodeDecodeError:
            broken |= _not_utf8(text)
        good = np.ones(lines, bool)
        good[list(broken)] = False
        if broken:
            split = text.split(b"\n")
            text = b"\n".join(split[i] for i in np.flatnonzero(good).tolist())
        rows: Any = np.flatnonzero(good) + row
        offset = line - row
        return Piece(
            self._frame(text, len(rows), line),
            rows,
            lambda i: int(rows[i]) + offset,
            [BrokenRecord(row + i, line + i, reason) for i, reason in sorted(broken.items())],
        )

    def _frame(self, text: bytes, rows: int, line: int) -> pl.DataFrame:
        import polars as pl

        chosen = self._chosen()
        needed = sorted({column for alternatives in chosen.values() for column in alternatives})
        position = {column: f"column_{i + 1}" for i, column in enumerate(self._columns)}
        schema = {position[column]: pl.String() for column in self._columns}
        raw = pl.DataFrame(schema=dict.fromkeys(needed, pl.String))
        if rows and needed:
            raw = pl.read_csv(
                # polars takes a mark at the beginning for one of the encoding.
                text + b"\n" if not text.startswith(b"\xef\xbb\xbf") else b"\xef\xbb\xbf" + text,
                has_header=False,
                schema=schema,
                columns=[position[column] for column in needed],
                separator=self._separator,
                quote_char=None,
            ).rename({position[column]: column for column in needed})
            if raw.height != rows:
                raise InputError(
                    f"{self._name}, from line {line} on: {rows:,} records were found, but "
                    f"{raw.height:,} were parsed. Please report this with the file"
                )
        values = [self._value(column, raw[column]) for column in needed]
        # Of a log without any such column there are as many rows all the same.
        numbered = pl.DataFrame({_ROW: np.arange(rows)}).hstack(values)
        empty = pl.lit(None, pl.String)
        return numbered.select(
            _ROW,
            *(
                pl.coalesce(*map(pl.col, alternatives), empty).alias(column)
                for column, alternatives in chosen.items()
                if column != KIND
            ),
            pl.lit(self._path, pl.String).alias(KIND),
        ).drop(_ROW)

    def _chosen(self) -> dict[str, list[str]]:
        """The columns of this log that each column of events is made of."""
        names: dict[str, tuple[str, ...]] = {**NAMES, HOST: (), KIND: ()}
        if self._time is not None:
            names[TIME] = (self._time,)
        if self._path == _NOTICE:
            names[DST_PORT] += (_NOTICE_PORT,)
        names |= {field_column(field): (field,) for field in self._fields}
        return {
            column: [name for name in alternatives if name in self._columns]
            for column, alternatives in names.items()
        }

    def _value(self, column: str, values: pl.Series) -> pl.Series:
        import polars as pl

        one = pl.col(column)
        present = pl.when(one != self._unset).then(one)
        cell = pl.when(one == self._empty).then(pl.lit("")).otherwise(present)
        made = values.to_frame().select(cell.alias(column)).to_series()
        if made.str.contains("\\", literal=True).any():
            made = made.map_elements(unescaped, return_dtype=pl.String)
        return made


def unescaped(text: str) -> str:
    r"""Text of Zeek as it was before ``\x`` and two digits stood for its odd bytes.

    >>> unescaped("a\\x09b\\xc3\\xa9")
    'a\tbé'
    """
    parts = text.encode().split(rb"\\")
    raw = (_ESCAPE.sub(lambda code: bytes.fromhex(code[1].decode()), part) for part in parts)
    return b"\\".join(raw).decode(errors="backslashreplace")


def _segments(text: bytes) -> Iterator[bytes]:
    """Runs of header lines and runs of records, in turn."""
    if b"\n#" not in text and not text.startswith(b"#"):
        yield text
        return
    lines = text.split(b"\n")
    begin = 0
    for i in range(1, len(lines) + 1):
        if i == len(lines) or (lines[i][:1] == b"#") != (lines[begin][:1] == b"#"):
            yield b"\n".join(lines[begin:i])
            begin = i


def _not_utf8(text: bytes) -> dict[int, str]:
    broken = {}
    for i, record in enumerate(text.split(b"\n")):
        try:
            record.decode()
        except UnicodeDecodeError as error:
            broken[i] = (
                f"bytes that are not UTF-8 (0x{record[error.start : error.start + 1].hex()})"
            )
    return broken


# -- alerts of one line each -----------------------------------------------------------------------

_FAST = (
    r"^(?P<time>\d\S+) +(?:\[\w+\] )?\[\*\*\] (?:\[\w+\] )?"
    r"\[(?P<gid>\d+):(?P<sid>\d+):(?P<rev>\d+)\] (?P<signature>.*?) \[\*\*\]"
    r"(?: \[Classification: (?P<category>[^\]]*)\])?(?: \[Priority: (?P<priority>\d+)\])?"
    r"(?: \{(?P<proto>[^}]*)\} (?P<source>\S+) -> (?P<target>\S+))? *$"
)
# What eve.json calls the same things.
_FAST_NAMES = {
    "alert.gid": "gid",
    "alert.signature_id": "sid",
    "alert.rev": "rev",
    "alert.signature": "signature",
    "alert.category": "category",
    "alert.severity": "priority",
    "classification": "category",
}
_FOUR = r"^(\d+\.\d+\.\d+\.\d+)(?::(\d+))?$"
_SIX = r"^\[?([0-9a-fA-F:.]*:[0-9a-fA-F:.]*?)\]?:(\d+)$"
_CEF = (
    r"^(?:<\d+>(?:\d )?)?(?P<prefix>.*?) ?CEF: ?\d+\|"
    + "".join(
        rf"(?P<{name}>(?:[^|\\]|\\.)*)\|"
        for name in ("vendor", "product", "version", "signature_id", "name", "severity")
    )
    + r"(?P<extension>.*)$"
)
_SYSLOG = r"^(\d{4}-\d\d-\d\dT\S+|[A-Z][a-z]{2} +\d{1,2} (?:\d{4} )?\d\d:\d\d:\d\d)"
_KEY = r"(?:^| )([A-Za-z_][\w.\[\]]*)="
_APART = "\x1f"
_CEF_NAMES: Mapping[str, tuple[str, ...]] = {
    TIME: ("rt", "start", "end"),
    SRC_IP: ("src", "c6a2"),
    DST_IP: ("dst", "c6a3"),
    SRC_PORT: ("spt",),
    DST_PORT: ("dpt",),
    HOST: ("dvchost", "dhost"),
}
_NO_FAST = "no line of fast.log (TIME [**] [1:2001219:20] NAME [**] ... {TCP} FROM -> TO)"
_NO_CEF = "no line of CEF (CEF:0|vendor|product|version|id|name|severity|key=value ...)"


class FastLines:
    """Reads pieces of fast.log."""

    def __init__(self, fields: Sequence[str]) -> None:
        self._fields = fields

    def piece(self, text: bytes, row: int, line: int) -> Piece:
        """The alerts of whole lines, of which the last has no line end."""
        import polars as pl

        lines, broken = _lines(text)
        parts = lines.select(pl.col("text").str.extract_groups(_FAST)).unnest("text")
        for i in np.flatnonzero(parts["time"].is_null().to_numpy()).tolist():
            broken.setdefault(i, _NO_FAST)
        frame = parts.with_columns(
            *_address("source", SRC_IP, SRC_PORT), *_address("target", DST_IP, DST_PORT)
        )
        none = pl.lit(None, pl.String)
        columns: dict[str, pl.Expr] = {
            **dict.fromkeys(NAMES, none),
            **{name: pl.col(name) for name in (TIME, SRC_IP, DST_IP, SRC_PORT, DST_PORT)},
            KIND: pl.lit(ALERT),
            RULE_ID: pl.col("sid"),
            RULE_GENERATOR: pl.col("gid"),
            RULE_NAME: pl.col("signature"),
        }
        for field in self._fields:
            name = _FAST_NAMES.get(field, field)
            columns[field_column(field)] = pl.col(name) if name in parts.columns else none
        return _piece(frame.select(**columns), broken, row, line)


class CefLines:
    """Reads pieces of CEF, each line with or without what syslog puts before it."""

    def __init__(self, fields: Sequence[str], time: str | None = None) -> None:
        self._fields = fields
        self._names = {**_CEF_NAMES, TIME: _CEF_NAMES[TIME] if time is None else (time,)}

    def piece(self, text: bytes, row: int, line: int) -> Piece:
        """The alerts of whole lines, of which the last has no line end."""
        import polars as pl

        lines, broken = _lines(text)
        parts = lines.select(pl.col("text").str.extract_groups(_CEF)).unnest("text")
        for i in np.flatnonzero(parts["extension"].is_null().to_numpy()).tolist():
            broken.setdefault(i, _NO_CEF)
        parts = parts.with_columns(
            pl.col("extension").str.replace_all(_KEY, _APART + "${1}=") + _APART
        )
        columns: dict[str, pl.Expr] = dict.fromkeys(NAMES, pl.lit(None, pl.String))
        for column, keys in self._names.items():
            columns[column] = pl.coalesce(*map(_extension, keys))
        columns[TIME] = pl.coalesce(columns[TIME], pl.col("prefix").str.extract(_SYSLOG))
        columns[KIND] = pl.lit(ALERT)
        columns[RULE_ID], columns[RULE_NAME] = _header("signature_id"), _header("name")
        for field in self._fields:
            is_header = field in parts.columns and field not in ("prefix", "extension")
            columns[field_column(field)] = _header(field) if is_header else _extension(field)
        return _piece(parts.select(**columns), broken, row, line)


def _lines(text: bytes) -> tuple[pl.DataFrame, dict[int, str]]:
    """Lines as a column of text, and those that can't be."""
    import polars as pl

    text = text.replace(b"\r\n", b"\n").removesuffix(b"\r")
    broken: dict[int, str] = {}
    lines: list[str] = []
    for i, line in enumerate(text.split(b"\n")):
        try:
            lines.append(line.decode())
        except UnicodeDecodeError as error:
            lines.append("")
            broken[i] = f"bytes that are not UTF-8 (0x{line[error.start : error.start + 1].hex()})"
        if b"\0" in line:
            broken[i] = NUL
        elif not line.strip():
            broken[i] = BLANK
    return pl.DataFrame({"text": lines}), broken


def _piece(frame: pl.DataFrame, broken: dict[int, str], row: int, line: int) -> Piece:
    good = np.ones(frame.height, bool)
    good[list(broken)] = False
    rows: Any = np.flatnonzero(good) + row
    offset = line - row
    return Piece(
        frame.filter(good),
        rows,
        lambda i: int(rows[i]) + offset,
        [BrokenRecord(row + i, line + i, reason) for i, reason in sorted(broken.items())],
    )


def _address(written: str, address: str, port: str) -> list[pl.Expr]:
    """Address and port of one text; of IPv6 the port is what stands behind the last colon."""
    import polars as pl

    one = pl.col(written)
    bare_address = pl.when(~one.str.contains(_FOUR)).then(one)
    ported = pl.col("proto").str.to_uppercase().is_in(["TCP", "UDP", "SCTP"])
    # Suricata, whose times have a year, writes two numbers for ICMP too.
    ported |= pl.col("time").str.contains(r"^\d\d/\d\d/\d{4}-")
    six = pl.when(ported).then(one)
    return [
        pl.coalesce(one.str.extract(_FOUR, 1), six.str.extract(_SIX, 1), bare_address).alias(
            address
        ),
        pl.coalesce(one.str.extract(_FOUR, 2), six.str.extract(_SIX, 2)).alias(port),
    ]


def _header(name: str) -> pl.Expr:
    import polars as pl

    return pl.col(name).str.replace_all(r"\\([|\\])", "${1}")


def _extension(key: str) -> pl.Expr:
    import polars as pl

    value = pl.col("extension").str.extract(rf"{_APART}{re.escape(key)}=([^{_APART}]*)")
    return value.str.replace_all(r"\\([=|\\])", "${1}").str.strip_chars()
