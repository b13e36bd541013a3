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
from assay.learn.cells import texts_in
from assay.learn.checks.baselines import OF_MANY, OF_TWO, plain
from assay.learn.checks.case import HELD_OUT, TEST, TRAIN, Case
from assay.learn.checks.drop import Judging, drops
from assay.learn.checks.groups_across import values_of
from assay.learn.checks.removing import Leaking, leaking
from assay.learn.checks.words import columns as named
from assay.learn.data import Data

if TYPE_CHECKING:
    import polars as pl

    from assay.learn.recipes.recipe import Recipe
    from assay.learn.run import Run

Array: TypeAlias = npt.NDArray[Any]

# What has to be left of a part for its measure to say something.
FEWEST_ROWS, FEWEST_OF_A_CLASS, LEAST_SHARE = 50, 5, 0.2
RANDOM = f"holdout:{HELD_OUT:g}"


@dataclass(frozen=True, eq=False)
class Trained:
    """A recipe once trained: how rows were split, how many there were, and its measures."""

    split: str
    learned: int
    judged: int
    estimates: Mapping[str, Estimate]

    def to_dict(self) -> dict[str, Any]:
        """It as the JSON document has it."""
        return {
            "split": self.split,
            "learned": self.learned,
            "judged": self.judged,
            "estimates": [plain(measure, found) for measure, found in self.estimates.items()],
        }


@dataclass(frozen=True, eq=False)
class Retest:
    """A recipe before and after what leaks was removed, and by how much each measure drops.

    ``drops`` are before less after. ``note`` says what the two judgings have in common.
    """

    recipe: str
    before: Trained
    after: Trained | None
    removed: str
    drops: Mapping[str, Estimate] = field(default_factory=dict)
    note: str = ""
    columns: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """It as the JSON document has it."""
        after = self.after
        return {
            "recipe": self.recipe,
            "before": self.before.to_dict(),
            "after": None if after is None else after.to_dict(),
            "removed": self.removed,
            "columns": list(self.columns),
            "drops": [
                {
                    **plain(measure, found),
                    "before": plain(measure, self.before.estimates[measure])["value"],
                    "after": plain(measure, after.estimates[measure])["value"] if after else None,
                }
                for measure, found in self.drops.items()
            ],
            "note": self.note,
        }


@dataclass(frozen=True, eq=False)
class Honest:
    """What is trained once leaks are gone.

    ``data`` and ``test`` are what is learned and judged, ``numbers`` and ``test_numbers`` which of
    all rows they are, the training part first. ``group`` is the column to split by.
    """

    data: Data
    test: Data | None
    scheme: Any
    numbers: Array
    test_numbers: Array | None
    removed: tuple[str, ...]
    group: str | None = None


def retest(case: Case, recipe: Recipe) -> Retest:
    """Train a recipe as the parts are, and again without what leaks."""
    from assay.learn.training import train

    def trained(data: Data, scheme: Any, test: Data | None) -> Run:
        return train(recipe, data, validation=scheme, test=test, seed=case.seed, level=case.level)

    data, test = (_data(case, part) if part < len(case.parts) else None for part in (TRAIN, TEST))
    assert data is not None  # noqa: S101 - there always is a training part
    first = trained(data, RANDOM if test is None else _official(test), test)
    before = _trained(first, "at random" if test is None else "as given")
    honest = _honest(case, leaking(case), data, test)
    if honest is None:
        return Retest(recipe.name, before, None, "nothing: no leak was found")
    removed = listed(honest.removed)
    try:
        second = trained(honest.data, honest.scheme, honest.test)
    except InputError as odd:
        return Retest(recipe.name, before, None, removed, note=f"it could not be trained: {odd}")
    after = _trained(second, _split(honest))
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
    wanted = OF_TWO if run.data.positive is not None else OF_MANY
    estimates = {measure: run.evaluation[measure] for measure in wanted}
    learned = len(run.folds[0].train)
    return Trained(split, learned, len(run.judged), estimates)


def _split(honest: Honest) -> str:
    if honest.test is not None:
        return "as given"
    text = honest.scheme if isinstance(honest.scheme, str) else honest.scheme.text
    return {RANDOM: "at random"}.get(text, f"by {text}")


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


def _official(test: Data) -> Any:
    from assay.learn.validation import parse_scheme

    return parse_scheme(f"file:{test.name or 'test'}")


# -- what is left ----------------------------------------------------------------------------------


def _honest(case: Case, leaks: Leaking, data: Data, test: Data | None) -> Honest | None:
    """What remains to be trained and judged, or None where nothing has to go."""
    removed = [named(leaks.columns)] if leaks.columns else []
    if leaks.columns:
        if len(leaks.columns) == data.frame.width:
            raise InputError(f"every feature of {data.name} leaks; nothing is left to learn from")
        data = _without(data, leaks.columns)
        test = None if test is None else _without(test, leaks.columns)
    if test is None:
        return _of_one(case, data, removed)
    total, judged = len(data), len(test)
    numbers, later = np.arange(total), total + np.arange(judged)
    scheme = _official(test)
    if not leaks.rows:
        return Honest(data, test, scheme, numbers, later, tuple(removed)) if removed else None
    assert leaks.test is not None  # noqa: S101 - there are two parts
    kept, judged_kept = np.flatnonzero(~leaks.train), np.flatnonzero(~leaks.test)
    if _enough(data, kept):
        removed.append(f"{count(total - len(kept))} training rows that leak")
        return Honest(data.take(kept), test, scheme, kept, later, tuple(removed))
    if _enough(test, judged_kept):
        removed.append(f"{count(judged - len(judged_kept))} test rows that leak")
        return Honest(
            data, test.take(judged_kept), scheme, numbers, later[judged_kept], tuple(removed)
        )
    removed.append("the split, in which hardly a row does not leak; all rows were split anew")
    return _anew(case, _joined(data, test), np.arange(total + judged), removed)


def _of_one(case: Case, data: Data, removed: list[str]) -> Honest | None:
    """One file: repeats go, and the split is by groups or time where those are named."""
    near = case.equal if case.near is None else case.near
    repeats = near.repeats(TRAIN) | case.equal.repeats(TRAIN)
    worth = repeats.any() and not near.by_chance(
        near.pairs_inside(TRAIN), len(data) * (len(data) - 1) // 2
    )
    numbers = np.arange(len(data))
    if worth and not case.groups and case.time is None:
        kept = np.flatnonzero(~repeats)
        if _enough(data, kept):
            removed.append(f"{count(int(repeats.sum()))} rows that repeat another")
            data, numbers = data.take(kept), kept
    if case.groups or case.time is not None:
        removed.append("the random split, in which rows of one group or of later times are learned")
    elif not removed:
        return None
    return _anew(case, data, numbers, removed)


def _anew(case: Case, data: Data, numbers: Array, removed: list[str]) -> Honest:
    """Split rows by groups, else by time, else at random."""
    from assay.learn.validation import GroupFolds, Scheme, parse_scheme

    if case.groups:
        sizes = {column: data.columns[column].n_unique() for column in case.groups}
        # The fewest groups hold the others: a vendor has many listings.
        group = min(sizes, key=lambda column: sizes[column])
        folds = max(2, min(5, sizes[group]))
        scheme: Any = Scheme(f"group:{group}", lambda seed: GroupFolds(folds, seed), (group,))
        return Honest(data, None, scheme, numbers, None, tuple(removed), group)
    if case.time is not None and data.time is not None:
        cut = np.sort(data.time)[int(len(data) * (1 - HELD_OUT))]
        zone = "Z" if data.time_zoned else ""
        scheme = parse_scheme(f"time:{case.time}@{cut!s}{zone}")
        return Honest(data, None, scheme, numbers, None, tuple(removed))
    return Honest(data, None, RANDOM, numbers, None, tuple(removed))


def _without(data: Data, columns: tuple[str, ...]) -> Data:
    return replace(data, frame=data.frame.drop(columns), dropped=(*data.dropped, *columns))


def _enough(data: Data, kept: Array) -> bool:
    """Whether rows are left of every class that there was, and not too few of all."""
    if len(kept) < max(FEWEST_ROWS, LEAST_SHARE * len(data)):
        return False
    before = np.bincount(data.truth, minlength=len(data.labels))
    after = np.bincount(data.truth[kept], minlength=len(data.labels))
    return bool((after[before > 0] >= FEWEST_OF_A_CLASS).all())


def _joined(data: Data, test: Data) -> Data:
    """Both parts as one table."""
    import polars as pl

    times = None
    if data.time is not None and test.time is not None:
        times = np.concatenate([data.time, test.time])
    shared = [name for name in data.columns if name in test.columns]
    return replace(
        data,
        name=f"{data.name} and {test.name}",
        frame=pl.concat([data.frame, test.frame]),
        truth=np.concatenate([data.truth, test.truth]),
        rows=np.arange(1, 1 + len(data) + len(test)),
        family=None,
        time=times,
        columns={name: _end_to_end(data.columns[name], test.columns[name]) for name in shared},
    )


def _end_to_end(one: pl.Series, other: pl.Series) -> pl.Series:
    """Two columns as one; as text where they are of different types."""
    import polars as pl

    if one.dtype != other.dtype:
        one, other = texts_in(one), texts_in(other)
    return pl.concat([one, other])


def _clusters(case: Case, column: str) -> Array:
    """The group of every row; rows without one are groups of their own."""
    import polars as pl

    values = pl.concat([values_of(case, part, column) for part in case.parts])
    codes = np.unique(values.hash().to_numpy(), return_inverse=True)[1]
    alone = values.is_null().to_numpy()
    codes[alone] = len(codes) + np.arange(int(alone.sum()))
    return np.asarray(codes)
