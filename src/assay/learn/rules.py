"""A decision tree as rules that people can read, in the units of the file."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from assay.errors import InputError
from assay.learn.encoding import ChiSquare, Columns
from assay.learn.explained import ENTROPY, GINI, NodeSplit, Rule, TreeRules

# What a tree may split by.
CRITERIA = GINI, ENTROPY
_MOST_NAMES = 6


@dataclass(frozen=True)
class _Bound:
    """Between which values a column lies on the way to a leaf: above low, up to high."""

    low: float = -np.inf
    high: float = np.inf


def impurity(shares: Iterable[float], criterion: str = GINI) -> float:
    """How mixed the classes of a node are, by their counts or shares: 0 where there is only one.

    Gini's is 1 - sum of p_c^2, the chance that two rows drawn from the node differ in class;
    entropy is -sum of p_c log2 p_c, in bits.

    Reference: Breiman et al. 1984; document 000, section 14.

    >>> impurity([50, 50]), impurity([70, 10]), impurity([50, 50], "entropy")
    (0.5, 0.21875, 1.0)
    """
    if criterion not in CRITERIA:
        raise InputError(f"a criterion is {' or '.join(CRITERIA)}; found {criterion!r}")
    exact = [Fraction(share) for share in shares]
    if not exact or min(exact) < 0 or not any(exact):
        raise InputError(f"expected counts or shares of classes; found {[float(x) for x in exact]}")
    whole = sum(exact)
    if criterion == GINI:
        return float(1 - sum((share / whole) ** 2 for share in exact))
    there = [float(share / whole) for share in exact if share]
    return math.fsum(-share * math.log2(share) for share in there) + 0.0


def criterion_of(model: Any) -> str | None:
    """Which impurity the trees of a model lower; None of any other model."""
    criterion = getattr(model, "criterion", None)
    return criterion if criterion in CRITERIA else None


def rules_of_tree(model: Any, labels: Sequence[str]) -> TreeRules | None:
    """The rules of a model that is a tree; None of any other."""
    steps = getattr(model, "steps", ())
    is_tree = steps and isinstance(steps[-1][1], DecisionTreeClassifier)
    return rules_of(model, labels) if is_tree else None


def rules_of(pipeline: Pipeline, labels: Sequence[str]) -> TreeRules:
    """The rules of a fitted tree."""
    model = pipeline[-1]
    if not isinstance(model, DecisionTreeClassifier):
        raise InputError(
            f"only a decision tree has rules to read; this model is {type(model).__name__}"
        )
    told = _Tree(pipeline, [labels[int(code)] for code in model.classes_])
    leaves, splits = [], []
    for node, bounds in _nodes(model.tree_, 0, {}):
        if _is_leaf(model.tree_, node):
            leaves.append(told.leaf(node, bounds))
        else:
            splits.append(told.split(node, bounds))
    return TreeRules(
        told.criterion,
        tuple(sorted(leaves, key=lambda rule: -rule.rows)),
        tuple(sorted(splits, key=lambda split: -split.weighted_decrease)),
    )


class _Tree:
    """A fitted tree, the units of its columns, and the impurity of its nodes."""

    def __init__(self, pipeline: Pipeline, labels: Sequence[str]) -> None:
        self._tree, self._labels = pipeline[-1].tree_, labels
        # scikit-learn has another name for the entropy, and no third criterion.
        self.criterion = GINI if pipeline[-1].criterion == GINI else ENTROPY
        self._names, self._units = _units(pipeline)
        columns: Columns = pipeline[0]
        self._categories = dict(zip(columns.names_, columns.categories_, strict=True))
        self._shares = [value[0] / value[0].sum() for value in self._tree.value]
        self._impurity = [impurity(shares.tolist(), self.criterion) for shares in self._shares]

    def leaf(self, node: int, bounds: Mapping[int, _Bound]) -> Rule:
        code = int(self._shares[node].argmax())
        return Rule(
            self._conditions(bounds),
            self._labels[code],
            float(self._shares[node][code]),
            int(self._tree.n_node_samples[node]),
            self._by_label(node),
            self._impurity[node],
        )

    def split(self, node: int, bounds: Mapping[int, _Bound]) -> NodeSplit:
        tree = self._tree
        left, right = int(tree.children_left[node]), int(tree.children_right[node])
        column, weights = int(tree.feature[node]), tree.weighted_n_node_samples
        after = math.fsum(
            float(weights[child] / weights[node]) * self._impurity[child] for child in (left, right)
        )
        decrease = self._impurity[node] - after
        return NodeSplit(
            self._conditions(bounds),
            self._names[column],
            self._divides(column, float(tree.threshold[node]), bounds.get(column, _Bound())),
            int(tree.n_node_samples[node]),
            int(tree.n_node_samples[left]),
            self._by_label(node),
            self._impurity[node],
            decrease,
            float(weights[node] / weights[0]) * decrease,
        )

    def _by_label(self, node: int) -> dict[str, float]:
        return dict(zip(self._labels, self._shares[node].tolist(), strict=True))

    def _conditions(self, bounds: Mapping[int, _Bound]) -> tuple[str, ...]:
        return tuple(self._condition(column, bound) for column, bound in bounds.items())

    def _divides(self, column: int, cut: float, known: _Bound) -> str:
        """What holds for the rows that go left; of categories, among those that come here."""
        some = self._categories.get(self._names[column])
        return self._condition(column, _Bound(known.low if some else -np.inf, cut))

    def _condition(self, column: int, bound: _Bound) -> str:
        name = self._names[column]
        return _condition(name, bound, self._units[column], self._categories.get(name, []))


def _is_leaf(tree: Any, node: int) -> bool:
    return bool(tree.children_left[node] == tree.children_right[node])


def _nodes(
    tree: Any, node: int, bounds: Mapping[int, _Bound]
) -> Iterator[tuple[int, Mapping[int, _Bound]]]:
    """Each node, and the bounds of the columns on the way to it."""
    yield node, bounds
    if _is_leaf(tree, node):
        return
    left, right = int(tree.children_left[node]), int(tree.children_right[node])
    column, cut = int(tree.feature[node]), float(tree.threshold[node])
    known = bounds.get(column, _Bound())
    below, above = _Bound(known.low, min(known.high, cut)), _Bound(max(known.low, cut), known.high)
    yield from _nodes(tree, left, {**bounds, column: below})
    yield from _nodes(tree, right, {**bounds, column: above})


def _units(pipeline: Pipeline) -> tuple[list[str], list[tuple[float, float]]]:
    """For each column that the tree sees its name, and the scale and shift back to the file's."""
    names = list(pipeline[0].get_feature_names_out())
    scale, shift = np.ones(len(names)), np.zeros(len(names))
    for step in pipeline[1:-1]:
        if isinstance(step, MinMaxScaler):
            shift = shift + scale * (-step.min_ / step.scale_)
            scale = scale / step.scale_
        elif isinstance(step, StandardScaler):
            shift = shift + scale * step.mean_
            scale = scale * step.scale_
        elif isinstance(step, ChiSquare):
            names = [names[i] for i in step.chosen_]
            scale, shift = scale[step.chosen_], shift[step.chosen_]
        else:
            raise InputError(f"rules can't be told behind a step {type(step).__name__}")
    return [str(name) for name in names], list(zip(scale.tolist(), shift.tolist(), strict=True))


def _condition(
    name: str, bound: _Bound, unit: tuple[float, float], categories: Sequence[str]
) -> str:
    low, high = (limit * unit[0] + unit[1] for limit in (bound.low, bound.high))
    if categories:
        kept = [text for code, text in enumerate(categories) if low < code <= high]
        return _among(name, kept, [text for text in categories if text not in set(kept)])
    if np.isinf(low):
        return f"{name} <= {high:.6g}"
    if np.isinf(high):
        return f"{name} > {low:.6g}"
    return f"{low:.6g} < {name} <= {high:.6g}"


def _among(name: str, kept: Sequence[str], others: Sequence[str]) -> str:
    """Which categories are meant, told by the shorter list."""
    if len(kept) == 1:
        return f"{name} is {kept[0]}"
    if len(others) < len(kept) and len(others) <= _MOST_NAMES:
        return f"{name} is not {' or '.join(others)}" if others else f"{name} is anything"
    shown = list(kept[:_MOST_NAMES])
    more = f" or {len(kept) - _MOST_NAMES} more" if len(kept) > _MOST_NAMES else ""
    return f"{name} is {' or '.join(shown)}{more}"
