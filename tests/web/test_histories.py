"""Histories of gates, of watched detectors and of incidents."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import assay
from assay.report import document_of
from assay.store.reports import Rules, rules_of
from assay.store.run import KeptRun

from .harness import Harness, but_for_its_making, printed

ATTACKS = (
    {"attack": "port scan", "start": "2026-11-16T10:00Z", "end": "2026-11-16T10:05Z"},
    {"attack": "<worm>", "start": "2026-11-17T12:00Z", "end": "2026-11-17T13:00Z"},
)
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
        printed_too = printed(tmp_path, *listed, "json")
        assert but_for_its_making(told.text) == but_for_its_making(printed_too)
        body, made, _ = app.get("/gate.md").text.partition("Made by assay")
        assert body == printed(tmp_path, *listed, "markdown").partition(made)[0]
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
    from assay.web.guards import RequestLimits

    with (
        assay.Store(tmp_path / "runs.db") as store,
        Harness(store, limits=RequestLimits(rows=2)) as app,
    ):
        text = judged_gate("new(precision) >= 0.5")
        runs = [store.record(text, name="nightly").id for _ in range(5)][::-1]
        assert f"/gate?before={runs[1]}" in app.get("/gate").text
        second = app.get(f"/gate.json?before={runs[1]}").json()["runs"]
        assert [run["id"] for run in second] == runs[2:4]
        page = app.get(f"/gate?before={runs[1]}").text
        assert f"/gate.json?before={runs[1]}" in page
        assert app.get("/gate?before=ffffffffffff").status == 404


def watched(*rules: str, days: int = 12) -> str:
    """A detector whose precision falls from 0.9 to 0.5 in the middle of the time."""
    times = [f"2026-03-{day + 1:02d}" for day in range(days) for _ in range(60)]
    labels = [
        "attack" if i % 10 < (9 if day < days // 2 else 5) else "normal"
        for day in range(days)
        for i in range(60)
    ]
    monitor = assay.monitor(times, labels, y_score=[0.9] * len(times), rules=list(rules))
    return document_of(monitor).to_json()


def detected() -> str:
    """One attack that was found after half a minute, one that was missed, and a false alarm."""
    alerts = pl.DataFrame({"time": [1794823230_000000, 1794909600_000000]})
    return document_of(assay.incidents(alerts=alerts, schedule=list(ATTACKS))).to_json()


def test_a_watched_detector_is_drawn_with_its_rules(tmp_path: Path) -> None:
    place = tmp_path / "runs.db"
    with assay.Store(place) as store, Harness(store) as app:
        text = watched("precision >= 0.8", "precision >= 0.4")
        older = store.record(watched("precision >= 0.8", days=4), name="flows").id
        newer = store.record(text, name="flows").id
        page = app.get("/monitor").text
        assert page.count(f'href="/runs/{newer}"') == 2
        assert page.count(f'href="/runs/{older}"') == 1
        (broken,) = (r for r in json.loads(text)["rules"] if r["outcome"] == "broken")
        assert f'since <time datetime="{broken["since"]}">' in page
        assert '<span class="outcome holds">' in page
        # The course of the precision, with a line for each rule.
        assert "held to precision &gt;= 0.8; held to precision &gt;= 0.4" in page
        listed = ("runs", "list", "--rules", "--kind", "monitor", "--store", str(place))
        printed_too = printed(tmp_path, *listed, "--format=json")
        told = app.get("/monitor.json").text
        assert but_for_its_making(told) == but_for_its_making(printed_too)
        body, made, _ = app.get("/monitor.md").text.partition("Made by assay")
        assert body == printed(tmp_path, *listed, "--format=markdown").partition(made)[0]
        assert app.get(f"/runs/{newer}.json").text == text
        assert "At each look" in app.get(f"/runs/{newer}").text


def test_incidents_are_drawn_in_time(tmp_path: Path) -> None:
    place = tmp_path / "runs.db"
    with assay.Store(place) as store, Harness(store) as app:
        run = store.record(detected(), name="ids").id
        page = app.get("/incidents").text
        assert "1 of 2 incidents" in page
        assert '<figure class="timeline">' in page
        assert "&lt;worm&gt;" in page
        assert "<worm>" not in page
        listed = ("runs", "list", "--kind", "incidents", "--store", str(place))
        printed_too = printed(tmp_path, *listed, "--format=json")
        told = app.get("/incidents.json").text
        assert but_for_its_making(told) == but_for_its_making(printed_too)
        assert "\\begin{" in app.get("/incidents.tex").text
        assert app.get(f"/runs/{run}.json").json()["schema"] == "assay.incidents/1"
        assert "\\begin{" in app.get(f"/runs/{run}.tex").text
        assert app.get(f"/runs/{run}.md").text.startswith("#")


@pytest.mark.parametrize("kind", ["monitor", "incidents"])
def test_a_history_shows_what_it_can_of_a_document_that_is_odd(tmp_path: Path, kind: str) -> None:
    with assay.Store(tmp_path / "runs.db") as store, Harness(store) as app:
        text = {"monitor": watched("precision >= 0.8"), "incidents": detected()}[kind]
        store.record(json.dumps({"schema": f"assay.{kind}/1"}), name="odd")
        store.record(text, name="whole")
        page = app.get(f"/{kind}").text
        assert page.count("<figure") > 0
        assert ">odd</bdi>" in page


def test_the_document_of_a_run_is_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []

    def counted(run: KeptRun) -> Rules | None:
        read.append(run.name)
        return rules_of(run)

    monkeypatch.setattr("assay.web.site.rules_of", counted)
    with assay.Store(tmp_path / "runs.db") as store, Harness(store) as app:
        for name, rule in (("first", "precision >= 0.8"), ("second", "precision >= 0.7")):
            store.record(watched(rule), name=name)
            assert all(app.get(path).status == 200 for path in ("/monitor", "/monitor.json") * 2)
            assert f'aria-label="Rules of {name}"' in app.get("/monitor").text
    assert read == ["first", "second"]
