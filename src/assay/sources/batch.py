"""Rows, checked and coded: what an engine counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]


@dataclass(frozen=True)
class Named:
    """A column of names: positions in ``names``."""

    codes: Array
    names: tuple[str, ...]


@dataclass(frozen=True)
class UnknownRows:
    """Rows of a label that the model does not know: the largest probability that each was given.

    ``clusters`` are positions in the names of the clusters of the other rows.
    """

    label: str
    largest: npt.NDArray[np.float64]
    counts: npt.NDArray[np.int64] | None = None
    weights: npt.NDArray[np.float64] | None = None
    clusters: Array | None = None


@dataclass(frozen=True)
class Batch:
    """Rows of one judged model.

    ``truth`` and ``decision`` are positions in ``labels``. A binary batch has a ``score`` or a
    ``decision`` or both, and then the decision decides and the score ranks; one of more classes has
    ``probabilities`` (a column a label) or a ``decision``. ``days`` are ISO dates. ``unknown`` are
    the rows of a label that the model does not know, which are not among the others. ``notes`` tell
    what was inferred, ``rows`` how many were given, those of count zero too.
    """

    labels: tuple[str, ...]
    positive: str | None
    truth: Array
    decision: Array | None = None
    score: Array | None = None
    probabilities: npt.NDArray[np.float64] | None = None
    threshold: float | None = None
    is_probability: bool = False
    counts: npt.NDArray[np.int64] | None = None
    weights: npt.NDArray[np.float64] | None = None
    clusters: Named | None = None
    days: Named | None = None
    slices: Mapping[str, Named] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    rows: int = 0
    unknown: UnknownRows | None = None

    @property
    def decided(self) -> bool:
        """Whether rows are decided on; scores without a scale and a threshold only rank them."""
        return self.score is None or self.decision is not None or self.threshold is not None

    @property
    def binary(self) -> bool:
        """Whether there is one positive label."""
        return self.positive is not None

    def by_family(self, column: str) -> tuple[tuple[str, ...], Array]:
        """Labels with the families in place of the positive one, and where each row is in them.

        ``column`` names the slice that tells the family of a positive. Families are in the order of
        their names; without such a slice the labels stay as they are.
        """
        if column not in self.slices:
            return self.labels, self.truth
        named, positive = self.slices[column], np.asarray(self.truth == 1)
        held = sorted({named.names[code] for code in np.unique(named.codes[positive])})
        position = {name: i for i, name in enumerate(held, start=1)}
        table = np.array([position.get(name, 0) for name in named.names], np.uint16)
        return (self.labels[0], *held), np.where(positive, table[named.codes], 0)
