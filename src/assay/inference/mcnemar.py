"""Do two models err equally often on the same rows? McNemar's test, and Cochran's for more."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from assay.errors import LengthMismatch, MethodError
from assay.inference.estimate import Estimate
from assay.inference.proportions import Wilson
from assay.inference.quantiles import binomial_p, chi_square_p
from assay.inference.significance import Significance, checked_names, numbers_by_model, p_text
from assay.tally import PairTally

# Below this many rows on which only one model is right, the exact test is used.
EXACT_BELOW = 25
METHODS = ("exact", "corrected", "uncorrected")


def mcnemar(
    b: int,
    c: int,
    *,
    both_right: int | None = None,
    both_wrong: int | None = None,
    method: str | None = None,
    level: float = 0.95,
    names: tuple[str, str] = ("A", "B"),
) -> Significance:
    """McNemar's test: ``b`` rows only A has right, ``c`` rows only B has right.

    ``method`` is ``exact`` (binomial; the default below 25 such rows), ``corrected`` (chi-square
    with continuity correction; the default from 25 on) or ``uncorrected``. The effect is the
    difference in accuracy, B minus A, with Newcombe's paired interval (method 10); it needs
    ``both_right`` and ``both_wrong``.

    References: McNemar 1947; Edwards 1948 (correction); Newcombe 1998 (interval).

    >>> print(mcnemar(10, 2, both_right=80, both_wrong=8))
    A is right where B is wrong on 10 rows, the reverse on 2: A errs less often (p = 0.039).
    """
    for count in (b, c, both_right, both_wrong):
        whole = isinstance(count, int | np.integer) and not isinstance(count, bool)
        if count is not None and not (whole and count >= 0):
            raise MethodError(f"counts are whole numbers and not negative; found {count!r}")
    b, c = int(b), int(c)
    if method is None:
        method = "exact" if b + c < EXACT_BELOW else "corrected"
    if method not in METHODS:
        raise MethodError(f"McNemar's test is one of {', '.join(METHODS)}; found {method!r}")
    statistic: float | None = None
    df: tuple[float, ...] = ()
    if b + c == 0:
        p = 1.0
    elif method == "exact":
        p = binomial_p(b, b + c)
    else:
        gap = abs(b - c) - (1 if method == "corrected" else 0)
        statistic = max(gap, 0) ** 2 / (b + c)
        df = (1,)
        p = chi_square_p(statistic, 1)
    first, second = names
    if b + c == 0:
        sentence = (
            f"{first} and {second} are right on the same rows: no discordant pairs, so nothing "
            f"tells them apart (p = 1)."
        )
    else:
        better = first if b > c else second
        verdict = f"{better} errs less often" if p < 1 - level else "no difference is shown"
        sentence = (
            f"{first} is right where {second} is wrong on {b} rows, the reverse on {c}: "
            f"{verdict} ({p_text(p)})."
        )
    return Significance(
        test="mcnemar",
        statistic=statistic,
        df=df,
        p=p,
        method=method,
        sentence=sentence,
        effect=_effect(both_right, b, c, both_wrong, level),
        table={"both_right": both_right, "only_a": b, "only_b": c, "both_wrong": both_wrong},
        models=names,
    )


def _effect(
    both: int | None, only_a: int, only_b: int, neither: int | None, level: float
) -> Estimate:
    if both is None or neither is None:
        why = "it needs both_right and both_wrong"
        return Estimate(math.nan, level=level, undefined=why)
    return paired_difference(both, only_a, only_b, neither, level)


def paired_difference(
    both: int, only_a: int, only_b: int, neither: int, level: float = 0.95
) -> Estimate:
    """The difference of two shares of the same rows, B minus A, by Newcombe's method 10."""
    n = both + only_a + only_b + neither
    if n == 0:
        return Estimate(math.nan, level=level, undefined="there are no rows")
    share_a, share_b = (both + only_a) / n, (both + only_b) / n
    difference = (only_b - only_a) / n
    ends_a = [float(end) for end in Wilson(level)(both + only_a, n)]
    ends_b = [float(end) for end in Wilson(level)(both + only_b, n)]
    link = _correlation(both, only_a, only_b, neither)

    def reach(above: float, below: float) -> float:
        return math.sqrt(max(above**2 - 2 * link * above * below + below**2, 0.0))

    low = difference - reach(share_b - ends_b[0], ends_a[1] - share_a)
    high = difference + reach(ends_b[1] - share_b, share_a - ends_a[0])
    return Estimate(difference, low, high, method="newcombe paired", n=n, level=level)


def _correlation(a: int, b: int, c: int, d: int) -> float:
    """The correlation of two paired shares, corrected where it is positive."""
    product = (a + b) * (c + d) * (a + c) * (b + d)
    if product == 0:
        return 0.0
    n = a + b + c + d
    cross = a * d - b * c
    if cross > 0:
        cross_corrected = max(cross - n / 2, 0.0)
        return cross_corrected / math.sqrt(product)
    return cross / math.sqrt(product)


def mcnemar_of(pairs: PairTally, *, method: str | None = None, level: float = 0.95) -> Significance:
    """McNemar's test on a pair tally of two models."""
    right = pairs.correct()
    sums = [
        int(pairs.counts[(right[:, 0] == a) & (right[:, 1] == b)].sum())
        for a, b in ((True, True), (True, False), (False, True), (False, False))
    ]
    return mcnemar(
        sums[1],
        sums[2],
        both_right=sums[0],
        both_wrong=sums[3],
        method=method,
        level=level,
        names=(pairs.models[0], pairs.models[1]),
    )


def cochran_q(
    right: Any,
    counts: Any = None,
    *,
    level: float = 0.95,
    names: Sequence[str] | None = None,
) -> Significance:
    """Cochran's Q: do several models err equally often on the same rows?

    ``right`` has a row a case and a column a model, true where the model is right; ``counts`` says
    how often each row occurs. Columns of a dataframe, or of a mapping from name to column, keep
    their names. For two models it is McNemar's uncorrected test.

    Reference: Cochran 1950.

    >>> print(cochran_q([[1, 1, 0], [1, 0, 0], [1, 1, 0], [1, 1, 1]]))
    3 models are right on 4, 3, 1 of 4 rows: no difference is shown (p = 0.097).
    """
    right, columns = numbers_by_model(right)
    table = np.asarray(right)
    if table.dtype.kind not in "biuf" or not np.isin(table, (0, 1)).all():
        raise MethodError("Cochran's Q needs 1 where a model is right and 0 where it is wrong")
    table = table.astype(np.int64)
    if table.ndim != 2 or table.shape[1] < 2:
        raise MethodError(f"Cochran's Q needs a column a model; found shape {table.shape}")
    often = [1] * len(table) if counts is None else [int(count) for count in counts]
    if len(often) != len(table):
        raise LengthMismatch(f"there are {len(table)} rows and {len(often)} counts")
    models = table.shape[1]
    labels = checked_names(columns if names is None else names, models)
    # Python integers: products of large counts would not fit into 64 bits.
    rows = list(zip(often, table.tolist(), strict=True))
    of_model = [sum(count * row[model] for count, row in rows) for model in range(models)]
    linear = sum(count * sum(row) for count, row in rows)
    square = sum(count * sum(row) ** 2 for count, row in rows)
    spread = models * linear - square
    if spread == 0:
        statistic, p = 0.0, 1.0
    else:
        total = sum(of_model)
        top = (models - 1) * (models * sum(g * g for g in of_model) - total * total)
        statistic = top / spread
        p = chi_square_p(statistic, models - 1)
    verdict = "they differ" if p < 1 - level else "no difference is shown"
    return Significance(
        test="cochran_q",
        statistic=statistic,
        df=(models - 1,),
        p=p,
        method="chi-square",
        sentence=f"{models} models are right on {', '.join(map(str, of_model))} of "
        f"{sum(often)} rows: {verdict} ({p_text(p)}).",
        table={
            "right": dict(zip(labels, of_model, strict=True)),
            "rows": sum(often),
        },
        models=tuple(labels),
        effect=Estimate(
            (max(of_model) - min(of_model)) / max(sum(often), 1),
            n=sum(often),
            level=level,
            note="best less worst share of rows right; the test gives no interval",
        ),
    )
