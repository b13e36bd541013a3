"""A formula on a table: its value, and its gradient beside finite differences."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.counts import Confusion
from assay.formula import Expression, at_base_rate, of_classes
from assay.inference import Quantity
from assay.inference.estimate import squares_of, table_of
from assay.measures import AVERAGES, CATALOGUE, find

COUNTED = [measure for measure in CATALOGUE if measure.formula is not None]
OF_CLASSES = [measure for measure in CATALOGUE if measure.classes is not None]
AVERAGED = [(measure, average) for measure in COUNTED if measure.averages for average in AVERAGES]


def tables(size: int) -> st.SearchStrategy[np.ndarray]:
    cells = st.lists(st.integers(1, 60), min_size=size**2, max_size=size**2)
    return cells.map(lambda drawn: np.array(drawn, float).reshape(size, size))


def slope(quantity: Quantity, table: np.ndarray) -> np.ndarray:
    """The gradient by central differences."""
    values = np.empty_like(table)
    for cell in np.ndindex(table.shape):
        step = 1e-5 * max(table[cell], 1.0)
        above, below = table.copy(), table.copy()
        above[cell] += step
        below[cell] -= step
        values[cell] = (quantity.of_tables(above) - quantity.of_tables(below)) / (2 * step)
    return values


def assert_gradient(quantity: Quantity, table: np.ndarray) -> None:
    expected = slope(quantity, table)
    size = np.abs(expected).max() + float(abs(quantity.of_tables(table))) / table.max()
    # Where a measure is flat the differences of its values are rounding alone.
    noise = 1e-6 * size + 1e-8 / table.max()
    np.testing.assert_allclose(quantity.gradient(table), expected, rtol=1e-5, atol=noise)


# -- the gradient ----------------------------------------------------------------------------------


@pytest.mark.parametrize("measure", COUNTED, ids=lambda m: m.name)
@pytest.mark.parametrize("label", [0, 1])
@settings(max_examples=15)
@given(table=tables(2))
def test_gradient_of_two_classes_is_the_slope(measure, label, table) -> None:
    assert_gradient(Quantity(measure.formula, label=label), table)


@pytest.mark.parametrize("measure", COUNTED, ids=lambda m: m.name)
@settings(max_examples=15)
@given(table=tables(3), label=st.integers(0, 2))
def test_gradient_of_one_class_against_the_rest_is_the_slope(measure, table, label) -> None:
    assert_gradient(Quantity(measure.formula, label=label), table)


@pytest.mark.parametrize("measure", OF_CLASSES, ids=lambda m: m.name)
@pytest.mark.parametrize("size", [2, 3, 5])
def test_gradient_of_all_classes_is_the_slope(measure, size: int) -> None:
    generator = np.random.default_rng(size)
    for _ in range(5):
        table = generator.integers(1, 60, (size, size)).astype(float)
        assert_gradient(Quantity(measure.classes), table)


@pytest.mark.parametrize(
    ("measure", "average"), AVERAGED, ids=[f"{m.name}.{a}" for m, a in AVERAGED]
)
@pytest.mark.parametrize("size", [2, 4])
def test_gradient_of_an_average_is_the_slope(measure, average: str, size: int) -> None:
    table = np.random.default_rng(size).integers(1, 60, (size, size)).astype(float)
    assert_gradient(Quantity(of_classes(measure.formula, average)), table)


@pytest.mark.parametrize("average", ["macro", "weighted"])
def test_gradient_over_some_classes_is_the_slope(average: str) -> None:
    table = np.random.default_rng(7).integers(1, 60, (4, 4)).astype(float)
    expression = of_classes(find("f1").formula, average)
    assert_gradient(Quantity(expression, classes=(0, 2)), table)


@pytest.mark.sampled(12)
@pytest.mark.parametrize("measure", COUNTED, ids=lambda m: m.name)
@settings(max_examples=15)
@given(table=tables(2), rate=st.sampled_from([0.5, 0.1, 0.001]))
def test_gradient_at_a_base_rate_is_the_slope(measure, table, rate) -> None:
    assert_gradient(Quantity(at_base_rate(measure.formula, rate), label=1), table)


# -- the value -------------------------------------------------------------------------------------


@pytest.mark.parametrize("measure", COUNTED, ids=lambda m: m.name)
@settings(max_examples=15)
@given(table=tables(3), label=st.integers(0, 2))
def test_value_of_many_tables_is_the_exact_one_to_rounding(measure, table, label) -> None:
    quantity = Quantity(measure.formula, label=label)
    exact = quantity.value(confusion(table))
    assert float(quantity.of_tables(table)) == pytest.approx(exact, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("measure", [m for m in OF_CLASSES if m.symmetric], ids=lambda m: m.name)
@settings(max_examples=15)
@given(table=tables(2))
def test_symmetric_formula_of_two_classes_is_the_binary_one(measure, table) -> None:
    of_all = Quantity(measure.classes).value(confusion(table))
    assert of_all == Quantity(measure.formula, label=1).value(confusion(table))


def test_many_tables_keep_their_leading_axes() -> None:
    tables = np.random.default_rng(1).integers(1, 9, (5, 4, 3, 3)).astype(float)
    quantity = Quantity(find("kappa").classes)
    values = quantity.of_tables(tables)
    assert values.shape == (5, 4)
    assert values[2, 3] == quantity.of_tables(tables[2, 3])


def test_sum_over_some_classes_leaves_the_others_out() -> None:
    table = Confusion(("a", "b", "c"), ((6, 2, 0), (1, 9, 0), (0, 0, 0)))
    macro: Expression = of_classes(find("recall").formula, "macro")
    assert math.isnan(Quantity(macro).value(table))
    assert Quantity(macro, classes=(0, 1)).value(table) == (6 / 8 + 9 / 10) / 2


def test_reason_names_the_class() -> None:
    table = Confusion(("a", "b", "c"), ((6, 2, 0), (0, 0, 0), (1, 0, 4)))
    macro = of_classes(find("recall").formula, "macro")
    assert Quantity(macro).reason(table).startswith("class 'b' has no rows")
    assert Quantity(macro, classes=(1, 2)).reason(table).startswith("class 'b' has no rows")
    assert Quantity(macro, classes=(0, 2)).reason(table) is None


def test_half_a_count_is_added_only_where_the_formula_rests_on_an_empty_cell() -> None:
    table = np.array([[0.0, 2.0], [3.0, 4.0]])
    assert not Quantity(find("precision").formula, label=1).added(table).any()
    assert (Quantity(find("specificity").formula, label=1).added(table) == 0.5).all()


def test_classes_without_hits_or_without_errors_get_half_of_each() -> None:
    table = np.array([[5.0, 1.0, 0.0], [0.0, 4.0, 0.0], [2.0, 1.0, 0.0]])
    recall = Quantity(of_classes(find("recall").formula, "macro"))
    expected = [[0, 0, 0], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]]
    np.testing.assert_array_equal(recall.added(table), expected)
    some = Quantity(of_classes(find("recall").formula, "macro"), classes=(0, 1))
    np.testing.assert_array_equal(some.added(table), [expected[0], expected[1], [0, 0, 0]])


def test_a_class_that_is_left_out_gets_nothing() -> None:
    macro = of_classes(find("recall").formula, "macro")
    values = Quantity(macro, classes=(0, 2)).evenly(np.ones((3, 3)))
    np.testing.assert_allclose(values, [[1 / 3] * 3, [0] * 3, [1 / 3] * 3])


def test_plain_counts_are_their_own_squares() -> None:
    plain = Confusion(("no", "yes"), ((5, 1), (2, 3)))
    weighted = Confusion(("no", "yes"), ((5.0, 1.0), (2.0, 3.0)), ((9.0, 1.0), (2.0, 5.0)))
    np.testing.assert_array_equal(squares_of(plain), table_of(plain))
    np.testing.assert_array_equal(squares_of(weighted), [[9, 1], [2, 5]])


def confusion(table: np.ndarray) -> Confusion:
    labels = tuple(map(str, range(len(table))))
    return Confusion(labels, tuple(tuple(int(cell) for cell in row) for row in table))
