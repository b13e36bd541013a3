"""Bytes by their SHA-256: packed where it is worth it, and checked whenever they are read."""

from __future__ import annotations

import hashlib
import zlib
from dataclasses import dataclass

from assay.errors import StoreError
from assay.store.connections import Connection

PLAIN, ZLIB = "plain", "zlib"
# Packing that saves less than a tenth is not worth unpacking.
_WORTH = 0.9
# Fast enough to record hundreds of documents a second; a higher level saves a few percent.
_EFFORT = 3


@dataclass(frozen=True)
class Content:
    """Bytes as a store keeps them."""

    sha256: str
    size: int
    packing: str
    data: bytes


def packed(content: bytes) -> Content:
    """Bytes, packed where that makes them smaller.

    >>> kept = packed(b"a" * 1000)
    >>> kept.packing, len(kept.data) < 100, unpacked(kept) == b"a" * 1000
    ('zlib', True, True)
    """
    digest = hashlib.sha256(content).hexdigest()
    smaller = zlib.compress(content, _EFFORT)
    if len(smaller) < _WORTH * len(content):
        return Content(digest, len(content), ZLIB, smaller)
    return Content(digest, len(content), PLAIN, content)


def unpacked(content: Content) -> bytes:
    """The bytes as they were given; refused where they are damaged."""
    data = content.data
    if content.packing == ZLIB:
        reader = zlib.decompressobj()
        try:
            # No more than what was promised: damaged bytes could unpack to anything.
            data = reader.decompress(data, content.size + 1)
        except zlib.error as odd:
            raise StoreError(f"content {content.sha256[:12]} is damaged: {odd}") from odd
    elif content.packing != PLAIN:
        raise StoreError(f"content {content.sha256[:12]} is packed by {content.packing!r}")
    if len(data) != content.size or hashlib.sha256(data).hexdigest() != content.sha256:
        raise StoreError(f"content {content.sha256[:12]} is damaged: its SHA-256 does not fit")
    return data


def read_content(connection: Connection, sha256: str) -> bytes:
    """The bytes of this hash; refused where they are missing or damaged."""
    rows = connection.all("SELECT size, packing, data FROM content WHERE sha256 = ?", (sha256,))
    if not rows:
        raise StoreError(f"content {sha256[:12]} is missing")
    size, packing, data = rows[0]
    return unpacked(Content(sha256, size, packing, bytes(data)))
