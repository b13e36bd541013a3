"""What a check found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from assay.inference.fields import Recorded
from assay.inference.result import Result
from assay.learn.checks.baselines import Baseline
from assay.learn.checks.finding import Finding
from assay.learn.checks.pitfalls import Pitfall
from assay.learn.checks.retest import Retest
from assay.sources.files.request import RowSource


class PartRows(RowSource, total=False):
    """The rows of a part, and how many there are of each class."""

    rows: int
    features: int
    classes: Mapping[str, int]


@dataclass(frozen=True, eq=False, repr=False)
class Check(Result, Recorded):
    """Whether an evaluation on these rows is honest.

    ``findings`` are leaks first, then warnings, then what is to be known. ``baselines`` are the
    trivial models, ``retest`` a recipe before and after what leaks was removed, ``pitfalls`` the
    ten of Arp et al. ``parts`` tells the rows that were looked at.
    """

    SCHEMA: ClassVar[str] = "assay.check/1"

    findings: tuple[Finding, ...]
    baselines: tuple[Baseline, ...]
    retest: Retest | None
    pitfalls: tuple[Pitfall, ...]
    labels: tuple[str, ...]
    positive: str | None
    parts: Mapping[str, PartRows]
    groups: tuple[str, ...] = ()
    time: str | None = None
    base_rate: float | None = None
    level: float = 0.95
    seed: int = 42
    notes: tuple[str, ...] = field(default=())

    @property
    def leaks(self) -> tuple[Finding, ...]:
        """The findings that are leaks."""
        return tuple(finding for finding in self.findings if finding.severity == "leak")

    @property
    def honest(self) -> bool:
        """Whether no leak was found."""
        return not self.leaks

    def __getitem__(self, code: str) -> Finding:
        """The finding of a code."""
        for finding in self.findings:
            if finding.code == code:
                return finding
        raise KeyError(code)

    def __contains__(self, code: object) -> bool:
        return any(finding.code == code for finding in self.findings)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)
