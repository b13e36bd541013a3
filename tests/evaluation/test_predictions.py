"""What a model said, given by position: which column it is."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay import evaluate
from assay.errors import InputError, LabelError, ScoreError

TRUTH = ["attack", "normal", "attack", "normal"]
CODES = [1, 0, 1, 0]


def same(one, other) -> bool:
    return one.to_dict() == other.to_dict()


# -- scores ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [list, np.array, pd.Series, pl.Series, tuple])
def test_numbers_with_a_fraction_are_scores(kind) -> None:
    scores = kind([0.9, 0.2, 0.7, 0.6])
    assert same(evaluate(TRUTH, scores), evaluate(TRUTH, y_score=scores))
    assert evaluate(CODES, scores)["roc_auc"].value == 1


def test_positive_is_said_beside_scores() -> None:
    evaluation = evaluate([-1, 1, -1, 1], [0.9, 0.2, 0.7, 0.6], positive=-1)
    assert (evaluation.positive, evaluation["roc_auc"].value) == ("-1", 1)


def test_one_column_of_a_table_is_a_score() -> None:
    column = np.array([[0.9], [0.2], [0.7], [0.6]])
    assert same(evaluate(CODES, column), evaluate(CODES, y_score=column[:, 0]))


def test_more_whole_numbers_than_labels_are_scores_and_it_is_noted() -> None:
    evaluation = evaluate(CODES, [97, 12, 55, 40], threshold=50)
    assert evaluation["accuracy"].value == 1
    assert any("4 whole numbers for 2 labels" in note for note in evaluation.notes)


def test_fraction_past_the_first_look_is_found() -> None:
    truth = np.arange(200_000) % 2
    scores = truth.astype(float)
    scores[-1] = 0.75
    assert evaluate(truth, scores).tally.scores is not None


@given(st.lists(st.sampled_from([0.25, 0.5, 0.75, 0.0, 1.0]), min_size=2, max_size=30))
def test_one_fraction_makes_the_whole_column_scores(values) -> None:
    scores = [*values, 0.5]
    truth = [i % 2 for i in range(len(scores))]
    assert same(evaluate(truth, scores), evaluate(truth, y_score=scores))


# -- decisions -------------------------------------------------------------------------------------


def test_text_is_decisions() -> None:
    decisions = ["attack", "normal", "normal", "normal"]
    evaluation = evaluate(TRUTH, decisions)
    assert same(evaluation, evaluate(TRUTH, y_pred=decisions))
    assert not any("second argument" in note for note in evaluation.notes)


@pytest.mark.parametrize("decisions", [[1, 0, 0, 0], [1.0, 0.0, 0.0, 0.0], np.array([1, 0, 0, 0])])
def test_whole_numbers_that_are_labels_are_decisions_and_it_is_noted(decisions) -> None:
    evaluation = evaluate(CODES, decisions)
    assert evaluation.tally.scores is None
    assert evaluation["recall"].value == 0.5
    assert "second argument holds 0, 1, which are labels" in evaluation.notes[0]
    assert "y_score=" in evaluation.notes[0]


@pytest.mark.parametrize(
    ("truth", "decisions"),
    [(CODES, [True, False, False, False]), ([True, False, True, False], [1, 0, 0, 0])],
)
def test_booleans_and_codes_are_one_kind(truth, decisions) -> None:
    assert evaluate(truth, decisions)["recall"].value == 0.5


def test_classes_by_number_are_decisions() -> None:
    assert evaluate([0, 1, 2, 2], [0, 1, 2, 1])["accuracy"].value == 0.75


# -- probabilities ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "table",
    [
        [[0.1, 0.9], [0.8, 0.2], [0.4, 0.6], [0.7, 0.3]],
        np.array([[0.1, 0.9], [0.8, 0.2], [0.4, 0.6], [0.7, 0.3]]),
        {0: [0.1, 0.8, 0.4, 0.7], 1: [0.9, 0.2, 0.6, 0.3]},
        pd.DataFrame({0: [0.1, 0.8, 0.4, 0.7], 1: [0.9, 0.2, 0.6, 0.3]}),
    ],
    ids=["lists", "array", "mapping", "frame"],
)
def test_a_column_a_class_is_probabilities(table) -> None:
    evaluation = evaluate(CODES, table)
    assert same(evaluation, evaluate(CODES, y_score=[0.9, 0.2, 0.6, 0.3]))


def test_probabilities_of_three_classes() -> None:
    table = np.full((6, 3), 0.2)
    truth = np.arange(6) % 3
    table[np.arange(6), truth] = 0.6
    evaluation = evaluate(truth, table)
    assert (evaluation["accuracy"].value, evaluation["roc_auc.macro"].value) == (1, 1)


# -- what is refused -------------------------------------------------------------------------------


@pytest.mark.parametrize("codes", [[1, 0, 1, 0], [0.0, 1.0, 1.0, 0.0], [2, 3, 2, 3]])
def test_codes_beside_names_are_refused(codes) -> None:
    with pytest.raises(LabelError, match=r"the labels are 'attack', 'normal'.*y_score=.*y_pred="):
        evaluate(TRUTH, codes)


def test_codes_that_are_no_labels_are_refused() -> None:
    with pytest.raises(LabelError, match="holds 0, 1, 3, and the labels are 0, 1, 2"):
        evaluate([0, 1, 2], [0, 1, 3])


def test_two_columns_of_what_the_model_said_are_refused() -> None:
    with pytest.raises(InputError, match="by position and as y_score="):
        evaluate(CODES, CODES, y_score=[0.9, 0.2, 0.7, 0.6])


def test_columns_of_a_frame_are_named() -> None:
    frame = {"y": CODES, "p": [0.9, 0.2, 0.7, 0.6]}
    with pytest.raises(InputError, match="names a column of a frame"):
        evaluate(frame, [0.9, 0.2, 0.7, 0.6], label="y")


def test_unlike_indexes_are_refused_and_both_named() -> None:
    truth = pd.Series(CODES, index=[3, 2, 1, 0])
    with pytest.raises(InputError, match="indexes of y_true and y_score differ"):
        evaluate(truth, pd.Series([0.9, 0.2, 0.7, 0.6]))


def test_a_missing_score_is_told_of_as_a_score() -> None:
    with pytest.raises(ScoreError, match="y_score is missing in row 2"):
        evaluate(TRUTH, [0.9, None, 0.7, 0.6])
    evaluation = evaluate(TRUTH, [0.9, None, 0.7, 0.6], on_bad_row="skip")
    assert evaluation.source["rows_refused"] == 1


def test_a_model_in_place_of_labels_is_sent_to_evaluate_model() -> None:
    class Model:
        def predict(self, X):
            return X

    with pytest.raises(InputError, match=r"evaluate_model\(model, X, y\)"):
        evaluate(Model(), CODES)


# -- tensors ---------------------------------------------------------------------------------------


def test_tensors_are_told_by_their_type() -> None:
    torch = pytest.importorskip("torch")
    truth = torch.tensor(CODES)
    scores = torch.tensor([0.9, 0.2, 0.7, 0.6])
    assert evaluate(truth, scores)["roc_auc"].value == 1
    assert evaluate(truth, truth).tally.scores is None
    assert evaluate(truth, truth == 1)["accuracy"].value == 1
    assert evaluate(truth, torch.stack([1 - scores, scores], 1))["roc_auc"].value == 1


def test_tensors_may_have_gradients_and_types_that_numpy_has_not() -> None:
    torch = pytest.importorskip("torch")
    scores = torch.tensor([0.9, 0.2, 0.7, 0.6], requires_grad=True)
    for said in (scores, scores.bfloat16(), torch.stack([1 - scores, scores], 1)):
        assert evaluate(CODES, said)["roc_auc"].value == 1


@pytest.mark.parametrize("truth", [TRUTH, [1, 0, 1, 0]], ids=["text", "numbers"])
def test_nothing_but_missing_numbers_are_scores_that_are_missing(truth) -> None:
    with pytest.raises(ScoreError, match="finite numbers: 4 of 4 are not"):
        evaluate(truth, [float("nan")] * 4)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_a_frame_of_one_column_is_that_column(frame: type) -> None:
    truth = [0, 1, 1, 0]
    scored = evaluate(truth, frame({"p": [0.1, 0.8, 0.4, 0.3]}))
    assert scored["roc_auc"] == 1
    assert evaluate(truth, frame({"p": [0, 1, 1, 1]}))["precision"] == pytest.approx(2 / 3)


@pytest.mark.parametrize("said", [5, 0.5, object()])
def test_one_value_is_no_column_of_predictions(said) -> None:
    with pytest.raises(LabelError, match="the second argument must be a column"):
        evaluate(TRUTH, said)


def test_whole_numbers_beyond_floats_are_refused() -> None:
    with pytest.raises(LabelError, match="beyond the range of floats"):
        evaluate(TRUTH, [10**400] * 4)
