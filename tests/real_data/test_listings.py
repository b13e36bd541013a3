"""Market listings in twelve classes: probabilities of a naive Bayes model of their titles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn import metrics
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import MultinomialNB

from .documents import Told, evaluate
from .files import LISTINGS, needs
from .scikit_learn import defined, of_many

pytestmark = [needs(LISTINGS), pytest.mark.slow]


@dataclass(frozen=True)
class Predictions:
    """What was true, when it was on offer, and the probability of each class."""

    truth: Any
    dates: Any
    probabilities: Any
    labels: list[str]

    @property
    def decision(self) -> Any:
        """The class with the largest probability."""
        return np.array(self.labels)[self.probabilities.argmax(axis=1)]

    def table(self) -> pl.DataFrame:
        """The rows of a prediction file."""
        columns = dict(zip(self.labels, self.probabilities.T, strict=True))
        return pl.DataFrame(
            {"cat": self.truth, "month": self.dates}
            | {f"p_{label}": column for label, column in columns.items()}
        )


@pytest.fixture(scope="module")
def predictions() -> Predictions:
    """Learned from some vendors and judged by others, who hardly sell some of the classes."""
    rows = pl.read_parquet(LISTINGS).with_columns(month=pl.col("date").str.slice(0, 7))
    judged = pl.col("vendor").str.slice(1).str.to_integer(base=16) % 5 == 0
    known, new = rows.filter(~judged), rows.filter(judged)
    words = CountVectorizer(max_features=3000)
    model = MultinomialNB().fit(words.fit_transform(known["title"]), known["cat"].to_numpy())
    return Predictions(
        new["cat"].to_numpy().astype(str),
        new["month"].to_numpy().astype(str),
        model.predict_proba(words.transform(new["title"])),
        model.classes_.tolist(),
    )


@pytest.fixture(scope="module")
def told(predictions: Predictions, tmp_path_factory: pytest.TempPathFactory) -> Told:
    folder = tmp_path_factory.mktemp("listings")
    predictions.table().write_parquet(folder / "predictions.parquet")
    options = ("--label", "cat", "--probabilities", "p_*", "--slice", "month")
    return evaluate(folder / "out.json", folder / "predictions.parquet", *options)


def test_every_value_is_that_of_scikit_learn(predictions: Predictions, told: Told) -> None:
    assert told["labels"] == predictions.labels
    assert told["positive"] is None
    expected = of_many(predictions.truth, predictions.probabilities, predictions.labels)
    values = told.values()
    numbers = {name: value for name, value in values.items() if name in expected}
    assert numbers == pytest.approx(defined(expected), rel=1e-12, abs=1e-12)
    undefined = {name for name, each in told.estimates().items() if each["undefined"]}
    assert undefined & set(expected) == set(expected) - set(defined(expected))


def test_the_matrix_is_that_of_scikit_learn(predictions: Predictions, told: Told) -> None:
    matrix = metrics.confusion_matrix(
        predictions.truth, predictions.decision, labels=predictions.labels
    )
    assert told["confusion"] == matrix.tolist()
    each = metrics.multilabel_confusion_matrix(
        predictions.truth, predictions.decision, labels=predictions.labels
    )
    for per_class, ((tn, fp), (fn, tp)) in zip(told["per_class"], each.tolist(), strict=True):
        cells = [per_class[name] for name in ("tn", "fp", "fn", "tp", "support")]
        assert cells == [tn, fp, fn, tp, fn + tp]


def test_a_class_that_is_never_decided_makes_its_averages_undefined(
    predictions: Predictions, told: Told
) -> None:
    never = set(predictions.labels) - set(predictions.decision)
    assert never
    estimates = told.estimates()
    for name in ("precision.macro", "precision.weighted"):
        assert estimates[name]["value"] is None
        assert any(label in estimates[name]["undefined"] for label in never)
    assert estimates["precision.macro_defined"]["value"] > 0
    (finding,) = [each for each in told["findings"] if each["code"] == "E012"]
    assert all(label in finding["message"] for label in never)


def test_slices_are_those_of_scikit_learn(predictions: Predictions, told: Told) -> None:
    months = set(predictions.dates)
    assert told.parts("month") == months
    for month in months:
        rows = predictions.dates == month
        both = predictions.truth[rows], predictions.decision[rows]
        expected = {
            "accuracy": metrics.accuracy_score(*both),
            "mcc": metrics.matthews_corrcoef(*both),
            "kappa": metrics.cohen_kappa_score(*both),
        }
        values = told.values(part=("month", month))
        assert {name: values[name] for name in expected} == pytest.approx(expected, abs=1e-12), (
            month
        )
