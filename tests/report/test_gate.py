"""The document of a gate and its JUnit XML. After a wanted change, renew its texts with

RENEW_GOLDEN=1 python -m pytest tests/report/test_gate.py
"""

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from xml.etree import ElementTree as ET

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay import Estimate, Gate, gate
from assay.decisions.gate_rules import JudgedRule
from assay.decisions.rule_grammar import parse_rule
from assay.report import FORMATS, Provenance, document_of, draw
from assay.report.document import schema_of
from assay.report.gate import BROKEN_OFF, broken_off, junit, summary

from .goldens import checked
from .hostile import NAMES

GOLDEN = Path(__file__).parent / "golden_gate"
MADE = Provenance("0.1.0", "assay gate new.csv", (("new.csv", 4096, "0f" * 32),))
ROWS = 300
RULES = (
    parse_rule("new(precision@base-rate=0.001) >= 0.5", name="alarms", why="somebody reads them"),
    parse_rule("new(recall) >= 0.8"),
    parse_rule("new-old(recall@max-fpr=0.1,family=*) >= -0.3"),
    parse_rule("new(alerts_per_day@volume=1e6) <= 9e5"),
    parse_rule("new(ece) <= 0.5"),
    parse_rule("new(precision@threshold=7) >= 0.5"),
)


@cache
def example() -> Gate:
    """A gate of rows that need no generator, so that they are the same everywhere."""
    rows = range(ROWS)
    truth = ["attack" if i % 3 == 0 else "normal" for i in rows]
    new, old = (
        [round(lift * (i % 3 == 0) + (i * step % 61) / 100, 2) for i in rows]
        for lift, step in ((0.4, 37), (0.3, 41))
    )
    family = [("dos", "scan")[i % 2] if i % 3 == 0 else "none" for i in rows]
    return gate(truth, new=new, old=old, families=family, rules=RULES, seed=7)


def made(*outcomes: str, name: str | None = None, family: str | None = None) -> Gate:
    """A gate whose rules came out so."""
    rule = parse_rule("new(recall@family=*) >= 0.5", name=name)
    rule = rule.of_family("dos" if family is None else family)
    judged = tuple(
        JudgedRule(rule, type(rule.outcome(0, 1))(outcome), Estimate(0.5, 0.4, 0.6), "so it is")
        for outcome in outcomes
    )
    return Gate(
        judged, 0.95, 0.95, False, 1000, 42, ("normal", "attack"), "attack",
        {"rows": 10, "positives": 4, "negatives": 6},
    )  # fmt: skip


# -- the document ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "face", "width"),
    [
        ("gate_100.txt", "terminal", 100),
        ("gate_50.txt", "terminal", 50),
        ("gate.md", "markdown", None),
        ("gate.tex", "latex", None),
    ],
)
def test_a_gate_looks_as_it_did(name: str, face: str, width: int | None) -> None:
    checked(GOLDEN / name, draw(document_of(example(), provenance=MADE), face, width=width))


def test_the_json_document_keeps_the_contract_and_its_schema() -> None:
    plain = json.loads(draw(document_of(example()), "json"))
    jsonschema.validate(plain, schema_of("assay.gate/1"))
    assert plain["schema"] == "assay.gate/1"
    assert plain["outcome"] == "fail"
    for rule in plain["rules"]:
        assert list(rule)[:6] == ["rule", "outcome", "value", "low", "high", "reason"]
    assert [rule["outcome"] for rule in plain["rules"]] == [
        "fail", "undecided", "pass", "pass", "pass", "undecided", "undecided",
    ]  # fmt: skip
    undefined = plain["rules"][-1]
    assert (undefined["value"], undefined["low"], undefined["high"]) == (None, None, None)
    assert undefined["reason"].startswith("undefined: nothing was flagged")


@pytest.mark.parametrize("key", ["schema", "outcome", "rules"])
def test_the_schema_asks_for_what_the_contract_names(key: str) -> None:
    plain = document_of(example()).plain
    without = {name: value for name, value in plain.items() if name != key}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(without, schema_of("assay.gate/1"))


def test_csv_has_a_row_a_rule() -> None:
    text = draw(document_of(example()), "csv")
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert len(rows) == len(example().rules)
    assert rows[2]["family"] == "dos"
    assert float(rows[2]["threshold_new"]) > 0


def test_broken_rules_come_first_and_the_rest_is_folded() -> None:
    text = draw(document_of(example(), provenance=MADE), "markdown")
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    assert [line.split("|")[1].strip() for line in lines[:5]] == [
        "outcome", "---", "FAIL", "undecided", "undecided",
    ]  # fmt: skip
    assert text.splitlines()[2].startswith("**FAIL: 1 of 7 rules is broken")
    assert text.count("<details>") == text.count("</details>") == 2
    assert text.index("<details>") > text.index("| pass |")
    assert "Made by assay 0.1.0, `assay gate new.csv`" in text


@pytest.mark.parametrize(
    ("outcomes", "said"),
    [
        (["pass"], "1 of 1 rule is kept."),
        (["fail"], "1 of 1 rule is broken."),
        (["pass", "pass"], "all 2 rules are kept."),
        (["undecided", "undecided"], "all 2 rules are undecided."),
        (["pass", "fail", "pass"], "1 of 3 rules is broken and 2 are kept."),
        (["pass", "fail", "undecided"], "1 of 3 rules is broken, 1 is undecided and 1 is kept."),
    ],
)
def test_the_summary_counts_the_rules(outcomes: Sequence[str], said: str) -> None:
    assert summary(made(*outcomes)) == said


def test_a_level_that_is_nearly_one_does_not_read_as_one() -> None:
    text = draw(document_of(replace(made("pass"), rule_level=1 - 1e-9)), "markdown")
    assert "of 99.9999999%." in text
    assert "100%" not in text


def test_joint_rules_say_so() -> None:
    text = draw(document_of(gate([1, 0] * 20, new=[0.9, 0.1] * 20, joint=True, rules=[
        "new(f1) >= 0.5", "new(recall) >= 0.5"])), "markdown")  # fmt: skip
    assert "all 2 intervals hold at once with 95%, by Bonferroni" in text
    assert "of 97.5%" in text


@pytest.mark.sampled(60)
@pytest.mark.parametrize("name", NAMES)
def test_no_name_breaks_a_face_or_the_xml(name: str) -> None:
    judgement = made("fail", "undecided", name=name, family=name)
    for face in FORMATS:
        text = draw(document_of(judgement), face)
        assert "<script>alert(1)</script>" not in text or face in ("json", "csv", "terminal")
    assert cases(junit(judgement))


# -- JUnit -----------------------------------------------------------------------------------------


def suite_of(text: str) -> ET.Element:
    """The one suite of a report in the usual form."""
    root = ET.fromstring(text.encode())
    assert root.tag == "testsuites"
    (suite,) = root
    assert suite.tag == "testsuite"
    for element in (root, suite):
        assert set(element.attrib) == {"name", "tests", "failures", "errors", "skipped", "time"}
        assert all(element.get(key).isdecimal() for key in ("tests", "failures", "errors"))
        assert float(element.get("time")) >= 0
    suites = list(suite)
    assert len(suites) == int(suite.get("tests"))
    for tag, key in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
        assert len(suite.findall(f"testcase/{tag}")) == int(suite.get(key))
    return suite


def cases(text: str) -> list[ET.Element]:
    elements = list(suite_of(text))
    for case in elements:
        assert case.tag == "testcase"
        assert set(case.attrib) == {"classname", "name", "time"}
        assert {child.tag for child in case} <= {"failure", "error", "skipped", "system-out"}
    return elements


def test_junit_has_a_case_a_rule() -> None:
    entries = cases(junit(example(), seconds=1.25))
    assert [case.get("name") for case in entries][:2] == ["alarms", "new(recall) >= 0.8"]
    failed = entries[0].find("failure")
    assert failed.get("type") == "fail"
    assert failed.get("message").endswith("the whole interval is below 0.5")
    assert entries[4].find("failure") is None
    assert 'time="1.250"' in junit(example(), seconds=1.25)


def test_an_undecided_rule_fails_unless_it_is_allowed() -> None:
    gate_ = made("pass", "undecided", "fail")
    strict, lenient = suite_of(junit(gate_)), suite_of(junit(replace(gate_, allow_undecided=True)))
    assert (strict.get("failures"), strict.get("skipped")) == ("2", "0")
    assert (lenient.get("failures"), lenient.get("skipped")) == ("1", "1")
    assert strict.find("testcase/failure").get("type") == "undecided"
    assert lenient.find("testcase/skipped").get("message").startswith("undecided: ")


def test_equal_rules_have_names_of_their_own() -> None:
    names = [case.get("name") for case in cases(junit(made("pass", "pass", "pass")))]
    assert len(set(names)) == 3
    assert names[1] == f"{names[0]} (2)"


def test_a_run_that_broke_off_is_an_error() -> None:
    (case,) = cases(broken_off())
    assert case.find("error").get("message") == BROKEN_OFF


@given(st.text(min_size=1, max_size=30))
def test_any_name_stands_in_xml(name: str) -> None:
    entries = cases(junit(made("fail", name=name, family=name)))
    assert len(entries) == 1


def test_control_characters_are_shown_as_escapes() -> None:
    (case,) = cases(junit(made("fail", family="a\x00b\x1b[31m\ud800\ufffe]]>")))
    assert "a\\x00b\\x1b[31m\\ud800\\ufffe]]>" in case.get("name").replace('"', "")
