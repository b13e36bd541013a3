"""Reported numbers bound by identities, where counts are not told or do not decide."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from assay.decisions.audit.claim import Claim
from assay.decisions.audit.keys import Key
from assay.decisions.audit.printed import Printed, Window, as_float
from assay.decisions.audit.result import Verdict
from assay.decisions.audit.search.blame import Numbers
from assay.decisions.audit.search.identities import (
    Classes,
    Identities,
    Named,
    identities_of,
    quantities_of,
)
from assay.decisions.audit.search.network import (
    WIDER,
    Function,
    Impossible,
    Range,
    Relation,
    function_of,
    settle,
)
from assay.decisions.audit.search.numbers import Number, Worked
from assay.formula import cells, denominators
from assay.measures import RECALL

_MOST_CHOICES = 4
# A number is tested where the others leave at most this share of what it could be.
_NARROW = 0.1


# Sums of these are rows of a class and rows of the others, which there are.
_ROWS = ({"TP", "FN"}, {"FP", "TN"})


def _divides_by_decisions(key: Key) -> bool:
    """Whether a measure of a class that has rows may be undefined, as a precision may."""
    formula = key.measure.formula
    return formula is None or any(
        not any(rows <= cells(below) for rows in _ROWS) for below in denominators(formula)
    )


@dataclass(frozen=True)
class Fit:
    """What is said of a number that the others allow."""

    verdict: Verdict
    recomputed: float | None
    said: str


@dataclass(frozen=True)
class Meant:
    """A quantity and the range that the printed digits leave for it."""

    quantity: Named
    range: Range
    printed: Printed


@dataclass(frozen=True)
class Bonds:
    """Reported numbers as ranges of quantities, each with all that it may mean.

    ``positive`` is the label that bare keys speak of; without labels they are averages over
    classes. ``shares`` are those of the classes where they are known. ``words`` is the convention
    by which bare keys are read, if there is one.
    """

    classes: Classes
    numbers: Sequence[Number]
    meant: Sequence[Sequence[Meant]]
    shares: Mapping[str, float]
    words: str = ""

    @classmethod
    def of(
        cls,
        claim: Claim,
        numbers: Sequence[Number],
        classes: Classes,
        positive: str | None,
        *,
        shares: Mapping[str, float] | None = None,
        convention: str | None = None,
        named: Callable[[Number], bool] = lambda number: True,  # noqa: ARG005
        words: str = "",
    ) -> Bonds:
        """The numbers of a claim; those that are ``named`` so are read by the convention."""
        told: dict[str, set[str]] = {}
        hit: set[str] = set()
        for number in numbers:
            label = number.key.label
            if label is not None:
                told.setdefault(number.key.measure.name, set()).add(label)
                # A class of which some row was right has no ratio that is undefined.
                if number.key.measure is RECALL and number.printed.value > 0:
                    hit.add(label)

        def unsure(key: Key) -> bool:
            """Whether a class may be undefined, and left out of the average: one is not told."""
            of = told.get(key.measure.name, set())
            absent = {*classes.labels} - of - hit
            if key.average is None or not of or not absent:
                return False
            return _divides_by_decisions(key) or not all((shares or {}).get(x) for x in absent)

        meant = [
            ()
            if unsure(number.key)
            else tuple(
                Meant(quantity, _range(spelled, quantity), spelled)
                for quantity in quantities_of(
                    number.key, classes, positive, convention if named(number) else None
                )
                for spelled in claim.spellings(number.printed, number.key)
            )
            for number in numbers
        ]
        return cls(classes, numbers, meant, shares or {}, words)

    @cached_property
    def _identities(self) -> Identities:
        wanted = [each.quantity.name for found in self.meant for each in found]
        return identities_of(self.classes, wanted, self.shares)

    @cached_property
    def _found(self) -> dict[Numbers, list[dict[str, Range]]]:
        """What was asked before."""
        return {}

    def left(self, chosen: Numbers) -> list[dict[str, Range]]:
        """What these numbers leave of each quantity, once for each way to read them."""
        if chosen not in self._found:
            self._found[chosen] = self._settled(chosen)
        return self._found[chosen]

    def _settled(self, chosen: Numbers) -> list[dict[str, Range]]:
        found = []
        bound: list[Sequence[tuple[Meant, Worked | None]]] = []
        for i in sorted(chosen):
            if self.meant[i] and self.numbers[i].follows(chosen) is None:
                loose = self._loose(i, chosen)
                bound.append([(each, loose) for each in self.meant[i]])
        ways = math.prod(len(each) for each in bound)
        # A key with many readings says little; with too many ways it is passed over.
        for each in sorted(bound, key=len, reverse=True):
            if ways <= _MOST_CHOICES:
                break
            ways //= len(each)
            bound.remove(each)
        for reading in itertools.product(*bound):
            box = dict(self._identities.ranges)
            relations = list(self._identities.relations)
            try:
                for meant, loose in reading:
                    if loose is None:
                        _meet(box, meant.quantity.name, meant.range)
                    else:
                        self._meet_loosely(box, relations, meant, loose)
                found.append(settle(box, relations))
            except Impossible:
                continue
        return found

    def _loose(self, i: int, chosen: Numbers) -> Worked | None:
        """How a number may have been worked out from ones that are not taken to be right."""
        for each in self.numbers[i].worked:
            known = all(self.meant[k] for k in each.sources)
            if each.gives and each.derivation.measures and known and not each.sources <= chosen:
                return each
        return None

    def _meet_loosely(
        self, box: dict[str, Range], relations: list[Relation], meant: Meant, loose: Worked
    ) -> None:
        """Bind a number to rounded values of its sources instead of to the truth."""
        expression = loose.derivation.expression
        by_key = {self.numbers[k].key.text: k for k in loose.sources}
        names = []
        for key in sorted(cells(expression)):
            source = self.meant[by_key[key]][0]
            reach = 2 * as_float(source.printed.unit)
            rounded = f"{source.quantity.name}~{key}"
            box.setdefault(rounded, (-math.inf, math.inf))
            low, high = _around(reach, complement=source.quantity.complement)
            relations.append(Relation(rounded, (source.quantity.name,), low, "", high))
            names.append(rounded)
        own = f"{meant.quantity.name}~"
        box[own] = (-math.inf, math.inf)
        relations.append(Relation(own, tuple(names), function_of(expression), ""))
        window = meant.printed.window(rounded=False)
        _meet(box, own, (as_float(window.low), as_float(window.high)))

    def possible(self, chosen: Numbers) -> bool:
        """Whether nothing proves that these numbers can't be true together."""
        for known, left in self._found.items():
            if left and chosen <= known:
                return True
            if not left and known <= chosen:
                return False
        return bool(self.left(chosen))

    def left_for(self, i: int, others: Numbers) -> Range | None:
        """What the other numbers leave for one number; None where they are impossible."""
        spans = [
            _turned(box[meant.quantity.name], meant.quantity)
            for box in self.left(others - {i})
            for meant in self.meant[i]
        ]
        if not spans:
            return None
        return min(low for low, _ in spans), max(high for _, high in spans)

    def _first_range(self, i: int) -> Range:
        """What is left for a number before anything else is known."""
        spans = [
            _turned(self._identities.ranges[meant.quantity.name], meant.quantity)
            for meant in self.meant[i]
        ]
        return min(low for low, _ in spans), max(high for _, high in spans)

    def _identity(self, members: Numbers) -> str:
        """The identity that binds just these numbers, in words; empty where there is none."""
        names = [{each.quantity.name for each in self.meant[i]} for i in members]
        for relation in self._identities.relations:
            if _binds(relation, names):
                return relation.words
        if len(names) > 1 and len(set.union(*names)) == 1:
            return "they are the same quantity, or 1 minus it"
        return ""

    # -- in words ----------------------------------------------------------------------------------

    def fit(self, i: int, kept: Numbers) -> Fit:
        """Consistent where the other numbers really test it, else undetermined."""
        if not self.meant[i]:
            return Fit(Verdict.UNDETERMINED, None, "nothing in the claim decides it")
        left = self.left_for(i, kept)
        if left is None or not self._narrow(left, i):
            return Fit(Verdict.UNDETERMINED, None, "possible, but nothing in the claim decides it")
        said = f"the other numbers allow {_shown(left)}"
        of = {each.quantity.of for each in self.meant[i]} - {""}
        if of:
            said += f" for {' or '.join(sorted(of))}"
        number = self.numbers[i]
        if _within(number.printed.window(rounded=True), left):
            return Fit(Verdict.CONSISTENT, None, said)
        if _within(number.printed.window(rounded=False), left):
            return Fit(Verdict.ROUNDING, None, said)
        worked = number.follows(kept)
        if worked is not None:
            return Fit(Verdict.ROUNDING, None, f"as {worked.words} gives")
        return Fit(Verdict.UNDETERMINED, None, "possible, but nothing in the claim decides it")

    def _narrow(self, left: Range, i: int) -> bool:
        first = self._first_range(i)
        wide = first[1] - first[0] if math.isfinite(first[1]) else max(left[0], 1.0)
        return left[1] - left[0] <= _NARROW * wide

    def why(self, members: Numbers) -> str:
        """The identity that a conflict breaks, in words."""
        words = self._identity(members)
        if words:
            return words
        if len(members) == 1:
            return "no counts of any size give it"
        return f"no matrix of any size gives {together(len(members))}"

    def allowed(self, i: int, kept: Numbers) -> str:
        """What the numbers that hold together leave for another one; empty if that says little."""
        if not self.meant[i] or not kept:
            return ""
        left = self.left_for(i, kept)
        if left is None or not self._narrow(left, i):
            return ""
        return f"the others allow {_shown(left)}"


def together(size: int) -> str:
    """So many numbers in words."""
    return {1: "it", 2: "both", 3: "all three"}.get(size, f"all {size}")


def _within(window: Window, left: Range) -> bool:
    return as_float(window.low) <= left[1] and left[0] <= as_float(window.high)


def _around(reach: float, *, complement: bool) -> tuple[Function, Function]:
    """The least and the largest rounded value of a quantity, or of 1 less it."""
    if complement:
        return (lambda values: 1 - values[0] - reach), (lambda values: 1 - values[0] + reach)
    return (lambda values: values[0] - reach), (lambda values: values[0] + reach)


def _binds(relation: Relation, names: Sequence[set[str]]) -> bool:
    bound = {relation.of, *relation.args}
    return (
        len(bound) == len(names)
        and all(name & bound for name in names)
        and bound <= set.union(*names)
    )


def _range(number: Printed, quantity: Named) -> Range:
    window = number.window(rounded=False)
    return _turned((as_float(window.low), as_float(window.high)), quantity)


def _turned(span: Range, quantity: Named) -> Range:
    return (1 - span[1], 1 - span[0]) if quantity.complement else span


def _meet(box: dict[str, Range], name: str, span: Range) -> None:
    low, high = box[name]
    slack = WIDER * max(1.0, abs(span[0]), abs(span[1]))
    new = max(low, span[0] - slack), min(high, span[1] + slack)
    if new[0] > new[1]:
        raise Impossible(name)
    box[name] = new


def _shown(span: tuple[float, float]) -> str:
    low, high = (f"{x + 0.0:.5g}" for x in span)
    return low if low == high else f"{low} to {high}"
