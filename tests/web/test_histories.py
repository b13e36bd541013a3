"""Histories of gates, of watched detectors and of incidents."""

from __future__ import annotations

from pathlib import Path

import assay
from assay.report import document_of

from .harness import Harness, printed

LABELS = ["attack" if i % 3 == 0 else "normal" for i in range(300)]
SCORES = [0.9 if i % 3 == 0 else 0.1 for i in range(300)]


def judged_gate(*rules: str) -> str:
    return document_of(assay.gate(LABELS, new=SCORES, rules=list(rules))).to_json()


def test_a_gate_is_listed_with_the_rules_that_did_not_hold(tmp_path: Path) -> None:
    with assay.Store(tmp_path / "runs.db") as store, Harness(store) as app:
        store.record(judged_gate("new(precision) >= 0.5", "new(precision) <= 0.5"), name="nightly")
        text = app.get("/gate").text
        assert "new(precision) &lt;= 0.5" in text
        assert "new(precision) &gt;= 0.5" not in text
        assert "No gate ended so" in app.get("/gate?gate=pass").text


def test_gates_are_told_in_every_form_as_the_command_line_does(tmp_path: Path) -> None:
    place = tmp_path / "runs.db"
    with assay.Store(place) as store, Harness(store) as app:
        store.record(judged_gate("new(precision) <= 0.5"), name="nightly")
        store.record(judged_gate("new(precision) >= 0.5"), name="nightly")
        told = app.get("/gate.json")
        listed = ("runs", "list", "--rules", "--store", str(place), "--format")
        assert told.text == printed(tmp_path, *listed, "json")
        assert app.get("/gate.md").text == printed(tmp_path, *listed, "markdown")
        assert app.get("/gate.tex").text == printed(tmp_path, *listed, "latex")
        assert [run["rules"][0]["outcome"] for run in told.json()["runs"]] == ["pass", "fail"]
        failed = app.get("/gate.json?gate=fail").json()["runs"]
        assert [run["gate"] for run in failed] == ["fail"]


def test_a_run_that_can_not_be_read_hides_no_other(tmp_path: Path) -> None:
    with assay.Store(tmp_path / "runs.db") as store, Harness(store) as app:
        store.record('{"schema": "assay.gate/1", "outcome": "fail", "rules": 5}', name="odd")
        store.record(judged_gate("new(precision) <= 0.5"), name="nightly")
        text = app.get("/gate").text
        assert "can&#39;t be read" in text
        assert "new(precision) &lt;= 0.5" in text
        assert [run["rules"] is None for run in app.get("/gate.json").json()["runs"]] == [
            False,
            True,
        ]


def test_histories_are_paged(tmp_path: Path) -> None:
    from assay.web.guards import Limits

    with (
        assay.Store(tmp_path / "runs.db") as store,
        Harness(store, limits=Limits(rows=2)) as app,
    ):
        text = judged_gate("new(precision) >= 0.5")
        runs = [store.record(text, name="nightly").id for _ in range(5)][::-1]
        assert f"/gate?before={runs[1]}" in app.get("/gate").text
        second = app.get(f"/gate.json?before={runs[1]}").json()["runs"]
        assert [run["id"] for run in second] == runs[2:4]
        page = app.get(f"/gate?before={runs[1]}").text
        assert f"/gate.json?before={runs[1]}" in page
        assert app.get("/gate?before=ffffffffffff").status == 404
