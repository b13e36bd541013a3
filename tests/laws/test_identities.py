"""What measures have to do with each other."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.formula import of_classes, value
from assay.measures import f_beta, find

from .counted import of_cells, of_matrix
from .reference import binary_cells, class_cells, number

CLOSE = 1e-12

COUNT = st.one_of(st.integers(0, 3), st.integers(0, 10**6))
CELLS = st.fixed_dictionaries({"tp": COUNT, "fp": COUNT, "fn": COUNT, "tn": COUNT}).filter(
    lambda cells: any(cells.values())
)
TABLES = st.lists(
    st.lists(st.integers(0, 9), min_size=3, max_size=3), min_size=3, max_size=3
).filter(lambda table: any(map(any, table)))


def of(name: str, cells: dict[str, int]) -> float:
    """The value of a measure, of the four cells."""
    return of_cells(**cells).value(name)


def assert_same(a: float, b: float) -> None:
    if math.isnan(a) or math.isnan(b):
        assert math.isnan(a)
        assert math.isnan(b)
    else:
        assert a == pytest.approx(b, rel=CLOSE, abs=CLOSE)


@given(CELLS)
def test_f1_is_the_harmonic_mean_of_precision_and_recall(cells: dict[str, int]) -> None:
    precision, recall = of("precision", cells), of("recall", cells)
    if precision > 0 and recall > 0:
        assert_same(of("f1", cells), 2 / (1 / precision + 1 / recall))


@given(CELLS)
def test_f1_is_zero_where_errors_are_all_there_is(cells: dict[str, int]) -> None:
    if cells["tp"] == 0 and cells["fp"] + cells["fn"] > 0:
        assert of("f1", cells) == 0


@given(CELLS)
def test_jaccard_is_f1_over_two_minus_f1(cells: dict[str, int]) -> None:
    f1 = of("f1", cells)
    assert_same(of("jaccard", cells), f1 / (2 - f1))


@given(CELLS)
def test_fowlkes_mallows_is_the_geometric_mean_of_precision_and_recall(
    cells: dict[str, int],
) -> None:
    both = of("precision", cells) * of("recall", cells)
    assert_same(of("fowlkes_mallows", cells) ** 2, both)


@given(CELLS)
def test_harmonic_geometric_and_arithmetic_means_are_in_order(cells: dict[str, int]) -> None:
    precision, recall = of("precision", cells), of("recall", cells)
    if precision > 0 and recall > 0:
        means = (of("f1", cells), of("fowlkes_mallows", cells), (precision + recall) / 2)
        assert means[0] <= means[1] * (1 + CLOSE)
        assert means[1] <= means[2] * (1 + CLOSE)


@given(CELLS)
def test_g_mean_squared_is_detection_rate_times_specificity(cells: dict[str, int]) -> None:
    assert_same(of("g_mean", cells) ** 2, of("tpr", cells) * of("tnr", cells))


@given(CELLS)
def test_informedness_is_detection_rate_plus_specificity_minus_one(cells: dict[str, int]) -> None:
    assert_same(of("informedness", cells), of("tpr", cells) + of("tnr", cells) - 1)


@given(CELLS)
def test_balanced_accuracy_is_half_of_informedness_plus_one(cells: dict[str, int]) -> None:
    assert_same(of("balanced_accuracy", cells), (of("informedness", cells) + 1) / 2)


@given(CELLS)
def test_markedness_is_both_predictive_values_minus_one(cells: dict[str, int]) -> None:
    assert_same(of("markedness", cells), of("ppv", cells) + of("npv", cells) - 1)


@given(CELLS)
def test_mcc_squared_is_informedness_times_markedness(cells: dict[str, int]) -> None:
    product = of("informedness", cells) * of("markedness", cells)
    assert_same(of("mcc", cells) ** 2, product)


@given(CELLS)
def test_mcc_has_the_sign_of_informedness(cells: dict[str, int]) -> None:
    mcc, informedness = of("mcc", cells), of("informedness", cells)
    if not math.isnan(mcc):
        assert (mcc > 0) is (informedness > 0)
        assert (mcc < 0) is (informedness < 0)


@given(CELLS)
def test_positive_likelihood_ratio_is_detection_rate_over_false_positive_rate(
    cells: dict[str, int],
) -> None:
    if cells["fp"]:
        ratio = of("tpr", cells) / of("fpr", cells)
        assert_same(of("positive_likelihood_ratio", cells), ratio)


@given(CELLS)
def test_negative_likelihood_ratio_is_miss_rate_over_specificity(cells: dict[str, int]) -> None:
    if cells["tn"]:
        assert_same(of("negative_likelihood_ratio", cells), of("fnr", cells) / of("tnr", cells))


@given(CELLS)
def test_diagnostic_odds_ratio_is_the_ratio_of_both_likelihood_ratios(
    cells: dict[str, int],
) -> None:
    if all(cells.values()):
        ratio = of("positive_likelihood_ratio", cells) / of("negative_likelihood_ratio", cells)
        assert_same(of("diagnostic_odds_ratio", cells), ratio)


@given(CELLS)
def test_an_alarm_multiplies_the_odds_by_the_likelihood_ratio(cells: dict[str, int]) -> None:
    if all(cells.values()):
        before = (cells["tp"] + cells["fn"]) / (cells["fp"] + cells["tn"])
        after = of("precision", cells) / of("false_discovery_rate", cells)
        assert_same(after, before * of("positive_likelihood_ratio", cells))


@given(CELLS)
def test_accuracy_is_the_mean_of_both_rates_weighted_by_prevalence(cells: dict[str, int]) -> None:
    prevalence = of("prevalence", cells)
    mixed = prevalence * of("tpr", cells) + (1 - prevalence) * of("tnr", cells)
    if not math.isnan(mixed):
        assert_same(of("accuracy", cells), mixed)


@given(CELLS)
def test_alert_rate_is_true_and_false_alarms(cells: dict[str, int]) -> None:
    prevalence = of("prevalence", cells)
    alarms = prevalence * of("tpr", cells) + (1 - prevalence) * of("fpr", cells)
    if not math.isnan(alarms):
        assert_same(of("alert_rate", cells), alarms)


@given(TABLES)
def test_kappa_is_agreement_beyond_chance_over_what_chance_leaves(table: list[list[int]]) -> None:
    kappa, cells = find("kappa"), class_cells(table)
    rows = sum(map(sum, table))
    observed = Fraction(sum(table[i][i] for i in range(3)), rows)
    expected = Fraction(
        sum(sum(table[i]) * sum(row[i] for row in table) for i in range(3)), rows * rows
    )
    assert value(kappa.parts["p_o"], cells) == float(observed)
    assert value(kappa.parts["p_e"], cells) == float(expected)
    if expected == 1:
        assert math.isnan(value(kappa.classes, cells))
    else:
        assert value(kappa.classes, cells) == float((observed - expected) / (1 - expected))


@given(TABLES)
def test_micro_averages_are_all_the_accuracy(table: list[list[int]]) -> None:
    rows = of_matrix(table)
    for name in ("precision", "recall", "f1", "fowlkes_mallows"):
        assert rows.value(f"{name}.micro") == rows.value("accuracy")
    for name in ("false_discovery_rate", "false_negative_rate"):
        assert rows.value(f"{name}.micro") == rows.value("error_rate")


@given(TABLES)
def test_macro_recall_is_balanced_accuracy(table: list[list[int]]) -> None:
    cells = class_cells(table)
    recall = find("recall").formula
    balanced = find("balanced_accuracy").classes
    assert recall is not None
    assert balanced is not None
    assert_same(value(of_classes(recall, "macro"), cells), value(balanced, cells))


@given(TABLES)
def test_weighted_recall_is_accuracy(table: list[list[int]]) -> None:
    rows = of_matrix(table)
    assert rows.value("recall.weighted") == rows.value("accuracy")


@given(TABLES)
def test_macro_jaccard_is_jaccard(table: list[list[int]]) -> None:
    rows = of_matrix(table)
    assert_same(rows["jaccard"], rows["jaccard.macro"])


@settings(max_examples=15)
@given(TABLES)
def test_the_macro_over_defined_classes_leaves_out_those_without_a_value(
    table: list[list[int]],
) -> None:
    rows = of_matrix(table)
    precision = find("precision").formula
    assert precision is not None
    pairs = []
    for i in range(3):
        cells = binary_cells(table, i)
        if cells["TP"] + cells["FP"]:
            pairs.append(number(precision, cells))
    assert math.isnan(rows["precision.macro"]) is (len(pairs) < 3)
    assert rows.value("precision.macro_defined") == float(sum(pairs) / len(pairs))


BETAS = st.integers(1, 400).map(lambda hundredths: hundredths / 100)


@given(CELLS, BETAS)
def test_f_beta_lies_between_precision_and_recall(cells: dict[str, int], beta: float) -> None:
    precision, recall = of("precision", cells), of("recall", cells)
    estimate = of_cells(**cells).of(f_beta(beta))
    if not (math.isnan(precision) or math.isnan(recall)) and cells["tp"]:
        low, high = sorted((precision, recall))
        assert low * (1 - CLOSE) <= estimate <= high * (1 + CLOSE)


@given(CELLS, st.sets(BETAS, min_size=2, max_size=4))
def test_f_beta_moves_from_precision_to_recall_as_beta_grows(
    cells: dict[str, int], betas: set[float]
) -> None:
    precision, recall = of("precision", cells), of("recall", cells)
    estimates = [of_cells(**cells).of(f_beta(beta)) for beta in sorted(betas)]
    if cells["tp"]:
        for smaller, larger in pairwise(estimates):
            step = (larger - smaller) * (1 if recall >= precision else -1)
            assert step >= -CLOSE


RATES = st.fractions(Fraction(1, 1000), Fraction(999, 1000), max_denominator=1000)


@given(CELLS, RATES)
def test_precision_at_a_base_rate_is_bayes_rule(cells: dict[str, int], rate: Fraction) -> None:
    share = float(rate)
    tpr, fpr = of("tpr", cells), of("fpr", cells)
    figure = of_cells(**cells).of(find("precision"), base_rate=share)
    alarms = share * tpr + (1 - share) * fpr
    if math.isnan(alarms) or alarms == 0:
        assert math.isnan(figure)
    else:
        assert_same(figure, share * tpr / alarms)


@pytest.mark.parametrize("name", ["recall", "specificity", "informedness"])
def test_a_base_rate_changes_nothing_for_rates_of_one_class(name: str) -> None:
    rows = of_cells(tp=3, fp=1, fn=2, tn=4)
    assert rows.of(find(name), base_rate=0.01) == pytest.approx(rows.value(name), rel=CLOSE)
