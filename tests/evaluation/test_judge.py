"""Single estimates of a tally."""

import math
from dataclasses import replace

import pytest

from assay import Bootstrap, evaluate
from assay.errors import InputError, MethodError
from assay.evaluation import Judge
from assay.measures import find

SCORED = Judge(evaluate([0, 1, 1, 0], y_score=[0.1, 0.9, 0.4, 0.6]).tally)
DECIDED = Judge(evaluate([0, 1, 1, 0], y_pred=[0, 1, 0, 1]).tally)


def test_decisions_have_no_rankings_and_no_reliability() -> None:
    assert DECIDED.rankings is None
    assert DECIDED.reliability is None
    assert len(SCORED.rankings) == 1
    assert SCORED.reliability is not None


def test_measure_of_scores_has_no_value_for_a_label() -> None:
    with pytest.raises(MethodError, match="roc_auc is not a measure of decisions"):
        SCORED.of_label(find("roc_auc"), 1)


def test_measure_of_decisions_is_not_taken_for_one_of_scores() -> None:
    with pytest.raises(MethodError, match="recall is of decisions"):
        SCORED.scored(find("recall"))


@pytest.mark.parametrize("name", ["log_loss", "brier", "expected_calibration_error", "recall"])
def test_what_is_no_ranking_is_not_averaged_as_one(name: str) -> None:
    judge = Judge(
        evaluate([0, 1, 2], y_proba=[[0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.1, 0.1, 0.8]]).tally
    )
    with pytest.raises(MethodError, match=f"{name} has no average"):
        judge.averaged_scores(find(name), "macro")


def test_mean_loss_without_sums_is_of_two_classes() -> None:
    declared = replace(find("brier").of_scores, sums=None)
    loss = replace(find("brier"), name="quadratic", aliases=(), of_scores=declared)
    assert SCORED.scored(loss) == pytest.approx(float(SCORED.scored(find("brier"))))
    three = Judge(
        evaluate([0, 1, 2], y_proba=[[0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.1, 0.1, 0.8]]).tally
    )
    assert "one positive label" in three.scored(loss).undefined


def test_one_sided_measure_has_no_value_for_all_classes() -> None:
    with pytest.raises(InputError, match=r"precision is of one label.*precision\.macro"):
        SCORED.of_classes(find("precision"))


@pytest.mark.parametrize("method", [None, Bootstrap(resamples=20)])
@pytest.mark.parametrize(
    "name", ["roc_auc", "partial_auc", "average_precision", "log_loss", "brier"]
)
def test_one_cluster_has_no_interval_of_scores_and_says_so(name: str, method) -> None:
    tally = evaluate([0, 1, 1, 0], y_score=[0.1, 0.9, 0.4, 0.6], clusters=["host"] * 4).tally
    estimate = Judge(tally, method=method).scored(find(name))
    assert not math.isnan(estimate)
    assert math.isnan(estimate.low)
    assert estimate.method == ""
    assert estimate.note.startswith("no interval")


@pytest.mark.parametrize("method", [None, Bootstrap(resamples=20)])
@pytest.mark.parametrize("name", ["recall", "mcc", "f1"])
def test_one_cluster_has_no_interval_of_decisions_and_says_so(name: str, method) -> None:
    tally = evaluate([0, 1, 1, 0], y_pred=[0, 1, 0, 1], clusters=["host"] * 4).tally
    estimate = Judge(tally, method=method).of_label(find(name), 1)
    assert not math.isnan(estimate)
    assert math.isnan(estimate.low)
    assert estimate.note.startswith("no interval")
