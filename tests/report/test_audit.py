"""The document of an audit. After a wanted change, renew its texts with

RENEW_GOLDEN=1 python -m pytest tests/report/test_audit.py
"""

import csv
import io
import json
from pathlib import Path

import jsonschema
import pytest

import assay
from assay.decisions.audit import audit_files
from assay.decisions.audit.reading import Totals
from assay.decisions.audit.verdicts import (
    Audit,
    AuditedClaim,
    Explanation,
    JudgedNumber,
    NumberVerdict,
)
from assay.evaluation.findings import Finding
from assay.report import FORMATS, document_of, draw
from assay.report.audit import NO_MISTAKE, written_like
from assay.report.document import schema_of

from .goldens import checked
from .hostile import NAMES

GOLDEN = Path(__file__).parent / "golden_audit"
SHIFT = Explanation("decimal-shift", 0.0459, "the decimal point is one place too far left", 1, 0.05)
SWAP = Explanation("cells-swapped:fn,tp", 0.0736, "fn and tp are exchanged", 2, 0.6)


def network() -> AuditedClaim:
    return AuditedClaim(
        "Network",
        "section 1",
        (
            JudgedNumber(
                "n", None, "14,869", 14869.0, NumberVerdict.CONSISTENT, "the cells add up to it"
            ),
            JudgedNumber(
                "accuracy",
                "accuracy",
                "4.59%",
                0.459,
                NumberVerdict.INCONSISTENT,
                "6,825/14,869",
                (SHIFT,),
            ),
            JudgedNumber(
                "error_rate",
                "error_rate",
                "0.926",
                0.541,
                NumberVerdict.INCONSISTENT,
                "8,044/14,869",
                (SWAP, SHIFT),
            ),
            JudgedNumber(
                "mcc", "mcc", "-0.1667", -0.0527, NumberVerdict.INCONSISTENT, "it is -0.0527", ()
            ),
            JudgedNumber(
                "accuracy.ci",
                "accuracy",
                ("95.80%", "97.60%"),
                (0.9641, 0.9699),
                NumberVerdict.INCONSISTENT,
                "no known method gives it",
            ),
            JudgedNumber(
                "roc_auc", "roc_auc", "0.4812", None, NumberVerdict.UNDETERMINED, "no scores", ()
            ),
        ),
        (Finding("A001", "warning", "the model is inverted"),),
        ("read as percent",),
    )


def forest() -> AuditedClaim:
    rounded = JudgedNumber(
        "f1", "f1", "0.928", 0.9286, NumberVerdict.ROUNDING, "from the rounded ones"
    )
    right = JudgedNumber(
        "accuracy", "accuracy", "0.967", 0.96698, NumberVerdict.CONSISTENT, "correctly rounded"
    )
    return AuditedClaim("Forest", "", (right, rounded))


BOTH = Audit((network(), forest()))


def test_headline_counts_what_cannot_be_right() -> None:
    assert document_of(BOTH).report.headline == (
        "4 of 8 numbers can't be right.",
        "The others: 2 consistent, 1 off by rounding alone and 1 can't be told from what is given.",
    )


def test_headline_of_what_nothing_contradicts() -> None:
    said = document_of(Audit((forest(),))).report.headline
    assert said[0] == "Nothing contradicts these 2 numbers."


def test_headline_says_when_nothing_could_be_judged() -> None:
    unknown = JudgedNumber("roc_auc", "roc_auc", "0.9", None, NumberVerdict.UNDETERMINED)
    said = document_of(Audit((AuditedClaim("x", "", (unknown,)),))).report.headline
    why = "be judged, which says neither yes nor no: nothing that is given decides"
    assert said == (f"The one number could not {why} it.",)
    said = document_of(Audit((AuditedClaim("x", "", (unknown, unknown)),))).report.headline
    assert said == (f"None of 2 numbers could {why} them.",)


def test_a_number_without_explanation_says_so() -> None:
    text = draw(document_of(BOTH), "markdown")
    assert f"it is -0.0527; {NO_MISTAKE}" in text


@pytest.mark.parametrize("face", ["terminal", "markdown", "latex", "html"])
def test_a_long_explanation_is_told_to_its_end(face: str) -> None:
    claim = {
        "positive": "attack",
        "confusion": {"tn": 7743, "fp": 167, "fn": 324, "tp": 6635},
        "reported": {"precision": "0.9534", "recall": "0.9754"},
    }
    audit = assay.audit(claim)
    assert max(len(number.explanations[0].text) for number in audit.claims[0].numbers) > 200
    text = draw(document_of(audit), face)
    assert "…" not in text
    assert r"\ldots" not in text


def test_one_claim_shows_every_number_in_the_terminal() -> None:
    text = draw(document_of(Audit((network(),))), "terminal", width=100)
    assert "Every number" in text
    assert "14,869" in text


@pytest.mark.parametrize(
    ("reported", "value", "shown"),
    [
        ("0.9333", 0.93380575, "0.9338"),
        ("93.33%", 0.93380575, "93.38%"),
        ("96.7", 0.96698, "96.7"),
        ("51,324,897", 51320697.0, "51,320,697"),
        ("-0.1667", -0.05265, "-0.0527"),
        ("1.2e-3", 0.00046, "4.6e-04"),
        ("150", 151.0, "151"),
    ],
)
def test_a_value_is_written_like_the_reported_one(reported: str, value: float, shown: str) -> None:
    assert written_like(reported, value) == shown


def test_json_is_as_the_schema_says() -> None:
    plain = json.loads(draw(document_of(BOTH), "json"))
    jsonschema.Draft202012Validator(schema_of("assay.audit/1")).validate(plain)
    assert [claim["verdict"] for claim in plain["claims"]] == ["inconsistent", "consistent"]
    numbers = {number["key"]: number for number in plain["claims"][0]["numbers"]}
    assert numbers["accuracy.ci"]["recomputed"] == [0.9641, 0.9699]
    assert numbers["roc_auc"]["recomputed"] is None
    assert numbers["error_rate"]["explanations"][0]["mistake"] == "cells-swapped:fn,tp"


def test_csv_has_a_row_for_each_number() -> None:
    rows = list(csv.DictReader(io.StringIO(draw(document_of(BOTH), "csv"))))
    assert len(rows) == 8
    assert rows[1]["mistake"] == "decimal-shift"
    assert rows[4]["recomputed_high"] == "0.9699"


@pytest.mark.sampled(30)
@pytest.mark.parametrize("face", FORMATS)
@pytest.mark.parametrize("hostile", NAMES[:20])
def test_hostile_names_are_written_in_every_face(face: str, hostile: str) -> None:
    number = JudgedNumber(hostile, None, "0.5", 0.4, NumberVerdict.INCONSISTENT, hostile, ())
    text = draw(document_of(Audit((AuditedClaim(hostile, hostile, (number,)),))), face)
    assert text
    if face in ("html", "markdown") and hostile.startswith("<"):
        assert hostile not in text


@pytest.mark.parametrize(
    ("file", "face", "width"),
    [
        ("both_84.txt", "terminal", 84),
        ("both.md", "markdown", None),
        ("both.tex", "latex", None),
    ],
)
def test_report_is_the_golden_one(file: str, face: str, width: int | None) -> None:
    text = draw(document_of(BOTH), face, width=width)
    checked(GOLDEN / file, text)


def test_the_report_of_a_table_is_the_golden_one() -> None:
    path = Path(__file__).resolve().parents[2] / "examples/tables/models.tex"
    told = Totals(support={"normal": 7910, "attack": 6959}, positive="attack")
    text = draw(document_of(audit_files([path], totals=told)), "markdown")
    checked(GOLDEN / "table.md", text)
