"""Runs tests again and again, each time in a child that has the libraries loaded already.

Starting pytest with numpy, polars and hypothesis takes longer than most tests. This process loads
them once, and forks for each order that comes in: one JSON object a line, and one a line goes back.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import Any

# What tests of many modules import; nothing that starts threads while it is imported.
_HEAVY = (
    *("numpy", "numpy.testing", "scipy.special", "scipy.optimize", "polars", "narwhals", "pandas"),
    *("hypothesis", "hypothesis.strategies", "hypothesis.extra.numpy", "pytest", "click.testing"),
    *("mpmath", "rich.console", "jinja2", "sklearn.metrics", "sqlite3", "xml.dom.minidom"),
)
# Asserts are left as they are, since rewriting them takes longer than many tests.
_OPTIONS = ("-x", "-q", "--no-header", "--tb=no", "--assert=plain", "-p", "no:cacheprovider")
# What a test leaves behind is of no use to anybody, and neither is the order of tests.
_WITHOUT = ("xdist", "assay", "randomly", "pytest_cov")


class Server:
    """Such a process, as those who send orders see it."""

    def __init__(self, root: Path) -> None:
        place = str(Path(__file__).parents[1])
        self._process = subprocess.Popen(
            [sys.executable, "-m", "mutation.server"],
            cwd=root,
            env=os.environ | {"PYTHONPATH": place, "PYTHONDONTWRITEBYTECODE": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, tests: list[str], copy: Path, seconds: float) -> tuple[int | None, str]:
        """The exit code of pytest on a copy of the source, None if it runs longer; what it said."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        order = {"tests": tests, "copy": str(copy), "seconds": seconds}
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        return answer["code"], answer["said"]

    def close(self) -> None:
        """Let it end."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def _serve() -> None:
    for name in _HEAVY:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    answers = os.fdopen(os.dup(1), "w")
    for line in sys.stdin:
        order = json.loads(line)
        with tempfile.TemporaryFile("w+", errors="replace") as said:
            code = _in_child(order, said.fileno())
            said.seek(0)
            answers.write(json.dumps({"code": code, "said": said.read()[-20_000:]}) + "\n")
        answers.flush()


def _in_child(order: dict[str, Any], said: int) -> int | None:
    child = os.fork()
    if not child:
        code = 1
        try:
            os.setsid()
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.dup2(said, 1)
            os.dup2(said, 2)
            code = _run(order["tests"], order["copy"])
        except BaseException:  # noqa: BLE001 - whatever it was, the order failed
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    end = time.monotonic() + order["seconds"]
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            _end_group(child)
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.02)
    _end_group(child)
    os.waitpid(child, 0)
    return None


def _end_group(child: int) -> None:
    """What a test has started, and left, ends too."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)


def _run(tests: list[str], copy: str) -> int:
    import pytest

    sys.path.insert(0, copy)
    os.environ["PYTHONPATH"] = copy
    without = [part for name in _WITHOUT for part in ("-p", f"no:{name}")]
    with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as listed:
        listed.write("\n".join(tests))
        listed.flush()
        return int(pytest.main([*_OPTIONS, *without, f"@{listed.name}"]))


if __name__ == "__main__":
    _serve()
