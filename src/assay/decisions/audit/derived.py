"""What follows from the claim's own printed numbers: F1 from the printed precision and recall.

Authors often work on with the rounded numbers of their table. Such a number is not what the counts
give, but it is no mistake either.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product

from assay.decisions.audit.claim import Claim, Key
from assay.decisions.audit.printed import Printed
from assay.decisions.audit.sizes import rows_of
from assay.decisions.audit.values import Exact
from assay.measures import Measure, find

Formula = Callable[..., "Exact | Fraction | None"]


@dataclass(frozen=True)
class Scope:
    """What a printed number speaks of: a measure, of which label or average."""

    measure: str
    label: str | None = None
    average: str | None = None
    statistic: str | None = None


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
            scope = scope_of(key.value, claim)
            scope = replace(scope, statistic=key.statistic)
            numbers.setdefault(scope, []).append((key.text, reported))
        return cls(claim, numbers)

    def errors(self, key: Key) -> list[float]:
        """The printed standard errors of what a key speaks of."""
        scope = replace(scope_of(key.value, self.claim), statistic="se")
        return [float(reported.value) for _, reported in self.numbers.get(scope, ())]

    def without(self, key: Key) -> Table:
        """The table without one number, which must not be derived from itself."""
        kept = {
            scope: [number for number in numbers if number[0] != key.text]
            for scope, numbers in self.numbers.items()
        }
        return Table(self.claim, kept)

    def values(self, measure: str, label: str | None, average: str | None) -> Iterator[_Source]:
        """Printed values of a measure, also as 1 less another, or of the other label."""
        yield from self._direct(measure, label, average)
        labels = self.claim.labels
        other = find(measure).swapped if measure in _SWAPS else None
        if other and len(labels) == 2 and label in labels:
            yield from self._direct(other, labels[1 - labels.index(label)], None)

    def _direct(self, measure: str, label: str | None, average: str | None) -> Iterator[_Source]:
        for text, reported in self.numbers.get(Scope(measure, label, average), ()):
            yield _Source(text, reported.value, reported)
        complement = find(measure).complement if measure in _COMPLEMENTS else None
        if complement:
            for text, reported in self.numbers.get(Scope(complement, label, average), ()):
                yield _Source(f"1 - {text}", 1 - reported.value, reported)


@dataclass(frozen=True)
class _Source:
    text: str
    value: Fraction
    printed: Printed


def scope_of(key: Key, claim: Claim) -> Scope:
    """What a key speaks of, however it is spelled."""
    if key.measure.symmetric and key.average is None:
        return Scope(key.measure.name, None if claim.binary else key.label)
    bare = key.label is None and key.average is None
    return Scope(key.measure.name, claim.positive if bare else key.label, key.average)


def derivations(key: Key, table: Table) -> Iterator[tuple[Exact, str]]:
    """Values that other printed numbers of the claim give for a key, and which numbers."""
    claim = table.claim
    scope = scope_of(key, claim)
    name, label = scope.measure, scope.label
    if key.measure.symmetric and claim.binary:
        label = claim.positive
    complement = key.measure.complement
    if complement:
        for text, printed in table.numbers.get(replace(scope, measure=complement), ()):
            yield Exact.of(1 - printed.value), f"1 - the printed {text}"
    for needs, formula in _formulas(key.measure):
        found = [list(_sources(table, need, label, scope)) for need in needs]
        for sources in product(*found):
            value = formula(*(source.value for source in sources))
            if value is not None:
                yield _exact(value), _said(sources, scope)
    if name == "kappa":
        yield from _kappa(table)
    yield from _averages(key, scope, table)


def _sources(table: Table, need: str, label: str | None, scope: Scope) -> Iterator[_Source]:
    if find(need).symmetric:
        return table.values(need, None, None)
    return table.values(need, label, scope.average)


def _said(sources: Sequence[_Source], scope: Scope) -> str:
    said = "the printed " + " and ".join(source.text for source in sources)
    if scope.average in ("macro", "weighted") and len(sources) > 1:
        said += f" (another definition of the {scope.average} {scope.measure})"
    return said


def _exact(value: Exact | Fraction) -> Exact:
    return value if isinstance(value, Exact) else Exact.of(value)


# -- averages over classes -------------------------------------------------------------------------


def _averages(key: Key, scope: Scope, table: Table) -> Iterator[tuple[Exact, str]]:
    """Means of the printed values of all classes, plain or weighted by their rows."""
    claim = table.claim
    bare = scope.label is None and scope.average is None
    name, plain, weighted = scope.measure, scope.average == "macro", scope.average == "weighted"
    if bare and not claim.binary and key.measure.averages:
        plain = weighted = True
    elif bare and name == "balanced_accuracy":
        name, plain = "recall", True
    elif bare and name == "accuracy":
        name, weighted = "recall", True
    elif bare and name == "g_mean" and not claim.binary:
        yield from _geometric(table)
        return
    values = _of_each_class(name, table)
    if values is None:
        return
    if plain:
        mean = sum(values, Fraction(0)) / len(values)
        yield Exact.of(mean), f"the mean of the printed {name} of each class"
    rows = rows_of(claim)
    size = sum(rows.values())
    if weighted and size:
        total = sum(rows[label] * v for label, v in zip(claim.labels, values, strict=True))
        yield (
            Exact.of(Fraction(total) / size),
            f"the printed {name} of each class, weighted by its rows",
        )


def _geometric(table: Table) -> Iterator[tuple[Exact, str]]:
    values = _of_each_class("recall", table)
    if values is not None and all(value > 0 for value in values):
        logs = sum(math.log(value) for value in values)
        yield Exact.near(math.exp(logs / len(values))), "the printed recall of each class"


def _of_each_class(name: str, table: Table) -> list[Fraction] | None:
    """The first printed value of each class; None where one is not printed."""
    labels = table.claim.labels
    found = [next(table.values(name, label, None), None) for label in labels]
    values = [source.value for source in found if source is not None]
    return values if labels and len(values) == len(labels) else None


def _kappa(table: Table) -> Iterator[tuple[Exact, str]]:
    """Kappa from the printed accuracy and the agreement by chance, rounded or not."""
    matrix = table.claim.matrix
    if matrix is None or not matrix.total:
        return
    pairs = zip(matrix.rows, matrix.columns, strict=True)
    chance = Fraction(sum(row * column for row, column in pairs), matrix.total**2)
    for source in table.values("accuracy", None, None):
        unit = source.printed.unit
        for by_chance in (chance, round(chance / unit) * unit):
            if by_chance != 1:
                value = (source.value - by_chance) / (1 - by_chance)
                yield Exact.of(value), f"the printed {source.text} and the agreement by chance"


# -- formulas --------------------------------------------------------------------------------------


def _ratio(top: Fraction, bottom: Fraction) -> Fraction | None:
    return top / bottom if bottom else None


def _root(number: Fraction) -> Exact | None:
    return Exact.root(number) if number >= 0 else None


def _signed_root(a: Fraction, b: Fraction) -> Exact | None:
    found = _root(a * b)
    return found if found is None or a >= 0 else Exact(-found.high, -found.low)


_RATES = ("recall", "specificity")
_BOTH = ("precision", "recall")

FORMULAS: Mapping[str, Sequence[tuple[tuple[str, ...], Formula]]] = {
    "f1": ((("jaccard",), lambda j: _ratio(2 * j, 1 + j)),),
    "jaccard": (
        (_BOTH, lambda p, r: _ratio(p * r, p + r - p * r)),
        (("f1",), lambda f: _ratio(f, 2 - f)),
    ),
    "fowlkes_mallows": ((_BOTH, lambda p, r: _root(p * r)),),
    "balanced_accuracy": ((_RATES, lambda r, s: (r + s) / 2),),
    "g_mean": ((_RATES, lambda r, s: _root(r * s)),),
    "informedness": ((_RATES, lambda r, s: r + s - 1),),
    "markedness": ((("precision", "negative_predictive_value"), lambda p, v: p + v - 1),),
    "mcc": ((("informedness", "markedness"), _signed_root),),
    "positive_likelihood_ratio": ((_RATES, lambda r, s: _ratio(r, 1 - s)),),
    "negative_likelihood_ratio": ((_RATES, lambda r, s: _ratio(1 - r, s)),),
    "diagnostic_odds_ratio": (
        (_RATES, lambda r, s: _ratio(r * s, (1 - r) * (1 - s))),
        (("positive_likelihood_ratio", "negative_likelihood_ratio"), _ratio),
    ),
}  # fmt: skip

_COMPLEMENTS = frozenset(
    {"accuracy", "precision", "recall", "specificity", "negative_predictive_value"}
)
_SWAPS = frozenset({"precision", "recall", "specificity", "negative_predictive_value"})


def _formulas(measure: Measure) -> Iterator[tuple[tuple[str, ...], Formula]]:
    name = measure.name
    if name.startswith("f") and name[1:].replace(".", "", 1).isdecimal():
        weight = Fraction(name[1:]) ** 2
        yield _BOTH, lambda p, r: _ratio((1 + weight) * p * r, weight * p + r)
    yield from FORMULAS.get(name, ())
