"""Formulas as text.

What the catalogue prints is kept in ``golden/formulas.txt``. After a wanted change, renew it with

    RENEW_GOLDEN=1 python -m pytest tests/formula/test_notation.py

and read the difference before it is committed.
"""

import os
from pathlib import Path

import pytest

from assay.formula import (
    COL,
    FN,
    FP,
    HIT,
    ROW,
    TN,
    TP,
    Expression,
    K,
    N,
    constant,
    derivative,
    geometric_mean,
    javascript,
    latex,
    plain,
    sqrt,
    times_log,
    total,
)

from .tables import CLASS_FORMULAS, FORMULAS

GOLDEN = Path(__file__).parent / "golden" / "formulas.txt"
WRITERS = {"plain": plain, "latex": latex, "javascript": javascript}


def _printed() -> str:
    blocks = []
    for name, formula in FORMULAS.items():
        lines = [name, *(f"  {kind}: {write(formula)}" for kind, write in WRITERS.items())]
        if name in CLASS_FORMULAS:
            over = CLASS_FORMULAS[name]
            lines += [f"  classes, {kind}: {write(over)}" for kind, write in WRITERS.items()]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks) + "\n"


def test_every_formula_of_the_catalogue_is_printed_as_before() -> None:
    printed = _printed()
    if os.environ.get("RENEW_GOLDEN"):
        GOLDEN.write_text(printed, encoding="utf-8")
    assert printed == GOLDEN.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("expression", "in_plain", "in_latex", "in_javascript"),
    [
        (TP, "TP", "TP", "tp"),
        (HIT, "HIT", "C_{ii}", "hit[i]"),
        (constant(-3), "-3", "-3", "-3"),
        (constant(1) / 3, "1/3", r"\frac{1}{3}", "(1 / 3)"),
        (TP - FP, "TP - FP", "TP - FP", "(tp - fp)"),
        (TP - 1, "TP - 1", "TP - 1", "(tp - 1)"),
        (2 * TP - 3 * FP, "2 TP - 3 FP", r"2 \cdot TP - 3 \cdot FP", "(2 * tp - 3 * fp)"),
        (-1 * TP, "-TP", "-TP", "-1 * tp"),
        (-1 * (TP * FP), "-TP FP", r"-TP \cdot FP", "-1 * tp * fp"),
        (-2 * TP, "-2 TP", r"-2 \cdot TP", "-2 * tp"),
        (TP - (FP - FN), "TP + FN - FP", "TP + FN - FP", "(tp + fn - fp)"),
        (
            TP - FP * (FN + TN),
            "TP - FP (TN + FN)",
            r"TP - FP \cdot \left(TN + FN\right)",
            "(tp - fp * (tn + fn))",
        ),
        (
            (TP + 1) * (FP - 1),
            "(TP + 1) (FP - 1)",
            r"\left(TP + 1\right) \cdot \left(FP - 1\right)",
            "(tp + 1) * (fp - 1)",
        ),
        (TP / FP, "TP / FP", r"\frac{TP}{FP}", "ratio(tp, fp)"),
        (TP / (FP * FN), "TP / (FP FN)", r"\frac{TP}{FP \cdot FN}", "ratio(tp, fp * fn)"),
        (
            (TP / FP) / (FN / TN),
            "(TP / FP) / (FN / TN)",
            r"\frac{\frac{TP}{FP}}{\frac{FN}{TN}}",
            "ratio(ratio(tp, fp), ratio(fn, tn))",
        ),
        ((TP / FP) * TN, "(TP / FP) TN", r"\frac{TP}{FP} \cdot TN", "ratio(tp, fp) * tn"),
        (sqrt(TP + FP), "sqrt(TP + FP)", r"\sqrt{TP + FP}", "Math.sqrt((tp + fp))"),
        (times_log(TP, FP), "TP ln(FP)", r"TP \ln\left(FP\right)", "timesLog(tp, fp)"),
        (
            FN * times_log(TP + 1, TP / FP),
            "FN (TP + 1) ln(TP / FP)",
            r"FN \cdot \left(TP + 1\right) \ln\left(\frac{TP}{FP}\right)",
            "fn * timesLog((tp + 1), ratio(tp, fp))",
        ),
        (
            FN - times_log(TP, FP) / TN,
            "FN - TP ln(FP) / TN",
            r"FN - \frac{TP \ln\left(FP\right)}{TN}",
            "(fn - ratio(timesLog(tp, fp), tn))",
        ),
        (
            FN / times_log(TP, FP),
            "FN / (TP ln(FP))",
            r"\frac{FN}{TP \ln\left(FP\right)}",
            "ratio(fn, timesLog(tp, fp))",
        ),
        (
            times_log(TP / TN, FP),
            "(TP / TN) ln(FP)",
            r"\frac{TP}{TN} \ln\left(FP\right)",
            "timesLog(ratio(tp, tn), fp)",
        ),
        (times_log(-1, FP), "-ln(FP)", r"-\ln\left(FP\right)", "-1 * timesLog(1, fp)"),
        (
            total(HIT / ROW) / K,
            "sum(HIT / ROW) / K",
            r"\frac{\sum_i \frac{C_{ii}}{r_i}}{K}",
            "ratio(total(k, (i) => ratio(hit[i], row[i])), k)",
        ),
        (
            total(HIT * (ROW - COL)),
            "sum(HIT (ROW - COL))",
            r"\sum_i C_{ii} \cdot \left(r_i - c_i\right)",
            "total(k, (i) => hit[i] * (row[i] - col[i]))",
        ),
        (
            total(HIT) * N,
            "sum(HIT) N",
            r"\left(\sum_i C_{ii}\right) \cdot N",
            "total(k, (i) => hit[i]) * n",
        ),
        (
            geometric_mean(HIT / ROW),
            "geometric mean(HIT / ROW)",
            r"\Bigl(\prod_i \frac{C_{ii}}{r_i}\Bigr)^{1/K}",
            "geometricMean(k, (i) => ratio(hit[i], row[i]))",
        ),
    ],
)
def test_a_formula_is_written_for_people_for_papers_and_for_browsers(
    expression: Expression, in_plain: str, in_latex: str, in_javascript: str
) -> None:
    assert plain(expression) == in_plain
    assert latex(expression) == in_latex
    assert javascript(expression) == in_javascript


def test_a_derived_formula_reads_like_one_written_by_hand() -> None:
    assert plain(derivative(TP / (TP + FP), "FP")) == "-TP / ((TP + FP) (TP + FP))"
    assert plain(derivative(sqrt(TN * FN), "TN")) == "FN / (2 sqrt(TN FN))"


@pytest.mark.parametrize("name", [*FORMULAS, *(f"{n} of classes" for n in CLASS_FORMULAS)])
def test_brackets_are_balanced_in_every_text(name: str) -> None:
    formula = FORMULAS.get(name) or CLASS_FORMULAS[name.removesuffix(" of classes")]
    for write in WRITERS.values():
        text = write(formula)
        for opening, closing in ("()", "{}", "[]"):
            assert text.count(opening) == text.count(closing)
    assert latex(formula).count(r"\left(") == latex(formula).count(r"\right)")


class Stranger(Expression):
    """A node that no reading knows."""


@pytest.mark.parametrize("write", WRITERS.values())
def test_a_node_of_unknown_kind_is_refused_by_name(write) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(TypeError, match="not an expression: Stranger"):
        write(Stranger())
