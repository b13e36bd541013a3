"""The law of counts: any parts, in any order, from any chunks, add up to the same bytes."""

import contextlib
import zlib
from collections import Counter as Tally
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.counts import Counter, Counts, Exact, Grid
from assay.counts.counts import MOST_WEIGHTS
from assay.counts.grid import cells, lowest
from assay.errors import AssayError, CountError, InputError, MissingColumn, TallyError

NASTY = [0.0, -0.0, 5e-324, -5e-324, 1e-310, 0.5, 0.5000000000000001, 0.7, 1.0, -2.25, 1e300]
scores = st.one_of(st.sampled_from(NASTY), st.floats(0, 1), st.floats(-9, 9, width=32))
sites = st.sampled_from(["x", "y", None])
ROWS = st.lists(
    st.tuples(st.sampled_from("abc"), scores, sites, st.sampled_from(["h1", "h2", "h10"])),
    min_size=1,
    max_size=40,
)
KEYS = st.sampled_from(
    [
        ("label", "score"),
        ("label", "score", "slice:site"),
        ("label", "cluster", "score>=0.5"),
        ("slice:site", "score"),
        ("label", "score", "cluster", "slice:site"),
        ("label",),
    ]
)
MODES = st.sampled_from(["exact", "grid"])
Rows = list[tuple[str, float, str | None, str]]


def frame(rows: Rows) -> pl.DataFrame:
    names = {"label": pl.String, "score": pl.Float64, "slice:site": pl.String, "cluster": pl.String}
    return pl.DataFrame(rows, schema=names, orient="row")


def by_hand(rows: Rows, keys: tuple[str, ...], *, grid: bool) -> Any:
    """Each combination and its rows, counted one by one."""

    def kept(score: float) -> float:
        number = score + 0.0
        return float(lowest(cells(np.array([number])))[0]) if grid else number

    columns = {
        "label": lambda row: row[0],
        "score": lambda row: kept(row[1]),
        "slice:site": lambda row: row[2],
        "cluster": lambda row: row[3],
        "score>=0.5": lambda row: "true" if row[1] >= 0.5 else "false",
    }
    return Tally(tuple(columns[key](row) for key in keys) for row in rows)


@given(ROWS, KEYS, MODES)
def test_counts_are_those_by_hand(rows: Rows, keys: tuple[str, ...], mode: str) -> None:
    counts = Counts.of(frame(rows), keys, mode=mode)
    table = counts.table.select(*counts.keys, "rows")
    assert dict(Tally({row[:-1]: row[-1] for row in table.rows()})) == dict(
        by_hand(rows, counts.keys, grid=mode == "grid")
    )
    assert counts.total == len(rows)


@given(ROWS, KEYS, MODES, st.randoms(), st.integers(1, 9))
def test_any_split_order_and_chunks_give_the_same_bytes(
    rows: Rows, keys: tuple[str, ...], mode: str, random: Any, size: int
) -> None:
    whole = Counts.of(frame(rows), keys, mode=mode)
    random.shuffle(rows)
    pieces = [frame(rows[i : i + size]) for i in range(0, len(rows), size)]
    parts = [Counts.of(piece, keys, mode=mode) for piece in pieces]
    counter = Counter(keys, mode=mode)
    for piece in pieces:
        counter.add(piece)
    half = len(parts) // 2
    nested = sum(parts[:half], Counts.zero(keys)) + sum(parts[half:], Counts.zero(keys))
    for other in (Counts.sum(parts), nested, counter.finish()):
        assert other == whole
        if mode == "exact":
            assert other.to_bytes() == whole.to_bytes()
        for name, column in whole.columns.items():
            assert other.columns[name].dtype == column.dtype


@given(ROWS)
def test_float32_scores_tie_with_the_same_float64(rows: Rows) -> None:
    narrow = frame(rows).with_columns(pl.col("score").cast(pl.Float32))
    wide = narrow.with_columns(pl.col("score").cast(pl.Float64))
    keys = ("label", "score")
    one, other = Counts.of(narrow, keys), Counts.of(wide, keys)
    assert one.to_bytes() == other.to_bytes()
    assert (one + other).to_bytes() == Counts.of(pl.concat([wide, wide]), keys).to_bytes()


@given(ROWS, KEYS)
def test_frequency_counts_are_repetitions(rows: Rows, keys: tuple[str, ...]) -> None:
    counts = [i % 3 for i in range(len(rows))]
    repeated = [row for row, count in zip(rows, counts, strict=True) for _ in range(count)]
    counted = Counts.of(frame(rows).with_columns(count=pl.Series(counts)), keys)
    expected = Counts.of(frame(repeated), keys) if repeated else Counts.zero(keys)
    assert counted == expected


@given(ROWS)
def test_exact_counts_coarsen_to_those_of_a_grid(rows: Rows) -> None:
    keys = ("label", "score", "slice:site")
    exact, grid = (Counts.of(frame(rows), keys, mode=mode) for mode in ("exact", "grid"))
    assert exact.coarsen(12) == grid
    assert exact + grid == grid + grid
    assert grid.coarsen(4) == exact.coarsen(4)
    assert (grid.coarsen(4) + grid).kept == Grid(4)
    with pytest.raises(InputError, match="a grid of 4 bits can't become one of 12"):
        grid.coarsen(4).coarsen(12)


@given(ROWS)
def test_fewer_keys_are_counts_by_those_keys(rows: Rows) -> None:
    keys = ("label", "score", "cluster", "slice:site")
    counts = Counts.of(frame(rows), keys)
    for some in (("label", "score"), ("cluster",), ("label", "slice:site")):
        assert counts.select(*some) == Counts.of(frame(rows), some)
    parts = counts.by("slice:site")
    for site, part in parts.items():
        held = frame(rows).filter(pl.col("slice:site").eq_missing(site))
        assert part == Counts.of(held, ("label", "score", "cluster"))
    assert sum(part.total for part in parts.values()) == counts.total


@pytest.mark.parametrize("amount", [2**31, 2**32, 10**18])
def test_large_counts_add(amount: int) -> None:
    given_ = pl.DataFrame({"label": ["a", "b"], "score": [0.5, 0.5], "count": [amount, 3]})
    counts = Counts.of(given_, ["label", "score"])
    both = counts + counts
    assert both.columns["rows"].tolist() == [2 * amount, 6]
    assert both.total == 2 * amount + 6
    cells_ = both.resolve(positive="a").confusion().cells
    assert cells_ == ((0, 6), (0, 2 * amount))
    assert Counts.from_bytes(both.to_bytes()) == both


def test_counts_beyond_64_bits_are_refused() -> None:
    counts = Counts.of(pl.DataFrame({"label": ["a"], "count": [4 * 10**18]}), ["label"])
    with pytest.raises(CountError, match=r"counts add up to 8e\+18"):
        counts + counts


def test_labels_are_written_as_the_contract_says() -> None:
    def names(values: pl.Series) -> Any:
        return Counts.of(pl.DataFrame({"label": values})).names["label"]

    assert names(pl.Series([True, False])) == ("false", "true")
    assert names(pl.Series([True, None])) == (None, "true")
    assert names(pl.Series([-128, 127, 10], dtype=pl.Int8)) == ("-128", "10", "127")
    assert names(pl.Series([10**12, None, 3])) == (None, "1000000000000", "3")
    assert names(pl.Series([10**12, 3])) == ("1000000000000", "3")
    assert names(pl.Series(["b", "a"], dtype=pl.Enum(["b", "x", "a"]))) == ("a", "b")
    assert names(pl.Series(["b", None], dtype=pl.Categorical)) == (None, "b")
    counter = Counter(["label"])
    for column in ([1, 0], ["0", "2"], [True]):
        counter.add(pl.DataFrame({"label": column}))
    assert counter.finish().table.rows() == [("0", 2), ("1", 1), ("2", 1), ("true", 1)]


def test_a_key_may_turn_out_to_have_many_values() -> None:
    size = 70_000
    names = pl.Series([f"h{i // 2}" for i in range(size)])
    rows = pl.DataFrame(
        {"label": ["a", "b"] * (size // 2), "score": np.arange(size) % 9 / 8, "cluster": names}
    )
    counter = Counter(["label", "score", "cluster"])
    for start, length in ((0, 5000), (5000, 60_000), (65_000, 5000)):
        counter.add(rows.slice(start, length))
    assert counter.finish() == Counts.of(rows)


# -- weights ---------------------------------------------------------------------------------------


@given(ROWS, MODES, st.booleans())
def test_weights_add_whether_they_are_a_key_or_a_sum(rows: Rows, mode: str, many: bool) -> None:
    weights = [0.1 * (i % 3) for i in range(len(rows))]
    if many:
        rows, weights = rows * MOST_WEIGHTS, [0.1 * i for i in range(len(rows) * MOST_WEIGHTS)]
    weighted = frame(rows).with_columns(weight=pl.Series(weights))
    keys = ("label", "score")
    whole = Counts.of(weighted, keys, mode=mode)
    parts = Counts.sum([Counts.of(each, keys, mode=mode) for each in weighted.iter_slices(7)])
    assert parts == whole
    assert ("weight" in whole.keys) == (len(set(weights)) <= MOST_WEIGHTS)
    columns = whole.without_weights().columns
    assert columns["sum(weight)"].sum() == pytest.approx(sum(weights), rel=1e-12)
    squares = sum(weight**2 for weight in weights)
    assert columns["sum(weight²)"].sum() == pytest.approx(squares, rel=1e-12)


def test_counts_with_and_without_weights_do_not_add() -> None:
    plain = pl.DataFrame({"label": ["a"]})
    weighted = plain.with_columns(weight=2.0)
    with pytest.raises(TallyError, match="with and without weights can't be added"):
        Counts.of(plain, ["label"]) + Counts.of(weighted, ["label"])
    counter = Counter(["label"])
    counter.add(plain)
    with pytest.raises(InputError, match="some rows have weights and others have none"):
        counter.add(weighted)


# -- how scores are kept ---------------------------------------------------------------------------


def test_auto_keeps_exact_scores_while_they_fit() -> None:
    random = np.random.default_rng(1)
    rows = pl.DataFrame({"label": ["a", "b"] * 5000, "score": random.random(10_000)})
    counter = Counter(["label", "score"], max_memory=100_000)
    for part in rows.iter_slices(1000):
        counter.add(part)
    assert counter.kept == Grid()
    assert counter.finish() == Counts.of(rows, mode="grid")
    (note,) = counter.notes
    assert note.endswith("of score, label don't fit into 0.1 MB, so scores are on a grid")
    exact = Counter(["label", "score"], mode="exact", max_memory=100_000)
    with pytest.raises(InputError, match="raise max_memory=, say mode='grid' or"):
        exact.add(rows)
    tied = Counter(["label", "score"], max_memory=100_000)
    for part in rows.with_columns(pl.col("score").round(2)).iter_slices(1000):
        tied.add(part)
    assert (tied.kept, tied.notes) == (Exact(), ())
    assert tied.finish() == Counts.of(rows.with_columns(pl.col("score").round(2)))


def test_what_can_not_be_counted_is_refused() -> None:
    with pytest.raises(InputError, match="mode= is one of auto, exact, grid; found 'cuts'"):
        Counter(["label"], mode="cuts")
    with pytest.raises(InputError, match="one or more keys"):
        Counter([])
    with pytest.raises(MissingColumn, match="counted by cluster, but the frame has no such column"):
        Counts.of({"label": ["a"]}, ["label", "cluster"])
    with pytest.raises(MissingColumn, match="no column of probabilities"):
        Counts.of({"label": ["a"]}, ["label", "probability"])
    counts = Counts.of({"label": ["a"], "score": [1.0]})
    with pytest.raises(InputError, match="have no key 'day'; their keys are score, label"):
        counts.select("day")
    with pytest.raises(InputError, match="score is a number"):
        counts.by("score")
    with pytest.raises(TallyError, match="different keys can't be added: label and score, label"):
        counts + counts.select("label")
    assert counts != "counts"


# -- bytes -----------------------------------------------------------------------------------------


def test_damaged_bytes_are_an_error() -> None:
    rows = pl.DataFrame({"label": ["a", "b"] * 50, "score": np.arange(100) / 7})
    data = Counts.of(rows, ["label", "score"]).to_bytes()
    random = np.random.default_rng(3)
    for cut in random.integers(0, len(data), 50).tolist():
        with pytest.raises(TallyError):
            Counts.from_bytes(data[:cut])
    for place in random.integers(0, len(data), 200).tolist():
        damaged = bytearray(data)
        damaged[place] ^= 1 << (place % 8)
        with pytest.raises(TallyError):
            Counts.from_bytes(bytes(damaged))


def test_bytes_that_no_counting_gives_are_an_error() -> None:
    data = Counts.of({"label": ["a", "b"], "score": [0.5, 0.25]}).to_bytes()
    magic, body = data[:12], data[16:]

    def signed(changed: bytes) -> bytes:
        return magic + zlib.crc32(changed).to_bytes(4, "little") + changed

    assert Counts.from_bytes(signed(body)).total == 2
    with pytest.raises(TallyError, match="have schema 7; this version reads 1"):
        Counts.from_bytes(signed(body.replace(b'"schema":1', b'"schema":7')))
    swapped = body.replace(b'"label":["a","b"]', b'"label":["a"    ]')
    with pytest.raises(TallyError, match="the table and its keys contradict each other"):
        Counts.from_bytes(signed(swapped))
    random = np.random.default_rng(5)
    for place in random.integers(4, len(body), 300).tolist():
        changed = bytearray(body)
        changed[place] ^= 1 << (place % 8)
        with contextlib.suppress(AssayError):
            Counts.from_bytes(signed(bytes(changed)))
