"""Tables of counts by key that add: equal keys become one row, and times that are near one run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import TallyError
from assay.tally import codec

Array: TypeAlias = npt.NDArray[Any]

START, END = "start", "end"
_REDUCED: Mapping[str, Any] = {
    "first": np.minimum,
    START: np.minimum,
    "last": np.maximum,
    END: np.maximum,
}


@dataclass(frozen=True)
class Form:
    """What a table is keyed by and what it holds.

    ``named`` keys are texts, held as places in a list; all others are numbers. Values are added up,
    but for times: ``first`` and ``start`` are the earliest, ``last`` and ``end`` the latest. A form
    of ``runs`` has a start and an end, and its rows are runs of moments.
    """

    keys: tuple[str, ...]
    named: tuple[str, ...]
    values: tuple[str, ...]

    @property
    def runs(self) -> bool:
        """Whether its rows are runs of moments."""
        return START in self.values

    def without(self, key: str) -> Form:
        """The form with one key less."""
        keys, named = (tuple(k for k in kept if k != key) for kept in (self.keys, self.named))
        return Form(keys, named, self.values)


@dataclass(frozen=True, eq=False)
class Cells:
    """Counts by key, in the order of the keys.

    Where the form is of runs, moments of one key that are at most ``link`` apart are one run. A run
    stays one run whatever is added, and what is between two runs joins them: so the runs of a sum
    are those of all its moments, however they were split.
    """

    form: Form
    names: Mapping[str, tuple[str, ...]]
    columns: Mapping[str, Array]
    link: int = 0

    @classmethod
    def zero(cls, form: Form, link: int = 0) -> Cells:
        """The table of nothing."""
        columns = {name: np.empty(0, _type(name)) for name in (*form.keys, *form.values)}
        return cls(form, dict.fromkeys(form.named, ()), columns, link)

    @classmethod
    def of(
        cls,
        form: Form,
        columns: Mapping[str, Any],
        names: Mapping[str, Sequence[str]] | None = None,
        link: int = 0,
    ) -> Cells:
        """Rows as they come; ``names`` are the texts of the keys that have such, each once."""
        found = {
            name: np.asarray(columns[name], _type(name)) for name in (*form.keys, *form.values)
        }
        texts = {name: tuple((names or {})[name]) for name in form.named}
        for name in form.named:
            order = sorted(range(len(texts[name])), key=texts[name].__getitem__)
            place = np.empty(len(order), np.int64)
            place[order] = np.arange(len(order))
            found[name] = place[found[name]]
            texts[name] = tuple(texts[name][i] for i in order)
        return _canonical(form, texts, found, link)

    @staticmethod
    def merge(parts: Sequence[Cells]) -> Cells:
        """The sum of tables, sorted once."""
        first = parts[0]
        for part in parts[1:]:
            if (part.form, part.link) != (first.form, first.link):
                raise TallyError(
                    f"runs that are joined over {part.link} and {first.link} microseconds can't "
                    f"be added; count both with the same gap"
                )
        parts = [part for part in parts if part.size] or [first]
        if len(parts) == 1:
            return parts[0]
        names, columns = {}, {}
        for name in first.form.named:
            distinct = sorted(set().union(*(part.names[name] for part in parts)))
            at = {text: i for i, text in enumerate(distinct)}
            names[name] = tuple(distinct)
            columns[name] = np.concatenate(
                [
                    np.array([at[text] for text in part.names[name]], np.int64)[part.columns[name]]
                    for part in parts
                ]
            )
        for name in (*first.form.keys, *first.form.values):
            if name not in columns:
                columns[name] = np.concatenate([part.columns[name] for part in parts])
        return _canonical(first.form, names, columns, first.link)

    def __add__(self, other: Cells) -> Cells:
        return Cells.merge([self, other])

    def __getitem__(self, name: str) -> Array:
        return self.columns[name]

    @property
    def size(self) -> int:
        """How many rows it has."""
        return len(next(iter(self.columns.values())))

    def texts(self, name: str) -> list[str]:
        """A key of texts, row by row."""
        return [self.names[name][i] for i in self.columns[name].tolist()]

    def where(self, kept: Array) -> Cells:
        """Some of the rows."""
        columns = {name: column[kept] for name, column in self.columns.items()}
        return _canonical(self.form, self.names, columns, self.link)

    def without(self, key: str) -> Cells:
        """The table by one key less; what becomes equal is added up, runs that become near join."""
        form = self.form.without(key)
        names = {name: self.names[name] for name in form.named}
        columns = {name: self.columns[name] for name in (*form.keys, *form.values)}
        return _canonical(form, names, columns, self.link)

    def header(self) -> dict[str, Any]:
        """What tells of its columns."""
        return {"names": {name: list(texts) for name, texts in self.names.items()}}

    @classmethod
    def read(cls, form: Form, header: Any, arrays: Mapping[str, Array], link: int) -> Cells:
        """A table from what was written of it; what does not hold together is refused."""
        columns = {name: arrays[name] for name in (*form.keys, *form.values)}
        names = {name: tuple(map(str, header["names"][name])) for name in form.named}
        if len({len(column) for column in columns.values()}) > 1:
            raise ValueError("its columns are of unlike length")
        for name, column in columns.items():
            if column.dtype != _type(name) or column.ndim != 1:
                raise ValueError(f"its column {name} is of another kind")
            if (
                name in names
                and len(column)
                and not 0 <= column.min() <= column.max() < len(names[name])
            ):
                raise ValueError(f"its {name} has no name")
            if name == "score" and not np.isfinite(column).all():
                raise ValueError("a score is no finite number")
            if name in form.values and name not in _REDUCED and (column < 0).any():
                raise ValueError(f"a number of {name} is negative")
        for texts in names.values():
            codec.in_order([(text, None) for text in texts])
        return _canonical(form, names, columns, link)


def _type(name: str) -> Any:
    return np.float64 if name == "score" else np.int64


def _canonical(
    form: Form, names: Mapping[str, Sequence[str]], columns: Mapping[str, Array], link: int
) -> Cells:
    """Rows sorted by key, equal keys and near runs joined, and names that are used."""
    kept, texts = dict(columns), {}
    for name in form.named:
        used, codes = np.unique(kept[name], return_inverse=True)
        texts[name] = tuple(names[name][i] for i in used.tolist())
        kept[name] = codes.astype(np.int64)
    by = [*form.keys, *((START,) if form.runs else ())]
    if by and len(kept[by[0]]):
        order = np.lexsort([kept[name] for name in reversed(by)])
        kept = {name: column[order] for name, column in kept.items()}
        kept = _joined(form, kept, link)
    return Cells(form, texts, kept, link)


def _joined(form: Form, columns: dict[str, Array], link: int) -> dict[str, Array]:
    """Sorted rows, of which those of one key and one run became one."""
    rows = len(next(iter(columns.values())))
    begins = np.zeros(rows, bool)
    begins[0] = True
    for name in form.keys:
        begins[1:] |= columns[name][1:] != columns[name][:-1]
    if form.runs:
        reach = _running_end(columns[END], np.cumsum(begins) - 1)
        begins[1:] |= columns[START][1:] - reach[:-1] > link
    if begins.all():
        return columns
    at = np.flatnonzero(begins)
    found = {name: columns[name][at] for name in form.keys}
    for name in form.values:
        found[name] = _REDUCED.get(name, np.add).reduceat(columns[name], at)
    return found


def _running_end(ends: Array, group: Array) -> Array:
    """The latest end so far, group by group: ranks of ends, with those of later groups above."""
    order = np.sort(ends)
    rank = np.searchsorted(order, ends)
    highest = np.maximum.accumulate(group * len(ends) + rank)
    found: Array = order[highest - group * len(ends)]
    return found
