"""What watching a detector found."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, ClassVar

from assay.decisions.gate.grammar import parse_rule
from assay.decisions.gate.rule import NEW, Rule
from assay.decisions.monitor.figures import Scope, Watched
from assay.decisions.monitor.shift import Shift
from assay.evaluation.findings import Finding
from assay.inference.estimate import Estimate
from assay.inference.fields import Recorded, stored
from assay.inference.not_finite import odd
from assay.inference.result import Result
from assay.sources.files.request import RowSource
from assay.tally.daily import DailyTally

if TYPE_CHECKING:
    from assay.decisions.plotting_over_time import MonitorPlots


class RuleOutcome(StrEnum):
    """How a rule stands: shown to be kept, shown to be broken, or neither."""

    HOLDS = "holds"
    BROKEN = "broken"
    OPEN = "open"


def _rule_read(given: Any, at: str) -> Rule:
    if not isinstance(given, str):
        raise odd(at, given, "the text of a rule")
    return parse_rule(given, watched=True)


@dataclass(frozen=True)
class WatchedRule(Recorded):
    """A rule, how it stands, and since when.

    A rule is broken from the first look on at which none of its confidence sequence keeps it, and
    stays so; it holds where all of the sequence keeps it at the last look, since the look from
    which on it has. ``estimate`` is that of all rows up to the last look.
    """

    FIRST: ClassVar[tuple[str, ...]] = ("rule", "outcome", "since")

    rule: Rule = field(metadata=stored(write=lambda rule: rule.text, read=_rule_read))
    outcome: RuleOutcome
    since: str | None
    estimate: Estimate = field(metadata=stored(inline=True))
    reason: str


@dataclass(frozen=True)
class Period(Recorded):
    """Some days: their rows and alerts, and what was counted and estimated of them."""

    start: str
    end: str
    rows: int
    alerts: int
    triaged: int
    days: int
    estimates: tuple[Watched, ...]

    def __getitem__(self, name: str) -> Watched:
        """A figure of the model up to the end of the period, by the name of its measure."""
        return self.figure(name)

    def figure(self, name: str, scope: Scope = "cumulative", subject: str = NEW) -> Watched:
        """A figure by its measure, of the period alone or of all rows up to its end."""
        for each in self.estimates:
            if (each.measure, each.scope, each.subject) == (name, scope, subject):
                return each
        raise KeyError(name)


@dataclass(frozen=True)
class Age:
    """How many alerts of an age, in days, were raised, and how many have a label by now.

    ``last`` is None for the oldest.
    """

    first: int
    last: int | None
    alerts: int
    triaged: int


@dataclass(frozen=True)
class Monitor(Result, Recorded):
    """A detector in use: figures of each period, rules, and what has shifted.

    ``every`` is the period, ``mature`` the share of labels that a figure needs, ``until`` the last
    day. ``maturity`` tells by age how many alerts have a label. ``base_rate`` is the share of
    attacks that alerts alone tell, where the reference has labels. ``tally`` is what a later run
    goes on from.
    """

    SCHEMA: ClassVar[str] = "assay.monitor/1"
    DERIVED: ClassVar[tuple[str, ...]] = ("outcome",)

    periods: tuple[Period, ...]
    rules: tuple[WatchedRule, ...]
    shift: tuple[Shift, ...]
    findings: tuple[Finding, ...]
    every: str
    until: str
    level: float
    mature: float
    rows: int
    labels: tuple[str, ...]
    positive: str | None
    threshold: float | None
    models: tuple[str, ...]
    maturity: tuple[Age, ...]
    absent: tuple[str, ...]
    base_rate: Estimate | None
    reference_base_rate: float | None
    seed: int
    notes: tuple[str, ...] = ()
    source: RowSource = field(default_factory=RowSource)
    tally: DailyTally = field(
        default_factory=DailyTally, metadata=stored(left_out=True), repr=False, compare=False
    )

    @property
    def outcome(self) -> RuleOutcome:
        """Broken where any rule is, else open where any is, else it holds."""
        found = {judged.outcome for judged in self.rules}
        for outcome in (RuleOutcome.BROKEN, RuleOutcome.OPEN):
            if outcome in found:
                return outcome
        return RuleOutcome.HOLDS

    @property
    def last(self) -> Period:
        """The last period."""
        return self.periods[-1]

    def __getitem__(self, name: str) -> Watched:
        """A figure of all rows, by the name of its measure."""
        return self.last[name]

    @property
    def plot(self) -> MonitorPlots:
        """Figures by matplotlib: ``monitor.plot.sequence("precision")``; needs ``plot``."""
        from assay.decisions.plotting_over_time import MonitorPlots

        return MonitorPlots(self)

    def __repr__(self) -> str:
        lines = [f"{each.outcome.value}: {each.rule.text}" for each in self.rules]
        figures = [
            f"{each.measure}: {each.estimate}"
            for each in self.last.estimates
            if each.scope == "cumulative" and each.subject == NEW
        ]
        first = f"Monitor: {len(self.periods)} periods until {self.until}"
        return "\n".join([first, *lines, *figures])
