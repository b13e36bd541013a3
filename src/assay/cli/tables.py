"""Tables that a command writes piece by piece, as files that appear when they are whole."""

from __future__ import annotations

import bz2
import contextlib
import io
import itertools
import lzma
import os
import stat
import sys
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from assay.cli.command import Option
from assay.cli.errors import OutputError
from assay.cli.reporting import check_place, discard
from assay.cli.values import FilePath
from assay.report import aside

if TYPE_CHECKING:
    import polars as pl

# Named here, since the readers, who know the suffixes, bring NumPy along.
CSV, TSV, JSONL, PARQUET, ARROW = "csv", "tsv", "jsonl", "parquet", "arrow"
FORMATS = (CSV, TSV, JSONL, PARQUET, ARROW)
TEXTS = (CSV, TSV, JSONL)
_TIME = "%Y-%m-%dT%H:%M:%S%.6f"
# What looks like a formula, and what does so but is a number, in the words of polars.
_ODD = r"^(['\t\r\n\x00]|[\s\x00\x{FEFF}\x{200B}\x{2060}]*[-=+@\x{FF1D}\x{FF0B}\x{FF0D}\x{FF20}])"
_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"


def writing(section: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The options of a command that writes a table: in which format, and where to."""
    face = click.option(
        "--format",
        "face",
        cls=Option,
        section=section,
        type=click.Choice(FORMATS),
        help="How it is written.  [default: by the suffix of --out, else csv]",
    )
    out = click.option(
        "-o",
        "--out",
        cls=Option,
        section=section,
        type=FilePath(),
        help="Write to this file, whole or not at all, instead of standard output.",
    )
    return lambda command: face(out(command))


@dataclass(frozen=True)
class Target:
    """Where a table goes, and in which format; without a path to standard output."""

    path: Path | None
    format: str
    packing: str = ""

    def check(self) -> None:
        """Refuse now what could not be written after a long wait."""
        if self.path is not None:
            check_place(self.path)
        elif self.format not in TEXTS and sys.stdout is not None and sys.stdout.isatty():
            raise click.UsageError(
                f"{self.format} is no use in a terminal: add --out FILE.{self.format}, or send it "
                f"on with > or |"
            )


def target(out: Path | None, face: str | None) -> Target:
    """Where a table goes, from what was typed: the suffix tells the format, unless it is given."""
    if out is None or str(out) == "-":
        return Target(None, face or CSV)
    from assay.sources.files.formats import PACKED, SUFFIXES

    known = {"": CSV, **{each: found for each, found in SUFFIXES.items() if found in FORMATS}}
    packing = out.suffix.lower() if out.suffix.lower() in PACKED else ""
    suffix = (out.with_suffix("") if packing else out).suffix.lower()
    if face is None and suffix not in known:
        raise click.UsageError(
            f"the suffix {suffix} tells no format; say --format {'|'.join(FORMATS)}"
        )
    found = face or known[suffix]
    if packing and found not in TEXTS:
        raise click.UsageError(f"{found} is packed by itself; leave out {packing}")
    return Target(out, found, packing)


def harmless(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame without text that a spreadsheet takes for a formula; numbers stay as they are."""
    import polars as pl

    from assay.report.spreadsheet import neutralised

    texts = [_neutralised(frame[column]) for column in frame.select(pl.col(pl.String)).columns]
    return frame.with_columns(texts).rename({name: neutralised(name) for name in frame.columns})


def _neutralised(texts: pl.Series) -> pl.Series:
    """As :func:`assay.report.spreadsheet.neutralised`, but for all texts at once."""
    odd = texts.str.contains(_ODD) & ~texts.str.contains(_NUMBER)
    return ("'" + texts).zip_with(odd, texts).alias(texts.name) if odd.any() else texts


def write_table(pieces: Iterator[pl.DataFrame], to: Target) -> None:
    """Write the pieces of a table, of which there is at least one, all of them or none."""
    made = _Making(pieces)
    try:
        with _opened(to.path) as stream:
            (_write_text if to.format in TEXTS else _write_columns)(made, stream, to)
            stream.flush()
    except OSError as error:
        if made.error is error:
            raise  # of the input, then
        if to.path is None:
            discard(sys.stdout)
        if isinstance(error, BrokenPipeError):
            raise
        raise OutputError.of(to.path or "the table", error) from error


class _Making:
    """The pieces, and what went wrong where they are made: no matter of writing."""

    def __init__(self, pieces: Iterator[pl.DataFrame]) -> None:
        self._pieces = pieces
        self.error: BaseException | None = None

    def __iter__(self) -> Iterator[pl.DataFrame]:
        return self

    def __next__(self) -> pl.DataFrame:
        try:
            return next(self._pieces)
        except StopIteration:
            raise
        except BaseException as error:
            self.error = error
            raise


@contextlib.contextmanager
def _opened(path: Path | None) -> Iterator[IO[bytes]]:
    """A stream to write to; a new file takes the place of the old one at the end."""
    if path is None:
        if sys.stdout is None:
            raise OutputError("standard output is closed; name a file with --out")
        sys.stdout.flush()
        yield sys.stdout.buffer
        return
    mode = path.stat().st_mode if path.exists() else None
    if mode is not None and not stat.S_ISREG(mode):
        # A device or a pipe can't be replaced, only written to.
        with path.open("wb") as stream:
            yield stream
        return
    real = Path(os.path.realpath(path))
    with aside.folder(real.parent) as folder, (folder / real.name).open("wb") as stream:
        if mode is not None:
            (folder / real.name).chmod(stat.S_IMODE(mode))
        yield stream
        stream.flush()
        os.fsync(stream.fileno())


def _write_text(pieces: _Making, stream: IO[bytes], to: Target) -> None:
    import polars.selectors as cs

    pack, end = _packer(to.packing)
    zoned = cs.datetime(time_zone="*").dt.convert_time_zone("UTC").dt.strftime(f"{_TIME}Z")
    naive = cs.datetime(time_zone=None).dt.strftime(_TIME)
    first = True
    for piece in pieces:
        text = piece.with_columns(zoned, naive)
        if to.format == JSONL:
            content = text.write_ndjson()
        else:
            separator = "\t" if to.format == TSV else ","
            content = text.write_csv(include_header=first, separator=separator)
        stream.write(pack(content.encode()))
        first = False
    stream.write(end())


def _packer(packing: str) -> tuple[Callable[[bytes], bytes], Callable[[], bytes]]:
    """What packs bytes, and what gives the end of them."""
    packer: Any
    if packing == ".gz":
        packer = zlib.compressobj(wbits=zlib.MAX_WBITS | 16)  # with the head of a gzip file
    elif packing == ".zst":
        packer = _zstd().ZstdCompressor()
    elif packing == ".bz2":
        packer = bz2.BZ2Compressor()
    elif packing == ".xz":
        packer = lzma.LZMACompressor()
    else:
        return bytes, bytes
    return packer.compress, packer.flush


def _zstd() -> Any:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return zstd


class _Noting(io.RawIOBase):
    """A stream that remembers what went wrong, since polars tells it in words of its own."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.error: OSError | None = None

    def writable(self) -> bool:
        """It is for writing."""
        return True

    def write(self, content: Any) -> int:
        """Write all of it."""
        try:
            return self._stream.write(content)
        except OSError as error:
            self.error = error
            raise


def _write_columns(pieces: _Making, stream: IO[bytes], to: Target) -> None:
    """Write Parquet or Arrow, a piece at a time."""
    from polars.io.plugins import register_io_source

    first = next(pieces)
    noting = _Noting(stream)

    def source(*_: Any) -> Iterator[pl.DataFrame]:
        yield first
        # polars would go on asking for pieces that it can't write.
        yield from itertools.takewhile(lambda _: noting.error is None, pieces)

    scan: Callable[..., pl.LazyFrame] = register_io_source
    table = scan(source, schema=first.schema)
    sink: Callable[[Any], Any] = table.sink_parquet if to.format == PARQUET else table.sink_ipc
    try:
        sink(noting)
    except BaseException:
        error = pieces.error or noting.error
        if error is None:
            raise
        raise error from None
