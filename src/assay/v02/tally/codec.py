"""Tallies as bytes: a magic word, a checksum, a JSON header, then the arrays as they lie in memory.

Reading runs no code and trusts no length: whatever does not fit is refused.
"""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.errors import TallyError

MAGIC = b"assay-tally\n"
SCHEMA = 1
# Kinds whose header was changed have a later schema, and are read from the earlier ones too.
# Those of sums of weights that are no floats have one schema more.
_NEWEST = {
    "losses": 3,
    "confusion": 2,
    "crosstab": 2,
    "scores": 2,
    "clusters": 2,
    "sample": 2,
    "names": 2,
    "tally": 2,
}
_DTYPES = frozenset({"<f4", "<f8", "|u1", "<u2", "<u4", "<u8", "<i8"})

# What reading damaged bytes can run into.
_BROKEN = (
    AttributeError,
    IndexError,
    KeyError,
    OverflowError,
    RecursionError,
    TypeError,
    ValueError,
)

Array = npt.NDArray[Any]
Reader = Callable[[Mapping[str, Any], Mapping[str, Array]], Any]
_READERS: dict[str, Reader] = {}


def reads(kind: str) -> Callable[[Reader], Reader]:
    """Name the function that makes a tally of this kind from its header and arrays."""

    def keep(reader: Reader) -> Reader:
        _READERS[kind] = reader
        return reader

    return keep


def write(
    kind: str, header: Mapping[str, Any], arrays: Mapping[str, Array], *, schema: int = SCHEMA
) -> bytes:
    """One tally as bytes."""
    described = []
    parts = []
    for name, array in arrays.items():
        plain = np.ascontiguousarray(array)
        little = plain.astype(plain.dtype.newbyteorder("<"), copy=False)
        described.append({"name": name, "dtype": little.dtype.str, "shape": list(little.shape)})
        parts.append(little.tobytes())
    head = {"kind": kind, "schema": schema, "header": header, "arrays": described}
    text = json.dumps(head, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()
    body = b"".join([len(text).to_bytes(8, "little"), text, *parts])
    return MAGIC + zlib.crc32(body).to_bytes(4, "little") + body


def from_bytes(data: bytes) -> Any:
    """The tally that these bytes hold.

    >>> from assay.v02.tally import Confusion
    >>> table = Confusion(("benign", "attack"), ((5, 1), (2, 9)))
    >>> from_bytes(table.to_bytes()) == table
    True
    """
    if not isinstance(data, bytes | bytearray | memoryview):
        raise TallyError(f"a tally is read from bytes; found {type(data).__name__}")
    kind, header, arrays = _read(bytes(data))
    if kind not in _READERS:
        raise TallyError(
            f"these bytes hold a tally of kind {kind!r}, which this version does not know; "
            f"it knows {', '.join(sorted(_READERS))}"
        )
    try:
        return _READERS[kind](header, arrays)
    except _BROKEN as broken:
        raise TallyError(f"the bytes of this {kind} tally are damaged: {broken}") from broken


def _read(data: bytes) -> tuple[str, Mapping[str, Any], Mapping[str, Array]]:
    if not data.startswith(MAGIC):
        raise TallyError(f"these bytes are no tally: they start with {data[:12]!r}, not {MAGIC!r}")
    start = len(MAGIC) + 12
    size = int.from_bytes(data[start - 8 : start], "little")
    if start + size > len(data):
        raise _cut_short(len(data), start + size)
    if zlib.crc32(data[start - 8 :]) != int.from_bytes(data[len(MAGIC) : start - 8], "little"):
        raise TallyError("the bytes of this tally are damaged: their checksum does not fit")
    try:
        head = json.loads(data[start : start + size])
        schema, kind, header, described = (
            head[key] for key in ("schema", "kind", "header", "arrays")
        )
    except _BROKEN as broken:
        raise TallyError(f"the head of the tally can't be read: {broken}") from broken
    newest = _NEWEST.get(str(kind), SCHEMA)
    if schema not in range(SCHEMA, newest + 1):
        raise TallyError(f"the tally has schema {schema}; this version reads schema {newest}")
    return str(kind), header, _arrays(data, start + size, described)


def _cut_short(size: int, needed: int) -> TallyError:
    return TallyError(f"the tally is cut short: {size} bytes, at least {needed} needed")


def _arrays(data: bytes, position: int, described: Any) -> dict[str, Array]:
    arrays: dict[str, Array] = {}
    try:
        for entry in described:
            shape = tuple(int(side) for side in entry["shape"])
            if entry["dtype"] not in _DTYPES or any(side < 0 for side in shape):
                raise ValueError(f"an array of {entry['dtype']} {shape} is not allowed")
            dtype = np.dtype(entry["dtype"])
            count = 1
            for side in shape:
                count *= side
            stop = position + count * dtype.itemsize
            if stop > len(data):
                raise _cut_short(len(data), stop)
            native = np.frombuffer(data, dtype, count, position).reshape(shape)
            arrays[str(entry["name"])] = native.astype(dtype.newbyteorder("="), copy=False)
            position = stop
    except _BROKEN as broken:
        raise TallyError(f"the arrays of the tally can't be read: {broken}") from broken
    if position != len(data):
        raise TallyError(f"the tally has {len(data) - position} bytes too many")
    return arrays


def in_order(pairs: Sequence[tuple[Any, Any]]) -> dict[Any, Any]:
    """Pairs of key and value, refused unless the keys ascend."""
    keys = [key for key, _ in pairs]
    if keys != sorted(set(keys)):
        raise ValueError(f"{keys} are not in order")
    return dict(pairs)


def whole_number(value: Any) -> int:
    """A number of rows."""
    if type(value) is not int or value < 0:
        raise ValueError(f"a number of rows is {value!r}")
    return value


def finite_number(value: Any) -> float:
    """A number such as a score."""
    if type(value) not in (int, float) or not math.isfinite(value):
        raise ValueError(f"{value!r} is not a finite number")
    return float(value)
