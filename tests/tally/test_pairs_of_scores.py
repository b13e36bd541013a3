"""Pairs of scores: cells nest, labels unite, marginals are score tallies of the same rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.errors import TallyError
from assay.tally import JointScores, PairTally, Sample, ScoreTally, from_bytes
from assay.tally.keeping import Exact, Grid

TWO = ("benign", "attack")
SCORE = st.one_of(
    st.sampled_from([-0.0, 0.0, 0.5, 1.0, 1 - 2**-53, 5e-324, -1.0, 1e308]),
    st.floats(0, 1),
    st.floats(allow_nan=False, allow_infinity=False),
)
ROWS = st.lists(st.tuples(st.integers(0, 1), SCORE, SCORE), max_size=40)
BITS = st.integers(1, 16)


def columns(rows: list[tuple[int, float, float]]) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    truth = np.array([row[0] for row in rows], np.uint8)
    return truth, {
        name: np.array([row[i] for row in rows], np.float64) for i, name in ((1, "a"), (2, "b"))
    }


def joint(rows: list[tuple[int, float, float]], bits: int | None = 12) -> JointScores:
    truth, scores = columns(rows)
    return JointScores.of_rows(TWO, truth, scores, bits=bits)


@given(rows=ROWS, bits=BITS)
def test_a_marginal_is_the_score_tally_of_the_cells(rows: list, bits: int) -> None:
    truth, scores = columns(rows)
    for model, column in enumerate(scores.values()):
        expected = ScoreTally.of_rows(TWO, column, truth, kept=Grid(bits))
        assert joint(rows, bits).marginal(model) == expected
        assert joint(rows, None).marginal(model) == ScoreTally.of_rows(TWO, column, truth)


@given(rows=ROWS)
def test_every_pair_kept_is_the_sample_of_the_rows(rows: list) -> None:
    truth, scores = columns(rows)
    assert joint(rows, None).sample() == Sample.of_rows(TWO, truth, scores)


@given(rows=ROWS, bits=BITS, fewer=BITS)
def test_a_coarser_grid_is_that_of_the_rows(rows: list, bits: int, fewer: int) -> None:
    bits, fewer = max(bits, fewer), min(bits, fewer)
    assert joint(rows, bits).to_grid(fewer) == joint(rows, fewer)
    assert joint(rows, None).to_grid(fewer) == joint(rows, fewer)


@given(rows=ROWS, other=ROWS, bits=BITS, more=BITS)
def test_tables_of_unlike_grids_add_on_the_coarser(
    rows: list, other: list, bits: int, more: int
) -> None:
    total = joint(rows, bits) + joint(other, more)
    if rows and other:
        assert total == joint(rows + other, min(bits, more))
    assert total == joint(other, more) + joint(rows, bits)
    if rows and other:
        assert joint(rows, None) + joint(other, more) == joint(rows + other, more)


@settings(max_examples=60)
@given(rows=ROWS, cut=st.integers(0, 40), most=st.integers(1, 20))
def test_parts_within_a_limit_give_the_table_of_the_whole(rows: list, cut: int, most: int) -> None:
    whole = joint(rows).within(most)
    parts = [joint(part).within(most) for part in (rows[:cut], rows[cut:])]
    assert (parts[0] + parts[1]).within(most) == whole
    assert whole.size <= most or whole.kept == Grid(1)


@given(rows=ROWS, other=ROWS)
def test_labels_are_united_by_name(rows: list, other: list) -> None:
    truth, scores = columns(other)
    second = JointScores.of_rows(("attack", "probe"), truth, scores)
    total = joint(rows) + second
    assert total.labels == ("attack", "benign", "probe")
    assert total == second + joint(rows)
    assert total.rows == len(rows) + len(other)
    assert from_bytes(total.to_bytes()) == total
    assert (total + total).rows == 2 * total.rows


@given(rows=ROWS.filter(len), bits=BITS, pick=st.tuples(st.integers(0, 39), st.integers(0, 39)))
def test_decisions_at_kept_scores_are_those_of_the_rows(rows: list, bits: int, pick: tuple) -> None:
    truth, scores = columns(rows)
    table = joint(rows, bits)
    starts = [float(table.scores(model)[at % table.size]) for model, at in enumerate(pick)]
    decided = {
        name: (column + 0.0 >= start).astype(np.uint8)
        for (name, column), start in zip(scores.items(), starts, strict=True)
    }
    assert table.decided(starts) == PairTally.of_codes(TWO, truth, decided)


def test_more_labels_than_a_key_holds_are_counted_all_the_same() -> None:
    labels = tuple(f"kind {i:03}" for i in range(200))
    truth = np.arange(200, dtype=np.uint16).repeat(2)
    scores = {"a": np.tile([0.25, 0.75], 200), "b": np.full(400, 0.5)}
    table = JointScores.of_rows(labels, truth, scores, bits=16)
    assert table.size == 400
    assert table.marginal(0).counts.tolist() == [[1, 1]] * 200


def test_joint_scores_are_those_of_two_models() -> None:
    with pytest.raises(TallyError, match=r"two models; found \['a'\]"):
        JointScores.zero(TWO, ("a",))


def test_labels_may_share_a_place() -> None:
    total = joint([(0, 0.5, 0.5), (1, 0.5, 0.5), (1, 0.25, 0.5)])
    tally = total.placed(("rest", "none"), {"benign": 0, "attack": 0})
    assert (tally.truth.tolist(), tally.counts.tolist()) == ([0, 0], [1, 2])
    assert total.placed(TWO, {"benign": 0, "attack": 1}) is total


def test_zero_has_the_grid_that_was_asked_for() -> None:
    assert JointScores.zero(TWO, ("a", "b"), Exact()).kept == Exact()
    assert repr(JointScores.zero(TWO, ("a", "b"))).endswith("pairs=0)")
