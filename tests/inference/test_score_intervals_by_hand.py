"""Intervals of scores from plain values and variances, each worked out by its formula."""

import math
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy import special, stats

from assay.counts import ScoreCounts
from assay.counts.losses import Moments
from assay.errors import MethodError
from assay.inference import ClopperPearson, Wilson
from assay.inference.score_intervals import (
    DeLong,
    Newcombe,
    auc_interval,
    averaged_interval,
    chosen_interval,
    clustered,
    influence_interval,
    mean_interval,
    newcombe_variance,
    optimism,
    partial_interval,
    ranked_interval,
    rate_interval,
)
from assay.measures import Interval, Share, Smooth
from assay.measures.roc_points import Points

UNIT = (0.0, 1.0)
Z = float(stats.norm.ppf(0.975))


def t(df: float, level: float = 0.95) -> float:
    return float(stats.t.ppf((1 + level) / 2, df))


def on_logit(
    value: float, variance: float, reach: float, bounds: tuple[float, float] = UNIT
) -> tuple[float, float]:
    """Ends at so many errors of the log odds of where the value lies between its bounds."""
    low, width = bounds[0], bounds[1] - bounds[0]
    share, error = (value - low) / width, math.sqrt(variance) / width
    centre, step = special.logit(share), reach * error / (share * (1 - share))
    return low + width * special.expit(centre - step), low + width * special.expit(centre + step)


def edge(n: float, level: float = 0.95) -> float:
    """The lower end of n successes in n trials."""
    return float(((1 - level) / 2) ** (1 / n))


# -- AUC -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("auc", "positives", "negatives", "expected"),
    [
        # Half of all rows is 25: the factor is 49 - 72 / (1.2 * 1.8).
        (0.8, 20, 30, Fraction(4, 25) * (49 - Fraction(72 * 25, 54)) / 600),
        (0.5, 20, 30, Fraction(1, 4) * (49 - 32) / 600),
        # With one row of each kind nothing of the second term is left.
        (0.8, 1, 1, Fraction(4, 25)),
        (0.25, 3, 5, Fraction(3, 16) * (7 - Fraction(9 * 16, 35)) / 15),
    ],
)
def test_the_variance_of_method_5(
    auc: float, positives: int, negatives: int, expected: Fraction
) -> None:
    assert newcombe_variance(auc, positives, negatives) == pytest.approx(float(expected), rel=1e-14)


@pytest.mark.parametrize("level", [0.9, 0.95])
@pytest.mark.parametrize("stretch", [1.0, 4.0])
def test_the_ends_of_method_5_solve_its_equation(level: float, stretch: float) -> None:
    z = float(stats.norm.ppf((1 + level) / 2))
    low, high = Newcombe(level, stretch)(Smooth(0.8, math.nan), 20, 30)
    assert low < 0.8 < high
    for end in (low, high):
        expected = z**2 * stretch * newcombe_variance(end, 20, 30)
        assert (end - 0.8) ** 2 == pytest.approx(expected, rel=1e-12)


def test_method_5_ends_at_what_is_certain() -> None:
    low, high = Newcombe()(Smooth(1.0, math.nan), 20, 30)
    assert high == 1
    assert (1 - low) ** 2 == pytest.approx(Z**2 * newcombe_variance(low, 20, 30))
    assert Newcombe()(Smooth(0.0, math.nan), 20, 30) == pytest.approx((0.0, 1 - low))


def test_delong_of_a_variance() -> None:
    assert DeLong(0.9)(Smooth(0.8, 0.0025), 20, 30) == pytest.approx(
        on_logit(0.8, 0.0025, float(stats.norm.ppf(0.95)))
    )
    assert DeLong(0.9)(Smooth(1.0, 0.0), 20, 7) == pytest.approx((edge(7, 0.9), 1.0))
    assert DeLong(0.9)(Smooth(0.0, 0.0), 20, 7) == pytest.approx((0.0, 1 - edge(7, 0.9)))


def test_few_errors_stretch_method_5_to_the_larger_variance() -> None:
    assumed = newcombe_variance(0.9, 20, 30)
    for variance, stretch in ((assumed / 2, 1.0), (assumed * 3, 3.0), (math.nan, 1.0), (0.0, 1.0)):
        ends, name = auc_interval(Smooth(0.9, variance), 20, 30, 0.95)
        assert name == "newcombe"
        assert ends == pytest.approx(Newcombe(0.95, stretch)(Smooth(0.9, math.nan), 20, 30))


# -- by influence ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("smaller", "df"), [(0.5, 1), (1, 1), (1.5, 1), (2, 1), (2.5, 1.5), (5, 4), (100, 99)]
)
def test_influence_has_a_row_less_than_the_smaller_class_as_degrees_of_freedom(
    smaller: float, df: float
) -> None:
    interval = influence_interval(Smooth(0.7, 0.0004), smaller, UNIT, 0.95)
    assert interval == pytest.approx(on_logit(0.7, 0.0004, t(df)))


def test_influence_between_other_bounds() -> None:
    interval = influence_interval(Smooth(0.25, 0.01), 11, (-1.0, 1.0), 0.9)
    assert interval == pytest.approx(on_logit(0.25, 0.01, t(10, 0.9), (-1.0, 1.0)))
    low, high = influence_interval(Smooth(3.0, 0.01), 11, (1.0, math.inf), 0.9)
    step = math.exp(t(10, 0.9) * 0.1 / 2)
    assert (low, high) == pytest.approx((1 + 2 / step, 1 + 2 * step))


@pytest.mark.parametrize("variance", [0.0, math.nan])
def test_a_value_without_spread_has_wilsons_interval_of_the_smaller_class(variance: float) -> None:
    interval = influence_interval(Smooth(0.25, variance), 12, UNIT, 0.95)
    assert interval == pytest.approx(Wilson().ends(3, 12))
    low, high = Wilson().ends(9, 12)
    interval = influence_interval(Smooth(0.5, variance), 12, (-1.0, 1.0), 0.95)
    assert interval == pytest.approx((2 * low - 1, 2 * high - 1))


@pytest.mark.parametrize("variance", [0.0, 0.01, math.nan])
def test_a_value_at_the_edge_has_the_interval_of_no_exception(variance: float) -> None:
    interval = influence_interval(Smooth(1.0, variance), 12, UNIT, 0.9)
    assert interval == pytest.approx((edge(12, 0.9), 1.0))
    interval = influence_interval(Smooth(0.0, variance), 12, UNIT, 0.9)
    assert interval == pytest.approx((0.0, 1 - edge(12, 0.9)))
    interval = influence_interval(Smooth(-1.0, variance), 12, (-1.0, 1.0), 0.9)
    assert interval == pytest.approx((-1.0, 1 - 2 * edge(12, 0.9)))


@pytest.mark.parametrize("variance", [0.0, math.nan])
def test_without_an_upper_bound_a_value_without_spread_has_no_interval(variance: float) -> None:
    for value in (0.0, 2.0):
        ends = influence_interval(Smooth(value, variance), 12, (0.0, math.inf), 0.95)
        assert all(math.isnan(end) for end in ends)


def test_without_a_lower_bound_what_is_missing_is_read_as_odds() -> None:
    bounds = (-math.inf, 1.0)
    # Odds of 3 to 1 against: a share of 1 in 4.
    low, high = Wilson().ends(3, 12)
    interval = influence_interval(Smooth(-2.0, 0.0), 12, bounds, 0.95)
    assert interval == pytest.approx((1 - (1 - low) / low, 1 - (1 - high) / high))
    share = edge(12)
    interval = influence_interval(Smooth(1.0, 0.0), 12, bounds, 0.95)
    assert interval == pytest.approx((1 - (1 - share) / share, 1.0))
    low, high = influence_interval(Smooth(-2.0, 0.01), 12, bounds, 0.95)
    step = math.exp(t(11) * 0.1 / 3)
    assert (low, high) == pytest.approx((1 - 3 * step, 1 - 3 / step))


def test_a_value_that_is_below_all_shares_keeps_its_distance() -> None:
    interval = influence_interval(Smooth(-math.inf, math.nan), 12, (-math.inf, 1.0), 0.95)
    share = 1 - edge(12)
    assert interval == (-math.inf, pytest.approx(1 - (1 - share) / share))


# -- partial areas ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("positives", "inside"), [(50.0, 20.0), (20.0, 50.0)])
@pytest.mark.parametrize("ratio", [0.5, 3.0])
def test_a_partial_area_with_few_errors_is_an_area_between_its_bounds(
    positives: float, inside: float, ratio: float
) -> None:
    bounds = (0.2, 1.0)
    variance = ratio * newcombe_variance(0.9, positives, inside)
    interval = partial_interval(
        Smooth(0.2 + 0.8 * 0.9, 0.64 * variance), positives, inside, bounds, 0.95
    )
    ends = Newcombe(0.95, max(ratio, 1.0))(Smooth(0.9, math.nan), positives, inside)
    assert interval == pytest.approx(tuple(0.2 + 0.8 * end for end in ends))


@pytest.mark.parametrize(("positives", "inside"), [(50.0, 20.0), (20.0, 50.0)])
def test_from_five_errors_on_a_partial_area_has_the_interval_of_its_influence(
    positives: float, inside: float
) -> None:
    smooth, bounds = Smooth(0.75, 0.0004), (0.0, 1.0)
    interval = partial_interval(smooth, positives, inside, bounds, 0.95)
    assert interval == pytest.approx(on_logit(0.75, 0.0004, t(19)))
    few = partial_interval(Smooth(0.7500001, 0.0004), positives, inside, bounds, 0.95)
    assert abs(few[0] - interval[0]) > 1e-3


@pytest.mark.parametrize("value", [0.2, 1.0])
def test_a_partial_area_at_its_bound_ends_there(value: float) -> None:
    interval = partial_interval(Smooth(value, 0.01), 3, 30, (0.2, 1.0), 0.95)
    lower = 0.2 + 0.8 * edge(3)
    expected = (lower, 1.0) if value == 1 else (0.2, 1.2 - lower)
    assert interval == pytest.approx(expected)


def test_a_partial_area_without_spread_has_wilsons_interval() -> None:
    interval = partial_interval(Smooth(0.9, 0.0), 10, 30, UNIT, 0.95)
    assert interval == pytest.approx(Wilson().ends(9, 10))


# -- the detection rate at a false positive rate ---------------------------------------------------


def rate_by_ranks(
    negatives: list[float], positives: list[float], limit: float, level: float
) -> tuple[float, float]:
    """All ranks of negatives tried in turn."""
    n = len(negatives)

    def recall_above(rank: int) -> float:
        """Of all scores as thresholds, and none."""
        if rank < 0:
            return 0.0
        allowed = [
            score
            for score in {*negatives, *positives, math.inf}
            if sum(other >= score for other in negatives) <= rank
        ]
        return sum(score >= min(allowed) for score in positives) / len(positives)

    def kept(rank: int) -> float:
        return float(stats.binom.sf(rank, n, limit))

    def where(chance: float) -> float:
        first = max(rank for rank in range(-1, n) if kept(rank) >= chance)
        share = (kept(first) - chance) / (kept(first) - kept(first + 1))
        return recall_above(first) + share * (recall_above(first + 1) - recall_above(first))

    value = recall_above(math.floor(limit * n + 1e-9))
    low, high = Wilson(level).ends(value * len(positives), len(positives))
    tail = (1 - level) / 2
    below = math.hypot(value - low, max(value - where(1 - tail), 0.0))
    above = math.hypot(high - value, max(where(tail) - value, 0.0))
    return max(value - below, 0.0), min(value + above, 1.0)


NEGATIVES = [float(i * 7 % 23) for i in range(40)]
POSITIVES = [float(i * 5 % 29) for i in range(25)]


@pytest.mark.parametrize("limit", [0.001, 0.02, 0.1, 0.3, 0.75, 0.97])
@pytest.mark.parametrize("level", [0.5, 0.95])
@pytest.mark.parametrize("shift", [0.0, 9.5])
def test_a_detection_rate_is_bounded_by_ranks_of_negatives(
    limit: float, level: float, shift: float
) -> None:
    positives = [score + shift for score in POSITIVES]
    counted = ScoreCounts.of_rows(
        ("no", "yes"), np.array(NEGATIVES + positives), np.repeat([0, 1], [40, 25]).astype(np.uint8)
    )
    interval = rate_interval(Points.of(counted), limit, level)
    assert interval == pytest.approx(rate_by_ranks(NEGATIVES, positives, limit, level), abs=1e-12)


# -- thresholds that were chosen on the same rows --------------------------------------------------


class Halved:
    """What a best threshold gives on halves of the rows."""

    def __init__(self, values: list[float], positives: float = 30, negatives: float = 70) -> None:
        self.halves = values
        self.positives, self.negatives = positives, negatives
        self.table = SimpleNamespace(weighted=False)


def declared(interval: Interval = Interval.CHOSEN, reach: float = 1.0) -> Any:
    return SimpleNamespace(value_of=lambda half: half, interval=interval, reach=reach)


@pytest.mark.parametrize(
    ("halves", "more"),
    [
        ([0.8, 0.9], 0.05),
        ([0.8, math.nan], 0.0),
        ([math.nan, 0.9], 0.1),
        ([math.nan, math.nan], 0.0),
        ([0.5, 0.6], 0.0),
        ([1.0, 1.0], 0.2),
    ],
)
def test_optimism_is_what_halves_have_more(halves: list[float], more: float) -> None:
    bias = optimism(declared(), Smooth(0.8, 0.01), Halved(halves))
    assert bias == pytest.approx(more / (4 ** (1 / 3) - 1), abs=1e-15)


def test_a_chosen_threshold_is_centred_without_its_optimism() -> None:
    bias = 0.02 / (4 ** (1 / 3) - 1)
    interval = chosen_interval(
        declared(), Smooth(0.8, 0.001), Halved([0.81, 0.83]), 30, (0.2, 1.0), 0.95
    )
    expected = on_logit(0.8 - bias, 0.001 + bias**2 / 2, t(29), (0.2, 1.0))
    assert interval == pytest.approx(expected)


def test_optimism_takes_at_most_half_of_what_there_is() -> None:
    interval = chosen_interval(declared(), Smooth(0.4, 0.001), Halved([0.9, 0.9]), 30, UNIT, 0.95)
    assert interval == pytest.approx(on_logit(0.2, 0.001 + 0.02, t(29)))
    interval = chosen_interval(
        declared(), Smooth(0.4, 0.001), Halved([0.9, 0.9]), 30, (0.2, 1.0), 0.95
    )
    assert interval == pytest.approx(on_logit(0.3, 0.001 + 0.005, t(29), (0.2, 1.0)))


def test_many_rows_and_values_at_the_edge_are_not_corrected() -> None:
    smooth = Smooth(0.8, 0.001)
    plain = on_logit(0.8, 0.001, t(29))
    many = Halved([0.81, 0.83], 200_000, 300_001)
    assert chosen_interval(declared(), smooth, many, 30, UNIT, 0.95) == pytest.approx(plain)
    just = Halved([0.81, 0.83], 200_000, 300_000)
    assert chosen_interval(declared(), smooth, just, 30, UNIT, 0.95)[0] < plain[0] - 1e-3
    best = chosen_interval(declared(), Smooth(1.0, 0.0), Halved([1.0, 1.0]), 30, UNIT, 0.95)
    assert best == pytest.approx((edge(30), 1.0))
    least = chosen_interval(declared(), Smooth(0.0, 0.0), Halved([0.5, 0.5]), 30, UNIT, 0.95)
    assert least == pytest.approx((0.0, 1 - edge(30)))


# -- which interval --------------------------------------------------------------------------------


SMOOTH = Smooth(0.8, 0.001)


def test_what_is_declared_decides_the_interval() -> None:
    interval = ranked_interval(declared(Interval.AUC), SMOOTH, (40, 60), UNIT, 0.95)
    assert interval == auc_interval(SMOOTH, 40, 60, 0.95)
    assert interval[1] == "delong"
    for sizes in ((40, 60), (60, 40)):
        interval = ranked_interval(declared(Interval.INFLUENCE), SMOOTH, sizes, UNIT, 0.95)
        assert interval == (pytest.approx(on_logit(0.8, 0.001, t(39))), "delta")
    with pytest.raises(MethodError, match="has no interval MEAN"):
        ranked_interval(declared(Interval.MEAN), SMOOTH, (40, 60), UNIT, 0.95)


def test_without_negatives_the_positives_are_the_rows() -> None:
    interval = ranked_interval(declared(Interval.INFLUENCE), SMOOTH, (40, 0), UNIT, 0.95)
    assert interval == (pytest.approx(on_logit(0.8, 0.001, t(39))), "delta")


def test_a_partial_area_looks_at_one_negative_at_least() -> None:
    partial = declared(Interval.PARTIAL, reach=0.1)
    interval = ranked_interval(partial, SMOOTH, (40, 60), UNIT, 0.95)
    assert interval == (partial_interval(SMOOTH, 40, 6, UNIT, 0.95), "delta")
    interval = ranked_interval(partial, SMOOTH, (40, 5), UNIT, 0.95)
    assert interval == (partial_interval(SMOOTH, 40, 1, UNIT, 0.95), "delta")


@pytest.mark.parametrize("sizes", [(30, 70), (70, 30)])
def test_a_chosen_threshold_needs_its_ranking_without_weights(sizes: tuple[float, float]) -> None:
    ranking: Any = Halved([0.81, 0.83])
    plain = on_logit(0.8, 0.001, t(29))
    interval = ranked_interval(declared(), SMOOTH, sizes, UNIT, 0.95, ranking)
    assert interval == (chosen_interval(declared(), SMOOTH, ranking, 30, UNIT, 0.95), "delta")
    assert interval[0] != pytest.approx(plain)
    assert ranked_interval(declared(), SMOOTH, sizes, UNIT, 0.95)[0] == pytest.approx(plain)
    ranking.table.weighted = True
    interval = ranked_interval(declared(), SMOOTH, sizes, UNIT, 0.95, ranking)
    assert interval == (pytest.approx(plain), "delta")


def test_a_detection_rate_needs_its_points_without_weights() -> None:
    counted = ScoreCounts.of_rows(
        ("no", "yes"), np.array(NEGATIVES + POSITIVES), np.repeat([0, 1], [40, 25]).astype(np.uint8)
    )
    ranking: Any = SimpleNamespace(points=Points.of(counted), table=SimpleNamespace(weighted=False))
    at_rate = declared(Interval.AT_RATE, reach=0.1)
    interval = ranked_interval(at_rate, SMOOTH, (25, 40), UNIT, 0.95, ranking)
    assert interval == (rate_interval(ranking.points, 0.1, 0.95), "order statistics")
    plain = (pytest.approx(on_logit(0.8, 0.001, t(24))), "delta")
    assert ranked_interval(at_rate, SMOOTH, (25, 40), UNIT, 0.95) == plain
    ranking.table.weighted = True
    assert ranked_interval(at_rate, SMOOTH, (25, 40), UNIT, 0.95, ranking) == plain


# -- averages over classes -------------------------------------------------------------------------


def rows_of_classes(weighted: bool = False) -> Any:
    return SimpleNamespace(
        amounts_squared=np.array([1.0, 2.0, 1.0, 3.0, 1.0]),
        truth=np.array([0, 0, 1, 1, 2]),
        counts=np.array([1, 2, 1, 3, 1]),
        labels=("a", "b", "c"),
        weighted=weighted,
    )


def average(
    interval: Interval,
    moves: tuple[float, ...] = (0.1, -0.1, 0.2, 0.1, 0.1),
    unbiased: bool = False,
) -> Any:
    return SimpleNamespace(
        ranked=declared(interval),
        unbiased=unbiased,
        moves=lambda rows, model: (None, np.array(moves) if model == 0 else None),
    )


PARTS = [Share(0.5, Smooth(0.8, 0.002), 50.0, 90.0), Share(0.5, Smooth(0.6, 0.003), 80.0, 40.0)]


@pytest.mark.parametrize(
    ("unbiased", "weighted", "spread"),
    [
        (False, False, 0.03 + 0.07 + 0.01),
        # A class has a row less; the last has a single row.
        (True, False, 0.03 * 3 / 2 + 0.07 * 4 / 3 + 0.01),
        (True, True, 0.03 + 0.07 + 0.01),
    ],
)
def test_rows_of_all_classes_spread_an_average(
    unbiased: bool, weighted: bool, spread: float
) -> None:
    rows = rows_of_classes(weighted)
    interval = averaged_interval(rows, average(Interval.AUC, unbiased=unbiased), PARTS, UNIT, 0.95)
    assert interval == pytest.approx(on_logit(0.7, spread, Z))
    interval = averaged_interval(
        rows, average(Interval.INFLUENCE, unbiased=unbiased), PARTS, UNIT, 0.95
    )
    assert interval == pytest.approx(on_logit(0.7, spread, t(39)))


def test_an_average_of_a_class_of_one_row_has_one_degree_of_freedom() -> None:
    parts = [Share(1.0, Smooth(0.5, 0.01), 1.0, 90.0)]
    small = (0.001,) * 5
    interval = averaged_interval(
        rows_of_classes(), average(Interval.INFLUENCE, small), parts, UNIT, 0.9
    )
    reach = t(1, 0.9)
    own = on_logit(0.5, 0.01, reach)
    short = [math.sqrt(max((end - 0.5) ** 2 - reach**2 * 0.01, 0.0)) for end in own]
    ends = on_logit(0.5, 8e-6, reach)
    for end, more, bound, expected in zip(ends, short, UNIT, interval, strict=True):
        a, b = abs(end - 0.5) / 0.5, min(more / 0.5, 1.0)
        moved = 0.5 + (bound - 0.5) * math.sqrt(a**2 + b**2 - (a * b) ** 2)
        assert expected == pytest.approx(moved)


@pytest.mark.parametrize("bounds", [UNIT, (-1.0, 1.0)])
def test_parts_with_few_errors_move_the_ends_of_an_average_out(
    bounds: tuple[float, float],
) -> None:
    low, width = bounds[0], bounds[1] - bounds[0]
    parts = [
        Share(0.25, Smooth(low + width * 0.95, 0.0004), 200.0, 30.0),  # few errors: 1.5 rows
        Share(0.25, Smooth(low + width * 0.04, 0.0004), 60.0, 200.0),  # few hits: 2.4 rows
        Share(0.5, Smooth(low + width * 0.25, 0.0009), 20.0, 90.0),  # just enough: 5 rows
    ]
    value = sum(part.weight * part.smooth.value for part in parts)
    ends = on_logit(value, 0.11, t(19), bounds)
    short = [0.0, 0.0]
    for part, smaller in zip(parts[:2], (30, 60), strict=True):
        own = on_logit(*part.smooth, t(smaller - 1), bounds)
        for side in (0, 1):
            gap = (own[side] - part.smooth.value) ** 2 - t(19) ** 2 * part.smooth.variance
            short[side] = math.hypot(short[side], part.weight * math.sqrt(max(gap, 0.0)))
    assert max(short) > 0
    interval = averaged_interval(
        rows_of_classes(), average(Interval.INFLUENCE), parts, bounds, 0.95
    )
    for side in (0, 1):
        room = abs(bounds[side] - value)
        a, b = abs(ends[side] - value) / room, short[side] / room
        moved = value + (bounds[side] - value) * math.sqrt(a**2 + b**2 - (a * b) ** 2)
        assert interval[side] == pytest.approx(moved)


def test_an_average_without_spread_has_the_intervals_of_its_parts() -> None:
    parts = [
        Share(0.5, Smooth(0.5, 0.0), 100.0, 100.0),
        Share(0.5, Smooth(0.5, 0.0), 100.0, 100.0),
    ]
    low, high = Wilson().ends(50, 100)
    interval = averaged_interval(
        rows_of_classes(), average(Interval.INFLUENCE, (0.0,) * 5), parts, UNIT, 0.95
    )
    reach = (0.5 - low) / math.sqrt(2)
    assert interval == pytest.approx((0.5 - reach, 0.5 + reach))
    assert high - 0.5 == pytest.approx(0.5 - low)


def test_an_average_at_its_bound_stays_there() -> None:
    parts = [Share(1.0, Smooth(1.0, 0.0), 20.0, 30.0)]
    interval = averaged_interval(
        rows_of_classes(), average(Interval.INFLUENCE, (0.0,) * 5), parts, UNIT, 0.95
    )
    assert interval == pytest.approx((edge(20), 1.0))


# -- mean losses -----------------------------------------------------------------------------------


def moments(losses: list[float], weights: list[float] | None = None) -> Moments:
    x, w = np.array(losses), np.ones(len(losses)) if weights is None else np.array(weights)
    sums = (w, w * x, w**2, w**2 * x, w**2 * x**2)
    return Moments(*(float(each.sum()) for each in sums))


def test_the_mean_of_a_loss_by_hand() -> None:
    losses = [0.1, 0.4, 0.2, 0.9]
    mean, error = 0.4, float(np.std(losses, ddof=1)) / 2
    step = math.exp(t(3, 0.5) * error / mean)
    interval = mean_interval(moments(losses), 2.0, 0.5)
    assert interval == pytest.approx((mean / step, mean * step))
    assert mean_interval(moments(losses), 0.45, 0.5) == pytest.approx((mean / step, 0.45))


def test_the_mean_of_weighted_losses_counts_rows_by_their_weights() -> None:
    losses, weights = np.array([0.1, 0.4, 0.2, 0.9]), np.array([1.0, 2.0, 4.0, 1.0])
    n = 64 / 22
    mean = float(losses @ weights) / 8
    variance = float((weights**2 * (losses - mean) ** 2).sum()) / 64 * n / (n - 1)
    step = math.exp(t(n - 1, 0.5) * math.sqrt(variance) / mean)
    interval = mean_interval(moments(losses.tolist(), weights.tolist()), 9.0, 0.5)
    assert interval == pytest.approx((mean / step, mean * step))


@pytest.mark.parametrize("n", [1, 2, 20])
def test_no_loss_at_all_bounds_it_by_how_many_rows_there_are(n: int) -> None:
    interval = mean_interval(moments([0.0] * n), 3.0, 0.95)
    assert interval == pytest.approx((0.0, 3 * (1 - edge(n))))
    assert interval[1] == pytest.approx(3 * float(ClopperPearson()(0, n)[1]))


def test_one_row_with_a_loss_says_nothing() -> None:
    assert mean_interval(moments([0.5]), 3.0, 0.95) == (0.0, 3.0)
    # Next to a row that hardly counts too; one that counts a little tells something.
    assert mean_interval(moments([0.5, 0.7], [1.0, 1e-10]), 3.0, 0.95) == (0.0, 3.0)
    low, _ = mean_interval(moments([0.5, 0.5 + 1e-9], [1.0, 1e-3]), 3.0, 0.95)
    assert low > 0


# -- clusters --------------------------------------------------------------------------------------


def in_clusters(count: int) -> Any:
    return SimpleNamespace(
        clusters=tuple("abc"[:count]),
        cluster=np.arange(6) % count,
        counts=np.array([1, 1, 2, 1, 1, 3]),
        labels=("no", "yes"),
        truth=np.zeros(6, int),
    )


def test_clusters_move_a_value_by_the_sums_of_their_rows() -> None:
    moves = np.array([0.01, -0.02, 0.03, 0.0, 0.01, -0.01])
    by_row: Any = SimpleNamespace(moves=lambda rows, model: (None, moves if model == 0 else None))
    two = clustered(in_clusters(2), by_row, 0.6, UNIT, 0.95)
    spread = (0.01 + 0.06 + 0.01) ** 2 + (-0.02 + 0 - 0.03) ** 2
    assert two == pytest.approx(on_logit(0.6, spread * 2, t(1)))
    three = clustered(in_clusters(3), by_row, 0.6, (-1.0, 1.0), 0.95)
    spread = 0.01**2 + (-0.02 + 0.01) ** 2 + (0.06 - 0.03) ** 2
    assert three == pytest.approx(on_logit(0.6, spread * 3 / 2, t(2), (-1.0, 1.0)))
    assert all(math.isnan(end) for end in clustered(in_clusters(1), by_row, 0.6, UNIT, 0.95))
    for value in (0.0, 1.0):
        assert all(math.isnan(end) for end in clustered(in_clusters(3), by_row, value, UNIT, 0.95))
