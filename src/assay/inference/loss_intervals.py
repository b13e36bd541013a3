"""Intervals of mean losses: Student's t by kurtosis on the log scale, and unseen rows.

An unseen row loses as much as the worst row that was seen, or as the typical row would have lost
had it been of the other class; or as little as the best of all these.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.counts import Sample, ScoreCounts
from assay.inference.delta import ClusterSpread
from assay.inference.significance import normal
from assay.inference.unseen import Ends, kurtosis_df, outward, seen_ends, with_unseen
from assay.measures import MeanLoss

Array: TypeAlias = npt.NDArray[Any]

_TWO = 1 + 1e-9


def loss_interval(declared: MeanLoss, table: ScoreCounts, level: float) -> Ends:
    """The interval of a mean loss of binary score counts; nan where there is too little to say."""
    scores = table.middles()
    losses = np.stack([declared.loss(scores, 0), declared.loss(scores, 1)])
    held, counts = table.counts > 0, table.counts.astype(np.float64)
    squares = counts if table.squares is None else table.squares
    return interval_of_losses(
        losses[held],
        losses[::-1][held],
        counts[held],
        squares[held],
        declared.largest,
        level,
    )


def interval_of_losses(
    losses: Array, others: Array, amounts: Array, squares: Array, largest: float, level: float
) -> Ends:
    """The same of rows: their losses, what they would lose with another label, and their weights.

    ``squares`` are the sums of squared weights or, of frequency counts, the counts.
    """
    total, rows = float(amounts.sum()), float(amounts.sum()) ** 2 / float(squares.sum())
    if rows < _TWO:
        return math.nan, math.nan
    mean = float(losses @ amounts) / total
    moves = np.square(losses - mean)
    second = float(moves @ squares)
    fourth = float(np.square(moves) @ (squares**3 / np.square(amounts)))
    variance = second / total**2 * rows / (rows - 1)
    spread = ClusterSpread(variance, kurtosis_df(second, fourth, rows))
    seen = seen_ends(mean, spread, (0.0, math.inf), level)
    return with_unseen_losses(mean, seen, (losses, others, amounts), rows, largest, level)


def with_unseen_losses(
    mean: float,
    seen: Ends,
    rows_of: tuple[Array, Array, Array],
    rows: float,
    largest: float,
    level: float,
) -> Ends:
    """The ends of a mean loss, moved out by unseen rows beside so many effective ones."""
    losses, others, amounts = rows_of
    unseen = normal(level) ** 2
    share = unseen / (rows + unseen)
    order = np.argsort(others)
    middle = int(np.searchsorted(np.cumsum(amounts[order]), float(amounts.sum()) / 2))
    worst = max(float(losses.max()), float(others[order[middle]]))
    best = min(float(losses.min()), float(others.min()))
    moved = [(mean + share * (worst - mean), mean + share * (best - mean))]
    low, high = outward(with_unseen(mean, seen, moved, (0.0, largest)), (0.0, largest), rows)
    return (low, high) if low < high else (math.nan, math.nan)


def losses_of_rows(declared: MeanLoss, sample: Sample) -> tuple[Array, Array]:
    """The loss of each row, and what it would be with the most probable other label."""
    said, truth = sample.of_model(0), sample.truth.astype(np.intp)
    rest = np.stack([1 - said[:, 0], said[:, 0]], axis=1) if sample.width == 1 else said.copy()
    rest[np.arange(len(rest)), truth] = -math.inf
    others = replace(sample, truth=rest.argmax(axis=1))
    return declared.of_rows(sample, 0), declared.of_rows(others, 0)
