"""Areas under curves: found from hard decisions, by trapezoids, or divided by a count."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from assay.decisions.audit.claim import Claim, Key
from assay.decisions.audit.mistakes.candidate import Candidate, Tier
from assay.decisions.audit.mistakes.plain import shifted, turned
from assay.decisions.audit.mistakes.table import Table
from assay.decisions.audit.ranking import operating_bounds
from assay.evaluation.words import count
from assay.formula import FN, FP, TN, TP, Expression
from assay.inference import Quantity

_PRECISION, _RECALL = TP / (TP + FP), TP / (TP + FN)
_SPECIFICITY = TN / (TN + FP)
_PREVALENCE = (TP + FN) / (TP + TN + FP + FN)
_REST = 1 - _RECALL
# What may be more than half of all areas explains none.
_WIDEST = Fraction(1, 2)

_AREAS: tuple[tuple[str, str, Expression], ...] = (
    (
        "auc-from-decisions",
        "the area under the curve of the hard decisions, which is the balanced accuracy,",
        (_RECALL + _SPECIFICITY) / 2,
    ),
    (
        "auc-without-ties",
        "the area under the curve of the hard decisions with ties counted as lost",
        _RECALL * _SPECIFICITY,
    ),
)
_PRECISIONS: tuple[tuple[str, str, Expression], ...] = (
    (
        "ap-from-decisions",
        "the average precision of the hard decisions",
        _PRECISION * _RECALL + _REST * _PREVALENCE,
    ),
    (
        "ap-from-decisions",
        "precision times recall at the one threshold",
        _PRECISION * _RECALL,
    ),
    (
        "ap-trapezoid",
        "the trapezoids under the precision-recall points of the hard decisions",
        (1 + _PRECISION) / 2 * _RECALL + _REST * (_PRECISION + _PREVALENCE) / 2,
    ),
    (
        "ap-trapezoid",
        "the trapezoids under the precision-recall points from the first alert on",
        _PRECISION * _RECALL + _REST * (_PRECISION + _PREVALENCE) / 2,
    ),
)


def is_area(key: Key) -> bool:
    """Whether a key is an area under a curve of scores."""
    return key.measure.name in ("roc_auc", "average_precision") and key.average is None


def from_decisions(key: Key, table: Table) -> Iterator[Candidate]:
    """What a curve through the one point of the hard decisions gives."""
    position = _position(key, table)
    if position is None:
        return
    told = _AREAS if key.measure.name == "roc_auc" else _PRECISIONS
    for mistake, said, expression in told:
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
    if key.measure.name == "average_precision":
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
