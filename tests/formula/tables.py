"""Tables to evaluate formulas on, and the textbook definitions to compare with.

The definitions are text, so that sympy can read them as symbols and Python as exact numbers.
"""

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import mpmath
from hypothesis import strategies as st

from assay.formula import Expression, of_classes
from assay.formula.tree import (
    Add,
    Cell,
    Constant,
    Divide,
    GeometricMean,
    Multiply,
    Root,
    TimesLog,
    Total,
)
from assay.measures import AVERAGES, CATALOGUE

BINARY = ("TP", "FP", "FN", "TN")
CLASS = ("HIT", "ROW", "COL")
DIGITS = 100

Matrix = Sequence[Sequence[int]]
Cells = dict[str, Any]

# The measures that are shares of rows, so that intervals of a share are theirs.
PROPORTIONS = {
    "accuracy",
    "error_rate",
    "precision",
    "recall",
    "specificity",
    "false_positive_rate",
    "false_negative_rate",
    "false_discovery_rate",
    "false_omission_rate",
    "negative_predictive_value",
    "prevalence",
    "alert_rate",
    "jaccard",
}

# A classical textbook form of each measure, often not the form that the catalogue uses.
DEFINITIONS = {
    "accuracy": "(TP+TN)/(TP+FP+FN+TN)",
    "error_rate": "1-(TP+TN)/(TP+FP+FN+TN)",
    "precision": "TP/(TP+FP)",
    "recall": "TP/(TP+FN)",
    "specificity": "TN/(TN+FP)",
    "f1": "TP/(TP+(FP+FN)/2)",
    "f2": "5*TP/(5*TP+4*FN+FP)",
    "f0.5": "5*TP/(5*TP+FN+4*FP)",
    "false_positive_rate": "FP/(TN+FP)",
    "false_negative_rate": "FN/(TP+FN)",
    "false_discovery_rate": "FP/(TP+FP)",
    "false_omission_rate": "FN/(TN+FN)",
    "negative_predictive_value": "TN/(TN+FN)",
    "balanced_accuracy": "(TP/(TP+FN)+TN/(TN+FP))/2",
    "g_mean": "sqrt((TP/(TP+FN))*(TN/(TN+FP)))",
    "prevalence": "(TP+FN)/(TP+FP+FN+TN)",
    "alert_rate": "(TP+FP)/(TP+FP+FN+TN)",
    "informedness": "TP/(TP+FN)+TN/(TN+FP)-1",
    "markedness": "TP/(TP+FP)+TN/(TN+FN)-1",
    "mcc": "(TP*TN-FP*FN)/sqrt((TP+FP)*(TP+FN)*(TN+FP)*(TN+FN))",
    "kappa": (
        "((TP+TN)/(TP+FP+FN+TN)"
        "-((TP+FP)*(TP+FN)+(TN+FP)*(TN+FN))/((TP+FP+FN+TN)*(TP+FP+FN+TN)))"
        "/(1-((TP+FP)*(TP+FN)+(TN+FP)*(TN+FN))/((TP+FP+FN+TN)*(TP+FP+FN+TN)))"
    ),
    "jaccard": "TP/(TP+FP+FN)",
    "fowlkes_mallows": "TP/sqrt((TP+FP)*(TP+FN))",
    "positive_likelihood_ratio": "(TP/(TP+FN))/(FP/(FP+TN))",
    "negative_likelihood_ratio": "(FN/(TP+FN))/(TN/(FP+TN))",
    "diagnostic_odds_ratio": "(TP*TN)/(FP*FN)",
    "lift": "(TP/(TP+FP))/((TP+FN)/(TP+FP+FN+TN))",
    # Flach and Kull's form: the precision on a scale from the prevalence to 1, by harmonic means.
    "precision_gain": (
        "(TP/(TP+FP)-(TP+FN)/(TP+FP+FN+TN))/((1-(TP+FN)/(TP+FP+FN+TN))*(TP/(TP+FP)))"
    ),
    "recall_gain": ("(TP/(TP+FN)-(TP+FN)/(TP+FP+FN+TN))/((1-(TP+FN)/(TP+FP+FN+TN))*(TP/(TP+FN)))"),
    # Mutual information over entropy, as sums of x ln x: H(truth) + H(alarm) - H(both).
    "c_id": (
        "(xlogx(TP+FP+FN+TN)-xlogx(TP+FN)-xlogx(FP+TN)-xlogx(TP+FP)-xlogx(FN+TN)"
        "+xlogx(TP)+xlogx(FP)+xlogx(FN)+xlogx(TN))"
        "/(xlogx(TP+FP+FN+TN)-xlogx(TP+FN)-xlogx(FP+TN))"
    ),
}

FORMULAS: dict[str, Expression] = {m.name: m.formula for m in CATALOGUE if m.formula is not None}
CLASS_FORMULAS: dict[str, Expression] = {
    m.name: m.classes for m in CATALOGUE if m.classes is not None
}
AVERAGED: dict[str, Expression] = {
    f"{name} {average}": of_classes(formula, average)
    for name, formula in FORMULAS.items()
    for average in AVERAGES
}
OVER_CLASSES = {**CLASS_FORMULAS, **AVERAGED}


def defined(name: str, cells: Mapping[str, int | Fraction]) -> Fraction | mpmath.mpf | None:
    """The textbook value: exact where it is rational, else to 100 digits; None where 0/0."""
    text = DEFINITIONS[name]
    with mpmath.workdps(3 * DIGITS):
        number: Callable[[Any], Any] = Fraction if rational(name) else _to_mpmath
        values = {cell: number(cells[cell]) for cell in BINARY}
        try:
            value = eval(text, {"sqrt": mpmath.sqrt, "xlogx": _xlogx}, values)
        except ZeroDivisionError:
            return None
        # Logarithms that cancel leave what they were rounded by.
        return value if rational(name) or abs(value) > mpmath.mpf(10) ** -DIGITS else mpmath.mpf(0)


def rational(name: str) -> bool:
    """Whether a measure is a ratio of whole numbers."""
    return not any(word in DEFINITIONS[name] for word in ("sqrt", "log"))


def _to_mpmath(number: int | Fraction) -> mpmath.mpf:
    return mpmath.mpf(number.numerator) / number.denominator


def _xlogx(number: mpmath.mpf) -> mpmath.mpf:
    return number * mpmath.log(number) if number else number


def nearest(exact: Fraction | mpmath.mpf | None) -> float:
    """The float64 that is nearest to an exact number; nan for none."""
    if exact is None:
        return math.nan
    with mpmath.workdps(60):
        if isinstance(exact, Fraction):
            exact = mpmath.mpf(exact.numerator) / exact.denominator
        return float(exact)


def same(a: float, b: float) -> bool:
    """Equal numbers, or both nan."""
    return a == b or (math.isnan(a) and math.isnan(b))


def class_cells(matrix: Matrix) -> Cells:
    """What formulas over classes read of a matrix whose rows are the truth."""
    size = range(len(matrix))
    return {
        "HIT": [matrix[i][i] for i in size],
        "ROW": [sum(matrix[i]) for i in size],
        "COL": [sum(matrix[j][i] for j in size) for i in size],
        "N": sum(map(sum, matrix)),
        "K": len(matrix),
    }


def against_rest(matrix: Matrix, label: int) -> Cells:
    """The four cells with one label as the positive, counted cell by cell."""
    cells = dict.fromkeys(BINARY, 0)
    for i, j in itertools.product(range(len(matrix)), repeat=2):
        name = ("TN", "FP", "FN", "TP")[2 * (i == label) + (j == label)]
        cells[name] += matrix[i][j]
    return cells


def tables(largest: int = 10**6) -> st.SearchStrategy[dict[str, int]]:
    """Four cells, zeros often among them."""
    cell = st.one_of(st.just(0), st.integers(0, 5), st.integers(0, largest))
    return st.fixed_dictionaries(dict.fromkeys(BINARY, cell))


def matrices(largest: int = 10**5, most: int = 5) -> st.SearchStrategy[Matrix]:
    """Square tables of 2 to ``most`` classes, zeros often among the cells."""
    cell = st.one_of(st.just(0), st.integers(0, 5), st.integers(0, largest))

    def square(k: int) -> st.SearchStrategy[Matrix]:
        return st.lists(st.lists(cell, min_size=k, max_size=k), min_size=k, max_size=k)

    return st.integers(2, most).flatmap(square)


# -- how far float64 may be off -------------------------------------------------------------------

UNIT = mpmath.mpf(2) ** -53


def error_bound(expression: Expression, cells: Cells) -> tuple[mpmath.mpf, mpmath.mpf]:
    """The value and a first-order bound on its float64 error, by running error analysis.

    Each operation rounds once; logarithm and exponential are allowed four units. The bound is
    doubled for what is left out, and holds for cells up to 2^53.
    """
    with mpmath.workdps(60):
        value, error = _bounded(expression, cells, None)
        return value, 2 * error + UNIT * abs(value)


def _bounded(expression: Expression, cells: Cells, k: int | None) -> tuple[Any, Any]:
    match expression:
        case Cell(name):
            cell = cells[name] if k is None or name not in CLASS else cells[name][k]
            return mpmath.mpf(cell), mpmath.mpf(0)
        case Constant(number):
            exact = mpmath.mpf(number.numerator) / number.denominator
            return exact, UNIT * abs(exact)
        case Add(terms):
            return _sum([_bounded(term, cells, k) for term in terms])
        case Multiply(factors):
            return _product([_bounded(factor, cells, k) for factor in factors])
        case Divide(numerator, denominator):
            (a, ea), (b, eb) = (_bounded(e, cells, k) for e in (numerator, denominator))
            return a / b, (ea + abs(a / b) * eb) / (abs(b) - eb) + UNIT * abs(a / b)
        case Root(radicand):
            x, error = _bounded(radicand, cells, k)
            root = mpmath.sqrt(x)
            return root, (error / root if x else mpmath.sqrt(error)) + UNIT * root
        case TimesLog(factor, argument):
            return _times_log(_bounded(factor, cells, k), argument, cells, k)
        case Total(body):
            return _sum([_bounded(body, cells, c) for c in range(cells["K"])])
        case GeometricMean(body):
            return _geometric([_bounded(body, cells, c) for c in range(cells["K"])])
    raise TypeError(expression)


def _sum(terms: list[tuple[Any, Any]]) -> tuple[Any, Any]:
    size = sum(abs(x) + e for x, e in terms)
    return sum(x for x, _ in terms), sum(e for _, e in terms) + (len(terms) - 1) * UNIT * size


def _product(factors: list[tuple[Any, Any]]) -> tuple[Any, Any]:
    exact, largest = mpmath.mpf(1), mpmath.mpf(1)
    for x, e in factors:
        exact, largest = exact * x, largest * (abs(x) + e)
    return exact, largest - abs(exact) + (len(factors) - 1) * UNIT * largest


def _times_log(
    factor: tuple[Any, Any], argument: Expression, cells: Cells, k: int | None
) -> tuple[Any, Any]:
    if not factor[0]:
        return factor
    x, error = _bounded(argument, cells, k)
    log = mpmath.log(x)
    return _product([factor, (log, error / (x - error) + 4 * UNIT * abs(log))])


def _geometric(factors: list[tuple[Any, Any]]) -> tuple[Any, Any]:
    if any(x == 0 for x, _ in factors):
        return mpmath.mpf(0), mpmath.mpf(0)
    logs = [(mpmath.log(x), e / x + 4 * UNIT * abs(mpmath.log(x))) for x, e in factors]
    total, error = _sum(logs)
    mean = mpmath.exp(total / len(logs))
    return mean, mean * (error / len(logs) + (abs(total) / len(logs) + 4) * UNIT)
