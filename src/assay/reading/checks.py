"""What every row must hold: for each role of a column, how values are read and what is refused.

A check is a function of a column as it was written and the values that were made of it. It uses
only what columns of polars and expressions of narwhals have in common, so that one table serves
files, frames and engines. The first check that a row fails is the reason why it is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.errors import CountError, InputError, LabelError, ScoreError
from assay.reading.numbers import NumberStyle, read_numbers

if TYPE_CHECKING:
    import polars as pl

_FEW = 1000
_EXACT = 2**53
MOST = 2**62
# Weights are squared, so they have two ends.
_LEAST_WEIGHT, _MOST_WEIGHT = 1e-150, 1e150
SUM_TOLERANCE = 1e-6


@dataclass(frozen=True)
class Check:
    """What is wrong with a row, as in "587 rows have no label", and how to tell."""

    reason: str
    fails: Callable[[Any, Any], Any]  # (as written, value): whether a row fails
    of_nulls: bool = False  # whether only rows without a value can fail


def _missing(written: Any, value: Any) -> Any:  # noqa: ARG001 - all checks take both
    return written.is_null()


def _unread(written: Any, value: Any) -> Any:  # noqa: ARG001
    return value.is_null()


def _not_finite(written: Any, value: Any) -> Any:  # noqa: ARG001
    return value.is_null() | ~value.is_finite()


def _no_count(written: Any, value: Any) -> Any:  # noqa: ARG001
    return value.is_null() | (value < 0) | (value >= MOST)


def _no_probability(written: Any, value: Any) -> Any:  # noqa: ARG001
    return (value < 0) | (value > 1)


def _no_weight(written: Any, value: Any) -> Any:  # noqa: ARG001
    return (value < 0) | (value > _MOST_WEIGHT) | ((value > 0) & (value < _LEAST_WEIGHT))


MISSING = Check("have no {role}", _missing, of_nulls=True)
_TEXT = Check("have a {role} that can't be used", _unread, of_nulls=True)
_FINITE = Check("have a {role} that is not a finite number", _not_finite)

TEXT, NUMBER, COUNT, TIME = "text", "number", "count", "time"


@dataclass(frozen=True)
class Role:
    """A role that a column can have: how its values are read, its checks, the error for them."""

    kind: str
    checks: tuple[Check, ...] = ()
    error: type[InputError] = InputError


ROLES: dict[str, Role] = {
    "label": Role(TEXT, (MISSING, _TEXT), LabelError),
    "decision": Role(TEXT, (MISSING, _TEXT), LabelError),
    "score": Role(NUMBER, (MISSING, _FINITE), ScoreError),
    "probability": Role(
        NUMBER,
        (MISSING, _FINITE, Check("have a {role} outside [0, 1]", _no_probability)),
        ScoreError,
    ),
    "count": Role(
        COUNT,
        (MISSING, Check("have a count that is not a whole number from 0 to 2^62", _no_count)),
        CountError,
    ),
    "weight": Role(
        NUMBER,
        (
            MISSING,
            _FINITE,
            Check("have a weight that is neither 0 nor from 1e-150 to 1e+150", _no_weight),
        ),
        CountError,
    ),
    "stratum": Role(TEXT, (MISSING, _TEXT)),
    "cluster": Role(TEXT, (MISSING, _TEXT)),
    "id": Role(TEXT, (MISSING, _TEXT)),
    "time": Role(TIME, (MISSING, Check("have a time that can't be read", _unread, of_nulls=True))),
    "family": Role(TEXT),
    "slice": Role(TEXT),
    "incident": Role(TEXT),
}
# How the argument of a role is called, where it is not called like the role.
ARGUMENTS = {"stratum": "strata", "slice": "slices", "probability": "probabilities"}
SUM = f"have probabilities whose sum is not 1 within {SUM_TOLERANCE:g}"


def role_of(canonical: str) -> Role:
    """The role of a canonical column: that of ``slice:site`` is a slice."""
    return ROLES[canonical.partition(":")[0]]


def titled(check: Check, canonical: str) -> str:
    """The reason of a check for one column."""
    role, _, name = canonical.partition(":")
    return check.reason.format(role=f"{role} of {name!r}" if name else role)


# -- reading values --------------------------------------------------------------------------------


def value_of(values: pl.Series, kind: str) -> pl.Series:
    """The values that a column of a role holds; null where there is none."""
    return {TEXT: texts, NUMBER: numbers, COUNT: counts, TIME: moments}[kind](values)


def as_written(values: pl.Series, kind: str) -> pl.Series:
    """The column with null for all that means a missing value: empty text, and nan for a text."""
    import polars as pl

    if values.dtype == pl.String:
        return values.set(values == "", None)
    if values.dtype.is_float() and kind == TEXT:
        return values.fill_nan(None)
    return values


def texts(values: pl.Series) -> pl.Series:
    """Labels and names as text: whole numbers have no point, booleans are true and false.

    >>> import polars as pl
    >>> texts(pl.Series([1.0, 0.0])).to_list(), texts(pl.Series(["007", ""])).to_list()
    (['1', '0'], ['007', None])
    """
    import polars as pl

    dtype = values.dtype
    if isinstance(dtype, pl.Decimal):
        values, dtype = values.cast(pl.Float64), pl.Float64()
    if dtype.is_float():
        whole = (values == values.floor()) & (values.abs() < _EXACT)
        values = values.cast(pl.Int64, strict=False).set(~whole, None)
        dtype = values.dtype
    if dtype == pl.Boolean:
        names = pl.Series(["false", "true"], dtype=pl.Categorical)
        return names.gather(values.cast(pl.UInt32)).alias(values.name)
    if dtype.is_integer():
        distinct = values.unique()
        if len(distinct) > _FEW:
            return values.cast(pl.String)
        names = distinct.cast(pl.String)
        return values.replace_strict(distinct, names, return_dtype=pl.Categorical)
    if isinstance(dtype, pl.Enum | pl.Categorical):
        return values.cast(pl.Categorical)
    if dtype != pl.String:
        values = values.cast(pl.String)
    empty = values == ""
    return values.set(empty, None) if empty.any() else values


def numbers(values: pl.Series) -> pl.Series:
    """Numbers as floats, with one zero; text is read where it is a number or a percentage."""
    import polars as pl

    dtype = values.dtype
    if dtype == pl.String:
        values = read_numbers(values, NumberStyle())
    elif not dtype.is_float():
        values = values.cast(pl.Float64, strict=False)
    elif dtype not in (pl.Float32, pl.Float64):
        values = values.cast(pl.Float32)
    zero = values == 0
    return values.set(zero, 0.0) if zero.any() else values  # of which some may be -0.0


def counts(values: pl.Series) -> pl.Series:
    """Whole numbers; null where a value is none."""
    import polars as pl

    if values.dtype == pl.String:
        bare = values.str.strip_chars()
        whole = bare.cast(pl.Int64, strict=False)
        if whole.null_count() == values.null_count():
            return whole
        return whole.zip_with(whole.is_not_null(), counts(bare.cast(pl.Float64, strict=False)))
    if values.dtype.is_integer() or values.dtype == pl.Boolean:
        return values.cast(pl.Int64, strict=False)
    values = values.cast(pl.Float64, strict=False)
    whole = (values == values.floor()) & (values.abs() < _EXACT)
    return values.cast(pl.Int64, strict=False).set(~whole, None)


def moments(values: pl.Series) -> pl.Series:
    """Times in UTC; those without a zone are taken as UTC."""
    import polars as pl

    zoned = isinstance(values.dtype, pl.Datetime) and values.dtype.time_zone is not None
    if zoned:
        return values.dt.convert_time_zone("UTC").cast(pl.Datetime("us", "UTC"))
    return values.cast(pl.Datetime("us"), strict=False).dt.replace_time_zone("UTC")


def check_type(canonical: str, column: str, dtype: pl.DataType, name: str) -> None:
    """Refuse a column whose type can't be of its role."""
    import polars as pl

    role = role_of(canonical)
    wrong = dtype.is_nested() or dtype in (pl.Binary, pl.Object)
    wrong |= role.kind in (NUMBER, COUNT) and dtype.is_temporal()
    wrong |= role.kind == TIME and (dtype.is_float() or dtype == pl.Boolean)
    if wrong:
        expected = {TEXT: "text, whole numbers or booleans", TIME: "times"}
        raise role.error(
            f"{name}: column {column!r} is given as {canonical.partition(':')[0]}, and holds "
            f"{dtype}; expected {expected.get(role.kind, 'numbers')}"
        )


# -- one scan --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Failures:
    """The rows of a batch that fail a check: their positions, the reason and the first value."""

    reason: str
    rows: pl.Series
    found: str | None
    error: type[InputError]


def check(
    frame: pl.DataFrame,
    columns: Mapping[str, str],
    expressions: Mapping[str, pl.Expr],
    optional: Sequence[str] = (),
    *,
    texts_only: bool = True,
) -> tuple[pl.DataFrame, list[Failures]]:
    """The good rows of a batch in canonical columns, and those that fail, by their first reason.

    ``columns`` maps each canonical column to the batch's own, and ``expressions`` read those whose
    text is written in a way of its own; ``optional`` columns may have no value. Without
    ``texts_only``, labels that are whole numbers or booleans stay so.
    """
    import polars as pl

    values = {}
    for canonical, column in columns.items():
        role, written = role_of(canonical), frame[column]
        if canonical in expressions and (written.dtype == pl.String or role.kind == TIME):
            read = frame.select(expressions[canonical]).to_series()
            # Whole numbers are exact as they are written; floats end at 2^53.
            written = counts(written).fill_null(counts(read)) if role.kind == COUNT else read
        plain = written.dtype == pl.Boolean or written.dtype.is_integer()
        if texts_only or role.kind != TEXT or not plain:
            written = value_of(written, role.kind)
        if canonical == "label" and written.dtype == pl.String:
            written = written.cast(pl.Categorical)
        values[canonical] = written.alias(canonical)
    good = pl.DataFrame(list(values.values()))
    failing: pl.Series | None = None
    for canonical, value in values.items():
        has_nulls = value.null_count() > 0
        for each in role_of(canonical).checks:
            # Whatever is missing has no value either: a batch without such rows is looked at once.
            if each is MISSING or (each.of_nulls and (canonical in optional or not has_nulls)):
                continue
            if each is _FINITE and not has_nulls and np.isfinite(value.to_numpy()).all():
                continue
            fails = each.fails(None, value)
            if fails.any():
                failing = fails if failing is None else failing | fails
    off = check_sum(values)
    if off is not None and off.any():
        failing = off if failing is None else failing | off
    if failing is None:
        return good, []
    bad = failing.fill_null(value=True)
    rows = bad.arg_true()
    failures = _explain(
        frame[rows], columns, {k: v[rows] for k, v in values.items()}, rows, optional
    )
    return good.filter(~bad), failures


def check_sum(values: Mapping[str, Any]) -> Any:
    """Which rows' probabilities don't sum to 1; None where there are not several."""
    of_labels = [value for name, value in values.items() if name.startswith("probability:")]
    if len(of_labels) < 2:
        return None
    total = of_labels[0]
    for value in of_labels[1:]:
        total = total + value
    return (total - 1).abs() > SUM_TOLERANCE


def _explain(
    frame: pl.DataFrame,
    columns: Mapping[str, str],
    values: Mapping[str, pl.Series],
    rows: pl.Series,
    optional: Sequence[str],
) -> list[Failures]:
    """The reason of each row of a frame of bad ones: the first check that it fails."""
    import polars as pl

    left = pl.Series([True]).new_from_index(0, len(rows))
    failures = []
    for canonical, column in columns.items():
        role = role_of(canonical)
        written = as_written(frame[column], role.kind)
        for each in role.checks:
            if canonical in optional and each is MISSING:
                continue
            fails = each.fails(written, values[canonical]).fill_null(value=False) & left
            if canonical in optional:
                fails &= written.is_not_null()
            if fails.any():
                first = written.filter(fails)[0]
                found = None if each is MISSING else _shown(first)
                failures.append(
                    Failures(titled(each, canonical), rows.filter(fails), found, role.error)
                )
                left &= ~fails
    if left.any():
        failures.append(Failures(SUM, rows.filter(left), None, ScoreError))
    return failures


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:40] + "..."
