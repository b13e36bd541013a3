"""What several models said of the same rows: label by decisions, and label by pairs of scores.

Both are counts, without the rows: :class:`PairTally` of any models' decisions, :class:`JointScores`
of how two of them rank.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import TallyError
from assay.v02.tally import codec
from assay.v02.tally.blocks import BLOCK, bounds, narrow
from assay.v02.tally.confusion import Confusion
from assay.v02.tally.keeping import BITS, Exact, Grid, coarsen, lowest
from assay.v02.tally.keeping import cells as cells_of
from assay.v02.tally.row_sample import Sample
from assay.v02.tally.scores import ScoreTally

Array: TypeAlias = npt.NDArray[Any]

_ROWS = 1 << 20


@dataclass(frozen=True)
class PairTally:
    """How often each combination of a label and the models' decisions occurs.

    Only combinations that occur are kept: one row of ``codes`` (label first, then a decision a
    model, as positions in ``labels``) and its count, rows in ascending order.
    """

    labels: tuple[str, ...]
    models: tuple[str, ...]
    codes: Array
    counts: npt.NDArray[np.int64]

    @classmethod
    def zero(cls, labels: Sequence[str], models: Sequence[str]) -> PairTally:
        """The table of no rows."""
        empty = np.empty((0, len(models) + 1), np.uint16)
        return cls(tuple(labels), tuple(models), empty, np.empty(0, np.int64))

    @classmethod
    def of_codes(
        cls,
        labels: Sequence[str],
        truth: Array,
        decisions: Mapping[str, Array],
        *,
        counts: npt.NDArray[np.int64] | None = None,
    ) -> PairTally:
        """Count rows given as positions in ``labels``."""
        columns = [truth, *decisions.values()]
        shape = (len(labels),) * len(columns)
        return cls(tuple(labels), tuple(decisions), *crossed(columns, shape, counts))

    def __add__(self, other: PairTally) -> PairTally:
        if not isinstance(other, PairTally):
            return NotImplemented
        if (self.labels, self.models) != (other.labels, other.models):
            raise TallyError(
                f"pair tallies of unlike labels or models can't be added: {list(self.labels)} "
                f"{list(self.models)} and {list(other.labels)} {list(other.models)}"
            )
        codes = np.concatenate([self.codes, other.codes])
        counts = np.concatenate([self.counts, other.counts])
        return PairTally(self.labels, self.models, *_grouped_codes(codes, counts))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PairTally) and self.to_bytes() == other.to_bytes()

    def __hash__(self) -> int:
        return hash(self.to_bytes())

    @property
    def total(self) -> int:
        """How many rows there are."""
        return int(self.counts.sum())

    def confusion(self, model: int) -> Confusion:
        """The confusion matrix of one model."""
        return Confusion.of_codes(
            self.labels, self.codes[:, 0], self.codes[:, model + 1], counts=self.counts
        )

    def of_models(self, *names: str) -> PairTally:
        """What some of the models said."""
        chosen = [0, *(1 + self.models.index(name) for name in names)]
        return PairTally(self.labels, names, *_grouped_codes(self.codes[:, chosen], self.counts))

    def correct(self) -> npt.NDArray[np.bool_]:
        """For each combination, which models were right."""
        return np.asarray(self.codes[:, 1:] == self.codes[:, :1])

    def of_label(self, label: int) -> PairTally:
        """The rows of one label alone."""
        kept = self.codes[:, 0] == label
        return PairTally(self.labels, self.models, self.codes[kept], self.counts[kept])

    def to_bytes(self) -> bytes:
        """The table as bytes; :func:`assay.tally.from_bytes` reads them."""
        header = {"labels": self.labels, "models": self.models}
        return codec.write("pairs", header, {"codes": self.codes, "counts": self.counts})


@codec.reads("pairs")
def pairs_of(header: Mapping[str, Any], arrays: Mapping[str, Array]) -> PairTally:
    """A table from its header and arrays."""
    labels = tuple(str(label) for label in header["labels"])
    models = tuple(str(model) for model in header["models"])
    codes, counts = arrays["codes"], arrays["counts"]
    if codes.dtype != np.uint16 or codes.shape != (len(counts), len(models) + 1):
        raise ValueError(f"codes of {codes.dtype} {codes.shape} for {len(models)} models")
    if counts.dtype != np.int64 or (counts < 0).any() or (codes >= len(labels)).any():
        raise ValueError("codes or counts are out of range")
    return PairTally(labels, models, *_grouped_codes(codes, counts))


def crossed(
    columns: Sequence[Array], shape: Sequence[int], counts: npt.NDArray[np.int64] | None = None
) -> tuple[Array, npt.NDArray[np.int64]]:
    """Combinations of codes that occur, ascending, and how many rows each has.

    ``shape`` tells how many codes each column has. Few combinations have a counter each.
    """
    size = math.prod(shape)
    if size > BLOCK:
        parts = []
        for i, j in bounds(len(columns[0]), _ROWS):
            rows = np.column_stack([column[i:j] for column in columns]).astype(np.uint16)
            parts.append(
                _grouped_codes(rows, np.ones(j - i, np.int64) if counts is None else counts[i:j])
            )
        if not parts:
            return np.empty((0, len(columns)), np.uint16), np.empty(0, np.int64)
        codes, sums = zip(*parts, strict=True)
        return _grouped_codes(np.concatenate(codes), np.concatenate(sums))

    def work(i: int, j: int) -> npt.NDArray[np.int64]:
        codes = np.zeros(j - i, np.int64)
        for column, wide in zip(columns, shape, strict=True):
            np.multiply(codes, wide, out=codes)
            np.add(codes, column[i:j], out=codes, casting="unsafe")
        if counts is None:
            return np.bincount(codes, minlength=size)
        sums = np.zeros(size, np.int64)
        np.add.at(sums, codes, counts[i:j])
        return sums

    total = np.zeros(size, np.int64)
    for i, j in bounds(len(columns[0]), _ROWS):
        total += work(i, j)
    occupied = np.flatnonzero(total)
    return np.stack(np.unravel_index(occupied, shape), axis=1).astype(np.uint16), total[occupied]


def _grouped_codes(
    codes: Array, counts: npt.NDArray[np.int64]
) -> tuple[Array, npt.NDArray[np.int64]]:
    """Distinct rows ascending with their summed counts, those that never occur left out."""
    kept = counts > 0
    codes, counts = codes[kept], counts[kept]
    if not len(codes):
        return codes, counts
    order = np.lexsort(codes.T[::-1])
    codes, counts = codes[order], counts[order]
    changed = (codes[1:] != codes[:-1]).any(axis=1)
    starts = np.flatnonzero(np.concatenate(([True], changed)))
    return codes[starts], np.add.reduceat(counts, starts)


# -- label by score by score -----------------------------------------------------------------------

Ids: TypeAlias = npt.NDArray[np.int64]

# Cells of a grid are fewer than 2^13 in steps of 2^bits, from -2100 such steps on.
_BINADES, _FIRST = 13, 2100
_KEY_BITS = 63


@dataclass(frozen=True)
class JointScores:
    """How many rows of each label have each pair of scores, of two models on the same rows.

    ``truth`` holds positions in ``labels`` and ``cells`` one row a model: cells of a grid, or,
    where every distinct pair is ``kept``, the scores themselves, coded so that they rise as
    integers. Pairs stand in ascending order of label and cells; those that do not occur are left
    out. Grids nest, so that tables of unlike grids add to one of the coarser, and labels are united
    by name.

    >>> truth, scores = np.array([0, 1, 1]), {"a": np.array([0.2, 0.9, 0.9]), "b": np.ones(3)}
    >>> joint = JointScores.of_rows(("benign", "attack"), truth, scores)
    >>> joint.size, joint.counts.tolist()
    (2, [1, 2])
    """

    labels: tuple[str, ...]
    models: tuple[str, str]
    truth: Array
    cells: Ids
    counts: Array
    kept: Exact | Grid

    @classmethod
    def zero(
        cls, labels: Sequence[str], models: Sequence[str], kept: Exact | Grid | None = None
    ) -> JointScores:
        """The table of no rows."""
        return cls(
            tuple(labels),
            _two_models(models),
            np.empty(0, np.uint16),
            np.empty((2, 0), np.int64),
            np.empty(0, np.uint8),
            Grid(BITS) if kept is None else kept,
        )

    @classmethod
    def of_rows(
        cls,
        labels: Sequence[str],
        truth: Array,
        scores: Mapping[str, Array],
        *,
        counts: npt.NDArray[np.int64] | None = None,
        bits: int | None = BITS,
    ) -> JointScores:
        """Count rows into a grid of so many bits; all distinct pairs where ``bits`` is None.

        ``truth`` holds positions in ``labels``; scores are finite.
        """
        kept = Exact() if bits is None else Grid(bits)
        table = np.empty((2, len(truth)), np.int64)
        for row, column in zip(table, scores.values(), strict=True):
            row[:] = _ordered(column) if bits is None else cells_of(column, bits)
        truth = truth.astype(np.uint16)
        return cls(
            tuple(labels),
            _two_models(tuple(scores)),
            *_grouped_pairs(truth, table, counts, kept),
            kept,
        )

    def __add__(self, other: JointScores) -> JointScores:
        if not isinstance(other, JointScores):
            return NotImplemented
        return JointScores.merge([self, other])

    @staticmethod
    def merge(parts: Sequence[JointScores]) -> JointScores:
        """The sum of many tables: on the coarsest grid of those that have rows."""
        first = parts[0]
        for other in parts[1:]:
            if other.models != first.models:
                raise TallyError(
                    f"joint scores of unlike models can't be added: {list(first.models)} and "
                    f"{list(other.models)}"
                )
        full = [part for part in parts if part.size]
        labels = _united([part.labels for part in parts])
        bits = [part.kept.bits for part in full or parts if isinstance(part.kept, Grid)]
        if bits:
            full = [part.to_grid(min(bits)) for part in full]
        label_at = {name: i for i, name in enumerate(labels)}
        full = [part.placed(labels, label_at) for part in full]
        if len(full) == 1:
            return full[0]
        kept = Grid(min(bits)) if bits else Exact()
        if not full:
            return JointScores.zero(labels, first.models, kept)
        amounts = np.concatenate([part.counts.astype(np.int64) for part in full])
        table = np.concatenate([part.cells for part in full], axis=1)
        truth = np.concatenate([part.truth for part in full])
        return JointScores(labels, first.models, *_grouped_pairs(truth, table, amounts, kept), kept)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, JointScores) and self.to_bytes() == other.to_bytes()

    def __hash__(self) -> int:
        return hash(self.to_bytes())

    def __repr__(self) -> str:
        return f"JointScores(models={self.models}, labels={self.labels}, pairs={self.size})"

    @property
    def size(self) -> int:
        """How many pairs of scores occur, label by label."""
        return len(self.counts)

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return int(self.counts.sum(dtype=np.int64))

    def placed(self, labels: Sequence[str], label_at: Mapping[str, int]) -> JointScores:
        """The same rows in which each label has its place among others."""
        labels = tuple(labels)
        if labels == self.labels and all(label_at[name] == i for i, name in enumerate(labels)):
            return self
        renumber = np.array([label_at[name] for name in self.labels], np.uint16)
        counts = self.counts.astype(np.int64)
        truth = renumber[self.truth] if len(renumber) else self.truth
        return JointScores(
            labels, self.models, *_grouped_pairs(truth, self.cells, counts, self.kept), self.kept
        )

    def to_grid(self, bits: int) -> JointScores:
        """The same rows on a grid of fewer bits."""
        kept = Grid(bits)
        if self.kept == kept:
            return self
        if isinstance(self.kept, Grid):
            table = coarsen(self.cells, self.kept.bits, bits)
        else:
            table = np.stack([cells_of(_scores(row), bits) for row in self.cells])
        grouped = _grouped_pairs(self.truth, table, self.counts.astype(np.int64), kept)
        return JointScores(self.labels, self.models, *grouped, kept)

    def within(self, most: int) -> JointScores:
        """The same rows on the finest grid on which no more than ``most`` pairs occur.

        Fewer rows never occupy more cells, so parts that were brought within a limit before they
        were added give the same table as the whole.
        """
        joint = self
        while joint.size > most and joint.kept != Grid(1):
            joint = joint.to_grid(joint.kept.bits - 1 if isinstance(joint.kept, Grid) else BITS)
        return joint

    def scores(self, model: int) -> npt.NDArray[np.float64]:
        """The score of one model of each pair: of a cell, the smallest that lies in it."""
        return self._lowest(self.cells[model])

    def marginal(self, model: int) -> ScoreTally:
        """The score tally of one of the models."""
        distinct, at = np.unique(self.cells[model], return_inverse=True)
        shape = len(self.labels), len(distinct)
        keys = self.truth.astype(np.int64) * shape[1] + at
        # Sums of counts are exact in floats up to 2^53.
        sums = np.bincount(keys, self.counts, minlength=shape[0] * shape[1]).reshape(shape)
        table = narrow(sums.astype(np.int64))
        return ScoreTally(self.labels, self._lowest(distinct), table, kept=self.kept)

    def sample(self) -> Sample:
        """The pairs as rows of a sample; where every pair is kept, the sample of the same rows."""
        return Sample(
            self.labels,
            self.models,
            (),
            self.truth,
            np.stack([self.scores(model) for model in (0, 1)], axis=1),
            np.zeros(self.size, np.int64),
            self.counts.astype(np.int64),
        )

    def decided(self, thresholds: Sequence[float]) -> PairTally:
        """What both models decide at thresholds that are kept scores, of a negative and a positive.

        A score of a grid is the smallest of its cell, so that the counts are those of the rows.
        """
        decisions = {
            model: (self.scores(i) >= thresholds[i]).view(np.uint8)
            for i, model in enumerate(self.models)
        }
        counts = self.counts.astype(np.int64)
        return PairTally.of_codes(self.labels, self.truth, decisions, counts=counts)

    def _lowest(self, ids: Ids) -> npt.NDArray[np.float64]:
        return lowest(ids, self.kept.bits) if isinstance(self.kept, Grid) else _scores(ids)

    def to_bytes(self) -> bytes:
        """The table as bytes; :func:`assay.tally.from_bytes` reads them."""
        bits = self.kept.bits if isinstance(self.kept, Grid) else None
        header = {"labels": self.labels, "models": self.models, "bits": bits}
        arrays = {"truth": self.truth, "cells": self.cells, "counts": self.counts}
        return codec.write("joint", header, arrays)


@codec.reads("joint")
def joint_of(header: Mapping[str, Any], arrays: Mapping[str, Array]) -> JointScores:
    """A table from its header and arrays, refused unless it is canonical."""
    bits = header["bits"]
    joint = JointScores(
        tuple(str(label) for label in header["labels"]),
        _two_models([str(model) for model in header["models"]]),
        arrays["truth"],
        arrays["cells"],
        arrays["counts"],
        Exact() if bits is None else Grid(int(bits)),
    )
    size = joint.size
    kinds = joint.truth.dtype.str, joint.cells.dtype.str, joint.counts.dtype.kind
    if kinds != ("<u2", "<i8", "u") or joint.cells.shape != (2, size):
        raise ValueError(f"columns of an unknown kind: {kinds} {joint.cells.shape}")
    if joint.truth.shape != (size,) or (joint.truth >= len(joint.labels)).any():
        raise ValueError("labels are out of range")
    if not all(np.isfinite(joint.scores(model)).all() for model in (0, 1)):
        raise ValueError("scores are not finite")
    counts = joint.counts.astype(np.int64)
    grouped = _grouped_pairs(joint.truth, joint.cells, counts, joint.kept)
    canonical = replace(joint, truth=grouped[0], cells=grouped[1], counts=grouped[2])
    if canonical != joint:
        raise ValueError("pairs are not ascending, or counts are not in their narrowest form")
    return joint


def _two_models(models: Sequence[str]) -> tuple[str, str]:
    if len(models) != 2:
        raise TallyError(f"joint scores are those of two models; found {list(models)}")
    return models[0], models[1]


def _united(each: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """The labels of all parts: as they stand where they are alike, else sorted as text."""
    if len(set(each)) == 1:
        return each[0]
    return tuple(sorted({name for labels in each for name in labels}))


def _grouped_pairs(
    truth: Array, table: Ids, counts: npt.NDArray[np.int64] | None, kept: Exact | Grid
) -> tuple[Array, Ids, Array]:
    """Distinct pairs in ascending order, and how many rows each has."""
    if counts is not None and not counts.all():
        occupied = counts > 0
        truth, table, counts = truth[occupied], table[:, occupied], counts[occupied]
    if not len(truth):
        return np.empty(0, np.uint16), np.empty((2, 0), np.int64), np.empty(0, np.uint8)
    if not isinstance(kept, Grid) or not _fits_one_integer(truth, kept):
        order = np.lexsort((table[1], table[0], truth))
        truth, table = truth[order], table[:, order]
        changed = (truth[1:] != truth[:-1]) | (table[:, 1:] != table[:, :-1]).any(axis=0)
        starts = np.flatnonzero(np.concatenate(([True], changed)))
        sums = _sums(starts, len(truth), None if counts is None else counts[order])
        return truth[starts], np.ascontiguousarray(table[:, starts]), narrow(sums)
    keys = _packed_keys(truth, table, kept)
    if counts is None:
        keys.sort()
    else:
        # Runs that are sorted already are merged, not sorted.
        order = np.argsort(keys, kind="stable")
        keys, counts = keys[order], counts[order]
    starts = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1])))
    sums = _sums(starts, len(keys), counts)
    return (*_unpacked(keys[starts], kept), narrow(sums))


def _sums(starts: Array, size: int, counts: npt.NDArray[np.int64] | None) -> Array:
    if counts is None:
        return np.diff(np.append(starts, size))
    return np.asarray(np.add.reduceat(counts, starts))


def _fits_one_integer(truth: Array, grid: Grid) -> bool:
    """Whether label and both cells have room in one integer."""
    return int(truth.max()).bit_length() + 2 * (_BINADES + grid.bits) <= _KEY_BITS


def _packed_keys(truth: Array, table: Ids, grid: Grid) -> Array:
    """Label and both cells in one integer that sorts alike."""
    bits = _BINADES + grid.bits
    keys = truth.astype(np.int64)
    for row in table:
        np.left_shift(keys, bits, out=keys)
        np.add(keys, row, out=keys)
        np.add(keys, _FIRST << grid.bits, out=keys)
    return keys


def _unpacked(keys: Array, grid: Grid) -> tuple[Array, Ids]:
    bits = _BINADES + grid.bits
    mask, first = (1 << bits) - 1, _FIRST << grid.bits
    table = np.stack([(keys >> bits & mask) - first, (keys & mask) - first])
    return (keys >> 2 * bits).astype(np.uint16), table


_REST = np.int64((1 << 63) - 1)


def _ordered(scores: Array) -> Ids:
    """Integers that rise as these scores do; -0.0 is 0.0."""
    stored = (scores.astype(np.float64) + 0.0).view(np.int64)
    return np.asarray(stored ^ (stored >> 63 & _REST))


def _scores(ids: Ids) -> npt.NDArray[np.float64]:
    """The scores that were coded so."""
    ids = np.ascontiguousarray(ids)
    return np.asarray((ids ^ (ids >> 63 & _REST)).view(np.float64))
