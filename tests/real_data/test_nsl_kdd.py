"""A forest's scores on NSL-KDD, where every label but normal is an attack and its own family."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import binomtest
from sklearn import metrics

import assay

from .documents import Told, evaluate
from .files import TEST, TRAIN, needs
from .forest import Predictions
from .scikit_learn import defined, of_two, of_two_and_scores

pytestmark = [needs(TRAIN, TEST), pytest.mark.slow]


def close(expected: Any, tolerance: float = 1e-12) -> Any:
    return pytest.approx(expected, rel=tolerance, abs=tolerance)


def common(values: Mapping[str, float], expected: Mapping[str, float]) -> dict[str, float]:
    """What scikit-learn has too; all else is held against other references."""
    return {name: value for name, value in values.items() if name in expected}


def test_every_value_is_that_of_scikit_learn(predictions: Predictions, told: Told) -> None:
    expected = of_two_and_scores(predictions.truth, predictions.scores, "normal")
    assert common(told.values(), expected) == close(expected)


def test_every_slice_is_that_of_scikit_learn(predictions: Predictions, told: Told) -> None:
    protocols = predictions.rows["protocol_type"].to_numpy()
    assert told.parts("protocol_type") == set(protocols) == {"icmp", "tcp", "udp"}
    for protocol in set(protocols):
        rows = protocols == protocol
        expected = defined(of_two(predictions.truth[rows], predictions.flagged[rows]))
        values = told.values(part=("protocol_type", protocol))
        assert common(values, expected) == close(expected), protocol


@pytest.mark.parametrize("column", ["protocol_type", "family"])
def test_slices_add_up_to_the_whole(told: Told, column: str) -> None:
    parts = [told.cells(part=(column, value)) for value in told.parts(column)]
    (tn, fp), (fn, tp) = told["confusion"]
    total = {name: sum(part[name] for part in parts) for name in ("tn", "fp", "fn", "tp")}
    assert total == {"tn": tn, "fp": fp, "fn": fn, "tp": tp}


# -- families --------------------------------------------------------------------------------------


def test_attacks_are_families_under_their_own_names(predictions: Predictions, told: Told) -> None:
    assert told["labels"] == ["normal", "not normal"]
    assert told.parts("family") == set(predictions.rows["label"])


def test_attacks_that_occur_only_in_the_test_part_are_families(told: Told) -> None:
    new = set(pl.read_parquet(TEST)["label"]) - set(pl.read_parquet(TRAIN)["label"])
    assert len(new) == 17
    assert new <= told.parts("family")


def test_the_detection_rate_of_a_family_is_that_of_its_group(
    predictions: Predictions, told: Told
) -> None:
    flagged = predictions.rows.with_columns(flagged=pl.col("score") >= 0.5)
    groups = flagged.group_by("label").agg(pl.col("flagged").sum(), rows=pl.len())
    for name, detected, rows in groups.iter_rows():
        recall = told.estimates(part=("family", name))["recall"]
        if name == "normal":
            assert recall["undefined"]
            continue
        exact = binomtest(detected, rows).proportion_ci(0.95, method="exact")
        assert (recall["method"], recall["n"]) == ("clopper-pearson", rows)
        assert recall["value"] == close(detected / rows), name
        assert [recall["low"], recall["high"]] == close([exact.low, exact.high], 1e-11), name


# -- deployment ------------------------------------------------------------------------------------


def at(predictions: Predictions, base_rate: float) -> Any:
    """Weights under which attacks have the share of the base rate, and the rows sum to 1."""
    truth = predictions.truth
    return np.where(truth, base_rate / truth.sum(), (1 - base_rate) / (~truth).sum())


def test_without_a_base_rate_precision_follows_from_bayes_rule(
    predictions: Predictions, told: Told
) -> None:
    (tn, fp), (fn, tp) = told["confusion"]
    detected, false = tp / (tp + fn), fp / (fp + tn)
    for rate in (0.1, 0.01, 0.001, 0.0001):
        precision = rate * detected / (rate * detected + (1 - rate) * false)
        expected = {"precision": precision, "false_discovery_rate": 1 - precision}
        assert told.values(base_rate=rate) == close(expected)


def test_at_a_base_rate_values_are_those_of_rows_weighted_to_it(
    predictions: Predictions, tmp_path: Path
) -> None:
    rate, volume = 0.002, 3e6
    options = ("--base-rate", "1/500", "--volume", "3e6")
    evaluation = evaluate(tmp_path / "out", predictions.parquet, "--negative", "normal", *options)
    rows = (predictions.truth, predictions.flagged)
    weighted = {"sample_weight": at(predictions, rate)}
    _, fp, fn, tp = metrics.confusion_matrix(*rows, **weighted).ravel()
    expected = {
        "precision": metrics.precision_score(*rows, **weighted),
        "false_discovery_rate": fp / (fp + tp),
        "negative_predictive_value": metrics.precision_score(*rows, pos_label=False, **weighted),
        "f1": metrics.f1_score(*rows, **weighted),
        "accuracy": metrics.accuracy_score(*rows, **weighted),
        "mcc": metrics.matthews_corrcoef(*rows, **weighted),
        "alert_rate": fp + tp,
        "alerts_per_day": volume * (fp + tp),
        "false_alarms_per_day": volume * fp,
        "missed_per_day": volume * fn,
    }
    assert common(evaluation.values(base_rate=rate), expected) == close(expected, 1e-11)
    (reach,) = evaluation["deployment"]
    largest = reach["largest_fpr"]
    recall = evaluation.values()["recall"]
    false = (1 - rate) * largest / ((1 - rate) * largest + rate * recall)
    assert false == close(reach["tolerated_far"])
    assert (reach["held"], reach["enough"]) == (False, False)
    assert 1 - 0.05 ** (1 / reach["negatives_needed"]) <= largest


# -- labels of alerts alone ------------------------------------------------------------------------


def test_labels_of_alerts_alone_give_what_needs_only_alerts(
    predictions: Predictions, told: Told, tmp_path: Path
) -> None:
    raised = pl.col("score") >= 0.5
    rows = predictions.rows.with_columns(label=pl.when(raised).then("label"))
    rows.write_parquet(tmp_path / "alerts.parquet")
    options = ("--negative", "normal", "--unlabelled", "allow")
    evaluation = evaluate(tmp_path / "out", tmp_path / "alerts.parquet", *options)
    estimates, whole = evaluation.estimates(), told.estimates()
    for name in ("precision", "false_discovery_rate", "alert_rate"):
        assert estimates[name] == whole[name], name
    for name in ("recall", "specificity", "accuracy", "roc_auc", "log_loss"):
        assert estimates[name]["value"] is None, name
        assert "not labelled" in estimates[name]["undefined"], name


def test_a_weighted_sample_of_the_other_rows_gives_the_detection_rate(
    predictions: Predictions, told: Told, tmp_path: Path
) -> None:
    quiet = np.flatnonzero(~predictions.flagged)
    drawn = np.zeros(len(predictions.rows), bool)
    drawn[np.random.default_rng(0).choice(quiet, len(quiet) // 20, replace=False)] = True
    weight = len(quiet) / drawn.sum()
    rows = predictions.rows.with_columns(
        label=pl.when(pl.Series(predictions.flagged | drawn)).then("label"),
        weight=pl.Series(np.where(drawn, weight, 1.0)),
    )
    rows.write_parquet(tmp_path / "sample.parquet")
    options = ("--negative", "normal", "--unlabelled", "allow", "--weight", "weight")
    asked = (*options, "--level", "0.999")
    recall = evaluate(tmp_path / "out", tmp_path / "sample.parquet", *asked).estimates()["recall"]
    detected = np.count_nonzero(predictions.truth & predictions.flagged)
    missed = weight * np.count_nonzero(predictions.truth & drawn)
    assert recall["method"] == "horvitz-thompson"
    assert recall["value"] == close(detected / (detected + missed))
    assert recall["low"] < told.values()["recall"] < recall["high"]


# -- curves ----------------------------------------------------------------------------------------


def test_every_point_of_the_sweep_is_on_the_roc_curve_of_scikit_learn(
    predictions: Predictions, told: Told
) -> None:
    truth, sweep = predictions.truth, told["sweep"]
    fpr, tpr, thresholds = metrics.roc_curve(truth, predictions.scores, drop_intermediate=False)
    counts = np.column_stack([tpr * truth.sum(), fpr * (~truth).sum()]).round().astype(int)
    curve = dict(zip(thresholds.tolist(), counts.tolist(), strict=True))
    points = list(zip(sweep["tp"], sweep["fp"], strict=True))
    assert points[0] == (0, 0)
    for threshold, point in zip(sweep["threshold"][1:], points[1:], strict=True):
        assert curve[threshold] == list(point)
    assert points[-1] == (truth.sum(), (~truth).sum())
    assert len(points) <= 2000


def test_the_sweep_keeps_the_operating_point_and_almost_all_of_the_area(told: Told) -> None:
    (tn, fp), (fn, tp) = told["confusion"]
    sweep = told["sweep"]
    assert (tp, fp) in zip(sweep["tp"], sweep["fp"], strict=True)
    area = np.trapezoid(sweep["tp"], sweep["fp"]) / ((tp + fn) * (fp + tn))
    assert area == pytest.approx(told.values()["roc_auc"], abs=1e-4)


def test_far_against_detection_rate_is_the_precision_recall_curve(
    predictions: Predictions,
) -> None:
    evaluation = assay.evaluate_files(str(predictions.parquet), negative="normal")
    curve = evaluation.curves.far_dr(points=None)
    precision, recall, thresholds = metrics.precision_recall_curve(
        predictions.truth, predictions.scores
    )
    # Theirs rises with the threshold and ends with a point that no threshold has.
    assert curve["threshold"].tolist() == thresholds[::-1].tolist()
    assert (1 - curve["false_discovery_rate"]).tolist() == close(precision[-2::-1].tolist())
    assert curve["recall"].tolist() == close(recall[-2::-1].tolist())


# -- files -----------------------------------------------------------------------------------------


def test_the_csv_and_the_parquet_give_the_same_document(
    predictions: Predictions, told: Told, tmp_path: Path
) -> None:
    again = evaluate(tmp_path / "out", predictions.csv, *predictions.options)
    assert again["source"].pop("name") == str(predictions.csv)
    source = {key: value for key, value in told["source"].items() if key != "name"}
    apart = {"source": source, "provenance": again["provenance"]}
    assert again.document == told.document | apart


def test_the_command_prints_the_document_and_nothing_else(
    predictions: Predictions, told: Told
) -> None:
    options = (*predictions.options, "--format", "json")
    command = [sys.executable, "-m", "assay", "evaluate", str(predictions.csv), *options]
    done = subprocess.run(command, capture_output=True, timeout=300, check=True)
    document = json.loads(done.stdout)
    assert document["estimates"] == told["estimates"]
    assert "Traceback" not in done.stderr.decode()
