"""What is asked of files, and what was found in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, TypeAlias, TypedDict

# How many bytes were read, and how many there are (None where nobody knows).
Progress: TypeAlias = Callable[[int, int | None], None]


def silent(done: int, total: int | None) -> None:
    """Progress that nobody sees."""


@dataclass(frozen=True)
class Request:
    """Which columns to read, and how to read them.

    A column that is not named is recognised by its name where it is well known. ``probabilities``
    maps a label to its column; ``probability_pattern`` such as ``p_*`` names them all at once, the
    label being what the star stands for. ``models`` are columns of what several models said of the
    same rows, each scores or decisions; one written ``FILE:COL`` is in another file, unless there
    is a column of that very name. ``id`` names the rows. ``label_if_there`` allows a file without
    labels. ``by_threshold`` says that scores are to be decided by a
    threshold, so that no column of decisions is looked for beside them. ``decimal`` is the sign
    before the fractions of numbers in delimited text, and ``header`` tells whether its first line
    names the columns; without one they are column_1, column_2 and so on. ``sheet``
    is the sheet of a workbook that is meant. ``batch_rows`` and
    ``chunk_bytes`` (of text) are how much is looked at in one go; they change nothing in the
    result.
    """

    label: str | None = None
    score: str | None = None
    decision: str | None = None
    probabilities: Mapping[str, str] = field(default_factory=dict)
    probability_pattern: str | None = None
    slices: tuple[str, ...] = ()
    family: str | None = None
    time: str | None = None
    count: str | None = None
    weight: str | None = None
    cluster: str | None = None
    strata: str | None = None
    incident: str | None = None
    models: tuple[str, ...] | None = None
    id: str | None = None
    label_if_there: bool = False
    input_format: str | None = None
    encoding: str | None = None
    delimiter: str | None = None
    decimal: str = "."
    header: bool = True
    sheet: str | None = None
    on_bad_row: Literal["stop", "skip"] = "stop"
    unlabelled: bool = False
    by_threshold: bool = False
    glob: bool = False
    max_memory: int | None = None
    batch_rows: int = 1 << 20
    chunk_bytes: int = 1 << 22


@dataclass(frozen=True)
class Refused:
    """A row that was left out: its number in the file, counted from 1, and why."""

    row: int
    reason: str
    file: str = ""
    line: int | None = None


class RefusedRow(TypedDict, total=False):
    """The same as a result tells it."""

    row: int
    reason: str
    file: str | None
    line: int | None


def refused_row(refused: Refused) -> RefusedRow:
    """A refused row as a result tells it."""
    return {
        "row": refused.row,
        "reason": refused.reason,
        "file": refused.file,
        "line": refused.line,
    }


class RowSource(TypedDict, total=False):
    """Where the rows of a result came from, how many were used, and which were refused.

    ``reasons`` counts the refused rows of a database, ``chosen`` are the columns that were read,
    ``files`` those of other models, ``baseline`` that of the old one. ``labels_sha256`` is the
    digest of the labels in their order.
    """

    name: str
    rows_read: int
    rows_used: int
    rows_refused: int
    refused: list[RefusedRow]
    reasons: Mapping[str, int]
    chosen: Mapping[str, str]
    positives: float
    negatives: float
    files: list[str]
    labels_sha256: str | None
    baseline: str | None


@dataclass(frozen=True)
class Input:
    """What was read: of a file its size and the SHA-256 of its bytes."""

    name: str
    size: int | None
    sha256: str | None


@dataclass(frozen=True)
class Rows:
    """What was read: columns by the names of :func:`assay.evaluate`, and how they came about.

    ``columns`` holds the labelled rows. ``unlabelled`` holds what the model said (``y_score``,
    ``y_pred`` or ``y_proba``) and the ``counts`` of rows without a label, where those are allowed.
    ``chosen`` maps a role such as ``label`` to its column; ``refused`` lists the first hundred of
    ``rows_refused``. ``family`` is the slice that is the kind of attack, ``time`` the column of
    moments, of which the days are kept as ``times``. Where several models were asked for,
    ``columns`` also has ``models``, the ``rows`` (counted from 1, over all files) and the ``ids``;
    ``doubtful`` lists, for each model's column, the first rows whose value is no finite number.
    ``labels_sha256`` is the digest of the labels in their order.
    """

    name: str
    columns: Mapping[str, Any]
    rows_read: int
    rows_refused: int = 0
    refused: tuple[Refused, ...] = ()
    chosen: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    unlabelled: Mapping[str, Any] | None = None
    family: str | None = None
    time: str | None = None
    doubtful: Mapping[str, tuple[Refused, ...]] = field(default_factory=dict)
    labels_sha256: str | None = None

    @property
    def source(self) -> dict[str, Any]:
        """Where the rows came from, and how many were used."""
        return {
            "name": self.name,
            "rows_read": self.rows_read,
            "rows_refused": self.rows_refused,
            "refused": [asdict(refused) for refused in self.refused],
            "chosen": dict(self.chosen),
            "labels_sha256": self.labels_sha256,
        }
