"""The DET curve: both kinds of error on axes of normal deviates."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.curves import Curve, Floats
from assay.inference import Estimate
from assay.measures import FALSE_NEGATIVE_RATE, FALSE_POSITIVE_RATE
from assay.plots.canvas import COLOURS, DASHES, GREY, drawing, label
from assay.plots.lines import SQUARE, Point, drawn, stepped
from assay.plots.names import full_title, legible, plain

if TYPE_CHECKING:
    from assay.plots.canvas import Axes

# In percent, as papers have them.
TICKS = (0.0001, 0.001, 0.01, 0.1, 1, 5, 20, 40, 60, 80, 95, 99, 99.9)
# Errors more frequent than this are of no interest, unless the detector has no better.
_OFTEN = 0.8
_MARGIN = 0.15
_X, _Y = FALSE_POSITIVE_RATE.name, FALSE_NEGATIVE_RATE.name


def det(
    curve: Curve,
    *,
    equal: float = math.nan,
    point: Point | None = None,
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
    floors = [float(ndtri(_least(total))) for total in rows.values()]
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
        shown = legible(plain(name) if name else "detector")
        axes.step(x, y, where="post", color=colour, ls=dashes, label=shown)
        if 0 < equal < 1:
            text = f"equal errors: {100 * equal:.3g}%"
            at = float(ndtri(equal))
            axes.plot([at], [at], "D", color=colour, mfc="white", zorder=3, label=text)
        if point is not None:
            _mark(axes, point, rows, colour if number or name else "black")
        # Before there are ticks, which widen them.
        xlim, ylim = axes.get_xlim(), axes.get_ylim()
        _ticks(axes)
        left, bottom = floors[0] - _MARGIN, floors[1] - _MARGIN
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


def _least(rows: float) -> float:
    return min(0.5 / max(rows, 1.0), 0.4)


def _deviates(rates: Floats, rows: float) -> Floats:
    """Normal deviates, with what has none at half a row."""
    from scipy.special import ndtri

    least = max(_least(rows), 2.0**-53)
    deviates: Floats = ndtri(np.clip(rates, least, 1 - least))
    return deviates


def _mark(ax: Axes, point: Point, rows: Any, colour: str) -> None:
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
