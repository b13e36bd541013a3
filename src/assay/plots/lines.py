"""Curves as steps.

A step runs so that each of its points is at most as good as a threshold that can be set: the figure
shows nothing above what the detector attains. Points that a curve leaves out are not drawn.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from assay.curves import Curve
from assay.errors import MethodError
from assay.inference import Estimate
from assay.plots.canvas import COLOURS, DASHES, GREY, drawing, label, reach
from assay.plots.names import full_title, plain, title

if TYPE_CHECKING:
    from assay.plots.canvas import Axes

_SQUARE = 3.2
_WIDE = 2.5
_MARGIN = 0.02


@dataclass(frozen=True)
class Point:
    """Where the detector operates: both measures with their intervals, and the threshold."""

    x: Estimate | float
    y: Estimate
    threshold: float | None = None

    @property
    def text(self) -> str:
        """What the legend says."""
        at = "decisions" if self.threshold is None else f"threshold {self.threshold:.4g}"
        return at if math.isnan(self.y.low) else f"{at}, {100 * self.y.level:g}% intervals"


def roc(
    curve: Curve,
    *,
    point: Point | None = None,
    summary: Estimate | None = None,
    name: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Detection rate against false positive rate, with the diagonal of guessing.

    ``summary`` is the area under the curve, ``name`` the model's.
    """
    words = _summed("AUC", summary)
    return _plane(curve, "post", ((0, 1), (0, 1)), point, words, name, ax)


def precision_recall(
    curve: Curve,
    *,
    point: Point | None = None,
    summary: Estimate | None = None,
    name: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Precision against detection rate; guessing is as precise as positives are frequent.

    ``summary`` is the average precision: the area under these steps.
    """
    share = _prevalence(curve)
    words = _summed("average precision", summary)
    return _plane(curve, "pre", ((0, 1), (share, share)), point, words, name, ax)


def far_dr(
    curve: Curve, *, point: Point | None = None, name: str = "", ax: Axes | None = None
) -> Axes:
    """Detection rate against false alarm rate; of the alarms of guessing, all but the prevalence.

    No line leads to the first alert: without alarms there is no false alarm rate.
    """
    rate = 1 - _prevalence(curve)
    return _plane(curve, "post", ((rate, rate), (0, 1)), point, "", name, ax)


def thresholds(
    curves: Sequence[Curve], *, points: Sequence[Point] = (), ax: Axes | None = None
) -> Axes:
    """Measures against the threshold; its first value, infinity, has no place on the axis."""
    with drawing(ax, _WIDE) as axes:
        for i, curve in enumerate(curves):
            finite = np.isfinite(_drawn(curve)["threshold"])
            columns = {name: column[finite] for name, column in curve.columns.items()}
            # A threshold flags like the next score above it: the value holds down to the next.
            _step(axes, columns, "threshold", curve.y.name, "post", title(curve.y), i)
        known = [point for point in points if not math.isnan(point.y)]
        for i, point in enumerate(known):
            _mark(axes, point, "black", "" if i else point.text)
        label(axes, "Threshold", full_title(curves[0].y) if len(curves) == 1 else "Value")
        _unit(axes.set_ylim, [curve.y.range for curve in curves])
        if len(curves) > 1 or known:
            axes.legend()
    return axes


def _plane(
    curve: Curve,
    where: Literal["pre", "post"],
    guessing: tuple[tuple[float, float], tuple[float, float]],
    point: Point | None,
    words: str,
    name: str,
    ax: Axes | None,
) -> Axes:
    """A curve in the plane of two rates; a further one on the same axes is drawn otherwise."""
    assert curve.x is not None  # noqa: S101 - a curve of two measures
    own = ax is None
    with drawing(ax, _SQUARE) as axes:
        others = sum(line.get_drawstyle().startswith("steps") for line in axes.lines)
        if not others:
            axes.plot(*guessing, color=GREY, linestyle=(0, (1, 2)), linewidth=1, label="guessing")
        said = ": ".join(part for part in (name and plain(name), words) if part) or "detector"
        colour = _step(axes, _drawn(curve), curve.x.name, curve.y.name, where, said, others)
        if point is not None:
            _mark(axes, point, colour if others else "black", point.text)
        label(axes, full_title(curve.x), full_title(curve.y))
        _unit(axes.set_xlim, [curve.x.range])
        _unit(axes.set_ylim, [curve.y.range])
        if own:
            axes.set_aspect("equal")
        axes.legend()
    return axes


def _drawn(curve: Curve) -> Any:
    if not len(curve):
        raise MethodError(
            f"{curve.name} can't be drawn: at no threshold are its measures defined; rows of both "
            f"labels are needed"
        )
    return curve.columns


def _step(
    ax: Axes,
    columns: Any,
    x: str,
    y: str,
    where: Literal["pre", "post"],
    said: str,
    number: int,
) -> str:
    """Draw steps, and the band where there is one, in the colour and dashes of their number."""
    colour, dashes = COLOURS[number % len(COLOURS)], DASHES[number % len(DASHES)]
    if "low" in columns:
        ax.fill_between(
            columns[x], columns["low"], columns["high"], step=where, color=colour, alpha=0.2, lw=0
        )
    # A label that starts with an underscore would be kept out of the legend.
    shown = "\u200b" + said if said.startswith("_") else said
    ax.step(columns[x], columns[y], where=where, color=colour, linestyle=dashes, label=shown)
    return colour


def _mark(ax: Axes, point: Point, colour: str, said: str) -> None:
    """The operating point and its intervals as a cross; nothing where it is undefined."""
    if math.isnan(point.x) or math.isnan(point.y):
        return
    ax.errorbar(
        [float(point.x)],
        [float(point.y)],
        xerr=reach([point.x]) if isinstance(point.x, Estimate) else None,
        yerr=reach([point.y]),
        fmt="o",
        color=colour,
        elinewidth=1,
        capsize=2,
        zorder=3,
        label=said,
    )


def _prevalence(curve: Curve) -> float:
    _drawn(curve)
    cells = {name: float(column[0]) for name, column in curve.cells.items()}
    return (cells["TP"] + cells["FN"]) / sum(cells.values())


def _summed(name: str, summary: Estimate | None) -> str:
    return name if summary is None or math.isnan(summary) else f"{name} {summary}"


def _unit(limit: Any, ranges: Sequence[tuple[float, float]]) -> None:
    """Show all of a rate's range, and a little more, so that lines on its border are seen."""
    if all(low >= 0 and high <= 1 for low, high in ranges):
        limit(-_MARGIN, 1 + _MARGIN)
