"""What a key may stand for, and how a printed number is read.

Every reading is a measure with a scope: the number of a class, the name of an average, or None for
what is of all classes. Readings that the contract leaves open are marked: a claim that is possible
only with them must neither be accused nor be passed for certain.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from enumerated.formulas import (
    AVERAGED,
    AVERAGES,
    CELLS,
    NAMES,
    OF_PRESENT,
    OVER_CLASSES,
    SYMMETRIC,
    Array,
    Matrices,
)

MEASURE_OF = {alias: name for name, aliases in NAMES.items() for alias in aliases}
FALSE_ALARMS = ("far", "false_alarm_rate")
OF_A_CLASS = {"accuracy": "recall", "error_rate": "fnr"}
# Values within this of a whole unit off are exactly one unit off: floats of small fractions.
CLOSE = 1e-12

Scope = int | str | None


@dataclass(frozen=True)
class Reading:
    """A measure with a scope; ``open`` where the contract does not promise it."""

    measure: str
    scope: Scope
    open: bool = False

    def of(self, matrices: Matrices) -> Array:
        """Its values, nan where undefined."""
        if self.scope is None:
            return matrices.over_classes(self.measure)
        if isinstance(self.scope, str):
            return matrices.average(self.measure, self.scope)
        return matrices.of_class(self.measure, self.scope)


@dataclass(frozen=True)
class Text:
    """A printed number: its value and one unit of its last digit, percent read as a share."""

    value: Fraction
    unit: Fraction

    def gives(self, values: Array) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Which values are less than one unit off."""
        value, unit = float(self.value), float(self.unit)
        off = np.abs(values - value)
        return np.asarray(off < unit - CLOSE - 1e-14 * abs(value))

    def is_worked_out(self, value: Fraction) -> bool:
        """Whether a number is printed so when it is rounded or cut off."""
        if abs(value - self.value) <= self.unit / 2:
            return True
        return 0 <= abs(value) - abs(self.value) < self.unit and value * self.value >= 0

    def is_near(self, value: Fraction) -> bool:
        """Whether a number is less than one unit off."""
        return abs(value - self.value) < self.unit


def text(printed: str) -> Text:
    """Read ``0.967``, ``96.7%`` or ``-3``."""
    percent = printed.endswith("%")
    digits = printed.rstrip("%")
    unit = Fraction(1, 10 ** len(digits.partition(".")[2]))
    scale = 100 if percent else 1
    return Text(Fraction(digits) / scale, unit / scale)


def parsed(key: str) -> tuple[str, str]:
    """The name and the suffix of a key."""
    heads = [
        name for name in (*MEASURE_OF, *FALSE_ALARMS) if key == name or key.startswith(name + ".")
    ]
    head = max(heads, key=len)
    return head, key[len(head) + 1 :]


def readings(key: str, labels: tuple[str, ...], *, empty: bool = False) -> list[Reading]:
    """All that a key may stand for; two classes are [negative, positive].

    ``empty`` is whether a class may be without rows: whether it then counts in a weighted average,
    where its value is undefined and its weight nothing, is left open.
    """
    head, suffix = parsed(key)
    measures = ["fdr", "fpr"] if head in FALSE_ALARMS else [MEASURE_OF[head]]
    meanings = [reading for name in measures for reading in _of(name, suffix, labels)]
    weighted = [each.measure for each in meanings if each.scope == "weighted"] if empty else []
    return meanings + [Reading(name, OF_PRESENT, open=True) for name in weighted]


def _of(name: str, suffix: str, labels: tuple[str, ...]) -> Iterator[Reading]:
    two = len(labels) == 2
    if suffix in AVERAGES:
        yield Reading(name, suffix)
    elif suffix:
        k = labels.index(suffix)
        yield Reading(name, None if two and name in SYMMETRIC else k)
        if name in OF_A_CLASS:
            yield Reading(OF_A_CLASS[name], k)
    elif name in SYMMETRIC:
        if two or name in OVER_CLASSES:
            yield Reading(name, None)
    else:
        if two:
            yield Reading(name, 1)
        if name in CELLS:
            for average in AVERAGES:
                yield Reading(name, average, open=name not in AVERAGED)
