"""Sums that are not counts: the loss of a probability, row by row, added up exactly.

Each row's loss and its square are floats, which are multiples of 2^-1074 and are added as integers,
digit by digit: no sum is rounded, however small its parts are, and none depends on the order of
rows or on how they were sharded. With sampling weights too, each product is a float that is added
exactly.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.errors import TallyError
from assay.v02.tally import codec
from assay.v02.tally.blocks import BLOCK, map_blocks
from assay.v02.tally.scores import ScoreTally
from assay.v02.tally.weight_sums import WeightSum, exact_sum, sum_of, weight_sum

# A float of 2^-LEVEL_BITS or more is a multiple of 2^-LOWEST_BITS; a smaller one becomes so when it
# is multiplied by 2^LEVEL_BITS often enough. Sums count units that divide every float.
LEVEL_BITS = 62
LOWEST_BITS = LEVEL_BITS + 52
UNIT_BITS = 17 * LEVEL_BITS + LOWEST_BITS
# Where a value is split, so that each part of a chunk of values adds up exactly as floats.
_SPLIT = (31, 41)
SMALLEST_PROBABILITY = 2.0**-52
_CHUNK = 1 << 11
_DIGIT_BITS = 10
_ROUNDING = 2.0**-48
_DIGIT = (1 << _DIGIT_BITS) - 1
# Below this 1 - q has lost digits of q, and -log(1 - q) is q + q^2/2 + q^3/3 to the last bit.
_NEARLY_SURE = 2.0**-17
# What sums were multiples of before they had a number of bits: losses, and squares of losses.
_OLD_BITS = (44, 32)

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
        parts = self.square_second, -2 * mean * self.square_first, mean**2 * self.square_weight
        spread = sum(parts)
        # What rounding leaves of losses that are all the same is none.
        if spread <= _ROUNDING * max(map(abs, parts)):
            return 0.0
        return spread / self.weight**2


@dataclass(frozen=True)
class LossSums:
    """Sums of log loss and Brier loss over rows that were given a probability.

    Each pair holds the sum of the losses and that of their squares, in units of 2^-1168.
    ``clipped`` counts the rows whose true label was given a probability below 2^-52; their log
    loss is that of 2^-52.
    """

    rows: int = 0
    clipped: int = 0
    log: tuple[int, int] = (0, 0)
    brier: tuple[int, int] = (0, 0)
    weighted: tuple[tuple[WeightSum, ...], tuple[WeightSum, ...]] | None = None

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
            _sum_of_losses(self.weighted, other.weighted),
        )

    def log_loss(self) -> Moments:
        """The sums behind log loss."""
        return self._moments(self.log, 0)

    def brier_score(self) -> Moments:
        """The sums behind the Brier score."""
        return self._moments(self.brier, 1)

    def _moments(self, sums: tuple[int, int], side: int) -> Moments:
        if self.weighted is not None:
            return Moments(*self.weighted[side])
        first, second = (number / 2**UNIT_BITS for number in sums)
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
            scratch = np.empty((4, min(len(truth), BLOCK)))

            def work(i: int, j: int) -> LossSums:
                return cls._of_binary_block(
                    truth[i:j],
                    probability[i:j],
                    scratch,
                    None if counts is None else counts[i:j],
                    None if weights is None else weights[i:j],
                )

            return work

        return sum(map_blocks(len(truth), worker), cls())

    @classmethod
    def of_scores(cls, table: ScoreTally) -> LossSums:
        """Sum the losses of the rows of a binary table of scores without sampling weights."""

        def worker() -> Any:
            scratch = np.empty((4, min(table.size, BLOCK)))

            def work(i: int, j: int) -> LossSums:
                sums = cls()
                if _one_each(table.counts[:, i:j]):
                    return cls._of_binary_block(table.counts[1, i:j], table.scores[i:j], scratch)
                for truth, counts in enumerate(table.counts[:, i:j]):
                    for once, chosen in ((True, counts == 1), (False, counts > 1)):
                        scores = table.scores[i:j][chosen]
                        if len(scores):
                            often = None if once else counts[chosen].astype(np.int64)
                            sums += cls._of_binary_block(truth, scores, scratch, often)
                return sums

            return work

        return sum(map_blocks(table.size, worker), cls())

    @classmethod
    def _of_binary_block(
        cls,
        truth: Any,
        probability: npt.NDArray[np.floating[Any]],
        scratch: Floats,
        counts: npt.NDArray[np.int64] | None = None,
        weights: Floats | None = None,
    ) -> LossSums:
        """The losses of some rows; ``truth`` is theirs, or that of all of them."""
        label, p_true, error, spare = scratch[:, : len(probability)]
        np.copyto(label, truth)
        np.subtract(probability, label, out=error, dtype=np.float64)
        np.abs(error, out=error)
        np.subtract(label, 1.0, out=label)
        np.add(label, probability, out=p_true, dtype=np.float64)
        np.abs(p_true, out=p_true)
        brier = np.multiply(error, error, out=label)
        return cls._of_losses(p_true, error, brier, spare, counts, weights)

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
            errors = np.array(probabilities[i:j], np.float64)
            right = np.arange(j - i), truth[i:j]
            p_true = errors[right]
            wrong = 1.0 - p_true
            errors[right] = wrong
            brier = np.square(errors, out=errors).sum(axis=1) / 2
            return cls._of_losses(
                p_true,
                wrong,
                brier,
                np.empty_like(brier),
                None if counts is None else counts[i:j],
                None if weights is None else weights[i:j],
            )

        return sum(map_blocks(len(truth), lambda: work), cls())

    @classmethod
    def _of_losses(
        cls,
        p_true: Floats,
        wrong: Floats,
        brier: Floats,
        spare: Floats,
        counts: npt.NDArray[np.int64] | None,
        weights: Floats | None,
    ) -> LossSums:
        low = p_true < SMALLEST_PROBABILITY
        np.maximum(p_true, SMALLEST_PROBABILITY, out=p_true)
        np.log(p_true, out=p_true)
        np.negative(p_true, out=p_true)
        near_zero = wrong < _NEARLY_SURE
        if near_zero.any():
            q = wrong[near_zero]
            p_true[near_zero] = q * (1 + q * (1 / 2 + q / 3))
        if weights is not None:
            both = _weighted_sums(weights, (p_true, brier))
            return cls(len(low), int(np.count_nonzero(low)), weighted=both)
        return cls(
            len(low) if counts is None else int(counts.sum()),
            int(np.count_nonzero(low)) if counts is None else int(counts[low].sum()),
            _integer_sums(p_true, wrong, spare, counts),
            _integer_sums(brier, wrong, spare, counts),
        )

    def to_header(self) -> dict[str, Any]:
        """The sums as plain values, in units of 2^-bits that are as large as they can be."""
        sums = (*self.log, *self.brier)
        spare = UNIT_BITS - LOWEST_BITS
        while any(number & ((1 << spare) - 1) for number in sums):
            spare -= LEVEL_BITS
        return {
            "rows": self.rows,
            "clipped": self.clipped,
            "bits": UNIT_BITS - spare,
            "log": [number >> spare for number in self.log],
            "brier": [number >> spare for number in self.brier],
            "weighted": self.weighted
            and [[number.to_header() for number in part] for part in self.weighted],
        }

    def to_bytes(self) -> bytes:
        """The sums as bytes; :func:`assay.tally.from_bytes` reads them."""
        sums = [number for part in self.weighted or () for number in part]
        return codec.write(
            "losses", self.to_header(), {}, schema=3 if any(n.rest for n in sums) else 2
        )


@codec.reads("losses")
def losses_of(header: Mapping[str, Any], _: Mapping[str, Any]) -> LossSums:
    """Sums from their plain values."""
    weighted = header["weighted"]
    if weighted is not None:
        weighted = tuple(tuple(sum_of(number) for number in part) for part in weighted)
        if [len(part) for part in weighted] != [5, 5]:
            raise ValueError("weighted sums are five and five numbers")
    bits = _OLD_BITS if "bits" not in header else (int(header["bits"]),) * 2
    if not 0 < bits[0] <= UNIT_BITS:
        raise ValueError(f"sums have 1 to {UNIT_BITS} bits; found {bits[0]}")
    log, brier = (
        (int(sums[0]) << UNIT_BITS - bits[0], int(sums[1]) << UNIT_BITS - bits[1])
        for sums in (header["log"], header["brier"])
    )
    return LossSums(int(header["rows"]), int(header["clipped"]), log, brier, weighted)


def _one_each(counts: npt.NDArray[Any]) -> bool:
    """Whether each score has one row."""
    return bool(counts.max() == 1 and (counts[0] != counts[1]).all())


def _integer_sums(
    values: Floats, squares: Floats, spare: Floats, counts: npt.NDArray[np.int64] | None
) -> tuple[int, int]:
    """The sums of values and of their squares, in units; all three arrays are used up."""
    np.multiply(values, values, out=squares)
    return _integer_sum(values, spare, counts), _integer_sum(squares, spare, counts)


def _integer_sum(values: Floats, spare: Floats, counts: npt.NDArray[np.int64] | None) -> int:
    """The sum without any rounding, level by level: few values are below the first."""
    total, bits = 0, LOWEST_BITS
    while len(values):
        small = np.flatnonzero(values < 2.0**-LEVEL_BITS)
        smaller = values[small]
        values[small] = 0.0
        total += _level_sum(values, spare[: len(values)], counts) << UNIT_BITS - bits
        small = small[smaller > 0]
        values = smaller[smaller > 0] * 2.0**LEVEL_BITS
        counts = None if counts is None else counts[small]
        bits += LEVEL_BITS
    return total


def _level_sum(values: Floats, integers: Floats, counts: npt.NDArray[np.int64] | None) -> int:
    """The sum of multiples of 2^-114 as their number; the values are used up.

    The square of the largest loss is 1,303 < 2^11. So the whole part of 2^31 times a value has 42
    bits, that of 2^41 times the rest 41, and what is then left 42 behind the point: 2^11 of any of
    these add up exactly as floats.
    """
    total, bits = 0, 0
    for step in _SPLIT:
        np.multiply(values, 2.0**step, out=values)
        np.floor(values, out=integers)
        np.subtract(values, integers, out=values)
        bits += step
        total += _chunk_sum(integers, 0, counts) << LOWEST_BITS - bits
    return total + _chunk_sum(values, LOWEST_BITS - bits, counts)


def _chunk_sum(parts: Floats, bits: int, counts: npt.NDArray[np.int64] | None) -> int:
    """The sum of multiples of 2^-bits as their number."""
    if counts is not None:
        return _counted_sum(np.multiply(parts, 2.0**bits, out=parts).astype(np.int64), counts)
    sums = np.add.reduceat(parts, range(0, len(parts), _CHUNK))
    return sum(map(int, (sums * 2.0**bits).tolist()))


def _counted_sum(parts: npt.NDArray[np.int64], counts: npt.NDArray[np.int64]) -> int:
    """The sum of parts, each so many times: 42 bits, a digit of a count and a chunk fill 63."""
    total, shift = 0, 0
    remaining = counts
    while remaining.any():
        sums = np.add.reduceat(parts * (remaining & _DIGIT), range(0, len(parts), _CHUNK))
        total += sum(sums.tolist()) << shift
        remaining = remaining >> _DIGIT_BITS
        shift += _DIGIT_BITS
    return total


def _weighted_sums(
    weights: Floats, losses: tuple[Floats, Floats]
) -> tuple[tuple[WeightSum, ...], tuple[WeightSum, ...]]:
    squares = weights * weights
    weight, square = weight_sum(weights), weight_sum(squares)
    log, brier = (
        (
            weight,
            weight_sum(weights * each),
            square,
            weight_sum(squares * each),
            weight_sum(squares * each * each),
        )
        for each in losses
    )
    return log, brier


def _sum_of_losses(
    a: tuple[tuple[WeightSum, ...], tuple[WeightSum, ...]] | None,
    b: tuple[tuple[WeightSum, ...], tuple[WeightSum, ...]] | None,
) -> tuple[tuple[WeightSum, ...], tuple[WeightSum, ...]] | None:
    if a is None or b is None:
        return b if a is None else a
    log, brier = (tuple(map(exact_sum, zip(*both, strict=True))) for both in zip(a, b, strict=True))
    return log, brier
