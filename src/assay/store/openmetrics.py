"""Runs as OpenMetrics, the text that Prometheus reads: the last run of each name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime

from assay.report.openmetrics import Sample, exposition
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
    return exposition(_FAMILIES, (sample for run in runs for sample in _samples(run)))


def _samples(run: Run) -> Iterator[Sample]:
    labels = {"name": run.name, "kind": run.kind}
    moment = datetime.fromisoformat(run.made).timestamp()
    yield "assay_run_made_seconds", labels, moment
    if run.gate is not None:
        yield "assay_gate_passed", labels, float(run.gate == "pass")
    for each in summary_of(run.document).values:
        told = {**labels, "measure": each.measure}
        for suffix, value in (
            ("", each.value),
            ("_low", each.low),
            ("_high", each.high),
            ("_rows", each.n),
        ):
            if value is not None:
                yield f"assay_estimate{suffix}", told, value
