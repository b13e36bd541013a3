"""L020: always saying the commonest label is right nearly always."""

from __future__ import annotations

import numpy as np

from assay.v02.evaluation.wording import name
from assay.v02.learn.checks.case import Case, CodedCheck, Sighting
from assay.v02.number_text import rate_percent, significant

LOPSIDED = 0.9


def look(case: Case) -> Sighting | None:
    """A label that at least nine of ten judged rows have.

    >>> import polars as pl
    >>> from assay.v02.learn.checks import check
    >>> from assay.v02.learn.data import data_of
    >>> data = data_of(pl.DataFrame({"x": range(90), "label": [1] * 5 + [0] * 85}), label="label")
    >>> finding = check(data)["L020"]
    >>> print(finding.message)  # doctest: +NORMALIZE_WHITESPACE
    94.4% of the rows are '0', so that saying '0' always has an accuracy of 0.944: accuracy says
    little here.
    """
    often = np.bincount(case.last.truth, minlength=len(case.labels))
    most = int(often.argmax())
    share = float(often[most] / often.sum())
    if not LOPSIDED <= share < 1:
        return None
    label, part = name(case.labels[most]), "" if case.test is None else "test "
    return Sighting(
        "info",
        f"{rate_percent(share)} of the {part}rows are {label}, so that saying {label} always has "
        f"an accuracy of {significant(share)}: accuracy says little here.",
        evidence={"label": case.labels[most], "share": share},
    )


CHECK = CodedCheck(
    code="L020",
    severity="info",
    title="accuracy flatters",
    why="Where one label is nearly everywhere, a model that finds no attack at all has a high "
    "accuracy.",
    remedy="Quote detection rate and false alarm rate, or average precision, with their intervals.",
    pitfall="P7",
    look=look,
)
