"""The figures of a comparison."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from assay import plots
from assay.decisions.compare.comparison import key, known
from assay.errors import MethodError
from assay.inference import Estimate
from assay.measures import Better, parse
from assay.measures.shown import DIFFERENCES
from assay.plots.names import title

if TYPE_CHECKING:
    from assay.decisions.compare.comparison import Comparison
    from assay.plots.canvas import Axes

_LESS = "↓"
# So many pairs fit into one figure with all main measures.
_PAIRS = 3


@dataclass(frozen=True)
class ComparisonPlots:
    """Figures of one comparison; each is drawn on ``ax``, or on axes of its own."""

    comparison: Comparison

    def forest(self, ax: Axes | None = None, *, measures: Sequence[str] = ()) -> Axes:
        """Differences with their paired intervals, by default of the main measures.

        An arrow down marks a measure of which less is better. A hollow dot is a difference whose
        interval holds 0.
        """
        found = dict.fromkeys(key(found.measure) for found in self.comparison.differences)
        main = [measure for measure in DIFFERENCES if measure in found]
        wanted = [_checked(measure, found) for measure in measures] or main or list(found)
        models, at = self.comparison.models, self.comparison.at
        pair = f"{models[1]} less {models[0]}" if len(models) == 2 else "Difference"
        if at is not None:
            pair = f"{pair}, at {at}"
        rows = list(self._rows(wanted))
        notes = [f"{_LESS} less is better"] if any(_LESS in name for name, _ in rows) else []
        return plots.forest(rows, pair=pair, notes=notes, ax=ax)

    def hulls(self, ax: Axes | None = None) -> Axes:
        """The ROC hulls of all models, and on how much of PC each is the best; see ``optimal``."""
        optimal = self.comparison.optimal
        if optimal is None:
            raise MethodError(
                "ROC hulls are of two classes that both have rows; this comparison has none"
            )
        return plots.hulls(
            optimal.hulls, {best.model: best.share for best in optimal.models}, ax=ax
        )

    def save(
        self, folder: str | os.PathLike[str], formats: Sequence[str] = ("pdf", "svg")
    ) -> tuple[Path, ...]:
        """Write the forest plot and the ROC hulls, one file a format, and give their paths.

        Of many pairs only the measure that decides is drawn, and hulls of decisions, which have one
        point each, are not.
        """
        verdicts = self.comparison.verdicts
        drawn = [found for found in self.comparison.differences if math.isfinite(found.difference)]
        figures: dict[str, Callable[[], Axes]] = {}
        if drawn:
            deciding = [verdicts[0].measure] if len(verdicts) > _PAIRS else []
            figures["forest"] = partial(self.forest, measures=deciding)
        if self._scored:
            figures["hulls"] = self.hulls
        return plots.save(figures, folder, formats) if figures else ()

    @property
    def _scored(self) -> bool:
        optimal = self.comparison.optimal
        return optimal is not None and any(
            np.isfinite(hull["threshold"]).any() for hull in optimal.hulls.values()
        )

    def _rows(self, wanted: Sequence[str]) -> Iterator[tuple[str, Estimate]]:
        for measure in wanted:
            for found in self.comparison.differences:
                if key(found.measure) == measure:
                    name = _title(measure)
                    if len(self.comparison.models) > 2:
                        name = f"{name}: {found.b} less {found.a}"
                    yield name, found.difference


def _checked(measure: str, found: Container[str]) -> str:
    """The name of a measure that is compared here, or else is in the catalogue."""
    if key(measure) not in found:
        parse(measure)  # refuses what is in neither
    return key(measure)


def _title(name: str) -> str:
    found = known(name)
    if found is None:
        return name
    measure, suffix = found
    words = title(measure) + (f" ({suffix})" if suffix else "")
    return words + (f" {_LESS}" if measure.better is Better.LOWER else "")
