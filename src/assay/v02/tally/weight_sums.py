"""Sums of sampling weights: the same to the last bit in any order, in any chunks and merged anyhow.

A float is a sum of digits of 26 bits at fixed places. Digits of one place are whole numbers, which
floats add without rounding, and with their carries the digits of a sum are the only ones that it
has. So a sum is kept as the float nearest to it, rounded once, and where no float is the sum, as
its digits beside.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import TallyError
from assay.v02.tally.blocks import BLOCK, map_blocks

Array: TypeAlias = npt.NDArray[Any]
Floats: TypeAlias = npt.NDArray[np.float64]

# Two digits are exact in a float, and so is the sum of 2^27 digits of one place.
_DIGIT_BITS = 26
_DIGIT = (1 << _DIGIT_BITS) - 1
_MOST_ROWS = 1 << 27
# So many bits of all rows of a block, whose number is a power of two, add up to less than 2^53.
_PART_BITS = 54 - BLOCK.bit_length()
# The places of digits of a float, and the lowest scale that can be divided by.
_PLACES = range(-42, 40)
_LOWEST_SCALE = -1014
# So many sums are added up block by block, in parallel; more of them all at once.
_FEW_SUMS = BLOCK >> 4


# -- one sum ---------------------------------------------------------------------------------------


class WeightSum(float):
    """A sum of weights: the float nearest to it, and the floats that are left of it.

    >>> total = exact_sum([0.1, 0.2])
    >>> total, total.rest
    (0.30000000000000004, (-2.7755575615628914e-17,))
    >>> exact_sum([0.2, exact_sum([0.1])]).rest == total.rest
    True
    """

    __slots__ = ("rest",)
    rest: tuple[float, ...]

    def __new__(cls, *parts: float) -> WeightSum:
        """The sum of its parts, which are as :func:`exact_sum` gives them."""
        number = super().__new__(cls, parts[0] if parts else 0.0)
        number.rest = parts[1:]
        return number

    def __reduce__(self) -> tuple[type[WeightSum], tuple[float, ...]]:
        return WeightSum, (float(self), *self.rest)

    def to_header(self) -> float | list[float]:
        """The sum as plain values: a float, or those that add up to it."""
        return [float(self), *self.rest] if self.rest else float(self)


def exact_sum(numbers: Iterable[float]) -> WeightSum:
    """The sum without any rounding but the last one."""
    terms = [part for number in numbers for part in (float(number), *getattr(number, "rest", ()))]
    parts: list[float] = []
    try:
        while part := math.fsum(terms):
            parts.append(part)
            terms.append(-part)
    except OverflowError:
        raise TallyError("weights add up to more than 1.8e308; divide them all by 1e100") from None
    return WeightSum(*parts)


def sum_of(header: Any) -> WeightSum:
    """A sum from plain values, refused unless it is canonical."""
    parts = header if isinstance(header, list) else [header]
    if not all(type(part) in (int, float) and math.isfinite(part) for part in parts):
        raise ValueError(f"a sum of weights is {header!r}")
    total = exact_sum(parts)
    if total < 0 or [float(total), *total.rest] != parts:
        raise ValueError(f"a sum of weights is {header!r}")
    return total


def sums_by_cell(weights: Floats, cells: Array, size: int) -> list[WeightSum]:
    """The sum of the weights of each of a few cells."""

    def work(i: int, j: int) -> list[tuple[int, Floats]]:
        return _split_sums(weights[i:j].astype(np.float64), cells[i:j], size, _PART_BITS)

    return _sums_of_parts(map_blocks(len(weights), lambda: work), size)


def weight_sum(weights: Floats) -> WeightSum:
    """The sum of all weights."""

    def work(i: int, j: int) -> list[tuple[int, Floats]]:
        return _split_sums(weights[i:j].astype(np.float64), None, 1, _PART_BITS)

    return _sums_of_parts(map_blocks(len(weights), lambda: work), 1)[0]


def _sums_of_parts(blocks: list[list[tuple[int, Floats]]], size: int) -> list[WeightSum]:
    columns = [np.ldexp(sums, scale) for block in blocks for scale, sums in block]
    table = np.stack(columns, axis=1).tolist() if columns else [[]] * size
    return [exact_sum(row) for row in table]


# -- many sums -------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Remainder:
    """The digits of those of many sums that are no floats.

    ``digits`` have a row for each of ``places``, in ascending order, and a column for each of the
    sums at ``where``, in ascending order.
    """

    where: npt.NDArray[np.int64]
    places: tuple[int, ...]
    digits: npt.NDArray[np.uint32]

    def atoms(self) -> tuple[npt.NDArray[np.int64], Floats]:
        """Floats that add up to the sums, and which of the sums each is a part of."""
        rows, columns = np.nonzero(self.digits)
        scales = _DIGIT_BITS * np.array(self.places, np.int64)
        values = np.ldexp(self.digits[rows, columns].astype(np.float64), scales[rows])
        return self.where[columns], values

    def moved(self, to: npt.NDArray[np.int64]) -> Remainder | None:
        """The same where the sums have other numbers; ``to`` is negative for those left out."""
        numbers = to[self.where]
        kept = np.flatnonzero(numbers >= 0)
        kept = kept[np.argsort(numbers[kept])]
        return _remainder(numbers[kept], self.places, self.digits[:, kept])

    def to_arrays(self, name: str) -> dict[str, Array]:
        """The digits as arrays, for bytes."""
        places = np.array(self.places, np.int64)
        return {f"{name} at": self.where, f"{name} places": places, f"{name} digits": self.digits}


@dataclass(frozen=True, eq=False)
class WeightSums:
    """Many sums of weights: the floats nearest to them, and what those leave off, if anything.

    >>> sums = add_up([(WeightSums(np.array([0.1, 0.2, 0.5])), np.array([1, 1, 0]))], 2)
    >>> sums.nearest.tolist(), sums.rest is None
    ([0.5, 0.30000000000000004], False)
    """

    nearest: Floats
    rest: Remainder | None = None

    def moved(self, to: npt.NDArray[np.int64], size: int) -> WeightSums:
        """The sums at other numbers, no two at the same; negative ones are left out."""
        nearest = np.zeros(size)
        nearest[to[to >= 0]] = self.nearest[to >= 0]
        return WeightSums(nearest, self.rest and self.rest.moved(to))


def add_up(parts: Sequence[tuple[WeightSums, Array]], size: int) -> WeightSums:
    """Sums of sums: of each part the sums, and the number that each of them is added to.

    Where that is negative, they are left out.
    """
    cells: list[Array] = []
    values: list[Floats] = []
    for sums, numbers in parts:
        nearest = sums.nearest
        if sums.rest is not None:
            at, atoms = sums.rest.atoms()
            placed = numbers[at] >= 0
            cells.append(numbers[at[placed]])
            values.append(atoms[placed])
            nearest = nearest.copy()
            nearest[sums.rest.where] = 0
        occupied = (nearest != 0) & (numbers >= 0)
        cells.append(numbers if occupied.all() else numbers[occupied])
        values.append(nearest if occupied.all() else nearest[occupied])
    if len(cells) == 1:
        return _of_atoms(values[0], cells[0], size)
    return _of_atoms(np.concatenate([[], *values]), np.concatenate([_NONE, *cells]), size)


_NONE = np.empty(0, np.intp)


def _of_atoms(values: Floats, cells: Array, size: int) -> WeightSums:
    nearest = np.zeros(size)
    several = np.bincount(cells, minlength=size) > 1
    if not several.any():
        nearest[cells] = values
        return WeightSums(nearest)
    numbers = np.arange(size)
    if size > _FEW_SUMS:
        # Most sums are of one weight.
        alone = ~several[cells]
        nearest[cells[alone]] = values[alone]
        numbers = np.flatnonzero(several)
        cells, values = (np.cumsum(several) - 1)[cells[~alone]], values[~alone]
    digits = _digit_sums(values, cells, len(numbers))
    places = tuple(place for place, _ in digits)
    table = np.stack([sums for _, sums in digits])
    rounded, exact = _nearest(table, places)
    nearest[numbers] = rounded
    inexact = ~exact
    return WeightSums(
        nearest, _remainder(numbers[inexact], places, table[:, inexact].astype(np.uint32))
    )


def _remainder(numbers: Array, places: tuple[int, ...], digits: Array) -> Remainder | None:
    """What is left; None of nothing. Places at which there is no digit are left out."""
    if not len(numbers):
        return None
    used = np.flatnonzero(digits.any(axis=1))
    kept = tuple(places[i] for i in used)
    return Remainder(numbers.astype(np.int64), kept, np.ascontiguousarray(digits[used]))


def remainder_of(arrays: Mapping[str, Array], name: str, nearest: Floats) -> Remainder | None:
    """What was left of sums, from arrays, refused unless it is what these sums leave."""
    keys = [f"{name} {part}" for part in ("at", "places", "digits")]
    if keys[0] not in arrays:
        return None
    numbers, places, digits = (arrays[key] for key in keys)
    fits = numbers.ndim == places.ndim == 1 and digits.shape == (len(places), len(numbers))
    fits = fits and (numbers.dtype.str, digits.dtype.str) == ("<i8", "<u4") and len(numbers) > 0
    if not fits or (np.diff(numbers) <= 0).any() or numbers[0] < 0 or numbers[-1] >= len(nearest):
        raise ValueError(f"the digits of {name} do not fit")
    ascending = places.tolist()
    if ascending != sorted(set(ascending)) or not set(_PLACES).issuperset(ascending):
        raise ValueError(f"the places of {name} are {ascending}")
    rounded, exact = _nearest(digits.astype(np.int64), tuple(ascending))
    if digits.max() > _DIGIT or exact.any() or (rounded != nearest[numbers]).any():
        raise ValueError(f"the digits of {name} are not those of its sums")
    return Remainder(numbers, tuple(ascending), digits)


# -- digits ----------------------------------------------------------------------------------------


def _digit_sums(values: Floats, cells: Array, size: int) -> list[tuple[int, Array]]:
    """The digits of the sum of each cell, by place in ascending order."""
    block = BLOCK if size <= _FEW_SUMS else _MOST_ROWS
    sums: dict[int, Array] = {}

    def work(i: int, j: int) -> list[tuple[int, Floats]]:
        return _split_sums(values[i:j].astype(np.float64), cells[i:j], size, _DIGIT_BITS)

    for part in map_blocks(len(values), lambda: work, block):
        for scale, exact in part:
            place, digits = scale // _DIGIT_BITS, exact.astype(np.int64)
            sums[place] = sums[place] + digits if place in sums else digits
    return _carried(sums)


def _split_sums(
    remaining: Floats, cells: Array | None, size: int, bits: int
) -> list[tuple[int, Floats]]:
    """The weights of some rows, which are used up, split into parts of so many bits.

    What comes back are the scales of the parts, as powers of two, and the sums of the parts of each
    cell, whole numbers that no float had to round.
    """
    sums = []
    parts = np.empty_like(remaining)
    while (largest := float(remaining.max())) > 0:
        scale = (math.frexp(largest)[1] - 1) // bits * bits
        if scale >= _LOWEST_SCALE:
            np.multiply(remaining, 2.0**-scale, out=parts)
        else:
            np.ldexp(remaining, -scale, out=parts)
        np.floor(parts, out=parts)
        added: Any = parts.sum(keepdims=True) if cells is None else np.bincount(cells, parts, size)
        sums.append((scale, added))
        if scale >= _LOWEST_SCALE:
            np.multiply(parts, 2.0**scale, out=parts)
        else:
            np.ldexp(parts, scale, out=parts)
        np.subtract(remaining, parts, out=remaining)
    return sums


def _carried(sums: dict[int, Array]) -> list[tuple[int, Array]]:
    """The digits of sums, each of them below 2^26."""
    carried = []
    remaining = dict(sums)
    while remaining:
        place = min(remaining)
        digits = remaining.pop(place)
        carry = digits >> _DIGIT_BITS
        if carry.any():
            remaining[place + 1] = remaining[place + 1] + carry if place + 1 in remaining else carry
        digits &= _DIGIT
        if digits.any():
            carried.append((place, digits))
    return carried


def _nearest(digits: Array, places: tuple[int, ...]) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """The float nearest to each sum, and whether it is the sum itself.

    The first four digits from the highest on are two floats, each exact; what follows them tells
    only on which side of the middle between two floats a sum lies.
    """
    # Below the lowest digit there are four that are zero.
    lowest = places[0] - 4
    table = np.zeros((places[-1] - lowest + 1, digits.shape[1]), np.int64)
    for place, row in zip(places, digits, strict=True):
        table[place - lowest] = row
    top = len(table) - 1 - (table[::-1] != 0).argmax(axis=0)
    columns = np.arange(digits.shape[1])
    first, second = (
        np.ldexp(
            (table[top - down, columns] << _DIGIT_BITS | table[top - down - 1, columns]).astype(
                np.float64
            ),
            _DIGIT_BITS * (top - down - 1 + lowest),
        )
        for down in (0, 2)
    )
    # Whether a digit follows those.
    following = np.cumsum(table != 0, axis=0)[top - 4, columns] > 0
    nearest = first + second
    off = second - (nearest - first)
    above = np.nextafter(nearest, np.inf)
    # Half way between two floats, and a little more.
    up = following & (2 * off == above - nearest)
    return np.where(up, above, nearest), (off == 0) & ~following
