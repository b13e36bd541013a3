"""A number that is inconsistent, and every mistake that is tried with it.

Mistakes with the whole matrix are held against every number of a claim, also two at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np
import numpy.typing as npt

from assay.decisions.audit.claim import Claim
from assay.decisions.audit.keys import Key, key_of
from assay.decisions.audit.mistakes import counts, spreads, substitutes
from assay.decisions.audit.mistakes.candidate import (
    Candidate,
    Fit,
    Floats,
    Tier,
    fit,
    guess,
    on_top,
    shifted,
    spans_of_floats,
    turned,
)
from assay.decisions.audit.mistakes.matrices import Swaps, Table, Variant, words
from assay.decisions.audit.printed import Exact, Printed, as_float, printed
from assay.decisions.audit.result import Judged
from assay.decisions.audit.sizes import SIZE
from assay.measures import MCC
from assay.tally import Confusion


@dataclass(frozen=True)
class Number:
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

    def fits(self, candidate: Candidate) -> Fit | None:
        """How a mistake gives the printed digits; of an interval, both ends."""
        found = [fit for fit in (_fit(ends, candidate) for ends in self.spelled) if fit is not None]
        return min(found, default=None)

    def like(self, candidate: Candidate) -> tuple[Printed, ...]:
        """The digits in the spelling that a mistake gives."""
        return next(
            (ends for ends in self.spelled if _fit(ends, candidate) is not None), self.reported
        )

    @property
    def bounds(self) -> tuple[float, float] | None:
        """Where the measure itself can lie; None for what is no measure."""
        if self.key is None or self.key.statistic is not None:
            return None
        return self.key.measure.range


def _fit(ends: tuple[Printed, ...], candidate: Candidate) -> Fit | None:
    if len(candidate.ends) != len(ends):
        return None
    worst = Fit.ROUNDED
    for reported, value in zip(ends, candidate.ends, strict=True):
        found = fit(reported, value)
        if found is None:
            return None
        worst = max(worst, found)
    return worst


def number_of(claim: Claim, judged: Judged) -> Number | None:
    """A judged number with its digits; None where the claim does not hold it."""
    name = judged.key
    right = judged.recomputed if isinstance(judged.recomputed, float | int) else None
    found = claim.reported.get(name)
    if found is not None:
        key = key_of(name)
        ends = found if isinstance(found, tuple) else (found,)
        spelled = tuple(zip(*(claim.spellings(end, key) for end in ends), strict=False))
        return Number(name, key, spelled, right)
    if name == SIZE and claim.n is not None:
        return Number(name, None, ((claim.n,),), right)
    if _label(name) in claim.support:
        return Number(name, None, ((printed(claim.support[_label(name)]),),), right)
    for line in claim.arithmetic:
        if (line.expression, line.reported.text) == (name, judged.reported):
            return Number(name, None, ((line.reported,),), right)
    return None


def _label(name: str) -> str:
    """The label whose rows a size is of."""
    return name.removeprefix("support.")


def alone(claim: Claim, number: Number, table: Table | None) -> Iterator[Candidate]:
    """Every mistake that may have been made with this number alone."""
    key = number.key
    if key is None:
        yield from _of_count(claim, number.name, None if table is None else table.confusion)
        return
    if key.statistic in ("sd", "mean", "se"):
        yield from spreads.statistics(claim, key)
    if table is None:
        if number.right is not None and key.statistic is None:
            yield from _slips(Exact.near(number.right), key)
        return
    if key.statistic == "se":
        yield from spreads.errors(claim, key, table)
    elif key.statistic == "ci":
        yield from spreads.intervals(claim, key, table)
    elif key.statistic is None:
        yield from _of_value(claim, key, table)


def _of_count(claim: Claim, name: str, confusion: Confusion | None) -> Iterator[Candidate]:
    """Of a stated size, or of a line of arithmetic."""
    if any(line.expression == name for line in claim.arithmetic):
        yield from counts.slips(name, confusion)
    elif confusion is not None and name == SIZE:
        yield from counts.sizes(claim, confusion)
    elif confusion is not None and _label(name) in confusion.labels:
        yield from counts.supports(_label(name), claim, confusion)


def _of_value(claim: Claim, key: Key, table: Table) -> Iterator[Candidate]:
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


def _slips(value: Exact, key: Key) -> Iterator[Candidate]:
    yield from shifted(value)
    yield from turned(value, words(key).removeprefix("the "), key.measure)


# -- the whole matrix ------------------------------------------------------------------------------

Numbers = Mapping[int, Number]
# A swap of cells is taken for an accident where so many numbers would find one.
GUESS = 0.25
_SLACK = 1e-9


def of_variant(
    variant: Variant, table: Table, wrong: Numbers, right: Sequence[Number]
) -> Iterator[tuple[int, Candidate]]:
    """What a changed matrix gives for each inconsistent number, and what it would spoil."""
    spoils = sum(not _kept(variant, table, number) for number in right)
    for i, number in wrong.items():
        for candidate in _given(variant, table, number):
            yield i, replace(candidate, spoils=spoils)


def _given(variant: Variant, table: Table, number: Number) -> Iterator[Candidate]:
    if number.key is None or number.key.statistic is not None:
        return
    for reading in table.readings(number.key):
        value = variant.value(reading, table)
        if value is not None and value != table.value(reading):
            yield Candidate(variant.mistake, variant.said, value, variant.tier)


def _kept(variant: Variant, table: Table, number: Number) -> bool:
    """Whether a number that is right would still be printed so."""
    assert number.key is not None  # noqa: S101 - only numbers with a formula are asked for
    values = [variant.value(reading, table) for reading in table.readings(number.key)]
    return any(value is not None and fit(number.reported[0], value) is not None for value in values)


def measured(numbers: Sequence[Number], table: Table) -> list[Number]:
    """The numbers that a matrix gives."""
    return [
        number
        for number in numbers
        if number.key is not None
        and number.key.statistic is None
        and any(table.quantity(reading) is not None for reading in table.readings(number.key))
    ]


def of_swaps(
    swaps: Swaps, wrong: Numbers, right: Sequence[Number]
) -> tuple[dict[int, Floats], list[tuple[int, Candidate]]]:
    """What every swap of two cells gives for each number, and the swaps that are no accident."""
    table = swaps.table
    given = {i: _values(swaps, number) for i, number in wrong.items()}
    near = {i: _near(given[i], number) for i, number in wrong.items()}
    guesses = {i: _guess(given[i], number) for i, number in wrong.items()}
    spoils = np.zeros(len(swaps.pairs), int)
    for number in right:
        spoils += ~_near(_values(swaps, number), number)
    found = []
    for place in np.flatnonzero(np.any(list(near.values()), axis=0)) if near else ():
        explained = [i for i in wrong if near[i][place]]
        as_good = float((spoils <= spoils[place]).mean())
        if as_good * prod(guesses[i] for i in explained) > GUESS:
            continue
        variant = swaps.variant(int(place))
        for i in explained:
            found += [
                (i, replace(candidate, spoils=int(spoils[place])))
                for candidate in _given(variant, table, wrong[i])
            ]
    return given, found


def _guess(values: Floats, number: Number) -> float:
    """How many numbers as near to the right one would find a swap too."""
    if number.right is None:
        return 1.0
    reported = number.reported[0]
    return guess(spans_of_floats(values.ravel(), reported), reported, number.right)


def _values(swaps: Swaps, number: Number) -> Floats:
    """What each swap gives, one row for each reading of the key."""
    assert number.key is not None  # noqa: S101 - only numbers with a formula are asked for
    quantities = [swaps.table.quantity(reading) for reading in swaps.table.readings(number.key)]
    return np.array([swaps.values(quantity) for quantity in quantities if quantity is not None])


def _near(values: Floats, number: Number) -> npt.NDArray[np.bool_]:
    """Which values may give the printed digits, up to the error of floats."""
    reported = number.reported[0]
    middle = as_float(reported.value)
    reach = as_float(reported.unit) * (1 + _SLACK) + _SLACK * abs(middle)
    return np.asarray((np.abs(values - middle) < reach).any(axis=0))


LEAST_DIGITS = 4
# The matrices that a second mistake is tried on.
_TURNED = ("positive-class-swapped", "matrix-transposed", "decisions-flipped")


def twice(
    number: Number, singles: Sequence[Candidate], variants: Sequence[Variant]
) -> Iterator[Candidate]:
    """Every two mistakes that may have been made with one number."""
    key = number.key
    if key is None or key.statistic is not None:
        return
    for single in singles:
        if single.tier in (Tier.USUAL, Tier.MATRIX):
            yield from on_top(single)
    for variant in variants:
        if variant.mistake not in _TURNED:
            continue
        for reading in variant.table.readings(key):
            for second in substitutes.candidates(reading, variant.table):
                if second.tier is Tier.USUAL:
                    yield replace(
                        second,
                        mistake=f"{variant.mistake}+{second.mistake}",
                        said=f"{variant.said} and {second.said}",
                        tier=Tier.TWICE,
                    )
