"""L014: rows of a class lie on lines between others, as SMOTE makes them."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.v02.evaluation.wording import name
from assay.v02.learn.checks.case import TRAIN, Case, CodedCheck, Sighting
from assay.v02.number_text import rate_percent

Floats: TypeAlias = npt.NDArray[np.float64]
Array: TypeAlias = npt.NDArray[Any]

ASKED = 100  # rows of a class whose neighbours are looked at
NEAREST = 30
# Two directions are one to so much; numbers may have been written with seven digits.
STRAIGHT = 1e-6
# In two columns rows lie on a line by chance but for the last digits.
STRAIGHT_OF_TWO = 1e-12
FEWEST_COLUMNS, CHANGING, FEWEST_VALUES, FEWEST_ROWS = 2, 3, 20, 30
MANY, FEW = 0.3, 0.05
MOST_CLASSES = 10
LARGE = 1e100  # what can't be squared is left out
_CHUNK = 1 << 14
_ROWS = 256
# To look at every row of a class takes its square.
MOST_ROWS = 20_000


def look(case: Case) -> Sighting | None:
    """A class many of whose rows lie on a straight line with two near rows of their class.

    In three or more columns that does not happen by chance, in two where all digits are there.
    Other classes must not have it, since rows on a grid do. Of the test part it is a leak where the
    line runs through training rows.

    >>> import numpy as np, polars as pl
    >>> from assay.v02.learn.checks import check
    >>> from assay.v02.learn.data import data_of
    >>> draw = np.random.default_rng(1)
    >>> many, few = draw.normal(size=(200, 4)), draw.normal(size=(60, 4))
    >>> ends, along = draw.integers(0, 60, (2, 140)), draw.uniform(size=(140, 1))
    >>> made = few[ends[0]] + along * (few[ends[1]] - few[ends[0]])
    >>> frame = pl.DataFrame(np.concatenate([many, few, made]), schema=list("abcd"))
    >>> frame = frame.with_columns(label=pl.Series(["normal"] * 200 + ["attack"] * 200))
    >>> check(data_of(frame, label="label"))["L014"].severity
    'warning'
    """
    columns = _columns(case)
    if len(columns) < FEWEST_COLUMNS:
        return None
    lines = [_numbers(case, part, columns) for part in range(len(case.parts))]
    integral = np.array([case.facts[column].whole for column in columns])
    shares = _shares(case, lines, integral, judged=-1)
    if case.test is not None and _worst_class(shares) is None:
        # Made from training rows alone, as it should be: still to be known.
        most = _worst_class(_shares(case, lines, integral, judged=TRAIN))
        return None if most is None else _sighting(case, most, "info")
    most = _worst_class(shares)
    if most is None:
        return None
    return _sighting(case, most, "warning" if case.test is None else "leak")


def made_up(case: Case, label: int) -> tuple[Array, ...] | None:
    """For each part the rows of a class that lie between two others; None where they are too many.

    A row that was made lies between those that it was made of; these lie at the ends.
    """
    columns = _columns(case)
    integral = np.array([case.facts[column].whole for column in columns])
    numbers = np.concatenate([_numbers(case, part, columns) for part in range(len(case.parts))])
    truth = np.concatenate([part.truth for part in case.parts])
    at = np.flatnonzero((truth == label) & np.isfinite(numbers).all(axis=1))
    if len(at) > MOST_ROWS:
        return None
    rows, synthetic = numbers[at], np.zeros(len(truth), bool)
    for start in range(0, len(at), _ROWS):
        block = rows[start : start + _ROWS]
        neighbours = nearest(block, rows, NEAREST + 1)
        synthetic[at[start : start + _ROWS]] = on_lines(
            block, rows[neighbours], integral, between=True
        )
    ends = np.cumsum([len(part) for part in case.parts])[:-1]
    return tuple(np.split(synthetic, ends))


def _sighting(case: Case, most: tuple[int, float], severity: Any) -> Sighting:
    label, share = case.labels[most[0]], most[1]
    where = {
        "leak": "test rows lie on straight lines between training rows",
        "warning": "rows lie on straight lines between other rows",
        "info": "training rows lie on straight lines between other training rows",
    }[severity]
    after = {
        "leak": "made before the split, from rows on both sides",
        "warning": "made, as by SMOTE; a random split would part them from what they were made of",
        "info": "made, as by SMOTE, in the training part only, as it should be",
    }[severity]
    return Sighting(
        severity,
        f"Of the class {name(label)} about {rate_percent(share)} of the {where}: they look "
        f"{after}.",
        evidence={"label": label, "share": share, "asked": ASKED},
    )


def _worst_class(shares: dict[int, float]) -> tuple[int, float] | None:
    """The class with the most such rows, where another one has next to none."""
    if len(shares) < 2:
        return None
    label = max(shares, key=lambda each: shares[each])
    if shares[label] < MANY or min(shares.values()) > FEW:
        return None
    return label, shares[label]


def _columns(case: Case) -> list[str]:
    return [
        name
        for name, facts in case.facts.items()
        if facts.number
        and facts.distinct >= FEWEST_VALUES
        and max(-facts.low, facts.high) < LARGE
        and name not in case.identifiers
    ]


def _numbers(case: Case, part: int, columns: list[str]) -> Floats:
    """The columns on one scale; straight lines stay straight."""
    frame = case.parts[part].frame.select(columns)
    scale = [case.train.frame[name].std() for name in columns]
    numbers = frame.to_numpy().astype(np.float64, copy=False)
    with np.errstate(all="ignore"):
        return np.asarray(numbers / np.array([each or 1.0 for each in scale], np.float64))


def _shares(case: Case, lines: list[Floats], whole: Array, *, judged: int) -> dict[int, float]:
    """For each of the largest classes, how many rows lie on a line between training rows."""
    generator = np.random.default_rng(case.seed)
    train_truth, asked = case.train.truth, case.parts[judged].truth
    same = len(lines) == 1 or judged == TRAIN
    often = np.bincount(train_truth, minlength=len(case.labels))
    shares = {}
    for label in np.argsort(-often, kind="stable")[:MOST_CLASSES]:
        rows, others = lines[judged][asked == label], lines[TRAIN][train_truth == label]
        rows, others = (each[np.isfinite(each).all(axis=1)] for each in (rows, others))
        if min(len(rows), len(others)) < FEWEST_ROWS:
            continue
        at = generator.permutation(len(rows))[:ASKED]
        neighbours = nearest(rows[at], others, NEAREST + same)
        shares[int(label)] = float(on_lines(rows[at], others[neighbours], whole).mean())
    return shares


def nearest(rows: Floats, others: Floats, number: int) -> Array:
    """For each row the positions of its nearest others."""
    best, which = [], []
    for start in range(0, len(others), _CHUNK):
        chunk = others[start : start + _CHUNK]
        # Less the square of the row itself, which does not change the order.
        far = np.square(chunk).sum(axis=1) - 2 * rows @ chunk.T
        at = _smallest(far, number)
        best.append(np.take_along_axis(far, at, axis=1))
        which.append(start + at)
    neighbours = np.concatenate(which, axis=1)
    at = _smallest(np.concatenate(best, axis=1), number)
    return np.asarray(np.take_along_axis(neighbours, at, axis=1))


def _smallest(values: Floats, number: int) -> Array:
    """The positions of the smallest values of each row."""
    if number >= values.shape[1]:
        return np.broadcast_to(np.arange(values.shape[1]), values.shape)
    return np.argpartition(values, number - 1, axis=1)[:, :number]


def on_lines(
    rows: Floats, others: Floats, whole: Array | None = None, *, between: bool = False
) -> Array:
    """For each row, whether it lies on one straight line with two of its own others, or between.

    Along the line three columns have to change at least, or both of two, and none that holds
    ``whole`` numbers: between whole numbers lie broken ones.

    >>> import numpy as np
    >>> ends = np.array([[0.0, 0.0, 0.0], [1.0, 2.0, 3.0], [1.0, 0.0, 5.0]])
    >>> rows = np.array([[0.5, 1.0, 1.5], [0.5, 1.0, 1.6]])
    >>> on_lines(rows, np.stack([ends, ends])).tolist()
    [True, False]
    """
    narrow = rows.shape[1] < CHANGING
    close, least = (STRAIGHT_OF_TWO, 2) if narrow else (STRAIGHT, CHANGING)
    away = others - rows[:, None]
    length = np.sqrt(np.square(away).sum(axis=2))
    changes = np.abs(away) > STRAIGHT * length[:, :, None]
    made = (length > STRAIGHT) & (changes.sum(axis=2) >= least)
    if whole is not None:
        made &= ~changes[:, :, whole].any(axis=2)
    away = np.where(made[:, :, None], away / np.maximum(length, STRAIGHT)[:, :, None], 0.0)
    angles = np.matmul(away, away.transpose(0, 2, 1))
    # Copies of one point lie in one direction and equally far.
    longer = np.maximum(length[:, :, None], length[:, None])
    apart = np.abs(length[:, :, None] - length[:, None]) > STRAIGHT * longer
    straight = angles < close - 1
    if not between:
        straight |= (angles > 1 - close) & apart
    return np.asarray(straight.any(axis=(1, 2)))


CHECK = CodedCheck(
    code="L014",
    severity="leak",
    title="made-up rows before the split",
    why="SMOTE makes rows between others. Made before the split, test rows are mixtures of "
    "training rows, and a model is judged on what it was given.",
    remedy="Split first, and make rows in the training part only; judge by real rows alone.",
    pitfall="P3",
    look=look,
)
