"""Which numbers of a claim some matrix gives together, and whose removal makes it possible."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from enumerated.formulas import Matrices, of_supports, of_total
from enumerated.readings import readings, text
from enumerated.worked_out import Rule, Told, rules

AT_ONCE = 100_000


def matrices_of(claim: Mapping[str, Any], labels: tuple[str, ...]) -> Any:
    """All tables that the counts of a claim allow."""
    if "matrix" in claim:
        return np.array([claim["matrix"]])
    if "confusion" in claim:
        c = claim["confusion"]
        return np.array([[[c["tn"], c["fp"]], [c["fn"], c["tp"]]]])
    if "support" in claim:
        return of_supports(tuple(claim["support"][label] for label in labels)).tables
    return of_total(claim["n"], len(labels)).tables


class Oracle:
    """What brute force says of a claim.

    There are two answers to whether numbers are possible together: ``sure`` with what the contract
    promises, and with all that it leaves open besides.
    """

    def __init__(self, claim: Mapping[str, Any], labels: tuple[str, ...]) -> None:
        self.keys = list(claim["reported"])
        self._texts = [text(printed) for printed in claim["reported"].values()]
        by_class = bool({"matrix", "confusion", "support"} & set(claim))
        self._readings = [readings(key, labels, empty=not by_class) for key in self.keys]
        tables = matrices_of(claim, labels)
        rows = tuple(map(int, tables[0].sum(axis=1))) if by_class else None
        self._rules = rules(Told(self._texts, self._readings, len(labels), rows))
        self._places = [
            (i, j) for i, reading in enumerate(self._readings) for j, _ in enumerate(reading)
        ]
        self._patterns = self._seen(tables)
        if len(tables) == 1:
            self._by_chance_agreement(tables)

    def possible(self, numbers: Iterable[int], *, sure: bool) -> bool:
        """Whether some matrix gives all of these numbers, or they follow from those it gives."""
        wanted = frozenset(numbers)
        return any(self._complete(pattern, wanted, sure=sure) for pattern in self._patterns)

    def culprits(self, *, sure: bool) -> list[int]:
        """The single numbers without which the rest is possible; none where all of it is."""
        everything = range(len(self.keys))
        if self.possible(everything, sure=sure):
            return []
        return [
            i for i in everything if self.possible((j for j in everything if j != i), sure=sure)
        ]

    @cached_property
    def surely_possible(self) -> bool:
        """Whether all numbers are possible by what the contract promises."""
        return self.possible(range(len(self.keys)), sure=True)

    @cached_property
    def maybe_possible(self) -> bool:
        """Whether they are with all that it leaves open."""
        return self.possible(range(len(self.keys)), sure=False)

    # -- patterns: which readings one matrix gives -------------------------------------------------

    def _seen(self, tables: Any) -> list[frozenset[tuple[int, int]]]:
        """The distinct sets of readings that matrices give."""
        codes: set[int] = set()
        for start in range(0, len(tables), AT_ONCE):
            matrices = Matrices(tables[start : start + AT_ONCE])
            code = np.zeros(matrices.size, np.int64)
            for bit, (i, j) in enumerate(self._places):
                given = self._texts[i].gives(self._readings[i][j].of(matrices))
                code |= given.astype(np.int64) << bit
            codes.update(np.unique(code).tolist())
        return [
            frozenset(place for bit, place in enumerate(self._places) if code >> bit & 1)
            for code in self._maximal(codes)
        ]

    @staticmethod
    def _maximal(codes: set[int]) -> Iterator[int]:
        """Without those that another contains."""
        kept: list[int] = []
        for code in sorted(codes, key=int.bit_count, reverse=True):
            if not any(code & other == code for other in kept):
                kept.append(code)
        yield from kept

    def _complete(
        self, pattern: frozenset[tuple[int, int]], wanted: frozenset[int], *, sure: bool
    ) -> bool:
        given = {
            (i, j) for i, j in pattern if i in wanted and not (sure and self._readings[i][j].open)
        }
        held = {i for i, _ in given}
        grown = True
        while grown and held != wanted:
            grown = False
            for rule in self._rules:
                i = rule.target[0]
                if (
                    i in wanted
                    and rule.target not in given
                    and self._applies(rule, given, held, sure)
                ):
                    given.add(rule.target)
                    held.add(i)
                    grown = True
        return held == wanted

    @staticmethod
    def _applies(rule: Rule, given: set[tuple[int, int]], held: set[int], sure: bool) -> bool:  # noqa: FBT001
        if sure:
            return not rule.open and all(source in given for source in rule.sources)
        return all(i in held for i, _ in rule.sources)

    def _by_chance_agreement(self, tables: Any) -> None:
        """Kappa from the printed accuracy and the matrix's agreement by chance, which is open."""
        n = int(tables[0].sum())
        chance = float((tables[0].sum(axis=0) * tables[0].sum(axis=1)).sum() / n**2)
        for i, j in self._places:
            if self._readings[i][j].measure != "kappa":
                continue
            for k, m in self._places:
                if self._readings[k][m].measure != "accuracy":
                    continue
                unit = float(self._texts[k].unit)
                for p in (chance, round(chance / unit) * unit):
                    value = (float(self._texts[k].value) - p) / (1 - p) if p != 1 else 9.0
                    if abs(value - float(self._texts[i].value)) <= float(self._texts[i].unit):
                        self._rules.append(Rule((i, j), ((k, m),), open=True))
