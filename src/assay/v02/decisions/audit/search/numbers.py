"""The reported numbers of a claim as conditions on an unknown matrix, and which are to blame.

Each number has the ways in which a matrix of the labels may give it. Where numbers can't all be
true, the smallest ways of mending the claim tell which must be wrong.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.v02.decisions.audit.claim import Claim, Key, Meaning, meanings
from assay.v02.decisions.audit.matrix import Derivation, PrintedTable, derivations, rank
from assay.v02.decisions.audit.verdicts import DigitWindow, Printed, as_float, exact, same_digits
from assay.v02.formula import (
    FN,
    FP,
    TN,
    TP,
    Bounds,
    Expression,
    bounds_along,
    cells,
    denominators,
    evaluate,
    over_two_classes,
    substitute,
)
from assay.v02.inference import Quantity

Numbers: TypeAlias = frozenset[int]
Possible: TypeAlias = Callable[[Numbers], bool]

_MOST_CORRECTIONS = 200


@dataclass(frozen=True)
class Blame:
    """Numbers that must be wrong, each with a smallest contradiction that shows it, and conflicts.

    A number is ``wrong`` if every smallest correction holds it: every set of fewest numbers whose
    removal leaves the rest possible. A conflict is a set of numbers that can't all be true, of
    which it can't be told who is wrong. ``kept`` can be true together.
    """

    wrong: dict[int, Numbers]
    conflicts: tuple[Numbers, ...]
    kept: Numbers

    @property
    def disputed(self) -> Numbers:
        """The numbers of all conflicts."""
        return frozenset[int]().union(*self.conflicts)


def blame(numbers: Numbers, possible: Possible) -> Blame:
    """Who is to blame among some numbers; ``possible`` must be False only for what is proven.

    >>> blamed = blame(frozenset({1, 2, 3}), lambda some: not {1, 3} <= some)
    >>> blamed.wrong, [sorted(each) for each in blamed.conflicts]
    ({}, [[1, 3]])
    """
    if possible(numbers):
        return Blame({}, (), numbers)
    corrections, contradictions = _corrections(numbers, possible)
    if corrections:
        always = frozenset.intersection(*corrections)
    else:
        # Too many ways to tell them all: what contradicts itself alone is wrong in each.
        always = frozenset(i for each in contradictions if len(each) == 1 for i in each)
    wrong = {}
    for i in sorted(always):
        rest = numbers - corrections[0] if corrections else frozenset[int]()
        wrong[i] = smallest(rest | {i}, possible)
    disputed = frozenset[int]().union(*corrections) - always
    conflicts: list[Numbers] = []
    for i in sorted(disputed):
        if any(i in each for each in conflicts):
            continue
        own = next(each for each in corrections if i in each)
        conflicts.append(smallest((numbers - own) | {i}, possible))
    if not corrections:
        conflicts = [each for each in contradictions if not each & always]
    kept = numbers - always - frozenset[int]().union(*conflicts)
    return Blame(wrong, tuple(conflicts), kept if possible(kept) else frozenset())


def _corrections(
    numbers: Numbers, possible: Possible
) -> tuple[tuple[Numbers, ...], tuple[Numbers, ...]]:
    """All smallest corrections, and the contradictions that were found on the way.

    A correction meets every contradiction, so the smallest sets that meet all known ones are tried;
    one that does not help shows a further contradiction. No corrections where there are too many.
    """
    contradictions = [smallest(numbers, possible)]
    while True:
        corrections = []
        for tried, each in enumerate(_meeting(contradictions)):
            if tried >= _MOST_CORRECTIONS:
                return (), tuple(contradictions)
            if not possible(numbers - each):
                contradictions.append(smallest(numbers - each, possible))
                break
            corrections.append(each)
        else:
            return tuple(corrections), tuple(contradictions)


def _meeting(contradictions: list[Numbers]) -> Iterator[Numbers]:
    """The sets of fewest numbers that have one of every contradiction."""
    members = sorted(frozenset[int]().union(*contradictions))
    for more in range(len(members)):
        any_met = False
        for each in map(frozenset, itertools.combinations(members, 1 + more)):
            if all(each & contradiction for contradiction in contradictions):
                any_met = True
                yield each
        if any_met:
            return


def smallest(numbers: Numbers, possible: Possible) -> Numbers:
    """A set that is impossible, and possible without any of its members."""
    minimal = numbers
    for i in sorted(numbers, reverse=True):
        if not possible(minimal - {i}):
            minimal -= {i}
    return minimal


# -- ways in which a matrix may give a number ------------------------------------------------------

Booleans: TypeAlias = npt.NDArray[np.bool_]
# The cells that a formula of one label, or (None) of all classes, is read on.
Cells: TypeAlias = Callable[[int | None], Mapping[str, Any]]
# Bounds of a formula of one label over many boxes of matrices.
Boxed: TypeAlias = Callable[[Quantity], Bounds]

# Far above what float64 loses in a formula of counts, far below what is printed.
_SLACK = 1e-11
# Values too close to the end of a window for float64 are looked at exactly, at most so many.
_MOST_EXACT = 2000


@dataclass(frozen=True, eq=False)
class ByFormula:
    """The formula of a meaning has to lie where the digits say."""

    meaning: Meaning
    quantity: Quantity
    printed: Printed

    def may_hold(self, boxed: Boxed, *, rounded: bool) -> Booleans:
        """In which boxes it may."""
        window = self.printed.window(rounded=rounded)
        possible = _meets(boxed(self.quantity), window)
        if self.meaning.average is None and not fills_undefined(window):
            return possible
        for denominator in self._denominators:
            possible = possible | (boxed(denominator).low <= 0)
        return possible

    @cached_property
    def _denominators(self) -> tuple[Quantity, ...]:
        """What the formula divides by, in the cells of one label."""
        expression, label = self.quantity.expression, self.quantity.label
        if label is None:
            expression, label = over_two_classes(expression), 1
        return tuple(Quantity(below, label) for below in denominators(expression))

    def holds(self, cells_of: Cells, *, rounded: bool) -> Booleans:
        """For which matrices it does, exactly."""
        window = self.printed.window(rounded=rounded)
        given = cells_of(self.quantity.label)
        value = evaluate(self.quantity.expression, given)
        low, high = as_float(window.low), as_float(window.high)
        reach = _SLACK * max(1.0, abs(low), abs(high))
        given_by = (value > low + reach) & (value < high - reach)
        close = np.flatnonzero(~given_by & (value >= low - reach) & (value <= high + reach))
        # Equal floats are equal numbers here, so one of them tells for all.
        _, first, which = np.unique(value[close], return_index=True, return_inverse=True)
        if len(first) > _MOST_EXACT:
            given_by[close] = True
            return given_by
        answers = [self._exactly(given, int(close[i]), window) for i in first]
        given_by[close] = np.array(answers, bool)[which]
        undefined = np.isnan(value)
        if undefined.any():
            given_by |= undefined & self._filled(given, window)
        return given_by

    def _filled(self, given: Mapping[str, Any], window: DigitWindow) -> Booleans:
        """Where the formula is undefined: whether what libraries put there may be printed so.

        They put 0 or 1 there, or leave the class out of an average.
        """
        formula = self.meaning.measure.formula
        if self.meaning.average not in ("macro", "weighted") or formula is None:
            return np.asarray(fills_undefined(window))
        hit, row, column = (np.asarray(given[name], float) for name in ("HIT", "ROW", "COL"))
        rest = np.asarray(given["N"], float)[..., None] - row - column + hit
        of_each = {"TP": hit, "FP": column - hit, "FN": row - hit, "TN": rest}
        values = np.asarray(evaluate(formula, of_each))
        weights = row if self.meaning.average == "weighted" else np.ones_like(row)
        undefined = np.isnan(values)
        fills = np.zeros(len(values), bool)
        for end, of_undefined in ((0.0, 1.0), (1.0, 1.0), (0.0, 0.0)):
            kept = np.where(undefined, of_undefined * weights, weights)
            total = (np.where(undefined, end, values) * kept).sum(axis=1)
            with np.errstate(invalid="ignore"):
                mean = total / kept.sum(axis=1)
            fills |= _meets(Bounds(mean - _SLACK, mean + _SLACK), window)
        return fills

    def _exactly(self, given: Mapping[str, Any], i: int, window: DigitWindow) -> bool:
        value = exact(self.quantity.expression, one_of(given, i))
        return value is not None and window.holds(value.low, value.high)


@dataclass(frozen=True, eq=False)
class ByScores:
    """A measure of scores, of which the operating point only tells bounds."""

    meaning: Meaning
    low: Quantity | None
    high: Quantity | None
    printed: Printed

    def may_hold(self, boxed: Boxed, *, rounded: bool) -> Booleans:  # noqa: ARG002
        """In which boxes the bounds may allow it."""
        window = self.printed.window(rounded=False)
        possible = np.ones((), bool)
        if self.low is not None:
            possible = possible & (boxed(self.low).low <= _up(window.high))
        if self.high is not None:
            possible = possible & (boxed(self.high).high >= _down(window.low))
        return possible

    def holds(self, cells_of: Cells, *, rounded: bool) -> Booleans:  # noqa: ARG002
        """For which matrices they do; what float64 can't tell is allowed."""
        window = self.printed.window(rounded=False)
        possible = np.ones((), bool)
        for quantity, sign, end in ((self.low, 1, window.high), (self.high, -1, window.low)):
            if quantity is not None:
                value = evaluate(quantity.expression, cells_of(quantity.label))
                possible = possible & (sign * value <= sign * as_float(end) + _SLACK)
        return possible


@dataclass(frozen=True, eq=False)
class ByRounded:
    """Worked out from the rounded values of other numbers, each within some units of the truth."""

    meaning: Meaning
    expression: Expression
    sources: Mapping[str, Quantity]
    reach: Mapping[str, float]
    printed: Printed

    def may_hold(self, boxed: Boxed, *, rounded: bool) -> Booleans:
        """In which boxes it may."""
        return self._may(boxed, rounded=rounded)

    def holds(self, cells_of: Cells, *, rounded: bool) -> Booleans:
        """For which matrices it may; a rounded value can't be told closer."""

        def at(quantity: Quantity) -> Bounds:
            value = evaluate(quantity.expression, cells_of(quantity.label))
            return Bounds(value, value)

        return self._may(at, rounded=rounded)

    def _may(self, boxed: Boxed, *, rounded: bool) -> Booleans:
        spans = {}
        for name, quantity in self.sources.items():
            low, high = boxed(quantity)
            spans[name] = low - self.reach[name], high + self.reach[name]
        names = sorted(cells(self.expression))

        def at(ends: Sequence[Any]) -> dict[str, tuple[Any, Any]]:
            return {
                name: spans[name]
                if end is None
                else (
                    np.where(end == 1, spans[name][1], spans[name][0]),
                    np.where(end == 0, spans[name][0], spans[name][1]),
                )
                for name, end in zip(names, ends, strict=True)
            }

        bounds = bounds_along(self.expression, [((name, 1),) for name in names], at)
        defined = [~np.isnan(spans[name][0]) for name in names]
        met = _meets(bounds, self.printed.window(rounded=rounded))
        return np.asarray(np.logical_and.reduce([met, *np.broadcast_arrays(*defined)]))


Way: TypeAlias = ByFormula | ByScores | ByRounded


def fills_undefined(window: DigitWindow) -> bool:
    """Whether 0 or 1 is printed so, which libraries put where a ratio is undefined."""
    return any(window.holds(Fraction(end), Fraction(end)) for end in (0, 1))


def one_of(given: Mapping[str, Any], i: int) -> dict[str, Any]:
    """The cells of one matrix of many, as plain integers."""
    cells: dict[str, Any] = {}
    for name, column in given.items():
        array = np.asarray(column)
        value = array[i] if array.ndim else array
        cells[name] = tuple(map(int, value)) if np.ndim(value) else int(value)
    return cells


def _meets(bounds: Bounds, window: DigitWindow) -> Booleans:
    return np.asarray((bounds.low <= _up(window.high)) & (bounds.high >= _down(window.low)))


def _up(end: Any) -> float:
    return float(np.nextafter(as_float(end), np.inf))


def _down(end: Any) -> float:
    return float(np.nextafter(as_float(end), -np.inf))


# -- numbers ---------------------------------------------------------------------------------------

Given = Sequence[tuple[Key, Printed]]
_OTHER = {"TP": TN, "TN": TP, "FP": FN, "FN": FP}
# Sources may have been worked out from rounded numbers themselves.
_REACH = 2


@dataclass(frozen=True)
class DerivedNumber:
    """A way in which a number may have been worked out from other numbers of the claim.

    ``gives`` is whether the printed digits of those give its own; ``ways`` are what is left of it
    as evidence where one of them is taken to be wrong.
    """

    derivation: Derivation
    sources: Numbers
    gives: bool
    ways: tuple[Way, ...]

    @property
    def words(self) -> str:
        """From which, as a sentence says it."""
        return self.derivation.words


@dataclass(frozen=True)
class Number:
    """A reported number: what it may mean, and what it may have been worked out from."""

    key: Key
    printed: Printed
    ways: tuple[Way, ...]
    worked: tuple[DerivedNumber, ...] = ()

    @property
    def scored(self) -> bool:
        """Whether a matrix gives only bounds of it."""
        return self.key.measure.formula is None

    def follows(self, chosen: Numbers) -> DerivedNumber | None:
        """How other numbers, taken to be right, give it as printed; None where they don't."""
        for each in self.worked:
            if each.gives and each.sources <= chosen:
                return each
        return None

    def conditions(self, chosen: Numbers, *, conventions: bool) -> tuple[Way, ...]:
        """The ways in which it may be right beside some other numbers; none where it is anyway."""
        if not self.ways or self.follows(chosen) is not None:
            return ()
        ways = [*self.ways]
        for each in self.worked:
            if each.gives:
                ways += each.ways
        return tuple(way for way in ways if conventions or not way.meaning.convention)


def numbers_of(
    claim: Claim, given: Given, positive: str | None, labels: Sequence[str]
) -> tuple[Number, ...]:
    """The numbers of a claim as conditions on a matrix of these labels."""
    places = {key.text: i for i, (key, _) in enumerate(given)}
    read = {key.text: meanings(key, positive) for key, _ in given}
    table = PrintedTable.of(claim, list(given))
    ranks = {key.text: rank(key, claim) for key, _ in given}
    numbers = []
    for key, reported in given:
        spelled = claim.spellings(reported, key)
        ways = tuple(
            way
            for meaning in read[key.text]
            for number in spelled
            for way in _ways(meaning, number, labels)
        )
        worked = tuple(
            DerivedNumber(
                each,
                frozenset(places[source.key] for source in each.sources),
                _gives(each, spelled),
                tuple(_rounded(each, key, read, spelled, labels)),
            )
            for each in derivations(key, table.without(key))
            if all(ranks[source.key] < ranks[key.text] for source in each.sources)
        )
        numbers.append(Number(key, reported, ways, worked))
    return tuple(numbers)


def _gives(derivation: Derivation, spelled: Sequence[Printed]) -> bool:
    value = derivation.value
    return value is not None and any(same_digits(number, value) for number in spelled)


def _ways(meaning: Meaning, number: Printed, labels: Sequence[str]) -> Iterator[Way]:
    quantity = meaning.quantity(labels)
    if quantity is not None:
        yield ByFormula(meaning, quantity, number)
    elif meaning.measure.bounds is not None and meaning.label in labels and len(labels) == 2:
        label = list(labels).index(meaning.label or "")
        low, high = (
            Quantity(bound, label) if isinstance(bound, Expression) else None
            for bound in meaning.measure.bounds
        )
        yield ByScores(meaning, low, high, number)


def _rounded(
    derivation: Derivation,
    key: Key,
    read: Mapping[str, Sequence[Meaning]],
    spelled: Sequence[Printed],
    labels: Sequence[str],
) -> Iterator[Way]:
    """What a number still tells of the matrix that was worked out from rounded values of it.

    Bare keys are read by one convention together.
    """
    if not derivation.measures:
        return
    for convention in (None, "weighted", "macro"):
        sources: dict[str, Quantity] = {}
        reach: dict[str, float] = {}
        for source in derivation.sources:
            meaning = next(
                (m for m in read[source.key] if _by(m, convention)),
                next((m for m in read[source.key] if not m.convention), None),
            )
            quantity = None if meaning is None else meaning.quantity(labels)
            if quantity is None:
                return
            sources[source.key] = quantity
            reach[source.key] = _REACH * as_float(source.printed.unit)
        own = next((m for m in read[key.text] if _by(m, convention)), None)
        if own is None:
            return
        for number in spelled:
            yield ByRounded(own, derivation.expression, sources, reach, number)


def _by(meaning: Meaning, convention: str | None) -> bool:
    if convention is None:
        return not meaning.convention
    return meaning.convention and meaning.average == convention


@lru_cache(maxsize=4096)
def in_four_cells(quantity: Quantity) -> Expression:
    """A formula of one of two labels, or of both, in the four cells of the positive one."""
    if quantity.label == 0:
        return substitute(quantity.expression, _OTHER)
    # In a formula of the positive label there is nothing to write out.
    return over_two_classes(quantity.expression)
