"""Which numbers can't be true together: a smallest set, and whether one of them is to blame."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

Numbers: TypeAlias = frozenset[int]
Possible: TypeAlias = Callable[[Numbers], bool]

_MOST_QUESTIONS = 5000


@dataclass(frozen=True)
class Conflict:
    """Numbers that contradict each other, and the one to blame, where that can be told."""

    members: Numbers
    culprit: int | None = None

    @property
    def wrong(self) -> Numbers:
        """The members that are held to be wrong."""
        return self.members if self.culprit is None else frozenset({self.culprit})


def conflicts(numbers: Numbers, possible: Possible) -> tuple[Conflict, ...]:
    """Sets that contradict themselves, until those left over can be true together.

    A number is to blame where every smallest way (of one number, else of two) to mend the rest
    leaves it out. ``possible`` must be False only for what is proven impossible.
    """
    found = []
    left = numbers
    while left and not possible(left):
        conflict = _blamed(left, possible) or Conflict(smallest(left, possible))
        found.append(conflict)
        left -= conflict.wrong
    return tuple(found)


def _blamed(left: Numbers, possible: Possible) -> Conflict | None:
    for size in (1, 2):
        repairs = [each for each in _subsets(left, size) if possible(left - each)]
        if repairs:
            always = frozenset.intersection(*repairs)
            if not always:
                return None
            culprit = min(always)
            # With all else of one repair left out, every contradiction holds the culprit.
            rest = left - (repairs[0] - {culprit})
            return Conflict(smallest(rest, possible), culprit)
    return None


def smallest(numbers: Numbers, possible: Possible) -> Numbers:
    """A smallest set that is impossible."""
    minimal = numbers
    for i in sorted(numbers):
        if not possible(minimal - {i}):
            minimal -= {i}
    smaller = (each for size in range(1, len(minimal)) for each in _subsets(numbers, size))
    for subset in itertools.islice(smaller, _MOST_QUESTIONS):
        if not possible(subset):
            return subset
    return minimal


def _subsets(numbers: Numbers, size: int) -> Iterator[Numbers]:
    return map(frozenset, itertools.combinations(sorted(numbers), size))
