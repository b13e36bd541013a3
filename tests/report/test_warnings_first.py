"""Warnings stand above all numbers in every face, infos below them."""

import pytest

from assay import evaluate
from assay.evaluation.findings import Finding, urgent_first
from assay.report import draw
from assay.report.sections import Column, Report, Section, Table, Tier
from assay.report.terminal import brief

NUMBERS = Section(
    "Results", (Table("Of all", (Column("measure"),), (("quokka",),)),), Tier.ADVANCED
)
FINDINGS = (
    Finding("E007", "info", "an aardvark"),
    Finding("E011", "warning", "a bear"),
    Finding("L001", "leak", "a cat"),
)
REPORT = Report("Title", ("A headline.",), (NUMBERS,), FINDINGS, ("a note",))


@pytest.mark.parametrize("face", ["terminal", "markdown", "latex", "html"])
@pytest.mark.parametrize("short", [False, True], ids=["whole", "brief"])
def test_warnings_stand_above_the_numbers_and_infos_below(face: str, *, short: bool) -> None:
    text = draw(brief(REPORT, "rest") if short else REPORT, face)
    order = ["A headline", "a cat", "a bear", "quokka", "an aardvark"]
    places = [text.index(part) for part in order]
    assert places == sorted(places)


@pytest.mark.parametrize("face", ["terminal", "markdown", "latex"])
def test_no_finding_is_told_twice(face: str) -> None:
    text = draw(REPORT, face)
    assert [text.count(finding.message) for finding in FINDINGS] == [1, 1, 1]


def test_order_is_kept_among_findings_of_a_kind() -> None:
    codes = [Finding(f"E00{i}", "info" if i % 2 else "warning", "") for i in range(1, 7)]
    ordered = [finding.code for finding in urgent_first(codes)]
    assert ordered == ["E002", "E004", "E006", "E001", "E003", "E005"]


def test_an_evaluation_lists_its_warnings_first_and_prints_them_above_the_numbers() -> None:
    evaluation = evaluate([0] * 90 + [1] * 10, y_score=[0.2] * 90 + [0.3] * 10)
    severities = [finding.severity for finding in evaluation.findings]
    assert set(severities) == {"info", "warning"}
    assert severities == sorted(severities, reverse=True)
    text = str(evaluation)
    assert text.index("warning:") < text.index("accuracy") < text.index("info:")
