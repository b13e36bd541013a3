"""What binds quantities to each other: identities that hold of counts."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from assay.decisions.audit.claim import Meaning, key_of
from assay.decisions.audit.search.identities import (
    BETWEEN,
    Classes,
    NamedQuantity,
    Relation,
    identities_of,
    quantities_of,
    settle,
)
from assay.formula import value
from assay.measures import ACCURACY, CATALOGUE, find

TWO = Classes(("normal", "attack"))
THREE = Classes(("a", "b", "c"))


# -- names -----------------------------------------------------------------------------------------


def test_two_classes_that_exclude_each_other_are_two() -> None:
    assert TWO.two
    assert not THREE.two
    assert not Classes(("a", "b"), all_told=False).two
    assert not Classes(("a", "b"), exclusive=False).two
    assert not Classes().two


@pytest.mark.parametrize(
    ("classes", "label", "measure", "name"),
    [
        (TWO, "attack", "recall", "attack|recall"),
        (TWO, "normal", "recall", "attack|specificity"),
        (TWO, "normal", "precision", "attack|negative_predictive_value"),
        (TWO, "normal", "f1", "normal|f1"),
        (TWO, "normal", "prevalence", "normal|prevalence"),
        (TWO, "normal", "accuracy", "accuracy"),
        (TWO, "attack", "mcc", "mcc"),
        (THREE, "a", "recall", "a|recall"),
        (THREE, "a", "accuracy", "a|accuracy"),
    ],
)
def test_a_quantity_of_a_class_has_one_name(
    classes: Classes, label: str, measure: str, name: str
) -> None:
    assert classes.named(label, find(measure)) == name


@pytest.mark.parametrize(
    ("classes", "meaning", "quantity"),
    [
        (TWO, Meaning(find("recall"), "attack"), NamedQuantity("attack|recall")),
        (TWO, Meaning(find("fnr"), "attack", None, "x"), NamedQuantity("attack|recall", True, "x")),
        (TWO, Meaning(find("fpr"), "normal"), NamedQuantity("attack|recall", True)),
        (TWO, Meaning(find("recall"), "other"), None),
        (TWO, Meaning(find("error_rate")), NamedQuantity("accuracy", True)),
        (TWO, Meaning(find("mcc")), NamedQuantity("mcc")),
        (TWO, Meaning(find("recall")), None),
        (TWO, Meaning(find("brier")), NamedQuantity("brier")),
        (
            TWO,
            Meaning(find("negative_likelihood_ratio"), "attack"),
            NamedQuantity("attack|negative_likelihood_ratio"),
        ),
        (THREE, Meaning(find("f1"), None, "macro", "y"), NamedQuantity("f1.macro", False, "y")),
        (THREE, Meaning(find("fnr"), None, "micro"), NamedQuantity("recall.micro", True)),
        (THREE, Meaning(find("lift"), None, "macro"), None),
    ],
)
def test_a_meaning_is_a_quantity_or_one_less_it(
    classes: Classes, meaning: Meaning, quantity: NamedQuantity | None
) -> None:
    assert classes.quantity(meaning) == quantity


def names(key: str, classes: Classes, positive: str | None, how: str | None = None) -> list[str]:
    return [each.name for each in quantities_of(key_of(key), classes, positive, how)]


def test_a_key_is_read_by_its_class_its_average_or_a_convention() -> None:
    assert names("recall", TWO, "attack") == ["attack|recall"]
    assert names("recall.normal", TWO, "attack") == ["attack|specificity"]
    assert names("recall", TWO, "attack", "macro") == ["recall.macro"]
    assert names("recall", TWO, "attack", "weighted") == ["recall.weighted"]
    assert names("recall.attack", TWO, "attack", "macro") == ["attack|recall"]
    assert names("accuracy", TWO, "attack", "macro") == ["accuracy"]
    assert names("far", TWO, "attack") == ["attack|precision", "attack|specificity", "specificity.macro"]  # fmt: skip # noqa: E501
    assert names("recall", THREE, None) == ["recall.weighted", "recall.macro", "recall.micro"]
    assert names("accuracy", THREE, None) == ["accuracy"]


def test_without_labels_a_bare_rate_is_some_average() -> None:
    assert names("recall", Classes(), None) == ["recall.average"]
    assert names("fnr", Classes(), None) == ["recall.average"]
    assert names("lift", Classes(), None) == []
    assert names("accuracy", Classes(), None) == ["accuracy"]
    assert names("recall.macro", Classes(), None) == ["recall.macro"]
    assert names("recall.a", Classes(), None) == []


def test_by_no_one_convention_a_bare_rate_lies_between_the_classes() -> None:
    (between,) = quantities_of(key_of("recall"), TWO, "attack", BETWEEN)
    assert between == NamedQuantity("recall@recall", of="some average")
    assert names("far", TWO, "attack", BETWEEN) == ["false_discovery_rate@far", "false_positive_rate@far"]  # fmt: skip # noqa: E501
    assert names("recall.attack", TWO, "attack", BETWEEN) == ["attack|recall"]
    assert names("accuracy", TWO, "attack", BETWEEN) == ["accuracy"]
    every = ["recall.weighted", "recall.macro", "recall.micro"]
    assert names("recall", TWO, None, BETWEEN) == every


# -- identities, against counts --------------------------------------------------------------------

Table = dict[str, int]
AVERAGED = [m.name for m in CATALOGUE if m.averages and m.formula is not None]
OF_CLASS = [m.name for m in CATALOGUE if m.formula is not None and m.identities]


def tables_of(matrix: Sequence[Sequence[int]]) -> list[Table]:
    """Each class against the rest."""
    n, columns = sum(map(sum, matrix)), [sum(column) for column in zip(*matrix, strict=True)]
    tables = []
    for i, row in enumerate(matrix):
        tp, fn, fp = row[i], sum(row) - row[i], columns[i] - row[i]
        tables.append({"TP": tp, "FN": fn, "FP": fp, "TN": n - tp - fn - fp})
    return tables


def average(name: str, tables: Sequence[Table], how: str) -> float:
    formula = find(name).formula
    assert formula is not None
    if how == "micro":
        return value(formula, {c: sum(t[c] for t in tables) for c in ("TP", "FP", "FN", "TN")})
    values = [value(formula, table) for table in tables]
    weights = [t["TP"] + t["FN"] if how == "weighted" else 1 for t in tables]
    return math.fsum(w * v for w, v in zip(weights, values, strict=True)) / sum(weights)


def truth(name: str, labels: Sequence[str], matrix: Sequence[Sequence[int]]) -> float:
    """What a quantity is of a matrix."""
    tables = tables_of(matrix)
    label, bar, measure = name.rpartition("|")
    if bar:
        formula = find(measure).formula
        assert formula is not None
        return value(formula, tables[list(labels).index(label)])
    base, dot, how = name.rpartition(".")
    if dot and how in ("macro", "micro", "weighted"):
        return average(base, tables, how)
    formula = find(name).classes
    assert formula is not None
    rows, columns = [sum(row) for row in matrix], [sum(c) for c in zip(*matrix, strict=True)]
    hits = [row[i] for i, row in enumerate(matrix)]
    cells: dict[str, Any] = {"HIT": tuple(hits), "ROW": tuple(rows), "COL": tuple(columns)}
    return value(formula, {**cells, "N": sum(rows), "K": len(rows)})


def wanted(labels: Sequence[str]) -> list[str]:
    of_class = [f"{label}|{name}" for label in labels for name in OF_CLASS if name in AVERAGED]
    averages = [f"{name}.{how}" for name in AVERAGED for how in ("macro", "micro", "weighted")]
    return [*of_class, *averages, "balanced_accuracy", "g_mean", "kappa", "mcc"]


def check(relation: Relation, true: Mapping[str, float]) -> None:
    """It holds of true values; where it gives one value, that is the true one."""
    point = tuple(true[name] for name in relation.args)
    low = relation.low(point)
    if relation.high is None:
        assert low == pytest.approx(true[relation.of], rel=1e-9, abs=1e-9), relation.words
    else:
        assert low - 1e-9 <= true[relation.of] <= relation.high(point) + 1e-9, relation.words


@pytest.mark.parametrize("told", [True, False])
@pytest.mark.parametrize("labels", [("a", "b", "c"), ("a", "b", "c", "d")])
def test_identities_hold_of_matrices_of_several_classes(
    labels: tuple[str, ...], *, told: bool
) -> None:
    rng = random.Random(len(labels))
    for _ in range(3):
        matrix = [[rng.randint(1, 30) for _ in labels] for _ in labels]
        n = sum(map(sum, matrix))
        shares = {label: sum(row) / n for label, row in zip(labels, matrix, strict=True)}
        web = identities_of(Classes(labels), wanted(labels), shares if told else None)
        true = {name: truth(name, labels, matrix) for name in web.ranges}
        for name, (low, high) in web.ranges.items():
            assert low <= true[name] <= high
        for relation in web.relations:
            check(relation, true)
        bound = {relation.of for relation in web.relations}
        assert {f"{name}.macro" for name in AVERAGED} <= bound
        assert ("accuracy" in bound) == told
        assert ("precision.weighted" in bound) == told
        assert {"balanced_accuracy", "g_mean", "recall.weighted"} <= bound
        if told:
            for label in labels:
                assert web.ranges[f"{label}|prevalence"] == (shares[label], shares[label])


@pytest.mark.parametrize("told", [True, False])
def test_identities_hold_of_matrices_of_two_classes(*, told: bool) -> None:
    rng = random.Random(2)
    labels = ("normal", "attack")
    names = [TWO.named(label, find(name)) for label in labels for name in OF_CLASS]
    averages = [f"{name}.{how}" for name in AVERAGED for how in ("macro", "micro", "weighted")]
    for _ in range(3):
        matrix = [[rng.randint(1, 30) for _ in labels] for _ in labels]
        n = sum(map(sum, matrix))
        shares = {label: sum(row) / n for label, row in zip(labels, matrix, strict=True)}
        web = identities_of(TWO, [*names, *averages], shares if told else {})
        true = {}
        for name in web.ranges:
            own = name if "." in name or "|" in name or find(name).classes else f"attack|{name}"
            true[name] = truth(own, labels, matrix)
        for relation in web.relations:
            check(relation, true)
        bound = {relation.of for relation in web.relations}
        assert {f"{name}.{how}" for name in AVERAGED for how in ("macro", "weighted")} <= bound
        assert {"normal|prevalence", "normal|alert_rate", "accuracy", "mcc"} <= bound


def test_identities_hold_of_rows_with_several_labels() -> None:
    rng = random.Random(4)
    labels = ("a", "b", "c")
    classes = Classes(labels, exclusive=False)
    for _ in range(5):
        tables = [{c: rng.randint(1, 30) for c in ("TP", "FP", "FN", "TN")} for _ in labels]
        rows = [table["TP"] + table["FN"] for table in tables]
        shares = {label: r / sum(rows) for label, r in zip(labels, rows, strict=True)}
        every = [f"{name}.{how}" for name in AVERAGED for how in ("macro", "micro", "weighted")]
        web = identities_of(classes, every, shares)
        true = {}
        for name in web.ranges:
            label, bar, measure = name.rpartition("|")
            base, _, how = name.rpartition(".")
            if bar:
                formula = find(measure).formula
                assert formula is not None
                true[name] = value(formula, tables[labels.index(label)])
            elif how in ("macro", "micro", "weighted"):
                true[name] = average(base, tables, how)
        for relation in web.relations:
            if relation.of in true:
                check(relation, true)
        bound = {relation.of for relation in web.relations}
        assert {"recall.micro", "precision.micro", "f1.micro", "f1.macro", "f1.weighted"} <= bound
        pairs = {(relation.of, relation.args) for relation in web.relations}
        assert ("f1.micro", ("precision.micro", "recall.micro")) in pairs
        assert ("f1.micro", ("jaccard.micro",)) not in pairs
        # What rises with each class is looked at in two corners, however many classes there are.
        of_classes = [r for r in web.relations if "." in r.of and "|" not in r.of]
        of_classes = [r for r in of_classes if all("|" in arg for arg in r.args)]
        assert {r.of.rpartition(".")[2] for r in of_classes} == {"macro", "micro", "weighted"}
        assert all(relation.rising for relation in of_classes)
        # A row may have any labels, so the shares of rows are not those of the labels.
        assert web.ranges["a|prevalence"] == (0.0, 1.0)
        assert "accuracy" not in bound


def bound(classes: Classes, *wanted: str, **shares: float) -> set[tuple[str, tuple[str, ...]]]:
    """What the wanted quantities are bound to, the rates of the classes apart."""
    basic = {(r.of, r.args) for r in identities_of(classes, [], shares).relations}
    web = identities_of(classes, wanted, shares)
    return {(relation.of, relation.args) for relation in web.relations} - basic


def test_where_classes_are_not_all_told_averages_are_bound_to_each_other_alone() -> None:
    some = Classes(("a", "b"), all_told=False)
    parts = ("precision.macro", "recall.macro")
    assert bound(some, "f1.macro") == {("f1.macro", parts)}
    assert bound(some, "recall.macro") == set()
    assert bound(some, "f1.micro") == {("f1.micro", ("accuracy",))}
    assert bound(some, "specificity.micro") == set()
    assert ("specificity.micro", ("accuracy",)) in bound(TWO, "specificity.micro")
    assert bound(some, "recall.weighted") == {("recall.weighted", ("accuracy",))}
    assert bound(some, "balanced_accuracy") == set()
    assert bound(Classes(), "f1.average") == {("f1.average", ("precision.average", "recall.average"))}  # fmt: skip # noqa: E501
    assert bound(Classes(), "recall.macro") == set()
    assert bound(Classes(), "g_mean") == set()
    loose = Classes(("a", "b"), all_told=False, exclusive=False)
    assert bound(loose, "recall.micro") == set()
    assert bound(loose, "recall.weighted") == set()
    assert bound(loose, "precision.micro") == set()


def test_the_accuracy_is_bound_to_the_recalls_where_their_weights_are_told() -> None:
    web = identities_of(THREE, [], {"a": 0.5, "b": 0.25, "c": 0.25})
    (relation,) = [each for each in web.relations if each.of == "accuracy"]
    assert relation.args == ("a|recall", "b|recall", "c|recall")
    assert relation.low((0.2, 0.4, 0.8)) == pytest.approx(0.4)
    assert relation.rising
    for classes, shares in (
        (THREE, {}),
        (THREE, {"a": 0.5, "b": 0.25}),
        (Classes(("a", "b", "c"), all_told=False), {"a": 0.5, "b": 0.25, "c": 0.25}),
        (Classes(("a", "b", "c"), exclusive=False), {"a": 0.5, "b": 0.25, "c": 0.25}),
        (Classes(), {}),
    ):
        web = identities_of(classes, [], shares)
        assert "accuracy" not in {each.of for each in web.relations}


def test_a_weighted_average_of_two_classes_lies_between_them() -> None:
    web = identities_of(TWO, ["f1.weighted"])
    (relation,) = [r for r in web.relations if r.of == "f1.weighted" and len(r.args) == 3]
    assert relation.args == ("attack|prevalence", "normal|f1", "attack|f1")
    assert relation.low((0.25, 0.8, 0.4)) == pytest.approx(0.25 * 0.4 + 0.75 * 0.8)
    told = identities_of(TWO, ["f1.weighted"], {"normal": 0.75, "attack": 0.25})
    (relation,) = [r for r in told.relations if r.args == ("normal|f1", "attack|f1")]
    assert relation.low((0.8, 0.4)) == pytest.approx(0.25 * 0.4 + 0.75 * 0.8)


def test_some_average_lies_anywhere_between_two_classes() -> None:
    web = identities_of(TWO, ["recall@recall"])
    (relation,) = [each for each in web.relations if each.of == "recall@recall"]
    assert relation.args == ("recall@recall@", "attack|specificity", "attack|recall")
    assert web.ranges["recall@recall@"] == (0.0, 1.0)
    assert web.ranges["recall@recall"] == (0, 1)
    box = {**web.ranges, "attack|specificity": (0.5, 0.5), "attack|recall": (0.7, 0.7)}
    assert settle(box, web.relations)["recall@recall"] == pytest.approx((0.5, 0.7))


def test_an_average_of_f_scores_is_at_most_the_mean_that_it_weighs() -> None:
    for name, beta in (("f1", 1.0), ("f2", 2.0), ("f0.5", 0.5)):
        web = identities_of(THREE, [f"{name}.macro"])
        (relation,) = [r for r in web.relations if r.args == ("precision.macro", "recall.macro")]
        high = relation.high
        assert high is not None
        assert high((0.2, 0.8)) == pytest.approx((0.2 + beta**2 * 0.8) / (1 + beta**2))
        assert relation.low((0.2, 0.8)) == 0.0
        assert relation.rising


def test_an_area_is_bound_to_the_operating_point() -> None:
    web = identities_of(TWO, ["roc_auc"])
    (relation,) = [each for each in web.relations if each.of == "roc_auc"]
    assert relation.args == ("attack|recall", "attack|specificity")
    high = relation.high
    assert high is not None
    assert relation.low((0.9, 0.8)) == pytest.approx(0.72)
    assert high((0.9, 0.8)) == pytest.approx(1 - 0.1 * 0.2)
    # These have bounds that are no formulas of the two rates.
    assert bound(TWO, "equal_error_rate") == set()
    assert bound(TWO, "ks") == set()
    assert bound(TWO, "brier") == set()


def test_micro_averages_of_classes_that_exclude_each_other_follow_from_the_accuracy() -> None:
    for name, of_accuracy in (
        ("recall", lambda a: a), ("f1", lambda a: a), ("jaccard", lambda a: a / (2 - a)),
        ("specificity", lambda a: (1 + a) / 2), ("npv", lambda a: (1 + a) / 2),
    ):  # fmt: skip
        web = identities_of(THREE, [f"{find(name).name}.micro"])
        (relation,) = [r for r in web.relations if r.args == ("accuracy",) and r.of.endswith("micro")]  # fmt: skip # noqa: E501
        for a in (0.1, 0.5, 0.9):
            assert relation.low((a,)) == pytest.approx(of_accuracy(a))


def test_means_over_classes_are_arithmetic_or_geometric() -> None:
    web = identities_of(THREE, ["balanced_accuracy", "g_mean"])
    by_name = {r.of: r for r in web.relations if r.of in ("balanced_accuracy", "g_mean")}
    assert by_name["balanced_accuracy"].low((0.2, 0.4, 0.9)) == pytest.approx(0.5)
    assert by_name["g_mean"].low((0.2, 0.4, 0.8)) == pytest.approx(0.4)
    assert by_name["g_mean"].low((-1e-12, 0.4, 0.8)) == 0.0
    assert by_name["g_mean"].words == "g mean is the geometric mean of the recalls"
    assert by_name["balanced_accuracy"].words == "balanced accuracy is the mean of the recalls"
    assert all(relation.rising for relation in by_name.values())


def test_relations_that_rise_are_marked_so_and_others_are_not() -> None:
    web = identities_of(THREE, wanted(THREE.labels), {"a": 0.5, "b": 0.25, "c": 0.25})
    grid = (0.2, 0.5, 0.8)
    for relation in web.relations:
        if not relation.rising:
            continue
        for point in itertools.product(grid[:2], repeat=len(relation.args)):
            for k in range(len(point)):
                more = (*point[:k], point[k] + 0.3, *point[k + 1 :])
                assert relation.low(more) >= relation.low(point)
    of_classes = [r for r in web.relations if "|" not in r.of and all("|" in a for a in r.args)]
    assert all(relation.rising for relation in of_classes)
    marked = {r.of.rpartition(".")[2] for r in web.relations if r.rising and "." in r.of}
    assert marked == {"macro", "weighted"}
    assert sum(r.rising for r in web.relations if r.of == "accuracy") == 1
    assert not any(relation.rising for relation in identities_of(TWO, []).relations)
    assert ACCURACY.name in web.ranges
