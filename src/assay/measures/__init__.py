"""The catalogue of measures, and what computes those that are not formulas."""

from assay.measures.agreement import JACCARD, KAPPA, MCC
from assay.measures.calibration import Reliability, reliability
from assay.measures.catalogue import AVERAGES, CATALOGUE, OF_SCORES, find, names, parse
from assay.measures.influence import (
    MAX_FPR,
    Influence,
    ap_influence,
    auc_influence,
    correct_partial,
    partial_influence,
)
from assay.measures.measure import (
    HIGHER,
    LOWER,
    NEITHER,
    Band,
    Better,
    Bound,
    Counts,
    Definition,
    Identity,
    Interval,
    Law,
    Measure,
    Needs,
    OfDecisions,
)
from assay.measures.probability import ROC_AUC
from assay.measures.ranking import Ranking, Smooth, hand_till, rank
from assay.measures.rates import PRECISION, f_beta
from assay.measures.scores import Binned, MeanLoss, OverPairs, Ranked

__all__ = [
    "AVERAGES",
    "CATALOGUE",
    "HIGHER",
    "JACCARD",
    "KAPPA",
    "LOWER",
    "MAX_FPR",
    "MCC",
    "NEITHER",
    "OF_SCORES",
    "PRECISION",
    "ROC_AUC",
    "Band",
    "Better",
    "Binned",
    "Bound",
    "Counts",
    "Definition",
    "Identity",
    "Influence",
    "Interval",
    "Law",
    "MeanLoss",
    "Measure",
    "Needs",
    "OfDecisions",
    "OverPairs",
    "Ranked",
    "Ranking",
    "Reliability",
    "Smooth",
    "ap_influence",
    "auc_influence",
    "correct_partial",
    "f_beta",
    "find",
    "hand_till",
    "names",
    "parse",
    "partial_influence",
    "rank",
    "reliability",
]
