"""The curves of an evaluation."""

import numpy as np
import pytest
from sklearn.metrics import precision_recall_curve, roc_curve

from assay import Evaluation, evaluate
from assay.errors import MethodError, UnknownMeasure


def rows(size: int = 200) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(3)
    truth = (generator.random(size) < 0.4).astype(int)
    return truth, np.round(np.clip(truth * 0.3 + generator.random(size) * 0.7, 0, 1), 2)


@pytest.fixture
def evaluation() -> Evaluation:
    truth, scores = rows()
    return evaluate(truth, y_score=scores)


def test_roc_is_that_of_scikit_learn(evaluation: Evaluation) -> None:
    fpr, tpr, thresholds = roc_curve(*rows(), drop_intermediate=False)
    curve = evaluation.curves.roc()
    np.testing.assert_allclose(curve["false_positive_rate"], fpr)
    np.testing.assert_allclose(curve["recall"], tpr)
    np.testing.assert_array_equal(curve["threshold"], thresholds)


def test_precision_recall_is_that_of_scikit_learn(evaluation: Evaluation) -> None:
    precision, recall, thresholds = precision_recall_curve(*rows())
    curve = evaluation.curves.precision_recall()
    np.testing.assert_allclose(curve["precision"][::-1], precision[:-1])
    np.testing.assert_allclose(curve["recall"][::-1], recall[:-1])
    np.testing.assert_array_equal(curve["threshold"][::-1], thresholds)


def test_far_dr_starts_at_the_first_alert(evaluation: Evaluation) -> None:
    curve = evaluation.curves.far_dr()
    precision = evaluation.curves.precision_recall()
    np.testing.assert_allclose(curve["false_discovery_rate"], 1 - precision["precision"])
    np.testing.assert_array_equal(curve["recall"], precision["recall"])
    assert np.isfinite(curve["threshold"]).all()


@pytest.mark.parametrize("name", ["mcc", "f1", "detection_rate", "accuracy"])
def test_any_count_measure_against_the_threshold(evaluation: Evaluation, name: str) -> None:
    truth, scores = rows()
    curve = evaluation.curves.measure(name)
    at = len(curve) // 3
    here = evaluate(truth, y_score=scores, threshold=float(curve["threshold"][at]))
    assert curve[curve.y.name][at] == pytest.approx(float(here[name]))


def test_fewer_or_all_points_can_be_asked_for(evaluation: Evaluation) -> None:
    assert len(evaluation.curves.roc(points=20)) <= 20
    assert len(evaluation.curves.roc(points=None)) == len(set(rows()[1])) + 1
    assert evaluation.curves.roc()["recall"][-1] == 1.0


@pytest.mark.parametrize("name", ["roc", "precision_recall", "far_dr"])
def test_band_is_asked_for_by_its_level(evaluation: Evaluation, name: str) -> None:
    curve = getattr(evaluation.curves, name)(band=0.9)
    assert (curve["low"] <= curve["high"]).all()
    assert "low" not in getattr(evaluation.curves, name)().columns
    assert set(curve.to_frame().columns) == set(curve.columns)


def test_band_of_any_measure(evaluation: Evaluation) -> None:
    curve = evaluation.curves.measure("mcc", band=0.95)
    assert (curve["low"] <= curve["mcc"]).all()


def test_one_sweep_serves_all_curves(evaluation: Evaluation) -> None:
    assert evaluation.curves is evaluation.curves
    assert evaluation.curves.sweep is evaluation.curves.sweep
    assert evaluation.curves.sweep.threshold[0] == np.inf


def test_reliability_has_wilsons_interval(evaluation: Evaluation) -> None:
    truth, scores = rows()
    reliability = evaluation.curves.reliability()
    wider = evaluation.curves.reliability(level=0.999)
    assert (wider["low"] <= reliability["low"]).all()
    first = scores < 1 / 15
    assert reliability["n"][0] == first.sum() > 0
    assert reliability["predicted"][0] == pytest.approx(scores[first].mean())
    assert reliability["observed"][0] == pytest.approx(truth[first].mean())


@pytest.mark.parametrize("name", ["roc", "precision_recall", "far_dr"])
def test_decisions_alone_have_no_curves(name: str) -> None:
    evaluation = evaluate([0, 1, 1], y_pred=[0, 1, 0])
    with pytest.raises(MethodError, match="curves need scores of one positive label"):
        getattr(evaluation.curves, name)()


def test_probabilities_of_many_classes_have_no_curves() -> None:
    evaluation = evaluate(list("abc"), y_proba=np.eye(3))
    with pytest.raises(MethodError, match="one positive label"):
        evaluation.curves.roc()
    with pytest.raises(MethodError, match="one positive label"):
        evaluation.curves.reliability()


def test_scores_that_are_no_probabilities_have_no_reliability() -> None:
    with pytest.raises(MethodError, match="probability"):
        evaluate([0, 1], y_score=[-5, 5], threshold=0).curves.reliability()


def test_measure_of_scores_has_no_value_at_a_threshold(evaluation: Evaluation) -> None:
    with pytest.raises(MethodError, match="roc_auc has no value at a single threshold"):
        evaluation.curves.measure("roc_auc")
    with pytest.raises(UnknownMeasure):
        evaluation.curves.measure("nonsense")


@pytest.mark.parametrize("truth", [[1, 1, 1], [0, 0, 0]])
def test_one_class_alone_has_an_empty_roc(truth) -> None:
    evaluation = evaluate(truth, y_score=[0.1, 0.5, 0.9], labels=[0, 1])
    assert len(evaluation.curves.roc()) == 0
