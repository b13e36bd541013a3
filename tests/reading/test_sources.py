"""The same rows from every source are the same frame."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import sqlite3
import sys
import types
from pathlib import Path

import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pytest
from backports import zstd

import assay
from assay import errors
from assay.reading import formats

N = 3000
RNG = np.random.default_rng(0)
FRAME = pl.DataFrame(
    {
        "label": RNG.integers(0, 2, N),
        "score": RNG.integers(-20, 20, N) / 16,
        "site": [None if i % 7 == 3 else f"site {i % 3}" for i in range(N)],
        "n": RNG.integers(0, 5, N),
    }
)
ROLES = {"label": "label", "score": "score", "slices": ["site"], "count": "n"}
KEYS = ("label", "score", "slice:site", "count", "row")


def frame_of(rows: assay.rows) -> pl.DataFrame:
    """All good rows, with texts as texts."""
    texts = pl.col(pl.Categorical).cast(pl.String)
    return pl.concat([frame.with_columns(texts) for frame in rows.batches(*KEYS)])


WANTED = frame_of(assay.rows(FRAME, **ROLES))


def text(sign: str = ",") -> bytes:
    return FRAME.write_csv(separator=sign).encode()


def in_file(name: str, write):
    def source(folder: Path):
        write(folder / name)
        return folder / name

    return source


def bytes_in(name: str, data):
    return in_file(name, lambda path: path.write_bytes(data()))


def in_sqlite(folder: Path) -> str:
    with sqlite3.connect(folder / "rows.db") as database:
        database.execute("create table flows (label, score, site, n)")
        database.executemany("insert into flows values (?, ?, ?, ?)", FRAME.rows())
    return f"sqlite:{folder}/rows.db?select * from flows"


def in_duckdb(folder: Path) -> str:
    with duckdb.connect(str(folder / "rows.duckdb")) as database:
        database.execute("create table flows (label int, score double, site text, n int)")
        database.executemany("insert into flows values (?, ?, ?, ?)", FRAME.rows())
    return f"duckdb:{folder}/rows.duckdb?from flows;"


def in_several_files(folder: Path) -> list[str]:
    FRAME[:1000].write_parquet(folder / "a.parquet")
    (folder / "b.csv").write_bytes(FRAME[1000:].write_csv().encode())
    return [str(folder / "a.parquet"), str(folder / "b.csv")]


def in_folder(folder: Path) -> Path:
    for site, part in FRAME.with_row_index().group_by("site"):
        inner = folder / f"site={site[0] or '__HIVE_DEFAULT_PARTITION__'}".replace(" ", "%20")
        inner.mkdir()
        part.drop("site").write_parquet(inner / "part.parquet")
    (folder / "_SUCCESS").touch()
    return folder


def cursor(folder: Path) -> sqlite3.Cursor:
    in_sqlite(folder)
    return sqlite3.connect(folder / "rows.db").execute("select * from flows")


SOURCES = {
    "csv": bytes_in("rows.csv", text),
    "tsv": bytes_in("rows.tsv", lambda: text("\t")),
    "gz": bytes_in(
        "rows.csv.gz", lambda: gzip.compress(text()[:9000]) + gzip.compress(text()[9000:])
    ),
    "zst": bytes_in("rows.csv.zst", lambda: zstd.compress(text())),
    "bz2": bytes_in("rows.csv.bz2", lambda: bz2.compress(text())),
    "xz": bytes_in("rows.csv.xz", lambda: lzma.compress(text())),
    "ndjson": bytes_in("rows.jsonl", lambda: FRAME.write_ndjson().encode()),
    "json": bytes_in("rows.json", lambda: json.dumps(FRAME.to_dicts(), indent=1).encode()),
    "json under a key": bytes_in(
        "rows.json", lambda: json.dumps({"hits": {"total": 9, "hits": FRAME.to_dicts()}}).encode()
    ),
    "parquet": in_file("rows.parquet", lambda path: FRAME.write_parquet(path, row_group_size=700)),
    "arrow": in_file("rows.arrow", FRAME.write_ipc),
    "arrow stream": in_file("rows.arrows", FRAME.write_ipc_stream),
    "xlsx": in_file("rows.xlsx", FRAME.write_excel),
    "npz": in_file(
        "rows.npz",
        lambda path: np.savez(
            path,
            **{
                c: FRAME[c].fill_null("").to_numpy().astype(str if c == "site" else float)
                for c in FRAME.columns
            },
        ),
    ),
    "sqlite": in_sqlite,
    "duckdb": in_duckdb,
    "cursor": cursor,
    "several files": in_several_files,
    "polars": lambda _: FRAME,
    "polars, lazy": lambda _: FRAME.lazy(),
    "pandas": lambda _: FRAME.to_pandas(),
    "pandas with arrow types": lambda _: FRAME.to_pandas(use_pyarrow_extension_array=True),
    "pyarrow": lambda _: FRAME.to_arrow(),
    "narwhals": lambda _: nw.from_native(FRAME),
    "lists": lambda _: FRAME.to_dict(as_series=False),
    "arrays": lambda _: {column: FRAME[column].to_numpy() for column in FRAME.columns},
    "iterator": lambda _: iter(FRAME.to_dicts()),
}


@pytest.mark.parametrize("name", SOURCES)
def test_every_source_gives_the_same_rows(tmp_path, name) -> None:
    rows = assay.rows(SOURCES[name](tmp_path), **ROLES)
    found = frame_of(rows)
    if name == "several files":
        found = found.with_columns(WANTED["row"])
    assert found.equals(WANTED.select(found.columns), null_equal=True)
    assert rows.source.labels_sha256 == LABELS
    assert (rows.source.rows_read, rows.source.rows_refused) == (N, 0)


def labels() -> str | None:
    rows = assay.rows(FRAME, **ROLES)
    frame_of(rows)
    return rows.source.labels_sha256


LABELS = labels()


def test_folders_give_their_keys_as_columns(tmp_path) -> None:
    rows = assay.rows(in_folder(tmp_path), **ROLES)
    found = frame_of(rows).drop("row").sort(pl.all())
    assert found.equals(WANTED.drop("row").sort(pl.all()).select(found.columns))


def test_the_source_has_the_hash_of_the_bytes(tmp_path) -> None:
    import hashlib

    for name in ("csv", "gz", "parquet", "json"):
        path = SOURCES[name](tmp_path)
        rows = assay.rows(path, **ROLES)
        list(rows.batches())
        (digest,) = rows.source.inputs
        assert digest.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
        assert digest.bytes == path.stat().st_size


@pytest.mark.parametrize("name", ["csv", "gz", "json", "ndjson", "parquet", "arrow", "xlsx"])
def test_standard_input_is_read_once(tmp_path, monkeypatch, name) -> None:
    data = SOURCES[name](tmp_path).read_bytes()
    monkeypatch.setattr(sys, "stdin", types.SimpleNamespace(buffer=io.BytesIO(data)))
    rows = assay.rows("-", **ROLES, input_format="xlsx" if name == "xlsx" else None)
    assert frame_of(rows).height == N
    assert rows.source.inputs[0].bytes == len(data)
    with pytest.raises(errors.InputError, match=r"can be read once, and was: count it once"):
        rows.batches()


def test_files_are_read_again(tmp_path) -> None:
    rows = assay.rows(SOURCES["csv"](tmp_path), **ROLES)
    assert frame_of(rows).equals(frame_of(rows))


def test_only_the_columns_that_are_asked_for_are_checked() -> None:
    rows = assay.rows({"y": ["a", "b"], "p": [0.5, None]}, label="y", score="p")
    (frame,) = rows.batches("label")
    assert frame.columns == ["label"]
    with pytest.raises(errors.InputError, match=r"no column of a mapping is given as 'cluster'"):
        rows.batches("cluster")


def test_unknown_until_read() -> None:
    rows = assay.rows(["a", "b"], [0.5, 0.25])
    with pytest.raises(errors.InputError, match=r"have not been read yet"):
        rows.refused  # noqa: B018


@pytest.mark.parametrize(
    ("arguments", "named", "roles"),
    [
        ((["a", "b"], [0.5, 0.25]), {}, ["label", "score"]),
        (([1, 0], [True, False]), {}, ["label", "decision"]),
        (([True, False], [1, 0]), {}, ["label", "decision"]),
        (([1, 0], [3, 900]), {}, None),
        (([1, 0, 1], [3, 900, 5]), {}, ["label", "score"]),
        ((["a", "b"], np.array([[0.5, 0.5], [0.25, 0.75]])), {}, ["label", "probability:a", "probability:b"]),  # noqa: E501
        ((), {"label": ["a"], "score": [1.0], "slices": {"s": ["x"]}}, ["label", "score", "slice:s"]),  # noqa: E501
    ],
)  # fmt: skip
def test_columns_by_position(arguments, named, roles) -> None:
    if roles is None:
        with pytest.raises(errors.LabelError, match=r"say score= for scores, or decision="):
            assay.rows(*arguments, **named)
    else:
        assert list(assay.rows(*arguments, **named).columns) == roles


@pytest.mark.parametrize(
    ("source", "named", "says"),
    [
        ("no_such.csv", {}, "there is no file no_such.csv"),
        ("postgresql://me:secret@db/x?select 1", {}, "holds a password"),
        ("mysql://me:secret@db/x", {}, r"^mysql:// is not read"),
        (object(), {}, "a object is no source of rows"),
        ({"a": [1], "b": [1, 2]}, {}, "as many rows as each other: a has 1, b has 2"),
        ({"a": [1]}, {"label": "b"}, "has no column 'b' for label=. Its columns are 'a'"),
        ({"a": pl.Series([[1]])}, {"score": "a"}, "holds List"),
        (None, {}, "there are no rows"),
        (["a.csv", "a.csv"], {}, "there is no file"),
    ],
)
def test_what_can_not_be_opened_is_refused(source, named, says) -> None:
    with pytest.raises(errors.InputError, match=says) as refusal:
        assay.rows(source, **named)
    assert "secret" not in str(refusal.value)


def test_a_missing_file_and_column_name_their_likeness(tmp_path) -> None:
    path = SOURCES["csv"](tmp_path)
    with pytest.raises(errors.InputError, match=r"did you mean rows\.csv\?"):
        assay.rows(path.with_name("row.csv"))
    with pytest.raises(errors.MissingColumn, match=r"did you mean 'label'\?"):
        assay.rows(path, label="lable")


def test_pandas_on_numpy_says_that_nan_may_be_missing() -> None:
    frame = pd.DataFrame({"y": [1, 0], "p": [0.5, np.nan]})
    with pytest.raises(errors.ScoreError, match=r"has no score \(or nan: pandas on NumPy"):
        list(assay.rows(frame, label="y", score="p").batches())


def test_a_format_is_one_entry(tmp_path, monkeypatch) -> None:
    path = tmp_path / "rows.avro"
    FRAME.write_avro(path)
    with pytest.raises(errors.InputError, match="it is an Avro file"):
        assay.rows(path, **ROLES)
    scan = formats.frames(lambda data: pl.read_avro(data).lazy())
    avro = formats.Format("avro", "Avro", (".avro",), b"Obj\x01", scan)
    monkeypatch.setattr(formats, "FORMATS", (*formats.FORMATS, avro))
    assert frame_of(assay.rows(path, **ROLES)).equals(WANTED, null_equal=True)


def test_files_of_several_need_the_same_columns(tmp_path) -> None:
    FRAME.write_csv(tmp_path / "a.csv")
    FRAME.drop("score").write_csv(tmp_path / "b.csv")
    with pytest.raises(errors.MissingColumn, match=r"b\.csv has no column 'score' for score="):
        assay.rows(tmp_path, label="label", score="score")
    with pytest.raises(errors.InputError, match=r"given twice: its rows would count twice"):
        assay.rows([tmp_path / "a.csv", tmp_path / "a.csv"], label="label")
    assert assay.rows(str(tmp_path / "?.csv"), label="label").name.endswith("a.csv and 1 more")


def test_columns_are_recognised_and_arguments_win() -> None:
    frame = pl.DataFrame({"disposition": ["malicious", "benign"], "risk_score": ["97", "12"], "x": ["a", "b"]})  # fmt: skip # noqa: E501
    rows = assay.rows(frame)
    assert repr(rows) == (
        "Rows of a DataFrame\n"
        "Using label='disposition' (attack: 'malicious'), score='risk_score' (0 to 100)"
    )
    assert assay.rows(frame, label="x").columns["label"] == "x"
    unclear = assay.rows({"x": ["a", "b"], "z": ["c", "d"]})
    with pytest.raises(errors.InputError, match=r"can't tell which column has the labels"):
        unclear.count("label", "score")
