r"""Formats of files: each is one entry, with its suffixes and the scan that opens it.

A further format is one more entry of :data:`FORMATS`. Where a library makes a polars frame of the
file, that is all::

    Format("avro", "Avro", (".avro",), b"Obj\x01", frames(lambda data: pl.read_avro(data).lazy()))
"""

from __future__ import annotations

import bz2
import codecs
import contextlib
import gzip
import io
import lzma
import re
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path, PurePath
from queue import Full, Queue
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, TypeAlias

from assay.errors import EmptyInput, InputError, install_line
from assay.reading.damage import damaged, each, guarded
from assay.reading.source import Batch, InputDigest, InputFile, Table

if TYPE_CHECKING:
    import polars as pl

HEAD = 1 << 16
BATCH = 1 << 18
FIRST_ROWS = 1000


@dataclass(frozen=True)
class FileOptions:
    """How files are read, where they don't tell by themselves.

    ``rows`` is the key of a JSON document under which its rows stand.
    """

    input_format: str | None = None
    delimiter: str | None = None
    quote: str = '"'
    header: bool = True
    skip_lines: int = 0
    encoding: str | None = None
    sheet: str | None = None
    rows: str | None = None


Scan: TypeAlias = Callable[[InputFile, FileOptions], Table]
# From the bytes of a file to UTF-8.
Texts: TypeAlias = Callable[[Iterator[bytes]], Iterator[bytes]]


@dataclass(frozen=True)
class Format:
    """A format of files: its name, how people call it, how its files end and begin, its scan."""

    name: str
    title: str
    suffixes: tuple[str, ...]
    magic: bytes
    scan: Scan


# -- frames that polars or another library makes ---------------------------------------------------


def frames(scan: Callable[[Any], pl.LazyFrame]) -> Scan:
    """A scan from a function that makes a lazy frame of a path or, for standard input, of bytes."""

    def opened(file: InputFile, options: FileOptions) -> Table:  # noqa: ARG001 - nothing to choose
        with guarded(file.name):
            data = file.whole()
            lazy = scan(data if isinstance(data, Path) else io.BytesIO(data))
            return table_of(lazy, file.name, file)

    return opened


def table_of(lazy: pl.LazyFrame, name: str, file: InputFile | None = None) -> Table:
    """A table of a lazy frame, read in batches, in order."""

    def batches(columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        # Of a frame without columns nobody would know how many rows it has.
        return streamed(lazy.select(list(columns) or lazy.collect_schema().names()[:1]))

    def read(columns: Sequence[str]) -> Iterator[Batch]:
        checked = each(name, batches(columns))
        first = 1
        for frame in checked if file is None else file.beside(checked):
            yield Batch(frame, first)
            first += frame.height

    def look() -> pl.DataFrame:
        with guarded(name):
            return lazy.head(FIRST_ROWS).collect()

    def digest() -> InputDigest | None:
        return None if file is None else file.digest

    with guarded(name):
        schema = dict(lazy.collect_schema())
    return Table(name, schema, read, look, digest, once=file is not None and file.once)


def streamed(lazy: pl.LazyFrame) -> Iterator[pl.DataFrame]:
    """The rows of a lazy frame in batches, in order.

    ``collect_batches`` of polars is not used: where a file is damaged, it ends without an error,
    and rows would be lost in silence.
    """
    batches: Queue[pl.DataFrame | BaseException | None] = Queue(2)
    left = Event()

    def put(batch: pl.DataFrame | BaseException | None) -> bool:
        while not left.is_set():
            with contextlib.suppress(Full):
                batches.put(batch, timeout=0.1)
                return False
        return True  # nobody reads on

    def run() -> None:
        try:
            lazy.sink_batches(put, chunk_size=BATCH, maintain_order=True, engine="streaming")
        except BaseException as error:  # noqa: BLE001 - raised again by whoever reads
            put(error)
        else:
            put(None)

    Thread(target=run, name="batches", daemon=True).start()
    try:
        while (batch := batches.get()) is not None:
            if isinstance(batch, BaseException):
                raise batch
            yield batch
    finally:
        left.set()


def _parquet(data: Any) -> pl.LazyFrame:
    import polars as pl

    return pl.scan_parquet(data, glob=False, hive_partitioning=False)


def _arrow(data: Any) -> pl.LazyFrame:
    import polars as pl

    return pl.scan_ipc(data, glob=False, hive_partitioning=False)


def _arrow_stream(data: Any) -> pl.LazyFrame:
    import polars as pl

    return pl.read_ipc_stream(data).lazy()


def _npz(data: Any) -> pl.LazyFrame:
    import numpy as np
    import polars as pl

    loaded = np.load(data, allow_pickle=False)
    if isinstance(loaded, np.ndarray):
        if loaded.dtype.names is None:
            raise ValueError("it is one array without names: save several with numpy.savez")
        columns = {name: loaded[name] for name in loaded.dtype.names}
    else:
        columns = {name: loaded[name] for name in loaded.files}
    sizes = {name: array.shape for name, array in columns.items()}
    if any(len(shape) != 1 for shape in sizes.values()) or len(set(sizes.values())) > 1:
        raise ValueError(f"its arrays must be columns of one length; found {sizes}")
    return pl.LazyFrame({name: pl.Series(name, array) for name, array in columns.items()})


def _workbook(file: InputFile, options: FileOptions) -> Table:
    try:
        import fastexcel
    except ImportError as error:
        raise InputError(
            f"{file.name} is an Excel file, which needs {install_line('excel')}; or save it as CSV"
        ) from error
    try:
        with guarded(file.name):
            data = file.whole()
            book = fastexcel.read_excel(data if isinstance(data, bytes) else str(data))
            title = _sheet(book.sheet_names, options.sheet, file.name)
            # Types are those of all rows: otherwise a text below many numbers would be lost.
            frame = book.load_sheet(title, schema_sample_rows=None).to_polars()
    except fastexcel.FastExcelError as error:
        raise damaged(file.name, error) from error
    return table_of(frame.lazy(), file.name, file)


def _sheet(sheets: list[str], asked: str | None, name: str) -> str:
    if not sheets:
        raise EmptyInput(f"{name} is a workbook without a sheet")
    shown = " or ".join(f"sheet={title!r}" for title in sheets[:5])
    if asked is None and len(sheets) > 1:
        raise InputError(f"{name} has {len(sheets)} sheets. Say which is meant: {shown}")
    if asked is not None and asked not in sheets:
        raise InputError(f"{name} has no sheet {asked!r}; it has {shown}")
    return asked or sheets[0]


# -- text ------------------------------------------------------------------------------------------


def _delimited(delimiter: str, file: InputFile, options: FileOptions) -> Table:
    from assay.reading.numbers import sniff_delimiter
    from assay.reading.text import Dialect, open_text, skipped

    texts, notes = _texts_of(file, options)
    head = next(skipped(texts(file.look()), options.skip_lines), b"")[:HEAD]
    sniffed = sniff_delimiter(head.decode("utf-8", "replace"), delimiter)
    dialect = Dialect.of(
        options.delimiter or sniffed,
        options.quote,
        header=options.header,
        skip_lines=options.skip_lines,
    )
    return open_text(file, texts, dialect, notes)


def _zeek(file: InputFile, options: FileOptions) -> Table:
    from assay.reading.text import open_text, zeek

    texts, notes = _texts_of(file, options)
    rows, dialect = zeek(texts, next(texts(file.look()), b"")[:HEAD], file.name)
    return open_text(file, rows, dialect, notes)


def _json(file: InputFile, options: FileOptions) -> Table:
    from assay.reading.json_rows import open_json

    texts, notes = _texts_of(file, options)
    return open_json(file, texts, options.rows, notes)


def _texts_of(file: InputFile, options: FileOptions) -> tuple[Texts, tuple[str, ...]]:
    """A function from the bytes of a file to UTF-8, and a note where the encoding was guessed."""
    from assay.reading.text import is_western, utf8

    encoding, notes = options.encoding, tuple[str, ...]()
    if encoding is None and is_western(next(_unpacked(file.look(), file.name), b"")[:HEAD]):
        encoding = "cp1252"
        notes = (f"{file.name} is not UTF-8, and is read as cp1252",)
    return lambda chunks: utf8(_unpacked(chunks, file.name), encoding, file.name), notes


FORMATS = (
    Format("csv", "CSV", (".csv", ".txt"), b"", partial(_delimited, ",")),
    Format("tsv", "TSV", (".tsv", ".tab"), b"", partial(_delimited, "\t")),
    Format("jsonl", "JSON", (".jsonl", ".ndjson", ".json"), b"", _json),
    Format("zeek", "Zeek", (), b"#separator", _zeek),
    Format("parquet", "Parquet", (".parquet", ".pq"), b"PAR1", frames(_parquet)),
    Format("arrow", "Arrow IPC", (".arrow", ".ipc", ".feather"), b"ARROW1", frames(_arrow)),
    Format("arrow stream", "Arrow IPC", (".arrows",), b"\xff\xff\xff\xff", frames(_arrow_stream)),
    Format("npz", "npz", (".npz",), b"", frames(_npz)),
    Format("npy", "npy", (".npy",), b"\x93NUMPY", frames(_npz)),
    Format("xlsx", "Excel", (".xlsx",), b"", _workbook),
)
_TEXTS = ("csv", "tsv", "jsonl", "zeek")
# Files that begin alike: the name tells which.
_ZIPS = (b"PK\x03\x04", b"PK\x05\x06")
_PACKED = (".gz", ".zst", ".bz2", ".xz")

# What is known but not read, with what to do about it.
_PICKLE = "a pickle, which is never loaded since that runs code: write it as Parquet"
_OTHERS = (
    (0, b"SQLite format 3\0", "an SQLite file: write sqlite:FILE?SELECT ... to read it"),
    (8, b"DUCK", "a DuckDB file: write duckdb:FILE?SELECT ... to read it"),
    (0, b"\x89HDF\r\n", "an HDF5 file: write its table as Parquet or CSV"),
    (0, b"\xd0\xcf\x11\xe0", "an old Excel file: save it as .xlsx or CSV"),
    (0, b"ORC", "an ORC file: write it as Parquet"),
    (0, b"Obj\x01", "an Avro file: write it as Parquet"),
    *((0, bytes([0x80, version]), _PICKLE) for version in (2, 3, 4, 5)),
)
_CONTROL = re.compile(rb"[\0-\x08\x0e-\x1f]")


def open_file(file: InputFile, options: FileOptions) -> Table:
    """Open a file in the format that it has: told by its content, then by its name."""
    head = next(_unpacked(file.look(), file.name), b"")[:HEAD]
    if not head:
        raise EmptyInput(f"{file.name} is empty; a header and rows were expected")
    return _format(head, file.name, options.input_format).scan(file, options)


def by_name(name: str) -> Format | None:
    """The format that a file's name tells, whatever it is packed with.

    >>> by_name("flows.csv.gz").title
    'CSV'
    """
    path = PurePath(name)
    if path.suffix.lower() in _PACKED:
        path = path.with_suffix("")
    suffix = path.suffix.lower()
    return next((format_ for format_ in FORMATS if suffix in format_.suffixes), None)


def _format(head: bytes, name: str, asked: str | None) -> Format:
    formats = {format_.name: format_ for format_ in FORMATS}
    if asked is not None and asked not in formats:
        raise InputError(f"input_format={asked!r} is not read; it is one of {', '.join(formats)}")
    wanted = formats[asked] if asked else by_name(name)
    if _is_text(head):
        if wanted is not None and wanted.name not in _TEXTS:
            raise InputError(f"{name} is no {wanted.title} file, but text: see what it is")
        sniffed = formats[_sniffed(head)]
        return sniffed if wanted is None or sniffed.name == "zeek" else wanted
    content = next((f for f in FORMATS if f.magic and head.startswith(f.magic)), None)
    if content is None and head.startswith(_ZIPS):
        content = wanted if wanted and wanted.name in ("npz", "xlsx") else formats["npz"]
    if content is None:
        for at, sign, likeness in _OTHERS:
            if head[at : at + len(sign)] == sign:
                raise InputError(f"{name} can't be read: it is {likeness}")
        if wanted is None or wanted.name not in _TEXTS:
            title = "of any format that is read" if wanted is None else f"a {wanted.title} file"
            raise InputError(f"{name} is not {title}: it begins with the bytes {head[:8].hex(' ')}")
        return wanted
    if asked and wanted is not None and wanted.title != content.title:
        raise InputError(f"{name} is a file of {content.title}, not of {wanted.title}")
    return content


def _is_text(head: bytes) -> bool:
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return True
    if _CONTROL.search(head):
        return False
    try:
        # The last character may be cut in two.
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return False
    return True


def _sniffed(head: bytes) -> str:
    text = head.removeprefix(codecs.BOM_UTF8).lstrip()
    line = text.partition(b"\n")[0]
    if text.startswith(b"#separator"):
        return "zeek"
    if text.startswith((b"{", b"[")):
        return "jsonl"
    return "tsv" if b"\t" in line and b"," not in line else "csv"


# -- packed text -----------------------------------------------------------------------------------

_PACKINGS: dict[bytes, tuple[str, Callable[[Any], Any]]] = {
    b"\x1f\x8b": ("gzip", lambda raw: gzip.GzipFile(fileobj=raw)),
    b"\x28\xb5\x2f\xfd": ("zstd", lambda raw: _zstd().ZstdFile(raw)),
    b"BZh": ("bzip2", bz2.BZ2File),
    b"\xfd7zXZ\0": ("xz", lzma.LZMAFile),
}
_UNPACKED = 1 << 23


def _zstd() -> Any:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return zstd


class _Stream(io.RawIOBase):
    """Chunks of bytes as a file that is read from its beginning to its end."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks, self._rest = chunks, memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._rest:
            self._rest = memoryview(next(self._chunks, b""))
        size = min(len(buffer), len(self._rest))
        buffer[:size], self._rest = self._rest[:size], self._rest[size:]
        return size


def _unpacked(chunks: Iterator[bytes], name: str) -> Iterator[bytes]:
    """The bytes of a file, unpacked where they are packed, in chunks of bounded size."""
    first = next(chunks, b"")
    every = chain((first,), chunks)
    packing = next((_PACKINGS[magic] for magic in _PACKINGS if first.startswith(magic)), None)
    if packing is None:
        yield from every
        return
    title, opened = packing
    try:
        with opened(io.BufferedReader(_Stream(every))) as file:
            size = HEAD  # what is looked at first is little
            while data := file.read(size):
                yield data
                size = _UNPACKED
    except (zlib.error, _zstd().ZstdError, lzma.LZMAError, OSError, EOFError) as error:
        raise damaged(name, f"its {title} data are broken: {error}") from error
