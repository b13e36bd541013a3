"""The decisions of several models on the same rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.counts.confusion import Confusion

Array: TypeAlias = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class PairCounts:
    """The rows of each combination of a label and the models' decisions.

    Only combinations that occur are kept: one row of ``codes`` (label first, then each model's
    decision, as positions in ``labels``) and its count, rows ascending.
    """

    labels: tuple[str, ...]
    models: tuple[str, ...]
    codes: Array
    counts: npt.NDArray[np.int64]

    @classmethod
    def of_rows(
        cls,
        labels: Sequence[str],
        truth: Array,
        decisions: Mapping[str, Array],
        *,
        counts: Array | None = None,
    ) -> PairCounts:
        """Count rows given as positions in ``labels``."""
        codes = np.column_stack([truth, *decisions.values()]).astype(np.uint16)
        amounts = np.ones(len(codes), np.int64) if counts is None else counts
        return cls(tuple(labels), tuple(decisions), *_grouped(codes, amounts))

    @property
    def total(self) -> int:
        """All rows."""
        return int(self.counts.sum())

    def confusion(self, model: int) -> Confusion:
        """The confusion matrix of one model."""
        codes = self.codes[:, 0], self.codes[:, model + 1]
        return Confusion.of_rows(self.labels, *codes, counts=self.counts)

    def of_models(self, *names: str) -> PairCounts:
        """The decisions of some of the models."""
        chosen = [0, *(1 + self.models.index(name) for name in names)]
        return PairCounts(self.labels, names, *_grouped(self.codes[:, chosen], self.counts))

    def correct(self) -> npt.NDArray[np.bool_]:
        """For each combination, which models were right."""
        return np.asarray(self.codes[:, 1:] == self.codes[:, :1])

    def of_label(self, label: int) -> PairCounts:
        """The rows of one label alone."""
        held = self.codes[:, 0] == label
        return PairCounts(self.labels, self.models, self.codes[held], self.counts[held])


def _grouped(codes: Array, counts: Array) -> tuple[Array, npt.NDArray[np.int64]]:
    """Distinct rows ascending with their summed counts."""
    distinct, at = np.unique(codes[counts > 0], axis=0, return_inverse=True)
    sums = np.zeros(len(distinct), np.int64)
    np.add.at(sums, at.ravel(), counts[counts > 0])
    return distinct, sums
