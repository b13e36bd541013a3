"""Measures of how scores rank the rows."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial

from assay.formula import FN, FP, TN, TP
from assay.measures.cell_bounds import of_precision
from assay.measures.influence import (
    MAX_FPR,
    ap_influence,
    auc_influence,
    correct_partial,
    partial_influence,
)
from assay.measures.measure import (
    HIGHER,
    Band,
    Definition,
    Interval,
    Law,
    Measure,
    OfDecisions,
)
from assay.measures.operating import gain_area
from assay.measures.ranking import Ranking, Smooth
from assay.measures.scores import OpenSet, OverPairs, Ranked, read_off

GROUP = "ranking"


def partial_auc_up_to(max_fpr: float, *, corrected: bool = True) -> Ranked:
    """The partial area up to a false positive rate, rescaled by McClish's correction or not."""

    def fast(ranking: Ranking) -> Smooth:
        return ranking.partial_auc(max_fpr, corrected=corrected)

    return Ranked(
        influence=partial(partial_influence, max_fpr=max_fpr, corrected=corrected),
        fast=fast,
        interval=Interval.PARTIAL,
        invariant_under=(Law.PREVALENCE, Law.SCORE_MAP),
        reach=max_fpr,
        between=(correct_partial(0.0, max_fpr)[0], 1.0) if corrected else (0.0, max_fpr),
        up_to=partial_auc_up_to,
    )


# The rates of the one point that decisions give.
_PRECISION, _RECALL, _SPECIFICITY = TP / (TP + FP), TP / (TP + FN), TN / (TN + FP)
_PREVALENCE = (TP + FN) / (TP + TN + FP + FN)


def least_average_precision(tp: int, fp: int, fn: int, tn: int) -> Fraction:
    """The least average precision of scores that have these decisions at some threshold.

    At worst all false alarms come before the hits, all other negatives before the misses. A
    trapezoidal or interpolated area may lose another 1 / P, which is allowed for.
    """
    worst = _ascending(tp, 0, fp) + _ascending(fn, tp, fp + tn)
    return Fraction(max(worst - 1, 0)) / (tp + fn) * (1 - Fraction(1, 10**9))


def _ascending(steps: int, hits: int, alarms: int) -> float:
    """The sum of (hits + i) / (hits + alarms + i) for i from 1 to ``steps``, or just below it."""
    if not steps or not alarms:
        return float(steps)
    from scipy.special import digamma

    start, end = float(hits + alarms + 1), float(hits + alarms + 1 + steps)
    lost = alarms * float(digamma(end) - digamma(start))
    # Both logarithms round, which many false alarms make a large error of.
    error = alarms * 1e-15 * (1 + abs(float(digamma(end))))
    return max(steps - lost - error, 0.0)


_AUC = Ranked(
    influence=auc_influence,
    fast=lambda ranking: ranking.auc,
    unbiased=True,
    interval=Interval.AUC,
    invariant_under=(Law.CLASS_SWAP, Law.PREVALENCE, Law.SCORE_MAP),
)
ROC_AUC = Measure(
    name="roc_auc",
    slug="auc",
    short="AUC",
    group=GROUP,
    aliases=("auc", "auroc"),
    headings=(
        "auc roc",
        "roc",
        "roc area",
        "area under roc",
        "area under curve",
        "area under the roc curve",
        "auc score",
        "roc auc score",
    ),
    better=HIGHER,
    range=(0, 1),
    of_scores=_AUC,
    definition=Definition(
        "mean over attacks i and harmless rows j of [s_i > s_j] + [s_i = s_j] / 2",
        r"\frac{1}{P N} \sum_{i \in P} \sum_{j \in N} "
        r"\left( [s_i > s_j] + \frac{1}{2} [s_i = s_j] \right)",
        "P are the attacks, N the harmless rows, s their scores; a bracket is 1 where it holds.",
    ),
    reads="The chance that an attack scores above a harmless row, ties counted half.",
    misleads="It averages over thresholds that nobody would deploy; below 0.5 the model is not "
    "random but inverted.",
    reference="Hanley and McNeil 1982; bands by Hosmer and Lemeshow 2000",
    bands=(
        Band(-math.inf, 0.5, "worse than random: are labels or scores inverted?"),
        Band(0.5, math.nextafter(0.5, 1), "random"),
        Band(math.nextafter(0.5, 1), 0.7, "poor"),
        Band(0.7, 0.8, "acceptable"),
        Band(0.8, 0.9, "excellent", praise=True),
        Band(0.9, 1.0, "outstanding", praise=True),
        Band(1.0, math.inf, "perfect", praise=True),
    ),
    bounds=(_RECALL * _SPECIFICITY, 1 - (1 - _RECALL) * (1 - _SPECIFICITY)),
    of_decisions=(
        OfDecisions(
            "auc-from-decisions",
            "the area under the curve of the hard decisions, which is the balanced accuracy,",
            (_RECALL + _SPECIFICITY) / 2,
        ),
        OfDecisions(
            "auc-without-ties",
            "the area under the curve of the hard decisions with ties counted as lost",
            _RECALL * _SPECIFICITY,
        ),
    ),
)

ROC_AUC_OVO = Measure(
    name="roc_auc_ovo",
    title="ROC AUC, one versus one",
    group=GROUP,
    aliases=("hand_till",),
    better=HIGHER,
    range=(0, 1),
    averaged=False,
    of_scores=OverPairs(_AUC, invariant_under=(Law.CLASS_SWAP, Law.PREVALENCE)),
    definition=Definition(
        "mean over ordered pairs of classes i, j of A(i | j)",
        r"\frac{1}{K (K - 1)} \sum_{i \ne j} A(i \mid j)",
        "A(i | j) is the AUC of the probability of class i over the rows of i and j alone.",
    ),
    reads="The mean over all pairs of classes of how well their probabilities tell them apart.",
    misleads="A pair of rare classes counts as much as the pair that makes up the traffic.",
    reference="Hand and Till 2001",
)

OSCR = Measure(
    name="oscr",
    title="open-set classification rate",
    short="OSCR",
    group=GROUP,
    better=HIGHER,
    range=(0, 1),
    averaged=False,
    of_scores=OpenSet(_AUC, right_only=True, invariant_under=(Law.PREVALENCE,)),
    definition=Definition(
        "mean over known rows i and unknown rows j of [c_i] ([s_i > s_j] + [s_i = s_j] / 2)",
        r"\frac{1}{\vert K \vert \vert U \vert} \sum_{i, j} "
        r"[c_i] \left( [s_i > s_j] + \frac{1}{2} [s_i = s_j] \right)",
        "K are the rows of known labels, U those of the unknown one, s the largest probability of "
        "a row, and c_i says that row i is decided right; a bracket is 1 where it holds. It is the "
        "area under the share of known rows decided right against that of unknown rows let in.",
    ),
    reads="The chance that a row of a known label is both decided right and surer than a row of a "
    "label that the model never learned.",
    misleads="It falls with the accuracy on known rows and with the ranking against unknown ones, "
    "and does not say which; and unknown rows of another kind may look quite different.",
    reference="Dhamija et al. 2018",
)

KNOWN_AUC = Measure(
    name="known_auc",
    title="ROC AUC of known against unknown",
    short="known AUC",
    group=GROUP,
    better=HIGHER,
    range=(0, 1),
    averaged=False,
    of_scores=OpenSet(_AUC, invariant_under=(Law.PREVALENCE,)),
    definition=Definition(
        "mean over known rows i and unknown rows j of [s_i > s_j] + [s_i = s_j] / 2",
        r"\frac{1}{\vert K \vert \vert U \vert} \sum_{i, j} "
        r"\left( [s_i > s_j] + \frac{1}{2} [s_i = s_j] \right)",
        "K are the rows of known labels, U those of the unknown one, s the largest probability of "
        "a row; a bracket is 1 where it holds.",
    ),
    reads="The chance that the model is surer of a row whose label it learned than of one whose "
    "label it never saw, ties counted half.",
    misleads="It asks only how sure the model is, not whether it is right about the rows that it "
    "knows.",
    reference="Hendrycks and Gimpel 2017",
)

PARTIAL_AUC = Measure(
    name="partial_auc",
    title="partial ROC AUC (FPR up to 0.1)",
    short="partial AUC",
    group=GROUP,
    better=HIGHER,
    range=(0, 1),
    averaged=False,
    of_scores=partial_auc_up_to(MAX_FPR),
    definition=Definition(
        "(1 + (A - f^2 / 2) / (f - f^2 / 2)) / 2",
        r"\frac{1}{2} \left( 1 + \frac{A - f^2 / 2}{f - f^2 / 2} \right)",
        "A is the area under the ROC curve up to a false positive rate of f = 0.1; the rest is "
        "McClish's rescaling.",
    ),
    reads="The area under the ROC curve up to a false positive rate of 0.1, rescaled so that 0.5 "
    "is random and 1 perfect.",
    misleads="A rate of 0.1 is still far more alarms than most teams can read.",
    reference="McClish 1989",
)

AVERAGE_PRECISION = Measure(
    name="average_precision",
    slug="ap",
    short="AP",
    group=GROUP,
    aliases=("ap", "pr_auc"),
    headings=(
        "auprc",
        "auc pr",
        "aupr",
        "prc area",
        "pr area",
        "prc auc",
        "auc prc",
        "area under pr",
    ),
    better=HIGHER,
    range=(0, 1),
    of_scores=Ranked(
        influence=ap_influence,
        fast=lambda ranking: ranking.average_precision,
        invariant_under=(Law.TRUE_NEGATIVES, Law.SCORE_MAP),
        negatives=0,
        bound=of_precision,
    ),
    definition=Definition(
        "sum over scores t, falling, of (R_t - R_(t-1)) P_t",
        r"\sum_t \left( R_t - R_{t-1} \right) P_t",
        "R and P are recall and precision when all rows from the score t up are flagged.",
    ),
    reads="The mean, over attacks, of the precision at the score of each: the step-wise area "
    "under the precision-recall curve.",
    misleads="A random ranking scores the prevalence, so values of different test sets do not "
    "compare.",
    reference="Davis and Goadrich 2006; Boyd et al. 2013",
    bounds=(
        least_average_precision,
        _RECALL + (1 - _RECALL) * ((TP + FN) / (TP + FN + FP)),
    ),
    of_decisions=(
        OfDecisions(
            "ap-from-decisions",
            "the average precision of the hard decisions",
            _PRECISION * _RECALL + (1 - _RECALL) * _PREVALENCE,
        ),
        OfDecisions(
            "ap-from-decisions",
            "precision times recall at the one threshold",
            _PRECISION * _RECALL,
        ),
        OfDecisions(
            "ap-trapezoid",
            "the trapezoids under the precision-recall points of the hard decisions",
            (1 + _PRECISION) / 2 * _RECALL + (1 - _RECALL) * (_PRECISION + _PREVALENCE) / 2,
        ),
        OfDecisions(
            "ap-trapezoid",
            "the trapezoids under the precision-recall points from the first alert on",
            _PRECISION * _RECALL + (1 - _RECALL) * (_PRECISION + _PREVALENCE) / 2,
        ),
    ),
)

PRECISION_RECALL_GAIN = Measure(
    name="precision_recall_gain_area",
    title="area under the precision-recall-gain curve",
    short="AUPRG",
    group=GROUP,
    aliases=("auprg",),
    better=HIGHER,
    range=(-math.inf, 1),
    averaged=False,
    of_scores=read_off(gain_area),
    definition=Definition(
        "integral over recall gain from 0 to 1 of precision gain",
        r"\int_0^1 PG \; d\, RG",
        "PG and RG are the gains of precision and recall over flagging everything, on the scale "
        "of harmonic means; points are joined by straight lines.",
    ),
    reads="The area under the curve of precision gain against recall gain: 0 is flagging "
    "everything, 1 perfect; an expected F1, rescaled.",
    misleads="Below a recall gain of 0 nothing counts: what a detector does on its surest alarms "
    "is left out where attacks are frequent.",
    reference="Flach and Kull 2015",
)

RANKED = (
    ROC_AUC,
    ROC_AUC_OVO,
    OSCR,
    KNOWN_AUC,
    PARTIAL_AUC,
    AVERAGE_PRECISION,
    PRECISION_RECALL_GAIN,
)
