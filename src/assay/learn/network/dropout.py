"""Inverted dropout: a unit is kept with 1 - p, and what is kept is scaled by 1/(1 - p)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]

# Masks are drawn for so many rows at once: one call a batch would cost more than the numbers.
_ROWS = 8192


def masks(
    generator: np.random.Generator, rows: int, widths: Sequence[int], p: float, *, batch: int = 1
) -> Iterator[list[Floats]]:
    """Masks for some whole batches at a time, one array a hidden layer, until all rows have one."""
    many = batch * max(_ROWS // batch, 1)
    for start in range(0, rows, many):
        size = min(many, rows - start)
        drawn: list[Floats] = []
        for width in widths:
            kept = generator.random((size, width), np.float32) >= p
            drawn.append(kept * np.float64(1 / (1 - p)))
        yield drawn
