"""Rows that are equal, or nearly so: which, how many, and how many chance would make."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import polars as pl

Array: TypeAlias = npt.NDArray[Any]
Mask: TypeAlias = npt.NDArray[np.bool_]

# Columns that depend on each other coincide more often than chance makes independent ones.
_SLACK = 2.0
# A number of coincidences that chance reaches less often is no coincidence.
_RARE = 1e-3
# Where rows come this often each, columns have so few values that rows have to repeat.
_OFTEN = 10
_NONE = 1e-9
_LABEL = "\0label"
# Significant digits. Copies with a little noise agree in all of them; of rows that are alike by
# chance each digit more parts nine tenths, or more where several columns vary.
COARSER, COARSE, FINE = 2, 3, 5
_NOT_WORDS = r"[\W_]+"


@dataclass(frozen=True, eq=False)
class EqualRows:
    """Rows of one or two parts, equal where they have the same code.

    ``codes`` has one array a part; codes run over all parts. ``frames`` are what was compared, and
    ``truth`` the labels of all rows where those had to be equal too.
    """

    codes: tuple[Array, ...]
    frames: tuple[pl.DataFrame, ...]
    truth: Array | None = None

    @cached_property
    def counts(self) -> tuple[Array, ...]:
        """How often each code occurs in each part."""
        size = 1 + max((int(codes.max()) for codes in self.codes if len(codes)), default=-1)
        return tuple(np.bincount(codes, minlength=size) for codes in self.codes)

    @property
    def total(self) -> Array:
        """How often each code occurs at all."""
        return np.asarray(np.sum(self.counts, axis=0))

    def size(self, part: int) -> Array:
        """For each row of a part, how many rows of it are equal, itself among them."""
        return np.asarray(self.counts[part][self.codes[part]])

    def repeats(self, part: int) -> Mask:
        """Rows of a part that repeat an earlier row of it."""
        return _repeats(self.codes[part])

    def repeats_of_all(self) -> Mask:
        """Rows of all parts that repeat an earlier row of any."""
        return _repeats(np.concatenate(self.codes))

    def also_in(self, part: int, other: int) -> Mask:
        """Rows of a part that are in another too."""
        return np.asarray(self.counts[other][self.codes[part]] > 0)

    @property
    def pairs_across(self) -> int:
        """Pairs of a training row and an equal test row."""
        return int(np.dot(self.counts[0].astype(np.int64), self.counts[1].astype(np.int64)))

    def pairs_inside(self, part: int) -> int:
        """Pairs of equal rows of one part."""
        often = self.counts[part].astype(np.int64)
        return int((often * (often - 1) // 2).sum())

    @cached_property
    def chance(self) -> float:
        """How likely two rows are equal by chance, were columns independent within each class."""
        import polars as pl

        frame = self.frames[0] if len(self.frames) == 1 else pl.concat(self.frames)
        codes = np.concatenate(self.codes)
        n = len(codes)
        if n < 2:
            return 0.0
        truth = np.zeros(n, np.int64) if self.truth is None else self.truth
        rows = np.bincount(truth).astype(np.float64)
        pairs = rows * (rows - 1)
        copies: Array = np.zeros(len(rows))
        if n < _OFTEN * int(np.count_nonzero(self.total)):
            # Copies themselves would pass for columns that repeat.
            copies = np.bincount(truth, self.total[codes] - 1.0)
        likely = pairs / (n * (n - 1))
        for column in frame.get_columns():
            alike = _alike_pairs(column, truth, len(rows))
            likely *= np.maximum(alike - copies, 0) / np.maximum(pairs - copies, 1)
            if likely.sum() * n**2 < _NONE:
                return 0.0
        return float(likely.sum())

    @cached_property
    def must_repeat(self) -> bool:
        """Whether far fewer different rows are possible than there are: any value with any."""
        import polars as pl

        possible, rows = 1, sum(map(len, self.codes))
        if self.truth is not None:
            possible = len(np.unique(self.truth))
        for columns in zip(*(frame.get_columns() for frame in self.frames), strict=True):
            possible *= pl.concat(columns).n_unique()
            if _OFTEN * possible > rows:
                return False
        return True

    def by_chance(self, pairs: int, possible: int) -> bool:
        """Whether chance makes so many equal pairs out of so many possible ones."""
        return self.must_repeat or not rare(pairs, self.chance * possible)


def rare(pairs: int, expected: float) -> bool:
    """Whether chance seldom makes so many pairs where it makes so many on average.

    >>> rare(4, 1.5), rare(40, 1.5), rare(1, 0)
    (False, True, True)
    """
    from scipy.special import pdtrc

    # The distribution is Poisson's; of none expected one is rare.
    return expected <= 0 or float(pdtrc(pairs - 1, _SLACK * expected)) < _RARE


def equal_rows(frames: Sequence[pl.DataFrame], truths: Sequence[Array] | None = None) -> EqualRows:
    """Find equal rows in frames of the same columns; missing values equal each other.

    With ``truths``, a label for each row, labels have to be equal too. Rows are told apart by a
    hash of 64 bits: of a million rows two that differ meet in one of forty million tables.

    >>> import polars as pl
    >>> rows = equal_rows([pl.DataFrame({"x": [1.0, 2.0, 1.0]}), pl.DataFrame({"x": [2.0]})])
    >>> rows.repeats(0).tolist(), rows.also_in(1, 0).tolist()
    ([False, False, True], [True])
    """
    import polars as pl

    compared = list(frames)
    if truths is not None:
        labels = [pl.Series(_LABEL, truth) for truth in truths]
        compared = [frame.with_columns(label) for frame, label in zip(frames, labels, strict=True)]
    hashed = [frame.hash_rows().to_numpy() for frame in compared]
    _, codes = np.unique(np.concatenate(hashed), return_inverse=True)
    ends = np.cumsum([len(part) for part in hashed])[:-1]
    truth = None if truths is None else np.concatenate(truths)
    return EqualRows(tuple(np.split(codes, ends)), tuple(frames), truth)


def _repeats(codes: Array) -> Mask:
    """Where a code was there before."""
    first = np.full(1 + int(codes.max(initial=-1)), len(codes))
    np.minimum.at(first, codes, np.arange(len(codes)))
    return np.asarray(first[codes] != np.arange(len(codes)))


def light(equal: EqualRows | None) -> EqualRows | None:
    """The same without the rows, of which a million take much memory."""
    return None if equal is None else replace(equal, frames=())


def _alike_pairs(column: pl.Series, truth: Array, classes: int) -> Array:
    """How many ordered pairs of rows of each class have the same value."""
    import polars as pl

    frame = pl.DataFrame([pl.Series("class", truth), column.alias("value")])
    often = frame.group_by("class", "value").len()
    number = often["len"].to_numpy().astype(np.float64)
    return np.bincount(often["class"].to_numpy(), number * (number - 1), minlength=classes)


def rounded_frame(frame: pl.DataFrame, digits: int = COARSE) -> pl.DataFrame:
    """Numbers to so many significant digits; texts as their words in small letters.

    >>> import polars as pl
    >>> rounded_frame(
    ...     pl.DataFrame({"size": [1.23456, 0.0], "title": ["5g  Pure!", "5G pure"]})
    ... ).rows()
    [(1.23, '5g pure'), (0.0, '5g pure')]
    """
    import polars as pl
    from polars import selectors as cs

    words = cs.string().str.to_lowercase().str.replace_all(_NOT_WORDS, " ").str.strip_chars()
    numbers = pl.when(cs.float().is_finite()).then(cs.float().round_sig_figs(digits))
    return frame.with_columns(words, numbers.otherwise(cs.float()))
