"""Parquet and Arrow: types, slices, and damage that would end the process."""

import inspect
import io
import subprocess
import sys
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest

from assay.errors import InputError
from assay.sources.files import Request, Rows, read
from assay.sources.files.columnar_metadata import Malformed, ThriftReader, largest_reads, row_groups

WRITERS: dict[str, Callable[[pl.DataFrame, Any], Any]] = {
    "parquet": lambda frame, file: frame.write_parquet(file),
    "arrow": lambda frame, file: frame.write_ipc(file),
    "stream": lambda frame, file: frame.write_ipc_stream(file),
}


def rows_of(frame: pl.DataFrame, format_: str = "parquet", **asked: Any) -> Rows:
    file = io.BytesIO()
    WRITERS[format_](frame, file)
    file.seek(0)
    return read(["-"], Request(**asked), stdin=file)


@pytest.mark.parametrize("format_", WRITERS)
@pytest.mark.parametrize(
    ("labels", "kind", "names"),
    [
        (pl.Series([True, False]), "booleans", ("false", "true")),
        (pl.Series([10, 9], dtype=pl.Int8), "numbers", ("9", "10")),
        (pl.Series([2**64 - 1, 0], dtype=pl.UInt64), "numbers", ("0", str(2**64 - 1))),
        (pl.Series([-(2**40), 2**40]), "numbers", (str(-(2**40)), str(2**40))),
        (pl.Series([1.0, 0.0], dtype=pl.Float32), "numbers", ("0", "1")),
        (pl.Series([Decimal("2.00"), Decimal("10.00")]), "numbers", ("2", "10")),
        (pl.Series(["x", "y"], dtype=pl.Categorical), "text", ("x", "y")),
        (pl.Series(["x", "y"], dtype=pl.Enum(["y", "x", "z"])), "text", ("x", "y")),
        (pl.Series([b"x", b"y"]), "text", ("x", "y")),
        (pl.Series(["10", "9"]), "text", ("10", "9")),
    ],
)
def test_labels_keep_their_kind(
    labels: pl.Series, kind: str, names: tuple[str, ...], format_: str
) -> None:
    frame = pl.DataFrame({"label": labels, "score": [0.1, 0.2]})
    column = rows_of(frame, format_).columns["y_true"]
    assert (column.kind, column.names) == (kind, names)
    assert sorted(column.codes.tolist()) == [0, 1]


@pytest.mark.parametrize(
    ("scores", "dtype"),
    [
        (pl.Series([0.5, 0.25], dtype=pl.Float32), np.float32),
        (pl.Series([0.5, 0.25], dtype=pl.Float64), np.float64),
        (pl.Series([2**60 + 1, 0]), np.float64),
        (pl.Series([True, False]), np.float64),
        (pl.Series([Decimal("0.1"), Decimal("123456789.123456789")]), np.float64),
        (pl.Series(["0.1", "1e-5"]), np.float64),
    ],
)
def test_scores_are_the_nearest_floats(scores: pl.Series, dtype: Any) -> None:
    values = rows_of(pl.DataFrame({"label": [0, 1], "score": scores})).columns["y_score"]
    assert values.dtype == dtype
    assert values.tolist() == [float(value) for value in scores.to_list()]


def test_narrow_and_wide_scores_of_several_files_become_wide(tmp_path: Path) -> None:
    for i, dtype in enumerate((pl.Float32, pl.Float64, pl.Float32)):
        frame = pl.DataFrame({"label": ["a"], "score": pl.Series([0.1], dtype=dtype)})
        frame.write_parquet(tmp_path / f"{i}.parquet")
    scores = read([str(tmp_path)], Request()).columns["y_score"]
    assert scores.dtype == np.float64
    assert scores.tolist() == [float(np.float32(0.1)), 0.1, float(np.float32(0.1))]


def test_null_and_nan_labels_are_missing() -> None:
    for labels in ([None, 1], [None, "a"], [float("nan"), 1.0], [None, True]):
        with pytest.raises(InputError, match="row 1: column 'label': the label is missing"):
            rows_of(pl.DataFrame({"label": labels, "score": [1, 2]}, strict=False))


def test_kinds_that_differ_between_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("label,score\n1,0.5\n")
    pl.DataFrame({"label": [1], "score": [0.5]}).write_parquet(tmp_path / "b.parquet")
    with pytest.raises(InputError, match=r"b.parquet, row 1.* from .*a.csv, line 2 on are text"):
        read([str(tmp_path)], Request())


def test_slices_of_any_type_have_names() -> None:
    frame = pl.DataFrame(
        {
            "label": ["a", "b", "a"],
            "score": [1, 2, 3],
            "whole": [10, 9, None],
            "part": [0.5, 1.0, float("nan")],
            "flag": [True, None, False],
            "day": pl.Series([0, 1, None]).cast(pl.Date),
        }
    )
    slices = rows_of(frame, slices=("whole", "part", "flag", "day")).columns["slices"]
    assert slices["whole"].names == ("(missing)", "10", "9")
    assert slices["part"].names == ("(missing)", "0.5", "1")
    assert slices["flag"].names == ("(missing)", "false", "true")
    assert slices["day"].names == ("(missing)", "1970-01-01", "1970-01-02")


def test_nested_columns_are_no_slices() -> None:
    frame = pl.DataFrame({"label": ["a"], "score": [1], "site": [[1, 2]]})
    with pytest.raises(InputError, match="row 1: column 'site': found List"):
        rows_of(frame, slices=("site",))
    assert rows_of(frame).rows_read == 1


@pytest.mark.parametrize("batch", [1, 3, 7, 100])
def test_row_groups_and_pages_of_any_size_read_the_same(batch: int, tmp_path: Path) -> None:
    labels = [["a", "b", "c"][i * i % 3] for i in range(50)]
    scores = np.linspace(0, 1, 50)
    table = pa.table({"label": labels, "score": scores})
    # Pages of so many rows are told to pyarrow since version 22, by bytes before.
    newer = "max_rows_per_page" in inspect.signature(pq.write_table).parameters
    pages = {"max_rows_per_page": 3} if newer else {"data_page_size": 24, "write_batch_size": 3}
    for size in (1, 4, 50):
        for version in ("1.0", "2.0"):
            path = tmp_path / "t.parquet"
            pq.write_table(table, path, row_group_size=size, data_page_version=version, **pages)
            columns = read([str(path)], Request(batch_rows=batch)).columns
            assert [columns["y_true"].names[c] for c in columns["y_true"].codes] == labels
            assert columns["y_score"].tolist() == scores.tolist()


# -- what polars must not be trusted with ----------------------------------------------------------


def parquet_file(tmp_path: Path) -> Path:
    path = tmp_path / "t.parquet"
    frame = pl.DataFrame(
        {"label": pl.Series(["x", "y"] * 35, dtype=pl.Categorical), "score": [0.5] * 70}
    )
    frame.write_parquet(path, compression="uncompressed")
    return path


def test_the_footer_and_the_pages_are_described_as_pyarrow_does(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    table = pa.table({"label": ["a", "b"] * 500, "score": np.arange(1000.0)})
    pq.write_table(table, path, row_group_size=300, data_page_size=512)
    about = pq.read_metadata(path)
    size = path.stat().st_size
    with path.open("rb") as file:
        groups = row_groups(file, size, "t")
        assert [group.rows for group in groups] == [300, 300, 300, 100]
        for i, group in enumerate(groups):
            for j, chunk in enumerate(group.chunks):
                theirs = about.row_group(i).column(j)
                assert chunk.column == theirs.path_in_schema
                assert chunk.values == theirs.num_values
                assert chunk.size == theirs.total_compressed_size
                assert chunk.unpacked == theirs.total_uncompressed_size
        score = largest_reads(file, size, groups, ["score"], "t")
        both = largest_reads(file, size, groups, ["label", "score"], "t")
    assert 300 * 8 <= score < both


def test_a_page_with_a_negative_size_is_refused_before_polars_sees_it(tmp_path: Path) -> None:
    # polars asks for 2^61 bytes here, and the process is gone.
    path = parquet_file(tmp_path)
    data = path.read_bytes()
    at = data.index(b"\x15\x8c\x01")
    path.write_bytes(data[:at] + b"\x15\xa7\x01" + data[at + 3 :])
    with pytest.raises(InputError, match=r"t.parquet is no Parquet file.*-84"):
        read([str(path)], Request())


@pytest.mark.parametrize("head", [b"\x24", b"\x26"], ids=["16 bits", "64 bits"])
def test_a_schema_that_readers_read_unlike_is_refused(tmp_path: Path, head: bytes) -> None:
    # Whether a column may have nulls: pyarrow skips that number where it has not 32 bits, takes the
    # column for one without nulls, and reads other values than polars does.
    path = tmp_path / "odd.parquet"
    pl.DataFrame({"label": ["a", "b"], "score": [0.25, 0.5]}).write_parquet(path)
    optional = b"\x25\x02\x18\x05score"
    content = path.read_bytes()
    assert content.count(optional) == 1
    path.write_bytes(content.replace(optional, head + optional[1:]))
    with pytest.raises(InputError, match=r"seems to be damaged: no type [46] may stand there"):
        read([str(path)], Request(label="label", score="score"))


def test_a_packed_buffer_that_claims_too_much_is_refused_before_polars_sees_it(
    tmp_path: Path,
) -> None:
    path = tmp_path / "t.arrow"
    pl.DataFrame({"label": ["a", "b"] * 500, "score": [0.5] * 1000}).write_ipc(
        path, compression="lz4"
    )
    data = path.read_bytes()
    at = data.index((8000).to_bytes(8, "little"))
    path.write_bytes(data[:at] + (2**56).to_bytes(8, "little") + data[at + 8 :])
    with pytest.raises(InputError, match=r"t.arrow: a part of it claims 72,057,594,037,927,936"):
        read([str(path)], Request())


def test_damage_never_writes_to_standard_error(tmp_path: Path) -> None:
    # A page whose bytes are gone makes polars panic, which prints before it raises.
    path = tmp_path / "t.parquet"
    pl.DataFrame({"label": ["a", "b"] * 400, "score": np.arange(800.0)}).write_parquet(path)
    good = path.read_bytes()
    script = (
        "import sys\n"
        "from assay.errors import InputError\n"
        "from assay.sources.files import Request, read\n"
        "import polars, random\n"
        "good = open(sys.argv[1], 'rb').read()\n"
        "for seed in range(50):\n"
        "    draw = random.Random(seed)\n"
        "    data = bytearray(good)\n"
        "    data[draw.randrange(4, len(good) - 8)] = draw.randrange(256)\n"
        "    open(sys.argv[1], 'wb').write(data)\n"
        "    try:\n"
        "        read([sys.argv[1]], Request())\n"
        "    except InputError:\n"
        "        pass\n"
        "print('done')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=False
    )
    assert done.stdout == "done\n"
    assert done.stderr == ""
    path.write_bytes(good)
    assert read([str(path)], Request()).rows_read == 800


def test_a_panic_becomes_an_error_and_what_others_said_is_kept(capfd: Any) -> None:
    import os

    from assay.sources.files.formats import guarded

    def panics() -> None:
        with guarded("f.parquet"):
            os.write(2, b"thread panicked\n")
            raise pl.exceptions.PanicException("oops\nstack backtrace:\n")

    with pytest.raises(InputError, match=r"f\.parquet can't be read, .*: oops$"):
        panics()
    assert capfd.readouterr().err == ""
    with guarded("f.parquet"):
        os.write(2, b"a progress bar\n")
    assert capfd.readouterr().err == "a progress bar\n"


def test_standard_error_comes_back_where_two_threads_read_at_once(capfd: Any) -> None:
    import os
    from concurrent.futures import ThreadPoolExecutor
    from threading import Event

    from assay.sources.files.formats import guarded

    both, first_left = Event(), Event()

    def first() -> None:
        with guarded("a.parquet"):
            both.wait(10)
            os.write(2, b"of the first\n")
        first_left.set()

    def second() -> None:
        with guarded("b.parquet"):
            both.set()
            first_left.wait(10)
            os.write(2, b"of the second\n")

    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(first), pool.submit(second)]:
            done.result()
    os.write(2, b"afterwards\n")
    assert capfd.readouterr().err == "of the first\nof the second\nafterwards\n"


@pytest.mark.parametrize(
    "data", [b"", b"\x15", b"\x19\xf5\xff\xff\xff\xff\x0f", b"\x1c" * 50, b"\x1d\0", b"\x19" * 5000]
)
def test_odd_bytes_are_no_thrift(data: bytes) -> None:
    with pytest.raises(Malformed):
        ThriftReader(data).struct()


def test_where_standard_error_is_closed_damage_is_refused_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import os

    from assay.sources.files.formats import guarded

    def closed(_: int) -> int:
        raise OSError(9, "Bad file descriptor")

    def fails(error: BaseException) -> None:
        with guarded("f"):
            raise error

    monkeypatch.setattr(os, "dup", closed)
    with pytest.raises(InputError, match="f can't be read"):
        fails(pl.exceptions.ComputeError("x"))
    with pytest.raises(InputError, match="f needs more memory"):
        fails(MemoryError())
    with pytest.raises(InputError, match=r"^ours$"):
        fails(InputError("ours"))
    with pytest.raises(InputError, match=r": x{200}\.\.\.$"):
        fails(ValueError("x" * 1000))


def test_binary_that_is_no_text_is_refused_as_a_label() -> None:
    with pytest.raises(InputError, match="'label' holds bytes that are no UTF-8"):
        rows_of(pl.DataFrame({"label": [b"\xff"], "score": [1]}))


def test_an_empty_file_without_dictionary_is_no_damage(tmp_path: Path) -> None:
    schema = pa.schema({"label": pa.string(), "score": pa.float64()})
    pq.write_table(schema.empty_table(), tmp_path / "day-1.parquet", use_dictionary=False)
    rows = pa.table({"label": ["a", "b"], "score": [0.5, 0.25]}, schema=schema)
    pq.write_table(rows, tmp_path / "day-2.parquet")
    assert read([str(tmp_path)], Request()).columns["y_score"].tolist() == [0.5, 0.25]
    with pytest.raises(InputError, match="there are no rows"):
        read([str(tmp_path / "day-1.parquet")], Request())


# -- moments in whole seconds ----------------------------------------------------------------------

NEVER = 2**63 - 1
SECONDS = [1_790_000_000, NEVER, -(2**63), None, 2**61 + 1_790_000_000, 253_402_300_800]


def written_by_arrow(path: Path, how: str, table: pa.Table) -> None:
    if how == "lz4":
        pyarrow.feather.write_feather(table, path, compression="lz4")
        return
    new = pyarrow.ipc.new_stream if how == "stream" else pyarrow.ipc.new_file
    with new(path, table.schema) as writer:
        writer.write_table(table)


@pytest.mark.parametrize("how", ["file", "stream", "lz4"])
@pytest.mark.parametrize("zone", [None, "Europe/Berlin"])
def test_seconds_beyond_the_calendar_are_no_moments_and_do_not_wrap_round(
    tmp_path: Path, how: str, zone: str | None
) -> None:
    table = pa.table(
        {
            "n": pa.array(range(6)),
            "time": pa.array(SECONDS, pa.timestamp("s", zone)),
            "label": ["a", "b"] * 3,
            "other": pa.array(SECONDS, pa.timestamp("s")),
            "score": [0.5] * 6,
        }
    )
    path = tmp_path / "t.arrow"
    written_by_arrow(path, how, table)
    rows = read([str(path)], Request(time="time", on_bad_row="skip"))
    assert [(bad.row, "found nothing" in bad.reason) for bad in rows.refused] == [
        (row, True) for row in range(2, 7)
    ]
    assert rows.columns["times"].names == ("2026-09-21",)
    assert read([str(path)], Request()).rows_read == 6


# -- types that polars has not ---------------------------------------------------------------------

ODD = {
    "interval": pa.array([(1, 2, 3)] * 2, pa.month_day_nano_interval()),
    "union": pa.UnionArray.from_sparse(pa.array([0] * 2, pa.int8()), [pa.array(range(2))]),
    "list view": pa.array([[1]] * 2, pa.list_view(pa.int32())),
    "run-end encoded": pa.RunEndEncodedArray.from_arrays([2], ["a"]),
    "timestamp of the unknown time zone 'Mars/Phobos'": pa.array(
        [1] * 2, pa.timestamp("us", "Mars/Phobos")
    ),
}


@pytest.mark.parametrize(
    ("kind", "how"),
    [
        *((kind, how) for kind in ODD for how in ("file", "stream")),
        # Of the others Parquet has none.
        *((kind, "parquet") for kind in ODD if kind.startswith(("list", "timestamp"))),
    ],
)
def test_a_column_of_a_type_that_is_not_read_is_named(tmp_path: Path, how: str, kind: str) -> None:
    table = pa.table({"label": ["a", "b"], "score": [0.5, 0.6], "odd": ODD[kind]})
    path = tmp_path / "t.arrow"
    if how == "parquet":
        try:
            pq.write_table(table, path)
        except pa.ArrowNotImplementedError as refusal:
            pytest.skip(f"this pyarrow writes no such Parquet: {refusal}")
    else:
        written_by_arrow(path, how, table)
    with pytest.raises(InputError) as told:
        read([str(path)], Request())
    assert f"its column 'odd' is of Arrow's type {kind}, which is not read" in str(told.value)
    assert "damaged" not in str(told.value)


def test_a_decimal_that_is_too_long_is_named_where_it_is_asked_for(tmp_path: Path) -> None:
    odd = pa.array([Decimal("1.5")] * 2, pa.decimal256(60, 2))
    path = tmp_path / "t.arrow"
    written_by_arrow(path, "file", pa.table({"label": ["a", "b"], "score": odd, "p": [0.1, 0.2]}))
    assert read([str(path)], Request(label="label", score="p")).rows_read == 2
    with pytest.raises(InputError, match="its column 'score' is of Arrow's type decimal256"):
        read([str(path)], Request(label="label", score="score"))
