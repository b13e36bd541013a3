"""What is said of claims of several classes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from assay.decisions.audit.claim import Claim, key_of
from assay.decisions.audit.search import classes as judging
from assay.decisions.audit.search.bonds import Fit, Verdicts
from assay.decisions.audit.search.classes import (
    SeveralClasses,
    judge_classes,
)
from assay.decisions.audit.search.numbers import Number, numbers_of
from assay.decisions.audit.verdicts import NumberVerdict, Printed, printed

LABELS = ("normal", "attack")
TWO = Claim("x", positive="attack", negative="normal", labels=LABELS)
CONSISTENT, ROUNDING = NumberVerdict.CONSISTENT, NumberVerdict.ROUNDING


def given(reported: dict[str, str]) -> list[tuple[Any, Printed]]:
    return [(key_of(key), printed(text)) for key, text in reported.items()]


def said(verdicts: Verdicts) -> dict[str, tuple[str, float | None, str]]:
    return {k: (str(j.verdict), j.recomputed, j.said) for k, j in verdicts.judged.items()}


ABC = ("a", "b", "c")


def several(reported: dict[str, str], **told: Any) -> Verdicts:
    return judge_classes(Claim("x", **{"labels": ABC, **told}), given(reported))


def rows(*sizes: int) -> dict[str, Any]:
    return {"support": dict(zip(ABC, sizes, strict=True))}


def test_few_matrices_of_several_classes_are_counted() -> None:
    # One of two rows of a; b has one row that is right, c has one that is wrong: 1 or 2 places.
    verdicts = several(
        {"recall.a": "0.50", "recall.b": "1.00", "recall.c": "0.00"}, **rows(2, 1, 1)
    )
    # The other row of a is at b or c, that of c at a or b.
    assert said(verdicts)["recall.a"] == ("consistent", None, "4 matrices give it with the other numbers")  # fmt: skip # noqa: E501
    only = several({"accuracy": "1.00"}, **rows(2, 1, 1))
    assert said(only)["accuracy"] == ("consistent", 1.0, "a matrix gives it")
    cut = several({"recall.a": "0.66"}, **rows(3, 1, 0))
    assert said(cut)["recall.a"][0] == "rounding"
    assert said(cut)["recall.a"][2].endswith("matrices give it, cut off rather than rounded")


def test_an_average_says_how_it_was_read() -> None:
    verdicts = several({"accuracy": "1.00", "recall": "1.00"}, **rows(2, 1, 1))
    assert said(verdicts)["recall"] == (
        "consistent", 1.0, "a matrix gives it with the other numbers; read as the weighted average",
    )  # fmt: skip


def test_a_wrong_number_of_few_matrices_names_the_supports() -> None:
    wrong = said(several({"recall.a": "0.70"}, **rows(2, 1, 1)))["recall.a"]
    assert wrong[2] == "no matrix with supports 2, 1, 1 gives it"
    sized = said(several({"kappa": "0.90"}, n=printed("4")))["kappa"]
    assert sized[0] == "inconsistent"
    assert sized[2] == "no share of 4 rows is printed so"
    both = several({"accuracy": "0.00", "kappa": "0.50"}, n=printed("4"))
    assert said(both)["kappa"][2].endswith("is wrong: no matrix of 4 rows gives both")


def test_many_supports_are_cut_short() -> None:
    labels = tuple(f"l{i}" for i in range(9))
    for size, rest in ((8, ""), (9, " ...")):
        some = labels[:size]
        claim = Claim("x", labels=some, support=dict.fromkeys(some, 30))
        verdicts = judge_classes(claim, given({"recall.l0": "0.515"}))
        words = f"no matrix with supports {', '.join(['30'] * 8)}{rest} gives it"
        assert verdicts.judged["recall.l0"].said.startswith(words)


BIG = rows(500, 400, 300)


def judge(reported: dict[str, str], **told: Any) -> SeveralClasses:
    claim = Claim("x", **{"labels": ABC, **told})
    return SeveralClasses(claim, numbers_of(claim, given(reported), None, ABC), ABC)


def test_a_share_of_told_rows_says_the_count_in_the_middle() -> None:
    verdicts = several({"recall.a": "0.50", "accuracy": "0.7000"}, **BIG)
    # From 248 to 252 of 500 are printed so: a half unit is 2.5.
    assert said(verdicts)["recall.a"] == ("consistent", None, "250 of 500 rows is printed so")
    assert said(verdicts)["accuracy"] == ("consistent", 0.7, "840 of 1,200 rows is printed so")
    cut = several({"recall.c": "0.6666"}, **BIG)
    assert said(cut)["recall.c"] == ("rounding", 200 / 300, "200 of 300 rows is printed so, cut off rather than rounded")  # fmt: skip # noqa: E501
    of_others = several({"fpr.a": "0.100"}, **BIG)
    assert said(of_others)["fpr.a"] == ("consistent", 0.1, "70 of 700 rows is printed so")


@pytest.mark.parametrize(
    ("key", "told", "rows_"),
    [
        ("accuracy", BIG, 1200), ("recall.b", BIG, 400), ("fpr.b", BIG, 800),
        ("precision.b", BIG, None), ("kappa", BIG, None), ("recall.b", {}, None),
        ("accuracy", {"n": printed("77")}, 77), ("recall.b", {"n": printed("77")}, None),
        ("fpr.b", {**BIG, "exhaustive": False}, None),
        ("recall.b", {**BIG, "exhaustive": False}, 400),
    ],
)  # fmt: skip
def test_how_many_rows_a_share_is_of(key: str, told: dict[str, Any], rows_: int | None) -> None:
    one = judge({key: "0.5"}, **told)
    assert one._trials(one._numbers[0].ways[0]) == rows_


def test_a_share_that_no_count_gives_is_impossible() -> None:
    one = judge({"recall.a": "0.5013", "recall.b": "0.50", "recall.c": "0.0"}, **rows(500, 400, 0))
    assert not one.possible(frozenset({0}))
    assert one.possible(frozenset({1, 2}))
    assert one._questions == 1
    empty = judge({"recall.c": "0.5"}, **rows(500, 400, 0))
    assert not empty.possible(frozenset({0}))


def test_numbers_of_a_class_are_held_against_its_matrix_against_the_rest() -> None:
    reported = {"precision.a": "0.9000", "recall.a": "0.9000", "f1.a": "0.9100", "recall.b": "0.5"}
    one = judge(reported, **BIG)
    assert list(one._pairs) == ["a"]
    pair, places = one._pairs["a"]
    assert places == {0: 0, 1: 1, 2: 2}
    assert (pair.known.positives, pair.known.negatives) == (500, 700)
    assert one.possible(frozenset({0, 1, 3}))
    assert not one.possible(frozenset({0, 1, 2}))
    open_ = judge(reported, **{**BIG, "exhaustive": False})
    assert open_._pairs["a"][0].known.negatives is None
    assert judge(reported)._pairs == {}


def test_two_numbers_of_a_class_that_no_counts_give_together_are_impossible() -> None:
    # 450 hits with 49 or 50 false alarms give 0.9018 and 0.9.
    one = judge({"precision.a": "0.9001", "recall.a": "0.9000", "recall.b": "0.5"}, **BIG)
    assert one._bonds.possible(frozenset({0, 1}))
    assert one.possible(frozenset({0}))
    assert not one.possible(frozenset({0, 1}))
    assert list(one._pairs) == ["a"]


def test_a_bare_rate_may_be_an_average_that_is_no_share() -> None:
    # No count of 1,200 is printed so, but a mean of recalls may be.
    assert judge({"recall": "0.5013"}, **BIG).possible(frozenset({0}))
    shared = several({"recall": "0.5000"}, **BIG)
    assert said(shared)["recall"] == ("consistent", 0.5, "600 of 1,200 rows is printed so")


def test_supports_that_are_not_all_told_or_empty_give_no_shares() -> None:
    assert judge({"recall.a": "0.5"}, support={"a": 5})._bonds.shares == {}
    assert judge({"recall.a": "0.5"}, **rows(0, 0, 0))._bonds.shares == {}
    assert judge({"recall.a": "0.5"}, **rows(2, 1, 1))._bonds.shares == {"a": 0.5, "b": 0.25, "c": 0.25}  # fmt: skip # noqa: E501


def test_tables_are_counted_out_where_labels_are_told_and_exclude_each_other() -> None:
    assert judge({"recall.a": "0.5"}, **rows(2, 1, 1))._tables is not None
    assert judge({"recall.a": "0.5"}, **rows(2, 1, 1), exhaustive=False)._tables is None
    nameless = Claim("x", n=printed("4"))
    some = numbers_of(nameless, given({"recall.a": "0.5"}), None, ("a",))
    assert SeveralClasses(nameless, some, ("a",))._tables is None
    assert judging._labels_in(given({"recall.a": "0.5", "f1": "0.5", "f1.b": "0.5"})) == ("a", "b")


def test_after_sixty_questions_nothing_more_is_told_apart() -> None:
    one = judge({"precision.a": "0.9", "recall.a": "0.9", "f1.a": "0.1"}, **BIG)
    assert not one.possible(frozenset({0, 1, 2}))
    one._questions = 59
    assert not one.possible(frozenset({0, 1, 2}))
    assert one.possible(frozenset({0, 1, 2}))


def test_what_is_wrong_is_told_by_identities_counts_or_matrices() -> None:
    reported = {"recall.a": "0.900", "fnr.a": "0.500", "recall.b": "0.5013", "kappa": "0.5"}
    one = judge(reported, **BIG)
    assert one.why(frozenset({0, 1})) == "they are the same quantity, or 1 minus it"
    assert one.why(frozenset({2})) == "no matrix with supports 500, 400, 300 gives it"
    sized = judge({"accuracy": "0.5013", "kappa": "0.5"}, n=printed("700"))
    assert sized.why(frozenset({0})) == "no share of 700 rows is printed so"
    assert sized.why(frozenset({0, 1})) == "no matrix of any size gives both"
    few = judge({"accuracy": "0.5013", "kappa": "0.5"}, n=printed("5"))
    assert few.why(frozenset({0, 1})) == "no matrix of 5 rows gives both"
    bare = judge({"kappa": "0.5"})
    assert bare.why(frozenset({0})) == "no counts of any size give it"
    assert one.instead(1, frozenset({0})) == (None, "the others allow 0.099 to 0.101")


def test_labels_that_only_keys_name_may_not_be_all() -> None:
    claim = Claim("x")
    verdicts = judge_classes(claim, given({"recall.a": "0.9", "recall.b": "0.7", "recall.macro": "0.1"}))  # fmt: skip # noqa: E501
    assert {str(each.verdict) for each in verdicts.judged.values()} == {"undetermined"}
    all_told = several({"recall.a": "0.9", "recall.b": "0.7", "recall.macro": "0.1"}, labels=("a", "b"))  # fmt: skip # noqa: E501
    assert [str(each.verdict) for each in all_told.judged.values()] == [
        "undetermined", "undetermined", "inconsistent",
    ]  # fmt: skip


def test_a_number_given_by_rounded_ones_alone_fits_by_them() -> None:
    one = judge({"recall.a": "0.50"}, **rows(2, 1, 1))
    tables = one._tables
    assert tables is not None
    (number,) = one._numbers
    unlike = Number(number.key, printed("0.70"), tuple(
        replace(way, printed=printed("0.70")) for way in number.ways))  # fmt: skip
    one._numbers = (unlike,)
    assert one._fit_by_tables(tables, 0, frozenset()) == Fit(
        ROUNDING, None, "other numbers give it"
    )
