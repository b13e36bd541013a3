"""Just enough of Thrift's compact protocol to read what a Parquet file says about itself."""

from __future__ import annotations

import struct
from typing import Any

_DEEPEST = 32
_TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = range(1, 13)


class Malformed(ValueError):
    """The bytes are not of this protocol."""


class Reader:
    """Reads values one after another; a struct becomes a dictionary by field number."""

    def __init__(self, data: bytes, at: int = 0) -> None:
        self._data = data
        self.at = at

    def struct(self, depth: int = 0) -> dict[int, Any]:
        """The struct that begins here."""
        if depth > _DEEPEST:
            raise Malformed("nested too deeply")
        found: dict[int, Any] = {}
        number = 0
        while head := self._byte():
            step, kind = head >> 4, head & 15
            number = number + step if step else self._whole()
            found[number] = kind == _TRUE if kind in (_TRUE, _FALSE) else self._value(kind, depth)
        return found

    def _value(self, kind: int, depth: int) -> Any:
        if kind in (_I16, _I32, _I64):
            return self._whole()
        if kind == _BINARY:
            return self._take(self._varint())
        if kind in (_LIST, _SET):
            return self._list(depth)
        if kind == _STRUCT:
            return self.struct(depth + 1)
        if kind in (_TRUE, _FALSE, _BYTE):
            # In a list a boolean takes a byte.
            return self._byte()
        if kind == _DOUBLE:
            return struct.unpack("<d", self._take(8))[0]
        if kind == _MAP:
            return self._map(depth)
        raise Malformed(f"no type {kind}")

    def _list(self, depth: int) -> list[Any]:
        head = self._byte()
        size, kind = head >> 4, head & 15
        if size == 15:
            size = self._varint()
        self._must_have(size)
        return [self._value(kind, depth + 1) for _ in range(size)]

    def _map(self, depth: int) -> list[tuple[Any, Any]]:
        size = self._varint()
        self._must_have(size)
        if not size:
            return []
        kinds = self._byte()
        return [
            (self._value(kinds >> 4, depth + 1), self._value(kinds & 15, depth + 1))
            for _ in range(size)
        ]

    def _must_have(self, size: int) -> None:
        # Every value takes a byte at least, so a list can't claim more than there is.
        if size > len(self._data) - self.at:
            raise Malformed("ends early")

    def _byte(self) -> int:
        if self.at >= len(self._data):
            raise Malformed("ends early")
        self.at += 1
        return self._data[self.at - 1]

    def _take(self, size: int) -> bytes:
        self._must_have(size)
        self.at += size
        return self._data[self.at - size : self.at]

    def _varint(self) -> int:
        value = self._byte()
        if value < 128:
            return value
        value &= 127
        for shift in range(7, 64, 7):
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
        raise Malformed("a number of more than 64 bits")

    def _whole(self) -> int:
        value = self._varint()
        return (value >> 1) ^ -(value & 1)
