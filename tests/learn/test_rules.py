"""A tree as rules: what they say is what the tree does."""

import re

import numpy as np
import polars as pl
import pytest
from sklearn.pipeline import Pipeline
from sklearn.tree import DecisionTreeClassifier

from assay.errors import InputError
from assay.learn.encoding import Columns, Standard
from assay.learn.recipes import Task, find_recipe
from assay.learn.rules import rules_of

LABELS = ("normal", "attack")


def rows(count: int = 400) -> tuple[pl.DataFrame, np.ndarray]:
    generator = np.random.default_rng(5)
    size = generator.integers(40, 1500, count)
    proto = generator.choice(["icmp", "tcp", "udp"], count)
    truth = ((size > 900) & (proto != "tcp")).astype(int)
    return pl.DataFrame({"size": size, "proto": proto}), truth


def holds(condition: str, row: dict) -> bool:
    """Whether a condition, read as a person would, holds for a row."""
    if found := re.fullmatch(r"(\S+) < (\w+) <= (\S+)", condition):
        return float(found[1]) < row[found[2]] <= float(found[3])
    if found := re.fullmatch(r"(\w+) (<=|>) (\S+)", condition):
        below = row[found[1]] <= float(found[3])
        return below if found[2] == "<=" else not below
    found = re.fullmatch(r"(\w+) is (not )?(.*)", condition)
    assert found
    return (row[found[1]] in found[3].split(" or ")) != bool(found[2])


def test_each_row_fits_one_rule_and_it_says_what_the_tree_says() -> None:
    frame, truth = rows()
    pipeline = find_recipe("ddos-tree").pipeline(Task(LABELS, "attack")).fit(frame, truth)
    rules = rules_of(pipeline, LABELS)
    said = pipeline.predict(frame)
    for row, code in zip(frame.iter_rows(named=True), said, strict=True):
        (rule,) = (r for r in rules if all(holds(c, row) for c in r.conditions))
        assert rule.label == LABELS[code]
    assert sum(rule.rows for rule in rules) == frame.height
    assert [rule.rows for rule in rules] == sorted((rule.rows for rule in rules), reverse=True)


def test_limits_are_in_the_units_of_the_file() -> None:
    frame = pl.DataFrame({"size": [100.0, 200.0, 300.0, 400.0]})
    for scaled in (False, True):
        steps = [("columns", Columns())] + ([("scale", Standard())] if scaled else [])
        tree = Pipeline([*steps, ("model", DecisionTreeClassifier())]).fit(frame, [0, 0, 1, 1])
        texts = {rule.text for rule in rules_of(tree, LABELS)}
        assert texts == {
            "size <= 250: normal (100.0% of 2 rows)",
            "size > 250: attack (100.0% of 2 rows)",
        }


def test_a_tree_without_a_split_has_one_rule() -> None:
    pipeline = find_recipe("ddos-tree").pipeline(Task(LABELS, "attack"))
    pipeline.fit(pl.DataFrame({"a": [1.0, 1.0, 1.0]}), [0, 1, 1])
    (rule,) = rules_of(pipeline, LABELS)
    assert rule.text.startswith("always: ")


def test_other_models_have_no_rules() -> None:
    frame, truth = rows(60)
    forest = find_recipe("safelink-forest").pipeline(Task(LABELS, "attack"), {"trees": 2})
    with pytest.raises(InputError, match="only a decision tree"):
        rules_of(forest.fit(frame, truth), LABELS)
