"""Alerts of one line each: fast.log of Snort and Suricata, and the Common Event Format (CEF)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.sources.files.scan import BLANK, NUL
from assay.sources.files.table import Broken, Piece
from assay.sources.logs.names import (
    ALERT,
    DST_IP,
    DST_PORT,
    HOST,
    KIND,
    NAMES,
    RULE_GENERATOR,
    RULE_ID,
    RULE_NAME,
    SRC_IP,
    SRC_PORT,
    TIME,
    field_column,
)

if TYPE_CHECKING:
    import polars as pl

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
            known = field in parts.columns and field not in ("prefix", "extension")
            columns[field_column(field)] = _header(field) if known else _extension(field)
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
        except UnicodeDecodeError as odd:
            lines.append("")
            broken[i] = f"bytes that are not UTF-8 (0x{line[odd.start : odd.start + 1].hex()})"
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
        [Broken(row + i, line + i, reason) for i, reason in sorted(broken.items())],
    )


def _address(written: str, address: str, port: str) -> list[pl.Expr]:
    """Address and port of one text; of IPv6 the port is what stands behind the last colon."""
    import polars as pl

    one = pl.col(written)
    whole = pl.when(~one.str.contains(_FOUR)).then(one)
    ported = pl.col("proto").str.to_uppercase().is_in(["TCP", "UDP", "SCTP"])
    # Suricata, whose times have a year, writes two numbers for ICMP too.
    ported |= pl.col("time").str.contains(r"^\d\d/\d\d/\d{4}-")
    six = pl.when(ported).then(one)
    return [
        pl.coalesce(one.str.extract(_FOUR, 1), six.str.extract(_SIX, 1), whole).alias(address),
        pl.coalesce(one.str.extract(_FOUR, 2), six.str.extract(_SIX, 2)).alias(port),
    ]


def _header(name: str) -> pl.Expr:
    import polars as pl

    return pl.col(name).str.replace_all(r"\\([|\\])", "${1}")


def _extension(key: str) -> pl.Expr:
    import polars as pl

    value = pl.col("extension").str.extract(rf"{_APART}{re.escape(key)}=([^{_APART}]*)")
    return value.str.replace_all(r"\\([=|\\])", "${1}").str.strip_chars()
