"""What a notebook shows of a result: tables and folds, no script, and no style for anything else.

Heights and widths are measured by a browser in ``tests/browser/test_cells.py``.
"""

from __future__ import annotations

import re
from functools import cache
from html.parser import HTMLParser
from importlib.resources import files

import pytest
from tests.report import hostile
from tests.report.test_faces import CASES

from assay import evaluate, evaluate_counts
from assay.report import Document, Report
from assay.report.html.notebook import render

TAGS = {
    *("div", "style", "p", "table", "caption", "thead", "tbody", "tr", "th", "td", "span"),
    *("strong", "details", "summary"),
}
# One evaluation of each kind, and all others.
SHOWN = [case for case in CASES if not case.startswith(("evaluation", "incidents", "measures"))]
SHOWN += ["evaluation: binary", "evaluation: many_classes", "incidents: score", "measures: all"]


class Tags(HTMLParser):
    """Collects tags, attributes and text."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.attributes: set[str] = set()
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)
        self.seen.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def parsed(html: str) -> Tags:
    tags = Tags()
    tags.feed(html)
    tags.close()
    assert not tags.open
    return tags


@cache
def cell(case: str) -> str:
    example = CASES[case]()
    return render(example.report if isinstance(example, Document) else example)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("case", SHOWN)
def test_a_cell_is_well_formed_and_holds_tables_and_folds_only(case: str) -> None:
    tags = parsed(cell(case))
    assert tags.seen <= TAGS
    assert tags.attributes <= {"class", "scope"}
    # It is kept in the file of the notebook.
    assert len(cell(case)) < 100_000


@pytest.mark.sampled(15)
@pytest.mark.parametrize("case", SHOWN)
def test_what_is_beyond_the_first_numbers_is_folded(case: str) -> None:
    seen, _, folded = cell(case).partition("<details>")
    report = CASES[case]()
    report = report.report if isinstance(report, Document) else report
    assert seen.count("<tr>") <= 10 + 4 + 6  # numbers, a small matrix, heads
    for section in report.sections:
        assert f"<summary>{section.title}" in folded.replace("&#39;", "'")
    for note in report.notes[:1]:
        assert note.split("'")[0][:40] in folded.replace("&#39;", "'")


def test_sentences_beyond_the_room_are_counted_and_stand_in_the_details() -> None:
    lines = tuple(f"model {i} and model {i + 1} can't be told apart in accuracy" for i in range(12))
    seen, _, folded = render(Report("title", (lines[0] * 9, *lines), ())).partition("<details>")
    shown = parsed(seen + "</div>").words
    assert not [text for text in shown if text.strip() == "…"]
    assert "8 more sentences are in the details." in seen
    assert "model 11 and" not in seen
    assert "model 11 and" in folded


def test_every_rule_of_the_style_is_of_this_element_alone() -> None:
    style = files("assay.report.html").joinpath("style", "cell.css").read_text("utf-8")
    selectors = re.findall(r"([^{}]+)\{", style)
    assert selectors
    for selector in (each.strip() for group in selectors for each in group.split(",")):
        assert selector.startswith(".assay-cell.assay-cell.assay-cell"), selector
    assert "@" not in style  # neither an import nor a rule for the whole page
    assert "url(" not in style


@pytest.mark.sampled(60)
@pytest.mark.parametrize("name", hostile.NAMES)
def test_names_are_text_and_nothing_else(name: str) -> None:
    tags = parsed(render(hostile.document_with(name)))
    assert tags.seen <= TAGS
    assert tags.attributes <= {"class", "scope"}


def test_an_evaluation_shows_values_with_their_intervals() -> None:
    evaluation = evaluate_counts(tp=6635, fp=167, fn=324, tn=7743, labels=["normal", "attack"])
    words = " ".join(
        "".join(parsed(evaluation._repr_html_().partition("<details>")[0] + "</div>").words).split()
    )
    assert "precision 0.975 [0.971, 0.979]" in words.replace("\n", " ")
    assert "7,743" in words
    assert "Catches 95.3%" in words


def test_many_classes_have_no_matrix_before_the_fold() -> None:
    few, many = [f"family{i}" for i in range(4)], [f"family{i}" for i in range(5)]
    for names, there in ((few, True), (many, False)):
        seen = evaluate(names, y_pred=names)._repr_html_().partition("<details>")[0]
        assert ("truth \\ decision" in seen) is there
