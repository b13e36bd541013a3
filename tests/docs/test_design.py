"""The ways that docs/design.rst draws are those that commands take: modules by their first call."""

from __future__ import annotations

import asyncio
import re
import sys
import threading
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import assay
from assay.cli.app import run

ROOT = Path(__file__).resolve().parents[2]
HOME = ROOT / "src" / "assay"
DESIGN = (ROOT / "docs" / "design.rst").read_text("utf-8")
_SECTION = DESIGN.partition("The way of one row\n")[2]
# What was typed, or asked for, and the modules.
WAYS = {
    title: re.findall(r"^   \* - ``([\w/.]+)``$", text, re.MULTILINE)
    for title, text in re.findall(
        r"^``([^`\n]+)``\n~+\n(.*?)(?=^``[^`\n]+``\n~|^\S[^\n]*\n---|\Z)",
        _SECTION,
        re.MULTILINE | re.DOTALL,
    )
}

ROWS = "label,score,score_a,score_b\n" + "".join(
    f"{'normal' if i % 3 else 'attack'},{i * 7 % 20 / 20},{i * 7 % 20 / 20},{i * 3 % 20 / 20}\n"
    for i in range(60)
)
INCIDENTS = (
    "incident,time,score\na,2026-11-01T10:05:00Z,0.9\n,2026-11-01T11:05:00Z,0.8\n"
    ",2026-11-01T12:05:00Z,0.1\nb,2026-11-02T12:05:00Z,0.3\n"
)
CLAIMS = """[[claim]]
name = "table 2"
positive = "attack"
support = {attack = 39, normal = 54}
reported = {recall = "0.77", precision = "0.88", accuracy = "0.91"}
"""
FILES = {
    "evaluate": ("rows.csv", ROWS),
    "compare": ("rows.csv", ROWS),
    "audit": ("claims.toml", CLAIMS),
    "incidents": ("rows.csv", INCIDENTS),
}
# For speed.
MORE = {"compare": ("--resamples", "100")}


def entered(work: Callable[[], object]) -> list[str]:
    """The modules of the package in the order in which a function of each is first called."""
    work()  # what is imported when it is needed is no step of the way
    order: dict[str, None] = {}

    def profile(frame: FrameType, event: str, argument: Any) -> None:
        name = frame.f_globals.get("__name__", "")
        if event == "call" and name.startswith("assay."):
            order.setdefault(name)

    # Files are read ahead by a thread.
    threading.setprofile(profile)
    sys.setprofile(profile)
    try:
        work()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return list(order)


def module_of(path: str) -> str:
    return f"assay.{path.removesuffix('.py').strip('/').replace('/', '.')}"


def follows(title: str, order: list[str]) -> None:
    named = [module_of(path) for path in WAYS[title]]
    assert [name for name in order if name in named] == named


def test_there_are_five_ways_through_modules_that_exist() -> None:
    first = [title.removeprefix("assay ").split()[0] for title in WAYS]
    assert first == ["evaluate", "compare", "audit", "incidents", "GET"]
    for paths in WAYS.values():
        assert len(paths) > 10
        assert [path for path in paths if not (HOME / path).exists()] == []


@pytest.mark.parametrize("title", [title for title in WAYS if title.startswith("assay ")])
def test_a_row_goes_the_way_that_is_drawn(
    title: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    typed = title.split()[1:]
    name, text = FILES[typed[0]]
    Path(name).write_text(text, "utf-8")
    codes = []
    command = [*typed, *MORE.get(typed[0], ()), "--out", "report.txt", "--quiet"]
    order = entered(lambda: codes.append(run(command)))
    assert set(codes) <= {0, 1}
    follows(title, order)


@pytest.fixture
def _in_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    async def at_once(question: Callable[..., Any], *args: Any, **options: Any) -> Any:
        return question(*args, **options)

    monkeypatch.setattr(asyncio, "to_thread", at_once)


@pytest.fixture
def app(tmp_path: Path) -> Iterator[tuple[Any, str]]:
    pytest.importorskip("starlette", reason="the web app needs the extra web")
    from tests.web.harness import Harness, recorded

    with assay.Store(tmp_path / "runs.db") as store:
        run_id = recorded(store)
        with Harness(store) as harness:
            yield harness, run_id


@pytest.mark.usefixtures("_in_one_thread")
def test_a_request_goes_the_way_that_is_drawn(app: tuple[Any, str]) -> None:
    harness, run_id = app
    statuses = []

    def ask() -> None:
        # What was drawn once is kept, and the way to it is not gone again.
        harness.site._drawn.clear()
        statuses.append(harness.get(f"/runs/{run_id}").status)

    order = entered(ask)
    assert statuses == [200, 200]
    (title,) = (title for title in WAYS if title.startswith("GET "))
    follows(title, order)


def test_the_layers_are_those_that_imports_are_held_to() -> None:
    section = DESIGN.partition("Layers\n------\n")[2].partition("The way of one row")[0]
    rows = re.findall(r"^   \* - (``.*``)$", section, re.MULTILINE)
    drawn = [" | ".join(re.findall(r"``(\w+)``", row)) for row in rows]
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    held = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    assert drawn == [layer for layer in held if layer != "__main__"]
