"""Score measures of many rows and of huge counts, against integer arithmetic.

Counts are never kept in the type of the scores, so float16, float32 and float64 columns of the same
numbers give the same AUC, to the last bit.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from tests.laws.counted import Counted, counted

from assay.counts import PairCounts, Sample, ScoreCounts
from assay.inference import cochran_q, delong_of, mcnemar_of
from assay.measures import rank

ROWS = 300_000
TYPES = (np.float16, np.float32, np.float64)


@cache
def columns(dtype: type) -> tuple[np.ndarray, np.ndarray]:
    """Labels and scores in [0, 1], a few wrong with certainty; float16 ties many rows."""
    rng = np.random.default_rng(20)
    truth = (rng.random(ROWS) < 0.3).astype(np.uint8)
    score = 1 / (1 + np.exp(-rng.normal(size=ROWS) - 2.0 * truth))
    score[:40] = 1 - truth[:40]
    return truth, score.astype(dtype)


@cache
def evaluated(dtype: type) -> Counted:
    truth, score = columns(dtype)
    return counted(("0", "1"), truth, scores=score)


@cache
def tallied(dtype: type) -> tuple[list[int], list[int]]:
    """Negatives and positives at each distinct score, ascending, by integer counting."""
    truth, score = columns(dtype)
    distinct, at = np.unique(score.astype(np.float64), return_inverse=True)
    both = np.zeros((2, len(distinct)), np.int64)
    np.add.at(both, (truth.astype(np.int64), at), 1)
    return both[0].tolist(), both[1].tolist()


class Oracle:
    """AUC, its DeLong variance and average precision of tied counts, in integers."""

    def __init__(self, negatives: list[int], positives: list[int]) -> None:
        self.negatives, self.positives = sum(negatives), sum(positives)
        self.counts = list(zip(negatives, positives, strict=True))

    def auc(self) -> float:
        below = twice = 0
        for q, p in self.counts:
            twice += p * (2 * below + q)
            below += q
        return twice / (2 * self.positives * self.negatives)

    def variance(self) -> float:
        """The sample variances of the placements of both sides, over their sizes."""
        m, n = self.positives, self.negatives
        sums, squares = [0, 0], [0, 0]
        below_q = below_p = 0
        for q, p in self.counts:
            # Twice the negatives below a positive, and the positives above a negative.
            of_positive, of_negative = 2 * below_q + q, 2 * (m - below_p) - p
            sums[0] += p * of_positive
            squares[0] += p * of_positive**2
            sums[1] += q * of_negative
            squares[1] += q * of_negative**2
            below_q, below_p = below_q + q, below_p + p
        of_positives = (squares[0] - Fraction(sums[0] ** 2, m)) / (m - 1) / (2 * n) ** 2
        of_negatives = (squares[1] - Fraction(sums[1] ** 2, n)) / (n - 1) / (2 * m) ** 2
        return float(of_positives / m + of_negatives / n)

    def average_precision(self) -> float:
        """The precision at each positive, in multiples of 2^-200."""
        total = hits = alerts = 0
        for q, p in reversed(self.counts):
            hits, alerts = hits + p, alerts + p + q
            total += (p * hits << 200) // alerts
        return float(Fraction(total, self.positives << 200))


# -- 300,000 rows of each type ---------------------------------------------------------------------


@pytest.mark.parametrize("dtype", TYPES)
def test_the_auc_is_the_integer_count_to_the_last_bit(dtype: type) -> None:
    assert evaluated(dtype)["roc_auc"].value == Oracle(*tallied(dtype)).auc()


@pytest.mark.parametrize("dtype", TYPES)
def test_average_precision_is_the_integer_count(dtype: type) -> None:
    exact = Oracle(*tallied(dtype)).average_precision()
    assert evaluated(dtype)["average_precision"].value == pytest.approx(exact, rel=1e-14)


@pytest.mark.parametrize("dtype", TYPES)
def test_the_delong_variance_is_the_integer_count(dtype: type) -> None:
    truth, score = columns(dtype)
    variance = rank(ScoreCounts.of_rows(("0", "1"), score.astype(np.float64), truth)).auc.variance
    assert variance == pytest.approx(Oracle(*tallied(dtype)).variance(), rel=1e-12)


@pytest.mark.parametrize("dtype", TYPES)
def test_the_confusion_matrix_is_the_integer_count(dtype: type) -> None:
    truth, score = columns(dtype)
    flagged = [s >= 0.5 for s in score.astype(float).tolist()]
    cells = [[0, 0], [0, 0]]
    for y, said in zip(truth.tolist(), flagged, strict=True):
        cells[y][said] += 1
    assert [list(row) for row in evaluated(dtype).confusion.cells] == cells


@pytest.mark.parametrize("dtype", TYPES)
def test_log_loss_and_brier_are_those_of_the_exact_values(dtype: type) -> None:
    truth, score = columns(dtype)
    pairs = list(zip(truth.tolist(), score.astype(float).tolist(), strict=True))
    given = [p if y else 1 - p for y, p in pairs]
    log = math.fsum(-math.log(max(p, 2.0**-52)) for p in given) / ROWS
    assert evaluated(dtype)["log_loss"].value == pytest.approx(log, rel=1e-12)
    brier = math.fsum((y - p) ** 2 for y, p in pairs) / ROWS
    assert evaluated(dtype)["brier"].value == pytest.approx(brier, rel=1e-12)
    clipped = sum(p < 2.0**-52 for p in given)
    assert clipped >= 40
    assert evaluated(dtype)["log_loss"].note == f"{clipped} rows were clipped at 2^-52"


@pytest.mark.parametrize("dtype", TYPES)
def test_the_same_numbers_in_a_wider_type_give_the_same_bits(dtype: type) -> None:
    truth, score = columns(dtype)
    wide = counted(("0", "1"), truth, scores=score.astype(np.float64))
    for name in ("roc_auc", "average_precision", "partial_auc", "log_loss", "brier", "recall"):
        estimate, other = evaluated(dtype)[name], wide[name]
        assert (estimate.value, estimate.low, estimate.high) == (
            other.value,
            other.low,
            other.high,
        ), name


def test_near_an_auc_of_1_the_variance_keeps_its_digits() -> None:
    """Negatives above a positive are counted, not those below: 3 wrong pairs of 4 * 10^9."""
    negatives, positives = [100_000, 1, 0, 1, 0], [0, 0, 2, 0, 39_998]
    auc = rank(tied(negatives, positives)).auc
    oracle = Oracle(negatives, positives)
    assert auc.value == oracle.auc()
    assert auc.variance == pytest.approx(oracle.variance(), rel=1e-12)


# -- counts up to 10^18 ----------------------------------------------------------------------------


def tied(negatives: list[int], positives: list[int]) -> ScoreCounts:
    """A tally with these counts at ascending scores."""
    counts = np.array([negatives, positives], np.int64)
    return ScoreCounts(("0", "1"), np.arange(len(negatives), dtype=float), counts)


def huge(seed: int) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """Some rows with ties, and how often each occurs: up to 3 * 10^17, all below 2^62."""
    rng = np.random.default_rng(seed)
    truth = np.array([0, 1, *rng.integers(0, 2, 10).tolist()])
    score = np.round(rng.random(12), 1)
    counts = [int(rng.integers(1, 10 ** int(rng.integers(1, 18)) * 3)) for _ in truth]
    counts[int(rng.integers(0, 12))] = 10**18
    return truth, score, counts


def grouped(truth: np.ndarray, score: np.ndarray, counts: list[int]) -> Oracle:
    table: dict[float, list[int]] = {s: [0, 0] for s in sorted(set(score.tolist()))}
    for y, s, often in zip(truth.tolist(), score.tolist(), counts, strict=True):
        table[s][y] += often
    return Oracle([q for q, _ in table.values()], [p for _, p in table.values()])


@pytest.mark.parametrize("seed", range(25))
def test_measures_of_huge_counts_are_exact(seed: int) -> None:
    truth, score, counts = huge(seed)
    oracle = grouped(truth, score, counts)
    evaluation = counted(("0", "1"), truth, scores=score, counts=counts)
    assert evaluation["roc_auc"].value == oracle.auc()
    exact = oracle.average_precision()
    assert evaluation["average_precision"].value == pytest.approx(exact, rel=1e-14)
    total = sum(counts)
    right = sum(
        often
        for y, s, often in zip(truth.tolist(), score.tolist(), counts, strict=True)
        if (s >= 0.5) == y
    )
    assert evaluation["accuracy"].value == right / total
    assert evaluation.confusion.total == total


@pytest.mark.parametrize("seed", range(25))
def test_the_delong_variance_of_huge_counts_is_right_to_rounding(seed: int) -> None:
    oracle = grouped(*huge(seed))
    auc = rank(tied(*map(list, zip(*oracle.counts, strict=True)))).auc
    assert auc.value == oracle.auc()
    # Squares of placements, which lie in [0, 1], are summed in floats.
    rounding = 1e-14 * (1 / oracle.positives + 1 / oracle.negatives)
    assert auc.variance == pytest.approx(oracle.variance(), rel=1e-12, abs=rounding)


@pytest.mark.parametrize("seed", range(5))
def test_losses_of_huge_counts_are_exact(seed: int) -> None:
    truth, score, counts = huge(seed)
    score = score.clip(0.1, 0.9)
    evaluation = counted(("0", "1"), truth, scores=score, counts=counts)
    log = brier = Fraction(0)
    for y, s, often in zip(truth.tolist(), score.tolist(), counts, strict=True):
        log += often * Fraction(-math.log(s if y else 1 - s))
        brier += often * (Fraction(s) - y) ** 2
    assert evaluation["log_loss"].value == pytest.approx(float(log / sum(counts)), rel=1e-12)
    assert evaluation["brier"].value == pytest.approx(float(brier / sum(counts)), rel=1e-12)
    error = evaluation["expected_calibration_error"]
    assert 0 <= error.value <= 1
    # So many rows would show next to nothing, were the model calibrated.
    assert 0 <= error.parts["if_calibrated"] < 1e-6


# -- what a calibrated model would show ------------------------------------------------------------


def expected_gap(n: int, p: float) -> float:
    """What the calibration error of n rows with the one score p averages, if p is right."""
    rows = counted(("0", "1"), [0, 1], scores=[p, p], counts=[n - n // 3, n // 3])
    return rows["expected_calibration_error"].parts["if_calibrated"]


@pytest.mark.parametrize("p", [0.001, 0.25, 0.5, 0.77, 0.99])
@pytest.mark.parametrize("n", [3, 4, 10, 41, 300])
def test_the_gap_of_a_calibrated_model_is_the_mean_over_all_outcomes(n: int, p: float) -> None:
    share = Fraction(p)
    exact = sum(
        math.comb(n, k) * share**k * (1 - share) ** (n - k) * abs(Fraction(k, n) - share)
        for k in range(n + 1)
    )
    assert expected_gap(n, p) == pytest.approx(float(exact), rel=1e-11)


@pytest.mark.parametrize("n", [10**6, 10**9, 10**12, 10**15, 10**18])
def test_the_gap_of_many_rows_is_that_of_the_normal_limit(n: int) -> None:
    for p in (0.01, 0.3, 0.5, 0.9):
        limit = math.sqrt(2 * p * (1 - p) / (math.pi * n))
        assert expected_gap(n, p) == pytest.approx(limit, rel=1e-4)


# -- comparisons -----------------------------------------------------------------------------------


@pytest.mark.parametrize("often", [10**5, 10**10, 10**17])
def test_a_comparison_of_huge_counts_does_not_overflow(often: int) -> None:
    truth, counts = np.array([1, 0, 1, 0] * 3), np.array([often] * 12)
    scores = {"a": np.array([0.9, 0.1, 0.4, 0.5] * 3), "b": np.array([0.8, 0.3, 0.6, 0.2] * 3)}
    auc = delong_of(Sample.of_rows(("0", "1"), truth, scores, counts=counts))
    assert (auc.table["a"], auc.table["b"]) == (0.75, 1.0)
    decisions = {name: column >= 0.5 for name, column in scores.items()}
    test = mcnemar_of(PairCounts.of_rows(("0", "1"), truth, decisions, counts=counts))
    assert test.table["only_b"] == 6 * often


def test_cochran_s_q_of_huge_counts_does_not_overflow() -> None:
    right = [[1, 0, 1, 1], [1, 1, 0, 1], [0, 0, 1, 1], [1, 1, 1, 0]]
    once = cochran_q(right).statistic
    assert once is not None
    significance = cochran_q(right, [10**18] * 4)
    assert significance.statistic == pytest.approx(once * 1e18, rel=1e-14)
    assert significance.p == 0
