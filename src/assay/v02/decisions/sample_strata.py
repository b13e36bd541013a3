"""The strata of a sample by score: where each ends, how many labels it gets, what was drawn.

Attacks are rare, and most of them score high. If the k-th row from the top were an attack with a
chance like 1/k, strata whose sizes grow by one factor would hold as many attacks each, and the
variance of their number would be least with labels in proportion to the root of their sizes
(Neyman 1934). That is the rule ``sqrt``: it asks nothing of scores but their order, and heavy
weights grow no faster than the root of a stratum. ``optimal`` takes the score for the chance of an
attack instead, and is better than ``sqrt`` only where that is so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import EmptyInput, InputError
from assay.v02.escaping import plural
from assay.v02.inference.fields import Recorded, Result, stored
from assay.v02.sources.files.request import RowSource
from assay.v02.sources.labelling import USUAL
from assay.v02.tally.keeping import BITS, cells

if TYPE_CHECKING:
    import polars as pl

Floats: TypeAlias = npt.NDArray[np.float64]
Integers: TypeAlias = npt.NDArray[np.int64]


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


# -- where strata end, and how many labels each gets -----------------------------------------------


SQRT, OPTIMAL, PROPORTIONAL, EQUAL = "sqrt", "optimal", "proportional", "equal"
ALLOCATIONS = (SQRT, OPTIMAL, PROPORTIONAL, EQUAL)
ALL = "all"
# Alerts get at most this share of the labels, where nobody says how many of them to label.
_ON_ALERTS = 0.3
# The smallest stratum is as large as this share of the labels, where rows are many.
_SMALLEST = 0.1
# The spread inside of a stratum needs two rows to be seen.
FEWEST = 2


def borders(counts: Integers, strata: int, labels: int) -> list[int]:
    """Where strata begin among groups of equal scores, from the highest one down.

    ``counts`` are the rows of each group. Sizes grow by one factor; a group is never cut, so that
    there may be fewer strata than were asked for.

    >>> borders(np.array([10, 10, 20, 40, 920]), 3, 100)
    [0, 1, 4]
    """
    below = np.cumsum(counts)
    rows = int(below[-1])
    if strata == 1 or len(counts) == 1:
        return [0]
    ends = _ends(rows, strata, labels)[:-1]
    starts = np.searchsorted(below, ends, side="left") + 1
    # The group that holds a border goes to the side that leaves the stratum nearer to its size.
    nearer = np.abs(np.append(0, below)[starts - 1] - ends) < np.abs(below[starts - 1] - ends)
    starts = np.where(nearer, starts - 1, starts)
    return sorted({0, *(int(at) for at in starts if 0 < at < len(counts))})


def stratum_sizes(rows: int, strata: int, labels: int) -> list[int]:
    """The rows of each stratum where no two scores are equal, from the highest one down.

    >>> stratum_sizes(10_000, 3, 1000)
    [100, 900, 9000]
    """
    ends = np.unique(np.round(_ends(rows, strata, labels)).astype(np.int64))
    return [int(size) for size in np.diff(ends, prepend=0)]


def _ends(rows: int, strata: int, labels: int) -> Floats:
    """How many rows lie above the end of each stratum: growing by one factor."""
    # Of halves of halves less than one row is left long before.
    halved = rows / 2 ** min(strata - 1, 64)
    smallest = min(max(labels * _SMALLEST, 1.0), halved)
    return np.geomspace(max(smallest, 1.0), rows, strata)


def allocated(rows: Sequence[int], sizes: Sequence[float], labels: int) -> list[int]:
    """Labels in proportion to sizes, whole, at most the rows of each stratum and two at least.

    >>> allocated([100, 10_000, 1_000_000], [10, 100, 1000], 1111)
    [10, 100, 1001]
    >>> allocated([5, 10_000], [100, 100], 200)
    [5, 195]
    """
    most, size = np.array(rows, np.int64), np.array(sizes, np.float64)
    least = np.minimum(most, FEWEST)
    labels = min(labels, int(most.sum()))
    low, high = 0.0, float(most.max()) / max(float(size[size > 0].min(initial=np.inf)), 1e-300)
    for _ in range(200):
        middle = (low + high) / 2
        if np.clip(size * middle, least, most).sum() < labels:
            low = middle
        else:
            high = middle
    exact = np.clip(size * high, least, most)
    labels_of_strata = np.floor(exact).astype(np.int64)
    order = np.lexsort((np.arange(len(most)), -(exact - labels_of_strata)))
    while labels_of_strata.sum() < labels:
        for at in order:
            if labels_of_strata[at] < most[at] and labels_of_strata.sum() < labels:
                labels_of_strata[at] += 1
    while labels_of_strata.sum() > labels:
        at = int(np.argmax(labels_of_strata - least))
        labels_of_strata[at] -= 1
    return [int(each) for each in labels_of_strata]


def sizes_of(allocation: str, rows: Sequence[int], chances: Sequence[float] | None) -> list[float]:
    """What labels are in proportion to; ``chances`` are the mean scores of the strata."""
    if allocation == PROPORTIONAL:
        return [float(each) for each in rows]
    if allocation == EQUAL:
        return [1.0 for _ in rows]
    if allocation == OPTIMAL:
        if chances is None:
            raise InputError(
                "allocation='optimal' takes scores for chances, and these do not lie in [0, 1]: "
                "say allocation='sqrt', which asks for their order alone"
            )
        least = 1 / max(sum(rows), 1)
        spread = [max(chance * (1 - chance), least) ** 0.5 for chance in chances]
        return [each * root for each, root in zip(rows, spread, strict=True)]
    return [each**0.5 for each in rows]


def labels_of_alerts(alerts: int, labels: int, share: float | str | None) -> int:
    """How many of the labels go to alerts: of a share of them, all, or at most three in ten.

    >>> labels_of_alerts(500, 10_000, None), labels_of_alerts(50_000, 10_000, None)
    (500, 3000)
    """
    if share is None:
        return min(alerts, max(int(labels * _ON_ALERTS), min(FEWEST, alerts)))
    wanted = alerts if share == ALL else max(round(alerts * float(share)), min(FEWEST, alerts))
    if wanted >= labels:
        raise InputError(
            f"{wanted:,} of the {alerts:,} alerts would take all of the {labels:,} labels, and "
            f"none would be left to find what was missed: ask for more labels=, or for a smaller "
            f"share of alerts="
        )
    return wanted


# -- scores counted in cells of a grid, so that memory does not grow with the rows -----------------


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
    chances = None
    if shares:
        # Scores as chances: the middle of each cell, so that pieces do not matter.
        middles = (lows + highs) / 2 * rows
        spans = zip(groups, ends, sizes, strict=True)
        chances = [float(middles[i:j].sum()) / n for i, j, n in spans]
    drawn = _shared_out(
        sizes,
        chances,
        int(rows[:flagged].sum()),
        labels=labels,
        alerts=alerts,
        allocation=allocation,
    )
    strata_drawn = tuple(
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
    return strata_drawn, threshold, tuple(_notes(strata_drawn, strata, labels, total))


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
    unflagged = sizes[1:] if flagged else sizes
    if not unflagged:
        return [labels]
    # Labels that the other rows can't take go to the alerts, and those that they need come first.
    most = labels - sum(min(size, FEWEST) for size in unflagged)
    on_alerts = min(max(on_alerts, labels - sum(unflagged)), most) if flagged else 0
    others = allocated(unflagged, wanted[len(sizes) - len(unflagged) :], labels - on_alerts)
    return [on_alerts, *others] if flagged else others


def _notes(drawn: tuple[DrawnStratum, ...], strata: int, labels: int, rows: int) -> list[str]:
    notes = []
    if labels >= rows:
        notes.append(
            f"there {plural(rows, 'is 1 row', f'are {rows:,} rows')} and {labels:,} "
            f"{plural(labels, 'label', 'labels')}: all of them are drawn"
        )
    if len(drawn) < strata:
        notes.append(
            f"{len(drawn)} {plural(len(drawn), 'stratum', 'strata')} instead of {strata}: rows "
            f"of one "
            f"score are never split"
        )
    return notes
