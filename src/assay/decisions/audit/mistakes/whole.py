"""Mistakes with the whole matrix held against every number of a claim, and two at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import prod

import numpy as np
import numpy.typing as npt

from assay.decisions.audit.exact import as_float
from assay.decisions.audit.mistakes import substitutes
from assay.decisions.audit.mistakes.candidate import (
    Candidate,
    Floats,
    Tier,
    fit,
    guess,
    on_top,
    spans_of_floats,
)
from assay.decisions.audit.mistakes.matrices import Swaps, Table, Variant
from assay.decisions.audit.mistakes.trial import Number

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
