"""E016: more alerts are to be read a day than there are rows, or fewer than the sample resolves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.v02.escaping import plural
from assay.v02.evaluation.findings.finding import FindingCheck
from assay.v02.number_text import count, rate, rows

if TYPE_CHECKING:
    from assay.v02.evaluation.evaluation import Evaluation

# With fewer rows of the sample at the top, its precision is that of single rows.
FEWEST_ROWS = 10


def look(evaluation: Evaluation) -> str | None:
    """Days that are read as a whole, or a top that is a handful of the sample's rows.

    >>> import assay
    >>> days = ["2026-03-01"] * 3 + ["2026-03-02"] * 9
    >>> truth, score = [0, 1, 1] * 4, [0.1, 0.9, 0.4] * 4
    >>> evaluation = assay.evaluate(truth, y_score=score, times=days, top=5)
    >>> print(evaluation.findings[-1].message)  # doctest: +NORMALIZE_WHITESPACE
    The top 5 alerts are all rows of 1 of 2 days, which have fewer: there the precision is the share
    of positives, whatever the scores.
    """
    top = evaluation.top
    if top is None:
        return None
    if top.short_days and top.days is not None:
        days = f"{count(top.short_days)} of {count(top.days)} days, which have"
        if top.days == 1:
            days = "the only day, which has"
        return (
            f"The top {count(top.k)} alerts are all rows of {days} fewer: there the precision is "
            f"the share of positives, whatever the scores."
        )
    if top.volume is None or (top.days is not None and not evaluation.base_rates):
        return None
    if top.k >= top.volume:
        return (
            f"The top {plural(top.k, 'alert is', f'{count(top.k)} alerts are')} all of the "
            f"{rows(top.volume)} of a day: the "
            f"precision is the share of positives, whatever the scores."
        )
    here = evaluation.tally.confusion.total * top.k / top.volume
    if here >= FEWEST_ROWS:
        return None
    return (
        f"{count(top.k)} of {rows(top.volume)} a day are as much as {rate(here)} of the "
        f"{rows(evaluation.tally.confusion.total)} of this test set: too few to tell how precise "
        f"they are."
    )


CHECK = FindingCheck(
    code="E016",
    severity="warning",
    title="the top alerts are all rows of a day, or too few of the test set",
    why="Precision among the top k tells how well scores rank only where k leaves rows out, and "
    "where the test set has rows enough above the threshold.",
    remedy="Ask for fewer alerts a day, or test on more rows: at least ten times as many as the "
    "volume divided by k.",
    look=look,
)
