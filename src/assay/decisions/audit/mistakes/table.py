"""The matrix of a claim, and the exact values of measures on it, each found once."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from assay.decisions.audit.claim import AVERAGES, Claim, Key
from assay.decisions.audit.values import Exact, exact_of, quantity_of
from assay.inference import Quantity
from assay.measures import Measure, find
from assay.tally import Confusion

# What "the accuracy of a class" is for many authors: the rule of judging lets both pass.
OF_A_CLASS = {"accuracy": "recall", "error_rate": "false_negative_rate"}


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
        """The formula of a key on this matrix."""
        return quantity_of(key, self.confusion, self.positive)

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
        plain, measure = key.value, key.measure
        if key.may_be_rate:
            return plain, replace(plain, measure=find("false_positive_rate"))
        if key.label is not None and measure.name in OF_A_CLASS:
            return plain, replace(plain, measure=find(OF_A_CLASS[measure.name]))
        bare = key.label is None and key.average is None
        if bare and not self.binary and measure.averages and measure.formula is not None:
            return tuple(replace(plain, average=average) for average in AVERAGES)
        return (plain,)


def table_of(claim: Claim) -> Table | None:
    """The matrix of a claim, if it is whole."""
    if claim.matrix is None or not claim.matrix.total:
        return None
    return Table(claim.matrix, claim.positive)


def key_for(measure: Measure, label: str | None = None, average: str | None = None) -> Key:
    """The key of a measure of a label or an average."""
    suffix = average or label
    return Key(measure.name + (f".{suffix}" if suffix else ""), measure, label, average)
