"""The document of a plan. After a wanted change, renew its texts with

RENEW_GOLDEN=1 python -m pytest tests/report/test_plan.py
"""

import csv
import io
import json
from functools import cache
from pathlib import Path

import jsonschema
import pytest

from assay import plan
from assay.report import FORMATS, Document, Provenance, document_of, draw
from assay.report.document import schema_of
from assay.report.sections import Table

from .goldens import checked
from .hostile import NAMES

GOLDEN = Path(__file__).parent / "golden_plan"
MADE = Provenance("0.1.0", "assay plan --max-fpr 1/10000")
SUFFIXES = {"json": "json", "csv": "csv", "markdown": "md", "latex": "tex"}
CASES = {
    "fpr": {"max_fpr": 1e-4},
    "expected": {
        "max_fpr": 1e-3,
        "expected_fpr": 2e-4,
        "min_dr": 0.9,
        "expected_dr": 0.95,
        "base_rate": 0.001,
    },
    "far": {"max_far": 0.1, "base_rate": 1e-4},
    "far_expected": {
        "max_far": 0.1,
        "base_rate": 1e-3,
        "expected_fpr": 2e-5,
        "expected_dr": 0.9,
    },
    "width": {"width": 0.05, "expected": 0.9},
    "worst_width": {"width": 0.1},
    "difference": {"difference": 0.02, "discordant": 0.1},
    "hopeless": {"max_fpr": 1e-3, "expected_fpr": 2e-3, "min_dr_families": {"dos": 0.9}},
}


@cache
def document(case: str) -> Document:
    return document_of(plan(**CASES[case]), provenance=MADE)


def table(case: str, section: int = 0) -> Table:
    block = document(case).report.sections[section].blocks[0]
    assert isinstance(block, Table)
    return block


# -- what it says ----------------------------------------------------------------------------------


def test_the_headline_tells_the_least_that_is_needed() -> None:
    (said,) = document("fpr").report.headline
    assert said == (
        "To show a false positive rate of at most 0.01% with 90% confidence takes 23,025 negatives "
        "without one false alarm."
    )


def test_the_headline_tells_what_succeeds_with_the_power() -> None:
    first, second, shared = document("expected").report.headline
    assert first.endswith(
        "; to succeed with a chance of 80% take 6,294 negatives, with at most 2 false alarms."
    )
    assert second.endswith("take 179 positives, with at most 11 misses.")
    assert shared == (
        "The 2 goals share the error in equal parts (Bonferroni): each holds with 95% confidence, "
        "all together with 90%."
    )


def test_not_possible_comes_first() -> None:
    assert document("hopeless").report.headline[0] == (
        "Not possible: a detector with a false positive rate of 0.002 is not shown to stay below "
        "0.001 by any number of rows."
    )


def test_a_false_alarm_rate_takes_negatives_and_positives_or_alerts() -> None:
    (said,) = document("far").report.headline
    assert said.endswith(
        "takes 217,693 negatives without one false alarm and 1,000 positives, all detected; or 22 "
        "labelled alerts without one false alarm."
    )


def test_an_interval_is_told_at_the_expected_share_and_at_the_worst() -> None:
    (said,) = document("width").report.headline
    assert said == (
        "A 95% interval that is at most 0.05 wide takes 557 rows where the share is 90%, 1,533 "
        "whatever it is."
    )
    assert document("worst_width").report.headline[0].endswith("rows, whatever the share is.")
    assert not table("worst_width").notes


def test_a_difference_names_its_test() -> None:
    (said,) = document("difference").report.headline
    assert said.endswith("takes 2,046 rows for a chance of 80.0% (McNemar's test at 95%).")


def test_what_is_enough_stands_in_its_place_in_the_table() -> None:
    rows = table("expected", 1).rows
    assert [row[0] for row in rows] == [0, 1, 2, 5, 10, 11, 20]
    assert [row[1] for row in rows] == sorted(row[1] for row in rows)


def test_rows_as_they_come_are_told_at_a_base_rate() -> None:
    said = document("expected").report.sections[1].blocks[1]
    assert said.text.endswith("179 positives take about 179,000 rows.")


def test_chances_next_to_certain_are_not_written_in_many_nines() -> None:
    cells = {row[2] for case in ("expected", "hopeless") for row in table(case).rows}
    assert {"over 99.99%", "under 0.01%"} <= cells


# -- its faces -------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", CASES)
def test_json_follows_its_schema(case: str) -> None:
    content = json.loads(draw(document(case), "json"))
    jsonschema.Draft202012Validator(schema_of("assay.plan/1")).validate(content)
    assert content["headline"] == list(document(case).report.headline)


@pytest.mark.parametrize("case", CASES)
def test_csv_has_a_row_a_need(case: str) -> None:
    rows = list(csv.DictReader(io.StringIO(draw(document(case), "csv"), newline="")))
    assert len(rows) == len(plan(**CASES[case]).records())


@pytest.mark.parametrize("name", NAMES[:12])
def test_names_of_families_are_harmless(name: str) -> None:
    made = document_of(plan(min_dr_families={name: 0.9}))
    for face in FORMATS:
        text = draw(made, face)
        if face in ("markdown", "html"):
            assert "<script>alert" not in text
            assert "<img" not in text


def goldens() -> dict[str, tuple[str, str, int | None]]:
    files: dict[str, tuple[str, str, int | None]] = {}
    for case in CASES:
        files[f"{case}_80.txt"] = (case, "terminal", 80)
    for face, suffix in SUFFIXES.items():
        # Chances have more digits than every machine agrees on.
        case = "fpr" if face in ("json", "csv") else "expected"
        files[f"{case}.{suffix}"] = (case, face, None)
    files["far.md"] = ("far", "markdown", None)
    return files


@pytest.mark.parametrize("name", goldens())
def test_report_is_the_golden_one(name: str) -> None:
    case, face, width = goldens()[name]
    text = draw(document(case), face, width=width)
    checked(GOLDEN / name, text)


def test_every_golden_text_has_its_case() -> None:
    assert {path.name for path in GOLDEN.iterdir()} == set(goldens())
