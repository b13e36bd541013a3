"""More than two classes, or classes of which nothing is told but numbers."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import replace

from assay.decisions.audit.claim import Claim
from assay.decisions.audit.result import Judged, Verdict
from assay.decisions.audit.search.bonds import Bonds, Meaning
from assay.decisions.audit.search.conflict import Conflict, Numbers
from assay.decisions.audit.search.hits import Hits
from assay.decisions.audit.search.integers import multiples
from assay.decisions.audit.search.judging import Fit, Given, judge_together, together
from assay.decisions.audit.search.known import Known
from assay.decisions.audit.search.number import number_of
from assay.decisions.audit.search.quantity import A, Classes, R
from assay.decisions.audit.search.space import Space
from assay.decisions.audit.search.tested import by_identities, range_in_words, why_of_identities
from assay.decisions.audit.sizes import total_of

_MOST_WAYS = 32


def judge_classes(claim: Claim, given: Given) -> tuple[dict[str, Judged], tuple[str, ...]]:
    """The numbers of a claim of several classes, judged by what binds them."""
    judge = _Classes(claim, given)
    judged, _, _ = judge_together(claim, given, judge)
    return judged, ()


class _Classes:
    """Judges accuracy and recalls by the hits, all else by identities, class by class."""

    def __init__(self, claim: Claim, given: Given) -> None:
        self._given = given
        self._n = total_of(claim)
        told = bool(claim.labels) and set(claim.support) == set(claim.labels)
        self._rows = tuple(claim.support[label] for label in claim.labels) if told else ()
        self._labels = claim.labels or _labels_in(given)
        shares = {}
        if told and self._n:
            shares = {label: claim.support[label] / self._n for label in claim.labels}
        classes = Classes(self._labels, all_told=bool(claim.labels))
        self._bonds = Bonds.of(claim, given, classes, None, shares)
        self._spaces = self._against_rest(claim) if told else {}

    def _against_rest(self, claim: Claim) -> Mapping[str, tuple[Space, dict[int, int]]]:
        """For each class, the matrices of it against the rest, and which numbers speak of it."""
        found = {}
        for label in claim.labels:
            members = [i for i, (key, _) in enumerate(self._given) if key.label == label]
            rest = f"not {label}"
            rows = claim.support[label]
            two = replace(claim, labels=(rest, label), positive=label)
            given = [self._given[i] for i in members]
            numbers = [number_of(key, reported, two) for key, reported in given]
            known = Known(positives=rows, negatives=sum(self._rows) - rows).completed()
            if len(members) > 1 and known is not None:
                bonds = Bonds.of(two, given, Classes(two.labels), label)
                places = {i: k for k, i in enumerate(members)}
                found[label] = Space(known, numbers, bonds), places
        return found

    def possible(self, chosen: Numbers) -> bool:
        if not self._bonds.possible(chosen) or self._by_hits(chosen, frozenset()) is False:
            return False
        for space, places in self._spaces.values():
            here = frozenset(places[i] for i in chosen if i in places)
            if len(here) > 1 and not space.possible(here):
                return False
        return True

    def _by_hits(self, chosen: Numbers, rounded: Numbers) -> bool | None:
        """Whether hits can give these numbers, some of them correctly rounded."""
        if not self._rows:
            return self._by_size(chosen)
        bound = [i for i in sorted(chosen) if self._told(i)]
        ways = list(
            itertools.islice(
                itertools.product(*(self._bonds.meanings[i] for i in bound)), _MOST_WAYS + 1
            )
        )
        if len(ways) > _MOST_WAYS:
            return None
        answers = set()
        for way in ways:
            hits = Hits(self._labels, self._rows)
            for i, meaning in zip(bound, way, strict=True):
                hits.ask(meaning.quantity.name, meaning.window(rounded=i in rounded))
            answers.add(hits.possible())
        return True if True in answers else (None if None in answers else False)

    def _told(self, i: int) -> bool:
        """Whether hits alone give a number, however it is read."""
        hits = Hits(self._labels, self._rows)
        meanings = self._bonds.meanings[i]
        return bool(meanings) and all(hits.tells(each.quantity.name) for each in meanings)

    def _by_size(self, chosen: Numbers) -> bool | None:
        """Without supports only the accuracy has a known denominator."""
        if not self._n:
            return None
        for i in chosen:
            meanings = self._bonds.meanings[i]
            if meanings and not any(self._of_rows(each, self._n) for each in meanings):
                return False
        return None

    @staticmethod
    def _of_rows(meaning: Meaning, rows: int) -> bool:
        if meaning.quantity.name not in (A, f"{R}.weighted"):
            return True
        first, last = multiples(meaning.window(rounded=False), rows)
        return max(first, 0) <= min(last, rows)

    def fit(self, i: int, kept: Numbers) -> Fit:
        if not self._rows or not self._told(i):
            return by_identities(self._bonds, self._given, i, kept)
        verdict = Verdict.CONSISTENT
        found = self._by_hits(kept, frozenset({i}))
        if found is False:
            verdict = Verdict.ROUNDING
        if found is None and self._by_hits(kept, frozenset()) is not True:
            return by_identities(self._bonds, self._given, i, kept)
        value = self._value(i)
        said = "some hits of each class give it with the other accuracies and recalls"
        if verdict is Verdict.ROUNDING:
            said += ", cut off rather than rounded"
        return Fit(verdict, value, said)

    def _value(self, i: int) -> float | None:
        """The recall or accuracy, where only one count of hits is printed so."""
        for meaning in self._bonds.meanings[i]:
            label, _, _ = meaning.quantity.name.rpartition("|")
            if len(self._bonds.meanings[i]) > 1 or not (label or meaning.quantity.name == A):
                return None
            rows = self._rows[self._labels.index(label)] if label else sum(self._rows)
            first, last = multiples(meaning.window(rounded=True), rows)
            if first == last:
                value = first / rows
                return 1 - value if meaning.quantity.complement else value
        return None

    def why(self, conflict: Conflict) -> str:
        words = self._bonds.identity(conflict.members)
        if words and not self._bonds.possible(conflict.members):
            return words
        if self._rows:
            rows = ", ".join(f"{rows:,}" for rows in self._rows[:8])
            rest = " ..." if len(self._rows) > 8 else ""
            return f"no matrix with supports {rows}{rest} gives {together(len(conflict.members))}"
        if len(conflict.members) == 1 and self._n:
            return f"no share of {self._n:,} rows is printed so"
        return why_of_identities(self._bonds, conflict)

    def instead(self, i: int, kept: Numbers) -> tuple[float | None, str]:
        return None, range_in_words(self._bonds, i, kept)


def _labels_in(given: Given) -> tuple[str, ...]:
    """The labels that keys name, where the claim names none."""
    return tuple(dict.fromkeys(key.label for key, _ in given if key.label is not None))
