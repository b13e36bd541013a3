"""What a model learned: the columns and words it relies on, its rules, its loss, its settings."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from assay.learn.explained import ENTROPY, GINI, Importance, TreeRules, Word
from assay.learn.record import FoldRecord, Training, TrainingRecord
from assay.report.names import name
from assay.report.numbers import count, plain_number
from assay.report.sections import Cell, Column, Course, Kind, Section, Table, Tier
from assay.report.validated import called
from assay.report.words import plural

_COLUMNS, _RULES = 30, 20
_IMPURITY = {GINI: "Gini impurity", ENTROPY: "entropy (bits)"}


def sections(training: Training) -> Iterator[Section]:
    """All that this kind of model has to show."""
    run = training.training
    if run.importance is not None and run.importance.rows:
        yield _importance(run.importance)
    if run.importance is not None and run.importance.words:
        yield _words(run.importance)
    yield from _chosen(run)
    yield from _rules(run)
    if any(fold.losses for fold in run.folds):
        yield _losses(run.folds)
    yield _settings(run)


# -- columns and words -----------------------------------------------------------------------------


def _importance(found: Importance) -> Section:
    with_mdi = not all(math.isnan(row.mdi) for row in found.rows)
    columns = (
        Column("column"),
        Column("lost when shuffled", Kind.DIFFERENCE),
        *([Column(_mdi(found.criterion), Kind.SHARE)] if with_mdi else []),
        Column("distinct values", Kind.COUNT, optional=True),
    )
    rows: list[tuple[Cell, ...]] = []
    for row in found.rows[:_COLUMNS]:
        mdi = [row.mdi] if with_mdi else []
        rows.append((row.column, row.permutation, *mdi, row.distinct))
    left = len(found.rows) - _COLUMNS
    more = (f"{count(left)} more {plural(left, 'column', 'columns')} matter less.",) * (left > 0)
    caption = (
        f"{called(found.measure)} that is lost when a column is shuffled, of "
        f"{plain_number(found.baseline)} on {count(found.judged)} judged rows; "
        f"{found.repeats} shuffles"
    )
    table = Table(caption, columns, tuple(rows), (*found.notes, *more))
    return Section("What the model relies on", (table,), Tier.ADVANCED)


def _mdi(criterion: str | None) -> str:
    """What the mean decrease of impurity is called, by the impurity where that is known."""
    said = {GINI: " (Gini)", ENTROPY: " (entropy)"}
    return f"MDI{said.get(criterion or '', '')}"


def _words(found: Importance) -> Section:
    by_label: dict[str, list[Word]] = {}
    for word in found.words:
        by_label.setdefault(word.label, []).append(word)
    columns = (Column("class"), Column("most telling words, with their weights"))
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (label, ", ".join(f"{name(word.word, 30)} {word.weight:.2g}" for word in words))
        for label, words in by_label.items()
    )
    table = Table("Words that speak for each class", columns, rows, found.notes)
    return Section("What the model relies on", (table,), Tier.ADVANCED)


def _chosen(run: TrainingRecord) -> Iterator[Section]:
    """The columns that chi-square chose."""
    found = run.chosen
    if not found:
        return
    columns = (Column("column"), Column("chi-square", Kind.SHARE))
    caption = f"{count(len(found))} of {count(run.encoded or 0)} encoded columns, the largest first"
    note = "Chi-square is of columns scaled to [0, 1], by the rows that were learned."
    table = Table(caption, columns, tuple(found), (note,))
    yield Section("Chosen columns", (table,), Tier.APPENDIX)


def _rules(run: TrainingRecord) -> Iterator[Section]:
    """A tree as sentences: its leaves, and what each split is worth."""
    if run.tree is not None:
        yield _leaves(run.tree)
        if run.tree.splits:
            yield _splits(run.tree)


def _leaves(rules: TreeRules) -> Section:
    many = len(rules.leaves[0].shares) > 2
    columns = (
        Column("class"),
        Column("where"),
        Column("share", Kind.SHARE),
        Column("learned rows", Kind.COUNT),
        Column(_IMPURITY[rules.criterion], Kind.SHARE),
        *([Column("shares of all classes", optional=True)] if many else []),
    )
    rows: list[tuple[Cell, ...]] = []
    for rule in rules.leaves[:_RULES]:
        where = " and ".join(rule.conditions) or "always"
        shares = [_shares(rule.shares)] if many else []
        rows.append((rule.label, where, rule.share, rule.rows, rule.impurity, *shares))
    left = len(rules.leaves) - _RULES
    more = (f"{count(left)} more {plural(left, 'leaf', 'leaves')} have fewer rows.",) * (left > 0)
    note = "Shares and impurity are of the rows of the leaf, as the tree weighs them."
    caption = "The tree, leaf by leaf, the fullest first"
    table = Table(caption, columns, tuple(rows), (note, *more))
    return Section("Rules of the tree", (table,), Tier.APPENDIX)


def _shares(shares: Mapping[str, float]) -> str:
    """The classes that are there, the largest first."""
    there = sorted(shares.items(), key=lambda each: -each[1])
    return ", ".join(f"{name(label)} {share:.1%}" for label, share in there if share)


def _splits(rules: TreeRules) -> Section:
    columns = (
        Column("split"),
        Column("where"),
        Column("learned rows", Kind.COUNT),
        Column(_IMPURITY[rules.criterion], Kind.SHARE),
        Column("decrease", Kind.SHARE),
        Column("weighted decrease", Kind.SHARE),
    )
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            split.divides,
            " and ".join(split.conditions) or "all rows",
            split.rows,
            split.impurity,
            split.decrease,
            split.weighted_decrease,
        )
        for split in rules.splits[:_RULES]
    )
    left = len(rules.splits) - _RULES
    more = (f"{count(left)} more {plural(left, 'split', 'splits')} lower it less.",) * (left > 0)
    note = (
        "The decrease is the impurity of the rows that come to a split, less that of its two parts "
        "by their share of them; weighted by the share of all rows that come there, and added up "
        "by column, it is what MDI tells."
    )
    caption = "What each split of the tree lowers the impurity by, the most first"
    table = Table(caption, columns, rows, (note, *more))
    return Section("Splits of the tree", (table,), Tier.APPENDIX, detail=True)


# -- training --------------------------------------------------------------------------------------


def _losses(folds: Sequence[FoldRecord]) -> Section:
    losses = [fold.losses for fold in folds]
    epochs = max(map(len, losses))
    # The schedule is the same in all folds; the one that went on longest has all of it.
    rates = max((fold.rates for fold in folds), key=len)
    if len(losses) == 1:
        columns: tuple[Column, ...] = (Column("epoch"), Column("loss", Kind.SHARE))
        rows: tuple[tuple[Cell, ...], ...] = tuple(
            (str(epoch), loss) for epoch, loss in enumerate(losses[0], 1)
        )
    else:
        columns = (
            Column("epoch"),
            *(Column(head, Kind.SHARE) for head in ("mean loss", "lowest", "highest")),
            Column("folds", Kind.COUNT),
        )
        rows = tuple(_epoch(losses, epoch) for epoch in range(epochs))
    if len(rates) == epochs:
        # As text, since it is no loss that the course could draw.
        columns = (*columns, Column("learning rate"))
        rows = tuple((*row, f"{rate:.6g}") for row, rate in zip(rows, rates, strict=True))
    table = Course("Training loss (cross-entropy) after each epoch", columns, rows)
    return Section("Loss by epoch", (table,), Tier.APPENDIX, detail=True)


def _epoch(losses: Sequence[Sequence[float]], epoch: int) -> tuple[Cell, ...]:
    """One epoch over the folds that had not stopped before it."""
    there = [each[epoch] for each in losses if len(each) > epoch]
    mean = math.fsum(there) / len(there)
    return (str(epoch + 1), mean, min(there), max(there), len(there))


def _settings(run: TrainingRecord) -> Section:
    columns = (Column("setting"), Column("value"), Column("what it is", optional=True))
    rows: list[tuple[Cell, ...]] = [
        (key, written(value), run.help.get(key, "")) for key, value in run.settings.items()
    ]
    rows.append(("seed", str(run.seed), "of whatever is drawn at random"))
    if run.max_far is not None:
        says = "the false alarm rate that thresholds were chosen for"
        rows.append(("max-far", f"{run.max_far:g}", says))
    caption = f"{name(run.recipe)}: {run.summary}"
    return Section("Recipe", (Table(caption, columns, tuple(rows)),), Tier.APPENDIX, detail=True)


def written(value: object) -> str:
    """A setting as it would be written on the command line."""
    if isinstance(value, list):
        return ",".join(map(str, value))
    if isinstance(value, bool):
        return str(value).lower()
    return "none" if value is None else str(value)
