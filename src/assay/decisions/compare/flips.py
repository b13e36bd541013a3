"""Rows on which two models decide differently."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay import engines
from assay.errors import InputError
from assay.sources import FAMILY, Batch, Named

Array: TypeAlias = npt.NDArray[Any]

FIXED, BROKEN, MOVED = "fixed", "broken", "moved"


@dataclass(frozen=True)
class Flip:
    """How many rows flipped from A to B, of all, of one label, or of one family.

    ``fixed`` went from wrong to right, ``broken`` from right to wrong, ``moved`` (of more than two
    classes) from one wrong class to another.
    """

    a: str
    b: str
    label: str | None
    family: str | None
    rows: int
    fixed: int
    broken: int
    moved: int = 0

    def to_dict(self) -> dict[str, Any]:
        """The counts as plain values."""
        return asdict(self)


@dataclass(frozen=True)
class FlippedRow:
    """A row on which two models decide differently; ``row`` is its position, from 0 on."""

    row: int
    id: Any
    label: str
    family: str | None
    a: str
    b: str
    score_a: float | None
    score_b: float | None
    flip: str


@dataclass(frozen=True, eq=False)
class Said:
    """What each model decided on each row, kept to tell which rows flipped."""

    labels: tuple[str, ...]
    truth: Array
    decisions: Mapping[str, Array]
    scores: Mapping[str, Array]
    counts: Array | None
    families: Named | None
    rows: Array
    ids: Array | None

    @classmethod
    def of(cls, batches: Mapping[str, Batch], rows: Array, ids: Array | None) -> Said:
        """The decisions of models on the same rows."""
        first = next(iter(batches.values()))
        return cls(
            labels=first.labels,
            truth=first.truth,
            decisions={name: engines.decide(batch) for name, batch in batches.items()},
            scores={name: b.score for name, b in batches.items() if b.score is not None},
            counts=first.counts,
            families=first.slices.get(FAMILY),
            rows=rows,
            ids=ids,
        )

    def of_kind(self, a: str, b: str) -> dict[str, Array]:
        """Which rows were fixed, broken or moved from A to B."""
        for name in (a, b):
            if name not in self.decisions:
                raise InputError(f"there is no model {name!r}; found {', '.join(self.decisions)}")
        before, after = self.decisions[a], self.decisions[b]
        differ = before != after
        fixed, broken = differ & (after == self.truth), differ & (before == self.truth)
        return {FIXED: fixed, BROKEN: broken, MOVED: differ & ~fixed & ~broken}


def flips(said: Said, a: str, b: str) -> Iterator[Flip]:
    """How many rows flipped: of all, by label, and by family where families are known."""
    kinds = said.of_kind(a, b)
    every = np.ones(len(said.truth), np.int64) if said.counts is None else said.counts
    truth = Named(said.truth, said.labels)
    columns = [truth] if said.families is None else [truth, said.families]
    total = (int(every[kept].sum()) for kept in kinds.values())
    yield Flip(a, b, None, None, int(every.sum()), *total)
    for column in columns:
        size = len(column.names)
        rows = _sums(column.codes, every, size)
        by_kind = [_sums(column.codes[at], every[at], size) for at in kinds.values()]
        for i, name in enumerate(column.names):
            if rows[i]:
                label, family = (name, None) if column is truth else (None, name)
                yield Flip(a, b, label, family, rows[i], *(part[i] for part in by_kind))


def _sums(codes: Array, counts: Array, size: int) -> list[int]:
    sums = np.zeros(size, np.int64)
    np.add.at(sums, codes, counts)
    return [int(count) for count in sums]


def flipped(said: Said, a: str, b: str) -> Iterator[FlippedRow]:
    """The rows that flipped, in their order."""
    kinds = said.of_kind(a, b)
    any_kind = np.flatnonzero(np.logical_or.reduce(list(kinds.values())))
    families = said.families
    for i in any_kind.tolist():
        yield FlippedRow(
            row=int(said.rows[i]),
            id=None if said.ids is None else _plain(said.ids[i]),
            label=said.labels[said.truth[i]],
            family=None if families is None else families.names[families.codes[i]],
            a=said.labels[said.decisions[a][i]],
            b=said.labels[said.decisions[b][i]],
            score_a=_score(said, a, i),
            score_b=_score(said, b, i),
            flip=next(kind for kind, kept in kinds.items() if kept[i]),
        )


def _score(said: Said, model: str, i: int) -> float | None:
    return float(said.scores[model][i]) if model in said.scores else None


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
