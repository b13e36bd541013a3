"""Evaluations in MLflow: logged into a run, and made by ``mlflow.evaluate``.

MLflow is imported when something is logged; the extra ``mlflow`` brings it.
"""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from time import time
from typing import TYPE_CHECKING, Any

from assay.errors import AssayError, InputError, __version__, install_line

if TYPE_CHECKING:
    from assay.v02.evaluation import Evaluation
    from assay.v02.inference import Estimate

__all__ = ["Evaluator", "Logged", "log"]

_ENDS = ("", "_low", "_high")
# What a name may not hold: on Windows MLflow allows fewer signs than elsewhere.
_ODD = re.compile(r"[^\w.\- ]")
# Limits of MLflow: of a name with its end, of a tag, and of one request.
_LONGEST_NAME, _LONGEST_TAG, _MOST_METRICS = 240, 5000, 1000
_LOGGER = logging.getLogger(__name__)


@dataclass(frozen=True)
class Logged:
    """What went into a run: its metrics, why some have no value or no interval, and its files."""

    run_id: str
    metrics: Mapping[str, float]
    undefined: Mapping[str, str]
    without_interval: tuple[str, ...]
    artifacts: tuple[str, ...]


def log(
    evaluation: Evaluation,
    *,
    run_id: str | None = None,
    prefix: str = "",
    step: int = 0,
    slices: bool = False,
    artifacts: bool = True,
    model_id: str | None = None,
) -> Logged:
    """Log an evaluation into the active run of MLflow, or into that of ``run_id``.

    Each estimate becomes the metrics ``recall``, ``recall_low`` and ``recall_high``; at a base rate
    they stand under ``base_rate_0.001/``, of a slice, with ``slices``, under
    ``slice/column/value/``. A value that is undefined is left out, never 0, and the tag
    ``assay.undefined`` says why. Parameters are the positive label, the threshold and the level.
    The report and the JSON document are kept as ``report.html`` and ``evaluation.json``.
    ``prefix`` stands before each name, so that one run can hold several evaluations. Without any
    run one is made, and ended.
    """
    from assay.v02.report import document_of, draw

    entries = getattr(evaluation, "entries", None)
    if entries is None:
        raise InputError(
            f"log() takes an evaluation, as assay.evaluate gives one; found "
            f"{type(evaluation).__name__}"
        )
    mlflow = _imported()
    _check_prefix(prefix)
    document = document_of(evaluation)
    named = _metric_names(document.result.entries, evaluation.positive, prefix, slices=slices)
    metrics, undefined, without = _metrics(named)
    params = {"positive": evaluation.positive, "threshold": document.result.threshold}
    params |= {"level": evaluation.level}
    files = {"report.html": "html", "evaluation.json": "json"} if artifacts else {}
    with _run(mlflow, run_id) as run:
        client = mlflow.MlflowClient()
        old = client.get_run(run).data
        _log_params(client, run, old.params, params, prefix)
        _log_metrics(mlflow, client, run, metrics, step, model_id)
        tags = {"version": __version__, "headline": document.headline}
        tags |= {"undefined": _reasons(undefined), "without_interval": ", ".join(without)}
        _log_tags(client, run, old.tags, {f"{prefix}assay.{key}": tags[key] for key in tags})
        for name, face in files.items():
            client.log_text(run, draw(document, face), f"{prefix}{name}")
    return Logged(run, metrics, undefined, without, tuple(f"{prefix}{name}" for name in files))


def _imported() -> Any:
    try:
        import mlflow
    except ImportError as missing:
        raise InputError(
            f"MLflow is not installed, or not whole ({missing}): {install_line('mlflow')}"
        ) from missing
    return mlflow


def _check_prefix(prefix: str) -> None:
    """Refuse what MLflow would, before anything is written."""
    parts = prefix.split("/")
    forbidden = _ODD.search(prefix.replace("/", ""))
    if forbidden or any(part in ("", ".", "..") for part in parts[:-1]):
        raise InputError(
            f"a prefix holds letters, digits, _ - . and blanks, and may have folders, as in "
            f"'test/'; found {prefix!r}"
        )


@contextmanager
def _run(mlflow: Any, run_id: str | None) -> Iterator[str]:
    """The run that was asked for, else the active one, else one that ends with this."""
    active = mlflow.active_run()
    if run_id is not None:
        yield run_id
    elif active is not None:
        yield active.info.run_id
    else:
        with mlflow.start_run() as run:
            yield run.info.run_id


# -- names -----------------------------------------------------------------------------------------


def _metric_names(
    entries: Iterable[Any], positive: str | None, prefix: str, *, slices: bool
) -> dict[str, Estimate]:
    """Estimates by names that MLflow allows, no two alike: averages keep theirs before labels."""
    kept = [entry for entry in entries if slices or entry.slice is None]
    estimates: dict[str, Estimate] = {}
    taken: set[str] = set()
    for entry in sorted(kept, key=lambda entry: entry.average is None):
        stem = f"{prefix}{_name(entry, positive)}"[:_LONGEST_NAME]
        name, number = stem, 1
        while any(name + end in taken for end in _ENDS):
            number += 1
            name = f"{stem}_{number}"
        taken |= {name + end for end in _ENDS}
        estimates[name] = entry.estimate
    return estimates


def _name(entry: Any, positive: str | None) -> str:
    """What an estimate is of; folders come first, since a name can't be a folder too."""
    suffix = entry.average or (None if entry.label == positive else entry.label)
    name = entry.measure if suffix is None else f"{entry.measure}.{_clean(suffix)}"
    if entry.base_rate is not None:
        name = f"base_rate_{entry.base_rate:g}/{name}"
    if entry.slice is not None:
        column, value = entry.slice
        name = f"slice/{_clean(column)}/{_clean(value)}/{name}"
    return name


def _clean(text: str) -> str:
    """A label or column as part of a name, with ``_`` for what MLflow does not allow.

    >>> _clean("brute force (ssh)"), _clean(".."), _clean("")
    ('brute force _ssh_', '__', '_')
    """
    name = _ODD.sub("_", text) or "_"
    return name.replace(".", "_") if not name.strip(".") else name


def _metrics(
    named: Mapping[str, Estimate],
) -> tuple[dict[str, float], dict[str, str], tuple[str, ...]]:
    """The numbers that there are; why others are undefined; and those without an interval."""
    metrics: dict[str, float] = {}
    undefined: dict[str, str] = {}
    without = []
    for name, estimate in named.items():
        value = float(estimate)
        if not math.isfinite(value):
            undefined[name] = estimate.undefined or f"it is {value}"
            continue
        metrics[name] = value
        ends = {f"{name}_low": estimate.low, f"{name}_high": estimate.high}
        metrics |= {end: number for end, number in ends.items() if math.isfinite(number)}
        if not all(map(math.isfinite, ends.values())):
            without.append(name)
    return metrics, undefined, tuple(without)


# -- writing ---------------------------------------------------------------------------------------


def _log_params(
    client: Any, run: str, old: Mapping[str, str], params: Mapping[str, Any], prefix: str
) -> None:
    """What an evaluation is of; a run can't change a parameter, so that is said before."""
    texts = {f"{prefix}{key}": str(value) for key, value in params.items() if value is not None}
    for key, text in texts.items():
        if old.get(key, text) != text:
            raise InputError(
                f"the run {run} has the parameter {key}={old[key]!r} already, which MLflow can't "
                f"change to {text!r}: log into another run, or with another prefix="
            )
    from mlflow.entities import Param

    client.log_batch(run, params=[Param(key, text) for key, text in texts.items()])


def _log_metrics(
    mlflow: Any,
    client: Any,
    run: str,
    metrics: Mapping[str, float],
    step: int,
    model_id: str | None,
) -> None:
    made = round(1000 * time())
    # Versions before 3 know of no models here.
    of_model = {} if model_id is None else {"model_id": model_id}
    rows = [
        mlflow.entities.Metric(name, value, made, step, **of_model)
        for name, value in metrics.items()
    ]
    for start in range(0, len(rows), _MOST_METRICS):
        client.log_batch(run, metrics=rows[start : start + _MOST_METRICS])


def _log_tags(client: Any, run: str, old: Mapping[str, str], tags: Mapping[str, str]) -> None:
    """Tags that say something; one of an earlier evaluation that no longer holds goes."""
    for key, text in tags.items():
        if text:
            client.set_tag(run, key, text)
        elif key in old:
            client.delete_tag(run, key)


def _reasons(undefined: Mapping[str, str]) -> str:
    """Names by their reason, as long as a tag may be."""
    by_reason: dict[str, list[str]] = {}
    for name, reason in undefined.items():
        by_reason.setdefault(reason, []).append(name)
    text = "; ".join(f"{', '.join(names)}: {reason}" for reason, names in by_reason.items())
    if len(text) <= _LONGEST_TAG:
        return text
    names = ", ".join(undefined)
    more = f" ... ({len(undefined)} in all; evaluation.json has the reasons)"
    return names if len(names) <= _LONGEST_TAG else names[: _LONGEST_TAG - len(more)] + more


# -- mlflow.evaluate -------------------------------------------------------------------------------

# What ``evaluator_config`` may hold: our names, and those that MLflow has for the same.
_SETTINGS = {
    "positive": "positive",
    "pos_label": "positive",
    "negative": "negative",
    "threshold": "threshold",
    "level": "level",
    "interval": "interval",
    "base_rate": "base_rate",
    "labels": "labels",
    "label_list": "labels",
    "sample_weights": "sample_weight",
}
_OWN = ("score", "metric_prefix")
# What MLflow's own evaluators read: one configuration may be given to all of them.
_OF_OTHERS = frozenset(
    {
        "average",
        "col_mapping",
        "explainability_algorithm",
        "explainability_kernel_link",
        "explainability_nsamples",
        "log_explainer",
        "log_metrics_with_dataset_info",
        "log_model_explainability",
        "max_classes_for_multiclass_roc_pr",
        "retriever_k",
    }
)


class Evaluator:
    """What ``mlflow.evaluate(..., model_type="classifier", evaluators="assay")`` calls.

    ``evaluator_config`` may hold ``positive`` (or ``pos_label``), ``negative``, ``threshold``,
    ``level``, ``interval``, ``base_rate``, ``labels``, ``sample_weights``, ``metric_prefix``, and
    ``score``, the column of the data that holds scores. It has the methods of MLflow's
    ``ModelEvaluator`` and is not derived from it, so that it is there without MLflow.
    """

    @classmethod
    def can_evaluate(cls, *, model_type: str, evaluator_config: Any, **_: Any) -> bool:
        """Whether the model sorts rows into classes."""
        del evaluator_config
        return model_type == "classifier"

    def evaluate(
        self,
        *,
        model_type: str,
        dataset: Any,
        run_id: str,
        evaluator_config: Mapping[str, Any] | None = None,
        model: Any = None,
        predictions: str | None = None,
        model_id: str | None = None,
        **_: Any,
    ) -> Any:
        """Judge a model or its predictions, log what is found, and give it back.

        MLflow asks every evaluator that is installed. Where nothing was said to this one and the
        rows can't be judged, it warns and leaves the others to their work.
        """
        del model_type
        config = dict(evaluator_config or {})
        try:
            evaluation = _evaluated(dataset, config, model, predictions)
        except AssayError as error:
            if config:
                raise
            _LOGGER.warning("assay could not evaluate: %s", error)
            return None
        prefix = config.get("metric_prefix") or ""
        logged = log(evaluation, run_id=run_id, prefix=prefix, model_id=model_id)
        return _result(logged)


def _evaluated(
    dataset: Any, config: Mapping[str, Any], model: Any, predictions: str | None
) -> Evaluation:
    from assay.v02 import evaluate, evaluate_model

    unknown = [key for key in config if key not in {*_SETTINGS, *_OWN, *_OF_OTHERS}]
    if unknown:
        raise InputError(
            f"evaluator_config has {unknown[0]!r}, which is not read; there are "
            f"{', '.join((*_SETTINGS, *_OWN))}"
        )
    settings = {_SETTINGS[key]: value for key, value in config.items() if key in _SETTINGS}
    truth = dataset.labels_data
    if truth is None:
        raise InputError("the data has no labels: say targets=, the column of them")
    raw = None if model is None or "score" in config else _raw(model)
    if hasattr(raw, "predict_proba") or hasattr(raw, "decision_function"):
        if "labels" in settings:
            settings["classes"] = settings.pop("labels")
        return evaluate_model(raw, dataset.features_data, truth, **settings)
    said = _model_outputs(dataset, truth, config.get("score"), model, predictions)
    return evaluate(truth, **said, **settings)


def _model_outputs(
    dataset: Any, truth: Any, score: str | None, model: Any, predictions: str | None
) -> dict[str, Any]:
    """What the model said of the rows: by name where it is known, else as a column to be told."""
    from assay.v02.evaluation.outputs import DECISIONS, SCORES, by_position

    rows = dataset.features_data
    if score is not None:
        if score not in getattr(rows, "columns", ()):
            there = ", ".join(map(repr, getattr(rows, "columns", ())))
            raise InputError(f"the data has no column {score!r}; there are {there or 'no names'}")
        said = {SCORES: rows[score]}
        if model is None and dataset.predictions_data is not None:
            told, _ = by_position(truth, dataset.predictions_data, {})
            said |= {DECISIONS: told[DECISIONS]} if DECISIONS in told else {}
        return said
    if model is None:
        if dataset.predictions_data is None:
            raise InputError("there is no model, and no predictions=, the column of what it said")
        return {"predictions": dataset.predictions_data}
    prediction = model.predict(rows)
    if predictions is not None and predictions in getattr(prediction, "columns", ()):
        prediction = prediction[predictions]
    return {"predictions": prediction}


def _raw(model: Any) -> Any:
    """The model that MLflow has wrapped, where it gives it."""
    try:
        return model.get_raw_model()
    except (AttributeError, NotImplementedError):
        return None


def _result(logged: Logged) -> Any:
    """What MLflow asks back: the metrics, and the files, which it reads when they are looked at."""
    from mlflow.models.evaluation.artifacts import JsonEvaluationArtifact, TextEvaluationArtifact
    from mlflow.models.evaluation.base import EvaluationResult

    kinds = {True: JsonEvaluationArtifact, False: TextEvaluationArtifact}
    artifacts = {
        name: kinds[name.endswith(".json")](f"runs:/{logged.run_id}/{name}")
        for name in logged.artifacts
    }
    return EvaluationResult(dict(logged.metrics), artifacts, logged.run_id)
