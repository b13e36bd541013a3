"""A training as plain values: what its documents say beside the evaluation.

That is how rows were split, what each fold gave, what the model relies on, and the rules of a tree.
Nothing in here needs scikit-learn, so that documents are drawn where none is.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from assay.v02.evaluation.entries import ByKey
from assay.v02.evaluation.findings import Finding, urgent_first
from assay.v02.evaluation.snapshot import EstimateRecord, Snapshot, estimates_of
from assay.v02.inference import Estimate
from assay.v02.inference.fields import Recorded, Result, codec_of, stored
from assay.v02.learn.splitter import SplitCounts
from assay.v02.number_text import percent
from assay.v02.sources.files.request import RowSource, refused_row

if TYPE_CHECKING:
    from assay.v02.learn.data import Data
    from assay.v02.learn.run import Run, TrainedFold

GINI, ENTROPY = "gini", "entropy"


def _text(given: Any, at: str) -> str:
    text: str | None = codec_of(str | None).read(given, at)
    return text or ""


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
class TreeRule:
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
        return f"{when}: {self.label} ({percent(self.share)} of {self.rows:,} rows)"


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
    leaves: tuple[TreeRule, ...] = field(metadata=stored(key="rules"))
    splits: tuple[NodeSplit, ...]


def tree_written(rules: TreeRules | None) -> dict[str, Any]:
    """The keys of a tree; without one they are empty."""
    nothing: dict[str, Any] = {"criterion": None, "rules": [], "splits": []}
    return nothing if rules is None else codec_of(TreeRules).write(rules)


def tree_read(given: dict[str, Any], at: str) -> TreeRules | None:
    """The tree that its keys tell."""
    if given.get("criterion") is None:
        return None
    rules: TreeRules = codec_of(TreeRules).read(given, at)
    return rules


# -- the training ----------------------------------------------------------------------------------

# The standard deviation over folds, among the parts of a mean.
SD = "sd"


class ChosenColumn(NamedTuple):
    """A column that chi-square chose, and it."""

    column: str
    chi_square: float


# -- folds -----------------------------------------------------------------------------------------


def counts_of(counts: SplitCounts) -> dict[str, Any]:
    """How many rows of each class are in each part, with the totals."""
    return {
        "parts": list(counts.parts),
        "classes": counts.records()[:-1],
        "all": counts.records()[-1],
    }


def _counts_read(given: Any, at: str) -> SplitCounts:
    parts: tuple[str, ...] = codec_of(tuple[str, ...]).read(dict(given).get("parts"), at)
    rows: tuple[Any, ...] = codec_of(tuple[Any, ...]).read(given.get("classes"), at)
    classes = [codec_of(Mapping[str, Any]).read(row, at) for row in rows]
    whole, text = codec_of(int), codec_of(str)
    return SplitCounts(
        tuple(text.read(each.get("label"), at) for each in classes),
        parts,
        tuple(tuple(whole.read(each.get(part), at) for part in parts) for each in classes),
    )


@dataclass(frozen=True, eq=False)
class FoldRecord:
    """One part that was judged: its rows by class, what was learned of it, losses by epoch."""

    name: str
    repeat: int
    threshold: float | None
    counts: SplitCounts = field(metadata=stored(write=counts_of, read=_counts_read))
    learned: Mapping[str, float]
    not_learned: tuple[str, ...]
    losses: tuple[float, ...]
    rates: tuple[float, ...]
    rows_learned: int
    rows_judged: int


@dataclass(frozen=True, eq=False)
class OverFolds(Recorded):
    """A measure fold by fold, and its mean where there are several."""

    DERIVED: ClassVar[tuple[str, ...]] = ("sd",)

    values: tuple[float, ...]
    mean: Estimate | None

    @property
    def sd(self) -> float | None:
        """The standard deviation over the folds."""
        return None if self.mean is None else self.mean.parts.get(SD)


class Judgement(ByKey):
    """Estimates by their key, of the part that was held back."""

    def __init__(self, entries: tuple[EstimateRecord, ...], labels: Any, positive: Any) -> None:
        self.entries, self.labels, self.positive = entries, labels, positive
        self.base_rates = ()


@dataclass(frozen=True, eq=False)
class TrainingRecord:
    """How a training came about: recipe, settings, validation, folds, and what the model learned.

    ``help`` tells what each setting is, and ``set_otherwise`` which are not the recipe's own.
    ``rates`` are the learning rates of the model to keep, ``encoded`` how many columns chi-square
    chose from, ``trusted`` the types that whoever loads the model has to trust by name.
    """

    recipe: str
    settings: Mapping[str, Any]
    validation: str
    seed: int
    max_far: float | None
    threshold: float | None
    learned_from: str
    features: tuple[str, ...]
    dropped: tuple[str, ...]
    data: RowSource
    test: RowSource | None
    rows_judged: int
    rows_not_judged: int
    folds: tuple[FoldRecord, ...]
    measures: Mapping[str, OverFolds]
    validation_part: tuple[EstimateRecord, ...] | None
    importance: Importance | None
    chosen: tuple[ChosenColumn, ...]
    tree: TreeRules | None = field(metadata=stored(inline=True, write=tree_written, read=tree_read))
    summary: str
    help: Mapping[str, str]
    set_otherwise: tuple[str, ...]
    text: str | None
    rates: tuple[float, ...]
    encoded: int | None
    trusted: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False, repr=False)
class Training(Result, Recorded):
    """A training: the evaluation of the judged rows, and how it came about."""

    SCHEMA: ClassVar[str] = Snapshot.SCHEMA

    evaluation: Snapshot = field(metadata=stored(inline=True))
    training: TrainingRecord

    @property
    def source(self) -> RowSource:
        """Where the judged rows came from."""
        return self.evaluation.source

    @property
    def binary(self) -> bool:
        """Whether there is one positive class."""
        return self.evaluation.positive is not None

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was found in the training itself."""
        return tuple(
            finding for finding in self.evaluation.findings if finding.code.startswith("R")
        )

    @property
    def judged_name(self) -> str:
        """The name of the table that the judged rows are of."""
        return (self.training.test or self.training.data)["name"]

    @cached_property
    def held_back(self) -> Judgement | None:
        """The estimates of a validation part."""
        evaluation = self.training.validation_part
        here = self.evaluation
        return None if evaluation is None else Judgement(evaluation, here.labels, here.positive)


# -- taken of a run --------------------------------------------------------------------------------


def training_of(run: Run, trusted: tuple[str, ...] = ()) -> Training:
    """All that is known of a training but its model."""
    of_test = () if run.test is None else run.test.notes
    evaluation = run.evaluation.snapshot()
    notes = (*run.data.notes, *of_test, *run.notes, *evaluation.notes)
    judged = replace(
        evaluation,
        source=_judged_source(run, evaluation.source),
        findings=urgent_first((*run.findings, *evaluation.findings)),
        notes=tuple(dict.fromkeys(notes)),
    )
    return Training(judged, _record(run, trusted))


def _record(run: Run, trusted: tuple[str, ...]) -> TrainingRecord:
    from assay.v02.learn.fitting import rates_of

    steps = getattr(run.model, "named_steps", {}) if run.chosen else {}
    known = {key: repr(setting.default) for key, setting in run.recipe.settings.items()}
    settings = settings_of(run)
    return TrainingRecord(
        recipe=run.recipe.name,
        settings=settings,
        validation=run.scheme,
        seed=run.seed,
        max_far=run.max_far,
        threshold=run.threshold,
        learned_from=run.learned_from,
        features=tuple(run.data.frame.columns),
        dropped=tuple(run.data.dropped),
        data=source_of(run.data),
        test=None if run.test is None else source_of(run.test),
        rows_judged=len(run.judged),
        rows_not_judged=run.unjudged,
        folds=tuple(map(_fold, run.folds)),
        measures={
            name: OverFolds(tuple(map(float, values)), run.over_folds.get(name))
            for name, values in run.per_fold.items()
        },
        validation_part=None if run.held_back is None else estimates_of(run.held_back),
        importance=run.importance,
        chosen=tuple(ChosenColumn(*each) for each in run.chosen),
        tree=run.rules,
        summary=run.recipe.summary,
        help={key: setting.help for key, setting in run.recipe.settings.items()},
        set_otherwise=tuple(k for k in settings if repr(run.settings[k]) != known.get(k)),
        text=run.data.text,
        rates=rates_of(run.model),
        encoded=len(steps["select"].scores_) if "select" in steps else None,
        trusted=trusted,
    )


def _fold(fold: TrainedFold) -> FoldRecord:
    return FoldRecord(
        name=fold.name,
        repeat=fold.repeat,
        threshold=fold.said.threshold,
        counts=fold.counts,
        learned={name: float(value) for name, value in fold.learned.items()},
        not_learned=fold.not_learned,
        losses=tuple(map(float, fold.losses)),
        rates=tuple(map(float, fold.rates)),
        rows_learned=len(fold.train),
        rows_judged=len(fold.test),
    )


def settings_of(run: Run) -> dict[str, Any]:
    """The settings as plain values; what is none, in a recipe of your own, as its text."""
    return {name: _plain_value(value) for name, value in run.settings.items()}


def source_of(data: Data) -> RowSource:
    """Where rows came from, and which were refused."""
    return {
        "name": data.name,
        "rows_read": data.rows_read,
        "rows_used": len(data),
        "rows_refused": data.rows_refused,
        "refused": [refused_row(each) for each in data.refused],
    }


def _judged_source(run: Run, judged: RowSource) -> RowSource:
    """The rows that were judged, and those of the same table that could not be."""
    table = source_of(run.judged_data)
    return {
        **judged,
        "rows_read": judged["rows_used"] + table["rows_refused"],
        "rows_refused": table["rows_refused"],
        "refused": table["refused"],
    }


def _plain_value(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return [_plain_value(each) for each in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    return value if value is None or isinstance(value, bool | int | str) else str(value)
