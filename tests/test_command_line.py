"""`assay COMMAND` runs the new command where there is one, and 0.2's for what it can't do yet."""

import subprocess
import sys
from types import SimpleNamespace

import click
import pytest

from assay.cli import app as cli
from assay.cli import main
from assay.errors import __version__


@click.command()
@click.argument("words", nargs=-1)
def command(words: tuple[str, ...]) -> None:
    """Evaluate a detector, anew."""
    click.echo(f"new {' '.join(words)}")


@pytest.fixture
def app(monkeypatch: pytest.MonkeyPatch) -> click.Group:
    """The command line after `evaluate` has moved, but for its figures and its page."""
    monkeypatch.setitem(sys.modules, "assay_new_evaluate", SimpleNamespace(command=command))  # type: ignore[arg-type]
    return cli.Commands(
        moved={"evaluate": "assay_new_evaluate"},
        not_yet={"evaluate": ("--figures", "--format html", "--out .html")},
    )


def chosen(app: click.Group, *words: str) -> click.Command | None:
    return app.resolve_command(click.Context(app), list(words))[1]


def test_a_moved_command_runs(app: click.Group) -> None:
    assert chosen(app, "evaluate", "x.csv") is command
    assert chosen(app, "evaluate", "x.csv", "--format", "json", "--out", "x.json") is command
    assert chosen(app, "threshold", "x.csv") is not command


@pytest.mark.parametrize(
    "words",
    ["--figures DIR", "--figures=DIR", "--format html", "--format=html", "--out x.html"],
)
def test_an_option_that_it_does_not_have_yet_runs_that_of_0_2(app: click.Group, words: str) -> None:
    old = chosen(app, "evaluate", "x.csv", *words.split())
    assert old is not None
    assert old is not command
    assert old.name == "evaluate"


def test_help_lists_all_commands_in_one_order_wherever_they_live(app: click.Group) -> None:
    context = click.Context(app)
    assert app.list_commands(context) == list(cli.COMMANDS)
    assert "Evaluate a detector, anew." in app.get_help(context)
    for name in cli.COMMANDS:
        loaded = app.get_command(context, name)
        assert loaded is not None, name
        assert loaded.get_short_help_str(), name


def test_a_command_runs_in_this_process(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", "--cells", "tp=6635,fp=167,fn=324,tn=7743", "--format", "json"]) == 0
    assert '"precision"' in capsys.readouterr().out
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"assay {__version__}\n"


@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        ([], 2, "Commands:"),
        (["evaluat"], 2, "unknown command 'evaluat'; did you mean evaluate? See 'assay --help'."),
        (["xyz"], 2, "choose from evaluate, threshold, "),
        (["evaluate", "a\0b"], 2, "argument 2 contains a NUL byte"),
        (["evaluate", "missing.csv"], 3, "missing.csv"),
    ],
)
def test_a_mistake_is_one_clear_error(
    words: list[str], code: int, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert text in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("ASSAY_THREADS", "many", "ASSAY_THREADS is 'many'; expected a whole number above 0"),
        ("SOURCE_DATE_EPOCH", "now", "SOURCE_DATE_EPOCH is 'now'; expected a whole number of"),
    ],
)
def test_a_wrong_setting_is_named(
    name: str,
    value: str,
    text: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv(name, value)
    assert main(["measures", "recall"]) == 2
    assert text in capsys.readouterr().err


def test_the_module_and_a_closed_pipe_end_quietly() -> None:
    script = f"{sys.executable} -m assay measures | head -1"
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=False)
    assert done.stdout.strip()
    assert done.stderr == ""
