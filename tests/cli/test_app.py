"""The command itself: its help, its version, its completion, and what they cost."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import click
import pytest

from assay import __version__
from assay.cli import app as module
from assay.cli.app import COMMANDS, app, run
from assay.cli.options import Command, Option

HEAVY = ("numpy", "scipy", "polars", "rich", "jinja2", "matplotlib", "narwhals", "pandas")


def command_of(name: str) -> Command:
    command = app.get_command(click.Context(app), name)
    assert isinstance(command, Command)
    return command


def commands_of(name: str) -> list[Command]:
    """A command, or those inside it."""
    command = command_of(name)
    return [inside for _, inside in command.subcommands(click.Context(command))] or [command]


def test_help_comes_at_once() -> None:
    # Seconds of work, which is what it takes where no other process is in the way.
    seconds = []
    for _ in range(3):
        before = os.times()
        subprocess.run([sys.executable, "-m", "assay", "--help"], check=True, capture_output=True)
        after = os.times()
        work = after.children_user + after.children_system
        seconds.append(work - before.children_user - before.children_system)
    assert min(seconds) < 0.25


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["evaluate", "--help"]])
def test_help_imports_nothing_heavy(arguments: list[str]) -> None:
    code = (
        f"import json, sys; from assay.cli.app import run; run({arguments!r}); "
        f"print(json.dumps([m for m in {HEAVY!r} if m in sys.modules]), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
    assert json.loads(done.stderr) == []


def test_the_version_is_that_of_the_package(cli: Callable[..., Any]) -> None:
    assert cli("--version").out == f"assay {__version__}\n"


def test_help_lists_every_command(cli: Callable[..., Any]) -> None:
    outcome = cli("--help")
    assert outcome.code == 0
    assert outcome.err == ""
    assert all(f"\n  {name} " in outcome.out for name in COMMANDS)
    assert "_ASSAY_COMPLETE=bash_source" in outcome.out


def test_no_command_at_all_shows_the_help_and_is_wrong(cli: Callable[..., Any]) -> None:
    outcome = cli()
    assert outcome.code == 2
    assert outcome.out == ""
    assert outcome.err.startswith("Usage: assay ")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_and_examples(cli: Callable[..., Any], name: str) -> None:
    outcome = cli(name, "--help")
    assert outcome.code == 0
    command = command_of(name)
    assert command.examples
    for says, line in command.examples:
        assert f"  # {says}\n  {line}\n" in outcome.out
        assert "assay " + name in line


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_says_what_it_does_under_a_heading(name: str) -> None:
    for option in (option for command in commands_of(name) for option in command.params):
        if isinstance(option, click.Option):
            assert isinstance(option, Option), option.name
            assert option.help, option.name
            assert option.help[0].isupper(), option.name


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_the_options_that_all_share(name: str) -> None:
    for command in commands_of(name):
        flags = {flag for option in command.params for flag in option.opts}
        assert {"--level", "--seed", "--quiet"} <= flags, command.name
    flags = {flag for option in commands_of(name)[0].params for flag in option.opts}
    # The app gives no report of its own.
    assert name == "serve" or {"--format", "--out"} <= flags


def test_every_command_inside_another_has_help_and_examples(cli: Callable[..., Any]) -> None:
    for name in COMMANDS:
        for inside, command in command_of(name).subcommands(click.Context(command_of(name))):
            outcome = cli(name, inside, "--help")
            assert outcome.code == 0
            assert command.examples
            for says, line in command.examples:
                assert f"  # {says}\n  {line}\n" in outcome.out
                assert f"assay {name} {inside}" in line


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (["evalute"], "there is no command 'evalute'; did you mean evaluate?"),
        (["xyz"], f"there is no command 'xyz'; there are {', '.join(COMMANDS)}."),
        (["--colour"], "No such option"),
        (["evaluate"], "missing FILE; or give counts with --cells or --matrix"),
        (["evaluate", "x", "--treshold", "1"], "--threshold"),
    ],
)
def test_what_is_mistyped_is_told_what_is_near(
    cli: Callable[..., Any], typed: list[str], said: str
) -> None:
    outcome = cli(*typed)
    assert outcome.code == 2
    assert outcome.out == ""
    assert outcome.err.startswith("assay: error: ")
    assert said in outcome.err
    assert "--help'." in outcome.err
    assert outcome.err.count("\n") == 1


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_gives_a_script(shell: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "assay"],
        env={"_ASSAY_COMPLETE": f"{shell}_source", "PATH": "/usr/bin:/bin"},
        capture_output=True,
        check=True,
    )
    assert b"_ASSAY_COMPLETE" in done.stdout
    assert b"assay" in done.stdout


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("assay ev", ["plain,evaluate"]),
        ("assay evaluate --fam", ["plain,--family"]),
        ("assay evaluate --interval boot", ["plain,bootstrap"]),
        ("assay evaluate pre", ["file,pre"]),
        ("assay measures detection_r", ["plain,detection_rate"]),
        ("assay evaluate x --format ht", ["plain,html"]),
    ],
)
def test_completion_knows_what_may_follow(words: str, expected: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "assay"],
        env={
            "_ASSAY_COMPLETE": "bash_complete",
            "COMP_WORDS": words,
            "COMP_CWORD": str(len(words.split()) - 1),
        },
        capture_output=True,
        check=True,
        text=True,
    )
    assert done.stdout.split() == expected


def test_an_error_of_ours_is_owned(
    cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(name: str) -> None:
        raise ZeroDivisionError("one over nothing")

    monkeypatch.setattr(module, "import_module", broken)
    outcome = cli("demo")
    assert outcome.code == 5
    assert outcome.out == ""
    assert "ZeroDivisionError: one over nothing" in outcome.err
    assert "report it" in outcome.err
    assert "Traceback" not in outcome.err


def test_threads_are_said_to_polars_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_THREADS", "3")
    monkeypatch.setenv("POLARS_MAX_THREADS", "")  # so that it is put back afterwards
    monkeypatch.delenv("POLARS_MAX_THREADS")
    run(["--version"])
    assert os.environ["POLARS_MAX_THREADS"] == "3"


@pytest.mark.parametrize(("given", "threads"), [(None, "1"), ("2", "2")])
def test_linear_algebra_has_one_thread_unless_the_user_says_otherwise(
    monkeypatch: pytest.MonkeyPatch, given: str | None, threads: str
) -> None:
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", given or "")
    if given is None:
        monkeypatch.delenv("OPENBLAS_NUM_THREADS")
    run(["--version"])
    assert os.environ["OPENBLAS_NUM_THREADS"] == threads


def test_a_command_imports_no_numpy_before_it_says_how_many_threads() -> None:
    asked = "import assay.cli.app, sys; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", asked], check=False).returncode == 0


@pytest.mark.parametrize("threads", ["0", "-1", "many", "1.5"])
def test_an_impossible_number_of_threads_is_wrong_usage(
    cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, threads: str
) -> None:
    monkeypatch.setenv("ASSAY_THREADS", threads)
    outcome = cli("--version")
    assert outcome.code == 2
    assert f"ASSAY_THREADS is {threads!r}" in outcome.err


@pytest.mark.parametrize("epoch", ["1e400", "soon", "9" * 30])
def test_an_epoch_that_is_no_moment_is_wrong_usage(
    cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, epoch: str
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", epoch)
    outcome = cli("plan", "--max-fpr", "1%")
    assert outcome.code == 2
    assert f"SOURCE_DATE_EPOCH is {epoch!r}; it has to be a whole number" in outcome.err


def test_an_empty_epoch_is_none(shell: Callable[..., Any]) -> None:
    # In a process of its own, since numpy reads it when it is imported.
    assert shell("plan", "--max-fpr", "1%", env={"SOURCE_DATE_EPOCH": ""}).code == 0
