"""Reported numbers beside what they should be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from assay.errors import MethodError
from assay.plots.canvas import BLUE, COLUMN, GREY, LIGHT, ORANGE, PAGE, drawing, label
from assay.plots.names import plain

if TYPE_CHECKING:
    from assay.plots.canvas import Axes

MOST = 40
_ROW, _REST = 0.17, 1.2  # inches
_LONGEST = 32  # letters that leave room for the dots in a column


class Claimed(NamedTuple):
    """A number as reported and as recomputed, and whether the two agree."""

    name: str
    reported: float
    recomputed: float
    agrees: bool


def claimed(rows: Sequence[Claimed], *, ax: Axes | None = None) -> Axes:
    """Each number as a dot where it was reported and a ring where it should be.

    A line joins the two; it is orange where they can't both be right. At most 40 numbers are
    shown, those that disagree first.
    """
    if not rows:
        raise MethodError("there is nothing to draw: no number could be recomputed")
    shown = sorted(rows, key=lambda row: row.agrees)[:MOST]
    names = [plain(row.name, 60) for row in shown]
    width = COLUMN if max(map(len, names)) <= _LONGEST else PAGE
    with drawing(ax, _REST + _ROW * len(shown), width) as axes:
        for place, row in enumerate(shown):
            colour, joined = (BLUE, LIGHT) if row.agrees else (ORANGE, ORANGE)
            axes.plot([row.reported, row.recomputed], [place, place], color=joined)
            axes.plot(row.recomputed, place, "o", color=GREY, mfc="white", ms=5.5)
            axes.plot(row.reported, place, "o", color=colour)
        axes.plot([], [], "o", color=BLUE, label="reported, agrees")
        axes.plot([], [], "o", color=ORANGE, label="reported, can't be right")
        axes.plot([], [], "o", color=GREY, mfc="white", ms=5.5, label="recomputed")
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1))
        axes.set_yticks(range(len(shown)), names, usetex=False)
        axes.set_ylim(len(shown) - 0.5, -0.5)
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
        left = len(rows) - len(shown)
        label(axes, "Value" + (f"\n{left} more not shown" if left else ""))
    return axes
