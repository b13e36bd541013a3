"""One test for all faces: each shows the cells of the document, in the same table."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any, TypeAlias

import numpy as np
import pytest

from assay import choose_threshold, compare, compare_folds, evaluate, measures
from assay.decisions import Audit
from assay.escaping import name
from assay.inference import Estimate
from assay.number_text import bound_text, count, difference_parts, measured_parts
from assay.report import Document, Report, document_of, draw, measure_document, measures_document
from assay.report.grid import cell_parts
from assay.report.html.blocks import UNDEFINED
from assay.report.html.charts import Limits
from assay.report.sections import (
    Cell,
    Column,
    Dots,
    ForestPlot,
    Formula,
    Kind,
    Marked,
    Matrix,
    Prose,
    Table,
    Tier,
    matrix_caption,
    measure_name,
)

from . import (
    cases,
    test_audit,
    test_check,
    test_compare,
    test_gate,
    test_incidents,
    test_monitor,
    test_plan,
    test_threshold,
)
from .reading import (
    Read,
    html_tables,
    latex_tables,
    markdown_tables,
    squeezed,
    terminal_tables,
)
from .test_training import trained

# Wide enough for every table.
WIDE = 4000
# A text that is longer may be cut.
CUT = 60
# The most classes of a matrix, and what is left out of a page.
MATRIX = {"terminal": 12, "markdown": 12, "latex": 20}
LIMITS = Limits()
DOTS = ("name", "value", "remark", "aside")

Held: TypeAlias = Table | Dots | ForestPlot | Matrix


def _chosen(**asked: Any) -> Document:
    random = np.random.default_rng(3)
    truth = np.repeat([0, 1], [300, 60])
    scores = np.round(random.normal(2.0 * truth), 2)
    families = np.where(truth == 1, np.arange(360) % 3, 0)
    return document_of(
        choose_threshold(truth, y_score=scores, families=families, resamples=20, **asked)
    )


def _holdout() -> Document:
    random = np.random.default_rng(4)
    truth = np.repeat([0, 1], [200, 50])
    return _chosen(max_fpr=0.2, min_dr=0.1, holdout=(truth, random.normal(2.0 * truth)))


def _compared(**asked: Any) -> Document:
    random = np.random.default_rng(5)
    truth = np.repeat([0, 1], [80, 40])
    scores = {name: random.normal(2.0 * truth) / 9 + 0.4 for name in ("old", "new")}
    families = np.where(truth == 1, np.arange(120) % 2, 0)
    return document_of(compare(truth, scores=scores, families=families, resamples=20, **asked))


def _folds(models: Sequence[str], sets: int, **asked: Any) -> Document:
    """Folds over several data sets, in which each model is better than the one before."""
    random = np.random.default_rng(6)
    keys = [(m, d, f) for m in range(len(models)) for d in range(sets) for f in range(1, 5)]
    return document_of(
        compare_folds(
            {
                "model": [models[m] for m, _, _ in keys],
                "dataset": [f"set {d}" for _, d, _ in keys],
                "fold": [f for _, _, f in keys],
                "accuracy": [0.8 + 0.02 * m + random.normal(0, 0.01) for m, _, _ in keys],
                "log_loss": [0.4 - 0.02 * m + random.normal(0, 0.01) for m, _, _ in keys],
            },
            **asked,
        )
    )


CASES: dict[str, Callable[[], Document | Report]] = {
    **{f"evaluation: {name}": lambda name=name: cases.document(name) for name in cases.CASES},
    **{
        f"threshold: {name}": lambda name=name: test_threshold.document(name)
        for name in test_threshold.CHOICES
    },
    "threshold: inside": lambda: _chosen(max_fpr=0.9),
    "threshold: families": lambda: _chosen(min_dr_families=0.5, max_fpr=0.5),
    "threshold: FAR": lambda: _chosen(max_far=0.1, base_rate=1e-4, volume=1e6),
    "threshold: alerts": lambda: _chosen(max_alerts=100, volume=1000, base_rate=0.01),
    "threshold: costs": lambda: _chosen(cost_fp=1, cost_fn=10),
    "threshold: usual ones": _chosen,
    "threshold: holdout": _holdout,
    "threshold: clusters": lambda: _chosen(max_fpr=0.1, clusters=np.arange(360) // 4),
    **{f"plan: {name}": lambda name=name: test_plan.document(name) for name in test_plan.CASES},
    "compare: two": lambda: document_of(test_compare.TWO),
    "compare: three at a rule": lambda: document_of(test_compare.THREE),
    "compare: five": lambda: document_of(test_compare.FIVE),
    "compare: rows": _compared,
    "compare: a grid": lambda: _compared(mode="grid"),
    "compare: data sets": lambda: _folds(("tree", "forest", "boosted trees"), 6, rope=0.01),
    "compare: two models on data sets": lambda: _folds(("old", "new"), 3),
    "compare: chosen": lambda: _compared(at="max-fpr=0.1"),
    "gate: every outcome": lambda: document_of(test_gate.example()),
    "gate: pass": lambda: document_of(test_gate.made("pass", "pass")),
    "gate: fail": lambda: document_of(test_gate.made("fail", "undecided", "pass")),
    "monitor: rules and a shift": lambda: document_of(test_monitor.example()),
    "monitor: no labels": lambda: document_of(test_monitor.unlabelled()),
    **{
        f"incidents: {name}": lambda name=name: test_incidents.document(name)
        for name in test_incidents.CASES
    },
    "audit: two claims": lambda: document_of(test_audit.BOTH),
    "audit: one claim": lambda: document_of(Audit((test_audit.network(),))),
    "check: leaks": lambda: document_of(test_check.example()),
    "check: nothing found": lambda: document_of(test_check.quiet()),
    "training: forest by folds": lambda: document_of(
        trained("forest", "kfold:3", settings={"trees": 5})
    ),
    "training: network": lambda: document_of(
        trained("network", "kfold:2", settings={"epochs": 3, "hidden": (8,)})
    ),
    "training: tree": lambda: document_of(
        trained("tree", "holdout:0.7/0.2/0.1", settings={"k": 5, "depth": 2})
    ),
    "measures: all": measures_document,
    "measures: mcc": lambda: measure_document(measures.find("mcc")),
}
# Made once for all the tests that look at them.
CASES = {name: cache(make) for name, make in CASES.items()}


@cache
def made(case: str) -> Report:
    example = CASES[case]()
    return example.report if isinstance(example, Document) else example


# -- what the document holds -----------------------------------------------------------------------


def told(block: Held, *, latex: bool = False) -> Read:
    """A block as every face has to show it, without columns that hold nothing."""
    match block:
        case Table():
            heads = [column.name for column in block.columns]
            rows = [
                [
                    _cell(cell, column, latex=latex, first=i == 0)
                    for i, (cell, column) in enumerate(zip(row, block.columns, strict=True))
                ]
                for row in block.rows
            ]
        case Dots():
            heads = [block.column, measure_name(block.measure.name), "of how many"]
            rows = [
                [dot.name, joined(measured_parts(dot.estimate)), dot.remark] for dot in block.dots
            ]
            if block.whole is not None:
                rows.append(["all rows", joined(measured_parts(block.whole)), ""])
        case ForestPlot():
            heads = [block.column, "difference", "bound", "told", "remark"]
            rows = [
                [
                    change.name,
                    joined(difference_parts(change.difference)),
                    bound_text(change.difference.bound),
                    "" if math.isnan(change.difference) else change.outcome(block.margin).value,
                    change.remark,
                ]
                for change in block.changes
            ]
        case Matrix():
            heads = ["truth \\ decision", *block.labels]
            rows = [
                [label, *map(count, row)]
                for label, row in zip(block.labels, block.cells, strict=True)
            ]
    return filled(Read(squeezed(block.caption), tuple(heads), tuple(map(tuple, rows))))


def joined(parts: tuple[str, str]) -> str:
    return " ".join(filter(None, parts))


def _cell(cell: Cell, column: Column, *, latex: bool, first: bool) -> str:
    bare = cell.cell if isinstance(cell, Marked) else cell
    if isinstance(bare, Formula) and latex:
        return bare.latex
    if isinstance(bare, str):
        return name(bare, 500) if bare or first else ""
    return joined(cell_parts(bare, column.kind))


def filled(table: Read) -> Read:
    kept = [i for i in range(len(table.heads)) if i == 0 or any(row[i] for row in table.rows)]
    return Read(
        table.caption.removesuffix("."),
        tuple(squeezed(table.heads[i]) for i in kept),
        tuple(tuple(squeezed(row[i]) for i in kept) for row in table.rows),
    )


def same(shown: Read, expected: Read) -> None:
    """One table of a face against the document's."""
    assert same_text(shown.caption, expected.caption)
    assert len(shown.rows) == len(expected.rows)
    lines = zip((shown.heads, *shown.rows), (expected.heads, *expected.rows), strict=True)
    for there, here in lines:
        assert len(there) == len(here), (there, here)
        for cell, wanted in zip(there, here, strict=True):
            assert same_text(cell, wanted), (cell, wanted)


def same_text(shown: str, expected: str) -> bool:
    """Whether a face shows a text, which it may cut in the middle."""
    head, gap, tail = shown.partition("…")
    cut = bool(gap) and len(expected) > CUT
    ends = expected.startswith(head.rstrip()) and expected.endswith(tail.lstrip())
    return shown == expected or (cut and ends)


# -- what the faces show ---------------------------------------------------------------------------


def in_terminal(document: Report) -> Iterator[tuple[Read, Read]]:
    text = draw(document, "terminal", width=WIDE)
    held = [
        block
        for section in document.sections
        if not section.detail
        for block in section.blocks
        if not isinstance(block, Prose)
        and not (isinstance(block, Matrix) and len(block.labels) > MATRIX["terminal"])
    ]
    expected = [_outlined(told(block), block) for block in held]
    shown = terminal_tables(text, [len(each.rows) for each in expected])
    for drawn_table, block, wanted in zip(shown, held, expected, strict=True):
        marked = isinstance(block, Table) and any(
            isinstance(cell, Marked) for row in block.rows for cell in row
        )
        # A strip is drawn beside each difference, and a star before what stands out.
        gone = 2 if isinstance(block, ForestPlot) else None
        heads, *rows = (
            tuple(cell for i, cell in enumerate(row) if i != gone)
            for row in (drawn_table.heads, *drawn_table.rows)
        )
        if marked:
            rows = [tuple(cell.removeprefix("*") for cell in row) for row in rows]
        yield filled(Read(drawn_table.caption, heads, tuple(rows))), wanted


def _outlined(read: Read, block: Held) -> Read:
    """What a terminal shows of a table: no columns that are a detail."""
    gone = {c.name for c in block.columns if c.detail} if isinstance(block, Table) else set()
    kept = [i for i, head in enumerate(read.heads) if head not in gone]
    heads, *rows = (tuple(row[i] for i in kept) for row in (read.heads, *read.rows))
    return read._replace(heads=heads, rows=tuple(rows))


def in_markdown(document: Report) -> Iterator[tuple[Read, Read]]:
    shown = list(markdown_tables(draw(document, "markdown")))
    held = [
        block
        for section in document.sections
        for block in section.blocks
        if not isinstance(block, Prose)
        and not (isinstance(block, Matrix) and len(block.labels) > MATRIX["markdown"])
    ]
    for drawn_table, block in zip(shown, held, strict=True):
        wanted = told(block, latex=True)
        bars = tuple(tuple(cell.replace("|", r"\vert ") for cell in row) for row in wanted.rows)
        yield (
            filled(drawn_table),
            wanted if not _formulas(block) else filled(wanted._replace(rows=bars)),
        )


def _formulas(block: Held) -> bool:
    return isinstance(block, Table) and any(
        isinstance(cell, Formula) for row in block.rows for cell in row
    )


def in_latex(document: Report) -> Iterator[tuple[Read, Read]]:
    order = [*Tier, None]
    held = [
        (section.title, block)
        for section in sorted(document.sections, key=lambda section: order.index(section.tier))
        for block in section.blocks
        if not isinstance(block, Prose)
        and not (isinstance(block, Matrix) and len(block.labels) > MATRIX["latex"])
    ]
    shown = list(latex_tables(draw(document, "latex")))
    for drawn_table, (title, block) in zip(shown, held, strict=True):
        wanted = told(block, latex=True)
        start = f"{title.removesuffix('.')}. {wanted.caption}"
        assert drawn_table.caption.startswith(start), (drawn_table.caption, start)
        yield filled(drawn_table._replace(caption=wanted.caption)), wanted


def in_html(document: Report) -> Iterator[tuple[Read, Read]]:
    left = list(html_tables(draw(document, "html")))
    for section in document.sections:
        for block in section.blocks:
            if isinstance(block, Prose):
                continue
            caption = squeezed(block.caption)
            drawn_table = next(each for each in left if same_text(each.caption, caption))
            left.remove(drawn_table)
            heads, *rows = (
                tuple("undefined" if cell == UNDEFINED else cell for cell in row)
                for row in (drawn_table.heads, *drawn_table.rows)
            )
            drawn_table = Read(drawn_table.caption, heads, tuple(rows))
            if isinstance(block, Matrix):
                yield _squares(drawn_table), _squares_of(told(block))
            elif heads == DOTS:
                yield filled(drawn_table), filled(_as_dots(block))
            else:
                yield filled(drawn_table), _first(told(block), LIMITS.rows)
    # Without decisions only the panel has a matrix: at the threshold that is tried there.
    decided = document.panel is None or document.panel.given
    assert [each.caption for each in left] == ([] if decided else [matrix_caption(weighted=False)])


def _squares(table: Read) -> Read:
    """The squares of a map by their names, without sums."""
    if table.heads[1:3] == ("no alert", "alert"):
        names = tuple(row[0] for row in table.rows[:2])
        table = Read(table.caption, ("", *names), tuple(row[:3] for row in table.rows[:2]))
    names = table.heads[1 : len(table.rows) + 1]
    squares = [
        (row[0], name, cell)
        for row in table.rows
        for name, cell in zip(names, row[1:], strict=False)
    ]
    return Read(table.caption, ("truth", "decision", "rows"), tuple(sorted(squares)))


def _squares_of(table: Read) -> Read:
    squares = [
        (row[0], name, cell)
        for row in table.rows
        for name, cell in zip(table.heads[1:], row[1:], strict=True)
    ]
    return Read(table.caption, ("truth", "decision", "rows"), tuple(sorted(squares)))


def _first(table: Read, most: int) -> Read:
    return table._replace(rows=table.rows[:most])


def _as_dots(block: Held) -> Read:
    """A block as a page draws it: name, value, then all other cells said in a remark or aside."""
    table = told(block)
    if isinstance(block, Dots):
        shown = (*table.rows[: min(len(block.dots), LIMITS.dots)], *table.rows[len(block.dots) :])
        rows = [(*row, "", "")[:4] for row in shown]
    elif isinstance(block, ForestPlot):
        rows = [
            (
                change.name,
                joined(difference_parts(change.difference)),
                change.remark,
                change.outcome(block.margin).value,
            )
            for change in block.changes
        ]
    else:
        assert isinstance(block, Table)
        (drawn,) = [
            i
            for i, column in enumerate(block.columns)
            if column.kind is Kind.SHARE
            and any(isinstance(_bare(row[i]), Estimate) for row in block.rows)
        ]
        rows = []
        for row in block.rows[: LIMITS.rows]:
            said: dict[bool, list[str]] = {True: [], False: []}
            for i, (cell, column) in enumerate(zip(row, block.columns, strict=True)):
                text = _cell(cell, column, latex=False, first=i == 0)
                if i not in (0, drawn) and text:
                    called = text if column.kind is Kind.TEXT else f"{column.name} {text}"
                    said[column.optional].append(called)
            value = _cell(row[drawn], block.columns[drawn], latex=False, first=False)
            first = _cell(row[0], block.columns[0], latex=False, first=True)
            rows.append((first, value, ", ".join(said[False]), ", ".join(said[True])))
    return Read(table.caption, DOTS, tuple(rows))


def _bare(cell: Cell) -> Any:
    return cell.cell if isinstance(cell, Marked) else cell


FACES = {
    "terminal": in_terminal,
    "markdown": in_markdown,
    "latex": in_latex,
    "html": in_html,
}


@pytest.mark.sampled(30)
@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("case", CASES)
def test_every_face_shows_the_cells_of_the_document_in_the_same_table(case: str, face: str) -> None:
    for shown, expected in FACES[face](made(case)):
        same(shown, expected)


def test_losses_near_0_are_0_in_no_face() -> None:
    random = np.random.default_rng(0)
    truth = np.repeat([0, 1], [200, 50])
    near = 1e-7 * random.random(250)
    document = document_of(evaluate(truth, y_score=np.where(truth == 1, 1 - near, near)))
    for face, tables in FACES.items():
        rows = {row[0]: row[1] for shown, _ in tables(document.report) for row in shown.rows}
        assert rows["Brier score"] == "3.8e-15 [3.4e-15, 4.2e-15]", face
        assert rows["log loss"].startswith("0.00000005"), face
    plain = json.loads(draw(document, "json"))["estimates"]
    assert all(each["value"] > 0 for each in plain if each["measure"] in ("brier", "log_loss"))


# -- what programs read ----------------------------------------------------------------------------


def numbers_of(document: Report) -> set[float]:
    """Every estimate of every table: its value and its ends."""
    numbers = []
    for section in document.sections:
        for block in section.blocks:
            match block:
                case Table():
                    cells = [_bare(cell) for row in block.rows for cell in row]
                    numbers += [cell for cell in cells if isinstance(cell, Estimate)]
                case Dots():
                    numbers += [dot.estimate for dot in block.dots]
                case ForestPlot():
                    numbers += [change.difference for change in block.changes]
    ends = [end for each in numbers for end in (float(each), each.low, each.high)]
    return {end for end in ends if math.isfinite(end)}


def _leaves(tree: Any) -> Iterator[Any]:
    if isinstance(tree, dict | list):
        for each in tree.values() if isinstance(tree, dict) else tree:
            yield from _leaves(each)
    else:
        yield tree


@pytest.mark.sampled(25)
@pytest.mark.parametrize("case", CASES)
def test_json_holds_every_estimate_of_the_tables(case: str) -> None:
    leaves = _leaves(json.loads(draw(CASES[case](), "json")))
    # A drop is a change with its sign turned.
    held = {abs(leaf) for leaf in leaves if isinstance(leaf, int | float)}
    assert set(map(abs, numbers_of(made(case)))) <= held


@pytest.mark.sampled(15)
@pytest.mark.parametrize("case", CASES)
def test_csv_holds_what_its_records_hold(case: str) -> None:
    rows = list(csv.DictReader(io.StringIO(draw(made(case), "csv"), newline="")))
    assert len(rows) == len(made(case).records)
    for row, record in zip(rows, made(case).records, strict=True):
        for key, cell in record.items():
            if isinstance(cell, bool) or cell is None or isinstance(cell, str):
                continue
            assert float(row[key]) == float(cell)
