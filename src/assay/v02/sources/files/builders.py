"""Columns that grow piece by piece, kept as small as they can be."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import InputError
from assay.v02.sources.coded import Labels, NameColumn
from assay.v02.sources.columns import MISSING, NUMBER, TEXT, label_kind, label_text, names_of
from assay.v02.tally.blocks import BLOCK

if TYPE_CHECKING:
    import polars as pl

Array: TypeAlias = npt.NDArray[Any]

# A column of more names than this holds no labels.
MOST_NAMES = 1000
_SMALL_RANGE = 1 << 16
_NAME_BYTES = 120


class GrowingColumn:
    """An array that grows at its end, in place where the machine can do that."""

    def __init__(self, dtype: Any) -> None:
        self._array = np.empty(0, dtype)
        self.size = 0
        # Whether the array is that of another, who may still look at it: nobody writes to it.
        self.borrowed = False

    @property
    def dtype(self) -> np.dtype[Any]:
        """What the values are kept as."""
        kept: np.dtype[Any] = self._array.dtype
        return kept

    @property
    def nbytes(self) -> int:
        """The bytes taken."""
        return self._array.nbytes

    def reserve(self, more: int) -> None:
        """Make room for further values."""
        if self.size + more > len(self._array):
            self._resize(self.size + more)

    def extend(self, values: Array, *, borrow: bool = False) -> None:
        """Add values at the end; they are cast to what the array holds.

        With ``borrow`` the first values are not copied; who takes them does not write to them.
        """
        if not len(values):
            return  # nothing may be written to what is borrowed, not even that
        end = self.size + len(values)
        if borrow and not len(self._array) and values.dtype == self._array.dtype:
            self._array, self.size, self.borrowed = values, end, True
            return
        if end > len(self._array):
            self._resize(max(end, len(self._array) * 9 // 8 + 1024))
        self._array[self.size : end] = values
        self.size = end

    def widen(self, dtype: Any) -> None:
        """Hold values of a wider type from now on."""
        if self._array.dtype != dtype:
            wider = np.empty(len(self._array), dtype)
            wider[: self.size] = self._array[: self.size]
            self._array, self.borrowed = wider, False

    def done(self) -> Array:
        """The values, and no room behind them."""
        self._resize(self.size)
        return self._array

    def _resize(self, size: int) -> None:
        if self.size == size == len(self._array):
            return
        if self.size and not self.borrowed:
            # In place: a copy would need the memory twice.
            self._array.resize(size, refcheck=False)
            return
        kept = self._array[: self.size]
        self._array, self.borrowed = np.empty(size, kept.dtype), False
        self._array[: self.size] = kept


class Numbers:
    """A column of numbers; float32 stays float32 until something wider comes."""

    def __init__(self, dtype: Any) -> None:
        self._values = GrowingColumn(dtype)

    @property
    def nbytes(self) -> int:
        """The bytes taken."""
        return self._values.nbytes

    def reserve(self, more: int) -> None:
        """Make room for further values."""
        self._values.reserve(more)

    def extend(self, values: Array) -> None:
        """Add values at the end."""
        self._values.widen(np.promote_types(self._values.dtype, values.dtype))
        # Mostly numbers are taken after their first piece.
        self._values.extend(values, borrow=True)

    def done(self) -> Array:
        """The values."""
        return self._values.done()


class Codes:
    """A column of names as positions in one list of names."""

    def __init__(self, column: str, limit: int | None, meaning: str) -> None:
        self.column = column
        self._limit = limit
        self._meaning = meaning
        self._position: dict[str, int] = {}
        self._codes = GrowingColumn(np.uint8)

    @property
    def nbytes(self) -> int:
        """The bytes taken."""
        return self._codes.nbytes + _NAME_BYTES * len(self._position)

    @property
    def distinct(self) -> int:
        """How many names there are."""
        return len(self._position)

    def reserve(self, more: int) -> None:
        """Make room for further values."""
        self._codes.reserve(more)

    def add(self, codes: Array, names: Sequence[str]) -> None:
        """Add rows, given as positions in names that all occur."""
        position = self._position
        table = np.array([position.setdefault(n, len(position)) for n in names], np.int64)
        if self._limit is not None and len(position) > self._limit:
            likeness = "a score (say score=) or an id" if self._meaning == "decisions" else "an id"
            raise InputError(
                f"column {self.column!r} has more than {self._limit:,} distinct values, which is "
                f"too many for {self._meaning}: that is {likeness}"
            )
        dtype = np.min_scalar_type(len(position) - 1)
        if dtype.itemsize > self._codes.dtype.itemsize:
            self._codes.widen(dtype)
        if not np.array_equal(table, np.arange(len(table))):
            codes = table.astype(dtype)[codes]
        self._codes.extend(codes, borrow=True)

    def sorted(self, key: Callable[[str], Any]) -> tuple[Array, tuple[str, ...]]:
        """The codes and the names, in order whatever order they came in."""
        codes = self._codes.done()
        names = sorted(self._position, key=key)
        if names != list(self._position):
            renumber = np.empty(len(names), codes.dtype)
            renumber[[self._position[name] for name in names]] = np.arange(len(names))
            if self._codes.borrowed:
                codes = codes.copy()
            for start in range(0, len(codes), BLOCK):
                rows = slice(start, start + BLOCK)
                codes[rows] = renumber[codes[rows]]
        return codes, tuple(names)


class LabelCodes(Codes):
    """Labels, all of one kind."""

    kind = TEXT

    def extend(self, values: pl.Series) -> None:
        """Add values at the end."""
        if not len(values):
            return
        distinct, codes = distinct_of(values)
        self.kind = label_kind(distinct[0])
        self.add(codes, [label_text(value) for value in distinct])

    def done(self) -> Labels:
        """The labels: numbers in order of value, text in order of text."""
        codes, names = self.sorted(int if self.kind == NUMBER else str)
        return Labels(codes, names, self.kind)


class NameCodes(Codes):
    """Names of slices or clusters; what is missing is a name too."""

    def extend(self, values: pl.Series) -> None:
        """Add values at the end."""
        if not len(values):
            return
        import polars as pl

        distinct, codes = distinct_of(values)
        if values.dtype == pl.String:
            # Clusters may be many: text is its own name.
            names = [value or MISSING for value in distinct]
        else:
            column = names_of(distinct, self.column)
            names = [column.names[i] for i in column.codes.tolist()]
        self.add(codes, names)

    def done(self) -> NameColumn:
        """The names, in order of text whatever they were: so every format gives the same."""
        return NameColumn(*self.sorted(str))


def distinct_of(values: pl.Series) -> tuple[list[Any], Array]:
    """The distinct values of a column, and for each row which one it has."""
    import polars as pl

    kind = values.dtype
    if kind == pl.Object:
        return _distinct_objects(values.to_list())
    if kind == pl.Boolean and not values.null_count():
        if values.all() or not values.any():
            return [values.all()], np.zeros(len(values), np.uint8)
        return [False, True], values.to_numpy().view(np.uint8)
    if kind.is_float():
        distinct, codes = np.unique(
            values.cast(pl.Float64).to_numpy(), return_inverse=True, equal_nan=True
        )
        return distinct.tolist(), codes
    if kind.is_integer() and kind != pl.Int128 and not values.null_count():
        low, high = int(values.min()), int(values.max())  # type: ignore[arg-type]
        if high - low < _SMALL_RANGE:
            # Modulo 2^64, where differences of all whole numbers come out right.
            offsets = (values.to_numpy().astype(np.uint64) - np.uint64(low % 2**64)).astype(
                np.uint16
            )
            present = np.flatnonzero(np.bincount(offsets))
            table = np.zeros(high - low + 1, np.uint16)
            table[present] = np.arange(len(present))
            return [low + offset for offset in present.tolist()], table[offsets]
    unique = values.unique()
    positions = pl.Series(np.arange(len(unique), dtype=np.uint32))
    codes = values.replace_strict(unique, positions, return_dtype=pl.UInt32).to_numpy()
    return unique.to_list(), codes


def _distinct_objects(values: list[Any]) -> tuple[list[Any], Array]:
    position: dict[Any, int] = {}
    distinct: list[Any] = []
    codes = np.empty(len(values), np.int64)
    for row, value in enumerate(values):
        key = (type(value), value if value.__hash__ is not None else str(value))
        if key not in position:
            position[key] = len(distinct)
            distinct.append(value)
        codes[row] = position[key]
    return distinct, codes


class Texts:
    """A column of text that grows piece by piece."""

    def __init__(self) -> None:
        self._pieces: list[pl.Series] = []
        self.nbytes = 0

    def reserve(self, more: int) -> None:
        """Text has no size beforehand."""

    def extend(self, values: pl.Series) -> None:
        """Add values at the end."""
        self._pieces.append(values)
        self.nbytes += int(values.estimated_size())

    def done(self) -> pl.Series:
        """The texts."""
        import polars as pl

        return pl.concat(self._pieces) if self._pieces else pl.Series(dtype=pl.String)


_LARGEST_INT = 2**63
_EXACT = 2**53
_LARGEST_DECIMAL = 10**40


def series_of(name: str, values: Sequence[Any]) -> pl.Series:
    """A column of one type where the values have one, and of objects where they do not."""
    import polars as pl

    kinds = set(map(type, values)) - {type(None)}
    data_type: Any = pl.Object
    if not kinds:
        data_type = pl.Null
    elif kinds == {bool}:
        data_type = pl.Boolean
    elif kinds == {int} and _are_within(values, _LARGEST_INT):
        data_type = pl.Int64
    elif kinds == {float} or (kinds == {int, float} and _are_within(values, _EXACT)):
        data_type = pl.Float64
    elif kinds == {str}:
        data_type = pl.String
    elif kinds == {Decimal}:
        numbers = [_number(value) for value in values]
        kept = any(isinstance(number, Decimal) for number in numbers)
        return pl.Series(name, numbers, dtype=pl.Object) if kept else series_of(name, numbers)
    elif kinds == {dt.date}:
        data_type = pl.Date
    elif kinds == {dt.datetime} and len({v.tzinfo is None for v in values if v is not None}) == 1:
        return _times(name, values)
    return pl.Series(name, values, dtype=data_type, strict=data_type != pl.Float64)


def _are_within(values: Sequence[Any], bound: int) -> bool:
    integers = [value for value in values if type(value) is int]
    return -bound < min(integers, default=0) and max(integers, default=0) < bound


def _number(value: Decimal | None) -> int | float | Decimal | None:
    """A decimal as the number that it is; it stays one where a float would make it whole."""
    if value is None:
        return None
    # A large exponent is no reason to write all of its digits.
    short = value.is_finite() and -_LARGEST_DECIMAL < value < _LARGEST_DECIMAL
    if short and value == value.to_integral_value():
        return int(value)
    nearest = float(value)
    return value if nearest.is_integer() and value != nearest else nearest


def _times(name: str, values: Sequence[dt.datetime | None]) -> pl.Series:
    import polars as pl

    aware = any(value is not None and value.tzinfo is not None for value in values)
    if aware:
        values = [None if value is None else value.astimezone(dt.UTC) for value in values]
    return pl.Series(name, values, dtype=pl.Datetime("us", "UTC" if aware else None))
