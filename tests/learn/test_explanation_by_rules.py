"""A tree as rules: what they say is what the tree does."""

import math
import re
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.pipeline import Pipeline
from sklearn.tree import DecisionTreeClassifier

from assay.errors import InputError
from assay.learn.encoding import ColumnEncoder, Standard
from assay.learn.explanation import CRITERIA, impurity, impurity_importance, rules_of
from assay.learn.recipes import Task, find_recipe

LABELS = ("normal", "attack")


def rows(count: int = 400) -> tuple[pl.DataFrame, np.ndarray]:
    generator = np.random.default_rng(5)
    size = generator.integers(40, 1500, count)
    proto = generator.choice(["icmp", "tcp", "udp"], count)
    truth = ((size > 900) & (proto != "tcp")).astype(int)
    return pl.DataFrame({"size": size, "proto": proto}), truth


def holds(condition: str, row: dict) -> bool:
    """Whether a condition, read as a person would, holds for a row."""
    if match := re.fullmatch(r"(\S+) < (\w+) <= (\S+)", condition):
        return float(match[1]) < row[match[2]] <= float(match[3])
    if match := re.fullmatch(r"(\w+) (<=|>) (\S+)", condition):
        below = row[match[1]] <= float(match[3])
        return below if match[2] == "<=" else not below
    match = re.fullmatch(r"(\w+) is (not )?(.*)", condition)
    assert match
    return (row[match[1]] in match[3].split(" or ")) != bool(match[2])


def test_each_row_fits_one_rule_and_it_says_what_the_tree_says() -> None:
    frame, truth = rows()
    pipeline = find_recipe("tree").pipeline(Task(LABELS, "attack")).fit(frame, truth)
    rules = rules_of(pipeline, LABELS).leaves
    said = pipeline.predict(frame)
    for row, code in zip(frame.iter_rows(named=True), said, strict=True):
        (rule,) = (r for r in rules if all(holds(c, row) for c in r.conditions))
        assert rule.label == LABELS[code]
    assert sum(rule.rows for rule in rules) == frame.height
    assert [rule.rows for rule in rules] == sorted((rule.rows for rule in rules), reverse=True)


def test_limits_are_in_the_units_of_the_file() -> None:
    frame = pl.DataFrame({"size": [100.0, 200.0, 300.0, 400.0]})
    for scaled in (False, True):
        steps = [("columns", ColumnEncoder())] + ([("scale", Standard())] if scaled else [])
        tree = Pipeline([*steps, ("model", DecisionTreeClassifier())]).fit(frame, [0, 0, 1, 1])
        texts = {rule.text for rule in rules_of(tree, LABELS).leaves}
        assert texts == {
            "size <= 250: normal (100% of 2 rows)",
            "size > 250: attack (100% of 2 rows)",
        }


def test_a_tree_without_a_split_has_one_rule() -> None:
    pipeline = find_recipe("tree").pipeline(Task(LABELS, "attack"))
    pipeline.fit(pl.DataFrame({"a": [1.0, 1.0, 1.0]}), [0, 1, 1])
    (rule,) = rules_of(pipeline, LABELS).leaves
    assert rule.text.startswith("always: ")


def test_other_models_have_no_rules() -> None:
    frame, truth = rows(60)
    forest = find_recipe("forest").pipeline(Task(LABELS, "attack"), {"trees": 2})
    with pytest.raises(InputError, match="only a decision tree"):
        rules_of(forest.fit(frame, truth), LABELS)


# -- impurity --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("counts", "gini", "entropy"),
    [
        ([50, 50], Fraction(1, 2), 1.0),
        ([10, 0], Fraction(0), 0.0),
        ([70, 10], Fraction(7, 32), 0.5435644431995964),
        ([1, 1, 1, 1], Fraction(3, 4), 2.0),
        ([2, 1, 1], Fraction(5, 8), 1.5),
        ([1, 2, 3], Fraction(11, 18), 1.4591479170272448),
    ],
)
def test_impurity_by_hand(counts: list[int], gini: Fraction, entropy: float) -> None:
    assert impurity(counts) == float(gini)
    assert impurity(counts, "entropy") == pytest.approx(entropy, rel=1e-15)


def test_the_decrease_of_document_000() -> None:
    # Its right child of 20 rows is said to hold 50 of them: the weights are those of 80 and 20.
    assert impurity([50, 50]) == 0.5
    assert round(impurity([70, 10]), 3) == 0.219
    assert round(impurity([10, 40]), 2) == 0.32
    assert round(0.5 - (0.8 * impurity([70, 10]) + 0.2 * impurity([10, 40])), 3) == 0.261


@given(st.lists(st.integers(0, 10**9), min_size=2, max_size=6).filter(any))
def test_impurity_is_that_of_shares_least_when_pure_and_most_when_even(counts: list[int]) -> None:
    classes, shares = len(counts), [count / sum(counts) for count in counts]
    assert 0 <= impurity(counts) <= 1 - 1 / classes + 1e-12
    assert 0 <= impurity(counts, "entropy") <= math.log2(classes) + 1e-12
    assert (impurity(counts) == 0) == (sum(map(bool, counts)) == 1)
    for criterion in CRITERIA:
        assert impurity(shares, criterion) == pytest.approx(impurity(counts, criterion), abs=1e-12)


@pytest.mark.parametrize(
    ("given_", "message"),
    [
        (([], "gini"), "counts or shares"),
        (([0, 0], "gini"), "counts or shares"),
        (([-1, 2], "gini"), "counts or shares"),
        (([1, 2], "mse"), "gini or entropy; found 'mse'"),
    ],
)
def test_what_has_no_impurity_is_refused(given_: tuple[list[int], str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        impurity(*given_)


def test_splits_by_hand() -> None:
    """Ten rows, 6 and 4: the first split parts 5 of one class, the second the rest."""
    frame = pl.DataFrame({"size": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]})
    truth = [0, 0, 0, 0, 0, 1, 1, 1, 1, 0]
    tree = Pipeline(
        [("columns", ColumnEncoder()), ("model", DecisionTreeClassifier(random_state=0))]
    )
    rules = rules_of(tree.fit(frame, truth), LABELS)
    first, second = rules.splits
    assert (rules.criterion, first.divides, first.conditions) == ("gini", "size <= 5.5", ())
    assert (first.rows, first.rows_left, second.rows) == (10, 5, 5)
    # 1 - 0.36 - 0.16, less half of 1 - 0.64 - 0.04
    assert first.impurity == pytest.approx(float(Fraction(12, 25)), abs=1e-15)
    assert first.decrease == pytest.approx(float(Fraction(12, 25) - Fraction(8, 50)), abs=1e-15)
    assert first.weighted_decrease == first.decrease
    assert second.conditions == ("size > 5.5",)
    assert second.divides == "size <= 9.5"
    assert second.decrease == pytest.approx(0.32, abs=1e-15)
    assert second.weighted_decrease == pytest.approx(0.16, abs=1e-15)
    assert first.shares == {"normal": 0.6, "attack": 0.4}
    assert [(rule.rows, rule.impurity) for rule in rules.leaves] == [(5, 0), (4, 0), (1, 0)]


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("balanced", [False, True])
@pytest.mark.parametrize("classes", [2, 3])
def test_impurity_and_decrease_are_those_of_scikit_learn(
    criterion: str, balanced: bool, classes: int
) -> None:
    generator = np.random.default_rng(classes)
    frame, _ = rows(500)
    truth = (frame["size"].to_numpy() // 500 + generator.integers(0, 2, 500)).clip(0, classes - 1)
    labels = ("a", "b", "c")[:classes]
    settings = {"depth": 4, "criterion": criterion, "balanced": balanced}
    pipeline = find_recipe("tree").pipeline(Task(labels), settings).fit(frame, truth)
    rules, tree = rules_of(pipeline, labels), pipeline[-1].tree_
    assert rules.criterion == criterion
    inner = tree.children_left != tree.children_right
    for splits, theirs in (
        (rules.splits, tree.impurity[inner]),
        (rules.leaves, tree.impurity[~inner]),
    ):
        assert sorted(each.impurity for each in splits) == pytest.approx(sorted(theirs), abs=1e-12)
    total = dict.fromkeys(frame.columns, 0.0)
    for split in rules.splits:
        total[split.column] += split.weighted_decrease
    whole = math.fsum(total.values())
    mdi = impurity_importance(pipeline)
    assert {name: part / whole for name, part in total.items()} == pytest.approx(mdi, abs=1e-12)
    # What splits take away is what the root had and the leaves have left.
    weights = tree.weighted_n_node_samples
    left = math.fsum((weights * tree.impurity)[~inner]) / weights[0]
    assert whole == pytest.approx(tree.impurity[0] - left, abs=1e-12)


def test_another_name_of_the_entropy_is_the_entropy() -> None:
    frame, truth = rows(100)
    for criterion in ("entropy", "log_loss"):
        steps = [
            ("columns", ColumnEncoder()),
            ("model", DecisionTreeClassifier(criterion=criterion)),
        ]
        rules = rules_of(Pipeline(steps).fit(frame, truth), LABELS)
        share = truth.mean()
        assert rules.criterion == "entropy"
        assert rules.splits[0].impurity == pytest.approx(impurity([share, 1 - share], "entropy"))


def test_shares_are_those_of_the_rows_that_come_to_a_node() -> None:
    frame, truth = rows()
    settings = {"balanced": False, "depth": 3}
    pipeline = find_recipe("tree").pipeline(Task(LABELS, "attack"), settings)
    rules = rules_of(pipeline.fit(frame, truth), LABELS)
    for node in (*rules.leaves, *rules.splits):
        here = [
            code
            for row, code in zip(frame.iter_rows(named=True), truth, strict=True)
            if all(holds(condition, row) for condition in node.conditions)
        ]
        assert node.rows == len(here)
        assert node.shares["attack"] == pytest.approx(sum(here) / len(here))
        assert node.impurity == pytest.approx(impurity([sum(here), len(here) - sum(here)]))
    for split in rules.splits:
        left = [
            row
            for row in frame.iter_rows(named=True)
            if all(holds(condition, row) for condition in (*split.conditions, split.divides))
        ]
        assert len(left) == split.rows_left
