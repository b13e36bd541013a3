"""Agreement of decisions with the truth beyond chance, ratios of rates, and what errors cost."""

from __future__ import annotations

import math
from fractions import Fraction

from assay.formula import (
    COL,
    FN,
    FP,
    HIT,
    ROW,
    TN,
    TP,
    Cell,
    Expression,
    K,
    N,
    sqrt,
    times_log,
    total,
)
from assay.measures.measure import HIGHER, LOWER, Band, Counts, Definition, Identity, Measure
from assay.measures.rates import ALL, PI, A, P, Q, R, S, V

GROUP = "agreement"
_EXAMPLE = Counts(tp=3, fp=1, fn=2, tn=4)
_INFORMEDNESS, _MARKEDNESS, _F1 = map(Cell, ("informedness", "markedness", "f1"))
_CHANCE_OF_RATES = PI * Q + (1 - PI) * (1 - Q)

INFORMEDNESS = Measure(
    name="informedness",
    group=GROUP,
    aliases=("youden_j",),
    formula=TP / (TP + FN) - FP / (FP + TN),
    headings=(
        "youden",
        "youden index",
        "youdens j",
        "youdens index",
        "bookmaker informedness",
    ),
    better=HIGHER,
    range=(-1, 1),
    reads="Detection rate minus false positive rate: how far above the diagonal of the ROC plot.",
    misleads="It weighs a point of FPR like a point of detection, though harmless rows are many.",
    reference="Youden 1950",
    example=(_EXAMPLE, Fraction(2, 5)),
    identities=(Identity(R + S - 1, "informedness is recall plus specificity minus 1"),),
    taken_for=("markedness",),
)

MARKEDNESS = Measure(
    name="markedness",
    group=GROUP,
    formula=TP / (TP + FP) - FN / (FN + TN),
    better=HIGHER,
    range=(-1, 1),
    reads="Precision plus negative predictive value minus 1: how much an alarm, or none, tells.",
    misleads="It changes with the base rate.",
    reference="Powers 2011",
    example=(_EXAMPLE, Fraction(5, 12)),
    identities=(
        Identity(P + V - 1, "markedness is precision plus negative predictive value minus 1"),
    ),
)

MCC = Measure(
    name="mcc",
    group=GROUP,
    aliases=("phi", "matthews_correlation_coefficient"),
    formula=(TP * TN - FP * FN) / sqrt((TP + FP) * (TP + FN) * (TN + FP) * (TN + FN)),
    classes=(N * total(HIT) - total(ROW * COL))
    / sqrt((N * N - total(ROW * ROW)) * (N * N - total(COL * COL))),
    headings=(
        "matthews",
        "matthews correlation",
        "matthews coefficient",
        "phi coefficient",
        "matthew correlation coefficient",
    ),
    better=HIGHER,
    range=(-1, 1),
    reads="The correlation of decision and truth; for K classes Gorodkin's R_k.",
    misleads="It does change with the prevalence, and for K classes it is not the correlation of "
    "the numbers that labels happen to be coded by.",
    reference="Matthews 1975; Gorodkin 2004",
    bands=(
        Band(-1.0, math.nextafter(-1.0, 0.0), "every decision is wrong: the model is inverted"),
        Band(math.nextafter(-1.0, 0.0), 0.0, "worse than chance"),
        Band(0.0, math.nextafter(0.0, 1.0), "no better than chance"),
        Band(math.nextafter(0.0, 1.0), 1.0, "better than chance"),
        Band(1.0, math.inf, "every decision is right"),
    ),
    example=(Counts(tp=4, fp=1, fn=1, tn=4), Fraction(3, 5)),
    identities=(
        Identity(
            sqrt(P * R * S * V) - sqrt((1 - P) * (1 - R) * (1 - S) * (1 - V)),
            "MCC follows from precision, recall, specificity and negative predictive value",
        ),
        # The root of their product, with their sign.
        Identity(
            _INFORMEDNESS * sqrt(_MARKEDNESS / _INFORMEDNESS),
            "MCC is the geometric mean of informedness and markedness",
        ),
    ),
    taken_for=("kappa", "informedness", "markedness"),
)

_CHANCE = total(ROW * COL)

KAPPA = Measure(
    name="kappa",
    group=GROUP,
    title="Cohen's kappa",
    short="kappa",
    aliases=("cohen_kappa", "cohens_kappa"),
    formula=2 * (TP * TN - FP * FN) / ((TP + FP) * (TN + FP) + (TP + FN) * (TN + FN)),
    classes=(N * total(HIT) - _CHANCE) / (N * N - _CHANCE),
    headings=(
        "κ",
        "cohens κ",
        "kappa statistic",
        "kappa coefficient",
        "kappa score",
        "cohen kappa score",
    ),
    better=HIGHER,
    range=(-1, 1),
    reads="Agreement beyond what chance would give with the same totals.",
    misleads="Its bands are a convention of one paper; with lopsided classes it is low even for "
    "good detectors.",
    reference="Cohen 1960; bands by Landis and Koch 1977",
    bands=(
        Band(-math.inf, 0.0, "worse than chance"),
        Band(0.0, math.nextafter(0.0, 1.0), "no more agreement than by chance"),
        Band(math.nextafter(0.0, 1.0), 0.2, "slight agreement"),
        Band(0.2, 0.4, "fair agreement"),
        Band(0.4, 0.6, "moderate agreement"),
        Band(0.6, 0.8, "substantial agreement", praise=True),
        Band(0.8, 1.0, "almost perfect agreement", praise=True),
        Band(1.0, math.inf, "perfect agreement", praise=True),
    ),
    parts={"p_o": total(HIT) / N, "p_e": _CHANCE / (N * N)},
    example=(Counts(tp=4, fp=1, fn=1, tn=4), Fraction(3, 5)),
    identities=(
        Identity(
            (A - _CHANCE_OF_RATES) / (1 - _CHANCE_OF_RATES),
            "kappa follows from accuracy, prevalence and alert rate",
        ),
    ),
    taken_for=("informedness", "markedness"),
)

JACCARD = Measure(
    name="jaccard",
    group=GROUP,
    title="Jaccard index",
    short="Jaccard",
    aliases=("iou", "csi", "threat_score"),
    formula=TP / (TP + FP + FN),
    classes=total(HIT / (ROW + COL - HIT)) / K,
    headings=("jaccard similarity", "jaccard score", "jaccard coefficient"),
    better=HIGHER,
    range=(0, 1),
    reads="Of the rows that are attacks or raised an alarm, the share that is both.",
    misleads="It ranks models as F1 does and is always the smaller number: J = F1 / (2 - F1).",
    reference="Jaccard 1912",
    example=(_EXAMPLE, Fraction(1, 2)),
    identities=(
        Identity(P * R / (P + R - P * R), "the Jaccard index follows from precision and recall"),
        Identity(_F1 / (2 - _F1), "the Jaccard index is F1 / (2 - F1)"),
    ),
    taken_for=("f1", "f2", "f0.5", "fowlkes_mallows"),
)

FOWLKES_MALLOWS = Measure(
    name="fowlkes_mallows",
    group=GROUP,
    title="Fowlkes-Mallows index",
    formula=TP / sqrt((TP + FP) * (TP + FN)),
    better=HIGHER,
    range=(0, 1),
    reads="The geometric mean of precision and recall.",
    misleads="It forgives a poor half more than F1 does.",
    reference="Fowlkes and Mallows 1983",
    example=(Counts(tp=1, fp=0, fn=3, tn=4), Fraction(1, 2)),
    identities=(
        Identity(sqrt(P * R), "Fowlkes-Mallows is the geometric mean of precision and recall"),
    ),
)

POSITIVE_LIKELIHOOD_RATIO = Measure(
    name="positive_likelihood_ratio",
    group=GROUP,
    aliases=("lr_plus",),
    formula=(TP / (TP + FN)) / (FP / (FP + TN)),
    better=HIGHER,
    range=(0, math.inf),
    reads="By how much an alarm multiplies the odds of an attack.",
    misleads="Undefined without false positives, and wild when there are few.",
    reference="Altman and Bland 1994",
    example=(_EXAMPLE, Fraction(3)),
    identities=(
        Identity(R / (1 - S), "the positive likelihood ratio is recall over false positive rate"),
    ),
)

NEGATIVE_LIKELIHOOD_RATIO = Measure(
    name="negative_likelihood_ratio",
    group=GROUP,
    aliases=("lr_minus",),
    formula=(FN / (TP + FN)) / (TN / (FP + TN)),
    better=LOWER,
    range=(0, math.inf),
    reads="By how much silence multiplies the odds of an attack.",
    misleads="Near 1 - recall for any detector that rarely alarms.",
    reference="Altman and Bland 1994",
    example=(_EXAMPLE, Fraction(1, 2)),
    identities=(
        Identity((1 - R) / S, "the negative likelihood ratio is the miss rate over specificity"),
    ),
)

DIAGNOSTIC_ODDS_RATIO = Measure(
    name="diagnostic_odds_ratio",
    group=GROUP,
    aliases=("dor",),
    formula=(TP * TN) / (FP * FN),
    better=HIGHER,
    range=(0, math.inf),
    reads="The odds of an alarm on an attack over the odds of an alarm on a harmless row.",
    misleads="Very unlike detectors share one value; undefined when either error is absent.",
    reference="Glas et al. 2003",
    example=(_EXAMPLE, Fraction(6)),
    identities=(
        Identity(
            (R / (1 - R)) * (S / (1 - S)),
            "the diagnostic odds ratio follows from recall and specificity",
        ),
        Identity(
            Cell("positive_likelihood_ratio") / Cell("negative_likelihood_ratio"),
            "the diagnostic odds ratio is one likelihood ratio over the other",
        ),
    ),
)

LIFT = Measure(
    name="lift",
    group=GROUP,
    formula=(TP * (TP + TN + FP + FN)) / ((TP + FP) * (TP + FN)),
    better=HIGHER,
    range=(0, math.inf),
    reads="How many times as frequent attacks are among the alarms as among all rows.",
    misleads="It can't exceed 1 over the share of attacks, so values of different test sets do not "
    "compare.",
    reference="Ling and Li 1998",
    example=(_EXAMPLE, Fraction(3, 2)),
    identities=(
        Identity(P / PI, "lift is precision over prevalence"),
        Identity(R / Q, "lift is recall over alert rate"),
    ),
)

PRECISION_GAIN = Measure(
    name="precision_gain",
    group=GROUP,
    formula=1 - ((TP + FN) * FP) / ((TN + FP) * TP),
    better=HIGHER,
    range=(-math.inf, 1),
    averaged=False,
    reads="How far precision lies from the prevalence, 0, to perfect, 1, on the scale of harmonic "
    "means.",
    misleads="Where attacks are rare it is near 1 for a precision that no operator would bear.",
    reference="Flach and Kull 2015",
    example=(_EXAMPLE, Fraction(2, 3)),
    identities=(
        Identity(
            1 - (PI / (1 - PI)) * ((1 - P) / P),
            "precision gain follows from precision and prevalence",
        ),
    ),
)

RECALL_GAIN = Measure(
    name="recall_gain",
    group=GROUP,
    formula=1 - ((TP + FN) * FN) / ((TN + FP) * TP),
    better=HIGHER,
    range=(-math.inf, 1),
    averaged=False,
    reads="How far recall lies from the prevalence, 0, to perfect, 1, on the scale of harmonic "
    "means.",
    misleads="Where attacks are rare it is near 1 though most of them are missed.",
    reference="Flach and Kull 2015",
    example=(_EXAMPLE, Fraction(1, 3)),
    identities=(
        Identity(
            1 - (PI / (1 - PI)) * ((1 - R) / R), "recall gain follows from recall and prevalence"
        ),
    ),
)


def _shared_information(cell: Expression, row: Expression, column: Expression) -> Expression:
    """What one cell adds to the information that decision and truth share."""
    return times_log(cell, cell * (TP + TN + FP + FN) / (row * column))


_SHARED = (
    _shared_information(TP, TP + FN, TP + FP)
    + _shared_information(FP, TN + FP, TP + FP)
    + _shared_information(FN, TP + FN, TN + FN)
    + _shared_information(TN, TN + FP, TN + FN)
)
_TO_KNOW = -1 * times_log(TP + FN, (TP + FN) / (TP + TN + FP + FN)) - times_log(
    TN + FP, (TN + FP) / (TP + TN + FP + FN)
)

C_ID = Measure(
    name="c_id",
    title="intrusion detection capability",
    short="C_ID",
    group=GROUP,
    aliases=("intrusion_detection_capability",),
    formula=_SHARED / _TO_KNOW,
    definition=Definition(
        "I(X; Y) / H(X)",
        r"\frac{I(X; Y)}{H(X)}",
        "X is the truth and Y the decision; H is the entropy, I the information that both share, "
        "the sum over the cells of the confusion matrix of p ln(p / (q r)), for p the share of the "
        "cell and q and r those of its row and column.",
    ),
    better=HIGHER,
    range=(0, 1),
    averaged=False,
    reads="The share of what there is to know about attacks that the alarms tell: the information "
    "that alarm and truth share over the uncertainty of the truth.",
    misleads="An inverted detector tells as much as a good one; and it falls with the base rate: "
    "quote it at the base rate of deployment.",
    reference="Gu et al. 2006",
    example=(Counts(tp=3, fp=0, fn=0, tn=4), Fraction(1)),
)

AGREEMENT = (
    INFORMEDNESS,
    MARKEDNESS,
    MCC,
    KAPPA,
    JACCARD,
    FOWLKES_MALLOWS,
    POSITIVE_LIKELIHOOD_RATIO,
    NEGATIVE_LIKELIHOOD_RATIO,
    DIAGNOSTIC_ODDS_RATIO,
    LIFT,
    PRECISION_GAIN,
    RECALL_GAIN,
    C_ID,
)


# -- what errors cost, where it is known what a false alarm and a missed attack do -----------------

COST_GROUP = "cost"


def _expected_cost(false_alarm: Expression, miss: Expression) -> Expression:
    return (false_alarm * FP + miss * FN) / ALL


def net_benefit(false_alarm: Expression, miss: Expression) -> Expression:
    """The net benefit where a false alarm and a missed attack cost so much."""
    return (TP - false_alarm / miss * FP) / ALL


EXPECTED_COST = Measure(
    name="expected_cost",
    group=COST_GROUP,
    of_costs=_expected_cost,
    better=LOWER,
    range=(0, math.inf),
    averaged=False,
    reads="What errors cost a row, in the unit of the costs that were given.",
    misleads="It holds for the share of attacks in the test set: quote it at the base rate of "
    "deployment.",
    reference="Elkan 2001",
)

NET_BENEFIT = Measure(
    name="net_benefit",
    group=COST_GROUP,
    of_costs=net_benefit,
    better=HIGHER,
    range=(-math.inf, 1),
    averaged=False,
    reads="Attacks found a row, less the false alarms at what they cost: how many attacks found "
    "for nothing it is worth. Flagging nothing is 0.",
    misleads="Where no costs are given a threshold of t stands for costs of t to 1 - t, which is "
    "what someone accepts who flags from a probability of t on.",
    reference="Vickers and Elkin 2006",
)

COSTS = (EXPECTED_COST, NET_BENEFIT)
