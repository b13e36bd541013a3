"""Where assay and scikit-learn differ on purpose: one table, both sides tested.

assay says nan with a reason where a ratio is 0/0; scikit-learn says 0.0, or nan, or leaves the
class out, each with or without a warning. Their side holds for scikit-learn from 1.9 on; when one
of these fails, scikit-learn has changed and the table wants an update.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import sklearn
import sklearn.metrics as sk
from sklearn.calibration import calibration_curve
from tests.laws.counted import counted, of_names

from assay.counts import ScoreCounts
from assay.inference import Estimate
from assay.measures.calibration import reliability
from assay.measures.curves import precision_recall, roc, sweep

MEASURED_WITH = (1, 9)
INSTALLED = tuple(int(part) for part in sklearn.__version__.split(".")[:2])

NAN = math.nan


@dataclass(frozen=True)
class Convention:
    """A case, what assay says and why, and what scikit-learn says."""

    case: str
    ours: Callable[[], Estimate]
    value: float
    reason: str | None
    theirs: Callable[[], float]
    their_value: float


def _named(name: str, truth: str, decisions: str) -> Callable[[], Estimate]:
    """An estimate of rows whose labels are single letters."""
    return lambda: of_names(truth, decisions)[name]


def _decided(name: str, truth: list[int], decision: list[int]) -> Callable[[], Estimate]:
    """An estimate of decisions, 0 or 1."""
    return lambda: counted("01", truth, decision)[name]


def _scored(name: str, truth: list[int], scores: Any, labels: str = "01") -> Callable[[], Estimate]:
    """An estimate of scores of the last label, or of probabilities of more."""
    return lambda: counted(labels, truth, scores=scores)[name]


TABLE = (
    Convention(
        "precision when nothing is flagged",
        _decided("precision", [0, 1, 1], [0, 0, 0]),
        NAN,
        "nothing was flagged",
        lambda: sk.precision_score([0, 1, 1], [0, 0, 0]),
        0.0,
    ),
    Convention(
        "recall without positives",
        _decided("recall", [0, 0], [0, 1]),
        NAN,
        "there are no positives",
        lambda: sk.recall_score([0, 0], [0, 1]),
        0.0,
    ),
    Convention(
        "F1 without positives and without alarms",
        _decided("f1", [0, 0], [0, 0]),
        NAN,
        "nothing was flagged and there are no positives",
        lambda: sk.f1_score([0, 0], [0, 0]),
        0.0,
    ),
    Convention(
        "F1 when positives are there and nothing is flagged is 0 for both",
        _decided("f1", [0, 1], [0, 0]),
        0.0,
        None,
        lambda: sk.f1_score([0, 1], [0, 0]),
        0.0,
    ),
    Convention(
        "Jaccard without positives and without alarms",
        _decided("jaccard", [0, 0], [0, 0]),
        NAN,
        "nothing was flagged and there are no positives",
        lambda: sk.jaccard_score([0, 0], [0, 0]),
        0.0,
    ),
    Convention(
        "MCC when there is one class, decided right",
        _decided("mcc", [1, 1], [1, 1]),
        NAN,
        "= 0",
        lambda: sk.matthews_corrcoef([1, 1], [1, 1]),
        0.0,
    ),
    Convention(
        "MCC of a constant decision",
        _decided("mcc", [1, 0], [1, 1]),
        NAN,
        "= 0",
        lambda: sk.matthews_corrcoef([1, 0], [1, 1]),
        0.0,
    ),
    Convention(
        "kappa of one class is undefined for both",
        _decided("kappa", [1, 1], [1, 1]),
        NAN,
        "= 0",
        lambda: sk.cohen_kappa_score([1, 1], [1, 1]),
        NAN,
    ),
    Convention(
        "balanced accuracy with a class that is only decided, never true",
        _named("balanced_accuracy", "aab", "abc"),
        NAN,
        "class 'c' has no rows",
        lambda: sk.balanced_accuracy_score(list("aab"), list("abc")),
        0.25,
    ),
    Convention(
        "balanced accuracy of one class",
        _decided("balanced_accuracy", [1, 1], [1, 0]),
        NAN,
        "there are no negatives",
        lambda: sk.balanced_accuracy_score([1, 1], [1, 0]),
        0.5,
    ),
    Convention(
        "macro recall with a class without rows",
        _named("recall.macro", "aabb", "aabc"),
        NAN,
        "class 'c' has no rows",
        lambda: sk.recall_score(list("aabb"), list("aabc"), average="macro"),
        0.5,
    ),
    Convention(
        "macro recall over the classes that have one",
        _named("recall.macro_defined", "aabb", "aabc"),
        0.75,
        None,
        lambda: sk.recall_score(list("aabb"), list("aabc"), average="macro", labels=["a", "b"]),
        0.75,
    ),
    Convention(
        "weighted recall gives a class without rows no weight, as both do",
        _named("recall.weighted", "aabb", "aabc"),
        0.75,
        None,
        lambda: sk.recall_score(list("aabb"), list("aabc"), average="weighted"),
        0.75,
    ),
    Convention(
        "macro precision with a class that was never decided",
        _named("precision.macro", "aabbc", "aabba"),
        NAN,
        "class 'c' was never decided",
        lambda: sk.precision_score(list("aabbc"), list("aabba"), average="macro"),
        5 / 9,
    ),
    Convention(
        "weighted precision with a class that was never decided",
        _named("precision.weighted", "aabbc", "aabba"),
        NAN,
        "class 'c' was never decided",
        lambda: sk.precision_score(list("aabbc"), list("aabba"), average="weighted"),
        2 / 3,
    ),
    Convention(
        "macro F1 counts a label that is only decided as 0, as both do",
        _named("f1.macro", "aabb", "aabc"),
        5 / 9,
        None,
        lambda: sk.f1_score(list("aabb"), list("aabc"), average="macro"),
        5 / 9,
    ),
    Convention(
        "the positive likelihood ratio without false positives is undefined for both",
        _decided("positive_likelihood_ratio", [0, 0, 1, 1], [0, 0, 1, 0]),
        NAN,
        "there are no false positives",
        lambda: sk.class_likelihood_ratios([0, 0, 1, 1], [0, 0, 1, 0])[0],
        NAN,
    ),
    Convention(
        "the negative likelihood ratio without true negatives is undefined for both",
        _decided("negative_likelihood_ratio", [0, 0, 1, 1], [1, 1, 1, 0]),
        NAN,
        "there are no true negatives",
        lambda: sk.class_likelihood_ratios([0, 0, 1, 1], [1, 1, 1, 0])[1],
        NAN,
    ),
    Convention(
        "average precision without positives",
        _scored("average_precision", [0, 0], [0.1, 0.2]),
        NAN,
        "there are no positives",
        lambda: sk.average_precision_score([0, 0], [0.1, 0.2]),
        0.0,
    ),
    Convention(
        "average precision without negatives is 1 for both",
        _scored("average_precision", [1, 1], [0.1, 0.2]),
        1.0,
        None,
        lambda: sk.average_precision_score([1, 1], [0.1, 0.2]),
        1.0,
    ),
    Convention(
        "AUC of one class is undefined for both",
        _scored("roc_auc", [1, 1], [0.1, 0.2]),
        NAN,
        "there are no negatives",
        lambda: sk.roc_auc_score([1, 1], [0.1, 0.2]),
        NAN,
    ),
    Convention(
        "the mean AUC over pairs with a class that has no rows",
        _scored("roc_auc_ovo", [0, 0, 1, 1], np.full((4, 3), 1 / 3), "abc"),
        NAN,
        "a class has no rows",
        lambda: sk.roc_auc_score(
            [0, 0, 1, 1], np.full((4, 3), 1 / 3), multi_class="ovo", labels=[0, 1, 2]
        ),
        0.5,
    ),
    Convention(
        "log loss of one class needs no list of labels",
        _scored("log_loss", [1, 1], [0.5, 0.25]),
        1.5 * math.log(2),
        None,
        lambda: sk.log_loss([1, 1], [0.5, 0.25], labels=[0, 1]),
        1.5 * math.log(2),
    ),
    Convention(
        "log loss of a wrong certainty, in float32",
        _scored("log_loss", [0, 1], np.array([1, 1], np.float32)),
        26 * math.log(2),
        None,
        lambda: sk.log_loss([0, 1], np.array([1, 1], np.float32)),
        11.5 * math.log(2),
    ),
    Convention(
        "the Brier score of three classes, all decided wrong with certainty",
        _scored("brier", [0, 1, 2], np.eye(3)[[1, 2, 0]], "abc"),
        1.0,
        None,
        lambda: sk.brier_score_loss(["a", "b", "c"], np.eye(3)[[1, 2, 0]]),
        2.0,
    ),
)


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.case)
def test_ours_is_the_documented_convention(row: Convention) -> None:
    value = row.ours()
    if math.isnan(row.value):
        assert math.isnan(value)
        assert row.reason is not None
        assert row.reason in (value.undefined or "")
        assert math.isnan(value.low)
        assert math.isnan(value.high)
    else:
        assert value.value == pytest.approx(row.value, rel=1e-12)
        assert value.undefined is None


@pytest.mark.skipif(INSTALLED < MEASURED_WITH, reason="measured with scikit-learn 1.9")
@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.case)
def test_theirs_is_what_the_table_says(row: Convention) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value = row.theirs()
    assert value == pytest.approx(row.their_value, rel=1e-6, nan_ok=True)


# -- conventions that are not single numbers -------------------------------------------------------


def _table(truth: list[int], scores: list[float]) -> ScoreCounts:
    return ScoreCounts.of_rows("01", np.array(scores), np.array(truth))


def test_a_score_on_an_edge_belongs_to_the_upper_bin_here_and_to_the_lower_one_there() -> None:
    truth, score = [0, 0, 1, 1], [0.14, 0.2, 0.2, 0.25]
    observed, predicted = calibration_curve(truth, score, n_bins=15)
    assert observed.tolist() == [1 / 3, 1]
    assert predicted.tolist() == pytest.approx([0.18, 0.25])
    ours = reliability(_table(truth, score))
    assert ours.observed.tolist() == [0, 2 / 3]
    assert ours.predicted.tolist() == pytest.approx([0.14, 0.65 / 3])


def test_our_precision_recall_curve_has_no_point_without_alerts() -> None:
    """scikit-learn appends precision 1 at recall 0, though nothing is flagged there: 0/0."""
    truth, score = [0, 1, 0, 1], [0.9, 0.8, 0.3, 0.6]
    ours = precision_recall(sweep(_table(truth, score), points=None))
    precision, recall, thresholds = sk.precision_recall_curve(truth, score)
    assert (precision[-1], recall[-1], len(precision)) == (1, 0, len(thresholds) + 1)
    assert ours["precision"][0] == 0
    assert len(ours) == len(thresholds)


def test_without_positives_neither_draws_a_roc_curve() -> None:
    """scikit-learn's points have a detection rate of nan; ours are left out."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _, tpr, _ = sk.roc_curve([0, 0], [0.1, 0.2])
    assert np.isnan(tpr).all()
    assert len(roc(sweep(_table([0, 0], [0.1, 0.2]), points=None))) == 0


def test_scikit_learn_warns_of_0_over_0_and_we_give_the_reason() -> None:
    with pytest.warns(sklearn.exceptions.UndefinedMetricWarning, match="Precision is ill-defined"):
        sk.precision_score([0, 1], [0, 0])
    ours = counted("01", [0, 1], [0, 0])["precision"]
    assert ours.undefined == "nothing was flagged (TP + FP = 0)"
