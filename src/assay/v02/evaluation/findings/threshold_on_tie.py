"""E006: many rows have exactly the score at which alarms begin."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from assay.v02.escaping import plural
from assay.v02.evaluation.findings.finding import FindingCheck
from assay.v02.number_text import count, rate, rows

if TYPE_CHECKING:
    from assay.v02.evaluation.evaluation import Evaluation

# A change of the alerts that shows in precision and in a day's work.
NOTABLE_SHARE = 0.05
# So few rows may meet the threshold by accident.
FEWEST_ROWS = 5


def look(evaluation: Evaluation) -> str | None:
    """Rows whose score is the threshold, at least five of them and more than 5% of the alerts.

    >>> import assay
    >>> truth, score = [0, 0, 0, 1] * 50, [0.1, 0.2, 0.5, 0.9] * 50
    >>> evaluation = assay.evaluate(truth, y_score=score)
    >>> print(evaluation.findings[0].message)  # doctest: +NORMALIZE_WHITESPACE
    50 rows have exactly the threshold's score, 0.5: flagging from it on raises 100 alerts,
    flagging above it 50. Move the threshold off the tie, or give scores with more digits.
    """
    tables, threshold = evaluation.tally.scores, evaluation.tally.threshold
    if tables is None or threshold is None or evaluation.positive is None:
        return None
    table = tables[0]
    # In the type of the scores, so that they are not copied.
    at = int(np.searchsorted(table.scores, table.scores.dtype.type(threshold)))
    if at == table.size or float(table.scores[at]) != threshold:
        return None
    if not table.tied()[at]:
        return None
    tied = sum(share.item() for share in table.counts[:, at])
    squares = tied if table.squares is None else float(table.squares[:, at].sum())
    alerts = evaluation.confusion.columns[1]
    if tied**2 < FEWEST_ROWS * squares or tied <= NOTABLE_SHARE * alerts:
        return None
    return (
        f"{rows(tied)} have exactly the threshold's score, {rate(threshold)}: flagging from it on "
        f"raises {count(alerts)} {plural(alerts, 'alert', 'alerts')}, flagging above it "
        f"{count(max(alerts - tied, 0))}. Move "
        f"the threshold off the tie, or give scores with more digits."
    )


CHECK = FindingCheck(
    code="E006",
    severity="warning",
    title="threshold on a tie",
    why="Here a row is flagged from the threshold on; elsewhere it may be flagged only above it. "
    "On a tie the two give different detectors, and so do two ways to write the same score.",
    remedy="Choose a threshold between two scores, and write down the rule with it.",
    look=look,
    unless=("E003",),
)
