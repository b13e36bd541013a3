"""Bytes of text as they stream in: unpacked, and decoded into UTF-8."""

from __future__ import annotations

import bz2
import codecs
import contextlib
import lzma
import sys
import zlib
from collections.abc import Iterator
from typing import Any

from assay.errors import InputError
from assay.sources.files.formats import BZIP2, GZIP, XZ

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
            except (zlib.error, _zstd().ZstdError, lzma.LZMAError, OSError) as odd:
                raise InputError(
                    f"{name} can't be unpacked, its {packing} data are damaged: {odd}"
                ) from odd
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
        raise InputError(
            f"{name} is not UTF-8: at byte 0 it has the mark of UTF-16. Say encoding='utf-16'"
        )
    even, odd = head[::2].count(0), head[1::2].count(0)
    if not even + odd or (even + odd) * _NULS < len(head) or _is_wide(encoding):
        return
    likely = "utf-16-le" if odd else "utf-16-be"
    if even and odd:
        likely = "utf-32-le" if odd > even else "utf-32-be"
    raise InputError(
        f"{name} is not {encoding or 'UTF-8'}: {even + odd:,} of its first {len(head):,} bytes are "
        f"NUL. Say which encoding it has, likely encoding={likely!r}"
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
        found = codecs.lookup(encoding or "utf-8")
        with contextlib.suppress(UnicodeError):
            # Codecs such as zlib or rot13 are not encodings of text: that is a LookupError.
            "a".encode(found.name)
        return codecs.getincrementaldecoder(found.name)("strict")
    except LookupError as odd:
        raise InputError(
            f"encoding={encoding!r} is not known; try utf-8, utf-16, latin-1 or cp1252"
        ) from odd


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
    except UnicodeDecodeError as odd:
        at = offset - len(waiting) + odd.start
        found = odd.object[odd.start : odd.start + 1].hex()
        if encoding is None:
            raise InputError(
                f"{name} is not UTF-8: byte {at} is 0x{found}. Say which encoding it has, for "
                f"example encoding='cp1252' or encoding='utf-16'"
            ) from odd
        raise InputError(
            f"{name} is not {encoding}: byte {at} is 0x{found} ({odd.reason})"
        ) from odd
    except UnicodeError as odd:
        raise InputError(f"{name} can't be read as {encoding} near byte {offset}: {odd}") from odd


def begun(chunks: Iterator[bytes]) -> tuple[bytes, Iterator[bytes]]:
    """The first bytes, for a look, and all of them."""
    first: list[bytes] = []
    while sum(map(len, first)) < HEAD and (chunk := next(chunks, None)) is not None:
        first.append(chunk)

    def both() -> Iterator[bytes]:
        yield from first
        yield from chunks

    return b"".join(first)[:HEAD], both()


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
