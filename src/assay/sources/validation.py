"""The one check of rows: arrays, frames, files and databases refuse the same, and say why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import InputError
from assay.sources.number_checks import CountCheck, NumberCheck, WeightCheck, check_probabilities
from assay.sources.row_checks import DayCheck, LabelCheck, Place, Problem, check_names

if TYPE_CHECKING:
    import polars as pl

Array: TypeAlias = npt.NDArray[Any]
OnBadRow: TypeAlias = Literal["stop", "skip"]

LABEL, SCORE, DECISION, INCIDENT = "label", "score", "decision", "incident"
STOP, SKIP = "stop", "skip"


def skips(on_bad_row: Any) -> bool:
    """Whether bad rows are left out and counted, instead of stopping everything."""
    if on_bad_row not in (None, STOP, SKIP):
        raise InputError(f"on_bad_row= is {STOP} or {SKIP}; found {on_bad_row!r}")
    return bool(on_bad_row == SKIP)


@dataclass(frozen=True)
class Roles:
    """The columns to read, by what they are.

    ``probabilities`` maps a label, as text, to its column. ``slices`` has the family in it.
    ``models`` are columns of what several models said, None where one model is judged;
    ``model_classes`` maps a pattern that names a model's probabilities to columns, by label.
    ``rows`` tells how many equal rows each row stands for, where they were grouped before.
    ``incident`` names the incident of a row; it is known and not read.
    """

    label: str | None
    score: str | None = None
    decision: str | None = None
    probabilities: Mapping[str, str] = field(default_factory=dict)
    slices: tuple[str, ...] = ()
    family: str | None = None
    time: str | None = None
    count: str | None = None
    weight: str | None = None
    cluster: str | None = None
    models: tuple[str, ...] | None = None
    id: str | None = None
    model_classes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    rows: str | None = None
    incident: str | None = None

    @property
    def columns(self) -> list[str]:
        """Every column once."""
        single = [self.label, self.score, self.decision, *self.probabilities.values()]
        single += [*self.slices, self.time, self.count, self.weight, self.cluster]
        single += [*(self.models or ()), self.id, self.rows]
        single += [
            column for by_label in self.model_classes.values() for column in by_label.values()
        ]
        return list(dict.fromkeys(column for column in single if column is not None))

    @property
    def chosen(self) -> dict[str, str]:
        """The column of each role that has one."""
        named = {
            LABEL: self.label,
            SCORE: self.score,
            DECISION: self.decision,
            "family": self.family,
            "time": self.time,
            "count": self.count,
            "weight": self.weight,
            "cluster": self.cluster,
            "id": self.id,
            "incident": self.incident,
        }
        return {role: column for role, column in named.items() if column is not None}


@dataclass(frozen=True, eq=False)
class Checked:
    """Rows that were checked: their columns by role, which have no label, and what is wrong.

    The column of a slice or a probability has its name beside its role.
    """

    values: dict[tuple[str, str], Any]
    missing: Array
    problems: list[Problem]

    @cached_property
    def bad(self) -> npt.NDArray[np.bool_]:
        """The rows that can't be used."""
        return bad_rows(self.problems, len(self.missing))


def bad_rows(problems: list[Problem], rows: int) -> npt.NDArray[np.bool_]:
    """The rows that some problem leaves out."""
    bad = np.zeros(rows, bool)
    for problem in problems:
        if not problem.fatal:
            bad |= problem.rows
    return bad


def reasons_of(problems: list[Problem], rows: int, repeats: Array | None = None) -> dict[str, int]:
    """How many rows are left out, by the first reason of each; ``repeats`` is what each counts."""
    reasons: dict[str, int] = {}
    told = np.zeros(rows, bool)
    for problem in problems:
        first = problem.rows & ~told
        if first.any():
            amount = int(first.sum() if repeats is None else repeats[first].sum())
            reasons[problem.kind] = reasons.get(problem.kind, 0) + amount
            told |= first
    return reasons


class RowCheck:
    """Checks rows by the roles of their columns, piece by piece.

    ``unlabelled`` allows rows without a label.
    """

    def __init__(self, roles: Roles, *, unlabelled: bool = False) -> None:
        self._roles = roles
        self._unlabelled = unlabelled
        self._label = None
        if roles.label is not None:
            self._label = LabelCheck(roles.label, LABEL, may_be_missing=unlabelled)
        self._decision = None if roles.decision is None else LabelCheck(roles.decision, DECISION)
        self._days = None if roles.time is None else DayCheck(roles.time)

    def check(self, frame: pl.DataFrame, place: Place) -> Checked:
        """The columns of some rows, and what is wrong with them; ``place`` tells where one is."""
        roles = self._roles
        values: dict[tuple[str, str], Any] = {}
        missing = np.zeros(frame.height, bool)
        problems: list[Problem] = []
        if self._label is not None:
            labels, missing, problems = self._label.check(frame[self._label.column], place)
            values[LABEL, ""] = labels
        if self._decision is not None:
            decisions, _, odd = self._decision.check(frame[self._decision.column], place)
            values[DECISION, ""] = decisions
            problems += odd
        for role, column, check in (
            (SCORE, roles.score, NumberCheck),
            ("count", roles.count, CountCheck),
            ("weight", roles.weight, WeightCheck),
        ):
            if column is not None:
                values[role, ""], odd = check(column).check(frame[column])
                if role == "weight" and self._unlabelled:
                    # A weight says what a labelled row stands for; other rows need none.
                    odd = [replace(each, rows=each.rows & ~missing) for each in odd]
                problems += odd
        numbers, odd = check_probabilities(frame, roles.probabilities)
        problems += odd
        values |= {("probability", label): column for label, column in numbers.items()}
        for column in (*roles.slices, *([roles.cluster] if roles.cluster else [])):
            names, odd = check_names(frame[column])
            values["slice", column] = names
            problems += odd
        if roles.cluster is not None:
            values["cluster", ""] = values["slice", roles.cluster]
        if self._days is not None:
            days, odd = self._days.check(frame[self._days.column], place)
            values["time", ""] = days
            problems += odd
        if roles.rows is not None:
            values["rows", ""] = frame[roles.rows].to_numpy().astype(np.int64)
        return Checked(values, missing, problems)
