"""What would have to go for an evaluation to be honest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.evaluation.words import name
from assay.learn.checks import (
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
from assay.learn.checks.case import TEST, TRAIN, Case

Mask: TypeAlias = npt.NDArray[np.bool_]

LEAK = "leak"


@dataclass(frozen=True, eq=False)
class Leaking:
    """Columns that give labels away, and the rows of each part that leak into the other.

    ``repeats`` are the rows of all parts, the training part first, that repeat an earlier one.
    ``made`` are the rows of each part that look made up; ``missed`` says why some can't be told.
    """

    columns: tuple[str, ...]
    train: Mask
    test: Mask | None
    repeats: Mask
    made: tuple[Mask, ...] | None = None
    missed: str = ""


def leaking(case: Case) -> Leaking:
    """The columns and rows that make up the leaks of a case."""
    columns: dict[str, None] = {}
    for check in (telling_identifier.CHECK, shortcut.CHECK):
        found = check(case)
        if found is not None and found.severity == LEAK:
            columns.update(dict.fromkeys(found.columns))
    made, missed = _made_up(case)
    train = np.zeros(len(case.train), bool)
    if case.test is None:
        return Leaking(tuple(columns), train, None, _repeats(case), made, missed)
    test = np.zeros(len(case.test), bool)
    for check, masks in (
        (duplicates_across.CHECK, _copies),
        (oversampled.CHECK, _copies),
        (near_duplicates_across.CHECK, _near_copies),
        (groups_across.CHECK, _grouped),
        (later_training.CHECK, _untimely),
    ):
        found = check(case)
        if found is not None and found.severity == LEAK:
            one, other = masks(case)
            train |= one
            test |= other
    return Leaking(tuple(columns), train, test, _repeats(case), made, missed)


def _made_up(case: Case) -> tuple[tuple[Mask, ...] | None, str]:
    """Rows that look made up, where they are on both sides or a random split would put them."""
    found = interpolated.CHECK(case)
    if found is None or found.severity == "info":
        return None, ""
    label = found.evidence["label"]
    made = interpolated.made_up(case, case.labels.index(label))
    if made is None:
        return None, f"rows of the class {name(label)} look made up, too many to look at each"
    return made, ""


def _repeats(case: Case) -> Mask:
    """Rows of all parts that repeat an earlier one more often than by chance, nearly or exactly."""
    found = np.zeros(case.rows, bool)
    for equal, checks in (
        (case.equal, (duplicates_across.CHECK, duplicates_inside.CHECK)),
        (case.near, (near_duplicates_across.CHECK, near_duplicates_inside.CHECK)),
    ):
        seen = [check(case) for check in checks]
        if equal is not None and any(each is not None and each.severity != "info" for each in seen):
            found |= equal.repeats_of_all()
    return found


def _copies(case: Case) -> tuple[Mask, Mask]:
    return case.equal.also_in(TRAIN, TEST), case.equal.also_in(TEST, TRAIN)


def _near_copies(case: Case) -> tuple[Mask, Mask]:
    assert case.near is not None  # noqa: S101 - found because there is one
    return case.near.also_in(TRAIN, TEST), case.near.also_in(TEST, TRAIN)


def _grouped(case: Case) -> tuple[Mask, Mask]:
    train, test = np.zeros(len(case.train), bool), np.zeros(len(case.parts[TEST]), bool)
    for column in case.groups:
        equal, there = groups_across.grouped(case, column)
        train |= equal.also_in(TRAIN, TEST) & there[TRAIN]
        test |= equal.also_in(TEST, TRAIN) & there[TEST]
    return train, test


def _untimely(case: Case) -> tuple[Mask, Mask]:
    learned, judged = (_times(part.data.time) for part in case.parts)
    return learned > judged.min(), judged < learned.max()


def _times(found: Any) -> Any:
    assert found is not None  # noqa: S101 - found because there are times
    return found
