"""A course over steps, drawn as lines on the page and written as a table elsewhere."""

import math
import re

from assay.report.document import draw
from assay.report.html.charts import FRAME, drawn_of
from assay.report.sections import Column, Course, Kind, Report, Section

EPOCH, LOSS = Column("epoch"), Column("loss", Kind.SHARE)


def course(*losses: float) -> Course:
    rows = tuple((str(i), loss) for i, loss in enumerate(losses, 1))
    return Course("Loss of each epoch", (EPOCH, LOSS), rows)


def points(path: str) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in re.findall(r"([\d.]+) ([\d.]+)", path)]


def test_a_line_goes_from_edge_to_edge_and_falls_as_its_numbers_do() -> None:
    drawn = drawn_of(course(0.8, 0.4, 0.2))
    assert drawn is not None
    (line,) = map(points, drawn.lines)
    assert [x for x, _ in line] == [FRAME.left, (FRAME.left + FRAME.right) / 2, FRAME.right]
    heights = [FRAME.bottom - y for _, y in line]
    assert heights[0] == FRAME.bottom - FRAME.top
    assert [h / heights[0] for h in heights] == [1, 0.5, 0.25]
    assert drawn.up[0] == (f"{FRAME.bottom:.1f}", "0.0")
    assert [text for _, text in drawn.across] == ["1", "2", "3"]


def test_a_step_without_a_number_is_passed_over() -> None:
    drawn = drawn_of(course(0.8, math.nan, 0.2))
    assert drawn is not None
    assert len(points(drawn.lines[0])) == 2


def test_one_step_is_no_line() -> None:
    assert drawn_of(course(0.8)) is None
    assert drawn_of(course(math.nan, math.nan)) is None


def test_many_steps_have_few_ticks() -> None:
    drawn = drawn_of(course(*(1 / i for i in range(1, 501))))
    assert drawn is not None
    assert len(drawn.across) <= 10


def test_the_page_draws_it_and_the_other_faces_write_it() -> None:
    section = Section("Loss by epoch", (course(0.8, 0.4, 0.2),), detail=True)
    document = Report(title="Training", headline=(), sections=(section,))
    page = draw(document, "html")
    assert page.count('<figure class="course">') == 1
    assert 'class="curve" d="M' in page
    assert "0.400" in page
    assert "| 2 | 0.400 |" in draw(document, "markdown")
