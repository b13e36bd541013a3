"""How many rows tell a rate, a difference of two models, a false alarm or a detection rate."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.v02.decisions.sample_strata import allocated, labels_of_alerts, sizes_of, stratum_sizes
from assay.errors import InputError
from assay.v02.evaluation.judge import formula_of
from assay.v02.inference import FayFeuer, Quantity, Strata
from assay.v02.inference.paired_tests import EXACT_BELOW
from assay.v02.inference.proportions import ProportionInterval, Wilson
from assay.v02.inference.significance import normal, shows, tail
from assay.v02.measures import RECALL

Array: TypeAlias = npt.NDArray[Any]
Floats: TypeAlias = npt.NDArray[np.float64]

# More rows than this nobody labels, and floats no longer count them one by one.
MOST = 10**14


@dataclass(frozen=True)
class Need:
    """Rows that reach a goal, and how many errors they may hold.

    ``rows`` are rows of any kind (those that an interval or a comparison is about). ``chance`` is
    how likely it is to succeed, where the detector's expected rates are known.
    ``detection_rate`` and ``false_positive_rate`` are the bounds that are shown on the way to a
    false alarm rate. ``expected`` and ``method`` belong to an interval or a test. ``base_rate`` is
    that of the rows that labels are drawn from, and ``missed`` where missed attacks are thought to
    score, ``binormal`` or ``anywhere``, where they are drawn by strata; then no ``rows`` means that
    there are not enough.
    """

    negatives: int | None = None
    positives: int | None = None
    alerts: int | None = None
    rows: int | None = None
    false_alarms: int | None = None
    misses: int | None = None
    detection_rate: float | None = None
    false_positive_rate: float | None = None
    expected: float | None = None
    method: str | None = None
    chance: float | None = None
    base_rate: float | None = None
    missed: str | None = None

    @property
    def total(self) -> int:
        """All rows to label."""
        return sum(each or 0 for each in (self.negatives, self.positives, self.alerts, self.rows))


def chance(rows: int, errors: int, rate: float) -> float:
    """The chance of at most so many errors.

    >>> round(chance(10, 0, 0.2), 6)
    0.107374
    """
    return float(tail(errors, rows, rate))


def rows_needed(limit: Decimal | Fraction, errors: int, risk: Decimal | Fraction) -> int:
    """The fewest rows that show a rate of at most ``limit``, where they hold so many errors.

    >>> rows_needed(Decimal("0.0001"), 0, Decimal("0.1"))
    23025
    """
    rate, risk_left = Fraction(limit), Fraction(risk)
    return first(lambda rows: shows(errors, rows, rate, risk_left), errors + 1)


def highest_rate(rows: int, errors: int, risk: float) -> float:
    """The highest rate that so few errors leave open (one side of Clopper and Pearson 1934)."""
    from scipy.special import betainccinv

    if errors >= rows:
        return 1.0
    return float(betainccinv(errors + 1, rows - errors, risk))


def errors_expected(rows: int, rate: float, power: float) -> int:
    """The smallest number of errors that is not exceeded with the chance ``power``."""
    return first(lambda errors: chance(rows, errors, rate) >= power, 0)


def first(true: Callable[[int], bool], start: int, step: int = 1) -> int:
    """The first whole number from ``start`` on for which something is true, and stays true.

    ``step`` is how far off it may be.
    """
    if true(start):
        return start
    low = start
    while not true(low + step):
        low += step
        step *= 2
        if low > MOST:
            raise InputError(
                f"more than {MOST:,} rows would be needed, which is past what can be planned; ask "
                f"for less"
            )
    high = low + step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if true(middle) else (middle, high)
    return high


def rows_for_width(method: ProportionInterval, width: float, share: float) -> int:
    """The fewest rows whose interval is at most so wide where the share is what is expected.

    The share of so many rows need not be a whole number of rows; the methods take it as it is.
    """
    return first(lambda rows: _width(method, rows * share, rows) <= width, 1)


def rows_for_sure(method: ProportionInterval, width: float, share: float, power: float) -> int:
    """Rows whose interval is at most so wide with the chance ``power``, and one row less is not.

    The observed share differs from the expected one by chance, and the interval with it. The chance
    does not grow with every single row, so still fewer may do now and then.
    """
    start = rows_for_width(method, width, share)
    return first(lambda rows: chance_of_width(method, width, share, rows) >= power, start)


def chance_of_width(method: ProportionInterval, width: float, share: float, rows: int) -> float:
    """The chance that the interval of so many rows is at most so wide.

    Intervals are widest in the middle: wide enough are up to k errors, and as few successes.
    """
    if _width(method, rows / 2, rows) <= width:
        return 1.0
    # The first count, from 0 on, whose interval is too wide; it grows up to the middle.
    too_wide = first(lambda k: 2 * k >= rows or _width(method, k, rows) > width, 0)
    if too_wide == 0:
        return 0.0
    return chance(rows, too_wide - 1, share) + chance(rows, too_wide - 1, 1 - share)


def _width(method: ProportionInterval, successes: float, rows: int) -> float:
    low, high = method(successes, rows)
    return float(high) - float(low)


# -- a difference between two models: the power of McNemar's test ----------------------------------


# So many standard deviations hold all of a binomial distribution but 1e-11.
_REACH = 7.0
# Of more numbers of discordant rows than this, only so many are summed over, evenly spaced; the
# power is then right to five digits.
_SUMMED = 2000
_LARGE = 10_000
# Up to so many rows, fewer are looked for as far below the rows that were found.
_SAW, _TEETH = 10_000, 25
# More rows than this are told to as many parts.
_DIGITS = 10**6
# More rows than this nobody compares on, and summing takes long.
_MOST = 10**9


def rows_for_difference(difference: float, discordant: float, level: float, power: float) -> int:
    """The fewest rows on which McNemar's test shows the difference with the chance ``power``.

    ``difference`` is how much more often one model is right, ``discordant`` the share of rows on
    which only one of both is. The test is the one that ``compare`` uses: exact below 25 discordant
    rows, else with continuity correction.
    """

    def enough(rows: int) -> bool:
        return mcnemar_power(rows, difference, discordant, level) >= power

    if connor(difference, discordant, level, power) > _MOST:
        raise InputError(f"more than {_MOST:,} rows would be needed; ask for a larger difference")
    estimate = _nearer(difference, discordant, level, power)
    low = max(1, estimate - 10 - estimate // 1000)
    while low > 1 and enough(low):
        low //= 2
    unit = 1 + estimate // _DIGITS
    least = low + unit * first(lambda steps: enough(low + unit * steps), 0, step=10)
    if least > _SAW:
        return least
    # The power of a test of counts is a saw: a tooth before may reach as high.
    return next((rows for rows in range(max(1, least - _TEETH), least) if enough(rows)), least)


def _nearer(difference: float, discordant: float, level: float, power: float) -> int:
    """The usual formula, mended by what the test really tells there."""
    from scipy.special import ndtri

    rows, z = connor(difference, discordant, level, power), normal(level)
    for _ in range(2):
        reached = mcnemar_power(rows, difference, discordant, level)
        if not 0.01 < reached < 0.999:
            break
        rows = max(1, round(rows * ((z + ndtri(power)) / (z + ndtri(reached))) ** 2))
    return rows


def connor(difference: float, discordant: float, level: float, power: float) -> int:
    """The usual formula by the normal approximation (Connor 1987), for comparison."""
    from scipy.special import ndtri

    z = normal(level) * math.sqrt(discordant)
    z += float(ndtri(power)) * math.sqrt(max(discordant - difference**2, 0.0))
    return max(1, math.ceil((z / difference) ** 2)) if z > 0 else 1


@lru_cache(maxsize=256)
def mcnemar_power(rows: int, difference: float, discordant: float, level: float) -> float:
    """The chance that McNemar's test shows the difference on so many rows.

    Summed over how many of the rows are discordant, and how they fall.
    """
    from scipy.special import betaincc

    mean = rows * discordant
    reach = _REACH * math.sqrt(mean * (1 - discordant)) + _REACH
    start, stop = max(0, math.floor(mean - reach)), min(rows, math.ceil(mean + reach)) + 1
    pairs = np.arange(start, stop, 1 + (stop - start) // _SUMMED)
    weight = _binomial(pairs, rows, discordant)
    most = critical(pairs, level)
    better = min((1 + difference / discordant) / 2, 1.0)
    power_of_pairs = np.zeros(len(pairs))
    tests = most >= 0
    k, n = most[tests], pairs[tests]
    # Both tails: the better model ahead, and, by bad luck, the worse one.
    power_of_pairs[tests] = betaincc(k + 1, n - k, 1 - better) + betaincc(k + 1, n - k, better)
    return float((weight * power_of_pairs).sum() / weight.sum())


def _binomial(pairs: Array, rows: int, share: float) -> Array:
    """The binomial distribution up to a factor."""
    from scipy.special import betaln, xlog1py, xlogy

    if min(rows * share, rows * (1 - share)) < _LARGE:
        log = xlogy(pairs, share) + xlog1py(rows - pairs, -share)
        return np.asarray(np.exp(log - betaln(pairs + 1, rows - pairs + 1) - math.log(rows + 1)))
    # Logarithms of large factorials would lose the digits that matter; this is their difference.
    off = pairs - rows * share
    log = _deviance(off, rows * share) + _deviance(-off, rows * (1 - share))
    return np.asarray(np.exp(-log) / np.sqrt(pairs / rows * (rows - pairs)))


def _deviance(off: Array, mean: float) -> Array:
    """How unlikely it is to be so far off the mean, as a logarithm (Loader 2000)."""
    part = off / mean
    return np.asarray(mean * ((1 + part) * np.log1p(part) - part))


def critical(pairs: Array, level: float) -> Array:
    """Of so many discordant rows, the most that may go the other way for the test to show it.

    -1 where nothing does.
    """
    z = normal(level)
    # (|n - 2k| - 1)^2 / n > z^2, strictly, as p < 1 - level.
    edge = (pairs - 1 - z * np.sqrt(pairs)) / 2
    most = np.ceil(edge) - 1
    exact = pairs < EXACT_BELOW
    most[exact] = [_critical_exact(int(n), level) for n in pairs[exact]]
    return np.asarray(np.maximum(most, -1))


def _critical_exact(pairs: int, level: float) -> int:
    below, k = 0, -1
    # p < 1 - level in whole numbers: 2 * sum of C(n, i) < (1 - level) * 2^n.
    while k < pairs:
        below += math.comb(pairs, k + 1)
        if 2 * below >= (1 - level) * 2**pairs:
            break
        k += 1
    return k


# -- few alarms that are false where attacks are rare ----------------------------------------------


POSITIVES = (30, 100, 300, 1000, 3000)
# How much of the risk goes to the bound on the detection rate.
ON_DETECTION = Decimal("0.1")
# Numbers of positives that are tried where the fewest rows in all are looked for.
_TRIED = tuple(round(10 * 1.25**i) for i in range(60))


@dataclass(frozen=True)
class FarGoal:
    """A false alarm rate at a base rate, what is risked, and the rates that are expected.

    With a base rate p, FAR <= f where FPR <= f / (1 - f) * p / (1 - p) * DR. So positives bound the
    detection rate from below and negatives the false positive rate from above. Both bounds share
    the risk as they do where a threshold is chosen: a tenth for the detection rate, since the false
    positive rate is what is hard to show. Or alerts of the place itself are labelled: then the
    share of false ones is bounded.
    """

    limit: Decimal
    base_rate: Decimal
    risk: Decimal
    expected_fpr: float | None
    expected_dr: float | None
    power: float

    @property
    def odds(self) -> Decimal:
        """What the false positive rate may be of the detection rate."""
        return self.limit / (1 - self.limit) * self.base_rate / (1 - self.base_rate)

    @property
    def expected(self) -> float | None:
        """The false alarm rate that the expected rates come to."""
        if self.expected_fpr is None or self.expected_dr is None:
            return None
        false = self.expected_fpr * float(1 - self.base_rate)
        return false / (false + self.expected_dr * float(self.base_rate))

    @property
    def part(self) -> float:
        """With which chance the positives are to succeed, so that all does with the power."""
        return self.power if self.expected_fpr is None else math.sqrt(self.power)

    def needs(self, errors: Sequence[int]) -> Iterator[Need]:
        """Positives and negatives together, then labelled alerts."""
        for positives in POSITIVES:
            yield from self.with_positives(positives, errors)
        for allowed in errors:
            alerts = rows_needed(self.limit, allowed, self.risk)
            likely = None if self.expected is None else chance(alerts, allowed, self.expected)
            yield Need(alerts=alerts, false_alarms=allowed, chance=likely)

    def with_positives(self, positives: int, errors: Sequence[int]) -> Iterator[Need]:
        """The negatives that are needed beside so many positives, for each number of errors."""
        shown = self._shown(positives)
        if shown is None:
            return
        misses, detected, limit = shown
        for allowed in errors:
            negatives = self._negatives(limit, allowed)
            yield Need(
                negatives=negatives,
                positives=positives,
                false_alarms=allowed,
                misses=misses,
                detection_rate=detected,
                false_positive_rate=float(limit),
                chance=self._chance(positives, misses, negatives, allowed),
            )

    def enough(self) -> Need | None:
        """The fewest rows in all that succeed with the power; None where nothing does."""
        best: Need | None = None
        for positives in _TRIED:
            if best is not None and positives > best.total:
                break
            need = self._least(positives)
            if need is not None and (best is None or need.total < best.total):
                best = need
        return best

    def _least(self, positives: int) -> Need | None:
        """Beside so many positives, the fewest negatives that succeed with the power."""
        shown = self._shown(positives)
        if shown is None or self.expected_fpr is None or self.expected_fpr >= shown[2]:
            return None
        misses, _, limit = shown

        def succeeds(errors: int) -> bool:
            likely = self._chance(positives, misses, self._negatives(limit, errors), errors)
            return likely is not None and likely >= self.power

        try:
            allowed = first(succeeds, 0)
        except InputError:  # more rows than anybody counts
            return None
        return next(self.with_positives(positives, (allowed,)))

    def _shown(self, positives: int) -> tuple[int, float, Decimal] | None:
        """Misses allowed, the detection rate they show, and the false positive rate it asks for."""
        misses = 0
        if self.expected_dr is not None:
            misses = errors_expected(positives, 1 - self.expected_dr, self.part)
        detected = 1 - highest_rate(positives, misses, float(self.risk * ON_DETECTION))
        if detected <= 0:
            return None
        return misses, detected, min(self.odds * Decimal(detected), Decimal(1))

    def _negatives(self, limit: Decimal, errors: int) -> int:
        # Where even a detector that flags everything keeps the rate, negatives tell nothing.
        return 0 if limit >= 1 else rows_needed(limit, errors, self.risk * (1 - ON_DETECTION))

    def _chance(self, positives: int, misses: int, negatives: int, errors: int) -> float | None:
        if self.expected_fpr is None or self.expected_dr is None:
            return None
        caught = chance(positives, misses, 1 - self.expected_dr)
        return caught * chance(negatives, errors, self.expected_fpr)


# -- a detection rate so closely: drawn at random, and by strata -----------------------------------


STRATA = 7
ROWS = 1_000_000
# Where nobody says what to expect.
EXPECTED_DR = 0.9
BINORMAL, ANYWHERE = "binormal", "anywhere"
# Fewer labels than this are not worth a plan.
_FEWEST = 4 * STRATA


@dataclass(frozen=True)
class RecallGoal:
    """An interval of the detection rate that is narrow enough, and the rows that it is about.

    At random, labels meet attacks as often as rows do, and the interval is that of a share of them.
    By strata, rows are drawn as :func:`assay.sample` draws them, and the interval is Fay and
    Feuer's of the counts that are expected. Those depend on where missed attacks score, which
    nobody knows before: ``binormal``, as two normal curves of one width would have it that give the
    expected rates; or ``anywhere`` below the threshold, like all rows there, which is the worst
    that a score can do without being upside down.

    Without an expected false positive rate, one alarm in two is false.
    """

    width: float
    level: float
    rows: int
    base_rate: float
    expected_dr: float
    expected_fpr: float | None

    def needs(self) -> tuple[Need, ...]:
        """Labels at random, then by strata, by where missed attacks score."""
        positives = rows_for_width(Wilson(self.level), self.width, self.expected_dr)
        at_random = round(positives / self.base_rate)
        return (
            self._need(at_random if at_random <= self.rows else None, Wilson.name),
            *(
                self._need(self._by_strata(missed), FayFeuer.name, missed)
                for missed in (BINORMAL, ANYWHERE)
            ),
        )

    def _need(self, labels: int | None, method: str, missed: str | None = None) -> Need:
        return Need(
            rows=labels,
            expected=self.expected_dr,
            method=method,
            base_rate=self.base_rate,
            missed=missed,
        )

    def _by_strata(self, missed: str) -> int | None:
        """The fewest labels; None where not even all rows are enough."""
        if self.width_of(self.rows, missed) > self.width:
            return None
        least = min(_FEWEST, self.rows)
        return first(
            lambda labels: labels >= self.rows or self.width_of(labels, missed) <= self.width, least
        )

    def width_of(self, labels: int, missed: str) -> float:
        """The width of the interval that so many labels are expected to give."""
        attacks = self.rows * self.base_rate
        detected, lost = attacks * self.expected_dr, attacks * (1 - self.expected_dr)
        false = detected if self.expected_fpr is None else (self.rows - attacks) * self.expected_fpr
        alerts = min(max(round(detected + false), 2), self.rows - 2)
        others = stratum_sizes(self.rows - alerts, STRATA - 1, labels)
        on_alerts = max(labels_of_alerts(alerts, labels, None), labels - sum(others))
        drawn = np.array(
            [on_alerts, *allocated(others, sizes_of("sqrt", others, None), labels - on_alerts)]
        )
        sizes = np.array([alerts, *others], float)
        share = sizes[1:] / sizes[1:].sum()
        if missed == BINORMAL:
            share = _binormal(share, false / (self.rows - attacks), self.expected_dr)
        weights = sizes / drawn
        misses = np.minimum(lost * share / weights[1:], drawn[1:])
        counts = np.zeros((len(drawn), 2, 2))
        counts[0, 1, 1] = min(detected / weights[0], drawn[0])
        counts[0, 0, 1] = drawn[0] - counts[0, 1, 1]
        counts[1:, 1, 0], counts[1:, 0, 0] = misses, drawn[1:] - misses
        strata = Strata(tuple(map(str, range(len(drawn)))), weights, counts)
        recall = Quantity(formula_of(RECALL), label=1)
        low, high = strata.share_ends(recall, FayFeuer(self.level))
        return high - low


def _binormal(shares: Floats, false_positive_rate: float, detection_rate: float) -> Floats:
    """The missed attacks of each stratum, from the negatives of each, highest scores first.

    >>> _binormal(np.array([0.1, 0.9]), 0.01, 0.9).round(3).tolist()
    [0.913, 0.087]
    """
    from scipy.special import ndtr, ndtri

    above = false_positive_rate + (1 - false_positive_rate) * np.cumsum(shares)
    apart = -ndtri(false_positive_rate) + ndtri(detection_rate)
    below = ndtr(-ndtri(np.append(false_positive_rate, above[:-1])) - apart)
    return np.asarray(-np.diff(below, append=0.0) / (1 - detection_rate))
