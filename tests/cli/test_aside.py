"""Files are written whole or not at all, whatever fails."""

import errno
import os
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from assay.report import atomic_files

OLD, NEW = b"the old report\n", b"the new report, which is longer\n" * 100


def test_a_folder_that_takes_no_file_is_told_at_once(tmp_path: Path) -> None:
    def create() -> int:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))

    with pytest.raises(FileNotFoundError):
        atomic_files._locked(tmp_path / "report", create)


class Faulty:
    """The module ``os``, in which the n-th call of one function fails."""

    def __init__(self, name: str, code: int, nth: int = 1) -> None:
        self._name, self._code, self._left = name, code, nth

    def __getattr__(self, name: str) -> Any:
        real = getattr(os, name)
        if name != self._name:
            return real

        def failing(*args: Any, **settings: Any) -> Any:
            self._left -= 1
            if self._left == 0:
                raise OSError(self._code, os.strerror(self._code))
            return real(*args, **settings)

        return failing


@pytest.fixture
def umask() -> Iterator[Callable[[int], None]]:
    before = os.umask(0o022)
    yield lambda mask: os.umask(mask) and None
    os.umask(before)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_new_file_is_written(tmp_path: Path) -> None:
    atomic_files.write(tmp_path / "report", NEW)
    assert (tmp_path / "report").read_bytes() == NEW
    assert names(tmp_path) == ["report"]


def test_an_old_file_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "report"
    path.write_bytes(OLD)
    atomic_files.write(path, NEW)
    assert path.read_bytes() == NEW
    assert names(tmp_path) == ["report"]


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO, errno.EACCES, errno.EMFILE])
@pytest.mark.parametrize(("step", "nth"), [("open", 1), ("write", 1), ("write", 2), ("fsync", 1)])
@pytest.mark.parametrize("before", [None, OLD])
def test_whatever_fails_the_old_file_stays(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    code: int,
    step: str,
    nth: int,
    before: bytes | None,
) -> None:
    path = tmp_path / "report"
    if before is not None:
        path.write_bytes(before)
    faulty = Faulty(step, code, nth)
    if nth > 1:
        # A disk that fills up takes a part first.
        real = faulty.write
        faulty.__dict__["write"] = lambda file, content: real(file, content[:100])
    monkeypatch.setattr(atomic_files, "os", faulty)
    with pytest.raises(OSError, match=os.strerror(code)):
        atomic_files.write(path, NEW)
    assert names(tmp_path) == ([] if before is None else ["report"])
    assert before is None or path.read_bytes() == before
    assert not atomic_files._aside


@pytest.mark.parametrize("step", ["open", "write", "fsync", "replace"])
def test_a_command_that_can_not_write_exits_with_4(
    cli: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    def refuse(*_: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    path = tmp_path / "mcc.json"
    path.write_bytes(OLD)
    with monkeypatch.context() as patch:
        if step == "replace":
            patch.setattr(Path, "replace", refuse)
        else:
            patch.setattr(atomic_files, "os", Faulty(step, errno.ENOSPC))
        outcome = cli("measures", "mcc", "--out", path)
    assert outcome.code == 4
    assert outcome.out == ""
    assert outcome.err == f"assay: error: {path} could not be written: No space left on device\n"
    assert names(tmp_path) == ["mcc.json"]
    assert path.read_bytes() == OLD


@pytest.mark.parametrize("step", ["replace", "chmod"])
def test_a_failed_rename_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    def refuse(*_: Any) -> None:
        raise PermissionError(errno.EACCES, "no")

    path = tmp_path / "report"
    path.write_bytes(OLD)
    monkeypatch.setattr(Path, step, refuse)
    with pytest.raises(PermissionError):
        atomic_files.write(path, NEW)
    monkeypatch.undo()
    assert names(tmp_path) == ["report"]
    assert path.read_bytes() == OLD


def test_a_failed_close_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "report"
    path.write_bytes(OLD)
    faulty = Faulty("close", errno.EIO)
    # The file itself has to be closed, or it would leak.
    real = faulty.close
    faulty.__dict__["close"] = lambda file: (os.close(file), real(os.dup(2)))
    monkeypatch.setattr(atomic_files, "os", faulty)
    with pytest.raises(OSError, match=os.strerror(errno.EIO)):
        atomic_files.write(path, NEW)
    assert names(tmp_path) == ["report"]
    assert path.read_bytes() == OLD


def test_an_interruption_while_writing_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    path = tmp_path / "report"
    path.write_bytes(OLD)
    monkeypatch.setattr(atomic_files, "_write_all", interrupted)
    with pytest.raises(KeyboardInterrupt):
        atomic_files.write(path, NEW)
    assert names(tmp_path) == ["report"]
    assert path.read_bytes() == OLD


def test_a_folder_that_can_not_be_synchronised_does_no_harm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(atomic_files, "os", Faulty("fsync", errno.EINVAL, nth=2))
    atomic_files.write(tmp_path / "report", NEW)
    assert (tmp_path / "report").read_bytes() == NEW


def test_a_short_write_is_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = Faulty("", 0)
    slow.__dict__["write"] = lambda file, content: os.write(file, content[:7])
    monkeypatch.setattr(atomic_files, "os", slow)
    atomic_files.write(tmp_path / "report", NEW)
    assert (tmp_path / "report").read_bytes() == NEW


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_a_new_file_has_the_mode_that_the_umask_gives(
    tmp_path: Path, umask: Callable[[int], None], mask: int, mode: int
) -> None:
    umask(mask)
    atomic_files.write(tmp_path / "report", NEW)
    assert stat.S_IMODE((tmp_path / "report").stat().st_mode) == mode


def test_a_replaced_file_keeps_its_mode(tmp_path: Path, umask: Callable[[int], None]) -> None:
    path = tmp_path / "report"
    path.write_bytes(OLD)
    path.chmod(0o640)
    atomic_files.write(path, NEW)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    target, link = tmp_path / "deep" / "report", tmp_path / "link"
    target.parent.mkdir()
    target.write_bytes(OLD)
    link.symlink_to(target)
    atomic_files.write(link, NEW)
    assert link.is_symlink()
    assert target.read_bytes() == NEW
    assert names(target.parent) == ["report"]


def test_a_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    atomic_files.write(pipe, NEW)
    reader.join()
    assert read == [NEW]
    assert pipe.is_fifo()


def test_a_device_is_written_to_and_not_replaced() -> None:
    atomic_files.write(Path("/dev/null"), NEW)
    assert Path("/dev/null").is_char_device()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_device_says_so() -> None:
    with pytest.raises(OSError, match="space"):
        atomic_files.write(Path("/dev/full"), NEW)


def test_a_long_name_leaves_room_for_the_temporary_one(tmp_path: Path) -> None:
    path = tmp_path / ("r" * 255)
    atomic_files.write(path, NEW)
    assert path.read_bytes() == NEW


# -- folders ---------------------------------------------------------------------------------------


def test_a_folder_appears_when_all_is_written(tmp_path: Path) -> None:
    path = tmp_path / "figures"
    with atomic_files.folder(path) as folder:
        (folder / "roc.svg").write_bytes(NEW)
        assert not path.exists()
    assert names(path) == ["roc.svg"]
    assert names(tmp_path) == ["figures"]


def test_files_join_a_folder_that_is_there(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_bytes(OLD)
    (tmp_path / "roc.svg").write_bytes(OLD)
    with atomic_files.folder(tmp_path) as folder:
        (folder / "roc.svg").write_bytes(NEW)
    assert names(tmp_path) == ["mine.txt", "roc.svg"]
    assert (tmp_path / "mine.txt").read_bytes() == OLD
    assert (tmp_path / "roc.svg").read_bytes() == NEW


@pytest.mark.parametrize("exists", [True, False])
def test_a_folder_that_fails_half_way_leaves_nothing(tmp_path: Path, exists: bool) -> None:
    path = tmp_path / "figures"
    if exists:
        path.mkdir()

    def half() -> None:
        with atomic_files.folder(path) as folder:
            (folder / "roc.svg").write_bytes(NEW)
            raise OSError(errno.ENOSPC, "full")

    with pytest.raises(OSError, match="full"):
        half()
    assert names(tmp_path) == (["figures"] if exists else [])
    assert not exists or names(path) == []


# -- the end of the process ------------------------------------------------------------------------


def test_what_lies_aside_is_removed_when_the_process_ends(tmp_path: Path) -> None:
    with atomic_files.folder(tmp_path / "figures") as folder:
        (folder / "half").write_bytes(NEW)
        atomic_files.abandon()
        atomic_files._lock.release()  # the process would have ended here
        assert names(tmp_path) == []
        folder.mkdir()


def test_nothing_new_appears_once_the_process_is_ending(tmp_path: Path) -> None:
    atomic_files.abandon()
    writer = threading.Thread(target=atomic_files.write, args=(tmp_path / "report", NEW))
    writer.start()
    writer.join(0.1)
    assert writer.is_alive()
    assert names(tmp_path) == []
    atomic_files._lock.release()
    writer.join()
    assert names(tmp_path) == ["report"]


# -- what was left by a process that was killed ----------------------------------------------------


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a process that has not written anything yet."""
    monkeypatch.setattr(atomic_files, "_cleared", set())


def aside(machine: str = atomic_files._MACHINE) -> str:
    return f".assay-{machine}01234567.tmp"


@pytest.mark.usefixtures("fresh")
def test_what_a_killed_process_left_is_cleared_by_the_next(tmp_path: Path) -> None:
    (tmp_path / aside()).write_bytes(OLD)
    left = tmp_path / aside().replace("0123", "4567")
    left.mkdir()
    (left / "part").write_bytes(OLD)
    others = [".assay-notes.tmp", "assay-1.tmp", f"{aside()}.txt"]
    for other in others:
        (tmp_path / other).write_bytes(OLD)
    atomic_files.write(tmp_path / "report", NEW)
    assert names(tmp_path) == sorted(["report", *others])


@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize("folder", [False, True])
def test_what_a_living_process_writes_is_left_alone(tmp_path: Path, folder: bool) -> None:
    script = f"""
import sys
from pathlib import Path
from assay.report import atomic_files
def pieces():
    print("writing", flush=True)
    sys.stdin.read()
    yield b"whole"
path = Path({str(tmp_path)!r}) / "other"
if {folder}:
    with atomic_files.folder(path) as aside:
        (aside / "part").write_bytes(b"".join(pieces()))
else:
    atomic_files.write(path, pieces())
"""
    writer = subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert writer.stdout is not None
    assert writer.stdout.readline() == b"writing\n"
    atomic_files.write(tmp_path / "report", NEW)
    assert len(names(tmp_path)) == 2
    writer.communicate()
    assert writer.returncode == 0
    assert names(tmp_path) == ["other", "report"]


@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize(("hours", "cleared"), [(23, False), (25, True)])
def test_what_another_machine_may_still_write_is_left_for_a_day(
    tmp_path: Path, hours: int, cleared: bool
) -> None:
    left = tmp_path / aside("ffffffff")
    left.write_bytes(OLD)
    then = time.time() - 3600 * hours
    os.utime(left, (then, then))
    atomic_files.write(tmp_path / "report", NEW)
    assert left.exists() is not cleared
