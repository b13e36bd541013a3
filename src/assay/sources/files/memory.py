"""How much memory reading may take, and what to do when it takes more."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

from assay.errors import InputError

# Counting sorts and tallies what was read: about three times the columns in all.
_FACTOR = 3
_WITHOUT_ANSWER = 4 << 30
_BETWEEN_LOOKS = 0.02
_STATM = Path("/proc/self/statm")


def default_limit() -> int:
    """Half of the machine's memory."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (AttributeError, ValueError, OSError):
        return _WITHOUT_ANSWER


class Budget:
    """The bytes that may be used, and refusals of what would not fit."""

    def __init__(self, limit: int | None) -> None:
        self.limit = default_limit() if limit is None else limit

    def must_hold(self, columns: int, at_once: int = 0, *, name: str) -> None:
        """Refuse columns that could not be counted, or that could not even be read."""
        need = max(_FACTOR * columns, columns + at_once)
        if need > self.limit:
            raise InputError(
                f"{name} needs about {_shown(need)} of memory, and {_shown(self.limit)} are "
                f"allowed. Raise max_memory=, or read fewer columns or rows"
            )


def _shown(size: int) -> str:
    for unit, one in (("GB", 10**9), ("MB", 10**6)):
        if size >= one:
            return f"{size / one:.3g} {unit}"
    return f"{size:,} bytes"


def used() -> int:
    """The memory of this process that is not a file's, 0 where that can't be told."""
    try:
        _, resident, shared, *_ = map(int, _STATM.read_bytes().split())
    except (OSError, ValueError):
        return 0
    return (resident - shared) * os.sysconf("SC_PAGE_SIZE")


@contextlib.contextmanager
def memory_limit(limit: int, on_exceeded: Callable[[int], None]) -> Iterator[None]:
    """Look at this process's memory from time to time; above the limit, call ``on_exceeded`` once.

    It is called with the bytes in use, in a thread of its own, while other code goes on: the last
    resort against files that lie about their size.
    """
    done = threading.Event()

    def watch() -> None:
        while not done.wait(_BETWEEN_LOOKS):
            now = used()
            if now > limit:
                on_exceeded(now)
                return

    watcher = threading.Thread(target=watch, name="memory limit", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()
