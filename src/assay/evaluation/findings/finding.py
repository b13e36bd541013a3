"""What a finding is, and what looks for one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias, TypeVar

from assay.inference.fields import Recorded

if TYPE_CHECKING:
    from assay.evaluation.evaluation import Evaluation

Severity: TypeAlias = Literal["info", "warning", "leak"]


@dataclass(frozen=True)
class Finding(Recorded):
    """Something that the reader of a result should know before believing it.

    The one frame of all codes: E of evaluations, T of thresholds, A of audits, M of monitors, I of
    incidents, L of leaks, R of trainings. ``title`` names what was found, ``why`` tells why it
    matters, ``remedy`` what to do.
    """

    code: str
    severity: Severity
    message: str
    title: str = ""
    why: str = ""
    remedy: str = ""

    @property
    def line(self) -> str:
        """The finding in one line, after its code and severity."""
        return f"{self.code} {self.severity}: {self.message}"


_URGENT: tuple[Severity, ...] = ("leak", "warning", "info")
_F = TypeVar("_F", bound=Finding)


def urgent_first(findings: Iterable[_F]) -> tuple[_F, ...]:
    """Leaks, then warnings, then the rest, each in the order that they came in."""
    return tuple(sorted(findings, key=lambda finding: _URGENT.index(finding.severity)))


@dataclass(frozen=True)
class Code:
    """What the findings of a code have in common; ``severity`` is the usual one, or the worst."""

    code: str
    severity: Severity
    title: str
    why: str
    remedy: str

    def found(self, message: str, severity: Severity | None = None) -> Finding:
        """The finding of this code that a message tells."""
        told = severity or self.severity
        return Finding(self.code, told, message, self.title, self.why, self.remedy)


@dataclass(frozen=True)
class Check(Code):
    """One coded check: ``look`` gives the message where the finding applies, else None.

    The docstring of ``look`` says what is looked for, with an example. ``unless`` are the codes of
    findings that tell the same story better: beside one of them this one is left out.
    ``on_alerts`` is whether it also holds where only alerts were labelled, ``of_decisions`` whether
    it is silent where scores without a threshold decide on no row.
    """

    look: Callable[[Evaluation], str | None]
    unless: tuple[str, ...] = ()
    on_alerts: bool = False
    of_decisions: bool = False

    def __call__(self, evaluation: Evaluation) -> Finding | None:
        """The finding, where it applies."""
        message = self.look(evaluation)
        return None if message is None else self.found(message)
