"""Families, slices and days."""

import math

import pytest

from assay import Evaluation, Unlabelled, count, evaluate
from assay.inference import Estimate
from assay.report.document import Dots, Prose, Section, Table
from assay.report.slices import MOST, TOO_FEW, of_all, sections

from .cases import classes, evaluation


def families(**detected: tuple[int, int]) -> Evaluation:
    """An evaluation in which so many of so many rows of each family are detected."""
    truth, said, family = ["normal"] * 20, ["normal"] * 19 + ["attack"], ["none"] * 20
    for name, (k, n) in detected.items():
        truth += ["attack"] * n
        said += ["attack"] * k + ["normal"] * (n - k)
        family += [name] * n
    return evaluate(truth, y_pred=said, slices={"family": family})


def dots_of(section: Section, measure: str) -> Dots:
    return next(b for b in section.blocks if isinstance(b, Dots) and b.measure.name == measure)


def remarks(found: Evaluation) -> dict[str, str]:
    return {dot.name: dot.remark for dot in dots_of(sections(found)[0], "recall").dots}


# -- families --------------------------------------------------------------------------------------


def test_all_or_none_detected_is_told_with_its_exact_bound() -> None:
    said = remarks(families(dos=(11, 11), probe=(0, 7), u2r=(12, 15)))
    assert said["dos"] == "11 of 11 detected: at least 71.5%"
    assert said["probe"] == "0 of 7 detected: at most 41.0%"
    assert said["u2r"] == "12 of 15 detected"


def test_few_rows_are_too_few_to_say() -> None:
    found = families(one=(1, 1), two=(1, 3), many=(90, 100))
    said = remarks(found)
    assert said["one"] == "1 of 1 detected: at least 2.5%, too few to say"
    assert said["two"] == "1 of 3 detected: too few to say"
    assert TOO_FEW not in said["many"]
    notes = dots_of(sections(found)[0], "recall").notes
    assert notes == ("Too few to say: the interval is wider than 0.5.",)


def test_families_stand_worst_first() -> None:
    found = sections(families(good=(9, 10), bad=(1, 10), middle=(5, 10)))[0]
    assert [dot.name for dot in dots_of(found, "recall").dots] == ["bad", "middle", "good"]


def test_harmless_rows_are_no_family() -> None:
    (dots,) = sections(families(dos=(9, 10)))[0].blocks
    assert [dot.name for dot in dots.dots] == ["dos"]


def test_slices_without_positives_stand_apart_by_their_false_positives() -> None:
    where = ["lab"] * 4 + ["dmz"] * 6 + ["web"] * 2
    truth, said = ["no"] * 10 + ["yes"] * 2, ["yes", *["no"] * 9, "yes", "no"]
    found = sections(evaluate(truth, y_pred=said, positive="yes", slices={"where": where}))[0]
    dots = dots_of(found, "false_positive_rate")
    assert [dot.name for dot in dots.dots] == ["lab", "dmz"]
    assert dots.dots[0].remark.startswith("1 of 4 flagged")
    assert [dot.name for dot in dots_of(found, "recall").dots] == ["web"]


def test_where_only_alerts_were_labelled_slices_are_told_by_the_precision_of_their_alerts() -> None:
    truth, said = ["no", "yes", "yes", "no"], ["yes"] * 4
    tally = count(truth, y_pred=said, positive="yes", slices={"where": ["a", "a", "b", "b"]})
    found = sections(Evaluation(tally, unlabelled=Unlabelled(1, 90)))[0]
    (dots,) = found.blocks
    assert dots.measure.name == "precision"
    assert dots.dots[0].remark.startswith("1 of 2 are real")


def test_whole_stands_beside_its_parts_and_parts_add_up_to_it() -> None:
    found = evaluation("binary")
    section = next(s for s in sections(found) if s.title == "Families")
    dots = dots_of(section, "recall")
    assert dots.whole == found["recall"]
    assert sum(dot.estimate.n for dot in dots.dots) == found.confusion.rows[1]


def test_title_names_a_column_that_is_not_called_family() -> None:
    found = evaluate(
        ["attack", "normal"] * 5, y_pred=["attack", "normal"] * 5, slices={"kind": ["a", "b"] * 5}
    )
    named = Evaluation(found.tally, family="kind")
    assert [section.title for section in sections(named)] == ["Families (kind)"]
    assert [section.title for section in sections(found)] == ["Slices by kind"]


# -- other slices ----------------------------------------------------------------------------------


def test_slice_has_its_false_positive_rate_beside() -> None:
    section = next(s for s in sections(evaluation("binary")) if s.title == "Slices by os")
    for dot in dots_of(section, "recall").dots:
        assert "detected" in dot.remark
        assert "; false positive rate " in dot.remark


def test_classes_are_sorted_by_accuracy() -> None:
    (section,) = sections(classes())
    dots = dots_of(section, "accuracy").dots
    assert [float(dot.estimate) for dot in dots] == sorted(float(dot.estimate) for dot in dots)
    assert dots[0].remark.endswith(" right")


def test_only_the_worst_are_shown() -> None:
    (section,) = sections(evaluation("many_classes"))
    dots = dots_of(section, "accuracy")
    assert len(dots.dots) == MOST
    assert dots.notes[0] == "22 more are better than these."
    assert max(float(dot.estimate) for dot in dots.dots) == 1
    assert sum(float(dot.estimate) == 0 for dot in dots.dots) == 9


def test_undefined_slice_says_why_and_comes_last() -> None:
    undefined = Estimate(math.nan, undefined="rows without a label are not counted by slice")
    assert of_all(3, 4, undefined, "detected") == "rows without a label are not counted by slice"
    assert of_all(3, 4, Estimate(0.75), "detected") == "3 of 4 detected"


# -- days ------------------------------------------------------------------------------------------


def by_day(alerts: list[int], harmless: int = 50) -> Evaluation:
    truth, said, day = [], [], []
    for i, flagged in enumerate(alerts):
        truth += ["attack"] * flagged + ["normal"] * harmless
        said += ["attack"] * flagged + ["normal"] * harmless
        day += [f"2024-01-{i + 1:02}"] * (flagged + harmless)
    tally = count(truth, y_pred=said, slices={"day": day}, labels=["normal", "attack"])
    return Evaluation(tally, days="day")


def test_days_are_told_with_their_spread() -> None:
    (section,) = sections(by_day([10, 12, 8, 11, 9]))
    prose, table = section.blocks
    assert isinstance(prose, Prose)
    assert prose.text == (
        "Over 5 days with rows (UTC) there were 10.0 alerts a day: at least 8, in the median 10, "
        "at most 12. Their standard deviation is 1.6; days that differ by chance alone (Poisson) "
        "would show about 3.2."
    )
    assert isinstance(table, Table)
    assert [row[0] for row in table.rows] == [f"2024-01-{i:02}" for i in range(1, 6)]
    assert [row[2] for row in table.rows] == [10, 12, 8, 11, 9]


def test_bursts_are_said_to_be_bursts() -> None:
    prose = sections(by_day([1, 1, 1, 90]))[0].blocks[0]
    assert prose.text.endswith("Alerts come in bursts: plan for 90 a day, not for the mean.")


def test_one_day_has_no_spread() -> None:
    prose = sections(by_day([4]))[0].blocks[0]
    assert prose.text.startswith("Over 1 day with rows (UTC) there were 4.0 alerts a day")
    assert "standard deviation" not in prose.text


def test_days_of_the_table_add_up_to_the_whole() -> None:
    found = evaluation("binary")
    table = sections(found)[-1].blocks[1]
    assert sum(row[1] for row in table.rows) == found.confusion.total
    assert sum(row[2] for row in table.rows) == found.confusion.columns[1]


@pytest.mark.parametrize("days", [MOST, MOST + 3])
def test_many_days_show_those_with_most_alerts(days: int) -> None:
    truth = ["attack"] * days * 2
    names = [f"{i:04}" for i in range(days)]
    said = ["normal"] * 3 + ["attack"] * (2 * days - 3)
    tally = count(truth, y_pred=said, slices={"day": names * 2}, labels=["normal", "attack"])
    table = sections(Evaluation(tally, days="day"))[0].blocks[1]
    assert len(table.rows) == MOST
    shown = [row[0] for row in table.rows]
    assert shown == sorted(shown)
    if days > MOST:
        assert table.notes == ("3 days with fewer alerts are not shown.",)
        assert not {"0000", "0001", "0002"} & set(shown)
    else:
        assert table.notes == ()


def test_days_where_only_alerts_were_labelled_say_nothing_of_the_rest() -> None:
    truth, said = ["attack", "attack", "normal"], ["attack"] * 3
    tally = count(truth, y_pred=said, slices={"day": ["a", "b", "b"]}, labels=["normal", "attack"])
    (section,) = sections(Evaluation(tally, days="day", unlabelled=Unlabelled(3, 90)))
    (table,) = section.blocks
    assert [column.name for column in table.columns] == [
        "day",
        "alerts",
        "false alarms",
        "precision",
    ]
    assert table.rows == (("a", 1, 0, 1.0), ("b", 2, 1, 0.5))


def test_days_of_classes_show_accuracy() -> None:
    found = classes()
    (section,) = sections(Evaluation(found.tally, days="site"))
    (table,) = section.blocks
    assert [column.name for column in table.columns] == ["day", "rows", "accuracy"]
    assert sum(row[1] for row in table.rows) == 60
