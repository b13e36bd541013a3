"""A mutant against the tests that execute its line."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mutation.recording import Recorded
from mutation.tokens import Mutant

# The first round is small, since most mutants fall to any test of their line.
_FIRST, _MOST = 25, 1500


@dataclass(frozen=True)
class Trial:
    """How it ended."""

    mutant: Mutant
    killed: bool
    by: str  # the test that failed, or why none did
    tests: int
    seconds: float

    def line(self, reason: str | None) -> str:
        """What is printed of it."""
        ended = "killed" if self.killed else ("equivalent" if reason else "SURVIVED")
        told = f"{ended:10} {self.mutant.place}  {self.mutant.change}  ({self.by})"
        if self.killed:
            return told
        return f"{told}\n                {self.mutant.source.strip()}" + (
            f"\n                {reason}" if reason else ""
        )

    def plain(self) -> dict[str, Any]:
        """What is kept of it."""
        file, line, change = self.mutant.key
        return {
            "place": self.mutant.place,
            "file": file,
            "line": line,
            "change": change,
            "killed": self.killed,
            "by": self.by,
            "tests": self.tests,
            "seconds": round(self.seconds, 1),
        }


def tried(mutant: Mutant, copy: Path, root: Path, record: Recorded, seconds: float) -> Trial:
    """Run the tests of a line with the mutant in a copy of the source."""
    began = time.monotonic()
    tests = record.tests(mutant.file, mutant.line)
    path = copy / mutant.file
    original = path.read_text("utf-8")
    path.write_text(mutant.text(original), "utf-8")
    try:
        ended = _run_all(tests, copy, root, seconds)
    finally:
        path.write_text(original, "utf-8")
    killed = ended is not None
    by = ended or (f"{len(tests)} tests pass" if tests else "no test executes it")
    return Trial(mutant, killed, by, len(tests), time.monotonic() - began)


def _run_all(tests: list[str], copy: Path, root: Path, seconds: float) -> str | None:
    began = time.monotonic()
    for some in _rounds(tests):
        left = seconds - (time.monotonic() - began)
        if left <= 0:
            return None
        failed = _run(some, copy, root, left)
        if failed is not None:
            return failed
    return None


def _rounds(tests: list[str]) -> Iterator[list[str]]:
    """A few of the quickest, then the others: of those no more than can be run."""
    yield from (some for some in (tests[:_FIRST], tests[_FIRST:_MOST]) if some)


def _run(tests: list[str], copy: Path, root: Path, seconds: float) -> str | None:
    """The test that fails, or None."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as listed:
        listed.write("\n".join(tests))
        listed.flush()
        command = [sys.executable, "-m", "pytest", "-x", "-q", "--no-header", "--tb=no"]
        command += ["-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:assay"]
        try:
            done = subprocess.run(
                [*command, f"@{listed.name}"],
                cwd=root,
                env=os.environ | {"PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"},
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=max(30.0, seconds),
                check=False,
            )
        except subprocess.TimeoutExpired:
            return "runs too long"
    if done.returncode == 0:
        return None
    failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return failed[0].split()[1] if failed else f"pytest ends with {done.returncode}"
