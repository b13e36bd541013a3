"""Files that are written aside and put in place when they are whole.

Whatever fails, the file that was there before is still there, and nothing else is left.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import stat
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path

# What lies aside now. The lock is held while something is added, and for good once the process
# ends, so that nothing new appears behind the back of whoever tidies up.
_aside: set[Path] = set()
_lock = threading.RLock()

_TRIES = 100
_BINARY = getattr(os, "O_BINARY", 0)  # Windows would translate line ends


def write(path: Path, content: bytes | Iterable[bytes]) -> None:
    """Write a file, in one piece or in many: all of it, or not at all."""
    mode = _mode(path)
    if mode is not None and not stat.S_ISREG(mode):
        # A device or a pipe can't be replaced, only written to.
        with path.open("wb", buffering=0) as stream:
            _write_all(stream.fileno(), content)
        return
    target = Path(os.path.realpath(path))
    with _new(target.parent) as temporary:
        with _lock:
            # The system applies the umask to a new file; one that is replaced keeps its mode.
            file = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, 0o666)
        try:
            if mode is not None:
                temporary.chmod(stat.S_IMODE(mode))
            _write_all(file, content)
            os.fsync(file)
        finally:
            os.close(file)
        temporary.replace(target)
        _sync_folder(target.parent)


@contextlib.contextmanager
def folder(path: Path) -> Iterator[Path]:
    """A folder to write into, which becomes ``path``, or joins it, when all is written."""
    exists = path.is_dir()
    with _new(path if exists else path.absolute().parent) as temporary:
        with _lock:
            temporary.mkdir()
        yield temporary
        if not exists:
            temporary.rename(path)
            return
        for file in sorted(temporary.iterdir()):
            file.replace(path / file.name)


def abandon() -> None:
    """Remove whatever lies aside, and let nothing new appear: the process is about to end."""
    _lock.acquire()
    for path in tuple(_aside):
        _remove(path)


@contextlib.contextmanager
def _new(parent: Path) -> Iterator[Path]:
    """A name in a folder that nobody uses; what bears it at the end is removed."""
    path = parent / f".assay-{secrets.token_hex(8)}.tmp"
    with _lock:
        _aside.add(path)
    try:
        yield path
    finally:
        _remove(path)
        _aside.discard(path)


def _remove(path: Path) -> None:
    # Another thread may still be writing into a folder, so once may not be enough.
    for _ in range(_TRIES):
        with contextlib.suppress(OSError):
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
            return


def _mode(path: Path) -> int | None:
    try:
        return path.stat().st_mode
    except FileNotFoundError:
        return None


def _write_all(file: int, content: bytes | Iterable[bytes]) -> None:
    for piece in (content,) if isinstance(content, bytes) else content:
        left = memoryview(piece)
        while left:
            left = left[os.write(file, left) :]


def _sync_folder(path: Path) -> None:
    """Make the new name last; some systems can't, which does no harm to the file itself."""
    with contextlib.suppress(OSError):
        file = os.open(path, os.O_RDONLY)
        try:
            os.fsync(file)
        finally:
            os.close(file)
