"""LaTeX fragments: the same tables in any document class, in one column and in two."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from assay import evaluate_counts
from assay.inference import Estimate
from assay.report import Report, document_of, draw
from assay.report.sections import Column, Kind, Marked, Matrix, Prose, Section, Table, Tier

from .hostile import NAMES, document_with
from .test_faces import CASES, made

ONE_AUTHOR = r"\title{Title}\author{Author}"
CLASSES = {
    "article": (r"\documentclass{article}", ""),
    "article, two columns": (r"\documentclass[twocolumn]{article}", ""),
    "IEEEtran": (r"\documentclass[conference]{IEEEtran}", ONE_AUTHOR + r"\maketitle"),
    "IEEEtran, one column": (
        r"\documentclass[journal,onecolumn]{IEEEtran}",
        ONE_AUTHOR + r"\maketitle",
    ),
    "acmart": (
        r"\documentclass[sigconf]{acmart}",
        ONE_AUTHOR + r"\affiliation{\institution{I}\country{C}}\maketitle",
    ),
    "acmart, one column": (
        r"\documentclass[acmsmall]{acmart}",
        ONE_AUTHOR + r"\affiliation{\institution{I}\country{C}}\maketitle",
    ),
    "llncs": (r"\documentclass{llncs}", ONE_AUTHOR + r"\institute{I}\maketitle"),
    "llncs, two columns": (
        r"\documentclass[twocolumn]{llncs}",
        ONE_AUTHOR + r"\institute{I}\maketitle",
    ),
}


def found_by_tex(file: str) -> bool:
    """Whether TeX is there and knows a file; continuous integration must not pass without."""
    if shutil.which("kpsewhich") is None:
        return bool(os.environ.get("CI"))
    return (
        bool(os.environ.get("CI"))
        or not subprocess.run(["kpsewhich", file], capture_output=True, check=False).returncode
    )


needs_classes = pytest.mark.skipif(
    not all(found_by_tex(f"{name}.cls") for name in ("article", "IEEEtran", "acmart", "llncs")),
    reason="classes are missing: apt-get install --no-install-recommends texlive-publishers "
    "texlive-latex-extra texlive-fonts-recommended",
)


def compiled(kind: str, fragments: list[str], folder: Path, preamble: str = "") -> str:
    """A paper of a class that inputs fragments; fails where it does not compile."""
    begin, title = CLASSES[kind]
    for i, text in enumerate(fragments):
        (folder / f"table{i}.tex").write_text(text, encoding="ascii")
    inputs = "\n".join(rf"Text. \input{{table{i}}} Text.\clearpage" for i in range(len(fragments)))
    (folder / "paper.tex").write_text(
        f"{begin}\n{preamble}\n\\begin{{document}}\n{title}\n\\typeout{{TABLES}}\n\\clearpage\n"
        f"{inputs}\n\\end{{document}}\n"
    )
    result = subprocess.run(
        ["pdflatex", "-no-shell-escape", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"],
        cwd=folder,
        env={**os.environ, "TEXMFVAR": str(folder.parent / "texmf-var"), "max_print_line": "1000"},
        capture_output=True,
        check=False,
        timeout=300,
    )
    log = result.stdout.decode("utf-8", "replace")
    assert result.returncode == 0, log[-2000:]
    # The first page of a class is its own.
    return log.partition("TABLES")[2].partition("[1")[2]


def boxes(log: str) -> list[str]:
    """The boxes that stick out by more than a point."""
    matches = re.findall(r"(Overfull \\[hv]box \(([\d.]+)pt[^\n]*)", log)
    return [line for line, points in matches if float(points) > 1]


@pytest.mark.slow
@needs_classes
@pytest.mark.parametrize("kind", CLASSES)
def test_every_report_fits_every_class(kind: str, tmp_path: Path) -> None:
    fragments = [draw(made(case), "latex", fragment=True) for case in CASES]
    log = compiled(kind, fragments, tmp_path)
    assert boxes(log) == []
    assert "Float too large" not in log


@pytest.mark.slow
@needs_classes
def test_hostile_names_compile_and_fit(tmp_path: Path) -> None:
    reports = [document_with(*NAMES[i : i + 9]) for i in range(0, len(NAMES), 9)]
    log = compiled("llncs", [draw(each, "latex", fragment=True) for each in reports], tmp_path)
    assert "Too many unprocessed floats" not in log


@needs_classes
@pytest.mark.skipif(not found_by_tex("booktabs.sty"), reason="booktabs.sty is missing")
def test_booktabs_is_used_where_it_is_loaded(tmp_path: Path) -> None:
    text = draw(made("compare: data sets"), "latex", fragment=True, tiers=["main"])
    assert r"\usepackage" not in text
    compiled("article", [text], tmp_path, r"\usepackage{booktabs}\renewcommand\toprule{\hline}")
    with pytest.raises(AssertionError, match="Undefined control sequence"):
        compiled("article", [text], tmp_path, r"\usepackage{booktabs}\def\toprule{\undefined}")


@pytest.mark.slow
@needs_classes
@pytest.mark.skipif(
    subprocess.run(
        ["sh", "-c", "kpsewhich siunitx.sty"], capture_output=True, check=False
    ).returncode
    != 0,
    reason="siunitx.sty is missing: apt-get install texlive-science",
)
def test_siunitx_sets_numbers_where_it_is_loaded(tmp_path: Path) -> None:
    text = draw(made("compare: data sets"), "latex", fragment=True)
    log = compiled("article", [text], tmp_path, r"\usepackage{siunitx}")
    assert boxes(log) == []


# -- what it says ----------------------------------------------------------------------------------


def fragment_of(table: Table | Matrix | Prose, tier: Tier = Tier.MAIN) -> str:
    report = Report("Title", ("A sentence at 5%.",), (Section("Section", (table,), tier),))
    return draw(report, "latex", fragment=True)


def rows_of(text: str) -> list[list[str]]:
    """The cells of the first table."""
    body = text.partition("\\assaymiddle\n")[2].partition("\\assaybottom")[0]
    lines = [line.removesuffix(r" \\").removesuffix(r" \\[2pt]") for line in body.splitlines()]
    return [re.split(r" & ?", line) for line in lines]


def test_a_column_has_one_number_of_decimals() -> None:
    cells = (Estimate(0.5, 0.4, 0.6), Estimate(0.97545, 0.97531, 0.97562), 1, Estimate(0, 0, 0.001))
    rows = tuple((f"row {i}", cell, 0.1 * i) for i, cell in enumerate(cells))
    table = Table("Values", (Column("x"), Column("a", Kind.SHARE), Column("b", Kind.SHARE)), rows)
    text = fragment_of(table)
    columns = list(zip(*rows_of(text), strict=True))
    for cells_of_column, decimals in ((columns[1], 4), (columns[2], 3)):
        numbers = re.findall(r"\d+\.(\d+)", " ".join(cells_of_column))
        assert {len(number) for number in numbers} == {decimals}
    assert r"\num{1.0000}" in text


def test_p_values_have_one_number_of_decimals_too() -> None:
    rows = (("a", 0.27), ("b", 0.00031), ("c", 1e-12))
    text = fragment_of(Table("Tests", (Column("x"), Column("p", Kind.P_VALUE)), rows))
    assert [row[1] for row in rows_of(text)] == [
        r"\num{0.27000}",
        r"\num{0.00031}",
        r"\textless{}\num{0.00001}",
    ]


def test_caption_says_level_method_and_size() -> None:
    estimate = Estimate(0.5, 0.4, 0.6, method="wilson", n=1200, level=0.9)
    other = Estimate(0.5, 0.4, 0.6, method="delta", n=80, level=0.9)
    table = Table("Values", (Column("x"), Column("a", Kind.SHARE)), (("x", estimate), ("y", other)))
    assert "Level 90\\%, method delta, wilson, n = 80 to 1,200." in fragment_of(table)
    matrix = Matrix("Rows are the truth", ("a", "b"), ((3, 4), (5, 60)))
    assert "Section: Rows are the truth. n = 72." in fragment_of(matrix)


def test_bold_is_what_is_marked_and_the_rule_is_in_the_caption() -> None:
    text = draw(made("compare: data sets"), "latex", fragment=True, tiers=["main"])
    assert "Bold: the best, and those not significantly different from it at the 5\\% level" in text
    assert "Marked" not in text
    row = next(row for row in rows_of(text) if row[0] == "set 0")
    assert row[1].startswith(r"\textbf{\num{0.8")
    cells = (("x", Marked(0.5), -0.25),)
    table = Table("T", (Column("x"), Column("a", Kind.SHARE), Column("b", Kind.DIFFERENCE)), cells)
    assert rows_of(fragment_of(table)) == [["x", r"\textbf{\num{0.500}}", r"\num{-0.250}"]]


def test_three_tiers_are_told_apart_and_can_be_asked_for() -> None:
    report = made("evaluation: binary")
    all_tiers = draw(report, "latex", fragment=True)
    for name, own, other in (("main", "F1, weighted &", "kappa"), ("advanced", "kappa", "F1, w")):
        text = draw(report, "latex", fragment=True, tiers=[name])
        assert own in text
        assert other not in text
    for tier in Tier:
        assert f"% {tier.value}" in all_tiers


def test_a_fragment_is_nothing_but_tables_and_comments() -> None:
    text = fragment_of(Prose("100% of \\input{x}"))
    outside = text.partition("\\makeatother")[2].splitlines()
    assert outside == ["", "% 100\\% of \\textbackslash{}input\\{x\\}", "\\endgroup"]
    assert text.startswith("% Title\n% A sentence at 5\\%.\n\\begingroup")
    for case in ("evaluation: binary", "compare: five"):
        text = draw(made(case), "latex", fragment=True)
        assert "\\documentclass" not in text
        assert "\\usepackage" not in text
        assert text.isascii()


def test_long_tables_are_cut_into_floats_that_a_page_holds() -> None:
    rows = tuple((f"family {i}", i) for i in range(100))
    text = fragment_of(Table("Many", (Column("name"), Column("rows", Kind.COUNT)), rows))
    assert text.count(r"\begin{tabular}") == 3
    assert text.count("Section, continued.") == 2
    assert [int(n) for n in re.findall(r"tab:assay-(\d+)", text)] == [1, 2, 3]


def test_all_numbers_of_the_document_are_in_the_fragment() -> None:
    document = document_of(evaluate_counts(tp=80, fp=5, fn=20, tn=900))
    text = draw(document, "latex", fragment=True)
    assert r"\num{0.800}" in text
    assert r"80" in text
