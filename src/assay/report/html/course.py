"""A course over steps, such as the loss of each epoch, as lines in a frame."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from assay.report.document import Course, Kind
from assay.report.html.scales import Frame, Scale, around

FRAME = Frame(width=640, height=260, left=52, right=628, top=12, bottom=214)


@dataclass(frozen=True)
class Drawn:
    """Lines in units of the drawing: the first is the one to follow, the others are around it."""

    said: str
    step: str
    name: str
    lines: tuple[str, ...]
    across: tuple[tuple[str, str], ...]
    up: tuple[tuple[str, str], ...]
    frame: Frame


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


def _number(cell: object) -> float:
    return float(cell) if isinstance(cell, int | float) else math.nan


def _some(steps: Sequence[int]) -> Sequence[int]:
    """At most about ten of the steps, the first among them."""
    return steps[:: max(1, math.ceil(len(steps) / 10))]


def _path(values: Sequence[float], across: Scale, up: Scale) -> str:
    points = [
        f"{FRAME.x(across.share(step))} {FRAME.y(up.share(value))}"
        for step, value in enumerate(values, 1)
        if math.isfinite(value)
    ]
    return "M" + "L".join(points)
