"""``assay data``: the tables of the scenarios, in every format, whole or not at all."""

import gzip
import io
import os
import shlex
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from assay.cli.data import EXAMPLES, SCENARIOS
from assay.cli.outputs import TABLE_FORMATS
from assay.learn import scenarios

Cli = Callable[..., Any]

ASSAY = [sys.executable, "-m", "assay"]
READERS: dict[str, Callable[[Path], pl.DataFrame]] = {
    "csv": pl.read_csv,
    "tsv": lambda path: pl.read_csv(path, separator="\t"),
    "jsonl": pl.read_ndjson,
    "parquet": pl.read_parquet,
    "arrow": pl.read_ipc,
    "csv.gz": pl.read_csv,
    "tsv.zst": lambda path: pl.read_csv(path, separator="\t"),
    "JSONL.GZ": lambda path: pl.read_ndjson(io.BytesIO(gzip.decompress(path.read_bytes()))),
    "pq": pl.read_parquet,
    "feather": pl.read_ipc,
}
posix = pytest.mark.skipif(os.name != "posix", reason="signals and limits of POSIX")


def as_text(table: pl.DataFrame) -> pl.DataFrame:
    return table.with_columns(pl.col("time").dt.strftime("%Y-%m-%dT%H:%M:%S%.6fZ"))


@pytest.mark.parametrize("suffix", READERS)
def test_the_suffix_tells_the_format(cli: Cli, tmp_path: Path, suffix: str) -> None:
    out = tmp_path / f"packets.{suffix}"
    outcome = cli("data", "arp", "--rows", 300, "--seed", 5, "--out", out)
    assert (outcome.code, outcome.out) == (0, ""), outcome.err
    table = scenarios.make_arp(300, 5)
    read = READERS[suffix](out)
    if read.schema["time"] == pl.String:
        table = as_text(table)
    assert_frame_equal(read, table.cast(dict(read.schema)))
    assert list(tmp_path.iterdir()) == [out]


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_without_out_it_is_csv_on_standard_output(cli: Cli, scenario: str) -> None:
    outcome = cli("data", scenario, "--rows", 250)
    assert (outcome.code, outcome.err) == (0, "")
    make = getattr(scenarios, f"make_{scenario}")
    assert outcome.out == as_text(make(250)).write_csv()


def test_every_scenario_has_its_columns() -> None:
    for scenario, label in SCENARIOS.items():
        columns = getattr(scenarios, f"make_{scenario}")(5).columns
        assert columns[:2] == ["time", "host"]
        assert columns[-2:] == ["family", label]


def test_it_says_what_was_written_unless_quiet(cli: Cli, tmp_path: Path) -> None:
    out = tmp_path / "flows.csv"
    outcome = cli("data", "ddos", "--rows", 3000, "--out", out)
    labels = pl.read_csv(out, infer_schema_length=None)["label"]
    normal = int((labels == "normal").sum())
    assert outcome.err == (
        f"wrote {out} (csv): 3,000 rows; normal {normal:,}, ddos {3000 - normal:,}\n"
    )
    assert cli("data", "ddos", "--rows", 30, "--out", out, "--quiet").err == ""


def test_infinities_survive_where_the_format_has_them(cli: Cli, tmp_path: Path) -> None:
    for name in ("flows.csv", "flows.parquet"):
        cli("data", "ddos", "--rows", 2000, "--out", tmp_path / name)
    csv = pl.read_csv(tmp_path / "flows.csv", infer_schema_length=None)
    assert csv["bytes_per_second"].is_infinite().sum() > 10
    parquet = pl.read_parquet(tmp_path / "flows.parquet")
    assert parquet["bytes_per_second"].equals(csv["bytes_per_second"])
    assert parquet["ttl"].null_count() == csv["ttl"].null_count() > 0


@pytest.mark.parametrize("suffix", ["csv.gz", "parquet", "arrow", "jsonl.zst"])
def test_the_same_command_gives_the_same_bytes(cli: Cli, tmp_path: Path, suffix: str) -> None:
    outs = [tmp_path / f"{name}.{suffix}" for name in "ab"]
    for out in outs:
        assert cli("data", "darknet", "--rows", 400, "--out", out).code == 0
    assert outs[0].read_bytes() == outs[1].read_bytes()


@pytest.mark.parametrize("line", [line for _, line in EXAMPLES])
def test_the_examples_of_the_help_run(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    monkeypatch.chdir(tmp_path)
    outcome = cli(*shlex.split(line)[1:], "--rows", 8000 if "week" in line else 200)
    assert outcome.code == 0, outcome.err
    assert outcome.out or list(tmp_path.iterdir())


@pytest.mark.parametrize("difficulty", ["easy", "hard", "0", "1", "0.35"])
def test_difficulties_have_names_and_numbers(cli: Cli, difficulty: str) -> None:
    outcome = cli("data", "darknet", "--rows", 50, "--difficulty", difficulty)
    given = difficulty if difficulty in ("easy", "hard") else float(difficulty)
    assert outcome.out == as_text(scenarios.make_darknet(50, difficulty=given)).write_csv()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["smtp"], "'smtp' is not one of 'arp', 'ddos', 'darknet'"),
        (["arp", "--rows", "0"], "0 is not in the range"),
        (["arp", "--rows", "many"], "is not a valid integer"),
        (["arp", "--seed", "-1"], "-1 is not in the range"),
        (["arp", "--difficulty", "1.5"], "nor a number from 0 to 1"),
        (["arp", "--difficulty", "nan"], "nor a number from 0 to 1"),
        (["arp", "--difficulty", "tough"], "neither easy, medium, hard nor"),
        (
            ["arp", "--out", "x.xlsx"],
            f"the suffix .xlsx tells no format; say --format {TABLE_FORMATS[0]}",
        ),
        (["arp", "--out", "x.parquet.gz"], "parquet is packed by itself; leave out .gz"),
        (["arp", "--out", "x.gz", "--format", "arrow"], "arrow is packed by itself"),
        (["arp", "--format", "html"], "is not one of"),
        ([], "Missing argument 'SCENARIO'"),
    ],
)
def test_a_wrong_command_line_exits_with_2(
    cli: Cli,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    options: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    outcome = cli("data", *options)
    assert (outcome.code, outcome.out) == (2, "")
    assert message in outcome.err
    assert list(tmp_path.iterdir()) == []


def test_what_can_not_be_written_is_told_at_once(cli: Cli, tmp_path: Path) -> None:
    many = 10**12
    outcome = cli("data", "arp", "--rows", many, "--out", tmp_path / "missing" / "a.csv")
    assert outcome.code == 4
    assert "there is no folder" in outcome.err
    outcome = cli("data", "arp", "--rows", many, "--out", tmp_path)
    assert outcome.code == 4
    assert "is a folder" in outcome.err


def test_a_format_without_a_suffix_that_tells_it(cli: Cli, tmp_path: Path) -> None:
    out = tmp_path / "packets.dat"
    assert cli("data", "arp", "--rows", 20, "--out", out, "--format", "parquet").code == 0
    assert len(pl.read_parquet(out)) == 20
    assert cli("data", "arp", "--rows", 20, "--out", tmp_path / "packets").code == 0
    assert len(pl.read_csv(tmp_path / "packets")) == 20


def test_a_link_stays_a_link_and_a_mode_stays_too(cli: Cli, tmp_path: Path) -> None:
    real, link = tmp_path / "real.csv", tmp_path / "link.csv"
    real.write_text("old")
    real.chmod(0o640)
    link.symlink_to(real)
    assert cli("data", "arp", "--rows", 20, "--out", link).code == 0
    assert link.is_symlink()
    assert len(pl.read_csv(real)) == 20
    assert stat.S_IMODE(real.stat().st_mode) == 0o640


def test_it_needs_no_extra(tmp_path: Path) -> None:
    missing = "import sys; sys.modules.update(dict.fromkeys(['sklearn', 'pyarrow', 'pandas']))"
    code = (
        f"{missing}; from assay.cli.app import run; "
        f"sys.exit(run(['data', 'ddos', '--rows', '50', '--out', {str(tmp_path / 'a.parquet')!r}]))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# -- what only a process of its own can show -------------------------------------------------------


@pytest.mark.sampled(1)
@pytest.mark.parametrize("face", ["csv", "jsonl", "parquet", "arrow"])
def test_a_reader_that_leaves_is_no_error(face: str) -> None:
    process = subprocess.Popen(
        [*ASSAY, "data", "darknet", "--rows", "100000000", "--format", face],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    starts = {"csv": b"time", "jsonl": b'{"ti', "parquet": b"PAR1", "arrow": b"ARRO"}
    assert process.stdout.read(4) == starts[face]
    process.stdout.close()
    said = process.communicate(timeout=120)[1]
    assert (process.returncode, said) == (141, b"")


@pytest.mark.sampled(1)
@posix
@pytest.mark.parametrize("suffix", ["csv", "parquet", "arrow", "jsonl.gz"])
def test_a_full_disk_leaves_the_old_file(
    shell: Callable[..., Any], tmp_path: Path, suffix: str
) -> None:
    import resource

    def small_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

    out = tmp_path / f"packets.{suffix}"
    out.write_text("old")
    outcome = shell(
        *("data", "arp", "--rows", 2000, "--out", out),
        preexec_fn=small_files,
        env={"PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert outcome.code == 4
    assert f"{out} could not be written: File too large" in outcome.err
    assert out.read_text() == "old"
    assert list(tmp_path.iterdir()) == [out]


@pytest.mark.sampled(1)
@posix
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_ctrl_c_leaves_nothing_half_written(tmp_path: Path, suffix: str) -> None:
    process = subprocess.Popen(
        [*ASSAY, "data", "ddos", "--rows", "1000000000", "--out", tmp_path / f"flows.{suffix}"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    while not any(path.stat().st_size for path in tmp_path.glob(".assay-*/*")):
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=120)[1]
    assert process.returncode == 130
    assert b"interrupted" in said
    assert list(tmp_path.iterdir()) == []


@pytest.mark.sampled(1)
@posix
@pytest.mark.parametrize("face", TABLE_FORMATS)
def test_out_may_be_a_pipe(face: str) -> None:
    done = subprocess.run(
        [*ASSAY, "data", "arp", "--rows", "40", "--out", "/dev/stdout", "--format", face],
        capture_output=True,
        check=True,
    )
    read = io.BytesIO(done.stdout)
    readers: dict[str, Callable[..., pl.DataFrame]] = {
        "csv": pl.read_csv,
        "tsv": pl.read_csv,
        "jsonl": pl.read_ndjson,
        "parquet": pl.read_parquet,
        "arrow": pl.read_ipc,
    }
    assert len(readers[face](read)) == 40


def test_a_week_is_a_folder_that_appears_when_it_is_whole(cli: Cli, tmp_path: Path) -> None:
    out = tmp_path / "office"
    outcome = cli("data", "week", "--rows", 8000, "--out", out)
    assert (outcome.code, outcome.out) == (0, ""), outcome.err
    assert "in conn.log; 907 alerts, 8 of 9 attacks detected" in outcome.err
    files = {"eve.json", "conn.log", "attacks.csv", "flows.csv", "truth.json"}
    assert {file.name for file in out.iterdir()} == files
    again = cli("data", "week", "--rows", 8000, "--seed", 3, "--out", out, "--quiet")
    assert (again.code, again.err) == (0, "")
    (out / "mine.txt").write_text("keep")
    refused = cli("data", "week", "--rows", 8000, "--out", out)
    assert refused.code == 4
    assert "holds files that are of no such week" in refused.err
    assert (out / "mine.txt").read_text() == "keep"


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (("--difficulty", "easy"), 2, "--difficulty is not for week, which is a folder of logs"),
        (("--format", "csv"), 2, "--format is not for week"),
        (("--rows", 100), 3, "--rows 100 is too small for the attacks of a week; say "),
    ],
)
def test_what_a_week_is_not_made_with(
    cli: Cli, tmp_path: Path, options: tuple[Any, ...], code: int, said: str
) -> None:
    outcome = cli("data", "week", "--out", tmp_path / "week", *options)
    assert outcome.code == code
    assert said in outcome.err
    assert not list(tmp_path.iterdir())
