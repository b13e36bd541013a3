"""Honest numbers, printed as a table of any form: the audit finds nothing wrong."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import assay

from .counted import of_cells

COLUMNS = ("accuracy", "precision", "recall", "f1", "false_positive_rate", "mcc")
Rows = Sequence[Sequence[str]]


def markdown(rows: Rows) -> str:
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([lines[0], f"|{'---|' * len(rows[0])}", *lines[1:]])


def separated(rows: Rows, sign: str = ",") -> str:
    return "\n".join(sign.join(row) for row in rows) + "\n"


def german(rows: Rows) -> str:
    return separated([rows[0], [cell.replace(".", ",") for cell in rows[1]]], ";")


def latex(rows: Rows) -> str:
    body = " \\\\\n".join(" & ".join(cell.replace("%", "\\%") for cell in row) for row in rows)
    columns = "l" + "r" * (len(rows[0]) - 1)
    return f"\\begin{{tabular}}{{{columns}}}\n\\toprule\n{body} \\\\ \\bottomrule\n\\end{{tabular}}"


def turned(rows: Rows) -> str:
    return markdown(list(zip(*rows, strict=True)))


FORMS: dict[str, tuple[Callable[[Rows], str], str]] = {
    "markdown": (markdown, "t.md"),
    "csv": (separated, "t.csv"),
    "decimal comma": (german, "t.csv"),
    "latex": (latex, "t.tex"),
    "turned": (turned, "t.md"),
}
COUNTS = st.lists(st.integers(0, 400), min_size=4, max_size=4).filter(lambda c: sum(c) > 0)


def table(counts: Sequence[int], decimals: int, *, percent: bool) -> list[list[str]]:
    rows = of_cells(*counts)
    row = ["a model"]
    for name in COLUMNS:
        value = rows.value(name)
        shown = f"{100 * value:.{max(decimals - 2, 0)}f}%" if percent else f"{value:.{decimals}f}"
        row.append("-" if np.isnan(value) else shown)
    return [["Model", *COLUMNS], row]


@pytest.mark.parametrize("form", FORMS)
@settings(deadline=None, max_examples=20)
@given(counts=COUNTS, decimals=st.integers(2, 4), percent=st.booleans())
def test_a_table_of_honest_numbers_is_clean_in_every_form(
    form: str,
    counts: Sequence[int],
    decimals: int,
    *,
    percent: bool,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    rows = table(counts, decimals, percent=percent)
    if all(cell == "-" for cell in rows[1][1:]):
        return
    write, name = FORMS[form]
    path = Path(tmp_path_factory.mktemp("table"), name)
    path.write_text(write(rows), "utf-8")
    assert assay.audit_files([path]).consistent, write(rows)


@settings(deadline=None, max_examples=15)
@given(counts=COUNTS, told=st.sampled_from(["confusion", "support", "n", "nothing"]))
def test_honest_numbers_beside_what_is_told_of_the_rows_are_clean(
    counts: Sequence[int], told: str
) -> None:
    tp, fp, fn, tn = counts
    _, reported = table(counts, 4, percent=False)
    numbers = zip(COLUMNS, reported[1:], strict=True)
    claim = {
        "positive": "attack",
        "negative": "normal",
        "reported": {name: text for name, text in numbers if text != "-"},
    }
    beside = {
        "confusion": {"tp": tp, "fp": fp, "fn": fn, "tn": tn},
        "support": {"normal": fp + tn, "attack": tp + fn},
        "n": sum(counts),
    }
    claim |= {told: beside[told]} if told in beside else {}
    assert assay.audit(claim).consistent, claim
