"""What the form of a formula tells: whether it is a proportion, and why it is undefined."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from assay.formula.exact import Cells, UndefinedRatio, enclosure
from assay.formula.text import plain
from assay.formula.tree import (
    HIT,
    Add,
    Cell,
    Divide,
    Expression,
    Multiply,
    N,
    Root,
    Total,
    split_coefficient,
)

# What each sum of cells counts, as regions of the table: the four cells of a binary one, the
# diagonal and the rest of a K x K one.
_REGIONS: Mapping[Expression, frozenset[str]] = {
    **{Cell(name): frozenset({name}) for name in ("TP", "FP", "FN", "TN")},
    Total(HIT): frozenset({"hit"}),
    N: frozenset({"hit", "miss"}),
}

_WORDS: Mapping[str, str] = {
    "TP + FP": "nothing was flagged",
    "TP + FN": "there are no positives",
    "TN + FP": "there are no negatives",
    "TN + FN": "everything was flagged",
    "TP + TN + FP + FN": "there are no rows",
    "TP + FP + FN": "nothing was flagged and there are no positives",
    "2 TP + FP + FN": "nothing was flagged and there are no positives",
    "FP": "there are no false positives",
    "FN": "there are no false negatives",
    "TP": "there are no true positives",
    "TN": "there are no true negatives",
    "N": "there are no rows",
    "ROW": "{label} has no rows",
    "COL": "{label} was never decided",
    "ROW + COL": "{label} has no rows and was never decided",
    "N - ROW": "every row is of {label}",
    "N - COL": "every row was decided as {label}",
}


@dataclass(frozen=True)
class Proportion:
    """A share of rows: some of those that are counted below."""

    successes: Expression
    trials: Expression


def proportion(expression: Expression) -> Proportion | None:
    """The successes and trials of a formula that is a share of rows, else None.

    It is one when both parts are plain sums of cells and the upper cells are among the lower
    ones: then the upper count is binomial given the lower, and Wilson and the other binomial
    intervals are legal.

    >>> from assay.formula import TP, FP, FN
    >>> proportion(TP / (TP + FP)) is not None, proportion(2 * TP / (2 * TP + FP + FN)) is None
    (True, True)
    """
    if not isinstance(expression, Divide):
        return None
    above, below = _regions(expression.numerator), _regions(expression.denominator)
    if above is None or below is None or not above <= below:
        return None
    return Proportion(expression.numerator, expression.denominator)


def _regions(expression: Expression) -> frozenset[str] | None:
    """The regions that a plain sum of cells counts once each, else None."""
    coefficients: dict[str, Fraction] = {}
    for term in expression.terms if isinstance(expression, Add) else (expression,):
        coefficient, atom = split_coefficient(term)
        if atom not in _REGIONS:
            return None
        for region in _REGIONS[atom]:
            coefficients[region] = coefficients.get(region, Fraction(0)) + coefficient
    if any(coefficient not in (0, 1) for coefficient in coefficients.values()):
        return None
    return frozenset(region for region, coefficient in coefficients.items() if coefficient)


def reason(expression: Expression, cells: Cells, labels: Sequence[str] | None = None) -> str | None:
    """Why the formula is undefined for these cells, in words; None where it is defined.

    >>> from assay.formula import TP, FN
    >>> reason(TP / (TP + FN), {"TP": 0, "FN": 0})
    'there are no positives (TP + FN = 0)'
    """
    try:
        enclosure(expression, cells)
    except UndefinedRatio as undefined:
        label = "a class"
        if undefined.of_class is not None and labels is not None:
            label = f"class {labels[undefined.of_class]!r}"
        zero = _vanishing(undefined.ratio.denominator, cells, undefined.of_class)
        text = plain(zero)
        words = _WORDS.get(text)
        if words is None:
            return f"its denominator is zero ({text} = 0)"
        return f"{words.format(label=label)} ({text} = 0)"
    return None


def _vanishing(denominator: Expression, cells: Cells, of_class: int | None) -> Expression:
    """The factor that makes a denominator zero, as deep as it can be told."""
    if isinstance(denominator, Root):
        return _vanishing(denominator.radicand, cells, of_class)
    if isinstance(denominator, Divide):
        return _vanishing(denominator.numerator, cells, of_class)
    if isinstance(denominator, Multiply):
        here = cells
        if of_class is not None:
            here = {
                name: found[of_class] if isinstance(found, Sequence) else found
                for name, found in cells.items()
            }
        for factor in denominator.factors:
            low, high = enclosure(factor, here)
            if low == high == 0:
                return _vanishing(factor, cells, of_class)
    return denominator
