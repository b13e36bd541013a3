"""What a report claims: its counts, as far as they are given, and its numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from assay.decisions.audit.keys import Key, key_of
from assay.decisions.audit.printed import Printed
from assay.tally import Confusion

BINARY_CELLS = ("tn", "fp", "fn", "tp")
Reported = Printed | tuple[Printed, Printed]


@dataclass(frozen=True)
class Calculation:
    """A line of plain arithmetic and the number that it is said to give."""

    expression: str
    reported: Printed


@dataclass(frozen=True)
class Claim:
    """One result as reported.

    ``labels`` are [negative, positive] for two classes, where both are known; ``matrix`` is whole
    (rows are the truth), or None. ``cells`` are binary cells where one or more are missing.
    ``support`` are rows by label. ``positive`` is None for K classes. ``folds`` are values fold by
    fold, by the text of their measure. ``train`` are rows of the training part by label, or (two
    classes) its cells, where they are told. ``dataset`` is the name of a well-known set.
    ``interval`` and ``level`` name the method of the reported intervals, where it is told;
    ``extra_level`` is one more level to try where it is not.
    ``percents`` is whether some numbers were read as percentages whose sign was left out,
    ``notes`` what had to be assumed. Unless ``exhaustive`` rows may have other labels than these,
    or several of them. ``table`` is the table that the claim is a row of.
    """

    name: str
    source: str = ""
    positive: str | None = None
    negative: str | None = None
    labels: tuple[str, ...] = ()
    matrix: Confusion | None = None
    cells: Mapping[str, int] = field(default_factory=dict)
    support: Mapping[str, int] = field(default_factory=dict)
    n: Printed | None = None
    reported: Mapping[str, Reported] = field(default_factory=dict)
    folds: Mapping[str, tuple[Printed, ...]] = field(default_factory=dict)
    aggregate: str | None = None
    arithmetic: tuple[Calculation, ...] = ()
    dataset: str | None = None
    train: Mapping[str, int] = field(default_factory=dict)
    interval: str | None = None
    level: float | None = None
    extra_level: float | None = None
    file: str = ""
    percents: bool = False
    notes: tuple[str, ...] = ()
    exhaustive: bool = True
    table: str = ""

    @property
    def binary(self) -> bool:
        """Whether one label is the positive."""
        return self.positive is not None

    @property
    def size(self) -> int | None:
        """The stated size, where it is a whole number."""
        stated = self.n is not None and self.n.value.denominator == 1 and self.n.unit == 1
        return int(self.n.value) if self.n is not None and stated else None

    def spellings(self, reported: Printed, key: Key) -> tuple[Printed, ...]:
        """What digits may mean: as they stand, or percent where the claim leaves signs out."""
        if self.percents and key.bounded and not reported.percent:
            return reported, reported.as_percent()
        return (reported,)

    def with_percents(self) -> Claim:
        """The claim with numbers beyond the range of their measure read as percentages.

        96.7 for an accuracy can be nothing else. An interval is read so where both of its ends are
        beyond; values of folds, where one is.
        """
        reported = {key: _in_percent(key, number) for key, number in self.reported.items()}
        folds = {key: _folds_in_percent(key, values) for key, values in self.folds.items()}
        changed = reported != dict(self.reported) or folds != dict(self.folds)
        return replace(self, reported=reported, folds=folds, percents=self.percents or changed)


def _in_percent(key: str, number: Reported) -> Reported:
    if not key_of(key).bounded:
        return number
    if isinstance(number, Printed):
        return number.as_percent() if _beyond(number) else number
    low, high = number
    return (low.as_percent(), high.as_percent()) if _beyond(low) and _beyond(high) else number


def _folds_in_percent(key: str, values: Iterable[Printed]) -> tuple[Printed, ...]:
    values = tuple(values)
    if not key_of(key).bounded or not any(map(_beyond, values)):
        return values
    return tuple(value if value.percent else value.as_percent() for value in values)


def _beyond(number: Printed) -> bool:
    return not number.percent and abs(number.value) > 1
