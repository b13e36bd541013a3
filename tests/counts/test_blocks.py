"""Blocks of rows: the same bits for any number of threads."""

import os
import threading
from typing import Any

import pytest

from assay.counts.blocks import BLOCK, bounds, map_blocks, threads


def test_the_blocks_of_a_size_follow_each_other_to_its_end() -> None:
    assert bounds(0) == []
    assert bounds(5, block=2) == [(0, 2), (2, 4), (4, 5)]
    assert bounds(4, block=2) == [(0, 2), (2, 4)]
    assert bounds(BLOCK) == [(0, BLOCK)]
    assert bounds(BLOCK + 1) == [(0, BLOCK), (BLOCK, BLOCK + 1)]


@pytest.mark.parametrize("count", ["1", "2", "3", "8", "64"])
@pytest.mark.parametrize("blocks", [0, 1, 4, 5, 17])
def test_results_come_back_in_the_order_of_blocks(
    blocks: int, count: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_THREADS", count)
    results = map_blocks(blocks * 10, lambda: lambda i, j: (i, j), block=10)
    assert results == [(i * 10, i * 10 + 10) for i in range(blocks)]


def test_each_thread_makes_its_worker_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_THREADS", "3")
    made: list[int] = []

    def worker() -> Any:
        made.append(threading.get_ident())
        return lambda i, j: None

    map_blocks(100, worker, block=10)
    assert len(made) == 3
    made.clear()
    map_blocks(40, worker, block=10)
    assert made == [threading.get_ident()]


def test_an_error_in_a_block_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_THREADS", "4")

    def fail(i: int, j: int) -> None:
        if i == 70:
            raise RuntimeError(f"block {i}")

    with pytest.raises(RuntimeError, match="block 70"):
        map_blocks(100, lambda: fail, block=10)


def test_the_number_of_threads_is_asked_for_or_that_of_the_cores(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ASSAY_THREADS", "5")
    assert threads() == 5
    monkeypatch.delenv("ASSAY_THREADS")
    cores = threads()
    assert cores >= 1
    for odd in ("", "0", "-2", "many", "1.5"):
        monkeypatch.setenv("ASSAY_THREADS", odd)
        assert threads() == cores


def test_where_a_process_can_not_tell_its_cores_those_of_the_machine_are_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("ASSAY_THREADS", raising=False)
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 7)
    assert threads() == 7
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert threads() == 1
