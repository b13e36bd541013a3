"""L010: a column that names rows tells their label."""

from __future__ import annotations

import numpy as np

from assay.v02.evaluation.wording import name
from assay.v02.learn.checks.case import Case, CodedCheck, Sighting, columns_text
from assay.v02.learn.checks.columns import ID, TIME, Neighbours, by_column
from assay.v02.number_text import measured, rate_percent

# A rank is needed, and the texts of an address have none.
ORDERED = (ID, TIME)


def look(case: Case) -> Sighting | None:
    """Ids and times by which the training rows, once sorted, come in stretches of one label.

    A model learns the stretches. The AUC of such a column may be middling all the same, where
    labels come in several stretches.

    >>> import polars as pl
    >>> from assay.v02.learn.checks import check
    >>> from assay.v02.learn.data import data_of
    >>> frame = pl.DataFrame({"id": range(90), "label": [0] * 30 + [1] * 30 + [0] * 30})
    >>> frame = frame.with_columns(x=pl.Series([i * 7 % 11 for i in range(90)])).sample(
    ...     fraction=1, shuffle=True, seed=1
    ... )
    >>> finding = check(data_of(frame, label="label"))["L010"]
    >>> print(finding.severity, finding.message)  # doctest: +NORMALIZE_WHITESPACE
    leak Column 'id' tells the label: sorted by it a row has the label of the row before it in
    0.978 [0.922, 0.994] of cases, by chance in 55.1%.
    """
    telling = {
        column: order
        for column, kind in case.identifiers.items()
        if kind in ORDERED and (order := order_of(case, column)).telling
    }
    if not telling:
        return None
    worst = max(telling, key=lambda column: telling[column].skill)
    order = telling[worst]
    more = f" ({columns_text([c for c in telling if c != worst])} too)" if len(telling) > 1 else ""
    return Sighting(
        "leak",
        f"Column {name(worst)} tells the label{more}: sorted by it a row has the label of the row "
        f"before it in {measured(order.agree)} of cases, by chance in "
        f"{rate_percent(order.chance)}.",
        columns=tuple(telling),
        evidence={
            column: {
                "agree": order.agree.value,
                "low": order.agree.low,
                "high": order.agree.high,
                "chance": order.chance,
                "stretches": order.runs,
            }
            for column, order in telling.items()
        },
    )


def order_of(case: Case, column: str) -> Neighbours:
    """How well the order of a column tells the labels of the training rows that have a value."""
    import polars as pl

    values, truth = case.train.frame[column], case.train.truth
    if values.null_count():
        present = values.is_not_null().to_numpy()
        values, truth = values.drop_nulls(), truth[present]
    if values.dtype == pl.String:
        values = values.rank("dense")
    return by_column(np.asarray(values.to_numpy()), truth, case.level, case.seed)


CHECK = CodedCheck(
    code="L010",
    severity="leak",
    title="an id tells the label",
    why="A model that may look at the id learns where in the file the attacks are, which is worth "
    "nothing on the next file.",
    remedy="Drop the column (--drop).",
    pitfall="P4",
    look=look,
)
