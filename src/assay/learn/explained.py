"""What a model relies on, as data: columns, words, and the rules of a tree."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from assay.inference import Estimate
from assay.inference.fields import Recorded, codec_of, stored

GINI, ENTROPY = "gini", "entropy"


def _text(given: Any, at: str) -> str:
    found: str | None = codec_of(str | None).read(given, at)
    return found or ""


@dataclass(frozen=True)
class Word:
    """A word, or words, that speaks for a label, and how strongly."""

    label: str
    word: str
    weight: float


@dataclass(frozen=True)
class ColumnImportance:
    """One column: its MDI (nan where the model has none) and what shuffling it costs."""

    column: str
    mdi: float
    permutation: Estimate
    distinct: int


@dataclass(frozen=True)
class Importance(Recorded):
    """All columns, the most important first.

    ``measure`` is what falls when a column is shuffled: roc_auc for two classes, else accuracy.
    ``criterion`` is the impurity that MDI is of, where it is one of ours.
    ``words`` are those that tell most, for a model of texts. ``notes`` say how to read it, and
    ``disagreement`` where the two ways contradict each other.
    """

    measure: str = field(metadata=stored(write=lambda name: name or None, read=_text))
    baseline: float
    rows: tuple[ColumnImportance, ...] = field(default=(), metadata=stored(key="columns"))
    words: tuple[Word, ...] = ()
    judged: int = field(default=0, metadata=stored(key="rows"))
    repeats: int = 0
    notes: tuple[str, ...] = ()
    disagreement: str | None = None
    criterion: str | None = None

    def table(self) -> tuple[list[str], list[dict[str, Any]]]:
        """The head and the rows of the table: words where there are some, else columns.

        What is no number is None.
        """
        if self.words:
            return ["label", "word", "weight"], [asdict(word) for word in self.words]
        head = ["column", "mdi", "permutation", "low", "high", "distinct"]
        return head, [dict(zip(head, _cells(row), strict=True)) for row in self.rows]


def _cells(row: ColumnImportance) -> tuple[Any, ...]:
    cost = row.permutation
    numbers = (row.mdi, cost.value, cost.low, cost.high)
    known = (None if math.isnan(number) else float(number) for number in numbers)
    return (row.column, *known, row.distinct)


@dataclass(frozen=True)
class Rule:
    """One leaf: what must hold, the label it gives, and the training rows it has.

    ``shares`` are those of each label among the rows of the leaf, as the tree weighs them,
    ``share`` that of its own label; ``impurity`` is theirs, by the criterion of the tree.
    """

    conditions: tuple[str, ...]
    label: str
    share: float
    rows: int
    shares: Mapping[str, float]
    impurity: float

    @property
    def text(self) -> str:
        """The rule as a sentence."""
        when = " and ".join(self.conditions) or "always"
        return f"{when}: {self.label} ({self.share:.1%} of {self.rows:,} rows)"


@dataclass(frozen=True)
class NodeSplit:
    """One inner node: which rows come to it, what divides them, and what that is worth.

    ``conditions`` lead to the node, and rows for which ``divides`` holds go left, ``rows_left`` of
    them. ``decrease`` is the impurity of the node less that of its two children, weighted by their
    share of its rows; ``weighted_decrease`` the same times the share of all rows that come here.
    """

    conditions: tuple[str, ...]
    column: str
    divides: str
    rows: int
    rows_left: int
    shares: Mapping[str, float]
    impurity: float
    decrease: float
    weighted_decrease: float


@dataclass(frozen=True)
class TreeRules:
    """A tree in words: its leaves, those with the most rows first, and its splits.

    ``criterion`` is what its impurity is: ``gini`` or ``entropy``. The splits with the largest
    weighted decrease come first; added up by column and divided by their sum, the weighted
    decreases are the importance of the columns (MDI).
    """

    criterion: str
    leaves: tuple[Rule, ...] = field(metadata=stored(key="rules"))
    splits: tuple[NodeSplit, ...]


def tree_written(rules: TreeRules | None) -> dict[str, Any]:
    """The keys of a tree; without one they are empty."""
    nothing: dict[str, Any] = {"criterion": None, "rules": [], "splits": []}
    return nothing if rules is None else codec_of(TreeRules).write(rules)


def tree_read(given: dict[str, Any], at: str) -> TreeRules | None:
    """The tree that its keys tell."""
    if given.get("criterion") is None:
        return None
    found: TreeRules = codec_of(TreeRules).read(given, at)
    return found
