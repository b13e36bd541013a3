"""Work outside the event loop: processes that run commands, a few at once, and can be ended.

A worker is a program that reads one JSON line for each job, ``{"args", "folder", "memory"}``, and
answers with lines ``{"done", "total", "stage"}`` while it works and ``{"code", "out", "err"}`` at
the end. Which program that is, the command line says.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from assay.web.access import TOKEN
from assay.web.guards import Limits
from assay.web.refusals import Refusal

# How far a job is: the stage, what is done, and all there is where that is known.
Told: TypeAlias = Callable[[str, int, int | None], None]

FINE, NO, USAGE, INPUT, OUTPUT, OURS = range(6)
# A worker is let go after so many jobs, so that nothing grows for good.
_JOBS = 200
_LINE = 256 << 20
_HELP = re.compile(r" See 'assay [\w -]+ --help'\.$")


def _silent(stage: str, done: int, total: int | None) -> None:
    """Progress that nobody sees."""


@dataclass(frozen=True)
class Outcome:
    """What a command printed, and whether its answer was no."""

    out: str
    no: bool
    said: tuple[str, ...]


class Worker:
    """One process, with the jobs that it has done."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.jobs = 0

    async def run(self, job: dict[str, Any], told: Told) -> dict[str, Any]:
        """Do a job; the answer has code None where the process ended instead."""
        stdin, stdout = self.process.stdin, self.process.stdout
        assert stdin is not None and stdout is not None  # noqa: S101, PT018 - both are pipes
        self.jobs += 1
        with contextlib.suppress(ConnectionError):
            stdin.write(json.dumps(job).encode() + b"\n")
            await stdin.drain()
        while line := await stdout.readline():
            answer: dict[str, Any] = json.loads(line)
            if "code" in answer:
                return answer
            told(answer["stage"], answer["done"], answer["total"])
        return {"code": None}

    async def end(self) -> None:
        """End the process, and all that it started, at once."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(self.process.pid, signal.SIGKILL)
            else:
                self.process.kill()
        await self.process.wait()


class Pool:
    """At most so many jobs at once, and so many that wait; more are refused."""

    def __init__(self, command: Sequence[str], limits: Limits) -> None:
        self._command = tuple(command)
        self._limits = limits
        self._free = asyncio.Semaphore(limits.workers)
        self._idle: list[Worker] = []
        self.running = 0
        self.waiting = 0
        self.refused = 0
        self.finished = 0

    async def run(
        self,
        args: Sequence[str],
        folder: Path,
        *,
        told: Told = _silent,
        seconds: float | None = None,
    ) -> Outcome:
        """What a command prints; whoever cancels this ends the command."""
        if self.waiting >= self._limits.waiting:
            self.refused += 1
            raise Refusal(
                503,
                f"{self.running} judgements are running and {self.waiting} wait.",
                "Try again in a moment.",
            )
        self.waiting += 1
        try:
            await self._free.acquire()
        finally:
            self.waiting -= 1
        self.running += 1
        try:
            return await self._run(args, folder, told, seconds or self._limits.judging_seconds)
        finally:
            self.running -= 1
            self.finished += 1
            self._free.release()

    async def _run(self, args: Sequence[str], folder: Path, told: Told, seconds: float) -> Outcome:
        worker = self._idle.pop() if self._idle else await self._start()
        job = {"args": list(args), "folder": str(folder), "memory": self._limits.memory}
        whole = False
        try:
            async with asyncio.timeout(seconds):
                answer = await worker.run(job, told)
            whole = answer["code"] is not None and worker.jobs < _JOBS
        except TimeoutError:
            raise Refusal(
                503,
                f"The judgement took more than {seconds:g} seconds, and was ended.",
                "Judge fewer rows, or use the command line.",
            ) from None
        finally:
            if whole:
                self._idle.append(worker)
            else:
                await asyncio.shield(worker.end())
        return outcome_of(answer, self._limits)

    async def _start(self) -> Worker:
        process = await asyncio.create_subprocess_exec(
            *self._command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=_LINE,
            start_new_session=True,
            # Who judges needs no way in.
            env={name: value for name, value in os.environ.items() if name != TOKEN},
        )
        return Worker(process)

    async def warm(self) -> None:
        """Start one process before the first job comes."""
        if not self._idle:
            self._idle.append(await self._start())

    async def close(self) -> None:
        """End all processes that have nothing to do."""
        while self._idle:
            await self._idle.pop().end()


def outcome_of(answer: dict[str, Any], limits: Limits) -> Outcome:
    """What a command printed; what went wrong becomes a refusal."""
    code = answer["code"]
    if code is None:
        raise Refusal(
            503,
            f"The judgement needed more than {limits.memory:,} bytes of memory, or its process was "
            "ended.",
            "Judge fewer rows or columns, or use the command line.",
        )
    said = tuple(line for line in answer["err"].splitlines() if line.strip())
    if code in (FINE, NO):
        return Outcome(answer["out"], code == NO, said)
    # Options are named as they are on the command line, but its help is not at hand here.
    message = _HELP.sub("", " ".join(said).removeprefix("assay: error: "))
    if code in (USAGE, INPUT):
        raise Refusal(422, message, "Change what the message names, and send it again.")
    raise Refusal(500, "Something here went wrong.", message)
