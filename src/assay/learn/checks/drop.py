"""How much a measure drops from one judging to another, with its interval."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import MethodError
from assay.inference import Bootstrap, Estimate, Quantity
from assay.measures import BALANCED_ACCURACY, ROC_AUC, Measure, find

Array: TypeAlias = npt.NDArray[Any]
Floats: TypeAlias = npt.NDArray[np.float64]
Value: TypeAlias = Callable[[Floats], float]

RESAMPLES = 1000
# Of more rows fewer resamples, since each looks at all of them.
_WORK = 200_000_000
_FEWEST = 200


@dataclass(frozen=True, eq=False)
class Judging:
    """Rows that were judged, by a number that both judgings share, and what was said of them."""

    rows: Array
    truth: Array
    decisions: Array
    scores: Floats | None


def drops(
    before: Judging,
    after: Judging,
    measures: tuple[str, ...],
    *,
    clusters: Array | None = None,
    classes: int = 2,
    level: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 42,
) -> dict[str, Estimate]:
    """Each measure before less after, by resampling all rows that either judged.

    Rows that both judged are drawn together, so that the same rows make it paired, rows of which
    none is shared independent, and anything between what it is. ``clusters`` gives a group to each
    number of a row; then groups are drawn.
    """
    numbers = np.unique(np.concatenate([before.rows, after.rows]))
    units = np.arange(len(numbers))
    if clusters is not None:
        _, units = np.unique(clusters[numbers], return_inverse=True)
    size = int(units.max()) + 1
    at = [units[np.searchsorted(numbers, judging.rows)] for judging in (before, after)]
    total = len(before.rows) + len(after.rows)
    resamples = int(min(resamples, max(_FEWEST, _WORK // max(total, 1))))
    generator = np.random.default_rng(seed)
    values = {
        measure: [_value(find(measure), judging, classes) for judging in (before, after)]
        for measure in measures
    }
    drawn = {measure: np.empty(resamples) for measure in measures}
    share = np.full(size, 1 / size)
    for i in range(resamples):
        often = generator.multinomial(size, share).astype(np.float64)
        weights = [often[where] for where in at]
        for measure, (first, second) in values.items():
            drawn[measure][i] = first(weights[0]) - second(weights[1])
    whole = [np.ones(len(judging.rows)) for judging in (before, after)]
    method = Bootstrap(level=level, resamples=resamples, seed=seed)
    found = {}
    for measure, (first, second) in values.items():
        value = first(whole[0]) - second(whole[1])
        averaged = measure == BALANCED_ACCURACY.name
        if math.isnan(value) or (averaged and not _all_there(before, after, classes)):
            why = "undefined before or after"
            found[measure] = Estimate(math.nan, n=len(numbers), level=level, undefined=why)
            continue
        ends = method.ends(drawn[measure], value, None)
        found[measure] = Estimate(
            value,
            min(ends.low, value),
            max(ends.high, value),
            method="cluster bootstrap" if clusters is not None else "bootstrap",
            n=len(numbers),
            level=level,
            note=ends.note,
        )
    return found


def _all_there(before: Judging, after: Judging, classes: int) -> bool:
    """Whether each judging has rows of every class."""
    return all(len(np.unique(judging.truth)) == classes for judging in (before, after))


def _value(measure: Measure, judging: Judging, classes: int) -> Value:
    """A measure as a function of how often each row is there."""
    if measure == ROC_AUC:
        return _auc(judging)
    expression = measure.formula if classes == 2 else measure.classes
    if expression is None:
        raise MethodError(f"{measure.name} is no formula of {classes} classes")
    quantity = Quantity(expression, label=1 if classes == 2 else None)
    cells = judging.truth * classes + judging.decisions

    def value(weights: Floats) -> float:
        sums = np.bincount(cells, weights, minlength=classes * classes).astype(np.float64)
        table = sums.reshape(classes, classes)
        if measure == BALANCED_ACCURACY:
            # A class that a resample does not have has no recall in it.
            with np.errstate(all="ignore"):
                return float(np.nanmean(np.diag(table) / table.sum(axis=1)))
        return float(quantity.of_tables(table[None])[0])

    return value


def _auc(judging: Judging) -> Value:
    assert judging.scores is not None  # noqa: S101 - asked of two classes alone
    order = np.argsort(judging.scores, kind="stable")
    ordered = judging.scores[order]
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    positive = judging.truth[order] == 1

    def value(weights: Floats) -> float:
        weight = weights[order]
        above = np.add.reduceat(np.where(positive, weight, 0.0), starts)
        below = np.add.reduceat(np.where(positive, 0.0, weight), starts)
        pairs = above.sum() * below.sum()
        if not pairs:
            return math.nan
        lower = np.cumsum(below) - below
        return float((above * (lower + below / 2)).sum() / pairs)

    return value
