"""Models of other libraries, asked by protocol: fakes that act alike, and the libraries themselves.

A library that is not installed is skipped; its protocol is still tested by the fake.
"""

import json
import os

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.metrics import log_loss, roc_auc_score

from assay import evaluate_model
from assay.errors import InputError, LabelError, ScoreError
from assay.evaluation.outputs import library_of_model

GENERATOR = np.random.default_rng(1)
Y = GENERATOR.integers(0, 2, 200)
X = (GENERATOR.normal(0, 1, (200, 3)) + 0.8 * Y[:, None]).astype(np.float32)
Y3 = GENERATOR.integers(0, 3, 200)
NAMES = np.where(Y == 1, "attack", "normal")
SPAM = np.where(Y == 1, "spam", "ham")
RISK = 1 / (1 + np.exp(-X.sum(axis=1)))


def made(module: str, **methods):
    """An object whose class says that it comes from a library."""
    return type("Fake", (), {"__module__": module, **methods})()


# -- protocols -------------------------------------------------------------------------------------


def test_library_is_that_of_any_class_that_a_model_inherits_from() -> None:
    base = type("Module", (), {"__module__": "torch.nn.modules"})
    assert library_of_model(type("Net", (base,), {})()) == "torch"
    assert library_of_model(object()) is None


def keras_like(values):
    return made("keras.src.models", predict=lambda _, rows, verbose: values)


def test_one_sigmoid_is_of_the_label_1() -> None:
    evaluation = evaluate_model(keras_like(RISK[:, None]), X, Y)
    assert evaluation["roc_auc"].value == pytest.approx(roc_auc_score(Y, RISK))
    turned = evaluate_model(keras_like(RISK[:, None]), X, Y, positive=0)
    assert turned["roc_auc"].value == pytest.approx(roc_auc_score(Y, RISK))
    assert turned["brier"].value == pytest.approx(evaluation["brier"].value)


def test_one_sigmoid_of_names_is_told_where_order_and_alarm_agree() -> None:
    evaluation = evaluate_model(keras_like(RISK), X, SPAM)
    assert evaluation["roc_auc"].value == pytest.approx(roc_auc_score(Y, RISK))
    with pytest.raises(LabelError, match=r"Say classes=\['normal', 'attack'\]"):
        evaluate_model(keras_like(RISK), X, NAMES)
    named = evaluate_model(keras_like(RISK), X, NAMES, classes=["normal", "attack"])
    assert named["roc_auc"].value == evaluation["roc_auc"].value


def test_softmax_columns_are_in_the_order_of_the_labels() -> None:
    table = np.full((200, 3), 0.2, np.float32)
    table[np.arange(200), Y3] = 0.6
    evaluation = evaluate_model(keras_like(table), X, Y3)
    assert evaluation["accuracy"].value == 1
    assert "its columns were taken in the order of the labels: 0, 1, 2" in evaluation.notes[0]
    names = np.array(["c", "a", "b"])[Y3]
    assert evaluate_model(keras_like(table), X, names, classes=["c", "a", "b"])["f1.c"].value == 1
    with pytest.raises(LabelError, match="gives 3 columns, and y holds 2 labels"):
        evaluate_model(keras_like(table), X, Y)


def test_sums_that_are_off_by_narrow_floats_are_no_mistake() -> None:
    table = GENERATOR.dirichlet(np.ones(40), 200).astype(np.float16)
    assert np.abs(table.sum(axis=1, dtype=float) - 1).max() > 1e-6
    y = np.arange(200) % 40
    assert evaluate_model(keras_like(table), X, y)["log_loss"].value > 0


def test_logits_are_told() -> None:
    logits = np.column_stack([np.zeros(200), np.log(RISK / (1 - RISK))])
    with pytest.raises(ScoreError, match=r"do not sum to 1.*say logits=True"):
        evaluate_model(keras_like(logits), X, Y)
    evaluation = evaluate_model(keras_like(logits), X, Y, logits=True)
    assert evaluation["log_loss"].value == pytest.approx(log_loss(Y, RISK))
    one = evaluate_model(keras_like(logits[:, 1]), X, Y, logits=True)
    assert one["log_loss"].value == pytest.approx(log_loss(Y, RISK))
    ranked = evaluate_model(keras_like(logits[:, 1]), X, Y)
    assert not ranked.decided


def booster_like(objective: str, values):
    config = json.dumps({"learner": {"learner_train_param": {"objective": objective}}})
    return made(
        "xgboost.core",
        save_config=lambda _: config,
        predict=lambda _, rows: values,
        inplace_predict=lambda _, rows: values,
    )


def test_objective_tells_what_a_booster_gives() -> None:
    area = roc_auc_score(Y, RISK)
    evaluation = evaluate_model(booster_like("binary:logistic", RISK), X, Y)
    assert evaluation["roc_auc"].value == pytest.approx(area)
    raw = evaluate_model(booster_like("binary:logitraw", np.log(RISK / (1 - RISK))), X, Y)
    assert raw["accuracy"].value == evaluation["accuracy"].value
    decided = evaluate_model(booster_like("multi:softmax", Y3.astype(np.float32)), X, Y3)
    assert decided["accuracy"].value == 1
    with pytest.raises(InputError, match="the objective 'reg:squarederror', so it is a regressor"):
        evaluate_model(booster_like("reg:squarederror", RISK), X, Y)


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_columns_in_another_order_than_a_booster_learned_are_refused(kind) -> None:
    model = booster_like("binary:logistic", RISK)
    type(model).feature_names = ["a", "b", "c"]
    rows = dict(zip("abc", X.T, strict=True))
    assert evaluate_model(model, kind(rows), Y).decided
    with pytest.raises(InputError, match="column 2 of X is 'c', where Fake learned 'b'"):
        evaluate_model(model, kind({name: rows[name] for name in "acb"}), Y)


def test_booster_can_not_be_fitted_anew() -> None:
    with pytest.raises(InputError, match="XGBClassifier instead of a Booster"):
        evaluate_model(booster_like("binary:logistic", RISK), X, Y, cv=3)
    with pytest.raises(InputError, match="how Fake is to be trained is not known"):
        evaluate_model(keras_like(RISK), X, Y, cv=3)


def test_pyod_scores_are_high_for_unusual_rows() -> None:
    model = made(
        "pyod.models.iforest",
        decision_function=lambda _, rows: RISK,
        predict_proba=lambda _, rows: np.column_stack([1 - RISK, RISK]),
        predict=lambda _, rows: (RISK > 0.6).astype(int),
    )
    evaluation = evaluate_model(model, X, NAMES)
    assert evaluation["roc_auc"].value == pytest.approx(roc_auc_score(Y, RISK))
    assert evaluation["recall"].value == np.mean(RISK[Y == 1] > 0.6)


def test_model_that_can_tell_says_that_it_is_not_fitted() -> None:
    model = made("catboost.core", is_fitted=lambda _: False, predict=lambda _, rows: rows)
    with pytest.raises(InputError, match="is not fitted"):
        evaluate_model(model, X, Y)


# -- the libraries themselves ----------------------------------------------------------------------


@pytest.mark.slow
def test_torch_modules_are_left_in_their_mode() -> None:
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    net = torch.nn.Sequential(
        torch.nn.Linear(3, 4), torch.nn.Dropout(0.5), torch.nn.Linear(4, 1), torch.nn.Sigmoid()
    )
    net.train()
    net[1].eval()
    evaluation = evaluate_model(net, X, Y)
    assert [part.training for part in (net, *net)] == [True, True, False, True, True]
    assert all(weight.grad is None for weight in net.parameters())
    net.eval()
    with torch.no_grad():
        said = net(torch.as_tensor(X)).numpy()[:, 0]
    assert evaluation["roc_auc"].value == pytest.approx(roc_auc_score(Y, said))
    expected = evaluation["brier"].value
    for rows in (X.astype(float), pd.DataFrame(X), torch.as_tensor(X), X.tolist()):
        assert evaluate_model(net, rows, torch.as_tensor(Y))["brier"].value == expected
    two = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.LogSoftmax(1))
    with pytest.raises(ScoreError, match="logits=True"):
        evaluate_model(two, X, Y)
    assert evaluate_model(two, X, Y, logits=True)["log_loss"].value > 0
    with pytest.raises(InputError, match="of which no tensor can be made"):
        evaluate_model(net, np.full((200, 3), "a"), Y)


@pytest.mark.slow
def test_torch_loaders_come_in_order() -> None:
    torch = pytest.importorskip("torch")
    data = torch.utils.data
    net = torch.nn.Linear(3, 1)
    rows = data.TensorDataset(torch.as_tensor(X), torch.as_tensor(Y))
    expected = evaluate_model(net, X, Y)["roc_auc"]
    assert evaluate_model(net, data.DataLoader(rows, 33), Y)["roc_auc"].value == expected.value
    with pytest.raises(InputError, match="shuffle=False"):
        evaluate_model(net, data.DataLoader(rows, 33, shuffle=True), Y)


@pytest.mark.slow
def test_torch_embeddings_keep_whole_numbers() -> None:
    torch = pytest.importorskip("torch")
    net = torch.nn.Sequential(torch.nn.Embedding(5, 2), torch.nn.Flatten(), torch.nn.Linear(4, 1))
    assert evaluate_model(net, GENERATOR.integers(0, 5, (200, 2)), Y)["roc_auc"].value >= 0


@pytest.mark.slow
def test_xgboost() -> None:
    xgboost = pytest.importorskip("xgboost")
    options = {"n_estimators": 5, "n_jobs": 1}
    model = xgboost.XGBClassifier(**options).fit(X, Y)
    evaluation = evaluate_model(model, X, Y)
    area = roc_auc_score(Y, model.predict_proba(X)[:, 1])
    assert evaluation["roc_auc"].value == pytest.approx(area)
    booster = model.get_booster()
    for rows in (xgboost.DMatrix(X), X, pd.DataFrame(X)):
        assert evaluate_model(booster, rows, Y)["roc_auc"].value == pytest.approx(area)
    assert evaluate_model(xgboost.XGBClassifier(**options), X, Y, cv=3).decided
    with pytest.raises(InputError, match="say classes= with all labels"):
        evaluate_model(xgboost.XGBClassifier(**options), X, NAMES, cv=3)
    with pytest.raises(InputError, match="is not fitted"):
        evaluate_model(xgboost.XGBClassifier(), X, Y)
    with pytest.raises(InputError, match="is a regressor"):
        evaluate_model(xgboost.XGBRegressor(**options).fit(X, Y), X, Y)
    many = xgboost.XGBClassifier(**options).fit(X, Y3)
    of_classes = evaluate_model(many, X, Y3)
    assert of_classes["accuracy"].value == many.score(X, Y3)
    assert evaluate_model(many.get_booster(), X, Y3)["accuracy"].value == many.score(X, Y3)


@pytest.mark.slow
def test_lightgbm() -> None:
    lightgbm = pytest.importorskip("lightgbm")
    options = {"n_estimators": 5, "n_jobs": 1, "verbose": -1}
    rows = pd.DataFrame(X, columns=["a", "b", "c"])
    model = lightgbm.LGBMClassifier(**options).fit(rows, NAMES)
    evaluation = evaluate_model(model, rows, NAMES)
    area = roc_auc_score(NAMES == "attack", model.predict_proba(rows)[:, 0])
    assert evaluation["roc_auc"].value == pytest.approx(area)
    with pytest.raises(LabelError, match="Say classes="):
        evaluate_model(model.booster_, rows, NAMES)
    other = evaluate_model(model.booster_, rows, NAMES, classes=["attack", "normal"])
    assert other["roc_auc"].value == pytest.approx(area)
    kept = lightgbm.Booster(model_str=model.booster_.model_to_string())
    again = evaluate_model(kept, rows, NAMES, classes=["attack", "normal"])
    assert again["roc_auc"].value == pytest.approx(area)
    assert evaluate_model(lightgbm.LGBMClassifier(**options), rows, NAMES, cv=3).decided
    with pytest.raises(InputError, match="is not fitted"):
        evaluate_model(lightgbm.LGBMClassifier(), rows, NAMES)
    number = lightgbm.train({"verbose": -1, "num_threads": 1}, lightgbm.Dataset(X, Y), 3)
    with pytest.raises(InputError, match="the objective 'regression', so it is a regressor"):
        evaluate_model(number, X, Y)


@pytest.mark.slow
def test_catboost() -> None:
    catboost = pytest.importorskip("catboost")
    options = {"iterations": 5, "verbose": 0, "thread_count": 1, "allow_writing_files": False}
    model = catboost.CatBoostClassifier(**options).fit(X, NAMES)
    evaluation = evaluate_model(model, X, NAMES)
    column = list(model.classes_).index("attack")
    area = roc_auc_score(NAMES == "attack", model.predict_proba(X)[:, column])
    assert evaluation["roc_auc"].value == pytest.approx(area)
    assert evaluate_model(model, catboost.Pool(X), NAMES)["roc_auc"].value == pytest.approx(area)
    assert evaluate_model(catboost.CatBoostClassifier(**options), X, NAMES, cv=3).decided
    with pytest.raises(InputError, match="is not fitted"):
        evaluate_model(catboost.CatBoostClassifier(**options), X, Y)
    base = catboost.CatBoost({"loss_function": "Logloss", **options}).fit(X, Y)
    assert evaluate_model(base, X, Y)["roc_auc"].value > 0.5
    with pytest.raises(InputError, match="is a regressor"):
        evaluate_model(catboost.CatBoost(options).fit(X, Y), X, Y)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of its own way with tensors
def test_keras() -> None:
    pytest.importorskip("torch")
    os.environ.setdefault("KERAS_BACKEND", "torch")
    keras = pytest.importorskip("keras")
    layers = [keras.layers.Input((3,)), keras.layers.Dense(1, activation="sigmoid")]
    model = keras.Sequential(layers)
    said = np.asarray(model.predict(X, verbose=0))[:, 0]
    evaluation = evaluate_model(model, X, Y)
    assert evaluation["roc_auc"].value == pytest.approx(roc_auc_score(Y, said))
    softmax = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(3, "softmax")])
    table = np.asarray(softmax.predict(X, verbose=0))
    of_classes = evaluate_model(softmax, X, Y3)
    assert of_classes["accuracy"].value == np.mean(table.argmax(axis=1) == Y3)
