"""The reported numbers of a claim, with the ways in which a matrix of its labels may give each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from assay.decisions.audit.claim import Claim
from assay.decisions.audit.derived import Derivation, Table, derivations, rank
from assay.decisions.audit.keys import Key, Meaning, meanings
from assay.decisions.audit.printed import Printed, as_float, same_digits
from assay.decisions.audit.search.blame import Numbers
from assay.decisions.audit.search.ways import ByFormula, ByRounded, ByScores, Way
from assay.formula import FN, FP, TN, TP, Expression, over_two_classes, substitute
from assay.inference import Quantity

Given = Sequence[tuple[Key, Printed]]
_OTHER = {"TP": TN, "TN": TP, "FP": FN, "FN": FP}
# Sources may have been worked out from rounded numbers themselves.
_REACH = 2


@dataclass(frozen=True)
class Worked:
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
    worked: tuple[Worked, ...] = ()

    @property
    def scored(self) -> bool:
        """Whether a matrix gives only bounds of it."""
        return self.key.measure.formula is None

    def follows(self, chosen: Numbers) -> Worked | None:
        """How other numbers, taken to be right, give it as printed; None where they don't."""
        for each in self.worked:
            if each.gives and each.sources <= chosen:
                return each
        return None

    def conditions(self, chosen: Numbers, *, conventions: bool) -> tuple[Way, ...]:
        """The ways in which it may be right beside some other numbers; none where it is anyway."""
        if not self.ways or self.follows(chosen) is not None:
            return ()
        found = [way for way in self.ways if conventions or not way.meaning.convention]
        for each in self.worked:
            if each.gives and not each.sources <= chosen:
                found += [way for way in each.ways if conventions or not way.meaning.convention]
        return tuple(found)


def numbers_of(
    claim: Claim, given: Given, positive: str | None, labels: Sequence[str]
) -> tuple[Number, ...]:
    """The numbers of a claim as conditions on a matrix of these labels."""
    places = {key.text: i for i, (key, _) in enumerate(given)}
    read = {key.text: meanings(key, positive) for key, _ in given}
    table = Table.of(claim, list(given))
    ranks = {key.text: rank(key, claim) for key, _ in given}
    found = []
    for key, reported in given:
        spelled = claim.spellings(reported, key)
        ways = tuple(
            way
            for meaning in read[key.text]
            for number in spelled
            for way in _ways(meaning, number, labels)
        )
        worked = tuple(
            Worked(
                each,
                frozenset(places[source.key] for source in each.sources),
                _gives(each, spelled),
                tuple(_rounded(each, key, read, spelled, labels)),
            )
            for each in derivations(key, table.without(key))
            if all(ranks[source.key] < ranks[key.text] for source in each.sources)
        )
        found.append(Number(key, reported, ways, worked))
    return tuple(found)


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
            continue
        for number in spelled:
            yield ByRounded(own, derivation.expression, sources, reach, number)


def _by(meaning: Meaning, convention: str | None) -> bool:
    if convention is None:
        return not meaning.convention
    return meaning.convention and meaning.average == convention


@lru_cache(maxsize=4096)
def in_four_cells(quantity: Quantity) -> Expression:
    """A formula of one of two labels, or of both, in the four cells of the positive one."""
    expression = quantity.expression
    if quantity.label == 1:
        return expression
    if quantity.label == 0:
        return substitute(expression, _OTHER)
    return over_two_classes(expression)
