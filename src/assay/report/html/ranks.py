"""The critical-difference diagram of a page: models by mean rank, and which are not told apart."""

from __future__ import annotations

import math
from dataclasses import dataclass

from assay.report.html.limits import Limits
from assay.report.html.scales import Frame, Scale
from assay.report.html.text import Name, named
from assay.report.sections import MeanRanks

WIDTH, LEFT, RIGHT, TOP = 760, 190, 570, 58
ROW, BAR, FOOT = 24, 10, 14
_LETTERS = 22


@dataclass(frozen=True)
class RankLine:
    """A model: its name, its rank, the path from the axis to the name, and the name's place."""

    name: Name
    rank: str
    path: str
    x: str
    y: str
    anchor: str


@dataclass(frozen=True)
class DrawnRanks:
    """The picture, and what it says in words; paths are in units of the drawing."""

    said: str
    lines: tuple[RankLine, ...]
    bars: tuple[str, ...]
    critical: str
    middle: str
    label: str
    ticks: tuple[tuple[str, str], ...]
    frame: Frame


def drawn_ranks(block: MeanRanks, limits: Limits) -> DrawnRanks | None:
    """The picture of mean ranks; None where there are fewer than two, or too many to be read."""
    size = len(block.ranks)
    if not 2 <= size <= limits.rows:
        return None
    left = math.ceil(size / 2)
    first = TOP + 18 + BAR * len(block.groups)
    bottom = first + ROW * (left - 1)
    frame = Frame(WIDTH, bottom + FOOT, LEFT, RIGHT, TOP, bottom)
    scale = Scale(1.0, float(max(size, math.ceil(block.ranks[-1][1]))))
    places = [frame.x(scale.share(rank)) for _, rank in block.ranks]
    lines = []
    for i, (name, rank) in enumerate(block.ranks):
        at_left = i < left
        y = first + ROW * (i if at_left else size - 1 - i)
        end = LEFT - 8 if at_left else RIGHT + 8
        lines.append(
            RankLine(
                named(name, min(_LETTERS, limits.letters)),
                f"{rank:.2f}",
                f"M{places[i]} {TOP}V{y}H{end}",
                str(end - 6 if at_left else end + 6),
                str(y),
                "end" if at_left else "start",
            )
        )
    bars = tuple(
        f"M{float(places[a]) - 3:.1f} {TOP + 10 + BAR * k}H{float(places[b]) + 3:.1f}"
        for k, (a, b) in enumerate(block.groups)
    )
    reach = frame.x(scale.share(1 + block.critical))
    label = f"critical difference {block.critical:.2f}"
    return DrawnRanks(
        said=f"Mean ranks of {size} models, the best at the left; a bar joins those that are not "
        f"told apart",
        lines=tuple(lines),
        bars=bars,
        critical=f"M{LEFT} 16v8m0 -4H{reach}m0 -4v8",
        middle=f"{(LEFT + float(reach)) / 2:.1f}",
        label=label,
        ticks=tuple(
            (frame.x(scale.share(float(at))), str(at)) for at in range(1, int(scale.high) + 1)
        ),
        frame=frame,
    )
