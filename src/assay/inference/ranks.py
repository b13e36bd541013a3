"""Do several models differ over several data sets or folds? Friedman's test and Nemenyi's."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import MethodError
from assay.inference.estimate import Estimate
from assay.inference.quantiles import chi_square_p, studentised_range, studentised_range_p
from assay.inference.significance import Significance, checked_names, p_text

Floats: TypeAlias = npt.NDArray[np.float64]


def mean_ranks(values: Any) -> Floats:
    """The mean rank of each column, the highest value of a row having rank 1; ties share.

    >>> mean_ranks([[0.9, 0.8, 0.7], [0.6, 0.6, 0.5]]).tolist()
    [1.25, 1.75, 3.0]
    """
    return np.asarray(_ranks(_table(values)).mean(axis=0))


def _table(values: Any) -> Floats:
    try:
        table = np.asarray(values, np.float64)
    except (TypeError, ValueError) as odd:
        raise MethodError(f"a table of numbers is needed, a row a data set: {odd}") from odd
    if table.ndim != 2 or table.shape[0] < 2 or table.shape[1] < 2:
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


def friedman(
    values: Any, *, level: float = 0.95, names: Sequence[str] | None = None
) -> Significance:
    """Friedman's test: a row a data set or fold, a column a model, higher is better.

    With ties the statistic is divided by the usual correction.

    Reference: Friedman 1937; Demsar 2006 for comparing classifiers.
    """
    table = _table(values)
    rows, models = table.shape
    ranks = _ranks(table)
    ties = 0.0
    for row in ranks:
        _, sizes = np.unique(row, return_counts=True)
        ties += float((sizes**3 - sizes).sum())
    spread = 1 - ties / (rows * models * (models**2 - 1))
    means = ranks.mean(axis=0)
    if spread <= 0:
        statistic, p = 0.0, 1.0
    else:
        off = float(((means - (models + 1) / 2) ** 2).sum())
        statistic = 12 * rows / (models * (models + 1)) * off / spread
        p = chi_square_p(statistic, models - 1)
    labels = checked_names(names, models)
    verdict = "they differ" if p < 1 - level else "no difference is shown"
    best = labels[int(means.argmin())]
    return Significance(
        test="friedman",
        statistic=statistic,
        df=(models - 1,),
        p=p,
        method="chi-square",
        sentence=f"{models} models over {rows} data sets; {best} ranks best on average: {verdict} "
        f"({p_text(p)}).",
        table={"mean_ranks": dict(zip(labels, means.tolist(), strict=True)), "rows": rows},
        models=tuple(labels),
        effect=Estimate(
            statistic / (rows * (models - 1)),
            n=rows,
            level=level,
            note="Kendall's W, from 0 (no order) to 1 (the same order everywhere); no interval",
        ),
    )


def nemenyi(
    values: Any, *, level: float = 0.95, names: Sequence[str] | None = None
) -> list[Significance]:
    """Nemenyi's test of each pair of models, after Friedman's; p holds for all pairs together.

    Reference: Nemenyi 1963; Demsar 2006.
    """
    table = _table(values)
    rows, models = table.shape
    means = mean_ranks(table)
    labels = checked_names(names, models)
    reach = studentised_range(level, models)
    error = math.sqrt(models * (models + 1) / (6 * rows))
    critical = reach / math.sqrt(2) * error
    results = []
    for i in range(models):
        for j in range(i + 1, models):
            gap = float(means[j] - means[i])
            q = abs(gap) / error * math.sqrt(2)
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
                        gap, gap - critical, gap + critical, method="nemenyi", n=rows, level=level
                    ),
                    models=(labels[i], labels[j]),
                )
            )
    return results
