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
    Identity,
    Interval,
    Law,
    Measure,
    Needs,
    OfDecisions,
)
from assay.measures.ranking import Ranking, Smooth, hand_till, rank
from assay.measures.rates import PRECISION, f_beta

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
    "Band",
    "Better",
    "Bound",
    "Counts",
    "Identity",
    "Influence",
    "Interval",
    "Law",
    "Measure",
    "Needs",
    "OfDecisions",
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
