"""Shares of rows: of the alarms, of the attacks, of everything."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from assay.errors import InputError
from assay.formula import (
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
    geometric_mean,
    sqrt,
    total,
)
from assay.measures.measure import (
    HIGHER,
    LOWER,
    NEITHER,
    Counts,
    Identity,
    Measure,
)
from assay.text import quote

ALL = TP + TN + FP + FN
GROUP = "rates"
_EXAMPLE = Counts(tp=3, fp=1, fn=2, tn=4)

# Measures as they stand in identities.
P, R, S, V = map(Cell, ("precision", "recall", "specificity", "negative_predictive_value"))
PI, Q, A, J = map(Cell, ("prevalence", "alert_rate", "accuracy", "jaccard"))


def _f_beta_formula(beta: Fraction) -> Expression:
    weight = beta * beta
    return (1 + weight) * TP / ((1 + weight) * TP + weight * FN + FP)


ACCURACY = Measure(
    name="accuracy",
    group=GROUP,
    formula=(TP + TN) / ALL,
    classes=total(HIT) / N,
    headings=("acc", "ca", "oa", "success rate", "correct", "correctly classified"),
    better=HIGHER,
    range=(0, 1),
    reads="Of all rows, the share that was decided right.",
    misleads="With 2 attacks in 100 rows, flagging nothing scores 98%: compare it with the share "
    "of the larger class.",
    reference="Sokolova and Lapalme 2009",
    example=(_EXAMPLE, Fraction(7, 10)),
    identities=(
        Identity(
            PI * R + (1 - PI) * S,
            "accuracy lies between recall and specificity, weighed by the prevalence",
        ),
        Identity(
            Q * P + (1 - Q) * V,
            "accuracy lies between precision and negative predictive value",
        ),
        Identity(
            1 - PI - Q + 2 * (PI * R),
            "accuracy follows from prevalence, alert rate and recall",
        ),
    ),
    taken_for=("balanced_accuracy", "f1", "precision", "recall"),
    of_a_class="recall",
)

ERROR_RATE = Measure(
    name="error_rate",
    group=GROUP,
    aliases=("misclassification_rate", "misclassification_error", "classification_error_rate"),
    formula=(FP + FN) / ALL,
    classes=(N - total(HIT)) / N,
    headings=("error", "err", "er", "misclassified", "incorrectly classified"),
    better=LOWER,
    range=(0, 1),
    reads="Of all rows, the share that was decided wrong.",
    misleads="Small whenever attacks are rare, whether they are found or not.",
    reference="Sokolova and Lapalme 2009",
    example=(_EXAMPLE, Fraction(3, 10)),
    taken_for=(
        "false_positive_rate",
        "false_discovery_rate",
        "false_negative_rate",
        "false_omission_rate",
    ),
    of_a_class="false_negative_rate",
)

PRECISION = Measure(
    name="precision",
    group=GROUP,
    aliases=("ppv", "positive_predictive_value"),
    formula=TP / (TP + FP),
    headings=("prec", "pre", "precison", "positive precision", "pos pred value"),
    better=HIGHER,
    range=(0, 1),
    reads="Of the alarms raised, the share that were real.",
    misleads="It falls with the base rate: quote it at the base rate of deployment.",
    reference="van Rijsbergen 1979",
    example=(_EXAMPLE, Fraction(3, 4)),
    identities=(
        Identity(
            PI * R / (PI * R + (1 - PI) * (1 - S)),
            "precision follows from recall, false positive rate and prevalence",
        ),
        Identity(PI * R / Q, "precision times alert rate is recall times prevalence"),
    ),
    taken_for=(
        "recall",
        "specificity",
        "negative_predictive_value",
        "f1",
        "balanced_accuracy",
        "false_positive_rate",
    ),
)

RECALL = Measure(
    name="recall",
    group=GROUP,
    title="detection rate",
    aside="recall",
    short="detection",
    aliases=("tpr", "true_positive_rate", "sensitivity", "hit_rate", "detection_rate", "dr"),
    formula=TP / (TP + FN),
    headings=(
        "rec",
        "sens",
        "sen",
        "sn",
        "tp rate",
        "hit",
        "detection ratio",
        "tpr recall",
    ),
    better=HIGHER,
    range=(0, 1),
    reads="Of the attacks, the share that raised an alarm: the detection rate.",
    misleads="Flagging everything gives 1: it says nothing without the false alarms it costs.",
    reference="Yerushalmy 1947",
    example=(_EXAMPLE, Fraction(3, 5)),
    taken_for=(
        "specificity",
        "negative_predictive_value",
        "f1",
        "balanced_accuracy",
        "false_positive_rate",
    ),
)

SPECIFICITY = Measure(
    name="specificity",
    group=GROUP,
    aliases=("tnr", "true_negative_rate", "selectivity"),
    formula=TN / (TN + FP),
    headings=("spec", "spc", "sp", "tn rate", "normal detection rate"),
    better=HIGHER,
    range=(0, 1),
    reads="Of the harmless rows, the share that raised no alarm.",
    misleads="99.9% sounds safe, yet of a million harmless flows a day it lets a thousand alarm.",
    reference="Yerushalmy 1947",
    example=(_EXAMPLE, Fraction(4, 5)),
    taken_for=("negative_predictive_value", "f1"),
)

FALSE_POSITIVE_RATE = Measure(
    name="false_positive_rate",
    slug="fpr",
    group=GROUP,
    short="FPR",
    aliases=("fpr", "fall_out", "type_1_error"),
    formula=FP / (FP + TN),
    headings=("fp rate", "false positive ratio", "type i error"),
    better=LOWER,
    range=(0, 1),
    reads="Of the harmless rows, the share that raised an alarm.",
    misleads="It is not 1 - precision and not the false alarm rate: at a low base rate a tiny "
    "value still means that most alarms are false.",
    reference="Axelsson 2000",
    example=(_EXAMPLE, Fraction(1, 5)),
    other_uses=("far", "false_alarm_rate"),
    taken_for=("false_discovery_rate", "false_negative_rate", "false_omission_rate"),
)

FALSE_NEGATIVE_RATE = Measure(
    name="false_negative_rate",
    slug="fnr",
    group=GROUP,
    short="FNR",
    aliases=("fnr", "miss_rate", "type_2_error"),
    formula=FN / (FN + TP),
    headings=("fn rate", "miss", "missed detection rate", "type ii error"),
    better=LOWER,
    range=(0, 1),
    reads="Of the attacks, the share that was missed.",
    misleads="Zero is easy: flag everything.",
    reference="Axelsson 2000",
    example=(_EXAMPLE, Fraction(2, 5)),
    taken_for=("false_discovery_rate", "false_omission_rate"),
)

FALSE_DISCOVERY_RATE = Measure(
    name="false_discovery_rate",
    slug="fdr",
    group=GROUP,
    title="false alarm rate",
    aside="FAR",
    short="FAR",
    aliases=("fdr", "far", "false_alarm_rate"),
    formula=FP / (FP + TP),
    better=LOWER,
    range=(0, 1),
    reads="Of the alarms raised, the share that were false: the false alarm rate (FAR).",
    misleads="Others call FP / (FP + TN) the false alarm rate; and it rises as the base rate "
    "falls.",
    reference="Beaugnon and Chifflier 2018",
    example=(_EXAMPLE, Fraction(1, 4)),
    taken_for=("false_omission_rate",),
)

FALSE_OMISSION_RATE = Measure(
    name="false_omission_rate",
    group=GROUP,
    aliases=("for",),
    formula=FN / (FN + TN),
    better=LOWER,
    range=(0, 1),
    reads="Of the rows that raised no alarm, the share that were attacks.",
    misleads="Where attacks are rare it is close to zero for any detector.",
    reference="Powers 2011",
    example=(_EXAMPLE, Fraction(1, 3)),
)

NEGATIVE_PREDICTIVE_VALUE = Measure(
    name="negative_predictive_value",
    slug="npv",
    group=GROUP,
    short="NPV",
    aliases=("npv",),
    formula=TN / (TN + FN),
    headings=("neg pred value",),
    better=HIGHER,
    range=(0, 1),
    reads="Of the rows that raised no alarm, the share that were harmless.",
    misleads="Where attacks are rare it is close to 1 for any detector.",
    reference="Powers 2011",
    example=(_EXAMPLE, Fraction(2, 3)),
    identities=(
        Identity(
            (1 - PI) * S / ((1 - PI) * S + PI * (1 - R)),
            "the negative predictive value follows from recall, specificity and prevalence",
        ),
    ),
    taken_for=("f1",),
)

PREVALENCE = Measure(
    name="prevalence",
    group=GROUP,
    formula=(TP + FN) / ALL,
    better=NEITHER,
    range=(0, 1),
    averaged=False,
    reads="Of all rows, the share that are attacks, in this test set.",
    misleads="It is rarely the base rate of deployment, where attacks are much rarer.",
    reference="Axelsson 2000",
    example=(_EXAMPLE, Fraction(1, 2)),
    identities=(
        Identity(
            Q * P + (1 - Q) * (1 - V),
            "the prevalence follows from alert rate, precision and negative predictive value",
        ),
    ),
    taken_for=("alert_rate",),
)

ALERT_RATE = Measure(
    name="alert_rate",
    group=GROUP,
    formula=(TP + FP) / ALL,
    better=NEITHER,
    range=(0, 1),
    averaged=False,
    reads="Of all rows, the share that raised an alarm.",
    misleads="It carries the prevalence of the test set into the number of alerts a day.",
    reference="Axelsson 2000",
    example=(_EXAMPLE, Fraction(2, 5)),
    identities=(
        Identity(
            PI * R + (1 - PI) * (1 - S),
            "the alert rate follows from prevalence, recall and false positive rate",
        ),
    ),
)

F1 = Measure(
    name="f1",
    group=GROUP,
    aliases=("f_measure", "f_score"),
    formula=_f_beta_formula(Fraction(1)),
    headings=(
        "f1 score",
        "f1 measure",
        "f1 value",
        "f value",
        "f1s",
        "fm",
        "harmonic mean",
        "dice",
        "dsc",
    ),
    better=HIGHER,
    range=(0, 1),
    reads="The harmonic mean of precision and recall; near the smaller of the two.",
    misleads="It ignores true negatives, weighs both errors alike, and falls with the base rate.",
    reference="van Rijsbergen 1979",
    example=(_EXAMPLE, Fraction(2, 3)),
    identities=(
        Identity(2 * P * R / (P + R), "F1 is the harmonic mean of precision and recall"),
        Identity(2 * J / (1 + J), "F1 is 2J / (1 + J) of the Jaccard index J"),
    ),
    taken_for=("balanced_accuracy", "f2", "f0.5", "jaccard", "fowlkes_mallows"),
    beta=Fraction(1),
)


LARGEST_BETA = 1_000_000


@lru_cache(maxsize=256)
def f_beta(beta: float) -> Measure:
    """F-beta: recall counts beta times as much as precision.

    >>> f_beta(2).name, f_beta(0.5).name
    ('f2', 'f0.5')
    """
    if beta == 1:
        return F1
    if not 1 / LARGEST_BETA <= beta <= LARGEST_BETA:
        raise InputError(
            f"beta must be a positive number, from {1 / LARGEST_BETA:g} to {LARGEST_BETA:,}; found "
            f"{quote(beta)}. Beyond that F is precision or recall itself"
        )
    exact = Fraction(repr(float(beta)))
    # All digits that tell it from another beta, and no more.
    told = f"{beta:g}" if float(f"{beta:g}") == beta else repr(float(beta))
    weight = exact * exact
    tp, fp, fn, _ = _EXAMPLE
    side = "recall" if beta > 1 else "precision"
    return Measure(
        name=f"f{told}",
        group=GROUP,
        formula=_f_beta_formula(exact),
        better=HIGHER,
        range=(0, 1),
        reads=f"Precision and recall in one number, leaning towards {side} (beta = {told}).",
        misleads="The beta is a choice of costs: say why it was chosen, and do not compare F "
        "scores of different betas.",
        reference="van Rijsbergen 1979",
        example=(_EXAMPLE, (1 + weight) * tp / ((1 + weight) * tp + weight * fn + fp)),
        identities=(
            Identity(
                (1 + weight) * P * R / (weight * P + R),
                f"f{told} follows from precision and recall",
            ),
        ),
        taken_for=("f1", "f2", "f0.5", "jaccard", "fowlkes_mallows"),
        beta=exact,
    )


F2, F05 = f_beta(2), f_beta(0.5)

BALANCED_ACCURACY = Measure(
    name="balanced_accuracy",
    group=GROUP,
    formula=(TP / (TP + FN) + TN / (TN + FP)) / 2,
    classes=total(HIT / ROW) / K,
    headings=("bacc", "bac", "bal acc", "balanced acc"),
    better=HIGHER,
    range=(0, 1),
    reads="The mean of the recalls of all classes; 0.5 is what guessing gets on two.",
    misleads="It weighs the rare class like the common one, which the operator's day does not.",
    reference="Brodersen et al. 2010",
    example=(_EXAMPLE, Fraction(7, 10)),
    identities=(Identity((R + S) / 2, "balanced accuracy is the mean of recall and specificity"),),
    taken_for=("g_mean", "informedness"),
)

G_MEAN = Measure(
    name="g_mean",
    group=GROUP,
    title="G-mean",
    formula=sqrt(TP / (TP + FN) * (TN / (TN + FP))),
    classes=geometric_mean(HIT / ROW),
    headings=("gm", "geometric mean", "g means"),
    better=HIGHER,
    range=(0, 1),
    reads="The geometric mean of the recalls of all classes; zero when one class is never found.",
    misleads="One empty class makes it zero, whatever the others are.",
    reference="Kubat and Matwin 1997",
    example=(Counts(tp=4, fp=3, fn=0, tn=1), Fraction(1, 2)),
    identities=(
        Identity(sqrt(R * S), "the g-mean is the geometric mean of recall and specificity"),
    ),
    taken_for=("informedness",),
)

RATES = (
    ACCURACY,
    ERROR_RATE,
    PRECISION,
    RECALL,
    SPECIFICITY,
    F1,
    F2,
    F05,
    FALSE_POSITIVE_RATE,
    FALSE_NEGATIVE_RATE,
    FALSE_DISCOVERY_RATE,
    FALSE_OMISSION_RATE,
    NEGATIVE_PREDICTIVE_VALUE,
    BALANCED_ACCURACY,
    G_MEAN,
    PREVALENCE,
    ALERT_RATE,
)
