"""One claim for each mistake, worked out by hand or with other libraries."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.metrics import auc, average_precision_score, precision_recall_curve

from assay.decisions.audit.verdicts import NumberVerdict

from .claims import DARKNET, FOREST, NETWORK, claim_of, explanations, judged

TRAINED = {"normal": 20_000, "attack": 15_000}


def first(cells, key, value, **more):
    """The likeliest mistake behind one number."""
    reasons = explanations(cells, key, {key: value}, **more)
    return reasons[0].mistake if reasons else None


@pytest.mark.parametrize(
    ("key", "value", "mistake"),
    [
        ("accuracy", "0.0967", "decimal-shift"),
        ("accuracy", "0.97%", "decimal-shift"),
        ("accuracy", "0.0330", "complement"),
        ("fpr", "0.0246", "fdr-for-fpr"),
        ("fpr", "0.0466", "fnr-for-fpr"),
        ("fdr", "0.0211", "fpr-for-fdr"),
        ("precision", "0.9534", "recall-for-precision"),
        ("recall", "0.9754", "precision-for-recall"),
        ("recall", "0.9789", "positive-class-swapped"),
        ("f1", "0.9693", "positive-class-swapped"),
        ("f1", "0.96444", "arithmetic-mean"),
        ("f1.macro", "0.9643", "binary-for-macro"),
        ("balanced_accuracy", "0.96608", "g-mean-for-balanced-accuracy"),
        ("mcc", "0.9336", "kappa-for-mcc"),
        ("mcc", "-0.9338", "sign-lost"),
        ("kappa", "0.9338", "mcc-for-kappa"),
        ("jaccard", "0.9643", "f1-for-jaccard"),
        ("informedness", "0.9662", "balanced-accuracy-for-informedness"),
    ],
)
def test_mistake_with_one_number_of_two_classes_is_named(key, value, mistake) -> None:
    reasons = explanations(FOREST, key, {key: value})
    assert mistake in {name for one in reasons[:2] for name in (one.mistake, *one.also)}


@pytest.mark.parametrize(
    ("key", "value", "mistake"),
    [
        ("f1.macro", "0.8996", "weighted-for-macro"),
        ("f1.weighted", "0.8974", "macro-for-weighted"),
        ("precision.macro", "0.8966", "recall-for-precision"),
        ("f1.macro", "0.8976", "f1-of-averages"),
        ("mcc", "0.8493", "kappa-for-mcc"),
        ("mcc", "0.8867", "label-code-correlation"),
        ("mcc", "0.8480", "one-vs-rest-mean"),
        ("accuracy", "0.8966", "balanced-accuracy-for-accuracy"),
        ("precision.A", "0.8837", "other-label:2"),
    ],
)
def test_mistake_with_one_number_of_three_classes_is_named(key, value, mistake) -> None:
    reasons = explanations(DARKNET, key, {key: value})
    assert mistake in {name for one in reasons[:2] for name in (one.mistake, *one.also)}


def test_harmonic_arithmetic_and_geometric_mean_are_told_apart() -> None:
    lopsided = {"tn": 9, "fp": 1, "fn": 81, "tp": 9}
    assert first(lopsided, "f1", "0.5000") == "arithmetic-mean"
    assert first(lopsided, "f1", "0.3000") == "geometric-mean"


def test_matrix_with_two_cells_exchanged_is_found_though_other_numbers_are_right() -> None:
    reasons = explanations(NETWORK, "accuracy", {"accuracy": "7.36%", "recall": "91.18%"})
    assert reasons[0].mistake == "cells-swapped:fn,tp"
    assert reasons[0].value == 1094 / 14869
    assert "spoil 1 of the right" in reasons[0].text


def test_mistake_with_the_whole_matrix_explains_all_numbers_and_comes_first() -> None:
    # Truth and decision exchanged: precision and recall, NPV and specificity change places.
    wrong = {"precision": "0.9534", "recall": "0.9754", "npv": "0.9789", "specificity": "0.9598"}
    numbers = judged(claim_of(FOREST, wrong | {"accuracy": "0.9670"}))
    for key in wrong:
        assert numbers[key].explanations[0].mistake == "matrix-transposed"
        assert numbers[key].explanations[0].explains == 4
    assert numbers["accuracy"].explanations == ()


def test_flipped_decisions_are_told() -> None:
    wrong = {"accuracy": "0.0330", "recall": "0.0466", "mcc": "-0.9338", "precision": "0.0402"}
    numbers = judged(claim_of(FOREST, wrong))
    assert {one.explanations[0].mistake for one in numbers.values()} == {"decisions-flipped"}


def test_two_cells_of_three_classes_are_named_by_row_and_column() -> None:
    swapped = np.array([[45, 3, 3], [4, 38, 2], [1, 2, 52]])
    hits, rows, columns = np.diag(swapped), swapped.sum(axis=1), swapped.sum(axis=0)
    wrong = {
        "recall.A": f"{hits[0] / rows[0]:.4f}",
        "recall.B": f"{hits[1] / rows[1]:.4f}",
        "f1.A": f"{2 * hits[0] / (rows + columns)[0]:.4f}",
    }
    numbers = judged(claim_of(DARKNET, wrong | {"accuracy": "0.9000", "precision.A": "0.9000"}))
    assert {numbers[key].explanations[0].mistake for key in wrong} == {"cells-swapped:1.3,2.3"}
    assert "true 'A', decided 'C'" in numbers["f1.A"].explanations[0].text


def test_training_rows_counted_with_the_test_are_told() -> None:
    more = sum(TRAINED.values())
    accuracy = f"{(14378 + more) / (14869 + more):.4f}"
    recall = f"{(6635 + 15_000) / (6959 + 15_000):.4f}"
    numbers = judged(claim_of(FOREST, {"accuracy": accuracy, "recall": recall}, train=TRAINED))
    assert numbers["accuracy"].explanations[0].mistake == "train-and-test"
    assert numbers["recall"].explanations[0].explains == 2
    cells = {"tn": 19_990, "fp": 10, "fn": 40, "tp": 14_960}
    recall = f"{(6635 + 14_960) / (6959 + 15_000):.5f}"
    assert first(FOREST, "recall", recall, train=cells) == "train-and-test"


def test_training_rows_of_a_usual_split_and_of_a_named_set_are_tried() -> None:
    accuracy = f"{(14378 + 4 * 14869) / (5 * 14869):.5f}"
    reasons = explanations(FOREST, "accuracy", {"accuracy": accuracy})
    assert reasons[0].mistake == "train-and-test"
    assert "80/20" in reasons[0].text
    test_part = {"tn": 9_000, "fp": 711, "fn": 2_833, "tp": 10_000}
    accuracy = f"{(19_000 + 125_973) / (22_544 + 125_973):.5f}"
    reasons = explanations(test_part, "accuracy", {"accuracy": accuracy}, dataset="NSL-KDD")
    assert "KDDTrain+" in reasons[0].text


# -- scores ----------------------------------------------------------------------------------------


def decided() -> tuple[np.ndarray, np.ndarray]:
    cells = [(0, 0, 7743), (0, 1, 167), (1, 0, 324), (1, 1, 6635)]
    truth = np.concatenate([np.full(n, y) for y, _, n in cells])
    return truth, np.concatenate([np.full(n, d) for _, d, n in cells])


def test_area_of_the_hard_decisions_is_told_of_a_number_that_nothing_decides() -> None:
    number = judged(claim_of(FOREST, {"roc_auc": "0.9662"}))["roc_auc"]
    assert number.verdict is NumberVerdict.UNDETERMINED
    assert [one.mistake for one in number.explanations] == ["auc-from-decisions"]
    assert judged(claim_of(FOREST, {"roc_auc": "0.9938"}))["roc_auc"].explanations == ()
    assert judged(claim_of(FOREST, {"roc_auc": "0.97"}))["roc_auc"].explanations == ()


def test_average_precision_of_the_hard_decisions_is_that_of_a_library() -> None:
    truth, decision = decided()
    step = f"{average_precision_score(truth, decision):.5f}"
    assert first(FOREST, "average_precision", step) == "ap-from-decisions"
    precision, recall, _ = precision_recall_curve(truth, decision)
    trapezoid = f"{auc(recall, precision):.5f}"
    assert first(FOREST, "average_precision", trapezoid) == "ap-trapezoid"


def test_average_precision_divided_by_the_rows_is_told() -> None:
    value = f"{0.95 / 14869:.3e}"
    assert first(FOREST, "average_precision", value) == "ap-divided-by-n"


def test_area_below_what_the_operating_point_allows_may_be_that_of_turned_scores() -> None:
    assert first(FOREST, "roc_auc", "0.0062") == "complement"


# -- folds, standard errors and intervals ----------------------------------------------------------

FOLDS = ["0.9612", "0.9723", "0.9534", "0.9688", "0.9655"]


def of_folds(statistic, value):
    key = f"accuracy.{statistic}"
    claim = claim_of(FOREST, {key: value}, folds={"accuracy": FOLDS})
    return judged(claim)[key].explanations


def test_deviation_divided_by_the_number_of_folds_is_told() -> None:
    spread = np.array(FOLDS, float).std()
    assert of_folds("sd", f"{spread:.5f}")[0].mistake == "sd-ddof-0"


def test_mean_of_folds_with_the_point_moved_is_told() -> None:
    mean = np.array(FOLDS, float).mean()
    assert of_folds("mean", f"{mean / 10:.5f}")[0].mistake == "decimal-shift"


@pytest.mark.parametrize(
    ("n", "said"),
    [(7910, "the rows of 'normal'"), (35_000, "the rows of the training part")],
)
def test_standard_error_and_interval_with_a_wrong_n_are_told(n, said) -> None:
    p = 14378 / 14869
    error = math.sqrt(p * (1 - p) / n)
    reasons = explanations(FOREST, "accuracy.se", {"accuracy.se": f"{error:.3e}"}, train=TRAINED)
    assert reasons[0].mistake == "wrong-n"
    assert said in reasons[0].text
    ends = [f"{p - 1.96 * error:.5f}", f"{p + 1.96 * error:.5f}"]
    reasons = explanations(FOREST, "accuracy.ci", {"accuracy.ci": ends}, train=TRAINED)
    assert reasons[0].mistake == "wrong-n"
    assert said in reasons[0].text


def test_interval_of_three_standard_errors_is_told() -> None:
    p = 14378 / 14869
    reach = 3 * math.sqrt(p * (1 - p) / 14869)
    reasons = explanations(
        FOREST, "accuracy.ci", {"accuracy.ci": [f"{p - reach:.5f}", f"{p + reach:.5f}"]}
    )
    assert reasons[0].mistake == "wrong-z"
    assert "A z of 3" in reasons[0].text


def test_error_from_a_variance_ten_times_too_large_carries_into_the_interval() -> None:
    reported = {"accuracy": "0.9670", "accuracy.se": "0.0046", "accuracy.ci": ["0.9580", "0.9760"]}
    numbers = judged(claim_of(FOREST, reported))
    for key in ("accuracy.se", "accuracy.ci"):
        assert numbers[key].explanations[0].mistake == "variance-decimal-shift"
        assert numbers[key].explanations[0].explains == 2
    assert "from-reported-se" in {one.mistake for one in numbers["accuracy.ci"].explanations}


# -- sizes and arithmetic --------------------------------------------------------------------------


def sized(**more):
    numbers = judged(claim_of(FOREST, {"accuracy": "0.9670"}, **more))
    return next(one for key, one in numbers.items() if key != "accuracy").explanations


def test_stated_size_with_the_training_rows_in_it_is_told() -> None:
    assert sized(n="49,869", train=TRAINED)[0].mistake == "train-and-test"
    assert sized(n="7,910")[0].mistake == "one-class"
    assert sized(n="14,702")[0].mistake == "cell-left-out"


def test_stated_rows_of_a_label_that_are_its_decisions_are_told() -> None:
    numbers = judged(
        claim_of(FOREST, {"accuracy": "0.9670"}, support={"normal": 8067, "attack": 6959})
    )
    assert numbers["support.normal"].explanations[0].mistake == "decided-for-true"


@pytest.mark.parametrize(
    ("expression", "reported", "mistake"),
    [
        ("51324897/5499780.89", "0.9333", "decimal-shift"),
        ("0.9670*0.0330/14869", "0.0000215", "decimal-shift"),
        ("sqrt(6802*6959)", "47,335,118", "no-root"),
        ("(6635 + 7743)/14869", "6,635.5", "parentheses-left-out"),
        ("6635*7743 - 167*324", "51,428,913", "wrong-sign"),
        ("6635/(6635 + 167)", "0.9534", "cell-for-cell"),
    ],
)
def test_slip_in_a_line_of_arithmetic_is_told(expression, reported, mistake) -> None:
    line = {"expression": expression, "reported": reported}
    number = judged(claim_of(FOREST, {"accuracy": "0.9670"}, arithmetic=[line]))[expression]
    assert number.verdict is NumberVerdict.INCONSISTENT
    assert number.explanations[0].mistake == mistake


# -- what is not explained -------------------------------------------------------------------------


def test_number_that_no_reading_gives_is_not_explained() -> None:
    reported = {"mcc": "0.845", "accuracy": "0.900", "recall.B": "0.844", "precision.C": "0.912"}
    assert explanations(DARKNET, "mcc", reported) == ()


def test_two_mistakes_at_once_need_four_digits() -> None:
    # 1 - FDR is the precision; a FPR taken for the FDR and then turned over, one place too far.
    npv_complement = 1 - 7743 / (7743 + 324)
    reasons = explanations(FOREST, "precision", {"precision": f"{npv_complement / 10:.6f}"})
    assert "+" in reasons[0].mistake
    assert explanations(FOREST, "precision", {"precision": f"{npv_complement / 10:.5f}"}) == ()


def test_chance_is_high_where_few_digits_are_printed_and_said_to_be() -> None:
    few = explanations(FOREST, "precision", {"precision": "0.9"})
    many = explanations(FOREST, "precision", {"precision": "0.9534"})
    assert few == () or few[0].chance > many[0].chance
    low = explanations({"tn": 30, "fp": 20, "fn": 25, "tp": 10}, "accuracy", {"accuracy": "0.3"})
    assert low[0].chance > 0.3
    assert "a random number of 1 digit would be explained" in low[0].text


def test_percent_without_its_sign_is_explained_as_the_claim_reads_it() -> None:
    reported = {"accuracy": "96.70", "fpr": "2.46", "recall": "95.34"}
    reasons = explanations(FOREST, "fpr", reported)
    assert reasons[0].mistake == "fdr-for-fpr"


def test_hostile_label_does_not_break_a_sentence() -> None:
    cells = {"labels": ["\x1b[31m", "x" * 500, "c"], "matrix": DARKNET["matrix"]}
    reasons = explanations(cells, "f1.macro", {"f1.macro": "0.9000"})
    for one in reasons:
        assert "\x1b" not in one.text
        assert len(one.text) < 600
