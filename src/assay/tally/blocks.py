"""Fixed blocks of rows, worked on by a few threads.

Blocks are cut by position, never by thread, and results come back in block order. So whatever is
reduced from them has the same bits for any number of threads.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import cache
from threading import current_thread
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

BLOCK = 1 << 16
_SERIAL_BLOCKS = 4
_NAME = "assay-blocks"

Result = TypeVar("Result")
Worker = Callable[[int, int], Result]


def threads() -> int:
    """How many threads may work: the cores of this process, or ``ASSAY_THREADS``."""
    asked = os.environ.get("ASSAY_THREADS", "")
    if asked.isdigit() and int(asked) > 0:
        return int(asked)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def bounds(size: int, block: int = BLOCK) -> list[tuple[int, int]]:
    """The first and one-past-last row of each block.

    >>> bounds(5, block=2)
    [(0, 2), (2, 4), (4, 5)]
    """
    return [(start, min(start + block, size)) for start in range(0, size, block)]


def map_blocks(
    size: int,
    worker: Callable[[], Worker[Result]],
    block: int = BLOCK,
    at_most: int | None = None,
) -> list[Result]:
    """Call a worker on each block of ``size`` rows; results in block order.

    ``worker()`` is called once a thread and gives the function for its blocks, so that each
    thread allocates its scratch space once. ``at_most`` so many threads work.
    """
    cut = bounds(size, block)
    count = min(threads(), len(cut), at_most or len(cut))
    # What is called by one of the threads runs there: it would wait for itself.
    if count <= 1 or len(cut) <= _SERIAL_BLOCKS or current_thread().name.startswith(_NAME):
        return _run(worker, cut)
    shares = [cut[i::count] for i in range(count)]
    parts = list(_pool(count, os.getpid()).map(lambda share: _run(worker, share), shares))
    return [parts[i % count][i // count] for i in range(len(cut))]


@cache
def _pool(count: int, _: int) -> ThreadPoolExecutor:
    """The threads of this process: starting some for each call takes longer than many a call."""
    # Imported here: it brings logging along, which costs more than the rest of the package.
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(count, thread_name_prefix=_NAME)


def _run(worker: Callable[[], Worker[Result]], share: Sequence[tuple[int, int]]) -> list[Result]:
    work = worker()
    return [work(start, stop) for start, stop in share]
