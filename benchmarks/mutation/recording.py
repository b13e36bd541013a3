"""Which tests execute which line, and how long each takes.

Also a plugin of pytest: it writes the seconds of each test where ``MUTANTS_SECONDS`` says.
"""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest


@dataclass(frozen=True)
class Recorded:
    """Tests by file and line, and their seconds."""

    by_line: Mapping[tuple[str, int], frozenset[str]]
    seconds: Mapping[str, float]
    first: tuple[str, ...] = ()  # files that are asked of any line

    def tests(self, file: str, line: int) -> list[str]:
        """Those that execute a line, the quickest first.

        A line that runs when its module is imported, as a measure's declaration does, belongs to no
        test: there all of its file and of its package are asked, the laws and the oracles.
        """
        chosen = self.by_line.get((file, line), frozenset())
        if not chosen:
            folders = tuple(f"tests/{name}/" for name in (file.split("/")[1], "oracles", "laws"))
            chosen = frozenset(test for test in self.seconds if test.startswith(folders)).union(
                *(tests for (name, _), tests in self.by_line.items() if name == file)
            )
        quickest = sorted(chosen, key=lambda test: (self.seconds.get(test, 1.0), test))
        return [*self.first, *quickest]


def recorded(root: Path, work: Path, jobs: int, asked: tuple[str, ...]) -> Recorded:
    """The record, made anew where a test or the source has changed since."""
    work.mkdir(parents=True, exist_ok=True)
    data, seconds = work / "coverage.db", work / "seconds"
    newest = max(
        path.stat().st_mtime for part in ("src", "tests") for path in (root / part).rglob("*.py")
    )
    if not data.exists() or data.stat().st_mtime < newest:
        _record(root, data, seconds, jobs, asked)
    return read_record(work)


def read_record(work: Path) -> Recorded:
    """A record that was made before."""
    return Recorded(_lines(work / "coverage.db"), _seconds(work / "seconds"))


def _record(root: Path, data: Path, seconds: Path, jobs: int, asked: tuple[str, ...]) -> None:
    print("Recording which test runs which line (some five minutes, once) ...", flush=True)
    seconds.mkdir(exist_ok=True)
    for old in seconds.iterdir():
        old.unlink()
    command = [sys.executable, "-m", "pytest", "-q", "-n", str(jobs), "--dist", "worksteal"]
    command += ["-m", "not slow", "--assert=plain", "-p", "no:assay", "-p", "mutation.recording"]
    command += ["--cov", "--cov-context=test", "--cov-report=", *asked]
    fresh = data.with_suffix(".new")
    subprocess.run(
        command,
        cwd=root,
        env=os.environ
        | {
            "COVERAGE_FILE": str(fresh),
            "MUTANTS_SECONDS": str(seconds),
            "PYTHONPATH": os.pathsep.join([str(root / "src"), str(root / "benchmarks")]),
        },
        check=True,
    )
    fresh.replace(data)


def _lines(data: Path) -> dict[tuple[str, int], frozenset[str]]:
    """What coverage.py has kept: arcs between lines, by file and test."""
    by_line: dict[tuple[str, int], set[str]] = defaultdict(set)
    with sqlite3.connect(f"file:{data}?mode=ro", uri=True) as connection:
        files = {
            number: path.rpartition("/src/")[2]
            for number, path in connection.execute("select id, path from file")
            if "/src/assay/" in path
        }
        tests = {
            number: name.rpartition("|")[0]
            for number, name in connection.execute("select id, context from context")
            if name.endswith("|run")
        }
        for file, context, start, end in connection.execute(
            "select file_id, context_id, fromno, tono from arc"
        ):
            if file in files and context in tests:
                for line in {abs(start), abs(end)}:
                    by_line[files[file], line].add(tests[context])
    return {place: frozenset(names) for place, names in by_line.items()}


def _seconds(folder: Path) -> dict[str, float]:
    merged: dict[str, float] = {}
    for path in folder.iterdir():
        merged |= json.loads(path.read_text("utf-8"))
    return merged


_TAKEN: dict[str, float] = {}


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Sum the phases of a test."""
    _TAKEN[report.nodeid] = _TAKEN.get(report.nodeid, 0.0) + report.duration


def pytest_sessionfinish() -> None:
    """Write what this process has run."""
    folder = os.environ.get("MUTANTS_SECONDS")
    if folder:
        Path(folder, f"{os.getpid()}.json").write_text(json.dumps(_TAKEN), "utf-8")
