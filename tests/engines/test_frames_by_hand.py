"""Frames of every library by stand-ins, pieces of a few rows, and row numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pytest

from assay.engines import frames, partitions
from assay.engines.ask import Ask, Columns
from assay.engines.frames import comes_again, gathered, kind_of, must_be_a_column, unsupported
from assay.errors import InputError, ScoreError
from assay.tally.keeping import Cuts
from assay.tally.named_tally import SCORE

from .standins import of

COLUMNS = Columns("label", score="score")
ROWS = {"label": ["a", "b", "a", "a", "b"], "score": [0.1, 0.2, 0.3, 0.4, 0.5]}
FRAME = pl.DataFrame(ROWS)


# -- kinds of frames -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("module", "name", "kind"),
    [
        ("polars.dataframe.frame", "DataFrame", "polars"),
        ("pandas", "DataFrame", "pandas"),
        ("pyspark.sql.dataframe", "DataFrame", "spark"),
        ("pyspark.sql.connect.dataframe", "DataFrame", "spark"),
        ("pyspark.pandas.frame", "DataFrame", None),
        ("pyspark.sql.session", "SparkSession", None),
        ("dask.dataframe.dask_expr._collection", "DataFrame", "dask"),
        ("ray.data.dataset", "MaterializedDataset", "ray"),
        ("_duckdb", "DuckDBPyRelation", "duckdb"),
        ("mine.pandas", "DataFrame", None),
    ],
)
def test_a_frame_is_told_by_its_type(module: str, name: str, kind: str | None) -> None:
    frame = of(module, name)
    assert kind_of(frame) == kind
    assert kind_of(of("mine", "Own", type(frame))) == kind


SPARK = of("pyspark.sql.dataframe", "DataFrame")


@pytest.mark.parametrize(
    ("rows", "columns", "counted_by"),
    [
        (of("duckdb", "DuckDBPyRelation"), COLUMNS, frames._by_sql),
        (of("duckdb", "DuckDBPyRelation"), Columns("y", probabilities={"a": "p"}), frames._by_sql),
        (SPARK, COLUMNS, frames._by_sql),
        (SPARK, Columns("y", probabilities={"a": "p"}), partitions.count_spark),
        (of("dask.dataframe", "DataFrame"), COLUMNS, partitions.count_dask),
        (of("ray.data", "Dataset"), COLUMNS, partitions.count_ray),
        (FRAME, COLUMNS, None),
        ([1, 2], COLUMNS, None),
    ],
)
def test_rows_are_counted_where_they_are(rows: Any, columns: Columns, counted_by: Any) -> None:
    assert frames._elsewhere(rows, columns) is counted_by


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("flows.csv", "'flows.csv' is a name: read files"),
        (Path("flows.csv"), "'flows.csv' is a name: read files"),
        (of("pandas", "Series"), r"this is one column \(pandas.Series\)"),
        (of("vaex.dataframe", "DataFrame"), r"its \.to_arrow_table\(\) gives"),
        (of("pyspark.pandas.frame", "DataFrame"), r"its \.to_spark\(\) gives"),
        (of("other", "Table", to_pandas=lambda _: 1), r"its \.to_pandas\(\) gives"),
        (of("other", "Table", collect=lambda _: 1), r"its \.collect\(\) gives"),
        (of("other", "Table", to_pandas=1), "other.Table is not read as a frame. Read are"),
        (of("_duckdb", "DuckDBPyConnection"), r"its \.sql\('select \.\.\.'\) gives"),
        ([{"y": 1}], r"^list is not read as a frame.*polars\.DataFrame\(rows\) makes one"),
    ],
)
def test_what_is_no_frame_is_told_what_to_do(rows: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        raise unsupported(rows)
    with pytest.raises(InputError, match=said):
        frames.count(rows, COLUMNS)


@pytest.mark.parametrize(
    ("frame", "said"),
    [
        (FRAME, "a polars DataFrame is a frame: .* give its columns, such as frame"),
        ({"y": [1]}, "a builtins dict is a frame: .* give its columns"),
        (of("pandas", "DataFrame"), "a pandas DataFrame is a frame: .* give its columns"),
        (of("_duckdb", "DuckDBPyRelation"), r"a duckdb \w+ is a frame: .* what its \.pl\(\) gives"),
        (of("pyspark", "DataFrame", collect=1), r"what its \.toPandas\(\) gives"),
        (of("pyarrow", "Dataset", to_table=1), r"what its \.to_table\(\) gives"),
        (of("pyarrow", "RecordBatchReader"), r"what its \.read_all\(\) gives"),
    ],
)
def test_a_frame_is_told_how_to_give_its_columns_where_rows_are_compared(
    frame: Any, said: str
) -> None:
    must_be_a_column([1, 0])
    with pytest.raises(InputError, match=said):
        must_be_a_column(frame)


def test_a_column_that_is_there_twice_is_refused() -> None:
    pandas = pytest.importorskip("pandas")
    twice = pandas.DataFrame([["a", 0.5, 0.6]], columns=["label", "score", "score"])
    with pytest.raises(InputError, match="several columns called 'score'"):
        frames.count(twice, COLUMNS)
    other = pandas.DataFrame([["a", 0.5, 1, 2]], columns=["label", "score", "x", "x"])
    assert frames.count(other, COLUMNS).rows == 1


def test_a_dataset_with_a_column_twice_is_refused_and_its_table_is_counted() -> None:
    table = FRAME.to_arrow()
    twice = table.append_column("x", table["score"]).append_column("x", table["score"])
    assert frames.count(twice, COLUMNS) == frames.count(FRAME, COLUMNS)
    with pytest.raises(InputError, match=r"several columns called 'x'.* give the table"):
        frames.count(ds.dataset(twice), COLUMNS)


_ARROW_ONLY = {
    "cast it to float64": ("score", pa.array([1, 2, 3, 4, 5], pa.decimal256(40, 2))),
    "run_end_decode": ("label", pc.run_end_encode(pa.array(list("aabbb")))),
    "month_day_nano_interval": ("label", pa.array([(1, 2, 3)] * 5, pa.month_day_nano_interval())),
    "-2.* float64": ("score", pa.array([100] * 5, pa.decimal128(5, -2))),
}


@pytest.mark.parametrize("said", _ARROW_ONLY)
@pytest.mark.parametrize("kind", ["table", "reader", "dataset", "pandas", "mapping"])
def test_columns_of_types_that_only_arrow_has_are_named_if_they_are_used(
    kind: str, said: str
) -> None:
    column, values = _ARROW_ONLY[said]
    pandas = pytest.importorskip("pandas")
    table = FRAME.to_arrow()
    makes: dict[str, Any] = {
        "table": lambda rows: rows,
        "reader": lambda rows: rows.to_reader(2),
        "dataset": ds.dataset,
        "pandas": lambda rows: pandas.DataFrame(
            {name: pandas.Series(pandas.arrays.ArrowExtensionArray(rows[name]))
             for name in rows.column_names}
        ),
        "mapping": lambda rows: {name: rows[name] for name in rows.column_names},
    }  # fmt: skip
    unused = makes[kind](table.append_column("other", values))
    assert frames.count(unused, COLUMNS) == frames.count(FRAME, COLUMNS)
    used = makes[kind](table.drop_columns(column).append_column(column, values))
    with pytest.raises(InputError, match=f"column '{column}' is of .*{said}"):
        frames.count(used, COLUMNS)


def test_only_a_reader_can_not_be_gone_through_again() -> None:
    table = FRAME.to_arrow()
    assert comes_again(FRAME)
    assert comes_again(table)
    assert comes_again(ds.dataset(table))
    assert not comes_again(table.to_reader())
    assert not comes_again(ds.dataset(table).scanner())


@pytest.mark.parametrize(
    "rows",
    [
        FRAME.lazy(),
        FRAME.to_arrow(),
        FRAME.to_arrow().to_batches()[0],
        ROWS,
        ds.dataset(FRAME.to_arrow()),
    ],
    ids=["lazy", "table", "batch", "mapping", "dataset"],
)
def test_every_kind_of_frame_is_counted_alike(rows: Any) -> None:
    for ask in (None, Ask(scores=Cuts())):
        assert frames.count(rows, COLUMNS, ask) == frames.count(FRAME, COLUMNS, ask)
    with pytest.raises(InputError, match="no column 'lable'"):
        frames.count(rows, Columns("lable", score="score"))


@pytest.mark.parametrize("streamed", ["reader", "scanner"])
def test_what_comes_once_is_counted_once(streamed: str) -> None:
    table = FRAME.to_arrow()
    rows = table.to_reader(2) if streamed == "reader" else ds.dataset(table).scanner()
    assert frames.count(rows, COLUMNS) == frames.count(FRAME, COLUMNS)


def test_decisions_are_counted_where_cuts_are_asked_for() -> None:
    frame = FRAME.with_columns(said=pl.col("label"))
    columns = Columns("label", decision="said")
    assert frames.count(frame, columns, Ask(scores=Cuts())).rows == 5


# -- pieces ----------------------------------------------------------------------------------------


def test_small_frames_are_gathered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "PIECE", 4)
    sizes = [1, 0, 2, 1, 3, 0, 2, 9, 4, 2, 1]
    heights = [part.height for part in gathered(FRAME[[0] * n]
                                              if n else FRAME[:0] for n in sizes)]  # fmt: skip
    assert heights == [4, 5, 9, 4, 3]
    assert list(gathered([])) == []
    assert list(gathered([FRAME[:0]])) == []


@pytest.mark.parametrize("piece", [1, 2, 3, 5, 6])
def test_a_frame_is_counted_in_pieces(piece: int, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = frames.count_polars(FRAME, COLUMNS)
    monkeypatch.setattr(frames, "PIECE", piece)
    assert frames.count_polars(FRAME, COLUMNS) == whole
    table = whole.scores[SCORE]
    assert table.counts.sum(axis=1).tolist() == [3, 2]


@pytest.mark.parametrize("piece", [1, 2, 10])
def test_bad_rows_are_named_by_their_number(piece: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "PIECE", piece)
    for row in range(5):
        bad = FRAME.with_columns(
            pl.when(pl.int_range(5) == row).then(None).otherwise("score").alias("score")
        )
        with pytest.raises(ScoreError, match=f"the frame, row {row + 1}: "):
            frames.count_polars(bad, COLUMNS)
        with pytest.raises(ScoreError, match=f"the frame, row {row + 6}: "):
            frames.count_polars([FRAME, bad], COLUMNS)


# -- what is asked ---------------------------------------------------------------------------------


def test_every_column_is_named_once_and_in_order() -> None:
    columns = Columns(
        "y", score="p", decision="d", probabilities={"a": "pa", "b": "pb"}, count="n", weight="w",
        cluster="h", slices=("s", "y"), family="f", time="t", rows="r", incident="i", rule="u",
        key=("k", "s"),
    )  # fmt: skip
    assert columns.names == ["y", "p", "d", "pa", "pb", *"nwhsftriuk"]
    assert Columns("y").names == ["y"]
    incidents = Columns.of_incidents("i", "t", score="p")
    assert (incidents.label, incidents.names) == ("i", ["i", "p", "t"])


def test_scores_and_probabilities_rank_rows() -> None:
    assert Columns("y", score="p").rank
    assert Columns("y", probabilities={"a": "p"}).rank
    assert not Columns("y", decision="d").rank


def test_losses_are_counted_unless_that_is_said() -> None:
    assert Ask().losses
