"""Runs as OpenMetrics, the text that Prometheus reads: the last run of each name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime

from assay.store.run import Run
from assay.store.summary import summary_of

_FAMILIES = {
    "assay_estimate": "An estimate of the last run of a name.",
    "assay_estimate_low": "The lower end of its interval.",
    "assay_estimate_high": "The upper end of its interval.",
    "assay_estimate_rows": "How many rows it rests on.",
    "assay_gate_passed": "Whether the last gate of a name passed.",
    "assay_run_made_seconds": "When the last run of a name was made.",
}


def openmetrics(runs: Iterable[Run]) -> str:
    """The text of OpenMetrics 1.0; every sample has the name and the kind of its run as labels."""
    samples: dict[str, list[str]] = {family: [] for family in _FAMILIES}
    for run in runs:
        for family, line in _samples(run):
            samples[family].append(line)
    lines = []
    for family, about in _FAMILIES.items():
        if not samples[family]:
            continue
        unit = ["# UNIT assay_run_made_seconds seconds"] if family.endswith("_seconds") else []
        lines += [f"# TYPE {family} gauge", *unit, f"# HELP {family} {about}", *samples[family]]
    return "\n".join([*lines, "# EOF"]) + "\n"


def _samples(run: Run) -> Iterator[tuple[str, str]]:
    labels = {"name": run.name, "kind": run.kind}
    moment = datetime.fromisoformat(run.made).timestamp()
    yield "assay_run_made_seconds", _sample("assay_run_made_seconds", labels, moment)
    if run.gate is not None:
        yield "assay_gate_passed", _sample("assay_gate_passed", labels, float(run.gate == "pass"))
    for each in summary_of(run.document).values:
        told = {**labels, "measure": each.measure}
        for suffix, value in (
            ("", each.value),
            ("_low", each.low),
            ("_high", each.high),
            ("_rows", each.n),
        ):
            if value is not None:
                family = f"assay_estimate{suffix}"
                yield family, _sample(family, told, value)


def _sample(family: str, labels: dict[str, str], value: float) -> str:
    inside = ",".join(f'{name}="{_escaped(text)}"' for name, text in labels.items())
    return f"{family}{{{inside}}} {value!r}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
