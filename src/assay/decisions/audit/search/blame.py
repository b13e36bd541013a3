"""Which numbers are to blame where they can't all be true: the smallest ways of mending a claim."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

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

    >>> found = blame(frozenset({1, 2, 3}), lambda some: not {1, 3} <= some)
    >>> found.wrong, [sorted(each) for each in found.conflicts]
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
        found = []
        for tried, each in enumerate(_meeting(contradictions)):
            if tried >= _MOST_CORRECTIONS:
                return (), tuple(contradictions)
            if not possible(numbers - each):
                contradictions.append(smallest(numbers - each, possible))
                break
            found.append(each)
        else:
            return tuple(found), tuple(contradictions)


def _meeting(contradictions: list[Numbers]) -> Iterator[Numbers]:
    """The sets of fewest numbers that have one of every contradiction."""
    members = sorted(frozenset[int]().union(*contradictions))
    for size in range(1, len(members) + 1):
        found = False
        for each in map(frozenset, itertools.combinations(members, size)):
            if all(each & contradiction for contradiction in contradictions):
                found = True
                yield each
        if found:
            return


def smallest(numbers: Numbers, possible: Possible) -> Numbers:
    """A set that is impossible, and possible without any of its members."""
    minimal = numbers
    for i in sorted(numbers, reverse=True):
        if not possible(minimal - {i}):
            minimal -= {i}
    return minimal
