"""What scores tell: curves over all thresholds, distributions, and whether they mean a chance.

A curve is drawn as steps. A step runs so that each of its points is at most as good as a threshold
that can be set: the figure shows nothing above what the detector attains. Points that a curve
leaves out are not drawn.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from assay.v02.curves import Axis, Curve, Floats
from assay.errors import MethodError
from assay.v02.inference import Estimate
from assay.v02.measures import Measure
from assay.v02.number_text import exact_percent, significant, threshold_text
from assay.v02.plots.canvas import (
    BLUE,
    COLOURS,
    DASHES,
    GREY,
    MARKS,
    ORANGE,
    drawing,
    full_title,
    label,
    legend_text,
    legible,
    one_line,
    reach,
    title,
)

if TYPE_CHECKING:
    from assay.v02.plots.canvas import Axes
    from assay.v02.tally import ScoreTally


SQUARE = 3.2
WIDE = 2.5
MARGIN = 0.02


@dataclass(frozen=True)
class MarkedPoint:
    """Where the detector operates: both measures with their intervals, and the threshold."""

    x: Estimate | float
    y: Estimate
    threshold: float | None = None

    @property
    def text(self) -> str:
        """What the legend says."""
        at = (
            "decisions" if self.threshold is None else f"threshold {threshold_text(self.threshold)}"
        )
        return at if math.isnan(self.y.low) else f"{at}, {exact_percent(self.y.level)} intervals"


def roc(
    curve: Curve,
    *,
    point: MarkedPoint | None = None,
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
    point: MarkedPoint | None = None,
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
    curve: Curve, *, point: MarkedPoint | None = None, name: str = "", ax: Axes | None = None
) -> Axes:
    """Detection rate against false alarm rate; of the alarms of guessing, all but the prevalence.

    No line leads to the first alert: without alarms there is no false alarm rate.
    """
    rate = 1 - _prevalence(curve)
    return plane(curve, "post", ((rate, rate), (0, 1)), point, "", name, ax)


def gain(
    curve: Curve, *, point: MarkedPoint | None = None, name: str = "", ax: Axes | None = None
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
    curve: Curve, *, point: MarkedPoint | None = None, name: str = "", ax: Axes | None = None
) -> Axes:
    """Precision over prevalence against the share of rows that raise an alert; guessing has 1.

    Alerts are on a logarithmic scale, since few rows are ever flagged.
    """
    with drawing(ax, WIDE) as axes:
        fewest = [0.1, float(drawn(curve)[x_axis(curve).name].min())]
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
    curve: Curve, *, point: MarkedPoint | None = None, name: str = "", ax: Axes | None = None
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
    curves: Sequence[Curve], *, points: Sequence[MarkedPoint] = (), ax: Axes | None = None
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
    point: MarkedPoint | None,
    words: str,
    name: str,
    ax: Axes | None,
    *,
    trivial: str = "guessing",
    square: bool | None = None,
) -> Axes:
    """A curve in the plane of two rates; a further one on the same axes is drawn otherwise."""
    x = x_axis(curve)
    own = ax is None if square is None else square
    with drawing(ax, SQUARE) as axes:
        others = stepped(axes)
        if not others:
            axes.plot(*guessing, color=GREY, linestyle=(0, (1, 2)), linewidth=1, label=trivial)
        text = legend_text(name, words) or "detector"
        colour = step(axes, drawn(curve), x.name, curve.y.name, where, text, others)
        if point is not None:
            mark(axes, point, colour if others or name else "black", point.text)
        label(axes, full_title(x), full_title(curve.y))
        _unit(axes.set_xlim, [x.range])
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
    text: str,
    number: int,
) -> str:
    """Draw steps, and the band where there is one, in the colour and dashes of their number."""
    colour, dashes = COLOURS[number % len(COLOURS)], DASHES[number % len(DASHES)]
    if "low" in columns:
        ax.fill_between(
            columns[x], columns["low"], columns["high"], step=where, color=colour, alpha=0.2, lw=0
        )
    shown = legible(text)
    ax.step(columns[x], columns[y], where=where, color=colour, linestyle=dashes, label=shown)
    return colour


def stepped(ax: Axes) -> int:
    """How many curves there are on some axes."""
    return sum(line.get_drawstyle().startswith("steps") for line in ax.lines)


def x_axis(curve: Curve) -> Measure | Axis:
    """What the x-axis of a curve of two measures shows."""
    if curve.x is None:
        raise MethodError(f"{curve.name} has no x-axis: it is drawn against the threshold")
    return curve.x


def mark(ax: Axes, point: MarkedPoint, colour: str, text: str) -> None:
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
        label=text,
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
            shown = one_line(name) if several and len(known) <= _NAMED else None
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


BINS = 40
# This share of a class, at each end, may lie outside of the axis: in the outermost bins.
_TAIL = 0.001
_CHUNKS = 2000
_LARGEST = 1e300
_APART = 1e-9  # scores closer than this, relative to their size, are shown as one


def scores(
    tally: ScoreTally,
    *,
    threshold: float | None = None,
    probability: bool = False,
    ax: Axes | None = None,
) -> Axes:
    """The share of each class's rows by score, on a logarithmic scale, and the threshold.

    Few scores far out are shown in the outermost bins.
    """
    edges, shares = histogram(tally, probability=probability)
    with drawing(ax, 2.5) as axes:
        negative, positive = (one_line(name) for name in tally.labels)
        axes.stairs(shares[0], edges, fill=True, color=BLUE, alpha=0.3)
        axes.stairs(shares[0], edges, color=BLUE, label=f"negative: {negative}")
        axes.stairs(shares[1], edges, color=ORANGE, lw=1.8, label=f"positive: {positive}")
        if threshold is not None:
            axes.axvline(
                threshold,
                color="black",
                lw=1,
                ls="--",
                label=f"threshold {threshold_text(threshold)}",
            )
        axes.set_yscale("log")
        axes.set_ylim(*_decades(shares[shares > 0]))
        axes.yaxis.set_major_formatter(lambda value, _: f"{100 * value:g}%")
        axes.yaxis.set_minor_formatter(lambda *_: "")
        label(axes, "Probability" if probability else "Score", "Share of the class's rows")
        axes.legend()
    return axes


def histogram(tally: ScoreTally, *, probability: bool = False) -> tuple[Floats, Floats]:
    """Edges of bins of equal width, and the share of each class's rows in each of them."""
    if not tally.size:
        raise MethodError("a distribution needs scores; there are none")
    low, high = (0.0, 1.0) if probability else _range(tally)
    edges = np.linspace(low, high, BINS + 1)
    inner = np.searchsorted(tally.scores, edges[1:-1], side="left")
    return edges, _shares(tally, [0, *inner.tolist(), tally.size])


def _range(tally: ScoreTally) -> tuple[float, float]:
    """From where to where the scores of both classes lie, but for few."""
    cuts = np.unique(np.linspace(0, tally.size, _CHUNKS + 1).astype(np.int64)).tolist()
    shares = _shares(tally, cuts)
    upward = np.cumsum(shares, axis=1)
    downward = np.cumsum(shares[:, ::-1], axis=1)
    first = int(np.argmax((upward > _TAIL).any(axis=0)))
    last = shares.shape[1] - 1 - int(np.argmax((downward > _TAIL).any(axis=0)))
    low, high = float(tally.scores[cuts[first]]), float(tally.scores[cuts[last + 1] - 1])
    low, high = max(low, -_LARGEST), min(high, _LARGEST)
    largest = max(abs(low), abs(high))
    if high - low > _APART * largest:
        return low, high
    return low - (largest / 2 or 1), high + (largest / 2 or 1)


def _shares(tally: ScoreTally, cuts: Sequence[int]) -> Floats:
    """The share of each class's rows between positions in the sorted scores; 0 without rows."""
    kind: Any = np.float64 if tally.weighted else np.int64
    parts = [tally.counts[:, i:j].sum(axis=1, dtype=kind) for i, j in pairwise(cuts)]
    sums = np.array(parts, np.float64).T
    totals = sums.sum(axis=1, keepdims=True)
    shares: Floats = np.divide(sums, totals, out=np.zeros_like(sums), where=totals > 0)
    return shares


def _decades(shares: Floats) -> tuple[float, float]:
    """Powers of ten around some shares, at least two, so that the axis has numbers."""
    low, high = np.floor(np.log10(shares.min())), np.ceil(np.log10(shares.max()))
    return 10.0 ** min(low, high - 1), 10.0**high


def reliability(
    table: Mapping[str, Floats],
    *,
    summary: Estimate | None = None,
    name: str = "",
    ax: Axes | None = None,
) -> Axes:
    """The observed share against the probability that was said, with intervals.

    ``summary`` is the expected calibration error, ``name`` the model's; a further one on the same
    axes has another mark.
    """
    with drawing(ax, 3.2) as axes:
        number = len(axes.containers)
        if not number:
            axes.plot(
                (0, 1), (0, 1), color=GREY, linestyle=(0, (1, 2)), linewidth=1, label="calibrated"
            )
        below, above = table["observed"] - table["low"], table["high"] - table["observed"]
        axes.errorbar(
            table["predicted"],
            table["observed"],
            yerr=np.maximum([below, above], 0),
            fmt=MARKS[number % len(MARKS)],
            color=COLOURS[number % len(COLOURS)],
            elinewidth=1,
            capsize=2,
            label=legible(legend_text(name, _error(summary, short=bool(name)))),
        )
        label(axes, "Probability said", "Share observed")
        axes.set_xlim(-0.02, 1.02)
        axes.set_ylim(-0.02, 1.02)
        axes.legend()
    return axes


def _error(summary: Estimate | None, *, short: bool) -> str:
    if summary is None or math.isnan(summary):
        return "observed"
    calibrated = summary.parts.get("if_calibrated")
    aside = (
        ""
        if calibrated is None or short
        else f"\n(if calibrated: about {significant(calibrated, 2)})"
    )
    return f"calibration error {significant(summary, 2)}{aside}"
