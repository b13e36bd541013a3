"""The document of an evaluation, before anybody decides how it looks."""

from dataclasses import replace

import pytest

from assay import Evaluation, Unlabelled, evaluate_counts
from assay.errors import InputError
from assay.report import FORMATS, Document, Provenance, document_of, draw
from assay.report.sections import Matrix, Table, Tier

from .cases import CASES, document, evaluation


def table(content: Document, title: str) -> Table:
    blocks = next(section.blocks for section in content.report.sections if section.title == title)
    return next(block for block in blocks if isinstance(block, Table))


def blocks(content: Document, title: str) -> tuple[Table, ...]:
    (section,) = (s for s in content.report.sections if s.title == title)
    return section.blocks


def named(block: Table) -> dict[str, tuple]:
    return {row[0]: row[1:] for row in block.rows}


@pytest.mark.parametrize("name", CASES)
def test_rows_have_as_many_cells_as_there_are_columns(name: str) -> None:
    for section in document(name).report.sections:
        assert section.blocks
        for block in section.blocks:
            if isinstance(block, Table):
                assert {len(row) for row in block.rows} <= {len(block.columns)}


@pytest.mark.sampled(7)
@pytest.mark.parametrize("name", CASES)
def test_every_face_is_the_same_twice(name: str) -> None:
    again = document_of(evaluation(name))
    assert again == document(name)
    for face in FORMATS:
        if face != "html":
            text = draw(again, face)
            assert text == draw(document(name), face)
            text.encode()


def test_main_results_are_those_that_papers_must_report() -> None:
    cells = named(table(document("worked_example"), "Main results"))
    assert list(cells) == [
        "accuracy",
        "precision, macro",
        "recall, macro",
        "F1, macro",
        "F1, weighted",
    ]
    assert "detection rate (recall)" in named(table(document("counts"), "Main results"))


def test_advanced_results_need_scores_for_rankings() -> None:
    assert "ROC AUC" in named(table(document("binary"), "Advanced results"))
    assert "ROC AUC, macro" in named(table(document("classes"), "Advanced results"))
    assert list(named(table(document("counts"), "Advanced results"))) == [
        "balanced accuracy",
        "Cohen's kappa",
        "MCC",
    ]


def test_many_classes_have_all_averages_and_the_rates_of_each_class() -> None:
    content = document("classes")
    (averages,) = blocks(content, "Averages")
    assert [column.name for column in averages.columns] == ["measure", "macro", "micro", "weighted"]
    assert [row[0] for row in averages.rows][:3] == ["precision", "recall", "F1"]
    assert "Jaccard index" in named(table(content, "Advanced results"))
    assert "error rate" in named(table(content, "Advanced results"))
    first, second = blocks(content, "Per class")
    assert [column.name for column in second.columns] == [
        *("class", "FPR", "specificity", "AUC", "AP"),
    ]
    assert [row[0] for row in first.rows] == [row[0] for row in second.rows]
    counted = blocks(document("worked_example"), "Per class")[1]
    assert [column.name for column in counted.columns] == ["class", "FPR", "specificity"]


def test_bands_are_read_out() -> None:
    cells = named(table(document("counts"), "Advanced results"))
    assert cells["Cohen's kappa"][1] == "almost perfect agreement"
    cells = named(table(document("binary"), "Advanced results"))
    assert cells["expected calibration error"][1].startswith("a calibrated model of this size:")


def test_undefined_is_told_with_its_reason() -> None:
    cells = named(table(document("nothing_flagged"), "Main results"))
    assert cells["precision"][1] == "nothing was flagged (TP + FP = 0)"


def test_reason_that_all_share_is_told_once() -> None:
    block = table(document("alerts_labelled"), "Further rates")
    assert len(block.notes) == 1
    assert block.notes[0].startswith("Undefined: rows that raised no alarm were not labelled")
    assert {row[2] for row in block.rows} == {""}
    assert table(document("nothing_flagged"), "Main results").notes == ()


def test_macro_over_the_defined_stands_beside_the_undefined() -> None:
    cells = named(table(document("only_in_decisions"), "Main results"))
    assert "recall, macro over the classes that have a value" in cells


def test_every_measure_of_decisions_is_somewhere() -> None:
    content = document("counts")
    told = {
        row[0]
        for title in ("Main results", "Advanced results", "Further rates")
        for row in table(content, title).rows
    }
    assert {"specificity", "G-mean", "F2", "F0.5", "diagnostic odds ratio", "prevalence"} <= told


def test_classes_stand_worst_first_with_their_counts() -> None:
    rows = table(document("worked_example"), "Per class").rows
    assert [row[0] for row in rows] == ["B", "A", "C"]
    assert rows[0][1:6] == (45, 38, 5, 7, 100)


def test_most_frequent_confusions_are_listed() -> None:
    rows = table(document("worked_example"), "Confusion matrix").rows
    assert rows[0] == ("B", "A", 4, 4 / 45)
    assert [row[2] for row in rows] == [4, 3, 3, 2, 2, 1]


def test_matrix_says_what_it_counts() -> None:
    def caption(name: str) -> str:
        block = document(name).report.sections[0].blocks[0]
        assert isinstance(block, Matrix)
        return block.caption

    assert caption("counts") == "Rows are the truth, columns the decision"
    assert caption("weighted").endswith("sums of weights")
    assert caption("alerts_labelled").endswith("only rows that have a label")


def test_tests_stand_in_the_appendix() -> None:
    content = document("counts")
    (section,) = [section for section in content.report.sections if section.title == "Tests"]
    assert section.tier is Tier.APPENDIX
    rows = section.blocks[0].rows
    assert [row[2] for row in rows] == ["< 0.0001", "< 0.0001"]


def test_level_and_positive_stand_in_the_caption() -> None:
    assert table(document("level"), "Main results").caption == (
        "90% intervals; the positive is 'attack'"
    )


def test_refused_rows_are_listed() -> None:
    tally = evaluate_counts(tp=1, fp=1, fn=1, tn=1).tally
    refused = [
        {"row": 1200, "reason": "the score is missing", "file": "a.csv", "line": 1201},
        {"row": 7, "reason": "no label"},
    ]
    source = {"name": "a.csv", "rows_read": 2000, "rows_refused": 3, "refused": refused}
    block = table(document_of(Evaluation(tally, source=source)), "Refused rows")
    assert block.caption == "3 of 2,000 rows were refused; the first 2 are listed"
    assert block.rows == (
        ("a.csv", "line 1201", "the score is missing"),
        ("", "row 7", "no label"),
    )


def test_document_carries_how_it_was_made() -> None:
    made = Provenance("0.1.0", "assay evaluate a.csv", (("a.csv", 12, "00"),))
    assert document_of(evaluation("counts"), provenance=made).report.made == replace(
        made, rows=14869
    )


def test_panel_is_there_for_two_classes() -> None:
    assert document("binary").report.panel is not None
    assert document("classes").report.panel is None


def test_unknown_face_is_refused() -> None:
    with pytest.raises(InputError, match=r"html, .*junit, card, openmetrics; found 'pdf'"):
        draw(document("counts"), "pdf")


def test_public_names_are_there_and_no_others() -> None:
    from assay import report

    for name in report.__all__:
        assert getattr(report, name) is not None
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        _ = report.nonsense


def test_where_only_alerts_were_labelled_the_results_are_what_they_tell() -> None:
    tally = evaluate_counts(tp=40, fp=10, fn=0, tn=0, labels=["normal", "attack"]).tally
    content = document_of(Evaluation(tally, unlabelled=Unlabelled(50, 900), volume=2000))
    assert [row[0] for row in table(content, "Main results").rows] == [
        "precision",
        "false alarm rate (FAR)",
        "alert rate",
    ]
    (section,) = (s for s in content.report.sections if s.title == "Main results")
    assert section.blocks[1].text.startswith("In 2,000 rows a day that is 200 [")
    assert "not labelled" in section.blocks[2].text
    assert "Advanced results" not in [s.title for s in content.report.sections]
