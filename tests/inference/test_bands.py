import numpy as np
import pytest
from scipy import stats

from assay.counts import ScoreCounts
from assay.errors import MethodError
from assay.inference import Quantity, Wilson, with_band
from assay.measures import find
from assay.measures.curves import far_dr, precision_recall, roc, sweep, trace


def swept():
    generator = np.random.default_rng(8)
    truth = (generator.random(200) < 0.3).astype(np.uint8)
    scores = np.round(truth * 0.3 + generator.random(200) * 0.7, 2)
    return sweep(ScoreCounts.of_rows(("no", "yes"), scores, truth))


def test_band_of_a_roc_curve_is_wilson_around_the_detection_rate() -> None:
    points = swept()
    curve = with_band(roc(points))
    low, high = Wilson()(points.tp, points.positives)
    np.testing.assert_array_equal(curve["low"], low)
    np.testing.assert_array_equal(curve["high"], high)


def test_band_of_a_precision_curve_starts_at_the_first_alert() -> None:
    points = swept()
    curve = with_band(precision_recall(points), 0.9)
    low, high = Wilson(0.9)(points.tp[1:], (points.tp + points.fp)[1:])
    np.testing.assert_array_equal(curve["low"], low)
    np.testing.assert_array_equal(curve["high"], high)
    assert len(curve) == len(points.threshold) - 1


@pytest.mark.parametrize("name", ["f1", "mcc", "informedness"])
def test_band_of_a_measure_that_is_no_share_is_z_errors_cut_at_its_range(name: str) -> None:
    points = swept()
    curve = with_band(trace(points, name, find(name)))
    measure = find(name)
    quantity = Quantity(measure.formula, label=1)
    row = len(curve) // 2
    cells = {cell: float(column[row]) for cell, column in curve.cells.items()}
    table = np.array([[cells["TN"], cells["FP"]], [cells["FN"], cells["TP"]]])
    error = np.sqrt((table * quantity.gradient(table) ** 2).sum())
    reach = stats.norm.ppf(0.975) * error
    value = curve[name][row]
    assert curve["low"][row] == pytest.approx(max(value - reach, measure.range[0]), rel=1e-9)
    assert curve["high"][row] == pytest.approx(min(value + reach, measure.range[1]), rel=1e-9)


@pytest.mark.parametrize("name", ["positive_likelihood_ratio", "lift", "precision_gain"])
def test_band_of_a_ratio_is_z_errors_of_its_logarithm(name: str) -> None:
    curve = with_band(trace(swept(), name, find(name)))
    measure = find(name)
    quantity = Quantity(measure.formula, label=1)
    row = len(curve) // 2
    cells = {cell: float(column[row]) for cell, column in curve.cells.items()}
    table = np.array([[cells["TN"], cells["FP"]], [cells["FN"], cells["TP"]]])
    error = np.sqrt((table * quantity.gradient(table) ** 2).sum())
    value, low, high = (curve[column][row] for column in (name, "low", "high"))
    if measure.range[1] == 1:
        value, low, high = 1 - value, 1 - high, 1 - low
    reach = stats.norm.ppf(0.975) * error / value
    assert low == pytest.approx(value * np.exp(-reach), rel=1e-9)
    assert high == pytest.approx(value * np.exp(reach), rel=1e-9)


@pytest.mark.parametrize("name", ["recall", "precision", "f1", "mcc", "accuracy"])
def test_band_holds_the_curve_and_stays_in_range(name: str) -> None:
    curve = with_band(trace(swept(), name, find(name)))
    low, high = find(name).range
    assert (low <= curve["low"]).all()
    assert (curve["low"] <= curve[name]).all()
    assert (curve[name] <= curve["high"]).all()
    assert (curve["high"] <= high).all()


def test_higher_level_is_wider() -> None:
    narrow, wide = (with_band(far_dr(swept()), level) for level in (0.8, 0.99))
    assert (wide["low"] <= narrow["low"]).all()
    assert (wide["high"] >= narrow["high"]).all()
    assert (wide["high"] > narrow["high"]).any()


def test_curve_itself_stays_as_it_was() -> None:
    curve = roc(swept())
    banded = with_band(curve)
    assert set(banded.columns) == {*curve.columns, "low", "high"}
    assert "low" not in curve.columns
    np.testing.assert_array_equal(banded["recall"], curve["recall"])


def test_curve_of_weighted_rows_has_no_band() -> None:
    scores, weights = np.array([0.1, 0.9, 0.4, 0.6]), np.array([1.0, 2, 3, 4])
    table = ScoreCounts.of_rows(("no", "yes"), scores, np.array([0, 1, 1, 0]), weights=weights)
    with pytest.raises(MethodError, match="weighted rows has no band"):
        with_band(roc(sweep(table)))
