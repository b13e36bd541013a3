"""The figures of a comparison."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay import plots
from assay.inference import Estimate
from assay.measures import Better, parse
from assay.plots.names import title

if TYPE_CHECKING:
    from assay.decisions.comparison import Comparison
    from assay.plots.canvas import Axes

# Measures on one scale, so that their differences can stand on one axis.
MAIN = (
    "roc_auc",
    "partial_auc",
    "average_precision",
    "accuracy",
    "balanced_accuracy",
    "precision",
    "recall",
    "false_positive_rate",
    "false_discovery_rate",
    "f1",
    "precision.macro",
    "recall.macro",
    "f1.macro",
    "mcc",
    "kappa",
)
_LESS = "↓"


@dataclass(frozen=True)
class ComparisonPlots:
    """Figures of one comparison; each is drawn on ``ax``, or on axes of its own."""

    comparison: Comparison

    def forest(self, ax: Axes | None = None, *, measures: Sequence[str] = ()) -> Axes:
        """Differences with their paired intervals, by default of the main measures.

        An arrow down marks a measure of which less is better. A hollow dot is a difference whose
        interval holds 0.
        """
        wanted = [_name(measure) for measure in measures] or MAIN
        models = self.comparison.models
        pair = f"{models[1]} less {models[0]}" if len(models) == 2 else "Difference"
        rows = list(self._rows(wanted))
        notes = [f"{_LESS} less is better"] if any(_LESS in name for name, _ in rows) else []
        return plots.forest(rows, pair=pair, notes=notes, ax=ax)

    def _rows(self, wanted: Sequence[str]) -> Iterator[tuple[str, Estimate]]:
        for measure in wanted:
            for found in self.comparison.differences:
                if found.measure == measure:
                    name = _title(measure)
                    if len(self.comparison.models) > 2:
                        name = f"{name}: {found.b} less {found.a}"
                    yield name, found.difference


def _name(measure: str) -> str:
    found, suffix = parse(measure)
    return found.name if suffix is None else f"{found.name}.{suffix}"


def _title(name: str) -> str:
    measure, suffix = parse(name)
    words = title(measure) + (f" ({suffix})" if suffix else "")
    return words + (f" {_LESS}" if measure.better is Better.LOWER else "")
