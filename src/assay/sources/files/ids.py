"""Names of rows, by which the rows of several files are matched: text, as it was written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from assay.errors import InputError, LabelError
from assay.sources.columns import label_text
from assay.sources.files.checks import Problem, plain, value_shown, whole_column

if TYPE_CHECKING:
    import polars as pl

_EXACT = 2.0**53


def check_ids(values: pl.Series) -> tuple[pl.Series, list[Problem]]:
    """Ids as text: 007 stays 007, a whole number has no point; missing ones are wrong."""
    import polars as pl

    found = plain(values)
    kind = found.dtype
    if kind.is_nested():
        return pl.Series(values.name, [""] * len(values)), [
            whole_column(values, "an id a row", InputError)
        ]
    bad = np.zeros(len(found), bool)
    if kind.is_float():
        numbers = found.cast(pl.Float64).to_numpy()
        bad = np.isinf(numbers) | (np.abs(numbers) >= _EXACT) | (np.floor(numbers) < numbers)
        whole = np.where(bad | np.isnan(numbers), 0, numbers).astype(np.int64)
        texts = pl.Series(values.name, whole).cast(pl.String)
        missing = np.isnan(numbers)
    else:
        texts = _objects(found) if kind == pl.Object else found.cast(pl.String)
        missing = (texts.is_null() | (texts == "")).fill_null(value=True).to_numpy()
    name = values.name

    def reason(i: int) -> str:
        return f"column {name!r}: found {value_shown(found[i])}, expected an id"

    problems = [Problem(missing, f"column {name!r}: the id is missing")] if missing.any() else []
    return texts, problems + ([Problem(bad, reason)] if bad.any() else [])


def _objects(values: pl.Series) -> pl.Series:
    import polars as pl

    return pl.Series(values.name, [_text(value) for value in values.to_list()], dtype=pl.String)


def _text(value: object) -> str | None:
    try:
        return None if value is None else label_text(value)
    except LabelError:
        return str(value)


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
