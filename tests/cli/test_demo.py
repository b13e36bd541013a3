"""``assay demo``: the whole tool on data that it makes itself."""

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from assay.cli import demo
from assay.cli.demo import (
    DECISIONS,
    EXAMPLES,
    KEPT,
    MARK,
    PACKETS,
    PREDICTIONS,
    RECIPES,
    REPORTS,
    TRAINED,
    table,
)
from assay.learn import scenarios
from assay.learn.run import FILES
from assay.learn.scenarios import make_flows
from assay.store import Store

Cli = Callable[..., Any]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def fewer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each fifth flow of the demo, for tests of what it writes."""
    monkeypatch.setattr(
        scenarios, "make_flows", lambda seed: make_flows(seed).where(slice(None, None, 5))
    )


@pytest.fixture
def untrained(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where scikit-learn is not installed."""
    monkeypatch.setattr(demo, "find_spec", lambda name: None)


@pytest.mark.slow
@pytest.mark.usefixtures("untrained", "fewer")
def test_the_demo_shows_a_report_and_the_commands_that_give_the_same(cli: Cli, here: Path) -> None:
    shown = cli("demo")
    assert shown.code == 0, shown.err
    folder = here / "assay-demo"
    assert {path.name for path in folder.iterdir()} == {
        PREDICTIONS,
        MARK,
        *REPORTS,
        *DECISIONS,
    }
    assert shown.out.startswith("Evaluation of")
    for name in (PREDICTIONS, *REPORTS, *DECISIONS):
        assert f"assay-demo/{name}" in shown.err
    assert "open this one in a browser" in shown.err
    lines = [line.strip() for line in shown.err.splitlines() if line.startswith("  assay ")]
    assert len(lines) == 5
    outcomes = [cli(*shlex.split(line)[1:], "--quiet") for line in lines]
    assert outcomes[0].out == shown.out
    assert all(each.code == 0 for each in outcomes)


@pytest.mark.slow
@pytest.mark.usefixtures("fewer")
def test_the_demo_trains_two_detectors_and_compares_them(
    cli: Cli, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo, "REPORTS", {})
    monkeypatch.setattr(demo, "DECISIONS", {})
    monkeypatch.setattr(demo, "PACKET_ROWS", 800)
    shown = cli("demo", "--format", "json", "--seed", "3")
    assert shown.code == 0, shown.err
    json.loads(shown.out)  # one document, and no other report in between
    folder = here / "assay-demo"
    for recipe in RECIPES:
        assert {path.name for path in (folder / recipe).iterdir()} == set(FILES)
        assert f"assay train {recipe} assay-demo/{PACKETS}" in shown.err
        assert f"assay-demo/{recipe}/report.html" in shown.err
    assert shown.err.count("of attacks; ") == 2
    assert "  assay compare assay-demo/forest/predictions.parquet" in shown.err
    assert "network is " in shown.err
    assert f"assay-demo/{TRAINED}" in shown.err
    page = (folder / TRAINED).read_text("utf-8")
    assert "forest" in page
    assert "network" in page


@pytest.mark.usefixtures("untrained", "fewer")
def test_without_the_extra_the_demo_says_how_to_get_it(
    cli: Cli, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo, "REPORTS", {})
    monkeypatch.setattr(demo, "DECISIONS", {})
    shown = cli("demo", "--format", "csv")
    assert shown.code == 0
    assert "pip install 'assay-detectors[learn]'" in shown.err
    assert not (here / "assay-demo" / PACKETS).exists()


@pytest.mark.slow
@pytest.mark.usefixtures("untrained")
def test_the_demo_is_the_same_each_time(
    cli: Cli, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo, "REPORTS", {"report.html": "one is enough"})
    monkeypatch.setattr(demo, "DECISIONS", {})
    options = ["demo", "--format", "json", "--level", "0.9", "--quiet"]
    first = cli(*options)
    assert json.loads(first.out)["level"] == 0.9
    made = (PREDICTIONS, "report.html")
    before = {name: (here / "assay-demo" / name).read_bytes() for name in made}
    assert cli(*options) == first
    for name, content in before.items():
        assert (here / "assay-demo" / name).read_bytes() == content


@pytest.mark.slow
@pytest.mark.usefixtures("untrained", "fewer")
def test_folders_on_the_way_are_made(cli: Cli, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # As `make demo` asks for it in a fresh clone.
    monkeypatch.setattr(demo, "REPORTS", {"report.md": "one is enough"})
    monkeypatch.setattr(demo, "DECISIONS", {})
    outcome = cli("demo", "--out", "build/demo", "--format", "csv", "--quiet")
    assert outcome.code == 0, outcome.err
    assert (here / "build" / "demo" / "report.md").exists()


@pytest.mark.parametrize("name", ["thesis.tex", PREDICTIONS])
def test_the_files_of_others_are_left_alone(cli: Cli, here: Path, name: str) -> None:
    (here / "mine").mkdir()
    (here / "mine" / name).write_text("years of work")
    outcome = cli("demo", "--out", "mine")
    assert outcome.code == 4
    assert "did not make" in outcome.err
    assert [path.name for path in (here / "mine").iterdir()] == [name]
    assert (here / "mine" / name).read_text() == "years of work"


def test_a_place_that_can_not_be_a_folder_is_refused(cli: Cli, here: Path) -> None:
    (here / "file").write_text("x")
    for place in ("file", "file/inside"):
        outcome = cli("demo", "--out", place)
        assert outcome.code == 4
        assert outcome.out == ""


def test_a_folder_that_looks_like_an_option_is_refused(cli: Cli, here: Path) -> None:
    for name in ("-", "-x"):
        assert cli("demo", "--out", name).code == 2
    assert list(here.iterdir()) == []


def test_a_full_disk_is_told(cli: Cli, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, content: bytes) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(demo.atomic_files, "write", full)
    outcome = cli("demo")
    assert outcome.code == 4
    assert "predictions.csv could not be written: No space left on device" in outcome.err


def test_the_predictions_hold_what_was_made(tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    path.write_bytes(table(make_flows()))
    rows = pl.read_csv(path, try_parse_dates=True)
    flows = make_flows()
    assert rows.height == len(flows)
    assert rows["time"].is_sorted()
    assert sorted(rows["score"]) == sorted(flows.new)
    assert rows["label"].value_counts(sort=True).rows() == [("normal", 18_900), ("attack", 1_100)]


@pytest.mark.usefixtures("untrained")
def test_the_examples_of_the_help_run(
    cli: Cli, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    monkeypatch.setattr(demo, "_run", seen.append)
    for _, line in EXAMPLES:
        assert cli(*shlex.split(line)[1:]).code == 0
    assert (here / "try" / PREDICTIONS).read_bytes() != (
        here / "assay-demo" / PREDICTIONS
    ).read_bytes()
    assert len(seen) == 2 * (1 + len(REPORTS) + len(DECISIONS))


@pytest.mark.slow
def test_what_the_demo_keeps_is_shown_by_the_app(here: Path) -> None:
    flows = make_flows(1)
    (here / PREDICTIONS).write_bytes(table(flows.where(slice(None, None, 5))))
    demo._keep(here / PREDICTIONS, "runs.db")
    with Store("runs.db") as store:
        runs = store.runs(name=KEPT).runs
    assert [run.kind for run in runs] == [
        "gate",
        "compare",
        "threshold",
        "evaluation",
        "evaluation",
    ]
    assert [run.tags for run in runs[3:]] == [("new",), ("old",)]
    assert all(run.has_rows for run in runs[3:])
