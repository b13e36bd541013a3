"""Intervals for a share of rows: k successes in n trials.

Each method is an object that is called with successes and trials, numbers or arrays; trials may be
an effective number. All lie within [0, 1], hold the share itself, and have their closed form where
k is 0 or n.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.inference.quantiles import check_level, normal

Ends: TypeAlias = tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]


@dataclass(frozen=True)
class ProportionInterval(ABC):
    """A method for shares; see the subclasses."""

    level: float = 0.95
    name: ClassVar[str] = ""

    def __post_init__(self) -> None:
        check_level(self.level)

    def __call__(self, successes: npt.ArrayLike, trials: npt.ArrayLike) -> Ends:
        """The lower and upper end; nan where there are no trials."""
        k, n = np.broadcast_arrays(
            np.asarray(successes, np.float64), np.asarray(trials, np.float64)
        )
        with np.errstate(all="ignore"):
            low, high = self._ends(k, n)
            share = k / n
            low = np.where(k <= 0, 0.0, np.clip(low, 0, share))
            high = np.where(k >= n, 1.0, np.clip(high, share, 1))
        return np.where(n > 0, low, np.nan), np.where(n > 0, high, np.nan)

    def ends(self, k: float, n: float) -> tuple[float, float]:
        """The same of one share, as two floats."""
        if not n > 0:
            return math.nan, math.nan
        share = k / n
        with np.errstate(all="ignore"):
            low, high = self._ends(k, n)
        low = 0.0 if k <= 0 else min(max(float(low), 0.0), share)
        return low, 1.0 if k >= n else min(max(float(high), share), 1.0)

    @abstractmethod
    def _ends(self, k: Any, n: Any) -> Any:
        """Both ends, not yet cut to [0, 1]."""


class Wilson(ProportionInterval):
    """The score interval: where a normal test would not reject (Wilson 1927).

    >>> low, high = Wilson()(6635, 6802)
    >>> round(float(low), 4), round(float(high), 4)
    (0.9715, 0.9789)
    """

    name = "wilson"

    def _ends(self, k: Any, n: Any) -> Any:
        z = normal(self.level)
        share = k / n
        centre = share + z * z / (2 * n)
        reach = z * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
        return (centre - reach) / (1 + z * z / n), (centre + reach) / (1 + z * z / n)


class Wald(ProportionInterval):
    """The textbook interval, share plus or minus z standard errors.

    It has no width where k is 0 or n, and covers too little everywhere else near the edges: use it
    to check what others printed.
    """

    name = "wald"

    def _ends(self, k: Any, n: Any) -> Any:
        share = k / n
        reach = normal(self.level) * np.sqrt(share * (1 - share) / n)
        return share - reach, share + reach


class AgrestiCoull(ProportionInterval):
    """Wald's interval after adding z^2/2 successes and failures (Agresti and Coull 1998)."""

    name = "agresti-coull"

    def _ends(self, k: Any, n: Any) -> Any:
        z = normal(self.level)
        n = n + z * z
        share = (k + z * z / 2) / n
        reach = z * np.sqrt(share * (1 - share) / n)
        return share - reach, share + reach


class ClopperPearson(ProportionInterval):
    """The exact interval: never covers less than it promises (Clopper and Pearson 1934)."""

    name = "clopper-pearson"

    def _ends(self, k: Any, n: Any) -> Any:
        from scipy.special import betainccinv, betaincinv

        tail = (1 - self.level) / 2
        low = betaincinv(np.maximum(k, 1e-9), n - k + 1, tail)
        high = betainccinv(k + 1, np.maximum(n - k, 1e-9), tail)
        low = np.where(k >= n, np.exp(np.log(tail) / n), low)
        return low, np.where(k <= 0, -np.expm1(np.log(tail) / n), high)


class Jeffreys(ProportionInterval):
    """The middle of the beta distribution that Jeffreys' prior leads to (Brown et al. 2001)."""

    name = "jeffreys"

    def _ends(self, k: Any, n: Any) -> Any:
        from scipy.special import betainccinv, betaincinv

        tail = (1 - self.level) / 2
        return betaincinv(k + 0.5, n - k + 0.5, tail), betainccinv(k + 0.5, n - k + 0.5, tail)


PROPORTION_METHODS: dict[str, type[ProportionInterval]] = {
    method.name: method for method in (Wald, Wilson, ClopperPearson, Jeffreys, AgrestiCoull)
}
