"""Precision and detection rate among the top alerts of a day.

Analysts read the k highest scores of a day. Where rows at the border are tied, those that are read
are drawn from them by lot, so they count in proportion.

Over several days the days are the unit: the k of a day depend on all of its rows, so the variance
is that between days. Of one sample the threshold is the one that raises k alerts among so many
rows. With the sample's own share of attacks each row moves how many are found and where the
threshold lies. At a base rate b, T, the share of positives above it, and F, that of negatives, obey
b T + (1 - b) F = k / rows for a base rate b. A sample moves the threshold too, so that the error of
T at the top is (1 - m) dT - m (1 - b) / b dF, where m is the share of positives among rows at the
border: a linear combination of two shares, which has its interval by MOVER from Wilson's.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from assay.counts import ClusterCounts, Confusion, ScoreCounts
from assay.inference.estimate import Estimate, Quantity
from assay.inference.estimation import estimate
from assay.inference.proportions import Wilson
from assay.inference.score_intervals import influence_interval
from assay.inference.time_courses import MOVER, combined
from assay.measures import PRECISION, RECALL, Influence, Measure, Smooth

THRESHOLD = "threshold"
# The border is looked at this far to either side, as a share of the alerts, and over so many rows.
_BESIDE = 0.5
_ROWS_BESIDE = 10
# How far from 1 a share lies by rounding alone.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class TopAlerts:
    """The precision and the detection rate among the top alerts."""

    precision: Estimate
    recall: Estimate


def read(table: ScoreCounts, k: float) -> tuple[float, float]:
    """Positives and negatives among the ``k`` highest scores; ties count in proportion.

    >>> scores, truth = np.array([0.9, 0.5, 0.5, 0.1]), np.array([1, 1, 0, 0])
    >>> read(ScoreCounts.of_rows(("benign", "attack"), scores, truth), 2)
    (1.5, 0.5)
    """
    negative, positive = (np.cumsum(side[::-1], dtype=np.float64) for side in table.counts)
    every = np.concatenate(([0.0], negative + positive))
    k = min(k, float(every[-1]))
    return (
        float(np.interp(k, every, np.concatenate(([0.0], positive)))),
        float(np.interp(k, every, np.concatenate(([0.0], negative)))),
    )


def over_days(days: Mapping[str, ScoreCounts], k: float, level: float) -> TopAlerts:
    """Among the ``k`` highest scores of each day, all days pooled."""
    if len(days) == 1:
        (table,) = days.values()
        negatives, positives = (float(total) for total in table.totals())
        rows = negatives + positives
        if not positives or not negatives:
            return _of_one_class(table, min(k, rows), level)
        return of_rows(table, min(k / rows, 1.0), level)
    cells = []
    for table in days.values():
        hits, false = read(table, k)
        negatives, positives = (float(total) for total in table.totals())
        cells.append([[negatives - false, false], [positives - hits, hits]])
    labels = next(iter(days.values())).labels
    clusters = ClusterCounts(labels, tuple(days), np.array(cells))
    return TopAlerts(
        *(
            _top_estimate(measure, clusters.confusion(), level, clusters)
            for measure in (PRECISION, RECALL)
        )
    )


def _of_one_class(table: ScoreCounts, k: float, level: float) -> TopAlerts:
    """A day without attacks, or with nothing else: a matter of counts."""
    hits, false = read(table, k)
    negatives, positives = (float(total) for total in table.totals())
    confusion = Confusion(table.labels, ((negatives - false, false), (positives - hits, hits)))
    return TopAlerts(*(_top_estimate(measure, confusion, level) for measure in (PRECISION, RECALL)))


def _top_estimate(
    measure: Measure, table: Confusion, level: float, clusters: ClusterCounts | None = None
) -> Estimate:
    quantity = Quantity(measure.of_counts, label=1)
    return estimate(quantity, table, measure.range, level=level, clusters=clusters)


def of_rows(table: ScoreCounts, share: float, level: float) -> TopAlerts:
    """Among the top ``share`` of the rows of a sample, attacks as frequent as in it.

    With G the share of all rows that are attacks at the top, and m that of attacks at the border, a
    row moves G by whether it is an attack at the top, less m times whether it is at the top.
    """
    negative, positive = (np.cumsum(side[::-1], dtype=np.float64) for side in table.counts)
    positives, rows = float(positive[-1]), float(positive[-1] + negative[-1])
    flagged = np.concatenate(([0.0], positive + negative)) / rows
    detected = np.concatenate(([0.0], positive)) / positives
    effective = table.effective()[::-1]
    hits = positives / rows * float(np.interp(share, flagged, detected))
    border = _border(flagged, detected, share, positives / rows, list(effective))
    # The share of each score's rows that is read, lowest score first.
    steps = np.diff(flagged)
    room = np.clip(share - flagged[:-1], 0.0, steps)
    read_of = np.divide(room, steps, out=np.zeros_like(steps), where=steps > 0)[::-1]
    moved = -border * (read_of - share) - hits
    own = positives / rows
    precision = Influence(hits / share, (moved + read_of) / share / rows, moved / share / rows)
    recall = Influence(
        hits / own,
        (moved + read_of - hits / own * (1 - own)) / own / rows,
        (moved + hits) / own / rows,
    )
    last = int(np.searchsorted(flagged[1:], share))
    at_border = {THRESHOLD: float(table.scores[::-1][last])}
    alerts = max(share * sum(effective), 1.0)
    return TopAlerts(
        _influenced(precision, table, alerts, level, at_border),
        _influenced(recall, table, effective[0], level, at_border),
    )


def _influenced(
    influence: Influence, table: ScoreCounts, n: float, level: float, parts: Mapping[str, float]
) -> Estimate:
    # All that are read may be attacks, whatever rounding has left of 1.
    value = 1.0 if math.isclose(influence.value, 1.0, rel_tol=_ROUNDING) else influence.value
    ends = influence_interval(Smooth(value, influence.variance(table)), n, (0.0, 1.0), level)
    low, high = min(ends[0], value), max(ends[1], value)
    return Estimate(value, low, high, method="delta", n=n, level=level, parts=parts)


def of_sample(table: ScoreCounts, share: float, base_rate: float, level: float) -> TopAlerts:
    """Among the top ``share`` of the rows that a sample stands for, at a base rate.

    The estimates' ``parts`` tell the threshold, which is the score at the border.
    """
    negative, positive = (np.cumsum(side[::-1], dtype=np.float64) for side in table.counts)
    detected = np.concatenate(([0.0], positive / positive[-1]))
    alarmed = np.concatenate(([0.0], negative / negative[-1]))
    flagged = base_rate * detected + (1 - base_rate) * alarmed
    # No more than all that are flagged; the last bit of an interpolation may be above that.
    most = min(share / base_rate, 1.0)
    hit = min(float(np.interp(share, flagged, detected)), most)
    false = float(np.interp(share, flagged, alarmed))
    sizes = list(table.effective()[::-1])
    border = _border(flagged, detected, share, base_rate, sizes)
    wilson = Wilson(level)
    parts = []
    for rate, size in zip((hit, false), sizes, strict=True):
        ends = wilson(rate * size, size)
        parts.append(Estimate(rate, float(ends[0]), float(ends[1]), n=size, level=level))
    moved = combined([1 - border, -border * (1 - base_rate) / base_rate], parts)
    low = max(hit - (float(moved) - moved.low), 0.0)
    high = min(hit + (moved.high - float(moved)), most)
    scale = base_rate / share
    last = int(np.searchsorted(flagged[1:], share))
    at_border = {THRESHOLD: float(table.scores[::-1][last])}
    recall = Estimate(hit, low, high, method=MOVER, n=sizes[0], level=level, parts=at_border)
    value, lower, upper = (min(rate * scale, 1.0) for rate in (hit, low, high))
    precision = recall.changed(value, low=lower, high=upper, n=sum(sizes))
    return TopAlerts(precision, recall)


def _border(
    flagged: npt.NDArray[np.float64],
    detected: npt.NDArray[np.float64],
    share: float,
    base_rate: float,
    sizes: list[float],
) -> float:
    """The share of positives among the rows around the border."""
    beside = max(_BESIDE * share, _ROWS_BESIDE / 2 / sum(sizes))
    ends = np.clip([share - beside, share + beside], 0.0, 1.0)
    below, above = np.interp(ends, flagged, detected)
    return min(max(float(base_rate * (above - below) / (ends[1] - ends[0])), 0.0), 1.0)
