"""Count tensors of torch and arrays of cupy on the device that they are on.

Scores are sorted or put into the cells of a grid where they lie; only distinct scores or cells and
their counts come to the host. What they are counted into is what rows on this machine are counted
into, to the bit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
from assay.tally.keeping import Cuts, Exact, Grid, Keeping, cells, lowest
from assay.tally.packed import narrow

Array: TypeAlias = npt.NDArray[Any]

# Labels are whole numbers of so small a range, or booleans.
_MOST_LABELS = 1 << 16
# Cells are counted one by one where they span no more than this, else by sorting.
_MOST_CELLS = 1 << 27
_BYTE = 255
_LARGE = 1 << 20
_NOT_FINITE = "score: not a finite number"
# How many bits of a float are its exponent, and its mantissa, by its bytes.
_LAYOUT = {4: (8, 23), 8: (11, 52)}


class Device(Protocol):
    """What is asked of a library of arrays."""

    def bits(self, floats: Any) -> Any:
        """The bits of floats as whole numbers."""
        ...

    def span(self, numbers: Any) -> tuple[Any, Any]:
        """The smallest and the largest number."""
        ...

    def distinct(self, numbers: Any) -> tuple[Any, Any]:
        """The distinct numbers, ascending, and how often each occurs."""
        ...

    def starts(self, ascending: Any) -> Any:
        """Which of ascending numbers are not the one before."""
        ...

    def table(self, starts: Any, rows: Any, amounts: Any) -> Any:
        """For each distinct number the amount in row 0 and in row 1, given where each starts."""
        ...

    def first(self, ascending: Any, number: int) -> int:
        """Where the numbers start that are not below a number."""
        ...

    def folded(self, shares: Any) -> Any:
        """Shares s up to 1/2 as they are, those above as -(1 - s)."""
        ...

    def histogram(self, numbers: Any, size: int, width: int) -> tuple[Array, Array]:
        """How often each number from 0 on occurs, in rows of a width: those that are not empty."""
        ...

    def codes(self, numbers: Any) -> Any:
        """Booleans, or numbers from 0 to 65,535, in few bytes."""
        ...

    def wide(self, numbers: Any) -> Any:
        """Whole numbers of 64 bits."""
        ...

    def there(self, numbers: Array, like: Any) -> Any:
        """Numbers of this machine, on the device that others are on."""
        ...

    def sending(self, numbers: Any) -> Callable[[], Array]:
        """Start to copy numbers to this machine; the call gives them."""
        ...

    def host(self, numbers: Any) -> Array:
        """The numbers on this machine."""
        ...


@dataclass(frozen=True)
class _Torch:
    torch: Any

    def bits(self, floats: Any) -> Any:
        return floats.view(self.torch.int32 if floats.element_size() == 4 else self.torch.int64)

    def span(self, numbers: Any) -> tuple[Any, Any]:
        low, high = self.torch.aminmax(numbers)
        return low.item(), high.item()

    def distinct(self, numbers: Any) -> tuple[Any, Any]:
        values, counts = self.torch.unique(numbers, return_counts=True)
        return values, counts

    def starts(self, ascending: Any) -> Any:
        changed = self.torch.ones_like(ascending, dtype=self.torch.bool)
        self.torch.ne(ascending[1:], ascending[:-1], out=changed[1:])
        return changed

    def table(self, starts: Any, rows: Any, amounts: Any) -> Any:
        torch = self.torch
        places = torch.cumsum(starts, 0)
        size = int(places[-1])
        kind = torch.uint8 if int(amounts.max()) <= _BYTE else torch.int64
        counts = torch.zeros(2 * size, dtype=kind, device=starts.device)
        counts[places.add_(rows, alpha=size).sub_(1)] = amounts.to(kind)
        return counts.view(2, size)

    def first(self, ascending: Any, number: int) -> int:
        sought = self.torch.tensor([number], dtype=ascending.dtype, device=ascending.device)
        return int(self.torch.searchsorted(ascending, sought)[0])

    def folded(self, shares: Any) -> Any:
        rest = 1 - shares
        self.torch.minimum(rest, shares, out=rest)
        return rest.copysign_(0.5 - shares)

    def histogram(self, numbers: Any, size: int, width: int) -> tuple[Array, Array]:
        table = self.torch.bincount(numbers, minlength=size).view(-1, width)
        held = table.any(1).nonzero()[:, 0]
        return self.host(held), self.host(table[held])

    def codes(self, numbers: Any) -> Any:
        if numbers.dtype == self.torch.bool:
            return numbers.view(self.torch.uint8)
        return numbers.to(self.torch.int32)

    def wide(self, numbers: Any) -> Any:
        return numbers.to(self.torch.int64)

    def there(self, numbers: Array, like: Any) -> Any:
        return self.torch.from_numpy(numbers).to(like.device)

    def sending(self, numbers: Any) -> Callable[[], Array]:
        if numbers.device.type != "cuda" or numbers.numel() <= _LARGE:
            return lambda: np.asarray(numbers.cpu().numpy())
        # Memory that is pinned is copied to many times as fast, beside what is computed meanwhile,
        # and is kept for reuse.
        cuda = self.torch.cuda
        here = self.torch.empty(numbers.shape, dtype=numbers.dtype, pin_memory=True)
        aside = cuda.Stream(numbers.device)
        aside.wait_stream(cuda.current_stream(numbers.device))
        with cuda.stream(aside):
            here.copy_(numbers, non_blocking=True)
            numbers.record_stream(aside)

        def sent() -> Array:
            aside.synchronize()
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

    def span(self, numbers: Any) -> tuple[Any, Any]:
        return numbers.min().item(), numbers.max().item()

    def distinct(self, numbers: Any) -> tuple[Any, Any]:
        ascending = self.xp.sort(numbers)
        starts = self.xp.flatnonzero(self.starts(ascending))
        ends = self.xp.concatenate([starts[1:], self.xp.asarray([len(ascending)])])
        return ascending[starts], ends - starts

    def starts(self, ascending: Any) -> Any:
        changed = self.xp.ones(len(ascending), bool)
        changed[1:] = ascending[1:] != ascending[:-1]
        return changed

    def table(self, starts: Any, rows: Any, amounts: Any) -> Any:
        places = self.xp.cumsum(starts) - 1
        counts = self.xp.zeros((2, int(places[-1]) + 1), np.int64)
        counts[rows, places] = amounts
        return counts

    def first(self, ascending: Any, number: int) -> int:
        return int(self.xp.searchsorted(ascending, self.xp.asarray([number], ascending.dtype))[0])

    def folded(self, shares: Any) -> Any:
        rest = self.xp.minimum(1 - shares, shares)
        return self.xp.copysign(rest, shares.dtype.type(0.5) - shares)

    def histogram(self, numbers: Any, size: int, width: int) -> tuple[Array, Array]:
        table = self.xp.bincount(numbers, minlength=size).reshape(-1, width)
        held = self.xp.flatnonzero(table.any(1))
        return self.host(held), self.host(table[held])

    def codes(self, numbers: Any) -> Any:
        return numbers.view("u1") if numbers.dtype == bool else numbers.astype("i4")

    def wide(self, numbers: Any) -> Any:
        return numbers.astype("i8")

    def there(self, numbers: Array, like: Any) -> Any:  # noqa: ARG002 - there is one place
        return self.xp.asarray(numbers)

    def sending(self, numbers: Any) -> Callable[[], Array]:
        return lambda: self.host(numbers)

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
    refused = 0
    low, high = at.span(score)
    if not (np.isfinite(low) and np.isfinite(high)):
        score, codes, refused = _finite(at, score, codes, ask)
    reasons = Refusals({_NOT_FINITE: refused} if refused else {})
    if not len(score):
        return Tally(rows=rows, refused=reasons, threshold=ask.threshold)
    if refused:
        low, high = at.span(score)
    counted = _Counted.of(at, score, codes, names.names, low, high, ask)
    kept = [name for name, pair in zip(names.names, counted.flagged, strict=True) if pair.any()]
    table = {
        (name, said): int(number)
        for name, pair in zip(names.names, counted.flagged, strict=True)
        for said, number in zip((BELOW, FLAGGED), pair, strict=True)
        if number
    }
    scores = {}
    if counted.scores is not None:
        scores = {SCORE: _of_labels(counted.scores, sorted(kept))}
    return Tally(
        labels=Names(tuple(sorted(kept)), names.kind),
        threshold=ask.threshold,
        rows=rows,
        refused=reasons,
        decided={SCORE: Crosstab({cell: table[cell] for cell in sorted(table)})},
        scores=scores,
        extremes={SCORE: (float(low) + 0.0, float(high) + 0.0)},
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
        return at.codes(label), Names(("false", "true"), "booleans")
    if not kind.startswith(("int", "uint")):
        raise LabelError(f"labels are booleans or whole numbers; found {label.dtype}")
    low, high = int(label.min()), int(label.max())
    if high - low >= _MOST_LABELS:
        raise LabelError(
            f"labels run from {low} to {high}, which is too many for labels: that is an id"
        )
    shifted = label if low == 0 else at.wide(label) - low
    return at.codes(shifted), Names(tuple(str(low + i) for i in range(high - low + 1)), "numbers")


def _finite(at: Device, score: Any, codes: Any, ask: Ask) -> tuple[Any, Any, int]:
    """The rows with a finite score; others are refused, or stop it all."""
    top = float(np.finfo("f4" if "32" in str(score.dtype) else "f8").max)
    good = (score >= -top) & (score <= top)
    refused = len(score) - int(good.sum())
    if ask.on_bad_row == "stop":
        row = int(at.host(good).argmin())
        raise ScoreError(
            f"scores must be finite numbers: {refused} of {len(score)} are not; the first is "
            f"{float(score[row])} in row {row}. Remove those rows, or leave them out with "
            f"on_bad_row='skip'"
        )
    return score[good], codes[good], refused


def _nearest_above(threshold: float, score: Any) -> float:
    """The threshold among the floats that scores can be: the least that is not below it."""
    if "64" in str(score.dtype):
        return threshold
    narrow_one = np.float32(threshold)
    if float(narrow_one) < threshold:
        narrow_one = np.nextafter(narrow_one, np.float32(np.inf))
    return float(narrow_one)


@dataclass(frozen=True)
class _Counted:
    """The table of scores, and how many rows of each label are below the threshold and reach it."""

    scores: ScoreTally | None
    flagged: Array

    @classmethod
    def of(
        cls,
        at: Device,
        score: Any,
        codes: Any,
        names: Sequence[str],
        low: float,
        high: float,
        ask: Ask,
    ) -> _Counted:
        threshold = _nearest_above(USUAL if ask.threshold is None else ask.threshold, score)
        # Of -0.0 the bits are those of a negative number; those below 2 leave room for the label.
        packs = isinstance(ask.scores, Exact) and len(names) == 2 and low >= 0 and high < 2
        if packs and threshold >= 0 and at.span(at.bits(score))[0] >= 0:
            return cls._of_keys(at, score, codes, names, threshold)
        table = _scores(at, score, codes, names, ask.scores)
        if table is not None and table.kept != Exact() and _is_edge(threshold, table):
            above = np.array(table.at_least(threshold))
            return cls(table, np.stack([np.array(table.totals()) - above, above], axis=1))
        reached = score >= threshold
        flagged = [
            (int((own & ~reached).sum()), int((own & reached).sum()))
            for own in (codes == i for i in range(len(names)))
        ]
        return cls(table, np.array(flagged, np.int64))

    @classmethod
    def _of_keys(
        cls, at: Device, score: Any, codes: Any, names: Sequence[str], threshold: float
    ) -> _Counted:
        """Counted by keys of the bits of a score, with the label as the last bit."""
        kind = _float_of(score)
        keys = (at.bits(score) << 1) | codes
        pairs, amounts = at.distinct(keys)
        ascending = pairs >> 1
        starts = at.starts(ascending)
        distinct = ascending[starts]
        scores = at.sending(distinct)
        counts = at.table(starts, pairs & 1, amounts)
        sent = at.sending(counts)
        first = at.first(distinct, int(kind(threshold).view(f"i{kind().itemsize}")))
        total, above = (at.host(part.sum(1)) for part in (counts, counts[:, first:]))
        table = sent()
        counted = table if table.dtype == np.uint8 else narrow(table)
        tally = ScoreTally(tuple(names), scores().view(kind), counted)
        return cls(tally, np.stack([total - above, above], axis=1).astype(np.int64))


def _float_of(score: Any) -> type[np.float32] | type[np.float64]:
    return np.float32 if "32" in str(score.dtype) else np.float64


def _scores(
    at: Device, score: Any, codes: Any, names: Sequence[str], kept: Keeping | None
) -> ScoreTally | None:
    if kept is None:
        return None
    if isinstance(kept, Grid):
        return _gridded(at, score, codes, names, kept)
    score = score + 0.0  # -0.0 is 0.0
    parts = []
    for i, name in enumerate(names):
        own = score[codes == i]
        if len(own):
            distinct, counts = (at.host(part) for part in at.distinct(own))
            parts.append(ScoreTally((name,), distinct, narrow(counts[None, :].astype(np.int64))))
    return ScoreTally.merge(parts)


def _gridded(at: Device, score: Any, codes: Any, names: Sequence[str], kept: Grid) -> ScoreTally:
    """Counts of the cells of a grid; see :mod:`assay.tally.keeping` for what a cell is."""
    labels = len(names)
    tops = _tops(at, score, kept.bits, labels)
    if tops is None:
        # Rare: cells of what is outside [0, 1], or subnormal, are computed on this machine.
        ids = at.there(cells(at.host(score), kept.bits), score)
        least, most = at.span(ids)
        numbers = at.wide(codes) + (ids - least) * labels
        held, counts = _sparse(at, numbers, (most - least + 1) * labels, labels)
        own = held + least
    else:
        size = _float_of(score)().itemsize
        lowest_top = -1 << (_LAYOUT[size][0] + kept.bits)
        tops += -lowest_top
        most = (_half_top(size, kept.bits) - lowest_top + 1) * labels
        held, counts = _sparse(at, codes + tops * labels, most, labels)
        own = _cells_of_tops(held + lowest_top, size, kept.bits)
        above = int(np.searchsorted(held, -lowest_top))
        # Cells above one half come first, the highest of them first.
        own = np.concatenate([own[above:], own[:above][::-1]])
        counts = np.concatenate([counts[above:], counts[:above][::-1]])
    table = narrow(np.ascontiguousarray(counts.T.astype(np.int64)))
    return ScoreTally(tuple(names), lowest(own, kept.bits), table, kept=kept)


def _sparse(at: Device, numbers: Any, size: int, width: int) -> tuple[Array, Array]:
    """The rows of a histogram of numbers that are not empty: which ones, and their counts."""
    if size <= _MOST_CELLS:
        return at.histogram(numbers, size, width)
    held, amounts = (at.host(part) for part in at.distinct(numbers))
    rows, places = np.unique(held.astype(np.int64) // width, return_inverse=True)
    counts = np.zeros((len(rows), width), np.int64)
    counts[places, held % width] = amounts
    return rows, counts


def _is_edge(threshold: float, table: ScoreTally) -> bool:
    """Whether a threshold is the smallest score of a cell, from which on counts are exact."""
    if not isinstance(table.kept, Grid):
        return False
    cell = cells(np.array([threshold]), table.kept.bits)
    return bool(lowest(cell, table.kept.bits)[0] == threshold)


def _half_top(size: int, bits: int) -> int:
    """The first bits of one half."""
    half = np.array([0.5], f"f{size}").view(f"i{size}")
    return int(half[0] >> (_LAYOUT[size][1] - bits))


def _tops(at: Device, score: Any, bits: int, labels: int) -> Any | None:
    """The sign, exponent and first bits of the mantissa of folded scores, which name cells.

    None where they do not: outside [0, 1], for subnormals, and where there is no room for labels.
    """
    kind = _float_of(score)
    exponent, mantissa = _LAYOUT[kind().itemsize]
    low, high = at.span(score)
    numbers = labels << (exponent + bits + 1)
    if low < 0 or high > 1 or bits > mantissa or numbers >= 1 << (exponent + mantissa):
        return None
    folded = at.folded(score)
    if min(low, 1 - high) < _smallest(kind):
        sizes = abs(folded)
        if bool(((sizes < _smallest(kind)) & (sizes > 0)).any()):
            return None
    return at.bits(folded) >> (mantissa - bits)


def _smallest(kind: type[np.float32] | type[np.float64]) -> float:
    return float(np.finfo(kind).smallest_normal)


def _cells_of_tops(tops: Array, size: int, bits: int) -> Array:
    """The cells that the first bits of folded scores name."""
    exponent, _ = _LAYOUT[size]
    above_half = tops < 0
    sizes = np.where(above_half, tops + (1 << (exponent + bits)), tops)
    bias = (1 << (exponent - 1)) - 1
    positions = np.where(sizes > 0, sizes + ((1075 - bias) << bits), 0)
    return np.where(above_half, (2148 << bits) - positions, positions)


def _of_labels(table: ScoreTally, names: Sequence[str]) -> ScoreTally:
    """The table of labels that occur, sorted by name."""
    if table.labels == tuple(names):
        return table
    rows = [table.labels.index(name) for name in names]
    return ScoreTally(tuple(names), table.scores, narrow(table.counts[rows]), kept=table.kept)
