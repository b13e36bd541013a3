"""Days, weeks and months in a report."""

import itertools
import math

import pytest

from assay import Evaluation, Unlabelled, count, evaluate
from assay.evaluation.over_time import INDEPENDENT
from assay.inference import Estimate
from assay.report import document_of, draw
from assay.report.html.charts import SMALL, drawn_periods
from assay.report.sections import Column, Kind, PeriodCourse, Prose, Table
from assay.report.slices import MOST_PERIODS, period_sections

from .cases import evaluation


def by_day(alerts: list[int], harmless: int = 50) -> Evaluation:
    truth, said, day = [], [], []
    for i, flagged in enumerate(alerts):
        truth += ["attack"] * flagged + ["normal"] * harmless
        said += ["attack"] * flagged + ["normal"] * harmless
        day += [f"2024-01-{i + 1:02}"] * (flagged + harmless)
    return evaluate(truth, y_pred=said, times=day, labels=["normal", "attack"])


def decaying(hits: list[int], of: int = 100, **options) -> Evaluation:
    """Attacks of which fewer are found each month, beside as many harmless rows."""
    truth, said, day = [], [], []
    for i, hit in enumerate(hits):
        truth += ["attack"] * of + ["normal"] * of
        said += ["attack"] * hit + ["normal"] * (2 * of - hit)
        day += [f"2024-{i + 1:02}-07"] * 2 * of
    return evaluate(truth, y_pred=said, times=day, period="month", **options)


def blocks(assessment: Evaluation) -> tuple:
    return tuple(
        block for section in period_sections(assessment.snapshot()) for block in section.blocks
    )


def alerts_of(assessment: Evaluation) -> tuple:
    """What is said of the alerts of days, and their table."""
    return blocks(assessment)[-2:]


def test_days_are_told_with_their_spread() -> None:
    prose, table = alerts_of(by_day([10, 12, 8, 11, 9]))
    assert isinstance(prose, Prose)
    assert prose.text == (
        "Over 5 days with rows (UTC) there were 10.0 alerts a day: at least 8, in the median 10, "
        "at most 12. Their standard deviation is 1.6; days that differ by chance alone (Poisson) "
        "would show about 3.2."
    )
    assert isinstance(table, Table)
    assert [row[0] for row in table.rows] == [f"2024-01-{i:02}" for i in range(1, 6)]
    assert [row[3] for row in table.rows] == [10, 12, 8, 11, 9]


def test_bursts_are_said_to_be_bursts() -> None:
    prose, _ = alerts_of(by_day([1, 1, 1, 90]))
    assert prose.text.endswith("Alerts come in bursts: plan for 90 a day, not for the mean.")


def test_one_day_has_no_spread_and_no_trend() -> None:
    course, prose, table = blocks(by_day([4]))
    assert prose.text.startswith("Over 1 day with rows (UTC) there were 4.0 alerts a day")
    assert "standard deviation" not in prose.text
    assert (type(course), type(table)) == (PeriodCourse, Table)


def test_periods_of_the_table_add_up_to_the_whole() -> None:
    assessment = evaluation("binary")
    _, table = alerts_of(assessment)
    assert sum(row[1] for row in table.rows) == assessment.confusion.total
    assert sum(row[2] for row in table.rows) == assessment.confusion.rows[1]
    assert sum(row[3] for row in table.rows) == assessment.confusion.columns[1]


@pytest.mark.parametrize("days", [MOST_PERIODS, MOST_PERIODS + 3])
def test_of_many_days_the_last_are_shown(days: int) -> None:
    names = [f"2024-{1 + i // 28:02}-{1 + i % 28:02}" for i in range(days)]
    truth = ["attack"] * days * 2
    tally = count(truth, y_pred=truth, times=names * 2, labels=["normal", "attack"])
    tables = [block for block in blocks(Evaluation(tally)) if isinstance(block, Table)]
    for table in (tables[0], tables[-1]):
        assert [row[0] for row in table.rows] == names[-MOST_PERIODS:]
        left = [note for note in table.notes if "not shown" in note]
        assert left == (["3 days before them are not shown; --period week or month has fewer."]
                        * (days > MOST_PERIODS))  # fmt: skip


def test_periods_without_rows_are_named() -> None:
    days = ["2024-01-01", "2024-01-04"] * 2
    _, table = alerts_of(evaluate([0, 0, 1, 1], y_pred=[0, 0, 1, 1], times=days))
    assert table.notes == ("2 days between them have no rows: 2024-01-02 and 2024-01-03.",)


def test_days_where_only_alerts_were_labelled_say_nothing_of_the_rest() -> None:
    truth, said = ["attack", "attack", "normal"], ["attack"] * 3
    days = ["2024-01-01", "2024-01-02", "2024-01-02"]
    tally = count(truth, y_pred=said, times=days, labels=["normal", "attack"])
    course, *_, table = blocks(Evaluation(tally, unlabelled=Unlabelled(3, 90)))
    assert [column.name for column in table.columns] == ["day", "alerts", "false alarms"]
    assert table.rows == (("2024-01-01", 1, 0), ("2024-01-02", 2, 1))
    assert [column.name for column in course.columns] == ["day", "precision"]
    assert [row[1] for row in course.rows] == [1, 0.5]


def test_classes_are_followed_by_their_overall_measures() -> None:
    truth = ["a", "b", "c"] * 20
    said = ["a", "b", "c"] * 10 + ["a", "b", "b"] * 10
    days = ["2024-01-01"] * 30 + ["2024-02-01"] * 30
    assessment = evaluate(truth, y_pred=said, times=days, period="month")
    course = next(block for block in blocks(assessment) if isinstance(block, PeriodCourse))
    table = blocks(assessment)[-1]
    assert table.rows == (("2024-01", 30, 30), ("2024-02", 30, 20))
    assert [column.name for column in course.columns][:2] == ["month", "accuracy"]


def test_a_decay_is_told_in_words() -> None:
    texts = [b.text for b in blocks(decaying([95, 88, 80, 71])) if isinstance(b, Prose)]
    assert texts[0].startswith("Worse with each month: detection rate -0.080 [-0.1")
    assert "(p < 0.0001)" in texts[0]
    assert INDEPENDENT in texts
    level = [b.text for b in blocks(decaying([90, 91, 89, 90])) if isinstance(b, Prose)]
    assert not [text for text in level if "with each month" in text]


def test_a_month_without_a_value_is_said_and_left_out_beside() -> None:
    truth = ["attack", "normal"] * 40 + ["normal"] * 40
    days = ["2024-01-01"] * 40 + ["2024-02-01"] * 40 + ["2024-03-01"] * 40
    assessment = evaluate(truth, y_pred=truth, times=days, period="month")
    trends = next(
        b for b in blocks(assessment) if isinstance(b, Table) and b.caption.startswith("Over")
    )
    names = [row[0] for row in trends.rows]
    assert names[:2] == ["detection rate", "detection rate, where it has a value"]
    assert math.isnan(trends.rows[0][1])
    assert trends.rows[1][1] == 1
    assert any("2024-03 has no value" in note for note in trends.notes)


def test_the_page_draws_each_measure_with_its_intervals() -> None:
    assessment = decaying([95, 88, 80, 71])
    course = next(block for block in blocks(assessment) if isinstance(block, PeriodCourse))
    drawings = drawn_periods(course)
    assert [drawn.name for drawn in drawings][:2] == ["detection rate", "false positive rate"]
    first = drawings[0]
    assert len(first.bars) == len(first.dots) == 4
    assert [text for _, text in first.across] == [f"2024-0{i}" for i in range(1, 5)]
    heights = [float(y) for _, y in first.dots]
    assert heights == sorted(heights)
    assert all(SMALL.top <= y <= SMALL.bottom for y in heights)
    page = draw(document_of(assessment), "html")
    assert page.count('class="reach"') == 4 * len(drawings)


def test_one_period_is_no_drawing() -> None:
    course = next(block for block in blocks(decaying([95])) if isinstance(block, PeriodCourse))
    assert drawn_periods(course) == ()


@pytest.mark.parametrize("face", ["terminal", "markdown", "latex", "csv", "json", "html"])
def test_all_faces_tell_of_the_periods(face: str) -> None:
    text = draw(document_of(decaying([95, 88, 80, 71])), face)
    assert "2024-03" in text


def course_with(names: list[str], *bounds: tuple[str, float, str]) -> PeriodCourse:
    columns = (Column("week"), Column("precision", Kind.SHARE))
    rows = tuple((name, Estimate(0.5, 0.4, 0.6)) for name in names)
    return PeriodCourse("Weeks", columns, rows, bounds=bounds)


def test_a_bound_is_drawn_inside_the_frame_and_told() -> None:
    bounds = (("precision", 0.9, "at least 0.9"), ("precision", 0.2, "above 0.2"))
    (drawn,) = drawn_periods(course_with(["1", "2"], *bounds, ("recall", 7.0, "elsewhere")))
    assert drawn.description.endswith("; held to at least 0.9; held to above 0.2")
    for height, _, below in drawn.bounds:
        assert SMALL.top <= float(height) + below <= SMALL.bottom
    heights = {text: float(height) for height, text, _ in drawn.bounds}
    assert heights["at least 0.9"] < float(drawn.dots[0][1]) < heights["above 0.2"]
    assert "elsewhere" not in heights


@pytest.mark.parametrize("letters", [4, 10, 24, 60])
def test_names_of_periods_do_not_overlap(letters: int) -> None:
    (drawn,) = drawn_periods(course_with([f"{i:0{letters}}" for i in range(40)]))
    places = [float(x) for x, _ in drawn.across]
    apart = [b - a for a, b in itertools.pairwise(places)]
    assert min(apart, default=math.inf) >= 6 * letters
