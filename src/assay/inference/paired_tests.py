"""Tests of one model against another: on the same rows, or over the same folds.

McNemar's test asks whether both err equally often on the same rows, Cochran's the same of more
models. Tests of t and F ask whether one is better over cross-validation folds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.counts import PairCounts
from assay.errors import LengthMismatch, MethodError
from assay.inference.estimate import Estimate
from assay.inference.proportions import Wilson
from assay.inference.significance import (
    Significance,
    as_list,
    binomial_p,
    check_amount,
    check_count,
    check_level,
    checked_names,
    chi_square_p,
    f_p,
    f_quantile,
    floats,
    numbers_by_model,
    pair_names,
    student,
    student_p,
)
from assay.reading.arrays import check_index
from assay.text import p_text, plural, quote, signed

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
    level, (first, second) = check_level(level), pair_names(None, None, names)
    for count in (b, c, both_right, both_wrong):
        if count is not None:
            check_count(count)
    b, c = int(b), int(c)
    if method is None:
        method = "exact" if b + c < EXACT_BELOW else "corrected"
    if method not in METHODS:
        raise MethodError(f"McNemar's test is one of {', '.join(METHODS)}; found {quote(method)}")
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
    if b + c == 0:
        sentence = (
            f"{first} and {second} are right on the same rows: no discordant pairs, so nothing "
            f"tells them apart (p = 1)."
        )
    else:
        better = first if b > c else second
        verdict = f"{better} errs less often" if p < 1 - level else "no difference is shown"
        sentence = (
            f"{first} is right where {second} is wrong on {b} {plural(b, 'row', 'rows')}, the "
            f"reverse on {c}: "
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
        models=(first, second),
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


def mcnemar_of(
    pairs: PairCounts, *, method: str | None = None, level: float = 0.95
) -> Significance:
    """McNemar's test on the paired decisions of two models."""
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
    level, (right, columns) = check_level(level), numbers_by_model(right)
    table = _right_or_wrong(right)
    often = [1] * len(table) if counts is None else _often(counts)
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


def _right_or_wrong(right: Any) -> npt.NDArray[np.int64]:
    needed = "Cochran's Q needs 1 where a model is right and 0 where it is wrong"
    try:
        table = np.asarray(right)
    except ValueError as error:  # rows of different length
        raise MethodError(f"{needed}: {error}") from error
    if table.dtype.kind not in "biuf" or not np.isin(table, (0, 1)).all():
        raise MethodError(needed)
    if table.ndim != 2 or table.shape[1] < 2:
        raise MethodError(f"Cochran's Q needs a column a model; found shape {table.shape}")
    return table.astype(np.int64)


def _often(counts: Any) -> list[int]:
    """How often each row occurs, in Python's integers."""
    often = []
    for each in as_list("counts=", counts, "how often each row occurs"):
        whole = isinstance(each, float | np.floating) and float(each).is_integer()
        count = int(each) if whole else each
        check_count(count)
        often.append(int(count))
    return often


# -- over cross-validation folds -------------------------------------------------------------------

_ROUNDING = 1e-12
Values: TypeAlias = Sequence[float] | npt.NDArray[np.float64]
Pair: TypeAlias = tuple[str, str]


def _differences(a: Any, b: Any, least: int) -> npt.NDArray[np.float64]:
    """Values of B less those of A, fold by fold."""
    check_index({"a": a, "b": b})
    first, second = (floats(values, "folds must hold numbers") for values in (a, b))
    if first.shape != second.shape:
        raise LengthMismatch(
            f"A has folds of shape {first.shape} and B of shape {second.shape}: they must be the "
            f"same folds"
        )
    if first.size < least or not (np.isfinite(first).all() and np.isfinite(second).all()):
        raise MethodError(f"at least {least} folds with finite values are needed")
    return second - first


def _t_and_p(tested: float, error: float, df: float) -> tuple[float | None, float]:
    # Folds that differ by rounding alone have no spread.
    if error <= _ROUNDING * abs(tested):
        return (0.0, 1.0) if tested == 0 else (None, math.nan)
    t = tested / error
    return t, student_p(t, df)


def _mean_effect(
    tested: float, error: float, df: float, level: float, method: str, folds: int
) -> Estimate:
    """What was tested with its interval, which there is where anything varies."""
    varies = not math.isnan(_t_and_p(tested, error, df)[1])
    reach = student(level, df) * error
    low, high = (tested - reach, tested + reach) if varies else (math.nan, math.nan)
    return Estimate(tested, low, high, method=method, n=folds, level=level)


def _result(
    test: str,
    method: str,
    differences: npt.NDArray[np.float64],
    error: float,
    df: float,
    level: float,
    *,
    names: Pair,
    numerator: float | None = None,
    **sums: Any,
) -> Significance:
    """A t test of a mean difference, given its standard error."""
    mean = float(differences.mean())
    tested = mean if numerator is None else numerator
    t, p = _t_and_p(tested, error, df)
    verdict = _verdict(tested, p, level, names)
    less = f"{names[1]} less {names[0]}"
    said = f"{less} is {signed(mean)} on average over {differences.size} folds"
    if numerator is not None:
        said = f"The first difference, {less}, is {signed(tested)} (on average {signed(mean)})"
    return Significance(
        test=test,
        statistic=t,
        df=(df,),
        p=p,
        method=method,
        sentence=f"{said}: {verdict}.",
        effect=_mean_effect(tested, error, df, level, method, differences.size),
        table={
            "mean": mean,
            "variance": float(differences.var(ddof=1)),
            "standard_error": error,
            "differences": differences.tolist(),
            **sums,
        },
        models=names,
    )


def _verdict(tested: float, p: float, level: float, names: Pair) -> str:
    if math.isnan(p):
        return "nothing varies between folds, so nothing can be said"
    if p >= 1 - level:
        return f"no difference is shown ({p_text(p)})"
    if tested == 0:
        # The F test sees repeats that differ, in either direction alike.
        return f"they differ, but not on average ({p_text(p)})"
    return f"{names[1] if tested > 0 else names[0]} scores higher ({p_text(p)})"


def paired_t(
    a: Values, b: Values, *, level: float = 0.95, names: Sequence[str] | None = None
) -> Significance:
    """The paired t test over folds. Named columns, as those of pandas, name the models.

    It takes folds as independent, which those of one cross-validation are not: it finds differences
    that are not there. Prefer :func:`nadeau_bengio`.

    Reference: Student 1908; Dietterich 1998 on why not.
    """
    level, differences = check_level(level), _differences(a, b, 2)
    error = float(differences.std(ddof=1)) / math.sqrt(differences.size)
    return _result(
        "paired_t",
        "student",
        differences,
        error,
        differences.size - 1,
        level,
        names=pair_names(a, b, names),
    )


def _corrected_variance(values: npt.NDArray[np.float64], n_train: float, n_test: float) -> float:
    return float(values.var(ddof=1)) * (1 / values.size + n_test / n_train)


def corrected_mean(
    values: Sequence[float], *, n_train: float, n_test: float, level: float
) -> Estimate:
    """The mean over folds of a cross-validation, with the interval of :func:`nadeau_bengio`."""
    each = np.array(values, np.float64)
    error = math.sqrt(_corrected_variance(each, n_train, n_test))
    return _mean_effect(float(each.mean()), error, each.size - 1, level, "corrected", each.size)


def nadeau_bengio(
    a: Values,
    b: Values,
    *,
    n_train: float,
    n_test: float,
    level: float = 0.95,
    names: Sequence[str] | None = None,
) -> Significance:
    """The corrected resampled t test: the variance is raised by n_test / n_train.

    For the folds of a (repeated) cross-validation, whose training parts overlap.

    Reference: Nadeau and Bengio 2003.
    """
    check_amount("n_train", n_train)
    check_amount("n_test", n_test)
    level, differences = check_level(level), _differences(a, b, 2)
    variance = _corrected_variance(differences, n_train, n_test)
    return _result(
        "nadeau_bengio",
        "corrected",
        differences,
        math.sqrt(variance),
        differences.size - 1,
        level,
        names=pair_names(a, b, names),
        corrected_variance=variance,
        n_train=n_train,
        n_test=n_test,
    )


def _five_by_two(a: Any, b: Any) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    differences = _differences(a, b, 10)
    if differences.size != 10:
        raise MethodError(f"5x2 cross-validation has 10 folds; found {differences.size}")
    differences = differences.reshape(5, 2)
    means = differences.mean(axis=1, keepdims=True)
    return differences, ((differences - means) ** 2).sum(axis=1)


def five_by_two_t(
    a: Any, b: Any, *, level: float = 0.95, names: Sequence[str] | None = None
) -> Significance:
    """Dietterich's 5x2cv t test: five repeats of two folds, given as 5 rows of 2.

    The statistic is the first difference over the root of the mean of the five variances.

    Reference: Dietterich 1998.
    """
    level, (differences, variances) = check_level(level), _five_by_two(a, b)
    error = math.sqrt(float(variances.mean()))
    return _result(
        "5x2cv_t",
        "dietterich",
        differences,
        error,
        5,
        level,
        names=pair_names(a, b, names),
        numerator=float(differences[0, 0]),
        means=differences.mean(axis=1).tolist(),
        variances=variances.tolist(),
    )


def five_by_two_f(
    a: Any, b: Any, *, level: float = 0.95, names: Sequence[str] | None = None
) -> Significance:
    """Alpaydin's 5x2cv F test, which does not depend on which fold comes first.

    Reference: Alpaydin 1999.
    """
    level, (differences, variances) = check_level(level), _five_by_two(a, b)
    top, bottom = float((differences**2).sum()), 2 * float(variances.sum())
    statistic: float | None
    if bottom <= _ROUNDING * top:
        statistic, p = (0.0, 1.0) if top == 0 else (None, math.nan)
    else:
        statistic = top / bottom
        p = f_p(statistic, 10, 5)
    mean = float(differences.mean())
    models = pair_names(a, b, names)
    return Significance(
        test="5x2cv_f",
        statistic=statistic,
        df=(10, 5),
        p=p,
        method="alpaydin",
        sentence=f"{models[1]} less {models[0]} is {signed(mean)} on average over 5x2 folds: "
        f"{_verdict(mean, p, level, models)}.",
        effect=Estimate(mean, n=10, level=level, note="the F test gives no interval"),
        table={
            "mean": mean,
            "differences": differences.tolist(),
            "means": differences.mean(axis=1).tolist(),
            "variances": variances.tolist(),
        },
        models=models,
    )


def five_by_two_interval(a: Any, b: Any, *, level: float = 0.95) -> tuple[float, float]:
    """The mean differences, B less A, that the 5x2cv F test does not refuse.

    nan where it refuses all of them: the repeats differ by more than their folds.
    """
    differences, variances = _five_by_two(a, b)
    mean = float(differences.mean())
    room = 2 * f_quantile(level, 10, 5) * float(variances.sum())
    room -= float(((differences - mean) ** 2).sum())
    if room < 0:
        return math.nan, math.nan
    reach = math.sqrt(room / 10)
    return mean - reach, mean + reach
