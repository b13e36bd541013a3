"""One table written in every format that is read."""

import gzip
import json
import sqlite3
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

Columns = Mapping[str, Sequence[Any]]


def csv_bytes(columns: Columns, delimiter: str = ",") -> bytes:
    """Quoted only where that is needed."""
    return _lines(
        columns, delimiter, "\n", lambda text: any(c in text for c in f'{delimiter}"\r\n')
    )


def quoted_bytes(columns: Columns) -> bytes:
    """Quoted everywhere, with the line ends of Windows."""
    return _lines(columns, ",", "\r\n", lambda text: True)


def _lines(columns: Columns, delimiter: str, end: str, quoted: Callable[[str], bool]) -> bytes:
    def field(value: Any) -> str:
        text = repr(value) if isinstance(value, float) else str(value)
        return '"' + text.replace('"', '""') + '"' if quoted(text) else text

    rows = [list(columns), *zip(*columns.values(), strict=True)]
    return "".join(delimiter.join(map(field, row)) + end for row in rows).encode()


def jsonl_bytes(columns: Columns) -> bytes:
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def _frame(columns: Columns) -> pl.DataFrame:
    return pl.DataFrame({name: list(values) for name, values in columns.items()})


def _array(values: Sequence[Any]) -> Any:
    return np.array([str(v) for v in values] if isinstance(values[0], str) else values)


def write_csv(folder: Path, columns: Columns) -> str:
    return _written(folder / "t.csv", csv_bytes(columns))


def write_quoted(folder: Path, columns: Columns) -> str:
    return _written(folder / "q.csv", quoted_bytes(columns))


def write_tsv(folder: Path, columns: Columns) -> str:
    return _written(folder / "t.tsv", csv_bytes(columns, "\t"))


def write_jsonl(folder: Path, columns: Columns) -> str:
    return _written(folder / "t.jsonl", jsonl_bytes(columns))


def write_gzip(folder: Path, columns: Columns) -> str:
    return _written(folder / "t.csv.gz", gzip.compress(csv_bytes(columns)))


def write_zstd(folder: Path, columns: Columns) -> str:
    return _written(folder / "t.jsonl.zst", zstd.compress(jsonl_bytes(columns)))


def write_parquet(folder: Path, columns: Columns) -> str:
    path = folder / "t.parquet"
    _frame(columns).write_parquet(path, row_group_size=5)
    return str(path)


def write_arrow(folder: Path, columns: Columns) -> str:
    path = folder / "t.arrow"
    _frame(columns).write_ipc(path, compression="zstd")
    return str(path)


def write_stream(folder: Path, columns: Columns) -> str:
    path = folder / "stream.arrow"
    _frame(columns).write_ipc_stream(path)
    return str(path)


def write_npz(folder: Path, columns: Columns) -> str:
    path = folder / "t.npz"
    np.savez_compressed(path, **{name: _array(values) for name, values in columns.items()})
    return str(path)


def write_npy(folder: Path, columns: Columns) -> str:
    path = folder / "t.npy"
    arrays = {name: _array(values) for name, values in columns.items()}
    rows = np.empty(len(next(iter(arrays.values()))), [(n, a.dtype) for n, a in arrays.items()])
    for name, array in arrays.items():
        rows[name] = array
    np.save(path, rows)
    return str(path)


def write_sqlite(folder: Path, columns: Columns) -> str:
    path = folder / "t.sqlite"
    path.unlink(missing_ok=True)
    connection = sqlite3.connect(path)
    _filled(connection, columns, dict.fromkeys(columns, ""))
    connection.commit()
    connection.close()
    return f"sqlite:{path}?SELECT * FROM t ORDER BY rowid"


def write_duckdb(folder: Path, columns: Columns) -> str:
    path = folder / "t.duckdb"
    path.unlink(missing_ok=True)
    kinds = {str: "VARCHAR", float: "DOUBLE", int: "BIGINT", bool: "BOOLEAN"}
    connection = duckdb.connect(str(path))
    _filled(connection, columns, {c: kinds[type(v[0])] for c, v in columns.items()})
    connection.close()
    return f"duckdb:{path}?SELECT * FROM t ORDER BY rowid"


def _filled(connection: Any, columns: Columns, kinds: Mapping[str, str]) -> None:
    connection.execute(f"CREATE TABLE t ({', '.join(f'{c} {k}' for c, k in kinds.items())})")
    marks = ", ".join("?" * len(columns))
    rows = [list(row) for row in zip(*columns.values(), strict=True)]
    connection.executemany(f"INSERT INTO t VALUES ({marks})", rows)


def _written(path: Path, data: bytes) -> str:
    path.write_bytes(data)
    return str(path)


Writer = Callable[[Path, Columns], str]

WRITERS: dict[str, Writer] = {
    "csv": write_csv,
    "quoted": write_quoted,
    "tsv": write_tsv,
    "jsonl": write_jsonl,
    "gzip": write_gzip,
    "zstd": write_zstd,
    "parquet": write_parquet,
    "arrow": write_arrow,
    "stream": write_stream,
    "npz": write_npz,
    "npy": write_npy,
    "sqlite": write_sqlite,
    "duckdb": write_duckdb,
}

TABLE: Columns = {
    "label": ["normal", "attack", "NA", "007", "None", "null", "nan"],
    "score": [0.1, 0.9, 1 / 3, 1e-300, -2.5, 0.1 + 0.2, 5e-324],
    "site": ["b", "a", "b", " a", "é", 'x"y', "a,b"],
}
