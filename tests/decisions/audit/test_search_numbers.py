"""Which matrices give a printed number, at the very ends of what its digits allow."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from assay.decisions.audit.claim import Claim, Meaning, key_of, meanings
from assay.decisions.audit.matrix import rank
from assay.decisions.audit.search import numbers as searched
from assay.decisions.audit.search.numbers import (
    Blame,
    ByFormula,
    ByRounded,
    ByScores,
    Number,
    Numbers,
    _meeting,
    _meets,
    blame,
    fills_undefined,
    in_four_cells,
    numbers_of,
    one_of,
    smallest,
)
from assay.decisions.audit.verdicts import DigitWindow, printed
from assay.formula import FN, FP, HIT, ROW, TN, TP, Bounds, Cell, K, total
from assay.inference import Quantity
from assay.measures import find

LABELS = ("normal", "attack")
CLAIM = Claim("x", positive="attack", negative="normal", labels=LABELS)


# -- who is to blame -------------------------------------------------------------------------------


def test_of_several_contradictions_the_one_of_the_first_numbers_is_shown() -> None:
    def possible(chosen: Numbers) -> bool:
        return not ({0, 1} <= chosen or {2, 3} <= chosen)

    assert smallest(frozenset(range(4)), possible) == {0, 1}


def test_the_fewest_numbers_that_meet_all_contradictions_are_listed() -> None:
    one, other, third = frozenset({0, 1}), frozenset({1, 2}), frozenset({3, 4})
    assert list(_meeting([one, other])) == [{1}]
    assert list(_meeting([one, third])) == [{0, 3}, {0, 4}, {1, 3}, {1, 4}]
    assert list(_meeting([frozenset({5})])) == [{5}]
    assert list(_meeting([one, frozenset({2}), third])) == [
        {0, 2, 3}, {0, 2, 4}, {1, 2, 3}, {1, 2, 4},
    ]  # fmt: skip


@pytest.mark.parametrize(("size", "told"), [(200, True), (201, False)])
def test_two_hundred_ways_to_mend_a_claim_are_told_apart(size: int, told: bool) -> None:
    everything = frozenset(range(size))
    corrections, contradictions = searched._corrections(everything, lambda some: some != everything)
    assert len(corrections) == (size if told else 0)
    assert contradictions == (everything,)


def test_where_ways_are_too_many_the_contradictions_that_were_seen_are_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(searched, "_MOST_CORRECTIONS", 0)
    everything = frozenset(range(7))
    alone = blame(everything, lambda some: 5 not in some)
    assert alone == Blame({5: frozenset({5})}, (), everything - {5})
    pair = blame(everything, lambda some: not {0, 1} <= some and 5 not in some)
    # That 5 contradicts itself was not seen, so nothing is known to hold together.
    assert pair == Blame({}, (frozenset({0, 1}),), frozenset())


def test_what_shows_a_number_wrong_is_what_the_first_correction_leaves() -> None:
    def possible(chosen: Numbers) -> bool:
        return not any(each <= chosen for each in ({0, 3}, {1, 3}, {4, 5}))

    blamed = blame(frozenset(range(6)), possible)
    assert blamed.wrong == {3: frozenset({0, 3})}
    assert blamed.conflicts == (frozenset({4, 5}),)
    assert blamed.kept == {0, 1, 2}
    assert blamed.disputed == {4, 5}


# -- by a formula ----------------------------------------------------------------------------------


def by_formula(key: str, text: str, positive: str | None = "attack", **told: Any) -> ByFormula:
    """The first meaning of a key."""
    meaning = meanings(key_of(key), positive)[0]
    quantity = meaning.quantity(told.get("labels", LABELS))
    assert quantity is not None
    return ByFormula(meaning, quantity, printed(text))


def given_by(way: ByFormula, cells: Mapping[str, Any], *, rounded: bool = False) -> list[bool]:
    arrays = {name: np.array(column) for name, column in cells.items()}
    answer = way.holds(lambda _: arrays, rounded=rounded)
    return np.broadcast_to(answer, len(next(iter(arrays.values())))).tolist()


def test_values_at_the_ends_of_the_digits_are_told_exactly() -> None:
    recall = by_formula("recall", "0.4")
    hits = {"TP": [29, 30, 31, 40, 49, 50, 51], "FN": [71, 70, 69, 60, 51, 50, 49]}
    # Less than one unit off: 0.3 and 0.5 themselves are not.
    assert given_by(recall, hits) == [False, False, True, True, True, False, False]
    halves = {"TP": [34, 35, 36, 44, 45, 46], "FN": [66, 65, 64, 56, 55, 54]}
    # Rounded: 0.35 and 0.45 themselves are printed so.
    assert given_by(recall, halves, rounded=True) == [False, True, True, True, True, False]


def test_values_that_floats_can_not_tell_from_the_end_are_told_exactly() -> None:
    # A tenth of a quadrillionth beside one half.
    scale = 10**15
    beside = {"TP": [scale - 1, scale, scale + 1], "FP": [scale + 1, scale, scale - 1]}
    assert given_by(by_formula("precision", "0.4"), beside) == [True, False, False]
    assert given_by(by_formula("precision", "0.6"), beside) == [False, False, True]


def test_large_values_are_told_exactly_at_the_end_too() -> None:
    # The ratio is the whole number fp_rows, which floats miss by some units of their last bit.
    ends = [10**9 + 7 * i for i in range(40)]
    cells = {"TP": [3] * 40, "FN": [4] * 40, "FP": [3] * 40, "TN": [7 * end - 3 for end in ends]}
    for i, end in enumerate(ends):
        one = {name: column[i : i + 1] for name, column in cells.items()}
        assert given_by(by_formula("positive_likelihood_ratio", str(end + 1)), one) == [False]
        assert given_by(by_formula("positive_likelihood_ratio", str(end - 1)), one) == [False]
        assert given_by(by_formula("positive_likelihood_ratio", str(end)), one) == [True]


@pytest.mark.parametrize(("size", "exact"), [(2000, True), (2001, False)])
def test_so_many_values_beside_an_end_are_looked_at_exactly(size: int, exact: bool) -> None:
    steps = 2 * np.arange(size)
    cells = {"TP": 10**15 + steps, "FP": 10**15 - steps}
    assert set(given_by(by_formula("precision", "0.4"), cells)) == {not exact}


def test_equal_values_of_unlike_counts_are_told_alike() -> None:
    cells = {"TP": [1, 2, 3, 5], "FP": [1, 2, 3, 4]}
    assert given_by(by_formula("precision", "0.4"), cells) == [False, False, False, False]
    assert given_by(by_formula("precision", "0.5"), cells) == [True, True, True, True]


@pytest.mark.parametrize(
    ("text", "held"), [("0.00", True), ("1.00", True), ("0.01", False), ("0.50", False)]
)
def test_an_undefined_ratio_may_be_printed_as_0_or_1(text: str, held: bool) -> None:
    assert given_by(by_formula("precision", text), {"TP": [0], "FP": [0]}) == [held]


# Precision is 1/2, undefined and 1; the classes have 2, 3 and 5 rows.
NEVER_DECIDED = {"HIT": [[2, 0, 4]], "ROW": [[2, 3, 5]], "COL": [[4, 0, 4]], "N": [10], "K": [3]}
# The middle class has no rows and was never decided: F1 is 4/7, undefined and 6/9.
ABSENT = {"HIT": [[2, 0, 3]], "ROW": [[3, 0, 5]], "COL": [[4, 0, 4]], "N": [8], "K": [3]}
# All was decided as the first class: NPV is undefined and 3/5.
ALL_ONE = {"HIT": [[3, 0]], "ROW": [[3, 2]], "COL": [[5, 0]], "N": [5], "K": [2]}


@pytest.mark.parametrize(
    ("key", "cells", "given"),
    [
        ("precision.macro", NEVER_DECIDED, ["0.500", "0.750", "0.833"]),
        ("precision.weighted", NEVER_DECIDED, ["0.600", "0.857", "0.900"]),
        ("f1.macro", ABSENT, ["0.413", "0.619", "0.746"]),
        ("npv.macro", ALL_ONE, ["0.300", "0.600", "0.800"]),
        # All recalls are defined: 2/2, 0/3 and 4/5.
        ("recall.macro", NEVER_DECIDED, ["0.600"]),
    ],
)
def test_an_undefined_class_counts_as_0_or_1_or_is_left_out_of_an_average(
    key: str, cells: dict[str, Any], given: list[str]
) -> None:
    every = (
        *("0.000", "0.300", "0.413", "0.500", "0.600", "0.619", "0.746", "0.750", "0.800"),
        *("0.833", "0.857", "0.900", "1.000"),
    )
    labels = ("a", "b", "c")[: cells["K"][0]]
    ways = {text: by_formula(key, text, None, labels=labels) for text in every}
    assert [text for text in every if given_by(ways[text], cells) == [True]] == given


@pytest.mark.parametrize(("hits", "mean"), [(5, "low"), (7, "high")])
def test_an_average_at_the_very_end_of_the_digits_is_printed_so(hits: int, mean: str) -> None:
    # One class is never decided; of the other 0.5 or 0.7 is right, so that half of it is an end.
    cells = {"HIT": [[hits, 0]], "ROW": [[hits, 10 - hits]], "COL": [[10, 0]], "N": [10], "K": [2]}
    way = by_formula("precision.macro", "0.3", None)
    assert given_by(way, cells, rounded=True) == [True], mean
    assert given_by(by_formula("precision.macro", "0.2", None), cells, rounded=True) == [hits == 5]


def test_only_the_undefined_of_several_matrices_are_filled() -> None:
    cells = {"TP": [0, 1, 0], "FP": [0, 1, 1]}
    assert given_by(by_formula("precision", "1.00"), cells) == [True, False, False]
    assert given_by(by_formula("precision", "0.50"), cells) == [False, True, False]


def test_values_far_from_the_digits_are_never_given_however_many_they_are() -> None:
    counts = np.arange(1, 3001)
    below, above = {"TP": counts, "FP": 9000 - counts}, {"TP": 9000 - counts, "FP": counts}
    assert not any(given_by(by_formula("precision", "0.4"), below)[:2700])
    assert not any(given_by(by_formula("precision", "0.4"), above))


def test_an_undefined_micro_average_may_be_printed_as_0_or_1() -> None:
    nothing = {"HIT": [[0, 0]], "ROW": [[0, 0]], "COL": [[0, 0]], "N": [0], "K": [2]}
    for text, held in (("0.00", True), ("1.00", True), ("0.50", False)):
        assert given_by(by_formula("f1.micro", text), nothing) == [held]


def of(low: float, high: float) -> Bounds:
    return Bounds(np.array([low]), np.array([high]))


def test_boxes_may_hold_a_number_where_their_bounds_meet_its_digits() -> None:
    recall = by_formula("recall", "0.4")
    for low, high, held in (
        (0.1, 0.29, False), (0.1, 0.3, True), (0.1, 0.31, True), (0.35, 0.36, True),
        (0.49, 0.9, True), (0.5, 0.9, True), (0.51, 0.9, False),
    ):  # fmt: skip
        assert recall.may_hold(lambda _, b=(low, high): of(*b), rounded=False).tolist() == [held]
    assert recall.may_hold(lambda _: of(0.46, 0.9), rounded=True).tolist() == [False]


def test_boxes_that_may_be_undefined_may_hold_what_libraries_print_there() -> None:
    def boxed(least_rows: float) -> Any:
        # The formula itself lies beside all that is printed.
        return lambda q: of(least_rows, 9.0) if q.expression == TP + FP else of(0.4, 0.5)

    for text, least, held in (
        ("0.00", 0.0, True), ("1.00", 0.0, True), ("0.00", 1.0, False), ("0.20", 0.0, False),
    ):  # fmt: skip
        way = by_formula("precision", text)
        assert way.may_hold(boxed(least), rounded=False).tolist() == [held]


def test_boxes_in_which_a_class_may_be_undefined_may_hold_any_average() -> None:
    def boxed(quantity: Quantity) -> Bounds:
        assert quantity.label in (None, 1)
        return of(0.0, 9.0) if quantity.expression == TN + FN else of(0.4, 0.5)

    assert by_formula("precision.macro", "0.20").may_hold(boxed, rounded=False).tolist() == [True]
    assert by_formula("recall.macro", "0.20").may_hold(boxed, rounded=False).tolist() == [False]


# -- by scores and by rounded numbers --------------------------------------------------------------

AREA = Meaning(find("roc_auc"), "attack")
BELOW, ABOVE = Quantity(TP / (TP + FN), 1), Quantity(TN / (TN + FP), 1)
SHARES = {"TP": [59, 60, 61, 10, 10, 10], "FN": [41, 40, 39, 90, 90, 90],
          "TN": [90, 90, 90, 39, 40, 41], "FP": [10, 10, 10, 61, 60, 59]}  # fmt: skip


@pytest.mark.parametrize(
    ("low", "high", "held"),
    [
        (BELOW, ABOVE, [True, True, False, False, True, True]),
        (BELOW, None, [True, True, False, True, True, True]),
        (None, ABOVE, [True, True, True, False, True, True]),
    ],
)
@pytest.mark.parametrize("rounded", [False, True])
def test_an_area_lies_between_what_the_operating_point_allows(
    low: Quantity | None, high: Quantity | None, held: list[bool], *, rounded: bool
) -> None:
    way = ByScores(AREA, low, high, printed("0.5"))
    arrays = {name: np.array(column) for name, column in SHARES.items()}
    assert way.holds(lambda _: arrays, rounded=rounded).tolist() == held

    def boxed(quantity: Quantity) -> Bounds:
        top, bottom = ("TP", "FN") if quantity == BELOW else ("TN", "FP")
        share = arrays[top] / (arrays[top] + arrays[bottom])
        # The other end of each box is as far off as can be.
        return Bounds(share, np.ones(6)) if quantity == BELOW else Bounds(np.zeros(6), share)

    assert way.may_hold(boxed, rounded=rounded).tolist() == held


def test_without_bounds_any_matrix_may_give_an_area() -> None:
    way = ByScores(AREA, None, None, printed("0.5"))
    assert way.holds(lambda _: {}, rounded=False).tolist() is True
    assert way.may_hold(lambda _: of(0, 0), rounded=False).tolist() is True


def rounded_f1(text: str, reach: float = 0.02) -> ByRounded:
    """F1 that was worked out from a precision and a recall of two digits."""
    p, r = Cell("precision"), Cell("recall")
    sources = {"precision": Quantity(TP / (TP + FP), 1), "recall": Quantity(TP / (TP + FN), 1)}
    meaning = meanings(key_of("f1"), "attack")[0]
    reaches = {"precision": reach, "recall": reach}
    return ByRounded(meaning, 2 * p * r / (p + r), sources, reaches, printed(text))


def test_a_number_worked_out_from_rounded_ones_is_off_by_what_they_are_off() -> None:
    # Both rates are 0.5, so what was rounded lies between 0.48 and 0.52, and F1 too.
    half = {name: np.array([50]) for name in ("TP", "FP", "FN")}
    held = [
        text
        for text in ("0.468", "0.470", "0.480", "0.500", "0.520", "0.521", "0.522", "0.530")
        if rounded_f1(text).holds(lambda _: half, rounded=False).tolist() == [True]
    ]
    assert held == ["0.480", "0.500", "0.520", "0.521"]
    exact = {"TP": np.array([50, 0]), "FP": np.array([50, 0]), "FN": np.array([50, 1])}
    # Nothing is worked out from a precision that is undefined.
    answers = rounded_f1("0.50").holds(lambda _: exact, rounded=True)
    assert answers.tolist() == [True, False]
    assert not rounded_f1("0.5205").holds(lambda _: half, rounded=True).any()


def test_a_box_may_hold_what_its_rounded_rates_give() -> None:
    def boxed(quantity: Quantity) -> Bounds:
        return of(0.5, 0.6) if FP.name in str(quantity.expression) else of(0.4, 0.5)

    # From 2 x 0.48 x 0.38/0.86 = 0.4242 to 2 x 0.62 x 0.52/1.14 = 0.5656.
    for text, held in (("0.4231", False), ("0.4243", True), ("0.5655", True), ("0.5658", False)):
        assert rounded_f1(text).may_hold(boxed, rounded=False).tolist() == [held]


# -- small parts -----------------------------------------------------------------------------------


def test_bounds_meet_digits_where_they_touch_them() -> None:
    window = DigitWindow(Fraction(1, 4), Fraction(1, 2), closed=False)
    above, below = math.nextafter(0.5, 1), math.nextafter(0.25, 0)
    assert _meets(of(above, 1.0), window).tolist() == [True]
    assert _meets(of(math.nextafter(above, 1), 1.0), window).tolist() == [False]
    assert _meets(of(0.0, below), window).tolist() == [True]
    assert _meets(of(0.0, math.nextafter(below, 0)), window).tolist() == [False]
    way = ByScores(AREA, BELOW, None, printed("0.5"))
    highest = math.nextafter(0.6, 1)
    assert way.may_hold(lambda _: of(highest, 1), rounded=False).tolist() == [True]
    way = ByScores(AREA, None, ABOVE, printed("0.5"))
    assert way.may_hold(lambda _: of(0, math.nextafter(0.4, 0)), rounded=False).tolist() == [True]


@pytest.mark.parametrize(
    ("text", "fills"), [("0", True), ("1.00", True), ("0.99", False), ("0.5", False), ("2", False)]
)
def test_0_and_1_stand_where_a_ratio_is_undefined(text: str, fills: bool) -> None:
    assert fills_undefined(printed(text).window(rounded=False)) == fills


def test_one_matrix_of_many_has_plain_counts() -> None:
    many = {"HIT": np.array([[1, 2], [3, 4]]), "N": np.array([7, 8]), "K": np.array(2)}
    one = one_of(many, 1)
    assert one == {"HIT": (3, 4), "N": 8, "K": 2}
    assert {type(each) for each in (*one["HIT"], one["N"], one["K"])} == {int}


def test_formulas_of_either_label_are_written_in_the_cells_of_the_positive() -> None:
    recall = TP / (TP + FN)
    assert in_four_cells(Quantity(recall, 1)) == recall
    assert in_four_cells(Quantity(recall, 0)) == TN / (TN + FP)
    assert in_four_cells(Quantity(total(HIT / ROW) / K)) == (recall + TN / (TN + FP)) / 2


# -- the numbers of a claim ------------------------------------------------------------------------


def numbers(claim: Claim = CLAIM, **reported: str) -> tuple[Number, ...]:
    given = [(key_of(key.replace("__", ".")), printed(text)) for key, text in reported.items()]
    return numbers_of(claim, given, claim.positive, claim.labels)


def test_a_number_is_read_by_its_meanings_and_spellings() -> None:
    (f1,) = numbers(f1="0.9")
    assert [(w.meaning.label, w.meaning.average) for w in f1.ways] == [
        ("attack", None), (None, "weighted"), (None, "macro"), (None, "micro"),
    ]  # fmt: skip
    (percent,) = numbers(Claim("x", positive="attack", labels=LABELS, percents=True), accuracy="90")
    values = [way.printed.value for way in percent.ways]
    assert values == [90, Fraction(9, 10)]


def test_an_area_is_read_by_its_bounds_of_either_of_two_labels() -> None:
    (area,) = numbers(roc_auc="0.9")
    (way,) = area.ways
    assert isinstance(way, ByScores)
    assert (way.low is not None and way.low.label, way.high is not None and way.high.label) == (
        1,
        1,
    )
    (swapped,) = numbers(roc_auc__normal="0.9")
    assert [w.low.label for w in swapped.ways if isinstance(w, ByScores) and w.low] == [0]
    three = Claim("x", labels=("a", "b", "c"))
    assert numbers(three, roc_auc__a="0.9")[0].ways == ()
    assert area.scored
    assert not numbers(recall="0.9")[0].scored


def test_a_number_that_others_give_follows_from_them() -> None:
    precision, recall, f1 = numbers(precision="0.90", recall="0.80", f1="0.847")
    assert (precision.worked, recall.worked) == ((), ())
    (worked,) = f1.worked
    assert (worked.gives, worked.sources) == (True, {0, 1})
    # 2 x 0.9 x 0.8/1.7 = 0.84706.
    assert f1.follows(frozenset({0, 1, 2})) is worked
    assert f1.follows(frozenset({0, 1})) is worked
    assert f1.follows(frozenset({0, 2})) is None
    assert f1.conditions(frozenset({0, 1, 2}), conventions=True) == ()
    assert f1.conditions(frozenset({0, 2}), conventions=True) == (*f1.ways, *worked.ways)
    alone = f1.conditions(frozenset({2}), conventions=False)
    assert [way.meaning.convention for way in alone] == [False, False]


def test_a_number_that_others_do_not_give_stands_by_itself() -> None:
    (_, _, f1) = numbers(precision="0.90", recall="0.80", f1="0.850")
    (worked,) = f1.worked
    assert not worked.gives
    assert f1.follows(frozenset({0, 1, 2})) is None
    assert f1.conditions(frozenset({0, 1, 2}), conventions=True) == f1.ways


def test_a_number_without_any_way_asks_for_nothing() -> None:
    three = Claim("x", labels=("a", "b", "c"))
    (area,) = numbers(three, roc_auc__a="0.9")
    assert area.conditions(frozenset({0}), conventions=True) == ()


def test_rounded_sources_are_off_by_two_units_and_read_by_one_convention() -> None:
    (_, _, f1) = numbers(precision="0.90", recall="0.800", f1="0.847")
    (worked,) = f1.worked
    read = [way for way in worked.ways if isinstance(way, ByRounded)]
    assert len(read) == len(worked.ways) == 3
    assert [(w.meaning.average, w.meaning.convention) for w in read] == [
        (None, False), ("weighted", True), ("macro", True),
    ]  # fmt: skip
    assert all(way.reach == {"precision": 0.02, "recall": 0.002} for way in read)
    assert read[0].sources["precision"] == Quantity(TP / (TP + FP), 1)
    averages = [way.sources["recall"] for way in read[1:]]
    assert all(quantity.label is None for quantity in averages)
    assert averages[0] != averages[1]


def test_a_number_of_a_named_class_has_no_convention() -> None:
    reported = {"precision__attack": "0.90", "recall__attack": "0.80", "f1__attack": "0.847"}
    (_, _, f1) = numbers(**reported)
    (worked,) = f1.worked
    assert [way.meaning.label for way in worked.ways] == ["attack"]


def test_a_bare_number_may_be_worked_out_from_those_of_a_named_class() -> None:
    (_, _, f1) = numbers(precision__attack="0.90", recall__attack="0.80", f1="0.847")
    (worked,) = f1.worked
    assert [way.meaning.average for way in worked.ways] == [None, "weighted", "macro"]
    of_class = {Quantity(TP / (TP + FP), 1), Quantity(TP / (TP + FN), 1)}
    assert all(set(way.sources.values()) == of_class for way in worked.ways)


def test_a_number_in_percent_follows_in_one_of_its_spellings() -> None:
    percents = Claim("x", positive="attack", labels=LABELS, percents=True)
    (_, _, f1) = numbers(percents, precision="90", recall="80", f1="84.7")
    (worked,) = f1.worked
    assert worked.gives


def test_numbers_are_worked_out_from_those_of_lower_rank_alone() -> None:
    keys = ("accuracy", "precision", "recall", "specificity", "f1", "npv", "mcc", "kappa", "fnr",
            "fpr", "error_rate", "balanced_accuracy", "informedness", "jaccard", "g_mean",
            "prevalence", "alert_rate", "markedness")  # fmt: skip
    every = numbers(**dict.fromkeys(keys, "0.5"))
    worked = [(number, each) for number in every for each in number.worked]
    assert len(worked) > len(keys)
    for number, each in worked:
        ranks = [rank(every[i].key, CLAIM) for i in each.sources]
        assert max(ranks) < rank(number.key, CLAIM)
