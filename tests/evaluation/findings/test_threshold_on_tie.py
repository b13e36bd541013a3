import numpy as np

from assay import evaluate


def drawn(tied: int, threshold: float = 0.5, dtype: type = np.float64, **options):
    """200 alerts above 0.5, and some rows at 0.5 exactly."""
    score = np.concatenate([np.linspace(0.51, 0.99, 200), np.full(tied, 0.5)])
    score = np.concatenate([score, np.linspace(0.01, 0.49, 600)]).astype(dtype)
    truth = np.arange(len(score)) % 3 == 0
    return evaluate(truth, y_score=score, threshold=threshold, **options)


def test_many_rows_at_the_threshold_are_found_with_both_counts(message) -> None:
    assert message(drawn(50), "E006") == (
        "50 rows have exactly the threshold's score, 0.5: flagging from it on raises 250 alerts, "
        "flagging above it 200. Move the threshold off the tie, or give scores with more digits."
    )


def test_few_rows_there_are_not(message) -> None:
    assert message(drawn(10), "E006") is None
    assert message(drawn(11), "E006") is not None


def test_a_threshold_beside_the_tie_is_not(message) -> None:
    assert message(drawn(50, threshold=0.5000001), "E006") is None


def test_four_rows_may_meet_the_threshold_by_accident(message) -> None:
    truth, score = [0, 1] * 10, [0.5, 0.5, 0.5, 0.5, *np.linspace(0.51, 0.7, 8), *[0.1] * 8]
    assert message(evaluate(truth, y_score=score), "E006") is None


def test_scores_of_32_bits_tie_only_with_what_they_can_hold(message) -> None:
    assert message(drawn(50, dtype=np.float32), "E006") is not None
    score = np.full(100, 0.1, np.float32)
    score[:50] = np.linspace(0.2, 0.3, 50)
    evaluation = evaluate(np.arange(100) % 2, y_score=score, threshold=0.1)
    assert message(evaluation, "E006") is None


def test_a_threshold_above_all_scores_is_not(message) -> None:
    assert message(drawn(50, threshold=2), "E006") is None


def test_weights_count_by_their_effective_number(message) -> None:
    weight = np.ones(850)
    weight[200] = 1e6
    assert message(drawn(50, sample_weight=weight), "E006") is None
    assert message(drawn(50, sample_weight=np.full(850, 1e-3)), "E006") is not None


def test_decisions_that_were_given_have_no_threshold(message) -> None:
    evaluation = evaluate([0, 1] * 20, y_score=[0.5] * 40, y_pred=[0, 1] * 20)
    assert message(evaluation, "E006") is None
