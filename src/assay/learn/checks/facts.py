"""What a column holds, as far as a check asks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Facts:
    """A column of the training part: how many values it has, and what they are like.

    ``distinct`` counts values that are there. ``whole`` is whether all are whole numbers, ``rises``
    whether numbers go one way from row to row, ``counts_on`` whether they are all different and
    leave few gaps. ``first`` are some texts.
    """

    column: str
    rows: int
    missing: int
    distinct: int
    number: bool = False
    whole: bool = False
    rises: bool = False
    counts_on: bool = False
    low: float = np.nan
    middle: float = np.nan
    high: float = np.nan
    first: tuple[str, ...] = ()

    @property
    def present(self) -> int:
        """Rows that have a value."""
        return self.rows - self.missing

    @property
    def constant(self) -> bool:
        """Whether there is nothing to tell rows apart by."""
        return self.distinct == 0 or (self.distinct == 1 and not self.missing)

    @property
    def unique_share(self) -> float:
        """Distinct values for each row that has one."""
        return self.distinct / self.present if self.present else 0.0


_LOOKED_AT = 200
# A counter may have lost some of its rows, to another part or to a filter.
_GAPS = 2


def facts_of(values: pl.Series) -> Facts:
    """Look at a column: Float64 or String, null where a value is missing.

    >>> import polars as pl
    >>> found = facts_of(pl.Series("id", [1.0, 2.0, 3.0]))
    >>> found.distinct, found.whole, found.rises, found.counts_on
    (3, True, True, True)
    """
    import polars as pl

    rows, missing = len(values), values.null_count()
    there = values.drop_nulls() if missing else values
    if values.dtype != pl.Float64:
        first = tuple(there.head(_LOOKED_AT).to_list())
        return Facts(values.name, rows, missing, there.n_unique(), first=first)
    numbers = there.to_numpy()
    ordered = np.sort(numbers)
    distinct = int(np.count_nonzero(ordered[1:] != ordered[:-1])) + 1 if len(ordered) else 0
    if not distinct:
        return Facts(values.name, rows, missing, 0, number=True)
    finite = np.isfinite(ordered[0]) and np.isfinite(ordered[-1])
    whole = bool(finite and (ordered == np.floor(ordered)).all())
    steps_up = bool((numbers[1:] >= numbers[:-1]).all())
    rises = distinct > 1 and (steps_up or bool((numbers[1:] <= numbers[:-1]).all()))
    low, high = float(ordered[0]), float(ordered[-1])
    return Facts(
        values.name,
        rows,
        missing,
        distinct,
        number=True,
        whole=whole,
        rises=rises,
        counts_on=whole and distinct == len(ordered) and high - low < _GAPS * distinct,
        low=low,
        middle=float(ordered[len(ordered) // 2]),
        high=high,
    )
