"""Measures of scores, which a matrix does not decide but may rule out."""

from __future__ import annotations

from fractions import Fraction

from assay.decisions.audit.claim import Claim, Key
from assay.decisions.audit.judge import decimal, judge, spellings
from assay.decisions.audit.points import undetermined
from assay.decisions.audit.printed import Printed
from assay.decisions.audit.result import Judged, Verdict
from assay.decisions.audit.values import Exact


def judge_ranking(key: Key, reported: Printed, claim: Claim) -> Judged:
    """A number that needs the scores: wrong only where no scores could give it."""
    low, high = key.measure.range
    readings = spellings(reported, key, claim)
    allowed = Exact(Fraction(low), Fraction(high) if high < 1e300 else Fraction(10**400))
    if not any(_reaches(spelled, allowed) for spelled in readings):
        return _impossible(key, reported, f"{key.measure.name} lies between {low:g} and {high:g}")
    bounds = operating_bounds(key, claim)
    if bounds is None:
        return undetermined(key, reported, "the counts do not decide it: it needs the scores")
    ends = [decimal(Exact.of(end), reported) for end in (bounds.low, bounds.high)]
    shown = f"[{', '.join(ends)}]"
    if not any(_reaches(spelled, bounds) for spelled in readings):
        why = f"no scores with this operating point can give it: they give values in {shown}"
        return _impossible(key, reported, why)
    said = f"it needs the scores; the operating point allows values in {shown}"
    # The middle of the bounds of the AUC is the balanced accuracy: the area of one point.
    hard = key.measure.name == "roc_auc" and bounds.low < bounds.high
    if hard and any(judge(s, Exact.of(bounds.middle)) is Verdict.CONSISTENT for s in readings):
        said += "; the decisions alone, taken as scores, would give it"
    return undetermined(key, reported, said)


def _reaches(reported: Printed, allowed: Exact) -> bool:
    """Whether some value within the bounds is printed so, or off by less than one unit."""
    return reported.truncates(allowed.low, allowed.high)


def _impossible(key: Key, reported: Printed, said: str) -> Judged:
    return Judged(key.text, key.measure.name, reported.text, None, Verdict.INCONSISTENT, said)


def operating_bounds(key: Key, claim: Claim) -> Exact | None:
    """The least and the largest value that scores with this matrix at one threshold can have.

    Only for two classes: the largest of K probabilities is no threshold on any one of them.
    """
    if claim.matrix is None or not claim.binary:
        return None
    (tn, fp), (fn, tp) = claim.matrix.cells
    if key.measure.name == "roc_auc":
        return auc_bounds(tn, fp, fn, tp)
    if key.measure.name == "average_precision" and key.average is None:
        if key.label is not None and key.label != claim.positive:
            tn, fp, fn, tp = tp, fn, fp, tn
        return ap_bounds(tn, fp, fn, tp)
    return None


def auc_bounds(tn: int, fp: int, fn: int, tp: int) -> Exact | None:
    """TPR (1 - FPR) with the worst order on both sides of the threshold, else 1 - FPR (1 - TPR)."""
    if not (tp + fn and tn + fp):
        return None
    found, alarmed = Fraction(tp, tp + fn), Fraction(fp, fp + tn)
    return Exact(found * (1 - alarmed), 1 - alarmed * (1 - found))


def ap_bounds(tn: int, fp: int, fn: int, tp: int) -> Exact | None:
    """The same for average precision, wide enough for the trapezoidal and interpolated areas too.

    At best the hits come first and the misses right below the threshold; the precision there is at
    most P / (P + FP). At worst all false alarms come before the hits, all other negatives before
    the misses; a trapezoid may lose another 1 / P.
    """
    positives = tp + fn
    if not positives:
        return None
    high = (tp + fn * Fraction(positives, positives + fp)) / positives
    worst = _ascending(tp, 0, fp) + _ascending(fn, tp, fp + tn)
    low = Fraction(max(worst - 1, 0)) / positives * (1 - Fraction(1, 10**9))
    return Exact(min(low, high), high)


def _ascending(steps: int, hits: int, alarms: int) -> float:
    """The sum of (hits + i) / (hits + alarms + i) for i from 1 to ``steps``, or just below it."""
    if not steps or not alarms:
        return float(steps)
    from scipy.special import digamma

    start, end = float(hits + alarms + 1), float(hits + alarms + 1 + steps)
    lost = alarms * float(digamma(end) - digamma(start))
    # Both logarithms round, which many false alarms make a large error of.
    error = alarms * 1e-15 * (1 + abs(float(digamma(end))))
    return max(steps - lost - error, 0.0)
