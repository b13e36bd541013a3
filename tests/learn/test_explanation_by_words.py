"""The words by which models of texts tell their classes."""

import polars as pl
import pytest

from assay.learn.explanation import ALL, importance_of, telling_words
from assay.learn.recipes import Task, find_recipe

LABELS = ("drugs", "weapons")
TITLES = ["pure white powder", "blue powder pills", "powder and pills", "pills for sleep"]
ARMS = ["glock pistol new", "old pistol ammo", "ammo for glock", "pistol and ammo"]


def fitted(model: str, **settings: object):
    frame = pl.DataFrame({"title": TITLES * 3 + ARMS * 3})
    recipe = find_recipe("text")
    pipeline = recipe.pipeline(Task(LABELS, text="title"), {"model": model, **settings})
    return pipeline.fit(frame, [0] * 12 + [1] * 12), frame


@pytest.mark.parametrize("model", ["logistic", "svm", "bayes"])
def test_the_words_of_a_class_are_told(model: str) -> None:
    pipeline, frame = fitted(model)
    words = telling_words(pipeline, LABELS, most=3)
    assert {word.word for word in words if word.label == "drugs"} & {"powder", "pills"}
    assert {word.word for word in words if word.label == "weapons"} & {"pistol", "ammo", "glock"}
    assert all(word.weight > 0 for word in words)
    said = importance_of(pipeline, frame, [0] * 12 + [1] * 12, LABELS)
    assert said.table()[0] == ["label", "word", "weight"]


def test_a_forest_tells_words_for_all_classes_at_once() -> None:
    pipeline, _ = fitted("forest", trees=10)
    assert {word.label for word in telling_words(pipeline, LABELS)} == {ALL}


def test_without_words_runs_of_characters_are_told() -> None:
    pipeline, _ = fitted("logistic", words=0)
    words = {word.word for word in telling_words(pipeline, LABELS) if word.label == "weapons"}
    assert words
    assert all(len(word) <= 4 for word in words)
