"""Count rows on this machine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.engines.ask import Ask
from assay.sources import Coded, Named
from assay.sources.coded import Labels
from assay.sources.labelling import unify
from assay.sources.thresholds import USUAL, least_reaching
from assay.tally import ClusterTally, Crosstab, LossSums, Sample, ScoreTally, Tally
from assay.tally.blocks import map_blocks
from assay.tally.by_name import (
    DECISION,
    LARGEST,
    OF_CLASS,
    PROBABILITY,
    RIGHT,
    SCORE,
    WRONG,
    Names,
    Said,
)
from assay.tally.counters import Cutting, count_cuts
from assay.tally.crosstab import REACHED, flagged
from assay.tally.keeping import Cuts, Exact, Grid
from assay.tally.record import MOST_PROBABILITIES, kept_rows
from assay.tally.scores import extremes

Array: TypeAlias = npt.NDArray[Any]

MODEL = "model"
# So many labels are counted one by one.
_FEW_LABELS = 8


def count_coded(rows: Coded, ask: Ask, cutting: Cutting | None = None) -> Tally:
    """Count rows that were checked into a tally of all that was asked for.

    ``cutting`` tells where to cut, where these rows are but a part.
    """
    rows = _sorted(rows)
    if not rows.size:
        return Tally(
            threshold=ask.threshold, columns=rows.columns, rows=rows.rows, empty=rows.empty
        )
    rankings = _rankings(rows)
    if cutting is None and isinstance(ask.scores, Cuts) and SCORE in rankings:
        cutting = cutting_of(rows, rankings[SCORE])
    scores = {
        key: _scores(rows, column, ask, cutting)
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


def _rankings(rows: Coded) -> dict[Said, Array]:
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


class _Reached(_Opinion):
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
    least = least_reaching(threshold, scores.dtype)

    def work(i: int, j: int) -> Array:
        reached = scores[i:j] >= least
        if labels > _FEW_LABELS:
            codes = 2 * truth[i:j].astype(np.int64) + reached
            return np.bincount(codes, minlength=2 * labels).reshape(labels, 2)
        counts = np.zeros((labels, 2), np.int64)
        counts[0] = j - i, np.count_nonzero(reached)
        for label in range(1, labels):
            own = truth[i:j] == label
            counts[label, 0] = np.count_nonzero(own)
            np.logical_and(own, reached, out=own)
            counts[label, 1] = np.count_nonzero(own)
        # What has no other label has the first.
        counts[0] -= counts[1:].sum(axis=0)
        counts[:, 0] -= counts[:, 1]
        return counts

    return np.asarray(sum(map_blocks(len(scores), lambda: work)))


def _opinions(rows: Coded, rankings: Mapping[Said, Array], ask: Ask) -> dict[Said, _Opinion]:
    """What was said of each row, in every way that may turn out to be the one that counts."""
    if rows.decision is not None:
        return {DECISION: _Opinion(rows.decision.names, rows.decision.codes)}
    if rows.probabilities is not None and len(rows.columns or ()) > 2:
        largest = np.asarray(rows.probabilities.argmax(axis=1), np.uint16)
        return {LARGEST: _Opinion(rows.columns or (), largest)}
    threshold = USUAL if ask.threshold is None else ask.threshold
    return {key: _Reached(column, threshold) for key, column in rankings.items()}


def _scores(rows: Coded, column: Array, ask: Ask, cutting: Cutting | None) -> ScoreTally:
    names, codes = rows.truth.names, rows.truth.codes
    kept = ask.scores
    if isinstance(kept, Cuts):
        at = cutting or cutting_of(rows, column)
        if at.frequent not in names:
            names = tuple(sorted((*names, at.frequent)))
            codes = np.array([names.index(n) for n in rows.truth.names], codes.dtype)[codes]
        return count_cuts(names, at, column, codes, counts=rows.counts)
    assert kept is not None  # noqa: S101 - asked for by the caller
    return ScoreTally.of_rows(
        names, column, codes, counts=rows.counts, weights=rows.weights, kept=kept
    )


def cutting_of(rows: Coded, column: Array) -> Cutting:
    """Where to cut rows that are all there are."""
    frequent = most_frequent(label_amounts(rows))
    cuts = np.unique(column[are_rarer(rows, frequent)].astype(np.float64) + 0.0)
    return Cutting(frequent, cuts)


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
    rows: Coded, rankings: Mapping[Said, Array], ask: Ask
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
    found = {}
    for code, name in enumerate(rows.truth.names):
        if name not in columns:
            continue
        chosen = np.flatnonzero(rows.truth.codes == code)
        found[name, OF_CLASS] = LossSums.of_classes(
            np.full(len(chosen), columns.index(name)),
            rows.probabilities[chosen],
            counts=None if rows.counts is None else rows.counts[chosen],
            weights=None if rows.weights is None else rows.weights[chosen],
        )
    return found


def losses_of_score(rows: Coded, score: Array) -> dict[tuple[str, str], LossSums]:
    """The losses of each label if it is the positive, and if it is not; outside [0, 1] none."""
    inside = (score >= 0) & (score <= 1)
    sums = {}
    for code, name in enumerate(rows.truth.names):
        chosen = np.flatnonzero(inside & (rows.truth.codes == code))
        for side, how in ((0, WRONG), (1, RIGHT)):
            sums[name, how] = LossSums.of_binary(
                np.full(len(chosen), side, np.uint8),
                score[chosen],
                counts=None if rows.counts is None else rows.counts[chosen],
                weights=None if rows.weights is None else rows.weights[chosen],
            )
    return {key: sums[key] for key in sorted(sums)}


def _clusters(rows: Coded, clusters: Named, opinion: _Opinion) -> ClusterTally:
    return ClusterTally.of_codes(
        rows.truth.names,
        rows.truth.codes,
        opinion.codes,
        clusters.codes,
        clusters.names,
        amounts=rows.counts if rows.weights is None else rows.weights,
        columns=opinion.names,
    )


def _sample(rows: Coded, rankings: Mapping[Said, Array], ask: Ask) -> Sample | None:
    """The rows themselves: of one score those in clusters, of probabilities all but too many."""
    clusters = rows.clusters
    kept: Any = None
    if rows.probabilities is not None:
        if rows.probabilities.size > MOST_PROBABILITIES and _distinct(rows) > MOST_PROBABILITIES:
            return None
        kept = rows.probabilities
        if rows.decision is not None:
            # An open set asks whether the decision was right, and parts know no common codes.
            kept = np.column_stack([kept, _right(rows.truth, rows.decision)])
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


def _right(truth: Labels, decision: Labels) -> Array:
    """Whether each decision is the label."""
    truth, decision = unify(truth, decision)
    position = {name: i for i, name in enumerate(decision.names)}
    same = np.array([position.get(name, -1) for name in truth.names], np.int64)
    return np.asarray(same[truth.codes] == decision.codes)


def _distinct(rows: Coded) -> int:
    """At least how many probabilities distinct rows have."""
    assert rows.probabilities is not None  # noqa: S101 - checked by the caller
    return max(len(np.unique(column)) for column in rows.probabilities.T) * len(rows.columns or ())


def _slices(
    rows: Coded, opinions: Mapping[Said, _Opinion]
) -> dict[tuple[str, str], dict[Said, Crosstab]]:
    """One table a value of each sliced column."""
    tables = {
        (column, name): {key: opinion.crosstab(rows, chosen) for key, opinion in opinions.items()}
        for column, part in rows.slices.items()
        for name, chosen in _rows_by_name(part).items()
    }
    return {key: tables[key] for key in sorted(tables)}


def _days(rows: Coded, days: Named, ask: Ask, cutting: Cutting | None) -> dict[str, Tally]:
    """One tally of everything but slices a day."""
    plain = replace(rows, slices={}, days=None, empty=0)
    return {
        day: count_coded(replace(plain.of_rows(chosen), rows=rows.given(chosen)), ask, cutting)
        for day, chosen in sorted(_rows_by_name(days).items())
    }


def _rows_by_name(column: Named) -> dict[str, Array]:
    """Which rows have each name that occurs."""
    order = np.argsort(column.codes, kind="stable")
    edges = np.searchsorted(column.codes[order], np.arange(len(column.names) + 1))
    chosen = {name: order[edges[i] : edges[i + 1]] for i, name in enumerate(column.names)}
    return {name: rows for name, rows in chosen.items() if len(rows)}
