"""Count a batch on this machine."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.sources import Batch, Named
from assay.tally import ClusterTally, Confusion, LossSums, Resolved, Sample, ScoreTally
from assay.tally.record import MOST_PROBABILITIES, kept_rows

MODEL = "model"


def decide(batch: Batch) -> npt.NDArray[Any]:
    """The decision for each row: as given, by the threshold, or the largest probability.

    The negative label where nothing decides.
    """
    if batch.decision is not None:
        return batch.decision
    if not batch.decided:
        # Rows are counted by their label alone.
        return np.zeros(len(batch.truth), np.uint8)
    if batch.score is not None:
        assert batch.threshold is not None  # noqa: S101 - without decisions there is one
        flagged: npt.NDArray[np.bool_] = np.asarray(batch.score >= np.float64(batch.threshold))
        return flagged.view(np.uint8)
    assert batch.probabilities is not None  # noqa: S101 - a batch has one of the three
    return np.asarray(batch.probabilities.argmax(axis=1), np.uint16)


def count(batch: Batch) -> Resolved:
    """Count a batch into a tally of all that its columns allow."""
    scores = _scores(batch)
    amounts = batch.counts if batch.weights is None else batch.weights
    decision = None
    rows_needed = batch.clusters is not None or batch.slices or not batch.decided
    if rows_needed or batch.decision is not None or scores is None or not batch.binary:
        decision = decide(batch)
        confusion = Confusion.of_codes(
            batch.labels, batch.truth, decision, counts=batch.counts, weights=batch.weights
        )
    else:
        confusion = confusion_at(scores[0], batch.threshold)
    clusters = sample = None
    if batch.clusters is not None and decision is not None:
        clusters = ClusterTally.of_codes(
            batch.labels,
            batch.truth,
            decision,
            batch.clusters.codes,
            batch.clusters.names,
            amounts=amounts,
        )
        if batch.score is not None and batch.weights is None:
            sample = Sample.of_rows(
                batch.labels,
                batch.truth,
                {MODEL: batch.score},
                cluster=batch.clusters.codes,
                clusters=batch.clusters.names,
                counts=batch.counts,
            )
    if batch.probabilities is not None and scores is not None:
        sample = _class_rows(batch, max(part.size for part in scores))
    kind = "" if scores is None else "score"
    if batch.is_probability or batch.probabilities is not None:
        kind = "probability"
    return Resolved(
        labels=batch.labels,
        positive=batch.positive,
        confusion=confusion,
        threshold=batch.threshold,
        decided=batch.decided,
        kind=kind,
        scores=scores,
        losses=_losses(batch),
        clusters=clusters,
        sample=sample,
        slices={} if decision is None else _slices(batch, decision),
        days=None if batch.days is None else _days(batch),
    )


def _scores(batch: Batch) -> tuple[ScoreTally, ...] | None:
    columns = []
    if batch.score is not None:
        columns = [batch.score]
    elif batch.probabilities is not None:
        columns = list(batch.probabilities.T)
    if not columns:
        return None
    return tuple(
        ScoreTally.of_rows(
            batch.labels, column, batch.truth, counts=batch.counts, weights=batch.weights
        )
        for column in columns
    )


def _class_rows(batch: Batch, distinct: int) -> Sample | None:
    """The rows with a probability a class, unless there are too many.

    ``distinct`` is how many distinct rows there are at least.
    """
    assert batch.probabilities is not None  # noqa: S101 - checked by the caller
    if distinct * len(batch.labels) > MOST_PROBABILITIES:
        return None
    clusters = batch.clusters
    return kept_rows(
        Sample.of_rows(
            batch.labels,
            batch.truth,
            {MODEL: batch.probabilities},
            cluster=None if clusters is None else clusters.codes,
            clusters=() if clusters is None else clusters.names,
            counts=batch.counts,
            weights=batch.weights,
        )
    )


def confusion_at(scores: ScoreTally, threshold: float | None) -> Confusion:
    """The confusion matrix at a threshold, from the score tally alone."""
    assert threshold is not None  # noqa: S101 - a batch without decisions has one
    if scores.squares is None:
        return Confusion(scores.labels, _cells_at(scores, scores.counts, threshold))
    return Confusion(
        scores.labels,
        _cells_at(scores, scores.counts, threshold),
        _cells_at(scores, scores.squares, threshold),
    )


def _cells_at(
    scores: ScoreTally, amounts: npt.NDArray[Any], threshold: float
) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    first = int(np.searchsorted(scores.scores, threshold, side="left"))
    kind: Any = np.float64 if scores.weighted else np.int64
    tn, fn = amounts[:, :first].sum(axis=1, dtype=kind).tolist()
    fp, tp = amounts[:, first:].sum(axis=1, dtype=kind).tolist()
    return (tn, fp), (fn, tp)


def _losses(batch: Batch) -> LossSums | None:
    if batch.is_probability and batch.score is not None:
        return LossSums.of_binary(
            batch.truth, batch.score, counts=batch.counts, weights=batch.weights
        )
    if batch.probabilities is not None:
        return LossSums.of_classes(
            batch.truth, batch.probabilities, counts=batch.counts, weights=batch.weights
        )
    return None


def _days(batch: Batch) -> dict[str, Resolved]:
    """One tally of everything but slices a day."""
    assert batch.days is not None  # noqa: S101 - checked by the caller
    return {
        day: count(_some(batch, rows)) for day, rows in sorted(_rows_by_name(batch.days).items())
    }


def _some(batch: Batch, rows: npt.NDArray[Any]) -> Batch:
    """Some rows of a batch, without its slices and days."""

    def kept(column: Any) -> Any:
        return None if column is None else column[rows]

    clusters = batch.clusters
    return replace(
        batch,
        truth=batch.truth[rows],
        decision=kept(batch.decision),
        score=kept(batch.score),
        probabilities=kept(batch.probabilities),
        counts=kept(batch.counts),
        weights=kept(batch.weights),
        clusters=None if clusters is None else replace(clusters, codes=clusters.codes[rows]),
        days=None,
        slices={},
    )


def _rows_by_name(column: Named) -> dict[str, npt.NDArray[Any]]:
    """Which rows have each name that occurs."""
    order = np.argsort(column.codes, kind="stable")
    edges = np.searchsorted(column.codes[order], np.arange(len(column.names) + 1))
    found = {name: order[edges[i] : edges[i + 1]] for i, name in enumerate(column.names)}
    return {name: rows for name, rows in found.items() if len(rows)}


def _slices(batch: Batch, decision: npt.NDArray[Any]) -> dict[tuple[str, str], Confusion]:
    """One confusion matrix a value of each sliced column."""
    found: dict[tuple[str, str], Confusion] = {}
    for column, part in batch.slices.items():
        for name, rows in _rows_by_name(part).items():
            found[column, name] = Confusion.of_codes(
                batch.labels,
                batch.truth[rows],
                decision[rows],
                counts=None if batch.counts is None else batch.counts[rows],
                weights=None if batch.weights is None else batch.weights[rows],
            )
    return {key: found[key] for key in sorted(found)}
