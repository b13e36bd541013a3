"""What models give out for rows: asked for by protocol, or given and told by its values.

No library is imported for it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.v02.engines.arrays import library_of
from assay.errors import InputError, LabelError
from assay.v02.sources.coded import Labels
from assay.v02.sources.columns import (
    BOOLEAN,
    NUMBER,
    TEXT,
    array_of,
    is_missing,
    kept_once,
    label_kind,
    label_text,
)
from assay.v02.sources.labelling import shown_labels

Array: TypeAlias = npt.NDArray[Any]

PROBABILITY, DECISION_VALUE, SAMPLES = "predict_proba", "decision_function", "score_samples"
PREDICT = "predict"
METHODS = (PROBABILITY, DECISION_VALUE, SAMPLES, PREDICT)
CLASSIFIER, DETECTOR, DENSITY = "classifier", "outlier_detector", "density_estimator"
_REFUSED = {
    "regressor": "which predicts numbers, and there are no labels to be right or wrong about. "
    "Give a classifier; or, if its numbers rank rows, say so: "
    "assay.evaluate(y, y_score=model.predict(X))",
    "clusterer": "whose clusters are no labels. Match them to labels first, and give these to "
    "assay.evaluate(y, y_pred=...)",
    "transformer": "which transforms rows and says nothing of labels. Give the whole pipeline, "
    "with the classifier at its end",
}
_ALONE = ("keras", "tf_keras", "tensorflow", "torch", "xgboost", "lightgbm", "catboost", "pyod")
_KERAS = ("keras", "tf_keras", "tensorflow")
# What boosters without the methods of a classifier have, and rankers have not.
_BOOSTERS = {"xgboost": "save_config", "lightgbm": "dump_model", "catboost": "get_all_params"}
# Rows that a torch module is given at once.
_BATCH = 4096
# Where the outputs of boosters without the methods of a classifier cross from no to yes.
_MARGINS = ("binary:logitraw",)
_NUMBERS = ("reg:squared", "reg:absolute", "reg:pseudo", "reg:gamma", "reg:tweedie", "count:")
_LIGHT_NUMBERS = ("regression", "huber", "fair", "poisson", "quantile", "mape", "gamma", "tweedie")
SCORES, DECISIONS, PROBABILITIES = "y_score", "y_pred", "y_proba"
_NAME = "the second argument"
# Enough rows to meet a fraction where scores have any; else all are looked at.
_FIRST_LOOK = 1 << 16


@dataclass(frozen=True, eq=False)
class Output:
    """What one method of a model gave: a column, or a column a class.

    ``method`` is the one that gave it, empty where the model itself was called. ``low`` tells that
    low numbers are the suspicious ones, ``threshold`` where yes begins.
    """

    values: Array
    method: str
    low: bool = False
    threshold: float | None = None


def library_of_model(model: Any) -> str | None:
    """The library that a model, or a class that it inherits from, comes from."""
    roots = (cls.__module__.partition(".")[0] for cls in type(model).__mro__)
    return next((root for root in roots if root in _ALONE), None)


def kind_of_model(model: Any) -> str | None:
    """Classifier, regressor, outlier detector and so on, as scikit-learn's tags tell it."""
    tags = getattr(model, "__sklearn_tags__", None)
    kind = None
    if tags is not None:
        try:
            kind = tags().estimator_type
        except AttributeError:  # of a class that only looks like an estimator
            kind = None
    kind = kind or getattr(model, "_estimator_type", None)
    return {"DensityEstimator": DENSITY}.get(str(kind), kind)


def must_be_a_model(model: Any) -> None:
    """Refuse a class, a name, and estimators that say nothing of labels."""
    if isinstance(model, type):
        raise InputError(
            f"the model is the class {model.__name__} itself: make one, {model.__name__}(...), and "
            f"fit it"
        )
    name, kind = type(model).__name__, kind_of_model(model)
    if kind in _REFUSED:
        raise InputError(f"{name} is a {kind}, {_REFUSED[kind]}")
    if not callable(model) and not any(hasattr(model, method) for method in METHODS):
        novelty = ". Make it with novelty=True" if hasattr(model, "novelty") else ""
        raise InputError(
            f"{name} has none of {', '.join(METHODS)}, and can't be called: what it says of rows "
            f"can't be asked{novelty}"
        )


def outputs(
    model: Any, X: Any, method: str | None, *, decide: bool = True
) -> tuple[Output | None, Output | None]:
    """What a model ranks rows by, and what it decides; None where it does not tell.

    ``method`` is the one to ask; by default the first that there is of predict_proba,
    decision_function, score_samples and predict. Without ``decide``, a model that gives
    probabilities is not asked for decisions.
    """
    must_be_a_model(model)
    if method is not None and method not in METHODS:
        raise InputError(f"response_method= is one of {', '.join(METHODS)}; found {method!r}")
    if method is not None and not hasattr(model, method):
        methods = [name for name in METHODS if hasattr(model, name)]
        raise InputError(
            f"{type(model).__name__} has no {method}; it has {', '.join(methods) or 'none of them'}"
        )
    with _fitted(model):
        library = library_of_model(model)
        if hasattr(model, PROBABILITY) or hasattr(model, DECISION_VALUE) or method is not None:
            return _of_methods(model, X, method, library, decide=decide)
        if library in _BOOSTERS and hasattr(model, _BOOSTERS[library]):
            return _of_booster(model, X, library)
        if library == "torch":
            return Output(_forward(model, X), ""), None
        if library in _KERAS:
            return Output(_array(model.predict(_plain_rows(X), verbose=0)), ""), None
        if hasattr(model, SAMPLES):
            return Output(-_array(model.score_samples(X)), SAMPLES, low=True), None
        if not hasattr(model, PREDICT):
            return Output(_array(model(X)), ""), None
        output = Output(_array(model.predict(X)), PREDICT)
        return (output, None) if _are_scores(output.values) else (None, output)


def _are_scores(values: Array) -> bool:
    """Whether what predict gives can't be labels: numbers with a fraction, or a column a class."""
    return values.dtype.kind == "f" and (values.ndim == 2 or has_fraction(values))


def _of_methods(
    model: Any, X: Any, method: str | None, library: str | None, *, decide: bool
) -> tuple[Output | None, Output | None]:
    """What the methods of a classifier or detector give, in scikit-learn's way."""
    kind = kind_of_model(model)
    if method is None:
        wanted: tuple[str, ...] = (PROBABILITY, DECISION_VALUE, SAMPLES)
        if kind in (DETECTOR, DENSITY):
            wanted = (DECISION_VALUE, SAMPLES, PROBABILITY)
        elif library == "pyod":
            wanted = (DECISION_VALUE,)
        method = next((name for name in wanted if hasattr(model, name)), PREDICT)
    decided = None
    if hasattr(model, PREDICT) and kind != DENSITY and (decide or method != PROBABILITY):
        decided = Output(_array(model.predict(X)), PREDICT)
    if method == PREDICT:
        return None, decided
    values = getattr(model, method)(X)
    if isinstance(values, list):
        raise InputError(
            f"{type(model).__name__} gives {len(values)} tables of probabilities, one an output: "
            f"judge one label at a time"
        )
    column = _array(values)
    low = method == SAMPLES or (method == DECISION_VALUE and kind in (DETECTOR, DENSITY))
    threshold = 0.0 if method == DECISION_VALUE and library != "pyod" else None
    return Output(-column if low else column, method, low, threshold), decided


def _of_booster(model: Any, X: Any, library: str) -> tuple[Output | None, Output | None]:
    """A booster without the methods of a classifier: what its objective makes of its sums."""
    if library == "catboost":
        loss = str(model.get_all_params().get("loss_function", ""))
        if not loss.startswith(("Logloss", "CrossEntropy", "MultiClass")):
            raise _numbers_only(model, loss)
        return Output(_array(model.predict(X, prediction_type="Probability")), PROBABILITY), None
    if library == "xgboost":
        config = json.loads(model.save_config())
        objective = config["learner"]["learner_train_param"]["objective"]
        if objective.startswith(_NUMBERS):
            raise _numbers_only(model, objective)
        _must_be_in_order(model, X, getattr(model, "feature_names", None))
        rows = hasattr(X, "num_row")
        values = _array(model.predict(X) if rows else model.inplace_predict(_plain_rows(X)))
        if objective in ("multi:softmax", "binary:hinge"):
            return None, Output(values.astype(np.int64), PREDICT)
        return Output(values, "", threshold=0.0 if objective in _MARGINS else None), None
    objective = str(model.params.get("objective") or model.dump_model(num_iteration=1)["objective"])
    if objective.startswith(_LIGHT_NUMBERS):
        raise _numbers_only(model, objective)
    _must_be_in_order(model, X, model.feature_name())
    return Output(_array(model.predict(_plain_rows(X))), ""), None


def _must_be_in_order(model: Any, X: Any, learned: Sequence[str] | None) -> None:
    """Refuse a frame with the columns that a booster learned in another order."""
    given = getattr(X, "column_names", getattr(X, "columns", None))
    if learned is None or given is None or set(given) != set(learned):
        return
    position = next((i for i, name in enumerate(learned) if given[i] != name), None)
    if position is not None:
        raise InputError(
            f"column {position + 1} of X is {given[position]!r}, where {type(model).__name__} "
            f"learned {learned[position]!r}: it reads columns by their order, so give them as it "
            f"learned them"
        )


def _numbers_only(model: Any, objective: str) -> InputError:
    return InputError(
        f"{type(model).__name__} was trained with the objective {objective!r}, so it is a "
        f"regressor, {_REFUSED['regressor']}"
    )


@contextmanager
def _fitted(model: Any) -> Iterator[None]:
    """Tell of a model that was not fitted, whatever its library raises then."""
    name = type(model).__name__
    unfitted = InputError(
        f"{name} is not fitted: fit it on other rows first, or say cv=5, and it is fitted and "
        f"judged on folds of these"
    )
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
        raise InputError(
            f"the model gives an array of shape {array.shape}; a number a row is needed, or a "
            f"column a class"
        )
    return array


def _plain_rows(X: Any) -> Any:
    """Rows as NumPy has them, where a library does not read the frame that they are in."""
    library = type(X).__module__.partition(".")[0]
    return X.to_numpy() if library in ("polars", "pyarrow") else X


# -- torch -----------------------------------------------------------------------------------------


def _forward(model: Any, X: Any) -> Array:
    """What a torch module gives, in evaluation mode and without gradients; both as before after."""
    torch = sys.modules["torch"]
    modes = {module: module.training for module in model.modules()}
    first = next(iter(model.parameters()), None)
    embeds = any(type(module).__name__.startswith("Embedding") for module in modes)

    def tensor(rows: Any) -> Any:
        numbers = rows if isinstance(rows, torch.Tensor) else torch.as_tensor(_numbers(rows))
        if first is None:
            return numbers
        number = numbers.is_floating_point() or not embeds
        return numbers.to(device=first.device, dtype=first.dtype if number else None)

    model.eval()
    try:
        with torch.no_grad():
            return np.concatenate([_array(_logits(model(tensor(rows)))) for rows in _batches(X)])
    finally:
        for module, mode in modes.items():
            module.training = mode


def _batches(X: Any) -> Iterator[Any]:
    if hasattr(X, "batch_size") and hasattr(X, "__iter__"):
        if type(getattr(X, "sampler", None)).__name__ == "RandomSampler":
            raise InputError(
                "X is a loader that shuffles rows, so they do not come in the order of y. Give one "
                "with shuffle=False"
            )
        for batch in X:
            yield batch[0] if isinstance(batch, list | tuple) else batch
        return
    rows = X if hasattr(X, "is_floating_point") else _numbers(X)
    for start in range(0, len(rows), _BATCH):
        yield rows[start : start + _BATCH]


def _numbers(rows: Any) -> Array:
    array = np.asarray(rows.to_numpy() if hasattr(rows, "to_numpy") else rows)
    if array.dtype.kind not in "biuf":
        raise InputError(
            f"X holds {array.dtype}, of which no tensor can be made: encode what is no number, or "
            f"give the tensors that the module takes"
        )
    # Torch warns of arrays that it may not write to.
    return array if array.flags.writeable else array.copy()


def _logits(given: Any) -> Any:
    """The tensor of an answer; answers with names hold it as logits."""
    if hasattr(given, "logits"):
        return given.logits
    if isinstance(given, tuple | list | dict):
        raise InputError(
            f"the module gives a {type(given).__name__}; wrap it in a function that gives one "
            f"tensor"
        )
    return given


# -- given by position -----------------------------------------------------------------------------


def by_position(
    y_true: Any, predictions: Any, given: Mapping[str, Any]
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The column that predictions by position stand for, and what is to be noted.

    Columns of several labels are probabilities; text and booleans are decisions; numbers with a
    fraction are scores. Whole numbers are decisions if all of them are labels, and scores if there
    are more of them than labels; both is noted. Anything else is refused.

    >>> by_position(["attack", "normal"], [0.9, 0.2], {})
    ({'y_score': [0.9, 0.2]}, ())
    >>> by_position([1, 0], [1, 1], {})[0]
    {'y_pred': [1, 1]}
    """
    for name in (SCORES, DECISIONS, PROBABILITIES):
        if given.get(name) is not None:
            raise InputError(
                f"what the model said is there by position and as {name}=: give one of them, or "
                f"all by name"
            )
    if is_table(predictions):
        return {PROBABILITIES: predictions}, ()
    if library_of(predictions) is not None:
        return _of_tensor(y_true, predictions)
    kept = kept_once(predictions, _NAME)
    role, notes = role_of(array_of(kept, _NAME), y_true, _NAME)
    return {role: kept}, notes


def is_table(values: Any) -> bool:
    """Whether there are several columns: an array or a list of rows, a dataframe, a mapping."""
    shape = getattr(values, "shape", None)
    if shape is not None and len(shape) == 2:
        return bool(shape[1] != 1)
    if isinstance(values, Mapping) or hasattr(values, "columns"):
        return True
    return isinstance(values, list | tuple) and bool(values) and _is_row(values[0])


def _is_row(value: Any) -> bool:
    return not isinstance(value, str | bytes) and getattr(value, "ndim", 1) > 0 and _sized(value)


def _sized(value: Any) -> bool:
    return hasattr(value, "__len__") and len(value) > 1


def _of_tensor(y_true: Any, values: Any) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Tensors are told by their type, so that their values stay on their device."""
    kind = str(values.dtype)
    if "float" in kind:
        return {SCORES: values}, ()
    if "bool" in kind:
        return {DECISIONS: values}, ()
    if str(getattr(values, "device", "")) == "cpu":
        role, notes = role_of(array_of(values, _NAME), y_true, _NAME)
        return {role: values}, notes
    raise InputError(
        f"{_NAME} is of type {kind} on a device: say whether it holds scores, y_score=, or "
        f"decisions, y_pred="
    )


def role_of(values: Array, y_true: Any, name: str) -> tuple[str, tuple[str, ...]]:
    """Whether a column holds scores or decisions, and what is to be noted; ``name`` is its own."""
    numbers = None if values.dtype.kind in "USb" else _floats(values)
    if numbers is None:
        return DECISIONS, ()
    if has_fraction(numbers) or not np.isfinite(numbers).any():
        # Where there is no number at all, the checks of scores say so.
        return SCORES, ()
    distinct = [label_text(int(value)) for value in np.unique(numbers[np.isfinite(numbers)])]
    labels, kind = _labels(y_true)
    if kind == BOOLEAN:
        labels = {"0" if label == "false" else "1" for label in labels}
    shown = shown_labels(distinct, NUMBER)
    if kind in (NUMBER, BOOLEAN) and labels.issuperset(distinct):
        note = (
            f"{name} holds {shown}, which are labels, so it was read as decisions; if these are "
            f"scores, say assay.evaluate(y, y_score=...)"
        )
        return DECISIONS, (note,)
    if len(distinct) > len(labels):
        note = (
            f"{name} holds {len(distinct)} whole numbers for {len(labels)} labels, so it was read "
            f"as scores; if these are decisions, say assay.evaluate(y, y_pred=...)"
        )
        return SCORES, (note,)
    raise LabelError(
        f"{name} holds {shown}, and the labels are {shown_labels(sorted(labels), kind or TEXT)}: "
        f"these may be scores, codes of labels, or decisions for labels that do not occur. Say "
        f"y_score= for scores, or y_pred= with decisions that are written like the labels"
    )


def _floats(values: Array) -> Array | None:
    """The values as floats, nan where one is missing; None where some are no numbers."""
    if values.dtype.kind in "iuf":
        return np.asarray(values, np.float64)
    if values.dtype.kind != "O":
        return None
    numbers = [np.nan if is_missing(value) else value for value in values.tolist()]
    are_numbers = all(
        isinstance(v, int | float | np.number) and not isinstance(v, bool) for v in numbers
    )
    try:
        return np.array(numbers, np.float64) if are_numbers else None
    except OverflowError as error:
        raise LabelError(f"{_NAME} holds a number beyond the range of floats") from error


def has_fraction(numbers: Array) -> bool:
    """Whether some number is not whole."""
    for start, stop in ((0, _FIRST_LOOK), (_FIRST_LOOK, len(numbers))):
        part = numbers[start:stop]
        part = part[np.isfinite(part)]
        if (part != np.floor(part)).any():
            return True
    return False


def _labels(y_true: Any) -> tuple[set[str], str | None]:
    """The labels that are there, and their kind; what is wrong with them is told when counted."""
    if isinstance(y_true, Labels):
        return set(y_true.names), y_true.kind
    array = array_of(y_true, "y_true")
    values = set(array.tolist()) if array.dtype.kind == "O" else np.unique(array).tolist()
    labels: set[str] = set()
    kind = None
    for value in values:
        if is_missing(value):
            continue
        labels.add(label_text(value))
        kind = label_kind(value)
    return labels, kind
