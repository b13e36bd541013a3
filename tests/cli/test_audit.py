"""``assay audit``: claims files from the command line."""

import json
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest

from assay.cli.audit import EXAMPLES, command
from assay.decisions.audit.claim import TEMPLATES
from assay.decisions.audit.reading import KINDS, ROWS
from assay.sources.columns import ORIENTATIONS

CLAIMS = Path(__file__).resolve().parents[2] / "examples/claims"
RIGHT = """
[[claim]]
name = "a detector"
positive = "attack"
confusion = { tn = 90, fp = 10, fn = 5, tp = 95 }
reported = { accuracy = "92.5%", recall = "0.95" }
"""
REPORT = """
              precision    recall  f1-score   support

      normal       0.96      0.98      0.97      7910
      attack       0.98      0.95      0.96      6959

    accuracy                           0.97     14869
   macro avg       0.97      0.97      0.97     14869
weighted avg       0.97      0.97      0.97     14869
"""
WRONG = RIGHT.replace("92.5%", "91.5%")


@pytest.fixture
def right(tmp_path: Path) -> Path:
    path = tmp_path / "right.toml"
    path.write_text(RIGHT, "utf-8")
    return path


@pytest.fixture
def wrong(tmp_path: Path) -> Path:
    path = tmp_path / "wrong.toml"
    path.write_text(WRONG, "utf-8")
    return path


def test_numbers_that_can_be_right_end_with_0(cli: Callable[..., Any], right: Path) -> None:
    outcome = cli("audit", right)
    assert (outcome.code, outcome.err) == (0, "")
    assert "Nothing contradicts these 2 numbers." in outcome.out


@pytest.mark.parametrize(
    "claim",
    [
        "confusion = { tn = 10, fp = 1, fn = 2, tp = 5 }",
        "reported = {}",
        'reported = { accuracy = "0.9" }',
    ],
)
def test_a_claim_of_which_nothing_can_be_judged_is_neither_right_nor_wrong(
    cli: Callable[..., Any], tmp_path: Path, claim: str
) -> None:
    path = tmp_path / "claims.toml"
    path.write_text(f'[[claim]]\nname = "x"\n{claim}\n')
    outcome = cli("audit", path, "--format", "json")
    assert outcome.code == 0
    assert json.loads(outcome.out)["claims"][0]["verdict"] == "undetermined"
    assert "be judged, which says neither yes nor no" in outcome.err
    shown = cli("audit", path)
    assert "be judged, which says neither yes nor no" in " ".join(shown.out.split())
    assert shown.err == ""


def test_a_number_that_cannot_be_right_ends_with_1(cli: Callable[..., Any], wrong: Path) -> None:
    outcome = cli("audit", wrong)
    assert (outcome.code, outcome.err) == (1, "")
    assert "1 of 2 numbers can't be right." in outcome.out


@pytest.mark.parametrize("face", ["json", "csv", "markdown", "latex", "html"])
def test_every_format_is_written_also_when_the_answer_is_no(
    cli: Callable[..., Any], wrong: Path, tmp_path: Path, face: str
) -> None:
    out = tmp_path / "report"
    outcome = cli("audit", wrong, "--format", face, "--out", out, "--quiet")
    assert (outcome.code, outcome.out) == (1, "")
    assert "accuracy" in out.read_text("utf-8")


def test_json_is_one_document(cli: Callable[..., Any], wrong: Path, right: Path) -> None:
    plain = json.loads(cli("audit", wrong, right, "--format", "json").out)
    assert plain["schema"] == "assay.audit/1"
    assert [claim["verdict"] for claim in plain["claims"]] == ["inconsistent", "consistent"]


def test_json_claims_are_read(cli: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "claims.json"
    claim = {
        "name": "a",
        "positive": "attack",
        "confusion": {"tn": 90, "fp": 10, "fn": 5, "tp": 95},
        "reported": {"accuracy": "92.5%"},
    }
    path.write_text(json.dumps({"claim": [claim]}), "utf-8")
    assert cli("audit", path).code == 0


def test_claims_come_from_standard_input(shell: Callable[..., Any]) -> None:
    outcome = shell("audit", "-", "--input-format", "toml", input=WRONG.encode(), stdin=None)
    assert outcome.code == 1


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "claim"),
        ("not toml [", "line 1"),
        (RIGHT.replace("tp = 95", "tp = -95"), "tp"),
        (RIGHT.replace("tp = 95", 'tp = "x"'), "tp"),
        (RIGHT.replace("recall =", "recal ="), "recall"),
        (RIGHT.replace('"0.95"', '"about a half"'), "about a half"),
        (RIGHT.replace("positive =", "positve ="), "positive"),
    ],
)
def test_malformed_claims_are_refused_with_their_place(
    cli: Callable[..., Any], tmp_path: Path, text: str, told: str
) -> None:
    path = tmp_path / "claims.toml"
    path.write_text(text, "utf-8")
    outcome = cli("audit", path)
    assert (outcome.code, outcome.out) == (3, "")
    assert "claims.toml" in outcome.err
    assert told in outcome.err
    assert "Traceback" not in outcome.err


def test_missing_file_is_refused(cli: Callable[..., Any], tmp_path: Path) -> None:
    outcome = cli("audit", tmp_path / "none.toml")
    assert outcome.code == 3
    assert "none.toml" in outcome.err


def test_report_never_replaces_its_claims(cli: Callable[..., Any], wrong: Path) -> None:
    outcome = cli("audit", wrong, "--out", wrong, "--format", "json")
    assert outcome.code == 2
    assert wrong.read_text("utf-8") == WRONG


def test_claims_of_the_documents_are_audited_at_once(cli: Callable[..., Any]) -> None:
    outcome = cli("audit", *sorted(CLAIMS.glob("*.toml")), "--format", "json")
    assert outcome.code == 1
    assert len(json.loads(outcome.out)["claims"]) > 20


@pytest.mark.slow
def test_examples_of_the_help_parse(
    cli: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "claims"
    folder.mkdir()
    for name in ("paper.toml", "claims/one.toml"):
        (tmp_path / name).write_text(RIGHT, "utf-8")
    claim = {"name": "a", "support": {"x": 1, "y": 2}, "positive": "x", "reported": {}}
    (tmp_path / "paper.json").write_text(json.dumps({"claim": [claim]}), "utf-8")
    table = "Model,Accuracy,Recall\nforest,0.967,0.953\n"
    (tmp_path / "results.csv").write_text(table, "utf-8")
    rows = table.replace(",", " & ").replace("\n", " \\\\\n")
    (tmp_path / "results.tex").write_text(
        f"\\begin{{tabular}}{{lrr}}\n{rows}\\end{{tabular}}", "utf-8"
    )
    (tmp_path / "matrix.txt").write_text("[[7743  167]\n [ 324 6635]]\n", "utf-8")
    (tmp_path / "report.txt").write_text(REPORT, "utf-8")
    for _, line in EXAMPLES:
        assert "assay audit" in line
        if not set(line) & set("|>*"):
            assert cli(*shlex.split(line)[1:]).code == 0
            continue
        # What a shell does is left to one.
        done = subprocess.run(
            ["bash", "-c", line.replace("assay", f"{shlex.quote(_python())} -m assay")],
            cwd=tmp_path,
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, (line, done.stderr.decode())


def _python() -> str:
    import sys

    return sys.executable


def test_a_template_is_written_and_nothing_else(cli: Callable[..., Any], tmp_path: Path) -> None:
    outcome = cli("audit", "--template")
    assert (outcome.code, outcome.err) == (0, "")
    assert "[[claim]]" in outcome.out
    out = tmp_path / "claims.toml"
    assert cli("audit", "--template", "table", "--out", out, "--quiet").code == 0
    assert "[shared]" in out.read_text("utf-8")
    assert cli("audit", "--template", "table", "--format", "json").code == 2
    assert cli("audit").code == 2


def test_options_give_what_all_rows_share(cli: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("Model,Recall (attack),FPR (attack),Precision (attack)\na,0.90,0.010,0.99\n")
    shared = ("--positive", "attack", "--support", "normal=900", "--support", "attack=100")
    assert cli("audit", path).code == 0
    assert cli("audit", path, *shared).code == 1
    assert cli("audit", path, "--support", "normal").code == 2
    assert cli("audit", path, "--support", "normal=many").code == 3


def test_a_refusal_names_the_option_that_then_works(
    cli: Callable[..., Any], tmp_path: Path
) -> None:
    path = tmp_path / "m.txt"
    path.write_text("[[7743  167]\n [ 324 6635]]\n")
    asked = cli("audit", path, "--reported", "recall=0.9")
    assert asked.code == 3
    assert "--orientation truth-rows" in asked.err
    good = ("--orientation", "truth-rows", "--reported", "recall=0.9534")
    assert cli("audit", path, *good).code == 0
    nothing = tmp_path / "nothing.txt"
    nothing.write_text("no table here\n")
    assert "--as" in cli("audit", nothing).err


def test_the_choices_of_options_are_those_of_the_library() -> None:
    choices = {
        option.name: tuple(option.type.choices)
        for option in command.params
        if isinstance(option.type, click.Choice)
    }
    assert choices["kind"] == KINDS
    assert choices["rows"] == tuple(ROWS)
    assert choices["template"] == tuple(TEMPLATES)
    assert choices["orientation"] == ORIENTATIONS
