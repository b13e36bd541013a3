"""Models at hand, compared on the same rows or on the same folds."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import IsolationForest, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    FixedThresholdClassifier,
    RepeatedStratifiedKFold,
    cross_val_score,
)
from sklearn.svm import LinearSVC

from assay import compare, compare_folds, compare_models, evaluate_model, nadeau_bengio
from assay.errors import InputError, UnknownMeasure

GENERATOR = np.random.default_rng(0)
Y = GENERATOR.integers(0, 2, 200)
X = GENERATOR.normal(0, 1, (200, 3)) + 0.7 * Y[:, None]
NAMES = np.where(Y == 1, "attack", "normal")
TRAIN, TEST = slice(0, 100), slice(100, 200)
MODELS = {
    "logistic": LogisticRegression(),
    "machine": LinearSVC(),
    "forest": RandomForestClassifier(5, random_state=0),
}


def fitted(y=NAMES):
    return {name: type(m)(**m.get_params()).fit(X[TRAIN], y[TRAIN]) for name, m in MODELS.items()}


# -- on the same rows ------------------------------------------------------------------------------


def test_fitted_models_are_compared_row_by_row() -> None:
    models = fitted()
    comparison = compare_models(models, X[TEST], NAMES[TEST], resamples=100)
    scores = {
        "logistic": models["logistic"].predict_proba(X[TEST])[:, 0],
        "machine": -models["machine"].decision_function(X[TEST]),
        "forest": models["forest"].predict_proba(X[TEST])[:, 0],
    }
    at = {"logistic": 0.5, "machine": 0.0, "forest": 0.5}
    other = compare(NAMES[TEST], scores=scores, threshold=at, resamples=100)
    assert comparison.differences == other.differences
    assert comparison.tests == other.tests
    assert comparison.thresholds == at
    assert comparison.notes[0].startswith("machine: the scores of LinearSVC are those of 'normal'")


def test_options_of_a_comparison_are_taken() -> None:
    comparison = compare_models(
        *(fitted(), X[TEST], NAMES[TEST]), at="max-far=0.3", resamples=50, margin=0.2
    )
    assert str(comparison.at) == "max-far=0.3"
    assert comparison.margin == 0.2
    clustered = compare_models(fitted(), X[TEST], NAMES[TEST], groups=np.arange(100) // 5)
    assert not any(test.test == "delong" for test in clustered.tests)


def test_models_of_which_one_only_decides_are_compared_by_decisions() -> None:
    y = np.array(list("abc"))[np.arange(200) % 3]
    comparison = compare_models(fitted(y), X[TEST], y[TEST], resamples=50)
    assert comparison.verdicts[0].measure == "accuracy"
    rule = {"rule": lambda rows: rows[:, 0], "none": LinearSVC().fit(X, y)}
    with pytest.raises(InputError, match="say positive= or negative="):
        compare_models(rule, X, y)


def test_detector_beside_a_classifier() -> None:
    models = {
        "isolation": IsolationForest(n_estimators=10, random_state=0).fit(X[Y == 0]),
        "logistic": LogisticRegression().fit(X[TRAIN], Y[TRAIN]),
    }
    comparison = compare_models(models, X[TEST], Y[TEST], resamples=50)
    area = comparison.estimates["isolation"]["roc_auc"].value
    assert area > 0.5
    assert "turned over" in comparison.notes[0]


@pytest.mark.parametrize("cv", [None, 3])
def test_names_are_text(cv) -> None:
    comparison = compare_models({0.1: HALF, 1: LOW}, X[TEST], Y[TEST], cv=cv)
    assert comparison.models == ("0.1", "1")
    assert comparison.evaluation("1").decided
    with pytest.raises(InputError, match="the same name as text"):
        compare_models({"1": HALF, 1: LOW}, X[TEST], Y[TEST], cv=cv)


HALF = LogisticRegression().fit(X[TRAIN], Y[TRAIN])
LOW = FixedThresholdClassifier(LogisticRegression(), threshold=0.2).fit(X[TRAIN], Y[TRAIN])


def test_scores_are_cut_where_predict_does() -> None:
    comparison = compare_models({"half": HALF, "low": LOW}, X[TEST], Y[TEST], resamples=50)
    for name, model in (("half", HALF), ("low", LOW)):
        assert (
            comparison.evaluation(name)["recall"]
            == evaluate_model(model, X[TEST], Y[TEST])["recall"]
        )
    assert comparison.difference("recall").difference > 0
    assert 0.2 <= comparison.thresholds["low"] < comparison.thresholds["half"] == 0.5
    assert any(
        note.startswith("low: predict flags the rows whose score") for note in comparison.notes
    )
    never = FixedThresholdClassifier(LogisticRegression(), threshold=1).fit(X[TRAIN], Y[TRAIN])
    silent = compare_models({"half": HALF, "never": never}, X[TEST], Y[TEST], resamples=50)
    assert silent.evaluation("never")["recall"] == 0


def test_decisions_that_do_not_count_are_told_of() -> None:
    class Odd(LogisticRegression):
        def predict(self, X):
            return super().predict(-X)

    models = {"half": HALF, "odd": Odd().fit(X[TRAIN], Y[TRAIN])}
    comparison = compare_models(models, X[TEST], Y[TEST], resamples=50)
    assert "odd: compared by its scores, not by what predict decides" in comparison.notes
    assert comparison.thresholds == {"half": 0.5, "odd": 0.5}
    given = compare_models(
        {"half": HALF, "low": LOW}, X[TEST], Y[TEST], resamples=50, threshold=0.4
    )
    assert given.thresholds == {"half": 0.4, "low": 0.4}
    assert "low: compared by its scores, not by what predict decides" in given.notes


def test_a_threshold_is_of_a_model_whatever_its_name_is() -> None:
    models = {1: HALF, 2: LOW}
    said = compare_models(models, X[TEST], Y[TEST], resamples=50, threshold={1: 0.4, 2: 0.3})
    assert said.thresholds == {"1": 0.4, "2": 0.3}
    with pytest.raises(InputError, match="names '3', which is no model; there are '1', '2'"):
        compare_models(models, X[TEST], Y[TEST], threshold={1: 0.4, 3: 0.3})


# -- on the same folds -----------------------------------------------------------------------------


def test_folds_are_those_of_cross_validation() -> None:
    comparison = compare_models(MODELS, X, Y, cv=5)
    areas = {
        name: cross_val_score(model, X, Y, cv=5, scoring="roc_auc")
        for name, model in MODELS.items()
    }
    test = next(
        test
        for test in comparison.tests
        if (test.test, test.measure, test.b) == ("nadeau_bengio", "roc_auc", "forest")
    )
    expected = nadeau_bengio(areas["logistic"], areas["forest"], n_train=160, n_test=40)
    assert test.p == pytest.approx(expected.p)
    assert test.table["differences"] == pytest.approx(expected.table["differences"])
    assert comparison.estimates["machine"]["roc_auc"].value == pytest.approx(
        areas["machine"].mean()
    )
    assert "friedman" in {test.test for test in comparison.tests}
    assert comparison.notes[0].startswith(
        "5 stratified folds in the order of the rows, the same for"
    )


def test_names_of_labels_do_not_change_the_numbers() -> None:
    codes = compare_models(MODELS, X, Y, cv=3)
    names = compare_models(MODELS, pd.DataFrame(X), pd.Series(NAMES), cv=3)
    assert [d.difference.value for d in codes.differences] == pytest.approx(
        [d.difference.value for d in names.differences], abs=1e-9
    )


def test_what_fits_said_out_of_fold_is_kept() -> None:
    comparison = compare_models(MODELS, X, NAMES, cv=3, measures=["roc_auc"])
    for name, model in MODELS.items():
        alone = evaluate_model(model, X, NAMES, cv=3)
        assert comparison.evaluation(name)["roc_auc"].value == alone["roc_auc"].value
        assert comparison.evaluation(name)["accuracy"] == alone["accuracy"]
        assert comparison.evaluation(name).slices == alone.slices


def test_five_by_two_is_recognised() -> None:
    cv = RepeatedStratifiedKFold(n_splits=2, n_repeats=5, random_state=0)
    pair = {"weak": LogisticRegression(C=1e-4), "usual": LogisticRegression()}
    comparison = compare_models(pair, X, Y, cv=cv, measures=["roc_auc"])
    assert {test.test for test in comparison.tests} >= {"5x2cv_t", "5x2cv_f"}


def test_measures_are_chosen() -> None:
    comparison = compare_models(MODELS, X, Y, cv=3, measures=["detection_rate", "far"])
    assert {d.measure for d in comparison.differences} == {"recall", "false_discovery_rate"}
    with pytest.raises(UnknownMeasure, match="did you mean"):
        compare_models(MODELS, X, Y, cv=3, measures=["acuracy"])
    with pytest.raises(InputError, match="a list of names"):
        compare_models(MODELS, X, Y, cv=3, measures="f1")


def test_three_classes_have_averages() -> None:
    y = np.arange(200) % 3
    pair = {name: MODELS[name] for name in ("logistic", "forest")}
    measures = {d.measure for d in compare_models(pair, X, y, cv=3).differences}
    assert {"roc_auc.macro", "roc_auc_ovo", "accuracy", "f1.macro"} <= measures
    assert "f1" not in measures


def test_groups_are_kept_together() -> None:
    host = np.arange(200) // 10
    comparison = compare_models(MODELS, X, Y, cv=4, groups=host, measures=["accuracy"])
    assert "keep groups together" in comparison.notes[0]


# -- what is refused -------------------------------------------------------------------------------


@pytest.mark.parametrize("models", [[LogisticRegression()], {"one": LogisticRegression()}, {}])
def test_two_models_by_name_are_needed(models) -> None:
    with pytest.raises(InputError, match="a mapping from name to model, two or more"):
        compare_models(models, X, Y, cv=3)


@pytest.mark.parametrize(
    "options", [{"at": "max-far=0.1"}, {"threshold": 0.5}, {"resamples": 10}, {"families": NAMES}]
)
def test_options_for_rows_are_refused_with_folds(options) -> None:
    with pytest.raises(InputError, match="not for folds: leave cv= out"):
        compare_models(MODELS, X, Y, cv=3, **options)


def test_measures_without_folds_are_refused() -> None:
    with pytest.raises(InputError, match="measures= are for folds"):
        compare_models(fitted(), X, NAMES, measures=["f1"])


def test_model_that_was_not_fitted_is_told_so() -> None:
    with pytest.raises(InputError, match="LogisticRegression is not fitted"):
        compare_models(MODELS, X, Y)


def test_one_split_tells_nothing() -> None:
    with pytest.raises(InputError, match="one fold tells nothing"):
        compare_models(MODELS, X, Y, cv=[(range(100), range(100, 200))])


def test_table_of_folds_is_that_of_compare_folds() -> None:
    values = {
        name: [float(v) for v in cross_val_score(model, X, Y, cv=4)]
        for name, model in MODELS.items()
    }
    table = {
        "model": [name for name in MODELS for _ in range(4)],
        "repeat": [1] * 12,
        "fold": [1, 2, 3, 4] * 3,
        "n_train": [150] * 12,
        "n_test": [50] * 12,
        "accuracy": [value for name in MODELS for value in values[name]],
    }
    comparison = compare_models(MODELS, X, Y, cv=4, measures=["accuracy"])
    assert comparison.tests == compare_folds(table).tests
