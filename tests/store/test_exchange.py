"""Runs leave a store and come back, and other programs read them."""

import json
import re
import sqlite3
import tracemalloc
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import jsonschema
import pytest

import assay
from assay.errors import StoreError
from assay.report.document import parsed, schema_of
from assay.store import KeptRows, Store
from assay.store.exchange import Export, from_export, from_mlflow, imported, openmetrics, to_mlflow

from . import documents


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "runs.db") as opened:
        rows = KeptRows.of(["attack", "normal"], scores={"m": [0.9, 0.2]})
        tally = assay.count(["attack", "normal"] * 50, y_score=[0.9, 0.1] * 50)
        for tp in (80, 90):
            opened.record(
                documents.evaluation(tp, odd='é"\u2028'),
                name="flows",
                tags=["a"],
                rows=rows,
                tally=tally,
            )
        opened.record(documents.gate("fail"), name='a "quoted" \\ name', note="looked at")
        yield opened


def whole(store: Store) -> list[object]:
    return [
        (run.to_dict(), run.document, {role: run.content(role) for role in run.contents})
        for run in store.runs().runs
    ]


def test_an_export_comes_back_with_the_same_ids_and_bytes(store: Store, tmp_path: Path) -> None:
    lines = list(Export(store.every()))
    with Store(tmp_path / "other.db") as other:
        assert imported(other, from_export(lines, "runs.jsonl")) == (3, 0)
        assert whole(other) == whole(store)
        assert other.trend("flows", "recall").to_dict() == store.trend("flows", "recall").to_dict()
        assert imported(other, from_export(lines, "runs.jsonl")) == (0, 3)
    assert sum('"content"' in line for line in lines) == 5  # rows and tally once


def test_a_run_that_is_there_already_brings_no_content(store: Store, tmp_path: Path) -> None:
    def contents() -> list[object]:
        return store._connection().all("SELECT sha256 FROM content ORDER BY sha256")

    before = contents()
    with Store(tmp_path / "other.db") as other:
        run = other.record(documents.small(1), name="flows")
        lines = [line.replace(run.id, store.runs().runs[0].id) for line in Export(other.every())]
    assert imported(store, from_export(lines, "runs.jsonl")) == (0, 1)
    assert contents() == before


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ('{"schema":"assay.export/1"}', '{"schema":"x"}', "line 1: found the schema 'x'"),
        ("evaluation/1", "evaluation/2", "is not what was exported"),
        ('"run":{"id"', '"run":{"no"', "neither content nor a run"),
        ('{"content"', '["content"', "no JSON"),
        ('"run":{"id":"', '"run":{"id":"../', "the id of a run is letters and digits; found '../"),
        ('"document":"', '"document":"0', "comes after it, or never"),
        ('"base64":"', '"base64":"\\u00e9', "the content can't be read"),
        ('"document":"', '"document":{},"x":"', "comes after it, or never"),
        ('"tally":"', '"tally":null,"document":"', "the document of run .* is no text"),
        ('"tags":["a"]', '"tags":0.5', "a tag is a word; found float"),
        ('"tags":["a"]', '"tags":[["a"]]', "a tag is a word; found list"),
    ],
)
def test_an_export_that_was_changed_is_refused(
    store: Store, old: str, new: str, reason: str
) -> None:
    lines = [line.replace(old, new) for line in Export(store.every())]
    with pytest.raises(StoreError, match=reason):
        from_export(lines, "runs.jsonl")


def damage(store: Store, sha256: str) -> None:
    store._connection().all("UPDATE content SET data = ? WHERE sha256 = ?", (b"odd", sha256))


def test_what_is_damaged_ends_no_export(store: Store, tmp_path: Path) -> None:
    first, second, gate = store.every()
    damage(store, first.contents["document"])
    damage(store, gate.contents["document"])
    export = Export(store.every())
    lines = list(export)
    assert export.written == 1
    assert [said.partition(":")[0] for said in export.damaged] == [
        f"run {first.id}",
        f"run {gate.id}",
    ]
    with Store(tmp_path / "other.db") as other:
        assert imported(other, from_export(lines, "runs.jsonl")) == (1, 0)
        (run,) = other.runs().runs
        assert (run.id, run.document, run.rows() is not None) == (second.id, second.document, True)
    damage(store, second.contents["rows"])
    export = Export(store.every())
    with Store(tmp_path / "third.db") as third:
        assert imported(third, from_export(export, "runs.jsonl")) == (1, 0)
        (run,) = third.runs().runs
        assert (run.has_tally, run.has_rows) == (True, False)
    assert f"run {second.id}: its rows can't be read" in " ".join(export.damaged)


def test_an_export_holds_a_run_at_a_time(store: Store) -> None:
    """However many runs there are, what waits is no more than one page of the list."""
    for i in range(700):
        store.record(documents.small(i), name="many")
    lines = iter(Export(store.every(name="many")))
    tracemalloc.start()
    number = sum(len(line) > 0 for line in lines)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert number == 1401
    assert peak < 2_000_000


# -- OpenMetrics -----------------------------------------------------------------------------------

NAME, ESCAPED = r"[a-zA-Z_][a-zA-Z0-9_]*", r'"(?:[^"\\\n]|\\["\\n])*"'
SAMPLE = re.compile(rf"{NAME}\{{{NAME}={ESCAPED}(?:,{NAME}={ESCAPED})*\}} -?[0-9.]+(?:e[+-]?\d+)?")
META = re.compile(rf"# (?:TYPE {NAME} gauge|UNIT {NAME} seconds|HELP {NAME} [^\n]+)")


def test_openmetrics_keeps_the_grammar(store: Store) -> None:
    text = openmetrics(store.runs().runs)
    *lines, end, rest = text.split("\n")
    assert (end, rest) == ("# EOF", "")
    assert all(SAMPLE.fullmatch(line) or META.fullmatch(line) for line in lines)
    families = [re.split(r"[ {]", line)[2 if line[0] == "#" else 0] for line in lines]
    changes = [a for a, b in zip(families, [*families[1:], ""], strict=True) if a != b]
    assert len(changes) == len(set(changes))  # samples of one family stand together
    assert 'assay_estimate{name="flows",kind="evaluation",measure="recall"} 0.9' in lines
    assert 'assay_gate_passed{name="a \\"quoted\\" \\\\ name",kind="gate"} 0.0' in lines


def test_prometheus_reads_it(store: Store) -> None:
    parser = pytest.importorskip("prometheus_client.openmetrics.parser")
    latest = [store.find("last"), store.find("last", name="flows")]
    families = {
        family.name: family for family in parser.text_string_to_metric_families(openmetrics(latest))
    }
    values = {
        sample.labels["measure"]: sample.value for sample in families["assay_estimate_low"].samples
    }
    assert values["recall"] == pytest.approx(store.trend("flows", "recall").points[-1].low)
    assert {sample.labels["name"] for sample in families["assay_gate_passed"].samples} == {
        'a "quoted" \\ name'
    }


# -- MLflow ----------------------------------------------------------------------------------------


def test_runs_of_an_mlflow_folder_are_read(store: Store, tmp_path: Path) -> None:
    run = tmp_path / "mlruns" / "1" / "0123456789abcdef0123456789abcdef"
    (run / "metrics").mkdir(parents=True)
    (run.parent / "meta.yaml").write_text("experiment_id: '1'\nname: mail\n")
    (run / "meta.yaml").write_text(
        f"run_id: {run.name}\nrun_name: big-fish-1\nstart_time: 1763280000000\n"
        f"lifecycle_stage: active\n"
    )
    for name, lines in (
        ("recall", "1763280000000 0.5 0\n1763280000001 0.75 1\n"),
        ("recall_low", "1763280000000 0.7 0\n"),
        ("recall_high", "1763280000000 0.8 0\n"),
    ):
        (run / "metrics" / name).write_text(lines)
    assert imported(store, from_mlflow(tmp_path / "mlruns")) == (1, 0)
    assert imported(store, from_mlflow(tmp_path / "mlruns")) == (0, 1)
    (point,) = store.trend("mail", "recall").points
    assert (point.value, point.low, point.high) == (0.75, 0.7, 0.8)
    assert point.made == "2025-11-16T08:00:00Z"
    assert store.run(point.run).tags == ("mlflow",)


def test_runs_of_an_mlflow_database_are_read(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "mlflow.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(
            """
            CREATE TABLE experiments (experiment_id INTEGER, name TEXT);
            CREATE TABLE runs (run_uuid TEXT, name TEXT, experiment_id INTEGER, start_time BIGINT,
                               lifecycle_stage TEXT);
            CREATE TABLE latest_metrics (key TEXT, value REAL, is_nan BOOLEAN, run_uuid TEXT);
            INSERT INTO experiments VALUES (1, 'mail');
            INSERT INTO runs VALUES ('abcdef0123456789', 'fish', 1, 1763280000000, 'active');
            INSERT INTO runs VALUES ('0bcdef0123456789', 'gone', 1, 1763280000000, 'deleted');
            INSERT INTO latest_metrics VALUES ('recall', 0.5, 0, 'abcdef0123456789');
            INSERT INTO latest_metrics VALUES ('loss', 0, 1, 'abcdef0123456789');
            INSERT INTO runs VALUES ('1bcdef0123456789', 'early', 1, NULL, 'active');
            INSERT INTO latest_metrics VALUES ('recall', 0.25, 0, '1bcdef0123456789');
            """
        )
    assert imported(store, from_mlflow(path, name="letters")) == (2, 0)
    assert store.measures("letters") == ("recall",)
    assert [point.value for point in store.trend("letters", "recall").points] == [0.25, 0.5]
    assert store.runs(name="letters").runs[-1].made == "1970-01-01T00:00:00Z"
    told = json.loads(store.find("last", name="letters").document)["estimates"]
    assert told[0] == {
        "measure": "loss",
        "value": None,
        "low": None,
        "high": None,
        "undefined": "MLflow has nan",
    }
    with pytest.raises(StoreError, match="is no database of MLflow"):
        from_mlflow(tmp_path / "runs.db")
    (tmp_path / "empty").mkdir()
    with pytest.raises(StoreError, match="holds no runs of MLflow"):
        from_mlflow(tmp_path / "empty")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # MLflow's own, of what it is built on
def test_mlflow_takes_runs_and_gives_them_back(store: Store, tmp_path: Path) -> None:
    pytest.importorskip("mlflow")
    database = tmp_path / "mlflow.db"
    assert to_mlflow(store.runs(name="flows").runs, f"sqlite:///{database}") == 2
    with Store(tmp_path / "other.db") as other:
        assert imported(other, from_mlflow(database)) == (2, 0)
        values = {point.value for point in other.trend("flows", "recall").points}
        assert values == {0.8, 0.9}
        assert all(point.low is not None for point in other.trend("flows", "recall").points)


def test_without_mlflow_the_export_says_what_to_install(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "mlflow", None)
    with pytest.raises(StoreError, match="needs its package, mlflow, which is not installed"):
        to_mlflow(store.runs().runs)


def test_a_document_that_was_imported_names_where_it_came_from(
    store: Store, tmp_path: Path
) -> None:
    run = tmp_path / "mlruns" / "1" / "77"
    (run / "metrics").mkdir(parents=True)
    (run / "meta.yaml").write_text("run_id: 77\nstart_time: null\n")
    (run / "metrics" / "loss").write_text("0 0.5 0\n")
    for name, value in (("worst", "inf"), ("odd", "nan"), ("loss_low", "nan")):
        (run / "metrics" / name).write_text(f"0 {value} 0\n")
    imported(store, from_mlflow(tmp_path / "mlruns", name="mail"))
    document = parsed(store.find("last", name="mail").document)
    assert {each["measure"]: each["value"] for each in document["estimates"]} == {
        "loss": 0.5,
        "odd": None,
        "worst": None,
    }
    jsonschema.validate(document, schema_of("assay.imported/1"))
    assert document["source"]["name"] == "MLflow run 77"
