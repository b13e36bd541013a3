"""Fit a model on folds of rows, and ask each fit for the rows that it did not learn from."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import InputError, LengthMismatch, install_line
from assay.evaluation.outputs import library_of_model, must_be_a_model
from assay.evaluation.words import rows
from assay.sources.coded import Named
from assay.sources.columns import must_be_as_long, names_of

Positions: TypeAlias = npt.NDArray[np.intp]

# How XGBoost begins when labels are not 0, 1, 2 ...
_NUMBERS_FROM_0 = "Invalid classes inferred from unique values"


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
class Folds:
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
        left = self.size - len(np.unique(judged))
        if left:
            yield f"{rows(left)} of {self.size:,} are in no test part, and were not judged"
        if self.repeated:
            yield (
                f"{rows(self.size - left)} were judged {len(judged):,} times; intervals take the "
                f"judgements of one row as a cluster"
            )


def folds_of(cv: Any, X: Any, y: Any, groups: Any) -> Folds:
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
    named = None if groups is None else names_of(groups, "groups")
    must_be_as_long(size, {"groups": None if named is None else named.codes})
    how = "the given splits"
    if isinstance(cv, int | np.integer):
        cv, how = _splitter(int(cv), grouped=groups is not None)
    elif hasattr(cv, "split"):
        how = str(cv) if len(str(cv)) < 100 else type(cv).__name__
    with warnings.catch_warnings():
        # A splitter that ignores groups is refused below, if it tears one apart.
        warnings.filterwarnings("ignore", message="The groups parameter is ignored")
        pairs = _pairs(cv, X, y, groups) if hasattr(cv, "split") else cv
        found = [_checked(pair, i, size) for i, pair in enumerate(pairs, 1)]
    if not found:
        raise InputError("cv= has no splits")
    if named is not None:
        _must_keep_together(found, named)
    return Folds(tuple(_numbered(found)), size, how)


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
    except (TypeError, ValueError, IndexError) as odd:
        raise InputError(
            f"split {number} of cv= is no pair of positions to learn from and to judge, below "
            f"{size:,}: {odd}"
        ) from odd
    both = np.intersect1d(train, test)
    if len(both):
        raise InputError(
            f"split {number} of cv= learns from {rows(len(both))} that it judges, such as row "
            f"{both[0]}: a row is in one of the two"
        )
    judged, often = np.unique(test, return_counts=True)
    if len(judged) < len(test):
        raise InputError(
            f"split {number} of cv= judges {rows(int((often > 1).sum()))} more than once, such as "
            f"row {judged[often > 1][0]}: name each once, or judge it in several splits"
        )
    if not len(train) or not len(test):
        raise InputError(f"split {number} of cv= has no rows to learn from, or none to judge")
    return train, test


def _must_keep_together(pairs: Sequence[tuple[Positions, Positions]], groups: Named) -> None:
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
    found = np.asarray(part)
    if found.dtype == np.bool_ and len(found) != size:
        raise ValueError(f"a mask of {len(found)} rows, and there are {size}")
    chosen: Positions = np.arange(size)[found]
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
    copied = _copied(model)
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


def _copied(model: Any) -> Any:
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
