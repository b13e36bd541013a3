from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_predict, cross_val_score
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

from assay.errors import InputError, ScoreError
from assay.inference.significance import student
from assay.learn.data import Data, data_of
from assay.learn.encoding import ColumnEncoder
from assay.learn.network import ANNClassifier
from assay.learn.recipe import Recipe, Setting, Task
from assay.learn.recipes import find_recipe
from assay.learn.scenarios import make_arp
from assay.learn.training import train as train_and_explain
from assay.learn.validation import parse_scheme

SEEN: list[list[float]] = []
train = functools.partial(train_and_explain, importance=False)


class Spy(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Notes what it was fitted to."""

    def fit(self, X: Any, y: Any = None) -> Spy:
        SEEN.append(sorted(np.asarray(X)[:, 0].tolist()))
        self.fitted_ = True
        return self

    def transform(self, X: Any) -> Any:
        return X


def recipe(make: Callable[[Task], Any], name: str = "small") -> Recipe:
    def build(settings: Any, task: Task) -> Pipeline:
        return Pipeline([("columns", ColumnEncoder()), ("model", make(task))])

    return Recipe(name, "for tests", build)


TREE = recipe(lambda task: DecisionTreeClassifier(max_depth=3, random_state=task.seed))
LINE = recipe(lambda _: LogisticRegression())


def table(n: int = 240, classes: int = 2, seed: int = 3) -> pl.DataFrame:
    draw = np.random.default_rng(seed)
    truth = draw.permutation(np.arange(n) % classes)
    names = ["normal", "attack"] if classes == 2 else [f"c{i}" for i in range(classes)]
    kinds = np.array(["scan", "dos", "worm"])[draw.integers(0, 3, n)]
    return pl.DataFrame(
        {
            "row": np.arange(n) / n,
            "x": truth + draw.normal(0, 1, n),
            "y": draw.normal(0, 1, n),
            "label": [names[code] for code in truth],
            "kind": np.where(truth == 1, kinds, "none"),
            "host": draw.integers(0, 12, n),
            "day": [f"2024-01-{1 + i * 28 // n:02}" for i in range(n)],
        }
    )


def data(n: int = 240, classes: int = 2, **options: Any) -> Data:
    kept = {"keep": ["kind", "host", "day"], "family": "kind", "drop": ["row"]}
    return data_of(table(n, classes), label="label", **{**kept, **options})


def test_every_row_is_judged_by_a_model_that_did_not_learn_from_it() -> None:
    rows = data()
    run = train(LINE, rows, validation="kfold:5")
    splitter = parse_scheme("kfold:5").splitter(rows, 42)
    model = LINE.pipeline(Task(rows.labels, "attack"))
    theirs = cross_val_predict(model, rows.frame, rows.truth, cv=splitter, method="predict_proba")
    assert run.judged.tolist() == list(range(240))
    np.testing.assert_allclose(run.scores, theirs[:, 1], rtol=1e-12)
    assert [run.fold_of[fold.test].tolist() for fold in run.folds] == [[i] * 48 for i in range(5)]


def test_everything_is_fitted_on_the_training_part_alone() -> None:
    def build(settings: Any, task: Task) -> Pipeline:
        return Pipeline(
            [("columns", ColumnEncoder()), ("spy", Spy()), ("model", DecisionTreeClassifier())]
        )

    SEEN.clear()
    rows = data(drop=[])
    run = train(Recipe("spied", "", build), rows, validation="kfold:3")
    learned = [sorted(rows.frame["row"][fold.train.tolist()].to_list()) for fold in run.folds]
    assert [*learned, sorted(rows.frame["row"].to_list())] == SEEN


def test_folds_have_the_mean_and_standard_deviation_of_document_001() -> None:
    rows = data()
    run = train(TREE, rows, validation="kfold:5")
    splitter = parse_scheme("kfold:5").splitter(rows, 42)
    model = TREE.pipeline(Task(rows.labels, "attack"))
    theirs = cross_val_score(model, rows.frame, rows.truth, cv=splitter, scoring="accuracy")
    np.testing.assert_allclose(run.per_fold["accuracy"], theirs, rtol=1e-12)
    accuracy = run.over_folds["accuracy"]
    assert accuracy.value == pytest.approx(theirs.mean())
    assert accuracy.parts["sd"] == pytest.approx(theirs.std(ddof=1))
    reach = student(0.95, 4) * math.sqrt(theirs.var(ddof=1) * (1 / 5 + 48 / 192))
    assert (accuracy.low, accuracy.high) == pytest.approx(
        (theirs.mean() - reach, theirs.mean() + reach)
    )
    assert accuracy.method == "nadeau_bengio"


def test_a_mean_stays_in_the_range_of_its_measure() -> None:
    easy = table().with_columns(x=(pl.col("label") == "attack").cast(pl.Float64))
    attacks = np.flatnonzero(easy["label"] == "attack")
    easy[attacks[:1].tolist(), "x"] = 0.0
    run = train(TREE, data_of(easy.select("x", "label"), label="label"), validation="kfold:5")
    recall = run.over_folds["recall"]
    assert recall.value + recall.parts["sd"] > 1
    assert recall.high == 1


def test_folds_of_one_value_have_no_interval_and_say_why() -> None:
    easy = table().with_columns(x=(pl.col("label") == "attack").cast(pl.Float64))
    run = train(TREE, data_of(easy.select("x", "label"), label="label"), validation="kfold:5")
    accuracy = run.over_folds["accuracy"]
    assert (accuracy.value, accuracy.parts["sd"]) == (1.0, 0.0)
    assert math.isnan(accuracy.low)
    assert accuracy.note == "no interval: all folds have the same value"


def test_the_evaluation_is_of_all_judged_rows() -> None:
    rows = data()
    run = train(TREE, rows, validation="kfold:5", base_rate=0.01)
    assert run.evaluation["roc_auc"].value == pytest.approx(roc_auc_score(rows.truth, run.scores))
    assert run.evaluation.confusion.total == 240
    assert run.evaluation.base_rates == (0.01,)
    assert run.evaluation.tally.threshold == 0.5
    scan = run.evaluation.of_slice("family", "scan")["recall"]
    kinds = rows.columns["kind"].to_numpy()
    assert scan.value == pytest.approx((run.said.decisions[kinds == "scan"] == 1).mean())


def test_the_model_of_a_holdout_is_the_one_that_was_judged() -> None:
    rows = data()
    run = train(TREE, rows)
    again = run.model.predict_proba(rows.frame[run.judged])[:, 1]
    assert np.array_equal(again, run.scores)
    assert (run.scheme, run.learned_from) == ("holdout:0.3", "the training part")
    assert len(run.judged) == 72 == len(rows) - len(run.folds[0].train)
    assert run.over_folds == {}
    assert run.notes == ()


def test_the_model_of_a_cross_validation_learns_from_all_rows_and_this_is_said() -> None:
    rows = data()
    run = train(LINE, rows, validation="kfold:5")
    whole = LINE.pipeline(Task(rows.labels, "attack")).fit(rows.frame, rows.truth)
    assert np.array_equal(run.model[-1].coef_, whole[-1].coef_)
    assert run.learned_from == "all rows"
    assert "learned from all rows (240). It was not judged itself" in run.notes[0]


def test_repeats_are_judged_one_by_one() -> None:
    rows = data()
    run = train(TREE, rows, validation="repeated:3x2")
    assert len(run.folds) == 6
    assert len(run.repeats) == 3
    assert run.repeats[0] is run.evaluation
    assert all(each.confusion.total == 240 for each in run.repeats)
    assert run.judged.tolist() == list(range(240))
    assert set(run.fold_of) == {0, 1}
    assert len(run.per_fold["f1"]) == 6
    assert run.over_folds["f1"].n == 6


def test_several_classes_are_judged_by_their_probabilities() -> None:
    rows = data(classes=3, family=None)
    run = train(LINE, rows, validation="kfold:4")
    assert run.scores.shape == (240, 3)
    assert np.array_equal(run.said.decisions, run.scores.argmax(axis=1))
    assert run.evaluation.positive is None
    assert run.threshold is None
    right = (run.said.decisions == rows.truth).mean()
    assert run.evaluation["accuracy"].value == pytest.approx(right)
    assert "recall.macro" in run.over_folds
    assert "recall.c1" not in run.over_folds


def test_a_class_that_was_not_learned_has_no_chance_and_is_a_finding() -> None:
    frame = table(classes=3).with_columns(
        host=pl.when(pl.col("label") == "c2").then(99).otherwise(pl.col("host"))
    )
    rows = data_of(frame, label="label", keep=["host"], drop=["row", "kind", "day"])
    run = train(LINE, rows, validation="group:host,k=3")
    lost = run.scores[rows.truth == 2]
    assert (lost[:, 2] == 0).all()
    np.testing.assert_allclose(lost.sum(axis=1), 1)
    (finding,) = [sighting for sighting in run.findings if sighting.code == "R005"]
    assert "80 rows of class 'c2'" in finding.message


def test_an_official_split_judges_the_other_file() -> None:
    rows, test = data(), data(100)
    run = train(TREE, rows, validation="file:test.parquet", test=test)
    assert len(run.folds[0].train) == 240
    assert run.judged.tolist() == list(range(100))
    assert run.judged_data.name == test.name
    assert np.array_equal(run.model.predict_proba(test.frame)[:, 1], run.scores)
    assert run.folds[0].counts.by_part == (240, 100)


def test_an_official_split_may_order_columns_and_labels_otherwise() -> None:
    rows, test = data(), data(100)
    plain = train(TREE, rows, validation="file:t", test=test)
    turned = replace(
        test, frame=test.frame.select("y", "x"), labels=test.labels[::-1], truth=1 - test.truth
    )
    other = train(TREE, rows, validation="file:t", test=turned)
    assert np.array_equal(other.scores, plain.scores)
    assert other.evaluation.confusion == plain.evaluation.confusion


def test_an_official_split_without_a_column_is_refused() -> None:
    rows, test = data(), data(100)
    with pytest.raises(InputError, match="has no column 'y', which data has"):
        train(TREE, rows, validation="file:t", test=replace(test, frame=test.frame.drop("y")))


def test_test_rows_beside_another_scheme_are_refused() -> None:
    with pytest.raises(InputError, match="'kfold:5' divides the rows itself"):
        train(TREE, data(), validation="kfold:5", test=data(100))


def test_families_are_held_out_one_at_a_time() -> None:
    rows = data()
    run = train(TREE, rows, validation="leave-one-out:kind")
    assert [fold.name for fold in run.folds] == ["dos", "scan", "worm"]
    kinds = rows.columns["kind"].to_numpy()
    for fold in run.folds:
        assert set(kinds[fold.test]) == {"none", fold.name}
        assert fold.name not in kinds[fold.train]
    assert run.judged.tolist() == list(range(240))


def test_windows_keep_the_newest_model_and_count_what_was_not_judged() -> None:
    rows = data()
    run = train(TREE, rows, validation="sliding:day,train=10d,test=3d")
    assert run.unjudged == 240 - len(run.judged) > 0
    assert run.learned_from == "the newest window"
    (finding,) = [sighting for sighting in run.findings if sighting.code == "R004"]
    assert f"{run.unjudged} rows of 240" in finding.message


def test_a_tolerated_far_is_kept_inside_the_training_part() -> None:
    rows = data(600)
    run = train(LINE, rows, max_far=0.2)
    assert run.threshold != 0.5
    fold = run.folds[0]
    learned = rows.truth[fold.train]
    inner = parse_scheme("kfold:5").splitter(rows.take(fold.train), 42)
    scores = cross_val_predict(
        LINE.pipeline(Task(rows.labels, "attack")),
        rows.frame[fold.train],
        learned,
        cv=inner,
        method="predict_proba",
    )[:, 1]
    flagged = scores >= run.threshold
    assert (learned[flagged] == 0).mean() <= 0.2
    lower = np.unique(scores[scores < run.threshold])[::-1]
    assert all((learned[scores >= t] == 0).mean() > 0.2 for t in lower)


def test_a_validation_part_chooses_the_threshold_and_is_judged_apart() -> None:
    rows = data(600)
    run = train(LINE, rows, validation="holdout:0.6/0.2/0.2", max_far=0.2)
    assert run.held_back is not None
    assert run.held_back.confusion.total == 120
    assert run.held_back["false_discovery_rate"] <= 0.2
    assert run.folds[0].counts.by_part == (360, 120, 120)
    assert run.unjudged == 480
    assert train(LINE, rows).held_back is None


@pytest.mark.slow
def test_a_detector_chooses_by_the_groups_that_it_is_judged_by() -> None:
    table = make_arp(rows=1500)
    rows = data_of(table, label="label", drop=["time", "family"], keep=["host"])
    by_host = train("detector", rows, validation="group:host,k=2", settings={"trees": 10})
    codes = by_host.data.columns["host"].rank("dense").to_numpy().astype(int)
    fold = by_host.folds[0]
    frame, truth = rows.frame[fold.train], rows.truth[fold.train]
    pipeline = find_recipe("detector").pipeline(
        Task(rows.labels, rows.positive, None, 42, None), by_host.settings
    )
    whole = clone(pipeline).fit(frame, truth, model__groups=codes[fold.train])
    dealt = clone(pipeline).fit(frame, truth)
    assert whole[-1].threshold_ == fold.said.threshold != dealt[-1].threshold_
    one = train("detector", rows.take(fold.train), settings={"trees": 5}, validation="holdout:0.3")
    assert not any("can't be divided" in note for note in one.notes)


def test_a_detector_says_where_groups_were_too_few_to_choose_by() -> None:
    rows = data(200)
    hosts = pl.Series("host", ["a", "b"]).sample(200, with_replacement=True, seed=1)
    few = replace(rows, columns={**rows.columns, "host": hosts})
    run = train("detector", few, settings={"trees": 5}, validation="group:host,k=2")
    assert any("can't be divided again" in note for note in run.notes)


@pytest.mark.slow
def test_groups_stay_together_where_the_threshold_is_chosen() -> None:
    rows = data(600)
    by_rows = train(LINE, rows, validation="kfold:2", max_far=0.2)
    by_host = train(LINE, rows, validation="group:host,k=2", max_far=0.2)
    assert by_rows.threshold != by_host.threshold


def test_a_far_that_nothing_keeps_leaves_one_half_and_says_so() -> None:
    useless = table().with_columns(x=pl.lit(0.0), y=pl.lit(0.0))
    rows = data_of(useless.select("x", "y", "label"), label="label")
    run = train(LINE, rows, max_far=0.01)
    assert run.threshold == 0.5
    assert "no threshold keeps a false alarm rate of 0.01" in run.notes[0]


class Choosy(LogisticRegression):  # type: ignore[misc]
    """A model that chooses its own threshold."""

    max_far = 0.3

    def fit(self, X: Any, y: Any) -> Choosy:
        super().fit(X, y)
        self.threshold_ = 0.4 + len(X) / 1e4
        return self


def test_a_model_keeps_the_threshold_that_it_chose() -> None:
    rows = data()
    run = train(recipe(lambda _: Choosy()), rows, validation="kfold:7")
    thresholds = [fold.said.threshold for fold in run.folds]
    assert thresholds == [0.4 + len(fold.train) / 1e4 for fold in run.folds]
    assert len(set(thresholds)) == 2
    assert run.threshold == pytest.approx(0.424)
    assert run.max_far == 0.3
    # Several thresholds: the decisions decide, and the scores rank.
    assert run.evaluation.tally.threshold is None
    flagged = np.concatenate([fold.said.scores >= fold.said.threshold for fold in run.folds])
    assert sum(run.evaluation.confusion.cells[i][1] for i in (0, 1)) == flagged.sum()


def test_the_same_call_gives_the_same_bits_on_any_number_of_threads() -> None:
    network = recipe(lambda task: ANNClassifier((16,), epochs=3, random_state=task.seed))
    rows = data(600)
    runs = []
    for threads in (1, 2, 1):
        with threadpool_limits(threads):
            runs.append(train(network, rows, validation="kfold:2"))
    assert all(np.array_equal(run.scores, runs[0].scores) for run in runs)
    # As text, in which what is undefined equals itself.
    assert len({repr(run.per_fold) for run in runs}) == 1


def test_another_seed_gives_other_numbers() -> None:
    first, second = (train(TREE, data(), seed=seed) for seed in (1, 2))
    assert not np.array_equal(first.judged, second.judged)


def test_progress_is_told_model_by_model() -> None:
    told: list[tuple[int, int, str]] = []
    train_and_explain(TREE, data(), validation="kfold:2", progress=lambda *said: told.append(said))
    assert told == [
        (0, 3, "fold 1 (1 of 2)"),
        (1, 3, "fold 2 (2 of 2)"),
        (2, 3, "the model to keep"),
        (3, 3, "judging"),
        (3, 3, "what the model relies on"),
    ]


def test_settings_reach_the_recipe() -> None:
    def build(settings: Any, task: Task) -> Pipeline:
        tree = DecisionTreeClassifier(max_depth=settings["depth"], random_state=task.seed)
        return Pipeline([("columns", ColumnEncoder()), ("model", tree)])

    given = Recipe("deep", "", build, {"depth": Setting(2, "how deep", least=1)})
    run = train(given, data(), settings={"depth": "1"})
    assert run.settings == {"depth": 1}
    assert run.model[-1].get_depth() == 1
    with pytest.raises(InputError, match="no setting 'dept'"):
        train(given, data(), settings={"dept": 1})


def test_importance_is_measured_on_rows_that_were_not_learned() -> None:
    rows = data()
    run = train_and_explain(TREE, rows, validation="kfold:3")
    assert run.importance is not None
    assert run.importance.judged == 80 == len(run.folds[0].test)
    assert run.importance.rows[0].column == "x"
    auc = run.per_fold["roc_auc"][0]
    assert run.importance.baseline == pytest.approx(auc)
    assert train(TREE, rows).importance is None


def test_one_class_alone_is_refused() -> None:
    rows = data()
    with pytest.raises(InputError, match="class 'normal' alone"):
        train(TREE, rows.take(np.flatnonzero(rows.truth == 0)))


@pytest.mark.parametrize(
    "options", [{"seed": -1}, {"max_far": 0.0}, {"level": 2}, {"validation": "x"}]
)
def test_what_makes_no_sense_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        train(TREE, data(), **options)


def test_a_tolerated_far_of_many_classes_is_refused() -> None:
    with pytest.raises(InputError, match="is for one positive class"):
        train(TREE, data(classes=3, family=None), max_far=0.1)


class Odd(LogisticRegression):  # type: ignore[misc]
    def predict_proba(self, X: Any) -> Any:
        return super().predict_proba(X) * 2


def test_probabilities_that_are_none_are_refused() -> None:
    with pytest.raises(ScoreError, match="small gave probabilities that are no numbers"):
        train(recipe(lambda _: Odd()), data())


class Mute(LogisticRegression):  # type: ignore[misc]
    def predict_proba(self, X: Any) -> Any:
        raise TypeError("not today")


def test_a_model_of_your_own_that_can_not_predict_says_so_in_words() -> None:
    own = recipe(lambda _: Mute(), name="mine:mute")
    with pytest.raises(InputError, match=r"mine:mute can't say anything .*TypeError: not today"):
        train(own, data())
    # In a recipe of ours that would be a fault of ours.
    with pytest.raises(TypeError, match="not today"):
        train(recipe(lambda _: Mute()), data())


def test_a_model_that_can_not_learn_says_so_in_words() -> None:
    broken = recipe(lambda _: LogisticRegression(C=-1.0))
    with pytest.raises(InputError, match="small can't learn from these 168 rows of data"):
        train(broken, data())


def test_a_forest_of_scikit_learn_is_asked_on_one_thread() -> None:
    forest = recipe(lambda _: RandomForestClassifier(5, n_jobs=2, random_state=0))
    assert train(forest, data()).model[-1].n_jobs == 1


def test_a_network_of_scikit_learn_keeps_its_losses() -> None:
    network = recipe(lambda _: MLPClassifier((4,), max_iter=500, tol=1e-3, random_state=0))
    run = train(network, data())
    assert run.folds[0].losses == tuple(run.model[-1].loss_curve_)


def test_intervals_take_groups_as_they_come() -> None:
    rows = data()
    by_host = train(TREE, rows, validation="group:host,k=3").evaluation
    assert by_host.tally.clusters is not None
    assert by_host.tally.clusters.size == 12
    assert by_host["accuracy"].method == "cluster delta"
    by_rows = train(TREE, rows, validation="kfold:3").evaluation
    assert by_rows.tally.clusters is None


def test_too_few_rows_to_choose_a_threshold_leave_one_half_and_say_so() -> None:
    few = data_of(
        pl.DataFrame({"x": range(12), "label": ["normal"] * 10 + ["attack"] * 2}), label="label"
    )
    run = train(LINE, few, validation="kfold:2", max_far=0.2)
    assert run.folds[0].said.threshold == 0.5
    assert any("too few rows or groups of a class to choose" in note for note in run.notes)


def test_groups_that_can_not_be_divided_again_leave_one_half() -> None:
    frame = table(40).with_columns(host=pl.Series(["a", "b"] * 20))
    rows = data_of(frame, label="label", keep=["host"], drop=["row", "kind", "day"])
    run = train(LINE, rows, validation="group:host,k=2", max_far=0.2)
    assert [fold.said.threshold for fold in run.folds] == [0.5, 0.5]


def test_a_large_training_part_is_known_by_a_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = train(TREE, data()).folds[0].learned
    monkeypatch.setattr("assay.learn.training._SAMPLE", 50)
    first, second = (train(TREE, data()).folds[0].learned for _ in range(2))
    assert first == second
    assert first != whole
    assert first["roc_auc"] == pytest.approx(whole["roc_auc"], abs=0.15)


class Broken(LogisticRegression):  # type: ignore[misc]
    def fit(self, X: Any, y: Any) -> Any:
        raise AttributeError("no such thing")


class Narrow(LogisticRegression):  # type: ignore[misc]
    def predict_proba(self, X: Any) -> Any:
        return super().predict_proba(X)[:, :1]


def test_mistakes_of_ones_own_recipe_are_told_in_words() -> None:
    with pytest.raises(InputError, match=r"my:model can't learn .* AttributeError: no such thing"):
        train(recipe(lambda _: Broken(), "my:model"), data())
    with pytest.raises(ScoreError, match=r"shape \(72, 1\) for 72 rows and 2 classes"):
        train(recipe(lambda _: Narrow()), data())


def test_a_measure_without_a_value_in_a_fold_has_no_mean_and_says_where() -> None:
    hosts = pl.col("host") % pl.when(pl.col("label") == "attack").then(2).otherwise(3)
    rows = data_of(
        table().with_columns(host=hosts).drop("row", "kind", "day"), label="label", keep=["host"]
    )
    run = train(TREE, rows, validation="folds:host")
    recall = run.over_folds["recall"]
    assert math.isnan(recall)
    assert recall.undefined == "it has no value in 1 of 3 folds, such as 2"


def test_very_many_groups_of_classes_are_taken_as_rows_and_this_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("assay.learn.training._MOST_CELLS", 40)
    evaluation = train(TREE, data(), validation="group:host,k=3").evaluation
    assert evaluation.tally.clusters is None
    assert any("12 groups of 2 classes are too many" in note for note in evaluation.notes)


def test_the_labels_themselves_may_be_held_out_as_families() -> None:
    kinds = table().with_columns(label=pl.col("kind")).drop("kind", "row", "host", "day")
    rows = data_of(kinds, label="label", negative="none", keep=["label"])
    run = train(TREE, rows, validation="leave-one-out:label")
    assert [fold.name for fold in run.folds] == ["dos", "scan", "worm"]
    assert run.evaluation.of_slice("family", "worm")["recall"].n > 0
