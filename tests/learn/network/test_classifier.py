"""The network as a scikit-learn classifier."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from assay.learn.network import ANNClassifier


@parametrize_with_checks([ANNClassifier()])
def test_it_is_a_scikit_learn_estimator(estimator, check) -> None:
    check(estimator)


@pytest.fixture(scope="module")
def blobs() -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(7)
    truth = generator.integers(3, size=600)
    centres = np.array([[2.0, 0, 0, 0], [0, 2.0, 0, 0], [0, 0, 2.0, 0]])
    return centres[truth] + generator.normal(size=(600, 4)), truth


def test_it_learns_more_than_two_classes(blobs) -> None:
    rows, truth = blobs
    model = ANNClassifier(random_state=1).fit(rows, truth)
    assert model.score(rows, truth) > 0.8
    assert np.allclose(model.predict_proba(rows).sum(axis=1), 1)


def test_the_same_seed_gives_the_same_weights(blobs) -> None:
    one, two, other = (ANNClassifier(epochs=2, random_state=s).fit(*blobs) for s in (1, 1, 2))
    assert all((a == b).all() for a, b in zip(one.coefs_, two.coefs_, strict=True))
    assert not (one.coefs_[0] == other.coefs_[0]).all()


def test_losses_and_rates_of_every_epoch_are_kept(blobs) -> None:
    model = ANNClassifier(epochs=12, random_state=1).fit(*blobs)
    assert len(model.loss_curve_) == len(model.rates_) == 12
    assert model.loss_curve_[-1] < model.loss_curve_[0]
    assert model.rates_[::5] == [0.001, 0.0005, 0.00025]


def test_training_stops_when_the_rows_held_back_tell_so(blobs) -> None:
    rows, truth = blobs
    noise = np.random.default_rng(0).permutation(truth)
    model = ANNClassifier(
        epochs=200, learning_rate=0.01, dropout=0, validation_share=0.3, patience=3, random_state=1
    ).fit(rows, noise)
    assert model.n_iter_ < 200
    best = int(np.argmin(model.validation_curve_))
    assert len(model.validation_curve_) - 1 - best >= 3 or best == len(model.validation_curve_) - 1


def test_the_best_weights_are_kept(blobs) -> None:
    rows, truth = blobs
    settings = {"validation_share": 0.3, "random_state": 1, "learning_rate": 0.02, "dropout": 0.0}
    long = ANNClassifier(epochs=60, patience=5, **settings).fit(rows, truth)
    best = int(np.argmin(long.validation_curve_)) + 1
    short = ANNClassifier(epochs=best, patience=60, **settings).fit(rows, truth)
    assert min(long.validation_curve_) == min(short.validation_curve_)


def test_a_class_that_weighs_nothing_teaches_nothing() -> None:
    draw = np.random.default_rng(2)
    rows, truth = draw.normal(size=(60, 3)), np.arange(60) % 2
    # In batches of one row, every other batch weighs nothing.
    network = ANNClassifier(class_weight={0: 0.0, 1: 1.0}, batch_size=1, random_state=1)
    assert network.fit(rows, truth).predict(rows).mean() > 0.9
    assert np.isfinite(network.loss_curve_).all()


def test_class_weights_raise_the_rare_class() -> None:
    generator = np.random.default_rng(3)
    truth = (generator.random(2000) < 0.05).astype(int)
    rows = generator.normal(size=(2000, 3)) + truth[:, None]
    plain, balanced = (
        ANNClassifier(class_weight=weight, random_state=1).fit(rows, truth).predict(rows).mean()
        for weight in (None, "balanced")
    )
    assert balanced > plain + 0.1


def test_labels_may_be_text_and_keep_their_sorted_order(blobs) -> None:
    rows, truth = blobs
    names = np.array(["scan", "dos", "normal"])[truth]
    model = ANNClassifier(epochs=3, random_state=1).fit(rows, names)
    assert model.classes_.tolist() == ["dos", "normal", "scan"]
    assert set(model.predict(rows)) <= set(names)


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("dropout", 1.0),
        ("dropout", -0.1),
        ("batch_size", 0),
        ("epochs", 0),
        ("hidden_layers", (64, 0)),
        ("hidden_layers", 64),
        ("learning_rate", 0.0),
        ("beta_1", 1.0),
        ("decay", 0.0),
        ("validation_share", 1.0),
    ],
)
def test_a_setting_out_of_range_is_refused_by_name(blobs, setting: str, value: object) -> None:
    with pytest.raises(ValueError, match=setting):
        ANNClassifier(**{setting: value}).fit(*blobs)


def test_one_class_is_refused() -> None:
    with pytest.raises(ValueError, match="1 class"):
        ANNClassifier().fit([[0.0], [1.0]], [1, 1])


def test_without_hidden_layers_it_is_a_linear_model(blobs) -> None:
    rows, truth = blobs
    model = clone(ANNClassifier(hidden_layers=(), epochs=60, learning_rate=0.01, random_state=1))
    assert model.fit(rows, truth).score(rows, truth) > 0.8


def test_a_network_of_swapped_labels_is_told_to_be_inverted(blobs) -> None:
    import assay

    rows, truth = blobs
    attack = truth == 2
    codes = np.where(attack, 0, 1)  # attack should have been 1
    scores = ANNClassifier(random_state=1).fit(rows, codes).predict_proba(rows)[:, 1]
    labels = np.where(attack, "attack", "normal")
    evaluation = assay.evaluate(labels, y_score=scores)
    assert evaluation["roc_auc"] < 0.2
    assert "E001" in {finding.code for finding in evaluation.findings}
