"""Models that are fitted on folds, and judge the rows that they did not learn from."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
    cross_val_predict,
)
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from assay import evaluate_model
from assay.errors import InputError, LabelError, LengthMismatch
from assay.evaluation.evaluate_model import folds_of, rows_of

GENERATOR = np.random.default_rng(0)
Y = GENERATOR.integers(0, 2, 120)
X = GENERATOR.normal(0, 1, (120, 3)) + 0.8 * Y[:, None]


# -- beside scikit-learn ---------------------------------------------------------------------------


@pytest.mark.parametrize("model", [LogisticRegression(), LinearSVC()], ids=["proba", "decision"])
@pytest.mark.parametrize("cv", [5, KFold(3, shuffle=True, random_state=0)], ids=["5", "splitter"])
def test_scores_are_those_of_cross_val_predict(model, cv) -> None:
    method = "predict_proba" if hasattr(model, "predict_proba") else "decision_function"
    theirs = cross_val_predict(model, X, Y, cv=cv, method=method)
    theirs = theirs[:, 1] if theirs.ndim == 2 else theirs
    evaluation = evaluate_model(model, X, Y, cv=cv)
    assert evaluation["roc_auc"].value == pytest.approx(roc_auc_score(Y, theirs))
    decided = cross_val_predict(model, X, Y, cv=cv)
    assert evaluation["accuracy"].value == np.mean(decided == Y)


def test_three_classes() -> None:
    y = np.array(list("abc"))[np.arange(120) % 3]
    theirs = cross_val_predict(LogisticRegression(), X, y, cv=4, method="predict_proba")
    area = roc_auc_score(y, theirs, multi_class="ovr")
    evaluation = evaluate_model(LogisticRegression(), X, y, cv=4)
    assert evaluation["roc_auc.macro"].value == pytest.approx(area)


def test_model_is_cloned_and_left_as_it_was() -> None:
    model = LogisticRegression(C=0.1)
    evaluate_model(model, X, Y, cv=3)
    assert not hasattr(model, "classes_")
    fitted = LogisticRegression().fit(X[:50], Y[:50])
    before = fitted.coef_.copy()
    evaluate_model(fitted, X, Y, cv=3)
    np.testing.assert_array_equal(fitted.coef_, before)


# -- folds show ------------------------------------------------------------------------------------


def test_fold_is_a_slice() -> None:
    evaluation = evaluate_model(
        LogisticRegression(), X, Y, cv=4, slices={"half": np.arange(120) < 60}
    )
    decided = cross_val_predict(LogisticRegression(), X, Y, cv=4)
    folds = [test for _, test in StratifiedKFold(4).split(X, Y)]
    for number, test in enumerate(folds, 1):
        part = evaluation.of_slice("fold", str(number))
        assert part["accuracy"].value == np.mean(decided[test] == Y[test])
    first = evaluation.of_slice("half", "true")["accuracy"]
    assert first.value == np.mean(decided[:60] == Y[:60])
    assert evaluation.notes[0].startswith("4 stratified folds in the order of the rows")


def test_slice_that_is_called_fold_is_refused() -> None:
    with pytest.raises(InputError, match="may not be called 'fold'"):
        evaluate_model(LogisticRegression(), X, Y, cv=3, slices={"fold": Y})


def test_rows_judged_several_times_are_clusters() -> None:
    cv = RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0)
    evaluation = evaluate_model(LogisticRegression(), X, Y, cv=cv)
    assert evaluation["accuracy"].method == "cluster delta"
    assert ("fold", "2.3") in evaluation.slices
    assert any("120 rows were judged 240 times" in note for note in evaluation.notes)


@pytest.mark.parametrize(
    ("cv", "left"), [(TimeSeriesSplit(3), 30), (ShuffleSplit(1, test_size=0.25), 90)]
)
def test_rows_that_no_fold_judges_are_told_of(cv, left: int) -> None:
    evaluation = evaluate_model(LogisticRegression(), X, Y, cv=cv)
    assert any(f"{left} rows of 120 are in no test part" in note for note in evaluation.notes)
    assert evaluation.source["rows_read"] == 120 - left


# -- groups, and what is handed to fit -------------------------------------------------------------


def test_groups_stay_together_and_are_clusters() -> None:
    host = np.arange(120) // 6
    evaluation = evaluate_model(LogisticRegression(), X, Y, cv=4, groups=host)
    assert evaluation["accuracy"].method == "cluster delta"
    assert "keep groups together" in evaluation.notes[0]
    theirs = cross_val_predict(LogisticRegression(), X, Y, cv=GroupKFold(4), groups=host)
    ours = evaluate_model(LogisticRegression(), X, Y, cv=GroupKFold(4), groups=host)
    assert ours["accuracy"].value == np.mean(theirs == Y)
    folds = folds_of(4, X, Y, host)
    for fold in folds.every:
        assert not set(host[fold.train]) & set(host[fold.test])


def test_splitter_that_tears_groups_apart_is_refused() -> None:
    host = np.arange(120) // 6
    with pytest.raises(InputError, match=r"split 2 of cv= has rows of group .* on both sides"):
        evaluate_model(LogisticRegression(), X, Y, cv=KFold(7), groups=host)
    evaluation = evaluate_model(LogisticRegression(), X, Y, cv=KFold(7), clusters=host)
    assert evaluation["accuracy"].method == "cluster delta"


def test_weights_are_handed_to_fit_row_by_row() -> None:
    weights = np.where(Y == 1, 20.0, 1.0)
    evaluation = evaluate_model(
        LogisticRegression(), X, Y, cv=3, fit_params={"sample_weight": weights}
    )
    plain = evaluate_model(LogisticRegression(), X, Y, cv=3)
    assert evaluation["recall"].value > plain["recall"].value
    model = LogisticRegression().fit(X, Y)
    with pytest.raises(InputError, match="fit_params= are for fits on folds"):
        evaluate_model(model, X, Y, fit_params={"sample_weight": weights})


def test_class_that_a_fold_did_not_learn_has_no_probability() -> None:
    y = np.array(["a", "b"] * 20 + ["c"] * 5 + ["a"] * 15)
    train, test = np.arange(40), np.arange(40, 60)
    evaluation = evaluate_model(
        DecisionTreeClassifier(), X[:60], y, cv=[(train, test), (test, train)]
    )
    assert evaluation["recall.c"].value == 0
    assert any("not every fit learned 'b' and 'c'" in note for note in evaluation.notes)


def test_split_without_rows_to_judge_is_refused() -> None:
    y = np.array(["a", "b", "c"] * 20)
    splits = [(np.flatnonzero(y != "c"), np.flatnonzero(y == "a")[:0])]
    with pytest.raises(InputError, match="no rows to learn from, or none to judge"):
        evaluate_model(DecisionTreeClassifier(), X[:60], y, cv=splits)


def test_fits_that_know_unlike_classes_are_put_together() -> None:
    y = np.array(["a", "b", "c"] * 20)
    first, second = np.flatnonzero(y != "c"), np.flatnonzero(y != "b")
    splits = [(first[:20], first[20:]), (second[:20], second[20:])]
    evaluation = evaluate_model(LogisticRegression(), X[:60], y, cv=splits)
    assert evaluation.labels == ("a", "b", "c")


def test_classes_are_learned_by_their_numbers() -> None:
    class Coded(LogisticRegression):
        def fit(self, X, y):
            assert set(y) == {0, 1}
            return super().fit(X, y)

    names = np.where(Y == 1, "attack", "normal")
    evaluation = evaluate_model(Coded(), X, names, cv=3, classes=["normal", "attack"])
    plain = evaluate_model(LogisticRegression(), X, Y, cv=3)
    assert evaluation["roc_auc"].value == plain["roc_auc"].value
    assert evaluation["accuracy"].value == plain["accuracy"].value
    with pytest.raises(LabelError, match="y holds 'normal', which classes= does not list"):
        evaluate_model(Coded(), X, names, cv=3, classes=["attack", "other"])


# -- splits ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cv", "message"),
    [
        (1, "2 or more"),
        (True, "2 or more"),
        ("five", "a number of folds, a splitter"),
        (3.0, "a number of folds, a splitter"),
        ([], "no splits"),
        (
            [(range(120), range(5))],
            "learns from 5 rows that it judges, such as row 1",
        ),
        ([(range(60), range(100, 200))], "split 1 of cv= is no pair of positions"),
        ([(range(60),)], "split 1 of cv= is no pair"),
        ([(np.ones(5, bool), np.zeros(5, bool))], "a mask of 5 rows, and there are 120"),
    ],
)
def test_splits_that_can_not_be_are_refused(cv, message: str) -> None:
    with pytest.raises(InputError, match=message):
        evaluate_model(LogisticRegression(), X, Y, cv=cv)


def test_masks_are_splits_too() -> None:
    test = np.arange(120) % 4 == 0
    ours = evaluate_model(LogisticRegression(), X, Y, cv=[(~test, test)])
    model = LogisticRegression().fit(X[~test], Y[~test])
    assert ours["accuracy"].value == model.score(X[test], Y[test])


@given(st.integers(2, 6), st.integers(1, 3), st.integers(0, 9))
def test_every_row_is_judged_once_a_repeat(splits: int, repeats: int, seed: int) -> None:
    cv = RepeatedStratifiedKFold(n_splits=splits, n_repeats=repeats, random_state=seed)
    folds = folds_of(cv, X, Y, None)
    counts = np.bincount(folds.judged, minlength=120)
    assert (counts == repeats).all()
    names = [(fold.repeat, fold.fold) for fold in folds.every]
    assert names == [(r + 1, k + 1) for r in range(repeats) for k in range(splits)]


def test_model_without_fit_is_refused() -> None:
    with pytest.raises(InputError, match="has no fit and get_params"):
        evaluate_model(lambda rows: rows[:, 0], X, Y, cv=3)


# -- rows of all kinds -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "table",
    [
        X,
        X.tolist(),
        pd.DataFrame(X),
        pl.DataFrame(X),
        sparse.coo_matrix(X),
        {"a": X[:, 0], "b": X[:, 1]},
    ],
    ids=["array", "list", "pandas", "polars", "sparse", "mapping"],
)
def test_rows_are_taken_out_of_anything(table) -> None:
    at = np.array([5, 0, 7])
    rows = rows_of(table, at)
    if isinstance(rows, dict):
        rows = np.column_stack([*rows.values(), X[at, 2]])
    dense = rows.toarray() if hasattr(rows, "toarray") else np.asarray(rows)
    np.testing.assert_array_equal(dense, X[at])


def test_rows_can_not_be_taken_out_of_a_number() -> None:
    with pytest.raises(InputError, match="rows can't be taken out of a int"):
        rows_of(3, np.array([0]))


# -- labels and folds that are not as usual --------------------------------------------------------


@pytest.mark.parametrize("kind", [bool, int], ids=["booleans", "numbers"])
def test_labels_in_a_column_of_objects_are_learned(kind) -> None:
    objects = pd.Series([kind(value) for value in Y], dtype=object)
    evaluation = evaluate_model(LogisticRegression(), X, objects, cv=4)
    assert (
        evaluation["roc_auc"].value == evaluate_model(LogisticRegression(), X, Y, cv=4)["roc_auc"]
    )


CLASSES = np.repeat(["a", "b", "c"], 40)


def unlike(first: str, second: str):
    """Two splits that judge all rows of one label each, which their fit did not learn."""
    judged = [np.isin(CLASSES, label) for label in (first, second)]
    return [(np.flatnonzero(~test), np.flatnonzero(test)) for test in judged]


@pytest.mark.parametrize("positive", [None, "b"])
@pytest.mark.parametrize("cv", [KFold(3), unlike("c", "a")], ids=["shapes", "columns"])
def test_scores_of_fits_that_learned_unlike_labels_are_not_ranked(cv, positive) -> None:
    evaluation = evaluate_model(LinearSVC(), X, CLASSES, cv=cv, positive=positive)
    assert (
        "fits that learned unlike labels have scores that can't be ranked together"
        in evaluation.notes
    )
    assert evaluation.tally.scores is None
    splits = cv if isinstance(cv, list) else cv.split(X)
    said = [
        (CLASSES[test], LinearSVC().fit(X[train], CLASSES[train]).predict(X[test]))
        for train, test in splits
    ]
    truth, decided = (np.concatenate(column) for column in zip(*said, strict=True))
    right = truth == decided if positive is None else (truth == "b") == (decided == "b")
    assert evaluation["accuracy"].value == right.mean()


@pytest.mark.parametrize(
    ("cv", "message"),
    [
        (500, r"cv= can't divide 120 rows: .*n_splits=500"),
        (GroupKFold(3), r"should not be None. Say groups=, the group of each row"),
        (
            [(np.arange(60), [70, 71, 70])],
            "split 1 of cv= judges 1 row more than once, such as row 71",
        ),
    ],
    ids=["too many", "no groups", "twice"],
)
def test_rows_that_can_not_be_divided_are_refused(cv, message: str) -> None:
    with pytest.raises(InputError, match=message):
        evaluate_model(LogisticRegression(), X, Y, cv=cv)


@pytest.mark.parametrize(
    "given",
    [
        {"sample_weight": np.ones(150)},
        {"slices": {"host": ["a"] * 150}},
        {"clusters": [1]},
        {"groups": [1] * 150},
    ],
)
def test_columns_of_another_length_are_refused(given) -> None:
    with pytest.raises(LengthMismatch, match=r"has (150 rows|1 row) and y_true has 120"):
        evaluate_model(LogisticRegression(), X, Y, cv=KFold(3), **given)


def test_slices_may_be_a_frame() -> None:
    hosts = pd.DataFrame({"host": np.arange(120) % 2})
    evaluation = evaluate_model(LogisticRegression(), X, Y, cv=3, slices=hosts)
    assert evaluation.of_slice("host", "1")["accuracy"].n == 60
    with pytest.raises(InputError, match="slices are a mapping"):
        evaluate_model(LogisticRegression(), X, Y, cv=3, slices=["a"] * 120)
