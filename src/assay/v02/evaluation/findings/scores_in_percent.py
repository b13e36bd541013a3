"""E020: scores look like percents."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from assay.v02.evaluation.findings.finding import FindingCheck
from assay.v02.number_text import rate, rate_percent, threshold_text
from assay.v02.tally.blocks import map_blocks

if TYPE_CHECKING:
    from assay.v02.evaluation.evaluation import Evaluation
    from assay.v02.tally import ScoreTally

# A model that is sure of some row comes near to 0 or 100; of other scales few rows reach so far.
_NEAR_NONE, _NEAR_ALL, _HIGH = 5.0, 95.0, 80.0
# One attack in ten scores as high as this share of the highest score: the scale has an end there.
_TOP, _CROWDED = 0.9, 0.8
# Of fewer attacks the highest score is that of one of them.
_FEWEST = 10
# By so much an error has to be smaller than that of the prevalence.
_SMALLER = 0.9
# So many rows above 1 leave a threshold below 1 nothing to tell apart.
_MOST = 0.75


def look(evaluation: Evaluation) -> str | None:
    """Scores up to 100 beside a threshold of at most 1, or without any.

    Without a threshold attacks have to crowd near the highest score, and that near 100; and the
    lowest has to be near 0, or scores over 100 better probabilities than the prevalence is.

    >>> import assay
    >>> evaluation = assay.evaluate([0, 0, 0, 1, 1] * 40, y_score=[2.5, 8, 40, 61, 99.5] * 40)
    >>> print(evaluation.findings[0].message)  # doctest: +NORMALIZE_WHITESPACE
    The scores run from 2.5 to 99.5, as percents do: no threshold follows from that, and they are
    not read as probabilities. Divide them by 100, write them as 99.5%, or say the threshold that
    belongs to them, such as 50.
    """
    tally = evaluation.tally
    if tally.scores is None or evaluation.positive is None or not tally.scores[0].size:
        return None
    if tally.decided and tally.threshold is None:
        return None
    table, threshold = tally.scores[0], tally.threshold
    low, high = float(table.scores[0]), float(table.scores[-1])
    if low < 0 or not 1 < high <= 100:
        return None
    ends = f"The scores run from {rate(low)} to {rate(high)}, as percents do"
    if threshold is None:
        if high <= _HIGH or _is_run(table) or not _crowded(table):
            return None
        if not (low <= _NEAR_NONE and high >= _NEAR_ALL) and not _better_than_prevalence(table):
            return None
        return (
            f"{ends}: no threshold follows from that, and they are not read as probabilities. "
            f"Divide them by 100, write them as {rate(high)}%, or say the threshold that belongs "
            f"to them, such as 50."
        )
    above = sum(table.at_least(np.nextafter(1.0, 2.0))) / sum(table.totals())
    if not 0 < 100 * threshold < min(high, 100.5) or high <= 100 * _MOST or above < _MOST:
        return None
    return (
        f"{ends}, and the threshold is {rate(threshold)}: {rate_percent(above)} of the rows score "
        f"above 1. Divide the scores by 100, or take a threshold of "
        f"{threshold_text(100 * threshold)}."
    )


def _is_run(table: ScoreTally) -> bool:
    """Whether each whole number of a run stands once, as ranks do."""
    return float(table.scores[-1] - table.scores[0]) == table.size - 1 == table.rows - 1


def _crowded(table: ScoreTally) -> bool:
    """Whether attacks lie close to the highest score, as where a scale has an end."""
    positives = np.cumsum(table.counts[1].astype(np.float64))
    top = table.scores[int(np.searchsorted(positives, _TOP * positives[-1]))]
    return bool(positives[-1] >= _FEWEST and top >= _CROWDED * table.scores[-1])


def _better_than_prevalence(table: ScoreTally) -> bool:
    """Whether scores over 100 are nearer to the truth than the share of positives is."""
    scores = table.middles() if table.inexact else table.scores

    def work(i: int, j: int) -> tuple[float, float, float]:
        negative, positive = table.counts[:, i:j].astype(np.float64)
        chance = scores[i:j] / 100
        error = negative * chance**2 + positive * (1 - chance) ** 2
        return float(error.sum()), float(negative.sum()), float(positive.sum())

    error, negatives, positives = np.sum(map_blocks(table.size, lambda: work), axis=0).tolist()
    return bool(error * (negatives + positives) < _SMALLER * negatives * positives)


CHECK = FindingCheck(
    code="E020",
    severity="warning",
    title="scores look like percents",
    why="A threshold of 0.5 flags nearly every row whose score is a percent, and what is not in "
    "[0, 1] is not read as a probability: log loss, Brier score and calibration are missing.",
    remedy="Divide the scores by 100, or write them with a percent sign. If they are points on "
    "another scale, say the threshold that belongs to it.",
    look=look,
    unless=("E021",),
    mistake=True,
)
