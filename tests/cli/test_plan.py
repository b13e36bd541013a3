"""``assay plan``: each option acts, and what it gives is what the library gives."""

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assay import plan
from assay.cli.plan import EXAMPLES

Cli = Callable[..., Any]


@pytest.fixture
def told(cli: Cli) -> Callable[..., dict[str, Any]]:
    def document(*options: str) -> dict[str, Any]:
        outcome = cli("plan", *options, "--format", "json")
        assert outcome.code == 0, outcome.err
        assert outcome.err == ""
        result: dict[str, Any] = json.loads(outcome.out)
        return result

    return document


def test_it_gives_what_the_library_gives(told: Callable[..., dict[str, Any]]) -> None:
    document = told(
        *("--max-fpr", "1/1000", "--min-dr", "90%", "--min-dr", "dos=0.5", "--max-far", "0.2"),
        *("--base-rate", "1%", "--width", "0.05", "--difference", "2%", "--discordant", "0.1"),
        *("--expected-fpr", "2e-4", "--expected-dr", "0.95", "--expected", "0.3"),
        *("--power", "0.9", "--confidence", "0.95", "--level", "0.9"),
    )
    expected = plan(
        max_fpr=0.001,
        min_dr=0.9,
        min_dr_families={"dos": 0.5},
        max_far=0.2,
        base_rate=0.01,
        width=0.05,
        difference=0.02,
        discordant=0.1,
        expected_fpr=2e-4,
        expected_dr=0.95,
        expected=0.3,
        power=0.9,
        confidence=0.95,
        level=0.9,
    )
    del document["headline"]
    assert document.pop("provenance")["inputs"] == []
    assert document == json.loads(json.dumps(expected.to_dict()))


def test_one_in_ten_thousand_takes_23025_negatives(cli: Cli) -> None:
    outcome = cli("plan", "--max-fpr", "1/10000")
    assert outcome.code == 0
    assert "23,025 negatives without one false alarm" in " ".join(outcome.out.split())


def test_a_rare_attack_takes_over_200000_negatives(told: Callable[..., dict[str, Any]]) -> None:
    (goal,) = told("--max-far", "10%", "--base-rate", "1e-4")["goals"]
    assert min(n["negatives"] for n in goal["needs"] if n["negatives"]) > 200_000


@pytest.mark.sampled(12)
@pytest.mark.parametrize("line", [line for _, line in EXAMPLES])
@pytest.mark.parametrize("suffix", ["txt", "json", "csv", "md", "tex", "html"])
def test_the_examples_of_the_help_run_in_every_format(
    cli: Cli, tmp_path: Path, line: str, suffix: str
) -> None:
    out = tmp_path / f"plan.{suffix}"
    outcome = cli(*shlex.split(line)[1:], "--out", out)
    assert outcome.code == 0, outcome.err
    assert out.stat().st_size > 200


def test_a_page_tells_how_it_was_made(cli: Cli) -> None:
    outcome = cli("plan", "--width", "0.1", "--format", "markdown")
    assert "`assay plan --width 0.1 --format markdown`" in outcome.out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "say what to know"),
        (["--base-rate", "0.1"], "say what to know"),
        (["--max-far", "0.1"], "--max-far needs --base-rate"),
        (["--difference", "0.1"], "go together"),
        (["--discordant", "0.1", "--width", "0.1"], "go together"),
        (["--difference", "0.2", "--discordant", "0.1"], "disagree on at least as many"),
        (["--expected", "0.2", "--max-fpr", "0.1"], "--width is needed"),
        (["--min-dr", "0.9", "--min-dr", "0.8"], "given twice"),
        (["--max-fpr", "1"], "is no share"),
        (["--max-fpr", "x"], "is no share"),
        (["--power", "0", "--width", "0.1"], "is no share"),
    ],
)
def test_a_wrong_command_line_exits_with_2(cli: Cli, options: list[str], message: str) -> None:
    outcome = cli("plan", *options)
    assert outcome.code == 2
    assert message in outcome.err
    assert outcome.out == ""


def test_what_nobody_can_label_is_refused(cli: Cli) -> None:
    outcome = cli("plan", "--max-fpr", "1e-18")
    assert outcome.code == 3
    assert "rows would be needed" in outcome.err
