"""What security papers quote, against values that were made with R; see ``r/README.md``."""

from __future__ import annotations

import json
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.laws.counted import counted, of_cells

from assay.counts import ScoreCounts
from assay.measures import (
    AVERAGE_PRECISION,
    CALIBRATION_INTERCEPT,
    CALIBRATION_SLOPE,
    EQUAL_ERROR_RATE,
    H_MEASURE,
    H_MEASURE_SYMMETRIC,
    KS,
    PRECISION_RECALL_GAIN,
    Costs,
    Measure,
    reliability,
    upper_hull,
)
from assay.measures.roc_points import Points, recall_at

VALUES = json.loads((Path(__file__).parent / "r" / "field_values.json").read_text())
TESTED = {
    "base_rates",
    "calibration",
    "gains",
    "gains_of_counts",
    "hmeasure",
    "net_benefit",
    "rates",
}


def test_no_section_of_the_stored_values_is_forgotten() -> None:
    assert set(VALUES) - {"meta", "data"} == TESTED


def section(name: str) -> pytest.MarkDecorator:
    """One test a case of a section."""
    cases = [pytest.param(c["inputs"], c["outputs"], id=c["name"]) for c in VALUES[name]]
    return pytest.mark.parametrize(("given", "r"), cases)


close = partial(pytest.approx, rel=1e-12, abs=1e-12)


def table(given: dict[str, Any]) -> ScoreCounts:
    rows = VALUES["data"][given["data"]]
    truth = np.array(rows["labels"], np.uint8)
    return ScoreCounts.of_rows(("0", "1"), np.array(rows["scores"]), truth)


def value(measure: Measure, given: dict[str, Any]) -> float:
    return measure.of_scores.value(table(given))


@section("hmeasure")
def test_the_h_measures_and_ks_agree_with_hmeasure(given: dict, r: dict) -> None:
    assert value(H_MEASURE, given) == close(r["h"])
    assert value(H_MEASURE_SYMMETRIC, given) == close(r["h_symmetric"])
    assert value(KS, given) == close(r["ks"])


@section("hmeasure")
def test_the_area_under_the_hull_agrees_with_hmeasure(given: dict, r: dict) -> None:
    points = Points.of(table(given))
    x, y = points.fp[::-1] / points.negatives, points.tp[::-1] / points.positives
    corners = upper_hull(x, y)
    assert np.trapezoid(y[corners], x[corners]) == close(r["auch"])
    assert np.trapezoid(y, x) == close(r["auc"])


@section("rates")
def test_rates_at_points_of_the_curve_agree_with_proc(given: dict, r: dict) -> None:
    values = [recall_at(Points.of(table(given)), rate).value for rate in given["max_fpr"]]
    assert values == close(r["recall"])
    assert value(EQUAL_ERROR_RATE, given) == close(r["equal_error_rate"])
    assert value(KS, given) == close(r["ks"])


@section("base_rates")
def test_average_precision_at_a_base_rate_agrees_with_weighted_points_of_prroc(
    given: dict, r: dict
) -> None:
    declared = AVERAGE_PRECISION.of_scores
    rows = table(given)
    ours = [declared.at_base_rate(rate).influence(rows).value for rate in given["base_rates"]]
    assert ours == pytest.approx(r["average_precision"], rel=1e-9)


@section("gains")
def test_the_area_under_precision_recall_gain_agrees_with_its_authors_package(
    given: dict, r: dict
) -> None:
    assert value(PRECISION_RECALL_GAIN, given) == close(r["auprg"])


@section("gains_of_counts")
def test_gains_of_counts_agree_with_their_authors_package(given: dict, r: dict) -> None:
    rows = of_cells(**given)
    assert rows.value("precision_gain") == close(r["precision_gain"])
    assert rows.value("recall_gain") == close(r["recall_gain"])


@section("net_benefit")
def test_net_benefit_agrees_with_dcurves(given: dict, r: dict) -> None:
    """Both of the model and of flagging everything."""
    rows = VALUES["data"][given["data"]]
    for threshold, own, every in zip(given["thresholds"], r["net_benefit"], r["all"], strict=True):
        # At the odds of the threshold, for which those are the costs.
        costs = Costs(Fraction(repr(threshold)), 1 - Fraction(repr(threshold)))
        truth, scores = rows["labels"], rows["scores"]
        of_scores = counted("01", truth, scores=scores, threshold=threshold, costs=costs)
        assert of_scores.value("net_benefit") == close(own)
        flagged = counted("01", truth, np.ones(len(truth), int), costs=costs)
        assert flagged.value("net_benefit") == close(every)


@section("calibration")
def test_the_line_through_the_log_odds_agrees_with_glm(given: dict, r: dict) -> None:
    for measure, name in ((CALIBRATION_SLOPE, "slope"), (CALIBRATION_INTERCEPT, "intercept")):
        smooth = measure.of_scores.by_influence(table(given))
        assert smooth.value == pytest.approx(r[name], rel=1e-9, abs=1e-10)
        assert smooth.variance == pytest.approx(r[f"{name}_variance"], rel=1e-8)


@section("calibration")
def test_the_parts_of_the_brier_score_make_it_up_where_each_score_is_a_bin(
    given: dict, r: dict
) -> None:
    own = table(given)
    # Bins so narrow that no two scores share one.
    parts = reliability(own, bins=10_000)
    uncertainty = parts.prevalence * (1 - parts.prevalence)
    assert parts.squared_gap - parts.resolution + uncertainty == close(r["brier"])
