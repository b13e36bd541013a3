"""L007: families that only the test part has, and families on both sides."""

from __future__ import annotations

import numpy as np

from assay.v02.evaluation.wording import name, some
from assay.v02.learn.checks.case import Case, CodedCheck, Sighting, is_or_are, share_text
from assay.v02.number_text import count


def look(case: Case) -> Sighting | None:
    """Families of the test part, those that no training row has and those that are on both sides.

    Families on both sides are normal, but tell nothing of unknown attacks; one that is new does,
    and should be read by itself. To forbid a family on both sides, name it as a ``--group``.

    >>> import polars as pl
    >>> from assay.v02.learn.checks import check
    >>> from assay.v02.learn.data import data_of
    >>> train = pl.DataFrame({"x": range(4), "label": ["normal", "dos", "normal", "dos"]})
    >>> test = pl.DataFrame({"x": range(9, 13), "label": ["normal", "dos", "scan", "scan"]})
    >>> parts = [data_of(frame, label="label", negative="normal") for frame in (train, test)]
    >>> finding = check(*parts)["L007"]
    >>> print(finding.message)  # doctest: +NORMALIZE_WHITESPACE
    1 of 2 families of the test part is not in the training part: 'scan', 2 of 4 test rows (50%). 1
    is on both sides.
    """
    if case.test is None:
        return None
    learned, judged = case.train.data.family, case.test.data.family
    if learned is None or judged is None:
        return None
    seen = {learned.names[code] for code in np.unique(learned.codes)}
    codes = judged.codes
    if case.positive is not None:
        # What is normal is no family of attacks.
        codes = codes[case.test.truth == 1]
    often = np.bincount(codes, minlength=len(judged.names))
    present = [i for i in range(len(often)) if often[i]]
    new = [i for i in present if judged.names[i] not in seen]
    if not present:
        return None
    rows, total, both = int(often[new].sum()), len(case.test), len(present) - len(new)
    if new:
        named = [name(judged.names[i]) for i in sorted(new, key=lambda i: -int(often[i]))]
        message = (
            f"{count(len(new))} of {count(len(present))} families of the test part "
            f"{is_or_are(len(new))} not in the training part: {some(named)}, {count(rows)} of "
            f"{count(total)} test rows ({share_text(rows, total)}). "
            f"{count(both)} {is_or_are(both)} on both sides."
        )
    else:
        every = "The one family" if both == 1 else f"All {count(both)} families"
        message = (
            f"{every} of the test part {is_or_are(both)} in the training part too: nothing is told "
            f"of how well unknown ones are found."
        )
    mask = np.isin(judged.codes, new)
    return Sighting(
        "info",
        message,
        rows=case.test.numbers(mask),
        evidence={
            "families": {judged.names[i]: int(often[i]) for i in new},
            "both": {judged.names[i]: int(often[i]) for i in present if i not in new},
            "of": total,
        },
    )


CHECK = CodedCheck(
    code="L007",
    severity="info",
    title="known and unknown families",
    why="A detection rate over known and unknown families together describes neither.",
    remedy="Report families apart (--family), and how well unknown ones are found by itself.",
    pitfall="P1",
    look=look,
)
