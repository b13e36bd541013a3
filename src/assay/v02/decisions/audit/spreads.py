"""What may be printed of spread: values fold by fold, and intervals by every known method."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import SupportsFloat

from assay.v02.decisions.audit.claim import Claim, Key, key_of
from assay.v02.decisions.audit.counts import rows_of, total_of
from assay.v02.decisions.audit.matrix import PrintedTable, judged, readings, scope_of, undetermined
from assay.v02.decisions.audit.verdicts import (
    Enclosure,
    HeldNumber,
    JudgedNumber,
    NumberVerdict,
    Printed,
    as_float,
    best,
    decimal,
    exact,
    exact_of,
    hold,
    judge,
)
from assay.v02.formula import TP, cells, proportion
from assay.v02.inference import (
    AgrestiCoull,
    Bootstrap,
    ClopperPearson,
    Delta,
    Jeffreys,
    Quantity,
    Wilson,
    estimate,
)
from assay.v02.inference.bootstrap import resampled
from assay.v02.inference.delta import variance
from assay.v02.inference.estimate import squares_of, table_of
from assay.v02.inference.significance import normal, student
from assay.v02.measures import PREVALENCE, ROC_AUC, Interval
from assay.v02.tally import Confusion

# More folds than this are rare; what the pooled counts allow is widened for so many.
USUAL_MOST = 20


def folds_of(key: Key, claim: Claim) -> tuple[Printed, ...]:
    """The printed values fold by fold of what a key speaks of, however both are spelled."""
    wanted = scope_of(key.value, claim)
    for text, values in claim.folds.items():
        if scope_of(key_of(text), claim) == wanted:
            return values
    return ()


def mean_of(folds: Sequence[Printed]) -> Fraction:
    """The mean of the values as printed."""
    return sum((fold.value for fold in folds), Fraction(0)) / len(folds)


def sd_of(folds: Sequence[Printed], ddof: int = 1) -> Enclosure | None:
    """The standard deviation of the values as printed; None for too few."""
    if len(folds) <= ddof:
        return None
    mean = mean_of(folds)
    squares = sum(((fold.value - mean) ** 2 for fold in folds), Fraction(0))
    return Enclosure.root(squares / (len(folds) - ddof))


def hold_mean(key: Key, reported: Printed, folds: Sequence[Printed], claim: Claim) -> HeldNumber:
    """A number against the mean of the folds."""
    return best([_held_mean(spelled, folds) for spelled in claim.spellings(reported, key)])


def _held_mean(reported: Printed, folds: Sequence[Printed]) -> HeldNumber:
    held = hold(reported, Enclosure.of(mean_of(folds)), f"the mean of {len(folds)} folds")
    if held.verdict is not NumberVerdict.INCONSISTENT:
        return held
    # The folds were rounded, or cut off, when they were printed.
    slack = sum((fold.unit for fold in folds), Fraction(0)) / len(folds)
    if reported.truncates(held.exact.low - slack, held.exact.high + slack):
        said = f"{held.said.rpartition(', ')[0]}; folds before they were rounded can give it"
        return HeldNumber(NumberVerdict.ROUNDING, held.exact, said, reported)
    return held


def judge_sd(key: Key, reported: Printed, claim: Claim) -> JudgedNumber:
    """A spread of folds against the folds, divided by one less than their number."""
    if any(spelled.value < 0 for spelled in claim.spellings(reported, key)):
        said = "a standard deviation is never negative"
        return JudgedNumber(
            key.text, key.measure.name, reported.text, None, NumberVerdict.INCONSISTENT, said
        )
    folds = folds_of(key, claim)
    exact = sd_of(folds)
    if exact is None:
        said = "there are no folds to hold it against" if not folds else "one fold has no spread"
        return undetermined(key, reported, said)
    comparisons = [_held_sd(spelled, exact, folds) for spelled in claim.spellings(reported, key)]
    return judged(key, reported, best(comparisons))


def _held_sd(reported: Printed, exact: Enclosure, folds: Sequence[Printed]) -> HeldNumber:
    held = hold(reported, exact, f"the deviation of {len(folds)} folds")
    by_all = sd_of(folds, ddof=0)
    divided_by_all = (
        by_all is not None
        and reported.digits > 1
        and judge(reported, by_all) is NumberVerdict.CONSISTENT
    )
    if held.verdict is not NumberVerdict.INCONSISTENT or divided_by_all:
        return held
    # Half a unit in each fold moves the deviation by no more than this.
    moved = sum(((fold.unit / 2) ** 2 for fold in folds), Fraction(0)) / (len(folds) - 1)
    if reported.truncates(*_ends(exact.widened(Enclosure.root(moved).high))):
        said = f"{held.said.rpartition(', ')[0]}; folds before they were rounded can give it"
        return HeldNumber(NumberVerdict.ROUNDING, exact, said, reported)
    return held


def _ends(exact: Enclosure) -> tuple[Fraction, Fraction]:
    return exact.low, exact.high


def in_folds(key: Key, pooled: JudgedNumber, reported: Printed, claim: Claim) -> JudgedNumber:
    """A number that the pooled counts do not give, where it may be a mean of folds.

    Folds differ in size by one row at most. Then the mean of K shares of right rows differs from
    the pooled share by at most K / (4 n): with r of the folds one row larger, the weights 1 / K and
    n_i / n differ by r / (K n) in K - r folds, and by (K - r) / (K n) the other way in r folds; the
    shares lie in [0, 1], and r (K - r) is at most K^2 / 4.
    """
    if pooled.recomputed is None or isinstance(pooled.recomputed, tuple):
        return pooled
    matrix, measure = claim.matrix, key.measure
    if measure.classes is None or not (measure.is_proportion and measure.symmetric and key.bare):
        said = "a mean of folds; the pooled counts do not decide it"
        return undetermined(key, reported, said)
    if matrix is None or not matrix.total:
        return pooled
    many = max((len(values) for values in claim.folds.values()), default=USUAL_MOST)
    reach = Fraction(many, 4 * matrix.total)
    exact = exact_of(Quantity(measure.classes), matrix) or Enclosure.near(pooled.recomputed)
    verdict = NumberVerdict.INCONSISTENT
    said = f"the pooled counts give {decimal(exact, reported)}, and a mean of at most {many} folds "
    said += "can't differ so much from them"
    for spelled in claim.spellings(reported, key):
        if judge(spelled, exact.widened(reach)) is not NumberVerdict.INCONSISTENT:
            verdict = NumberVerdict.CONSISTENT
            said = f"within what a mean of {many} folds can differ from the pooled counts by"
    return JudgedNumber(key.text, measure.name, reported.text, float(exact), verdict, said)


# -- intervals by every known method ---------------------------------------------------------------

LEVELS = (0.95, 0.9, 0.99)
# The quantiles that tables and textbooks round to.
ROUNDED_Z = {0.95: (1.96,), 0.9: (1.645, 1.64, 1.65), 0.99: (2.576, 2.575, 2.58)}
# A bootstrap of this many resamples, and how many standard errors of its noise are allowed.
RESAMPLES = 1000
# Beyond so many rows the tails of a beta distribution take seconds, and all intervals are one.
_LARGEST = 1e12
NOISE = 4.0
# Beyond this many rows or classes nothing is resampled.
_MOST_RESAMPLED = 1 << 62
_MOST_CLASSES = 30


@dataclass(frozen=True)
class NamedInterval:
    """An interval by one method at one level."""

    method: str
    level: float
    low: float
    high: float
    z: float | None = None

    @property
    def words(self) -> str:
        """As a sentence names it: 95% Wilson interval."""
        rounded = f" with z = {self.z:g}" if self.z is not None else ""
        return f"{100 * self.level:g}% {NAMES.get(self.method, self.method)} interval{rounded}"

    def cut(self, low: float = 0.0, high: float = 1.0) -> NamedInterval:
        """The same interval cut to a range."""
        ends = max(self.low, low), min(self.high, high)
        return NamedInterval(self.method, self.level, *ends, self.z)


NAMES = {
    "wald": "Wald",
    "wald-cc": "continuity-corrected Wald",
    "wald-t": "Student's t",
    "wilson": "Wilson",
    "wilson-cc": "continuity-corrected Wilson",
    "clopper-pearson": "Clopper-Pearson",
    "jeffreys": "Jeffreys",
    "agresti-coull": "Agresti-Coull",
    "fold": "normal fold",
    "fold t": "Student's t fold",
}


def quantiles(levels: Iterable[float]) -> Iterator[tuple[float, float, float | None]]:
    """Each level with its quantile, then with the rounded ones, which are named."""
    for level in levels:
        yield level, normal(level), None
    for level in levels:
        for z in ROUNDED_Z.get(level, ()):
            yield level, z, z


def around(value: float, reach: float) -> tuple[float, float]:
    """The value less and plus a reach."""
    return value - reach, value + reach


def share_intervals(k: float, n: float, levels: tuple[float, ...]) -> Iterator[NamedInterval]:
    """Every known interval for k successes in n trials; k need not be whole."""
    p = k / n
    error = math.sqrt(max(p * (1 - p), 0.0) / n)
    for level, z, named in quantiles(levels):
        yield from _both("wald", level, around(p, z * error), named)
        yield from _both("wald-cc", level, around(p, z * error + 1 / (2 * n)), named)
        # A method finds its quantile by its level.
        own = math.erf(z / math.sqrt(2)) if named else level
        yield NamedInterval("wilson", level, *_floats(Wilson(own)(k, n)), named)
        yield NamedInterval("wilson-cc", level, *_corrected_wilson(p, n, z), named)
        yield NamedInterval("agresti-coull", level, *_floats(AgrestiCoull(own)(k, n)), named)
        more, centre = n + z * z, (k + z * z / 2) / (n + z * z)
        reach = z * math.sqrt(max(centre * (1 - centre), 0.0) / more)
        yield NamedInterval("agresti-coull", level, *around(centre, reach), named)
    if n > _LARGEST:
        return
    for level in levels:
        yield NamedInterval("clopper-pearson", level, *_floats(ClopperPearson(level)(k, n)))
        yield NamedInterval("jeffreys", level, *_floats(Jeffreys(level)(k, n)))
        yield NamedInterval("jeffreys", level, *_equal_tails(k, n, level))
        if n > 1:
            yield from _both("wald-t", level, around(p, student(level, n - 1) * error), None)


def _both(
    method: str, level: float, ends: tuple[float, float], z: float | None
) -> Iterator[NamedInterval]:
    """An interval as its formula gives it, and cut to [0, 1]."""
    interval = NamedInterval(method, level, *ends, z)
    yield interval
    if interval.low < 0 or interval.high > 1:
        yield interval.cut()


def _floats(ends: tuple[SupportsFloat, SupportsFloat]) -> tuple[float, float]:
    low, high = ends
    return float(low), float(high)


def _corrected_wilson(p: float, n: float, z: float) -> tuple[float, float]:
    """Wilson's interval with a continuity correction (Newcombe 1998, method 4)."""
    q, square = 1 - p, z * z
    below = square - 2 - 1 / n + 4 * p * (n * q + 1)
    above = square + 2 - 1 / n + 4 * p * (n * q - 1)
    low = (2 * n * p + square - 1 - z * math.sqrt(max(below, 0.0))) / (2 * (n + square))
    high = (2 * n * p + square + 1 + z * math.sqrt(max(above, 0.0))) / (2 * (n + square))
    return (0.0 if p <= 0 else max(low, 0.0)), (1.0 if p >= 1 else min(high, 1.0))


def _equal_tails(k: float, n: float, level: float) -> tuple[float, float]:
    """Jeffreys' interval without its closed form at the edges."""
    from scipy.special import betainccinv, betaincinv

    tail, a, b = (1 - level) / 2, k + 0.5, n - k + 0.5
    return float(betaincinv(a, b, tail)), float(betainccinv(a, b, tail))


def resampled_range(
    k: float, n: float, level: float
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Where the ends of a percentile bootstrap of a share lie, its noise allowed for.

    The resampled share is binomial. The order statistic of 1,000 has a rank that is off by its own
    standard error.
    """
    tail = (1 - level) / 2
    noise = NOISE * math.sqrt(tail * (1 - tail) / RESAMPLES)
    inner, outer = min(tail + noise, 0.5), max(tail - noise, tail / 10)
    p = k / n
    error = math.sqrt(max(p * (1 - p), 0.0) / n)
    # The normal quantiles, moved by the skew of the binomial; a row either way for its steps.
    skew = (1 - 2 * p) / 6 / n

    def end(share: float, side: int) -> float:
        z = normal(1 - 2 * share)
        return p + side * z * error + skew * (z * z - 1)

    step = 1 / n
    low = end(outer, -1) - step, end(inner, -1) + step
    high = end(inner, 1) - step, end(outer, 1) + step
    return low, high


def hanley_mcneil(auc: float, positives: int, negatives: int) -> float:
    """The standard error of an AUC by Hanley and McNeil (1982)."""
    q1, q2 = auc / (2 - auc), 2 * auc * auc / (1 + auc)
    spread = auc * (1 - auc)
    spread += (positives - 1) * (q1 - auc * auc) + (negatives - 1) * (q2 - auc * auc)
    return math.sqrt(max(spread, 0.0) / (positives * negatives))


# -- shares of rows --------------------------------------------------------------------------------


@dataclass(frozen=True)
class RowShare:
    """How many of how many rows; the first as exactly as it is known."""

    words: str
    low: Fraction
    high: Fraction
    trials: int

    @property
    def value(self) -> Fraction:
        """The share in the middle of what is known."""
        return (self.low + self.high) / 2 / self.trials


def shares_of(key: Key, claim: Claim, table: PrintedTable) -> Iterator[RowShare]:
    """The shares that a key may stand for, from the matrix, or from a printed value and a size."""
    if claim.matrix is not None:
        for meaning, quantity in readings(key.value, claim):
            share = _share(quantity, claim.matrix)
            if share is not None:
                yield RowShare(meaning.words, *share)
        return
    trials = _trials(key, claim)
    printed = table.printed_value(key)
    if trials and printed is not None:
        low, high = printed.value - printed.unit, printed.value + printed.unit
        yield RowShare("", max(low, Fraction(0)) * trials, min(high, Fraction(1)) * trials, trials)


def _share(quantity: Quantity, matrix: Confusion) -> tuple[Fraction, Fraction, int] | None:
    parts = proportion(quantity.expression)
    if parts is None:
        return None
    cells = quantity.cells(matrix)
    successes, trials = exact(parts.successes, cells), exact(parts.trials, cells)
    if successes is None or trials is None or not trials.low:
        return None
    return successes.low, successes.high, int(trials.low)


def _trials(key: Key, claim: Claim) -> int | None:
    """How many rows a share without a matrix is of."""
    share = None if key.measure.formula is None else proportion(key.measure.formula)
    if share is None or key.average is not None:
        return None
    of, rows = cells(share.trials), rows_of(claim)
    if of == cells(PREVALENCE.formula or TP):
        return total_of(claim) if key.label is None else None
    label = key.label or claim.positive
    if label not in rows:
        return None
    if of == {"TP", "FN"}:
        return rows[label]
    if of == {"FP", "TN"} and len(rows) == len(claim.labels):
        return sum(rows.values()) - rows[label]
    return None


# -- intervals -------------------------------------------------------------------------------------


def levels_of(claim: Claim) -> tuple[float, ...]:
    """The levels that an interval may have: the stated one, or the usual three."""
    if claim.level is not None:
        return (claim.level,)
    return LEVELS if claim.extra_level in (None, *LEVELS) else (*LEVELS, claim.extra_level)


def candidates(key: Key, claim: Claim, table: PrintedTable) -> Iterator[NamedInterval]:
    """Intervals of the exact values, by all methods or by the named one."""
    levels, method = levels_of(claim), claim.interval
    for share in shares_of(key, claim, table):
        exactly = share.low == share.high
        for interval in share_intervals(as_float(share.value * share.trials), share.trials, levels):
            if method in (None, interval.method) and exactly:
                yield interval
    if claim.matrix is not None:
        yield from _smooth(key, claim, levels)
    yield from _of_folds(key, claim, levels)
    if key.measure == ROC_AUC:
        yield from _of_auc(key, claim, table, levels)


def _smooth(key: Key, claim: Claim, levels: tuple[float, ...]) -> Iterator[NamedInterval]:
    """The delta method, plain and on the scale of the range."""
    matrix = claim.matrix
    if matrix is None or not matrix.total:
        return
    for _, quantity in readings(key.value, claim):
        value = quantity.value(matrix)
        if math.isnan(value):
            continue
        if claim.interval in (None, "delta", "wald"):
            error = delta_error(quantity, matrix)
            for level, z, named in quantiles(levels):
                yield NamedInterval("delta", level, *around(value, z * error), named)
        for level in levels:
            yield from _own(key, quantity, matrix, level, claim.interval)


def _own(
    key: Key, quantity: Quantity, matrix: Confusion, level: float, method: str | None
) -> Iterator[NamedInterval]:
    """What this project itself would print."""
    by_default = key.measure.interval
    if method in (None, "wilson") and by_default is Interval.BY_JACCARD:
        ends = estimate(quantity, matrix, key.measure.range, level=level, default=by_default)
        yield NamedInterval("wilson", level, ends.low, ends.high)
    if method in (None, "delta"):
        ends = estimate(quantity, matrix, key.measure.range, level=level, method=Delta(level))
        yield NamedInterval("delta", level, ends.low, ends.high)


def bootstraps(key: Key, claim: Claim) -> Iterator[NamedInterval]:
    """Percentile intervals of resamples, drawn as this project draws them."""
    matrix = claim.matrix
    if matrix is None or not 0 < matrix.total < _MOST_RESAMPLED:
        return
    if claim.interval not in (None, "bootstrap") or len(matrix.labels) > _MOST_CLASSES:
        return
    for _, quantity in readings(key.value, claim):
        for method in map(Bootstrap, levels_of(claim)):
            values = quantity.of_tables(resampled(matrix, method))
            ends = method.ends(values, quantity.value(matrix), None)
            yield NamedInterval("bootstrap", method.level, ends.low, ends.high)


def delta_error(quantity: Quantity, matrix: Confusion) -> float:
    """The standard error of a formula by the delta method."""
    return math.sqrt(max(variance(quantity, table_of(matrix), squares_of(matrix)), 0.0))


def _of_folds(key: Key, claim: Claim, levels: tuple[float, ...]) -> Iterator[NamedInterval]:
    folds = folds_of(key, claim)
    spread = sd_of(folds)
    if spread is None or claim.interval not in (None, "wald"):
        return
    mean, error = as_float(mean_of(folds)), float(spread) / math.sqrt(len(folds))
    for level, z, named in quantiles(levels):
        yield NamedInterval("fold", level, *around(mean, z * error), named)
    for level in levels:
        yield NamedInterval("fold t", level, *around(mean, student(level, len(folds) - 1) * error))


def _of_auc(
    key: Key, claim: Claim, table: PrintedTable, levels: tuple[float, ...]
) -> Iterator[NamedInterval]:
    """Hanley and McNeil's interval, which needs only the AUC and the sizes."""
    printed, rows = table.printed_value(key), rows_of(claim)
    if printed is None or not claim.binary or len(rows) != 2 or not all(rows.values()):
        return
    auc = as_float(printed.value)
    if not 0 <= auc <= 1 or claim.interval is not None:
        return
    error = hanley_mcneil(auc, rows[claim.labels[1]], rows[claim.labels[0]])
    for level, z, named in quantiles(levels):
        interval = NamedInterval("Hanley-McNeil", level, *around(auc, z * error), named)
        yield interval
        yield interval.cut()
