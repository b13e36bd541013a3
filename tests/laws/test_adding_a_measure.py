"""One declaration is enough: a new measure is everywhere, and under every law."""

from __future__ import annotations

import importlib.util
import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import ModuleType

import pytest

import assay
from assay.formula import FN, FP, TN, TP
from assay.measures import LOWER, Counts, Law, MeanLoss, Measure, Ranked, catalogue

from .faces import faces
from .statements import STATEMENTS, cases

CRITICAL_ERROR_RATE = Measure(
    name="critical_error_rate",
    group="rates",
    aliases=("cer",),
    formula=FN / (TP + TN + FP + FN),
    better=LOWER,
    range=(0, 1),
    reads="Of all rows, the share that were attacks and raised no alarm.",
    misleads="Small whenever attacks are rare, whether they are found or not.",
    reference="example of the contributor's guide",
    example=(Counts(tp=3, fp=1, fn=2, tn=4), Fraction(1, 5)),
)

CELLS = {"tp": 3, "fp": 1, "fn": 2, "tn": 4}
GENERATOR = Path(__file__).parents[2] / "docs" / "generate.py"


@pytest.fixture(autouse=True)
def _added(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalogue, "CATALOGUE", (*catalogue.CATALOGUE, CRITICAL_ERROR_RATE))


def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", GENERATOR)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_it_is_a_function_by_its_name_and_its_alias() -> None:
    assert assay.critical_error_rate(**CELLS).value == 0.2
    assert assay.cer(**CELLS).value == 0.2
    assert "critical_error_rate" in dir(assay)


def test_it_is_a_function_of_columns() -> None:
    critical_error_rate = assay.critical_error_rate(
        ["attack", "normal", "attack"], ["normal", "normal", "attack"]
    )
    assert critical_error_rate.value == pytest.approx(1 / 3)


def test_it_is_in_an_evaluation_with_its_interval() -> None:
    evaluation = assay.evaluate(["attack", "normal", "attack"], y_score=[0.9, 0.2, 0.4])
    critical_error_rate = evaluation["critical_error_rate"]
    assert critical_error_rate.value == pytest.approx(1 / 3)
    assert critical_error_rate.method == "wilson"
    assert 0 < critical_error_rate.low < critical_error_rate < critical_error_rate.high < 1


def test_it_is_in_the_document_once_for_each_way_to_read_it() -> None:
    evaluation = assay.evaluate_counts(**CELLS)
    pairs = [
        (entry["label"], entry["average"])
        for entry in evaluation.to_dict()["estimates"]
        if entry["measure"] == "critical_error_rate"
    ]
    averages = [(None, "macro"), (None, "micro"), (None, "weighted")]
    assert pairs == [("positive", None), ("negative", None), *averages]


def test_it_is_averaged_over_classes() -> None:
    evaluation = assay.evaluate_counts(matrix=[[4, 1, 0], [1, 3, 1], [0, 0, 5]])
    assert evaluation["critical_error_rate.macro"].value == pytest.approx((1 + 2 + 0) / 15 / 3)


def test_it_says_why_it_is_undefined() -> None:
    critical_error_rate = assay.critical_error_rate(tp=0, fp=0, fn=0, tn=0)
    assert math.isnan(critical_error_rate)
    assert critical_error_rate.undefined == "there are no rows (TP + TN + FP + FN = 0)"


def test_it_can_be_drawn_against_the_threshold() -> None:
    evaluation = assay.evaluate([1, 0, 1, 0], y_score=[0.9, 0.2, 0.4, 0.6])
    curve = evaluation.curves.measure("critical_error_rate")
    assert curve["critical_error_rate"].tolist() == [0.5, 0.25, 0.25, 0.0, 0.0]


def test_it_is_a_scorer_whose_less_is_more() -> None:
    class Never:
        classes_ = (0, 1)

        def predict(self, rows: list[int]) -> list[int]:
            return [0 for _ in rows]

    assert assay.scorer("critical_error_rate")(Never(), [0, 0], [0, 1]) == -0.5


def test_it_has_its_page_in_the_documentation() -> None:
    pages = generator().pages()
    text = "\n".join(text for name, text in pages.items() if "critical_error_rate" in name)
    for sentence in (
        CRITICAL_ERROR_RATE.reads,
        CRITICAL_ERROR_RATE.misleads,
        CRITICAL_ERROR_RATE.reference,
        "cer",
    ):
        assert sentence in text


def test_every_page_of_the_documentation_is_of_a_measure_or_lists_them() -> None:
    pages = generator().pages()
    for measure in catalogue.CATALOGUE:
        assert any(measure.name in text for text in pages.values()), measure.name


def test_it_is_under_every_law_that_is_for_formulas() -> None:
    run = [(law.name, face.how) for law, face in cases() if face.measure is CRITICAL_ERROR_RATE]
    ways = ["positive", "negative", "label", "macro", "micro", "weighted"]
    assert [face.how for face in faces(CRITICAL_ERROR_RATE)] == ways
    assert [how for name, how in run if name == "row_order"] == ways
    for law in Law:
        if law is not Law.SCORE_MAP:
            assert (f"{law.name.lower()}_fails", "positive") in run
            assert (f"{law.name.lower()}_holds", "positive") not in run


def with_laws(name: str, laws: tuple[Law, ...]) -> Measure:
    measure = catalogue.find(name)
    assert measure.of_scores is not None
    return replace(measure, of_scores=replace(measure.of_scores, invariant_under=laws))


@pytest.mark.parametrize("law", [law for law in Law if law is not Law.TRANSPOSE])
def test_a_law_declared_in_error_is_found(law: Law) -> None:
    wrong = with_laws("log_loss" if law is not Law.CLASS_SWAP else "average_precision", (law,))
    statement = next(s for s in STATEMENTS if s.name == f"{law.name.lower()}_holds")
    (face,) = (face for face in faces(wrong) if face.how == "positive")
    assert statement.reason(face) is None
    with pytest.raises(AssertionError):
        statement.check(face)


@pytest.mark.parametrize(
    ("name", "law"),
    [
        ("log_loss", Law.CLASS_SWAP),
        ("partial_auc", Law.PREVALENCE),
        ("average_precision", Law.TRUE_NEGATIVES),
        ("roc_auc", Law.SCORE_MAP),
        ("roc_auc_ovo", Law.PREVALENCE),
    ],
)
def test_a_forgotten_declaration_is_found(name: str, law: Law) -> None:
    declared = catalogue.find(name).invariant_under
    forgot = with_laws(name, tuple(other for other in declared if other is not law))
    statement = next(s for s in STATEMENTS if s.name == f"{law.name.lower()}_fails")
    face = faces(forgot)[0]
    assert statement.reason(face) is None
    with pytest.raises(AssertionError, match="declare the law"):
        statement.check(face)


def test_a_fast_value_or_variance_that_is_not_by_influence_is_found() -> None:
    law = next(s for s in STATEMENTS if s.name == "fast_is_by_influence")
    auc = catalogue.find("roc_auc")
    assert isinstance(auc.of_scores, Ranked)
    wrong = (
        replace(auc.of_scores, fast=lambda ranking: ranking.average_precision),
        replace(auc.of_scores, unbiased=False),
    )
    for declared in wrong:
        with pytest.raises(AssertionError):
            law.check(faces(replace(auc, of_scores=declared))[0])


def test_sums_that_are_not_of_the_loss_are_found() -> None:
    law = next(s for s in STATEMENTS if s.name == "sums_are_of_the_loss")
    log_loss, brier = (catalogue.find(name) for name in ("log_loss", "brier"))
    assert isinstance(log_loss.of_scores, MeanLoss)
    assert isinstance(brier.of_scores, MeanLoss)
    wrong = replace(log_loss.of_scores, sums=brier.of_scores.sums)
    with pytest.raises(AssertionError):
        law.check(faces(replace(log_loss, of_scores=wrong))[0])


def test_a_range_that_is_too_narrow_is_found() -> None:
    law = next(s for s in STATEMENTS if s.name == "within_range")
    with pytest.raises(AssertionError):
        law.check(faces(replace(CRITICAL_ERROR_RATE, range=(0, 0.5)))[0])
