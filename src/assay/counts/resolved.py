"""Counts with sides: which label is the alarm and which rows are flagged; the views of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.counts.blocks import map_blocks
from assay.counts.confusion import ClusterCounts, Confusion
from assay.counts.counter import CLASSES, REACHES
from assay.counts.counts import LABEL, SCORE, Counts
from assay.counts.grid import Grid, cells, lowest
from assay.counts.labels import Labels, resolve_labels, shown
from assay.counts.losses import LossSums
from assay.counts.names import Name
from assay.counts.reduction import ROWS, WEIGHT, WHOLE
from assay.counts.row_losses import losses
from assay.counts.sample import Sample
from assay.counts.scores import ScoreCounts
from assay.errors import EmptyInput, LabelError, ScoreError
from assay.text import quote

Array: TypeAlias = npt.NDArray[Any]

DECISION, CLUSTER = "decision", "cluster"
USUAL_THRESHOLD = 0.5
_PERCENT, _HALF = 100, 50


@dataclass(frozen=True, eq=False)
class Resolved:
    """Counts of which the alarm is known, and the tables that measures read.

    ``threshold`` is None where decisions are given, or where nothing decides; ``undecided`` then
    says why. Views read and never add.

    >>> counts = Counts.of({"label": ["ham", "spam", "spam"], "score": [0.1, 0.8, 0.3]})
    >>> resolved = counts.resolve()
    >>> resolved.positive, resolved.threshold, resolved.confusion().cells
    ('spam', 0.5, ((1, 0), (1, 1)))
    """

    counts: Counts
    sides: Labels
    threshold: float | None
    undecided: str
    is_probability: bool

    @classmethod
    def of(
        cls,
        counts: Counts,
        *,
        positive: Any = None,
        negative: Any = None,
        labels: Sequence[Any] | None = None,
        threshold: float | None = None,
    ) -> Resolved:
        """Resolve the labels and the threshold of a sum."""
        if not counts.total:
            raise EmptyInput("there are no rows; there is nothing to judge")
        truth = [name for name in counts.names.get(LABEL, ()) if name is not None]
        decided = [name for name in counts.names.get(DECISION, ()) if name is not None]
        if len({*truth, *decided}) > 2 and decided and not set(truth) & set(decided):
            raise LabelError(
                f"labels ({shown(truth)}) and decisions ({shown(decided)}) have no value in "
                f"common: write them alike"
            )
        sides = resolve_labels(
            list(dict.fromkeys([*truth, *decided])),
            positive=positive,
            negative=negative,
            labels=labels,
        )
        known = counts.names.get(LABEL, ())
        if None in known:
            counts = counts.where(counts.columns[LABEL] != known.index(None))
        is_probability, undecided = False, ""
        if SCORE in counts.keys and CLASSES not in counts.keys:
            if sides.positive is None:
                raise ScoreError(
                    f"a score ranks rows for one positive label, but there are "
                    f"{len(sides.labels)}: {shown(sides.labels)}. Give positive= or negative=, or "
                    f"probabilities with a column for each label"
                )
            low, high = float(counts.columns[SCORE].min()), float(counts.columns[SCORE].max())
            is_probability = low >= 0 and high <= 1
            if threshold is None and not is_probability:
                undecided = _why_undecided(low, high)
            elif threshold is None:
                threshold = USUAL_THRESHOLD
        elif threshold is None:
            asked = [key for key in counts.keys if key.startswith(REACHES)]
            threshold = float(asked[0].removeprefix(REACHES)) if asked else None
            if threshold is None and DECISION not in counts.keys:
                undecided = "rows were counted without decisions and scores"
        if DECISION in counts.keys:
            threshold, undecided = None, ""
        elif threshold is not None:
            threshold = _finite(threshold)
        return cls(counts, sides, threshold, undecided, is_probability)

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels in order: the negative, then the positive; sorted if there are more."""
        return self.sides.labels

    @property
    def positive(self) -> str | None:
        """The label that is the alarm; None for three and more labels."""
        return self.sides.positive

    @property
    def notes(self) -> tuple[str, ...]:
        """What was inferred."""
        return self.sides.notes

    # -- decisions ----------------------------------------------------------------------------

    def confusion(self) -> Confusion:
        """The true labels against the decisions, in exact integers (or sums of weights)."""
        truth, decision = self._truth, self._decision
        size = len(self.labels)

        def summed(amounts: Array) -> tuple[tuple[Any, ...], ...]:
            single = self.counts.total == self.counts.size

            def work(i: int, j: int) -> list[Any]:
                cell = truth[i:j].astype(np.intp) * size + decision[i:j]
                if amounts.dtype.kind == "u" and self.counts.total < WHOLE:
                    weights = None if single else amounts[i:j]
                    sums: list[Any] = np.bincount(cell, weights, size * size).tolist()
                    return sums
                return [amounts[i:j][cell == place].tolist() for place in range(size * size)]

            parts = zip(*map_blocks(len(truth), lambda: work), strict=True)
            if amounts.dtype.kind == "f":
                flat = [math.fsum(chain(*part)) for part in parts]
            elif self.counts.total < WHOLE:
                flat = [int(sum(part)) for part in parts]
            else:
                flat = [sum(chain(*part)) for part in parts]
            return tuple(tuple(flat[i : i + size]) for i in range(0, size * size, size))

        amounts, squares = self._amounts
        return Confusion(self.labels, summed(amounts), None if squares is None else summed(squares))

    def clusters(self) -> ClusterCounts:
        """A confusion matrix for each cluster."""
        names = self.counts.names[CLUSTER]
        amounts, _ = self._amounts
        cells_ = np.zeros((len(names), len(self.labels), len(self.labels)), _wide(amounts).dtype)
        place = self.counts.columns[CLUSTER], self._truth, self._decision
        np.add.at(cells_, place, _wide(amounts))
        return ClusterCounts(self.labels, tuple(str(name) for name in names), cells_)

    def by(self, key: str) -> dict[Name, Resolved]:
        """The same question for each value of a key, such as ``slice:site`` or ``family``."""
        return {name: replace(self, counts=part) for name, part in self.counts.by(key).items()}

    def days(self) -> dict[Name, Resolved]:
        """The same question for each period."""
        return self.by("period")

    def families(self) -> dict[Name, Resolved]:
        """The rows of each family; without that key, of each label."""
        if "family" in self.counts.keys:
            return self.by("family")
        names, codes = self.counts.names[LABEL], self.counts.columns[LABEL]
        return {
            name: replace(self, counts=self.counts.where(codes == code))
            for code, name in enumerate(names)
        }

    @cached_property
    def _truth(self) -> Array:
        return self._places(LABEL)

    def _places(self, key: str) -> Array:
        """The place of each combination's label among the labels."""
        kind = np.min_scalar_type(len(self.labels) - 1)
        table = np.array([self.sides.places[str(name)] for name in self.counts.names[key]], kind)
        return table[self.counts.columns[key]]

    @cached_property
    def _decision(self) -> Array:
        if self.undecided:
            raise ScoreError(self.undecided)
        if DECISION in self.counts.keys:
            return self._places(DECISION)
        columns = self.counts.columns
        for key in self.counts.keys:
            if key.startswith(REACHES) and float(key.removeprefix(REACHES)) == self.threshold:
                reached = np.array([name == "true" for name in self.counts.names[key]], np.uint8)
                return reached[columns[key]]
        if SCORE not in columns:
            raise ScoreError(
                f"rows were counted without scores, so nothing tells which reach "
                f"{self.threshold!r}: count them by {REACHES}{self.threshold!r}"
            )
        kept = self.counts.kept
        start = np.array([self.threshold])
        if isinstance(kept, Grid) and lowest(cells(start, kept.bits), kept.bits) != start:
            raise ScoreError(
                f"scores are counted in cells of a grid, which don't tell how many reach "
                f"{self.threshold!r}: count rows by {REACHES}{self.threshold!r} too"
            )
        return (columns[SCORE] >= self.threshold).astype(np.uint8)

    @cached_property
    def _amounts(self) -> tuple[Array, Array | None]:
        """The rows of each combination, or their weights and squared weights."""
        columns = self.counts.columns
        if WEIGHT in columns:
            weight = columns[WEIGHT].astype(np.float64)
            return weight * columns[ROWS], weight * weight * columns[ROWS]
        if "sum(weight)" in columns:
            return columns["sum(weight)"], columns["sum(weight²)"]
        return columns[ROWS], None

    # -- scores -------------------------------------------------------------------------------

    def scores(self) -> ScoreCounts | tuple[ScoreCounts, ...]:
        """The rows of each label at each distinct score; of K classes, one table a class."""
        if CLASSES in self.counts.keys:
            classes = self.counts.select(CLASSES, SCORE, LABEL).by(CLASSES)
            absent = [label for label in self.labels if label not in classes]
            if absent:
                raise ScoreError(
                    f"there is no column of probabilities for {shown(absent)}; there are "
                    f"{shown([str(name) for name in classes])}"
                )
            tables = tuple(self._score_table(classes[label]) for label in self.labels)
            return tables if self.positive is None else tables[1]
        return self._score_table(self.counts.select(SCORE, LABEL))

    def _score_table(self, counts: Counts) -> ScoreCounts:
        # With weights as a key, scores would not ascend.
        counts = counts.without_weights()
        part = self if counts is self.counts else replace(self, counts=counts)
        scores, truth = counts.columns[SCORE], part._truth
        most = len(counts.names[LABEL])
        amounts, squares = part._amounts
        return ScoreCounts.of_sorted(
            self.labels, scores, truth, amounts, squares, counts.kept, most=most
        )

    def losses(self) -> LossSums | None:
        """Log loss and Brier loss of probabilities; None for scores that are none.

        They follow from exact scores; on a grid of 12 bits they are right to 1e-9.
        """
        counts = self.counts
        if CLASSES in counts.keys:
            return self._losses_of_classes()
        if not self.is_probability:
            return None
        return losses(counts, self._truth == 1)

    def _losses_of_classes(self) -> LossSums:
        """Each row is counted once for each class; its losses are those of its own class."""
        classes, truth = self.counts.names[CLASSES], self.counts.names[LABEL]
        own = np.array([[name == each for name in truth] for each in classes])
        held = own[self.counts.columns[CLASSES], self.counts.columns[LABEL]]
        return losses(self.counts.where(held), np.ones(int(held.sum()), bool))

    def sample(self) -> Sample:
        """The rows themselves, where row pairs matter: counts by scores of each model or class."""
        counts = self.counts
        floats = [
            key for key in counts.keys if ":" in key and counts.columns[key].dtype.kind == "f"
        ]
        models: dict[str, list[str]] = {}
        for key in floats or [SCORE]:
            role, _, name = key.partition(":")
            models.setdefault(name if role == SCORE else "", []).append(key)
        scores = {
            name: np.column_stack([counts.columns[key] for key in self._by_label(keys)])
            for name, keys in models.items()
        }
        amounts, _ = self._amounts
        clustered = CLUSTER in counts.keys
        return Sample.of_rows(
            self.labels,
            self._truth,
            scores,
            cluster=counts.columns[CLUSTER] if clustered else None,
            clusters=[str(name) for name in counts.names[CLUSTER]] if clustered else (),
            counts=_wide(amounts),
        )

    def _by_label(self, keys: list[str]) -> list[str]:
        if len(keys) == 1:
            return keys
        return [f"{CLASSES}:{label}" for label in self.labels]


def _wide(amounts: Array) -> Array:
    return amounts.astype(np.int64) if amounts.dtype.kind == "u" else amounts


def _finite(threshold: Any) -> float:
    try:
        number = math.nan if isinstance(threshold, bool) else float(threshold)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise ScoreError(f"threshold= is a finite number; found {quote(threshold)}")
    return number


def _why_undecided(low: float, high: float) -> str:
    """Why no row is decided, and what to do."""
    advice = "give threshold=, the score from which on a row is flagged"
    if low < 0 < high:
        advice = "give threshold=0 if these are logits, or else the score to flag from"
    elif low >= 0 and _HALF <= high <= _PERCENT:
        advice = "give threshold=50 if these are percentages, or else the score to flag from"
    return (
        f"the scores run from {low:g} to {high:g} and no threshold was given, so no row is "
        f"decided: {advice}"
    )
