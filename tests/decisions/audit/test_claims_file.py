"""Claims files: what is read, and what is refused with which words."""

import io
import json
import sys
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.decisions.audit import audit, read_claims
from assay.decisions.audit.claims_file import KEYS, LARGEST_FILE, build
from assay.errors import InputError

FOREST = {"tn": 7743, "fp": 167, "fn": 324, "tp": 6635}

TOML = """
[[claim]]
name = "Random forest, test set"
source = "report, section 3"
positive = "attack"
negative = "normal"
confusion = { tn = 7743, fp = 167, fn = 324, tp = 6635 }
n = 14869
reported = { accuracy = "96.7%", "precision.normal" = 0.9598, "accuracy.ci" = ["95.80%", "97.60%"] }
folds = { accuracy = ["0.96", 0.970, "0.95"] }
aggregate = "pooled"
arithmetic = [ { expression = "6635*7743 - 167*324", reported = "51,324,897" } ]

[[claim]]
labels = ["A", "B", "C"]
matrix = [[45, 3, 2], [4, 38, 3], [1, 2, 52]]
"""


def claim(**keys):
    return build({"name": "x", **keys})


def refused(**keys) -> str:
    with pytest.raises(InputError) as error:
        claim(**keys)
    return str(error.value)


def refusal(call) -> str:
    """What a call is refused with, nothing if it is not; any other error is raised."""
    try:
        call()
    except InputError as error:
        return str(error)
    return ""


# -- files -----------------------------------------------------------------------------------------


def test_toml_keeps_the_digits_of_numbers(tmp_path) -> None:
    path = tmp_path / "claims.toml"
    path.write_text(TOML)
    first, second = read_claims(path)
    assert first.name == "Random forest, test set"
    assert first.source == "report, section 3"
    assert first.labels == ("normal", "attack")
    assert first.matrix.cells == ((7743, 167), (324, 6635))
    assert first.n.value == 14869
    assert first.reported["precision.normal"].unit == Fraction(1, 10**4)
    assert [end.text for end in first.reported["accuracy.ci"]] == ["95.80%", "97.60%"]
    assert [fold.unit for fold in first.folds["accuracy"]] == [
        Fraction(1, 100),
        Fraction(1, 1000),
        Fraction(1, 100),
    ]
    assert first.aggregate == "pooled"
    assert first.arithmetic[0].reported.value == 51324897
    assert first.file == str(path)
    assert second.name == "claim 2"
    assert second.labels == ("A", "B", "C")
    assert second.positive is None


def test_json_is_read_like_toml() -> None:
    text = (
        '{"claim": [{"confusion": {"tn": 1, "fp": 2, "fn": 3, "tp": 4}, "reported": {"f1": 0.60}}]}'
    )
    (parsed_claim,) = read_claims("claims.json", text=text)
    assert parsed_claim.reported["f1"].unit == Fraction(1, 100)
    assert parsed_claim.matrix.cells == ((1, 2), (3, 4))


@pytest.mark.parametrize("text", [TOML, "\ufeff" + TOML, '  {"claim": [{"name": "x"}]}'])
def test_the_format_is_told_by_the_content(text) -> None:
    assert read_claims("claims", text=text)


def test_standard_input_is_a_dash(monkeypatch) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(TOML.encode())))
    assert [c.file for c in read_claims("-")] == ["standard input"] * 2


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.toml", "", "found no claim; expected"),
        ("a.toml", "claim = 3", "found claim = the value 3"),
        ("a.toml", "claims = []", "unknown key 'claims'; did you mean claim?"),
        ("a.toml", "[[claim]\n", "no TOML that can be read"),
        ("a.toml", "[[claim]]\nname = 'a'\nname = 'b'", "no TOML that can be read"),
        ("a.json", "[1]", "found a list"),
        ("a.json", '{"claim": [3]}', "claim 1: found 3; expected a table"),
        ("a.json", '{"claim": [{"n": 1, "n": 2}]}', "the key 'n' stands twice"),
        ("a.json", '{"claim": [{"n": NaN}]}', "NaN is no number"),
        ("a.json", "{", "no JSON that can be read"),
        ("a.json", '{"claim":' + "[" * 100_000, "nested too deeply"),
        ("a.json", '{"claim": [{"n": ' + "9" * 5000 + "}]}", "no JSON that can be read"),
        ("a.toml", "[[claim]]\nn = " + "9" * 5000, "no TOML that can be read"),
        ("a.toml", b"\xff\xfe", "byte 1 is not UTF-8"),
        ("a.toml", " " * (LARGEST_FILE + 1), "more than 8 MB"),
    ],
)
def test_files_that_are_no_claims_are_refused(name, text, said) -> None:
    with pytest.raises(InputError) as error:
        read_claims(name, text=text)
    assert said in str(error.value)
    assert str(error.value).startswith(name)


def test_a_missing_file_and_a_folder_are_refused(tmp_path) -> None:
    with pytest.raises(InputError, match="there is no file"):
        read_claims(tmp_path / "none.toml")
    with pytest.raises(InputError, match="can't be read"):
        read_claims(tmp_path)


def test_an_error_names_file_claim_and_key() -> None:
    with pytest.raises(InputError) as error:
        read_claims("a.toml", text='[[claim]]\nname = "forest"\nconfusion = { tp = -1 }')
    assert str(error.value) == (
        "a.toml, claim 'forest': confusion.tp: found -1; expected a count, 0 or more"
    )


# -- counts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"confusion": {"TP": 1}}, "unknown key 'TP'; did you mean tp?"),
        ({"confusion": [1]}, "confusion: found a list of 1; expected a table"),
        ({"confusion": {"tp": 1.5}}, "confusion.tp: found 1.5; expected a count"),
        ({"confusion": {"tp": True}}, "confusion.tp: found true"),
        ({"confusion": {"tp": "many"}}, "confusion.tp: found 'many'"),
        ({"confusion": {"tp": 10**31}}, "above 10^30"),
        ({"confusion": {}, "matrix": [], "labels": ["a", "b"]}, "both given"),
        ({"matrix": [[1]]}, "a matrix needs its labels"),
        ({"matrix": [[1, 2]], "labels": ["a", "b"]}, "found 1 row of 2 cells; 2 labels need 2"),
        ({"matrix": [[1], [2]], "labels": ["a", "b"]}, "found 2 rows of 1 cells"),
        ({"matrix": [[1, 2], [3, -4]], "labels": ["a", "b"]}, "matrix, row 2, column 2: found -4"),
        ({"matrix": 3, "labels": ["a", "b"]}, "expected a list of rows"),
        ({"labels": ["a", "a"]}, "labels: 'a' stands there twice"),
        ({"labels": ["a"]}, "labels: found 1; expected 2"),
        ({"labels": ["a", 1.5]}, "labels: found 1.5; expected a label"),
        ({"orientation": "columns"}, "expected truth-rows or predicted-rows"),
        ({"orientation": "predicted-rows"}, "without a matrix"),
        ({"support": {"a": 1}}, "only the label 'a'"),
        ({"support": {"a": 1, "b": 2}}, "positive = 'a' or positive = 'b'"),
        ({"support": {"a": 1, "b": 2}, "positive": "c"}, "not among the labels 'a', 'b'"),
        ({"support": {"a": 1, "b": 2}, "labels": ["a", "c"]}, "support names 'a', 'b', but"),
        ({"matrix": [[1, 2], [3, 4]], "labels": ["a", "b"]}, "say positive = 'a' or"),
        ({"confusion": {}, "positive": "a", "negative": "a"}, "are both 'a'"),
        ({"confusion": {}, "labels": ["a", "b", "c"]}, "confusion has two labels"),
        ({"n": -3}, "n: found -3"),
        ({"n": "5%"}, "n: found 5%"),
        ({"train": {"x": 3}, "confusion": FOREST}, "train names 'x'"),
    ],
)
def test_counts_that_can_not_be_are_refused(keys, said) -> None:
    assert said in refused(**keys)


def test_a_matrix_of_predicted_rows_is_transposed() -> None:
    parsed_claim = claim(labels=["A", "B", "C"], matrix=[[1, 2, 3], [4, 5, 6], [7, 8, 9]])
    turned = claim(
        labels=["A", "B", "C"],
        matrix=[[1, 4, 7], [2, 5, 8], [3, 6, 9]],
        orientation="predicted-rows",
    )
    assert turned.matrix == parsed_claim.matrix


@pytest.mark.parametrize(
    "keys",
    [
        {"positive": "attack"},
        {"negative": "normal"},
        {},
    ],
)
def test_a_matrix_of_two_labels_has_the_negative_first(keys) -> None:
    parsed_claim = claim(labels=["attack", "normal"], matrix=[[6635, 324], [167, 7743]], **keys)
    assert parsed_claim.labels == ("normal", "attack")
    assert parsed_claim.positive == "attack"
    assert parsed_claim.matrix.cells == ((7743, 167), (324, 6635))
    assert bool(parsed_claim.notes) == (not keys)


def test_integer_and_boolean_labels_are_text() -> None:
    assert claim(labels=[0, 1], matrix=[[1, 2], [3, 4]]).labels == ("0", "1")
    assert claim(labels=[False, True], matrix=[[1, 2], [3, 4]]).labels == ("false", "true")
    assert claim(confusion=FOREST, positive=1).positive == "1"


def test_cells_may_carry_thousands_separators() -> None:
    assert claim(confusion={"tp": "6,635"}).cells == {"tp": 6635}


# -- labels that keys name -------------------------------------------------------------------------


def test_numbers_of_numpy_are_read_as_python_writes_them() -> None:
    of_numpy = {
        "confusion": {"tp": np.int64(5), "fp": np.uint8(1), "fn": 2, "tn": 3},
        "n": np.int32(11),
        "exhaustive": np.True_,
        "positive": np.int64(1),
        "reported": {"accuracy": np.float64(0.73), "recall": np.float32(0.71)},
    }
    plain = {
        "confusion": {"tp": 5, "fp": 1, "fn": 2, "tn": 3},
        "n": 11,
        "exhaustive": True,
        "positive": 1,
        "reported": {"accuracy": 0.73, "recall": 0.71},
    }
    assert build(of_numpy) == build(plain)
    assert refused(n=np.True_)
    assert refused(n=np.float64("nan"))
    assert refused(support={"a": np.float64(5.5)})


def test_a_second_label_in_keys_is_the_name_of_the_negative() -> None:
    parsed_claim = claim(confusion=FOREST, positive="attack", reported={"recall.normal": "0.98"})
    assert parsed_claim.labels == ("normal", "attack")
    assert parsed_claim.notes == ("'normal' was taken as the name of the negative label",)


def test_labels_of_cells_are_guessed_by_well_known_words() -> None:
    parsed_claim = claim(confusion=FOREST, reported={"recall.1": "0.95", "recall.0": "0.98"})
    assert parsed_claim.labels == ("0", "1")
    assert claim(confusion=FOREST, reported={"recall.spam": "1"}).positive == "spam"
    assert claim(confusion=FOREST).labels == ("negative", "positive")
    assert "which one is the alarm" in refused(
        confusion=FOREST, reported={"recall.x": "1", "recall.y": "1"}
    )


def test_keys_that_name_unknown_labels_are_refused() -> None:
    said = refused(confusion=FOREST, positive="a", negative="b", reported={"f1.c": "1"})
    assert "keys name 'c'" in said
    said = refused(labels=["A", "B", "C"], matrix=[[1, 2, 3]] * 3, reported={"f1.marco": "0.5"})
    assert "did you mean 'macro'?" in said


def test_a_positive_among_many_classes_is_passed_over_and_noted() -> None:
    parsed_claim = claim(labels=["A", "B", "C"], matrix=[[1, 2, 3]] * 3, positive="A")
    assert parsed_claim.positive is None
    assert "passed over" in parsed_claim.notes[0]


# -- numbers ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"reported": {"acuracy": "1"}}, "there is no measure 'acuracy'; did you mean accuracy"),
        ({"reported": {"accuracy": "high"}}, "reported 'accuracy': 'high' is not a printed number"),
        ({"reported": {"accuracy": ["1", "2"]}}, "found a list of 2; expected a number"),
        ({"reported": {"accuracy": True}}, "found true; expected a number"),
        ({"reported": {"accuracy.ci": "0.9"}}, "expected both ends"),
        ({"reported": {"accuracy.ci": ["1", "2", "3"]}}, "found a list of 3; expected both ends"),
        ({"reported": {"f1." + "x" * 300: "1"}}, "longer than 200"),
        ({"reported": {"accuracy": 10**5000}}, "too many digits"),
        ({"reported": 3}, "reported: found 3; expected a table"),
        ({"folds": {"accuracy": "0.9"}}, "folds.accuracy: found '0.9'; expected a list"),
        ({"folds": {"accuracy": []}}, "expected a list"),
        ({"folds": {"accuracy.sd": ["1"]}}, "is a statistic"),
        ({"aggregate": "mean"}, "expected pooled or fold-mean"),
        ({"arithmetic": ["1+1"]}, "arithmetic 1: found '1+1'; expected { expression"),
        ({"arithmetic": [{"expression": "1"}]}, "reported is missing"),
        ({"arithmetic": [{"expression": "1", "reported": "1", "x": 1}]}, "unknown key 'x'"),
        ({"arithmetic": [{"expression": "1+", "reported": "1"}]}, "ends too early"),
        ({"interval": "magic"}, "interval: found 'magic'; expected wald, wilson"),
        ({"level": "5%"}, "level: found 5%"),
        ({"source": 3}, "source: found 3; expected a text"),
        ({"reportd": {}}, "unknown key 'reportd'; did you mean reported?"),
    ],
)
def test_numbers_that_can_not_be_read_are_refused(keys, said) -> None:
    assert said in refused(**keys)


def test_methods_and_levels_are_read_in_the_usual_spellings() -> None:
    assert claim(interval="Clopper Pearson").interval == "clopper-pearson"
    assert claim(interval="exact").interval == "clopper-pearson"
    assert claim(interval="wald-cc").interval == "wald-cc"
    for level in (95, "95%", "0.95"):
        assert claim(level=level).level == pytest.approx(0.95)


# -- hostile ---------------------------------------------------------------------------------------

names = st.sampled_from(
    ["accuracy", "f1.macro", "precision.A", "accuracy.ci", "mcc.se", "auc", "x"]
)
scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["0.5", "97%", "96.7", "A", "B", "fold-mean", "wilson", "-1"])
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=6) | names | st.sampled_from(["tp", "fn"]), inner)
    ),
    max_leaves=8,
)
tables = st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=5), values, max_size=6)


@given(tables)
def test_any_table_is_audited_or_refused(table) -> None:
    said = refusal(lambda: audit(table))
    assert not said or said.startswith("claim ")


@given(st.binary(max_size=200) | values.map(lambda v: json.dumps(v, default=str).encode()))
def test_any_bytes_are_read_or_refused(content) -> None:
    for name in ("a.json", "a.toml", "a"):
        said = refusal(lambda name=name: read_claims(name, text=content))
        assert not said or said.startswith(name)
