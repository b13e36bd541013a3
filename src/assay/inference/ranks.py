"""Do several models differ over several data sets or folds? Friedman's test and Nemenyi's."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import LengthMismatch, MethodError
from assay.inference.estimate import Estimate
from assay.inference.quantiles import chi_square_p, studentised_range, studentised_range_p
from assay.inference.significance import Significance, checked_names, numbers_by_model, p_text

Floats: TypeAlias = npt.NDArray[np.float64]


def mean_ranks(values: Any) -> Floats:
    """The mean rank of each column, the highest value of a row having rank 1; ties share.

    >>> mean_ranks([[0.9, 0.8, 0.7], [0.6, 0.6, 0.5]]).tolist()
    [1.25, 1.75, 3.0]
    """
    return np.asarray(_ranks(_table(values)).mean(axis=0))


def _table(values: Any, least: int = 2) -> Floats:
    values, _ = numbers_by_model(values)
    try:
        table = np.asarray(values, np.float64)
    except (TypeError, ValueError) as odd:
        raise MethodError(f"a table of numbers is needed, a row a data set: {odd}") from odd
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


def _counted(values: Any, counts: Any) -> tuple[Floats, Floats]:
    """The table, and how often each row of it occurs."""
    if counts is None:
        table = _table(values)
        return table, np.ones(len(table))
    table, often = _table(values, least=1), np.asarray(counts, np.float64)
    if often.shape != (len(table),):
        raise LengthMismatch(f"there are {len(table)} rows and {often.size} counts")
    return table, often


def _mean_ranks(ranks: Floats, often: Floats) -> Floats:
    return np.asarray((ranks * often[:, None]).sum(axis=0) / often.sum())


def _spread(table: Floats, often: Floats) -> float:
    """The share of the variance of ranks that ties leave: 1 where there are none."""
    models = table.shape[1]
    level = (table[:, None, :] == table[:, :, None]).sum(axis=2)
    ties = float((often * (level**2 - 1).sum(axis=1)).sum())
    return 1 - ties / float(often.sum() * models * (models**2 - 1))


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
    values, columns = numbers_by_model(values)
    table, often = _counted(values, counts)
    rows, models = float(often.sum()), table.shape[1]
    means, spread = _mean_ranks(_ranks(table), often), _spread(table, often)
    if spread <= 0:
        statistic, p = 0.0, 1.0
    else:
        off = float(((means - (models + 1) / 2) ** 2).sum())
        statistic = 12 * rows / (models * (models + 1)) * off / spread
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
        sentence=f"{models} models over {rows:.0f} {of}; {best} ranks best on average: {verdict} "
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
    values, columns = numbers_by_model(values)
    table, often = _counted(values, counts)
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
