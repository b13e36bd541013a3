"""Count measures against exact rationals: 50,000 tables with counts up to 10^18.

`make test` has 2,500 of them.

The definitions are written here as textbooks have them, on `fractions`, without the formulas of the
package. A value must be the correctly rounded float, and nan exactly where the definition divides
by zero.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from decimal import ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction

import mpmath
import pytest
from tests.laws.counted import of_cells, of_matrix

from assay.counts import Confusion
from assay.formula import at_base_rate, of_classes, rounded, value
from assay.measures import AVERAGES, CATALOGUE, find

CHUNKS, TABLES_A_CHUNK = 20, 2500
LARGEST = 10**18

Definition = Callable[[int, int, int, int], float]


# -- rounding once ---------------------------------------------------------------------------------


def rounded_root(number: Fraction, degree: int = 2) -> float:
    """The root as the nearest float: some 70 bits of it, and whether any are left."""
    top, bottom = number.numerator, number.denominator
    if top == 0:
        return 0.0
    shift = max(0, 80 + (bottom.bit_length() - top.bit_length()) // degree + 1)
    scaled = (top << (degree * shift)) // bottom
    root = math.isqrt(scaled) if degree == 2 else integer_root(scaled, degree)
    rest = root**degree * bottom != top << (degree * shift)
    return float(Fraction(2 * root + rest, 2 << shift))


def integer_root(number: int, degree: int) -> int:
    """The largest integer whose power is not larger, by halving."""
    low, high = 0, 1 << (number.bit_length() // degree + 1)
    while high - low > 1:
        middle = (low + high) // 2
        if middle**degree <= number:
            low = middle
        else:
            high = middle
    return low


# -- textbook definitions --------------------------------------------------------------------------


def precision(tp: int, fp: int, fn: int, tn: int) -> Fraction:
    return Fraction(tp, tp + fp)


def recall(tp: int, fp: int, fn: int, tn: int) -> Fraction:
    return Fraction(tp, tp + fn)


def specificity(tp: int, fp: int, fn: int, tn: int) -> Fraction:
    return Fraction(tn, tn + fp)


def negative_predictive_value(tp: int, fp: int, fn: int, tn: int) -> Fraction:
    return Fraction(tn, tn + fn)


def f_beta(beta: Fraction) -> Callable[..., Fraction]:
    """The weighted harmonic mean of precision and recall; 0 when both are."""

    def definition(tp: int, fp: int, fn: int, tn: int) -> Fraction:
        if tp == 0:
            return Fraction(0, fp + fn)
        p, r = precision(tp, fp, fn, tn), recall(tp, fp, fn, tn)
        return (1 + beta**2) / (1 / p + beta**2 / r)

    return definition


def balanced_accuracy(*cells: int) -> Fraction:
    return (recall(*cells) + specificity(*cells)) / 2


def g_mean(*cells: int) -> float:
    return rounded_root(recall(*cells) * specificity(*cells))


def informedness(*cells: int) -> Fraction:
    return recall(*cells) + specificity(*cells) - 1


def markedness(*cells: int) -> Fraction:
    return precision(*cells) + negative_predictive_value(*cells) - 1


def mcc(tp: int, fp: int, fn: int, tn: int) -> float:
    """The correlation of two columns of zeros and ones."""
    n = tp + fp + fn + tn
    true, said = Fraction(tp + fn, n), Fraction(tp + fp, n)
    covariance = Fraction(tp, n) - true * said
    square = covariance**2 / (true * (1 - true) * said * (1 - said))
    return math.copysign(rounded_root(square), covariance)


def kappa(tp: int, fp: int, fn: int, tn: int) -> Fraction:
    n = tp + fp + fn + tn
    observed = Fraction(tp + tn, n)
    chance = Fraction((tp + fn) * (tp + fp) + (tn + fp) * (tn + fn), n * n)
    return (observed - chance) / (1 - chance)


def odds(tp: int, fp: int, fn: int, tn: int) -> Fraction:
    return Fraction(tp + fn, fp + tn)


def positive_likelihood_ratio(*cells: int) -> Fraction:
    return recall(*cells) / (1 - specificity(*cells))


def negative_likelihood_ratio(*cells: int) -> Fraction:
    return (1 - recall(*cells)) / specificity(*cells)


def c_id(*cells: int) -> float:
    """The information that decision and truth share over the entropy of the truth, in bits."""
    tp, fp, fn, tn = cells
    if tp * tn == fp * fn and (tp + fn) * (fp + tn):
        return 0.0
    with mpmath.workdps(120):
        n = mpmath.mpf(sum(cells))

        def entropy(*counts: int) -> mpmath.mpf:
            shares = [count / n for count in counts if count]
            return -mpmath.fsum(share * mpmath.log(share, 2) for share in shares)

        truth = entropy(tp + fn, fp + tn)
        return float((truth + entropy(tp + fp, fn + tn) - entropy(*cells)) / truth)


DEFINITIONS: dict[str, Callable[..., Fraction | float]] = {
    "accuracy": lambda tp, fp, fn, tn: Fraction(tp + tn, tp + fp + fn + tn),
    "error_rate": lambda tp, fp, fn, tn: 1 - Fraction(tp + tn, tp + fp + fn + tn),
    "precision": precision,
    "recall": recall,
    "specificity": specificity,
    "f1": f_beta(Fraction(1)),
    "f2": f_beta(Fraction(2)),
    "f0.5": f_beta(Fraction(1, 2)),
    "false_positive_rate": lambda *cells: 1 - specificity(*cells),
    "false_negative_rate": lambda *cells: 1 - recall(*cells),
    "false_discovery_rate": lambda *cells: 1 - precision(*cells),
    "false_omission_rate": lambda *cells: 1 - negative_predictive_value(*cells),
    "negative_predictive_value": negative_predictive_value,
    "balanced_accuracy": balanced_accuracy,
    "g_mean": g_mean,
    "prevalence": lambda tp, fp, fn, tn: Fraction(tp + fn, tp + fp + fn + tn),
    "alert_rate": lambda tp, fp, fn, tn: Fraction(tp + fp, tp + fp + fn + tn),
    "informedness": informedness,
    "markedness": markedness,
    "mcc": mcc,
    "kappa": kappa,
    "jaccard": lambda tp, fp, fn, tn: Fraction(tp, tp + fp + fn),
    "fowlkes_mallows": lambda *cells: rounded_root(precision(*cells) * recall(*cells)),
    "positive_likelihood_ratio": positive_likelihood_ratio,
    "negative_likelihood_ratio": negative_likelihood_ratio,
    "diagnostic_odds_ratio": lambda tp, fp, fn, tn: Fraction(tp * tn, fp * fn),
    "lift": lambda *cells: precision(*cells) / Fraction(cells[0] + cells[2], sum(cells)),
    "precision_gain": lambda *cells: 1 - odds(*cells) * (1 - precision(*cells)) / precision(*cells),
    "recall_gain": lambda *cells: 1 - odds(*cells) * (1 - recall(*cells)) / recall(*cells),
    "c_id": c_id,
}


def defined(definition: Callable[..., Fraction | float], *cells: int) -> float:
    """The definition as a float; nan where it divides by zero."""
    try:
        return float(definition(*cells))
    except ZeroDivisionError:
        return math.nan


def same(a: float, b: float) -> bool:
    return a == b or (math.isnan(a) and math.isnan(b))


# -- tables ----------------------------------------------------------------------------------------


def count(rng: random.Random) -> int:
    """Zero, small, or of any size up to the largest."""
    kind = rng.random()
    if kind < 0.15:
        return 0
    if kind < 0.3:
        return rng.randint(1, 5)
    if kind < 0.4:
        return rng.choice((2**53 - 1, 2**53, 2**53 + 1, LARGEST - 1, LARGEST))
    return rng.randint(1, 10 ** rng.randint(1, 18))


def binary_tables(seed: int, number: int) -> Iterator[tuple[int, int, int, int]]:
    rng = random.Random(seed)
    for _ in range(number):
        yield count(rng), count(rng), count(rng), count(rng)


def test_no_measure_with_a_formula_is_forgotten() -> None:
    assert set(DEFINITIONS) == {m.name for m in CATALOGUE if m.formula is not None}


@pytest.mark.sampled(1)
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_every_measure_is_the_correctly_rounded_rational(chunk: int) -> None:
    formulas = [(find(name).formula, definition) for name, definition in DEFINITIONS.items()]
    # Logarithms of 120 digits take their time.
    ratios = [pair for pair in formulas if pair[1] is not c_id]
    for i, (tp, fp, fn, tn) in enumerate(binary_tables(chunk, TABLES_A_CHUNK)):
        cells = {"TP": tp, "FP": fp, "FN": fn, "TN": tn}
        for formula, definition in formulas if i % 50 == 0 else ratios:
            ours, exact = value(formula, cells), defined(definition, tp, fp, fn, tn)
            assert same(ours, exact), (formula, cells, ours, exact)


def test_every_pattern_of_empty_cells_is_undefined_where_the_definition_is() -> None:
    for tp in (0, 3):
        for fp in (0, 5):
            for fn in (0, 7):
                for tn in (0, 11):
                    evaluated = {
                        name: value(find(name).formula, {"TP": tp, "FP": fp, "FN": fn, "TN": tn})
                        for name in DEFINITIONS
                    }
                    for name, definition in DEFINITIONS.items():
                        assert same(evaluated[name], defined(definition, tp, fp, fn, tn)), name


def test_estimates_are_those_same_numbers() -> None:
    for tp, fp, fn, tn in binary_tables(1000, 30):
        if not tp + fp + fn + tn:
            continue
        rows = of_cells(tp, fp, fn, tn)
        for name, definition in DEFINITIONS.items():
            exact = defined(definition, tp, fp, fn, tn)
            assert same(rows[name].value, exact), name
            assert (rows[name].undefined is None) == (not math.isnan(exact)), name


@pytest.mark.parametrize("digits", [0, 2, 4, 17, 40])
def test_printed_decimals_are_rounded_once_and_half_to_even(digits: int) -> None:
    names = ("precision", "f2", "kappa", "diagnostic_odds_ratio")
    context = Context(prec=400, rounding=ROUND_HALF_EVEN)
    for tp, fp, fn, tn in binary_tables(digits, 100):
        for name in names:
            ours = rounded(find(name).formula, {"TP": tp, "FP": fp, "FN": fn, "TN": tn}, digits)
            try:
                exact = DEFINITIONS[name](tp, fp, fn, tn)
            except ZeroDivisionError:
                assert ours is None
                continue
            shown = context.scaleb(Decimal(round(exact * 10**digits)), -digits)
            assert ours == shown, name


def test_a_half_is_rounded_to_even() -> None:
    formula = find("precision").formula
    assert str(rounded(formula, {"TP": 1, "FP": 7}, 2)) == "0.12"
    assert str(rounded(formula, {"TP": 3, "FP": 5}, 2)) == "0.38"


# -- at another base rate --------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["precision", "false_discovery_rate", "f1", "accuracy", "mcc"])
def test_at_another_base_rate_it_is_bayes_rule(name: str) -> None:
    rng = random.Random(name)
    for tp, fp, fn, tn in binary_tables(77, 400):
        share = Fraction(rng.randint(1, 999), rng.choice((1000, 10**6)))
        cells = {"TP": tp, "FP": fp, "FN": fn, "TN": tn}
        ours = value(at_base_rate(find(name).formula, share), cells)
        if not (tp + fn and fp + tn):
            assert math.isnan(ours)
            continue
        hit, alarm = Fraction(tp, tp + fn), Fraction(fp, fp + tn)
        parts = [share * hit, (1 - share) * alarm, share * (1 - hit), (1 - share) * (1 - alarm)]
        # As many rows as make whole numbers of all four shares.
        rows = math.lcm(*(part.denominator for part in parts))
        scaled = [int(part * rows) for part in parts]
        assert same(ours, defined(DEFINITIONS[name], *scaled))


# -- several classes -------------------------------------------------------------------------------

Matrix = list[list[int]]


def matrices(seed: int, number: int, *, empty: bool) -> Iterator[Matrix]:
    rng = random.Random(seed)
    while number:
        size = rng.randint(2, 6)
        matrix = [[count(rng) for _ in range(size)] for _ in range(size)]
        if empty and rng.random() < 0.5:
            matrix[rng.randrange(size)] = [0] * size
        if sum(map(sum, matrix)):
            number -= 1
            yield matrix


def against_rest(matrix: Matrix, k: int) -> tuple[int, int, int, int]:
    """tp, fp, fn, tn of one class, counted cell by cell."""
    counts = {(True, True): 0, (True, False): 0, (False, True): 0, (False, False): 0}
    for i, row in enumerate(matrix):
        for j, cell in enumerate(row):
            counts[i == k, j == k] += cell
    return counts[True, True], counts[False, True], counts[True, False], counts[False, False]


def marginals(matrix: Matrix) -> tuple[int, list[int], list[int]]:
    """The number of rows, and how many are of each class and were decided as each."""
    true, said = [sum(row) for row in matrix], [sum(column) for column in zip(*matrix, strict=True)]
    return sum(true), true, said


def kappa_of_classes(matrix: Matrix) -> Fraction:
    n, true, said = marginals(matrix)
    observed = Fraction(sum(matrix[k][k] for k in range(len(matrix))), n)
    chance = sum(Fraction(t, n) * Fraction(s, n) for t, s in zip(true, said, strict=True))
    return (observed - chance) / (1 - chance)


def mcc_of_classes(matrix: Matrix) -> float:
    """Gorodkin's R_K: covariances of one-hot columns, summed over classes."""
    n, true, said = marginals(matrix)
    both = true_only = said_only = Fraction(0)
    for k in range(len(matrix)):
        t, s = Fraction(true[k], n), Fraction(said[k], n)
        both += Fraction(matrix[k][k], n) - t * s
        true_only += t * (1 - t)
        said_only += s * (1 - s)
    return math.copysign(rounded_root(both**2 / (true_only * said_only)), both)


OF_CLASSES: dict[str, Callable[[Matrix], Fraction | float]] = {
    "accuracy": lambda m: Fraction(sum(m[k][k] for k in range(len(m))), marginals(m)[0]),
    "error_rate": lambda m: 1 - Fraction(sum(m[k][k] for k in range(len(m))), marginals(m)[0]),
    "balanced_accuracy": lambda m: sum(recall(*against_rest(m, k)) for k in range(len(m))) / len(m),
    "g_mean": lambda m: rounded_root(
        math.prod(recall(*against_rest(m, k)) for k in range(len(m))), len(m)
    ),
    "kappa": kappa_of_classes,
    "mcc": mcc_of_classes,
    "jaccard": lambda m: (
        sum(DEFINITIONS["jaccard"](*against_rest(m, k)) for k in range(len(m))) / len(m)
    ),
}


def cells_of(matrix: Matrix) -> dict:
    labels = tuple(str(k) for k in range(len(matrix)))
    return Confusion(labels, tuple(tuple(row) for row in matrix)).class_cells()


def test_no_measure_over_classes_is_forgotten() -> None:
    assert set(OF_CLASSES) == {m.name for m in CATALOGUE if m.classes is not None}


@pytest.mark.parametrize("seed", range(4))
def test_measures_over_classes_are_the_correctly_rounded_rational(seed: int) -> None:
    for matrix in matrices(seed, 250, empty=seed % 2 == 1):
        cells = cells_of(matrix)
        for name, definition in OF_CLASSES.items():
            ours, exact = value(find(name).classes, cells), defined(definition, matrix)
            assert same(ours, exact), (name, matrix, ours, exact)


AVERAGED = [m.name for m in CATALOGUE if m.formula is not None and m.averages]
RATIONAL = [name for name in AVERAGED if name != "fowlkes_mallows"]


def averaged(name: str, average: str, matrix: Matrix) -> Fraction:
    """The mean over classes, plain or by how many rows each has; micro adds the cells first."""
    each = [against_rest(matrix, k) for k in range(len(matrix))]
    definition = DEFINITIONS[name]
    if average == "micro":
        return definition(*(sum(cells) for cells in zip(*each, strict=True)))
    if average == "macro":
        return sum(definition(*cells) for cells in each) / len(each)
    support = [tp + fn for tp, _, fn, _ in each]
    shares = [Fraction(rows, sum(support)) for rows in support]
    return sum(s * definition(*cells) for s, cells in zip(shares, each, strict=True) if s)


@pytest.mark.parametrize("average", AVERAGES)
@pytest.mark.parametrize("name", RATIONAL)
def test_averages_are_the_correctly_rounded_rational(name: str, average: str) -> None:
    """A class without rows has no weight; an estimate leaves it out, see below."""
    expression = of_classes(find(name).formula, average)
    for matrix in matrices(len(name), 60, empty=average == "macro"):
        if average == "weighted" and 0 in marginals(matrix)[1]:
            continue
        ours = value(expression, cells_of(matrix))
        exact = defined(lambda m: averaged(name, average, m), matrix)
        assert same(ours, exact), (matrix, ours, exact)


@pytest.mark.parametrize("average", ["macro", "weighted"])
def test_sums_of_roots_are_correctly_rounded_too(average: str) -> None:
    expression = of_classes(find("fowlkes_mallows").formula, average)
    for matrix in matrices(5, 60, empty=False):
        ours = value(expression, cells_of(matrix))
        each = [against_rest(matrix, k) for k in range(len(matrix))]
        if any(tp + fp == 0 or tp + fn == 0 for tp, fp, fn, _ in each):
            assert math.isnan(ours)
            continue
        with mpmath.workdps(60):
            weights = [tp + fn if average == "weighted" else 1 for tp, _, fn, _ in each]
            roots = [tp / mpmath.sqrt(mpmath.mpf(tp + fp) * (tp + fn)) for tp, fp, fn, _ in each]
            mean = mpmath.fdot(weights, roots) / sum(weights)
        assert ours == float(mean)


@pytest.mark.parametrize("seed", range(12))
def test_estimates_of_classes_are_those_same_numbers(seed: int) -> None:
    (matrix,) = matrices(100 + seed, 1, empty=True)
    if len(matrix) == 2:
        matrix = [[*row, 1] for row in matrix] + [[4, 5, 6]]
    rows = of_matrix(matrix)
    for name, definition in OF_CLASSES.items():
        assert same(rows.value(name), defined(definition, matrix)), name
    for name in RATIONAL:
        for average in AVERAGES:
            exact = defined(lambda m, n=name, a=average: averaged(n, a, m), matrix)
            assert same(rows.value(f"{name}.{average}"), exact), (name, average)
        kept = []
        for k in range(len(matrix)):
            cells = against_rest(matrix, k)
            exact = defined(DEFINITIONS[name], *cells)
            assert same(rows.value(f"{name}.{k}"), exact), (name, k)
            if not math.isnan(exact):
                kept.append(DEFINITIONS[name](*cells))
        if kept:
            assert rows.value(f"{name}.macro_defined") == float(sum(kept) / len(kept)), name
