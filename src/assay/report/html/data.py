"""What the page's script works with: one table, and the report's own numbers."""

from __future__ import annotations

from typing import Any

from assay.inference import Estimate
from assay.inference.not_finite import finite
from assay.inference.quantiles import normal
from assay.report.html.blocks import behind
from assay.report.html.limits import Limits
from assay.report.html.text import named
from assay.report.sections import Panel

# A plot has room for so many letters.
_LEGEND = 28


def data_of(panel: Panel, limits: Limits) -> dict[str, Any]:
    """Plain values, ready for JSON; None is what is not finite."""
    return {
        "positive": named(panel.positive, min(limits.letters, _LEGEND)).shown,
        "negative": named(panel.negative, min(limits.letters, _LEGEND)).shown,
        "positives": panel.positives,
        "negatives": panel.negatives,
        "threshold": panel.threshold,
        "sweep": {name: list(column) for name, column in panel.sweep.items()},
        "decided": dict(zip(("tp", "fp", "fn", "tn"), panel.decided, strict=True)),
        "z": normal(panel.level),
        "weighted": panel.weighted,
        "probability": panel.reliability is not None,
        # Whether the binomial intervals of plain counts are legal.
        "counted": not (panel.weighted or panel.clustered),
        "shown_at": {name: [*_ends(e), behind(e, limits)] for name, e in panel.shown_at.items()},
        "base_rates": list(panel.base_rates),
        "deployed": [
            [rate, {name: _ends(e) for name, e in found.items()}]
            for rate, found in panel.deployed.items()
        ],
        "volume": panel.volume,
    }


def _ends(found: Estimate) -> list[float | None]:
    return [finite(number) for number in (float(found), found.low, found.high)]
