"""A forest and a single small tree on NSL-KDD: which one is better, in two files matched by id."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import binom, chi2
from sklearn import metrics
from sklearn.tree import DecisionTreeClassifier

from .files import TEST, TRAIN, needs
from .forest import Predictions

pytestmark = [needs(TRAIN, TEST), pytest.mark.slow]


def tree() -> np.ndarray:
    """How sure a tree of five levels is of an attack."""
    train, test = pl.read_parquet(TRAIN).gather_every(5), pl.read_parquet(TEST)
    text = pl.col("protocol_type", "service", "flag").rank("dense")
    features = pl.concat([train, test]).with_columns(text).drop("label", "difficulty").to_numpy()
    model = DecisionTreeClassifier(max_depth=5, random_state=0)
    model.fit(features[: len(train)], (train["label"] != "normal").to_numpy())
    return model.predict_proba(features[len(train) :])[:, 1]


@pytest.fixture(scope="module")
def both(predictions: Predictions) -> pl.DataFrame:
    """What both say of each row."""
    rows = predictions.rows.with_columns(tree=pl.Series(tree()))
    return rows.with_columns(id=pl.int_range(len(rows)).cast(pl.String))


@pytest.fixture(scope="module")
def content(both: pl.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return compared(both, tmp_path_factory.mktemp("compare"), "--interval", "bootstrap")


def compared(both: pl.DataFrame, folder: Path, *options: str) -> dict[str, Any]:
    """The document of the command; the tree is in a file of its own, in another order."""
    both.select("id", "label", "score").write_parquet(folder / "forest.parquet")
    both.reverse().select("id", "label", score="tree").write_csv(folder / "tree.csv")
    models = ["tree=tree.csv:score", "forest=score"]
    command = [sys.executable, "-m", "assay", "compare", "forest.parquet", "--id", "id"]
    command += [word for model in models for word in ("--model", model)]
    command += ["--negative", "normal", "--format", "json", "--resamples", "200", *options]
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def differences(content: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {each["measure"]: each for each in content["differences"]}


def test_differences_are_those_of_scikit_learn(both: pl.DataFrame, content: dict[str, Any]) -> None:
    truth = (both["label"] != "normal").to_numpy()
    models = {"tree": both["tree"].to_numpy(), "forest": both["score"].to_numpy()}
    told = differences(content)
    for name, of_scores in (
        ("roc_auc", metrics.roc_auc_score),
        ("average_precision", metrics.average_precision_score),
        ("brier", metrics.brier_score_loss),
    ):
        a, b = (of_scores(truth, scores) for scores in models.values())
        assert told[name]["difference"] == pytest.approx(b - a, abs=1e-12), name
    for name, of_decisions in (
        ("accuracy", metrics.accuracy_score),
        ("recall", metrics.recall_score),
        ("mcc", metrics.matthews_corrcoef),
    ):
        a, b = (of_decisions(truth, scores >= 0.5) for scores in models.values())
        assert told[name]["difference"] == pytest.approx(b - a, abs=1e-12), name
        assert told[name]["low"] <= b - a <= told[name]["high"]


def test_mcnemar_counts_the_rows_on_which_one_is_right(
    both: pl.DataFrame, content: dict[str, Any]
) -> None:
    truth = (both["label"] != "normal").to_numpy()
    right = {name: (both[name].to_numpy() >= 0.5) == truth for name in ("tree", "score")}
    tests = [test for test in content["tests"] if test["test"] == "mcnemar"]
    for test, rows in zip(tests, (truth | True, truth, ~truth), strict=True):
        b = int((right["tree"] & ~right["score"] & rows).sum())
        c = int((~right["tree"] & right["score"] & rows).sum())
        if b + c < 25:
            expected = min(1.0, 2 * binom.cdf(min(b, c), b + c, 0.5))
        else:
            expected = chi2.sf((abs(b - c) - 1) ** 2 / (b + c), 1)
        assert test["p"] == pytest.approx(expected, rel=1e-9), test["on"]


def test_flips_by_family_are_those_of_the_groups(
    both: pl.DataFrame, content: dict[str, Any]
) -> None:
    flagged = both.with_columns(before=pl.col("tree") >= 0.5, after=pl.col("score") >= 0.5)
    attacks = flagged.filter(pl.col("label") != "normal")
    groups = attacks.group_by("label").agg(
        rows=pl.len(),
        fixed=(~pl.col("before") & pl.col("after")).sum(),
        broken=(pl.col("before") & ~pl.col("after")).sum(),
    )
    told = {flip["family"]: flip for flip in content["flips"] if flip["family"] is not None}
    for name, rows, fixed, broken in groups.iter_rows():
        flip = told[name]
        assert (flip["rows"], flip["fixed"], flip["broken"]) == (rows, fixed, broken), name


def test_a_rule_gives_each_model_the_lowest_threshold_that_keeps_it(
    both: pl.DataFrame, tmp_path: Path
) -> None:
    document = compared(both, tmp_path, "--at", "max-far=0.05")
    truth = (both["label"] != "normal").to_numpy()
    for name, column in (("tree", "tree"), ("forest", "score")):
        scores = both[column].to_numpy()
        kept = [t for t in np.unique(scores) if (~truth[scores >= t]).mean() <= 0.05]
        assert document["thresholds"][name] == pytest.approx(min(kept), abs=1e-12)
    assert document["verdicts"][0]["measure"] == "recall"
    assert {test["test"] for test in document["tests"]} <= {"delong"}
