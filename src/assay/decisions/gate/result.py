"""What a gate found."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from assay.decisions.gate.rule import Outcome, Rule
from assay.decisions.plotting import GatePlots
from assay.inference import Estimate
from assay.inference.significance import finite

SCHEMA = "assay.gate/1"


@dataclass(frozen=True)
class Judged:
    """A rule and how it came out.

    ``values`` are those of each model that it looked at, ``thresholds`` where those decided (None
    where nothing could be flagged).
    """

    rule: Rule
    outcome: Outcome
    estimate: Estimate
    reason: str
    values: Mapping[str, float] = field(default_factory=dict)
    thresholds: Mapping[str, float | None] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """The rule as the plain values of the contract."""
        rule, found = self.rule, self.estimate
        return {
            "rule": rule.text,
            "outcome": self.outcome.value,
            "value": finite(float(found)),
            "low": finite(found.low),
            "high": finite(found.high),
            "reason": self.reason,
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
            "new": finite(self.values.get("new")),
            "old": finite(self.values.get("old")),
            "thresholds": {model: finite(at) for model, at in self.thresholds.items()},
            "level": found.level,
            "method": found.method or None,
            "n": found.n,
            "note": found.note,
        }


@dataclass(frozen=True)
class Gate:
    """The outcome of all rules together, and of each.

    ``level`` is what was asked for; each rule is judged at ``rule_level``, which is higher where
    the rules were to hold jointly. ``rows`` counts the rows, positives and negatives.
    """

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
    source: Mapping[str, Any] = field(default_factory=dict)

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
        return GatePlots(self)

    def to_dict(self) -> dict[str, Any]:
        """The gate as the plain values of the contract, ready for JSON."""
        return {
            "schema": SCHEMA,
            "outcome": self.outcome.value,
            "rules": [judged.to_dict() for judged in self.rules],
            "level": self.level,
            "rule_level": self.rule_level,
            "joint": self.joint,
            "resamples": self.resamples,
            "seed": self.seed,
            "labels": list(self.labels),
            "positive": self.positive,
            "rows": dict(self.rows),
            "source": dict(self.source),
            "notes": list(self.notes),
        }

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
