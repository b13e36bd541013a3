"""The check of the built documentation finds what leads nowhere."""

from __future__ import annotations

import re
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from pkgutil import resolve_name
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
# Tags of MLflow, and a file.
NO_MODULES = {"assay.undefined", "assay.without_interval", "evaluation.json"}


def script(name: str) -> ModuleType:
    """A script of the documentation, as a module."""
    spec = spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


check = script("check_links")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "start").mkdir()
    (tmp_path / "start" / "model.html").write_text('<h2 id="over-folds">Over folds</h2>')
    (tmp_path / "picture.svg").write_text("<svg/>")
    return tmp_path


@pytest.mark.parametrize(
    "link",
    [
        '<a href="start/model.html">a page</a>',
        '<a href="start/model.html#over-folds">a place</a>',
        '<a href="#here">a place of this page</a>',
        '<a href="https://doi.org/10.1002/sim.1563">a work</a>',
        '<a href="https://skops.readthedocs.io">another project</a>',
        '<img src="picture.svg">',
        '<img src="data:image/svg+xml;base64,AA==">',
    ],
)
def test_a_link_that_leads_somewhere_is_fine(folder: Path, link: str) -> None:
    (folder / "index.html").write_text(f'<p id="here">{link}</p>')
    assert not list(check.broken_links(folder))


@pytest.mark.parametrize(
    ("link", "problem"),
    [
        ('<a href="start/gone.html">', "there is no such file"),
        ('<a href="start">', "there is no such file"),
        ('<a href="start/model.html#folds">', "there is no place folds in it"),
        ('<a href="#gone">', "there is no place gone in it"),
        ('<img src="gone.svg">', "there is no such file"),
        ('<form action="search.html">', "there is no such file"),
        ('<a href="../../etc/passwd">', "it is not in the documentation"),
        ('<a href="FILE:COL">', "file is no scheme for a page"),
        ('<a href="https://doi.org/sim.1563">', "this is not the form of a DOI"),
        ('<script src="https://cdn.example.org/mathjax.js">', "from outside"),
        ('<link rel="stylesheet" href="//cdn.example.org/font.css">', "from outside"),
        ('<img srcset="https://example.org/a.png 2x">', "from outside"),
    ],
)
def test_what_leads_nowhere_or_loads_from_outside_is_named(
    folder: Path, link: str, problem: str
) -> None:
    (folder / "index.html").write_text(f"<p>{link}</p>")
    (line,) = check.broken_links(folder)
    assert line.startswith("index.html ")
    assert line.endswith(problem)


def test_a_style_that_loads_from_outside_is_named(folder: Path) -> None:
    (folder / "a.css").write_text("@import 'https://example.org/b.css'; p { color: red }")
    assert list(check.broken_links(folder)) == [
        "a.css loads https://example.org/b.css from outside"
    ]


def test_a_folder_without_pages_is_no_success(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="no pages"):
        check.main(tmp_path)


def test_the_guide_for_contributors_names_pages_that_are_there() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    named = set(re.findall(r"`(docs/[\w./]+\.\w+)`", text))
    assert named
    assert all((ROOT / name).exists() for name in named)


def test_the_readme_leads_to_files_that_are_there() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    targets = re.findall(r"\]\(([^)\s]+)\)|(?:src|href)=\"([^\"]+)\"", text)
    assert targets
    for target in map("".join, targets):
        assert (ROOT / target.partition("#")[0]).exists(), target


def is_there(name: str) -> bool:
    """Whether a dotted name is a module of the package, or stands in one."""
    try:
        resolve_name(name)
    except (ModuleNotFoundError, AttributeError):
        return False
    return True


@pytest.mark.parametrize("page", ["decisions.rst", "design.rst"])
def test_decisions_and_design_name_files_and_modules_that_are_there(page: str) -> None:
    text = (ROOT / "docs" / page).read_text("utf-8")
    paths = set(re.findall(r"``([\w/]+\.pyi?)``", text))
    homes = (ROOT, ROOT / "src", ROOT / "src" / "assay")
    assert paths
    assert not [path for path in paths if not any((home / path).exists() for home in homes)]
    packages = {path.stem for path in (ROOT / "src" / "assay").iterdir()}
    names = {
        name.removeprefix("assay.")
        for name in re.findall(r"``(\w+(?:\.\w+)+)``", text)
        if name.split(".")[0] in {"assay", *packages} and name not in paths | NO_MODULES
    }
    assert names
    assert not [name for name in names if not is_there(f"assay.{name}")]
