"""Measures at one threshold of the scores: at a low rate, at equal errors, or at the best one."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial

from assay.formula import FN, FP, TN, TP
from assay.measures.measure import HIGHER, LOWER, Bound, Definition, Interval, Law, Measure
from assay.measures.operating import (
    TOP_SHARE,
    equal_error,
    farthest,
    h_measure,
    h_measure_alone,
    recall_at,
    severe_by_class,
    symmetric_costs,
    top_lift,
)
from assay.measures.scores import Ranked, read_off

GROUP = "ranking"
_RECALL, _SPECIFICITY = TP / (TP + FN), TN / (TN + FP)

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

AT_THRESHOLDS = (
    *RECALL_AT_FPR,
    EQUAL_ERROR_RATE,
    KS,
    H_MEASURE,
    H_MEASURE_SYMMETRIC,
    TOP_DECILE_LIFT,
)
