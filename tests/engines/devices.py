"""Stand-ins for torch and CuPy, made of NumPy: what the engine asks of either, and no more.

They hold what a device is strict about: tensors are converted, moved and indexed by methods of
their own, and what is sent from a GPU goes to pinned memory without blocking.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType, SimpleNamespace
from typing import Any, ClassVar

import numpy as np


class Tensor(np.ndarray):
    """A tensor of torch on the CPU."""

    device: Any = SimpleNamespace(type="cpu")

    def view(self, *shape: Any) -> Any:  # type: ignore[override]
        return self.reshape(shape) if isinstance(shape[0], int) else super().view(*shape)

    def to(self, kind: Any) -> Any:
        return self.astype(kind)

    def numpy(self) -> Any:
        assert self.device.type == "cpu", "torch reads no tensor of a GPU"
        return np.array(self)

    def element_size(self) -> int:
        return self.itemsize

    def numel(self) -> int:
        return self.size

    def contiguous(self) -> Any:
        return np.ascontiguousarray(self).view(type(self))

    def expand(self, size: int) -> Any:
        assert self.shape == (1,), "torch expands only what is one"
        return np.repeat(self, size)

    def flip(self, axis: int) -> Any:
        return np.flip(self, axis)

    def nonzero(self) -> Any:
        return np.argwhere(np.asarray(self)).view(type(self))

    def index_add_(self, axis: int, index: Any, source: Any) -> Any:
        assert index.dtype in (np.int32, np.int64), "torch adds by whole numbers of these types"
        assert axis < self.ndim, "torch refuses a further dimension"
        np.add.at(self, np.asarray(index), np.asarray(source))
        return self

    def sum(self, *_: Any, **__: Any) -> Any:
        return np.asarray(np.asarray(self).sum()).view(type(self))

    def max(self, *_: Any, **__: Any) -> Any:
        return np.asarray(np.asarray(self).max()).view(type(self))


class GpuTensor(Tensor):
    """A tensor of torch on a GPU."""

    device = SimpleNamespace(type="cuda")

    def record_stream(self, stream: Any) -> None:
        stream.uses.append(self)


for kind in (Tensor, GpuTensor):
    kind.__module__ = "torch"


class _Host(np.ndarray):
    """Memory of the host that a GPU writes to."""

    def copy_(self, values: Any, *, non_blocking: bool) -> None:
        assert non_blocking, "the host would wait for each copy"
        self[...] = np.asarray(values)
        _Stream.current.copies += 1

    def numpy(self) -> Any:
        assert _Stream.events, "nobody waited for the copy"
        return np.asarray(self)


class _Stream:
    """Copies, one after the other; the second one runs beside the first."""

    current: Any = None
    made: ClassVar[list[Any]] = []
    events: ClassVar[list[Any]] = []

    def __init__(self, _: Any = None) -> None:
        self.copies, self.uses, self.waits = 0, [], []
        _Stream.made.append(self)

    def wait_stream(self, other: Any) -> None:
        self.waits.append(other)

    def record_event(self) -> Any:
        return SimpleNamespace(synchronize=lambda: _Stream.events.append(self))


@contextmanager
def _within(stream: Any) -> Iterator[None]:
    before, _Stream.current = _Stream.current, stream
    yield
    _Stream.current = before


def torch() -> Any:
    """A module that does what torch does, as far as it is asked."""
    module: Any = ModuleType("torch")
    module.bool, module.uint8 = np.dtype(bool), np.dtype("u1")
    for name in ("int8", "int16", "int32", "int64"):
        setattr(module, name, np.dtype(name))
    kept = {"cpu": Tensor, "cuda": GpuTensor}

    def made(values: Any, like: Any) -> Any:
        return np.asarray(values).view(kept[like.type])

    def minimum(these: Any, those: Any, *, out: Any) -> Any:
        return np.minimum(these, those, out=out)

    def unique(numbers: Any, *, return_counts: bool) -> Any:
        return tuple(
            made(part, numbers.device)
            for part in np.unique(np.asarray(numbers), return_counts=return_counts)
        )

    def empty(shape: Any, *, dtype: Any, pin_memory: bool) -> Any:
        assert pin_memory, "a GPU writes to pinned memory beside what is computed"
        return np.empty(shape, dtype).view(_Host)

    module.minimum, module.unique, module.empty = minimum, unique, empty
    module.zeros = lambda size, dtype, device: made(np.zeros(size, dtype), device)
    module.ones = lambda size, dtype, device: made(np.ones(size, dtype), device)
    module.aminmax = lambda numbers: (np.asarray(numbers).min(), np.asarray(numbers).max())
    module.stack = np.stack
    module.add = lambda low, high, alpha: low + high * alpha
    module.unique_consecutive = lambda numbers: unique(numbers, return_counts=True)[0]
    module.cat = lambda parts, axis=0: made(np.concatenate(parts, axis), parts[0].device)
    _Stream.made, _Stream.events = [], []
    _Stream.current = _Stream()
    module.cuda = SimpleNamespace(
        current_stream=lambda _: _Stream.current, Stream=_Stream, stream=_within, streams=_Stream
    )
    return module


class CupyArray(np.ndarray):
    """An array of CuPy, which comes to the host by ``get``."""

    def get(self, out: Any = None) -> Any:
        if out is None:
            return np.array(self)
        out[...] = np.asarray(self)
        return out


CupyArray.__module__ = "cupy"


class Cupy(ModuleType):
    """A module that does what CuPy does: NumPy's functions, of its own arrays."""

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)


def cupyx(pinned: list[Any]) -> Any:
    """The module that gives pinned memory; what it gave is told by the list."""
    module: Any = ModuleType("cupyx")

    def empty_pinned(shape: Any, dtype: Any) -> Any:
        pinned.append(shape)
        return np.empty(shape, dtype)

    module.empty_pinned = empty_pinned
    return module
