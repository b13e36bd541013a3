"""R001 to R009: what to know of a training run before believing it: fit, judged rows, columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from assay.v02.evaluation.findings import Finding
from assay.v02.evaluation.wording import name, some
from assay.v02.inference.significance import chi_square_p
from assay.v02.learn.fitting import USUAL
from assay.v02.learn.run import Run, RunCheck
from assay.v02.measures import FALSE_DISCOVERY_RATE, RECALL, find
from assay.v02.number_text import count, rate, rate_interval, rate_percent, rows

if TYPE_CHECKING:
    import polars as pl


# -- R001: a network's training loss rose ----------------------------------------------------------

# Above the jitter that dropout and small batches leave in a mean.
_RISE = 1.1
# A network that ends above where it began has learned nothing, by however little.
_ABOVE_START = 1.01


def rising_loss(run: Run) -> str | None:
    """A mean loss of the last quarter of the epochs that is 10% above that of an earlier quarter.

    Above that of the first quarter 1% is enough. One epoch by itself jitters, since other units are
    dropped and rows come in another order.
    """
    for fold in run.folds:
        width = max(1, len(fold.losses) // 4)
        starts = range(len(fold.losses) - width + 1)
        means = [sum(fold.losses[start : start + width]) / width for start in starts]
        if len(means) < 2 or not _rises(means):
            continue
        lowest = means.index(min(means)) + 1
        began = f"fell to {rate(min(means))} in {_epochs(lowest, width)} and rose"
        ended = "unlearned what it knew"
        if lowest == 1:
            began = f"rose from {rate(means[0])} in {_epochs(1, width)}"
            ended = "learned nothing"
        return (
            f"The training loss {began} to {rate(means[-1])} in {_epochs(len(means), width)} "
            f"({fold.name}): the network {ended}."
        )
    return None


def _rises(means: list[float]) -> bool:
    return means[-1] > _RISE * min(means) or means[-1] > _ABOVE_START * means[0]


def _epochs(first: int, width: int) -> str:
    return f"epoch {first}" if width == 1 else f"epochs {first} to {first + width - 1}"


LOSS_RISES = RunCheck(
    code="R001",
    severity="warning",
    title="the training loss rises",
    why="Training lowers the loss. Where it rises, steps are too large or numbers overflow, and "
    "the last weights are not the best ones.",
    remedy="Lower the learning rate, standardise the columns, or hold a validation share back so "
    "that the best weights are kept.",
    look=rising_loss,
)


# -- R002: far better on the rows that were learned than on those that were judged -----------------

_OVERFITTED = 0.1


def overfitting(run: Run) -> str | None:
    """An accuracy or AUC lower by 0.1 or more, and whose interval does not reach the other."""
    gaps = []
    for measure in run.folds[0].learned:
        learned = float(np.mean([fold.learned[measure] for fold in run.folds]))
        judged = run.evaluation[measure]
        if learned - judged >= _OVERFITTED and not judged.high >= learned:
            gaps.append(
                f"{find(measure).short} is {rate(learned)} on learned rows and "
                f"{rate_interval(judged)} on judged ones"
            )
    if not gaps:
        return None
    return (
        f"{'; '.join(gaps)}. The model knows its training rows much better than new ones: either "
        f"it learned them by heart, or new rows are of another kind."
    )


OVERFITTED = RunCheck(
    code="R002",
    severity="warning",
    title="much better on learned rows",
    why="A model that learned rows by heart, or that meets other kinds of attack than it learned, "
    "does not keep in use what it shows on the rows it was trained on.",
    remedy="Believe the judged rows. See by family and by fold where the difference comes from; "
    "more varied training rows help more than another model.",
    look=overfitting,
)


# -- R005: a class that was judged but not learned -------------------------------------------------


def classes_not_learned(run: Run) -> str | None:
    """Classes absent from the training part of a fold in which they are judged."""
    lost: dict[str, int] = {}
    for fold in run.folds:
        judged = dict(zip(fold.counts.labels, fold.counts.counts, strict=True))
        for label in fold.not_learned:
            test_rows = judged[label][fold.counts.parts.index("test")]
            if test_rows:
                lost[label] = lost.get(label, 0) + test_rows
    if not lost:
        return None
    named = some([name(label) for label in lost])
    return (
        f"{rows(sum(lost.values()))} of class {named} were judged by a model that never saw the "
        f"class, so they can't have been right."
    )


CLASSES_NOT_LEARNED = RunCheck(
    code="R005",
    severity="info",
    title="a class was judged but not learned",
    why="All rows of a rare class may be on one side: in one group, on one day, or they are too "
    "few to be shared out.",
    remedy="Join rare classes, leave them out, or collect more rows of them.",
    look=classes_not_learned,
)


# -- R003: the threshold was chosen on other rows than those it is judged on -----------------------


def threshold_not_kept(run: Run) -> str | None:
    """A tolerated false alarm rate that is not kept on the judged rows, by its interval."""
    if run.max_far is None or not run.binary:
        return None
    far = run.evaluation[FALSE_DISCOVERY_RATE]
    if np.isnan(far) or not far.low > run.max_far:
        return None
    unkept = sum(fold.not_chosen for fold in run.folds)
    if unkept:
        where = f" in {unkept} of {len(run.folds)} folds" if len(run.folds) > 1 else ""
        return (
            f"No threshold for a false alarm rate of {rate(run.max_far)} could be chosen on the "
            f"learned rows{where}, so that {rate(USUAL)} was taken; on the judged rows the false "
            f"alarm rate is {rate_interval(far)}."
        )
    chosen = sorted({fold.said.threshold for fold in run.folds if fold.said.threshold is not None})
    shown = rate(chosen[0]) if len(chosen) == 1 else f"{rate(chosen[0])} to {rate(chosen[-1])}"
    return (
        f"The threshold ({shown}) keeps a false alarm rate of {rate(run.max_far)} on the rows that "
        f"it was chosen on, which are not the judged ones; there the false alarm rate is "
        f"{rate_interval(far)}."
    )


THRESHOLD_ELSEWHERE = RunCheck(
    code="R003",
    severity="warning",
    title="the tolerated false alarm rate is not kept",
    why="A threshold keeps its promise on rows like those that it was chosen on. Other kinds of "
    "rows, or another share of attacks, break it.",
    remedy="Choose the threshold on rows of deployment: assay threshold on predictions.parquet, "
    "with the base rate of deployment.",
    look=threshold_not_kept,
)


# -- R004: rows that were judged in no fold --------------------------------------------------------


def rows_not_judged(run: Run) -> str | None:
    """Rows of the table that no model judged, where there are several folds."""
    if not run.unjudged or len(run.folds) < 2:
        return None
    total = len(run.judged_data.truth)
    return (
        f"{rows(run.unjudged)} of {count(total)} ({rate_percent(run.unjudged / total)}) were "
        f"judged in no fold: they are from before the first rows to judge, or of windows from "
        f"which nothing could be learned."
    )


ROWS_NOT_JUDGED = RunCheck(
    code="R004",
    severity="info",
    title="rows judged in no fold",
    why="What is said holds for the judged rows only.",
    remedy="With windows of time this is as it should be for the first of them. If many other rows "
    "are left out, take longer training windows.",
    look=rows_not_judged,
)


# -- R006: folds differ by more than chance --------------------------------------------------------

_SURE = 0.001
_FOLDS_APART = 0.02  # smaller differences matter to nobody, however sure they are


def differing_folds(run: Run) -> str | None:
    """Accuracies of folds that a chi-square test does not take for one and the same."""
    folds = [fold for fold in run.folds if fold.repeat == 1]
    if len(folds) < 2:
        return None
    truth = run.judged_data.truth
    sizes = np.array([len(fold.test) for fold in folds])
    right = np.array([(fold.said.decisions == truth[fold.test]).sum() for fold in folds])
    share = right.sum() / sizes.sum()
    accuracies = right / sizes
    if share in (0, 1) or np.ptp(accuracies) < _FOLDS_APART:
        return None
    statistic = float(((right - sizes * share) ** 2 / (sizes * share * (1 - share))).sum())
    if chi_square_p(statistic, len(folds) - 1) >= _SURE:
        return None
    worst, best = int(accuracies.argmin()), int(accuracies.argmax())
    return (
        f"Accuracy runs from {rate(accuracies[worst])} ({folds[worst].name}) to "
        f"{rate(accuracies[best])} ({folds[best].name}), more than chance explains. Rows of one "
        f"fold are alike: an interval that takes rows as independent is too narrow."
    )


FOLDS_DIFFER = RunCheck(
    code="R006",
    severity="info",
    title="folds differ by more than chance",
    why="Groups, days or families are not alike: how good the model is depends on which come next.",
    remedy="Read the interval over folds beside the one over rows, and look at the worst fold.",
    look=differing_folds,
)


# -- R007: families of attack that are mostly missed -----------------------------------------------

_HALF = 0.5


def missed_families(run: Run) -> str | None:
    """Families whose detection rate lies below one half, with its whole interval."""
    if run.evaluation.family is None:
        return None
    rates = {
        entry.slice[1]: entry.estimate
        for entry in run.evaluation.entries
        if entry.measure == RECALL.name and entry.slice and entry.slice[0] == run.evaluation.family
    }
    missed = sorted(
        (float(estimate), kind) for kind, estimate in rates.items() if estimate.high < _HALF
    )
    if not missed:
        return None
    named = some([f"{name(kind)} {rate_interval(rates[kind])}" for _, kind in missed])
    return f"Less than half of these families is found: {named}."


FAMILIES_MISSED = RunCheck(
    code="R007",
    severity="warning",
    title="families that are mostly missed",
    why="A detection rate over all attacks is that of the most frequent families. Rare ones may "
    "hardly be found.",
    remedy="Judge by family. Where a family was not among the training rows, hold each family out "
    "in turn (leave-one-out) to see what the model knows of unknown attacks.",
    look=missed_families,
)


# -- R008: the column that trees rely on most is not missed when it is shuffled --------------------


def disagreement(run: Run) -> str | None:
    """Two ways to measure importance that contradict each other."""
    if run.importance is None or run.importance.disagreement is None:
        return None
    return f"{run.importance.disagreement}."


IMPORTANCES_DISAGREE = RunCheck(
    code="R008",
    severity="info",
    title="importances disagree",
    why="Importance by impurity (MDI) is measured on learned rows and favours columns with many "
    "distinct values, which trees can always split once more.",
    remedy="Believe what shuffling costs on judged rows, and ask what the column really is: an "
    "address, a port or a number of a row is no behaviour.",
    look=disagreement,
)


# -- R009: one column tells the label by itself ----------------------------------------------------

# A column of more values is left to ``assay check``; in fewer rows it happens by chance.
_MOST_VALUES, _FEWEST_ROWS = 50, 100
# So many rows tell that a column has too many values, without a look at the others.
_FIRST = 10_000


def telling_columns(run: Run) -> str | None:
    """Features of few values, each of which has rows of one label only."""
    data = run.data
    if len(data) < _FEWEST_ROWS:
        return None
    columns = [
        column.name
        for column in data.frame
        if column.name != data.text and _gives_away(column, data.truth)
    ]
    if not columns:
        return None
    shown = some([name(column) for column in columns])
    subject, verb = ("Column", "gives") if len(columns) == 1 else ("Columns", "give")
    return (
        f"{subject} {shown} {verb} the label away: rows that share "
        f"a value there share their label, so nothing was left to learn."
    )


def _gives_away(column: pl.Series, truth: object) -> bool:
    import polars as pl

    if column.head(_FIRST).n_unique() > _MOST_VALUES or not 1 < column.n_unique() <= _MOST_VALUES:
        return False
    pairs = pl.DataFrame({"value": column, "truth": truth})
    return pairs.n_unique() == column.n_unique()


LABEL_GIVEN_AWAY = RunCheck(
    code="R009",
    severity="warning",
    title="a column gives the label away",
    why="A column that was filled in when the label was known, such as the kind of attack, makes "
    "every model look perfect, and is not there in use.",
    remedy="Drop it (--drop); where it is the kind of attack, name it with --family. assay check "
    "looks for more of the kind.",
    look=telling_columns,
    mistake=True,
)


RUN_CHECKS: tuple[RunCheck, ...] = (
    LOSS_RISES,
    OVERFITTED,
    THRESHOLD_ELSEWHERE,
    ROWS_NOT_JUDGED,
    CLASSES_NOT_LEARNED,
    FOLDS_DIFFER,
    FAMILIES_MISSED,
    IMPORTANCES_DISAGREE,
    LABEL_GIVEN_AWAY,
)


def run_findings(run: Run) -> tuple[Finding, ...]:
    """Every finding that applies, in the order of the codes."""
    findings = (check(run) for check in RUN_CHECKS)
    return tuple(finding for finding in findings if finding is not None)
