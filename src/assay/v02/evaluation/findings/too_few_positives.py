"""E009: too few rows of a class to know how well it is detected."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from assay.v02.evaluation.entries import per_label
from assay.v02.evaluation.findings.finding import FindingCheck
from assay.v02.evaluation.wording import name, some
from assay.v02.inference import Estimate
from assay.v02.measures import RECALL
from assay.v02.number_text import count, rate, rate_interval, rounded

if TYPE_CHECKING:
    from assay.v02.evaluation.evaluation import Evaluation

# Below this many rows a share moves by more than three points with a single row.
FEWEST_ROWS = 30
# An interval wider than this does not tell a good detector from a middling one.
WIDEST = 0.2


def look(evaluation: Evaluation) -> str | None:
    """Fewer than 30 positives, or a detection rate whose interval is wider than 0.2.

    For more than two classes, every class of which that is so. With sampling weights effective rows
    are counted.

    >>> import assay
    >>> evaluation = assay.evaluate_counts(tp=10, fp=40, fn=2, tn=9000, labels=["ok", "attack"])
    >>> print(evaluation.findings[0].message)  # doctest: +NORMALIZE_WHITESPACE
    Only 12 rows are 'attack', so the detection rate is 0.833 [0.552, 0.953]; about 48 would
    halve the width of that interval.
    """
    recalls = per_label(evaluation, RECALL)
    decided = dict(zip(evaluation.labels, evaluation.confusion.columns, strict=True))
    watched = evaluation.labels if evaluation.positive is None else evaluation.labels[1:]
    # A label that was only decided is another finding.
    by_threshold = evaluation.tally.threshold is not None
    short = [
        label
        for label in watched
        if _scarce(recalls[label])
        and (by_threshold or not (math.isnan(recalls[label]) and decided[label]))
    ]
    if not short:
        return None
    if evaluation.positive is None:
        return _classes(short, recalls)
    positive, recall = name(short[0]), recalls[short[0]]
    if math.isnan(recall):
        return (
            f"No row is {positive}: detection rate, AUC and FAR say nothing. Test on attacks too."
        )
    remedy = f"about {count(4 * round(recall.n))} would"
    if evaluation.tally.clusters is not None:
        remedy = "four times as many clusters would"
    return (
        f"Only {_amount(recall)} {positive}, so the detection rate is {rate_interval(recall)}; "
        f"{remedy} halve the width of that interval."
    )


def _scarce(recall: Estimate) -> bool:
    return math.isnan(recall) or recall.n < FEWEST_ROWS or recall.high - recall.low > WIDEST


def _amount(recall: Estimate) -> str:
    number = recall.n if isinstance(recall.n, int) else rounded(recall.n, 3)
    return f"{count(number)} {'row is' if number == 1 else 'rows are'}"


def _classes(short: list[str], recalls: dict[str, Estimate]) -> str:
    counts = [0 if math.isnan(recalls[label]) else recalls[label].n for label in short]
    shown = [f"{name(label)} ({count(n)})" for label, n in zip(short, counts, strict=True)]
    widths = [recalls[label].high - recalls[label].low for label in short]
    defined = [width for width in widths if not math.isnan(width)]
    worst = f", their detection rates as uncertain as {rate(max(defined))} wide" if defined else ""
    return (
        f"Few rows are {some(shown)}{worst}. Four times as many would halve the width of an "
        f"interval."
    )


CHECK = FindingCheck(
    code="E009",
    severity="warning",
    title="too few positives",
    why="The detection rate is a share of the positives alone. However large the test set is, a "
    "handful of attacks can't tell 80% from 95%.",
    remedy="Label more rows of that class; the interval halves with four times as many. Until then "
    "quote the interval, not the value.",
    look=look,
    of_decisions=True,
)
