"""Phishing websites, whose labels are 1 and -1: nothing tells which of them is the alarm."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression

from assay.cli.app import run

from .documents import evaluate
from .files import WEBSITES, needs
from .scikit_learn import of_two, of_two_and_scores

pytestmark = [needs(WEBSITES), pytest.mark.slow]


@pytest.fixture(scope="module")
def rows() -> pl.DataFrame:
    """Every second website is learned from; the others have a probability and a margin."""
    websites = pl.read_parquet(WEBSITES)
    known, new = websites.gather_every(2), websites.gather_every(2, offset=1)
    model = LogisticRegression(max_iter=1000)
    model.fit(known.drop("Result").to_numpy(), known["Result"].to_numpy())
    features = new.drop("Result").to_numpy()
    both = model.predict_proba(features)
    return new.select("Result").with_columns(
        pl.Series("-1", both[:, 0]),
        pl.Series("1", both[:, 1]),
        pl.Series("margin", model.decision_function(features)),
    )


@pytest.fixture(scope="module")
def file(rows: pl.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("websites") / "predictions.csv"
    rows.write_csv(path)
    return path


def test_the_positive_label_has_to_be_said(file: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["evaluate", str(file), "--label", "Result", "--score", "1"]) == 3
    out, err = capfd.readouterr()
    assert out == ""
    assert file.name in err
    assert re.search("--positive '?-1'?", err)
    assert re.search("--positive '?1'?", err)
    assert "Traceback" not in err


@pytest.mark.parametrize(("positive", "negative"), [("-1", "1"), ("1", "-1")])
def test_either_label_may_be_the_alarm(
    rows: pl.DataFrame, file: Path, positive: str, negative: str, tmp_path: Path
) -> None:
    options = ("--label", "Result", "--score", positive, "--positive", positive)
    told = evaluate(tmp_path / "out", file, *options)
    assert told["labels"] == [negative, positive]
    truth = (rows["Result"] == int(positive)).to_numpy()
    expected = of_two_and_scores(truth, rows[positive].to_numpy(), negative)
    values = {name: value for name, value in told.values().items() if name in expected}
    assert values == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_both_probabilities_say_the_same_as_one(file: Path, tmp_path: Path) -> None:
    label = ("--label", "Result", "--positive", "-1")
    pair = ("--probability", "-1=-1", "--probability", "1=1")
    two = evaluate(tmp_path / "two", file, *label, *pair).values()
    one = evaluate(tmp_path / "one", file, *label, "--score", "-1").values()
    assert two == pytest.approx(one, rel=1e-9)


def test_margins_need_a_threshold(
    rows: pl.DataFrame, file: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    options: tuple[Any, ...] = ("--label", "Result", "--score", "margin", "--positive", "1")
    assert run(["evaluate", str(file), *options]) == 0
    assert "--threshold" in capfd.readouterr().out
    told = evaluate(tmp_path / "out", file, *options, "--threshold", "0")
    truth = (rows["Result"] == 1).to_numpy()
    expected = of_two(truth, (rows["margin"] >= 0).to_numpy())
    values = told.values()
    assert {name: values[name] for name in expected} == pytest.approx(expected, abs=1e-12)
    assert told.estimates()["log_loss"]["undefined"]
