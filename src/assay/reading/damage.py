"""Damaged files: what a library raises or panics about becomes one error that names the file."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

from assay.errors import AssayError, InputError

T = TypeVar("T")

_STDERR = 2
_LONGEST = 200
# Their own names are told by `missing` and the like; these mean that content can't be read.
_BROKEN = (OSError, ValueError, OverflowError, TypeError, KeyError, IndexError, EOFError)


@contextlib.contextmanager
def guarded(name: str) -> Iterator[None]:
    """Raise an :class:`~assay.errors.InputError` with the file's name for what a reader raises.

    A panic of a library written in Rust is no ``Exception``, and writes to standard error first;
    that is dropped.
    """
    import polars as pl

    with _STANDARD_ERROR.held(name) as held:
        try:
            yield
        except AssayError:
            raise
        except (pl.exceptions.PolarsError, *_BROKEN) as error:
            held.drop = True
            raise damaged(name, error) from error
        except MemoryError as error:
            raise InputError(f"{name} needs more memory than there is") from error
        except BaseException as error:
            # Each of those libraries has a PanicException of its own.
            if type(error).__name__ != "PanicException":
                raise
            held.drop = True
            raise damaged(name, error) from None


def each(name: str, values: Iterator[T]) -> Iterator[T]:
    """The same values, guarded while they are made."""
    while True:
        with guarded(name):
            value = next(values, None)
        if value is None:
            return
        yield value


def damaged(name: str, error: BaseException | str) -> InputError:
    """An error that says that a file can't be read, and in one line why."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    why = lines[0] if len(lines[0]) <= _LONGEST else lines[0][:_LONGEST] + "..."
    return InputError(f"{name} can't be read, it seems to be damaged: {why}")


class _Held:
    """Whether what was written to standard error is dropped."""

    drop = False


class _StandardError:
    """Held back while any thread reads; the last one passes on what came."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._readers = 0
        self._drop = False
        self._kept: int | None = None
        self._abort: Any = None
        self.name = ""
        self._file: int | None = None

    @contextlib.contextmanager
    def held(self, name: str) -> Iterator[_Held]:
        """Hold it back while a file is read; it is passed on afterwards unless dropped."""
        held = _Held()
        self._hold(name)
        try:
            yield held
        finally:
            self._give_back(drop=held.drop)

    def _hold(self, name: str) -> None:
        with self._lock:
            self._readers += 1
            self.name = name
            if self._readers > 1:
                return
            try:
                self._kept = os.dup(_STDERR)
            except OSError:
                return  # it is closed: nobody would see what is written
            if self._file is None:
                self._file = _nameless_file()
            _flush()
            os.dup2(self._file, _STDERR)
            self._abort = _on_abort(_EXIT)

    def _give_back(self, *, drop: bool) -> None:
        with self._lock:
            self._readers -= 1
            self._drop |= drop
            if self._readers or self._kept is None or self._file is None:
                return
            _flush()
            _on_abort(self._abort)
            os.dup2(self._kept, _STDERR)
            os.close(self._kept)
            size = os.fstat(self._file).st_size
            os.lseek(self._file, 0, os.SEEK_SET)
            if size and not self._drop:
                os.write(_STDERR, os.read(self._file, size))
                os.lseek(self._file, 0, os.SEEK_SET)
            os.ftruncate(self._file, 0)
            self._kept, self._drop = None, False

    def exit(self) -> None:
        """End the process, which can't go on, as bad input does: not with an abort."""
        text = f"{damaged(self.name, 'it asks for more memory than there is')}\n"
        os.write(_STDERR if self._kept is None else self._kept, f"Error: {text}".encode())
        os._exit(_BAD_INPUT)


_STANDARD_ERROR = _StandardError()
_BAD_INPUT = 3

# A damaged length makes a library ask for terabytes. Rust then aborts, which no exception can tell,
# and which Python's own handlers never see: they run between instructions.
_LIBC = ctypes.CDLL(None) if os.name == "posix" else None
_EXIT = ctypes.CFUNCTYPE(None, ctypes.c_int)(lambda _: _STANDARD_ERROR.exit())


def _on_abort(handler: Any) -> Any:
    """Let a C function handle an abort; gives the one before."""
    if _LIBC is None:
        return None
    _LIBC.signal.restype = ctypes.c_void_p
    return ctypes.c_void_p(_LIBC.signal(signal.SIGABRT, handler))


def _nameless_file() -> int:
    """A file in memory where there are such ones."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("held")
    file, path = tempfile.mkstemp()
    Path(path).unlink()
    return file


def _flush() -> None:
    with contextlib.suppress(OSError, ValueError, AttributeError):
        sys.stderr.flush()
