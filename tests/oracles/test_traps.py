"""Famous traps: what evaluation libraries got wrong, so that we do not.

Each section names the issues. Where it is cheap, what scikit-learn or statsmodels do today is shown
too, so that we notice when they change; those tests hold for scikit-learn from 1.9 and statsmodels
from 0.15 on.
"""

from __future__ import annotations

import math
import warnings
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sklearn
import sklearn.metrics as sk
import statsmodels
from statsmodels.stats.contingency_tables import mcnemar as their_mcnemar
from statsmodels.stats.proportion import proportion_confint
from tests.laws.counted import Counted, counted, of_cells

from assay.counts import PairCounts, Sample
from assay.inference import (
    AgrestiCoull,
    Bootstrap,
    ClopperPearson,
    DeLong,
    Jeffreys,
    Method,
    Newcombe,
    ProportionInterval,
    Wald,
    Wilson,
    delong_of,
    mcnemar,
    mcnemar_of,
    paired_scores,
)
from assay.measures import AVERAGE_PRECISION, PARTIAL_AUC


def version(module: object) -> tuple[int, ...]:
    return tuple(int(part) for part in module.__version__.split(".")[:2])


of_sklearn = pytest.mark.skipif(version(sklearn) < (1, 9), reason="seen with scikit-learn 1.9")
of_statsmodels = pytest.mark.skipif(
    version(statsmodels) < (0, 15), reason="seen with statsmodels 0.15"
)


def ranked(truth: Any, score: Any, **options: Any) -> Counted:
    return counted("01", truth, scores=score, **options)


def auc(truth: Any, score: Any) -> float:
    return ranked(truth, score).value("roc_auc")


# -- products of counts overflow -------------------------------------------------------------------
# MCC: scikit-learn #2806, #9622, smile #879, MLJBase #381, yardstick #108, pycm #624.
# Kappa: scikit-learn #8354, #7929. AUC: Metrics (R) #35, pROC #19.


@pytest.mark.parametrize("scale", [10**5, 10**9, 3 * 10**9, 10**18, 10**30])
def test_mcc_and_kappa_do_not_overflow(scale: int) -> None:
    evaluation = of_cells(tp=9 * scale, fp=scale, fn=scale, tn=9 * scale)
    assert evaluation["mcc"].value == 0.8
    assert evaluation["kappa"].value == 0.8
    assert 0.79 < evaluation["mcc"].low <= 0.8 <= evaluation["mcc"].high < 0.81


def test_the_cells_of_scikit_learn_s_issue_9622_give_a_correlation() -> None:
    """There the products of counts of 100,000 rows gave 1.755."""
    mcc = of_cells(tp=50_000, fp=10, fn=20, tn=49_970)["mcc"]
    assert mcc.value == pytest.approx(0.9994, abs=1e-4)
    truth = np.repeat([1, 0, 1, 0], [50_000, 10, 20, 49_970])
    said = np.repeat([1, 1, 0, 0], [50_000, 10, 20, 49_970])
    assert sk.matthews_corrcoef(truth, said) == pytest.approx(mcc.value, rel=1e-12)


def test_the_auc_of_144_thousand_rows_does_not_overflow() -> None:
    """pROC #19: the number of pairs is above 2^31, and the AUC was 15.97."""
    truth = np.tile([0, 1], 72_000)
    score = np.arange(144_000) + 5 * truth
    roc_auc = ranked(truth, score)["roc_auc"]
    assert roc_auc.value == pytest.approx(sk.roc_auc_score(truth, score), rel=1e-13)
    assert 0.49 < roc_auc.low < roc_auc.value < roc_auc.high < 0.51


# -- counts kept in the type of the scores ---------------------------------------------------------
# scikit-learn #6842, #34975; cmu-thesis #7 (a float16 sum stays at 2048).


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_narrow_scores_do_not_narrow_the_counts(dtype: type) -> None:
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 2, 20_000)
    score = (rng.normal(size=20_000) + truth).astype(dtype)
    narrow, wide = ranked(truth, score), ranked(truth, score.astype(float))
    for name in ("roc_auc", "average_precision"):
        assert narrow.value(name) == wide.value(name)
    assert narrow.value("roc_auc") == pytest.approx(sk.roc_auc_score(truth, score))


def test_float32_weights_are_not_added_in_float32() -> None:
    """2^24 + 1 is 2^24 in float32: each further row would be lost."""
    weight = np.array([2**24, *[1] * 999], np.float32)
    truth = np.array([1, *[0, 1, 1] * 333])
    decisions = np.array([1, *[1, 1, 0] * 333])
    # Each of 333 rows of weight 1: a false positive, a true positive, a false negative.
    evaluation = counted("01", truth, decisions, weights=weight)
    assert evaluation.confusion.total == 2**24 + 999
    assert evaluation["precision"].value == (2**24 + 333) / (2**24 + 666)
    assert evaluation["recall"].value == (2**24 + 333) / (2**24 + 666)


# -- what is a tie ---------------------------------------------------------------------------------
# scikit-learn #6688, #20525, #19093: thresholds that are close were taken as one.


def test_scores_on_a_tiny_scale_are_told_apart() -> None:
    assert auc([0, 0, 1, 1], [1e-300, 2e-300, 3e-300, 4e-300]) == 1


def test_neighbouring_floats_are_no_tie() -> None:
    assert auc([0, 1], [3.4, 3.4000000000000004]) == 1
    assert auc([0, 1], [3.4, 3.4]) == 0.5


def test_minus_zero_and_zero_are_a_tie() -> None:
    assert auc([0, 1, 0, 1], [-0.0, 0.0, 0.0, -0.0]) == 0.5


def test_rounded_scores_move_the_auc_only_as_far_as_their_ties_allow() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 2000)
    score = rng.normal(size=2000) + 1.5 * truth
    coarse = np.round(score, 0)
    fine, tied = auc(truth, score), auc(truth, coarse)
    # Had every tie gone well, or badly.
    best = auc(truth, coarse + truth / 4)
    worst = auc(truth, coarse - truth / 4)
    assert worst < tied < best
    assert worst <= fine <= best
    assert tied == pytest.approx((best + worst) / 2, rel=1e-12)


# scikit-learn #6377, #5379, #4223, #13074; burn #5683: average precision by the order of tied rows.


def test_a_constant_score_has_the_prevalence_as_average_precision() -> None:
    assert ranked([0, 1, 0, 0], [0.5] * 4).value("average_precision") == 0.25
    assert sk.average_precision_score([0, 1, 0, 0], [0.5] * 4) == 0.25


def test_the_order_of_tied_rows_changes_no_bit() -> None:
    rng = np.random.default_rng(5)
    truth, score = rng.integers(0, 2, 300), rng.integers(0, 6, 300) / 5
    names = ("roc_auc", "average_precision", "partial_auc")
    evaluation = ranked(truth, score)
    for _ in range(5):
        order = rng.permutation(300)
        other = ranked(truth[order], score[order])
        for name in names:
            assert (other[name].value, other[name].low) == (
                evaluation[name].value,
                evaluation[name].low,
            )


# -- log loss --------------------------------------------------------------------------------------
# scikit-learn #24315, #24354, #17399, #28851, #24515: where probabilities are clipped.


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_a_wrong_certainty_costs_the_same_in_every_type(dtype: type) -> None:
    log_loss = ranked([0, 1, 1], np.array([1, 1, 0], dtype))["log_loss"]
    assert log_loss.value == pytest.approx(2 / 3 * 52 * math.log(2), rel=1e-12)
    assert log_loss.note == "2 rows were clipped at 2^-52"


@of_sklearn
def test_in_scikit_learn_the_type_of_the_column_decides_how_much_it_costs() -> None:
    wide, narrow = np.array([1.0, 1.0]), np.array([1, 1], np.float32)
    assert sk.log_loss([0, 1], wide) == pytest.approx(18.02, abs=0.01)
    assert sk.log_loss([0, 1], narrow) == pytest.approx(7.97, abs=0.01)


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_narrow_probabilities_are_widened_before_the_logarithm(dtype: type) -> None:
    rng = np.random.default_rng(1)
    truth, score = rng.integers(0, 2, 500), rng.random(500).astype(dtype)
    wide = ranked(truth, score.astype(np.float64))
    assert ranked(truth, score).value("log_loss") == wide.value("log_loss")


def test_right_certainties_cost_nothing_and_clip_nothing() -> None:
    log_loss = ranked([0, 1], [0.0, 1.0])["log_loss"]
    assert log_loss.value == 0
    assert log_loss.note is None


# -- 0/0 and single classes ------------------------------------------------------------------------
# scikit-learn #27189, #26864, #31052, #17826, #10812, #25531, #13143; kappa #14256, #29210, #31172;
# MCC #28509; single class #27412, #30103, #34631.


def test_one_class_that_is_decided_right_leaves_five_measures_undefined() -> None:
    harmless = ranked([0, 0, 0], [0.1, 0.2, 0.3])
    for name in ("mcc", "kappa", "f1", "average_precision", "roc_auc"):
        assert math.isnan(harmless[name])
        assert harmless[name].undefined
        assert math.isnan(harmless[name].low)
    assert harmless["accuracy"].value == 1


@of_sklearn
def test_scikit_learn_has_five_answers_to_that() -> None:
    truth, said, score = [0, 0, 0], [0, 0, 0], [0.1, 0.2, 0.3]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert sk.matthews_corrcoef(truth, said) == 0
        assert math.isnan(sk.cohen_kappa_score(truth, said))
        assert sk.f1_score(truth, said) == 0
        assert sk.average_precision_score(truth, score) == 0
        assert math.isnan(sk.roc_auc_score(truth, score))


def test_no_measure_says_a_number_where_its_ratio_is_0_over_0() -> None:
    empty = of_cells(tp=0, fp=0, fn=0, tn=2)
    for name in (
        "precision",
        "recall",
        "f1",
        "jaccard",
        "balanced_accuracy",
        "informedness",
        "positive_likelihood_ratio",
        "diagnostic_odds_ratio",
    ):
        assert math.isnan(empty[name])
        assert "= 0)" in (empty[name].undefined or "")


# -- weights ---------------------------------------------------------------------------------------
# scikit-learn #15531, #16065, #18328, #10891.


def weighted_rows() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(9)
    truth, score = rng.integers(0, 2, 60), np.round(rng.random(60), 1)
    return truth, score, rng.integers(0, 5, 60)


NAMES = ("accuracy", "precision", "f1", "mcc", "roc_auc", "average_precision", "log_loss", "brier")


def test_a_count_is_a_repetition_to_the_last_bit() -> None:
    truth, score, often = weighted_rows()
    once = ranked(np.repeat(truth, often), np.repeat(score, often))
    evaluation = ranked(truth, score, counts=often)
    for name in NAMES[:-2]:
        assert evaluation[name].value == once[name].value
        assert (evaluation[name].low, evaluation[name].high) == (once[name].low, once[name].high)
    for name in NAMES[-2:]:
        # Losses are sums of floats.
        assert evaluation[name].value == pytest.approx(once[name].value, rel=1e-12)


def test_a_weight_gives_the_value_of_a_repetition_and_zero_removes() -> None:
    truth, score, often = weighted_rows()
    once = ranked(np.repeat(truth, often), np.repeat(score, often))
    evaluation = ranked(truth, score, weights=often)
    kept = often > 0
    without = ranked(truth[kept], score[kept], weights=often[kept])
    for name in NAMES:
        assert evaluation[name].value == pytest.approx(once[name].value, rel=1e-12)
        assert evaluation[name].value == pytest.approx(without[name].value, rel=1e-12)


@pytest.mark.parametrize("factor", [1e-9, 0.1, 1e12])
def test_the_scale_of_weights_does_not_matter(factor: float) -> None:
    truth, score, often = weighted_rows()
    weight = often + 0.5
    one = ranked(truth, score, weights=weight)
    other = ranked(truth, score, weights=weight * factor)
    for name in NAMES:
        assert other[name].value == pytest.approx(one[name].value, rel=1e-12)
        ends = pytest.approx((one[name].low, one[name].high), rel=1e-9)
        assert (other[name].low, other[name].high) == ends


# -- shares of 0 and of 1 --------------------------------------------------------------------------
# statsmodels #2609, #2742, #2789, #3487, #4410, #9141, #9549, #7008; hist #281.


def test_none_of_30_has_a_width_and_the_closed_form() -> None:
    low, high = ClopperPearson()(0, 30)
    assert (float(low), float(high)) == (0, pytest.approx(1 - 0.025 ** (1 / 30), rel=1e-13))
    low, high = Wilson()(0, 30)
    z = 1.959963984540054
    assert (float(low), float(high)) == (0, pytest.approx(z * z / (30 + z * z), rel=1e-13))


@of_statsmodels
def test_the_textbook_interval_has_no_width_there() -> None:
    assert proportion_confint(0, 30, method="normal") == (0, 0)
    assert [float(end) for end in Wald()(0, 30)] == [0, 0]


def test_no_trials_have_no_interval_and_no_warning() -> None:
    """statsmodels divides by zero here, and warns."""
    assert all(math.isnan(end) for end in Wilson()(0, 0))
    with pytest.warns(RuntimeWarning):
        proportion_confint(0, 0, method="wilson")


def test_a_tiny_error_does_not_cut_the_upper_end_short() -> None:
    """statsmodels #7008: near a level of 1 the end was asked for at a rounded quantile."""
    tail = Fraction(1, 2**51)
    low, high = (Fraction(float(end)) for end in ClopperPearson(1 - 2.0**-50)(3, 10))

    def chance(successes: range, share: Fraction) -> Fraction:
        return sum(math.comb(10, j) * share**j * (1 - share) ** (10 - j) for j in successes)

    assert float(chance(range(4), high) / tail) == pytest.approx(1, rel=1e-9)
    assert float(chance(range(3, 11), low) / tail) == pytest.approx(1, rel=1e-9)


@pytest.mark.parametrize("method", [Wald, Wilson, ClopperPearson, Jeffreys, AgrestiCoull])
@pytest.mark.parametrize("cells", [(0, 0, 7, 30), (7, 0, 0, 30), (1, 0, 0, 0), (0, 1, 1, 0)])
def test_intervals_hold_their_share_and_stay_in_0_1(
    method: type[ProportionInterval], cells: tuple[int, ...]
) -> None:
    evaluation = of_cells(*cells).at(method=method())
    for measure in ("recall", "precision", "accuracy", "specificity"):
        if not math.isnan(evaluation[measure]):
            assert (
                0
                <= evaluation[measure].low
                <= evaluation[measure].value
                <= evaluation[measure].high
                <= 1
            )


# -- McNemar ---------------------------------------------------------------------------------------
# evaluate #795, statsmodels #950, mlxtend #989, #306.


@pytest.mark.parametrize("method", [None, "exact", "corrected", "uncorrected"])
def test_models_that_never_disagree_do_not_differ(method: str | None) -> None:
    significance = mcnemar(0, 0, both_right=40, both_wrong=2, method=method)
    assert significance.p == 1
    assert significance.statistic is None
    assert "nothing tells them apart" in significance.sentence
    assert significance.effect is not None
    assert significance.effect.low < 0 < significance.effect.high


@of_statsmodels
def test_statsmodels_says_that_they_differ_for_sure() -> None:
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        theirs = their_mcnemar([[40, 0], [0, 2]], exact=False)
    assert (theirs.statistic, theirs.pvalue) == (math.inf, 0)


@pytest.mark.parametrize(("b", "c", "method"), [(12, 12, "exact"), (12, 13, "corrected")])
def test_few_discordant_pairs_are_tested_exactly(b: int, c: int, method: str) -> None:
    assert mcnemar(b, c).method == method


def test_two_identical_models_give_p_1_in_every_test() -> None:
    truth = np.array([1, 0, 1, 0, 1, 0] * 5)
    score = np.array([0.9, 0.2, 0.4, 0.6, 0.8, 0.1] * 5)
    sample = Sample.of_rows("01", truth, {"one": score, "same": score})
    decisions = {"one": score >= 0.5, "same": score >= 0.5}
    tests = [delong_of(sample), mcnemar_of(PairCounts.of_rows("01", truth, decisions))]
    assert [test.p for test in tests] == [1, 1]
    for measure in (AVERAGE_PRECISION, PARTIAL_AUC):
        difference = paired_scores(sample, measure)
        assert difference.p == 1
        assert difference.effect is not None
        assert difference.effect.value == 0


# -- DeLong ----------------------------------------------------------------------------------------
# pROC #25, #27, #35; confidenceinterval #15 (an AUC of 1.0000001); multiROC #4.


PERFECT = ranked([1] * 8 + [0] * 92, np.linspace(1, 0, 100))


@pytest.mark.parametrize("interval", [None, DeLong(), Newcombe()])
def test_a_perfect_ranking_has_an_interval_with_a_width(interval: Method | None) -> None:
    roc_auc = PERFECT.at(method=interval)["roc_auc"]
    assert roc_auc.value == 1
    assert 0.5 < roc_auc.low < 0.99
    assert roc_auc.high == 1


def test_the_default_at_an_auc_of_1_is_clopper_and_pearson_s_end() -> None:
    roc_auc = PERFECT["roc_auc"]
    assert roc_auc.low == pytest.approx(0.025 ** (1 / 8), rel=1e-13)


@pytest.mark.parametrize("interval", [None, DeLong(), Newcombe()])
def test_one_positive_has_an_interval(interval: Method | None) -> None:
    """pROC #27: with one case DeLong's variance is NA."""
    rows = ranked([1] + [0] * 19, [0.7, *np.linspace(0, 1, 19)])
    roc_auc = rows.at(method=interval)["roc_auc"]
    assert 0 <= roc_auc.low < roc_auc.value < roc_auc.high <= 1


def test_a_constant_score_is_a_coin() -> None:
    roc_auc = ranked([1, 0] * 10, [0.5] * 20)["roc_auc"]
    assert roc_auc.value == 0.5
    assert 0 <= roc_auc.low <= 0.5 <= roc_auc.high <= 1


@pytest.mark.parametrize("seed", range(8))
def test_the_auc_and_its_ends_never_leave_0_1(seed: int) -> None:
    rng = np.random.default_rng(seed)
    truth = np.array([1, 0, *rng.integers(0, 2, 10)])
    score = np.round(rng.random(12) + seed % 3 * truth, 1)
    for interval in (None, DeLong(), Newcombe(), Bootstrap(resamples=40)):
        roc_auc = ranked(truth, score).at(method=interval)["roc_auc"]
        assert 0 <= roc_auc.low <= roc_auc.value <= roc_auc.high <= 1


# -- bootstrap with rare positives -----------------------------------------------------------------
# fairlearn #1441; cutpointr #12, #34; multiROC #3; pROC #131.


def test_resamples_without_a_positive_are_counted_and_told() -> None:
    """With 3 positives in 1,000 rows a resample has none with a chance of 4.96%."""
    truth = [1] * 3 + [0] * 997
    rows = counted("01", truth, [1, 1, 0] + [0] * 997)
    evaluation = rows.at(method=Bootstrap())
    note = evaluation["recall"].note or ""
    assert note.endswith("of 1000 resamples, which were left out")
    undefined = int(note.split()[2])
    expected = 1000 * (1 - 3 / 1000) ** 1000
    assert abs(undefined - expected) < 4 * math.sqrt(expected)
    assert "undefined" not in (evaluation["specificity"].note or "")


def test_the_same_is_told_of_the_auc() -> None:
    truth = [1] * 3 + [0] * 97
    score = np.random.default_rng(0).random(100)
    evaluation = ranked(truth, score).at(method=Bootstrap(resamples=100))
    assert "of 100 resamples, which were left out" in (evaluation["roc_auc"].note or "")


def test_the_ends_are_order_statistics() -> None:
    """The 25th and the 975th of 1,000: both are values that a resample gave."""
    evaluation = of_cells(tp=6, fp=0, fn=1, tn=4).at(method=Bootstrap())
    shares = {k / n for n in range(1, 12) for k in range(n + 1)}
    assert {evaluation["recall"].low, evaluation["recall"].high} <= shares
