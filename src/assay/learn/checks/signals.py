"""How well one column alone tells the label."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.inference import Estimate
from assay.inference.quantiles import normal_p
from assay.inference.scored import auc_interval
from assay.learn.checks.facts import Facts
from assay.measures import rank
from assay.tally import ScoreTally

if TYPE_CHECKING:
    import polars as pl

Array: TypeAlias = npt.NDArray[Any]

BINS = 64
# Values that are nearly all different teach nothing about other rows.
_MOST_DISTINCT = 0.5
_LARGE = 1e100
_NAMES = ("other", "this")


@dataclass(frozen=True, eq=False)
class Learned:
    """The rows that a column is learned from, and those that judge it.

    Without a test part ``held`` says which training rows judge.
    """

    train: Array
    test: Array | None
    classes: int
    held: Array | None = None

    @property
    def judged(self) -> Array:
        """The labels of the rows that judge."""
        if self.test is not None:
            return self.test
        return np.asarray(self.train[self.held])

    @property
    def known(self) -> Array:
        """The labels of the rows that are learned from."""
        return self.train if self.held is None else np.asarray(self.train[~self.held])

    @cached_property
    def inside(self) -> Learned:
        """The training rows alone: one half of them to learn from, the other to judge."""
        held = np.random.default_rng(0).permutation(len(self.train)) % 2 == 0
        return Learned(self.train, None, self.classes, held=held)

    def parted(self, codes: Sequence[Array]) -> tuple[Array, Array]:
        """What is known of each part, for the rows that are learned from and those that judge."""
        if self.held is None:
            return codes[0], codes[-1]
        return codes[0][~self.held], codes[0][self.held]


@dataclass(frozen=True, eq=False)
class Signal:
    """A column by itself: its AUC, and the share of labels that it tells.

    ``auc`` is of one class against the other, whichever way is the better; of more classes the
    mean of each against the rest. ``how`` is "ranked" where the numbers themselves rank the rows,
    and "by value" where the rate of each value, or of each of 64 bins, was learned. ``trained``
    is the AUC in the training part where another part judges. ``p`` is how likely an AUC so far
    from a half is by chance. ``classes`` has the AUC of each class against the rest, where there
    are several, and its ``p``.
    """

    column: str
    auc: Estimate
    how: str
    p: float
    accuracy: Estimate
    trained: float = math.nan
    classes: Mapping[int, tuple[Estimate, float]] = field(default_factory=dict)


def signal_of(columns: Sequence[pl.Series], facts: Facts, learned: Learned, level: float) -> Signal:
    """Learn one column from the training rows and judge it."""
    values = _by_value(columns, facts, learned, level)
    if learned.classes == 2 and facts.number:
        ranked = _ranked(columns, learned, level)
        if ranked is not None and not ranked.auc < values.auc:
            return Signal(
                facts.column, ranked.auc, "ranked", ranked.p, values.accuracy, ranked.trained
            )
    return values


# -- numbers that rank -----------------------------------------------------------------------------


def _ranked(columns: Sequence[pl.Series], learned: Learned, level: float) -> Signal | None:
    """The AUC of the numbers themselves; the training rows say which way round."""
    first = _auc(columns[0], learned.train, level)
    if first is None:
        return None
    up = first[0] >= 0.5
    found, trained = first, math.nan
    if learned.test is not None:
        judged = _auc(columns[1], learned.test, level)
        if judged is None:
            return None
        found, trained = judged, _turned(first[0], up=up)
    auc = _turned(found[0], up=up)
    return Signal("", auc, "ranked", found[1], auc, trained)


def _auc(column: pl.Series, truth: Array, level: float) -> tuple[Estimate, float] | None:
    """The AUC of a column's values for the second label, and how likely it is by chance."""
    numbers = column.to_numpy()
    if column.null_count():
        there = ~np.isnan(numbers)
        numbers, truth = numbers[there], truth[there]
    if not len(numbers):
        return None
    if not max(abs(numbers.min()), abs(numbers.max())) < _LARGE:
        # Infinities and numbers that can't be added up still have their rank.
        numbers = np.unique(numbers, return_inverse=True)[1].astype(np.float64)
    return auc_of(ScoreTally.of_rows(_NAMES, numbers, truth), level)


def auc_of(tally: ScoreTally, level: float) -> tuple[Estimate, float] | None:
    """The AUC of a tally with its interval, and how likely one so far from a half is by chance."""
    ranking = rank(tally)
    positives, negatives = int(ranking.positives), int(ranking.negatives)
    if not positives or not negatives:
        return None
    ends, method = auc_interval(ranking.auc, positives, negatives, level)
    n = positives + negatives
    # Without ties; with them the AUC spreads less, so that chance is never made too small.
    error = math.sqrt((n + 1) / (12 * positives * negatives))
    found = Estimate(ranking.auc.value, *ends, method=method, n=n, level=level)
    return found, normal_p((ranking.auc.value - 0.5) / error)


def _turned(auc: Estimate, *, up: bool) -> Estimate:
    return auc if up else auc.changed(1 - auc, low=1 - auc.high, high=1 - auc.low)


# -- rates of values -------------------------------------------------------------------------------


def _by_value(columns: Sequence[pl.Series], facts: Facts, learned: Learned, level: float) -> Signal:
    """The rate of each class at each value or in each bin, learned and then judged."""
    codes, bins = _codes(columns, facts)
    signal = _rated(codes, bins, facts.column, learned, level)
    if learned.test is None:
        return signal
    trained = _rated(codes, bins, facts.column, learned.inside, level)
    return replace(signal, trained=float(trained.auc))


def _rated(
    codes: Sequence[Array], bins: int, column: str, learned: Learned, level: float
) -> Signal:
    """The AUC of the rates of values, and how likely it is by chance."""
    known, judged = learned.parted(codes)
    rates = _rates(_table(known, learned.known, bins, learned.classes))
    there = _table(judged, learned.judged, bins, learned.classes)
    right, n = int(there[np.arange(bins), rates.argmax(axis=1)].sum()), int(there.sum())
    accuracy = share_of(right, n, level)
    classes = {}
    for label in range(learned.classes) if learned.classes > 2 else (1,):
        pair = np.stack([there.sum(axis=1) - there[:, label], there[:, label]])
        found = auc_of(_tally(rates[:, label], pair), level)
        if found is not None:
            classes[label] = found
    if not classes:
        note = "there is one class only among the rows that judge"
        return Signal(
            column, Estimate(math.nan, n=n, level=level, undefined=note), "by value", 1.0, accuracy
        )
    if learned.classes == 2:
        auc, p = classes[1]
        return Signal(column, auc, "by value", p, accuracy)
    # The error of a mean is at most the mean of the errors, however the classes hang together.
    mean, low, high = (
        float(np.mean([getattr(auc, end) for auc, _ in classes.values()]))
        for end in ("value", "low", "high")
    )
    auc = Estimate(mean, low, high, method="mean of the classes", n=n, level=level)
    majority = float(there.sum(axis=0).max() / n)
    spread = math.sqrt(max(majority * (1 - majority), 1e-12) / n)
    p = normal_p(max(accuracy - majority, 0.0) / spread)
    return Signal(column, auc, "by value", p, accuracy, classes=classes)


def rates_of(
    columns: Sequence[pl.Series], facts: Facts, learned: Learned, *, of: int | None = None
) -> Array:
    """The learned rate of each class for each judged row, or for all rows of a part."""
    codes, bins = _codes(columns, facts)
    known, judged = learned.parted(codes)
    rates = _rates(_table(known, learned.known, bins, learned.classes))
    return np.asarray(rates[judged if of is None else codes[of]])


def _rates(counts: Array) -> Array:
    shares = counts.sum(axis=0) / max(counts.sum(), 1)
    # As if one row more of the whole had each value, so that rare values are not sure.
    return np.asarray((counts + shares) / (counts.sum(axis=1, keepdims=True) + 1))


def _table(codes: Array, truth: Array, bins: int, classes: int) -> Array:
    """How many rows of each class have each code."""
    flat = codes.astype(np.int64) * classes + truth
    return np.bincount(flat, minlength=bins * classes).reshape(bins, classes)


def _tally(scores: Array, pair: Array) -> ScoreTally:
    there = pair.sum(axis=0) > 0
    distinct, at = np.unique(scores[there], return_inverse=True)
    pair = pair[:, there]
    counts = np.stack([np.bincount(at, row, minlength=len(distinct)) for row in pair])
    return ScoreTally(_NAMES, distinct, counts.astype(np.int64))


def share_of(right: int, n: int, level: float) -> Estimate:
    """A share of rows with Wilson's interval."""
    from assay.inference import Wilson

    if not n:
        return Estimate(math.nan, level=level, undefined="there are no rows to judge by")
    low, high = Wilson(level)(right, n)
    return Estimate(right / n, float(low), float(high), method="wilson", n=n, level=level)


def _codes(columns: Sequence[pl.Series], facts: Facts) -> tuple[list[Array], int]:
    """Each value or bin as a number, from 0; what is missing is a value of its own."""
    if facts.number and facts.distinct > BINS:
        return _binned(columns)
    if not facts.number and facts.unique_share > _MOST_DISTINCT:
        return [np.zeros(len(column), np.int64) for column in columns], 1
    hashed = [column.hash().to_numpy() for column in columns]
    distinct, codes = np.unique(np.concatenate(hashed), return_inverse=True)
    ends = np.cumsum([len(part) for part in hashed])[:-1]
    return np.split(codes, ends), len(distinct)


def _binned(columns: Sequence[pl.Series]) -> tuple[list[Array], int]:
    numbers = [column.to_numpy() for column in columns]
    there = np.sort(numbers[0])
    there = there[: np.searchsorted(there, np.nan)]
    at = np.arange(1, BINS) * len(there) // BINS
    edges = np.unique(there[at])
    codes = [np.searchsorted(edges, part, side="right") for part in numbers]
    for code, part in zip(codes, numbers, strict=True):
        code[np.isnan(part)] = len(edges) + 1
    return codes, len(edges) + 2
