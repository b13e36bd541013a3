"""What a plan says: the goals, and the rows that reach each."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

from assay.inference.fields import Recorded, stored
from assay.inference.result import Result


@dataclass(frozen=True)
class Need:
    """Rows that reach a goal, and how many errors they may hold.

    ``rows`` are rows of any kind (those that an interval or a comparison is about). ``chance`` is
    how likely it is to succeed, where the detector's expected rates are known.
    ``detection_rate`` and ``false_positive_rate`` are the bounds that are shown on the way to a
    false alarm rate. ``expected`` and ``method`` belong to an interval or a test. ``base_rate`` is
    that of the rows that labels are drawn from, and ``missed`` where missed attacks are thought to
    score, ``binormal`` or ``anywhere``, where they are drawn by strata; then no ``rows`` means that
    there are not enough.
    """

    negatives: int | None = None
    positives: int | None = None
    alerts: int | None = None
    rows: int | None = None
    false_alarms: int | None = None
    misses: int | None = None
    detection_rate: float | None = None
    false_positive_rate: float | None = None
    expected: float | None = None
    method: str | None = None
    chance: float | None = None
    base_rate: float | None = None
    missed: str | None = None

    @property
    def total(self) -> int:
        """All rows to label."""
        return sum(each or 0 for each in (self.negatives, self.positives, self.alerts, self.rows))


@dataclass(frozen=True)
class Goal(Recorded):
    """One thing to know: what was asked, how sure, and what it takes.

    ``confidence`` is this goal's own, after the error was shared: that of a bound, or the level of
    an interval or a test. ``needs`` are ways to reach it; ``enough`` is the smallest that succeeds
    with the power asked for, given the expected rates. ``hopeless`` tells why nothing does.
    """

    name: str
    target: float
    confidence: float
    needs: tuple[Need, ...]
    enough: Need | None = None
    hopeless: str | None = None
    family: str | None = None
    discordant: float | None = None


@dataclass(frozen=True, repr=False)
class Plan(Result, Recorded):
    """How many labelled rows are needed, for each goal.

    >>> from assay import plan
    >>> plan(max_fpr=1e-4)["max_fpr"].needs[0].negatives
    23025
    """

    SCHEMA: ClassVar[str] = "assay.plan/1"

    goals: tuple[Goal, ...]
    confidence: float
    level: float
    power: float
    base_rate: float | None = None
    rows: int | None = None
    expected_fpr: float | None = field(default=None, metadata=stored(key="expected/fpr"))
    expected_dr: float | None = field(default=None, metadata=stored(key="expected/dr"))
    notes: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> Goal:
        """The first goal of a name, such as ``max_fpr``."""
        for goal in self.goals:
            if goal.name == name:
                return goal
        raise KeyError(f"there is no goal {name!r}; there are {[g.name for g in self.goals]}")

    @property
    def certified(self) -> tuple[Goal, ...]:
        """The goals that share the confidence."""
        return tuple(goal for goal in self.goals if goal.name in CERTIFIED)

    def records(self) -> list[dict[str, Any]]:
        """Every need as a row of a table."""
        columns = [field.name for field in fields(Need)]
        return [
            {
                "goal": goal.name,
                "family": goal.family,
                "target": goal.target,
                "confidence": goal.confidence,
                **{name: getattr(need, name) for name in columns},
                "enough": need == goal.enough,
            }
            for goal in self.goals
            for need in dict.fromkeys((*goal.needs, *((goal.enough,) if goal.enough else ())))
        ]


CERTIFIED = ("max_fpr", "min_dr", "max_far")
