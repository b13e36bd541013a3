"""What decisions are worth, for all costs: decision and cost curves, and ROC hulls."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from assay.curves import Curve
from assay.plots.canvas import COLOURS, DASHES, GREY, ORANGE, drawing, label
from assay.plots.lines import MARGIN, SQUARE, WIDE, Point, drawn, mark, plane, stepped
from assay.plots.names import full_title, legible, plain, title

if TYPE_CHECKING:
    from assay.plots.canvas import Axes

_LETTERS = 58  # of a line below an axis


def decision(
    curve: Curve,
    *,
    point: Point | None = None,
    base_rate: float | None = None,
    name: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Net benefit against the threshold probability, beside flagging everything and nothing.

    What is far below 0 is not shown: there it is better to flag nothing.
    """
    columns = drawn(curve)
    y = columns[curve.y.name]
    with drawing(ax, WIDE) as axes:
        number = _lines(axes)
        if not number:
            axes.plot(
                columns["threshold"], columns["everything"], color=GREY, lw=1, label="flag all"
            )
            axes.axhline(0, color=GREY, ls=(0, (1, 2)), lw=1, label="flag nothing")
        colour = _line(axes, curve, "threshold", name, number)
        if point is not None:
            mark(axes, point, colour if number or name else "black", point.text)
        top = float(max(y.max(), 0.0)) or 0.01
        top = max(top, axes.get_ylim()[1]) if number else top
        axes.set_ylim(-0.25 * top, 1.1 * top)
        axes.set_xlim(0, 1)
        at = "" if base_rate is None else f", at a base rate of {base_rate:g}"
        label(axes, "Threshold probability", f"{title(curve.y)}{at}")
        axes.legend()
    return axes


def cost(curve: Curve, *, name: str = "", ax: Axes | None = None) -> Axes:
    """The least normalised expected cost at each probability cost, beside flagging all and nothing.

    The line of the threshold in use touches the curve where it is the best.
    """
    columns = drawn(curve)
    assert curve.x is not None  # noqa: S101 - a curve of two axes
    x = columns[curve.x.name]
    with drawing(ax, SQUARE) as axes:
        number = _lines(axes)
        if not number:
            axes.plot(x, columns["everything"], color=GREY, lw=1, label="flag all")
            axes.plot(x, columns["nothing"], color=GREY, ls=(0, (1, 2)), lw=1, label="flag nothing")
        _line(axes, curve, curve.x.name, name or "best threshold of each", number)
        if "in_use" in columns and not number and not name:
            axes.plot(x, columns["in_use"], color=ORANGE, ls="--", lw=1, label="threshold in use")
        note = "\n".join(textwrap.wrap(curve.note, _LETTERS))
        label(axes, f"{title(curve.x)} (PC)\n{note}", full_title(curve.y))
        axes.xaxis.label.set_fontsize("small")
        axes.set_xlim(0, 1)
        # Three times as high as the curve: there it can be told from the lines around it.
        top = min(0.55, 3 * float(columns[curve.y.name].max()) or 0.1)
        axes.set_ylim(0, max(top, axes.get_ylim()[1]) if number else top)
        axes.legend(loc="upper right")
    return axes


def hull(curve: Curve, corners: Curve, *, name: str = "", ax: Axes | None = None) -> Axes:
    """A ROC curve under its convex hull, whose corners are the best thresholds for some costs."""
    own = ax is None
    with drawing(ax, SQUARE) as axes:
        number = stepped(axes)
        plane(curve, "post", ((0, 1), (0, 1)), None, "all thresholds", name, axes, square=own)
        _edges(axes, corners, "hull", number + 1)
        axes.legend()
    return axes


def hulls(
    corners: Mapping[str, Curve], shares: Mapping[str, float], *, ax: Axes | None = None
) -> Axes:
    """The ROC hulls of several models; the legend says on how much of PC each is the best."""
    own = ax is None
    with drawing(ax, SQUARE) as axes:
        axes.plot((0, 1), (0, 1), color=GREY, ls=(0, (1, 2)), lw=1, label="guessing")
        for i, (name, curve) in enumerate(corners.items()):
            share = shares[name]
            where = f"best on {100 * share:.3g}% of PC" if share else "never the best"
            _edges(axes, curve, f"{plain(name)}: {where}", i)
        first = next(iter(corners.values()))
        assert first.x is not None  # noqa: S101 - a curve of two measures
        label(axes, full_title(first.x), full_title(first.y))
        axes.set_xlim(-MARGIN, 1 + MARGIN)
        axes.set_ylim(-MARGIN, 1 + MARGIN)
        if own:
            axes.set_aspect("equal")
        axes.legend()
    return axes


def _lines(ax: Axes) -> int:
    """How many curves of this kind there are on some axes: those with a name of their own."""
    return sum(line.get_gid() == "curve" for line in ax.lines)


def _line(ax: Axes, curve: Curve, x: str, name: str, number: int) -> str:
    columns = curve.columns
    colour, dashes = COLOURS[number % len(COLOURS)], DASHES[number % len(DASHES)]
    if "low" in columns:
        ends = (np.asarray(columns["low"]), np.asarray(columns["high"]))
        ax.fill_between(columns[x], *ends, color=colour, alpha=0.2, lw=0)
    text = legible(plain(name) if name else "detector")
    (line,) = ax.plot(columns[x], columns[curve.y.name], color=colour, ls=dashes, label=text)
    line.set_gid("curve")
    return colour


def _edges(ax: Axes, corners: Curve, text: str, number: int) -> None:
    """A hull: straight lines, since a coin toss between two thresholds reaches them."""
    columns = drawn(corners)
    assert corners.x is not None  # noqa: S101 - a curve of two measures
    ax.plot(
        columns[corners.x.name],
        columns[corners.y.name],
        color=COLOURS[number % len(COLOURS)],
        ls=DASHES[number % len(DASHES)],
        lw=1,
        marker="o",
        ms=2,
        label=legible(text),
    )
