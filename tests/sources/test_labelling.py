"""Which label is the positive one: given, or inferred from the contract's short list.

And from which score on a row is flagged.
"""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.engines.arrays import resolved_arrays
from assay.errors import LabelError
from assay.sources import label_text
from assay.sources.labelling import least_reaching
from assay.tally import Resolved

ALARMS = ["attack", "malware", "DDoS", "spam", "1", "yes", "arp_spoofing", "Web Attack", "5"]
NEGATIVE = ["normal", "benign", "ham", "legitimate", "goodware", "clean"]
OPPOSITES = [("0", "1"), ("false", "true"), ("no", "yes")]
CASES = [str, str.upper, str.title]
FINITE = st.floats(allow_nan=False, allow_infinity=False)
NARROW = st.floats(width=32, allow_nan=False, allow_infinity=False)


def counted(*columns: Any, **more: Any) -> Resolved:
    """The tally of columns, with sides."""
    return resolved_arrays(*columns, **more)[0]


@pytest.mark.parametrize("negative", NEGATIVE)
@pytest.mark.parametrize("alarm", ALARMS)
def test_beside_a_word_for_what_is_harmless_the_other_label_is_the_positive(
    alarm: str, negative: str
) -> None:
    for quiet in (case(negative) for case in CASES):
        for labels in ([alarm, quiet], [quiet, alarm]):
            tally, notes, *_ = resolved_arrays(labels, y_pred=labels)
            assert tally.labels == (quiet, alarm)
            assert tally.positive == alarm
            assert any(repr(alarm) in note and repr(quiet) in note for note in notes)


@pytest.mark.parametrize(("negative", "positive"), OPPOSITES)
def test_zero_false_and_no_are_negative_beside_their_opposites_alone(
    negative: str, positive: str
) -> None:
    for case, other in zip(CASES, [*CASES[1:], CASES[0]], strict=True):
        quiet, alarm = case(negative), other(positive)
        for labels in ([alarm, quiet], [quiet, alarm]):
            assert counted(labels, y_pred=labels).labels == (quiet, alarm)
    for word in ("attack", "odd", *(p for _, p in OPPOSITES if p != positive)):
        with pytest.raises(LabelError, match="nothing tells which one is the alarm"):
            counted([negative, word], y_pred=[negative, word])


@pytest.mark.parametrize("pair", [(1, -1), (-1, 1), (-1.0, 1.0), ("-1", "1"), ("-1", "+1")])
def test_the_two_readings_of_minus_and_plus_one_are_both_named(pair: tuple[Any, Any]) -> None:
    with pytest.raises(LabelError) as refused:
        counted(list(pair), y_score=[0.9, 0.1])
    minus, plus = sorted(pair, key=float)
    minus, plus = (v if isinstance(v, str) else int(v) for v in (minus, plus))
    said = str(refused.value)
    assert f"In textbooks it is {plus!r}: say positive={plus!r}" in said
    assert f"scikit-learn's outlier detectors it is {minus!r}: say positive={minus!r}" in said
    for positive in pair:
        assert counted(list(pair), y_score=[0.9, 0.1], positive=positive).positive


@pytest.mark.parametrize(
    ("given", "labels"),
    [
        ([1, 0], ("0", "1")),
        ([1.0, 0.0], ("0", "1")),
        ([True, False], ("false", "true")),
        (np.array([1, 0], np.uint8), ("0", "1")),
    ],
)
def test_ones_and_truths_are_positive(given: Any, labels: tuple[str, str]) -> None:
    tally = counted(given, y_score=[0.9, 0.1])
    assert (tally.labels, tally.positive) == (labels, labels[1])
    assert tally.confusion.cells == ((1, 0), (0, 1))


@pytest.mark.parametrize(
    ("pair", "shown"),
    [
        (["zebra", "yak"], ["'zebra'", "'yak'"]),
        ([1, -1], ["-1", "1"]),
        ([-1.0, 1.0], ["-1", "1"]),
        ([2, 1], ["1", "2"]),
        (["attack", "spam"], ["'attack'", "'spam'"]),
        (["normal", "benign"], ["'normal'", "'benign'"]),
        (["attack", "harmless"], ["'attack'", "'harmless'"]),
        (["normal", "normal "], ["'normal'", "'normal '"]),
        (["clean", "0"], ["'clean'", "'0'"]),
        ([0, 2], ["0", "2"]),
        (["007", "7"], ["'007'", "'7'"]),
    ],
)
def test_any_other_pair_is_refused_with_both_labels(pair: list[Any], shown: list[str]) -> None:
    with pytest.raises(LabelError, match="nothing tells which one is the alarm") as refused:
        counted(pair, y_score=[0.9, 0.1])
    for name in shown:
        assert f"positive={name}" in str(refused.value)


@pytest.mark.parametrize("pair", [["zebra", "yak"], [1, -1], [2, 1], ["007", "7"], [True, False]])
def test_a_given_positive_is_the_positive(pair: list[Any]) -> None:
    for positive in pair:
        other = pair[1 - pair.index(positive)]
        tally, notes, *_ = resolved_arrays(pair, y_score=[0.9, 0.1], positive=positive)
        assert tally.labels == (label_text(other), label_text(positive))
        assert tally.positive == label_text(positive)
        again = counted(pair, y_score=[0.9, 0.1], negative=other)
        assert (again.labels, again.positive) == (tally.labels, tally.positive)
        assert not any("was taken as" in note for note in notes)


def test_a_given_positive_overrules_the_words() -> None:
    tally = counted(["attack", "normal"], y_score=[0.9, 0.1], positive="normal")
    assert tally.labels == ("attack", "normal")
    assert tally.confusion.cells == ((0, 1), (1, 0))


def test_positive_and_negative_together_are_refused() -> None:
    with pytest.raises(LabelError, match="positive= or negative=, not both"):
        counted(["a", "b"], y_score=[0.9, 0.1], positive="a", negative="b")


@pytest.mark.parametrize("side", ["positive", "negative"])
def test_a_label_that_does_not_occur_is_refused_with_those_that_do(side: str) -> None:
    with pytest.raises(LabelError, match=f"{side}='zebra' does not occur") as refused:
        counted(["a", "b"], y_score=[0.9, 0.1], **{side: "zebra"})
    for part in ("'a', 'b'", "list it in labels="):
        assert part in str(refused.value)


def test_many_labels_are_shown_in_part() -> None:
    labels = [f"family {i}" for i in range(9)]
    with pytest.raises(LabelError, match="'family 5' and 3 more"):
        counted(labels, y_pred=labels, positive="zebra")


@pytest.mark.parametrize(
    ("truth", "given", "kinds"),
    [
        ([1, 0], "1", "text.*numbers"),
        (["1", "0"], 1, "numbers.*text"),
        (["true", "false"], True, "booleans.*text"),
        ([True, False], "true", "text.*booleans"),
        ([True, False], 2, "numbers.*booleans"),
    ],
)
def test_a_positive_of_another_kind_is_refused(truth: list[Any], given: Any, kinds: str) -> None:
    with pytest.raises(LabelError, match=f"{kinds}.*Write it as the data do"):
        counted(truth, y_score=[0.9, 0.1], positive=given)


@pytest.mark.parametrize(
    ("truth", "positive", "labels"),
    [
        ([True, False], 1, ("false", "true")),
        ([True, False], 0, ("true", "false")),
        ([1, 0], True, ("0", "1")),
        ([1, 0], 1.0, ("0", "1")),
        ([1, 0], np.int8(1), ("0", "1")),
        ([1.0, 0.0], 1, ("0", "1")),
    ],
)
def test_true_and_one_are_the_same_label(
    truth: list[Any], positive: Any, labels: tuple[str, str]
) -> None:
    assert counted(truth, y_score=[0.9, 0.1], positive=positive).labels == labels


@pytest.mark.parametrize("positive", [None, 0.5, [], b"1", np.datetime64("2020-01-01")])
def test_a_positive_that_is_no_label_is_refused(positive: Any) -> None:
    if positive is None:
        assert counted([1, 0], y_score=[0.9, 0.1], positive=positive).positive == "1"
        return
    with pytest.raises(LabelError, match="a label must be text, an integer or a boolean"):
        counted([1, 0], y_score=[0.9, 0.1], positive=positive)


# -- one label alone -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("label", "labels"),
    [
        ("attack", ("not attack", "attack")),
        ("normal", ("normal", "not normal")),
        (1, ("0", "1")),
        (0, ("0", "1")),
        (True, ("false", "true")),
        ("yes", ("no", "yes")),
        ("no", ("no", "yes")),
    ],
)
def test_a_word_alone_is_taken_for_what_it_says(label: Any, labels: tuple[str, str]) -> None:
    tally, notes, *_ = resolved_arrays([label] * 2, y_score=[0.9, 0.1])
    assert tally.labels == labels
    assert any("it is the only one" in note for note in notes)
    assert tally.confusion.rows == ((0, 2) if labels[1] == label_text(label) else (2, 0))


def test_another_label_alone_is_refused() -> None:
    with pytest.raises(LabelError, match=r"only the label 'zebra'.*positive='zebra' or negative="):
        counted(["zebra"], y_score=[0.5])
    with pytest.raises(LabelError, match=r"only the label 7.*positive=7"):
        counted([7], y_score=[0.5])


def test_another_label_alone_may_be_told() -> None:
    assert counted(["zebra"], y_score=[0.5], positive="zebra").labels == ("not zebra", "zebra")
    assert counted(["zebra"], y_score=[0.5], negative="zebra").labels == ("zebra", "not zebra")


# -- labels= ---------------------------------------------------------------------------------------


def test_labels_allow_a_positive_that_does_not_occur() -> None:
    tally = counted(["normal"] * 3, y_pred=["normal"] * 3, labels=["normal", "attack"])
    assert tally.labels == ("normal", "attack")
    assert tally.positive == "attack"
    assert tally.confusion.cells == ((3, 0), (0, 0))
    given = counted(["yak"], y_score=[0.5], positive="zebra", labels=["yak", "zebra"])
    assert given.labels == ("yak", "zebra")


def test_labels_make_every_batch_alike() -> None:
    labels = ["benign", "dos", "probe"]
    a = counted(["dos"], y_pred=["benign"], labels=labels)
    b = counted(["benign", "probe"], y_pred=["benign", "dos"], labels=labels)
    assert a.labels == b.labels == ("benign", "dos", "probe")
    assert (a + b).confusion.cells == ((1, 0, 0), (1, 0, 0), (0, 1, 0))


def test_a_label_that_labels_do_not_list_is_refused() -> None:
    with pytest.raises(
        LabelError, match="the data hold 'c', which labels= does not list: 'a', 'b'"
    ):
        counted(["a", "c"], y_pred=["a", "a"], labels=["a", "b"], positive="a")
    with pytest.raises(LabelError, match="the data hold 'c'"):
        counted(["a", "b"], y_pred=["a", "c"], labels=["a", "b"], positive="a")


def test_labels_of_another_kind_are_refused() -> None:
    with pytest.raises(LabelError, match=r"labels='0' is one of text.*numbers"):
        counted([0, 1], y_score=[0.1, 0.9], labels=["0", "1"])


# -- labels against decisions ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("truth", "said", "shown"),
    [
        (["1", "0"], [1, 0], "text ('0', '1') but decisions are numbers (0, 1)"),
        ([1, 0], ["1", "0"], "numbers (0, 1) but decisions are text ('0', '1')"),
        ([True, False], ["true", "false"], "booleans (False, True) but decisions are text"),
    ],
)
def test_labels_and_decisions_of_unlike_kinds_are_refused(
    truth: list[Any], said: list[Any], shown: str
) -> None:
    with pytest.raises(LabelError, match="written the same way in both") as refused:
        counted(truth, y_pred=said)
    assert shown in str(refused.value)


@pytest.mark.parametrize(
    ("truth", "said"),
    [([True, False], [1, 0]), ([1, 0], [True, False]), ([1.0, 0.0], [True, False])],
)
def test_booleans_beside_zeros_and_ones_are_numbers(truth: list[Any], said: list[Any]) -> None:
    tally = counted(truth, y_pred=said)
    assert tally.labels == ("0", "1")
    assert tally.confusion.cells == ((1, 0), (0, 1))


def test_labels_and_decisions_without_a_common_value_are_refused() -> None:
    with pytest.raises(LabelError, match=r"have no value in common.*spelling, case and blanks"):
        counted(["attack", "normal"], y_pred=["Attack", "Normal"])


def test_a_batch_of_errors_alone_is_counted() -> None:
    tally = counted(["attack", "attack"], y_pred=["normal", "normal"])
    assert tally.confusion.cells == ((0, 0), (2, 0))


def test_a_label_seen_only_in_decisions_is_a_class() -> None:
    tally = counted(["a", "b", "a"], y_pred=["a", "c", "b"])
    assert tally.labels == ("a", "b", "c")
    assert tally.positive is None
    assert tally.confusion.cells == ((1, 1, 0), (0, 0, 1), (0, 0, 0))


# -- more than two labels --------------------------------------------------------------------------

FAMILIES = ["normal", "dos", "probe", "dos", "normal", "worm"]


def test_a_positive_among_many_stands_against_the_rest() -> None:
    tally = counted(FAMILIES, y_score=[0.1, 0.9, 0.2, 0.8, 0.3, 0.4], positive="dos")
    assert tally.labels == ("not dos", "dos")
    assert tally.confusion.cells == ((4, 0), (0, 2))
    assert tally.slices == {}


def test_a_positive_number_among_many_is_not_named_after_its_opposite() -> None:
    tally = counted([0, 1, 2], y_pred=[0, 1, 1], positive=1)
    assert tally.labels == ("not 1", "1")
    assert tally.confusion.cells == ((1, 1), (0, 1))


def test_a_negative_makes_families_of_the_others() -> None:
    tally = counted(FAMILIES, y_score=[0.1, 0.9, 0.2, 0.8, 0.3, 0.4], negative="normal")
    assert tally.labels == ("normal", "not normal")
    assert tally.positive == "not normal"
    assert tally.confusion.rows == (2, 4)
    assert {value: table.cells for (_, value), table in tally.slices.items()} == {
        "normal": ((2, 0), (0, 0)),
        "dos": ((0, 0), (0, 2)),
        "probe": ((0, 0), (1, 0)),
        "worm": ((0, 0), (1, 0)),
    }
    assert {column for column, _ in tally.slices} == {"family"}


def test_decisions_that_name_a_family_are_alarms() -> None:
    said = ["normal", "dos", "dos", "normal", "worm", "worm"]
    tally = counted(FAMILIES, y_pred=said, negative="normal")
    assert tally.confusion.cells == ((1, 1), (1, 3))
    assert tally.slices["family", "probe"].cells == ((0, 0), (0, 1))


def test_a_negative_of_two_labels_makes_no_families() -> None:
    tally = counted(["normal", "dos"], y_score=[0.1, 0.9], negative="normal")
    assert tally.labels == ("normal", "dos")
    assert tally.slices == {}


def test_families_stand_beside_other_slices_and_give_way_to_a_column_of_their_name() -> None:
    rows = {"y_score": [0.1, 0.9, 0.2, 0.8, 0.3, 0.4], "negative": "normal"}
    site = ["x", "y"] * 3
    both = counted(FAMILIES, slices={"site": site}, **rows)
    assert {column for column, _ in both.slices} == {"family", "site"}
    own = counted(FAMILIES, slices={"family": site}, **rows)
    assert {value for _, value in own.slices} == {"x", "y"}


def test_many_labels_without_a_positive_are_classes() -> None:
    tally = counted(FAMILIES, y_pred=FAMILIES)
    assert tally.labels == ("dos", "normal", "probe", "worm")
    assert tally.positive is None
    assert tally.confusion.hits == (2, 2, 1, 1)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1, "1"), (1.0, "1"), (-1.0, "-1"), (-0.0, "0"), (True, "true"), (np.False_, "false"),
        ("007", "007"), (np.str_("x"), "x"), (np.uint8(7), "7"), (np.float32(3), "3"),
        (10**30, str(10**30)),
    ],
)  # fmt: skip
def test_a_label_as_text(value: Any, text: str) -> None:
    assert label_text(value) == text
    assert type(label_text(value)) is str


@given(threshold=st.one_of(FINITE, NARROW), score=NARROW)
def test_a_score_reaches_the_threshold_or_neither(threshold: float, score: float) -> None:
    for kind in (np.dtype(np.float32), np.dtype(np.float64)):
        least = least_reaching(threshold, kind)
        assert least.dtype == kind
        assert (kind.type(score) >= least) == (score >= threshold)


@given(threshold=FINITE)
def test_no_float_below_the_least_reaches_the_threshold(threshold: float) -> None:
    least = least_reaching(threshold, np.dtype(np.float32))
    with np.errstate(over="ignore"):
        below = np.nextafter(least, np.float32(-np.inf))
    assert float(below) < threshold <= float(least)


@pytest.mark.parametrize(
    ("threshold", "least"), [(1e300, np.inf), (-1e300, -3.4028234663852886e38)]
)
def test_thresholds_beyond_all_floats_of_32_bits_are_quiet(threshold: float, least: float) -> None:
    assert least_reaching([threshold, 0.5], np.dtype(np.float32)).tolist() == [least, 0.5]
