"""What watching a detector found: periods, how rules stand, and findings, each with a code."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, ClassVar

from assay.v02.decisions.rule import NEW, OLD, Outcome, Rule
from assay.v02.decisions.rule_grammar import parse_rule
from assay.v02.decisions.watched_figures import DIFFERENCES, Scope, Shift, Watched
from assay.errors import InputError
from assay.v02.escaping import plural
from assay.v02.evaluation.deployment import ALERTS, FALSE_ALARMS
from assay.v02.evaluation.findings import Finding
from assay.v02.evaluation.findings.finding import Code
from assay.v02.evaluation.wording import listed, some
from assay.v02.inference.estimate import Estimate
from assay.v02.inference.fields import Recorded, Result, field_error, stored
from assay.v02.inference.significance import chi_square_p
from assay.v02.measures import PRECISION
from assay.v02.number_text import rate, rate_interval, rate_percent, significant
from assay.v02.sources.files.request import RowSource
from assay.v02.tally.daily import DailyTally

if TYPE_CHECKING:
    from assay.v02.decisions.plotting import MonitorPlots


class RuleOutcome(StrEnum):
    """How a rule stands: shown to be kept, shown to be broken, or neither."""

    HOLDS = "holds"
    BROKEN = "broken"
    OPEN = "open"


def _rule_read(given: Any, at: str) -> Rule:
    if not isinstance(given, str):
        raise field_error(at, given, "the text of a rule")
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
        outcomes = {judged.outcome for judged in self.rules}
        for outcome in (RuleOutcome.BROKEN, RuleOutcome.OPEN):
            if outcome in outcomes:
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
        from assay.v02.decisions.plotting import MonitorPlots

        return MonitorPlots(self)

    def __repr__(self) -> str:
        lines = [f"{each.outcome.value}: {each.rule.text}" for each in self.rules]
        figures = [
            f"{each.measure}: {each.estimate}"
            for each in self.last.estimates
            if each.scope == "cumulative" and each.subject == NEW
        ]
        first = (
            f"Monitor: {len(self.periods)} {plural(len(self.periods), 'period', 'periods')} "
            f"until {self.until}"
        )
        return "\n".join([first, *lines, *figures])


# -- rules that a confidence sequence can judge ----------------------------------------------------


def watched_rules(rules: str | Rule | Iterable[str | Rule]) -> tuple[Rule, ...]:
    """Rules that a confidence sequence can judge; others are refused."""
    if isinstance(rules, str) or not isinstance(rules, Iterable):
        rules = [rules]
    parsed = tuple(
        rule if isinstance(rule, Rule) else parse_rule(rule, watched=True) for rule in rules
    )
    for rule in parsed:
        must_be_followed(rule)
    return parsed


def must_be_followed(rule: Rule) -> None:
    """Refuse a rule about what has no confidence sequence here."""
    start = f"the rule {rule.text!r} can't be judged at every look:"
    conditions = (rule.at, rule.base_rate, rule.family, rule.volume, rule.label, rule.average)
    if any(each is not None for each in conditions) or rule.every_family:
        raise InputError(
            f"{start} it has a condition, a label or an average. Write it without, as "
            f"'precision >= 0.5'; the threshold is that of threshold="
        )
    if rule.measure is None and rule.written not in (ALERTS, FALSE_ALARMS):
        raise InputError(f"{start} of {rule.written} nothing is known, since misses raise no alert")
    if rule.measure is not None and not rule.measure.is_proportion:
        raise InputError(
            f"{start} {rule.measure.name} is no share of rows. Take one that is, such as "
            f"precision, recall or false_positive_rate"
        )
    if rule.compares and rule.measure not in DIFFERENCES:
        names = ", ".join(measure.name for measure in DIFFERENCES)
        raise InputError(f"{start} differences are followed of {names}; found {rule.written}")


def must_have_old(rules: Sequence[Rule], *, has_old: bool) -> None:
    """Refuse rules about a second model where there is none."""
    for rule in rules:
        if OLD in rule.models and not has_old:
            raise InputError(
                f"the rule {rule.text!r} needs a second model: name its column with old_score= or "
                f"old_decision="
            )


def judged_rule(rule: Rule, periods: Sequence[Period]) -> WatchedRule:
    """How a rule stands after the last look, and since when."""
    name = rule.written if rule.measure is None else rule.measure.name
    looks = [period.figure(name, "cumulative", rule.subject).estimate for period in periods]
    outcomes = [rule.outcome(each.low, each.high) for each in looks]
    last = looks[-1]
    if Outcome.FAIL in outcomes:
        first = outcomes.index(Outcome.FAIL)
        seen = looks[first]
        why = (
            f"at the end of {periods[first].end} the whole confidence sequence, "
            f"{significant(seen.low)} to {significant(seen.high)}, broke it"
        )
        return WatchedRule(rule, RuleOutcome.BROKEN, periods[first].end, last, why)
    if outcomes[-1] is Outcome.PASS:
        first = len(outcomes) - 1
        while first and outcomes[first - 1] is Outcome.PASS:
            first -= 1
        why = "the whole confidence sequence keeps it"
        return WatchedRule(rule, RuleOutcome.HOLDS, periods[first].end, last, why)
    why = "part of the confidence sequence keeps it and part does not"
    if math.isnan(last.low):
        why = last.undefined or "there is no confidence sequence"
    return WatchedRule(rule, RuleOutcome.OPEN, None, last, why)


# -- findings --------------------------------------------------------------------------------------


BROKEN = Code(
    "M001",
    "warning",
    "a rule is broken",
    "The confidence sequence of all rows so far lies outside what the rule allows, at a look of "
    "your own choice: it is not by chance.",
    "Find out what has changed before the detector is trusted further; the periods and the shift "
    "of columns tell where to look.",
)
NOT_MATURE = Code(
    "M002",
    "info",
    "labels are still missing",
    "What is looked at first is seldom like the rest: figures of the labels so far would "
    "mislead, so only bounds are given.",
    "Wait for the labels, or let a smaller share of them do (the option mature).",
)
SHIFTED = Code(
    "M003",
    "warning",
    "a column is not what it was",
    "It is shown that rows are no longer like those of the reference. That is no loss of quality "
    "by itself, and no proof of one: only labels tell.",
    "Label a sample of recent rows and judge the detector on it; where all is well, take recent "
    "rows as the next reference.",
)
BASE_RATE = Code(
    "M004",
    "warning",
    "the share of attacks may have moved",
    "Precision falls with the share of attacks, even where the detector is what it was.",
    "Label a sample of recent rows. If scores themselves have shifted, this estimate says nothing.",
)
BURSTS = Code(
    "M005",
    "warning",
    "false alarms come in bursts",
    "The confidence sequence of a number a day takes false alarms as independent; where days "
    "differ more than that allows it is too narrow.",
    "Read it as too sure. Group alerts that belong together, and count incidents: assay incidents.",
)
GAPS = Code(
    "M006",
    "info",
    "days without rows",
    "A day without rows may be a day on which nothing was recorded. It counts for nothing here.",
    "See whether the detector or the log stood still.",
)
MOVING = Code(
    "M007",
    "warning",
    "precision differs between periods",
    "A confidence sequence is of one value that stays; where it moves, that of all rows is an "
    "average over times that are unlike.",
    "Read the periods one by one, and start anew from the day on which it changed.",
)
CODES = (BROKEN, NOT_MATURE, SHIFTED, BASE_RATE, BURSTS, GAPS, MOVING)

# A chance as small as this is none: days were not looked at in advance.
_P = 1e-3
_FEWEST_DAYS = 5


def findings_of(
    monitor: Monitor, false_alarms: Sequence[int], precisions: Sequence[tuple[int, int]]
) -> Iterator[Finding]:
    """Every finding that applies: false alarms by day, true alarms of triaged ones by period."""
    for judged in monitor.rules:
        if judged.outcome == "broken":
            yield BROKEN.found(
                f"{judged.rule.text} is shown to be broken since {judged.since}: {_by(judged)}."
            )
    yield from _labels(monitor)
    shifted = [each for each in monitor.shift if each.shifted]
    if shifted:
        shifts = [f"{each.column} (since {each.since})" for each in shifted]
        yield SHIFTED.found(
            f"{listed(shifts)}: not as in the reference. A reason to label, not a loss of quality."
        )
    yield from _base_rate(monitor)
    yield from _bursts(false_alarms)
    if monitor.absent:
        number = len(monitor.absent)
        yield GAPS.found(
            f"there are no rows of {number} {'day' if number == 1 else 'days'} between the first "
            f"and the last: {some(monitor.absent)}."
        )
    yield from _moving(precisions)


def _by(judged: WatchedRule) -> str:
    estimate = judged.estimate
    if math.isnan(estimate):
        return f"between {rate(estimate.low)} and {rate(estimate.high)} by now"
    return f"{rate_interval(estimate)} by now"


def _labels(monitor: Monitor) -> Iterator[Finding]:
    if monitor.positive is None:
        return
    waiting = [
        period
        for period in monitor.periods
        if period.figure(PRECISION.name, "period").mature < monitor.mature
    ]
    if waiting:
        alerts = sum(period.alerts - period.triaged for period in waiting)
        yield NOT_MATURE.found(
            f"{len(waiting)} of {len(monitor.periods)} periods "
            f"{plural(len(waiting), 'has', 'have')} labels for fewer than "
            f"{rate_percent(monitor.mature)} of {plural(len(waiting), 'its', 'their')} alerts, the "
            f"first {waiting[0].start}: {alerts:,} {plural(alerts, 'alert waits', 'alerts wait')} "
            f"for one. Of those periods only bounds are given."
        )


def _base_rate(monitor: Monitor) -> Iterator[Finding]:
    now, before = monitor.base_rate, monitor.reference_base_rate
    if now is None or before is None or math.isnan(now):
        return
    if now.low > before or now.high < before:
        yield BASE_RATE.found(
            f"alerts tell a share of attacks of {rate_interval(now)}, and in the reference it was "
            f"{rate(before)}, if scores of attacks and of harmless rows are what they were."
        )


def _bursts(false_alarms: Sequence[int]) -> Iterator[Finding]:
    days, total = len(false_alarms), sum(false_alarms)
    if days < _FEWEST_DAYS or not total:
        return
    mean = total / days
    spread = sum((each - mean) ** 2 for each in false_alarms) / mean
    if chi_square_p(spread, days - 1) < _P:
        yield BURSTS.found(
            f"over {days} days false alarms have a mean of {significant(mean)} a day and a "
            f"variance of {significant(spread * mean / (days - 1))}; independent ones would have "
            f"about as much variance as mean."
        )


def _moving(precisions: Sequence[tuple[int, int]]) -> Iterator[Finding]:
    """Whether true alarms are spread over periods as one precision would spread them."""
    used = [(k, n) for k, n in precisions if n]
    hits, total = sum(k for k, _ in used), sum(n for _, n in used)
    if len(used) < 2 or hits in (0, total):
        return
    share = hits / total
    spread = sum((k - n * share) ** 2 / (n * share * (1 - share)) for k, n in used)
    if chi_square_p(spread, len(used) - 1) < _P:
        shares = [k / n for k, n in used]
        yield MOVING.found(
            f"precision of single periods runs from {rate(min(shares))} to {rate(max(shares))}, "
            f"farther apart than one precision allows."
        )
