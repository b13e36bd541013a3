"""What identities leave for numbers, and what is said of it; and who judges which claim."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from assay.decisions.audit.claim import Claim, key_of
from assay.decisions.audit.search import judge_without_matrix, prevalence_of
from assay.decisions.audit.search.bonds import (
    Bonds,
    Fit,
    Verdicts,
    _around,
    _binds,
    _divides_by_decisions,
    _listed,
    _meet,
    _shown,
    _turned,
    _within,
    judge_together,
    together,
)
from assay.decisions.audit.search.identities import Classes, Impossible, NamedQuantity, Relation
from assay.decisions.audit.search.numbers import Number, Numbers, numbers_of
from assay.decisions.audit.verdicts import NumberVerdict, printed

LABELS = ("normal", "attack")
TWO = Claim("x", positive="attack", labels=LABELS)
THREE = Claim("x", labels=("a", "b", "c"))
CONSISTENT, ROUNDING = NumberVerdict.CONSISTENT, NumberVerdict.ROUNDING
UNDETERMINED, CONFLICT = NumberVerdict.UNDETERMINED, NumberVerdict.CONFLICT


def numbers(claim: Claim, reported: dict[str, str]) -> tuple[Number, ...]:
    given = [(key_of(key), printed(text)) for key, text in reported.items()]
    return numbers_of(claim, given, claim.positive, claim.labels)


def bonds(claim: Claim, reported: dict[str, str], **shares: float) -> Bonds:
    some = numbers(claim, reported)
    return Bonds.of(claim, some, Classes(claim.labels), claim.positive, shares=shares)


def every(web: Bonds) -> Numbers:
    return frozenset(range(len(web.numbers)))


RATES = {"precision.attack": "0.900", "recall.attack": "0.800"}
F1 = 2 * 0.9 * 0.8 / 1.7


# -- what is possible, and what is left ------------------------------------------------------------


@pytest.mark.parametrize(
    ("f1", "possible"), [("0.847", True), ("0.850", False), ("0.844", False), ("0.848", True)]
)
def test_numbers_are_possible_while_some_value_of_each_is_left(f1: str, *, possible: bool) -> None:
    web = bonds(TWO, {**RATES, "f1.attack": f1})
    assert web.possible(every(web)) is possible
    assert web.possible(frozenset({0, 2}))


def test_what_was_answered_tells_of_parts_and_of_wholes() -> None:
    web = bonds(TWO, {**RATES, "f1.attack": "0.950"})
    assert not web.possible(every(web))
    assert web.possible(frozenset({0, 1}))
    asked = dict(web._answers)
    assert not web.possible(every(web) | {3})
    assert web.possible(frozenset({0}))
    assert web.possible(frozenset())
    assert dict(web._answers) == asked


def test_others_leave_a_range_for_a_number() -> None:
    web = bonds(TWO, {**RATES, "f1.attack": "0.847", "fnr.attack": "0.200"})
    low, high = web.left_for(2, every(web)) or (0.0, 0.0)
    # Each rate may be off by a thousandth.
    ends = [2 * p * r / (p + r) for p, r in ((0.899, 0.799), (0.901, 0.801))]
    assert (low, high) == (pytest.approx(ends[0], abs=1e-6), pytest.approx(ends[1], abs=1e-6))
    # The miss rate is 1 less the recall.
    assert web.left_for(3, frozenset({1, 3})) == pytest.approx((0.199, 0.201), abs=1e-9)
    assert web.left_for(3, frozenset({3})) == (0.0, 1.0)
    wrong = bonds(TWO, {**RATES, "f1.attack": "0.950", "jaccard.attack": "0.5"})
    assert wrong.left_for(3, every(wrong)) is None


def test_a_number_with_several_meanings_may_lie_in_any_of_their_ranges() -> None:
    web = bonds(
        TWO, {"specificity.attack": "0.900", "precision.attack": "0.500", "far.attack": "0.1"}
    )
    assert web.left_for(2, frozenset({0, 1})) == pytest.approx((0.099, 0.501), abs=1e-9)


@pytest.mark.parametrize(
    ("left", "narrow"),
    [((0.0, 0.1), True), ((0.5, 0.6), True), ((0.5, 0.61), False), ((0.5, 0.5), True)],
)
def test_a_number_is_tested_where_a_tenth_of_its_range_is_left(
    left: tuple[float, float], *, narrow: bool
) -> None:
    web = bonds(TWO, {"recall.attack": "0.5", "mcc": "0.5", "positive_likelihood_ratio": "9"})
    assert web._narrow((left[0], left[1]), 0) is narrow
    # From -1 to 1 twice as much is a tenth.
    assert web._narrow((2 * left[0], 2 * left[1]), 1) is narrow


def test_what_is_left_of_an_endless_range_is_held_against_its_own_size() -> None:
    web = bonds(TWO, {"recall.attack": "0.5", "positive_likelihood_ratio": "9"})
    assert web._narrow((20.0, 22.0), 1)
    assert not web._narrow((20.0, 22.1), 1)
    assert web._narrow((0.2, 0.3), 1)
    assert not web._narrow((0.2, 0.31), 1)


# -- which numbers are bound -----------------------------------------------------------------------


def test_an_average_with_a_class_that_is_not_told_may_leave_it_out() -> None:
    of_two = {"precision.a": "0.9", "precision.b": "0.8", "precision.macro": "0.5"}
    assert bonds(THREE, of_two).meant[2] == ()
    assert len(bonds(THREE, {**of_two, "precision.c": "0.7"}).meant[2]) == 1
    # Of a class with a recall above nothing some row was right, so its precision is defined.
    right = bonds(THREE, {**of_two, "recall.c": "0.1"})
    assert len(right.meant[2]) == 1
    missed = bonds(THREE, {**of_two, "recall.c": "0.0"})
    assert missed.meant[2] == ()
    assert len(bonds(THREE, {"precision.macro": "0.5"}).meant[0]) == 1
    assert len(bonds(THREE, {"precision.a": "0.9"}).meant[0]) == 1


def test_a_recall_is_defined_of_every_class_that_has_rows() -> None:
    of_two = {"recall.a": "0.9", "recall.b": "0.8", "recall.macro": "0.5"}
    assert bonds(THREE, of_two).meant[2] == ()
    told = bonds(THREE, of_two, a=0.5, b=0.3, c=0.2)
    assert len(told.meant[2]) == 1
    assert told.shares == {"a": 0.5, "b": 0.3, "c": 0.2}
    assert bonds(THREE, of_two, a=0.5, b=0.5, c=0.0).meant[2] == ()
    of_one = {"recall.a": "0.9", "recall.macro": "0.5"}
    assert bonds(THREE, of_one, a=0.5, b=0.5, c=0.0).meant[1] == ()
    precision = {"precision.a": "0.9", "precision.macro": "0.5"}
    assert bonds(THREE, precision, a=0.5, b=0.3, c=0.2).meant[1] == ()


@pytest.mark.parametrize(
    ("key", "divides"),
    [("precision", True), ("recall", False), ("f1", False), ("specificity", False),
     ("npv", True), ("accuracy", False), ("roc_auc", True), ("mcc", False)],
)  # fmt: skip
def test_what_divides_by_decisions_may_be_undefined(key: str, *, divides: bool) -> None:
    assert _divides_by_decisions(key_of(key)) is divides


def test_numbers_in_percent_are_read_both_ways() -> None:
    percents = replace(TWO, percents=True)
    web = bonds(percents, {"recall.attack": "90"})
    assert [each.range for each in web.meant[0]] == [(89.0, 91.0), pytest.approx((0.89, 0.91))]


def test_keys_that_are_named_so_are_read_by_the_convention() -> None:
    some = numbers(TWO, {"recall": "0.9", "precision": "0.8"})
    web = Bonds.of(
        TWO, some, Classes(LABELS), "attack", convention="macro",
        named=lambda number: number.key.text == "recall", words="so",
    )  # fmt: skip
    assert [each[0].quantity.name for each in web.meant] == ["recall.macro", "attack|precision"]
    assert web.words == "so"


def test_of_too_many_readings_those_that_say_least_are_passed_over() -> None:
    three = {"f1": "0.5", "recall": "0.5", "precision": "0.5"}
    web = bonds(THREE, three)
    # Three readings each: 27 ways, of which one number is left.
    assert [len(each) for each in web.meant] == [3, 3, 3]
    assert len(web.left(every(web))) == 3
    far = bonds(TWO, {"far.attack": "0.5", "recall.attack": "0.5", "far.normal": "0.5"})
    assert [len(each) for each in far.meant] == [2, 1, 2]
    assert len(far.left(every(far))) == 4
    more = bonds(replace(TWO, percents=True), {"far.attack": "0.5", "recall.attack": "0.5"})
    assert [len(each) for each in more.meant] == [4, 2]
    assert len(more.left(every(more))) <= 2


def test_a_number_that_follows_from_others_binds_nothing_beside_them() -> None:
    # From the printed 0.67 and 0.33; of counts 2/3 and 1/3 would give 0.4444.
    reported = {"precision.attack": "0.67", "recall.attack": "0.33", "f1.attack": "0.4422"}
    web = bonds(TWO, reported)
    (box,) = web.left(every(web))
    low, high = box["attack|f1"]
    assert low < 0.435
    assert high > 0.45
    assert web._loose(2, frozenset({1, 2})) is web.numbers[2].worked[0]
    assert web._loose(2, frozenset({0, 1})) is None
    unlike = bonds(TWO, {**reported, "f1.attack": "0.4000"})
    assert unlike._loose(2, frozenset({1, 2})) is None
    # Beside the recall alone it may have been worked out from any precision near 0.67.
    (box,) = web.left(frozenset({1, 2}))
    assert "attack|f1~" in box
    assert box["attack|f1~"] == pytest.approx((0.4421, 0.4423), abs=1e-9)
    low, high = box["attack|precision"]
    # 0.4422 needs precisions of 0.59 to 0.77 where the recall is within two hundredths of 0.33.
    assert low < 0.67 < high
    assert high - low < 0.35
    # What was rounded is off by two units at most.
    assert box["attack|precision~precision.attack"][0] == pytest.approx(low + 0.02, abs=1e-3)


# -- in words --------------------------------------------------------------------------------------


def test_a_number_that_the_others_test_is_consistent_or_rounding() -> None:
    web = bonds(TWO, {**RATES, "f1.attack": "0.847"})
    assert web.fit(2, every(web)) == Fit(CONSISTENT, None, "the other numbers allow 0.84606 to 0.84806")  # fmt: skip # noqa: E501
    cut = bonds(TWO, {"recall.attack": "0.800", "fnr.attack": "0.202"})
    # What is left is 0.199 to 0.201, and 0.202 off by less than a unit ends at 0.201.
    assert cut.fit(1, every(cut)) == Fit(ROUNDING, None, "the other numbers allow 0.199 to 0.201")
    none = bonds(TWO, {"recall.attack": "0.800", "fnr.attack": "0.203"})
    said = "possible, but nothing in the claim decides it"
    assert none.fit(1, every(none)) == Fit(UNDETERMINED, None, said)
    assert web.fit(0, frozenset({0})) == Fit(UNDETERMINED, None, said)


def test_what_is_not_bound_is_not_decided() -> None:
    web = bonds(THREE, {"precision.a": "0.9", "precision.macro": "0.5"})
    assert web.fit(1, every(web)) == Fit(UNDETERMINED, None, "nothing in the claim decides it")
    assert web.allowed(1, every(web)) == ""


def test_a_number_of_several_meanings_says_of_which_the_range_is() -> None:
    web = bonds(TWO, {"specificity.attack": "0.900", "precision.attack": "0.905", "far.attack": "0.1"})  # fmt: skip # noqa: E501
    assert web.fit(2, every(web)).said == "the other numbers allow 0.094 to 0.101 for FDR or FPR"


def test_what_the_others_allow_is_said_where_it_says_much() -> None:
    web = bonds(TWO, {**RATES, "f1.attack": "0.950"})
    assert web.allowed(2, frozenset({0, 1})) == "the others allow 0.84606 to 0.84806"
    assert web.allowed(2, frozenset({0})) == ""
    assert web.allowed(2, frozenset()) == ""
    told = bonds(TWO, {"prevalence.attack": "0.9"}, normal=0.75, attack=0.25)
    assert told.allowed(0, frozenset()) == ""
    exact = bonds(TWO, {"recall.attack": "0.80000000", "fnr.attack": "0.9"})
    assert exact.allowed(1, frozenset({0})) == "the others allow 0.2"


def test_a_conflict_names_the_identity_that_it_breaks() -> None:
    web = bonds(TWO, {**RATES, "f1.attack": "0.950", "fnr.attack": "0.5", "mcc": "0.1"})
    assert web.why(frozenset({0, 1, 2})) == "F1 is the harmonic mean of precision and recall"
    assert web.why(frozenset({1, 3})) == "they are the same quantity, or 1 minus it"
    assert web.why(frozenset({4})) == "no counts of any size give it"
    assert web.why(frozenset({0, 4})) == "no matrix of any size gives both"
    assert web.why(frozenset({0, 1, 2, 4})) == "no matrix of any size gives all 4"


def test_an_identity_binds_just_the_numbers_that_it_names() -> None:
    relation = Relation("z", ("x", "y"), math.fsum, "")
    assert _binds(relation, [{"x"}, {"y"}, {"z"}])
    assert _binds(relation, [{"x", "w"}, {"y"}, {"z"}])
    assert not _binds(relation, [{"x"}, {"y"}])
    assert not _binds(relation, [{"x"}, {"y"}, {"w"}])
    assert not _binds(relation, [{"x"}, {"x"}, {"z"}])
    assert not _binds(relation, [{"x"}, {"y"}, {"z"}, {"w"}])
    assert not _binds(relation, [{"x", "y"}, {"z"}, {"w"}])


def test_small_words() -> None:
    assert [together(size) for size in (1, 2, 3, 4)] == ["it", "both", "all three", "all 4"]
    assert _listed(["a"], "or") == "a"
    assert _listed(["a", "b"], "or") == "a or b"
    assert _listed(["a", "b", "c"], "and") == "a, b and c"
    assert _shown((0.25, 0.25000001)) == "0.25"
    assert _shown((-0.0, 0.123456)) == "0 to 0.12346"


def test_ranges_meet_with_a_little_slack() -> None:
    box = {"x": (0.0, 1.0), "y": (0.0, 1e6)}
    _meet(box, "x", (0.25, 0.5))
    assert box["x"] == (0.25 - 1e-11, 0.5 + 1e-11)
    _meet(box, "y", (2000.0, 3000.0))
    assert box["y"] == (2000.0 - 3000 * 1e-11, 3000.0 + 3000 * 1e-11)
    with pytest.raises(Impossible):
        _meet(box, "x", (0.6, 0.7))
    _meet(box, "x", (0.5 + 2e-11, 0.7))
    assert box["x"][0] == pytest.approx(box["x"][1], abs=1e-15)


def test_a_complement_turns_a_range_round() -> None:
    assert _turned((0.25, 0.375), NamedQuantity("x")) == (0.25, 0.375)
    assert _turned((0.25, 0.375), NamedQuantity("x", complement=True)) == (0.625, 0.75)
    low, high = _around(0.125, complement=False)
    assert (low([0.5]), high([0.5])) == (0.375, 0.625)
    low, high = _around(0.125, complement=True)
    assert (low([0.25]), high([0.25])) == (0.625, 0.875)


def test_digits_lie_within_what_is_left_where_they_touch_it() -> None:
    window = printed("0.5").window(rounded=False)
    for left, within in (
        ((0.6, 0.7), True), ((0.61, 0.7), False), ((0.2, 0.4), True), ((0.2, 0.39), False),
    ):  # fmt: skip
        assert _within(window, left) is within


# -- shares of positives ---------------------------------------------------------------------------


def test_numbers_tell_between_which_shares_of_positives_they_hold() -> None:
    def shares(claim: Claim) -> tuple[float, float] | None:
        return prevalence_of(claim)

    reported = {"recall": printed("0.500"), "specificity": printed("1.000"), "accuracy": printed("0.900")}  # fmt: skip # noqa: E501
    # Half of the positives are wrong, and they are a tenth of the rows: a fifth is positive.
    told = shares(Claim("x", reported=reported))
    assert told is not None
    assert told == (pytest.approx(0.2, abs=0.01), pytest.approx(0.2, abs=0.01))
    # Spreads and numbers of named classes are not read.
    more = {**reported, "accuracy.sd": printed("0.500"), "recall.positive": printed("0.1")}
    assert shares(Claim("x", reported=more)) == told
    # A false alarm rate of 0.1 is an FPR where a quarter is positive, an FDR where 0.36 is.
    either = {"far": printed("0.100"), "recall": printed("0.500"), "accuracy": printed("0.800")}
    assert shares(Claim("x", reported=either)) == pytest.approx((0.25, 0.36), abs=0.01)
    named = Claim("x", reported=reported, labels=LABELS, positive="attack")
    assert shares(named) == pytest.approx(told)
    three = Claim("x", reported=reported, labels=("a", "b", "c"))
    assert shares(three) == pytest.approx(told)
    assert shares(Claim("x", reported={"recall.a": printed("0.5"), "f1.macro": printed("0.5")})) is None  # fmt: skip # noqa: E501
    spread = {"recall.ci": (printed("0.4"), printed("0.6")), "accuracy.sd": printed("0.1")}
    assert shares(Claim("x", reported=spread)) is None
    wrong = {"recall": printed("0.5"), "fnr": printed("0.1")}
    assert shares(Claim("x", reported=wrong)) is None


# -- verdicts --------------------------------------------------------------------------------------


class Scripted:
    """A judge that knows which numbers contradict each other."""

    def __init__(self, *contradictions: set[int]) -> None:
        self.contradictions = contradictions

    def possible(self, chosen: Numbers) -> bool:
        return not any(each <= chosen for each in self.contradictions)

    def fit(self, i: int, kept: Numbers) -> Fit:
        return Fit(CONSISTENT, i / 10, f"fits {sorted(kept)}")

    def why(self, members: Numbers) -> str:
        return f"because of {sorted(members)}"

    def instead(self, i: int, kept: Numbers) -> tuple[float | None, str]:
        return (0.5, f"not {i} but by {sorted(kept)}") if len(kept) > 1 else (None, "")


FOUR = {"recall": "0.1", "precision": "0.2", "f1": "0.3", "roc_auc": "0.4"}


def judged(*contradictions: set[int]) -> Verdicts:
    return judge_together(numbers(TWO, FOUR), Scripted(*contradictions))


def test_numbers_that_hold_together_fit() -> None:
    verdicts = judged()
    assert (verdicts.conflicts, verdicts.kept, verdicts.notes) == ((), {0, 1, 2, 3}, ())
    assert [each.verdict for each in verdicts.judged.values()] == [CONSISTENT] * 4
    f1 = verdicts.judged["f1"]
    assert (f1.measure, f1.reported, f1.recomputed, f1.said) == (
        "f1", "0.3", 0.2, "fits [0, 1, 2, 3]",
    )  # fmt: skip


def test_a_number_that_must_be_wrong_says_with_what_and_what_the_others_give() -> None:
    verdicts = judged({0, 1}, {0, 2})
    assert [str(each.verdict) for each in verdicts.judged.values()] == [
        "inconsistent", "consistent", "consistent", "consistent",
    ]  # fmt: skip
    recall = verdicts.judged["recall"]
    assert recall.said == (
        "can't hold together with precision 0.2: because of [0, 1]; not 0 but by [1, 2, 3]"
    )
    assert recall.recomputed == 0.5
    alone = judged({0}, {1}, {2}).judged["recall"]
    assert (alone.said, alone.recomputed) == ("because of [0]", None)


def test_numbers_in_conflict_say_with_which() -> None:
    verdicts = judged({0, 1, 2})
    assert [each.verdict for each in verdicts.judged.values()] == [CONFLICT] * 3 + [CONSISTENT]
    said = "it or precision 0.2 or f1 0.3 is wrong: because of [0, 1, 2]"
    assert verdicts.judged["recall"].said == said
    (conflict,) = verdicts.conflicts
    assert conflict.keys == ("recall", "precision", "f1")
    assert conflict.text == (
        "at least one of recall 0.1, precision 0.2 and f1 0.3 is wrong, and it can't be told "
        "which: because of [0, 1, 2]"
    )


def test_an_area_is_wrong_where_it_contradicts_what_is_kept_and_never_others() -> None:
    verdicts = judged({1, 3})
    assert verdicts.kept == {0, 1, 2}
    assert [str(each.verdict) for each in verdicts.judged.values()] == [
        "consistent", "consistent", "consistent", "inconsistent",
    ]  # fmt: skip
    assert verdicts.judged["roc_auc"].said == (
        "can't hold together with precision 0.2: because of [1, 3]; not 3 but by [0, 1, 2]"
    )


# -- who judges ------------------------------------------------------------------------------------


def verdict(claim: Claim, key: str) -> str:
    return str(judge_without_matrix(claim).judged[key].verdict)


def read(**reported: str) -> dict[str, object]:
    return {key.replace("__", "."): printed(text) for key, text in reported.items()}


def test_numbers_out_of_range_and_measures_of_scores_are_judged_alone() -> None:
    interval = {"recall.ci": (printed("0.1"), printed("0.2"))}
    claim = Claim("x", reported={**interval, **read(accuracy="1.5", log_loss="0.3", mcc="-0.5")})
    judged = judge_without_matrix(claim).judged
    assert list(judged) == ["accuracy", "log_loss", "mcc"]
    assert str(judged["accuracy"].verdict) == "inconsistent"
    assert judged["log_loss"].said == "no counts decide a measure of scores"
    assert judge_without_matrix(Claim("x")).judged == {}


def test_means_of_folds_are_held_against_each_other_alone() -> None:
    told = {"positive": "attack", "negative": "normal", "labels": LABELS,
            "support": {"attack": 10, "normal": 10}}  # fmt: skip
    reported = read(recall="0.8037", precision="0.9", f1="0.95", recall__normal="0.5")
    # No count of ten gives 0.8037, but a mean of folds may be it.
    assert verdict(Claim("x", reported=read(recall="0.8037"), **told), "recall") == "inconsistent"
    for folds in ({"aggregate": "fold-mean"}, {"folds": {"recall": (printed("0.8"),)}}):
        verdicts = judge_without_matrix(Claim("x", reported=reported, **told, **folds))
        said = {key: str(each.verdict) for key, each in verdicts.judged.items()}
        assert said["f1"] == "conflict"
        assert said["recall.normal"] == "undetermined"
        assert verdicts.judged["recall.normal"].said == "a mean of folds"
        assert verdicts.notes == ("means of folds were only held against each other",)
    pooled = {"aggregate": "pooled", "folds": {"recall": (printed("0.8"),)}}
    assert verdict(Claim("x", reported=read(recall="0.8037"), **told, **pooled), "recall") == (
        "inconsistent"
    )


def test_the_other_of_two_labels_is_named_by_the_keys_or_as_what_it_is_not() -> None:
    wrong = read(recall__attack="0.9", fnr__attack="0.5")
    only_positive = Claim("x", positive="attack", reported=wrong)
    assert verdict(only_positive, "recall.attack") == "conflict"
    only_negative = Claim("x", negative="normal", reported={"recall.not normal": printed("0.9"), "specificity.normal": printed("0.5")})  # fmt: skip # noqa: E501
    assert verdict(only_negative, "recall.not normal") == "conflict"
    rows = {"normal": 4, "attack": 3}
    both = Claim("x", positive="attack", labels=LABELS, support=rows, reported=read(recall="0.600"))
    words = judge_without_matrix(both).judged["recall"].said
    assert words.startswith("no matrix of 3 positives and 4 negatives gives it")
    swapped = read(recall__attack="0.9", specificity__normal="0.5")
    assert verdict(Claim("x", negative="normal", reported=swapped), "recall.attack") == "conflict"
    assert verdict(Claim("x", positive="attack", reported=swapped), "recall.attack") == "conflict"


def test_without_any_label_numbers_may_be_of_one_class_or_averages() -> None:
    fits = judge_without_matrix(
        Claim("x", reported=read(precision="0.900", recall="0.800", f1="0.700"))
    )
    assert {str(each.verdict) for each in fits.judged.values()} == {"undetermined"}
    assert fits.notes == ("the numbers were read as weighted averages over both classes",)
    of_three = Claim("x", labels=("a", "b", "c"), reported=read(accuracy="0.90", error_rate="0.20"))
    assert verdict(of_three, "accuracy") == "conflict"
    of_keys = read(recall__a="0.9", fnr__a="0.5", recall__b="0.5", accuracy="0.7")
    by_key = Claim("x", reported=of_keys)
    assert verdict(by_key, "recall.a") == "conflict"
    assert verdict(by_key, "recall.b") == "undetermined"
