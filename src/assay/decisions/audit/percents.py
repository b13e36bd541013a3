"""Percentages whose sign was left out: 96.7 for an accuracy can be nothing else."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from assay.decisions.audit.claim import Claim, Reported, key_of
from assay.decisions.audit.printed import Printed


def with_percents(claim: Claim) -> Claim:
    """The claim with numbers beyond the range of their measure read as percentages.

    An interval is read so where both of its ends are beyond; values of folds, where one is.
    """
    reported = {key: _reported(key, number) for key, number in claim.reported.items()}
    folds = {key: _folds(key, values) for key, values in claim.folds.items()}
    changed = reported != dict(claim.reported) or folds != dict(claim.folds)
    return replace(claim, reported=reported, folds=folds, percents=claim.percents or changed)


def _reported(key: str, number: Reported) -> Reported:
    if not key_of(key).bounded:
        return number
    if isinstance(number, Printed):
        return number.as_percent() if _beyond(number) else number
    low, high = number
    return (low.as_percent(), high.as_percent()) if _beyond(low) and _beyond(high) else number


def _folds(key: str, values: Iterable[Printed]) -> tuple[Printed, ...]:
    values = tuple(values)
    if not key_of(key).bounded or not any(map(_beyond, values)):
        return values
    return tuple(value if value.percent else value.as_percent() for value in values)


def _beyond(number: Printed) -> bool:
    return not number.percent and abs(number.value) > 1
