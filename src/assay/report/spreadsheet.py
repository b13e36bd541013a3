"""The face that spreadsheets read: CSV."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from assay.report.sections import Report

_QUOTE = "'"
# What a spreadsheet takes for the start of a formula, full-width forms too, blanks before it or
# not; and what begins like a cell that was made harmless.
_ODD = re.compile("['\t\r\n\0]|[\\s\0\ufeff\u200b\u2060]*[-=+@\uff1d\uff0b\uff0d\uff20]")

_SURROGATE = re.compile("[\ud800-\udfff]")
# Quoted where it must be, and where a spreadsheet might split at another delimiter.
_TO_QUOTE = re.compile('[",;|\t\r\n\0]|^\\s|\\s$')


def to_csv(report: Report) -> str:
    """One row a record, as RFC 4180 has it: CRLF, numbers with all their digits, null as nothing.

    Text that a spreadsheet would run is made harmless by :func:`neutralised`.
    """
    if not report.records:
        return ""
    return csv_text(tuple(report.records[0]), report.records)


def csv_text(heads: Sequence[str], records: Sequence[Mapping[str, Any]]) -> str:
    """Records as lines of CSV, under their heads."""
    lines = [",".join(heads)]
    lines += [",".join(_cell(record[head]) for head in heads) for record in records]
    return "".join(f"{line}\r\n" for line in lines)


def _cell(found: Any) -> str:
    if found is None:
        return ""
    if isinstance(found, bool | int | float):
        return repr(found)
    text = neutralised(_SURROGATE.sub("\ufffd", str(found)))
    if _TO_QUOTE.search(text):
        return '"' + text.replace('"', '""') + '"'
    return text


def neutralised(text: str) -> str:
    """Text that no spreadsheet takes for a formula: an apostrophe goes before what looks like one.

    Text that begins with an apostrophe gets another, so that :func:`restored` gives back any text.

    >>> neutralised("=cmd|' /C calc'!A0"), neutralised("dos"), neutralised("'quoted'")
    ("'=cmd|' /C calc'!A0", 'dos', "''quoted'")
    """
    return _QUOTE + text if _ODD.match(text) else text


def restored(text: str) -> str:
    """What the text was before :func:`neutralised`.

    >>> restored("'=1+1"), restored("dos")
    ('=1+1', 'dos')
    """
    return text.removeprefix(_QUOTE)
