"""The one check of rows: arrays, frames, files and databases refuse the same, and say why.

Arrays, lists and dataframe columns are checked and coded here.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import EmptyInput, InputError, ScoreError
from assay.v02.escaping import given_text, plural, row_at
from assay.v02.sources.amounts import amounts_of, kept_of, repeated_counts
from assay.v02.sources.coded import Coded, Labels, NameColumn
from assay.v02.sources.columns import (
    TEXT,
    columns_of,
    kept_once,
    label_text,
    labels_of,
    must_be_as_long,
    names_of,
    polars_column,
    scores_of,
)
from assay.v02.sources.labelling import (
    Labelling,
    checked_threshold,
    column_labels,
    must_be_probabilities,
    probabilities_of,
    probability_columns,
    ranking_of,
    unify,
)
from assay.v02.sources.row_checks import (
    CountCheck,
    DayCheck,
    LabelCheck,
    NumberCheck,
    Place,
    Problem,
    WeightCheck,
    check_clusters,
    check_names,
    check_probabilities,
    clusters_of,
)
from assay.v02.sources.times import day_names
from assay.v02.tally.scores import extremes

if TYPE_CHECKING:
    import polars as pl

Array: TypeAlias = npt.NDArray[Any]
OnBadRow: TypeAlias = Literal["stop", "skip"]

LABEL, SCORE, DECISION, INCIDENT = "label", "score", "decision", "incident"
STOP, SKIP = "stop", "skip"


def skips(on_bad_row: Any) -> bool:
    """Whether bad rows are left out and counted, instead of stopping everything."""
    if on_bad_row is not None and (
        not isinstance(on_bad_row, str) or on_bad_row not in (STOP, SKIP)
    ):
        raise InputError(f"on_bad_row= is {STOP} or {SKIP}; found {given_text(on_bad_row)}")
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
class CheckedRows:
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


# So many rows that were left out are listed.
LISTED = 100
# The number of a row, counted from 1, and why it was left out.
Listed: TypeAlias = tuple[tuple[int, str], ...]


def first_bad(problems: Sequence[Problem], bad: Array, most: int) -> Iterator[tuple[int, Problem]]:
    """The first rows that are left out, and what is wrong with each."""
    for i in np.flatnonzero(bad)[:most].tolist():
        yield i, next(problem for problem in problems if not problem.fatal and problem.rows[i])


class RowCheck:
    """Checks rows by the roles of their columns, piece by piece.

    ``unlabelled`` allows rows without a label; ``advice`` is what to do about them where not.
    """

    def __init__(self, roles: Roles, *, unlabelled: bool = False, advice: str = "") -> None:
        self._roles = roles
        self._unlabelled = unlabelled
        self._label = None
        if roles.label is not None:
            self._label = LabelCheck(roles.label, LABEL, may_be_missing=unlabelled, advice=advice)
        self._decision = None if roles.decision is None else LabelCheck(roles.decision, DECISION)
        self._days = None if roles.time is None else DayCheck(roles.time)

    @property
    def zoned(self) -> bool | None:
        """Whether the times that were read name a zone; None where there are none."""
        return None if self._days is None else self._days.zoned

    def check(self, frame: pl.DataFrame, place: Place) -> CheckedRows:
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
        for column in roles.slices:
            values["slice", column], odd = check_names(frame[column])
            problems += odd
        if roles.cluster is not None:
            values["cluster", ""], odd = check_clusters(frame[roles.cluster])
            if self._unlabelled:
                # Of rows without a label it is only known how many there are.
                odd = [replace(each, rows=each.rows & ~missing) for each in odd]
            problems += odd
        if self._days is not None:
            days, odd = self._days.check(frame[self._days.column], place)
            values["time", ""] = days
            problems += odd
        if roles.rows is not None:
            values["rows", ""] = frame[roles.rows].to_numpy().astype(np.int64)
        return CheckedRows(values, missing, problems)


# -- arrays, lists and dataframe columns -----------------------------------------------------------

FAMILY = "family"
COLUMNS = (
    "y_score",
    "y_pred",
    "y_proba",
    "positive",
    "negative",
    "labels",
    "threshold",
    "counts",
    "sample_weight",
    "slices",
    "clusters",
    "times",
    "unknown",
    "on_bad_row",
)


def checked_columns(columns: Mapping[str, Any]) -> dict[str, Any]:
    """Columns by name, refused where a name is not one of those that are read."""
    odd = [name for name in columns if name not in COLUMNS]
    if odd:
        raise InputError(
            f"{', '.join(map(str, odd))} is not read; columns are {', '.join(COLUMNS)}"
        )
    return dict(columns)


# The role of each column of an array, as the check of rows knows it.
_ROLES = {
    "y_true": "label",
    "y_score": "score",
    "y_pred": "decision",
    "counts": "count",
    "sample_weight": "weight",
    "clusters": "cluster",
    "times": "time",
}


@dataclass(frozen=True)
class LeftOut:
    """Rows of arrays that can't be used: how many by the reason, and the first hundred."""

    reasons: Mapping[str, int] = field(default_factory=dict)
    listed: Listed = ()

    @property
    def source(self) -> list[dict[str, Any]]:
        """Those that are listed, as the source of a result tells them."""
        return listed_source(self.listed)


def listed_source(listed: Listed) -> list[dict[str, Any]]:
    """Refused rows of arrays or frames, as the source of a result tells them."""
    return [{"row": row, "reason": reason} for row, reason in listed]


def good_rows(*tables: Mapping[str, Any]) -> tuple[LeftOut, list[dict[str, Any]]]:
    """The rows of arrays that can't be used, and the columns of all others.

    The rows of several tables belong together: one that is bad in any of them is left out of all.
    They are checked as those of a frame are.

    >>> left_out, kept = good_rows({"y_true": ["a", None, "b"], "y_score": [0.5, 0.2, 0.1]})
    >>> left_out.reasons, kept
    ({'label: missing': 1}, [{'y_true': ['a', 'b'], 'y_score': [0.5, 0.1]}])
    """
    given = [{name: kept_once(column, name) for name, column in t.items()} for t in tables]
    rows = len(given[0]["y_true"])
    problems = [problem for table in given for problem in _problems(table, rows)]
    bad = bad_rows(problems, rows)
    if rows and bad.all():
        first = next(problem for problem in problems if problem.rows[0])
        every = plural(rows, "the only row was", f"all {rows:,} rows were")
        raise EmptyInput(f"{every} refused; of {row_at(0)} {first.why(0)}")
    kept = [{name: _filtered(column, ~bad) for name, column in table.items()} for table in given]
    listed = tuple((i + 1, problem.why(i)) for i, problem in first_bad(problems, bad, LISTED))
    return LeftOut(dict(sorted(reasons_of(problems, rows).items())), listed), kept


@contextmanager
def suggesting_skip(*tables: Mapping[str, Any]) -> Iterator[None]:
    """Where rows of arrays can't be used, errors in here tell how to leave them out."""
    try:
        yield
    except InputError as error:
        if not _is_of_rows(error, tables):
            raise
        raise type(error)(f"{error}. on_bad_row='skip' leaves out such rows") from error


def _is_of_rows(error: InputError, tables: Sequence[Mapping[str, Any]]) -> bool:
    """Whether :func:`good_rows` finds such an error, in some of the rows."""
    columns = [column for table in tables for column in table.values() if column is not None]
    if not all(hasattr(column, "__len__") for column in columns):
        return False  # they were gone through
    try:
        rows = len(tables[0]["y_true"])
        problems = [problem for table in tables for problem in _problems(table, rows)]
    except (TypeError, ValueError):  # no column that rows could be left out of
        return False
    return not bad_rows(problems, rows).all() and type(error) in {p.error for p in problems}


def _problems(table: Mapping[str, Any], rows: int) -> list[Problem]:
    """What is wrong with the rows of some columns."""
    import polars as pl

    probable = probability_columns(table.get("y_proba"))
    columns = {name: table[name] for name in _ROLES if table.get(name) is not None}
    series = {n: polars_column(n, column) for n, column in {**columns, **probable}.items()}
    must_be_as_long(rows, series)
    named: dict[str, Any] = {"label": None, **{_ROLES[name]: name for name in columns}}
    roles = Roles(**named, probabilities={name: name for name in probable})
    frame = pl.DataFrame(list(series.values()))
    checked = RowCheck(roles).check(frame, row_at) if series else None
    problems = [] if checked is None else checked.problems
    for problem in problems:
        if problem.fatal and problem.rows.any():
            raise problem.error(problem.why(int(problem.rows.argmax())))
    return problems


def _filtered(column: Any, kept: npt.NDArray[np.bool_]) -> Any:
    """Some rows of a column, of whatever kind it is."""
    if column is None:
        return None
    if isinstance(column, Mapping):
        return {name: _filtered(each, kept) for name, each in column.items()}
    if isinstance(column, list | tuple):
        return [value for value, keep in zip(column, kept.tolist(), strict=True) if keep]
    library = type(column).__module__.partition(".")[0]
    if library == "polars":
        return column.filter(kept)
    if library == "pyarrow":
        return column.filter(sys.modules[library].array(kept))
    return column[kept]


def code_arrays(
    y_true: Any,
    *,
    y_score: Any = None,
    y_pred: Any = None,
    y_proba: Any = None,
    labels: Sequence[Any] | None = None,
    counts: Any = None,
    sample_weight: Any = None,
    slices: Any = None,
    clusters: Any = None,
    times: Any = None,
    unknown: Any = None,
) -> Coded:
    """Check and code the columns of one model's rows, whatever the labels will stand for.

    ``labels`` name the columns of probabilities that have no names of their own; ``unknown`` is a
    label that has no column.
    """
    must_share_index(
        {"y_true": y_true, "y_score": y_score, "y_pred": y_pred, "y_proba": y_proba}
        | {"counts": counts, "sample_weight": sample_weight, "clusters": clusters, "slices": slices}
        | {"times": times}
    )
    truth = labels_of(y_true, "y_true")
    rows = _rows_in(truth)
    y_score, y_proba = ranking_of(y_pred, y_score, y_proba)
    decision = None if y_pred is None else labels_of(y_pred, "y_pred")
    score = None if y_score is None else scores_of(y_score, "y_score")
    table, names = (None, None) if y_proba is None else probabilities_of(y_proba, truth.kind)
    amounts, weights = amounts_of(counts, sample_weight)
    grouped = {
        "clusters": None if clusters is None else clusters_of(clusters, "clusters"),
        "times": None if times is None else day_names(times, "times"),
    }
    parts = {str(name): names_of(c, str(name)) for name, c in slice_columns(slices).items()}
    must_be_as_long(
        rows,
        {
            "y_pred": decision.codes if decision else None,
            "y_score": score,
            "y_proba": table,
            "counts": amounts,
            "sample_weight": weights,
            **{name: column.codes if column else None for name, column in grouped.items()},
            **{name: part.codes for name, part in parts.items()},
        },
    )
    coded = Coded(
        truth=truth,
        decision=decision,
        score=score,
        probabilities=table,
        counts=amounts,
        weights=weights,
        clusters=grouped["clusters"],
        days=grouped["times"],
        slices=parts,
        rows=rows,
    )
    kept = kept_of(amounts if weights is None else weights)
    if kept is not None:
        # Rows that are left out are checked like all others.
        if score is not None:
            extremes(score)
        if table is not None:
            must_be_probabilities(table)
        coded = replace(coded.of_rows(kept), empty=rows - len(kept))
    if coded.decision is not None:
        truth, decision = unify(coded.truth, coded.decision)
        coded = replace(coded, truth=truth, decision=decision)
    if coded.probabilities is not None:
        width = coded.probabilities.shape[1]
        columns = column_labels(coded, width, names, labels, unknown)
        must_be_probabilities(coded.probabilities)
        coded = replace(coded, columns=columns)
    return coded


def empty_note(rows: int) -> str:
    """What to say of rows of count or weight zero."""
    return (
        f"{rows} {plural(rows, 'row has', 'rows have')} a count or weight of 0; "
        f"{plural(rows, 'it is as if it was', 'they are as if they were')} not there"
    )


def asked_threshold(threshold: Any, y_pred: Any) -> float:
    """A finite number, for scores that decide."""
    if y_pred is not None:
        raise ScoreError("threshold= decides on y_score; decisions are taken as they are")
    return checked_threshold(threshold)


def slice_columns(slices: Any, name: str = "slices") -> Mapping[str, Any]:
    """Columns to slice by, or others: a mapping from name to column, or a dataframe."""
    if slices is None or isinstance(slices, Mapping):
        return slices or {}
    if hasattr(slices, "columns"):
        return columns_of(slices)
    raise InputError(f"{name} are a mapping from name to column; found {type(slices).__name__}")


def coded_columns(columns: Mapping[str, Any]) -> Coded:
    """Columns that were checked elsewhere, as rows to be counted.

    Where there are no labels, all rows have one without a name.
    """
    table, repeats = columns.get("y_proba"), columns.get("repeats")
    counts = columns.get("counts")
    if repeats is not None:
        counts = repeats if counts is None else repeated_counts(counts, repeats)
    truth = columns.get("y_true")
    if truth is None:
        truth = Labels(np.zeros(_length(columns), np.uint8), ("",), TEXT)
    rows = len(truth.codes) if repeats is None else int(repeats.sum())
    coded = Coded(
        truth=truth,
        decision=columns.get("y_pred"),
        score=columns.get("y_score"),
        probabilities=None
        if table is None
        else np.stack([np.asarray(c, np.float64) for c in table.values()], axis=1),
        columns=None if table is None else tuple(label_text(label) for label in table),
        counts=counts,
        weights=columns.get("sample_weight"),
        clusters=columns.get("clusters"),
        days=columns.get("times"),
        slices=columns.get("slices", {}),
        rows=rows,
        repeats=repeats,
    )
    amounts = coded.counts if coded.weights is None else coded.weights
    kept = kept_of(amounts) if coded.size else None
    if kept is not None:
        coded = replace(coded.of_rows(kept), empty=rows - coded.given(kept))
    if coded.decision is not None and "y_true" in columns:
        truth, decision = unify(coded.truth, coded.decision)
        coded = replace(coded, truth=truth, decision=decision)
    return coded


def _length(columns: Mapping[str, Any]) -> int:
    if "y_pred" in columns:
        return len(columns["y_pred"].codes)
    if "y_score" in columns:
        return len(columns["y_score"])
    return len(next(iter(columns["y_proba"].values())))


def families_of(truth: Labels, labelling: Labelling) -> NameColumn:
    """The kind of attack of each positive row; negatives have none."""
    positives = [name for name in truth.names if labelling.position[name] == 1]
    position = {name: i + 1 for i, name in enumerate(positives)}
    renumber = np.array([position.get(name, 0) for name in truth.names], np.int64)
    return NameColumn(renumber[truth.codes], (labelling.labels[0], *positives))


def _rows_in(truth: Labels) -> int:
    if not len(truth.codes):
        raise EmptyInput("y_true has no rows; there is nothing to judge")
    return len(truth.codes)


# -- indexes of dataframes -------------------------------------------------------------------------

# Libraries whose columns carry an index, which tells which rows belong together.
_INDEXED = ("pandas", "modin", "cudf")


def must_share_index(columns: Mapping[str, Any]) -> None:
    """Refuse columns whose indexes differ; a mapping of columns is looked into.

    Rows are matched by their order. Where an index tells another order, or names other rows, one
    of the two is wrong, and nothing tells which.
    """
    first = None
    for name, index in _indexes(columns):
        if first is None:
            first = name, index
        elif len(index) == len(first[1]) and not index.equals(first[1]):
            raise _unlike(*first, name, index)


def _indexes(columns: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, column in columns.items():
        if isinstance(column, Mapping):
            inner = {f"{name}[{key!r}]": each for key, each in column.items()}
            yield from _indexes(inner)
        elif type(column).__module__.partition(".")[0] in _INDEXED and hasattr(column, "index"):
            yield name, column.index


def _unlike(one: str, here: Any, other: str, there: Any) -> InputError:
    pairs = enumerate(zip(here, there, strict=True))
    row = next((i for i, (a, b) in pairs if a != b), 0)
    first, second = (index[row : row + 1].tolist()[0] for index in (here, there))
    differ = f"row {row + 1} is {first!r} in {one} and {second!r} in {other}"
    if here.is_unique and there.is_unique and not len(here.difference(there)):
        differ = f"they name the same rows in another order, {differ}"
    return InputError(
        f"the indexes of {one} and {other} differ: {differ}. Which rows belong together is not "
        f"sure: give both with one index, as columns of one frame have it, or, if the rows are in "
        f"the same order, drop it with .reset_index(drop=True)"
    )
