"""Two classes without a whole matrix: can any matrix give these numbers together?"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from assay.decisions.audit.claim import Claim
from assay.decisions.audit.keys import Key, key_of, measures_of
from assay.decisions.audit.printed import Printed, decimal, exact
from assay.decisions.audit.result import Verdict
from assay.decisions.audit.search.blame import Numbers
from assay.decisions.audit.search.bonds import Bonds, Fit, together
from assay.decisions.audit.search.boxes import Found, Matrices, Search
from assay.decisions.audit.search.cells import Known, Region, known_of, region_of
from assay.decisions.audit.search.identities import BETWEEN, Classes
from assay.decisions.audit.search.judging import Verdicts, judge_together
from assay.decisions.audit.search.numbers import Given, Number, in_four_cells, numbers_of
from assay.decisions.audit.search.ways import ByFormula, ByScores, Way, fills_undefined
from assay.formula import cells, evaluate, proportion
from assay.measures import PREVALENCE

_COMPARED = 256
# A claim with more contradictions than so many questions tell apart is not told apart.
_MOST_QUESTIONS, _MOST_UNSEARCHED = 200, 40
_ORDER = ("TN", "FP", "FN", "TP")


def judge_binary(claim: Claim, given: Given, *, may_be_average: bool = False) -> Verdicts:
    """The numbers of a claim of two classes, judged against each other and what is known.

    ``may_be_average`` where nothing tells that there are two classes at all.
    """
    known, notes = known_of(claim)
    numbers = numbers_of(claim, given, claim.positive, claim.labels)
    judge = TwoClasses(known, numbers, _bonds(claim, known, numbers, may_be_average=may_be_average))
    judge.settle_conventions()
    found = judge_together(numbers, judge)
    notes = (*notes, *judge.notes(found.kept))
    return Verdicts(found.judged, found.conflicts, notes, found.kept)


def _bonds(
    claim: Claim, known: Known, numbers: Sequence[Number], *, may_be_average: bool
) -> list[Bonds]:
    """The numbers as identities bind them: as they stand, then by each convention."""
    shares = {}
    if known.n and known.positives is not None and known.negatives is not None:
        rows = (known.negatives, known.positives)
        shares = {label: r / known.n for label, r in zip(claim.labels, rows, strict=True)}
    of = partial(Bonds.of, claim, numbers, Classes(claim.labels), claim.positive, shares=shares)
    found = [of()]
    named = {number.key.spelled for number in numbers}
    for convention in ("weighted", "macro"):
        words = f"{convention} averages over both classes"
        found += [
            of(convention=convention, named=partial(_not_of_one_class, named), words=words),
            of(convention=convention, words=words),
        ]
    if may_be_average:
        found.append(Bonds.of(claim, numbers, Classes(), None, words="averages over classes"))
    if region_of(known) is not None:
        # Beside counts each number may be read by itself.
        found.append(of(convention=BETWEEN, words="averages of one kind or another"))
    return found


def _not_of_one_class(named: Set[str], number: Number) -> bool:
    """A detection rate is of one class where the recall beside it is an average; so is a far."""
    key = number.key
    own = key.spelled == key.measure.name
    shared = len(list(measures_of(key))) > 1
    return own or not (shared or key.measure.name in named)


@dataclass(frozen=True)
class _Solution:
    """Matrices that give the numbers that hold together, and the best of them as an example."""

    found: Found
    best: dict[str, int]

    @property
    def only(self) -> bool:
        return self.found.complete and len(self.found.matrices) == 1

    @property
    def matrices(self) -> Matrices:
        return self.found.matrices


class TwoClasses:
    """Judges by the search, and by identities where the search can't decide."""

    def __init__(self, known: Known, numbers: Sequence[Number], bonds: Sequence[Bonds]) -> None:
        self.known = known
        self.numbers = numbers
        self.region: Region | None = region_of(known)
        self._search = None if self.region is None else Search(self.region, in_four_cells)
        self._bonds = list(bonds[:1])
        self._other_bonds = list(bonds[1:])
        self._conventions = False
        self._questions = self._unsearched = 0
        self._fitted: list[Numbers] = []
        self._impossible: list[Numbers] = []
        self._solutions: dict[Numbers, _Solution | None] = {}

    def settle_conventions(self) -> None:
        """Read bare keys as averages too, where nothing else is possible."""
        everything = frozenset(range(len(self.numbers)))
        if self.possible(everything):
            return
        self._conventions = True
        self._fitted, self._impossible, self._solutions = [], [], {}
        first = next((bonds for bonds in self._other_bonds if bonds.possible(everything)), None)
        self._bonds = [*self._bonds, *self._other_bonds] if first is None else [first]

    def possible(self, chosen: Numbers) -> bool:
        """Whether nothing proves that these numbers can't be true together."""
        if any(chosen <= each for each in self._fitted):
            return True
        if any(each <= chosen for each in self._impossible):
            return False
        self._questions += 1
        found = self._questions > _MOST_QUESTIONS or self._possible(chosen)
        (self._fitted if found else self._impossible).append(chosen)
        return found

    def _possible(self, chosen: Numbers) -> bool:
        conditions = self._conditions(chosen, conventions=self._conventions)
        if self._search is not None and self.region is not None:
            region, n = self.region, self.known.n
            for ways in conditions:
                if not any(_can_be_a_ratio(way, region, n) for way in ways):
                    return False
            found = self._search.find(conditions, one=True)
            if found.feasible is not None:
                return found.feasible
        self._unsearched += 1
        return self._unsearched > _MOST_UNSEARCHED or any(
            bonds.possible(chosen) for bonds in self._bonds
        )

    def _conditions(self, chosen: Numbers, *, conventions: bool) -> list[tuple[Way, ...]]:
        found = []
        for i in sorted(chosen):
            ways = self.numbers[i].conditions(chosen, conventions=conventions)
            if ways:
                found.append(ways)
        return found

    def solution(self, kept: Numbers) -> _Solution | None:
        """The matrices of the numbers that hold together, rounded ones before those cut off."""
        if kept not in self._solutions:
            self._solutions[kept] = self._solved(kept)
        return self._solutions[kept]

    def _solved(self, kept: Numbers) -> _Solution | None:
        if self._search is None or not kept:
            return None
        for conventions in (False, True) if self._conventions else (False,):
            conditions = self._conditions(kept, conventions=conventions)
            for rounded in (True, False):
                found = self._search.find(conditions, rounded=rounded)
                if found.feasible:
                    return _Solution(found, self._best(found.matrices, kept))
        return None

    def _best(self, matrices: Matrices, kept: Numbers) -> dict[str, int]:
        """The matrix, of some, that has most numbers correctly rounded."""
        some = np.unique(np.linspace(0, len(matrices) - 1, _COMPARED).astype(int))
        # Of equally good ones the one in the middle: it shows best what the numbers mean.
        some = some[np.argsort(abs(some - len(matrices) // 2), kind="stable")]
        few = matrices[some]
        good = np.zeros(len(few), int)
        for i in kept:
            for rounded in (True, False):
                held = [w.holds(few.seen_by, rounded=rounded) for w in self._ways(i)]
                if held:
                    good += np.logical_or.reduce(held)
        return few.one(int(good.argmax()))

    def _ways(self, i: int) -> list[Way]:
        """The ways in which a matrix itself gives a number."""
        return [
            way for way in self.numbers[i].ways if self._conventions or not way.meaning.convention
        ]

    def _given(self, i: int, best: dict[str, int], *, rounded: bool) -> Way | None:
        """The first meaning of a number that a matrix gives; None where it gives none."""
        one = Matrices({name: np.array([count]) for name, count in best.items()})
        for way in self._ways(i):
            if np.all(way.holds(one.seen_by, rounded=rounded)):
                return way
        return None

    # -- in words ----------------------------------------------------------------------------------

    def fit(self, i: int, kept: Numbers) -> Fit:
        """What the numbers that hold together say of one of them."""
        number, solution = self.numbers[i], self.solution(kept)
        if solution is None or not number.ways:
            return self._bonds[0].fit(i, kept)
        if number.scored:
            return self._scored(number, solution)
        verdict, way = Verdict.CONSISTENT, self._given(i, solution.best, rounded=True)
        if way is None:
            verdict, way = Verdict.ROUNDING, self._given(i, solution.best, rounded=False)
        if not isinstance(way, ByFormula):
            worked = number.follows(kept)
            said = "other numbers give it" if worked is None else f"as {worked.words} gives"
            return Fit(Verdict.ROUNDING, None, said)
        said = self._said(way, solution, others=len(kept) > 1)
        if verdict is Verdict.ROUNDING:
            said += ", cut off rather than rounded"
        if way.meaning.words:
            said += f"; read as the {way.meaning.words}"
        value = None
        if solution.only:
            found = exact(in_four_cells(way.quantity), solution.best)
            value = None if found is None else float(found)
        return Fit(verdict, value, said)

    @staticmethod
    def _said(way: ByFormula, solution: _Solution, *, others: bool) -> str:
        with_others = " with the other numbers" if others else ""
        if solution.only:
            value = exact(in_four_cells(way.quantity), solution.best)
            shown = "undefined" if value is None else decimal(value, way.printed)
            shown += " (libraries print 0 or 1 then)" if value is None else ""
            return f"{shown}, in the only matrix that gives the numbers"
        if solution.found.complete:
            return f"{len(solution.matrices):,} matrices give it{with_others}"
        return f"many matrices give it{with_others}"

    @staticmethod
    def _scored(number: Number, solution: _Solution) -> Fit:
        low, high = 0.0, 1.0
        for way in number.ways:
            if isinstance(way, ByScores):
                ends = [
                    None
                    if q is None
                    else evaluate(q.expression, solution.matrices.seen_by(q.label))
                    for q in (way.low, way.high)
                ]
                low = low if ends[0] is None else float(np.nanmin(ends[0]))
                high = high if ends[1] is None else float(np.nanmax(ends[1]))
        said = f"the operating point allows {low:.4f} to {high:.4f}, and no more can be told"
        return Fit(Verdict.UNDETERMINED, None, said)

    def why(self, members: Numbers) -> str:
        """Why some numbers can't be true together."""
        size = len(members)
        counted = self.known.positives is not None and self.known.negatives is not None
        if not counted and not any(bonds.possible(members) for bonds in self._bonds):
            return self._bonds[0].why(members)
        if size == 1 and not counted and self.known.n is not None:
            return f"no share of {self.known.told} is printed so"
        return f"no matrix of {self.known.told} gives {together(size)}"

    def instead(self, i: int, kept: Numbers) -> tuple[float | None, str]:
        """The value that the others give for a number that can't be right, and in words."""
        number, solution = self.numbers[i], self.solution(kept)
        ways = [way for way in number.ways if isinstance(way, ByFormula)]
        if solution is None or not solution.found.complete or not ways:
            return None, self._bonds[0].allowed(i, kept)
        way = ways[0]
        if solution.only:
            value = exact(in_four_cells(way.quantity), solution.best)
            if value is None:
                return None, "it is undefined in the only matrix that the others allow"
            return float(value), f"the others give {decimal(value, way.printed)}"
        values = evaluate(way.quantity.expression, solution.matrices.seen_by(way.quantity.label))
        if np.isnan(values).all():
            return None, ""
        low, high = float(np.nanmin(values)), float(np.nanmax(values))
        return None, f"the others allow {low:.6g} to {high:.6g}"

    def notes(self, kept: Numbers) -> tuple[str, ...]:
        """The convention by which numbers were read, and the matrix that gives them, or one."""
        notes = []
        solution = self.solution(kept)
        if self._conventions and solution is None and len(self._bonds) == 1:
            notes.append(f"the numbers were read as {self._bonds[0].words}")
        if solution is None:
            return tuple(notes)
        given = {
            i
            for i in kept
            if self.numbers[i].scored or self._given(i, solution.best, rounded=False)
        }
        rest = [self.numbers[i].key.text for i in sorted(kept - given) if self.numbers[i].ways]
        what = "the numbers" if len(kept) == len(self.numbers) else "the numbers that can be right"
        if rest:
            what += f" but for {', '.join(rest)}"
        shown = ", ".join(f"{cell.lower()} = {solution.best[cell]:,}" for cell in _ORDER)
        told = self.known.told
        if solution.only:
            notes.append(f"{shown} is the only matrix of {told} that gives {what}")
        else:
            complete = solution.found.complete
            count = f"{len(solution.matrices):,}" if complete else "many"
            notes.append(f"{count} matrices of {told} give {what}, for example {shown}")
        return tuple(notes)


def _can_be_a_ratio(way: Way, region: Region, n: int | None) -> bool:
    """Whether a share of rows can be printed so.

    Where the rows that it is a share of are known, some count of them must give the digits; where
    only all rows are, some fraction with no larger denominator must.
    """
    share = proportion(in_four_cells(way.quantity)) if isinstance(way, ByFormula) else None
    if share is None:
        return True
    where = way.printed.window(rounded=False)
    rows = region.fixed_total(sorted(cells(share.trials)))
    if rows is not None:
        return bool(where.counts(rows)) if rows else fills_undefined(where)
    return n is None or where.smallest_denominator() <= n


def matrices_of(claim: Claim) -> list[dict[str, int]]:
    """The matrices of known supports that give the numbers of a claim; none if there are many."""
    given: list[tuple[Key, Printed]] = []
    for text, reported in claim.reported.items():
        key = key_of(text)
        if key.statistic is None and isinstance(reported, Printed):
            given.append((key, reported))
    known, _ = known_of(claim)
    numbers = [n for n in numbers_of(claim, given, claim.positive, claim.labels) if n.ways]
    region = region_of(known)
    if known.positives is None or known.negatives is None or not numbers or region is None:
        return []
    conditions = [[w for w in n.ways if not w.meaning.convention] for n in numbers]
    found = Search(region, in_four_cells).find(conditions)
    if not found.complete or len(found.matrices) > _COMPARED:
        return []
    return [found.matrices.one(i) for i in range(len(found.matrices))]


def prevalence_of(claim: Claim) -> tuple[float, float] | None:
    """Between which shares of positives the numbers of a claim hold, read as the positive's.

    None where they can't be read so, or say nothing of it.
    """
    labels = claim.labels if len(claim.labels) == 2 else ("negative", "positive")
    two = replace(claim, labels=labels, positive=claim.positive or labels[1])
    given = [
        (key_of(text), reported)
        for text, reported in claim.reported.items()
        if isinstance(reported, Printed) and key_of(text).statistic is None and key_of(text).bare
    ]
    numbers = numbers_of(two, given, two.positive, labels)
    bonds = Bonds.of(two, numbers, Classes(labels), two.positive)
    left = bonds.left(frozenset(range(len(numbers))))
    name = f"{labels[1]}|{PREVALENCE.name}"
    spans = [box[name] for box in left if name in box]
    if not spans:
        return None
    found = min(low for low, _ in spans), max(high for _, high in spans)
    return found if found[0] > 0 or found[1] < 1 else None
