"""ScoreTally: the fast count against a naive one, and what is read from the table."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.errors import ScoreError
from assay.tally import ScoreTally
from assay.tally.blocks import BLOCK
from assay.tally.scores import extremes

from .kinds import THREE, TWO

LARGE = 1 << 20  # from here on polars sorts
FLOATS = [np.float64, np.float32]
Array = np.ndarray[Any, Any]


def _naive(scores: Array, truth: Array, labels: int) -> tuple[list[float], list[list[int]]]:
    """Distinct scores and the count of each label, by a dictionary."""
    seen = Counter(zip(scores.tolist(), truth.tolist(), strict=True))
    distinct = sorted({score for score, _ in seen})
    return distinct, [[seen[score, label] for score in distinct] for label in range(labels)]


def _must_equal_naive(scores: Array, truth: Array, labels: tuple[str, ...] = TWO) -> ScoreTally:
    before = scores.tobytes(), truth.tobytes()
    tally = ScoreTally.of_rows(labels, scores, truth)
    distinct, counts = _naive(scores, truth, len(labels))
    assert tally.scores.tolist() == distinct
    assert tally.counts.tolist() == counts
    assert tally.scores.dtype == scores.dtype
    assert tally.counts.dtype == np.min_scalar_type(max(max(row) for row in counts))
    assert (scores.tobytes(), truth.tobytes()) == before
    return tally


def _truth(size: int, seed: int = 3) -> Array:
    return (np.random.default_rng(seed).random(size) < 0.3).astype(np.uint8)


@pytest.mark.parametrize("dtype", FLOATS)
@settings(max_examples=200)
@given(data=st.data())
def test_any_finite_scores_are_counted_as_a_dictionary_would(dtype: Any, data: Any) -> None:
    width = np.dtype(dtype).itemsize * 8
    values = st.floats(allow_nan=False, allow_infinity=False, width=width)
    few = st.sampled_from([-0.0, 0.0, 1.0, -1.0, 0.5])
    scores = data.draw(st.lists(st.one_of(values, few), min_size=1, max_size=40))
    truth = data.draw(st.lists(st.integers(0, 1), min_size=len(scores), max_size=len(scores)))
    _must_equal_naive(np.array(scores, dtype), np.array(truth, np.uint8))


SHAPES = {
    "positive": lambda n, rng: rng.random(n),
    "negative": lambda n, rng: -rng.random(n) - 1e-9,
    "mixed sign": lambda n, rng: rng.normal(size=n),
    "tied": lambda n, rng: rng.integers(0, 50, n) / 49,
    "tied of mixed sign": lambda n, rng: rng.integers(-25, 25, n) / 7,
    "all one value": lambda n, rng: np.full(n, 0.75),
    "all zero of both signs": lambda n, rng: np.where(rng.random(n) < 0.5, 0.0, -0.0),
    "half of them tied": lambda n, rng: np.where(rng.random(n) < 0.5, 0.5, rng.random(n)),
    "huge and tiny": lambda n, rng: rng.choice([1e300, -1e300, 1e-300, -1e-300, 3e38], n),
    "denormal": lambda n, rng: rng.integers(-40, 40, n) * 5e-324,
    "ascending": lambda n, rng: np.arange(n) / n,
    "descending": lambda n, rng: -np.arange(n, dtype=np.float64),
}


@pytest.mark.sampled(12)
@pytest.mark.parametrize("size", [1, 2, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK])
@pytest.mark.parametrize("shape", SHAPES)
def test_scores_around_the_border_of_a_block_are_counted(shape: str, size: int) -> None:
    scores = SHAPES[shape](size, np.random.default_rng(size))
    _must_equal_naive(scores.astype(np.float64), _truth(size))


@pytest.mark.parametrize("shape", ["positive", "mixed sign", "tied", "descending"])
def test_narrow_scores_around_the_border_of_a_block_are_counted(shape: str) -> None:
    scores = SHAPES[shape](BLOCK + 1, np.random.default_rng(5))
    _must_equal_naive(scores.astype(np.float32), _truth(BLOCK + 1))


@pytest.mark.parametrize(
    "value", [5e-324, -5e-324, 1.7976931348623157e308, -1.7976931348623157e308]
)
def test_the_extremes_of_float64_keep_their_bits(value: float) -> None:
    tally = _must_equal_naive(np.array([value, 0.0, value, -value]), np.array([0, 1, 1, 0]))
    assert tally.totals() == [2, 2]


@pytest.mark.parametrize("value", [1.4e-45, -1.4e-45, 3.4028235e38, -3.4028235e38])
def test_the_extremes_of_float32_keep_their_bits(value: float) -> None:
    scores = np.array([value, 0.0, value, -value], np.float32)
    _must_equal_naive(scores, np.array([0, 1, 1, 0]))


def test_minus_zero_is_zero() -> None:
    tally = ScoreTally.of_rows(TWO, np.array([-0.0, 0.0, -1.0]), np.array([0, 1, 1]))
    assert tally.scores.tolist() == [-1.0, 0.0]
    assert not np.signbit(tally.scores[1])
    assert tally == ScoreTally.of_rows(TWO, np.array([0.0, 0.0, -1.0]), np.array([0, 1, 1]))


def test_a_tie_that_crosses_the_border_of_blocks_is_one_score() -> None:
    scores = np.concatenate([np.zeros(BLOCK - 3), np.full(3 * BLOCK, 0.5), np.ones(5)])
    tally = _must_equal_naive(scores, _truth(len(scores)))
    assert tally.size == 3


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("dtype", "shape", "size"),
    [
        (np.float64, "positive", LARGE + 5),
        (np.float64, "mixed sign", 2 * LARGE + 77),
        (np.float32, "tied of mixed sign", 2 * LARGE + 77),
        (np.float32, "negative", LARGE),
        (np.float64, "all one value", LARGE + 1),
    ],
)
def test_scores_that_polars_sorts_are_counted_as_numpy_counts_them(
    dtype: Any, shape: str, size: int
) -> None:
    scores = SHAPES[shape](size, np.random.default_rng(11)).astype(dtype)
    truth = _truth(size)
    tally = ScoreTally.of_rows(TWO, scores, truth)
    distinct, inverse = np.unique(scores, return_inverse=True)
    np.testing.assert_array_equal(tally.scores, distinct)
    for label in range(2):
        expected = np.bincount(inverse[truth == label], minlength=len(distinct))
        np.testing.assert_array_equal(tally.counts[label], expected)


def test_counting_leaves_the_rows_as_they_were_where_polars_sorts() -> None:
    scores = np.random.default_rng(1).normal(size=LARGE + 3)
    truth = _truth(len(scores))
    before = scores.copy(), truth.copy()
    ScoreTally.of_rows(TWO, scores, truth)
    np.testing.assert_array_equal(scores, before[0])
    np.testing.assert_array_equal(truth, before[1])


@pytest.mark.sampled(8)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", FLOATS)
def test_scores_sorted_in_ranges_are_counted_as_if_sorted_at_once(
    shape: str, dtype: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = np.random.default_rng(6)
    scores = SHAPES[shape](3 * BLOCK + 5, random)
    scores = np.clip(scores, -3e38, 3e38).astype(dtype)
    truth = random.integers(0, 2, len(scores)).astype(np.uint8)
    at_once = ScoreTally.of_rows(TWO, scores, truth)
    for rows in (len(scores) - 1, BLOCK, 1000):
        monkeypatch.setattr("assay.tally.blocks._RANGE", (rows, rows))
        assert ScoreTally.of_rows(TWO, scores, truth).to_bytes() == at_once.to_bytes()


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint8, np.uint16, np.int64])
def test_the_truth_may_be_coded_in_any_type(dtype: Any) -> None:
    scores = np.array([0.5, -0.5, 0.5, 0.25])
    truth = np.array([0, 1, 1, 0])
    assert ScoreTally.of_rows(TWO, scores, truth.astype(dtype)) == ScoreTally.of_rows(
        TWO, scores, truth
    )


@pytest.mark.parametrize("dtype", [np.int64, np.float16, np.uint8])
def test_other_types_of_numbers_become_float64(dtype: Any) -> None:
    tally = ScoreTally.of_rows(TWO, np.array([3, 1, 1], dtype), np.array([0, 1, 1]))
    assert tally.scores.dtype == np.float64
    assert tally.scores.tolist() == [1.0, 3.0]


def test_scores_that_lie_apart_in_memory_are_counted() -> None:
    table = np.random.default_rng(2).random((1000, 3))
    _must_equal_naive(table[:, 1], _truth(1000))
    _must_equal_naive(table[::-2, 2], _truth(500))


def test_three_labels_are_counted_as_a_dictionary_would() -> None:
    rng = np.random.default_rng(4)
    scores, truth = rng.integers(0, 40, 5000) / 8, rng.integers(0, 3, 5000)
    _must_equal_naive(scores, truth, THREE)


# -- what is refused -------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("bad", "shown"), [(np.nan, "nan"), (np.inf, "inf"), (-np.inf, "-inf")])
@pytest.mark.parametrize("size", [3, BLOCK + 9, 6 * BLOCK])
def test_a_score_that_is_not_finite_is_refused_with_its_row(
    size: int, bad: float, shown: str, dtype: Any
) -> None:
    scores = np.linspace(0, 1, size, dtype=dtype)
    scores[[size - 2, size - 1]] = bad
    with pytest.raises(
        ScoreError, match=f"2 of {size} are not; the first is {shown} in row {size - 1} "
    ):
        ScoreTally.of_rows(TWO, scores, np.zeros(size, np.uint8))


def test_extremes_are_the_smallest_and_the_largest() -> None:
    scores = np.random.default_rng(0).normal(size=5 * BLOCK + 7)
    assert extremes(scores) == (scores.min(), scores.max())


# -- what is read from the table -------------------------------------------------------------------


@pytest.fixture
def table() -> ScoreTally:
    scores = np.array([0.1, 0.4, 0.4, 0.4, 0.8, 0.8])
    return ScoreTally.of_rows(THREE, scores, np.array([0, 0, 1, 2, 2, 2]))


def test_the_rows_at_or_above_a_threshold_are_told_by_label(table: ScoreTally) -> None:
    assert table.at_least(0.4) == [1, 1, 3]
    assert table.at_least(np.nextafter(0.4, 1)) == [0, 0, 2]
    assert table.at_least(-np.inf) == table.totals() == [2, 1, 3]
    assert table.at_least(np.inf) == [0, 0, 0]
    assert all(type(n) is int for n in table.totals())


def test_a_narrow_score_is_compared_as_the_number_that_it_is() -> None:
    tally = ScoreTally.of_rows(TWO, np.array([0.7], np.float32), np.array([1]))
    assert tally.at_least(float(np.float32(0.7))) == [0, 1]
    assert tally.at_least(0.7) == [0, 0]  # the float32 next to 0.7 is smaller


def test_totals_are_exact_where_single_counts_fill_their_type() -> None:
    tally = ScoreTally.of_rows(TWO, np.repeat([0.0, 1.0], 255), np.zeros(510, np.uint8))
    assert tally.counts.dtype == np.uint8
    assert tally.totals() == [510, 0]
    merged = tally + tally
    assert merged.counts.tolist() == [[510, 510], [0, 0]]
    assert merged.counts.dtype == np.uint16


def test_counts_beyond_32_bits_are_kept() -> None:
    counts = np.array([2**40, 2**61], np.int64)
    tally = ScoreTally.of_rows(TWO, np.array([0.5, 0.5]), np.array([0, 1]), counts=counts)
    assert tally.totals() == [2**40, 2**61]
    assert (tally + tally).totals() == [2**41, 2**62]


def test_one_label_against_the_rest(table: ScoreTally) -> None:
    probe = table.one_versus_rest(2)
    assert probe.labels == ("rest", "probe")
    assert probe.counts.tolist() == [[1, 2, 0], [0, 1, 2]]
    binary = ScoreTally.of_rows(TWO, np.array([0.2, 0.6]), np.array([0, 1]))
    assert binary.one_versus_rest(1) is binary
    assert binary.one_versus_rest(0).counts.tolist() == [[0, 1], [1, 0]]


def test_one_label_against_a_rest_of_more_than_a_byte() -> None:
    scores, truth = np.full(600, 0.5), np.repeat([0, 1, 2], 200)
    rest = ScoreTally.of_rows(THREE, scores, truth).one_versus_rest(1)
    assert rest.counts.tolist() == [[400], [200]]


def test_the_rows_of_two_labels_alone(table: ScoreTally) -> None:
    pair = table.pair(0, 1)
    assert pair.labels == ("benign", "dos")
    assert pair.scores.tolist() == [0.1, 0.4]
    assert pair.counts.tolist() == [[1, 1], [0, 1]]
    assert table.pair(2, 0).counts.tolist() == [[0, 1, 2], [1, 1, 0]]


def test_weights_go_with_the_rest_and_with_the_pair() -> None:
    tally = ScoreTally.of_rows(
        THREE,
        np.array([0.1, 0.4, 0.4, 0.9]),
        np.array([0, 1, 2, 2]),
        weights=np.array([0.5, 2.0, 3.0, 4.0]),
    )
    assert tally.weighted
    rest = tally.one_versus_rest(1)
    assert rest.counts.tolist() == [[0.5, 3.0, 4.0], [0.0, 2.0, 0.0]]
    assert rest.squares is not None
    assert rest.squares.tolist() == [[0.25, 9.0, 16.0], [0.0, 4.0, 0.0]]
    pair = tally.pair(0, 1)
    assert pair.scores.tolist() == [0.1, 0.4]
    assert pair.squares is not None
    assert pair.squares.tolist() == [[0.25, 0.0], [0.0, 4.0]]
    assert tally.at_least(0.4) == [0.0, 2.0, 7.0]


def test_a_table_is_shown_by_its_size(table: ScoreTally) -> None:
    assert repr(table) == "ScoreTally(labels=('benign', 'dos', 'probe'), distinct scores=3)"
    assert table.size == 3
    assert not table.weighted


def test_narrow_and_wide_scores_add_as_numbers() -> None:
    narrow = ScoreTally.of_rows(TWO, np.array([0.5, 0.1], np.float32), np.array([0, 1]))
    wide = ScoreTally.of_rows(TWO, np.array([0.5, 0.1]), np.array([1, 1]))
    merged = narrow + wide
    assert merged.scores.dtype == np.float64
    assert merged.scores.tolist() == [0.1, float(np.float32(0.1)), 0.5]
    assert merged.counts.tolist() == [[0, 0, 1], [1, 1, 1]]


def test_many_tables_merge_as_they_add() -> None:
    rng = np.random.default_rng(9)
    parts = [
        ScoreTally.of_rows(TWO, rng.integers(0, 9, 50) / 8, rng.integers(0, 2, 50))
        for _ in range(5)
    ]
    added = parts[0] + parts[1] + parts[2] + parts[3] + parts[4]
    assert ScoreTally.merge([*parts, ScoreTally.zero(TWO)]) == added


@pytest.mark.parametrize("labels", [[0, 0, 1], [1, 0, 1], [0, 1, 1], [0, 0, 0]])
def test_a_negative_score_is_told_from_the_other_whose_bits_it_turns_over(
    labels: list[int],
) -> None:
    for kind in (np.float32, np.float64):
        above = np.array([1.5], kind)
        bits = np.invert(above.view(f"u{above.itemsize}"))
        scores = np.concatenate([bits.view(kind), above, np.array([2.0], kind)])
        assert scores[0] < 0
        truth = np.array(labels)
        whole = ScoreTally.of_rows(("benign", "attack"), scores, truth)
        parts = [
            ScoreTally.of_rows(("benign", "attack"), scores[rows], truth[rows])
            for rows in ([0, 2], [1])
        ]
        merged = ScoreTally.merge(parts)
        for tally in (whole, merged):
            assert tally.scores.tolist() == scores.tolist()
            assert tally.counts.tolist() == [[1 - label for label in labels], labels]


@pytest.mark.parametrize("weights", [None, np.array([0.1, 0.2, 0.3])])
def test_the_rows_of_some_labels_are_those_of_no_other(weights: Any) -> None:
    scores, truth = np.array([0.5, 0.5, 0.25]), np.array([0, 0, 1])
    table = ScoreTally.of_rows(("a", "b"), scores, truth, weights=weights)
    first = ScoreTally.of_rows(
        ("a",), scores[:2], truth[:2], weights=None if weights is None else weights[:2]
    )
    assert table.of_labels(lambda label: label == "a") == first
    assert table.of_labels(lambda _: False).size == 0
