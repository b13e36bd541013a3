"""The catalogue against exact arithmetic: standard library only, nothing of the project."""

import ast
import operator
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise, permutations, product

import pytest

from .documents import GIVEN, MATRICES, NUMBERS, RIGHT, WRONG, Matrix, Number

Value = Fraction | Decimal

WORKING_DIGITS = 60
STATED_DIGITS = Fraction(1, 10**29)  # relative precision of the Decimals in the catalogue
OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


def name(row: Number) -> str:
    return f"{row.document}-{row.section}-{row.what}-{row.printed}"


def is_numeric(row: Number) -> bool:
    return isinstance(row.exact, Fraction | Decimal)


def exact(row: Number) -> Fraction:
    assert isinstance(row.exact, Fraction | Decimal)
    return Fraction(row.exact)


def every(rows: tuple[Number, ...]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("row", rows, ids=name)


NUMERIC = tuple(row for row in NUMBERS if is_numeric(row))
WRONG_NUMBERS = tuple(row for row in WRONG if is_numeric(row))
STATEMENTS = tuple(row for row in NUMBERS if isinstance(row.exact, str))
MEASURED = tuple(row for row in NUMERIC if row.measure)
BOUNDED = tuple(row for row in NUMBERS if row.allowed)


# Reading what is printed


def value_and_unit(printed: str) -> tuple[Fraction, Fraction]:
    """The number that a printed text stands for, and one unit of its last digit."""
    text = printed.replace(",", "").removesuffix("%")
    scale = Fraction(1, 100) if printed.endswith("%") else Fraction(1)
    return Fraction(text) * scale, scale / 10 ** len(text.partition(".")[2])


def audit(printed: str, truth: Fraction) -> str:
    """The contract's rule for a printed number beside the exact one."""
    shown, unit = value_and_unit(printed)
    off = abs(shown - truth)
    if off <= unit / 2:
        return "consistent"
    return "rounding" if off < unit else "inconsistent"


# Evaluating `how`, and measures of a matrix


def as_decimal(value: Value) -> Decimal:
    if isinstance(value, Decimal):
        return value
    return Decimal(value.numerator) / Decimal(value.denominator)


def sqrt(value: Value) -> Decimal:
    with localcontext(prec=WORKING_DIGITS):
        return as_decimal(value).sqrt()


def evaluate(text: str) -> Value:
    """The value of an expression: exact while it is rational, else to 60 digits."""

    def walk(node: ast.expr) -> Value:
        match node:
            case ast.Constant():
                return Fraction(ast.get_source_segment(text, node) or "")
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -walk(operand)
            case ast.Call(func=ast.Name(id=function), args=[argument]):
                inner = as_decimal(walk(argument))
                return {"sqrt": inner.sqrt, "exp": inner.exp, "ln": inner.ln}[function]()
            case ast.BinOp(left=left, op=ast.Pow(), right=right):
                return walk(left) ** int(walk(right))
            case ast.BinOp(left=left, op=op, right=right):
                a, b = walk(left), walk(right)
                if isinstance(a, Decimal) or isinstance(b, Decimal):
                    return OPERATORS[type(op)](as_decimal(a), as_decimal(b))
                return OPERATORS[type(op)](a, b)
        message = f"not arithmetic: {ast.dump(node)}"
        raise ValueError(message)

    with localcontext(prec=WORKING_DIGITS):
        return walk(ast.parse(text, mode="eval").body)


def rate(matrix: Matrix, measure: str, label: str) -> Fraction:
    """A one-sided measure of one label against the rest."""
    k = matrix.labels.index(label)
    total = sum(map(sum, matrix.rows))
    tp = matrix.rows[k][k]
    fn = sum(matrix.rows[k]) - tp
    fp = sum(row[k] for row in matrix.rows) - tp
    tn = total - tp - fn - fp
    top, bottom = {
        "precision": (tp, tp + fp),
        "recall": (tp, tp + fn),
        "specificity": (tn, tn + fp),
        "f1": (2 * tp, 2 * tp + fp + fn),
        "false_positive_rate": (fp, fp + tn),
        "false_negative_rate": (fn, fn + tp),
        "false_discovery_rate": (fp, fp + tp),
        "prevalence": (tp + fn, total),
        "alert_rate": (tp + fp, total),
    }[measure]
    return Fraction(top, bottom)


def mean(values: list[Fraction]) -> Fraction:
    return sum(values, Fraction(0)) / len(values)


def measure_of(matrix: Matrix, measure: str, end: str = "") -> Value:
    """A measure by its full name, from the matrix alone."""
    classes = range(len(matrix.labels))
    truth = [sum(row) for row in matrix.rows]
    decided = [sum(row[k] for row in matrix.rows) for k in classes]
    total = sum(truth)
    correct = sum(matrix.rows[k][k] for k in classes)
    accuracy = Fraction(correct, total)
    chance = sum(t * d for t, d in zip(truth, decided, strict=True))
    error = sqrt(accuracy * (1 - accuracy) / total)
    match measure.split("."):
        case ["accuracy"]:
            value: Value = accuracy
        case ["error_rate"]:
            value = 1 - accuracy
        case ["accuracy", "se"]:
            value = error
        case ["accuracy", "ci"]:
            with localcontext(prec=WORKING_DIGITS):
                margin = Decimal("1.96") * error
                value = as_decimal(accuracy) + {"low": -margin, "high": margin}[end]
        case ["balanced_accuracy"]:
            value = mean([rate(matrix, "recall", x) for x in matrix.labels])
        case ["kappa"]:
            value = Fraction(total * correct - chance, total**2 - chance)
        case ["mcc"]:
            spread = total**2 - sum(t * t for t in truth)
            spread *= total**2 - sum(d * d for d in decided)
            with localcontext(prec=WORKING_DIGITS):
                value = (total * correct - chance) / sqrt(Fraction(spread))
        case [one_sided, "macro"]:
            value = mean([rate(matrix, one_sided, x) for x in matrix.labels])
        case [one_sided, "weighted"]:
            weighted = [
                t * rate(matrix, one_sided, x) for t, x in zip(truth, matrix.labels, strict=True)
            ]
            value = sum(weighted, Fraction(0)) / total
        case [one_sided, label]:
            value = rate(matrix, one_sided, label)
        case _:
            assert matrix.positive is not None
            value = rate(matrix, measure, matrix.positive)
    return value


def agrees(value: Value, stated: Value) -> bool:
    if isinstance(value, Fraction) and isinstance(stated, Fraction):
        return value == stated
    return abs(Fraction(value) - Fraction(stated)) <= STATED_DIGITS * abs(Fraction(value))


# The catalogue


@every(NUMERIC)
def test_exact_value_follows_from_how(row: Number) -> None:
    assert agrees(evaluate(row.how), row.exact)


@every(MEASURED)
def test_exact_value_is_the_named_measure_of_the_named_matrix(row: Number) -> None:
    assert agrees(measure_of(MATRICES[row.counts], row.measure, row.end), row.exact)


@every(RIGHT)
def test_right_number_is_correct_to_its_printed_digits(row: Number) -> None:
    shown, unit = value_and_unit(row.printed)
    off = abs(shown - exact(row))
    if row.note:
        assert unit / 2 < off < unit
    else:
        assert off <= unit / 2


@every(WRONG_NUMBERS)
def test_wrong_number_is_off_by_at_least_one_unit_of_its_last_digit(row: Number) -> None:
    shown, unit = value_and_unit(row.printed)
    assert abs(shown - exact(row)) >= unit


@every(WRONG_NUMBERS)
def test_right_value_of_a_wrong_number_is_the_exact_one_at_the_same_digits(row: Number) -> None:
    correct, unit = value_and_unit(row.right)
    assert unit == value_and_unit(row.printed)[1]
    assert abs(correct - exact(row)) <= unit / 2


@every(NUMERIC)
def test_audit_verdict_is_the_usual_one_unless_the_row_says_otherwise(row: Number) -> None:
    usual = "inconsistent" if row.verdict == "wrong" else "rounding" if row.note else "consistent"
    verdict = audit(row.printed, exact(row))
    assert verdict == usual


@every(BOUNDED)
def test_area_is_outside_what_the_operating_point_allows_only_where_it_is_wrong(
    row: Number,
) -> None:
    matrix = MATRICES[row.counts]
    tpr, fpr = measure_of(matrix, "recall"), measure_of(matrix, "false_positive_rate")
    assert row.allowed == (tpr * (1 - fpr), 1 - fpr * (1 - tpr))
    inside = row.allowed[0] <= value_and_unit(row.printed)[0] <= row.allowed[1]
    assert inside == (row.verdict == "given")


@every(WRONG)
def test_wrong_row_says_why(row: Number) -> None:
    assert row.why
    assert is_numeric(row) == bool(row.right)
    assert not row.note


@every(STATEMENTS)
def test_statement_is_only_catalogued_where_it_is_wrong(row: Number) -> None:
    assert row.verdict == "wrong"
    assert row.measure is None


@every(GIVEN)
def test_given_number_can_be_read_and_has_no_exact_value(row: Number) -> None:
    assert value_and_unit(row.printed)
    assert row.exact is None


def test_every_row_belongs_to_exactly_one_list_and_none_is_repeated() -> None:
    assert len(NUMBERS) == len(RIGHT) + len(WRONG) + len(GIVEN)
    assert len(set(NUMBERS)) == len(NUMBERS)
    assert len({name(row) for row in NUMBERS}) == len(NUMBERS)


def test_matrix_is_square_and_every_one_is_used() -> None:
    assert {row.counts for row in NUMBERS if row.counts} == set(MATRICES)
    for matrix in MATRICES.values():
        assert {len(matrix.rows), *map(len, matrix.rows)} == {len(matrix.labels)}
        assert matrix.positive in {None, *matrix.labels}


# What the statements get wrong, shown


def test_exchanging_two_cells_of_the_network_gives_the_reported_accuracy() -> None:
    (tn, fp), (fn, tp) = MATRICES["safelink_ann_printed"].rows
    assert MATRICES["safelink_ann_true"].rows == ((tn, fp), (tp, fn))


def test_no_matrix_with_the_reported_accuracy_allows_the_reported_area() -> None:
    normal, attacks, correct = 7910, 6959, 1094
    highest = max(
        1 - Fraction(normal - tn, normal) * (1 - Fraction(correct - tn, attacks))
        for tn in range(correct + 1)
    )
    assert highest == Fraction(1094, 6959)
    assert highest < Fraction("0.4812")


@pytest.mark.parametrize("key", ["safelink_forest", "safelink_ann_printed"])
def test_complement_of_precision_is_not_the_false_positive_rate(key: str) -> None:
    matrix = MATRICES[key]
    complement = 1 - measure_of(matrix, "precision")
    assert complement == measure_of(matrix, "false_discovery_rate")
    assert complement != measure_of(matrix, "false_positive_rate")


def test_area_without_ties_is_less_than_the_trapezoids() -> None:
    forest = MATRICES["safelink_forest"]
    tpr, fpr = measure_of(forest, "recall"), measure_of(forest, "false_positive_rate")
    strictly_above = tpr * (1 - fpr)
    tied = tpr * fpr + (1 - tpr) * (1 - fpr)
    trapezoids = fpr * tpr / 2 + (1 - fpr) * (tpr + 1) / 2
    assert strictly_above < trapezoids == strictly_above + tied / 2


def test_mcc_falls_when_only_the_class_sizes_change() -> None:
    common, rare = MATRICES["safelink_forest"], MATRICES["safelink_forest_rare"]
    for fixed in ("recall", "specificity"):
        assert measure_of(common, fixed) == measure_of(rare, fixed)
    assert round(measure_of(common, "mcc"), 4) == Decimal("0.9338")
    assert round(measure_of(rare, "mcc"), 4) == Decimal("0.5145")


def test_denominator_printed_for_the_mcc_of_k_classes_gives_kappa() -> None:
    c = MATRICES["darknet"].rows
    k3 = range(3)
    numerator = sum(c[k][k] * c[m][n] - c[k][m] * c[n][k] for k, m, n in product(k3, k3, k3))
    first = sum(sum(c[k]) * sum(c[i][j] for i in k3 for j in k3 if j != k) for k in k3)
    second = sum(
        sum(c[i][k] for i in k3) * sum(c[j][i] for i in k3 for j in k3 if j != k) for k in k3
    )
    assert first == second
    assert Fraction(numerator, first) == measure_of(MATRICES["darknet"], "kappa")
    assert round(measure_of(MATRICES["darknet"], "mcc"), 4) == Decimal("0.8495")


def test_correlation_of_class_codes_changes_with_the_numbering() -> None:
    cells = [(i, j, n) for i, row in enumerate(MATRICES["darknet"].rows) for j, n in enumerate(row)]
    total = sum(n for *_, n in cells)
    correlations = set()
    for code in permutations(range(3)):
        y = sum(n * code[i] for i, _, n in cells)
        d = sum(n * code[j] for _, j, n in cells)
        covariance = total * sum(n * code[i] * code[j] for i, j, n in cells) - y * d
        spread_y = total * sum(n * code[i] ** 2 for i, _, n in cells) - y**2
        spread_d = total * sum(n * code[j] ** 2 for _, j, n in cells) - d**2
        correlations.add(str(round(covariance / sqrt(Fraction(spread_y * spread_d)), 4)))
    assert correlations == {"0.8867", "0.8490", "0.8082"}


def test_mean_of_the_one_vs_rest_mcc_is_not_the_printed_mcc() -> None:
    rows = MATRICES["darknet"].rows
    total = sum(map(sum, rows))
    values = []
    for k in range(3):
        tp, truth, decided = rows[k][k], sum(rows[k]), sum(row[k] for row in rows)
        rest = total - truth - decided + tp
        binary = Matrix(("rest", "k"), ((rest, decided - tp), (truth - tp, tp)), "k")
        values.append(measure_of(binary, "mcc"))
    assert round(sum(values) / 3, 4) == Decimal("0.8480")


def test_printed_dropout_mask_does_not_keep_the_expected_value() -> None:
    p = Fraction("0.3")
    assert p * 1 / (1 - p) == Fraction(3, 7)
    assert (1 - p) * 1 / (1 - p) == 1


def test_printed_step_decay_contradicts_the_listed_epochs_at_each_border() -> None:
    listed = {epoch: (epoch - 1) // 5 for epoch in range(1, 16)}
    printed = {epoch: epoch // 5 for epoch in range(1, 16)}
    assert [epoch for epoch in listed if listed[epoch] != printed[epoch]] == [5, 10, 15]


def test_printed_kappa_bands_leave_gaps() -> None:
    bands = [("0", "0.20"), ("0.21", "0.40"), ("0.41", "0.60"), ("0.61", "0.80"), ("0.81", "1.00")]
    for between in ("0.205", "0.405", "0.605", "0.805"):
        assert not any(Fraction(low) <= Fraction(between) <= Fraction(high) for low, high in bands)


def test_average_precision_over_a_count_is_not_one_for_a_perfect_ranking() -> None:
    recall = [Fraction(i, 4) for i in range(5)]
    area = sum((b - a) * 1 for a, b in pairwise(recall))
    assert area == 1
    assert area / 4 != 1


def test_split_of_the_whole_set_has_three_parts() -> None:
    whole, training, test, rest = 39552 + 34792, 52040, 14869, 7435
    assert whole == training + test + rest
    assert [round(whole * share, 1) for share in (0.7, 0.2, 0.1)] == [52040.8, 14868.8, 7434.4]


def test_addresses_sort_otherwise_than_they_are_coded() -> None:
    printed = ["192.168.1.1", "192.168.1.2", "10.0.0.1"]
    assert sorted(printed) == ["10.0.0.1", "192.168.1.1", "192.168.1.2"]


def test_network_lies_below_the_line_that_a_curve_is_said_never_to_cross() -> None:
    network = MATRICES["safelink_ann_printed"]
    assert measure_of(network, "recall") < measure_of(network, "false_positive_rate")


def test_false_alarm_rate_of_flagging_everything_is_the_share_of_benign_rows() -> None:
    example = MATRICES["secuml_base_rate"]
    assert 1 - measure_of(example, "prevalence") == Fraction("0.999")


def test_standard_deviation_of_five_folds_differs_by_its_divisor() -> None:
    assert round(sqrt(Fraction(5, 4)), 3) == Decimal("1.118")


def test_accuracy_is_the_complement_of_the_error_rate() -> None:
    forest = MATRICES["safelink_forest"]
    assert measure_of(forest, "accuracy") == 1 - measure_of(forest, "error_rate")
    assert measure_of(forest, "accuracy") != measure_of(forest, "error_rate")
