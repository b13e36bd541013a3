"""Mistakes with the whole matrix: turned, transposed, or with the training rows in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from assay.decisions.audit.claim import BINARY_CELLS, Claim, Key
from assay.decisions.audit.mistakes.candidate import Tier
from assay.decisions.audit.mistakes.table import Table
from assay.decisions.audit.test_sets import EITHER, TRAIN, Part, named_in
from assay.decisions.audit.values import Exact
from assay.evaluation.words import count, name
from assay.tally import Confusion

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
