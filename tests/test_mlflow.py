"""Evaluations in MLflow: every number with its interval, and nothing undefined as a number."""

import importlib
import json
import math
import posixpath
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import assay
from assay.errors import InputError
from assay.mlflow import Evaluator, _metric_names, _metrics, _reasons

TRUTH = np.array(["attack", "normal", "normal", "normal"] * 50)
SCORE = np.clip(np.where(TRUTH == "attack", 0.7, 0.2) + np.linspace(-0.25, 0.35, 200), 0, 1)
# What MLflow allows in a name where it allows least, and how long one may be.
ALLOWED = re.compile(r"[/\w.\- ]{1,250}")
NO_MLFLOW = "MLflow is not installed (the extra mlflow)"


def evaluation(**options: Any) -> assay.Evaluation:
    return assay.evaluate(TRUTH, y_score=SCORE, **options)


# -- names and numbers -----------------------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(
    labels=st.lists(st.text(max_size=260), min_size=3, max_size=3, unique=True),
    value=st.text(min_size=1, max_size=20),
)
def test_every_name_is_one_that_mlflow_allows_and_no_two_are_alike(
    labels: list[str], value: str
) -> None:
    entries = [
        assay.evaluation.entries.Entry("recall", lambda: assay.Estimate(0.5, 0.4, 0.6), **of)
        for of in (
            *({"label": label} for label in labels),
            *({"label": label, "slice": ("kind", value)} for label in labels),
            {"average": "macro"},
            {"label": "macro"},
            {"label": labels[0], "base_rate": 1e-4},
        )
    ]
    metrics, undefined, without = _metrics(_metric_names(entries, labels[0], "test/", slices=True))
    assert len(metrics) == 3 * len(entries)
    assert not undefined
    assert not without
    assert "test/recall.macro_low" in metrics
    folders = {name.rpartition("/")[0] for name in metrics}
    for name in metrics:
        assert ALLOWED.fullmatch(name)
        assert posixpath.normpath(name) == name
        # A store that keeps metrics as files can't have a folder of the same name.
        assert name not in folders


def test_names_are_those_of_the_evaluation() -> None:
    named = _metric_names(evaluation().entries, "attack", "", slices=False)
    for key in ("recall", "f1.macro", "precision.normal", "roc_auc", "base_rate_0.0001/precision"):
        assert key in named
    assert float(named["f1.macro"]) == float(evaluation()["f1.macro"])


def test_undefined_is_no_number_and_an_end_at_infinity_is_left_out() -> None:
    named = {
        "a": assay.Estimate(math.nan, undefined="no alarms"),
        "b": assay.Estimate(2.0, 1.0, math.inf),
        "c": assay.Estimate(0.5),
        "d": assay.Estimate(math.inf),
    }
    metrics, undefined, without = _metrics(named)
    assert metrics == {"b": 2.0, "b_low": 1.0, "c": 0.5}
    assert undefined == {"a": "no alarms", "d": "it is inf"}
    assert without == ("b", "c")


def test_reasons_fit_into_a_tag() -> None:
    assert _reasons({"a": "x", "b": "y", "c": "x"}) == "a, c: x; b: y"
    many = {f"recall.{i:04}": f"there are no rows of {i}" for i in range(300)}
    assert _reasons(many) == ", ".join(many)
    long = _reasons({f"recall.{i:05}{'x' * 20}": "none" for i in range(400)})
    assert len(long) <= 5000
    assert long.endswith("(400 in all; evaluation.json has the reasons)")


def test_without_mlflow_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(InputError, match=r"pip install 'assay-detectors\[mlflow\]'"):
        assay.mlflow.log(evaluation())


def test_what_is_no_evaluation_is_refused() -> None:
    with pytest.raises(InputError, match="found dict"):
        assay.mlflow.log({"f1": 0.5})  # type: ignore[arg-type]


def test_the_entry_point_is_the_evaluator() -> None:
    text = (Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8")
    points = tomllib.loads(text)["project"]["entry-points"]["mlflow.model_evaluator"]
    module, _, name = points["assay"].partition(":")
    assert getattr(importlib.import_module(module), name) is Evaluator
    assert Evaluator.can_evaluate(model_type="classifier", evaluator_config={})
    assert not Evaluator.can_evaluate(model_type="regressor", evaluator_config={})


# -- a store ---------------------------------------------------------------------------------------


@pytest.fixture(params=["file", "sqlite"])
def mlflow(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Any]:
    """MLflow with a store of its own, which tells nobody."""
    for name in ("MLFLOW_DISABLE_TELEMETRY", "DO_NOT_TRACK", "MLFLOW_ALLOW_FILE_STORE"):
        monkeypatch.setenv(name, "true")
    monkeypatch.chdir(tmp_path)
    module = pytest.importorskip("mlflow", reason=NO_MLFLOW)
    if request.param == "sqlite":
        pytest.importorskip("sqlalchemy", reason="SQLAlchemy, which its databases need, is missing")
        pytest.importorskip("alembic", reason="Alembic, which its databases need, is missing")
    place = (
        f"sqlite:///{tmp_path}/m.db" if request.param == "sqlite" else (tmp_path / "store").as_uri()
    )
    module.set_tracking_uri(place)
    module.set_registry_uri(place)
    made = module.create_experiment("assay", artifact_location=(tmp_path / "files").as_uri())
    module.set_experiment(experiment_id=made)
    yield module
    while module.active_run() is not None:
        module.end_run()
    module.set_tracking_uri(None)


def text_of(mlflow: Any, run: str, name: str, folder: Path) -> str:
    path = mlflow.artifacts.download_artifacts(run_id=run, artifact_path=name, dst_path=folder)
    return Path(path).read_text("utf-8")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_run_holds_the_evaluation(mlflow: Any, tmp_path: Path) -> None:
    judged = evaluation(slices={"a b": np.where(np.arange(200) % 8 < 4, "x/y", "..")})
    with mlflow.start_run() as run:
        logged = assay.mlflow.log(judged, slices=True)
        assert mlflow.active_run().info.run_id == run.info.run_id == logged.run_id
    data = mlflow.get_run(logged.run_id).data
    assert data.metrics == pytest.approx(dict(logged.metrics))
    for end, name in ((None, "recall"), ("low", "recall_low"), ("high", "recall_high")):
        estimate = judged["recall"]
        assert data.metrics[name] == float(estimate if end is None else getattr(estimate, end))
    assert data.metrics["slice/a b/x_y/recall"] == float(judged.of_slice("a b", "x/y")["recall"])
    assert data.params == {"positive": "attack", "threshold": "0.5", "level": "0.95"}
    assert "recall_at_fpr_1e5" not in data.metrics
    assert "at least 100,000 negatives" in data.tags["assay.undefined"]
    assert data.tags["assay.version"] == assay.__version__
    assert "<html" in text_of(mlflow, logged.run_id, "report.html", tmp_path / "got")
    document = json.loads(text_of(mlflow, logged.run_id, "evaluation.json", tmp_path / "got"))
    assert document["schema"] == "assay.evaluation/1"
    assert document["confusion"] == [list(row) for row in judged.confusion.cells]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("mlflow", ["file"], indirect=True)
def test_several_evaluations_share_a_run_by_their_prefix(mlflow: Any) -> None:
    first = assay.mlflow.log(evaluation(), prefix="valid/")
    assert mlflow.active_run() is None
    second = assay.mlflow.log(evaluation(threshold=0.7), run_id=first.run_id, prefix="test/")
    data = mlflow.get_run(first.run_id).data
    assert (data.params["valid/threshold"], data.params["test/threshold"]) == ("0.5", "0.7")
    assert data.metrics["test/recall"] < data.metrics["valid/recall"]
    assert second.artifacts == ("test/report.html", "test/evaluation.json")
    # What is logged again stays; what a run can't change is said before anything is written.
    assay.mlflow.log(evaluation(), run_id=first.run_id, prefix="valid/", artifacts=False)
    with pytest.raises(InputError, match=r"valid/threshold='0.5' already.*prefix="):
        assay.mlflow.log(evaluation(threshold=0.7), run_id=first.run_id, prefix="valid/")
    for odd in ("../", "a//", "a:", "/a"):
        with pytest.raises(InputError, match="a prefix holds"):
            assay.mlflow.log(evaluation(), run_id=first.run_id, prefix=odd)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("mlflow", ["file"], indirect=True)
def test_a_tag_that_no_longer_holds_goes(mlflow: Any) -> None:
    none = assay.evaluate(TRUTH, y_pred=np.full(200, "normal"))
    logged = assay.mlflow.log(none, artifacts=False)
    assert "precision" in logged.undefined
    assert "precision" not in logged.metrics
    counted = assay.evaluate_counts(tp=30, fp=5, fn=4, tn=200, labels=["normal", "attack"])
    anew = assay.mlflow.log(counted, run_id=logged.run_id, artifacts=False, step=1)
    tags = mlflow.get_run(logged.run_id).data.tags
    assert ("assay.undefined" in tags) == bool(anew.undefined)
    assert "precision:" not in tags.get("assay.undefined", "")
    assert [m.step for m in mlflow.MlflowClient().get_metric_history(logged.run_id, "f1")] == [0, 1]


@pytest.fixture
def registered(mlflow: Any) -> Any:
    """MLflow as it is where the entry point is installed."""
    pytest.importorskip("pandas", reason="pandas, which mlflow.evaluate needs, is missing")
    registry = pytest.importorskip("mlflow.models.evaluation.evaluator_registry")
    registry._model_evaluation_registry.register("assay", Evaluator)
    return mlflow


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("mlflow", ["file"], indirect=True)
def test_mlflow_evaluates_predictions_and_models(registered: Any) -> None:
    import pandas as pd
    from sklearn.linear_model import LogisticRegression

    frame = pd.DataFrame({"x": SCORE, "y": TRUTH, "p": SCORE})
    asked = {"targets": "y", "model_type": "classifier", "evaluators": "assay"}
    assessment = registered.models.evaluate(data=frame, predictions="p", **asked)
    assert assessment.metrics["recall"] == float(evaluation()["recall"])
    assert assessment.metrics["roc_auc_low"] == evaluation()["roc_auc"].low
    assert assessment.artifacts["evaluation.json"].content["schema"] == "assay.evaluation/1"
    assert "<html" in assessment.artifacts["report.html"].content

    model = LogisticRegression().fit(frame[["x"]], frame["y"])
    rows = frame[["x", "y"]]
    # With its packages named, MLflow does not look for them in a process of its own.
    registered.sklearn.save_model(model, "model", pip_requirements=["scikit-learn"])
    kept = registered.pyfunc.load_model("model")
    of_model = registered.models.evaluate(kept, rows, **asked)
    chance = model.predict_proba(frame[["x"]])[:, list(model.classes_).index("attack")]
    assert of_model.metrics["log_loss"] == pytest.approx(
        float(assay.evaluate(TRUTH, y_score=chance)["log_loss"])
    )
    said = registered.models.evaluate(model.predict, rows, **asked)
    assert "roc_auc" not in said.metrics
    assert said.metrics["accuracy"] == pytest.approx((model.predict(frame[["x"]]) == TRUTH).mean())


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("mlflow", ["file"], indirect=True)
def test_the_evaluator_reads_its_settings_and_refuses_others(registered: Any) -> None:
    import pandas as pd

    frame = pd.DataFrame({"y": ["cat", "dog"] * 50, "p": SCORE[:100], "q": ["cat", "dog"] * 50})
    asked = {"targets": "y", "model_type": "classifier", "evaluators": "assay"}
    settings = {"pos_label": "dog", "threshold": 0.3, "metric_prefix": "test_"}
    assessment = registered.models.evaluate(
        data=frame, predictions="p", evaluator_config=settings, **asked
    )
    own = assay.evaluate(frame["y"], y_score=frame["p"], positive="dog", threshold=0.3)
    assert assessment.metrics["test_recall"] == float(own["recall"])
    both = registered.models.evaluate(
        data=frame,
        predictions="q",
        evaluator_config={"positive": "dog", "score": "p", "average": "macro"},
        **asked,
    )
    assert both.metrics["recall"] == 1
    assert both.metrics["roc_auc"] == float(own["roc_auc"])
    for odd, message in (
        ({"positve": "dog"}, "'positve', which is not read"),
        ({"score": "z"}, "'z'"),
    ):
        with pytest.raises(InputError, match=message):
            registered.models.evaluate(data=frame, predictions="p", evaluator_config=odd, **asked)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("mlflow", ["file"], indirect=True)
def test_unasked_it_leaves_other_evaluators_to_their_work(
    registered: Any, caplog: pytest.LogCaptureFixture
) -> None:
    import pandas as pd

    frame = pd.DataFrame({"y": ["cat", "dog"] * 50, "p": ["cat", "dog"] * 50})
    asked = {"targets": "y", "model_type": "classifier"}
    assessment = registered.models.evaluate(data=frame, predictions="p", **asked)
    assert assessment.metrics["accuracy_score"] == 1
    assert "f1_low" not in assessment.metrics
    assert "assay could not evaluate" in caplog.text
    assert "'cat' and 'dog'" in caplog.text
