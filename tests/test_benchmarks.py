"""The measuring scripts run by hand; that each still finds what it imports is tested here."""

import ast
import importlib
import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SCRIPTS = sorted((ROOT / "benchmarks").rglob("*.py"))


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda p: str(p.relative_to(ROOT)))
def test_a_benchmark_imports_names_that_exist(path: Path) -> None:
    assert missing(path) == []


def test_a_name_that_is_gone_is_told(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("from assay.store.nowhere import a\nfrom assay.errors import nothing\n")
    assert missing(script) == ["assay.store.nowhere", "assay.errors.nothing"]


def missing(path: Path) -> list[str]:
    """What a script wants of assay that is not there."""
    wanted: list[tuple[str, str | None]] = []
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            wanted += [(name.name, None) for name in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            wanted += [(node.module, name.name) for name in node.names]
    told = []
    for module, name in wanted:
        if module.partition(".")[0] != "assay":
            continue
        try:
            imported = importlib.import_module(module)
        except ModuleNotFoundError:
            told.append(module)
            continue
        if name and not hasattr(imported, name) and not _module(f"{module}.{name}"):
            told.append(f"{module}.{name}")
    return told


def _module(name: str) -> bool:
    try:
        importlib.import_module(name)
    except ModuleNotFoundError:
        return False
    return True


def test_a_change_that_makes_no_difference_is_listed_by_a_line_that_is_there() -> None:
    listed = [
        (one["file"], one["line"])
        for path in (ROOT / "benchmarks" / "mutation" / "equivalent").glob("*.json")
        for one in json.loads(path.read_bytes())
    ]
    lines = {
        (file, line.strip())
        for file in {file for file, _ in listed}
        for line in (ROOT / "src" / file).read_text("utf-8").splitlines()
    }
    assert listed
    assert set(listed) <= lines
