"""The map for newcomers leads to files that are there, and to names that stand in them."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MAP = (ROOT / "docs" / "map.rst").read_text("utf-8")
ENTRIES = re.findall(
    r"^   \* - (\S.*\?)\n     - ``(\S+)``\n     -(?: ``(\w+)``)?$", MAP, re.MULTILINE
)


def defined_in(path: Path) -> set[str]:
    """The functions, classes and constants of a module, and the methods of its classes."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        targets = node.targets if isinstance(node, ast.Assign) else []
        if isinstance(node, ast.AnnAssign):
            targets = [node.target]
        names |= {target.id for target in targets if isinstance(target, ast.Name)}
    return names


def test_there_are_forty_questions_at_least_and_each_is_asked_once() -> None:
    questions = [question for question, _, _ in ENTRIES]
    assert len(questions) >= 40
    assert len(set(questions)) == len(questions)
    assert len(questions) == MAP.count("\n   * - ") - MAP.count("\n   * - Where is ...\n")


def test_a_path_of_the_map_exists_and_holds_the_name() -> None:
    for path, name in sorted({entry[1:] for entry in ENTRIES}):
        assert (ROOT / path).exists(), path
        assert not name or name in defined_in(ROOT / path), (path, name)


def test_the_map_is_led_to_by_the_index_and_the_guide() -> None:
    assert "\n   map\n" in (ROOT / "docs" / "index.rst").read_text("utf-8")
    assert "(docs/map.rst)" in (ROOT / "CONTRIBUTING.md").read_text("utf-8")
