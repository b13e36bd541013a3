"""What all splitters have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from assay.errors import LengthMismatch
from assay.learn.validation.rows import Positions, Rows
from assay.learn.validation.split import Split
from assay.sources.coded import Named


class Splitter(ABC):
    """Divides rows, once or several times; usable wherever scikit-learn takes a ``cv``.

    ``groups`` is the column that the split goes by, where it goes by one.
    """

    def split(
        self, X: Any = None, y: Any = None, groups: Any = None
    ) -> Iterator[tuple[Positions, Positions]]:
        """Positions to learn from and positions to judge, once a split."""
        for found in self.splits(Rows.of_arrays(X, y, groups)):
            yield found.train, found.test

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """How many splits there are."""
        return len(self.splits(Rows.of_arrays(X, y, groups)))

    @abstractmethod
    def splits(self, rows: Rows) -> tuple[Split, ...]:
        """All splits of some rows; refuses rows that can't be divided so."""

    def together(self, rows: Rows) -> Named | None:  # noqa: ARG002 - some splits keep none
        """The group of each row, where groups are kept on one side."""
        return None

    def lasting(self, rows: Rows, splits: Sequence[Split]) -> tuple[Positions, str]:
        """The rows that the model to keep learns from, and which they are."""
        if len(splits) == 1:
            return splits[0].train, "the training part"
        return np.arange(len(rows)), "all rows"


@dataclass(frozen=True, eq=False)
class BoundSplitter:
    """A splitter with the rows that it divides: ``split()`` needs no arguments."""

    splitter: Splitter
    rows: Rows

    def split(
        self,
        X: Any = None,
        y: Any = None,
        groups: Any = None,  # noqa: ARG002 - scikit-learn gives it
    ) -> Iterator[tuple[Positions, Positions]]:
        """Positions to learn from and positions to judge, once a split."""
        for given in (X, y):
            size = None if given is None else getattr(given, "shape", [len(self.rows)])[0]
            if size not in (None, len(self.rows)):
                raise LengthMismatch(f"this splits {len(self.rows):,} rows; found {size:,}")
        for found in self.splits():
            yield found.train, found.test

    def get_n_splits(
        self,
        X: Any = None,  # noqa: ARG002 - scikit-learn gives them
        y: Any = None,  # noqa: ARG002
        groups: Any = None,  # noqa: ARG002
    ) -> int:
        """How many splits there are."""
        return len(self.splits())

    def splits(self) -> tuple[Split, ...]:
        """All splits, with their names and counts."""
        return self.splitter.splits(self.rows)


def part_sizes(rows: int, shares: Sequence[Fraction]) -> list[int]:
    """How many rows each part gets.

    >>> part_sizes(74_344, [Fraction(7, 10), Fraction(2, 10), Fraction(1, 10)])
    [52040, 14869, 7435]
    """
    borders = [0, *(int(rows * share) for share in accumulate(shares))]
    return [after - before for before, after in pairwise(borders)]


def class_counts(classes: Sequence[int], shares: Sequence[Fraction]) -> list[list[int]]:
    """How many rows of each class each part gets.

    >>> shares = [Fraction(7, 10), Fraction(2, 10), Fraction(1, 10)]
    >>> class_counts([39_552, 34_792], shares)
    [[27686, 24354], [7910, 6959], [3956, 3479]]
    """
    sizes = part_sizes(sum(classes), shares)
    left = list(classes)
    parts: list[list[int]] = []
    for size in reversed(sizes[1:]):
        stay = largest_remainder(left, sum(left) - size)
        parts.insert(0, [n - kept for n, kept in zip(left, stay, strict=True)])
        left = stay
    return [left, *parts]


def largest_remainder(classes: Sequence[int], size: int) -> list[int]:
    """Share out so many rows among classes, by their sizes.

    A class that would get none comes first, and one that would get all of its rows last, so that
    small classes are on both sides where that is possible. On a tie the smaller class wins.

    >>> largest_remainder([60, 30, 10], 7)
    [4, 2, 1]
    """
    rows = sum(classes)
    if not rows:
        return [0 for _ in classes]
    shared = [divmod(size * n, rows) for n in classes]
    given = [quota for quota, _ in shared]
    candidates = [i for i, (_, remainder) in enumerate(shared) if remainder]
    candidates.sort(
        key=lambda i: (given[i] > 0, given[i] + 1 == classes[i], -shared[i][1], classes[i], -i)
    )
    for i in candidates[: size - sum(given)]:
        given[i] += 1
    return given
