"""L008: the model learns from rows that are later than those that judge it."""

from __future__ import annotations

import numpy as np

from assay.v02.evaluation.wording import name
from assay.v02.learn.checks.case import HELD_OUT, Case, CodedCheck, Sighting, share_text
from assay.v02.number_text import count, exact_percent


def look(case: Case) -> Sighting | None:
    """Training rows later than the first test row, where ``--time`` names a column.

    Of one file the moment is told at which a split by time would hold out the last 30%.

    >>> import polars as pl
    >>> from assay.v02.learn.checks import check
    >>> from assay.v02.learn.data import data_of
    >>> day = pl.Series("day", [f"2024-01-{i:02d}" for i in range(1, 11)])
    >>> frame = pl.DataFrame([day, pl.Series("x", range(10)), pl.Series("label", [0, 1] * 5)])
    >>> data = data_of(frame, label="label", time="day")
    >>> findings = check(data.take(range(0, 8)), data.take(range(6, 10)), time="day")
    >>> print(findings["L008"].severity, findings["L008"].message)  # doctest: +NORMALIZE_WHITESPACE
    leak 1 of 8 training rows (12.5%) is later than the first test row, of 2024-01-07 00:00:00; 1 of
    4 test rows (25%) is earlier than the last training row.
    """
    if case.time is None or case.train.data.time is None:
        return None
    times = case.train.data.time
    if case.test is None:
        return _of_one(case, times)
    judged = case.test.data.time
    if judged is None:
        return None
    later, earlier = times > judged.min(), judged < times.max()
    if not later.any():
        return None
    late, early = int(later.sum()), int(earlier.sum())
    return Sighting(
        "leak",
        f"{count(late)} of {count(len(times))} training rows ({share_text(late, len(times))}) "
        f"{'is' if late == 1 else 'are'} later than the first test row, of "
        f"{_moment(judged.min())}; "
        f"{count(early)} of {count(len(judged))} test rows ({share_text(early, len(judged))}) "
        f"{'is' if early == 1 else 'are'} earlier than the last training row.",
        columns=(case.time,),
        rows=case.test.numbers(earlier),
        evidence={
            "training_rows": late,
            "test_rows": early,
            "first_test": _moment(judged.min()),
            "last_training": _moment(times.max()),
        },
    )


def _of_one(case: Case, times: np.ndarray) -> Sighting | None:
    if times.min() == times.max():
        return None
    ordered = np.sort(times)
    cut = ordered[int(len(ordered) * (1 - HELD_OUT))]
    return Sighting(
        "info",
        f"Rows run from {_moment(ordered[0])} to {_moment(ordered[-1])}: a random split learns "
        f"from rows that are later than those that judge. By column {name(case.time or '')} the "
        f"last {exact_percent(HELD_OUT)} begin at {_moment(cut)}.",
        columns=(case.time or "",),
        evidence={
            "first": _moment(ordered[0]),
            "last": _moment(ordered[-1]),
            "cut": _moment(cut),
        },
    )


def _moment(moment: np.datetime64) -> str:
    text = str(moment).replace("T", " ")
    return text.removesuffix(".000000")


CHECK = CodedCheck(
    code="L008",
    severity="leak",
    title="training rows later than test rows",
    why="In deployment nobody learns from the future. A model that has seen tomorrow's attacks is "
    "judged on yesterday's.",
    remedy="Split by time, such as --validation time:COL@DATE: learn from what was before, judge "
    "by what came after.",
    pitfall="P3",
    look=look,
)
