"""Tables, reports and matrices as people have them, read as claims."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import pytest

from assay.decisions.audit import audit_files
from assay.decisions.audit.reading import KINDS, Totals, read_document
from assay.decisions.audit.reading.published_tables import entry_of, uses_comma
from assay.decisions.audit.verdicts import Audit, NumberVerdict
from assay.errors import InputError

REPORT = """
              precision    recall  f1-score   support

      benign       0.92      0.94      0.93        48
   port scan       0.93      0.90      0.92        42

    accuracy                           0.92        90
   macro avg       0.92      0.92      0.92        90
weighted avg       0.92      0.92      0.92        90
"""
LATEX = r"""
\begin{table}
\caption{Results ($n=22{,}544$), best in \textbf{bold}}
\begin{tabular}{l S[table-format=2.2] cc r}
\toprule
\multirow{2}{*}{Model} & \multicolumn{2}{c}{NSL-KDD} & \multicolumn{2}{c}{UNSW} \\
\cmidrule(lr){2-3}\cmidrule(lr){4-5}
 & {Acc. (\%)} & $F_1$ & {Acc. (\%)} & F1-score \\ \midrule
RF~\cite{rf} & \textbf{99.12} & \num{0.98} & 98.2\% & $0.98 \pm 0.01$ \\ % & a comment
SVM & \textcolor{red}{97.1} & 0.97\textsuperscript{a} & \SI{96.2}{\percent} & -- \\ \bottomrule
\end{tabular}
\end{table}
"""
MODELS = "| Model | Acc. (%) | Prec | FPR | Time (s) |\n|---|---|---|---|---|\n"


def audited(tmp_path: Path, text: str, name: str = "paper.txt", **options: object) -> Audit:
    path = tmp_path / name
    path.write_text(text, "utf-8")
    return audit_files([path], **options)  # type: ignore[arg-type]


def numbers(text: str, name: str = "paper.txt", **told: object) -> dict[str, dict[str, str]]:
    document = read_document(name, text=text, totals=Totals(**told))  # type: ignore[arg-type]
    return {
        claim.name: {
            key: number.text if hasattr(number, "text") else [end.text for end in number]
            for key, number in claim.reported.items()
        }
        for claim in document.claims
    }


# -- cells -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("**98.2%**", "98.2%"),
        ("0.98†", "0.98"),
        ("99.1 [12]", "99.1"),
        ("0.90", "0.90"),
        ("99.98 %", "99.98%"),
        ("0.98 ± 0.01", "0.98"),
        ("98.2 (0.3)", "98.2"),
        ("0.95 [0.93, 0.97]", "0.95"),
        ("12 833", "12833"),
        ("—", None),
        ("n/a", None),
    ],
)
def test_marks_around_a_number_are_taken_off_and_digits_kept(text: str, number: str | None) -> None:
    assert entry_of(text).number == number
    assert not entry_of(text).odd


@pytest.mark.parametrize("text", [">99", "~98", "12/15", "high"])
def test_what_is_no_exact_number_is_told(text: str) -> None:
    assert entry_of(text).odd == text


def test_a_decimal_comma_is_told_by_numbers_that_nothing_else_explains() -> None:
    assert uses_comma(["0,967", "96,7"])
    assert not uses_comma(["1,234", "0.967"])
    assert entry_of("0,967", comma=True).number == "0.967"


# -- tables ----------------------------------------------------------------------------------------


def test_a_row_of_a_markdown_table_is_a_claim_and_its_headings_are_matched() -> None:
    text = f"{MODELS}| RF [1] | **99.12** | 0.982 | 0.9% | 12 |\n| SVM | 97.3 | 0.96 | - | 3 |"
    document = read_document("paper.md", text=text)
    assert numbers(text) == {
        "RF": {"accuracy": "99.12%", "precision": "0.982", "fpr": "0.9%"},
        "SVM": {"accuracy": "97.3%", "precision": "0.96"},
    }
    assert any("'Time (s)'" in note for note in document.notes)
    assert document.notes[0] == "paper.md was read as Markdown"


def test_latex_with_spanning_cells_is_a_claim_for_each_group() -> None:
    judgements = numbers(LATEX)
    assert judgements["RF (NSL-KDD)"] == {"accuracy": "99.12%", "f1": "0.98"}
    assert judgements["SVM (UNSW)"] == {"accuracy": "96.2%"}
    claims = {claim.name: claim for claim in read_document("p.tex", text=LATEX).claims}
    assert claims["RF (UNSW)"].aggregate == "fold-mean"
    assert claims["RF (NSL-KDD)"].aggregate is None
    # A caption can't tell of which of two test sets it speaks.
    assert claims["SVM (NSL-KDD)"].n is None


def test_a_table_with_measures_in_its_rows_is_turned() -> None:
    text = "Metric;RF;SVM\nAccuracy;0,967;0,951\nF1;0,965;0,950\n"
    assert numbers(text, "t.csv") == {
        "RF": {"accuracy": "0.967", "f1": "0.965"},
        "SVM": {"accuracy": "0.951", "f1": "0.950"},
    }


def test_the_caption_tells_the_totals_of_all_rows() -> None:
    text = f"Table 2. Results (n = 1,000).\n\n{MODELS}| RF | 99.1 | 0.98 | 0.9% | 1 |"
    (claim,) = read_document("p.md", text=text).claims
    assert claim.size == 1000
    (told,) = read_document("p.md", text=text, totals=Totals(n="2000")).claims
    assert told.size == 2000


def test_cells_of_a_matrix_may_stand_in_columns(tmp_path: Path) -> None:
    text = "model,TP,FP,FN,TN,Accuracy\na,6635,167,324,7743,0.9670\nb,6635,167,324,7743,0.9760\n"
    audit = audited(tmp_path, text, "t.csv")
    assert [claim.verdict for claim in audit.claims] == ["consistent", "inconsistent"]


def test_shared_totals_prove_a_row_wrong_that_alone_could_be_right(tmp_path: Path) -> None:
    text = "Method,Accuracy,Recall,Precision\nA,0.95,0.93,0.96\n"
    assert audited(tmp_path, text, "t.csv").consistent
    told = Totals(support={"normal": 900, "attack": 100}, positive="attack", aggregate="pooled")
    assert audited(tmp_path, text, "t.csv", totals=told).consistent  # averages of both classes
    one_class = text.replace("Recall,Precision", "Recall (attack),Precision (attack)")
    assert not audited(tmp_path, one_class, "t.csv", totals=told).consistent


def test_a_percent_scale_of_one_number_is_that_of_its_column() -> None:
    judgements = numbers("model,FPR,Accuracy\na,1.2,99.1\nb,0.4,99.5\n", "t.csv")
    assert judgements["b"] == {"fpr": "0.4%", "accuracy": "99.5%"}


def test_folds_are_held_against_their_mean(tmp_path: Path) -> None:
    rows = "| Fold | Accuracy |\n|---|---|\n| 1 | 0.95 |\n| 2 | 0.97 |\n| 3 | 0.96 |\n"
    assert audited(tmp_path, f"{rows}| Mean | 0.960 |").consistent
    assert not audited(tmp_path, f"{rows}| Mean | 0.980 |").consistent


CLASSES = """| Class | Precision | Recall | F1 | Support |
|---|---|---|---|---|
| Normal | 0.95 | 0.97 | 0.96 | 9711 |
| DoS | 0.96 | 0.94 | 0.95 | 7458 |
| Probe | 0.85 | 0.88 | 0.86 | 2421 |
| Macro avg | 0.92 | 0.93 | 0.92 | 19590 |
| Weighted avg | 0.94 | 0.95 | 0.94 | 19590 |
"""


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("| Macro avg | 0.92", "| Macro avg | 0.97"),
        ("| 0.95 | 0.94 | 19590", "| 0.91 | 0.94 | 19590"),
        ("| 0.94 | 19590", "| 0.94 | 19950"),
        ("| 0.86 | 2421", "| 0.96 | 2421"),
    ],
    ids=["macro", "weighted", "sum of supports", "f1"],
)
def test_rows_of_classes_are_held_against_each_other(tmp_path: Path, old: str, new: str) -> None:
    assert audited(tmp_path, CLASSES).consistent
    assert old in CLASSES
    assert not audited(tmp_path, CLASSES.replace(old, new)).consistent


def test_classes_that_may_not_be_all_are_not_taken_for_all(tmp_path: Path) -> None:
    rows = (
        "| Attack | Precision | Recall |\n|---|---|---|\n| DoS | 0.99 | 0.2 |\n| Bot | 0.9 | 0.9 |"
    )
    audit = audited(tmp_path, rows)
    assert audit.consistent
    (claim,) = read_document("p.md", text=rows).claims
    assert not claim.labels


def test_rows_that_need_unlike_test_sets_are_a_finding(tmp_path: Path) -> None:
    rows = "Method,TPR,FPR,Precision\nA,0.900,0.010,0.900\nB,0.900,0.010,0.990\n"
    (finding,) = audited(tmp_path, rows, "t.csv").findings
    assert finding.code == "A003"
    assert "'A' needs 8." in finding.message
    alike = rows.replace("0.990", "0.905")
    assert audited(tmp_path, alike, "t.csv").findings == ()


# -- reports ---------------------------------------------------------------------------------------


def test_a_classification_report_is_one_claim(tmp_path: Path) -> None:
    audit = audited(tmp_path, REPORT)
    assert audit.consistent
    assert len(audit.claims[0].numbers) == 14
    wrong = REPORT.replace("0.93      0.90      0.92", "0.93      0.90      0.95")
    assert not audited(tmp_path, wrong).consistent


def test_a_matrix_beside_a_report_belongs_to_it(tmp_path: Path) -> None:
    audit = audited(tmp_path, f"[[45  3]\n [ 4 38]]\n{REPORT}")
    assert len(audit.claims) == 1
    assert audit.consistent
    swapped = audited(tmp_path, f"[[45  3]\n [ 5 37]]\n{REPORT}")
    assert not swapped.consistent


def test_a_report_of_some_labels_is_not_taken_for_all(tmp_path: Path) -> None:
    text = REPORT.replace(
        "accuracy                           0.92", "micro avg       0.95      0.90      0.92"
    )
    (claim,) = read_document("r.txt", text=text).claims
    assert not claim.exhaustive
    assert any("several labels" in note for note in claim.notes)


def test_a_report_as_json_is_read_to_the_digits_that_a_float_is_good_for(tmp_path: Path) -> None:
    rows = {
        "0": {"precision": 45 / 49, "recall": 45 / 48, "f1-score": 90 / 97, "support": 48.0},
        "1": {"precision": 38 / 41, "recall": 38 / 42, "f1-score": 76 / 83, "support": 42.0},
        "accuracy": 83 / 90,
    }
    assert audited(tmp_path, json.dumps(rows), "r.json").consistent
    rows["accuracy"] = 0.9322222222222222
    assert not audited(tmp_path, json.dumps(rows), "r.json").consistent


def test_lines_of_values_are_a_claim(tmp_path: Path) -> None:
    text = "Accuracy: 0.9670\nF1 score = 96.43%\nLoss: 0.1\nTP: 6635\nFP: 167\nFN: 324\nTN: 7743\n"
    audit = audited(tmp_path, text)
    assert [n.key for n in audit.claims[0].numbers] == ["accuracy", "f1"]
    assert audit.consistent
    assert any("'Loss'" in note for note in audit.notes)


# -- matrices --------------------------------------------------------------------------------------

SQUARE = {
    "numpy": "[[45  3  2]\n [ 4 38  3]\n [ 1  2 52]]",
    "array": "array([[45, 3, 2],\n       [4, 38, 3],\n       [1, 2, 52]])",
    "crosstab": "Predicted   a   b   c  All\nActual        \na          45   3   2   50\n"
    "b           4  38   3   45\nc           1   2  52   55\nAll        50  43  57  150",
    "R": "          Reference\nPrediction  a  b  c\n         a 45  4  1\n         b  3 38  2\n"
    "         c  2  3 52",
    "Weka": "  a  b  c   <-- classified as\n 45  3  2 |  a = x\n  4 38  3 |  b = y\n"
    "  1  2 52 |  c = z",
    "Markdown": "| | Pred A | Pred B | Pred C |\n|---|---|---|---|\n| **True A** | 45 | 3 | 2 |\n"
    "| **True B** | 4 | 38 | 3 |\n| **True C** | 1 | 2 | 52 |",
    "LaTeX": "\\begin{tabular}{lrrr}\nTrue / Predicted & A & B & C \\\\\nA & 45 & 3 & 2 \\\\\n"
    "B & 4 & 38 & 3 \\\\\nC & 1 & 2 & 52 \\\\\n\\end{tabular}",
}


@pytest.mark.parametrize("text", SQUARE.values(), ids=SQUARE)
def test_a_pasted_matrix_is_read_with_the_truth_in_its_rows(text: str) -> None:
    nameless = text.startswith(("[", "array"))
    told = Totals(reported={"accuracy": "0.90"}, orientation="truth-rows" if nameless else None)
    (claim,) = read_document("m.txt", text=text, totals=told).claims
    assert claim.matrix is not None
    assert claim.matrix.cells == ((45, 3, 2), (4, 38, 3), (1, 2, 52))


def test_what_the_rows_of_a_matrix_are_is_asked_where_the_numbers_do_not_tell(
    tmp_path: Path,
) -> None:
    bare = "[[7743  167]\n [ 324 6635]]\n"
    with pytest.raises(InputError, match="orientation='truth-rows'"):
        audited(tmp_path, bare)
    # The accuracy is the same either way; precision and recall tell.
    assert audited(tmp_path, f"{bare}Accuracy: 0.9670\n").consistent
    told = audited(tmp_path, f"{bare}Precision: 0.9754\nRecall: 0.9534\n")
    assert "the numbers fit where rows are the truth" in told.claims[0].notes


def test_the_other_label_is_the_positive_where_only_that_fits(tmp_path: Path) -> None:
    text = "          Reference\nPrediction   no  yes\n       no   450   30\n"
    text += "       yes   50  470\nSensitivity : 0.9000\n"
    audit = audited(tmp_path, text)
    assert audit.consistent
    assert any("'no' is the positive label" in note for note in audit.claims[0].notes)


# -- what a file is --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("hello world", "plain text"),
        ("a,b\n1,2\n", "separated values"),
        ('{"schema": "assay.gate/1"}', "assay.gate/1"),
    ],
)
def test_a_file_without_claims_is_refused_with_what_it_was_read_as(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_document("x", text=text)


def test_the_kind_can_be_told_and_a_wrong_one_is_refused() -> None:
    text = "a b\n1 2"
    for kind in KINDS:
        with pytest.raises(InputError):
            read_document("x", text=text, kind=kind)
    with pytest.raises(InputError, match="expected claims, markdown"):
        read_document("x", text=text, kind="word")


def test_claims_share_what_stands_once_in_their_file() -> None:
    text = """
    [shared]
    support = { normal = 900, attack = 100 }
    [[claim]]
    name = "a"
    reported = { accuracy = "0.95" }
    [[claim]]
    name = "b"
    support = { normal = 9, attack = 1 }
    reported = { accuracy = "0.9" }
    """
    first, second = read_document("c.toml", text=text).claims
    assert (first.support["normal"], second.support["normal"]) == (900, 9)


def test_a_finding_of_the_whole_audit_and_its_notes_are_in_the_document(tmp_path: Path) -> None:
    document = audited(tmp_path, f"{MODELS}| RF | 99.1 | 0.98 | 0.9% | 3 |").to_dict()
    assert document["notes"][0] == "paper.txt was read as Markdown"
    assert document["findings"] == []
    assert document["claims"][0]["verdict"] != NumberVerdict.INCONSISTENT


@pytest.mark.parametrize(
    ("heading", "accuracy", "fpr", "wrong"),
    [
        ("Accuracy (%)", "93.1", "0.97", True),  # the others are shares, as their headings say
        ("Accuracy (%)", "93.1", "0.03", False),  # which may be 0.03%: signs may be forgotten
        ("Accuracy", "93.1", "0.97", False),  # one sign is left out, so others may be
        ("Accuracy", "0.931", "0.03", True),
    ],
)
def test_numbers_without_a_sign_are_shares_where_headings_tell_percents(
    tmp_path: Path, heading: str, accuracy: str, fpr: str, *, wrong: bool
) -> None:
    table = f"| Model | {heading} | Precision | Recall | F1 | Specificity |\n|-|-|-|-|-|-|\n"
    row = f"| SVM | {accuracy} | 0.92 | 0.90 | 0.95 | {fpr} |"
    assert audited(tmp_path, table + row).consistent is not wrong


def test_positives_and_negatives_need_no_names(tmp_path: Path) -> None:
    rows = "Model,Acc (%),Specificity,Recall\nRF,95.34,0.957,0.949\n"
    totals = Totals(positives=6959, negatives=7910)
    assert audited(tmp_path, rows, "t.csv", totals=totals).consistent
    wrong = rows.replace("95.34", "96.34")
    assert not audited(tmp_path, wrong, "t.csv", totals=totals).consistent
    caption = "Table 1: 6,959 attacks and 7,910 normal rows\n\n"
    table = "| Model | Acc (%) | TNR | DR |\n|---|---|---|---|\n| RF | 95.34 | 0.957 | 0.949 |\n"
    assert audited(tmp_path, caption + table, "t.md").consistent
    assert not audited(tmp_path, caption + table.replace("95.34", "96.34"), "t.md").consistent


@pytest.mark.parametrize("totals", [Totals(), Totals(n="990"), Totals(positives=90, negatives=900)])
def test_the_mean_of_both_error_rates_may_be_called_far(tmp_path: Path, totals: Totals) -> None:
    # 80 of 90 attacks found, 18 of 900 harmless rows flagged: (0.0200 + 0.1111) / 2.
    rows = "Model,TPR,TNR,Precision,FAR\nRF,0.8889,0.9800,0.8163,0.0656\n"
    assert audited(tmp_path, rows, "t.csv", totals=totals).consistent
    if totals.positives:
        wrong = rows.replace("0.0656", "0.0856")
        assert not audited(tmp_path, wrong, "t.csv", totals=totals).consistent


@pytest.mark.parametrize(
    "text",
    [
        "Model,Accuracy,Misclassified,Correctly classified\nA,96.7,491,14378\nB,98.1,283,14586\n",
        "Model,Accuracy (%),Correct,Error\nNB,93.4,142,10\nRF,97.4,148,4\n",
        "Accuracy: 0.934\nMisclassified: 10\nCorrectly classified: 142\n",
    ],
)
def test_counts_under_the_heading_of_a_share_are_told_and_not_judged(
    tmp_path: Path, text: str
) -> None:
    audit = audited(tmp_path, text, "t.csv" if "," in text else "t.txt")
    assert audit.consistent
    assert {number.key for claim in audit.claims for number in claim.numbers} == {"accuracy"}
    assert any("not matched to any measure" in note for note in audit.notes)


def test_whole_percentages_are_no_counts() -> None:
    judgements = numbers("Model,Accuracy,Error\nA,97,3.0\nB,100,0.0\n", "t.csv")
    assert judgements == {
        "A": {"accuracy": "97%", "error_rate": "3.0%"},
        "B": {"accuracy": "100%", "error_rate": "0.0%"},
    }


def test_three_digits_behind_a_decimal_comma_are_no_thousands() -> None:
    judgements = numbers("Model;Precision;Recall\nA;96,698;97,545\nB;100,000;9,344\n", "t.csv")
    assert judgements["A"] == {"precision": "96.698%", "recall": "97.545%"}


CARET = """
          Reference
Prediction attack normal
    attack   6635    167
    normal    324   7743

               Accuracy : 0.967
            Sensitivity : 0.9534
         Pos Pred Value : 0.9754
         Neg Pred Value : 0.9598
         Detection Rate : 0.4462
   Detection Prevalence : 0.4575
"""


def test_the_detection_rate_of_caret_is_a_share_of_all_rows(tmp_path: Path) -> None:
    audit = audited(tmp_path, CARET)
    assert audit.consistent
    assert any("'Detection Rate' was passed over" in note for note in audit.notes)
    assert not audited(tmp_path, CARET.replace("0.9754", "0.9654")).consistent


@pytest.mark.parametrize(
    "text",
    [
        "## Results (10-fold cross validation)\n\n{}",
        "# Results over 5 random seeds\n\nBest in bold.\n\n{}",
        "{}\nMetrics by ten-fold cross-validation.\n",
    ],
)
def test_the_text_beside_a_table_tells_that_numbers_are_means(tmp_path: Path, text: str) -> None:
    # The mean of geometric means is below the geometric mean of the means, 0.849.
    row = "| Model | TPR | TNR | G-mean |\n|---|---|---|---|\n| RF | 0.800 | 0.900 | 0.840 |\n"
    totals = Totals(positives=100, negatives=100)
    assert not audited(tmp_path, row, "t.md", totals=totals).consistent
    audit = audited(tmp_path, text.format(row), "t.md", totals=totals)
    assert audit.consistent
    assert any("text beside the table" in note for note in audit.notes)


def test_the_rows_of_a_test_set_are_not_those_of_its_training_part(tmp_path: Path) -> None:
    head = "Split,Accuracy,Precision,Recall\n"
    totals = Totals(positives=6959, negatives=7910)
    wrong = "Validation,0.9800,0.9701,0.9822\n"
    assert audited(tmp_path, head + wrong, "t.csv", totals=totals).consistent
    as_test = head + wrong.replace("Validation", "Test")
    assert not audited(tmp_path, as_test, "t.csv", totals=totals).consistent
    groups = ",Training,Training,Training\nModel,Accuracy,Precision,Recall\nRF,0.98,0.9701,0.9822\n"
    assert audited(tmp_path, groups, "t.csv", totals=totals).consistent


def test_a_time_is_no_name_of_a_row() -> None:
    text = (
        "| Metric | Value |\n|---|---|\n| Accuracy | 0.97 |\n| Recall | 0.95 |\n| Time | 12.3 s |\n"
    )
    document = read_document("t.md", text=text)
    assert [claim.name for claim in document.claims] == ["Value"]
    assert "t.md: not matched to any measure: 'Time'" in document.notes


def test_the_mean_of_the_accuracies_of_classes_is_not_the_accuracy(tmp_path: Path) -> None:
    # Of 59 and 41 rows 53 and 29 are right: 0.82 of all, while the mean of the recalls is 0.80.
    head = "| Class | Recall | Precision | Acc | Support |\n|---|---|---|---|---|\n"
    rows = "| Normal | 0.898 | 0.815 | 0.898 | 59 |\n| DoS | 0.707 | 0.829 | 0.707 | 41 |\n"
    mean = "| Average | 0.803 | 0.822 | 0.803 | 100 |\n"
    audit = audited(tmp_path, head + rows + mean, "t.md")
    assert audit.consistent
    assert any("accuracy 0.803 of 'Average' was passed over" in n for n in audit.claims[0].notes)
    overall = rows.replace("| 0.898 | 59", "| | 59").replace("| 0.707 | 41", "| | 41")
    assert not audited(tmp_path, head + overall + mean, "t.md").consistent


def test_a_scale_that_is_neither_share_nor_percent_is_told(tmp_path: Path) -> None:
    for scale in ("‰", "1e-3", "x10^-3"):
        rows = f"Method,TPR,TNR,FPR ({scale})\nA,0.9534,0.9789,21.1\n"
        totals = Totals(positives=6959, negatives=7910)
        audit = audited(tmp_path, rows, "t.csv", totals=totals)
        assert audit.consistent
        assert any("neither shares nor percent" in note for note in audit.notes)


def test_numbers_of_labels_beside_totals_without_names_are_told(tmp_path: Path) -> None:
    rows = "Method,Recall (attack),Accuracy\nA,0.9534,0.9670\n"
    audit = audited(tmp_path, rows, "t.csv", totals=Totals(positives=6959, negatives=7910))
    assert any("recall.attack" in note for note in audit.claims[0].notes)


LONG = 100_000
REPEATED = {
    "brackets.txt": "[" * LONG,
    "brackets.json": "[" * LONG,
    "brackets.md": "[" * LONG,
    "lists.json": '{"claim": ' + "[" * LONG,
    "blank lines.md": "\n" * LONG + "x",
    "blanks.txt": " " * LONG + "x",
    "tabs.md": "\t" * LONG + "x",
    "cells.tex": "&" * LONG,
    "tables.tex": "\\begin{tabular}{" * (LONG // 16),
    "open tables.tex": "\\begin{tabular}" * (LONG // 15),
    "commands.tex": "a & " + "\\textbf{" * (LONG // 8),
    "rules.tex": "\\cline{" * (LONG // 7),
    "dots.toml": f"a{'.a' * (LONG // 2)} = 1",
    "tables.toml": f"claim = {'{a=' * (LONG // 3)}",
    "raised.md": f"| a | accuracy |\n|---|---|\n| {'<sup>' * (LONG // 5)} | ? |",
    "signs.toml": f'[[claim]]\narithmetic = [{{ expression = "{"(" * LONG}", reported = "1" }}]',
    "counts.txt": "head of it\n" + "1 " * (LONG // 2) + "x",
    "strokes.txt": "-" * LONG + "x",
    "wide.csv": "," * (LONG // 2) + "\n" + "a,b\n" * (LONG // 8),
}


@pytest.mark.parametrize("name", REPEATED)
def test_a_file_of_one_sign_again_and_again_is_refused_at_once(name: str) -> None:
    began = time.process_time()
    with pytest.raises(InputError, match=re.escape(name)):
        read_document(name, text=REPEATED[name])
    assert time.process_time() - began < 10  # usually one at most; before, up to a minute


def test_counts_of_a_pasted_matrix_keep_all_their_digits() -> None:
    totals = Totals(orientation="truth-rows")
    (claim,) = read_document(
        "m.txt", text="[[12345678901234567, 2.], [3, 4]]", totals=totals
    ).claims
    assert claim.matrix is not None
    assert claim.matrix.cells[0][0] == 12345678901234567
    with pytest.raises(InputError, match="no square table of counts"):
        read_document("m.txt", text=f"[[{'9' * 400}, 2], [3, 4]]")


def test_a_matrix_behind_other_brackets_is_read() -> None:
    text = "see [1], [2]\n[ [5, 1],\n [2, 7] ] [[\n"
    (claim,) = read_document("m.txt", text=text, totals=Totals(orientation="truth-rows")).claims
    assert claim.matrix is not None
    assert claim.matrix.cells == ((5, 1), (2, 7))
