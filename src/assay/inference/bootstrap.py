"""The bootstrap.

Resampling n rows is a multinomial draw over the cells of a table: the same distribution, at a cost
that does not grow with n.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from assay.counts import ClusterCounts, Confusion, Sample, ScoreCounts
from assay.counts.blocks import narrow
from assay.counts.confusion import LIMIT
from assay.errors import MethodError
from assay.inference.estimate import Quantity, table_of
from assay.inference.significance import check_draws, check_level, check_seed

Array: TypeAlias = npt.NDArray[Any]
Floats: TypeAlias = npt.NDArray[np.float64]
Value = TypeVar("Value")

RESAMPLES = 1000
SEED = 42
# Of so many cells a class it is computed what one row less would do, so many numbers at a time.
_ENDS, _BETWEEN = 60, 80
_TABLES = 1 << 22
# Of so few rows, or cells of a table, resamples are often alike.
_FEW = 16
# So many counts of resamples are kept for the next measure.
_KEPT_DRAWS = 1 << 24


@dataclass(frozen=True)
class Bootstrap:
    """Percentile intervals: their ends are order statistics, the 25th and 975th of 1,000."""

    level: float = 0.95
    resamples: int = RESAMPLES
    seed: int = SEED
    name: ClassVar[str] = "bootstrap"

    def __post_init__(self) -> None:
        object.__setattr__(self, "level", check_level(self.level))
        check_draws("a bootstrap", self.resamples, "resamples", least=2)
        object.__setattr__(self, "seed", check_seed(self.seed))

    def ends(
        self,
        values: Floats,
        estimate: float,  # noqa: ARG002 - for the corrected method
        slopes: Slopes | None,  # noqa: ARG002
    ) -> BootstrapInterval:
        """The interval that resampled values give, those that are undefined left out."""
        kept = np.sort(values[~np.isnan(values)])
        return BootstrapInterval(
            *_order_statistics(kept, self.level), len(values), len(values) - len(kept)
        )


@dataclass(frozen=True)
class BCa(Bootstrap):
    """Percentile intervals corrected for bias and acceleration (Efron 1987)."""

    name: ClassVar[str] = "bca"

    def ends(self, values: Floats, estimate: float, slopes: Slopes | None) -> BootstrapInterval:
        """The interval that resampled values give, those that are undefined left out."""
        from scipy.special import ndtr, ndtri

        kept = np.sort(values[~np.isnan(values)])
        undefined = len(values) - len(kept)
        below = np.count_nonzero(kept < estimate) + np.count_nonzero(kept == estimate) / 2
        if not 0 < below < len(kept) or slopes is None:
            return BootstrapInterval(*_order_statistics(kept, self.level), len(values), undefined)
        bias = float(ndtri(below / len(kept)))
        acceleration = slopes.acceleration()
        tail = (1 - self.level) / 2
        ranks = []
        for quantile in (tail, 1 - tail):
            z = bias + float(ndtri(quantile))
            ranks.append(float(ndtr(bias + z / (1 - acceleration * z))) * len(kept))
        low, high = (
            kept[max(rank, 1) - 1]
            for rank in (math.floor(ranks[0] + 1e-9), math.ceil(ranks[1] - 1e-9))
        )
        return BootstrapInterval(float(low), float(high), len(values), undefined)


@dataclass(frozen=True)
class BootstrapInterval:
    """What a bootstrap found: the ends, and how many resamples were drawn and were undefined."""

    low: float
    high: float
    drawn: int
    undefined: int

    @property
    def note(self) -> str | None:
        """What should be said of resamples that could not be used."""
        said = []
        if self.undefined:
            said = [f"undefined in {self.undefined} of {self.drawn} resamples, which were left out"]
        if self.low == self.high:
            said.append("all resamples gave one value, which does not make it sure")
        return "; ".join(said) or None


@dataclass(frozen=True, eq=False)
class Slopes:
    """How the estimate moves when one row of each cell is left out, and how many rows that is."""

    moves: Floats
    counts: Floats

    def acceleration(self) -> float:
        """Efron's acceleration constant, by the jackknife."""
        kept = (self.counts > 0) & ~np.isnan(self.moves)
        moves, counts = self.moves[kept], self.counts[kept]
        if not kept.any():
            return 0.0
        off = (counts * moves).sum() / counts.sum() - moves
        below = 6 * float((counts * off**2).sum()) ** 1.5
        return float((counts * off**3).sum()) / below if below else 0.0


def _order_statistics(values: Floats, level: float) -> tuple[float, float]:
    if not len(values):
        return math.nan, math.nan
    tail = (1 - level) / 2 * len(values)
    low = max(math.floor(tail + 1e-9), 1)
    high = min(math.ceil(len(values) - tail - 1e-9), len(values))
    return float(values[low - 1]), float(values[high - 1])


def each_once(resamples: Iterable[Array], value: Callable[[Array], Value]) -> list[Value]:
    """The value of each resample, told by its counts; those that are alike are looked at once.

    >>> looked_at = []
    >>> each_once([np.array([2, 0]), np.array([1, 1]), np.array([2, 0])], looked_at.append)
    [None, None, None]
    >>> len(looked_at)
    2
    """
    seen: dict[bytes, Value] = {}
    values = []
    for counts in resamples:
        if counts.size > _FEW:
            values.append(value(counts))
            continue
        key = counts.tobytes()
        if key not in seen:
            seen[key] = value(counts)
        values.append(seen[key])
    return values


def must_be_redrawn(confusion: Confusion) -> None:
    """Refuse a table that can't be resampled."""
    if confusion.weighted:
        raise MethodError(
            "rows with sampling weights can't be resampled from their sums; use the delta method"
        )
    if confusion.total >= LIMIT:
        raise MethodError("the table is too large to resample; use the delta method")


@lru_cache(maxsize=8)
def _tables(confusion: Confusion, resamples: int, seed: int) -> Floats:
    must_be_redrawn(confusion)
    table = table_of(confusion)
    draws = np.random.default_rng(seed).multinomial(
        int(confusion.total), (table / table.sum()).ravel(), size=resamples
    )
    return draws.reshape(resamples, *table.shape).astype(np.float64)


def resampled(confusion: Confusion, method: Bootstrap) -> Floats:
    """Resampled K x K tables; drawn once for all measures of one table."""
    return _tables(confusion, method.resamples, method.seed)


def interval(quantity: Quantity, confusion: Confusion, method: Bootstrap) -> BootstrapInterval:
    """The bootstrap interval of a formula of a confusion matrix."""
    values = quantity.of_tables(resampled(confusion, method))
    # Only the corrected method asks what one row less would do, in K x K tables of K x K cells.
    slopes = _slopes(quantity, table_of(confusion)) if isinstance(method, BCa) else None
    return method.ends(values, quantity.value(confusion), slopes)


def _slopes(quantity: Quantity, table: Floats) -> Slopes:
    cells, rows = _left_out(table.ravel())
    several = max(_TABLES // table.size, 1)
    moves = []
    for i in range(0, len(cells), several):
        some = cells[i : i + several]
        without = np.repeat(table.ravel()[None], len(some), axis=0)
        without[np.arange(len(some)), some] -= 1
        moves.append(quantity.of_tables(without.reshape(len(some), *table.shape)))
    return Slopes(np.concatenate(moves), rows)


def _left_out(counts: Floats) -> tuple[npt.NDArray[np.intp], Floats]:
    """Cells of which a row is left out in turn, and how many rows each stands for.

    To leave out every row of many would take the square of their number. The acceleration is a
    ratio of moments, for which the cells at both ends, where rows move a ranking most, and rows at
    even distances between them are enough.
    """
    cells = np.flatnonzero(counts)
    if len(cells) <= 2 * _ENDS + _BETWEEN:
        return cells, counts[cells]
    ends = np.concatenate((cells[:_ENDS], cells[-_ENDS:]))
    between = cells[_ENDS:-_ENDS]
    sums = np.cumsum(counts[between])
    at = (np.arange(_BETWEEN) + 0.5) / _BETWEEN * sums[-1]
    chosen, often = np.unique(np.searchsorted(sums, at), return_counts=True)
    return (
        np.concatenate((ends, between[chosen])),
        np.concatenate((counts[ends], often * (sums[-1] / _BETWEEN))),
    )


def cluster_interval(
    quantity: Quantity, clusters: ClusterCounts, method: Bootstrap
) -> BootstrapInterval:
    """The bootstrap interval when whole clusters are resampled."""
    count = clusters.size
    cells = clusters.cells.astype(np.float64)
    tables = np.concatenate(
        [
            np.einsum("rc,cij->rij", draws.astype(np.float64), cells, optimize=True)
            for draws in _draws_of_clusters(count, method)
        ]
    )
    values = quantity.of_tables(tables)
    without = quantity.of_tables(cells.sum(axis=0) - cells)
    estimate = quantity.value(clusters.confusion())
    return method.ends(values, estimate, Slopes(without, np.ones(count)))


def _draws_of_clusters(count: int, method: Bootstrap) -> Iterable[npt.NDArray[Any]]:
    """How often each cluster occurs in each resample; few are drawn once for all measures."""
    if method.resamples * count <= _KEPT_DRAWS:
        return (_few_clusters_drawn(count, method.resamples, method.seed),)
    return _blocks_of_clusters(count, method.resamples, method.seed)


def _blocks_of_clusters(count: int, resamples: int, seed: int) -> Iterator[npt.NDArray[np.int64]]:
    generator, share = np.random.default_rng(seed), np.full(count, 1 / count)
    step = max(1, _KEPT_DRAWS // count)
    for start in range(0, resamples, step):
        yield generator.multinomial(count, share, size=min(step, resamples - start))


@lru_cache(maxsize=1)
def _few_clusters_drawn(count: int, resamples: int, seed: int) -> npt.NDArray[Any]:
    return narrow(np.concatenate(list(_blocks_of_clusters(count, resamples, seed))))


def score_interval(
    table: ScoreCounts, measure: Callable[[ScoreCounts], float], method: Bootstrap
) -> BootstrapInterval:
    """The bootstrap interval of any measure of score counts; one pass of it a resample."""
    if table.weighted:
        raise MethodError(
            "rows with sampling weights can't be resampled from their sums; use the default"
        )
    values = np.array(
        each_once(_draws(table, method), lambda counts: measure(_redrawn(table, counts)))
    )
    slopes = None
    if isinstance(method, BCa):
        slopes = _score_slopes(table, measure)
    return method.ends(values, measure(table), slopes)


def _draws(table: ScoreCounts, method: Bootstrap) -> Iterable[npt.NDArray[Any]]:
    """The counts of resamples; few enough are drawn once for all measures of a table."""
    if method.resamples * table.counts.size > _KEPT_DRAWS:
        return _drawn_tables(table, method)
    key = method.seed, method.resamples
    if key not in table.draws:
        table.draws.clear()  # one set of resamples is kept, that of the method in use
        table.draws[key] = [narrow(counts) for counts in _drawn_tables(table, method)]
    return table.draws[key]


def _drawn_tables(table: ScoreCounts, method: Bootstrap) -> Iterator[npt.NDArray[np.int64]]:
    generator = np.random.default_rng(method.seed)
    counts = table.counts.astype(np.float64)
    total, shares = int(counts.sum()), (counts / counts.sum()).ravel()
    for _ in range(method.resamples):
        yield generator.multinomial(total, shares).reshape(counts.shape)


def clustered_score_interval(
    sample: Sample, measure: Callable[[ScoreCounts], float], method: Bootstrap
) -> BootstrapInterval:
    """The same when whole clusters of rows are resampled."""
    generator = np.random.default_rng(method.seed)
    count = len(sample.clusters)
    share = np.full(count, 1 / count)

    # Rows are put into cells of label and score once, and then added up for each resample.
    scores, position = np.unique(sample.scores[:, 0] + 0, return_inverse=True)
    cells = sample.truth.astype(np.int64) * len(scores) + position
    order = np.argsort(cells, kind="stable")
    counts, cluster, cells = sample.counts[order], sample.cluster[order], cells[order]
    starts = np.flatnonzero(np.diff(cells, prepend=-1))

    def of(often: npt.NDArray[Any]) -> float:
        table = np.zeros((len(sample.labels), len(scores)), np.int64)
        table.flat[cells[starts]] = np.add.reduceat(counts * often[cluster], starts)
        held = table.any(axis=0)
        return measure(ScoreCounts(sample.labels, scores[held], narrow(table[:, held])))

    draws = (generator.multinomial(count, share) for _ in range(method.resamples))
    values = np.array(each_once(draws, of))
    slopes = None
    if isinstance(method, BCa):
        chosen, clusters = _left_out(np.ones(count))
        all_but_one = (np.arange(count) != i for i in chosen)
        slopes = Slopes(np.array([of(often) for often in all_but_one]), clusters)
    return method.ends(values, of(np.ones(count, np.int64)), slopes)


def row_interval(
    sample: Sample,
    measure: Callable[[npt.NDArray[Any]], float],
    moves: Floats,
    method: Bootstrap,
) -> BootstrapInterval:
    """The bootstrap interval of any measure of rows, or of clusters of them.

    ``measure`` is given how often each row occurs; ``moves`` are by how much each row moves it.
    """
    if sample.weighted:
        raise MethodError("rows with sampling weights can't be resampled; use the default")
    generator = np.random.default_rng(method.seed)
    draws = (redrawn(sample, generator) for _ in range(method.resamples))
    values = np.array(each_once(draws, measure))
    estimate = measure(sample.counts)
    without = Slopes(np.subtract(estimate, moves), sample.counts.astype(np.float64))
    if sample.clusters:
        sums = np.bincount(sample.cluster, moves * sample.counts, len(sample.clusters))
        without = Slopes(np.subtract(estimate, sums), np.ones(len(sums)))
    return method.ends(values, estimate, without)


def redrawn(sample: Sample, generator: np.random.Generator) -> npt.NDArray[np.int64]:
    """How often each row occurs in a resample, of clusters where there are any."""
    if sample.clusters:
        count = len(sample.clusters)
        often = generator.multinomial(count, np.full(count, 1 / count))
        return np.asarray(sample.counts * often[sample.cluster])
    total = int(sample.counts.sum())
    return np.asarray(generator.multinomial(total, sample.counts / total))


def _redrawn(table: ScoreCounts, counts: npt.NDArray[Any]) -> ScoreCounts:
    held = counts.any(axis=0)
    return ScoreCounts(table.labels, table.scores[held], counts[:, held], kept=table.kept)


def _without_empty(
    table: ScoreCounts, counts: npt.NDArray[np.int64], position: np.intp
) -> ScoreCounts:
    """The table with other counts, of which those of one score alone may have become zero."""
    scores = table.scores
    if not counts[:, position].any():
        scores, counts = np.delete(scores, position), np.delete(counts, position, axis=1)
    return ScoreCounts(table.labels, scores, counts, kept=table.kept)


def _score_slopes(table: ScoreCounts, measure: Callable[[ScoreCounts], float]) -> Slopes:
    counts = table.counts.astype(np.int64)
    moves, rows = [], []
    for label, of_label in enumerate(counts.astype(np.float64)):
        positions, stand_for = _left_out(of_label)
        rows.append(stand_for)
        for position in positions:
            counts[label, position] -= 1
            moves.append(measure(_without_empty(table, counts, position)))
            counts[label, position] += 1
    return Slopes(np.array(moves), np.concatenate(rows))
