"""What bins of probabilities can hold where scores are kept as a grid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from assay.measures.calibration import BINS
from assay.tally import ScoreTally

Floats: TypeAlias = npt.NDArray[np.float64]
Ends: TypeAlias = tuple[float, float]


@dataclass(frozen=True, eq=False)
class BinRanges:
    """What bins of equal width can hold: each field has a row of least and one of largest values.

    ``gaps`` are sums over rows of the probability less the truth. A cell that straddles the edge of
    a bin may lie on either side.
    """

    gaps: Floats
    positives: Floats
    negatives: Floats
    total: float
    share: float

    @classmethod
    def of(cls, tally: ScoreTally, bins: int = BINS) -> BinRanges:
        """The bins of a binary score tally whose scores are probabilities."""
        edges = np.arange(1, bins) / bins
        ends = tally.ends()
        first, last = (np.searchsorted(edges, end, side="right") for end in ends)
        sides = tally.counts.astype(np.float64)
        inside = first == last
        gaps, counted = np.zeros((2, bins)), np.zeros((2, 2, bins))
        for row, end in enumerate(ends):
            sums = sides[0] * end + sides[1] * (end - 1)
            gaps[row] = np.bincount(first[inside], sums[inside], minlength=bins)
        for label in (0, 1):
            counted[label] = np.bincount(first[inside], sides[label][inside], minlength=bins)
        for cell in np.flatnonzero(~inside).tolist():
            held = slice(first[cell], last[cell] + 1)
            gaps[0, held] += sides[1, cell] * (ends[0][cell] - 1)
            gaps[1, held] += sides[0, cell] * ends[1][cell]
            counted[:, 1, held] += sides[:, cell, None]
        total = float(sides.sum())
        return cls(gaps, counted[1], counted[0], total, float(sides[1].sum()) / total)

    @property
    def rows(self) -> Floats:
        """How many rows each bin has at least and at most."""
        return np.asarray(self.positives + self.negatives)

    def distances(self) -> tuple[Floats, Floats]:
        """The least and the largest distance of each sum of gaps from 0."""
        low, high = self.gaps
        return _distances(low, high, 0.0)

    def calibration_error(self) -> Ends:
        """The bounds of the mean distance of predicted and observed."""
        least, most = self.distances()
        return float(least.sum()) / self.total, float(most.sum()) / self.total

    def squared_gap(self) -> Ends:
        """The bounds of the mean squared distance; that of a bin is at most 1."""
        least, most = self.distances()
        fewest, largest = self.rows
        held = largest > 0
        low = np.square(least[held]) / largest[held]
        high = np.square(most) / np.where(fewest > 0, fewest, 1.0)
        high = np.where(fewest > 0, np.minimum(high, largest), largest)
        return float(low.sum()) / self.total, float(high.sum()) / self.total

    def resolution(self) -> Ends:
        """The bounds of the mean squared distance of observed shares from that of all rows."""
        held = self.rows[1] > 0
        (p_low, p_high), (n_low, n_high) = self.positives[:, held], self.negatives[:, held]
        least, most = _distances(_share(p_low, n_high), _share(p_high, n_low), self.share)
        fewest, largest = self.rows[:, held]
        low, high = fewest * np.square(least), largest * np.square(most)
        return float(low.sum()) / self.total, min(float(high.sum()) / self.total, 0.25)


def _distances(low: Floats, high: Floats, centre: float) -> tuple[Floats, Floats]:
    """The least and the largest distance of what lies between two ends from a centre."""
    least = np.maximum(np.maximum(low - centre, centre - high), 0.0)
    return least, np.maximum(np.abs(low - centre), np.abs(high - centre))


def _share(part: Floats, rest: Floats) -> Floats:
    """A part of the whole; 0 where there is none."""
    whole = part + rest
    return np.divide(part, whole, out=np.zeros_like(whole), where=whole > 0)
