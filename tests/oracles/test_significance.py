"""Tests of significance against statsmodels, scipy, and the papers' formulas in exact arithmetic.

The re-implementations here are written from the papers, in rationals or at 50 digits, and share
nothing with the package.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import mpmath
import numpy as np
import pytest
import scipy.integrate
import scipy.stats
from mpmath import mp, mpf
from statsmodels.stats import contingency_tables, multitest
from tests.laws.counted import counted

from assay.inference import (
    Newcombe,
    benjamini_hochberg,
    cochran_q,
    delong_test,
    five_by_two_f,
    five_by_two_t,
    friedman,
    holm,
    mcnemar,
    mean_ranks,
    nadeau_bengio,
    nemenyi,
    paired_difference,
    paired_t,
)
from assay.measures import Smooth

SEEDS = range(12)


@pytest.fixture(autouse=True)
def fifty_digits() -> Iterator[None]:
    with mpmath.workdps(50):
        yield


def exact(number: Fraction) -> mpf:
    return mpf(number.numerator) / number.denominator


def t_tail(t: mpf, df: int) -> float:
    """The two-sided p-value of a t statistic."""
    return float(mp.betainc(mpf(df) / 2, mpf(1) / 2, 0, df / (df + t**2), regularized=True))


# -- the same rows ---------------------------------------------------------------------------------

TABLES = [(0, 1), (1, 1), (2, 9), (12, 12), (12, 13), (30, 14), (3, 90), (250, 251), (5000, 4700)]


@pytest.mark.parametrize(("b", "c"), TABLES)
def test_mcnemar_agrees_with_statsmodels(b: int, c: int) -> None:
    table = [[100, b], [c, 40]]
    theirs = contingency_tables.mcnemar(table, exact=True)
    assert mcnemar(b, c, method="exact").p == pytest.approx(theirs.pvalue, rel=1e-12)
    theirs = contingency_tables.mcnemar(table, exact=False, correction=False)
    ours = mcnemar(b, c, method="uncorrected")
    assert ours.statistic == pytest.approx(theirs.statistic, rel=1e-14)
    assert ours.p == pytest.approx(theirs.pvalue, rel=1e-12)
    if b != c:
        theirs = contingency_tables.mcnemar(table, exact=False, correction=True)
        ours = mcnemar(b, c, method="corrected")
        assert ours.statistic == pytest.approx(theirs.statistic, rel=1e-14)
        assert ours.p == pytest.approx(theirs.pvalue, rel=1e-12)


def test_the_correction_never_makes_equal_counts_differ() -> None:
    """With b = c statsmodels corrects 0 to -1, whose square is 1; R and we leave it at 0."""
    theirs = contingency_tables.mcnemar([[0, 15], [15, 0]], exact=False, correction=True)
    assert theirs.statistic == pytest.approx(1 / 30)
    ours = mcnemar(15, 15, method="corrected")
    assert (ours.statistic, ours.p) == (0, 1)


@pytest.mark.parametrize(("b", "c"), TABLES)
def test_the_exact_p_agrees_with_scipy_s_binomial_test(b: int, c: int) -> None:
    theirs = scipy.stats.binomtest(b, b + c).pvalue
    assert mcnemar(b, c, method="exact").p == pytest.approx(theirs, rel=1e-11)


@pytest.mark.parametrize("seed", SEEDS)
def test_cochran_s_q_agrees_with_statsmodels(seed: int) -> None:
    rng = np.random.default_rng(seed)
    right = rng.random((int(rng.integers(5, 80)), int(rng.integers(2, 7)))) < 0.6
    theirs = contingency_tables.cochrans_q(right.astype(int))
    ours = cochran_q(right)
    assert ours.statistic == pytest.approx(theirs.statistic, rel=1e-12)
    assert ours.df == (theirs.df,)
    assert ours.p == pytest.approx(theirs.pvalue, rel=1e-11)


def test_counted_rows_of_cochran_s_q_are_repeated_rows() -> None:
    rng = np.random.default_rng(7)
    right, counts = rng.random((20, 3)) < 0.5, rng.integers(0, 9, 20)
    theirs = contingency_tables.cochrans_q(np.repeat(right, counts, axis=0).astype(int))
    assert cochran_q(right, counts).statistic == pytest.approx(theirs.statistic, rel=1e-12)


def test_cochran_s_q_of_two_models_is_mcnemar_s_uncorrected_test() -> None:
    right = [[1, 0]] * 9 + [[0, 1]] * 4 + [[1, 1]] * 20 + [[0, 0]] * 3
    ours, other = cochran_q(right), mcnemar(9, 4, method="uncorrected")
    assert ours.statistic == pytest.approx(other.statistic, rel=1e-14)
    assert ours.p == pytest.approx(other.p, rel=1e-13)


# -- over folds and data sets ----------------------------------------------------------------------


@pytest.mark.parametrize("digits", [1, 2, 9])
@pytest.mark.parametrize("seed", SEEDS)
def test_friedman_agrees_with_scipy(seed: int, digits: int) -> None:
    rng = np.random.default_rng(seed)
    rows, models = int(rng.integers(3, 25)), int(rng.integers(3, 8))
    table = np.round(rng.random((rows, models)), digits)
    theirs = scipy.stats.friedmanchisquare(*table.T)
    ours = friedman(table)
    assert ours.statistic == pytest.approx(theirs.statistic, rel=1e-11, abs=1e-12)
    assert ours.p == pytest.approx(theirs.pvalue, rel=1e-11)


def test_models_that_tie_everywhere_do_not_differ() -> None:
    significance = friedman([[0.5, 0.5, 0.5]] * 4)
    assert (significance.statistic, significance.p) == (0, 1)


@pytest.mark.parametrize("digits", [1, 9])
def test_mean_ranks_agree_with_scipy(digits: int) -> None:
    table = np.round(np.random.default_rng(3).random((30, 6)), digits)
    theirs = np.mean([scipy.stats.rankdata(-row) for row in table], axis=0)
    np.testing.assert_allclose(mean_ranks(table), theirs, rtol=1e-14)


@pytest.mark.parametrize(("rows", "models"), [(5, 3), (12, 4), (30, 6)])
def test_nemenyi_is_the_range_of_normals_by_its_integral(rows: int, models: int) -> None:
    """The chance that of K standard normals the highest is further above the lowest."""
    rng = np.random.default_rng(models)
    table = rng.random((rows, models)) + np.linspace(0, 0.8, models)
    means = np.mean([scipy.stats.rankdata(-row) for row in table], axis=0)
    normal = scipy.stats.norm

    def within(q: float) -> float:
        def density(z: float) -> float:
            return models * normal.pdf(z) * (normal.cdf(z) - normal.cdf(z - q)) ** (models - 1)

        return scipy.integrate.quad(density, -9, 9 + q, epsabs=1e-13, limit=200)[0]

    for test in nemenyi(table):
        i, j = int(test.models[0]), int(test.models[1])
        error = math.sqrt(models * (models + 1) / (6 * rows))
        q = abs(means[i] - means[j]) / error * math.sqrt(2)
        assert test.statistic == pytest.approx(q, rel=1e-12)
        assert test.p == pytest.approx(1 - within(q), abs=1e-11)
    assert len(nemenyi(table)) == models * (models - 1) // 2


@pytest.mark.parametrize("seed", SEEDS)
def test_the_paired_t_test_agrees_with_scipy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a = rng.random(int(rng.integers(2, 40)))
    b = a + rng.normal(0.01, 0.05, len(a))
    theirs = scipy.stats.ttest_rel(b, a)
    ours = paired_t(a, b)
    assert ours.statistic == pytest.approx(theirs.statistic, rel=1e-11)
    assert ours.p == pytest.approx(theirs.pvalue, rel=1e-11)
    interval = theirs.confidence_interval(0.95)
    assert ours.effect is not None
    assert (ours.effect.low, ours.effect.high) == pytest.approx(
        (interval.low, interval.high), rel=1e-10, abs=1e-13
    )


def folds(seed: int, shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Scores of two models with few decimals, as they stand in papers."""
    rng = np.random.default_rng(seed)
    a = np.round(rng.normal(0.9, 0.02, shape), 4)
    return a, np.round(a + rng.normal(0.004, 0.01, shape), 4)


def exact_differences(a: np.ndarray, b: np.ndarray) -> list[Fraction]:
    """B less A of the floats given, without rounding."""
    pairs = zip(a.ravel().tolist(), b.ravel().tolist(), strict=True)
    return [Fraction(y) - Fraction(x) for x, y in pairs]


@pytest.mark.parametrize("seed", SEEDS)
def test_nadeau_and_bengio_s_test_is_the_paper_s_formula(seed: int) -> None:
    """Equation 9 of the paper: the variance is that of the J differences, times 1/J + n2/n1."""
    a, b = folds(seed, (10,))
    n_train, n_test = 900 + seed, 100
    x = exact_differences(a, b)
    mean = sum(x) / len(x)
    variance = sum((d - mean) ** 2 for d in x) / (len(x) - 1)
    t = exact(mean) / mp.sqrt(exact(variance * (Fraction(1, len(x)) + Fraction(n_test, n_train))))
    ours = nadeau_bengio(a, b, n_train=n_train, n_test=n_test)
    assert ours.statistic == pytest.approx(float(t), rel=1e-11)
    assert ours.df == (9,)
    assert ours.p == pytest.approx(t_tail(t, 9), rel=1e-10)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_5x2cv_t_test_is_dietterich_s_formula(seed: int) -> None:
    a, b = folds(seed, (5, 2))
    x = exact_differences(a, b)
    pairs = [(x[2 * i], x[2 * i + 1]) for i in range(5)]
    variances = []
    for first, second in pairs:
        mean = (first + second) / 2
        variances.append((first - mean) ** 2 + (second - mean) ** 2)
    t = exact(pairs[0][0]) / mp.sqrt(exact(sum(variances) / 5))
    ours = five_by_two_t(a, b)
    assert ours.statistic == pytest.approx(float(t), rel=1e-11)
    assert ours.df == (5,)
    assert ours.p == pytest.approx(t_tail(t, 5), rel=1e-10)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_5x2cv_f_test_is_alpaydin_s_formula(seed: int) -> None:
    a, b = folds(seed, (5, 2))
    x = exact_differences(a, b)
    # The variance of two numbers about their mean is half their squared distance.
    spread = sum((x[2 * i] - x[2 * i + 1]) ** 2 / 2 for i in range(5))
    f = exact(sum(d**2 for d in x) / (2 * spread))
    p = mp.betainc(mpf(5) / 2, 5, 0, 5 / (5 + 10 * f), regularized=True)
    ours = five_by_two_f(a, b)
    assert ours.statistic == pytest.approx(float(f), rel=1e-11)
    assert ours.df == (10, 5)
    assert ours.p == pytest.approx(float(p), rel=1e-10)


# -- many tests ------------------------------------------------------------------------------------


@pytest.mark.sampled(1)
@pytest.mark.parametrize("seed", SEEDS)
def test_adjusted_p_values_agree_with_statsmodels(seed: int) -> None:
    rng = np.random.default_rng(seed)
    p = np.round(rng.beta(0.5, 2, int(rng.integers(1, 60))), 3)
    theirs = multitest.multipletests(p, method="holm")[1]
    np.testing.assert_allclose(holm(p), theirs, rtol=1e-13)
    theirs = multitest.multipletests(p, method="fdr_bh")[1]
    np.testing.assert_allclose(benjamini_hochberg(p), theirs, rtol=1e-13)


# -- Newcombe's intervals --------------------------------------------------------------------------


def method_5(auc: float | mpf, m: int, n: int, level: float) -> tuple[float, float]:
    """Newcombe 2006, part 2: Hanley and McNeil's variance with both sizes replaced by their mean.

    (auc - t)^2 = z^2 t (1 - t) (1 + N ((1 - t)/(2 - t) + t/(1 + t))) / (m n), N = (m + n)/2 - 1,
    is of degree four in t once its denominators are cleared.
    """
    z, size = mp.sqrt(2) * mp.erfinv(mpf(level)), mpf(m + n) / 2 - 1

    def product(*factors: list[mpf]) -> np.ndarray:
        terms = np.array([mpf(1)], dtype=object)
        for factor in factors:
            terms = np.convolve(terms, np.array(factor, dtype=object))
        return terms

    def padded(polynomial: np.ndarray) -> np.ndarray:
        return np.concatenate([np.array([mpf(0)] * (5 - len(polynomial))), polynomial])

    two_less, one_more, t, rest = [-1, 2], [1, 1], [1, 0], [-1, 1]
    gap = [mpf(1), -mpf(auc)]
    left = m * n * product(gap, gap, two_less, one_more)
    inner = product(two_less, one_more) + size * (product(rest, one_more) + product(t, two_less))
    right = z**2 * product(t, rest, inner.tolist())
    quartic = (padded(left) - padded(right)).tolist()
    zeros = mp.polyroots(quartic, maxsteps=500, extraprec=300)
    roots = [mp.re(root) for root in zeros if abs(mp.im(root)) < mpf(10) ** -30]
    return float(max(r for r in roots if r <= auc)), float(min(r for r in roots if r >= auc))


@pytest.mark.parametrize("level", [0.9, 0.95, 0.999])
@pytest.mark.parametrize(("m", "n"), [(1, 1), (2, 9), (10, 10), (7, 500), (3000, 40), (10**6, 90)])
def test_newcombe_s_method_5_solves_its_equation(m: int, n: int, level: float) -> None:
    for auc in (0.02, 0.3, 0.5, 0.77, 0.97, 0.9999):
        ours = Newcombe(level)(Smooth(auc, math.nan), m, n)
        assert ours == pytest.approx(method_5(auc, m, n, level), rel=1e-11)


def test_newcombe_s_method_5_can_be_asked_for() -> None:
    truth, score = [0, 1, 0, 1, 1, 0], [0.1, 0.2, 0.3, 0.4, 0.5, 0.45]
    ours = counted("01", truth, scores=score).at(method=Newcombe())["roc_auc"]
    assert (ours.low, ours.high) == pytest.approx(method_5(ours.value, 3, 3, 0.95), rel=1e-11)


@pytest.mark.parametrize(("auc", "side"), [(0.0, 0), (1.0, 1)])
def test_at_an_auc_of_0_and_1_method_5_ends_there(auc: float, side: int) -> None:
    interval = Newcombe(0.95)(Smooth(auc, 0.0), 20, 30)
    assert interval[side] == auc
    other = interval[1 - side]
    assert 0 < other < 1
    exact_ends = method_5(abs(auc - mpf(10) ** -30), 20, 30, 0.95)
    assert other == pytest.approx(exact_ends[1 - side], rel=1e-9)


def method_10(a: int, b: int, c: int, d: int, level: float) -> tuple[float, float]:
    """Newcombe 1998 for paired data: Wilson's intervals, squared and added with their correlation.

    The difference is (a + c)/n - (a + b)/n, of a table [[a, b], [c, d]].
    """
    n, z = a + b + c + d, mp.sqrt(2) * mp.erfinv(mpf(level))

    def wilson(k: int) -> tuple[mpf, mpf]:
        root = z * mp.sqrt(z**2 + 4 * mpf(k) * (n - k) / n)
        return (2 * k + z**2 - root) / (2 * (n + z**2)), (2 * k + z**2 + root) / (2 * (n + z**2))

    product = (a + b) * (c + d) * (a + c) * (b + d)
    cross = mpf(a * d - b * c)
    if cross > 0:
        cross = max(cross - mpf(n) / 2, mpf(0))
    phi = cross / mp.sqrt(product) if product else mpf(0)
    p, q = mpf(a + c) / n, mpf(a + b) / n
    (p_low, p_high), (q_low, q_high) = wilson(a + c), wilson(a + b)
    down, up = p - p_low, q_high - q
    low = p - q - mp.sqrt(down**2 - 2 * phi * down * up + up**2)
    down, up = q - q_low, p_high - p
    high = p - q + mp.sqrt(down**2 - 2 * phi * down * up + up**2)
    return float(low), float(high)


PAIRED_TABLES = [
    (36, 12, 2, 0),
    (20, 12, 2, 16),
    (1, 1, 7, 12),
    (0, 0, 0, 5),
    (5, 0, 0, 0),
    (0, 4, 9, 0),
    (0, 0, 6, 0),
    (50, 0, 0, 50),
    (9000, 210, 180, 610),
    (10**6, 3, 0, 10**5),
]


@pytest.mark.parametrize("level", [0.8, 0.95, 0.999])
@pytest.mark.parametrize("table", PAIRED_TABLES)
def test_newcombe_s_paired_method_10_agrees(table: tuple[int, ...], level: float) -> None:
    ours = paired_difference(*table, level=level)
    assert (ours.low, ours.high) == pytest.approx(method_10(*table, level), rel=1e-10, abs=1e-13)


@pytest.mark.parametrize(
    ("table", "published"),
    [((36, 12, 2, 0), (0.0569, 0.3404)), ((20, 12, 2, 16), (0.0562, 0.3292))],
)
def test_method_10_gives_the_paper_s_own_examples(
    table: tuple[int, ...], published: tuple[float, float]
) -> None:
    """The paper's difference is that of the first row and column, ours its negative."""
    ours = paired_difference(*table)
    assert (-ours.high, -ours.low) == pytest.approx(published, abs=5e-5)


# -- DeLong ----------------------------------------------------------------------------------------


def delong_by_definition(
    truth: list[int], scores: list[list[float]]
) -> tuple[list[Fraction], list[list[Fraction]]]:
    """AUCs and their covariance from the kernel: 1 for a pair in order, 1/2 for a tie."""
    positives = [i for i, y in enumerate(truth) if y]
    negatives = [i for i, y in enumerate(truth) if not y]
    m, n = len(positives), len(negatives)

    def kernel(s: list[float], i: int, j: int) -> Fraction:
        return Fraction((s[i] > s[j]) + (s[i] >= s[j]), 2)

    aucs, of_positives, of_negatives = [], [], []
    for s in scores:
        of_positives.append([sum(kernel(s, i, j) for j in negatives) / n for i in positives])
        of_negatives.append([sum(kernel(s, i, j) for i in positives) / m for j in negatives])
        aucs.append(sum(of_positives[-1]) / m)
    covariance = []
    for r, theta in enumerate(aucs):
        row = []
        for s, eta in enumerate(aucs):
            v10 = zip(of_positives[r], of_positives[s], strict=True)
            v01 = zip(of_negatives[r], of_negatives[s], strict=True)
            s10 = sum((x - theta) * (y - eta) for x, y in v10) / (m - 1)
            s01 = sum((x - theta) * (y - eta) for x, y in v01) / (n - 1)
            row.append(s10 / m + s01 / n)
        covariance.append(row)
    return aucs, covariance


@pytest.mark.parametrize("digits", [0, 1, 6])
@pytest.mark.parametrize("seed", range(4))
def test_delong_s_test_is_the_paper_s_kernel_in_rationals(seed: int, digits: int) -> None:
    rng = np.random.default_rng(seed)
    truth = rng.permutation([1] * 9 + [0] * 16).tolist()
    scores = np.round(rng.normal(size=(2, 25)) + np.array(truth), digits).tolist()
    aucs, covariance = delong_by_definition(truth, scores)
    ours = delong_test(truth, *scores)
    assert (ours.table["a"], ours.table["b"]) == (float(aucs[0]), float(aucs[1]))
    expected = np.array([[float(v) for v in row] for row in covariance])
    np.testing.assert_allclose(ours.table["covariance"], expected, rtol=1e-12, atol=1e-17)
    variance = exact(covariance[0][0] + covariance[1][1] - 2 * covariance[0][1])
    z = exact(aucs[1] - aucs[0]) / mp.sqrt(variance)
    assert ours.statistic == pytest.approx(float(z), rel=1e-10, abs=1e-12)
    assert ours.p == pytest.approx(float(mp.erfc(abs(z) / mp.sqrt(2))), rel=1e-9)
