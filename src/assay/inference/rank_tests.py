"""Do several models differ over several data sets or folds? Tests by the ranks of their values.

Friedman's and Nemenyi's, Iman and Davenport's, mean ranks, and Wilcoxon's.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import LengthMismatch, MethodError
from assay.inference.estimate import Estimate
from assay.inference.significance import (
    LARGEST_COUNT,
    Significance,
    check_level,
    checked_names,
    chi_square_p,
    f_p,
    floats,
    holm,
    normal,
    normal_p,
    numbers_by_model,
    pair_names,
    studentised_range,
    studentised_range_p,
)
from assay.reading.arrays import check_index
from assay.text import p_text

Floats: TypeAlias = npt.NDArray[np.float64]


def mean_ranks(values: Any) -> Floats:
    """The mean rank of each column, the highest value of a row having rank 1; ties share.

    >>> mean_ranks([[0.9, 0.8, 0.7], [0.6, 0.6, 0.5]]).tolist()
    [1.25, 1.75, 3.0]
    """
    return np.asarray(_ranks(_table(values)).mean(axis=0))


def _table(values: Any, least: int = 2) -> Floats:
    values, _ = numbers_by_model(values)
    table = floats(values, "a table of numbers is needed, a row a data set")
    if table.ndim != 2 or table.shape[0] < least or table.shape[1] < 2:
        raise MethodError(
            f"a row a data set and a column a model are needed, two of each at least; found shape "
            f"{table.shape}"
        )
    if not np.isfinite(table).all():
        raise MethodError("all values must be finite; leave out data sets with undefined ones")
    return table


def _ranks(table: Floats) -> Floats:
    above = (table[:, None, :] > table[:, :, None]).sum(axis=2)
    level = (table[:, None, :] == table[:, :, None]).sum(axis=2)
    return np.asarray(above + (level + 1) / 2)


def _distinct_rows(values: Any, counts: Any) -> tuple[Floats, Floats]:
    """The table, and how often each row of it occurs."""
    if counts is None:
        table = _table(values)
        return table, np.ones(len(table))
    table, often = _table(values, least=1), floats(counts, "counts must be numbers")
    if often.shape != (len(table),):
        raise LengthMismatch(f"there are {len(table)} rows and {often.size} counts")
    if not (often >= 0).all() or not 0 < often.sum() <= LARGEST_COUNT:
        raise MethodError("counts are not negative, and some row occurs, at most 10^36 times")
    return table, often


def _mean_ranks(ranks: Floats, often: Floats) -> Floats:
    return np.asarray((ranks * often[:, None]).sum(axis=0) / often.sum())


def _spread(table: Floats, often: Floats) -> float:
    """The share of the variance of ranks that ties leave: 1 where there are none."""
    models = table.shape[1]
    level = (table[:, None, :] == table[:, :, None]).sum(axis=2)
    ties = float((often * (level**2 - 1).sum(axis=1)).sum())
    return 1 - ties / float(often.sum() * models * (models**2 - 1))


def _friedman_statistic(table: Floats, often: Floats) -> float:
    """Friedman's statistic, with the usual correction for ties; 0 where all models are tied."""
    rows, models, spread = float(often.sum()), table.shape[1], _spread(table, often)
    if spread <= 0:
        return 0.0
    off = float(((_mean_ranks(_ranks(table), often) - (models + 1) / 2) ** 2).sum())
    return float(12 * rows / (models * (models + 1)) * off / spread)


def friedman(
    values: Any,
    *,
    counts: Any = None,
    level: float = 0.95,
    names: Sequence[str] | None = None,
    of: str = "data sets",
) -> Significance:
    """Friedman's test: a row a data set or fold, a column a model, higher is better.

    Columns of a dataframe, or of a mapping from name to column, keep their names.
    With ties the statistic is divided by the usual correction. ``counts`` says how often each row
    occurs, ``of`` what a row is. Of rows that hold 1 where a model is right it is Cochran's Q.

    Reference: Friedman 1937; Demsar 2006 for comparing classifiers.

    >>> print(friedman({"tree": [0.8, 0.7, 0.9], "forest": [0.9, 0.8, 0.95]}))
    2 models over 3 data sets; forest ranks best on average: no difference is shown (p = 0.083).
    """
    level, (values, columns) = check_level(level), numbers_by_model(values)
    table, often = _distinct_rows(values, counts)
    rows, models = float(often.sum()), table.shape[1]
    means = _mean_ranks(_ranks(table), often)
    statistic = _friedman_statistic(table, often)
    p = chi_square_p(statistic, models - 1)
    labels = checked_names(columns if names is None else names, models)
    verdict = "they differ" if p < 1 - level else "no difference is shown"
    best = labels[int(means.argmin())]
    return Significance(
        test="friedman",
        statistic=statistic,
        df=(models - 1,),
        p=p,
        method="chi-square",
        sentence=f"{models} models over {rows:.0f} {of}; {best} ranks best on average: "
        f"{verdict} "
        f"({p_text(p)}).",
        table={"mean_ranks": dict(zip(labels, means.tolist(), strict=True)), "rows": int(rows)},
        models=tuple(labels),
        effect=Estimate(
            statistic / (rows * (models - 1)),
            n=int(rows),
            level=level,
            note="Kendall's W, from 0 (no order) to 1 (the same order everywhere); no interval",
        ),
    )


def nemenyi(
    values: Any,
    *,
    counts: Any = None,
    level: float = 0.95,
    names: Sequence[str] | None = None,
    ties: bool = False,
) -> list[Significance]:
    """Nemenyi's test of each pair of models, after Friedman's; p holds for all pairs together.

    Columns of a dataframe, or of a mapping from name to column, keep their names.

    ``ties`` narrows the variance of ranks by Friedman's correction. Without it, the usual form,
    rows on which most models are tied hide any difference.

    Reference: Nemenyi 1963; Demsar 2006.
    """
    level, (values, columns) = check_level(level), numbers_by_model(values)
    table, often = _distinct_rows(values, counts)
    rows, models = float(often.sum()), table.shape[1]
    means = _mean_ranks(_ranks(table), often)
    labels = checked_names(columns if names is None else names, models)
    reach = studentised_range(level, models)
    spread = _spread(table, often) if ties else 1.0
    error = math.sqrt(models * (models + 1) / (6 * rows) * max(spread, 0.0))
    critical = reach / math.sqrt(2) * error
    results = []
    for i in range(models):
        for j in range(i + 1, models):
            gap = float(means[j] - means[i])
            q = abs(gap) / error * math.sqrt(2) if gap else 0.0
            p = min(1.0, studentised_range_p(q, models)) if gap else 1.0
            better = labels[i] if gap > 0 else labels[j]
            verdict = f"{better} ranks better" if p < 1 - level else "no difference is shown"
            results.append(
                Significance(
                    test="nemenyi",
                    statistic=q,
                    df=(models, math.inf),
                    p=p,
                    method="studentised range",
                    sentence=f"{labels[i]} has mean rank {means[i]:.2f}, {labels[j]} "
                    f"{means[j]:.2f}: {verdict} ({p_text(p)}).",
                    table={"rank_difference": gap, "critical_difference": critical},
                    effect=Estimate(
                        gap,
                        gap - critical,
                        gap + critical,
                        method="nemenyi",
                        n=int(rows),
                        level=level,
                    ),
                    models=(labels[i], labels[j]),
                )
            )
    return results


def runs_not_told_apart(ranks: Sequence[float], critical: float) -> list[tuple[int, int]]:
    """The longest runs of mean ranks, in their order, that span less than a critical difference.

    >>> runs_not_told_apart([1.2, 1.9, 3.1, 3.3], 1.5)
    [(0, 1), (1, 3)]
    """
    runs: list[tuple[int, int]] = []
    for first in range(len(ranks)):
        last = max(i for i in range(first, len(ranks)) if ranks[i] - ranks[first] < critical)
        if last > first and not (runs and runs[-1][1] >= last):
            runs.append((first, last))
    return runs


# -- data sets -------------------------------------------------------------------------------------

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
    >>> test = iman_davenport(table)
    >>> round(test.statistic, 6), test.df
    (9.0, (2, 6))
    """
    level = check_level(level)
    chi_square = friedman(values, level=level, names=names)
    q = _friedman_statistic(*_distinct_rows(numbers_by_model(values)[0], None))
    rows, models = chi_square.table["rows"], len(chi_square.models)
    means = list(chi_square.table["mean_ranks"].values())
    left = rows * (models - 1) - q
    statistic: float | None
    if left <= 1e-9 * rows:
        statistic = None
        p = _orders(means) ** (1 - rows)
    else:
        statistic = (rows - 1) * q / left
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
    level, means = check_level(level), mean_ranks(values)
    rows, models = _table(values).shape
    columns = numbers_by_model(values)[1]
    labels = checked_names(columns if names is None else names, models)
    error = math.sqrt(models * (models + 1) / (6 * rows))
    reach = normal(level) * error
    pairs = [(i, j) for i in range(models) for j in range(i + 1, models)]
    gaps = [float(means[j] - means[i]) for i, j in pairs]
    raw = [normal_p(gap / error) for gap in gaps]
    tests = []
    for (i, j), gap, p, adjusted in zip(pairs, gaps, raw, holm(raw), strict=True):
        better = labels[i] if gap > 0 else labels[j]
        verdict = f"{better} ranks better" if adjusted < 1 - level else "no difference is shown"
        tests.append(
            Significance(
                test="mean_ranks",
                statistic=gap / error,
                df=(),
                p=p,
                p_adjusted=adjusted,
                method="normal",
                sentence=f"{labels[i]} has mean rank {means[i]:.2f}, {labels[j]} "
                f"{means[j]:.2f}: "
                f"{verdict} ({p_text(adjusted)} by Holm).",
                table={"rank_difference": gap, "standard_error": error},
                effect=Estimate(
                    gap, gap - reach, gap + reach, method="normal", n=rows, level=level
                ),
                models=(labels[i], labels[j]),
            )
        )
    return tests


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
    level, names = check_level(level), pair_names(a, b, names)
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
        models=names,
    )


def _gaps(a: Any, b: Any) -> Floats:
    check_index({"a": a, "b": b})
    first, second = (floats(values, "values must be numbers") for values in (a, b))
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
