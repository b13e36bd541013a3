"""A course over steps, such as the loss of each epoch or a measure of each month, as lines."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from assay.inference import Estimate
from assay.plots.incidents import LINEAR
from assay.report.html.scales import Frame, Scale, around
from assay.report.sections import Course, Kind, Periods, StepCurve

FRAME = Frame(width=640, height=260, left=52, right=628, top=12, bottom=214)
# Several of these stand side by side.
SMALL = Frame(width=420, height=230, left=52, right=408, top=12, bottom=180)
# About how wide a letter below an axis is.
_LETTER = 6.2
_HIGH = 0.9


@dataclass(frozen=True)
class Drawn:
    """Lines in units of the drawing: the first is the one to follow, the others are around it.

    ``bars`` are the intervals of the first, ``dots`` its points, and ``spread`` the band around it;
    ``marks`` are points that stand out, with their names and on which side those stand; ``bounds``
    are heights that it is held to, with their names and how far below them those stand.
    """

    said: str
    step: str
    name: str
    lines: tuple[str, ...]
    across: tuple[tuple[str, str], ...]
    up: tuple[tuple[str, str], ...]
    frame: Frame
    bars: tuple[str, ...] = ()
    dots: tuple[tuple[str, str], ...] = ()
    spread: str = ""
    marks: tuple[tuple[str, str, str, str], ...] = ()
    bounds: tuple[tuple[str, str, int], ...] = ()


def drawn_of(course: Course) -> Drawn | None:
    """The lines of a course; None where there are no two steps to join."""
    shares = [i for i, column in enumerate(course.columns) if column.kind is Kind.SHARE]
    columns = [[_number(row[i]) for row in course.rows] for i in shares]
    finite = [value for column in columns for value in column if math.isfinite(value)]
    if len(course.rows) < 2 or not finite:
        return None
    across = Scale(1, len(course.rows))
    up = around([0.0, *finite], (-math.inf, math.inf))
    first = columns[0]
    return Drawn(
        said=f"{course.caption}: from {first[0]:.3g} to {first[-1]:.3g} over {len(first)} steps",
        step=course.columns[0].name,
        name=course.columns[shares[0]].name,
        lines=tuple(_path(column, across, up) for column in columns),
        across=tuple(
            (FRAME.x(across.share(step)), str(step))
            for step in _some(range(1, len(course.rows) + 1))
        ),
        up=tuple((FRAME.y(up.share(number)), text) for number, text in up.marks()),
        frame=FRAME,
    )


def drawn_periods(course: Periods) -> tuple[Drawn, ...]:
    """One drawing a measure, with its intervals; none where there are no two periods to join."""
    drawn = (Kind.SHARE, Kind.DAILY, Kind.DIFFERENCE)
    shares = [i for i, column in enumerate(course.columns) if column.kind in drawn]
    drawings = (_drawn_measure(course, i) for i in shares)
    return tuple(drawing for drawing in drawings if drawing is not None)


def _drawn_measure(course: Periods, column: int) -> Drawn | None:
    cells = [row[column] for row in course.rows]
    known = [(i, e) for i, e in enumerate(cells, 1) if isinstance(e, Estimate) and math.isfinite(e)]
    if len(known) < 2:
        return None
    across = Scale(0.5, len(cells) + 0.5)
    name = course.columns[column].name
    bounds = [(value, text) for held, value, text in course.bounds if held == name]
    ends = [end for _, e in known for end in (float(e), e.low, e.high)]
    up = around([*ends, *(value for value, _ in bounds)], (-math.inf, math.inf))
    places = [(SMALL.x(across.share(i)), e) for i, e in known]
    first, last = known[0][1], known[-1][1]
    return Drawn(
        said=f"{name}: from {float(first):.3g} to {float(last):.3g} over {len(cells)} "
        f"{course.columns[0].name}s" + "".join(f"; held to {text}" for _, text in bounds),
        step=course.columns[0].name,
        name=name,
        lines=(_path([_number(cell) for cell in cells], across, up, SMALL),),
        across=tuple(
            (SMALL.x(across.share(i)), str(course.rows[i - 1][0]))
            for i in _some(range(1, len(cells) + 1), _fitting(course))
        ),
        up=tuple((SMALL.y(up.share(number)), text) for number, text in up.marks()),
        frame=SMALL,
        bars=tuple(
            f"M{x} {SMALL.y(up.share(e.low))}V{SMALL.y(up.share(e.high))}"
            for x, e in places
            if math.isfinite(e.low) and math.isfinite(e.high)
        ),
        dots=tuple((x, SMALL.y(up.share(float(e)))) for x, e in places),
        bounds=tuple(
            # A name above the top of the frame would be cut off.
            (SMALL.y(up.share(value)), text, 14 if up.share(value) > _HIGH else -5)
            for value, text in bounds
        ),
    )


def _fitting(course: Periods) -> int:
    """How many names of periods fit below an axis, by the longest of them."""
    longest = max(len(str(row[0])) for row in course.rows)
    return max(1, int((SMALL.right - SMALL.left) / (_LETTER * (longest + 1))))


def drawn_steps(curve: StepCurve) -> Drawn | None:
    """A curve in steps with its band; None where no two of its points differ."""
    points = [(x, y) for x, y in zip(curve.x, curve.y, strict=True) if math.isfinite(x + y)]
    if len(set(points)) < 2:
        return None
    name, value = curve.axes
    far = max(x for x, _ in points)
    bent = math.log1p if far > LINEAR else float
    across = (
        Scale(bent(0.0), bent(far)) if bent is math.log1p else around([0.0, far], (0, math.inf))
    )
    ends = [end for end in (*curve.low, *curve.high) if math.isfinite(end)]
    up = around([0.0, curve.highest, *(y for _, y in points), *ends], (0, math.inf))

    def at(x: float, y: float) -> tuple[str, str]:
        return FRAME.x(across.share(bent(x))), FRAME.y(up.share(y))

    marks = [(10.0**i, f"{10**i:,}") for i in range(math.ceil(math.log10(max(far, 10))))]
    if bent is not math.log1p:
        marks = list(across.marks())
    last = points[-1]
    return Drawn(
        said=f"{curve.caption}: {value} from {points[0][1]:.3g} at {points[0][0]:.3g} to "
        f"{last[1]:.3g} at {last[0]:.3g}",
        step=name,
        name=value,
        lines=(_stairs([at(x, y) for x, y in points]),),
        across=tuple((at(number, 0)[0], text) for number, text in [(0.0, "0"), *marks][:12]),
        up=tuple((FRAME.y(up.share(number)), text) for number, text in up.marks()),
        frame=FRAME,
        spread=_band(curve, at),
        marks=tuple(
            (*at(x, y), text, "end" if across.share(bent(x)) > 0.5 else "start")
            for x, y, text in curve.marks
        ),
    )


def _stairs(points: Sequence[tuple[str, str]]) -> str:
    """A line that keeps its height until the next point."""
    (x, y), *rest = points
    return f"M{x} {y}" + "".join(f"H{x}V{y}" for x, y in rest)


def _band(curve: StepCurve, at: Callable[[float, float], tuple[str, str]]) -> str:
    """What lies between both ends: there along the upper one, back along the lower one."""
    if not curve.low:
        return ""
    upper = _stairs([at(x, y) for x, y in zip(curve.x, curve.high, strict=True)])
    places = [at(x, y) for x, y in zip(curve.x, curve.low, strict=True)]
    # Backwards a step keeps the height of the point to its left.
    back = [f"L{places[-1][0]} {places[-1][1]}"]
    back += [f"V{y}H{x}" for x, y in reversed(places[:-1])]
    return upper + "".join(back) + "Z"


def _number(cell: object) -> float:
    return float(cell) if isinstance(cell, int | float) else math.nan


def _some(steps: Sequence[int], most: int = 10) -> Sequence[int]:
    """At most about so many of the steps, the first among them."""
    return steps[:: max(1, math.ceil(len(steps) / most))]


def _path(values: Sequence[float], across: Scale, up: Scale, frame: Frame = FRAME) -> str:
    points = [
        f"{frame.x(across.share(step))} {frame.y(up.share(value))}"
        for step, value in enumerate(values, 1)
        if math.isfinite(value)
    ]
    return "M" + "L".join(points)
