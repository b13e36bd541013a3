"""A fitted model with rows and their labels: what it says of the rows becomes arrays.

Models are asked by what they can do; no library is imported for it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import InputError, LabelError, LengthMismatch

Array: TypeAlias = npt.NDArray[Any]

_METHODS = ("predict_proba", "decision_function", "score_samples", "predict")
_DETECTORS = ("outlier_detector", "density_estimator", "DensityEstimator")
_REFUSED = {
    "regressor": "predicts numbers, and no labels. Give a classifier; or, if its numbers rank "
    "rows, rows(y, score=model.predict(X))",
    "clusterer": "finds clusters, which are no labels",
    "transformer": "transforms rows. Give the whole pipeline, with the classifier at its end",
}
_TORCH_ROWS = 4096


def is_model(source: Any) -> bool:
    """Whether a source is a model: something that predicts, or a function of rows."""
    if isinstance(source, type):
        return hasattr(source, "predict")
    return callable(source) or any(callable(getattr(source, m, None)) for m in _METHODS)


def predictions(model: Any, X: Any, y: Any) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The labels and what a fitted model says of the rows, by role, and what is to be noted.

    >>> predictions(lambda rows: [0.9 if n > 1000 else 0.2 for n in rows], [60, 1500], ["a", "b"])
    ({'label': ['a', 'b'], 'score': array([0.2, 0.9])}, ())
    """
    name = type(model).__name__
    _check(model, name)
    with _fitted(model, name):
        method, values = _ask(model, X, name)
    size = _size(y)
    if len(values) != size:
        raise LengthMismatch(
            f"{name} says something of {len(values):,} rows, and y has {size:,}: they must be the "
            f"same rows"
        )
    classes = [_plain(each) for each in getattr(model, "classes_", ())]
    columns: dict[str, Any] = {"label": y}
    if values.ndim == 2:
        columns |= _by_class(values, classes, y, name)
        return columns, ()
    if method == "predict":
        columns["decision"] = values
        return columns, (f"Only the decisions of {name} are judged: it ranks no rows",)
    columns["score"] = values
    if method in ("predict_proba", "decision_function") and len(classes) == 2:
        return columns, (f"Scores of {name} are those of its class {classes[1]!r}",)
    return columns, ()


def _check(model: Any, name: str) -> None:
    if isinstance(model, type):
        raise InputError(f"the model is the class {model.__name__} itself: make one and fit it")
    kind = _kind(model)
    if kind in _REFUSED:
        raise InputError(f"{name} is a {kind}, which {_REFUSED[kind]}")


def _kind(model: Any) -> str:
    tags = getattr(model, "__sklearn_tags__", None)
    try:
        kind = None if tags is None else tags().estimator_type
    except AttributeError:  # of a class that only looks like an estimator
        kind = None
    return str(kind or getattr(model, "_estimator_type", ""))


def _ask(model: Any, X: Any, name: str) -> tuple[str, Array]:
    """The method that a model was asked by, and what it gave; high numbers are suspicious."""
    libraries = {cls.__module__.partition(".")[0] for cls in type(model).__mro__}
    is_detector = _kind(model) in _DETECTORS
    methods: Sequence[str] = _METHODS[:3]
    if is_detector or "pyod" in libraries:
        methods = ("decision_function", "score_samples", "predict_proba")
    method = next((m for m in methods if hasattr(model, m)), None)
    if method is not None:
        values = getattr(model, method)(X)
        if isinstance(values, list):
            raise InputError(f"{name} gives {len(values)} outputs: judge one label at a time")
        low = method == "score_samples" or (is_detector and method == "decision_function")
        return method, -_array(values) if low else _array(values)
    if "torch" in libraries:
        return "", _of_torch(model, X)
    if not hasattr(model, "predict"):
        return "", _array(model(X))
    _check_order(model, X, name)
    of_keras = libraries & {"keras", "tf_keras", "tensorflow"}
    values = _array(model.predict(_plain_rows(X), verbose=0) if of_keras else model.predict(X))
    ranks = values.dtype.kind == "f" and (values.ndim == 2 or bool((values % 1 != 0).any()))
    return "" if ranks else "predict", values


def _by_class(values: Array, classes: Sequence[Any], y: Any, name: str) -> dict[str, Any]:
    """A probability for each class, which the model names, or the labels in their order."""
    from assay.reading.frames import probability_columns

    if classes and len(classes) == values.shape[1]:
        from assay.reading.checks import texts
        from assay.reading.frames import column_of

        known = texts(column_of(classes, "classes")).cast(str).to_list()
        unknown = set(texts(column_of(y, "y")).cast(str).drop_nulls().unique()) - set(known)
        if unknown:
            raise LabelError(
                f"y holds {sorted(unknown)[:4]}, which {name} did not learn; it knows {known[:6]}. "
                f"Leave those rows out, or give y as it was when the model was fitted"
            )
        return {f"probability:{label}": values[:, i] for i, label in enumerate(known)}
    columns = probability_columns(values, y)
    return {f"probability:{label}": column for label, column in columns.items()}


def _check_order(model: Any, X: Any, name: str) -> None:
    """Refuse columns in another order than a booster learned them: it reads them by position."""
    names = getattr(model, "feature_name", None) or getattr(model, "feature_names", None)
    learned = names() if callable(names) else names
    given = getattr(X, "column_names", getattr(X, "columns", None))
    if learned is None or given is None or set(given) != set(learned):
        return
    odd = next((i for i, feature in enumerate(learned) if given[i] != feature), None)
    if odd is not None:
        raise InputError(
            f"column {odd + 1} of X is {given[odd]!r}, where {name} learned {learned[odd]!r}: give "
            f"the columns in the order in which it learned them"
        )


@contextmanager
def _fitted(model: Any, name: str) -> Iterator[None]:
    """Tell of a model that was not fitted, whatever its library raises then."""
    unfitted = InputError(f"{name} is not fitted: fit it on other rows first")
    if callable(getattr(model, "is_fitted", None)) and not model.is_fitted():
        raise unfitted
    try:
        yield
    except (AttributeError, ValueError) as error:
        if not any(cls.__name__ == "NotFittedError" for cls in type(error).__mro__):
            raise
        raise unfitted from error


def _array(values: Any) -> Array:
    """What came back, as an array of one column or several."""
    if hasattr(values, "detach"):
        values = values.detach().cpu()
        values = values.float().numpy() if values.is_floating_point() else values.numpy()
    elif hasattr(values, "to_numpy"):
        values = values.to_numpy()
    array = np.asarray(values)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim not in (1, 2):
        raise InputError(f"the model gives an array of shape {array.shape}; a number a row needed")
    return array


def _plain_rows(X: Any) -> Any:
    """Rows as NumPy has them, where a library does not read the frame that they are in."""
    return X.to_numpy() if type(X).__module__.startswith(("polars", "pyarrow")) else X


def _size(y: Any) -> int:
    return len(y) if hasattr(y, "__len__") else int(np.size(y))


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _of_torch(model: Any, X: Any) -> Array:
    """What a torch module gives, in evaluation mode and without gradients; both as before after."""
    torch = sys.modules["torch"]
    modes = {module: module.training for module in model.modules()}
    first = next(iter(model.parameters()), None)
    rows = X if isinstance(X, torch.Tensor) else torch.as_tensor(np.asarray(_plain_rows(X)).copy())
    model.eval()
    try:
        with torch.no_grad():
            parts = []
            for start in range(0, len(rows), _TORCH_ROWS):
                part = rows[start : start + _TORCH_ROWS]
                if first is not None and part.is_floating_point():
                    part = part.to(device=first.device, dtype=first.dtype)
                given = model(part)
                parts.append(_array(getattr(given, "logits", given)))
            return np.concatenate(parts)
    finally:
        for module, mode in modes.items():
            module.training = mode
