"""Learn from what was before, judge what came after."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import InputError
from assay.learn.moments import MomentCheck
from assay.learn.validation.rows import Positions, Rows
from assay.learn.validation.split import TEST, Split
from assay.learn.validation.splitter import Splitter

Moments: TypeAlias = npt.NDArray[np.datetime64]

_UTC = "Z"


@dataclass(frozen=True)
class Since(Splitter):
    """Rows before a moment are learned, rows from then on are judged.

    A moment without a zone is in UTC where the rows have a zone. One with a zone is refused where
    the rows have none: nothing tells which of the two came first.
    """

    moment: str

    def __post_init__(self) -> None:
        self._border(zoned=True)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:  # noqa: ARG002
        """One."""
        return 1

    def splits(self, rows: Rows) -> tuple[Split, ...]:
        """One split."""
        times, zoned = moments(rows)
        border = self._border(zoned=zoned)
        shown = written(border, zoned=zoned)
        first, last = (written(at, zoned=zoned) for at in (times.min(), times.max()))
        if border <= times.min():
            raise InputError(
                f"column {rows.column!r}: no row is before {shown}; the first is of {first}, so "
                f"there is nothing to learn from. Take a later date"
            )
        if border > times.max():
            raise InputError(
                f"column {rows.column!r}: no row is of {shown} or later; the last is of {last}, so "
                f"there is nothing to judge. Take an earlier date"
            )
        train, test = np.flatnonzero(times < border), np.flatnonzero(times >= border)
        return (Split(TEST, train, test, rows).must_be_of_use(f"a split at {shown}"),)

    def _border(self, *, zoned: bool) -> np.datetime64:
        import polars as pl

        check = MomentCheck("the date")
        found, problems = check.check(pl.Series([self.moment.strip()]), str)
        if problems:
            raise InputError(
                f"the date {self.moment!r} can't be read: expected one such as 2024-03-01, "
                f"2024-03-01T12:00:00 or 2024-03-01T12:00:00Z"
            )
        if check.zoned and not zoned:
            raise InputError(
                f"the date {self.moment!r} has a time zone and the times of the rows have none, so "
                f"which came first is not sure. Write the date without a zone, or give the rows one"
            )
        border: np.datetime64 = found.to_numpy()[0]
        return border


@dataclass(frozen=True)
class Sliding(Splitter):
    """Windows that move with time: learn from ``train`` days, judge the next ``test`` days.

    Lengths are in seconds. The first window begins with the first row, and each next one a test
    window later, so that no row is judged twice. Windows without rows to judge are left out, and so
    are those that hold nothing to learn from, such as one class alone: their rows are not judged.
    """

    train: float
    test: float

    def __post_init__(self) -> None:
        if not (self.train > 0 and self.test > 0):
            raise InputError(
                f"windows have a length above 0; found train={self.train:g} and test={self.test:g}"
            )

    def splits(self, rows: Rows) -> tuple[Split, ...]:
        """A split a window, in the order of time."""
        times, zoned = moments(rows)
        found = tuple(self._windows(rows, times, zoned=zoned))
        if not found:
            raise InputError(
                f"column {rows.column!r} runs from {written(times.min(), zoned=zoned)} to "
                f"{written(times.max(), zoned=zoned)}: no window of this length has rows to learn "
                f"from, of two classes, and later ones to judge. Take shorter windows"
            )
        return found

    def lasting(self, rows: Rows, splits: Sequence[Split]) -> tuple[Positions, str]:
        """The rows of the newest window, as long as those that were judged."""
        times, _ = moments(rows)
        newest = np.flatnonzero(times > times.max() - _length(self.train))
        if len(np.unique(rows.truth[newest])) < min(2, len(rows.labels)):
            return splits[-1].train, "the last window that was judged"
        return newest, "the newest window"

    def _windows(self, rows: Rows, times: Moments, *, zoned: bool) -> Iterator[Split]:
        order = np.argsort(times, kind="stable")
        sorted_times = times[order]
        train, test = _length(self.train), _length(self.test)
        start, last = sorted_times[0] + train, sorted_times[-1]
        while start <= last:
            edges = np.searchsorted(sorted_times, np.array([start - train, start, start + test]))
            name = f"{written(start, zoned=zoned)} to {written(start + test, zoned=zoned)}"
            learned, judged = (np.sort(order[i:j]) for i, j in pairwise(edges.tolist()))
            split = Split(name, learned, judged, rows)
            classes = len(rows.labels) - len(split.not_learned())
            if len(split.test) and len(split.train) and classes >= min(2, len(rows.labels)):
                yield split
            # A gap of years is jumped over, not walked through.
            after = sorted_times[edges[2]] if edges[2] < len(times) else last + test
            start += test * max(1, int((after - start) // test))


def moments(rows: Rows) -> tuple[Moments, bool]:
    """The time of each row, in UTC where they have a zone, and whether they have one."""
    values = rows.series()
    check = MomentCheck(rows.column)
    found, problems = check.check(values, rows.place)
    for problem in problems:
        at = int(np.argmax(problem.rows))
        raise problem.error(f"{rows.place(at)}: {problem.why(at)}")
    if not len(found):
        raise InputError(f"column {rows.column!r} has no rows")
    return np.asarray(found.to_numpy(), "datetime64[us]"), bool(check.zoned)


def written(moment: np.datetime64, *, zoned: bool) -> str:
    """A moment as text: the date alone at midnight, and Z where there is a zone.

    >>> written(np.datetime64("2024-03-01T00:00", "us"), zoned=True)
    '2024-03-01Z'
    """
    text = str(np.datetime_as_string(moment, unit="us")).rstrip("0").rstrip(".")
    text = str(np.datetime_as_string(moment, unit="s")) if "." not in text else text
    return text.removesuffix("T00:00:00") + (_UTC if zoned else "")


def _length(seconds: float) -> np.timedelta64:
    return np.timedelta64(round(seconds * 1_000_000), "us")
