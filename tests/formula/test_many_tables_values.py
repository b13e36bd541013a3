"""The vectorised evaluator against the exact one."""

import math

import numpy as np
import pytest
from hypothesis import given, settings

from assay.formula import (
    COL,
    FN,
    FP,
    HIT,
    ROW,
    TN,
    TP,
    Expression,
    K,
    N,
    constant,
    derivative,
    evaluate,
    geometric_mean,
    sqrt,
    times_log,
    total,
    value,
)

from .tables import (
    BINARY,
    CLASS_FORMULAS,
    FORMULAS,
    OVER_CLASSES,
    Matrix,
    class_cells,
    error_bound,
    matrices,
    tables,
)

FEW = settings(max_examples=12)

# Without a difference nothing cancels, and a value is this near to the exact one.
ULPS = 8
DIFFERENCES = {
    "informedness",
    "markedness",
    "mcc",
    "kappa",
    "precision_gain",
    "recall_gain",
    "c_id",
}
NO_DIFFERENCE = sorted(set(FORMULAS) - DIFFERENCES)
EXTREME = {"TP": 2**53 - 1, "FP": 1, "FN": 2**52 + 1, "TN": 3}


def test_a_column_of_tables_gives_a_column_of_values() -> None:
    number = evaluate(TP / (TP + FP), {"TP": [3, 0, 1], "FP": [1, 0, 0]})
    assert number.dtype == np.float64
    np.testing.assert_array_equal(number, [0.75, np.nan, 1.0])


def test_one_table_gives_one_value() -> None:
    assert evaluate(TP / (TP + FP), {"TP": 3, "FP": 1}).shape == ()


def test_tables_broadcast_against_each_other() -> None:
    number = evaluate(TP / (TP + FP), {"TP": [[1], [2]], "FP": [1, 2, 3]})
    assert number.shape == (2, 3)
    assert number[1, 2] == 2 / 5


def test_a_constant_is_a_single_value() -> None:
    assert evaluate(constant(3) / 4, {}) == 0.75


def test_a_formula_without_class_cells_has_one_value_a_table_beside_them() -> None:
    table = {"HIT": [[1, 2], [3, 4]], "ROW": [[2, 2], [4, 4]], "N": [4, 8], "K": 2}
    np.testing.assert_array_equal(evaluate(N / K, table), [2, 4])
    np.testing.assert_array_equal(evaluate(constant(5), table), [5, 5])
    np.testing.assert_array_equal(evaluate(K * K, {"HIT": [1, 2], "K": 2}), 4)


def test_a_formula_in_class_cells_alone_keeps_the_classes() -> None:
    table = {"HIT": [[1, 2], [3, 4]], "ROW": [[2, 2], [4, 4]], "N": [4, 8]}
    np.testing.assert_array_equal(evaluate(HIT / ROW, table), [[0.5, 1], [0.75, 1]])
    np.testing.assert_array_equal(evaluate(HIT + total(HIT), table), [[4, 5], [10, 11]])
    np.testing.assert_array_equal(evaluate(N * HIT, table), [[4, 8], [24, 32]])
    np.testing.assert_array_equal(evaluate(sqrt(HIT * HIT), table), [[1, 2], [3, 4]])


def test_one_table_of_one_class_keeps_its_single_class() -> None:
    np.testing.assert_array_equal(evaluate(HIT / ROW, {"HIT": [1], "ROW": [4]}), [0.25])
    assert evaluate(total(HIT / ROW), {"HIT": [1], "ROW": [4]}) == 0.25


def test_as_many_tables_as_classes_are_not_taken_for_classes() -> None:
    table = {"HIT": [[1, 0], [3, 4]], "ROW": [[2, 2], [4, 4]], "N": [4, 8], "K": 2}
    np.testing.assert_array_equal(evaluate(total(HIT) / N, table), [0.25, 0.875])


def test_the_geometric_mean_with_a_zero_is_zero_without_a_warning() -> None:
    assert evaluate(geometric_mean(HIT / ROW), {"HIT": [0, 3], "ROW": [5, 4]}) == 0.0


def test_nothing_times_a_logarithm_is_nothing_without_a_warning() -> None:
    number = evaluate(times_log(TP, FP), {"TP": [0, 0, 2, 3, 1], "FP": [0, -1, 1, 0, -1]})
    np.testing.assert_array_equal(number, [0, 0, 0, -np.inf, np.nan])


def test_logarithms_over_classes_keep_the_classes() -> None:
    table = {"HIT": [[1, 0], [3, 4]], "ROW": [[2, 2], [4, 4]]}
    logs = [[math.log(1 / 2), 0], [3 * math.log(3 / 4), 0]]
    np.testing.assert_allclose(evaluate(times_log(HIT, HIT / ROW), table), logs, rtol=1e-15)
    np.testing.assert_allclose(
        evaluate(total(times_log(HIT, HIT / ROW)), table), np.sum(logs, axis=1), rtol=1e-15
    )


def test_what_was_given_is_not_written_to() -> None:
    tp, fp = np.array([3.0, 1.0]), np.array([1.0, 1.0])
    number = evaluate(TP + FP * 0, {"TP": tp, "FP": fp})
    number[0] = 99
    assert tp.tolist() == [3.0, 1.0]


@pytest.mark.parametrize("name", FORMULAS)
@FEW
@given(table=tables(2**53))
def test_a_value_is_within_its_error_bound(name: str, table: dict[str, int]) -> None:
    _within(FORMULAS[name], table)


@pytest.mark.parametrize("name", NO_DIFFERENCE)
@FEW
@given(table=tables(2**50))
def test_where_nothing_cancels_a_value_is_within_eight_units_of_its_last_place(
    name: str, table: dict[str, int]
) -> None:
    number, exact = float(evaluate(FORMULAS[name], table)), value(FORMULAS[name], table)
    if not math.isnan(exact):
        assert abs(number - exact) <= ULPS * math.ulp(exact)


@pytest.mark.sampled(50)
@pytest.mark.parametrize("name", OVER_CLASSES)
@FEW
@given(matrix=matrices(10**5))
def test_a_value_over_classes_is_within_its_error_bound(name: str, matrix: Matrix) -> None:
    _within(OVER_CLASSES[name], class_cells(matrix))


def _within(formula: Expression, table: dict[str, object]) -> None:
    number, exact = float(evaluate(formula, table)), value(formula, table)
    assert math.isnan(number) == math.isnan(exact)
    if not math.isnan(exact):
        assert abs(number - exact) <= error_bound(formula, table)[1]


def test_counts_up_to_the_53rd_bit_are_not_rounded() -> None:
    for formula in FORMULAS.values():
        _within(formula, EXTREME)


@pytest.mark.parametrize("name", FORMULAS)
def test_many_tables_at_once_are_those_one_by_one(name: str) -> None:
    rng = np.random.default_rng(1)
    table = {cell: rng.integers(0, 4, 500) * rng.integers(0, 1000, 500) for cell in BINARY}
    together = evaluate(FORMULAS[name], table)
    single = [evaluate(FORMULAS[name], {c: table[c][i] for c in BINARY}) for i in range(500)]
    np.testing.assert_array_equal(together, single)


@pytest.mark.parametrize("name", CLASS_FORMULAS)
def test_many_matrices_at_once_are_those_one_by_one(name: str) -> None:
    rng = np.random.default_rng(2)
    matrix = rng.integers(0, 3, (100, 4, 4)) * rng.integers(0, 50, (100, 4, 4))
    each = [class_cells(m.tolist()) for m in matrix]
    table = {cell: np.array([c[cell] for c in each]) for cell in ("HIT", "ROW", "COL", "N", "K")}
    together = evaluate(CLASS_FORMULAS[name], table)
    np.testing.assert_allclose(
        together, [evaluate(CLASS_FORMULAS[name], c) for c in each], rtol=1e-14, atol=0
    )


def test_a_derivative_by_a_class_cell_has_one_value_a_class() -> None:
    table = {"HIT": [[1, 2], [3, 4]], "ROW": [[2, 4], [4, 8]], "COL": [[3, 3], [5, 7]]}
    table = {**table, "N": [6, 12], "K": 2}
    by_hit = evaluate(derivative(total(HIT / ROW) / K, "HIT"), table)
    np.testing.assert_array_equal(by_hit, [[0.25, 0.125], [0.125, 0.0625]])
    by_row = evaluate(derivative(total(HIT) / N, "ROW"), table)
    np.testing.assert_array_equal(by_row, [0, 0])
    by_all = evaluate(derivative(total(HIT) / N, "N"), table)
    np.testing.assert_array_equal(by_all, [-3 / 36, -7 / 144])
    assert evaluate(derivative(sqrt(total(HIT * COL)), "HIT"), table).shape == (2, 2)


class Stranger(Expression):
    """A node that no reading knows."""


def test_a_node_of_unknown_kind_is_refused_by_name() -> None:
    with pytest.raises(TypeError, match="not an expression: Stranger"):
        evaluate(FN + TN * Stranger(), {"FN": 1, "TN": 2})
