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
    # A corner is the last point of its x and higher than those before; the first point is one too.
    # Of equal points it is the last one: two of them would each hide the other.
    first = int(np.argmax(np.append((x != x[0]) | (y != y[0]), True))) - 1
    ends = np.append(np.flatnonzero(x[1:] != x[:-1]), len(x) - 1)
    heights = y[ends]
    ends = ends[np.concatenate((heights[:1] != y[0], heights[1:] != heights[:-1]))]
    kept = np.concatenate(([first], ends[(ends > first) & (ends < len(x) - 1)], [len(x) - 1]))
    kept = kept[first == len(x) - 1 :]
    x, y = x[kept], y[kept]
    whole = x.dtype.kind in "iu" and y.dtype.kind in "iu"
    kind: Any = np.int64 if max(int(x[-1]), int(y[-1])) < _EXACT else object
    if whole:
        x, y = x.astype(kind), y.astype(kind)
    while len(kept) > _FEW:
        # A point that is not above the line between its neighbours is no corner.
        above = np.concatenate(([True], _turns(x, y) < 0, [True]))
        kept, x, y = kept[above], x[above], y[above]
        if above.sum() > _HARDLY * len(above):
            break
    points = list(zip(kept.tolist(), x.tolist(), y.tolist(), strict=True))
    held: list[tuple[int, Any, Any]] = []
    for at, across, up in points:
        while len(held) > 1:
            (_, x0, y0), (_, x1, y1) = held[-2:]
            if (x1 - x0) * (up - y0) - (y1 - y0) * (across - x0) < 0:
                break
            held.pop()
        held.append((at, across, up))
    return np.array([at for at, _, _ in held], np.int64)


def _turns(x: Array, y: Array) -> Array:
    """Negative where the way over a point turns right: where it is above its neighbours' line."""
    to_x, to_y = x[1:-1] - x[:-2], y[1:-1] - y[:-2]
    return np.asarray(to_x * (y[2:] - y[:-2]) - to_y * (x[2:] - x[:-2]))
