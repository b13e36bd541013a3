"""One rule of a gate: what is judged, where, and what it has to keep."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TypeAlias

from assay.v02.evaluation.deployment import PER_DAY
from assay.v02.formula import cells
from assay.v02.inference.threshold_rules import AtThreshold, MaxFar, MaxFpr
from assay.v02.measures import FALSE_DISCOVERY_RATE, FALSE_POSITIVE_RATE, Measure

NEW, OLD, DIFFERENCE = "new", "old", "new-old"
SUBJECTS = (NEW, OLD, DIFFERENCE)
EVERY = "*"  # each family by itself

# What a condition limits.
_LIMITED = {MaxFar: FALSE_DISCOVERY_RATE, MaxFpr: FALSE_POSITIVE_RATE}

Operating: TypeAlias = AtThreshold | MaxFar | MaxFpr

_PLAIN = re.compile(r"[^\s()@,=<>≤≥\"'*\\]+")


class Outcome(StrEnum):
    """How a rule, or all of them together, came out."""

    PASS = "pass"  # noqa: S105 - no password
    FAIL = "fail"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Rule:
    """A bound on a measure of the new model, of the old one, or of their difference.

    ``measure`` is None for the figures of a day, whose name is ``written``. ``label`` is one class
    against the rest, ``average`` one of macro, micro and weighted. ``at`` is None where the gate's
    own threshold decides, and for measures of scores.
    """

    subject: str
    written: str
    measure: Measure | None
    operator: str
    bound: float
    label: str | None = None
    average: str | None = None
    at: Operating | None = None
    base_rate: float | None = None
    family: str | None = None
    every_family: bool = False
    volume: float | None = None
    text: str = ""
    name: str | None = None
    why: str | None = None

    @property
    def score_measure(self) -> Measure | None:
        """The measure of scores that it judges, which needs no threshold; None of decisions."""
        scored = self.measure is not None and self.measure.of_scores is not None
        return self.measure if scored else None

    @property
    def of_scores(self) -> bool:
        """Whether it judges scores, and so no threshold."""
        return self.score_measure is not None

    @property
    def per_day(self) -> bool:
        """Whether it judges alerts, false alarms or misses a day."""
        return self.measure is None and self.written in PER_DAY

    @property
    def compares(self) -> bool:
        """Whether it judges the difference of the two models."""
        return self.subject == DIFFERENCE

    @property
    def models(self) -> tuple[str, ...]:
        """The models that it needs."""
        return (NEW, OLD) if self.compares else (self.subject,)

    @property
    def range(self) -> tuple[float, float]:
        """The smallest and the largest value that what is judged can have."""
        low, high = (0.0, self.volume or math.inf) if self.measure is None else self.measure.range
        return (low - high, high - low) if self.compares else (low, high)

    @property
    def decided(self) -> bool | None:
        """Whether every model keeps the bound, or none (False); None where that depends.

        A bound at the end of the range, such as ``>= 0``, asks for a value and no more.
        """
        low, high = self.range
        kept = {_keeps(end, self.operator, self.bound) for end in (low, high)}
        if kept == {True} and self.bound in (low, high):
            return None
        return kept.pop() if len(kept) == 1 else None

    def of_family(self, family: str) -> Rule:
        """The same rule for one family."""
        rule = replace(self, family=family, every_family=False)
        return replace(rule, text=rule.canonical())

    def canonical(self) -> str:
        """The rule as text that reads as the same rule."""
        suffix = self.label if self.label is not None else self.average
        of = self.written if suffix is None else f"{self.written}.{suffix}"
        if self.label is not None:
            of = f"{self.written}.{quoted(self.label)}"
        conditions = [] if self.at is None else [_condition(self.at)]
        if self.base_rate is not None:
            conditions.append(f"base-rate={self.base_rate!r}")
        if self.family is not None or self.every_family:
            conditions.append(f"family={EVERY if self.family is None else quoted(self.family)}")
        if self.volume is not None:
            conditions.append(f"volume={_short(self.volume)}")
        at = f"@{', '.join(conditions)}" if conditions else ""
        return f"{self.subject}({of}{at}) {self.operator} {_short(self.bound)}"

    def outcome(self, low: float, high: float) -> Outcome:
        """Pass where the whole interval keeps the bound, fail where none of it does."""
        if math.isnan(low) or math.isnan(high):
            return Outcome.UNDECIDED
        kept = [_keeps(end, self.operator, self.bound) for end in (low, high)]
        if all(kept):
            return Outcome.PASS
        return Outcome.UNDECIDED if any(kept) else Outcome.FAIL


def of_families(measure: Measure | None) -> bool:
    """Whether a family of attacks, whose rows are all positives, has this share of rows."""
    if measure is None or measure.formula is None:
        return False
    return measure.is_proportion and cells(measure.formula) == {"TP", "FN"}


def held_by(at: Operating | None) -> tuple[str | None, ...]:
    """What a condition holds fixed by itself, so that no data could break it."""
    limited = _LIMITED.get(type(at))
    return () if limited is None else (limited.name, limited.complement)


def _keeps(value: float, operator: str, bound: float) -> bool:
    match operator:
        case ">=":
            return value >= bound
        case ">":
            return value > bound
        case "<=":
            return value <= bound
        case _:
            return value < bound


def _condition(at: Operating) -> str:
    match at:
        case AtThreshold(threshold):
            return f"threshold={_short(threshold)}"
        case MaxFpr(limit):
            return f"max-fpr={limit!r}"
        case MaxFar(limit):
            return f"max-far={limit!r}"


def _short(number: float) -> str:
    return repr(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)


def quoted(name: str) -> str:
    r"""A name as a rule writes it, in quotes where it holds what a rule reads otherwise.

    >>> print(quoted("dos"), quoted("brute force"), quoted('a "b"'))
    dos "brute force" "a \"b\""
    """
    if _PLAIN.fullmatch(name):
        return name
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
