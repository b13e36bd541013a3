"""The document of a comparison. After a wanted change, renew its texts with

RENEW_GOLDEN=1 python -m pytest tests/report/test_compare.py
"""

import csv
import io
import itertools
import json
import math
import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from assay import compare_folds
from assay.decisions.compare.comparison import Comparison, Difference, Flip, Verdict
from assay.decisions.compare.optimal import BestOf, BestRange, Optimal
from assay.inference import Estimate, Significance
from assay.inference.threshold_rules import AtThreshold, MaxFar
from assay.report import FORMATS, document_of, draw
from assay.report.document import schema_of
from assay.report.over_data_sets import marked_rule
from assay.report.sections import ForestPlot, Marked, Table

from .goldens import checked
from .hostile import NAMES

GOLDEN = Path(__file__).parent / "golden_compare"
VALIDATOR = jsonschema.Draft202012Validator(schema_of("assay.compare/1"))
VALUES = {
    "roc_auc": 0.97,
    "accuracy": 0.93,
    "recall": 0.8,
    "false_discovery_rate": 0.12,
    "mcc": 0.7,
}
SOURCE = {
    "name": "flows.csv",
    "files": ["old.csv"],
    "rows_read": 1001,
    "rows_used": 1000,
    "rows_refused": 1,
    "refused": [{"row": 7, "reason": "the score is missing", "file": "flows.csv", "line": 8}],
}


def estimate(value: float, reach: float = 0.01) -> Estimate:
    return Estimate(value, value - reach, value + reach, method="delta", n=1000)


def difference(measure: str, a: str, b: str, gap: float, p: float, pairs: int) -> Difference:
    value = VALUES[measure]
    measured_value = Estimate(gap, gap - 0.01, gap + 0.01, method="bootstrap", n=1000)
    return Difference(measure, a, b, value, value + gap, measured_value, p, min(1.0, pairs * p))


def compared(*models: str, gap: float = 0.03, at: MaxFar | AtThreshold | None = None) -> Comparison:
    """Each model is better than the one before by a gap, and raises fewer false alarms."""
    pairs = list(itertools.combinations(range(len(models)), 2))
    sign = {"false_discovery_rate": -1}
    differences = [
        difference(m, models[i], models[j], sign.get(m, 1) * gap * (j - i), 0.004, len(pairs))
        for i, j in pairs
        for m in VALUES
    ]
    tests = [
        Significance(
            test="mcnemar",
            statistic=9.8,
            df=(1,),
            p=0.0017,
            method="corrected",
            sentence=f"{models[j]} is right where {models[i]} is wrong.",
            table={"b": 12, "c": 40},
            models=(models[i], models[j]),
            p_adjusted=0.0034,
        )
        for i, j in pairs
    ]
    outcome = "better" if gap > 0.01 else "undecided"
    return Comparison(
        models=models,
        differences=tuple(differences),
        tests=tuple(tests),
        verdicts=tuple(
            Verdict(models[i], models[j], f"{models[j]} against {models[i]}.", outcome, "roc_auc")
            for i, j in pairs
        ),
        notes=("'attack' was taken as the positive label",),
        at=at,
        thresholds=dict.fromkeys(models, 0.5),
        estimates={
            model: {m: estimate(v + i * gap * sign.get(m, 1)) for m, v in VALUES.items()}
            for i, model in enumerate(models)
        },
        flips=tuple(
            Flip(models[i], models[j], label, family, rows, 9, 3)
            for i, j in pairs
            for label, family, rows in (
                (None, None, 1000),
                ("normal", None, 900),
                ("attack", None, 100),
                (None, "normal", 900),
                (None, "dos", 100),
            )
        ),
        optimal=best_of(models),
    )


def best_of(models: tuple[str, ...]) -> Optimal:
    """The first is never the best, the last at low and high costs, the third ties with it."""
    parts = {
        models[0]: BestOf(models[0], ()),
        models[1]: BestOf(models[1], (BestRange(0.02, 0.4), BestRange(0.5, 0.875))),
    }
    for i, model in enumerate(models[2:]):
        shared = (models[2],) if i else ()
        parts[model] = BestOf(model, (BestRange(0.4, 0.5, shared),) * (i < 2), (0.5,) * (i == 2))
    return Optimal(tuple(parts.values()), 0.02, 0.875)


TWO = compared("old", "new")
THREE = compared("old", "new", "next", at=MaxFar(0.1))
FIVE = compared("a", "b", "c", "d", "e")


def tables(comparison: Comparison) -> dict[str, list[Table]]:
    document = document_of(comparison)
    return {
        section.title: [block for block in section.blocks if isinstance(block, Table)]
        for section in document.report.sections
    }


def test_where_each_model_is_the_best_is_told() -> None:
    (table,) = tables(FIVE)["Which model is ever optimal"]
    assert [(row[0], row[2], row[3]) for row in table.rows] == [
        ("a", "never", ""),
        ("b", "0.02 to 0.4, 0.5 to 0.875", ""),
        ("c", "0.4 to 0.5", ""),
        ("d", "0.4 to 0.5", "c"),
        ("e", "only as good as others, at 0.5", ""),
        ("no model: flag nothing", "0 to 0.02", ""),
        ("no model: flag everything", "0.875 to 1", ""),
    ]
    (table,) = tables(TWO)["Which model is ever optimal"]
    assert [column.name for column in table.columns] == ["model", "share of PC", "best at PC"]
    assert table.rows[1][1] == "75.5%"
    many = replace(TWO.optimal.models[1], ranges=(BestRange(0.1, 0.2),) * 7)
    comparison = replace(TWO, optimal=replace(TWO.optimal, models=(many,)))
    assert (
        tables(comparison)["Which model is ever optimal"][0]
        .rows[0][2]
        .endswith("and 3 more ranges")
    )
    assert "Which model is ever optimal" not in tables(replace(TWO, optimal=None))


# -- what it says ----------------------------------------------------------------------------------


def test_the_headline_is_the_verdict_of_each_pair() -> None:
    assert document_of(THREE).report.headline == tuple(v.text for v in THREE.by_importance)
    many = document_of(FIVE).report.headline
    assert len(many) == 7
    assert many[-1] == "The other 4 pairs are among the differences below."


def test_the_best_against_the_next_stands_first() -> None:
    assert THREE.ranking == ("next", "new", "old")
    assert [(v.a, v.b) for v in THREE.by_importance] == [
        ("new", "next"),
        ("old", "next"),
        ("old", "new"),
    ]
    assert document_of(FIVE).report.headline[0] == "e against d."


def test_the_best_and_what_is_not_told_from_it_are_marked() -> None:
    (table,) = tables(THREE)["Models side by side"]
    for row in table.rows:
        assert [isinstance(cell, Marked) for cell in row] == [False, False, False, True]
    assert table.notes == (marked_rule(0.95),)
    assert "not significantly different from it at the 5% level" in table.notes[0]
    (table,) = tables(compared("old", "new", gap=0.005))["Models side by side"]
    for row in table.rows:
        assert [isinstance(cell, Marked) for cell in row] == [False, True, True]


def test_holm_counts_for_what_is_marked() -> None:
    """Of three models one pair is open: both of it are marked, and the third is not."""
    opened = tuple(
        replace(d, difference=estimate(0.001)) if (d.a, d.b) == ("new", "next") else d
        for d in THREE.differences
    )
    (table,) = tables(replace(THREE, differences=opened))["Models side by side"]
    row = next(row for row in table.rows if row[0] == "ROC AUC")
    assert [isinstance(cell, Marked) for cell in row] == [False, False, True, True]


def test_measures_of_which_less_is_better_have_an_arrow() -> None:
    names = [row[0] for row in tables(TWO)["Models side by side"][0].rows]
    assert "false alarm rate (FAR) ↓" in names
    assert "ROC AUC" in names


def test_few_pairs_are_drawn_each_and_many_by_the_measure_that_decides() -> None:
    for comparison, drawn in ((TWO, 1), (THREE, 3), (FIVE, 1)):
        sections = {section.title: section for section in document_of(comparison).report.sections}
        plots = [b for b in sections["Differences"].blocks if isinstance(b, ForestPlot)]
        assert len(plots) == drawn
    assert len(sections["Differences of each pair"].blocks) == 10
    assert [change.name for change in plots[0].changes][:2] == ["e less d", "e less c"]


def test_raw_and_adjusted_p_stand_side_by_side() -> None:
    plots = [
        block
        for section in document_of(THREE).report.sections
        for block in section.blocks
        if isinstance(block, ForestPlot)
    ]
    assert plots[0].changes[0].remark == "p = 0.004, Holm = 0.012"
    assert "p = 0.004" in draw(document_of(TWO), "terminal", width=100)


def test_of_several_pairs_holms_p_has_to_bear_out_what_an_interval_tells() -> None:
    weak = tuple(replace(d, p=0.02, p_adjusted=0.06) for d in THREE.differences)
    text = draw(document_of(replace(THREE, differences=weak)), "terminal", width=100)
    assert "undecided" in text
    assert "better " not in text.replace("better than", "").replace("is better", "")


def test_a_rule_that_chose_thresholds_is_named_and_a_given_threshold_is_not_called_chosen() -> None:
    assert "chosen anew" in tables(THREE)["Thresholds"][0].caption
    fixed = replace(TWO, at=AtThreshold(0.5))
    assert "chosen" not in tables(fixed)["Thresholds"][0].caption
    nothing = replace(THREE, thresholds={"old": None})
    assert tables(nothing)["Thresholds"][0].rows == (("old", "nothing is flagged"),)


def test_families_that_repeat_a_label_are_not_listed_twice() -> None:
    names = [row[0] for row in tables(TWO)["Rows that flipped"][0].rows]
    assert names == ["all", "'normal'", "'attack'", "family 'dos'"]


def test_refused_rows_are_listed() -> None:
    document = document_of(replace(TWO, source=SOURCE))
    assert document.plain["source"] == SOURCE
    text = draw(document, "terminal", width=100)
    assert "1 of 1,001 rows was refused" in text
    assert "line 8" in text


def test_undefined_differences_are_told_as_such() -> None:
    none = Estimate(math.nan, undefined="nothing was flagged (TP + FP = 0)")
    differences = tuple(
        replace(d, difference=none, p=math.nan, p_adjusted=None, value_a=math.nan)
        for d in TWO.differences
    )
    document = document_of(replace(TWO, differences=differences))
    for face in FORMATS:
        assert draw(document, face)
    assert "undefined" in draw(document, "terminal", width=100)


@pytest.mark.parametrize("width", [40, 60, 72, 88, 100, 130])
def test_bounds_of_differences_are_in_the_terminal_at_every_width(width: int) -> None:
    bounds = {"roc_auc": (0.029, 0.031), "mcc": (-0.25, 0.5)}
    differences = tuple(
        replace(d, difference=Estimate(0.03, -0.3, 0.6, n=1000, bound=bounds.get(d.measure)))
        for d in TWO.differences
    )
    shown = draw(document_of(replace(TWO, differences=differences)), "terminal", width=width)
    text = " ".join(shown.split())
    assert "[0.029000, 0.031000]" in text
    assert "[-0.250000, 0.500000]" in text
    assert ("bound: ROC AUC [" in text) == (width in (60, 72, 88, 100))
    assert "bound" not in draw(document_of(TWO), "terminal", width=width)


# -- faces -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("comparison", [TWO, THREE, FIVE], ids=["two", "three", "five"])
def test_json_is_the_comparison_with_its_headline(comparison: Comparison) -> None:
    document = json.loads(draw(document_of(comparison), "json"))
    assert [e.message for e in VALIDATOR.iter_errors(document)] == []
    assert document.pop("headline") == [v.text for v in comparison.by_importance][:6] + [
        "The other 4 pairs are among the differences below."
    ] * (len(comparison.verdicts) > 6)
    assert document.pop("provenance")
    assert document == json.loads(json.dumps(comparison.to_dict()))


@pytest.mark.parametrize("mode", ["exact", "grid"])
def test_csv_tells_how_scores_were_kept(mode: str) -> None:
    rows = csv.DictReader(io.StringIO(draw(document_of(replace(TWO, mode=mode)), "csv")))
    assert rows.fieldnames is not None
    assert rows.fieldnames[-1] == "mode"
    assert {row["mode"] for row in rows} == {mode}


def test_csv_holds_the_differences() -> None:
    rows = list(csv.DictReader(io.StringIO(draw(document_of(THREE), "csv"))))
    assert len(rows) == len(THREE.differences)
    assert rows[0]["measure"] == "roc_auc"
    assert float(rows[0]["difference"]) == float(THREE.differences[0].difference)


def test_the_best_is_bold_in_every_face() -> None:
    document = document_of(TWO)
    assert "*0.960 [0.950" in draw(document, "terminal", width=100)
    assert "\x1b[1m" in draw(document, "terminal", width=100, color=True)
    assert "| **0.960** [0.950, 0.970] |" in draw(document, "markdown")
    assert r"\textbf{0.960} [0.950, 0.970]" in draw(document, "latex")
    assert "<strong>0.960</strong>" in draw(document, "html")


def test_a_page_draws_the_differences_without_a_script() -> None:
    page = draw(document_of(TWO), "html")
    assert page.count('<li class="line better">') == 5
    assert '<rect class="band"' in page
    assert page.count('class="zero"') == 5
    assert "assay-data" not in page


@pytest.mark.sampled(20)
@pytest.mark.parametrize("hostile", NAMES)
def test_no_model_can_do_harm(hostile: str) -> None:
    document = document_of(compared(hostile, "other"))
    for face in FORMATS:
        text = draw(document, face)
        assert text
        if face in ("html", "markdown") and hostile.startswith("<"):
            assert hostile not in text
    list(csv.reader(io.StringIO(draw(document, "csv"), newline="")))


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="there is no pdflatex")
def test_latex_compiles_with_hostile_names(tmp_path: Path) -> None:
    models = [name for name in NAMES if name.strip() and len(name) < 30][:40]
    for i in range(0, len(models), 5):
        document = document_of(compared(*models[i : i + 5]))
        (tmp_path / f"c{i}.tex").write_text(draw(document, "latex"), "utf-8")
        done = subprocess.run(
            ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", f"c{i}"],
            cwd=tmp_path,
            env={**os.environ, "TEXMFVAR": str(tmp_path)},
            stdout=subprocess.PIPE,
            check=False,
        )
        assert done.returncode == 0, done.stdout.decode(errors="replace")[-2000:]


@pytest.mark.parametrize(
    ("file", "comparison", "face", "width"),
    [
        ("two_100.txt", TWO, "terminal", 100),
        ("two_60.txt", TWO, "terminal", 60),
        ("three_100.txt", THREE, "terminal", 100),
        ("five_80.txt", FIVE, "terminal", 80),
        ("three.md", THREE, "markdown", None),
        ("three.tex", THREE, "latex", None),
        ("two.csv", TWO, "csv", None),
    ],
)
def test_report_is_the_golden_one(
    file: str, comparison: Comparison, face: str, width: int | None
) -> None:
    text = draw(document_of(replace(comparison, source=SOURCE)), face, width=width)
    checked(GOLDEN / file, text)


def over_data_sets() -> Comparison:
    """Three models on four data sets of three folds, whose values are short decimals."""
    keys = [(m, d, f) for m in range(3) for d in range(4) for f in range(3)]
    return compare_folds(
        {
            "model": [("tree", "forest", "bayes")[m] for m, _, _ in keys],
            "dataset": [("iris", "wine", "sonar", "glass")[d] for _, d, _ in keys],
            "fold": [f for _, _, f in keys],
            "accuracy": [
                round(0.8 + 0.02 * ((2 * m) % 3) + 0.01 * ((m + d + f) % 3) + 0.03 * d, 3)
                for m, d, f in keys
            ],
        },
        rope=0.01,
    )


@pytest.mark.parametrize("file", ["data_sets_100.txt", "data_sets_fragment.tex"])
def test_data_sets_are_the_golden_ones(file: str) -> None:
    document = document_of(over_data_sets())
    asked = {"fragment": True} if file.endswith(".tex") else {"width": 100}
    face = "latex" if file.endswith(".tex") else "terminal"
    checked(GOLDEN / file, draw(document, face, **asked))
