"""What all pages share: settings, store, files that were sent, results, processes that judge."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import re
import secrets
import shutil
import signal
import tempfile
import threading
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

from assay.v02.store.reports import Rules, rules_of
from assay.v02.web.guards import TOKEN, Access, Guards, Origins, Refusal, RequestLimits

if TYPE_CHECKING:
    from assay.v02.store import KeptRun, Store
    from assay.v02.store.run import Name


Kept = TypeVar("Kept")
_ID = re.compile(r"[A-Za-z0-9_-]{16}")
_ODD_LETTERS = re.compile(r"[^A-Za-z0-9._-]+")
_WRITTEN = 1 << 20
_RULED = 1000
_FRESH = 2.0
_LOG = logging.getLogger("assay.web")


@dataclass(frozen=True)
class Settings:
    """How the app was started.

    ``worker`` is the command of a process that does the judging, ``place`` what the store is
    called.
    """

    origins: Origins
    worker: Sequence[str]
    place: str = ""
    read_only: bool = False
    limits: RequestLimits = field(default_factory=RequestLimits)


@dataclass(eq=False)
class Upload:
    """A file that was sent, in a folder of its own."""

    id: str
    name: str
    folder: Path
    size: int = 0
    preview: dict[str, Any] | None = None

    @property
    def path(self) -> Path:
        """Where it lies."""
        return self.folder / self.name


@dataclass(frozen=True)
class HeldReport:
    """A judgement that is held: its JSON, what it is of, and the page that asked for it."""

    name: str
    text: str
    origin: tuple[str, str]


@dataclass(eq=False)
class Job:
    """A judgement that is being made: how far it is, and what came of it."""

    id: str
    title: str
    back: str
    task: asyncio.Task[Any] | None = None
    stage: str = "waiting"
    done: int = 0
    total: int | None = None
    result: str | None = None
    refusal: Refusal | None = None

    def told(self, stage: str, done: int, total: int | None) -> None:
        """Note how far it is."""
        self.stage, self.done, self.total = stage, done, total

    def to_dict(self) -> dict[str, Any]:
        """The state for programs."""
        state = "failed" if self.refusal else "done" if self.result else "running"
        return {
            "state": state,
            "stage": self.stage,
            "done": self.done,
            "total": self.total,
            "result": self.result,
            "error": None if self.refusal is None else self.refusal.message,
        }


class Shelf(OrderedDict[str, Kept]):
    """Things by an id that can't be guessed; the oldest goes when there are too many."""

    def __init__(self, most: int, what: str, removed: Callable[[Kept], None] | None = None) -> None:
        super().__init__()
        self._most = most
        self._what = what
        self._removed = removed

    def put(self, id: str, kept: Kept) -> None:  # noqa: A002 - it is one
        """Keep one more."""
        self[id] = kept
        while len(self) > self._most:
            _, old = self.popitem(last=False)
            if self._removed is not None:
                self._removed(old)

    def find(self, id: str) -> Kept:  # noqa: A002 - it is one
        """What has this id."""
        if not _ID.fullmatch(id) or id not in self:
            raise Refusal(
                404,
                f"There is no {self._what} here any more.",
                f"The last {self._most} are held; send it again.",
            )
        return self[id]


class Site:
    """The app: one for each start."""

    def __init__(self, settings: Settings, access: Access, store: Store | None) -> None:
        self.settings = settings
        self.limits = settings.limits
        self.access = access
        self.store = store
        self.started = time.time()
        self.guards: Guards
        # Pages are drawn by threads.
        self._lock = threading.Lock()
        self._fresh: dict[str, tuple[float, Any]] = {}
        self._drawn: Shelf[Any] = Shelf(self.limits.kept, "drawing")
        self._rules: Shelf[Rules | None] = Shelf(_RULED, "document")
        self.pool = Pool(settings.worker, settings.limits)
        # Only for whoever runs the app, and gone with it.
        self.folder = Path(tempfile.mkdtemp(prefix="assay-serve-"))
        self.uploads: Shelf[Upload] = Shelf(self.limits.kept, "file", _remove_upload)
        self.results: Shelf[HeldReport] = Shelf(self.limits.kept, "result")
        self.jobs: Shelf[Job] = Shelf(self.limits.kept, "judgement", _cancel)

    def names(self) -> tuple[Name, ...]:
        """The names that runs have; none without a store."""
        return () if self.store is None else self._fresh_answer("names", self.store.names)

    def tags(self) -> tuple[str, ...]:
        """The tags that runs have."""
        return () if self.store is None else self._fresh_answer("tags", self.store.tags)

    def _fresh_answer(self, key: str, ask: Callable[[], Kept]) -> Kept:
        """An answer of the store that may be some seconds old: all runs are looked at for it."""
        then, held = self._fresh.get(key, (-_FRESH, None))
        now = time.monotonic()
        if now - then < _FRESH:
            return cast(Kept, held)
        answer = ask()
        self._fresh[key] = (now, answer)
        return answer

    def drawn(self, key: str, draw: Callable[[], Kept]) -> Kept:
        """A drawing, which is made once for what the key tells."""
        with self._lock:
            if key in self._drawn:
                return cast(Kept, self._drawn[key])
        drawing = draw()
        with self._lock:
            self._drawn.put(key, drawing)
        return drawing

    def rules(self, run: KeptRun) -> Rules | None:
        """The rules of a run, read once: documents of watched detectors are long."""
        key = run.contents["document"]
        with self._lock:
            if key in self._rules:
                return self._rules[key]
        rules = rules_of(run)
        with self._lock:
            self._rules.put(key, rules)
        return rules

    def stale(self) -> None:
        """Forget such answers, since the store has changed."""
        self._fresh.clear()

    async def run(self, *args: str, folder: Path | None = None, **options: Any) -> CommandOutput:
        """What a command prints."""
        return await self.pool.run(args, folder or self.folder, **options)

    async def read(self, question: Callable[..., Kept], *args: Any, **options: Any) -> Kept:
        """Ask the store, or draw a page, in a thread."""
        return await asyncio.to_thread(question, *args, **options)

    def record(self, store: Store, text: str, name: str, tags: Sequence[str] = ()) -> str:
        """Keep a document as a run, and give the id of the run."""
        run = store.record(text, name=name, tags=tags)
        self.stale()
        return run.id

    def present(self, result: HeldReport) -> str:
        """Hold a result, and give the address of its page."""
        id_ = new_id()
        self.results.put(id_, result)
        return f"/results/{id_}"

    def must_write(self) -> None:
        """Refuse what would change the store where that is not allowed."""
        if self.settings.read_only:
            raise Refusal(
                423,
                "The app was started with --read-only, so nothing is kept, changed or deleted.",
                "Ask whoever runs it, or use a store of your own.",
            )

    def new_folder(self) -> Path:
        """A folder for whoever runs the app alone."""
        return Path(tempfile.mkdtemp(dir=self.folder))

    async def receive(self, name: str, body: AsyncIterator[bytes]) -> Upload:
        """Keep a file that is sent, piece by piece."""
        upload = Upload(new_id(), safe_name(name), self.new_folder())
        buffer = bytearray()
        try:
            with upload.path.open("xb") as file:
                async for piece in body:
                    buffer += piece
                    upload.size += len(piece)
                    if len(buffer) >= _WRITTEN:
                        await asyncio.to_thread(file.write, bytes(buffer))
                        buffer.clear()
                file.write(buffer)
        except BaseException:
            _remove_upload(upload)
            raise
        if not upload.size:
            _remove_upload(upload)
            raise Refusal(422, "The file is empty.", "Send a file with a row for each prediction.")
        self.hold(upload)
        return upload

    def hold(self, upload: Upload) -> None:
        """Hold a file; the oldest go where there are too many, or too many bytes."""
        self.uploads.put(upload.id, upload)
        while sum(each.size for each in self.uploads.values()) > self.limits.disk:
            if len(self.uploads) == 1:
                break
            _, oldest = self.uploads.popitem(last=False)
            _remove_upload(oldest)

    def start(self, job: Job, judged: Callable[[Job], Any]) -> None:
        """Begin a judgement, which goes on by itself."""

        async def work() -> None:
            try:
                job.result = await judged(job)
            except Refusal as refusal:
                job.refusal = refusal
            except Exception:  # noqa: BLE001 - whoever waits must be told
                _LOG.exception("judging %s", job.title)
                job.refusal = Refusal(
                    500, "Something here went wrong.", "The log of the app tells where."
                )

        job.task = asyncio.create_task(work())
        self.jobs.put(job.id, job)

    async def close(self) -> None:
        """End what is running, and remove what was sent."""
        tasks = [job.task for job in self.jobs.values() if job.task and not job.task.done()]
        for task in tasks:
            task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.gather(*tasks, return_exceptions=True)
        await self.pool.close()
        await asyncio.to_thread(shutil.rmtree, self.folder, ignore_errors=True)


def new_id() -> str:
    """An id that can't be guessed."""
    return secrets.token_urlsafe(12)


def safe_name(name: str) -> str:
    """The name that a file gets here: letters, digits, dots and dashes, and never a path.

    >>> safe_name("../../etc/passwd"), safe_name("my scores.csv"), safe_name("")
    ('passwd', 'my-scores.csv', 'predictions')
    """
    last = name.replace("\\", "/").rpartition("/")[2]
    return _ODD_LETTERS.sub("-", last).strip(".-")[-80:].lstrip(".-") or "predictions"


def _remove_upload(upload: Upload) -> None:
    shutil.rmtree(upload.folder, ignore_errors=True)


def _cancel(job: Job) -> None:
    if job.task is not None:
        job.task.cancel()


# -- processes that run commands, a few at once, and can be ended ----------------------------------

# A worker is a program that reads one JSON line for each job, {"args", "folder", "memory"}, and
# answers with lines {"done", "total", "stage"} while it works, with {"code", "out", "err"} at the
# end. Which program that is, the command line says.

# How far a job is: the stage, what is done, and all there is where that is known.
ProgressCallback: TypeAlias = Callable[[str, int, int | None], None]

FINE, NO, USAGE, INPUT, OUTPUT, OURS = range(6)
# A worker is let go after so many jobs, so that nothing grows for good.
_JOBS = 200
_LINE = 256 << 20
_HELP = re.compile(r" See 'assay [\w -]+ --help'\.$")


def _silent(stage: str, done: int, total: int | None) -> None:
    """Progress that nobody sees."""


@dataclass(frozen=True)
class CommandOutput:
    """What a command printed, and whether its answer was no."""

    out: str
    no: bool
    messages: tuple[str, ...]


class Worker:
    """One process, with the jobs that it has done."""

    def __init__(
        self,
        process: asyncio.subprocess.Process,
        stdin: asyncio.StreamWriter,
        stdout: asyncio.StreamReader,
    ) -> None:
        self.process = process
        self._stdin, self._stdout = stdin, stdout
        self.jobs = 0

    async def run(self, job: dict[str, Any], progress: ProgressCallback) -> dict[str, Any]:
        """Do a job; the answer has code None where the process ended instead."""
        self.jobs += 1
        with contextlib.suppress(ConnectionError):
            self._stdin.write(json.dumps(job).encode() + b"\n")
            await self._stdin.drain()
        while line := await self._stdout.readline():
            answer: dict[str, Any] = json.loads(line)
            if "code" in answer:
                return answer
            progress(answer["stage"], answer["done"], answer["total"])
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

    def __init__(self, command: Sequence[str], limits: RequestLimits) -> None:
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
        told: ProgressCallback = _silent,
        seconds: float | None = None,
    ) -> CommandOutput:
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

    async def _run(
        self, args: Sequence[str], folder: Path, progress: ProgressCallback, seconds: float
    ) -> CommandOutput:
        worker = self._idle.pop() if self._idle else await self._start()
        job = {"args": list(args), "folder": str(folder), "memory": self._limits.memory}
        reusable = False
        try:
            async with asyncio.timeout(seconds):
                answer = await worker.run(job, progress)
            reusable = answer["code"] is not None and worker.jobs < _JOBS
        except TimeoutError:
            raise Refusal(
                503,
                f"The judgement took more than {seconds:g} seconds, and was ended.",
                "Judge fewer rows, or use the command line.",
            ) from None
        finally:
            if reusable:
                self._idle.append(worker)
            else:
                await asyncio.shield(worker.end())
        return command_output(answer, self._limits)

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
        if process.stdin is None or process.stdout is None:
            raise RuntimeError("a worker was started without pipes")
        return Worker(process, process.stdin, process.stdout)

    async def warm(self) -> None:
        """Start one process before the first job comes."""
        if not self._idle:
            self._idle.append(await self._start())

    async def close(self) -> None:
        """End all processes that have nothing to do."""
        while self._idle:
            await self._idle.pop().end()


def command_output(answer: dict[str, Any], limits: RequestLimits) -> CommandOutput:
    """What a command printed; what went wrong becomes a refusal."""
    code = answer["code"]
    if code is None:
        raise Refusal(
            503,
            f"The judgement needed more than {limits.memory:,} bytes of memory, or its process was "
            "ended.",
            "Judge fewer rows or columns, or use the command line.",
        )
    messages = tuple(line for line in answer["err"].splitlines() if line.strip())
    if code in (FINE, NO):
        return CommandOutput(answer["out"], code == NO, messages)
    # Options are named as they are on the command line, but its help is not at hand here.
    message = _HELP.sub("", " ".join(messages).removeprefix("assay: error: "))
    if code in (USAGE, INPUT):
        raise Refusal(422, message, "Change what the message names, and send it again.")
    raise Refusal(500, "Something here went wrong.", message)
