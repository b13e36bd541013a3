"""What leaks, and what is left to train and judge once it is gone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.v02.evaluation.wording import name
from assay.v02.learn.checks import (
    duplicates_across,
    duplicates_inside,
    groups_across,
    interpolated,
    later_training,
    near_duplicates_across,
    near_duplicates_inside,
    oversampled,
    shortcut,
    telling_identifier,
)
from assay.v02.learn.checks.case import HELD_OUT, TEST, TRAIN, Case, columns_text
from assay.v02.learn.checks.equal_rows import EqualRows
from assay.v02.learn.data import Data
from assay.v02.learn.feature_values import texts_in
from assay.v02.number_text import count

if TYPE_CHECKING:
    import polars as pl

    from assay.v02.learn.validation import Scheme

Array: TypeAlias = npt.NDArray[Any]

Mask: TypeAlias = npt.NDArray[np.bool_]

LEAK = "leak"


@dataclass(frozen=True, eq=False)
class Leaks:
    """Columns that give labels away, and the rows of each part that leak into the other.

    ``test`` is empty where there is one part. ``repeats`` are the rows of all parts, the training
    part first, that repeat an earlier one. ``made`` are the rows of each part that look made up;
    ``missed`` says why some can't be told.
    """

    columns: tuple[str, ...]
    train: Mask
    test: Mask
    repeats: Mask
    made: tuple[Mask, ...] | None = None
    missed: str = ""


def leaking(case: Case) -> Leaks:
    """The columns and rows that make up the leaks of a case."""
    columns: dict[str, None] = {}
    for check in (telling_identifier.CHECK, shortcut.CHECK):
        finding = check(case)
        if finding is not None and finding.severity == LEAK:
            columns.update(dict.fromkeys(finding.columns))
    made, missed = _made_up(case)
    train = np.zeros(len(case.train), bool)
    if case.test is None:
        return Leaks(tuple(columns), train, np.zeros(0, bool), _repeats(case), made, missed)
    test = np.zeros(len(case.test), bool)
    for check, masks in (
        (duplicates_across.CHECK, _copies),
        (oversampled.CHECK, _copies),
        (near_duplicates_across.CHECK, _near_copies),
        (groups_across.CHECK, _grouped),
        (later_training.CHECK, _untimely),
    ):
        finding = check(case)
        if finding is not None and finding.severity == LEAK:
            one, other = masks(case)
            train |= one
            test |= other
    return Leaks(tuple(columns), train, test, _repeats(case), made, missed)


def _made_up(case: Case) -> tuple[tuple[Mask, ...] | None, str]:
    """Rows that look made up, where they are on both sides or a random split would put them."""
    finding = interpolated.CHECK(case)
    if finding is None or finding.severity == "info":
        return None, ""
    label = finding.evidence["label"]
    made = interpolated.made_up(case, case.labels.index(label))
    if made is None:
        return None, f"rows of the class {name(label)} look made up, too many to look at each"
    return made, ""


def _repeats(case: Case) -> Mask:
    """Rows of all parts that repeat an earlier one more often than by chance, nearly or exactly."""
    repeats = np.zeros(case.rows, bool)
    for equal, checks in (
        (case.equal, (duplicates_across.CHECK, duplicates_inside.CHECK)),
        (case.near, (near_duplicates_across.CHECK, near_duplicates_inside.CHECK)),
    ):
        seen = [check(case) for check in checks]
        if equal is not None and any(each is not None and each.severity != "info" for each in seen):
            repeats |= equal.repeats_of_all()
    return repeats


def _copies(case: Case) -> tuple[Mask, Mask]:
    return _repeats_across(case.equal)


def _near_copies(case: Case) -> tuple[Mask, Mask]:
    return _repeats_across(case.equal if case.near is None else case.near)


def _repeats_across(equal: EqualRows) -> tuple[Mask, Mask]:
    return equal.also_in(TRAIN, TEST), equal.also_in(TEST, TRAIN)


def _grouped(case: Case) -> tuple[Mask, Mask]:
    train, test = np.zeros(len(case.train), bool), np.zeros(len(case.parts[TEST]), bool)
    for column in case.groups:
        equal, has_group = groups_across.group_rows(case, column)
        train |= equal.also_in(TRAIN, TEST) & has_group[TRAIN]
        test |= equal.also_in(TEST, TRAIN) & has_group[TEST]
    return train, test


def _untimely(case: Case) -> tuple[Mask, Mask]:
    learned, judged = (part.data.time for part in case.parts if part.data.time is not None)
    return learned > judged.min(), judged < learned.max()


# -- what is left ----------------------------------------------------------------------------------

# What has to be left of a part for its measure to say something.
FEWEST_ROWS, FEWEST_OF_A_CLASS, LEAST_SHARE = 50, 5, 0.2
RANDOM = f"holdout:{HELD_OUT:g}"


@dataclass(frozen=True, eq=False)
class HonestTraining:
    """What is trained once leaks are gone.

    ``data`` and ``test`` are what is learned and judged; without ``test`` a part of ``data`` is
    held out. ``numbers`` are those of the last of the two among all rows, the training part first.
    ``group`` is the column to split by.
    """

    data: Data
    test: Data | None
    scheme: Any
    numbers: Array
    removed: tuple[str, ...]
    group: str | None = None

    @property
    def split(self) -> str:
        """How rows are split, in words."""
        if self.test is not None:
            return "as given"
        text = self.scheme if isinstance(self.scheme, str) else self.scheme.text
        return {RANDOM: "at random"}.get(text, f"by {text}")


def official(test: Data) -> Scheme:
    """The scheme of a part that judges."""
    from assay.v02.learn.validation import parse_scheme

    return parse_scheme(f"file:{test.name or 'test'}")


def honest_of(case: Case, leaks: Leaks, data: Data, test: Data | None) -> HonestTraining | None:
    """What remains to be trained and judged, or None where nothing has to go."""
    removed = [columns_text(leaks.columns)] if leaks.columns else []
    if leaks.columns:
        data = _without_columns(data, leaks.columns)
        test = None if test is None else _without_columns(test, leaks.columns)
    if test is None:
        return _of_one(case, leaks, data, removed)
    total, judged = len(data), len(test)
    learned, real = np.ones(total, bool), np.ones(judged, bool)
    if leaks.made is not None:
        if not (
            _has_every_class(data, ~leaks.made[TRAIN]) and _has_every_class(test, ~leaks.made[TEST])
        ):
            removed.append("the split, in which too few rows are real; all others were split anew")
            return _anew(case, *_real(leaks, data, test), removed)
        learned, real = (~made for made in leaks.made)
        removed_rows = [_rows(~learned, "training row"), _rows(~real, "test row")]
        removed.append(f"{' and '.join(removed_rows)} that look made up")
    if (leaks.train & learned).any():
        unseen, unlike = learned & ~leaks.train, real & ~leaks.test
        if _has_every_class(data, unseen):
            removed.append(f"{_rows(learned & ~unseen, 'training row')} that leak")
            learned = unseen
        elif _has_every_class(test, unlike):
            removed.append(f"{_rows(real & ~unlike, 'test row')} that leak")
            real = unlike
        else:
            removed.append(
                "the split, in which hardly a row does not leak; all rows were split anew"
            )
            return _anew(case, *_real(leaks, data, test), removed)
    if not removed:
        return None
    judged_kept = np.flatnonzero(real)
    return HonestTraining(
        *(data.take(np.flatnonzero(learned)), test.take(judged_kept), official(test)),
        *(total + judged_kept, tuple(removed)),
    )


def _real(leaks: Leaks, data: Data, test: Data) -> tuple[Data, Array]:
    """All rows of both parts but copies and those that look made up, and their numbers."""
    kept = ~leaks.repeats
    if leaks.made is not None:
        kept &= ~np.concatenate(leaks.made)
    at = np.flatnonzero(kept)
    return _joined(data, test).take(at), at


def _of_one(case: Case, leaks: Leaks, data: Data, removed: list[str]) -> HonestTraining | None:
    """One file: repeats go, and the split is by groups or time where those are named."""
    kept = np.ones(len(data), bool)
    if leaks.made is not None and _has_every_class(data, ~leaks.made[TRAIN]):
        removed.append(f"{_rows(leaks.made[TRAIN], 'row')} that look made up")
        kept &= ~leaks.made[TRAIN]
    named_split = case.groups or case.time is not None
    if (
        not named_split
        and (leaks.repeats & kept).any()
        and _has_every_class(data, kept & ~leaks.repeats)
    ):
        removed.append(f"{_rows(leaks.repeats & kept, 'row')} that repeat another")
        kept &= ~leaks.repeats
    if named_split:
        removed.append("the random split, in which rows of one group or of later times are learned")
    elif not removed:
        return None
    at = np.flatnonzero(kept)
    return _anew(case, data.take(at), at, removed)


def _anew(case: Case, data: Data, numbers: Array, removed: list[str]) -> HonestTraining:
    """Split rows by groups, else by time, else at random."""
    from assay.v02.learn.validation import GroupFolds, Scheme, parse_scheme

    if case.groups:
        sizes = {column: data.columns[column].n_unique() for column in case.groups}
        # The fewest groups hold the others: a vendor has many listings.
        group = min(sizes, key=lambda column: sizes[column])
        folds = max(2, min(5, sizes[group]))
        scheme: Any = Scheme(f"group:{group}", lambda seed: GroupFolds(folds, seed), (group,))
        return HonestTraining(data, None, scheme, numbers, tuple(removed), group)
    if case.time is not None and data.time is not None:
        cut = np.sort(data.time)[int(len(data) * (1 - HELD_OUT))]
        zone = "Z" if data.time_zoned else ""
        scheme = parse_scheme(f"time:{case.time}@{cut!s}{zone}")
        return HonestTraining(data, None, scheme, numbers, tuple(removed))
    return HonestTraining(data, None, RANDOM, numbers, tuple(removed))


def _rows(mask: Mask, called: str) -> str:
    number = int(mask.sum())
    return f"{count(number)} {called}{'' if number == 1 else 's'}"


def _without_columns(data: Data, columns: tuple[str, ...]) -> Data:
    return replace(data, frame=data.frame.drop(columns), dropped=(*data.dropped, *columns))


def _has_every_class(data: Data, kept: Mask) -> bool:
    """Whether rows are left of every class that there was, and not too few of all."""
    if int(kept.sum()) < max(FEWEST_ROWS, LEAST_SHARE * len(data)):
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
