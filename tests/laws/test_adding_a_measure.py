"""One declaration is enough: a new measure, of the guide or of any form, is under every law."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from assay.counts import ScoreCounts
from assay.formula import FN, FP, TN, TP
from assay.measures import (
    LOWER,
    NEITHER,
    Counts,
    Definition,
    Influence,
    Law,
    MeanLoss,
    Measure,
    Ranked,
    catalogue,
    ranking_measures,
    rates,
)
from assay.measures.curves import sweep, trace

from .counted import counted, of_cells, of_matrix
from .faces import faces
from .statements import STATEMENTS, Statement, cases

GUIDE = Path(__file__).parents[2] / "CONTRIBUTING.md"
_EXAMPLE = Counts(tp=3, fp=1, fn=2, tn=4)


def documented() -> list[Measure]:
    """The measures that the contributor's guide declares, from its own lines."""
    known = {**vars(rates), **vars(ranking_measures)}
    space = {**known, "Influence": Influence, "ScoreCounts": ScoreCounts}
    _, _, guide = GUIDE.read_text("utf-8").partition("## How to add a measure\n")
    for block in re.findall(r"```python\n(.*?)```", guide.partition("\n## ")[0], re.DOTALL):
        exec(block, space)
    return [each for name, each in space.items() if isinstance(each, Measure) and name not in known]


MISSED_SHARE = Measure(
    name="missed_share",
    group="rates",
    aliases=("missed",),
    formula=FN / (TP + TN + FP + FN),
    better=LOWER,
    range=(0, 1),
    reads="Of all rows, the share that were attacks and raised no alarm.",
    misleads="Small whenever attacks are rare, whether they are found or not.",
    reference="made up for this test",
    example=(_EXAMPLE, Fraction(1, 5)),
)

ALARM_ODDS = Measure(
    name="alarm_odds",
    group="agreement",
    aliases=("odds_of_alarms",),
    formula=FP / TP,
    better=LOWER,
    range=(0, math.inf),
    reads="How many false alarms come with each attack that is found.",
    misleads="It has no largest value, and none at all where nothing is found.",
    reference="made up for this test",
    example=(_EXAMPLE, Fraction(1, 3)),
)
LEANING = Measure(
    name="leaning",
    group="rates",
    formula=FP / (FP + FN),
    better=NEITHER,
    range=(0, 1),
    averaged=False,
    reads="Of the rows that were decided wrong, the share that raised an alarm.",
    misleads="Neither a high nor a low value is good: it says which error is made, not how often.",
    reference="made up for this test",
    example=(_EXAMPLE, Fraction(1, 3)),
)
ABSOLUTE_ERROR = Measure(
    name="absolute_error",
    group="probability",
    better=LOWER,
    range=(0, 1),
    averaged=False,
    of_scores=MeanLoss(
        loss=lambda probability, truth: np.abs(probability - truth),
        largest=1.0,
        invariant_under=(Law.CLASS_SWAP,),
    ),
    definition=Definition(
        "mean of |p_i - y_i|", r"\frac{1}{n} \sum_i |p_i - y_i|", "As for the Brier score."
    ),
    reads="The mean distance of the probability from what happened.",
    misleads="It is lowest for probabilities of 0 and 1, not for true ones.",
    reference="made up for this test",
)
NEW = (MISSED_SHARE, ALARM_ODDS, LEANING, ABSOLUTE_ERROR, *documented())


@pytest.fixture(autouse=True)
def _added(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalogue, "CATALOGUE", (*catalogue.CATALOGUE, *NEW))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("law", STATEMENTS, ids=lambda law: law.name)
@pytest.mark.parametrize("measure", NEW, ids=lambda measure: measure.name)
def test_it_is_under_every_law(measure: Measure, law: Statement) -> None:
    assert faces(measure)
    for face in faces(measure):
        if law.reason(face) is None:
            law.check(face)


def test_the_guide_declares_a_formula_and_a_ranking() -> None:
    assert {measure.of_scores is None for measure in documented()} == {True, False}


def test_it_is_found_by_its_name_its_alias_and_its_average() -> None:
    assert catalogue.find("missed_share") is catalogue.find("missed") is MISSED_SHARE
    assert catalogue.parse("missed_share.macro") == (MISSED_SHARE, "macro")


def test_it_has_wilson_s_interval_since_it_is_a_share_of_rows() -> None:
    estimate = counted(("normal", "attack"), [1, 0, 1], scores=[0.9, 0.2, 0.4])["missed_share"]
    assert estimate.value == pytest.approx(1 / 3)
    assert estimate.method == "wilson"
    assert 0 < estimate.low < estimate < estimate.high < 1


def test_it_is_averaged_over_classes() -> None:
    rows = of_matrix([[4, 1, 0], [1, 3, 1], [0, 0, 5]])
    assert rows["missed_share.macro"].value == pytest.approx((1 + 2 + 0) / 15 / 3)


def test_it_says_why_it_is_undefined() -> None:
    missed_share = of_cells(0, 0, 0, 0)["missed_share"]
    assert math.isnan(missed_share)
    assert missed_share.undefined == "there are no rows (TP + TN + FP + FN = 0)"


def test_it_can_be_drawn_against_the_threshold() -> None:
    rows = counted(("0", "1"), [1, 0, 1, 0], scores=[0.9, 0.2, 0.4, 0.6])
    curve = trace(sweep(rows.scores[0]), "missed_share", MISSED_SHARE)
    assert curve["missed_share"].tolist() == [0.5, 0.25, 0.25, 0.0, 0.0]


def test_it_is_under_every_law_that_is_for_formulas() -> None:
    run = [(law.name, face.how) for law, face in cases() if face.measure is MISSED_SHARE]
    ways = ["positive", "negative", "label", "macro", "micro", "weighted"]
    assert [face.how for face in faces(MISSED_SHARE)] == ways
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
        law.check(faces(replace(MISSED_SHARE, range=(0, 0.5)))[0])
