"""A fitted model with rows and labels becomes columns."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import IsolationForest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.svm import LinearSVC

import assay
from assay import errors

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 2))
Y = np.where(X[:, 0] > 0, "attack", "normal")


def read(*source):
    rows = assay.rows(*source)
    (frame,) = rows.batches()
    return frame, rows


def test_probabilities_have_the_names_of_classes() -> None:
    model = LogisticRegression().fit(X, Y)
    frame, _ = read(model, X, Y)
    assert frame.columns == ["label", "probability:attack", "probability:normal"]
    assert np.array_equal(frame["probability:attack"], model.predict_proba(X)[:, 0])


def test_scores_say_of_which_class_they_are() -> None:
    frame, rows = read(LinearSVC().fit(X, Y), X, Y)
    assert frame.columns == ["label", "score"]
    assert rows.notes == ("Scores of LinearSVC are those of its class 'normal'",)


def test_outliers_have_high_scores() -> None:
    model = IsolationForest(random_state=0, n_estimators=10).fit(X)
    frame, _ = read(model, X, Y)
    assert np.array_equal(frame["score"], -model.decision_function(X))


def test_functions_and_models_that_only_predict() -> None:
    frame, _ = read(lambda rows: rows[:, 0], X, Y)
    assert np.array_equal(frame["score"], X[:, 0])

    class Rule:
        def predict(self, rows):
            return Y

    frame, rows = read(Rule(), X, Y)
    assert frame["decision"].to_list() == Y.tolist()
    assert "it ranks no rows" in rows.notes[0]


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ((LogisticRegression(), X, Y), "LogisticRegression is not fitted"),
        ((LogisticRegression, X, Y), "the class LogisticRegression itself"),
        ((LinearRegression().fit(X, X[:, 0]), X, Y), "is a regressor, which predicts numbers"),
        ((LogisticRegression().fit(X, Y), X, Y[:9]), "says something of 60 rows, and y has 9"),
        ((LogisticRegression().fit(X, Y), X, np.arange(60)), "which LogisticRegression did not"),
        ((LogisticRegression().fit(X, Y), X), r"followed by X and y"),
    ],
)
def test_models_that_can_not_be_asked_are_refused(source, says) -> None:
    with pytest.raises(errors.InputError, match=says):
        assay.rows(*source)
