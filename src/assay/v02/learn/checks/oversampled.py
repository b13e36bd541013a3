"""L013: rows of a class were copied before the split."""

from __future__ import annotations

import numpy as np

from assay.v02.evaluation.wording import name
from assay.v02.learn.checks.case import TEST, TRAIN, Case, CodedCheck, Sighting, share_text
from assay.v02.number_text import count, significant

# Copies for each row that differs, of the class itself and over those of any other class.
OFTEN = 1.5
FEWEST = 10
# Rows drawn with replacement spread like Poisson's; floods of one row spread far more.
EVEN = 3.0


def look(case: Case) -> Sighting | None:
    """A class whose rows come in copies, evenly spread, while the rows of other classes do not.

    Drawing a class again with replacement leaves such copies; natural floods leave a few rows with
    very many. Copies in the training part alone are an info, those of one file a warning.

    >>> import polars as pl
    >>> from assay.v02.learn.checks import check
    >>> from assay.v02.learn.data import data_of
    >>> few = pl.DataFrame({"x": [i * 0.37 for i in range(20)] * 4, "label": ["attack"] * 80})
    >>> many = pl.DataFrame({"x": [i * 0.11 + 9 for i in range(80)], "label": ["normal"] * 80})
    >>> finding = check(data_of(pl.concat([few, many]), label="label"))["L013"]
    >>> print(finding.severity, finding.message)  # doctest: +NORMALIZE_WHITESPACE
    warning 80 rows are 'attack' and 20 of them differ, each there 4 times on average, while rows of
    other labels come 1 time: this class looks copied to balance the file. Split first, and copy in
    the training part only.
    """
    total = case.equal.total
    codes = np.concatenate(case.equal.codes)
    label = np.zeros(len(total), np.int64)
    label[codes] = np.concatenate([part.truth for part in case.parts])
    present = total > 0
    rows = np.bincount(label[present], total[present], minlength=len(case.labels))
    distinct = np.bincount(label[present], minlength=len(case.labels))
    for i in np.argsort(distinct, kind="stable"):
        if _is_oversampled(i, rows, distinct, total[present & (label == i)]):
            return _sighting(case, int(i), rows, distinct)
    return None


def _is_oversampled(i: int, rows: np.ndarray, distinct: np.ndarray, often: np.ndarray) -> bool:
    others = np.delete(np.arange(len(rows)), i)
    others = others[distinct[others] > 0]
    if not len(others) or distinct[i] < FEWEST or rows[i] - distinct[i] < FEWEST:
        return False
    copies = rows[i] / distinct[i]
    elsewhere = (rows[others] / distinct[others]).max()
    spread = float(often.var()) <= EVEN * max(float(often.mean()) - 1, 1)
    smaller = distinct[i] < distinct[others].max()
    return bool(copies >= OFTEN and copies >= OFTEN * elsewhere and spread and smaller)


def _sighting(case: Case, i: int, rows: np.ndarray, distinct: np.ndarray) -> Sighting:
    others = [j for j in range(len(rows)) if j != i and distinct[j]]
    copies, elsewhere = rows[i] / distinct[i], max(rows[j] / distinct[j] for j in others)
    message = (
        f"{count(int(rows[i]))} rows are {name(case.labels[i])} and {count(int(distinct[i]))} of "
        f"them differ, each there {_times(copies)} on average, while rows of other labels come "
        f"{_times(elsewhere)}: this class looks copied to balance the file."
    )
    evidence = {
        "label": case.labels[i],
        "rows": int(rows[i]),
        "distinct": int(distinct[i]),
        "copies": float(copies),
        "copies_of_others": float(elsewhere),
    }
    if case.test is None:
        repeats = case.equal.repeats(TRAIN) & (case.train.truth == i)
        message += " Split first, and copy in the training part only."
        return Sighting("warning", message, rows=case.train.numbers(repeats), evidence=evidence)
    mask = case.equal.also_in(TEST, TRAIN) & (case.test.truth == i)
    number, of = int(mask.sum()), int(np.count_nonzero(case.test.truth == i))
    evidence["test_rows"] = number
    if not number:
        message += " The copies are in one part, as they should be."
        return Sighting("info", message, evidence=evidence)
    message += (
        f" {count(number)} of its {count(of)} test rows ({share_text(number, of)}) have a copy in "
        f"the training part."
    )
    return Sighting("leak", message, rows=case.test.numbers(mask), evidence=evidence)


def _times(number: float) -> str:
    return f"{significant(number)} time{'' if f'{significant(number)}' == '1' else 's'}"


CHECK = CodedCheck(
    code="L013",
    severity="leak",
    title="oversampled before the split",
    why="Copies of rare rows that are made before the split land on both sides, and the model is "
    "judged on what it has learned by heart.",
    remedy="Split first. Copy rows, or weigh classes, in the training part only.",
    pitfall="P3",
    look=look,
)
