"""What a test of significance found, and what becomes of p where many tests are made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from assay.errors import MethodError
from assay.inference.estimate import Estimate
from assay.inference.fields import Recorded
from assay.sources import columns_of, must_share_index
from assay.sources.columns import array_of


@dataclass(frozen=True, repr=False)
class Significance(Recorded):
    """The result of a test: statistic, degrees of freedom, p, effect, and what lies behind it.

    ``table`` holds the counts or sums from which the statistic was computed; ``sentence`` reads.
    ``measure`` names what was compared where the test alone does not say it.
    """

    DERIVED: ClassVar[tuple[str, ...]] = ("a", "b")
    FIRST: ClassVar[tuple[str, ...]] = (
        *("test", "a", "b", "on", "measure", "statistic", "df", "p", "p_adjusted", "method"),
        *("effect", "table", "sentence"),
    )

    test: str
    statistic: float | None
    df: tuple[float, ...]
    p: float
    method: str
    sentence: str
    effect: Estimate | None = None
    table: Mapping[str, Any] = field(default_factory=dict)
    models: tuple[str, ...] = ()
    on: str = "all"
    p_adjusted: float | None = None
    measure: str | None = None

    def __str__(self) -> str:
        return self.sentence

    def __repr__(self) -> str:
        return f"{self.test}: {self.sentence}"

    def adjusted(self, p: float) -> Significance:
        """The same result with its p-value adjusted for how many tests were made."""
        return replace(self, p_adjusted=p)

    @property
    def a(self) -> str | None:
        """The first of two models."""
        return self.models[0] if len(self.models) == 2 else None

    @property
    def b(self) -> str | None:
        """The second of two models."""
        return self.models[1] if len(self.models) == 2 else None


def numbers_by_model(values: Any) -> tuple[Any, list[str] | None]:
    """A table of numbers, a column a model, and the names of its columns where it has any.

    Takes arrays, lists of rows, dataframes, and mappings from name to column.

    >>> numbers_by_model({"old": [0.8, 0.7], "new": [0.9, 0.8]})
    (array([[0.8, 0.9],
           [0.7, 0.8]]), ['old', 'new'])
    """
    if not isinstance(values, Mapping) and not hasattr(values, "columns"):
        return values, None
    columns = values if isinstance(values, Mapping) else columns_of(values)
    must_share_index({"values": columns})
    arrays = {str(name): array_of(column, repr(name)) for name, column in columns.items()}
    for name, array in arrays.items():
        if array.dtype.kind not in "biuf":
            raise MethodError(
                f"column {name!r} holds {array.dtype}, such as {array[:1].tolist()}, and a column "
                f"of numbers a model is needed: leave it out, or make it the index"
            )
        if len(array) != len(next(iter(arrays.values()))):
            raise MethodError(f"columns must be of one length; {name!r} has {len(array)} rows")
    return np.column_stack(list(arrays.values())) if arrays else np.empty((0, 0)), list(arrays)


def pair_names(a: Any, b: Any, names: Sequence[str] | None) -> tuple[str, str]:
    """The names of two models: as given, as their columns are called, or A and B."""
    if names is not None:
        first, second = checked_names(names, 2)
        return first, second
    called = [getattr(column, "name", None) for column in (a, b)]
    if all(isinstance(name, str) and name for name in called) and called[0] != called[1]:
        return str(called[0]), str(called[1])
    return "A", "B"


def checked_names(names: Sequence[str] | None, models: int) -> list[str]:
    """A name for each model, by default its number; refuses too few, too many or twice the same."""
    found = [str(i) for i in range(models)] if names is None else [str(name) for name in names]
    if len(found) != models or len(set(found)) != models:
        raise MethodError(f"{models} models need {models} names that differ; found {found}")
    return found


def p_text(p: float) -> str:
    """A p-value as it stands in a sentence.

    >>> p_text(0.03), p_text(1e-9)
    ('p = 0.03', 'p < 0.0001')
    """
    return "p < 0.0001" if p < 0.0001 else f"p = {p:.2g}"


# -- many tests ------------------------------------------------------------------------------------


def _shares(p: Sequence[float]) -> npt.NDArray[np.float64]:
    values = np.asarray(p, np.float64)
    if values.size and not ((values >= 0) & (values <= 1)).all():
        raise MethodError("p-values must lie between 0 and 1")
    return values


def holm(p: Sequence[float]) -> list[float]:
    """Holm's step-down adjustment: the chance of any false finding stays below the level.

    Reference: Holm 1979.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    values = _shares(p)
    order = np.argsort(values, kind="stable")
    steps = values[order] * np.arange(len(values), 0, -1)
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1)
    return [float(q) for q in adjusted]


def benjamini_hochberg(p: Sequence[float]) -> list[float]:
    """Benjamini and Hochberg's adjustment: the expected share of false findings stays below.

    Reference: Benjamini and Hochberg 1995.

    >>> benjamini_hochberg([0.01, 0.04, 0.03])
    [0.03, 0.04, 0.04]
    """
    values = _shares(p)
    order = np.argsort(values, kind="stable")[::-1]
    size = len(values)
    steps = values[order] * size / np.arange(size, 0, -1)
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum(np.minimum.accumulate(steps), 1)
    # p * n / n may round below p.
    return [float(q) for q in np.maximum(adjusted, values)]
