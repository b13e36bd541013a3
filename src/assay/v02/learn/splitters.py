"""The ways to divide rows: folds, groups, one family or day held out, a share, and time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import InputError
from assay.v02.evaluation.wording import name as quoted
from assay.v02.learn.feature_values import MomentCheck
from assay.v02.learn.splitter import (
    TEST,
    Codes,
    Positions,
    RowsToSplit,
    Split,
    Splitter,
    class_counts,
    named_column,
)
from assay.v02.number_text import rows as counted
from assay.v02.sources.coded import NameColumn

MOST_MODELS = 100


@dataclass(frozen=True)
class Folds(Splitter):
    """``k`` folds, stratified: folds differ by one row at most, in all and in each class.

    With ``repeats`` the rows are dealt anew each time.

    >>> [len(test) for _, test in Folds(3).split(y=["a"] * 5 + ["b"] * 5)]
    [4, 3, 3]
    """

    k: int = 5
    repeats: int = 1
    seed: int = 42

    def __post_init__(self) -> None:
        must_be_folds(self.k)
        if self.repeats < 1:
            raise InputError(f"there is one repeat at least; found {self.repeats}")

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:  # noqa: ARG002
        """As many as folds, times the repeats."""
        return self.k * self.repeats

    def splits(self, rows: RowsToSplit) -> tuple[Split, ...]:
        """The folds of the first repeat, then those of the next."""
        self._must_have_enough(rows)
        return tuple(self._dealt(rows))

    def _dealt(self, rows: RowsToSplit) -> Iterator[Split]:
        for repeat in range(self.repeats):
            draw = np.random.default_rng([self.seed, repeat])
            classes = range(len(rows.class_sizes()))
            order = np.concatenate([draw.permutation(rows.of_class(code)) for code in classes])
            fold = np.empty(len(rows), np.intp)
            # Dealt like cards, class after class, so that the folds stay even in all of them.
            fold[order] = np.arange(len(rows)) % self.k
            prefix = f"{repeat + 1}." if self.repeats > 1 else ""
            for i in range(self.k):
                yield fold_of(rows, fold, i, f"fold {prefix}{i + 1}", repeat=repeat + 1)

    def _must_have_enough(self, rows: RowsToSplit) -> None:
        sizes = rows.class_sizes()
        few = [code for code, size in enumerate(sizes) if size < self.k]
        # Of many classes some may be rare; they are in fewer folds, and the run says so.
        if not few or (not rows.binary and len(few) < len(sizes)):
            return
        label = f"class {quoted(rows.labels[few[0]])}" if rows.labels else "this table"
        raise InputError(
            f"{label} has {counted(sizes[few[0]])}, fewer than the {self.k} folds, so a fold would "
            f"be judged without it. Take fewer folds, or more rows"
        )


@dataclass(frozen=True)
class GivenFolds(Splitter):
    """Folds that a column names: each is judged by what was learned from all others."""

    def splits(self, rows: RowsToSplit) -> tuple[Split, ...]:
        """A split a fold, in the order of their names."""
        named = rows.names()
        if len(named.names) < 2:
            raise InputError(
                f"column {rows.column!r} names one fold only, {quoted(named.names[0])}, so there "
                f"is nothing to learn from when it is judged. Two folds are needed at least"
            )
        must_not_be_many(rows, len(named.names), "folds")
        return tuple(
            fold_of(rows, named.codes, i, name).must_be_of_use(f"column {rows.column!r}")
            for i, name in enumerate(named.names)
        )


def fold_of(rows: RowsToSplit, fold: Codes, which: int, name: str, *, repeat: int = 1) -> Split:
    """The split that judges one fold."""
    judged = fold == which
    return Split(name, np.flatnonzero(~judged), np.flatnonzero(judged), rows, repeat=repeat)


def must_not_be_many(rows: RowsToSplit, number: int, what: str) -> None:
    """Refuse a column that would take a model for each of very many values."""
    if number > MOST_MODELS:
        raise InputError(
            f"column {rows.column!r} holds {number:,} {what}, and each would take a model of its "
            f"own; {MOST_MODELS} are the most. Hold several out at once: group:{rows.column},k=10"
        )


def must_be_folds(k: int) -> None:
    """Refuse fewer than two folds."""
    if k < 2:
        raise InputError(f"two folds are needed at least; found {k}")


# -- whole groups on one side ----------------------------------------------------------------------


@dataclass(frozen=True)
class GroupFolds(Splitter):
    """``k`` folds of whole groups, with like shares of each class as far as the groups allow.

    The groups that hold the largest share of a class are placed first, each where the classes that
    it holds are rarest so far.

    >>> hosts = ["a", "a", "b", "c"]
    >>> [test.tolist() for _, test in GroupFolds(2).split(groups=hosts)]
    [[0, 1], [2, 3]]
    """

    k: int = 5
    seed: int = 42

    def __post_init__(self) -> None:
        must_be_folds(self.k)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:  # noqa: ARG002
        """As many as folds."""
        return self.k

    def splits(self, rows: RowsToSplit) -> tuple[Split, ...]:
        """A split a fold."""
        named = rows.names()
        size = len(named.names)
        if size == 1:
            raise InputError(
                f"column {rows.column!r} holds one group only, {quoted(named.names[0])}, which "
                f"can't be on both sides. Two groups are needed at least"
            )
        if size < self.k:
            raise InputError(
                f"column {rows.column!r} holds {size} groups, fewer than the {self.k} folds. "
                f"Say k={size} or less"
            )
        fold = self._placed(rows, np.asarray(named.codes, np.intp), size)
        return tuple(
            fold_of(rows, fold, i, f"fold {i + 1}").must_be_of_use(
                f"a split by the groups of column {rows.column!r}"
            )
            for i in range(self.k)
        )

    def together(self, rows: RowsToSplit) -> NameColumn | None:
        """The group of each row."""
        return rows.names()

    def _placed(self, rows: RowsToSplit, group: Codes, size: int) -> Codes:
        """The fold of each row."""
        classes = np.array(rows.class_sizes(), np.float64)
        cells, held = np.unique(group * len(classes) + rows.truth, return_counts=True)
        of_group, of_class = np.divmod(cells, len(classes))
        shares = held / classes[of_class]
        largest = np.zeros(size)
        np.maximum.at(largest, of_group, shares)
        filling = _Filling(self.k, len(classes))
        # Ties are broken at random, else the order of names would decide.
        chance = np.random.default_rng(self.seed).permutation(size)
        order = np.lexsort((chance, -largest))
        starts = np.searchsorted(of_group, np.arange(size + 1))
        # Lists, not arrays: most groups have one class, and there may be a million of them.
        cells = list(zip(of_class.tolist(), shares.tolist(), held.tolist(), strict=True))
        placed = np.empty(size, np.intp)
        for each in order.tolist():
            placed[each] = filling.place(cells[starts[each] : starts[each + 1]])
        fold: Codes = placed[group]
        return fold


class _Filling:
    """What the folds hold so far: the share of each class, and how many rows."""

    def __init__(self, k: int, classes: int) -> None:
        self._shares = [[0.0] * k for _ in range(classes)]
        self._rows = [0] * k

    def place(self, cells: Sequence[tuple[int, float, int]]) -> int:
        """The fold for a group, given the class, share and rows of each of its cells."""
        # Adding a to f raises f squared by 2 f a, and by what does not depend on the fold.
        crowded = [
            round(sum(share * self._shares[code][fold] for code, share, _ in cells), 12)
            for fold in range(len(self._rows))
        ]
        best = min(range(len(crowded)), key=lambda fold: (crowded[fold], self._rows[fold]))
        for code, share, rows in cells:
            self._shares[code][best] += share
            self._rows[best] += rows
        return best


# -- one family of attack or one day held out at a time --------------------------------------------


@dataclass(frozen=True)
class LeaveOneOut(Splitter):
    """Judges the rows of one value of a column by what was learned from all other values.

    Where some value has rows of both classes, as a day or a host has, its rows are held out as they
    are. Where no value has both, the column names *families* of attack. Then the rows of a family
    are judged together with a share of the harmless rows: these are dealt at random, as many to
    each family, and those dealt to a family are not learned when it is judged. So every row is
    judged once, by a model that knew neither the family nor the harmless rows beside it, and the
    families are judged against equally many harmless rows. Harmless rows need no family.
    """

    seed: int = 42

    def splits(self, rows: RowsToSplit) -> tuple[Split, ...]:
        """A split a value, in the order of their names."""
        held = self._held(rows)
        return tuple(
            fold_of(rows, np.asarray(held.codes, np.intp), i, name).must_be_of_use(
                f"holding out {quoted(name)} of column {rows.column!r}"
            )
            for i, name in enumerate(held.names)
        )

    def together(self, rows: RowsToSplit) -> NameColumn | None:
        """The value of each row, unless harmless rows have none of their own."""
        return None if rows.binary and self._families(rows) is not None else rows.names()

    def _held(self, rows: RowsToSplit) -> NameColumn:
        families = self._families(rows) if rows.binary else None
        if families is None:
            names = rows.names()
            self._must_be_two(rows, names, "value")
            return names
        attack = rows.truth == 1
        codes = np.empty(len(rows), np.intp)
        codes[attack] = families.codes
        self._must_be_two(rows, families, "family of attack")
        harmless = np.random.default_rng(self.seed).permutation(np.flatnonzero(~attack))
        if len(harmless) < len(families.names):
            raise InputError(
                f"{len(families.names)} families of attack share {counted(len(harmless))} of class "
                f"{quoted(rows.labels[0])}, so some would be judged without any"
            )
        codes[harmless] = np.arange(len(harmless)) % len(families.names)
        return NameColumn(codes, families.names)

    def _families(self, rows: RowsToSplit) -> NameColumn | None:
        """The families of the positives, or None where a value has rows of both classes."""
        values, attack = rows.series(), rows.truth == 1
        told = ~rows.missing()
        sides = [values.filter((told & side).tolist()).unique() for side in (attack, ~attack)]
        if sides[0].is_in(sides[1].implode()).any():
            return None
        rows.must_have_values(attack)
        return named_column(values.filter(attack.tolist()), rows.column)

    def _must_be_two(self, rows: RowsToSplit, held: NameColumn, what: str) -> None:
        if len(held.names) < 2:
            one = f", {quoted(held.names[0])}" if held.names else ""
            raise InputError(
                f"column {rows.column!r} holds one {what} only{one}; without it there is nothing "
                f"to learn from. Two are needed at least"
            )
        must_not_be_many(rows, len(held.names), "values")


# -- rows held out once: a share of each class, or a file of their own -----------------------------

Share: TypeAlias = float | Fraction


@dataclass(frozen=True)
class Holdout(Splitter):
    """Draws the parts at random, each class in the same shares; counts add up exactly.

    ``shares`` is that of the test part, or those of the training and the test part and, where there
    is one, of a validation part that is neither learned from nor judged.

    >>> train, test = next(Holdout(0.25).split(y=["normal"] * 6 + ["attack"] * 2))
    >>> len(train), len(test)
    (6, 2)
    """

    shares: Share | Sequence[Share] = 0.3
    seed: int = 42

    def __post_init__(self) -> None:
        self.exact()

    def exact(self) -> tuple[Fraction, ...]:
        """The shares as the decimals that were written."""
        given = self.shares if isinstance(self.shares, Sequence) else (1, self.shares)
        shares = [_decimal(share) for share in given]
        if not isinstance(self.shares, Sequence):
            shares[0] = 1 - shares[1]
        if len(shares) not in (2, 3) or sum(shares) != 1 or min(shares) <= 0:
            raise InputError(
                f"a holdout is the share of the test part, such as 0.3, or the shares of training, "
                f"test and validation part, which add up to 1, such as 0.7/0.2/0.1; found "
                f"{'/'.join(str(float(share)) for share in shares)}"
            )
        return tuple(shares)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:  # noqa: ARG002
        """One."""
        return 1

    def splits(self, rows: RowsToSplit) -> tuple[Split, ...]:
        """One split, the same for the same seed."""
        counts = class_counts(rows.class_sizes(), self.exact())
        self._must_reach_every_part(rows, counts)
        draw = np.random.default_rng(self.seed)
        parts: list[list[Positions]] = [[] for _ in counts]
        for code in range(len(counts[0])):
            order = draw.permutation(rows.of_class(code))
            ends = np.cumsum([part[code] for part in counts])
            for part, positions in zip(parts, np.split(order, ends[:-1]), strict=True):
                part.append(positions)
        train, test, *validation = (np.sort(np.concatenate(part)) for part in parts)
        split = Split(TEST, train, test, rows, validation[0] if validation else None)
        return (split.must_be_of_use("this holdout"),)

    def _must_reach_every_part(self, rows: RowsToSplit, counts: list[list[int]]) -> None:
        """Refuse two classes of which one is not on every side."""
        if not rows.binary:
            return
        for label, size, of_parts in zip(
            rows.labels, rows.class_sizes(), zip(*counts, strict=True), strict=True
        ):
            if 0 in of_parts:
                enough = size >= len(counts)
                raise InputError(
                    f"class {quoted(label)} has {counted(size)}, too few to be in all "
                    f"{len(counts)} parts of this holdout. Take "
                    f"{'other shares, or ' if enough else ''}more rows of that class"
                )


def _decimal(share: Any) -> Fraction:
    try:
        return share if isinstance(share, Fraction) else Fraction(str(share))
    except ValueError:
        raise InputError(f"a share is a number between 0 and 1; found {share!r}") from None


@dataclass(frozen=True)
class Official(Splitter):
    """The first ``learned`` rows are the training part, all that follow are judged."""

    learned: int

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:  # noqa: ARG002
        """One."""
        return 1

    def splits(self, rows: RowsToSplit) -> tuple[Split, ...]:
        """One split."""
        train, test = np.arange(len(rows))[: self.learned], np.arange(self.learned, len(rows))
        return (Split(TEST, train, test, rows).must_be_of_use("this official split"),)


# -- learn from what was before, judge what came after ---------------------------------------------

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

    def splits(self, rows: RowsToSplit) -> tuple[Split, ...]:
        """One split."""
        times, zoned = moments(rows)
        border = self._border(zoned=zoned)
        shown = moment_text(border, zoned=zoned)
        first, last = (moment_text(at, zoned=zoned) for at in (times.min(), times.max()))
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
        moments, problems = check.check(pl.Series([self.moment.strip()]), str)
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
        border: np.datetime64 = moments.to_numpy()[0]
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

    def splits(self, rows: RowsToSplit) -> tuple[Split, ...]:
        """A split a window, in the order of time."""
        times, zoned = moments(rows)
        windows = tuple(self._windows(rows, times, zoned=zoned))
        if not windows:
            raise InputError(
                f"column {rows.column!r} runs from {moment_text(times.min(), zoned=zoned)} to "
                f"{moment_text(times.max(), zoned=zoned)}: no window of this length has rows to "
                f"learn from, of two classes, and later ones to judge. Take shorter windows"
            )
        return windows

    def lasting(self, rows: RowsToSplit, splits: Sequence[Split]) -> tuple[Positions, str]:
        """The rows of the newest window, as long as those that were judged."""
        times, _ = moments(rows)
        newest = np.flatnonzero(times > times.max() - _length(self.train))
        if len(np.unique(rows.truth[newest])) < min(2, len(rows.labels)):
            return splits[-1].train, "the last window that was judged"
        return newest, "the newest window"

    def _windows(self, rows: RowsToSplit, times: Moments, *, zoned: bool) -> Iterator[Split]:
        order = np.argsort(times, kind="stable")
        sorted_times = times[order]
        train, test = _length(self.train), _length(self.test)
        start, last = sorted_times[0] + train, sorted_times[-1]
        while start <= last:
            edges = np.searchsorted(sorted_times, np.array([start - train, start, start + test]))
            name = f"{moment_text(start, zoned=zoned)} to {moment_text(start + test, zoned=zoned)}"
            learned, judged = (np.sort(order[i:j]) for i, j in pairwise(edges.tolist()))
            split = Split(name, learned, judged, rows)
            classes = len(rows.labels) - len(split.not_learned())
            if len(split.test) and len(split.train) and classes >= min(2, len(rows.labels)):
                yield split
            # A gap of years is jumped over, not walked through.
            after = sorted_times[edges[2]] if edges[2] < len(times) else last + test
            start += test * max(1, int((after - start) // test))


def moments(rows: RowsToSplit) -> tuple[Moments, bool]:
    """The time of each row, in UTC where they have a zone, and whether they have one."""
    values = rows.series()
    check = MomentCheck(rows.column)
    times, problems = check.check(values, rows.place)
    for problem in problems:
        at = int(np.argmax(problem.rows))
        raise problem.error(f"{rows.place(at)}: {problem.why(at)}")
    if not len(times):
        raise InputError(f"column {rows.column!r} has no rows")
    return np.asarray(times.to_numpy(), "datetime64[us]"), bool(check.zoned)


def moment_text(moment: np.datetime64, *, zoned: bool) -> str:
    """A moment as text: the date alone at midnight, and Z where there is a zone.

    >>> moment_text(np.datetime64("2024-03-01T00:00", "us"), zoned=True)
    '2024-03-01Z'
    """
    text = str(np.datetime_as_string(moment, unit="us")).rstrip("0").rstrip(".")
    text = str(np.datetime_as_string(moment, unit="s")) if "." not in text else text
    return text.removesuffix("T00:00:00") + (_UTC if zoned else "")


def _length(seconds: float) -> np.timedelta64:
    return np.timedelta64(round(seconds * 1_000_000), "us")
