"""What counting asks of the library whose arrays are on a device: torch, cupy or numpy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]

# Arrays of more numbers than this are sent to the host beside what is computed meanwhile.
_LARGE = 1 << 20


class Device(Protocol):
    """What is asked of a library, besides the operators that all of them share."""

    def bits(self, floats: Any) -> Any:
        """Floats as the whole numbers that they are stored as, in the same memory."""
        ...

    def cast(self, numbers: Any, kind: str) -> Any:
        """Numbers of another type, named as numpy names it."""
        ...

    def zeros(self, size: int, kind: str, like: Any) -> Any:
        """So many zeros, on the device that others are on."""
        ...

    def span(self, numbers: Any) -> tuple[Any, Any]:
        """The smallest and the largest number; NaN where there is one."""
        ...

    def combined(self, high: Any, width: int, low: Any) -> Any:
        """One whole number for two, high * width + low, in one pass."""
        ...

    def least(self, these: Any, those: Any) -> Any:
        """The smaller of each two numbers, written over the first."""
        ...

    def distinct(self, numbers: Any) -> tuple[Any, Any]:
        """The distinct numbers, ascending, and how often each occurs."""
        ...

    def runs(self, ascending: Any) -> Any:
        """Ascending numbers, each once."""
        ...

    def histogram(self, numbers: Any, size: int, labels: int) -> Array:
        """How often numbers (distance * 2 + half) * labels + label occur, a row each label.

        Columns are distances below ``size``, ascending in the lower half and then descending in the
        upper one. Empty ones are left out, and the first row says which they are.
        """
        ...

    def sending(self, numbers: Any) -> Callable[[], Array]:
        """Start to copy numbers to the host; the call waits for them.

        Copies are made one after the other: what is sent later waits for a large one.
        """
        ...

    def host(self, numbers: Any) -> Array:
        """The numbers on the host."""
        ...


@dataclass(frozen=True)
class _Torch:
    torch: Any

    def bits(self, floats: Any) -> Any:
        return floats.view(self.torch.int32 if floats.element_size() == 4 else self.torch.int64)

    def cast(self, numbers: Any, kind: str) -> Any:
        if numbers.dtype == self.torch.bool and kind == "uint8":
            return numbers.view(self.torch.uint8)
        return numbers.to(getattr(self.torch, kind))

    def zeros(self, size: int, kind: str, like: Any) -> Any:
        return self.torch.zeros(size, dtype=getattr(self.torch, kind), device=like.device)

    def span(self, numbers: Any) -> tuple[Any, Any]:
        low, high = self.torch.stack(self.torch.aminmax(numbers)).tolist()
        return low, high

    def combined(self, high: Any, width: int, low: Any) -> Any:
        return self.torch.add(low, high, alpha=width)

    def least(self, these: Any, those: Any) -> Any:
        return self.torch.minimum(these, those, out=these)

    def distinct(self, numbers: Any) -> tuple[Any, Any]:
        values, counts = self.torch.unique(numbers, return_counts=True)
        return values, counts

    def runs(self, ascending: Any) -> Any:
        return self.torch.unique_consecutive(ascending)

    def histogram(self, numbers: Any, size: int, labels: int) -> Array:
        # bincount would look for the least and the largest number first.
        one = self.torch.ones(1, dtype=self.torch.int64, device=numbers.device)
        table = self.zeros(size * 2 * labels, "int64", numbers)
        table = table.index_add_(0, numbers, one.expand(len(numbers))).view(size, 2, labels)
        table = self.torch.cat([table[:, 0], table[:, 1].flip(0)])
        held = table.any(1).nonzero()
        return self.host(self.torch.cat([held, table[held[:, 0]]], 1).T.contiguous())

    def sending(self, numbers: Any) -> Callable[[], Array]:
        if numbers.device.type != "cuda":
            return lambda: np.asarray(numbers.numpy())
        here = self.torch.empty(numbers.shape, dtype=numbers.dtype, pin_memory=True)
        stream = self.torch.cuda.current_stream(numbers.device)
        if numbers.numel() <= _LARGE:
            here.copy_(numbers, non_blocking=True)
        else:
            stream, before = self.torch.cuda.Stream(numbers.device), stream
            stream.wait_stream(before)
            numbers.record_stream(stream)
            with self.torch.cuda.stream(stream):
                here.copy_(numbers, non_blocking=True)
        copied = stream.record_event()

        def sent() -> Array:
            copied.synchronize()
            return np.asarray(here.numpy())

        return sent

    def host(self, numbers: Any) -> Array:
        return self.sending(numbers)()


@dataclass(frozen=True)
class _Cupy:
    """CuPy, or any library that calls its functions as NumPy does."""

    xp: Any

    def bits(self, floats: Any) -> Any:
        return floats.view(f"i{floats.dtype.itemsize}")

    def cast(self, numbers: Any, kind: str) -> Any:
        return numbers.astype(kind)

    def zeros(self, size: int, kind: str, like: Any) -> Any:  # noqa: ARG002 - there is one place
        return self.xp.zeros(size, kind)

    def span(self, numbers: Any) -> tuple[Any, Any]:
        return numbers.min().item(), numbers.max().item()

    def combined(self, high: Any, width: int, low: Any) -> Any:
        return high * width + low

    def least(self, these: Any, those: Any) -> Any:
        return self.xp.minimum(these, those, out=these)

    def distinct(self, numbers: Any) -> tuple[Any, Any]:
        values, counts = self.xp.unique(numbers, return_counts=True)
        return values, counts

    def runs(self, ascending: Any) -> Any:
        return self.xp.unique(ascending)

    def histogram(self, numbers: Any, size: int, labels: int) -> Array:
        table = self.zeros(size * 2 * labels, "int64", numbers)
        self.xp.add.at(table, numbers, 1)
        table = table.reshape(size, 2, labels)
        table = self.xp.concatenate([table[:, 0], table[::-1, 1]])
        held = self.xp.flatnonzero(table.any(1))
        return self.host(self.xp.concatenate([held[None], table[held].T]))

    def sending(self, numbers: Any) -> Callable[[], Array]:
        return lambda: self.host(numbers)

    def host(self, numbers: Any) -> Array:
        if not hasattr(numbers, "get"):
            return np.asarray(numbers)
        if numbers.size <= _LARGE:
            return np.asarray(numbers.get())
        import cupyx

        return np.asarray(numbers.get(out=cupyx.empty_pinned(numbers.shape, numbers.dtype)))


def library_of(values: Any) -> str | None:
    """The library of an array on a device; None for anything else.

    >>> library_of(np.zeros(3)) is None
    True
    """
    library = type(values).__module__.partition(".")[0]
    return library if library in ("torch", "cupy") else None


def together(these: Any, those: Any) -> bool:
    """Whether both are arrays of one library on a device.

    >>> together(np.zeros(3), np.zeros(3))
    False
    """
    library = library_of(these)
    return library is not None and library == library_of(those)


def device_of(values: Any) -> Device:
    """How to count where values are."""
    library = library_of(values)
    if library == "torch":
        import torch

        return _Torch(torch)
    if library == "cupy":
        import cupy

        return _Cupy(cupy)
    return _Cupy(np)
