"""Fixed blocks of rows, shared out among a few threads.

Blocks are cut by position and results come back in block order, so a reduction over them has the
same bits for any number of threads.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import cache
from threading import current_thread
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

BLOCK = 1 << 16
_SERIAL_BLOCKS = 4
_NAME = "assay-blocks"

Result = TypeVar("Result")
Worker = Callable[[int, int], Result]


def threads() -> int:
    """The number of threads to use: ``ASSAY_THREADS``, or the cores available to this process."""
    asked = os.environ.get("ASSAY_THREADS", "")
    if asked.isdigit() and int(asked) > 0:
        return int(asked)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def bounds(size: int, block: int = BLOCK) -> list[tuple[int, int]]:
    """The first row and the row after the last of each block.

    >>> bounds(5, block=2)
    [(0, 2), (2, 4), (4, 5)]
    """
    return [(start, min(start + block, size)) for start in range(0, size, block)]


def map_blocks(
    size: int,
    worker: Callable[[], Worker[Result]],
    block: int = BLOCK,
    serial: int = _SERIAL_BLOCKS,
) -> list[Result]:
    """Call a worker on each block of ``size`` rows; results in block order.

    ``worker()`` is called once per thread and returns the function for its blocks, so that each
    thread allocates its scratch space once. Up to ``serial`` blocks need no threads.
    """
    cut = bounds(size, block)
    # A call from one of our threads runs there: waiting for the pool could block forever.
    alone = len(cut) <= serial or current_thread().name.startswith(_NAME)
    count = 1 if alone else min(threads(), len(cut))
    if count <= 1:
        return _run(worker, cut)
    shares = [cut[i::count] for i in range(count)]
    parts = list(_pool(count, os.getpid()).map(lambda share: _run(worker, share), shares))
    return [parts[i % count][i // count] for i in range(len(cut))]


def each_thread(size: int, work: Callable[[int], Result]) -> list[Result]:
    """Call a function for each number below ``size``, on a few threads; results in order."""
    return map_blocks(size, lambda: lambda i, _: work(i), block=1, serial=1)


@cache
def _pool(count: int, _: int) -> ThreadPoolExecutor:
    """The threads of this process, kept: starting them takes longer than many a call."""
    # Imported here because it loads logging, which costs more than the rest of the package.
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(count, thread_name_prefix=_NAME)


def _run(worker: Callable[[], Worker[Result]], share: Sequence[tuple[int, int]]) -> list[Result]:
    work = worker()
    return [work(start, stop) for start, stop in share]


def occurring(codes: npt.NDArray[Any], size: int) -> npt.NDArray[np.bool_]:
    """Which of the numbers below ``size`` occur; once all do, no more are looked at.

    >>> occurring(np.array([0, 2, 0]), 3).tolist()
    [True, False, True]
    """
    seen = np.zeros(size, bool)
    for i, j in bounds(len(codes)):
        seen[codes[i:j]] = True
        if seen.all():
            break
    return seen


def narrow(counts: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Counts in the narrowest unsigned type that holds them."""
    largest = int(counts.max()) if counts.size else 0
    return counts.astype(np.min_scalar_type(largest), copy=False)
