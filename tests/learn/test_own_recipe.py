"""Recipes of one's own: what is imported, how it is called, and what is refused."""

import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.pipeline import Pipeline

from assay.learn.calibration import Calibrated
from assay.learn.encoding import Columns, Text
from assay.learn.recipes import RecipeError, Task, find_recipe

TASK = Task(("normal", "attack"), "attack", seed=7)
FRAME = pl.DataFrame({"a": np.arange(40.0), "b": ["x", "y"] * 20})
TRUTH = (np.arange(40) > 19).astype(int)


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Write a module, and forget it afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    names = []

    def write(text: str) -> str:
        name = f"own_recipe_{len(names)}_{tmp_path.name.replace('-', '_')}"
        (tmp_path / f"{name}.py").write_text(text)
        names.append(name)
        return name

    yield write
    for name in names:
        sys.modules.pop(name, None)


def test_a_class_of_scikit_learn_is_a_recipe() -> None:
    recipe = find_recipe("sklearn.ensemble:ExtraTreesClassifier")
    pipeline = recipe.pipeline(TASK, {"n_estimators": "5", "max_depth": "3", "bootstrap": "true"})
    assert isinstance(pipeline[0], Columns)
    model = pipeline[-1]
    assert isinstance(model, ExtraTreesClassifier)
    assert (model.n_estimators, model.max_depth, model.bootstrap) == (5, 3, True)
    assert model.random_state == 7
    assert pipeline.fit(FRAME, TRUTH).predict_proba(FRAME).shape == (40, 2)


def test_a_model_without_probabilities_is_calibrated() -> None:
    pipeline = find_recipe("sklearn.svm:LinearSVC").pipeline(TASK, {"tol": "0.01"})
    assert isinstance(pipeline[-1], Calibrated)
    assert pipeline.fit(FRAME[:, :1], TRUTH).predict_proba(FRAME).sum(axis=1) == pytest.approx(1)


def test_a_factory_gets_settings_by_name_and_the_task(module) -> None:
    name = module(
        "from sklearn.tree import DecisionTreeClassifier\n"
        "def make(depth=3, *, task):\n"
        "    return DecisionTreeClassifier(max_depth=depth + task.classes)\n"
    )
    recipe = find_recipe(f"{name}:make")
    assert list(recipe.settings) == ["depth"]
    assert recipe.pipeline(TASK, {"depth": "4"})[-1].max_depth == 6
    with pytest.raises(RecipeError, match="no setting 'dept'; did you mean depth"):
        recipe.pipeline(TASK, {"dept": "4"})
    with pytest.raises(RecipeError, match="the setting depth is a whole number"):
        recipe.pipeline(TASK, {"depth": "deep"})


def test_a_factory_that_takes_anything_gets_anything(module) -> None:
    name = module(
        "from sklearn.tree import DecisionTreeClassifier\n"
        "def make(**settings):\n"
        "    return DecisionTreeClassifier(**settings)\n"
    )
    model = find_recipe(f"{name}:make").pipeline(TASK, {"max_depth": "4", "splitter": "best"})[-1]
    assert (model.max_depth, model.splitter) == (4, "best")


def test_texts_go_to_the_model_where_a_column_of_texts_is_named(module) -> None:
    name = module(
        "from sklearn.feature_extraction.text import TfidfVectorizer\n"
        "from sklearn.linear_model import LogisticRegression\n"
        "from sklearn.pipeline import make_pipeline\n"
        "def make():\n"
        "    return make_pipeline(TfidfVectorizer(), LogisticRegression())\n"
    )
    pipeline = find_recipe(f"{name}:make").pipeline(Task(TASK.labels, text="t"))
    assert isinstance(pipeline[0], Text)
    frame = pl.DataFrame({"t": ["good mail", "bad pills"] * 5})
    assert pipeline.fit(frame, [0, 1] * 5).predict(frame).tolist() == [0, 1] * 5


def test_a_pipeline_that_reads_frames_itself_stays_as_it_is(module) -> None:
    name = module(
        "from sklearn.tree import DecisionTreeClassifier\n"
        "from sklearn.pipeline import Pipeline\n"
        "from assay.learn.encoding import Columns\n"
        "def make():\n"
        "    return Pipeline([('c', Columns(one_hot=5)), ('m', DecisionTreeClassifier())])\n"
    )
    pipeline = find_recipe(f"{name}:make").pipeline(TASK)
    assert isinstance(pipeline, Pipeline)
    assert [step for step, _ in pipeline.steps] == ["c", "m"]
    assert pipeline[-1].random_state == 7


@pytest.mark.parametrize(
    ("body", "factory", "message"),
    [
        ("x = 1", "make", "has no 'make'"),
        ("make = 1", "make", "is int, and has to be a function or class"),
        ("def make(): return 3", "make", "gave int, and not an estimator"),
        ("def make(k): return 3", "make", "needs the setting k: --set k=VALUE"),
        ("def make(): raise KeyError('depth')", "make", "can't be called: KeyError: 'depth'"),
        ("raise RuntimeError('no licence')", "make", "RuntimeError: no licence"),
        ("def make(:", "make", "can't be imported: SyntaxError"),
        ("import no_such_package_here", "make", "it needs 'no_such_package_here'"),
        ("from sklearn.preprocessing import StandardScaler as make", "make", "does not predict"),
    ],
)
def test_what_is_no_recipe_is_refused_and_says_why(module, body, factory, message) -> None:
    name = module(body + "\n")
    with pytest.raises(RecipeError, match=message):
        find_recipe(f"{name}:{factory}").pipeline(TASK)


def test_a_module_that_is_not_there_is_refused() -> None:
    with pytest.raises(RecipeError, match=r"there is no module 'no_such\.thing'"):
        find_recipe("no_such.thing:make")
    with pytest.raises(RecipeError, match=r"package\.module:factory; found 'sklearn:'"):
        find_recipe("sklearn:")


def test_nothing_is_imported_for_a_recipe_of_ours(module) -> None:
    name = module("raise RuntimeError('must not be imported')\n")
    find_recipe("tree").pipeline(TASK)
    assert name not in sys.modules
