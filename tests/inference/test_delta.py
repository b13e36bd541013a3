import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import special, stats

from assay.counts import ClusterCounts, Confusion
from assay.errors import MethodError
from assay.formula import of_classes
from assay.inference import Delta, Quantity, estimate
from assay.inference.delta import cluster_interval, interval, on_arcsine, on_scale, variance
from assay.inference.estimate import squares_of, table_of
from assay.measures import CATALOGUE, find

Z = float(stats.norm.ppf(0.975))
UNIT, SIGNED, RATIO = (0.0, 1.0), (-1.0, 1.0), (0.0, math.inf)
GAIN, ENDLESS = (-math.inf, 1.0), (-math.inf, math.inf)
PRECISION = Quantity(find("precision").formula, label=1)
MCC = Quantity(find("mcc").formula, label=1)
SMOOTH = [m for m in CATALOGUE if m.formula is not None and not m.is_proportion]


def binary(tn: float, fp: float, fn: float, tp: float) -> Confusion:
    return Confusion(("no", "yes"), ((tn, fp), (fn, tp)))


def mcc(table: np.ndarray) -> float:
    (tn, fp), (fn, tp) = table
    return float((tp * tn - fp * fn) / np.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)))


def slope(table: np.ndarray) -> np.ndarray:
    values = np.empty((2, 2))
    for cell in np.ndindex(2, 2):
        above, below = table.copy(), table.copy()
        above[cell] += 1e-5
        below[cell] -= 1e-5
        values[cell] = (mcc(above) - mcc(below)) / 2e-5
    return values


# -- the scale -------------------------------------------------------------------------------------


@given(st.floats(0.01, 0.99), st.floats(1e-6, 0.05))
def test_share_has_its_interval_on_the_logit_scale(value: float, spread: float) -> None:
    low, high = on_scale(value, spread, UNIT, Z)
    reach = Z * math.sqrt(spread) / (value * (1 - value))
    centre = special.logit(value)
    assert (low, high) == pytest.approx(
        (special.expit(centre - reach), special.expit(centre + reach)), rel=1e-9
    )
    assert 0 <= low < value < high <= 1


@given(st.floats(0.01, 50), st.floats(1e-6, 5))
def test_ratio_has_its_interval_on_the_log_scale(value: float, spread: float) -> None:
    assume(Z * math.sqrt(spread) / value < 500)
    low, high = on_scale(value, spread, RATIO, Z)
    reach = Z * math.sqrt(spread) / value
    assert (low, high) == pytest.approx((value * math.exp(-reach), value * math.exp(reach)))


@given(st.floats(-0.99, 0.99), st.floats(1e-6, 0.05))
def test_correlation_has_its_interval_on_the_atanh_scale(value: float, spread: float) -> None:
    low, high = on_scale(value, spread, SIGNED, Z)
    reach = Z * math.sqrt(spread) / (1 - value**2)
    centre = math.atanh(value)
    assert (low, high) == pytest.approx(
        (math.tanh(centre - reach), math.tanh(centre + reach)), abs=1e-9
    )


@given(st.floats(-50, 0.99), st.floats(1e-6, 5))
def test_what_is_missing_to_the_high_end_has_its_interval_on_the_log_scale(
    value: float, spread: float
) -> None:
    missing, reach = 1 - value, Z * math.sqrt(spread) / (1 - value)
    assume(reach < 500)
    low, high = on_scale(value, spread, GAIN, Z)
    ends = 1 - missing * math.exp(reach), 1 - missing * math.exp(-reach)
    assert (low, high) == pytest.approx(ends, rel=1e-9, abs=1e-9)
    assert low < value < high <= 1


@given(st.floats(-50, 50), st.floats(1e-6, 5))
def test_a_value_without_ends_has_its_interval_on_its_own_scale(
    value: float, spread: float
) -> None:
    reach = Z * math.sqrt(spread)
    assert on_scale(value, spread, ENDLESS, Z) == pytest.approx((value - reach, value + reach))


@given(st.floats(0.01, 50), st.floats(-20, 20), st.floats(1e-6, 5))
def test_a_range_with_one_end_is_mirrored_and_moved_with_its_values(
    value: float, end: float, spread: float
) -> None:
    low, high = on_scale(value, spread, RATIO, Z)
    moved = on_scale(end + value, spread, (end, math.inf), Z)
    assert moved == pytest.approx((end + low, end + high), rel=1e-6)
    mirrored = on_scale(end - value, spread, (-math.inf, end), Z)
    assert mirrored == pytest.approx((end - high, end - low), rel=1e-6)


@given(st.floats(0.01, 0.99), st.floats(1e-8, 0.05))
def test_a_touching_value_has_its_interval_on_the_scale_of_angles(
    value: float, spread: float
) -> None:
    """Half the angle of 1 - 2 v, whose slope is that of the arcsine of the root."""
    low, high = on_arcsine(value, spread, Z)
    angle, reach = math.acos(1 - 2 * value), Z * math.sqrt(spread / (value * (1 - value)))
    ends = max(angle - reach, 0), min(angle + reach, math.pi)
    assert (low, high) == pytest.approx([(1 - math.cos(end)) / 2 for end in ends], abs=1e-12)
    assert 0 <= low < value < high <= 1
    mirrored = on_arcsine(1 - value, spread, Z)
    assert mirrored == pytest.approx((1 - high, 1 - low), abs=1e-12)


def test_a_binomial_share_is_equally_sure_everywhere_on_the_scale_of_angles() -> None:
    widths = set()
    for share in (0.1, 0.3, 0.5, 0.8):
        low, high = on_arcsine(share, share * (1 - share) / 100, Z)
        width = math.asin(math.sqrt(high)) - math.asin(math.sqrt(low))
        widths.add(round(width, 12))
    assert widths == {round(Z / 10, 12)}


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_value_at_an_end_has_no_angle_to_add_to(value: float) -> None:
    assert on_arcsine(value, 2.0, Z) == (value, value)


@pytest.mark.parametrize("bounds", [UNIT, SIGNED, RATIO, GAIN, ENDLESS])
def test_no_spread_has_no_width(bounds: tuple[float, float]) -> None:
    assert on_scale(0.3, 0.0, bounds, Z) == (0.3, 0.3)


@pytest.mark.parametrize("bounds", [UNIT, SIGNED, RATIO, GAIN, ENDLESS])
@pytest.mark.parametrize("reach", [1.96, 1e3, 1e9])
@pytest.mark.parametrize("value", [1e-9, 0.3, 0.9999, 1 - 1e-15])
def test_any_spread_stays_within_the_bounds(bounds, reach: float, value: float) -> None:
    low, high = on_scale(value, 2.0, bounds, reach)
    assert bounds[0] <= low <= value <= high <= bounds[1]


@pytest.mark.parametrize(
    ("value", "bounds"),
    [(0.0, UNIT), (1.0, UNIT), (-1.0, SIGNED), (math.nextafter(1, 0), SIGNED)],
)
def test_value_on_a_bound_has_no_scale(value: float, bounds: tuple[float, float]) -> None:
    assert on_scale(value, 2.0, bounds, Z) == (value, value)


# -- the variance ----------------------------------------------------------------------------------


def test_variance_of_a_share_is_that_of_the_binomial() -> None:
    table = binary(50, 10, 20, 30)
    pair_variance = variance(PRECISION, table_of(table), squares_of(table))
    assert pair_variance == pytest.approx(0.75 * 0.25 / 40, rel=1e-12)


def test_interval_of_the_mcc_by_hand() -> None:
    table = np.array([[40.0, 10.0], [6.0, 30.0]])
    value, error = mcc(table), math.sqrt(float((table * slope(table) ** 2).sum()))
    reach = Z * error / (1 - value**2)
    expected = math.tanh(math.atanh(value) - reach), math.tanh(math.atanh(value) + reach)
    assert interval(MCC, binary(40, 10, 6, 30), SIGNED, 0.95) == pytest.approx(expected, abs=1e-8)


def test_sampling_weights_have_the_sandwich_variance() -> None:
    generator = np.random.default_rng(3)
    truth, decision = generator.integers(0, 2, (2, 200))
    weights = generator.uniform(0.2, 5, 200)
    table = Confusion.of_rows(
        ("no", "yes"), truth.astype(np.uint8), decision.astype(np.uint8), weights=weights
    )
    flagged = decision == 1
    w, right = weights[flagged], truth[flagged]
    share = (w * right).sum() / w.sum()
    sandwich = (w**2 * (right - share) ** 2).sum() / w.sum() ** 2
    pair_variance = variance(PRECISION, table_of(table), squares_of(table))
    assert pair_variance == pytest.approx(sandwich, rel=1e-12)


def test_weights_of_one_are_plain_rows() -> None:
    plain = binary(40, 10, 6, 30)
    weighted = Confusion(plain.labels, plain.cells, plain.cells)
    assert interval(MCC, plain, SIGNED, 0.95) == interval(MCC, weighted, SIGNED, 0.95)


@pytest.mark.parametrize(
    ("measure", "cells"),
    [
        (measure, cells)
        for measure in SMOOTH
        for cells in ((40.0, 10.0, 6.0, 30.0), (40.0, 0.0, 6.0, 30.0))
        if not math.isnan(Quantity(measure.formula, label=1).value(binary(*cells)))
    ],
)
def test_scale_of_the_weights_does_not_matter(measure, cells) -> None:
    plain = binary(*cells)
    small = Confusion(plain.labels, plain.cells, ((90.0, 2 * cells[1]), (9.0, 70.0)))
    large = Confusion(
        small.labels,
        tuple(tuple(16 * cell for cell in row) for row in small.cells),
        tuple(tuple(256 * cell for cell in row) for row in small.squares),
    )
    quantity = Quantity(measure.formula, label=1)
    ends = [interval(quantity, table, measure.range, 0.95) for table in (small, large)]
    assert ends[0] == pytest.approx(ends[1], rel=1e-9)


C_ID = find("c_id")


def c_id(table: np.ndarray) -> float:
    """Mutual information over entropy, by numpy."""
    both = table / table.sum()
    truth, alarm = both.sum(axis=1), both.sum(axis=0)
    shared = special.xlogy(both, both / np.outer(truth, alarm)).sum()
    return float(shared / -special.xlogy(truth, truth).sum())


def test_interval_of_a_touching_measure_by_hand() -> None:
    table = np.array([[40.0, 10.0], [6.0, 30.0]])
    slopes = np.empty((2, 2))
    for cell in np.ndindex(2, 2):
        step = np.zeros((2, 2))
        step[cell] = 1e-4
        slopes[cell] = (c_id(table + step) - c_id(table - step)) / 2e-4
    expected = on_arcsine(c_id(table), float((table * slopes**2).sum()), Z)
    bounds = interval(
        Quantity(C_ID.formula, label=1), binary(40, 10, 6, 30), UNIT, 0.95, touching=True
    )
    assert bounds == pytest.approx(expected, abs=1e-8)


def test_half_a_row_more_on_the_right_side_where_decisions_tell_nothing() -> None:
    table = binary(60, 20, 30, 10)
    quantity = Quantity(C_ID.formula, label=1)
    smoothed = np.array([[60.5, 20.0], [30.0, 10.5]])
    spread = float((smoothed * quantity.gradient(smoothed) ** 2).sum())
    low, high = interval(quantity, table, UNIT, 0.95, touching=True)
    assert quantity.value(table) == low == 0
    assert high == pytest.approx(on_arcsine(c_id(smoothed), spread, Z)[1], rel=1e-9)
    assert 0 < high < 0.1


# -- empty cells -----------------------------------------------------------------------------------


def test_half_a_count_is_added_to_each_cell_where_one_is_empty() -> None:
    table = np.array([[40.0, 0.0], [6.0, 30.0]])
    value, smoothed = mcc(table), mcc(table + 0.5)
    error = math.sqrt(float(((table + 0.5) * slope(table + 0.5) ** 2).sum()))
    reach = Z * error / (1 - smoothed**2)
    low = math.tanh(math.atanh(smoothed) - reach)
    high = math.tanh(math.atanh(smoothed) + reach)
    bounds = interval(MCC, binary(40, 0, 6, 30), SIGNED, 0.95)
    assert bounds == pytest.approx((min(low, value), max(high, value)), abs=1e-8)


def test_perfect_decisions_have_an_interval_with_one_end_at_the_bound() -> None:
    low, high = interval(MCC, binary(40, 0, 0, 30), SIGNED, 0.95)
    assert high == 1.0
    assert 0.8 < low < 1


def test_perfect_decisions_of_many_classes_have_an_interval_too() -> None:
    table = Confusion(("a", "b", "c"), ((20, 0, 0), (0, 15, 0), (0, 0, 30)))
    low, high = interval(Quantity(find("kappa").classes), table, SIGNED, 0.95)
    assert high == 1.0
    assert 0.8 < low < 1


def test_half_a_hit_and_half_an_error_are_added_to_classes_without_either() -> None:
    cells = np.diag([20.0, 15.0, 30.0])
    # Rows and columns alike: a quarter to each error cell from its row, and from its column.
    smoothed = cells + 0.5
    kappa = Quantity(find("kappa").classes)
    centre = float(kappa.of_tables(smoothed))
    spread = float((smoothed * kappa.gradient(smoothed) ** 2).sum())
    expected = on_scale(centre, spread, SIGNED, Z)[0]
    table = Confusion(("a", "b", "c"), tuple(tuple(map(int, row)) for row in cells))
    assert interval(kappa, table, SIGNED, 0.95)[0] == pytest.approx(expected, rel=1e-12)


def test_class_without_errors_is_not_taken_as_sure_and_the_value_stays_in_the_middle() -> None:
    cells = np.array([[20.0, 0.0, 0.0], [2.0, 15.0, 1.0], [3.0, 1.0, 30.0]])
    smoothed = cells + np.array([[0.5, 0.25, 0.25], [0, 0, 0], [0, 0, 0]])
    recall = Quantity(of_classes(find("recall").formula, "macro"))
    spread = float((smoothed * recall.gradient(smoothed) ** 2).sum())
    expected = on_scale(float(recall.of_tables(cells)), spread, UNIT, Z)
    table = Confusion(("a", "b", "c"), tuple(tuple(map(int, row)) for row in cells))
    assert interval(recall, table, UNIT, 0.95) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("measure", SMOOTH, ids=lambda m: m.name)
@given(cells=st.lists(st.integers(0, 30), min_size=4, max_size=4), level=st.floats(0.5, 0.999))
def test_interval_holds_the_value_and_stays_in_range(measure, cells, level) -> None:
    table = binary(*cells)
    quantity = Quantity(measure.formula, label=1)
    value = quantity.value(table)
    assume(not math.isnan(value))
    low, high = interval(quantity, table, measure.range, level)
    assert measure.range[0] <= low <= value <= high <= measure.range[1]


@given(st.lists(st.integers(1, 40), min_size=4, max_size=4))
def test_more_rows_of_the_same_kind_narrow_the_interval(cells) -> None:
    few = interval(MCC, binary(*cells), SIGNED, 0.95)
    many = interval(MCC, binary(*(4 * cell for cell in cells)), SIGNED, 0.95)
    assert many[1] - many[0] < few[1] - few[0]


# -- clusters --------------------------------------------------------------------------------------


def clustered(truth: np.ndarray, decision: np.ndarray, cluster: np.ndarray) -> ClusterCounts:
    names = [f"host{i}" for i in range(int(cluster.max()) + 1)]
    return ClusterCounts.of_rows(("no", "yes"), truth, decision, cluster, names)


def rows(size: int, seed: int = 5) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    truth = (generator.random(size) < 0.4).astype(np.uint8)
    decision = np.where(generator.random(size) < 0.8, truth, 1 - truth).astype(np.uint8)
    return truth, decision


@pytest.mark.parametrize("name", ["precision", "mcc", "f1", "positive_likelihood_ratio"])
def test_clusters_of_one_row_are_nearly_independent_rows(name: str) -> None:
    truth, decision = rows(3000)
    counted = clustered(truth, decision, np.arange(3000))
    measure = find(name)
    quantity = Quantity(measure.formula, label=1)
    plain = interval(quantity, counted.confusion(), measure.range, 0.95)
    bounds = cluster_interval(quantity, counted, measure.range, 0.95)
    assert bounds == pytest.approx(plain, rel=2e-3)


def test_clusters_of_one_row_differ_from_rows_by_student_and_their_number_alone() -> None:
    truth, decision = rows(60)
    counted = clustered(truth, decision, np.arange(60))
    table = table_of(counted.confusion())
    spread = variance(MCC, table, table) * 60 / 59
    expected = on_scale(mcc(table), spread, SIGNED, float(stats.t.ppf(0.975, 59)))
    assert cluster_interval(MCC, counted, SIGNED, 0.95) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("name", ["precision", "mcc", "f1"])
def test_repeating_each_row_within_its_cluster_does_not_narrow_the_interval(name: str) -> None:
    truth, decision = rows(120)
    cluster = np.arange(120)
    measure = find(name)
    quantity = Quantity(measure.formula, label=1)
    once = cluster_interval(quantity, clustered(truth, decision, cluster), measure.range, 0.95)
    tenfold = clustered(*(np.repeat(column, 10) for column in (truth, decision, cluster)))
    assert cluster_interval(quantity, tenfold, measure.range, 0.95) == pytest.approx(once)
    naive = interval(quantity, tenfold.confusion(), measure.range, 0.95)
    assert naive[1] - naive[0] < (once[1] - once[0]) / 2


def test_alike_rows_in_a_cluster_widen_the_interval() -> None:
    truth, decision = rows(400)
    together = np.argsort(truth * 2 + decision, kind="stable")
    cluster = np.empty(400, int)
    cluster[together] = np.arange(400) // 20
    alike = cluster_interval(MCC, clustered(truth, decision, cluster), SIGNED, 0.95)
    mixed = cluster_interval(MCC, clustered(truth, decision, np.arange(400) % 20), SIGNED, 0.95)
    assert alike[1] - alike[0] > 2 * (mixed[1] - mixed[0])


def test_perfect_decisions_in_clusters_still_have_width() -> None:
    truth, _ = rows(60)
    low, high = cluster_interval(MCC, clustered(truth, truth, np.arange(60) % 6), SIGNED, 0.95)
    assert high == 1.0
    assert 0 < low < 1


@pytest.mark.parametrize("name", ["recall", "f1", "mcc"])
@pytest.mark.parametrize("size", [1, 5])
def test_perfect_clusters_tell_no_more_than_as_many_rows(name: str, size: int) -> None:
    truth = np.arange(600) < 160
    counted = clustered(truth.astype(int), truth.astype(int), np.arange(600) // size)
    measure = find(name)
    quantity = Quantity(measure.formula, label=1)
    plain = interval(quantity, counted.confusion(), measure.range, 0.95)
    low, high = cluster_interval(quantity, counted, measure.range, 0.95)
    assert low <= plain[0] < 1
    assert high == 1


@pytest.mark.parametrize("name", ["precision", "mcc", "diagnostic_odds_ratio"])
@given(count=st.integers(2, 12), seed=st.integers(0, 10**6), level=st.floats(0.5, 0.9999))
def test_cluster_interval_holds_the_value_and_stays_in_range(name, count, seed, level) -> None:
    truth, decision = rows(40, seed)
    counted = clustered(truth, decision, np.arange(40) % count)
    measure = find(name)
    quantity = Quantity(measure.formula, label=1)
    value = quantity.value(counted.confusion())
    assume(not math.isnan(value))
    low, high = cluster_interval(quantity, counted, measure.range, level)
    assert measure.range[0] <= low <= value <= high <= measure.range[1]


# -- the method as an object -----------------------------------------------------------------------


def test_delta_can_be_asked_for_where_wilson_is_the_default() -> None:
    table = binary(50, 10, 20, 30)
    precision = estimate(PRECISION, table, UNIT, method=Delta())
    assert precision.method == "delta"
    assert (precision.low, precision.high) == interval(PRECISION, table, UNIT, 0.95)
    assert estimate(PRECISION, table, UNIT).method == "wilson"


@pytest.mark.parametrize("level", [0, 1, 95])
def test_delta_checks_its_level(level: float) -> None:
    with pytest.raises(MethodError, match="level"):
        Delta(level)
