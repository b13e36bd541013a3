"""Chosen thresholds on the curve that they were chosen from, and the limits they must keep."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.curves import Curve
from assay.errors import MethodError
from assay.inference import Estimate
from assay.plots.canvas import BLUE, COLOURS, GREY, MARKS, drawing, label, reach
from assay.plots.names import full_title, plain

if TYPE_CHECKING:
    from assay.plots.canvas import Axes

_SQUARE = 3.2
_MARGIN = 0.02


@dataclass(frozen=True)
class ChosenPoint:
    """A threshold by its name, and both measures there with their intervals."""

    name: str
    x: Estimate
    y: Estimate


def chosen(
    curve: Curve,
    points: Sequence[ChosenPoint],
    *,
    x_limit: float | None = None,
    y_limit: float | None = None,
    smallest: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Points on a curve of two rates, and dashed lines at the limits that they must keep.

    ``smallest`` is the least share that can be seen: given it, the x-axis is logarithmic from
    there on, and 0 has its place at the left.
    """
    assert curve.x is not None  # noqa: S101 - a curve of two measures
    if not len(curve):
        raise MethodError(f"{curve.name} can't be drawn: at no threshold are its measures defined")
    with drawing(ax, _SQUARE) as axes:
        if smallest is not None:
            axes.set_xscale("symlog", linthresh=smallest, linscale=0.4)
            least = math.ceil(math.log10(smallest))
            axes.set_xticks([0, *(10.0**power for power in range(least, 1))])
            axes.minorticks_off()
        axes.step(
            curve[curve.x.name],
            curve[curve.y.name],
            where="post",
            color=BLUE,
            label="all thresholds",
        )
        if x_limit is not None:
            axes.axvline(x_limit, color=GREY, linestyle=(0, (4, 2)), linewidth=0.8, label="limit")
        if y_limit is not None:
            said = None if x_limit is not None else "limit"
            axes.axhline(y_limit, color=GREY, linestyle=(0, (4, 2)), linewidth=0.8, label=said)
        for i, point in enumerate(points):
            if not (math.isnan(point.x) or math.isnan(point.y)):
                _mark(axes, point, i)
        label(axes, full_title(curve.x), full_title(curve.y))
        axes.set_xlim(0 if smallest is not None else -_MARGIN, 1 + _MARGIN)
        axes.set_ylim(-_MARGIN, 1 + _MARGIN)
        axes.legend(loc="lower right")
    return axes


def _mark(ax: Axes, point: ChosenPoint, number: int) -> None:
    colour = "black" if number == 0 else COLOURS[number % len(COLOURS)]
    ax.errorbar(
        [float(point.x)],
        [float(point.y)],
        xerr=reach([point.x]),
        yerr=reach([point.y]),
        fmt=MARKS[number % len(MARKS)],
        # The first is filled and the others hollow, so that they are told apart in grey too.
        color=colour,
        markerfacecolor=colour if number == 0 else "white",
        elinewidth=1,
        capsize=2,
        zorder=3,
        clip_on=False,
        label=plain(point.name),
    )
