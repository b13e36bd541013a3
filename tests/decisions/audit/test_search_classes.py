"""What is said of claims of two classes, where all their matrices can be counted."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from assay.decisions.audit.claim import Claim, key_of
from assay.decisions.audit.search import classes as judging
from assay.decisions.audit.search.bonds import Bonds, Verdicts
from assay.decisions.audit.search.classes import (
    TwoClasses,
    _can_be_a_ratio,
    _not_of_one_class,
    judge_binary,
    matrices_of,
)
from assay.decisions.audit.search.identities import Classes
from assay.decisions.audit.search.matrices import KnownCells, known_of, region_of
from assay.decisions.audit.search.numbers import numbers_of
from assay.decisions.audit.verdicts import NumberVerdict, Printed, printed

LABELS = ("normal", "attack")
TWO = Claim("x", positive="attack", negative="normal", labels=LABELS)
CONSISTENT, ROUNDING = NumberVerdict.CONSISTENT, NumberVerdict.ROUNDING


def given(reported: dict[str, str]) -> list[tuple[Any, Printed]]:
    return [(key_of(key), printed(text)) for key, text in reported.items()]


def binary(reported: dict[str, str], **told: Any) -> Verdicts:
    return judge_binary(replace(TWO, **told), given(reported))


def support(normal: int, attack: int) -> dict[str, dict[str, int]]:
    return {"support": {"normal": normal, "attack": attack}}


def said(verdicts: Verdicts) -> dict[str, tuple[str, float | None, str]]:
    return {k: (str(j.verdict), j.recomputed, j.said) for k, j in verdicts.judged.items()}


# -- two classes -----------------------------------------------------------------------------------


def test_the_only_matrix_gives_values_and_is_named() -> None:
    # Of 3 attacks 2 are found, of 4 others 1 is flagged.
    verdicts = binary({"recall": "0.667", "fpr": "0.250"}, **support(4, 3))
    # One digit more than is printed.
    only = ", in the only matrix that gives the numbers"
    assert said(verdicts) == {
        "recall": ("consistent", 2 / 3, f"0.6667{only}"),
        "fpr": ("consistent", 0.25, f"0.25{only}"),
    }
    assert verdicts.notes == (
        (
            "tn = 3, fp = 1, fn = 1, tp = 2 is the only matrix of 3 positives and 4 negatives that "
            "gives the numbers"
        ),
    )


def test_a_number_that_is_cut_off_is_rounding_and_says_so() -> None:
    verdicts = binary({"recall": "0.66", "fpr": "0.25"}, **support(4, 3))
    verdict, value, words = said(verdicts)["recall"]
    assert (verdict, value) == ("rounding", 2 / 3)
    assert words.endswith(
        ", in the only matrix that gives the numbers, cut off rather than rounded"
    )


def test_several_matrices_are_counted_and_the_one_in_the_middle_is_shown() -> None:
    verdicts = binary({"recall": "0.667"}, **support(4, 3))
    assert said(verdicts) == {"recall": ("consistent", None, "5 matrices give it")}
    assert verdicts.notes == (
        (
            "5 matrices of 3 positives and 4 negatives give the numbers, for example tn = 2, "
            "fp = 2, fn = 1, tp = 2"
        ),
    )
    two = binary({"recall": "0.667", "specificity": "0.5"}, **support(5, 3))
    # 2 or 3 of 5 lie within a tenth of one half.
    assert said(two)["recall"][2] == "2 matrices give it with the other numbers"


def test_an_undefined_number_may_be_printed_as_libraries_do() -> None:
    verdicts = binary({"precision": "0.00", "fpr": "0.000", "recall": "0.000"}, **support(4, 3))
    assert said(verdicts)["precision"] == (
        "consistent", None,
        "undefined (libraries print 0 or 1 then), in the only matrix that gives the numbers",
    )  # fmt: skip


def test_a_wrong_number_is_told_what_the_others_give() -> None:
    reported = {"recall": "0.667", "fpr": "0.250", "accuracy": "0.9"}
    verdict, value, words = said(binary({**reported, "precision": "0.667"}, **support(4, 3)))["accuracy"]  # fmt: skip # noqa: E501
    assert (verdict, value) == ("inconsistent", 5 / 7)
    assert words.endswith("; the others give 0.71")
    assert "no matrix of 3 positives and 4 negatives gives" in words


def test_a_wrong_number_is_told_the_range_that_the_others_allow() -> None:
    # Half of three attacks can't be found; two of five false alarms tell nothing of it.
    reported = {"recall.attack": "0.500", "fpr.attack": "0.4"}
    wrong = said(binary(reported, **support(5, 3)))["recall.attack"]
    assert wrong == (
        "inconsistent", None,
        "no matrix of 3 positives and 5 negatives gives it; the others allow 0 to 1",
    )  # fmt: skip


def test_matrices_in_which_a_number_is_undefined_are_left_out_of_its_range() -> None:
    # Without a false alarm a precision is 1, or undefined where nothing is flagged.
    rates = {"fpr.attack": "0.000", "specificity.attack": "1.000", "precision.attack": "0.500"}
    wrong = said(binary(rates, **support(4, 3)))["precision.attack"]
    assert wrong[0] == "inconsistent"
    assert wrong[2].endswith("; the others allow 1 to 1")


def test_a_number_that_is_undefined_in_the_only_matrix_of_the_others_has_no_value() -> None:
    reported = {"recall.attack": "0.000", "fpr.attack": "0.000", "precision.attack": "0.300",
                "accuracy": "0.571", "f1.attack": "0.000"}  # fmt: skip
    wrong = said(binary(reported, **support(4, 3)))["precision.attack"]
    assert wrong[:2] == ("inconsistent", None)
    assert wrong[2].endswith("; it is undefined in the only matrix that the others allow")


def test_an_area_is_bounded_by_the_matrices_that_are_left() -> None:
    verdicts = binary({"recall": "0.667", "fpr": "0.250", "roc_auc": "0.80"}, **support(4, 3))
    # 2/3 times 3/4, and 1 less 1/3 times 1/4.
    assert said(verdicts)["roc_auc"] == (
        "undetermined", None,
        "the operating point allows 0.5000 to 0.9167, and no more can be told",
    )  # fmt: skip


def test_with_the_size_alone_a_share_needs_a_fraction_of_so_many_rows() -> None:
    wrong = said(binary({"recall": "0.905"}, n=printed("10")))["recall"]
    # 19/21 is the first fraction that is printed so.
    assert wrong == ("inconsistent", None, "no share of 10 rows is printed so")
    right = said(binary({"recall": "0.900"}, n=printed("10")))["recall"]
    assert right[0] == "consistent"


def test_without_counts_numbers_break_identities() -> None:
    reported = {"recall.attack": "0.900", "fnr.attack": "0.300"}
    verdicts = binary(reported)
    assert said(verdicts)["recall.attack"] == (
        "conflict", None,
        "it or fnr.attack 0.300 is wrong: they are the same quantity, or 1 minus it",
    )  # fmt: skip
    assert verdicts.notes == ()


def test_numbers_that_are_averages_are_read_so_and_it_is_said() -> None:
    # A macro recall of 5/8 and a macro precision: of 4 and 4 rows 3 and 2 are right.
    verdicts = binary({"recall": "0.625", "accuracy": "0.625", "f1": "0.619"}, **support(4, 4))
    assert {each[0] for each in said(verdicts).values()} == {"consistent"}
    assert said(verdicts)["recall"][2].endswith("; read as the weighted average")
    bare = binary({"precision": "0.900", "recall": "0.800", "f1": "0.700"})
    assert bare.notes == ("the numbers were read as weighted averages over both classes",)


def test_the_numbers_that_hold_are_named_beside_one_that_does_not() -> None:
    verdicts = binary(
        {
            "recall.attack": "0.667",
            "fpr.attack": "0.250",
            "mcc": "0.9",
            "precision.attack": "0.667",
        },
        **support(4, 3),
    )
    assert said(verdicts)["mcc"][0] == "inconsistent"
    assert verdicts.notes == (
        (
            "tn = 3, fp = 1, fn = 1, tp = 2 is the only matrix of 3 positives and 4 negatives that "
            "gives the numbers that can be right"
        ),
    )


def test_a_number_worked_out_from_rounded_ones_is_left_out_of_what_the_matrix_gives() -> None:
    # The printed ones give 0.4422; two of six attacks found with one false alarm give 0.4444.
    reported = {"precision": "0.67", "recall": "0.33", "f1": "0.4422"}
    verdicts = binary(reported, **support(5, 6))
    assert said(verdicts)["f1"][0] == "rounding"
    assert said(verdicts)["f1"][2].startswith("as ")
    assert said(verdicts)["f1"][2].endswith(" gives")
    assert "gives the numbers but for f1" in verdicts.notes[-1]


# -- how two classes are judged --------------------------------------------------------------------


def two(reported: dict[str, str], **told: int) -> TwoClasses:
    known = KnownCells(**told).completed()
    assert known is not None
    some = numbers_of(TWO, given(reported), "attack", LABELS)
    return TwoClasses(known, some, [Bonds.of(TWO, some, Classes(LABELS), "attack")])


def test_questions_that_were_answered_are_not_asked_again() -> None:
    judge = two({"recall": "0.667", "fpr": "0.7"}, positives=3, negatives=4)
    assert judge.possible(frozenset({0}))
    assert judge.possible(frozenset({0, 1}))
    assert judge.possible(frozenset({1}))
    assert judge._questions == 2
    wrong = two({"recall": "0.600", "fpr": "0.25"}, positives=3, negatives=4)
    assert not wrong.possible(frozenset({0}))
    assert not wrong.possible(frozenset({0, 1}))
    assert not wrong.possible(frozenset({0}))
    assert wrong._questions == 1


def test_after_too_many_questions_anything_is_possible(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judging, "_MOST_OF_TWO", 1)
    judge = two({"recall": "0.600", "fpr": "0.26"}, positives=3, negatives=4)
    assert not judge.possible(frozenset({0}))
    assert judge.possible(frozenset({1}))
    assert (judging._MOST_UNSEARCHED, judging._COMPARED) == (40, 256)


def test_after_too_many_questions_that_no_search_decides_anything_is_possible(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(judging, "_MOST_UNSEARCHED", 1)
    judge = two({"recall.attack": "0.9", "fnr.attack": "0.5", "mcc": "0.5", "f1.attack": "0.1"})
    assert not judge.possible(frozenset({0, 1}))
    assert judge.possible(frozenset({0, 3}))
    assert judge._unsearched == 2


def test_limits_on_questions_are_two_hundred_and_sixty() -> None:
    assert (judging._MOST_OF_TWO, judging._MOST_QUESTIONS) == (200, 60)


def test_of_many_matrices_some_are_compared_and_the_middle_is_preferred() -> None:
    judge = two({"recall": "0.5"}, positives=2, negatives=999)
    solution = judge.solution(frozenset({0}))
    assert solution is not None
    assert len(solution.matrices) == 1000
    # Of 256 that are spread over all, the 129th is next to the middle.
    assert solution.best == {"TN": 498, "FP": 501, "FN": 1, "TP": 1}
    assert not solution.only
    assert judge.solution(frozenset()) is None


def test_the_matrix_with_most_numbers_correctly_rounded_is_the_example() -> None:
    judge = two({"fpr": "0.50", "recall": "0.33"}, positives=3, negatives=99)
    solution = judge.solution(frozenset({0, 1}))
    assert solution is not None
    # 49 and 50 of 99 round to 0.49 and 0.51: neither is 0.50, but both are within a unit.
    assert solution.best["FP"] in (49, 50)
    assert solution.best["TP"] == 1


def test_of_matrices_that_cut_numbers_off_one_that_rounds_most_is_the_example() -> None:
    # 2/3 is cut off; of 8 to 11 false alarms among 19 only 9 and 10 round to one half.
    judge = two({"recall": "0.66", "fpr": "0.5"}, positives=3, negatives=19)
    solution = judge.solution(frozenset({0, 1}))
    assert solution is not None
    assert sorted(solution.matrices.cells["FP"].tolist()) == [8, 9, 10, 11]
    assert (solution.best["TP"], solution.best["FP"]) == (2, 10)


def test_an_area_that_the_operating_point_forbids_is_wrong() -> None:
    verdicts = binary({"recall": "0.667", "fpr": "0.250", "roc_auc": "0.30"}, **support(4, 3))
    assert said(verdicts)["roc_auc"][:2] == ("inconsistent", None)


def test_a_detection_rate_is_of_one_class_where_the_recall_beside_it_is_an_average() -> None:
    some = {n.key.text: n for n in numbers_of(TWO, given({
        "recall": "0.5", "detection_rate": "0.5", "far": "0.5", "tpr": "0.5"}), "attack", LABELS)}  # fmt: skip # noqa: E501
    assert _not_of_one_class({"recall"}, some["recall"])
    assert not _not_of_one_class({"recall"}, some["detection_rate"])
    assert _not_of_one_class(set(), some["detection_rate"])
    assert not _not_of_one_class(set(), some["far"])


def ratio(key: str, text: str, **told: int) -> bool:
    known = KnownCells(**told).completed()
    assert known is not None
    region = region_of(known)
    assert region is not None
    (number,) = numbers_of(TWO, given({key: text}), "attack", LABELS)
    return _can_be_a_ratio(number.ways[0], region, known.n)


@pytest.mark.parametrize(
    ("key", "text", "told", "can"),
    [
        ("recall", "0.667", {"positives": 3, "negatives": 4}, True),
        ("recall", "0.600", {"positives": 3, "negatives": 4}, False),
        ("recall", "0.66", {"positives": 3, "negatives": 4}, True),
        ("recall", "0.000", {"positives": 0, "negatives": 4}, True),
        ("recall", "0.500", {"positives": 0, "negatives": 4}, False),
        ("precision", "0.905", {"n": 21}, True),
        ("precision", "0.905", {"n": 20}, False),
        ("precision", "0.905", {"tp": 1, "fp": 2, "fn": 3}, False),
        ("precision", "0.905", {"positives": 4, "fp": 2}, True),
        ("mcc", "0.905", {"n": 2}, True),
        ("roc_auc", "0.905", {"n": 2}, True),
    ],
)
def test_a_share_of_rows_needs_a_count_that_is_printed_so(
    key: str, text: str, told: dict[str, int], *, can: bool
) -> None:
    assert ratio(key, text, **told) is can


def test_matrices_of_a_claim_are_those_that_give_its_numbers() -> None:
    reported = {"recall": printed("0.667"), "fpr": printed("0.250"), "recall.sd": printed("0.1")}
    claim = replace(TWO, reported=reported, **support(4, 3))
    assert matrices_of(claim) == [{"TN": 3, "FP": 1, "FN": 1, "TP": 2}]
    assert len(matrices_of(replace(claim, reported={"recall": printed("0.667")}))) == 5
    assert matrices_of(replace(claim, reported={"recall": printed("0.600")})) == []
    assert matrices_of(replace(claim, reported={})) == []
    assert matrices_of(replace(claim, support={})) == []
    assert matrices_of(replace(claim, support={}, n=printed("7"))) == []
    for negatives, few in ((255, 256), (256, 0)):
        many = replace(TWO, reported={"recall": printed("0.5")}, **support(negatives, 2))
        assert len(matrices_of(many)) == few


def test_shares_of_classes_follow_from_their_rows() -> None:
    claim = replace(TWO, **support(30, 10))
    known, _ = known_of(claim)
    some = numbers_of(claim, given({"recall": "0.9"}), "attack", LABELS)
    webs = judging._bonds(claim, known, some, may_be_average=False)
    assert webs[0].shares == {"normal": 0.75, "attack": 0.25}
    assert [web.words for web in webs] == [
        "", *["weighted averages over both classes"] * 2, *["macro averages over both classes"] * 2,
        "averages of one kind or another",
    ]  # fmt: skip
    bare = judging._bonds(TWO, KnownCells(), some, may_be_average=True)
    assert (bare[0].shares, bare[-1].words) == ({}, "averages over classes")
    empty = judging._bonds(TWO, KnownCells(0, 0, 0, 0, 0, 0, 0), some, may_be_average=False)
    assert empty[0].shares == {}
