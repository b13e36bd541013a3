"""Count columns that are arrays: checked and coded, or counted on the device that holds them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.v02.engines.ask import Ask
from assay.v02.engines.local import count_coded
from assay.v02.engines.resolving import resolve
from assay.errors import InputError, LabelError, LengthMismatch, ScoreError
from assay.v02.escaping import plural, row_at
from assay.v02.sources import code_arrays, must_share_index
from assay.v02.sources.labelling import USUAL, least_reaching, listed_labels, sided
from assay.v02.sources.row_checks import not_a_number
from assay.v02.sources.validation import (
    LISTED,
    LeftOut,
    Listed,
    OnBadRow,
    asked_threshold,
    good_rows,
    skips,
    suggesting_skip,
)
from assay.v02.tally import Crosstab, Resolved, ScoreTally, Tally
from assay.v02.tally.blocks import narrow
from assay.v02.tally.confusion import flagged
from assay.v02.tally.keeping import Cuts, Exact, Grid, Keeping, cells, lowest
from assay.v02.tally.named_tally import SCORE, Names, Refusals

Array: TypeAlias = npt.NDArray[Any]

# Labels are whole numbers of so small a range, or booleans.
_MOST_LABELS = 1 << 16
_FEW_LABELS = 1 << 7
# So many counters are laid out on a device.
_MOST_COUNTERS = 1 << 27
_NOT_FINITE = "score: not a finite number"
# Arrays of more numbers than this are sent to the host beside what is computed meanwhile.
_LARGE = 1 << 20


def count_arrays(y_true: Any, **columns: Any) -> Tally:
    """Count columns into a tally that remembers what was said of its labels.

    Columns are those of :func:`assay.evaluate`.

    >>> count_arrays(["attack", "normal"], y_score=[0.9, 0.2], positive="attack").sides
    {'positive': 'attack'}
    """
    tally, sides, _ = _counted_arrays(y_true, **columns)
    return tally.asked(**sides)


def resolved_arrays(y_true: Any, **columns: Any) -> tuple[Resolved, tuple[str, ...], Tally, Listed]:
    """The tally of columns with sides, notes on what was inferred, and the tally without.

    Besides come the rows that were left out, as far as they are listed.

    >>> resolved_arrays(["attack", "normal"], y_score=[0.9, 0.2])[0].positive
    'attack'
    """
    tally, sides, listed = _counted_arrays(y_true, **columns)
    return *resolve(tally, **sides), tally, listed


def _counted_arrays(
    y_true: Any,
    *,
    positive: Any = None,
    negative: Any = None,
    labels: Sequence[Any] | None = None,
    unknown: Any = None,
    threshold: Any = None,
    on_bad_row: OnBadRow | None = None,
    **columns: Any,
) -> tuple[Tally, dict[str, Any], Listed]:
    """The tally, what was said of its labels, and the first rows that were left out.

    ``on_bad_row`` is None for whom bad rows can't be left out.
    """
    if threshold is not None:
        threshold = asked_threshold(threshold, columns.get("y_pred"))
    skip = skips(on_bad_row)
    ask = Ask(threshold=threshold, on_bad_row=on_bad_row or "stop")
    sides = {"positive": positive, "negative": negative, "labels": labels, "unknown": unknown}
    given = [name for name, column in columns.items() if column is not None]
    if given == ["y_score"] and unknown is None and together(y_true, columns["y_score"]):
        tally = count_on_device(y_true, columns["y_score"], ask)
        return tally, sides, _listed(columns["y_score"]) if tally.refused.total else ()
    refused, left_out = Tally(), LeftOut()
    if skip:
        must_share_index({"y_true": y_true, **columns})
        left_out, (columns,) = good_rows({"y_true": y_true, **columns})
        reasons = left_out.reasons
        y_true = columns.pop("y_true")
        refused = Tally(rows=sum(reasons.values()), refused=Refusals(reasons))
    with nullcontext() if on_bad_row is None else suggesting_skip({"y_true": y_true, **columns}):
        rows = code_arrays(y_true, labels=labels, unknown=unknown, **columns)
        if unknown is None:
            sides["labels"] = listed_labels(rows, labels)
        return count_coded(sided(rows, positive, negative), ask) + refused, sides, left_out.listed


# -- on a device -----------------------------------------------------------------------------------


def count_on_device(label: Any, score: Any, ask: Ask | None = None) -> Tally:
    """Count a label and a score a row, both on one device.

    Labels are booleans or whole numbers. ``Ask(scores=Grid())`` takes a time that does not depend
    on how many distinct scores there are. Grids of scores outside [0, 1], of subnormal ones, and
    those of very many cells are counted on the host.

    >>> count_on_device(np.array([1, 0, 1]), np.array([0.9, 0.2, 0.9], np.float32))
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
    low, high = at.span(score)
    if not (np.isfinite(low) and np.isfinite(high)):
        score, codes = _finite(at, score, codes, ask)
        low, high = at.span(score) if len(score) else (low, high)
    refused = Refusals({_NOT_FINITE: rows - len(score)} if len(score) < rows else {})
    if not len(score):
        return Tally(rows=rows, refused=refused, threshold=ask.threshold)
    if low <= 0 <= high:
        score = score + 0.0  # -0.0 is 0.0
    cut = USUAL if ask.threshold is None else ask.threshold
    threshold = float(least_reaching(cut, _float_of(score)))
    table: ScoreTally | None
    if isinstance(ask.scores, Exact) and len(names.names) == 2 and low >= 0 and high < 2:
        table, decided = _by_key(at, score, codes, names.names, threshold)
    else:
        table = _scores(at, score, codes, names.names, ask.scores, low, high)
        decided = _decided(score, codes, names.names, threshold, table)
    return Tally(
        labels=Names(decided.labels, names.kind),
        threshold=ask.threshold,
        rows=rows,
        refused=refused,
        decided={SCORE: decided},
        scores={} if table is None else {SCORE: _of_labels(table, decided.labels)},
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
            f"score has {len(score)} {plural(len(score), 'row', 'rows')} and label has "
            f"{len(label)}: they must describe the same "
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
        return at.cast(label, "uint8"), Names(("false", "true"), "booleans")
    if not kind.startswith(("int", "uint")):
        raise LabelError(f"labels are booleans or whole numbers; found {label.dtype}")
    low, high = at.span(label)
    if high - low >= _MOST_LABELS:
        raise LabelError(
            f"labels run from {low} to {high}, which is too many for labels: that is an id"
        )
    shifted = label if low == 0 else at.cast(label, "int64") - low
    names = tuple(str(low + i) for i in range(high - low + 1))
    return at.cast(shifted, _code_type(len(names))), Names(names, "numbers")


def _code_type(labels: int) -> str:
    """The type of positions in names, with a bit to spare."""
    return "uint8" if labels <= _FEW_LABELS else "int32"


def _finite(at: Device, score: Any, codes: Any, ask: Ask) -> tuple[Any, Any]:
    """The rows with a finite score; others are left out, or stop it all."""
    good = _is_finite(score)
    if ask.on_bad_row == "stop":
        row = int(at.host(good).argmin())
        raise ScoreError(
            f"scores must be finite numbers: {len(score) - int(good.sum())} of {len(score)} are "
            f"not; the first is {float(score[row])} in {row_at(row)}. Remove those rows, or leave "
            f"them out with on_bad_row='skip'"
        )
    return score[good], codes[good]


def _is_finite(score: Any) -> Any:
    top = float(np.finfo(_float_of(score)).max)
    return (score >= -top) & (score <= top)


def _listed(score: Any) -> Listed:
    """The first rows without a finite score."""
    bad = np.flatnonzero(~device_of(score).host(_is_finite(score)))[:LISTED].tolist()
    return tuple((row + 1, not_a_number("y_score", float(score[row]))) for row in bad)


def _float_of(score: Any) -> np.dtype[Any]:
    return np.dtype("f4" if "32" in str(score.dtype) else "f8")


# -- every distinct score --------------------------------------------------------------------------


def _by_key(
    at: Device, score: Any, codes: Any, names: Sequence[str], threshold: float
) -> tuple[ScoreTally, Crosstab]:
    """The table of two labels, and the decisions at the threshold.

    The bits of scores from 0 to 2 are in their order and leave room for the label as the last bit:
    what is sorted is one number a row, without an index.
    """
    pairs, amounts = at.distinct(at.combined(at.bits(score), 2, codes))
    ascending = pairs >> 1
    largest = at.sending(amounts.max())
    distinct = at.runs(ascending)
    # What takes longest is copying: whatever else there is to do is done meanwhile.
    scores = at.sending(distinct)
    size, second = len(distinct), pairs & 1
    places = at.zeros(len(pairs), "int64", pairs)
    places[1:] = (ascending[1:] != ascending[:-1]).cumsum(0)
    # Signed numbers of the same bits, since torch counts little else.
    counter = np.min_scalar_type(int(largest()))
    kind = counter.name.removeprefix("u")
    table = at.zeros(2 * size, kind, pairs)
    table[at.combined(second, size, places)] = at.cast(amounts, kind)
    counts = at.sending(table)
    dtype = _float_of(score)
    reached = ascending >= int(np.array(threshold, dtype).view(f"i{dtype.itemsize}"))
    sums = [(amounts * part).sum() for part in (second, reached, reached * second)]
    seconds, above, both = (int(sent()) for sent in [at.sending(part) for part in sums])
    decided = _flagged(names, [len(score) - seconds, seconds], [above - both, both])
    rows = counts().view(counter).reshape(2, size)
    return ScoreTally(tuple(names), scores().view(dtype), rows), decided


def _scores(
    at: Device,
    score: Any,
    codes: Any,
    names: Sequence[str],
    kept: Keeping | None,
    low: float,
    high: float,
) -> ScoreTally | None:
    """The table of any labels."""
    if kept is None:
        return None
    if isinstance(kept, Grid):
        if _has_cells(score, len(names), kept.bits, low, high):
            return _by_cell(at, score, codes, names, kept)
        return ScoreTally.of_rows(names, at.host(score), at.host(codes), kept=kept)
    parts = []
    for i, name in enumerate(names):
        of_label = score[codes == i]
        if len(of_label):
            distinct, counts = (at.host(part) for part in at.distinct(of_label))
            parts.append(ScoreTally((name,), distinct, narrow(counts[None, :].astype(np.int64))))
    return ScoreTally.merge(parts)


def _decided(
    score: Any, codes: Any, names: Sequence[str], threshold: float, table: ScoreTally | None
) -> Crosstab:
    """The decisions at the threshold, from the table where it tells them."""
    if table is not None and _is_edge(threshold, table.kept):
        return _flagged(table.labels, table.totals(), table.at_least(threshold))
    reached = score >= threshold
    rows_by_label = [codes == i for i in range(len(names))]
    above = [int((rows & reached).sum()) for rows in rows_by_label]
    totals = [int(rows.sum()) for rows in rows_by_label] if table is None else table.totals()
    return _flagged(names, totals, above)


def _flagged(names: Sequence[str], totals: Any, above: Any) -> Crosstab:
    return flagged(names, np.column_stack([np.subtract(totals, above), above]))


@lru_cache
def _is_edge(threshold: float, kept: Keeping) -> bool:
    """Whether counts are exact from a threshold on: in a grid, if a cell starts there."""
    if not isinstance(kept, Grid):
        return True
    return bool(lowest(cells(np.array([threshold]), kept.bits), kept.bits)[0] == threshold)


# -- cells of a grid -------------------------------------------------------------------------------


def _distances(dtype: np.dtype[Any], bits: int) -> int:
    """How many exponents and first bits of a mantissa there are, from 0 to 1/2."""
    half = int(np.array(0.5, dtype).view(f"i{dtype.itemsize}"))
    return (half >> np.finfo(dtype).nmant << bits) + 1


def _has_cells(score: Any, labels: int, bits: int, low: float, high: float) -> bool:
    """Whether the first bits of scores, folded at one half, name their cells."""
    dtype = _float_of(score)
    smallest = float(np.finfo(dtype).smallest_normal)
    # Bits beyond those of a mantissa would take too many counters too.
    if low < 0 or high > 1 or 2 * labels * _distances(dtype, bits) > _MOST_COUNTERS:
        return False
    return low >= smallest or not bool(((score > 0) & (score < smallest)).any())


def _by_cell(at: Device, score: Any, codes: Any, names: Sequence[str], kept: Grid) -> ScoreTally:
    """Counts of the cells of a grid; see :mod:`assay.tally.keeping` for what a cell is.

    A cell is named by the half that a score is in, and the first bits of its distance to 0 or 1.
    """
    dtype = _float_of(score)
    labels, size = len(names), _distances(dtype, kept.bits)
    lost_bits = np.finfo(dtype).nmant - kept.bits
    distances = at.bits(at.least(1 - score, score))
    distances >>= lost_bits
    halves = at.cast(score > 0.5, _code_type(labels))
    numbers = at.combined(distances, 2 * labels, at.combined(halves, labels, codes))
    table = at.histogram(numbers, size, labels)
    bits = table[0].astype(f"i{dtype.itemsize}")
    upper = slice(int(np.searchsorted(bits, size)), None)
    bits[upper] = 2 * size - 1 - bits[upper]
    # In the lower half that is all of the smallest score.
    bits <<= lost_bits
    scores = bits.view(dtype).astype(np.float64)
    scores[upper] = lowest(cells(1 - scores[upper], kept.bits), kept.bits)
    return ScoreTally(tuple(names), scores, narrow(table[1:]), kept=kept)


def _of_labels(table: ScoreTally, names: tuple[str, ...]) -> ScoreTally:
    """The table of labels that occur, sorted by name."""
    if table.labels == names:
        return table
    rows = [table.labels.index(name) for name in names]
    return ScoreTally(names, table.scores, narrow(table.counts[rows]), kept=table.kept)


# -- what is asked of the library of a device ------------------------------------------------------


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

    def least(self, first: Any, second: Any) -> Any:
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

    def least(self, first: Any, second: Any) -> Any:
        return self.torch.minimum(first, second, out=first)

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
        occupied = table.any(1).nonzero()
        return self.host(self.torch.cat([occupied, table[occupied[:, 0]]], 1).T.contiguous())

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

    def least(self, first: Any, second: Any) -> Any:
        return self.xp.minimum(first, second, out=first)

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
        occupied = self.xp.flatnonzero(table.any(1))
        return self.host(self.xp.concatenate([occupied[None], table[occupied].T]))

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


def together(first: Any, second: Any) -> bool:
    """Whether both are arrays of one library on a device.

    >>> together(np.zeros(3), np.zeros(3))
    False
    """
    library = library_of(first)
    return library is not None and library == library_of(second)


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
