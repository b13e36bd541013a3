"""The numbers of the documents by the measures, and the laws that the documents state."""

import math
from decimal import Decimal
from fractions import Fraction
from functools import cache
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.laws.counted import Counted, counted, of_cells, of_matrix

from assay.inference import (
    Bootstrap,
    Quantity,
    Wald,
    Wilson,
    five_by_two_t,
    mcnemar,
    paired_t,
)
from assay.inference.bootstrap import interval, resampled
from assay.measures import KAPPA, MCC, find
from assay.measures.curves import far_dr, recall_at, roc, sweep

from .documents import GIVEN, MATRICES, RIGHT, WRONG, Number, every, is_numeric, value_and_unit

# The level at which the normal quantile is 1.96 exactly.
LEVEL_OF_196 = math.erf(1.96 / math.sqrt(2))


def measured(rows: tuple[Number, ...]) -> tuple[Number, ...]:
    return tuple(row for row in rows if row.measure and row.counts and is_numeric(row))


@cache
def evaluated(key: str) -> Counted:
    matrix = MATRICES[key]
    return of_matrix(matrix.rows, matrix.labels, matrix.positive)


def value_by_assay(row: Number) -> float:
    """What assay gives for a row: a measure, or its standard error or Wald end at z = 1.96."""
    name, _, part = row.measure.partition(".")
    if part not in ("se", "ci"):
        return evaluated(row.counts)[row.measure].value
    wald = evaluated(row.counts).at(method=Wald(LEVEL_OF_196))[name]
    if part == "ci":
        return {"low": wald.low, "high": wald.high}[row.end]
    return wald.parts["se"]


def printed_like(value: float, text: str) -> str:
    """A value at as many digits as a document prints."""
    digits = len(text.removesuffix("%").partition(".")[2])
    return f"{value:.{digits}%}" if text.endswith("%") else f"{value:.{digits}f}"


# -- every number that is a measure of a matrix ----------------------------------------------------


@every(measured(RIGHT + WRONG))
def test_assay_gives_the_exact_value(row: Number) -> None:
    value = value_by_assay(row)
    if row.measure.endswith((".se", ".ci")):
        assert value == pytest.approx(float(row.exact), rel=1e-12)
    else:
        assert value == float(row.exact)


@every(tuple(row for row in measured(RIGHT) if not row.note))
def test_right_number_is_what_assay_prints(row: Number) -> None:
    assert printed_like(value_by_assay(row), row.printed) == row.printed


@every(tuple(row for row in measured(RIGHT) if row.note))
def test_number_that_was_cut_or_rounded_twice_is_within_a_unit_of_what_assay_prints(
    row: Number,
) -> None:
    shown, unit = value_and_unit(row.printed)
    assert unit / 2 < abs(Fraction(value_by_assay(row)) - shown) < unit
    assert printed_like(value_by_assay(row), row.printed) != row.printed


@every(measured(WRONG))
def test_wrong_number_is_not_what_assay_prints(row: Number) -> None:
    assert printed_like(value_by_assay(row), row.printed) == row.right
    assert row.right != row.printed


def test_nothing_that_can_be_measured_is_left_out() -> None:
    assert len(measured(RIGHT)) > 60
    assert len(measured(WRONG)) > 8
    assert {row.document for row in measured(RIGHT)} == {"000", "001", "002", "003"}


# -- areas that are only given ---------------------------------------------------------------------


def area(truth: list[int], scores: list[float], counts: list[int] | None = None) -> float:
    return counted("01", truth, scores=scores, counts=counts).value("roc_auc")


@every(tuple(row for row in GIVEN + WRONG if row.allowed))
def test_area_of_any_scores_with_that_matrix_lies_within_the_bounds(row: Number) -> None:
    (tn, fp), (fn, tp) = MATRICES[row.counts].rows
    low, high = row.allowed
    truth, counts = [0, 0, 1, 1], [tn, fp, fn, tp]
    best = area(truth, [0.1, 0.6, 0.2, 0.7], counts)
    worst = area(truth, [0.2, 0.7, 0.1, 0.6], counts)
    decisions = area(truth, [0.0, 1.0, 0.0, 1.0], counts)
    assert worst == float(low)
    assert best == float(high)
    assert decisions == evaluated(row.counts)["balanced_accuracy"].value


def test_area_counts_ties_half() -> None:
    (tn, fp), (fn, tp) = MATRICES["safelink_forest"].rows
    assert round(area([0, 0, 1, 1], [0.0, 1.0, 0.0, 1.0], [tn, fp, fn, tp]), 4) == 0.9662
    assert round(tp / (tp + fn) * tn / (tn + fp), 4) == 0.9333
    assert area([0, 1] * 5, [0.5] * 10) == 0.5


def test_average_precision_of_a_perfect_ranking_is_one_and_not_divided_by_a_count() -> None:
    rows = counted("01", [0, 0, 1, 1, 1], scores=[0.1, 0.2, 0.7, 0.8, 0.9])
    assert rows["average_precision"] == 1.0


# -- losses (000, sections 11 and 12) --------------------------------------------------------------


@pytest.mark.parametrize(
    ("probability", "printed"), [(0.1, "2.303"), (0.9, "0.105"), (0.5, "0.693")]
)
def test_log_loss_of_one_row(probability: float, printed: str) -> None:
    value = counted("01", [1], scores=[probability])["log_loss"]
    assert printed_like(value.value, printed) == printed


@pytest.mark.parametrize(("probability", "expected"), [(1.0, 0.0), (0.0, 1.0), (0.5, 0.25)])
def test_squared_error_of_one_row(probability: float, expected: float) -> None:
    assert counted("01", [1], scores=[probability])["brier"] == expected


# -- intervals (000 section 20, 002 section 8) -----------------------------------------------------


def test_what_000_calls_a_bootstrap_is_the_wald_interval_with_a_tenfold_variance() -> None:
    wald = evaluated("safelink_forest").at(method=Wald(LEVEL_OF_196))["accuracy"]
    assert (f"{wald.low:.2%}", f"{wald.high:.2%}") == ("96.41%", "96.99%")
    error = math.sqrt(10 * 0.9670 * 0.0330 / 14869)
    assert f"{0.9670 - 1.96 * error:.4f}" == "0.9579"
    assert round(error, 4) == 0.0046


@pytest.mark.parametrize("key", MATRICES)
def test_wald_and_wilson_are_the_formulas_of_002(key: str) -> None:
    matrix = MATRICES[key]
    n = sum(map(sum, matrix.rows))
    share = sum(matrix.rows[i][i] for i in range(len(matrix.rows))) / n
    z = 1.96
    reach = z * math.sqrt(share * (1 - share) / n)
    low, high = Wald(LEVEL_OF_196)(share * n, n)
    assert (float(low), float(high)) == pytest.approx(
        (max(share - reach, 0), min(share + reach, 1)), abs=1e-12
    )
    middle = share + z**2 / (2 * n)
    reach = z * math.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    low, high = Wilson(LEVEL_OF_196)(share * n, n)
    assert (float(low), float(high)) == pytest.approx(
        ((middle - reach) / (1 + z**2 / n), (middle + reach) / (1 + z**2 / n)), abs=1e-12
    )


def test_bootstrap_ends_are_the_25th_and_975th_of_a_thousand() -> None:
    accuracy = Quantity(find("accuracy").classes)
    confusion = evaluated("darknet").confusion
    ordered = np.sort(accuracy.of_tables(resampled(confusion, Bootstrap())))
    ends = interval(accuracy, confusion, Bootstrap())
    assert len(ordered) == 1000
    assert (ends.low, ends.high) == (ordered[25 - 1], ordered[975 - 1])


# -- tests (002, section 7) ------------------------------------------------------------------------


@given(st.integers(0, 300), st.integers(0, 300))
def test_mcnemar_is_the_formula_of_002_with_and_without_correction(n01: int, n10: int) -> None:
    assume(n01 + n10 > 0)
    corrected = mcnemar(n01, n10, method="corrected")
    plain = mcnemar(n01, n10, method="uncorrected")
    # The printed correction would raise an even split above zero; it stops there.
    assert corrected.statistic == pytest.approx(max(abs(n01 - n10) - 1, 0) ** 2 / (n01 + n10))
    assert plain.statistic == pytest.approx((n01 - n10) ** 2 / (n01 + n10))
    assert corrected.df == plain.df == (1,)


folds = st.lists(st.integers(0, 1000).map(lambda n: n / 1000), min_size=10, max_size=10)


@given(folds, folds)
def test_paired_t_is_the_formula_of_002(x: list[float], y: list[float]) -> None:
    d = np.array(x) - np.array(y)
    spread = math.sqrt(((d - d.mean()) ** 2).sum() / 9)
    assume(spread > 1e-9)
    result = paired_t(y, x)
    assert result.statistic == pytest.approx(d.mean() / (spread / math.sqrt(10)), rel=1e-9)
    assert result.df == (9,)


@given(folds, folds)
def test_5x2cv_t_is_the_formula_of_002(x: list[float], y: list[float]) -> None:
    p = (np.array(x) - np.array(y)).reshape(5, 2)
    variances = ((p - p.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
    assume(variances.sum() > 1e-9)
    result = five_by_two_t(y, x)
    assert result.statistic == pytest.approx(p[0, 0] / math.sqrt(variances.sum() / 5), rel=1e-9)


# -- folds (001) -----------------------------------------------------------------------------------


def test_spread_of_folds_is_divided_by_one_less_than_their_number() -> None:
    metric = np.array([0.91, 0.92, 0.90, 0.93, 0.89])
    result = paired_t(np.zeros(5), metric)
    assert result.table["mean"] == pytest.approx(metric.mean())
    spread = result.table["standard_error"] * math.sqrt(5)
    assert spread == pytest.approx(math.sqrt(((metric - metric.mean()) ** 2).sum() / 4))
    assert spread / metric.std() == pytest.approx(math.sqrt(5 / 4))


def test_value_of_a_ratio_over_nothing_is_undefined_and_not_zero() -> None:
    nothing = counted("01", [0, 1, 1], [0, 0, 0])["precision"]
    assert math.isnan(nothing)
    assert nothing.undefined == "nothing was flagged (TP + FP = 0)"


# -- means (000, section 4) ------------------------------------------------------------------------


def test_harmonic_mean_stays_near_the_smaller_of_a_lopsided_pair() -> None:
    rows = of_cells(tp=9, fp=1, fn=81, tn=9)
    assert [rows.value(name) for name in ("precision", "recall", "f1")] == [0.9, 0.1, 0.18]


# -- base rates and curves (003) -------------------------------------------------------------------


def secuml() -> Counted:
    """The base-rate example as rows: hits above false alarms, misses below, the rest lowest."""
    truth, scores = [0, 0, 1, 1], [0.1, 0.7, 0.2, 0.8]
    return counted(("benign", "malicious"), truth, scores=scores, counts=[9980, 10, 2, 8])


def test_false_positive_rate_seems_negligible_while_most_alarms_are_false() -> None:
    evaluation = secuml()
    assert evaluation.confusion.cells == MATRICES["secuml_base_rate"].rows
    assert f"{evaluation['fpr']:.1%}" == "0.1%"
    assert math.floor(100 * evaluation["far"]) == 55
    assert evaluation["far"] == 10 / 18


def test_never_flagging_has_an_error_rate_of_two_percent_and_finds_nothing() -> None:
    evaluation = evaluated("secuml_always_benign")
    assert evaluation["classification_error_rate"] == 0.02
    assert evaluation["detection_rate"] == 0.0
    assert math.isnan(evaluation["false_alarm_rate"])


def test_flagging_everything_has_a_false_alarm_rate_of_the_benign_share_and_not_of_one() -> None:
    curve = far_dr(sweep(secuml().scores[0]))
    assert curve["recall"][-1] == 1.0
    assert curve["false_discovery_rate"][-1] == 0.999
    assert roc(sweep(secuml().scores[0]))["false_positive_rate"][-1] == 1.0


def test_nothing_flagged_has_no_false_alarm_rate() -> None:
    swept = sweep(secuml().scores[0])
    assert np.isinf(roc(swept)["threshold"][0])
    assert np.isfinite(far_dr(swept)["threshold"]).all()


def test_curve_and_area_may_lie_below_the_diagonal() -> None:
    (tn, fp), (fn, tp) = MATRICES["safelink_ann_true"].rows
    rows = counted("01", [0, 0, 1, 1], scores=[0.1, 0.9, 0.2, 0.8], counts=[tn, fp, fn, tp])
    curve = roc(sweep(rows.scores[0]))
    assert (curve["recall"] < curve["false_positive_rate"]).any()
    assert rows["roc_auc"] < 0.5
    assert find("roc_auc").reading(rows["roc_auc"]).startswith("worse than random")


def test_threshold_is_chosen_by_the_tolerated_false_alarm_rate() -> None:
    scores = secuml().scores[0]
    assert recall_at(scores, {"false_discovery_rate": 0.5}) == (1.0, 0.2)
    assert recall_at(scores, {"false_discovery_rate": 0.4}) == (0.8, 0.8)
    assert recall_at(scores, {"false_positive_rate": 0.01}) == (1.0, 0.2)


def test_accuracy_is_the_complement_of_the_misclassification_error() -> None:
    forest = evaluated("safelink_forest")
    assert forest["misclassification_rate"] == 491 / 14869
    assert forest["accuracy"] == 14378 / 14869


# -- the inverted model (000) ----------------------------------------------------------------------


def test_model_that_is_nearly_always_wrong_is_right_when_it_is_turned() -> None:
    (tn, fp), (fn, tp) = MATRICES["safelink_ann_true"].rows
    assert (tn, fp, fn, tp) == (480, 7430, 6345, 614)
    wrong = of_cells(tp=tp, fp=fp, fn=fn, tn=tn)
    turned = of_cells(tp=fn, fp=tn, fn=tp, tn=fp)
    assert f"{wrong['accuracy']:.2%}" == "7.36%"
    assert f"{turned['accuracy']:.1%}" == "92.6%"
    assert turned["mcc"] == -wrong["mcc"]
    assert turned["informedness"] == pytest.approx(-float(wrong["informedness"]))
    assert wrong["mcc"].high < -0.8


def test_rates_of_the_forest_with_rarer_attacks_have_another_mcc() -> None:
    common, rare = evaluated("safelink_forest"), evaluated("safelink_forest_rare")
    for kept in ("recall", "specificity", "informedness"):
        assert rare[kept] == pytest.approx(float(common[kept]))
    assert round(common["mcc"], 4) == 0.9338
    assert round(rare["mcc"], 4) == 0.5145
    at = common.of(MCC, base_rate=6959 / (6959 + 791000))
    assert at == pytest.approx(float(rare["mcc"]), rel=1e-12)


# -- bands (000 section 10, 002) -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kappa", "reading"),
    [
        (0.205, "fair agreement"),
        (0.405, "moderate agreement"),
        (0.605, "substantial agreement"),
        (0.805, "almost perfect agreement"),
        (0.2, "fair agreement"),
        (0.8, "almost perfect agreement"),
        (0.849, "almost perfect agreement"),
        (0.9336, "almost perfect agreement"),
    ],
)
def test_bands_of_kappa_leave_no_gap(kappa: float, reading: str) -> None:
    assert KAPPA.reading(kappa) == reading


# -- what the documents state as laws --------------------------------------------------------------

cells = st.integers(0, 400)
tables = st.integers(2, 5).flatmap(
    lambda k: st.lists(st.lists(cells, min_size=k, max_size=k), min_size=k, max_size=k)
)


def value(name: str, rows: list[list[int]]) -> float:
    return Quantity(find(name).classes).value(of_matrix(rows).confusion)


def binary(name: str, tp: int, fp: int, fn: int, tn: int) -> float:
    return Quantity(find(name).formula, label=1).value(of_cells(tp, fp, fn, tn).confusion)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("specificity", "false_positive_rate"),
        ("recall", "false_negative_rate"),
        ("precision", "false_discovery_rate"),
        ("negative_predictive_value", "false_omission_rate"),
        ("accuracy", "error_rate"),
    ],
)
@given(counts=st.tuples(cells, cells, cells, cells))
def test_complements_add_up_to_one(one, other, counts) -> None:
    total = binary(one, *counts) + binary(other, *counts)
    assert math.isnan(total) or total == pytest.approx(1, abs=1e-15)


@given(cells, cells, cells, cells)
def test_false_positive_rate_is_the_complement_of_precision_only_by_accident(
    tp, fp, fn, tn
) -> None:
    assume(fp and fp + tn != fp + tp)
    fpr, precision = (binary(n, tp, fp, fn, tn) for n in ("false_positive_rate", "precision"))
    assert fpr != 1 - precision


# -- the MCC of many classes (002, sections 5.2 and 9) ---------------------------------------------


def printed_formula(c: tuple[tuple[int, ...], ...]) -> float:
    """The generalised MCC as section 5.2 prints it, sums and all."""
    k = range(len(c))
    top = sum(c[i][i] * c[m][n] - c[i][m] * c[n][i] for i, m, n in product(k, k, k))
    first = sum(sum(c[i]) * sum(c[m][n] for m in k for n in k if n != i) for i in k)
    second = sum(sum(row[i] for row in c) * sum(c[n][m] for m in k for n in k if n != i) for i in k)
    return top / (math.sqrt(first) * math.sqrt(second))


def correlation_of_codes(c: tuple[tuple[int, ...], ...], codes: tuple[int, ...]) -> float:
    truth = [codes[i] for i, row in enumerate(c) for n in row for _ in range(n)]
    said = [codes[j] for row in c for j, n in enumerate(row) for _ in range(n)]
    return float(np.corrcoef(truth, said)[0, 1])


def r_k(c: tuple[tuple[int, ...], ...]) -> float:
    """Gorodkin's R_k: the covariance summed over the indicators of all classes."""
    k = len(c)
    truth = np.repeat(np.arange(k), [sum(row) for row in c])
    said = np.concatenate([np.repeat(np.arange(k), row) for row in c])
    y, d = np.eye(k)[truth], np.eye(k)[said]
    y, d = y - y.mean(axis=0), d - d.mean(axis=0)
    return float((y * d).sum() / math.sqrt((y * y).sum() * (d * d).sum()))


def test_mcc_of_three_classes_is_gorodkins() -> None:
    darknet = MATRICES["darknet"].rows
    mcc = evaluated("darknet")["mcc"]
    assert mcc == pytest.approx(r_k(darknet), rel=1e-12)
    assert f"{mcc:.3f}" == "0.850"


def test_printed_formula_of_the_mcc_is_kappa() -> None:
    darknet = MATRICES["darknet"].rows
    evaluation = evaluated("darknet")
    assert printed_formula(darknet) == pytest.approx(float(evaluation["kappa"]), rel=1e-12)
    assert printed_formula(darknet) != pytest.approx(float(evaluation["mcc"]), rel=1e-6)


def test_mcc_is_not_the_correlation_of_codes_whatever_the_numbering() -> None:
    darknet = MATRICES["darknet"].rows
    of_codes = {round(correlation_of_codes(darknet, codes), 4) for codes in permutations(range(3))}
    assert of_codes == {0.8867, 0.8490, 0.8082}
    assert round(evaluated("darknet")["mcc"], 4) == 0.8495


@given(tables)
def test_mcc_is_gorodkins_and_the_printed_formula_is_kappa_on_any_table(rows) -> None:
    c = tuple(map(tuple, rows))
    truth, said = [sum(row) for row in c], [sum(column) for column in zip(*c, strict=True)]
    assume(sum(map(bool, truth)) > 1)
    assume(sum(map(bool, said)) > 1)
    assert value("mcc", rows) == pytest.approx(r_k(c), abs=1e-9)
    assert printed_formula(c) == pytest.approx(value("kappa", rows), abs=1e-9)


@given(tables, st.randoms(use_true_random=False))
def test_numbering_of_the_classes_does_not_change_the_mcc(rows, random) -> None:
    order = list(range(len(rows)))
    random.shuffle(order)
    renumbered = [[rows[i][j] for j in order] for i in order]
    one, other = value("mcc", rows), value("mcc", renumbered)
    assert one == other or (math.isnan(one) and math.isnan(other))


@given(cells, cells, cells, cells)
def test_mcc_of_two_classes_is_the_printed_binary_formula(tp, fp, fn, tn) -> None:
    spread = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
    assume(spread)
    expected = (tp * tn - fp * fn) / Decimal(spread).sqrt()
    assert binary("mcc", tp, fp, fn, tn) == pytest.approx(float(expected), rel=1e-12, abs=1e-15)
