"""Any evaluation, its numbers printed as a table of any form: the audit finds nothing wrong."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import assay
from assay.decisions.audit import audited
from assay.decisions.audit.reading import Totals, read_document
from assay.decisions.audit.verdicts import NumberVerdict
from assay.report import document_of, draw

LABELS = ("normal", "attack")
COLUMNS = ("accuracy", "precision", "recall", "f1", "false_positive_rate", "mcc")
Rows = Sequence[Sequence[str]]


def markdown(rows: Rows) -> str:
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([lines[0], f"|{'---|' * len(rows[0])}", *lines[1:]])


def separated(rows: Rows, sign: str = ",") -> str:
    return "\n".join(sign.join(row) for row in rows) + "\n"


def german(rows: Rows) -> str:
    return separated(
        [rows[0], *([cell.replace(".", ",") for cell in row] for row in rows[1:])], ";"
    )


def latex(rows: Rows) -> str:
    body = " \\\\\n".join(" & ".join(cell.replace("%", "\\%") for cell in row) for row in rows)
    columns = "l" + "r" * (len(rows[0]) - 1)
    return f"\\begin{{tabular}}{{{columns}}}\n\\toprule\n{body} \\\\ \\bottomrule\n\\end{{tabular}}"


def turned(rows: Rows) -> str:
    return markdown(list(zip(*rows, strict=True)))


FORMS: dict[str, Callable[[Rows], str]] = {
    "markdown": markdown,
    "csv": separated,
    "decimal comma": german,
    "latex": latex,
    "turned": turned,
}
COUNTS = st.lists(st.integers(0, 400), min_size=4, max_size=4).filter(lambda c: sum(c) > 0)


def table(counts: Sequence[int], decimals: int, *, percent: bool) -> list[list[str]]:
    tn, fp, fn, tp = counts
    evaluation = assay.evaluate_counts(tn=tn, fp=fp, fn=fn, tp=tp, labels=LABELS, positive="attack")
    row = ["a model"]
    for name in COLUMNS:
        value = float(evaluation[name])
        shown = f"{100 * value:.{max(decimals - 2, 0)}f}%" if percent else f"{value:.{decimals}f}"
        row.append("-" if np.isnan(value) else shown)
    return [["Model", *COLUMNS], row]


@pytest.mark.parametrize("form", FORMS)
@settings(deadline=None, max_examples=20)
@given(counts=COUNTS, decimals=st.integers(2, 4), percent=st.booleans(), totals=st.booleans())
def test_a_table_of_an_evaluation_is_clean_in_every_form(
    form: str, counts: Sequence[int], decimals: int, *, percent: bool, totals: bool
) -> None:
    rows = table(counts, decimals, percent=percent)
    if all(cell == "-" for cell in rows[1][1:]):
        return
    tn, fp, fn, tp = counts
    told = Totals(support={"normal": tn + fp, "attack": fn + tp}, positive="attack")
    text = FORMS[form](rows)
    document = read_document("t.csv" if form in ("csv", "decimal comma") else "t.txt", text=text,
                             totals=told if totals else None)  # fmt: skip
    (claim,) = document.claims
    audit = audited(claim)
    assert audit.verdict is not NumberVerdict.INCONSISTENT, (text, audit)


@settings(deadline=None, max_examples=15)
@given(counts=COUNTS)
def test_the_document_of_an_evaluation_is_clean(counts: Sequence[int]) -> None:
    tn, fp, fn, tp = counts
    evaluation = assay.evaluate_counts(tn=tn, fp=fp, fn=fn, tp=tp, labels=LABELS, positive="attack")
    (claim,) = read_document("e.json", text=draw(document_of(evaluation), "json")).claims
    judged = audited(claim)
    assert judged.verdict is not NumberVerdict.INCONSISTENT, judged
    assert len(judged.numbers) > 10
