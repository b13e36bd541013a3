"""Another measure, another average, another mean, or labels taken for numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations

from assay.decisions.audit.claim import Claim
from assay.decisions.audit.keys import AVERAGES, Key
from assay.decisions.audit.matrix import operating_bounds
from assay.decisions.audit.mistakes.candidate import Candidate, Tier, shifted, turned
from assay.decisions.audit.mistakes.matrices import Table, key_for, slug, words
from assay.decisions.audit.printed import Exact, exact
from assay.evaluation.words import count, name
from assay.formula import Cell, Expression, constant, of_classes, sqrt
from assay.inference import Quantity
from assay.measures import AVERAGE_PRECISION, CATALOGUE, PRECISION, RECALL, Measure
from assay.tally import Confusion

_COUNTED = tuple(
    measure
    for measure in CATALOGUE
    if measure.formula is not None and math.isfinite(sum(measure.range))
)


@dataclass(frozen=True)
class Formula:
    """A formula that was read in place of the right one."""

    mistake: str
    said: str
    quantity: Quantity
    tier: Tier


def candidates(key: Key, table: Table) -> Iterator[Candidate]:
    """What every formula gives that may have been read in place of this key."""
    for formula in formulas(key, table):
        value = table.exact(formula.quantity)
        if value is not None:
            yield Candidate(formula.mistake, formula.said, value, formula.tier)


def formulas(key: Key, table: Table) -> Iterator[Formula]:
    """Every formula that may have been read in place of this key."""
    yield from _means(key, table)
    yield from _averages(key, table)
    yield from _labels(key, table)
    yield from _measures(key, table)
    yield from _one_versus_rest(key, table)


def _means(key: Key, table: Table) -> Iterator[Formula]:
    """An F score as another mean of precision and recall."""
    if key.measure.beta != 1:
        return
    label = None if key.average else _label(key, table)
    if key.average is None and label is None:
        return
    p, r = (_formula(measure, key.average) for measure in (PRECISION, RECALL))
    which = f"{key.average} precision and recall" if key.average else "precision and recall"
    means = [
        ("arithmetic-mean", f"the arithmetic mean of {which}", (p + r) / 2),
        ("geometric-mean", f"the geometric mean of {which}", sqrt(p * r)),
    ]
    if key.average:
        means.append(("f1-of-averages", f"the F1 of {which}", 2 * p * r / (p + r)))
    for mistake, said, expression in means:
        yield Formula(mistake, said, Quantity(expression, label), Tier.USUAL)


def _averages(key: Key, table: Table) -> Iterator[Formula]:
    """The same measure with another average."""
    if not key.measure.averages:
        return
    own = key.average or ("binary" if key.label is None else "label")
    for average in AVERAGES:
        if average != key.average:
            other = key_for(key.measure, average=average)
            yield from _read(f"{average}-for-{own}", key, other, table, Tier.USUAL)


def _labels(key: Key, table: Table) -> Iterator[Formula]:
    """The same measure of another label, or of one label where an average belongs."""
    if key.measure.symmetric:
        return
    own = _label(key, table)
    for i, label in enumerate(table.confusion.labels):
        if i == own and key.average is None:
            continue
        tier = Tier.USUAL if table.binary else Tier.ANY
        mistake = f"other-label:{i + 1}"
        if table.binary and key.average is not None:
            mistake = f"{'binary' if label == table.positive else 'negative'}-for-{key.average}"
        elif table.binary and key.label is None:
            mistake = "positive-class-swapped"
        yield from _read(mistake, key, key_for(key.measure, label), table, tier)


def _measures(key: Key, table: Table) -> Iterator[Formula]:
    """Another measure of the same label or with the same average."""
    for measure in _COUNTED:
        if measure.name in (key.measure.name, key.measure.complement):
            continue
        if key.measure.beta == 1 and not key.average and _is_mean(measure):
            continue  # the geometric mean of precision and recall, said above
        confused = measure.name in key.measure.taken_for or key.measure.name in measure.taken_for
        tier = Tier.USUAL if confused else Tier.ANY
        mistake = f"{slug(measure)}-for-{slug(key.measure)}"
        same = key_for(measure, key.label, key.average)
        yield from _read(mistake, key, same, table, tier)
        if key.label is not None or not (key.average or not table.binary):
            continue
        # Over all classes an average stands beside measures that have none.
        others = [key_for(measure)] if key.average else []
        others += [key_for(measure, average=average) for average in AVERAGES[:2]]
        for other in others:
            if other.average != key.average and (measure.averages or other.average is None):
                mistake = f"{slug(measure, other.average)}-for-{slug(key.measure, key.average)}"
                whole = measure.symmetric or key.measure.symmetric
                yield from _read(mistake, key, other, table, tier if whole else Tier.ANY)


def _is_mean(measure: Measure) -> bool:
    """Whether a measure is the geometric mean of precision and recall."""
    mean = sqrt(Cell(PRECISION.name) * Cell(RECALL.name))
    return any(identity.expression == mean for identity in measure.identities)


def _one_versus_rest(key: Key, table: Table) -> Iterator[Formula]:
    """The mean over classes of a measure that has a value of its own for all of them."""
    measure = key.measure
    many = len(table.confusion.labels) > 2 and key.label is None and key.average is None
    if many and measure.symmetric and measure.formula is not None:
        said = f"the mean of {words(key).removeprefix('the ')} of each class against the rest"
        expression = of_classes(measure.formula, "macro")
        yield Formula("one-vs-rest-mean", said, Quantity(expression), Tier.ASSUMED)


def _read(mistake: str, key: Key, other: Key, table: Table, tier: Tier) -> Iterator[Formula]:
    quantity = table.quantity(other)
    if quantity is not None and quantity != table.quantity(key):
        yield Formula(mistake, f"{words(other)} in place of {words(key)}", quantity, tier)


def _formula(measure: Measure, average: str | None) -> Expression:
    formula = measure.formula
    assert formula is not None  # noqa: S101 - precision and recall have one
    return of_classes(formula, average) if average else formula


def _label(key: Key, table: Table) -> int | None:
    """Which label a key speaks of."""
    name = key.label or (table.positive if key.average is None else None)
    labels = table.confusion.labels
    return labels.index(name) if name in labels else None


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


# What may be more than half of all areas explains none.
_WIDEST = Fraction(1, 2)


def is_area(key: Key) -> bool:
    """Whether a key is an area under a curve of scores."""
    return bool(key.measure.of_decisions) and key.average is None


def from_decisions(key: Key, table: Table) -> Iterator[Candidate]:
    """What a curve through the one point of the hard decisions gives."""
    position = _position(key, table)
    if position is None:
        return
    for mistake, said, expression in key.measure.of_decisions:
        value = table.exact(Quantity(expression, position))
        if value is not None:
            yield Candidate(mistake, said, value, Tier.USUAL)


def from_bounds(key: Key, claim: Claim) -> Iterator[Candidate]:
    """What a slip makes of the areas that the operating point allows."""
    allowed = operating_bounds(key, claim)
    if allowed is None or claim.matrix is None:
        return
    for slip in (*turned(allowed, "the area", key.measure), *shifted(allowed)):
        if slip.value.high - slip.value.low <= _WIDEST:
            yield slip
    if key.measure == AVERAGE_PRECISION:
        positives = claim.matrix.rows[claim.matrix.labels.index(key.label or claim.positive)]
        for size, what in ((claim.matrix.total, "rows"), (positives, "positives")):
            said = f"an average precision divided by the number of {what}, {count(size)},"
            value = allowed.times(Fraction(1, size))
            yield Candidate("ap-divided-by-n", said, value, Tier.ASSUMED)


def _position(key: Key, table: Table) -> int | None:
    """Where the label stands that a key speaks of."""
    label = key.label or table.positive
    labels = table.confusion.labels
    return labels.index(label) if label in labels else None
