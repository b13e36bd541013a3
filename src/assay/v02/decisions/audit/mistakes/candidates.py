"""A mistake that may have been made: with one number, or with the whole matrix of a claim.

What it gives, and how likely a random number would be explained so.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.v02.decisions.audit.claim import BINARY_CELLS, Claim, Key, Meaning, meanings
from assay.v02.decisions.audit.claim_findings import EITHER, TRAIN, DataPart, named_in
from assay.v02.decisions.audit.verdicts import (
    Enclosure,
    NumberVerdict,
    Printed,
    as_float,
    exact_of,
    judge,
)
from assay.v02.evaluation.wording import name
from assay.v02.formula import evaluate
from assay.v02.inference import Quantity
from assay.v02.measures import Measure
from assay.v02.measures.measure import spoken
from assay.v02.number_text import count, rounded
from assay.v02.tally import Confusion


class Plausibility(IntEnum):
    """How readily a mistake is believed: the simple and frequent ones come first."""

    SHIFT = 0
    USUAL = 1
    MATRIX = 2
    ASSUMED = 3
    ANY = 4
    SWAP = 5
    TWICE = 6


class DigitFit(IntEnum):
    """How a value gives the printed digits."""

    ROUNDED = 0
    CUT = 1


@dataclass(frozen=True)
class Candidate:
    """What a mistake gives for one number.

    ``said`` is what was done, as the subject of a sentence: "the error rate in place of the
    accuracy". ``high`` is the upper end where the number is an interval. ``spoils`` is how many
    numbers that are right would be wrong if it had been made with the whole matrix.
    """

    mistake: str
    said: str
    value: Enclosure
    tier: Plausibility
    high: Enclosure | None = None
    spoils: int = 0

    @property
    def ends(self) -> tuple[Enclosure, ...]:
        """The value, or both ends of an interval."""
        return (self.value,) if self.high is None else (self.value, self.high)

    @property
    def approximate(self) -> tuple[float, ...]:
        """The ends as floats that are equal where the values are."""
        return tuple(rounded(float(end), 12) for end in self.ends)


def fit(reported: Printed, value: Enclosure) -> DigitFit | None:
    """How a value gives these digits: rounded, cut off (off by less than a unit), or not."""
    verdict = judge(reported, value)
    if verdict is NumberVerdict.INCONSISTENT:
        return None
    return DigitFit.ROUNDED if verdict is NumberVerdict.CONSISTENT else DigitFit.CUT


_SHIFTS = (
    (Fraction(1, 10), "the point moved one place to the left"),
    (Fraction(10), "the point moved one place to the right"),
    (Fraction(1, 100), "the point moved two places to the left (a percent sign too many)"),
    (Fraction(100), "the point moved two places to the right (a percent sign left out)"),
)


def shifted(value: Enclosure) -> Iterator[Candidate]:
    """The point moved by one or two places."""
    for factor, said in _SHIFTS:
        yield Candidate("decimal-shift", said, value.times(factor), Plausibility.SHIFT)


def turned(value: Enclosure, name: str, measure: Measure | None = None) -> Iterator[Candidate]:
    """1 - x, and for what may be negative, the sign lost."""
    said = f"1 - {name}"
    if measure is not None and measure.complement:
        said += f", which is the {measure.complement.replace('_', ' ')},"
    yield Candidate("complement", said, value.complement(), Plausibility.USUAL)
    if measure is not None and measure.range[0] < 0:
        turned_over = Enclosure(-value.high, -value.low)
        yield Candidate("sign-lost", f"{name} with the other sign", turned_over, Plausibility.USUAL)


def on_top(first: Candidate) -> Iterator[Candidate]:
    """A slip on top of another mistake."""
    for second in (*shifted(first.value), *turned(first.value, "that")):
        yield replace(
            second,
            mistake=f"{first.mistake}+{second.mistake}",
            said=f"{first.said} and then {second.said}",
            tier=Plausibility.TWICE,
        )


Floats = npt.NDArray[np.float64]
Spans = tuple[Floats, Floats]


def spans(values: Iterable[Enclosure], reported: Printed) -> Spans:
    """The printed numbers, in units of the last digit, that each value would be printed as."""
    ends = [
        (
            math.floor(_units(value.low, reported)),
            math.ceil(_units(value.high, reported)),
        )
        for value in values
    ]
    pairs = np.array(ends, np.float64).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]


def spans_of_floats(values: Floats, reported: Printed) -> Spans:
    """The same for values known as floats; those that are undefined are left out."""
    with np.errstate(over="ignore"):
        units = values[np.isfinite(values)] / unit_of(reported)
    return np.floor(units), np.ceil(units)


def _units(number: Fraction, reported: Printed) -> float:
    """How many units of the last digit a number has, as far as floats go."""
    return min(max(as_float(number / reported.unit), -sys.float_info.max), sys.float_info.max)


def unit_of(reported: Printed) -> float:
    """One unit of the last digit; never zero, however small it is."""
    return max(as_float(reported.unit), sys.float_info.min)


def together(parts: Sequence[Spans]) -> Spans:
    """Several collections as one."""
    return np.concatenate([low for low, _ in parts]), np.concatenate([high for _, high in parts])


def share(spans: Spans, low: float, high: float) -> float:
    """Of the whole numbers from ``low`` to ``high``, the share that lies in a span.

    >>> import numpy as np
    >>> share((np.array([2.0, 3.0]), np.array([3.0, 5.0])), 1, 10)
    0.4
    """
    starts, ends = np.maximum(spans[0], low), np.minimum(spans[1], high)
    kept = starts <= ends
    starts, ends = starts[kept], ends[kept]
    if not len(starts):
        return 0.0
    order = np.argsort(starts)
    starts, ends = starts[order], ends[order]
    # What the spans before one have already counted is not counted again.
    before = np.concatenate([[low - 1], np.maximum.accumulate(ends)[:-1]])
    new = np.maximum(ends - np.maximum(starts, before + 1) + 1, 0)
    return float(min(1.0, new.sum() / (high - low + 1)))


def chance(spans: Spans, reported: Printed, bounds: tuple[float, float] | None) -> float:
    """Of the numbers with so many digits, the share that some value would be printed as.

    The numbers have the sign of the reported one and stay within the range of the measure.
    """
    most = 10.0**reported.digits - 1
    negative = reported.value < 0
    if bounds is not None:
        limit = abs(bounds[0] if negative else bounds[1])
        if math.isfinite(limit) and abs(reported.value) <= limit:
            most = min(most, math.floor(limit / unit_of(reported) + 0.5))
    return share(spans, -most if negative else 0.0, 0.0 if negative else most)


def guess(spans: Spans, reported: Printed, right: float) -> float:
    """Of the numbers no farther from the right one than the reported, the share that is explained.

    Near the right value the many swaps of cells crowd, and one of them fits whatever is printed.
    """
    unit = unit_of(reported)
    middle, reach = right / unit, abs(as_float(reported.value) - right) / unit
    if not math.isfinite(middle) or not math.isfinite(reach):
        # Beyond all floats nothing crowds.
        return 0.0
    return share(spans, math.floor(middle - reach), math.ceil(middle + reach))


# -- the matrix of a claim: turned, transposed, cells swapped --------------------------------------


@dataclass(frozen=True)
class ClaimMatrix:
    """A confusion matrix and the label that is the alarm, if one is."""

    confusion: Confusion
    positive: str | None
    _values: dict[Quantity, Enclosure | None] = field(default_factory=dict, compare=False)

    def exact(self, quantity: Quantity) -> Enclosure | None:
        """The exact value of a formula; None where it is undefined."""
        if quantity not in self._values:
            self._values[quantity] = exact_of(quantity, self.confusion)
        return self._values[quantity]

    def quantity(self, key: Key) -> Quantity | None:
        """The formula of a key on this matrix; of a bare one, of the positive label."""
        label = key.label or (self.positive if key.average is None else None)
        return Meaning(key.measure, label, key.average).quantity(self.confusion.labels)

    def value(self, key: Key) -> Enclosure | None:
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


def claim_matrix(claim: Claim) -> ClaimMatrix | None:
    """The matrix of a claim, if it is whole."""
    if claim.matrix is None or not claim.matrix.total:
        return None
    return ClaimMatrix(claim.matrix, claim.positive)


def key_for(measure: Measure, label: str | None = None, average: str | None = None) -> Key:
    """The key of a measure of a label or an average."""
    suffix = average or label
    return Key(measure.name + (f".{suffix}" if suffix else ""), measure, label, average)


def slug(measure: Measure, average: str | None = None) -> str:
    """A measure as part of the name of a mistake.

    >>> from assay.v02.measures import find
    >>> slug(find("fdr")), slug(find("g_mean")), slug(find("f1"), "macro")
    ('fdr', 'g-mean', 'macro-f1')
    """
    name = measure.slug or measure.name.replace("_", "-")
    return name if average is None else f"{average}-{name}"


def words(key: Key) -> str:
    """A measure as a sentence names it.

    >>> from assay.v02.decisions.audit.claim import key_of
    >>> words(key_of("f1.macro")), words(key_of("fdr")), words(key_of("recall.A"))
    ('the macro F1', 'the false discovery rate', "the recall of 'A'")
    """
    measure = spoken(key.measure.name)
    if key.average is not None:
        return f"the {key.average} {measure}"
    return f"the {measure}" if key.label is None else f"the {measure} of {name(key.label)}"


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
    table: ClaimMatrix
    tier: Plausibility
    bare: bool = False

    def value(self, key: Key, right: ClaimMatrix) -> Enclosure | None:
        """What the mistake gives for a key."""
        if self.bare and (key.label is not None or key.average is not None):
            return right.value(key)
        return self.table.value(key)


def variants(claim: Claim, table: ClaimMatrix) -> Iterator[Variant]:
    """Every matrix that one mistake with the whole of it would give."""
    confusion, positive = table.confusion, table.positive
    cells = confusion.cells

    def changed(matrix: Sequence[Sequence[Any]]) -> ClaimMatrix:
        rows = tuple(tuple(row) for row in matrix)
        return ClaimMatrix(Confusion(confusion.labels, rows), positive)

    if positive is not None and len(confusion.labels) == 2:
        negative = next(label for label in confusion.labels if label != positive)
        swapped = ClaimMatrix(confusion, negative)
        said = f"{name(negative)} taken as the positive class"
        yield Variant("positive-class-swapped", said, swapped, Plausibility.USUAL, bare=True)
        flipped = changed([row[::-1] for row in cells])
        yield Variant(
            "decisions-flipped", "every decision turned over", flipped, Plausibility.MATRIX
        )
        turned = changed(cells[::-1])
        yield Variant("truth-flipped", "every label turned over", turned, Plausibility.MATRIX)
    transposed = changed(list(zip(*cells, strict=True)))
    yield Variant("matrix-transposed", "the matrix transposed", transposed, Plausibility.USUAL)
    for said, more, tier in _training(claim, confusion):
        yield Variant("train-and-test", said, changed(_sum(cells, more)), tier)


def _training(
    claim: Claim, confusion: Confusion
) -> Iterator[tuple[str, Sequence[Sequence[Any]], Plausibility]]:
    """Rows of the training part that may have been counted with those of the test."""
    told = training(claim, confusion)
    if told is not None:
        rows = count(sum(map(sum, told)))
        yield f"the {rows} training rows counted with those of the test", told, Plausibility.USUAL
    for part in _well_known(claim):
        rows_of = {claim.positive: part.positives}
        hits = [rows_of.get(label, part.negatives) for label in confusion.labels]
        said = f"the {count(part.total)} rows of {part.name}, all decided right, counted too"
        yield said, _diagonal(hits), Plausibility.MATRIX
    for split, ratio in _SPLITS:
        more = _diagonal([ratio * support for support in confusion.rows])
        said = f"the training rows of a split {split}, all decided right, counted with the test"
        yield said, more, Plausibility.ASSUMED


def _well_known(claim: Claim) -> list[DataPart]:
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


_Cell = tuple[int, int]
_Pair = tuple[_Cell, _Cell]

# Up to so many classes every two cells are tried.
_ALL_PAIRS = 10
# Up to how many classes swaps in one row or column are tried, and swaps across the diagonal.
_IN_LINE, _TRANSPOSED = 20, 60


@dataclass(frozen=True)
class Swaps:
    """Swaps of two cells, with the hits, rows and columns that they leave."""

    table: ClaimMatrix
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
        return Variant(mistake, said, ClaimMatrix(changed, self.table.positive), self._tier)

    @property
    def _tier(self) -> Plausibility:
        return Plausibility.MATRIX if self.table.binary else Plausibility.SWAP

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


def swaps(table: ClaimMatrix) -> Swaps:
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
