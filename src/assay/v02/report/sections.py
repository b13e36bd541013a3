"""What a report says, before anybody decides how it looks.

A :class:`Report` is derived from a document when a face (terminal, CSV, Markdown, LaTeX, HTML) is
drawn, and is never stored; each face is a function of it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, TypeAlias

from assay.errors import MethodError
from assay.v02.escaping import name as shown_name
from assay.v02.evaluation.deployment import (
    ALERTS,
    FALSE_ALARMS,
    MISSED,
    PRECISION_AT_TOP,
    RECALL_AT_TOP,
)
from assay.v02.evaluation.findings import Finding, urgent_first
from assay.v02.formula import Expression
from assay.v02.inference import Estimate
from assay.v02.measures import Better, Measure, find
from assay.v02.measures.measure import spoken
from assay.v02.report.provenance import Provenance


class Rank(float):
    """A mean rank, which has its decimals also where it is whole."""


@dataclass(frozen=True)
class Formula:
    """A formula on one line, and as a paper sets it in math mode."""

    plain: str
    latex: str


Bare: TypeAlias = str | int | float | Estimate | Formula | None


@dataclass(frozen=True)
class Marked:
    """A cell that stands out, such as the best of its row; a note of the table says why."""

    cell: Bare


Cell: TypeAlias = Bare | Marked


class Tier(Enum):
    """Where in a paper a part belongs."""

    MAIN = "main results"
    ADVANCED = "advanced results"
    APPENDIX = "appendix"


class Kind(Enum):
    """What the cells of a column are, and so how they are written."""

    TEXT = "text"
    COUNT = "count"
    SHARE = "a number between 0 and 1, or any measure"
    DAILY = "a number a day"
    DIFFERENCE = "a difference, with its sign"
    P_VALUE = "a p-value"
    DRAWING = "drawn in characters"


@dataclass(frozen=True)
class Column:
    """A column of a table; ``optional`` ones are left out first where room is short.

    What a ``noted`` one holds is then told below the table. Those that are a ``detail`` are never
    shown in a terminal, like sections of that kind.
    """

    name: str
    kind: Kind = Kind.TEXT
    optional: bool = False
    detail: bool = False
    noted: bool = False


# Between which values a measure lies for sure, where scores are kept as a grid.
BOUND = Column("bound", optional=True, noted=True)


@dataclass(frozen=True)
class Table:
    """Rows of cells; an estimate is written with its interval.

    A page draws a lone column of estimates, unless ``as_rows`` says that all are to be read.
    """

    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()
    as_rows: bool = False


@dataclass(frozen=True)
class Course(Table):
    """A table over steps in their order, such as epochs; a page draws its shares as lines."""


@dataclass(frozen=True)
class PeriodCourse(Course):
    """A course over days, weeks or months; a page draws each measure by itself, with intervals.

    ``bounds`` are values that a column is held to: its name, the value, and what is said of it.
    """

    bounds: tuple[tuple[str, float, str], ...] = ()


@dataclass(frozen=True)
class StepCurve(Table):
    """A table of a curve that goes in steps; a page draws it, with its band where it has one.

    A step holds from its ``x`` on up to the next. ``axes`` name both, and ``highest`` is what the
    upright one goes up to at least; ``marks`` are points that stand out, each with its name.
    """

    axes: tuple[str, str] = ("", "")
    x: tuple[float, ...] = ()
    y: tuple[float, ...] = ()
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    marks: tuple[tuple[float, float, str], ...] = ()
    highest: float = 0.0


@dataclass(frozen=True)
class MeanRanks(Table):
    """A table of mean ranks; a page draws it as a critical-difference diagram.

    ``ranks`` are the models, best first; ``critical`` is how far apart mean ranks must be to be
    told apart, and ``groups`` the runs of models that are not, each from its first to its last.
    """

    ranks: tuple[tuple[str, float], ...] = ()
    critical: float = 0.0
    groups: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class Bar:
    """An incident in time: seconds from the beginning, the first alert, and what is said of it."""

    name: str
    start: float
    end: float
    first_alert: float | None = None
    remark: str = ""


@dataclass(frozen=True)
class Bars(Table):
    """A table of incidents; a page draws each as a bar in time, alerts and false incidents below.

    Time is in seconds from ``since`` on, which is a moment in UTC. ``alerts`` and
    ``false_incidents`` are stretches, each with its start and end.
    """

    bars: tuple[Bar, ...] = ()
    since: int = 0
    seconds: float = 0.0
    alerts: tuple[tuple[float, float], ...] = ()
    false_incidents: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True)
class Matrix:
    """A confusion matrix; rows are the truth."""

    caption: str
    labels: tuple[str, ...]
    cells: tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class Dot:
    """One value of a sliced column: its name, its estimate, and what is said of it."""

    name: str
    estimate: Estimate
    remark: str = ""


@dataclass(frozen=True)
class Dots:
    """Slices side by side, worst first; the estimate of all rows beside them."""

    caption: str
    column: str
    measure: Measure
    dots: tuple[Dot, ...]
    whole: Estimate | None = None
    notes: tuple[str, ...] = ()


class DifferenceOutcome(Enum):
    """What a difference with its interval tells."""

    BETTER = "better"
    WORSE = "worse"
    DIFFERENT = "different"
    SAME = "equivalent"
    OPEN = "undecided"
    UNDEFINED = "undefined"


@dataclass(frozen=True)
class Change:
    """A line of a forest plot: a difference, whether more is better, and what is said of it.

    ``shown`` is False where the interval alone tells, but no longer among so many differences.
    """

    name: str
    difference: Estimate
    better: Better = Better.HIGHER
    remark: str = ""
    shown: bool = True

    def outcome(self, margin: float | None = None) -> DifferenceOutcome:
        """What the interval tells: on one side of 0, else wholly within the margin, else open."""
        low, high = self.difference.low, self.difference.high
        if math.isnan(self.difference):
            return DifferenceOutcome.UNDEFINED
        if self.better is Better.LOWER:
            low, high = -high, -low
        if (low > 0 or high < 0) and self.shown:
            if self.better is Better.NEITHER:
                return DifferenceOutcome.DIFFERENT
            return DifferenceOutcome.BETTER if low > 0 else DifferenceOutcome.WORSE
        if low == high:
            # No row tells a difference, which only many rows make sure of.
            rows = self.difference.n or 0
            high = 1 - (1 - self.difference.level) ** (1 / rows) if rows else math.inf
        within = margin is not None and -margin < low and high < margin
        return DifferenceOutcome.SAME if within else DifferenceOutcome.OPEN


@dataclass(frozen=True)
class ForestPlot:
    """Differences with their intervals around a line at 0, and the margin of what is the same."""

    caption: str
    changes: tuple[Change, ...]
    margin: float | None = None
    notes: tuple[str, ...] = ()
    column: str = "measure"


@dataclass(frozen=True)
class Prose:
    """Sentences."""

    text: str


Block: TypeAlias = Table | Matrix | Dots | ForestPlot | Prose


@dataclass(frozen=True)
class Section:
    """A heading and what stands under it.

    ``tier`` is where a paper would have it; ``detail`` is what a short report leaves out or folds.
    """

    title: str
    blocks: tuple[Block, ...]
    tier: Tier | None = None
    detail: bool = False


@dataclass(frozen=True)
class Panel:
    """What the page needs to move a threshold: one table (threshold, tp, fp), decreasing.

    ``threshold`` is where the report stands, None where decisions were given; without ``given``
    nobody said one, and the page only begins there. ``measures`` are the count measures that follow
    it. ``decided`` are the report's own (tp, fp, fn, tn), ``shown_at``
    the estimates there, and ``deployed`` those at each base rate; the page starts at the first one.
    """

    negative: str
    positive: str
    negatives: float
    positives: float
    threshold: float | None
    sweep: Mapping[str, tuple[float | None, ...]]
    measures: tuple[Measure, ...]
    level: float = 0.95
    base_rates: tuple[float, ...] = ()
    volume: float | None = None
    weighted: bool = False
    clustered: bool = False
    reliability: Mapping[str, tuple[float, ...]] | None = None
    shown_at: Mapping[str, Estimate] = field(default_factory=dict)
    decided: tuple[float, float, float, float] = (0, 0, 0, 0)
    given: bool = True
    deployed: Mapping[float, Mapping[str, Estimate]] = field(default_factory=dict)


@dataclass(frozen=True)
class Report:
    """What it says in words, its parts and its findings.

    ``records`` are the rows of the CSV table. ``plain`` are further keys of the JSON document, or
    all of it for pages that no result stands behind, as those of measures.
    """

    title: str
    headline: tuple[str, ...]
    sections: tuple[Section, ...]
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    plain: Mapping[str, Any] = field(default_factory=dict)
    panel: Panel | None = None
    made: Provenance | None = None
    records: tuple[Mapping[str, Any], ...] = ()

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """The findings that stand above all numbers."""
        ordered = urgent_first(self.findings)
        return tuple(finding for finding in ordered if finding.severity != "info")

    @property
    def remarks(self) -> tuple[Finding, ...]:
        """The findings that stand below them."""
        return tuple(finding for finding in self.findings if finding.severity == "info")

    def made_by(self, made: Provenance | None) -> Report:
        """The same page, and its JSON, with how they came about."""
        if made is None:
            return self
        return replace(self, made=made, plain={**self.plain, "provenance": made.to_dict()})


# -- what measures and classes are called ----------------------------------------------------------


_DAILY = {
    ALERTS: "alerts a day",
    FALSE_ALARMS: "false alarms a day",
    MISSED: "missed a day",
    PRECISION_AT_TOP: "precision among the top alerts",
    RECALL_AT_TOP: "detection rate among the top alerts",
}
_AVERAGES = {
    "macro": "macro",
    "macro_defined": "macro over the classes that have a value",
    "micro": "micro",
    "weighted": "weighted",
}
# How a row of the usual positive labels is called; any other is a row that "is" its label.
_POSITIVES = {
    "attack": "attacks",
    "malicious": "malicious rows",
    "malware": "malware",
    "anomaly": "anomalies",
    "intrusion": "intrusions",
    "spam": "spam",
    "phishing": "phishing",
    "ddos": "DDoS",
    "fraud": "fraud",
}


def matrix_caption(*, weighted: bool) -> str:
    """How a confusion matrix is to be read."""
    return f"Rows are the truth, columns the decision{'; sums of weights' if weighted else ''}"


def measure_name(measure: Measure | str, average: str | None = None) -> str:
    """A measure as a heading calls it.

    >>> measure_name("recall"), measure_name("recall", "macro"), measure_name("f0.5")
    ('detection rate (recall)', 'recall, macro', 'F0.5')
    >>> measure_name("recall", "normal")  # of a label
    'recall, normal'
    """
    if isinstance(measure, str) and measure in _DAILY:
        return _DAILY[measure]
    declared = find(measure) if isinstance(measure, str) else measure
    if average is not None:
        # The words of the vocabulary are of attacks; an average is of any class.
        called = spoken(declared.name) if declared.aside else declared.title
        return f"{called}, {_AVERAGES.get(average, average)}"
    return f"{declared.title} ({declared.aside})" if declared.aside else declared.title


def count_formula(measure: Measure) -> Expression:
    """The formula of a measure of counts; only these follow a threshold."""
    if measure.formula is None:
        raise MethodError(f"{measure.name} has no formula of counts")
    return measure.formula


def positives(label: str) -> str:
    """The rows of the positive label, as a sentence calls them.

    >>> positives("attack"), positives("1"), positives("not normal")
    ('attacks', "rows that are '1'", "rows that are not 'normal'")
    """
    if label.startswith("not "):
        # What is not the one negative label, with its names as families.
        return f"rows that are not {quoted(label.removeprefix('not '))}"
    return _POSITIVES.get(label.lower(), f"rows that are {quoted(label)}")


def quoted(label: str) -> str:
    """A label in a sentence."""
    return f"'{shown_name(label)}'"
