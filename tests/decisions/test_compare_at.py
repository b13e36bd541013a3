"""Comparisons at thresholds that a rule chooses."""

import json
import math
from functools import cache

import numpy as np
import pytest

from assay import AtThreshold, Comparison, MaxFar, MaxFpr, compare, evaluate
from assay.decisions.compare.verdicts import CHOSEN_NOTE
from assay.errors import InputError, LengthMismatch, MethodError
from assay.inference import Bootstrap
from assay.inference.threshold_resampling import ScoredRows, choose_anew


def rows(size: int = 400, seed: int = 4) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    generator = np.random.default_rng(seed)
    truth = generator.random(size) < 0.4
    scores = {
        name: np.round(truth * shift + generator.normal(size=size), 2)
        for name, shift in (("old", 1.5), ("new", 2.5))
    }
    return truth, scores


@cache
def at_far() -> Comparison:
    truth, scores = rows()
    return compare(truth, scores=scores, at="max-far=0.1", resamples=200)


def by_hand(truth: np.ndarray, score: np.ndarray, limit: float) -> float:
    """The lowest score from which on at most that share of alerts is false."""
    kept = [
        t
        for t in np.unique(score)
        if 10 * (~truth & (score >= t)).sum() <= 10 * limit * (score >= t).sum()
    ]
    return min(kept)


def test_thresholds_are_the_lowest_that_keep_the_rule() -> None:
    truth, scores = rows()
    assert at_far().thresholds == {name: by_hand(truth, s, 0.1) for name, s in scores.items()}


def test_values_are_those_of_the_decisions_at_the_thresholds() -> None:
    truth, scores = rows()
    comparison = at_far()
    for side, name in (("value_a", "old"), ("value_b", "new")):
        alone = evaluate(truth, y_score=scores[name], threshold=comparison.thresholds[name])
        for measure in ("recall", "precision", "mcc", "roc_auc"):
            assert getattr(comparison.difference(measure), side) == pytest.approx(
                float(alone[measure])
            )
            assert comparison.estimates[name][measure] == pytest.approx(float(alone[measure]))


def test_intervals_are_those_of_thresholds_chosen_anew() -> None:
    truth, scores = rows()
    method = Bootstrap(resamples=200, seed=42)
    anew = choose_anew(ScoredRows(truth, scores), [MaxFar(0.1)], method)
    rates = [
        anew[name, MaxFar(0.1)].tables[:, 1, 1] / anew[name, MaxFar(0.1)].tables[:, 1].sum(axis=1)
        for name in scores
    ]
    gaps = np.sort(rates[1] - rates[0])
    difference = at_far().difference("detection_rate").difference
    assert (difference.low, difference.high) == (gaps[4], gaps[194])
    own = np.sort(rates[0])
    mine = at_far().estimates["old"]["recall"]
    assert (mine.low, mine.high, mine.method) == (own[4], own[194], "bootstrap")


def test_the_choice_widens_the_interval() -> None:
    truth, scores = rows()
    given = {n: np.where(s >= at_far().thresholds[n], 1, 0) for n, s in scores.items()}
    fixed = compare(truth.astype(int), decisions=given, resamples=200)
    anew, taken = (c.difference("recall").difference for c in (at_far(), fixed))
    assert anew == pytest.approx(float(taken))
    assert anew.high - anew.low > 1.3 * (taken.high - taken.low)


def test_tests_that_would_take_the_thresholds_as_given_are_left_out() -> None:
    assert [test.test for test in at_far().tests] == ["delong"]
    assert CHOSEN_NOTE in at_far().notes
    truth, scores = rows()
    three = compare(
        truth, scores={**scores, "other": scores["old"]}, at="max-fpr=0.1", resamples=20
    )
    assert {test.test for test in three.tests} == {"delong"}


def test_detection_rate_decides_at_a_rule() -> None:
    verdict = at_far().verdicts[0]
    gap = at_far().difference("recall").difference
    assert (verdict.measure, verdict.outcome) == ("recall", "better")
    assert verdict.text == (
        f"new is better than old: the detection rate at max-far=0.1 is higher by {gap:.3f} "
        f"[{gap.low:.3f}, {gap.high:.3f}]."
    )


def test_rule_may_be_an_object_or_text() -> None:
    truth, scores = rows()
    one, other = (
        compare(truth, scores=scores, at=at, resamples=20) for at in (MaxFpr(0.05), "max-fpr=0.05")
    )
    assert one.to_dict() == other.to_dict()
    assert one.to_dict()["at"] == "max-fpr=0.05"


def test_base_rate_asks_for_higher_thresholds() -> None:
    truth, scores = rows()
    rare = compare(truth, scores=scores, at="max-far=0.1,base-rate=0.1", resamples=20)
    for name in scores:
        assert rare.thresholds[name] > at_far().thresholds[name]


def test_given_threshold_is_no_choice() -> None:
    truth, scores = rows()
    comparison, same = (
        compare(truth, scores=scores, resamples=50, **how)
        for how in ({"at": AtThreshold(1.0)}, {"threshold": 1.0})
    )
    assert [t.to_dict() for t in comparison.tests] == [t.to_dict() for t in same.tests]
    assert comparison.tests[0].test == "mcnemar"
    assert comparison.thresholds == {"old": 1.0, "new": 1.0}
    assert comparison.verdicts[0].measure == "accuracy"


def test_scores_of_any_range_need_no_threshold_at_a_rule() -> None:
    truth, scores = rows()
    wide = {name: 1000 * score for name, score in scores.items()}
    comparison = compare(truth, scores=wide, at="max-far=0.1", resamples=20)
    assert comparison.thresholds["old"] == pytest.approx(1000 * at_far().thresholds["old"])


def test_model_that_can_not_keep_the_rule_flags_nothing() -> None:
    truth, scores = rows()
    comparison = compare(
        truth, scores={"old": scores["old"], "bad": -scores["old"]}, at="max-far=0.01", resamples=50
    )
    assert comparison.thresholds["bad"] is None
    assert comparison.difference("recall").value_b == 0.0
    assert "no threshold of bad keeps max-far=0.01: it flags nothing there" in comparison.notes
    assert comparison.verdicts[0].outcome == "worse"
    json.dumps(comparison.to_dict(), allow_nan=False)


def test_identical_models_have_p_one_at_a_rule_too() -> None:
    truth, scores = rows()
    comparison = compare(
        truth, scores={"one": scores["old"], "two": scores["old"]}, at="max-far=0.1", resamples=50
    )
    assert {d.p for d in comparison.differences if not math.isnan(d.difference)} == {1.0}
    assert "no row tells a difference" in comparison.verdicts[0].text


def test_clusters_are_resampled_whole_at_a_rule() -> None:
    """Rows repeated within their cluster tell nothing new."""
    truth, scores = rows(120)
    differences = [
        compare(
            np.repeat(truth, times),
            scores={name: np.repeat(score, times) for name, score in scores.items()},
            clusters=np.repeat(np.arange(120), times),
            at="max-far=0.1",
            resamples=50,
        ).difference("recall")
        for times in (1, 5)
    ]
    once, often = (each.difference for each in differences)
    assert (once.low, once.high) == pytest.approx((often.low, often.high))
    assert once.method == "cluster bootstrap"


def test_counts_are_repetitions_at_a_rule() -> None:
    truth, scores = rows(90)
    counts = np.arange(90) % 3
    counted = compare(truth, scores=scores, counts=counts, at="max-far=0.2", resamples=30)
    repeated = compare(
        np.repeat(truth, counts),
        scores={name: np.repeat(score, counts) for name, score in scores.items()},
        at="max-far=0.2",
        resamples=30,
    )
    assert counted.to_dict() | {"notes": ()} == repeated.to_dict() | {"notes": ()}


def test_order_of_the_rows_does_not_matter() -> None:
    truth, scores = rows()
    order = np.random.default_rng(0).permutation(len(truth))
    turned = compare(
        truth[order],
        scores={n: s[order] for n, s in scores.items()},
        at="max-far=0.1",
        resamples=200,
    )
    assert turned.to_dict() == at_far().to_dict()


def test_progress_is_told_of_resamples() -> None:
    truth, scores = rows(60)
    seen = []
    compare(
        truth,
        scores=scores,
        at="max-far=0.3",
        resamples=5,
        progress=lambda done, total: seen.append((done, total)),
    )
    assert seen == [(i, 5) for i in range(1, 6)]


def test_rule_without_scores_or_beside_a_threshold_is_refused() -> None:
    truth, scores = rows()
    with pytest.raises(InputError, match="needs scores; there are only decisions"):
        compare([0, 1], decisions={"a": [0, 1], "b": [0, 1]}, at="max-far=0.1")
    with pytest.raises(InputError, match="threshold= or at=, not both"):
        compare(truth, scores=scores, at="max-far=0.1", threshold=0.5)
    with pytest.raises(MethodError, match="a rule reads"):
        compare(truth, scores=scores, at="max-x=0.1")


def test_ids_of_another_length_are_refused() -> None:
    truth, scores = rows()
    with pytest.raises(LengthMismatch, match="ids has 3 rows and y_true 400"):
        compare(truth, scores=scores, at="max-far=0.1", ids=["a", "b", "c"], resamples=2)
