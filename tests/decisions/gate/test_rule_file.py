"""Rules from files: TOML and plain text, and what is said of files that are neither."""

from dataclasses import replace
from pathlib import Path

import pytest

from assay.decisions.rule_grammar import parse_rule, parsed_rules, read_rules
from assay.errors import InputError

EXAMPLE = Path(__file__).resolve().parents[3] / "examples/gate.toml"


def test_the_example_file_is_read() -> None:
    rules = read_rules(EXAMPLE)
    assert len(rules) >= 3
    assert all(rule.name and rule.why for rule in rules)


def test_toml_holds_a_list_and_tables(tmp_path: Path) -> None:
    path = tmp_path / "gate.toml"
    path.write_text(
        'rules = ["new(f1) >= 0.5", "new-old(f1) >= 0"]\n'
        '[[rule]]\nname = "alarms"\nrule = "new(precision) >= 90%"\nreason = "we read them all"\n'
    )
    rules = read_rules(path)
    assert [rule.text for rule in rules] == [
        "new(f1) >= 0.5",
        "new-old(f1) >= 0",
        "new(precision) >= 90%",
    ]
    assert (rules[2].name, rules[2].why) == ("alarms", "we read them all")
    assert (rules[0].name, rules[0].why) == (None, None)


def test_text_holds_a_rule_a_line_and_comments(tmp_path: Path) -> None:
    path = tmp_path / "gate.rules"
    path.write_text(
        "\ufeff# what must hold\n\nnew(f1) >= 0.5   # for now\r\n"
        'new(recall@family="a # b") >= 0.5 # quoted\n'
        "new(recall@family=\"it's\") >= 0.5 # another's\n",
        "utf-8",
    )
    rules = read_rules(path)
    assert rules[0].text == "new(f1) >= 0.5"
    assert [rule.family for rule in rules] == [None, "a # b", "it's"]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("gate.toml", "rules = [", "this is no TOML"),
        ("gate.toml", "", "there is no rule in it"),
        ("gate.toml", 'rules = "new(f1) >= 0"', "rules is a list"),
        ("gate.toml", "rules = [3]", "rule 1: a rule is text"),
        ("gate.toml", 'rules = ["new(f1) >= 0", "new(f) >= 0"]', "rule 2: the rule 'new(f) >= 0'"),
        ("gate.toml", 'rule = ["new(f1) >= 0"]', "expected a table [[rule]]"),
        ("gate.toml", '[rule]\nrule = "new(f1) >= 0"', "rule is a list"),
        ("gate.toml", '[[rule]]\nname = "x"', "rule 1: there is no rule in it"),
        ("gate.toml", '[[rule]]\nrule = "new(f1) >= 0"\nname = 3', "name is text; found 3"),
        ("gate.toml", '[[rule]]\nrules = "new(f1) >= 0"', "'rules' is not read"),
        ("gate.toml", "limit = 3", "'limit' is not read; there are rules, rule"),
        ("gate.txt", "# nothing\n\n", "there is no rule in it"),
        ("gate.txt", "new(f1) >= 0\n\nnew(f1) > x\n", "gate.txt, line 3: the rule"),
    ],
)
def test_a_malformed_file_is_told_by_its_name_and_place(
    name: str, text: str, said: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(InputError) as refused:
        read_rules(path)
    assert str(refused.value).startswith(str(path))
    assert said in str(refused.value)


def test_a_file_that_is_not_there_is_refused_with_its_name(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"absent\.toml can't be read: No such file"):
        read_rules(tmp_path / "absent.toml")


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "gate.txt"
    path.write_bytes(b"new(f1) >= 0\n\xff\xfe")
    with pytest.raises(InputError, match="UTF-8 text; byte 13 is not"):
        read_rules(path)


# -- in any form -----------------------------------------------------------------------------------


def test_rules_come_as_texts_files_tables_and_mixtures(tmp_path: Path) -> None:
    file = tmp_path / "gate.toml"
    file.write_text('rules = ["new(f1) > 0.5"]\n')
    rule = parse_rule("new(f1) > 0.5")
    unwritten = replace(rule, text="")
    for given in (
        "new(f1) > 0.5",
        rule,
        [rule],
        unwritten,
        file,
        str(file),
        {"rules": [rule.text]},
    ):
        assert [each.text for each in parsed_rules(given)] == [rule.text]
    mixed = parsed_rules([rule, {"named": "new(mcc) > 0"}, file])
    assert [(each.text, each.name) for each in mixed] == [
        ("new(f1) > 0.5", None),
        ("new(mcc) > 0", "named"),
        ("new(f1) > 0.5", None),
    ]


def test_one_rule_may_be_a_mapping_with_its_name_and_reason() -> None:
    (rule,) = parsed_rules({"rule": "new(f1) > 0.5", "name": "good", "reason": "since"})
    assert (rule.name, rule.why) == ("good", "since")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([], "needs a rule"),
        (3, "found int"),
        ({"precision": ">= 0.9"}, r"rules\['precision'\]: the rule '>= 0.9' is wrong"),
        ({"rules": "new(f1) > 0.5"}, "rules is a list"),
        ({"rule": "new(f1) > 0.5", "why": "typed wrong"}, "rule"),
        ("nowhere.toml", "nowhere.toml can't be read"),
        ("precision >= 0.9", r"expected new\(...\)"),
    ],
)
def test_what_is_no_rule_says_so(given: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parsed_rules(given)  # type: ignore[arg-type]
