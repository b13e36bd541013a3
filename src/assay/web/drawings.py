"""Drawings of several runs: a trend that breaks where the test set changes, curves over each other.

They are made here, so that they are seen without a script, in the frame and style of reports.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from assay.report.html.scales import Frame, Scale, around

if TYPE_CHECKING:
    from assay.store.run import Point
    from assay.store.trend import Trend

LONG = Frame(width=760, height=300, left=66, right=748, top=12, bottom=250)
SPARK = Frame(width=160, height=28, left=3, right=157, top=3, bottom=25)
SQUARE = Frame(width=420, height=360, left=52, right=408, top=12, bottom=310)
# As many runs as can be told apart.
MOST = 6
_LOWEST = -5.0
_DATES = 5


@dataclass(frozen=True)
class Dot:
    """A run in a trend: where it stands, its interval, and what is said of it."""

    run: str
    x: str
    y: str
    low: str
    high: str
    title: str
    gate: str


# More dots than that can't be told apart, so they are no links.
LINKED = 300


@dataclass(frozen=True)
class Course:
    """A trend: one line for each test set, and a dot for each run."""

    said: str
    lines: tuple[str, ...]
    dots: tuple[Dot, ...]
    across: tuple[tuple[str, str], ...]
    up: tuple[tuple[str, str], ...]
    frame: Frame
    reach: str
    linked: bool


@dataclass(frozen=True)
class Curves:
    """Curves of several runs, each with its name and number."""

    said: str
    title: str
    curves: tuple[tuple[int, str, str], ...]
    across: tuple[tuple[str, str], ...]
    up: tuple[tuple[str, str], ...]
    frame: Frame


def course_of(trend: Trend, frame: Frame = LONG) -> Course:
    """A trend over its runs in their order."""
    points = trend.points
    across = Scale(0.5, len(points) + 0.5)
    ends = [end for p in points for end in (p.value, p.low, p.high) if end is not None]
    up = around(ends, (-math.inf, math.inf))
    dots = tuple(_dot(point, i, across, up, frame) for i, point in enumerate(points, 1))
    lines: dict[int, list[str]] = {}
    for point, dot in zip(points, dots, strict=True):
        lines.setdefault(point.segment, []).append(f"{dot.x} {dot.y}")
    every = max(1, math.ceil(len(points) / _DATES))
    first, last = points[0], points[-1]
    return Course(
        said=f"{trend.measure} from {first.value:.3g} on {first.made[:10]} to {last.value:.3g} on "
        f"{last.made[:10]}, {len(points)} runs on {len(lines)} test sets",
        lines=tuple(f"M{'L'.join(line)}" for line in lines.values() if len(line) > 1),
        dots=dots,
        across=tuple(
            (frame.x(across.share(i)), point.made[:10])
            for i, point in enumerate(points, 1)
            if (i - 1) % every == 0
        ),
        up=tuple((frame.y(up.share(number)), text) for number, text in up.marks()),
        frame=frame,
        reach="".join(f"M{dot.x} {dot.low}V{dot.high}" for dot in dots if dot.low),
        linked=len(points) <= LINKED,
    )


def _dot(point: Point, place: int, across: Scale, up: Scale, frame: Frame) -> Dot:
    low, high = point.low, point.high
    known = low is not None and high is not None
    interval = f" [{low:.4g}, {high:.4g}]" if known else ""
    return Dot(
        run=point.run,
        x=frame.x(across.share(place)),
        y=frame.y(up.share(point.value)),
        low=frame.y(up.share(low)) if known and low is not None else "",
        high=frame.y(up.share(high)) if known and high is not None else "",
        title=f"{point.made[:16].replace('T', ' ')}: {point.value:.4g}{interval}",
        gate=point.gate or "",
    )


def overlaid(runs: Sequence[tuple[str, Mapping[str, Any]]], *, log: bool) -> Curves | None:
    """The ROC curves of evaluations, by their documents; None where none has scores.

    With ``log`` false positive rates stand on a log scale, where most detectors work.
    """
    curves = []
    for number, (name, document) in enumerate(runs[:MOST], 1):
        path = _roc(document, log=log)
        if path:
            curves.append((number, name, path))
    if not curves:
        return None
    scale = Scale(_LOWEST, 0.0) if log else Scale()
    across = (
        [(power, f"1e{power:.0f}" if power else "1") for power in range(int(_LOWEST), 1)]
        if log
        else list(scale.marks())
    )
    names = ", ".join(name for _, name, _ in curves)
    return Curves(
        said=f"ROC curves{' at small false positive rates' if log else ''} of {names}",
        title="ROC, log scale" if log else "ROC",
        curves=tuple(curves),
        across=tuple((SQUARE.x(scale.share(at)), text) for at, text in across),
        up=tuple((SQUARE.y(at), text) for at, text in Scale().marks()),
        frame=SQUARE,
    )


def _roc(document: Mapping[str, Any], *, log: bool) -> str:
    """The steps of a curve; the cells of a document are [[tn, fp], [fn, tp]]."""
    sweep, cells = document.get("sweep"), document.get("confusion")
    if not sweep or not cells or len(cells) != 2:
        return ""
    negatives, positives = map(sum, cells)
    if not (negatives and positives and len(sweep["tp"]) > 1):
        return ""
    scale = Scale(_LOWEST, 0.0) if log else Scale()
    steps = []
    for tp, fp in zip(sweep["tp"], sweep["fp"], strict=True):
        rate = fp / negatives
        across = math.log10(max(rate, 10**_LOWEST)) if log else rate
        steps.append((SQUARE.x(scale.share(across)), SQUARE.y(tp / positives)))
    path = [f"M{steps[0][0]} {steps[0][1]}"]
    # A threshold flags more rows or none: the curve goes up, then to the right.
    path += [f"V{y}H{x}" for x, y in steps[1:]]
    return "".join(path)
