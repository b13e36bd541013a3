"""The figures of a choice of threshold."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from assay import curves, plots
from assay.decisions.threshold.sweep import Swept
from assay.errors import MethodError
from assay.inference import Estimate
from assay.measures import FALSE_DISCOVERY_RATE, FALSE_POSITIVE_RATE, RECALL

if TYPE_CHECKING:
    from assay.decisions.threshold.result import Choice, Point
    from assay.plots.canvas import Axes

# As many thresholds by rank on a geometric scale as evenly spread.
_HALF = curves.POINTS // 2


@dataclass(frozen=True)
class ChoicePlots:
    """Figures of one choice; each is drawn on ``ax``, or on axes of its own."""

    choice: Choice

    def roc(self, ax: Axes | None = None) -> Axes:
        """Detection rate against false positive rate, which is on a logarithmic scale."""
        swept = self._swept()
        return plots.chosen(
            curves.roc(swept),
            self._points(FALSE_POSITIVE_RATE.name, None),
            x_limit=self.choice.constraints.get("max_fpr"),
            y_limit=self.choice.constraints.get("min_dr"),
            smallest=1 / swept.negatives,
            ax=ax,
        )

    def far_dr(self, ax: Axes | None = None) -> Axes:
        """Detection rate against false alarm rate, at the base rate where there is one."""
        swept, rate = self._swept(), self.choice.base_rate
        if rate is not None:
            # So many harmless rows for each attack as there are in deployment.
            scale = swept.positives / swept.negatives * (1 - rate) / rate
            swept = curves.Sweep(
                swept.threshold,
                swept.tp,
                swept.fp * scale,
                swept.positives,
                swept.negatives * scale,
                weighted=True,
            )
        return plots.chosen(
            curves.far_dr(swept),
            self._points(FALSE_DISCOVERY_RATE.name, rate),
            x_limit=self.choice.constraints.get("max_far"),
            y_limit=self.choice.constraints.get("min_dr"),
            ax=ax,
        )

    def save(
        self, folder: str | os.PathLike[str], formats: Sequence[str] = ("pdf", "svg")
    ) -> tuple[Path, ...]:
        """Write both figures, one file a figure and format, and give their paths."""
        return plots.save(dict(self._figures()), folder, formats)

    def _figures(self) -> Iterator[tuple[str, Callable[[], Axes]]]:
        yield "roc", partial(self.roc)
        yield "far_dr", partial(self.far_dr)

    def _swept(self) -> curves.Sweep:
        if self.choice.sweep is None:
            raise MethodError("this choice holds no curve, so there is nothing to draw")
        return self.choice.sweep

    def _points(self, measure: str, base_rate: float | None) -> list[plots.ChosenPoint]:
        both = (self.choice.guaranteed, self.choice.empirical)
        found = [point for point in both if point is not None] or list(self.choice.candidates)
        return [
            plots.ChosenPoint(
                point.name, _of(point, measure, base_rate), _of(point, RECALL.name, None)
            )
            for point in found
        ]


def _of(point: Point, measure: str, base_rate: float | None) -> Estimate:
    """An estimate over all rows, at a base rate or on the rows themselves."""
    return next(
        e.estimate
        for e in point.estimates
        if (e.measure, e.family, e.base_rate) == (measure, None, base_rate)
    )


def thinned(swept: Swept, points: Sequence[Point | None]) -> curves.Sweep:
    """The curve of a sweep at some 2,000 thresholds at most, those of the points among them."""
    last = swept.last
    places = np.arange(min(last, curves.POINTS) + 1)
    if last >= curves.POINTS:
        spread = np.concatenate((np.linspace(0, last, _HALF), np.geomspace(1, last, _HALF) - 1))
        known = [p.threshold for p in points if p is not None and p.threshold is not None]
        kept = swept.positions(np.array(known, np.float64))
        places = np.unique(np.concatenate((spread.astype(np.int64), kept, [last])))
    counts = swept.counts_at(places)
    return curves.Sweep(
        np.concatenate(([np.inf], swept.pyramid.thresholds(places))),
        np.concatenate(([0.0], counts.tp.astype(np.float64))),
        np.concatenate(([0.0], counts.fp.astype(np.float64))),
        counts.positives,
        counts.negatives,
    )
