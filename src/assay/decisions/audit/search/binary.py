"""Two classes without a whole matrix: can any matrix give these numbers together?"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from assay.decisions.audit.claim import Claim, Key, key_of
from assay.decisions.audit.judge import decimal
from assay.decisions.audit.printed import Printed
from assay.decisions.audit.result import Judged, Verdict
from assay.decisions.audit.search.bonds import Bonds
from assay.decisions.audit.search.conflict import Conflict, Numbers
from assay.decisions.audit.search.judging import Fit, Given, judge_together, together
from assay.decisions.audit.search.known import known_of
from assay.decisions.audit.search.matrices import Matrices
from assay.decisions.audit.search.number import Choice, Number, number_of
from assay.decisions.audit.search.quantity import Classes
from assay.decisions.audit.search.space import Space
from assay.decisions.audit.search.tested import by_identities, range_in_words, why_of_identities
from assay.decisions.audit.values import exact

_COMPARED = 256


def judge_binary(claim: Claim, given: Given) -> tuple[dict[str, Judged], tuple[str, ...]]:
    """The numbers of a claim of two classes, judged against each other and what is known."""
    known, notes = known_of(claim)
    numbers = [number_of(key, reported, claim) for key, reported in given]
    shares = {}
    if known.n and known.positives is not None and known.negatives is not None:
        rows = (known.negatives, known.positives)
        shares = {label: r / known.n for label, r in zip(claim.labels, rows, strict=True)}
    bonds = Bonds.of(claim, given, Classes(claim.labels), claim.positive, shares)
    judge = _Binary(Space(known, numbers, bonds), given)
    judged, _, kept = judge_together(claim, given, judge)
    return judged, (*notes, *judge.notes(kept))


@dataclass(frozen=True)
class _Solution:
    """Matrices that give the numbers that hold together, the best of them first in line."""

    matrices: Matrices
    complete: bool
    best: dict[str, int]

    @property
    def only(self) -> bool:
        return self.complete and len(self.matrices) == 1


class _Binary:
    """Judges by the search, and by identities where the search can't decide."""

    def __init__(self, space: Space, given: Given) -> None:
        self._space = space
        self._given = given
        self._others = " with the other numbers" if len(given) > 1 else ""
        self._solutions: dict[Numbers, _Solution | None] = {}

    def possible(self, chosen: Numbers) -> bool:
        return self._space.possible(chosen)

    def _solution(self, kept: Numbers) -> _Solution | None:
        if kept not in self._solutions:
            self._solutions[kept] = self._solve(kept)
        return self._solutions[kept]

    def _solve(self, kept: Numbers) -> _Solution | None:
        for rounded in (True, False):
            found = self._space.search(kept, rounded=rounded)
            if found.feasible:
                best = self._best(found.matrices, kept)
                return _Solution(found.matrices, found.complete, best)
        return None

    def _best(self, matrices: Matrices, kept: Numbers) -> dict[str, int]:
        """The matrix, of some, that has most numbers correctly rounded."""
        some = np.unique(np.linspace(0, len(matrices) - 1, _COMPARED).astype(int))
        # Of equally good ones the one in the middle: it shows best what the numbers mean.
        some = some[np.argsort(abs(some - len(matrices) // 2), kind="stable")]

        def rounded(cells: dict[str, int]) -> int:
            numbers = (self._space.numbers[i] for i in kept)
            return sum(Space.reading(n, cells, rounded=True) is not None for n in numbers)

        return max((matrices.cells(int(i)) for i in some), key=rounded)

    def fit(self, i: int, kept: Numbers) -> Fit:
        number = self._space.numbers[i]
        solution = self._solution(kept)
        if solution is None or not number.choices:
            return by_identities(self._space.bonds, self._given, i, kept)
        if not number.counted:
            return self._scored(number, solution)
        choice = Space.reading(number, solution.best, rounded=True)
        verdict = Verdict.CONSISTENT
        if choice is None:
            verdict = Verdict.ROUNDING
            choice = Space.reading(number, solution.best, rounded=False) or number.choices[0]
        said = self._said(choice, solution)
        if verdict is Verdict.ROUNDING:
            said += ", cut off rather than rounded"
        if len(number.choices) > 1 and choice.reading.of:
            said += f"; read as {choice.reading.of}"
        value = _value(choice, solution.best) if solution.only else None
        return Fit(verdict, value, said)

    def _said(self, choice: Choice, solution: _Solution) -> str:
        if solution.only:
            value = exact(choice.reading.expression, solution.best)
            shown = "" if value is None else f"{decimal(value, choice.printed)}, "
            return f"{shown}in the only matrix that gives the numbers"
        if solution.complete:
            return f"{len(solution.matrices):,} matrices give it{self._others}"
        return f"many matrices give it{self._others}"

    def _scored(self, number: Number, solution: _Solution) -> Fit:
        reading = number.choices[0].reading
        low = float(np.nanmin(solution.matrices.values(reading.expression)))
        above = reading.above or reading.expression
        high = float(np.nanmax(solution.matrices.values(above)))
        said = f"the operating point allows {low:.4f} to {high:.4f}, and no more can be told"
        return Fit(Verdict.UNDETERMINED, None, said)

    def why(self, conflict: Conflict) -> str:
        size = len(conflict.members)
        if self._space.counted:
            return f"no matrix of {self._space.known.told} gives {together(size)}"
        if not self._space.bonds.possible(conflict.members):
            return why_of_identities(self._space.bonds, conflict)
        if size == 1 and self._space.known.n is not None:
            return f"no share of {self._space.known.told} is printed so"
        return f"no matrix of {self._space.known.told} gives {together(size)}"

    def instead(self, i: int, kept: Numbers) -> tuple[float | None, str]:
        number = self._space.numbers[i]
        solution = self._solution(kept) if kept else None
        if solution is None or not solution.complete or not number.choices:
            return None, range_in_words(self._space.bonds, i, kept)
        choice = number.choices[0]
        if solution.only and number.counted:
            value = exact(choice.reading.expression, solution.best)
            if value is None:
                return None, "it is undefined in the only matrix that the others allow"
            return float(value), f"the others give {decimal(value, choice.printed)}"
        reading = choice.reading
        values = solution.matrices.values(reading.expression)
        above = values if reading.above is None else solution.matrices.values(reading.above)
        if np.isnan(values).all():
            return None, ""
        low, high = float(np.nanmin(values)), float(np.nanmax(above))
        return None, f"the others allow {low:.6g} to {high:.6g}"

    def notes(self, kept: Numbers) -> tuple[str, ...]:
        """The matrix that was found, or one of them."""
        solution = self._solution(kept) if kept else None
        if solution is None:
            return ()
        shown = ", ".join(f"{cell.lower()} = {solution.best[cell]:,}" for cell in _ORDER)
        told = self._space.known.told
        if solution.only:
            return (f"{shown} is the only matrix of {told} that gives the numbers",)
        count = f"{len(solution.matrices):,}" if solution.complete else "many"
        return (f"{count} matrices of {told} give the numbers, for example {shown}",)


_ORDER = ("TN", "FP", "FN", "TP")


def _value(choice: Choice, cells: dict[str, int]) -> float:
    value = exact(choice.reading.expression, cells)
    return math.nan if value is None else float(value)


def matrices_of(claim: Claim) -> list[dict[str, int]]:
    """The matrices of known supports that give the numbers of a claim; none if there are many."""
    given: list[tuple[Key, Printed]] = []
    for text, reported in claim.reported.items():
        key = key_of(text)
        if key.statistic is None and isinstance(reported, Printed):
            given.append((key, reported))
    known, _ = known_of(claim)
    numbers = [number_of(key, reported, claim) for key, reported in given]
    numbers = [number for number in numbers if number.choices]
    if known.positives is None or known.negatives is None or not numbers:
        return []
    space = Space(known, numbers, Bonds.of(claim, given, Classes(claim.labels), claim.positive))
    found = space.search(frozenset(range(len(numbers))), rounded=False)
    if not found.complete or len(found.matrices) > _COMPARED:
        return []
    return [found.matrices.cells(i) for i in range(len(found.matrices))]
