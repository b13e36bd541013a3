"""A reported number as a condition on the four cells of an unknown matrix."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from assay.decisions.audit.claim import AVERAGES, Claim, Key
from assay.decisions.audit.judge import MANY_DIGITS, RELATIVE, spellings
from assay.decisions.audit.printed import Printed
from assay.decisions.audit.values import Exact
from assay.formula import FN, FP, TN, TP, Expression, substitute
from assay.measures import HIGHER, LOWER, Measure, find

_SWAPPED = {"TP": TN, "TN": TP, "FP": FN, "FN": FP}
_SUMMED = {"TP": TP + TN, "TN": TP + TN, "FP": FP + FN, "FN": FP + FN}
_NOT_CELLWISE = frozenset({"kappa", "prevalence", "alert_rate"})
_POSITIVES, _NEGATIVES = TP + FN, FP + TN

AUC_LOW = TP * TN / (_POSITIVES * _NEGATIVES)
AUC_HIGH = 1 - FP * FN / (_POSITIVES * _NEGATIVES)


@dataclass(frozen=True)
class Window:
    """Where the exact value of a printed number may lie; both ends belong to it if ``closed``."""

    low: Fraction
    high: Fraction
    closed: bool


def window(number: Printed, *, rounded: bool) -> Window:
    """The values that are printed so: correctly rounded, or off by less than one unit."""
    half = number.unit / 2 if rounded else number.unit
    closed = rounded
    low, high = number.value - half, number.value + half
    if number.digits >= MANY_DIGITS:
        near = sorted((number.value / (1 + RELATIVE), number.value / (1 - RELATIVE)))
        if near[0] <= low or near[1] >= high:
            return Window(min(low, near[0]), max(high, near[1]), closed=True)
    return Window(low, high, closed)


@dataclass(frozen=True)
class Bound:
    """An expression of the four cells that has to lie in a window; None: no end on that side.

    ``rises`` tells how it moves with tp and with fp where the supports are fixed: 1 it never
    falls, -1 it never rises, 0 it stays. ``cellwise`` ones move so with every single cell as well.
    ``endless`` ones grow without bound where a denominator
    becomes zero.
    """

    expression: Expression
    rises: tuple[int, int]
    low: Fraction | None
    high: Fraction | None
    closed: bool
    endless: bool = False
    cellwise: bool = True

    def holds(self, value: Exact | None) -> bool:
        """Whether an exact value, None where it is undefined, lies in the window."""
        if value is None:
            return False
        if self.closed:
            above = self.low is None or self.low <= value.high
            return above and (self.high is None or value.low <= self.high)
        above = self.low is None or self.low < value.high
        return above and (self.high is None or value.low < self.high)


@dataclass(frozen=True)
class Reading:
    """One thing that a key may mean, as a formula of the four cells.

    ``of`` says which, where a key has several. ``cellwise`` ones move one way with every single
    cell too. A measure of scores has no formula but two bounds, ``expression`` from below and
    ``above`` from above.
    """

    measure: Measure
    expression: Expression
    rises: tuple[int, int]
    of: str = ""
    cellwise: bool = True
    above: Expression | None = None

    def bounds(self, number: Printed, *, rounded: bool) -> tuple[Bound, ...]:
        """What the printed number asks of the cells."""
        where = window(number, rounded=rounded and self.above is None)
        if self.above is None:
            endless = math.isinf(self.measure.range[1])
            ends = (where.low, where.high, where.closed)
            return (Bound(self.expression, self.rises, *ends, endless, self.cellwise),)
        return (
            Bound(self.expression, self.rises, None, where.high, where.closed),
            Bound(self.above, self.rises, where.low, None, where.closed),
        )


@dataclass(frozen=True)
class Choice:
    """One meaning of a reported number: a reading of its key and of its digits."""

    reading: Reading
    printed: Printed

    def bounds(self, *, rounded: bool) -> tuple[Bound, ...]:
        """What it asks of the cells."""
        return self.reading.bounds(self.printed, rounded=rounded)


@dataclass(frozen=True)
class Number:
    """A reported number and what it may mean."""

    key: Key
    printed: Printed
    choices: tuple[Choice, ...]

    @property
    def name(self) -> str:
        """The key with the printed digits, as sentences name it."""
        return f"{self.key.text} {self.printed.text}"

    @property
    def counted(self) -> bool:
        """Whether a matrix gives the number, not only bounds of it."""
        return all(choice.reading.above is None for choice in self.choices)


def number_of(key: Key, reported: Printed, claim: Claim) -> Number:
    """A reported number of two classes; without choices where no formula of the cells gives it."""
    return Number(
        key,
        reported,
        tuple(
            Choice(reading, spelled)
            for reading in _readings(key, claim.labels, positive=claim.binary)
            for spelled in spellings(reported, key, claim)
        ),
    )


def _readings(key: Key, labels: Sequence[str], *, positive: bool) -> tuple[Reading, ...]:
    measure = key.measure
    if measure.name == "roc_auc" and key.average is None and key.label in (None, labels[1]):
        return (Reading(measure, AUC_LOW, (1, -1), above=AUC_HIGH),)
    if measure.formula is None or (key.label is not None and key.label not in labels):
        return ()
    if key.average is not None:
        return (_averaged(measure, key.average),) if measure.averages else ()
    if key.label is None and not positive and not measure.symmetric:
        return tuple(
            _averaged(measure, average, said=True)
            for average in (AVERAGES if measure.averages else ())
        )
    label = 1 if key.label is None else list(labels).index(key.label)
    return tuple(_of_label(meant, label, words) for meant, words in meant_by(key))


def meant_by(key: Key) -> tuple[tuple[Measure, str], ...]:
    """The measures that a key of one class may mean, and what to call them where they are many."""
    if key.may_be_rate:
        return (
            (key.measure, "the false discovery rate FP/(FP+TP)"),
            (find("false_positive_rate"), "the false positive rate FP/(FP+TN)"),
        )
    other = {"accuracy": "recall", "error_rate": "false_negative_rate"}.get(key.measure.name)
    if key.label is not None and other is not None:
        of = other.replace("_", " ")
        return (key.measure, ""), (find(other), f"the {of} of that class")
    return ((key.measure, ""),)


def _of_label(measure: Measure, label: int, said: str) -> Reading:
    formula = measure.formula
    if formula is None:
        raise TypeError(f"{measure.name} has no formula of the four cells")
    rises = _rises(measure)
    if label == 0:
        formula = substitute(formula, _SWAPPED)
        # An alarm of the other class is silence: what counts them turns round.
        rises = (-rises[0], -rises[1]) if measure.name == "alert_rate" else rises
    return Reading(measure, formula, rises, said, measure.name not in _NOT_CELLWISE)


def _averaged(measure: Measure, average: str, *, said: bool = False) -> Reading:
    formula = measure.formula
    if formula is None:
        raise TypeError(f"{measure.name} has no formula of the four cells")
    other = substitute(formula, _SWAPPED)
    if average == "macro":
        formula = (formula + other) / 2
    elif average == "micro":
        formula = substitute(formula, _SUMMED)
    else:
        rows = _POSITIVES + _NEGATIVES
        formula = (_POSITIVES * formula + _NEGATIVES * other) / rows
    of = f"the {average} average" if said else ""
    return Reading(measure, formula, _rises(measure), of, average != "weighted")


def _rises(measure: Measure) -> tuple[int, int]:
    if measure.better is HIGHER:
        return (1, -1)
    if measure.better is LOWER:
        return (-1, 1)
    return (1, 1) if measure.name == "alert_rate" else (0, 0)
