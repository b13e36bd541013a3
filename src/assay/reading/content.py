"""What a column holds, by its first rows: labels, scores, severities."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from assay.reading import numbers, words
from assay.text import grouped

if TYPE_CHECKING:
    import polars as pl

MOST_CLASSES = 100
# Whole numbers of more values than these are scores, not labels.
FEW = 10


@dataclass(frozen=True)
class Reading:
    """What was given besides the columns, and who asks: for messages that can be typed again."""

    positive: str | None = None
    negative: str | None = None
    alarm: Sequence[str] = ()
    preset: str | None = None
    decimal: str | None = None
    order: str | None = None
    time_format: str | None = None
    source: str = "rows"
    command: str = ""

    def typed(self, options: Mapping[str, str]) -> str:
        """The call with these options, as a command or in Python.

        >>> Reading(source="a.csv", command="assay evaluate a.csv").typed({"label": "is it"})
        "assay evaluate a.csv --label 'is it'"
        """
        if self.command:
            pairs = (f"--{name} {shlex.quote(value)}" for name, value in options.items())
            return " ".join((self.command, *pairs))
        given = (f"{name}={value!r}" for name, value in options.items())
        return f"assay.rows({', '.join((repr(self.source), *given))})"


@dataclass
class Column:
    """A column of the sample, looked at as far as is asked."""

    name: str
    values: pl.Series
    reading: Reading
    commas_elsewhere: Callable[[], bool]

    @cached_property
    def texts(self) -> list[str]:
        """The distinct values as labels are written."""
        import polars as pl

        kind = self.values.dtype
        if kind.is_nested() or kind in (pl.Binary, pl.Object):
            return []
        values = self.values.to_frame().select(
            words.label_column(self.name, self.values.dtype, ()).alias(self.name)
        )
        distinct = values.to_series().cast(pl.String).drop_nulls().unique(maintain_order=True)
        return [text for text in distinct.to_list() if text.strip()]

    @cached_property
    def labels(self) -> list[str]:
        """The distinct labels of the sample, if these are labels."""
        expression = words.label_column(self.name, self.values.dtype, self.texts)
        read = self.values.to_frame().select(expression.alias(self.name)).to_series()
        return [text for text in read.drop_nulls().unique(maintain_order=True) if text.strip()]

    @cached_property
    def style(self) -> numbers.NumberStyle:
        """How its numbers are written."""
        import polars as pl

        if self.values.dtype != pl.String:
            return numbers.NumberStyle()
        plain = numbers.NumberStyle()
        if (
            self.reading.decimal is None
            and not self.commas_elsewhere()
            and not needs_style(self.values)
        ):
            return plain
        return numbers.number_style(
            self.texts, self.reading.decimal, commas_elsewhere=self.commas_elsewhere()
        )

    @cached_property
    def numbers(self) -> pl.Series:
        """Its values as numbers, without those that are none."""
        import polars as pl

        kind = self.values.dtype
        if not (kind == pl.String or kind.is_numeric()):
            return pl.Series(self.name, [], pl.Float64)
        return numbers.read_numbers(self.values, self.style).drop_nulls().drop_nans()

    @cached_property
    def is_number(self) -> bool:
        """Whether nearly all values are numbers."""
        import polars as pl

        filled = len(self.values.drop_nulls())
        if self.values.dtype == pl.String:
            filled = int((self.values.str.strip_chars() != "").sum())
        return bool(filled) and len(self.numbers) >= 0.9 * filled

    @cached_property
    def is_score(self) -> bool:
        """Whether it holds numbers of many values, more than labels would have."""
        if not self.is_number:
            return False
        return self.numbers.n_unique() > (2 if self.has_fractions else FEW)

    @cached_property
    def has_fractions(self) -> bool:
        """Whether some of its numbers are not whole."""
        return bool((self.numbers != self.numbers.round()).any())

    @cached_property
    def is_points(self) -> bool:
        """Whether its numbers lie from 0 to 100."""
        return bool(self.numbers.is_between(0, 100).all())

    @cached_property
    def is_category(self) -> bool:
        """Whether it can hold labels: few values, and no fractions."""
        import polars as pl

        kind = self.values.dtype
        if not (kind in (pl.String, pl.Boolean, pl.Categorical, pl.Enum) or kind.is_numeric()):
            return False
        if self.is_number and self.has_fractions:
            return False
        return 0 < len(self.texts) <= MOST_CLASSES

    @cached_property
    def repeats(self) -> bool:
        """Whether its values come back, as those of labels do."""
        return len(self.texts) <= max(2, len(self.values) // 2)

    @cached_property
    def is_count(self) -> bool:
        """Whether it numbers the rows."""
        steps = self.numbers.diff().drop_nulls()
        return bool(len(steps)) and bool((steps == 1).all())

    @property
    def ranks(self) -> Mapping[str, int] | None:
        """The ranks of its words, if they are severities or in the order that was given."""
        ranks = (
            words.SEVERITY if self.reading.order is None else words.parse_order(self.reading.order)
        )
        return ranks if not self.is_number and words.is_severity(self.texts, ranks) else None


def needs_style(values: pl.Series) -> bool:
    """Whether some texts are numbers only with a comma or with other signs."""
    return bool(values.str.contains(r"\d?[,\u00a0\u202f'\u2019 %]\d*").any())


def value_range(values: pl.Series) -> tuple[float, float]:
    """The lowest and the highest of some numbers."""
    low: Any = values.min()
    high: Any = values.max()
    return float(low), float(high)


def scale_text(column: Column) -> str:
    """The range that scores seem to have."""
    if not len(column.numbers):
        return ""
    low, high = value_range(column.numbers)
    if column.style.percent:
        return "percent"
    if low >= 0 and high <= 1:
        return "0 to 1"
    if low >= 0 and 50 <= high <= 100:
        return "0 to 100"
    return " to ".join(grouped(end, 3 if abs(end) < 1000 else 6) for end in (low, high))
