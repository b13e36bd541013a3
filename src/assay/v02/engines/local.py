"""Count rows on this machine: all at once, or those of a label and one score piece by piece."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.v02.engines.ask import Ask
from assay.v02.sources import Coded, NameColumn
from assay.v02.sources.amounts import must_be_countable
from assay.v02.sources.coded import Labels
from assay.v02.sources.labelling import USUAL, least_reaching, unify
from assay.v02.tally import ClusterTally, Crosstab, LossSums, Sample, ScoreTally, Tally
from assay.v02.tally.blocks import map_blocks, start, threads
from assay.v02.tally.confusion import REACHED, flagged
from assay.v02.tally.counters import CutCounter, CutPoints, GridCounter, count_cuts
from assay.v02.tally.keeping import Cuts, Exact, Grid, Keeping, cells, lowest
from assay.v02.tally.named_tally import (
    DECISION,
    LARGEST,
    OF_CLASS,
    PROBABILITY,
    RIGHT,
    SCORE,
    WRONG,
    Names,
    Statement,
)
from assay.v02.tally.pattern_counter import PatternCounter
from assay.v02.tally.resolved_tally import MOST_PROBABILITIES, kept_rows
from assay.v02.tally.scores import extremes

if TYPE_CHECKING:
    from concurrent.futures import Future

Array: TypeAlias = npt.NDArray[Any]

MODEL = "model"
# So many labels are counted one by one.
_FEW_LABELS = 8
# So few rows are counted at once, without a thread of their own.
_ALONE = 1 << 16
# Counters are laid out for so many labels, and so many cells: a grid has 2^bits of each label for
# every power of two, 1 KB of counters each.
_MOST_LABELS = 16
_MOST_CELLS = 1 << 17


def count_coded(rows: Coded, ask: Ask, cutting: CutPoints | None = None) -> Tally:
    """Count rows that were checked into a tally of all that was asked for.

    ``cutting`` tells where to cut, where these rows are but a part.
    """
    rows = _sorted(rows)
    if not rows.size:
        return Tally(
            threshold=ask.threshold, columns=rows.columns, rows=rows.rows, empty=rows.empty
        )
    if rows.counts is not None:
        must_be_countable(rows.counts)
    rankings = _rankings(rows)
    if cutting is None and isinstance(ask.scores, Cuts) and SCORE in rankings:
        cutting = cutting_of(rows, rankings[SCORE])
    scores = {
        key: _scores(rows, column, ask.scores, cutting)
        for key, column in rankings.items()
        if ask.scores is not None
    }
    opinions = _opinions(rows, rankings, ask)
    sample = _sample(rows, rankings, ask)
    return Tally(
        labels=Names(rows.truth.names, rows.truth.kind),
        decisions=None if rows.decision is None else Names(rows.decision.names, rows.decision.kind),
        columns=rows.columns,
        threshold=ask.threshold,
        rows=rows.rows,
        empty=rows.empty,
        decided={key: opinion.crosstab(rows) for key, opinion in opinions.items()},
        scores=scores,
        extremes={key: _ends(column, scores.get(key)) for key, column in rankings.items()},
        losses=_losses(rows, rankings, ask),
        clusters=None
        if rows.clusters is None
        else {key: _clusters(rows, rows.clusters, opinion) for key, opinion in opinions.items()},
        sample=sample,
        too_many=sample is None and rows.probabilities is not None,
        slices=_slices(rows, opinions),
        days=None if rows.days is None else _days(rows, rows.days, ask, cutting),
    )


def _sorted(rows: Coded) -> Coded:
    """The rows with labels, decisions and columns of probabilities in the order of their names."""
    columns, table = rows.columns, rows.probabilities
    if columns is not None and table is not None and list(columns) != sorted(columns):
        ordered = sorted(columns)
        table = np.ascontiguousarray(table[:, [columns.index(name) for name in ordered]])
        columns = tuple(ordered)
    return replace(
        rows,
        truth=rows.truth.by_name(),
        decision=None if rows.decision is None else rows.decision.by_name(),
        probabilities=table,
        columns=columns,
    )


def _rankings(rows: Coded) -> dict[Statement, Array]:
    """The columns that rank rows: one score, or the probabilities of labels."""
    if rows.score is not None:
        return {SCORE: rows.score}
    if rows.probabilities is None:
        return {}
    return {
        (PROBABILITY, name): rows.probabilities[:, i] for i, name in enumerate(rows.columns or ())
    }


class _Opinion:
    """What was said of each row: positions in names."""

    def __init__(self, names: tuple[str, ...], codes: Array) -> None:
        self.names, self.codes = names, codes

    def crosstab(self, rows: Coded, chosen: Array | None = None) -> Crosstab:
        """How many rows, or of those chosen, have each label and each thing said."""

        def some(column: Any) -> Any:
            return column if column is None or chosen is None else column[chosen]

        return Crosstab.of_codes(
            rows.truth.names,
            some(rows.truth.codes),
            self.names,
            some(self.codes),
            counts=some(rows.counts),
            weights=some(rows.weights),
        )


class _ThresholdOpinion(_Opinion):
    """Whether the score of each row reaches the threshold."""

    def __init__(self, scores: Array, threshold: float) -> None:
        self.names, self._scores, self._threshold = REACHED, scores, threshold

    @cached_property
    def codes(self) -> Array:  # type: ignore[override]
        """Written down only where rows are taken apart."""
        return np.asarray(self._scores >= np.float64(self._threshold)).view(np.uint8)

    def crosstab(self, rows: Coded, chosen: Array | None = None) -> Crosstab:
        """How many rows, or of those chosen, have each label and reach the threshold or not."""
        if chosen is not None or rows.counts is not None or rows.weights is not None:
            return super().crosstab(rows, chosen)
        names, truth = rows.truth.names, rows.truth.codes
        return flagged(names, flagged_counts(self._scores, truth, len(names), self._threshold))


def flagged_counts(scores: Array, truth: Array, labels: int, threshold: float) -> Array:
    """How many rows of each label are below the threshold, and how many reach it."""
    cut = least_reaching(threshold, scores.dtype)

    def work(i: int, j: int) -> Array:
        reached = scores[i:j] >= cut
        if labels > _FEW_LABELS:
            codes = 2 * truth[i:j].astype(np.int64) + reached
            return np.bincount(codes, minlength=2 * labels).reshape(labels, 2)
        counts = np.zeros((labels, 2), np.int64)
        counts[0] = j - i, np.count_nonzero(reached)
        for label in range(1, labels):
            of_label = truth[i:j] == label
            counts[label, 0] = np.count_nonzero(of_label)
            np.logical_and(of_label, reached, out=of_label)
            counts[label, 1] = np.count_nonzero(of_label)
        # What has no other label has the first.
        counts[0] -= counts[1:].sum(axis=0)
        counts[:, 0] -= counts[:, 1]
        return counts

    return np.asarray(sum(map_blocks(len(scores), lambda: work)))


def _opinions(
    rows: Coded, rankings: Mapping[Statement, Array], ask: Ask
) -> dict[Statement, _Opinion]:
    """What was said of each row, in every way that may turn out to be the one that counts."""
    if rows.decision is not None:
        return {DECISION: _Opinion(rows.decision.names, rows.decision.codes)}
    if rows.probabilities is not None and len(rows.columns or ()) > 2:
        largest = np.asarray(rows.probabilities.argmax(axis=1), np.uint16)
        return {LARGEST: _Opinion(rows.columns or (), largest)}
    threshold = USUAL if ask.threshold is None else ask.threshold
    return {key: _ThresholdOpinion(column, threshold) for key, column in rankings.items()}


def _scores(rows: Coded, column: Array, kept: Keeping, cutting: CutPoints | None) -> ScoreTally:
    names, codes = rows.truth.names, rows.truth.codes
    if isinstance(kept, Cuts):
        at = cutting or cutting_of(rows, column)
        if at.frequent not in names:
            names = tuple(sorted((*names, at.frequent)))
            codes = np.array([names.index(n) for n in rows.truth.names], codes.dtype)[codes]
        return count_cuts(names, at, column, codes, counts=rows.counts)
    return ScoreTally.of_rows(
        names, column, codes, counts=rows.counts, weights=rows.weights, kept=kept
    )


def cutting_of(rows: Coded, column: Array) -> CutPoints:
    """Where to cut rows that are all there are."""
    frequent = most_frequent(label_amounts(rows))
    return CutPoints(frequent, np.unique(column[are_rarer(rows, frequent)]))


def label_amounts(rows: Coded) -> dict[str, int]:
    """How many rows each label has."""
    amounts = np.zeros(len(rows.truth.names), np.int64)
    np.add.at(amounts, rows.truth.codes, 1 if rows.counts is None else rows.counts)
    return dict(zip(rows.truth.names, amounts.tolist(), strict=True))


def most_frequent(amounts: Mapping[str, int]) -> str:
    """The label with most rows, the first by name where several have as many; empty of none.

    >>> most_frequent({"worm": 3, "normal": 7, "dos": 7})
    'dos'
    """
    return max(sorted(amounts), key=amounts.__getitem__, default="")


def are_rarer(rows: Coded, frequent: str) -> Array:
    """Which rows have another label than the most frequent one."""
    other = np.array([name != frequent for name in rows.truth.names], bool)
    return other[rows.truth.codes] if len(other) else np.zeros(rows.size, bool)


def _ends(column: Array, scores: ScoreTally | None) -> tuple[float, float]:
    if scores is not None and scores.size and isinstance(scores.kept, Exact):
        return float(scores.scores[0]), float(scores.scores[-1])
    low, high = extremes(column)
    return low + 0.0, high + 0.0


def _losses(
    rows: Coded, rankings: Mapping[Statement, Array], ask: Ask
) -> dict[tuple[str, str], LossSums]:
    """Losses by label. Those of scores without weights follow from the scores, if all are kept.

    The losses of a grid are those of its cells: a row that stands for many tells no other.
    """
    if rows.probabilities is None or len(rows.columns or ()) < 3:
        follow = rows.weights is None and isinstance(ask.scores, Exact)
        follow = follow or isinstance(ask.scores, Grid) or not ask.losses
        return (
            {} if follow or not rankings else losses_of_score(rows, next(iter(rankings.values())))
        )
    columns = list(rows.columns or ())
    losses = {}
    for code, name in enumerate(rows.truth.names):
        if name not in columns:
            continue
        chosen = np.flatnonzero(rows.truth.codes == code)
        losses[name, OF_CLASS] = LossSums.of_classes(
            np.full(len(chosen), columns.index(name)),
            rows.probabilities[chosen],
            counts=None if rows.counts is None else rows.counts[chosen],
            weights=None if rows.weights is None else rows.weights[chosen],
        )
    return losses


def losses_of_score(rows: Coded, score: Array) -> dict[tuple[str, str], LossSums]:
    """The losses of each label if it is the positive, and if it is not; outside [0, 1] none."""
    inside = (score >= 0) & (score <= 1)
    sums = {}
    for code, name in enumerate(rows.truth.names):
        chosen = np.flatnonzero(inside & (rows.truth.codes == code))
        for side, outcome in ((0, WRONG), (1, RIGHT)):
            sums[name, outcome] = LossSums.of_binary(
                np.full(len(chosen), side, np.uint8),
                score[chosen],
                counts=None if rows.counts is None else rows.counts[chosen],
                weights=None if rows.weights is None else rows.weights[chosen],
            )
    return {key: sums[key] for key in sorted(sums)}


def _clusters(rows: Coded, clusters: NameColumn, opinion: _Opinion) -> ClusterTally:
    return ClusterTally.of_codes(
        rows.truth.names,
        rows.truth.codes,
        opinion.codes,
        clusters.codes,
        clusters.names,
        amounts=rows.counts if rows.weights is None else rows.weights,
        columns=opinion.names,
    )


def _sample(rows: Coded, rankings: Mapping[Statement, Array], ask: Ask) -> Sample | None:
    """The rows themselves: of one score those in clusters, of probabilities all but too many."""
    clusters = rows.clusters
    kept: Any = None
    if rows.probabilities is not None:
        kept = rows.probabilities
        if kept.size > MOST_PROBABILITIES and _distinct(kept) > MOST_PROBABILITIES:
            return None
        if rows.decision is not None:
            # An open set asks whether the decision was right, and parts know no common codes.
            kept = np.column_stack([kept, _is_right(rows.truth, rows.decision)])
    elif clusters is not None and rows.weights is None and isinstance(ask.scores, Exact):
        kept = rankings.get(SCORE)
    if kept is None:
        return None
    return kept_rows(
        Sample.of_rows(
            rows.truth.names,
            rows.truth.codes,
            {MODEL: kept},
            cluster=None if clusters is None else clusters.codes,
            clusters=() if clusters is None else clusters.names,
            counts=rows.counts,
            weights=rows.weights,
        )
    )


def _is_right(truth: Labels, decision: Labels) -> Array:
    """Whether each decision is the label."""
    truth, decision = unify(truth, decision)
    position = {name: i for i, name in enumerate(decision.names)}
    decision_code = np.array([position.get(name, -1) for name in truth.names], np.int64)
    return np.asarray(decision_code[truth.codes] == decision.codes)


def _distinct(table: Array) -> int:
    """At least how many probabilities distinct rows have."""
    return max(len(np.unique(column)) for column in table.T) * len(table.T)


def _slices(
    rows: Coded, opinions: Mapping[Statement, _Opinion]
) -> dict[tuple[str, str], dict[Statement, Crosstab]]:
    """One table a value of each sliced column."""
    tables = {
        (column, name): {key: opinion.crosstab(rows, chosen) for key, opinion in opinions.items()}
        for column, part in rows.slices.items()
        for name, chosen in _rows_by_name(part).items()
    }
    return {key: tables[key] for key in sorted(tables)}


def _days(rows: Coded, days: NameColumn, ask: Ask, cutting: CutPoints | None) -> dict[str, Tally]:
    """One tally of everything but slices a day."""
    undated = replace(rows, slices={}, days=None, empty=0)
    return {
        day: count_coded(replace(undated.of_rows(chosen), rows=rows.given(chosen)), ask, cutting)
        for day, chosen in sorted(_rows_by_name(days).items())
    }


def _rows_by_name(column: NameColumn) -> dict[str, Array]:
    """Which rows have each name that occurs."""
    order = np.argsort(column.codes, kind="stable")
    edges = np.searchsorted(column.codes[order], np.arange(len(column.names) + 1))
    chosen = {name: order[edges[i] : edges[i + 1]] for i, name in enumerate(column.names)}
    return {name: rows for name, rows in chosen.items() if len(rows)}


@dataclass(frozen=True)
class _Subtotal:
    """What some rows come to, beside their scores; the rest of them was not counted."""

    flagged: Array
    low: float = np.inf
    high: float = -np.inf
    rows: int = 0
    empty: int = 0
    losses: Mapping[tuple[str, str], LossSums] = field(default_factory=dict)
    rest: Coded | None = None


class ScoreCounter:
    """Counts rows of a few labels and one score into what :func:`count_coded` makes of them.

    Any floats are counted into a grid or between cuts; every distinct score is kept of those of 32
    bits alone.
    """

    def __init__(self, ask: Ask, labels: Names, cutting: CutPoints | None = None) -> None:
        self._ask, self._labels = ask, labels
        names = labels.names
        kept = ask.scores
        self._threshold = USUAL if ask.threshold is None else ask.threshold
        self._scores: GridCounter | PatternCounter | CutCounter
        # Where cells begin at the threshold, they tell how many rows reach it.
        self._at_edge = False
        if isinstance(kept, Grid):
            self._scores = GridCounter(names, kept.bits)
            edge = np.array([self._threshold])
            if np.isfinite(edge):
                self._at_edge = bool(lowest(cells(edge, kept.bits), kept.bits) == edge)
        elif cutting is not None:
            self._scores = CutCounter(names, cutting)
        else:
            self._scores = PatternCounter(names)
        self._so_far = _Subtotal(np.zeros((len(names), 2), np.int64))
        self._running: deque[Future[_Subtotal]] = deque()
        self._losses: dict[tuple[str, str], LossSums] = {}

    @staticmethod
    def suits(rows: Sequence[Coded], ask: Ask, cutting: CutPoints | None = None) -> bool:
        """Whether such rows can be counted so."""
        names = {name for part in rows for name in part.truth.names}
        if isinstance(ask.scores, Cuts) and (cutting is None or cutting.frequent not in names):
            return False
        if isinstance(ask.scores, Grid) and len(names) << ask.scores.bits > _MOST_CELLS:
            return False
        return 0 < len(names) <= _MOST_LABELS and all(_is_score_only(part, ask) for part in rows)

    def takes(self, rows: Coded) -> bool:
        """Whether further rows fit in: such ones, of labels that are known."""
        names = self._labels.names
        return _is_score_only(rows, self._ask) and all(name in names for name in rows.truth.names)

    @property
    def rows(self) -> int:
        """How many rows were counted; some may still be with threads."""
        return self._so_far.rows

    @property
    def nbytes(self) -> int:
        """How many bytes the counters take."""
        return self._scores.nbytes

    def add(self, rows: Coded) -> Iterator[Coded]:
        """Count further rows; those of them, or of rows before them, for which there is no room.

        Threads count some rows each, so what is told of the last ones may come with `rest`.
        """
        if rows.score is None or not rows.size:
            return
        # Reading keeps a core busy for longer than it takes to count the cells of what was read.
        workers = threads() - isinstance(self._scores, GridCounter)
        if isinstance(self._scores, CutCounter) or rows.size < _ALONE or workers < 2:
            yield from self._collected(self._count(rows))
            return
        self._running.append(start(lambda: self._count(rows)))
        while len(self._running) > workers:
            yield from self._collected(self._running.popleft().result())

    def rest(self) -> Iterator[Coded]:
        """Wait until all rows are counted; those for which there was no room."""
        while self._running:
            yield from self._collected(self._running.popleft().result())

    def _count(self, rows: Coded) -> _Subtotal:
        """Count rows, and tell what there is beside their scores."""
        names, truth = self._labels.names, rows.truth.codes
        if rows.truth.names != names:
            truth = np.array([names.index(name) for name in rows.truth.names], np.uint8)[truth]
        scores = np.asarray(rows.score)
        uncounted_slices = self._scores.add(scores, truth)
        uncounted = _uncounted_rows(rows, uncounted_slices) if uncounted_slices else None
        counted = rows.rows - (0 if uncounted is None else uncounted.rows)
        none = np.zeros((len(names), 2), np.int64)
        if isinstance(self._ask.scores, Exact):
            # All else is told by the scores, which are all kept.
            return _Subtotal(none, rows=counted, empty=rows.empty, rest=uncounted)
        if isinstance(self._scores, GridCounter):
            low, high = self._scores.extremes
        else:
            low, high = extremes(scores)
        flags = (
            none if self._at_edge else flagged_counts(scores, truth, len(names), self._threshold)
        )
        cut = isinstance(self._ask.scores, Cuts) and self._ask.losses
        return _Subtotal(
            flags,
            low + 0.0,
            high + 0.0,
            counted,
            rows.empty,
            losses_of_score(rows, scores) if cut else {},
            uncounted,
        )

    def _collected(self, part: _Subtotal) -> Iterator[Coded]:
        """Add what was told of some rows, in their order: sums of losses depend on it."""
        before = self._so_far
        self._so_far = _Subtotal(
            before.flagged + part.flagged,
            min(before.low, part.low),
            max(before.high, part.high),
            before.rows + part.rows,
            before.empty + part.empty,
        )
        for key, sums in part.losses.items():
            self._losses[key] = self._losses[key] + sums if key in self._losses else sums
        if part.rest is not None:
            yield part.rest

    def done(self) -> Tally:
        """The tally of the rows so far."""
        so_far = self._so_far
        table: ScoreTally = self._scores.done()
        if isinstance(table.kept, Exact) and table.size:
            low, high = float(table.scores[0]), float(table.scores[-1])
            so_far = replace(so_far, low=low, high=high)
        if isinstance(table.kept, Exact) or self._at_edge:
            so_far = replace(so_far, flagged=_flagged_in(table, self._threshold))
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


def _flagged_in(table: ScoreTally, threshold: float) -> Array:
    """How many rows of each label are below the threshold, and how many reach it."""
    first = np.searchsorted(table.scores, least_reaching(threshold, table.scores.dtype))
    sides = table.counts[:, :first], table.counts[:, first:]
    return np.stack([side.sum(axis=1, dtype=np.int64) for side in sides], axis=1)


def _uncounted_rows(rows: Coded, slices: Sequence[slice]) -> Coded:
    """Some of the rows, which have nothing but a label and a score."""
    every = np.arange(rows.size)
    part = rows.of_rows(np.concatenate([every[chosen] for chosen in slices]))
    return replace(part, rows=part.size)


def _is_score_only(rows: Coded, ask: Ask) -> bool:
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
