"""How rows are divided into what is learned from and what is judged, as a command line says it."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from assay.errors import InputError
from assay.v02.learn.data import labelled_like
from assay.v02.learn.splitter import BoundSplitter, RowsToSplit, Split, SplitCounts, Splitter
from assay.v02.learn.splitters import (
    Folds,
    GivenFolds,
    GroupFolds,
    Holdout,
    LeaveOneOut,
    Official,
    Since,
    Sliding,
)

if TYPE_CHECKING:
    from assay.v02.learn.data import Data

__all__ = [
    "DEFAULT",
    "SCHEMES",
    "BoundSplitter",
    "Folds",
    "GivenFolds",
    "GroupFolds",
    "Holdout",
    "LeaveOneOut",
    "Official",
    "RowsToSplit",
    "Scheme",
    "Since",
    "Sliding",
    "Split",
    "SplitCounts",
    "Splitter",
    "parse_scheme",
]

SCHEMES = (
    "holdout:0.3",
    "holdout:0.7/0.2/0.1",
    "kfold:5",
    "repeated:5x2",
    "group:COL",
    "group:COL,k=5",
    "time:COL@2024-03-01",
    "sliding:COL,train=30d,test=7d",
    "folds:COL",
    "leave-one-out:COL",
    "file:TEST",
)
DEFAULT = "holdout:0.3"

_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_MOST_FOLDS = 10_000


@dataclass(frozen=True)
class Scheme:
    """How rows are divided: its text, the columns that it goes by, and the file it judges.

    ``time`` is the column, where it goes by the time.
    """

    text: str
    make: Callable[[int], Splitter]
    columns: tuple[str, ...] = ()
    test: str | None = None
    time: str | None = None

    def splitter(self, data: Data, seed: int, test: Data | None = None) -> BoundSplitter:
        """A splitter of these rows; of an official split, of these and then of ``test``."""
        if self.test is not None:
            return _official(self.text, data, test)
        column = self.columns[0] if self.columns else None
        return BoundSplitter(self.make(seed), RowsToSplit.of_data(data, column))


def parse_scheme(text: str) -> Scheme:
    """Read a scheme: see ``SCHEMES`` for what there is.

    >>> parse_scheme("group:host,k=3").columns
    ('host',)
    """
    kind, colon, rest = text.strip().partition(":")
    reader = _READERS.get(kind.strip())
    if reader is None or not colon or not rest.strip():
        near = _nearest(kind.strip(), rest.strip())
        advice = f"; did you mean {' or '.join(near)}?" if near else "."
        raise InputError(
            f"the validation {text!r} is none that there is{advice} Say one of {', '.join(SCHEMES)}"
        )
    return reader(text.strip(), rest.strip())


def _nearest(kind: str, rest: str) -> list[str]:
    """The schemes of a like name that can be read, with what was said of them.

    >>> _nearest("k-folds", "3"), _nearest("holdout", "")
    (['kfold:3'], ['holdout:0.3'])
    """
    known = difflib.get_close_matches(kind.casefold().replace("_", "-"), _READERS, n=3, cutoff=0.6)
    near = []
    for name in known:
        text = f"{name}:{rest}"
        try:
            # A number is how many, and no column.
            read = bool(rest) and not (_READERS[name](text, rest).columns and rest.isdigit())
        except InputError:
            read = False
        if read:
            near.append(text)
    if near or not known:
        return near
    return [next(scheme for scheme in SCHEMES if scheme.startswith(f"{known[0]}:"))]


def _holdout(text: str, rest: str) -> Scheme:
    written = [re.fullmatch(r"(\d{0,9}\.?\d{0,9})(%?)", part.strip()) for part in rest.split("/")]
    matches = [each for each in written if each is not None and each[1] not in ("", ".")]
    if len(matches) < len(written):
        raise _refusal(text, "shares of the rows, such as holdout:0.3 or holdout:0.7/0.2/0.1")
    shares = tuple(Fraction(each[1]) / (100 if each[2] else 1) for each in matches)
    given = shares[0] if len(shares) == 1 else shares
    Holdout(given)
    return Scheme(text, lambda seed: Holdout(given, seed))


def _kfold(text: str, rest: str) -> Scheme:
    k = _whole_number(rest, text, "a number of folds, such as kfold:5")
    Folds(k)
    return Scheme(text, lambda seed: Folds(k, seed=seed))


def _repeated(text: str, rest: str) -> Scheme:
    expected = "repeats and folds, such as repeated:5x2 for five repeats of two folds"
    match = re.fullmatch(r"(\d+)\s*x\s*(\d+)", rest)
    if match is None:
        raise _refusal(text, expected)
    repeats, k = (_whole_number(number, text, expected) for number in match.groups())
    Folds(k, repeats)
    return Scheme(text, lambda seed: Folds(k, repeats, seed))


def _group(text: str, rest: str) -> Scheme:
    column, k = rest, 5
    match = re.fullmatch(r"(.+?)\s*,\s*k\s*=\s*(.*)", rest)
    if match is not None:
        column = match[1]
        k = _whole_number(match[2], text, "a number of folds, such as group:host,k=5")
    GroupFolds(k)
    return Scheme(text, lambda seed: GroupFolds(k, seed), (column,))


def _time(text: str, rest: str) -> Scheme:
    column, at, moment = rest.rpartition("@")
    if not (at and column.strip() and moment.strip()):
        raise _refusal(text, "a column and a date, such as time:seen@2024-03-01")
    since = Since(moment.strip())
    return Scheme(text, lambda _: since, (column.strip(),), time=column.strip())


def _sliding(text: str, rest: str) -> Scheme:
    expected = "a column and two lengths in s, m, h, d or w, such as sliding:seen,train=30d,test=7d"
    column, *given = rest.rsplit(",", 2)
    lengths = {}
    for option in given:
        match = re.fullmatch(r"\s*(train|test)\s*=\s*(\d+(?:\.\d+)?)\s*([smhdw])\s*", option)
        if match is None:
            raise _refusal(text, expected)
        lengths[match[1]] = float(match[2]) * _SECONDS[match[3]]
    if set(lengths) != {"train", "test"} or not column.strip():
        raise _refusal(text, expected)
    sliding = Sliding(**lengths)
    return Scheme(text, lambda _: sliding, (column.strip(),), time=column.strip())


def _folds(text: str, rest: str) -> Scheme:
    return Scheme(text, lambda _: GivenFolds(), (rest,))


def _leave_one_out(text: str, rest: str) -> Scheme:
    return Scheme(text, LeaveOneOut, (rest,))


def _file(text: str, rest: str) -> Scheme:
    return Scheme(text, lambda _: Official(0), test=rest)


_READERS: dict[str, Callable[[str, str], Scheme]] = {
    "holdout": _holdout,
    "kfold": _kfold,
    "repeated": _repeated,
    "group": _group,
    "time": _time,
    "sliding": _sliding,
    "folds": _folds,
    "leave-one-out": _leave_one_out,
    "file": _file,
}


def _official(text: str, data: Data, test: Data | None) -> BoundSplitter:
    if test is None:
        raise InputError(f"{text!r} judges the rows of that file: read them, and give test=")
    truth = np.concatenate([data.truth, recoded(data, test)])
    numbers = np.concatenate([data.rows, test.rows])
    return BoundSplitter(Official(len(data)), RowsToSplit(truth, data.labels, numbers=numbers))


def recoded(data: Data, test: Data) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    """The classes of the test rows, as positions in the labels that are learned."""
    there = [test.labels[code] for code in np.unique(test.truth)]
    place = labelled_like(data, there, test.name).position
    table = np.array([place.get(label, 0) for label in test.labels], np.intp)
    return table[test.truth]


def _whole_number(text: str, scheme: str, expected: str) -> int:
    if not re.fullmatch(r"[0-9]{1,9}", text.strip()) or int(text) > _MOST_FOLDS:
        raise _refusal(scheme, expected)
    return int(text)


def _refusal(text: str, expected: str) -> InputError:
    return InputError(f"the validation {text!r} can't be read: expected {expected}")
