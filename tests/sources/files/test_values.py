"""Python values as columns."""

import datetime as dt
from decimal import Decimal
from typing import Any

import polars as pl
import pytest

from assay.sources.files.builders import distinct_of, series_of

DAY = dt.date(2024, 3, 1)
NAIVE = dt.datetime(2024, 3, 1, 12)  # noqa: DTZ001
AWARE = dt.datetime(2024, 3, 1, 12, tzinfo=dt.timezone(dt.timedelta(hours=2)))


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ([], pl.Null),
        ([None, None], pl.Null),
        ([True, None], pl.Boolean),
        ([1, -2, None], pl.Int64),
        ([2**63 - 1, -(2**63) + 1], pl.Int64),
        ([2**63], pl.Object),
        ([1.5, None], pl.Float64),
        ([1, 2.5], pl.Float64),
        ([2**53, 0.5], pl.Object),
        (["a", "", None], pl.String),
        ([Decimal("2.0"), None], pl.Int64),
        ([Decimal("2.5"), Decimal(1)], pl.Float64),
        ([Decimal("9007199254740993.5")], pl.Object),
        ([DAY, None], pl.Date),
        ([NAIVE, None], pl.Datetime("us")),
        ([AWARE, None], pl.Datetime("us", "UTC")),
        ([AWARE, NAIVE], pl.Object),
        ([1, "a"], pl.Object),
        ([True, 1], pl.Object),
        ([[1], {"a": 1}], pl.Object),
    ],
)
def test_a_column_has_the_type_that_all_its_values_have(values: list[Any], dtype: Any) -> None:
    column = series_of("x", values)
    assert column.dtype == dtype
    assert column.name == "x"
    if dtype not in (pl.Datetime("us", "UTC"), pl.Null):
        assert column.to_list() == values


def test_moments_with_a_zone_are_kept_in_utc() -> None:
    assert series_of("x", [AWARE]).to_list() == [AWARE.astimezone(dt.UTC)]


@pytest.mark.parametrize(
    "dtype",
    [pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64, pl.Int128],
)
def test_whole_numbers_of_any_width_are_told_apart(dtype: Any) -> None:
    low, high = (pl.select(getattr(dtype, end)()).item() for end in ("min", "max"))
    for numbers in ([low, high, low], [high, high - 1], [low + 1, low], [low, 0, high], [7]):
        distinct, codes = distinct_of(pl.Series(numbers, dtype=dtype))
        assert [distinct[code] for code in codes] == numbers
        assert len(distinct) == len(set(numbers))


@pytest.mark.parametrize(
    "values",
    [
        [True, True],
        [False],
        [False, True, False],
        [None, True],
        [1, None, 70_000],
        ["b", "a", None, "b"],
        [0.5, None, 0.25],
        [None, None],
        [1, "1", True, None, [1], [1]],
    ],
)
def test_distinct_values_are_those_that_occur(values: list[Any]) -> None:
    distinct, codes = distinct_of(series_of("x", values))
    # A missing float is nan, which differs from everything.
    numbers = [None if str(distinct[code]) == "nan" else distinct[code] for code in codes]
    assert numbers == values
    assert sorted(set(codes.tolist())) == list(range(len(distinct)))
