"""L021: the recipe is not clearly better than a trivial model."""

from __future__ import annotations

import math

from assay.learn.checks.baselines import headline_measure
from assay.learn.checks.case import Case
from assay.learn.checks.finding import CodedCheck, Seen
from assay.learn.checks.phrases import estimate
from assay.measures import find


def look(case: Case) -> Seen | None:
    """With ``--recipe``: a trivial model whose AUC, or accuracy, lies within or above the interval.

    >>> import polars as pl
    >>> from assay.learn.checks import check
    >>> from assay.learn.data import data_of
    >>> x = pl.Series("x", [i * 7 % 101 / 101 for i in range(300)])
    >>> frame = pl.DataFrame([x, pl.Series("label", [i % 2 for i in range(300)])])
    >>> found = check(data_of(frame, label="label"), recipe="tree")
    >>> print(found["L021"].severity, found["L021"].pitfall)
    warning P6
    """
    if case.retest is None:
        return None
    measure = headline_measure(case)
    mine = case.retest.before.estimates[measure]
    others = {
        baseline.name: found
        for baseline in case.baselines
        if not math.isnan(found := baseline.estimates[measure])
    }
    if math.isnan(mine) or not others:
        return None
    best = max(others, key=lambda name: others[name])
    if mine.low > others[best]:
        return None
    called = find(measure).short
    return Seen(
        "warning",
        f"{case.retest.recipe} has {'an' if called[0] in 'Aa' else 'a'} {called} of "
        f"{estimate(mine)}, the {best} one of {estimate(others[best])}: no gain over it is shown.",
        evidence={"measure": measure, "recipe": float(mine), "baseline": float(others[best])},
    )


CHECK = CodedCheck(
    code="L021",
    severity="warning",
    title="no better than a trivial model",
    why="A result is only worth its distance to what one column or two questions reach.",
    remedy="Quote the baseline beside the result, or take it: it is easier to run and to explain.",
    pitfall="P6",
    look=look,
)
