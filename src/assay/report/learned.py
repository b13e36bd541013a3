"""What a model learned: the columns and words it relies on, its rules, its loss, its settings."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from assay.learn.importance import Importance
from assay.learn.record import settings_of
from assay.learn.run import Run
from assay.learn.words import Word
from assay.report.document import Cell, Column, Course, Kind, Section, Table, Tier
from assay.report.names import name
from assay.report.numbers import count, plain_number
from assay.report.validated import called
from assay.report.words import plural

_COLUMNS, _RULES = 30, 20


def sections(run: Run) -> Iterator[Section]:
    """All that this kind of model has to show."""
    if run.importance is not None and run.importance.rows:
        yield _importance(run.importance)
    if run.importance is not None and run.importance.words:
        yield _words(run.importance)
    yield from _chosen(run)
    yield from _rules(run)
    if any(fold.losses for fold in run.folds):
        yield _losses([fold.losses for fold in run.folds])
    yield _settings(run)


# -- columns and words -----------------------------------------------------------------------------


def _importance(found: Importance) -> Section:
    with_mdi = not all(math.isnan(row.mdi) for row in found.rows)
    columns = (
        Column("column"),
        Column("lost when shuffled", Kind.DIFFERENCE),
        *([Column("MDI (Gini)", Kind.SHARE)] if with_mdi else []),
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


def _chosen(run: Run) -> Iterator[Section]:
    """The columns that chi-square chose."""
    found = run.chosen
    if not found:
        return
    columns = (Column("column"), Column("chi-square", Kind.SHARE))
    all_columns = len(run.model.named_steps["select"].scores_)
    caption = f"{count(len(found))} of {count(all_columns)} encoded columns, the largest first"
    note = "Chi-square is of columns scaled to [0, 1], by the rows that were learned."
    table = Table(caption, columns, tuple(found), (note,))
    yield Section("Chosen columns", (table,), Tier.APPENDIX)


def _rules(run: Run) -> Iterator[Section]:
    """A tree as sentences."""
    found = run.rules
    if not found:
        return
    columns = (
        Column("class"),
        Column("where"),
        Column("share", Kind.SHARE),
        Column("learned rows", Kind.COUNT),
    )
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (rule.label, " and ".join(rule.conditions) or "always", rule.share, rule.rows)
        for rule in found[:_RULES]
    )
    left = len(found) - _RULES
    more = (f"{count(left)} more {plural(left, 'leaf', 'leaves')} have fewer rows.",) * (left > 0)
    note = "The share of the class in the leaf is as the tree weighs its rows."
    table = Table("The tree, leaf by leaf, the fullest first", columns, rows, (note, *more))
    yield Section("Rules of the tree", (table,), Tier.APPENDIX)


# -- training --------------------------------------------------------------------------------------


def _losses(losses: Sequence[Sequence[float]]) -> Section:
    epochs = max(map(len, losses))
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
    table = Course("Training loss (cross-entropy) after each epoch", columns, rows)
    return Section("Loss by epoch", (table,), Tier.APPENDIX, detail=True)


def _epoch(losses: Sequence[Sequence[float]], epoch: int) -> tuple[Cell, ...]:
    """One epoch over the folds that had not stopped before it."""
    there = [each[epoch] for each in losses if len(each) > epoch]
    mean = math.fsum(there) / len(there)
    return (str(epoch + 1), mean, min(there), max(there), len(there))


def _settings(run: Run) -> Section:
    columns = (Column("setting"), Column("value"), Column("what it is", optional=True))
    known = run.recipe.settings
    rows: list[tuple[Cell, ...]] = [
        (key, written(value), known[key].help if key in known else "")
        for key, value in settings_of(run).items()
    ]
    rows.append(("seed", str(run.seed), "of whatever is drawn at random"))
    if run.max_far is not None:
        says = "the false alarm rate that thresholds were chosen for"
        rows.append(("max-far", f"{run.max_far:g}", says))
    caption = f"{name(run.recipe.name)}: {run.recipe.summary}"
    return Section("Recipe", (Table(caption, columns, tuple(rows)),), Tier.APPENDIX, detail=True)


def written(value: object) -> str:
    """A setting as it would be written on the command line."""
    if isinstance(value, list):
        return ",".join(map(str, value))
    if isinstance(value, bool):
        return str(value).lower()
    return "none" if value is None else str(value)
