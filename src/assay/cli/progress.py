"""How far the work is, shown on standard error to whoever waits."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections.abc import Callable
from types import TracebackType

PATIENCE = 2.0  # seconds before anything is shown
_EVERY = 0.2
_WIDTH = 30
READING = "reading"
_ERASE = "\r\x1b[K"

# Who else is told the stage, what is done, and all there is: whoever runs commands for others.
LISTENERS: list[Callable[[str, int, int | None], None]] = []


class Progress:
    """A line that shows the bytes that were read, and later that the work goes on.

    It appears after two seconds, and only where standard error is a terminal. It is called with
    the bytes that are done and, where known, all there are; ``stage`` begins work that is counted
    in something else.
    """

    def __init__(self, *, quiet: bool) -> None:
        self._shown = not quiet and sys.stderr is not None and sys.stderr.isatty()
        self._screen = -1
        self._done = 0
        self._total: int | None = None
        self._what = READING
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._draw, name="progress", daemon=True)
        self._started = time.monotonic()

    def __call__(self, done: int, total: int | None) -> None:
        """Note how far the reading is."""
        self._done, self._total = done, total
        for listener in LISTENERS:
            listener(self._what, done, total)

    def stage(self, what: str) -> Progress:
        """Begin to count other work, such as resampling."""
        self._what, self._done, self._total = what, 0, None
        self._started = time.monotonic()
        return self

    def __enter__(self) -> Progress:
        if self._shown:
            # A copy, since standard error itself may be held back while a library is at work.
            self._screen = os.dup(sys.stderr.fileno())
            self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()
        if self._shown:
            self._thread.join()
            os.close(self._screen)

    def _draw(self) -> None:
        if self._over.wait(PATIENCE):
            return
        while True:
            elapsed = time.monotonic() - self._started
            self._show(_ERASE + line(self._done, self._total, elapsed, self._what))
            if self._over.wait(_EVERY):
                self._show(_ERASE)
                return

    def _show(self, text: str) -> None:
        with contextlib.suppress(OSError):
            os.write(self._screen, text.encode())


def line(done: int, total: int | None, elapsed: float, what: str = READING) -> str:
    """What is shown at one moment.

    >>> line(250_000_000, 1_000_000_000, 5.0)
    'reading [#######                       ]  25%, 15 s left'
    """
    if total and done < total:
        share = done / total
        bar = "#" * int(share * _WIDTH)
        left = f", {elapsed / share - elapsed:.0f} s left" if share > 0.02 else ""
        return f"{what} [{bar:<{_WIDTH}}] {share:4.0%}{left}"
    if total is None and done and what == READING:
        return f"{what}, {done / 1e6:,.0f} MB so far, {elapsed:.0f} s"
    return f"working, {elapsed:.0f} s"
