"""Small files of rows in formats that libraries read, damaged after they were written."""

from __future__ import annotations

import functools
import io
import zipfile
import zlib
from collections.abc import Callable
from random import Random

import polars as pl

from hostile.mutation import damaged, damaged_text

ROWS = 24


@functools.cache
def frame() -> pl.DataFrame:
    """A small table of what detectors leave."""
    return pl.DataFrame(
        {
            "label": ["attack" if i % 4 == 0 else "normal" for i in range(ROWS)],
            "score": [i / 31 for i in range(ROWS)],
            "k": [i % 3 for i in range(ROWS)],
            "site": [None if i % 11 == 10 else f"site {i % 2}" for i in range(ROWS)],
        }
    )


def parquet(draw: Random) -> bytes:
    """Parquet as pyarrow or polars writes it."""
    out = io.BytesIO()
    if draw.random() < 0.3:
        import pyarrow.parquet

        pages = draw.choice(("1.0", "2.0"))
        pyarrow.parquet.write_table(frame().to_arrow(), out, data_page_version=pages)
    else:
        packing = draw.choice(("zstd", "snappy", "uncompressed", "gzip"))
        frame().write_parquet(out, row_group_size=draw.choice((5, 100)), compression=packing)
    return out.getvalue()


def arrow(draw: Random) -> bytes:
    """Arrow, as a file or as a stream."""
    out = io.BytesIO()
    packing = draw.choice(("zstd", "lz4", "uncompressed"))
    if draw.random() < 0.5:
        frame().write_ipc(out, compression=packing)
    else:
        frame().write_ipc_stream(out, compression=packing)
    return out.getvalue()


@functools.cache
def _workbook() -> bytes:
    out = io.BytesIO()
    frame().write_excel(out)
    return out.getvalue()


def xlsx(_draw: Random) -> bytes:
    """A workbook."""
    return _workbook()


_BROKEN = (zipfile.BadZipFile, zlib.error, OSError, EOFError, ValueError, RuntimeError)


def damaged_archive(draw: Random, data: bytes) -> bytes:
    """A zip archive, one member of which was damaged before it was packed, or the whole after."""
    out = io.BytesIO()
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
            hit = draw.choice(old.namelist())
            for name in old.namelist():
                content = old.read(name)
                if name == hit:
                    is_text = content.startswith(b"<")
                    content = (damaged_text if is_text else damaged)(draw, content)
                new.writestr(name, content)
    except _BROKEN:
        return damaged(draw, data)  # it was damaged before
    return out.getvalue() if draw.random() < 0.5 else damaged(draw, data)


# How a file of each format is written, and how it is damaged.
FORMATS: dict[str, tuple[Callable[[Random], bytes], Callable[[Random, bytes], bytes]]] = {
    "parquet": (parquet, damaged),
    "arrow": (arrow, damaged),
    "xlsx": (xlsx, damaged_archive),
}


def case(seed: int, index: int, only: str | None = None) -> tuple[str, bytes]:
    """The format and the bytes of one case; a few are not damaged at all."""
    draw = Random(f"{seed}-{index}")
    name = only or draw.choices(("parquet", "arrow", "xlsx"), (5, 3, 2))[0]
    write, damage = FORMATS[name]
    content = write(draw)
    for _ in range(draw.choice((0, 1, 1, 1, 1, 2))):
        content = damage(draw, content)
    return name, content
