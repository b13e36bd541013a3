"""Rates over time: are periods alike, is there a trend, and by how much did a rate change?

One idea answers the first two: permute units between periods. If time made no difference, any other
order of the units would be as likely. A unit is a row; a host where rows come in clusters; a day
for a trend, since the rows of a day may be alike.

Whether periods are alike is judged by the chi-square statistic of their rates (Cochran 1954). Where
each expects ten rows of both kinds its distribution is close enough; otherwise rows are permuted
with both margins fixed, the exact test, and half of the ties count (mid-p; Lancaster 1961).

A rate fell or rose if the last third of the days differs from the first in the direction of the
trend, and at most 1 in 100 orders of the days has a trend as strong. This is a statement about the
past, not a forecast.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import MethodError
from assay.inference.estimate import Estimate
from assay.inference.proportions import Wilson
from assay.inference.significance import chi_square_p, holm, normal, student
from assay.inference.time_courses import unpaired_difference

Floats: TypeAlias = npt.NDArray[np.float64]

# From this smallest expected count on, the chi-square distribution is close enough.
ENOUGH_EXPECTED = 10
# With fewer units there are too few orders for a trend.
LEAST_UNITS = 8
# The largest Holm-adjusted p of a trend at which a verdict says that a rate fell or rose.
VERDICT = 0.01
# The number of orders drawn; the first are enough where p is large.
_DRAWS, _FIRST_DRAWS, _LARGE_P = 9_999, 999, 0.02
_SEED = 42
# NumPy's hypergeometric draws need fewer rows than this; below the second, it may go row by row.
_LARGEST_URN, _SMALL_URN = 1_000_000_000, 1_000_000
# With at most this many hits per period, dealing them one by one is faster.
_FEW_HITS = 10
# Statistics that differ by less than this are ties.
_TIE = 1e-9
TOO_FEW_UNITS = f"a trend needs rows on at least {LEAST_UNITS} days"


def _counts(successes: npt.ArrayLike, trials: npt.ArrayLike) -> tuple[Floats, Floats]:
    k, n = np.asarray(successes, np.float64), np.asarray(trials, np.float64)
    if k.shape != n.shape or k.ndim != 1 or (k < 0).any() or (k > n).any():
        raise MethodError("give as many successes as trials, and no more in a period than trials")
    return k, n


def alike(successes: npt.ArrayLike, trials: npt.ArrayLike) -> float:
    """The p-value of equal rates in all periods, for independent rows.

    X = sum((k - n p)^2 / n) / (p (1 - p)), where p is the overall rate.

    >>> alike([9, 9, 2], [10, 10, 10]) < 0.01, alike([9, 8, 9], [10, 10, 10]) > 0.5
    (True, True)
    """
    k, n = _counts(successes, trials)
    k, n = k[n > 0], n[n > 0]
    hits, rows = float(k.sum()), float(n.sum())
    if len(n) < 2 or hits in (0.0, rows):
        return 1.0
    share = hits / rows
    scale = share * (1 - share)
    statistic = float((np.square(k - n * share) / n).sum()) / scale
    if n.min() * min(share, 1 - share) >= ENOUGH_EXPECTED or rows >= _LARGEST_URN:
        return chi_square_p(statistic, len(n) - 1)
    for draws in (_FIRST_DRAWS, _DRAWS):
        # What is rarer is dealt out.
        dealt = _dealt(n.astype(np.int64), int(min(hits, rows - hits)), draws)
        rate = min(share, 1 - share)
        drawn = (np.square(dealt - n * rate) / n).sum(axis=1) / scale
        p = _mid_p(drawn, statistic, draws)
        if p > _LARGE_P:
            break
    return p


def _dealt(trials: npt.NDArray[np.int64], hits: int, draws: int) -> npt.NDArray[np.int64]:
    """Hits dealt to the rows of periods at random; one draw per row."""
    # Few hits are dealt one by one, many period by period.
    one_by_one = hits <= _FEW_HITS * len(trials) and trials.sum() < _SMALL_URN
    return np.random.default_rng(_SEED).multivariate_hypergeometric(
        trials, hits, size=draws, method="count" if one_by_one else "marginals"
    )


def _mid_p(drawn: Floats, statistic: float, draws: int) -> float:
    """The share of draws that are at least as extreme; half of the ties count."""
    tied = np.abs(drawn - statistic) <= _TIE * max(statistic, 1.0)
    above = (drawn > statistic) & ~tied
    return (1 + float(above.sum()) + float(tied.sum()) / 2) / (draws + 1)


def hosts_alike(successes: npt.ArrayLike, trials: npt.ArrayLike, periods: npt.ArrayLike) -> float:
    """The same for rows in clusters: one number per host, and hosts are permuted whole.

    ``periods`` is the period of each host, by its middle day. With one host per period every order
    is as extreme, and p is 1: differences of periods and of hosts can't be separated.
    """
    k, n = _counts(successes, trials)
    _, at = np.unique(np.asarray(periods), return_inverse=True)
    hits, rows = float(k.sum()), float(n.sum())
    if at.max(initial=0) == 0 or hits in (0.0, rows):
        return 1.0
    moved = k - n * hits / rows
    size = int(at.max()) + 1

    def statistic(order: npt.NDArray[np.intp]) -> Floats:
        """The chi-square statistic of hosts in some orders, one an entry of the first axis."""
        cells = at + size * np.arange(len(order))[:, None]
        sums, held = (
            np.bincount(cells.ravel(), each[order].ravel(), size * len(order)).reshape(-1, size)
            for each in (moved, n)
        )
        return np.asarray((np.square(sums) / np.maximum(held, 1e-300)).sum(axis=1))

    seen = float(statistic(np.arange(len(k))[None])[0])
    for draws in (_FIRST_DRAWS, _DRAWS):
        orders = _orders(len(k), draws)
        p = _mid_p(np.concatenate([statistic(part) for part in _parts(orders)]), seen, draws)
        if p > _LARGE_P:
            break
    return p


@lru_cache(maxsize=2)
def _orders(units: int, draws: int) -> npt.NDArray[np.intp]:
    """Random orders of units, the same in every run."""
    return np.argsort(np.random.default_rng(_SEED).random((draws, units), np.float32), axis=1)


def _parts(orders: npt.NDArray[np.intp]) -> list[npt.NDArray[np.intp]]:
    return np.array_split(orders, max(orders.size // 1_000_000, 1))


def trend(successes: npt.ArrayLike, trials: npt.ArrayLike, positions: npt.ArrayLike) -> float:
    """The two-sided p-value of no trend, by permuting units; nan with fewer than 8.

    Units are days with rows, or hosts, taken whole. S = sum of r (position - mean), where
    r = k - n p is what a unit has above its share.

    >>> days = range(12)
    >>> trend([10, 10, 9, 10, 9, 9, 7, 8, 6, 5, 6, 4], [10] * 12, days) < 0.01
    True
    """
    k, n = _counts(successes, trials)
    at = np.asarray(positions, np.float64)[n > 0]
    k, n = k[n > 0], n[n > 0]
    if len(n) < LEAST_UNITS:
        return math.nan
    moved = k - n * (k.sum() / n.sum())
    centred = at - at.mean()
    statistic = abs(float(moved @ centred))
    if not moved.any() or not centred.any():
        return 1.0
    drawn = np.concatenate(
        [np.abs(moved[part] @ centred) for part in _parts(_orders(len(n), _DRAWS))]
    )
    as_strong = drawn >= statistic * (1 - _TIE)
    return (1 + int(as_strong.sum())) / (_DRAWS + 1)


@dataclass(frozen=True)
class Change:
    """A rate in the first and in the last third of the time, and the difference.

    ``p`` is that of the trend, ``p_adjusted`` for how many measures were looked at; ``direction``
    is 1 where the trend is upwards, -1 downwards.
    """

    first: Estimate
    last: Estimate
    difference: Estimate
    p: float
    direction: int
    p_adjusted: float = math.nan

    @property
    def verdict(self) -> str | None:
        """``fell`` or ``rose``; None where neither is shown."""
        agree = self.difference * self.direction > 0
        if not agree or not self.p_adjusted <= VERDICT:
            return None
        return "fell" if self.direction < 0 else "rose"


def change(
    successes: npt.ArrayLike, trials: npt.ArrayLike, positions: npt.ArrayLike, level: float = 0.95
) -> Change | None:
    """The change of a rate from the first to the last third of the time; None without rows there.

    The interval is Newcombe's for two shares (1998). Where units differ phi times as much as their
    rows explain, rows count 1 / phi, and Student's t takes the place of the normal quantile.
    """
    k, n = _counts(successes, trials)
    at = np.asarray(positions, np.float64)[n > 0]
    k, n = k[n > 0], n[n > 0]
    if len(n) < 2:
        return None
    start, step = float(at.min()), float(at.max() - at.min()) / 3
    thirds = at <= start + step * (1 + _TIE), at >= start + 2 * step * (1 - _TIE)
    if step == 0:
        return None
    phi, df = _overdispersion([(k[held], n[held]) for held in thirds])
    estimates = []
    for held in thirds:
        hits, rows = float(k[held].sum()), float(n[held].sum())
        own = _level_of_t(level, df) if phi > 1 else level
        low, high = Wilson(own).ends(hits / phi, rows / phi)
        estimates.append(Estimate(hits / rows, low, high, method="wilson", n=rows, level=level))
    first, last = estimates
    difference = unpaired_difference(first, last)[0]
    moved = k - n * (k.sum() / n.sum())
    direction = int(np.sign(float(moved @ (at - at.mean()))))
    return Change(first, last, difference, trend(k, n, at), direction)


def _overdispersion(thirds: Sequence[tuple[Floats, Floats]]) -> tuple[float, int]:
    """How much more units differ within the thirds than their rows explain; at least 1."""
    df = sum(len(n) for _, n in thirds) - len(thirds)
    spread = 0.0
    for k, n in thirds:
        share = float(k.sum() / n.sum())
        if 0 < share < 1:
            spread += float((np.square(k - n * share) / n).sum()) / (share * (1 - share))
    return (max(spread / df, 1.0), df) if df > 0 else (1.0, 0)


def _level_of_t(level: float, df: int) -> float:
    """The level whose normal quantile equals Student's quantile at this level."""
    from scipy.special import ndtr

    return float(2 * ndtr(max(student(level, df), normal(level))) - 1)


def adjusted(changes: Mapping[str, Change | None]) -> dict[str, Change | None]:
    """Changes of several measures, with Holm-adjusted p-values."""
    shown = {name: each for name, each in changes.items() if each and not math.isnan(each.p)}
    by_name = dict(zip(shown, holm([each.p for each in shown.values()]), strict=True))
    return {
        name: replace(each, p_adjusted=by_name[name]) if each and name in by_name else each
        for name, each in changes.items()
    }
