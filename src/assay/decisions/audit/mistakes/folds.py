"""Means and spreads of folds: another divisor, the root left out, one statistic for another."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from assay.decisions.audit.claim import Claim, Key
from assay.decisions.audit.folds import folds_of
from assay.decisions.audit.mistakes.candidate import Candidate, Tier
from assay.decisions.audit.mistakes.plain import shifted
from assay.decisions.audit.values import Exact

_SAID = {
    "sd-ddof-0": "the standard deviation divided by k, not k - 1,",
    "sd-ddof-1": "the standard deviation divided by k - 1",
    "se-for-sd": "the standard error of the mean",
    "se-ddof-0": "the standard error of the mean with the deviation divided by k",
    "variance-for-sd": "the variance, whose root was not taken,",
    "variance-ddof-0": "the variance divided by k, whose root was not taken,",
}


def statistics(claim: Claim, key: Key) -> Iterator[Candidate]:
    """What else may have been made of the folds where this statistic belongs."""
    folds = folds_of(key, claim)
    if len(folds) < 2:
        return
    values = [fold.value for fold in folds]
    k, unit = len(values), max(fold.unit for fold in folds)
    mean = sum(values, Fraction(0)) / k
    squares = sum(((value - mean) ** 2 for value in values), Fraction(0))
    if key.statistic == "mean":
        yield from _means(values, mean, unit)
        return
    spreads = {
        "sd-ddof-0": _root(squares / k, unit),
        "sd-ddof-1": _root(squares / (k - 1), unit),
        "se-for-sd": _root(squares / (k - 1) / k, unit),
        "se-ddof-0": _root(squares / k / k, unit),
        "variance-for-sd": _wide(squares / (k - 1), unit * _root(squares / k, unit).high),
        "variance-ddof-0": _wide(squares / k, unit * _root(squares / k, unit).high),
    }
    right = "se-for-sd" if key.statistic == "se" else "sd-ddof-1"
    for mistake, value in spreads.items():
        tier = Tier.USUAL if mistake.startswith("sd") else Tier.ASSUMED
        if mistake == right:
            yield from shifted(value)
        else:
            name = "sd-for-se" if key.statistic == "se" and mistake == "sd-ddof-1" else mistake
            yield Candidate(name, _SAID[mistake], value, tier)


def _means(values: list[Fraction], mean: Fraction, unit: Fraction) -> Iterator[Candidate]:
    k, ordered = len(values), sorted(values)
    yield from shifted(_wide(mean, unit))
    median = (ordered[(k - 1) // 2] + ordered[k // 2]) / 2
    yield Candidate("median-for-mean", "the median of the folds", _wide(median, unit), Tier.ASSUMED)
    for said, value in (("best", ordered[-1]), ("worst", ordered[0])):
        yield Candidate(f"{said}-fold", f"the {said} fold alone", _wide(value, unit), Tier.ASSUMED)
    for divisor in (k - 1, k + 1):
        said = f"the sum of {k} folds divided by {divisor}"
        yield Candidate("wrong-n", said, _wide(mean * k / divisor, unit), Tier.ASSUMED)


def _wide(value: Fraction, unit: Fraction) -> Exact:
    """A value of folds that were rounded before they were printed."""
    return Exact.of(value).widened(unit / 2)


def _root(square: Fraction, unit: Fraction) -> Exact:
    # Rounding moves a deviation by no more than it moves a fold.
    return Exact.root(square).widened(unit / 2)
