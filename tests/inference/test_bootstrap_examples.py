"""The bootstrap by examples: which order statistics, which rows are left out, what is drawn."""

import math
from dataclasses import dataclass, field

import numpy as np
import pytest
from scipy import stats

from assay.counts import ClusterCounts, Confusion, Sample, ScoreCounts
from assay.errors import MethodError
from assay.inference import BCa, Bootstrap, Quantity, bootstrap
from assay.inference.bootstrap import (
    BootstrapInterval,
    Slopes,
    _left_out,
    _score_slopes,
    _slopes,
    cluster_interval,
    clustered_score_interval,
    interval,
    must_be_redrawn,
    redrawn,
    row_interval,
    score_interval,
)
from assay.measures import find

TABLE = np.array([[4, 1], [2, 3]])
CONFUSION = Confusion(("no", "yes"), ((4, 1), (2, 3)))
F1 = Quantity(find("f1").formula, label=1)
METHODS = (Bootstrap, BCa)


def f1(table: np.ndarray) -> float:
    return 2 * table[1, 1] / (2 * table[1, 1] + table[0, 1] + table[1, 0])


def corrected(values, estimate: float, left_out, level: float) -> tuple[float, float]:
    """Efron's interval; ``left_out`` has a value for each row that may be left out."""
    values, left_out = np.sort(values), np.array(left_out)
    size = len(values)
    bias = stats.norm.ppf(((values < estimate).sum() + (values == estimate).sum() / 2) / size)
    off = left_out.mean() - left_out
    acceleration = (off**3).sum() / (6 * (off**2).sum() ** 1.5)
    ranks = []
    for quantile in ((1 - level) / 2, (1 + level) / 2):
        z = bias + stats.norm.ppf(quantile)
        ranks.append(size * stats.norm.cdf(bias + z / (1 - acceleration * z)))
    return values[max(math.floor(ranks[0]), 1) - 1], values[math.ceil(ranks[1]) - 1]


def percentiles(values, level: float) -> tuple[float, float]:
    ordered = np.sort(values)
    tail = round((1 - level) / 2 * len(ordered), 6)
    return ordered[max(math.floor(tail), 1) - 1], ordered[math.ceil(len(ordered) - tail) - 1]


def expected(method: Bootstrap, values, estimate: float, left_out) -> tuple[float, float]:
    if isinstance(method, BCa):
        return corrected(values, estimate, left_out, method.level)
    return percentiles(values, method.level)


def ends(bounds: BootstrapInterval) -> tuple[float, float]:
    return bounds.low, bounds.high


# -- ends ------------------------------------------------------------------------------------------

LEANING = Slopes(np.array([1.0, 2.0, 4.0]), np.array([3.0, 2.0, 1.0]))
LEANING_ROWS = [1.0, 1, 1, 2, 2, 4]


@pytest.mark.parametrize("estimate", [1.0, 2.0, 2.5, 3.0, 10.0, 19.0, 20.0])
@pytest.mark.parametrize("level", [0.5, 0.9])
def test_corrected_ends_by_hand(estimate: float, level: float) -> None:
    # From one half of twenty on, which is the smallest value that is equal to the estimate.
    values = np.arange(1.0, 21)
    bounds = BCa(level).ends(values[::-1], estimate, LEANING)
    assert ends(bounds) == corrected(values, estimate, LEANING_ROWS, level)
    assert (bounds.drawn, bounds.undefined) == (20, 0)


def test_values_equal_to_the_estimate_count_half() -> None:
    values = np.array([1.0] * 3 + [2.0] * 10 + [3.0, 4, 5, 6, 7, 8, 9])
    bounds = BCa(0.8).ends(values, 2.0, LEANING)
    assert ends(bounds) == corrected(values, 2.0, LEANING_ROWS, 0.8)
    assert ends(bounds) != ends(BCa(0.8).ends(values, 2.5, LEANING))


def test_estimate_beside_all_values_has_plain_percentiles() -> None:
    values = np.arange(1.0, 21)
    for estimate in (0.5, 20.5):
        assert ends(BCa(0.8).ends(values, estimate, LEANING)) == (2, 18)


def test_low_end_is_the_smallest_value_at_least() -> None:
    values = np.arange(1.0, 21)
    assert BCa(0.99).ends(values, 2.0, LEANING).low == 1.0
    assert Bootstrap(0.99).ends(values, 2.0, None).low == 1.0


@pytest.mark.parametrize("method", METHODS)
def test_undefined_values_are_left_out_and_counted(method) -> None:
    values = np.array([np.nan, *np.arange(1.0, 21), np.nan, np.nan])
    bounds = method(0.8).ends(values, 9.0, LEANING)
    assert ends(bounds) == expected(method(0.8), values[1:21], 9.0, LEANING_ROWS)
    assert (bounds.drawn, bounds.undefined) == (23, 3)


LEFT_OUT = "undefined in 4 of 9 resamples, which were left out"
ONE_VALUE = "all resamples gave one value, which does not make it sure"


@pytest.mark.parametrize(
    ("interval", "note"),
    [
        ((0.1, 0.2, 9, 0), None),
        ((0.1, 0.2, 9, 4), LEFT_OUT),
        ((0.2, 0.2, 9, 0), ONE_VALUE),
        ((0.2, 0.2, 9, 4), f"{LEFT_OUT}; {ONE_VALUE}"),
    ],
)
def test_note_says_what_could_not_be_used(interval, note) -> None:
    assert BootstrapInterval(*interval).note == note


def test_two_resamples_are_enough_and_a_thousand_are_usual() -> None:
    assert Bootstrap(resamples=2).resamples == 2
    for method in METHODS:
        assert (method().level, method().resamples, method().seed) == (0.95, 1000, 42)


def test_ranks_that_are_whole_but_for_rounding_are_whole() -> None:
    still = Slopes(np.array([1.0, 1.0]), np.array([2.0, 2.0]))
    for size, level in ((100, 0.9), (1000, 0.95), (40, 0.8), (200, 0.7)):
        tail = round((1 - level) / 2 * size)
        values = np.arange(1.0, size + 1)
        assert ends(BCa(level).ends(values, (size + 1) / 2, still)) == (tail, size - tail)


# -- acceleration ----------------------------------------------------------------------------------


def test_rows_that_do_not_occur_and_those_that_leave_nothing_defined_move_nothing() -> None:
    slopes = Slopes(
        np.array([1.0, 7.0, np.nan, 2.0, np.nan, 4.0]), np.array([3.0, 0.0, 5.0, 2.0, 0.0, 1.0])
    )
    assert slopes.acceleration() == pytest.approx(LEANING.acceleration(), rel=1e-15)


@pytest.mark.parametrize(("moves", "counts"), [([0.5], [0.0]), ([np.nan], [2.0]), ([], [])])
def test_no_row_to_leave_out_has_no_acceleration(moves, counts) -> None:
    assert Slopes(np.array(moves), np.array(counts)).acceleration() == 0.0


def test_slopes_are_told_apart_by_what_they_are_and_not_by_what_they_hold() -> None:
    assert len({LEANING, LEANING, Slopes(LEANING.moves, LEANING.counts)}) == 2


@pytest.mark.parametrize("numbers", [4, 8, 12, 1 << 22])
def test_each_cell_is_left_out_once_however_many_at_a_time(
    numbers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bootstrap, "_TABLES", numbers)
    table = np.array([[4.0, 1.0], [0.0, 3.0]])
    slopes = _slopes(F1, table)
    assert slopes.counts.tolist() == [4, 1, 3]
    moved = []
    for cell in ((0, 0), (0, 1), (1, 1)):
        less = table.copy()
        less[cell] -= 1
        moved.append(f1(less))
    assert slopes.moves.tolist() == pytest.approx(moved)


def test_all_of_two_hundred_cells_are_left_out() -> None:
    counts = np.zeros(300)
    counts[50:250] = np.arange(200) + 1
    cells, rows = _left_out(counts)
    assert cells.tolist() == list(range(50, 250))
    assert rows.tolist() == list(range(1, 201))


def test_of_more_cells_sixty_at_each_end_and_eighty_rows_between_are_left_out() -> None:
    counts = np.ones(202)
    counts[100] = 40.0
    counts[0] = 0.0
    cells, rows = _left_out(counts)
    # Cells 1 to 60 and 142 to 201; between them 81 cells of 120 rows, one of which has 40.
    assert cells[:120].tolist() == [*range(1, 61), *range(142, 202)]
    assert (rows[:120] == 1).all()
    sums = np.cumsum(counts[61:142])
    often: dict[int, int] = {}
    for i in range(80):
        cell = 61 + next(at for at, total in enumerate(sums) if total >= (i + 0.5) / 80 * 120)
        often[cell] = often.get(cell, 0) + 1
    assert dict(zip(cells[120:].tolist(), rows[120:].tolist(), strict=True)) == pytest.approx(
        {cell: times * 1.5 for cell, times in often.items()}
    )
    assert often[100] > 20
    assert rows.sum() == pytest.approx(240)


# -- tables ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_interval_of_a_table_by_hand(method) -> None:
    chosen = method(level=0.8, resamples=60, seed=3)
    draws = np.random.default_rng(3).multinomial(10, TABLE.ravel() / 10, size=60)
    values = [f1(draw.reshape(2, 2)) for draw in draws]
    left_out = []
    for cell in np.ndindex(2, 2):
        less = TABLE.copy()
        less[cell] -= 1
        left_out += [f1(less)] * TABLE[cell]
    assert ends(interval(F1, CONFUSION, chosen)) == pytest.approx(
        expected(chosen, values, f1(TABLE), left_out)
    )


def test_table_may_hold_almost_any_number_of_rows() -> None:
    must_be_redrawn(Confusion(("no", "yes"), (((1 << 62) - 4, 1), (1, 1))))
    with pytest.raises(MethodError, match="too large to resample"):
        must_be_redrawn(Confusion(("no", "yes"), (((1 << 62) - 3, 1), (1, 1))))


CELLS = np.array([[[5, 1], [2, 3]], [[1, 4], [0, 2]], [[9, 0], [3, 1]], [[2, 2], [2, 2]]])


@pytest.mark.parametrize("method", METHODS)
def test_interval_of_clusters_by_hand(method) -> None:
    rows = [place for place in np.ndindex(4, 2, 2) for _ in range(CELLS[place])]
    cluster, truth, decision = np.array(rows).T
    counted = ClusterCounts.of_rows(("no", "yes"), truth, decision, cluster, list("pqrs"))
    chosen = method(level=0.8, resamples=50, seed=5)
    draws = np.random.default_rng(5).multinomial(4, [0.25] * 4, size=50)
    values = [f1(np.tensordot(draw, CELLS, axes=1)) for draw in draws]
    left_out = [f1(CELLS.sum(axis=0) - one) for one in CELLS]
    assert ends(cluster_interval(F1, counted, chosen)) == pytest.approx(
        expected(chosen, values, f1(CELLS.sum(axis=0)), left_out)
    )


# -- scores ----------------------------------------------------------------------------------------

TRUTH = np.array([0, 0, 0, 1, 0, 1, 1, 1, 0, 1])
SCORES = np.array([0.1, 0.2, 0.2, 0.2, 0.4, 0.5, 0.5, 0.7, 0.7, 0.9])
OFTEN = np.array([3, 1, 2, 1, 2, 1, 4, 1, 1, 2])


def mean_score(counted: ScoreCounts) -> float:
    """Some measure of scores, which rows move unevenly."""
    negatives, positives = counted.counts.astype(float)
    if not positives.sum():
        return math.nan
    return float((positives @ counted.scores) ** 2 / positives.sum() + negatives @ counted.scores)


def mean_of_rows(truth: np.ndarray, scores: np.ndarray) -> float:
    positives = scores[truth == 1]
    return positives.sum() ** 2 / len(positives) + scores[truth == 0].sum()


@pytest.mark.parametrize("method", METHODS)
def test_interval_of_scores_by_hand(method) -> None:
    counted = ScoreCounts.of_rows(("no", "yes"), SCORES, TRUTH, counts=OFTEN)
    chosen = method(level=0.8, resamples=40, seed=6)
    generator = np.random.default_rng(6)
    shares = (counted.counts / counted.counts.sum()).ravel()
    values = []
    for _ in range(40):
        counts = generator.multinomial(18, shares).reshape(2, -1)
        drawn = [np.repeat(counted.scores, row) for row in counts]
        truth = np.repeat([0, 1], [len(drawn[0]), len(drawn[1])])
        values.append(mean_of_rows(truth, np.concatenate(drawn)))
    truth, scores = np.repeat(TRUTH, OFTEN), np.repeat(SCORES, OFTEN)
    left_out = [mean_of_rows(np.delete(truth, i), np.delete(scores, i)) for i in range(18)]
    bounds = ends(score_interval(counted, mean_score, chosen))
    assert bounds == pytest.approx(expected(chosen, values, mean_of_rows(truth, scores), left_out))


def test_one_row_of_each_score_and_class_is_left_out_in_turn() -> None:
    counted = ScoreCounts.of_rows(("no", "yes"), SCORES, TRUTH)
    slopes = _score_slopes(counted, lambda one: float(one.counts.sum() + 100 * one.size))
    assert slopes.counts.tolist() == [1, 2, 1, 1, 1, 2, 1, 1]
    # Of six scores 0.1, 0.4 and 0.9 have one row, and go with it.
    assert slopes.moves.tolist() == [509, 609, 509, 609, 609, 609, 609, 509]


def test_resamples_are_kept_where_they_are_few_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    method = Bootstrap(resamples=5)
    size = 2 * 6 * 5
    for most, kept in ((size, True), (size - 1, False)):
        counted = ScoreCounts.of_rows(("no", "yes"), SCORES, TRUTH, counts=OFTEN)
        monkeypatch.setattr(bootstrap, "_KEPT_DRAWS", most)
        score_interval(counted, mean_score, method)
        assert bool(counted.draws) is kept


def test_resamples_of_another_method_take_the_place_of_those_that_were_kept() -> None:
    counted = ScoreCounts.of_rows(("no", "yes"), SCORES, TRUTH, counts=OFTEN)
    for method in (Bootstrap(resamples=5), Bootstrap(resamples=6), Bootstrap(resamples=6, seed=1)):
        score_interval(counted, mean_score, method)
        assert list(counted.draws) == [(method.seed, method.resamples)]


CLUSTER = np.array([0, 0, 1, 1, 1, 2, 2, 3, 3, 4])


def rows(**options) -> Sample:
    return Sample.of_rows(("no", "yes"), TRUTH, {"model": SCORES}, counts=OFTEN, **options)


def in_clusters() -> Sample:
    return rows(cluster=CLUSTER, clusters=list("pqrst"))


def of_clusters(often: np.ndarray) -> float:
    times = OFTEN * np.asarray(often, int)[CLUSTER]
    truth, scores = np.repeat(TRUTH, times), np.repeat(SCORES, times)
    return mean_of_rows(truth, scores) if truth.any() else math.nan


@pytest.mark.parametrize("method", METHODS)
def test_interval_of_scores_in_clusters_by_hand(method) -> None:
    chosen = method(level=0.8, resamples=40, seed=8)
    generator = np.random.default_rng(8)
    values = [of_clusters(generator.multinomial(5, [0.2] * 5)) for _ in range(40)]
    left_out = [of_clusters(np.arange(5) != i) for i in range(5)]
    assert not np.isnan(values).any()
    bounds = ends(clustered_score_interval(in_clusters(), mean_score, chosen))
    assert bounds == pytest.approx(expected(chosen, values, of_clusters(np.ones(5)), left_out))


def test_scores_of_clusters_that_were_not_drawn_are_not_there() -> None:
    sizes = set()
    clustered_score_interval(
        in_clusters(), lambda counted: float(sizes.add(counted.size) or 0), Bootstrap(resamples=40)
    )
    assert min(sizes) < max(sizes) == 6


def test_rows_of_clusters_are_sorted_once_for_all_resamples(monkeypatch) -> None:
    sorted_rows = []
    argsort = np.argsort
    monkeypatch.setattr(
        np, "argsort", lambda *rows, **how: sorted_rows.append(rows) or argsort(*rows, **how)
    )
    clustered_score_interval(in_clusters(), mean_score, Bootstrap(resamples=40))
    assert len(sorted_rows) <= 2


# -- rows ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sample", [rows(), in_clusters()], ids=["rows", "clusters"])
@pytest.mark.parametrize("method", METHODS)
def test_interval_of_rows_by_hand(sample: Sample, method) -> None:
    chosen = method(level=0.8, resamples=40, seed=9)

    def mean(counts: np.ndarray) -> float:
        return float(counts @ sample.scores[:, 0] / counts.sum())

    generator = np.random.default_rng(9)
    values = [mean(redrawn(sample, generator)) for _ in range(40)]
    estimate = mean(sample.counts)
    moves = (sample.scores[:, 0] - estimate) / sample.counts.sum()
    if sample.clusters:
        sums = [(moves * sample.counts)[sample.cluster == i].sum() for i in range(5)]
        left_out = [estimate - move for move in sums]
    else:
        left_out = np.repeat(estimate - moves, sample.counts)
    bounds = ends(row_interval(sample, mean, moves, chosen))
    assert bounds == pytest.approx(expected(chosen, values, estimate, left_out))


def test_rows_are_redrawn_as_often_as_there_are_rows() -> None:
    sample = rows()
    drawn = redrawn(sample, np.random.default_rng(2))
    shares = sample.counts / 18
    assert drawn.tolist() == np.random.default_rng(2).multinomial(18, shares).tolist()


def test_clusters_are_redrawn_whole() -> None:
    sample = in_clusters()
    drawn = redrawn(sample, np.random.default_rng(2))
    often = np.random.default_rng(2).multinomial(5, [0.2] * 5)
    assert drawn.tolist() == (sample.counts * often[sample.cluster]).tolist()


def test_weighted_rows_are_not_redrawn() -> None:
    sample = Sample.of_rows(("no", "yes"), TRUTH, {"model": SCORES}, weights=OFTEN * 1.5)
    with pytest.raises(MethodError, match="rows with sampling weights can't be resampled"):
        row_interval(sample, lambda counts: float(counts.sum()), SCORES, Bootstrap())


@dataclass(frozen=True)
class Watched(BCa):
    """What it is given."""

    seen: list[Slopes] = field(default_factory=list)

    def ends(self, values, estimate, slopes) -> BootstrapInterval:
        self.seen.append(slopes)
        return super().ends(values, estimate, slopes)


def test_clusters_of_rows_are_left_out_whole() -> None:
    sample, method = in_clusters(), Watched(resamples=5)
    moves = np.arange(1.0, sample.size + 1)
    row_interval(sample, lambda counts: float(counts.sum()), moves, method)
    (slopes,) = method.seen
    sums = [(moves * sample.counts)[sample.cluster == i].sum() for i in range(5)]
    assert slopes.moves.tolist() == [18 - move for move in sums]
    assert slopes.counts.tolist() == [1] * 5


def test_rows_are_left_out_as_often_as_they_occur() -> None:
    sample, method = rows(), Watched(resamples=5)
    moves = np.arange(1.0, sample.size + 1)
    row_interval(sample, lambda counts: float(counts.sum()), moves, method)
    (slopes,) = method.seen
    assert slopes.moves.tolist() == (18 - moves).tolist()
    assert slopes.counts.tolist() == sample.counts.tolist()
