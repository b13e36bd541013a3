"""Reported numbers bound by identities, where no counts are told."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from assay.decisions.audit.claim import Claim, Key
from assay.decisions.audit.identities import Identities, identities_of
from assay.decisions.audit.judge import spellings
from assay.decisions.audit.printed import Printed
from assay.decisions.audit.search.network import WIDER, Impossible, Range, Relation, settle
from assay.decisions.audit.search.number import Window, window
from assay.decisions.audit.search.quantity import PI, Classes, Quantity, quantities_of

_MOST_CHOICES = 4


@dataclass(frozen=True)
class Meaning:
    """A quantity and the range that the printed digits leave for it."""

    quantity: Quantity
    range: Range
    printed: Printed

    def window(self, *, rounded: bool) -> Window:
        """Where the quantity itself may lie, exactly."""
        where = window(self.printed, rounded=rounded)
        if self.quantity.complement:
            return Window(1 - where.high, 1 - where.low, where.closed)
        return where


@dataclass(frozen=True)
class Bonds:
    """Reported numbers as ranges of quantities, each with all that it may mean.

    ``positive`` is the label that bare keys speak of; without labels they are averages over
    classes. ``shares`` are those of the classes where they are known.
    """

    classes: Classes
    positive: str | None
    meanings: Sequence[Sequence[Meaning]]
    shares: Mapping[str, float]

    @classmethod
    def of(
        cls,
        claim: Claim,
        numbers: Sequence[tuple[Key, Printed]],
        classes: Classes,
        positive: str | None,
        shares: Mapping[str, float] | None = None,
    ) -> Bonds:
        """The numbers of a claim."""
        meanings = [
            tuple(
                Meaning(quantity, _range(spelled, quantity), spelled)
                for quantity in quantities_of(key, classes, positive)
                for spelled in spellings(reported, key, claim)
            )
            for key, reported in numbers
        ]
        return cls(classes, positive, meanings, shares or {})

    @cached_property
    def _identities(self) -> Identities:
        wanted = [each.quantity.name for found in self.meanings for each in found]
        return identities_of(self.classes, wanted, self.shares)

    @cached_property
    def _found(self) -> dict[frozenset[int], list[dict[str, Range]]]:
        """What was asked before."""
        return {}

    def left(self, chosen: frozenset[int]) -> list[dict[str, Range]]:
        """What these numbers leave of each quantity, once for each way to read them."""
        if chosen not in self._found:
            self._found[chosen] = self._settled(chosen)
        return self._found[chosen]

    def _settled(self, chosen: frozenset[int]) -> list[dict[str, Range]]:
        found = []
        bound = [self.meanings[i] for i in sorted(chosen) if self.meanings[i]]
        ways = math.prod(len(each) for each in bound)
        # A key with many readings says little; with too many ways it is passed over.
        for each in sorted(bound, key=len, reverse=True):
            if ways <= _MOST_CHOICES:
                break
            ways //= len(each)
            bound.remove(each)
        for reading in itertools.product(*bound):
            box = dict(self._identities.ranges)
            try:
                for meaning in reading:
                    _meet(box, meaning)
                found.append(settle(box, self._identities.relations))
            except Impossible:
                continue
        return found

    def possible(self, chosen: frozenset[int]) -> bool:
        """Whether nothing proves that these numbers can't be true together."""
        return bool(self.left(chosen))

    def prevalence(self, chosen: frozenset[int]) -> Range:
        """The shares of the positive label that these numbers leave."""
        if self.positive is None:
            return 0.0, 1.0
        found = [box[f"{self.positive}|{PI}"] for box in self.left(chosen)]
        if not found:
            return 1.0, 0.0
        return min(low for low, _ in found), max(high for _, high in found)

    def left_for(self, i: int, others: frozenset[int]) -> Range | None:
        """What the other numbers leave for one number; None where they are impossible."""
        spans = [
            _turned(box[meaning.quantity.name], meaning.quantity)
            for box in self.left(others - {i})
            for meaning in self.meanings[i]
        ]
        if not spans:
            return None
        return min(low for low, _ in spans), max(high for _, high in spans)

    def first_range(self, i: int) -> Range:
        """What is left for a number before anything else is known."""
        spans = [
            _turned(self._identities.ranges[meaning.quantity.name], meaning.quantity)
            for meaning in self.meanings[i]
        ]
        return min(low for low, _ in spans), max(high for _, high in spans)

    def identity(self, members: frozenset[int]) -> str:
        """The identity that binds just these numbers, in words; empty where there is none."""
        names = [{each.quantity.name for each in self.meanings[i]} for i in members]
        for relation in self._identities.relations:
            if _binds(relation, names):
                return relation.words
        if len(names) > 1 and len(set.union(*names)) == 1:
            return "they are the same quantity, or 1 minus it"
        return ""


def _binds(relation: Relation, names: Sequence[set[str]]) -> bool:
    bound = {relation.of, *relation.args}
    return (
        len(bound) == len(names)
        and all(name & bound for name in names)
        and bound <= set.union(*names)
    )


def _range(number: Printed, quantity: Quantity) -> Range:
    where = window(number, rounded=False)
    low, high = float(where.low), float(where.high)
    return _turned((low, high), quantity)


def _turned(span: Range, quantity: Quantity) -> Range:
    return (1 - span[1], 1 - span[0]) if quantity.complement else span


def _meet(box: dict[str, Range], meaning: Meaning) -> None:
    low, high = box[meaning.quantity.name]
    slack = WIDER * max(1.0, abs(meaning.range[0]), abs(meaning.range[1]))
    new = max(low, meaning.range[0] - slack), min(high, meaning.range[1] + slack)
    if new[0] > new[1]:
        raise Impossible(meaning.quantity.name)
    box[meaning.quantity.name] = new
