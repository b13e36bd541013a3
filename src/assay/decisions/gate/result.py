"""What a gate found."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from assay.decisions.gate.grammar import parse_rule
from assay.decisions.gate.rule import Outcome, Rule
from assay.evaluation.findings import Finding
from assay.inference import Estimate
from assay.inference.fields import Recorded, stored
from assay.inference.not_finite import odd
from assay.inference.result import Result
from assay.sources.files.request import RowSource

if TYPE_CHECKING:
    from assay.decisions.plotting import GatePlots


def _rule_written(rule: Rule) -> dict[str, Any]:
    """A rule as text, and what it says in parts."""
    return {
        "rule": rule.text,
        "name": rule.name,
        "why": rule.why,
        "subject": rule.subject,
        "measure": rule.written if rule.measure is None else rule.measure.name,
        "label": rule.label,
        "average": rule.average,
        "family": rule.family,
        "base_rate": rule.base_rate,
        "volume": rule.volume,
        "at": None if rule.at is None else str(rule.at),
        "operator": rule.operator,
        "bound": rule.bound,
    }


def _rule_read(given: dict[str, Any], at: str) -> Rule:
    """The rule that its text tells, with its name and what it is for."""
    text, name, why = (given.get(key) for key in ("rule", "name", "why"))
    if not isinstance(text, str) or not all(isinstance(t, str | None) for t in (name, why)):
        raise odd(at, [text, name, why], "the text of a rule, its name and why")
    return parse_rule(text, name=name, why=why)


@dataclass(frozen=True)
class Judged(Recorded):
    """A rule and how it came out.

    ``values`` are those of each model that it looked at, ``thresholds`` where those decided (None
    where nothing could be flagged).
    """

    DERIVED: ClassVar[tuple[str, ...]] = ("new", "old")
    FIRST: ClassVar[tuple[str, ...]] = ("rule", "outcome", "value", "low", "high", "reason")

    rule: Rule = field(metadata=stored(inline=True, write=_rule_written, read=_rule_read))
    outcome: Outcome
    estimate: Estimate = field(metadata=stored(inline=True, renamed={"bound": "bounds"}))
    reason: str
    values: Mapping[str, float] = field(default_factory=dict)
    thresholds: Mapping[str, float | None] = field(default_factory=dict)

    @property
    def new(self) -> float | None:
        """The value of the new model by itself."""
        return _known(self.values.get("new"))

    @property
    def old(self) -> float | None:
        """The value of the old model by itself."""
        return _known(self.values.get("old"))


def _known(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else value


@dataclass(frozen=True)
class Gate(Result, Recorded):
    """The outcome of all rules together, and of each.

    ``level`` is what was asked for; each rule is judged at ``rule_level``, which is higher where
    the rules were to hold jointly. ``rows`` counts the rows, positives and negatives.
    ``allow_undecided`` says that rows which can't decide fail no build. ``threshold`` is where the
    new model flags rows if a rule sets none: None for decisions, and where rules had to set one.
    ``findings`` are what looks like a mistake, such as scores that are turned round.
    """

    SCHEMA: ClassVar[str] = "assay.gate/1"
    DERIVED: ClassVar[tuple[str, ...]] = ("outcome",)

    rules: tuple[Judged, ...]
    level: float
    rule_level: float
    joint: bool
    resamples: int
    seed: int
    labels: tuple[str, ...]
    positive: str
    rows: Mapping[str, int]
    notes: tuple[str, ...] = ()
    source: RowSource = field(default_factory=RowSource)
    allow_undecided: bool = False
    threshold: float | None = None
    findings: tuple[Finding, ...] = ()

    @property
    def outcome(self) -> Outcome:
        """Fail where any rule fails, else undecided where any is, else pass."""
        found = {judged.outcome for judged in self.rules}
        for outcome in (Outcome.FAIL, Outcome.UNDECIDED):
            if outcome in found:
                return outcome
        return Outcome.PASS

    @property
    def passed(self) -> bool:
        """Whether every rule is kept, with confidence."""
        return self.outcome is Outcome.PASS

    @property
    def plot(self) -> GatePlots:
        """Figures by matplotlib: ``gate.plot.rules()``; needs the extra ``plot``."""
        from assay.decisions.plotting import GatePlots

        return GatePlots(self)

    def __repr__(self) -> str:
        width = max(len(judged.outcome.value) for judged in self.rules)
        lines = [
            f"{judged.outcome.value:<{width}}  {judged.rule.text}: {judged.estimate}"
            for judged in self.rules
        ]
        return "\n".join([f"Gate: {self.outcome.value}", *lines])


def reason_of(rule: Rule, found: Estimate, outcome: Outcome) -> str:
    """Why a rule came out as it did, as a sentence tells it."""
    if math.isnan(found):
        return f"undefined: {found.undefined}" if found.undefined else "undefined"
    if math.isnan(found.low):
        return found.note or "there is no interval"
    bound = f"{rule.bound:,.12g}"
    if outcome is Outcome.UNDECIDED:
        return f"part of the interval keeps the bound and part does not{_more(rule, found)}"
    kept = outcome is Outcome.PASS
    words = _KEPT if kept else _BROKEN
    return f"the whole interval is {words[rule.operator]} {bound}"


def _more(rule: Rule, found: Estimate) -> str:
    """How many rows would tell, since intervals shrink with the root of their number."""
    off = float(found) - rule.bound
    side = float(found) - found.low if off > 0 else found.high - float(found)
    if off == 0 or not math.isfinite(side):
        return ""
    times = (side / abs(off)) ** 2
    if times > _MOST_TIMES:
        return "; it is too close to the bound for any number of rows"
    shown = f"{max(times, 1.1):.2g}" if times < 10 else f"{times:.0f}"
    return f"; about {shown} times as many rows would tell, if the value stays"


# More rows than so many times those there are won't be found.
_MOST_TIMES = 1000
_KEPT = {">=": "at least", ">": "above", "<=": "at most", "<": "below"}
_BROKEN = {">=": "below", ">": "at most", "<=": "above", "<": "at least"}
