"""The usual points: thresholds that people ask for where nothing limits them."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.decisions.threshold.rules import LowestCost, Rule, first_best
from assay.decisions.threshold.sweep import Counts
from assay.decisions.threshold.wanted import Wanted
from assay.inference.chosen import Chooser
from assay.inference.operating import NOTHING

Array: TypeAlias = npt.NDArray[Any]
Floats: TypeAlias = npt.NDArray[np.float64]

# Values that differ by less may be equal but for rounding, so they are compared exactly.
_CLOSE = 1e-13


@dataclass(frozen=True)
class Youden:
    """The highest detection rate less false positive rate (Youden 1950)."""

    def choose(self, tp: Array, fp: Array, positives: float, negatives: float) -> int:
        """The position in a sweep (thresholds decreasing, counts cumulative) that is chosen."""
        counts = Counts(tp, fp, int(positives), int(negatives))
        if not (positives and negatives):
            return NOTHING
        return _best(
            tp / positives - fp / negatives,
            counts,
            lambda hit, false: Fraction(hit, counts.positives) - Fraction(false, counts.negatives),
        )


@dataclass(frozen=True)
class BestF1:
    """The highest F1."""

    def choose(self, tp: Array, fp: Array, positives: float, negatives: float) -> int:
        """The position in a sweep (thresholds decreasing, counts cumulative) that is chosen."""
        if not positives:
            return NOTHING
        counts = Counts(tp, fp, int(positives), int(negatives))
        # F1 = 2 TP/(TP + FP + P) grows with TP/(FP + P).
        return _best(
            tp / (fp + positives),
            counts,
            lambda hit, false: Fraction(hit, false + counts.positives),
        )


@dataclass(frozen=True)
class BestMcc:
    """The highest Matthews correlation coefficient."""

    def choose(self, tp: Array, fp: Array, positives: float, negatives: float) -> int:
        """The position in a sweep (thresholds decreasing, counts cumulative) that is chosen."""
        counts = Counts(tp, fp, int(positives), int(negatives))
        if not (positives and negatives):
            return NOTHING
        rows = counts.rows
        share = (tp + fp) / rows
        # MCC is this over a constant; flagging all rows leaves it undefined.
        spread = np.sqrt(share * (1 - share))
        above = tp / positives - fp / negatives
        found = np.divide(above, spread, out=np.full(len(tp), -np.inf), where=spread > 0)

        def squared(hit: int, false: int) -> Fraction:
            flagged = hit + false
            if flagged == rows:
                return Fraction(-(rows**2))
            lead = hit * counts.negatives - false * counts.positives
            return Fraction(lead * abs(lead), flagged * (rows - flagged))

        return _best(found, counts, squared) if np.isfinite(found).any() else NOTHING


@dataclass(frozen=True)
class EqualError:
    """Where false positive rate and false negative rate are closest."""

    def choose(self, tp: Array, fp: Array, positives: float, negatives: float) -> int:
        """The position in a sweep (thresholds decreasing, counts cumulative) that is chosen."""
        counts = Counts(tp, fp, int(positives), int(negatives))
        if not (positives and negatives):
            return NOTHING

        def lead(position: int) -> int:
            missed = counts.positives - int(tp[position])
            return int(fp[position]) * counts.positives - missed * counts.negatives

        # The lead of the false positives grows as the threshold falls.
        after = bisect_left(range(len(tp)), 0, key=lead)
        around = [i for i in (after - 1, after) if 0 <= i < len(tp)]
        best = min(around, key=lambda i: abs(lead(i)))
        return bisect_left(range(best + 1), lead(best), key=lead)


def candidates_of(wanted: Wanted) -> dict[str, tuple[Chooser, str]]:
    """The usual rules by name, and what each does in words."""
    found: dict[str, tuple[Chooser, str]] = {
        "Youden": (Youden(), "the largest detection rate less false positive rate (Youden's J)"),
        "best F1": (BestF1(), "the highest F1"),
        "best MCC": (BestMcc(), "the highest Matthews correlation coefficient"),
        "equal error": (
            EqualError(),
            "where false positive rate and false negative rate are closest",
        ),
    }
    if wanted.cost_fp is not None and wanted.cost_fn is not None:
        cheapest = LowestCost(wanted.cost_fp, wanted.cost_fn, wanted.base_rate)
        found["lowest cost"] = (Rule((), cheapest), "the lowest expected cost a row")
    return found


def _best(values: Floats, counts: Counts, exact: Any) -> int:
    """The first position with the largest value, which is exact where several are close."""
    near = np.flatnonzero(values >= values.max() - _CLOSE)
    return first_best(near, counts, lambda i: exact(int(counts.tp[i]), int(counts.fp[i])))
