"""A decision tree as rules that people can read, in the units of the file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from assay.errors import InputError
from assay.learn.encoding import ChiSquare, Columns

_MOST_NAMES = 6


@dataclass(frozen=True)
class Rule:
    """One leaf: what must hold, the label it gives, and the training rows it has.

    ``share`` is that of the label among the rows of the leaf, as the tree weighs them.
    """

    conditions: tuple[str, ...]
    label: str
    share: float
    rows: int

    @property
    def text(self) -> str:
        """The rule as a sentence."""
        when = " and ".join(self.conditions) or "always"
        return f"{when}: {self.label} ({self.share:.1%} of {self.rows:,} rows)"


@dataclass(frozen=True)
class _Bound:
    """Between which values a column lies on the way to a leaf: above low, up to high."""

    low: float = -np.inf
    high: float = np.inf


def rules_of_tree(model: Any, labels: Sequence[str]) -> tuple[Rule, ...]:
    """The rules of a model that is a tree; none of any other."""
    steps = getattr(model, "steps", ())
    is_tree = steps and isinstance(steps[-1][1], DecisionTreeClassifier)
    return rules_of(model, labels) if is_tree else ()


def rules_of(pipeline: Pipeline, labels: Sequence[str]) -> tuple[Rule, ...]:
    """The rules of a fitted tree, those with the most training rows first."""
    model = pipeline[-1]
    if not isinstance(model, DecisionTreeClassifier):
        raise InputError(
            f"only a decision tree has rules to read; this model is {type(model).__name__}"
        )
    columns: Columns = pipeline[0]
    names, units = _units(pipeline)
    categories = dict(zip(columns.names_, columns.categories_, strict=True))
    found = []
    for leaf, bounds in _leaves(model.tree_, 0, {}):
        value = model.tree_.value[leaf][0]
        shares = value / value.sum()
        code = int(shares.argmax())
        conditions = tuple(
            _condition(names[i], bound, units[i], categories.get(names[i], []))
            for i, bound in bounds.items()
        )
        label = labels[int(model.classes_[code])]
        rows = int(model.tree_.n_node_samples[leaf])
        found.append(Rule(conditions, label, float(shares[code]), rows))
    return tuple(sorted(found, key=lambda rule: -rule.rows))


def _leaves(
    tree: Any, node: int, bounds: Mapping[int, _Bound]
) -> Iterator[tuple[int, Mapping[int, _Bound]]]:
    """Each leaf, and the bounds of the columns on the way to it."""
    left, right = int(tree.children_left[node]), int(tree.children_right[node])
    if left == right:
        yield node, bounds
        return
    column, cut = int(tree.feature[node]), float(tree.threshold[node])
    known = bounds.get(column, _Bound())
    below, above = _Bound(known.low, min(known.high, cut)), _Bound(max(known.low, cut), known.high)
    yield from _leaves(tree, left, {**bounds, column: below})
    yield from _leaves(tree, right, {**bounds, column: above})


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
