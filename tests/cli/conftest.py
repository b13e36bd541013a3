"""What the tests of the command line share: how a command line is run, and a file to run it on."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from assay.cli.demo import table
from assay.learn.scenarios import make_flows

from assay.cli.app import run


@dataclass(frozen=True)
class Outcome:
    """What a command line left: its exit code, and what it printed where."""

    code: int
    out: str
    err: str


@pytest.fixture
def cli(capfdbinary: pytest.CaptureFixture[bytes]) -> Callable[..., Outcome]:
    """Run a command line in this process."""

    def outcome(*arguments: object) -> Outcome:
        capfdbinary.readouterr()
        code = run([str(argument) for argument in arguments])
        sys.stdout.flush()
        out, err = capfdbinary.readouterr()
        return Outcome(code, out.decode(), err.decode())

    return outcome


@pytest.fixture
def shell() -> Callable[..., Outcome]:
    """Run a command line in a process of its own."""

    def outcome(*arguments: object, **settings: Any) -> Outcome:
        settings.setdefault("stdin", subprocess.DEVNULL)
        settings.setdefault("timeout", 300)
        settings["env"] = {**os.environ, **settings.get("env", {})}
        command = [sys.executable, "-m", "assay", *map(str, arguments)]
        settings = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **settings}
        done = subprocess.run(command, check=False, **settings)
        return Outcome(
            done.returncode, (done.stdout or b"").decode(), (done.stderr or b"").decode()
        )

    return outcome


@pytest.fixture
def ready() -> Callable[[subprocess.Popen[bytes]], None]:
    """Wait until a process catches SIGTERM, which Python by itself does not."""
    if not Path("/proc/self/status").exists():
        pytest.skip("needs /proc to see which signals a process catches")

    def caught(process: subprocess.Popen[bytes]) -> None:
        status = Path(f"/proc/{process.pid}/status")
        while process.poll() is None:
            (mask,) = re.findall(r"^SigCgt:\s*(\w+)$", status.read_text(), re.MULTILINE)
            if int(mask, 16) >> (signal.SIGTERM - 1) & 1:
                return
            time.sleep(0.002)

    return caught


@pytest.fixture(scope="session")
def flows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The predictions of the demo; not to be written to."""
    path = tmp_path_factory.mktemp("flows") / "predictions.csv"
    path.write_bytes(table(make_flows()))
    return path


@pytest.fixture
def predictions(tmp_path: Path) -> Path:
    """Twelve predictions."""
    path = tmp_path / "predictions.csv"
    path.write_text(
        "label,score,family,protocol\n"
        "attack,0.91,dos,tcp\n"
        "attack,0.85,dos,udp\n"
        "attack,0.40,scan,tcp\n"
        "attack,0.77,scan,tcp\n"
        "normal,0.10,normal,tcp\n"
        "normal,0.62,normal,udp\n"
        "normal,0.20,normal,tcp\n"
        "normal,0.31,normal,tcp\n"
        "normal,0.05,normal,udp\n"
        "normal,0.15,normal,tcp\n"
        "normal,0.45,normal,tcp\n"
        "normal,0.02,normal,tcp\n",
        "utf-8",
    )
    return path
