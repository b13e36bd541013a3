"""Sums that are not counts: the loss of a probability, row by row, added up exactly.

Each row's loss is rounded to a multiple of 2^-44 and added as an integer, so sums do not depend on
the order of rows or on how they were sharded. Squares, which only the variance needs, are rounded
to 2^-32. With sampling weights the sums are floats, promised to 1e-12.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.errors import TallyError
from assay.tally import codec
from assay.tally.blocks import BLOCK, map_blocks

FIRST_BITS = 44
SECOND_BITS = 32
SMALLEST_PROBABILITY = 2.0**-52
_CHUNK = 1 << 12

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Moments:
    """What a mean and its variance need: sums over rows of w, wx, w^2, w^2 x and w^2 x^2."""

    weight: float
    first: float
    square_weight: float
    square_first: float
    square_second: float

    @property
    def mean(self) -> float:
        """The weighted mean."""
        return self.first / self.weight

    @property
    def variance_of_mean(self) -> float:
        """The variance of the mean by its sandwich form."""
        mean = self.mean
        spread = self.square_second - 2 * mean * self.square_first + mean**2 * self.square_weight
        return max(spread, 0.0) / self.weight**2


@dataclass(frozen=True)
class LossSums:
    """Sums of log loss and Brier loss over rows that were given a probability.

    ``clipped`` counts the rows whose true label was given a probability below 2^-52; their log
    loss is that of 2^-52.
    """

    rows: int = 0
    clipped: int = 0
    log: tuple[int, int] = (0, 0)
    brier: tuple[int, int] = (0, 0)
    weighted: tuple[tuple[float, ...], tuple[float, ...]] | None = None

    def __add__(self, other: LossSums) -> LossSums:
        if not isinstance(other, LossSums):
            return NotImplemented
        if self.rows and other.rows and (self.weighted is None) != (other.weighted is None):
            raise TallyError("sums with and without sampling weights can't be added")
        return LossSums(
            self.rows + other.rows,
            self.clipped + other.clipped,
            (self.log[0] + other.log[0], self.log[1] + other.log[1]),
            (self.brier[0] + other.brier[0], self.brier[1] + other.brier[1]),
            _added(self.weighted, other.weighted),
        )

    def log_loss(self) -> Moments:
        """The sums behind log loss."""
        return self._moments(self.log, 0)

    def brier_score(self) -> Moments:
        """The sums behind the Brier score."""
        return self._moments(self.brier, 1)

    def _moments(self, sums: tuple[int, int], which: int) -> Moments:
        if self.weighted is not None:
            return Moments(*self.weighted[which])
        first, second = sums[0] / 2**FIRST_BITS, sums[1] / 2**SECOND_BITS
        return Moments(self.rows, first, self.rows, first, second)

    @classmethod
    def of_binary(
        cls,
        truth: npt.NDArray[Any],
        probability: npt.NDArray[np.floating[Any]],
        *,
        counts: npt.NDArray[np.int64] | None = None,
        weights: Floats | None = None,
    ) -> LossSums:
        """Sum the losses of rows whose truth is 0 or 1."""

        def worker() -> Any:
            scratch = np.empty((4, BLOCK))

            def work(i: int, j: int) -> LossSums:
                label, p_true, error, spare = scratch[:, : j - i]
                np.copyto(label, truth[i:j])
                np.subtract(probability[i:j], label, out=error, dtype=np.float64)
                np.multiply(error, error, out=error)
                np.subtract(label, 1.0, out=label)
                np.add(label, probability[i:j], out=p_true, dtype=np.float64)
                np.abs(p_true, out=p_true)
                return cls._of_losses(p_true, error, spare, i, j, counts, weights)

            return work

        return sum(map_blocks(len(truth), worker), cls())

    @classmethod
    def of_classes(
        cls,
        truth: npt.NDArray[Any],
        probabilities: Floats,
        *,
        counts: npt.NDArray[np.int64] | None = None,
        weights: Floats | None = None,
    ) -> LossSums:
        """Sum the losses of rows with one probability a class; Brier is halved to [0, 1]."""

        def work(i: int, j: int) -> LossSums:
            rows = probabilities[i:j]
            p_true = rows[np.arange(j - i), truth[i:j]]
            error = (np.square(rows).sum(axis=1) - 2 * p_true + 1) / 2
            return cls._of_losses(
                p_true, np.maximum(error, 0.0), np.empty(j - i), i, j, counts, weights
            )

        return sum(map_blocks(len(truth), lambda: work), cls())

    @classmethod
    def _of_losses(
        cls,
        p_true: Floats,
        brier: Floats,
        spare: Floats,
        start: int,
        stop: int,
        counts: npt.NDArray[np.int64] | None,
        weights: Floats | None,
    ) -> LossSums:
        low = p_true < SMALLEST_PROBABILITY
        np.maximum(p_true, SMALLEST_PROBABILITY, out=p_true)
        np.log(p_true, out=p_true)
        np.negative(p_true, out=p_true)
        if weights is not None:
            weight = weights[start:stop]
            both = (_weighted_sums(p_true, weight), _weighted_sums(brier, weight))
            return cls(stop - start, int(np.count_nonzero(low)), weighted=both)
        count = None if counts is None else counts[start:stop]
        return cls(
            stop - start if count is None else int(count.sum()),
            int(np.count_nonzero(low)) if count is None else int(count[low].sum()),
            _integer_sums(p_true, spare, count),
            _integer_sums(brier, spare, count),
        )

    def to_header(self) -> dict[str, Any]:
        """The sums as plain values."""
        return {
            "rows": self.rows,
            "clipped": self.clipped,
            "log": self.log,
            "brier": self.brier,
            "weighted": self.weighted,
        }

    def to_bytes(self) -> bytes:
        """The sums as bytes; :func:`assay.tally.from_bytes` reads them."""
        return codec.write("losses", self.to_header(), {})


@codec.reads("losses")
def losses_of(header: Mapping[str, Any], _: Mapping[str, Any]) -> LossSums:
    """Sums from their plain values."""
    weighted = header["weighted"]
    if weighted is not None:
        log, brier = (tuple(float(number) for number in part) for part in weighted)
        if len(log) != 5 or len(brier) != 5 or not all(map(math.isfinite, (*log, *brier))):
            raise ValueError("weighted sums are five and five finite numbers")
        weighted = log, brier
    return LossSums(
        int(header["rows"]),
        int(header["clipped"]),
        (int(header["log"][0]), int(header["log"][1])),
        (int(header["brier"][0]), int(header["brier"][1])),
        weighted,
    )


def _integer_sums(
    values: Floats, spare: Floats, counts: npt.NDArray[np.int64] | None
) -> tuple[int, int]:
    """The sums of values and of their squares as multiples of 2^-44 and 2^-32."""
    np.multiply(values, 2.0**FIRST_BITS, out=spare)
    first = _integer_sum(spare, counts)
    np.multiply(values, values, out=spare)
    np.multiply(spare, 2.0**SECOND_BITS, out=spare)
    return first, _integer_sum(spare, counts)


def _integer_sum(scaled: Floats, counts: npt.NDArray[np.int64] | None) -> int:
    np.rint(scaled, out=scaled)
    integers = scaled.astype(np.int64)
    if counts is not None:
        return sum(a * b for a, b in zip(integers.tolist(), counts.tolist(), strict=True))
    # The largest loss is 36.1 * 2^44 < 2^50, so a chunk of 2^12 rows stays below 2^62.
    starts = range(0, len(integers), _CHUNK)
    return sum(np.add.reduceat(integers, starts).tolist()) if len(integers) else 0


def _weighted_sums(values: Floats, weights: Floats) -> tuple[float, ...]:
    squares = weights * weights
    return (
        float(weights.sum()),
        float((weights * values).sum()),
        float(squares.sum()),
        float((squares * values).sum()),
        float((squares * values * values).sum()),
    )


def _added(
    a: tuple[tuple[float, ...], tuple[float, ...]] | None,
    b: tuple[tuple[float, ...], tuple[float, ...]] | None,
) -> tuple[tuple[float, ...], tuple[float, ...]] | None:
    if a is None or b is None:
        return b if a is None else a
    log = tuple(x + y for x, y in zip(a[0], b[0], strict=True))
    brier = tuple(x + y for x, y in zip(a[1], b[1], strict=True))
    return log, brier
