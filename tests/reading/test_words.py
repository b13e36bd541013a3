"""Labels and decisions as people write them."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InputError, LabelError
from assay.reading import words

SIDES = (
    ("Y", "N"),
    ("yes", "no"),
    ("Ja", "Nein"),
    ("T", "F"),
    ("1.0", "0.0"),
    ("TRUE", "FALSE"),
    ("unsafe", "safe"),
    ("malicious", "benign"),
    ("DDoS", "BENIGN"),
    ("2:anomaly", "1:normal"),
    ("block", "allow"),
    ("TP", "FP"),
    ("True positive", "Informational, expected activity"),
    ("USEFUL", "NOT_USEFUL"),
    ("1", "0"),
    ("True Positive", "False-Positive, Tuned"),
    ("WAHR", "FALSCH"),
    ("sí", "no"),
    ("True Positive - Suspicious Activity", "Benign Positive - Suspicious But Expected"),
)


@pytest.mark.parametrize(("alarm", "harmless"), SIDES)
def test_the_alarm_of_two_words_is_known(alarm: str, harmless: str) -> None:
    assert words.positive_of([alarm, harmless]) == alarm
    assert words.positive_of([harmless, alarm]) == alarm


@pytest.mark.parametrize(
    "pair",
    [
        ("-1", "1"),
        ("0", "2"),
        ("no", "maybe"),
        ("x", "y"),
        ("safe", "benign"),
        ("Normal", "normal"),
    ],
)
def test_the_alarm_of_other_words_is_not_guessed(pair: tuple[str, str]) -> None:
    assert words.positive_of(pair) is None


def test_the_name_of_a_column_can_say_that_yes_is_harmless() -> None:
    assert words.positive_of(["yes", "no"], "is_safe") is None
    assert words.positive_of(["yes", "no"], "is_unsafe") == "yes"
    assert words.positive_of(["attack", "benign"], "safe") == "attack"
    with pytest.raises(LabelError, match="alarm='no'"):
        words.match_decisions(["yes", "no"], ["yes", "no"], column="allowed")
    assert "positive='no'" in str(words.positive_unknown(["yes", "no"], "is_safe"))


def test_more_labels_have_no_alarm_unless_they_are_verdicts_on_alerts() -> None:
    assert words.positive_of(["BENIGN", "DDoS", "PortScan"]) is None
    assert words.positive_of(["FP", "Undetermined", "TP", "BP"]) == "TP"


def test_both_conventions_of_signs_are_shown() -> None:
    assert "positive=-1" in str(words.positive_unknown(["-1", "1"]))
    assert "'x' and 'y'" in str(words.positive_unknown(["x", "y"]))


MATCHES = (
    (["unsafe", "safe"], ["block", "allow", "refuse"], ["unsafe", "safe", "unsafe"]),
    (["Y", "N"], ["1", "0"], ["Y", "N"]),
    (["malicious", "benign"], ["True", "False"], ["malicious", "benign"]),
    (["attack", "normal"], ["Attack", "NORMAL"], ["attack", "normal"]),
    (["1", "0"], ["1.0", "0.0"], ["1", "0"]),
    (["TruePositive", "FalsePositive"], ["block", "allow"], ["TruePositive", "FalsePositive"]),
)


@pytest.mark.parametrize(("labels", "decisions", "meant"), MATCHES)
def test_two_vocabularies_are_matched(
    labels: list[str], decisions: list[str], meant: list[str]
) -> None:
    matched = words.match_decisions(labels, decisions)
    assert [matched.labels[name] for name in decisions] == meant
    assert matched.note


def test_any_two_labels_match_booleans_where_the_alarm_was_given() -> None:
    matched = words.match_decisions(["x", "y"], ["true", "false"], positive="y")
    assert matched.labels == {"true": "y", "false": "x"}


def test_families_match_booleans_where_the_harmless_label_was_given() -> None:
    labels = ["BENIGN", "DDoS", "PortScan"]
    sides = {"positive": "not BENIGN", "negative": "BENIGN"}
    matched = words.match_decisions(labels, ["1", "0"], **sides)
    assert matched.labels == {"1": "not BENIGN", "0": "BENIGN"}


def test_the_decisions_that_are_alarms_can_be_given() -> None:
    matched = words.match_decisions(["bad", "good"], ["a", "b", "c"], alarm=["a", "C"])
    assert matched.labels == {"a": "bad", "b": "good", "c": "bad"}
    with pytest.raises(LabelError, match="no decision is 'd'; the decisions are 'a', 'b'"):
        words.match_decisions(["bad", "good"], ["a", "b"], alarm=["d"])


def test_what_can_not_be_matched_is_refused_with_both_vocabularies() -> None:
    with pytest.raises(LabelError, match=r"labels \('x', 'y'\) and decisions \('a', 'b'\)"):
        words.match_decisions(["x", "y"], ["a", "b"])


def test_one_label_that_occurs_only_among_decisions_stays() -> None:
    matched = words.match_decisions(["a", "b"], ["a", "b", "c"])
    assert matched.labels == {"a": "a", "b": "b", "c": "c"}
    assert not matched.note


@given(st.lists(st.sampled_from([name for pair in SIDES for name in pair]), max_size=4))
def test_matching_the_same_words_changes_nothing(names: list[str]) -> None:
    assert words.match_decisions(names, names).labels == {name: name for name in names}


@given(st.permutations(["Critical", "High", "Medium", "Low"]))
def test_an_order_ranks_its_words(order: list[str]) -> None:
    ranks = words.parse_order(" > ".join(order))
    read = pl.DataFrame({"a": order}).select(words.rank_column("a", ranks)).to_series()
    assert read.to_list() == [4, 3, 2, 1]


@pytest.mark.parametrize("order", ["High", "High > high", "High > > Low", ""])
def test_an_order_that_is_none_is_refused(order: str) -> None:
    with pytest.raises(InputError, match="highest first"):
        words.parse_order(order)


def test_severities_have_ranks_and_other_words_none() -> None:
    read = pl.DataFrame({"a": ["Info", "low ", "CRITICAL", "?", None]}).select(
        words.rank_column("a")
    )
    assert read["a"].to_list() == [1, 2, 5, None, None]


def test_labels_that_look_alike_are_told() -> None:
    assert "'dos', 'DoS'" in words.lookalikes(["dos", "DoS", "scan"])[0]
    assert not words.lookalikes(["dos", "scan"])


@pytest.mark.parametrize(
    ("values", "read"),
    [
        (["1.0", "0"], ["1", "0"]),
        (["007", "7"], ["007", "7"]),
        (["1.0", "1.5"], ["1.0", "1.5"]),
        ([1.0, 0.0], ["1", "0"]),
        ([True, False], ["true", "false"]),
        (["NA", "None"], ["NA", "None"]),
        (["TP", "Not set"], ["TP", None]),
        (["open", "closed"], ["open", "closed"]),
    ],
)
def test_labels_are_read_as_text(values: list[object], read: list[str | None]) -> None:
    frame = pl.DataFrame({"a": values})
    names = frame["a"].cast(pl.String).to_list()
    assert frame.select(words.label_column("a", frame["a"].dtype, names))["a"].to_list() == read
