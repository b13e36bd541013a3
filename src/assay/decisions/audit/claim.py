"""What a report claims: its counts, as far as they are given, and its numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from assay.decisions.audit.printed import Printed
from assay.errors import InputError, UnknownMeasure
from assay.measures import Measure, parse
from assay.tally import Confusion

AVERAGES = ("macro", "micro", "weighted")
STATISTICS = ("ci", "se", "sd", "mean")
BINARY_CELLS = ("tn", "fp", "fn", "tp")
# Names of the false discovery rate that are also used for the false positive rate.
FALSE_ALARMS = ("far", "false_alarm_rate")
# Also keeps the beta of an F score within floats.
LONGEST_KEY = 200


@dataclass(frozen=True)
class Key:
    """What a reported number is: a measure, of which label or average, and which statistic of it.

    ``precision.normal`` is the measure of a label, ``f1.macro`` an average, ``accuracy.ci`` an
    interval of a measure, ``f1.macro.se`` the standard error of an average. The suffixes macro,
    micro, weighted, ci, se, sd and mean are reserved; any other is a label.
    """

    text: str
    measure: Measure
    label: str | None = None
    average: str | None = None
    statistic: str | None = None
    spelled: str = ""

    @property
    def value(self) -> Key:
        """The key of the value that a statistic is of: ``accuracy`` for ``accuracy.ci``."""
        if self.statistic is None:
            return self
        return replace(self, text=self.text[: -len(self.statistic) - 1], statistic=None)

    @property
    def may_be_rate(self) -> bool:
        """Whether it says false alarm rate, which people use for two measures."""
        return self.spelled in FALSE_ALARMS

    @property
    def bounded(self) -> bool:
        """Whether no value can be beyond 1."""
        return self.measure.range[1] <= 1


def key_of(text: str) -> Key:
    """Read a key of the table of reported numbers; the longest measure name wins."""
    if len(text) > LONGEST_KEY:
        raise InputError(f"the key {text[:40]!r}... is longer than {LONGEST_KEY} characters")
    try:
        measure, suffix = parse(text)
    except UnknownMeasure as unknown:
        raise InputError(f"the key {text!r}: {unknown}") from unknown
    statistic = label = average = None
    rest = suffix
    if rest is not None:
        head, dot, tail = rest.rpartition(".")
        if tail in STATISTICS:
            statistic, rest = tail, (head if dot else None)
            # The spread of a mean of folds is the spread of the folds.
            if rest is not None and statistic != "mean":
                rest = rest.removesuffix("mean").removesuffix(".") if _of_mean(rest) else rest
                rest = rest or None
    if rest in AVERAGES:
        average = rest
    else:
        label = rest
    spelled = text if suffix is None else text[: -len(suffix) - 1]
    return Key(text, measure, label, average, statistic, spelled)


def _of_mean(suffix: str) -> bool:
    return suffix == "mean" or suffix.endswith(".mean")


@dataclass(frozen=True)
class Calculation:
    """A line of plain arithmetic and the number that it is said to give."""

    expression: str
    reported: Printed


Reported = Printed | tuple[Printed, Printed]


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
    ``notes`` what had to be assumed.
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

    @property
    def binary(self) -> bool:
        """Whether one label is the positive."""
        return self.positive is not None
