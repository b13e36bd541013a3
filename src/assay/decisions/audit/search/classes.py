"""More than two classes, or classes of which nothing is told but numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.decisions.audit.claim import Claim
from assay.decisions.audit.printed import exact
from assay.decisions.audit.result import Verdict
from assay.decisions.audit.search.binary import TwoClasses
from assay.decisions.audit.search.blame import Numbers
from assay.decisions.audit.search.bonds import Bonds, Fit, together
from assay.decisions.audit.search.cells import Known
from assay.decisions.audit.search.identities import Classes
from assay.decisions.audit.search.judging import Verdicts, judge_together
from assay.decisions.audit.search.numbers import Given, Number, numbers_of
from assay.decisions.audit.search.ways import Booleans, ByFormula, Way, fills_undefined, one_of
from assay.decisions.audit.sizes import total_of
from assay.formula import cells, proportion

Integers: TypeAlias = npt.NDArray[np.int64]

# As many matrices of three classes as are counted out, and as many as may differ in what formulas
# read. More classes cost more: what formulas read of a matrix, and how many of them there are.
_COUNTED_OUT, _MOST = 1 << 22, 1 << 21
# What more questions would tell apart is not told apart.
_MOST_QUESTIONS = 60
_EVERYTHING = frozenset({"TP", "FP", "FN", "TN"})
_OF_CLASS, _OF_OTHERS = frozenset({"TP", "FN"}), frozenset({"FP", "TN"})


def judge_classes(claim: Claim, given: Given) -> Verdicts:
    """The numbers of a claim of several classes, judged by what binds them."""
    labels = claim.labels or _labels_in(given)
    numbers = numbers_of(claim, given, None, labels)
    return judge_together(numbers, _Classes(claim, numbers, labels))


class _Classes:
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
        self._tables: Tables | None = None
        if claim.labels and claim.exhaustive:
            self._tables = tables_of(self._rows or None, len(labels), self._n)
        self._pairs = self._against_rest(claim) if told and self._tables is None else {}
        self._answers: dict[tuple[int, ...], Booleans] = {}
        self._questions = 0

    def _against_rest(self, claim: Claim) -> Mapping[str, tuple[TwoClasses, dict[int, int]]]:
        """For each class, the matrices of it against the rest, and which numbers speak of it."""
        found = {}
        for label in claim.labels:
            members = [i for i, number in enumerate(self._numbers) if number.key.label == label]
            rows = claim.support[label]
            others = sum(self._rows) - rows if claim.exhaustive else None
            known = Known(positives=rows, negatives=others).completed()
            if len(members) > 1 and known is not None:
                two = replace(claim, labels=(f"not {label}", label), positive=label, support={})
                given = [(self._numbers[i].key, self._numbers[i].printed) for i in members]
                numbers = numbers_of(two, given, label, two.labels)
                bonds = Bonds.of(two, numbers, Classes(two.labels), label)
                places = {i: k for k, i in enumerate(members)}
                found[label] = TwoClasses(known, numbers, [bonds]), places
        return found

    # -- what is possible --------------------------------------------------------------------------

    def possible(self, chosen: Numbers) -> bool:
        """Whether nothing proves that these numbers can't be true together."""
        if self._tables is not None:
            return bool(self._giving(chosen, frozenset()).any())
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

    def _giving(self, chosen: Numbers, rounded: Numbers) -> Booleans:
        """The matrices that give some numbers, some of them correctly rounded."""
        assert self._tables is not None  # noqa: S101 - asked only where there are tables
        found = np.ones(len(self._tables), bool)
        for i in chosen:
            ways = self._numbers[i].conditions(chosen, conventions=True)
            if ways:
                asked = (*map(id, ways), i in rounded)
                if asked not in self._answers:
                    self._answers[asked] = self._tables.given(ways, rounded=i in rounded)
                found &= self._answers[asked]
        return found

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
            return self._fit_by_tables(i, kept)
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
                return Fit(Verdict.CONSISTENT if rounded else Verdict.ROUNDING, value, said)
        return None

    def _fit_by_tables(self, i: int, kept: Numbers) -> Fit:
        number, tables = self._numbers[i], self._tables
        assert tables is not None  # noqa: S101 - asked only where there are tables
        ways = [way for way in number.ways if isinstance(way, ByFormula)]
        if not ways:
            return self._bonds.fit(i, kept)
        rest = self._giving(kept, frozenset())
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
                return Fit(Verdict.CONSISTENT if rounded else Verdict.ROUNDING, value, said)
        worked = number.follows(kept)
        said = "other numbers give it" if worked is None else f"as {worked.words} gives"
        return Fit(Verdict.ROUNDING, None, said)

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


# -- every matrix of several small classes ---------------------------------------------------------


@dataclass(frozen=True)
class Tables:
    """Matrices of K classes: one a row, its hits, rows and columns in the order of the classes."""

    hits: Integers
    rows: Integers
    columns: Integers

    def __len__(self) -> int:
        return len(self.hits)

    def seen_by(self, label: int | None) -> Mapping[str, Any]:
        """The cells as a formula of one label against the rest, or of all classes, reads them."""
        n = self.rows.sum(axis=1)
        if label is None:
            size = np.full(len(self), self.hits.shape[1])
            return {"HIT": self.hits, "ROW": self.rows, "COL": self.columns, "N": n, "K": size}
        hit, row, column = (side[:, label] for side in (self.hits, self.rows, self.columns))
        return {"TP": hit, "FP": column - hit, "FN": row - hit, "TN": n - row - column + hit}

    def given(self, ways: Sequence[Way], *, rounded: bool) -> Booleans:
        """Which of them give a number."""
        found = [np.broadcast_to(w.holds(self.seen_by, rounded=rounded), len(self)) for w in ways]
        return np.asarray(np.logical_or.reduce(found))


def tables_of(rows: Sequence[int] | None, classes: int, n: int | None) -> Tables | None:
    """All matrices with these supports, or of n rows; None where they are too many."""
    most = min(_COUNTED_OUT, 9 * _COUNTED_OUT // classes**2)
    if rows is not None:
        if math.prod(math.comb(r + classes - 1, classes - 1) for r in rows) > most:
            return None
        return _joined([list(_row(r, classes)) for r in rows], classes)
    if n is None or math.comb(n + classes**2 - 1, classes**2 - 1) > most:
        return None
    parts = [_of_supports(supports, classes) for supports in _compositions(n, classes)]
    return Tables(
        *(np.concatenate([getattr(p, side) for p in parts]) for side in ("hits", "rows", "columns"))
    )


def _of_supports(rows: Sequence[int], classes: int) -> Tables:
    found = _joined([list(_row(r, classes)) for r in rows], classes)
    if found is None:
        raise ValueError("too many matrices")
    return found


def _joined(options: Sequence[Sequence[tuple[int, ...]]], classes: int) -> Tables | None:
    """Row by row, what the rows so far leave: the hits of each and the sums of the columns."""
    states = np.zeros((1, 2 * classes), np.int64)
    for i, row in enumerate(options):
        added = np.zeros((len(row), 2 * classes), np.int64)
        added[:, classes:] = np.array(row)
        added[:, i] = added[:, classes + i]
        if len(states) * len(added) > 2 * _COUNTED_OUT:
            return None
        states = (states[:, None, :] + added[None, :, :]).reshape(-1, 2 * classes)
        states = _unique(states)
        if len(states) > _MOST:
            return None
    supports = np.array([sum(row[0]) for row in options])
    return Tables(
        states[:, :classes], np.broadcast_to(supports, (len(states), classes)), states[:, classes:]
    )


def _unique(states: Integers) -> Integers:
    """Each state once; much quicker than unique() by rows."""
    states = states[np.lexsort(states.T)]
    new = np.ones(len(states), bool)
    new[1:] = (states[1:] != states[:-1]).any(axis=1)
    return np.asarray(states[new])


def _row(rows: int, classes: int) -> Iterator[tuple[int, ...]]:
    """All ways in which the rows of one class can be decided."""
    return _compositions(rows, classes)


def _compositions(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    if parts == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in _compositions(total - first, parts - 1):
            yield (first, *rest)
