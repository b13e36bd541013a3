"""Unseen rows: intervals that hold where few rows, clusters or weights carry a value.

An interval from the spread of the observed rows misses two things. A spread that few rows carry is
itself poorly known. And there may be rows of a kind that has not been observed.

So there are two steps. The first is an interval from the observed spread, with Student's t, whose
degrees of freedom are few where few rows carry the spread (their kurtosis; Satterthwaite 1946):

    df = 2 / (sum(r^4) / sum(r^2)^2 - 1 / units)

where r is the influence of each unit (row, weighted row or cluster) on the value. The second adds K
unseen rows to each class, once all wrong and once all right. Their effect on the value moves the
ends further out, in quadrature. K is the square of the normal quantile: with no observed error this
is Wilson's end, K / (n + K), and it fades as 1 / n.

Weighted rows count as Kish's effective number. Rows in clusters count n / deff, where deff is the
variance between clusters divided by the variance of independent rows, at least 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.counts import ClusterCounts, Confusion, ScoreCounts
from assay.inference.delta import (
    ClusterSpread,
    between_clusters,
    gradient_of,
    of_each_class,
    on_scale,
    variance,
)
from assay.inference.estimate import Quantity, squares_of, table_of
from assay.inference.proportions import ProportionInterval
from assay.inference.significance import normal, student
from assay.measures import Influence, Points, Ranked

Floats: TypeAlias = npt.NDArray[np.float64]
Ends: TypeAlias = tuple[float, float]
Table: TypeAlias = list[list[float]]

UNSEEN_ROWS = "unseen rows"
TOO_FEW = "no interval: too few to say"
# A variance below this share of the squared range is rounding.
_ROUNDING = 1e-24
# An effect of unseen rows below this is rounding.
_SLACK = 1e-15
# Influences cancel if their sum is below this share of them.
_CANCELLED = 1e-9


def kurtosis_df(squares: float, fourths: float, units: float) -> float:
    """The degrees of freedom of a spread, from sums of squared and fourth powers of influences.

    >>> kurtosis_df(100.0, 300.0, 100), kurtosis_df(1.0, 1.0, 100)
    (99, 2.0202020202020203)
    """
    if squares <= 0:
        return 1.0
    spread = max(fourths / squares**2 - 1 / units, 1e-12)
    return min(max(2 / spread, 1.0), max(units - 1, 1.0))


def design_effect(between: float, by_rows: float, rows_a_cluster: float) -> float:
    """The number of rows in clusters that are worth one independent row.

    At least 1 and at most the rows of a cluster, which is also the value where rows have no spread.
    """
    if by_rows <= 0:
        return max(rows_a_cluster, 1.0)
    return max(min(between / by_rows, rows_a_cluster), 1.0)


def seen_ends(
    value: float, spread: ClusterSpread, bounds: Ends, level: float, rows: float = 1.0
) -> Ends:
    """The interval from the spread of the observed rows; the value alone where there is none."""
    width = bounds[1] - bounds[0]
    least = _ROUNDING * (width**2 if math.isfinite(width) else 1.0) / max(rows, 1.0)
    if not least < spread.variance < math.inf or not math.isfinite(value):
        return value, value
    reach = normal(level) if math.isinf(spread.df) else student(level, spread.df)
    return on_scale(value, spread.variance, bounds, reach)


def with_unseen(value: float, ends: Ends, moved: Iterable[Sequence[float]], bounds: Ends) -> Ends:
    """Move the ends out by the effect of unseen rows.

    ``moved`` are the values with unseen rows, for each class: once wrong, once right. Distances are
    logarithmic where the range is open at one end.

    >>> with_unseen(0.9, (0.9, 0.9), [(0.8, 0.95)], (0.0, 1.0))
    (0.8, 0.95)
    """
    low, high = bounds
    if math.isinf(low) and not math.isinf(high):
        mirrored = [[-each for each in pair] for pair in moved]
        above, below = with_unseen(-value, (-ends[1], -ends[0]), mirrored, (-high, math.inf))
        return -below, -above
    if math.isinf(high) and not math.isinf(low):
        return _on_log(value - low, ends, moved, low)
    down, up = _reaches(value, ends, moved)
    return max(value - down, low), min(value + up, high)


def _reaches(value: float, ends: Ends, moved: Iterable[Sequence[float]]) -> Ends:
    down, up = [value - ends[0]], [ends[1] - value]
    for pair in moved:
        by = [each - value for each in pair if abs(each - value) > _SLACK * max(abs(value), 1.0)]
        down.append(min([0.0, *by]))
        up.append(max([0.0, *by]))
    return math.hypot(*down), math.hypot(*up)


def _on_log(value: float, ends: Ends, moved: Iterable[Sequence[float]], low: float) -> Ends:
    shifted = [[each - low for each in pair] for pair in moved]
    if value == 0:
        return low, low + _reaches(0.0, (0.0, ends[1] - low), shifted)[1]
    if math.isinf(value):
        turned = [[_inverse(each) for each in pair] for pair in shifted]
        return low + _inverse(_reaches(0.0, (0.0, 0.0), turned)[1]), math.inf
    logs = [[_log(each) for each in pair] for pair in shifted]
    down, up = _reaches(_log(value), (_log(ends[0] - low), _log(ends[1] - low)), logs)
    return low + value * math.exp(-down), low + value * math.exp(min(up, 700.0))


def _inverse(number: float) -> float:
    return math.inf if number == 0 else 1 / number


def _log(number: float) -> float:
    return -math.inf if number <= 0 else math.log(number)


def outward(ends: Ends, bounds: Ends, rows: float) -> Ends:
    """Ends nearer to a bound than a thousandth of a row are at the bound.

    >>> outward((0.00000001, 0.99999999), (0.0, 1.0), 982)
    (0.0, 1.0)
    """
    nearest = 1 / (1000 * max(rows, 1.0))
    low = bounds[0] if ends[0] < bounds[0] + nearest else ends[0]
    return low, bounds[1] if ends[1] > bounds[1] - nearest else ends[1]


# -- formulas of counts ----------------------------------------------------------------------------


def formula_interval(
    quantity: Quantity,
    confusion: Confusion,
    bounds: Ends,
    level: float,
    *,
    value: float,
    clusters: ClusterCounts | None = None,
) -> Ends | None:
    """The interval of a formula; None where a class that it needs has one row or one cluster."""
    table, squares = table_of(confusion), squares_of(confusion)
    rows = [math.fsum(map(float, row)) for row in confusion.cells]
    units = rows if confusion.squares is None else _kish(confusion)
    effective = units
    spread = ClusterSpread(variance(quantity, table, squares), math.inf)
    if clusters is not None:
        if clusters.size < 2:
            return None
        between = _between(quantity, table, clusters)
        if between is None:
            return None
        units = (clusters.cells.any(axis=2)).sum(axis=0).tolist()
        effective = [
            held / design_effect(between.variance, spread.variance, held / max(number, 1))
            for held, number in zip(effective, units, strict=True)
        ]
        spread = ClusterSpread(max(between.variance, spread.variance), between.df)
    elif confusion.squares is not None:
        spread = _weighted_spread(quantity, table, squares)
    cells = table.tolist()
    present = [at for at, held in enumerate(rows) if held and quantity.counts(at)]
    few = [at for at in present if units[at] < 1 + _CANCELLED]
    if math.fsum(units) < 1 + _CANCELLED or any(
        math.isnan(each) for each in _values(quantity, [_without(cells, at) for at in few])
    ):
        return None
    square = normal(level) ** 2
    unseen = [
        each
        for at in present
        for each in _with_rows(cells, at, square * rows[at] / effective[at], rows)
    ]
    values = _values(quantity, unseen)
    moved = list(zip(values[::2], values[1::2], strict=True))
    seen = seen_ends(value, spread, bounds, level, math.fsum(units))
    ends = with_unseen(value, seen, moved, bounds)
    return ends if ends[0] < ends[1] or spread.variance else None


def _kish(confusion: Confusion) -> list[float]:
    """Kish's effective number of rows of each class."""
    sums = [math.fsum(row) for row in confusion.cells]
    squares = [math.fsum(row) for row in confusion.squares or confusion.cells]
    return [a * a / b if b else 0.0 for a, b in zip(sums, squares, strict=True)]


def _weighted_spread(quantity: Quantity, table: Floats, squares: Floats) -> ClusterSpread:
    """The variance of weighted rows; of fourth powers the least that they can be, by Hölder."""
    gradient = gradient_of(quantity, table)
    fourths = np.divide(squares**3, table**2, out=np.zeros_like(table), where=table > 0)
    moves = float((squares * gradient**2).sum())
    rows = float(table.sum()) ** 2 / float(squares.sum())
    return ClusterSpread(moves, kurtosis_df(moves, float((fourths * gradient**4).sum()), rows))


def _between(quantity: Quantity, table: Floats, clusters: ClusterCounts) -> ClusterSpread | None:
    """The spread between clusters."""
    gradient, cells = gradient_of(quantity, table), clusters.cells.astype(np.float64)
    used = cells_used(quantity, len(table))
    moving = np.flatnonzero(used.any(axis=1))
    held: Any = (cells * used).any(axis=2)
    return spread_of_clusters(
        (cells * gradient).sum(axis=2)[:, moving],
        held[:, moving],
        apart=of_each_class(quantity, len(table)),
    )


@lru_cache(maxsize=1024)
def cells_used(quantity: Quantity, size: int) -> npt.NDArray[np.bool_]:
    """Which cells can move a formula, though in some tables they do not."""
    table = np.random.default_rng(size).uniform(1, 9, (size, size))
    return np.asarray(gradient_of(quantity, table) != 0)


def _without(table: Table, label: int) -> Table:
    """The table without the rows of a class."""
    return [[0.0] * len(row) if at == label else row for at, row in enumerate(table)]


def _with_rows(table: Table, label: int, unseen: float, rows: Sequence[float]) -> list[Table]:
    """The table with unseen rows of a class: all wrong, as the largest other class; all right.

    Other classes of the same size share the wrong rows.
    """
    others = [-1.0 if at == label else held for at, held in enumerate(rows)]
    largest = [at for at, held in enumerate(others) if held == max(others)]
    more = []
    for decisions in (largest, [label]):
        changed = [row if at != label else row.copy() for at, row in enumerate(table)]
        for decision in decisions:
            changed[label][decision] += unseen / len(decisions)
        more.append(changed)
    return more


def _values(quantity: Quantity, tables: Sequence[Table]) -> list[float]:
    """The formula of each table; one by one of two classes, which is quicker."""
    if not tables:
        return []
    if len(tables[0]) == 2 and quantity.classes is None:
        return [quantity.of_table(table) for table in tables]
    values: list[float] = quantity.of_tables(np.array(tables)).tolist()
    return values


# -- scores ----------------------------------------------------------------------------------------


def unseen_scores(
    declared: Ranked, table: ScoreCounts, level: float, effective: Sequence[float] | None = None
) -> list[tuple[float, float]]:
    """The values of a measure of scores with unseen rows of each class: once wrong, once right.

    A wrong row has the median score of the other class, a right one is beyond all scores.
    ``effective`` is as how many independent rows each class counts.
    """
    totals = [float(total) for total in table.totals()]
    if not all(totals):
        return []
    counts, scores = table.counts.astype(np.float64), table.scores
    sizes = table.effective() if effective is None else effective
    moved = []
    for label, (total, size) in enumerate(zip(totals, sizes, strict=True)):
        rows = np.zeros((2, 1))
        rows[label] = normal(level) ** 2 * total / size
        half = np.cumsum(counts[1 - label]), totals[1 - label] / 2
        wrong = counts.copy()
        # Between two middle scores, half of the rows have the one and half the other.
        for side in ("left", "right"):
            middle = min(int(np.searchsorted(*half, side=side)), table.size - 1)
            wrong[:, middle : middle + 1] += rows / 2
        sides = (counts, rows) if label else (rows, counts)
        ends = (scores, scores[-1:]) if label else (scores[:1], scores)
        tables = (wrong, scores), (np.concatenate(sides, axis=1), np.concatenate(ends))
        bad, good = (
            _value(declared, ScoreCounts(table.labels, at, held, held)) for held, at in tables
        )
        moved.append((bad, good))
    return moved


def _value(declared: Ranked, table: ScoreCounts) -> float:
    """The value alone; rows of both classes are known to be there."""
    if declared.alone is not None:
        return declared.alone(Points.of(table))
    return declared.influence(table).value


def influence_df(influence: Influence, table: ScoreCounts) -> float:
    """The degrees of freedom of a measure of scores, by how much each row moves it."""
    squares: Any = table.counts if table.squares is None else table.squares
    fourths: Any = table.counts
    if table.squares is not None:
        # The least that fourth powers of weights can be, by Hölder's inequality.
        fourths = np.zeros_like(squares)
        np.divide(squares**3, table.counts**2, out=fourths, where=table.counts > 0)
    second = fourth = 0.0
    for label, moves in enumerate((influence.negative, influence.positive)):
        square = moves * moves
        second += float(squares[label] @ square)
        fourth += float(fourths[label] @ (square * square))
    return kurtosis_df(second, fourth, float(table.rows))


def without_idle(table: ScoreCounts) -> ScoreCounts:
    """The table with adjacent scores of negatives alone merged, which changes no ranking."""
    idle = table.counts[1] == 0
    starts = np.flatnonzero(~(idle[1:] & idle[:-1])) + 1
    starts = np.concatenate(([0], starts))
    if len(starts) > table.size // 2:
        return table
    amounts = table.counts if table.weighted else table.counts.astype(np.int64)
    counts = np.add.reduceat(amounts, starts, axis=1)
    squares = None if table.squares is None else np.add.reduceat(table.squares, starts, axis=1)
    return ScoreCounts(table.labels, table.scores[starts], counts, squares, table.kept)


# -- clusters --------------------------------------------------------------------------------------


def spread_of_clusters(
    moved: Floats, held: npt.NDArray[np.bool_], *, apart: bool
) -> ClusterSpread | None:
    """The spread between clusters, with degrees of freedom by kurtosis where those are fewer.

    See :func:`assay.inference.delta.between_clusters`.
    """
    between = between_clusters(moved, held, apart=apart)
    if between is None:
        return None
    squares = np.square(moved.sum(axis=1))
    every = int(held.any(axis=1).sum())
    by_kurtosis = kurtosis_df(float(squares.sum()), float(np.square(squares).sum()), every)
    return ClusterSpread(between.variance, min(between.df, by_kurtosis))


def share_in_clusters(
    successes: npt.ArrayLike, trials: npt.ArrayLike, method: ProportionInterval
) -> Ends:
    """An interval for shares, of rows in clusters: on n / deff rows; nan of one cluster.

    Where few clusters carry the spread there are fewer still, by the square of Student's t (Korn
    and Graubard 1998). Clusters that agree count as one row each.

    >>> from assay.inference import ClopperPearson
    >>> low, high = share_in_clusters([5, 5, 0, 5], [5, 5, 5, 5], ClopperPearson())
    >>> round(low, 2), round(high, 2)
    (0.03, 1.0)
    """
    k, n = np.asarray(successes, np.float64), np.asarray(trials, np.float64)
    k, n = k[n > 0], n[n > 0]
    clusters, rows = len(n), float(n.sum())
    if clusters < 2:
        return math.nan, math.nan
    share = float(k.sum()) / rows
    squares = np.square((k - n * share) / rows)
    between = float(squares.sum()) * clusters / (clusters - 1)
    effective = rows / design_effect(between, share * (1 - share) / rows, rows / clusters)
    if between > 0:
        df = kurtosis_df(float(squares.sum()), float(np.square(squares).sum()), clusters)
        effective *= (normal(method.level) / student(method.level, df)) ** 2
    return method.ends(share * effective, effective)
