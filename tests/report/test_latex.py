"""LaTeX that compiles as it stands, whatever the names."""

import os
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings

from assay import evaluate_counts
from assay.escaping import escaped
from assay.measures import CATALOGUE, find
from assay.report import Document, Report, document_of, draw, measure_document, measures_document
from assay.report.latex import MOST_ROWS
from assay.report.sections import Column, Kind, Section, Table, Tier

from .cases import CASES, document
from .hostile import NAMES, document_with, evaluation_of, many_of, odd_texts

needs_latex = pytest.mark.skipif(
    # Continuous integration installs it, and must not pass without it.
    shutil.which("pdflatex") is None and not os.environ.get("CI"),
    reason="pdflatex is missing: apt-get install texlive-latex-recommended",
)


def compiled(text: str, folder: Path) -> str:
    """Compile, fail where that fails, and give the log."""
    (folder / "report.tex").write_text(text, encoding="ascii")
    options = ["-no-shell-escape", "-interaction=nonstopmode", "-halt-on-error", "-recorder"]
    # Fonts that have to be made are kept beside, since there may be no home to keep them in.
    fonts = folder.parent / "texmf-var"
    result = subprocess.run(
        ["pdflatex", *options, "report.tex"],
        cwd=folder,
        env={**os.environ, "openin_any": "p", "openout_any": "p", "TEXMFVAR": str(fonts)},
        capture_output=True,
        check=False,
        timeout=300,
    )
    log = result.stdout.decode("utf-8", "replace")
    assert result.returncode == 0, log[-2000:]
    return log


def overfull(log: str) -> list[float]:
    """By how many points lines stick out."""
    return [float(points) for points in re.findall(r"Overfull \\hbox \(([\d.]+)pt", log)]


def together(documents: list[Document | Report]) -> Report:
    """The sections of many documents in one."""
    reports = [
        content.report if isinstance(content, Document) else content for content in documents
    ]
    sections = tuple(section for report in reports for section in report.sections)
    notes = tuple(note for report in reports for note in report.notes)
    return replace(reports[0], sections=sections, notes=notes)


# -- compiling -------------------------------------------------------------------------------------


@needs_latex
def test_normal_report_compiles_and_nothing_sticks_out(tmp_path: Path) -> None:
    log = compiled(draw(document("binary"), "latex"), tmp_path)
    assert overfull(log) == []
    assert (tmp_path / "report.pdf").exists()


@needs_latex
def test_every_kind_of_evaluation_compiles(tmp_path: Path) -> None:
    log = compiled(draw(together([document(name) for name in CASES]), "latex"), tmp_path)
    assert all(points < 20 for points in overfull(log))


@needs_latex
def test_catalogue_and_its_pages_compile(tmp_path: Path) -> None:
    pages = [measures_document(), *(measure_document(measure) for measure in CATALOGUE)]
    log = compiled(draw(together(pages), "latex"), tmp_path)
    assert all(points < 20 for points in overfull(log))


@pytest.mark.slow
@needs_latex
def test_hostile_names_compile_and_reach_nothing(tmp_path: Path) -> None:
    assert len(NAMES) > 100
    chunks = [document_with(*NAMES[i : i + 9]) for i in range(0, len(NAMES), 9)]
    each = [document_with(name) for name in NAMES]
    text = draw(together([*chunks, *each]), "latex")
    compiled(text, tmp_path)
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {f"report.{suffix}" for suffix in ("aux", "fls", "log", "pdf", "tex")}
    for line in (tmp_path / "report.fls").read_text().splitlines():
        kind, _, path = line.partition(" ")
        installed = path.startswith("/") and "/tex" in path
        assert kind == "PWD" or installed or path.startswith("report."), line


@needs_latex
@pytest.mark.skipif(
    shutil.which("pdftotext") is None, reason="pdftotext is missing: apt-get install poppler-utils"
)
def test_names_are_seen_as_typed(tmp_path: Path) -> None:
    names = [name for name in NAMES if name.isascii() and name.isprintable() and len(name) < 40]
    names = [name for name in dict.fromkeys(names) if name.strip() == name and "  " not in name]
    rows = tuple((name, f"row{i}") for i, name in enumerate(names, 1))
    table = Table("Names", (Column("name"), Column("x")), rows)
    report = Report("Names", (), (Section("Names", (table,)),))
    compiled(draw(report, "latex"), tmp_path)
    seen = subprocess.run(
        ["pdftotext", "-layout", "report.pdf", "-"], cwd=tmp_path, capture_output=True, check=True
    ).stdout.decode()
    # Blanks between letters are lost, underscores are rules, and quotes and accents are curly.
    seen = re.sub(r"\s", "", seen)
    missing = [n for i, n in enumerate(names, 1) if f"{n.replace(' ', '')}row{i}" not in seen]
    assert [name for name in missing if not set(name) & set("_`^~'")] == []


@needs_latex
def test_long_tables_go_over_the_page(tmp_path: Path) -> None:
    rows = tuple((f"family {i}", i) for i in range(MOST_ROWS + 50))
    table = Table("Many", (Column("name"), Column("rows", Kind.COUNT)), rows)
    report = Report("Many", (), (Section("Many", (table,), Tier.APPENDIX),))
    text = draw(report, "latex")
    assert r"\begin{longtable}" in text
    assert "50 more rows are not shown." in text
    assert f"family {MOST_ROWS - 1} " in text
    assert f"family {MOST_ROWS} " not in text
    compiled(text, tmp_path)


@needs_latex
def test_table_can_be_pasted_by_itself(tmp_path: Path) -> None:
    text = draw(document("binary"), "latex")
    tables = re.findall(r"% table (\d+): begin\n(.*?)% table \1: end", text, re.DOTALL)
    assert [int(number) for number, _ in tables] == list(range(1, len(tables) + 1))
    packages = "".join(rf"\usepackage{{{name}}}" for name in ("array", "booktabs", "longtable"))
    for i in (0, len(tables) - 1):
        alone = rf"\documentclass{{article}}{packages}\begin{{document}}{tables[i][1]}"
        compiled(alone + r"\end{document}", tmp_path)


# -- what it says ----------------------------------------------------------------------------------


def test_tiers_follow_each_other() -> None:
    text = draw(document("binary"), "latex")
    order = [r"\section*{Main results}", r"\section*{Advanced results}", r"\section*{Appendix}"]
    places = [text.index(part) for part in order]
    assert places == sorted(places)
    main, advanced, appendix = (
        text[start:end] for start, end in zip(places, [*places[1:], len(text)], strict=True)
    )
    for name in ("accuracy", "precision, macro", "recall, macro", "F1, macro", "F1, weighted"):
        assert name in main
    for name in ("Cohen's kappa", "MCC", "ROC AUC", "average precision", "base rate"):
        assert name in advanced
    for name in ("Confusion matrix", "Per class", "Further rates", "Tests", "Families", "Each day"):
        assert name in appendix


def test_nothing_is_left_out_of_a_paper() -> None:
    text = draw(document("worked_example"), "latex")
    assert "class & rows & TP & FP & FN & TN & precision & recall & F1" in text


def test_wide_table_is_cut_into_pieces_that_repeat_the_names() -> None:
    rates = [0.1, 0.05, 0.01, 0.005, 0.001, 0.0005, 0.0001, 0.00005]
    evaluation = evaluate_counts(tp=80, fp=5, fn=20, tn=900, base_rate=rates)
    text = draw(document_of(evaluation), "latex")
    heads = [line for line in text.splitlines() if line.startswith("measure & test set")]
    assert len(heads) == 1
    assert len(re.findall(r"^measure & .*base rate", text, re.MULTILINE)) >= 2
    for rate in ("10", "5", "1", "0.5", "0.1", "0.05", "0.01", "0.005"):
        assert rf"base rate {rate}\%" in text


def test_file_is_ascii_and_deterministic() -> None:
    text = draw(document_of(many_of(["שלום", "😀", "é"])), "latex")
    assert text.isascii()
    assert text == draw(document_of(many_of(["שלום", "😀", "é"])), "latex")


def test_quick_reference_has_formula_range_and_reading() -> None:
    text = draw(measures_document(), "latex")
    assert r"precision & {\normalsize $\frac{TP}{TP + FP}$} & {[}0, 1{]}" in text
    assert find("precision").reads in text


# -- escaping --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("attack_cat", r"attack\_cat"),
        (r"\input{x}", r"\textbackslash{}input\{x\}"),
        ("50% & $5 #1", r"50\% \& \$5 \#1"),
        ("~^", r"\textasciitilde{}\textasciicircum{}"),
        ("<a|b>", r"\textless{}a\textbar{}b\textgreater{}"),
        ('"', r"\texttt{\char34}"),
        ("--", "-{}-"),
        ("[x]*", "{[}x{]}{*}"),
        ("café Łódź", r"caf\'{e} \L{}\'{o}d\'{z}"),
        ("naïve", r"na\"{\i}ve"),
        ("Çş", r"\c{C}\c{s}"),
        ("😀", r"\texttt{U+1F600}"),
        ("日", r"\texttt{U+65E5}"),
        ("a\nb", r"a\textbackslash{}nb"),
        ("\u202e", r"\textbackslash{}u202e"),
        ("e\u0301", r"\'{e}"),
    ],
)
def test_characters_are_written_as_themselves(text: str, written: str) -> None:
    assert escaped(text) == written


@given(odd_texts)
def test_escaped_text_is_plain_and_balanced(text: str) -> None:
    written = escaped(text)
    assert written.isascii()
    assert written.isprintable()
    bare = re.sub(r"\\[{}$&#%_\\]", "", written)
    assert not set("&#%_") & set(bare)
    depth = 0
    for character in bare:
        depth += (character == "{") - (character == "}")
        assert depth >= 0
    assert depth == 0
    commands = {command for command in re.findall(r"\\([a-z]+)", bare) if len(command) > 2}
    assert commands <= {
        "textbackslash",
        "textasciitilde",
        "textasciicircum",
        "textless",
        "textgreater",
        "textbar",
        "texttt",
        "char",
        "allowbreak",
        "ldots",
        "alpha",
        "beta",
        "kappa",
        "sigma",
        "times",
    }


def test_long_name_is_cut_by_how_wide_it_is_set() -> None:
    assert escaped("x" * 10_000).count("x") == 60
    assert escaped("日" * 10_000).count("U+65E5") == 6
    assert escaped("日" * 3).count("U+65E5") == 3
    assert r"\allowbreak{}" in escaped("x" * 30)
    assert r"\allowbreak{}" not in escaped("a normal sentence of many words in a row")


@settings(max_examples=30)
@given(odd_texts, odd_texts)
def test_any_name_leaves_the_file_whole(first: str, second: str) -> None:
    text = draw(document_with(first, second), "latex")
    assert text.isascii()
    for row in re.findall(r"\\midrule\n(.*?)\\bottomrule", text, re.DOTALL):
        lines = [line for line in row.splitlines() if line.endswith((r"\\", r"\\*", r"\\[2pt]"))]
        cells = {len(re.findall(r"(?<!\\)&", line)) for line in lines}
        assert len(cells) == 1


def test_labels_and_slices_of_an_evaluation_may_have_any_name() -> None:
    names = ["\\input{x}", "a&b", "100%", "\ud800"]
    for evaluation in (evaluation_of(names, "_x_"), many_of(names)):
        text = draw(document_of(evaluation), "latex")
        assert text.isascii()
        assert r"\textbackslash{}input\{x\}" in text
