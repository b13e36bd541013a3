"""``assay incidents``: each option acts, and what it gives is what can be counted by hand."""

import json
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assay import incidents
from assay.cli.incidents import EXAMPLES
from assay.learn.scenarios import write_week

Cli = Callable[..., Any]
LOGS = ("--alerts", "eve.json", "--events", "conn.log", "--schedule", "attacks.csv")


@pytest.fixture(scope="module")
def week(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("week")
    write_week(folder, rows=7000, seed=7)
    shutil.copy(folder / "flows.csv", folder / "rows.csv")
    return folder


@pytest.fixture
def told(cli: Cli, week: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., dict[str, Any]]:
    monkeypatch.chdir(week)

    def document(*options: str) -> dict[str, Any]:
        outcome = cli("incidents", *options, "--format", "json", "--quiet")
        assert (outcome.code, outcome.err) == (0, "")
        result: dict[str, Any] = json.loads(outcome.out)
        return result

    return document


def test_a_week_is_told_as_it_was_made(told: Callable[..., dict[str, Any]], week: Path) -> None:
    document, truth = told(*LOGS), json.loads((week / "truth.json").read_text())
    keys = ("attack", "start", "end", "detected", "delay", "alerts")
    assert [{key: each[key] for key in keys} for each in document["incidents"]] == [
        {key: each[key] for key in keys} for each in truth["attacks"]
    ]
    assert {day["day"]: day["false_alarms"] for day in document["days"] if day["alerts"]} == truth[
        "false_alarms_by_day"
    ]
    by_rule = {rule["rule"].split()[0]: rule["false_alarms"] for rule in document["rules"]}
    assert by_rule == truth["false_alarms_by_rule"]
    assert sum(day["alerts"] for day in document["days"]) == truth["alerts"]


def test_the_folder_that_was_made_stands_for_its_logs(told: Callable[..., dict[str, Any]]) -> None:
    of_folder, of_files = told("--alerts", ".", "--schedule", "attacks.csv"), told(*LOGS)
    assert of_folder["incidents"] == of_files["incidents"]
    assert of_folder["estimates"] == of_files["estimates"]
    assert "(truth.json), since it is one JSON document, no log" in " ".join(of_folder["notes"])


def test_alerts_of_a_minute_after_the_end_belong_with_grace(
    told: Callable[..., dict[str, Any]], week: Path
) -> None:
    truth = json.loads((week / "truth.json").read_text())
    late = sum(each["late_alerts"] for each in truth["attacks"])
    assert late
    before, after = (
        sum(each["alerts"] for each in told(*LOGS, *more)["incidents"])
        for more in ((), ("--grace", "60s"))
    )
    assert after - before == late


def test_it_gives_what_the_library_gives(
    told: Callable[..., dict[str, Any]], monkeypatch: pytest.MonkeyPatch, week: Path
) -> None:
    monkeypatch.chdir(week)
    document = told(
        *LOGS,
        *("--match", "src_ip,dst_ip", "--directed", "--grace", "30s", "--gap", "1h", "--key"),
        *("rule", "--skew", "-5s", "--score", "alert.severity", "--threshold", "2", "--level"),
        *("0.9", "--max-false-incidents", "50/week", "--max-delay", "1h", "--confidence", "0.8"),
    )
    expected = incidents(
        alerts=["eve.json"],
        events=["conn.log"],
        schedule="attacks.csv",
        match=("src_ip", "dst_ip"),
        directed=True,
        grace=30,
        gap=3600,
        key=["rule"],
        skew=-5,
        score="alert.severity",
        threshold=2,
        level=0.9,
        max_false_incidents=50 / 7,
        max_delay="1h",
        confidence=0.8,
    )
    del document["headline"]
    assert document.pop("not_finite") == {"/estimates/1/high": "inf"}
    made = document.pop("provenance")
    assert [Path(each["name"]).name for each in made["inputs"]] == [
        *("eve.json", "conn.log", "attacks.csv")
    ]
    assert document == json.loads(json.dumps(expected.to_dict()))


def test_rows_of_a_table_name_their_incidents(told: Callable[..., dict[str, Any]]) -> None:
    columns = ("--incident", "incident", "--time", "time", "--family", "family")
    document = told("rows.csv", *columns, "--score", "score", "--threshold", "0.9", "--key", "host")
    expected = incidents(
        "rows.csv",
        incident="incident",
        time="time",
        family="family",
        score="score",
        threshold=0.9,
        key=["host"],
    )
    assert document["incidents"] == json.loads(json.dumps(expected.to_dict()))["incidents"]
    assert document["total"] == 9
    decided = told("rows.csv", *columns[:4], "--decision", "label")
    assert decided["detected"] == 9
    assert sum(day["false_alarms"] for day in decided["days"]) == 0


@pytest.mark.parametrize("line", [line for _, line in EXAMPLES], ids=lambda line: line[-30:])
def test_examples_of_the_help_run(
    line: str, cli: Cli, week: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in week.iterdir():
        shutil.copy(path, tmp_path)
    monkeypatch.chdir(tmp_path)
    outcome = cli(*shlex.split(line)[1:])
    assert outcome.code == 0, outcome.err
    assert "incidents" in outcome.out or (tmp_path / "week.json").exists()


def test_a_result_is_kept_and_shown_again(
    cli: Cli, week: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(week)
    store = tmp_path / "runs.db"
    outcome = cli("incidents", *LOGS, "--record", "ids", "--store", store)
    assert outcome.code == 0, outcome.err
    listed = json.loads(cli("runs", "list", "--store", store, "--format", "json").out)["runs"]
    assert [(run["name"], run["kind"]) for run in listed] == [("ids", "incidents")]
    assert listed[0]["headline"].startswith("8 of 9 incidents were detected")
    path = tmp_path / "week.json"
    assert cli("incidents", *LOGS, "--out", path).code == 0
    assert cli("show", path).out == outcome.out


@pytest.mark.usefixtures("blank_pages")
def test_figures_are_written(
    cli: Cli, week: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(week)
    outcome = cli("incidents", *LOGS, "--figures", tmp_path / "figures", "--quiet")
    assert outcome.code == 0, outcome.err
    assert any((tmp_path / "figures").iterdir())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "name alerts and attacks"),
        (("--alerts", "eve.json"), "name the attacks with --schedule"),
        (("rows.csv",), "a table needs --incident and --time"),
        (("rows.csv", "--alerts", "eve.json"), "not both"),
        ((*LOGS, "--gap", "soon"), "no length of time"),
        ((*LOGS, "--max-delay", "5m"), "--max-delay is about a score"),
        ((*LOGS, "--max-false-incidents", "5/year"), "no number a day"),
        ((*LOGS, "--match", "src_ip,"), "no list of columns"),
    ],
)
def test_a_wrong_use_is_told(
    options: tuple[str, ...], message: str, cli: Cli, week: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(week)
    outcome = cli("incidents", *options)
    assert outcome.code == 2
    assert message in " ".join(outcome.err.split())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--alerts", "no.json", "--schedule", "attacks.csv"), "there is no file no.json"),
        (("--alerts", "eve.json", "--schedule", "rows.csv"), "rows.csv has no column"),
        ((*LOGS, "--match", "host"), "--match names host, which attacks.csv does not have"),
        ((*LOGS, "--incident", "id"), "--incident is of a table"),
        ((*LOGS, "--skip-lines", "1"), "a log, to which --skip-lines does not apply"),
        (("rows.csv", "--incident", "no", "--time", "time", "--score", "score"), "no column 'no'"),
        (("rows.csv", "--incident", "incident", "--time", "time"), "name a score or a decision"),
    ],
)
def test_bad_input_is_told(
    options: tuple[str, ...], message: str, cli: Cli, week: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(week)
    outcome = cli("incidents", *options)
    assert outcome.code == 3, outcome.err
    assert message in " ".join(outcome.err.split())
    assert "Traceback" not in outcome.err


def test_a_schedule_without_zones_is_refused_unless_one_is_given(
    cli: Cli, week: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(week)
    naive = tmp_path / "local.csv"
    naive.write_text((week / "attacks.csv").read_text().replace("Z,", ","))
    logs = ("--alerts", "eve.json", "--schedule", naive)
    refused = cli("incidents", *logs)
    assert refused.code == 3
    assert "--timezone" in refused.err
    assert cli("incidents", *logs, "--timezone", "UTC", "--quiet").code == 0
