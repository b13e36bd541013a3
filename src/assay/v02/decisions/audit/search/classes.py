"""Numbers of two or more classes without a whole matrix: can any matrix give them together?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from assay.v02.decisions.audit.claim import Claim, Key, key_of, measures_of
from assay.v02.decisions.audit.counts import total_of
from assay.v02.decisions.audit.search.bonds import Bonds, Fit, Verdicts, judge_together, together
from assay.v02.decisions.audit.search.identities import BETWEEN, Classes
from assay.v02.decisions.audit.search.matrices import (
    ClassMatrices,
    KnownCells,
    Matrices,
    Region,
    Search,
    SearchResult,
    class_matrices_of,
    known_of,
    region_of,
)
from assay.v02.decisions.audit.search.numbers import (
    Booleans,
    ByFormula,
    ByScores,
    Given,
    Number,
    Numbers,
    Way,
    fills_undefined,
    in_four_cells,
    numbers_of,
    one_of,
)
from assay.v02.decisions.audit.verdicts import NumberVerdict, Printed, decimal, exact
from assay.v02.formula import cells, proportion
from assay.v02.number_text import fixed, significant

_COMPARED = 256
# A claim with more contradictions than so many questions tell apart is not told apart.
_MOST_OF_TWO, _MOST_UNSEARCHED = 200, 40
_ORDER = ("TN", "FP", "FN", "TP")


def judge_binary(claim: Claim, given: Given, *, may_be_average: bool = False) -> Verdicts:
    """The numbers of a claim of two classes, judged against each other and what is known.

    ``may_be_average`` where nothing tells that there are two classes at all.
    """
    known, notes = known_of(claim)
    numbers = numbers_of(claim, given, claim.positive, claim.labels)
    judge = TwoClasses(known, numbers, _bonds(claim, known, numbers, may_be_average=may_be_average))
    judge.settle_conventions()
    verdicts = judge_together(numbers, judge)
    return replace(verdicts, notes=(*notes, *judge.notes(verdicts.kept)))


def _bonds(
    claim: Claim, known: KnownCells, numbers: Sequence[Number], *, may_be_average: bool
) -> list[Bonds]:
    """The numbers as identities bind them: as they stand, then by each convention."""
    shares = {}
    if known.n and known.positives is not None and known.negatives is not None:
        rows = (known.negatives, known.positives)
        shares = {label: r / known.n for label, r in zip(claim.labels, rows, strict=True)}
    of = partial(Bonds.of, claim, numbers, Classes(claim.labels), claim.positive, shares=shares)
    bonds = [of()]
    named = {number.key.spelled for number in numbers}
    for convention in ("weighted", "macro"):
        words = f"{convention} averages over both classes"
        bonds += [
            of(convention=convention, named=partial(_not_of_one_class, named), words=words),
            of(convention=convention, words=words),
        ]
    if may_be_average:
        bonds.append(Bonds.of(claim, numbers, Classes(), None, words="averages over classes"))
    if region_of(known) is not None:
        # Beside counts each number may be read by itself.
        bonds.append(of(convention=BETWEEN, words="averages of one kind or another"))
    return bonds


def _not_of_one_class(named: Set[str], number: Number) -> bool:
    """A detection rate is of one class where the recall beside it is an average; so is a far."""
    key = number.key
    own = key.spelled == key.measure.name
    shared = len(list(measures_of(key))) > 1
    return own or not (shared or key.measure.name in named)


@dataclass(frozen=True)
class _Solution:
    """Matrices that give the numbers that hold together, and the best of them as an example."""

    result: SearchResult
    best: dict[str, int]

    @property
    def only(self) -> bool:
        return self.result.complete and len(self.result.matrices) == 1

    @property
    def matrices(self) -> Matrices:
        return self.result.matrices


class TwoClasses:
    """Judges by the search, and by identities where the search can't decide."""

    def __init__(
        self, known: KnownCells, numbers: Sequence[Number], bonds: Sequence[Bonds]
    ) -> None:
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
        possible = self._questions > _MOST_OF_TWO or self._possible(chosen)
        (self._fitted if possible else self._impossible).append(chosen)
        return possible

    def _possible(self, chosen: Numbers) -> bool:
        conditions = self._conditions(chosen, conventions=self._conventions)
        if self._search is not None and self.region is not None:
            region, n = self.region, self.known.n
            for ways in conditions:
                if not any(_can_be_a_ratio(way, region, n) for way in ways):
                    return False
            result = self._search.find(conditions, one=True)
            if result.feasible is not None:
                return result.feasible
        self._unsearched += 1
        return self._unsearched > _MOST_UNSEARCHED or any(
            bonds.possible(chosen) for bonds in self._bonds
        )

    def _conditions(self, chosen: Numbers, *, conventions: bool) -> list[tuple[Way, ...]]:
        conditions = []
        for i in sorted(chosen):
            ways = self.numbers[i].conditions(chosen, conventions=conventions)
            if ways:
                conditions.append(ways)
        return conditions

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
                result = self._search.find(conditions, rounded=rounded)
                if result.feasible:
                    return _Solution(result, self._best(result.matrices, kept))
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
        verdict, way = NumberVerdict.CONSISTENT, self._given(i, solution.best, rounded=True)
        if way is None:
            verdict, way = NumberVerdict.ROUNDING, self._given(i, solution.best, rounded=False)
        if not isinstance(way, ByFormula):
            worked = number.follows(kept)
            said = "other numbers give it" if worked is None else f"as {worked.words} gives"
            return Fit(NumberVerdict.ROUNDING, None, said)
        said = self._said(way, solution, others=len(kept) > 1)
        if verdict is NumberVerdict.ROUNDING:
            said += ", cut off rather than rounded"
        if way.meaning.words:
            said += f"; read as the {way.meaning.words}"
        value = None
        if solution.only:
            enclosure = exact(in_four_cells(way.quantity), solution.best)
            value = None if enclosure is None else float(enclosure)
        return Fit(verdict, value, said)

    @staticmethod
    def _said(way: ByFormula, solution: _Solution, *, others: bool) -> str:
        with_others = " with the other numbers" if others else ""
        if solution.only:
            value = exact(in_four_cells(way.quantity), solution.best)
            shown = "undefined" if value is None else decimal(value, way.printed)
            shown += " (libraries print 0 or 1 then)" if value is None else ""
            return f"{shown}, in the only matrix that gives the numbers"
        if solution.result.complete:
            return f"{len(solution.matrices):,} matrices give it{with_others}"
        return f"many matrices give it{with_others}"

    @staticmethod
    def _scored(number: Number, solution: _Solution) -> Fit:
        low, high = 0.0, 1.0
        for way in number.ways:
            if isinstance(way, ByScores):
                if way.low is not None:
                    low = float(np.nanmin(solution.matrices.values(way.low)))
                if way.high is not None:
                    high = float(np.nanmax(solution.matrices.values(way.high)))
        said = (
            f"the operating point allows {fixed(low, 4)} to {fixed(high, 4)}, and no more "
            f"can be told"
        )
        return Fit(NumberVerdict.UNDETERMINED, None, said)

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
        if solution is None or not solution.result.complete or not ways:
            return None, self._bonds[0].allowed(i, kept)
        way = ways[0]
        if solution.only:
            value = exact(in_four_cells(way.quantity), solution.best)
            if value is None:
                return None, "it is undefined in the only matrix that the others allow"
            return float(value), f"the others give {decimal(value, way.printed)}"
        values = solution.matrices.values(way.quantity)
        if np.isnan(values).all():
            return None, ""
        low, high = float(np.nanmin(values)), float(np.nanmax(values))
        return None, f"the others allow {significant(low, 6)} to {significant(high, 6)}"

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
            count = f"{len(solution.matrices):,}" if solution.result.complete else "many"
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
    result = Search(region, in_four_cells).find(conditions)
    if not result.complete or len(result.matrices) > _COMPARED:
        return []
    return [result.matrices.one(i) for i in range(len(result.matrices))]


# -- several classes -------------------------------------------------------------------------------

# What more questions would tell apart is not told apart.
_MOST_QUESTIONS = 60
_EVERYTHING = frozenset({"TP", "FP", "FN", "TN"})
_OF_CLASS, _OF_OTHERS = frozenset({"TP", "FN"}), frozenset({"FP", "TN"})


def judge_classes(claim: Claim, given: Given) -> Verdicts:
    """The numbers of a claim of several classes, judged by what binds them."""
    labels = claim.labels or _labels_in(given)
    numbers = numbers_of(claim, given, None, labels)
    return judge_together(numbers, SeveralClasses(claim, numbers, labels))


class SeveralClasses:
    """Judges by all matrices where they are few, else by each class against the rest and by bonds.

    Numbers of one class are those of two; identities bind them to the others.
    """

    def __init__(self, claim: Claim, numbers: Sequence[Number], labels: tuple[str, ...]) -> None:
        self._numbers = numbers
        self._labels = labels
        self._n = total_of(claim) if claim.exhaustive else None
        self._exhaustive = claim.exhaustive
        told = bool(claim.labels) and set(claim.support) == set(claim.labels)
        self._rows = tuple(claim.support[label] for label in claim.labels) if told else ()
        shares = {}
        total = sum(claim.support.values())
        if told and total:
            shares = {label: claim.support[label] / total for label in claim.labels}
        classes = Classes(labels, all_told=bool(claim.labels), exclusive=claim.exhaustive)
        self._bonds = Bonds.of(claim, numbers, classes, None, shares=shares)
        self._tables: ClassMatrices | None = None
        if claim.labels and claim.exhaustive:
            self._tables = class_matrices_of(self._rows or None, len(labels), self._n)
        self._pairs = self._against_rest(claim) if told and self._tables is None else {}
        self._answers: dict[tuple[int, ...], Booleans] = {}
        self._questions = 0

    def _against_rest(self, claim: Claim) -> Mapping[str, tuple[TwoClasses, dict[int, int]]]:
        """For each class, the matrices of it against the rest, and which numbers speak of it."""
        pairs = {}
        for label in claim.labels:
            members = [i for i, number in enumerate(self._numbers) if number.key.label == label]
            rows = claim.support[label]
            others = sum(self._rows) - rows if claim.exhaustive else None
            known = KnownCells(positives=rows, negatives=others).completed()
            if len(members) > 1 and known is not None:
                two = replace(claim, labels=(f"not {label}", label), positive=label, support={})
                given = [(self._numbers[i].key, self._numbers[i].printed) for i in members]
                numbers = numbers_of(two, given, label, two.labels)
                bonds = Bonds.of(two, numbers, Classes(two.labels), label)
                places = {i: k for k, i in enumerate(members)}
                pairs[label] = TwoClasses(known, numbers, [bonds]), places
        return pairs

    # -- what is possible --------------------------------------------------------------------------

    def possible(self, chosen: Numbers) -> bool:
        """Whether nothing proves that these numbers can't be true together."""
        if self._tables is not None:
            return bool(self._giving(self._tables, chosen).any())
        if not self._can_be_shares(chosen):
            return False
        self._questions += 1
        if self._questions > _MOST_QUESTIONS:
            return True
        if not self._bonds.possible(chosen):
            return False
        for pair, places in self._pairs.values():
            here = frozenset(places[i] for i in chosen if i in places)
            if len(here) > 1 and not pair.possible(here):
                return False
        return True

    def _giving(self, tables: ClassMatrices, chosen: Numbers) -> Booleans:
        """The matrices that give some numbers."""
        giving = np.ones(len(tables), bool)
        for i in chosen:
            ways = self._numbers[i].conditions(chosen, conventions=True)
            if ways:
                asked = tuple(map(id, ways))
                if asked not in self._answers:
                    self._answers[asked] = tables.given(ways, rounded=False)
                giving &= self._answers[asked]
        return giving

    def _can_be_shares(self, chosen: Numbers) -> bool:
        """Whether every share of rows that are told has a count that is printed so."""
        for i in chosen:
            ways = self._numbers[i].conditions(chosen, conventions=True)
            if ways and not any(self._can_be_a_share(way) for way in ways):
                return False
        return True

    def _can_be_a_share(self, way: Way) -> bool:
        rows = self._trials(way)
        window = way.printed.window(rounded=False)
        if not rows:
            return rows is None or fills_undefined(window)
        return bool(window.counts(rows))

    def _trials(self, way: Way) -> int | None:
        """How many rows a number is a share of, where that is told."""
        share = proportion(way.quantity.expression) if isinstance(way, ByFormula) else None
        if share is None or not isinstance(way, ByFormula):
            return None
        of, label = cells(share.trials), way.quantity.label
        if of in (_EVERYTHING, {"N"}):
            return self._n
        if label is None or not self._rows:
            return None
        if of == _OF_CLASS:
            return self._rows[label]
        return (
            sum(self._rows) - self._rows[label] if of == _OF_OTHERS and self._exhaustive else None
        )

    # -- in words ----------------------------------------------------------------------------------

    def fit(self, i: int, kept: Numbers) -> Fit:
        """What the numbers that hold together say of one of them."""
        if self._tables is not None:
            return self._fit_by_tables(self._tables, i, kept)
        return self._as_share(self._numbers[i]) or self._bonds.fit(i, kept)

    def _as_share(self, number: Number) -> Fit | None:
        """A share of rows that are told, by the counts that are printed so."""
        for rounded in (True, False):
            for way in number.ways:
                rows = self._trials(way)
                counts = way.printed.window(rounded=rounded).counts(rows) if rows else ()
                if not rows or not counts:
                    continue
                first, last = counts[0], counts[-1]
                said = f"{(first + last) // 2:,} of {rows:,} rows is printed so"
                said += "" if rounded else ", cut off rather than rounded"
                value = first / rows if first == last else None
                return Fit(
                    NumberVerdict.CONSISTENT if rounded else NumberVerdict.ROUNDING, value, said
                )
        return None

    def _fit_by_tables(self, tables: ClassMatrices, i: int, kept: Numbers) -> Fit:
        number = self._numbers[i]
        ways = [way for way in number.ways if isinstance(way, ByFormula)]
        if not ways:
            return self._bonds.fit(i, kept)
        rest = self._giving(tables, kept)
        for rounded in (True, False):
            for way in ways:
                held = rest & np.broadcast_to(
                    way.holds(tables.seen_by, rounded=rounded), len(tables)
                )
                many = int(held.sum())
                if not many:
                    continue
                said = "a matrix gives it" if many == 1 else f"{many:,} matrices give it"
                said += " with the other numbers" if len(kept) > 1 else ""
                said += "" if rounded else ", cut off rather than rounded"
                said += f"; read as the {way.meaning.words}" if way.meaning.words else ""
                value = None
                if many == 1:
                    cells = one_of(tables.seen_by(way.quantity.label), int(held.argmax()))
                    only = exact(way.quantity.expression, cells)
                    value = None if only is None else float(only)
                return Fit(
                    NumberVerdict.CONSISTENT if rounded else NumberVerdict.ROUNDING, value, said
                )
        worked = number.follows(kept)
        said = "other numbers give it" if worked is None else f"as {worked.words} gives"
        return Fit(NumberVerdict.ROUNDING, None, said)

    def why(self, members: Numbers) -> str:
        """Why some numbers can't be true together."""
        if not self._bonds.possible(members):
            return self._bonds.why(members)
        if self._rows:
            rows = ", ".join(f"{rows:,}" for rows in self._rows[:8])
            rest = " ..." if len(self._rows) > 8 else ""
            return f"no matrix with supports {rows}{rest} gives {together(len(members))}"
        if len(members) == 1 and self._n:
            return f"no share of {self._n:,} rows is printed so"
        if self._tables is not None:
            return f"no matrix of {self._n:,} rows gives {together(len(members))}"
        return self._bonds.why(members)

    def instead(self, i: int, kept: Numbers) -> tuple[float | None, str]:
        """What the others leave for a number that can't be right, in words."""
        return None, self._bonds.allowed(i, kept)


def _labels_in(given: Given) -> tuple[str, ...]:
    """The labels that keys name, where the claim names none."""
    return tuple(dict.fromkeys(key.label for key, _ in given if key.label is not None))
