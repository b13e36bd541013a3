"""A formula as text: for people, for papers, for browsers."""

from __future__ import annotations

from collections.abc import Callable

from assay.formula.tree import (
    CLASS_CELLS,
    ONE,
    Add,
    Cell,
    Constant,
    Divide,
    Expression,
    GeometricMean,
    Multiply,
    Root,
    TimesLog,
    Total,
    split_coefficient,
)

_LATEX_CELLS = {
    "HIT": "C_{ii}",
    "ROW": "r_i",
    "COL": "c_i",
    "C_FP": "C_{FP}",
    "C_FN": "C_{FN}",
}

# Generated formulas call these.
JAVASCRIPT_PRELUDE = """\
const ratio = (a, b) => (b === 0 ? NaN : a / b);
const timesLog = (a, b) => (a === 0 ? 0 : a * Math.log(b));
const total = (k, f) => { let s = 0; for (let i = 0; i < k; i++) s += f(i); return s; };
const geometricMean = (k, f) => Math.exp(total(k, (i) => Math.log(f(i))) / k);
"""


def plain(expression: Expression) -> str:
    """The formula on one line.

    >>> from assay.formula import TP, FP
    >>> plain(TP / (TP + FP))
    'TP / (TP + FP)'
    """
    match expression:
        case Cell(name):
            return name
        case Constant(value):
            return str(value)
        case Add(terms):
            return _signed([_sign(term, plain) for term in terms])
        case Multiply(factors):
            coefficient, rest = split_coefficient(expression)
            if coefficient == -1:
                return f"-{_operand(rest)}"
            return " ".join(_operand(factor) for factor in factors)
        case Divide(numerator, denominator):
            below = plain(denominator)
            if isinstance(denominator, Add | Multiply | Divide | TimesLog):
                below = f"({below})"
            above = plain(numerator)
            return (
                f"({above}) / {below}"
                if isinstance(numerator, Add | Divide)
                else (f"{above} / {below}")
            )
        case Root(radicand):
            return f"sqrt({plain(radicand)})"
        case TimesLog(factor, argument):
            times = "" if factor == ONE else f"{_operand(factor)} "
            return f"{times}ln({plain(argument)})"
        case Total(body):
            return f"sum({plain(body)})"
        case GeometricMean(body):
            return f"geometric mean({plain(body)})"
    raise TypeError(f"not an expression: {expression!r}")


def _operand(expression: Expression) -> str:
    text = plain(expression)
    if isinstance(expression, TimesLog):
        return text
    return f"({text})" if isinstance(expression, Add | Divide) or "/" in text else text


def latex(expression: Expression) -> str:
    """The formula for a paper, for use in math mode."""
    match expression:
        case Cell(name):
            return _LATEX_CELLS.get(name, name)
        case Constant(value):
            if value.denominator == 1:
                return str(value)
            return rf"\frac{{{value.numerator}}}{{{value.denominator}}}"
        case Add(terms):
            return _signed([_sign(term, latex) for term in terms])
        case Multiply(factors):
            coefficient, rest = split_coefficient(expression)
            if coefficient == -1:
                return f"-{_latex_operand(rest)}"
            last = len(factors) - 1
            return r" \cdot ".join(
                # A sum over classes reaches to the end of its term.
                rf"\left({latex(factor)}\right)"
                if isinstance(factor, Total) and i < last
                else _latex_operand(factor)
                for i, factor in enumerate(factors)
            )
        case Divide(numerator, denominator):
            return rf"\frac{{{latex(numerator)}}}{{{latex(denominator)}}}"
        case Root(radicand):
            return rf"\sqrt{{{latex(radicand)}}}"
        case TimesLog(factor, argument):
            times = "" if factor == ONE else f"{_latex_operand(factor)} "
            return rf"{times}\ln\left({latex(argument)}\right)"
        case Total(body):
            return rf"\sum_i {_latex_operand(body)}"
        case GeometricMean(body):
            return rf"\Bigl(\prod_i {_latex_operand(body)}\Bigr)^{{1/K}}"
    raise TypeError(f"not an expression: {expression!r}")


def _latex_operand(expression: Expression) -> str:
    text = latex(expression)
    return rf"\left({text}\right)" if isinstance(expression, Add) else text


def javascript(expression: Expression) -> str:
    """The formula as a JavaScript expression.

    Binary cells are the variables ``tp fp fn tn``; class cells are the arrays ``hit row col``,
    with the numbers ``n`` and ``k``. :data:`JAVASCRIPT_PRELUDE` defines the functions it calls.

    >>> from assay.formula import TP, FP
    >>> javascript(TP / (TP + FP))
    'ratio(tp, (tp + fp))'
    """
    match expression:
        case Cell(name):
            return f"{name.lower()}[i]" if name in CLASS_CELLS else name.lower()
        case Constant(value):
            if value.denominator == 1:
                return str(value.numerator)
            return f"({value.numerator} / {value.denominator})"
        case Add(terms):
            return f"({_signed([_sign(term, javascript) for term in terms])})"
        case Multiply(factors):
            return " * ".join(javascript(factor) for factor in factors)
        case Divide(numerator, denominator):
            return f"ratio({javascript(numerator)}, {javascript(denominator)})"
        case Root(radicand):
            return f"Math.sqrt({javascript(radicand)})"
        case TimesLog(factor, argument):
            return f"timesLog({javascript(factor)}, {javascript(argument)})"
        case Total(body):
            return f"total(k, (i) => {javascript(body)})"
        case GeometricMean(body):
            return f"geometricMean(k, (i) => {javascript(body)})"
    raise TypeError(f"not an expression: {expression!r}")


def _sign(term: Expression, write: Callable[[Expression], str]) -> tuple[str, str]:
    """A term as its sign and the text without the sign."""
    coefficient, rest = split_coefficient(term)
    return ("-", write(-coefficient * rest)) if coefficient < 0 else ("+", write(term))


def _signed(terms: list[tuple[str, str]]) -> str:
    (sign, first), *others = terms
    start = f"-{first}" if sign == "-" else first
    return start + "".join(f" {sign} {text}" for sign, text in others)
