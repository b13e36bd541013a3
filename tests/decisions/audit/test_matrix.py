"""Reported values against a confusion matrix."""

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.decisions.audit import audit

FOREST = {"tn": 7743, "fp": 167, "fn": 324, "tp": 6635}
NETWORK = {"tn": 480, "fp": 7430, "fn": 614, "tp": 6345}
DARKNET = {"labels": ["A", "B", "C"], "matrix": [[45, 3, 2], [4, 38, 3], [1, 2, 52]]}


def numbers(**claim):
    return {number.key: number for number in audit(claim).claims[0].numbers}


def forest(reported, **claim):
    named = {"confusion": FOREST, "positive": "attack", "negative": "normal"}
    return numbers(**(named | claim), reported=reported)


# -- documents -------------------------------------------------------------------------------------


def test_the_forest_is_judged_as_the_catalogue_of_its_document_does() -> None:
    judgements = forest(
        {
            "accuracy": "96.70%",
            "precision": "0.9754",
            "precision.normal": "0.9598",
            "recall.normal": "97.89%",
            "fpr": "2.11%",
            "fnr": "0.0466",
            "f1": "0.9643",
            "f1.normal": "0.9693",
            "f1.weighted": "0.9670",
            "balanced_accuracy": "0.9662",
            "kappa": "0.9336",
            "prevalence": "0.4681",
            "mcc": "0.9333",
        }
    )
    verdicts = {key: str(number.verdict) for key, number in judgements.items()}
    assert verdicts.pop("mcc") == "inconsistent"
    assert verdicts.pop("prevalence") == "rounding"
    assert set(verdicts.values()) == {"consistent"}
    assert judgements["mcc"].recomputed == pytest.approx(0.9338057498530826, rel=1e-15)
    assert judgements["accuracy"].said == "14,378/14,869 = 96.698%, correctly rounded"


def test_numbers_that_follow_from_printed_ones_are_rounding_and_said_so() -> None:
    judgements = numbers(
        **DARKNET,
        reported={
            "precision.A": "0.900",
            "precision.C": "0.912",
            "recall.A": "0.900",
            "recall.B": "0.844",
            "recall.C": "0.945",
            "f1.C": "0.928",
            "recall.macro": "0.896",
            "mcc": "0.845",
        },
    )
    assert str(judgements["f1.C"].verdict) == str(judgements["recall.macro"].verdict) == "rounding"
    assert "follows from the printed precision.C and recall.C" in judgements["f1.C"].said
    assert "mean of the printed recall of each class" in judgements["recall.macro"].said
    assert str(judgements["mcc"].verdict) == "inconsistent"


def test_balanced_accuracy_of_rounded_rates_is_said_so() -> None:
    judgements = numbers(
        confusion=NETWORK,
        reported={"recall": "0.9118", "specificity": "0.0607", "balanced_accuracy": "0.4863"},
    )
    assert str(judgements["balanced_accuracy"].verdict) == "rounding"
    assert "the printed recall and specificity" in judgements["balanced_accuracy"].said


# -- numbers from rounded numbers ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cells", "reported", "key"),
    [
        # 8/9 and 8/17 to one digit: F1 is 0.6154, but 0.6429 from 0.9 and 0.5.
        ((90, 1, 9, 8), {"precision": "0.9", "recall": "0.5", "f1": "0.6429"}, "f1"),
        ((90, 1, 9, 8), {"precision": "0.9", "recall": "0.5", "f1": "0.6428"}, "f1"),
        ((90, 1, 9, 8), {"precision": "0.9", "recall": "0.5", "f2": "0.549"}, "f2"),
        ((90, 1, 9, 8), {"precision": "0.9", "recall": "0.5", "jaccard": "0.474"}, "jaccard"),
        ((90, 1, 9, 8), {"precision": "0.9", "fdr": "0.100"}, "fdr"),
        ((90, 1, 9, 8), {"ppv": "0.9", "far": "0.100"}, "far"),
        ((90, 1, 9, 8), {"recall": "0.5", "fnr": "0.500"}, "fnr"),
        ((90, 1, 9, 8), {"accuracy": "0.9", "error_rate": "0.100"}, "error_rate"),
        ((90, 5, 9, 8), {"recall": "0.5", "fpr": "0.1", "youden_j": "0.400"}, "youden_j"),
        ((90, 5, 9, 8), {"tpr": "0.5", "recall.normal": "0.9", "g_mean": "0.671"}, "g_mean"),
        ((90, 5, 9, 8), {"tpr": "0.5", "tnr": "0.9", "lr_plus": "5.00"}, "lr_plus"),
    ],
)
def test_what_the_rounded_numbers_of_the_claim_give_is_rounding(cells, reported, key) -> None:
    confusion = dict(zip(("tn", "fp", "fn", "tp"), cells, strict=True))
    together = numbers(confusion=confusion, negative="normal", reported=reported)
    assert str(together[key].verdict) == "rounding"
    assert "follows from" in together[key].said
    alone = numbers(confusion=confusion, negative="normal", reported={key: reported[key]})
    assert str(alone[key].verdict) == "inconsistent"


def test_a_wrong_number_is_nothing_to_build_on() -> None:
    judgements = numbers(
        confusion={"tn": 90, "fp": 1, "fn": 9, "tp": 8},
        reported={"precision": "0.7", "recall": "0.5", "f1": "0.583"},
    )
    assert str(judgements["precision"].verdict) == "inconsistent"
    assert str(judgements["f1"].verdict) == "inconsistent"


def test_macro_f1_of_macro_averages_is_another_definition_and_said_so() -> None:
    judgements = numbers(
        labels=["A", "B", "C"],
        matrix=[[9, 90, 1], [0, 50, 0], [30, 0, 70]],
        reported={"precision.macro": "0.525", "recall.macro": "0.597", "f1.macro": "0.559"},
    )
    assert str(judgements["f1.macro"].verdict) == "rounding"
    assert "another definition of the macro f1" in judgements["f1.macro"].said


# -- several readings ------------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "which"), [("0.0246", "FDR"), ("0.0211", "FPR")])
@pytest.mark.parametrize("key", ["far", "false_alarm_rate"])
def test_a_false_alarm_rate_may_be_either_and_it_is_said_which(key, text, which) -> None:
    (number,) = forest({key: text}).values()
    assert str(number.verdict) == "consistent"
    assert number.said.startswith(which)


def test_other_names_of_the_false_discovery_rate_mean_just_that() -> None:
    assert str(forest({"fdr": "0.0211"})["fdr"].verdict) == "inconsistent"
    assert str(forest({"far": "0.0300"})["far"].verdict) == "inconsistent"


@pytest.mark.parametrize(
    ("text", "which"), [("0.8987", "macro"), ("0.9000", "micro"), ("0.8996", "weighted")]
)
def test_a_bare_precision_of_many_classes_may_be_any_average(text, which) -> None:
    number = numbers(**DARKNET, reported={"precision": text})["precision"]
    assert str(number.verdict) == "consistent"
    assert number.said.startswith(f"{which} average")


def test_a_bare_precision_of_many_classes_is_not_that_of_one_class() -> None:
    number = numbers(**DARKNET, reported={"precision": "0.9123"})["precision"]
    assert str(number.verdict) == "inconsistent"


def test_averages_of_two_classes_are_averages() -> None:
    judgements = forest(
        {"precision.macro": "0.9676", "recall.weighted": "0.9670", "f1.micro": "0.9670"}
    )
    assert {str(number.verdict) for number in judgements.values()} == {"consistent"}


def test_the_accuracy_of_a_class_may_be_its_recall() -> None:
    judgements = numbers(**DARKNET, reported={"accuracy.B": "0.844", "error_rate.B": "0.156"})
    assert {str(number.verdict) for number in judgements.values()} == {"consistent"}
    assert judgements["accuracy.B"].said.startswith("recall, 38/45")
    assert str(numbers(**DARKNET, reported={"accuracy.B": "0.92"})["accuracy.B"].verdict) == (
        "consistent"
    )


# -- percentages -----------------------------------------------------------------------------------


def test_a_number_beyond_the_range_is_a_percentage_and_that_is_said() -> None:
    judgements = forest({"accuracy": "96.70", "mcc": "93.38", "specificity": 97.9})
    assert {str(number.verdict) for number in judgements.values()} == {"consistent"}
    assert all(number.said.endswith("(read as a percentage)") for number in judgements.values())


def test_beside_such_numbers_a_small_one_may_be_a_percentage_too() -> None:
    secuml = {"tn": 9980, "fp": 10, "fn": 2, "tp": 8}
    told = {"confusion": secuml, "positive": "spam"}
    judgements = numbers(**told, reported={"accuracy": "99.88", "fpr.spam": "0.10"})
    assert str(judgements["fpr.spam"].verdict) == "consistent"
    alone = numbers(**told, reported={"fpr.spam": "0.10"})["fpr.spam"]
    assert str(alone.verdict) == "inconsistent"


def test_ratios_without_an_upper_end_are_never_percentages() -> None:
    number = forest({"positive_likelihood_ratio": "45.16"})["positive_likelihood_ratio"]
    assert str(number.verdict) == "consistent"
    assert "percentage" not in number.said


# -- averages over two classes ---------------------------------------------------------------------

# Weka and scikit-learn print the weighted average where the value of one class is expected.
TWO = {"tn": 900, "fp": 100, "fn": 60, "tp": 340}


@pytest.mark.parametrize(
    ("key", "text", "said"),
    [
        ("recall", "0.8500", "340/400"),
        ("recall", "0.8857", "weighted average"),
        ("recall", "0.8750", "macro average"),
        ("precision", "0.8904", "weighted average"),
        ("precision", "0.8551", "macro average"),
        ("f1", "0.8873", "weighted average"),
        ("fpr", "0.1357", "weighted average"),
    ],
)
def test_a_bare_rate_of_two_classes_may_be_an_average_and_it_is_said_which(key, text, said) -> None:
    judgement = numbers(confusion=TWO, reported={key: text})[key]
    assert str(judgement.verdict) == "consistent"
    assert judgement.said.startswith(said)


def test_the_value_of_the_positive_class_comes_before_any_average() -> None:
    # 0.85 is the recall, 0.850 its weighted average too in this matrix.
    judgements = numbers(
        confusion={"tn": 85, "fp": 15, "fn": 15, "tp": 85}, reported={"recall": "0.85"}
    )
    assert judgements["recall"].said.startswith("85/100")


def test_weighted_comes_before_micro() -> None:
    # The weighted recall and the micro recall are both the accuracy.
    number = numbers(confusion=TWO, reported={"recall": "0.8857"})["recall"]
    assert "weighted average" in number.said
    assert "micro" not in number.said


def test_a_rate_of_a_named_class_is_never_an_average_but_may_have_been_taken_for_one() -> None:
    judgements = numbers(confusion=TWO, positive="attack", reported={"recall.attack": "0.8857"})
    assert str(judgements["recall.attack"].verdict) == "inconsistent"
    (explanation,) = judgements["recall.attack"].explanations
    assert explanation.mistake == "weighted-for-label"
    assert "micro-for-label" in explanation.also


# -- undefined -------------------------------------------------------------------------------------


def test_a_number_where_there_is_none_is_undetermined_with_the_reason() -> None:
    silent = {"tn": 98, "fp": 0, "fn": 2, "tp": 0}
    judgements = numbers(confusion=silent, reported={"precision": "0", "f1": "0.0", "mcc": "0.3"})
    assert str(judgements["precision"].verdict) == "undetermined"
    assert "nothing was flagged" in judgements["precision"].said
    assert "some libraries print 0" in judgements["precision"].said
    assert str(judgements["f1"].verdict) == "consistent"
    assert str(judgements["mcc"].verdict) == "undetermined"


def test_an_average_with_an_undefined_class_says_which_convention_gives_it() -> None:
    claim = {"labels": ["A", "B", "C"], "matrix": [[5, 5, 0], [0, 10, 0], [0, 10, 0]]}
    number = numbers(**claim, reported={"precision.macro": "0.467"})["precision.macro"]
    assert str(number.verdict) == "undetermined"
    assert "with 0 for that class" in number.said


def test_measures_of_two_classes_are_not_judged_for_many() -> None:
    judgements = numbers(**DARKNET, reported={"youden_j": "0.8", "lr_plus": "3"})
    assert {str(number.verdict) for number in judgements.values()} == {"undetermined"}


# -- areas under curves, which a matrix can only rule out ------------------------------------------


def verdict(key, text, cells, **claim):
    confusion = dict(zip(("tn", "fp", "fn", "tp"), cells, strict=True))
    number = audit({"confusion": confusion, "reported": {key: text}, **claim}).claims[0].numbers[0]
    assert number.recomputed is None
    return str(number.verdict)


def test_an_area_within_the_bounds_is_undetermined() -> None:
    assert verdict("roc_auc", "0.9938", (7743, 167, 324, 6635)) == "undetermined"
    assert verdict("roc_auc", "48.12%", (480, 7430, 614, 6345)) == "undetermined"
    assert verdict("ap", "0.9823", (7743, 167, 324, 6635)) == "undetermined"


def test_an_area_that_no_scores_can_give_is_inconsistent() -> None:
    assert verdict("roc_auc", "0.4812", (480, 7430, 6345, 614)) == "inconsistent"
    assert verdict("auc", "0.90", (7743, 167, 324, 6635)) == "inconsistent"
    assert verdict("ap", "0.50", (7743, 167, 324, 6635)) == "inconsistent"
    assert verdict("ap", "1.000", (7743, 167, 324, 6635)) == "inconsistent"


def test_an_area_of_hard_decisions_is_left_open_and_told() -> None:
    confusion = {"tn": 7743, "fp": 167, "fn": 324, "tp": 6635}
    number = audit({"confusion": confusion, "reported": {"auc": "0.9662"}}).claims[0].numbers[0]
    assert str(number.verdict) == "undetermined"
    assert "the decisions alone" in number.said


def test_the_bounds_are_read_to_the_printed_digits() -> None:
    # At most 1 - 1/10 * 1/10 = 0.99.
    cells = (9, 1, 1, 9)
    assert verdict("auc", "0.99", cells) == "undetermined"
    assert verdict("auc", "1.00", cells) == "inconsistent"
    assert verdict("auc", "1.0", cells) == "undetermined"


def test_measures_of_probabilities_are_ruled_out_by_their_range_alone() -> None:
    cells = (9, 1, 1, 9)
    assert verdict("log_loss", "0.3", cells) == "undetermined"
    assert verdict("log_loss", "-0.3", cells) == "inconsistent"
    assert verdict("brier", "0.2", cells) == "undetermined"
    assert verdict("roc_auc", "-0.2", cells) == "inconsistent"


def test_many_classes_and_means_of_folds_have_no_operating_point() -> None:
    claim = {"labels": ["A", "B", "C"], "matrix": [[1, 9, 0], [9, 1, 0], [0, 9, 1]]}
    number = audit({**claim, "reported": {"roc_auc.macro": "0.99"}}).claims[0].numbers[0]
    assert str(number.verdict) == "undetermined"
    cells = (480, 7430, 6345, 614)
    assert verdict("roc_auc", "0.4812", cells, aggregate="fold-mean") == "undetermined"


# -- oracles ---------------------------------------------------------------------------------------

cells = st.integers(0, 60)


@given(st.tuples(cells, cells, cells, cells), st.integers(2, 6))
def test_exact_values_printed_at_any_length_are_consistent(counts, digits) -> None:
    tn, fp, fn, tp = counts
    exact = {
        "precision": (tp, tp + fp),
        "recall": (tp, tp + fn),
        "specificity": (tn, tn + fp),
        "accuracy": (tp + tn, sum(counts)),
        "f1": (2 * tp, 2 * tp + fp + fn),
        "npv": (tn, tn + fn),
    }
    reported = {key: f"{a / b:.{digits}f}" for key, (a, b) in exact.items() if b}
    confusion = dict(zip(("tn", "fp", "fn", "tp"), counts, strict=True))
    for judgement in numbers(confusion=confusion, reported=reported).values():
        assert str(judgement.verdict) == "consistent"
        a, b = exact[judgement.key]
        assert judgement.recomputed == a / b


def test_a_number_two_units_off_is_never_let_through() -> None:
    for (tn, fp, fn, tp), off in product([(40, 3, 7, 50), (900, 17, 33, 55)], (-2, 2, 5)):
        value = Fraction(tp + tn, tn + fp + fn + tp)
        text = f"{float(value) + off / 1000:.3f}"
        confusion = {"tn": tn, "fp": fp, "fn": fn, "tp": tp}
        (number,) = numbers(confusion=confusion, reported={"accuracy": text}).values()
        assert str(number.verdict) == "inconsistent"
