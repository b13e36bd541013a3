"""What measures, classes and amounts are called in a sentence or a heading."""

from __future__ import annotations

from assay.measures import Measure, find
from assay.measures.measure import spoken
from assay.report.names import name

_DAILY = {
    "alerts_per_day": "alerts a day",
    "false_alarms_per_day": "false alarms a day",
    "missed_per_day": "missed a day",
    "precision_at_top": "precision among the top alerts",
    "recall_at_top": "detection rate among the top alerts",
}
_AVERAGES = {
    "macro": "macro",
    "macro_defined": "macro over the classes that have a value",
    "micro": "micro",
    "weighted": "weighted",
}
# How a row of the usual positive labels is called; any other is a row that "is" its label.
_POSITIVES = {
    "attack": "attacks",
    "malicious": "malicious rows",
    "malware": "malware",
    "anomaly": "anomalies",
    "intrusion": "intrusions",
    "spam": "spam",
    "phishing": "phishing",
    "ddos": "DDoS",
    "fraud": "fraud",
}


def matrix_caption(*, weighted: bool) -> str:
    """How a confusion matrix is to be read."""
    return f"Rows are the truth, columns the decision{'; sums of weights' if weighted else ''}"


def measure_name(measure: Measure | str, average: str | None = None) -> str:
    """A measure as a heading calls it.

    >>> measure_name("recall"), measure_name("recall", "macro"), measure_name("f0.5")
    ('detection rate (recall)', 'recall, macro', 'F0.5')
    >>> measure_name("recall", "normal")  # of a label
    'recall, normal'
    """
    if isinstance(measure, str) and measure in _DAILY:
        return _DAILY[measure]
    declared = find(measure) if isinstance(measure, str) else measure
    if average is not None:
        # The words of the vocabulary are of attacks; an average is of any class.
        called = spoken(declared.name) if declared.aside else declared.title
        return f"{called}, {_AVERAGES.get(average, average)}"
    return f"{declared.title} ({declared.aside})" if declared.aside else declared.title


def positives(label: str) -> str:
    """The rows of the positive label, as a sentence calls them.

    >>> positives("attack"), positives("1"), positives("not normal")
    ('attacks', "rows that are '1'", "rows that are not 'normal'")
    """
    if label.startswith("not "):
        # What is not the one negative label, with its names as families.
        return f"rows that are not {quoted(label.removeprefix('not '))}"
    return _POSITIVES.get(label.lower(), f"rows that are {quoted(label)}")


def quoted(label: str) -> str:
    """A label in a sentence."""
    return f"'{name(label)}'"


def plural(number: float, one: str, many: str) -> str:
    """One or many of a thing."""
    return one if number == 1 else many
