"""What is read from the small tables: confusion matrices, pairs, clusters and samples."""

import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.engines.arrays import resolved_arrays
from assay.errors import TallyError
from assay.tally import (
    ClusterTally,
    Confusion,
    Crosstab,
    PairTally,
    Resolved,
    Sample,
    ScoreTally,
    from_bytes,
    resolved_tally,
)

from .kinds import HOSTS, THREE, TWO

MATRIX = ((45, 3, 2), (4, 38, 3), (1, 2, 52))


def counted(*columns: Any, **more: Any) -> Resolved:
    """The tally of columns, with sides."""
    return resolved_arrays(*columns, **more)[0]


@pytest.fixture
def three() -> Confusion:
    return Confusion(THREE, MATRIX)


# -- confusion matrices ----------------------------------------------------------------------------


def test_rows_are_the_truth_and_columns_the_decisions(three: Confusion) -> None:
    truth, decision = np.array([0, 0, 1, 2]), np.array([0, 2, 1, 1])
    assert Confusion.of_codes(THREE, truth, decision).cells == ((1, 0, 1), (0, 1, 0), (0, 1, 0))
    assert three.rows == (50, 45, 55)
    assert three.columns == (50, 43, 57)
    assert three.hits == (45, 38, 52)
    assert three.total == 150
    assert not three.weighted


def test_the_cells_of_formulas_are_those_of_the_table(three: Confusion) -> None:
    assert three.class_cells() == {
        "HIT": (45, 38, 52),
        "ROW": (50, 45, 55),
        "COL": (50, 43, 57),
        "N": 150,
        "K": 3,
    }
    assert three.one_versus_rest(1) == {"TP": 38, "FP": 5, "FN": 7, "TN": 100}


def test_one_label_against_the_rest_is_a_binary_table(three: Confusion) -> None:
    against = three.against_rest(1)
    assert against.labels == ("not dos", "dos")
    assert against.cells == ((100, 5), (7, 38))
    two = Confusion(TWO, ((5, 1), (2, 9)))
    assert two.against_rest(1) is two
    assert two.against_rest(0) == Confusion(("attack", "benign"), ((9, 2), (1, 5)))


def test_weights_are_collapsed_with_their_squares() -> None:
    table = Confusion(THREE, MATRIX, tuple(tuple(2 * c for c in row) for row in MATRIX))
    against = table.against_rest(2)
    assert table.weighted
    assert against.squares == ((180, 10), (6, 104))


@pytest.mark.parametrize("cells", [((1, 2),), ((1, 2), (3,)), ((1, 2, 3), (4, 5, 6)), ()])
def test_a_table_of_another_shape_is_refused(cells: Any) -> None:
    with pytest.raises(TallyError, match="2 labels has 2 rows of 2 cells; found rows of"):
        Confusion(TWO, cells)
    with pytest.raises(TallyError, match="found rows of"):
        Confusion(TWO, ((1, 2), (3, 4)), cells)


def test_counts_of_any_size_are_exact() -> None:
    huge = Confusion(TWO, ((10**18, 1), (2, 10**30)))
    assert (huge + huge).total == 2 * (10**18 + 3 + 10**30)
    counts = np.full(4, 2**61, np.int64)
    codes = np.array([0, 0, 1, 1])
    many = Confusion.of_codes(TWO, codes[:2], codes[2:], counts=counts[:2])
    assert many.cells == ((0, 2**62), (0, 0))


def test_counts_that_overflow_64_bits_over_many_blocks_are_exact() -> None:
    size = 1 << 17
    counts = np.full(size, 2**46, np.int64)
    zeros = np.zeros(size, np.uint8)
    assert Confusion.of_codes(TWO, zeros, zeros, counts=counts).total == 2**63


@given(
    codes=st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=50),
    dtype=st.sampled_from([np.uint8, np.uint16, np.int64]),
)
def test_codes_of_any_width_count_alike(codes: list[tuple[int, int]], dtype: Any) -> None:
    truth, decision = (np.array([c[i] for c in codes], dtype) for i in range(2))
    expected = [[codes.count((i, j)) for j in range(3)] for i in range(3)]
    confusion = Confusion.of_codes(THREE, truth, decision)
    assert [list(row) for row in confusion.cells] == expected
    assert all(type(cell) is int for row in confusion.cells for cell in row)


def test_more_than_a_hundred_labels_are_counted() -> None:
    labels = tuple(f"family {i:03}" for i in range(300))
    codes = np.arange(300, dtype=np.uint16)
    table = Confusion.of_codes(labels, codes, codes[::-1].copy())
    assert table.total == 300
    assert table.cells[0][299] == 1


def test_labels_that_no_row_has_take_no_memory() -> None:
    labels = [f"family {i:03}" for i in range(300)]
    truth, said = np.array([7, 299, 7]), np.array([299, 0, 299])
    tracemalloc.start()
    table = Crosstab.of_codes(labels, truth, labels, said)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert table.cells == {("family 007", "family 299"): 2, ("family 299", "family 000"): 1}
    assert peak < 8 * 300 * 300 / 4


def test_weighted_and_plain_tables_add_with_counts_as_their_own_squares() -> None:
    plain = Confusion(TWO, ((5, 1), (2, 9)))
    weighted = Confusion(TWO, ((0.5, 0.0), (0.0, 2.0)), ((0.25, 0.0), (0.0, 4.0)))
    for merged in (plain + weighted, weighted + plain):
        assert merged.cells == ((5.5, 1.0), (2.0, 11.0))
        assert merged.squares == ((5.25, 1.0), (2.0, 13.0))


# -- pairs of decisions ----------------------------------------------------------------------------


@pytest.fixture
def pairs() -> PairTally:
    truth = np.array([0, 0, 1, 1, 1, 0])
    first, second = np.array([0, 1, 1, 1, 0, 0]), np.array([0, 0, 1, 0, 0, 0])
    return PairTally.of_codes(TWO, truth, {"old": first, "new": second})


def test_combinations_are_counted_in_ascending_order(pairs: PairTally) -> None:
    assert pairs.codes.tolist() == [[0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 0], [1, 1, 1]]
    assert pairs.counts.tolist() == [2, 1, 1, 1, 1]
    assert pairs.total == 6


def test_each_model_has_its_confusion_matrix(pairs: PairTally) -> None:
    assert pairs.confusion(0) == Confusion(TWO, ((2, 1), (1, 2)))
    assert pairs.confusion(1) == Confusion(TWO, ((3, 0), (2, 1)))


def test_which_models_are_right_is_told_for_each_combination(pairs: PairTally) -> None:
    assert pairs.correct().tolist() == [
        [True, True], [False, True], [False, False], [True, False], [True, True],
    ]  # fmt: skip


def test_the_rows_of_one_label_alone(pairs: PairTally) -> None:
    assert pairs.of_label(1).total == 3
    assert pairs.of_label(0).codes.tolist() == [[0, 0, 0], [0, 1, 0]]


# -- clusters --------------------------------------------------------------------------------------


@pytest.fixture
def clusters() -> ClusterTally:
    truth, decision = np.array([0, 1, 2, 2]), np.array([0, 1, 2, 0])
    return ClusterTally.of_codes(THREE, truth, decision, np.array([2, 0, 2, 2]), HOSTS)


def test_clusters_stand_by_name_and_empty_ones_are_left_out(clusters: ClusterTally) -> None:
    assert clusters.clusters == ("alpha", "gamma")
    assert clusters.size == 2
    assert clusters.cells[1].tolist() == [[1, 0, 0], [0, 0, 0], [1, 0, 1]]
    assert clusters.confusion() == Confusion(THREE, ((1, 0, 0), (0, 1, 0), (1, 0, 1)))


def test_clusters_of_one_name_are_one_cluster() -> None:
    codes = np.zeros(2, np.uint8)
    twice = ClusterTally.of_codes(TWO, codes, codes, np.array([0, 1]), ("h", "h"))
    assert twice.clusters == ("h",)
    assert twice.cells.tolist() == [[[2, 0], [0, 0]]]


def test_one_label_against_the_rest_in_each_cluster(clusters: ClusterTally) -> None:
    against = clusters.against_rest(2)
    assert against.labels == ("not probe", "probe")
    assert against.cells.tolist() == [[[1, 0], [0, 0]], [[1, 0], [1, 1]]]
    assert against.confusion().cells == clusters.confusion().against_rest(2).cells
    two = ClusterTally.zero(TWO)
    assert two.against_rest(1) is two
    assert two.against_rest(0).cells.shape == (0, 2, 2)


# -- samples ---------------------------------------------------------------------------------------


def test_equal_rows_are_one_row_with_a_count() -> None:
    scores = np.array([0.5, 0.25, 0.5, 0.5])
    sample = Sample.of_rows(TWO, np.array([1, 0, 1, 0]), {"m": scores})
    assert sample.size == 3
    assert sample.truth.tolist() == [0, 0, 1]
    assert sample.scores.tolist() == [[0.25], [0.5], [0.5]]
    assert sample.counts.tolist() == [1, 1, 2]
    assert sample.clusters == ()


def test_clusters_of_a_sample_stand_by_name() -> None:
    sample = Sample.of_rows(
        TWO,
        np.array([1, 0]),
        {"m": np.array([0.5, 0.25])},
        cluster=np.array([2, 0]),
        clusters=("zulu", "unused", "alpha"),
    )
    assert sample.clusters == ("alpha", "zulu")
    assert sample.cluster.tolist() == [0, 1]
    assert sample.truth.tolist() == [1, 0]


def test_minus_zero_is_zero_in_a_sample() -> None:
    a = Sample.of_rows(TWO, np.array([0]), {"m": np.array([-0.0])})
    assert a == Sample.of_rows(TWO, np.array([0]), {"m": np.array([0.0])})


@given(
    rows=st.lists(
        st.tuples(st.integers(0, 1), st.sampled_from([0.0, 0.5, 1.0]), st.floats(-1, 1)), min_size=1
    )
)
def test_the_score_tally_of_a_sample_is_that_of_its_rows(rows: list[Any]) -> None:
    truth = np.array([r[0] for r in rows])
    columns = {"a": np.array([r[1] for r in rows]), "b": np.array([r[2] for r in rows])}
    sample = Sample.of_rows(TWO, truth, columns)
    for i, name in enumerate("ab"):
        assert sample.score_tally(i) == ScoreTally.of_rows(TWO, columns[name], truth)


def test_a_sample_of_no_models_keeps_its_labels() -> None:
    assert Sample.zero(TWO, ()).scores.shape == (0, 0)
    sample = Sample.of_rows(TWO, np.array([0, 1, 1]), {})
    assert sample.counts.tolist() == [1, 2]


TABLE = np.array([[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.5, 0.25, 0.25]])


def test_a_sample_has_one_column_or_one_a_label() -> None:
    sample = Sample.of_rows(THREE, np.array([0, 1, 2]), {"a": TABLE, "b": TABLE[:, ::-1]})
    assert (sample.width, sample.models) == (3, ("a", "b"))
    assert sample.of_model(1).tolist() == TABLE[:, ::-1].tolist()
    against = sample.one_versus_rest(1)
    assert against.labels == ("rest", THREE[1])
    assert against.truth.tolist() == [0, 1, 0]
    assert against.scores.tolist() == [[0.25], [0.5], [0.25]]
    tallies = sample.class_tallies(0)
    assert tallies[1] == ScoreTally.of_rows(THREE, TABLE[:, 1], np.array([0, 1, 2]))


def test_samples_of_unlike_width_or_weights_are_not_added() -> None:
    truth = np.array([0, 1, 2])
    wide = Sample.of_rows(THREE, truth, {"a": TABLE})
    with pytest.raises(TallyError, match="3 and with 1 columns a model"):
        wide + Sample.of_rows(THREE, truth, {"a": TABLE[:, 0]})
    with pytest.raises(TallyError, match="with and without sampling weights"):
        wide + Sample.of_rows(THREE, truth, {"a": TABLE}, weights=np.ones(3))


def test_weights_of_equal_rows_and_their_squares_are_added() -> None:
    weights = np.array([0.5, 2.0, 1.5])
    sample = Sample.of_rows(THREE, np.array([0, 1, 0]), {"a": TABLE}, weights=weights)
    assert sample.counts.tolist() == [2.0, 2.0]
    assert sample.amounts_squared.tolist() == [2.5, 4.0]
    assert from_bytes(sample.to_bytes()) == sample
    assert (sample + Sample.zero(THREE, ("a",), 3)) == sample


def test_rows_of_many_classes_are_kept_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    one = counted(list(THREE), y_proba=TABLE, labels=THREE)
    other = counted(list(THREE), y_proba=TABLE[:, ::-1], labels=THREE)
    whole = one + other
    assert whole.sample is not None
    assert whole.sample.counts.sum() == 6
    monkeypatch.setattr(resolved_tally, "MOST_PROBABILITIES", 11)
    assert (one + other).sample is None
    # Rows that were let go stay gone, in whatever order parts are added.
    assert ((one + other) + one).sample is (one + (other + one)).sample is None
    assert (one + other).confusion == whole.confusion


# -- the record ------------------------------------------------------------------------------------


def test_a_record_of_a_confusion_matrix_alone() -> None:
    table = Confusion(TWO, ((5, 1), (2, 9)))
    tally = Resolved.of_confusion(table, positive="attack")
    assert (tally.labels, tally.positive, tally.kind) == (TWO, "attack", "")
    assert tally.scores is tally.losses is tally.clusters is tally.sample is None
    assert (tally + tally).confusion.total == 34
    assert tally.zero().confusion == Confusion.zero(TWO)
    assert tally + tally.zero() == tally
