"""What a finding is, and what looks for one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

from assay.v02.inference.fields import Recorded

if TYPE_CHECKING:
    from assay.v02.evaluation.evaluation import Evaluation

Severity: TypeAlias = Literal["info", "warning", "leak"]


@dataclass(frozen=True)
class Finding(Recorded):
    """Something that the reader of a result should know before believing it.

    The one frame of all codes: E of evaluations, T of thresholds, A of audits, M of monitors, I of
    incidents, L of leaks, R of trainings. ``title`` names what was found, ``why`` tells why it
    matters, ``remedy`` what to do. ``mistake`` is whether it looks like a mistake on the way to the
    numbers, which the first line of a report then says.
    """

    code: str
    severity: Severity
    message: str
    title: str = ""
    why: str = ""
    remedy: str = ""
    mistake: bool = field(default=False, kw_only=True)

    def shaped(self, plain: dict[str, Any]) -> dict[str, Any]:
        """Only of a likely mistake it is written that it is one."""
        return plain if self.mistake else {k: v for k, v in plain.items() if k != "mistake"}

    @property
    def line(self) -> str:
        """The finding in one line, after its code and severity."""
        return f"{self.code} {self.severity}: {self.message}"


_URGENT: tuple[Severity, ...] = ("leak", "warning", "info")
_F = TypeVar("_F", bound=Finding)


def urgent_first(findings: Iterable[_F]) -> tuple[_F, ...]:
    """Leaks, then warnings, likely mistakes first, then the rest, else in the order given."""
    return tuple(
        sorted(findings, key=lambda each: (_URGENT.index(each.severity), not each.mistake))
    )


@dataclass(frozen=True)
class Code:
    """What the findings of a code have in common; ``severity`` is the usual one, or the worst.

    ``mistake`` is whether they tell of a likely mistake of the user's, though a legal one.
    """

    code: str
    severity: Severity
    title: str
    why: str
    remedy: str
    mistake: bool = field(default=False, kw_only=True)

    def found(self, message: str, severity: Severity | None = None) -> Finding:
        """The finding of this code that a message tells."""
        rank = severity or self.severity
        common = (self.title, self.why, self.remedy)
        return Finding(self.code, rank, message, *common, mistake=self.mistake)


@dataclass(frozen=True)
class FindingCheck(Code):
    """One coded check: ``look`` gives the message where the finding applies, else None.

    The docstring of ``look`` says what is looked for, with an example. ``unless`` are the codes of
    findings that tell the same story better: beside one of them this one is left out.
    ``on_alerts`` is whether it also holds where only alerts were labelled, ``of_decisions`` whether
    it is silent where scores without a threshold decide on no row. ``sure`` tells of the findings
    of a likely mistake which ones chance does not make; without it all are.
    """

    look: Callable[[Evaluation], str | None]
    unless: tuple[str, ...] = ()
    on_alerts: bool = False
    of_decisions: bool = False
    sure: Callable[[Evaluation], bool] | None = None

    def __call__(self, evaluation: Evaluation) -> Finding | None:
        """The finding, where it applies."""
        message = self.look(evaluation)
        if message is None:
            return None
        mistake = self.mistake and (self.sure is None or self.sure(evaluation))
        return replace(self.found(message), mistake=mistake)
