import numpy as np
import pytest

from assay import Evaluation, evaluate


def months(*hits: int, of: int = 200, false: int = 0) -> Evaluation:
    """So many of the attacks of each month are found, and so many harmless rows flagged."""
    truth, said, days = [], [], []
    for i, hit in enumerate(hits):
        truth += [1] * of + [0] * of
        said += [1] * hit + [0] * (of - hit)
        said += [1] * (false if i % 2 else 0) + [0] * (of - (false if i % 2 else 0))
        days += [f"2026-{i + 1:02}-03"] * 2 * of
    return evaluate(truth, y_pred=said, times=days, period="month")


def test_a_month_that_stands_out_is_found(message) -> None:
    assert message(months(180, 90, 180, 178), "E015") == (
        "The detection rate differs between the 4 months by more than their rows explain, from "
        "0.45 in 2026-02 to 0.9 in 2026-01 (p < 0.0001). One number for all of them hides it, and "
        "its interval takes them as alike."
    )


def test_a_false_positive_rate_that_swings_is_found(message) -> None:
    said = message(months(180, 180, 180, 180, false=40), "E015")
    assert said.startswith("The false positive rate differs between the 4 months")


@pytest.mark.parametrize("hits", [(180, 172, 178, 175), (190, 170, 150, 130), (180, 90)])
def test_chance_and_a_straight_decay_and_two_months_are_not(message, hits) -> None:
    assert message(months(*hits), "E015") is None


def test_classes_are_looked_at_by_their_accuracy(message) -> None:
    truth = np.tile([0, 1, 2], 300)
    said = np.where((np.arange(900) // 300 == 1) & (truth == 2), 0, truth)
    days = np.repeat(["2026-01-01", "2026-01-02", "2026-01-03"], 300)
    evaluation = evaluate(truth, y_pred=said, times=days)
    assert message(evaluation, "E015").startswith("The accuracy differs between the 3 days")


def test_without_times_nothing_is_said(message) -> None:
    assert message(evaluate([0, 1] * 50, y_pred=[0, 1] * 50), "E015") is None
