"""The reliability diagram: what was promised against what came."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from assay.report.html.heat import brief
from assay.report.numbers import count, percent

WIDTH, HEIGHT = 420, 400
LEFT, RIGHT, TOP, BOTTOM = 48, 408, 10, 300
# The counts stand below in a strip of their own.
COUNTS_TOP, COUNTS_BOTTOM = 312, 356
_BAR = 9
FRAME = {
    "width": WIDTH,
    "height": HEIGHT,
    "left": LEFT,
    "right": RIGHT,
    "top": TOP,
    "bottom": BOTTOM,
    "counts_top": COUNTS_TOP,
    "counts_bottom": COUNTS_BOTTOM,
    "bar": _BAR,
}


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
    frame: Mapping[str, int]
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
    ticks = tuple((_x(i / 5), _y(i / 5), f"{i / 5:.1f}") for i in range(6))
    return Reliability(bins, ticks, brief(most), said, FRAME)


def _bin(row: tuple[float, ...], most: float) -> Bin:
    predicted, observed, low, high, n = row
    # Most rows lie in the first and last bins; a log scale keeps the others visible.
    share = math.log10(1 + n) / math.log10(1 + most)
    height = share * (COUNTS_BOTTOM - COUNTS_TOP)
    return Bin(
        _x(predicted),
        _y(observed),
        _y(low),
        _y(high),
        f"{COUNTS_BOTTOM - height:.1f}",
        f"{LEFT + predicted * (RIGHT - LEFT) - _BAR / 2:.1f}",
        f"{height:.1f}",
        brief(n),
        f"predicted {percent(predicted)}, observed {percent(observed)} "
        f"[{percent(low)}, {percent(high)}], {count(n)} rows",
    )


def _x(share: float) -> str:
    return f"{LEFT + share * (RIGHT - LEFT):.1f}"


def _y(share: float) -> str:
    return f"{BOTTOM - share * (BOTTOM - TOP):.1f}"
