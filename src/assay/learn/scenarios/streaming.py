"""Blocks of a simulation, given out in the pieces that were asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from assay.errors import InputError

if TYPE_CHECKING:
    import polars as pl

ROWS = 20_000
SEED = 42
CHUNK = 50_000
LEVELS = {"easy": 0.2, "medium": 0.5, "hard": 0.8}
MEDIUM = "medium"
FIRST_DAY = "2026-03-02"  # a Monday


def difficulty_of(given: float | str) -> float:
    """A difficulty between 0 and 1, by its number or its name.

    >>> difficulty_of("hard"), difficulty_of(0.25)
    (0.8, 0.25)
    """
    if isinstance(given, str):
        if given not in LEVELS:
            raise InputError(f"difficulty={given!r} is not one of {', '.join(LEVELS)}")
        return LEVELS[given]
    if not 0 <= given <= 1:
        raise InputError(f"difficulty={given!r} is no number from 0 (easy) to 1 (hard)")
    return float(given)


def check_size(rows: int, seed: int, chunk: int) -> None:
    """Refuse numbers of rows that can't be made, and seeds that are none."""
    for name, value, least in (("rows", rows, 0), ("seed", seed, 0), ("chunk", chunk, 1)):
        if value < least:
            raise InputError(f"{name}={value!r} is too small; it has to be {least} or more")


def streamed(
    blocks: Callable[[int, float], Iterator[pl.DataFrame]],
    rows: int,
    seed: int,
    difficulty: float | str,
    chunk: int,
) -> Iterator[pl.DataFrame]:
    """A scenario in pieces, from its endless blocks of a seed and a difficulty."""
    check_size(rows, seed, chunk)
    return pieces(blocks(seed, difficulty_of(difficulty)), rows, chunk)


def pieces(blocks: Iterator[pl.DataFrame], rows: int, chunk: int) -> Iterator[pl.DataFrame]:
    """The first ``rows`` rows of an endless row of blocks, ``chunk`` at a time.

    At least one piece is given, so that the columns of an empty table are known.
    """
    import polars as pl

    held = next(blocks)
    given = 0
    while given < rows or not given:
        wanted = min(chunk, rows - given)
        parts, size = [held], len(held)
        while size < wanted:
            parts.append(next(blocks))
            size += len(parts[-1])
        held = pl.concat(parts)
        yield held[:wanted]
        held = held[wanted:]
        given += wanted
        if not rows:
            return
