"""L007: families that only the test part has."""

from __future__ import annotations

import numpy as np

from assay.evaluation.words import count, name, some
from assay.learn.checks.case import Case
from assay.learn.checks.finding import CodedCheck, Seen
from assay.learn.checks.words import share


def look(case: Case) -> Seen | None:
    """Families of the test part that no training row has.

    Families on both sides are normal. One that is new tells how well unknown attacks are found, and
    should be read by itself.

    >>> import polars as pl
    >>> from assay.learn.checks import check
    >>> from assay.learn.data import data_of
    >>> train = pl.DataFrame({"x": range(4), "label": ["normal", "dos", "normal", "dos"]})
    >>> test = pl.DataFrame({"x": range(9, 13), "label": ["normal", "dos", "scan", "scan"]})
    >>> parts = [data_of(frame, label="label", negative="normal") for frame in (train, test)]
    >>> found = check(*parts)["L007"]
    >>> print(found.message)  # doctest: +NORMALIZE_WHITESPACE
    1 of 3 families of the test part is not in the training part: 'scan', 2 of 4 test rows (50%).
    """
    if case.test is None:
        return None
    known, judged = case.train.data.family, case.test.data.family
    if known is None or judged is None:
        return None
    seen = {known.names[code] for code in np.unique(known.codes)}
    often = np.bincount(judged.codes, minlength=len(judged.names))
    new = [i for i, family in enumerate(judged.names) if often[i] and family not in seen]
    if not new:
        return None
    rows, total = int(often[new].sum()), len(case.test)
    named = [name(judged.names[i]) for i in sorted(new, key=lambda i: -int(often[i]))]
    return Seen(
        "info",
        f"{count(len(new))} of {count(int(np.count_nonzero(often)))} families of the test part "
        f"{'is' if len(new) == 1 else 'are'} not in the training part: {some(named)}, "
        f"{count(rows)} of {count(total)} test rows ({share(rows, total)}).",
        rows=case.test.numbers(np.isin(judged.codes, new)),
        evidence={"families": {judged.names[i]: int(often[i]) for i in new}, "of": total},
    )


CHECK = CodedCheck(
    code="L007",
    severity="info",
    title="families that only the test part has",
    why="A detection rate over known and unknown families together describes neither.",
    remedy="Report families apart (--family), and how well unknown ones are found by itself.",
    pitfall="P1",
    look=look,
)
