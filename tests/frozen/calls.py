"""Python questions: each public function here is one, and its name is that of its answer.

A question is given the folder of the tables (``tables.py``), and a seed where it draws at random;
the names of those that train a model begin with ``train``. It returns what a user learns, as plain
values. Rewrite a question when the API changes; its answer stays.
"""

from __future__ import annotations

import inspect
import json
import math
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import assay
from assay import learn

CELLS = {"tp": 90, "fp": 12, "fn": 10, "tn": 388}
MAIN = ("accuracy", "precision", "recall", "false_positive_rate", "f1", "mcc")
RANKING = ("roc_auc", "average_precision", "brier", "log_loss")
TWO_MODELS = {"old": "old_score", "new": "score"}


def names() -> list[str]:
    """The names of all questions."""
    own = (name for name, value in globals().items() if inspect.isfunction(value))
    return [name for name in own if name[0] != "_" and name not in {"names", "answer"}]


def answer(name: str, tables: Path, seed: int | None = None) -> Any:
    """The answer to a question as plain JSON, with another seed where one is given and used."""
    question = globals()[name]
    seeded = seed is not None and "seed" in inspect.signature(question).parameters
    returned = question(tables, seed=seed) if seeded else question(tables)
    return json.loads(json.dumps(returned, allow_nan=False))


# -- what is returned ------------------------------------------------------------------------------


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _told(estimate: Any) -> dict[str, Any]:
    ends = {"value": estimate.value, "low": estimate.low, "high": estimate.high}
    told = {name: None if end is None else _number(end) for name, end in ends.items()}
    return told | {name: getattr(estimate, name) for name in ("method", "n", "undefined")}


def _estimates(evaluation: Any, names: Iterable[str] = MAIN) -> dict[str, Any]:
    return {name: _told(evaluation[name]) for name in names}


def _facts(evaluation: Any, names: Iterable[str] = MAIN) -> dict[str, Any]:
    document = evaluation.to_dict()
    kept = ("labels", "positive", "threshold", "confusion")
    facts = {name: document[name] for name in kept} | {"rows_used": document["source"]["rows_used"]}
    return facts | {"estimates": _estimates(evaluation, names)}


def _test(test: Any) -> dict[str, Any]:
    document = test.to_dict()
    names = ("test", "a", "b", "statistic", "df", "p", "p_adjusted", "method")
    return {name: document[name] for name in names}


def _part(result: Any, *names: str) -> dict[str, Any]:
    document = result.to_dict()
    return {name: document[name] for name in names}


def _differences(comparison: Any, *measures: str) -> dict[str, Any]:
    """The differences of some measures, the tests, and what is better by the verdicts."""
    document = comparison.to_dict()
    names = ("measure", "a", "b", "difference", "low", "high", "p", "p_adjusted", "method")
    chosen = [one for one in document["differences"] if one["measure"] in measures]
    return {
        "differences": [{name: one[name] for name in names} for one in chosen],
        "tests": [_test(test) for test in comparison.tests],
        "verdicts": [{"a": one["a"], "b": one["b"]} for one in document["verdicts"]],
    }


def _error(call: Callable[[], Any]) -> dict[str, Any]:
    try:
        call()
    except assay.AssayError as error:
        return {"message": str(error)}
    return {"message": None}


def _table(tables: Path, name: str = "flows.csv") -> pl.DataFrame:
    return pl.read_csv(tables / name, infer_schema_length=None)


def _columns(tables: Path, name: str = "flows.csv") -> Mapping[str, np.ndarray]:
    return {column.name: column.to_numpy() for column in _table(tables, name)}


# -- evaluate: what rows may be --------------------------------------------------------------------


def evaluate_arrays(tables: Path) -> Any:
    rows = _columns(tables)
    return _facts(assay.evaluate(rows["label"], y_score=rows["score"]), MAIN + RANKING)


def evaluate_lists_of_decisions(tables: Path) -> Any:
    rows = _table(tables)
    return _facts(assay.evaluate(rows["label"].to_list(), y_pred=rows["said"].to_list()))


def evaluate_pandas(tables: Path) -> Any:
    frame = _table(tables).to_pandas()
    return _facts(assay.evaluate(frame, label="label", score="score"), (*MAIN, "roc_auc"))


def evaluate_lazy_polars(tables: Path) -> Any:
    frame = pl.scan_csv(tables / "flows.csv")
    evaluation = assay.evaluate(frame, label="label", score="score", cluster="host")
    return _facts(evaluation, (*MAIN, "roc_auc"))


def evaluate_pyarrow(tables: Path) -> Any:
    table = _table(tables).to_arrow()
    return _facts(assay.evaluate(table, label="label", decision="said"))


def evaluate_mapping(tables: Path) -> Any:
    rows = _table(tables, "counted.csv").to_dict(as_series=False)
    evaluation = assay.evaluate(rows, label="label", score="score", count="n")
    return _facts(evaluation, (*MAIN, "roc_auc"))


def evaluate_file(tables: Path) -> Any:
    request = assay.Request(score="score", family="family", slices=("protocol",))
    evaluation = assay.evaluate_files(str(tables / "flows.csv"), request, threshold=0.6)
    slices = {name: _told(evaluation.of_slice("protocol", name)["f1"]) for name in ("tcp", "udp")}
    family = _told(evaluation.of_slice("family", "botnet")["recall"])
    return _facts(evaluation) | {"protocols": slices, "botnet": family}


def evaluate_model_of_scikit_learn(tables: Path) -> Any:
    from sklearn.naive_bayes import GaussianNB

    train, test = (_table(tables, f"{name}.csv") for name in ("train", "test"))
    features = ["bytes", "rate", "noise"]
    model = GaussianNB().fit(train[features].to_numpy(), train["label"].to_numpy())
    evaluation = assay.evaluate_model(model, test[features].to_numpy(), test["label"].to_numpy())
    return _facts(evaluation, MAIN + RANKING)


def evaluate_model_over_folds(tables: Path) -> Any:
    from sklearn.model_selection import StratifiedKFold
    from sklearn.naive_bayes import GaussianNB

    rows = _table(tables, "learn.csv")
    X, y = rows[["bytes", "rate"]].to_numpy(), rows["label"].to_numpy()
    evaluation = assay.evaluate_model(GaussianNB(), X, y, cv=StratifiedKFold(4))
    return _facts(evaluation, (*MAIN, "roc_auc"))


def scorer_of_scikit_learn(tables: Path) -> Any:
    from sklearn.model_selection import cross_validate
    from sklearn.naive_bayes import GaussianNB

    rows = _table(tables, "learn.csv")
    X, y = rows[["bytes", "rate"]].to_numpy(), rows["label"].to_numpy()
    names = {"recall": {}, "log_loss": {}, "recall_at_far": {"max_far": 0.2}}
    scoring = {name: assay.scorer(name, positive="attack", **more) for name, more in names.items()}
    scores = cross_validate(GaussianNB(), X, y, cv=3, scoring=scoring)
    return {name: scores[f"test_{name}"].tolist() for name in names}


# -- evaluate: labels ------------------------------------------------------------------------------


def labels_zero_and_one(tables: Path) -> Any:
    rows = _columns(tables, "zero_one.csv")
    truth = rows["label"]
    booleans = assay.evaluate(truth == 1, y_score=rows["score"])
    return _facts(assay.evaluate(truth, rows["score"])) | {"booleans": booleans.positive}


def labels_minus_and_plus(tables: Path) -> Any:
    rows = _columns(tables, "signed.csv")
    columns = {"y_score": rows["score"]}
    told = assay.evaluate(rows["label"], **columns, positive=1, threshold=0)
    ranked = assay.evaluate(rows["label"], **columns, positive=1)
    return {
        "unclear": _error(lambda: assay.evaluate(rows["label"], **columns)),
        "told": _facts(told, (*MAIN, "roc_auc")),
        "no_threshold": _estimates(ranked, ("recall", "roc_auc", "brier")),
    }


def labels_of_families(tables: Path) -> Any:
    rows = _columns(tables, "kinds.csv")
    evaluation = assay.evaluate(rows["label"], y_score=rows["score"], negative="normal")
    families = {
        name: _told(evaluation.of_slice("family", name)["recall"]) for name in ("dos", "scan")
    }
    return _facts(evaluation) | {"families": families}


def labels_that_are_absent(tables: Path) -> Any:
    rows = _columns(tables, "only_normal.csv")
    columns = {"y_score": rows["score"]}
    wrong = _error(lambda: assay.evaluate(rows["label"], **columns, positive="attack"))
    allowed = assay.evaluate(rows["label"], **columns, labels=["normal", "attack"])
    return {"wrong": wrong, "allowed": _facts(allowed, (*MAIN, "roc_auc"))}


def rows_that_are_refused(tables: Path) -> Any:
    rows = _table(tables)
    scores = [None if i in {3, 77} else score for i, score in enumerate(rows["score"])]
    truth = [None if i == 9 else label for i, label in enumerate(rows["label"])]
    source = assay.evaluate(truth, y_score=scores, on_bad_row="skip").to_dict()["source"]
    counts = {name: source[name] for name in ("rows_read", "rows_used", "rows_refused")}
    places = [one["row"] for one in source["refused"]]
    stopped = _error(lambda: assay.evaluate(truth, y_score=scores))
    weights = _error(lambda: assay.evaluate([1, 0], y_pred=[1, 0], sample_weight=[1, -1]))
    return counts | {"row": places, "stopped": stopped, "weights": weights}


def classes_by_decisions(tables: Path) -> Any:
    rows = _columns(tables, "classes.csv")
    evaluation = assay.evaluate(rows["category"], y_pred=rows["guess"])
    names = ("accuracy", "f1.macro", "f1.weighted", "recall.micro", "precision.scan", "kappa")
    return _facts(evaluation, (*names, "mcc", "g_mean", "jaccard"))


def classes_by_probabilities(tables: Path) -> Any:
    rows = _columns(tables, "classes.csv")
    chances = {name: rows[f"bayes_{name}"] for name in ("dos", "normal", "scan")}
    evaluation = assay.evaluate(rows["category"], y_proba=chances)
    names = ("accuracy", "f1.macro", "roc_auc.macro", "roc_auc.dos", "roc_auc_ovo", "brier")
    return _facts(evaluation, (*names, "log_loss", "average_precision.scan"))


# -- evaluate: weights, groups, deployment ---------------------------------------------------------


def weights_and_strata(tables: Path) -> Any:
    rows = _columns(tables, "drawn.csv")
    columns = {"y_score": rows["score"], "sample_weight": rows["weight"], "threshold": 0.5}
    plain = assay.evaluate(rows["label"], **columns)
    strata = assay.evaluate(rows["label"], **columns, strata=rows["stratum"])
    names = ("precision", "recall", "false_positive_rate", "roc_auc")
    methods = {
        method: assay.evaluate(rows["label"], **columns, strata=rows["stratum"], interval=method)
        for method in ("fay-feuer", "tiwari")
    }
    return {
        "plain": _estimates(plain, names),
        "strata": _estimates(strata, names),
    } | {name: _estimates(one, ("precision", "recall")) for name, one in methods.items()}


def weights_with_unlabelled_rest(tables: Path) -> Any:
    rows = _columns(tables, "drawn.csv")
    said = np.where(rows["score"] >= 0.5, "attack", "normal")
    drawn = assay.count(rows["label"], y_pred=said, sample_weight=rows["weight"])
    rest = assay.Unlabelled(flagged=0, not_flagged=20_000)
    return _estimates(assay.Evaluation(drawn, unlabelled=rest), ("recall", "precision"))


def clusters_and_slices(tables: Path) -> Any:
    rows = _columns(tables)
    evaluation = assay.evaluate(
        rows["label"],
        y_score=rows["score"],
        clusters=rows["host"],
        slices={"protocol": rows["protocol"], "family": rows["family"]},
        family="family",
    )
    of = evaluation.of_slice
    return _facts(evaluation, (*MAIN, "roc_auc")) | {
        "udp": _estimates(of("protocol", "udp"), ("precision", "recall")),
        "dos": _told(of("family", "dos")["detection_rate"]),
    }


def periods_and_top(tables: Path) -> Any:
    rows = _columns(tables)
    days = assay.evaluate(rows["label"], y_score=rows["score"], times=rows["time"], top=10)
    document = days.to_dict()
    return {
        "periods": {name: document["periods"][name] for name in ("names", "rows", "positives")},
        "codes": sorted(one["code"] for one in document["findings"]),
        "top": document["top"],
    }


def deployment_at_base_rates(tables: Path) -> Any:
    rows = _columns(tables)
    evaluation = assay.evaluate(
        rows["label"], y_score=rows["score"], base_rate=[0.01, 0.001], volume=1_000_000
    )
    names = ("precision", "false_alarm_rate", "alerts_per_day", "missed_per_day", "f1")
    there = {str(rate): _estimates(evaluation.at(rate), names) for rate in (0.01, 0.001)}
    reach = [(one.negatives, one.negatives_needed, one.enough) for one in evaluation.deployment]
    return there | {"reach": reach, "per_day": _number(evaluation.alerts_per_day or math.nan)}


def curves_as_columns(tables: Path) -> Any:
    rows = _columns(tables, "zero_one.csv")
    curves = assay.evaluate(rows["label"], y_score=rows["score"]).curves
    drawn = {
        "roc": curves.roc(),
        "precision_recall": curves.precision_recall(),
        "far_dr": curves.far_dr(),
        "decision": curves.decision(thresholds=[0.2, 0.5]),
    }
    named = ("recall", "false_positive_rate", "precision", "false_alarm_rate", "net_benefit")
    return {
        name: {key: column.tolist() for key, column in curve.columns.items() if key in named}
        for name, curve in drawn.items()
    }


# -- counts ----------------------------------------------------------------------------------------


def counts_of_four_cells(tables: Path) -> Any:
    evaluation = assay.evaluate_counts(**CELLS, base_rate=0.001, volume=50_000)
    there = _estimates(evaluation.at(0.001), ("precision", "alerts_per_day"))
    return _facts(evaluation) | {"there": there}


def counts_that_are_huge(tables: Path) -> Any:
    evaluation = assay.evaluate_counts(tp=10**18, fp=10**15, fn=3 * 10**17, tn=10**18 - 1)
    return _facts(evaluation, (*MAIN, "kappa"))


def counts_that_add(tables: Path) -> Any:
    rows = _columns(tables)
    parts = [slice(0, 150), slice(150, 151), slice(151, None)]
    counts = [
        assay.count(rows["label"][part], y_score=rows["score"][part], clusters=rows["host"][part])
        for part in parts
    ]
    total = counts[2] + counts[0] + counts[1]
    kept = assay.from_bytes(total.to_bytes())
    return _facts(assay.Evaluation(kept), (*MAIN, "roc_auc")) | {"equal": kept == total}


def counts_that_grow(tables: Path) -> Any:
    running = assay.RunningTally(threshold=0.5)
    for batch in _table(tables).iter_slices(120):
        running = running.update(y_true=batch["label"], y_score=batch["score"])
    return _facts(running.evaluate(), (*MAIN, "roc_auc"))


# -- measures and intervals ------------------------------------------------------------------------


def measures_of_four_cells(tables: Path) -> Any:
    names = (
        *("accuracy", "error_rate", "precision", "recall", "specificity", "f1", "f2"),
        *("false_positive_rate", "false_negative_rate", "false_discovery_rate", "kappa", "mcc"),
        *("false_omission_rate", "negative_predictive_value", "balanced_accuracy", "g_mean"),
        *("informedness", "markedness", "jaccard", "fowlkes_mallows", "prevalence", "alert_rate"),
        *("positive_likelihood_ratio", "negative_likelihood_ratio", "diagnostic_odds_ratio"),
    )
    told = {name: _told(getattr(assay, name)(**CELLS)) for name in names}
    return told | {f"f{beta}": _told(assay.fbeta(beta=beta, **CELLS)) for beta in (0.5, 1.5)}


def measures_of_scores(tables: Path) -> Any:
    rows = _columns(tables)
    names = (
        *("roc_auc", "average_precision", "partial_auc", "brier", "log_loss", "h_measure"),
        *("expected_calibration_error", "equal_error_rate", "ks", "calibration_slope"),
        *("calibration_intercept", "recall_at_fpr_1e2", "lift", "c_id"),
    )
    return {
        name: _told(getattr(assay, name)(rows["label"], y_score=rows["score"])) for name in names
    }


def measures_that_are_undefined(tables: Path) -> Any:
    silent = {"tp": 0, "fp": 0, "fn": 5, "tn": 95}
    told = {name: _told(getattr(assay, name)(**silent)) for name in ("precision", "f1", "mcc")}
    alone = assay.roc_auc(["attack"] * 5, [0.1, 0.2, 0.3, 0.4, 0.5], positive="attack")
    return told | {"roc_auc": _told(alone)}


def intervals_by_method(tables: Path) -> Any:
    methods = (
        *(assay.Wald(), assay.Wilson(), assay.AgrestiCoull(), assay.Jeffreys()),
        *(assay.ClopperPearson(), assay.Wilson(level=0.99), assay.Delta(level=0.9)),
    )
    return [_told(assay.recall(**CELLS, interval=method)) for method in methods]


def intervals_of_counts(tables: Path) -> Any:
    pairs = ((0, 20), (1, 20), (20, 20), (6635, 6802))
    methods = (assay.Wilson(), assay.ClopperPearson(), assay.Jeffreys())
    return [[float(end) for end in method(*pair)] for method in methods for pair in pairs]


def intervals_of_an_area(tables: Path) -> Any:
    rows = _columns(tables, "zero_one.csv")
    methods = {"delong": assay.DeLong(), "newcombe": assay.Newcombe(), "by_name": "delong"}
    return {
        name: _told(assay.roc_auc(rows["label"], rows["score"], interval=method))
        for name, method in methods.items()
    }


def intervals_by_bootstrap(tables: Path, seed: int = 42) -> Any:
    rows = _columns(tables, "zero_one.csv")
    method = assay.Bootstrap(resamples=500, seed=seed)
    cells = _told(assay.f1(**CELLS, interval=assay.BCa(resamples=500, seed=seed)))
    return {
        "f1": cells,
        "roc_auc": _told(assay.roc_auc(rows["label"], rows["score"], interval=method)),
    }


# -- tests of models -------------------------------------------------------------------------------


def test_of_two_areas(tables: Path) -> Any:
    rows = _columns(tables)
    truth, new, old = rows["label"], rows["score"], rows["old_score"]
    return [_test(assay.delong_test(truth, old, other)) for other in (new, old)]


def test_of_two_error_rates(tables: Path) -> Any:
    pairs = ((10, 2), (40, 22), (0, 0))
    tests = [assay.mcnemar(b, c, both_right=80, both_wrong=8) for b, c in pairs]
    return [_test(test) for test in (*tests, assay.mcnemar(40, 22, method="exact"))]


def test_of_several_error_rates(tables: Path) -> Any:
    rows = _table(tables)
    right = {
        name: ((rows[column] >= 0.5) == (rows["label"] == "attack")).to_list()
        for name, column in (TWO_MODELS | {"host": "score"}).items()
    }
    right["host"] = (rows["label"] == "normal").to_list()
    cases = np.column_stack(list(right.values()))
    return _test(assay.cochran_q(cases, names=list(right)))


def test_over_folds(tables: Path) -> Any:
    folds = _table(tables, "folds.csv")
    old, new = (folds.filter(model=name)["accuracy"].to_list() for name in ("old", "new"))
    corrected = assay.nadeau_bengio(old, new, n_train=450, n_test=50)
    return [_test(assay.paired_t(old, new)), _test(corrected), _test(assay.wilcoxon(old, new))]


def test_over_five_times_two_folds(tables: Path) -> Any:
    folds = _table(tables, "repeated.csv")
    old, new = (
        folds.filter(model=name)["accuracy"].to_numpy().reshape(5, 2) for name in ("old", "new")
    )
    return [_test(assay.five_by_two_t(old, new)), _test(assay.five_by_two_f(old, new))]


def test_over_data_sets(tables: Path) -> Any:
    sets = _table(tables, "three.csv").pivot("model", index=["repeat", "fold"], values="accuracy")
    values = sets.select("a", "b", "c").to_dict(as_series=False)
    pairs = [*assay.nemenyi(values), *assay.mean_rank_tests(values)]
    return [_test(assay.friedman(values)), _test(assay.iman_davenport(values)), *map(_test, pairs)]


def test_of_many(tables: Path) -> Any:
    p = [0.01, 0.04, 0.03, 0.005, 0.9]
    return {"holm": assay.holm(p), "benjamini_hochberg": assay.benjamini_hochberg(p)}


# -- compare, threshold, gate ----------------------------------------------------------------------


def compare_scores(tables: Path, seed: int = 42) -> Any:
    rows = _columns(tables)
    scores = {name: rows[column] for name, column in TWO_MODELS.items()}
    comparison = assay.compare(rows["label"], scores=scores, resamples=300, seed=seed)
    return _differences(comparison, "roc_auc", "recall", "precision", "f1")


def compare_columns_at_a_far(tables: Path, seed: int = 42) -> Any:
    comparison = assay.compare(
        _table(tables).to_pandas(),
        label="label",
        scores=TWO_MODELS,
        clusters="host",
        at=assay.MaxFar(0.1),
        resamples=300,
        seed=seed,
    )
    return _differences(comparison, "roc_auc", "recall") | _part(comparison, "thresholds")


def compare_decisions(tables: Path, seed: int = 42) -> Any:
    rows = _columns(tables)
    decisions = {
        "new": np.where(rows["score"] >= 0.5, "attack", "normal"),
        "old": np.where(rows["old_score"] >= 0.5, "attack", "normal"),
        "said": rows["said"],
    }
    comparison = assay.compare(rows["label"], decisions=decisions, resamples=300, seed=seed)
    return _differences(comparison, "accuracy", "recall", "false_positive_rate")


def compare_folds_of_data_sets(tables: Path) -> Any:
    return _differences(assay.compare_folds(_table(tables, "datasets.csv")), "accuracy")


def compare_fitted_models(tables: Path, seed: int = 42) -> Any:
    rows = _table(tables, "learn.csv")
    models = {
        "size": lambda table: [min(1, max(0, (row[0] - 400) / 300)) for row in table],
        "rate": lambda table: [min(1, max(0, (row[1] + 2) / 5)) for row in table],
    }
    X, y = rows[["bytes", "rate"]].rows(), rows["label"].to_list()
    comparison = assay.compare_models(models, X, y, resamples=300, seed=seed)
    return _differences(comparison, "roc_auc", "accuracy")


def _point(point: Any) -> Any:
    names = ("recall", "false_positive_rate", "false_alarm_rate")
    return point and {"threshold": point.threshold, "estimates": _estimates(point, names)}


def threshold_for_a_rate(tables: Path, seed: int = 42) -> Any:
    rows = _columns(tables)
    choice = assay.choose_threshold(
        rows["label"], y_score=rows["score"], max_fpr=0.1, resamples=300, seed=seed
    )
    points = {"empirical": _point(choice.empirical), "guaranteed": _point(choice.guaranteed)}
    return points | {"infeasible": choice.infeasible, "objective": choice.objective}


def threshold_for_costs(tables: Path, seed: int = 42) -> Any:
    choice = assay.choose_threshold(
        _table(tables),
        label="label",
        score="score",
        cluster="host",
        cost_fp=1,
        cost_fn=30,
        base_rate=0.01,
        resamples=300,
        seed=seed,
    )
    return {"empirical": _point(choice.empirical), "objective": choice.objective}


RULES = [
    "new(recall) >= 0.5",
    "new(precision@base-rate=0.001) >= 0.5",
    "new-old(roc_auc) >= -0.01",
    "new-old(fpr) <= 0.05",
]


def _outcomes(gate: Any) -> dict[str, Any]:
    names = ("rule", "outcome", "value", "low", "high")
    document = gate.to_dict()
    rules = [{name: rule[name] for name in names} for rule in document["rules"]]
    return {"outcome": document["outcome"], "rules": rules}


def gate_of_two_models(tables: Path, seed: int = 42) -> Any:
    rows = _columns(tables)
    columns = {"new": rows["score"], "old": rows["old_score"], "clusters": rows["host"]}
    gate = assay.gate(rows["label"], **columns, rules=RULES, resamples=300, seed=seed)
    return _outcomes(gate)


def gate_of_an_evaluation(tables: Path) -> Any:
    rows = _columns(tables)
    evaluation = assay.evaluate(rows["label"], y_score=rows["score"])
    rules = ["new(recall) >= 0.5", "new(precision) >= 0.999", "new(f1) >= 0.8"]
    return _outcomes(assay.gate_evaluation(evaluation, rules=rules))


# -- the other commands ----------------------------------------------------------------------------


def monitor_by_week(tables: Path, seed: int = 42) -> Any:
    rows, before = (_table(tables, f"{name}.csv") for name in ("month", "reference"))
    watched = assay.monitor(
        rows["time"],
        rows["label"],
        y_score=rows["score"],
        features={"bytes": rows["bytes"]},
        reference={"y_true": before["label"], "y_score": before["score"], "bytes": before["bytes"]},
        every="week",
        rules=["recall >= 0.9", "precision >= 0.3"],
        seed=seed,
    )
    document = watched.to_dict()
    return {
        "outcome": watched.outcome.value,
        "rules": [(one["rule"], one["outcome"], one["since"]) for one in document["rules"]],
        "periods": [(one["start"], one["end"], one["rows"]) for one in document["periods"]],
        "precision": _told(watched["precision"].estimate),
        "codes": sorted(one["code"] for one in document["findings"]),
    }


def monitor_that_goes_on(tables: Path) -> Any:
    weeks = [_table(tables, f"week{number}.csv") for number in (1, 2)]
    state = None
    for week in weeks:
        watched = assay.monitor(week["time"], week["label"], y_score=week["score"], state=state)
        state = watched.tally.to_bytes()
    both = pl.concat(weeks)
    at_once = assay.monitor(both["time"], both["label"], y_score=both["score"])
    recall = watched["recall"].estimate
    return {"recall": _told(recall), "same": recall == at_once["recall"].estimate}


def _detected(judged: Any) -> dict[str, Any]:
    names = ("detected", "first_alert", "delay", "alerts")
    incidents = [{name: one[name] for name in names} for one in judged.to_dict()["incidents"]]
    rates = {
        name: _told(judged[name])
        for name in ("incidents_detected", "median_delay", "false_incidents_per_day")
    }
    return {"incidents": incidents, "estimates": rates, "false_alarms": judged.false_alarms}


def incidents_of_logs(tables: Path) -> Any:
    alerts, events = ([str(tables / name)] for name in ("eve.json", "conn.log"))
    schedule = str(tables / "attacks.csv")
    return _detected(assay.incidents(alerts=alerts, events=events, schedule=schedule, grace=300))


def incidents_of_a_table(tables: Path) -> Any:
    rows = _table(tables, "incident_rows.csv")
    columns = {"incident": "incident", "time": "time", "decision": "said", "rule": "rule"}
    return _detected(assay.incidents(rows, **columns, family="family"))


def _verdicts(audit: Any) -> Any:
    names = ("key", "verdict", "reported", "recomputed")
    return [
        {"name": claim["name"], "verdict": claim["verdict"]}
        | {"numbers": [{name: number[name] for name in names} for number in claim["numbers"]]}
        for claim in audit.to_dict()["claims"]
    ]


def audit_of_a_claim(tables: Path) -> Any:
    cells = {"tn": 7743, "fp": 167, "fn": 324, "tp": 6635}
    reported = {"accuracy": "96.70%", "mcc": "0.9333", "precision": "0.98", "f1": "0.9643"}
    whole = {"name": "matrix", "confusion": cells, "reported": reported}
    bare = {"name": "rates", "n": 400, "reported": {"accuracy": "0.991", "error_rate": "0.01"}}
    return _verdicts(assay.audit([whole, bare]))


def plan_of_rows(tables: Path) -> Any:
    plans = (
        assay.plan(max_fpr=1e-4, expected_fpr=2e-5, min_dr=0.9),
        assay.plan(max_far=0.1, base_rate=0.001, expected_dr=0.9),
        assay.plan(difference=0.02, discordant=0.1, width=0.05, expected=0.9),
        assay.plan(rows=100_000, recall_width=0.1, base_rate=0.01),
    )
    names = ("rows", "negatives", "positives", "false_alarms", "misses")
    return {
        goal["name"]: [{name: need[name] for name in names} for need in goal["needs"][:6]]
        for plan in plans
        for goal in plan.to_dict()["goals"]
    }


def sample_to_label(tables: Path, seed: int = 42) -> Any:
    rows = _table(tables, "population.csv")
    drawn = assay.sample(rows, score="score", labels=90, strata=4, id="flow", seed=seed)
    return _part(drawn, "rows", "labels", "strata") | {"columns": drawn.frame.columns}


def store_and_trend(tables: Path) -> Any:
    runs = [assay.evaluate_counts(**CELLS | {"fn": missed}) for missed in (10, 30)]
    with assay.Store(tables / "python.db") as store:
        for run in runs:
            store.record(json.dumps(run.to_dict()), name="flows", tags=["nightly"])
        points = [point.value for point in store.trend("flows", "recall").points]
        kinds = [run.kind for run in store.runs(tag="nightly").runs]
    (tables / "python.db").unlink()
    return {"points": points, "kinds": kinds}


# -- learn -----------------------------------------------------------------------------------------


def check_for_leaks(tables: Path) -> Any:
    train, test = (
        learn.read_data(str(tables / name), label="label", keep=["host"], time="time")
        for name in ("train.csv", "copied.csv")
    )
    checked = learn.check(train, test, time="time", groups=["host"])
    return {
        "findings": [(finding.code, str(finding.severity)) for finding in checked.findings],
        "honest": checked.honest,
    }


def train_on_a_holdout(tables: Path, seed: int = 42) -> Any:
    drop = ["host", "time", "family", "part"]
    data = learn.data_of(_table(tables, "learn.csv"), label="label", drop=drop)
    return _facts(learn.train("tree", data, seed=seed).evaluation, (*MAIN, "roc_auc"))


def train_and_predict(tables: Path, seed: int = 42) -> Any:
    drop = ["host", "time", "family", "part"]
    data = learn.read_data(str(tables / "train.csv"), label="label", drop=drop)
    test = learn.read_data(str(tables / "test.csv"), label="label", drop=drop)
    run = learn.train(
        "forest", data, test=test, validation="file:test.csv", settings={"trees": 20}, seed=seed
    )
    header = learn.model_header(
        run.model, data.frame, labels=("normal", "attack"), positive="attack", threshold=0.5
    )
    learn.save_model(run.model, tables / "model.skops", header=header)
    model = learn.load_model(tables / "model.skops")
    predictions = pl.concat(learn.predict(model, str(tables / "unseen.csv")))
    return _facts(run.evaluation, ("accuracy", "recall")) | {
        "columns": predictions.columns,
        "rows": len(predictions),
    }


def train_over_folds_of_texts(tables: Path, seed: int = 42) -> Any:
    data = learn.data_of(
        _table(tables, "texts.csv"), label="category", text="title", drop=["vendor"]
    )
    run = learn.train("text", data, validation="kfold:3", seed=seed)
    return _facts(run.evaluation, ("accuracy", "f1.macro"))


def scenarios_by_seed(tables: Path) -> Any:
    made = (learn.make_arp(rows=300), learn.make_ddos(rows=300), learn.make_darknet(rows=300))
    labels = ("label", "label", "category")
    return [
        {"columns": frame.columns, "rows": len(frame)}
        | {"labels": dict(sorted(frame[name].value_counts().iter_rows()))}
        for frame, name in zip(made, labels, strict=True)
    ]
