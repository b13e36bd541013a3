"""E015: a measure differs between periods by more than their rows explain."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.v02.evaluation.findings.finding import FindingCheck
from assay.v02.measures import ACCURACY, FALSE_POSITIVE_RATE, RECALL
from assay.v02.number_text import count, p_text, rate

if TYPE_CHECKING:
    from assay.v02.evaluation.evaluation import Evaluation

# Several measures are looked at, so that a small p is asked of each.
SMALL_P = 0.001


def look(evaluation: Evaluation) -> str | None:
    """Scatter around the straight line over time that sampling error does not explain.

    >>> import assay
    >>> days = [f"2026-03-{day:02}" for day in (1, 2, 3) for _ in range(200)]
    >>> truth = [0, 1] * 300
    >>> said = [0, 1] * 100 + [0, 0] * 100 + [0, 1] * 100
    >>> evaluation = assay.evaluate(truth, y_pred=said, times=days)
    >>> print(evaluation.findings[-1].message)  # doctest: +NORMALIZE_WHITESPACE
    The detection rate differs between the 3 days by more than their rows explain, from 0 in
    2026-03-02 to 1 in 2026-03-01 (p < 0.0001). One number for all of them hides it, and its
    interval takes them as alike.
    """
    course = evaluation.over_time
    if course is None:
        return None
    binary = evaluation.positive is not None
    for measure in (RECALL, FALSE_POSITIVE_RATE) if binary else (ACCURACY,):
        trend = course[measure]
        if not trend.scatter_p < SMALL_P:
            continue
        ordered = sorted(zip(trend.estimates, trend.periods, strict=True))
        (low, first), (high, last) = ordered[0], max(ordered, key=lambda each: each[0])
        return (
            f"The {measure.title} differs between the {count(len(course.names))} {course.period}s "
            f"by more than their rows explain, from {rate(low)} in {first} to {rate(high)} in "
            f"{last} ({p_text(trend.scatter_p)}). One number for all of them hides it, and its "
            f"interval takes them as alike."
        )
    return None


CHECK = FindingCheck(
    code="E015",
    severity="warning",
    title="periods differ by more than chance",
    why="An interval of all rows holds sampling error alone. Where days or months differ of "
    "themselves, as attacks and traffic do, the next one may lie far outside of it.",
    remedy="Quote the measure of each period, and its range. Look at what was different in the "
    "worst one.",
    look=look,
)
