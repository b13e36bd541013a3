"""Commands for the web app: one process runs one after the other, as they come on standard input.

Each line is ``{"args", "folder", "memory"}``; the answer is one line with what the command printed,
``{"code", "out", "err"}``, after lines that tell how far it is. ``preview FILE`` shows the first
rows of a file. It is started by ``assay serve``.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import time
from typing import Any, TextIO

from assay.cli import messages
from assay.cli.app import run
from assay.cli.messages import FINE, report
from assay.cli.reporting import print_out
from assay.errors import AssayError

PREVIEW = "preview"
_EVERY = 0.2


def main() -> None:
    """Do jobs until there are no more."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    # Nothing but answers goes there; commands print into memory.
    os.dup2(2, 1)
    _prepare()
    for line in sys.stdin:
        job: dict[str, Any] = json.loads(line)
        os.chdir(job["folder"])
        messages.LISTENERS[:] = [_Listener(answers)]
        _answer(answers, _printed(job["args"], job["memory"]))
        os.chdir(os.sep)


def _prepare() -> None:
    """Import what most commands need, while nobody waits yet."""
    import assay.decisions
    import assay.evaluation.named_columns
    import assay.report.evaluation  # noqa: F401


def _printed(args: list[str], memory: int) -> dict[str, Any]:
    """What a command prints, and its exit code."""
    from assay.sources.files.request import memory_limit

    out, err = io.BytesIO(), io.BytesIO()
    with (
        memory_limit(memory, _out_of_memory),
        contextlib.redirect_stdout(io.TextIOWrapper(out, "utf-8", write_through=True)),
        contextlib.redirect_stderr(io.TextIOWrapper(err, "utf-8", write_through=True)),
    ):
        code = _preview(args[1]) if args[0] == PREVIEW else run(args)
        sys.stdout.flush()
        sys.stderr.flush()
        printed = out.getvalue().decode(), err.getvalue().decode()
    return {"code": code, "out": printed[0], "err": printed[1]}


def _preview(name: str) -> int:
    """Print the first rows of a file, and what its columns may be."""
    from assay.sources.files.read import preview

    try:
        print_out(json.dumps(preview(name).to_dict()).encode())
    except (AssayError, OSError) as error:
        return report(error)
    return FINE


def _out_of_memory(used: int) -> None:  # noqa: ARG001 - the form is that of the limit
    # Without an answer: whoever waits is told that the process has ended.
    os._exit(1)


def _answer(answers: TextIO, told: dict[str, Any]) -> None:
    answers.write(json.dumps(told) + "\n")
    answers.flush()


class _Listener:
    """Tells how far a command is, a few times a second."""

    def __init__(self, answers: TextIO) -> None:
        self._answers = answers
        self._last = 0.0

    def __call__(self, stage: str, done: int, total: int | None) -> None:
        now = time.monotonic()
        if now - self._last >= _EVERY:
            self._last = now
            _answer(self._answers, {"stage": stage, "done": done, "total": total})


if __name__ == "__main__":
    main()
