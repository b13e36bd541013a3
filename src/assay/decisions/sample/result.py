"""What a sample tells of itself: its strata, and how many rows of each were drawn."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from assay.inference.fields import Recorded, stored
from assay.inference.result import Result
from assay.sources.files.request import RowSource

# The columns that a sample adds to those of its rows.
STRATUM, WEIGHT = "stratum", "weight"


@dataclass(frozen=True)
class DrawnStratum(Recorded):
    """Rows of one range of scores: how many there are, how many were drawn, what one stands for.

    Scores run from ``low`` to ``high``, both included. ``alerts`` tells whether they lie from the
    threshold on; None without one.
    """

    DERIVED: ClassVar[tuple[str, ...]] = ("weight",)

    stratum: str
    low: float
    high: float
    rows: int
    drawn: int
    alerts: bool | None = None

    @property
    def weight(self) -> float:
        """How many rows each drawn one stands for, N/n."""
        return self.rows / self.drawn


@dataclass(frozen=True, eq=False, repr=False)
class StratifiedSample(Result, Recorded):
    """The rows to label, drawn by strata of their score.

    ``frame`` are the rows with all their columns, and ``stratum`` and ``weight`` besides;
    ``allocation`` is the rule that shared out the labels. What :func:`assay.evaluate` needs of it
    later are those two columns.

    >>> from assay import sample
    >>> drawn = sample({"score": [0.9, 0.8, 0.1, 0.1, 0.1, 0.1]}, score="score", labels=4, strata=2)
    >>> [(stratum.rows, stratum.drawn) for stratum in drawn.strata]
    [(2, 2), (4, 2)]
    """

    SCHEMA: ClassVar[str] = "assay.sample/1"

    source: RowSource
    score: str
    threshold: float | None
    allocation: str
    seed: int
    rows: int
    labels: int
    strata: tuple[DrawnStratum, ...]
    notes: tuple[str, ...] = ()
    # A polars frame; named so, types could not be read where polars is not imported yet.
    frame: Any = field(default=None, repr=False, metadata=stored(left_out=True))

    @property
    def alerts(self) -> int | None:
        """How many rows lie from the threshold on; None without one."""
        if self.threshold is None:
            return None
        return sum(stratum.rows for stratum in self.strata if stratum.alerts)

    def records(self) -> list[dict[str, Any]]:
        """Every stratum as a row of a table."""
        return [stratum.to_dict() for stratum in self.strata]
