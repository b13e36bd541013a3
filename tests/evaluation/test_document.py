"""The evaluation as plain values: the contract's ``assay.evaluation/1``."""

import json
import math
from functools import cache

import numpy as np
import polars as pl
import pytest

from assay import BCa, Bootstrap, Evaluation, evaluate, evaluate_counts
from assay.measures import CATALOGUE, Needs, find

KEYS = [
    "schema",
    "source",
    "positive",
    "threshold",
    "level",
    "mode",
    "labels",
    "confusion",
    "per_class",
    "estimates",
    "sweep",
    "reliability",
    "findings",
]
SOURCE_KEYS = ["name", "rows_read", "rows_used", "rows_refused", "refused"]
ESTIMATE_KEYS = [
    "measure",
    "label",
    "average",
    "slice",
    "base_rate",
    "value",
    "low",
    "high",
    "method",
    "n",
    "undefined",
    "bound",
    "note",
    "parts",
    "level",
    "reading",
]


def rows(size: int = 60, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    truth = np.where(generator.random(size) < 0.4, "attack", "normal")
    scores = np.clip((truth == "attack") * 0.3 + generator.random(size) * 0.7, 0, 1)
    return truth, np.round(scores, 2)


def binary(**options) -> Evaluation:
    truth, scores = rows()
    return evaluate(truth, y_score=scores, **options)


CASES = {
    "scores": binary,
    "slices": lambda: binary(slices={"os": ["win", "mac"] * 30}),
    "clusters": lambda: binary(clusters=np.arange(60) % 7),
    "weights": lambda: binary(sample_weight=np.linspace(0.5, 2, 60)),
    "counts": lambda: evaluate_counts(tp=6635, fp=167, fn=324, tn=7743),
    "decisions": lambda: evaluate(["a", "b", "a"], y_pred=["a", "b", "b"], positive="a"),
    "many": lambda: evaluate(
        list("abcabc"), y_proba=np.random.default_rng(1).dirichlet([1, 1, 1], size=6)
    ),
    "nothing flagged": lambda: evaluate_counts(tp=0, fp=0, fn=3, tn=7),
    "no rows": lambda: evaluate_counts(tp=0, fp=0, fn=0, tn=0),
    "huge": lambda: evaluate_counts(tp=10**18, fp=3, fn=10**17, tn=10**19),
    "one class": lambda: evaluate([1, 1, 1], y_score=[0.1, 0.5, 0.9], labels=[0, 1]),
    "bare scores": lambda: evaluate([0, 1, 0, 1], y_score=[-3, 5, 1, 8], threshold=2),
}


@cache
def made(case: str) -> Evaluation:
    return CASES[case]()


@pytest.fixture(params=CASES)
def evaluation(request: pytest.FixtureRequest) -> Evaluation:
    return made(request.param)


# -- its shape -------------------------------------------------------------------------------------


def test_document_is_json_without_nan(evaluation: Evaluation) -> None:
    document = evaluation.to_dict()
    assert json.loads(json.dumps(document, allow_nan=False)) == document


def test_keys_of_the_contract_are_all_there_and_in_their_order(evaluation: Evaluation) -> None:
    document = evaluation.to_dict()
    assert [key for key in document if key in KEYS] == KEYS
    assert list(document["source"]) == SOURCE_KEYS
    for estimate in document["estimates"]:
        assert [key for key in estimate if key in ESTIMATE_KEYS] == ESTIMATE_KEYS
    assert document["schema"] == "assay.evaluation/1"
    assert document["mode"] == "exact"


def test_undefined_values_are_null_with_their_reason(evaluation: Evaluation) -> None:
    for estimate in evaluation.to_dict()["estimates"]:
        assert (estimate["value"] is None) == bool(estimate["undefined"])
        assert (estimate["low"] is None) == (estimate["high"] is None)
        if estimate["value"] is not None and estimate["low"] is not None:
            assert estimate["low"] <= estimate["value"] <= estimate["high"]


def test_estimate_without_an_interval_says_why(evaluation: Evaluation) -> None:
    for estimate in evaluation.to_dict()["estimates"]:
        if estimate["low"] is None:
            assert estimate["undefined"] or estimate["note"]
            assert estimate["method"] is None


def test_estimates_are_told_apart_by_what_they_are_of(evaluation: Evaluation) -> None:
    estimates = [
        tuple(str(estimate[key]) for key in ESTIMATE_KEYS[:5])
        for estimate in evaluation.to_dict()["estimates"]
    ]
    assert len(estimates) == len(set(estimates))


def test_classes_have_their_cells_and_support(evaluation: Evaluation) -> None:
    document = evaluation.to_dict()
    total = sum(map(sum, document["confusion"]))
    assert [entry["label"] for entry in document["per_class"]] == document["labels"]
    for entry, row in zip(document["per_class"], document["confusion"], strict=True):
        assert list(entry) == ["label", "tp", "fp", "fn", "tn", "support"]
        assert entry["support"] == pytest.approx(sum(row))
        assert entry["tp"] + entry["fn"] == pytest.approx(entry["support"])
        cells = entry["tp"] + entry["fp"] + entry["fn"] + entry["tn"]
        assert cells == pytest.approx(total)


def drawn(seed: int) -> Evaluation:
    """Few rows of any kind with any options, so that the edges are met."""
    generator = np.random.default_rng(seed)
    size, classes = int(generator.integers(1, 25)), int(generator.choice([2, 2, 3, 4]))
    truth = generator.integers(0, classes, size)
    given: dict[str, object] = {"labels": list(range(classes))}
    kind = generator.choice(["decisions", "probabilities", "scores"])
    if kind == "scores" and classes == 2:
        given |= {"y_score": generator.integers(-5, 6, size), "threshold": 0}
    elif kind == "probabilities":
        table = generator.dirichlet(np.ones(classes), size)
        given["y_proba"] = {label: table[:, label] for label in range(classes)}
    else:
        given["y_pred"] = generator.integers(0, classes, size)
    amounts = generator.choice(["", "counts", "weights"])
    if amounts == "counts":
        given["counts"] = generator.integers(1, 4, size)
    elif amounts == "weights":
        given["sample_weight"] = 10.0 ** generator.integers(-6, 7, size)
    if generator.random() < 0.3:
        given["clusters"] = generator.integers(0, generator.integers(1, 6), size)
    if generator.random() < 0.3:
        given["slices"] = {"part": generator.integers(0, 3, size)}
    methods = ["delta", None]
    if "clusters" not in given:
        methods += ["wald", "delong", "newcombe", "jeffreys"]
    level = float(generator.choice([0.5, 0.95, 0.9999]))
    if amounts != "weights":
        methods += [Bootstrap(level, resamples=20), BCa(level, resamples=20)]
    given["interval"] = methods[generator.integers(len(methods))]
    given["level"] = level
    return evaluate(truth, **given)


@pytest.mark.sampled(12)
@pytest.mark.parametrize("seed", range(80))
def test_any_rows_and_options_make_a_document_whose_intervals_hold_their_values(seed) -> None:
    evaluation = drawn(seed)
    document = evaluation.to_dict()
    json.dumps(document, allow_nan=False)
    assert repr(evaluation)
    assert len(evaluation.records()) == len(document["estimates"])
    for entry in evaluation.entries:
        estimate = entry.estimate
        assert math.isnan(estimate) == bool(estimate.undefined)
        assert math.isnan(estimate.low) == math.isnan(estimate.high)
        if not math.isnan(estimate.low):
            low, high = find(entry.measure).range
            assert low - 1e-12 <= estimate.low <= estimate <= estimate.high <= high + 1e-12
        elif not estimate.undefined:
            assert estimate.note


# -- its content -----------------------------------------------------------------------------------


def test_rows_of_the_matrix_are_the_truth_and_the_negative_comes_first() -> None:
    document = made("counts").to_dict()
    assert document["confusion"] == [[7743, 167], [324, 6635]]
    assert document["labels"] == ["negative", "positive"]
    assert document["positive"] == "positive"
    assert document["per_class"][1] == {
        "label": "positive",
        "tp": 6635,
        "fp": 167,
        "fn": 324,
        "tn": 7743,
        "support": 6959,
    }


@pytest.mark.parametrize(
    ("truth", "labels"),
    [([0, 1], ["0", "1"]), ([False, True], ["false", "true"]), ([1.0, 0.0], ["0", "1"])],
)
def test_labels_are_text(truth, labels) -> None:
    document = evaluate(truth, y_pred=truth).to_dict()
    assert document["labels"] == labels
    assert document["positive"] == labels[1]
    assert {estimate["label"] for estimate in document["estimates"]} == {None, *labels}


def test_labels_of_many_classes_are_sorted_as_text() -> None:
    document = evaluate([10, 9, 100], y_pred=[10, 9, 100]).to_dict()
    assert document["labels"] == ["10", "100", "9"]


def test_classes_called_like_missing_values_are_classes() -> None:
    names = ["NA", "None", "null", "007", "nan"]
    assert evaluate(names, y_pred=names).to_dict()["labels"] == sorted(names)


def test_one_sided_measures_of_the_positive_come_first() -> None:
    estimates = made("scores").to_dict()["estimates"]
    one_sided = [m.name for m in CATALOGUE if not (m.symmetric or m.needs is Needs.OPEN_SET)]
    first = estimates[: len(one_sided)]
    assert sorted(e["measure"] for e in first) == sorted(one_sided)
    assert {(e["label"], e["average"], e["base_rate"]) for e in first} == {("attack", None, None)}
    assert estimates[len(one_sided)]["label"] is None


def test_symmetric_measures_and_averages_have_no_label() -> None:
    symmetric = {m.name for m in CATALOGUE if m.symmetric}
    for estimate in made("scores").to_dict()["estimates"]:
        if estimate["measure"] in symmetric or estimate["average"]:
            assert estimate["label"] is None
        else:
            assert estimate["label"] in ("normal", "attack")


def test_averages_are_macro_micro_and_weighted() -> None:
    averages = {e["average"] for e in made("many").to_dict()["estimates"]}
    assert {None, "macro", "micro", "weighted"} <= averages


def test_slices_name_column_and_value() -> None:
    slices = [e["slice"] for e in made("slices").to_dict()["estimates"] if e["slice"]]
    assert {tuple(s.items()) for s in slices} == {
        (("column", "os"), ("value", "win")),
        (("column", "os"), ("value", "mac")),
    }


def test_base_rate_is_null_for_the_test_set_and_four_rates_follow() -> None:
    estimates = made("scores").to_dict()["estimates"]
    at = [(e["measure"], e["base_rate"]) for e in estimates if e["base_rate"] is not None]
    assert at == [
        (measure, rate)
        for rate in (0.1, 0.01, 0.001, 0.0001)
        for measure in ("precision", "false_discovery_rate")
    ]


def test_values_are_those_of_the_mapping() -> None:
    evaluation = made("scores")
    for estimate in evaluation.to_dict()["estimates"]:
        if estimate["slice"] is None and estimate["base_rate"] is None:
            suffix = estimate["average"] or estimate["label"]
            name = estimate["measure"] if suffix is None else f"{estimate['measure']}.{suffix}"
            measured_value = evaluation[name]
            assert estimate["value"] == (
                None if math.isnan(measured_value) else measured_value.value
            )
            assert (estimate["low"], estimate["high"]) == (
                (measured_value.low, measured_value.high)
                if not math.isnan(measured_value.low)
                else (None, None)
            )


# -- the source ------------------------------------------------------------------------------------


# -- readings and parts ----------------------------------------------------------------------------


def test_readings_are_those_of_the_bands(evaluation: Evaluation) -> None:
    told = {m.name: m for m in CATALOGUE}
    for entry in evaluation.to_dict()["estimates"]:
        measure, value = told.get(entry["measure"]), entry["value"]
        if measure is not None and measure.bands and value is not None:
            assert entry["reading"] == measure.reading(value)
        elif "if_calibrated" not in (entry["parts"] or {}):
            assert entry["reading"] is None


def test_kappa_follows_from_its_parts_wherever_it_stands(evaluation: Evaluation) -> None:
    """Of all rows and of each slice: (p_o - p_e) / (1 - p_e)."""
    estimates = [e for e in evaluation.to_dict()["estimates"] if e["measure"] == "kappa"]
    assert estimates
    for entry in estimates:
        parts = entry["parts"]
        if entry["value"] is None:
            assert parts is None or None in parts.values() or parts["p_e"] == 1
            continue
        kappa = (parts["p_o"] - parts["p_e"]) / (1 - parts["p_e"])
        assert kappa == pytest.approx(entry["value"], abs=1e-12)
        assert list(parts) == ["p_o", "p_e"]


def test_kappa_of_safelink_has_the_parts_of_the_document() -> None:
    (kappa,) = (e for e in CASES["counts"]().to_dict()["estimates"] if e["measure"] == "kappa")
    n, by_chance = 14869, 6959 * 6802 + 7910 * 8067
    assert kappa["parts"] == {"p_o": 14378 / n, "p_e": by_chance / n**2}
    assert kappa["reading"] == "almost perfect agreement"


def test_parts_of_one_label_are_those_of_its_own_table() -> None:
    evaluation = evaluate_counts(matrix=[[45, 3, 2], [4, 38, 3], [1, 2, 52]])
    own = evaluation._judge.of_label(find("kappa"), 1).parts
    assert own["p_o"] == 138 / 150


def test_praise_is_qualified_in_json_as_in_reports() -> None:
    evaluation = evaluate_counts(tp=6635, fp=167, fn=324, tn=7743, base_rate=[0.1, 0.0001])
    (kappa,) = (e for e in evaluation.to_dict()["estimates"] if e["measure"] == "kappa")
    assert kappa["reading"].startswith("would be called almost perfect agreement, yet at a base")


# -- rows read -------------------------------------------------------------------------------------


def test_rows_read_are_rows_used_and_refused() -> None:
    truth, scores = rows()
    source = evaluate(truth, y_score=scores).to_dict()["source"]
    assert source == {
        "name": "arrays",
        "rows_read": 60,
        "rows_used": 60,
        "rows_refused": 0,
        "refused": [],
    }
    assert made("counts").to_dict()["source"]["name"] == "counts"
    assert Evaluation(made("scores").tally).to_dict()["source"]["rows_read"] == 60


def test_refused_rows_are_listed() -> None:
    refused = [{"row": 7, "reason": "the score is missing"}]
    source = {"name": "file.csv", "rows_read": 61, "refused": refused}
    document = Evaluation(made("scores").tally, source=source).to_dict()
    assert document["source"] == {
        "name": "file.csv",
        "rows_read": 61,
        "rows_used": 60,
        "rows_refused": 1,
        "refused": refused,
    }


def test_threshold_and_level_are_given() -> None:
    document = binary(threshold=0.25, level=0.9).to_dict()
    assert (document["threshold"], document["level"]) == (0.25, 0.9)
    assert made("decisions").to_dict()["threshold"] is None


def test_notes_say_what_was_inferred() -> None:
    notes = made("scores").to_dict()["notes"]
    assert "'attack' was taken as the positive label, since the other is 'normal'" in notes


# -- the sweep -------------------------------------------------------------------------------------


def test_sweep_starts_above_all_scores_and_ends_with_everything_flagged() -> None:
    sweep = made("scores").to_dict()["sweep"]
    assert list(sweep) == ["threshold", "tp", "fp"]
    assert sweep["threshold"][0] is None
    assert (sweep["tp"][0], sweep["fp"][0]) == (0, 0)
    thresholds = sweep["threshold"][1:]
    assert thresholds == sorted(thresholds, reverse=True)
    truth, scores = rows()
    assert thresholds == sorted(set(scores.tolist()), reverse=True)
    assert sweep["tp"][-1] == (truth == "attack").sum()
    assert sweep["fp"][-1] == (truth == "normal").sum()
    assert all(isinstance(n, int) for n in (*sweep["tp"], *sweep["fp"]))


def test_sweep_counts_what_each_threshold_flags() -> None:
    truth, scores = rows()
    sweep = made("scores").to_dict()["sweep"]
    for threshold, tp, fp in zip(*(sweep[key][1:] for key in sweep), strict=True):
        flagged = scores >= threshold
        assert (tp, fp) == ((truth[flagged] == "attack").sum(), (truth[flagged] == "normal").sum())


@pytest.mark.parametrize("size", [1999, 2000, 20_000])
def test_sweep_has_at_most_two_thousand_points(size: int) -> None:
    generator = np.random.default_rng(0)
    truth = generator.integers(0, 2, size)
    sweep = evaluate(truth, y_score=generator.random(size), threshold=0.123).to_dict()["sweep"]
    assert len(sweep["threshold"]) <= 2000
    assert len(sweep["threshold"]) > 1000
    assert sweep["tp"][-1] + sweep["fp"][-1] == size


def test_sweep_of_many_rows_holds_the_operating_point() -> None:
    generator = np.random.default_rng(0)
    truth = generator.integers(0, 2, 20_000)
    evaluation = evaluate(truth, y_score=generator.random(20_000), threshold=0.123)
    (_, fp), (_, tp) = evaluation.confusion.cells
    sweep = evaluation.to_dict()["sweep"]
    assert (tp, fp) in set(zip(sweep["tp"], sweep["fp"], strict=True))


@pytest.mark.parametrize("case", ["counts", "decisions", "many"])
def test_without_scores_of_one_positive_there_is_no_sweep(case: str) -> None:
    assert made(case).to_dict()["sweep"] is None


def test_weighted_sweep_has_sums_of_weights() -> None:
    sweep = made("weights").to_dict()["sweep"]
    assert sweep["tp"][-1] + sweep["fp"][-1] == pytest.approx(np.linspace(0.5, 2, 60).sum())


# -- reliability -----------------------------------------------------------------------------------


def test_reliability_has_fifteen_bins_at_most_that_hold_all_rows() -> None:
    reliability = made("scores").to_dict()["reliability"]
    assert list(reliability) == ["predicted", "observed", "low", "high", "n"]
    assert {len(column) for column in reliability.values()} == {len(reliability["n"])}
    assert len(reliability["n"]) <= 15
    assert sum(reliability["n"]) == 60
    for low, observed, high in zip(
        reliability["low"], reliability["observed"], reliability["high"], strict=True
    ):
        assert 0 <= low <= observed <= high <= 1


@pytest.mark.parametrize("case", ["counts", "decisions", "many", "bare scores"])
def test_without_probabilities_there_is_no_reliability(case: str) -> None:
    assert made(case).to_dict()["reliability"] is None


# -- a dataframe -----------------------------------------------------------------------------------


def test_frame_has_a_row_an_estimate(evaluation: Evaluation) -> None:
    frame = evaluation.to_frame("polars")
    document = evaluation.to_dict()
    assert isinstance(frame, pl.DataFrame)
    assert frame["measure"].to_list() == [e["measure"] for e in document["estimates"]]
    assert frame["value"].to_list() == [e["value"] for e in document["estimates"]]
    assert frame["undefined"].to_list() == [e["undefined"] for e in document["estimates"]]
    for column in ("base_rate", "value", "low", "high", "n"):
        assert frame[column].dtype == pl.Float64


def test_frame_has_two_columns_for_the_slice() -> None:
    frame = made("slices").to_frame("polars")
    recall = frame.filter(pl.col("slice_column") == "os", pl.col("measure") == "recall")
    assert recall["slice_value"].to_list() == ["mac", "win"]
    assert recall["label"].to_list() == ["attack", "attack"]
