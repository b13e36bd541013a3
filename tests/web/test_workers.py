"""Judging in other processes: a few at once, each within its time and memory, each endable."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from pathlib import Path

import pytest

from assay.web.guards import Refusal, RequestLimits
from assay.web.site import Pool

from .harness import WORKER

# Workers that behave badly, each in its own way: the first word of the job says how.
FAKE = """
import json, os, sys, time
for line in sys.stdin:
    job = json.loads(line)
    how, *rest = job["args"]
    if how == "sleep":
        open(rest[0], "w").write(str(os.getpid()))
        time.sleep(600)
    if how == "die":
        os._exit(9)
    if how == "tell":
        print(json.dumps({"stage": "reading", "done": 1, "total": 2}), flush=True)
    out = str(os.getpid()) if how == "who" else "done"
    print(json.dumps({"code": int(rest[0]) if how == "end" else 0, "out": out,
                      "err": "assay: error: so it is"}), flush=True)
"""


def fake(**limits: float) -> Pool:
    return Pool((sys.executable, "-P", "-c", FAKE), RequestLimits(**limits))  # type: ignore[arg-type]


def alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


async def written(path: Path) -> int:
    while not path.exists() or not path.read_text():
        await asyncio.sleep(0.01)
    return int(path.read_text())


def test_a_worker_is_used_again(tmp_path: Path) -> None:
    async def twice() -> tuple[str, str]:
        pool = fake()
        one = await pool.run(["who"], tmp_path)
        other = await pool.run(["who"], tmp_path)
        await pool.close()
        return one.out, other.out

    one, other = asyncio.run(twice())
    assert one == other
    assert not alive(int(one))


def test_what_takes_too_long_is_ended(tmp_path: Path) -> None:
    async def slow() -> int:
        pool = fake(judging_seconds=1.0)
        with pytest.raises(Refusal, match="took more than 1 seconds") as refusal:
            await pool.run(["sleep", str(tmp_path / "pid")], tmp_path)
        assert refusal.value.status == 503
        assert (await pool.run(["fine"], tmp_path)).out == "done"
        await pool.close()
        return await written(tmp_path / "pid")

    assert not alive(asyncio.run(slow()))


def test_what_is_cancelled_is_ended(tmp_path: Path) -> None:
    async def cancelled() -> int:
        pool = fake()
        task = asyncio.create_task(pool.run(["sleep", str(tmp_path / "pid")], tmp_path))
        process = await written(tmp_path / "pid")
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert pool.running == 0
        return process

    assert not alive(asyncio.run(cancelled()))


def test_so_many_run_so_many_wait_and_more_are_refused(tmp_path: Path) -> None:
    async def crowd() -> None:
        pool = fake(workers=1, waiting=2)
        first = asyncio.create_task(pool.run(["sleep", str(tmp_path / "pid")], tmp_path))
        await written(tmp_path / "pid")
        others = [asyncio.create_task(pool.run(["fine"], tmp_path)) for _ in range(2)]
        await asyncio.sleep(0)
        assert (pool.running, pool.waiting) == (1, 2)
        with pytest.raises(Refusal, match="2 wait") as refusal:
            await pool.run(["fine"], tmp_path)
        assert refusal.value.status == 503
        first.cancel()
        assert [outcome.out for outcome in await asyncio.gather(*others)] == ["done", "done"]
        await pool.close()

    asyncio.run(crowd())


@pytest.mark.parametrize(("code", "status"), [(2, 422), (3, 422), (4, 500), (5, 500)])
def test_exit_codes_become_refusals(tmp_path: Path, code: int, status: int) -> None:
    async def ended() -> None:
        pool = fake()
        with pytest.raises(Refusal) as refusal:
            await pool.run(["end", str(code)], tmp_path)
        await pool.close()
        told = refusal.value
        assert told.status == status
        assert "so it is" in f"{told.message} {told.remedy}"

    asyncio.run(ended())


def test_a_worker_that_dies_is_told_and_replaced(tmp_path: Path) -> None:
    async def died() -> None:
        pool = fake()
        with pytest.raises(Refusal, match="memory") as refusal:
            await pool.run(["die"], tmp_path)
        assert refusal.value.status == 503
        assert (await pool.run(["end", "1"], tmp_path)).no
        await pool.close()

    asyncio.run(died())


def test_progress_is_told(tmp_path: Path) -> None:
    heard: list[tuple[str, int, int | None]] = []

    async def telling() -> None:
        pool = fake()
        await pool.run(["tell"], tmp_path, told=lambda *progress: heard.append(progress))
        await pool.close()

    asyncio.run(telling())
    assert heard == [("reading", 1, 2)]


# -- the worker of the command line ----------------------------------------------------------------


@pytest.mark.slow
def test_a_judgement_stays_within_its_memory(tmp_path: Path) -> None:
    lines = (f"{'attack' if i % 3 else 'normal'},{i / 3e6:.7f}\n" for i in range(3_000_000))
    (tmp_path / "rows.csv").write_text("label,score\n" + "".join(lines))

    async def hungry() -> None:
        pool = Pool(WORKER, RequestLimits(memory=100_000_000))
        with pytest.raises(Refusal, match="memory"):
            await pool.run(["evaluate", "rows.csv", "--format=json"], tmp_path)
        await pool.close()

    asyncio.run(hungry())


@pytest.mark.slow
def test_a_judgement_is_cancelled_in_the_middle(tmp_path: Path) -> None:
    lines = (f"{'attack' if i % 3 else 'normal'},{i / 3e6:.7f}\n" for i in range(3_000_000))
    (tmp_path / "rows.csv").write_text("label,score\n" + "".join(lines))

    async def cancelled() -> float:
        pool = Pool(WORKER, RequestLimits())
        begun = asyncio.Event()
        args = ["evaluate", "rows.csv", "--format=json"]
        task = asyncio.create_task(pool.run(args, tmp_path, told=lambda *_: begun.set()))
        await begun.wait()
        task.cancel()
        start = time.monotonic()
        with pytest.raises(asyncio.CancelledError):
            await task
        return time.monotonic() - start

    assert asyncio.run(cancelled()) < 2
