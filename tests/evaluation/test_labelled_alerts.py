"""Only alerts were labelled."""

import math

import numpy as np
import pytest

import assay
from assay.errors import AssayError
from assay.evaluation import Judge
from assay.evaluation.deployment import Unlabelled
from assay.measures import find
from assay.tally import Confusion, Resolved

LABELS = ("normal", "attack")


def alerts_only(**options):
    tally = assay.evaluate_counts(tp=40, fp=10, fn=0, tn=0, labels=LABELS).tally
    return assay.Evaluation(tally, unlabelled=Unlabelled(50, 900), **options)


def test_precision_and_the_false_alarm_rate_need_only_alerts() -> None:
    evaluation = alerts_only()
    assert evaluation["precision"] == 0.8
    assert evaluation["false_alarm_rate"] == 0.2


def test_every_row_counts_for_the_alert_rate() -> None:
    alert_rate = alerts_only()["alert_rate"]
    assert alert_rate == 0.1
    assert alert_rate.n == 1000
    assert alert_rate.low < 0.1 < alert_rate.high


def test_without_any_row_the_alert_rate_is_undefined() -> None:
    tally = assay.evaluate_counts(tp=0, fp=0, fn=0, tn=0, labels=LABELS).tally
    assert assay.Evaluation(tally, unlabelled=Unlabelled(0, 0))["alert_rate"].undefined


def test_all_other_measures_say_why_they_are_not_known() -> None:
    evaluation = alerts_only(base_rate=0.01, volume=1000)
    for entry in evaluation.entries:
        if (entry.measure, entry.label, entry.base_rate) in {
            ("precision", "attack", None),
            ("false_discovery_rate", "attack", None),
            ("alert_rate", "attack", None),
            ("alerts_per_day", "attack", None),
        }:
            assert not math.isnan(entry.estimate)
        else:
            assert math.isnan(entry.estimate), entry
            assert "not labelled" in entry.estimate.undefined


def test_days_have_no_spread_where_rows_without_a_label_are_not_counted_by_day() -> None:
    days = ["2024-03-01", "2024-03-02"]
    tally = assay.count(["attack", "normal"], y_pred=["attack"] * 2, times=days)
    assert assay.Evaluation(tally).alerts_per_day.days == 2
    evaluation = assay.Evaluation(tally, unlabelled=Unlabelled(3, 9))
    assert evaluation.alerts_per_day is None
    assert evaluation.over_time["precision"].estimates == (1, 0)
    assert "not labelled" in evaluation.over_time["recall"].aut.undefined
    assert "by slice" in evaluation.over_time["alert_rate"].aut.undefined
    assert evaluation.to_dict()["alerts_per_day"] is None


def test_clusters_that_the_alert_rate_does_not_heed_are_said() -> None:
    tally = assay.count(["attack", "normal"], y_pred=["attack"] * 2, clusters=["a", "b"])
    alert_rate = assay.Evaluation(tally, unlabelled=Unlabelled(3, 9))["alert_rate"]
    assert "without clusters" in alert_rate.note


def test_it_needs_one_positive_label() -> None:
    tally = assay.evaluate_counts(matrix=[[5, 1, 0], [1, 5, 0], [0, 0, 6]]).tally
    with pytest.raises(AssayError, match="more than two classes"):
        assay.Evaluation(tally, unlabelled=Unlabelled(1, 1))


def sampled(tp, fp, fn, tn, weight, of=assay.Evaluation):
    """Alerts that were all labelled, and a random sample of the others with a weight."""
    confusion = Confusion(
        LABELS,
        ((tn * weight, float(fp)), (fn * weight, float(tp))),
        ((tn * weight**2, float(fp)), (fn * weight**2, float(tp))),
    )
    tally = Resolved.of_confusion(confusion, positive="attack")
    return of(tally, unlabelled=Unlabelled(0, int((fn + tn) * (weight - 1))))


def test_a_weighted_sample_of_the_others_gives_the_detection_rate() -> None:
    evaluation = sampled(80, 20, 2, 998, 10.0)
    assert evaluation["detection_rate"] == 0.8
    assert evaluation["false_negative_rate"] == pytest.approx(0.2)
    assert evaluation["detection_rate"].method == "horvitz-thompson"
    assert evaluation["detection_rate"].high == pytest.approx(
        1 - evaluation["false_negative_rate"].low
    )


def test_the_scale_of_the_weights_does_not_matter() -> None:
    def scaled(by: float):
        cells, squares = ((9980.0, 20.0), (20.0, 80.0)), ((99800.0, 20.0), (200.0, 80.0))
        confusion = Confusion(
            LABELS,
            tuple(tuple(by * cell for cell in row) for row in cells),
            tuple(tuple(by**2 * cell for cell in row) for row in squares),
        )
        tally = Resolved.of_confusion(confusion, positive="attack")
        return assay.Evaluation(tally, unlabelled=Unlabelled(0, 9000))

    once, often = scaled(1), scaled(1000)
    for name in ("alert_rate", "recall", "precision", "false_positive_rate"):
        for end in ("value", "low", "high", "n"):
            assert getattr(often[name], end) == pytest.approx(getattr(once[name], end)), name


def test_a_sample_without_a_missed_attack_is_no_proof() -> None:
    detection_rate = sampled(80, 20, 0, 1000, 10.0)["detection_rate"]
    assert detection_rate == 1
    assert detection_rate.high == 1
    # Three in a thousand may be attacks: thirty of ten thousand beside eighty.
    assert detection_rate.low == pytest.approx(80 / 120, abs=0.05)


def test_few_alerts_leave_the_detection_rate_wide_open() -> None:
    detection_rate = sampled(1, 30, 1, 99, 5.0)["detection_rate"]
    assert detection_rate.low < 0.1
    assert detection_rate.high > 0.5


@pytest.mark.parametrize("cells", [(0, 20, 2, 998), (80, 20, 0, 0)])
def test_without_both_kinds_of_rows_there_is_no_interval(cells) -> None:
    detection_rate = sampled(*cells, 10.0)["detection_rate"]
    assert math.isnan(detection_rate.low)
    assert "no interval" in detection_rate.note


def test_without_attacks_the_detection_rate_is_undefined() -> None:
    assert "attack" in sampled(0, 20, 0, 100, 10.0)["detection_rate"].undefined


@pytest.mark.parametrize(
    ("alerts", "others", "precision", "missed", "share"),
    [
        (500, 100_000, 0.8, 0.001, 0.02),
        (200, 20_000, 0.5, 0.01, 0.1),
        (50, 5_000, 0.9, 0.02, 0.05),
    ],
)
def test_its_interval_covers_the_truth(alerts, others, precision, missed, share) -> None:
    random = np.random.default_rng(3)
    rate = alerts * precision / (alerts * precision + others * missed)
    size, draws = int(others * share), 400
    hits = 0
    for _ in range(draws):
        tp, fn = int(random.binomial(alerts, precision)), int(random.binomial(size, missed))
        judge = sampled(tp, alerts - tp, fn, size - fn, 1 / share, of=Judge)
        estimate = judge.of_label(find("recall"), 1)
        hits += estimate.low <= rate <= estimate.high
    assert hits / draws > 0.92
