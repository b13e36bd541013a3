"""What an audit found."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar

from assay.evaluation.findings import Finding
from assay.inference.fields import Recorded
from assay.inference.result import Result

if TYPE_CHECKING:
    from assay.decisions.plotting import AuditPlots


class Verdict(StrEnum):
    """Whether a reported number can be right.

    ``inconsistent``: no way of blaming fewest numbers can do without it; ``conflict``: it is one of
    several that can't all be right, and it can't be told which is wrong.
    """

    CONSISTENT = "consistent"
    ROUNDING = "rounding"
    CONFLICT = "conflict"
    INCONSISTENT = "inconsistent"
    UNDETERMINED = "undetermined"


@dataclass(frozen=True)
class Explanation:
    """A mistake that gives the printed digits.

    ``explains`` is how many of the claim's inconsistent numbers the same mistake gives, ``chance``
    how likely a random number of so few digits would be explained by some mistake too. ``also``
    names mistakes that the digits can't tell from this one.
    """

    mistake: str
    value: float
    text: str
    explains: int = 1
    chance: float = 0.0
    also: tuple[str, ...] = ()


@dataclass(frozen=True)
class Judged:
    """A reported number, what it should be, and what is said of it.

    ``key`` is the key as reported, ``n`` for the stated size, or the expression of a calculation.
    ``recomputed`` is a pair for an interval and None where nothing decides it. ``said`` is a plain
    sentence: what it was held against, and why it is so. ``doubt`` is what is said instead, of a
    number that can't be told from a right one unless a mistake gives it.
    """

    key: str
    measure: str | None
    reported: str | tuple[str, str]
    recomputed: float | tuple[float, float] | None
    verdict: Verdict
    said: str = ""
    explanations: tuple[Explanation, ...] = ()
    doubt: str = ""


WRONG = (Verdict.INCONSISTENT, Verdict.CONFLICT)


@dataclass(frozen=True)
class Conflict:
    """Reported numbers, by their keys, of which at least one is wrong, and why."""

    keys: tuple[str, ...]
    text: str


@dataclass(frozen=True)
class AuditedClaim(Recorded):
    """A claim, the verdict on each of its numbers, and those that contradict each other."""

    DERIVED: ClassVar[tuple[str, ...]] = ("verdict",)

    name: str
    source: str
    numbers: tuple[Judged, ...]
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    file: str = ""
    conflicts: tuple[Conflict, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """Inconsistent if some number must be wrong; undetermined if nothing could be judged."""
        found = {number.verdict for number in self.numbers}
        if found.intersection(WRONG):
            return Verdict.INCONSISTENT
        if found & {Verdict.CONSISTENT, Verdict.ROUNDING}:
            return Verdict.CONSISTENT
        return Verdict.UNDETERMINED


@dataclass(frozen=True, repr=False)
class Audit(Result, Recorded):
    """Claims and what was found of each, and of all rows of a table together.

    ``notes`` say what files were read as, and what of them was not read.
    """

    SCHEMA: ClassVar[str] = "assay.audit/1"

    claims: tuple[AuditedClaim, ...]
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def consistent(self) -> bool:
        """Whether no number has to be wrong."""
        return all(claim.verdict is not Verdict.INCONSISTENT for claim in self.claims)

    @property
    def plot(self) -> AuditPlots:
        """Figures by matplotlib: ``audit.plot.numbers()``; needs the extra ``plot``."""
        from assay.decisions.plotting import AuditPlots

        return AuditPlots(self)
