"""E013: a label that was decided, though no row is of it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from assay.v02.evaluation.entries import per_label
from assay.v02.evaluation.findings.finding import FindingCheck
from assay.v02.evaluation.wording import name, some
from assay.v02.measures import F1
from assay.v02.number_text import rate, rows

if TYPE_CHECKING:
    from assay.v02.evaluation.evaluation import Evaluation


def look(evaluation: Evaluation) -> str | None:
    """A label that occurs among the decisions and not among the rows; it counts as a class.

    >>> import assay
    >>> evaluation = assay.evaluate(["a", "b", "b", "a"], y_pred=["a", "b", "c", "a"])
    >>> print(evaluation.findings[-1].message)  # doctest: +NORMALIZE_WHITESPACE
    Decided, but no row is of it: 'c' (1 row). F1 averaged over classes is 0.556 with it and
    0.833 without. Check how the labels are spelt.
    """
    if evaluation.tally.threshold is not None:
        # Scores decide on the labels that were named; they bring none of their own.
        return None
    confusion = evaluation.confusion
    table = list(zip(evaluation.labels, confusion.rows, confusion.columns, strict=True))
    unseen = [
        f"{name(label)} ({rows(decided)})" for label, size, decided in table if decided and not size
    ]
    if not unseen:
        return None
    f1 = per_label(evaluation, F1)
    averaged = ""
    with_it = [float(f1[label]) for label, *_ in table]
    without = [float(f1[label]) for label, size, _ in table if size]
    if evaluation.positive is None and not math.isnan(sum(with_it)):
        averaged = (
            f" F1 averaged over classes is {rate(sum(with_it) / len(with_it))} with "
            f"{'it' if len(unseen) == 1 else 'them'} and "
            f"{rate(sum(without) / len(without))} without."
        )
    return (
        f"Decided, but no row is of it: {some(unseen)}.{averaged} Check how the labels are spelt."
    )


CHECK = FindingCheck(
    code="E013",
    severity="warning",
    title="a label seen only in decisions",
    why="It counts as a class with a detection rate that is undefined and an F1 of 0, which pulls "
    "averages over classes down. Often it is another spelling of a label.",
    remedy="Spell labels alike in both columns. If the class is real, test on rows of it.",
    look=look,
    of_decisions=True,
    on_alerts=True,
)
