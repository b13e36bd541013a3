"""The same point values by scikit-learn: how long it takes, and whether they agree."""

from __future__ import annotations

import time
from collections.abc import Callable

from sklearn import metrics

import assay
from assay import Evaluation
from speed.rows import Rows

THRESHOLD = 0.5
NAMES = (
    "accuracy",
    "precision",
    "recall",
    "f1",
    "mcc",
    "kappa",
    "balanced_accuracy",
    "jaccard",
    "roc_auc",
    "partial_auc",
    "average_precision",
    "log_loss",
    "brier",
)


def by_assay(rows: Rows) -> Evaluation:
    """An evaluation that was asked for the same values, each with its interval."""
    evaluation = assay.evaluate(rows.truth, y_score=rows.scores)
    for name in NAMES:
        assert not evaluation[name].undefined
    return evaluation


def by_scikit_learn(rows: Rows) -> tuple[dict[str, float], float]:
    """The values by name, and the seconds that they took."""
    truth, scores = rows
    started = time.perf_counter()
    decision = scores >= THRESHOLD
    table = metrics.confusion_matrix(truth, decision)
    counted: dict[str, Callable[..., float]] = {
        "accuracy": metrics.accuracy_score,
        "precision": metrics.precision_score,
        "recall": metrics.recall_score,
        "f1": metrics.f1_score,
        "mcc": metrics.matthews_corrcoef,
        "kappa": metrics.cohen_kappa_score,
        "balanced_accuracy": metrics.balanced_accuracy_score,
        "jaccard": metrics.jaccard_score,
    }
    values = {name: float(function(truth, decision)) for name, function in counted.items()}
    values["roc_auc"] = float(metrics.roc_auc_score(truth, scores))
    values["partial_auc"] = float(metrics.roc_auc_score(truth, scores, max_fpr=0.1))
    values["average_precision"] = float(metrics.average_precision_score(truth, scores))
    values["log_loss"] = float(metrics.log_loss(truth, scores))
    values["brier"] = float(metrics.brier_score_loss(truth, scores))
    seconds = time.perf_counter() - started
    cells = zip(("TN", "FP", "FN", "TP"), table.ravel().tolist(), strict=True)
    return {**values, **dict(cells)}, seconds


def largest_difference(evaluation: Evaluation, theirs: dict[str, float]) -> tuple[float, str]:
    """The largest difference of any value, and whose it is."""
    cells = evaluation.confusion.one_versus_rest(1)
    ours = {name: cells[name] if name in cells else float(evaluation[name]) for name in theirs}
    worst = max(theirs, key=lambda name: abs(ours[name] - theirs[name]))
    return abs(ours[worst] - theirs[worst]), worst
