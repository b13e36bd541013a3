"""Scores into probabilities."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.calibration import _SigmoidCalibration
from sklearn.svm import LinearSVC

from assay.learn.calibration import Calibrated, inner_folds, platt, sigmoid


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1), st.integers(10, 200), st.floats(0.01, 100))
def test_the_sigmoid_is_that_of_scikit_learn(seed: int, rows: int, scale: float) -> None:
    generator = np.random.default_rng(seed)
    truth = generator.random(rows) < 0.4
    truth[:2] = [True, False]
    scores = scale * (generator.normal(size=rows) + 1.5 * truth)
    slope, intercept = platt(scores, truth)
    peer = _SigmoidCalibration().fit(scores, truth.astype(float)).predict(scores)
    if slope > 0:
        assert sigmoid(slope * scores + intercept) == pytest.approx(peer, abs=2e-4)


def test_classes_that_do_not_overlap_give_finite_slopes() -> None:
    slope, intercept = platt(np.array([0.0, 1.0, 2.0, 3.0]), np.array([0, 0, 1, 1], bool))
    assert 0 < slope < 100
    assert np.isfinite(intercept)


@pytest.mark.parametrize("scores", [[1.0, 1.0, 1.0, 1.0], [3.0, 2.0, 1.0, 0.0]])
def test_scores_that_tell_nothing_or_the_reverse_give_the_share(scores: list[float]) -> None:
    slope, intercept = platt(np.array(scores), np.array([0, 0, 0, 1], bool))
    assert slope == 0
    assert sigmoid(np.array([intercept]))[0] == pytest.approx(1 / 3)


def test_the_sigmoid_does_not_overflow() -> None:
    assert sigmoid(np.array([-1e4, 0.0, 1e4])).tolist() == [0.0, 0.5, 1.0]


@given(st.lists(st.integers(0, 3), min_size=4, max_size=60), st.integers(2, 6), st.integers(0, 99))
def test_inner_folds_judge_each_row_once_and_keep_every_class_learned(
    truth: list[int], folds: int, seed: int
) -> None:
    codes = np.array(truth)
    judged = np.zeros(len(codes), int)
    for train, test in inner_folds(codes, folds, seed):
        assert sorted([*train, *test]) == list(range(len(codes)))
        judged[test] += 1
        assert set(codes[train]) == set(codes)
    single = [np.sum(codes == code) == 1 for code in codes]
    assert judged.tolist() == [0 if alone else 1 for alone in single]


def blobs(classes: int, rows: int = 300) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(7)
    truth = np.arange(rows) % classes
    return generator.normal(size=(rows, 4)) + 2 * np.eye(4)[truth], truth


@pytest.mark.parametrize("classes", [2, 3])
def test_a_calibrated_svm_gives_probabilities_that_hold(classes: int) -> None:
    X, y = blobs(classes)
    model = Calibrated(LinearSVC(random_state=0)).fit(X[:150], y[:150])
    said = model.predict_proba(X[150:])
    assert said.sum(axis=1) == pytest.approx(1)
    assert ((said >= 0) & (said <= 1)).all()
    right = model.predict(X[150:]) == y[150:]
    assert right.mean() > 0.7
    # On average the likeliest class is as likely as it says.
    assert said.max(axis=1).mean() == pytest.approx(right.mean(), abs=0.1)


def test_a_class_of_one_row_does_not_stop_it() -> None:
    X, y = blobs(2, 60)
    y[0] = 2
    model = Calibrated(LinearSVC(random_state=0)).fit(X, y)
    assert model.classes_.tolist() == [0, 1, 2]
    assert np.isfinite(model.predict_proba(X)).all()


def test_one_class_alone_is_refused() -> None:
    with pytest.raises(ValueError, match="two classes"):
        Calibrated(LinearSVC()).fit(np.ones((3, 1)), [1, 1, 1])


def test_inner_folds_keep_groups_whole() -> None:
    draw = np.random.default_rng(3)
    groups = draw.integers(0, 12, 200)
    truth = draw.integers(0, 2, 200)
    folds = list(inner_folds(truth, 3, 42, groups))
    assert len(folds) == 3
    assert sorted(np.concatenate([test for _, test in folds])) == list(range(200))
    for train, test in folds:
        assert not set(groups[train]) & set(groups[test])


@pytest.mark.parametrize("groups", [np.zeros(40, int), np.repeat([0, 1], 20)])
def test_groups_that_cannot_be_divided_leave_folds_of_rows(groups) -> None:
    truth = np.repeat([0, 1], 20)
    plain = list(inner_folds(truth, 3, 42))
    for inner_fold, expected in zip(inner_folds(truth, 3, 42, groups), plain, strict=True):
        np.testing.assert_array_equal(inner_fold[1], expected[1])
