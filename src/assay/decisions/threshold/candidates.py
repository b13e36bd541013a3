"""The usual points: thresholds that people ask for where nothing limits them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.decisions.threshold.rules import LowestCost, Rule, first_best
from assay.decisions.threshold.wanted import Wanted
from assay.inference.chosen import Chooser
from assay.inference.narrowing import Blocks, Counts
from assay.inference.operating import NOTHING

Array: TypeAlias = npt.NDArray[Any]
Floats: TypeAlias = npt.NDArray[np.float64]

# Values that differ by less may be equal but for rounding, so they are compared exactly.
_CLOSE = 1e-13


@dataclass(frozen=True)
class Youden:
    """The highest detection rate less false positive rate (Youden 1950)."""

    def position(self, counts: Counts) -> int:
        """The position in a sweep that is chosen."""
        if not (counts.positives and counts.negatives):
            return NOTHING
        return _best(
            self._value(counts.tp, counts.fp, counts),
            counts,
            lambda hit, false: Fraction(hit, counts.positives) - Fraction(false, counts.negatives),
        )

    def undecided(self, blocks: Blocks) -> Array:
        """The blocks that may hold a better threshold than the ends."""
        return _may_be_best(self._value, blocks)

    @staticmethod
    def _value(tp: Array, fp: Array, counts: Counts) -> Floats:
        return np.asarray(tp / counts.positives - fp / counts.negatives)


@dataclass(frozen=True)
class BestF1:
    """The highest F1."""

    def position(self, counts: Counts) -> int:
        """The position in a sweep that is chosen."""
        if not counts.positives:
            return NOTHING
        return _best(
            self._value(counts.tp, counts.fp, counts),
            counts,
            lambda hit, false: Fraction(hit, false + counts.positives),
        )

    def undecided(self, blocks: Blocks) -> Array:
        """The blocks that may hold a better threshold than the ends."""
        return _may_be_best(self._value, blocks)

    @staticmethod
    def _value(tp: Array, fp: Array, counts: Counts) -> Floats:
        # F1 = 2 TP/(TP + FP + P) grows with TP/(FP + P).
        return np.asarray(tp / (fp + counts.positives))


@dataclass(frozen=True)
class BestMcc:
    """The highest Matthews correlation coefficient."""

    def position(self, counts: Counts) -> int:
        """The position in a sweep that is chosen."""
        if not (counts.positives and counts.negatives):
            return NOTHING
        rows = counts.rows
        # Flagging no row, or all of them, leaves it undefined.
        flagged = counts.tp + counts.fp
        found = self._value(counts.tp, counts.fp, counts)
        found = np.where((flagged > 0) & (flagged < rows), found, -np.inf)

        def squared(hit: int, false: int) -> Fraction:
            flagged = hit + false
            if flagged == rows:
                return Fraction(-(rows**2))
            lead = hit * counts.negatives - false * counts.positives
            return Fraction(lead * abs(lead), flagged * (rows - flagged))

        return _best(found, counts, squared) if np.isfinite(found).any() else NOTHING

    def undecided(self, blocks: Blocks) -> Array:
        """The blocks that may hold a better threshold than the ends."""
        flagged = blocks.high.tp + blocks.high.fp
        return _may_be_best(self._value, blocks, (flagged > 0) & (flagged < blocks.high.rows))

    @staticmethod
    def _value(tp: Array, fp: Array, counts: Counts) -> Floats:
        """MCC over a constant; it grows with the one rate and falls with the other.

        Zero where it is undefined: no other threshold there has more.
        """
        share = (tp + fp) / counts.rows
        spread = np.sqrt(share * (1 - share))
        above = tp / counts.positives - fp / counts.negatives
        return np.divide(above, spread, out=np.zeros(len(tp)), where=spread > 0)


@dataclass(frozen=True)
class EqualError:
    """Where false positive rate and false negative rate are closest."""

    def position(self, counts: Counts) -> int:
        """The position in a sweep that is chosen."""
        if not (counts.positives and counts.negatives):
            return NOTHING
        after = self._crossing(counts)
        around = [i for i in (after - 1, after) if 0 <= i < len(counts.tp)]
        best = min(around, key=lambda i: abs(_lead(counts, i)))
        lead = _lead(counts, best)
        return bisect_left(range(best + 1), lead, key=lambda i: _lead(counts, i))

    def undecided(self, blocks: Blocks) -> Array:
        """The block in which false positives get more than misses."""
        if not (blocks.high.positives and blocks.high.negatives):
            return blocks.none
        return np.asarray((blocks.order == self._crossing(blocks.high)) & blocks.drawn)

    @staticmethod
    def _crossing(counts: Counts) -> int:
        # The lead of the false positives grows as the threshold falls.
        return bisect_left(range(len(counts.tp)), 0, key=lambda i: _lead(counts, i))


def _lead(counts: Counts, position: int) -> int:
    """How far the false positive rate is above the false negative rate, times both classes."""
    missed = counts.positives - int(counts.tp[position])
    return int(counts.fp[position]) * counts.positives - missed * counts.negatives


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


def _may_be_best(
    value: Callable[[Array, Array, Counts], Floats], blocks: Blocks, defined: Array | None = None
) -> Array:
    """The blocks in which a value that TP raises and FP lowers may pass that of the best end.

    ``defined`` are the ends that have a value.
    """
    high, low = blocks.high, blocks.low
    if not (high.positives and high.negatives):
        return blocks.none
    ends, inside = value(high.tp, high.fp, high), blocks.mixed
    if defined is not None:
        ends, inside = np.where(defined, ends, -np.inf), inside | (blocks.drawn & ~defined)
    return np.asarray(inside & (value(high.tp, low.fp, high) >= ends.max() - _CLOSE))


def _best(values: Floats, counts: Counts, exact: Any) -> int:
    """The first position with the largest value, which is exact where several are close."""
    near = np.flatnonzero(values >= values.max() - _CLOSE)
    return first_best(near, counts, lambda i: exact(int(counts.tp[i]), int(counts.fp[i])))
