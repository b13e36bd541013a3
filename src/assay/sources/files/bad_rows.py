"""Rows that can't be used: refused at once, or left out, counted by their reason and listed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from assay.errors import InputError, ScoreError
from assay.sources.files.request import Refused
from assay.sources.files.table import Piece
from assay.sources.row_checks import Place, Problem
from assay.sources.validation import bad_rows, reasons_of

LISTED = 100
BROKEN = "record: no row"
ADVICE = "Correct the row, or leave such rows out with on_bad_row='skip'"


class BadRows:
    """What was left out so far; ``stops`` where the first bad row ends everything."""

    def __init__(self, *, stops: bool) -> None:
        self.stops = stops
        self.rows_refused = 0
        self.reasons: dict[str, int] = {}
        self.refused: list[Refused] = []

    def judge(
        self,
        piece: Piece,
        name: str,
        problems: Sequence[Problem],
        repeats: npt.NDArray[np.int64] | None = None,
    ) -> npt.NDArray[np.bool_]:
        """Which rows of a piece are bad; raises what has to stop everything.

        ``repeats`` tells how many rows each stands for.
        """
        rows, every = piece.frame.height, list(problems)
        bad = bad_rows(every, rows)
        fatal = [problem for problem in every if problem.fatal and problem.rows.any()]
        ends = min((int(problem.rows.argmax()) for problem in fatal), default=None)
        listed = self._listed(piece, name, every, bad)
        if self.stops and listed:
            at, broken, error = listed[0]
            if ends is None or at.row <= piece.rows[ends]:
                found = f"found {at.reason}" if broken else at.reason
                raise error(f"{where(at)}: {found}. {ADVICE}")
        if ends is not None:
            chosen = next(problem for problem in fatal if problem.rows[ends])
            raise chosen.error(f"{place_in(piece, name)(ends)}: {chosen.why(ends)}")
        if piece.broken:
            self._count(BROKEN, len(piece.broken))
        for reason, amount in reasons_of(every, rows, repeats).items():
            self._count(reason, amount)
        self.refused += [at for at, _, _ in listed][: LISTED - len(self.refused)]
        return bad

    def _count(self, reason: str, rows: int) -> None:
        self.reasons[reason] = self.reasons.get(reason, 0) + rows
        self.rows_refused += rows

    def _listed(
        self, piece: Piece, name: str, problems: Sequence[Problem], bad: npt.NDArray[np.bool_]
    ) -> list[tuple[Refused, bool, type[InputError]]]:
        """The first bad rows of a piece in order, as many as are still listed."""
        room = 1 if self.stops else LISTED - len(self.refused)
        found: list[tuple[Refused, bool, type[InputError]]] = [
            (Refused(at.row, at.reason, name, at.line), True, InputError)
            for at in piece.broken[:room]
        ]
        for i in np.flatnonzero(bad)[:room].tolist() if room else ():
            problem = next(p for p in problems if not p.fatal and p.rows[i])
            line = None if piece.line is None else piece.line(i)
            at = Refused(int(piece.rows[i]), problem.why(i), name, line)
            found.append((at, False, problem.error))
        return sorted(found, key=lambda one: one[0].row)


def place_in(piece: Piece, name: str) -> Place:
    """Where the i-th row of a piece stands, in words."""

    def place(i: int) -> str:
        line = None if piece.line is None else piece.line(i)
        return where(Refused(int(piece.rows[i]), "", name, line))

    return place


def where(at: Refused) -> str:
    """The place of a row, in words."""
    return f"{at.file}, row {at.row}" if at.line is None else f"{at.file}, line {at.line}"


def must_be_a_number(at: Refused) -> ScoreError:
    """The error for a row of scores that holds none."""
    return ScoreError(f"{where(at)}: {at.reason}. {ADVICE}")
