"""A gate on evaluations says what they say, and of differences only what both together can."""

from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import assay
from assay.decisions.gate_inputs import NOT_MATCHED
from assay.errors import InputError, MethodError, UnknownMeasure


def rows(seed: int = 1, size: int = 600, lift: float = 0.3) -> dict[str, np.ndarray]:
    random = np.random.default_rng(seed)
    truth = random.random(size) < 0.3
    score = np.clip(random.normal(0.35, 0.15, size) + lift * truth, 0, 1)
    return {
        "truth": np.where(truth, "attack", "normal"),
        "score": score,
        "old": np.clip(score + random.normal(0, 0.1, size), 0, 1),
        "family": np.where(truth, random.choice(["dos", "scan"], size), "-"),
    }


@cache
def evaluation(**options: Any) -> assay.Evaluation:
    data = rows()
    return assay.evaluate(
        data["truth"], y_score=data["score"], slices={"family": data["family"]}, **options
    )


# -- one model -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "of"),
    [
        ("new(recall) >= 0.1", lambda e: e["recall"]),
        ("new(f1.macro) >= 0.1", lambda e: e["f1.macro"]),
        ("new(precision.normal) >= 0.1", lambda e: e["precision.normal"]),
        ("new(precision.attack) >= 0.1", lambda e: e["precision"]),
        ("new(roc_auc) > 0.1", lambda e: e["roc_auc"]),
        ("new(precision@base-rate=0.01) > 0.01", lambda e: e.at(0.01)["precision"]),
        ("new(dr@family=dos) > 0.1", lambda e: e.of_slice("family", "dos")["recall"]),
        ("new(recall@threshold=0.5) > 0.1", lambda e: e["recall"]),
    ],
)
def test_a_rule_has_the_estimate_of_the_evaluation(rule: str, of: Any) -> None:
    judged = assay.gate_evaluation(evaluation(), rules=rule).rules[0]
    estimate = of(evaluation())
    assert float(judged.estimate) == float(estimate)
    assert (judged.estimate.low, judged.estimate.high) == (estimate.low, estimate.high)


@pytest.mark.parametrize(
    "rule",
    [
        "new(recall) >= 0.5",
        "new(recall@threshold=0.7) >= 0.1",
        "new(recall@max-far=0.1) >= 0.1",
        "new(precision@max-fpr=0.05,base-rate=0.01) >= 0.1",
        "new(average_precision) >= 0.1",
        "new(false_alarms_per_day@volume=1000) <= 100",
        "new(alerts_per_day@volume=1000,base-rate=0.01) <= 100",
        "new(dr@family=*) >= 0.1",
    ],
)
def test_a_rule_comes_out_as_on_the_rows(rule: str) -> None:
    data = rows()
    families = data["family"] if "family" in rule else None
    on_rows = assay.gate(data["truth"], new=data["score"], families=families, rules=rule)
    judged = assay.gate_evaluation(evaluation(), rules=rule)
    assert repr(judged) == repr(on_rows)
    for mine, its in zip(judged.rules, on_rows.rules, strict=True):
        assert mine.estimate.low == its.estimate.low
        assert mine.thresholds == its.thresholds


def test_decisions_decide_where_scores_rank() -> None:
    data = rows()
    flagged = np.where(data["score"] >= 0.7, "attack", "normal")
    both = assay.evaluate(data["truth"], y_score=data["score"], y_pred=flagged)
    judged = assay.gate_evaluation(both, rules="new(recall) >= 0.01").rules[0]
    assert float(judged.estimate) == float(both["recall"])
    assert float(judged.estimate) != float(evaluation()["recall"])


def test_a_threshold_of_zero_is_the_evaluations_own() -> None:
    data = rows()
    shifted = assay.evaluate(
        data["truth"], y_score=data["score"] - 0.5, threshold=0.0, slices={"family": data["family"]}
    )
    judged = assay.gate_evaluation(shifted, rules="new(dr@threshold=0,family=dos) >= 0.1")
    assert float(judged.rules[0].estimate) == float(shifted.of_slice("family", "dos")["recall"])


def test_weights_and_clusters_are_those_of_the_evaluation() -> None:
    data = rows()
    weight = np.where(data["truth"] == "attack", 1.0, 20.0)
    hosts = np.arange(len(weight)) // 10
    for given_ in ({"sample_weight": weight}, {"clusters": hosts}):
        judging = assay.evaluate(data["truth"], y_score=data["score"], **given_)
        judged = assay.gate_evaluation(judging, rules="new(precision) >= 0.01").rules[0]
        assert (judged.estimate.low, judged.estimate.high) == (
            judging["precision"].low,
            judging["precision"].high,
        )
        with pytest.raises(MethodError, match=r"weights|clusters"):
            assay.gate_evaluation(judging, rules="new(precision@max-fpr=0.1) >= 0.01")


def test_what_is_undefined_is_undecided_with_the_reason() -> None:
    none = assay.evaluate(["attack", "normal"] * 20, y_score=[0.1] * 40)
    judged = assay.gate_evaluation(none, rules="new(precision) >= 0.5").rules[0]
    assert judged.outcome.value == "undecided"
    assert "no alarms" in judged.reason or "TP + FP" in judged.reason


# -- two models ------------------------------------------------------------------------------------


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10_000), measure=st.sampled_from(["recall", "fpr", "accuracy"]))
def test_a_difference_is_at_least_as_wide_as_on_matched_rows(seed: int, measure: str) -> None:
    data = rows(seed)
    new, old = (assay.evaluate(data["truth"], y_score=data[key]) for key in ("score", "old"))
    rule = f"new-old({measure}) >= -0.01"
    apart = assay.gate_evaluation(new, rules=rule, baseline=old).rules[0]
    matched = assay.gate(data["truth"], new=data["score"], old=data["old"], rules=rule).rules[0]
    assert float(apart.estimate) == pytest.approx(float(matched.estimate), abs=1e-12)
    assert apart.estimate.low <= matched.estimate.low + 1e-12
    assert apart.estimate.high >= matched.estimate.high - 1e-12


def test_it_is_said_that_rows_were_not_matched() -> None:
    data = rows()
    old = assay.evaluate(data["truth"], y_score=data["old"])
    judged = assay.gate_evaluation(
        evaluation(), rules=["new-old(f1) >= -0.5", "old(f1) >= 0.1"], baseline=old
    )
    assert NOT_MATCHED in judged.notes
    assert float(judged.rules[1].estimate) == float(old["f1"])
    assert judged.rules[0].new == float(evaluation()["f1"])


def test_other_rows_are_told_apart() -> None:
    data = rows(size=400)
    old = assay.evaluate(data["truth"], y_score=data["old"])
    judged = assay.gate_evaluation(evaluation(), rules="new-old(f1) >= -0.5", baseline=old)
    assert "evaluated on other rows" in judged.notes[-1]


# -- what is refused -------------------------------------------------------------------------------


def three() -> assay.Evaluation:
    return assay.evaluate(["a", "b", "c"] * 5, y_pred=["a", "b", "b"] * 5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rules": "new-old(f1) >= 0"}, "baseline="),
        ({"rules": []}, "needs a rule"),
        ({"rules": "new(dr@family=worm) > 0.1"}, "'worm'; there are -, dos, scan"),
        ({"rules": "new(dr@max-fpr=0.1,family=dos) > 0.1"}, "assay.gate"),
        ({"rules": "new(precision.normal@base-rate=0.1) > 0.2"}, "'normal'"),
        ({"rules": "new(f1) > 0", "baseline": evaluation(level=0.9)}, "same level="),
        ({"rules": "new(f1) > 0", "baseline": 3}, "found int"),
        ({"rules": "new(f1) > 0", "baseline": three()}, "3 classes"),
    ],
)
def test_what_can_not_be_judged_says_why(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        assay.gate_evaluation(evaluation(), **options)


def test_a_label_that_is_not_there_is_named() -> None:
    with pytest.raises(UnknownMeasure, match="worm"):
        assay.gate_evaluation(evaluation(), rules="new(precision.worm) > 0.1")


def test_families_and_all_scores_are_asked_for() -> None:
    data = rows()
    plain = assay.evaluate(data["truth"], y_score=data["score"])
    with pytest.raises(InputError, match="slices= and family="):
        assay.gate_evaluation(plain, rules="new(dr@family=*) > 0.1")
    grid = assay.evaluate(
        {"y": data["truth"], "s": data["score"]}, label="y", score="s", mode="grid"
    )
    with pytest.raises(MethodError, match="kept as grid"):
        assay.gate_evaluation(grid, rules="new(dr@max-fpr=0.1) > 0.1")
    flagged = assay.evaluate(data["truth"], y_pred=data["truth"])
    with pytest.raises(MethodError, match="no scores"):
        assay.gate_evaluation(flagged, rules="new(dr@max-fpr=0.1) > 0.1")
