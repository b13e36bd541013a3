"""Text keys as numbers: the names of a key, and the number of each row's name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.counts.blocks import occurring

if TYPE_CHECKING:
    import polars as pl

Array: TypeAlias = npt.NDArray[Any]
# A null has a name too: rows without a value are counted like any other.
Name: TypeAlias = str | None

_NULL = "\0null\0"
# Integers of at most this range are looked up in a table.
_RANGE = 1 << 16


class Names:
    """The names of one key, numbered in the order in which they came.

    >>> import polars as pl
    >>> names = Names()
    >>> names.codes(pl.Series(["normal", "attack", "normal"])).tolist()
    [0, 1, 0]
    >>> names.sorted()
    (('attack', 'normal'), array([1, 0], dtype=uint8))
    """

    def __init__(self) -> None:
        self._codes: dict[str, int] = {}
        self._type: pl.Enum | None = None

    def __len__(self) -> int:
        return len(self._codes)

    def codes(self, column: pl.Series) -> Array:
        """The number of each row's name; integers and booleans are written as the contract says."""
        import polars as pl

        number = column.dtype.is_integer() or column.dtype == pl.Boolean
        if number and len(column) and not column.null_count():
            if column.dtype == pl.Boolean:
                return self._of_integers(column.cast(pl.UInt8), ("false", "true"))
            low, high = int(column.min()), int(column.max())  # type: ignore[arg-type]
            if high - low < _RANGE:
                whole = column.cast(pl.Int64) - low if low else column
                return self._of_integers(whole, range(low, high + 1))
        return self._of_texts(column.cast(pl.String) if number else column)

    def _of_integers(self, column: pl.Series, texts: Any) -> Array:
        values: Array = column.to_numpy()
        occurs = occurring(values, len(texts))
        table = np.zeros(len(texts), np.min_scalar_type(len(self) + len(texts)))
        for value in np.flatnonzero(occurs).tolist():
            table[value] = self._code(str(texts[value]))
        if values.dtype == np.uint8 and (table == np.arange(len(table)))[occurs].all():
            return values
        codes: Array = table[values]
        return codes

    def _of_texts(self, column: pl.Series) -> Array:
        import polars as pl

        if column.null_count():
            column = column.cast(pl.String).fill_null(_NULL)
        coded = None if self._type is None else column.cast(self._type, strict=False)
        if coded is None or coded.null_count():
            for text in column.unique(maintain_order=True).cast(pl.String).to_list():
                self._code(text)
            self._type = pl.Enum(list(self._codes))
            coded = column.cast(self._type)
        numbers: Array = coded.to_physical().to_numpy()
        return numbers

    def _code(self, text: str) -> int:
        if text not in self._codes:
            self._type = None
            self._codes[text] = len(self._codes)
        return self._codes[text]

    def number(self, names: tuple[Name, ...]) -> Array:
        """The numbers of some names."""
        return np.array([self._code(_NULL if name is None else name) for name in names], np.uint32)

    def sorted(self) -> tuple[tuple[Name, ...], Array]:
        """The names ascending, and the place of each number among them; null comes first."""
        ordered = sorted(self._codes, key=lambda text: (text != _NULL, text))
        places = np.empty(len(ordered), np.min_scalar_type(max(len(ordered) - 1, 0)))
        places[[self._codes[text] for text in ordered]] = np.arange(len(ordered))
        return tuple(None if text == _NULL else text for text in ordered), places
