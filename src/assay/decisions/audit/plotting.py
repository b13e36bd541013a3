"""The figure of an audit."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from assay import plots
from assay.decisions.audit.exact import as_float
from assay.decisions.audit.printed import printed
from assay.decisions.audit.result import WRONG
from assay.plots.claimed import Claimed, claimed

if TYPE_CHECKING:
    from assay.decisions.audit.result import Audit
    from assay.plots.canvas import Axes

# Counts and products would push every share into a corner.
_LARGEST = 1.0


@dataclass(frozen=True)
class AuditPlots:
    """Figures of one audit."""

    audit: Audit

    def numbers(self, ax: Axes | None = None) -> Axes:
        """Every share that was reported, beside what it should be."""
        return claimed(tuple(self._rows()), ax=ax)

    def save(
        self, folder: str | os.PathLike[str], formats: Sequence[str] = ("pdf", "svg")
    ) -> tuple[Path, ...]:
        """Write the figure, where there is anything to draw, and give the paths."""
        if not any(True for _ in self._rows()):
            return ()
        return plots.save({"numbers": self.numbers}, folder, formats)

    def _rows(self) -> Iterator[Claimed]:
        many = len(self.audit.claims) > 1
        for claim in self.audit.claims:
            for number in claim.numbers:
                if number.measure is None or isinstance(number.recomputed, tuple | None):
                    continue
                if isinstance(number.reported, tuple):
                    continue
                reported = as_float(printed(number.reported).value)
                if abs(reported) > _LARGEST:
                    reported /= 100
                if abs(reported) > _LARGEST or abs(number.recomputed) > _LARGEST:
                    continue
                name = f"{number.key}, {claim.name}" if many else number.key
                agrees = number.verdict not in WRONG
                yield Claimed(name, reported, number.recomputed, agrees)
