"""Rows that stay in their engine: the same checks, as expressions of narwhals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assay.errors import InputError
from assay.reading.checks import COUNT, NUMBER, SUM, TEXT, TIME, check_sum, role_of, titled
from assay.reading.source import Refused

_REASON = "assay_reason"


@dataclass(frozen=True)
class Engine:
    """A lazy frame of DuckDB, Spark or another engine that narwhals can group."""

    name: str
    frame: Any

    def schema(self) -> dict[str, Any]:
        """The columns and their types, in the words of polars as far as they are known."""
        return dict(self.frame.collect_schema())

    def good(
        self,
        columns: Mapping[str, str],
        optional: Sequence[str] = (),
        period: str | None = None,
    ) -> tuple[Any, Refused, int]:
        """The good rows in canonical columns, what is refused, and how many rows are good."""
        import narwhals as nw

        values, reason = self._expressions(columns, optional)
        frame = self.frame.select(
            *(value.alias(canonical) for canonical, value in values.items()),
            reason.alias(_REASON),
        )
        told = collected(frame.group_by(_REASON).agg(nw.len().alias("rows")))
        refused, used = Refused(), 0
        for why, size in sorted(
            told.select(_REASON, "rows").iter_rows(), key=lambda row: str(row[0])
        ):
            if why is None:
                used = int(size)
            else:
                refused.add(why, int(size))
        rows = frame.filter(nw.col(_REASON).is_null()).drop(_REASON)
        if period is not None:
            rows = rows.with_columns(nw.col("time").dt.to_string(period).alias("period"))
        return rows, refused, used

    def _expressions(
        self, columns: Mapping[str, str], optional: Sequence[str]
    ) -> tuple[dict[str, Any], Any]:
        """The value of each canonical column, and the first reason why a row is refused."""
        import narwhals as nw

        schema = self.schema()
        values: dict[str, Any] = {}
        failing: list[tuple[Any, str]] = []
        for canonical, column in columns.items():
            role = role_of(canonical)
            written, values[canonical] = self._column(canonical, column, schema[column])
            for each in role.checks:
                fails = each.fails(written, values[canonical])
                if canonical in optional:
                    fails = ~written.is_null() & fails
                failing.append((fails, titled(each, canonical)))
        off = check_sum(values)
        if off is not None:
            failing.append((off, SUM))
        reason = nw.lit(None, nw.String)
        for fails, why in reversed(failing):
            reason = nw.when(fails).then(nw.lit(why)).otherwise(reason)
        return values, reason

    def _column(self, canonical: str, column: str, dtype: Any) -> tuple[Any, Any]:
        """A column as it was written, with null for what is missing, and its values."""
        import narwhals as nw

        given, kind = nw.col(column), role_of(canonical).kind
        if kind in (NUMBER, COUNT) and not (dtype.is_numeric() or dtype == nw.Boolean):
            raise self._wrong_type(canonical, column, dtype, "a number")
        if kind == TIME and not dtype.is_temporal():
            raise self._wrong_type(canonical, column, dtype, "a time")
        if kind == TEXT and dtype == nw.String:
            given = nw.when(given != "").then(given)
        elif kind == TEXT and dtype.is_float():
            given = nw.when(~given.is_nan()).then(given)
            whole = given == given.cast(nw.Int64).cast(nw.Float64)
            return given, nw.when(whole).then(given.cast(nw.Int64))
        elif kind == NUMBER:
            return given, given.cast(nw.Float64)
        elif kind == COUNT and dtype.is_float():
            return given, nw.when(given == given.floor()).then(given.cast(nw.Int64))
        elif kind == COUNT:
            return given, given.cast(nw.Int64)
        return given, given

    def _wrong_type(self, canonical: str, column: str, dtype: Any, wanted: str) -> InputError:
        return role_of(canonical).error(
            f"{self.name}: column {column!r} holds {dtype}, and {canonical} must be {wanted}: cast "
            f"it in the query, since an engine stops at the first text that is none"
        )


def collected(frame: Any) -> Any:
    """A small result as a polars frame."""
    import narwhals as nw

    return nw.to_native(frame.collect("polars")) if isinstance(frame, nw.LazyFrame) else frame
