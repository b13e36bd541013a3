"""All binary matrices that a claim leaves open, and which of its numbers they can give together."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from assay.decisions.audit.search.bonds import Bonds
from assay.decisions.audit.search.conflict import Numbers
from assay.decisions.audit.search.integers import can_be_a_ratio
from assay.decisions.audit.search.known import Known, search_known
from assay.decisions.audit.search.matrices import Matrices, fits, fitting
from assay.decisions.audit.search.number import Choice, Number
from assay.decisions.audit.search.plane import Found

_MOST_WAYS = 64
_MOST_SEARCHES = 500
# Where the supports are open, a search is many searches.
_DEARER = 4
_EXAMPLES = 4


class Space:
    """Answers which numbers can be true together; what was found once is not searched again."""

    def __init__(self, known: Known, numbers: Sequence[Number], bonds: Bonds) -> None:
        self.known = known
        self.numbers = numbers
        self.bonds = bonds
        # Sets that some matrix gives, or that nothing contradicts.
        self._fitted: list[Numbers] = []
        self._impossible: list[Numbers] = []
        self._searches = 0

    @cached_property
    def counted(self) -> bool:
        """Whether the supports are known, so that every matrix can be searched."""
        return self.known.positives is not None and self.known.negatives is not None

    def possible(self, chosen: Numbers) -> bool:
        """Whether nothing proves that these numbers can't be true together."""
        if any(chosen <= each for each in self._fitted):
            return True
        if any(each <= chosen for each in self._impossible):
            return False
        if self._searches >= _MOST_SEARCHES:
            return True
        self._searches += 1 if self.counted else _DEARER
        if self._contradict(chosen):
            self._impossible.append(chosen)
            return False
        self._fitted.append(chosen)
        return True

    def _contradict(self, chosen: Numbers) -> bool:
        if not self.counted and not (
            all(self._ratio(i) for i in chosen) and self.bonds.possible(chosen)
        ):
            return True
        found = self.search(chosen, rounded=False, one=True)
        if found.feasible:
            self._remember(found.matrices)
            return False
        if found.feasible is False:
            return True
        return self.counted and not self.bonds.possible(chosen)

    def _ratio(self, i: int) -> bool:
        return any(can_be_a_ratio(choice, self.known) for choice in self.numbers[i].choices)

    def _remember(self, matrices: Matrices) -> None:
        """Which of all numbers a few of the matrices give: many questions are answered by that."""
        for i in np.linspace(0, len(matrices) - 1, min(_EXAMPLES, len(matrices))).astype(int):
            cells = matrices.cells(int(i))
            self._fitted.append(
                frozenset(
                    k
                    for k, number in enumerate(self.numbers)
                    if self.reading(number, cells, rounded=False) is not None
                )
            )

    @staticmethod
    def reading(number: Number, cells: dict[str, int], *, rounded: bool) -> Choice | None:
        """The first meaning of a number that a matrix gives; None where it gives none."""
        for choice in number.choices:
            if fits(cells, choice.bounds(rounded=rounded)):
                return choice
        return None

    def search(self, chosen: Numbers, *, rounded: bool, one: bool = False) -> Found:
        """The matrices that give all of these numbers."""
        numbers = [self.numbers[i] for i in sorted(chosen)]
        prevalence = (0.0, 1.0)
        if not self.counted and self.known.n is not None:
            prevalence = self.bonds.prevalence(chosen)
        ways = math.prod(len(number.choices) for number in numbers)
        pruning = sorted(numbers, key=lambda number: len(number.choices))
        while ways > _MOST_WAYS:
            ways //= len(pruning.pop().choices)
        found: list[Matrices] = []
        complete = True
        for way in itertools.product(*(number.choices for number in pruning)):
            bounds = [bound for choice in way for bound in choice.bounds(rounded=rounded)]
            here = search_known(self.known, bounds, prevalence, one=one)
            complete &= here.complete
            kept = here.matrices
            for number in numbers:
                if number not in pruning:
                    kept = _any_of(kept, number, rounded=rounded)
            found.append(kept)
            if one and len(kept):
                return Found(kept, complete=False)
        return Found(Matrices.joined(found), complete)


def _any_of(matrices: Matrices, number: Number, *, rounded: bool) -> Matrices:
    """The matrices that give a number in any of its meanings."""
    return Matrices.joined(
        [fitting(matrices, choice.bounds(rounded=rounded))[0] for choice in number.choices]
    )
