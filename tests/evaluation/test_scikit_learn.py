"""Measures as scorers of scikit-learn's model selection."""

import math
import pickle
from functools import cache

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import IsolationForest, RandomForestClassifier
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics import get_scorer, make_scorer, roc_auc_score
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.svm import LinearSVC

import assay
from assay import scorer
from assay.errors import InputError, LabelError, UnknownMeasure


@cache
def rows(classes: int = 2, size: int = 120) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(0)
    y = np.arange(size) % classes
    return generator.normal(0, 1, (size, 3)) + 0.8 * y[:, None], y


def named(*names) -> tuple[np.ndarray, np.ndarray]:
    X, y = rows(len(names))
    return X, np.array(names)[y]


FITTED = LogisticRegression().fit(*rows())
SVC = LinearSVC().fit(*rows())


# -- beside scikit-learn ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("accuracy", "accuracy"),
        ("f1", "f1"),
        ("precision", "precision"),
        ("detection_rate", "recall"),
        ("balanced_accuracy", "balanced_accuracy"),
        ("mcc", "matthews_corrcoef"),
        ("roc_auc", "roc_auc"),
        ("average_precision", "average_precision"),
        ("log_loss", "neg_log_loss"),
        ("brier", "neg_brier_score"),
        ("f1.macro", "f1_macro"),
        ("f1.weighted", "f1_weighted"),
        ("f1.1", "f1"),
    ],
)
def test_score_is_that_of_scikit_learn(ours: str, theirs: str) -> None:
    X, y = rows()
    assert scorer(ours)(FITTED, X, y) == pytest.approx(get_scorer(theirs)(FITTED, X, y), rel=1e-9)


@pytest.mark.parametrize(("ours", "theirs"), [("roc_auc", "roc_auc"), ("ap", "average_precision")])
def test_decision_function_ranks_where_there_are_no_probabilities(ours: str, theirs: str) -> None:
    X, y = rows()
    assert scorer(ours)(SVC, X, y) == pytest.approx(get_scorer(theirs)(SVC, X, y), rel=1e-9)


def test_many_classes() -> None:
    X, y = rows(3)
    model = LogisticRegression().fit(X, y)
    for ours, theirs in (
        ("accuracy", "accuracy"),
        ("f1.macro", "f1_macro"),
        ("roc_auc.macro", "roc_auc_ovr"),
        ("log_loss", "neg_log_loss"),
    ):
        assert scorer(ours)(model, X, y) == pytest.approx(get_scorer(theirs)(model, X, y))
    of_one = LogisticRegression().fit(X, y).predict_proba(X)[:, 1]
    area = scorer("roc_auc.1")(model, X, y)
    assert area == pytest.approx(roc_auc_score(y == 1, of_one))
    assert scorer("recall.2")(model, X, y) == np.mean(model.predict(X)[y == 2] == 2)


def test_sample_weights_are_taken() -> None:
    X, y = rows()
    weights = np.linspace(0.5, 2, len(y))
    theirs = get_scorer("roc_auc")(FITTED, X, y, sample_weight=weights)
    assert scorer("roc_auc")(FITTED, X, y, sample_weight=weights) == pytest.approx(theirs)


# -- lower is better -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["log_loss", "brier", "error_rate", "false_positive_rate", "far"])
def test_measure_of_which_less_is_better_is_negated(name: str) -> None:
    X, y = rows()
    good, poor = FITTED, DummyClassifier(strategy="uniform", random_state=0).fit(X, y)
    assert scorer(name)(good, X, y) <= 0
    assert scorer(name)(good, X, y) > scorer(name)(poor, X, y)


# -- recall within a limit -------------------------------------------------------------------------


def best_recall(scores, truth, limit: float, kind: str) -> float:
    """The highest detection rate of any threshold that keeps the limit, tried one by one."""
    best = 0.0
    for threshold in np.unique(scores):
        flagged = scores >= threshold
        tp, fp = (flagged & (truth == 1)).sum(), (flagged & (truth == 0)).sum()
        rate = fp / (tp + fp) if kind == "far" else fp / (truth == 0).sum()
        if rate <= limit:
            best = max(best, tp / (truth == 1).sum())
    return best


@pytest.mark.parametrize("limit", [0, 0.01, 0.05, 0.1, 0.3, 0.5, 1])
@pytest.mark.parametrize("model", [FITTED, SVC], ids=["probabilities", "decision function"])
def test_recall_within_a_limit_is_found_by_trying_all_thresholds(model, limit: float) -> None:
    X, y = rows()
    scores = (
        model.predict_proba(X)[:, 1]
        if hasattr(model, "predict_proba")
        else model.decision_function(X)
    )
    for name, option, kind in (
        ("recall_at_far", "max_far", "far"),
        ("recall_at_fpr", "max_fpr", "fpr"),
    ):
        score = scorer(name, **{option: limit})(model, X, y)
        assert score == pytest.approx(best_recall(scores, y, limit, kind))


def test_no_threshold_within_the_limit_scores_zero() -> None:
    X, y = rows()
    constant = DummyClassifier(strategy="prior").fit(X, y)
    assert scorer("recall_at_far", max_far=0.1)(constant, X, y) == 0.0


# -- labels ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("names", [("ham", "spam"), ("normal", "attack"), (0, 1), (False, True)])
@pytest.mark.parametrize("model", [LogisticRegression(), LinearSVC()], ids=["proba", "decision"])
def test_well_known_labels_need_no_positive(names, model) -> None:
    X, y = named(*names)
    model.fit(X, y)
    plain = type(model)().fit(*rows())
    for name in ("recall", "roc_auc"):
        assert scorer(name)(model, X, y) == pytest.approx(scorer(name)(plain, *rows()), abs=1e-6)


@pytest.mark.parametrize("model", [LogisticRegression(), LinearSVC()], ids=["proba", "decision"])
@pytest.mark.parametrize("name", ["recall", "roc_auc", "average_precision"])
def test_plus_and_minus_one_need_a_positive(model, name: str) -> None:
    X, y = named(-1, 1)
    model.fit(X, y)
    with pytest.raises(LabelError, match="nothing tells"):
        scorer(name)(model, X, y)
    plain = type(model)().fit(*rows())
    score = scorer(name, positive=1)(model, X, y)
    assert score == pytest.approx(scorer(name)(plain, *rows()), abs=1e-6)


@pytest.mark.parametrize("model", [LogisticRegression(), LinearSVC()], ids=["proba", "decision"])
def test_first_class_may_be_the_positive(model) -> None:
    X, y = named("attack", "normal")
    model.fit(X, y)
    assert list(model.classes_) == ["attack", "normal"]
    area = scorer("roc_auc")(model, X, y)
    assert area > 0.8
    turned = scorer("roc_auc", positive="normal")(model, X, y)
    assert turned == pytest.approx(area)
    assert scorer("recall")(model, X, y) == np.mean(model.predict(X)[y == "attack"] == "attack")
    within = scorer("recall_at_fpr", max_fpr=1)(model, X, y)
    assert within == 1.0


def test_fold_without_one_class_has_no_area_and_does_not_fail() -> None:
    X, y = rows()
    assert math.isnan(scorer("roc_auc")(FITTED, X[y == 1], y[y == 1]))


def test_estimator_without_classes_is_read_from_the_labels() -> None:
    class Rule:
        def predict(self, X):
            return (X[:, 0] > 0.4).astype(int)

    X, y = rows()
    assert scorer("accuracy")(Rule(), X, y) == np.mean((X[:, 0] > 0.4) == y)


# -- in model selection ----------------------------------------------------------------------------


@pytest.mark.parametrize("n_jobs", [None, pytest.param(2, marks=pytest.mark.slow)])
def test_cross_validation_calls_it(n_jobs: int | None) -> None:
    X, y = named("normal", "attack")
    ours = cross_val_score(
        LogisticRegression(), X, y, scoring=scorer("roc_auc"), cv=3, n_jobs=n_jobs
    )
    theirs = cross_val_score(LogisticRegression(), *rows(), scoring="roc_auc", cv=3)
    np.testing.assert_allclose(ours, theirs, rtol=1e-6)


def test_grid_search_maximises_it() -> None:
    X, y = rows()
    search = GridSearchCV(
        RandomForestClassifier(n_estimators=5, random_state=0),
        {"max_depth": [1, 4]},
        scoring=scorer("recall_at_far", max_far=0.2),
        cv=3,
    ).fit(X, y)
    scores = search.cv_results_["mean_test_score"]
    assert search.best_score_ == scores.max()
    assert ((scores >= 0) & (scores <= 1)).all()


def test_grid_search_minimises_a_loss() -> None:
    X, y = rows()
    search = GridSearchCV(
        LogisticRegression(), {"C": [1e-6, 1]}, scoring=scorer("log_loss"), cv=3
    ).fit(X, y)
    assert search.best_params_ == {"C": 1}


def test_several_scorers_stand_side_by_side() -> None:
    X, y = rows()
    scoring = {"mcc": scorer("mcc"), "dr": scorer("recall_at_fpr", max_fpr=0.1)}
    scores = cross_validate(LinearSVC(), X, y, scoring=scoring, cv=3)
    assert set(scores) >= {"test_mcc", "test_dr"}
    assert np.isfinite(scores["test_dr"]).all()


def test_plus_and_minus_one_in_cross_validation() -> None:
    X, y = named(-1, 1)
    ours = cross_val_score(RidgeClassifier(), X, y, scoring=scorer("f1", positive=1), cv=3)
    theirs = cross_val_score(RidgeClassifier(), *rows(), scoring="f1", cv=3)
    np.testing.assert_allclose(ours, theirs)


def test_scorer_pickles_and_is_a_value() -> None:
    one = scorer("recall_at_far", max_far=0.1, positive="attack")
    assert pickle.loads(pickle.dumps(one)) == one
    assert one != scorer("recall_at_far", max_far=0.2, positive="attack")


@pytest.mark.slow
def test_searches_take_several_scorers_and_halve() -> None:
    from sklearn.experimental import enable_halving_search_cv  # noqa: F401
    from sklearn.model_selection import HalvingGridSearchCV

    X, y = rows()
    scoring = {"auc": scorer("roc_auc"), "far": scorer("recall_at_far", max_far=0.2)}
    grid = {"C": [0.01, 1]}
    search = GridSearchCV(LogisticRegression(), grid, scoring=scoring, refit="far", cv=3).fit(X, y)
    assert {"mean_test_auc", "mean_test_far"} <= set(search.cv_results_)
    halving = HalvingGridSearchCV(
        LogisticRegression(), grid, scoring=scorer("roc_auc"), cv=3, random_state=0
    ).fit(X, y)
    assert 0.5 < halving.best_score_ <= 1


def test_scorer_of_a_search_is_cloned_with_it() -> None:
    one = scorer("f1", pos_label=1)
    copied = clone(GridSearchCV(LogisticRegression(), {"C": [1]}, scoring=one)).scoring
    assert copied == one
    assert hash(copied) == hash(one)


def test_weights_are_routed_where_they_are_asked_for() -> None:
    X, y = rows()
    weights = np.linspace(0.1, 3, len(y))
    with config_context(enable_metadata_routing=True):
        model = LogisticRegression().set_fit_request(sample_weight=False)
        options = {"params": {"sample_weight": weights}, "cv": 3}
        asked = scorer("roc_auc").set_score_request(sample_weight=True)
        ours = cross_validate(model, X, y, scoring=asked, **options)["test_score"]
        theirs = make_scorer(roc_auc_score, response_method="predict_proba")
        theirs = theirs.set_score_request(sample_weight=True)
        expected = cross_validate(model, X, y, scoring=theirs, **options)["test_score"]
        np.testing.assert_allclose(ours, expected)
        plain = cross_validate(model, X, y, scoring=scorer("roc_auc"), cv=3)["test_score"]
        assert not np.allclose(plain, ours)
        with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
            cross_validate(model, X, y, scoring=scorer("roc_auc"), **options)


def test_detectors_are_ranked_the_right_way_round() -> None:
    X, y = rows()
    model = IsolationForest(n_estimators=10, random_state=0).fit(X[y == 0])
    area = roc_auc_score(y, -model.score_samples(X))
    assert scorer("roc_auc")(model, X, y) == pytest.approx(area)
    assert scorer("recall")(model, X, y) == np.mean(model.predict(X[y == 1]) == -1)


def test_probabilities_are_asked_for_once() -> None:
    asked = []

    class Counted(LogisticRegression):
        def predict_proba(self, X):
            asked.append("predict_proba")
            return super().predict_proba(X)

        def predict(self, X):
            asked.append("predict")
            return super().predict(X)

    model = Counted().fit(*rows())
    scorer("roc_auc")(model, *rows())
    scorer("f1")(model, *rows())
    assert asked == ["predict_proba", "predict"]


def test_measures_are_functions_for_make_scorer() -> None:
    X, y = rows()
    for name, options in (("f1", {}), ("roc_auc", {"response_method": "predict_proba"})):
        ours = make_scorer(getattr(assay, name), **options)(FITTED, X, y)
        assert ours == pytest.approx(get_scorer(name)(FITTED, X, y))


def test_positive_by_two_names_must_be_one() -> None:
    assert scorer("f1", pos_label="attack") == scorer("f1", positive="attack")
    with pytest.raises(InputError, match="two names for one thing"):
        scorer("f1", positive=1, pos_label=0)


# -- what is refused -------------------------------------------------------------------------------


def test_unknown_measure_is_refused_at_once() -> None:
    with pytest.raises(UnknownMeasure, match="did you mean"):
        scorer("precison")


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("recall_at_far", {}, "takes max_far; found none"),
        ("recall_at_far", {"max_fpr": 0.1}, "takes max_far; found max_fpr"),
        ("f1", {"beta": 2}, "takes no options; found beta"),
        ("recall_at_far", {"max_far": 2}, "a share between 0 and 1; found 2"),
        ("recall_at_fpr", {"max_fpr": -0.1}, "a share between 0 and 1; found -0.1"),
        ("recall_at_fpr", {"max_fpr": math.nan}, "a share between 0 and 1; found nan"),
    ],
)
def test_options_are_checked_at_once(name: str, options, message: str) -> None:
    with pytest.raises(InputError, match=message):
        scorer(name, **options)


def test_estimator_that_only_decides_cannot_be_ranked() -> None:
    class Rule:
        classes_ = (0, 1)

        def predict(self, X):
            return np.zeros(len(X), int)

    with pytest.raises(InputError, match="roc_auc needs scores, which Rule does not give"):
        scorer("roc_auc")(Rule(), *rows())


def test_decision_function_of_many_classes_cannot_be_ranked() -> None:
    model = LinearSVC().fit(*rows(3))
    with pytest.raises(InputError, match="LinearSVC does not give for these classes"):
        scorer("roc_auc.macro")(model, *rows(3))


def test_suffix_that_is_no_average_and_no_label_is_refused() -> None:
    with pytest.raises(InputError, match="'spam' is no average and none of the labels"):
        scorer("f1.spam")(FITTED, *rows())


def test_recall_within_a_limit_needs_one_positive() -> None:
    model = LogisticRegression().fit(*rows(3))
    with pytest.raises(InputError, match="needs scores of one positive label"):
        scorer("recall_at_far", max_far=0.1)(model, *rows(3))


@pytest.mark.parametrize("name", ["log_loss", "brier", "ece"])
def test_loss_of_a_decision_function_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="needs probabilities, which LinearSVC does not give"):
        scorer(name)(SVC, *rows())
