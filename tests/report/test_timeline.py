"""Incidents in time and curves in steps, drawn on the page and written as tables elsewhere."""

import re
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.report.document import draw
from assay.report.html.charts import FRAME, LEFT, MOST_ROWS, RIGHT, Limits, drawn_bars, drawn_steps
from assay.report.sections import Bar, Bars, Column, Kind, Report, Section, StepCurve

MONDAY = 1_793_577_600_000_000  # 2026-11-02, midnight in UTC
DAY = 86_400.0
COLUMNS = (Column("attack"), Column("alerts", Kind.COUNT))


def bars(*incidents: Bar, seconds: float = 2 * DAY) -> Bars:
    return Bars(
        "In UTC",
        COLUMNS,
        tuple((bar.name, 1) for bar in incidents),
        bars=incidents,
        since=MONDAY,
        seconds=seconds,
        alerts=((0.0, 60.0), (DAY, DAY)),
        false_incidents=((DAY / 2, DAY / 2),),
    )


SCAN = Bar("scan", 0.0, DAY / 2, DAY / 4, "after 6h")
MISSED = Bar("<b>dos</b>", DAY, 2 * DAY, None, "missed")


def boxes(path: str) -> list[tuple[float, float]]:
    """The left end and the width of each box of a path."""
    return [(float(x), float(w)) for x, w in re.findall(r"M([\d.]+) [\d.]+h([\d.]+)v", path)]


def test_a_bar_is_as_long_as_its_incident() -> None:
    drawn = drawn_bars(bars(SCAN, MISSED), Limits())
    assert drawn is not None
    scan, dos, alerts, false = drawn.rows
    width = RIGHT - LEFT
    assert boxes(scan.detected) == [(LEFT, width / 4)]
    assert (scan.missed, dos.detected, dos.delays) == ("", "", "")
    assert boxes(dos.missed) == [(LEFT + width / 2, width / 2)]
    assert re.match(rf"M{LEFT}\.0 [\d.]+H{LEFT + width / 8:.1f}m", scan.delays)
    assert (alerts.kind, false.kind) == ("alerts", "false")
    assert len(boxes(alerts.detected)) == 2
    assert [text for _, text in drawn.ticks][::4] == ["02 Nov", "03 Nov", "04 Nov"]
    text = "2 incidents in time, 1 of them missed, above alerts and false incidents"
    assert drawn.description == text


def test_what_is_short_is_still_seen() -> None:
    drawn = drawn_bars(bars(Bar("blink", 10.0, 10.0, 10.0)), Limits())
    assert drawn is not None
    ((_, width),) = boxes(drawn.rows[0].detected)
    assert width > 1


def test_many_incidents_share_the_row_of_their_attack() -> None:
    many = [replace(SCAN, name=f"attack {i % 3}") for i in range(MOST_ROWS)]
    many += [replace(MISSED, name="attack 0")]
    drawn = drawn_bars(bars(*many), Limits())
    assert drawn is not None
    assert [row.name.shown for row in drawn.rows[:3]] == ["attack 0", "attack 1", "attack 2"]
    assert drawn.rows[0].remark == "14 of 15"


def test_without_time_there_is_a_table_alone() -> None:
    assert drawn_bars(bars(SCAN, seconds=0.0), Limits()) is None


def test_the_page_draws_incidents_and_the_other_faces_list_them() -> None:
    section = Section("Incidents", (bars(SCAN, MISSED),))
    document = Report(title="Week", headline=(), sections=(section,))
    page = draw(document, "html")
    (picture,) = re.findall(r'<figure class="timeline">.*?</figure>', page, re.S)
    assert "&lt;b&gt;dos" in picture
    assert "<b>dos" not in page
    assert picture.count('class="missed"') == 1
    ET.fromstring(re.search(r"<svg.*?</svg>", picture, re.S)[0])  # type: ignore[index]
    assert "| scan | 1 |" in draw(document, "markdown")
    assert "scan" in draw(document, "terminal")


# -- curves in steps -------------------------------------------------------------------------------


def curve(x: tuple[float, ...], y: tuple[float, ...], **more: object) -> StepCurve:
    rows = tuple((str(a), b) for a, b in zip(x, y, strict=True))
    axes = ("minutes", "still undetected")
    columns = (Column("after"), Column("undetected", Kind.SHARE))
    return StepCurve("Time to detect", columns, rows, axes=axes, x=x, y=y, **more)  # type: ignore[arg-type]


def corners(path: str) -> list[tuple[float, float]]:
    """Where a line of moves, H and V turns."""
    at = [0.0, 0.0]
    pairs = []
    for command, numbers in re.findall(r"([MLHV])([\d. ]+)", path):
        values = [float(number) for number in numbers.split()]
        at = (
            values
            if command in "ML"
            else [values[0], at[1]]
            if command == "H"
            else [at[0], *values]
        )
        pairs.append((at[0], at[1]))
    return pairs


def test_a_step_keeps_its_height_until_the_next() -> None:
    drawn = drawn_steps(curve((0.0, 5.0, 10.0), (1.0, 0.5, 0.0)))
    assert drawn is not None
    half, height = (FRAME.left + FRAME.right) / 2, FRAME.bottom - FRAME.top
    middle = FRAME.top + height / 2
    assert corners(drawn.lines[0]) == [
        (FRAME.left, FRAME.top),
        (half, FRAME.top),
        (half, middle),
        (FRAME.right, middle),
        (FRAME.right, FRAME.bottom),
    ]
    assert drawn.spread == ""


def test_the_band_goes_there_along_the_top_and_back_along_the_bottom() -> None:
    drawn = drawn_steps(
        curve((0.0, 5.0, 10.0), (1.0, 0.5, 0.0), low=(0.5, 0.25, 0.0), high=(1.0, 0.75, 0.5))
    )
    assert drawn is not None
    turns = corners(drawn.spread)
    assert turns[0] == (FRAME.left, FRAME.top)
    assert turns[-1] == (FRAME.left, FRAME.top + (FRAME.bottom - FRAME.top) / 2)
    # The lower end of the first step holds until the second begins.
    assert turns[-2][0] == (FRAME.left + FRAME.right) / 2
    assert drawn.spread.endswith("Z")


def test_a_wide_range_is_logarithmic_and_begins_at_0() -> None:
    drawn = drawn_steps(curve((0.0, 9.0, 999.0), (0.0, 1.0, 2.0)))
    assert drawn is not None
    assert [text for _, text in drawn.across] == ["0", "1", "10", "100"]
    assert corners(drawn.lines[0])[1][0] == pytest.approx(
        FRAME.left + (FRAME.right - FRAME.left) / 3, abs=0.1
    )


def test_marks_stand_on_the_side_that_has_room() -> None:
    drawn = drawn_steps(curve((0.0, 10.0), (0.0, 4.0), marks=((0.0, 0.0, "a"), (10.0, 4.0, "b"))))
    assert drawn is not None
    assert [(text, side) for _, _, text, side in drawn.marks] == [("a", "start"), ("b", "end")]


@given(st.lists(st.tuples(st.floats(0, 1e5), st.floats(0, 1)), min_size=2, max_size=30))
def test_nothing_leaves_the_frame(points: list[tuple[float, float]]) -> None:
    points.sort()
    x, y = (tuple(float(point[i]) for point in points) for i in (0, 1))
    drawn = drawn_steps(curve(x, y))
    if drawn is None:
        assert len(set(points)) < 2
        return
    for across, up in corners(drawn.lines[0]):
        assert FRAME.left <= across <= FRAME.right
        assert FRAME.top <= up <= FRAME.bottom


def test_the_page_draws_a_curve_and_its_band() -> None:
    block = curve((0.0, 5.0), (1.0, 0.5), low=(0.4, 0.2), high=(1.0, 0.9))
    report = Report(title="Week", headline=(), sections=(Section("Time", (block,), detail=True),))
    page = draw(report, "html")
    assert page.count('class="spread" d="M') == 1
    assert "still undetected" in page
    assert "| 5.0 | 0.500 |" in draw(report, "markdown")
