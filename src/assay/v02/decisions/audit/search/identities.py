"""What the measures of the catalogue have to do with each other, whatever the counts are.

The rates of one class against the rest hang together by the identities that measures declare;
averages over classes are bound to the values of each class. Quantities have names:
``label|measure`` for one class against the rest; what belongs to no single class has no bar
(``accuracy``, ``f1.macro``). Of two classes, the recall of one is the specificity of the other, and
bears one name.

Each quantity has a range, which identities narrow in every direction until nothing moves. What is
left holds every possible value: an empty range is a proof that the numbers can't be true together.
All steps are widened by more than float64 loses.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from statistics import fmean
from typing import TypeAlias

from assay.v02.decisions.audit.claim import AVERAGES, Key, Meaning, meanings, measures_of
from assay.v02.formula import Cell, Expression, cells, substitute
from assay.v02.formula.tree import Add, Constant, Divide, Multiply, Root, TimesLog
from assay.v02.measures import (
    ACCURACY,
    BASIC_RATES,
    LOWER,
    PRECISION,
    PREVALENCE,
    RECALL,
    Measure,
    find,
    mean_of,
)
from assay.v02.measures.measure import spoken

Range: TypeAlias = tuple[float, float]
Function: TypeAlias = Callable[[Sequence[float]], float]

WIDER = 1e-11
_HALVINGS = 30
_MOST_STEPS = 1000
# A range that shrinks by less than this share of itself is left as it is.
_WORTH = 0.05
# The end of a range is looked for until no more than this share of the range could be gained.
_CLOSE = 0.001


class Impossible(ArithmeticError):
    """No value is left for a quantity."""


@dataclass(frozen=True)
class Relation:
    """A quantity as a function of others, monotone in each of them while the others stay.

    With ``high`` the quantity lies between ``low`` and ``high`` of the arguments. ``words`` is the
    identity as a sentence says it. ``rising`` ones rise with every argument.
    """

    of: str
    args: tuple[str, ...]
    low: Function
    words: str
    high: Function | None = None
    rising: bool = False

    def image(self, ranges: Sequence[Range]) -> Range:
        """All values that the arguments allow, from their corners."""
        if self.rising:
            corners = [tuple(each[0] for each in ranges), tuple(each[1] for each in ranges)]
        else:
            corners = list(itertools.product(*(r if r[0] < r[1] else r[:1] for r in ranges)))
        try:
            lows = [self.low(corner) for corner in corners]
            highs = lows if self.high is None else [self.high(corner) for corner in corners]
        except ZeroDivisionError:
            return -math.inf, math.inf
        low, high = min(lows), max(highs)
        return low - WIDER * max(1.0, abs(low)), high + WIDER * max(1.0, abs(high))


def settle(ranges: Mapping[str, Range], relations: Sequence[Relation]) -> dict[str, Range]:
    """What the identities leave of each range; raises :class:`Impossible` where nothing is."""
    box = dict(ranges)
    by_quantity: dict[str, list[int]] = {}
    for i, relation in enumerate(relations):
        for name in {relation.of, *relation.args}:
            by_quantity.setdefault(name, []).append(i)
    waiting = dict.fromkeys(range(len(relations)))
    for _ in range(_MOST_STEPS):
        if not waiting:
            break
        i = next(iter(waiting))
        del waiting[i]
        for name in _narrow(box, relations[i]):
            waiting.update(dict.fromkeys(j for j in by_quantity[name] if j != i))
    return box


def _narrow(box: dict[str, Range], relation: Relation) -> list[str]:
    """Apply one identity in all directions; the names of what became clearly narrower."""
    moved = []
    ranges = [box[name] for name in relation.args]
    if _meet(box, relation.of, relation.image(ranges)):
        moved.append(relation.of)
    for k, name in enumerate(relation.args):
        ranges = [box[each] for each in relation.args]
        if _meet(box, name, _shaved(relation, ranges, k, box[relation.of])):
            moved.append(name)
    return moved


def _meet(box: dict[str, Range], name: str, allowed: Range) -> bool:
    low, high = box[name]
    new = max(low, allowed[0]), min(high, allowed[1])
    if new[0] > new[1]:
        raise Impossible(name)
    if new == (low, high):
        return False
    box[name] = new
    return math.isinf(high - low) or new[1] - new[0] < (1 - _WORTH) * (high - low)


def _shaved(relation: Relation, ranges: list[Range], k: int, result: Range) -> Range:
    """The range of one argument without the ends that can't give the result."""

    def excluded(low: float, high: float) -> bool:
        here = [*ranges[:k], (low, high), *ranges[k + 1 :]]
        image = relation.image(here)
        return image[0] > result[1] or image[1] < result[0]

    def last_excluded(start: float, end: float) -> float:
        """How far from one end all is excluded, closely enough beside what is left."""
        if excluded(*sorted((start, end))):
            raise Impossible(relation.args[k])
        good, bad = start, end
        for _ in range(_HALVINGS):
            if abs(bad - good) <= max(_CLOSE * abs(end - bad), WIDER):
                break
            middle = (good + bad) / 2
            good, bad = (middle, bad) if excluded(*sorted((start, middle))) else (good, middle)
        return good

    low, high = ranges[k]
    if excluded(low, low):
        low = last_excluded(low, high)
    if excluded(high, high):
        high = last_excluded(high, low)
    return low, high


# -- expressions as functions of floats ------------------------------------------------------------


@lru_cache(maxsize=1024)
def function_of(expression: Expression) -> Function:
    """An expression as a function of its cells, in the order of their names.

    What is divided by nothing is endless.

    >>> function_of(Cell("a") / (Cell("a") + Cell("b")))((1.0, 3.0))
    0.25
    """
    places = {name: i for i, name in enumerate(sorted(cells(expression)))}
    return _compiled(expression, places)


def _compiled(expression: Expression, places: Mapping[str, int]) -> Function:
    match expression:
        case Cell(name):
            return operator.itemgetter(places[name])
        case Constant(number):
            value = number.numerator / number.denominator
            return lambda _: value
        case Add(terms):
            return _folded(operator.add, terms, places)
        case Multiply(factors):
            return _folded(operator.mul, factors, places)
        case Divide(numerator, denominator):
            top, bottom = _compiled(numerator, places), _compiled(denominator, places)
            return lambda values: _ratio(top(values), bottom(values))
        case Root(radicand):
            inside = _compiled(radicand, places)
            return lambda values: math.sqrt(max(inside(values), 0.0))
        case TimesLog(factor, argument):
            times, inner = _compiled(factor, places), _compiled(argument, places)
            return lambda values: t * math.log(inner(values)) if (t := times(values)) else 0.0
    raise TypeError(f"no function of {expression!r}")


def _folded(
    combined: Callable[[float, float], float],
    parts: Sequence[Expression],
    places: Mapping[str, int],
) -> Function:
    def pair(one: Function, other: Function) -> Function:
        return lambda values: combined(one(values), other(values))

    return reduce(pair, (_compiled(part, places) for part in parts))


def _ratio(top: float, bottom: float) -> float:
    if bottom:
        return top / bottom
    if top:
        return math.copysign(math.inf, top)
    raise ZeroDivisionError("0/0")


# -- quantities ------------------------------------------------------------------------------------

_ACCURACY = Cell(ACCURACY.name)
# An average over classes of which it is not told whether it is macro or weighted.
SOME_AVERAGE = "average"
# The value of one of two classes, or any average of both.
BETWEEN = "between"


@dataclass(frozen=True)
class NamedQuantity:
    """What a key speaks of: a named quantity, or 1 minus it; ``of`` says which of several."""

    name: str
    complement: bool = False
    of: str = ""


@dataclass(frozen=True)
class Classes:
    """The labels of a claim; unless ``all_told`` there may be more classes than these.

    Unless ``exclusive`` a row may have none of the labels, or several, while averages are still
    those over all of them.
    """

    labels: tuple[str, ...] = ()
    all_told: bool = True
    exclusive: bool = True

    @property
    def two(self) -> bool:
        """Whether there are just two, [negative, positive]."""
        return self.all_told and self.exclusive and len(self.labels) == 2

    def named(self, label: str, measure: Measure) -> str:
        """The one name of a measure of a class.

        >>> Classes(("normal", "attack")).named("normal", find("recall"))
        'attack|specificity'
        """
        if self.two:
            if measure.symmetric:
                return measure.name
            if label == self.labels[0] and measure.swapped:
                return f"{self.labels[1]}|{measure.swapped}"
        return f"{label}|{measure.name}"

    def quantity(self, meaning: Meaning) -> NamedQuantity | None:
        """The quantity of a meaning; None where nothing binds it."""
        flipped = meaning.measure.better is LOWER and meaning.measure.complement is not None
        measure = find(meaning.measure.complement or "") if flipped else meaning.measure
        if meaning.average is not None:
            if not meaning.measure.averages:
                return None
            return NamedQuantity(f"{measure.name}.{meaning.average}", flipped, meaning.words)
        if meaning.label is not None:
            if meaning.label not in self.labels:
                return None
            return NamedQuantity(self.named(meaning.label, measure), flipped, meaning.words)
        return NamedQuantity(measure.name, flipped) if measure.symmetric else None


def quantities_of(
    key: Key, classes: Classes, positive: str | None, convention: str | None = None
) -> tuple[NamedQuantity, ...]:
    """What a key may mean; several where it does not say, none where nothing binds it.

    Without any labels a bare one-sided key is some average over classes. With a ``convention`` bare
    keys of two classes are averages of that kind, or each lies between the values of both classes.
    """
    if convention == BETWEEN and key.bare and positive is not None and key.measure.averages:
        return tuple(
            NamedQuantity(f"{m.name}@{key.text}", of="some average") for m, _ in measures_of(key)
        )
    if not classes.labels and key.bare and not key.measure.symmetric:
        if not key.measure.averages:
            return ()
        readings = [
            Meaning(measure, None, SOME_AVERAGE, words) for measure, words in measures_of(key)
        ]
    else:
        readings = [
            meaning
            for meaning in meanings(key, positive)
            if not meaning.convention or meaning.average == convention
        ]
        if convention is not None and any(meaning.convention for meaning in readings):
            readings = [meaning for meaning in readings if meaning.convention]
    named = [classes.quantity(meaning) for meaning in readings]
    return tuple(dict.fromkeys(each for each in named if each is not None))


def identities_of(
    classes: Classes, wanted: Sequence[str], shares: Mapping[str, float] | None = None
) -> Identities:
    """The identities among the wanted quantities; ``shares`` of the classes where they are known.

    >>> bound = identities_of(Classes(("normal", "attack")), ["attack|f1"])
    >>> [each.words for each in bound.relations if each.of == "attack|f1"][0]
    'F1 is the harmonic mean of precision and recall'
    """
    identities = Identities(classes)
    identities.begin(shares or {})
    for name in dict.fromkeys(wanted):
        identities.add(name)
    return identities


class Identities:
    """Quantities with their first ranges, and what binds them, added one after the other."""

    def __init__(self, classes: Classes) -> None:
        self.classes = classes
        self.labels = classes.labels
        self.ranges: dict[str, Range] = {ACCURACY.name: (0.0, 1.0)}
        self.relations: list[Relation] = []
        self.weights: tuple[float, ...] = ()

    def bind(
        self, of: str, args: Sequence[str], low: Function, words: str, *, rising: bool = False
    ) -> None:
        """Add a relation."""
        self.relations.append(Relation(of, tuple(args), low, words, rising=rising))

    def begin(self, shares: Mapping[str, float]) -> None:
        """The rates of each class, and what binds them."""
        for label in self.labels:
            for base in BASIC_RATES:
                self.ranges.setdefault(self.classes.named(label, base), (0.0, 1.0))
        if set(shares) == set(self.labels):
            self.weights = tuple(shares[label] for label in self.labels)
        for label, share in shares.items() if self.classes.exclusive else ():
            self.ranges[f"{label}|{PREVALENCE.name}"] = (share, share)
        for label in self.labels[1:] if self.classes.two else self.labels:
            for base in BASIC_RATES:
                self._identities(self.classes.named(label, base), label, base)
        if self.classes.two:
            negative, positive = self.labels
            words = "the shares of two classes sum to 1"
            for base in BASIC_RATES:
                if not base.symmetric and not base.swapped:
                    names = f"{negative}|{base.name}", [f"{positive}|{base.name}"]
                    self.bind(*names, lambda values: 1 - values[0], words)
        elif self.labels and self.classes.all_told and self.classes.exclusive and self.weights:
            words = "accuracy is the mean of the recalls, weighed by the rows of each class"
            self.bind(ACCURACY.name, self._of_each(RECALL), self._weighed(), words, rising=True)

    def _identities(self, name: str, label: str, measure: Measure) -> None:
        """What a measure of one class declares of itself."""
        for identity in measure.identities:
            parts = [find(part) for part in sorted(cells(identity.expression))]
            names = [self.classes.named(label, part) for part in parts]
            for part in names:
                self.add(part)
            self.bind(name, names, function_of(identity.expression), identity.words)

    def add(self, name: str) -> None:
        """A quantity that is worked out from others, with what it is worked out from."""
        if name in self.ranges:
            return
        between, at, _ = name.partition("@")
        if at:
            self._between(name, find(between))
            return
        label, bar, measure = name.rpartition("|")
        base, _, average = name.rpartition(".")
        if bar:
            self._composite(name, label, find(measure))
        elif average in (*AVERAGES, SOME_AVERAGE):
            self.ranges[name] = (0.0, 1.0)
            self._average(name, find(base), average)
        elif self.classes.two:
            self._composite(name, self.labels[1], find(name))
        else:
            self._over_classes(name, find(name))

    def _between(self, name: str, measure: Measure) -> None:
        """Any average of two classes, micro too: a mediant lies between its ratios."""
        share = f"{name}@"
        self.ranges |= {name: measure.range, share: (0.0, 1.0)}
        words = f"an average of {spoken(measure.name)} lies between the values of the classes"
        self.bind(name, [share, *self._of_each(measure)], _mixed, words)

    def _composite(self, name: str, label: str, measure: Measure) -> None:
        self.ranges[name] = measure.range
        self._identities(name, label, measure)
        self._at_operating_point(name, label, measure)

    def _at_operating_point(self, name: str, label: str, measure: Measure) -> None:
        """A measure of scores lies between its bounds, as functions of recall and specificity."""
        swapped = find(RECALL.swapped or "")
        if measure.bounds is None or not all(isinstance(b, Expression) for b in measure.bounds):
            return
        r, s = Cell(RECALL.name), Cell(swapped.name)
        rates = {"TP": r, "FN": 1 - r, "TN": s, "FP": 1 - s}
        low, high = (substitute(b, rates) for b in measure.bounds if isinstance(b, Expression))
        names = [self.classes.named(label, each) for each in (RECALL, swapped)]
        words = "the operating point bounds the area"
        ends = function_of(low), function_of(high)
        self.relations.append(Relation(name, tuple(names), ends[0], words, ends[1]))

    def _average(self, name: str, measure: Measure, average: str) -> None:
        said = spoken(measure.name)
        if average == "micro" and not self.classes.exclusive:
            self._micro_of_any(name, measure)
            return
        if average == "micro":
            function = self._micro(measure)
            if function is not None:
                words = f"the micro average of {said} follows from the accuracy"
                self.bind(name, [ACCURACY.name], function, words)
            return
        mean = mean_of(ACCURACY)
        same = mean is not None and (measure, average) == (mean.measure, mean.how)
        if same and self.classes.exclusive:
            self.bind(
                name, [ACCURACY.name], operator.itemgetter(0), f"{average} {said} is the accuracy"
            )
        self._of_averages(name, measure, average)
        if not self.labels or not self.classes.all_told:
            return
        parts = self._of_each(measure)
        if average == "macro":
            words = f"the macro average of {said} is the mean over the classes"
            self.bind(name, parts, fmean, words, rising=True)
        elif self.weights:
            words = f"the weighted average of {said} weighs each class by its rows"
            self.bind(name, parts, self._weighed(), words, rising=True)
        elif self.classes.two:
            words = f"the weighted average of {said} lies between the values of the classes"
            share = f"{self.labels[1]}|{PREVALENCE.name}"
            self.bind(name, [share, *parts], _mixed, words)

    def _micro(self, measure: Measure) -> Function | None:
        """The micro average as a function of the accuracy a: a hits, 1 - a false of each kind."""
        formula = measure.formula
        if formula is None:
            return None
        wrong = 1 - _ACCURACY
        new = {"TP": _ACCURACY, "FP": wrong, "FN": wrong}
        if "TN" in cells(formula):
            if not self.classes.all_told or len(self.labels) < 2:
                return None
            new["TN"] = len(self.labels) - 2 + _ACCURACY
        function = function_of(substitute(formula, new))
        return function if _moves_one_way(function) else None

    def _micro_of_any(self, name: str, measure: Measure) -> None:
        """A micro average where rows may have several labels: a ratio of sums over the classes.

        That of the recall weighs each class by its rows; those of others lie between their values.
        """
        said = spoken(measure.name)
        if not self.classes.all_told or measure.formula is None:
            return
        for identity in measure.identities:
            parts = sorted(cells(identity.expression))
            if parts == sorted((PRECISION.name, RECALL.name)):
                names = [f"{part}.micro" for part in parts]
                for part in names:
                    self.add(part)
                self.bind(name, names, function_of(identity.expression), identity.words)
        if measure == RECALL and self.weights:
            words = f"the micro average of {said} weighs each class by its rows"
            self.bind(name, self._of_each(measure), self._weighed(), words, rising=True)
        elif measure == PRECISION:
            words = f"the micro average of {said} lies between the values of the classes"
            parts = self._of_each(measure)
            self.relations.append(Relation(name, tuple(parts), min, words, max, rising=True))

    def _of_averages(self, name: str, measure: Measure, average: str) -> None:
        """The mean of harmonic means is never above the mean of arithmetic ones."""
        if measure.beta is None:
            return
        weight = float(measure.beta**2)
        parts = (f"{PRECISION.name}.{average}", f"{RECALL.name}.{average}")
        for part in parts:
            self.add(part)
        self.relations.append(
            Relation(
                name,
                parts,
                lambda values: min(0.0, *values),
                "an average of F scores is at most the arithmetic mean of those of precision "
                "and recall",
                lambda values: (values[0] + weight * values[1]) / (1 + weight),
                rising=True,
            )
        )

    def _over_classes(self, name: str, measure: Measure) -> None:
        """A symmetric measure of more than two classes."""
        self.ranges[name] = measure.range
        mean = mean_of(measure)
        if mean is None or not self.labels or not self.classes.all_told:
            return
        functions: dict[str, Function] = {"macro": fmean, "geometric": _geometric}
        if mean.how in functions:
            kind = "geometric mean" if mean.how == "geometric" else "mean"
            words = f"{spoken(name)} is the {kind} of the {spoken(mean.measure.name)}s"
            self.bind(name, self._of_each(mean.measure), functions[mean.how], words, rising=True)

    def _of_each(self, measure: Measure) -> list[str]:
        parts = [self.classes.named(label, measure) for label in self.labels]
        for part in parts:
            self.add(part)
        return parts

    def _weighed(self) -> Function:
        weights = self.weights
        return lambda values: math.fsum(w * x for w, x in zip(weights, values, strict=True))


def _moves_one_way(function: Function) -> bool:
    """Whether a function of one share never turns, as far as a hundred steps show."""
    try:
        values = [function((i / 100,)) for i in range(1, 100)]
    except ZeroDivisionError:
        return False
    return values in (sorted(values), sorted(values, reverse=True))


def _geometric(values: Sequence[float]) -> float:
    return float(math.prod(max(value, 0.0) for value in values) ** (1 / len(values)))


def _mixed(values: Sequence[float]) -> float:
    share, other, own = values
    return share * own + (1 - share) * other
