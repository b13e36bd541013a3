"""E018 and E019: what a sample by strata leaves open."""

from typing import Any

import pytest

from assay import Evaluation, evaluate

NAMED = {"label": "y", "score": "s", "weight": "weight", "strata": "stratum"}


def drawn(heavy: float, *, missed: int = 0, without: int = 0) -> Evaluation:
    rows: dict[str, Any] = {
        "y": ["attack"] * 100 + ["attack"] * missed + ["normal"] * 300 + [None] * without,
        "s": [0.9] * 100 + [0.1] * (missed + 300 + without),
    }
    rest = len(rows["y"]) - 100
    rows["weight"] = [1.0] * 100 + [heavy] * rest
    rows["stratum"] = ["top"] * 100 + ["rest"] * rest
    return evaluate(rows, **NAMED, on_bad_row="skip")


def test_attacks_that_no_row_showed_are_told(message) -> None:
    assert message(drawn(50), "E019") == (
        "None of 300 rows that were labelled in stratum 'rest' is 'attack', and each stands for "
        "50: 184 could be there unseen, beside 100 that were found or missed."
    )


@pytest.mark.parametrize("evaluation", [drawn(2), drawn(50, missed=1)])
def test_light_strata_and_those_with_attacks_are_left_alone(message, evaluation) -> None:
    assert message(evaluation, "E019") is None


@pytest.mark.parametrize(("weight", "unseen"), [(1.0, None), (1.5, "1 could be there unseen")])
def test_no_more_are_unseen_than_rows_without_a_label(message, weight, unseen) -> None:
    rows = {"y": ["attack"] * 3 + ["normal"] * 2, "s": [0.9] * 3 + [0.1] * 2}
    rows |= {"weight": [1.0] * 3 + [weight] * 2, "stratum": ["top"] * 3 + ["rest"] * 2}
    told = message(evaluate(rows, **NAMED), "E019")
    assert told is None if unseen is None else unseen in told


def test_rows_that_were_drawn_and_not_labelled_are_told(message) -> None:
    assert message(drawn(5, without=3), "E018") == (
        "3 rows of the 403 rows that were drawn were left out, and with them what they stand for."
    )
    assert message(drawn(5), "E018") is None


def test_without_strata_neither_is_said(message) -> None:
    rows = {"y": ["attack", "normal", None], "s": [0.9, 0.1, 0.2]}
    evaluation = evaluate(rows, label="y", score="s", on_bad_row="skip")
    assert message(evaluation, "E018") is None
    assert message(evaluation, "E019") is None
