"""Whole groups on one side: hosts, listings or vendors that were learned are not judged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.errors import InputError
from assay.evaluation.words import name as quoted
from assay.learn.validation.folds import fold_of, must_be_folds
from assay.learn.validation.rows import Codes, Rows
from assay.learn.validation.split import Split
from assay.learn.validation.splitter import Splitter
from assay.sources.coded import Named


@dataclass(frozen=True)
class GroupFolds(Splitter):
    """``k`` folds of whole groups, with like shares of each class as far as the groups allow.

    The groups that hold the largest share of a class are placed first, each where the classes that
    it holds are rarest so far.

    >>> hosts = ["a", "a", "b", "c"]
    >>> [test.tolist() for _, test in GroupFolds(2).split(groups=hosts)]
    [[0, 1], [2, 3]]
    """

    k: int = 5
    seed: int = 42

    def __post_init__(self) -> None:
        must_be_folds(self.k)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:  # noqa: ARG002
        """As many as folds."""
        return self.k

    def splits(self, rows: Rows) -> tuple[Split, ...]:
        """A split a fold."""
        named = rows.names()
        size = len(named.names)
        if size == 1:
            raise InputError(
                f"column {rows.column!r} holds one group only, {quoted(named.names[0])}, which "
                f"can't be on both sides. Two groups are needed at least"
            )
        if size < self.k:
            raise InputError(
                f"column {rows.column!r} holds {size} groups, fewer than the {self.k} folds. "
                f"Say k={size} or less"
            )
        fold = self._placed(rows, np.asarray(named.codes, np.intp), size)
        return tuple(
            fold_of(rows, fold, i, f"fold {i + 1}").must_be_of_use(
                f"a split by the groups of column {rows.column!r}"
            )
            for i in range(self.k)
        )

    def together(self, rows: Rows) -> Named | None:
        """The group of each row."""
        return rows.names()

    def _placed(self, rows: Rows, group: Codes, size: int) -> Codes:
        """The fold of each row."""
        classes = np.array(rows.class_sizes(), np.float64)
        cells, held = np.unique(group * len(classes) + rows.truth, return_counts=True)
        of_group, of_class = np.divmod(cells, len(classes))
        shares = held / classes[of_class]
        largest = np.zeros(size)
        np.maximum.at(largest, of_group, shares)
        filling = _Filling(self.k, len(classes))
        # Ties are broken at random, else the order of names would decide.
        chance = np.random.default_rng(self.seed).permutation(size)
        order = np.lexsort((chance, -largest))
        starts = np.searchsorted(of_group, np.arange(size + 1))
        # Lists, not arrays: most groups have one class, and there may be a million of them.
        cells = list(zip(of_class.tolist(), shares.tolist(), held.tolist(), strict=True))
        placed = np.empty(size, np.intp)
        for found in order.tolist():
            placed[found] = filling.place(cells[starts[found] : starts[found + 1]])
        fold: Codes = placed[group]
        return fold


class _Filling:
    """What the folds hold so far: the share of each class, and how many rows."""

    def __init__(self, k: int, classes: int) -> None:
        self._shares = [[0.0] * k for _ in range(classes)]
        self._rows = [0] * k

    def place(self, cells: Sequence[tuple[int, float, int]]) -> int:
        """The fold for a group, given the class, share and rows of each of its cells."""
        # Adding a to f raises f squared by 2 f a, and by what does not depend on the fold.
        crowded = [
            round(sum(share * self._shares[code][fold] for code, share, _ in cells), 12)
            for fold in range(len(self._rows))
        ]
        best = min(range(len(crowded)), key=lambda fold: (crowded[fold], self._rows[fold]))
        for code, share, rows in cells:
            self._shares[code][best] += share
            self._rows[best] += rows
        return best
