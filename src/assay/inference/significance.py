"""What a test of significance says, p where many tests are made, and the distributions behind."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.errors import InputError, MethodError
from assay.inference.estimate import Estimate
from assay.reading.arrays import array_of, check_index, check_ordered, columns_of
from assay.text import quote

# Below these, and above that, products and squares leave the range of floats.
LEAST, LARGEST = 1e-100, 1e100
# A level so low that 1 - level is all but 1 leaves an interval without width.
LEAST_LEVEL = 1e-12
# The cubes of larger counts leave the range of floats, which intervals are computed in.
LARGEST_COUNT = 10**36
# More draws than these would take days.
MOST_RESAMPLES = 10_000_000


@dataclass(frozen=True, repr=False)
class Significance:
    """The result of a test: statistic, degrees of freedom, p, effect, and what lies behind it.

    ``table`` holds the counts or sums from which the statistic was computed; ``sentence`` reads.
    ``measure`` names what was compared where the test alone does not say it.
    """

    test: str
    statistic: float | None
    df: tuple[float, ...]
    p: float
    method: str
    sentence: str
    effect: Estimate | None = None
    table: Mapping[str, Any] = field(default_factory=dict)
    models: tuple[str, ...] = ()
    on: str = "all"
    p_adjusted: float | None = None
    measure: str | None = None

    def __str__(self) -> str:
        return self.sentence

    def __repr__(self) -> str:
        return f"{self.test}: {self.sentence}"

    def adjusted(self, p: float) -> Significance:
        """The same result with its p-value adjusted for how many tests were made."""
        return replace(self, p_adjusted=p)

    @property
    def a(self) -> str | None:
        """The first of two models."""
        return self.models[0] if len(self.models) == 2 else None

    @property
    def b(self) -> str | None:
        """The second of two models."""
        return self.models[1] if len(self.models) == 2 else None


def numbers_by_model(values: Any) -> tuple[Any, list[str] | None]:
    """A table of numbers, a column a model, and the names of its columns where it has any.

    Takes arrays, lists of rows, dataframes, and mappings from name to column.

    >>> numbers_by_model({"old": [0.8, 0.7], "new": [0.9, 0.8]})
    (array([[0.8, 0.9],
           [0.7, 0.8]]), ['old', 'new'])
    """
    if not isinstance(values, Mapping) and not hasattr(values, "columns"):
        return values, None
    columns = values if isinstance(values, Mapping) else columns_of(values)
    check_index({"values": columns})
    arrays = {str(name): array_of(column, repr(name)) for name, column in columns.items()}
    for name, array in arrays.items():
        if array.dtype.kind not in "biuf":
            raise MethodError(
                f"column {name!r} holds {array.dtype}, such as {array[:1].tolist()}, and a column "
                f"of numbers a model is needed: leave it out, or make it the index"
            )
        if len(array) != len(next(iter(arrays.values()))):
            raise MethodError(f"columns must be of one length; {name!r} has {len(array)} rows")
    return np.column_stack(list(arrays.values())) if arrays else np.empty((0, 0)), list(arrays)


def floats(values: Any, needed: str) -> npt.NDArray[np.float64]:
    """Values as floats, or what is needed and why they are none."""
    try:
        numbers = np.asarray(values, np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise MethodError(f"{needed}: {error}") from error
    if (np.isfinite(numbers) & (np.abs(numbers) > LARGEST)).any():
        raise MethodError(f"{needed}, of a size of at most 1e100")
    return numbers


def check_count(count: Any) -> None:
    """Refuse what is no whole number of rows."""
    if not _is_whole(count) or count < 0:
        raise MethodError(f"counts are whole numbers and not negative; found {quote(count)}")
    if count > LARGEST_COUNT:
        raise MethodError(f"counts are at most 10^36; found {quote(count)}")


def _is_whole(number: Any) -> bool:
    return isinstance(number, int | np.integer) and not isinstance(number, bool)


def check_seed(seed: Any) -> int:
    """A seed of random draws, as numpy takes it."""
    if not _is_whole(seed) or seed < 0:
        raise InputError(f"seed= is a whole number, 0 or more; found {quote(seed)}")
    return int(seed)


def check_draws(user: str, draws: Any, name: str, least: int) -> None:
    """Refuse what is no number of random draws, or one that takes too long."""
    if not _is_whole(draws) or draws < least:
        raise MethodError(
            f"{user} needs a whole number of at least {least} {name}; found {quote(draws)}"
        )
    if draws > MOST_RESAMPLES:
        raise MethodError(f"{user} draws at most {MOST_RESAMPLES:,} {name}; found {quote(draws)}")


def as_list(name: str, values: Any, needed: str) -> list[Any]:
    """The values of an argument that takes several.

    >>> as_list("names=", 5, "a name a model")
    Traceback (most recent call last):
    assay.errors.InputError: names= is a list, a name a model; found 5
    """
    check_ordered(name, values)
    try:
        each = iter(values)
    except TypeError:
        raise InputError(f"{name} is a list, {needed}; found {quote(values)}") from None
    return list(each)


def pair_names(a: Any, b: Any, names: Sequence[str] | None) -> tuple[str, str]:
    """The names of two models: as given, as their columns are called, or A and B."""
    if names is not None:
        first, second = checked_names(names, 2)
        return first, second
    called = [getattr(column, "name", None) for column in (a, b)]
    if all(isinstance(name, str) and name for name in called) and called[0] != called[1]:
        return str(called[0]), str(called[1])
    return "A", "B"


def checked_names(names: Sequence[str] | None, models: int) -> list[str]:
    """A name for each model, by default its number; refuses too few, too many or twice the same."""
    given = range(models) if names is None else as_list("names=", names, "a name a model")
    labels = [str(name) for name in given]
    if len(labels) != models or len(set(labels)) != models:
        raise MethodError(f"{models} models need {models} names that differ; found {labels}")
    return labels


# -- many tests ----------------------------------------------------------------------------------


def _shares(p: Sequence[float]) -> npt.NDArray[np.float64]:
    values = floats(p, "p-values must lie between 0 and 1")
    if values.ndim != 1:
        raise MethodError(f"p-values are a list of numbers; found {p!r}")
    if values.size and not ((values >= 0) & (values <= 1)).all():
        raise MethodError("p-values must lie between 0 and 1")
    return values


def holm(p: Sequence[float]) -> list[float]:
    """Holm's step-down adjustment: the chance of any false finding stays below the level.

    Reference: Holm 1979.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    values = _shares(p)
    order = np.argsort(values, kind="stable")
    steps = values[order] * np.arange(len(values), 0, -1)
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1)
    return [float(q) for q in adjusted]


def benjamini_hochberg(p: Sequence[float]) -> list[float]:
    """Benjamini and Hochberg's adjustment: the expected share of false findings stays below.

    Reference: Benjamini and Hochberg 1995.

    >>> benjamini_hochberg([0.01, 0.04, 0.03])
    [0.03, 0.04, 0.04]
    """
    values = _shares(p)
    order = np.argsort(values, kind="stable")[::-1]
    size = len(values)
    steps = values[order] * size / np.arange(size, 0, -1)
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum(np.minimum.accumulate(steps), 1)
    # p * n / n may round below p.
    return [float(q) for q in np.maximum(adjusted, values)]


# -- distributions ---------------------------------------------------------------------------------


def check_level(level: Any, name: str = "level") -> float:
    """A confidence level strictly between 0 and 1, of which 1 - level is not all, as a float.

    >>> check_level(Fraction(9, 10))
    0.9
    """
    if not is_share(level):
        raise MethodError(f"{name} must lie between 0 and 1, such as 0.95; found {quote(level)}")
    if level < LEAST_LEVEL:
        raise MethodError(f"{name} must be at least {LEAST_LEVEL:g}; found {level!r}")
    return float(level)


def check_share(name: str, share: Any) -> float:
    """A share strictly between 0 and 1, as a float, and not so small that its square is none.

    >>> check_share("a base rate", 1e-12)
    1e-12
    >>> check_share("a base rate", 1e-320)
    Traceback (most recent call last):
    assay.errors.MethodError: a base rate is a share of at least 1e-100; found 1e-320
    """
    if not is_share(share):
        raise MethodError(f"{name} is a share between 0 and 1; found {quote(share)}")
    if share < LEAST:
        raise MethodError(f"{name} is a share of at least {LEAST:g}; found {share!r}")
    return float(share)


def check_amount(name: str, amount: Any) -> None:
    """Refuse what is no number above 0, such as a cost, or one that floats can't count with."""
    number = isinstance(amount, Real) and not isinstance(amount, bool | np.bool_)
    if not number or not LEAST <= amount <= LARGEST:
        raise MethodError(f"{name} is a number above 0, 1e-100 to 1e100; found {quote(amount)}")


def is_share(value: Any) -> bool:
    """Whether a value is a number strictly between 0 and 1, also as a float."""
    number: Any = value if isinstance(value, Real) else math.nan
    return bool(0 < number < 1) and float(number) < 1


@lru_cache(maxsize=64)
def normal(level: float) -> float:
    """How many standard deviations the middle ``level`` of a normal distribution spans.

    >>> round(normal(0.95), 6)
    1.959964
    """
    from scipy.special import ndtri

    return float(-ndtri((1 - check_level(level)) / 2))


def student(level: float, df: float) -> float:
    """The same for Student's t distribution."""
    from scipy.special import stdtrit

    return float(-stdtrit(df, (1 - check_level(level)) / 2))


def normal_p(z: float) -> float:
    """The two-sided p-value of a normal statistic."""
    from scipy.special import ndtr

    return float(2 * ndtr(-abs(z)))


def student_p(t: float, df: float) -> float:
    """The two-sided p-value of a t statistic."""
    from scipy.special import stdtr

    return float(2 * stdtr(df, -abs(t)))


def chi_square_p(statistic: float, df: float) -> float:
    """The upper tail of the chi-square distribution."""
    from scipy.special import chdtrc

    return float(chdtrc(df, statistic))


def f_p(statistic: float, df1: float, df2: float) -> float:
    """The upper tail of the F distribution."""
    from scipy.special import fdtrc

    return float(fdtrc(df1, df2, statistic))


def f_quantile(level: float, df1: float, df2: float) -> float:
    """The value below which the share ``level`` of the F distribution lies."""
    from scipy.special import fdtri

    return float(fdtri(df1, df2, check_level(level)))


def binomial_p(k: int, n: int) -> float:
    """The exact two-sided p-value of k successes in n fair trials.

    >>> round(binomial_p(2, 10), 6)
    0.109375
    """
    from scipy.special import bdtr

    smaller = min(k, n - k)
    return min(1.0, float(2 * bdtr(smaller, n, 0.5)))


def studentised_range_p(q: float, groups: int) -> float:
    """The upper tail of the studentised range with infinite degrees of freedom."""
    from scipy.stats import studentized_range

    return float(studentized_range.sf(q, groups, 1e9))


@lru_cache(maxsize=64)
def studentised_range(level: float, groups: int) -> float:
    """The range of that many normal values that is exceeded with the chance 1 - level."""
    from scipy.stats import studentized_range

    return float(studentized_range.ppf(check_level(level), groups, 1e9))


# -- exact binomial tails ------------------------------------------------------------------------

Floats = npt.NDArray[np.float64]

# The tails are right to some 1e-14: where one is closer to the risk than this, decimals decide.
_CLOSE, _DIGITS = 1e-11, 60
# Up to so many errors decimals are quick; beyond, a tail that close counts as too large.
_MOST_SUMMED = 1000
# A risk below this is below the chance of no more errors than are expected; with some room.
_HALF = 0.499


def tail(errors: Any, rows: int, share: Any) -> Floats:
    """P(Bin(rows, share) <= errors), by the incomplete beta function.

    >>> round(float(tail(0, 10, 0.2)), 6)
    0.107374
    """
    from scipy.special import betaincc

    errors = np.asarray(errors, np.float64)
    held = np.minimum(errors, rows - 1)
    return np.where(errors >= rows, 1.0, betaincc(held + 1, rows - held, share))


def shows(errors: int, rows: int, limit: Fraction, risk: Fraction) -> bool:
    """Whether so few errors show a rate of at most ``limit``.

    They do where P(Bin(rows, limit) <= errors) <= risk.

    >>> shows(0, 1, Fraction(1, 2), Fraction(1, 2))
    True
    """
    chance, most = float(tail(errors, rows, float(limit))), float(risk)
    if abs(chance - most) > _CLOSE * most:
        return chance < most
    return errors <= _MOST_SUMMED and _summed(errors, rows, limit) <= risk


def _summed(errors: int, rows: int, limit: Fraction) -> Fraction:
    with localcontext() as context:
        context.prec = _DIGITS
        share = Decimal(limit.numerator) / limit.denominator
        terms = (
            math.comb(rows, k) * share**k * (1 - share) ** (rows - k)
            for k in range(min(errors, rows) + 1)
        )
        return Fraction(sum(terms, Decimal(0)))


def shows_each(errors: Any, rows: int, limits: Any, risk: float) -> npt.NDArray[np.bool_]:
    """Whether each number of errors shows its rate: P(Bin(rows, limit) <= errors) <= risk.

    Most are far from the risk, and bounds that are quick to compute decide them.

    >>> shows_each([0, 3], 100, [0.05, 0.05], 0.1).tolist()
    [True, False]
    """
    errors, expected = np.asarray(errors), rows * np.asarray(limits, np.float64)
    shown = expected >= rows
    inside = (expected > 0) & ~shown
    room = expected - errors
    if risk < _HALF:
        # Where there are as many errors as expected, the chance of so few is a half or more.
        inside &= room > 0
    # Chernoff: the chance is at most exp(-room^2 / (2 expected)).
    sure = inside & (room > 0) & (room * room >= -2 * math.log(risk) * (1 + _CLOSE) * expected)
    shown |= sure
    close = np.flatnonzero(inside & ~sure)
    if len(close):
        shown[close] = tail(errors[close], rows, expected[close] / rows) <= risk
    return shown


@lru_cache(maxsize=4096)
def most_allowed(rows: int, limit: Fraction, risk: Fraction) -> int | None:
    """The largest k with P(Bin(rows, limit) <= k) <= risk; None where even k = 0 is too likely.

    >>> most_allowed(200_000, Fraction(1, 10_000), Fraction(1, 10))
    13
    >>> most_allowed(20_000, Fraction(1, 10_000), Fraction(1, 10)) is None
    True
    """
    low, high = -1, rows  # the tail of all rows is 1, which no risk allows
    middle, step = _about(rows, float(limit), float(risk)), 1
    while high - low > 1:
        if shows(middle, rows, limit, risk):
            low, middle = middle, middle + step
        else:
            high, middle = middle, middle - step
        # Steps grow until both ends are known, and halve what lies between from then on.
        step *= 2
        if not low < middle < high or step > high - low:
            middle = (low + high) // 2
    return None if low < 0 else low


def _about(rows: int, limit: float, risk: float) -> int:
    """The same by the normal distribution, inside of 0 to rows - 1."""
    from scipy.special import ndtri

    mean, spread = rows * limit, math.sqrt(rows * limit * (1 - limit))
    return min(max(round(mean + float(ndtri(risk)) * spread), 0), rows - 1)


def least_shown(rows: int, risk: float) -> float:
    """The smallest rate that so many rows without one error show: 1 - risk^(1/rows).

    >>> round(least_shown(23_025, 0.1), 7)
    0.0001
    """
    return -math.expm1(math.log(risk) / rows) if rows else 1.0
