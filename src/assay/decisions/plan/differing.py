"""How many rows show a difference between two models: the power of McNemar's test."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.decisions.plan.rates import first
from assay.errors import InputError
from assay.inference.mcnemar import EXACT_BELOW
from assay.inference.quantiles import normal

Array: TypeAlias = npt.NDArray[Any]

# So many standard deviations hold all of a binomial distribution but 1e-11.
_REACH = 7.0
# Of more numbers of discordant rows than this, only so many are summed over, evenly spaced; the
# power is then right to five digits.
_SUMMED = 2000
_LARGE = 10_000
# Up to so many rows, fewer are looked for as far below the rows that were found.
_SAW, _TEETH = 10_000, 25
# More rows than this are told to as many parts.
_DIGITS = 10**6
# More rows than this nobody compares on, and summing takes long.
_MOST = 10**9


def rows_for_difference(difference: float, discordant: float, level: float, power: float) -> int:
    """The fewest rows on which McNemar's test shows the difference with the chance ``power``.

    ``difference`` is how much more often one model is right, ``discordant`` the share of rows on
    which only one of both is. The test is the one that ``compare`` uses: exact below 25 discordant
    rows, else with continuity correction.
    """

    def enough(rows: int) -> bool:
        return mcnemar_power(rows, difference, discordant, level) >= power

    if connor(difference, discordant, level, power) > _MOST:
        raise InputError(f"more than {_MOST:,} rows would be needed; ask for a larger difference")
    near = _nearer(difference, discordant, level, power)
    low = max(1, near - 10 - near // 1000)
    while low > 1 and enough(low):
        low //= 2
    unit = 1 + near // _DIGITS
    found = low + unit * first(lambda steps: enough(low + unit * steps), 0, step=10)
    if found > _SAW:
        return found
    # The power of a test of counts is a saw: a tooth before may reach as high.
    return next((rows for rows in range(max(1, found - _TEETH), found) if enough(rows)), found)


def _nearer(difference: float, discordant: float, level: float, power: float) -> int:
    """The usual formula, mended by what the test really tells there."""
    from scipy.special import ndtri

    rows, z = connor(difference, discordant, level, power), normal(level)
    for _ in range(2):
        told = mcnemar_power(rows, difference, discordant, level)
        if not 0.01 < told < 0.999:
            break
        rows = max(1, round(rows * ((z + ndtri(power)) / (z + ndtri(told))) ** 2))
    return rows


def connor(difference: float, discordant: float, level: float, power: float) -> int:
    """The usual formula by the normal approximation (Connor 1987), for comparison."""
    from scipy.special import ndtri

    z = normal(level) * math.sqrt(discordant)
    z += float(ndtri(power)) * math.sqrt(max(discordant - difference**2, 0.0))
    return max(1, math.ceil((z / difference) ** 2)) if z > 0 else 1


@lru_cache(maxsize=256)
def mcnemar_power(rows: int, difference: float, discordant: float, level: float) -> float:
    """The chance that McNemar's test shows the difference on so many rows.

    Summed over how many of the rows are discordant, and how they fall.
    """
    from scipy.special import betaincc

    mean = rows * discordant
    reach = _REACH * math.sqrt(mean * (1 - discordant)) + _REACH
    start, stop = max(0, math.floor(mean - reach)), min(rows, math.ceil(mean + reach)) + 1
    pairs = np.arange(start, stop, 1 + (stop - start) // _SUMMED)
    weight = _binomial(pairs, rows, discordant)
    most = critical(pairs, level)
    better = min((1 + difference / discordant) / 2, 1.0)
    told = np.zeros(len(pairs))
    tests = most >= 0
    k, n = most[tests], pairs[tests]
    # Both tails: the better model ahead, and, by bad luck, the worse one.
    told[tests] = betaincc(k + 1, n - k, 1 - better) + betaincc(k + 1, n - k, better)
    return float((weight * told).sum() / weight.sum())


def _binomial(pairs: Array, rows: int, share: float) -> Array:
    """The binomial distribution up to a factor."""
    from scipy.special import betaln, xlog1py, xlogy

    if min(rows * share, rows * (1 - share)) < _LARGE:
        log = xlogy(pairs, share) + xlog1py(rows - pairs, -share)
        return np.asarray(np.exp(log - betaln(pairs + 1, rows - pairs + 1) - math.log(rows + 1)))
    # Logarithms of large factorials would lose the digits that matter; this is their difference.
    off = pairs - rows * share
    log = _deviance(off, rows * share) + _deviance(-off, rows * (1 - share))
    return np.asarray(np.exp(-log) / np.sqrt(pairs / rows * (rows - pairs)))


def _deviance(off: Array, mean: float) -> Array:
    """How unlikely it is to be so far off the mean, as a logarithm (Loader 2000)."""
    part = off / mean
    return np.asarray(mean * ((1 + part) * np.log1p(part) - part))


def critical(pairs: Array, level: float) -> Array:
    """Of so many discordant rows, the most that may go the other way for the test to show it.

    -1 where nothing does.
    """
    z = normal(level)
    # (|n - 2k| - 1)^2 / n > z^2, strictly, as p < 1 - level.
    edge = (pairs - 1 - z * np.sqrt(pairs)) / 2
    found = np.ceil(edge) - 1
    few = pairs < EXACT_BELOW
    found[few] = [_critical_exact(int(n), level) for n in pairs[few]]
    return np.asarray(np.maximum(found, -1))


def _critical_exact(pairs: int, level: float) -> int:
    below, k = 0, -1
    # p < 1 - level in whole numbers: 2 * sum of C(n, i) < (1 - level) * 2^n.
    while k < pairs:
        below += math.comb(pairs, k + 1)
        if 2 * below >= (1 - level) * 2**pairs:
            break
        k += 1
    return k
