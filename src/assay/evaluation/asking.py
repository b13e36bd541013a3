"""Ask a model what it says of rows, and tell of which label each of its columns is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from assay.errors import InputError, LabelError, ScoreError
from assay.evaluation.outputs import (
    DETECTOR,
    PROBABILITY,
    Output,
    kind_of_model,
    library_of_model,
    outputs,
)
from assay.evaluation.predictions import DECISIONS, role_of
from assay.evaluation.responses import Array, Response
from assay.sources.coded import Labels
from assay.sources.columns import BOOLEAN, NUMBER, label_kind, label_text, labels_of
from assay.sources.labelling import label_as, shown_labels
from assay.sources.number_checks import SUM_TOLERANCE

# What a model that only tells usual rows from unusual ones decides for the latter.
_UNUSUAL = {"pyod": 1}


def response_of(
    model: Any,
    X: Any,
    truth: Labels,
    *,
    response_method: str | None = None,
    classes: Sequence[Any] | None = None,
    logits: bool = False,
    decide: bool = True,
) -> Response:
    """What a model says of rows whose labels are these.

    ``classes`` are the labels that its classes stand for, where it does not know them by name.
    """
    said, decided = outputs(model, X, response_method, decide=decide)
    found = Response(_name(model), _classes(model, truth, classes))
    library = library_of_model(model)
    detects = kind_of_model(model) == DETECTOR or library == "pyod"
    if detects and decided is not None:
        found = replace(found, flagged=decided.values == _UNUSUAL.get(library or "", -1))
        found = replace(found, classes=None)
    elif decided is not None:
        found = _with_decisions(found, decided.values, truth)
    if said is None:
        return found
    if detects or said.low:
        return replace(found, **_of_detector(found, said))
    if logits:
        # What was decided by raw numbers is decided by probabilities at their own threshold.
        said = replace(said, values=_as_probabilities(said, found.model), threshold=None)
    elif said.values.ndim == 1 and library is None and not said.method:
        # A function may give scores or decisions.
        role, notes = role_of(said.values, truth, f"what {found.model} gives")
        found = replace(found, notes=notes)
        if role == DECISIONS:
            return _with_decisions(found, said.values, truth)
    if said.values.dtype.kind not in "iuf":
        return _with_decisions(found, said.values, truth)
    if said.values.ndim == 2:
        return _of_columns(found, said, truth)
    return _of_one_column(model, found, said, truth)


def _name(model: Any) -> str:
    """What a model is called: its class, of a pipeline with that of its last step."""
    own = str(getattr(model, "__name__", type(model).__name__))
    steps = getattr(model, "steps", None)
    return f"{own}({type(steps[-1][1]).__name__})" if isinstance(steps, list) and steps else own


def _classes(model: Any, truth: Labels, given: Sequence[Any] | None) -> tuple[str, ...] | None:
    """The labels that a model knows, written as the truth writes them."""
    own = getattr(model, "classes_", None)
    if own is not None and not hasattr(own, "__len__"):
        own = None
    if given is not None:
        if isinstance(given, str) or not hasattr(given, "__iter__"):
            raise InputError(f"classes= is a list of labels; found {given!r}")
        texts = tuple(label_as(label, truth.kind, "classes") for label in given)
        if own is not None and len(own) != len(texts):
            raise InputError(
                f"classes= names {len(texts)} labels, and {_name(model)} knows {len(own)} classes: "
                f"{shown_labels([str(label) for label in own])}"
            )
        return texts
    if own is None or not len(own):
        return None
    return _written([label_text(label) for label in own], label_kind(own[0]), truth)


def _written(texts: Sequence[str], kind: str, truth: Labels) -> tuple[str, ...]:
    """The texts of labels; booleans beside 0 and 1 are written as the truth does."""
    table = {}
    if kind == BOOLEAN and truth.kind == NUMBER:
        table = {"false": "0", "true": "1"}
    elif kind == NUMBER and truth.kind == BOOLEAN:
        table = {"0": "false", "1": "true"}
    return tuple(table.get(text, text) for text in texts)


def _with_decisions(found: Response, values: Array, truth: Labels) -> Response:
    """The response with what was decided; codes of classes that were named get their names."""
    coded = labels_of(values, f"what {found.model} decides")
    names = _written(coded.names, coded.kind, truth)
    if found.classes is not None and not set(names) <= set(found.classes):
        codes = {str(i): text for i, text in enumerate(found.classes)}
        own = set(names) <= set(codes)
        names = tuple(codes[text] for text in names) if own else names
    return replace(found, decisions=Labels(coded.codes, names, truth.kind))


def _of_detector(found: Response, said: Output) -> dict[str, Any]:
    notes = found.notes
    if said.low:
        note = (
            f"{said.method} of {found.model} is low for unusual rows, so it was turned over: "
            f"higher is more suspicious"
        )
        notes = (*notes, note)
    return {"scores": said.values, "threshold": said.threshold, "notes": notes, "classes": None}


def _of_columns(found: Response, said: Output, truth: Labels) -> Response:
    """A column a class: probabilities where rows sum to 1, else what a classifier decides by."""
    classes, values = found.classes, said.values
    if said.threshold is not None and said.method:
        return replace(found, scores=values)
    total = values.sum(axis=1, dtype=np.float64)
    if not _sums_to_one(values):
        raise ScoreError(
            f"{found.model} gives {values.shape[1]} columns whose rows do not sum to 1, such as "
            f"{values[np.abs(total - 1).argmax()].tolist()}, so they are no probabilities. If they "
            f"are logits, say logits=True"
        )
    notes = found.notes
    if classes is None:
        ordered = sorted(truth.names, key=lambda t: int(t) if truth.kind == NUMBER else t)
        if len(ordered) != values.shape[1]:
            raise LabelError(
                f"{found.model} gives {values.shape[1]} columns, and y holds {len(ordered)} "
                f"labels, {shown_labels(ordered, truth.kind)}: say classes= with the label of each "
                f"column"
            )
        classes = tuple(ordered)
        note = (
            f"{found.model} names no classes, so its columns were taken in the order of the "
            f"labels: {shown_labels(classes, truth.kind)}; say classes= where it is another"
        )
        notes = (*notes, note)
    elif len(classes) != values.shape[1]:
        raise LabelError(
            f"{found.model} gives {values.shape[1]} columns, and there are {len(classes)} classes, "
            f"{shown_labels(classes)}: say classes= with the label of each column"
        )
    table = np.asarray(values, np.float64)
    if values.dtype != np.float64:
        table = table / total[:, None]
    return replace(found, probabilities=table, classes=classes, notes=notes)


def _of_one_column(model: Any, found: Response, said: Output, truth: Labels) -> Response:
    """One number a row: of which label, its classes tell, or the labels where they are 0 and 1."""
    classes = found.classes
    scores = np.asarray(said.values)
    if scores.dtype.kind != "f":
        scores = scores.astype(np.float64)
    if said.method == PROBABILITY and classes is not None and len(classes) == 1:
        return replace(found, probabilities=np.asarray(scores[:, None], np.float64))
    of, untold = None, False
    if classes is not None and len(classes) == 2:
        of = classes[1]
    elif set(truth.names) <= {"0", "1"} and truth.kind == NUMBER:
        of = "1"
    elif truth.kind == BOOLEAN:
        of = "true"
    elif said.method or library_of_model(model) is not None:
        # Encoders number labels in sorted order; whoever numbers by hand gives the alarm a 1.
        of, untold = max(truth.names), True
    return replace(found, scores=scores, of=of, untold=untold, threshold=said.threshold)


def _as_probabilities(said: Output, model: str) -> Array:
    """Logits as probabilities: one column by the sigmoid, several by softmax."""
    values = said.values
    if values.dtype.kind != "f":
        raise InputError(f"logits=True is for numbers; {model} gives {values.dtype}")
    wide = values.astype(np.float64)
    if wide.ndim == 1:
        return np.asarray(np.exp(-np.logaddexp(0, -wide)))
    if _sums_to_one(values):
        raise InputError(
            f"the columns of {model} sum to 1, so they are probabilities: leave logits=True out"
        )
    shifted = np.exp(wide - wide.max(axis=1, keepdims=True))
    return np.asarray(shifted / shifted.sum(axis=1, keepdims=True))


def _sums_to_one(values: Array) -> bool:
    """Whether rows are probabilities; sums of narrow floats are off by their rounding."""
    if values.dtype.kind != "f" or values.min(initial=0) < 0 or values.max(initial=0) > 1:
        return False
    room = max(SUM_TOLERANCE, 4 * values.shape[1] * float(np.finfo(values.dtype).eps))
    return bool((np.abs(values.sum(axis=1, dtype=np.float64) - 1) <= room).all())
