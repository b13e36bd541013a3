"""What follows from the claim's own printed numbers: F1 from the printed precision and recall.

Authors often work on with the rounded numbers of their table. Such a number is not what the counts
give, but it is no mistake either.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from itertools import product

from assay.decisions.audit.claim import Claim
from assay.decisions.audit.keys import Key
from assay.decisions.audit.printed import Exact, Printed, as_float, exact
from assay.decisions.audit.sizes import rows_of
from assay.formula import (
    HIT,
    Cell,
    Expression,
    cells,
    constant,
    enclosure,
    geometric_mean,
    substitute,
)
from assay.measures import ACCURACY, BASIC_RATES, CATALOGUE, LOWER, Measure, find, mean_of


@dataclass(frozen=True)
class Scope:
    """What a printed number speaks of: a measure, of which label or average."""

    measure: str
    label: str | None = None
    average: str | None = None
    statistic: str | None = None


@dataclass(frozen=True)
class Source:
    """A printed number that another one is worked out from, or 1 less it."""

    key: str
    printed: Printed
    complement: bool = False

    @property
    def value(self) -> Fraction:
        """The value that is worked on with."""
        return 1 - self.printed.value if self.complement else self.printed.value

    @property
    def words(self) -> str:
        """As a sentence names it."""
        return f"1 - {self.key}" if self.complement else self.key


@dataclass(frozen=True)
class Derivation:
    """A number worked out from printed ones; the cells of the expression are their keys.

    ``measures`` are those that the sources are of, where all speak of one label or average.
    """

    expression: Expression
    sources: tuple[Source, ...]
    words: str
    measures: tuple[str, ...] = ()

    @property
    def value(self) -> Exact | None:
        """What the printed numbers give."""
        if HIT.name in cells(self.expression):
            return exact(self.expression, {HIT.name: tuple(s.value for s in self.sources)})
        return exact(self.expression, {source.key: source.printed.value for source in self.sources})


@dataclass(frozen=True)
class Table:
    """The printed numbers of a claim that can be right, by what they speak of."""

    claim: Claim
    numbers: Mapping[Scope, Sequence[tuple[str, Printed]]] = field(default_factory=dict)

    @classmethod
    def of(cls, claim: Claim, trusted: Sequence[tuple[Key, Printed]]) -> Table:
        """The table of numbers that were found consistent: values, and their standard errors."""
        numbers: dict[Scope, list[tuple[str, Printed]]] = {}
        for key, reported in trusted:
            scope = replace(scope_of(key.value, claim), statistic=key.statistic)
            numbers.setdefault(scope, []).append((key.text, reported))
        return cls(claim, numbers)

    def errors(self, key: Key) -> list[float]:
        """The printed standard errors of what a key speaks of."""
        scope = replace(scope_of(key.value, self.claim), statistic="se")
        return [as_float(reported.value) for _, reported in self.numbers.get(scope, ())]

    def without(self, key: Key) -> Table:
        """The table without one number, which must not be derived from itself."""
        kept = {
            scope: [number for number in numbers if number[0] != key.text]
            for scope, numbers in self.numbers.items()
        }
        return Table(self.claim, kept)

    def printed_value(self, key: Key) -> Printed | None:
        """The value that the claim prints for what an interval is of, if it can be right.

        By the same key, else by another that speaks of the same; a bare one may be an average.
        """
        found = self.numbers.get(scope_of(key.value, self.claim), ())
        first = sorted(found, key=lambda number: number[0] != key.value.text)
        return first[0][1] if first else None

    def sources(self, measure: Measure, label: str | None, average: str | None) -> Iterator[Source]:
        """Printed values of a measure, also as 1 less another, or of the other label."""
        yield from self._direct(measure, label, average)
        labels = self.claim.labels
        if measure.swapped and len(labels) == 2 and label in labels:
            other = labels[1 - labels.index(label)]
            yield from self._direct(find(measure.swapped), other, None)

    def _direct(self, measure: Measure, label: str | None, average: str | None) -> Iterator[Source]:
        for text, reported in self.numbers.get(Scope(measure.name, label, average), ()):
            yield Source(text, reported)
        if measure.complement and measure.better is not LOWER:
            for text, reported in self.numbers.get(Scope(measure.complement, label, average), ()):
                yield Source(text, reported, complement=True)


def scope_of(key: Key, claim: Claim) -> Scope:
    """What a key speaks of, however it is spelled."""
    if key.measure.symmetric and key.average is None:
        return Scope(key.measure.name, None if claim.binary else key.label)
    return Scope(key.measure.name, claim.positive if key.bare else key.label, key.average)


def derivations(key: Key, table: Table) -> Iterator[Derivation]:
    """How other printed numbers of the claim give a key."""
    scope = scope_of(key, table.claim)
    label = scope.label
    if key.measure.symmetric and table.claim.binary:
        label = table.claim.positive
    if key.measure.complement:
        for text, printed in table.numbers.get(replace(scope, measure=key.measure.complement), ()):
            source = Source(text, printed)
            words = f"1 - the printed {text}"
            yield Derivation(1 - Cell(text), (source,), words, (key.measure.complement,))
    for identity in key.measure.identities:
        yield from _by_identity(identity.expression, label, scope, table)
    yield from _beyond_chance(key.measure, table)
    yield from _averages(key, scope, table)


def rank(key: Key, claim: Claim) -> tuple[float, int, bool]:
    """Numbers are worked out from those of lower rank, never the other way round.

    The rates of one class come first, then the accuracy, then what is 1 less one of those, then
    measures that are worked out from them; averages come after the values of the classes.
    """
    averaged = key.average is not None or (key.bare and not claim.binary)
    place = next((i for i, m in enumerate(CATALOGUE) if m == key.measure), len(CATALOGUE))
    return _level(key.measure), place, averaged


@lru_cache(maxsize=256)
def _level(measure: Measure) -> float:
    if measure.better is LOWER and measure.complement:
        return 0.75
    if measure in BASIC_RATES:
        return 0.5 if measure.symmetric else 0.0
    direct = {find(name) in BASIC_RATES for i in measure.identities[:1] for name in cells(i[0])}
    return 1.0 if direct == {True} else 2.0


def _by_identity(
    expression: Expression, label: str | None, scope: Scope, table: Table
) -> Iterator[Derivation]:
    names = sorted(cells(expression))
    found = []
    for name in names:
        measure = find(name)
        whole = measure.symmetric
        found.append(
            list(table.sources(measure, None if whole else label, None if whole else scope.average))
        )
    for sources in product(*found):
        new = {
            name: 1 - Cell(source.key) if source.complement else Cell(source.key)
            for name, source in zip(names, sources, strict=True)
        }
        words = "the printed " + " and ".join(source.words for source in sources)
        if scope.average in ("macro", "weighted") and len(sources) > 1:
            words += f" (another definition of the {scope.average} {scope.measure})"
        yield Derivation(substitute(expression, new), sources, words, tuple(names))


# -- averages over classes -------------------------------------------------------------------------


def _averages(key: Key, scope: Scope, table: Table) -> Iterator[Derivation]:
    """Means of the printed values of all classes, plain or weighted by their rows.

    A measure over all classes is the mean of a rate of each where its formula says so.
    """
    claim, measure = table.claim, key.measure
    for average in ("macro", "weighted"):
        if scope.average == average or (key.bare and not claim.binary and measure.averages):
            yield from _mean(measure, average, table)
    mean = mean_of(measure) if key.bare else None
    if mean is not None:
        yield from _mean(mean.measure, mean.how, table)


def _mean(measure: Measure, how: str, table: Table) -> Iterator[Derivation]:
    claim = table.claim
    found = [next(table.sources(measure, label, None), None) for label in claim.labels]
    sources = tuple(source for source in found if source is not None)
    if not sources or len(sources) < len(claim.labels):
        return
    of_each = f"the printed {measure.name} of each class"
    if how == "geometric":
        if all(source.value > 0 for source in sources):
            yield Derivation(geometric_mean(HIT), sources, of_each)
        return
    weights = [Fraction(1, len(sources))] * len(sources)
    words = f"the mean of {of_each}"
    if how == "weighted":
        rows = rows_of(claim)
        size = sum(rows.values())
        if not size:
            return
        weights = [Fraction(rows.get(label, 0), size) for label in claim.labels]
        words = f"{of_each}, weighted by its rows"
    total = constant(0)
    for weight, source in zip(weights, sources, strict=True):
        term = 1 - Cell(source.key) if source.complement else Cell(source.key)
        total = total + weight * term
    yield Derivation(total, sources, words)


def _beyond_chance(measure: Measure, table: Table) -> Iterator[Derivation]:
    """Kappa from the printed accuracy and the agreement by chance, rounded or not."""
    matrix = table.claim.matrix
    by_chance = measure.parts.get("p_e")
    if by_chance is None or matrix is None or not matrix.total:
        return
    chance, _ = enclosure(by_chance, matrix.class_cells())
    for source in table.sources(ACCURACY, None, None):
        unit = source.printed.unit
        for share in (chance, round(chance / unit) * unit):
            if share != 1:
                agreed = 1 - Cell(source.key) if source.complement else Cell(source.key)
                expression = (agreed - constant(share)) / constant(1 - share)
                words = f"the printed {source.words} and the agreement by chance"
                yield Derivation(expression, (source,), words)
