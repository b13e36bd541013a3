"""E005: many rows sit at the very end of the scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.v02.evaluation.findings.finding import FindingCheck
from assay.v02.evaluation.wording import name
from assay.v02.number_text import rate, rate_percent, rows

if TYPE_CHECKING:
    from assay.v02.evaluation.evaluation import Evaluation

# So much of a class at one end is out of reach of any threshold.
LARGE_SHARE = 0.1
# An end that is saturated holds many times what the average score holds; a coarse scale does not.
TIMES_THE_AVERAGE = 10
# Fewer false alarms at the top are the resolution of the test set, not of the scores.
FEWEST_FALSE_ALARMS = 5


def look(evaluation: Evaluation) -> str | None:
    """One score at the end that holds more than 10% of a class, and ten times the average score.

    At the top it has to hold five negatives at least, at the bottom 10% of the positives: there it
    limits which rates can be had. Of two classes only.

    >>> import assay
    >>> truth = [1] * 100 + [0] * 900
    >>> score = [1.0] * 80 + [0.9] * 20 + [1.0] * 40 + [i / 1000 for i in range(860)]
    >>> evaluation = assay.evaluate(truth, y_score=score)
    >>> print(evaluation.findings[1].message)  # doctest: +NORMALIZE_WHITESPACE
    80% of '1' and 40 rows of '0' have the highest score, 1: no threshold that flags anything
    has a false positive rate below 0.0444. Give the scores before they are clipped or rounded.
    """
    tables = evaluation.tally.scores
    if tables is None or evaluation.positive is None:
        return None
    table = tables[0]
    negatives, positives = evaluation.tally.confusion.rows
    if not (negatives and positives):
        return None
    negative, positive = (name(label) for label in evaluation.labels)
    heavy = TIMES_THE_AVERAGE * evaluation.tally.confusion.total / table.size
    sentences = []
    at_top, hits = (share.item() for share in table.counts[:, -1])
    large = max(at_top / negatives, hits / positives) > LARGE_SHARE
    squares = at_top if table.squares is None else table.squares[0, -1].item()
    enough = at_top**2 >= FEWEST_FALSE_ALARMS * squares > 0
    if large and enough and at_top + hits > heavy and table.tied()[-1]:
        sentences.append(
            f"{rate_percent(hits / positives)} of {positive} and {rows(at_top)} of {negative} have "
            f"the highest score, {rate(table.scores[-1])}: no threshold that flags anything has a "
            f"false positive rate below {rate(at_top / negatives)}"
        )
    at_bottom, missed = (share.item() for share in table.counts[:, 0])
    low = missed / positives > LARGE_SHARE and at_bottom + missed > heavy
    if low and table.tied()[0]:
        sentences.append(
            f"{rate_percent(missed / positives)} of {positive} have the lowest score, "
            f"{rate(table.scores[0])}: no threshold short of flagging every row detects more than "
            f"{rate_percent(1 - missed / positives)}"
        )
    return (
        f"{'; '.join(sentences)}. Give the scores before they are clipped or rounded."
        if sentences
        else None
    )


CHECK = FindingCheck(
    code="E005",
    severity="warning",
    title="saturated scores",
    why="No threshold parts rows with the same score. Where alarms have to be rare, the threshold "
    "is wanted at the top of the scores, which is just where saturated ones can't be resolved.",
    remedy="Use the logits or raw scores, or compute in float64: a sigmoid in float32 is exactly 1 "
    "from 17 on. Clip nothing.",
    look=look,
    unless=("E003",),
)
