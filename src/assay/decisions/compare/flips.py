"""Rows on which two models decide differently."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.engines.models import ModelRows
from assay.errors import InputError
from assay.inference.fields import Recorded
from assay.tally import PairTally
from assay.tally.blocks import bounds

Array: TypeAlias = npt.NDArray[Any]

FIXED, BROKEN, MOVED = "fixed", "broken", "moved"
_PIECE = 1 << 20


@dataclass(frozen=True)
class Flip(Recorded):
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
class DecidedRows:
    """The rows that models decided on, passed over in pieces to tell which of them flipped.

    ``positions`` are theirs among those that were given, None where all were used.
    """

    rows: ModelRows
    positions: Array | None = None
    ids: Array | None = None

    def pieces(self, a: str, b: str) -> Iterator[tuple[slice, dict[str, Array]]]:
        """Some rows at a time, and what two models decided on them."""
        for name in (a, b):
            if name not in self.rows.models:
                raise InputError(f"there is no model {name!r}; found {', '.join(self.rows.models)}")
        for start, stop in bounds(len(self.rows.truth), _PIECE):
            some = slice(start, stop)
            yield some, {name: self.rows.decisions(name, some) for name in (a, b)}


def _kinds(truth: Array, before: Array, after: Array) -> dict[str, Array]:
    """Which rows were fixed, broken or moved."""
    differ = before != after
    fixed, broken = differ & (after == truth), differ & (before == truth)
    return {FIXED: fixed, BROKEN: broken, MOVED: differ & ~fixed & ~broken}


def flips(pairs: PairTally, families: Mapping[str, PairTally]) -> Iterator[Flip]:
    """How many rows flipped between two models: of all, of each label and of each family."""
    yield _flip(pairs)
    for i, label in enumerate(pairs.labels):
        of_label = pairs.of_label(i)
        if of_label.total:
            yield _flip(of_label, label=label)
    for family, of_family in families.items():
        yield _flip(of_family, family=family)


def _flip(pairs: PairTally, *, label: str | None = None, family: str | None = None) -> Flip:
    a, b = pairs.models
    kinds = _kinds(*pairs.codes.T)
    changed = (int(pairs.counts[kept].sum()) for kept in kinds.values())
    return Flip(a, b, label, family, pairs.total, *changed)


def flipped(decided: DecidedRows, a: str, b: str) -> Iterator[FlippedRow]:
    """The rows that flipped, in their order."""
    rows = decided.rows
    truth, families = rows.truth, rows.families
    for some, decisions in decided.pieces(a, b):
        kinds = _kinds(truth[some], decisions[a], decisions[b])
        any_kind = np.flatnonzero(np.logical_or.reduce(list(kinds.values())))
        for i in any_kind.tolist():
            at = some.start + i
            yield FlippedRow(
                row=at if decided.positions is None else int(decided.positions[at]),
                id=None if decided.ids is None else _plain(decided.ids[at]),
                label=rows.labels[truth[at]],
                family=None if families is None else families.names[families.codes[at]],
                a=rows.labels[decisions[a][i]],
                b=rows.labels[decisions[b][i]],
                score_a=_score(rows, a, at),
                score_b=_score(rows, b, at),
                flip=next(kind for kind, kept in kinds.items() if kept[i]),
            )


def _score(rows: ModelRows, name: str, at: int) -> float | None:
    score = rows.models[name].score
    return None if score is None else float(score[at])


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
