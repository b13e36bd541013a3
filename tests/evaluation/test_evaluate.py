"""From columns of any kind to an evaluation."""

import math
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import stats

from assay import (
    Bootstrap,
    Delta,
    Evaluation,
    Wilson,
    choose_threshold,
    compare,
    count,
    evaluate,
    evaluate_files,
    from_bytes,
    gate,
)
from assay.errors import (
    CountError,
    EmptyInput,
    LabelError,
    LengthMismatch,
    MethodError,
    ScoreError,
)
from assay.inference import METHODS
from assay.inference.delta import STRATA_METHODS
from assay.measures import find
from assay.tally import resolved_tally

TRUTH = ["attack", "normal", "attack", "normal", "attack", "normal", "normal", "attack"]
SCORES = [0.9, 0.2, 0.4, 0.6, 0.8, 0.1, 0.5, 0.7]
DECISIONS = ["attack", "normal", "normal", "attack", "attack", "normal", "attack", "attack"]
CELLS = ((2, 2), (1, 3))

CONTAINERS = {
    "list": list,
    "tuple": tuple,
    "numpy": np.array,
    "object array": lambda values: np.array(values, dtype=object),
    "pandas": pd.Series,
    "pandas index": lambda values: pd.Series(values, index=range(100, 100 + len(values))),
    "polars": pl.Series,
    "arrow": pa.array,
    "arrow chunks": lambda values: pa.chunked_array([values[:3], values[3:]]),
    "generator": iter,
}
containers = pytest.mark.parametrize("container", CONTAINERS.values(), ids=CONTAINERS)


# -- kinds of columns ------------------------------------------------------------------------------


@containers
def test_scores_may_come_in_any_container(container) -> None:
    evaluation = evaluate(container(TRUTH), y_score=container(SCORES))
    assert evaluation.confusion.cells == CELLS
    assert evaluation["roc_auc"] == 14 / 16


@containers
def test_decisions_may_come_in_any_container(container) -> None:
    evaluation = evaluate(container(TRUTH), y_pred=container(DECISIONS))
    assert evaluation.confusion.cells == CELLS
    assert evaluation.tally.scores is None


@pytest.mark.parametrize(
    ("negative", "positive"),
    [(0, 1), (False, True), (0.0, 1.0), ("no", "yes"), ("0", "1"), ("ham", "spam")],
)
def test_labels_may_be_of_any_kind(negative, positive) -> None:
    truth = [positive if label == "attack" else negative for label in TRUTH]
    said = [positive if label == "attack" else negative for label in DECISIONS]
    evaluation = evaluate(truth, y_pred=said)
    assert evaluation.confusion.cells == CELLS


def test_labels_are_text() -> None:
    assert evaluate([0, 1], y_pred=[0, 1]).labels == ("0", "1")
    assert evaluate([False, True], y_pred=[False, True]).labels == ("false", "true")
    assert evaluate([1.0, 0.0], y_pred=[1.0, 0.0]).labels == ("0", "1")


def test_booleans_beside_numbers_are_numbers() -> None:
    assert evaluate([0, 1, 1], y_pred=[False, True, False]).confusion.cells == ((1, 0), (1, 1))


def test_decision_decides_and_score_ranks_where_both_are_given() -> None:
    evaluation = evaluate(TRUTH, y_score=SCORES, y_pred=TRUTH)
    assert evaluation["accuracy"] == 1.0
    assert evaluation["roc_auc"] == 14 / 16
    assert evaluation.tally.threshold is None


# -- probabilities ---------------------------------------------------------------------------------

CLASSES = ["c", "a", "b", "a", "c", "b"]
TABLE = np.array(
    [[0.1, 0.2, 0.7], [0.6, 0.3, 0.1], [0.2, 0.2, 0.6], [0.5, 0.4, 0.1], [0.3, 0.4, 0.3], [0, 1, 0]]
)

TABLES = {
    "array": TABLE,
    "lists": TABLE.tolist(),
    "mapping": {"c": TABLE[:, 2], "a": TABLE[:, 0], "b": TABLE[:, 1]},
    "pandas": pd.DataFrame(TABLE, columns=list("abc"))[["b", "c", "a"]],
    "polars": pl.DataFrame(TABLE, schema=list("abc")),
    "arrow": pa.table({name: TABLE[:, i] for i, name in enumerate("abc")}),
}


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_probabilities_of_many_classes_may_come_in_any_table(table) -> None:
    evaluation = evaluate(CLASSES, y_proba=table)
    assert evaluation.labels == ("a", "b", "c")
    assert evaluation.positive is None
    assert evaluation.confusion.cells == ((2, 0, 0), (0, 1, 1), (0, 1, 1))
    assert evaluation["log_loss"] == pytest.approx(-np.log([0.7, 0.6, 0.2, 0.5, 0.3, 1]).mean())


def test_largest_probability_decides_and_the_first_label_wins_a_tie() -> None:
    evaluation = evaluate(["a", "b", "c"], y_proba=[[0.4, 0.4, 0.2]] * 3)
    assert evaluation.confusion.columns == (3, 0, 0)


@pytest.mark.parametrize(
    "said",
    [
        {"y_proba": SCORES},
        {"y_proba": [[p, 1 - p] for p in SCORES]},
        {"y_proba": {"attack": SCORES, "normal": [1 - p for p in SCORES]}},
    ],
    ids=["one column", "two columns", "mapping"],
)
def test_probabilities_of_two_classes_are_scores_of_the_positive(said) -> None:
    evaluation = evaluate(TRUTH, **said)
    assert evaluation["roc_auc"] == 14 / 16
    assert evaluation.positive == "attack"


def test_scores_in_the_unit_interval_are_read_as_probabilities_and_it_is_said() -> None:
    evaluation = evaluate(TRUTH, y_score=SCORES)
    assert any("read as probabilities" in note for note in evaluation.notes)
    assert not math.isnan(evaluation["log_loss"])


def test_scores_outside_of_the_unit_interval_are_not_probabilities() -> None:
    evaluation = evaluate(TRUTH, y_score=[10 * score for score in SCORES], threshold=5)
    assert evaluation.confusion.cells == CELLS
    assert evaluation["log_loss"].undefined == "it needs probabilities; there are only scores"
    assert evaluation["brier"].undefined == "it needs probabilities; there are only scores"
    assert "probability" in evaluation["expected_calibration_error"].undefined


def test_decisions_alone_have_no_ranking() -> None:
    evaluation = evaluate(TRUTH, y_pred=DECISIONS)
    for name in ("roc_auc", "partial_auc", "average_precision"):
        assert evaluation[name].undefined == "it needs scores; there are only decisions"
    assert evaluation["log_loss"].undefined == "it needs probabilities; there are only decisions"


def test_calibration_of_many_classes_is_undefined_with_its_reason() -> None:
    why = evaluate(CLASSES, y_proba=TABLE)["expected_calibration_error"].undefined
    assert why == "it needs the probability of one positive label, of two"


# -- the positive label ----------------------------------------------------------------------------


def test_well_known_pairs_are_inferred_and_it_is_said() -> None:
    evaluation = evaluate(TRUTH, y_pred=DECISIONS)
    assert evaluation.positive == "attack"
    assert evaluation.labels == ("normal", "attack")
    assert "'attack' was taken as the positive label, since the other is 'normal'" in (
        evaluation.notes
    )


@pytest.mark.parametrize("truth", [[-1, 1, -1], ["a", "b", "a"]])
def test_other_pairs_must_be_told(truth) -> None:
    with pytest.raises(LabelError, match="nothing tells which one is the alarm"):
        evaluate(truth, y_pred=truth)


def test_positive_may_be_any_label() -> None:
    evaluation = evaluate([-1, 1, -1], y_pred=[-1, 1, 1], positive=-1)
    assert evaluation.labels == ("1", "-1")
    assert evaluation["recall"] == 0.5


def test_negative_makes_every_other_label_positive_and_keeps_its_name_as_family() -> None:
    truth = ["normal", "dos", "scan", "normal", "dos"]
    evaluation = evaluate(truth, y_score=[0.1, 0.9, 0.2, 0.6, 0.8], negative="normal")
    assert evaluation.labels == ("normal", "not normal")
    assert evaluation.of_slice("family", "dos")["recall"] == 1.0
    assert evaluation.of_slice("family", "scan")["detection_rate"] == 0.0


def test_families_have_exact_bounds() -> None:
    truth = ["normal", "dos", "scan", "normal", "dos"]
    evaluation = evaluate(truth, y_score=[0.1, 0.9, 0.2, 0.6, 0.8], negative="normal")
    recall = evaluation.of_slice("family", "dos")["recall"]
    assert recall.method == "clopper-pearson"
    assert recall.low == pytest.approx(math.sqrt(0.025))
    asked = evaluate(truth, y_score=[0.1, 0.9, 0.2, 0.6, 0.8], negative="normal", interval="wald")
    assert asked.of_slice("family", "dos")["recall"].method == "wald"


# -- one class only --------------------------------------------------------------------------------


def test_positives_alone_leave_what_needs_negatives_undefined() -> None:
    evaluation = evaluate(["attack"] * 4, y_score=[0.9, 0.8, 0.3, 0.7], labels=["normal", "attack"])
    assert evaluation["recall"] == 0.75
    for name in ("specificity", "false_positive_rate", "roc_auc", "informedness", "g_mean"):
        assert math.isnan(evaluation[name])
        assert "there are no negatives" in evaluation[name].undefined
    assert evaluation["average_precision"] == 1.0


def test_negatives_alone_leave_what_needs_positives_undefined() -> None:
    evaluation = evaluate(["normal"] * 4, y_score=[0.9, 0.8, 0.3, 0.7], labels=["normal", "attack"])
    for name in ("recall", "false_negative_rate", "roc_auc", "average_precision"):
        assert math.isnan(evaluation[name])
        assert "there are no positives" in evaluation[name].undefined
    assert evaluation["specificity"] == 0.25


@pytest.mark.parametrize("truth", [["attack"] * 3, ["normal"] * 3])
def test_one_class_can_be_shown_and_written(truth) -> None:
    evaluation = evaluate(truth, y_score=[0.9, 0.2, 0.4], labels=["normal", "attack"])
    assert "undefined" in repr(evaluation)
    assert "undefined" in evaluation._repr_html_()
    assert evaluation.to_dict()["confusion"] == [list(row) for row in evaluation.confusion.cells]


# -- counts and weights ----------------------------------------------------------------------------


def plain(evaluation: Evaluation) -> list[dict]:
    return evaluation.to_dict()["estimates"]


def test_counts_are_repetitions() -> None:
    counts = [3, 1, 2, 1, 4, 2, 1, 5]
    counted = evaluate(TRUTH, y_score=SCORES, counts=counts)
    repeated = evaluate(np.repeat(TRUTH, counts), y_score=np.repeat(SCORES, counts))
    assert counted.tally == repeated.tally
    assert plain(counted) == plain(repeated)


def test_rows_of_count_zero_are_as_if_absent_but_were_read() -> None:
    counted = evaluate(TRUTH, y_score=SCORES, counts=[1, 1, 1, 1, 1, 1, 0, 0])
    shorter = evaluate(TRUTH[:6], y_score=SCORES[:6])
    assert plain(counted) == plain(shorter)
    assert counted.to_dict()["source"]["rows_read"] == 8


def test_values_with_weights_are_those_of_repeated_rows() -> None:
    counts = [3, 1, 2, 1, 4, 2, 1, 5]
    weighted = evaluate(TRUTH, y_score=SCORES, sample_weight=counts)
    counted = evaluate(TRUTH, y_score=SCORES, counts=counts)
    for name in counted:
        assert weighted[name] == pytest.approx(float(counted[name]), abs=1e-12, nan_ok=True)


def test_weights_have_an_effective_number_of_rows() -> None:
    weights = np.array([3, 1, 2, 1, 4, 2, 1, 5.0])
    evaluation = evaluate(TRUTH, y_score=SCORES, sample_weight=weights)
    effective = weights.sum() ** 2 / (weights**2).sum()
    assert evaluation["mcc"].n == pytest.approx(effective)
    assert evaluation["roc_auc"].n == pytest.approx(effective)
    assert evaluation["log_loss"].n == pytest.approx(effective)


def test_scale_of_the_weights_does_not_matter() -> None:
    weights = np.array([3, 1, 2, 1, 4, 2, 1, 5.0])
    small, large = (
        evaluate(TRUTH, y_score=SCORES, sample_weight=scale * weights) for scale in (1, 1024)
    )
    for name in small:
        one, other = small[name], large[name]
        assert (one, one.low, one.high) == pytest.approx(
            (float(other), other.low, other.high), rel=1e-9, nan_ok=True
        )


def test_one_heavy_row_beside_a_light_one_is_no_trouble() -> None:
    evaluation = evaluate([0, 1], y_score=[0.1, 0.4], sample_weight=[1e6, 1e-3])
    assert evaluation["accuracy"] == pytest.approx(1, abs=1e-8)
    assert evaluation["specificity.0"] == 0.0


@pytest.mark.parametrize("bad", [[-1] * 8, [math.nan] * 8, [math.inf] * 8, [0] * 8])
def test_weights_that_mean_nothing_are_refused(bad) -> None:
    with pytest.raises(CountError):
        evaluate(TRUTH, y_score=SCORES, sample_weight=bad)


@pytest.mark.parametrize("bad", [[-1] * 8, [1.5] * 8, [0] * 8])
def test_counts_that_are_no_frequencies_are_refused(bad) -> None:
    with pytest.raises(CountError):
        evaluate(TRUTH, y_score=SCORES, counts=bad)


def test_counts_and_weights_together_are_refused() -> None:
    with pytest.raises(CountError, match="not both"):
        evaluate(TRUTH, y_score=SCORES, counts=[1] * 8, sample_weight=[1] * 8)


# -- clusters --------------------------------------------------------------------------------------


def test_clusters_change_intervals_and_no_value() -> None:
    hosts = ["a", "b", "c", "d", "a", "b", "c", "d"]
    clustered = evaluate(TRUTH, y_score=SCORES, clusters=hosts)
    alone = evaluate(TRUTH, y_score=SCORES)
    for name in alone:
        assert clustered[name] == pytest.approx(float(alone[name]), nan_ok=True)
    assert clustered["recall"].method == "cluster delta"
    assert clustered["roc_auc"].method == "cluster delta"
    assert clustered["log_loss"].method == "cluster delta"


@pytest.mark.parametrize("method", ["bootstrap", "bca"])
def test_clusters_are_resampled_whole_for_every_kind_of_measure(method: str) -> None:
    generator = np.random.default_rng(0)
    truth = np.arange(40) % 2
    scores = np.clip(truth * 0.4 + generator.random(40) * 0.6, 0, 1)
    hosts = np.arange(40) // 4
    interval = METHODS[method](resamples=100)
    evaluation = evaluate(
        truth, y_score=scores, clusters=hosts, interval=interval, base_rate=[0.1, 0.01]
    )
    for name in ("recall", "mcc", "roc_auc", "average_precision", "log_loss", "brier"):
        assert evaluation[name].method == f"cluster {method}"
        assert evaluation[name].low <= evaluation[name] <= evaluation[name].high
    assert evaluation.at(0.1)["precision"].method == f"cluster {method}"


@pytest.mark.parametrize("interval", [None, Bootstrap(resamples=50)])
def test_attacks_of_one_host_leave_no_interval_where_only_they_tell(interval) -> None:
    generator = np.random.default_rng(0)
    truth = np.arange(120) < 30
    scores = np.clip(0.3 + 0.3 * truth + generator.normal(0, 0.2, 120), 0, 1)
    hosts = np.where(truth, 99, np.arange(120) % 10)
    evaluation = evaluate(truth, y_score=scores, clusters=hosts, interval=interval)
    for name in ("recall", "balanced_accuracy", "roc_auc", "average_precision"):
        assert math.isnan(evaluation[name].low)
        assert "all rows of a class are of one cluster" in evaluation[name].note
    for name in ("specificity", "accuracy", "log_loss"):
        assert evaluation[name].low < evaluation[name] < evaluation[name].high


@pytest.mark.parametrize("interval", [None, Bootstrap(resamples=50)])
def test_a_class_of_one_host_leaves_averages_of_rankings_without_interval(interval) -> None:
    generator = np.random.default_rng(0)
    truth = np.arange(120) % 3
    table = generator.dirichlet(np.ones(3), 120)
    hosts = np.where(truth == 2, 99, np.arange(120) % 10)
    evaluation = evaluate(truth, y_proba=table, clusters=hosts, interval=interval)
    averages = ("macro", "weighted")
    keys = [f"{name}.{a}" for name in ("roc_auc", "average_precision") for a in averages]
    for key in (*keys, "roc_auc_ovo", "recall.macro", "roc_auc.2"):
        assert math.isnan(evaluation[key].low)
        assert "all rows of a class are of one cluster" in evaluation[key].note
    for key in ("roc_auc.0", "accuracy", "log_loss", "brier"):
        assert evaluation[key].low < evaluation[key] < evaluation[key].high


def test_intervals_of_few_attacked_hosts_hold_the_truth() -> None:
    generator = np.random.default_rng(3)
    truth = np.r_[np.ones(60, int), np.zeros(400, int)]
    hosts = np.r_[np.repeat([100, 101, 102], 20), np.repeat(np.arange(40), 10)]
    held = 0
    for _ in range(200):
        means = np.r_[generator.normal(0.6, 0.12, 3), generator.normal(0.3, 0.08, 40)]
        scores = np.repeat(means, [20] * 3 + [10] * 40) + generator.normal(0, 0.15, 460)
        judged = evaluate(truth, y_score=scores, clusters=hosts, positive=1, threshold=0.5)
        recall = judged["recall"]
        # Scores of attacks are normal with the variance of hosts and of rows.
        held += recall.low <= stats.norm.sf((0.5 - 0.6) / math.hypot(0.12, 0.15)) <= recall.high
    # By 42 degrees of freedom instead of 2 it was 79 of 100.
    assert held >= 0.92 * 200


@pytest.mark.parametrize("interval", [None, Bootstrap(resamples=20)])
def test_scores_of_many_classes_in_clusters_have_an_interval_or_say_why_not(interval) -> None:
    evaluation = evaluate(CLASSES, y_proba=TABLE, clusters=list("xyxyxy"), interval=interval)
    assert evaluation["accuracy"].method.startswith("cluster")
    for name in ("roc_auc.a", "average_precision.b", "log_loss", "roc_auc.macro", "roc_auc_ovo"):
        estimate = evaluation[name]
        if math.isnan(estimate.low):
            assert estimate.note.startswith("no interval")
        else:
            assert estimate.method == f"cluster {'delta' if interval is None else 'bootstrap'}"


@pytest.mark.parametrize("name", ["roc_auc.macro", "average_precision.weighted", "roc_auc_ovo"])
def test_averages_over_classes_have_every_interval_that_rows_can_give(name: str) -> None:
    generator = np.random.default_rng(2)
    truth = generator.choice(3, 200)
    table = generator.dirichlet((1, 1, 1), 200)
    table[np.arange(200), truth] += 0.25
    table /= 1.25
    rows = {"y_true": np.array(list("abc"))[truth], "y_proba": table}
    plain = evaluate(**rows)[name]
    for method in ("bootstrap", "bca"):
        drawn = evaluate(**rows, interval=METHODS[method](resamples=200))[name]
        assert (drawn.method, drawn.value) == (method, plain.value)
        width = plain.high - plain.low
        assert [drawn.low, drawn.high] == pytest.approx([plain.low, plain.high], abs=width / 4)
    # Weights that are all alike change nothing but the divisor of DeLong's variance.
    weighted = evaluate(**rows, sample_weight=np.full(200, 0.3))[name]
    assert [weighted.low, weighted.high] == pytest.approx([plain.low, plain.high], abs=2e-3)
    with pytest.raises(MethodError, match="sampling weights can't be resampled"):
        evaluate(**rows, sample_weight=np.full(200, 0.3), interval="bootstrap")


def test_rows_that_were_let_go_leave_no_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resolved_tally, "MOST_PROBABILITIES", 12)
    for clusters in (None, list("xyxyxy")):
        tally = count(CLASSES, y_proba=TABLE, clusters=clusters)
        assert tally.sample is None
        evaluation = Evaluation(tally)
        for name in ("roc_auc.macro", "roc_auc_ovo", *(("log_loss",) if clusters else ())):
            assert math.isnan(evaluation[name].low)
            assert "kept up to 20,000,000 probabilities" in evaluation[name].note


def test_a_perfect_average_is_bounded_by_its_classes() -> None:
    table = np.repeat(np.eye(3), 20, axis=0) * 0.4 + 0.2
    evaluation = evaluate(np.repeat(list("abc"), 20), y_proba=table)
    for name in ("roc_auc.macro", "roc_auc_ovo", "average_precision.macro"):
        # Clopper and Pearson's bound of 20 rows is 0.832; three classes err less together.
        assert evaluation[name].value == evaluation[name].high == 1
        assert 0.832 < evaluation[name].low < 0.97


def test_weighted_scores_in_clusters_have_no_interval_and_say_so() -> None:
    evaluation = evaluate(TRUTH, y_score=SCORES, clusters=list("xyzuxyzu"), sample_weight=SCORES)
    assert evaluation["recall"].method == "cluster delta"
    assert math.isnan(evaluation["roc_auc"].low)
    assert evaluation["roc_auc"].note.startswith("no interval")


# -- level and interval ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(set(METHODS) - set(STRATA_METHODS)))
def test_every_method_of_the_contract_can_be_asked_for(name: str) -> None:
    interval = METHODS[name](resamples=20) if name in ("bootstrap", "bca") else name
    evaluation = evaluate(TRUTH, y_score=SCORES, interval=interval)
    expected = {
        "delong": ("wilson", "delta", "delong"),
        "newcombe": ("wilson", "delta", "newcombe"),
        "delta": ("delta", "delta", "newcombe"),
        "bootstrap": ("bootstrap",) * 3,
        "bca": ("bca",) * 3,
    }.get(name, (name, "delta", "newcombe"))
    methods = tuple(evaluation[key].method for key in ("recall", "mcc", "roc_auc"))
    assert methods == expected


@pytest.mark.parametrize("method", [Wilson, Delta, Bootstrap])
def test_level_of_a_method_given_as_an_object_is_its_own(method) -> None:
    evaluation = evaluate(TRUTH, y_pred=DECISIONS, interval=method(0.8))
    named = evaluate(TRUTH, y_pred=DECISIONS, interval=method.name, level=0.8)
    assert evaluation.level == 0.8
    assert plain(evaluation) == plain(named)
    assert all(estimate.level == 0.8 for estimate in evaluation.values())


def test_level_is_that_of_every_estimate() -> None:
    evaluation = evaluate(TRUTH, y_score=SCORES, level=0.8)
    assert {estimate.level for estimate in evaluation.values()} == {0.8}
    assert "Intervals are at 80%" in repr(evaluation)


def test_higher_level_is_wider() -> None:
    narrow, wide = (evaluate(TRUTH, y_score=SCORES, level=level) for level in (0.8, 0.99))
    for name in narrow:
        if not math.isnan(narrow[name].low):
            assert wide[name].low <= narrow[name].low
            assert narrow[name].high <= wide[name].high


@pytest.mark.parametrize("level", [0, 1, 95, math.nan])
def test_level_must_lie_between_zero_and_one(level: float) -> None:
    with pytest.raises(MethodError, match="level must lie between 0 and 1"):
        evaluate(TRUTH, y_score=SCORES, level=level)


def test_unknown_method_is_refused() -> None:
    with pytest.raises(MethodError, match="choose from"):
        evaluate(TRUTH, y_score=SCORES, interval="exact")


@pytest.mark.parametrize("interval", ["bootstrap", "bca"])
def test_weighted_rows_cannot_be_resampled(interval: str) -> None:
    with pytest.raises(MethodError, match="sampling weights can't be resampled"):
        evaluate(TRUTH, y_score=SCORES, sample_weight=SCORES, interval=interval)


# -- threshold -------------------------------------------------------------------------------------


def test_row_is_flagged_from_the_threshold_on() -> None:
    assert evaluate(TRUTH, y_score=SCORES, threshold=0.5).confusion.cells == CELLS
    assert evaluate(TRUTH, y_score=SCORES, threshold=0.50001).confusion.cells == ((3, 1), (1, 3))
    assert evaluate(TRUTH, y_score=SCORES).tally.threshold == 0.5


def test_scores_outside_of_the_unit_interval_need_a_threshold() -> None:
    evaluation = evaluate(TRUTH, y_score=[10 * score for score in SCORES])
    assert evaluation["roc_auc"].value == evaluate(TRUTH, y_score=SCORES)["roc_auc"].value
    assert "no threshold was given" in str(evaluation["recall"].undefined)
    assert any("threshold=" in note for note in evaluation.notes)


@pytest.mark.parametrize("threshold", [math.nan, math.inf])
def test_threshold_must_be_finite(threshold: float) -> None:
    with pytest.raises(ScoreError, match="finite"):
        evaluate(TRUTH, y_score=SCORES, threshold=threshold)


# -- what is refused -------------------------------------------------------------------------------


def test_no_rows_are_refused() -> None:
    with pytest.raises(EmptyInput):
        evaluate([], y_score=[])


def test_nothing_said_is_refused() -> None:
    with pytest.raises((LabelError, ScoreError), match="give y_score, y_pred or y_proba"):
        evaluate(TRUTH)


@pytest.mark.parametrize("column", ["y_score", "counts", "sample_weight", "clusters"])
def test_columns_of_another_length_are_refused(column: str) -> None:
    columns = {"y_score": SCORES, column: [1.0] * 5}
    with pytest.raises(LengthMismatch, match=f"{column} has 5 rows and y_true has 8"):
        evaluate(TRUTH, **columns)


def test_scores_without_a_positive_among_many_labels_are_refused() -> None:
    with pytest.raises(ScoreError, match=r"there are 3: .*\. Say positive="):
        evaluate(CLASSES, y_score=[0.5] * 6)


def test_missing_label_is_refused_with_its_row() -> None:
    with pytest.raises(LabelError, match="row 3"):
        evaluate(["attack", "normal", None], y_score=[0.1, 0.2, 0.3])


def test_score_that_is_not_a_number_is_refused() -> None:
    with pytest.raises(ScoreError, match="finite"):
        evaluate(["attack", "normal"], y_score=[0.1, math.nan])


# -- a tally, saved and read -----------------------------------------------------------------------


def everything() -> Evaluation:
    return evaluate(
        TRUTH,
        y_score=SCORES,
        slices={"os": list("wlwlwlwl")},
        clusters=list("aabbccdd"),
        counts=[1, 2, 3, 1, 2, 3, 1, 2],
    )


@pytest.mark.parametrize(
    "evaluation",
    [
        everything(),
        evaluate(CLASSES, y_proba=TABLE),
        evaluate(TRUTH, y_pred=DECISIONS),
    ],
    ids=["everything", "many classes", "decisions"],
)
def test_evaluation_of_a_saved_tally_is_the_original(evaluation: Evaluation) -> None:
    again = Evaluation(from_bytes(evaluation.tally.to_bytes()))
    assert again.tally == evaluation.tally
    theirs, ours = again.to_dict(), evaluation.to_dict()
    for own in ("source", "notes"):
        theirs.pop(own), ours.pop(own)
    assert theirs == ours


def test_weighted_evaluation_of_a_saved_tally_is_the_original_to_twelve_digits() -> None:
    evaluation = evaluate(TRUTH, y_score=SCORES, sample_weight=SCORES)
    again = Evaluation(from_bytes(evaluation.tally.to_bytes()))
    for name, estimate in evaluation.items():
        other = again[name]
        assert (estimate, estimate.low, estimate.high, estimate.n) == pytest.approx(
            (float(other), other.low, other.high, other.n), rel=1e-12, nan_ok=True
        )


def test_count_gives_the_tally_of_the_evaluation() -> None:
    tally = count(TRUTH, y_score=SCORES)
    assert Evaluation(tally).tally == evaluate(TRUTH, y_score=SCORES).tally


def test_tallies_of_parts_add_up_to_the_whole() -> None:
    shared = {"labels": ["normal", "attack"], "threshold": 0.5}
    halves = [
        count(TRUTH[rows], y_score=SCORES[rows], **shared) for rows in (slice(3), slice(3, None))
    ]
    assert halves[0] + halves[1] == count(TRUTH, y_score=SCORES, **shared)


def test_order_of_the_rows_does_not_matter() -> None:
    order = np.random.default_rng(0).permutation(8)
    shuffled = evaluate(np.array(TRUTH)[order], y_score=np.array(SCORES)[order])
    assert shuffled.tally == evaluate(TRUTH, y_score=SCORES).tally


# -- weights that are far apart --------------------------------------------------------------------


FAR_APART = {
    "one heavy row": lambda truth: np.where(np.arange(len(truth)) == 3, 1e32, 1.0),
    "one light row": lambda truth: np.where(np.arange(len(truth)) == 3, 1e-32, 1.0),
    "three weights": lambda truth: np.array([1e-30, 1e30, 1e15])[np.arange(len(truth)) % 3],
    "heavy attacks": lambda truth: np.where(truth == 1, 1e30, 1e-30),
    "light attacks": lambda truth: np.where(truth == 1, 1e-30, 1e30),
    "as far as may be": lambda truth: np.where(truth == 1, 1e-100, 1e100),
}


@pytest.mark.parametrize("scores", ["overlapping", "perfect", "constant"])
@pytest.mark.parametrize("weights", FAR_APART)
def test_weights_far_apart_give_a_value_or_a_reason(weights: str, scores: str) -> None:
    truth = np.arange(40) % 2
    said = {
        "overlapping": truth * 0.3 + np.random.default_rng(0).random(40) * 0.6,
        "perfect": truth * 0.9,
        "constant": np.full(40, 0.5),
    }[scores]
    weight = FAR_APART[weights](truth)
    evaluation = evaluate(truth, y_score=said, sample_weight=weight, base_rate=0.01)
    for entry in evaluation.entries:
        value = entry.estimate
        low, high = find(entry.measure).range
        if math.isnan(value):
            assert value.undefined, entry.measure
        else:
            assert low - 1e-9 <= value <= high + 1e-9, entry.measure
    assert evaluation.findings is not None


def test_a_class_that_rounds_to_none_beside_the_other_is_told() -> None:
    truth, scores = np.arange(40) % 2, np.arange(40) / 40
    evaluation = evaluate(truth, y_score=scores, sample_weight=np.where(truth == 1, 1e32, 1.0))
    of_shares = ["h_measure", "h_measure_symmetric", "precision_recall_gain_area"]
    for name in (*of_shares, "calibration_intercept"):
        assert "one class has less than 2^-52" in evaluation[name].undefined
    assert evaluation["roc_auc"] == pytest.approx(float(evaluate(truth, y_score=scores)["roc_auc"]))


# -- whole numbers that no float holds -------------------------------------------------------------


TRUTH_OF_LARGE, LARGE = [0, 1] * 20, [2**60 + i for i in range(40)]


def large_in_file(folder: Path) -> Evaluation:
    path = folder / "large.csv"
    pl.DataFrame({"label": TRUTH_OF_LARGE, "score": LARGE}).write_csv(path)
    return evaluate_files(path)


@pytest.mark.parametrize(
    "evaluated",
    [
        lambda _: evaluate(TRUTH_OF_LARGE, y_score=LARGE),
        lambda _: evaluate(TRUTH_OF_LARGE, y_score=np.array(LARGE, np.uint64)),
        lambda _: evaluate(TRUTH_OF_LARGE, y_score=list(map(str, LARGE))),
        lambda _: evaluate(pl.DataFrame({"y": TRUTH_OF_LARGE, "s": LARGE}), label="y", score="s"),
        lambda _: evaluate(pd.DataFrame({"y": TRUTH_OF_LARGE, "s": LARGE}), label="y", score="s"),
        lambda _: compare(TRUTH_OF_LARGE, scores={"a": range(40), "b": LARGE}, resamples=20),
        lambda _: choose_threshold(TRUTH_OF_LARGE, y_score=LARGE, max_fpr=0.2, resamples=20),
        lambda _: gate(TRUTH_OF_LARGE, new=range(40), old=LARGE, rules="new-old(roc_auc) >= 0"),
        large_in_file,
    ],
)
def test_that_whole_scores_beyond_2_to_the_53_may_be_tied_is_told(evaluated, tmp_path) -> None:
    notes = [note for note in evaluated(tmp_path).notes if "2^53" in note]
    assert len(notes) == 1
    assert notes[0].startswith("scores reach 1.15292e+18")
    assert "less than 256 apart may be ties" in notes[0]


def test_whole_scores_that_floats_hold_are_taken_as_they_are() -> None:
    scores = np.array([2**53 - 2, 2**53 - 1] * 4)
    assert not any("2^53" in note for note in evaluate(TRUTH, y_score=scores).notes)
    assert any("2^53" in note for note in evaluate(TRUTH, y_score=-scores - 1).notes)


def test_the_farthest_scores_there_are_keep_their_notes_and_bytes() -> None:
    farthest = np.finfo(np.float64).max
    evaluation = evaluate(["a", "b"], y_score=[-farthest, farthest], positive="b")
    assert any("scores reach 1.79769e+308" in note for note in evaluation.notes)
    assert from_bytes(evaluation.tally.to_bytes()) == evaluation.tally
