"""Curves as steps.

A step runs so that each of its points is at most as good as a threshold that can be set: the figure
shows nothing above what the detector attains. Points that a curve leaves out are not drawn.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from assay.curves import Curve
from assay.errors import MethodError
from assay.inference import Estimate
from assay.plots.canvas import BLUE, COLOURS, DASHES, GREY, drawing, label, reach
from assay.plots.names import full_title, legible, named, plain, title

if TYPE_CHECKING:
    from assay.plots.canvas import Axes


SQUARE = 3.2
WIDE = 2.5
MARGIN = 0.02


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
    return plane(curve, "post", ((0, 1), (0, 1)), point, words, name, ax)


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
    words = _summed("AP" if name else "average precision", summary)
    return plane(curve, "pre", ((0, 1), (share, share)), point, words, name, ax)


def far_dr(
    curve: Curve, *, point: Point | None = None, name: str = "", ax: Axes | None = None
) -> Axes:
    """Detection rate against false alarm rate; of the alarms of guessing, all but the prevalence.

    No line leads to the first alert: without alarms there is no false alarm rate.
    """
    rate = 1 - _prevalence(curve)
    return plane(curve, "post", ((rate, rate), (0, 1)), point, "", name, ax)


def gain(
    curve: Curve, *, point: Point | None = None, name: str = "", ax: Axes | None = None
) -> Axes:
    """Detection rate against the share of rows that raise an alert; guessing finds its share.

    The other dotted line is the best that can be: every alert an attack until all are found.
    """
    share = _prevalence(curve)
    with drawing(ax, SQUARE) as axes:
        if not stepped(axes):
            best = ((0, share, 1), (0, 1, 1))
            axes.plot(*best, color=GREY, linestyle="-", linewidth=0.6, label="at best")
        return plane(curve, "post", ((0, 1), (0, 1)), point, "", name, axes, square=ax is None)


def lift(
    curve: Curve, *, point: Point | None = None, name: str = "", ax: Axes | None = None
) -> Axes:
    """Precision over prevalence against the share of rows that raise an alert; guessing has 1.

    Alerts are on a logarithmic scale, since few rows are ever flagged.
    """
    with drawing(ax, WIDE) as axes:
        fewest = [0.1, float(drawn(curve)[_x(curve)].min())]
        if stepped(axes):
            fewest.append(axes.get_xlim()[0])
        # Limits of a plane begin at 0, where a logarithm has none.
        axes.set_xscale("linear")
        plane(curve, "pre", ((0, 1), (1, 1)), point, "", name, axes)
        axes.set_xlim(min(fewest), 1)
        axes.set_xscale("log")
        axes.set_ylim(bottom=0)
    return axes


def precision_recall_gain(
    curve: Curve, *, point: Point | None = None, name: str = "", ax: Axes | None = None
) -> Axes:
    """Precision gain against recall gain; flagging everything has a precision gain of 0.

    Below -0.2 nothing is shown: that is worse than flagging everything.
    """
    with drawing(ax, SQUARE) as axes:
        plane(
            curve,
            "pre",
            ((0, 1), (0, 0)),
            point,
            "",
            name,
            axes,
            trivial="flag all",
            square=ax is None,
        )
        axes.set_xlim(-MARGIN, 1 + MARGIN)
        axes.set_ylim(-0.2, 1 + MARGIN)
        axes.legend(loc="center")
    return axes


def thresholds(
    curves: Sequence[Curve], *, points: Sequence[Point] = (), ax: Axes | None = None
) -> Axes:
    """Measures against the threshold; its first value, infinity, has no place on the axis."""
    with drawing(ax, WIDE) as axes:
        for i, curve in enumerate(curves):
            finite = np.isfinite(drawn(curve)["threshold"])
            columns = {name: column[finite] for name, column in curve.columns.items()}
            # A threshold flags like the next score above it: the value holds down to the next.
            step(axes, columns, "threshold", curve.y.name, "post", title(curve.y), i)
        known = [point for point in points if not math.isnan(point.y)]
        for i, point in enumerate(known):
            mark(axes, point, "black", "" if i else point.text)
        label(axes, "Threshold", full_title(curves[0].y) if len(curves) == 1 else "Value")
        _unit(axes.set_ylim, [curve.y.range for curve in curves])
        if len(curves) > 1 or known:
            axes.legend()
    return axes


def plane(
    curve: Curve,
    where: Literal["pre", "post"],
    guessing: tuple[tuple[float, float], tuple[float, float]],
    point: Point | None,
    words: str,
    name: str,
    ax: Axes | None,
    *,
    trivial: str = "guessing",
    square: bool | None = None,
) -> Axes:
    """A curve in the plane of two rates; a further one on the same axes is drawn otherwise."""
    assert curve.x is not None  # noqa: S101 - a curve of two measures
    own = ax is None if square is None else square
    with drawing(ax, SQUARE) as axes:
        others = stepped(axes)
        if not others:
            axes.plot(*guessing, color=GREY, linestyle=(0, (1, 2)), linewidth=1, label=trivial)
        said = named(name, words) or "detector"
        colour = step(axes, drawn(curve), curve.x.name, curve.y.name, where, said, others)
        if point is not None:
            mark(axes, point, colour if others or name else "black", point.text)
        label(axes, full_title(curve.x), full_title(curve.y))
        _unit(axes.set_xlim, [curve.x.range])
        _unit(axes.set_ylim, [curve.y.range])
        if own:
            axes.set_aspect("equal")
        axes.legend()
    return axes


def drawn(curve: Curve) -> Any:
    """The columns of a curve that has points."""
    if not len(curve):
        raise MethodError(
            f"{curve.name} can't be drawn: at no threshold are its measures defined; rows of both "
            f"labels are needed"
        )
    return curve.columns


def step(
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
    shown = legible(said)
    ax.step(columns[x], columns[y], where=where, color=colour, linestyle=dashes, label=shown)
    return colour


def stepped(ax: Axes) -> int:
    """How many curves there are on some axes."""
    return sum(line.get_drawstyle().startswith("steps") for line in ax.lines)


def _x(curve: Curve) -> str:
    assert curve.x is not None  # noqa: S101 - a curve of two measures
    return curve.x.name


def mark(ax: Axes, point: Point, colour: str, said: str) -> None:
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
    drawn(curve)
    cells = {name: float(column[0]) for name, column in curve.cells.items()}
    return (cells["TP"] + cells["FN"]) / sum(cells.values())


def _summed(name: str, summary: Estimate | None) -> str:
    return name if summary is None or math.isnan(summary) else f"{name} {summary}"


def _unit(limit: Any, ranges: Sequence[tuple[float, float]]) -> None:
    """Show all of a rate's range, and a little more, so that lines on its border are seen."""
    if all(low >= 0 and high <= 1 for low, high in ranges):
        limit(-MARGIN, 1 + MARGIN)


_NAMED = 6


def losses(curves: Mapping[str, Sequence[float]], *, ax: Axes | None = None) -> Axes:
    """The training loss of each epoch, a line a fold; with many folds only the first is named."""
    known = {name: values for name, values in curves.items() if len(values)}
    if not known:
        raise MethodError("a loss by epoch needs a network; this model has none")
    with drawing(ax, 2.5) as axes:
        several = len(known) > 1
        for i, (name, values) in enumerate(known.items()):
            shown = plain(name) if several and len(known) <= _NAMED else None
            axes.plot(
                range(1, len(values) + 1),
                values,
                color=BLUE if i == 0 or not several else GREY,
                lw=1.2,
                marker="o" if len(values) == 1 else None,
                label=shown,
            )
        axes.set_ylim(bottom=0)
        axes.locator_params(axis="x", integer=True)
        label(axes, "Epoch", "Training loss")
        if several and len(known) <= _NAMED:
            axes.legend()
    return axes
