"""Labels taken for numbers: the correlation of their codes where the MCC belongs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import permutations

from assay.decisions.audit.mistakes.candidate import Candidate, Tier
from assay.decisions.audit.values import Exact, exact
from assay.evaluation.words import name
from assay.formula import Expression, constant, sqrt
from assay.tally import Confusion

_ALL_ORDERS = 4


def correlations(confusion: Confusion) -> Iterator[Candidate]:
    """Pearson's r of the codes 0, 1, 2 ...: as listed, as sorted, and for few labels any other.

    A numbering and its reverse give the same.
    """
    labels = confusion.labels
    size = len(labels)
    if size <= 2:
        return
    orders: list[Sequence[int]] = [range(size), sorted(range(size), key=lambda i: labels[i])]
    told = len(orders)
    if size <= _ALL_ORDERS:
        orders += permutations(range(size))
    seen = set()
    for number, order in enumerate(orders):
        key = min(tuple(order), tuple(order)[::-1])
        value = None if key in seen else _correlation(confusion, order)
        seen.add(key)
        if value is None:
            continue
        numbered = ", ".join(f"{name(labels[i])} = {code}" for code, i in enumerate(order))
        said = "the correlation of the label codes"
        if size <= _ALL_ORDERS:
            said += f" ({numbered})"
        tier = Tier.USUAL if number < told else Tier.ANY
        yield Candidate("label-code-correlation", said, value, tier)


def _correlation(confusion: Confusion, order: Sequence[int]) -> Exact | None:
    code = {label: position for position, label in enumerate(order)}
    n = confusion.total
    truth = sum(code[i] * count for i, count in enumerate(confusion.rows))
    said = sum(code[i] * count for i, count in enumerate(confusion.columns))
    both = sum(
        code[i] * code[j] * count
        for i, row in enumerate(confusion.cells)
        for j, count in enumerate(row)
    )
    of_truth = n * sum(code[i] ** 2 * c for i, c in enumerate(confusion.rows)) - truth**2
    of_said = n * sum(code[i] ** 2 * c for i, c in enumerate(confusion.columns)) - said**2
    if not of_truth or not of_said:
        return None
    ratio: Expression = constant(Fraction(n * both - truth * said)) / sqrt(
        constant(Fraction(of_truth * of_said))
    )
    return exact(ratio, {})
