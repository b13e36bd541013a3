"""Each recipe from a frame to probabilities: as documented, and sturdy."""

import numpy as np
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from assay.learn.data import data_of
from assay.learn.encoding import ColumnEncoder, Text
from assay.learn.recipes import RECIPES, RecipeError, Task, chosen_columns, find_recipe
from assay.learn.run import Run, TrainingRequest, model_of
from assay.learn.scenarios import make_arp
from assay.learn.training import train

LABELS = ("normal", "attack")
QUICK = {
    "forest": {"trees": 10},
    "network": {"epochs": 3},
    "tree": {},
    "text": {},
    "detector": {"trees": 10},
}


def rows(count: int = 300, seed: int = 0, classes: int = 2) -> tuple[pl.DataFrame, np.ndarray]:
    """Rows with numbers, texts, gaps and infinities, of which a model can learn something."""
    generator = np.random.default_rng(seed)
    truth = generator.integers(0, classes, count)
    size = generator.normal(100, 10, count) + 15 * truth
    frame = pl.DataFrame(
        {
            "size": pl.Series(size).set(pl.Series(generator.random(count) < 0.1), None),
            "rate": np.where(generator.random(count) < 0.05, np.inf, generator.random(count)),
            "proto": [
                ["tcp", "udp", "icmp"][c % 3] if r < 0.7 else None
                for c, r in zip(truth.tolist(), generator.random(count), strict=True)
            ],
            "empty": pl.Series([None] * count, dtype=pl.Float64),
            "same": np.ones(count),
            "text": [
                ["plain mail", "free pills", "blue powder"][c % 3] + f" {r}"
                for c, r in zip(truth.tolist(), generator.integers(0, 9, count), strict=True)
            ],
        }
    )
    return frame, truth


def fitted(name: str, classes: int = 2, seed: int = 42):
    labels = LABELS if classes == 2 else ("a", "b", "c")
    task = Task(labels, "attack" if classes == 2 else None, "text", seed)
    frame, truth = rows(classes=classes)
    pipeline = find_recipe(name).pipeline(task, QUICK[name])
    return pipeline.fit(frame, truth), frame, truth


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", QUICK)
def test_a_recipe_learns_and_gives_probabilities(name: str, classes: int) -> None:
    pipeline, _, _ = fitted(name, classes)
    fresh, truth = rows(seed=1, classes=classes)
    said = pipeline.predict_proba(fresh)
    assert said.shape == (len(truth), classes)
    assert said.sum(axis=1) == pytest.approx(1)
    assert pipeline.classes_.tolist() == list(range(classes))
    assert isinstance(pipeline[0], ColumnEncoder | Text)
    assert (said.argmax(axis=1) == truth).mean() > (0.7 if name != "network" else 0.5)


@pytest.mark.parametrize("name", QUICK)
def test_new_values_gaps_and_infinities_do_not_stop_it(name: str) -> None:
    pipeline, frame, _ = fitted(name)
    odd = pl.DataFrame(
        {
            "size": [np.inf, -1e300, None],
            "rate": [1e300, np.nan, -np.inf],
            "proto": ["sctp", None, ""],
            "empty": [1e9, None, 0.0],
            "same": [-5.0, 7.0, None],
            "text": [None, "", "\x00 ünseen"],
        }
    )
    said = pipeline.predict_proba(odd)
    assert np.isfinite(said).all()
    assert pipeline.predict_proba(frame.select(reversed(frame.columns))) == pytest.approx(
        pipeline.predict_proba(frame), abs=0
    )


@pytest.mark.parametrize("name", QUICK)
def test_the_same_seed_gives_the_same_bits_and_clones_are_the_recipe(name: str) -> None:
    pipeline, frame, truth = fitted(name)
    again = clone(pipeline).fit(frame, truth)
    assert (again.predict_proba(frame) == pipeline.predict_proba(frame)).all()


def test_every_recipe_is_tested_here() -> None:
    assert {recipe.name for recipe in RECIPES} == set(QUICK)


def test_everything_is_learned_from_the_training_part_alone() -> None:
    frame, truth = rows()
    recipe = find_recipe("forest")
    pipeline = recipe.pipeline(Task(LABELS, "attack"), {"trees": 2}).fit(frame[:100], truth[:100])
    scale = pipeline.named_steps["scale"]
    matrix = pipeline.named_steps["columns"].transform(frame[:100])
    assert scale.mean_ == pytest.approx(matrix.mean(axis=0))
    known = set(frame["text"][:100])
    assert set(pipeline[0].categories_[frame.columns.index("text")]) == known


@pytest.mark.sampled(1)
@pytest.mark.parametrize("max_far", [None, 0.3])
@pytest.mark.parametrize("name", QUICK)
def test_the_model_stays_the_same_whatever_the_judged_rows_hold(
    name: str, max_far: float | None
) -> None:
    frame = make_arp(300).drop("time", "host", "family")
    words = {"text": "src_mac"} if name == "text" else {}

    def trained(rows: pl.DataFrame) -> Run:
        return train(
            find_recipe(name),
            data_of(rows, label="label", **words),
            settings=QUICK[name],
            max_far=max_far,
            importance=False,
        )

    first = trained(frame)
    judged = pl.int_range(pl.len()).is_in(pl.Series(first.folds[0].test).implode())
    changed = [
        pl.when(judged)
        .then(pl.lit("never seen") if kind == pl.String else pl.col(column).cast(float) + 1e6)
        .otherwise(column)
        .alias(column)
        for column, kind in frame.drop("label").schema.items()
    ]
    again = trained(frame.with_columns(changed))
    assert np.array_equal(first.folds[0].test, again.folds[0].test)
    asked = TrainingRequest("assay train", "label")
    assert model_of(first, asked) == model_of(again, asked)


def test_the_forest_is_the_one_of_document_000() -> None:
    forest = find_recipe("forest").pipeline(Task(LABELS, "attack"))[-1]
    assert isinstance(forest, RandomForestClassifier)
    settings = {
        name: forest.get_params()[name]
        for name in (
            "n_estimators",
            "max_depth",
            "class_weight",
            "max_features",
            "random_state",
            "criterion",
        )
    }
    assert settings == {
        "n_estimators": 100,
        "max_depth": 30,
        "class_weight": "balanced",
        "max_features": "sqrt",
        "random_state": 42,
        "criterion": "gini",
    }
    assert isinstance(find_recipe("forest").pipeline(Task(LABELS))[1], StandardScaler)


def test_the_network_is_the_one_of_document_000() -> None:
    network = find_recipe("network").pipeline(Task(LABELS, "attack"))[-1]
    assert network.hidden_layers == (64, 32)
    assert (network.learning_rate, network.dropout, network.batch_size, network.epochs) == (
        0.001,
        0.3,
        32,
        20,
    )


def test_the_tree_is_the_one_of_document_001() -> None:
    pipeline = find_recipe("tree").pipeline(Task(LABELS, "attack"))
    assert pipeline.named_steps["select"].k == 20
    tree = pipeline[-1]
    assert isinstance(tree, DecisionTreeClassifier)
    assert (tree.max_depth, tree.class_weight, tree.criterion) == (8, "balanced", "gini")


def test_the_chosen_columns_come_with_their_chi_square() -> None:
    pipeline, frame, _ = fitted("tree")
    pipeline.set_params(select__k=2).fit(*rows())
    choices = chosen_columns(pipeline)
    assert len(choices) == 2
    assert choices[0][1] >= choices[1][1]
    assert {name for name, _ in choices} <= set(frame.columns)


def test_the_detector_keeps_the_threshold_it_chose() -> None:
    frame, truth = rows(600)
    task = Task(LABELS, "attack", max_far=0.05)
    detector = find_recipe("detector").pipeline(task, {"trees": 10}).fit(frame, truth)[-1]
    assert detector.max_far == 0.05
    assert detector.feasible_
    assert detector.far_ <= 0.05
    assert find_recipe("detector").pipeline(Task(LABELS, "attack"))[-1].max_far == 0.1


@pytest.mark.parametrize("model", ["logistic", "svm", "bayes", "forest"])
def test_every_model_for_texts_learns(model: str) -> None:
    frame, truth = rows(classes=3)
    task = Task(("a", "b", "c"), text="text")
    settings = {"model": model, "trees": "5"}
    pipeline = find_recipe("text").pipeline(task, settings).fit(frame, truth)
    assert (pipeline.predict(frame) == truth).mean() > 0.95


def test_texts_without_terms_are_refused() -> None:
    task = Task(LABELS, text="text")
    with pytest.raises(RecipeError, match="nothing to learn from"):
        find_recipe("text").pipeline(task, {"words": 0, "characters": 0})


def test_the_schedule_and_adams_constants_can_be_set() -> None:
    given = {"rate": "0.01", "decay": "0.25", "decay_every": "2"}
    adam = {"beta_1": "0.8", "beta_2": "0.99", "epsilon": "1e-6"}
    task = Task(LABELS, "attack")
    model = find_recipe("network").pipeline(task, {**given, **adam})[-1]
    assert (model.learning_rate, model.decay, model.decay_every) == (0.01, 0.25, 2)
    assert (model.beta_1, model.beta_2, model.epsilon) == (0.8, 0.99, 1e-6)
    usual = find_recipe("network").pipeline(task)[-1]
    assert (usual.decay, usual.decay_every) == (0.5, 5)
    assert (usual.beta_1, usual.beta_2, usual.epsilon) == (0.9, 0.999, 1e-8)
    for odd in ({"decay": "0"}, {"decay": "1.5"}, {"decay_every": "0"}, {"beta_1": "1"}):
        with pytest.raises(RecipeError, match="the setting"):
            find_recipe("network").pipeline(task, odd)


@pytest.mark.parametrize("name", ["tree", "forest"])
def test_the_criterion_can_be_set(name: str) -> None:
    task = Task(LABELS, "attack")
    assert find_recipe(name).pipeline(task)[-1].criterion == "gini"
    assert find_recipe(name).pipeline(task, {"criterion": "entropy"})[-1].criterion == "entropy"
    with pytest.raises(RecipeError, match="one of gini, entropy; found 'mse'"):
        find_recipe(name).pipeline(task, {"criterion": "mse"})
