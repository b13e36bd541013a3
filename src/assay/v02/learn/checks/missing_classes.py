"""L019: a class that only one of the parts has."""

from __future__ import annotations

import numpy as np

from assay.v02.evaluation.wording import name, some
from assay.v02.learn.checks.case import Case, CodedCheck, Sighting
from assay.v02.number_text import count


def look(case: Case) -> Sighting | None:
    """Labels of the test part that the training part does not have, and the other way round.

    >>> import polars as pl
    >>> from assay.v02.learn.checks import check
    >>> from assay.v02.learn.data import data_of
    >>> train = pl.DataFrame({"x": range(6), "label": ["a", "b", "c"] * 2})
    >>> test = pl.DataFrame({"x": range(6, 12), "label": ["a", "b", "d"] * 2})
    >>> print(check(data_of(train, label="label"), data_of(test, label="label"))["L019"].message)
    No training row is 'd' (2 test rows), and no test row is 'c'.
    """
    if case.test is None:
        return None
    learned, judged = (np.bincount(part.truth, minlength=len(case.labels)) for part in case.parts)
    new = [i for i in range(len(case.labels)) if judged[i] and not learned[i]]
    only_learned = [i for i in range(len(case.labels)) if learned[i] and not judged[i]]
    clauses = []
    if new:
        rows = int(judged[new].sum())
        of = f"{count(rows)} test row{'' if rows == 1 else 's'}"
        clauses.append(f"no training row is {some([name(case.labels[i]) for i in new])} ({of})")
    if only_learned:
        clauses.append(f"no test row is {some([name(case.labels[i]) for i in only_learned])}")
    if not clauses:
        return None
    text = f"{', and '.join(clauses)}."
    return Sighting(
        "warning",
        text[0].upper() + text[1:],
        rows=case.test.numbers(np.isin(case.test.truth, new)),
        evidence={
            "only_in_test": {case.labels[i]: int(judged[i]) for i in new},
            "only_in_training": {case.labels[i]: int(learned[i]) for i in only_learned},
        },
    )


CHECK = CodedCheck(
    code="L019",
    severity="warning",
    title="a class that only one part has",
    why="A class that was never learned can't be named, and one that is never judged is not in any "
    "average.",
    remedy="Split so that both parts have all classes, or judge unknown ones by themselves.",
    pitfall="P1",
    look=look,
)
