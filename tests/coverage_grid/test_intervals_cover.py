"""A small grid of what `make intervals` measures at length: 95% intervals hold the truth in 93 to
97.5% of samples wherever the promise is made.

Shares of rows are summed exactly. All else is simulated with a fixed seed, and allowed three
standard errors of the simulation.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from functools import cache

import numpy as np
import numpy.typing as npt
import pytest
from scipy.special import ndtr, ndtri
from scipy.stats import binom

import assay
from assay import ClopperPearson, Estimate, Wald, Wilson
from assay.formula import evaluate
from assay.inference.time_courses import area_under_time, change, slope
from assay.inference.top import over_days, read
from assay.measures import find
from assay.tally import ScoreTally

LOW, HIGH = 0.93, 0.975
# Samples of a simulation: in `make test`, and in `make slow`.
FEW, MANY = 300, 2000


@cache
def exact_coverage(method: Wilson | Wald | ClopperPearson, p: float, n: int) -> float:
    k = np.arange(n + 1)
    low, high = method(k, n)
    return float(binom.pmf(k, n, p)[(low <= p) & (p <= high)].sum())


def promised_shares() -> list[tuple[float, int]]:
    shares = [*np.geomspace(0.001, 0.1, 25).tolist(), *np.linspace(0.1, 0.9, 81).tolist()]
    return [(p, n) for n in (41, 100, 500, 3000, 20_000) for p in shares if n * p * (1 - p) >= 10]


def simulated(
    truth: float, estimates: Iterable[tuple[int, Estimate]]
) -> tuple[float, float, Counter]:
    """The share of samples whose interval held the truth, its standard error, and the methods."""
    held = drawn = 0
    methods: Counter[str] = Counter()
    for times, estimate in estimates:
        assert not math.isnan(estimate.low)
        held += times * (estimate.low <= truth <= estimate.high)
        drawn += times
        methods[estimate.method] += times
    share = held / drawn
    return share, math.sqrt(0.05 * 0.95 / drawn), methods


def drawn_tables(
    cells: dict[str, float], name: str, repetitions: int, seed: int
) -> Iterable[tuple[int, Estimate]]:
    """Estimates of tables of independent rows, and how often each table was drawn."""
    expected = np.array([cells[cell] for cell in ("TP", "FP", "FN", "TN")])
    rows = round(expected.sum())
    rng = np.random.default_rng(seed)
    drawn = rng.multinomial(rows, expected / expected.sum(), size=repetitions)
    tables, times = np.unique(drawn, axis=0, return_counts=True)
    for (tp, fp, fn, tn), count in zip(tables.tolist(), times.tolist(), strict=True):
        yield count, getattr(assay, name)(tp=tp, fp=fp, fn=fn, tn=tn)


def drawn_rankings(
    positive: float, hidden: float, sizes: tuple[int, int], repetitions: int, seed: int
) -> Iterable[tuple[int, Estimate]]:
    """AUCs of normal scores; ``hidden`` of the positives score like negatives."""
    positives, negatives = sizes
    truth = np.arange(positives + negatives) < positives
    rng = np.random.default_rng(seed)
    for _ in range(repetitions):
        scores: npt.NDArray[np.float64] = rng.normal(size=len(truth))
        scores[:positives] += positive * (rng.random(positives) >= hidden)
        yield 1, assay.roc_auc(truth, scores)


# -- shares of rows, exactly -----------------------------------------------------------------------


def test_wilson_covers_as_promised_wherever_npq_is_at_least_ten() -> None:
    grid = promised_shares()
    covered = {point: exact_coverage(Wilson(), *point) for point in grid}
    assert len(grid) > 300
    assert {point: c for point, c in covered.items() if not LOW <= c <= HIGH} == {}


def test_wilson_covers_the_level_on_average() -> None:
    covered = [exact_coverage(Wilson(), *point) for point in promised_shares()]
    assert np.mean(covered) == pytest.approx(0.95, abs=0.002)


def test_wilson_covers_less_than_promised_where_almost_nothing_is_expected() -> None:
    # One success in six samples expected: the promise is not made here, and this is why.
    assert exact_coverage(Wilson(), 0.0175, 10) < 0.85


@pytest.mark.parametrize("n", [10, 41, 200])
def test_clopper_pearson_never_covers_less_than_its_level(n: int) -> None:
    covered = [exact_coverage(ClopperPearson(), p, n) for p in np.linspace(0.001, 0.999, 333)]
    assert min(covered) >= 0.95


def test_wald_breaks_the_promise_that_wilson_keeps() -> None:
    assert min(exact_coverage(Wald(), *point) for point in promised_shares()) < 0.92


# -- decisions -------------------------------------------------------------------------------------


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    "cells",
    [
        {"TP": 10, "FP": 5, "FN": 5, "TN": 180},
        {"TP": 200, "FP": 6, "FN": 4, "TN": 9000},
        {"TP": 12, "FP": 100, "FN": 3, "TN": 885},
    ],
)
def test_f1_covers_as_promised_from_ten_hits_and_ten_errors_on(cells: dict[str, float]) -> None:
    truth = float(evaluate(find("f1").formula, cells))
    share, error, methods = simulated(truth, drawn_tables(cells, "f1", 4000, seed=1))
    assert LOW - 3 * error <= share <= HIGH + 3 * error
    assert set(methods) == {"wilson"}


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "cells",
    [
        {"TP": 40, "FP": 10, "FN": 10, "TN": 40},
        {"TP": 990, "FP": 10, "FN": 10, "TN": 990},
        {"TP": 10, "FP": 76, "FN": 10, "TN": 304},
    ],
)
@pytest.mark.parametrize("measure", ["mcc", "balanced_accuracy"])
def test_smooth_measures_cover_as_promised_from_ten_rows_a_cell_on(
    measure: str, cells: dict[str, float]
) -> None:
    truth = float(evaluate(find(measure).formula, cells))
    share, error, methods = simulated(truth, drawn_tables(cells, measure, 2000, seed=2))
    assert LOW - 3 * error <= share <= HIGH + 3 * error
    assert set(methods) == {"delta"}


# -- rankings --------------------------------------------------------------------------------------


def binormal_shift(auc: float) -> float:
    return math.sqrt(2) * float(ndtri(auc))


@pytest.mark.parametrize(
    ("auc", "sizes", "repetitions"),
    [
        (0.7, (50, 50), FEW),
        pytest.param(0.7, (50, 50), MANY, marks=pytest.mark.slow),
        pytest.param(0.9, (100, 400), MANY, marks=pytest.mark.slow),
        pytest.param(0.95, (500, 200), MANY, marks=pytest.mark.slow),
    ],
)
def test_auc_covers_as_promised_by_delong_where_errors_are_many(
    auc: float, sizes: tuple[int, int], repetitions: int
) -> None:
    assert min(sizes) * (1 - auc) >= 10 - 1e-9
    samples = drawn_rankings(binormal_shift(auc), 0.0, sizes, repetitions, seed=3)
    share, error, methods = simulated(auc, samples)
    assert LOW - 3 * error <= share <= HIGH + 3 * error
    assert methods["delong"] > 0.9 * methods.total()


@pytest.mark.parametrize(
    ("sizes", "repetitions"),
    [
        ((50, 500), FEW),
        pytest.param((50, 500), MANY, marks=pytest.mark.slow),
        pytest.param((100, 2000), MANY, marks=pytest.mark.slow),
    ],
)
def test_auc_covers_as_promised_where_few_hidden_attacks_make_all_errors(
    sizes: tuple[int, int], repetitions: int
) -> None:
    hidden = 0.2 if sizes[0] == 50 else 0.1
    auc = (1 - hidden) * float(ndtr(4 / math.sqrt(2))) + hidden / 2
    assert min(sizes) * (1 - auc) >= 5
    share, error, methods = simulated(auc, drawn_rankings(4.0, hidden, sizes, repetitions, seed=4))
    assert LOW - 3 * error <= share <= HIGH + 3 * error
    assert set(methods) == {"delong", "newcombe"}


@pytest.mark.parametrize(
    ("auc", "sizes", "repetitions"),
    [
        (0.95, (30, 30), FEW),
        pytest.param(0.95, (30, 30), MANY, marks=pytest.mark.slow),
        pytest.param(0.99, (50, 500), MANY, marks=pytest.mark.slow),
    ],
)
def test_auc_covers_at_least_as_promised_by_newcombe_where_errors_are_few(
    auc: float, sizes: tuple[int, int], repetitions: int
) -> None:
    samples = drawn_rankings(binormal_shift(auc), 0.0, sizes, repetitions, seed=5)
    share, error, methods = simulated(auc, samples)
    assert share >= LOW - 3 * error
    assert methods["newcombe"] > 0.7 * methods.total()


# -- over time -------------------------------------------------------------------------------------


def shares_over_time(
    shares: npt.NDArray[np.float64], rows: int, repetitions: int, seed: int
) -> Iterable[list[Estimate]]:
    """A share of so many rows in each period, with Wilson's interval."""
    rng = np.random.default_rng(seed)
    drawn = rng.binomial(rows, shares, size=(repetitions, len(shares)))
    lows, highs = Wilson(0.95)(drawn, np.full_like(drawn, rows))
    for hits, low, high in zip(drawn, lows, highs, strict=True):
        yield [Estimate(k / rows, a, b, n=rows) for k, a, b in zip(hits, low, high, strict=True)]


@pytest.mark.parametrize("periods", [3, 12])
def test_area_and_slope_over_time_cover_as_promised(periods: int) -> None:
    shares = np.linspace(0.9, 0.7, periods)
    drawn = list(shares_over_time(shares, 150, 1500, seed=6))
    area = float(np.trapezoid(shares) / (periods - 1))
    for truth, estimates in (
        (area, [area_under_time(sample) for sample in drawn]),
        (-0.2 / (periods - 1), [slope(range(periods), sample).estimate for sample in drawn]),
        (-0.2, [change(sample) for sample in drawn]),
    ):
        share, error, _ = simulated(truth, ((1, estimate) for estimate in estimates))
        assert LOW - 3 * error <= share <= HIGH + 3 * error


def test_slope_over_periods_that_differ_covers_as_promised_by_their_scatter() -> None:
    rng = np.random.default_rng(7)
    samples = []
    for _ in range(1000):
        shares = np.linspace(0.7, 0.6, 10) + 0.08 * rng.normal(size=10)
        sample = next(iter(shares_over_time(shares, 1000, 1, seed=int(rng.integers(2**32)))))
        samples.append((1, slope(range(10), sample).estimate))
    share, error, methods = simulated(-0.1 / 9, samples)
    assert LOW - 3 * error <= share <= HIGH + 3 * error
    assert methods["residual t"] > 0.9 * methods.total()


@pytest.mark.parametrize(
    ("days", "k", "repetitions"),
    [
        (5, 20, 100),
        pytest.param(5, 20, 600, marks=pytest.mark.slow),
        pytest.param(20, 10, 600, marks=pytest.mark.slow),
    ],
)
def test_top_alerts_of_days_cover_as_promised(days: int, k: int, repetitions: int) -> None:
    rng = np.random.default_rng(8)

    def drawn(number: int) -> list[ScoreTally]:
        truth = (rng.random((number, 200)) < 0.1).astype(np.uint8)
        scores = rng.normal(size=truth.shape) + 2 * truth
        rows = zip(scores, truth, strict=True)
        return [ScoreTally.of_rows(("normal", "attack"), s, t) for s, t in rows]

    many = drawn(8 * repetitions)
    hits = sum(read(day, k)[0] for day in many)
    precise = hits / (k * len(many))
    samples = (
        (1, over_days({str(i): day for i, day in enumerate(drawn(days))}, k, 0.95).precision)
        for _ in range(repetitions)
    )
    share, error, _ = simulated(precise, samples)
    assert LOW - 3 * error <= share <= HIGH + 3 * error
