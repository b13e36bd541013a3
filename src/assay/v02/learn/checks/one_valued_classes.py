"""L016: a class in which a column never changes."""

from __future__ import annotations

import numpy as np

from assay.v02.evaluation.wording import name, some
from assay.v02.learn.checks.case import Case, CodedCheck, Sighting
from assay.v02.number_text import rate_percent

# Below this many rows a class may well have one value by chance.
FEWEST_ROWS = 30
# How common its value may be elsewhere.
RARE = 0.5


def look(case: Case) -> Sighting | None:
    """Columns with one value in all rows of a class that most other rows do not have.

    Also a file whose rows all have one label.

    >>> import polars as pl
    >>> from assay.v02.learn.checks import check
    >>> from assay.v02.learn.data import data_of
    >>> frame = pl.DataFrame(
    ...     {"ttl": [64] * 40 + [32, 64, 128, 255] * 10, "label": [1] * 40 + [0] * 40}
    ... )
    >>> finding = check(data_of(frame, label="label"))["L016"]
    >>> print(finding.message)  # doctest: +NORMALIZE_WHITESPACE
    Columns that never change within a class: 'ttl' in '1', with a value that 25% of the other rows
    have.
    """
    classes = np.unique(np.concatenate([part.truth for part in case.parts]))
    if len(classes) == 1:
        return Sighting(
            "warning",
            f"All rows are {name(case.labels[classes[0]])}: nothing can be learned or judged.",
            evidence={"label": case.labels[classes[0]]},
        )
    pairs = _found(case)
    if not pairs:
        return None
    columns = [
        f"{name(column)} in {name(label)}, with a value that {rate_percent(share)} of the "
        f"other rows have"
        for column, label, share in pairs
    ]
    return Sighting(
        "info",
        f"Columns that never change within a class: {some(columns)}.",
        columns=tuple(dict.fromkeys(column for column, _, _ in pairs)),
        evidence={
            "found": [
                {"column": column, "label": label, "elsewhere": share}
                for column, label, share in pairs
            ]
        },
    )


def _found(case: Case) -> list[tuple[str, str, float]]:
    """Column, class, and how many of the other rows have its value; the rarest first."""
    truth = case.train.truth
    often = np.bincount(truth, minlength=len(case.labels))
    large = [i for i in range(len(often)) if FEWEST_ROWS <= often[i] < len(truth)]
    pairs = []
    for values in case.train.frame.get_columns():
        if case.facts[values.name].constant:
            continue
        codes = values.hash().to_numpy()
        for i in large:
            inside = truth == i
            value = codes[int(np.argmax(inside))]
            same = codes == value
            if not same[inside].all():
                continue
            elsewhere = float((same & ~inside).sum() / (len(truth) - often[i]))
            if elsewhere < RARE:
                pairs.append((values.name, case.labels[i], elsewhere))
    return sorted(pairs, key=lambda each: each[2])


CHECK = CodedCheck(
    code="L016",
    severity="warning",
    title="one-valued classes",
    why="Attacks that were all made with one tool share its traces. A model finds the tool, not "
    "the attack.",
    remedy="Ask whether the value belongs to the attack or to how it was made; drop the column "
    "where it is the latter.",
    pitfall="P4",
    look=look,
)
