"""Scores, probabilities, thresholds, counts and weights: what is read and what is refused."""

import math
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay import Evaluation
from assay.engines.arrays import resolved_arrays
from assay.errors import CountError, EmptyInput, InputError, LabelError, LengthMismatch, ScoreError
from assay.tally import Resolved

PAIR = ["normal", "attack"]
ROWS = ["attack", "normal", "attack", "normal"]
P_ATTACK = [0.9, 0.2, 0.4, 0.6]
TABLE = [[p, 1 - p] for p in P_ATTACK]  # attack sorts before normal


# -- what has to be given --------------------------------------------------------------------------


def counted(*columns: Any, **more: Any) -> Resolved:
    """The tally of columns, with sides."""
    return resolved_arrays(*columns, **more)[0]


def test_without_anything_said_nothing_is_judged() -> None:
    with pytest.raises(LabelError, match="give y_score, y_pred or y_proba"):
        counted(ROWS)


@pytest.mark.parametrize("empty", [[], (), np.array([]), np.array([], "U1"), np.array([], object)])
def test_no_rows_are_refused(empty: Any) -> None:
    with pytest.raises(EmptyInput, match="y_true has no rows"):
        counted(empty, y_score=[])


def test_scores_and_probabilities_together_are_refused() -> None:
    with pytest.raises(ScoreError, match="y_score or y_proba, not both"):
        counted(ROWS, y_score=P_ATTACK, y_proba=TABLE)


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("y_pred", ROWS[:3]),
        ("y_score", P_ATTACK[:3]),
        ("y_proba", TABLE[:3]),
        ("y_proba", P_ATTACK[:3]),
        ("y_proba", {"attack": P_ATTACK[:3], "normal": [0.1, 0.8, 0.6]}),
        ("counts", [1, 1, 1]),
        ("sample_weight", [1.0, 1.0, 1.0]),
        ("clusters", ["a", "b", "c"]),
    ],
)
def test_columns_of_unlike_length_are_refused(name: str, column: Any) -> None:
    given = {"y_score": P_ATTACK} if name in ("counts", "sample_weight", "clusters") else {}
    with pytest.raises(LengthMismatch, match="has 3 rows and y_true has 4"):
        counted(ROWS, **given, **{name: column})


def test_a_slice_of_unlike_length_is_refused_by_name() -> None:
    with pytest.raises(LengthMismatch, match="site has 3 rows and y_true has 4"):
        counted(ROWS, y_score=P_ATTACK, slices={"site": ["a", "b", "c"]})


def test_columns_of_probabilities_of_unlike_length_are_refused() -> None:
    with pytest.raises(LengthMismatch, match="normal has 3 rows"):
        counted(ROWS, y_proba={"attack": P_ATTACK, "normal": [0.1, 0.8, 0.6]})


def test_every_refusal_is_an_input_error_and_a_value_error() -> None:
    with pytest.raises(ValueError, match="no rows") as refused:
        counted([], y_score=[])
    assert isinstance(refused.value, InputError)


# -- scores and the threshold ----------------------------------------------------------------------


def test_a_score_that_is_not_finite_is_refused_with_its_row() -> None:
    for bad, shown in ((math.nan, "nan"), (math.inf, "inf"), (-math.inf, "-inf")):
        with pytest.raises(ScoreError, match=f"1 of 4 are not; the first is {shown} in row 3"):
            counted(ROWS, y_score=[0.5, 0.5, bad, 0.5])


def test_scores_in_the_unit_interval_are_probabilities_and_flagged_from_one_half() -> None:
    tally = counted(ROWS, y_score=[0.0, 0.5, 1.0, 0.4999])
    assert tally.threshold == 0.5
    assert any("read as probabilities" in note for note in Evaluation(tally).notes)
    assert tally.kind == "probability"
    assert tally.losses is not None
    assert tally.confusion.cells == ((1, 1), (1, 1))


@pytest.mark.parametrize(
    "scores", [[0.0, 0.5, 1.0, 1.0000001], [-1e-9, 0.5, 0.5, 1.0], [5, 1, 2, 3]]
)
def test_other_scores_decide_by_a_given_threshold_alone(scores: list[float]) -> None:
    tally, notes, *_ = resolved_arrays(ROWS, y_score=scores)
    assert (tally.threshold, tally.decided, tally.kind) == (None, False, "score")
    assert "say threshold=" in notes[-1]
    tally = counted(ROWS, y_score=scores, threshold=0.5)
    assert tally.kind == "score"
    assert tally.losses is None
    assert tally.confusion.total == 4


def test_a_row_is_flagged_at_the_threshold_itself() -> None:
    scores = [0.3, 0.3, 0.1 + 0.2, 0.2]  # 0.1 + 0.2 is just above 0.3
    assert counted(ROWS, y_score=scores, threshold=0.3).confusion.cells == (
        (1, 1),
        (0, 2),
    )
    above = np.nextafter(0.3, 1)
    assert counted(ROWS, y_score=scores, threshold=above).confusion.cells == (
        (2, 0),
        (1, 1),
    )


@pytest.mark.parametrize("slices", [None, {"part": ["x"] * 4}])
def test_narrow_scores_meet_the_threshold_as_the_numbers_that_they_are(slices: Any) -> None:
    scores = np.array([0.7, 0.1, 0.75, 0.7], np.float32)
    narrow = counted(ROWS, y_score=scores, threshold=0.7, slices=slices)
    wide = counted(ROWS, y_score=scores.astype(float), threshold=0.7, slices=slices)
    assert narrow.confusion == wide.confusion
    assert narrow.confusion.cells == ((2, 0), (1, 1))


@pytest.mark.parametrize("threshold", [math.nan, math.inf, -math.inf, "high", [0.5], object()])
def test_a_threshold_that_is_no_finite_number_is_refused(threshold: Any) -> None:
    with pytest.raises(ScoreError, match="threshold must be a finite number; found"):
        counted(ROWS, y_score=P_ATTACK, threshold=threshold)


def test_decisions_need_no_threshold_and_refuse_one() -> None:
    with pytest.raises(ScoreError, match="decisions are taken as they are"):
        counted(ROWS, y_pred=ROWS, threshold=0.5)
    with pytest.raises(ScoreError, match="decisions are taken as they are"):
        counted(ROWS, y_pred=ROWS, y_score=P_ATTACK, threshold=0.5)


def test_where_both_are_given_the_decision_decides_and_the_score_ranks() -> None:
    tally = counted(ROWS, y_pred=ROWS[::-1], y_score=[5.0, -3.0, 2.0, 9.0])
    assert tally.threshold is None
    assert tally.confusion.cells == ((0, 2), (2, 0))
    assert tally.scores is not None
    assert tally.scores[0].scores.tolist() == [-3.0, 2.0, 5.0, 9.0]
    assert tally.kind == "score"


def test_scores_of_more_than_two_labels_need_a_positive() -> None:
    with pytest.raises(
        ScoreError, match=r"there are 3: 'a', 'b', 'c'\. Say positive= or negative="
    ):
        counted(["a", "b", "c"], y_score=[0.1, 0.2, 0.3])


# -- probabilities ---------------------------------------------------------------------------------

BINARY_TABLES: dict[str, Any] = {
    "list": TABLE,
    "tuple": tuple(map(tuple, TABLE)),
    "numpy": np.array(TABLE),
    "numpy by columns": np.asfortranarray(TABLE),
    "mapping": {"attack": P_ATTACK, "normal": [1 - p for p in P_ATTACK]},
    "mapping in another order": {"normal": [1 - p for p in P_ATTACK], "attack": P_ATTACK},
    "mapping of mixed columns": {
        "normal": pl.Series([1 - p for p in P_ATTACK]),
        "attack": pd.Series(P_ATTACK),
    },
    "pandas": pd.DataFrame({"normal": [1 - p for p in P_ATTACK], "attack": P_ATTACK}),
    "pandas odd index": pd.DataFrame(TABLE, columns=["attack", "normal"], index=[9, 8, 7, 6]),
    "polars": pl.DataFrame({"normal": [1 - p for p in P_ATTACK], "attack": P_ATTACK}),
    "arrow": pa.table({"normal": [1 - p for p in P_ATTACK], "attack": P_ATTACK}),
    "one column": P_ATTACK,
    "one column of numpy": np.array(P_ATTACK),
    "one column of pandas": pd.Series(P_ATTACK),
    "one column of polars": pl.Series(P_ATTACK),
    "one column of arrow": pa.array(P_ATTACK),
}


@pytest.mark.parametrize("kind", BINARY_TABLES)
def test_binary_probabilities_of_any_kind_are_the_score_of_the_positive(kind: str) -> None:
    assert counted(ROWS, y_proba=BINARY_TABLES[kind]) == counted(ROWS, y_score=P_ATTACK)


INTEGER_TABLES: dict[str, Any] = {
    "list": [[0.1, 0.9], [0.8, 0.2], [0.6, 0.4], [0.4, 0.6]],
    "mapping": {1: P_ATTACK, 0: [0.1, 0.8, 0.6, 0.4]},
    "mapping by floats": {1.0: P_ATTACK, 0.0: [0.1, 0.8, 0.6, 0.4]},
    "pandas": pd.DataFrame({0: [0.1, 0.8, 0.6, 0.4], 1: P_ATTACK}),
    "pandas in another order": pd.DataFrame({1: P_ATTACK, 0: [0.1, 0.8, 0.6, 0.4]}),
    "pandas named by text": pd.DataFrame({"0": [0.1, 0.8, 0.6, 0.4], "1": P_ATTACK}),
    "polars": pl.DataFrame({"1": P_ATTACK, "0": [0.1, 0.8, 0.6, 0.4]}),
}


@pytest.mark.parametrize("kind", INTEGER_TABLES)
def test_probabilities_of_integer_labels_are_found_by_their_columns(kind: str) -> None:
    truth = [1, 0, 1, 0]
    assert counted(truth, y_proba=INTEGER_TABLES[kind]) == counted(truth, y_score=P_ATTACK)


def test_probabilities_of_boolean_labels_are_found_by_their_columns() -> None:
    truth = [True, False, True, False]
    by_text = pl.DataFrame({"true": P_ATTACK, "false": [0.1, 0.8, 0.6, 0.4]})
    for table in (by_text, {True: P_ATTACK, False: [0.1, 0.8, 0.6, 0.4]}, INTEGER_TABLES["list"]):
        assert counted(truth, y_proba=table) == counted(truth, y_score=P_ATTACK)


def test_one_column_of_probabilities_is_that_of_the_given_positive() -> None:
    truth, scores = ["yak", "zebra"], [0.9, 0.2]
    tally = counted(truth, y_proba=scores, positive="yak")
    assert tally == counted(truth, y_score=scores, positive="yak")


def test_a_threshold_decides_on_the_probability_of_the_positive() -> None:
    for table in (TABLE, P_ATTACK, BINARY_TABLES["mapping"]):
        tally = counted(ROWS, y_proba=table, threshold=0.3)
        assert tally.threshold == 0.3
        assert tally.confusion.cells == ((1, 1), (0, 2))


CLASSES = ["dos", "normal", "probe"]
THREE = [[0.5, 0.3, 0.2], [0.25, 0.5, 0.25], [0.4, 0.4, 0.2], [0.1, 0.2, 0.7]]
TRUE = ["dos", "normal", "normal", "probe"]
THREE_TABLES: dict[str, Any] = {
    "list": THREE,
    "numpy": np.array(THREE),
    "mapping": dict(zip(CLASSES, np.array(THREE).T, strict=True)),
    "mapping in another order": dict(zip(CLASSES[::-1], np.array(THREE)[:, ::-1].T, strict=True)),
    "pandas": pd.DataFrame(THREE, columns=CLASSES),
    "pandas in another order": pd.DataFrame(THREE, columns=CLASSES)[CLASSES[::-1]],
    "polars": pl.DataFrame(THREE, schema=CLASSES, orient="row"),
    "arrow": pa.table(dict(zip(CLASSES, np.array(THREE).T, strict=True))),
}


@pytest.mark.parametrize("kind", THREE_TABLES)
def test_probabilities_over_classes_of_any_kind_count_alike(kind: str) -> None:
    tally = counted(TRUE, y_proba=THREE_TABLES[kind])
    assert tally.labels == ("dos", "normal", "probe")
    assert tally.positive is None
    assert tally.confusion.cells == ((1, 0, 0), (1, 1, 0), (0, 0, 1))  # a tie goes to the first
    assert tally.scores is not None
    assert len(tally.scores) == 3
    assert tally.losses is not None
    assert tally == counted(TRUE, y_proba=THREE)


def test_columns_of_an_array_stand_in_the_order_of_numbers() -> None:
    labels = [0, 2, 10, 9]
    table = np.eye(4)[[0, 1, 3, 2]]  # columns 0, 2, 9, 10
    tally = counted(labels, y_proba=table)
    assert tally.labels == ("0", "10", "2", "9")
    assert tally.confusion.hits == (1, 1, 1, 1)


def test_labels_name_the_columns_of_an_array() -> None:
    tally = counted(TRUE, y_proba=np.array(THREE)[:, ::-1], labels=CLASSES[::-1])
    assert tally == counted(TRUE, y_proba=THREE)
    with pytest.raises(ScoreError, match="y_proba has 3 columns, but labels= names 4"):
        counted(TRUE, y_proba=THREE, labels=[*CLASSES, "worm"])


def test_a_positive_of_many_has_its_own_column_and_a_negative_all_the_others() -> None:
    dos = counted(TRUE, y_proba=THREE, positive="dos")
    assert dos.scores is not None
    assert dos.scores[0].scores.tolist() == [0.1, 0.25, 0.4, 0.5]
    attacks = counted(TRUE, y_proba=THREE, negative="normal")
    assert attacks.scores is not None
    np.testing.assert_allclose(attacks.scores[0].scores, [0.5, 0.6, 0.7, 0.8], rtol=1e-15)


def test_a_class_without_rows_may_have_a_column() -> None:
    table = {"dos": [0.5, 0.1], "normal": [0.25, 0.8], "probe": [0.25, 0.1]}
    tally = counted(["dos", "normal"], y_proba=table)
    assert tally.labels == ("dos", "normal", "probe")
    assert tally.confusion.rows == (1, 1, 0)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ([[0.5, 0.5]] * 3 + [[0.5, 0.50001]], r"row 4 \(counted from 1\) sums to 1\.00001"),
        ([[0.5, 0.5]] * 3 + [[0.5, 0.4]], r"row 4 .* sums to 0\.9"),
        ([[1.5, -0.5]] + [[0.5, 0.5]] * 3, r"in \[0, 1\]; row 1 \(counted from 1\) is \[1\.5"),
        ([[0.5, 0.5], [math.nan, 0.5], [0.5, 0.5], [0.5, 0.5]], "finite numbers; row 2 "),
        ([[0.5, 0.5], [math.inf, 0.5], [0.5, 0.5], [0.5, 0.5]], "finite numbers; row 2 "),
        ([[0.5, None]] + [[0.5, 0.5]] * 3, "finite numbers; row 1 "),
        ([["a", "b"]] * 4, "must be a table of numbers"),
        ([[0.5, 0.5], [1.0], [0.5, 0.5], [0.5, 0.5]], "must be a table of numbers"),
        ([[1.0]] * 4, r"must have a column a label; found shape \(4, 1\)"),
        (np.ones((4, 2, 2)), r"found shape \(4, 2, 2\)"),
        ([[0.2, 0.3, 0.5]] * 4, "y_proba has 3 columns, but there are 2 labels"),
        ({}, "y_proba has no columns"),
        ([0.5, 0.5, 1.5, 0.5], r"lie in \[0, 1\]; y_proba runs from 0\.5 to 1\.5"),
        ([0.5, 0.5, math.nan, 0.5], "the first is nan in row 3"),
        (["a", "b", "c", "d"], "must be a table of numbers"),
        ({"attack": ["x"] * 4, "normal": ["y"] * 4}, r"y_proba\['attack'\] must hold numbers"),
    ],
)  # fmt: skip
def test_probabilities_that_are_none_are_refused(table: Any, message: str) -> None:
    with pytest.raises(ScoreError, match=message):
        counted(ROWS, y_proba=table)


def test_probabilities_may_miss_one_by_a_millionth() -> None:
    table = [[p, 1 - p + 9e-7] for p in P_ATTACK]
    assert counted(ROWS, y_proba=table) == counted(ROWS, y_score=P_ATTACK)
    narrow = np.array(THREE, np.float32)
    assert counted(TRUE, y_proba=narrow).scores is not None


def test_a_label_without_a_column_is_refused_by_name() -> None:
    with pytest.raises(InputError, match="probe"):
        counted(TRUE, y_proba={"dos": [0.5] * 4, "normal": [0.5] * 4})
    with pytest.raises(InputError, match="worm"):
        counted(
            TRUE,
            y_proba=dict(zip(CLASSES, np.array(THREE).T, strict=True)),
            labels=[*CLASSES, "worm"],
        )


def test_a_threshold_is_refused_where_the_largest_probability_decides() -> None:
    with pytest.raises(ScoreError, match="threshold="):
        counted(TRUE, y_proba=THREE, threshold=0.5)


def test_decisions_beside_probabilities_decide() -> None:
    tally = counted(TRUE, y_proba=THREE, y_pred=["probe"] * 4)
    assert tally.confusion.columns == (0, 0, 4)
    assert tally.scores is not None


# -- counts and weights ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ([1, -1, 1, 1], r"must not be negative; row 2 \(counted from 1\) has -1"),
        ([1.0, -2.0, 1.0, 1.0], r"must not be negative; row 2 \(counted from 1\) has -2"),
        (
            [1, 0.5, 1, 1],
            r"must be whole numbers; row 2 \(counted from 1\) has 0\.5. For sampling weights",
        ),
        ([1, math.nan, 1, 1], "whole numbers"),
        ([1, math.inf, 1, 1], "whole numbers"),
        ([0, 0, 0, 0], "all counts are zero"),
        ([2**61, 2**61, 0, 0], r"add up to 2\^62 or more"),
        (["a", "b", "c", "d"], "must hold numbers"),
        ([None, 1, 1, 1], "missing in row 1"),
    ],
)
def test_counts_that_are_none_are_refused(counts: list[Any], message: str) -> None:
    with pytest.raises(CountError, match=message):
        counted(ROWS, y_score=P_ATTACK, counts=counts)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, -1, 1, 1], r"finite and not negative; row 2 \(counted from 1\) has -1\.0"),
        ([1, math.nan, 1, 1], r"finite and not negative; row 2 \(counted from 1\) has nan"),
        ([1, 1, math.inf, 1], r"finite and not negative; row 3 \(counted from 1\) has inf"),
        ([0, 0, 0, 0], "all weights are zero"),
        (["a", "b", "c", "d"], "must hold numbers"),
        ([None, 1, 1, 1], "missing in row 1"),
    ],
)
def test_weights_that_are_none_are_refused(weights: list[Any], message: str) -> None:
    with pytest.raises(CountError, match=message):
        counted(ROWS, y_score=P_ATTACK, sample_weight=weights)


def test_counts_and_weights_together_are_refused() -> None:
    with pytest.raises(CountError, match=r"counts .* or sample_weight .*, not both"):
        counted(ROWS, y_score=P_ATTACK, counts=[1] * 4, sample_weight=[1.0] * 4)


rows = st.lists(
    st.tuples(st.sampled_from(PAIR), st.floats(0, 1), st.sampled_from("xyz"), st.integers(0, 2)),
    min_size=1,
    max_size=12,
).filter(lambda rows: any(row[3] for row in rows))


@given(rows=rows)
def test_rows_of_count_zero_are_as_if_they_were_not_there(rows: list[Any]) -> None:
    def tally(kept: list[Any]) -> Any:
        return counted(
            [row[0] for row in kept],
            y_score=[row[1] for row in kept],
            slices={"part": [row[2] for row in kept]},
            clusters=[row[2] for row in kept],
            counts=[row[3] for row in kept],
            labels=PAIR,
        )

    assert tally(rows) == tally([row for row in rows if row[3]])


def test_what_only_rows_of_count_or_weight_zero_hold_is_not_there() -> None:
    given = {"y_true": [*ROWS, "zebra"], "y_pred": [*ROWS, "yak"], "slices": {"s": [*"aaaa", "b"]}}
    for amounts in ({"counts": [1, 1, 1, 1, 0]}, {"sample_weight": [1.0, 1.0, 1.0, 1.0, 0.0]}):
        tally = counted(**given, **amounts)
        assert tally.labels == ("normal", "attack")
        assert list(tally.slices) == [("s", "a")]


@pytest.mark.parametrize(
    "said", [{"y_score": [*P_ATTACK, math.nan]}, {"y_proba": [*TABLE, [7, 7]]}]
)
def test_a_row_of_count_zero_is_checked_like_any_other(said: dict[str, Any]) -> None:
    with pytest.raises(ScoreError, match="row 5"):
        counted([*ROWS, "attack"], counts=[1, 1, 1, 1, 0], **said)


def test_weights_weigh_and_counts_count() -> None:
    weighted = counted(ROWS, y_score=P_ATTACK, sample_weight=[0.5, 2.0, 1.0, 0.25])
    assert weighted.confusion.cells == ((2.0, 0.25), (1.0, 0.5))
    assert weighted.confusion.squares == ((4.0, 0.0625), (1.0, 0.25))
    repeated = counted(ROWS, y_score=P_ATTACK, counts=[5, 2, 1, 4])
    assert repeated.confusion.cells == ((2, 4), (1, 5))
    assert repeated.losses is not None
    assert repeated.losses.rows == 12


def test_a_tally_remembers_how_many_rows_were_read() -> None:
    tally = resolved_arrays(ROWS, y_score=P_ATTACK, counts=[1, 0, 1, 1])[2]
    assert (tally.rows, tally.empty) == (4, 1)
