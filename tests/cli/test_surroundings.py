"""Hard surroundings: the same answer or the right exit code, and nothing left lying about."""

import json
import os
import resource
import stat
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

COMMANDS = {
    "evaluate": "evaluate rows.csv --format json",
    "gate": "gate rows.csv --score score --rule new(recall)>=0.1 --format json",
    "monitor": "monitor rows.csv --time time --format json",
    "measures": "measures recall --format json",
}
# What a process gets where nobody has set anything up.
BARE = {"PATH": os.environ.get("PATH", ""), "PYTHONPATH": os.environ.get("PYTHONPATH", "")}


@dataclass(frozen=True)
class Surroundings:
    """What is set, and what is not."""

    name: str
    more: tuple[tuple[str, str], ...] = ()


SURROUNDINGS = (
    Surroundings("no HOME, no TERM"),
    Surroundings("HOME is nowhere", (("HOME", "/nonexistent"), ("TERM", "dumb"))),
    Surroundings("C locale", (("LC_ALL", "C"), ("PYTHONUTF8", "0"), ("PYTHONCOERCECLOCALE", "0"))),
    Surroundings("no such locale", (("LC_ALL", "xx_YY.UTF-8"), ("LANG", "xx"))),
    Surroundings("another zone", (("TZ", "Pacific/Kiritimati"),)),
    Surroundings("no such zone", (("TZ", "Nowhere/None"),)),
    Surroundings("a narrow terminal", (("COLUMNS", "1"), ("TERM", "xterm"))),
    Surroundings("a clock of 1970", (("SOURCE_DATE_EPOCH", "0"),)),
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = [
        f"2026-03-{1 + i // 10:02}T10:00:00Z,{'angriff é' if i % 5 == 0 else 'normal'},"
        f"{(i * 7 % 50) / 100 + (0.4 if i % 5 == 0 else 0):.2f}"
        for i in range(100)
    ]
    text = "time,label,score\n" + "\n".join(rows) + "\n"
    (tmp_path / "rows.csv").write_text(text, "utf-8")
    return tmp_path


@pytest.fixture
def bare(folder: Path) -> Callable[..., Any]:
    """Run a command where only what is said is set."""

    def outcome(line: str, **settings: Any) -> Any:
        env = {**BARE, **settings.pop("more", {})}
        return _run([sys.executable, "-m", "assay", *line.split()], cwd=folder, env=env, **settings)

    return outcome


def _run(command: list[str], **settings: Any) -> Any:
    settings = {"stdin": subprocess.DEVNULL, "capture_output": True, "timeout": 300, **settings}
    return subprocess.run(command, check=False, **settings)


def names_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def but_for_its_making(text: bytes) -> Any:
    plain = json.loads(text)
    plain.pop("provenance", None)
    return plain


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("around", SURROUNDINGS, ids=lambda around: around.name)
def test_the_answer_does_not_depend_on_the_surroundings(
    around: Surroundings, command: str, bare: Callable[..., Any], folder: Path
) -> None:
    usual = bare(COMMANDS[command], more={"LC_ALL": "C.UTF-8"})
    done = bare(COMMANDS[command], more=dict(around.more))
    assert (done.returncode, done.stderr) == (usual.returncode, usual.stderr)
    assert but_for_its_making(done.stdout) == but_for_its_making(usual.stdout)
    assert names_in(folder) == {"rows.csv"}


def test_a_terminal_report_is_printed_in_any_locale(bare: Callable[..., Any]) -> None:
    done = bare("evaluate rows.csv", more={"LC_ALL": "C", "PYTHONUTF8": "0"})
    assert done.returncode == 0, done.stderr
    assert b"angriff" in done.stdout
    assert b"Traceback" not in done.stderr


@pytest.mark.slow
def test_a_clock_that_goes_back_loses_no_run(bare: Callable[..., Any]) -> None:
    line = "evaluate rows.csv --record flows --store runs.db --quiet"
    for moment in ("1900000000", "1700000000", "1800000000", "0"):
        assert bare(line, more={"SOURCE_DATE_EPOCH": moment}).returncode == 0
    listed = bare("runs list --store runs.db --format json")
    runs = json.loads(listed.stdout)["runs"]
    assert len({run["id"] for run in runs}) == 4
    shown = bare("runs show last --store runs.db --format json")
    assert shown.returncode == 0
    assert bare("runs trend flows --measure recall --store runs.db").returncode == 0


WRITES = {
    "report": "evaluate rows.csv --out report.json",
    "page": "evaluate rows.csv --out report.html",
    "store": "evaluate rows.csv --record flows --store runs.db",
    "junit": "gate rows.csv --score score --rule new(recall)>=0.1 --junit gate.xml",
    "state": "monitor rows.csv --time time --state state",
    "metrics": "monitor rows.csv --time time --metrics assay.prom",
    "model": "train tree rows.csv --label label --drop time --out run",
    "sample": "sample rows.csv --score score --labels 20 --out drawn.csv",
}


def _no_more_bytes() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))


@pytest.mark.slow
@pytest.mark.parametrize("what", WRITES)
def test_a_full_disk_is_told_and_leaves_nothing(
    what: str, bare: Callable[..., Any], folder: Path
) -> None:
    more = {"PYTHONDONTWRITEBYTECODE": "1"}
    done = bare(WRITES[what], more=more, preexec_fn=_no_more_bytes)
    assert done.returncode == 4, done.stderr
    assert b"Traceback" not in done.stderr
    left = names_in(folder) - {"rows.csv"}
    assert left <= {"runs.db"}  # a store is made before it is written to
    assert bare(WRITES[what], more=more).returncode == 0


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
@pytest.mark.parametrize("what", WRITES)
def test_a_folder_that_is_read_only_is_told(
    what: str, bare: Callable[..., Any], folder: Path
) -> None:
    folder.chmod(stat.S_IRUSR | stat.S_IXUSR)
    done = bare(WRITES[what])
    assert done.returncode in (3, 4), done.stderr
    assert b"Traceback" not in done.stderr
    assert names_in(folder) == {"rows.csv"}


@pytest.mark.slow
@pytest.mark.parametrize("face", ["terminal", "json", "html", "csv", "latex", "markdown"])
def test_whoever_reads_may_leave(face: str, folder: Path) -> None:
    line = f"evaluate rows.csv --format {face}"
    words = f"{sys.executable} -m assay {line}"
    done = _run(
        ["bash", "-c", f"set -o pipefail; {words} | head -c 1"],
        cwd=folder,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    assert done.returncode in (0, 141), done.stderr
    assert b"Traceback" not in done.stderr
    assert b"Broken" not in done.stderr
    assert names_in(folder) == {"rows.csv"}
