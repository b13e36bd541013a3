"""A report for a small screen, of every command."""

from dataclasses import replace

import pytest

from assay.report.sections import Column, Dots, ForestPlot, Prose, Report, Section, Table, Tier
from assay.report.terminal import NUMBERS, brief

from .test_faces import CASES, made

QUICK = [case for case in CASES if not case.startswith(("training", "measures"))]


def rows(report: Report) -> int:
    count = 0
    for block in (block for section in report.sections for block in section.blocks):
        match block:
            case Table():
                count += len(block.rows)
            case Dots():
                count += len(block.dots)
            case ForestPlot():
                count += len(block.changes)
    return count


@pytest.mark.sampled(25)
@pytest.mark.parametrize("case", QUICK)
def test_it_has_the_verdict_the_findings_and_ten_numbers_at_most(case: str) -> None:
    whole = made(case)
    short = brief(whole, "the rest")
    assert short.headline == whole.headline
    assert short.findings == whole.findings
    assert short.notes == ("the rest",)
    assert min(rows(whole), 1) <= rows(short) <= NUMBERS


def table(name: str, size: int) -> Section:
    cells = tuple((f"{name}{i}",) for i in range(size))
    return Section(name, (Table("", (Column("x"),), cells),), Tier.MAIN)


@pytest.mark.parametrize(
    ("sizes", "shown"), [((30,), [10]), ((30, 30), [5, 5]), ((2, 30), [2, 8]), ((30, 3), [7, 3])]
)
def test_sections_share_the_numbers(sizes: tuple[int, ...], shown: list[int]) -> None:
    parts = tuple(table(f"part {i} ", size) for i, size in enumerate(sizes))
    short = brief(Report("", (), parts), "")
    assert [rows(replace(short, sections=(section,))) for section in short.sections] == shown


def test_sentences_that_are_the_result_stay_and_further_results_go() -> None:
    part = Section("What was found", (Prose("a leak"),), Tier.MAIN)
    further = replace(table("further", 3), tier=Tier.ADVANCED)
    short = brief(Report("", (), (part, table("main", 2), further)), "")
    assert [section.title for section in short.sections] == ["What was found", "main"]
