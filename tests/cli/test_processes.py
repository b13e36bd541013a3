"""What only a process of its own can show: exit codes, pipes, full disks, Ctrl-C at any moment."""

import json
import os
import random
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

pytestmark = pytest.mark.skipif(os.name != "posix", reason="pipes and signals of POSIX")

ASSAY = [sys.executable, "-m", "assay"]
FULL = Path("/dev/full")
needs_full = pytest.mark.skipif(not FULL.exists(), reason="this system has no /dev/full")


# -- standard output and standard error ------------------------------------------------------------


def test_the_report_goes_to_standard_output_and_all_else_to_standard_error(
    shell: Callable[..., Any], predictions: Path
) -> None:
    outcome = shell("evaluate", predictions, "--format", "json")
    assert outcome.code == 0
    assert json.loads(outcome.out)["schema"] == "assay.evaluation/1"
    assert "'attack'" in outcome.err
    assert "Traceback" not in outcome.err


@pytest.mark.slow
def test_quiet_leaves_standard_error_empty(shell: Callable[..., Any], predictions: Path) -> None:
    outcome = shell("evaluate", predictions, "--format", "json", "--quiet")
    assert (outcome.code, outcome.err) == (0, "")


def test_the_installed_script_is_the_module() -> None:
    script = Path(sys.executable).parent / "assay"
    ran = [
        subprocess.run([*c, "--version"], capture_output=True, check=True)
        for c in ([script], ASSAY)
    ]
    assert ran[0].stdout == ran[1].stdout


@pytest.mark.sampled(1)
@needs_full
@pytest.mark.parametrize("arguments", [["--help"], ["evaluate", "FILE"], ["measures", "mcc"]])
def test_a_full_standard_output_is_an_error(
    shell: Callable[..., Any], predictions: Path, arguments: list[str]
) -> None:
    with FULL.open("wb") as full:
        outcome = shell(*(predictions if a == "FILE" else a for a in arguments), stdout=full)
    assert outcome.code == 4
    assert "could not be written" in outcome.err
    assert "Exception ignored" not in outcome.err


@needs_full
def test_a_full_standard_error_changes_no_exit_code(
    shell: Callable[..., Any], predictions: Path
) -> None:
    with FULL.open("wb") as full:
        assert shell("evaluate", "missing.csv", stderr=full).code == 3
        assert shell("evaluate", predictions, "--format", "json", stderr=full).code == 0


@pytest.mark.slow
def test_closed_streams_are_told_apart(shell: Callable[..., Any], predictions: Path) -> None:
    outcome = shell("evaluate", predictions, stdout=None, preexec_fn=lambda: os.close(1))
    assert outcome.code == 4
    assert "standard output is closed" in outcome.err
    assert shell("evaluate", predictions, stderr=None, preexec_fn=lambda: os.close(2)).code == 0


@pytest.mark.sampled(1)
@pytest.mark.parametrize("arguments", [["--help"], ["measures", "--help"], ["measures"]])
def test_a_reader_that_leaves_is_no_error(arguments: list[str]) -> None:
    process = subprocess.Popen([*ASSAY, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.close()
    said = process.communicate()[1]
    assert (process.returncode, said) == (141, b"")


# -- output files ----------------------------------------------------------------------------------


def small_files() -> None:
    """No file may grow beyond 1,000 bytes: the nearest thing to a full disk without being root."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))


@pytest.mark.sampled(1)
@pytest.mark.parametrize("face", ["json", "html", "markdown"])
def test_a_full_disk_leaves_the_old_file(
    shell: Callable[..., Any], predictions: Path, tmp_path: Path, face: str
) -> None:
    out = tmp_path / "out" / "report"
    out.parent.mkdir()
    out.write_text("old")
    outcome = shell(
        "evaluate", predictions, "--out", out, "--format", face,
        preexec_fn=small_files, env={"PYTHONDONTWRITEBYTECODE": "1"},
    )  # fmt: skip
    assert outcome.code == 4
    assert f"{out} could not be written: File too large" in outcome.err
    assert out.read_text() == "old"
    assert list(out.parent.iterdir()) == [out]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_permission_is_an_error_of_output(
    shell: Callable[..., Any], predictions: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "locked"
    folder.mkdir(mode=0o500)
    outcome = shell("evaluate", predictions, "--out", folder / "r.json")
    assert outcome.code == 4
    assert "Permission denied" in outcome.err


# -- interruption ----------------------------------------------------------------------------------


@pytest.mark.slow
def test_ctrl_c_at_any_moment_leaves_the_old_file_or_the_new_one(
    ready: Callable[..., None], flows: Path, tmp_path: Path
) -> None:
    out = tmp_path / "report.html"
    asked = [*ASSAY, "evaluate", flows, "--cluster", "host", "--family", "family", "--out", out]
    before = time.monotonic()
    subprocess.run(asked, check=True, capture_output=True)
    whole, new = time.monotonic() - before, out.read_bytes()
    codes = []
    for moment in random.Random(3).sample(range(100), 8):
        out.write_text("old")
        process = subprocess.Popen(asked, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        ready(process)
        time.sleep(whole * moment / 100)
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=120)
        assert b"Traceback" not in stderr
        assert stdout == b""
        codes.append(process.returncode)
        if process.returncode == 130:
            assert b"interrupted" in stderr
            assert out.read_bytes() in (b"old", new)
        else:
            # It was done before the signal came.
            assert process.returncode == 0
            assert out.read_bytes() == new
        assert list(tmp_path.iterdir()) == [out]
    # How many were in time depends on what else the machine does; the earliest are.
    assert 130 in codes


def test_being_told_to_end_while_reading_gives_143(ready: Callable[..., None]) -> None:
    process = subprocess.Popen(
        [*ASSAY, "evaluate", "-", "--input-format", "csv"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin is not None
    process.stdin.write(b"label,score\nattack,0.5\n")
    process.stdin.flush()
    ready(process)
    time.sleep(0.5)
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=120) == 143
    process.communicate()


@pytest.mark.slow
def test_a_signal_that_comes_when_all_is_done_changes_nothing() -> None:
    for pause in (0, 0.02, 0.08):
        process = subprocess.Popen(
            [*ASSAY, "measures", "mcc"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        assert process.stdout is not None
        process.stdout.read(10)
        time.sleep(pause)
        process.send_signal(signal.SIGINT)
        said = process.communicate()[1]
        assert (process.returncode, said) in ((0, b""), (130, b"\nassay: interrupted\n"))


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/stdout").exists(), reason="this system has no /dev/stdout")
def test_out_may_be_a_pipe(shell: Callable[..., Any], predictions: Path) -> None:
    outcome = shell("evaluate", predictions, "--out", "/dev/stdout", "--format", "json")
    assert outcome.code == 0, outcome.err
    assert json.loads(outcome.out)["schema"] == "assay.evaluation/1"


def test_a_closed_standard_input_is_told(flows: Path) -> None:
    line = f"{sys.executable} -m assay evaluate - <&-"
    done = subprocess.run(["sh", "-c", line], capture_output=True, check=False, text=True)
    assert done.returncode == 3
    assert "standard input is closed" in done.stderr


@pytest.mark.parametrize("option", ["--out", "--figures"])
def test_a_name_that_no_file_can_have_is_an_output_that_fails(cli, predictions, option) -> None:
    outcome = cli("evaluate", predictions, option, "x" * 300)
    assert outcome.code == 4
    assert "File name too long" in outcome.err


def test_a_store_whose_name_no_file_can_have_is_an_output_that_fails(cli, predictions) -> None:
    long = "x" * 300 + ".db"
    outcome = cli("evaluate", predictions, "--record", "flows", "--store", long)
    assert outcome.code == 4
    assert "can't be opened: File name too long" in outcome.err
    assert cli("runs", "list", "--store", long).code == 3


def test_a_table_of_duckdb_leaves_nothing_on_standard_error(
    shell: Callable[..., Any], tmp_path: Path
) -> None:
    path = tmp_path / "flows.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.sql(
            "create table flows as select i % 3 = 0 as label, i / 50.0 as score from range(50) t(i)"
        )
    outcome = shell("evaluate", f"duckdb:{path}?select label, score from flows", "--quiet")
    assert (outcome.code, outcome.err) == (0, "")
