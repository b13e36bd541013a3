"""A trained model: how it was validated, fold by fold, and what it learned."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from assay.v02.escaping import name, plural
from assay.v02.learn.record import (
    ENTROPY,
    GINI,
    FoldRecord,
    Importance,
    Judgement,
    OverFolds,
    Training,
    TrainingRecord,
    TreeRules,
    Word,
)
from assay.v02.measures.catalogue import FOLDS, parse
from assay.v02.number_text import count, exact_percent, percent, plain_number, significant
from assay.v02.report.sections import (
    Block,
    Cell,
    Column,
    Course,
    Kind,
    Prose,
    Section,
    Table,
    Tier,
    measure_name,
    quoted,
)

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


def measure_heading(key: str) -> str:
    """A measure by the name of its key, as a heading calls it."""
    measure, average = parse(key)
    return measure_name(measure.name, average)


def rule_of(run: Training) -> str:
    """The validation scheme in words."""
    kind = run.training.validation.partition(":")[0].strip()
    column = f"column {quoted(_column(run))}"
    return _RULES[kind].format(seed=run.training.seed, column=column)


def _column(run: Training) -> str:
    from assay.v02.learn.validation import parse_scheme

    columns = parse_scheme(run.training.validation).columns
    return columns[0] if columns else ""


def validation_sections(run: Training) -> Iterator[Section]:
    """How rows were divided, what that gave fold by fold, and the part that was held back."""
    yield _validation(run)
    if len(run.training.folds) > 1:
        yield _over_folds(run)
        yield _fold_by_fold(run)
    if run.held_back is not None:
        yield _held_back(run, run.held_back)


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
    return Table(
        "Rows of each class in each part", columns, tuple(rows), _hidden_note(len(counts.labels))
    )


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
    notes = list(_hidden_note(len(labels)))
    if len(first) > len(shown):
        notes.append(_not_shown(len(first) - len(shown), "fold", "folds"))
    if run.training.folds[-1].repeat > 1:
        notes.append(f"The first of {run.training.folds[-1].repeat} repeats.")
    caption = "Rows of each class, learned + judged in each fold"
    return Table(caption, columns, tuple(rows), tuple(notes))


def _pair(fold: FoldRecord, code: int | None) -> str:
    counts = fold.counts
    numbers = counts.by_part if code is None else counts.counts[code]
    learned, judged = (numbers[counts.parts.index(part)] for part in ("train", "test"))
    return f"{count(learned)} + {count(judged)}"


def _hidden_note(classes: int) -> tuple[str, ...]:
    hidden = classes - _CLASSES
    return (_not_shown(hidden, "class", "classes", ", but counted"),) if hidden > 0 else ()


def _not_shown(number: int, one: str, many: str, but: str = "") -> str:
    return f"{count(number)} more {plural(number, f'{one} is', f'{many} are')} not shown{but}."


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
        defined = [value for value in over.values if not math.isnan(value)]
        rows.append(
            (
                measure_heading(key),
                over.mean,
                over.sd,
                min(defined, default=None),
                max(defined, default=None),
                run.evaluation[key],
            )
        )
        if _undefined_reason(over):
            reasons[f"{measure_heading(key)}: {_undefined_reason(over)}."] = None
    folds = count(len(run.training.folds))
    caption = f"{exact_percent(run.evaluation.level)} intervals over {folds} folds"
    table = Table(caption, columns, tuple(rows), (_INTERVALS, *reasons))
    return Section("Over the folds", (table,), Tier.MAIN)


def _undefined_reason(over: OverFolds) -> str:
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
    hidden = len(run.training.folds) - _LISTED
    notes = (_not_shown(hidden, "fold", "folds"),) if hidden > 0 else ()
    table = Table("Each fold by itself", columns, tuple(rows), notes)
    return Section("Fold by fold", (table,), Tier.APPENDIX, detail=True)


def _brief(key: str) -> str:
    """A measure in as few words as a narrow column has room for."""
    measure, average = parse(key)
    return measure.short if average is None else measure_heading(key)


def _thresholds(folds: Sequence[FoldRecord]) -> bool:
    """Whether folds chose thresholds of their own."""
    return len({fold.threshold for fold in folds}) > 1


def _held_back(run: Training, validation: Judgement) -> Section:
    columns = (Column("measure"), Column("validation part", Kind.SHARE), Column("test", Kind.SHARE))
    rows = tuple(
        (measure_heading(key), validation[key], run.evaluation[key]) for key in headings(run)
    )
    note = (
        "Whatever is chosen by the validation part, a threshold for one, looks better there than "
        "it is: the test part tells."
    )
    table = Table("The part that was held back for choices, and the one that judges", columns, rows)
    return Section("Validation part", (table, Prose(note)), Tier.APPENDIX, detail=True)


# -- what it learned -------------------------------------------------------------------------------


_COLUMNS, _MOST_RULES = 30, 20
_IMPURITY = {GINI: "Gini impurity", ENTROPY: "entropy (bits)"}


def model_sections(training: Training) -> Iterator[Section]:
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


def _importance(importance: Importance) -> Section:
    with_mdi = not all(math.isnan(row.mdi) for row in importance.rows)
    columns = (
        Column("column"),
        Column("lost when shuffled", Kind.DIFFERENCE),
        *([Column(_mdi(importance.criterion), Kind.SHARE)] if with_mdi else []),
        Column("distinct values", Kind.COUNT, optional=True),
    )
    rows: list[tuple[Cell, ...]] = []
    for row in importance.rows[:_COLUMNS]:
        mdi = [row.mdi] if with_mdi else []
        rows.append((row.column, row.permutation, *mdi, row.distinct))
    hidden = len(importance.rows) - _COLUMNS
    more = (f"{count(hidden)} more {plural(hidden, 'column', 'columns')} matter less.",) * (
        hidden > 0
    )
    caption = (
        f"{measure_heading(importance.measure)} that is lost when a column is shuffled, of "
        f"{plain_number(importance.baseline)} on {count(importance.judged)} judged rows; "
        f"{importance.repeats} shuffles"
    )
    table = Table(caption, columns, tuple(rows), (*importance.notes, *more))
    return Section("What the model relies on", (table,), Tier.ADVANCED)


def _mdi(criterion: str | None) -> str:
    """What the mean decrease of impurity is called, by the impurity where that is known."""
    criteria = {GINI: " (Gini)", ENTROPY: " (entropy)"}
    return f"MDI{criteria.get(criterion or '', '')}"


def _words(importance: Importance) -> Section:
    by_label: dict[str, list[Word]] = {}
    for word in importance.words:
        by_label.setdefault(word.label, []).append(word)
    columns = (Column("class"), Column("most telling words, with their weights"))
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (label, ", ".join(f"{name(word.word, 30)} {significant(word.weight, 2)}" for word in words))
        for label, words in by_label.items()
    )
    table = Table("Words that speak for each class", columns, rows, importance.notes)
    return Section("What the model relies on", (table,), Tier.ADVANCED)


def _chosen(run: TrainingRecord) -> Iterator[Section]:
    """The columns that chi-square chose."""
    chosen = run.chosen
    if not chosen:
        return
    columns = (Column("column"), Column("chi-square", Kind.SHARE))
    caption = (
        f"{count(len(chosen))} of {count(run.encoded or 0)} encoded columns, the largest first"
    )
    note = "Chi-square is of columns scaled to [0, 1], by the rows that were learned."
    table = Table(caption, columns, tuple(chosen), (note,))
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
    for rule in rules.leaves[:_MOST_RULES]:
        where = " and ".join(rule.conditions) or "always"
        shares = [_shares(rule.shares)] if many else []
        rows.append((rule.label, where, rule.share, rule.rows, rule.impurity, *shares))
    hidden = len(rules.leaves) - _MOST_RULES
    more = (f"{count(hidden)} more {plural(hidden, 'leaf', 'leaves')} have fewer rows.",) * (
        hidden > 0
    )
    note = "Shares and impurity are of the rows of the leaf, as the tree weighs them."
    caption = "The tree, leaf by leaf, the fullest first"
    table = Table(caption, columns, tuple(rows), (note, *more))
    return Section("Rules of the tree", (table,), Tier.APPENDIX)


def _shares(shares: Mapping[str, float]) -> str:
    """The classes that are there, the largest first."""
    there = sorted(shares.items(), key=lambda each: -each[1])
    return ", ".join(f"{name(label)} {percent(share)}" for label, share in there if share)


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
        for split in rules.splits[:_MOST_RULES]
    )
    hidden = len(rules.splits) - _MOST_RULES
    more = (f"{count(hidden)} more {plural(hidden, 'split', 'splits')} lower it less.",) * (
        hidden > 0
    )
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
        rows = tuple((*row, significant(rate, 6)) for row, rate in zip(rows, rates, strict=True))
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
        (key, setting_text(value), run.help.get(key, "")) for key, value in run.settings.items()
    ]
    rows.append(("seed", str(run.seed), "of whatever is drawn at random"))
    if run.max_far is not None:
        says = "the false alarm rate that thresholds were chosen for"
        rows.append(("max-far", f"{run.max_far:g}", says))
    caption = f"{name(run.recipe)}: {run.summary}"
    return Section("Recipe", (Table(caption, columns, tuple(rows)),), Tier.APPENDIX, detail=True)


def setting_text(value: object) -> str:
    """A setting as it would be written on the command line."""
    if isinstance(value, list):
        return ",".join(map(str, value))
    if isinstance(value, bool):
        return str(value).lower()
    return "none" if value is None else str(value)
