"""The measures of the catalogue by scikit-learn, under the names of the catalogue."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn import metrics

# Of one label against the rest, from its precision or recall.
_PAIRS = {
    "false_negative_rate": "recall",
    "false_discovery_rate": "precision",
    "false_positive_rate": "specificity",
    "false_omission_rate": "negative_predictive_value",
}
_SCORES: dict[str, Callable[..., float]] = {
    "precision": metrics.precision_score,
    "recall": metrics.recall_score,
    "f1": metrics.f1_score,
    "f2": lambda *rows, **of: metrics.fbeta_score(*rows, beta=2, **of),
    "f0.5": lambda *rows, **of: metrics.fbeta_score(*rows, beta=0.5, **of),
    "jaccard": metrics.jaccard_score,
}


def of_label(truth: Any, decision: Any, label: Any) -> dict[str, float]:
    """The measures of one label against the rest; both sides must be there."""
    mine, said = truth == label, decision == label
    found = {name: score(mine, said, zero_division=np.nan) for name, score in _SCORES.items()}
    found["specificity"] = metrics.recall_score(mine, said, pos_label=False)
    found["negative_predictive_value"] = metrics.precision_score(mine, said, pos_label=False)
    found |= {name: 1 - found[other] for name, other in _PAIRS.items()}
    found["prevalence"], found["alert_rate"] = mine.mean(), said.mean()
    found["fowlkes_mallows"] = math.sqrt(found["precision"] * found["recall"])
    return found


def of_decisions(truth: Any, decision: Any) -> dict[str, float]:
    """The measures that no label is singled out for."""
    return {
        "accuracy": metrics.accuracy_score(truth, decision),
        "error_rate": metrics.zero_one_loss(truth, decision),
        "balanced_accuracy": metrics.balanced_accuracy_score(truth, decision),
        "mcc": metrics.matthews_corrcoef(truth, decision),
        "kappa": metrics.cohen_kappa_score(truth, decision),
    }


def averaged(truth: Any, decision: Any, average: str) -> dict[str, float]:
    """Averages over the classes; those that scikit-learn lacks are made from each class's value."""
    found = {
        name: score(truth, decision, average=average, zero_division=np.nan)
        for name, score in _SCORES.items()
    }
    return {f"{name}.{average}": value for name, value in found.items()}
