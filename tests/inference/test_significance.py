"""What tests say: their sentences, and their values."""

import math

import numpy as np
import pytest

from assay.counts import PairCounts, Sample
from assay.inference import (
    Bootstrap,
    Quantity,
    Significance,
    cochran_q,
    delong_test,
    five_by_two_f,
    five_by_two_t,
    friedman,
    mcnemar,
    nadeau_bengio,
    nemenyi,
    paired_bootstrap,
    paired_influence,
    paired_t,
)
from assay.measures import find
from assay.text import p_text

LOWER, HIGHER = [0.95, 0.96, 0.94, 0.97, 0.95], [0.96, 0.97, 0.96, 0.98, 0.97]
FOLDS_A = [[0.90, 0.91], [0.92, 0.90], [0.89, 0.93], [0.91, 0.91], [0.90, 0.92]]
FOLDS_B = [[0.93, 0.92], [0.93, 0.94], [0.92, 0.94], [0.92, 0.94], [0.93, 0.93]]
RANKED = [[0.9, 0.8, 0.7]] * 8
TRUTH = [0, 1] * 20
SCORES = np.random.default_rng(0).random(40) + np.array(TRUTH) * 0.3


def bootstrapped() -> Significance:
    truth = np.array([0, 1] * 50, np.uint16)
    worse = np.where(np.arange(100) % 5 == 0, 1 - truth, truth).astype(np.uint16)
    pairs = PairCounts.of_rows(("no", "yes"), truth, {"old": worse, "new": truth})
    quantity = Quantity(find("accuracy").formula, label=1)
    return paired_bootstrap(pairs, quantity, name="accuracy", method=Bootstrap(resamples=200))


def influenced() -> Significance:
    truth = np.array(TRUTH, np.uint16)
    said = {"old": np.full(40, 0.5), "new": np.where(np.arange(40) % 4, 0.8, 0.3)}
    return paired_influence(Sample.of_rows(("no", "yes"), truth, said), find("brier"))


SENTENCES = [
    (
        mcnemar(10, 2),
        "A is right where B is wrong on 10 rows, the reverse on 2: A errs less often (p = 0.039).",
    ),
    (
        mcnemar(2, 30, names=("old", "new")),
        (
            "old is right where new is wrong on 2 rows, the reverse on 30: new errs less often "
            "(p < 0.0001)."
        ),
    ),
    (
        mcnemar(5, 4),
        "A is right where B is wrong on 5 rows, the reverse on 4: no difference is shown (p = 1).",
    ),
    (
        mcnemar(0, 0, both_right=9),
        (
            "A and B are right on the same rows: no discordant pairs, so nothing tells them apart "
            "(p = 1)."
        ),
    ),
    (
        cochran_q([[1, 1, 0], [1, 0, 0], [1, 1, 0], [1, 1, 1]]),
        "3 models are right on 4, 3, 1 of 4 rows: no difference is shown (p = 0.097).",
    ),
    (
        cochran_q([[1, 0, 0]] * 9 + [[1, 1, 0]]),
        "3 models are right on 10, 1, 0 of 10 rows: they differ (p = 0.00011).",
    ),
    (
        delong_test([0, 0, 1, 1, 0, 1], [1, 2, 3, 4, 5, 6], [2, 1, 4, 3, 6, 5]),
        "A has AUC 0.778, B 0.667: no difference is shown (p = 0.48).",
    ),
    (
        delong_test(TRUTH, SCORES, TRUTH, names=("old", "new")),
        "old has AUC 0.640, new 1.000: new ranks better (p < 0.0001).",
    ),
    (
        delong_test(TRUTH, TRUTH, SCORES),
        "A has AUC 1.000, B 0.640: A ranks better (p < 0.0001).",
    ),
    (
        delong_test([0, 0, 1], [1, 2, 3], [3, 1, 2]),
        "A has AUC 1.000, B 0.500: their spread can't be told from these rows.",
    ),
    (
        paired_t(LOWER, HIGHER),
        "B less A is +0.0140 on average over 5 folds: B scores higher (p = 0.0046).",
    ),
    (
        nadeau_bengio(HIGHER, LOWER, n_train=800, n_test=200),
        "B less A is -0.0140 on average over 5 folds: A scores higher (p = 0.019).",
    ),
    (
        five_by_two_t(FOLDS_A, FOLDS_B),
        (
            "The first difference, B less A, is +0.0300 (on average +0.0210): no difference is "
            "shown (p = 0.12)."
        ),
    ),
    (
        five_by_two_f(FOLDS_A, FOLDS_B),
        "B less A is +0.0210 on average over 5x2 folds: no difference is shown (p = 0.19).",
    ),
    (
        friedman(RANKED, names=["knn", "tree", "svm"]),
        "3 models over 8 data sets; knn ranks best on average: they differ (p = 0.00034).",
    ),
    (
        nemenyi(RANKED, names=["knn", "tree", "svm"])[1],
        "knn has mean rank 1.00, svm 3.00: knn ranks better (p = 0.00019).",
    ),
    (
        nemenyi(RANKED, names=["knn", "tree", "svm"])[0],
        "knn has mean rank 1.00, tree 2.00: no difference is shown (p = 0.11).",
    ),
    (
        bootstrapped(),
        "accuracy is 0.8000 for old and 1.0000 for new: new is higher (p = 0.01).",
    ),
    (
        influenced(),
        "brier is 0.2500 for old and 0.2025 for new: no difference is shown (p = 0.24).",
    ),
]


@pytest.mark.parametrize(
    ("significance", "sentence"), SENTENCES, ids=lambda case: getattr(case, "test", "")
)
def test_sentence_reads(significance: Significance, sentence: str) -> None:
    assert significance.sentence == sentence
    assert str(significance) == sentence


@pytest.mark.parametrize(
    ("p", "text"),
    [
        (1.0, "p = 1"),
        (0.5, "p = 0.5"),
        (0.0499, "p = 0.05"),
        (0.00012, "p = 0.00012"),
        (0.0001, "p = 0.0001"),
        (0.00009, "p < 0.0001"),
        (0.0, "p < 0.0001"),
    ],
)
def test_p_is_shown_with_two_digits_and_never_as_zero(p: float, text: str) -> None:
    assert p_text(p) == text


# -- values ----------------------------------------------------------------------------------------


def test_two_models_are_a_pair_and_three_are_none() -> None:
    two = mcnemar(1, 2, names=("old", "new"))
    assert (two.a, two.b) == ("old", "new")
    three = cochran_q([[1, 0, 1]], names=["a", "b", "c"])
    assert (three.a, three.b) == (None, None)


def test_what_is_not_known_is_nan_or_none() -> None:
    one_positive = delong_test([0, 0, 1], [1, 2, 3], [3, 1, 2])
    assert one_positive.statistic is None
    assert math.isnan(one_positive.p)
    assert one_positive.effect.value == -0.5
    assert np.isnan([one_positive.effect.low, one_positive.effect.high]).all()
    assert np.isnan(one_positive.table["covariance"]).all()
    assert paired_t([0.5, 0.5], [0.75, 0.75]).statistic is None
    assert nemenyi(RANKED)[0].df == (3, math.inf)


def test_effect_without_an_interval_says_so() -> None:
    significance = friedman(RANKED)
    assert np.isnan([significance.effect.low, significance.effect.high]).all()
    assert "no interval" in significance.effect.note


def test_adjusting_keeps_the_raw_p() -> None:
    significance = mcnemar(10, 2).adjusted(0.5)
    assert (significance.p_adjusted, significance.p) == (0.5, mcnemar(10, 2).p)
    assert mcnemar(10, 2).p_adjusted is None


def test_result_is_frozen() -> None:
    with pytest.raises(AttributeError):
        mcnemar(1, 2).p = 0.5


def test_effect_is_b_less_a() -> None:
    assert mcnemar(1, 3, both_right=6, both_wrong=0).effect == 0.2
    assert mcnemar(1, 3).effect.undefined == "it needs both_right and both_wrong"
    assert paired_t([0.5, 0.5], [0.75, 0.75]).effect == 0.25
    assert math.isclose(delong_test(TRUTH, SCORES, TRUTH).effect, 1 - 0.64, abs_tol=1e-9)
