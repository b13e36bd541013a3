"""Folds: every row is judged once by a model that did not learn from it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.errors import InputError
from assay.evaluation.words import name as quoted
from assay.evaluation.words import rows as counted
from assay.learn.validation.rows import Codes, Rows
from assay.learn.validation.split import Split
from assay.learn.validation.splitter import Splitter

MOST = 100


@dataclass(frozen=True)
class Folds(Splitter):
    """``k`` folds, stratified: folds differ by one row at most, in all and in each class.

    With ``repeats`` the rows are dealt anew each time.

    >>> [len(test) for _, test in Folds(3).split(y=["a"] * 5 + ["b"] * 5)]
    [4, 3, 3]
    """

    k: int = 5
    repeats: int = 1
    seed: int = 42

    def __post_init__(self) -> None:
        must_be_folds(self.k)
        if self.repeats < 1:
            raise InputError(f"there is one repeat at least; found {self.repeats}")

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:  # noqa: ARG002
        """As many as folds, times the repeats."""
        return self.k * self.repeats

    def splits(self, rows: Rows) -> tuple[Split, ...]:
        """The folds of the first repeat, then those of the next."""
        self._must_have_enough(rows)
        return tuple(self._dealt(rows))

    def _dealt(self, rows: Rows) -> Iterator[Split]:
        for repeat in range(self.repeats):
            draw = np.random.default_rng([self.seed, repeat])
            classes = range(len(rows.class_sizes()))
            order = np.concatenate([draw.permutation(rows.of_class(code)) for code in classes])
            fold = np.empty(len(rows), np.intp)
            # Dealt like cards, class after class, so that the folds stay even in all of them.
            fold[order] = np.arange(len(rows)) % self.k
            prefix = f"{repeat + 1}." if self.repeats > 1 else ""
            for i in range(self.k):
                yield fold_of(rows, fold, i, f"fold {prefix}{i + 1}", repeat=repeat + 1)

    def _must_have_enough(self, rows: Rows) -> None:
        sizes = rows.class_sizes()
        few = [code for code, size in enumerate(sizes) if size < self.k]
        # Of many classes some may be rare; they are in fewer folds, and the run says so.
        if not few or (not rows.binary and len(few) < len(sizes)):
            return
        label = f"class {quoted(rows.labels[few[0]])}" if rows.labels else "this table"
        raise InputError(
            f"{label} has {counted(sizes[few[0]])}, fewer than the {self.k} folds, so a fold would "
            f"be judged without it. Take fewer folds, or more rows"
        )


@dataclass(frozen=True)
class GivenFolds(Splitter):
    """Folds that a column names: each is judged by what was learned from all others."""

    def splits(self, rows: Rows) -> tuple[Split, ...]:
        """A split a fold, in the order of their names."""
        named = rows.names()
        if len(named.names) < 2:
            raise InputError(
                f"column {rows.column!r} names one fold only, {quoted(named.names[0])}, so there "
                f"is nothing to learn from when it is judged. Two folds are needed at least"
            )
        must_not_be_many(rows, len(named.names), "folds")
        return tuple(
            fold_of(rows, named.codes, i, name).must_be_of_use(f"column {rows.column!r}")
            for i, name in enumerate(named.names)
        )


def fold_of(rows: Rows, fold: Codes, which: int, name: str, *, repeat: int = 1) -> Split:
    """The split that judges one fold."""
    judged = fold == which
    return Split(name, np.flatnonzero(~judged), np.flatnonzero(judged), rows, repeat=repeat)


def must_not_be_many(rows: Rows, found: int, what: str) -> None:
    """Refuse a column that would take a model for each of very many values."""
    if found > MOST:
        raise InputError(
            f"column {rows.column!r} holds {found:,} {what}, and each would take a model of its "
            f"own; {MOST} are the most. Hold several out at once: group:{rows.column},k=10"
        )


def must_be_folds(k: int) -> None:
    """Refuse fewer than two folds."""
    if k < 2:
        raise InputError(f"two folds are needed at least; found {k}")
