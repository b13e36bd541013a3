"""Reported numbers bound by identities, and the verdict on each that is judged by the others.

Identities decide where counts are not told, or do not.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

from assay.v02.decisions.audit.claim import Claim, Key, key_of
from assay.v02.decisions.audit.search.identities import (
    WIDER,
    Classes,
    Function,
    Identities,
    Impossible,
    NamedQuantity,
    Range,
    Relation,
    function_of,
    identities_of,
    quantities_of,
    settle,
)
from assay.v02.decisions.audit.search.numbers import (
    Blame,
    DerivedNumber,
    Number,
    Numbers,
    blame,
    numbers_of,
    smallest,
)
from assay.v02.decisions.audit.verdicts import (
    Conflict,
    DigitWindow,
    JudgedNumber,
    NumberVerdict,
    Printed,
    as_float,
)
from assay.v02.formula import cells, denominators
from assay.v02.measures import PREVALENCE, RECALL
from assay.v02.number_text import significant

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

    verdict: NumberVerdict
    recomputed: float | None
    said: str


@dataclass(frozen=True)
class QuantityRange:
    """A quantity and the range that the printed digits leave for it."""

    quantity: NamedQuantity
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
    meant: Sequence[Sequence[QuantityRange]]
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
                QuantityRange(quantity, _range(spelled, quantity), spelled)
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
        wanted = [each.quantity.name for meant in self.meant for each in meant]
        return identities_of(self.classes, wanted, self.shares)

    @cached_property
    def _answers(self) -> dict[Numbers, list[dict[str, Range]]]:
        """What was asked before."""
        return {}

    def left(self, chosen: Numbers) -> list[dict[str, Range]]:
        """What these numbers leave of each quantity, once for each way to read them."""
        if chosen not in self._answers:
            self._answers[chosen] = self._settled(chosen)
        return self._answers[chosen]

    def _settled(self, chosen: Numbers) -> list[dict[str, Range]]:
        boxes = []
        bound: list[Sequence[tuple[QuantityRange, DerivedNumber | None]]] = []
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
                boxes.append(settle(box, relations))
            except Impossible:
                continue
        return boxes

    def _loose(self, i: int, chosen: Numbers) -> DerivedNumber | None:
        """How a number may have been worked out from ones that are not taken to be right."""
        for each in self.numbers[i].worked:
            known = all(self.meant[k] for k in each.sources)
            if each.gives and each.derivation.measures and known and not each.sources <= chosen:
                return each
        return None

    def _meet_loosely(
        self,
        box: dict[str, Range],
        relations: list[Relation],
        meant: QuantityRange,
        loose: DerivedNumber,
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
        for known, left in self._answers.items():
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
            return Fit(NumberVerdict.UNDETERMINED, None, "nothing in the claim decides it")
        left = self.left_for(i, kept)
        if left is None or not self._narrow(left, i):
            return Fit(
                NumberVerdict.UNDETERMINED, None, "possible, but nothing in the claim decides it"
            )
        said = f"the other numbers allow {_shown(left)}"
        of = {each.quantity.of for each in self.meant[i]} - {""}
        if of:
            said += f" for {' or '.join(sorted(of))}"
        number = self.numbers[i]
        if _within(number.printed.window(rounded=True), left):
            return Fit(NumberVerdict.CONSISTENT, None, said)
        if _within(number.printed.window(rounded=False), left):
            return Fit(NumberVerdict.ROUNDING, None, said)
        worked = number.follows(kept)
        if worked is not None:
            return Fit(NumberVerdict.ROUNDING, None, f"as {worked.words} gives")
        return Fit(
            NumberVerdict.UNDETERMINED, None, "possible, but nothing in the claim decides it"
        )

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
    share = min(low for low, _ in spans), max(high for _, high in spans)
    return share if share[0] > 0 or share[1] < 1 else None


def together(size: int) -> str:
    """So many numbers in words."""
    return {1: "it", 2: "both", 3: "all three"}.get(size, f"all {size}")


def _within(window: DigitWindow, left: Range) -> bool:
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


def _range(number: Printed, quantity: NamedQuantity) -> Range:
    window = number.window(rounded=False)
    return _turned((as_float(window.low), as_float(window.high)), quantity)


def _turned(span: Range, quantity: NamedQuantity) -> Range:
    return (1 - span[1], 1 - span[0]) if quantity.complement else span


def _meet(box: dict[str, Range], name: str, span: Range) -> None:
    low, high = box[name]
    slack = WIDER * max(1.0, abs(span[0]), abs(span[1]))
    new = max(low, span[0] - slack), min(high, span[1] + slack)
    if new[0] > new[1]:
        raise Impossible(name)
    box[name] = new


def _shown(span: tuple[float, float]) -> str:
    low, high = (significant(x + 0.0, 5) for x in span)
    return low if low == high else f"{low} to {high}"


# -- verdicts --------------------------------------------------------------------------------------


class ClaimJudge(Protocol):
    """Knows what numbers can be true together, and what those that can mean for each other."""

    def possible(self, chosen: Numbers) -> bool:
        """Whether nothing proves that these numbers can't be true together."""

    def fit(self, i: int, kept: Numbers) -> Fit:
        """What the numbers that hold together say of one of them."""

    def why(self, members: Numbers) -> str:
        """Why some numbers can't be true together."""

    def instead(self, i: int, kept: Numbers) -> tuple[float | None, str]:
        """The value that the others give for a number that can't be right, and in words."""


@dataclass(frozen=True)
class Verdicts:
    """What was found of some numbers: each by its key, the conflicts, and notes."""

    judged: dict[str, JudgedNumber]
    conflicts: tuple[Conflict, ...] = ()
    notes: tuple[str, ...] = ()
    kept: Numbers = frozenset()


def judge_together(numbers: Sequence[Number], judge: ClaimJudge) -> Verdicts:
    """Judge numbers against each other."""
    everything = frozenset(range(len(numbers)))
    # A measure of scores is bounded by the operating point, never the other way round.
    scored = frozenset(i for i, number in enumerate(numbers) if number.scored)
    blamed = blame(everything - scored, judge.possible)
    kept = blamed.kept
    wrong = dict(blamed.wrong)
    for i in sorted(scored):
        if judge.possible(kept | {i}):
            kept |= {i}
        else:
            wrong[i] = smallest(kept | {i}, judge.possible)
    blamed = Blame(wrong, blamed.conflicts, kept)
    conflicts = tuple(_conflict(numbers, members, judge) for members in blamed.conflicts)
    judged = {}
    for i, number in enumerate(numbers):
        fit = _fit(i, numbers, blamed, judge)
        judged[number.key.text] = JudgedNumber(
            number.key.text,
            number.key.measure.name,
            number.printed.text,
            fit.recomputed,
            fit.verdict,
            fit.said,
        )
    return Verdicts(judged, conflicts, (), kept)


def _fit(i: int, numbers: Sequence[Number], blamed: Blame, judge: ClaimJudge) -> Fit:
    if i in blamed.wrong:
        return _wrong(i, numbers, blamed, judge)
    for members in blamed.conflicts:
        if i in members:
            others = [_named(numbers[k]) for k in sorted(members - {i})]
            said = f"it or {_listed(others, 'or')} is wrong: {judge.why(members)}"
            return Fit(NumberVerdict.CONFLICT, None, said)
    return judge.fit(i, blamed.kept)


def _wrong(i: int, numbers: Sequence[Number], blamed: Blame, judge: ClaimJudge) -> Fit:
    members = blamed.wrong[i]
    others = [_named(numbers[k]) for k in sorted(members - {i})]
    why = judge.why(members)
    said = f"can't hold together with {_listed(others, 'and')}: {why}" if others else why
    value, instead = judge.instead(i, blamed.kept)
    return Fit(NumberVerdict.INCONSISTENT, value, f"{said}{'; ' if instead else ''}{instead}")


def _conflict(numbers: Sequence[Number], members: Numbers, judge: ClaimJudge) -> Conflict:
    named = [numbers[k] for k in sorted(members)]
    text = (
        f"at least one of {_listed([_named(each) for each in named], 'and')} is wrong, and it "
        f"can't be told which: {judge.why(members)}"
    )
    return Conflict(tuple(each.key.text for each in named), text)


def _named(number: Number) -> str:
    return f"{number.key.text} {number.printed.text}"


def _listed(words: Sequence[str], last: str) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {last} {words[-1]}"
