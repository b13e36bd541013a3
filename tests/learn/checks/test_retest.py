"""The measure again after what leaks is gone, and by how much it drops."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import accuracy_score, balanced_accuracy_score, recall_score, roc_auc_score

from assay.inference import paired_influence
from assay.learn.checks import check
from assay.learn.checks.retest import JudgedRows, drops
from assay.learn.recipes import find_recipe
from assay.measures import find
from assay.tally import Sample

from .tables import clean, data, parted, smote

TREE = find_recipe("tree")
FRAME = clean(np.random.default_rng(41), rows=1000)


def attacks(frame: pl.DataFrame) -> np.ndarray:
    return (frame["label"] == "attack").to_numpy()


# -- what is removed -------------------------------------------------------------------------------


def test_a_leaking_column_is_removed_and_the_same_rows_judge() -> None:
    noise = np.random.default_rng(1).normal(size=1000)
    frame = FRAME.with_columns(leak=pl.Series(9 * attacks(FRAME) + noise))
    retest = check(*parted(frame), recipe=TREE).retest
    assert retest is not None
    assert retest.columns == ("leak",)
    assert retest.removed == "column 'leak'"
    assert retest.before.judged == retest.after.judged == 300
    assert retest.before.learned == retest.after.learned == 700
    drop = retest.drops["roc_auc"]
    assert drop.value == pytest.approx(
        retest.before.estimates["roc_auc"] - retest.after.estimates["roc_auc"]
    )
    assert 0 < drop.low < drop.value < drop.high
    assert "same rows, so the difference is paired" in retest.note


def test_training_rows_that_are_test_rows_go_and_the_same_rows_judge() -> None:
    train, _ = parted(FRAME)
    test = data(pl.concat([FRAME[700:], FRAME[:100]]), positive="attack")
    retest = check(train, test, recipe=TREE).retest
    assert retest is not None
    assert retest.removed == "100 training rows that leak"
    assert retest.after.learned == 600
    assert retest.after.judged == retest.before.judged == 400


def test_test_rows_go_where_hardly_a_training_row_would_stay() -> None:
    frame = FRAME.with_columns(host=pl.Series([i % 5 for i in range(900)] + [9] * 100))
    train, test = parted(frame, 0.5, keep=["host"])
    train = train.take(np.arange(450))
    retest = check(train, test, groups=["host"], recipe=TREE).retest
    assert retest is not None
    assert retest.removed == "400 test rows that leak"
    assert (retest.before.judged, retest.after.judged) == (500, 100)
    assert "100 are the same" in retest.note


def test_all_rows_are_split_anew_where_nothing_would_stay() -> None:
    frame = FRAME.with_columns(host=pl.Series([i % 20 for i in range(1000)]))
    retest = check(*parted(frame, keep=["host"]), groups=["host"], recipe=TREE).retest
    assert retest is not None
    assert "split anew" in retest.removed
    assert retest.after.split == "by group:host"
    assert retest.after.judged == 1000
    assert retest.drops["accuracy"].method == "cluster bootstrap"


def test_one_file_is_split_by_time_where_times_are_named() -> None:
    start = np.datetime64("2024-01-01T00:00:00", "us")
    frame = FRAME.with_columns(seen=pl.Series(start + np.arange(1000) * np.timedelta64(1, "h")))
    retest = check(data(frame, time="seen"), time="seen", recipe=TREE).retest
    assert retest is not None
    assert retest.after.split.startswith("by time:seen@2024-01-30")
    assert retest.after.judged == 300


def test_repeats_of_one_file_go() -> None:
    retest = check(data(pl.concat([FRAME, FRAME[:400]])), recipe=TREE).retest
    assert retest is not None
    assert retest.removed == "400 rows that repeat another"
    assert retest.after.learned + retest.after.judged == 1000


def test_the_same_file_as_both_parts_is_split_anew_without_its_copies() -> None:
    retest = check(data(FRAME), data(FRAME), recipe=TREE).retest
    assert retest is not None
    assert retest.after.learned + retest.after.judged == 1000
    assert retest.drops["accuracy"].low > 0


def test_made_up_rows_go_from_both_parts() -> None:
    generator = np.random.default_rng(3)
    names = [f"x{i}" for i in range(6)]
    real = pl.DataFrame(generator.normal(size=(600, 6)), schema=names)
    real = real.with_columns(label=pl.Series(["normal"] * 480 + ["attack"] * 120))
    made = smote(generator, real[480:], 360)
    frame = pl.concat([real, made]).sample(fraction=1, shuffle=True, seed=1)
    leak_check = check(*parted(frame), recipe=TREE)
    assert "L014" in [each.code for each in leak_check.leaks]
    retest = leak_check.retest
    assert retest is not None
    assert "that look made up" in retest.removed
    assert retest.after.learned + retest.after.judged < 960 - 200
    assert check(data(frame), recipe=TREE).retest.removed.endswith("rows that look made up")


def test_a_check_whose_features_all_leak_is_told_and_not_refused() -> None:
    frame = FRAME.select("label").with_columns(leak=pl.Series(9.0 * attacks(FRAME)))
    leak_check = check(*parted(frame), recipe=TREE)
    assert "L011" in leak_check
    assert leak_check.retest is not None
    assert leak_check.retest.after is None
    assert leak_check.retest.removed.startswith("nothing: every feature leaks")


def test_a_drop_is_undefined_where_a_measure_is() -> None:
    kinds = np.array(["a", "b", "c"])[np.random.default_rng(2).integers(0, 3, 1000)]
    frame = FRAME.with_columns(label=pl.Series(kinds), copy=pl.Series(kinds))
    test = data(frame[700:].filter(pl.col("label") != "c"), labels=["a", "b", "c"])
    retest = check(data(frame[:700]), test, recipe=TREE).retest
    assert retest is not None
    assert np.isnan(retest.before.estimates["balanced_accuracy"])
    assert retest.drops["balanced_accuracy"].undefined == "undefined before or after"
    assert retest.drops["accuracy"].low > 0.2


def test_nothing_is_removed_where_nothing_leaks() -> None:
    retest = check(*parted(FRAME), recipe=TREE).retest
    assert retest is not None
    assert retest.after is None
    assert retest.drops == {}
    assert retest.to_dict()["after"] is None


def test_several_classes_are_judged_by_accuracy() -> None:
    kinds = np.array(["a", "b", "c"])[np.random.default_rng(2).integers(0, 3, 1000)]
    frame = FRAME.with_columns(label=pl.Series(kinds), copy=pl.Series(kinds))
    retest = check(data(frame), recipe=TREE).retest
    assert retest is not None
    assert set(retest.drops) == {"accuracy", "balanced_accuracy"}
    assert retest.drops["accuracy"].low > 0.4


def test_a_recipe_that_beats_no_trivial_model_is_told() -> None:
    frame = FRAME.with_columns(label=pl.Series(["normal", "attack"] * 500))
    leak_check = check(data(frame), recipe=TREE)
    assert leak_check["L021"].pitfall == "P6"
    status = {each.code: each.status for each in leak_check.pitfalls}
    assert status["P6"] == "found"


def test_without_a_recipe_nothing_is_trained() -> None:
    assert check(data(FRAME)).retest is None


# -- the drop --------------------------------------------------------------------------------------


def judged(
    generator: np.random.Generator, rows: np.ndarray, lift: float, classes: int = 2
) -> JudgedRows:
    truth = rows % classes
    if classes == 2:
        scores = lift * truth + np.round(generator.normal(size=len(rows)), 1)
        return JudgedRows(rows, truth, (scores > lift / 2).astype(int), scores)
    wrong = generator.random(len(rows)) > lift
    return JudgedRows(rows, truth, np.where(wrong, 0, truth), None)


def test_a_drop_is_the_difference_of_what_scikit_learn_gives() -> None:
    generator = np.random.default_rng(1)
    one, two = (
        judged(generator, np.arange(start, start + 200), lift)
        for start, lift in ((0, 2.0), (100, 1.0))
    )
    losses = drops(one, two, ("accuracy", "recall", "false_discovery_rate", "roc_auc"))
    for name, of in (("accuracy", accuracy_score), ("recall", recall_score)):
        expected = of(one.truth, one.decisions) - of(two.truth, two.decisions)
        assert losses[name].value == pytest.approx(expected)
    expected = roc_auc_score(one.truth, one.scores) - roc_auc_score(two.truth, two.scores)
    assert losses["roc_auc"].value == pytest.approx(expected)
    several = [judged(generator, np.arange(300), lift, 3) for lift in (0.9, 0.5)]
    losses = drops(*several, ("balanced_accuracy",), classes=3)
    first, second = (balanced_accuracy_score(each.truth, each.decisions) for each in several)
    assert losses["balanced_accuracy"].value == pytest.approx(first - second)


def test_the_same_rows_give_the_interval_of_the_paired_method() -> None:
    generator = np.random.default_rng(2)
    one, two = (judged(generator, np.arange(600), lift) for lift in (1.5, 1.0))
    roc_auc = drops(one, two, ("roc_auc",))["roc_auc"]
    sample = Sample.of_rows(("n", "a"), one.truth, {"after": two.scores, "before": one.scores})
    expected = paired_influence(sample, find("roc_auc")).effect
    assert expected is not None
    assert roc_auc.low == pytest.approx(expected.low, abs=0.01)
    assert roc_auc.high == pytest.approx(expected.high, abs=0.01)


def test_the_same_model_on_the_same_rows_drops_by_nothing() -> None:
    one = judged(np.random.default_rng(3), np.arange(200), 1.0)
    losses = drops(one, one, ("accuracy", "roc_auc"))
    assert [(each.value, each.low, each.high) for each in losses.values()] == [(0, 0, 0)] * 2


@pytest.mark.slow
def test_intervals_of_drops_cover_a_drop_of_nothing() -> None:
    generator = np.random.default_rng(4)
    covered = {"shared": 0, "apart": 0}
    for draw in range(120):
        for how, start in (("shared", 100), ("apart", 400)):
            one = judged(generator, np.arange(400), 1.0)
            two = judged(generator, np.arange(start, start + 400), 1.0)
            accuracy = drops(one, two, ("accuracy",), resamples=200, seed=draw)["accuracy"]
            covered[how] += accuracy.low <= 0 <= accuracy.high
    assert min(covered.values()) >= 105  # of 120 at 95%: fewer in one of 3,000 runs


def test_groups_that_hang_together_widen_the_interval() -> None:
    rows = np.arange(400)
    right = np.repeat(np.random.default_rng(5).random(20) < 0.7, 20)
    one = JudgedRows(rows, np.zeros(400, int), (~right).astype(int), None)
    two = JudgedRows(rows, np.zeros(400, int), np.zeros(400, int), None)
    alone = drops(one, two, ("accuracy",))["accuracy"]
    together = drops(one, two, ("accuracy",), clusters=rows // 20)["accuracy"]
    assert together.high - together.low > 3 * (alone.high - alone.low)
