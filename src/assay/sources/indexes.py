"""Columns that carry an index, as those of pandas do: which rows belong together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from assay.errors import InputError

_LIBRARIES = ("pandas", "modin", "cudf")


def must_share_index(columns: Mapping[str, Any]) -> None:
    """Refuse columns whose indexes differ; a mapping of columns is looked into.

    Rows are matched by their order. Where an index tells another order, or names other rows, one
    of the two is wrong, and nothing tells which.
    """
    first = None
    for name, index in _indexes(columns):
        if first is None:
            first = name, index
        elif len(index) == len(first[1]) and not index.equals(first[1]):
            raise _unlike(*first, name, index)


def _indexes(columns: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, column in columns.items():
        if isinstance(column, Mapping):
            inner = {f"{name}[{key!r}]": each for key, each in column.items()}
            yield from _indexes(inner)
        elif type(column).__module__.partition(".")[0] in _LIBRARIES and hasattr(column, "index"):
            yield name, column.index


def _unlike(one: str, here: Any, other: str, there: Any) -> InputError:
    pairs = enumerate(zip(here, there, strict=True))
    row = next((i for i, (a, b) in pairs if a != b), 0)
    first, second = (index[row : row + 1].tolist()[0] for index in (here, there))
    differ = f"row {row} is {first!r} in {one} and {second!r} in {other}"
    if here.is_unique and there.is_unique and not len(here.difference(there)):
        differ = f"they name the same rows in another order, {differ}"
    return InputError(
        f"the indexes of {one} and {other} differ: {differ}. Which rows belong together is not "
        f"sure: give both with one index, as columns of one frame have it, or, if the rows are in "
        f"the same order, drop it with .reset_index(drop=True)"
    )
