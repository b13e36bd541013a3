"""E014: the probabilities are those of another class."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.v02.evaluation.entries import per_label
from assay.v02.evaluation.findings import inverted_labels
from assay.v02.evaluation.findings.finding import FindingCheck
from assay.v02.evaluation.findings.inverted_labels import reassigned
from assay.v02.evaluation.findings.nothing_learned import against_chance
from assay.v02.evaluation.wording import keeping, name
from assay.v02.measures import BRIER, PREVALENCE, ROC_AUC
from assay.v02.number_text import rate
from assay.v02.tally.blocks import map_blocks
from assay.v02.tally.keeping import Cuts

if TYPE_CHECKING:
    from assay.v02.evaluation.evaluation import Evaluation
    from assay.v02.tally import ScoreTally

Floats: TypeAlias = npt.NDArray[np.float64]


def look(evaluation: Evaluation) -> str | None:
    """Probabilities worse than chance that would be good ones of the other class.

    The interval of the AUC lies below 0.5, the Brier score is worse than that of always saying the
    prevalence, and that of 1 - p is better. For more than two classes: an AUC of a class below 0.5,
    and a permutation of the columns that gives the truth a much higher probability than chance
    could. E001 speaks beside it: of two classes nobody can tell the wrong column from wrong labels.

    >>> import assay
    >>> truth, score = [0, 0, 0, 1, 1] * 40, [0.9, 0.8, 0.7, 0.2, 0.1] * 40
    >>> evaluation = assay.evaluate(truth, y_score=score)
    >>> print(evaluation.findings[-1].message)  # doctest: +NORMALIZE_WHITESPACE
    As probabilities of '1' the scores have a Brier score of 0.678, as those of '0' it would be
    0.038: the column looks like that of '0'. Give the other column, or check which label is
    positive.
    """
    tables = evaluation.tally.scores
    if tables is None or evaluation.tally.kind != "probability":
        return None
    if isinstance(keeping(evaluation.tally), Cuts):
        return None
    return (
        _of_one_table(evaluation, tables[0])
        if len(tables) == 1
        else _of_many_tables(evaluation, tables)
    )


def _of_one_table(evaluation: Evaluation, table: ScoreTally) -> str | None:
    if not any(each.below for each in against_chance(evaluation)):
        return None
    brier, share = evaluation[BRIER], float(evaluation[PREVALENCE])
    of_negatives, of_positives = _means(table)
    # (1 - p - y)^2 differs from (p - y)^2 by 2p - 1 for positives and by 1 - 2p for negatives.
    turned = brier + share * (2 * of_positives - 1) + (1 - share) * (1 - 2 * of_negatives)
    if not turned < share * (1 - share) < brier:
        return None
    negative, positive = (name(label) for label in evaluation.labels)
    return (
        f"As probabilities of {positive} the scores have a Brier score of {rate(brier)}, as those "
        f"of {negative} it would be {rate(turned)}: the column looks like that of {negative}. Give "
        f"the other column, or check which label is positive."
    )


def _of_many_tables(evaluation: Evaluation, tables: tuple[ScoreTally, ...]) -> str | None:
    # Exchanged columns rank their own classes last; this spares most evaluations the search.
    if not any(auc < 0.5 for auc in per_label(evaluation, ROC_AUC).values()):
        return None
    shares = np.stack([_means(table) for table in tables], axis=1)
    exchange = reassigned(shares, evaluation.tally)
    if exchange is None:
        return None
    return (
        f"Columns of probabilities look exchanged: {exchange.text(evaluation.labels)}. Put right, "
        f"the mean probability of the truth would rise from {rate(exchange.before)} to "
        f"{rate(exchange.after)}: check the order of the columns."
    )


def _means(table: ScoreTally) -> Floats:
    """The mean score of the rows of each label; 0 for a label without rows."""
    scores = table.middles() if table.inexact else table.scores

    def work(i: int, j: int) -> Floats:
        counts = table.counts[:, i:j].astype(np.float64)
        return np.stack([counts.sum(axis=1), (counts * scores[i:j]).sum(axis=1)])

    rows, sums = np.sum(map_blocks(table.size, lambda: work), axis=0)
    return np.asarray(np.divide(sums, rows, out=np.zeros_like(sums), where=rows > 0))


CHECK = FindingCheck(
    code="E014",
    severity="warning",
    title="probability column of the wrong class",
    why="Libraries order the columns of predict_proba by sorted label, so that 'attack' comes "
    "before 'normal'; the last column is then that of the harmless class.",
    remedy="Take the column by the name of its class: list(model.classes_).index('attack'). Give "
    "all columns by label where there are more than two.",
    look=look,
    mistake=True,
    sure=inverted_labels.sure,
)
