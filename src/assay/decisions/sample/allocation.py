"""Where strata end, and how many labels each gets.

Attacks are rare, and most of them score high. If the k-th row from the top were an attack with a
chance like 1/k, strata whose sizes grow by one factor would hold as many attacks each, and the
variance of their number would be least with labels in proportion to the root of their sizes
(Neyman 1934). That is the rule ``sqrt``: it asks nothing of scores but their order, and heavy
weights grow no faster than the root of a stratum. ``optimal`` takes the score for the chance of an
attack instead, and is better than ``sqrt`` only where that is so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import InputError

Floats: TypeAlias = npt.NDArray[np.float64]
Integers: TypeAlias = npt.NDArray[np.int64]

SQRT, OPTIMAL, PROPORTIONAL, EQUAL = "sqrt", "optimal", "proportional", "equal"
ALLOCATIONS = (SQRT, OPTIMAL, PROPORTIONAL, EQUAL)
ALL = "all"
# Alerts get at most this share of the labels, where nobody says how many of them to label.
_ON_ALERTS = 0.3
# The smallest stratum is as large as this share of the labels, where rows are many.
_SMALLEST = 0.1
# The spread inside of a stratum needs two rows to be seen.
FEWEST = 2


def borders(counts: Integers, strata: int, labels: int) -> list[int]:
    """Where strata begin among groups of equal scores, from the highest one down.

    ``counts`` are the rows of each group. Sizes grow by one factor; a group is never cut, so that
    there may be fewer strata than were asked for.

    >>> borders(np.array([10, 10, 20, 40, 920]), 3, 100)
    [0, 1, 4]
    """
    below = np.cumsum(counts)
    rows = int(below[-1])
    if strata == 1 or len(counts) == 1:
        return [0]
    ends = _ends(rows, strata, labels)[:-1]
    found = np.searchsorted(below, ends, side="left") + 1
    # The group that holds a border goes to the side that leaves the stratum nearer to its size.
    nearer = np.abs(np.append(0, below)[found - 1] - ends) < np.abs(below[found - 1] - ends)
    found = np.where(nearer, found - 1, found)
    return sorted({0, *(int(at) for at in found if 0 < at < len(counts))})


def stratum_sizes(rows: int, strata: int, labels: int) -> list[int]:
    """The rows of each stratum where no two scores are equal, from the highest one down.

    >>> stratum_sizes(10_000, 3, 1000)
    [100, 900, 9000]
    """
    ends = np.unique(np.round(_ends(rows, strata, labels)).astype(np.int64))
    return [int(size) for size in np.diff(ends, prepend=0)]


def _ends(rows: int, strata: int, labels: int) -> Floats:
    """How many rows lie above the end of each stratum: growing by one factor."""
    smallest = min(max(labels * _SMALLEST, 1.0), rows / 2 ** (strata - 1))
    return np.geomspace(max(smallest, 1.0), rows, strata)


def allocated(rows: Sequence[int], sizes: Sequence[float], labels: int) -> list[int]:
    """Labels in proportion to sizes, whole, at most the rows of each stratum and two at least.

    >>> allocated([100, 10_000, 1_000_000], [10, 100, 1000], 1111)
    [10, 100, 1001]
    >>> allocated([5, 10_000], [100, 100], 200)
    [5, 195]
    """
    most, size = np.array(rows, np.int64), np.array(sizes, np.float64)
    least = np.minimum(most, FEWEST)
    labels = min(labels, int(most.sum()))
    low, high = 0.0, float(most.max()) / max(float(size[size > 0].min(initial=np.inf)), 1e-300)
    for _ in range(200):
        middle = (low + high) / 2
        if np.clip(size * middle, least, most).sum() < labels:
            low = middle
        else:
            high = middle
    exact = np.clip(size * high, least, most)
    found = np.floor(exact).astype(np.int64)
    order = np.lexsort((np.arange(len(most)), -(exact - found)))
    while found.sum() < labels:
        for at in order:
            if found[at] < most[at] and found.sum() < labels:
                found[at] += 1
    while found.sum() > labels:
        at = int(np.argmax(found - least))
        found[at] -= 1
    return [int(each) for each in found]


def sizes_of(allocation: str, rows: Sequence[int], chances: Sequence[float] | None) -> list[float]:
    """What labels are in proportion to; ``chances`` are the mean scores of the strata."""
    if allocation == PROPORTIONAL:
        return [float(each) for each in rows]
    if allocation == EQUAL:
        return [1.0 for _ in rows]
    if allocation == OPTIMAL:
        if chances is None:
            raise InputError(
                "allocation='optimal' takes scores for chances, and these do not lie in [0, 1]: "
                "say allocation='sqrt', which asks for their order alone"
            )
        least = 1 / max(sum(rows), 1)
        spread = [max(chance * (1 - chance), least) ** 0.5 for chance in chances]
        return [each * root for each, root in zip(rows, spread, strict=True)]
    return [each**0.5 for each in rows]


def labels_of_alerts(alerts: int, labels: int, share: float | str | None) -> int:
    """How many of the labels go to alerts: of a share of them, all, or at most three in ten.

    >>> labels_of_alerts(500, 10_000, None), labels_of_alerts(50_000, 10_000, None)
    (500, 3000)
    """
    if share is None:
        return min(alerts, max(int(labels * _ON_ALERTS), min(FEWEST, alerts)))
    wanted = alerts if share == ALL else max(round(alerts * float(share)), min(FEWEST, alerts))
    if wanted >= labels:
        raise InputError(
            f"{wanted:,} of the {alerts:,} alerts would take all of the {labels:,} labels, and "
            f"none would be left to find what was missed: ask for more labels=, or for a smaller "
            f"share of alerts="
        )
    return wanted
