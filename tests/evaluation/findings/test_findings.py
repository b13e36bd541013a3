"""All checks together: what holds of any evaluation, and that a good detector is left alone."""

import json
from dataclasses import asdict, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay import Evaluation, count, evaluate, evaluate_counts
from assay.evaluation.deployment import Unlabelled
from assay.evaluation.findings import CHECKS, findings_of

CODES = [check.code for check in CHECKS]
STEPS = 8


def test_codes_are_in_order_without_gap() -> None:
    assert [f"E{i:03}" for i in range(1, len(CHECKS) + 1)] == CODES


def test_a_check_gives_way_only_to_others_that_exist() -> None:
    for check in CHECKS:
        assert set(check.unless) <= set(CODES) - {check.code}


def test_a_check_that_gives_way_finds_it_all_the_same() -> None:
    truth, score = [0, 0, 0, 1, 1] * 40, [0.9, 0.8, 0.7, 0.2, 0.1] * 40
    evaluation = evaluate(truth, y_score=score)
    (majority,) = (check for check in CHECKS if check.code == "E008")
    assert majority(evaluation) is not None
    assert [finding.code for finding in evaluation.findings] == ["E001", "E014"]


def good(generator: np.random.Generator, size: int) -> Evaluation:
    """A calibrated detector with an AUC of about 0.97; one row in five is an attack."""
    strength = generator.normal(size=size) * 3 - 3
    chance = 1 / (1 + np.exp(-strength))
    truth = generator.random(size) < chance
    return evaluate(truth, y_score=chance)


@pytest.mark.slow
def test_a_good_detector_is_left_alone() -> None:
    generator = np.random.default_rng(7)
    draws = 60
    alarmed = 0
    for _ in range(draws):
        evaluation = good(generator, 5000)
        alarmed += any(finding.severity == "warning" for finding in evaluation.findings)
    assert evaluation["roc_auc"] > 0.9
    assert alarmed <= 0.05 * draws


def test_a_good_classifier_of_many_classes_is_left_alone() -> None:
    generator = np.random.default_rng(3)
    for _ in range(10):
        table = generator.dirichlet([0.2] * 5, 3000)
        truth = (table.cumsum(axis=1) < generator.random((3000, 1))).sum(axis=1).clip(0, 4)
        assert evaluate(truth, y_proba=table, labels=range(5)).findings == ()


def test_no_rows_give_no_finding() -> None:
    assert evaluate_counts(tp=0, fp=0, fn=0, tn=0).findings == ()


# -- any evaluation --------------------------------------------------------------------------------


@st.composite
def evaluations(draw: st.DrawFn) -> Evaluation:
    """Small ones of every shape: scores or decisions, weights, counts, clusters, base rates."""
    classes = draw(st.sampled_from([2, 2, 3, 5]))
    size = draw(st.integers(1, 40))
    column = lambda values: draw(st.lists(values, min_size=size, max_size=size))  # noqa: E731
    labels = [f"c{i}" for i in range(classes)]
    options: dict = {"labels": labels}
    truth = column(st.sampled_from(labels))
    if classes == 2:
        options["positive"] = "c1"
        options["base_rate"] = draw(st.sampled_from([None, 0.5, 1e-6, [0.1, 0.999]]))
    scored = draw(st.booleans())
    if not scored or draw(st.booleans()):
        options["y_pred"] = column(st.sampled_from(labels))
    if scored and classes == 2:
        scale = draw(st.sampled_from([1.0, -3.0, 1e300, 5e-324]))
        options["y_score"] = [step * scale / STEPS for step in column(st.integers(0, STEPS))]
        if "y_pred" not in options:
            options["threshold"] = draw(st.sampled_from([0.5, 0.0, 1.0, -7.0]))
    elif scored:
        parts = np.array([column(st.integers(0, 3)) for _ in labels], float).T
        parts[parts.sum(axis=1) == 0] = 1
        options["y_proba"] = parts / parts.sum(axis=1, keepdims=True)
    amounts = draw(st.sampled_from([None, "counts", "sample_weight"]))
    if amounts is not None:
        options[amounts] = column(st.sampled_from([1, 2, 50]))
    if draw(st.booleans()):
        options["clusters"] = column(st.sampled_from(["a", "b", "c"]))
    return evaluate(truth, **options)


@settings(max_examples=60)
@given(evaluations())
def test_any_evaluation_has_findings_in_order(evaluation: Evaluation) -> None:
    codes = [finding.code for finding in evaluation.findings]
    order = [
        (finding.severity == "info", not finding.mistake, finding.code)
        for finding in evaluation.findings
    ]
    assert order == sorted(set(order))
    assert set(codes) <= set(CODES)
    plain = [asdict(finding) for finding in evaluation.findings]
    assert json.loads(json.dumps(plain)) == plain
    for finding in evaluation.findings:
        assert "nan" not in finding.message
        assert finding.message.endswith(".")


@settings(max_examples=30)
@given(evaluations())
def test_rows_without_labels_leave_few_checks(evaluation: Evaluation) -> None:
    if evaluation.positive is None:
        return
    rest = Unlabelled(flagged=3, not_flagged=100)
    partly = Evaluation(evaluation.tally, unlabelled=rest)
    if not evaluation.confusion.weighted:
        assert {finding.code for finding in partly.findings} <= {"E003", "E013"}
    else:
        assert isinstance(findings_of(partly), tuple)


@pytest.mark.parametrize("label", ["<script>alert(1)</script>", "\u202eevil\n", "x" * 10_000, ""])
def test_hostile_labels_stay_short_and_on_one_line(label: str) -> None:
    matrix = [[0, 90, 0], [90, 0, 0], [0, 3, 0]]
    evaluation = evaluate_counts(matrix=matrix, labels=[label, "b", "c"])
    assert "E001" in {finding.code for finding in evaluation.findings}
    for finding in evaluation.findings:
        assert len(finding.message) < 600
        assert finding.message.isprintable()


def test_huge_counts_are_judged() -> None:
    evaluation = evaluate_counts(tp=10**18, fp=3, fn=10**17, tn=10**19)
    assert evaluation.findings == ()


def test_a_tally_without_its_rows_is_judged() -> None:
    tally = count([0, 1] * 50, y_score=np.linspace(0, 1, 100), clusters=np.arange(100) // 5)
    assert isinstance(Evaluation(replace(tally, sample=None)).findings, tuple)
