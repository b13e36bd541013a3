"""The figures of a training: those of its evaluation, what it relies on, how it learned."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from assay import plots
from assay.learn.run import Run
from assay.measures import find
from assay.plots.lines import losses

if TYPE_CHECKING:
    from assay.plots.canvas import Axes

_COLUMNS = 20


@dataclass(frozen=True)
class RunPlots:
    """Figures of a run."""

    run: Run

    def losses(self, ax: Axes | None = None) -> Axes:
        """The training loss after each epoch, a line a fold."""
        return losses({fold.name: fold.losses for fold in self.run.folds}, ax=ax)

    def importance(self, ax: Axes | None = None) -> Axes:
        """What shuffling each column costs, with its interval."""
        assert self.run.importance is not None  # noqa: S101 - asked only where there is one
        rows = self.run.importance.rows[:_COLUMNS]
        measure = find(self.run.importance.measure).title
        return plots.forest(
            [(row.column, row.permutation) for row in rows],
            pair=f"{measure} lost when the column is shuffled",
            ax=ax,
        )

    def save(
        self, folder: str | os.PathLike[str], formats: Sequence[str] = ("pdf", "svg")
    ) -> tuple[Path, ...]:
        """Write all figures that apply, and give their paths."""
        own: dict[str, Callable[[], Axes]] = {}
        if any(fold.losses for fold in self.run.folds):
            own["losses"] = partial(self.losses)
        if self.run.importance is not None and self.run.importance.rows:
            own["importance"] = partial(self.importance)
        of_rows = self.run.evaluation.plot.save(folder, formats)
        return (*of_rows, *(plots.save(own, folder, formats) if own else ()))
