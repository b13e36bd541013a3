"""Rows of a label and one score, counted piece by piece in counters that do not grow with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.engines.ask import Ask
from assay.engines.local import flagged_counts, losses_of_score
from assay.sources.coded import Coded
from assay.sources.thresholds import USUAL, least_reaching
from assay.tally import LossSums, ScoreTally, Tally
from assay.tally.by_name import SCORE, Names
from assay.tally.counters import CutCounter, Cutting, GridCounter
from assay.tally.crosstab import flagged
from assay.tally.keeping import Cuts, Exact, Grid
from assay.tally.patterns import PatternCounter
from assay.tally.scores import extremes

Array: TypeAlias = npt.NDArray[Any]

_MOST_LABELS = 16
# Of a grid there are 2^bits cells of each label for every power of two: 1 KB of counters each.
_MOST_CELLS = 1 << 17


@dataclass(frozen=True)
class _Counted:
    """What the rows so far come to, beside their scores."""

    flagged: Array
    low: float = np.inf
    high: float = -np.inf
    rows: int = 0
    empty: int = 0


class ScoreCounter:
    """Counts rows of a few labels and one score into what :func:`count_coded` makes of them.

    Any floats are counted into a grid or between cuts; every distinct score is kept of those of 32
    bits alone.
    """

    def __init__(self, ask: Ask, labels: Names, cutting: Cutting | None = None) -> None:
        self._ask, self._labels = ask, labels
        names = labels.names
        kept = ask.scores
        self._threshold = USUAL if ask.threshold is None else ask.threshold
        self._scores: GridCounter | PatternCounter | CutCounter
        if isinstance(kept, Grid):
            self._scores = GridCounter(names, kept.bits)
        elif cutting is not None:
            self._scores = CutCounter(names, cutting)
        else:
            self._scores = PatternCounter(names)
        self._so_far = _Counted(np.zeros((len(names), 2), np.int64))
        self._losses: dict[tuple[str, str], LossSums] = {}

    @staticmethod
    def suits(rows: Sequence[Coded], ask: Ask, cutting: Cutting | None = None) -> bool:
        """Whether such rows can be counted so."""
        names = {name for part in rows for name in part.truth.names}
        if isinstance(ask.scores, Cuts) and (cutting is None or cutting.frequent not in names):
            return False
        if isinstance(ask.scores, Grid) and len(names) << ask.scores.bits > _MOST_CELLS:
            return False
        return 0 < len(names) <= _MOST_LABELS and all(_plain(part, ask) for part in rows)

    def takes(self, rows: Coded) -> bool:
        """Whether further rows fit in: such ones, of labels that are known."""
        names = self._labels.names
        return _plain(rows, self._ask) and all(name in names for name in rows.truth.names)

    @property
    def rows(self) -> int:
        """How many rows were counted."""
        return self._so_far.rows

    @property
    def nbytes(self) -> int:
        """How many bytes the counters take."""
        return self._scores.nbytes

    def add(self, rows: Coded) -> Coded | None:
        """Count further rows; those of them for which there is no room come back."""
        if rows.score is None or not rows.size:
            return None
        names = self._labels.names
        truth = rows.truth.codes
        if rows.truth.names != names:
            truth = np.array([names.index(name) for name in rows.truth.names], np.uint8)[truth]
        left = self._scores.add(rows.score, truth)
        rest = _rest(rows, left) if left else None
        self._count(rows, truth, rows.rows - (0 if rest is None else rest.rows))
        return rest

    def _count(self, rows: Coded, truth: Array, counted: int) -> None:
        """Count what there is beside the scores, of which so many were counted."""
        scores, before = np.asarray(rows.score), self._so_far
        if isinstance(self._ask.scores, Exact):
            # All else is told by the scores, which are all kept.
            rows_so_far = before.rows + counted
            self._so_far = replace(before, rows=rows_so_far, empty=before.empty + rows.empty)
            return
        low, high = extremes(scores)
        labels = len(self._labels.names)
        self._so_far = _Counted(
            before.flagged + flagged_counts(scores, truth, labels, self._threshold),
            min(before.low, low + 0.0),
            max(before.high, high + 0.0),
            before.rows + counted,
            before.empty + rows.empty,
        )
        if isinstance(self._ask.scores, Cuts) and self._ask.losses:
            for key, sums in losses_of_score(rows, scores).items():
                self._losses[key] = self._losses[key] + sums if key in self._losses else sums

    def done(self) -> Tally:
        """The tally of the rows so far."""
        so_far = self._so_far
        table: ScoreTally = self._scores.done()
        if isinstance(table.kept, Exact) and table.size:
            low, high = float(table.scores[0]), float(table.scores[-1])
            so_far = replace(so_far, flagged=_flagged(table, self._threshold), low=low, high=high)
        return Tally(
            labels=self._labels,
            threshold=self._ask.threshold,
            rows=so_far.rows,
            empty=so_far.empty,
            decided={SCORE: flagged(self._labels.names, so_far.flagged)},
            scores={SCORE: table},
            extremes={SCORE: (so_far.low, so_far.high)},
            losses={key: self._losses[key] for key in sorted(self._losses)},
        )


def _flagged(table: ScoreTally, threshold: float) -> Array:
    """How many rows of each label are below the threshold, and how many reach it."""
    first = np.searchsorted(table.scores, least_reaching(threshold, table.scores.dtype))
    sides = table.counts[:, :first], table.counts[:, first:]
    return np.stack([side.sum(axis=1, dtype=np.int64) for side in sides], axis=1)


def _rest(rows: Coded, left: Sequence[slice]) -> Coded:
    """Some of the rows, which have nothing but a label and a score."""
    every = np.arange(rows.size)
    part = rows.of_rows(np.concatenate([every[chosen] for chosen in left]))
    return replace(part, rows=part.size)


def _plain(rows: Coded, ask: Ask) -> bool:
    """Whether rows have a label and a score and nothing else that is counted."""
    score = rows.score
    if score is None or score.dtype not in (np.float32, np.float64):
        return False
    others = (rows.decision, rows.probabilities, rows.counts, rows.weights, rows.clusters)
    if rows.slices or rows.days is not None or any(other is not None for other in others):
        return False
    if isinstance(ask.scores, Exact):
        return bool(score.dtype == np.float32)
    return ask.scores is not None
