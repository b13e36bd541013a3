"""Counts are exact up to 2^62, in every format and spelling; what is none is refused by its row."""

import json
import sqlite3
from collections.abc import Callable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from assay.errors import CountError
from assay.sources import code_arrays
from assay.sources.files import Request, read

# Each is the neighbour of a float64 that it would become.
LARGE = [2**53 + 1, 2**61 + 1, 7, 2**60 - 1]
LABELS = ["attack", "normal", "attack", "normal"]
SPELLINGS: dict[str, Callable[[int], str]] = {
    "plain": str,
    "blanks": lambda n: f" {n} ",
    "a tab": lambda n: f"{n}\t",
    "a point": lambda n: f"{n}.",
    "a zero behind a point": lambda n: f"{n}.0",
    "zeros, and a blank": lambda n: f" {n}.000",
    "zeros in front": lambda n: f"000{n}",
    "a sign": lambda n: f"+{n}",
    "an exponent": lambda n: f"{n}e0",
    "a shifted exponent": lambda n: f"{n / Decimal(10)}e1",
}


def text(suffix: str, delimiter: str, spelt: Callable[[int], str], *, quoted: bool = False) -> Any:
    def write(folder: Path, values: Sequence[Any]) -> str:
        path = folder / f"t.{suffix}"
        mark = '"' if quoted else ""
        lines = [delimiter.join(["label", "score", "n"])]
        for label, value in zip(LABELS, values, strict=True):
            cell = spelt(value) if isinstance(value, int) else str(value)
            lines.append(delimiter.join([label, "0.5", f"{mark}{cell}{mark}"]))
        path.write_text("\n".join(lines) + "\n")
        return str(path)

    return write


def json_lines(*spelt: Callable[[Any], Any]) -> Any:
    """JSON lines whose counts are spelt by turns."""

    def write(folder: Path, values: Sequence[Any]) -> str:
        path = folder / "t.jsonl"
        with path.open("w") as file:
            for i, (label, value) in enumerate(zip(LABELS, values, strict=True)):
                cell = spelt[i % len(spelt)](value)
                row = f'{{"label": "{label}", "score": 0.5, "n": {cell}}}'
                file.write(row + "\n")
        return str(path)

    return write


def arrow(data_type: pa.DataType, *, parquet: bool) -> Any:
    def write(folder: Path, values: Sequence[Any]) -> str:
        decimal = pa.types.is_decimal(data_type)
        cells = [Decimal(str(value)) if decimal else value for value in values]
        column = pa.array(cells, data_type)
        table = pa.table({"label": LABELS, "score": [0.5] * 4, "n": column})
        path = folder / ("t.parquet" if parquet else "t.arrow")
        if parquet:
            pq.write_table(table, path)
        else:
            with pa.ipc.new_file(path, table.schema) as file:
                file.write_table(table)
        return str(path)

    return write


def polars(data_type: Any) -> Any:
    def write(folder: Path, values: Sequence[Any]) -> str:
        path = folder / "p.arrow"
        frame = pl.DataFrame({"label": LABELS, "score": [0.5] * 4})
        frame.with_columns(n=pl.Series(values, dtype=data_type)).write_ipc(path)
        return str(path)

    return write


def npz(data_type: Any) -> Any:
    def write(folder: Path, values: Sequence[Any]) -> str:
        path = folder / "t.npz"
        column = np.array(values, data_type)
        np.savez(path, label=np.array(LABELS), score=np.full(4, 0.5), n=column)
        return str(path)

    return write


def sqlite(kind: str, cell: Callable[[int], Any] = int) -> Any:
    def write(folder: Path, values: Sequence[Any]) -> str:
        path = folder / "t.sqlite"
        path.unlink(missing_ok=True)
        connection = sqlite3.connect(path)
        connection.execute(f"CREATE TABLE t (label TEXT, score REAL, n {kind})")
        rows = [
            (label, 0.5, cell(v) if isinstance(v, int) and v < 2**62 else str(v))
            for label, v in zip(LABELS, values, strict=True)
        ]
        connection.executemany("INSERT INTO t VALUES (?, ?, ?)", rows)
        connection.commit()
        connection.close()
        return f"sqlite:{path}?SELECT * FROM t ORDER BY rowid"

    return write


def duck(kind: str) -> Any:
    def write(folder: Path, values: Sequence[Any]) -> str:
        path = folder / "t.duckdb"
        path.unlink(missing_ok=True)
        connection = duckdb.connect(str(path))
        connection.execute(f"CREATE TABLE t (label VARCHAR, score DOUBLE, n {kind})")
        for label, value in zip(LABELS, values, strict=True):
            connection.execute(f"INSERT INTO t VALUES ('{label}', 0.5, '{value}'::{kind})")
        connection.close()
        return f"duckdb:{path}?SELECT * FROM t ORDER BY rowid"

    return write


def textual(value: Any) -> str:
    return json.dumps(str(value))


FILES: dict[str, Any] = {
    **{f"csv, {name}": text("csv", ",", spelt) for name, spelt in SPELLINGS.items()},
    **{
        f"quoted csv, {name}": text("csv", ",", spelt, quoted=True)
        for name, spelt in SPELLINGS.items()
    },
    **{
        f"tsv, {name}": text("tsv", "\t", spelt)
        for name, spelt in SPELLINGS.items()
        if name != "a tab"
    },
    "json, int": json_lines(str),
    "json, text": json_lines(textual),
    "json, text with blanks": json_lines(lambda n: json.dumps(f" {n} ")),
    "json, text with a point": json_lines(lambda n: json.dumps(f"{n}.0")),
    "json, int and text": json_lines(str, textual),
    "json, int, text and blanks": json_lines(str, textual, str, lambda n: json.dumps(f" {n}")),
    "json, float": json_lines(lambda n: f"{n}.0"),
    "json, int and float": json_lines(str, lambda n: f"{n}.0", lambda n: f"{n}e0"),
    "json, float and text": json_lines(lambda n: f"{n}.0", textual),
    "parquet int64": arrow(pa.int64(), parquet=True),
    "parquet uint64": arrow(pa.uint64(), parquet=True),
    "parquet decimal": arrow(pa.decimal128(30, 0), parquet=True),
    "parquet decimal with a scale": arrow(pa.decimal128(30, 3), parquet=True),
    "arrow int64": arrow(pa.int64(), parquet=False),
    "arrow uint64": arrow(pa.uint64(), parquet=False),
    "arrow decimal": arrow(pa.decimal128(38, 5), parquet=False),
    "polars int128": polars(pl.Int128),
    "polars decimal": polars(pl.Decimal(30, 2)),
    "npz int64": npz(np.int64),
    "npz uint64": npz(np.uint64),
    "npz big-endian": npz(">i8"),
    "npz text": npz("U30"),
    "npz bytes": npz("S30"),
    "npz long double": npz(np.longdouble),
    "sqlite integer": sqlite("INTEGER"),
    "sqlite text": sqlite("TEXT", str),
    "sqlite text with blanks": sqlite("BLOB", lambda n: f" {n} "),
    "duckdb bigint": duck("BIGINT"),
    "duckdb ubigint": duck("UBIGINT"),
    "duckdb hugeint": duck("HUGEINT"),
    "duckdb decimal": duck("DECIMAL(30, 4)"),
    "duckdb text": duck("VARCHAR"),
}
COLUMNS: dict[str, Callable[[Sequence[Any]], Any]] = {
    "list": list,
    "list with a float": lambda v: [*v[:2], float(v[2]), v[3]],
    "list of decimals": lambda v: [Decimal(n) for n in v],
    "int64": lambda v: np.array(v, np.int64),
    "uint64": lambda v: np.array(v, np.uint64),
    "objects": lambda v: np.array([*v[:2], float(v[2]), np.int64(v[3])], object),
    "long double": lambda v: np.array(v, np.longdouble),
    "pandas int64": pd.Series,
    "pandas Int64": lambda v: pd.Series(v, dtype="Int64"),
    "pandas objects": lambda v: pd.Series([*v[:2], float(v[2]), Decimal(v[3])], dtype=object),
    "pandas decimals": lambda v: pd.Series([Decimal(n) for n in v]),
    "pandas of arrow decimals": lambda v: pd.Series(
        [Decimal(n) for n in v], dtype=pd.ArrowDtype(pa.decimal128(30, 2))
    ),
    "polars int64": lambda v: pl.Series(v, dtype=pl.Int64),
    "polars uint64": lambda v: pl.Series(v, dtype=pl.UInt64),
    "polars int128": lambda v: pl.Series(v, dtype=pl.Int128),
    "polars decimals": lambda v: pl.Series([Decimal(n) for n in v], dtype=pl.Decimal(30, 2)),
    "arrow int64": lambda v: pa.array(v, pa.int64()),
    "arrow decimals": lambda v: pa.array([Decimal(n) for n in v], pa.decimal128(30, 0)),
    "arrow chunks": lambda v: pa.chunked_array([pa.array(v, pa.uint64())]),
}
# What can't be a count, by the kinds of files that can hold it.
NO_COUNTS = {
    "a fraction": "1.5",
    "2^62": str(2**62),
    "a large fraction": f"{2**53 + 1}.5",
    "far too large": "1e25",
}
HOLDING = ("csv, plain", "quoted csv, plain", "tsv, plain", "json, text", "npz text", "duckdb text")
NUMERIC = ("json, int", "json, int and text", "parquet decimal with a scale", "duckdb decimal")


def counted(given: str, **asked: Any) -> list[int]:
    rows = read([given], Request(label="label", score="score", count="n", **asked))
    counts: list[int] = rows.columns["counts"].tolist()
    assert code_arrays(**rows.columns).counts is not None
    return counts


@pytest.mark.parametrize("kind", FILES)
def test_counts_of_files_are_exact(kind: str, tmp_path: Path) -> None:
    assert counted(FILES[kind](tmp_path, LARGE)) == LARGE


@pytest.mark.parametrize("kind", COLUMNS)
def test_counts_of_columns_are_exact(kind: str) -> None:
    rows = code_arrays(LABELS, y_score=[0.5] * 4, counts=COLUMNS[kind](LARGE))
    assert rows.counts is not None
    assert rows.counts.tolist() == LARGE


@pytest.mark.parametrize("kind", [*HOLDING, *NUMERIC])
@pytest.mark.parametrize("case", NO_COUNTS)
def test_what_is_no_count_is_refused_by_its_row(kind: str, case: str, tmp_path: Path) -> None:
    given = FILES[kind](tmp_path, [1, 2, Decimal(NO_COUNTS[case]), 4])
    with pytest.raises(CountError, match=r"(line [34]|row 3): column 'n': found .*below 2\^62"):
        counted(given)
    assert counted(given, on_bad_row="skip") == [1, 2, 4]


@pytest.mark.parametrize("value", [2**62, 2**63, 2**64 - 1, Decimal("1.5"), Decimal(2**70), None])
def test_what_is_no_count_is_refused_by_the_row_of_its_column(value: Any) -> None:
    for column in ([1, 2, value, 4], np.array([1, 2, value, 4], object)):
        with pytest.raises(CountError, match="row 3"):
            code_arrays(LABELS, y_score=[0.5] * 4, counts=column)


def test_an_exponent_is_not_written_out(tmp_path: Path) -> None:
    for kind in ("json, int", "json, text", "csv, plain"):
        given = FILES[kind](tmp_path, [1, 2, "1e999999999", 4])
        with pytest.raises(CountError, match=r"line [34]: column 'n': found"):
            counted(given)
