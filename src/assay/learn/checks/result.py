"""What a check found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from assay.learn.checks.baselines import Baseline
from assay.learn.checks.finding import Finding
from assay.learn.checks.pitfalls import Pitfall
from assay.learn.checks.retest import Retest

SCHEMA = "assay.check/1"


@dataclass(frozen=True, eq=False)
class Check:
    """Whether an evaluation on these rows is honest.

    ``findings`` are leaks first, then warnings, then what is to be known. ``baselines`` are the
    trivial models, ``retest`` a recipe before and after what leaks was removed, ``pitfalls`` the
    ten of Arp et al. ``parts`` tells the rows that were looked at.
    """

    findings: tuple[Finding, ...]
    baselines: tuple[Baseline, ...]
    retest: Retest | None
    pitfalls: tuple[Pitfall, ...]
    labels: tuple[str, ...]
    positive: str | None
    parts: Mapping[str, Mapping[str, Any]]
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

    def to_dict(self) -> dict[str, Any]:
        """The JSON document."""
        return {
            "schema": SCHEMA,
            "findings": [finding.to_dict() for finding in self.findings],
            "baselines": [baseline.to_dict() for baseline in self.baselines],
            "retest": None if self.retest is None else self.retest.to_dict(),
            "pitfalls": [pitfall.to_dict() for pitfall in self.pitfalls],
            "parts": {name: dict(part) for name, part in self.parts.items()},
            "labels": list(self.labels),
            "positive": self.positive,
            "groups": list(self.groups),
            "time": self.time,
            "base_rate": self.base_rate,
            "level": self.level,
            "seed": self.seed,
            "notes": list(self.notes),
        }
