"""L006: the same group on both sides of the split."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.v02.evaluation.wording import name
from assay.v02.learn.checks.case import (
    HELD_OUT,
    TRAIN,
    Case,
    CheckedPart,
    CodedCheck,
    Sighting,
    is_or_are,
    share_text,
)
from assay.v02.learn.checks.equal_rows import EqualRows, equal_rows
from assay.v02.number_text import count, exact_percent

if TYPE_CHECKING:
    import polars as pl

_GROUP = "group"

# Rows of the same group, and which rows of each part have one.
GroupRows: TypeAlias = "tuple[EqualRows, tuple[npt.NDArray[np.bool_], ...]]"
# Numbers for the evidence, the rows that were seen, and the sentence.
Seen: TypeAlias = "tuple[dict[str, Any], npt.NDArray[np.bool_], str]"


def look(case: Case) -> Sighting | None:
    """Values of a ``--group`` column that are in both parts; a missing value is no group.

    Of one file it is told how many rows of a random split would have rows of their own group to
    learn from; that is a warning.

    >>> import polars as pl
    >>> from assay.v02.learn.checks import check
    >>> from assay.v02.learn.data import data_of
    >>> frame = pl.DataFrame({"host": ["a", "b"] * 50, "x": range(100), "label": [0, 1, 1, 0] * 25})
    >>> data = data_of(frame, label="label", keep=["host"])
    >>> findings = check(data.take(range(60)), data.take(range(60, 100)), groups=["host"])
    >>> print(findings["L006"].severity, findings["L006"].message)  # doctest: +NORMALIZE_WHITESPACE
    leak Column 'host': 2 of 2 groups of the test part are in the training part too, with 40 of 40
    test rows (100%).
    """
    sentences, evidence = [], {}
    chosen = np.zeros(len(case.last), bool)
    for column in case.groups:
        in_groups = group_rows(case, column)
        seen = _across(case, in_groups) if case.test is not None else _inside(case, in_groups)
        if seen is None:
            continue
        numbers, mask, sentence = seen
        evidence[column] = numbers
        chosen |= mask
        sentences.append(f"column {name(column)}: {sentence}")
    if not sentences:
        return None
    message = f"{'; '.join(sentences)}."
    return Sighting(
        "leak" if case.test is not None else "warning",
        message[0].upper() + message[1:],
        columns=tuple(evidence),
        rows=case.last.numbers(chosen),
        evidence=evidence,
    )


def group_rows(case: Case, column: str) -> GroupRows:
    """Rows of the same group, and which rows have one."""
    values = [values_of(case, part, column) for part in case.parts]
    return equal_rows([series.to_frame() for series in values]), tuple(
        series.is_not_null().to_numpy() for series in values
    )


def values_of(case: Case, part: CheckedPart, column: str) -> pl.Series:
    """The groups of a part as text, so that a number in one file equals it in another."""
    from assay.v02.learn.feature_values import texts_in

    return texts_in(case.group(part, column)).alias(_GROUP)


def _across(case: Case, grouped: GroupRows) -> Seen | None:
    equal, has_group = grouped
    mask = equal.also_in(-1, TRAIN) & has_group[-1]
    if not mask.any():
        return None
    groups, shared = (len(np.unique(equal.codes[-1][rows])) for rows in (has_group[-1], mask))
    rows, total = int(mask.sum()), len(case.last)
    of = (
        f"{count(shared)} of {count(groups)} groups of the test part {is_or_are(shared)} in the "
        f"training part too, with {count(rows)} of {count(total)} test rows "
        f"({share_text(rows, total)})"
    )
    numbers = {"groups": groups, "shared": shared, "test_rows": rows, "of": total}
    return numbers, mask, of


def _inside(case: Case, grouped: GroupRows) -> Seen | None:
    equal, has_group = grouped
    size = np.where(has_group[0], equal.size(0), 1)
    mask = size > 1
    if not mask.any():
        return None
    groups = len(np.unique(equal.codes[0][has_group[0]]))
    apart = case.split_apart(size)
    of = (
        f"{count(len(case.train))} rows come in {count(groups)} groups. A random split that holds "
        f"out {exact_percent(HELD_OUT)} would give {share_text(apart, 1)} of the rows that judge "
        f"other rows of their group to learn from"
    )
    return {"groups": groups, "of": len(case.train), "random_split": apart}, mask, of


CHECK = CodedCheck(
    code="L006",
    severity="leak",
    title="a group on both sides",
    why="Rows of one host, listing or campaign resemble each other. A model judged on groups that "
    "it has learned from tells nothing about a group it has not seen.",
    remedy="Split by groups, such as --validation group:host, so that each is on one side only.",
    pitfall="P3",
    look=look,
)
