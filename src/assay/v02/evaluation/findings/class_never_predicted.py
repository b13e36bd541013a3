"""E012: a class that has rows is never decided."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from assay.v02.evaluation.findings.finding import FindingCheck
from assay.v02.evaluation.wording import name, some
from assay.v02.number_text import rate, rows

if TYPE_CHECKING:
    from assay.v02.evaluation.evaluation import Evaluation

# Of fewer rows all may be decided alike by accident.
FEWEST_ROWS = 20
# So many standard errors the sum of honest probabilities is off at most.
_ERRORS = 3


def look(evaluation: Evaluation) -> str | None:
    """A class with rows that was decided for none; of two classes, nothing or everything flagged.

    >>> import assay
    >>> evaluation = assay.evaluate([0, 0, 1] * 50, y_score=[0.1, 0.2, 0.3] * 50)
    >>> print(evaluation.findings[0].message)  # doctest: +NORMALIZE_WHITESPACE
    Nothing is flagged, which is wrong for '1' (50 rows). The highest score is 0.3, the
    threshold 0.5: choose another one, on other rows.
    """
    confusion = evaluation.confusion
    never = [
        f"{name(label)} ({rows(size)})"
        for label, size, decided in zip(
            evaluation.labels, confusion.rows, confusion.columns, strict=True
        )
        if size and not decided
    ]
    if not never:
        return None
    if evaluation.positive is None:
        their = "Its" if len(never) == 1 else "Their"
        return (
            f"Never decided: {some(never)}. {their} detection rate is 0 and "
            f"{their.lower()} precision undefined: check how the labels are spelt, or train on "
            f"more such rows."
        )
    nothing = not confusion.columns[1]
    subject = "Nothing is" if nothing else "Every row is"
    at_threshold = ""
    if evaluation.tally.scores is not None and evaluation.tally.threshold is not None:
        end, at = ("highest", -1) if nothing else ("lowest", 0)
        at_threshold = (
            f" The {end} score is {rate(evaluation.tally.scores[0].scores[at])}, the threshold "
            f"{rate(evaluation.tally.threshold)}: choose another one, on other rows."
        )
    return f"{subject} flagged, which is wrong for {never[0]}.{at_threshold}"


def _sure(evaluation: Evaluation) -> bool:
    """Whether one decision for all rows of two classes is more than an accident of a few.

    Nor is it a mistake where scores are probabilities that sum to the number of attacks: of rare
    attacks an honest one may never reach a half.
    """
    if evaluation.positive is None or evaluation.confusion.total < FEWEST_ROWS:
        return False
    return evaluation.tally.kind != "probability" or not _sums_to_positives(evaluation)


def _sums_to_positives(evaluation: Evaluation) -> bool:
    tables = evaluation.tally.scores
    if tables is None:
        return False
    table = tables[0]
    chance = table.middles() if table.inexact else table.scores
    rows = table.counts.astype(np.float64).sum(axis=0)
    expected, variance = (rows * chance).sum(), (rows * chance * (1 - chance)).sum()
    off = abs(expected - float(table.counts[1].sum()))
    return bool(off <= _ERRORS * math.sqrt(variance))


CHECK = FindingCheck(
    code="E012",
    severity="warning",
    title="a class never predicted",
    why="The detection rate of that class is 0 and its precision undefined, and averages over "
    "classes are undefined or hide it. A threshold on another scale than the scores does the same.",
    remedy="Check the threshold, and that decisions spell the class as the labels do. Else the "
    "model needs more rows of it.",
    look=look,
    of_decisions=True,
    unless=("E020",),
    mistake=True,
    sure=_sure,
)
