"""Every measure as a function."""

import inspect
import math
import pickle

import numpy as np
import polars as pl
import pytest

import assay
from assay import Bootstrap, MeasureFunction, Wilson, evaluate, evaluate_counts, fbeta
from assay.errors import InputError, MethodError
from assay.measures import CATALOGUE, OpenSet, OverPairs, find

COUNTED = [measure for measure in CATALOGUE if measure.formula is not None]
SCORED = [
    m
    for m in CATALOGUE
    if m.of_scores is not None and not isinstance(m.of_scores, OverPairs | OpenSet)
]
CELLS = {"tp": 6635, "fp": 167, "fn": 324, "tn": 7743}
FOREST = evaluate_counts(**CELLS)

TRUTH = ["attack", "normal", "attack", "normal", "attack", "normal", "normal", "attack"]
SCORES = [0.9, 0.2, 0.4, 0.6, 0.8, 0.1, 0.5, 0.7]
DECISIONS = ["attack", "normal", "normal", "attack", "attack", "normal", "attack", "attack"]
EVALUATED = evaluate(TRUTH, y_score=SCORES)


def function(name: str) -> MeasureFunction:
    return getattr(assay, name)


def same(one, other) -> bool:
    fields = ("low", "high", "method", "n", "level", "undefined", "note")
    ours, theirs = ([getattr(e, field) for field in fields] for e in (one, other))
    return (float(one), *ours) == pytest.approx((float(other), *theirs), nan_ok=True)


# -- by counts and by columns ----------------------------------------------------------------------


@pytest.mark.parametrize("measure", COUNTED, ids=lambda m: m.name)
def test_count_measure_by_its_cells(measure) -> None:
    assert same(function(measure.name)(**CELLS), FOREST[measure.name])


@pytest.mark.parametrize("measure", COUNTED, ids=lambda m: m.name)
def test_example_of_the_catalogue_is_its_value(measure) -> None:
    counts, expected = measure.example
    estimate = function(measure.name)(**counts._asdict())
    assert estimate == expected.numerator / expected.denominator


@pytest.mark.parametrize("measure", COUNTED, ids=lambda m: m.name)
def test_count_measure_by_columns_of_decisions(measure) -> None:
    assert same(function(measure.name)(TRUTH, DECISIONS), EVALUATED[measure.name])


@pytest.mark.parametrize("measure", COUNTED, ids=lambda m: m.name)
def test_count_measure_by_a_column_of_scores(measure) -> None:
    estimate = function(measure.name)(TRUTH, y_score=SCORES, threshold=0.5)
    assert same(estimate, EVALUATED[measure.name])


@pytest.mark.parametrize("measure", SCORED, ids=lambda m: m.name)
def test_score_measure_by_a_column_of_scores(measure) -> None:
    for estimate in (
        function(measure.name)(TRUTH, SCORES),
        function(measure.name)(TRUTH, y_score=SCORES),
        function(measure.name)(TRUTH, y_proba={"attack": SCORES, "normal": np.subtract(1, SCORES)}),
    ):
        assert same(estimate, EVALUATED[measure.name])


@pytest.mark.parametrize("measure", SCORED, ids=lambda m: m.name)
def test_score_measure_cannot_be_told_from_counts(measure) -> None:
    with pytest.raises(InputError, match="can't be told from counts: give columns"):
        function(measure.name)(**CELLS)


@pytest.mark.parametrize("name", ["roc_auc", "average_precision", "partial_auc"])
def test_ranking_needs_no_threshold(name: str) -> None:
    scores = [100 * score - 30 for score in SCORES]
    assert function(name)(TRUTH, scores) == EVALUATED[name]
    assert function(name)(TRUTH, scores, threshold=3) == EVALUATED[name]


def test_log_loss_of_bare_scores_is_undefined() -> None:
    log_loss = assay.log_loss(TRUTH, [10 * score for score in SCORES])
    assert log_loss.undefined == "it needs probabilities; there are only scores"


# -- names -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("alias", "name"), [(alias, m.name) for m in CATALOGUE for alias in m.aliases]
)
def test_alias_is_the_same_function(alias: str, name: str) -> None:
    assert getattr(assay, alias) == getattr(assay, name)


def test_name_that_is_no_identifier_is_found_too() -> None:
    assert getattr(assay, "f0.5")(**CELLS) == FOREST["f0.5"]


def test_unknown_attribute_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'assay' has no attribute 'precison'"):
        _ = assay.precison


@pytest.mark.parametrize("measure", CATALOGUE, ids=lambda m: m.name)
def test_function_has_the_name_and_the_reading_of_its_measure(measure) -> None:
    measure_function = MeasureFunction(measure)
    assert measure_function.__name__ == measure.name
    assert measure.reads in measure_function.__doc__
    assert measure.misleads in measure_function.__doc__
    assert measure_function.measure is measure


def test_function_is_a_value_that_pickles() -> None:
    assert assay.precision == MeasureFunction(find("precision"))
    assert assay.precision != assay.recall
    assert pickle.loads(pickle.dumps(assay.precision))(**CELLS) == FOREST["precision"]
    assert "tp" in inspect.signature(assay.precision).parameters


# -- many classes ----------------------------------------------------------------------------------

CLASSES = list("abcabc")
SAID = list("abcbac")
TABLE = np.array(
    [
        [0.7, 0.2, 0.1],
        [0.3, 0.4, 0.3],
        [0.4, 0.1, 0.5],
        [0.2, 0.5, 0.3],
        [0.5, 0.4, 0.1],
        [0.3, 0.3, 0.4],
    ]
)
MANY = evaluate(CLASSES, y_proba=TABLE)


@pytest.mark.parametrize("average", ["macro", "micro", "weighted"])
@pytest.mark.parametrize("name", ["precision", "f1", "specificity"])
def test_average_of_a_count_measure(name: str, average: str) -> None:
    expected = evaluate(CLASSES, y_pred=SAID)[f"{name}.{average}"]
    assert same(function(name)(CLASSES, SAID, average=average), expected)


@pytest.mark.parametrize("name", ["accuracy", "kappa", "mcc", "balanced_accuracy"])
def test_measure_of_all_classes(name: str) -> None:
    assert same(function(name)(CLASSES, SAID), evaluate(CLASSES, y_pred=SAID)[name])


@pytest.mark.parametrize("name", ["roc_auc", "average_precision"])
@pytest.mark.parametrize("average", ["macro", "weighted"])
def test_average_of_a_ranking(name: str, average: str) -> None:
    for table in (TABLE, TABLE.tolist(), pl.DataFrame(TABLE, schema=list("abc"))):
        estimate = function(name)(CLASSES, table, average=average)
        assert same(estimate, MANY[f"{name}.{average}"])


def test_ranking_has_no_micro_average() -> None:
    roc_auc = assay.roc_auc(CLASSES, TABLE, average="micro")
    assert "no micro average" in roc_auc.undefined


def test_average_of_a_ranking_needs_scores() -> None:
    roc_auc = assay.roc_auc(CLASSES, y_pred=SAID, average="macro")
    assert roc_auc.undefined == "it needs scores; there are only decisions"


@pytest.mark.parametrize("name", ["roc_auc_ovo", "log_loss", "brier"])
def test_measure_of_all_probabilities(name: str) -> None:
    assert same(function(name)(CLASSES, TABLE), MANY[name])


def test_one_versus_one_of_two_classes_is_the_auc() -> None:
    assert assay.roc_auc_ovo(TRUTH, SCORES).undefined == (
        "it is for more than two classes; for two it is roc_auc"
    )


def test_one_label_of_many_may_be_the_positive() -> None:
    recall = assay.recall(CLASSES, SAID, positive="a")
    assert recall == 0.5


def test_one_sided_measure_of_many_classes_asks_for_an_average() -> None:
    with pytest.raises(InputError, match=r"an average, such as precision\.macro"):
        assay.precision(CLASSES, SAID)


def test_ranking_of_many_classes_asks_for_an_average() -> None:
    with pytest.raises(InputError, match="of 3 classes needs average="):
        assay.roc_auc(CLASSES, TABLE)


# -- options ---------------------------------------------------------------------------------------


def test_level_and_interval_are_taken() -> None:
    precision = assay.precision(**CELLS, level=0.9, interval="wald")
    assert (precision.method, precision.level) == ("wald", 0.9)
    assert assay.precision(**CELLS, interval=Wilson(0.8)).level == 0.8
    assert assay.mcc(**CELLS, interval=Bootstrap(resamples=50)).method == "bootstrap"


def test_partial_area_takes_its_limit_and_may_stay_uncorrected() -> None:
    generator = np.random.default_rng(0)
    truth = np.arange(200) % 2
    scores = truth * 0.5 + generator.random(200)
    whole = assay.partial_auc(truth, scores, max_fpr=1.0)
    assert whole == pytest.approx(float(assay.roc_auc(truth, scores)))
    raw = assay.partial_auc(truth, scores, corrected=False)
    corrected = assay.partial_auc(truth, scores)
    assert corrected == pytest.approx(0.5 + (raw - 0.005) / (2 * (0.1 - 0.005)))
    assert 0 <= raw.low <= raw <= raw.high <= 0.1


def test_columns_of_evaluate_are_taken() -> None:
    recall = assay.recall(TRUTH, DECISIONS, counts=[1, 2, 3, 1, 2, 3, 1, 2])
    assert recall == (1 + 2 + 2) / 8
    assert assay.recall(TRUTH, DECISIONS, clusters=list("aabbccdd")).method == "cluster delta"


# -- what is refused -------------------------------------------------------------------------------


def test_cells_and_columns_together_are_refused() -> None:
    with pytest.raises(InputError, match="not both"):
        assay.precision(TRUTH, DECISIONS, tp=3)


def test_missing_cells_are_named() -> None:
    with pytest.raises(InputError, match="missing: fn, tn"):
        assay.precision(tp=3, fp=1)


def test_unknown_average_is_refused() -> None:
    with pytest.raises(InputError, match="average is one of macro, micro, weighted; found 'mean'"):
        assay.precision(CLASSES, SAID, average="mean")


def test_level_is_checked() -> None:
    with pytest.raises(MethodError, match="level"):
        assay.precision(**CELLS, level=2)


# -- F-beta ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("beta", [0.25, 0.5, 1, 2, 3, 10])
def test_fbeta_weighs_recall_beta_times(beta: float) -> None:
    precision, recall = 6635 / 6802, 6635 / 6959
    expected = (1 + beta**2) * precision * recall / (beta**2 * precision + recall)
    estimate = fbeta(beta=beta, **CELLS)
    assert estimate == pytest.approx(expected, rel=1e-12)
    assert estimate.low < estimate < estimate.high


def test_fbeta_of_one_two_and_a_half_are_those_of_the_catalogue() -> None:
    for beta, name in ((1, "f1"), (2, "f2"), (0.5, "f0.5")):
        assert same(fbeta(beta=beta, **CELLS), FOREST[name])


def test_fbeta_takes_columns_and_averages() -> None:
    assert fbeta(TRUTH, DECISIONS, beta=2) == EVALUATED["f2"]
    expected = evaluate(CLASSES, y_pred=SAID)["f2.macro"]
    assert fbeta(CLASSES, SAID, beta=2, average="macro") == expected


@pytest.mark.parametrize("beta", [0, -1, math.nan, math.inf, 1e300, 1e-300, True, "2", None])
def test_beta_must_be_positive(beta: float) -> None:
    with pytest.raises(InputError, match="beta must be a positive number"):
        fbeta(beta=beta, **CELLS)


@pytest.mark.parametrize("given", [{"max_fpr": 0.2}, {"corrected": False}])
def test_a_limit_of_the_partial_auc_is_refused_by_other_measures(given: dict[str, object]) -> None:
    assert assay.partial_auc([0, 1, 1], [0.1, 0.4, 0.9], **given) > 0
    for function in (assay.roc_auc, assay.recall):
        with pytest.raises(InputError, match="for the partial AUC, not"):
            function([0, 1, 1], [0, 1, 1], **given)
