"""The formulas of measures: those of counts from their expression, those of scores as papers do.

A measure of scores is a sum over rows, not an expression of cells, so it is written down here.
"""

from __future__ import annotations

from assay.formula import latex, plain
from assay.measures import Measure
from assay.report.document import Formula

_SUMS = {
    "roc_auc": Formula(
        "mean over attacks i and harmless rows j of [s_i > s_j] + [s_i = s_j] / 2",
        r"\frac{1}{P N} \sum_{i \in P} \sum_{j \in N} "
        r"\left( [s_i > s_j] + \frac{1}{2} [s_i = s_j] \right)",
    ),
    "roc_auc_ovo": Formula(
        "mean over ordered pairs of classes i, j of A(i | j)",
        r"\frac{1}{K (K - 1)} \sum_{i \ne j} A(i \mid j)",
    ),
    "partial_auc": Formula(
        "(1 + (A - f^2 / 2) / (f - f^2 / 2)) / 2",
        r"\frac{1}{2} \left( 1 + \frac{A - f^2 / 2}{f - f^2 / 2} \right)",
    ),
    "average_precision": Formula(
        "sum over scores t, falling, of (R_t - R_(t-1)) P_t",
        r"\sum_t \left( R_t - R_{t-1} \right) P_t",
    ),
    "log_loss": Formula("mean of -ln p_i", r"-\frac{1}{n} \sum_i \ln p_i"),
    "brier": Formula("mean of (p_i - y_i)^2", r"\frac{1}{n} \sum_i \left( p_i - y_i \right)^2"),
    "expected_calibration_error": Formula(
        "sum over bins b of n_b / n |mean p - mean y|",
        r"\sum_b \frac{n_b}{n} \left\vert \overline{p}_b - \overline{y}_b \right\vert",
    ),
}
_SYMBOLS = {
    "roc_auc": "P are the attacks, N the harmless rows, s their scores; a bracket is 1 where it "
    "holds.",
    "roc_auc_ovo": "A(i | j) is the AUC of the probability of class i over the rows of i and j "
    "alone.",
    "partial_auc": "A is the area under the ROC curve up to a false positive rate of f = 0.1; the "
    "rest is McClish's rescaling.",
    "average_precision": "R and P are recall and precision when all rows from the score t up are "
    "flagged.",
    "log_loss": "p is the probability that was given to the true label.",
    "brier": "p is the probability of the positive, y is 1 for positives and 0 for others. For K "
    "classes the squares are added over the classes and halved.",
    "expected_calibration_error": "The bins b are 15 of equal width; means are over a bin.",
}
_ELSEWHERE = Formula("see the reference", r"\mbox{see the reference}")
_CELLS = (
    "TP, FP, FN and TN are the cells of the confusion matrix: attacks that raised an alarm, "
    "harmless rows that did, attacks that did not, and harmless rows that did not."
)
_CLASSES = (
    "Over classes i: HIT (C_ii) are the rows of the class that were decided right, ROW (r_i) all "
    "its rows, COL (c_i) the rows decided as it; N are all rows, K is the number of classes."
)


def formula_of(measure: Measure) -> Formula:
    """The formula of a measure for two classes, or over scores."""
    if measure.formula is None:
        return _SUMS.get(measure.name, _ELSEWHERE)
    return Formula(plain(measure.formula), latex(measure.formula))


def classes_formula_of(measure: Measure) -> Formula | None:
    """The formula over K classes, where a measure has one."""
    if measure.classes is None:
        return None
    return Formula(plain(measure.classes), latex(measure.classes))


def symbols_of(measure: Measure) -> str:
    """What the letters of the formula stand for."""
    if measure.formula is None:
        return _SYMBOLS.get(measure.name, "")
    return _CELLS if measure.classes is None else f"{_CELLS} {_CLASSES}"
