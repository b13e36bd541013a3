"""Is one model better than another over cross-validation folds?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import LengthMismatch, MethodError
from assay.inference.estimate import Estimate
from assay.inference.quantiles import f_p, f_quantile, student, student_p
from assay.inference.significance import Significance, p_text, pair_names
from assay.sources import must_share_index

_ROUNDING = 1e-12
Values: TypeAlias = Sequence[float] | npt.NDArray[np.float64]
Pair: TypeAlias = tuple[str, str]


def _differences(a: Any, b: Any, least: int) -> npt.NDArray[np.float64]:
    """Values of B less those of A, fold by fold."""
    must_share_index({"a": a, "b": b})
    try:
        first, second = np.asarray(a, np.float64), np.asarray(b, np.float64)
    except (TypeError, ValueError) as odd:
        raise MethodError(f"folds must hold numbers: {odd}") from odd
    if first.shape != second.shape:
        raise LengthMismatch(
            f"A has folds of shape {first.shape} and B of shape {second.shape}: they must be the "
            f"same folds"
        )
    if first.size < least or not (np.isfinite(first).all() and np.isfinite(second).all()):
        raise MethodError(f"at least {least} folds with finite values are needed")
    return second - first


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
    t: float | None
    # Folds that differ by rounding alone have no spread.
    if error <= _ROUNDING * abs(tested):
        t, p = (0.0, 1.0) if tested == 0 else (None, math.nan)
    else:
        t = tested / error
        p = student_p(t, df)
    reach = student(level, df) * error
    verdict = _verdict(tested, p, level, names)
    less = f"{names[1]} less {names[0]}"
    said = f"{less} is {mean:+.4f} on average over {differences.size} folds"
    if numerator is not None:
        said = f"The first difference, {less}, is {tested:+.4f} (on average {mean:+.4f})"
    return Significance(
        test=test,
        statistic=t,
        df=(df,),
        p=p,
        method=method,
        sentence=f"{said}: {verdict}.",
        effect=Estimate(
            tested,
            math.nan if math.isnan(p) else tested - reach,
            math.nan if math.isnan(p) else tested + reach,
            method=method,
            n=differences.size,
            level=level,
        ),
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
    better = names[1] if tested > 0 else names[0]
    return (
        f"{better} scores higher ({p_text(p)})"
        if p < 1 - level
        else (f"no difference is shown ({p_text(p)})")
    )


def paired_t(
    a: Values, b: Values, *, level: float = 0.95, names: Sequence[str] | None = None
) -> Significance:
    """The paired t test over folds. Named columns, as those of pandas, name the models.

    It takes folds as independent, which those of one cross-validation are not: it finds differences
    that are not there. Prefer :func:`nadeau_bengio`.

    Reference: Student 1908; Dietterich 1998 on why not.
    """
    differences = _differences(a, b, 2)
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
    if n_train <= 0 or n_test <= 0:
        raise MethodError(f"n_train and n_test must be positive; found {n_train} and {n_test}")
    differences = _differences(a, b, 2)
    variance = float(differences.var(ddof=1)) * (1 / differences.size + n_test / n_train)
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
    differences, variances = _five_by_two(a, b)
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
    differences, variances = _five_by_two(a, b)
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
        sentence=f"{models[1]} less {models[0]} is {mean:+.4f} on average over 5x2 folds: "
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
