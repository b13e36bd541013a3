"""Every line that tells how to install is one of two forms, and works as it is printed.

In a clone ``pip install '.[extra]'``, with or without ``-e``. By name ``pip install
'assay-detectors[extra]'``, where there is no clone to stand in: in hints of the installed package,
for which pip finds the package itself satisfied, and from wheels that were carried over.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from assay.errors import DISTRIBUTION, install_line

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
# What holds lines for people; Python files hold hints.
LOOKED_AT = (
    ".ci",
    "benchmarks",
    "docs",
    "examples",
    "src",
    "CONTRIBUTING.md",
    "Makefile",
    "README.md",
)
BUILT = (
    "docs/_build/",
    "docs/measures/",
    "docs/findings.rst",
    "benchmarks/results/",
)
BY_NAME = {"docs/install.rst", "src/assay/errors.py"}

LINE = re.compile(
    r"(?:pip3?|uv pip|pipx|uv tool) install (?P<what>[^\n`#]*)|\$\(INSTALL\) (?P<made>[^\n&]*)"
)
WHAT = r"(?P<extras>\[[a-z,]+\])"
CLONE = re.compile(rf"(?:-e )?(?:\.|'\.{WHAT}')")
NAMED = re.compile(rf"{DISTRIBUTION}|'{DISTRIBUTION}{WHAT}'")


def texts() -> Iterator[tuple[str, str]]:
    """Every text file that is looked at."""
    for start in LOOKED_AT:
        path = ROOT / start
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            name = file.relative_to(ROOT).as_posix()
            if file.is_file() and "__pycache__" not in name and not name.startswith(BUILT):
                try:
                    yield name, file.read_text("utf-8")
                except UnicodeDecodeError:
                    continue


def lines() -> list[tuple[str, str]]:
    commands = []
    for name, text in texts():
        for line in LINE.finditer(text):
            what = re.sub(r"(?<=[\w'\"])[.;,\"]+$", "", (line["what"] or line["made"]).strip())
            # The line of the Makefile that all others use.
            if not (name == "Makefile" and what.startswith("--quiet")):
                commands.append((name, what))
    return commands


@pytest.mark.parametrize(("name", "what"), lines())
def test_an_install_line_has_one_of_two_forms(name: str, what: str) -> None:
    if "{DISTRIBUTION}" in what:
        what = install_line("learn").removeprefix("pip install ")
    form = CLONE.fullmatch(what) or (name in BY_NAME and NAMED.fullmatch(what))
    assert form, f"{name}: pip install {what}"
    asked = (form["extras"] or "").strip("[]").split(",")
    assert set(asked) <= {"", *EXTRAS}


def test_install_lines_are_found() -> None:
    files = {name for name, _ in lines()}
    assert {"README.md", "Makefile", "src/assay/errors.py", "docs/figures.rst"} <= files
    assert "examples/gate-workflow.yml" in files


def test_hints_name_extras_that_there_are() -> None:
    asked = {
        extra
        for name, text in texts()
        if name.startswith("src/")
        for extra in re.findall(r"install_line\([\"'](\w+)[\"']\)", text)
    }
    assert {"learn", "plot", "sql", "postgres", "boost"} <= asked <= set(EXTRAS)


def test_the_package_of_another_project_is_not_asked_for() -> None:
    for name, text in (*texts(), ("pyproject.toml", (ROOT / "pyproject.toml").read_text("utf-8"))):
        assert not re.search(r"(?<![\w-])assay\[[a-z]", text), name
        assert not re.search(r"(?:version|distribution|requires)\([\"']assay[\"']\)", text), name
    own = [each for group in EXTRAS.values() for each in group if each.startswith(DISTRIBUTION)]
    named = [set(re.fullmatch(rf"{DISTRIBUTION}\[([\w,]+)\]", each)[1].split(",")) for each in own]
    assert named
    assert all(extras <= set(EXTRAS) for extras in named)


def test_the_page_on_installing_tells_of_every_extra() -> None:
    spec = spec_from_file_location("generate_install", ROOT / "docs" / "generate_install.py")
    assert spec is not None
    assert spec.loader is not None
    install = module_from_spec(spec)
    spec.loader.exec_module(install)
    table = install.extras()
    assert set(re.findall(r"^   \* - ``(\w+)``$", table, re.MULTILINE)) == set(EXTRAS)
    assert "scikit-learn, skops" in table
