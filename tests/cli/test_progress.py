"""Progress is shown to those who wait, and to nobody else."""

import io
import os
import sys
import tempfile
import time

import pytest

from assay.cli import messages
from assay.cli.messages import Progress, progress_line


class Screen(io.TextIOWrapper):
    """Standard error that is a terminal, or not."""

    def __init__(self, *, terminal: bool) -> None:
        self.file = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the wrapper
        super().__init__(self.file)
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal

    def wait(self, seconds: float) -> None:
        """Until something was written, or this time has passed."""
        until = time.monotonic() + seconds
        while not os.fstat(self.file.fileno()).st_size and time.monotonic() < until:
            time.sleep(0.005)

    def shown(self) -> str:
        self.file.seek(0)
        text = self.file.read().decode()
        self.close()
        return text


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(messages, "PATIENCE", 0.01)
    monkeypatch.setattr(messages, "_EVERY", 0.01)


def shown(monkeypatch: pytest.MonkeyPatch, *, terminal: bool, quiet: bool, wait: float) -> str:
    screen = Screen(terminal=terminal)
    monkeypatch.setattr(sys, "stderr", screen)
    with Progress(quiet=quiet) as told:
        told(30, 100)
        screen.wait(wait)
    return screen.shown()


@pytest.mark.usefixtures("impatient")
def test_a_bar_appears_and_is_erased_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    text = shown(monkeypatch, terminal=True, quiet=False, wait=60)
    assert " 30%" in text
    assert text.endswith("\r\x1b[K")


def test_nothing_is_shown_before_two_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    assert messages.PATIENCE == 2
    assert shown(monkeypatch, terminal=True, quiet=False, wait=0.05) == ""


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize(("terminal", "quiet"), [(False, False), (True, True), (False, True)])
def test_nothing_is_shown_where_nobody_looks(
    monkeypatch: pytest.MonkeyPatch, terminal: bool, quiet: bool
) -> None:
    assert shown(monkeypatch, terminal=terminal, quiet=quiet, wait=0.05) == ""


def test_closed_standard_error_is_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    with Progress(quiet=False) as told:
        told(1, 2)


@pytest.mark.usefixtures("impatient")
def test_the_bar_is_erased_when_the_work_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Screen(terminal=True)
    monkeypatch.setattr(sys, "stderr", screen)

    def failing() -> None:
        with Progress(quiet=False):
            screen.wait(60)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        failing()
    assert screen.shown().endswith("\r\x1b[K")


@pytest.mark.parametrize(
    ("done", "total", "elapsed", "said"),
    [
        (0, 100, 2.0, "reading [                              ]   0%"),
        (50, 100, 10.0, "reading [###############               ]  50%, 10 s left"),
        (100, 100, 12.0, "working, 12 s"),
        (5_000_000, None, 3.0, "reading, 5 MB so far, 3 s"),
        (0, None, 3.0, "working, 3 s"),
        (0, 0, 3.0, "working, 3 s"),
    ],
)
def test_a_line_says_how_far_it_is(done: int, total: int | None, elapsed: float, said: str) -> None:
    assert progress_line(done, total, elapsed) == said


def test_another_stage_is_counted_in_its_own_words() -> None:
    assert progress_line(250, 1000, 5.0, "resampling").startswith("resampling [#######")
    assert progress_line(3, None, 5.0, "resampling") == "working, 5 s"
    progress = Progress(quiet=True)
    progress(70, 100)
    assert progress.stage("resampling") is progress
    assert (progress._done, progress._total) == (0, None)
