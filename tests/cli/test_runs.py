"""``--record`` keeps results, and ``assay runs`` gives them back."""

import csv
import json
import os
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import jsonschema
import numpy as np
import pytest

from assay.cli.app import run
from assay.cli.runs import command
from assay.report.document import schema_of
from assay.store import Store
from assay.store.comparing import threshold_of

Cli = Callable[..., Any]

COUNTS = ("evaluate", "--cells", "tp=1,fp=1,fn=1,tn=1")
GATE = ("gate", "old.csv", "--score", "score")


def predictions(path: Path, gap: float, seed: int = 1, rows: int = 600, labels: int = 5) -> Path:
    """Predictions of the same rows for the same ``labels``; a wider gap is a better model."""
    attack = np.random.default_rng(labels).random(rows) < 0.4
    score = np.random.default_rng(seed).normal(np.where(attack, 0.4 + gap, 0.4), 0.15).clip(0, 1)
    lines = [
        f"f{i},{'attack' if a else 'normal'},{s:.6f}"
        for i, (a, s) in enumerate(zip(attack, score, strict=True))
    ]
    path.write_text("flow,label,score\n" + "\n".join(lines) + "\n")
    return path


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ASSAY_STORE", raising=False)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two files, and a store with a run of each."""
    folder = tmp_path_factory.mktemp("recorded")
    for name, gap in (("old", 0.15), ("new", 0.3)):
        file = predictions(folder / f"{name}.csv", gap, seed=len(name))
        told = ["--record", "flows", "--keep-rows", "--id", "flow", "--tag", name, "--quiet"]
        out = ["--out", str(folder / f"{name}.json"), "--store", str(folder / "assay.db")]
        assert run(["evaluate", str(file), *told, *out]) == 0
    return folder


@pytest.fixture
def two(recorded: Path, tmp_path: Path) -> list[str]:
    """Two runs with their rows, the later one better."""
    shutil.copytree(recorded, tmp_path, dirs_exist_ok=True)
    with Store(read_only=True) as store:
        return [store.runs(tag=name).runs[0].id for name in ("old", "new")]


def test_what_is_recorded_is_the_document_that_was_written(cli: Cli, two: list[str]) -> None:
    for id_, name in zip(two, ("old", "new"), strict=True):
        shown = cli("runs", "show", id_, "--format", "json")
        assert shown.out == Path(f"{name}.json").read_text("utf-8")
    assert cli("runs", "show", "last", "--out", "last.json").err == "wrote last.json (json)\n"
    assert Path("last.json").read_bytes() == Path("new.json").read_bytes()
    assert cli("runs", "show", "last").out.startswith("Evaluation of ")
    for face in ("csv", "markdown", "latex", "html"):
        again = cli("show", "new.json", "--format", face)
        assert cli("runs", "show", "last", "--format", face).out == again.out


def test_runs_are_listed_in_every_format(cli: Cli, two: list[str]) -> None:
    plain = json.loads(cli("runs", "--format", "json").out)
    jsonschema.validate(plain, schema_of("assay.runs/1"))
    assert [each["id"] for each in plain["runs"]] == two[::-1]
    assert plain["runs"][0]["headline"].startswith("Catches ")
    for face in ("terminal", "csv", "markdown", "latex", "html"):
        outcome = cli("runs", "list", "--tag", "old", "--format", face)
        assert two[0] in outcome.out
        assert two[1] not in outcome.out
    assert "There are no runs here yet" in cli("runs", "--name", "other").out


def test_a_trend_joins_runs_on_the_same_rows_and_breaks_where_they_change(
    cli: Cli, two: list[str], tmp_path: Path
) -> None:
    outcome = cli("runs", "trend", "flows", "--measure", "detection_rate", "--format", "json")
    plain = json.loads(outcome.out)
    jsonschema.validate(plain, schema_of("assay.trend/1"))
    assert [point["run"] for point in plain["points"]] == two
    assert plain["test_sets"] == 1
    assert plain["whole"]["p"] < 0.01
    other = predictions(tmp_path / "other.csv", 0.3, labels=6)
    assert cli("evaluate", other, "--record", "flows", "--quiet").code == 0
    plain = json.loads(cli("runs", "trend", "flows", "--measure", "recall", "--format", "json").out)
    assert [point["segment"] for point in plain["points"]] == [0, 0, 1]
    assert plain["whole"] is None
    for face in ("terminal", "csv", "markdown", "latex", "html"):
        assert two[0] in cli("runs", "trend", "flows", "--measure", "recall", "--format", face).out
    assert "recall\n" in cli("runs", "trend", "flows", "--list").out
    assert "<svg" in cli("runs", "trend", "flows", "--measure", "recall", "--format", "html").out


def test_a_trend_is_drawn(cli: Cli, two: list[str]) -> None:
    pytest.importorskip("matplotlib")
    outcome = cli("runs", "trend", "flows", "--measure", "recall", "--figures", "figures")
    assert outcome.err == "wrote 2 figures into figures\n"
    assert Path("figures/trend.svg").stat().st_size > 1000


def test_runs_with_rows_are_compared_in_pairs(cli: Cli, two: list[str]) -> None:
    plain = json.loads(cli("runs", "compare", *two, "--format", "json").out)
    jsonschema.validate(plain, schema_of("assay.compare/1"))
    assert "is better than" in plain["verdicts"][0]["text"]
    assert plain["notes"][0] == "Paired: 600 rows of both runs were kept, and matched by id."
    assert {test["test"] for test in plain["tests"]} >= {"mcnemar", "delong"}


def test_rows_that_flipped_between_two_runs_are_written(
    cli: Cli, two: list[str], tmp_path: Path
) -> None:
    done = cli("runs", "compare", *two, "--flips", "flips.csv", "--format", "json")
    assert done.code == 0
    plain = json.loads(done.out)
    (every,) = (f for f in plain["flips"] if f["label"] is None and f["family"] is None)
    with (tmp_path / "flips.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == every["fixed"] + every["broken"] > 0
    assert {row["flip"] for row in rows} <= {"fixed", "broken"}
    assert all(row["id"] for row in rows)
    assert cli("evaluate", "new.csv", "--record", "bare", "--quiet").code == 0
    refused = cli("runs", "compare", two[0], "last", "--flips", "flips.csv")
    assert (refused.code, "--flips needs the rows of both runs" in refused.err) == (2, True)
    assert cli("runs", "compare", *two, "--flips", "flips.txt").code == 2


def test_gates_are_listed_with_their_rules(cli: Cli, two: list[str]) -> None:
    assert cli("runs", "list", "--rules", "--kind", "evaluation").code == 2
    rules = ("--rule", "new(recall) >= 0.1", "--rule", "new(recall) >= 0.999")
    assert cli(*GATE, "--record", "nightly", "--quiet", *rules).code == 1
    listed = json.loads(cli("runs", "list", "--rules", "--format", "json").out)
    jsonschema.validate(listed, schema_of("assay.runs/1"))
    (gate,) = listed["runs"]
    assert [rule["outcome"] for rule in gate["rules"]] == ["pass", "fail"]
    shown = cli("runs", "list", "--rules", "--format", "markdown").out
    assert "0.999: fail" in shown
    assert "0.1: " not in shown


def test_runs_without_rows_are_compared_unpaired_and_say_so(
    cli: Cli, two: list[str], tmp_path: Path
) -> None:
    assert cli("evaluate", "new.csv", "--record", "bare", "--quiet").code == 0
    plain = json.loads(cli("runs", "compare", two[0], "last", "--format", "json").out)
    jsonschema.validate(plain, schema_of("assay.unpaired/1"))
    assert plain["paired"] is False
    assert plain["same_test_set"] is True
    assert "the rows of bare were not kept (--keep-rows keeps them)" in plain["notes"][0]
    pairs = json.loads(cli("runs", "compare", *two, "--format", "json").out)
    wide, narrow = (
        next(each for each in document["differences"] if each["measure"] == "roc_auc")
        for document in (plain, pairs)
    )
    assert wide["difference"] == pytest.approx(narrow["difference"])
    assert wide["high"] - wide["low"] > 0.9 * (narrow["high"] - narrow["low"])
    assert "Unpaired" in cli("runs", "compare", two[0], "last").out
    refused = cli("runs", "compare", two[0], "last", "--margin", "0.02")
    assert refused.code == 2
    assert "--margin needs the rows of both runs, and the rows of bare were not kept" in refused.err


def test_rows_without_ids_are_paired_by_their_order(cli: Cli, tmp_path: Path) -> None:
    for name, gap in (("a", 0.15), ("b", 0.3)):
        file = predictions(tmp_path / f"{name}.csv", gap)
        assert cli("evaluate", file, "--record", name, "--keep-rows", "--quiet").code == 0
    plain = json.loads(cli("runs", "compare", "last~1", "last", "--format", "json").out)
    assert plain["models"] == ["a", "b"]
    assert plain["notes"][0].endswith("matched by their order.")


def test_the_rows_that_are_kept_are_those_that_were_judged(cli: Cli) -> None:
    lines = [
        f"f{i},{('attack', 'normal')[i % 2]},{1 - i % 2},2026-11-{1 + i % 9:02}" for i in range(40)
    ]
    lines[3:5] = ["f3,normal,0.1,soon", "f4,attack,,2026-11-05"]  # no time, no score
    Path("a.csv").write_text("flow,label,score,day\n" + "\n".join(lines) + "\n")
    told = ["evaluate", "a.csv", "--time", "day", "--on-bad-row", "skip", "--id", "flow"]
    outcome = cli(*told, "--record", "a", "--keep-rows", "--format", "json")
    assert outcome.code == 0, outcome.err
    with Store(read_only=True) as store:
        rows = store.find("last").rows()
    assert rows is not None
    assert rows.ids == tuple(f"f{i}" for i in range(40) if i not in (3, 4))
    source = json.loads(outcome.out)["source"]
    assert (source["rows_used"], source["labels_sha256"]) == (38, rows.test_set)


@pytest.mark.parametrize(
    "command", [["evaluate"], ["threshold", "--max-fpr", "0.1", "--resamples", "20"]]
)
def test_rows_that_are_no_longer_the_same_are_not_kept(
    cli: Cli, two: list[str], command: list[str]
) -> None:
    text = Path("new.csv").read_text()
    Path("odd.csv").write_text(text.replace("f7,", ",", 1))
    told = ["--record", "odd", "--keep-rows", "--id", "flow", "--on-bad-row", "skip"]
    outcome = cli(*command, "odd.csv", *told)
    assert outcome.code == 3
    assert "the 599 rows to keep are not the 600 that were judged" in outcome.err
    assert "rows lack what --id names. Judge again, or without --keep-rows" in outcome.err
    assert json.loads(cli("runs", "--name", "odd", "--format", "json").out)["runs"] == []


def test_a_gate_is_judged_against_a_run(cli: Cli, two: list[str]) -> None:
    rule = ["--rule", "new-old(recall) >= -0.01", "--score", "score", "--format", "json"]
    paired = cli("gate", "new.csv", "--baseline", f"run:{two[0]}", "--id", "flow", *rule)
    assert paired.code == 0
    told = json.loads(paired.out)
    assert told["source"]["baseline"] == f"run:{two[0]}"
    assert told["notes"][0] == f"The baseline is run {two[0]}, row by row."
    files = cli("gate", "new.csv", "--baseline", "old.csv", "--id", "flow", *rule)
    assert json.loads(files.out)["rules"] == told["rules"]
    assert cli("evaluate", "old.csv", "--record", "bare", "--quiet").code == 0
    apart = json.loads(cli("gate", "new.csv", "--baseline", "last", *rule).out)
    assert apart["notes"][0].startswith("Unpaired, by both intervals alone: the rows of run ")
    (one,), (other,) = apart["rules"], told["rules"]
    assert one["value"] == pytest.approx(other["value"])
    assert one["method"] == "mover"
    assert one["high"] - one["low"] > 0.9 * (other["high"] - other["low"])


@pytest.mark.parametrize("keep", [[], ["--keep-rows"]], ids=["by intervals", "row by row"])
def test_a_gate_as_baseline_is_judged_at_its_own_threshold(
    cli: Cli, two: list[str], keep: list[str]
) -> None:
    first = cli(
        *GATE, "--rule", "new(roc_auc) >= 0.1", "--record", "a", "--threshold", "0.6", *keep
    )
    assert first.code == 0
    with Store(read_only=True) as store:
        document = json.loads(store.find("last").document)
    jsonschema.validate(document, schema_of("assay.gate/1"))
    assert document["threshold"] == 0.6
    told = [
        "gate",
        "new.csv",
        "--score",
        "score",
        "--baseline",
        "last-passed",
        "--store",
        "assay.db",
    ]
    told += ["--rule", "new-old(recall) >= -0.01", "--threshold", "0.5", "--format", "json"]
    (rule,) = json.loads(cli(*told).out)["rules"]
    assert rule["thresholds"] == {"new": 0.5, "old": 0.6}
    (rule,) = json.loads(cli(*told, "--baseline-threshold", "0.7").out)["rules"]
    assert rule["thresholds"] == {"new": 0.5, "old": 0.7}


@pytest.mark.parametrize("told", [["--id", "flow"], []], ids=["row by row", "by intervals"])
def test_an_alarm_that_is_none_in_the_baseline_is_refused(
    cli: Cli, two: list[str], told: list[str]
) -> None:
    if not told:
        assert cli("evaluate", "old.csv", "--record", "bare", "--quiet").code == 0
    gate = ["gate", "new.csv", "--score", "score", "--rule", "new-old(recall) >= -0.01", *told]
    run = ["--baseline", f"run:{two[0]}" if told else "last"]
    outcome = cli(*gate, *run, "--positive", "normal")
    assert outcome.code == 3
    assert "the alarm is 'attack' in the old run and 'normal' in the new one" in outcome.err
    assert "judge both with one --positive" in outcome.err
    assert cli(*gate, *run, "--positive", "attack").code == 0
    assert cli("evaluate", "new.csv", "--positive", "normal", "--record", "other").code == 0
    outcome = cli("runs", "compare", two[0], "last")
    assert outcome.code == 3
    assert "the alarm is 'attack' in the old run and 'normal' in the new one" in outcome.err


def test_all_labels_but_one_are_the_alarm_of_a_baseline_too(cli: Cli, tmp_path: Path) -> None:
    kinds = ["dos", "scan", "normal", "normal"] * 30
    for name, score in (("old", 0.6), ("new", 0.7)):
        lines = [f"{label},{score if label != 'normal' else 0.1}" for label in kinds]
        lines += ["normal,0.2"] * (name == "new")
        Path(f"{name}.csv").write_text("label,score\n" + "\n".join(lines) + "\n")
    told = ["--negative", "normal", "--record", "a", "--keep-rows", "--quiet"]
    assert cli("evaluate", "old.csv", *told).code == 0
    gate = ["gate", "new.csv", "--score", "score", "--rule", "new-old(recall) >= -0.1"]
    outcome = cli(*gate, "--baseline", "last", "--negative", "normal", "--format", "json")
    assert outcome.code == 0, outcome.err
    assert json.loads(outcome.out)["positive"] == "not normal"


def test_a_gate_by_intervals_lists_each_rule_once_and_in_order(cli: Cli, tmp_path: Path) -> None:
    table = "label,score,family\n" + "attack,0.9,dos\nattack,0.7,scan\nnormal,0.2,none\n" * 40
    Path("a.csv").write_text(table)
    assert cli("evaluate", "a.csv", "--record", "a", "--quiet").code == 0
    rules = [
        *("new(recall@family=dos) >= 0.8", "old(recall) >= 0.5", "new(recall@family=*) >= 0.5"),
        *("new-old(recall) >= -0.1", "new(recall@family=dos) >= 0.5", "new(recall) >= 0.8"),
        *("new-old(f1) >= -0.2", "new(recall) >= 0.8"),
    ]
    told = [word for rule in rules for word in ("--rule", rule)]
    gate = ["gate", "a.csv", "--score", "score", "--family", "family", "--format", "json"]
    outcome = cli(*gate, "--baseline", "last", *told)
    assert outcome.code == 0, outcome.err
    expanded = [*rules[:2], *(rules[2].replace("*", name) for name in ("dos", "scan")), *rules[3:]]
    judged = json.loads(outcome.out)["rules"]
    assert [rule["rule"] for rule in judged] == expanded
    assert [rule["n"] for rule in judged] == [40, 80, 40, 40, 160, 40, 80, 240, 80]


def test_a_gate_of_an_older_version_has_the_threshold_of_its_rules(tmp_path: Path) -> None:
    rule = {"rule": "new(recall) >= 0.1", "outcome": "pass", "value": 0.9, "low": 0.8, "high": 1}
    rules = [{**rule, "at": "max-fpr=0.1", "thresholds": {"new": 0.9}}]
    rules += [
        {**rule, "at": None, "thresholds": {}},
        {**rule, "at": None, "thresholds": {"new": 2}},
    ]
    document = {"schema": "assay.gate/1", "outcome": "pass", "rules": rules}
    with Store(tmp_path / "runs.db") as store:
        assert threshold_of(store.record(json.dumps(document), name="flows")) == 2.0
        document["rules"] = rules[:2]
        assert threshold_of(store.record(json.dumps(document), name="flows")) is None


def test_a_gate_without_rows_is_a_baseline_by_its_tally(cli: Cli, two: list[str]) -> None:
    first = cli(*GATE, "--rule", "new(recall) >= 0.1", "--record", "nightly", "--threshold", "0.6")
    assert first.code == 0
    rules = ["--rule", "new-old(recall@max-fpr=0.1) >= -0.01", "--rule", "new(recall) >= 0.1"]
    rules += ["--rule", "new-old(roc_auc) >= 0", "--rule", "old(roc_auc) >= 0.5"]
    told = ["--score", "score", "--baseline", "last-passed", "--record", "nightly"]
    apart = json.loads(cli("gate", "new.csv", *told, *rules, "--format", "json").out)
    files = ["--score", "score", "--baseline", "old.csv", "--id", "flow"]
    paired = json.loads(cli("gate", "new.csv", *files, *rules, "--format", "json").out)
    for one, other in zip(apart["rules"], paired["rules"], strict=True):
        assert one["rule"] == other["rule"]
        assert one["value"] == pytest.approx(other["value"])
        assert (one["new"], one["old"]) == pytest.approx((other["new"], other["old"]))


def test_a_gate_is_judged_against_the_last_one_that_passed(cli: Cli, two: list[str]) -> None:
    told = ["--score", "score", "--id", "flow", "--record", "gates", "--keep-rows"]
    missing = cli(
        "gate", "old.csv", "--baseline", "last-passed", *told, "--rule", "new-old(f1) >= 0"
    )
    assert missing.code == 3
    assert "no gate that passed named 'gates'" in missing.err
    assert cli("gate", "old.csv", *told, "--rule", "new(recall) >= 0.1").code == 0
    assert cli("gate", "old.csv", *told, "--rule", "new(recall) >= 0.999").code == 1
    outcome = cli(
        "gate", "new.csv", "--baseline", "last-passed", *told, "--rule", "new-old(f1) >= 0"
    )
    assert outcome.code == 0
    xml = cli("runs", "export", "last-passed", "--to", "junit").out
    assert 'failures="0"' in xml
    assert "new-old(f1)" in xml
    gates = json.loads(cli("runs", "--kind", "gate", "--format", "json").out)["runs"]
    assert [each["gate"] for each in gates] == ["pass", "fail", "pass"]


@pytest.mark.parametrize(
    "command",
    [
        ["threshold", "old.csv", "--max-fpr", "0.1", "--resamples", "20", "--keep-rows"],
        ["plan", "--max-fpr", "0.01"],
        [
            "compare",
            "old.csv",
            "--model",
            "a=score",
            "--model",
            "b=new.csv:score",
            "--id",
            "flow",
            "--keep-rows",
        ],
        ["check", "old.csv", "--label", "label", "--drop", "flow"],
        ["audit", "claims.toml"],
    ],
    ids=lambda command: command[0],
)
def test_every_command_that_judges_records(cli: Cli, two: list[str], command: list[str]) -> None:
    Path("claims.toml").write_text(
        '[[claim]]\nname = "a"\nconfusion = { tn = 5, fp = 1, fn = 2, tp = 4 }\n'
        'reported = { accuracy = "75.0%" }\n'
    )
    outcome = cli(*command, "--record", "other", "--store", "runs.db", "--format", "json")
    assert outcome.code in (0, 1), outcome.err
    with Store("runs.db", read_only=True) as store:
        (kept,) = store.runs().runs
        assert kept.document == outcome.out
        assert kept.kind == command[0]
        assert kept.has_rows == ("--keep-rows" in command)


def test_training_records_its_run_with_its_rows(cli: Cli, two: list[str]) -> None:
    pytest.importorskip("sklearn")
    model = ["sklearn.tree:DecisionTreeClassifier", "old.csv", "--label", "label", "--drop", "flow"]
    outcome = cli("train", *model, "--record", "trees", "--keep-rows", "--format", "json")
    assert outcome.code == 0, outcome.err
    with Store(read_only=True) as store:
        kept = store.find("last")
        rows = kept.rows()
        assert rows is not None
        assert len(rows) == 180
        assert kept.kind == "training"
        assert kept.document == outcome.out
    assert cli("runs", "export", "last", "--to", "card").out.startswith("---\n")


# -- what is said of runs, as documents ------------------------------------------------------------

TOLD = {
    "assay.runs/1": ["runs", "list"],
    "with rules": ["runs", "list", "--rules"],
    "assay.trend/1": ["runs", "trend", "flows", "--measure", "recall"],
    "assay.unpaired/1": ["runs", "compare", "last~1", "last"],
    "assay.compare/1": ["runs", "compare", "last~2", "last~1"],
}


@pytest.fixture
def told(cli: Cli, two: list[str], request: pytest.FixtureRequest) -> tuple[list[str], str]:
    """A command line about runs, and its JSON; the rows of the last run were not kept."""
    if request.param == "with rules":
        assert (
            cli(*GATE, "--rule", "new(recall) >= 0.999", "--record", "gates", "--quiet").code == 1
        )
    assert cli("evaluate", "new.csv", "--record", "flows", "--quiet").code == 0
    return TOLD[request.param], cli(*TOLD[request.param], "--format", "json").out


@pytest.mark.parametrize("told", TOLD, indirect=True)
def test_what_is_said_of_runs_tells_how_it_was_made(told: tuple[list[str], str]) -> None:
    command, text = told
    plain = json.loads(text)
    jsonschema.validate(plain, schema_of(plain["schema"]))
    made = plain["provenance"]
    assert made["command"] == f"assay {shlex.join(command)} --format json"
    assert made["inputs"][0] == {"name": "assay.db", "bytes": None, "sha256": None}
    with Store(read_only=True) as store:
        runs = [store.find(word) for word in command if word.startswith("last")]
    assert [each["sha256"] for each in made["inputs"][1:]] == [r.contents["document"] for r in runs]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("told", TOLD, indirect=True)
def test_what_is_said_of_runs_is_drawn_again(cli: Cli, told: tuple[list[str], str]) -> None:
    command, text = told
    # The faces that do not tell by which command they were made.
    faces = {face: cli(*command, "--format", face).out for face in ("terminal", "csv", "latex")}
    Path("said.json").write_text(text, "utf-8")
    Path("assay.db").unlink()
    for face, drawn in {**faces, "json": text}.items():
        assert cli("show", "said.json", "--format", face).out == drawn
    for face in ("markdown", "html"):
        assert " ".join(command[:2]) in cli("show", "said.json", "--format", face).out
    assert "They say the same" in cli("show", "--diff", "said.json", "said.json").out


@pytest.mark.parametrize("told", [kind for kind in TOLD if "compare" not in kind], indirect=True)
def test_what_is_said_of_runs_and_was_changed_is_refused(
    cli: Cli, told: tuple[list[str], str]
) -> None:
    for key, value in json.loads(told[1]).items():
        if key in ("runs", "points", "differences", "models", "provenance"):
            for odd in (5, "x", [5], [{}], None):
                changed = {**json.loads(told[1]), key: odd}
                Path("odd.json").write_text(json.dumps(changed))
                outcome = cli("show", "odd.json")
                assert outcome.code == 3 or (key, odd) == ("provenance", None), (key, odd, value)
                assert "Traceback" not in outcome.err


# -- change, and go elsewhere ----------------------------------------------------------------------


def test_tags_notes_and_deletion(cli: Cli, two: list[str]) -> None:
    said = cli("runs", "tag", "last", "release", "--remove", "new", "--note", "the one").err
    assert said == f"tags of run {two[1]}: release\n"
    assert (
        json.loads(cli("runs", "--search", "the one", "--format", "json").out)["runs"][0]["id"]
        == two[1]
    )
    assert cli("runs", "delete", two[0]).err.startswith(f"deleted run {two[0]} of 'flows'")
    assert cli("runs", "show", two[0]).code == 3


def test_runs_go_to_another_store_and_to_prometheus(cli: Cli, two: list[str]) -> None:
    assert (
        cli("runs", "export", "--to", "json", "--out", "runs.jsonl").err
        == "wrote 2 runs to runs.jsonl (json)\n"
    )
    assert (
        cli("runs", "import", "runs.jsonl", "--store", "b.db").err
        == "read 2 runs from runs.jsonl\n"
    )
    again = cli("runs", "import", "runs.jsonl", "--store", "b.db").err
    assert again == "read 0 runs from runs.jsonl; 2 were there already\n"
    here, there = (
        json.loads(cli("runs", "--store", place, "--format", "json").out)["runs"]
        for place in ("assay.db", "b.db")
    )
    assert here == there
    assert cli("runs", "export", "--to", "openmetrics").out.endswith("# EOF\n")
    with Store() as store:
        sha256 = store.run(two[0]).contents["document"]
        store._connection().all("UPDATE content SET data = ? WHERE sha256 = ?", (b"odd", sha256))
    outcome = cli("runs", "export", "--to", "json", "--out", "rest.jsonl")
    assert outcome.code == 3
    assert "wrote 1 run to rest.jsonl (json)\n" in outcome.err
    assert f"left out: run {two[0]}: its document can't be read" in outcome.err
    assert cli("runs", "import", "rest.jsonl", "--store", "c.db").err == (
        "read 1 run from rest.jsonl\n"
    )


# -- mistakes --------------------------------------------------------------------------------------


def test_an_import_that_fails_leaves_no_store(cli: Cli, two: list[str]) -> None:
    assert len(two) == 2
    Path("empty").mkdir()
    Path("nothing.jsonl").write_bytes(b"")
    Path("odd.jsonl").write_bytes(b"\xff\xfe")
    cli("runs", "export", "--to", "json", "--out", "runs.jsonl")
    with Path("runs.jsonl").open("a") as file:
        file.write("{}\n")
    for place in ("/dev/zero", "empty", "nothing.jsonl", "odd.jsonl", "runs.jsonl"):
        assert cli("runs", "import", place, "--store", "new.db").code == 3
        assert list(Path().glob("new.db*")) == []


@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        (["evaluate", "old.csv", "--keep-rows"], 2, "is of a run that is kept: say --record NAME"),
        (["evaluate", "old.csv", "--store", "x.db"], 2, "--store is of a run that is kept"),
        (["evaluate", "old.csv", "--id", "flow"], 2, "--id names rows that are kept"),
        (["evaluate", "old.csv", "--record", "a\nb"], 2, "the name of a run is a line"),
        (["evaluate", "-", "--record", "a", "--keep-rows"], 2, "which standard input can't be"),
        ([*COUNTS, "--record", "a", "--keep-rows"], 2, "counts have none"),
        (["evaluate", "old.csv", "--record", "a", "--store", "old.csv"], 4, "is no store"),
        (["evaluate", "old.csv", "--record", "a", "--store", "none/x.db"], 4, "there is no folder"),
        (["runs", "--store", "none.db"], 3, "there is no store none.db: --record NAME keeps"),
        (["runs", "show", "zzz"], 3, "has no run 'zzz'; `assay runs` lists them"),
        (["runs", "trend", "flows"], 2, "say what to follow"),
        (["runs", "trend", "flows", "--measure", "no"], 3, "has 'no'; there are"),
        (["runs", "compare", "last", "last"], 3, "can't be compared with itself"),
        (["runs", "tag", "last"], 2, "say what to change"),
        (["runs", "import", "none"], 3, "there is no file or folder none"),
        (["runs", "export", "last", "--to", "junit"], 3, "only a gate has the face junit"),
        (["runs", "export", "--to", "junit"], 2, "--to junit is of one run"),
        (["runs", "export", "--to", "json", "--uri", "x"], 2, "--uri is where MLflow keeps runs"),
        ([*GATE, "--baseline", "run:zz", "--rule", "new(f1) > 0"], 3, "no run 'zz'"),
    ],
)  # fmt: skip
def test_mistakes_are_told(
    cli: Cli, two: list[str], command: list[str], code: int, said: str
) -> None:
    outcome = cli(*command)
    assert (outcome.code, said in outcome.err) == (code, True), outcome.err
    assert not Path("x.db").exists()


def test_a_place_where_nothing_can_be_kept_is_refused_before_anything_is_read(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = ("evaluate", "none.csv", "--record", "a")
    assert "there is no file none.csv" in cli(*told).err
    with monkeypatch.context() as patched:
        patched.setattr("assay.store.databases.network_of", lambda _: "nfs4")
        outcome = cli(*told)
        assert (outcome.code, "on a network file system (nfs4)" in outcome.err) == (4, True)
    with monkeypatch.context() as patched:
        # Root may write anywhere, so it is told otherwise.
        patched.setattr(os, "access", lambda *_: False)
        outcome = cli(*told)
        assert (outcome.code, "the store assay.db can't be written" in outcome.err) == (4, True)
    assert not Path("assay.db").exists()


def test_the_environment_names_the_store(
    cli: Cli, two: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("assay.db").rename("elsewhere.db")
    monkeypatch.setenv("ASSAY_STORE", "elsewhere.db")
    assert two[0] in cli("runs").out
    assert not Path("assay.db").exists()


# -- the examples of the help ----------------------------------------------------------------------


def examples() -> list[str]:
    context = click.Context(command)
    inside = [line for _, each in command.subcommands(context) for _, line in each.examples]
    return [line for _, line in command.examples] + inside


@pytest.mark.sampled(13)
@pytest.mark.parametrize("line", examples())
def test_the_examples_of_the_help_run(cli: Cli, two: list[str], line: str, tmp_path: Path) -> None:
    if "--to mlflow" in line:
        pytest.skip("it would write to a server of MLflow")
    if "last-passed" in line:
        rule = ("--rule", "new(recall) >= 0.1", "--record", "flows", "--quiet")
        assert cli(*GATE, *rule).code == 0
    runs = tmp_path / "mlruns" / "1" / "77"
    (runs / "metrics").mkdir(parents=True)
    (runs / "meta.yaml").write_text("run_id: 77\nstart_time: 0\n")
    (runs / "metrics" / "loss").write_text("0 0.5 0\n")
    if "runs.jsonl" in line and "import" in line:
        assert cli("runs", "export", "--to", "json", "--out", "runs.jsonl").code == 0
    if "mlflow.db" in line:
        pytest.skip("its own tests read a database of MLflow")
    typed = line.replace("3f9a12:forest", two[0]).replace("77b0c1:forest", two[1])
    outcome = cli(*shlex.split(typed.replace("3f9a12", two[0]))[1:])
    assert outcome.code == 0, outcome.err


def test_what_mlflow_refuses_is_told_as_an_output_that_failed(cli: Cli, two: list[str]) -> None:
    pytest.importorskip("mlflow")
    refused = cli("runs", "export", *two, "--to", "mlflow", "--uri", "nonsense://nowhere")
    assert refused.code == 4
    assert "MLflow was not written to: " in refused.err
    assert "error of ours" not in refused.err
