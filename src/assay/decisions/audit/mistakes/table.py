"""The matrix of a claim, the exact values of measures on it, and what to call them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from assay.decisions.audit.claim import Claim
from assay.decisions.audit.exact import Exact, exact_of
from assay.decisions.audit.keys import Key, Meaning, meanings
from assay.evaluation.words import name as quoted
from assay.inference import Quantity
from assay.measures import Measure
from assay.measures.titles import spoken
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
