"""How easily a number of few digits is explained by accident."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from assay.decisions.audit.exact import Exact, as_float
from assay.decisions.audit.printed import Printed

Floats = npt.NDArray[np.float64]
Spans = tuple[Floats, Floats]


def spans(values: Iterable[Exact], reported: Printed) -> Spans:
    """The printed numbers, in units of the last digit, that each value would be printed as."""
    ends = [
        (
            math.floor(as_float(value.low / reported.unit)),
            math.ceil(as_float(value.high / reported.unit)),
        )
        for value in values
    ]
    found = np.array(ends, np.float64).reshape(-1, 2)
    return found[:, 0], found[:, 1]


def spans_of_floats(values: Floats, reported: Printed) -> Spans:
    """The same for values known as floats; those that are undefined are left out."""
    units = values[np.isfinite(values)] / _unit(reported)
    return np.floor(units), np.ceil(units)


def _unit(reported: Printed) -> float:
    """One unit of the last digit; never zero, however small it is."""
    return max(as_float(reported.unit), sys.float_info.min)


def together(parts: Sequence[Spans]) -> Spans:
    """Several collections as one."""
    return np.concatenate([low for low, _ in parts]), np.concatenate([high for _, high in parts])


def share(found: Spans, low: float, high: float) -> float:
    """Of the whole numbers from ``low`` to ``high``, the share that lies in a span.

    >>> import numpy as np
    >>> share((np.array([2.0, 3.0]), np.array([3.0, 5.0])), 1, 10)
    0.4
    """
    starts, ends = np.maximum(found[0], low), np.minimum(found[1], high)
    kept = starts <= ends
    starts, ends = starts[kept], ends[kept]
    if not len(starts):
        return 0.0
    order = np.argsort(starts)
    starts, ends = starts[order], ends[order]
    # What the spans before one have already counted is not counted again.
    before = np.concatenate([[low - 1], np.maximum.accumulate(ends)[:-1]])
    new = np.maximum(ends - np.maximum(starts, before + 1) + 1, 0)
    return float(min(1.0, new.sum() / (high - low + 1)))


def chance(found: Spans, reported: Printed, bounds: tuple[float, float] | None) -> float:
    """Of the numbers with so many digits, the share that some value would be printed as.

    The numbers have the sign of the reported one and stay within the range of the measure.
    """
    most = 10.0**reported.digits - 1
    negative = reported.value < 0
    if bounds is not None:
        limit = abs(bounds[0] if negative else bounds[1])
        if math.isfinite(limit) and abs(reported.value) <= limit:
            most = min(most, math.floor(limit / _unit(reported) + 0.5))
    return share(found, -most if negative else 0.0, 0.0 if negative else most)


def guess(found: Spans, reported: Printed, right: float) -> float:
    """Of the numbers no farther from the right one than the reported, the share that is explained.

    Near the right value the many swaps of cells crowd, and one of them fits whatever is printed.
    """
    unit = _unit(reported)
    middle, reach = right / unit, abs(as_float(reported.value) - right) / unit
    return share(found, math.floor(middle - reach), math.ceil(middle + reach))
