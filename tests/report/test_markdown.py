"""Markdown for a pull request, read back by a Markdown parser."""

import re

import pytest
from hypothesis import given, settings
from markdown_it import MarkdownIt
from markdown_it.token import Token

from assay.escaping import name
from assay.evaluation.findings import Finding
from assay.measures import find
from assay.report import document_of, draw, measure_document
from assay.report.markdown import code, prose, render
from assay.report.sections import Report

from .cases import CASES, document
from .hostile import NAMES, document_with, evaluation_of, many_of, odd_texts

PARSER = MarkdownIt("commonmark").enable("table").enable("strikethrough")
OURS = {"<span>", "</span>"}


def tokens(text: str) -> list[Token]:
    nodes = []
    for token in PARSER.parse(text):
        nodes.append(token)
        nodes.extend(token.children or [])
    return nodes


def text_of(token: Token) -> str:
    """What a reader sees of an inline token."""
    return "".join(
        child.content for child in token.children or [] if child.type in ("text", "code_inline")
    )


def columns(text: str) -> list[list[int]]:
    """How many cells each row of each table has."""
    tables: list[list[int]] = []
    for token in PARSER.parse(text):
        if token.type == "table_open":
            tables.append([])
        elif token.type == "tr_open":
            tables[-1].append(0)
        elif token.type in ("th_open", "td_open"):
            tables[-1][-1] += 1
    return tables


CODE = re.compile(r"&#x?\w+;|(?<![`\\])(`+)(?!`).*?(?<!`)\1(?!`)", re.DOTALL)


def harmless(text: str) -> None:
    for token in tokens(text):
        assert token.type not in ("link_open", "image", "em_open", "s_open", "code_block", "hr")
        if token.type == "html_inline":
            assert token.content in OURS
        if token.type == "html_block":
            assert re.fullmatch(r"<details>\n<summary>.*</summary>\n?|</details>\n?", token.content)
    assert not re.search(r"(?<!<span>)[@#](?=\w)", re.sub(CODE, "", text))


# -- what it says ----------------------------------------------------------------------------------


@pytest.mark.parametrize("case", CASES)
def test_rows_of_a_table_have_as_many_cells(case: str) -> None:
    text = draw(document(case), "markdown")
    for table in columns(text):
        assert len(set(table)) == 1
    harmless(text)


def test_headline_and_warnings_come_first() -> None:
    text = draw(document("binary"), "markdown")
    order = ["## Evaluation of", "**Catches", "**E011** warning", "### Confusion matrix"]
    order += ["### Main results", "### At the base rate", "<summary>Families", "<summary>Slices"]
    order += ["### Findings", "**E007** info", "### Notes"]
    places = [text.index(part) for part in order]
    assert places == sorted(places)


def test_matrix_has_the_truth_in_rows() -> None:
    text = draw(document("counts"), "markdown")
    assert "| normal | 7,743 | 167 |\n| attack | 324 | 6,635 |" in text


def test_matrix_of_many_classes_is_left_out() -> None:
    text = draw(document("many_classes"), "markdown")
    assert "24 classes are too many for a table here." in text


def test_details_are_folded_and_closed() -> None:
    text = draw(document("binary"), "markdown")
    assert text.count("<details>") == text.count("</details>") > 0


def test_provenance_is_told() -> None:
    text = draw(document_with("data.csv"), "markdown")
    file = "`data.csv` (12 bytes, SHA-256 `data.csv`)"
    told = f"Made by assay data.csv, `data.csv`, {file}, commit `data.csv`, data.csv."
    assert text.endswith(f"{told}\n")


def test_formula_is_math() -> None:
    text = draw(measure_document(find("precision")), "markdown")
    assert r"| two classes | $\frac{TP}{TP + FP}$ |" in text


# -- escaping --------------------------------------------------------------------------------------


@pytest.mark.sampled(30)
@pytest.mark.parametrize("text", [*NAMES, "1) x", "=====", "a]: b", "![", "~~", "a\\"])
def test_name_is_read_as_it_stands(text: str) -> None:
    shown = name(text)
    escaped = prose(shown)
    harmless(escaped)
    (paragraph,) = [token for token in PARSER.parse(escaped) if token.type == "inline"]
    assert text_of(paragraph).split() == shown.split()


@pytest.mark.sampled(30)
@pytest.mark.parametrize("text", NAMES)
def test_name_is_read_as_it_stands_in_a_cell(text: str) -> None:
    shown = name(text)
    page = f"| a | b |\n| --- | --- |\n| {prose(shown)} | x |\n"
    assert columns(page) == [[2, 2]]
    cells = [token for token in PARSER.parse(page) if token.type == "inline"]
    assert text_of(cells[2]).split() == shown.split()


@settings(max_examples=40)
@given(odd_texts, odd_texts)
def test_any_name_leaves_the_tables_whole(first: str, second: str) -> None:
    text = draw(document_with(first, second), "markdown")
    harmless(text)
    for table in columns(text):
        assert len(set(table)) == 1


def test_labels_and_slices_of_an_evaluation_may_have_any_name() -> None:
    names = ["a|b", "<script>", "@team", "[x](http://y)", "\ud800"]
    for evaluation in (evaluation_of(names, "www.x|y"), many_of(names)):
        text = draw(document_of(evaluation), "markdown")
        text.encode()
        harmless(text)


@pytest.mark.parametrize(
    ("text", "written"),
    [("a", "`a`"), ("a`b", "``a`b``"), ("`a`", "`` `a` ``"), ("a``b`", "``` a``b` ```")],
)
def test_code_is_fenced_by_as_many_backticks_as_it_takes(text: str, written: str) -> None:
    assert code(text) == written
    (code_span,) = [token for token in tokens(written) if token.type == "code_inline"]
    assert code_span.content == text


def test_mentions_and_links_are_broken_up() -> None:
    said = prose("see @team, #12, http://x.org, www.x.org and [a](b)")
    assert said == (
        "see <span>@</span>team, <span>#</span>12, http&#58;//x.org, www&#46;x.org and [a\\](b)"
    )


def test_the_code_of_a_finding_is_a_name_too() -> None:
    finding = Finding("\x1b[31m<b>", "warning", "odd")
    text = render(Report(title="a", headline=(), sections=(), findings=(finding,)))
    assert "\x1b" not in text
    assert "<b>" not in text
