"""What a finding of a check is, and what looks for one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from assay.evaluation.findings import Finding as Frame
from assay.evaluation.findings.finding import Code, Severity

if TYPE_CHECKING:
    from assay.learn.checks.case import Case


def silent(done: int, total: int) -> None:
    """Progress that nobody sees."""


@dataclass(frozen=True)
class Finding(Frame):
    """Something that makes an evaluation on these rows less honest than it looks.

    ``pitfall`` is one of the ten of Arp et al., such as P3. ``columns`` are those it is about, and
    ``rows`` the numbers of the first hundred rows, of the test part where there is one, else of the
    training part. ``evidence`` are the numbers behind the message.
    """

    FIRST: ClassVar[tuple[str, ...]] = (
        *("code", "severity", "message", "pitfall", "columns", "rows", "evidence"),
    )

    pitfall: str | None = None
    columns: tuple[str, ...] = ()
    rows: tuple[int, ...] = ()
    evidence: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Seen:
    """What a check saw, before it has a code."""

    severity: Severity
    message: str
    columns: tuple[str, ...] = ()
    rows: tuple[int, ...] = ()
    evidence: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class CodedCheck(Code):
    """One coded check: ``look`` gives what it saw where there is something to say, else None.

    ``pitfall`` is to which of the ten it belongs. The docstring of ``look`` says what is looked
    for, with an example.
    """

    pitfall: str | None
    look: Callable[[Case], Seen | None]

    def __call__(self, case: Case) -> Finding | None:
        """The finding, where it applies."""
        seen = self.look(case)
        if seen is None:
            return None
        return Finding(
            self.code,
            seen.severity,
            seen.message,
            self.title,
            self.why,
            self.remedy,
            self.pitfall,
            seen.columns,
            seen.rows,
            seen.evidence,
        )
