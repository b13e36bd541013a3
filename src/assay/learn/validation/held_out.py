"""Hold one family of attack or one day out at a time: how well is the unknown found?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.errors import InputError
from assay.evaluation.words import name as quoted
from assay.evaluation.words import rows as counted
from assay.learn.validation.folds import fold_of, must_not_be_many
from assay.learn.validation.rows import Rows, named
from assay.learn.validation.split import Split
from assay.learn.validation.splitter import Splitter
from assay.sources.coded import Named


@dataclass(frozen=True)
class LeaveOneOut(Splitter):
    """Judges the rows of one value of a column by what was learned from all other values.

    Where some value has rows of both classes, as a day or a host has, its rows are held out as they
    are. Where no value has both, the column names *families* of attack. Then the rows of a family
    are judged together with a share of the harmless rows: these are dealt at random, as many to
    each family, and those dealt to a family are not learned when it is judged. So every row is
    judged once, by a model that knew neither the family nor the harmless rows beside it, and the
    families are judged against equally many harmless rows. Harmless rows need no family.
    """

    seed: int = 42

    def splits(self, rows: Rows) -> tuple[Split, ...]:
        """A split a value, in the order of their names."""
        held = self._held(rows)
        return tuple(
            fold_of(rows, np.asarray(held.codes, np.intp), i, name).must_be_of_use(
                f"holding out {quoted(name)} of column {rows.column!r}"
            )
            for i, name in enumerate(held.names)
        )

    def together(self, rows: Rows) -> Named | None:
        """The value of each row, unless harmless rows have none of their own."""
        return None if rows.binary and self._families(rows) is not None else rows.names()

    def _held(self, rows: Rows) -> Named:
        families = self._families(rows) if rows.binary else None
        if families is None:
            found = rows.names()
            self._must_be_two(rows, found, "value")
            return found
        attack = rows.truth == 1
        codes = np.empty(len(rows), np.intp)
        codes[attack] = families.codes
        self._must_be_two(rows, families, "family of attack")
        harmless = np.random.default_rng(self.seed).permutation(np.flatnonzero(~attack))
        if len(harmless) < len(families.names):
            raise InputError(
                f"{len(families.names)} families of attack share {counted(len(harmless))} of class "
                f"{quoted(rows.labels[0])}, so some would be judged without any"
            )
        codes[harmless] = np.arange(len(harmless)) % len(families.names)
        return Named(codes, families.names)

    def _families(self, rows: Rows) -> Named | None:
        """The families of the positives, or None where a value has rows of both classes."""
        values, attack = rows.series(), rows.truth == 1
        told = ~rows.missing()
        sides = [values.filter((told & side).tolist()).unique() for side in (attack, ~attack)]
        if sides[0].is_in(sides[1].implode()).any():
            return None
        rows.must_have_values(attack)
        return named(values.filter(attack.tolist()), rows.column)

    def _must_be_two(self, rows: Rows, held: Named, what: str) -> None:
        if len(held.names) < 2:
            found = f", {quoted(held.names[0])}" if held.names else ""
            raise InputError(
                f"column {rows.column!r} holds one {what} only{found}; without it there is nothing "
                f"to learn from. Two are needed at least"
            )
        must_not_be_many(rows, len(held.names), "values")
