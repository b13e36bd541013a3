"""More than two classes, or classes of which nothing is told but numbers."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from assay.decisions.audit.claim import Claim
from assay.decisions.audit.exact import exact
from assay.decisions.audit.printed import Window
from assay.decisions.audit.result import Verdict
from assay.decisions.audit.search.binary import TwoClasses
from assay.decisions.audit.search.blame import Numbers
from assay.decisions.audit.search.bonds import Bonds, Fit, together
from assay.decisions.audit.search.cells import Known
from assay.decisions.audit.search.hits import Hits
from assay.decisions.audit.search.integers import multiples
from assay.decisions.audit.search.judging import Verdicts, judge_together
from assay.decisions.audit.search.numbers import Given, Number, numbers_of
from assay.decisions.audit.search.quantities import Classes
from assay.decisions.audit.search.tables import Tables, tables_of
from assay.decisions.audit.search.ways import Booleans, ByFormula, one_of
from assay.decisions.audit.sizes import total_of
from assay.measures import LOWER, find

_MOST_WAYS = 32


def judge_classes(claim: Claim, given: Given) -> Verdicts:
    """The numbers of a claim of several classes, judged by what binds them."""
    labels = claim.labels or _labels_in(given)
    numbers = numbers_of(claim, given, None, labels)
    return judge_together(numbers, _Classes(claim, numbers, labels))


class _Classes:
    """Judges by all matrices where they are few; else by hits, one class against the rest, bonds.

    Hits tell accuracy and recalls; numbers of one class are those of two; identities bind the rest.
    """

    def __init__(self, claim: Claim, numbers: Sequence[Number], labels: tuple[str, ...]) -> None:
        self._numbers = numbers
        self._labels = labels
        self._n = total_of(claim)
        told = bool(claim.labels) and set(claim.support) == set(claim.labels)
        self._rows = tuple(claim.support[label] for label in claim.labels) if told else ()
        shares = {}
        if told and self._n:
            shares = {label: claim.support[label] / self._n for label in claim.labels}
        classes = Classes(labels, all_told=bool(claim.labels))
        self._bonds = Bonds.of(claim, numbers, classes, None, shares=shares)
        self._tables: Tables | None = None
        if claim.labels:
            self._tables = tables_of(self._rows or None, len(labels), self._n)
        self._pairs = self._against_rest(claim) if told and self._tables is None else {}
        self._answers: dict[tuple[int, ...], Booleans] = {}

    def _against_rest(self, claim: Claim) -> Mapping[str, tuple[TwoClasses, dict[int, int]]]:
        """For each class, the matrices of it against the rest, and which numbers speak of it."""
        found = {}
        for label in claim.labels:
            members = [i for i, number in enumerate(self._numbers) if number.key.label == label]
            rows = claim.support[label]
            known = Known(positives=rows, negatives=sum(self._rows) - rows).completed()
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
        if not self._bonds.possible(chosen) or self._by_hits(chosen, frozenset()) is False:
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

    def _by_hits(self, chosen: Numbers, rounded: Numbers) -> bool | None:
        """Whether hits can give these numbers, some of them correctly rounded."""
        if not self._rows:
            return self._by_size(chosen)
        bound = [i for i in sorted(chosen) if self._told(i, chosen)]
        ways = list(
            itertools.islice(
                itertools.product(*(self._by_formula(i) for i in bound)), _MOST_WAYS + 1
            )
        )
        if len(ways) > _MOST_WAYS:
            return None
        answers = set()
        for way in ways:
            hits = Hits(self._rows)
            for i, each in zip(bound, way, strict=True):
                self._ask(hits, each, rounded=i in rounded)
            answers.add(hits.possible())
        return True if True in answers else (None if None in answers else False)

    def _by_formula(self, i: int) -> list[ByFormula]:
        return [way for way in self._numbers[i].ways if isinstance(way, ByFormula)]

    def _told(self, i: int, chosen: Numbers) -> bool:
        """Whether hits alone give a number, however it is read, and it has to be what they give."""
        ways = self._by_formula(i)
        loose = len(self._numbers[i].conditions(chosen, conventions=True)) != len(ways)
        return (
            bool(ways)
            and not loose
            and all(self._ask(Hits(self._rows), way, rounded=False) for way in ways)
        )

    def _ask(self, hits: Hits, way: ByFormula, *, rounded: bool) -> bool:
        """Ask hits for a number, or for 1 less it where that is what counts them."""
        window, meaning = way.printed.window(rounded=rounded), way.meaning
        if meaning.measure.better is not LOWER or not meaning.measure.complement:
            return hits.ask(way.quantity, window)
        turned = replace(meaning, measure=find(meaning.measure.complement))
        quantity = turned.quantity(self._labels)
        return quantity is not None and hits.ask(
            quantity, Window(1 - window.high, 1 - window.low, window.closed)
        )

    def _by_size(self, chosen: Numbers) -> bool | None:
        """Without supports only shares of all rows have a known denominator."""
        if not self._n:
            return None
        for i in chosen:
            ways = self._by_formula(i)
            whole = [way for way in ways if self._of_all_rows(way)]
            if ways and len(whole) == len(ways) and self._told_by_size(whole) is False:
                return False
        return None

    @staticmethod
    def _of_all_rows(way: ByFormula) -> bool:
        return way.quantity.label is None and way.meaning.measure.is_proportion

    def _told_by_size(self, ways: Sequence[ByFormula]) -> bool:
        rows = self._n or 0
        for way in ways:
            first, last = multiples(way.printed.window(rounded=False), rows)
            if way.meaning.average is not None or max(first, 0) <= min(last, rows):
                return True
        return False

    # -- in words ----------------------------------------------------------------------------------

    def fit(self, i: int, kept: Numbers) -> Fit:
        """What the numbers that hold together say of one of them."""
        if self._tables is not None:
            return self._fit_by_tables(i, kept)
        if not self._rows or not self._told(i, kept):
            return self._bonds.fit(i, kept)
        verdict = Verdict.CONSISTENT
        found = self._by_hits(kept, frozenset({i}))
        if found is False:
            verdict = Verdict.ROUNDING
        if found is None and self._by_hits(kept, frozenset()) is not True:
            return self._bonds.fit(i, kept)
        said = "some hits of each class give it with the other accuracies and recalls"
        if verdict is Verdict.ROUNDING:
            said += ", cut off rather than rounded"
        return Fit(verdict, self._value(i), said)

    def _fit_by_tables(self, i: int, kept: Numbers) -> Fit:
        number, tables = self._numbers[i], self._tables
        assert tables is not None  # noqa: S101 - asked only where there are tables
        ways = self._by_formula(i)
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

    def _value(self, i: int) -> float | None:
        """The recall or accuracy, where only one count of hits is printed so."""
        ways = self._by_formula(i)
        if len(ways) > 1 or ways[0].meaning.average is not None:
            return None
        label = ways[0].quantity.label
        rows = sum(self._rows) if label is None else self._rows[label]
        if not ways[0].meaning.measure.is_proportion:
            return None
        first, last = multiples(ways[0].printed.window(rounded=True), rows)
        return first / rows if first == last and rows else None

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
