"""Measures of how scores rank the rows: over all thresholds, or at one of them.

Those of one threshold are read at a low false positive rate, at equal errors, or at the best one.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial

from assay.formula import FN, FP, TN, TP
from assay.measures.auc import Ranking, Smooth
from assay.measures.measure import (
    HIGHER,
    LOWER,
    Band,
    Bound,
    Definition,
    Interval,
    Law,
    Measure,
    OfDecisions,
)
from assay.measures.roc_points import (
    LOPSIDED,
    MAX_FPR,
    TOP_SHARE,
    ap_influence,
    auc_influence,
    correct_partial,
    equal_error,
    farthest,
    gain_area,
    h_measure,
    h_measure_alone,
    partial_influence,
    recall_at,
    severe_by_class,
    symmetric_costs,
    top_lift,
)
from assay.measures.scores import OpenSet, OverPairs, Ranked, of_precision, read_off

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
    of_scores=read_off(gain_area, undefined=LOPSIDED),
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


# -- at low false positive rates -------------------------------------------------------------------


def _least_recall_at(max_fpr: Fraction) -> Bound:
    def least(tp: int, fp: int, fn: int, tn: int) -> Fraction:
        within = fp <= max_fpr * (fp + tn)
        return Fraction(tp, tp + fn) if within else Fraction(0)

    return least


def _most_recall_at(max_fpr: Fraction) -> Bound:
    def most(tp: int, fp: int, fn: int, tn: int) -> Fraction:
        beyond = fp >= max_fpr * (fp + tn)
        return Fraction(tp, tp + fn) if beyond else Fraction(1)

    return most


def recall_at_fpr(max_fpr: float) -> Ranked:
    """The detection rate at a false positive rate of at most ``max_fpr``."""
    return read_off(
        partial(recall_at, max_fpr=max_fpr),
        interval=Interval.AT_RATE,
        invariant_under=(Law.PREVALENCE, Law.SCORE_MAP),
        reach=max_fpr,
        negatives=math.ceil(1 / Fraction(repr(max_fpr))),
    )


def _recall_at(exponent: int) -> Measure:
    """The detection rate at a false positive rate of a power of ten."""
    rate = Fraction(1, 10**exponent)
    # A rate printed with few digits may stand for one a little beyond.
    near = Fraction(51, 100)
    return Measure(
        name=f"recall_at_fpr_1e{exponent}",
        title=f"detection rate at FPR {float(rate):g}",
        short=f"DR at FPR {float(rate):g}",
        group=GROUP,
        aliases=(f"tpr_at_fpr_1e{exponent}",),
        better=HIGHER,
        range=(0, 1),
        averaged=False,
        of_scores=recall_at_fpr(float(rate)),
        definition=Definition(
            "largest TPR_t over scores t with FPR_t <= f",
            r"\max_{t \,:\, FPR_t \le f} TPR_t",
            f"TPR and FPR are the shares of attacks and of harmless rows from the score t up; "
            f"f is {float(rate):g}.",
        ),
        reads=f"The share of attacks that is found when at most {_one_in(exponent)} harmless rows "
        f"raises an alarm.",
        misleads=f"The threshold hangs on the few harmless rows that score highest: below "
        f"{10**exponent:,} of them it can't be told, and its interval counts them.",
        reference="Axelsson 2000; Zhou and Qin 2005",
        bounds=(
            _least_recall_at(rate * (1 - near / 10**6)),
            _most_recall_at(rate * (1 + near / 10**6)),
        ),
    )


def _one_in(exponent: int) -> str:
    return f"1 in {10**exponent:,}"


RECALL_AT_FPR = tuple(_recall_at(exponent) for exponent in (2, 3, 4, 5))


def _smaller_error(tp: int, fp: int, fn: int, tn: int) -> Fraction:
    return min(Fraction(fp, fp + tn), Fraction(fn, tp + fn))


def _larger_error(tp: int, fp: int, fn: int, tn: int) -> Fraction:
    return max(Fraction(fp, fp + tn), Fraction(fn, tp + fn))


EQUAL_ERROR_RATE = Measure(
    name="equal_error_rate",
    short="EER",
    group=GROUP,
    aliases=("eer", "crossover_error_rate"),
    better=LOWER,
    range=(0, 1),
    averaged=False,
    of_scores=read_off(
        equal_error,
        invariant_under=(Law.CLASS_SWAP, Law.PREVALENCE, Law.SCORE_MAP),
    ),
    definition=Definition(
        "FPR = 1 - TPR on the lines between the points of the ROC curve",
        r"FPR = 1 - TPR",
        "TPR and FPR lie on the ROC curve, whose points are joined by straight lines.",
    ),
    reads="The rate at which as large a share of attacks is missed as of harmless rows is flagged.",
    misleads="It weighs both errors alike, where a detector is run at far fewer false positives; "
    "and where scores are tied it depends on how the points are joined.",
    reference="Martin et al. 1997",
    bounds=(_smaller_error, _larger_error),
)


def _farthest(tp: int, fp: int, fn: int, tn: int) -> Fraction:
    return max(Fraction(tp, tp + fn), Fraction(tn, fp + tn))


KS = Measure(
    name="ks",
    title="Kolmogorov-Smirnov distance",
    short="KS",
    group=GROUP,
    aliases=("kolmogorov_smirnov", "ks_statistic"),
    better=HIGHER,
    range=(0, 1),
    averaged=False,
    of_scores=read_off(
        farthest,
        interval=Interval.CHOSEN,
        invariant_under=(Law.CLASS_SWAP, Law.PREVALENCE, Law.SCORE_MAP),
    ),
    definition=Definition(
        "max over scores t of TPR_t - FPR_t",
        r"\max_t \left( TPR_t - FPR_t \right)",
        "TPR and FPR are the shares of attacks and of harmless rows from the score t up.",
    ),
    reads="How far apart the scores of attacks and of harmless rows lie, where that is farthest: "
    "the largest informedness over all thresholds.",
    misleads="The threshold is chosen on the same rows, so with few of them it is too high; and it "
    "weighs both errors alike.",
    reference="Hand 2012",
    bounds=(_RECALL + _SPECIFICITY - 1, _farthest),
)

# -- averages over costs ---------------------------------------------------------------------------

_H_SYMBOLS = (
    "L(c) is the least of c (1 - p) FPR + (1 - c) p FNR over all thresholds, p the share of "
    "attacks, L0(c) the same over flagging all and flagging none; c is drawn from {prior}."
)
_H_PLAIN = "1 - E L(c) / E L0(c)"
_H_LATEX = r"1 - \frac{E\, L(c)}{E\, L_0(c)}"

H_MEASURE = Measure(
    name="h_measure",
    title="H-measure",
    group=GROUP,
    better=HIGHER,
    range=(0, 1),
    averaged=False,
    of_scores=read_off(
        partial(h_measure, prior=severe_by_class),
        partial(h_measure_alone, prior=severe_by_class),
        undefined=LOPSIDED,
        interval=Interval.CHOSEN,
    ),
    definition=Definition(
        _H_PLAIN, _H_LATEX, _H_SYMBOLS.format(prior="Beta(2, 1 + (1 - p) / p), whose mode is p")
    ),
    reads="How much of the loss of the better of flagging all and flagging none is saved, over "
    "costs that make both classes count about alike.",
    misleads="The costs that it averages over move with the share of attacks in the test set, so "
    "values of different test sets do not compare. Costs of Beta(1 + p, 2 - p), which Hand and "
    "Anagnostopoulos (2014) propose, have the same mode and give another number.",
    reference="Hand 2009; Anagnostopoulos and Hand 2019",
)

H_MEASURE_SYMMETRIC = Measure(
    name="h_measure_symmetric",
    title="H-measure with symmetric costs",
    group=GROUP,
    better=HIGHER,
    range=(0, 1),
    averaged=False,
    of_scores=read_off(
        partial(h_measure, prior=symmetric_costs),
        partial(h_measure_alone, prior=symmetric_costs),
        undefined=LOPSIDED,
        interval=Interval.CHOSEN,
        invariant_under=(Law.CLASS_SWAP, Law.SCORE_MAP),
    ),
    definition=Definition(_H_PLAIN, _H_LATEX, _H_SYMBOLS.format(prior="Beta(2, 2)")),
    reads="How much of the loss of the better of flagging all and flagging none is saved, over "
    "costs around equal ones for a false alarm and a miss.",
    misleads="Where attacks are rare, costs around equal ones make flagging nothing nearly the "
    "best, and every detector poor.",
    reference="Hand 2009",
)

# -- among the highest scores ----------------------------------------------------------------------

TOP_DECILE_LIFT = Measure(
    name="top_decile_lift",
    group=GROUP,
    aliases=("lift_at_10",),
    better=HIGHER,
    range=(0, 1 / TOP_SHARE),
    averaged=False,
    of_scores=read_off(top_lift),
    definition=Definition(
        "TPR among the highest tenth of all scores / 0.1",
        r"\frac{TPR_{0.1}}{0.1}",
        "TPR is the share of attacks among the tenth of all rows that score highest; a score that "
        "lies on the border is shared out in proportion.",
    ),
    reads="How many times as frequent attacks are among the tenth of rows that score highest as "
    "among all.",
    misleads="It can't exceed 1 over the share of attacks, nor 10: values of different test sets "
    "do not compare.",
    reference="Ling and Li 1998",
)

RANKED = (
    ROC_AUC,
    ROC_AUC_OVO,
    OSCR,
    KNOWN_AUC,
    PARTIAL_AUC,
    AVERAGE_PRECISION,
    PRECISION_RECALL_GAIN,
    *RECALL_AT_FPR,
    EQUAL_ERROR_RATE,
    KS,
    H_MEASURE,
    H_MEASURE_SYMMETRIC,
    TOP_DECILE_LIFT,
)
