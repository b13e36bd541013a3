"""The document of a check. After a wanted change, renew its texts with

RENEW_GOLDEN=1 python -m pytest tests/report/test_check.py
"""

from __future__ import annotations

import csv
import io
import json
from functools import cache
from pathlib import Path

import jsonschema
import polars as pl
import pytest

from assay.learn.checks import CHECKS, Check, check
from assay.learn.data import data_of
from assay.learn.recipes import find_recipe
from assay.report import FORMATS, Provenance, document_of, draw
from assay.report.document import schema_of

from .goldens import checked
from .hostile import NAMES

GOLDEN = Path(__file__).parent / "golden_check"
MADE = Provenance("0.1.0", "assay check train.csv", (("train.csv", 4096, "0f" * 32),))
ROWS = 400


def frame(rows: range) -> pl.DataFrame:
    """Rows that need no generator, so that they are the same everywhere."""
    attack = [i * 37 % 10 < 3 for i in rows]
    return pl.DataFrame(
        {
            "id": list(rows),
            "size": [float(i * 7919 % 1009) + 40 * a for i, a in zip(rows, attack, strict=True)],
            "rate": [round(i * 104_729 % 997 / 7, 3) for i in rows],
            "flag": [0] * len(rows),
            "trace": [float(9 * a + i % 5) for i, a in zip(rows, attack, strict=True)],
            "label": ["attack" if a else "normal" for a in attack],
        }
    )


@cache
def example() -> Check:
    """A check with leaks of rows and columns, trained before and after."""
    whole = frame(range(ROWS))
    parts = whole[:280], pl.concat([whole[280:], whole[:30]])
    train, test = (
        data_of(part, label="label", name=name)
        for part, name in zip(parts, ("train.csv", "test.csv"), strict=True)
    )
    return check(train, test, base_rate=0.001, recipe=find_recipe("tree"), seed=7)


@cache
def quiet() -> Check:
    """A check that found nothing."""
    table = frame(range(ROWS)).select("size", "rate", "label")
    return check(data_of(table, label="label", name="flows.csv"))


@pytest.mark.parametrize(
    ("name", "face", "width"),
    [
        ("check_100.txt", "terminal", 100),
        ("check_50.txt", "terminal", 50),
        ("check.md", "markdown", None),
        ("check.tex", "latex", None),
    ],
)
def test_a_check_looks_as_it_did(name: str, face: str, width: int | None) -> None:
    checked(GOLDEN / name, draw(document_of(example(), provenance=MADE), face, width=width))


def test_the_json_document_keeps_the_contract_and_its_schema() -> None:
    plain = json.loads(draw(document_of(example()), "json"))
    jsonschema.validate(plain, schema_of("assay.check/1"))
    assert list(plain)[:4] == ["schema", "findings", "baselines", "retest"]
    for finding in plain["findings"]:
        assert list(finding)[:7] == [
            "code", "severity", "message", "pitfall", "columns", "rows", "evidence",
        ]  # fmt: skip
        assert finding["evidence"]
        assert finding["why"]
        assert finding["remedy"]
    assert [each["baseline"] for each in plain["baselines"]] == [
        "majority", "best single column", "tree of depth 2",
    ]  # fmt: skip
    assert plain["retest"]["columns"] == ["trace"]
    drop = plain["retest"]["drops"][-1]
    assert drop["value"] == pytest.approx(drop["before"] - drop["after"])


@pytest.mark.parametrize("key", ["schema", "findings", "baselines", "retest"])
def test_the_schema_asks_for_what_the_contract_names(key: str) -> None:
    plain = document_of(example()).plain
    without = {name: value for name, value in plain.items() if name != key}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(without, schema_of("assay.check/1"))


def test_csv_has_a_row_a_finding_and_a_row_an_estimate() -> None:
    leak_check = example()
    text = draw(document_of(leak_check), "csv")
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    kinds = [row["kind"] for row in rows]
    assert kinds.count("finding") == len(leak_check.findings)
    assert kinds.count("baseline") == 12
    assert kinds.count("before") == kinds.count("after") == kinds.count("drop") == 4
    assert {row["code"] for row in rows if row["severity"] == "leak"} == {
        each.code for each in leak_check.leaks
    }


@pytest.mark.parametrize("face", FORMATS)
def test_every_face_names_every_leak_and_the_drop(face: str) -> None:
    text = draw(document_of(example(), provenance=MADE), face)
    for finding in example().leaks:
        assert finding.code in text
    assert "tree" in text


@pytest.mark.parametrize("face", ["terminal", "markdown", "latex", "html"])
def test_every_pitfall_is_named_with_its_status(face: str) -> None:
    text = draw(document_of(example()), face, width=200)
    for pitfall in example().pitfalls:
        assert f"{pitfall.code} {pitfall.name.split()[0]}" in text
    assert "not found" in text


def test_the_headline_says_whether_it_is_honest() -> None:
    assert (
        document_of(example()).report.headline[0] == "Not honest as it is: 2 leaks (L001 and L011)."
    )
    first, second = document_of(quiet()).report.headline
    assert first.startswith("No leak was found in this file")
    assert second == "400 rows of 2 features."
    assert "goes from 1 to" in document_of(example()).report.headline[2]


def test_leaks_stand_before_warnings_in_the_report() -> None:
    text = draw(document_of(example()), "terminal", width=100)
    assert text.index("LEAK L001") < text.index("LEAK L011") < text.index("warning L012")


def test_pages_tell_why_each_finding_matters() -> None:
    text = draw(document_of(example()), "markdown")
    for finding in example().findings:
        told = next(each for each in CHECKS if each.code == finding.code)
        assert told.why.split(".")[0][:40] in text


@pytest.mark.sampled(2)
@pytest.mark.parametrize("face", FORMATS)
def test_hostile_names_do_no_harm(face: str) -> None:
    for name in NAMES[:25]:
        if name in ("label", "id"):
            continue
        label = ["a", name + "!"] * 30
        table = pl.DataFrame({name or "x": [*range(60)], "copy": label, "the label": label})
        leak_check = check(data_of(table, label="the label", positive=name + "!", name=name))
        text = draw(document_of(leak_check), face, width=80)
        assert face != "html" or "<script>alert" not in text
        assert "\x1b[31m" not in text


def test_a_recipe_without_a_leak_is_said_to_drop_by_nothing() -> None:
    table = frame(range(ROWS)).select("size", "rate", "label")
    leak_check = check(data_of(table, label="label"), recipe=find_recipe("tree"))
    said = document_of(leak_check).report.headline
    assert said[-1].startswith("Nothing had to be removed, so nothing drops: ROC AUC of tree")


def test_a_finding_tells_what_it_changes_and_what_to_do() -> None:
    text = draw(document_of(example()), "markdown")
    for finding in example().findings:
        if finding.severity != "info":
            assert finding.why in text.replace("\\", "")
            assert f"What to do: {finding.remedy}" in text.replace("\\", "")
