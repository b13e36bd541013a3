"""Bytes of files: which format they are of, how they are unpacked and decoded, and damaged ones."""

from __future__ import annotations

import bz2
import codecs
import contextlib
import lzma
import os
import re
import sys
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import PurePath
from threading import Lock
from typing import IO, Any

from assay.errors import InputError

CSV, TSV, JSONL = "csv", "tsv", "jsonl"
PARQUET, ARROW, ARROW_STREAM, NPZ, NPY = "parquet", "arrow", "arrow stream", "npz", "npy"
GZIP, ZSTD, BZIP2, XZ = "gzip", "zstd", "bzip2", "xz"
PACKINGS = (GZIP, ZSTD, BZIP2, XZ)
XLSX = "xlsx"
FORMATS = (CSV, TSV, JSONL, PARQUET, ARROW, NPZ, NPY, XLSX)
TEXTS = (CSV, TSV, JSONL)

_MAGIC = (
    (b"PAR1", PARQUET),
    (b"ARROW1", ARROW),
    (b"\xff\xff\xff\xff", ARROW_STREAM),
    (b"\x93NUMPY", NPY),
    (b"PK\x03\x04", NPZ),
    (b"PK\x05\x06", NPZ),
    (b"\x1f\x8b", GZIP),
    (b"\x28\xb5\x2f\xfd", ZSTD),
    (b"BZh", BZIP2),
    (b"\xfd7zXZ\0", XZ),
)
SUFFIXES = {
    ".csv": CSV,
    ".tsv": TSV,
    ".tab": TSV,
    ".jsonl": JSONL,
    ".ndjson": JSONL,
    ".parquet": PARQUET,
    ".pq": PARQUET,
    ".arrow": ARROW,
    ".ipc": ARROW,
    ".feather": ARROW,
    ".npz": NPZ,
    ".npy": NPY,
    ".xlsx": XLSX,
}
# Bytes that text does not have.
_CONTROL = re.compile(rb"[\0-\x08\x0e-\x1f]")
_ZIP = ".zip"
PACKED = {".gz": GZIP, ".zst": ZSTD, ".bz2": BZIP2, ".xz": XZ}
# What is known but not read, with what to do about it.
_OTHERS = (
    (0, b"SQLite format 3\0", "an SQLite file: write sqlite:FILE?SELECT ... to read it"),
    (8, b"DUCK", "a DuckDB file: write duckdb:FILE?SELECT ... to read it"),
    (0, b"PARE", "an encrypted Parquet file: decrypt it first"),
    (0, b"FEA1", "a Feather file of version 1: write it anew as Arrow IPC or Parquet"),
    (0, b"7z\xbc\xaf\x27\x1c", "a 7z archive: unpack it first"),
    (257, b"ustar", "a tar archive: unpack it first"),
    (0, b"\x89HDF\r\n", "an HDF5 file: write its table as Parquet or CSV"),
    (0, b"\xd0\xcf\x11\xe0", "an Excel file of the old kind: save it as .xlsx or CSV"),
    (0, b"ORC", "an ORC file: write it as Parquet"),
    (0, b"Obj\x01", "an Avro file: write it as Parquet"),
    (0, b"%PDF", "a PDF file"),
    (0, b"\x89PNG", "an image"),
    (0, b"\x7fELF", "a program"),
    (0, b"\x80\x02", "a pickle, which is never loaded since that runs code: write it as Parquet"),
    (0, b"\x80\x03", "a pickle, which is never loaded since that runs code: write it as Parquet"),
    (0, b"\x80\x04", "a pickle, which is never loaded since that runs code: write it as Parquet"),
    (0, b"\x80\x05", "a pickle, which is never loaded since that runs code: write it as Parquet"),
)
NAMES = {
    CSV: "CSV",
    TSV: "TSV",
    JSONL: "JSON",
    PARQUET: "Parquet",
    ARROW: "Arrow IPC",
    ARROW_STREAM: "Arrow IPC",
    NPZ: "npz",
    NPY: "npy",
    GZIP: "gzip",
    ZSTD: "zstd",
    BZIP2: "bzip2",
    XZ: "xz",
    XLSX: "Excel",
}


def by_content(head: bytes, name: str) -> str | None:
    """The format that the first bytes tell, None for what may be text."""
    if _is_text(head):
        # A column may well be called PAR1 or ORC.
        return None
    for start, format_ in _MAGIC:
        if head.startswith(start):
            return format_
    for at, sign, likeness in _OTHERS:
        if head[at : at + len(sign)] == sign:
            raise InputError(f"{name} can't be read: it looks like {likeness}")
    return None


def _is_text(head: bytes) -> bool:
    if _CONTROL.search(head):
        return False
    try:
        # The last character may be cut in two.
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return False
    return True


def by_name(name: str) -> str | None:
    """The format that the name tells, without the suffix of its packing."""
    path = PurePath(name)
    if path.suffix.lower() in (*PACKED, _ZIP):
        path = path.with_suffix("")
    return SUFFIXES.get(path.suffix.lower())


def is_known(name: str) -> bool:
    """Whether a file in a folder is one to be read: by its suffix, and not hidden."""
    return not name.startswith((".", "_")) and by_name(name) is not None


def decide(content: str | None, head: bytes, name: str, asked: str | None) -> str:
    """The format to read: the one asked for where the content allows it, else the likeliest."""
    if asked is not None and asked not in FORMATS:
        raise InputError(
            f"input_format={asked!r} is not read; the formats are {', '.join(FORMATS)}"
        )
    wanted = asked or by_name(name)
    if content is None:
        if wanted is not None and wanted not in TEXTS:
            raise InputError(
                f"{name} is no {NAMES[wanted]} file, though "
                f"{'input_format=' if asked else 'its name'} says so: it looks like "
                f"{_impression(head)}"
            )
        return wanted or sniffed(head)
    if asked is not None and asked != content and (asked, content) != (ARROW, ARROW_STREAM):
        raise InputError(
            f"{name} is no {NAMES[asked]} file, though input_format= says so: it looks like "
            f"{NAMES[content]}"
        )
    return content


def sniffed(head: bytes) -> str:
    """The text format that the first bytes look like."""
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    line = text.partition(b"\n")[0]
    if text.startswith((b"{", b"[")):
        return JSONL
    return TSV if b"\t" in line and b"," not in line else CSV


def _impression(head: bytes) -> str:
    if not head.strip(b"\0"):
        return "nothing but NUL bytes"
    if len(_CONTROL.findall(head)) * 20 > len(head):
        return f"something else, beginning with {head[:8].hex(' ')}"
    return f"{NAMES[sniffed(head)]} text"


# -- text as it streams in -------------------------------------------------------------------------

# How much of a file is looked at to tell what it is.
HEAD = 1 << 16
_GZIP_WINDOW = 31
_XZ_MEMORY = 1 << 28
# One byte in so many is NUL at the least where a quarter of two-byte text is ASCII.
_NULS = 8


class CutOff(InputError):
    """Packed data that end before their end."""


def unpacked(chunks: Iterator[bytes], packing: str, name: str, size: int) -> Iterator[bytes]:
    """What a packed stream holds, in chunks of bounded size however well it is packed."""
    unpacker: Any = None
    begun = False
    for chunk in chunks:
        data = chunk
        while data or (unpacker is not None and not unpacker.needs_input):
            if unpacker is None:
                if begun and not data.strip(b"\0"):
                    break  # padding behind the last part
                unpacker, begun = _unpacker(packing), True
            try:
                out = unpacker.decompress(data, size)
            except (zlib.error, _zstd().ZstdError, lzma.LZMAError, OSError) as error:
                raise InputError(
                    f"{name} can't be unpacked, its {packing} data are damaged: {error}"
                ) from error
            if out:
                yield out
            data = b""
            if unpacker.eof:
                data, unpacker = unpacker.unused_data, None
    if unpacker is not None or not begun:
        raise CutOff(f"{name} can't be unpacked: its {packing} data end in the middle")


class _Gunzip:
    """zlib behind the interface that zstd has."""

    def __init__(self) -> None:
        self._inner = zlib.decompressobj(_GZIP_WINDOW)
        self.needs_input = True

    def decompress(self, data: bytes, size: int) -> bytes:
        out = self._inner.decompress(self._inner.unconsumed_tail + data, size)
        # A full output may have more behind it, even where all input was taken.
        self.needs_input = len(out) < size and not self._inner.unconsumed_tail
        return out

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data


def _unpacker(packing: str) -> Any:
    if packing == GZIP:
        return _Gunzip()
    if packing == BZIP2:
        return bz2.BZ2Decompressor()
    # Damaged headers may ask for any memory.
    return (
        lzma.LZMADecompressor(memlimit=_XZ_MEMORY) if packing == XZ else _zstd().ZstdDecompressor()
    )


def _zstd() -> Any:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return zstd


def must_be_narrow(head: bytes, encoding: str | None, name: str) -> None:
    """Refuse text of two or four bytes a character where nobody said that it is.

    A mark tells, or NUL bytes in every other place: text of one byte a character has none.
    """
    if encoding is None and head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        # The mark of UTF-32 may begin with that of UTF-16.
        bits = 32 if head.startswith(codecs.BOM_UTF32_LE) else 16
        raise InputError(
            f"{name} is not UTF-8: at byte 0 it has the mark of UTF-{bits}. Say "
            f"encoding='utf-{bits}'"
        )
    even_nulls, odd_nulls = head[::2].count(0), head[1::2].count(0)
    if (
        not even_nulls + odd_nulls
        or (even_nulls + odd_nulls) * _NULS < len(head)
        or _is_wide(encoding)
    ):
        return
    likely = "utf-16-le" if odd_nulls else "utf-16-be"
    if even_nulls and odd_nulls:
        likely = "utf-32-le" if odd_nulls > even_nulls else "utf-32-be"
    raise InputError(
        f"{name} is not {encoding or 'UTF-8'}: {even_nulls + odd_nulls:,} of its first "
        f"{len(head):,} bytes are NUL. Say which encoding it has, likely encoding={likely!r}"
    )


def _is_wide(encoding: str | None) -> bool:
    with contextlib.suppress(LookupError):  # said elsewhere
        return codecs.lookup(encoding or "utf-8").name.startswith(("utf-16", "utf-32"))
    return True


def utf8(chunks: Iterator[bytes], encoding: str | None, name: str) -> Iterator[bytes]:
    """The same text in UTF-8 without a byte order mark; refuses bytes that are not of the encoding.

    Offsets in messages count the bytes of the text, unpacked where it was packed.
    """
    decoder = _decoder(encoding)
    offset = 0
    first = True
    for chunk in chunks:
        text = _decoded(decoder, chunk, offset, encoding, name)
        offset += len(chunk)
        if first and text:
            text = text.removeprefix(codecs.BOM_UTF8)
            first = False
        if text:
            yield text
    text = _decoded(decoder, b"", offset, encoding, name, final=True)
    if text:
        yield text


def _decoder(encoding: str | None) -> codecs.IncrementalDecoder:
    try:
        codec = codecs.lookup(encoding or "utf-8")
        with contextlib.suppress(UnicodeError):
            # Codecs such as zlib or rot13 are not encodings of text: that is a LookupError.
            "a".encode(codec.name)
        return codecs.getincrementaldecoder(codec.name)("strict")
    except LookupError as error:
        raise InputError(
            f"encoding={encoding!r} is not known; try utf-8, utf-16, latin-1 or cp1252"
        ) from error


def _decoded(
    decoder: codecs.IncrementalDecoder,
    chunk: bytes,
    offset: int,
    encoding: str | None,
    name: str,
    *,
    final: bool = False,
) -> bytes:
    waiting = decoder.getstate()[0]
    if encoding is None and not waiting and chunk.isascii():
        return chunk
    try:
        return decoder.decode(chunk, final).encode()
    except UnicodeDecodeError as error:
        at = offset - len(waiting) + error.start
        byte = error.object[error.start : error.start + 1].hex()
        if encoding is None:
            raise InputError(
                f"{name} is not UTF-8: byte {at} is 0x{byte}. Say which encoding it has, for "
                f"example encoding='cp1252' or encoding='utf-16'"
            ) from error
        raise InputError(
            f"{name} is not {encoding}: byte {at} is 0x{byte} ({error.reason})"
        ) from error
    except UnicodeError as error:
        raise InputError(
            f"{name} can't be read as {encoding} near byte {offset}: {error}"
        ) from error


def begun(chunks: Iterator[bytes]) -> tuple[bytes, Iterator[bytes]]:
    """The first bytes, for a look, and all of them."""
    first: list[bytes] = []
    while sum(map(len, first)) < HEAD and (chunk := next(chunks, None)) is not None:
        first.append(chunk)

    def both() -> Iterator[bytes]:
        yield from first
        yield from chunks

    return b"".join(first)[:HEAD], both()


def behind_lines(chunks: Iterator[bytes], lines: int) -> Iterator[bytes]:
    r"""What follows the first lines, which may be longer than any chunk.

    >>> b"".join(behind_lines(iter([b"ti", b"tle\nlabel", b",score\n"]), 1))
    b'label,score\n'
    """
    for chunk in chunks:
        at = 0
        while lines and (end := chunk.find(b"\n", at) + 1):
            at, lines = end, lines - 1
        if not lines:
            yield chunk[at:]


class Window:
    """The text that is being looked at: what the last look left, and what follows it."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self.text = b""
        self.final = False

    def extend(self) -> bool:
        """Add what follows, at least as much again; tells whether that is all there is."""
        parts, size = [self.text], 0
        while not self.final and size <= len(self.text):
            chunk = next(self._chunks, None)
            if chunk is None:
                self.final = True
            else:
                parts.append(chunk)
                size += len(chunk)
        self.text = b"".join(parts)
        return self.final

    def drop(self, used: int) -> None:
        """Let go of what was dealt with."""
        self.text = self.text[used:]

    def whole_lines(self) -> tuple[bytes, int]:
        """Whole lines less the last line end, and the bytes that they take.

        Blank ones at the end wait for what follows them, or end the file.
        """
        text = self.text
        used = len(text) if self.final else text.rfind(b"\n") + 1
        whole = text[:used].rstrip(b"\r\n")
        if not self.final:
            used = text.find(b"\n", len(whole)) + 1 if whole else 0
        return whole, used


# -- what polars says about a damaged file ---------------------------------------------------------

_STDERR = 2
_LONGEST = 200


@contextlib.contextmanager
def guarded(name: str) -> Iterator[None]:
    """Raise an :class:`~assay.errors.InputError` with the file's name for what polars raises.

    A panic of polars writes to standard error before it becomes an exception; that is kept away.
    """
    import polars as pl

    with _hushed() as quiet:
        try:
            yield
        except pl.exceptions.PanicException as error:
            quiet.drop = True
            raise damaged(name, error) from None
        except (pl.exceptions.PolarsError, OSError, ValueError, OverflowError) as error:
            if isinstance(error, InputError):
                raise
            quiet.drop = True
            raise damaged(name, error) from error
        except MemoryError as error:
            raise InputError(f"{name} needs more memory than there is") from error


def damaged(name: str, error: BaseException | str) -> InputError:
    """An error that says that a file can't be read, and in one line why."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    why = lines[0] if len(lines[0]) <= _LONGEST else lines[0][:_LONGEST] + "..."
    return InputError(f"{name} can't be read, it seems to be damaged: {why}")


class _Quiet:
    """Whether what was written to standard error is to be dropped."""

    drop = False


class _StandardError:
    """Held back while any thread reads: the last one gives it back, and passes on what came."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._readers = 0
        self._drop = False
        self._kept: int | None = None
        self._held: IO[bytes] | None = None

    def hold(self) -> None:
        """Begin to hold it back."""
        with self._lock:
            self._readers += 1
            if self._readers > 1:
                return
            try:
                self._kept = os.dup(_STDERR)
            except OSError:
                return  # It is closed: nobody would see what is written.
            self._held = _file()
            _flush()
            os.dup2(self._held.fileno(), _STDERR)

    def give_back(self, *, drop: bool) -> None:
        """End that."""
        with self._lock:
            self._readers -= 1
            self._drop |= drop
            if self._readers:
                return
            kept, buffer, dropped = self._kept, self._held, self._drop
            self._kept, self._held, self._drop = None, None, False
            if kept is None or buffer is None:
                return
            with buffer:
                _flush()
                os.dup2(kept, _STDERR)
                os.close(kept)
                buffer.seek(0)
                text = b"" if dropped else buffer.read()
            if text:
                os.write(_STDERR, text)


_STANDARD_ERROR = _StandardError()


@contextlib.contextmanager
def _hushed() -> Iterator[_Quiet]:
    """Hold back what goes to standard error; it is passed on afterwards unless dropped."""
    quiet = _Quiet()
    _STANDARD_ERROR.hold()
    try:
        yield quiet
    finally:
        _STANDARD_ERROR.give_back(drop=quiet.drop)


def _file() -> IO[bytes]:
    """A file in memory, where there are such ones: each piece of a table takes one."""
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create("held"), "w+b", buffering=0)
    return tempfile.TemporaryFile()


def _flush() -> None:
    with contextlib.suppress(OSError, ValueError, AttributeError):
        sys.stderr.flush()
