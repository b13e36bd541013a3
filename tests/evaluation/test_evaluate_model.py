"""A model at hand, with rows and labels: scikit-learn's estimators, and whatever acts like them."""

from functools import cache

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.cluster import KMeans
from sklearn.compose import make_column_transformer
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import IsolationForest, RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.metrics import accuracy_score, average_precision_score, log_loss, roc_auc_score
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV
from sklearn.multioutput import MultiOutputClassifier
from sklearn.neighbors import KernelDensity, LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, LinearSVC, OneClassSVM

from assay import evaluate, evaluate_model
from assay.errors import InputError, LabelError, LengthMismatch, ScoreError


@cache
def rows(classes: int = 2, size: int = 120) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(classes)
    y = generator.integers(0, classes, size)
    return generator.normal(0, 1, (size, 3)) + 0.8 * y[:, None], y


def named(*names: object) -> tuple[np.ndarray, np.ndarray]:
    X, y = rows(len(names))
    return X, np.array(names)[y]


HALF = slice(None, None, 2), slice(1, None, 2)


def fitted(model, X, y):
    return model.fit(X[HALF[0]], y[HALF[0]]), X[HALF[1]], y[HALF[1]]


# -- beside scikit-learn ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(),
        LinearSVC(),
        RidgeClassifier(),
        RandomForestClassifier(5, random_state=0),
        make_pipeline(StandardScaler(), SVC()),
        GridSearchCV(LogisticRegression(), {"C": [0.1, 1]}, cv=2),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.parametrize("names", [(0, 1), ("attack", "normal"), (False, True)], ids=str)
def test_measures_are_those_of_what_the_model_says(model, names) -> None:
    model, X, y = fitted(model, *named(*names))
    evaluation = evaluate_model(model, X, y)
    positive = {"attack": "attack"}.get(names[0], names[1])
    column = list(model.classes_).index(positive)
    if hasattr(model, "predict_proba"):
        scores = model.predict_proba(X)[:, column]
    else:
        scores = model.decision_function(X) * (1 if column else -1)
    assert evaluation["accuracy"].value == pytest.approx(accuracy_score(y, model.predict(X)))
    assert evaluation["roc_auc"].value == pytest.approx(roc_auc_score(y == positive, scores))
    ours, theirs = (
        evaluation["average_precision"].value,
        average_precision_score(y == positive, scores),
    )
    assert ours == pytest.approx(theirs)


def test_probabilities_of_three_classes_follow_classes_() -> None:
    model, X, y = fitted(LogisticRegression(), *named("c", "a", "b"))
    evaluation, said = evaluate_model(model, X, y), model.predict_proba(X)
    assert evaluation["accuracy"].value == model.score(X, y)
    assert evaluation["log_loss"].value == pytest.approx(log_loss(y, said))
    area = roc_auc_score(y, said, multi_class="ovr")
    assert evaluation["roc_auc.macro"].value == pytest.approx(area)


@given(st.permutations(["attack", "beacon", "normal"]), st.integers(0, 2**32 - 1))
def test_order_of_classes_does_not_matter(order: list[str], seed: int) -> None:
    generator = np.random.default_rng(seed)
    table = generator.dirichlet(np.ones(3), 20)
    names = np.array(["attack", "beacon", "normal"])
    y = names[np.r_[0:3, generator.integers(0, 3, 17)]]

    class Given:
        classes_ = np.array(order)

        def predict_proba(self, X):
            return table[:, [names.tolist().index(label) for label in order]]

    evaluation, other = evaluate_model(Given(), np.zeros((20, 1)), y), evaluate(y, table)
    for name in ("accuracy", "recall.beacon", "roc_auc.macro", "log_loss"):
        assert repr(evaluation[name]) == repr(other[name])


def test_one_positive_of_three_classes() -> None:
    model, X, y = fitted(LogisticRegression(), *named("c", "a", "b"))
    evaluation = evaluate_model(model, X, y, positive="b")
    score = model.predict_proba(X)[:, list(model.classes_).index("b")]
    assert evaluation["roc_auc"].value == pytest.approx(roc_auc_score(y == "b", score))
    against = evaluate_model(model, X, y, negative="a")
    harmless = model.predict_proba(X)[:, list(model.classes_).index("a")]
    assert against["roc_auc"].value == pytest.approx(roc_auc_score(y != "a", -harmless))


def test_decision_function_of_three_classes_ranks_the_one_that_is_positive() -> None:
    model, X, y = fitted(LinearSVC(), *rows(3))
    assert "only the decisions" in evaluate_model(model, X, y).notes[0]
    evaluation = evaluate_model(model, X, y, positive=2)
    area = roc_auc_score(y == 2, model.decision_function(X)[:, 2])
    assert evaluation["roc_auc"].value == pytest.approx(area)


def test_columns_of_one_class_against_another_are_no_scores() -> None:
    model, X, y = fitted(SVC(decision_function_shape="ovo"), *rows(3))
    assert evaluate_model(model, X, y, positive=2).tally.scores is None


def test_decisions_are_those_of_predict_and_it_is_said_where_they_differ() -> None:
    model = FixedThresholdClassifier(LogisticRegression(), threshold=0.2)
    model, X, y = fitted(model, *rows())
    evaluation = evaluate_model(model, X, y)
    assert evaluation["accuracy"].value == model.score(X, y)
    differ = int(((model.predict_proba(X)[:, 1] >= 0.5) != model.predict(X)).sum())
    assert differ > 0
    assert any(f"otherwise than the threshold 0.5 on {differ} rows" in n for n in evaluation.notes)
    at_half = evaluate_model(model, X, y, threshold=0.5)
    assert at_half["accuracy"].value == np.mean((model.predict_proba(X)[:, 1] >= 0.5) == y)


def test_the_method_to_ask_can_be_said() -> None:
    model, X, y = fitted(LogisticRegression(), *rows())
    assert evaluate_model(model, X, y, response_method="predict").tally.scores is None
    by_value = evaluate_model(model, X, y, response_method="decision_function")
    assert by_value.tally.kind == "score"
    assert by_value.tally.threshold == 0
    with pytest.raises(InputError, match="response_method= is one of predict_proba"):
        evaluate_model(model, X, y, response_method="proba")
    with pytest.raises(InputError, match="LinearSVC has no predict_proba; it has decision"):
        evaluate_model(LinearSVC().fit(X, y), X, y, response_method="predict_proba")


def test_model_that_only_decides_is_judged_by_its_decisions() -> None:
    class Rule:
        def predict(self, X):
            return np.where(X[:, 0] > 0.4, "attack", "normal")

    X, y = named("normal", "attack")
    evaluation = evaluate_model(Rule(), X, y)
    assert evaluation["accuracy"].value == np.mean(Rule().predict(X) == y)
    assert "only the decisions of Rule are judged" in evaluation.notes[0]


def test_function_from_rows_to_scores_is_a_model() -> None:
    X, y = named("normal", "attack")
    evaluation = evaluate_model(lambda rows: rows.sum(axis=1), X, y)
    assert evaluation["roc_auc"].value == pytest.approx(roc_auc_score(y == "attack", X.sum(axis=1)))


@pytest.mark.parametrize("names", [(0, 1), ("normal", "attack")], ids=str)
def test_function_may_decide(names) -> None:
    X, y = named(*names)
    decided = np.array(names)[(X[:, 0] > 0.4).astype(int)]
    evaluation = evaluate_model(lambda _: decided, X, y)
    assert evaluation["accuracy"].value == np.mean(decided == y)
    assert evaluation.tally.scores is None


def test_codes_from_a_function_beside_names_are_refused() -> None:
    X, y = named("normal", "attack")
    with pytest.raises(LabelError, match="what <lambda> gives holds 0, 1, and the labels are"):
        evaluate_model(lambda rows: (rows[:, 0] > 0).astype(int), X, y)


def test_predict_that_gives_fractions_is_a_score() -> None:
    class Logit:
        def predict(self, X):
            return 1 / (1 + np.exp(-X.sum(axis=1)))

    X, y = rows()
    evaluation = evaluate_model(Logit(), X, y)
    assert evaluation["roc_auc"].value == pytest.approx(roc_auc_score(y, X.sum(axis=1)))
    with pytest.raises(LabelError, match=r"Say classes=\['normal', 'attack'\]"):
        evaluate_model(Logit(), *named("normal", "attack"))


# -- labels ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind",
    [
        lambda y: pd.Series(y, dtype="category"),
        lambda y: pd.Series(y, dtype="Int64"),
        lambda y: pd.DataFrame({"y": y}),
        lambda y: y.reshape(-1, 1),
        lambda y: y.astype(float),
        lambda y: y.tolist(),
        lambda y: y == 1,
    ],
    ids=["category", "Int64", "frame", "column", "float", "list", "bool"],
)
def test_labels_are_columns_of_any_kind(kind) -> None:
    model, X, y = fitted(LogisticRegression(), *rows())
    assert evaluate_model(model, X, kind(y))["accuracy"].value == model.score(X, y)


def test_missing_label_is_told_of() -> None:
    model, X, y = fitted(LogisticRegression(), *rows())
    with pytest.raises(LabelError, match="y is missing in 1 of 60 rows; the first is row 4"):
        evaluate_model(model, X, [None if i == 3 else label for i, label in enumerate(y)])


def test_classes_name_the_codes_that_a_model_was_fitted_with() -> None:
    X, y = named("normal", "attack")
    model, X, y = fitted(LogisticRegression(), X, (y == "attack").astype(int))
    names = np.where(y == 1, "attack", "normal")
    with pytest.raises(LabelError, match=r"knows the classes '0', '1'.*say classes="):
        evaluate_model(model, X, names)
    evaluation = evaluate_model(model, X, names, classes=["normal", "attack"])
    assert evaluation["roc_auc"].value == evaluate_model(model, X, y)["roc_auc"].value
    assert evaluation["accuracy"].value == model.score(X, y)
    with pytest.raises(InputError, match="classes= names 3 labels"):
        evaluate_model(model, X, names, classes=["a", "b", "c"])
    with pytest.raises(InputError, match="classes= is a list of labels"):
        evaluate_model(model, X, names, classes="ab")


def test_label_that_was_not_learned_is_refused() -> None:
    model, X, y = fitted(LogisticRegression(), *rows())
    with pytest.raises(LabelError, match="labelled '7', which LogisticRegression did not learn"):
        evaluate_model(model, X, np.where(y == 1, 7, y))


def test_rows_of_one_class_alone_are_judged() -> None:
    model, X, y = fitted(LogisticRegression(), *rows())
    evaluation = evaluate_model(model, X[y == 0], y[y == 0])
    assert np.isnan(evaluation["recall"].value)
    assert evaluation["false_positive_rate"].n == (y == 0).sum()


def test_plus_and_minus_one_need_a_positive() -> None:
    model, X, y = fitted(LogisticRegression(), *named(-1, 1))
    with pytest.raises(LabelError, match="both readings are in use"):
        evaluate_model(model, X, y)
    ours = evaluate_model(model, X, y, positive=1)["roc_auc"].value
    assert ours == pytest.approx(roc_auc_score(y, model.predict_proba(X)[:, 1]))


# -- rows of all kinds -----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [pd.DataFrame, sparse.csr_matrix, np.ndarray.tolist])
def test_rows_may_be_frames_sparse_or_lists(kind) -> None:
    model, X, y = fitted(LogisticRegression(), *rows())
    expected = evaluate_model(model, X, y)["log_loss"].value
    other = LogisticRegression().fit(kind(rows()[0][HALF[0]]), rows()[1][HALF[0]])
    assert evaluate_model(other, kind(X), y)["log_loss"].value == pytest.approx(expected)


def test_text_goes_through_a_pipeline() -> None:
    X = ["win money now", "see you at lunch"] * 20
    y = ["spam", "ham"] * 20
    model = make_pipeline(CountVectorizer(), LogisticRegression()).fit(X, y)
    assert evaluate_model(model, X, y)["accuracy"].value == 1
    assert evaluate_model(model, X, y, cv=4)["accuracy"].value == 1


def test_columns_of_a_frame_go_through_a_transformer() -> None:
    X, y = rows()
    frame = pd.DataFrame({"a": X[:, 0], "kind": np.where(X[:, 1] > 0, "tcp", "udp")})
    model = make_pipeline(
        make_column_transformer((OneHotEncoder(), ["kind"]), remainder="passthrough"),
        LogisticRegression(),
    )
    assert evaluate_model(model, frame, pd.Series(y), cv=3)["roc_auc"].value > 0.5
    whole = evaluate_model(model.fit(frame, y), frame, y)
    assert whole["accuracy"].value == model.score(frame, y)


def test_unlike_indexes_of_rows_and_labels_are_refused() -> None:
    model, X, y = fitted(LogisticRegression(), *rows())
    frame = pd.DataFrame(X, index=np.arange(len(X)) + 100)
    with pytest.raises(InputError, match="indexes of X and y differ: row 1 is 100 in X and 0 in y"):
        evaluate_model(model, frame, pd.Series(y))
    assert evaluate_model(model, frame, y)["accuracy"].value == model.score(X, y)


def test_polars_columns_are_labels() -> None:
    model, X, y = fitted(LogisticRegression(), *rows())
    assert evaluate_model(model, X, pl.Series(y))["accuracy"].value == model.score(X, y)


def test_options_of_an_evaluation_are_taken() -> None:
    model, X, y = fitted(LogisticRegression(), *rows())
    host = np.arange(len(y)) % 4
    evaluation = evaluate_model(
        model, X, y, slices={"host": host}, base_rate=0.01, level=0.9, sample_weight=y + 1.0
    )
    score = model.predict_proba(X)[:, 1]
    other = evaluate(
        *(y, score), slices={"host": host}, base_rate=0.01, level=0.9, sample_weight=y + 1.0
    )
    assert evaluation.to_dict()["estimates"] == other.to_dict()["estimates"]
    assert evaluation.source["name"] == "LogisticRegression"
    clustered = evaluate_model(model, X, y, groups=host)
    assert clustered["accuracy"].method == "cluster delta"


# -- detectors -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "model",
    [
        IsolationForest(n_estimators=10, random_state=0),
        OneClassSVM(),
        LocalOutlierFactor(5, novelty=True),
    ],
    ids=lambda model: type(model).__name__,
)
def test_detectors_are_turned_so_that_high_is_suspicious(model) -> None:
    X, y = rows()
    model.fit(X[y == 0])
    evaluation = evaluate_model(model, X, y)
    assert evaluation["roc_auc"].value == pytest.approx(roc_auc_score(y, -model.score_samples(X)))
    assert evaluation["recall"].value == np.mean(model.predict(X[y == 1]) == -1)
    assert any(
        "is low for unusual rows, so it was turned over" in note for note in evaluation.notes
    )
    signs = np.where(y == 1, -1, 1)
    assert evaluate_model(model, X, signs, positive=-1)["recall"] == evaluation["recall"]
    assert evaluate_model(model, X, y, response_method="score_samples")["roc_auc"].value == (
        pytest.approx(evaluation["roc_auc"].value)
    )


@pytest.mark.parametrize("model", [GaussianMixture(2, random_state=0), KernelDensity()])
def test_densities_are_low_for_unusual_rows(model) -> None:
    X, y = rows()
    model.fit(X[y == 0])
    evaluation = evaluate_model(model, X, y)
    assert evaluation["roc_auc"].value == pytest.approx(roc_auc_score(y, -model.score_samples(X)))
    assert not evaluation.decided


def test_detector_of_several_labels_needs_a_side() -> None:
    X, y = rows(3)
    model = IsolationForest(n_estimators=5, random_state=0).fit(X)
    with pytest.raises(InputError, match="say positive= or negative="):
        evaluate_model(model, X, y)
    assert evaluate_model(model, X, y, negative=0).positive == "not 0"


def test_outlier_factor_without_novelty_says_what_to_do() -> None:
    X, y = rows()
    with pytest.raises(InputError, match="novelty=True"):
        evaluate_model(LocalOutlierFactor().fit(X), X, y)


# -- what is refused -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (LinearRegression(), "LinearRegression is a regressor, which predicts numbers"),
        (make_pipeline(StandardScaler(), LinearRegression()), "is a regressor"),
        (KMeans(2), "KMeans is a clusterer"),
        (StandardScaler(), "has none of predict_proba, decision_function"),
    ],
)
def test_estimators_that_say_nothing_of_labels_are_refused(model, message: str) -> None:
    X, y = rows()
    with pytest.raises(InputError, match=message):
        evaluate_model(model.fit(X, y), X, y)


@pytest.mark.parametrize(
    "model", [LogisticRegression(), make_pipeline(StandardScaler(), LinearSVC()), SVC()]
)
def test_model_that_was_not_fitted_is_told_so(model) -> None:
    with pytest.raises(InputError, match=r"is not fitted: fit it on other rows first, or say cv=5"):
        evaluate_model(model, *rows())


def test_errors_of_the_model_itself_are_left_as_they_are() -> None:
    model, X, y = fitted(LogisticRegression(), *rows())
    with pytest.raises(ValueError, match="features"):
        evaluate_model(model, X[:, :2], y)


def test_class_in_place_of_a_model_is_refused() -> None:
    with pytest.raises(InputError, match="is the class LogisticRegression itself"):
        evaluate_model(LogisticRegression, *rows())


def test_labels_of_several_columns_are_refused() -> None:
    model, X, y = fitted(LogisticRegression(), *rows())
    with pytest.raises(InputError, match=r"y has 2 columns.*argmax"):
        evaluate_model(model, X, np.eye(2)[y])
    both = MultiOutputClassifier(LogisticRegression()).fit(X, np.column_stack([y, y]))
    with pytest.raises(InputError, match="gives 2 tables of probabilities"):
        evaluate_model(both, X, y)


def test_unlike_lengths_are_refused() -> None:
    model, X, y = fitted(LogisticRegression(), *rows())
    with pytest.raises(LengthMismatch, match="X has 60 rows and y has 5 rows"):
        evaluate_model(model, X, y[:5])
    with pytest.raises(LengthMismatch, match="says something of 3 rows"):
        evaluate_model(lambda _: [0.5, 0.2, 0.1], X, y)


def test_columns_that_are_no_probabilities_are_refused() -> None:
    class Odd(ClassifierMixin, BaseEstimator):
        classes_ = (0, 1)

        def predict_proba(self, X):
            return np.tile([2.0, -3.0], (len(X), 1))

    with pytest.raises(ScoreError, match=r"rows do not sum to 1.*logits=True"):
        evaluate_model(Odd(), *rows())
    evaluation = evaluate_model(Odd(), *rows(), logits=True)
    assert evaluation["log_loss"].value > 0
    model, X, y = fitted(LogisticRegression(), *rows())
    with pytest.raises(InputError, match="sum to 1, so they are probabilities: leave logits"):
        evaluate_model(model, X, y, logits=True)
    raw = evaluate_model(model, X, y, logits=True, response_method="decision_function")
    assert raw["log_loss"].value == pytest.approx(log_loss(y, model.predict_proba(X)))
    assert raw["accuracy"].value == model.score(X, y)


def test_threshold_is_of_two_classes() -> None:
    model, X, y = fitted(LogisticRegression(), *rows(3))
    with pytest.raises(ScoreError, match="threshold= decides on one positive label"):
        evaluate_model(model, X, y, threshold=0.3)


def test_classifier_of_one_class_says_it_of_every_row() -> None:
    X, y = rows()
    model = DummyClassifier().fit(X, np.zeros(len(y), int))
    evaluation = evaluate_model(model, X, np.zeros(len(y), int), classes=[0])
    assert evaluation["accuracy"].value == 1
