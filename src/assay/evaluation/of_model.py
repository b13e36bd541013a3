"""From a model, rows and labels to an evaluation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.engines.arrays import resolved_arrays
from assay.errors import InputError, LabelError
from assay.evaluation.asking import response_of
from assay.evaluation.deployment import costs_of
from assay.evaluation.evaluation import Evaluation
from assay.evaluation.out_of_fold import Folds, fitted_on, folds_of, must_be_as_many, rows_of
from assay.evaluation.responses import Response, joined
from assay.inference import Method
from assay.sources import must_share_index
from assay.sources.arrays import slice_columns
from assay.sources.coded import Labels
from assay.sources.columns import TEXT, array_of, labels_of, must_be_as_long
from assay.sources.labelling import label_as, shown_labels

FOLD = "fold"


def evaluate_model(
    model: Any,
    X: Any,
    y: Any,
    *,
    positive: Any = None,
    negative: Any = None,
    cv: Any = None,
    groups: Any = None,
    response_method: str | None = None,
    classes: Sequence[Any] | None = None,
    logits: bool = False,
    fit_params: Mapping[str, Any] | None = None,
    threshold: float | None = None,
    sample_weight: Any = None,
    slices: Mapping[str, Any] | None = None,
    clusters: Any = None,
    family: str | None = None,
    times: Any = None,
    period: str | None = None,
    base_rate: float | Sequence[float] | None = None,
    volume: float | None = None,
    cost_fp: float | None = None,
    cost_fn: float | None = None,
    level: float | None = None,
    interval: Method | str | None = None,
) -> Evaluation:
    """Evaluate a fitted model on rows that it did not learn from, or with ``cv`` on folds of them.

    Models are asked by what they can do: classifiers and pipelines of scikit-learn, XGBoost,
    LightGBM and CatBoost, boosters, Keras models, torch modules (in evaluation mode, without
    gradients), outlier detectors, and functions from rows to scores. Scores are those of
    predict_proba, else of decision_function, score_samples or predict; ``response_method`` says
    which. Columns follow the model's ``classes_``. Where it has none, ``classes`` are the labels
    that its columns stand for (with ``cv`` it learns their numbers); ``logits`` makes probabilities
    of what it gives. What a model flags is what its ``predict`` decides, unless there is a
    ``threshold``.

    Nothing tells whether a model has seen rows before: without ``cv``, give rows that were held
    out. With ``cv``, a number of folds, a splitter or pairs of positions, a fresh copy of the model
    is fitted on each fold (with ``fit_params``) and judges the rows left out; slices by ``fold``
    tell how folds differ. Rows of one of the ``groups`` stay together, and intervals take groups as
    clusters unless there are ``clusters``. All else is as in :func:`assay.evaluate`.

    >>> rule = lambda rows: [0.9 if length > 1000 else 0.2 for length in rows]
    >>> evaluation = evaluate_model(rule, [60, 1500, 1400, 80], ["normal", "attack"] * 2)
    >>> evaluation["recall"].value, evaluation["false_positive_rate"].value
    (0.5, 0.5)
    """
    asked = Asked(response_method, classes, logits, fit_params)
    must_share_index(
        {"X": X, "y": y, "groups": groups, "sample_weight": sample_weight}
        | {"slices": slices, "times": times, "clusters": clusters}
    )
    y, truth = labels_in(y)
    must_be_as_many(X, len(truth.codes))
    per_row = {"sample_weight": sample_weight, "times": times, "slices": slices}
    per_row |= {"clusters": groups if clusters is None else clusters}
    notes: tuple[str, ...] = ()
    if cv is None:
        response = asked.of(model, X, truth)
    else:
        per_row["slices"] = slice_columns(slices)
        _must_be_of_these_rows(len(truth.codes), per_row)
        folds = folds_of(cv, X, y, groups)
        response = asked.out_of_fold(model, X, y, truth, folds)
        truth, per_row = judged_rows(folds, truth, per_row)
        notes = tuple(folds.notes())
    columns, said = response.columns(
        truth, positive=positive, negative=negative, threshold=threshold
    )
    tally, inferred, counted = resolved_arrays(truth, **columns, **per_row)
    return Evaluation(
        tally,
        level=level,
        interval=interval,
        base_rate=base_rate,
        volume=volume,
        costs=costs_of(cost_fp, cost_fn),
        family=family,
        period=period,
        source={"name": response.model, "rows_read": counted.rows},
        notes=(*notes, *said, *inferred),
    )


def _must_be_of_these_rows(size: int, per_row: Mapping[str, Any]) -> None:
    """Refuse columns of another length, of which folds would take the first rows."""
    columns = {**per_row, **per_row["slices"]}
    must_be_as_long(
        size, {n: c for n, c in columns.items() if n != "slices" and hasattr(c, "__len__")}
    )


def labels_in(y: Any) -> tuple[Any, Labels]:
    """The labels as an array, and coded; refuses more than one column."""
    shape = getattr(y, "shape", None)
    if shape is not None and len(shape) == 2 and shape[1] > 1:
        raise InputError(
            f"y has {shape[1]} columns, and one of labels is needed: of columns with a 1 where a "
            f"label holds take y.argmax(axis=1), of several labels judge one at a time"
        )
    array = array_of(y, "y")
    truth = labels_of(array, "y")
    if array.dtype.kind == "O" and truth.kind != TEXT:
        # Splitters and classifiers refuse numbers and booleans in a column of objects.
        array = np.array(array.tolist())
    return array, truth


@dataclass(frozen=True)
class Asked:
    """How a model is asked what it says of rows, and how it is fitted."""

    response_method: str | None = None
    classes: Sequence[Any] | None = None
    logits: bool = False
    fit_params: Mapping[str, Any] | None = None

    def of(self, model: Any, X: Any, truth: Labels) -> Response:
        """What a fitted model says of rows."""
        if self.fit_params is not None:
            raise InputError("fit_params= are for fits on folds: say cv=, or leave them out")
        return self._said(model, X, truth)

    def _said(self, model: Any, X: Any, truth: Labels) -> Response:
        return response_of(
            model,
            X,
            truth,
            response_method=self.response_method,
            classes=self.classes,
            logits=self.logits,
        )

    def by_fold(self, model: Any, X: Any, y: Any, truth: Labels, folds: Folds) -> list[Response]:
        """What fits of a model say of the rows of each fold, which they did not learn from."""
        found = []
        if self.classes is not None:
            # The model does not know labels by name, so it learns their numbers.
            y = _numbered(truth, self.classes)
        for fold in folds.every:
            fitted = fitted_on(model, X, y, fold.train, self.fit_params)
            there = Labels(truth.codes[fold.test], truth.names, truth.kind)
            found.append(self._said(fitted, rows_of(X, fold.test), there))
        return found

    def out_of_fold(self, model: Any, X: Any, y: Any, truth: Labels, folds: Folds) -> Response:
        """The same of all folds together."""
        return joined(self.by_fold(model, X, y, truth, folds))


def _numbered(truth: Labels, classes: Sequence[Any]) -> Any:
    """Labels as the numbers of their classes."""
    names = [label_as(label, truth.kind, "classes") for label in classes]
    absent = [name for name in truth.names if name not in names]
    if absent:
        raise LabelError(
            f"y holds {shown_labels(absent, truth.kind)}, which classes= does not list: "
            f"{shown_labels(names, truth.kind)}"
        )
    return np.array([names.index(name) for name in truth.names], np.int64)[truth.codes]


def judged_rows(
    folds: Folds, truth: Labels, per_row: Mapping[str, Any]
) -> tuple[Labels, dict[str, Any]]:
    """Labels and columns of the rows that were judged, fold by fold, with the fold as a slice."""
    at = folds.judged
    slices = per_row.get("slices", {})
    if FOLD in slices:
        raise InputError(f"slices= may not be called {FOLD!r}: with cv= that is the fold of a row")
    found = {
        name: None if column is None else rows_of(column, at)
        for name, column in per_row.items()
        if name != "slices"
    }
    found["slices"] = {FOLD: np.array(folds.names), **rows_of(slices, at)}
    if found["clusters"] is None and folds.repeated:
        found["clusters"] = at
    return Labels(truth.codes[at], truth.names, truth.kind).used(), found
