"""Rows that can't be used: refused at once, or left out, counted and listed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from assay.errors import InputError, ScoreError
from assay.learn.feature_values import not_numbers, numbers_in
from assay.sources.files.checks import Place, Problem, value_shown
from assay.sources.files.collect import ADVICE, LISTED, where
from assay.sources.files.request import Refused
from assay.sources.files.table import Piece

if TYPE_CHECKING:
    import polars as pl


class BadRows:
    """What was left out so far; ``stops`` where the first bad row ends everything."""

    def __init__(self, *, stops: bool) -> None:
        self._stops = stops
        self.rows_refused = 0
        self.refused: list[Refused] = []

    def judge(self, piece: Piece, name: str, problems: Sequence[Problem]) -> npt.NDArray[np.bool_]:
        """Which rows of a piece are good; raises what has to stop everything."""
        bad = np.zeros(piece.frame.height, bool)
        for problem in problems:
            if not problem.fatal:
                bad |= problem.rows
        fatal = [problem for problem in problems if problem.fatal and problem.rows.any()]
        ends = min((int(problem.rows.argmax()) for problem in fatal), default=None)
        listed = self._listed(piece, name, problems, bad)
        if self._stops and listed:
            at, error = listed[0]
            if ends is None or at.row <= piece.rows[ends]:
                raise error(f"{where(at)}: {at.reason}. {ADVICE}")
        if ends is not None:
            chosen = next(problem for problem in fatal if problem.rows[ends])
            raise chosen.error(f"{place_in(piece, name)(ends)}: {chosen.why(ends)}")
        self.rows_refused += int(bad.sum()) + len(piece.broken)
        self.refused += [at for at, _ in listed][: LISTED - len(self.refused)]
        return ~bad

    def _listed(
        self, piece: Piece, name: str, problems: Sequence[Problem], bad: npt.NDArray[np.bool_]
    ) -> list[tuple[Refused, type[InputError]]]:
        """The first bad rows of a piece in order, as many as are still listed."""
        room = 1 if self._stops else LISTED - len(self.refused)
        found: list[tuple[Refused, type[InputError]]] = [
            (Refused(at.row, f"found {at.reason}", name, at.line), InputError)
            for at in piece.broken[:room]
        ]
        for i in np.flatnonzero(bad)[:room].tolist():
            problem = next(p for p in problems if not p.fatal and p.rows[i])
            line = None if piece.line is None else piece.line(i)
            at = Refused(int(piece.rows[i]), problem.why(i), name, line)
            found.append((at, problem.error))
        return sorted(found, key=lambda one: one[0].row)


def numbers_or_bad(cells: pl.Series) -> tuple[pl.Series, list[Problem]]:
    """Cells of a column that was learned as numbers, and the rows that hold something else."""
    values = numbers_in(cells)
    odd = not_numbers(cells, values)
    if not odd.any():
        return values.fill_nan(None), []

    def reason(i: int) -> str:
        return f"column {cells.name!r}: found {value_shown(cells[i])}, expected a number or nothing"

    return values.fill_nan(None), [Problem(odd.to_numpy(), reason, ScoreError)]


def place_in(piece: Piece, name: str) -> Place:
    """Where the i-th row of a piece stands, in words."""

    def place(i: int) -> str:
        line = None if piece.line is None else piece.line(i)
        return where(Refused(int(piece.rows[i]), "", name, line))

    return place
