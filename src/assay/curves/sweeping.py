"""True and false positives at falling thresholds: what every curve is drawn from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import MethodError
from assay.tally import ScoreTally
from assay.tally.blocks import BLOCK, map_blocks

Floats: TypeAlias = npt.NDArray[np.float64]

POINTS = 2000
FEWEST_POINTS = 5


@dataclass(frozen=True, eq=False)
class Sweep:
    """True and false positives at decreasing thresholds; the first is infinity."""

    threshold: Floats
    tp: Floats
    fp: Floats
    positives: float
    negatives: float
    weighted: bool = False

    def cells(self) -> dict[str, Floats]:
        """The cells that formulas use, one value a threshold."""
        return {
            "TP": self.tp,
            "FP": self.fp,
            "FN": self.positives - self.tp,
            "TN": self.negatives - self.fp,
        }


def sweep(tally: ScoreTally, points: int | None = POINTS, keep: float | None = None) -> Sweep:
    """Sweep a binary score tally over its thresholds.

    At most ``points`` of them: half spread evenly along the ROC curve, half by the rank of the
    alert on a geometric scale, which is where thresholds are deployed. ``None`` keeps all. The
    score that decides like the threshold ``keep`` is always among them.
    """
    if points is not None and points < FEWEST_POINTS:
        raise MethodError(f"a sweep has at least {FEWEST_POINTS} points; found {points}")
    negatives, positives = tally.totals()
    targets = _Targets.all_scores()
    if points is not None and tally.size >= points:
        targets = _Targets.thinned(positives, negatives, points)
    below = below_blocks(tally)
    always = {0, tally.size - 1}
    if keep is not None:
        always.add(int(np.searchsorted(tally.scores, keep)))

    def work(i: int, j: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        counts = tally.counts[:, i:j]
        running = np.cumsum(counts, axis=1, dtype=below.dtype)
        running += below[i // BLOCK][:, None]
        chosen = targets.within(running, below[i // BLOCK], [a - i for a in always if i <= a < j])
        # What lies below a chosen score is not flagged at it.
        return i + chosen, running[:, chosen] - counts[:, chosen]

    found = map_blocks(tally.size, lambda: work)
    if points is not None and tally.size >= points:
        spare = points - 1 - sum(len(part) for part, _ in found)
        if spare > points // 4:
            # Ties took many targets at once: what is left is spread over the scores themselves.
            always |= set(np.linspace(0, tally.size - 1, spare).astype(int).tolist())
            found = map_blocks(tally.size, lambda: work)
    chosen = np.concatenate([part for part, _ in found])[::-1]
    below_chosen = np.concatenate([part for _, part in found], axis=1)[:, ::-1]
    return Sweep(
        np.concatenate(([np.inf], tally.scores[chosen].astype(np.float64))),
        # Sums of weights may leave less than nothing, by rounding.
        np.concatenate(([0.0], np.maximum(positives - below_chosen[1], 0.0))),
        np.concatenate(([0.0], np.maximum(negatives - below_chosen[0], 0.0))),
        positives,
        negatives,
        tally.weighted,
    )


def sweep_at(tally: ScoreTally, thresholds: Floats) -> Sweep:
    """True and false positives at thresholds that are given, in their order."""
    below = below_blocks(tally)
    negatives, positives = tally.totals()
    rows = np.empty((len(thresholds), 2), below.dtype)
    for i, first in enumerate(np.searchsorted(tally.scores, thresholds).tolist()):
        block = first // BLOCK
        inside = tally.counts[:, block * BLOCK : first]
        rows[i] = below[block] + inside.sum(axis=1, dtype=below.dtype)
    return Sweep(
        thresholds,
        np.asarray(positives - rows[:, 1], np.float64),
        np.asarray(negatives - rows[:, 0], np.float64),
        positives,
        negatives,
        tally.weighted,
    )


def below_blocks(tally: ScoreTally) -> npt.NDArray[Any]:
    """How many negatives and positives lie below each block of scores."""
    kind: Any = np.float64 if tally.weighted else np.int64
    sums = map_blocks(tally.size, lambda: lambda i, j: tally.counts[:, i:j].sum(axis=1, dtype=kind))
    return np.cumsum([np.zeros(2, kind), *sums], axis=0)


@dataclass(frozen=True, eq=False)
class _Targets:
    """Which scores a sweep keeps: each share of (weighted) rows below that is to be reached."""

    weights: tuple[tuple[float, float], ...]
    shares: tuple[Floats, ...]

    @classmethod
    def all_scores(cls) -> _Targets:
        return cls((), ())

    @classmethod
    def thinned(cls, positives: Any, negatives: Any, points: int) -> _Targets:
        # The first threshold, the highest and the lowest score and the kept one come besides.
        budget = points - 4
        along = np.linspace(0, 1, budget - budget // 2 + 1)[1:]
        rows = positives + negatives
        ranks = np.geomspace(1, rows, budget // 2 + 1)[:-1] / rows
        half = (0.5 / max(float(negatives), 1.0), 0.5 / max(float(positives), 1.0))
        each = 1 / float(rows)
        return cls((half, (each, each)), (np.sort(1 - along), np.sort(1 - ranks)))

    def within(
        self, running: npt.NDArray[Any], below: npt.NDArray[Any], always: list[int]
    ) -> npt.NDArray[np.int64]:
        """Positions in a block, given the rows up to each of its scores."""
        if not self.weights:
            return np.arange(running.shape[1])
        found = [np.array(always, np.int64)]
        for (of_negatives, of_positives), shares in zip(self.weights, self.shares, strict=True):
            reached = running[0] * of_negatives
            reached += running[1] * of_positives
            start = below[0] * of_negatives + below[1] * of_positives
            first, last = np.searchsorted(shares, [start, reached[-1]])
            found.append(np.searchsorted(reached, shares[first:last], side="right"))
        chosen = np.unique(np.concatenate(found))
        return np.asarray(chosen[chosen < running.shape[1]])
