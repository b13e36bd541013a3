"""How scores are stored: every distinct one, or in the cells of a grid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.counts.blocks import map_blocks
from assay.errors import InputError

BITS = 12
MOST_BITS = 32

Array: TypeAlias = npt.NDArray[Any]
Ids: TypeAlias = npt.NDArray[np.int64]
Floats: TypeAlias = npt.NDArray[np.float64]

_MANTISSA = {np.dtype(np.float32): 23, np.dtype(np.float64): 52}
# Added to the exponent as a float stores it, so that that of 2^-1074 becomes 1.
_SHIFT = {np.dtype(np.float32): 1075 - 127, np.dtype(np.float64): 1075 - 1023}
# Subnormals times 2^_LIFT are normal.
_LIFT = 54
_HALF, _ONE = 1074, 1075
_STEP = 53


@dataclass(frozen=True)
class Exact:
    """Every distinct score."""


@dataclass(frozen=True)
class Grid:
    """Cells that nest and add.

    A score s of 0 to 1 is in a cell of t = min(s, 1 - s): its exponent and the first ``bits`` bits
    of its mantissa. Other scores are in cells by sign, exponent and mantissa.
    """

    bits: int = BITS

    def __post_init__(self) -> None:
        if type(self.bits) is not int or not 1 <= self.bits <= MOST_BITS:
            raise InputError(f"a grid has 1 to {MOST_BITS} bits; found bits={self.bits!r}")


def coarsest(kinds: Sequence[Exact | Grid]) -> Exact | Grid:
    """How the scores of a sum are kept.

    >>> coarsest([Exact(), Grid(12), Grid(8)])
    Grid(bits=8)
    """
    return min((kept for kept in kinds if isinstance(kept, Grid)), default=Exact(), key=_bits)


def _bits(kept: Exact | Grid) -> int:
    return kept.bits if isinstance(kept, Grid) else MOST_BITS + 1


def cells(scores: Array, bits: int = BITS) -> Ids:
    """The number of the cell of each score, rising with the score; scores are finite.

    >>> scores = np.array([-1.0, 0.0, 0.3, 0.3001, 0.5, 1.0])
    >>> np.diff(cells(scores, 4)).tolist()
    [17200, 17171, 0, 13, 17184]
    """
    if scores.dtype not in _MANTISSA or (scores.dtype == np.float32 and bits > 23):
        scores = scores.astype(np.float64)
    ids = np.empty(len(scores), np.int64)

    def work(i: int, j: int) -> None:
        _cells(scores[i:j], bits, ids[i:j])

    map_blocks(len(scores), lambda: work)
    return ids


def _cells(scores: Array, bits: int, out: Ids) -> None:
    """Write the cells of one block of scores."""
    middle = 2 * _HALF << bits
    mirrored = scores > 0.5
    if scores.min() >= 0 and scores.max() <= 1:
        sizes = np.subtract(1, scores)
        np.minimum(sizes, scores, out=sizes)
        # Zeros lose their sign.
        np.abs(sizes, out=sizes)
        _position(sizes, bits, out)
        np.subtract(middle, out, out=out, where=mirrored)
        return
    sizes = np.abs(scores)
    mirrored &= scores <= 1
    np.subtract(1, scores, out=sizes, where=mirrored)
    _position(sizes, bits, out)
    np.subtract(middle, out, out=out, where=mirrored)
    np.negative(out, out=out, where=scores < 0)
    np.add(out, middle + 1 - (_ONE << bits), out=out, where=scores > 1)


def _position(sizes: Array, bits: int, out: Ids) -> None:
    """P of floats that are not negative, from their bits as they are stored."""
    dtype = sizes.dtype
    stored = sizes.view(f"i{dtype.itemsize}")
    np.right_shift(stored, _MANTISSA[dtype] - bits, out=out)
    np.add(out, _SHIFT[dtype] << bits, out=out)
    small = np.flatnonzero(sizes < np.finfo(dtype).smallest_normal)
    if len(small):
        lifted = sizes[small].astype(np.float64)
        if dtype == np.float64:
            lifted *= 2.0**_LIFT
        cells = lifted.view(np.int64) >> (52 - bits)
        cells += (_SHIFT[np.dtype(np.float64)] - (_LIFT if dtype == np.float64 else 0)) << bits
        out[small] = np.where(lifted > 0, cells, 0)


def lowest(ids: Ids, bits: int = BITS) -> Floats:
    """The smallest float of each cell that has any.

    >>> lowest(cells(np.array([0.3, 0.5, 0.9]), 4), 4).tolist()
    [0.296875, 0.5, 0.8984375000000001]
    """
    ids = np.asarray(ids, np.int64)
    return _low(ids, bits) if (ids >= 0).all() else _ends(ids, bits)[0]


def highest(ids: Ids, bits: int = BITS) -> Floats:
    """The largest float of each cell that has any.

    >>> highest(cells(np.array([0.3, 0.5, 0.9]), 4), 4).tolist()
    [0.31249999999999994, 0.5, 0.90234375]
    """
    return _ends(ids, bits)[1]


def _ends(ids: Ids, bits: int) -> tuple[Floats, Floats]:
    """The smallest and the largest float of each cell."""
    ids = np.asarray(ids, np.int64)
    middle, half = 2 * _HALF << bits, _HALF << bits
    below, above = ids < 0, ids > middle
    mirrored = (ids > half) & ~above
    position = np.abs(ids)
    position[mirrored] = middle - ids[mirrored]
    position[above] = ids[above] - (middle + 1 - (_ONE << bits))
    low = _low(np.maximum(ids, 0), bits)
    high = np.nextafter(_first_float(position + 1, bits), 0.0)
    # Cells that are cut off at 1/2 and 1.
    high[ids == half] = 0.5
    low[below], high[below] = -high[below], -_first_float(position[below], bits)
    high[mirrored] = 1 - _first_step(position[mirrored], bits) * 2.0**-_STEP
    high[ids == middle] = 1.0
    return low, high


def _low(ids: Ids, bits: int) -> Floats:
    """The smallest float of each cell of scores that are not negative."""
    middle, half = 2 * _HALF << bits, _HALF << bits
    low = np.empty(len(ids))
    first = ids <= half
    low[first] = _first_float(ids[first], bits)
    above = ids > middle
    if above.any():
        position = ids[above] - (middle + 1 - (_ONE << bits))
        low[above] = np.maximum(_first_float(position, bits), np.nextafter(1.0, 2.0))
    # Floats between 1/2 and 1 are multiples of 2^-53.
    mirrored = ~first & ~above
    after = _first_step(middle - ids[mirrored] + 1, bits)
    low[mirrored] = 1 - np.minimum(after - 1, 2 ** (_STEP - 1) - 1) * 2.0**-_STEP
    low[ids == middle] = 1.0
    return low


def _parts(position: Ids, bits: int) -> tuple[Ids, Ids]:
    """The exponent e and the whole m of a cell that starts at m * 2^(e - bits)."""
    return (position >> bits) - _ONE, (position & ((1 << bits) - 1)) + (1 << bits)


def _first_float(position: Ids, bits: int) -> Floats:
    """The smallest float that is not below the start of a cell of positive scores."""
    shift = _SHIFT[np.dtype(np.float64)]
    first = ((position - (shift << bits)) << (52 - bits)).view(np.float64)
    # Zero, subnormals (multiples of 2^-1074) and what no float reaches are not stored so.
    other = np.flatnonzero((position < (shift + 1) << bits) | (position >= (shift + 2047) << bits))
    if len(other):
        exponent, significand = _parts(position[other], bits)
        lost_bits = np.maximum(-1074 - (exponent - bits), 0)
        with np.errstate(over="ignore"):
            starts = np.ldexp(
                (-(-significand >> lost_bits)).astype(np.float64), exponent - bits + lost_bits
            )
        first[other] = np.where(position[other] == 0, 0.0, starts)
    return first


def _first_step(position: Ids, bits: int) -> Floats:
    """The same of t = 1 - s, in multiples of 2^-53."""
    exponent, significand = _parts(position, bits)
    return np.ceil(np.ldexp(significand.astype(np.float64), exponent - bits + _STEP))


def distances(scores: Array) -> Floats:
    """The distance of each score from the nearer of 0 and 1; 0 outside of [0, 1].

    >>> distances(np.array([0.25, 1.0, 7.0])).tolist()
    [0.25, 0.0, 0.0]
    """
    near: Floats = np.minimum(scores, 1 - scores, dtype=np.float64)
    np.maximum(near, 0, out=near)
    return near


def mirrored_cells(sizes: Array, bits: int = BITS) -> Ids:
    """The cells of scores above 1/2, from their distances from 1."""
    return (2 * _HALF << bits) - cells(sizes, bits)
