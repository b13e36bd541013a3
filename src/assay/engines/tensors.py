"""Count tensors of torch and arrays of cupy on the device that they are on.

Scores are sorted or put into the cells of a grid where they lie; only distinct scores or cells and
their counts come to the host. What they are counted into is what rows on this machine are counted
into, to the bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.engines.ask import Ask
from assay.errors import InputError, LabelError, LengthMismatch, ScoreError
from assay.sources.thresholds import USUAL
from assay.tally import Crosstab, ScoreTally, Tally
from assay.tally.by_name import SCORE, Names, Refusals
from assay.tally.crosstab import BELOW, FLAGGED
from assay.tally.keeping import Cuts, Exact, Grid, cells, lowest
from assay.tally.packed import narrow

Array: TypeAlias = npt.NDArray[Any]

# Labels are whole numbers of so small a range, or booleans.
_MOST_LABELS = 1 << 16
# Cells are counted one by one where they span no more than this, else by sorting.
_MOST_CELLS = 1 << 27
_BYTE = 255
_LARGE = 1 << 20
_NOT_FINITE = "score: not a finite number"
_HALF_BITS = {4: 0x3F000000, 8: 0x3FE0000000000000}


class Device(Protocol):
    """What is asked of a library of arrays."""

    def bits(self, floats: Any) -> Any:
        """The bits of floats as whole numbers."""
        ...

    def sorted(self, numbers: Any) -> Any:
        """The numbers, ascending."""
        ...

    def runs(self, ascending: Any) -> tuple[Any, Any]:
        """The distinct of ascending numbers, and how often each occurs."""
        ...

    def histogram(self, numbers: Any, size: int) -> Any:
        """How often each number from 0 on occurs."""
        ...

    def table(self, ascending: Any, rows: Any, amounts: Any) -> tuple[Any, Any]:
        """The distinct of ascending numbers, and for each the amount in row 0 and in row 1."""
        ...

    def where(self, condition: Any, yes: Any, no: Any) -> Any:
        """One or the other, by a condition."""
        ...

    def wide(self, numbers: Any, size: int) -> Any:
        """Whole numbers of so many bytes."""
        ...

    def host(self, numbers: Any) -> Array:
        """The numbers on this machine."""
        ...


@dataclass(frozen=True)
class _Torch:
    torch: Any

    def bits(self, floats: Any) -> Any:
        return floats.view(self.torch.int32 if floats.element_size() == 4 else self.torch.int64)

    def sorted(self, numbers: Any) -> Any:
        return self.torch.sort(numbers).values

    def runs(self, ascending: Any) -> tuple[Any, Any]:
        distinct, counts = self.torch.unique_consecutive(ascending, return_counts=True)
        return distinct, counts

    def histogram(self, numbers: Any, size: int) -> Any:
        return self.torch.bincount(numbers, minlength=size)

    def table(self, ascending: Any, rows: Any, amounts: Any) -> tuple[Any, Any]:
        torch = self.torch
        changed = torch.ones_like(ascending, dtype=torch.bool)
        torch.ne(ascending[1:], ascending[:-1], out=changed[1:])
        places = torch.cumsum(changed, 0) - 1
        size = int(places[-1]) + 1
        kind = torch.uint8 if int(amounts.max()) <= _BYTE else torch.int64
        counts = torch.zeros(2 * size, dtype=kind, device=ascending.device)
        counts[rows * size + places] = amounts.to(kind)
        return ascending[changed], counts.view(2, size)

    def where(self, condition: Any, yes: Any, no: Any) -> Any:
        return self.torch.where(condition, yes, no)

    def wide(self, numbers: Any, size: int) -> Any:
        return numbers.to(self.torch.int32 if size == 4 else self.torch.int64)

    def host(self, numbers: Any) -> Array:
        if numbers.device.type == "cuda" and numbers.numel() > _LARGE:
            # Memory that stays in place is copied to several times as fast, and is kept for reuse.
            here = self.torch.empty(numbers.shape, dtype=numbers.dtype, pin_memory=True)
            return np.array(here.copy_(numbers).numpy())
        return np.asarray(numbers.cpu().numpy())


@dataclass(frozen=True)
class _Cupy:
    """CuPy, or any library that calls its functions as NumPy does."""

    xp: Any

    def bits(self, floats: Any) -> Any:
        return floats.view(f"i{floats.dtype.itemsize}")

    def sorted(self, numbers: Any) -> Any:
        return self.xp.sort(numbers)

    def runs(self, ascending: Any) -> tuple[Any, Any]:
        changed = self.xp.ones(len(ascending), bool)
        changed[1:] = ascending[1:] != ascending[:-1]
        starts = self.xp.flatnonzero(changed)
        ends = self.xp.concatenate([starts[1:], self.xp.asarray([len(ascending)])])
        return ascending[starts], ends - starts

    def histogram(self, numbers: Any, size: int) -> Any:
        return self.xp.bincount(numbers, minlength=size)

    def table(self, ascending: Any, rows: Any, amounts: Any) -> tuple[Any, Any]:
        distinct, _ = self.runs(ascending)
        changed = self.xp.ones(len(ascending), bool)
        changed[1:] = ascending[1:] != ascending[:-1]
        places = self.xp.cumsum(changed) - 1
        counts = self.xp.zeros((2, len(distinct)), np.int64)
        counts[rows, places] = amounts
        return distinct, counts

    def where(self, condition: Any, yes: Any, no: Any) -> Any:
        return self.xp.where(condition, yes, no)

    def wide(self, numbers: Any, size: int) -> Any:
        return numbers.astype(f"i{size}")

    def host(self, numbers: Any) -> Array:
        return np.asarray(numbers.get() if hasattr(numbers, "get") else numbers)


def library_of(values: Any) -> str | None:
    """The library of a tensor that this engine counts; None for anything else.

    >>> import numpy as np
    >>> library_of(np.zeros(3)) is None
    True
    """
    library = type(values).__module__.partition(".")[0]
    return library if library in ("torch", "cupy") else None


def device_of(values: Any) -> Device:
    """How to count where a tensor is."""
    library = library_of(values)
    if library == "torch":
        import torch

        return _Torch(torch)
    if library == "cupy":
        import cupy

        return _Cupy(cupy)
    return _Cupy(np)


def count(label: Any, score: Any, ask: Ask | None = None) -> Tally:
    """Count a label and a score a row, both on one device.

    Labels are booleans or whole numbers. ``Ask(scores=Grid())`` takes a time that does not depend
    on how many distinct scores there are.

    >>> count(np.array([1, 0, 1]), np.array([0.9, 0.2, 0.9], np.float32))
    Tally(rows=3, labels=('0', '1'))
    """
    ask = ask or Ask()
    if isinstance(ask.scores, Cuts):
        raise InputError(
            "tensors are counted with exact scores or by a grid: leave mode='cuts' out"
        )
    at = device_of(score)
    _must_fit(label, score)
    rows = len(score)
    if not rows:
        return Tally(threshold=ask.threshold)
    codes, names = _labels(at, label)
    low, high = float(score.min()), float(score.max())
    refused = 0
    if not (np.isfinite(low) and np.isfinite(high)):
        score, codes, refused = _finite(at, score, codes, ask)
        if not len(score):
            reasons = Refusals({_NOT_FINITE: refused})
            return Tally(rows=rows, refused=reasons, threshold=ask.threshold)
        low, high = float(score.min()), float(score.max())
    flagged = _flagged(at, score, codes, len(names.names), ask)
    kept = [i for i, pair in enumerate(flagged) if pair.any()]
    texts = [names.names[i] for i in kept]
    table = {
        (text, said): int(flagged[i][j])
        for i, text in zip(kept, texts, strict=True)
        for j, said in enumerate((BELOW, FLAGGED))
        if flagged[i][j]
    }
    scores = {}
    if ask.scores is not None:
        counted = _scores(at, score, codes, names.names, low, ask.scores)
        scores = {SCORE: _of_labels(counted, texts)}
    return Tally(
        labels=Names(tuple(sorted(texts)), names.kind),
        threshold=ask.threshold,
        rows=rows,
        refused=Refusals({_NOT_FINITE: refused} if refused else {}),
        decided={SCORE: Crosstab({cell: table[cell] for cell in sorted(table)})},
        scores=scores,
        extremes={SCORE: (low + 0.0, high + 0.0)},
    )


def _must_fit(label: Any, score: Any) -> None:
    if label.ndim != 1 or score.ndim != 1:
        raise InputError(
            f"labels and scores are one column each; found shapes {tuple(label.shape)} and "
            f"{tuple(score.shape)}"
        )
    if len(label) != len(score):
        raise LengthMismatch(
            f"score has {len(score)} rows and label has {len(label)}: they must describe the same "
            f"rows"
        )
    if str(score.dtype).rpartition(".")[2] not in ("float32", "float64"):
        raise ScoreError(f"scores are float32 or float64; found {score.dtype}: convert them first")
    if getattr(label, "device", None) != getattr(score, "device", None):
        raise InputError(
            f"labels are on {label.device} and scores on {score.device}: move one to the other"
        )


def _labels(at: Device, label: Any) -> tuple[Any, Names]:
    """Labels as positions in names."""
    kind = str(label.dtype).rpartition(".")[2]
    if kind == "bool":
        return at.wide(label, 4), Names(("false", "true"), "booleans")
    if not kind.startswith(("int", "uint")):
        raise LabelError(f"labels are booleans or whole numbers; found {label.dtype}")
    low, high = int(label.min()), int(label.max())
    if high - low >= _MOST_LABELS:
        raise LabelError(
            f"labels run from {low} to {high}, which is too many for labels: that is an id"
        )
    shifted = label if low == 0 else at.wide(label, 8) - low
    return at.wide(shifted, 4), Names(tuple(str(low + i) for i in range(high - low + 1)), "numbers")


def _finite(at: Device, score: Any, codes: Any, ask: Ask) -> tuple[Any, Any, int]:
    """The rows with a finite score; others are refused, or stop it all."""
    top = float(np.finfo("f4" if "32" in str(score.dtype) else "f8").max)
    good = (score >= -top) & (score <= top)
    refused = len(score) - int(good.sum())
    if ask.on_bad_row == "stop":
        row = int(at.host(at.wide(good, 4)).argmin())
        raise ScoreError(
            f"scores must be finite numbers: {refused} of {len(score)} are not; the first is "
            f"{float(score[row])} in row {row}. Remove those rows, or leave them out with "
            f"on_bad_row='skip'"
        )
    return score[good], codes[good], refused


def _flagged(at: Device, score: Any, codes: Any, labels: int, ask: Ask) -> Array:
    """How many rows of each label are below the threshold, and how many reach it."""
    threshold = USUAL if ask.threshold is None else ask.threshold
    reached = at.wide(score >= _nearest_above(threshold, score), 4)
    return at.host(at.histogram(codes * 2 + reached, labels * 2)).reshape(labels, 2)


def _nearest_above(threshold: float, score: Any) -> float:
    """The threshold among the floats that scores can be: the least that is not below it."""
    if "64" in str(score.dtype):
        return threshold
    narrow_one = np.float32(threshold)
    if float(narrow_one) < threshold:
        narrow_one = np.nextafter(narrow_one, np.float32(np.inf))
    return float(narrow_one)


def _scores(
    at: Device, score: Any, codes: Any, names: Sequence[str], low: float, kept: Exact | Grid
) -> ScoreTally:
    if isinstance(kept, Grid):
        return _gridded(at, score, codes, names, kept)
    size = 4 if "32" in str(score.dtype) else 8
    score = score + 0.0  # -0.0 is 0.0
    if len(names) == 2 and low >= 0 and float(score.max()) < 2:
        keys = at.sorted(at.bits(score) * 2 + at.wide(codes, size))
        return _of_keys(at, keys, size, names)
    parts = []
    for i, name in enumerate(names):
        own = score[codes == i]
        if len(own):
            distinct, counts = (at.host(part) for part in at.runs(at.sorted(own)))
            parts.append(ScoreTally((name,), distinct, narrow(counts[None, :].astype(np.int64))))
    return ScoreTally.merge(parts)


def _of_keys(at: Device, keys: Any, size: int, names: Sequence[str]) -> ScoreTally:
    """The table of sorted keys: bits of the score, and the label as the last bit."""
    pairs, amounts = at.runs(keys)
    distinct, counts = at.table(pairs >> 1, pairs & 1, amounts)
    scores = at.host(distinct).view(f"f{size}")
    return ScoreTally(tuple(names), scores, narrow(at.host(counts)))


def _gridded(at: Device, score: Any, codes: Any, names: Sequence[str], kept: Grid) -> ScoreTally:
    """Counts of the cells of a grid; see :mod:`assay.tally.keeping` for what a cell is."""
    ids = _cells(at, score, kept.bits)
    low, high = int(ids.min()), int(ids.max())
    span = (high - low + 1) * len(names)
    if span > _MOST_CELLS:
        pairs, amounts = at.runs(at.sorted(at.wide(ids, 8) * len(names) + codes))
        numbers, amounts = at.host(pairs), at.host(amounts)
    else:
        table = at.host(at.histogram((ids - low) * len(names) + codes, span))
        numbers = np.flatnonzero(table)
        amounts = table[numbers]
        numbers = numbers + low * len(names)
    distinct, places = np.unique(numbers // len(names), return_inverse=True)
    counts = np.zeros((len(names), len(distinct)), np.int64)
    counts[numbers % len(names), places] = amounts
    return ScoreTally(
        tuple(names), lowest(distinct.astype(np.int64), kept.bits), narrow(counts), kept=kept
    )


def _cells(at: Device, score: Any, bits: int) -> Any:
    """The number of the cell of each score, computed on the device."""
    inside = bool((score >= 0).all()) and bool((score <= 1).all())
    size = 4 if "32" in str(score.dtype) else 8
    mantissa, bias = (23, 127) if size == 4 else (52, 1023)
    smallest = float(np.finfo(f"f{size}").smallest_normal)
    half = _HALF_BITS[size]
    mirrored = at.bits(score) > half
    sizes = at.where(mirrored, 1 - score, score)
    tiny = bool(((sizes < smallest) & (sizes != 0)).any())
    if not inside or tiny or bits > mantissa or (size == 4 and (1075 << bits) >= 1 << 30):
        # Rare: what is outside [0, 1] or subnormal is put into cells on this machine.
        host = cells(at.host(score), bits)
        return _like(at, host, score)
    middle = 2148 << bits
    ids = (at.bits(sizes) >> (mantissa - bits)) + ((1075 - bias) << bits)
    ids = at.where(sizes == 0, ids * 0, ids)
    return at.where(mirrored, middle - ids, ids)


def _like(at: Device, host: Array, score: Any) -> Any:
    if isinstance(at, _Torch):
        return at.torch.from_numpy(host).to(score.device)
    return at.xp.asarray(host) if isinstance(at, _Cupy) else host


def _of_labels(table: ScoreTally, names: Sequence[str]) -> ScoreTally:
    """The table of labels that occur, sorted by name."""
    ordered = sorted(names)
    rows = [table.labels.index(name) for name in ordered]
    return ScoreTally(tuple(ordered), table.scores, narrow(table.counts[rows]), kept=table.kept)
