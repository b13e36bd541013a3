"""How a measure of scores is declared.

Influence is to scores what a formula is to counts: by how much each row moves a measure tells its
value, and its variance with sampling weights, with clusters, and between two models. A mean of a
loss is told by the loss of a row. What is neither says so and has no interval.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.measures.calibration import Reliability
from assay.measures.influence import Influence
from assay.measures.measure import Interval, Law, Needs
from assay.measures.operating import Points, Reading
from assay.measures.ranking import UNKNOWN, Ranking, Smooth, rank
from assay.tally import Confusion, LossSums, Sample, ScoreTally
from assay.tally.sums import Moments

Floats: TypeAlias = npt.NDArray[np.float64]

# At a base rate, alarms on so many negatives weigh as much as the positives: fewer tell nothing.
RESOLVING = 10


@dataclass(frozen=True)
class Ranked:
    """A measure of one score, mostly of how it ranks the rows, by the influence of each row.

    ``fast`` finds the same value and variance from block sums, without sampling weights.
    ``unbiased`` divides by one row less on each side, as DeLong does. ``reach`` is the share of
    negatives that it looks at, ``between`` its least and largest value where those are within
    the range, and ``up_to`` gives it for another false positive rate, corrected or not. It asks
    for at least so many ``negatives``; and for ``probabilities``, if not any score will do. Where
    rows of both classes do not make it defined, ``undefined`` says why; ``clipped`` counts the rows
    whose score it could not take as it was.
    """

    influence: Callable[[ScoreTally], Influence]
    fast: Callable[[Ranking], Smooth] | None = None
    interval: Interval = Interval.INFLUENCE
    invariant_under: tuple[Law, ...] = (Law.SCORE_MAP,)
    unbiased: bool = False
    negatives: int = 1
    probabilities: bool = False
    undefined: str = ""
    clipped: Callable[[ScoreTally], int] | None = None
    reach: float = 1.0
    between: tuple[float, float] | None = None
    up_to: Callable[..., Ranked] | None = None

    @property
    def needs(self) -> Needs:
        """Scores, or probabilities."""
        return Needs.LOSSES if self.probabilities else Needs.SCORES

    def missing(self, positives: float, negatives: float) -> str | None:
        """Why so many rows of each class have no value; None where they have one."""
        if not positives or (self.negatives and not negatives):
            absent = "positives" if not positives else "negatives"
            return f"there are no {absent}, so there is nothing to rank against"
        if negatives < self.negatives:
            return (
                f"it asks for at least {self.negatives:,} negatives; there are only "
                f"{negatives:,.10g}"
            )
        return None

    def of(self, ranking: Ranking) -> Smooth:
        """The value and its variance."""
        if self.missing(*ranking.tally.effective()[::-1]) is not None:
            return UNKNOWN
        return self.by_influence(ranking.tally) if self.fast is None else self.fast(ranking)

    def value(self, tally: ScoreTally) -> float:
        """The value alone, as resamples need it."""
        if self.fast is not None:
            return self.of(rank(tally)).value
        return self._influence(tally).value

    def _influence(self, tally: ScoreTally) -> Influence:
        """The influence, or nan where rows are missing."""
        if self.missing(*tally.effective()[::-1]) is None:
            return self.influence(tally)
        nothing = np.full(tally.size, math.nan)
        return Influence(math.nan, nothing, nothing)

    def by_influence(self, tally: ScoreTally) -> Smooth:
        """The same by the influence of each row."""
        found = self.influence(tally)
        return Smooth(found.value, found.variance(tally, unbiased=self.unbiased))

    def moves(self, sample: Sample, model: int) -> tuple[float, Floats]:
        """The value of one model, and by how much each row moves it."""
        tally = sample.score_tally(model)
        found = self._influence(tally)
        at = np.searchsorted(tally.scores, sample.scores[:, model])
        return found.value, np.where(sample.truth == 1, found.positive[at], found.negative[at])

    def resampled(self, sample: Sample, model: int, counts: npt.NDArray[np.int64]) -> float:
        """The value of one model on rows that are counted anew."""
        kept = counts > 0
        truth = sample.truth[kept]
        if truth.min() == truth.max():
            return math.nan
        scores = sample.scores[kept, model]
        return self._influence(
            ScoreTally.of_rows(sample.labels, scores, truth, counts=counts[kept])
        ).value

    def at_base_rate(self, base_rate: float) -> Ranked:
        """The same where another share of rows is positive, the scores of each class kept."""

        def influence(tally: ScoreTally) -> Influence:
            negatives, positives = (float(side) for side in tally.totals())
            rows = negatives + positives
            factors = (1 - base_rate) * rows / negatives, base_rate * rows / positives
            by = np.array(factors)[:, None]
            squares = tally.counts if tally.squares is None else tally.squares
            mixed = self.influence(
                ScoreTally(tally.labels, tally.scores, tally.counts * by, squares * by**2)
            )
            # A row moves the scores of its class, and not how many rows that has.
            moves = [
                factor * (side - float((counts * side).sum() / counts.sum()))
                for factor, side, counts in zip(
                    factors, (mixed.negative, mixed.positive), tally.counts, strict=True
                )
            ]
            return Influence(mixed.value, moves[1], moves[0])

        invariant = Law.PREVALENCE in self.invariant_under
        asked = self.negatives if invariant else math.ceil(RESOLVING / base_rate)
        return replace(self, influence=influence, fast=None, unbiased=False, negatives=asked)


def read_off(read: Callable[[Points], Reading], **facts: Any) -> Ranked:
    """A measure that is read off the points of the ROC curve."""

    def fast(ranking: Ranking) -> Smooth:
        reading = read(ranking.points)
        if ranking.tally.weighted:
            return Smooth(reading.value, reading.influence().variance(ranking.tally))
        return Smooth(reading.value, reading.variance())

    return Ranked(lambda tally: read(Points.of(tally)).influence(), fast, **facts)


@dataclass(frozen=True)
class MeanLoss:
    """The mean over rows of a loss of the probability that was said and the truth, 0 or 1.

    ``sums`` are those that were added up while rows were counted; for more than two classes there
    are no others. ``largest`` is the most that a row can lose. ``beside`` are values to compare
    with, and ``clipped`` says of how many rows the loss was cut.
    """

    loss: Callable[[Floats, Any], Floats]
    largest: float
    sums: Callable[[LossSums], Moments] | None = None
    beside: Callable[[Confusion], Mapping[str, float]] | None = None
    clipped: Callable[[LossSums], int] | None = None
    invariant_under: tuple[Law, ...] = ()
    needs: ClassVar[Needs] = Needs.LOSSES
    interval: ClassVar[Interval] = Interval.MEAN

    def value(self, tally: ScoreTally) -> float:
        """The mean loss of a binary score tally, in floats, as resamples are."""
        return float((self._losses(tally) * tally.counts).sum() / tally.counts.sum())

    def moments(self, tally: ScoreTally) -> Moments:
        """The sums behind the mean and its variance."""
        losses = self._losses(tally)
        squares = tally.counts if tally.squares is None else tally.squares
        return Moments(
            float(tally.counts.sum()),
            float((losses * tally.counts).sum()),
            float(squares.sum()),
            float((losses * squares).sum()),
            float((losses * losses * squares).sum()),
        )

    def _losses(self, tally: ScoreTally) -> Floats:
        scores = tally.scores.astype(np.float64)
        return np.stack([self.loss(scores, 0), self.loss(scores, 1)])

    def of_rows(self, sample: Sample, model: int) -> Floats:
        """The loss of each row."""
        return np.asarray(self.loss(sample.scores[:, model], sample.truth))

    def moves(self, sample: Sample, model: int) -> tuple[float, Floats]:
        """The value of one model, and by how much each row moves it."""
        loss = self.of_rows(sample, model)
        total = int(sample.counts.sum())
        mean = float((loss * sample.counts).sum()) / total
        return mean, (loss - mean) / total

    def resampled(self, sample: Sample, model: int, counts: npt.NDArray[np.int64]) -> float:
        """The value of one model on rows that are counted anew."""
        return float((self.of_rows(sample, model) * counts).sum() / counts.sum())


@dataclass(frozen=True)
class Binned:
    """A measure of binned probabilities, and what a calibrated model of this size would show.

    It has no interval, since a bootstrap of it does not cover.
    """

    value: Callable[[Reliability], float]
    if_calibrated: Callable[[Reliability], float]
    invariant_under: tuple[Law, ...] = ()
    needs: ClassVar[Needs] = Needs.SCORES
    interval: ClassVar[Interval] = Interval.NONE


@dataclass(frozen=True)
class OverPairs:
    """A measure of more than two classes, from one table of probabilities a class."""

    value: Callable[[tuple[ScoreTally, ...]], float]
    invariant_under: tuple[Law, ...] = ()
    needs: ClassVar[Needs] = Needs.SCORES
    interval: ClassVar[Interval] = Interval.NONE


OfScores: TypeAlias = Ranked | MeanLoss | Binned | OverPairs
