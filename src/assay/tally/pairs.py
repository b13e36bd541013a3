"""Label by decision by decision: what several models said of the same rows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import TallyError
from assay.tally import codec
from assay.tally.blocks import BLOCK, bounds
from assay.tally.confusion import Confusion

Array: TypeAlias = npt.NDArray[Any]

_ROWS = 1 << 20


@dataclass(frozen=True, eq=False)
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
        return PairTally(self.labels, self.models, *_grouped(codes, counts))

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
        return PairTally(self.labels, names, *_grouped(self.codes[:, chosen], self.counts))

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
    return PairTally(labels, models, *_grouped(codes, counts))


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
                _grouped(rows, np.ones(j - i, np.int64) if counts is None else counts[i:j])
            )
        if not parts:
            return np.empty((0, len(columns)), np.uint16), np.empty(0, np.int64)
        codes, sums = zip(*parts, strict=True)
        return _grouped(np.concatenate(codes), np.concatenate(sums))

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
    held = np.flatnonzero(total)
    return np.stack(np.unravel_index(held, shape), axis=1).astype(np.uint16), total[held]


def _grouped(codes: Array, counts: npt.NDArray[np.int64]) -> tuple[Array, npt.NDArray[np.int64]]:
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
