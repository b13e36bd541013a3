"""From a model, rows and labels to an evaluation, on rows held out or on folds of them."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.v02.engines.arrays import resolved_arrays
from assay.errors import InputError, LabelError, LengthMismatch, install_line
from assay.v02.escaping import row_at
from assay.v02.evaluation.deployment import costs_of
from assay.v02.evaluation.evaluation import Evaluation
from assay.v02.evaluation.outputs import library_of_model, must_be_a_model
from assay.v02.evaluation.responses import Response, joined, response_of
from assay.v02.inference import Method
from assay.v02.number_text import rows
from assay.v02.sources import must_share_index
from assay.v02.sources.coded import Labels, NameColumn
from assay.v02.sources.columns import TEXT, array_of, labels_of, must_be_as_long
from assay.v02.sources.labelling import label_as, shown_labels
from assay.v02.sources.row_checks import clusters_of
from assay.v02.sources.validation import slice_columns

Positions: TypeAlias = npt.NDArray[np.intp]

FOLD = "fold"
# How XGBoost begins when labels are not 0, 1, 2 ...
_NUMBERS_FROM_0 = "Invalid classes inferred from unique values"


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
    options = ModelOptions(response_method, classes, logits, fit_params)
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
        response = options.of(model, X, truth)
    else:
        per_row["slices"] = slice_columns(slices)
        _must_be_of_these_rows(len(truth.codes), per_row)
        folds = folds_of(cv, X, y, groups)
        response = options.out_of_fold(model, X, y, truth, folds)
        truth, per_row = judged_rows(folds, truth, per_row)
        notes = tuple(folds.notes())
    columns, response_notes = response.columns(
        truth, positive=positive, negative=negative, threshold=threshold
    )
    tally, inferred, counted, _ = resolved_arrays(truth, **columns, **per_row)
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
        notes=(*notes, *response_notes, *inferred),
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
class ModelOptions:
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

    def by_fold(self, model: Any, X: Any, y: Any, truth: Labels, folds: RowFolds) -> list[Response]:
        """What fits of a model say of the rows of each fold, which they did not learn from."""
        responses = []
        if self.classes is not None:
            # The model does not know labels by name, so it learns their numbers.
            y = _class_numbers(truth, self.classes)
        for fold in folds.every:
            fitted = fitted_on(model, X, y, fold.train, self.fit_params)
            fold_truth = Labels(truth.codes[fold.test], truth.names, truth.kind)
            responses.append(self._said(fitted, rows_of(X, fold.test), fold_truth))
        return responses

    def out_of_fold(self, model: Any, X: Any, y: Any, truth: Labels, folds: RowFolds) -> Response:
        """The same of all folds together."""
        return joined(self.by_fold(model, X, y, truth, folds))


def _class_numbers(truth: Labels, classes: Sequence[Any]) -> Any:
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
    folds: RowFolds, truth: Labels, per_row: Mapping[str, Any]
) -> tuple[Labels, dict[str, Any]]:
    """Labels and columns of the rows that were judged, fold by fold, with the fold as a slice."""
    at = folds.judged
    slices = per_row.get("slices", {})
    if FOLD in slices:
        raise InputError(f"slices= may not be called {FOLD!r}: with cv= that is the fold of a row")
    columns = {
        name: None if column is None else rows_of(column, at)
        for name, column in per_row.items()
        if name != "slices"
    }
    columns["slices"] = {FOLD: np.array(folds.names), **rows_of(slices, at)}
    if columns["clusters"] is None and folds.repeated:
        columns["clusters"] = at
    return Labels(truth.codes[at], truth.names, truth.kind).used(), columns


# -- folds -----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Fold:
    """Rows to learn from and rows to judge; repeats are numbered from 1, and folds in each."""

    train: Positions
    test: Positions
    repeat: int
    fold: int

    def name(self, *, repeated: bool) -> str:
        """What a table calls it."""
        return f"{self.repeat}.{self.fold}" if repeated else str(self.fold)


@dataclass(frozen=True, eq=False)
class RowFolds:
    """All folds of some rows, and how they were made."""

    every: tuple[Fold, ...]
    size: int
    how: str

    @property
    def repeated(self) -> bool:
        """Whether rows are judged more than once."""
        return self.every[-1].repeat > 1

    @property
    def judged(self) -> Positions:
        """The rows that are judged, fold by fold."""
        return np.concatenate([fold.test for fold in self.every])

    @property
    def names(self) -> list[str]:
        """The fold that each judged row is in."""
        return [f.name(repeated=self.repeated) for f in self.every for _ in range(len(f.test))]

    def notes(self) -> Iterator[str]:
        """How rows were judged, and which were not, or more than once."""
        judged = self.judged
        yield (
            f"{self.how}: each row was judged by a fit that did not learn from it; the scores of "
            f"{len(self.every)} fits are ranked together"
        )
        unjudged = self.size - len(np.unique(judged))
        if unjudged:
            yield f"{rows(unjudged)} of {self.size:,} are in no test part, and were not judged"
        if self.repeated:
            yield (
                f"{rows(self.size - unjudged)} were judged {len(judged):,} times; intervals take "
                f"the judgements of one row as a cluster"
            )


def folds_of(cv: Any, X: Any, y: Any, groups: Any) -> RowFolds:
    """The folds that a number, a splitter or an iterable of splits makes of rows."""
    size = len(y)
    if isinstance(cv, bool) or (isinstance(cv, int | np.integer) and cv < 2):
        raise InputError(f"cv= is a number of folds, 2 or more, or a splitter; found {cv!r}")
    if isinstance(cv, str) or not (
        isinstance(cv, int | np.integer) or hasattr(cv, "split") or hasattr(cv, "__iter__")
    ):
        raise InputError(
            f"cv= is a number of folds, a splitter such as StratifiedKFold(5), or pairs of "
            f"positions to learn from and to judge; found {cv!r}"
        )
    named = None if groups is None else clusters_of(groups, "groups")
    must_be_as_long(size, {"groups": None if named is None else named.codes})
    description = "the given splits"
    if isinstance(cv, int | np.integer):
        cv, description = _splitter(int(cv), grouped=groups is not None)
    elif hasattr(cv, "split"):
        description = str(cv) if len(str(cv)) < 100 else type(cv).__name__
    with warnings.catch_warnings():
        # A splitter that ignores groups is refused below, if it tears one apart.
        warnings.filterwarnings("ignore", message="The groups parameter is ignored")
        pairs = _pairs(cv, X, y, groups) if hasattr(cv, "split") else cv
        splits = [_checked(pair, i, size) for i, pair in enumerate(pairs, 1)]
    if not splits:
        raise InputError("cv= has no splits")
    if named is not None:
        _must_keep_together(splits, named)
    return RowFolds(tuple(_numbered(splits)), size, description)


def _pairs(splitter: Any, X: Any, y: Any, groups: Any) -> Iterator[Any]:
    """The splits of a splitter; what it refuses is told as ours."""
    try:
        yield from splitter.split(X, y, groups)
    except (TypeError, ValueError) as refused:
        more = ". Say groups=, the group of each row" if groups is None else ""
        more = more if "group" in str(refused) else ""
        raise InputError(
            f"cv= can't divide {rows(len(y))}: {str(refused).rstrip('.')}{more}"
        ) from refused


def _splitter(folds: int, *, grouped: bool) -> tuple[Any, str]:
    try:
        from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold
    except ModuleNotFoundError as absent:
        raise InputError(
            f"cv={folds} divides rows by scikit-learn, which is not installed: "
            f"{install_line('learn')}, or give pairs of positions"
        ) from absent
    if grouped:
        return StratifiedGroupKFold(folds), f"{folds} stratified folds that keep groups together"
    return StratifiedKFold(folds), f"{folds} stratified folds in the order of the rows"


def _checked(pair: Any, number: int, size: int) -> tuple[Positions, Positions]:
    try:
        train, test = (_positions(part, size) for part in pair)
    except (TypeError, ValueError, IndexError) as error:
        raise InputError(
            f"split {number} of cv= is no pair of positions to learn from and to judge, below "
            f"{size:,}: {error}"
        ) from error
    both = np.intersect1d(train, test)
    if len(both):
        raise InputError(
            f"split {number} of cv= learns from {rows(len(both))} that it judges, such as "
            f"{row_at(both[0])}: a row is in one of the two"
        )
    judged, often = np.unique(test, return_counts=True)
    if len(judged) < len(test):
        raise InputError(
            f"split {number} of cv= judges {rows(int((often > 1).sum()))} more than once, such as "
            f"{row_at(judged[often > 1][0])}: name each once, or judge it in several splits"
        )
    if not len(train) or not len(test):
        raise InputError(f"split {number} of cv= has no rows to learn from, or none to judge")
    return train, test


def _must_keep_together(pairs: Sequence[tuple[Positions, Positions]], groups: NameColumn) -> None:
    """Refuse a split that has rows of one group on both sides."""
    for number, (train, test) in enumerate(pairs, 1):
        both = np.intersect1d(groups.codes[train], groups.codes[test])
        if len(both):
            raise InputError(
                f"split {number} of cv= has rows of group {groups.names[both[0]]!r} on both sides: "
                f"say cv= as a number, or give a splitter that keeps groups together, such as "
                f"GroupKFold. Where groups only make rows alike, give them as clusters="
            )


def _positions(part: Any, size: int) -> Positions:
    positions = np.asarray(part)
    if positions.dtype == np.bool_ and len(positions) != size:
        raise ValueError(f"a mask of {len(positions)} rows, and there are {size}")
    chosen: Positions = np.arange(size)[positions]
    return chosen


def _numbered(pairs: Sequence[tuple[Positions, Positions]]) -> Iterator[Fold]:
    """Folds with the number of their repeat: a new one begins where a row is judged again."""
    seen: set[int] = set()
    repeat, fold = 1, 0
    for train, test in pairs:
        rows_here = set(test.tolist())
        if seen & rows_here:
            seen, repeat, fold = set(), repeat + 1, 0
        seen |= rows_here
        fold += 1
        yield Fold(train, test, repeat, fold)


def fitted_on(
    model: Any, X: Any, y: Any, train: Positions, fit_params: Mapping[str, Any] | None
) -> Any:
    """A fresh copy of a model, fitted on some rows."""
    copied = _unfitted_copy(model)
    params = {
        name: rows_of(value, train) if _is_column(value, len(y)) else value
        for name, value in (fit_params or {}).items()
    }
    try:
        copied.fit(rows_of(X, train), rows_of(y, train), **params)
    except ValueError as refused:
        if not str(refused).startswith(_NUMBERS_FROM_0):
            raise
        raise InputError(
            f"{type(model).__name__} learns classes as numbers from 0 on: say classes= with all "
            f"labels, the one of 0 first, and it learns their numbers"
        ) from refused
    return copied


def _is_column(value: Any, size: int) -> bool:
    return not isinstance(value, str | Mapping) and hasattr(value, "__len__") and len(value) == size


def _unfitted_copy(model: Any) -> Any:
    """A copy that has learned nothing."""
    must_be_a_model(model)
    name = type(model).__name__
    if library_of_model(model) in ("torch", "keras") and not hasattr(model, "get_params"):
        raise InputError(
            f"cv= fits a fresh copy of the model on each fold, and how {name} is to be trained is "
            f"not known. Wrap it as an estimator (skorch, scikeras), or train it on each fold, and "
            f"give what it says of the others to assay.evaluate"
        )
    if not hasattr(model, "fit") or not hasattr(model, "get_params"):
        raise InputError(
            f"cv= fits a fresh copy of the model on each fold, and {name} has no fit and "
            f"get_params: give an estimator, such as XGBClassifier instead of a Booster"
        )
    if hasattr(model, "__sklearn_clone__") or hasattr(model, "_get_param_names"):
        from sklearn.base import clone

        return clone(model)
    return type(model)(**copy.deepcopy(model.get_params()))


def rows_of(table: Any, at: Positions) -> Any:
    """Some rows of whatever holds rows, as the same kind of thing."""
    if isinstance(table, Mapping):
        return {name: rows_of(column, at) for name, column in table.items()}
    if hasattr(table, "iloc"):
        return table.iloc[at]
    if isinstance(table, list | tuple):
        return [table[i] for i in at.tolist()]
    if hasattr(table, "take") and type(table).__module__.partition(".")[0] == "pyarrow":
        return table.take(at)
    if hasattr(table, "tocsr"):
        return table.tocsr()[at]
    if hasattr(table, "__getitem__") and hasattr(table, "shape"):
        return table[at]
    raise InputError(
        f"rows can't be taken out of a {type(table).__name__}: give X as an array, a sparse "
        f"matrix, a dataframe or a list"
    )


def length_of(table: Any) -> int | None:
    """How many rows there are; None where that is not told."""
    if isinstance(table, Mapping):
        return next((length_of(column) for column in table.values()), None)
    if hasattr(table, "num_row"):
        return int(table.num_row())
    if hasattr(table, "shape"):
        shape = table.shape
        return int(shape[0]) if len(shape) and isinstance(shape[0], int | np.integer) else None
    if hasattr(table, "batch_size"):
        return None
    return len(table) if hasattr(table, "__len__") else None


def must_be_as_many(X: Any, rows_in_y: int) -> None:
    """Refuse rows and labels of unlike number."""
    size = length_of(X)
    if size is not None and size != rows_in_y:
        raise LengthMismatch(
            f"X has {rows(size)} and y has {rows(rows_in_y)}: they must be the same rows"
        )
