"""How well the order of rows tells their labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.inference import Estimate
from assay.learn.checks.signals import share_of

Array: TypeAlias = npt.NDArray[Any]

# Halfway between what chance gives and neighbours that always agree.
TELLING = 0.5


@dataclass(frozen=True)
class Neighbours:
    """Rows in some order: how often a row has the label of the one before, and by chance.

    ``runs`` are stretches of one label.
    """

    agree: Estimate
    chance: float
    runs: int

    @property
    def skill(self) -> float:
        """0 where neighbours agree as chance has it, 1 where they always do; at the worst."""
        if not self.chance < 1 or not self.agree.n:
            return 0.0
        return max(0.0, (self.agree.low - self.chance) / (1 - self.chance))

    @property
    def telling(self) -> bool:
        """Whether the order gives labels away."""
        return self.skill > TELLING


def neighbours(truth: Array, level: float) -> Neighbours:
    """How often a row has the label of the row before it.

    >>> import numpy as np
    >>> found = neighbours(np.repeat([0, 1], 50), 0.95)
    >>> found.runs, round(float(found.agree), 2), round(found.chance, 2), found.telling
    (2, 0.99, 0.49, True)
    """
    n = len(truth)
    same = int(np.count_nonzero(truth[1:] == truth[:-1]))
    often = np.bincount(truth).astype(np.float64)
    chance = float((often * (often - 1)).sum() / (n * (n - 1))) if n > 1 else 1.0
    return Neighbours(share_of(same, n - 1, level), chance, n - same)


def by_column(values: Array, truth: Array, level: float, seed: int) -> Neighbours:
    """The same in the order of a column; rows of one value stand in an order of chance."""
    shuffled = np.random.default_rng(seed).permutation(len(truth))
    order = shuffled[np.argsort(values[shuffled], kind="stable")]
    return neighbours(truth[order], level)
