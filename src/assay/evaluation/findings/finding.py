"""What a finding is, and what looks for one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from assay.evaluation.evaluation import Evaluation

Severity: TypeAlias = Literal["info", "warning"]


@dataclass(frozen=True)
class Finding:
    """Something about an evaluation that its reader should know before believing it."""

    code: str
    severity: Severity
    message: str


@dataclass(frozen=True)
class Check:
    """One coded check: ``look`` gives the message where the finding applies, else None.

    ``title`` names what is found, ``why`` tells why it matters, ``remedy`` what to do about it. The
    docstring of ``look`` says what is looked for, with an example. ``unless`` are the codes of
    findings that tell the same story better: beside one of them this one is left out.
    ``on_alerts`` is whether it also holds where only alerts were labelled, ``of_decisions`` whether
    it is silent where scores without a threshold decide on no row.
    """

    code: str
    severity: Severity
    title: str
    why: str
    remedy: str
    look: Callable[[Evaluation], str | None]
    unless: tuple[str, ...] = ()
    on_alerts: bool = False
    of_decisions: bool = False

    def __call__(self, evaluation: Evaluation) -> Finding | None:
        """The finding, where it applies."""
        message = self.look(evaluation)
        return None if message is None else Finding(self.code, self.severity, message)
