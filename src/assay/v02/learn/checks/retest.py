"""The measure again after what leaks is gone, and by how much it drops."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import InputError, MethodError
from assay.v02.evaluation.wording import listed
from assay.v02.inference import Bootstrap, Estimate, Quantity
from assay.v02.inference.fields import Recorded, finite, stored
from assay.v02.learn.checks.case import Case, CheckedPart
from assay.v02.learn.checks.groups_across import values_of
from assay.v02.learn.checks.leaks import RANDOM, honest_of, leaking, official
from assay.v02.learn.data import Data
from assay.v02.measures import BALANCED_ACCURACY, ROC_AUC, Measure, find
from assay.v02.measures.catalogue import CHECKED
from assay.v02.number_text import count

if TYPE_CHECKING:
    from assay.v02.learn.recipe import Recipe
    from assay.v02.learn.run import Run

Array: TypeAlias = npt.NDArray[Any]
Floats: TypeAlias = npt.NDArray[np.float64]
Value: TypeAlias = Callable[[Floats], float]

NO_LEAK = "nothing: no leak was found"


@dataclass(frozen=True, eq=False)
class Trained(Recorded):
    """A recipe once trained: how rows were split, how many there were, and its measures."""

    split: str
    learned: int
    judged: int
    estimates: Mapping[str, Estimate] = field(metadata=stored(listed="measure"))


@dataclass(frozen=True, eq=False)
class Retest(Recorded):
    """A recipe before and after what leaks was removed, and by how much each measure drops.

    ``drops`` are before less after. ``note`` says what the two judgings have in common.
    """

    recipe: str
    before: Trained
    after: Trained | None
    removed: str
    drops: Mapping[str, Estimate] = field(default_factory=dict, metadata=stored(listed="measure"))
    note: str = ""
    columns: tuple[str, ...] = ()

    def shaped(self, plain: dict[str, Any]) -> dict[str, Any]:
        """Each drop beside the values that it is between."""
        for drop in plain["drops"]:
            measure = drop["measure"]
            drop["before"] = finite(self.before.estimates[measure].value)
            drop["after"] = self.after and finite(self.after.estimates[measure].value)
        return plain


def retest(case: Case, recipe: Recipe) -> Retest:
    """Train a recipe as the parts are, and again without what leaks."""
    from assay.v02.learn.training import train

    def trained(data: Data, scheme: Any, test: Data | None) -> Run:
        return train(
            *(recipe, data),
            validation=scheme,
            test=test,
            seed=case.seed,
            level=case.level,
            importance=False,
        )

    data = _data(case, case.train)
    test = None if case.test is None else _data(case, case.test)
    first = trained(data, RANDOM if test is None else official(test), test)
    before = _trained(first, "at random" if test is None else "as given")
    leaks = leaking(case)
    if len(leaks.columns) == data.frame.width:
        why = "nothing: every feature leaks, and none would be left to learn from"
        return Retest(recipe.name, before, None, why)
    honest = honest_of(case, leaks, data, test)
    if honest is None:
        why = f"nothing: {leaks.missed}" if leaks.missed else NO_LEAK
        return Retest(recipe.name, before, None, why)
    removed = listed(honest.removed)
    try:
        second = trained(honest.data, honest.scheme, honest.test)
    except InputError as error:
        return Retest(recipe.name, before, None, removed, note=f"it could not be trained: {error}")
    after = _trained(second, honest.split)
    start = len(case.train) if test is not None else 0
    one = _judging(first, start + np.arange(len(case.last)))
    other = _judging(second, honest.numbers)
    clusters = None
    if honest.group is not None:
        clusters = _clusters(case, honest.group)
    measures = tuple(before.estimates)
    dropped_measures = drops(
        one,
        other,
        measures,
        clusters=clusters,
        classes=len(first.data.labels),
        level=case.level,
        seed=case.seed,
    )
    columns = tuple(
        name for name in case.train.frame.columns if name not in honest.data.frame.columns
    )
    return Retest(
        recipe.name, before, after, removed, dropped_measures, _note(one, other, clusters), columns
    )


def _note(one: JudgedRows, other: JudgedRows, clusters: Array | None) -> str:
    """What the two judgings have in common, and so what the interval means."""
    shared = len(np.intersect1d(one.rows, other.rows))
    drawn = "groups" if clusters is not None else "rows"
    if shared == len(one.rows) == len(other.rows):
        same = "Both were judged by the same rows, so the difference is paired"
    elif not shared:
        same = "They were judged by different rows, so the difference is of two samples"
    else:
        same = (
            f"Of {count(len(one.rows))} rows judged before and {count(len(other.rows))} after, "
            f"{count(shared)} are the same, and are drawn together"
        )
    return (
        f"{same}; {drawn} are resampled. The models are taken as they came out: another draw of "
        f"training rows is not in the interval."
    )


def _trained(run: Run, split: str) -> Trained:
    wanted = CHECKED.of(binary=run.data.positive is not None)
    estimates = {measure: run.evaluation[measure] for measure in wanted}
    learned = len(run.folds[0].train)
    return Trained(split, learned, len(run.judged), estimates)


def _judging(run: Run, numbers: Array) -> JudgedRows:
    data = run.judged_data
    binary = run.data.positive is not None
    return JudgedRows(
        numbers[run.judged],
        data.truth[run.judged],
        run.said.decisions,
        run.said.scores if binary else None,
    )


def _data(case: Case, part: CheckedPart) -> Data:
    return replace(
        part.data, frame=part.frame, truth=part.truth, labels=case.labels, positive=case.positive
    )


def _clusters(case: Case, column: str) -> Array:
    """The group of every row; rows without one are groups of their own."""
    import polars as pl

    values = pl.concat([values_of(case, part, column) for part in case.parts])
    codes = np.unique(values.hash().to_numpy(), return_inverse=True)[1]
    alone = values.is_null().to_numpy()
    codes[alone] = len(codes) + np.arange(int(alone.sum()))
    return np.asarray(codes)


# -- the drop, with its interval -------------------------------------------------------------------

RESAMPLES = 1000
# Of more rows fewer resamples, since each looks at all of them.
_WORK = 200_000_000
_FEWEST = 200


@dataclass(frozen=True, eq=False)
class JudgedRows:
    """Rows that were judged, by a number that both judgings share, and what was said of them."""

    rows: Array
    truth: Array
    decisions: Array
    scores: Floats | None


def drops(
    before: JudgedRows,
    after: JudgedRows,
    measures: tuple[str, ...],
    *,
    clusters: Array | None = None,
    classes: int = 2,
    level: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 42,
) -> dict[str, Estimate]:
    """Each measure before less after, by resampling all rows that either judged.

    Rows that both judged are drawn together, so that the same rows make it paired, rows of which
    none is shared independent, and anything between what it is. ``clusters`` gives a group to each
    number of a row; then groups are drawn.
    """
    numbers = np.unique(np.concatenate([before.rows, after.rows]))
    units = np.arange(len(numbers))
    if clusters is not None:
        _, units = np.unique(clusters[numbers], return_inverse=True)
    size = int(units.max()) + 1
    at = [units[np.searchsorted(numbers, judging.rows)] for judging in (before, after)]
    total = len(before.rows) + len(after.rows)
    resamples = int(min(resamples, max(_FEWEST, _WORK // max(total, 1))))
    generator = np.random.default_rng(seed)
    values = {
        measure: [_value(find(measure), judging, classes) for judging in (before, after)]
        for measure in measures
    }
    drawn = {measure: np.empty(resamples) for measure in measures}
    share = np.full(size, 1 / size)
    for i in range(resamples):
        often = generator.multinomial(size, share).astype(np.float64)
        weights = [often[where] for where in at]
        for measure, (first, second) in values.items():
            drawn[measure][i] = first(weights[0]) - second(weights[1])
    unit_weights = [np.ones(len(judging.rows)) for judging in (before, after)]
    method = Bootstrap(level=level, resamples=resamples, seed=seed)
    estimates = {}
    for measure, (first, second) in values.items():
        value = first(unit_weights[0]) - second(unit_weights[1])
        averaged = measure == BALANCED_ACCURACY.name
        if math.isnan(value) or (averaged and not _all_there(before, after, classes)):
            why = "undefined before or after"
            estimates[measure] = Estimate(math.nan, n=len(numbers), level=level, undefined=why)
            continue
        ends = method.ends(drawn[measure], value, None)
        estimates[measure] = Estimate(
            value,
            min(ends.low, value),
            max(ends.high, value),
            method="cluster bootstrap" if clusters is not None else "bootstrap",
            n=len(numbers),
            level=level,
            note=ends.note,
        )
    return estimates


def _all_there(before: JudgedRows, after: JudgedRows, classes: int) -> bool:
    """Whether each judging has rows of every class."""
    return all(len(np.unique(judging.truth)) == classes for judging in (before, after))


def _value(measure: Measure, judging: JudgedRows, classes: int) -> Value:
    """A measure as a function of how often each row is there."""
    if measure == ROC_AUC and judging.scores is not None:
        return _auc(judging.scores, judging.truth)
    expression = measure.formula if classes == 2 else measure.classes
    if expression is None:
        raise MethodError(f"{measure.name} is no formula of {classes} classes")
    quantity = Quantity(expression, label=1 if classes == 2 else None)
    cells = judging.truth * classes + judging.decisions

    def value(weights: Floats) -> float:
        sums = np.bincount(cells, weights, minlength=classes * classes).astype(np.float64)
        table = sums.reshape(classes, classes)
        if measure == BALANCED_ACCURACY:
            # A class that a resample does not have has no recall in it.
            with np.errstate(all="ignore"):
                return float(np.nanmean(np.diag(table) / table.sum(axis=1)))
        return float(quantity.of_tables(table[None])[0])

    return value


def _auc(scores: Floats, truth: Array) -> Value:
    order = np.argsort(scores, kind="stable")
    ordered = scores[order]
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    positive = truth[order] == 1

    def value(weights: Floats) -> float:
        weight = weights[order]
        above = np.add.reduceat(np.where(positive, weight, 0.0), starts)
        below = np.add.reduceat(np.where(positive, 0.0, weight), starts)
        pairs = above.sum() * below.sum()
        if not pairs:
            return math.nan
        lower = np.cumsum(below) - below
        return float((above * (lower + below / 2)).sum() / pairs)

    return value
