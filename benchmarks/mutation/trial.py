"""A mutant against the tests that execute its line."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest

from mutation.recording import Recorded
from mutation.server import Server
from mutation.tokens import Mutant

# The first round is small, since most mutants fall to any test of their line.
_FIRST = 25
# What starting takes on a busy machine, in seconds.
_PATIENCE = 60.0


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


def tried(mutant: Mutant, copy: Path, server: Server, record: Recorded, seconds: float) -> Trial:
    """Run the tests of a line with the mutant in a copy of the source."""
    began = time.monotonic()
    tests = record.tests(mutant.file, mutant.line)
    path = copy / mutant.file
    original = path.read_text("utf-8")
    path.write_text(mutant.text(original), "utf-8")
    try:
        ended = _run_all(tests, copy, server, record, seconds)
    finally:
        path.write_text(original, "utf-8")
    killed = ended is not None
    by = ended or (f"{len(tests)} tests pass" if tests else "no test executes it")
    return Trial(mutant, killed, by, len(tests), time.monotonic() - began)


def fail_anyway(trials: Sequence[Trial], copy: Path, server: Server) -> set[str]:
    """Of the tests that killed mutants, those that fail without one too."""
    tests, broken = {trial.by for trial in trials if "::" in trial.by}, set()
    while tests:
        failed = _run(sorted(tests), copy, server, 30 * len(tests) + _PATIENCE)
        if failed is None:
            break
        broken.add(failed)
        tests.discard(failed)
    return broken


def must_pass(tests: list[str], copy: Path, server: Server) -> None:
    """Stop where tests fail without a mutant."""
    failed = _run(tests, copy, server, 600 + _PATIENCE)
    if failed is not None:
        raise SystemExit(f"without a mutant a test fails already: {failed}")


def _run_all(
    tests: list[str], copy: Path, server: Server, record: Recorded, most: float
) -> str | None:
    for some in _rounds(tests, record, most):
        # A test that hangs has noticed too; the others end in a few times what they took.
        patience = _PATIENCE + 3 * sum(record.seconds.get(test, 1.0) for test in some)
        failed = _run(some, copy, server, patience)
        if failed is not None:
            return failed
    return None


def _rounds(tests: list[str], record: Recorded, most: float) -> Iterator[list[str]]:
    """A few of the quickest, then the others: of those no more than can be run."""
    first, others = tests[:_FIRST], tests[_FIRST:]
    spent = accumulate(record.seconds.get(test, 1.0) for test in others)
    further = [test for test, seconds in zip(others, spent, strict=True) if seconds <= most]
    yield from filter(None, (first, further))


def _run(tests: list[str], copy: Path, server: Server, seconds: float) -> str | None:
    """The test that fails, or None."""
    code, said = server.run(tests, copy, seconds)
    if code is None:
        return "runs too long"
    if code == 0:
        return None
    failed = [line for line in said.splitlines() if line.startswith(("FAILED ", "ERROR "))]
    if code == pytest.ExitCode.USAGE_ERROR and not failed:
        raise SystemExit(f"tests of the record are not there; make it anew:\n{said[-2000:]}")
    if not failed:
        return f"pytest ends with {code}"
    # The name of a case may have a dash too, as the formula of one has.
    line = failed[0].partition(" ")[2]
    named = [test for test in tests if line.startswith(test)]
    return max(named, key=len, default=line.partition(" - ")[0])
