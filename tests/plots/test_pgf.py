"""Figures as PGF, which a paper inputs, and the critical-difference diagram."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from assay import compare_folds, evaluate, plots
from assay.errors import MethodError

pytest.importorskip("matplotlib")

needs_pgf = pytest.mark.skipif(
    not os.environ.get("CI")
    and (
        shutil.which("kpsewhich") is None
        or bool(
            subprocess.run(["kpsewhich", "pgf.sty"], capture_output=True, check=False).returncode
        )
    ),
    reason="pgf.sty is missing: apt-get install --no-install-recommends texlive-pictures",
)
NAMES = (r"\input{x}", "a_b & 50%", "costs $5", "$x^2$", "{", "日本", "\\end{pgfpicture}")


def folds() -> dict[str, list]:
    keys = [(m, d, f) for m in range(3) for d in range(4) for f in range(3)]
    return {
        "model": [("tree", "forest", "svm")[m] for m, _, _ in keys],
        "dataset": [f"set{d}" for _, d, _ in keys],
        "fold": [f for _, _, f in keys],
        "accuracy": [0.7 + 0.05 * m + 0.01 * ((d * f) % 3) + 0.001 * d for m, d, f in keys],
    }


def inputs_of(folder: Path, document_class: str) -> str:
    """A paper of all figures of a folder, compiled; its log."""
    names = sorted(path.name for path in folder.glob("*.pgf"))
    shown = "\n\n".join(
        rf"\begin{{figure}}\input{{{name}}}\end{{figure}}\clearpage" for name in names
    )
    (folder / "paper.tex").write_text(
        f"{document_class}\\usepackage{{pgf}}\\begin{{document}}{shown}\\end{{document}}"
    )
    result = subprocess.run(
        ["pdflatex", "-no-shell-escape", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"],
        cwd=folder,
        env={**os.environ, "openin_any": "p", "openout_any": "p"},
        capture_output=True,
        check=False,
        timeout=300,
    )
    log = result.stdout.decode("utf-8", "replace")
    assert result.returncode == 0, log[-2000:]
    return log


@pytest.mark.slow
@needs_pgf
@pytest.mark.parametrize(
    "document_class", [r"\documentclass[twocolumn]{article}", r"\documentclass{llncs}"]
)
def test_every_figure_compiles_and_is_as_wide_as_a_column(
    document_class: str, tmp_path: Path
) -> None:
    random = np.random.default_rng(5)
    truth = np.repeat(["attack", "normal"], [100, 500])
    scores = 1 / (1 + np.exp(-(np.where(truth == "attack", 1, -3) + random.normal(0, 1.6, 600))))
    sliced = {"sensor_$": np.array(NAMES)[np.arange(600) % len(NAMES)]}
    evaluation = evaluate(truth, y_score=scores, slices=sliced)
    assert len(evaluation.plot.save(tmp_path, formats=("pgf",))) > 10
    compare_folds(folds()).plot.save(tmp_path, formats=("pgf",))
    ranks = {name: 1.0 + i for i, name in enumerate(NAMES)}
    plots.save({"hostile": lambda: plots.mean_ranks(ranks, critical=2)}, tmp_path, ("pgf",))
    log = inputs_of(tmp_path, document_class)
    wide = [float(points) for points in re.findall(r"Overfull \\hbox \(([\d.]+)pt", log)]
    assert [points for points in wide if points > 1] == []


def test_names_are_text_and_equal_figures_have_equal_bytes(tmp_path: Path) -> None:
    ranks = {name: 1.0 + i for i, name in enumerate(NAMES)}
    texts = []
    for folder in ("a", "b"):
        (path,) = plots.save(
            {"ranks": lambda: plots.mean_ranks(ranks, critical=2)}, tmp_path / folder, ("pgf",)
        )
        texts.append(path.read_text())
    assert texts[0] == texts[1]
    assert texts[0].isascii()
    assert r"\textbackslash{}input\{x\}" in texts[0]
    assert r"\input" not in texts[0].partition("\n")[2]
    assert texts[0].count(r"\end{pgfpicture}") == 1
    assert r"a\_b \& 50\%" in texts[0]
    assert r"costs \$5" in texts[0]
    assert texts[0].count(r"\begin{pgfscope}") == texts[0].count(r"\end{pgfscope}")


def test_powers_are_mathematics(tmp_path: Path) -> None:
    from matplotlib.figure import Figure

    def powers() -> object:
        axes = Figure(figsize=(3, 2)).add_subplot()
        axes.loglog([1e-3, 1], [1e-4, 1])
        axes.set_title("a\nb")
        axes.imshow(np.arange(4.0).reshape(2, 2), extent=(1e-3, 1, 1e-3, 1))
        return axes

    (path,) = plots.save({"powers": powers}, tmp_path, ("pgf",))
    assert r"$10^{-2}$" in path.read_text()


# -- mean ranks ------------------------------------------------------------------------------------


def test_the_best_model_stands_first_at_the_left() -> None:
    axes = plots.mean_ranks({"c": 2.9, "a": 1.2, "b": 1.9}, critical=1.0, title="F1")
    texts = [text.get_text() for text in axes.texts]
    assert texts[-3:] == ["a  1.20", "b  1.90", "c  2.90"]
    assert "CD = 1.00" in texts
    bars = [line for line in axes.lines if line.get_linewidth() > 2]
    # a with b are joined, and c with none: it is a whole critical difference away.
    assert [tuple(np.round(bar.get_xdata(), 2)) for bar in bars] == [(1.17, 1.93)]


def test_long_names_take_a_page() -> None:
    short = plots.mean_ranks({"a": 1.0, "b": 2.0}, critical=1).figure
    long = plots.mean_ranks({"a" * 20: 1.0, "b" * 30: 2.0}, critical=1).figure
    assert long.get_size_inches()[0] > 2 * short.get_size_inches()[0]


def test_one_model_has_no_ranks_and_rows_no_data_sets() -> None:
    with pytest.raises(MethodError, match="two models or more"):
        plots.mean_ranks({"a": 1.0}, critical=1)
    columns = {k: v for k, v in folds().items() if k != "dataset"}
    one = {
        k: [x for x, d in zip(v, folds()["dataset"], strict=True) if d == "set0"]
        for k, v in columns.items()
    }
    with pytest.raises(MethodError, match="over several data sets"):
        compare_folds(one).plot.ranks()


@pytest.mark.slow
def test_a_comparison_over_data_sets_draws_its_ranks(tmp_path: Path) -> None:
    comparison = compare_folds(folds())
    texts = [text.get_text() for text in comparison.plot.ranks().texts]
    assert "svm  1.00" in texts
    assert {path.name for path in comparison.plot.save(tmp_path)} >= {"ranks.pdf", "ranks.svg"}
