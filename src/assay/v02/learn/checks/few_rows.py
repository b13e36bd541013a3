"""L018: too few rows of a class."""

from __future__ import annotations

import numpy as np

from assay.v02.evaluation.wording import name, some
from assay.v02.learn.checks.case import HELD_OUT, Case, CodedCheck, Sighting
from assay.v02.number_text import count, exact_percent, significant

# Below this many rows a share moves by more than three points with a single row.
FEWEST = 30


def look(case: Case) -> Sighting | None:
    """Classes with fewer than 30 rows to judge by: in the test part, or in 30% of the one file.

    >>> import polars as pl
    >>> from assay.v02.learn.checks import check
    >>> from assay.v02.learn.data import data_of
    >>> frame = pl.DataFrame({"x": range(200), "label": [1] * 20 + [0] * 180})
    >>> finding = check(data_of(frame, label="label"))["L018"]
    >>> print(finding.message)  # doctest: +NORMALIZE_WHITESPACE
    Few rows are '1' (20): a split that holds out 30% judges it by 6, and the interval of its
    detection rate is up to 0.6 wide.
    """
    rows = np.bincount(case.last.truth, minlength=len(case.labels))
    judged = rows if case.test is not None else np.floor(HELD_OUT * rows).astype(np.int64)
    rare = [i for i in range(len(rows)) if rows[i] > 0 and judged[i] < FEWEST]
    if not rare:
        return None
    rare.sort(key=lambda i: int(rows[i]))
    shown = some([f"{name(case.labels[i])} ({count(int(rows[i]))})" for i in rare])
    width = _width(int(judged[rare[0]]), case.level)
    wide = (
        f"the interval of {'its' if len(rare) == 1 else 'a'} detection rate is up to "
        f"{significant(width, 1)}"
    )
    split = ""
    if case.test is None:
        by = count(int(judged[rare[0]]))
        subject = "it" if len(rare) == 1 else "the first"
        split = f"a split that holds out {exact_percent(HELD_OUT)} judges {subject} by {by}, and "
    of = "test rows" if case.test is not None else "rows"
    return Sighting(
        "warning",
        f"Few {of} are {shown}: {split}{wide} wide.",
        evidence={case.labels[i]: {"rows": int(rows[i]), "judged": int(judged[i])} for i in rare},
    )


def _width(n: int, level: float) -> float:
    """How wide Wilson's interval is where half of the rows are found."""
    from assay.v02.inference import Wilson

    if not n:
        return 1.0
    low, high = Wilson(level)(n / 2, n)
    return float(high - low)


CHECK = CodedCheck(
    code="L018",
    severity="warning",
    title="too few rows of a class",
    why="A detection rate is a share of the rows of its class alone. However large the file is, a "
    "handful of attacks can't tell 80% from 95%.",
    remedy="Label more rows of that class (assay plan tells how many), use cross-validation, and "
    "quote the interval.",
    pitfall="P1",
    look=look,
)
