"""What a model relies on: the decrease of impurity (MDI) and shuffling."""

import math

import numpy as np
import polars as pl
import pytest
from sklearn.inspection import permutation_importance
from sklearn.pipeline import Pipeline
from sklearn.tree import DecisionTreeClassifier

from assay.learn.encoding import ColumnEncoder
from assay.learn.explanation import importance_of, impurity_importance
from assay.learn.recipes import Task, find_recipe

LABELS = ("normal", "attack")


def gini(counts: list[int]) -> float:
    return 1 - sum((count / sum(counts)) ** 2 for count in counts)


def test_a_tree_decreases_impurity_as_the_formula_says() -> None:
    # 100 rows of two kinds, two columns: the first splits 40+10 from 10+40, the second cleans up.
    first = [0] * 50 + [1] * 50
    truth = [0] * 40 + [1] * 10 + [0] * 10 + [1] * 40
    second = [0] * 40 + [1] * 10 + [0] * 50
    frame = pl.DataFrame({"a": first, "b": second, "c": [0] * 100})
    tree = Pipeline(
        [("columns", ColumnEncoder()), ("model", DecisionTreeClassifier(random_state=0))]
    )
    importance = impurity_importance(tree.fit(frame, truth))
    root = gini([50, 50]) - 0.5 * gini([40, 10]) - 0.5 * gini([10, 40])
    clean = 0.5 * gini([40, 10])
    assert importance == pytest.approx(
        {"a": root / (root + clean), "b": clean / (root + clean), "c": 0}
    )


def rows(count: int = 500, seed: int = 2) -> tuple[pl.DataFrame, np.ndarray]:
    generator = np.random.default_rng(seed)
    truth = (generator.random(count) < 0.4).astype(int)
    frame = pl.DataFrame(
        {
            "signal": generator.normal(size=count) + 2 * truth,
            "noise": generator.normal(size=count),
            "proto": np.where(generator.random(count) < 0.2, "x", np.where(truth, "a", "b")),
            "constant": np.zeros(count),
        }
    )
    return frame, truth


@pytest.fixture(scope="module")
def forest() -> Pipeline:
    recipe = find_recipe("forest")
    return recipe.pipeline(Task(LABELS, "attack"), {"trees": 20}).fit(*rows())


def test_mdi_sums_to_1_over_the_columns_of_the_file(forest: Pipeline) -> None:
    importance = impurity_importance(forest)
    assert importance is not None
    assert list(importance) == ["signal", "noise", "proto", "constant"]
    assert math.fsum(importance.values()) == pytest.approx(1)
    assert importance["constant"] == 0
    trees = np.mean([tree.feature_importances_ for tree in forest[-1].estimators_], axis=0)
    assert list(importance.values()) == pytest.approx(trees.tolist())


def test_columns_that_were_spread_are_added_up() -> None:
    frame, truth = rows()
    model = DecisionTreeClassifier(random_state=0)
    spread = Pipeline([("columns", ColumnEncoder(one_hot=10)), ("model", model)]).fit(frame, truth)
    importance = impurity_importance(spread)
    assert importance is not None
    names = spread[0].get_feature_names_out().tolist()
    parts = [model.feature_importances_[i] for i, n in enumerate(names) if n.startswith("proto=")]
    assert importance["proto"] == pytest.approx(sum(parts))
    assert math.fsum(importance.values()) == pytest.approx(1)


def test_models_without_trees_have_no_mdi() -> None:
    frame, truth = rows(100)
    network = find_recipe("network").pipeline(Task(LABELS, "attack"), {"epochs": 1})
    importance = importance_of(network.fit(frame, truth), frame, truth, LABELS, repeats=2)
    assert all(math.isnan(row.mdi) for row in importance.rows)
    assert all(row["mdi"] is None for row in importance.table()[1])


def test_shuffling_costs_what_scikit_learn_measures(forest: Pipeline) -> None:
    frame, truth = rows(seed=3)
    importance = importance_of(forest, frame, truth, LABELS, repeats=20)
    matrix = forest[0].transform(frame)
    peer = permutation_importance(
        forest[1:], matrix, truth, scoring="roc_auc", n_repeats=20, random_state=0
    )
    for row in importance.rows:
        at = frame.columns.index(row.column)
        spread = peer.importances_std[at] / math.sqrt(20)
        assert row.permutation.value == pytest.approx(
            peer.importances_mean[at], abs=6 * spread + 1e-9
        )
    assert importance.measure == "roc_auc"
    assert importance.rows[0].column in ("signal", "proto")
    first = importance.rows[0].permutation
    assert first.low < first.value < first.high
    assert first.method == "student"


def test_the_interval_is_that_of_students_t(forest: Pipeline) -> None:
    frame, truth = rows(seed=3)
    from scipy import stats

    importance = importance_of(forest, frame, truth, LABELS, repeats=4, seed=1)
    cost = next(row.permutation for row in importance.rows if row.column == "signal")
    generator = np.random.default_rng(1)
    matrix, falls = forest[0].transform(frame), []
    for _ in range(4):
        shuffled = matrix.copy()
        shuffled[:, 0] = matrix[generator.permutation(len(matrix)), 0]
        falls.append(importance.baseline - _auc(forest[1:].predict_proba(shuffled)[:, 1], truth))
    low, high = stats.t.interval(0.95, 3, np.mean(falls), stats.sem(falls))
    assert (cost.value, cost.low, cost.high) == pytest.approx((np.mean(falls), low, high))


def _auc(scores: np.ndarray, truth: np.ndarray) -> float:
    attack, normal = scores[truth == 1][:, None], scores[truth == 0][None, :]
    return float(((attack > normal) + 0.5 * (attack == normal)).mean())


def test_columns_that_were_not_chosen_cost_nothing() -> None:
    frame, truth = rows()
    tree = find_recipe("tree").pipeline(Task(LABELS, "attack"), {"k": 1}).fit(frame, truth)
    importance = importance_of(tree, frame, truth, LABELS)
    costs = {row.column: row.permutation for row in importance.rows}
    chosen = tree[2].get_feature_names_out(frame.columns).tolist()
    assert [name for name, cost in costs.items() if cost.note != "not used"] == chosen
    assert all(cost == 0 for name, cost in costs.items() if name not in chosen)


def test_a_column_that_only_mdi_likes_is_told() -> None:
    generator = np.random.default_rng(0)
    truth = np.arange(300) % 2
    frame = pl.DataFrame({"id": generator.permutation(300), "flag": generator.integers(0, 2, 300)})
    forest = find_recipe("forest").pipeline(Task(LABELS, "attack"), {"trees": 20})
    forest.fit(frame, truth)
    fresh = pl.DataFrame({"id": generator.permutation(300), "flag": generator.integers(0, 2, 300)})
    importance = importance_of(forest, fresh, truth, LABELS, repeats=10, seed=4)
    assert importance.disagreement is not None
    assert "'id' is first by MDI" in importance.disagreement
    assert "300 distinct values" in importance.disagreement
    assert any("many distinct values" in note for note in importance.notes)


def test_a_column_that_both_like_is_no_disagreement(forest: Pipeline) -> None:
    assert importance_of(forest, *rows(seed=3), LABELS).disagreement is None


def test_more_classes_are_judged_by_accuracy() -> None:
    generator = np.random.default_rng(0)
    truth = np.arange(200) % 3
    frame = pl.DataFrame({"a": truth + 0.1 * generator.normal(size=200)})
    forest = find_recipe("forest").pipeline(Task(("a", "b", "c")), {"trees": 5})
    importance = importance_of(forest.fit(frame, truth), frame, truth, ("a", "b", "c"))
    assert importance.measure == "accuracy"
    assert importance.rows[0].permutation.value == pytest.approx(2 / 3, abs=0.1)


def test_many_rows_are_judged_by_a_part_and_the_same_seed_gives_the_same(forest: Pipeline) -> None:
    frame, truth = rows(seed=3)
    one = importance_of(forest, frame, truth, LABELS, most_rows=100)
    assert one.judged == 100
    assert one.table() == importance_of(forest, frame, truth, LABELS, most_rows=100).table()
    assert one.table()[0] == ["column", "mdi", "permutation", "low", "high", "distinct"]
