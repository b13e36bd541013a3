"""What is said of a pair of models, and how much data would be enough."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from scipy.special import ndtr, ndtri

from assay import Estimate, compare
from assay.decisions.compare.comparison import Comparison, Difference
from assay.decisions.compare.verdicts import Size, rows_enough, verdict
from assay.errors import InputError, MethodError

ROWS = Size(1000, "rows", 1000)


def difference(
    value: float, low: float, high: float, *, measure: str = "accuracy", p: float = 0.01
) -> Difference:
    gap = Estimate(value, low, high, n=1000, level=0.95)
    return Difference(measure, "old", "new", 0.5, 0.5 + value, gap, p, p)


def outcome(measured_difference: Difference, *, pairs: int = 1, size: Size = ROWS) -> str:
    return verdict(measured_difference, margin=0.01, pairs=pairs, size=size).outcome


def test_outcome_follows_the_interval_and_the_margin() -> None:
    assert outcome(difference(0.05, 0.02, 0.08)) == "better"
    assert outcome(difference(-0.05, -0.08, -0.02)) == "worse"
    assert outcome(difference(0.001, -0.004, 0.006)) == "equivalent"
    assert outcome(difference(0.001, -0.004, 0.06)) == "undecided"
    assert outcome(difference(math.nan, math.nan, math.nan)) == "undecided"
    assert outcome(difference(0.1, math.nan, math.nan)) == "undecided"


@pytest.mark.parametrize("measure", ["error_rate", "log_loss", "false_positive_rate", "far"])
def test_less_is_better_where_the_measure_says_so(measure: str) -> None:
    judgement = verdict(
        difference(-0.05, -0.08, -0.02, measure=measure), margin=0.01, pairs=1, size=ROWS
    )
    assert judgement.outcome == "better"
    assert judgement.text == f"new is better than old: {measure} is lower by 0.050 [0.020, 0.080]."


def test_difference_within_the_margin_is_said_to_be() -> None:
    text = verdict(difference(0.004, 0.001, 0.007), margin=0.01, pairs=1, size=ROWS).text
    assert text.endswith("higher by 0.004 [0.001, 0.007], within the margin of 0.01.")


def test_of_several_pairs_holms_p_has_to_agree() -> None:
    measured_difference = replace(difference(0.05, 0.002, 0.098, p=0.04), p_adjusted=0.12)
    assert outcome(measured_difference) == "better"
    assert outcome(measured_difference, pairs=3) == "undecided"
    text = verdict(measured_difference, margin=0.01, pairs=3, size=ROWS).text
    assert "which 3 pairs may show by chance (p = 0.12 by Holm)" in text


def test_no_differing_row_is_equivalence_only_with_many_rows() -> None:
    """None of n rows rules out a share of 0.01 from 299 rows on: 0.99^299 < 0.05."""
    same = difference(0.0, 0.0, 0.0, p=1.0)
    assert outcome(same, size=Size(299, "rows", 299)) == "equivalent"
    assert outcome(same, size=Size(298, "rows", 298)) == "undecided"
    assert verdict(same, margin=0.01, pairs=1, size=Size(5, "rows", 5)).enough == 300


def test_enough_rows_show_the_difference_in_four_of_five_samples() -> None:
    gap = Estimate(0.02, -0.02, 0.06, level=0.95)
    enough, text = rows_enough(gap, 0.01, 1, ROWS)
    error = 0.04 / ndtri(0.975) / math.sqrt(enough / 1000)
    assert 0.8 <= ndtr(0.02 / error - ndtri(0.975)) < 0.82
    assert text == (
        f"About {enough:,} rows like these would be enough to tell them apart, if the difference "
        f"stays at +0.020."
    )


def test_enough_rows_show_equivalence_where_that_takes_fewer() -> None:
    gap = Estimate(0.0, -0.02, 0.02, level=0.95)
    enough, text = rows_enough(gap, 0.01, 1, ROWS)
    error = 0.02 / ndtri(0.975) / math.sqrt(enough / 1000)
    assert 0.8 <= 2 * ndtr(0.01 / error - ndtri(0.975)) - 1 < 0.82
    assert "call them equivalent within 0.01" in text


def test_several_pairs_take_more_rows() -> None:
    gap = Estimate(0.02, -0.02, 0.06, level=0.95)
    assert rows_enough(gap, 0.01, 10, ROWS)[0] > rows_enough(gap, 0.01, 1, ROWS)[0]


def test_folds_are_enough_when_their_interval_leaves_out_zero() -> None:
    """The variance is s^2 (1/folds + test/train), of which the second part stays."""
    size = Size(5, "folds", lasting=0.1, df=4)
    error = 0.01 * math.sqrt(1 / 5 + 0.1)
    reach = stats.t.ppf(0.975, 4) * error
    enough, text = rows_enough(Estimate(0.0135, 0.0135 - reach, 0.0135 + reach), 1e-6, 1, size)
    for folds, told in ((enough, True), (enough - 1, False)):
        needs = stats.t.ppf(0.975, folds - 1) + ndtri(0.8)
        assert (needs * 0.01 * math.sqrt(1 / folds + 0.1) <= 0.0135) == told
    assert text.startswith(f"About {enough} folds like these would be enough to tell them apart")


def test_more_folds_of_the_same_rows_may_never_be_enough() -> None:
    for lasting in (0.25, math.inf):
        size = Size(5, "folds", lasting=lasting, df=4)
        assert rows_enough(Estimate(0.01, -0.06, 0.08), 0.001, 1, size) == (
            None,
            "No number of folds like these would be enough to tell them apart; more rows might.",
        )


def test_difference_too_small_for_any_data() -> None:
    gap = Estimate(1e-9, -0.5, 0.5, level=0.95)
    assert rows_enough(gap, 1e-9, 1, ROWS)[0] is None


def test_clusters_needed_are_said_as_clusters() -> None:
    generator = np.random.default_rng(3)
    truth = generator.integers(0, 2, 80)
    scores = {name: np.clip(truth * 0.1 + generator.random(80) * 0.9, 0, 1) for name in "ab"}
    judgement = compare(truth, scores=scores, clusters=np.arange(80) // 4, resamples=50).verdicts[0]
    assert judgement.outcome == "undecided"
    assert "clusters like these would be enough" in judgement.text
    assert judgement.enough > 20


def test_verdict_unpacks_into_names_and_sentence() -> None:
    judgement = verdict(difference(0.05, 0.02, 0.08), margin=0.01, pairs=1, size=ROWS)
    a, b, text = judgement
    assert (
        (a, b, text) == ("old", "new", judgement.text) == (judgement[0], judgement[1], judgement[2])
    )


@pytest.mark.parametrize("margin", [0, -1, math.nan, "0.01"])
def test_margin_is_a_number_above_zero(margin) -> None:
    with pytest.raises(MethodError, match="margin is a number above 0"):
        compare([0, 1], decisions={"a": [0, 1], "b": [1, 0]}, margin=margin)


# -- the best model --------------------------------------------------------------------------------


def comparison(
    *measured_differences: tuple[str, str, float, float, float], measure: str = "accuracy"
) -> Comparison:
    differences = tuple(
        Difference(measure, a, b, 0, 0, Estimate((low + high) / 2, low, high), p, p)
        for a, b, low, high, p in measured_differences
    )
    return Comparison(("a", "b", "c"), differences, (), ())


def test_best_is_better_than_every_other() -> None:
    compared_models = comparison(
        ("a", "b", 0.1, 0.2, 0.01), ("a", "c", 0.1, 0.2, 0.01), ("b", "c", -0.2, -0.1, 0.01)
    )
    assert compared_models.best("accuracy") == "b"


def test_best_of_a_measure_that_should_be_low() -> None:
    ends = (("a", "b", 0.1, 0.2, 0.01), ("a", "c", 0.1, 0.2, 0.01), ("b", "c", -0.2, 0.1, 0.5))
    assert comparison(*ends, measure="false_discovery_rate").best("far") == "a"
    assert comparison(*ends, measure="prevalence").best("prevalence") is None


def test_nothing_is_best_where_one_pair_is_open() -> None:
    open_pair = comparison(
        ("a", "b", 0.1, 0.2, 0.01), ("a", "c", 0.1, 0.2, 0.01), ("b", "c", -0.2, 0.1, 0.4)
    )
    assert open_pair.best("accuracy") is None
    adjusted = comparison(
        ("a", "b", 0.1, 0.2, 0.01), ("a", "c", 0.1, 0.2, 0.01), ("b", "c", -0.2, -0.1, 0.06)
    )
    assert adjusted.best("accuracy") is None
    assert adjusted.best("mcc") is None


def test_verdict_is_found_by_its_pair() -> None:
    compared_models = compare([0, 1] * 9, decisions={"a": [0, 1] * 9, "b": [1, 0] * 9}, resamples=5)
    assert compared_models.verdict() is compared_models.verdicts[0]
    with pytest.raises(InputError, match="no verdict on 'b' and 'a'"):
        compared_models.verdict("b", "a")
