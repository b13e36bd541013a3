"""What looks for something that the reader of a run should know."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.evaluation.findings.finding import Code, Finding

if TYPE_CHECKING:
    from assay.learn.run import Run


@dataclass(frozen=True)
class RunCheck(Code):
    """One coded check of a run: ``look`` gives the message where the finding applies, else None."""

    look: Callable[[Run], str | None]

    def __call__(self, run: Run) -> Finding | None:
        """The finding, where it applies."""
        message = self.look(run)
        return None if message is None else self.found(message)
