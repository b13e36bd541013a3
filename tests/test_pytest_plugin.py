"""A gate in a test fails with what somebody needs to know, and costs pytest nothing to have."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import assay
from assay.errors import InputError
from assay.pytest_plugin import assert_gate

TRUTH = ["attack", "normal"] * 200
GOOD = assay.evaluate(TRUTH, y_score=[0.9, 0.1] * 200)
HALF = assay.evaluate(TRUTH, y_score=[0.9, 0.1, 0.4, 0.2] * 100)

TESTS = """
import assay
from assay.pytest_plugin import assert_gate

TRUTH = ["attack", "normal"] * 200
HALF = assay.evaluate(TRUTH, y_score=[0.9, 0.1, 0.4, 0.2] * 100)

def test_kept():
    assert_gate("new(precision) >= 0.9", HALF)

def test_broken():
    assert_gate({"finds most": "new(recall) >= 0.9", "is precise": "new(precision) >= 0.9"}, HALF)

def test_by_fixture(assert_gate):
    assert_gate("gate.toml", HALF, baseline=HALF)

def test_refused(assert_gate):
    assert_gate("new(recal) >= 0.9", HALF)
"""


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What pytest prints of the tests above, and the properties of its JUnit report."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "test_model.py").write_text(TESTS)
    (folder / "gate.toml").write_text(
        '[[rule]]\nrule = "new-old(recall) >= 0.2"\nname = "better"\nreason = "or why change"\n'
    )
    # Only this plugin: others take seconds to load.
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "assay.pytest_plugin", "--junitxml=junit.xml"],
        cwd=folder,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    return done.stdout + (folder / "junit.xml").read_text()


def test_a_failure_shows_each_rule_its_value_and_why(said: str) -> None:
    for line in (
        "AssertionError: the gate says FAIL: 1 of 2 rules is broken and 1 is kept.",
        "FAIL      new(recall) >= 0.9",
        "          0.500 [0.431, 0.569]: the whole interval is below 0.9",
        "          (finds most)",
        "pass      new(precision) >= 0.9",
        "          1 [0.963, 1]: the whole interval is at least 0.9",
    ):
        assert f"E       {line}" in said


def test_no_line_of_ours_stands_in_the_traceback(said: str) -> None:
    assert "pytest_plugin.py" not in said
    assert "from_evaluation.py" not in said


def test_the_fixture_reads_files_and_leaves_values_in_junit(said: str) -> None:
    assert "          (better: or why change)" in said
    assert "undecided new-old(recall) >= 0.2" in said or "FAIL      new-old(recall)" in said
    assert 'name="assay: new-old(recall) &gt;= 0.2"' in said


def test_a_rule_that_is_wrong_says_where(said: str) -> None:
    assert "there is no measure 'recal'; did you mean recall" in said
    assert "3 failed, 1 passed" in said


# -- as a function ---------------------------------------------------------------------------------


def test_it_gives_the_gate_back() -> None:
    gate = assert_gate("new(recall) >= 0.9", GOOD)
    assert gate.passed
    assert assert_gate(gate) is gate


def test_undecided_fails_unless_allowed() -> None:
    rule = "new(recall) >= 0.5"
    with pytest.raises(AssertionError, match="UNDECIDED: 1 of 1 rule is undecided"):
        assert_gate(rule, HALF)
    assert assert_gate(rule, HALF, allow_undecided=True).outcome.value == "undecided"
    with pytest.raises(AssertionError, match="FAIL"):
        assert_gate("new(recall) >= 0.9", HALF, allow_undecided=True)


def test_a_baseline_is_compared() -> None:
    assert_gate("new-old(recall) >= 0.3", GOOD, baseline=HALF)
    with pytest.raises(AssertionError, match="note: the two models were evaluated apart"):
        assert_gate("new-old(recall) >= 0", HALF, baseline=GOOD)


def test_a_gate_that_matched_rows_is_taken_as_it_is() -> None:
    judged = assay.gate(
        TRUTH, new=[0.9, 0.1] * 200, old=[0.9, 0.6] * 200, rules="new-old(recall) > 0.1"
    )
    with pytest.raises(AssertionError, match="new-old"):
        assert_gate(judged)
    with pytest.raises(InputError, match="a gate that was judged, or rules"):
        assert_gate(judged, GOOD)


def test_what_to_judge_has_to_be_given() -> None:
    with pytest.raises(InputError, match=r"assert_gate\(rules, evaluation\)"):
        assert_gate("new(recall) >= 0.9")


# -- its cost --------------------------------------------------------------------------------------


def test_loading_it_imports_nothing_that_judges() -> None:
    code = (
        "import sys, pytest; before = set(sys.modules); import assay.pytest_plugin; "
        "print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) <= {"assay", "assay.errors", "assay.pytest_plugin"}


def test_the_entry_point_is_there() -> None:
    text = (Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8")
    assert tomllib.loads(text)["project"]["entry-points"]["pytest11"] == {
        "assay": "assay.pytest_plugin"
    }


@pytest.mark.parametrize("evaluation", [GOOD, HALF])
def test_a_text_is_no_flag(evaluation: assay.Evaluation) -> None:
    with pytest.raises(InputError, match="allow_undecided= is True or False; found 'no'"):
        assert_gate("new(recall) >= 0.5", evaluation, allow_undecided="no")  # type: ignore[arg-type]
