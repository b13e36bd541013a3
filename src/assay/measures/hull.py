"""The convex hull of a ROC curve: the thresholds that some costs make the best.

Points below the hull are never the best choice, whatever errors cost and however rare attacks are.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]

# Below this the products of two counts are exact in 64 bits.
_EXACT = 1 << 31
# Fewer points than this are walked one by one, and so are those of which hardly any go at once.
_FEW, _HARDLY = 128, 0.9


def upper_hull(x: Array, y: Array) -> npt.NDArray[np.int64]:
    """The positions of the corners of the upper hull of points that never fall in x or y.

    Points on a straight line between corners are none. Whole numbers are compared exactly.

    >>> upper_hull(np.array([0, 0, 1, 2, 3]), np.array([0, 2, 2, 3, 3])).tolist()
    [0, 1, 3, 4]
    """
    if not len(x):
        return np.empty(0, np.int64)
    # Of equal points the last one: two of them would each hide the other.
    kept = np.append(np.flatnonzero((np.diff(x) != 0) | (np.diff(y) != 0)), len(x) - 1)
    whole = x.dtype.kind in "iu" and y.dtype.kind in "iu"
    if whole and max(int(x[-1]), int(y[-1])) < _EXACT:
        x, y = x.astype(np.int64), y.astype(np.int64)
    elif whole:
        x, y = x.astype(object), y.astype(object)
    while len(kept) > _FEW:
        # A point that is not above the line between its neighbours is no corner.
        left, middle, right = kept[:-2], kept[1:-1], kept[2:]
        above = _turn(x, y, left, middle, right) < 0
        kept = np.concatenate((kept[:1], middle[above], kept[-1:]))
        if above.sum() > _HARDLY * len(above):
            break
    points = list(zip(kept.tolist(), x[kept].tolist(), y[kept].tolist(), strict=True))
    held: list[tuple[int, Any, Any]] = []
    for at, across, up in points:
        while len(held) > 1:
            (_, x0, y0), (_, x1, y1) = held[-2:]
            if (x1 - x0) * (up - y0) - (y1 - y0) * (across - x0) < 0:
                break
            held.pop()
        held.append((at, across, up))
    return np.array([at for at, _, _ in held], np.int64)


def _turn(x: Array, y: Array, a: Array, b: Array, c: Array) -> Array:
    """Negative where the way from a over b to c turns right: where b is above the line."""
    return np.asarray((x[b] - x[a]) * (y[c] - y[a]) - (y[b] - y[a]) * (x[c] - x[a]))
