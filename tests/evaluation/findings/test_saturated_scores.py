import numpy as np

from assay import evaluate


def drawn(top: int = 0, top_false: int = 0, bottom: int = 0, **options):
    """100 attacks and 900 others, some of them at the ends of the scores, the rest in between."""
    truth = np.repeat([1, 0], [100, 900])
    score = np.linspace(0.1, 0.9, 1000)
    score[:top] = 1
    score[100 - bottom : 100] = 0
    score[100 : 100 + top_false] = 1
    return evaluate(truth, y_score=score, **options)


def test_a_top_that_holds_attacks_and_others_is_found(message) -> None:
    sentence = message(drawn(top=80, top_false=40), "E005")
    assert sentence == (
        "80% of '1' and 40 rows of '0' have the highest score, 1: no threshold that flags "
        "anything has a false positive rate below 0.0444. Give the scores before they are clipped "
        "or rounded."
    )


def test_a_top_without_false_alarms_is_resolved_well_enough(message) -> None:
    assert message(drawn(top=80, top_false=4), "E005") is None
    assert message(drawn(top=80, top_false=5), "E005") is not None


def test_a_bottom_that_holds_attacks_is_found(message) -> None:
    sentence = message(drawn(bottom=30), "E005")
    assert sentence.startswith(
        "30% of '1' have the lowest score, 0: no threshold short of flagging"
    )
    assert "detects more than 70%" in sentence


def test_a_bottom_with_few_attacks_is_not(message) -> None:
    assert message(drawn(bottom=10), "E005") is None
    assert message(drawn(bottom=11), "E005") is not None


def test_both_ends_are_told(message) -> None:
    sentence = message(drawn(top=40, top_false=20, bottom=40), "E005")
    assert "highest score" in sentence
    assert "lowest score" in sentence


def test_a_coarse_scale_is_not_saturated(message) -> None:
    # Eleven scores, of which the ends hold no more than their share.
    truth, score = np.tile([0, 1], 550), np.repeat(np.arange(11) / 10, 100)
    evaluation = evaluate(truth, y_score=score)
    assert message(evaluation, "E005") is None
    assert message(evaluation, "E004") is not None


def test_weights_do_not_depend_on_their_scale(message) -> None:
    for scale in (1e-3, 1e3):
        weight = np.full(1000, scale)
        assert message(drawn(top=80, top_false=4, sample_weight=weight), "E005") is None
        assert message(drawn(top=80, top_false=5, sample_weight=weight), "E005") is not None
