"""The reliability diagram: what was promised against what came."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from assay.report.html.heat import brief
from assay.report.html.scales import Frame
from assay.report.numbers import count, percent

FRAME = Frame(width=420, height=400, left=48, right=408, top=10, bottom=300)
# The counts stand below in a strip of their own.
COUNTS = {"top": 312, "bottom": 356, "bar": 9}


@dataclass(frozen=True)
class Bin:
    """One bin, in units of the drawing: its point, its interval, its column of rows."""

    x: str
    y: str
    low: str
    high: str
    bar: str
    bar_x: str
    height: str
    rows: str
    title: str


@dataclass(frozen=True)
class Reliability:
    """The diagram, and the same in words."""

    bins: tuple[Bin, ...]
    ticks: tuple[tuple[str, str, str], ...]
    most: str
    said: str
    frame: Frame
    counts: Mapping[str, int]
    kind: str = "reliability"


def reliability_of(found: Mapping[str, tuple[float, ...]]) -> Reliability:
    """Each bin that has rows."""
    columns = ("predicted", "observed", "low", "high", "n")
    rows = zip(*(found[name] for name in columns), strict=True)
    kept = [row for row in rows if row[4] > 0]
    most = max((n for *_, n in kept), default=1.0)
    bins = tuple(_bin(row, most) for row in kept)
    inside = sum(low <= predicted <= high for predicted, _, low, high, _ in kept)
    said = (
        f"Reliability diagram. In {inside} of {len(kept)} bins the mean predicted probability lies "
        f"within the interval of the observed share."
    )
    ticks = tuple((FRAME.x(i / 5), FRAME.y(i / 5), f"{i / 5:.1f}") for i in range(6))
    return Reliability(bins, ticks, brief(most), said, FRAME, COUNTS)


def _bin(row: tuple[float, ...], most: float) -> Bin:
    predicted, observed, low, high, n = row
    # Most rows lie in the first and last bins; a log scale keeps the others visible.
    share = math.log10(1 + n) / math.log10(1 + most)
    height = share * (COUNTS["bottom"] - COUNTS["top"])
    return Bin(
        FRAME.x(predicted),
        FRAME.y(observed),
        FRAME.y(low),
        FRAME.y(high),
        f"{COUNTS['bottom'] - height:.1f}",
        f"{float(FRAME.x(predicted)) - COUNTS['bar'] / 2:.1f}",
        f"{height:.1f}",
        brief(n),
        f"predicted {percent(predicted)}, observed {percent(observed)} "
        f"[{percent(low)}, {percent(high)}], {count(n)} rows",
    )
