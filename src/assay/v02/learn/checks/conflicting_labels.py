"""L005: the same features with different labels."""

from __future__ import annotations

import numpy as np

from assay.v02.escaping import plural
from assay.v02.learn.checks.case import Case, CodedCheck, Sighting, share_text
from assay.v02.number_text import count


def look(case: Case) -> Sighting | None:
    """Rows that equal another one in every feature and have another label, in either part.

    The best that any model of these columns can do is to give each kind of row its commonest label.

    >>> import polars as pl
    >>> from assay.v02.learn.checks import check
    >>> from assay.v02.learn.data import data_of
    >>> frame = pl.DataFrame({"size": [64, 64, 64, 1500], "label": [0, 0, 1, 1]})
    >>> finding = check(data_of(frame, label="label"))["L005"]
    >>> print(finding.message)  # doctest: +NORMALIZE_WHITESPACE
    3 of 4 rows (75%) share their features with a row of another label: no model of these columns
    can be right on more than 75% of all rows.
    """
    alike = case.alike
    codes = np.concatenate(alike.codes)
    truth = np.concatenate([part.truth for part in case.parts])
    size, classes = len(alike.total), len(case.labels)
    # Labels of one kind of row lie side by side once sorted.
    pairs, often = np.unique(codes.astype(np.int64) * classes + truth, return_counts=True)
    kind = pairs // classes
    mixed = np.bincount(kind, minlength=size) > 1
    if not mixed.any():
        return None
    most = np.zeros(size, np.int64)
    np.maximum.at(most, kind, often)
    number, total = int(alike.total[mixed].sum()), len(codes)
    best = int(most.sum())
    conflicting = mixed[alike.codes[-1]]
    chance = alike.must_repeat
    message = (
        f"{count(number)} of {count(total)} rows ({share_text(number, total)}) "
        f"{plural(number, 'shares its', 'share their')} "
        f"features with a row of another label: no model of these columns can be right on more "
        f"than {share_text(best, total)} of all rows."
    )
    evidence = {"rows": number, "of": total, "kinds": int(mixed.sum()), "ceiling": best / total}
    numbers = case.last.numbers(np.asarray(conflicting))
    return Sighting("info" if chance else "warning", message, rows=numbers, evidence=evidence)


CHECK = CodedCheck(
    code="L005",
    severity="warning",
    title="same features, different labels",
    why="Either labels are wrong, or the columns can't tell these rows apart. Both bound what any "
    "model can reach, and a model that does better has seen the answers.",
    remedy="Look at the rows and mend the labels, or add the column that tells them apart. Quote "
    "the ceiling beside the result.",
    pitfall="P2",
    look=look,
)
