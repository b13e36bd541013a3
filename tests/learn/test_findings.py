"""What a run says about itself, each finding by its code."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.pipeline import Pipeline
from sklearn.tree import DecisionTreeClassifier

from assay.learn.data import Data, data_of
from assay.learn.encoding import ColumnEncoder
from assay.learn.explanation import Importance
from assay.learn.findings import RUN_CHECKS, run_findings
from assay.learn.recipe import Recipe, Task
from assay.learn.run import Run
from assay.learn.training import train


def recipe(depth: int | None) -> Recipe:
    def build(settings: Any, task: Task) -> Pipeline:
        tree = DecisionTreeClassifier(max_depth=depth, random_state=task.seed)
        return Pipeline([("columns", ColumnEncoder()), ("model", tree)])

    return Recipe("tree", "for tests", build)


def rows(make: Callable[[np.random.Generator, Any], Any], n: int = 400, **columns: Any) -> Data:
    """Rows whose one feature is made from their class."""
    draw = np.random.default_rng(1)
    truth = np.arange(n) % 2
    frame = pl.DataFrame(
        {"x": make(draw, truth), "label": np.array(["normal", "attack"])[truth], **columns}
    )
    return data_of(
        frame,
        label="label",
        keep=[name for name in columns if name != "kind"],
        family="kind" if "kind" in columns else None,
    )


@pytest.fixture(scope="module")
def clean() -> Run:
    good = rows(lambda draw, truth: truth + draw.normal(0, 0.4, len(truth)))
    return train(recipe(1), good, validation="kfold:4", importance=False)


def codes(run: Run) -> list[str]:
    return [finding.code for finding in run_findings(run)]


def message(run: Run, code: str) -> str:
    return next(finding.message for finding in run_findings(run) if finding.code == code)


def test_codes_are_in_order_and_told_apart() -> None:
    finding_codes = [check.code for check in RUN_CHECKS]
    assert finding_codes == [f"R{i:03}" for i in range(1, len(finding_codes) + 1)]
    assert all(check.why.endswith(".") and check.remedy.endswith(".") for check in RUN_CHECKS)


def test_a_clean_run_has_no_findings(clean: Run) -> None:
    assert clean.findings == ()


def test_r001_a_loss_that_rises(clean: Run) -> None:
    def learned(*losses: float) -> Run:
        return replace(clean, folds=(replace(clean.folds[0], losses=losses), *clean.folds[1:]))

    said = message(learned(0.7, 0.3, 0.4), "R001")
    assert "fell to 0.3 in epoch 2 and rose to 0.4 in epoch 3 (fold 1)" in said
    assert codes(learned(0.7, 0.3, 0.31)) == []
    jitter = [0.9**i * (1.2 if i % 3 else 1.0) for i in range(20)]
    assert codes(learned(*jitter)) == []
    losses = [*(0.9**i for i in range(12)), *(0.4 * 1.1**i for i in range(8))]
    assert "in epochs 9 to 13 and rose" in message(learned(*losses), "R001")
    # Those of document 000, whose network got worse from the first epoch on.
    told = message(learned(0.6893, 0.6912, 0.7034, 0.7156, 0.7289), "R001")
    assert "rose from 0.689 in epoch 1 to 0.729 in epoch 5" in told
    assert codes(learned(0.7)) == []


def test_r002_much_better_on_learned_rows() -> None:
    noise = rows(lambda draw, truth: truth * 0.3 + draw.normal(0, 1, len(truth)))
    run = train(recipe(None), noise, importance=False)
    assert "accuracy is 1 on learned rows and" in message(run, "R002")
    assert "R002" not in codes(train(recipe(1), noise, importance=False))


def test_r003_a_far_that_is_not_kept(clean: Run) -> None:
    assert "R003" not in codes(replace(clean, max_far=0.5))
    said = message(replace(clean, max_far=0.01), "R003")
    assert "The threshold (0.5) keeps a false alarm rate of 0.01" in said


def test_r003_a_far_for_which_no_threshold_could_be_chosen() -> None:
    noise = rows(lambda draw, truth: draw.normal(0, 1, len(truth)))
    run = train(recipe(1), noise, validation="kfold:2", max_far=0.01, importance=False)
    assert all(fold.not_chosen for fold in run.folds)
    said = message(run, "R003")
    assert "No threshold for a false alarm rate of 0.01 could be chosen" in said
    assert "in 2 of 2 folds, so that 0.5 was taken" in said
    assert "keeps" not in said


def test_r005_a_class_that_was_judged_but_not_learned() -> None:
    frame = pl.DataFrame(
        {
            "x": range(60),
            "label": ["a", "b"] * 29 + ["c", "c"],
            "day": [1, 1, 2, 2] * 14 + [1, 2, 2, 2],
        }
    )
    data = data_of(frame, label="label", keep=["day"])
    run = train(recipe(2), data, validation="folds:day", importance=False)
    assert "2 rows of class 'c' were judged by a model that never saw" in message(run, "R005")


def test_r004_rows_judged_in_no_fold(clean: Run) -> None:
    said = message(replace(clean, unjudged=100), "R004")
    assert "100 rows of 400 (25%) were judged in no fold" in said
    # A holdout judges a part alone, and needs no finding for that.
    assert codes(replace(clean, unjudged=100, folds=clean.folds[:1])) == []


def test_r006_folds_that_differ_by_more_than_chance() -> None:
    hosts = np.repeat(["a", "b", "c", "d"], 100)

    def make(draw: np.random.Generator, truth: Any) -> Any:
        # On host d the feature says nothing.
        return np.where(hosts == "d", draw.normal(0, 1, 400), truth + draw.normal(0, 0.2, 400))

    run = train(recipe(1), rows(make, host=hosts), validation="folds:host", importance=False)
    said = message(run, "R006")
    assert "(d) to" in said
    assert "more than chance explains" in said


def test_r007_families_that_are_mostly_missed() -> None:
    kinds = np.where(np.arange(400) % 2, np.array(["scan", "worm"])[np.arange(400) // 2 % 2], "ok")

    def make(draw: np.random.Generator, truth: Any) -> Any:
        return np.where(kinds == "worm", 0, truth) + draw.normal(0, 0.2, 400)

    run = train(recipe(1), rows(make, kind=kinds), validation="kfold:3", importance=False)
    said = message(run, "R007")
    assert "'worm'" in said
    assert "'scan'" not in said


def test_r008_importances_that_disagree(clean: Run) -> None:
    shown = Importance("roc_auc", 0.9, disagreement="MDI and shuffling disagree: column 'id'")
    assert message(replace(clean, importance=shown), "R008").endswith("column 'id'.")
    agreed = replace(shown, disagreement=None)
    assert codes(replace(clean, importance=agreed)) == []


def test_r009_a_column_that_gives_the_label_away(clean: Run) -> None:
    truth, frame = clean.data.truth, clean.data.frame

    def learned(**columns: Any) -> Run:
        return replace(clean, data=replace(clean.data, frame=frame.with_columns(**columns)))

    kinds = np.array(["none", "none", "scan", "worm"])[2 * truth + np.arange(400) // 2 % 2]
    said = message(learned(kind=pl.Series(kinds)), "R009")
    assert said.startswith("Column 'kind' gives the label away")
    kinds[1] = "none"
    once = learned(kind=pl.Series(kinds), copy=pl.Series(truth * 1.0))
    assert message(once, "R009").startswith("Column 'copy' gives")
    assert codes(learned(number=pl.Series(np.arange(400.0)), one=pl.lit("a"))) == []
