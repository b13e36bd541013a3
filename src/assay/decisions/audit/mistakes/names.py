"""What measures are called in the names of mistakes and in sentences."""

from __future__ import annotations

from assay.decisions.audit.claim import Key
from assay.evaluation.words import name as quoted
from assay.measures import Measure
from assay.measures.titles import spoken

_SHORT = {
    "false_positive_rate": "fpr",
    "false_discovery_rate": "fdr",
    "false_negative_rate": "fnr",
    "negative_predictive_value": "npv",
    "roc_auc": "auc",
    "average_precision": "ap",
}


def slug(measure: Measure, average: str | None = None) -> str:
    """A measure as part of the name of a mistake.

    >>> from assay.measures import find
    >>> slug(find("fdr")), slug(find("g_mean")), slug(find("f1"), "macro")
    ('fdr', 'g-mean', 'macro-f1')
    """
    name = _SHORT.get(measure.name, measure.name.replace("_", "-"))
    return name if average is None else f"{average}-{name}"


def words(key: Key) -> str:
    """A measure as a sentence names it.

    >>> from assay.decisions.audit.claim import key_of
    >>> words(key_of("f1.macro")), words(key_of("fdr")), words(key_of("recall.A"))
    ('the macro F1', 'the false discovery rate', "the recall of 'A'")
    """
    name = spoken(key.measure.name)
    if key.average is not None:
        return f"the {key.average} {name}"
    return f"the {name}" if key.label is None else f"the {name} of {quoted(key.label)}"
