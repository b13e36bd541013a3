"""Daily figures, and what a test set can show at a base rate."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import assay
from assay.errors import AssayError
from assay.evaluation import Judge
from assay.evaluation.deployment import reach
from assay.tally import Confusion, Resolved

CELLS = {"tp": 6635, "fp": 167, "fn": 324, "tn": 7743}


def counted(**options):
    return assay.Evaluation(assay.evaluate_counts(**CELLS).tally, **options)


def test_a_day_at_a_base_rate_has_the_rates_of_the_test_set() -> None:
    there = counted(base_rate=0.001, volume=1_000_000).at(0.001)
    assert there["false_alarms_per_day"] == pytest.approx(999_000 * 167 / 7910)
    assert there["missed_per_day"] == pytest.approx(1000 * 324 / 6959)
    assert there["alerts_per_day"] == pytest.approx(
        999_000 * 167 / 7910 + 1000 * 6635 / 6959, rel=1e-12
    )


def test_a_day_like_the_test_set_is_the_test_set_scaled() -> None:
    evaluation = counted(volume=2 * 14869)
    assert evaluation["alerts_per_day"] == pytest.approx(2 * (6635 + 167))
    assert evaluation["false_alarms_per_day"] == pytest.approx(2 * 167)
    assert evaluation["missed_per_day"] == pytest.approx(2 * 324)


def test_daily_figures_have_the_intervals_of_their_rates() -> None:
    evaluation = counted(base_rate=0.01, volume=500.0)
    rate, daily = evaluation["false_positive_rate"], evaluation.at(0.01)["false_alarms_per_day"]
    assert (daily.low, daily.high) == pytest.approx((495 * rate.low, 495 * rate.high))
    assert daily.method == rate.method


def test_without_base_rates_the_daily_figures_are_at_the_usual_ones() -> None:
    rates = {e.base_rate for e in counted(volume=100).entries if e.measure == "alerts_per_day"}
    assert rates == {None, 0.1, 0.01, 0.001, 0.0001}


def test_without_a_volume_there_are_no_daily_figures() -> None:
    assert not [e for e in counted().entries if e.measure.endswith("per_day")]


@pytest.mark.parametrize("volume", [0, -5, math.inf, math.nan, "many", True])
def test_a_volume_that_is_none_is_refused(volume) -> None:
    with pytest.raises(AssayError, match="volume"):
        counted(volume=volume)


def test_a_volume_needs_one_positive_label() -> None:
    tally = assay.evaluate_counts(matrix=[[5, 1, 0], [1, 5, 0], [0, 0, 6]]).tally
    with pytest.raises(AssayError, match="more than two classes"):
        assay.Evaluation(tally, volume=10)


def test_the_largest_fpr_gives_exactly_the_tolerated_false_alarm_rate() -> None:
    (deployment,) = counted(base_rate=0.001).deployment
    detected = 6635 / 6959
    false, true = 0.999 * deployment.largest_fpr, 0.001 * detected
    assert false / (false + true) == pytest.approx(0.1)
    assert deployment.held is False
    assert not deployment.enough


def test_a_far_of_ten_percent_at_one_in_ten_thousand_takes_over_200_000_negatives() -> None:
    tally = assay.evaluate_counts(tp=1000, fp=0, fn=0, tn=207_233).tally
    (deployment,) = assay.Evaluation(tally, base_rate=0.0001, level=0.9).deployment
    assert deployment.negatives_needed == pytest.approx(207_223, abs=50)
    assert deployment.enough
    assert deployment.held is True


@given(tp=st.integers(1, 500), fn=st.integers(0, 500), rate=st.floats(1e-6, 0.5))
def test_as_many_negatives_as_are_needed_without_a_false_alarm_are_enough(tp, fn, rate) -> None:
    confusion = Confusion(("normal", "attack"), ((10, 0), (fn, tp)))
    requirement = reach(Judge(Resolved.of_confusion(confusion, positive="attack")), rate)
    assert requirement is not None
    needed = requirement.negatives_needed

    def shown(negatives: int) -> float:
        # 1 - 0.05^(1/n), which would lose its digits for many.
        return -math.expm1(math.log(0.05) / negatives)

    assert shown(needed) <= requirement.largest_fpr * (1 + 1e-9)
    if needed > 1:
        assert shown(needed - 1) > requirement.largest_fpr * (1 - 1e-9)


def test_where_nothing_is_detected_no_false_alarm_rate_can_be_kept() -> None:
    assert assay.evaluate_counts(tp=0, fp=1, fn=5, tn=9).deployment == ()


def test_without_negatives_there_is_nothing_to_reach() -> None:
    assert assay.evaluate_counts(tp=5, fp=0, fn=5, tn=0).deployment == ()


def test_days_are_spread_as_they_are() -> None:
    truth = ["attack", "normal"] * 8
    score = [0.9, 0.8] * 4 + [0.9, 0.1] * 2 + [0.1, 0.2] * 2
    day = ["2024-01-01"] * 8 + ["2024-01-02"] * 4 + ["2024-01-03"] * 4
    alerts = assay.evaluate(truth, y_score=score, times=day, period="month").alerts_per_day
    assert (alerts.days, alerts.mean, alerts.median) == (3, pytest.approx(10 / 3), 2)
    assert (alerts.least, alerts.most) == (0, 8)
    assert alerts.sd == pytest.approx(
        math.sqrt((14 / 3) ** 2 + (4 / 3) ** 2 + (10 / 3) ** 2) / 2**0.5
    )


def test_one_day_has_no_spread() -> None:
    days = ["2024-03-01"] * 2
    evaluation = assay.evaluate(["attack", "normal"], y_score=[0.9, 0.1], times=days)
    assert math.isnan(evaluation.alerts_per_day.sd)
    assert evaluation.to_dict()["alerts_per_day"]["sd"] is None


def test_periods_of_rows_without_times_are_refused() -> None:
    with pytest.raises(AssayError, match="give times="):
        counted(period="week")


def test_another_column_may_be_the_family() -> None:
    truth, kinds = ["attack"] * 11 + ["normal"] * 9, ["worm"] * 11 + ["none"] * 9
    evaluation = assay.evaluate(
        truth, y_pred=truth, slices={"kind": kinds}, family="kind", positive="attack"
    )
    recall = evaluation.of_slice("kind", "worm")["recall"]
    assert recall.method == "clopper-pearson"
    assert recall.low == pytest.approx(0.025 ** (1 / 11))
