"""Another measure, another average or another mean where one belongs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from assay.decisions.audit.claim import AVERAGES, Key
from assay.decisions.audit.mistakes.candidate import Candidate, Tier
from assay.decisions.audit.mistakes.names import slug, words
from assay.decisions.audit.mistakes.table import Table, key_for
from assay.formula import Expression, of_classes, sqrt
from assay.inference import Quantity
from assay.measures import CATALOGUE, PRECISION, Measure, find

# Measures that are taken for each other; all others are tried after them.
_CONFUSED = (
    (
        "false_positive_rate",
        "false_discovery_rate",
        "false_negative_rate",
        "false_omission_rate",
        "error_rate",
    ),
    ("precision", "recall", "specificity", "negative_predictive_value", "f1"),
    ("accuracy", "balanced_accuracy", "f1", "precision", "recall"),
    ("balanced_accuracy", "g_mean", "informedness"),
    ("mcc", "kappa", "informedness", "markedness"),
    ("f1", "f2", "f0.5", "jaccard", "fowlkes_mallows"),
    ("prevalence", "alert_rate"),
    ("recall", "false_positive_rate"),
    ("precision", "false_positive_rate"),
)
CONFUSED = frozenset(frozenset(pair) for group in _CONFUSED for pair in combinations(group, 2))
_RECALL = find("recall")
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
    if key.measure.name != "f1":
        return
    label = None if key.average else _label(key, table)
    if key.average is None and label is None:
        return
    p, r = (_formula(measure, key.average) for measure in (PRECISION, _RECALL))
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
        if key.measure.name == "f1" and measure.name == "fowlkes_mallows" and not key.average:
            continue  # the geometric mean of precision and recall, said above
        confused = frozenset({measure.name, key.measure.name}) in CONFUSED
        tier = Tier.USUAL if confused else Tier.ANY
        mistake = f"{slug(measure)}-for-{slug(key.measure)}"
        same = key_for(measure, key.label, key.average)
        yield from _read(mistake, key, same, table, tier)
        if key.label is not None or not (key.average or not table.binary):
            continue
        # Over all classes an average stands beside measures that have none.
        others = [key_for(measure)] if key.average else []
        others += [key_for(measure, average=average) for average in AVERAGES[::2]]
        for other in others:
            if other.average != key.average and (measure.averages or other.average is None):
                mistake = f"{slug(measure, other.average)}-for-{slug(key.measure, key.average)}"
                whole = measure.symmetric or key.measure.symmetric
                yield from _read(mistake, key, other, table, tier if whole else Tier.ANY)


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
