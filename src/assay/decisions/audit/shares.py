"""What an interval or a standard error is of: a share of rows, as exactly as it is known."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from assay.decisions.audit.claim import Claim, Key
from assay.decisions.audit.derived import Table, scope_of
from assay.decisions.audit.points import readings
from assay.decisions.audit.printed import Printed
from assay.decisions.audit.sizes import rows_of, total_of
from assay.decisions.audit.values import exact
from assay.formula import proportion
from assay.inference import Quantity
from assay.tally import Confusion


@dataclass(frozen=True)
class Share:
    """How many of how many rows; the first as exactly as it is known."""

    words: str
    low: Fraction
    high: Fraction
    trials: int

    @property
    def value(self) -> Fraction:
        """The share in the middle of what is known."""
        return (self.low + self.high) / 2 / self.trials


def shares_of(key: Key, claim: Claim, table: Table) -> Iterator[Share]:
    """The shares that a key may stand for, from the matrix, or from a printed value and a size."""
    if claim.matrix is not None:
        for reading in readings(key.value, claim):
            found = _share(reading.quantity, claim.matrix)
            if found is not None:
                yield Share(reading.words, *found)
        return
    trials = _trials(key, claim)
    printed = printed_value(key, table)
    if trials and printed is not None:
        low, high = printed.value - printed.unit, printed.value + printed.unit
        yield Share("", max(low, Fraction(0)) * trials, min(high, Fraction(1)) * trials, trials)


def _share(quantity: Quantity, matrix: Confusion) -> tuple[Fraction, Fraction, int] | None:
    parts = proportion(quantity.expression)
    if parts is None:
        return None
    cells = quantity.cells(matrix)
    successes, trials = exact(parts.successes, cells), exact(parts.trials, cells)
    if successes is None or trials is None or not trials.low:
        return None
    return successes.low, successes.high, int(trials.low)


def _trials(key: Key, claim: Claim) -> int | None:
    """How many rows a share without a matrix is of."""
    name, label = key.measure.name, key.label or claim.positive
    if name in ("accuracy", "error_rate") and key.label is None:
        return total_of(claim)
    rows = rows_of(claim)
    if key.average is not None or label not in rows:
        return None
    if name in ("recall", "false_negative_rate"):
        return rows[label]
    if name in ("specificity", "false_positive_rate") and len(rows) == len(claim.labels):
        return sum(rows.values()) - rows[label]
    return None


def printed_value(key: Key, table: Table) -> Printed | None:
    """The value that the claim prints for what an interval is of, if it can be right."""
    wanted = scope_of(key.value, table.claim)
    for _, reported in table.numbers.get(wanted, ()):
        return reported
    return None
