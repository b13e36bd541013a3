"""What measures are called in headings and on axes."""

from __future__ import annotations

import re

# Where the words are not those of the name; two by the vocabulary.
_TITLES = {
    "recall": "detection rate",
    "false_discovery_rate": "false alarm rate",
    "kappa": "Cohen's kappa",
    "g_mean": "G-mean",
    "jaccard": "Jaccard index",
    "fowlkes_mallows": "Fowlkes-Mallows index",
    "roc_auc_ovo": "ROC AUC, one versus one",
    "partial_auc": "partial ROC AUC (FPR up to 0.1)",
    "brier": "Brier score",
}
_CAPITALS = re.compile(r"\b(?:roc|auc|mcc|f\d[\d.]*)\b")


def title(name: str) -> str:
    """A measure in words.

    >>> title("recall"), title("mcc"), title("false_positive_rate"), title("f0.5")
    ('detection rate', 'MCC', 'false positive rate', 'F0.5')
    """
    return _TITLES.get(name) or spoken(name)


def spoken(name: str) -> str:
    """A name with blanks, and capitals where they are usual."""
    return _CAPITALS.sub(lambda found: found[0].upper(), name.replace("_", " "))
