"""Every measure by scikit-learn, or from its numbers, under the names of the document.

What is undefined is nan.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from sklearn import metrics
from sklearn.preprocessing import label_binarize

NAN = math.nan
_SCORES = {
    "precision": partial(metrics.precision_score, zero_division=NAN),
    "recall": partial(metrics.recall_score, zero_division=NAN),
    "f1": partial(metrics.f1_score, zero_division=NAN),
    "f2": partial(metrics.fbeta_score, beta=2, zero_division=NAN),
    "f0.5": partial(metrics.fbeta_score, beta=0.5, zero_division=NAN),
    # Has no nan to give; it needs none while each label has rows.
    "jaccard": metrics.jaccard_score,
}
_RATES = (
    "specificity",
    "negative_predictive_value",
    "false_positive_rate",
    "false_negative_rate",
    "false_discovery_rate",
    "false_omission_rate",
    "fowlkes_mallows",
)
_AVERAGED = (*_SCORES, *_RATES)
_ONE_SIDED = (
    *_AVERAGED,
    "prevalence",
    "alert_rate",
    "positive_likelihood_ratio",
    "negative_likelihood_ratio",
)


def of_label(mine: Any, said: Any) -> dict[str, float]:
    """The measures of one label: whether a row has it, and whether it was said to."""
    scores = {name: score(mine, said) for name, score in _SCORES.items()}
    scores |= {
        "specificity": _share(~said[~mine]),
        "negative_predictive_value": _share(~mine[~said]),
        "false_positive_rate": _share(said[~mine]),
        "false_negative_rate": _share(~said[mine]),
        "false_discovery_rate": _share(~mine[said]),
        "false_omission_rate": _share(mine[~said]),
        "prevalence": _share(mine),
        "alert_rate": _share(said),
    }
    recall, precision = scores["recall"], scores["precision"]
    ratios = (
        _ratio(recall, scores["false_positive_rate"]),
        _ratio(scores["false_negative_rate"], scores["specificity"]),
    )
    scores["fowlkes_mallows"] = math.sqrt(precision * recall)
    scores["informedness"] = recall + scores["specificity"] - 1
    scores["markedness"] = precision + scores["negative_predictive_value"] - 1
    scores["positive_likelihood_ratio"], scores["negative_likelihood_ratio"] = ratios
    scores["diagnostic_odds_ratio"] = _ratio(*ratios)
    return scores


def of_decisions(truth: Any, decision: Any) -> dict[str, float]:
    """The measures of all classes together."""
    recalls = metrics.recall_score(truth, decision, average=None)
    return {
        "accuracy": metrics.accuracy_score(truth, decision),
        "error_rate": metrics.zero_one_loss(truth, decision),
        "balanced_accuracy": metrics.balanced_accuracy_score(truth, decision),
        "mcc": metrics.matthews_corrcoef(truth, decision),
        "kappa": metrics.cohen_kappa_score(truth, decision),
        "g_mean": float(np.prod(recalls)) ** (1 / len(recalls)),
    }


def averages(truth: Any, decision: Any, labels: Sequence[Any]) -> dict[str, float]:
    """Macro, micro and weighted: scikit-learn's where it has them, else from its parts."""
    each = [of_label(truth == label, decision == label) for label in labels]
    rows = [np.count_nonzero(truth == label) for label in labels]
    pooled = of_label(
        np.concatenate([truth == label for label in labels]),
        np.concatenate([decision == label for label in labels]),
    )
    means = {}
    for name in _AVERAGED:
        values = np.array([one[name] for one in each])
        means[f"{name}.macro"] = values.mean()
        means[f"{name}.weighted"] = np.average(values, weights=rows)
        means[f"{name}.micro"] = pooled[name]
        if np.isnan(values).any():
            means[f"{name}.macro_defined"] = np.nanmean(values)
    for name, score in _SCORES.items():
        means[f"{name}.micro"] = score(truth, decision, average="micro")
        # scikit-learn leaves a class without a value out; then the plain average has none here.
        if f"{name}.macro_defined" in means:
            means[f"{name}.macro_defined"] = score(truth, decision, average="macro")
        else:
            means[f"{name}.macro"] = score(truth, decision, average="macro")
            means[f"{name}.weighted"] = score(truth, decision, average="weighted")
    return means


def of_two(truth: Any, decision: Any) -> dict[str, float]:
    """The measures of a positive label, given as booleans."""
    return of_label(truth, decision) | of_decisions(truth, decision)


def of_two_and_scores(truth: Any, score: Any, negative: str) -> dict[str, float]:
    """All that is said of probabilities of a positive label at a threshold of 0.5."""
    decision = score >= 0.5
    other = of_label(~truth, ~decision)
    return {
        **of_two(truth, decision),
        **{f"{name}.{negative}": other[name] for name in _ONE_SIDED},
        **averages(truth, decision, [False, True]),
        "roc_auc": metrics.roc_auc_score(truth, score),
        "partial_auc": metrics.roc_auc_score(truth, score, max_fpr=0.1),
        "average_precision": metrics.average_precision_score(truth, score),
        "log_loss": metrics.log_loss(truth, score),
        "brier": metrics.brier_score_loss(truth, score),
        "expected_calibration_error": _calibration_error(truth, score),
    }


def of_many(truth: Any, probabilities: Any, labels: Sequence[str]) -> dict[str, float]:
    """All that is said of the probabilities of several classes, in the order of the labels."""
    decision = np.array(labels)[probabilities.argmax(axis=1)]
    values = of_decisions(truth, decision) | averages(truth, decision, labels)
    one_hot = label_binarize(truth, classes=labels)
    for i, label in enumerate(labels):
        one = of_label(truth == label, decision == label)
        one["roc_auc"] = metrics.roc_auc_score(one_hot[:, i], probabilities[:, i])
        one["average_precision"] = metrics.average_precision_score(
            one_hot[:, i], probabilities[:, i]
        )
        values |= {f"{name}.{label}": value for name, value in one.items()}
    for average in ("macro", "weighted"):
        values[f"roc_auc.{average}"] = metrics.roc_auc_score(
            truth, probabilities, multi_class="ovr", average=average, labels=labels
        )
        values[f"average_precision.{average}"] = metrics.average_precision_score(
            one_hot, probabilities, average=average
        )
    values["jaccard"] = metrics.jaccard_score(truth, decision, average="macro")
    values["roc_auc_ovo"] = metrics.roc_auc_score(
        truth, probabilities, multi_class="ovo", labels=labels
    )
    values["log_loss"] = metrics.log_loss(truth, probabilities, labels=labels)
    values["brier"] = metrics.brier_score_loss(
        truth, probabilities, labels=labels, scale_by_half=True
    )
    values["expected_calibration_error"] = NAN
    return values


def defined(values: Mapping[str, float]) -> dict[str, float]:
    """Those that have a value."""
    return {name: value for name, value in values.items() if not math.isnan(value)}


def _share(rows: Any) -> float:
    return float(rows.mean()) if len(rows) else NAN


def _ratio(top: float, bottom: float) -> float:
    return top / bottom if bottom else NAN


def _calibration_error(truth: Any, score: Any, bins: int = 15) -> float:
    """The distance of predicted and observed in bins that hold their lower edge."""
    at = np.digitize(score, np.arange(1, bins) / bins)
    gap = np.bincount(at, score) - np.bincount(at, truth)
    return float(np.abs(gap).sum() / len(score))
