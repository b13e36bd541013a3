"""What the form of a formula tells: whether it is a proportion, and why it is undefined."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from assay.formula.exact import Cells, enclosure
from assay.formula.single import UndefinedRatio, once
from assay.formula.text import plain
from assay.formula.tree import (
    FN,
    FP,
    HIT,
    TN,
    TP,
    Add,
    Cell,
    Divide,
    Expression,
    Multiply,
    N,
    Number,
    Root,
    Total,
    split_coefficient,
    substitute,
)

# What each sum of cells counts, as regions of the table: the four cells of a binary one, the
# diagonal and the rest of a K x K one.
_REGIONS: Mapping[Expression, frozenset[str]] = {
    **{Cell(name): frozenset({name}) for name in ("TP", "FP", "FN", "TN")},
    Total(HIT): frozenset({"hit"}),
    N: frozenset({"hit", "miss"}),
}

# What it means that some cells are all zero, smallest sets first.
_WORDS: Mapping[frozenset[str], tuple[str, str]] = {
    frozenset(cells.split()): (of_rows, of_class)
    for cells, of_rows, of_class in (
        ("FP", "there are no false positives", "{label} was never decided wrongly"),
        ("FN", "there are no false negatives", "no row of {label} was missed"),
        ("TP", "there are no true positives", "no row of {label} was decided right"),
        ("TN", "there are no true negatives", "no other row was decided as another class"),
        ("TP FP", "nothing was flagged", "{label} was never decided"),
        ("TP FN", "there are no positives", "{label} has no rows"),
        ("TN FP", "there are no negatives", "every row is of {label}"),
        ("TN FN", "everything was flagged", "every row was decided as {label}"),
        ("TP TN", "no decision is right", "no decision about {label} is right"),
        ("FP FN", "no decision is wrong", "no decision about {label} is wrong"),
        (
            "TP FP FN",
            "nothing was flagged and there are no positives",
            "{label} has no rows and was never decided",
        ),
        (
            "TN FP FN",
            "there are no negatives and everything was flagged",
            "every row is of {label} and was decided as it",
        ),
        ("TP TN FN", "every row is a false positive", "every row was wrongly decided as {label}"),
        ("TP TN FP", "every row is a false negative", "every row of {label} was missed"),
        ("TP TN FP FN", "there are no rows", "there are no rows"),
    )
}

_OVERALL: Mapping[str, str] = {
    "N - sum(HIT)": "no decision is wrong",
    "N N - sum(ROW ROW)": "every row is of one class",
    "N N - sum(COL COL)": "every row was decided as one class",
    "N N - sum(ROW COL)": "every row is of one class and was decided as it",
}

# A class against the rest, in binary cells.
_BINARY: Mapping[str, Expression] = {
    "HIT": TP,
    "ROW": TP + FN,
    "COL": TP + FP,
    "N": TP + TN + FP + FN,
}


@dataclass(frozen=True)
class Proportion:
    """A share of rows: some of those that are counted below."""

    successes: Expression
    trials: Expression


@once
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
        denominator, k = undefined.ratio.denominator, undefined.of_class
        if k is None and "HIT" in cells:
            if cells["N"] == 0:
                return "there are no rows (N = 0)"
            text = plain(_vanishing(denominator, cells))
            return f"{_OVERALL.get(text, 'its denominator is zero')} ({text} = 0)"
        label = "a class" if k is None or labels is None else f"class {labels[k]!r}"
        binary = cells if k is None else _one_versus_rest(cells, k)
        if k is not None:
            denominator = substitute(denominator, _BINARY)
        return _words(denominator, binary, None if k is None else label)
    return None


def _words(denominator: Expression, cells: Cells, label: str | None) -> str:
    """Name the fewest empty cells that make a denominator zero whatever the others are."""
    for names, (of_rows, of_class) in _WORDS.items():
        if all(cells.get(name) == 0 for name in names) and _is_zero_without(denominator, names):
            said = of_rows if label is None else of_class.format(label=label)
            shown = " + ".join(name for name in ("TP", "TN", "FP", "FN") if name in names)
            return f"{said} ({shown} = 0)"
    return f"its denominator is zero ({plain(denominator)} = 0)"


def _is_zero_without(denominator: Expression, names: frozenset[str]) -> bool:
    """Whether a denominator is zero whenever some cells are, tried with unlike counts."""
    others = {"TP": 101, "TN": 211, "FP": 307, "FN": 401}
    tried = {name: 0 if name in names else count for name, count in others.items()}
    try:
        low, high = enclosure(denominator, tried)
    except UndefinedRatio:
        return False
    return low == high == 0


def _one_versus_rest(cells: Cells, k: int) -> dict[str, Number]:
    found = {}
    for name in ("HIT", "ROW", "COL"):
        of_classes = cells[name]
        assert isinstance(of_classes, Sequence)  # noqa: S101 - class cells have a value a class
        found[name] = of_classes[k]
    total = cells["N"]
    assert not isinstance(total, Sequence)  # noqa: S101 - N is one number
    hit, row, column = found["HIT"], found["ROW"], found["COL"]
    return {"TP": hit, "FP": column - hit, "FN": row - hit, "TN": total - row - column + hit}


def _vanishing(denominator: Expression, cells: Cells) -> Expression:
    """The factor that makes a denominator zero, as deep as it can be told."""
    if isinstance(denominator, Root):
        return _vanishing(denominator.radicand, cells)
    if isinstance(denominator, Multiply):
        for factor in denominator.factors:
            low, high = enclosure(factor, cells)
            if low == high == 0:
                return _vanishing(factor, cells)
    return denominator
