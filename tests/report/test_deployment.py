"""Reading at the base rate."""

import numpy as np
import pytest

from assay import evaluate, evaluate_counts
from assay.measures import CATALOGUE
from assay.report import FORMATS, document_of, draw
from assay.report.headline import deployment_sections, reverse
from assay.report.sections import Kind, Prose, Table

from .cases import evaluation


def test_every_base_rate_stands_beside_the_test_set() -> None:
    (section,) = deployment_sections(evaluation("binary").snapshot())
    rates, daily = (block for block in section.blocks if isinstance(block, Table))
    heads = ["measure", "test set (40%)", "base rate 0.1%", "base rate 1%"]
    assert [column.name for column in rates.columns] == heads
    assert [row[0] for row in rates.rows] == [
        "precision",
        "false alarm rate (FAR)",
        "negative predictive value",
        "F1",
        "accuracy",
        "MCC",
        "alert rate",
        "intrusion detection capability",
        "lift",
        "average precision",
        "net benefit",
    ]
    assert [column.name for column in daily.columns] == heads
    assert [row[0] for row in daily.rows] == ["alerts a day", "false alarms a day", "missed a day"]
    assert {column.kind for column in daily.columns[1:]} == {Kind.DAILY}
    assert daily.caption == "A day with 1,000,000 rows"


def test_every_cell_has_its_interval() -> None:
    assessment = evaluation("binary")
    (section,) = deployment_sections(assessment.snapshot())
    table = section.blocks[0]
    for row in table.rows:
        for cell in row[1:]:
            # Of average precision there are too few negatives at so low a base rate.
            assert cell.low < cell < cell.high or cell.undefined
    assert table.rows[0][2] == assessment.at(0.001)["precision"]
    assert table.rows[0][1] == assessment["precision"]


def test_usual_base_rates_show_precision_and_far() -> None:
    (section,) = deployment_sections(evaluation("counts").snapshot())
    table = section.blocks[0]
    assert len(table.columns) == 6
    assert [row[0] for row in table.rows] == ["precision", "false alarm rate (FAR)"]
    assert len([block for block in section.blocks if isinstance(block, Table)]) == 1


def test_what_a_tolerable_far_asks_for_is_told() -> None:
    (said,) = reverse(evaluation("counts").snapshot())
    assert said == (
        "At a base rate of 0.1%, a false alarm rate under 10% asks for a false positive rate of "
        "at most 0.011%; here it is 2.1% [1.8, 2.5], which is more. To show it a test set needs "
        "28,249 negatives without one false alarm; this one has 7,910."
    )


def test_test_set_that_shows_it_is_said_to() -> None:
    assessment = evaluate_counts(tp=90, fp=0, fn=10, tn=10**6, base_rate=0.01)
    assert reverse(assessment.snapshot())[0].endswith("here it is 0% [0, 0.0004], which shows it.")


def test_test_set_that_would_be_enough_is_said_to_be() -> None:
    assessment = evaluate_counts(tp=90, fp=1500, fn=10, tn=10**6, base_rate=0.01)
    assert reverse(assessment.snapshot())[0].endswith(
        "which is more. The 1,001,500 negatives of this test set are enough to tell."
    )


def test_a_sentence_for_each_base_rate_that_was_given() -> None:
    assert len(reverse(evaluation("binary").snapshot())) == 2


def test_nothing_is_said_where_nothing_is_defined() -> None:
    (section,) = deployment_sections(evaluation("nothing_flagged").snapshot())
    why = "Nothing can be said at another base rate: nothing was flagged (TP + FP = 0)."
    assert section.blocks == (Prose(why),)


def test_classes_have_no_base_rate() -> None:
    assert deployment_sections(evaluation("classes").snapshot()) == ()


# -- praise ----------------------------------------------------------------------------------------


def detector(**asked: object):
    """A detector with an AUC of 0.98, most of whose alarms are false where attacks are rare."""
    truth = np.repeat([0, 1], [2000, 500])
    scores = np.random.default_rng(1).normal(3.0 * truth)
    return evaluate(truth, y_score=scores, threshold=1.5, **asked)


@pytest.mark.parametrize("face", [face for face in FORMATS if face not in ("json", "csv")])
def test_praise_is_not_repeated_where_most_alarms_are_false(face: str) -> None:
    rare = draw(document_of(detector(base_rate=[0.5, 0.0001])), face, width=4000)
    assert "would be called outstanding, yet at a base rate of 0.01" in rare
    assert rare.count("outstanding") == rare.count("would be called outstanding")
    for asked in ({}, {"base_rate": 0.5}):
        usual = draw(document_of(detector(**asked)), face, width=4000)
        assert "outstanding" in usual
        assert "would be called" not in usual


def test_the_printed_evaluation_does_not_praise_either() -> None:
    said = str(detector(base_rate=0.0001))
    (line,) = [line for line in said.splitlines() if line.startswith("roc_auc")]
    assert "(would be called outstanding, yet at a base rate of 0.01% 99.9" in line
    assert "(outstanding)" in str(detector())


def test_every_band_at_the_best_end_is_praise_or_a_fact_about_all_rows() -> None:
    for measure in CATALOGUE:
        best = measure.bands[-2:]
        for band in best:
            assert band.praise or "every decision" in band.reading or "chance" in band.reading
