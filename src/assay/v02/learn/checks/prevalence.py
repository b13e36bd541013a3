"""L017: attacks are far more frequent in the rows than in deployment, or far rarer."""

from __future__ import annotations

import math

import numpy as np

from assay.v02.evaluation.wording import name
from assay.v02.learn.checks.case import Case, CodedCheck, Sighting
from assay.v02.number_text import rate_percent

# The odds of an alarm being real change by as much as the odds of an attack do.
FAR_ODDS, NEAR_ODDS = 10, 2


def look(case: Case) -> Sighting | None:
    """A base rate that was given, and odds of a positive in the judged part ten times off.

    Where they are off by less, but by more than two times, it is an info.

    >>> import polars as pl
    >>> from assay.v02.learn.checks import check
    >>> from assay.v02.learn.data import data_of
    >>> data = data_of(pl.DataFrame({"x": range(40), "label": [0, 1] * 20}), label="label")
    >>> finding = check(data, base_rate=0.001)["L017"]
    >>> print(finding.message)  # doctest: +NORMALIZE_WHITESPACE
    50% of the rows are '1', but 0.1% where the detector runs: a test that is right on 99% of either
    class has a false alarm rate of 1% here and of 91% there.
    """
    if case.positive is None or case.base_rate is None:
        return None
    share = float(np.mean(case.last.truth == 1))
    if not 0 < share < 1:
        return None
    base = case.base_rate
    off = math.log(share / (1 - share)) - math.log(base / (1 - base))
    if abs(off) <= math.log(NEAR_ODDS):
        return None
    tested, deployed = (
        0.01 * (1 - each) / (0.01 * (1 - each) + 0.99 * each) for each in (share, base)
    )
    part = "" if case.test is None else "test "
    return Sighting(
        "warning" if abs(off) > math.log(FAR_ODDS) else "info",
        f"{rate_percent(share)} of the {part}rows are {name(case.positive)}, but "
        f"{rate_percent(base)} where the detector runs: a test that is right on 99% of either "
        f"class has a false alarm rate of {rate_percent(tested)} here and of "
        f"{rate_percent(deployed)} there.",
        evidence={"prevalence": share, "base_rate": base, "odds_ratio": math.exp(off)},
    )


CHECK = CodedCheck(
    code="L017",
    severity="warning",
    title="prevalence far from the base rate",
    why="Precision, the false alarm rate, F1 and accuracy change with the share of attacks. Those "
    "of a balanced file do not hold where one row in ten thousand is an attack.",
    remedy="Quote precision and false alarm rate at the base rate (assay evaluate --base-rate).",
    pitfall="P8",
    look=look,
)
