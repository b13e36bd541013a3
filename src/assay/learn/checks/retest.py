"""The measure again after what leaks is gone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import InputError
from assay.evaluation.words import count, listed
from assay.inference import Estimate
from assay.inference.fields import Recorded, stored
from assay.inference.not_finite import finite
from assay.learn.checks.case import TEST, TRAIN, Case
from assay.learn.checks.drop import Judging, drops
from assay.learn.checks.groups_across import values_of
from assay.learn.checks.honest import RANDOM, honest_of, official
from assay.learn.checks.removing import leaking
from assay.learn.data import Data
from assay.measures.shown import CHECKED

if TYPE_CHECKING:
    from assay.learn.recipes.recipe import Recipe
    from assay.learn.run import Run

Array: TypeAlias = npt.NDArray[Any]

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
    from assay.learn.training import train

    def trained(data: Data, scheme: Any, test: Data | None) -> Run:
        return train(
            *(recipe, data),
            validation=scheme,
            test=test,
            seed=case.seed,
            level=case.level,
            importance=False,
        )

    data, test = (_data(case, part) if part < len(case.parts) else None for part in (TRAIN, TEST))
    assert data is not None  # noqa: S101 - there always is a training part
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
    except InputError as odd:
        return Retest(recipe.name, before, None, removed, note=f"it could not be trained: {odd}")
    after = _trained(second, honest.split)
    start = len(case.train) if test is not None else 0
    one = _judging(first, start + np.arange(len(case.last)))
    numbers = honest.numbers if honest.test is None else honest.test_numbers
    assert numbers is not None  # noqa: S101 - a test part has its numbers
    other = _judging(second, numbers)
    clusters = None
    if honest.group is not None:
        clusters = _clusters(case, honest.group)
    measures = tuple(before.estimates)
    lost = drops(
        one,
        other,
        measures,
        clusters=clusters,
        classes=len(first.data.labels),
        level=case.level,
        seed=case.seed,
    )
    gone = tuple(name for name in case.train.frame.columns if name not in honest.data.frame.columns)
    return Retest(recipe.name, before, after, removed, lost, _note(one, other, clusters), gone)


def _note(one: Judging, other: Judging, clusters: Array | None) -> str:
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


def _judging(run: Run, numbers: Array) -> Judging:
    data = run.judged_data
    binary = run.data.positive is not None
    return Judging(
        numbers[run.judged],
        data.truth[run.judged],
        run.said.decisions,
        run.said.scores if binary else None,
    )


def _data(case: Case, part: int) -> Data:
    found = case.parts[part]
    return replace(
        found.data, frame=found.frame, truth=found.truth, labels=case.labels, positive=case.positive
    )


def _clusters(case: Case, column: str) -> Array:
    """The group of every row; rows without one are groups of their own."""
    import polars as pl

    values = pl.concat([values_of(case, part, column) for part in case.parts])
    codes = np.unique(values.hash().to_numpy(), return_inverse=True)[1]
    alone = values.is_null().to_numpy()
    codes[alone] = len(codes) + np.arange(int(alone.sum()))
    return np.asarray(codes)
