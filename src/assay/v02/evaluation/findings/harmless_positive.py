"""E022: the positive label is a name of the harmless class."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.v02.evaluation.findings.finding import FindingCheck
from assay.v02.evaluation.wording import name
from assay.v02.sources.labelling import named_harmless

if TYPE_CHECKING:
    from assay.v02.evaluation.evaluation import Evaluation


def look(evaluation: Evaluation) -> str | None:
    """A positive such as 'normal', 'benign' or '0', beside another label that is none of them.

    >>> import assay
    >>> counts = {"tp": 90, "fp": 5, "fn": 10, "tn": 45}
    >>> evaluation = assay.evaluate_counts(**counts, labels=["attack", "normal"])
    >>> print(evaluation.findings[0].message)  # doctest: +NORMALIZE_WHITESPACE
    'normal' is taken as the alarm: the detection rate is that of 'normal', and false alarms are
    rows of 'attack'. Name 'attack' as the positive, if that is what is to be found.
    """
    if evaluation.positive is None:
        return None
    negative, positive = evaluation.labels
    if not named_harmless(positive, beside=negative):
        return None
    harmless, other = name(positive), name(negative)
    return (
        f"{harmless} is taken as the alarm: the detection rate is that of {harmless}, and false "
        f"alarms are rows of {other}. Name {other} as the positive, if that is what is to be found."
    )


CHECK = FindingCheck(
    code="E022",
    severity="warning",
    title="the positive label is a name of the harmless class",
    why="Detection rate, precision, false alarms and base rates are all those of the positive "
    "label. With the labels in each other's place they answer another question.",
    remedy="Name the label that should raise an alarm as the positive one.",
    look=look,
    on_alerts=True,
    mistake=True,
)
