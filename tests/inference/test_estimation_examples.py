"""Which interval an estimate gets, each end worked out by hand; and bands around curves."""

import math

import numpy as np
import pytest
from scipy import stats

from assay.counts import ClusterCounts, Confusion
from assay.formula import FN, FP, TN, TP
from assay.inference import (
    Bootstrap,
    Delta,
    FayFeuer,
    Quantity,
    Strata,
    Tiwari,
    Wald,
    Wilson,
    bootstrap,
    delta,
    estimate,
    with_band,
)
from assay.inference.estimation import effective_rows
from assay.measures import Interval, find
from assay.measures.curves import NET_BENEFIT, Curve, Term

Z = float(stats.norm.ppf(0.975))
UNIT, SIGNED = (0.0, 1.0), (-1.0, 1.0)
PRECISION = Quantity(find("precision").formula, label=1)
F1 = Quantity(find("f1").formula, label=1)
MCC = Quantity(find("mcc").formula, label=1)
LABELS = ("no", "yes")
# Sums of weights, and of their squares.
SUMS, SQUARES = ((40.0, 12.0), (15.0, 36.0)), ((80.0, 14.0), (20.0, 50.0))
WEIGHTED = Confusion(LABELS, SUMS, SQUARES)
TOO_NARROW = "few rows carry most of the weight: the interval may be too narrow"


def wilson(share: float, n: float, z: float = Z) -> tuple[float, float]:
    middle, reach = (
        share + z**2 / (2 * n),
        z * math.sqrt(share * (1 - share) / n + (z / (2 * n)) ** 2),
    )
    return (middle - reach) / (1 + z**2 / n), (middle + reach) / (1 + z**2 / n)


def ends(measured_value) -> tuple[float, float]:
    return measured_value.low, measured_value.high


# -- sampling weights ------------------------------------------------------------------------------

# The share of 36 in 48, its variance by slopes of 12/48**2 and 36/48**2, and rows worth as much.
VARIANCE = (50 * 12**2 + 14 * 36**2) / 48**4
TRIALS = 0.75 * 0.25 / VARIANCE


def test_weighted_share_by_hand() -> None:
    precision = estimate(PRECISION, WEIGHTED, UNIT)
    assert precision == 0.75
    assert ends(precision) == pytest.approx(wilson(0.75, TRIALS), rel=1e-9)
    assert precision.n == 48**2 / 64
    assert (precision.method, precision.note, precision.parts) == ("wilson", None, {})


def test_standard_error_of_a_weighted_share_is_that_of_its_variance() -> None:
    precision = estimate(PRECISION, WEIGHTED, UNIT, method=Wald())
    error = math.sqrt(VARIANCE)
    assert precision.parts == {"se": pytest.approx(error, rel=1e-9)}
    assert ends(precision) == pytest.approx((0.75 - Z * error, 0.75 + Z * error), rel=1e-9)


def test_standard_error_of_a_share_of_strata_is_less() -> None:
    counts = np.array([[[3.0, 1.0], [2.0, 4.0]], [[5.0, 1.0], [1.0, 2.0]]])
    strata = Strata(("a", "b"), np.array([2.0, 5.0]), counts)
    table = Confusion(LABELS, ((31.0, 7.0), (9.0, 18.0)), ((137.0, 29.0), (33.0, 66.0)))
    precision = estimate(PRECISION, table, UNIT, method=Wald(), strata=strata)
    # Slopes of precision, 18 of 25: 7/625 by a hit, -18/625 by a false alarm.
    moved = np.array([4 * 7 - 18, 2 * 7 - 18]) / 625
    variance = (66 * 49 + 29 * 324) / 625**2 - 2 * moved[0] ** 2 / 10 - 20 * moved[1] ** 2 / 9
    assert precision == 0.72
    assert precision.parts == {"se": pytest.approx(math.sqrt(variance), rel=1e-9)}
    assert precision.note is None


@pytest.mark.parametrize("bounds", [(0.0, 0.5), (0.8, 1.0)])
def test_weighted_value_beyond_its_range_is_put_on_the_bound(bounds) -> None:
    precision = estimate(PRECISION, WEIGHTED, bounds)
    assert precision == (0.5 if bounds[1] < 0.75 else 0.8)
    assert bounds[0] <= precision.low <= precision <= precision.high <= bounds[1]
    plain = Confusion(LABELS, ((40, 12), (15, 36)))
    assert estimate(PRECISION, plain, bounds) == 0.75


@pytest.mark.parametrize(
    ("squares", "note"), [(130.0, TOO_NARROW), (129.6, None), (129.0, None), (50.0, None)]
)
def test_ten_rows_that_carry_the_weight_of_a_cell_are_enough(squares: float, note) -> None:
    # 36**2 / 10 = 129.6.
    table = Confusion(LABELS, SUMS, ((80.0, 14.0), (20.0, squares)))
    assert estimate(PRECISION, table, UNIT).note == note
    assert estimate(MCC, table, SIGNED).note == note


def test_cells_that_a_formula_does_not_have_or_that_are_empty_are_not_warned_of() -> None:
    heavy = Confusion(LABELS, SUMS, ((1600.0, 14.0), (20.0, 50.0)))
    assert estimate(PRECISION, heavy, UNIT).note is None
    assert estimate(MCC, heavy, SIGNED).note == TOO_NARROW
    empty = Confusion(LABELS, ((40.0, 0.0), (15.0, 36.0)), ((80.0, 0.0), (20.0, 50.0)))
    assert estimate(PRECISION, empty, UNIT).note is None


@pytest.mark.parametrize("cells", [((40.0, 0.0), (15.0, 36.0)), ((40.0, 36.0), (15.0, 0.0))])
def test_weighted_share_at_an_edge_has_as_many_rows_as_its_weights_are_worth(cells) -> None:
    squares = tuple(tuple(2 * cell for cell in row) for row in cells)
    precision = estimate(PRECISION, Confusion(LABELS, cells, squares), UNIT)
    assert precision.n == 18
    assert ends(precision) == pytest.approx(wilson(float(precision), 18), abs=1e-12)


def test_share_that_rounds_to_one_has_as_many_rows_as_its_weights_are_worth() -> None:
    table = Confusion(LABELS, ((1.0, 1e-20), (1.0, 1e5)), ((1.0, 1e-40), (1.0, 5e8)))
    precision = estimate(PRECISION, table, UNIT)
    assert precision == 1.0
    assert ends(precision) == pytest.approx(wilson(1.0, 20), rel=1e-9)


def test_share_of_strata_that_decide_alike_has_as_many_rows_as_their_weights_are_worth() -> None:
    # Strata tell hits from misses, and their sizes are known: nothing is left to vary.
    counts = np.array([[[0.0, 0.0], [0.0, 4.0]], [[0.0, 0.0], [4.0, 0.0]]])
    recall = Quantity(find("recall").formula, label=1)
    certain = Strata(("a", "b"), np.array([2.0**60, 2.0**60]), counts)
    large = Confusion(LABELS, ((0.0, 0.0), (2.0**62, 2.0**62)), ((0.0, 0.0), (2.0**122, 2.0**122)))
    assert delta.stratified(recall, large, certain) == 0
    measured_value = estimate(recall, large, UNIT, strata=certain, method=Wilson())
    assert ends(measured_value) == pytest.approx(wilson(0.5, 8), rel=1e-9)


def test_effective_rows_are_the_square_of_a_sum_by_the_sum_of_squares() -> None:
    assert effective_rows(WEIGHTED) == 103.0**2 / 164
    assert effective_rows(Confusion(LABELS, ((1, 2), (3, 4)))) == 10
    light = Confusion(LABELS, ((0.25, 0.0), (0.0, 0.25)), ((0.0625, 0.0), (0.0, 0.0625)))
    assert effective_rows(light) == 2
    none = Confusion(LABELS, ((0.0, 0.0), (0.0, 0.0)), ((0.0, 0.0), (0.0, 0.0)))
    assert effective_rows(none) == 0


def test_undefined_formula_that_is_no_share_rests_on_all_rows() -> None:
    mcc = estimate(MCC, Confusion(LABELS, ((5, 0), (2, 0))), SIGNED, level=0.9)
    assert math.isnan(mcc)
    assert (mcc.n, mcc.level) == (7, 0.9)
    assert estimate(PRECISION, Confusion(LABELS, ((5, 0), (2, 0))), UNIT).n == 0


# -- one label of several --------------------------------------------------------------------------

THREE = Confusion(("a", "b", "c"), ((45, 3, 2), (4, 38, 3), (1, 2, 52)))


def test_resamples_of_one_label_are_those_of_all() -> None:
    method = Bootstrap(resamples=30)
    quantity = Quantity(find("mcc").formula, label=2)
    measured_value = estimate(quantity, THREE, SIGNED, method=method)
    assert ends(measured_value) == ends(bootstrap.interval(quantity, THREE, method))
    assert (measured_value.method, measured_value.n) == ("bootstrap", 150)


def test_resamples_that_were_left_out_are_told() -> None:
    table = Confusion(LABELS, ((40, 7), (1, 0)))
    measured_value = estimate(
        Quantity(find("recall").formula, label=1), table, UNIT, method=Bootstrap()
    )
    assert measured_value.note.startswith("undefined in ")
    assert estimate(PRECISION, THREE, UNIT, method=Bootstrap(resamples=30)).note is None


def in_clusters(count: int) -> ClusterCounts:
    generator = np.random.default_rng(4)
    truth = generator.integers(0, 3, 90)
    decision = np.where(generator.random(90) < 0.7, truth, generator.integers(0, 3, 90))
    cluster = np.arange(90) % count
    return ClusterCounts.of_rows(tuple("abc"), truth, decision, cluster, list("pqrstu"[:count]))


@pytest.mark.parametrize("label", [0, 2])
def test_clusters_of_one_label_are_read_on_their_binary_tables(label: int) -> None:
    counted = in_clusters(6)
    quantity = Quantity(find("mcc").formula, label=label)
    measured_value = estimate(quantity, counted.confusion(), SIGNED, clusters=counted)
    expected = delta.cluster_interval(MCC, counted.against_rest(label), SIGNED, 0.95)
    assert ends(measured_value) == pytest.approx(expected, rel=1e-12)


def test_two_clusters_have_an_interval_and_one_has_none() -> None:
    for count in (1, 2):
        counted = in_clusters(count)
        quantity = Quantity(find("precision").formula, label=1)
        measured_value = estimate(quantity, counted.confusion(), UNIT, clusters=counted)
        assert math.isnan(measured_value.low) is (count == 1)
        assert (
            measured_value.n
            == counted.confusion().against_rest(1).cells[0][1] + counted.confusion().cells[1][1]
        )


def test_strata_of_one_label_are_read_on_their_binary_tables() -> None:
    rows = np.array([[10.0, 2, 1], [1, 20, 3], [2, 4, 30]])
    cells = [tuple(map(tuple, (rows * weight).tolist())) for weight in (5.0, 25.0)]
    strata = Strata.of_tables({"x": Confusion(tuple("abc"), *cells)})
    table = Confusion(tuple("abc"), *cells)
    measured_value = estimate(Quantity(find("recall").formula, label=2), table, UNIT, strata=strata)
    recall = Quantity(find("recall").formula, label=1)
    expected = strata.against_rest(2).share_ends(recall, FayFeuer())
    assert ends(measured_value) == pytest.approx(expected, rel=1e-12)
    assert measured_value.method == "fay-feuer"


# -- strata ----------------------------------------------------------------------------------------

STRATA = Strata(
    ("a", "b"),
    np.array([2.0, 5.0]),
    np.array([[[3.0, 1.0], [2.0, 4.0]], [[5.0, 1.0], [1.0, 2.0]]]),
)
DRAWN = Confusion(LABELS, ((31.0, 7.0), (9.0, 18.0)), ((137.0, 29.0), (33.0, 66.0)))
JACCARD = Quantity(TP / (TP + FP + FN), label=1)


@pytest.mark.parametrize("method", [None, Tiwari(0.9), Wilson(0.9)])
def test_f1_of_strata_is_that_of_its_share(method) -> None:
    f1 = estimate(
        F1, DRAWN, UNIT, strata=STRATA, method=method, level=0.9, default=Interval.BY_JACCARD
    )
    if isinstance(method, Wilson):
        share = 18 / 34
        variance = delta.stratified(JACCARD, DRAWN, STRATA)
        low, high = wilson(share, share * (1 - share) / variance, float(stats.norm.ppf(0.95)))
    else:
        low, high = STRATA.share_ends(JACCARD, method or FayFeuer(0.9))
    assert ends(f1) == pytest.approx((2 * low / (1 + low), 2 * high / (1 + high)), rel=1e-9)
    assert f1.method == (method or FayFeuer()).name


@pytest.mark.parametrize("method", [None, Tiwari(0.9), Wilson(0.9), Delta(0.9)])
def test_formula_of_strata_is_put_together_from_its_cells(method) -> None:
    mcc = estimate(MCC, DRAWN, SIGNED, strata=STRATA, method=method, level=0.9)
    if isinstance(method, Delta):
        expected, name = delta.interval(MCC, DRAWN, SIGNED, 0.9, strata=STRATA), "delta"
    else:
        chosen = method if isinstance(method, Tiwari) else FayFeuer(0.9)
        expected, name = STRATA.formula_ends(MCC, chosen), chosen.name
    assert ends(mcc) == pytest.approx(expected, rel=1e-12)
    assert mcc.method == name
    assert (mcc.note is not None) is isinstance(method, Tiwari)


@pytest.mark.parametrize("method", [None, Tiwari(0.9), FayFeuer(0.9)])
def test_share_of_strata_has_its_gamma_interval(method) -> None:
    precision = estimate(PRECISION, DRAWN, UNIT, strata=STRATA, method=method, level=0.9)
    assert ends(precision) == STRATA.share_ends(PRECISION, method or FayFeuer(0.9))
    assert precision.note == (method.note if method else None)


def test_interval_of_strata_is_cut_at_the_range_and_holds_the_value() -> None:
    mcc = estimate(MCC, DRAWN, (-0.05, 0.6), strata=STRATA)
    low, high = STRATA.formula_ends(MCC, FayFeuer())
    assert low < -0.05
    assert high > 0.6
    assert ends(mcc) == (-0.05, 0.6)


# -- bands -----------------------------------------------------------------------------------------

CELLS = {
    "TP": np.array([0.0, 3.0, 6.0, 8.0]),
    "FP": np.array([0.0, 1.0, 4.0, 12.0]),
    "FN": np.array([8.0, 5.0, 2.0, 0.0]),
    "TN": np.array([12.0, 11.0, 8.0, 0.0]),
}


def curve(name: str, keep: slice = slice(None)) -> Curve:
    measure = find(name)
    cells = {cell: column[keep] for cell, column in CELLS.items()}
    columns = {
        "threshold": np.arange(len(cells["TP"]), dtype=float),
        name: np.array([value(measure.formula, cells, row) for row in range(len(cells["TP"]))]),
    }
    return Curve("trace", None, measure, columns, cells)


def table_at(cells, row: int) -> np.ndarray:
    at = {cell: float(column[row]) for cell, column in cells.items()}
    return np.array([[at["TN"], at["FP"]], [at["FN"], at["TP"]]])


def value(formula, cells, row: int) -> float:
    return float(Quantity(formula, label=1).of_tables(table_at(cells, row)))


@pytest.mark.parametrize("name", ["positive_likelihood_ratio", "lift"])
def test_band_of_a_ratio_has_half_a_row_more_where_a_cell_is_empty(name: str) -> None:
    banded = with_band(curve(name, slice(1, 4)), 0.9)
    quantity = Quantity(find(name).formula, label=1)
    for row in range(3):
        table = table_at(banded.cells, row)
        more = table + 0.5 if not table.all() else table
        ratio = float(quantity.of_tables(more))
        error = math.sqrt(float((more * quantity.gradient(more) ** 2).sum()))
        factor = math.exp(float(stats.norm.ppf(0.95)) * error / ratio)
        y = banded[name][row]
        assert banded["low"][row] == pytest.approx(min(ratio / factor, y), rel=1e-9)
        assert banded["high"][row] == pytest.approx(max(ratio * factor, y), rel=1e-9)


def test_band_of_what_falls_short_of_one_is_that_of_what_is_missing() -> None:
    banded = with_band(curve("precision_gain", slice(1, 4)))
    quantity = Quantity(1 - find("precision_gain").formula, label=1)
    for row in range(3):
        table = table_at(banded.cells, row)
        more = table + 0.5 if 0 in table[:, 1] or table[1, 0] == 0 or table[0, 0] == 0 else table
        missing = float(quantity.of_tables(more))
        error = math.sqrt(float((more * quantity.gradient(more) ** 2).sum()))
        factor = math.exp(Z * error / missing)
        y = banded["precision_gain"][row]
        low, high = min(1 - missing * factor, y), max(1 - missing / factor, y)
        assert banded["low"][row] == pytest.approx(low, rel=1e-9)
        assert banded["high"][row] == pytest.approx(min(high, 1.0), rel=1e-9)


def test_band_of_a_formula_is_cut_at_its_range() -> None:
    banded = with_band(curve("informedness"), 0.9)
    quantity = Quantity(find("informedness").formula, label=1)
    reach = float(stats.norm.ppf(0.95))
    for row in range(4):
        table = table_at(banded.cells, row)
        slopes = np.nan_to_num(quantity.gradient(table))
        error = reach * math.sqrt(float((table * slopes**2).sum()))
        y = banded["informedness"][row]
        assert banded["low"][row] == pytest.approx(max(y - error, -1), abs=1e-12)
        assert banded["high"][row] == pytest.approx(min(y + error, 1), abs=1e-12)


def summed(terms: tuple[Term, ...]) -> Curve:
    y = sum(
        term.weight * np.array([value(term.share, CELLS, row) for row in range(4)])
        for term in terms
    )
    columns = {"threshold": np.arange(4.0), NET_BENEFIT.name: y}
    return Curve("decision", None, NET_BENEFIT, columns, CELLS, terms=terms)


def newcombe(one, other, correlation: float) -> float:
    squares = one**2 + other**2 + 2 * correlation * one * other
    return math.sqrt(max(squares, 0))


ALL = TP + FP + FN + TN


@pytest.mark.parametrize("signs", [(1, 1), (1, -1), (-1, 1), (-1, -1)])
@pytest.mark.parametrize("apart", [True, False], ids=["other rows", "same rows"])
def test_band_of_a_sum_of_shares_is_newcombes(signs, apart: bool) -> None:
    weights = np.array([1.0, 0.5, 2.0, 0.25]) * signs[0], np.array([0.5, 1.0, 3.0, 0.0]) * signs[1]
    shares = (TP / (TP + FN), FP / (FP + TN)) if apart else (TP / ALL, FP / ALL)
    banded = with_band(summed(tuple(map(Term, weights, shares))))
    for row in range(4):
        hits, flagged = CELLS["TP"][row], CELLS["FP"][row]
        of = ((hits, 8), (flagged, 12)) if apart else ((hits, 20), (flagged, 20))
        falls, rises = [], []
        for weight, (k, n) in zip(weights, of, strict=True):
            low, high = wilson(k / n, n)
            reach = weight[row] * (k / n - low), weight[row] * (high - k / n)
            falls.append(abs(reach[0] if weight[row] > 0 else reach[1]))
            rises.append(abs(reach[1] if weight[row] > 0 else reach[0]))
        p, q = (k / n for k, n in of)
        link = 0.0
        if not apart:
            link = -math.sqrt(p * q / ((1 - p) * (1 - q))) * signs[0] * signs[1]
        y = banded[NET_BENEFIT.name][row]
        assert banded["low"][row] == pytest.approx(y - newcombe(*falls, link), abs=1e-9)
        assert banded["high"][row] == pytest.approx(y + newcombe(*rises, link), abs=1e-9)


def test_shares_of_the_same_rows_that_are_all_of_them_have_no_correlation() -> None:
    terms = Term(np.ones(4), (TP + FN) / ALL), Term(np.ones(4), (FP + TN + TP + FN) / ALL)
    banded = with_band(summed(terms))
    one, other = wilson(0.4, 20), wilson(1.0, 20)
    low = newcombe(0.4 - one[0], 1 - other[0], 0.0)
    assert banded["low"] == pytest.approx([1.4 - low] * 4)
