"""The JavaScript of formulas, run by node, against the exact values."""

import json
import math
import shutil
import subprocess

import numpy as np
import pytest

from assay.formula import (
    FP,
    JAVASCRIPT_PRELUDE,
    TP,
    Expression,
    derivative,
    evaluate,
    javascript,
    times_log,
    value,
)

from .tables import BINARY, CLASS, FORMULAS, OVER_CLASSES, class_cells, error_bound

NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="node is not on PATH, so nothing runs it")

_MAIN = """
const given = JSON.parse(require("fs").readFileSync(0, "utf8"));
const found = {};
for (const [name, body] of Object.entries(given.bodies)) {
  const f = new Function("tp", "fp", "fn", "tn", "hit", "row", "col", "n", "k",
    given.prelude + "return " + body + ";");
  found[name] = given.tables.map((t) =>
    f(t.TP, t.FP, t.FN, t.TN, t.HIT, t.ROW, t.COL, t.N, t.K));
}
const kept = (key, x) =>
  typeof x === "number" && !Number.isFinite(x) ? String(x) : x;
process.stdout.write(JSON.stringify(found, kept));
"""


def _run(
    formulas: dict[str, Expression], tables: list[dict[str, object]]
) -> dict[str, list[float]]:
    """What node finds for each formula and table."""
    assert NODE is not None
    given = {
        "prelude": JAVASCRIPT_PRELUDE,
        "bodies": {name: javascript(formula) for name, formula in formulas.items()},
        "tables": tables,
    }
    done = subprocess.run(
        [NODE, "-e", _MAIN], input=json.dumps(given), capture_output=True, text=True, check=True
    )
    document = json.loads(done.stdout)
    return {name: [float(x) for x in values] for name, values in document.items()}


def _agree(
    formulas: dict[str, Expression], tables: list[dict[str, object]]
) -> dict[str, list[bool]]:
    """For each formula, where it was undefined, once every value was found to agree."""
    undefined: dict[str, list[bool]] = {}
    values = _run(formulas, tables)
    for name, formula in formulas.items():
        exact = [value(formula, table) for table in tables]
        for x, y, table in zip(values[name], exact, tables, strict=True):
            assert math.isnan(x) == math.isnan(y), (name, table)
            if not math.isnan(y):
                assert abs(x - y) <= error_bound(formula, table)[1], (name, table)
        undefined[name] = [math.isnan(y) for y in exact]
    return undefined


@needs_node
def test_every_formula_gives_in_a_browser_what_it_gives_here() -> None:
    rng = np.random.default_rng(20)
    counts = rng.integers(0, 10 ** rng.integers(1, 8, (150, 4))) * (rng.random((150, 4)) < 0.75)
    small = [[a, b, c, d] for a in (0, 3) for b in (0, 1) for c in (0, 2) for d in (0, 4)]
    tables = [dict(zip(BINARY, t, strict=True)) for t in [*counts.tolist(), *small]]
    undefined = _agree(FORMULAS, tables)
    assert all(any(cases) and not all(cases) for cases in undefined.values())


@needs_node
def test_every_formula_over_classes_gives_in_a_browser_what_it_gives_here() -> None:
    rng = np.random.default_rng(21)
    tables = []
    for k in (2, 3, 5):
        for sparse in (0.3, 0.7, 1.0):
            cells = rng.integers(0, 1000, (2, k, k)) * (rng.random((2, k, k)) < sparse)
            tables += [class_cells(matrix) for matrix in cells.tolist()]
    tables.append(class_cells([[0, 0], [0, 0]]))
    undefined = _agree(OVER_CLASSES, tables)
    assert all(any(cases) and not all(cases) for cases in undefined.values())


@needs_node
def test_a_derivative_runs_in_a_browser_too() -> None:
    slopes = {
        f"{name} by {cell}": derivative(formula, cell)
        for name, formula in FORMULAS.items()
        for cell in BINARY
    }
    table = {"TP": 7, "FP": 3, "FN": 2, "TN": 11}
    for name, values in _run(slopes, [table]).items():
        expected = float(evaluate(slopes[name], table))
        assert values[0] == pytest.approx(expected, rel=1e-13, abs=1e-18)


@needs_node
def test_nothing_times_a_logarithm_is_nothing_in_a_browser_too() -> None:
    cells = [{"TP": tp, "FP": fp} for tp, fp in ((0, 0), (0, 5), (3, 1), (2, 7))]
    product = _run({"product": times_log(TP, FP)}, cells)["product"]
    assert product == pytest.approx([0, 0, 0, 2 * math.log(7)], rel=1e-15)


def test_a_formula_in_a_browser_reads_no_names_but_its_cells() -> None:
    known = {"ratio", "timesLog", "total", "geometricMean", "Math", "sqrt", "i", "k", "n"}
    known |= {name.lower() for name in (*BINARY, *CLASS)}
    for formula in (*FORMULAS.values(), *OVER_CLASSES.values()):
        text = javascript(formula)
        words = "".join(c if c.isalpha() else " " for c in text).split()
        assert set(words) <= known
