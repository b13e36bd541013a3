"""Intervals for shares of rows, at one look, and confidence sequences, which hold at every look.

Each method is an object that is called with successes and trials, numbers or arrays; trials may be
an effective number. All lie within [0, 1], hold the share itself, and have their closed form where
k is 0 or n.

An ordinary interval of 95% is wrong 5 times in 100 where one looks once, at a moment that was fixed
beforehand. Whoever looks every day, and acts when the interval leaves a bound, is wrong far more
often. A confidence sequence is wrong at *any* look in at most 5% of streams (Robbins 1970).

Each comes from a martingale of the counts so far: what a mixture of alternatives makes of them, by
what a value v makes of them. For the true v it starts at 1 and exceeds 1/alpha, at any time, with a
chance of at most alpha (Ville 1939), so the values for which it is below are a confidence sequence.
Counts alone decide it. Nothing else is assumed of proportions but that rows are independent and
their share stays what it is. There are sequences of events a day and of differences too.

Ends are those of the counts so far, not the intersection with all earlier ends: the intersection
holds too, but depends on when one looked, and is empty once a share has moved.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.inference.significance import check_level, normal

Ends: TypeAlias = tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]


@dataclass(frozen=True)
class ProportionInterval(ABC):
    """A method for shares; see the subclasses."""

    level: float = 0.95
    name: ClassVar[str] = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "level", check_level(self.level))

    def __call__(self, successes: npt.ArrayLike, trials: npt.ArrayLike) -> Ends:
        """The lower and upper end; nan where there are no trials."""
        k, n = np.broadcast_arrays(
            np.asarray(successes, np.float64), np.asarray(trials, np.float64)
        )
        with np.errstate(all="ignore"):
            low, high = self._ends(k, n)
            share = k / n
            low = np.where(k <= 0, 0.0, np.clip(low, 0, share))
            high = np.where(k >= n, 1.0, np.clip(high, share, 1))
        return np.where(n > 0, low, np.nan), np.where(n > 0, high, np.nan)

    def ends(self, k: float, n: float) -> tuple[float, float]:
        """The same of one share, as two floats."""
        if not n > 0:
            return math.nan, math.nan
        share = k / n
        with np.errstate(all="ignore"):
            low, high = self._ends(k, n)
        low = 0.0 if k <= 0 else min(max(float(low), 0.0), share)
        return low, 1.0 if k >= n else min(max(float(high), share), 1.0)

    @abstractmethod
    def _ends(self, k: Any, n: Any) -> Any:
        """Both ends, not yet cut to [0, 1]."""


class Wilson(ProportionInterval):
    """The score interval: where a normal test would not reject (Wilson 1927).

    >>> low, high = Wilson()(6635, 6802)
    >>> round(float(low), 4), round(float(high), 4)
    (0.9715, 0.9789)
    """

    name = "wilson"

    def _ends(self, k: Any, n: Any) -> Any:
        z = normal(self.level)
        share = k / n
        centre = share + z * z / (2 * n)
        reach = z * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
        return (centre - reach) / (1 + z * z / n), (centre + reach) / (1 + z * z / n)


class Wald(ProportionInterval):
    """The textbook interval, share plus or minus z standard errors.

    It has no width where k is 0 or n, and covers too little everywhere else near the edges: use it
    to check what others printed.
    """

    name = "wald"

    def _ends(self, k: Any, n: Any) -> Any:
        share = k / n
        reach = normal(self.level) * np.sqrt(share * (1 - share) / n)
        return share - reach, share + reach


class AgrestiCoull(ProportionInterval):
    """Wald's interval after adding z^2/2 successes and failures (Agresti and Coull 1998)."""

    name = "agresti-coull"

    def _ends(self, k: Any, n: Any) -> Any:
        z = normal(self.level)
        n = n + z * z
        share = (k + z * z / 2) / n
        reach = z * np.sqrt(share * (1 - share) / n)
        return share - reach, share + reach


class ClopperPearson(ProportionInterval):
    """The exact interval: never covers less than it promises (Clopper and Pearson 1934)."""

    name = "clopper-pearson"

    def _ends(self, k: Any, n: Any) -> Any:
        from scipy.special import betainccinv, betaincinv

        tail = (1 - self.level) / 2
        low = betaincinv(np.maximum(k, 1e-9), n - k + 1, tail)
        high = betainccinv(k + 1, np.maximum(n - k, 1e-9), tail)
        low = np.where(k >= n, np.exp(np.log(tail) / n), low)
        return low, np.where(k <= 0, -np.expm1(np.log(tail) / n), high)


class Jeffreys(ProportionInterval):
    """The middle of the beta distribution that Jeffreys' prior leads to (Brown et al. 2001)."""

    name = "jeffreys"

    def _ends(self, k: Any, n: Any) -> Any:
        from scipy.special import betainccinv, betaincinv

        tail = (1 - self.level) / 2
        return betaincinv(k + 0.5, n - k + 0.5, tail), betainccinv(k + 0.5, n - k + 0.5, tail)


PROPORTION_METHODS: dict[str, type[ProportionInterval]] = {
    method.name: method for method in (Wald, Wilson, ClopperPearson, Jeffreys, AgrestiCoull)
}


# -- confidence sequences --------------------------------------------------------------------------

Floats: TypeAlias = npt.NDArray[np.float64]

_STEPS = 52
_NEAR = 1e-14
# Scales of false alarms a day, in days, that the mixture of rates is spread over.
_SCALES = 10.0 ** -np.arange(7)
# Bets on a difference, as shares of the largest that is allowed: each scale of effects has its own.
_BETS = 1.5 ** -np.arange(24.0)


def beta_log_e(successes: npt.ArrayLike, trials: npt.ArrayLike, share: npt.ArrayLike) -> Floats:
    """The log of the Beta(1/2, 1/2) mixture's evidence against a share of rows.

    log B(k + 1/2, n - k + 1/2) - log B(1/2, 1/2) - k log p - (n - k) log(1 - p)

    >>> round(float(np.exp(beta_log_e(9, 10, 0.5))), 2)
    9.5
    """
    from scipy.special import betaln, xlog1py, xlogy

    k, n, p = (np.asarray(given, np.float64) for given in (successes, trials, share))
    mixed = betaln(k + 0.5, n - k + 0.5) - math.log(math.pi)
    evidence: Floats = mixed - xlogy(k, p) - xlog1py(n - k, -p)
    return evidence


class BetaMixture(ProportionInterval):
    """The confidence sequence of a share of rows, by the Beta(1/2, 1/2) mixture.

    All p whose evidence is below 1/alpha. At n = 5,000 it is twice as wide as an interval for one
    look. It misleads where rows come in clusters or the share moves: then it is of no one share.

    Reference: Robbins 1970; Howard et al. 2021.

    >>> low, high = BetaMixture()(30, 100)
    >>> round(float(low), 3), round(float(high), 3)
    (0.166, 0.463)
    """

    name = "beta mixture"

    def _ends(self, k: Any, n: Any) -> Any:
        from scipy.special import expit, logit

        k, n = np.broadcast_arrays(np.asarray(k, np.float64), np.asarray(n, np.float64))
        # In log odds t the evidence is n log(1 + exp t) - k t plus what the counts give: convex.
        limit = math.log(1 / (1 - self.level)) - beta_log_e(k, n, 0.5) + n * math.log(2)
        centre = logit((k + 0.5) / (n + 1))
        room = np.maximum(limit - (n * np.logaddexp(0, centre) - k * centre), 0.0)
        reach = np.sqrt(2 * room / np.maximum(n * expit(centre) * expit(-centre), 0.25)) + 1e-6

        def value(t: Floats) -> Floats:
            excess: Floats = n * np.logaddexp(0, t) - k * t - limit
            return excess

        ends = (
            expit(_root(value, lambda t: n * expit(t) - k, centre + side * reach))
            for side in (-1, 1)
        )
        return tuple(ends)


def gamma_log_e(events: npt.ArrayLike, days: npt.ArrayLike, rate: npt.ArrayLike) -> Floats:
    """The log of the gamma mixture's evidence against so many events a day.

    The mixture is one of Gamma(1/2, b) over scales b of 1 day to a millionth, alike.
    """
    from scipy.special import xlogy

    count, time, per_day = (np.asarray(given, np.float64) for given in (events, days, rate))
    evidence: Floats = _gamma_mixed(count, time) - xlogy(count, per_day) + per_day * time
    return evidence


def _gamma_mixed(events: Floats, days: Floats) -> Floats:
    from scipy.special import gammaln

    count, time = events[..., None], days[..., None]
    each = (
        0.5 * np.log(_SCALES)
        - gammaln(0.5)
        + gammaln(count + 0.5)
        - (count + 0.5) * np.log(_SCALES + time)
    )
    mixture: Floats = np.logaddexp.reduce(each, axis=-1) - math.log(len(_SCALES))
    return mixture


@dataclass(frozen=True)
class GammaMixture:
    """The confidence sequence of a number of events a day.

    All rates whose evidence is below 1/alpha. It misleads where events come in bursts: it takes
    them as independent, as Poisson's law does.

    Reference: Robbins 1970.

    >>> low, high = GammaMixture()(120, 30)
    >>> round(float(low), 2), round(float(high), 2)
    (2.76, 5.56)
    """

    level: float = 0.95
    name: ClassVar[str] = "gamma mixture"

    def __post_init__(self) -> None:
        object.__setattr__(self, "level", check_level(self.level))

    def __call__(self, events: npt.ArrayLike, days: npt.ArrayLike) -> Ends:
        """The lower and upper end; nan where there is no day."""
        count, time = np.broadcast_arrays(
            np.asarray(events, np.float64), np.asarray(days, np.float64)
        )
        with np.errstate(all="ignore"):
            # In u = log(rate x days) the evidence is exp(u) - count u plus what the counts give.
            given = _gamma_mixed(count, time) + count * np.log(time)
            limit = math.log(1 / (1 - self.level)) - given
            centre = np.log(count + 0.5)
            room = np.maximum(limit - (np.exp(centre) - count * centre), 0.0)
            reach = np.sqrt(2 * room / (count + 0.5)) + 1e-6

            def value(u: Floats) -> Floats:
                excess: Floats = np.exp(u) - count * u - limit
                return excess

            low, high = (
                np.exp(_root(value, lambda u: np.exp(u) - count, centre + side * reach)) / time
                for side in (-1, 1)
            )
            low = np.minimum(low, count / time)
            high = np.maximum(high, count / time)
        return np.where(time > 0, low, np.nan), np.where(time > 0, high, np.nan)


def paired_log_e(
    gained: npt.ArrayLike, lost: npt.ArrayLike, rows: npt.ArrayLike, difference: npt.ArrayLike
) -> Floats:
    """The log of the evidence against a difference of two shares of the same rows.

    A row counts 1 where only the second model has it, -1 where only the first, else 0. Bets of
    several sizes on a larger and on a smaller mean are placed row by row, alike; their mean is what
    they make together (Waudby-Smith and Ramdas 2024). Each depends on counts alone.
    """
    from scipy.special import xlogy

    up, down, n, given = np.broadcast_arrays(
        *(np.asarray(each, np.float64)[..., None] for each in (gained, lost, rows, difference))
    )
    # Rows on a scale of 0, 1/2 and 1, with the mean that the difference says.
    mean = (1 + given) / 2
    tied = n - up - down

    def wealth(mean: Floats, best: Floats, worst: Floats) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            made: Any = (
                xlogy(best, 1 + _BETS * (1 / mean - 1))
                + xlogy(tied, 1 + _BETS * (0.5 / mean - 1))
                + xlogy(worst, 1 - _BETS)
            )
        logs: Floats = np.where(np.isnan(made), -np.inf, made)
        return logs

    both = np.concatenate([wealth(mean, up, down), wealth(1 - mean, down, up)], axis=-1)
    evidence: Floats = np.logaddexp.reduce(both, axis=-1) - math.log(2 * len(_BETS))
    return evidence


@dataclass(frozen=True)
class PairedBets:
    """The confidence sequence of the difference of two models on the same rows, second less first.

    All differences whose evidence is below 1/alpha; the evidence is convex in the difference, so
    they are an interval. Rows on which the models agree narrow it as well.

    >>> low, high = PairedBets()(30, 10, 1000)
    >>> round(float(low), 4), round(float(high), 4)
    (-0.0021, 0.0451)
    """

    level: float = 0.95
    name: ClassVar[str] = "paired bets"

    def __post_init__(self) -> None:
        object.__setattr__(self, "level", check_level(self.level))

    def __call__(self, gained: npt.ArrayLike, lost: npt.ArrayLike, rows: npt.ArrayLike) -> Ends:
        """The lower and upper end; nan where there are no rows."""
        up, down, n = np.broadcast_arrays(
            *(np.asarray(each, np.float64) for each in (gained, lost, rows))
        )
        with np.errstate(all="ignore"):
            mean: Any = np.where(n > 0, (up - down) / n, 0.0)
        limit = math.log(1 / (1 - self.level))
        inside: Any = np.stack([mean, mean])
        outside: Any = np.stack([np.full_like(mean, -1.0), np.full_like(mean, 1.0)])
        for _ in range(_STEPS):
            middle = (outside + inside) / 2
            out = paired_log_e(up, down, n, middle) > limit
            outside, inside = np.where(out, middle, outside), np.where(out, inside, middle)
        low, high = np.where(n > 0, inside, np.nan)
        return low, high


def discordant_log_e(only_first: npt.ArrayLike, only_second: npt.ArrayLike) -> Floats:
    """McNemar's test in sequence: the log of the evidence that two models err unequally often.

    Of the rows on which only one model is right, half would be the first's. The models differ where
    it exceeds log(1/alpha), at any look.

    >>> bool(discordant_log_e(10, 2) > np.log(20)), bool(discordant_log_e(40, 8) > np.log(20))
    (False, True)
    """
    first, second = np.asarray(only_first, np.float64), np.asarray(only_second, np.float64)
    return beta_log_e(first, first + second, 0.5)


def _root(value: Any, slope: Any, start: Floats) -> Floats:
    """The root of a convex function on the side where it is started, by Newton's method.

    The first step goes beyond the root, whatever the start, and all later ones come nearer.
    """
    at, done = start, np.zeros(np.shape(start), bool)
    for _ in range(_STEPS):
        with np.errstate(all="ignore"):
            step = value(at) / slope(at)
        step = np.clip(np.where(np.isfinite(step), step, 0.0), -50.0, 50.0)
        # Each stops by itself, so that none depends on which others are solved with it.
        at = np.where(done, at, at - step)
        done |= np.abs(step) <= _NEAR * np.maximum(np.abs(at), 1.0)
        if done.all():
            break
    return at
