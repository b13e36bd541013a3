"""Sums alongside the counts: the moments of a mean, and the losses of probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]

# Smaller probabilities of the true label are raised to this in log loss, and counted.
SMALLEST_PROBABILITY = 2.0**-52
# A variance below this share of the sums it is made of is rounding.
_ROUNDING = 2.0**-48


@dataclass(frozen=True)
class Moments:
    """What a mean and its variance need: sums over rows of w, wx, w^2, w^2 x and w^2 x^2."""

    weight: float
    first: float
    square_weight: float
    square_first: float
    square_second: float

    @classmethod
    def of_rows(cls, values: Array, amounts: Array, squares: Array) -> Moments:
        """Sum rows; ``squares`` are squared weights or, of frequency counts, the counts."""
        sums = (
            amounts,
            amounts * values,
            squares,
            squares * values,
            squares * values * values,
        )
        return cls(*(float(each.sum()) for each in sums))

    @property
    def mean(self) -> float:
        """The weighted mean."""
        return self.first / self.weight

    @property
    def variance_of_mean(self) -> float:
        """The sandwich variance of the mean; 0 where all values are alike."""
        mean = self.mean
        parts = self.square_second, -2 * mean * self.square_first, mean**2 * self.square_weight
        spread = sum(parts)
        if spread <= _ROUNDING * max(map(abs, parts)):
            return 0.0
        return spread / self.weight**2


@dataclass(frozen=True)
class LossSums:
    """Log loss and Brier loss of rows that were given probabilities.

    ``clipped`` counts the rows whose true label was given a probability below 2^-52; their log
    loss is that of 2^-52.
    """

    rows: int
    clipped: int
    log_loss: Moments
    brier: Moments

    @classmethod
    def of_rows(
        cls,
        truth: Array,
        probability: Array,
        *,
        counts: Array | None = None,
        weights: Array | None = None,
    ) -> LossSums:
        """Sum the losses of rows with the probability of the positive, or one per class.

        ``truth`` is 0 or 1, or the position of the true class; Brier is halved to [0, 1].
        """
        table = np.asarray(probability, np.float64)
        if table.ndim == 1:
            table = np.stack([1 - table, table], axis=1)
        errors = table.copy()
        true_label = np.arange(len(table)), truth.astype(np.intp)
        errors[true_label] -= 1
        given = table[true_label]
        low = given < SMALLEST_PROBABILITY
        log = -np.log(np.maximum(given, SMALLEST_PROBABILITY))
        brier = np.square(errors).sum(axis=1) / 2
        ones = np.ones(len(table), np.int64) if counts is None else counts
        amounts, squares = (ones, ones) if weights is None else (weights, np.square(weights))
        return cls(
            int(ones.sum()),
            int(ones[low].sum()),
            Moments.of_rows(log, amounts, squares),
            Moments.of_rows(brier, amounts, squares),
        )
