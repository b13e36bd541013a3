"""Which of several models is ever the best: the convex hull of all their ROC points.

Whatever errors cost and however rare attacks are, the cheapest threshold of the cheapest model is a
corner of the joint hull (Provost and Fawcett 2001). A model that has none of them is never the one
to use, by these rows.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import ClassVar, TypeAlias

import numpy as np

from assay.v02.curves import Curve, Sweep, hull, vertices
from assay.v02.inference.fields import Recorded, stored
from assay.v02.measures import upper_hull
from assay.v02.tally import Resolved, ScoreTally

Corner: TypeAlias = tuple[int, int]  # false and true positives


@dataclass(frozen=True)
class BestRange(Recorded):
    """Between which probability costs a model is the best; with whom, where others are as good."""

    DERIVED: ClassVar[tuple[str, ...]] = ("slope_low", "slope_high")

    low: float
    high: float
    tied_with: tuple[str, ...] = ()

    @property
    def slopes(self) -> tuple[float, float]:
        """The same as slopes of lines of equal cost in the ROC plane, the smaller first."""
        return self.slope_low, self.slope_high

    @property
    def slope_low(self) -> float:
        """The smaller of the slopes."""
        return _slope(self.high)

    @property
    def slope_high(self) -> float:
        """The larger of the slopes."""
        return _slope(self.low)


@dataclass(frozen=True)
class BestOf(Recorded):
    """Where a model is the best; at the ``ties`` it only touches what others reach."""

    DERIVED: ClassVar[tuple[str, ...]] = ("share",)

    model: str
    ranges: tuple[BestRange, ...]
    ties: tuple[float, ...] = ()

    @property
    def share(self) -> float:
        """The share of the axis of probability costs."""
        return sum(part.high - part.low for part in self.ranges)

    @property
    def never(self) -> bool:
        """Whether another model, or none at all, is better whatever errors cost."""
        return not self.ranges and not self.ties


@dataclass(frozen=True)
class Optimal(Recorded):
    """Where each model is the best, over all thresholds.

    Below the probability cost ``nothing`` it is best to flag no row, above ``everything`` to flag
    all: there no model is needed. ``hulls`` are the models' own.
    """

    models: tuple[BestOf, ...]
    nothing: float
    everything: float
    hulls: Mapping[str, Curve] = field(
        default_factory=dict, repr=False, compare=False, metadata=stored(left_out=True)
    )

    def __getitem__(self, model: str) -> BestOf:
        return next(best for best in self.models if best.model == model)


def optimal(tallies: Mapping[str, Resolved]) -> Optimal | None:
    """Where each model is the best; None for several classes, or where one of both has no rows."""
    if any(tally.positive is None for tally in tallies.values()):
        return None
    hulls = {name: _hull_of(tally) for name, tally in tallies.items()}
    first = next(iter(hulls.values()))
    if not (first.positives and first.negatives):
        return None
    corners_of = {name: _corners(swept) for name, swept in hulls.items()}
    corners = sorted({corner for each in corners_of.values() for corner in each})
    fp, tp = (np.array(part, object) for part in zip(*corners, strict=True))
    joint = [corners[i] for i in upper_hull(fp, tp)]
    breaks = _breaks(joint, int(first.positives), int(first.negatives))
    owners = [
        tuple(name for name, each in corners_of.items() if corner in each) for corner in joint
    ]
    return Optimal(
        tuple(
            BestOf(name, _ranges(name, owners, breaks), _ties(each, joint, breaks))
            for name, each in corners_of.items()
        ),
        breaks[1],
        breaks[-2],
        {name: hull(swept) for name, swept in hulls.items()},
    )


def _hull_of(tally: Resolved) -> Sweep:
    """The hull of one model: of all its thresholds, or of the decisions that it gave."""
    if tally.scores is not None:
        return vertices(tally.scores[0])
    table = np.array(tally.confusion.cells, np.int64)
    given = table.any(axis=0)
    corners = vertices(ScoreTally(tally.labels, np.flatnonzero(given) * 1.0, table[:, given]))
    return Sweep(
        np.full(len(corners.tp), math.nan),
        corners.tp,
        corners.fp,
        corners.positives,
        corners.negatives,
    )


def _corners(swept: Sweep) -> dict[Corner, None]:
    return dict.fromkeys(zip(map(int, swept.fp), map(int, swept.tp), strict=True))


def _breaks(joint: Sequence[Corner], positives: int, negatives: int) -> tuple[float, ...]:
    """From which probability cost on each corner is the best, and at the end 1."""
    between = []
    for (fp, tp), (next_fp, next_tp) in pairwise(joint):
        across, up = (next_fp - fp) * positives, (next_tp - tp) * negatives
        between.append(across / (across + up))
    return (0.0, *between, 1.0)


def _ranges(
    name: str, owners: Sequence[tuple[str, ...]], breaks: Sequence[float]
) -> tuple[BestRange, ...]:
    """The ranges of one model; the first and last corner flag nothing and everything."""
    ranges: list[BestRange] = []
    for i in range(1, len(owners) - 1):
        if name not in owners[i]:
            continue
        others = tuple(owner for owner in owners[i] if owner != name)
        if ranges and (ranges[-1].high, ranges[-1].tied_with) == (breaks[i], others):
            ranges[-1] = BestRange(ranges[-1].low, breaks[i + 1], others)
        else:
            ranges.append(BestRange(breaks[i], breaks[i + 1], others))
    return tuple(ranges)


def _ties(
    own_corners: Mapping[Corner, None], joint: Sequence[Corner], breaks: Sequence[float]
) -> tuple[float, ...]:
    """Where a model's corner lies on an edge of the joint hull: as good at one cost, never better.

    At the costs 0 and 1 flagging nothing and everything are as good as any model.
    """
    ties = set()
    across = [fp for fp, _ in joint]
    for fp, tp in own_corners:
        i = bisect_left(across, fp)
        if 0 < i < len(joint) and across[i - 1] < fp < across[i]:
            (ax, ay), (bx, by), pc = joint[i - 1], joint[i], breaks[i]
            if (bx - ax) * (tp - ay) == (by - ay) * (fp - ax) and 0 < pc < 1:
                ties.add(pc)
    return tuple(sorted(ties))


def _slope(pc: float) -> float:
    return math.inf if pc == 0 else (1 - pc) / pc
