"""Logs of Suricata and Zeek read into events, beside plain ways to read the same files."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from assay.learn.scenarios import write_week
from speed.files import timed
from speed.timing import Finding

_LINES = 5_000_000
_MINUTE, _MEMORY = 60.0, 0.5
_EVENTS = """
import json, sys
from assay.sources.logs import read_events
events = read_events(sys.argv[1:], fields=["alert.severity"])
alerts = sum(int((batch["kind"] == "alert").sum()) for batch in events)
print(json.dumps({"rows": events.rows_read, "alerts": alerts}))
"""
# What one would write by hand: every line by itself, and everything at once.
_LINE_BY_LINE = """
import json, sys
rows = alerts = 0
for line in open(sys.argv[1], "rb"):
    event = json.loads(line)
    rows += 1
    alerts += event["event_type"] == "alert" and event["alert"]["severity"] > 0
print(json.dumps({"rows": rows, "alerts": alerts}))
"""
_SCANNED = """
import json, sys
import polars as pl
rows, alerts = pl.scan_ndjson(sys.argv[1], infer_schema_length=None).select(
    pl.len(), (pl.col("event_type") == "alert").sum().alias("alerts")
).collect(engine="streaming").row(0)
print(json.dumps({"rows": rows, "alerts": alerts}))
"""


def findings(count: int = _LINES) -> Iterator[Finding]:
    """Time and memory of reading a week of logs, and of two peers on the larger of them."""
    with tempfile.TemporaryDirectory() as folder:
        week = write_week(Path(folder), count)
        eve, conn = str(Path(folder) / "eve.json"), str(Path(folder) / "conn.log")
        seconds, peak, out = timed([sys.executable, "-c", _EVENTS, eve, conn])
        _must_be(out, count, week.alerts)
        whole = count >= _LINES
        yield Finding(
            f"read {count:,} lines of eve.json and conn.log",
            *(seconds, "s", _MINUTE if whole else None),
        )
        yield Finding("  peak memory of the process", peak / 1e9, "GB", at_most=_MEMORY)
        for what, code in (
            ("  eve.json alone", _EVENTS),
            ("  eve.json by json.loads of each line", _LINE_BY_LINE),
            ("  eve.json by polars.scan_ndjson", _SCANNED),
        ):
            seconds, peak, out = timed([sys.executable, "-c", code, eve])
            _must_be(out, week.eve, week.alerts)
            yield Finding(what, seconds, "s")
            yield Finding("  its peak memory", peak / 1e9, "GB")


def _must_be(out: str, rows: int, alerts: int) -> None:
    read = json.loads(out)
    expected = {"rows": rows, "alerts": alerts}
    assert read == expected, f"{read} was read, not {expected}"
