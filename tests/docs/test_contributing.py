"""CONTRIBUTING.md tells what is true, and whoever follows it gets what it says."""

from __future__ import annotations

import ast
import builtins
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from . import following, guide

THINGS = [thing.__name__ for thing in following.THINGS]
# What ruff takes, as pyproject.toml has it.
LONGEST_LINE = 100


def test_there_is_a_section_for_each_thing_with_a_table_of_its_files() -> None:
    assert [title.rpartition(" ")[2] for title in guide.SECTIONS] == THINGS
    for title in guide.SECTIONS:
        assert "| file | what you add there |" in guide.section(title), title


def test_every_file_that_it_names_is_there() -> None:
    named = set(re.findall(r"`((?:src|tests|docs|\.ci)/[\w./-]*)`", guide.GUIDE))
    made = set(re.findall(r"A new file,\s`([^`]+)`", guide.GUIDE))
    assert len(named) > 40
    made.add("docs/_build/html")
    assert {name for name in named - made if not (guide.ROOT / name).exists()} == set()


def test_every_module_to_start_reading_at_is_there() -> None:
    rows = re.findall(r"^\| `(\w+)/` \| .* \| (.*) \|$", guide.GUIDE, re.MULTILINE)
    assert len(rows) > 10
    for package, modules in rows:
        for name in re.findall(r"`([\w/]+(?:\.py|/))`", modules):
            assert (guide.ROOT / "src" / "assay" / package / name).exists(), (package, name)


def test_every_package_is_in_the_table() -> None:
    rows = re.findall(r"^\| `(\w+)[/.]", guide.GUIDE, re.MULTILINE)
    home = guide.ROOT / "src" / "assay"
    packages = {path.parent.name for path in home.glob("*/__init__.py")}
    assert packages <= set(rows)


def unknown_names(source: str) -> set[str]:
    """Names of a module that nothing in it defines, those of annotations too, which never run."""
    nodes = list(ast.walk(ast.parse(source)))
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    known = {*dir(builtins), "__file__", "__name__", "__path__"}
    for node in nodes:
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            known.add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            known.add(node.name)
        elif isinstance(node, ast.alias):
            known.add(node.asname or node.name.partition(".")[0])
        elif isinstance(node, ast.arg):
            known.add(node.arg)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            known.add(node.name)
    return names - known


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package in which every section was followed."""
    root = tmp_path_factory.mktemp("guide")
    guide.copy_package(root)
    for title in guide.SECTIONS:
        for path in list(guide.follow(title, root)):
            if path.suffix == ".py":
                assert unknown_names(path.read_text("utf-8")) == set(), path
    return root


def test_what_it_says_to_write_fits_into_the_files_that_are_there(copy: Path) -> None:
    package = copy / "src" / "assay"
    changed = [path for path in package.rglob("*") if path.is_file() and not path.is_symlink()]
    assert len(changed) > len(THINGS)
    for path in changed:
        original = guide.ROOT / path.relative_to(copy)
        text = path.read_text("utf-8")
        assert not original.exists() or original.read_text("utf-8") != text
        code = (line.partition("  # noqa")[0] for line in text.splitlines())
        assert path.suffix != ".py" or max(map(len, code)) <= LONGEST_LINE, path


def by_type(name: str) -> tuple[int, str]:
    """Where ruff puts an imported name: constants, then classes, then the rest."""
    constant = name.isupper() and len(name) > 1
    return (0 if constant else 1 if name[0].isupper() else 2, name.lower())


def test_what_it_says_to_import_stands_in_its_order(copy: Path) -> None:
    for path in (copy / "src" / "assay").rglob("*.py"):
        if path.is_symlink():
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom):
                names = [alias.name for alias in node.names]
                assert names == sorted(names, key=by_type), (path, node.lineno)


@pytest.fixture(scope="module")
def outcomes(copy: Path) -> dict[str, str | None]:
    """What came of each new thing there, in one process."""
    work = copy / "work"
    work.mkdir()
    ran = subprocess.run(
        [sys.executable, "-P", following.__file__],
        cwd=work,
        env={**os.environ, "PYTHONPATH": str(copy / "src"), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    written = work / "outcomes.json"
    assert written.exists(), ran.stderr
    read: dict[str, str | None] = json.loads(written.read_text("utf-8"))
    # What commands said of an error stands there.
    return {thing: why and f"{why}\n{ran.stderr}" for thing, why in read.items()}


@pytest.mark.slow
@pytest.mark.parametrize("thing", THINGS)
def test_whoever_follows_the_guide_gets_a_new(thing: str, outcomes: dict[str, str | None]) -> None:
    assert outcomes[thing] is None, outcomes[thing]
