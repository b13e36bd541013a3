"""Rows by day: what was true, what one model or two decided, and where chosen columns fell."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np

from assay.errors import TallyError
from assay.v02.tally import codec

# A day, a label (empty where there is none yet), and what each model decided.
DailyCell: TypeAlias = tuple[str, str, str, str]
UNLABELLED = ""
NOT_ASKED = ""


@dataclass(frozen=True)
class DailyTally:
    """Counts by day, which a restart goes on from: the same bits as from all rows at once.

    ``settings`` says what was counted and how, as plain values; only days that were counted alike
    add. ``slots`` holds the counts of a column's slots by day, ``extremes`` the smallest and the
    largest score by day.

    >>> one = DailyTally({}, {("2026-03-01", "attack", "flagged", ""): 2})
    >>> (one + one).rows, (one + one).days
    (4, ('2026-03-01',))
    """

    settings: Mapping[str, Any] = field(default_factory=dict)
    cells: Mapping[DailyCell, int] = field(default_factory=dict)
    slots: Mapping[str, Mapping[str, tuple[int, ...]]] = field(default_factory=dict)
    extremes: Mapping[str, Mapping[str, tuple[float, float]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "cells", dict(sorted(self.cells.items())))
        for name in ("slots", "extremes"):
            given = getattr(self, name)
            ordered = {key: dict(sorted(given[key].items())) for key in sorted(given) if given[key]}
            object.__setattr__(self, name, ordered)

    @property
    def days(self) -> tuple[str, ...]:
        """The days that have rows, in their order."""
        return tuple(dict.fromkeys(day for day, *_ in self.cells))

    @property
    def rows(self) -> int:
        """How many rows were counted."""
        return sum(self.cells.values())

    def rows_by_day(self) -> dict[str, int]:
        """How many rows each day has."""
        rows = dict.fromkeys(self.days, 0)
        for (day, *_), count in self.cells.items():
            rows[day] += count
        return rows

    @property
    def is_zero(self) -> bool:
        """Whether nothing was counted."""
        return not self.cells

    def __add__(self, other: DailyTally) -> DailyTally:
        if not isinstance(other, DailyTally):
            return NotImplemented
        if self.is_zero or other.is_zero:
            return other if self.is_zero else self
        if self.settings != other.settings:
            raise TallyError("days that were counted by unlike settings can't be added")
        cells = dict(self.cells)
        for cell, count in other.cells.items():
            cells[cell] = cells.get(cell, 0) + count
        return DailyTally(
            self.settings,
            cells,
            _added_days(
                self.slots, other.slots, lambda a, b: tuple(map(sum, zip(a, b, strict=True)))
            ),
            _added_days(
                self.extremes, other.extremes, lambda a, b: (min(a[0], b[0]), max(a[1], b[1]))
            ),
        )

    def without(self, days: Collection[str]) -> DailyTally:
        """The same without some days, which are to be counted anew."""
        return replace(
            self,
            cells={cell: count for cell, count in self.cells.items() if cell[0] not in days},
            **{
                name: {
                    key: {day: values for day, values in by_day.items() if day not in days}
                    for key, by_day in getattr(self, name).items()
                }
                for name in ("slots", "extremes")
            },
        )

    def to_bytes(self) -> bytes:
        """The tally as bytes, which :func:`assay.from_bytes` reads."""
        days = self.days
        at = {day: i for i, day in enumerate(days)}
        names = sorted({name for _, *rest in self.cells for name in rest})
        place = {name: i for i, name in enumerate(names)}
        cells = [
            [at[day], *(place[name] for name in rest), count]
            for (day, *rest), count in self.cells.items()
        ]
        header = {
            "settings": dict(self.settings),
            "days": list(days),
            "names": names,
            "slots": list(self.slots),
            "extremes": list(self.extremes),
        }
        arrays: dict[str, Any] = {"cells": np.array(cells, np.int64).reshape(len(cells), 5)}
        for kind, dtype in (("slots", np.int64), ("extremes", np.float64)):
            for i, by_day in enumerate(getattr(self, kind).values()):
                arrays[f"{kind} {i} days"] = np.array([at[day] for day in by_day], np.int64)
                arrays[f"{kind} {i}"] = np.array(list(by_day.values()), dtype)
        return codec.write("daily", header, arrays)


@codec.reads("daily")
def daily_of(header: Mapping[str, Any], arrays: Mapping[str, codec.Array]) -> DailyTally:
    """A tally from its header and arrays."""
    days, names = ([str(each) for each in header[key]] for key in ("days", "names"))
    if days != sorted(set(days)) or not isinstance(header["settings"], dict):
        raise ValueError("its days are not in order, or its settings are none")
    cells: dict[DailyCell, int] = {}
    for day, label, new, old, count in arrays["cells"].tolist():
        if min(day, label, new, old) < 0:
            raise ValueError("a place is negative")
        cell = (days[day], names[label], names[new], names[old])
        cells[cell] = codec.whole_number(count)
    by_kind: dict[str, dict[str, dict[str, Any]]] = {"slots": {}, "extremes": {}}
    for kind, of_kind in by_kind.items():
        for i, key in enumerate(header[kind]):
            of_day = arrays[f"{kind} {i} days"].tolist()
            values = map(tuple, arrays[f"{kind} {i}"].tolist())
            of_kind[str(key)] = {days[d]: v for d, v in zip(of_day, values, strict=True)}
    return DailyTally(header["settings"], cells, by_kind["slots"], by_kind["extremes"])


def _added_days(
    one: Mapping[str, Mapping[str, Any]],
    other: Mapping[str, Mapping[str, Any]],
    add: Callable[[Any, Any], Any],
) -> dict[str, dict[str, Any]]:
    sums = {key: dict(by_day) for key, by_day in one.items()}
    for key, by_day in other.items():
        mine = sums.setdefault(key, {})
        for day, amount in by_day.items():
            mine[day] = add(mine[day], amount) if day in mine else amount
    return sums
