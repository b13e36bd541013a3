"""Ctrl-C and its like: leave at once, and leave nothing half done.

Python runs signal handlers between two of its own instructions, and so not while polars or NumPy
are at work. Here a thread is told by the operating system instead, and ends the process.
"""

from __future__ import annotations

import contextlib
import os
import signal
from types import FrameType
from typing import NoReturn

from assay.v02.report import atomic_files

# Those that people and schedulers send; a system may know fewer.
_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")


def _duplicate(file: int) -> int:
    try:
        return os.dup(file)
    except OSError:  # it is closed
        return file


# Where last words go. Standard error itself may be held back for a while, so this is a copy of it.
_CONSOLE = _duplicate(2)


def watch() -> None:
    """From now on a signal to stop ends the process, with 128 and its number as exit code."""
    import threading

    _fill_gaps()
    wake_fd, signal_fd = os.pipe()
    if hasattr(os, "set_blocking"):
        os.set_blocking(signal_fd, False)
    signal.set_wakeup_fd(signal_fd, warn_on_full_buffer=False)
    for number in _heeded():
        signal.signal(number, _left_to_the_thread)
    threading.Thread(target=_wait, args=(wake_fd,), name="interruption", daemon=True).start()


def finish() -> None:
    """From now on signals come too late: all is done, and the exit code is to be that of it."""
    for number in _heeded():
        # Python itself would turn back to dying of them while it shuts down.
        signal.signal(number, signal.SIG_IGN)


def release() -> None:
    """From now on signals are Python's own again: a server ends what it has begun first."""
    signal.set_wakeup_fd(-1)
    for number in _heeded():
        default = signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL
        signal.signal(number, default)


def _heeded() -> list[int]:
    """The signals to act on; what was ignored on purpose, as by nohup, stays ignored."""
    signals = [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]
    return [number for number in signals if signal.getsignal(number) is not signal.SIG_IGN]


def _fill_gaps() -> None:
    """Open what was closed of the standard streams, or the pipe would be taken for one of them."""
    for file in range(3):
        try:
            os.fstat(file)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


def _left_to_the_thread(number: int, frame: FrameType | None) -> None:
    """Nothing; but without a handler the thread would not be told."""


def _wait(wake_fd: int) -> None:
    stop(os.read(wake_fd, 1)[0])


def stop(number: int) -> NoReturn:
    """End the process because of a signal."""
    ending = "interrupted" if number == signal.SIGINT else f"stopped by signal {number}"
    end(128 + number, f"\nassay: {ending}")


def end(code: int, message: str) -> NoReturn:
    """End the process from any thread, with nothing half written left behind."""
    atomic_files.abandon()
    with contextlib.suppress(OSError):
        os.write(_CONSOLE, f"{message}\n".encode(errors="backslashreplace"))
    os._exit(code)
