"""OpenMetrics, the text that Prometheus reads: gauges with labels, and those of a monitor."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import TypeAlias

from assay.decisions.monitor.result import Monitor, RuleOutcome

# The family of a sample, its labels and its value.
Sample: TypeAlias = tuple[str, Mapping[str, str], float]

_OF_MONITOR = {
    "assay_watched": "A figure of all rows so far.",
    "assay_watched_low": "The lower end of its confidence sequence.",
    "assay_watched_high": "The upper end of its confidence sequence.",
    "assay_watched_mature": "The share of the rows in question that have a label.",
    "assay_rule_broken": "Whether a rule is shown to be broken.",
    "assay_rule_holds": "Whether a rule is shown to hold.",
    "assay_shift_evidence": "The log of the largest evidence so far that a column has shifted.",
    "assay_shift_limit": "The log of the evidence that is enough.",
    "assay_rows": "How many rows were counted.",
    "assay_until_seconds": "The last day that has rows.",
}


def exposition(families: Mapping[str, str], samples: Iterable[Sample]) -> str:
    """The text of OpenMetrics 1.0; a family that ends with its unit says so."""
    lines: dict[str, list[str]] = {family: [] for family in families}
    for family, labels, value in samples:
        inside = ",".join(f'{name}="{_escaped(text)}"' for name, text in labels.items())
        lines[family].append(f"{family}{{{inside}}} {value!r}" if inside else f"{family} {value!r}")
    text = []
    for family, about in families.items():
        if lines[family]:
            unit = [f"# UNIT {family} seconds"] if family.endswith("_seconds") else []
            text += [f"# TYPE {family} gauge", *unit, f"# HELP {family} {about}", *lines[family]]
    return "\n".join([*text, "# EOF"]) + "\n"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def metrics_of(monitor: Monitor) -> str:
    """A monitor as gauges, all of the last look."""
    return exposition(_OF_MONITOR, _samples(monitor))


def _samples(monitor: Monitor) -> Iterator[Sample]:
    yield "assay_rows", {}, float(monitor.rows)
    last = datetime.fromisoformat(monitor.until).replace(tzinfo=UTC)
    yield "assay_until_seconds", {}, last.timestamp()
    for each in monitor.last.estimates:
        if each.scope != "cumulative":
            continue
        labels = {"measure": each.measure, "subject": each.subject}
        for suffix, value in (
            ("", float(each.estimate)),
            ("_low", each.estimate.low),
            ("_high", each.estimate.high),
            ("_mature", each.mature),
        ):
            if math.isfinite(value):
                yield f"assay_watched{suffix}", labels, value
    for judged in monitor.rules:
        labels = {"rule": judged.rule.text}
        yield "assay_rule_broken", labels, float(judged.outcome is RuleOutcome.BROKEN)
        yield "assay_rule_holds", labels, float(judged.outcome is RuleOutcome.HOLDS)
    for shift in monitor.shift:
        labels = {"column": shift.column}
        yield "assay_shift_evidence", labels, shift.largest
        yield "assay_shift_limit", labels, shift.limit
