"""Files that are written aside and put in place when they are whole.

Whatever fails, the file that was there before is still there, and nothing else is left. Only a
process that is killed leaves what lay aside; it is locked while its process lives, so whoever next
writes into the folder can tell, and removes it.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import re
import secrets
import shutil
import stat
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any


def _locks() -> Any:
    """Locks of files; None on Windows, where nothing is cleared."""
    try:
        import fcntl
    except ImportError:
        return None
    return fcntl


fcntl: Any = _locks()

# What lies aside now. The lock is held while something is added, and for good once the process
# ends, so that nothing new appears behind the back of whoever tidies up.
_aside: set[Path] = set()
_lock = threading.RLock()

# Folders that this process has looked through for what others left.
_cleared: set[Path] = set()
_ASIDE = re.compile(r"\.assay-([0-9a-f]{8})[0-9a-f]{8}\.tmp")
# A lock need not be seen on another machine, so what was left by one is removed after a day.
_MACHINE = hashlib.sha256(platform.node().encode()).hexdigest()[:8]
_DAY = 86_400.0

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
        # The system applies the umask to a new file; one that is replaced keeps its mode.
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY
        file = _locked(temporary, lambda: os.open(temporary, flags, 0o666))
        # Locked until it is in place, or another process might take it for left.
        with _still_locked(file):
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
    parent = path if exists else path.absolute().parent
    with _new(parent) as temporary, _locked_folder(temporary):
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
    _clear(parent)
    path = parent / f".assay-{_MACHINE}{secrets.token_hex(4)}.tmp"
    with _lock:
        _aside.add(path)
    try:
        yield path
    finally:
        _remove(path)
        _aside.discard(path)


def _locked(path: Path, create: Callable[[], int]) -> int:
    """What was created at a path, open and locked; made anew if it was taken for left before."""
    missing = 0
    while True:
        try:
            with _lock:
                file = create()
        except FileNotFoundError:
            # A folder was removed before it could be locked; or nothing can be made where it lies.
            missing += 1
            if missing < _TRIES and path.parent.is_dir():
                continue
            raise
        if fcntl is None:
            return file
        with contextlib.suppress(OSError):  # a file system without locks
            fcntl.flock(file, fcntl.LOCK_EX)
        if _is_at(path, file):
            return file
        os.close(file)


@contextlib.contextmanager
def _still_locked(file: int) -> Iterator[None]:
    """Keep the lock of a file that is closed meanwhile."""
    if fcntl is None:
        yield
        return
    try:
        copy = os.dup(file)
    except OSError:
        os.close(file)
        raise
    try:
        yield
    finally:
        os.close(copy)


@contextlib.contextmanager
def _locked_folder(path: Path) -> Iterator[None]:
    def create() -> int:
        path.mkdir()
        return os.open(path, os.O_RDONLY)

    if fcntl is None:
        path.mkdir()
        yield
        return
    file = _locked(path, create)
    try:
        yield
    finally:
        os.close(file)


def _is_at(path: Path, file: int) -> bool:
    """Whether what is open is what the path leads to."""
    try:
        there = path.lstat()
    except FileNotFoundError:
        return False
    here = os.fstat(file)
    return (there.st_dev, there.st_ino) == (here.st_dev, here.st_ino)


def _clear(parent: Path) -> None:
    """Remove what processes that were killed have left in a folder."""
    if fcntl is None or parent in _cleared:
        return
    _cleared.add(parent)
    with contextlib.suppress(OSError), os.scandir(parent) as entries:
        for entry in entries:
            name = _ASIDE.fullmatch(entry.name)
            if name is None or entry.is_symlink():
                continue
            with contextlib.suppress(OSError):
                fresh = time.time() - entry.stat().st_mtime < _DAY
                if name[1] == _MACHINE or not fresh:
                    _remove_unlocked(Path(entry.path))


def _remove_unlocked(path: Path) -> None:
    """Remove what no living process holds."""
    file = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        # Refused where it is locked, and where there are no locks.
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if _is_at(path, file):
            _remove(path)
    finally:
        os.close(file)


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
        unwritten = memoryview(piece)
        while unwritten:
            unwritten = unwritten[os.write(file, unwritten) :]


def _sync_folder(path: Path) -> None:
    """Make the new name last; some systems can't, which does no harm to the file itself."""
    with contextlib.suppress(OSError):
        file = os.open(path, os.O_RDONLY)
        try:
            os.fsync(file)
        finally:
            os.close(file)
