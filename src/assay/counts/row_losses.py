"""The losses of counted probabilities: exact scores tell them, and so do sums in cells of a grid.

Of the rows of a cell the number, the sum of their distances t from the nearer of 0 and 1, and the
sum of t^2 are known. So the sum of a smooth f(t) is n f(m) + n f''(m) v / 2 with the mean m and the
variance v of t; in cells of 12 bits the next term is below 1e-12 of f.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.counts.blocks import map_blocks
from assay.counts.counts import SCORE, Counts
from assay.counts.grid import Exact
from assay.counts.losses import SMALLEST_PROBABILITY, LossSums, Moments
from assay.counts.reduction import ROWS, WEIGHT

Array: TypeAlias = npt.NDArray[Any]


def losses(counts: Counts, positive: npt.NDArray[np.bool_]) -> LossSums:
    """Sum the losses of rows; ``positive`` says where the score is the true label's probability."""
    log, brier, clipped = (_of_scores if isinstance(counts.kept, Exact) else _of_cells)(
        counts, positive
    )
    if "sum(error)" in counts.columns or "sum(weight·error)" in counts.columns:
        once, twice = _summed(counts, "error"), _summed(counts, "error²")
        brier = np.array([brier[0], once[0], brier[2], once[1], twice[1]])
    rows = counts.columns[ROWS]
    return LossSums(
        int(rows.sum(dtype=np.int64)),
        int(rows[clipped].sum(dtype=np.int64)),
        Moments(*log.tolist()),
        Moments(*brier.tolist()),
    )


def _of_scores(counts: Counts, positive: Array) -> tuple[Array, Array, Array]:
    """The moments of both losses, and where a probability was raised."""
    scores = counts.columns[SCORE]
    weights, squares = (_amounts(counts, ROWS, power) for power in (1, 2))

    def work(i: int, j: int) -> tuple[Array, Array, Array]:
        score = scores[i:j].astype(np.float64)
        given = np.where(positive[i:j], score, 1 - score)
        log = -np.log(np.maximum(given, SMALLEST_PROBABILITY))
        amounts = weights[i:j], squares[i:j]
        brier = np.square(1 - given)
        return _moments(log, *amounts), _moments(brier, *amounts), given < SMALLEST_PROBABILITY

    parts = map_blocks(len(scores), lambda: work)
    log, brier = (np.sum([part[i] for part in parts], axis=0) for i in (0, 1))
    return log, brier, np.concatenate([part[2] for part in parts])


def _moments(values: Array, weights: Array, squares: Array) -> Array:
    sums = weights, weights * values, squares, squares * values, squares * values * values
    return np.array([each.sum() for each in sums])


def _of_cells(counts: Counts, positive: Array) -> tuple[Array, Array, Array]:
    # Whether t is the true label's probability, or that of the others.
    own = (counts.columns[SCORE] > 0.5) != positive
    moments = np.zeros((2, 5))
    clipped = np.zeros(len(own), bool)
    for power, places in ((1, [0, 1]), (2, [2, 3, 4])):
        amount = _amounts(counts, ROWS, power)
        mean = _amounts(counts, "near", power) / amount
        spread = np.maximum(_amounts(counts, "near²", power) / amount - mean * mean, 0)
        given = np.where(own, mean, 1 - mean)
        clipped = given < SMALLEST_PROBABILITY
        held = np.maximum(given, SMALLEST_PROBABILITY)
        log = np.where(own, -np.log(held), -np.log1p(-np.minimum(mean, 0.5)))
        curve = np.where(clipped, 0, 1 / (held * held))
        error = np.where(own, 1 - mean, mean)
        for row, (value, second, second_of_square) in enumerate(
            ((log, curve, 2 * (1 + log) * curve), (error**2, 2, 12 * error**2))
        ):
            sums = (
                amount,
                amount * (value + second * spread / 2),
                amount * (value * value + second_of_square * spread / 2),
            )
            moments[row, places] = [each.sum() for each in sums[: len(places)]]
    return moments[0], moments[1], clipped


def _amounts(counts: Counts, value: str, power: int) -> Array:
    """Of each combination the sum of a value times the weight (if there is any) to a power."""
    columns = counts.columns
    weight = ("weight", "weight²")[power - 1]
    if f"sum({weight})" in columns:
        return columns[f"sum({weight})" if value == ROWS else f"sum({weight}·{value})"]
    sums = columns[ROWS] if value == ROWS else columns[f"sum({value})"]
    return sums * columns[WEIGHT].astype(np.float64) ** power if WEIGHT in columns else sums


def _summed(counts: Counts, value: str) -> tuple[float, float]:
    """The sum of a value times the weight, and times its square."""
    return tuple(float(_amounts(counts, value, power).sum()) for power in (1, 2))  # type: ignore[return-value]
