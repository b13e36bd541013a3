"""The mean loss of a probability, and how sure it is."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from assay.evaluation.class_scores import NOT_KEPT, bounded, by_rows
from assay.inference import Estimate
from assay.inference.bootstrap import Bootstrap
from assay.inference.scored import clustered, mean_interval
from assay.measures import MeanLoss
from assay.measures.cell_bounds import bound_of

if TYPE_CHECKING:
    from assay.evaluation.judge import Judge

NO_ROWS = "no interval: with clusters it needs the unweighted rows of a binary score"


def loss(judge: Judge, declared: MeanLoss) -> Estimate:
    """The estimate of a mean loss."""
    tally = judge.tally
    losses = tally.losses
    assert tally.scores is not None  # noqa: S101 - probabilities are scores
    if losses is None:
        moments = declared.moments(tally.scores[0])
    elif declared.sums is not None:
        moments = declared.sums(losses)
    elif judge.binary:
        moments = declared.moments(tally.scores[0])
    else:
        why = "it is of the probability of one positive label, of two"
        return Estimate(math.nan, level=judge.level, undefined=why)
    if not moments.weight:
        return Estimate(math.nan, level=judge.level, undefined="there are no rows")
    name, note = "delta", None
    of_many = None if judge.binary or declared.of_classes is None else tally.sample
    if isinstance(judge.method, Bootstrap) and judge.binary:
        ends, name, note = judge.resampled(tally.scores[0], declared.value, tally.sample)
    elif isinstance(judge.method, Bootstrap) and of_many is not None:
        bounds = 0.0, declared.largest
        ends, name, note = by_rows(judge, of_many, declared, moments.mean, bounds)
    elif tally.clusters is not None:
        ends, name, note = _clustered(judge, declared, moments.mean)
    else:
        ends = mean_interval(moments, declared.largest, judge.level)
    clipped = 0
    if losses is not None and declared.clipped is not None:
        clipped = declared.clipped(losses)
    if clipped:
        cut = f"{clipped} rows were clipped at 2^-52"
        note = cut if note is None else f"{note}; {cut}"
    found = Estimate(
        moments.mean,
        min(ends[0], moments.mean),
        max(ends[1], moments.mean),
        method=name,
        n=tally.scores[0].rows if losses is None or losses.weighted else losses.rows,
        level=judge.level,
        note=note,
        parts=declared.beside(tally.confusion) if declared.beside is not None else {},
    )
    if losses is not None:
        return found
    return bounded(found, bound_of(declared, tally.scores[0]), (0, declared.largest))


def _clustered(
    judge: Judge, declared: MeanLoss, mean: float
) -> tuple[tuple[float, float], str, str | None]:
    sample = judge.tally.sample
    if sample is None or not (judge.binary or declared.of_classes is not None):
        return (math.nan, math.nan), "", NO_ROWS if judge.binary else NOT_KEPT
    low, high = clustered(sample, declared, mean, (0, math.inf), judge.level)
    if math.isnan(low):
        none = "no interval: there are too few clusters, or no row has a loss"
        return (low, high), "", none
    return (low, min(high, declared.largest)), "cluster delta", None
