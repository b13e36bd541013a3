"""E021: the scores are row numbers, names of rows, or times."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

import numpy as np

from assay.v02.evaluation.findings.finding import FindingCheck
from assay.v02.evaluation.wording import name
from assay.v02.inference.estimation import effective_rows
from assay.v02.measures import ROC_AUC
from assay.v02.number_text import count
from assay.v02.tally.keeping import Exact

if TYPE_CHECKING:
    from assay.v02.evaluation.evaluation import Evaluation
    from assay.v02.tally import ScoreTally

# In fewer rows whole numbers in a run are no wonder.
_FEWEST_ROWS = 20
_NAMES = frozenset(
    {"id", "ids", "uid", "uuid", "guid", "index", "idx", "row", "rows", "rowid", "rownum", "line"}
    | {"unnamed", "number", "no", "nr", "key", "time", "timestamp", "ts", "date", "epoch", "port"}
)
_MEASURED = frozenset({"score", "prob", "proba", "probability", "risk", "pred", "p", "likelihood"})
# Of names of rows nearly all differ.
_MOST_DIFFER = 0.9
# Of few attacks an AUC far from 0.5 may be chance, or not.
_NEAR_CHANCE = 0.25
# Fewer rows of a class a good model ranks without an error too.
_FEWEST_SORTED = 10
# Seconds since 1970 of the years 1999 to 2039, and in thousandths of them and so on.
_SECONDS, _UNITS = (0.915e9, 2.2e9), (1.0, 1e3, 1e6, 1e9)


def look(evaluation: Evaluation) -> str | None:
    """Whole numbers that name rows, or moments in seconds, where scores should be.

    They are each number of a run once, and tell the labels apart not at all or without an error,
    as row numbers of a sorted file do; or their column is called id, index, row, time or alike,
    and nearly all differ; or all are seconds since 1970, of 1999 to 2039.

    >>> import assay
    >>> evaluation = assay.evaluate([0, 1, 1, 0] * 25, y_score=range(100))
    >>> print(evaluation.findings[0].message)  # doctest: +NORMALIZE_WHITESPACE
    The scores are the whole numbers from 0 to 99, each once, as row numbers are. Give the
    column that holds what the model said.
    """
    tables, total = evaluation.tally.scores, evaluation.tally.confusion.total
    if tables is None or evaluation.positive is None or evaluation.tally.confusion.weighted:
        return None
    if effective_rows(evaluation.tally.confusion) < _FEWEST_ROWS:
        return None
    table = tables[0]
    low, high = float(table.scores[0]), float(table.scores[-1])
    advice = "Give the column that holds what the model said."
    if low < high and any(_SECONDS[0] <= low / u and high / u <= _SECONDS[1] for u in _UNITS):
        return f"The scores lie between {count(low)} and {count(high)}, as moments do. {advice}"
    column = evaluation.source.get("chosen", {}).get("score")
    if table.kept != Exact() or not (low.is_integer() and high.is_integer()):
        return None
    differ = table.size >= _MOST_DIFFER * total
    if column is not None and names_rows(column) and differ and _are_integers(table):
        return (
            f"Column {name(column)} was taken as the score, and holds {count(table.size)} whole "
            f"numbers for {count(total)} rows, as names of rows or moments do. {advice}"
        )
    run = table.size == total and high - low == total - 1 and _are_integers(table)
    if not run or not _tells_nothing(evaluation):
        return None
    return (
        f"The scores are the whole numbers from {count(low)} to {count(high)}, each once, as row "
        f"numbers are. {advice}"
    )


def names_rows(column: str) -> bool:
    """Whether a column is called as those are that name rows, or moments."""
    parts = re.findall(r"[A-Z]?[a-z]+|[A-Z]+", column) or [column]
    words = {part.lower() for part in parts}
    return bool(words & _NAMES) and not words & _MEASURED


def _are_integers(table: ScoreTally) -> bool:
    return bool(np.array_equal(table.scores, np.floor(table.scores)))


def _tells_nothing(evaluation: Evaluation) -> bool:
    """Whether they rank by chance or without an error; ranks that a model gave do neither.

    Ranks with 1 for the most suspicious row do neither too: those are turned round.
    """
    auc = evaluation[ROC_AUC]
    chance = auc.low <= 0.5 <= auc.high and abs(auc - 0.5) < _NEAR_CHANCE
    rows = evaluation.tally.confusion.rows
    sorted_file = float(auc) in (0.0, 1.0) and min(rows) >= _FEWEST_SORTED
    return not math.isnan(auc) and (sorted_file or chance)


CHECK = FindingCheck(
    code="E021",
    severity="warning",
    title="row numbers or times in the place of scores",
    why="What names a row tells nothing of what the model said. In a file that is sorted by label "
    "or time it even looks like a good detector, or like one that is turned round.",
    remedy="Name the column of scores. If the model did give ranks, they are scores: nothing else "
    "follows from this finding.",
    look=look,
    mistake=True,
)
