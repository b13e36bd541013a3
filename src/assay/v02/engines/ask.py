"""What is asked of an engine: which column plays which role, and what is to be counted."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from assay.v02.tally.keeping import Exact, Keeping


@dataclass(frozen=True)
class Columns:
    """Which column plays which role.

    ``probabilities`` maps a label, as text, to the column of its probability. ``family`` is the
    slice that tells the kind of attack. ``rows`` tells how many equal rows each row stands for,
    where they were grouped before: all of them are refused together, or counted. ``incident`` names
    the incident that a row is of, ``rule`` what raised an alert, and false alarms of one ``key``
    that follow each other are one false incident.
    """

    label: str
    score: str | None = None
    decision: str | None = None
    probabilities: Mapping[str, str] = field(default_factory=dict)
    count: str | None = None
    weight: str | None = None
    cluster: str | None = None
    slices: tuple[str, ...] = ()
    family: str | None = None
    time: str | None = None
    rows: str | None = None
    incident: str | None = None
    rule: str | None = None
    key: tuple[str, ...] = ()

    @classmethod
    def of_incidents(cls, incident: str, time: str, **others: Any) -> Columns:
        """The columns of rows that are of incidents; those are their labels."""
        return cls(incident, incident=incident, time=time, **others)

    @property
    def names(self) -> list[str]:
        """Every column that is read, once."""
        single = [self.label, self.score, self.decision, *self.probabilities.values()]
        single += [self.count, self.weight, self.cluster, *self.slices, self.family, self.time]
        single += [self.rows, self.incident, self.rule, *self.key]
        return list(dict.fromkeys(name for name in single if name is not None))

    @property
    def rank(self) -> bool:
        """Whether rows are ranked, by a score or by probabilities."""
        return self.score is not None or bool(self.probabilities)


@dataclass(frozen=True)
class Grouping:
    """How alerts are grouped into incidents.

    False alarms that follow each other within ``gap`` microseconds are one false incident.
    ``timezone`` is that of times which name none; without it they are refused.
    """

    gap: int = 600_000_000
    timezone: str | dt.tzinfo | None = None


@dataclass(frozen=True)
class Ask:
    """What is to be counted, and how scores are kept.

    ``threshold`` is the score from which on a row is flagged; where none is said, rows are counted
    at 0.5, and whether that means anything is decided on the sum. ``on_bad_row`` says whether a row
    that can't be used stops the count, or is left out and counted by its reason. ``losses`` are
    those of cuts, which the scores that are kept do not tell. ``positive`` or ``negative`` matters
    here only where labels have a probability each: those of the positive ones are added up to one
    score, row by row. ``incidents`` asks for incidents instead of rows, which is another tally.
    """

    scores: Keeping | None = Exact()  # noqa: RUF009 - frozen
    threshold: float | None = None
    on_bad_row: Literal["stop", "skip"] = "stop"
    losses: bool = True
    positive: Any = None
    negative: Any = None
    incidents: Grouping | None = None
