"""What looks for something that the reader of a run should know."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.evaluation.findings.finding import Finding, Severity

if TYPE_CHECKING:
    from assay.learn.run import Run


@dataclass(frozen=True)
class RunCheck:
    """One coded check of a run: ``look`` gives the message where the finding applies, else None.

    ``title`` names what is found, ``why`` tells why it matters, ``remedy`` what to do about it.
    """

    code: str
    severity: Severity
    title: str
    why: str
    remedy: str
    look: Callable[[Run], str | None]

    def __call__(self, run: Run) -> Finding | None:
        """The finding, where it applies."""
        message = self.look(run)
        if message is None:
            return None
        return Finding(self.code, self.severity, message, self.title, self.why, self.remedy)
