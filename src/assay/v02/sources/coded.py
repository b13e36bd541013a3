"""Rows, checked and coded: what an engine counts."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.v02.tally.blocks import BLOCK, map_blocks

Array: TypeAlias = npt.NDArray[Any]


@dataclass(frozen=True)
class NameColumn:
    """A column of names: positions in ``names``."""

    codes: Array
    names: tuple[str, ...]


@dataclass(frozen=True)
class Labels:
    """A column of labels: positions in ``names``, and what kind of value they were."""

    codes: Array
    names: tuple[str, ...]
    kind: str

    def used(self) -> Labels:
        """The same column without names that do not occur."""

        def work(i: int, j: int) -> Array:
            return np.bincount(self.codes[i:j], minlength=len(self.names)) > 0

        # Mostly the first rows show all names.
        seen = work(0, BLOCK)
        if not seen.all():
            for here in map_blocks(len(self.codes), lambda: work):
                seen |= here
        if seen.all():
            return self
        renumber = np.cumsum(seen) - 1
        names = tuple(name for name, keep in zip(self.names, seen, strict=True) if keep)
        codes = renumber[self.codes].astype(np.min_scalar_type(max(len(names) - 1, 0)), copy=False)
        return Labels(codes, names, self.kind)

    def of_rows(self, rows: Array) -> Labels:
        """Some of the rows."""
        return Labels(self.codes[rows], self.names, self.kind).used()

    def by_name(self) -> Labels:
        """The same column with the names sorted as text."""
        ordered = tuple(sorted(self.names))
        if ordered == self.names:
            return self
        renumber = np.empty(len(ordered), self.codes.dtype)
        renumber[[self.names.index(name) for name in ordered]] = np.arange(len(ordered))
        return Labels(renumber[self.codes], ordered, self.kind)


class LabelDigest:
    """Tells whether the labels of rows, in their order, are the same as those of other rows.

    Rows may come in pieces of any size, and each piece may number its labels in its own way.

    >>> digests = [LabelDigest(), LabelDigest()]
    >>> digests[0].add(Labels(np.array([0, 1]), ("normal", "attack"), "text"))
    >>> digests[1].add(Labels(np.array([0]), ("normal",), "text"))
    >>> digests[1].add(Labels(np.array([0]), ("attack",), "text"))
    >>> digests[0].hexdigest() == digests[1].hexdigest()
    True
    """

    # Labels are numbered as they are first seen; this byte stands for those that do not fit.
    _MORE = 255

    def __init__(self) -> None:
        self._position: dict[str, int] = {}
        self._codes, self._more = hashlib.sha256(), hashlib.sha256()

    def add(self, labels: Labels) -> None:
        """Further rows."""
        unseen = [i for i, name in enumerate(labels.names) if name not in self._position]
        first = {i: np.flatnonzero(labels.codes == i)[:1].tolist() for i in unseen}
        for i in sorted((i for i in unseen if first[i]), key=first.__getitem__):
            self._position[labels.names[i]] = len(self._position)
        numbers = np.array([self._position.get(name, 0) for name in labels.names] or [0], np.uint32)
        codes = np.ascontiguousarray(labels.codes)
        if codes.dtype != np.uint8 or not np.array_equal(numbers, np.arange(len(numbers))):
            codes = np.minimum(numbers, self._MORE).astype(np.uint8)[codes]
        self._codes.update(codes.data)
        if len(self._position) > self._MORE:
            codes = numbers[labels.codes]
            self._more.update(codes[codes >= self._MORE].astype("<u4").data)

    def hexdigest(self) -> str:
        """The digest of all rows so far, by the names of their labels."""
        parts = [list(self._position), self._codes.hexdigest(), self._more.hexdigest()]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


@dataclass(frozen=True)
class Coded:
    """Rows that were checked and coded, by the names of their labels: what an engine counts.

    Whether any label is the alarm is not known here. ``probabilities`` has a column for each of the
    labels that ``columns`` names. ``rows`` is how many were given, ``empty`` how many of them have
    a count or weight of zero and are left out. ``repeats`` tells how many of the rows given
    each one stands for, where they were grouped before.
    """

    truth: Labels
    decision: Labels | None = None
    score: Array | None = None
    probabilities: npt.NDArray[np.float64] | None = None
    columns: tuple[str, ...] | None = None
    counts: npt.NDArray[np.int64] | None = None
    weights: npt.NDArray[np.float64] | None = None
    clusters: NameColumn | None = None
    days: NameColumn | None = None
    slices: Mapping[str, NameColumn] = field(default_factory=dict)
    rows: int = 0
    empty: int = 0
    repeats: npt.NDArray[np.int64] | None = None

    def given(self, rows: Array) -> int:
        """How many of the rows given some of these stand for."""
        return len(rows) if self.repeats is None else int(self.repeats[rows].sum())

    @property
    def size(self) -> int:
        """How many rows are to be counted."""
        return len(self.truth.codes)

    def of_rows(self, rows: Array) -> Coded:
        """Some of the rows, all of their columns."""

        def kept(column: Any) -> Any:
            return None if column is None else column[rows]

        def names(column: NameColumn | None) -> NameColumn | None:
            return None if column is None else NameColumn(column.codes[rows], column.names)

        return replace(
            self,
            truth=self.truth.of_rows(rows),
            decision=None if self.decision is None else self.decision.of_rows(rows),
            score=kept(self.score),
            probabilities=kept(self.probabilities),
            counts=kept(self.counts),
            weights=kept(self.weights),
            clusters=names(self.clusters),
            days=names(self.days),
            slices={name: NameColumn(c.codes[rows], c.names) for name, c in self.slices.items()},
            repeats=kept(self.repeats),
        )


def joined(parts: Sequence[Coded]) -> Coded:
    """The rows of several parts, one after the other."""
    if len(parts) == 1:
        return parts[0]
    first = parts[0]

    def both(name: str) -> Any:
        columns = [getattr(part, name) for part in parts]
        return None if columns[0] is None else np.concatenate(columns)

    def labels(columns: Sequence[Labels]) -> Labels:
        names = _union([column.names for column in columns])
        kind = next((c.kind for c in columns if c.names), columns[0].kind)
        return Labels(_recoded([(c.codes, c.names) for c in columns], names), names, kind)

    def named(columns: Sequence[NameColumn]) -> NameColumn:
        names = _union([column.names for column in columns])
        return NameColumn(_recoded([(c.codes, c.names) for c in columns], names), names)

    def each(name: str, join: Any) -> Any:
        columns = [getattr(part, name) for part in parts]
        return None if columns[0] is None else join(columns)

    return replace(
        first,
        truth=labels([part.truth for part in parts]),
        decision=each("decision", labels),
        score=both("score"),
        probabilities=both("probabilities"),
        counts=both("counts"),
        weights=both("weights"),
        clusters=each("clusters", named),
        days=each("days", named),
        slices={name: named([part.slices[name] for part in parts]) for name in first.slices},
        rows=sum(part.rows for part in parts),
        empty=sum(part.empty for part in parts),
        repeats=both("repeats"),
    )


def _union(lists: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    if all(names == lists[0] for names in lists):
        return lists[0]
    return tuple(sorted({name for names in lists for name in names}))


def _recoded(columns: Sequence[tuple[Array, tuple[str, ...]]], names: tuple[str, ...]) -> Array:
    position = {name: i for i, name in enumerate(names)}
    width = np.min_scalar_type(max(len(names) - 1, 0))
    parts = []
    for codes, column_names in columns:
        if column_names == names:
            parts.append(codes.astype(width, copy=False))
        else:
            table = np.array([position[name] for name in column_names] or [0], width)
            parts.append(table[codes])
    return np.concatenate(parts)
