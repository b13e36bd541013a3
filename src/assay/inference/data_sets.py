"""Tests of models over several data sets, beside Friedman's and Nemenyi's."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from assay.errors import LengthMismatch, MethodError
from assay.inference.estimate import Estimate
from assay.inference.fields import Recorded
from assay.inference.quantiles import f_p, normal, normal_p
from assay.inference.ranks import Floats, friedman, mean_ranks
from assay.inference.significance import Significance, checked_names, holm, p_text

# Up to so many data sets the distribution of signed ranks is counted out.
_EXACT = 50
# The weight of the one data set without a difference that is believed in beforehand.
_PRIOR = 0.5
_DRAWS = 50_000
_AT_ONCE = 5_000


def iman_davenport(
    values: Any, *, level: float = 0.95, names: Sequence[str] | None = None
) -> Significance:
    """Iman and Davenport's form of Friedman's test: a row a data set, a column a model.

    With Friedman's statistic Q of N rows and k models, F = (N - 1) Q / (N (k - 1) - Q) has k - 1
    and (k - 1)(N - 1) degrees of freedom. Friedman's chi-square is too careful for few data sets.
    Where all rows agree, F is infinite, and p is that of so many equal orders, ties included.

    Reference: Iman and Davenport 1980; Demsar 2006.

    >>> table = [[0.9, 0.8, 0.7], [0.8, 0.7, 0.6], [0.7, 0.6, 0.65], [0.9, 0.6, 0.7]]
    >>> found = iman_davenport(table)
    >>> round(found.statistic, 6), found.df
    (9.0, (2, 6))
    """
    chi_square = friedman(values, level=level, names=names)
    assert chi_square.statistic is not None  # noqa: S101 - Friedman's test has one
    rows, models = chi_square.table["rows"], len(chi_square.models)
    means = list(chi_square.table["mean_ranks"].values())
    left = rows * (models - 1) - chi_square.statistic
    statistic: float | None
    if left <= 1e-9 * rows:
        statistic = None
        p = _orders(means) ** (1 - rows)
    else:
        statistic = (rows - 1) * chi_square.statistic / left
        p = f_p(statistic, models - 1, (models - 1) * (rows - 1))
    verdict = "they differ" if p < 1 - level else "no difference is shown"
    return replace(
        chi_square,
        test="iman_davenport",
        statistic=statistic,
        df=(models - 1, (models - 1) * (rows - 1)),
        p=p,
        method="exact" if statistic is None else "F",
        sentence=f"{models} models over {rows} data sets, by Iman and Davenport: {verdict} "
        f"({p_text(p)}).",
    )


def _orders(ranks: Sequence[float]) -> float:
    """In how many orders models can stand, of which those that are tied change nothing."""
    shared = math.prod(math.factorial(ranks.count(rank)) for rank in set(ranks))
    return float(math.factorial(len(ranks)) // shared)


def mean_rank_tests(
    values: Any, *, level: float = 0.95, names: Sequence[str] | None = None
) -> list[Significance]:
    """Each pair of models by their mean ranks over data sets, with Holm's p over all pairs.

    The gap of two mean ranks over sqrt(k (k + 1) / (6 N)) is taken as normal.

    Reference: Demsar 2006; Garcia and Herrera 2008.
    """
    means = mean_ranks(values)
    rows, models = np.asarray(values).shape
    labels = checked_names(names, models)
    error = math.sqrt(models * (models + 1) / (6 * rows))
    reach = normal(level) * error
    pairs = [(i, j) for i in range(models) for j in range(i + 1, models)]
    gaps = [float(means[j] - means[i]) for i, j in pairs]
    raw = [normal_p(gap / error) for gap in gaps]
    found = []
    for (i, j), gap, p, adjusted in zip(pairs, gaps, raw, holm(raw), strict=True):
        better = labels[i] if gap > 0 else labels[j]
        verdict = f"{better} ranks better" if adjusted < 1 - level else "no difference is shown"
        found.append(
            Significance(
                test="mean_ranks",
                statistic=gap / error,
                df=(),
                p=p,
                p_adjusted=adjusted,
                method="normal",
                sentence=f"{labels[i]} has mean rank {means[i]:.2f}, {labels[j]} {means[j]:.2f}: "
                f"{verdict} ({p_text(adjusted)} by Holm).",
                table={"rank_difference": gap, "standard_error": error},
                effect=Estimate(
                    gap, gap - reach, gap + reach, method="normal", n=rows, level=level
                ),
                models=(labels[i], labels[j]),
            )
        )
    return found


def wilcoxon(
    a: Any, b: Any, *, level: float = 0.95, names: tuple[str, str] = ("A", "B")
) -> Significance:
    """Wilcoxon's signed-rank test of two models over data sets, a value of each a data set.

    Higher values are better. Data sets without a difference are left out. Of 50 or fewer the
    distribution is exact, ties or not; of more it is taken as normal, with the corrections for
    ties and continuity.

    Reference: Wilcoxon 1945; Demsar 2006 for comparing classifiers.

    >>> wilcoxon([0.8, 0.7, 0.6, 0.9, 0.5], [0.9, 0.8, 0.75, 0.95, 0.7]).p
    0.0625
    """
    gaps = _gaps(a, b)
    kept = gaps[gaps != 0]
    size = len(kept)
    # Twice the rank, which is whole also where ties share one.
    sizes = np.abs(kept)
    doubled = 2 * (sizes[None, :] < sizes[:, None]).sum(axis=1)
    doubled = (doubled + (sizes[None, :] == sizes[:, None]).sum(axis=1) + 1).astype(np.int64)
    up, down = int(doubled[kept > 0].sum()), int(doubled[kept < 0].sum())
    if size <= _EXACT:
        p, method = _exact_p(doubled.tolist(), min(up, down)), "exact"
    else:
        spread = float((doubled.astype(np.float64) ** 2).sum()) / 4
        off = max(abs(up - down) / 2 - 1, 0.0)
        p, method = normal_p(off / (2 * math.sqrt(spread / 4))), "normal"
    better = names[1] if up > down else names[0]
    verdict = f"{better} is better" if p < 1 - level else "no difference is shown"
    return Significance(
        test="wilcoxon",
        statistic=min(up, down) / 2,
        df=(),
        p=p,
        method=method,
        sentence=f"{names[1]} is ahead of {names[0]} on {int((kept > 0).sum())} of {len(gaps)} "
        f"data sets: {verdict} ({p_text(p)}).",
        table={
            "rows": len(gaps),
            "without_difference": len(gaps) - size,
            "ranks_above": up / 2,
            "ranks_below": down / 2,
        },
        models=tuple(names),
    )


def _gaps(a: Any, b: Any) -> Floats:
    first, second = np.asarray(a, np.float64), np.asarray(b, np.float64)
    if first.shape != second.shape or first.ndim != 1:
        raise LengthMismatch(
            f"one value of each model a data set is needed; found shapes {first.shape} and "
            f"{second.shape}"
        )
    if len(first) < 2 or not np.isfinite(first).all() or not np.isfinite(second).all():
        raise MethodError("at least 2 data sets with finite values are needed")
    # Values are decimals that were read: gaps that differ by rounding alone are ties.
    return np.round(second - first, 12)


def _exact_p(doubled: list[int], smaller: int) -> float:
    """How likely a sum of ranks is that lies as far from the middle, if signs are chance."""
    ways = [1]
    for rank in doubled:
        longer = ways + [0] * rank
        for i, count in enumerate(ways):
            longer[i + rank] += count
        ways = longer
    share: float = sum(ways[: smaller + 1]) / 2 ** len(doubled)
    return min(1.0, 2 * share)


@dataclass(frozen=True)
class SignedRankPosterior(Recorded):
    """How likely one model is better than another over such data sets, or both are alike.

    ``a_better``, ``equivalent`` and ``b_better`` sum to 1; ``rope`` is how far apart values are
    that are practically the same. ``draws`` of the posterior were made from ``seed``.
    """

    measure: str
    a: str
    b: str
    rope: float
    a_better: float
    equivalent: float
    b_better: float
    n: int
    draws: int = _DRAWS
    seed: int = 42


def signed_rank_posterior(
    a: Any, b: Any, *, rope: float, seed: int = 42, draws: int = _DRAWS
) -> tuple[float, float, float]:
    """The Bayesian signed-rank test: chances that A is better, that both are alike, that B is.

    Data sets weigh by a Dirichlet distribution, with half a data set without a difference believed
    in beforehand. Of each draw of weights, the mean of two data sets' differences lies below, in or
    above the region of practical equivalence with some share; the largest share wins the draw.

    Reference: Benavoli, Corani, Demsar and Zaffalon 2017.
    """
    if not 0 < rope < math.inf:
        raise MethodError(f"rope is a number above 0, such as 0.01; found {rope!r}")
    gaps = np.concatenate([[0.0], _gaps(a, b)])
    sums = gaps[:, None] + gaps[None, :]
    # A sum on the border by rounding alone is inside.
    border = 2 * rope * (1 + 1e-12)
    below, above = (sums < -border).astype(np.float64), (sums > border).astype(np.float64)
    generator = np.random.default_rng(seed)
    alpha = np.ones(len(gaps))
    alpha[0] = _PRIOR
    wins = np.zeros(3)
    for start in range(0, draws, _AT_ONCE):
        weights = generator.dirichlet(alpha, min(_AT_ONCE, draws - start))
        left = ((weights @ below) * weights).sum(axis=1)
        right = ((weights @ above) * weights).sum(axis=1)
        shares = np.stack([1 - left - right, left, right])
        wins += np.bincount(shares.argmax(axis=0), minlength=3)
    alike, first, second = (wins / draws).tolist()
    return first, alike, second
