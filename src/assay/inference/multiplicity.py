"""Adjusting p-values for how many tests were made."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from assay.errors import MethodError


def _checked(p: Sequence[float]) -> npt.NDArray[np.float64]:
    values = np.asarray(p, np.float64)
    if values.size and not ((values >= 0) & (values <= 1)).all():
        raise MethodError("p-values must lie between 0 and 1")
    return values


def holm(p: Sequence[float]) -> list[float]:
    """Holm's step-down adjustment: the chance of any false finding stays below the level.

    Reference: Holm 1979.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    values = _checked(p)
    order = np.argsort(values, kind="stable")
    steps = values[order] * np.arange(len(values), 0, -1)
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1)
    return [float(q) for q in adjusted]


def benjamini_hochberg(p: Sequence[float]) -> list[float]:
    """Benjamini and Hochberg's adjustment: the expected share of false findings stays below.

    Reference: Benjamini and Hochberg 1995.

    >>> benjamini_hochberg([0.01, 0.04, 0.03])
    [0.03, 0.04, 0.04]
    """
    values = _checked(p)
    order = np.argsort(values, kind="stable")[::-1]
    size = len(values)
    steps = values[order] * size / np.arange(size, 0, -1)
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum(np.minimum.accumulate(steps), 1)
    # p * n / n may round below p.
    return [float(q) for q in np.maximum(adjusted, values)]
