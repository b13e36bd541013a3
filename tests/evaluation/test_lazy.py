"""An estimate is computed when it is asked for, once; what is refused is refused at the call."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

import assay
from assay.errors import MethodError
from assay.evaluation.judge import Judge
from assay.measures import F1, PRECISION, RECALL, ROC_AUC

ESTIMATING = ("of_label", "of_classes", "averaged", "averaged_scores", "at_base_rate", "scored")
TRUTH = ["attack", "normal"] * 10
SCORES = np.linspace(0.05, 0.95, 20)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each measure was estimated."""
    calls: Counter[str] = Counter()

    def spied(name: str) -> Any:
        original = getattr(Judge, name)

        def estimating(judge: Judge, measure: Any, *rest: Any, **options: Any) -> Any:
            calls[measure.name] += 1
            return original(judge, measure, *rest, **options)

        return estimating

    for name in (*ESTIMATING, "of_slice"):
        monkeypatch.setattr(Judge, name, spied(name))
    return calls


def test_one_measure_is_all_that_is_estimated(asked: Counter[str]) -> None:
    evaluation = assay.evaluate(TRUTH, y_score=SCORES)
    assert evaluation["f1"] > 0
    assert asked == {F1.name: 1}


def test_a_measure_is_estimated_once(asked: Counter[str]) -> None:
    evaluation = assay.evaluate(TRUTH, y_score=SCORES)
    first = evaluation["auc"]
    assert evaluation["roc_auc"] is first
    assert evaluation[ROC_AUC] is first
    assert asked == {ROC_AUC.name: 1}


def test_counting_rows_never_ranks_them(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(tally: Any) -> Any:
        raise AssertionError("a measure of decisions needs no ranking")

    monkeypatch.setattr("assay.evaluation.judge.rank", never)
    assert assay.evaluate(TRUTH, y_score=SCORES)["recall.normal"] > 0


@pytest.mark.parametrize("classes", [2, 3])
def test_names_and_length_estimate_nothing(asked: Counter[str], classes: int) -> None:
    truth = [f"c{i % classes}" for i in range(30)]
    options: dict[str, Any] = {"positive": "c1", "base_rate": 0.01, "volume": 100}
    evaluation = assay.evaluate(
        truth,
        y_pred=truth[1:] + truth[:1],
        slices={"half": ["low"] * 15 + ["high"] * 15},
        **(options if classes == 2 else {}),
    )
    assert len(list(evaluation)) == len(evaluation) == len(evaluation.keys())
    assert "accuracy" in evaluation
    assert evaluation.entries
    assert evaluation.notes is not None
    assert not asked


def test_membership_estimates_what_is_asked_for_alone(asked: Counter[str]) -> None:
    evaluation = assay.evaluate(TRUTH, y_score=SCORES, base_rate=0.01)
    assert evaluation.at(0.01)["precision"] > 0
    assert asked == {PRECISION.name: 1}
    sliced = assay.evaluate(TRUTH, y_score=SCORES, slices={"half": ["low"] * 10 + ["high"] * 10})
    assert sliced.of_slice("half", "low")[RECALL] >= 0
    assert asked == {PRECISION.name: 1, RECALL.name: 1}


def test_a_document_estimates_every_entry_once(asked: Counter[str]) -> None:
    evaluation = assay.evaluate(TRUTH, y_score=SCORES)
    evaluation.to_dict()
    before = asked.copy()
    estimates = [entry.estimate for entry in evaluation.entries]
    assert asked == before
    assert len(estimates) == len(evaluation.to_dict()["estimates"])


def test_the_defined_classes_are_averaged_only_where_some_are_undefined() -> None:
    never_decided = assay.evaluate_counts(matrix=[[4, 0, 1], [2, 0, 3], [0, 0, 5]])
    assert "precision.macro_defined" in never_decided
    assert "recall.macro_defined" not in never_decided
    assert assay.evaluate_counts(tp=0, fp=0, fn=3, tn=4)["precision.macro_defined"] == 4 / 7


@pytest.mark.parametrize("slices", [None, {"one": ["a"] * 20}])
def test_weights_that_can_not_be_resampled_are_refused_at_the_call(slices: Any) -> None:
    weights = np.full(20, 0.5)
    with pytest.raises(MethodError, match=r"resampled.*use the delta method"):
        assay.evaluate(
            TRUTH, y_score=SCORES, sample_weight=weights, slices=slices, interval="bootstrap"
        )


def test_a_table_too_large_to_resample_is_refused_at_the_call() -> None:
    with pytest.raises(MethodError, match=r"too large to resample; use the delta method"):
        assay.evaluate_counts(tp=1 << 62, fp=1, fn=1, tn=1, interval="bootstrap")
