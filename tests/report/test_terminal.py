import re
import unicodedata
from dataclasses import replace

import pytest
from hypothesis import given, settings
from rich.cells import cell_len

from assay import evaluate_counts
from assay.report import document_of, draw
from assay.report.grid import fitted, grid_of
from assay.report.sections import BOUND, Column, Kind, Report, Section, Table

from .cases import CASES, document
from .hostile import NAMES, document_with, evaluation_of, many_of, odd_texts

ESCAPE = "\x1b"


def shown(name: str, width: int = 80, **options) -> str:
    return draw(document(name), "terminal", width=width, **options)


def hidden(text: str) -> set[str]:
    """Characters that can't be seen, other than the ends of lines."""
    odd = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
    return {c for c in text if unicodedata.category(c) in odd and c != "\n"}


def details(report: Report) -> Report:
    """The same with nothing left out."""
    return replace(report, sections=tuple(replace(s, detail=False) for s in report.sections))


# -- width -----------------------------------------------------------------------------------------


@pytest.mark.sampled(40)
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("width", [20, 40, 60, 80, 120])
def test_no_line_is_wider_than_the_terminal(name: str, width: int) -> None:
    for line in shown(name, width).splitlines():
        assert cell_len(line) <= width, line


def words(text: str) -> set[str]:
    return set(re.findall(r"[\w.%]+", text))


@pytest.mark.parametrize("name", ["binary", "classes", "counts"])
def test_narrow_terminal_leaves_out_nothing_but_optional_columns(name: str) -> None:
    wide, narrow = words(shown(name, 200)), words(shown(name, 40))
    optional = {"method", "n", "wilson", "delta", "delong", "cluster", "TP", "FP", "FN", "TN"}
    optional |= {"of", "the", "slope", "mover", "residual", "t"}
    missing = {word for word in wide - narrow if not word.replace(",", "").isdigit()}
    assert missing <= optional


@pytest.mark.parametrize("width", [40, 60, 72, 80, 88, 100, 200])
def test_bounds_of_a_grid_are_told_at_every_width(width: int) -> None:
    text = " ".join(shown("grid", width).split())
    tables = [
        block
        for section in document("grid").report.sections
        for block in section.blocks
        if isinstance(block, Table) and not section.detail and BOUND in block.columns
    ]
    bounds = [row[table.columns.index(BOUND)] for table in tables for row in table.rows]
    assert len(tables) == 2
    assert len(list(filter(None, bounds))) >= 10
    for bound in bounds:
        assert bound in text
    assert ("bound: ROC AUC [" in text) == (width in (60, 72, 80, 88))


def test_method_goes_before_anything_is_folded() -> None:
    assert "wilson" in shown("binary", 80)
    columns = (Column("measure"), Column("estimate", Kind.SHARE), Column("method", optional=True))
    block = document("binary").report.sections[1].blocks[0]
    rows = tuple((row[0], row[1], row[3]) for row in block.rows)
    layout = fitted(grid_of(Table("", columns, rows)), 50)
    assert layout is not None
    assert [column.name for column in layout.grid.columns] == ["measure", "estimate"]
    assert not layout.folded


def test_interval_goes_below_its_value_when_there_is_no_room_beside() -> None:
    text = shown("binary", 40)
    line = next(i for i, line in enumerate(text.splitlines()) if line.startswith("  accuracy"))
    assert re.fullmatch(r" +\[0\.\d+, 0\.\d+\]", text.splitlines()[line + 1])


def test_table_that_does_not_fit_becomes_records() -> None:
    text = shown("binary", 30)
    assert re.search(r"\n  precision\n    test set", text)


def test_matrix_of_many_classes_is_left_to_other_faces() -> None:
    assert "24 classes do not fit here" in shown("many_classes", 200)
    assert "The most frequent confusions" in shown("many_classes", 200)


# -- what it says ----------------------------------------------------------------------------------


def test_headline_comes_first_and_notes_last() -> None:
    text = shown("counts")
    assert text.startswith("Evaluation of counts\n\nCatches 95.3% [94.8, 95.8] of attacks;")
    assert text.index("Confusion matrix") < text.index("Main results") < text.index("At the base")


def test_details_are_left_to_other_faces() -> None:
    text = shown("binary")
    assert text.endswith("\nIn the other formats: Per class, Further rates and Tests.\n")
    assert text.count("Per class") == 1
    assert "\nPer class\n" in shown("classes")


def test_findings_are_listed_with_code_and_severity() -> None:
    report = document("only_in_decisions").report
    assert report.findings
    text = " ".join(shown("only_in_decisions").split())
    for finding in report.findings:
        assert f"{finding.code} {finding.severity}: " in text


def test_undefined_says_why() -> None:
    text = shown("nothing_flagged", 120)
    assert re.search(r"precision +undefined +nothing was flagged \(TP \+ FP = 0\)", text)


# -- colour and encoding ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["binary", "classes", "nothing_flagged"])
def test_escape_codes_only_where_colour_is_asked_for(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("FORCE_COLOR", "CLICOLOR_FORCE", "TTY_COMPATIBLE"):
        monkeypatch.setenv(variable, "1")
    assert ESCAPE not in shown(name)
    coloured = shown(name, color=True)
    assert ESCAPE in coloured
    plain = re.sub(r"\x1b\[[\d;]*m", "", coloured)
    assert [line.rstrip() for line in plain.splitlines()] == shown(name).splitlines()


def test_colour_is_drawn_whatever_the_environment_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "dumb")
    assert ESCAPE in shown("counts", color=True)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "cp437", "utf-8"])
def test_text_fits_the_encoding(encoding: str) -> None:
    text = draw(details(document_with(*NAMES[:10])), "terminal", encoding=encoding)
    text.encode(encoding)
    assert ("─" in text) is (encoding in ("cp437", "utf-8"))


def test_width_of_nothing_in_particular_is_always_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "33")
    first = draw(document("counts"), "terminal")
    monkeypatch.setenv("COLUMNS", "150")
    assert draw(document("counts"), "terminal") == first


# -- hostile names ---------------------------------------------------------------------------------


@pytest.mark.sampled(1)
@pytest.mark.parametrize("width", [40, 100])
def test_no_name_moves_the_cursor(width: int) -> None:
    for start in range(0, len(NAMES), 10):
        text = draw(details(document_with(*NAMES[start : start + 10])), "terminal", width=width)
        assert not hidden(text)
        assert all(cell_len(line) <= width for line in text.splitlines())


@settings(max_examples=50)
@given(odd_texts, odd_texts)
def test_any_name_is_shown_without_harm(first: str, second: str) -> None:
    text = draw(details(document_with(first, second)), "terminal", width=50)
    assert not hidden(text)
    assert all(cell_len(line) <= 50 for line in text.splitlines())


def test_labels_and_slices_of_an_evaluation_may_have_any_name() -> None:
    names = ["\x1b[2J", "a\nb", "\u202etxt", "\ud800"]
    for evaluation in (evaluation_of(names, "\x1b[H"), many_of(names)):
        text = draw(document_of(evaluation), "terminal", width=80)
        assert not hidden(text)
        assert "\\x1b[2J" in text


def test_long_name_is_cut_in_the_middle() -> None:
    evaluation = evaluate_counts(
        tp=1, fp=1, fn=1, tn=1, labels=["n", "start" + "x" * 10_000 + "end"]
    )
    text = draw(document_of(evaluation), "terminal", width=80)
    assert len(text) < 10_000
    assert "start" in text
    assert "end" in text


def test_empty_document_is_drawn() -> None:
    report = Report("Nothing", (), (Section("Empty", (Table("x", (), ()),)),))
    assert draw(report, "terminal", width=40).startswith("Nothing")
