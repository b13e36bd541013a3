"""One column of anything (list, NumPy, pandas, polars, pyarrow) as an array or as coded labels."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import InputError, LabelError, LengthMismatch, ScoreError
from assay.v02.escaping import given_text, plural, row_at
from assay.v02.sources.coded import Labels, NameColumn
from assay.v02.sources.text_numbers import numbers_among
from assay.v02.tally.blocks import BLOCK

if TYPE_CHECKING:
    import polars as pl

Array: TypeAlias = npt.NDArray[Any]

TEXT, NUMBER, BOOLEAN = "text", "numbers", "booleans"
MISSING = "(missing)"
# The cells of two classes, and what the rows of a matrix may be.
CELLS = ("tp", "fp", "fn", "tn")
ORIENTATIONS = ("truth-rows", "predicted-rows")
_SMALL_RANGE = 1 << 16


def array_of(values: Any, name: str) -> Array:
    """A one-dimensional array of whatever was given, without a copy where that is possible."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.getmaskarray(values).any():
        row = int(np.flatnonzero(np.ma.getmaskarray(values))[0])
        raise LabelError(f"{name} is masked in {row_at(row)}; remove the masked rows first")
    if isinstance(values, str | bytes | Mapping):
        raise LabelError(f"{name} must be a column of values; found one {type(values).__name__}")
    must_have_order(name, values)
    if isinstance(values, np.ndarray):
        array = np.asarray(values)
    elif isinstance(values, list | tuple | range):
        array = _array_of_list(values)
    elif _is_dataframe_column(values):
        import narwhals as nw

        if str(getattr(values, "dtype", "")) == "Int128":  # which NumPy does not have
            return np.array(values.to_list(), object)
        array = nw.from_native(values, series_only=True).to_numpy()
        if array.dtype.kind == "U":
            # Text of a fixed width loses NULs at its end.
            array = _array_of_list(list(values))
    elif hasattr(values, "__array__"):
        array = _on_this_machine(values, name)
    elif hasattr(values, "to_numpy"):
        array = values.to_numpy(zero_copy_only=False)
    else:
        array = _array_of_list(_gone_through(values, name))
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise LabelError(
            f"{name} must be one column; found an array of shape {array.shape}. "
            f"Probabilities of several classes go to y_proba"
        )
    return array


def kept_once(values: Any, name: str) -> Any:
    """A column that can be gone through twice.

    >>> kept_once(iter([0, 1]), "y_true")
    [0, 1]
    """
    sized = values is None or hasattr(values, "__len__")
    return values if sized else _gone_through(values, name)


def _gone_through(values: Any, name: str) -> list[Any]:
    try:
        return list(values)
    except TypeError as error:
        raise LabelError(f"{name} must be a column; found {given_text(values)}") from error


def must_have_order(name: str, values: Any) -> None:
    """Refuse a set: which of its values is which row's would change from run to run.

    >>> must_have_order("y_true", {"attack", "normal"})
    Traceback (most recent call last):
    assay.errors.InputError: y_true is a set, whose values have no order: give a list
    """
    if isinstance(values, set | frozenset):
        raise InputError(f"{name} is a set, whose values have no order: give a list")


def _is_dataframe_column(values: Any) -> bool:
    """Whether narwhals reads it, told without importing any dataframe library."""
    library = type(values).__module__.partition(".")[0]
    if library == "pyarrow":
        return type(values).__name__ == "ChunkedArray"
    return library in {"pandas", "polars", "modin", "cudf"} and type(values).__name__ == "Series"


def columns_of(frame: Any) -> dict[Any, Array]:
    """The columns of a dataframe by their names."""
    import narwhals as nw

    try:
        wrapped = nw.from_native(frame, eager_only=True)
        return {column.name: column.to_numpy() for column in wrapped.iter_columns()}
    except (TypeError, ValueError, nw.exceptions.NarwhalsError) as error:
        kind = type(frame).__name__
        raise InputError(f"a {kind} can't be read as columns of a dataframe: {error}") from error


def native(text: str, kind: str) -> Any:
    """A label written as text, as a value of the kind that the data are of.

    >>> native("+1", NUMBER), native("-1", NUMBER), native("007", "text")
    (1, -1, '007')
    """
    if kind == NUMBER and text.lstrip("+-").isdecimal():
        with contextlib.suppress(ValueError):  # such as +-1
            return int(text)
    if kind == BOOLEAN and text.casefold() in ("true", "false", "1", "0"):
        return text.casefold() in ("true", "1")
    return text


def without_gradients(values: Any) -> Any:
    """A tensor that NumPy can read, where it is one: of numbers alone, of a type that it has."""
    if hasattr(values, "detach"):
        values = values.detach()
    return values.float() if str(getattr(values, "dtype", "")) == "torch.bfloat16" else values


def _on_this_machine(values: Any, name: str) -> Array:
    try:
        return np.asarray(without_gradients(values))
    except TypeError as refused:
        raise InputError(
            f"{name} can't be read on this machine ({refused}). Move it from its device first, or "
            f"give all columns as arrays of one library on that device"
        ) from refused


def _array_of_list(values: Sequence[Any]) -> Array:
    kinds = {type(value) for value in values}
    plain = len(kinds) == 1 or kinds <= {int, float}
    if kinds == {str} and any(value.endswith("\0") for value in values):
        # NumPy's text drops what follows the last character that is not NUL.
        plain = False
    if plain and kinds <= {int, float, bool, str, np.str_, np.bool_, np.int64, np.float64}:
        return np.array(values)
    array = np.empty(len(values), object)
    array[:] = values
    return array


def label_text(value: Any) -> str:
    """A label as text: integers without a point, booleans as true and false.

    >>> label_text(1.0), label_text(True), label_text("007")
    ('1', 'true', '007')
    """
    return _text_and_kind(value)[0]


def label_kind(value: Any) -> str:
    """What kind of value a label is."""
    return _text_and_kind(value)[1]


def _text_and_kind(value: Any) -> tuple[str, str]:
    if isinstance(value, bool | np.bool_):
        return ("true" if value else "false"), BOOLEAN
    if isinstance(value, str):
        return str(value), TEXT
    if isinstance(value, int | np.integer):
        try:
            return str(int(value)), NUMBER
        except ValueError as error:
            raise LabelError(
                f"a label is written out, and a whole number has at most 4,300 digits then; found "
                f"{given_text(value)}"
            ) from error
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value)), NUMBER
    raise LabelError(
        f"a label must be text, an integer or a boolean; found {given_text(value)} of type "
        f"{type(value).__name__}"
    )


def labels_of(values: Any, name: str) -> Labels:
    """Code a column of labels; refuses missing ones with their row. Coded ones stay as they are."""
    if isinstance(values, Labels):
        return values.used()
    array = array_of(values, name)
    if array.dtype.kind == "b":
        return Labels(array.view(np.uint8), ("false", "true"), BOOLEAN).used()
    if array.dtype.kind in "iu":
        return _integer_labels(array)
    if array.dtype.kind == "f":
        return _float_labels(array, name)
    if array.dtype.kind == "S":
        array = decoded(array, name)
    if array.dtype.kind in "mM":
        raise LabelError(f"{name} must hold labels; found times ({array.dtype})")
    if array.dtype.kind == "U":
        empty = np.flatnonzero(array == "")
        if len(empty):
            raise _missing(name, int(empty[0]), len(empty), len(array))
        distinct, codes = np.unique(array, return_inverse=True)
        return Labels(_narrow(codes, len(distinct)), tuple(str(v) for v in distinct), TEXT)
    return _object_labels(array, name)


def decoded(array: Array, name: str) -> Array:
    """Bytes as text."""
    try:
        return np.char.decode(array, "utf-8")
    except UnicodeDecodeError as error:
        raise LabelError(f"{name} holds bytes that are no UTF-8 text: {error}") from error


def _integer_labels(array: Array) -> Labels:
    if not len(array):
        return Labels(np.empty(0, np.uint8), (), NUMBER)
    low, high = int(array.min()), int(array.max())
    if high - low < _SMALL_RANGE:
        size = high - low + 1
        codes = np.empty(len(array), np.uint8 if size <= 256 else np.uint16)
        for start in range(0, len(array), BLOCK):
            rows = slice(start, start + BLOCK)
            np.subtract(array[rows], low, out=codes[rows], casting="unsafe")
        names = tuple(str(low + i) for i in range(size))
        return Labels(codes, names, NUMBER).used()
    distinct, codes = np.unique(array, return_inverse=True)
    return Labels(_narrow(codes, len(distinct)), tuple(str(int(v)) for v in distinct), NUMBER)


def _float_labels(array: Array, name: str) -> Labels:
    missing = np.flatnonzero(np.isnan(array))
    if len(missing):
        raise _missing(name, int(missing[0]), len(missing), len(array))
    if (array != np.floor(array)).any() or np.isinf(array).any():
        offender = float(array[np.flatnonzero((array != np.floor(array)) | np.isinf(array))[0]])
        raise LabelError(
            f"{name} must hold labels - text, integers or booleans; found the number {offender!r}. "
            f"If these are scores, give them as y_score"
        )
    if len(array) and float(np.abs(array).max()) >= 2.0**53:
        raise LabelError(f"{name} holds numbers too large to be labels, such as {array.max():g}")
    return _integer_labels(array.astype(np.int64))


def _object_labels(array: Array, name: str) -> Labels:
    table: dict[Any, int] = {}
    codes = np.empty(len(array), np.int64)
    kinds: set[str] = set()
    for row, value in enumerate(array.tolist()):
        key = (type(value), value) if value.__hash__ is not None else None
        code = table.get(key)
        if code is None:
            if is_missing(value):
                missing = sum(is_missing(v) for v in array.tolist())
                raise _missing(name, row, missing, len(array))
            kinds.add(label_kind(value))
            code = table[key] = len(table)
        codes[row] = code
    if len(kinds) > 1:
        shown = ", ".join(repr(key[1]) for key in list(table)[:6])
        raise LabelError(
            f"{name} mixes {' and '.join(sorted(kinds))}: {shown}. Labels must be of one kind"
        )
    kind = kinds.pop() if kinds else TEXT
    texts = [label_text(key[1]) for key in table]
    distinct = sorted(set(texts), key=lambda t: int(t) if kind == NUMBER else t)
    position = {text: i for i, text in enumerate(distinct)}
    renumber = np.array([position[text] for text in texts], np.int64)
    return Labels(_narrow(renumber[codes], len(distinct)), tuple(distinct), kind)


def is_missing(value: Any) -> bool:
    """None, nan, and what dataframes put where there is nothing."""
    if isinstance(value, float | np.floating):
        return bool(np.isnan(value))
    if isinstance(value, str):
        return not value
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def _missing(name: str, row: int, count: int, rows: int) -> LabelError:
    return LabelError(
        f"{name} is missing in {count} of {rows} rows; the first is {row_at(row)}. "
        f"Remove those rows or label them"
    )


def _narrow(codes: Array, size: int) -> Array:
    return codes.astype(np.min_scalar_type(max(size - 1, 0)), copy=False)


def common_labels(y_true: Any, decisions: Mapping[str, Any]) -> list[Any]:
    """Every label that the truth or any model holds, as values of the kind that the truth is of."""
    truth = labels_of(y_true, "y_true")
    names = dict.fromkeys(truth.names)
    for name, column in decisions.items():
        labels = labels_of(column, name)
        if labels.kind == truth.kind:
            names |= dict.fromkeys(labels.names)
    return [native(name, truth.kind) for name in names]


def recode(column: Labels, position: Mapping[str, int]) -> Array:
    """The codes of a column as positions in another list of labels."""
    table = np.array([position[name] for name in column.names], np.int64)
    if np.array_equal(table, np.arange(len(table))):
        return column.codes
    return _narrow(table, len(set(position.values())))[column.codes]


def names_of(values: Any, name: str) -> NameColumn:
    """Any column as codes and text, for slices; missing values are a value."""
    if isinstance(values, NameColumn):
        return values
    array = array_of(values, name)
    if array.dtype.kind == "S":
        array = decoded(array, name)
    if array.dtype.kind in "biu":
        column = labels_of(array, name)
        return NameColumn(column.codes.astype(np.int64), column.names)
    texts = np.array([_any_text(value) for value in array.tolist()], dtype=object)
    table = {text: i for i, text in enumerate(sorted(set(texts.tolist())))}
    return NameColumn(np.array([table[text] for text in texts.tolist()], np.int64), tuple(table))


def _any_text(value: Any) -> str:
    if is_missing(value):
        return MISSING
    try:
        return label_text(value)
    except LabelError:
        if isinstance(value, int):
            raise
        return str(value)


def scores_of(values: Any, name: str) -> Array:
    """A column of scores as float32 or float64; whether they are finite is checked when counted."""
    array = array_of(values, name)
    if array.dtype.kind == "f":
        # float16 and foreign byte orders become what tallies hold; float32 stays narrow.
        wide = np.float32 if array.dtype.itemsize <= 4 else np.float64
        return array.astype(wide, copy=False)
    if array.dtype.kind in "biu":
        return array.astype(np.float64)
    if array.dtype.kind in "OSU":
        values = (decoded(array, name) if array.dtype.kind == "S" else array).tolist()
        numbers = numbers_among(values)
        for row in np.flatnonzero(np.isnan(numbers)).tolist():
            if isinstance(values[row], str) or not hasattr(values[row], "__float__"):
                raise _no_score(values[row], row, name)
        return numbers
    raise ScoreError(f"{name} must hold numbers; found {array.dtype}, such as {array[:1].tolist()}")


def _no_score(value: Any, row: int, name: str) -> ScoreError:
    if is_missing(value):
        return ScoreError(f"{name} is missing in {row_at(row)}. Remove the row or give it a score")
    return ScoreError(f"{name} must hold numbers; found {value!r} in {row_at(row)}")


def polars_column(name: str, values: Any) -> pl.Series:
    """A column of pandas, or whatever else a column may be, under a name.

    What is no number in pandas' floats stays what it is there.
    """
    import polars as pl

    must_have_order(name, values)
    if isinstance(values, np.ma.MaskedArray):
        values = values.tolist()
    dtype = getattr(values, "dtype", None)
    of_arrow = type(values).__module__.startswith("pyarrow")
    must_be_readable(name, values.type if of_arrow else getattr(dtype, "pyarrow_dtype", None))
    if isinstance(dtype, np.dtype) and dtype.kind in "biuf" and dtype.isnative:
        wide = np.float32 if dtype == np.float16 else dtype
        return pl.Series(name, np.asarray(values).astype(wide, copy=False))
    from assay.v02.sources.times import moments_of, seconds_column  # which read columns by this module

    if (seconds := seconds_column(name, values)) is not None:
        return seconds
    if type(values).__module__.startswith("pandas"):
        return _of_pandas(name, values)
    if isinstance(values, np.ndarray) and values.dtype.kind == "M" and values.ndim == 1:
        return moments_of(values, name)
    try:
        return pl.Series(name, values)
    except (TypeError, OverflowError, pl.exceptions.ComputeError):
        # Values of several kinds: whoever counts says what is wrong with them.
        return pl.Series(name, list(values), dtype=pl.Object)


def polars_frame(columns: Mapping[str, Any]) -> pl.DataFrame:
    """The columns that are there as a frame; they have to be as long as each other."""
    import polars as pl

    given = {name: values for name, values in columns.items() if values is not None}
    for name, values in given.items():
        if not hasattr(values, "__len__"):
            raise InputError(f"{name} is a column, a value a row; found {given_text(values)}")
    sizes = {name: len(values) for name, values in given.items()}
    if len(set(sizes.values())) > 1:
        lengths = ", ".join(f"{name} has {size:,}" for name, size in sizes.items())
        raise InputError(f"columns must be as long as each other: {lengths}")
    return pl.DataFrame([polars_column(name, values) for name, values in given.items()])


# Types of Arrow that polars does not have, and what makes others of them.
_ARROW_ONLY = {
    "decimal256": "cast it to float64 or to decimal128",
    ", -": "cast it to float64",  # decimals of a negative scale
    "run_end_encoded": "decode it with pyarrow.compute.run_end_decode",
    "month_day_nano_interval": "",
    "_union<": "",
    "list_view<": "",
}


def must_be_readable(name: str, arrow_type: Any) -> None:
    """Refuse a column of Arrow that polars has no type for, with the cast that helps."""
    shown = str(arrow_type)
    advice = next((cast for part, cast in _ARROW_ONLY.items() if part in shown), None)
    if advice is not None:
        raise InputError(
            f"column {name!r} is of Arrow's type {shown}, which is not read: "
            f"{advice or 'make it text, numbers or booleans'} first"
        )


def _of_pandas(name: str, values: Any) -> pl.Series:
    import polars as pl

    try:
        return pl.Series(name, pl.from_pandas(values, nan_to_null=False))
    except ModuleNotFoundError:
        # pandas' own types are read by way of pyarrow, where that is installed.
        return pl.Series(name, values.astype(object).where(values.notna(), None).tolist())
    except (TypeError, ValueError, OverflowError, NotImplementedError):
        # What Arrow has no type for, such as values of several kinds, is read as a list is.
        return polars_column(name, values.tolist())


def must_be_as_long(rows: int, columns: Mapping[str, Any]) -> None:
    """Refuse columns of unlike length."""
    for name, column in columns.items():
        if column is not None and len(column) != rows:
            raise LengthMismatch(
                f"{name} has {len(column)} {plural(len(column), 'row', 'rows')} and y_true has "
                f"{rows}: they must describe the same rows"
            )
