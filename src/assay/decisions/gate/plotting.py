"""The figure of a gate."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from assay import plots
from assay.inference import Estimate

if TYPE_CHECKING:
    from assay.decisions.gate.result import Gate
    from assay.plots.canvas import Axes


@dataclass(frozen=True)
class GatePlots:
    """Figures of one gate; each is drawn on ``ax``, or on axes of its own."""

    gate: Gate

    def rules(self, ax: Axes | None = None) -> Axes:
        """How far each rule is from its bound; right of the line it is kept.

        A hollow dot is a rule whose interval holds the bound. Figures of a day stand on a scale of
        their own and are left out, as are rules without a value.
        """
        return plots.forest(list(self._rows()), pair="Value beyond the bound", ax=ax)

    def save(
        self, folder: str | os.PathLike[str], formats: Sequence[str] = ("pdf", "svg")
    ) -> tuple[Path, ...]:
        """Write the figure, where there is anything to draw, and give the paths."""
        if not any(math.isfinite(found) for _, found in self._rows()):
            return ()
        return plots.save({"rules": self.rules}, folder, formats)

    def _rows(self) -> Iterator[tuple[str, Estimate]]:
        for judged in self.gate.rules:
            rule, found = judged.rule, judged.estimate
            if rule.per_day:
                continue
            value, low, high = (end - rule.bound for end in (float(found), found.low, found.high))
            if rule.operator.startswith("<"):
                value, low, high = -value, -high, -low
            yield rule.text, found.changed(value, low=low, high=high)
