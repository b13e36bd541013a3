"""Which format a file is of: by its first bytes, then its name, then a look at its text."""

from __future__ import annotations

import codecs
import re
from pathlib import PurePath

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
    for at, sign, what in _OTHERS:
        if head[at : at + len(sign)] == sign:
            raise InputError(f"{name} can't be read: it looks like {what}")
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
