"""``assay sample``, and ``assay evaluate --strata`` of what was labelled."""

from __future__ import annotations

import json
import shlex
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from assay.cli.sample import EXAMPLES
from assay.report.document import schema_of

Cli = Callable[..., Any]


@pytest.fixture
def flows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(1)
    truth = random.random(20_000) < 0.01
    scores = np.clip(random.beta(1, 12, 20_000) + 0.5 * truth, 0, 1)
    path = tmp_path / "flows.csv"
    pl.DataFrame(
        {
            "flow": np.arange(20_000),
            "score": np.round(scores, 6),
            "label": np.where(truth, "attack", "normal"),
            "text": ["=1+1"] * 20_000,
        }
    ).write_csv(path)
    return path


def test_what_was_drawn_is_labelled_and_evaluated(cli: Cli, flows: Path) -> None:
    outcome = cli(
        "sample", "flows.csv", "--score", "score", "--labels", "2000", "--out", "some.csv"
    )
    assert outcome.code == 0, outcome.err
    assert "2,000 of 20,000 rows are to be labelled, drawn by 7 strata" in outcome.out
    assert "wrote some.csv: 2,000 rows to label" in outcome.err
    rows = pl.read_csv("some.csv")
    assert rows["text"].unique().to_list() == ["'=1+1"]
    judged = cli(
        *("evaluate", "some.csv", "--label", "label", "--score", "score"),
        *("--weight", "weight", "--strata", "stratum", "--format", "json"),
    )
    assert judged.code == 0, judged.err
    document = json.loads(judged.out)
    recall = next(e for e in document["estimates"] if e["measure"] == "recall")
    assert recall["method"] == "fay-feuer"
    whole = json.loads(cli("evaluate", "flows.csv", "--format", "json").out)
    true = next(e for e in whole["estimates"] if e["measure"] == "recall")["value"]
    assert recall["low"] <= true <= recall["high"]
    assert "2,000 rows were drawn from 20,000, by 7 strata" in " ".join(document["notes"])
    careless = cli(
        *("evaluate", "some.csv", "--label", "label", "--score", "score", "--weight", "weight"),
        *("--strata", "stratum", "--interval", "tiwari", "--format", "json"),
    )
    assert "no proof" in careless.out


def test_the_document_keeps_its_schema(cli: Cli, flows: Path) -> None:
    import jsonschema

    outcome = cli(
        *("sample", str(flows), "--score", "score", "--labels", "500", "--strata", "4"),
        *("--threshold", "0.4", "--seed", "7", "--out", "some.parquet", "--format", "json"),
    )
    assert outcome.code == 0, outcome.err
    document = json.loads(outcome.out)
    jsonschema.validate(document, schema_of("assay.sample/1"))
    assert (document["labels"], len(document["strata"]), document["seed"]) == (500, 4, 7)
    assert document["threshold"] == 0.4
    told = pl.read_parquet("some.parquet").group_by("stratum").len().sort("stratum")
    assert told["len"].to_list() == [stratum["drawn"] for stratum in document["strata"]]


@pytest.mark.parametrize("face", ["terminal", "csv", "markdown", "latex", "html"])
def test_every_face_tells_the_strata(cli: Cli, flows: Path, face: str) -> None:
    outcome = cli(
        *("sample", str(flows), "--score", "score", "--labels", "500", "--out", "some.jsonl"),
        *("--format", face),
    )
    assert outcome.code == 0, outcome.err
    assert "stratum" in outcome.out


@pytest.mark.parametrize(
    ("options", "code", "says"),
    [
        (("--labels", "500", "--out", "x.csv"), 2, "--score is missing"),
        (("--score", "score", "--labels", "500"), 2, "--out"),
        (("--score", "scores", "--labels", "500", "--out", "x.csv"), 3, "'scores'"),
        (("--score", "score", "--labels", "9", "--out", "x.csv"), 3, "13 labels at least"),
        (("--score", "score", "--labels", "500", "--out", "flows.csv"), 2, "is an input"),
        (("--score", "score", "--labels", "500", "--out", "x.xyz"), 2, "tells no format"),
        (("--score", "score", "--labels", "500", "--out", "-"), 2, "go to a file"),
        (
            (
                *("--score", "score", "--labels", "500", "--alerts", "all"),
                *("--threshold", "0.01", "--out", "x.csv"),
            ),
            3,
            "smaller share of --alerts",
        ),
    ],
)
def test_what_is_wrong_is_said(
    cli: Cli, flows: Path, options: tuple[str, ...], code: int, says: str
) -> None:
    outcome = cli("sample", flows.name, *options)
    assert outcome.code == code
    assert says in outcome.err
    assert not Path("x.csv").exists()


def test_strata_without_weights_are_refused(cli: Cli, flows: Path) -> None:
    outcome = cli("evaluate", flows.name, "--strata", "text")
    assert outcome.code == 3
    assert "--strata is where rows were drawn from, and --weight" in outcome.err


def test_a_sample_is_kept_and_shown_again(cli: Cli, flows: Path) -> None:
    outcome = cli(
        *("sample", flows.name, "--score", "score", "--labels", "500", "--out", "some.csv"),
        *("--record", "labels", "--store", "runs.db", "--format", "json"),
    )
    assert outcome.code == 0, outcome.err
    Path("sample.json").write_text(outcome.out)
    shown = cli("show", "sample.json")
    assert shown.code == 0, shown.err
    assert "Which rows to label" in shown.out
    listed = cli("runs", "--store", "runs.db")
    assert "labels" in listed.out


@pytest.mark.parametrize("line", [line for _, line in EXAMPLES])
def test_the_examples_of_the_help_run(cli: Cli, flows: Path, line: str) -> None:
    outcome = cli(*shlex.split(line)[1:])
    assert outcome.code == 0, outcome.err


@pytest.mark.parametrize(
    ("odd", "suffix"),
    [([[1, 2]], "csv"), ([{"x": 1}], "tsv"), ([b"\xff"], "csv"), ([b"\xff"], "jsonl")],
)
def test_a_column_that_the_file_can_not_hold_is_named(
    cli: Cli, tmp_path: Path, odd: list[Any], suffix: str
) -> None:
    rows = pl.DataFrame({"score": np.arange(40) / 40, "odd": odd * 40})
    rows.write_parquet(tmp_path / "rows.parquet")
    asked = ("sample", tmp_path / "rows.parquet", "--score", "score", "--labels", "20")
    told = cli(*asked, "--out", tmp_path / f"some.{suffix}")
    assert told.code == 2
    assert f"{suffix.upper()} can't hold column 'odd', which is of type" in told.err
    assert not (tmp_path / f"some.{suffix}").exists()
    assert cli(*asked, "--out", tmp_path / "some.parquet").code == 0


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_values_of_several_kinds_are_written_as_text(cli: Cli, tmp_path: Path, suffix: str) -> None:
    with sqlite3.connect(tmp_path / "rows.db") as rows:
        rows.execute("create table flows (score real, odd)")
        values = [(i / 40, (i, "text", None, b"\xff")[i % 4]) for i in range(40)]
        rows.executemany("insert into flows values (?, ?)", values)
    out = tmp_path / f"some.{suffix}"
    query = f"sqlite:{tmp_path / 'rows.db'}?select * from flows"
    told = cli("sample", query, "--score", "score", "--labels", "40", "--out", out)
    assert told.code == 0, told.err
    read = {"csv": pl.read_csv, "jsonl": pl.read_ndjson, "parquet": pl.read_parquet}[suffix](out)
    assert read.sort("score")["odd"].cast(pl.String).to_list()[4:8] == ["4", "text", None, "ff"]
