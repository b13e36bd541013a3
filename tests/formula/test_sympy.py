"""Formulas against sympy: values, derivatives, and the text that people read."""

import re
from fractions import Fraction
from typing import Any

import mpmath
import pytest
import sympy
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from assay.formula import (
    FN,
    FP,
    TN,
    TP,
    Expression,
    constant,
    derivative,
    evaluate,
    plain,
    rounded,
    sqrt,
    times_log,
    value,
)
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
from assay.measures import CATALOGUE, Costs, find

from .tables import BINARY, CLASS, DEFINITIONS, FORMULAS, OVER_CLASSES, class_cells

SYMBOLS = {name: sympy.Symbol(name, positive=True) for name in (*BINARY, "N", "K")}
CELLS: dict[str, Expression] = {"TP": TP, "FP": FP, "FN": FN, "TN": TN}
MATRIX = [[45, 3, 2], [4, 38, 3], [1, 2, 52]]
Recipe = Any


# -- random trees, drawn as recipes and built twice -----------------------------------------------

leaves = st.one_of(
    st.sampled_from(BINARY),
    st.integers(-3, 3),
    st.fractions(-3, 3, max_denominator=4),
)
recipes = st.recursive(
    leaves,
    lambda below: st.one_of(
        st.tuples(st.sampled_from("+-*/"), below, below),
        st.tuples(st.just("sqrt"), below),
        st.tuples(st.just("log"), below, below),
    ),
    max_leaves=8,
)
small_tables = st.fixed_dictionaries(dict.fromkeys(BINARY, st.integers(1, 30)))


def _built(recipe: Recipe) -> Expression:
    """The recipe as a formula. What goes under a root or a logarithm is squared first."""
    match recipe:
        case str(name):
            return CELLS[name]
        case ("+", a, b):
            return _built(a) + _built(b)
        case ("-", a, b):
            return _built(a) - _built(b)
        case ("*", a, b):
            return _built(a) * _built(b)
        case ("/", a, b):
            return _built(a) / _built(b)
        case ("sqrt", a):
            return sqrt(_built(a) * _built(a) + 1)
        case ("log", a, b):
            return times_log(_built(a), _built(b) * _built(b) + 2)
    return constant(recipe)


def _symbolic(recipe: Recipe) -> Any:
    """The recipe as sympy reads it."""
    match recipe:
        case str(name):
            return SYMBOLS[name]
        case ("+", a, b):
            return _symbolic(a) + _symbolic(b)
        case ("-", a, b):
            return _symbolic(a) - _symbolic(b)
        case ("*", a, b):
            return _symbolic(a) * _symbolic(b)
        case ("/", a, b):
            return _symbolic(a) / _symbolic(b)
        case ("sqrt", a):
            return sympy.sqrt(_symbolic(a) ** 2 + 1)
        case ("log", a, b):
            return _symbolic(a) * sympy.log(_symbolic(b) ** 2 + 2)
    return sympy.Rational(Fraction(recipe).numerator, Fraction(recipe).denominator)


def _number(recipe: Recipe, table: dict[str, int]) -> mpmath.mpf:
    """The recipe worked out to 100 digits; ZeroDivisionError where a denominator is zero."""
    match recipe:
        case str(name):
            return mpmath.mpf(table[name])
        case ("+", a, b):
            return _number(a, table) + _number(b, table)
        case ("-", a, b):
            return _number(a, table) - _number(b, table)
        case ("*", a, b):
            return _number(a, table) * _number(b, table)
        case ("/", a, b):
            below = _number(b, table)
            if abs(below) < mpmath.mpf(10) ** -60:
                raise ZeroDivisionError
            return _number(a, table) / below
        case ("sqrt", a):
            return mpmath.sqrt(_number(a, table) ** 2 + 1)
        case ("log", a, b):
            return _number(a, table) * mpmath.log(_number(b, table) ** 2 + 2)
    return mpmath.mpf(Fraction(recipe).numerator) / Fraction(recipe).denominator


@settings(max_examples=300)
@given(recipe=recipes, table=small_tables)
def test_a_random_formula_has_the_value_of_its_parts(recipe: Recipe, table: dict[str, int]) -> None:
    with mpmath.workdps(100):
        try:
            exact = _number(recipe, table)
        except ZeroDivisionError:
            assume(False)
        number = value(_built(recipe), table)
        assert number == float(exact) or abs(exact) < mpmath.mpf(10) ** -60 > abs(number)


@settings(max_examples=300)
@given(recipe=recipes, table=small_tables)
def test_a_random_formula_reads_back_from_its_text(recipe: Recipe, table: dict[str, int]) -> None:
    formula = _built(recipe)
    rounded_value = rounded(formula, table, 40)
    assume(rounded_value is not None)
    exact = sympy.N(_read_back(plain(formula)).subs(table), 60)
    assert abs(exact - sympy.Rational(str(rounded_value))) <= sympy.Rational(1, 10**40)


def _read_back(text: str) -> Any:
    """Text as sympy reads it once the products that stand side by side have their sign."""
    return sympy.sympify(re.sub(r"(?<=[\w)]) (?=[\w(])", "*", text), locals={"N": SYMBOLS["N"]})


def _definition(name: str) -> Any:
    """The textbook form, as sympy reads it."""
    return sympy.sympify(DEFINITIONS[name], locals={**SYMBOLS, "xlogx": lambda x: x * sympy.log(x)})


def _is_zero(difference: Any) -> bool:
    """Whether an expression of positive symbols is 0, logarithms of products taken apart."""
    above, _ = sympy.fraction(sympy.together(sympy.expand_log(difference)))
    return sympy.expand(above) == 0 or sympy.simplify(difference) == 0


@pytest.mark.parametrize("name", FORMULAS)
def test_the_text_of_a_formula_reads_back_as_its_definition(name: str) -> None:
    read = _read_back(plain(FORMULAS[name])).subs(SYMBOLS)
    assert _is_zero(read - _definition(name))


@settings(max_examples=80)
@given(recipe=recipes, table=small_tables, cell=st.sampled_from(BINARY))
def test_a_derivative_of_a_random_formula_is_that_of_sympy(
    recipe: Recipe, table: dict[str, int], cell: str
) -> None:
    formula = _built(recipe)
    with mpmath.workdps(100):
        try:
            _number(recipe, table)
        except ZeroDivisionError:
            assume(False)
    expected = sympy.diff(_symbolic(recipe), SYMBOLS[cell]).subs(
        {SYMBOLS[name]: count for name, count in table.items()}
    )
    expected = sympy.N(expected, 40)
    assume(expected.is_finite)
    rounded_value = rounded(derivative(formula, cell), table, 40)
    assert abs(sympy.Rational(str(rounded_value)) - expected) <= 10**-30 * (1 + abs(expected))


# -- the catalogue --------------------------------------------------------------------------------


def _sympy_of(expression: Expression, k: int | None = None, classes: int = 0) -> Any:
    """A tree as sympy reads it; a class cell has one symbol a class."""

    def each(body: Expression) -> list[Any]:
        return [_sympy_of(body, i, classes) for i in range(classes)]

    def of(child: Expression) -> Any:
        return _sympy_of(child, k, classes)

    match expression:
        case Cell(name):
            return sympy.Symbol(f"{name}{k}", positive=True) if name in CLASS else SYMBOLS[name]
        case Constant(number):
            return sympy.Rational(number.numerator, number.denominator)
        case Add(terms):
            return sympy.Add(*(of(term) for term in terms))
        case Multiply(factors):
            return sympy.Mul(*(of(factor) for factor in factors))
        case Divide(numerator, denominator):
            return of(numerator) / of(denominator)
        case Root(radicand):
            return sympy.sqrt(of(radicand))
        case TimesLog(factor, argument):
            return of(factor) * sympy.log(of(argument))
        case Total(body):
            return sympy.Add(*each(body))
        case GeometricMean(body):
            return sympy.Mul(*each(body)) ** sympy.Rational(1, classes)
    raise TypeError(expression)


@pytest.mark.parametrize("name", FORMULAS)
def test_a_formula_of_the_catalogue_is_its_definition(name: str) -> None:
    assert _is_zero(_sympy_of(FORMULAS[name]) - _definition(name))


# With the threshold at which a false alarm and a miss weigh alike, as decision curves write it.
COSTED = {
    "expected_cost": "(C_FP*FP + C_FN*FN)/(TP+FP+FN+TN)",
    "net_benefit": ("TP/(TP+FP+FN+TN) - FP/(TP+FP+FN+TN)*(C_FP/(C_FP+C_FN))/(1-C_FP/(C_FP+C_FN))"),
}


def test_every_measure_of_costs_has_a_definition_to_compare_with() -> None:
    assert set(COSTED) == {measure.name for measure in CATALOGUE if measure.of_costs is not None}


@pytest.mark.parametrize("name", COSTED)
@pytest.mark.parametrize("costs", [(1, 1), (1, 20), (Fraction(5, 2), Fraction(1, 3))], ids=str)
def test_a_formula_of_costs_is_its_definition(
    name: str, costs: tuple[int | Fraction, int | Fraction]
) -> None:
    formula = find(name).priced(Costs(*map(Fraction, costs))).formula
    values = [sympy.Rational(Fraction(c).numerator, Fraction(c).denominator) for c in costs]
    definition = sympy.sympify(COSTED[name], locals=SYMBOLS)
    definition = definition.subs(dict(zip(("C_FP", "C_FN"), values, strict=True)))
    assert _is_zero(_sympy_of(formula) - definition)


@pytest.mark.sampled(60)
@pytest.mark.parametrize("cell", BINARY)
@pytest.mark.parametrize("name", FORMULAS)
def test_a_derivative_of_the_catalogue_is_that_of_sympy(name: str, cell: str) -> None:
    exact = sympy.diff(_definition(name), SYMBOLS[cell])
    slope = derivative(FORMULAS[name], cell)
    for table in ((7, 3, 2, 11), (1, 1, 1, 1), (6635, 167, 324, 7743), (1, 10**9, 5, 10**12)):
        cells = dict(zip(BINARY, table, strict=True))
        expected = float(sympy.N(exact.subs({SYMBOLS[c]: n for c, n in cells.items()}), 40))
        assert value(slope, cells) == pytest.approx(expected, rel=1e-15, abs=0)


@pytest.mark.sampled(12)
@pytest.mark.parametrize("name", OVER_CLASSES)
def test_a_derivative_over_classes_is_that_of_sympy(name: str) -> None:
    formula = OVER_CLASSES[name]
    cells = class_cells(MATRIX)
    at = {SYMBOLS["N"]: cells["N"], SYMBOLS["K"]: cells["K"]}
    at |= {sympy.Symbol(f"{c}{i}", positive=True): n for c in CLASS for i, n in enumerate(cells[c])}
    whole = _sympy_of(formula, None, len(MATRIX))
    for cell in CLASS:
        slopes = [sympy.diff(whole, sympy.Symbol(f"{cell}{i}", positive=True)) for i in range(3)]
        expected = [float(sympy.N(slope.subs(at), 30)) for slope in slopes]
        number = evaluate(derivative(formula, cell), cells)
        tolerance = {"rel": 1e-10, "abs": 1e-16}
        assert list(number + [0.0] * 3) == pytest.approx(expected, **tolerance)
    for cell in ("N", "K"):
        if cell == "K" and name == "g_mean":
            continue  # its exponent 1/K is the number of classes, which does not vary
        slope = sympy.N(sympy.diff(whole, SYMBOLS[cell]).subs(at), 30)
        number = float(evaluate(derivative(formula, cell), cells))
        assert number == pytest.approx(float(slope), rel=1e-10, abs=1e-16)


@pytest.mark.sampled(30)
@pytest.mark.parametrize("name", OVER_CLASSES)
def test_a_derivative_over_classes_is_a_quotient_of_small_differences(name: str) -> None:
    formula, cells = OVER_CLASSES[name], class_cells(MATRIX)
    step = Fraction(1, 10**12)

    def at(cell: str, i: int, shift: Fraction) -> Fraction:
        moved = [n + shift * (j == i) for j, n in enumerate(cells[cell])]
        return Fraction(rounded(formula, {**cells, cell: moved}, 60) or 0)

    for cell in CLASS:
        number = evaluate(derivative(formula, cell), cells) + [0.0] * 3
        for i in range(3):
            slope = (at(cell, i, step) - at(cell, i, -step)) / (2 * step)
            assert number[i] == pytest.approx(float(slope), rel=1e-10, abs=1e-16)
