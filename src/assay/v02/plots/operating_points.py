"""What a detector does at its threshold: confusion matrix, both errors (DET), costs, choices."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from assay.v02.curves import Curve, Floats
from assay.errors import MethodError
from assay.v02.inference import Estimate
from assay.v02.measures import FALSE_NEGATIVE_RATE, FALSE_POSITIVE_RATE
from assay.v02.number_text import fixed, rate_percent
from assay.v02.plots.canvas import (
    BLUE,
    COLOURS,
    COLUMN,
    DASHES,
    GREY,
    LIGHT,
    MARKS,
    ORANGE,
    PAGE,
    drawing,
    full_title,
    label,
    legible,
    one_line,
    reach,
    size_text,
    title,
)
from assay.v02.plots.curves import (
    MARGIN,
    SQUARE,
    WIDE,
    MarkedPoint,
    drawn,
    mark,
    plane,
    stepped,
    x_axis,
)

if TYPE_CHECKING:
    from assay.v02.plots.canvas import Axes
    from assay.v02.tally import Confusion


Numbers: TypeAlias = Mapping[tuple[int, int], str]

# With more classes than this the cells have no numbers, with more than that not every label.
NUMBERED = 40
LABELLED = 60
_LONGEST_LABEL = 18
_REST, _LETTER = 0.4, 0.055  # inches: what stands around the cells, and a letter of a label
_LARGEST, _LEGIBLE, _SMALLEST = 7.0, 5.5, 3.0  # points
_DIGIT = 0.62  # how wide a digit is, in font sizes


def confusion(table: Confusion, *, ax: Axes | None = None) -> Axes:
    """Counts and row shares of a confusion matrix; rows are the truth.

    The shade is the share of the row. Cells without rows have no numbers.
    """
    labels = [one_line(name, _LONGEST_LABEL) for name in table.labels]
    shares = _shares(table)
    numbers = _numbers(table, shares) if len(labels) <= NUMBERED else {}
    with drawing(ax, *_page(labels, numbers)) as axes:
        shade = _shaded(axes, shares)
        _name(axes, labels)
        label(axes, "Decision", "True label")
        axes.tick_params(length=0)
        for spine in axes.spines.values():
            spine.set_visible(False)
        if ax is None:
            axes.set_aspect("equal")
            figure: Any = axes.figure
            if len(labels) > NUMBERED:
                bar = figure.colorbar(shade, ax=axes, shrink=0.6, label="Share of the row")
                bar.outline.set_visible(False)
            else:
                figure.draw_without_rendering()  # so that the cells have their size
        _write(axes, numbers, shares)
    return axes


def _page(labels: Sequence[str], numbers: Numbers) -> tuple[float, float]:
    """The height and width of a figure in which the numbers can be read, in inches."""
    if len(labels) > NUMBERED:
        return 0.85 * PAGE, PAGE
    cell = _LEGIBLE * _DIGIT * (_letters(numbers) + 1) / 72
    side = max(COLUMN, cell * len(labels) + _REST + _LETTER * max(map(len, labels)))
    return side, side


def _numbers(table: Confusion, shares: Any) -> Numbers:
    return {
        (i, j): f"{size_text(cell)}\n{fixed(100 * shares[i, j], 1)}%"
        for i, row in enumerate(table.cells)
        for j, cell in enumerate(row)
        if cell
    }


def _letters(numbers: Numbers) -> int:
    """How many letters the longest line of a cell has."""
    return max((len(line) for text in numbers.values() for line in text.split("\n")), default=1)


def _shares(table: Confusion) -> Floats:
    """Each cell as a share of its row; nan in a row without rows."""
    return np.array(
        [
            [float(cell / total) if total else math.nan for cell in row]
            for row, total in zip(table.cells, table.rows, strict=True)
        ]
    )


def _shaded(ax: Axes, shares: Any) -> Any:
    from matplotlib import colormaps

    colours = colormaps["Blues"].with_extremes(bad=LIGHT)
    look: dict[str, Any] = {"cmap": colours, "vmin": 0, "vmax": 1}
    classes = len(shares)
    if classes > NUMBERED:
        # So many cells would make a large file of small squares: an image instead.
        return ax.imshow(shares, interpolation="nearest", aspect="auto", **look)
    edges = np.arange(classes + 1) - 0.5
    ax.set_ylim(classes - 0.5, -0.5)
    return ax.pcolormesh(edges, edges, shares, edgecolors="white", linewidth=0.5, **look)


def _write(ax: Axes, numbers: Numbers, shares: Any) -> None:
    font = min(_LARGEST, _cell(ax, len(shares)) / (_DIGIT * (_letters(numbers) + 1)))
    if font < _SMALLEST:
        return
    for (i, j), text in numbers.items():
        colour = "white" if shares[i, j] > 0.55 else "black"
        ax.text(j, i, text, ha="center", va="center", fontsize=font, color=colour)


def _cell(ax: Axes, classes: int) -> float:
    """The smaller side of a cell as it will be drawn, in points."""
    box = ax.get_window_extent()
    return 72 * float(min(box.width, box.height)) / float(ax.figure.dpi) / classes


def _name(ax: Axes, labels: list[str]) -> None:
    step = math.ceil(len(labels) / LABELLED)
    places = list(range(0, len(labels), step))
    shown = [labels[i] for i in places]
    upright = len(labels) > 3 or max(map(len, labels)) > 12
    font = 7 if len(labels) <= NUMBERED else 5
    ax.set_xticks(places, shown, rotation=90 if upright else 0, fontsize=font, usetex=False)
    ax.set_yticks(places, shown, fontsize=font, usetex=False)


# The DET curve: both kinds of error on axes of normal deviates.
# In percent, as papers have them.
TICKS = (0.0001, 0.001, 0.01, 0.1, 1, 5, 20, 40, 60, 80, 95, 99, 99.9)
# Errors more frequent than this are of no interest, unless the detector has no better.
_OFTEN = 0.8
_DET_MARGIN = 0.15
_X, _Y = FALSE_POSITIVE_RATE.name, FALSE_NEGATIVE_RATE.name


def det(
    curve: Curve,
    *,
    equal: float = math.nan,
    point: MarkedPoint | None = None,
    name: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Miss rate against false positive rate, on axes of normal deviates.

    Two normal classes give a straight line. ``equal`` is the rate at which it meets the diagonal,
    where both errors are equally frequent. Rates of 0 and 1 have no place: they stand at half a
    row, which is said.
    """
    from scipy.special import ndtri

    columns = drawn(curve)
    x, y = columns[f"{_X}_probit"], columns[f"{_Y}_probit"]
    rows = {side: _rows(curve, *side) for side in (("FP", "TN"), ("FN", "TP"))}
    floors = [float(ndtri(_smallest_rate(total))) for total in rows.values()]
    with drawing(ax, SQUARE) as axes:
        number = stepped(axes)
        ceiling = float(ndtri(max(_OFTEN, np.nanmin([1.2 * equal, 0.999]))))
        if not number:
            ends = (min(floors) - 1, ceiling + 1)
            axes.plot(ends, ends, color=GREY, ls=(0, (1, 2)), lw=1)
        colour, dashes = COLOURS[number % len(COLOURS)], DASHES[number % len(DASHES)]
        if "low" in columns:
            low, high = (_deviates(columns[end], rows["FN", "TP"]) for end in ("low", "high"))
            axes.fill_between(x, low, high, step="post", color=colour, alpha=0.2, lw=0)
        shown = legible(one_line(name) if name else "detector")
        axes.step(x, y, where="post", color=colour, ls=dashes, label=shown)
        if 0 < equal < 1:
            text = f"equal errors: {rate_percent(equal)}"
            at = float(ndtri(equal))
            axes.plot([at], [at], "D", color=colour, mfc="white", zorder=3, label=text)
        if point is not None:
            _det_mark(axes, point, rows, colour if number or name else "black")
        # Before there are ticks, which widen them.
        xlim, ylim = axes.get_xlim(), axes.get_ylim()
        _ticks(axes)
        left, bottom = floors[0] - _DET_MARGIN, floors[1] - _DET_MARGIN
        if number:
            left, bottom, ceiling = min(left, xlim[0]), min(bottom, ylim[0]), max(ceiling, xlim[1])
        axes.set_xlim(left, ceiling)
        axes.set_ylim(bottom, ceiling)
        label(axes, full_title(FALSE_POSITIVE_RATE) + _note(curve), full_title(FALSE_NEGATIVE_RATE))
        axes.legend(loc="upper right")
    return axes


def _note(curve: Curve) -> str:
    off = sum((curve[each] <= 0) | (curve[each] >= 1) for each in (_X, _Y))
    count = int(np.count_nonzero(off))
    if not count:
        return ""
    where = "are left out" if curve.weighted else "stand at half a row"
    points = "1 point" if count == 1 else f"{count:,} points"
    return f"\n{points} with a rate of 0 or 1 {where}"


def _rows(curve: Curve, *cells: str) -> float:
    return float(sum(curve.cells[cell][0] for cell in cells))


def _smallest_rate(rows: float) -> float:
    return min(0.5 / max(rows, 1.0), 0.4)


def _deviates(rates: Floats, rows: float) -> Floats:
    """Normal deviates, with what has none at half a row."""
    from scipy.special import ndtri

    least = max(_smallest_rate(rows), 2.0**-53)
    deviates: Floats = ndtri(np.clip(rates, least, 1 - least))
    return deviates


def _det_mark(ax: Axes, point: MarkedPoint, rows: Any, colour: str) -> None:
    """The operating point and its intervals as a cross; nothing where it is undefined."""
    if math.isnan(point.x) or math.isnan(point.y):
        return
    places: list[float] = []
    reaches: list[Any] = []
    for rate, total in zip((point.x, point.y), rows.values(), strict=True):
        ends = (rate.low, rate.high) if isinstance(rate, Estimate) else (math.nan, math.nan)
        at, low, high = _deviates(np.array([float(rate), *ends]), total)
        places.append(float(at))
        reaches.append(np.nan_to_num([[at - low], [high - at]]))
    ax.errorbar(
        [places[0]],
        [places[1]],
        xerr=reaches[0],
        yerr=reaches[1],
        fmt="o",
        color=colour,
        elinewidth=1,
        capsize=2,
        zorder=3,
        label=point.text,
    )


def _ticks(ax: Axes) -> None:
    from scipy.special import ndtri

    places = ndtri(np.array(TICKS) / 100)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_ticks(places, [f"{tick:g}%" for tick in TICKS], usetex=False)
    ax.tick_params(axis="x", rotation=45)


# What decisions are worth, for all costs: decision and cost curves, and ROC hulls.
_LINE_LETTERS = 58  # of a line below an axis


def decision(
    curve: Curve,
    *,
    point: MarkedPoint | None = None,
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
    horizontal = x_axis(curve)
    x = columns[horizontal.name]
    with drawing(ax, SQUARE) as axes:
        number = _lines(axes)
        if not number:
            axes.plot(x, columns["everything"], color=GREY, lw=1, label="flag all")
            axes.plot(x, columns["nothing"], color=GREY, ls=(0, (1, 2)), lw=1, label="flag nothing")
        _line(axes, curve, horizontal.name, name or "best threshold of each", number)
        if "in_use" in columns and not number and not name:
            axes.plot(x, columns["in_use"], color=ORANGE, ls="--", lw=1, label="threshold in use")
        note = "\n".join(textwrap.wrap(curve.note, _LINE_LETTERS))
        label(axes, f"{title(horizontal)} (PC)\n{note}", full_title(curve.y))
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
            where = f"best on {rate_percent(share)} of PC" if share else "never the best"
            _edges(axes, curve, f"{one_line(name)}: {where}", i)
        first = next(iter(corners.values()))
        label(axes, full_title(x_axis(first)), full_title(first.y))
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
    text = legible(one_line(name) if name else "detector")
    (line,) = ax.plot(columns[x], columns[curve.y.name], color=colour, ls=dashes, label=text)
    line.set_gid("curve")
    return colour


def _edges(ax: Axes, corners: Curve, text: str, number: int) -> None:
    """A hull: straight lines, since a coin toss between two thresholds reaches them."""
    columns = drawn(corners)
    ax.plot(
        columns[x_axis(corners).name],
        columns[corners.y.name],
        color=COLOURS[number % len(COLOURS)],
        ls=DASHES[number % len(DASHES)],
        lw=1,
        marker="o",
        ms=2,
        label=legible(text),
    )


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
    x = x_axis(curve)
    if not len(curve):
        raise MethodError(f"{curve.name} can't be drawn: at no threshold are its measures defined")
    with drawing(ax, SQUARE) as axes:
        if smallest is not None:
            axes.set_xscale("symlog", linthresh=smallest, linscale=0.4)
            least = math.ceil(math.log10(smallest))
            axes.set_xticks([0, *(10.0**power for power in range(least, 1))])
            axes.minorticks_off()
        axes.step(
            curve[x.name],
            curve[curve.y.name],
            where="post",
            color=BLUE,
            label="all thresholds",
        )
        if x_limit is not None:
            axes.axvline(x_limit, color=GREY, linestyle=(0, (4, 2)), linewidth=0.8, label="limit")
        if y_limit is not None:
            text = None if x_limit is not None else "limit"
            axes.axhline(y_limit, color=GREY, linestyle=(0, (4, 2)), linewidth=0.8, label=text)
        for i, point in enumerate(points):
            if not (math.isnan(point.x) or math.isnan(point.y)):
                _chosen_mark(axes, point, i)
        label(axes, full_title(x), full_title(curve.y))
        axes.set_xlim(0 if smallest is not None else -MARGIN, 1 + MARGIN)
        axes.set_ylim(-MARGIN, 1 + MARGIN)
        axes.legend(loc="lower right")
    return axes


def _chosen_mark(ax: Axes, point: ChosenPoint, number: int) -> None:
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
        label=one_line(point.name),
    )
