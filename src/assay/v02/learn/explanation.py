"""What a model relies on: columns, by its trees (MDI) and by what shuffling costs; words; rules."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from assay.errors import InputError
from assay.v02.inference.estimate import Estimate
from assay.v02.inference.significance import student
from assay.v02.learn.calibration import Calibrated
from assay.v02.learn.encoding import ChiSquare, ColumnEncoder, frame_of
from assay.v02.learn.record import (
    ENTROPY,
    GINI,
    ColumnImportance,
    Importance,
    NodeSplit,
    TreeRule,
    TreeRules,
    Word,
)
from assay.v02.measures import ACCURACY, ROC_AUC, find, rank
from assay.v02.number_text import fixed, significant
from assay.v02.tally import ScoreTally

if TYPE_CHECKING:
    import polars as pl

Floats: TypeAlias = npt.NDArray[np.float64]

MISLEADS = (
    "MDI is measured on the training rows and favours columns with many distinct values: believe "
    "it only where shuffling the column costs as much."
)
INTERVAL = (
    "Its interval covers the chance of the shuffles on these rows, and not the choice of the rows."
)


WORDS = "words__"
# What a forest tells by holds for all classes at once.
ALL = "(all)"


def impurity_importance(pipeline: Pipeline) -> dict[str, float] | None:
    """The mean decrease of impurity (MDI) by column, which sum to 1; None for models without trees.

    The impurity is Gini's, or the entropy where trees split by that. For each column the weighted
    decreases of all its splits are added up, averaged over the trees and divided by their sum.
    Columns that were encoded as several are added up. All are 0 where no tree has a split.

    Reference: Breiman 2001; document 000, section 14.
    """
    importances = getattr(pipeline[-1], "feature_importances_", None)
    if importances is None or not isinstance(pipeline[0], ColumnEncoder):
        return None
    sources = _sources(pipeline)
    if len(sources) != len(importances):
        return None
    total: dict[str, float] = dict.fromkeys(pipeline[0].names_, 0.0)
    for source, decrease in zip(sources, importances, strict=True):
        total[source] += float(decrease)
    everything = math.fsum(total.values())
    return {name: part / everything if everything else 0.0 for name, part in total.items()}


def _sources(pipeline: Pipeline) -> list[str]:
    """The column that each input of the model comes from."""
    sources: list[str] = pipeline[0].sources_out()
    for step in pipeline[1:-1]:
        if isinstance(step, ChiSquare):
            sources = [sources[i] for i in step.chosen_]
    return sources


def importance_of(
    pipeline: Pipeline,
    frame: Any,
    truth: npt.NDArray[np.integer[Any]],
    labels: Sequence[str],
    *,
    repeats: int = 5,
    most_rows: int = 2000,
    level: float = 0.95,
    seed: int = 42,
) -> Importance:
    """What a fitted pipeline relies on, judged on rows that it did not learn from.

    Each column is shuffled ``repeats`` times among at most ``most_rows`` rows, drawn by ``seed``.
    """
    if not isinstance(pipeline[0], ColumnEncoder):
        return Importance(
            measure="",
            baseline=math.nan,
            words=telling_words(pipeline, labels),
            notes=("The weight of a word is how much it speaks for its class in the model.",),
        )
    rows = frame_of(frame)
    generator = np.random.default_rng(seed)
    part = np.arange(rows.height)
    if rows.height > most_rows:
        part = np.sort(generator.choice(rows.height, most_rows, replace=False))
    rows, truth = rows[part], np.asarray(truth)[part]
    mdi = impurity_importance(pipeline)
    judge = _Judge(pipeline, rows, truth, generator)
    columns = [
        ColumnImportance(
            name,
            math.nan if mdi is None else mdi[name],
            judge.cost(name, repeats, level),
            rows[name].n_unique(),
        )
        for name in pipeline[0].names_
    ]
    columns.sort(key=lambda row: (-_sortable(row.permutation), -_sortable(row.mdi), row.column))
    notes = (MISLEADS, INTERVAL) if mdi is not None else (INTERVAL,)
    return Importance(
        measure=judge.measure,
        baseline=judge.baseline,
        rows=tuple(columns),
        judged=len(part),
        repeats=repeats,
        notes=notes,
        disagreement=None if mdi is None else _disagreement(columns, judge.measure),
        criterion=None if mdi is None else criterion_of(pipeline[-1]),
    )


def _sortable(value: float) -> float:
    return -math.inf if math.isnan(value) else float(value)


class _Judge:
    """What shuffling columns costs, on some rows."""

    def __init__(
        self, pipeline: Pipeline, rows: pl.DataFrame, truth: Any, generator: np.random.Generator
    ) -> None:
        self._rest = pipeline[1:]
        self._classes = pipeline.classes_
        self._matrix: Floats = pipeline[0].transform(rows)
        self._sources = pipeline[0].sources_out()
        self._truth = truth
        self._used = set(_sources(pipeline))
        self._generator = generator
        both = len(np.unique(truth)) == 2
        self.measure = (ROC_AUC if len(self._classes) == 2 and both else ACCURACY).name
        self.baseline = float(self._measured(self._matrix, 1)[0])

    def cost(self, column: str, repeats: int, level: float) -> Estimate:
        """The mean fall of the measure over some shuffles, with the t interval of that mean."""
        n = len(self._matrix)
        if column not in self._used:
            return Estimate(0.0, 0.0, 0.0, method="exact", n=n, level=level, note="not used")
        at = np.flatnonzero([source == column for source in self._sources])
        # All shuffles in one matrix: a call of the model costs more than its rows.
        many = np.tile(self._matrix, (repeats, 1))
        for k in range(repeats):
            order = self._generator.permutation(n)
            many[k * n : (k + 1) * n, at] = self._matrix[np.ix_(order, at)]
        falls = self.baseline - self._measured(many, repeats)
        mean = float(falls.mean())
        if repeats < 2:
            return Estimate(mean, method="student", n=n, level=level, note="one shuffle only")
        reach = student(level, repeats - 1) * float(falls.std(ddof=1)) / math.sqrt(repeats)
        return Estimate(mean, mean - reach, mean + reach, method="student", n=n, level=level)

    def _measured(self, matrix: Floats, repeats: int) -> Floats:
        probabilities = np.asarray(self._rest.predict_proba(matrix))
        if self.measure == ROC_AUC.name:
            scores = probabilities[:, 1].reshape(repeats, -1)
            return np.array([_auc(each, self._truth) for each in scores])
        right = self._classes[probabilities.argmax(axis=1)].reshape(repeats, -1) == self._truth
        return np.asarray(right.mean(axis=1), np.float64)


def _auc(scores: Floats, truth: Any) -> float:
    tally = ScoreTally.of_rows(("negative", "positive"), scores, truth.astype(np.uint8))
    return rank(tally).auc.value


def _disagreement(rows: Sequence[ColumnImportance], measure: str) -> str | None:
    """A sentence where the column that MDI puts first costs nothing when it is shuffled."""
    if not rows:
        return None
    first = max(rows, key=lambda row: row.mdi)
    cost, most = first.permutation, max(row.permutation.value for row in rows)
    if first.mdi <= 0 or cost.low > 0 or (most <= 0 and cost.high > 0):
        return None
    return (
        f"MDI and shuffling disagree: column {first.column!r} is first by MDI "
        f"({fixed(first.mdi, 3)}), but shuffling it does not lower the {find(measure).short} "
        f"({cost.text(4)}). It has {first.distinct:,} distinct values among the rows judged"
        f"{', and MDI favours such columns' if first.distinct > 100 else ''}; another column may "
        f"also tell the same"
    )


# -- words -----------------------------------------------------------------------------------------


def telling_words(pipeline: Pipeline, labels: Sequence[str], most: int = 10) -> tuple[Word, ...]:
    """For each label the words with the largest weights, the strongest first.

    A linear model's weights; for naive Bayes how much likelier a word is in the class than in the
    mean of the others, as a logarithm; for a forest the MDI, for all classes at once. Where no
    words are terms, runs of characters stand for them.
    """
    terms = pipeline[-2]
    if not isinstance(terms, FeatureUnion):
        return ()
    names = terms.get_feature_names_out()
    words = np.array([str(name).startswith(WORDS) for name in names])
    if not words.any():
        words[:] = True
    weights = _weights(pipeline[-1])
    if weights is None:
        return ()
    at = np.flatnonzero(words)
    shown = [str(names[i]).partition("__")[2] for i in at]
    classes = [ALL] if len(weights) == 1 else [labels[int(c)] for c in pipeline.classes_]
    telling = []
    for label, row in zip(classes, weights[:, at], strict=True):
        order = np.lexsort((np.arange(len(at)), -row))[:most]
        telling += [Word(label, shown[i], float(row[i])) for i in order if row[i] > 0]
    return tuple(telling)


def _weights(model: Any) -> Floats | None:
    """A row of weights a class, one row for all where the model has no more; else None."""
    if isinstance(model, Calibrated):
        model = model.model_
    if hasattr(model, "coef_"):
        weights = np.asarray(model.coef_, np.float64)
        return np.vstack([-weights, weights]) if len(weights) == 1 else weights
    if hasattr(model, "feature_log_prob_"):
        chances = np.asarray(model.feature_log_prob_, np.float64)
        others = (chances.sum(axis=0) - chances) / (len(chances) - 1)
        return np.asarray(chances - others)
    if hasattr(model, "feature_importances_"):
        return np.asarray(model.feature_importances_, np.float64)[None, :]
    return None


# -- a decision tree as rules, in the units of the file --------------------------------------------

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
    total = sum(exact)
    if criterion == GINI:
        return float(1 - sum((share / total) ** 2 for share in exact))
    there = [float(share / total) for share in exact if share]
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
    described = _Tree(pipeline, [labels[int(code)] for code in model.classes_])
    leaves, splits = [], []
    for node, bounds in _nodes(model.tree_, 0, {}):
        if _is_leaf(model.tree_, node):
            leaves.append(described.leaf(node, bounds))
        else:
            splits.append(described.split(node, bounds))
    return TreeRules(
        described.criterion,
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
        columns: ColumnEncoder = pipeline[0]
        self._categories = dict(zip(columns.names_, columns.categories_, strict=True))
        self._shares = [value[0] / value[0].sum() for value in self._tree.value]
        self._impurity = [impurity(shares.tolist(), self.criterion) for shares in self._shares]

    def leaf(self, node: int, bounds: Mapping[int, _Bound]) -> TreeRule:
        code = int(self._shares[node].argmax())
        return TreeRule(
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

    def _divides(self, column: int, cut: float, bound: _Bound) -> str:
        """What holds for the rows that go left; of categories, among those that come here."""
        categories = self._categories.get(self._names[column])
        return self._condition(column, _Bound(bound.low if categories else -np.inf, cut))

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
    bound = bounds.get(column, _Bound())
    below, above = _Bound(bound.low, min(bound.high, cut)), _Bound(max(bound.low, cut), bound.high)
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
        return _category_list(name, kept, [text for text in categories if text not in set(kept)])
    if np.isinf(low):
        return f"{name} <= {significant(high, 6)}"
    if np.isinf(high):
        return f"{name} > {significant(low, 6)}"
    return f"{significant(low, 6)} < {name} <= {significant(high, 6)}"


def _category_list(name: str, kept: Sequence[str], others: Sequence[str]) -> str:
    """Which categories are meant, told by the shorter list."""
    if len(kept) == 1:
        return f"{name} is {kept[0]}"
    if len(others) < len(kept) and len(others) <= _MOST_NAMES:
        return f"{name} is not {' or '.join(others)}" if others else f"{name} is anything"
    shown = list(kept[:_MOST_NAMES])
    more = f" or {len(kept) - _MOST_NAMES} more" if len(kept) > _MOST_NAMES else ""
    return f"{name} is {' or '.join(shown)}{more}"
