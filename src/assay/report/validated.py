"""How a training was validated: the rule, the rows of each class in each part, fold by fold."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from assay.learn.record import FoldRecord, OverFolds, Training
from assay.measures.catalogue import parse
from assay.measures.shown import FOLDS
from assay.report.names import name
from assay.report.numbers import count
from assay.report.sections import Block, Cell, Column, Kind, Prose, Section, Table, Tier
from assay.report.words import measure_name, quoted

# So many folds are listed, and so many stand side by side.
_LISTED, _BESIDE = 50, 10
_CLASSES = 50
_SHORT = 4  # so many classes stand side by side

_RULES = {
    "holdout": "A share of the rows of each class, drawn at random (seed {seed}), was held out and "
    "judged.",
    "kfold": "Rows were dealt at random (seed {seed}) into folds with the same share of each "
    "class. Each fold was judged by a model that learned from all others.",
    "repeated": "Rows were dealt at random (seed {seed}) into folds with the same share of each "
    "class, and that several times anew. Each fold was judged by a model that learned from the "
    "others of its repeat. What is said of rows is of the first repeat.",
    "group": "Rows that share a value of {column} are in one fold. Each fold was judged by a model "
    "that learned from all others, and so knew none of its groups.",
    "time": "Rows from before that moment, by {column}, were learned; those from then on were "
    "judged.",
    "sliding": "Windows move along {column}: a model learns from one window and judges the next.",
    "folds": "The folds are given by {column}. Each was judged by a model that learned from all "
    "others.",
    "leave-one-out": "Each value of {column} was held out in turn, and judged by a model that "
    "never saw it.",
    "file": "An official split: one file was learned, another was judged.",
}

_INTERVALS = (
    "Of the mean: Nadeau and Bengio's interval, which allows for training parts that overlap. The "
    "standard deviation (sd) of the folds divides by one less than there are. Of all judged rows: "
    "as evaluate gives it, with the model as given."
)


def headings(run: Training) -> tuple[str, ...]:
    """The measures that stand for a run, as far as it has them."""
    wanted = FOLDS.of(binary=run.binary)
    return tuple(key for key in wanted if key in run.training.measures)


def called(key: str) -> str:
    """A measure by the name of its key, as a heading calls it."""
    measure, average = parse(key)
    return measure_name(measure.name, average)


def rule_of(run: Training) -> str:
    """The validation scheme in words."""
    kind = run.training.validation.partition(":")[0].strip()
    column = f"column {quoted(_column(run))}"
    return _RULES[kind].format(seed=run.training.seed, column=column)


def _column(run: Training) -> str:
    from assay.learn.validation import parse_scheme

    columns = parse_scheme(run.training.validation).columns
    return columns[0] if columns else ""


def sections(run: Training) -> Iterator[Section]:
    """How rows were divided, what that gave fold by fold, and the part that was held back."""
    yield _validation(run)
    if len(run.training.folds) > 1:
        yield _over_folds(run)
        yield _fold_by_fold(run)
    if run.held_back is not None:
        yield _held_back(run)


# -- rows ------------------------------------------------------------------------------------------


def _validation(run: Training) -> Section:
    blocks: list[Block] = [Prose(f"{name(run.training.validation)}. {rule_of(run)}")]
    blocks.append(
        _counts(run.training.folds[0]) if len(run.training.folds) == 1 else _judged_classes(run)
    )
    blocks.append(Prose(f"The model to keep learned from {run.training.learned_from}."))
    return Section("How it was validated", tuple(blocks), Tier.MAIN)


def _counts(fold: FoldRecord) -> Table:
    """One split: a row a class, a column a part, and totals that add up."""
    counts = fold.counts
    columns = (
        Column("class"),
        *(Column(part, Kind.COUNT) for part in counts.parts),
        Column("total", Kind.COUNT),
    )
    shown = list(zip(counts.labels, counts.counts, strict=True))[:_CLASSES]
    rows: list[tuple[Cell, ...]] = [(label, *each, sum(each)) for label, each in shown]
    rows.append(("all classes", *counts.by_part, counts.total))
    return Table("Rows of each class in each part", columns, tuple(rows), _left(len(counts.labels)))


def _judged_classes(run: Training) -> Table:
    """Several folds: how many rows of each class are learned and judged in each."""
    first = [fold for fold in run.training.folds if fold.repeat == 1]
    labels = run.evaluation.labels
    by_fold = len(labels) <= _SHORT
    shown = first[: _LISTED if by_fold else _BESIDE]
    codes = [*range(min(len(labels), _CLASSES)), None]
    names = [*labels[:_CLASSES], "all classes"]
    cells = [[_pair(fold, code) for code in codes] for fold in shown]
    sums = first[0].counts
    totals = [sums.total if code is None else sums.by_label[code] for code in codes]
    rows: list[tuple[Cell, ...]]
    if by_fold:
        columns = (Column("fold"), *map(Column, names))
        rows = [(fold.name, *each) for fold, each in zip(shown, cells, strict=True)]
        rows.append(("rows in all", *map(count, totals)))
    else:
        columns = (Column("class"), *(Column(f.name) for f in shown), Column("rows", Kind.COUNT))
        rows = [(label, *(each[i] for each in cells), totals[i]) for i, label in enumerate(names)]
    notes = list(_left(len(labels)))
    if len(first) > len(shown):
        notes.append(f"{count(len(first) - len(shown))} more folds are not shown.")
    if run.training.folds[-1].repeat > 1:
        notes.append(f"The first of {run.training.folds[-1].repeat} repeats.")
    caption = "Rows of each class, learned + judged in each fold"
    return Table(caption, columns, tuple(rows), tuple(notes))


def _pair(fold: FoldRecord, code: int | None) -> str:
    counts = fold.counts
    numbers = counts.by_part if code is None else counts.counts[code]
    learned, judged = (numbers[counts.parts.index(part)] for part in ("train", "test"))
    return f"{count(learned)} + {count(judged)}"


def _left(classes: int) -> tuple[str, ...]:
    left = classes - _CLASSES
    return (f"{count(left)} more classes are not shown, but counted.",) if left > 0 else ()


# -- values ----------------------------------------------------------------------------------------


def _over_folds(run: Training) -> Section:
    columns = (
        Column("measure"),
        Column("mean over folds", Kind.SHARE),
        Column("sd", Kind.SHARE),
        Column("lowest", Kind.SHARE, optional=True),
        Column("highest", Kind.SHARE, optional=True),
        Column("all judged rows", Kind.SHARE),
    )
    rows: list[tuple[Cell, ...]] = []
    reasons: dict[str, None] = {}
    for key in headings(run):
        over = run.training.measures[key]
        known = [value for value in over.values if not math.isnan(value)]
        rows.append(
            (
                called(key),
                over.mean,
                over.sd,
                min(known, default=None),
                max(known, default=None),
                run.evaluation[key],
            )
        )
        if _without(over):
            reasons[f"{called(key)}: {_without(over)}."] = None
    folds = count(len(run.training.folds))
    caption = f"{100 * run.evaluation.level:.10g}% intervals over {folds} folds"
    table = Table(caption, columns, tuple(rows), (_INTERVALS, *reasons))
    return Section("Over the folds", (table,), Tier.MAIN)


def _without(over: OverFolds) -> str:
    return "" if over.mean is None else over.mean.undefined or over.mean.note or ""


def _fold_by_fold(run: Training) -> Section:
    keys = headings(run)
    columns = (
        Column("fold"),
        Column("learned", Kind.COUNT),
        Column("judged", Kind.COUNT),
        *(Column(_brief(key), Kind.SHARE) for key in keys),
        *(
            [Column("threshold", Kind.SHARE, optional=True)]
            if _thresholds(run.training.folds)
            else []
        ),
    )
    rows: list[tuple[Cell, ...]] = []
    for i, fold in enumerate(run.training.folds[:_LISTED]):
        values = [run.training.measures[key].values[i] for key in keys]
        chosen = [fold.threshold] if _thresholds(run.training.folds) else []
        rows.append((fold.name, fold.rows_learned, fold.rows_judged, *values, *chosen))
    left = len(run.training.folds) - _LISTED
    notes = (f"{count(left)} more folds are not shown.",) if left > 0 else ()
    table = Table("Each fold by itself", columns, tuple(rows), notes)
    return Section("Fold by fold", (table,), Tier.APPENDIX, detail=True)


def _brief(key: str) -> str:
    """A measure in as few words as a narrow column has room for."""
    measure, average = parse(key)
    return measure.short if average is None else called(key)


def _thresholds(folds: Sequence[FoldRecord]) -> bool:
    """Whether folds chose thresholds of their own."""
    return len({fold.threshold for fold in folds}) > 1


def _held_back(run: Training) -> Section:
    columns = (Column("measure"), Column("validation part", Kind.SHARE), Column("test", Kind.SHARE))
    assert run.held_back is not None  # noqa: S101 - asked only where there is one
    rows = tuple((called(key), run.held_back[key], run.evaluation[key]) for key in headings(run))
    note = (
        "Whatever is chosen by the validation part, a threshold for one, looks better there than "
        "it is: the test part tells."
    )
    table = Table("The part that was held back for choices, and the one that judges", columns, rows)
    return Section("Validation part", (table, Prose(note)), Tier.APPENDIX, detail=True)
