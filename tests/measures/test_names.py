"""No list of measures stands outside of them: what is about one refers to its declaration."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

import assay
from assay.measures import AVERAGES, catalogue, names, parse

ROOT = Path(assay.__file__).parent
SKIPPED = ("measures/", "v02/")
# Tuples of words in the catalogue that are no names of measures.
NO_LISTS = ("AVERAGES", "_ANY_BETA")


@cache
def known() -> frozenset[str]:
    """The names of measures, with an average or not."""
    return frozenset({*names(), *(f"{name}.{average}" for name in names() for average in AVERAGES)})


def words_of(path: Path) -> list[tuple[int, str]]:
    """Whole string literals of a module that name a measure."""
    text = path.read_text("utf-8")
    # Most modules hold no such word, and are not parsed.
    if not any(f'"{name}"' in text for name in known()):
        return []
    return [
        (node.lineno, node.value)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Constant) and node.value in known()
    ]


def modules() -> list[str]:
    paths = (path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*.py"))
    return sorted(name for name in paths if not name.startswith(SKIPPED))


def test_no_module_names_a_measure() -> None:
    named = [
        f"{module}:{line}: {word!r}"
        for module in modules()
        for line, word in words_of(ROOT / module)
    ]
    assert len(modules()) > 20
    assert named == [], "refer to the declaration, or move the list to measures/catalogue.py"


def lists() -> dict[str, tuple[str, ...]]:
    words: dict[str, tuple[str, ...]] = {}
    for name, value in vars(catalogue).items():
        if isinstance(value, catalogue.MeasureList):
            words |= {f"{name}.two": value.of(binary=True), f"{name}.many": value.of(binary=False)}
        elif isinstance(value, tuple) and all(isinstance(key, str) for key in value):
            words[name] = value
    return {name: listed for name, listed in words.items() if name not in NO_LISTS}


@pytest.mark.parametrize(("where", "listed"), lists().items(), ids=list(lists()))
def test_what_is_shown_is_declared_by_its_own_name(where: str, listed: tuple[str, ...]) -> None:
    assert len(set(listed)) == len(listed)
    for key in listed:
        measure, average = parse(key)
        assert key == (measure.name if average is None else f"{measure.name}.{average}")
        assert average in (None, *AVERAGES)
