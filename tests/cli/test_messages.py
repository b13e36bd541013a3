"""What is said when something goes wrong, and the exit code for it."""

import errno
import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest

from assay import errors as ours
from assay.cli import messages

EVERY_ERROR = [
    member
    for member in vars(ours).values()
    if isinstance(member, type) and issubclass(member, BaseException)
]


class Unexpected(BaseException):
    """Like the panics of a compiled library, which are no Exception."""


@pytest.mark.parametrize("error", EVERY_ERROR)
def test_every_error_of_the_library_is_bad_input(
    error: type[Exception], capsys: pytest.CaptureFixture[str]
) -> None:
    assert messages.report(error("the label is gone")) == 3
    assert capsys.readouterr().err == "assay: error: the label is gone\n"


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (click.UsageError("bad option"), 2, "bad option. See 'assay --help'."),
        (messages.OutputError("the disk is full"), 4, "the disk is full"),
        (MemoryError(), 3, "not enough memory"),
        (FileNotFoundError(errno.ENOENT, "No such file", "x.csv"), 3, "x.csv"),
        (OSError(errno.EIO, "Input/output error"), 3, "Input/output error"),
        (OSError(errno.ENOSPC, "No space left on device"), 4, "No space left on device"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (click.Abort(), 130, "interrupted"),
        (ZeroDivisionError("division by zero"), 5, "ZeroDivisionError: division by zero"),
        (RecursionError("too deep"), 5, "RecursionError: too deep"),
        (Unexpected("a panic"), 5, "Unexpected: a panic"),
    ],
)
def test_an_error_has_its_exit_code_and_its_message(
    error: BaseException, code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert messages.report(error) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("assay: error: ")
    assert said in err
    assert "Traceback" not in err
    assert ("Please report it" in err) == (code == 5)


@pytest.mark.parametrize(
    ("error", "code"),
    [(SystemExit(), 0), (SystemExit(0), 0), (SystemExit(3), 3), (SystemExit("no"), 1)],
)
def test_an_exit_keeps_its_code(error: SystemExit, code: int) -> None:
    assert messages.report(error) == code
    assert messages.report(click.exceptions.Exit(7)) == 7


def test_a_traceback_is_shown_on_request(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ASSAY_DEBUG", "1")
    with pytest.raises(ours.InputError) as caught:
        raise ours.InputError("no rows")
    assert messages.report(caught.value) == 3
    err = capsys.readouterr().err
    assert err.startswith("Traceback")
    assert err.endswith("assay: error: no rows\n")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\nassay: error: forged", "a\\nassay: error: forged"),
        ("\x1b[2J\x1b]0;title\x07", "\\x1b[2J\\x1b]0;title\\x07"),
        ("col\u202eumn", "col\\u202eumn"),
        ("caf\u00e9 \u4e2d \U0001f600", "caf\u00e9 \u4e2d \U0001f600"),
        ("\udce9.csv", "\\udce9.csv"),
        ("[bold]x[/bold]", "[bold]x[/bold]"),
        ("%s {0}", "%s {0}"),
    ],
)
def test_nothing_in_a_message_acts_on_the_terminal(
    text: str, shown: str, capsys: pytest.CaptureFixture[str]
) -> None:
    messages.report(ours.InputError(text))
    assert capsys.readouterr().err == f"assay: error: {shown}\n"


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("Say positive='attack'", "Say --positive 'attack'"),
        ("Say positive=1 or positive=-1", "Say --positive 1 or --positive -1"),
        ("list it in labels=", "list it in --labels"),
        ("which labels= does not list", "which --labels does not list"),
        ("say threshold=, the score", "say --threshold, the score"),
        ("base_rate=0.1 is odd", "--base-rate 0.1 is odd"),
        ("the column 'positive=1' is missing", "the column 'positive=1' is missing"),
        ("xpositive=1", "xpositive=1"),
        ("give y_pred= or y_score=", "give --decision or --score"),
        ("such as label, y_true", "such as label, y_true"),
    ],
)
def test_arguments_of_the_library_are_called_by_their_options(message: str, said: str) -> None:
    assert messages.as_options(message) == said


@pytest.mark.parametrize("stream", [None, "full"])
def test_an_exit_code_comes_even_where_nothing_can_be_said(
    monkeypatch: pytest.MonkeyPatch, stream: str | None
) -> None:
    class Full(io.StringIO):
        def write(self, text: str) -> int:
            raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(sys, "stderr", Full() if stream else None)
    assert messages.report(ours.InputError("no rows")) == 3
    assert messages.report(ZeroDivisionError()) == 5


def test_a_message_stays_short_whatever_it_quotes(capsys: pytest.CaptureFixture[str]) -> None:
    label = "a" * 1_000_000
    messages.report(ours.LabelError(f"found {label!r} and {'b ' * 500_000!r}; say positive="))
    said = capsys.readouterr().err
    assert len(said) < 5_000
    assert said.startswith("assay: error: found 'aaa")
    assert said.endswith("say --positive\n")
    assert "characters more" in said


def test_a_message_that_lists_choices_is_one_line(cli: Callable[..., Any]) -> None:
    told = cli("runs", "export")
    assert told.code == 2
    assert "Missing option '--to'. Choose from: json, openmetrics," in told.err


@pytest.mark.parametrize("option", ["--key", "--score"])
def test_words_that_are_no_text_are_refused(
    cli: Callable[..., Any], tmp_path: Path, option: str
) -> None:
    assert cli("data", "week", "--rows", "6200", "--out", tmp_path / "week").code == 0
    logs = ["--alerts", tmp_path / "week/eve.json", "--schedule", tmp_path / "week/attacks.csv"]
    told = cli("incidents", *logs, option, "a\udce9")
    assert told.code == 3
    assert told.err.endswith(
        r"'a\udce9' is no text in UTF-8, at its character 2: write it in UTF-8" + "\n"
    )


def test_a_zone_that_is_no_text_is_refused(cli: Callable[..., Any], tmp_path: Path) -> None:
    assert cli("data", "week", "--rows", "6200", "--out", tmp_path / "week").code == 0
    logs = ["--alerts", tmp_path / "week/eve.json", "--schedule", tmp_path / "week/attacks.csv"]
    told = cli("incidents", *logs, "--timezone", "a\udce9")
    assert told.code == 3
    assert r"--timezone a\udce9 is not known; expected UTC" in told.err


def test_a_store_that_is_none_is_told_in_words_of_the_command_line(
    cli: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "a.csv").write_text("label,score\n")
    counts = ("evaluate", "--cells", "tp=3,fp=1,fn=1,tn=9")
    told = cli(*counts, "--record", "a", "--store", tmp_path / "a.csv")
    assert told.code == 4
    assert told.err.endswith("Name another with --store\n")
