"""Charts of a page: scales, lines over steps, incidents in time, mean ranks of models.

And how much of a document is shown, and text from data made fit for it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields

from assay.v02.escaping import name, plural, short, visible
from assay.v02.inference import Estimate
from assay.v02.number_text import count, fixed, significant
from assay.v02.plots.incident_times import LINEAR, time_ticks
from assay.v02.report.sections import Bar, Bars, Course, Kind, MeanRanks, PeriodCourse, StepCurve

_STEPS = (1, 2, 5, 10)


@dataclass(frozen=True)
class Strip:
    """An interval and its value as positions in percent; empty where there is none."""

    value: str = ""
    low: str = ""
    high: str = ""


@dataclass(frozen=True)
class Scale:
    """From numbers to the share of a width."""

    low: float = 0.0
    high: float = 1.0

    def share(self, number: float) -> float:
        """Where a number stands, from 0 to 1."""
        return min(max((number - self.low) / (self.high - self.low), 0.0), 1.0)

    def at(self, number: float) -> str:
        """The same in percent; empty for what has no place."""
        return "" if math.isnan(number) else f"{100 * self.share(number):.2f}%"

    def strip(self, estimate: Estimate) -> Strip:
        """An estimate as a dot with its interval."""
        return Strip(self.at(estimate), self.at(estimate.low), self.at(estimate.high))

    def ticks(self) -> tuple[tuple[str, str], ...]:
        """Round numbers as (position in percent, text)."""
        return tuple((self.at(number), text) for number, text in self.marks())

    def marks(self) -> tuple[tuple[float, str], ...]:
        """Round numbers, and their text."""
        step = _step(self.high - self.low)
        digits = max(0, -math.floor(math.log10(step) + 1e-9))
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return tuple((i * step, fixed(i * step, digits)) for i in range(first, last + 1))


@dataclass(frozen=True)
class Frame:
    """Where a drawing has its axes, in its own units; shares of them as coordinates."""

    width: int
    height: int
    left: int
    right: int
    top: int
    bottom: int

    def x(self, share: float) -> str:
        """From the left."""
        return f"{self.left + share * (self.right - self.left):.1f}"

    def y(self, share: float) -> str:
        """From the bottom."""
        return f"{self.bottom - share * (self.bottom - self.top):.1f}"


def _step(width: float) -> float:
    """A round number that goes about five times into a width."""
    rough = width / 5
    power: float = 10.0 ** math.floor(math.log10(rough))
    return next(m * power for m in _STEPS if m * power >= rough * 0.999)


def around(numbers: Iterable[float], bounds: tuple[float, float]) -> Scale:
    """A scale with round ends that holds the numbers and does not leave the bounds.

    >>> around([0.013, 0.022], (0, 1))
    Scale(low=0.012, high=0.022)
    """
    finite = [number for number in numbers if math.isfinite(number)]
    low, high = min(finite, default=0.0), max(finite, default=1.0)
    if high - low < 1e-9:
        low, high = low - 0.05, high + 0.05
    step = _step(high - low)
    return Scale(
        max(math.floor(low / step + 1e-9) * step, bounds[0]),
        min(math.ceil(high / step - 1e-9) * step, bounds[1]),
    )


# -- lines over steps, such as epochs or months --------------------------------------------------


FRAME = Frame(width=640, height=260, left=52, right=628, top=12, bottom=214)
# Several of these stand side by side.
SMALL = Frame(width=420, height=230, left=52, right=408, top=12, bottom=180)
# About how wide a letter below an axis is.
_LETTER = 6.2
_HIGH = 0.9


@dataclass(frozen=True)
class LineChart:
    """Lines in units of the drawing: the first is the one to follow, the others are around it.

    ``bars`` are the intervals of the first, ``dots`` its points, and ``spread`` the band around it;
    ``marks`` are points that stand out, with their names and on which side those stand; ``bounds``
    are heights that it is held to, with their names and how far below them those stand.
    """

    description: str
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


def drawn_of(course: Course) -> LineChart | None:
    """The lines of a course; None where there are no two steps to join."""
    shares = [i for i, column in enumerate(course.columns) if column.kind is Kind.SHARE]
    columns = [[_number(row[i]) for row in course.rows] for i in shares]
    finite = [value for column in columns for value in column if math.isfinite(value)]
    if len(course.rows) < 2 or not finite:
        return None
    across = Scale(1, len(course.rows))
    up = around([0.0, *finite], (-math.inf, math.inf))
    first = columns[0]
    return LineChart(
        description=f"{course.caption}: from {significant(first[0])} to {significant(first[-1])} "
        f"over {len(first)} steps",
        step=course.columns[0].name,
        name=course.columns[shares[0]].name,
        lines=tuple(_path(column, across, up) for column in columns),
        across=tuple(
            (FRAME.x(across.share(step)), str(step))
            for step in _thinned(range(1, len(course.rows) + 1))
        ),
        up=tuple((FRAME.y(up.share(number)), text) for number, text in up.marks()),
        frame=FRAME,
    )


def drawn_periods(course: PeriodCourse) -> tuple[LineChart, ...]:
    """One drawing a measure, with its intervals; none where there are no two periods to join."""
    drawn = (Kind.SHARE, Kind.DAILY, Kind.DIFFERENCE)
    shares = [i for i, column in enumerate(course.columns) if column.kind in drawn]
    drawings = (_drawn_measure(course, i) for i in shares)
    return tuple(drawing for drawing in drawings if drawing is not None)


def _drawn_measure(course: PeriodCourse, column: int) -> LineChart | None:
    cells = [row[column] for row in course.rows]
    finite = [
        (i, e) for i, e in enumerate(cells, 1) if isinstance(e, Estimate) and math.isfinite(e)
    ]
    if len(finite) < 2:
        return None
    across = Scale(0.5, len(cells) + 0.5)
    name = course.columns[column].name
    bounds = [(value, text) for bounded, value, text in course.bounds if bounded == name]
    ends = [end for _, e in finite for end in (float(e), e.low, e.high)]
    up = around([*ends, *(value for value, _ in bounds)], (-math.inf, math.inf))
    places = [(SMALL.x(across.share(i)), e) for i, e in finite]
    first, last = finite[0][1], finite[-1][1]
    return LineChart(
        description=f"{name}: from {significant(float(first))} to {significant(float(last))} over "
        f"{len(cells)} "
        f"{course.columns[0].name}s" + "".join(f"; held to {text}" for _, text in bounds),
        step=course.columns[0].name,
        name=name,
        lines=(_path([_number(cell) for cell in cells], across, up, SMALL),),
        across=tuple(
            (SMALL.x(across.share(i)), str(course.rows[i - 1][0]))
            for i in _thinned(range(1, len(cells) + 1), _fitting(course))
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


def _fitting(course: PeriodCourse) -> int:
    """How many names of periods fit below an axis, by the longest of them."""
    longest = max(len(str(row[0])) for row in course.rows)
    return max(1, int((SMALL.right - SMALL.left) / (_LETTER * (longest + 1))))


def drawn_steps(curve: StepCurve) -> LineChart | None:
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
    return LineChart(
        description=f"{curve.caption}: {value} from {significant(points[0][1])} at "
        f"{significant(points[0][0])} to "
        f"{significant(last[1])} at {significant(last[0])}",
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
    (x, y), *corners = points
    return f"M{x} {y}" + "".join(f"H{x}V{y}" for x, y in corners)


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


def _thinned(steps: Sequence[int], most: int = 10) -> Sequence[int]:
    """At most about so many of the steps, the first among them."""
    return steps[:: max(1, math.ceil(len(steps) / most))]


def _path(values: Sequence[float], across: Scale, up: Scale, frame: Frame = FRAME) -> str:
    points = [
        f"{frame.x(across.share(step))} {frame.y(up.share(value))}"
        for step, value in enumerate(values, 1)
        if math.isfinite(value)
    ]
    return "M" + "L".join(points)


# -- incidents in time ---------------------------------------------------------------------------


WIDTH, LEFT, RIGHT, TOP = 760, 168, 640, 12
ROW, THICK, FOOT = 22, 11, 34
# More incidents than that share a row with those of the same name.
MOST_ROWS = 40
# No span is drawn thinner than this.
_THIN = 1.6
_LETTERS, _REMARK = 22, 16


@dataclass(frozen=True)
class TimeRow:
    """A row: its name, its height, what was detected and missed, delays, and what is said.

    All but the texts are paths in units of the drawing.
    """

    name: ShownName
    y: str
    detected: str = ""
    missed: str = ""
    delays: str = ""
    remark: str = ""
    kind: str = "incidents"


@dataclass(frozen=True)
class TimelineChart:
    """The picture, and what it says in words."""

    description: str
    rows: tuple[TimeRow, ...]
    ticks: tuple[tuple[str, str], ...]
    frame: Frame


def drawn_bars(block: Bars, limits: Limits) -> TimelineChart | None:
    """The picture of incidents; None where there is no time to draw."""
    if not block.seconds > 0:
        return None
    groups = list(_groups(block.bars))
    shown = groups[: min(MOST_ROWS, limits.rows)]
    below = (("alerts", block.alerts), ("false incidents", block.false_incidents))
    bottom = TOP + ROW * (len(shown) + len(below))
    frame = Frame(WIDTH, bottom + FOOT, LEFT, RIGHT, TOP, bottom)
    scale = Scale(0.0, block.seconds)
    rows = [_row(group, i, scale, frame, limits) for i, group in enumerate(shown)]
    for i, (label, spans) in enumerate(below, len(shown)):
        path = "".join(_box(start, end, i, scale, frame) for start, end in spans)
        name, kind = cut_name(label, limits.letters), label.split(" ", maxsplit=1)[0]
        rows.append(TimeRow(name, _middle(i), detected=path, kind=kind))
    missed = sum(bar.first_alert is None for bar in block.bars)
    incidents = plural(len(block.bars), "incident", "incidents")
    return TimelineChart(
        description=f"{count(len(block.bars))} {incidents} in time, {count(missed)} of them missed"
        f", above alerts and false incidents",
        rows=tuple(rows),
        ticks=tuple(
            (frame.x(scale.share(at)), text) for at, text in time_ticks(block.since, block.seconds)
        ),
        frame=frame,
    )


def _groups(bars: Sequence[Bar]) -> Iterator[tuple[Bar, ...]]:
    """One incident a row, or all of one name where there are many."""
    if len(bars) <= MOST_ROWS:
        yield from ((bar,) for bar in bars)
        return
    by_name: dict[str, list[Bar]] = {}
    for bar in bars:
        by_name.setdefault(bar.name, []).append(bar)
    yield from map(tuple, by_name.values())


def _row(bars: tuple[Bar, ...], place: int, scale: Scale, frame: Frame, limits: Limits) -> TimeRow:
    boxes: dict[bool, list[str]] = {True: [], False: []}
    delays = []
    for bar in bars:
        boxes[bar.first_alert is not None].append(_box(bar.start, bar.end, place, scale, frame))
        if bar.first_alert is not None:
            start, first = (frame.x(scale.share(at)) for at in (bar.start, bar.first_alert))
            delays.append(f"M{start} {_middle(place)}H{first}m0 -{THICK / 2}v{THICK}")
    detected = sum(bar.first_alert is not None for bar in bars)
    remark = bars[0].remark if len(bars) == 1 else f"{count(detected)} of {count(len(bars))}"
    return TimeRow(
        name=cut_name(bars[0].name, min(_LETTERS, limits.letters)),
        y=_middle(place),
        detected="".join(boxes[True]),
        missed="".join(boxes[False]),
        delays="".join(delays),
        remark=cut_name(remark, _REMARK).shown,
    )


def _box(start: float, end: float, place: int, scale: Scale, frame: Frame) -> str:
    left = float(frame.x(scale.share(start)))
    width = max(float(frame.x(scale.share(end))) - left, _THIN)
    top = TOP + ROW * place + (ROW - THICK) / 2
    return f"M{left:.1f} {top:.1f}h{width:.1f}v{THICK}h-{width:.1f}z"


def _middle(place: int) -> str:
    return f"{TOP + ROW * (place + 0.5):.1f}"


# -- mean ranks ----------------------------------------------------------------------------------


RANK_WIDTH, RANK_LEFT, RANK_RIGHT, RANK_TOP = 760, 190, 570, 58
RANK_ROW, BAR, RANK_FOOT = 24, 10, 14
_RANK_LETTERS = 22


@dataclass(frozen=True)
class RankLine:
    """A model: its name, its rank, the path from the axis to the name, and the name's place."""

    name: ShownName
    rank: str
    path: str
    x: str
    y: str
    anchor: str


@dataclass(frozen=True)
class RankChart:
    """The picture, and what it says in words; paths are in units of the drawing."""

    description: str
    lines: tuple[RankLine, ...]
    bars: tuple[str, ...]
    critical: str
    middle: str
    label: str
    ticks: tuple[tuple[str, str], ...]
    frame: Frame


def drawn_ranks(block: MeanRanks, limits: Limits) -> RankChart | None:
    """The picture of mean ranks; None where there are fewer than two, or too many to be read."""
    size = len(block.ranks)
    if not 2 <= size <= limits.rows:
        return None
    left_size = math.ceil(size / 2)
    first = RANK_TOP + 18 + BAR * len(block.groups)
    bottom = first + RANK_ROW * (left_size - 1)
    frame = Frame(RANK_WIDTH, bottom + RANK_FOOT, RANK_LEFT, RANK_RIGHT, RANK_TOP, bottom)
    scale = Scale(1.0, float(max(size, math.ceil(block.ranks[-1][1]))))
    places = [frame.x(scale.share(rank)) for _, rank in block.ranks]
    lines = []
    for i, (model, rank) in enumerate(block.ranks):
        at_left = i < left_size
        y = first + RANK_ROW * (i if at_left else size - 1 - i)
        end = RANK_LEFT - 8 if at_left else RANK_RIGHT + 8
        lines.append(
            RankLine(
                cut_name(model, min(_RANK_LETTERS, limits.letters)),
                fixed(rank, 2),
                f"M{places[i]} {RANK_TOP}V{y}H{end}",
                str(end - 6 if at_left else end + 6),
                str(y),
                "end" if at_left else "start",
            )
        )
    bars = tuple(
        f"M{float(places[a]) - 3:.1f} {RANK_TOP + 10 + BAR * k}H{float(places[b]) + 3:.1f}"
        for k, (a, b) in enumerate(block.groups)
    )
    reach = frame.x(scale.share(1 + block.critical))
    label = f"critical difference {fixed(block.critical, 2)}"
    return RankChart(
        description=f"Mean ranks of {size} models, the best at the left; a bar joins those that"
        f" are not told apart",
        lines=tuple(lines),
        bars=bars,
        critical=f"M{RANK_LEFT} 16v8m0 -4H{reach}m0 -4v8",
        middle=f"{(RANK_LEFT + float(reach)) / 2:.1f}",
        label=label,
        ticks=tuple(
            (frame.x(scale.share(float(at))), str(at)) for at in range(1, int(scale.high) + 1)
        ),
        frame=frame,
    )


# -- how much a page shows -------------------------------------------------------------------------

_FEWEST = 6
_SHORTEST = 24


@dataclass(frozen=True)
class Limits:
    """The most of each kind; what is left out is said, and stands in the other formats.

    ``lines`` holds for findings, notes and inputs, ``letters`` for a name, ``long`` for the letters
    of a sentence.
    """

    rows: int = 100
    dots: int = 50
    classes: int = 30
    blocks: int = 64
    lines: int = 64
    letters: int = 64
    long: int = 1600

    def tighter(self) -> Limits:
        """The same with less of everything, for a page that came out too large."""
        less = {field.name: max(getattr(self, field.name) // 2, _FEWEST) for field in fields(self)}
        return Limits(**{**less, "letters": max(less["letters"], _SHORTEST)})


# What a title tells that the page has cut.
_FULL = 300
_NUMBERS = re.compile(r"(\d[\d.,]*%|\[-?\d[\d., -]*\])")


@dataclass(frozen=True)
class ShownName:
    """A name as it is shown, and as much of it as a title can hold where that is more."""

    shown: str
    full: str
    marked: bool = False


def cut_name(text: str, letters: int) -> ShownName:
    """A name cut to so many letters."""
    shown, full = name(text, letters), name(text, max(letters, _FULL))
    return ShownName(shown, "" if full == shown else full)


def sentence(text: str, limits: Limits) -> str:
    """A sentence that may hold names: visible, and no longer than the limit."""
    return short(visible(short(text, 4 * limits.long)), limits.long, " \u2026 ")


def left_out(number: int, noun: str) -> str:
    """What is said of things that the page has no room for."""
    return f"{count(number)} more {noun} are left out here; JSON holds them." if number > 0 else ""


def sentence_parts(text: str, limits: Limits) -> tuple[tuple[str, str], ...]:
    """A sentence in pieces, each with its class: numbers and intervals stand out.

    >>> sentence_parts("Catches 95.3% [94.8, 95.8].", Limits())
    (('', 'Catches '), ('number', '95.3%'), ('', ' '), ('interval', '[94.8, 95.8]'), ('', '.'))
    """
    parts = []
    for i, part in enumerate(_NUMBERS.split(sentence(text, limits))):
        kind = "" if i % 2 == 0 else "interval" if part.startswith("[") else "number"
        if part:
            parts.append((kind, part))
    return tuple(parts)
