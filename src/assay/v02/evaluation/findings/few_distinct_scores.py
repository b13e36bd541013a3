"""E004: so many rows share a score that the ranking depends on how ties are broken."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.v02.evaluation.entries import per_label
from assay.v02.evaluation.findings.finding import FindingCheck
from assay.v02.evaluation.wording import keeping, name
from assay.v02.measures import ROC_AUC
from assay.v02.number_text import count, fixed, rows
from assay.v02.tally import ScoreTally
from assay.v02.tally.blocks import map_blocks
from assay.v02.tally.keeping import Exact

if TYPE_CHECKING:
    from assay.v02.evaluation.evaluation import Evaluation

# AUCs are printed and compared to three digits.
LEAST_RANGE = 1e-3
# Ties that move the AUC by much less than its own uncertainty are no news.
SHARE_OF_WIDTH = 0.1


def look(evaluation: Evaluation) -> str | None:
    """Ties that could move the AUC by more than 0.001, and by more than a tenth of its interval.

    Its bounds are the AUC with every tie broken against the model, and for it.

    >>> import assay
    >>> truth, score = [0, 0, 0, 1] * 250, [0.1, 0.2, 0.6, 0.6] * 250
    >>> evaluation = assay.evaluate(truth, y_score=score)
    >>> print(evaluation.findings[0].message)  # doctest: +NORMALIZE_WHITESPACE
    1,000 rows share 3 distinct scores: as ties are broken, the AUC lies anywhere from 0.6667 to
    1.0000 (0.8333 with ties as halves). Give scores with all digits,
    or quote the bounds.
    """
    tables = evaluation.tally.scores
    if tables is None or keeping(evaluation.tally) != Exact():
        return None
    total = evaluation.tally.confusion.total
    if evaluation.positive is not None:
        rankings = [(tables[0], 1, evaluation[ROC_AUC], "")]
    else:
        aucs = per_label(evaluation, ROC_AUC)
        rankings = [
            (table, i, aucs[label], f" of {name(label)}")
            for i, (table, label) in enumerate(zip(tables, evaluation.labels, strict=True))
        ]
    ranges = [0.0 if math.isnan(auc) else _tied(table, i, total) for table, i, auc, _ in rankings]
    widest = int(np.argmax(ranges))
    (table, _, auc, of_label), reach = rankings[widest], ranges[widest]
    if reach <= LEAST_RANGE or reach <= SHARE_OF_WIDTH * (auc.high - auc.low):
        return None
    return (
        f"{rows(total)} share {count(table.size)} distinct score{'' if table.size == 1 else 's'}: "
        f"as ties are broken, the AUC{of_label} lies anywhere from {fixed(auc - reach / 2, 4)} to "
        f"{fixed(auc + reach / 2, 4)} ({fixed(auc, 4)} with ties as halves). Give scores with all "
        f"digits, or quote the bounds."
    )


def _tied(table: ScoreTally, label: int, total: Any) -> float:
    """The share of pairs of a row of the label and one of another that are tied."""
    if table.size == total:
        return 0.0

    def work(i: int, j: int) -> tuple[float, float, float]:
        counts = table.counts[:, i:j].astype(np.float64)
        positive = counts[label]
        # Not the sum of all less the positives: weights far apart would leave nothing.
        negative = np.delete(counts, label, axis=0).sum(axis=0)
        return float((negative * positive).sum()), float(negative.sum()), float(positive.sum())

    pairs, negatives, positives = np.sum(map_blocks(table.size, lambda: work), axis=0).tolist()
    return float(pairs / negatives / positives)


CHECK = FindingCheck(
    code="E004",
    severity="warning",
    title="few distinct scores",
    why="Rows with the same score can't be ranked, and no threshold parts them. Rounding to a few "
    "decimals or to half precision has been seen to move an AUC by 0.02 and more.",
    remedy="Write scores with all their digits, as 64-bit or 32-bit floats. Where the model itself "
    "knows only few scores, quote the bounds.",
    look=look,
    unless=("E003",),
)
