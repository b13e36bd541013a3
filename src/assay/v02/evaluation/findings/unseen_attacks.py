"""E019: a stratum in which no attack was seen could hold many."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from assay.v02.evaluation.findings.finding import FindingCheck
from assay.v02.evaluation.wording import name
from assay.v02.number_text import count, rows

if TYPE_CHECKING:
    from assay.v02.evaluation.evaluation import Evaluation

# Of the attacks that were seen; fewer hardly move a detection rate.
SHARE = 0.1


def look(evaluation: Evaluation) -> str | None:
    """Rows below the threshold that stand for so many that an attack there is easily not drawn.

    >>> import assay
    >>> truth = ["attack"] * 100 + ["normal"] * 900
    >>> score, stratum = [0.9] * 100 + [0.1] * 900, ["top"] * 100 + ["rest"] * 900
    >>> weight = [1.0] * 100 + [20.0] * 900
    >>> columns = {"y_score": score, "sample_weight": weight, "strata": stratum}
    >>> evaluation = assay.evaluate(truth, **columns)
    >>> print(evaluation.findings[-1].message)  # doctest: +NORMALIZE_WHITESPACE
    None of 900 rows that were labelled in stratum 'rest' is 'attack', and each stands for 20: 74
    could be there unseen, beside 100 that were found or missed.
    """
    strata = evaluation.strata
    if strata is None or evaluation.positive is None:
        return None
    empty = strata.counts[:, 1].sum(axis=1) == 0
    if not empty.any():
        return None
    at = int((strata.weights * empty).argmax())
    weight, drawn = float(strata.weights[at]), float(strata.drawn[at])
    unseen = min(-math.log((1 - evaluation.level) / 2) * weight, round((weight - 1) * drawn))
    seen = float(evaluation.tally.confusion.rows[1])
    if not unseen or unseen < SHARE * seen:
        return None
    return (
        f"None of {rows(drawn)} that were labelled in stratum "
        f"{name(strata.names[at])} is {name(evaluation.positive)}, and each stands for "
        f"{count(round(weight, 1))}: {count(round(unseen))} could be there "
        f"unseen, beside {count(round(seen))} that were found or missed."
    )


CHECK = FindingCheck(
    code="E019",
    severity="info",
    title="a stratum without an attack could hold many",
    why="Rows of a large weight are few, so that attacks among the rows they stand for are easily "
    "not drawn. The interval of the detection rate allows for them, which makes it wide.",
    remedy="Label more rows of that stratum: its weight, and the bound with it, falls as their "
    "number grows. assay plan --recall-width says how many labels it takes in all.",
    look=look,
    of_decisions=True,
)
