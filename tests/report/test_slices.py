"""Families and slices."""

import math

from assay import Evaluation, Unlabelled, count, evaluate
from assay.inference import Estimate
from assay.report.sections import Dots, Section
from assay.report.slices import MOST, TOO_FEW, of_all, slice_sections

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


def remarks(assessment: Evaluation) -> dict[str, str]:
    return {
        dot.name: dot.remark
        for dot in dots_of(slice_sections(assessment.snapshot())[0], "recall").dots
    }


# -- families --------------------------------------------------------------------------------------


def test_all_or_none_detected_is_told_with_its_exact_bound() -> None:
    said = remarks(families(dos=(11, 11), probe=(0, 7), u2r=(12, 15)))
    assert said["dos"] == "11 of 11 detected: at least 71.5%"
    assert said["probe"] == "0 of 7 detected: at most 41.0%"
    assert said["u2r"] == "12 of 15 detected"


def test_few_rows_are_too_few_to_say() -> None:
    assessment = families(one=(1, 1), two=(1, 3), many=(90, 100))
    said = remarks(assessment)
    assert said["one"] == "1 of 1 detected: at least 2.5%, too few to say"
    assert said["two"] == "1 of 3 detected: too few to say"
    assert TOO_FEW not in said["many"]
    notes = dots_of(slice_sections(assessment.snapshot())[0], "recall").notes
    assert notes == ("Too few to say: the interval is wider than 0.5.",)


def test_families_stand_worst_first() -> None:
    section = slice_sections(families(good=(9, 10), bad=(1, 10), middle=(5, 10)).snapshot())[0]
    assert [dot.name for dot in dots_of(section, "recall").dots] == ["bad", "middle", "good"]


def test_harmless_rows_are_no_family() -> None:
    (dots,) = slice_sections(families(dos=(9, 10)).snapshot())[0].blocks
    assert [dot.name for dot in dots.dots] == ["dos"]


def test_slices_without_positives_stand_apart_by_their_false_positives() -> None:
    where = ["lab"] * 4 + ["dmz"] * 6 + ["web"] * 2
    truth, said = ["no"] * 10 + ["yes"] * 2, ["yes", *["no"] * 9, "yes", "no"]
    section = slice_sections(
        evaluate(truth, y_pred=said, positive="yes", slices={"where": where}).snapshot()
    )[0]
    dots = dots_of(section, "false_positive_rate")
    assert [dot.name for dot in dots.dots] == ["lab", "dmz"]
    assert dots.dots[0].remark.startswith("1 of 4 flagged")
    assert [dot.name for dot in dots_of(section, "recall").dots] == ["web"]


def test_where_only_alerts_were_labelled_slices_are_told_by_the_precision_of_their_alerts() -> None:
    truth, said = ["no", "yes", "yes", "no"], ["yes"] * 4
    tally = count(truth, y_pred=said, positive="yes", slices={"where": ["a", "a", "b", "b"]})
    section = slice_sections(Evaluation(tally, unlabelled=Unlabelled(1, 90)).snapshot())[0]
    (dots,) = section.blocks
    assert dots.measure.name == "precision"
    assert dots.dots[0].remark.startswith("1 of 2 are real")


def test_whole_stands_beside_its_parts_and_parts_add_up_to_it() -> None:
    assessment = evaluation("binary")
    section = next(s for s in slice_sections(assessment.snapshot()) if s.title == "Families")
    dots = dots_of(section, "recall")
    assert dots.whole == assessment["recall"]
    assert sum(dot.estimate.n for dot in dots.dots) == assessment.confusion.rows[1]


def test_title_names_a_column_that_is_not_called_family() -> None:
    assessment = evaluate(
        ["attack", "normal"] * 5, y_pred=["attack", "normal"] * 5, slices={"kind": ["a", "b"] * 5}
    )
    named = Evaluation(assessment.tally, family="kind")
    assert [section.title for section in slice_sections(named.snapshot())] == ["Families (kind)"]
    assert [section.title for section in slice_sections(assessment.snapshot())] == [
        "Slices by kind"
    ]


# -- other slices ----------------------------------------------------------------------------------


def test_slice_has_its_false_positive_rate_beside() -> None:
    section = next(
        s for s in slice_sections(evaluation("binary").snapshot()) if s.title == "Slices by os"
    )
    for dot in dots_of(section, "recall").dots:
        assert "detected" in dot.remark
        assert "; false positive rate " in dot.remark


def test_classes_are_sorted_by_accuracy() -> None:
    (section,) = slice_sections(classes().snapshot())
    dots = dots_of(section, "accuracy").dots
    assert [float(dot.estimate) for dot in dots] == sorted(float(dot.estimate) for dot in dots)
    assert dots[0].remark.endswith(" right")


def test_only_the_worst_are_shown() -> None:
    (section,) = slice_sections(evaluation("many_classes").snapshot())
    dots = dots_of(section, "accuracy")
    assert len(dots.dots) == MOST
    assert dots.notes[0] == "22 more are better than these."
    assert max(float(dot.estimate) for dot in dots.dots) == 1
    assert sum(float(dot.estimate) == 0 for dot in dots.dots) == 9


def test_undefined_slice_says_why_and_comes_last() -> None:
    undefined = Estimate(math.nan, undefined="rows without a label are not counted by slice")
    assert of_all(3, 4, undefined, "detected") == "rows without a label are not counted by slice"
    assert of_all(3, 4, Estimate(0.75), "detected") == "3 of 4 detected"
