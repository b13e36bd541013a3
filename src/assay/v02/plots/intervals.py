"""Values with their intervals: of slices, periods and models; claimed numbers; mean ranks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from assay.errors import MethodError
from assay.v02.inference import Estimate
from assay.v02.inference.rank_tests import runs_not_told_apart
from assay.v02.measures import Better, Measure
from assay.v02.number_text import exact_percent, fixed
from assay.v02.plots.canvas import (
    BLUE,
    COLOURS,
    COLUMN,
    DASHES,
    GREY,
    LIGHT,
    ORANGE,
    PAGE,
    drawing,
    full_title,
    label,
    one_line,
    reach,
    size_text,
)

if TYPE_CHECKING:
    from assay.v02.plots.canvas import Axes


Rows: TypeAlias = Sequence[tuple[str, Estimate]]

MOST = 50
_ROW, _REST = 0.17, 0.8  # inches
_HIGH = 2.8
_ASIDE = 0.08  # of a period
_TICKS = 12
_LONGEST = 32  # letters that leave room for the dots in a column


def dots(
    rows: Rows,
    measure: Measure,
    *,
    whole: Estimate | None = None,
    ordered: bool = False,
    ax: Axes | None = None,
) -> Axes:
    """A measure of each slice, the worst on top, and of all rows as a line with its interval.

    In parentheses stands how many rows a value rests on. At most the worst 50 are shown, and none
    without a value; how many were left out is said below. ``ordered`` keeps the given order.
    """
    known = _known_rows(rows)
    if not ordered:
        known.sort(key=lambda row: row[1], reverse=measure.better is not Better.HIGHER)
    shown = known[:MOST]
    with drawing(ax, _REST + _ROW * len(shown)) as axes:
        if whole is not None and not math.isnan(whole):
            if math.isfinite(whole.low) and math.isfinite(whole.high):
                axes.axvspan(whole.low, whole.high, color=LIGHT, alpha=0.6, lw=0)
            axes.axvline(float(whole), color=GREY, lw=1, ls="--", label=f"all rows {whole}")
            axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1))
        _list(
            axes,
            [f"{one_line(name, 24)} ({size_text(estimate.n)})" for name, estimate in shown],
            shown,
            filled=True,
        )
        left_out = {
            "more not shown": len(known) - len(shown),
            "without a value": len(rows) - len(known),
        }
        notes = [f"{number} {why}" for why, number in left_out.items() if number]
        label(axes, _below(full_title(measure), known, *notes))
    return axes


def forest(rows: Rows, *, pair: str, notes: Sequence[str] = (), ax: Axes | None = None) -> Axes:
    """Differences with their intervals beside the line of none; hollow where they may be 0."""
    known = _known_rows(rows)
    names = [one_line(name, 60) for name, _ in known]
    width = COLUMN if max(map(len, names)) <= _LONGEST else PAGE
    with drawing(ax, _REST + _ROW * len(known), width) as axes:
        axes.axvline(0, color=GREY, lw=1, ls="--")
        _list(axes, names, known, filled=False)
        label(axes, _below(one_line(pair, 60), known, *notes))
    return axes


def over_time(
    names: Sequence[str],
    positions: Sequence[int],
    courses: Sequence[tuple[str, Sequence[Estimate]]],
    *,
    period: str,
    ax: Axes | None = None,
) -> Axes:
    """Measures of each period in their order, with intervals; a gap where a period has no rows."""
    _known_rows([row for title, course in courses for row in zip(names, course, strict=True)])
    with drawing(ax, _HIGH, PAGE) as axes:
        for i, (title, estimates) in enumerate(courses):
            known = [(x, e) for x, e in zip(positions, estimates, strict=True) if math.isfinite(e)]
            colour = COLOURS[i % len(COLOURS)]
            # A little aside, so that intervals of several measures do not hide each other.
            places = [x + _ASIDE * (i - (len(courses) - 1) / 2) for x, _ in known]
            axes.errorbar(
                places,
                [float(e) for _, e in known],
                yerr=reach([e for _, e in known]),
                fmt="o",
                color=colour,
                linestyle=DASHES[i % len(DASHES)],
                elinewidth=1,
                capsize=2,
                label=title,
            )
        step = max(1, math.ceil(len(names) / _TICKS))
        axes.set_xticks(list(positions)[::step], list(names)[::step], rotation=30, ha="right")
        rows = [("", courses[0][1][0])]
        label(axes, _below(period.capitalize(), rows), courses[0][0] if len(courses) == 1 else "")
        if len(courses) > 1:
            axes.legend()
    return axes


def sequence(
    names: Sequence[str],
    estimates: Sequence[Estimate],
    ordinary: Sequence[tuple[float, float]],
    *,
    title: str,
    periods: Sequence[float] = (),
    bound: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """A figure over time: its confidence sequence as a band, and the ordinary interval as lines.

    ``periods`` are the values of each period by itself, ``bound`` is what a rule asks for.
    """
    if not any(math.isfinite(e.low) for e in estimates):
        raise MethodError("there is nothing to draw: the figure has no interval at any look")
    places = range(len(names))
    with drawing(ax, _HIGH, PAGE) as axes:
        ends = ([e.low for e in estimates], [e.high for e in estimates])
        axes.fill_between(places, *ends, color=LIGHT, lw=0, label="confidence sequence")
        axes.plot(places, [float(e) for e in estimates], color=BLUE, label="so far")
        for i, side in enumerate(zip(*ordinary, strict=True)):
            called = "ordinary interval, for one look" if i == 0 else "_"
            axes.plot(places, side, color=GREY, lw=1, ls=":", label=called)
        if periods:
            axes.plot(places, periods, "o", color=BLUE, mfc="white", ms=3.5, label="of each period")
        if bound is not None:
            axes.axhline(bound, color=ORANGE, lw=1, ls="--", label="rule")
        step = max(1, math.ceil(len(names) / _TICKS))
        axes.set_xticks(places[::step], list(names)[::step], rotation=30, ha="right")
        label(axes, _below("Looks", [("", estimates[-1])]), title)
        axes.legend()
    return axes


def _known_rows(rows: Rows) -> list[tuple[str, Estimate]]:
    finite = [(name, estimate) for name, estimate in rows if math.isfinite(estimate)]
    if not finite:
        raise MethodError("there is nothing to draw: none of the estimates has a value")
    return finite


def _below(title: str, rows: Rows, *notes: str) -> str:
    """The label of the axis, and under it what else has to be said."""
    return f"{title}\n" + "; ".join([f"{exact_percent(rows[0][1].level)} intervals", *notes])


def _list(ax: Axes, names: Sequence[str], rows: Rows, *, filled: bool) -> None:
    """One row each, from top to bottom."""
    estimates = [estimate for _, estimate in rows]
    places = range(len(rows))
    ax.errorbar(
        [float(estimate) for estimate in estimates],
        places,
        xerr=reach(estimates),
        fmt="none",
        ecolor=BLUE,
        elinewidth=1,
        capsize=2,
    )
    for place, estimate in zip(places, estimates, strict=True):
        clear = filled or estimate.low > 0 or estimate.high < 0
        ax.plot(float(estimate), place, "o", color=BLUE, mfc=BLUE if clear else "white")
    ax.set_yticks(places, names, usetex=False)
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)


MOST_CLAIMS = 40
_CLAIM_ROW, _MORE_CLAIMS = 0.17, 1.2  # inches


class ClaimedNumber(NamedTuple):
    """A number as reported and as recomputed, and whether the two agree."""

    name: str
    reported: float
    recomputed: float
    agrees: bool


def claimed(rows: Sequence[ClaimedNumber], *, ax: Axes | None = None) -> Axes:
    """Each number as a dot where it was reported and a ring where it should be.

    A line joins the two; it is orange where they can't both be right. At most 40 numbers are
    shown, those that disagree first.
    """
    if not rows:
        raise MethodError("there is nothing to draw: no number could be recomputed")
    shown = sorted(rows, key=lambda row: row.agrees)[:MOST_CLAIMS]
    names = [one_line(row.name, 60) for row in shown]
    width = COLUMN if max(map(len, names)) <= _LONGEST else PAGE
    with drawing(ax, _MORE_CLAIMS + _CLAIM_ROW * len(shown), width) as axes:
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


# In units of a line of text: the axis, the first name below it, and the bars between.
_LINE, _FIRST, _BAR = 1.0, 1.1, 0.32
# In inches: a letter, and the least that is left for the axis in a column.
_LETTER, _LEAST = 0.064, 1.2
_LONGEST_MODEL = 24


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
    names = [f"{one_line(model, _LONGEST_MODEL)}  {fixed(ranks[model], 2)}" for model in ordered]
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
        text = f"CD = {fixed(critical, 2)}"
        axes.text(low + critical / 2, -1.4, text, ha="center", va="bottom", usetex=False)
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
