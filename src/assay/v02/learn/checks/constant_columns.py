"""L015: columns with one value."""

from __future__ import annotations

from assay.v02.learn.checks.case import Case, CodedCheck, Sighting, columns_text


def look(case: Case) -> Sighting | None:
    """Features that have one value, or none, in all training rows.

    >>> import polars as pl
    >>> from assay.v02.learn.checks import check
    >>> from assay.v02.learn.data import data_of
    >>> frame = pl.DataFrame({"flag": [0] * 6, "x": range(6), "label": [0, 1] * 3})
    >>> print(check(data_of(frame, label="label"))["L015"].message)
    Nothing can be learned from column 'flag', which has one value in the training part.
    """
    constant = [column for column, facts in case.facts.items() if facts.constant]
    if not constant:
        return None
    have = "which has" if len(constant) == 1 else "which have"
    return Sighting(
        "info",
        f"Nothing can be learned from {columns_text(constant)}, {have} one value in the training "
        f"part.",
        columns=tuple(constant),
        evidence={"columns": len(constant), "of": len(case.facts)},
    )


CHECK = CodedCheck(
    code="L015",
    severity="info",
    title="constant columns",
    why="A column with one value tells nothing, and many of them hint at a sample from one place.",
    remedy="Leave them out, or find out why they never change.",
    pitfall="P4",
    look=look,
)
