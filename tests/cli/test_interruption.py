"""Whoever presses Ctrl-C is heard at once, whatever the process is doing."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals are those of POSIX")

PROMPT = 2.0  # seconds of work that a process may still do

# Work that takes minutes; all but the first do not let Python run a handler meanwhile.
WORK = {
    "python": "while True: pass",
    "sleep": "import time; time.sleep(600)",
    "numpy": "import numpy as np; a = np.arange(3e7); [np.sort(a[::-1]) for _ in range(100)]",
    "polars": (
        "import polars as pl, numpy as np; a = pl.Series(np.arange(3e7)[::-1]);\n"
        "[a.sort().rank() for _ in range(100)]"
    ),
    "sqlite": (
        "import sqlite3; sqlite3.connect(':memory:').execute('with recursive t(i) as "
        "(select 1 union all select i + 1 from t where i < 1e12) select sum(i) from t').fetchall()"
    ),
    "reading": "import sys; sys.stdin.buffer.read()",
}
SCRIPT = """
from pathlib import Path
from assay.cli import interruption
from assay.report import atomic_files
interruption.watch()
with atomic_files.folder(Path({folder!r}) / "figures") as folder:
    (folder / "half").write_text("half")
    print("ready", flush=True)
    {work}
"""


def started(code: str, **settings: object) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **settings,  # type: ignore[call-overload]
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n", process.communicate()[1]
    return process


def worked(process: subprocess.Popen[str]) -> float:
    """Seconds of work so far; 0 where the system does not tell."""
    stat = Path(f"/proc/{process.pid}/stat")
    if not stat.exists():
        return 0.0
    user, system = stat.read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def sent(process: subprocess.Popen[str], number: signal.Signals) -> tuple[int, str, float]:
    """What a process leaves that is sent a signal, and how long it went on working.

    Its work is counted, not the time, since a busy machine may hold it up.
    """
    before, others = worked(process), os.times()
    process.send_signal(number)
    try:
        process.wait(timeout=120)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    finally:
        err = process.communicate()[1]
    after = os.times()
    whole = after.children_user + after.children_system
    whole -= others.children_user + others.children_system
    return process.returncode, err, whole - before


@pytest.mark.sampled(3)
@pytest.mark.parametrize("work", WORK.values(), ids=WORK)
def test_ctrl_c_ends_it_promptly_and_leaves_nothing(tmp_path: Path, work: str) -> None:
    process = started(SCRIPT.format(folder=str(tmp_path), work=work.replace("\n", "\n    ")))
    time.sleep(0.3)
    code, err, seconds = sent(process, signal.SIGINT)
    assert code == 130
    assert err == "\nassay: interrupted\n"
    assert seconds < PROMPT
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_being_told_to_end_is_obeyed_too(tmp_path: Path, number: int, code: int) -> None:
    process = started(SCRIPT.format(folder=str(tmp_path), work=WORK["sleep"]))
    exit_code, err, seconds = sent(process, number)
    assert exit_code == code
    assert "stopped by signal" in err
    assert seconds < PROMPT
    assert list(tmp_path.iterdir()) == []


def test_a_signal_that_was_ignored_stays_ignored(tmp_path: Path) -> None:
    work = "import sys; sys.stdin.read()"
    process = started(
        SCRIPT.format(folder=str(tmp_path), work=work),
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),
    )
    process.send_signal(signal.SIGHUP)
    process.communicate()
    assert process.returncode == 0
