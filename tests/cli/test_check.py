"""``assay check``: leaks, and an exit code that tells of them."""

from __future__ import annotations

import json
import random
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import polars as pl
import pytest

from assay.cli.check import EXAMPLES
from assay.report.document import schema_of

Cli = Callable[..., Any]


def table(rows: int = 300) -> pl.DataFrame:
    generator = np.random.default_rng(5)
    attack = generator.random(rows) < 0.4
    moment = np.datetime64("2024-01-01T00:00:00", "us")
    return pl.DataFrame(
        {
            "bytes": generator.normal(500, 100, rows) + 60 * attack,
            "rate": generator.normal(size=rows),
            "host": [f"h{i // 30}" for i in range(rows)],
            "time": moment + np.arange(rows) * np.timedelta64(1, "m"),
            "label": np.where(attack, "attack", "normal"),
        }
    )


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files to check; not to be written to."""
    folder = tmp_path_factory.mktemp("check")
    frame = table()
    frame[:210].write_csv(folder / "train.csv")
    frame[210:].write_csv(folder / "test.csv")
    pl.concat([frame[210:], frame[:5]]).write_csv(folder / "copied.csv")
    frame.write_csv(folder / "flows.csv")
    frame.sort("label").with_row_index("id").write_csv(folder / "sorted.csv")
    return folder


COLUMNS = ("--label", "label", "--group", "host", "--time", "time")


def test_an_honest_split_ends_with_0(cli: Cli, files: Path) -> None:
    outcome = cli("check", files / "train.csv", files / "test.csv", *COLUMNS)
    assert (outcome.code, outcome.err) == (0, "")
    assert "No leak between these parts was found." in outcome.out


def test_a_copied_row_ends_with_1(cli: Cli, files: Path) -> None:
    options = ("--label", "label", "--drop", "host", "--drop", "time", "--format", "json")
    outcome = cli("check", files / "train.csv", files / "copied.csv", *options)
    assert outcome.code == 1
    plain = json.loads(outcome.out)
    jsonschema.validate(plain, schema_of("assay.check/1"))
    assert [each["code"] for each in plain["findings"] if each["severity"] == "leak"] == ["L001"]
    assert "leak L001: 5 of 95 test rows" in outcome.err


def test_groups_and_times_on_both_sides_end_with_1(cli: Cli, files: Path) -> None:
    outcome = cli("check", files / "train.csv", files / "copied.csv", *COLUMNS)
    assert outcome.code == 1
    assert "L001, L006 and L008" in outcome.out


def test_duplicates_inside_one_file_only_warn(cli: Cli, tmp_path: Path) -> None:
    frame = table().drop("time", "host")
    pl.concat([frame, frame[:40]]).write_csv(tmp_path / "flows.csv")
    outcome = cli("check", tmp_path / "flows.csv", "--label", "label")
    assert outcome.code == 0
    assert "warning L002: 40 of 340 rows" in outcome.out


def test_an_id_that_tells_the_label_ends_with_1_until_it_is_dropped(cli: Cli, files: Path) -> None:
    options = (*COLUMNS, "--format", "json")
    outcome = cli("check", files / "sorted.csv", *options)
    assert outcome.code == 1
    assert "id" in json.loads(outcome.out)["findings"][0]["columns"]
    assert cli("check", files / "sorted.csv", *options, "--drop", "id").code == 0


def test_with_a_recipe_the_drop_is_told(cli: Cli, files: Path) -> None:
    options = ("--label", "label", "--drop", "time", "--drop", "host", "--recipe", "tree")
    outcome = cli("check", files / "sorted.csv", *options, "--format", "json", "--seed", "3")
    assert outcome.code == 1
    plain = json.loads(outcome.out)
    assert plain["retest"]["columns"] == ["id"]
    accuracy = plain["retest"]["drops"][0]
    assert accuracy["measure"] == "accuracy"
    assert 0 < accuracy["low"] < accuracy["value"] < accuracy["high"] < 1
    assert "retest" in cli("check", files / "sorted.csv", *options, "--format", "json").out


def test_every_face_is_written(cli: Cli, files: Path, tmp_path: Path) -> None:
    for suffix in ("txt", "json", "csv", "md", "tex", "html"):
        out = tmp_path / f"check.{suffix}"
        outcome = cli("check", files / "flows.csv", *COLUMNS, "--out", out, "--quiet")
        assert (outcome.code, outcome.out, outcome.err) == (0, "", "")
        assert out.stat().st_size > 200


@pytest.mark.slow
def test_standard_input_is_read(cli: Cli, shell: Cli, files: Path) -> None:
    with (files / "flows.csv").open("rb") as stream:
        words = ("check", "-", "--label", "label", "--format", "json")
        outcome = shell(*words, stdin=stream, timeout=300)
    assert json.loads(outcome.out)["parts"]["training"]["rows"] == 300


def test_labels_of_the_test_part_are_those_of_the_training_part(
    cli: Cli, files: Path, tmp_path: Path
) -> None:
    table()[210:].filter(pl.col("label") == "normal").write_csv(tmp_path / "normal.csv")
    options = ("--label", "label", "--format", "json")
    outcome = cli("check", files / "train.csv", tmp_path / "normal.csv", *options)
    plain = json.loads(outcome.out)
    assert plain["labels"] == ["normal", "attack"]
    assert any(each["code"] == "L019" for each in plain["findings"])


def test_classes_that_are_new_or_absent_in_the_test_part_are_findings(
    cli: Cli, tmp_path: Path
) -> None:
    kinds = np.array(["dos", "scan", "web"])[np.arange(300) % 3]
    frame = table().with_columns(label=pl.Series(kinds))
    frame[:210].write_csv(tmp_path / "train.csv")
    frame[210:].filter(pl.col("label") != "web").write_csv(tmp_path / "two.csv")
    frame[210:].with_columns(label=pl.col("label").replace("web", "worm")).write_csv(
        tmp_path / "new.csv"
    )
    for test, labels in (("two.csv", ["dos", "scan", "web"]), ("new.csv", None)):
        words = (tmp_path / "train.csv", tmp_path / test, "--label", "label", "--format", "json")
        outcome = cli("check", *words)
        assert outcome.code in (0, 1), outcome.err
        plain = json.loads(outcome.out)
        assert any(each["code"] == "L019" for each in plain["findings"])
        assert plain["labels"] == (labels or ["dos", "scan", "web", "worm"])


def test_bad_rows_are_counted_where_they_are_skipped(cli: Cli, tmp_path: Path) -> None:
    lines = table(60).drop("time", "host").write_csv().splitlines()
    lines.insert(5, "12.5,0.3,")
    (tmp_path / "flows.csv").write_text("\n".join(lines) + "\n", "utf-8")
    stopped = cli("check", tmp_path / "flows.csv", "--label", "label")
    assert stopped.code == 3
    assert "line 6" in stopped.err
    skipped = cli(
        *("check", tmp_path / "flows.csv", "--label", "label", "--on-bad-row", "skip"),
        *("--format", "json"),
    )
    part = json.loads(skipped.out)["parts"]["training"]
    assert (part["rows"], part["rows_read"], part["rows_refused"]) == (60, 61, 1)


# -- mistakes --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (("train.csv",), 2, "--label"),
        (("absent.csv", "--label", "label"), 3, "absent.csv"),
        (("train.csv", "--label", "absent"), 3, "'absent'"),
        (("train.csv", "--label", "label", "--group", "absent"), 3, "'absent'"),
        (("train.csv", "--label", "label", "--drop", "absent"), 3, "'absent'"),
        (("train.csv", "--label", "label", "--time", "bytes"), 3, "bytes"),
        (("train.csv", "--label", "label", "--recipe", "forrest"), 2, "forest"),
        (("train.csv", "--label", "label", "--base-rate", "2"), 2, "between 0 and 1"),
        (("train.csv", "--label", "label", "--positive", "a", "--negative", "b"), 2, "not both"),
        (("train.csv", "test.csv", "more.csv", "--label", "label"), 2, "more.csv"),
        (("-", "-", "--label", "label"), 2, "standard input"),
        (("train.csv", "--label", "label", "--positive", "worm"), 3, "worm"),
    ],
)
def test_mistakes_are_told_without_a_traceback(
    cli: Cli, files: Path, options: tuple[str, ...], code: int, said: str
) -> None:
    named = [files / each if each.endswith(".csv") else each for each in options]
    outcome = cli("check", *named)
    assert outcome.code == code, outcome.err
    assert said in outcome.err
    assert outcome.out == ""
    assert "Traceback" not in outcome.err


def test_a_column_that_the_test_part_lacks_is_named(cli: Cli, files: Path, tmp_path: Path) -> None:
    table()[210:].drop("rate").write_csv(tmp_path / "less.csv")
    outcome = cli("check", files / "train.csv", tmp_path / "less.csv", "--label", "label")
    assert outcome.code == 3
    assert "no column 'rate'" in outcome.err
    assert "less.csv" in outcome.err


def test_a_report_is_not_written_over_its_input(cli: Cli, files: Path) -> None:
    path = files / "train.csv"
    before = path.read_bytes()
    outcome = cli("check", path, "--label", "label", "--out", path)
    assert outcome.code == 2
    assert path.read_bytes() == before


def test_the_examples_of_the_help_run(cli: Cli, files: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(files)
    for _, line in EXAMPLES:
        words = shlex.split(line.replace("--drop id", "--drop host").replace("forest", "tree"))
        outcome = cli(*words[1:])
        assert outcome.code in (0, 1), (line, outcome.err)
        assert "error" not in outcome.err


def test_a_class_that_training_does_not_have_is_a_finding(cli: Cli, files: Path) -> None:
    frame = table()
    only = files.parent / "only.csv"
    frame[:210].filter(pl.col("label") == "normal").write_csv(only)
    drop = ("--drop", "host", "--drop", "time")
    outcome = cli("check", only, files / "test.csv", "--label", "label", *drop, "--format", "json")
    assert outcome.code == 0
    plain = json.loads(outcome.out)
    assert plain["labels"] == ["normal", "attack"]
    (missing,) = (each for each in plain["findings"] if each["code"] == "L019")
    assert list(missing["evidence"]["only_in_test"]) == ["attack"]


def test_a_test_part_without_the_negative_label_is_read_as_the_training_part(
    cli: Cli, tmp_path: Path
) -> None:
    draw = random.Random(1)
    for name, labels in (("train", ["normal", "dos", "scan"]), ("test", ["dos", "worm"])):
        rows = "".join(f"{draw.random()},{draw.choice(labels)}\n" for _ in range(200))
        (tmp_path / f"{name}.csv").write_text(f"x,label\n{rows}")
    parts = [str(tmp_path / name) for name in ("train.csv", "test.csv")]
    shown = cli("check", *parts, "--label", "label", "--negative", "normal", "--format", "json")
    assert shown.code == 0, shown.err
    messages = {each["code"]: each["message"] for each in json.loads(shown.out)["findings"]}
    assert "No test row is 'normal'" in messages["L019"]
    assert "'worm'" in messages["L007"]
