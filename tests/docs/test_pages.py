"""Each command line of a page prints what the page shows, and the reference lists every option."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from assay.cli.app import COMMANDS

from . import warm

DOCS = Path(__file__).resolve().parents[2] / "docs"
EXAMPLES = DOCS.parent / "examples"
RUN_ID = re.compile(r"\b[0-9a-f]{12}\b")
BLOCK = re.compile(r"^\.\. code-block:: console\n\n((?:   .*\n|\n)+)", re.MULTILINE)
# How most pages begin. It takes seconds and writes the same files each time, so it is run once.
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


# Pages with command lines; each is run in a new folder, in which `examples` is the project's own.
PAGES = [
    page.relative_to(DOCS).with_suffix("").as_posix()
    for folder in (DOCS, DOCS / "start")
    for page in sorted(folder.glob("*.rst"))
    if shown(page)
]
QUICK = ("cli", "install", "start/new")
RUN = [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in PAGES]


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with ``assay``, forked from a process that has imported it, and its Python."""
    home = tmp_path_factory.mktemp("bin")
    with TemporaryDirectory() as short:  # the path of a socket has at most 100 characters
        socket = f"{short}/assay"
        command = [sys.executable, warm.__file__, "serve", socket]
        # No thread may be at work when a child is forked.
        single = {
            "OPENBLAS_NUM_THREADS": "1",
            "JE_ARROW_MALLOC_CONF": "background_thread:false",
            "_RJEM_MALLOC_CONF": "background_thread:false",
        }
        environment = {**os.environ, **single}
        with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE) as server:
            assert server.stdout is not None
            assert server.stdout.readline() == b"ready\n"
            client = f"{sys.executable} -IS {warm.__file__} run {socket}"
            for name, program in (("assay", client), ("python", sys.executable)):
                script = home / name
                script.write_text(f'#!/bin/sh\nexec {program} "$@"\n')
                script.chmod(0o755)
            yield home
            server.kill()


def prepared(folder: Path, programs: Path) -> Path:
    """The new folder, in which ``assay``, its Python and the examples are found."""
    folder.mkdir()
    (folder / "examples").symlink_to(EXAMPLES)
    (folder / "bin").symlink_to(programs)
    return folder


@pytest.fixture
def folder(tmp_path: Path, programs: Path) -> Path:
    return prepared(tmp_path / "docs", programs)


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory, programs: Path) -> Path:
    """What the demo writes, as it is typed on the pages; to be copied."""
    folder = prepared(tmp_path_factory.mktemp("demo") / "docs", programs)
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
