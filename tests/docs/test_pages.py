"""The pages on commands show what really happens."""

import inspect
import os
import re
import shutil
import signal
import subprocess
import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from assay.v02.cli import messages
from assay.cli.app import COMMANDS

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = DOCS / "cli.rst"
EXAMPLES = DOCS.parent / "examples"
# Pages whose command lines are run, and what they print compared; each starts in a new folder, in
# which `examples` is the project's own.
LONG = (
    *("cli", "evaluate", "threshold", "compare", "gate", "check", "history", "train"),
    *("models", "incidents", "install", "monitor", "label_less", "tools", "data"),
    "audit",
    *(f"start/{name}" for name in ("predictions", "gate", "paper", "review")),
)
QUICK = ("start/new",)
RUN = (
    *QUICK,
    *(pytest.param(name, marks=pytest.mark.slow) for name in LONG),
)
RUN_ID = re.compile(r"\b[0-9a-f]{12}\b")
BLOCK = re.compile(r"^\.\. code-block:: console\n\n((?:   .*\n|\n)+)", re.MULTILINE)
# How most pages begin. It takes seconds and gives the same files each time, so it is run once.
DEMO = "assay demo --quiet > /dev/null"
COMMAND = re.compile(r"^\$ (.*(?:\n>(?: .*)?$)*)\n?", re.MULTILINE)


def shown(page: Path) -> list[tuple[str, str]]:
    """The command lines of a page, each with what follows it; ``> `` begins a line that goes on."""
    examples = []
    for block in BLOCK.findall(page.read_text("utf-8")):
        lines = "\n".join(line[3:] for line in block.splitlines())
        _, *parts = COMMAND.split(lines)
        examples += [
            (command, output.strip("\n"))
            for command, output in zip(parts[::2], parts[1::2], strict=True)
        ]
    return examples


def prepared(folder: Path) -> Path:
    """The new folder, in which ``assay``, its Python and the examples are found."""
    folder.mkdir()
    (folder / "examples").symlink_to(EXAMPLES)
    (folder / "bin").mkdir()
    for name, program in (("assay", f"{sys.executable} -m assay"), ("python", sys.executable)):
        script = folder / "bin" / name
        script.write_text(f'#!/bin/sh\nexec {program} "$@"\n')
        script.chmod(0o755)
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return prepared(tmp_path / "docs")


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the demo writes, as it is typed on the pages; to be copied."""
    folder = prepared(tmp_path_factory.mktemp("demo") / "docs")
    assert ran(folder, DEMO) == ""
    return folder / "assay-demo"


def ran(folder: Path, command: str) -> str:
    # What other tests have told MLflow and pytest in this process is not the reader's.
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("MLFLOW_", "PYTEST_")) and name != "CI"
    }
    environment = {
        **inherited,
        "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
        "COLUMNS": "84",
        "MLFLOW_DISABLE_TELEMETRY": "true",
        "LC_ALL": "C.UTF-8",
    }
    done = subprocess.run(
        ["bash", "-c", re.sub(r"\n> ?", "\n", command)],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    return done.stdout.decode()


def with_ids(content: str, output: str, ids: dict[str, str]) -> str:
    """What was printed, with the ids of runs, which are drawn at random, as the page has them."""
    told, written = (list(dict.fromkeys(RUN_ID.findall(text))) for text in (content, output))
    new = [id_ for id_ in told if id_ not in ids]
    ids |= zip(new, (id_ for id_ in written if id_ not in ids.values()), strict=False)
    for real, shown_id in ids.items():
        content = content.replace(real, shown_id).replace(f" {real[:6]}", f" {shown_id[:6]}")
    return content


@pytest.mark.skipif(shutil.which("bash") is None, reason="the pages are written for bash")
@pytest.mark.parametrize("name", RUN)
def test_every_command_line_of_a_page_prints_what_the_page_shows(
    name: str, folder: Path, request: pytest.FixtureRequest
) -> None:
    page = DOCS / f"{name}.rst"
    assert len(shown(page)) >= 2
    text = page.read_text("utf-8")
    ids: dict[str, str] = {}
    for command, output in shown(page):
        rest = command
        if command.startswith(DEMO):
            shutil.copytree(request.getfixturevalue("demo"), folder / "assay-demo")
            rest = f":{command.removeprefix(DEMO)}"
        content = "\n".join(line.rstrip() for line in ran(folder, rest).strip("\n").splitlines())
        content = with_ids(content, output, ids)
        if os.environ.get("RENEW_GOLDEN"):
            before, after = (
                "".join(
                    f"   {line}".rstrip() + "\n" for line in f"$ {command}\n{said}".splitlines()
                )
                for said in (output, content)
            )
            text = text.replace(before, after)
        else:
            assert content == output, f"RENEW_GOLDEN=1 renews what follows $ {command}"
    if os.environ.get("RENEW_GOLDEN"):
        page.write_text(text, "utf-8")


def test_every_page_that_shows_command_lines_is_run() -> None:
    pages = [path for folder in (DOCS, DOCS / "start") for path in folder.glob("*.rst")]
    written = {path.relative_to(DOCS).with_suffix("").as_posix() for path in pages if shown(path)}
    assert written == {*QUICK, *LONG}


def exit_codes() -> dict[int, str]:
    """What the page says of each exit code."""
    table = PAGE.read_text("utf-8").partition("\nExit codes\n")[2].partition("\nErrors are")[0]
    rows = re.findall(r"^   \* - (\d+)\n     - ((?:.+\n(?:       .+\n)*))", table, re.MULTILINE)
    return {int(code): " ".join(said.split()) for code, said in rows}


def test_the_page_names_every_exit_code() -> None:
    signals = {messages.INTERRUPTED, messages.NOBODY_READS, 128 + signal.SIGTERM}
    own = {
        messages.FINE,
        messages.NO,
        messages.USAGE,
        messages.INPUT,
        messages.OUTPUT,
        messages.OURS,
    }
    assert set(exit_codes()) == own | signals
    told = re.findall(r"^(\d+)  ", messages.__doc__ or "", re.MULTILINE)
    assert set(map(int, told)) == own | {messages.INTERRUPTED}


def test_the_page_names_the_commands_that_can_say_no_and_only_them() -> None:
    modules = {name: import_module(f"assay.cli.{name}") for name in COMMANDS}
    say_no = {name for name, module in modules.items() if hasattr(module, "NO")}
    assert say_no
    for name in say_no:
        assert "context.exit(NO)" in inspect.getsource(modules[name])
    assert set(re.findall(r"``(\w+)``:", exit_codes()[messages.NO])) == say_no
    others = set(COMMANDS) - say_no
    assert not others & set(re.findall(r"``(\w+)``", exit_codes()[messages.NO]))


def test_a_threshold_that_is_not_possible_is_an_answer(folder: Path) -> None:
    rows = "".join(f"{'attack' if i % 2 else 'normal'},{i / 100}\n" for i in range(40))
    (folder / "few.csv").write_text(f"label,score\n{rows}")
    command = "assay threshold few.csv --max-fpr 1e-9 --resamples 20 --quiet; echo code $?"
    said = ran(folder, command)
    assert "Not possible" in said
    assert said.endswith("code 0\n")


def test_the_page_names_every_variable_and_every_shell() -> None:
    text = PAGE.read_text("utf-8")
    for name in ("ASSAY_THREADS", "ASSAY_STORE", "NO_COLOR", "ASSAY_DEBUG", "COLUMNS"):
        assert f"``{name}``" in text
    for shell in ("bash", "zsh", "fish"):
        assert f"_ASSAY_COMPLETE={shell}_source" in text


def test_the_reference_lists_every_option_of_every_command() -> None:
    spec = spec_from_file_location("generate_cli", DOCS / "generate_cli.py")
    assert spec is not None
    assert spec.loader is not None
    generate = module_from_spec(spec)
    spec.loader.exec_module(generate)
    page = generate.options()
    for name in COMMANDS:
        assert f"\nassay {name}\n" in page
    for option in ("--label COL", "--base-rate SHARE", "--group ", "-o, --out DIR", "--quiet"):
        assert f".. option:: {option}" in page
