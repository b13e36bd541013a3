"""A number that is inconsistent, and every mistake that is tried with it.

Mistakes with the whole matrix are held against every number of a claim, also two at once. Of sizes
and lines of arithmetic: a sign, a root, a cell, or a part of the rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod

import numpy as np
import numpy.typing as npt

from assay.v02.decisions.audit.claim import Claim, Key, key_of
from assay.v02.decisions.audit.counts import (
    SIZE,
    Chain,
    Literal,
    Negative,
    Node,
    SquareRoot,
    Undecided,
    parsed,
    value_of,
)
from assay.v02.decisions.audit.mistakes import substitutes
from assay.v02.decisions.audit.mistakes.candidates import (
    Candidate,
    ClaimMatrix,
    DigitFit,
    Floats,
    Plausibility,
    Swaps,
    Variant,
    fit,
    guess,
    on_top,
    shifted,
    spans_of_floats,
    training,
    turned,
    words,
)
from assay.v02.decisions.audit.verdicts import Enclosure, JudgedNumber, Printed, as_float, printed
from assay.errors import InputError
from assay.v02.evaluation.wording import name
from assay.v02.measures import MCC
from assay.v02.number_text import count
from assay.v02.tally import Confusion


@dataclass(frozen=True)
class ReportedNumber:
    """A reported number. ``key`` is None for a size or a line of arithmetic.

    ``spelled`` is what its digits may mean, each a value or the two ends of an interval: as they
    stand, or in percent where the claim leaves the signs out.
    """

    name: str
    key: Key | None
    spelled: tuple[tuple[Printed, ...], ...]
    right: float | None

    @property
    def reported(self) -> tuple[Printed, ...]:
        """Its digits as they stand."""
        return self.spelled[0]

    def fits(self, candidate: Candidate) -> DigitFit | None:
        """How a mistake gives the printed digits; of an interval, both ends."""
        fits = [fit for fit in (_fit(ends, candidate) for ends in self.spelled) if fit is not None]
        return min(fits, default=None)

    def like(self, candidate: Candidate) -> tuple[Printed, ...]:
        """The digits in the spelling that a mistake gives."""
        return next(
            (ends for ends in self.spelled if _fit(ends, candidate) is not None), self.reported
        )

    def readings(self, table: ClaimMatrix) -> tuple[Key, ...]:
        """The keys of values that it may stand for; none for a spread or what is no measure."""
        if self.key is None or self.key.statistic is not None:
            return ()
        return table.readings(self.key)

    @property
    def bounds(self) -> tuple[float, float] | None:
        """Where the measure itself can lie; None for what is no measure."""
        if self.key is None or self.key.statistic is not None:
            return None
        return self.key.measure.range


def _fit(ends: tuple[Printed, ...], candidate: Candidate) -> DigitFit | None:
    if len(candidate.ends) != len(ends):
        return None
    worst = DigitFit.ROUNDED
    for reported, value in zip(ends, candidate.ends, strict=True):
        digit_fit = fit(reported, value)
        if digit_fit is None:
            return None
        worst = max(worst, digit_fit)
    return worst


def numbers_of(claim: Claim, judged: Sequence[JudgedNumber]) -> list[ReportedNumber | None]:
    """Judged numbers with their digits; None where the claim does not hold one."""
    results = {(line.expression, line.reported.text): line.reported for line in claim.arithmetic}
    return [_number_of(claim, one, results) for one in judged]


def _number_of(
    claim: Claim, judged: JudgedNumber, results: Mapping[tuple[str, str], Printed]
) -> ReportedNumber | None:
    name = judged.key
    right = judged.recomputed if isinstance(judged.recomputed, float | int) else None
    reported = claim.reported.get(name)
    if reported is not None:
        key = key_of(name)
        ends = reported if isinstance(reported, tuple) else (reported,)
        spelled = tuple(zip(*(claim.spellings(end, key) for end in ends), strict=False))
        return ReportedNumber(name, key, spelled, right)
    if name == SIZE and claim.n is not None:
        return ReportedNumber(name, None, ((claim.n,),), right)
    if _label(name) in claim.support:
        return ReportedNumber(name, None, ((printed(claim.support[_label(name)]),),), right)
    result = results.get((name, judged.reported)) if isinstance(judged.reported, str) else None
    return None if result is None else ReportedNumber(name, None, ((result,),), right)


def _label(name: str) -> str:
    """The label whose rows a size is of."""
    return name.removeprefix("support.")


def alone(claim: Claim, number: ReportedNumber, table: ClaimMatrix | None) -> Iterator[Candidate]:
    """Every mistake that may have been made with this number alone."""
    key = number.key
    if key is None:
        yield from _of_count(claim, number.name, None if table is None else table.confusion)
        return
    if key.statistic in ("sd", "mean", "se"):
        yield from substitutes.statistics(claim, key)
    if table is None:
        if number.right is not None and key.statistic is None:
            yield from _slips(Enclosure.near(number.right), key)
        return
    if key.statistic == "se":
        yield from substitutes.errors(claim, key, table)
    elif key.statistic == "ci":
        yield from substitutes.intervals(claim, key, table)
    elif key.statistic is None:
        yield from _of_value(claim, key, table)


def _of_count(claim: Claim, name: str, confusion: Confusion | None) -> Iterator[Candidate]:
    """Of a stated size, or of a line of arithmetic."""
    if any(line.expression == name for line in claim.arithmetic):
        yield from slips(name, confusion)
    elif confusion is not None and name == SIZE:
        yield from sizes(claim, confusion)
    elif confusion is not None and _label(name) in confusion.labels:
        yield from supports(_label(name), claim, confusion)


def _of_value(claim: Claim, key: Key, table: ClaimMatrix) -> Iterator[Candidate]:
    if substitutes.is_area(key):
        yield from substitutes.from_decisions(key, table)
        yield from substitutes.from_bounds(key, claim)
        return
    for reading in table.readings(key):
        value = table.value(reading)
        if value is not None:
            yield from _slips(value, reading)
        yield from substitutes.candidates(reading, table)
    if key.measure == MCC and key.label is None:
        yield from substitutes.correlations(table.confusion)


def _slips(value: Enclosure, key: Key) -> Iterator[Candidate]:
    yield from shifted(value)
    yield from turned(value, words(key).removeprefix("the "), key.measure)


# -- the whole matrix ------------------------------------------------------------------------------

Numbers = Mapping[int, ReportedNumber]
# A swap of cells is taken for an accident where so many numbers would find one.
GUESS = 0.25
_SLACK = 1e-9


def of_variant(
    variant: Variant, table: ClaimMatrix, wrong: Numbers, right: Sequence[ReportedNumber]
) -> Iterator[tuple[int, Candidate]]:
    """What a changed matrix gives for each inconsistent number, and what it would spoil."""
    spoils = sum(not _kept(variant, table, number) for number in right)
    for i, number in wrong.items():
        for candidate in _given(variant, table, number):
            yield i, replace(candidate, spoils=spoils)


def _given(variant: Variant, table: ClaimMatrix, number: ReportedNumber) -> Iterator[Candidate]:
    for reading in number.readings(table):
        value = variant.value(reading, table)
        if value is not None and value != table.value(reading):
            yield Candidate(variant.mistake, variant.said, value, variant.tier)


def _kept(variant: Variant, table: ClaimMatrix, number: ReportedNumber) -> bool:
    """Whether a number that is right would still be printed so."""
    values = [variant.value(reading, table) for reading in number.readings(table)]
    return any(value is not None and fit(number.reported[0], value) is not None for value in values)


def measured(numbers: Sequence[ReportedNumber], table: ClaimMatrix) -> list[ReportedNumber]:
    """The numbers that a matrix gives."""
    return [
        number
        for number in numbers
        if any(table.quantity(reading) is not None for reading in number.readings(table))
    ]


def of_swaps(
    swaps: Swaps, wrong: Numbers, right: Sequence[ReportedNumber]
) -> tuple[dict[int, Floats], list[tuple[int, Candidate]]]:
    """What every swap of two cells gives for each number, and the swaps that are no accident."""
    table = swaps.table
    given = {i: _values(swaps, number) for i, number in wrong.items()}
    near = {i: _near(given[i], number) for i, number in wrong.items()}
    guesses = {i: _guess(given[i], number) for i, number in wrong.items()}
    spoils = np.zeros(len(swaps.pairs), int)
    for number in right:
        spoils += ~_near(_values(swaps, number), number)
    candidates = []
    for place in np.flatnonzero(np.any(list(near.values()), axis=0)) if near else ():
        explained = [i for i in wrong if near[i][place]]
        as_good = float((spoils <= spoils[place]).mean())
        if as_good * prod(guesses[i] for i in explained) > GUESS:
            continue
        variant = swaps.variant(int(place))
        for i in explained:
            candidates += [
                (i, replace(candidate, spoils=int(spoils[place])))
                for candidate in _given(variant, table, wrong[i])
            ]
    return given, candidates


def _guess(values: Floats, number: ReportedNumber) -> float:
    """How many numbers as near to the right one would find a swap too."""
    if number.right is None:
        return 1.0
    reported = number.reported[0]
    return guess(spans_of_floats(values.ravel(), reported), reported, number.right)


def _values(swaps: Swaps, number: ReportedNumber) -> Floats:
    """What each swap gives, one row for each reading of the key."""
    quantities = [swaps.table.quantity(reading) for reading in number.readings(swaps.table)]
    return np.array([swaps.values(quantity) for quantity in quantities if quantity is not None])


def _near(values: Floats, number: ReportedNumber) -> npt.NDArray[np.bool_]:
    """Which values may give the printed digits, up to the error of floats."""
    reported = number.reported[0]
    middle = as_float(reported.value)
    reach = as_float(reported.unit) * (1 + _SLACK) + _SLACK * abs(middle)
    return np.asarray((np.abs(values - middle) < reach).any(axis=0))


LEAST_DIGITS = 4
# The matrices that a second mistake is tried on.
_TURNED = ("positive-class-swapped", "matrix-transposed", "decisions-flipped")


def twice(
    number: ReportedNumber, singles: Sequence[Candidate], variants: Sequence[Variant]
) -> Iterator[Candidate]:
    """Every two mistakes that may have been made with one number."""
    key = number.key
    if key is None or key.statistic is not None:
        return
    for single in singles:
        if single.tier in (Plausibility.USUAL, Plausibility.MATRIX):
            yield from on_top(single)
    for variant in variants:
        if variant.mistake not in _TURNED:
            continue
        for reading in variant.table.readings(key):
            for second in substitutes.candidates(reading, variant.table):
                if second.tier is Plausibility.USUAL:
                    yield replace(
                        second,
                        mistake=f"{variant.mistake}+{second.mistake}",
                        said=f"{variant.said} and {second.said}",
                        tier=Plausibility.TWICE,
                    )


# -- lines of arithmetic and stated sizes ----------------------------------------------------------

_BITS = 128
_OTHER_SIGN = {"+": "-", "-": "+", "*": "/", "/": "*"}
# A longer line has so many places for a slip that one of them gives anything.
_MOST_PLACES = 40
_Changed = tuple[str, str, Node, Plausibility]


def slips(expression: str, confusion: Confusion | None) -> Iterator[Candidate]:
    """What a line gives with one slip in it."""
    tree = parsed(expression)
    places = 0
    try:
        yield from shifted(value_of(tree, _BITS))
    except Undecided:
        return
    counts = {} if confusion is None else _counts(confusion)
    for mistake, said, changed, tier in (*_changes(tree, counts), *_unbracketed(expression)):
        places += 1
        if places > _MOST_PLACES:
            return
        try:
            yield Candidate(mistake, said, value_of(changed, _BITS), tier)
        except Undecided:
            continue


def _counts(confusion: Confusion) -> dict[Fraction, str]:
    """The counts of a matrix that a line may hold, and what they are."""
    names: dict[Fraction, str] = {}
    for i, row in enumerate(confusion.cells):
        for j, cell in enumerate(row):
            what = f"true {name(confusion.labels[i])}, decided {name(confusion.labels[j])}"
            names.setdefault(Fraction(cell), what)
    return names


def _changes(node: Node, counts: dict[Fraction, str]) -> Iterator[_Changed]:
    """The tree with one of its nodes changed."""
    match node:
        case Literal(value):
            for other, what in counts.items():
                if value in counts and other != value:
                    said = f"the cell {count(int(other))} ({what}) in place of {count(int(value))}"
                    yield "cell-for-cell", said, Literal(other), Plausibility.ANY
        case Negative(body):
            yield "sign-lost", "a minus sign left out", body, Plausibility.ANY
            for mistake, said, changed, tier in _changes(body, counts):
                yield mistake, said, Negative(changed), tier
        case SquareRoot(body):
            yield "no-root", "the root not taken", body, Plausibility.ASSUMED
            for factor, way in ((Fraction(10), "right"), (Fraction(1, 10), "left")):
                said = f"the point moved one place to the {way} under the root"
                moved = SquareRoot(Chain(body, (("*", Literal(factor)),)))
                yield "decimal-shift-under-root", said, moved, Plausibility.ASSUMED
            for mistake, said, changed, tier in _changes(body, counts):
                yield mistake, said, SquareRoot(changed), tier
        case Chain(first, rest):
            for mistake, said, changed, tier in _changes(first, counts):
                yield mistake, said, replace(node, first=changed), tier
            for place, (sign, part) in enumerate(rest):
                before, after = rest[:place], rest[place + 1 :]
                turned = _OTHER_SIGN[sign]
                yield (
                    "wrong-sign",
                    f"{turned} in place of {sign}",
                    Chain(first, (*before, (turned, part), *after)),
                    Plausibility.ANY,
                )
                for mistake, said, changed, tier in _changes(part, counts):
                    yield mistake, said, Chain(first, (*before, (sign, changed), *after)), tier


def _unbracketed(expression: str) -> Iterator[_Changed]:
    """The line with one pair of parentheses left out; those of a root belong to it."""
    opened: list[int] = []
    for at, character in enumerate(expression):
        if character == "(":
            opened.append(at)
        elif character == ")" and opened:
            start = opened.pop()
            if expression[:start].rstrip().lower().endswith(("sqrt", "\u221a")):
                continue
            inner = expression[start + 1 : at]
            try:
                tree = parsed(f"{expression[:start]} {inner} {expression[at + 1 :]}")
            except InputError:
                continue
            yield (
                "parentheses-left-out",
                f"({inner}) without its parentheses",
                tree,
                Plausibility.ASSUMED,
            )


def sizes(claim: Claim, confusion: Confusion) -> Iterator[Candidate]:
    """What else may have been counted where all rows of the test belong."""
    total = confusion.total
    yield from shifted(Enclosure.of(total))
    told = training(claim, confusion)
    if told is not None:
        trained = sum(map(sum, told))
        said = f"the {count(trained)} training rows counted with those of the test"
        yield Candidate("train-and-test", said, Enclosure.of(trained + total), Plausibility.USUAL)
        yield Candidate(
            "train-size", "the training rows alone", Enclosure.of(trained), Plausibility.USUAL
        )
    for label, rows in zip(confusion.labels, confusion.rows, strict=True):
        said = f"the rows of {name(label)} alone"
        yield Candidate("one-class", said, Enclosure.of(rows), Plausibility.ASSUMED)
        if len(confusion.labels) > 2:
            said = f"the rows without those of {name(label)}"
            yield Candidate(
                "class-left-out", said, Enclosure.of(total - rows), Plausibility.ASSUMED
            )
    labels = [name(label) for label in confusion.labels]
    for i, row in enumerate(confusion.cells):
        for j, cell in enumerate(row):
            where = f"(true {labels[i]}, decided {labels[j]})"
            for mistake, said, n in (
                ("cell-left-out", f"the rows without the cell {where}", total - cell),
                ("cell-counted-twice", f"the cell {where} counted twice", total + cell),
            ):
                yield Candidate(mistake, said, Enclosure.of(n), Plausibility.ANY)


def supports(label: str, claim: Claim, confusion: Confusion) -> Iterator[Candidate]:
    """What else may have been counted where the rows of one label belong."""
    place = confusion.labels.index(label)
    rows = confusion.rows[place]
    yield from shifted(Enclosure.of(rows))
    decided = Enclosure.of(confusion.columns[place])
    said = f"the rows that were decided as {name(label)}"
    yield Candidate("decided-for-true", said, decided, Plausibility.USUAL)
    for i, other in enumerate(confusion.labels):
        if other != label:
            said, value = f"the rows of {name(other)}", Enclosure.of(confusion.rows[i])
            yield Candidate(f"other-label:{i + 1}", said, value, Plausibility.USUAL)
    told = training(claim, confusion)
    if told is not None:
        trained = sum(told[place])
        said = f"the {count(trained)} training rows counted with those of the test"
        yield Candidate("train-and-test", said, Enclosure.of(trained + rows), Plausibility.USUAL)
        said = "the training rows alone"
        yield Candidate("train-size", said, Enclosure.of(trained), Plausibility.USUAL)
