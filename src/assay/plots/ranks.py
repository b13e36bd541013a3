"""The critical-difference diagram: mean ranks of models, and which are not told apart."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from assay.errors import MethodError
from assay.inference.ranks import runs_not_told_apart
from assay.plots.canvas import BLUE, COLUMN, GREY, PAGE, drawing
from assay.plots.names import plain

if TYPE_CHECKING:
    from assay.plots.canvas import Axes

# In units of a line of text: the axis, the first name below it, and the bars between.
_LINE, _FIRST, _BAR = 1.0, 1.1, 0.32
# In inches: a letter, and the least that is left for the axis in a column.
_LETTER, _LEAST = 0.064, 1.2
_LONGEST = 24


def mean_ranks(
    ranks: Mapping[str, float], *, critical: float, title: str = "", ax: Axes | None = None
) -> Axes:
    """Models by their mean rank, the best at the left; a bar joins those that are not told apart.

    ``critical`` is the critical difference, drawn above the axis.

    Reference: Demsar 2006.
    """
    if len(ranks) < 2:
        raise MethodError("a critical-difference diagram needs two models or more")
    ordered = sorted(ranks, key=lambda model: ranks[model])
    places = [ranks[model] for model in ordered]
    groups = runs_not_told_apart(places, critical)
    left = math.ceil(len(ordered) / 2)
    low, high = 1.0, float(max(len(ordered), math.ceil(places[-1])))
    first = _FIRST + _BAR * len(groups)
    depth = first + _LINE * max(left - 1, 0)
    names = [f"{plain(model, _LONGEST)}  {ranks[model]:.2f}" for model in ordered]
    aside = _LETTER * (max(map(len, names)) + 2)
    width = COLUMN if COLUMN - 2 * aside > _LEAST else PAGE
    with drawing(ax, height=0.55 + 0.17 * (depth + 1.6), width=width) as axes:
        axes.axis("off")
        room = (high - low) * aside / (width - 2 * aside)
        axes.set_xlim(low - room, high + room)
        axes.set_ylim(depth + 0.6, -1.9)
        line: dict[str, Any] = {"color": "black", "linewidth": 0.8, "clip_on": False}
        axes.plot([low, high], [0, 0], **line)
        for tick in range(int(low), int(high) + 1):
            axes.plot([tick, tick], [0, -0.15], **line)
            axes.text(tick, -0.25, str(tick), ha="center", va="bottom", usetex=False)
        axes.plot([low, low + critical], [-1.25, -1.25], **(line | {"color": GREY}))
        for end in (low, low + critical):
            axes.plot([end, end], [-1.35, -1.15], **(line | {"color": GREY}))
        said = f"CD = {critical:.2f}"
        axes.text(low + critical / 2, -1.4, said, ha="center", va="bottom", usetex=False)
        for i, rank in enumerate(places):
            at_left = i < left
            y = first + _LINE * (i if at_left else len(ordered) - 1 - i)
            end = low - 0.04 * room if at_left else high + 0.04 * room
            axes.plot([rank, rank, end], [0, y, y], **line)
            x, side = (end - 0.05 * room, "right") if at_left else (end + 0.05 * room, "left")
            axes.text(x, y, names[i], ha=side, va="center", usetex=False)
        for k, (start, stop) in enumerate(groups):
            y = 0.35 + _BAR * k
            ends = [places[start] - 0.03, places[stop] + 0.03]
            axes.plot(ends, [y, y], color=BLUE, linewidth=2.4, solid_capstyle="round")
        if title:
            axes.set_title(title, usetex=False)
    return axes
