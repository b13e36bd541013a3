"""One way to divide rows, and how many of each class it puts where."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.errors import InputError
from assay.evaluation.words import name as quoted
from assay.evaluation.words import rows as counted
from assay.learn.validation.rows import Positions, Rows

TRAIN, TEST, VALIDATION, NEITHER = "train", "test", "validation", "neither"


@dataclass(frozen=True)
class SplitCounts:
    """How many rows of each class are in each part: a row a label, a column a part.

    >>> counts = SplitCounts(("normal", "attack"), ("train", "test"), ((7, 3), (5, 2)))
    >>> counts.by_part, counts.by_label, counts.total
    ((12, 5), (10, 7), 17)
    """

    labels: tuple[str, ...]
    parts: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]

    @property
    def by_label(self) -> tuple[int, ...]:
        """All rows of each label."""
        return tuple(map(sum, self.counts))

    @property
    def by_part(self) -> tuple[int, ...]:
        """All rows of each part."""
        return tuple(map(sum, zip(*self.counts, strict=True)))

    @property
    def total(self) -> int:
        """All rows."""
        return sum(self.by_label)

    def records(self) -> list[dict[str, Any]]:
        """A row a label and one for all of them, whose label is None."""
        rows = [*zip(self.labels, self.counts, strict=True), (None, self.by_part)]
        return [
            {"label": label, **dict(zip(self.parts, counts, strict=True)), "total": sum(counts)}
            for label, counts in rows
        ]

    def __str__(self) -> str:
        shown = [["", *self.parts, "total"]]
        for record in self.records():
            label, *counts = record.values()
            shown.append(["total" if label is None else label, *(f"{n:,}" for n in counts)])
        widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
        return "\n".join(
            "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])])
            for row in shown
        )


@dataclass(frozen=True, eq=False)
class Split:
    """Positions of rows, in the order of the rows: to learn from, to judge, and held back.

    ``repeat`` counts from 1; rows are divided anew in each.
    """

    name: str
    train: Positions
    test: Positions
    rows: Rows
    validation: Positions | None = None
    repeat: int = 1

    def counts(self) -> SplitCounts:
        """How many rows of each class are in each part; what is in no part is counted too."""
        parts = {TRAIN: self.train, TEST: self.test}
        if self.validation is not None:
            parts[VALIDATION] = self.validation
        labels = self.rows.labels or ("rows",)
        of_parts = {
            part: np.bincount(self.rows.truth[at], minlength=len(labels))
            for part, at in parts.items()
        }
        left = np.array(self.rows.class_sizes()) - np.sum(list(of_parts.values()), axis=0)
        if left.any():
            of_parts[NEITHER] = left
        table = np.stack(list(of_parts.values()), axis=1)
        return SplitCounts(
            labels, tuple(of_parts), tuple(tuple(map(int, row)) for row in table.tolist())
        )

    def must_be_of_use(self, what: str) -> Split:
        """Refuse a split of which a side is empty, or from which nothing can be learned."""
        for part, at in self.parts():
            if not len(at):
                raise InputError(
                    f"{what} leaves the {part} part{self._of()} empty: all {len(self.rows):,} rows "
                    f"are on the other side"
                )
        lacking = self.not_learned()
        if len(self.rows.labels) > 1 and len(self.rows.labels) - len(lacking) < 2:
            one = np.bincount(self.rows.truth[self.train]).argmax()
            raise InputError(
                f"{what} leaves only class {quoted(self.rows.labels[one])} in the training part"
                f"{self._of()} ({counted(len(self.train))}): there is nothing to tell it from"
            )
        return self

    def parts(self) -> Iterator[tuple[str, Positions]]:
        """The name and the rows of each part."""
        yield "training", self.train
        yield TEST, self.test
        if self.validation is not None:
            yield VALIDATION, self.validation

    def not_learned(self) -> tuple[str, ...]:
        """Classes of which the training part has no rows."""
        there = set(np.unique(self.rows.truth[self.train]).tolist())
        return tuple(label for i, label in enumerate(self.rows.labels) if i not in there)

    def _of(self) -> str:
        return "" if self.name == TEST else f" of {self.name}"
