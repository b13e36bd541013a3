"""Log loss and Brier score: the mean loss of a probability, and how sure it is."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from assay.inference import Estimate
from assay.inference.bootstrap import Bootstrap
from assay.inference.differences import LOSSES
from assay.inference.scored import WORST_LOG_LOSS, clustered_mean, mean_interval
from assay.measures import Measure
from assay.tally import Confusion, LossSums, ScoreTally
from assay.tally.sums import SMALLEST_PROBABILITY, Moments

if TYPE_CHECKING:
    from assay.evaluation.judge import Judge

NO_ROWS = "no interval: with clusters it needs the unweighted rows of a binary score"


def loss(judge: Judge, measure: Measure) -> Estimate:
    """The estimate of a mean loss."""
    tally = judge.tally
    losses = tally.losses
    assert losses is not None  # noqa: S101 - checked by the caller
    moments = _moments(losses, measure)
    largest = WORST_LOG_LOSS if measure.name == "log_loss" else 1.0
    name, note = "delta", None
    if isinstance(judge.method, Bootstrap) and judge.binary:
        assert tally.scores is not None  # noqa: S101 - probabilities are scores
        ends, name, note = judge.resampled(tally.scores[0], lambda part: _mean(part, measure))
    elif tally.clusters is not None:
        ends, name, note = _clustered(judge, measure, moments.mean, largest)
    else:
        ends = mean_interval(moments, largest, judge.level)
    parts = {}
    if measure.name == "log_loss":
        parts = {"ln 2": math.log(2), "prevalence entropy": _entropy(tally.confusion)}
        if losses.clipped:
            clipped = f"{losses.clipped} rows were clipped at 2^-52"
            note = clipped if note is None else f"{note}; {clipped}"
    return Estimate(
        moments.mean,
        min(ends[0], moments.mean),
        max(ends[1], moments.mean),
        method=name,
        n=moments.weight**2 / moments.square_weight if losses.weighted else losses.rows,
        level=judge.level,
        note=note,
        parts=parts,
    )


def _moments(losses: LossSums, measure: Measure) -> Moments:
    return losses.log_loss() if measure.name == "log_loss" else losses.brier_score()


def _mean(tally: ScoreTally, measure: Measure) -> float:
    """The mean loss of the rows of a binary score tally, in floats, as resamples are."""
    scores = tally.scores.astype(np.float64)
    said = np.stack([1 - scores, scores])
    if measure.name == "log_loss":
        losses = -np.log(np.maximum(said, SMALLEST_PROBABILITY))
    else:
        losses = np.square(1 - said)
    return float((losses * tally.counts).sum() / tally.counts.sum())


def _clustered(
    judge: Judge, measure: Measure, mean: float, largest: float
) -> tuple[tuple[float, float], str, str | None]:
    none = (math.nan, math.nan)
    sample = judge.tally.sample
    if sample is None:
        return none, "", NO_ROWS
    each = LOSSES[measure.name](sample, 0)
    ends = clustered_mean(sample, each, mean, largest, judge.level)
    if math.isnan(ends[0]):
        return none, "", "no interval: there are too few clusters, or no row has a loss"
    return ends, "cluster delta", None


def _entropy(confusion: Confusion) -> float:
    """The log loss of always saying how frequent each class is."""
    total = float(confusion.total)
    shares = [float(rows) / total for rows in confusion.rows if rows]
    return -math.fsum(share * math.log(share) for share in shares)
