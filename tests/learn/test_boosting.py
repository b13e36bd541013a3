"""Boosting tuned for detection at a tolerated false alarm rate."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from assay.errors import InputError
from assay.learn.ensembles import Detector, best_operating


def rows(count: int = 600, seed: int = 3, shift: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    truth = (generator.random(count) < 0.3).astype(int)
    X = generator.normal(size=(count, 5))
    X[:, 0] += shift * truth
    X[:, 1] += shift * truth
    X[generator.random(X.shape) < 0.05] = np.nan
    return X, truth


@given(
    st.lists(st.tuples(st.integers(0, 6), st.booleans()), min_size=2, max_size=30).filter(
        lambda pairs: any(t for _, t in pairs)
    ),
    st.sampled_from([0.05, 0.1, 0.2, 0.5]),
)
def test_the_threshold_is_the_best_of_all(pairs: list, limit: float) -> None:
    scores = np.array([float(score) for score, _ in pairs])
    truth = np.array([positive for _, positive in pairs])
    best = best_operating(scores, truth, limit)
    kept = []
    for threshold in set(scores.tolist()):
        flagged = scores >= threshold
        tp, fp = int((flagged & truth).sum()), int((flagged & ~truth).sum())
        if fp * 100 <= round(limit * 100) * (tp + fp):
            kept.append((tp, -fp, threshold))
    if not kept:
        assert best is None
        return
    tp, fp, threshold = max(kept)
    assert best is not None
    assert best.threshold == threshold
    assert best.detection_rate == tp / truth.sum()
    assert best.far == -fp / (tp - fp)


@pytest.mark.slow
def test_the_threshold_keeps_the_false_alarm_rate_on_new_rows() -> None:
    X, y = rows(3000, shift=1.5)
    model = Detector(trees=20, max_far=0.2).fit(X, y)
    fresh, truth = rows(3000, seed=4, shift=1.5)
    flagged = model.predict(fresh) == 1
    assert model.feasible_
    assert model.far_ <= 0.2
    assert 1 - truth[flagged].mean() == pytest.approx(0.2, abs=0.06)
    assert truth[flagged].sum() / truth.sum() == pytest.approx(model.detection_rate_, abs=0.08)


@pytest.mark.slow
def test_probabilities_are_calibrated() -> None:
    X, y = rows(2000)
    fresh, truth = rows(3000, seed=4)
    said = Detector(trees=40).fit(X, y).predict_proba(fresh)[:, 1]
    for low, high in ((0, 0.2), (0.2, 0.5), (0.5, 1)):
        part = (said >= low) & (said < high)
        assert truth[part].mean() == pytest.approx(said[part].mean(), abs=0.08)


def test_a_rate_that_can_not_be_kept_leaves_one_half() -> None:
    generator = np.random.default_rng(0)
    X, y = generator.normal(size=(400, 3)), (np.arange(400) % 50 == 0).astype(int)
    model = Detector(trees=5, max_far=0.01).fit(X, y)
    assert not model.feasible_
    assert model.threshold_ == 0.5


def test_a_class_of_one_row_leaves_no_row_to_choose_by() -> None:
    with pytest.raises(InputError, match="a class of 1 leaves none: take more rows"):
        Detector(trees=5).fit(np.array([[1.0], [2.0]]), ["attack", "normal"])


def test_more_classes_are_told_by_the_likeliest() -> None:
    generator = np.random.default_rng(0)
    y = np.arange(300) % 3
    X = generator.normal(size=(300, 3)) + 2 * np.eye(3)[y]
    model = Detector(trees=20).fit(X, y)
    assert model.predict_proba(X).shape == (300, 3)
    assert (model.predict(X) == y).mean() > 0.9


def test_a_column_with_next_to_no_numbers_does_not_stop_it() -> None:
    X, y = rows(120)
    X[:, 3] = np.nan
    X[1:, 4] = np.nan
    assert np.isfinite(Detector(trees=3).fit(X, y).predict_proba(X)).all()


def test_very_few_rows_of_a_class_are_enough_to_fit() -> None:
    X, y = rows(40)
    y[:] = 0
    y[:2] = 1
    model = Detector(trees=5).fit(X, y)
    assert np.isfinite(model.predict_proba(X)).all()


def test_the_same_rows_give_the_same_bits_for_any_number_of_threads(monkeypatch) -> None:
    X, y = rows()
    said = []
    for threads in ("1", "2", "5"):
        monkeypatch.setenv("ASSAY_THREADS", threads)
        said.append(clone(Detector(trees=10)).fit(X, y).predict_proba(X))
    assert (said[0] == said[1]).all()
    assert (said[0] == said[2]).all()


def test_settings_are_compared_on_a_part_of_many_rows() -> None:
    X, y = rows(600)
    few = Detector(trees=5, search_rows=150).fit(X, y)
    assert len(few.tried_) == 3
    assert few.chosen_ in range(3)


def test_lightgbm_takes_its_place() -> None:
    pytest.importorskip("lightgbm")
    X, y = rows(800)
    model = Detector(kind="lightgbm", trees=20, max_far=0.3).fit(X, y)
    said = model.predict_proba(X)
    assert said.shape == (800, 2)
    assert ((said[:, 1] >= model.threshold_) == (model.predict(X) == 1)).all()
