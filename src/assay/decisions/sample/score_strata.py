"""The strata of scores: counted in cells of a grid, so that memory does not grow with the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.decisions.sample.allocation import (
    FEWEST,
    allocated,
    borders,
    labels_of_alerts,
    sizes_of,
)
from assay.decisions.sample.result import DrawnStratum
from assay.errors import EmptyInput, InputError
from assay.sources.thresholds import USUAL
from assay.tally.keeping import BITS, cells

if TYPE_CHECKING:
    import polars as pl

Floats: TypeAlias = npt.NDArray[np.float64]

# So many parts wait to be added up.
_PARTS = 32


class ScoreCells:
    """How many rows have their score in each cell, and the extremes of each.

    Rows from the threshold on are counted apart from those below it.
    """

    def __init__(self, threshold: float | None) -> None:
        self.threshold = threshold
        self._parts: list[pl.DataFrame] = []

    def add(self, scores: Floats) -> None:
        """Count scores."""
        import polars as pl

        if not len(scores):
            return
        flagged = scores >= (USUAL if self.threshold is None else self.threshold)
        frame = pl.DataFrame({"cell": cells(scores, BITS) * 2 + flagged, "score": scores})
        score = pl.col("score")
        counted = frame.group_by("cell").agg(
            pl.len().cast(pl.Int64).alias("rows"),
            score.min().alias("low"),
            score.max().alias("high"),
        )
        self._parts.append(counted)
        if len(self._parts) > _PARTS:
            self._parts = [self._sum()]

    def _sum(self) -> pl.DataFrame:
        import polars as pl

        return (
            pl.concat(self._parts)
            .group_by("cell")
            .agg(pl.col("rows").sum(), pl.col("low").min(), pl.col("high").max())
        )

    def falling(self) -> pl.DataFrame:
        """One row a cell, the highest scores first: ``rows``, ``low`` and ``high``."""
        if not self._parts:
            raise EmptyInput("there are no rows to draw from")
        return self._sum().sort("cell", descending=True)


def score_strata(
    counted: ScoreCells,
    *,
    strata: int,
    labels: int,
    alerts: float | str | None,
    allocation: str,
) -> tuple[tuple[DrawnStratum, ...], float | None, tuple[str, ...]]:
    """The strata from the highest scores down, the threshold that was used, and notes."""
    table = counted.falling()
    lows, highs = table["low"].to_numpy(), table["high"].to_numpy()
    rows = table["rows"].to_numpy()
    shares = lows[-1] >= 0 and highs[0] <= 1
    threshold = counted.threshold
    if threshold is None and shares:
        threshold = USUAL
    if threshold is None and alerts is not None:
        raise InputError(
            f"alerts= are rows from a threshold on, and scores run from {lows[-1]:g} to "
            f"{highs[0]:g}, so 0.5 means nothing: say threshold="
        )
    flagged = 0 if threshold is None else int((lows >= threshold).sum())
    total = int(rows.sum())
    groups = [0] if flagged else []
    if flagged < len(rows):
        further = max(strata - bool(flagged), 1)
        groups += [flagged + at for at in borders(rows[flagged:], further, labels)]
    ends = [*groups[1:], len(rows)]
    sizes = [int(rows[i:j].sum()) for i, j in zip(groups, ends, strict=True)]
    # Scores as chances: the middle of each cell, so that pieces do not matter.
    middles = (lows + highs) / 2 * rows
    chances = [float(middles[i:j].sum()) / n for i, j, n in zip(groups, ends, sizes, strict=True)]
    drawn = _shared_out(
        sizes,
        chances if shares else None,
        int(rows[:flagged].sum()),
        labels=labels,
        alerts=alerts,
        allocation=allocation,
    )
    found = tuple(
        DrawnStratum(
            str(number + 1),
            float(lows[j - 1]),
            float(highs[i]),
            sizes[number],
            drawn[number],
            None if threshold is None else bool(i < flagged),
        )
        for number, (i, j) in enumerate(zip(groups, ends, strict=True))
    )
    return found, threshold, tuple(_notes(found, strata, labels, total))


def _shared_out(
    sizes: list[int],
    chances: list[float] | None,
    flagged: int,
    *,
    labels: int,
    alerts: float | str | None,
    allocation: str,
) -> list[int]:
    """How many rows of each stratum are drawn; alerts are the first one, where there are any."""
    wanted = sizes_of(allocation, sizes, chances)
    if labels >= sum(sizes):
        return list(sizes)
    least = sum(min(size, FEWEST) for size in sizes)
    if labels < least:
        raise InputError(
            f"{len(sizes)} strata take {least} labels at least, {FEWEST} each; found "
            f"labels={labels}. Ask for more labels, or for fewer strata="
        )
    on_alerts = labels_of_alerts(flagged, labels, alerts) if flagged else 0
    rest = sizes[1:] if flagged else sizes
    if not rest:
        return [labels]
    # Labels that the other rows can't take go to the alerts, and those that they need come first.
    most = labels - sum(min(size, FEWEST) for size in rest)
    on_alerts = min(max(on_alerts, labels - sum(rest)), most) if flagged else 0
    found = allocated(rest, wanted[len(sizes) - len(rest) :], labels - on_alerts)
    return [on_alerts, *found] if flagged else found


def _notes(found: tuple[DrawnStratum, ...], strata: int, labels: int, rows: int) -> list[str]:
    notes = []
    if labels >= rows:
        notes.append(f"there are {rows:,} rows and {labels:,} labels: all of them are drawn")
    if len(found) < strata:
        notes.append(f"{len(found)} strata instead of {strata}: rows of one score are never split")
    return notes
