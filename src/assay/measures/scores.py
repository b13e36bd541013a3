"""How a measure of scores is declared, and between which values it lies on a grid of scores.

Influence is to scores what a formula is to counts: by how much each row moves a measure tells its
value, and its variance with sampling weights, with clusters, and between two models. A mean of a
loss is told by the loss of a row. What is neither says so and has no interval.

Where scores are kept as a grid, the order of the rows inside a cell is not known. A measure of the
ranking is bounded by the two orders that part the classes of every cell: any other one lies between
them in the ROC plane, and the edges of cells are points of each. A measure of the scores themselves
is bounded by the smallest and the largest score of each cell. Bounds are rigorous up to rounding,
for which they leave room.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.counts import Confusion, LossSums, Moments, Sample, ScoreCounts
from assay.counts.blocks import BLOCK
from assay.errors import MethodError
from assay.measures.auc import UNKNOWN, Ranking, Smooth, rank
from assay.measures.calibration import BinRanges, Ends, Reliability
from assay.measures.measure import Interval, Law, Needs
from assay.measures.roc_points import Influence, Points, RocReading, ap_influence
from assay.text import grouped

Floats: TypeAlias = npt.NDArray[np.float64]

# At a base rate, alarms on so many negatives weigh as much as the positives: fewer tell nothing.
RESOLVING = 10


@dataclass(frozen=True)
class Ranked:
    """A measure of one score, mostly of how it ranks the rows, by the influence of each row.

    ``fast`` finds the same value and variance from block sums, without sampling weights, and
    ``alone`` the value from the points of the ROC curve, where that is quicker still;
    ``in_blocks`` the same value and variance of more scores than a block holds, to 1e-12.
    ``unbiased`` divides by one row less on each side, as DeLong does. ``reach`` is the share of
    negatives that it looks at, ``between`` its least and largest value where those are within
    the range, and ``up_to`` gives it for another false positive rate, corrected or not. It asks
    for at least so many ``negatives``; and for ``probabilities``, if not any score will do. Where
    rows of both classes do not make it defined, ``undefined`` says why; ``clipped`` counts the rows
    whose score it could not take as it was. ``bound`` finds between which values it lies where
    scores are kept as a grid, if it is not between the best and the worst order of each cell.
    """

    influence: Callable[[ScoreCounts], Influence]
    fast: Callable[[Ranking], Smooth] | None = None
    alone: Callable[[Points], float] | None = None
    in_blocks: Callable[[ScoreCounts], Smooth] | None = None
    interval: Interval = Interval.INFLUENCE
    invariant_under: tuple[Law, ...] = (Law.SCORE_MAP,)
    unbiased: bool = False
    negatives: int = 1
    probabilities: bool = False
    undefined: str = ""
    clipped: Callable[[ScoreCounts], float] | None = None
    reach: float = 1.0
    between: tuple[float, float] | None = None
    up_to: Callable[..., Ranked] | None = None
    bound: Callable[[ScoreCounts], Ends] | None = None

    @property
    def needs(self) -> Needs:
        """Scores, or probabilities."""
        return Needs.LOSSES if self.probabilities else Needs.SCORES

    def missing(self, positives: float, negatives: float) -> str | None:
        """Why so many rows of each class have no value; None where they have one."""
        if not positives or (self.negatives and not negatives):
            absent = "positives" if not positives else "negatives"
            return f"there are no {absent}, so there is nothing to rank against"
        if self.negatives > 1 and negatives < self.negatives:
            return (
                f"it asks for at least {self.negatives:,} negatives; there are only "
                f"{grouped(negatives, 10)}"
            )
        return None

    def of(self, ranking: Ranking) -> Smooth:
        """The value and its variance."""
        if self.missing(*ranking.table.effective()[::-1]) is not None:
            return UNKNOWN
        table = ranking.table
        if self.in_blocks is not None and table.size > BLOCK and not table.weighted:
            return self.in_blocks(table)
        return self.by_influence(table) if self.fast is None else self.fast(ranking)

    def value(self, table: ScoreCounts) -> float:
        """The value alone, as resamples need it."""
        if self.alone is not None:
            return self.value_of(Points.of(table))
        # Blocks are for many scores; of few the influence is there sooner.
        if self.fast is not None and table.size > BLOCK:
            return self.of(rank(table)).value
        return self._influence(table).value

    def value_of(self, points: Points) -> float:
        """The value alone, of what is read off the points of a ROC curve."""
        if self.alone is None:
            raise MethodError("a measure that is no reading of points has no value of them")
        return self.alone(points) if self.missing(*points.effective) is None else math.nan

    def _influence(self, table: ScoreCounts) -> Influence:
        """The influence, or nan where rows are missing."""
        if self.missing(*table.effective()[::-1]) is None:
            return self.influence(table)
        nothing = np.full(table.size, math.nan)
        return Influence(math.nan, nothing, nothing)

    def by_influence(self, table: ScoreCounts) -> Smooth:
        """The same by the influence of each row."""
        influence = self.influence(table)
        return Smooth(influence.value, influence.variance(table, unbiased=self.unbiased))

    def moves(self, sample: Sample, model: int) -> tuple[float, Floats]:
        """The value of one model, and by how much each row moves it."""
        influence = self._influence(sample.score_counts(model))
        at = sample.positions[model][1]
        return influence.value, np.where(
            sample.truth == 1, influence.positive[at], influence.negative[at]
        )

    def resampled(self, sample: Sample, model: int, counts: npt.NDArray[np.int64]) -> float:
        """The value of one model on rows that are counted anew."""
        table = sample.score_counts(model, counts)
        return self.value(table) if all(table.totals()) else math.nan

    def at_base_rate(self, base_rate: float) -> Ranked:
        """The same where another share of rows is positive, the scores of each class kept."""

        def factors(table: ScoreCounts) -> tuple[float, float]:
            negatives, positives = (float(side) for side in table.totals())
            rows = negatives + positives
            return (1 - base_rate) * rows / negatives, base_rate * rows / positives

        def mixed(table: ScoreCounts) -> ScoreCounts:
            by = np.array(factors(table))[:, None]
            squares = table.counts if table.squares is None else table.squares
            tables = table.counts * by, squares * by**2
            return ScoreCounts(table.labels, table.scores, *tables, table.kept)

        def influence(table: ScoreCounts) -> Influence:
            moved = self.influence(mixed(table))
            # A row moves the scores of its class, and not how many rows that has.
            moves = [
                factor * (side - float((counts * side).sum() / counts.sum()))
                for factor, side, counts in zip(
                    factors(table), (moved.negative, moved.positive), table.counts, strict=True
                )
            ]
            return Influence(moved.value, moves[1], moves[0])

        own = self.bound
        bound = None if own is None else lambda table: own(mixed(table))
        invariant = Law.PREVALENCE in self.invariant_under
        asked = self.negatives if invariant else math.ceil(RESOLVING / base_rate)
        return replace(
            self,
            influence=influence,
            fast=None,
            alone=None,
            in_blocks=None,
            unbiased=False,
            negatives=asked,
            bound=bound,
        )


def read_off(
    read: Callable[[Points], RocReading],
    alone: Callable[[Points], float] | None = None,
    **facts: Any,
) -> Ranked:
    """A measure that is read off the points of the ROC curve, its value ``alone`` if quicker."""

    def fast(ranking: Ranking) -> Smooth:
        reading = read(ranking.points)
        if ranking.table.weighted:
            return Smooth(reading.value, reading.influence().variance(ranking.table))
        return Smooth(reading.value, reading.variance())

    return Ranked(
        influence=lambda table: read(Points.of(table)).influence(),
        fast=fast,
        alone=alone or (lambda points: read(points).value),
        **facts,
    )


@dataclass(frozen=True)
class MeanLoss:
    """The mean over rows of a loss of the probability that was said and the truth, 0 or 1.

    ``of_classes`` is the loss of a row of more than two classes, of its probabilities and the
    position of the true one; without it there is none. ``sums`` are those that were added up while
    rows were counted. ``largest`` is the most that a row can lose. ``beside`` are values to compare
    with, and ``clipped`` says of how many rows the loss was cut.
    """

    loss: Callable[[Floats, Any], Floats]
    largest: float
    of_classes: Callable[[Floats, Any], Floats] | None = None
    sums: Callable[[LossSums], Moments] | None = None
    beside: Callable[[Confusion], Mapping[str, float]] | None = None
    clipped: Callable[[LossSums], int] | None = None
    invariant_under: tuple[Law, ...] = ()
    needs: ClassVar[Needs] = Needs.LOSSES
    interval: ClassVar[Interval] = Interval.MEAN

    def value(self, table: ScoreCounts) -> float:
        """The mean loss of binary score counts, in floats, as resamples are."""
        rows = table.counts.sum()
        return float((self._losses(table) * table.counts).sum() / rows) if rows else math.nan

    def moments(self, table: ScoreCounts) -> Moments:
        """The sums behind the mean and its variance."""
        losses = self._losses(table)
        squares = table.counts if table.squares is None else table.squares
        return Moments(
            float(table.counts.sum()),
            float((losses * table.counts).sum()),
            float(squares.sum()),
            float((losses * squares).sum()),
            float((losses * losses * squares).sum()),
        )

    def _losses(self, table: ScoreCounts) -> Floats:
        scores = table.middles()
        return np.stack([self.loss(scores, 0), self.loss(scores, 1)])

    def of_rows(self, sample: Sample, model: int) -> Floats:
        """The loss of each row."""
        said = sample.of_model(model)
        if sample.width == 1:
            return np.asarray(self.loss(said[:, 0], sample.truth))
        if self.of_classes is None:
            raise MethodError("a loss of two classes has no value for a row of more")
        return np.asarray(self.of_classes(said, sample.truth))

    def moves(self, sample: Sample, model: int) -> tuple[float, Floats]:
        """The value of one model, and by how much each row moves it."""
        loss = self.of_rows(sample, model)
        total = float(sample.counts.sum())
        mean = float((loss * sample.counts).sum()) / total
        return mean, (loss - mean) / total

    def resampled(self, sample: Sample, model: int, counts: npt.NDArray[np.int64]) -> float:
        """The value of one model on rows that are counted anew."""
        return float((self.of_rows(sample, model) * counts).sum() / counts.sum())


@dataclass(frozen=True)
class Binned:
    """A measure of binned probabilities, and what a calibrated model of this size would show.

    It has no interval, since a bootstrap of it does not cover. ``bound`` is between which values it
    lies where scores are kept as a grid.
    """

    value: Callable[[Reliability], float]
    if_calibrated: Callable[[Reliability], float]
    bound: Callable[[BinRanges], Ends]
    invariant_under: tuple[Law, ...] = ()
    needs: ClassVar[Needs] = Needs.SCORES
    interval: ClassVar[Interval] = Interval.NONE


# -- more than two classes -------------------------------------------------------------------------


class Share(NamedTuple):
    """One of the rankings that an average is made of: its weight, and how many rows it ranks."""

    weight: float
    smooth: Smooth
    positives: float
    negatives: float


@dataclass(frozen=True)
class ClassAverage:
    """A measure of a ranking averaged over classes, each against the rest, on the same rows.

    Each class counts alike or, where it is ``weighted``, by its rows; ``classes`` are the
    positions of those that count, all by default.
    """

    ranked: Ranked
    weighted: bool = False
    classes: tuple[int, ...] | None = None

    def shares(self, sizes: Floats) -> dict[int, float]:
        """The weight of each class that counts; ``sizes`` are how many rows each has."""
        held = range(len(sizes)) if self.classes is None else self.classes
        if not self.weighted:
            return {label: 1 / len(held) for label in held}
        total = float(sum(sizes[label] for label in held))
        return {label: float(sizes[label]) / total for label in held if sizes[label]}

    def parts(self, rankings: tuple[Ranking, ...]) -> list[Share]:
        """What is averaged."""
        shares = self.shares(np.array([float(r.positives) for r in rankings]))
        return [_share(weight, self.ranked, rankings[label]) for label, weight in shares.items()]

    def moves(self, sample: Sample, model: int) -> tuple[float, Floats]:
        """The value of one model, and by how much each row moves it.

        A further row of a class also gives that class more weight.
        """
        sizes = _sizes(sample, sample.counts)
        shares, total = self.shares(sizes), float(sizes.sum())
        moved, values = np.zeros(sample.size), np.zeros(len(sizes))
        for label, share in shares.items():
            if self.ranked.missing(sizes[label], total - sizes[label]) is not None:
                return math.nan, moved
            values[label], one = self.ranked.moves(sample.one_versus_rest(label, model), 0)
            moved += share * one
        value = math.fsum(share * values[label] for label, share in shares.items())
        if self.weighted:
            rows = np.isin(sample.truth, list(shares))
            held = float(sum(sizes[label] for label in shares))
            moved += np.where(rows, (values[sample.truth] - value) / held, 0.0)
        return value, moved

    def resampled(self, sample: Sample, model: int, counts: npt.NDArray[np.int64]) -> float:
        """The value of one model on rows that are counted anew."""
        sizes = _sizes(sample, counts)
        shares, tables = self.shares(sizes), sample.class_counts(model, counts)
        if not all(0 < sizes[label] < sizes.sum() for label in shares):
            return math.nan
        values = {k: self.ranked.influence(tables[k].one_versus_rest(k)).value for k in shares}
        return math.fsum(share * values[label] for label, share in shares.items())

    @property
    def unbiased(self) -> bool:
        """Whether its variance divides by one row less of each class."""
        return self.ranked.unbiased


@dataclass(frozen=True)
class OverPairs:
    """The mean, over ordered pairs of classes, of a measure of the ranking of their rows alone.

    The first of a pair is the positive, and its probability ranks.
    """

    ranked: Ranked
    invariant_under: tuple[Law, ...] = ()
    needs: ClassVar[Needs] = Needs.SCORES
    interval: ClassVar[Interval] = Interval.AVERAGED

    @property
    def unbiased(self) -> bool:
        """Whether its variance divides by one row less of each class."""
        return self.ranked.unbiased

    def parts(self, tables: tuple[ScoreCounts, ...]) -> list[Share]:
        """What is averaged: ``tables`` hold one table a class, of its probabilities."""
        pairs = list(permutations(range(len(tables)), 2))
        rankings = [rank(tables[i].pair(j, i)) for i, j in pairs]
        return [_share(1 / len(pairs), self.ranked, ranking) for ranking in rankings]

    def value(self, tables: tuple[ScoreCounts, ...]) -> float:
        """The mean; nan where a class has no rows."""
        parts = self.parts(tables)
        return math.fsum(p.smooth.value for p in parts) / len(parts) if parts else math.nan

    def moves(self, sample: Sample, model: int) -> tuple[float, Floats]:
        """The value of one model, and by how much each row moves it."""
        moved, values = np.zeros(sample.size), []
        if not _sizes(sample, sample.counts).all():
            return math.nan, moved
        pairs = list(permutations(range(len(sample.labels)), 2))
        for i, j in pairs:
            kept = (sample.truth == i) | (sample.truth == j)
            pair = sample.of_rows_where(kept).one_versus_rest(i, model)
            value, one = self.ranked.moves(pair, 0)
            values.append(value)
            moved[kept] += one / len(pairs)
        return math.fsum(values) / len(pairs), moved

    def resampled(self, sample: Sample, model: int, counts: npt.NDArray[np.int64]) -> float:
        """The value of one model on rows that are counted anew."""
        tables = sample.class_counts(model, counts)
        if not all(tables[0].totals()):
            return math.nan
        values = [
            self.ranked.influence(tables[i].pair(j, i)).value
            for i, j in permutations(range(len(tables)), 2)
        ]
        return math.fsum(values) / len(values)


@dataclass(frozen=True)
class OpenSet:
    """How rows of known labels rank above those of a label that the model does not know.

    The largest probability ranks. Where only those decided right count (``right_only``), a known
    row that is decided wrong ranks below every unknown one.
    """

    ranked: Ranked
    right_only: bool = False
    invariant_under: tuple[Law, ...] = ()
    needs: ClassVar[Needs] = Needs.OPEN_SET

    @property
    def interval(self) -> Interval:
        """How its default interval is found."""
        return self.ranked.interval

    def binary(self, rows: Sample) -> Sample:
        """Rows of an open set as a ranking of known, the positives, above unknown ones."""
        unknown, wrong = 0, 1
        scores = rows.scores
        if self.right_only:
            # Below every probability.
            scores = np.where((rows.truth == wrong)[:, None], -1.0, scores)
        truth = (rows.truth != unknown).astype(np.uint16)
        return replace(rows, labels=("unknown", "known"), truth=truth, scores=scores)


def _share(weight: float, ranked: Ranked, ranking: Ranking) -> Share:
    negatives, positives = ranking.table.effective()
    return Share(weight, ranked.of(ranking), positives, negatives)


def _sizes(sample: Sample, counts: npt.NDArray[Any]) -> Floats:
    """How many rows each label has."""
    return np.bincount(sample.truth, counts, minlength=len(sample.labels)).astype(np.float64)


ByRow: TypeAlias = Ranked | MeanLoss | ClassAverage | OverPairs
OfScores: TypeAlias = Ranked | MeanLoss | Binned | OverPairs | OpenSet


# -- bounds on a grid ------------------------------------------------------------------------------

# What measures are promised to.
ROUNDING = 1e-12
# From here on the integral of precision is as good as the sum, and loses no digits.
_MANY = 256.0


def bound_of(declared: Ranked | MeanLoss | Binned, table: ScoreCounts) -> Ends:
    """The bounds of a measure of binary score counts."""
    match declared:
        case MeanLoss():
            ends = _of_loss(declared, table)
        case Binned():
            ends = declared.bound(BinRanges.of(table))
        case Ranked(bound=own):
            ends = _of_orders(declared.value, table) if own is None else own(table)
    return _rounded(ends)


def bound_of_average(declared: ClassAverage, rankings: Sequence[Ranking]) -> Ends:
    """The bounds of an average over classes."""
    shares = declared.shares(np.array([float(ranking.positives) for ranking in rankings]))
    return _mean(
        [(share, bound_of(declared.ranked, rankings[at].table)) for at, share in shares.items()]
    )


def bound_over_pairs(declared: OverPairs, tables: Sequence[ScoreCounts]) -> Ends:
    """The bounds of a mean over ordered pairs of classes."""
    pairs = list(permutations(range(len(tables)), 2))
    return _mean(
        [(1 / len(pairs), bound_of(declared.ranked, tables[i].pair(j, i))) for i, j in pairs]
    )


def _mean(parts: Sequence[tuple[float, Ends]]) -> Ends:
    low, high = (math.fsum(weight * ends[side] for weight, ends in parts) for side in (0, 1))
    return low, high


def _rounded(ends: Ends) -> Ends:
    low, high = ends
    return low - ROUNDING * max(abs(low), 1.0), high + ROUNDING * max(abs(high), 1.0)


# -- the order inside a cell -----------------------------------------------------------------------


def _of_orders(value: Callable[[ScoreCounts], float], table: ScoreCounts) -> Ends:
    values = [value(table), *(value(table.apart(positives_above=up)) for up in (True, False))]
    return min(values), max(values)


def of_precision(table: ScoreCounts) -> Ends:
    """The bounds of average precision, which rises where positives are tied.

    At best the positives of a cell are tied above its negatives. At worst they come one by one
    below them: with T positives and F negatives before, p of them add up to the sum over k of
    (T + k) / (T + k + F), which is p - F (psi(T + p + F + 1) - psi(T + F + 1)). Where rows have
    weights they may come in any small steps, as in an integral.
    """
    best = ap_influence(table.apart(positives_above=True)).value
    return _least_precision(table), best


def _least_precision(table: ScoreCounts) -> float:
    from scipy.special import digamma

    negatives, positives = (side.astype(np.float64) for side in table.counts[:, ::-1])
    passed = np.cumsum(negatives)
    before = np.cumsum(positives) - positives + passed
    total = float(positives.sum())
    held = (positives > 0) & (passed > 0)
    tied = table.tied[::-1][held]
    positives, passed, before = positives[held], passed[held], before[held]
    lost = passed * np.log1p(positives / (before if table.weighted else before + 0.5))
    few = (before + positives < _MANY) & (not table.weighted)
    steps = digamma(before[few] + positives[few] + 1) - digamma(before[few] + 1)
    lost[few] = passed[few] * steps
    lost[tied] = (passed * positives / (before + positives))[tied]
    return 1 - float(lost.sum()) / total


# -- the scores of a cell --------------------------------------------------------------------------


def _of_loss(declared: MeanLoss, table: ScoreCounts) -> Ends:
    """Negatives lose more the higher their score is, positives less."""
    total = float(table.counts.sum())
    low, high = table.ends()
    negatives, positives = table.counts
    losses = [
        float((declared.loss(of_negatives, 0) * negatives).sum())
        + float((declared.loss(of_positives, 1) * positives).sum())
        for of_negatives, of_positives in ((low, high), (high, low))
    ]
    return losses[0] / total, losses[1] / total
