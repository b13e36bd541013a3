"""Rules that choose a threshold, applied to a sweep of counts.

Limits are decimals: 3 false positives among 30 negatives keep ``max-fpr=0.1``, whatever floats say.

A tally may have as many distinct scores as there are rows. A rule that chooses a threshold cares
for a few of them: sums over blocks of scores tell where the others lead, so a sweep is looked at in
blocks, and cut finer only where a choice depends on it. So do resamples: how many rows a block has
is drawn first, and how they spread inside it only for blocks that are cut. That is the same in
distribution as drawing all rows, and takes time by the logarithm of their number.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import MethodError, ScoreError
from assay.v02.escaping import given_text
from assay.v02.inference.significance import check_share, is_share
from assay.v02.sources.labelling import checked_threshold, least_reaching
from assay.v02.tally import ScoreTally

Array: TypeAlias = npt.NDArray[Any]

NOTHING = -1  # no threshold keeps the rule: nothing is flagged

# Products below this are exact in 64 bits.
_LARGEST = 1 << 62
# Floats further apart than this share of their sum are in the right order.
_CLOSE = 1e-14
# And so near to 0 they keep too few digits for that.
_TINY = 1e-280


@dataclass(frozen=True)
class AtThreshold:
    """Flag from this score on."""

    threshold: float

    def __post_init__(self) -> None:
        try:
            checked_threshold(self.threshold)
        except ScoreError as error:
            raise MethodError(f"a {error}") from None

    def __str__(self) -> str:
        return f"threshold={_digits_of(self.threshold)}"


@dataclass(frozen=True)
class MaxFpr:
    """The lowest threshold whose false positive rate is at most ``limit``."""

    limit: float

    def __post_init__(self) -> None:
        _share("max-fpr", self.limit)

    def __str__(self) -> str:
        return f"max-fpr={_digits_of(self.limit)}"

    def choose(self, tp: Array, fp: Array, positives: float, negatives: float) -> int:  # noqa: ARG002
        """The position in a sweep (thresholds decreasing, counts cumulative) that is chosen."""
        if not negatives:
            return NOTHING  # an undefined rate keeps no limit
        return _last_kept(at_most(fp, Fraction(1), np.full(1, negatives), _exact(self.limit)))

    def position(self, counts: SweepCounts) -> int:
        """The position in a sweep that is chosen."""
        return self.choose(counts.tp, counts.fp, counts.positives, counts.negatives)

    def undecided(self, blocks: Blocks) -> Array:
        """Blocks inside of which the position may lie: the one where false positives get many."""
        most = math.floor(_exact(self.limit) * blocks.high.negatives)
        return (blocks.low.fp <= most) & (most < blocks.high.fp)


@dataclass(frozen=True)
class MaxFar:
    """The lowest threshold whose false alarm rate FP/(FP + TP) is at most ``limit``.

    At the test set's own share of attacks, or at a base rate. No alerts at all don't satisfy it.
    """

    limit: float
    base_rate: float | None = None

    def __post_init__(self) -> None:
        _share("max-far", self.limit)
        if self.base_rate is not None:
            check_share("base-rate", self.base_rate)

    def __str__(self) -> str:
        rate = "" if self.base_rate is None else f",base-rate={_digits_of(self.base_rate)}"
        return f"max-far={_digits_of(self.limit)}{rate}"

    def choose(self, tp: Array, fp: Array, positives: float, negatives: float) -> int:
        """The position in a sweep (thresholds decreasing, counts cumulative) that is chosen."""
        if self.base_rate is not None and not (positives and negatives):
            return NOTHING  # an undefined rate keeps no limit
        true, false = self._odds(positives, negatives)
        kept = at_most(fp, false, tp, true)
        # Rows that are not drawn leave thresholds without alerts at the start.
        kept[: min(int(np.searchsorted(side, 0, side="right")) for side in (tp, fp))] = False
        return _last_kept(kept)

    def position(self, counts: SweepCounts) -> int:
        """The position in a sweep that is chosen."""
        return self.choose(counts.tp, counts.fp, counts.positives, counts.negatives)

    def undecided(self, blocks: Blocks) -> Array:
        """Blocks inside of which the position may lie: the rate may be kept after the last end."""
        high, low = blocks.high, blocks.low
        if self.base_rate is not None and not (high.positives and high.negatives):
            return blocks.none
        true, false = self._odds(high.positives, high.negatives)
        possible = at_most(low.fp, false, high.tp, true)
        return np.asarray(possible & blocks.drawn & (blocks.order > self.position(high)))

    def _odds(self, positives: float, negatives: float) -> tuple[Fraction, Fraction]:
        """The rate is kept where FP times the second is at most TP times the first."""
        true, false = _exact(self.limit), 1 - _exact(self.limit)
        if self.base_rate is not None:
            rate = _exact(self.base_rate)
            true *= rate * Fraction(negatives)
            false *= (1 - rate) * Fraction(positives)
        return true, false


Rule: TypeAlias = AtThreshold | MaxFpr | MaxFar

_RULES: Mapping[str, Callable[[float], Rule]] = {
    "threshold": AtThreshold,
    "max-fpr": MaxFpr,
    "max-far": MaxFar,
}


@dataclass(frozen=True)
class Operating:
    """A threshold, and its detection rate and false alarm rate on the rows it was chosen on."""

    threshold: float
    detection_rate: float
    far: float


def best_operating(
    scores: npt.NDArray[np.float64], truth: npt.NDArray[np.bool_], max_far: float
) -> Operating | None:
    """The threshold with the highest detection rate at a tolerated FAR, and then the lowest FAR.

    None where no threshold keeps the FAR.
    """
    tally = ScoreTally.of_rows(("negative", "positive"), scores, truth.astype(np.uint8))
    fp, tp = np.cumsum(tally.counts[:, ::-1], axis=1, dtype=np.int64)
    last = MaxFar(max_far).choose(tp, fp, float(tp[-1]), float(fp[-1]))
    if last == NOTHING:
        return None
    # From the last true alarm on a lower threshold only adds false ones.
    at = int(np.searchsorted(tp, tp[last]))
    return Operating(
        float(tally.scores[::-1][at]), float(tp[at] / tp[-1]), float(fp[at] / (fp[at] + tp[at]))
    )


def rule_of(at: Any) -> Rule | None:
    """A rule as it was given: as an object, by its text, or none.

    >>> rule_of("max-fpr=1%"), rule_of(None)
    (MaxFpr(limit=0.01), None)
    """
    if at is None or isinstance(at, Rule):
        return at
    if not isinstance(at, str):
        raise MethodError(
            f"at= is a rule such as 'max-far=0.1' or 'threshold=0.5'; found {given_text(at)}"
        )
    return parse_rule(at)


def parse_rule(text: str) -> Rule:
    """A rule from its text; shares may be written as 0.1, 10% or 1/10.

    >>> parse_rule("max-far=10%,base-rate=1/1000")
    MaxFar(limit=0.1, base_rate=0.001)
    """
    parts = {}
    for part in text.split(","):
        name, _, number = part.partition("=")
        try:
            parts[name.strip()] = _number(number.strip())
        except (ValueError, ZeroDivisionError, OverflowError):
            raise MethodError(_unknown(text)) from None
    name, *others = parts
    if name == "max-far" and others == ["base-rate"]:
        return MaxFar(parts[name], parts["base-rate"])
    if name not in _RULES or others:
        raise MethodError(_unknown(text))
    return _RULES[name](parts[name])


def _number(text: str) -> float:
    if text.endswith("%"):
        return float(Fraction(text.removesuffix("%")) / 100)
    return float(Fraction(text)) if "/" in text else float(text)


def _digits_of(number: float) -> str:
    """Every digit that tells it from other numbers, without a bare zero."""
    return repr(float(number)).removesuffix(".0")


def _unknown(text: str) -> str:
    return (
        f"a rule reads threshold=0.7, max-fpr=0.01, max-far=0.1 or max-far=0.1,base-rate=0.001; "
        f"found {text!r}"
    )


def _share(name: str, value: Any) -> None:
    if not is_share(value):
        raise MethodError(f"{name} must lie between 0 and 1; found {given_text(value)}")


def _exact(limit: float) -> Fraction:
    """The decimal that was written, not the float that is nearest to it."""
    return Fraction(str(float(limit)))


def at_most(a: Array, by_a: Fraction, b: Array, by_b: Fraction) -> Array:
    """Where a * by_a <= b * by_b, exactly; neither falls along the sweep."""
    scale = math.lcm(by_a.denominator, by_b.denominator)
    first, second = int(by_a * scale), int(by_b * scale)
    common = math.gcd(first, second) or 1
    first, second = first // common, second // common
    whole = a.dtype.kind in "iu" and b.dtype.kind in "iu"
    largest = max(first * int(a[-1]), second * int(b[-1]), first, second)
    if whole and largest < _LARGEST:
        kind = np.result_type(a, b, np.min_scalar_type(-largest))
        return np.asarray(kind.type(first) * a <= kind.type(second) * b)
    larger = max(first, second)
    left, right = a * float(Fraction(first, larger)), b * float(Fraction(second, larger))
    kept = np.asarray(left <= right)
    a, b = np.broadcast_arrays(a, b)
    for i in np.flatnonzero(np.abs(left - right) <= _CLOSE * (left + right) + _TINY).tolist():
        kept[i] = Fraction(a[i].item()) * first <= Fraction(b[i].item()) * second
    return kept


def _last_kept(kept: Array) -> int:
    """The last position that is kept: the lowest threshold, the highest detection rate."""
    backwards = kept[::-1]
    first = int(backwards.argmax())
    return len(kept) - 1 - first if backwards[first] else NOTHING


# -- a sweep in blocks -----------------------------------------------------------------------------

Mask: TypeAlias = npt.NDArray[np.bool_]
Integers: TypeAlias = npt.NDArray[np.int64]

# A block is cut into so many.
FAN = 16
# A sweep starts with at most so many cells, label by block: all are drawn in every resample.
CELLS = 4096
# Tables hold counts as floats, which are exact up to here.
LARGEST = 1 << 53
# Blocks are summed so many at once, so that little memory is used beside the sums.
_AT_ONCE = 1 << 20


class Hits(NamedTuple):
    """Positives of one kind: how many are flagged at each position, and how many there are."""

    flagged: Array
    size: int


def no_kinds(name: str) -> Hits:
    """Counts that tell nothing of kinds of positives."""
    raise KeyError(name)


@dataclass(frozen=True, eq=False)
class SweepCounts:
    """True and false positives at falling thresholds, of a data set or of a resample of it.

    ``kind`` gives the hits of one kind of positives, a family, by its name.
    """

    tp: Array
    fp: Array
    positives: int
    negatives: int
    kind: Callable[[str], Hits] = no_kinds

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return self.positives + self.negatives


@dataclass(frozen=True, eq=False)
class Blocks:
    """A sweep in blocks: the counts at the last threshold of each, and the least that any has.

    A block of a single threshold has its own counts in both.
    """

    high: SweepCounts
    low: SweepCounts

    @cached_property
    def drawn(self) -> Mask:
        """Blocks inside of which counts change."""
        return np.asarray((self.low.tp < self.high.tp) | (self.low.fp < self.high.fp))

    @cached_property
    def mixed(self) -> Mask:
        """Blocks inside of which both counts change, and the first in which any does.

        Where only one does, the end of the block or that of the block before is as good as any
        threshold of it, for whoever likes true positives and dislikes false ones.
        """
        first = self.drawn & (self.low.tp == 0) & (self.low.fp == 0)
        return np.asarray(first | (self.low.tp < self.high.tp) & (self.low.fp < self.high.fp))

    @property
    def none(self) -> Mask:
        """No block."""
        return np.zeros(len(self.high.tp), bool)

    @property
    def order(self) -> Integers:
        """The numbers of the blocks."""
        return np.arange(len(self.high.tp))


@dataclass(frozen=True, eq=False)
class Pyramid:
    """A score tally by falling scores, and its sums over ever larger blocks of them.

    The first label is the negative one, all others are kinds of positives. ``levels`` are tables of
    label by block: the first is the tally itself, and each further one adds up blocks of the one
    before it.
    """

    tally: ScoreTally
    levels: tuple[Array, ...]

    @classmethod
    def of(cls, tally: ScoreTally, cells: int = CELLS) -> Pyramid:
        """Add up the counts of a tally until there are at most so many cells."""
        rows = sum(tally.totals())
        if not rows:
            raise MethodError("there are no rows to resample")
        if rows >= LARGEST:
            raise MethodError(f"{rows:,} rows are too many to resample")
        levels = [tally.counts[:, ::-1]]
        while levels[-1].size > cells and levels[-1].shape[1] > 1:
            levels.append(_summed(levels[-1]))
        return cls(tally, tuple(levels))

    @property
    def size(self) -> int:
        """How many thresholds there are."""
        return self.tally.size

    @cached_property
    def top(self) -> Integers:
        """The counts of the largest blocks."""
        return self.levels[-1].astype(np.int64)

    @cached_property
    def totals(self) -> tuple[int, ...]:
        """How many rows each label has."""
        return tuple(self.top.sum(axis=1).tolist())

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return sum(self.totals)

    def thresholds(self, positions: Any) -> npt.NDArray[np.float64]:
        """The scores at some positions."""
        return np.asarray(self.tally.scores[self.size - 1 - np.asarray(positions)], np.float64)

    def positions(self, thresholds: Any) -> Integers:
        """The last position that each threshold flags; -1 where it flags nothing."""
        scores = self.tally.scores
        least = least_reaching(thresholds, scores.dtype)
        return self.size - 1 - np.searchsorted(scores, least, side="left")

    def sums(self, positions: Any) -> Integers:
        """How many rows of each label are flagged at some positions; -1 flags nothing."""
        at = np.asarray(positions, np.int64) + 1
        sums = np.zeros((len(self.totals), *at.shape), np.int64)
        for table in self.levels[:-1]:
            inside = at % FAN
            steps = np.arange(FAN)
            before = steps < inside[..., None]
            # What is not counted stands at some place that exists.
            places = np.where(before, (at - inside)[..., None] + steps, 0)
            sums += (table[:, places] * before).sum(axis=-1, dtype=np.int64)
            at = at // FAN
        until = np.concatenate((np.zeros_like(self.top[:, :1]), self.top), axis=1).cumsum(axis=1)
        return np.asarray(sums + until[:, at])

    def children(self, level: int, index: Integers) -> tuple[Array, Array]:
        """The counts of the parts of some blocks (label, block, part), and which parts exist."""
        table = self.levels[level - 1]
        places = FAN * index[:, None] + np.arange(FAN)
        exist = places < table.shape[1]
        return table[:, np.where(exist, places, 0)] * exist, exist


def _summed(table: Array) -> Array:
    """Counts of blocks from those of their parts."""
    labels, size = table.shape
    blocks = -(-size // FAN)
    kind = np.min_scalar_type(int(table.max()) * FAN)
    sums = np.zeros((labels, blocks), kind)
    for first in range(0, blocks, _AT_ONCE):
        part = table[:, FAN * first : FAN * (first + _AT_ONCE)]
        for i in range(FAN):
            column = part[:, i::FAN]
            sums[:, first : first + column.shape[1]] += column.astype(kind, copy=False)
    return sums


# How the rows of some blocks are spread over their parts, from the level of the blocks, their
# numbers, and how many rows of each label they have: counts by label, block and part.
Split: TypeAlias = Callable[[int, Integers, Integers], tuple[Array, Array]]


@dataclass(frozen=True, eq=False)
class NarrowedSweep:
    """A sweep in blocks of several sizes, from high scores to low."""

    pyramid: Pyramid
    level: Integers
    index: Integers
    amounts: Integers  # label by block
    split: Split

    @classmethod
    def of_data(cls, pyramid: Pyramid) -> NarrowedSweep:
        """The data themselves."""

        def split(level: int, index: Integers, amounts: Integers) -> tuple[Array, Array]:  # noqa: ARG001
            return pyramid.children(level, index)

        return cls._at_top(pyramid, pyramid.top, split)

    @classmethod
    def redrawn(cls, pyramid: Pyramid, generator: np.random.Generator) -> NarrowedSweep:
        """As many rows drawn with replacement."""
        shares = pyramid.top.ravel() / pyramid.rows
        amounts = generator.multinomial(pyramid.rows, shares).reshape(pyramid.top.shape)

        def split(level: int, index: Integers, amounts: Integers) -> tuple[Array, Array]:
            held, exist = pyramid.children(level, index)
            totals = held.sum(axis=-1, keepdims=True, dtype=np.int64)
            # A block without rows has none to spread; any shares will do.
            shares = np.where(totals > 0, held, 1) / np.where(totals > 0, totals, FAN)
            return generator.multinomial(amounts, shares), exist

        return cls._at_top(pyramid, amounts, split)

    @classmethod
    def _at_top(cls, pyramid: Pyramid, amounts: Integers, split: Split) -> NarrowedSweep:
        size = amounts.shape[1]
        level = np.full(size, len(pyramid.levels) - 1)
        return cls(pyramid, level, np.arange(size), amounts, split)

    @cached_property
    def ends(self) -> Integers:
        """The last position of each block."""
        return np.asarray(
            np.minimum((self.index + 1) * FAN**self.level, self.pyramid.size) - 1, np.int64
        )

    @cached_property
    def sums(self) -> Integers:
        """How many rows of each label are flagged at the end of each block."""
        return np.cumsum(self.amounts, axis=1)

    @cached_property
    def blocks(self) -> Blocks:
        """What rules look at."""
        before = np.where(self.level > 0, self.sums - self.amounts, self.sums)
        return Blocks(self._counts(self.sums), self._counts(before))

    def _counts(self, sums: Integers) -> SweepCounts:
        labels, totals = self.pyramid.tally.labels, self.sums[:, -1].tolist()

        def kind(name: str) -> Hits:
            at = labels.index(name, 1)
            return Hits(sums[at], totals[at])

        tp = sums[1] if len(sums) == 2 else sums[1:].sum(axis=0)
        return SweepCounts(tp, sums[0], sum(totals[1:]), totals[0], kind)

    def cut(self, mask: Mask) -> NarrowedSweep:
        """The same sweep with some blocks cut into their parts."""
        parts = {}
        repeats = np.ones(len(mask), np.int64)
        for level in np.unique(self.level[mask]).tolist():
            where = np.flatnonzero(mask & (self.level == level))
            drawn, exist = self.split(level, self.index[where], self.amounts[:, where])
            repeats[where] = exist.sum(axis=1)
            parts[level] = where, drawn, exist
        first = np.cumsum(repeats) - repeats
        levels, index = np.repeat(self.level, repeats), np.repeat(self.index, repeats)
        amounts = np.repeat(self.amounts, repeats, axis=1)
        for level, (where, drawn, exist) in parts.items():
            places = (first[where][:, None] + np.arange(FAN))[exist]
            levels[places] = level - 1
            index[places] = (FAN * self.index[where][:, None] + np.arange(FAN))[exist]
            amounts[:, places] = drawn[:, exist]
        return NarrowedSweep(self.pyramid, levels, index, amounts, self.split)
