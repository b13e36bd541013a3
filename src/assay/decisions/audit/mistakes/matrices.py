"""The matrix of a claim, and mistakes with the whole of it: turned, transposed, cells swapped."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.decisions.audit.claim import BINARY_CELLS, Claim
from assay.decisions.audit.keys import Key, Meaning, meanings
from assay.decisions.audit.mistakes.candidate import Tier
from assay.decisions.audit.printed import Exact, exact_of
from assay.decisions.audit.test_sets import EITHER, TRAIN, Part, named_in
from assay.evaluation.words import count, name
from assay.evaluation.words import name as quoted
from assay.formula import evaluate
from assay.inference import Quantity
from assay.measures import Measure
from assay.measures.measure import spoken
from assay.tally import Confusion


@dataclass(frozen=True)
class Table:
    """A confusion matrix and the label that is the alarm, if one is."""

    confusion: Confusion
    positive: str | None
    _found: dict[Quantity, Exact | None] = field(default_factory=dict, compare=False)

    def exact(self, quantity: Quantity) -> Exact | None:
        """The exact value of a formula; None where it is undefined."""
        if quantity not in self._found:
            self._found[quantity] = exact_of(quantity, self.confusion)
        return self._found[quantity]

    def quantity(self, key: Key) -> Quantity | None:
        """The formula of a key on this matrix; of a bare one, of the positive label."""
        label = key.label or (self.positive if key.average is None else None)
        return Meaning(key.measure, label, key.average).quantity(self.confusion.labels)

    def value(self, key: Key) -> Exact | None:
        """The exact value of a key; None where it has no formula or is undefined."""
        quantity = self.quantity(key)
        return None if quantity is None else self.exact(quantity)

    @property
    def binary(self) -> bool:
        """Whether one label is the alarm."""
        return self.positive is not None

    def readings(self, key: Key) -> tuple[Key, ...]:
        """The keys that a reported key may stand for; without its statistic."""
        return tuple(
            replace(key.value, measure=each.measure, average=each.average)
            for each in meanings(key, self.positive)
            if not each.convention
        )


def table_of(claim: Claim) -> Table | None:
    """The matrix of a claim, if it is whole."""
    if claim.matrix is None or not claim.matrix.total:
        return None
    return Table(claim.matrix, claim.positive)


def key_for(measure: Measure, label: str | None = None, average: str | None = None) -> Key:
    """The key of a measure of a label or an average."""
    suffix = average or label
    return Key(measure.name + (f".{suffix}" if suffix else ""), measure, label, average)


def slug(measure: Measure, average: str | None = None) -> str:
    """A measure as part of the name of a mistake.

    >>> from assay.measures import find
    >>> slug(find("fdr")), slug(find("g_mean")), slug(find("f1"), "macro")
    ('fdr', 'g-mean', 'macro-f1')
    """
    name = measure.slug or measure.name.replace("_", "-")
    return name if average is None else f"{average}-{name}"


def words(key: Key) -> str:
    """A measure as a sentence names it.

    >>> from assay.decisions.audit.keys import key_of
    >>> words(key_of("f1.macro")), words(key_of("fdr")), words(key_of("recall.A"))
    ('the macro F1', 'the false discovery rate', "the recall of 'A'")
    """
    name = spoken(key.measure.name)
    if key.average is not None:
        return f"the {key.average} {name}"
    return f"the {name}" if key.label is None else f"the {name} of {quoted(key.label)}"


# Test rows for each training row of the usual splits.
_SPLITS = (
    ("90/10", Fraction(9)),
    ("80/20", Fraction(4)),
    ("75/25", Fraction(3)),
    ("70/30", Fraction(7, 3)),
    ("2/3 to 1/3", Fraction(2)),
    ("60/40", Fraction(3, 2)),
    ("50/50", Fraction(1)),
)


@dataclass(frozen=True)
class Variant:
    """A matrix as a mistake would have it. ``bare`` leaves keys of a label or average alone."""

    mistake: str
    said: str
    table: Table
    tier: Tier
    bare: bool = False

    def value(self, key: Key, right: Table) -> Exact | None:
        """What the mistake gives for a key."""
        if self.bare and (key.label is not None or key.average is not None):
            return right.value(key)
        return self.table.value(key)


def variants(claim: Claim, table: Table) -> Iterator[Variant]:
    """Every matrix that one mistake with the whole of it would give."""
    confusion, positive = table.confusion, table.positive
    cells = confusion.cells

    def changed(matrix: Sequence[Sequence[Any]]) -> Table:
        rows = tuple(tuple(row) for row in matrix)
        return Table(Confusion(confusion.labels, rows), positive)

    if positive is not None and len(confusion.labels) == 2:
        negative = next(label for label in confusion.labels if label != positive)
        swapped = Table(confusion, negative)
        said = f"{name(negative)} taken as the positive class"
        yield Variant("positive-class-swapped", said, swapped, Tier.USUAL, bare=True)
        flipped = changed([row[::-1] for row in cells])
        yield Variant("decisions-flipped", "every decision turned over", flipped, Tier.MATRIX)
        turned = changed(cells[::-1])
        yield Variant("truth-flipped", "every label turned over", turned, Tier.MATRIX)
    transposed = changed(list(zip(*cells, strict=True)))
    yield Variant("matrix-transposed", "the matrix transposed", transposed, Tier.USUAL)
    for said, more, tier in _training(claim, confusion):
        yield Variant("train-and-test", said, changed(_sum(cells, more)), tier)


def _training(
    claim: Claim, confusion: Confusion
) -> Iterator[tuple[str, Sequence[Sequence[Any]], Tier]]:
    """Rows of the training part that may have been counted with those of the test."""
    told = training(claim, confusion)
    if told is not None:
        rows = count(sum(map(sum, told)))
        yield f"the {rows} training rows counted with those of the test", told, Tier.USUAL
    for part in _well_known(claim):
        rows_of = {claim.positive: part.positives}
        hits = [rows_of.get(label, part.negatives) for label in confusion.labels]
        said = f"the {count(part.total)} rows of {part.name}, all decided right, counted too"
        yield said, _diagonal(hits), Tier.MATRIX
    for split, ratio in _SPLITS:
        more = _diagonal([ratio * support for support in confusion.rows])
        said = f"the training rows of a split {split}, all decided right, counted with the test"
        yield said, more, Tier.ASSUMED


def _well_known(claim: Claim) -> list[Part]:
    """The training parts of the set that a claim with two classes names."""
    known = named_in(claim.dataset or f"{claim.name} {claim.source}") if claim.binary else None
    parts = () if known is None else known.parts
    return [part for part in parts if part.role in (TRAIN, EITHER) and part.positives is not None]


def training(claim: Claim, confusion: Confusion) -> Sequence[Sequence[int]] | None:
    """The matrix of the training part as told: its cells, or its rows taken as all right."""
    told: Mapping[str, int] = claim.train
    labels = confusion.labels
    if claim.binary and set(told) == set(BINARY_CELLS):
        matrix = [[told["tn"], told["fp"]], [told["fn"], told["tp"]]]
        # The cells are those of [negative, positive]; the labels may stand otherwise.
        return matrix if labels[1] == claim.positive else [row[::-1] for row in matrix[::-1]]
    if told and set(told) <= set(labels):
        return _diagonal([told.get(label, 0) for label in labels])
    return None


def _diagonal(hits: Sequence[Any]) -> list[list[Any]]:
    return [[hit if i == j else 0 for j in range(len(hits))] for i, hit in enumerate(hits)]


def _sum(one: Sequence[Sequence[Any]], other: Sequence[Sequence[Any]]) -> list[list[Any]]:
    return [[a + b for a, b in zip(x, y, strict=True)] for x, y in zip(one, other, strict=True)]


Floats = npt.NDArray[np.float64]
_Cell = tuple[int, int]
_Pair = tuple[_Cell, _Cell]

# Up to so many classes every two cells are tried.
_ALL_PAIRS = 10
# Up to how many classes swaps in one row or column are tried, and swaps across the diagonal.
_IN_LINE, _TRANSPOSED = 20, 60


@dataclass(frozen=True)
class Swaps:
    """Swaps of two cells, with the hits, rows and columns that they leave."""

    table: Table
    pairs: tuple[_Pair, ...]
    hits: Floats
    rows: Floats
    columns: Floats

    def values(self, quantity: Quantity) -> Floats:
        """What a formula gives after each swap, nan where it is undefined."""
        n = self.rows.sum(axis=-1)
        if quantity.label is None:
            size = np.full_like(n, self.hits.shape[-1])
            return evaluate(
                quantity.expression,
                {"HIT": self.hits, "ROW": self.rows, "COL": self.columns, "N": n, "K": size},
            )
        hit, row, column = (
            side[:, quantity.label] for side in (self.hits, self.rows, self.columns)
        )
        rest = n - row - column + hit
        return evaluate(
            quantity.expression, {"TP": hit, "FP": column - hit, "FN": row - hit, "TN": rest}
        )

    def variant(self, number: int) -> Variant:
        """One swap as a matrix, in words."""
        confusion = self.table.confusion
        cells = [list(row) for row in confusion.cells]
        (i, j), (k, m) = self.pairs[number]
        cells[i][j], cells[k][m] = cells[k][m], cells[i][j]
        changed = Confusion(confusion.labels, tuple(tuple(row) for row in cells))
        mistake, said = self._words(*self.pairs[number])
        return Variant(mistake, said, Table(changed, self.table.positive), self._tier)

    @property
    def _tier(self) -> Tier:
        return Tier.MATRIX if self.table.binary else Tier.SWAP

    def _words(self, one: _Cell, other: _Cell) -> tuple[str, str]:
        labels, positive = self.table.confusion.labels, self.table.positive
        if positive is not None:
            names = [_binary_name(labels, positive, cell) for cell in (one, other)]
            first, second = sorted(names, key=BINARY_CELLS.index)
            return (
                f"cells-swapped:{first},{second}",
                f"the matrix with {first} and {second} exchanged",
            )
        here, there = (f"{cell[0] + 1}.{cell[1] + 1}" for cell in (one, other))
        cells = [f"true {name(labels[i])}, decided {name(labels[j])}" for i, j in (one, other)]
        return (
            f"cells-swapped:{here},{there}",
            f"the matrix with the cells ({cells[0]}) and ({cells[1]}) exchanged",
        )


def swaps(table: Table) -> Swaps:
    """Every swap that is tried with a matrix."""
    cells = table.confusion.cells
    pairs = tuple(
        (one, other) for one, other in _pairs(len(cells)) if _at(cells, one) != _at(cells, other)
    )
    matrix = np.array(cells, np.float64)
    count = len(pairs)
    hits = np.tile(np.diagonal(matrix), (count, 1))
    rows, columns = np.tile(matrix.sum(axis=1), (count, 1)), np.tile(matrix.sum(axis=0), (count, 1))
    if pairs:
        ends = np.array(pairs)
        each = np.arange(count)
        (i, j), (k, m) = ends[:, 0].T, ends[:, 1].T
        gained = matrix[k, m] - matrix[i, j]
        for at, by in (((i, j), gained), ((k, m), -gained)):
            np.add.at(rows, (each, at[0]), by)
            np.add.at(columns, (each, at[1]), by)
            on = at[0] == at[1]
            np.add.at(hits, (each[on], at[0][on]), by[on])
    return Swaps(table, pairs, hits, rows, columns)


def _pairs(size: int) -> list[tuple[_Cell, _Cell]]:
    """Pairs of cells that may have been exchanged; the more classes, the fewer kinds.

    One of many swaps fits by accident, and there are K^4 of them.
    """
    if size <= _ALL_PAIRS:
        return list(combinations([(i, j) for i in range(size) for j in range(size)], 2))
    if size > _TRANSPOSED:
        return []
    across = [((i, j), (j, i)) for i, j in combinations(range(size), 2)]
    if size > _IN_LINE:
        return across
    in_rows = [((k, i), (k, j)) for k in range(size) for i, j in combinations(range(size), 2)]
    in_columns = [((i, k), (j, k)) for k in range(size) for i, j in combinations(range(size), 2)]
    return [*across, *in_rows, *in_columns]


def _at(cells: Any, cell: _Cell) -> Any:
    return cells[cell[0]][cell[1]]


def _binary_name(labels: tuple[str, ...], positive: str, cell: _Cell) -> str:
    truth, decided = (labels[side] == positive for side in cell)
    return f"{'t' if truth == decided else 'f'}{'p' if decided else 'n'}"
