"""Hostile input of every kind, a hundred thousand cases: `make fuzz`.

Files of every format, logs, claims, model files, rules, addresses, requests, tallies and documents
are damaged as bytes, as text and as what they mean. Each is read as a command reads it. It may be
used or refused; a failure is anything else:

- an exception that is not assay's own, or a process that dies;
- more than 10 seconds of computing, or a minute of waiting;
- more than half a gigabyte of memory for one case;
- a row that is neither used nor refused, or that a second reader reads otherwise.

A case is drawn from (seed, index). The bytes of each failure are kept under build/fuzz;
`--only INDEX` tries one again, and `--subject csv` those of one kind.
"""

from __future__ import annotations

import argparse
import contextlib
import multiprocessing
import os
import queue
import resource
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, NoReturn

from hostile.subject import REFUSED, USED, Case, SilentLoss, Subject

MOST_SECONDS = 10
MOST_WAITING = 60
MOST_GROWTH = 512 << 20
MOST_MEMORY = 12 << 30
KEPT = Path("build/fuzz")


class TooSlow(BaseException):
    """More computing than a case may take; no Exception, so that nothing catches it."""


@dataclass(frozen=True)
class Outcome:
    """What became of a case: used, refused, or how it failed."""

    index: int
    subject: str
    kind: str
    detail: str = ""
    seconds: float = 0.0

    @property
    def failed(self) -> bool:
        """Whether it was neither used nor refused."""
        return self.kind not in (USED, REFUSED)


@cache
def subjects() -> tuple[Subject, ...]:
    """All of them; what they import is imported where they are tried."""
    from hostile import artefacts, tables, texts

    return (*tables.SUBJECTS, *texts.SUBJECTS, *artefacts.SUBJECTS)


def case_of(seed: int, index: int, only: str | None) -> tuple[Subject, Case]:
    """The case of an index."""
    draw = Random(f"{seed}-{index}")
    chosen = [one for one in subjects() if only in (None, one.name)]
    (subject,) = draw.choices(chosen, [one.share for one in chosen])
    return subject, subject.make(draw)


def _stop(*_: Any) -> NoReturn:
    raise TooSlow


def trial(seed: int, index: int, only: str | None) -> Outcome:
    """Make one case, try it, and say what happened."""
    subject, case = case_of(seed, index, only)
    signal.signal(signal.SIGPROF, _stop)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    began = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        signal.setitimer(signal.ITIMER_PROF, MOST_SECONDS)
        try:
            kind, detail = subject.attempt(case, Path(folder)), ""
        except TooSlow:
            kind, detail = f"above {MOST_SECONDS} s", _place(sys.exc_info()[2])
        except SilentLoss as loss:
            kind, detail = "silent loss", str(loss)
        except Exception as odd:  # noqa: BLE001 - that is what is looked for
            kind = type(odd).__name__
            detail = f"{str(odd)[:2000]} | {_place(odd.__traceback__)}"
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
    seconds = time.process_time() - began
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before
    if kind in (USED, REFUSED) and grown > MOST_GROWTH:
        kind, detail = "memory", f"{grown >> 20} MiB more"
    outcome = Outcome(index, subject.name, kind, detail, seconds)
    if outcome.failed:
        _keep(case, outcome)
    return outcome


def _place(trace: Any) -> str:
    frames = [frame for frame in traceback.extract_tb(trace) if "/assay/" in frame.filename]
    return " < ".join(
        f"{frame.filename.rpartition('assay/')[2]}:{frame.lineno}" for frame in frames[:-5:-1]
    )


def _keep(case: Case, outcome: Outcome) -> None:
    KEPT.mkdir(parents=True, exist_ok=True)
    stem = f"{outcome.subject}-{outcome.index}"
    (KEPT / f"{stem}.bytes").write_bytes(case.content)
    (KEPT / f"{stem}.txt").write_text(
        f"{outcome}\n{case.name}\n{case.how}\n", "utf-8", "backslashreplace"
    )


# -- all of them -----------------------------------------------------------------------------------


def _work(
    seed: int, only: str | None, first: int, step: int, cases: int, at: Any, told: Any
) -> None:
    """Try every step-th case; ``at`` tells which one is being tried, and since when."""
    warnings.simplefilter("error")
    warnings.filterwarnings("ignore", category=ResourceWarning)
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with contextlib.suppress(OSError):
        # What libraries print when they give up is no outcome.
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 2)
    parent = os.getppid()
    for index in range(first, cases, step):
        if os.getppid() != parent:
            return  # nobody is told any more
        at[0], at[1] = index, time.monotonic()
        told.put(trial(seed, index, only))
    at[1] = 0.0
    told.put(None)


class _Worker:
    """A process that tries its share of the cases, started again behind one that ends it."""

    def __init__(self, settings: tuple[int, str | None], first: int, step: int, cases: int) -> None:
        self._settings, self._step, self._cases = settings, step, cases
        self._context = multiprocessing.get_context("spawn")
        self.told: Any = self._context.Queue()
        self._start(first)

    def _start(self, first: int) -> None:
        self._at = self._context.Array("d", [first, time.monotonic()], lock=False)
        self.over = first >= self._cases
        given = (*self._settings, first, self._step, self._cases, self._at, self.told)
        self._process = self._context.Process(target=_work, args=given, daemon=True)
        if not self.over:
            self._process.start()

    def outcomes(self) -> Iterator[Outcome]:
        """What was told since, and a case that hangs or has ended the process."""
        with contextlib.suppress(queue.Empty):
            while (outcome := self.told.get_nowait()) is not None:
                yield outcome
            self.over = True
        index, since = int(self._at[0]), self._at[1]
        if self.over or since == 0.0:
            return
        alive = self._process.is_alive()
        if alive and time.monotonic() - since < MOST_WAITING:
            return
        self._process.kill()
        self._process.join()
        time.sleep(0.2)
        with contextlib.suppress(queue.Empty):
            while (outcome := self.told.get_nowait()) is not None:
                yield outcome
                if outcome.index == index:
                    index += self._step
        yield self._lost(index, "hang" if alive else f"died ({self._process.exitcode})")
        self._start(index + self._step)

    def _lost(self, index: int, kind: str) -> Outcome:
        subject, case = case_of(self._settings[0], index, self._settings[1])
        outcome = Outcome(index, subject.name, kind)
        _keep(case, outcome)
        return outcome


def trials(
    seed: int, cases: int, only: str | None, processes: int, first: int = 0
) -> Iterator[Outcome]:
    """The outcomes of the cases from the first one on, as they come."""
    starts = range(first, first + processes)
    workers = [_Worker((seed, only), start, processes, cases) for start in starts]
    while not all(worker.over for worker in workers):
        for worker in workers:
            if not worker.over:
                yield from worker.outcomes()
        time.sleep(0.05)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--cases", type=int, default=100_000)
    parser.add_argument("--first", type=int, default=0, help="the index to begin with")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--subject", help="one kind alone")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--only", type=int, help="the index of one case")
    asked = parser.parse_args()
    began = time.monotonic()
    if asked.only is not None:
        warnings.simplefilter("error")
        outcome = trial(asked.seed, asked.only, asked.subject)
        print(outcome)
        sys.exit(int(outcome.failed))
    counted: Counter[tuple[str, str]] = Counter()
    seconds: Counter[str] = Counter()
    failures: list[Outcome] = []
    slowest = Outcome(-1, "", USED)
    done = 0
    for outcome in trials(asked.seed, asked.cases, asked.subject, asked.processes, asked.first):
        done += 1
        counted[outcome.subject, "failed" if outcome.failed else outcome.kind] += 1
        seconds[outcome.subject] += outcome.seconds
        slowest = max(slowest, outcome, key=lambda each: each.seconds)
        if outcome.failed:
            failures.append(outcome)
            if len(failures) <= 50:
                print(f"FAILED {outcome}"[:1500], flush=True)
        if done % 1000 == 0:
            spent = time.monotonic() - began
            print(f"{done:,} cases, {len(failures)} failures, {spent:.0f} s", flush=True)
    print(f"\n{'what':12} {'cases':>8} {'used':>8} {'refused':>8} {'failed':>7} {'ms each':>8}")
    for name in sorted({subject for subject, _ in counted}):
        each = [counted[name, kind] for kind in (USED, REFUSED, "failed")]
        mean = 1000 * seconds[name] / max(sum(each), 1)
        print(f"{name:12} {sum(each):8,} {each[0]:8,} {each[1]:8,} {each[2]:7,} {mean:8.1f}")
    print(
        f"slowest: case {slowest.index} ({slowest.subject}), {slowest.seconds:.2f} s of computing"
    )
    print(f"{done:,} cases, {len(failures)} failures, {time.monotonic() - began:.0f} s")
    sys.exit(int(bool(failures) or done != asked.cases - asked.first))


if __name__ == "__main__":
    main()
