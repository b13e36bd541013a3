"""How scores are kept: all of them, those of the rarer labels, or cells of a grid.

One grid covers all finite floats, so that parts of the data need not know the range of the whole.
For x > 0 let e = floor(log2(x)), of subnormals too, and

    P(x) = floor(x * 2^(bits - e)) + (e + 1074) * 2^bits,    P(0) = 0,

which rises with x and is the same for all x that share their exponent and the first ``bits`` bits
of their mantissa. With H = P(1/2) = 1074 * 2^bits, the number of the cell of a score s is

    s < 0           -P(-s)
    0 <= s <= 1/2   P(s)
    1/2 < s <= 1    2 H - P(1 - s)                where 1 - s is a float
    1 < s           2 H + 1 + P(s) - P(1)

so that 0, 1/2 and 1 have cells of their own, cells are as fine below 1 as above 0, and -0.0 is 0.0.
A cell of fewer bits is a union of cells of more bits, everywhere. Rows, and tables of counts, are
put together by their scores or by those cells.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import InputError, TallyError
from assay.v02.escaping import given_text
from assay.v02.tally.blocks import Scores, map_blocks, merge_binary

AUTO = "auto"
BITS = 12
MOST_BITS = 32

Array: TypeAlias = npt.NDArray[Any]
Ids: TypeAlias = npt.NDArray[np.int64]
Floats: TypeAlias = npt.NDArray[np.float64]

# Where rows below the lowest cut stand.
LOWEST = -float(np.finfo(np.float64).max)
_MANTISSA = {np.dtype(np.float32): 23, np.dtype(np.float64): 52}
# What is added to the exponent as a float stores it, so that that of 2^-1074 becomes 1.
_SHIFT = {np.dtype(np.float32): 1075 - 127, np.dtype(np.float64): 1075 - 1023}
# Subnormals times 2^_LIFT are normal.
_LIFT = 54
_HALF, _ONE = 1074, 1075
_STEP = 53


@dataclass(frozen=True)
class Exact:
    """Every distinct score."""

    name: ClassVar[str] = "exact"


@dataclass(frozen=True)
class Cuts:
    """Exact too: the distinct scores of all labels but the most frequent one.

    Rows of that label are counted at those very scores and into the gaps between them. A gap stands
    as the float after its lower end, so that the count from any kept score on is exact.
    ``frequent`` is that label and ``digest`` names the set of cuts, once they are known.
    """

    frequent: str | None = None
    digest: str = ""
    name: ClassVar[str] = "cuts"


@dataclass(frozen=True)
class Grid:
    """Cells that nest and add.

    A score of 0 to 1 lies in a cell of t = min(s, 1 - s): its exponent, and so many bits of its
    mantissa. Other scores are in cells by their sign, exponent and mantissa.
    """

    bits: int = BITS
    name: ClassVar[str] = "grid"

    def __post_init__(self) -> None:
        if type(self.bits) is not int or not 1 <= self.bits <= MOST_BITS:
            raise TallyError(f"a grid has 1 to {MOST_BITS} bits; found bits={self.bits!r}")


Keeping: TypeAlias = Exact | Cuts | Grid
MODES = (AUTO, Exact.name, Cuts.name, Grid.name)


def keeping_of_mode(mode: Any, modes: Sequence[str] = MODES) -> Keeping:
    """How scores are kept by a mode; ``auto`` keeps every one, as long as that can be done.

    >>> keeping_of_mode("grid")
    Grid(bits=12)
    """
    if not isinstance(mode, str) or mode not in modes:
        raise InputError(f"mode= is one of {', '.join(modes)}; found {given_text(mode)}")
    named: dict[str, Keeping] = {Cuts.name: Cuts(), Grid.name: Grid()}
    return named.get(mode, Exact())


def coarsest(kinds: Collection[Keeping]) -> Keeping:
    """How the scores of a sum are kept.

    >>> coarsest({Exact(), Grid(12), Grid(8)})
    Grid(bits=8)
    """
    if any(isinstance(kept, Cuts) for kept in kinds) and len(set(kinds)) > 1:
        each = sorted(f"{kept.name} {getattr(kept, 'digest', '')}".strip() for kept in kinds)
        raise TallyError(
            f"score tallies kept in unlike ways can't be added: {', '.join(each)}; count all parts "
            f"at the same cuts, or keep exact scores or a grid"
        )
    grids = [kept for kept in kinds if isinstance(kept, Grid)]
    return min(grids, key=lambda kept: kept.bits) if grids else next(iter(kinds), Exact())


def plain(kept: Keeping) -> dict[str, Any]:
    """How scores are kept as plain values, ready for JSON."""
    return {"mode": kept.name, **asdict(kept)}


def keeping_of(values: Mapping[str, Any]) -> Keeping:
    """How scores are kept, from its plain values; a mode that is not known is refused.

    >>> keeping_of(plain(Grid(8)))
    Grid(bits=8)
    """
    given = dict(values)
    mode = given.pop("mode")
    for kind in (Exact, Cuts, Grid):
        if kind.name == mode:
            return kind(**given)
    raise TallyError(f"scores are kept in no known way: mode {mode!r}; known are exact, cuts, grid")


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


def coarsen(ids: Ids, bits: int, to: int) -> Ids:
    """The cells of fewer bits that hold these cells.

    >>> scores = np.array([0.3, 0.7, 1e-300, 7.5, -2.0])
    >>> coarsen(cells(scores, 12), 12, 6).tolist() == cells(scores, 6).tolist()
    True
    """
    if to > bits:
        raise TallyError(f"cells of {bits} bits can't be cut into those of {to}")
    lost_bits = bits - to
    fine, coarse = 2 * _HALF << bits, 2 * _HALF << to
    more = fine + 1 - (_ONE << bits), coarse + 1 - (_ONE << to)
    coarser = np.where(ids < 0, -(-ids >> lost_bits), ids >> lost_bits)
    mirrored = coarse - ((fine - ids) >> lost_bits)
    coarser = np.where(ids > _HALF << bits, mirrored, coarser)
    return np.where(ids > fine, ((ids - more[0]) >> lost_bits) + more[1], coarser)


# -- rows and tables by score ----------------------------------------------------------------------

# Rows are put into cells so many at a time, and so many counters are laid out at most.
_CHUNK = 1 << 22
_COUNTERS = 1 << 23
# Tables whose rows are at most so many times their scores are counted as rows are.
_FEW_TIES = 2


def group(scores: Array, columns: Array) -> tuple[Array, Array]:
    """Distinct scores ascending, and the sums of each column over each score that has any."""
    order = np.argsort(scores, kind="stable")
    scores = scores[order]
    starts = np.flatnonzero(np.concatenate(([True], scores[1:] != scores[:-1])))
    sums = np.add.reduceat(columns[:, order], starts, axis=1)
    occupied = sums.any(axis=0)
    return scores[starts][occupied], sums[:, occupied]


def in_cells(scores: Scores, columns: Array, bits: int) -> tuple[Floats, Array]:
    """A table of ascending scores, its columns added up over the cells of a grid."""
    ids = cells(scores, bits)
    starts = np.flatnonzero(np.concatenate(([True], ids[1:] != ids[:-1])))
    return lowest(ids[starts], bits), np.add.reduceat(columns.astype(np.int64), starts, axis=1)


# -- rows into cells -------------------------------------------------------------------------------


def count_cells(scores: Scores, truth: Array, labels: int, bits: int) -> tuple[Floats, Array]:
    """The lowest score of each cell that holds rows, and how many of each label it holds."""
    chunks = [
        _chunk_cells(scores[i : i + _CHUNK], truth[i : i + _CHUNK], labels, bits)
        for i in range(0, len(scores), _CHUNK)
    ]
    ids, counts = chunks[0]
    if len(chunks) > 1:
        ids, counts = group(
            np.concatenate([part for part, _ in chunks]),
            np.concatenate([part for _, part in chunks], axis=1),
        )
    return lowest(ids, bits), counts


def _chunk_cells(scores: Scores, truth: Array, labels: int, bits: int) -> tuple[Ids, Array]:
    keys = cells(scores, bits)
    # Binades stay whole, and numbers are not negative.
    low = int(keys.min()) >> bits << bits
    np.subtract(keys, low, out=keys)
    span = int(keys.max()) + 1
    binades = np.arange((span >> bits) + 1)
    if span * labels > _COUNTERS // 8:
        # Far from 0, 1/2 and 1, and near them where there are no scores, most binades are empty.
        numbers = keys >> bits
        occupied = np.bincount(numbers, minlength=len(binades)) > 0
        binades = np.flatnonzero(occupied)
        np.bitwise_and(keys, (1 << bits) - 1, out=keys)
        np.bitwise_or(keys, (np.cumsum(occupied) - 1)[numbers] << bits, out=keys)
        span = len(binades) << bits
    if span * labels <= _COUNTERS:
        np.multiply(keys, labels, out=keys)
        np.add(keys, truth, out=keys, casting="unsafe")
        counters = np.bincount(keys, minlength=span * labels).reshape(span, labels)
        places = np.flatnonzero(counters.any(axis=1))
        counts = np.ascontiguousarray(counters[places].T)
    else:
        places, rows = np.unique(keys, return_inverse=True)
        rows = rows * labels + truth
        counts = np.bincount(rows, minlength=len(places) * labels)
        counts = counts.reshape(len(places), labels).T
    ids = (binades[places >> bits] << bits) + (places & ((1 << bits) - 1)) + low
    return ids, counts


# -- many tables -----------------------------------------------------------------------------------


def sum_tables(scores: Sequence[Scores], columns: Sequence[Array]) -> tuple[Scores, Array]:
    """The sum of tables of ascending scores: distinct scores, and the sums of each column."""
    if len(columns[0]) == 2:
        rows = sum(int(part.sum(dtype=np.int64)) for part in columns)
        if rows <= _FEW_TIES * sum(len(part) for part in scores):
            return merge_binary(scores, columns)
    distinct = distinct_scores(scores)
    sums = np.zeros((len(columns[0]), len(distinct)), np.int64)
    for part, counts in zip(scores, columns, strict=True):
        places = places_of(distinct, part)
        for row, row_counts in zip(sums, counts, strict=True):
            row[places] += row_counts.astype(np.int64, copy=False)
    return distinct, sums


def distinct_scores(scores: Sequence[Scores]) -> Scores:
    """All scores of tables, ascending."""
    both = np.concatenate(scores)
    # What is in order already is merged.
    both.sort(kind="stable")
    return np.asarray(both[np.concatenate(([True], both[1:] != both[:-1]))])


def places_of(distinct: Scores, scores: Scores) -> Array:
    """Where ascending scores stand among distinct ones that hold them."""
    places = np.empty(len(scores), np.int64)

    def work(i: int, j: int) -> None:
        places[i:j] = np.searchsorted(distinct, scores[i:j])

    map_blocks(len(scores), lambda: work)
    return places
