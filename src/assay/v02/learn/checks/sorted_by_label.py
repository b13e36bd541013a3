"""L009: the order of the rows gives the labels away."""

from __future__ import annotations

from assay.v02.learn.checks.case import Case, CodedCheck, Sighting
from assay.v02.learn.checks.columns import neighbours
from assay.v02.number_text import count, measured, rate_percent


def look(case: Case) -> Sighting | None:
    """Rows that have the label of the row before them far more often than chance has it.

    >>> import polars as pl
    >>> from assay.v02.learn.checks import check
    >>> from assay.v02.learn.data import data_of
    >>> frame = pl.DataFrame({"x": [i * 7 % 11 for i in range(60)], "label": [0] * 30 + [1] * 30})
    >>> finding = check(data_of(frame, label="label"))["L009"]
    >>> print(finding.message)  # doctest: +NORMALIZE_WHITESPACE
    The rows are sorted by label: 2 stretches of one label in 60 rows. A row has the label of the
    row before it in 0.983 [0.910, 0.997] of cases, by chance in 49.2%.
    """
    agreement = neighbours(case.train.truth, case.level)
    if not agreement.telling:
        return None
    sorted_whole = agreement.runs <= len(case.labels)
    order = "are sorted by label" if sorted_whole else "come in stretches of one label"
    number = f"{count(agreement.runs)} stretches of one label in {count(len(case.train))} rows"
    return Sighting(
        "warning",
        f"The rows {order}: {number}. A row has the label of the row before it in "
        f"{measured(agreement.agree)} of cases, by chance in {rate_percent(agreement.chance)}.",
        evidence={
            "stretches": agreement.runs,
            "agree": agreement.agree.value,
            "low": agreement.agree.low,
            "high": agreement.agree.high,
            "chance": agreement.chance,
        },
    )


CHECK = CodedCheck(
    code="L009",
    severity="warning",
    title="the row number tells the label",
    why="Whatever follows the row number, such as an id, a time or a counter, tells the label too. "
    "A split by position gives each side another mixture, and folds that are not shuffled may "
    "hold one class only.",
    remedy="Shuffle before the split, and drop columns that follow the row number.",
    pitfall="P4",
    look=look,
)
