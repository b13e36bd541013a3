"""Values fold by fold: their mean and spread, and how far a mean of folds is from pooled counts."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from assay.decisions.audit.claim import Claim
from assay.decisions.audit.derived import scope_of
from assay.decisions.audit.keys import Key, key_of
from assay.decisions.audit.matrix import judged, undetermined
from assay.decisions.audit.printed import Exact, Held, Printed, best, decimal, exact_of, hold, judge
from assay.decisions.audit.result import Judged, Verdict
from assay.inference import Quantity

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


def sd_of(folds: Sequence[Printed], ddof: int = 1) -> Exact | None:
    """The standard deviation of the values as printed; None for too few."""
    if len(folds) <= ddof:
        return None
    mean = mean_of(folds)
    squares = sum(((fold.value - mean) ** 2 for fold in folds), Fraction(0))
    return Exact.root(squares / (len(folds) - ddof))


def hold_mean(key: Key, reported: Printed, folds: Sequence[Printed], claim: Claim) -> Held:
    """A number against the mean of the folds."""
    return best([_held_mean(spelled, folds) for spelled in claim.spellings(reported, key)])


def _held_mean(reported: Printed, folds: Sequence[Printed]) -> Held:
    held = hold(reported, Exact.of(mean_of(folds)), f"the mean of {len(folds)} folds")
    if held.verdict is not Verdict.INCONSISTENT:
        return held
    # The folds were rounded, or cut off, when they were printed.
    slack = sum((fold.unit for fold in folds), Fraction(0)) / len(folds)
    if reported.truncates(held.exact.low - slack, held.exact.high + slack):
        said = f"{held.said.rpartition(', ')[0]}; folds before they were rounded can give it"
        return Held(Verdict.ROUNDING, held.exact, said, reported)
    return held


def judge_sd(key: Key, reported: Printed, claim: Claim) -> Judged:
    """A spread of folds against the folds, divided by one less than their number."""
    if any(spelled.value < 0 for spelled in claim.spellings(reported, key)):
        said = "a standard deviation is never negative"
        return Judged(key.text, key.measure.name, reported.text, None, Verdict.INCONSISTENT, said)
    folds = folds_of(key, claim)
    exact = sd_of(folds)
    if exact is None:
        said = "there are no folds to hold it against" if not folds else "one fold has no spread"
        return undetermined(key, reported, said)
    found = [_held_sd(spelled, exact, folds) for spelled in claim.spellings(reported, key)]
    return judged(key, reported, best(found))


def _held_sd(reported: Printed, exact: Exact, folds: Sequence[Printed]) -> Held:
    held = hold(reported, exact, f"the deviation of {len(folds)} folds")
    by_all = sd_of(folds, ddof=0)
    divided_by_all = (
        by_all is not None and reported.digits > 1 and judge(reported, by_all) is Verdict.CONSISTENT
    )
    if held.verdict is not Verdict.INCONSISTENT or divided_by_all:
        return held
    # Half a unit in each fold moves the deviation by no more than this.
    moved = sum(((fold.unit / 2) ** 2 for fold in folds), Fraction(0)) / (len(folds) - 1)
    if reported.truncates(*_ends(exact.widened(Exact.root(moved).high))):
        said = f"{held.said.rpartition(', ')[0]}; folds before they were rounded can give it"
        return Held(Verdict.ROUNDING, exact, said, reported)
    return held


def _ends(exact: Exact) -> tuple[Fraction, Fraction]:
    return exact.low, exact.high


def in_folds(key: Key, pooled: Judged, reported: Printed, claim: Claim) -> Judged:
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
    exact = exact_of(Quantity(measure.classes), matrix) or Exact.near(pooled.recomputed)
    verdict = Verdict.INCONSISTENT
    said = f"the pooled counts give {decimal(exact, reported)}, and a mean of at most {many} folds "
    said += "can't differ so much from them"
    for spelled in claim.spellings(reported, key):
        if judge(spelled, exact.widened(reach)) is not Verdict.INCONSISTENT:
            verdict = Verdict.CONSISTENT
            said = f"within what a mean of {many} folds can differ from the pooled counts by"
    return Judged(key.text, measure.name, reported.text, float(exact), verdict, said)
