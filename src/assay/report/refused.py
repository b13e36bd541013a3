"""The rows that were left out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.report.numbers import count
from assay.report.sections import Column, Kind, Section, Table


def refused_rows(source: Mapping[str, Any]) -> tuple[Section, ...]:
    """The rows that were left out, as far as they are listed; those of a database by reason."""
    refused, listed_rows = source["rows_refused"], source["refused"]
    if not refused:
        return ()
    said = f"{count(refused)} of {count(source['rows_read'])} rows were refused"
    if source.get("reasons"):
        reasons = tuple((reason, rows) for reason, rows in source["reasons"].items())
        by_reason = Table(said, (Column("reason"), Column("rows", Kind.COUNT)), reasons)
        return (Section("Refused rows", (by_reason,)),)
    if len(listed_rows) < refused:
        said += f"; the first {count(len(listed_rows))} are listed"
    columns = (Column("file"), Column("line or row"), Column("reason"))
    rows = tuple(
        (
            each.get("file", ""),
            f"line {each['line']}" if each.get("line") else f"row {each['row']}",
            each["reason"],
        )
        for each in listed_rows
    )
    return (Section("Refused rows", (Table(said, columns, rows),)),)
