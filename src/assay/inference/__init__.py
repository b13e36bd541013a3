"""How sure we can be: intervals, tests, and what many tests cost."""

from assay.inference.bootstrap import BCa, Bootstrap
from assay.inference.delta import Delta, FayFeuer, GammaInterval, Strata, Tiwari
from assay.inference.differences import (
    delong_of,
    delong_test,
    paired_bootstrap,
    paired_influence,
    paired_score_bootstrap,
    paired_scores,
    resampled_clusters,
    resampled_pairs,
)
from assay.inference.estimate import Estimate, Quantity
from assay.inference.estimation import METHODS, Method, estimate, method_of, with_band
from assay.inference.paired_tests import (
    cochran_q,
    five_by_two_f,
    five_by_two_t,
    mcnemar,
    mcnemar_of,
    nadeau_bengio,
    paired_difference,
    paired_t,
)
from assay.inference.proportions import (
    AgrestiCoull,
    ClopperPearson,
    Jeffreys,
    ProportionInterval,
    Wald,
    Wilson,
)
from assay.inference.rank_tests import (
    friedman,
    iman_davenport,
    mean_rank_tests,
    mean_ranks,
    nemenyi,
    wilcoxon,
)
from assay.inference.score_intervals import DeLong, Newcombe
from assay.inference.significance import Significance, benjamini_hochberg, holm
from assay.inference.threshold_rules import AtThreshold, MaxFar, MaxFpr
from assay.inference.time_courses import KaplanMeier, kaplan_meier

__all__ = [
    "METHODS",
    "AgrestiCoull",
    "AtThreshold",
    "BCa",
    "Bootstrap",
    "ClopperPearson",
    "DeLong",
    "Delta",
    "Estimate",
    "FayFeuer",
    "GammaInterval",
    "Jeffreys",
    "KaplanMeier",
    "MaxFar",
    "MaxFpr",
    "Method",
    "Newcombe",
    "ProportionInterval",
    "Quantity",
    "Significance",
    "Strata",
    "Tiwari",
    "Wald",
    "Wilson",
    "benjamini_hochberg",
    "cochran_q",
    "delong_of",
    "delong_test",
    "estimate",
    "five_by_two_f",
    "five_by_two_t",
    "friedman",
    "holm",
    "iman_davenport",
    "kaplan_meier",
    "mcnemar",
    "mcnemar_of",
    "mean_rank_tests",
    "mean_ranks",
    "method_of",
    "nadeau_bengio",
    "nemenyi",
    "paired_bootstrap",
    "paired_difference",
    "paired_influence",
    "paired_score_bootstrap",
    "paired_scores",
    "paired_t",
    "resampled_clusters",
    "resampled_pairs",
    "wilcoxon",
    "with_band",
]
