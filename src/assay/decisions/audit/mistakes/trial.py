"""A number that is inconsistent, and every mistake that is tried with it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from assay.decisions.audit.claim import Claim
from assay.decisions.audit.exact import Exact
from assay.decisions.audit.keys import Key, key_of
from assay.decisions.audit.mistakes import counts, spreads, substitutes
from assay.decisions.audit.mistakes.candidate import Candidate, Fit, fit, shifted, turned
from assay.decisions.audit.mistakes.matrices import Table, words
from assay.decisions.audit.printed import Printed, printed
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
