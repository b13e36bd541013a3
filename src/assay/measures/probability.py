"""Measures of scores and probabilities.

They are declared here and computed by :mod:`assay.measures.ranking` and
:mod:`assay.measures.calibration`.
"""

from __future__ import annotations

import math

from assay.measures.measure import HIGHER, LOWER, Band, Interval, Law, Measure, Needs

ROC_AUC = Measure(
    name="roc_auc",
    group="ranking",
    aliases=("auc", "auroc"),
    better=HIGHER,
    range=(0, 1),
    needs=Needs.SCORES,
    interval=Interval.AUC,
    invariant_under=(Law.CLASS_SWAP, Law.PREVALENCE, Law.SCORE_MAP),
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
)

ROC_AUC_OVO = Measure(
    name="roc_auc_ovo",
    group="ranking",
    aliases=("hand_till",),
    better=HIGHER,
    range=(0, 1),
    needs=Needs.SCORES,
    interval=Interval.NONE,
    averaged=False,
    invariant_under=(Law.CLASS_SWAP, Law.PREVALENCE),
    reads="The mean over all pairs of classes of how well their probabilities tell them apart.",
    misleads="A pair of rare classes counts as much as the pair that makes up the traffic.",
    reference="Hand and Till 2001",
)

PARTIAL_AUC = Measure(
    name="partial_auc",
    group="ranking",
    better=HIGHER,
    range=(0, 1),
    needs=Needs.SCORES,
    interval=Interval.INFLUENCE,
    invariant_under=(Law.PREVALENCE, Law.SCORE_MAP),
    averaged=False,
    reads="The area under the ROC curve up to a false positive rate of 0.1, rescaled so that 0.5 "
    "is random and 1 perfect.",
    misleads="A rate of 0.1 is still far more alarms than most teams can read.",
    reference="McClish 1989",
)

AVERAGE_PRECISION = Measure(
    name="average_precision",
    group="ranking",
    aliases=("ap", "pr_auc"),
    better=HIGHER,
    range=(0, 1),
    needs=Needs.SCORES,
    interval=Interval.INFLUENCE,
    invariant_under=(Law.TRUE_NEGATIVES, Law.SCORE_MAP),
    reads="The mean, over attacks, of the precision at the score of each: the step-wise area "
    "under the precision-recall curve.",
    misleads="A random ranking scores the prevalence, so values of different test sets do not "
    "compare.",
    reference="Davis and Goadrich 2006; Boyd et al. 2013",
)

LOG_LOSS = Measure(
    name="log_loss",
    group="probability",
    aliases=("cross_entropy",),
    better=LOWER,
    range=(0, math.inf),
    needs=Needs.LOSSES,
    interval=Interval.MEAN,
    invariant_under=(Law.CLASS_SWAP,),
    reads="The mean of -ln of the probability given to what was true; ln 2 = 0.693 is a coin.",
    misleads="One confident mistake can outweigh thousands of good rows, and its size depends on "
    "where probabilities are clipped (here at 2^-52).",
    reference="Good 1952",
)

BRIER = Measure(
    name="brier",
    group="probability",
    aliases=("brier_score",),
    better=LOWER,
    range=(0, 1),
    needs=Needs.LOSSES,
    interval=Interval.MEAN,
    averaged=False,
    invariant_under=(Law.CLASS_SWAP,),
    reads="The mean squared distance of the probability from what happened; always saying 0.5 "
    "scores 0.25.",
    misleads="Where attacks are rare, always saying the prevalence looks good.",
    reference="Brier 1950",
)

EXPECTED_CALIBRATION_ERROR = Measure(
    name="expected_calibration_error",
    group="probability",
    aliases=("ece",),
    better=LOWER,
    range=(0, 1),
    needs=Needs.SCORES,
    interval=Interval.NONE,
    averaged=False,
    invariant_under=(Law.CLASS_SWAP,),
    reads="How far predicted probability and observed share lie apart, averaged over 15 bins.",
    misleads="A perfectly calibrated model does not score 0 on a finite test set: compare it with "
    "what one of this size would show.",
    reference="Naeini et al. 2015",
)

SCORED = (
    ROC_AUC,
    ROC_AUC_OVO,
    PARTIAL_AUC,
    AVERAGE_PRECISION,
    LOG_LOSS,
    BRIER,
    EXPECTED_CALIBRATION_ERROR,
)
