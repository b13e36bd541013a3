"""What commands write besides reports: tables, rows that flipped, the folder of a training.

Files appear when they are whole, and a folder with all of its files or none.
"""

from __future__ import annotations

import bz2
import contextlib
import hashlib
import io
import itertools
import json
import lzma
import os
import stat
import sys
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from assay.v02.cli.messages import OutputError
from assay.v02.cli.options import Option, out_file
from assay.v02.cli.reporting import check_place, discard, must_not_replace
from assay.v02.escaping import escaped_json, on_screen
from assay.v02.report import atomic_files

if TYPE_CHECKING:
    import polars as pl

    from assay.v02.decisions import Comparison
    from assay.v02.decisions.compare.comparison import Array
    from assay.v02.learn.run import Run, TrainingRequest
    from assay.v02.report import Document
    from assay.v02.sources.files import Request


# Named here, since the readers, who know the suffixes, bring NumPy along.
CSV, TSV, JSONL, PARQUET, ARROW = "csv", "tsv", "jsonl", "parquet", "arrow"
TABLE_FORMATS = (CSV, TSV, JSONL, PARQUET, ARROW)
TEXT_FORMATS = (CSV, TSV, JSONL)
_TIME = "%Y-%m-%dT%H:%M:%S%.6f"
# What looks like a formula, and what does so but is a number, in the words of polars.
_ODD = r"^(['\t\r\n\x00]|[\s\x00\x{FEFF}\x{200B}\x{2060}]*[-=+@\x{FF1D}\x{FF0B}\x{FF0D}\x{FF20}])"
_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"


def table_options(section: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The options of a command that writes a table: in which format, and where to."""
    face = click.option(
        "--format",
        "face",
        cls=Option,
        section=section,
        type=click.Choice(TABLE_FORMATS),
        help="How it is written.  [default: by the suffix of --out, else csv]",
    )
    return lambda command: face(out_file(section)(command))


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
        elif self.format not in TEXT_FORMATS and sys.stdout is not None and sys.stdout.isatty():
            raise click.UsageError(
                f"{self.format} is no use in a terminal: add --out FILE.{self.format}, or send it "
                f"on with > or |"
            )


def target(out: Path | None, face: str | None) -> Target:
    """Where a table goes, from what was typed: the suffix tells the format, unless it is given."""
    if out is None or str(out) == "-":
        return Target(None, face or CSV)
    from assay.v02.sources.files.formats import PACKED, SUFFIXES

    faces = {"": CSV, **{each: form for each, form in SUFFIXES.items() if form in TABLE_FORMATS}}
    packing = out.suffix.lower() if out.suffix.lower() in PACKED else ""
    suffix = (out.with_suffix("") if packing else out).suffix.lower()
    if face is None and suffix not in faces:
        raise click.UsageError(
            f"the suffix {suffix} tells no format; say --format {'|'.join(TABLE_FORMATS)}"
        )
    form = face or faces[suffix]
    if packing and form not in TEXT_FORMATS:
        raise click.UsageError(f"{form} is packed by itself; leave out {packing}")
    return Target(out, form, packing)


def harmless(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame without text that a spreadsheet takes for a formula; numbers stay as they are."""
    import polars as pl

    from assay.v02.report.document import neutralised

    texts = [_neutralised(frame[column]) for column in frame.select(pl.col(pl.String)).columns]
    return frame.with_columns(texts).rename({name: neutralised(name) for name in frame.columns})


def _neutralised(texts: pl.Series) -> pl.Series:
    """As :func:`assay.report.document.neutralised`, but for all texts at once."""
    risky = texts.str.contains(_ODD) & ~texts.str.contains(_NUMBER)
    return ("'" + texts).zip_with(risky, texts).alias(texts.name) if risky.any() else texts


def write_table(pieces: Iterator[pl.DataFrame], to: Target) -> None:
    """Write the pieces of a table, of which there is at least one, all of them or none."""
    made = _Pieces(_writable(piece, to) for piece in pieces)
    try:
        with _output_stream(to.path) as stream:
            (_write_text if to.format in TEXT_FORMATS else _write_columns)(made, stream, to)
            stream.flush()
    except OSError as error:
        if made.error is error:
            raise  # of the input, then
        if to.path is None:
            discard(sys.stdout)
        if isinstance(error, BrokenPipeError):
            raise
        raise OutputError.of(to.path or "the table", error) from error


def _writable(piece: pl.DataFrame, to: Target) -> pl.DataFrame:
    """A piece in columns that the format can hold; values of several kinds become text."""
    import polars as pl

    for column, kind in piece.schema.items():
        nested = kind.is_nested() or kind == pl.Duration
        if (kind == pl.Binary and to.format in TEXT_FORMATS) or (
            nested and to.format in (CSV, TSV)
        ):
            raise click.UsageError(
                f"--out {to.path or '-'}: {to.format.upper()} can't hold column {column!r}, which "
                f"is of type {kind}; write {PARQUET} or {ARROW}, or leave the column out"
            )
    mixed = [column for column, kind in piece.schema.items() if kind == pl.Object]
    return piece.with_columns(
        pl.Series(
            column,
            [
                value.hex() if isinstance(value, bytes) else None if value is None else str(value)
                for value in piece[column]
            ],
            pl.String,
        )
        for column in mixed
    )


class _Pieces:
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
def _output_stream(path: Path | None) -> Iterator[IO[bytes]]:
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
    with atomic_files.folder(real.parent) as folder, (folder / real.name).open("wb") as stream:
        if mode is not None:
            (folder / real.name).chmod(stat.S_IMODE(mode))
        yield stream
        stream.flush()
        os.fsync(stream.fileno())


def _write_text(pieces: _Pieces, stream: IO[bytes], to: Target) -> None:
    import polars.selectors as cs

    pack, end = _packer(to.packing)
    zoned = cs.datetime(time_zone="*").dt.convert_time_zone("UTC").dt.strftime(f"{_TIME}Z")
    naive = cs.datetime(time_zone=None).dt.strftime(_TIME)
    first = True
    for piece in pieces:
        text = piece.with_columns(zoned, naive)
        if to.format == JSONL:
            content = escaped_json(text.write_ndjson())
        else:
            separator = "\t" if to.format == TSV else ","
            content = text.write_csv(include_header=first, separator=separator)
        if to.path is None and sys.stdout is not None and sys.stdout.isatty():
            content = on_screen(content)
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


class _WatchedStream(io.RawIOBase):
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


def _write_columns(pieces: _Pieces, stream: IO[bytes], to: Target) -> None:
    """Write Parquet or Arrow, a piece at a time."""
    from polars.io.plugins import register_io_source

    first = next(pieces)
    noting = _WatchedStream(stream)

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


# -- rows that flipped between two models ----------------------------------------------------------

FLIP_SUFFIXES = (".csv", ".jsonl", ".parquet")


def check_flips(path: Path | None) -> None:
    """Refuse now what could not be written after a long wait."""
    if path is None:
        return
    if path.suffix.lower() not in FLIP_SUFFIXES:
        raise click.UsageError(
            f"--flips {path}: the suffix tells no format; it is one of {', '.join(FLIP_SUFFIXES)}"
        )
    check_place(path)


def write_flips(path: Path, comparison: Comparison, rows: Array | None = None) -> int:
    """Write the rows on which any two models decide differently; says how many.

    ``rows`` are their numbers where they came from; else they are counted from 1.
    """
    records = list(_flip_records(comparison, rows))
    try:
        atomic_files.write(
            path, _flip_content(path.suffix.lower(), records, _flip_heads(comparison))
        )
    except OSError as error:
        raise OutputError.of(path, error) from error
    return len(records)


def _flip_heads(comparison: Comparison) -> tuple[str, ...]:
    decided = comparison.decided
    if decided is None:
        return ()
    return (
        *("a", "b", "row"),
        *(("id",) if decided.ids is not None else ()),
        "label",
        *(("family",) if decided.rows.families is not None else ()),
        *("decision_a", "decision_b"),
        *(("score_a", "score_b") if decided.rows.first.score is not None else ()),
        "flip",
    )


def _flip_records(comparison: Comparison, rows: Array | None) -> Iterator[dict[str, Any]]:
    heads = _flip_heads(comparison)
    for a, b in itertools.combinations(comparison.models, 2):
        for row in comparison.flipped(a, b):
            record = {
                "a": a,
                "b": b,
                "row": row.row + 1 if rows is None else int(rows[row.row]),
                "id": row.id,
                "label": row.label,
                "family": row.family,
                "decision_a": row.a,
                "decision_b": row.b,
                "score_a": row.score_a,
                "score_b": row.score_b,
                "flip": row.flip,
            }
            yield {head: record[head] for head in heads}


def _flip_content(suffix: str, records: list[dict[str, Any]], heads: tuple[str, ...]) -> bytes:
    if suffix == ".jsonl":
        lines = (json.dumps(record, ensure_ascii=False) + "\n" for record in records)
        return escaped_json("".join(lines)).encode()
    if suffix == ".csv":
        from assay.v02.report.document import csv_text

        return csv_text(heads, records).encode()
    import polars as pl

    kinds = {"row": pl.Int64, "score_a": pl.Float64, "score_b": pl.Float64}
    schema = {head: kinds.get(head, pl.String) for head in heads}
    stream = io.BytesIO()
    pl.DataFrame(records, schema=schema).write_parquet(stream)
    return stream.getvalue()


# -- the folder that a training leaves -------------------------------------------------------------


def check_run_folder(path: Path) -> None:
    """Refuse a place that can't become a run, and a folder that is somebody else's."""
    check_folder(path, _is_run, "that no training left")


def check_folder(path: Path, is_ours: Callable[[Path], bool], contents: str) -> None:
    """Refuse a place that can't become a folder, and one with files that are not ours."""
    if str(path).startswith("-"):
        raise click.UsageError(f"{str(path)!r} would be taken for an option; name another folder")
    if path.exists() and not path.is_dir():
        raise OutputError(f"{path} is no folder; --out needs the name of one")
    if not path.absolute().parent.is_dir():
        raise OutputError(f"{path} could not be made: there is no folder {path.parent}")
    try:
        if path.is_dir() and any(path.iterdir()) and not is_ours(path):
            raise OutputError(
                f"{path} holds files {contents}; name another folder with --out, or empty this one"
            )
    except OSError as error:
        raise OutputError.of(path, error) from error


def must_hold_no_input(path: Path, inputs: Sequence[str], request: Request) -> None:
    """Refuse a folder in which a file that is read would be replaced."""
    from assay.v02.learn.run import FILES

    for name in FILES:
        must_not_replace(path / name, inputs, request)


def _is_run(path: Path) -> bool:
    """Whether the record in a folder says that a training left it, of this version or another."""
    from assay.v02.learn.run import RUN, SCHEMA

    try:
        record = json.loads((path / RUN).read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    schema = record.get("schema") if isinstance(record, dict) else None
    return isinstance(schema, str) and schema.rpartition("/")[0] == SCHEMA.rpartition("/")[0]


def run_files(
    run: Run, model: bytes, document: Document, request: TrainingRequest, times: Mapping[str, Any]
) -> dict[str, bytes]:
    """The content of every file, by its name; ``run.json``, which names the others, is last."""
    from assay.v02.learn import run as folder
    from assay.v02.learn.persistence import MODEL
    from assay.v02.report import draw
    from assay.v02.report.document import csv_text

    folds = folder.folds_of(run)
    texts = {
        folder.EVALUATION: draw(document, "json"),
        folder.REPORT: draw(document, "html"),
        folder.IMPORTANCE: csv_text(*folder.importance_rows(run)),
        folder.ENCODING: folder.encoding_text(run),
        folder.FOLDS: csv_text(tuple(folds[0]), folds),
        folder.CARD: draw(document, "card"),
    }
    files = {
        MODEL: model,
        folder.PREDICTIONS: folder.parquet(folder.predictions_of(run, request.id)),
        **{name: text.encode(errors="backslashreplace") for name, text in texts.items()},
    }
    digests = [(name, hashlib.sha256(content).hexdigest()) for name, content in files.items()]
    return {**files, folder.RUN: folder.run_record(run, request, digests, times)}


def times_since(started: float) -> dict[str, Any]:
    """When a run began and ended; all that differs when it is made again."""

    def written(moment: float) -> str:
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(moment))

    ended = time.time()
    return {
        "started": written(started),
        "ended": written(ended),
        "seconds": round(ended - started, 3),
    }


def write_run_folder(path: Path, files: Mapping[str, bytes]) -> None:
    """Write the files aside, and put them in place together.

    In a folder that was a run before, they replace its files; what is of another run, as figures,
    stays.
    """
    check_run_folder(path)
    try:
        with atomic_files.folder(path) as folder:
            for name, content in files.items():
                (folder / name).write_bytes(content)
    except OSError as error:
        raise OutputError.of(path, error) from error


def folder_notes(path: Path, files: Mapping[str, bytes]) -> Iterator[str]:
    """What was written, and the types that have to be named when the model is loaded."""
    from assay.v02.learn.persistence import MODEL, types_to_trust

    yield f"wrote {path}: {', '.join(files)}"
    trusted = " ".join(f"--trust {name}" for name in types_to_trust(files[MODEL]))
    if trusted:
        yield f"note: to load this model is to run its code: predict needs {trusted}"
