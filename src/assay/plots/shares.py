"""What scores say: their distribution in both classes, and whether they mean a chance."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from assay.errors import MethodError
from assay.inference import Estimate
from assay.plots.canvas import BLUE, COLOURS, GREY, MARKS, ORANGE, drawing, label
from assay.plots.names import legible, named, plain

if TYPE_CHECKING:
    from assay.plots.canvas import Axes
    from assay.tally import ScoreTally

Floats = npt.NDArray[np.float64]

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
        negative, positive = (plain(name) for name in tally.labels)
        axes.stairs(shares[0], edges, fill=True, color=BLUE, alpha=0.3)
        axes.stairs(shares[0], edges, color=BLUE, label=f"negative: {negative}")
        axes.stairs(shares[1], edges, color=ORANGE, lw=1.8, label=f"positive: {positive}")
        if threshold is not None:
            axes.axvline(
                threshold, color="black", lw=1, ls="--", label=f"threshold {threshold:.4g}"
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
            label=legible(named(name, _error(summary, short=bool(name)))),
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
    aside = "" if calibrated is None or short else f"\n(if calibrated: about {calibrated:.2g})"
    return f"calibration error {summary:.2g}{aside}"
