"""What a row stands for: counts, which stay exact, and sampling weights."""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import CountError, ScoreError
from assay.v02.escaping import given_text, row_at
from assay.v02.sources.columns import array_of, decoded, scores_of
from assay.v02.sources.text_numbers import whole_number, wholes_among
from assay.v02.tally.confusion import LIMIT, TOO_MANY

Array: TypeAlias = npt.NDArray[Any]

# Weights are squared, and what they weigh is divided by.
_WEIGHTS = (1e-100, 1e100)
WEIGHTS = "0, or between 1e-100 and 1e+100"
_HALF = 32


def counts_of(values: Any, name: str) -> npt.NDArray[np.int64]:
    """A column of counts; whole numbers are never taken through a float, which 2^53 + 1 is not."""
    array = _count_array(values, name)
    texts = array.dtype.kind in "OU"
    counts, bad = exact_counts(wholes_among(array.tolist()) if texts else array)
    if bad.any():
        raise _no_count(array, int(bad.argmax()), name)
    if not counts.any():
        raise CountError("all counts are zero; there are no rows left")
    must_be_countable(counts)
    return counts


def must_be_countable(counts: Array) -> None:
    """Refuse counts whose sum 64 bits would be too few for."""
    if _count_total(counts) >= LIMIT:
        raise CountError(TOO_MANY)


def exact_counts(array: Array) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """Numbers as counts, 0 where they are none; and which are none."""
    if array.dtype.kind == "O":
        wholes = [whole_number(value) for value in array.tolist()]
        bad = np.array([value is None or not 0 <= value < LIMIT for value in wholes], bool)
        counts = [
            0 if is_bad else value for value, is_bad in zip(wholes, bad.tolist(), strict=True)
        ]
        return np.array(counts, np.int64), bad
    bad = np.zeros(len(array), bool)
    if array.dtype.kind == "f":
        bad = ~np.isfinite(array) | (np.floor(array) != array)
    bad = bad | (array < 0) | (array.astype(np.float64) >= LIMIT) if len(array) else bad
    return np.where(bad, np.zeros(1, array.dtype), array).astype(np.int64), bad


def _count_array(values: Any, name: str) -> Array:
    if isinstance(values, list | tuple) and {int, float} <= set(map(type, values)):
        array = np.empty(len(values), object)
        array[:] = values
        return array
    array = array_of(values, name)
    if array.dtype.kind == "S":
        array = decoded(array, name)
    if array.dtype.kind in "biuOU":
        return array.astype(np.uint8) if array.dtype.kind == "b" else array
    if array.dtype.kind == "f":
        return array.astype(array.dtype.newbyteorder("="), copy=False)
    return _amounts(array, name)


def _no_count(array: Array, row: int, name: str) -> CountError:
    value = array[row].item() if hasattr(array[row], "item") else array[row]
    if value is None or type(value).__name__ == "NAType":
        return CountError(f"{name} is missing in {row_at(row)}. Remove the row or give it a count")
    if isinstance(value, str) or not hasattr(value, "__float__"):
        return CountError(f"{name} must hold numbers; found {given_text(value)} in {row_at(row)}")
    if value < 0:
        return CountError(f"{name} must not be negative; {row_at(row)} has {given_text(value)}")
    if LIMIT <= value < math.inf:
        return CountError(
            f"{row_at(row)} of {name} has {given_text(value)}; 2^62 or more is more than can be "
            f"counted here"
        )
    return CountError(
        f"{name} are frequencies and must be whole numbers; {row_at(row)} has {value}. For "
        f"sampling weights say sample_weight="
    )


def _count_total(counts: npt.NDArray[np.int64]) -> int:
    """The sum, which 64 bits may be too few for."""
    high, low = counts >> _HALF, counts & ((1 << _HALF) - 1)
    return (int(high.sum()) << _HALF) + int(low.sum())


def not_weights(numbers: Array) -> npt.NDArray[np.bool_]:
    """Which numbers are no weights."""
    return np.asarray(~np.isfinite(numbers) | (numbers < 0))


def beyond_squares(numbers: Array) -> npt.NDArray[np.bool_]:
    """Which weights are too large to be squared, or too small."""
    smallest, largest = _WEIGHTS
    return np.asarray((numbers > largest) | ((numbers > 0) & (numbers < smallest)))


def amounts_of(
    counts: Any, sample_weight: Any
) -> tuple[npt.NDArray[np.int64] | None, npt.NDArray[np.float64] | None]:
    """Counts or weights, where there are some; never both."""
    if counts is not None and sample_weight is not None:
        raise CountError("give counts (frequencies) or sample_weight (sampling weights), not both")
    return None if counts is None else counts_of(counts, "counts"), _weights(sample_weight)


def _amounts(values: Any, name: str) -> Array:
    try:
        return scores_of(values, name)
    except ScoreError as error:
        raise CountError(str(error)) from error


def _weights(weights: Any) -> npt.NDArray[np.float64] | None:
    if weights is None:
        return None
    array = _amounts(weights, "sample_weight").astype(np.float64)
    bad = np.flatnonzero(not_weights(array))
    if len(bad):
        raise CountError(
            f"sample_weight must be finite and not negative; {row_at(bad[0])} has {array[bad[0]]}"
        )
    if not array.any():
        raise CountError("all weights are zero; there are no rows left")
    beyond = np.flatnonzero(beyond_squares(array))
    if len(beyond):
        raise CountError(
            f"sample_weight is squared, so each is {WEIGHTS}; {row_at(beyond[0])} has "
            f"{array[beyond[0]]:g}"
        )
    return array


def repeated_counts(counts: Array, repeats: Array) -> Array:
    """Counts of rows that stand for several; whole numbers of 64 bits must hold them."""
    if len(counts) and int(counts.max()) * int(repeats.max()) >= LIMIT:
        raise CountError(
            f"rows that stand for up to {int(repeats.max()):,} others have counts of up to "
            f"{int(counts.max()):,}; their product must be below 2^62"
        )
    return np.asarray(counts * repeats)


def kept_of(amounts: Array | None) -> Array | None:
    """The rows that count, None where all do: those of zero are as if they were not there."""
    if amounts is None or amounts.all():
        return None
    return np.flatnonzero(amounts)
