"""What is deprecated warns for long enough, and goes when it was said to go."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.errors import __version__, deprecated

HOME = Path(__file__).parents[1] / "src" / "assay"


def numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")[:2])


def ends() -> Iterator[tuple[str, str]]:
    """Where something is deprecated, and the version that has it no more."""
    for path in HOME.rglob("*.py"):
        text = path.read_text("utf-8")
        for node in ast.walk(ast.parse(text)) if "deprecated(" in text else ():
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "deprecated":
                (until,) = (each.value for each in node.keywords if each.arg == "until")
                yield f"{path.name}:{node.lineno}", ast.literal_eval(until)


def test_a_warning_names_what_to_use_and_the_line_that_asked() -> None:
    with pytest.warns(DeprecationWarning, match=r"old is deprecated: use new\. .* 9\.0") as caught:
        deprecated("old", "new", until="9.0")
    assert caught[0].filename == __file__


def test_nothing_outlives_the_version_that_it_was_to_go_with() -> None:
    assert list(ends())
    late = [place for place, until in ends() if numbers(until) <= numbers(__version__)]
    assert late == []
